"""The loop once: worklists are written, answered, handled, read, applied, and audited again; and what was found."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import prodex
from prodex.sandbox import Sandbox
from prodex_sandbox.records.model import SharedProduct
from prodex_sandbox.sample.catalogue import made_products

from .answering import ATTRIBUTES, Answers, answered
from .handling import TO_CONFIRM, WAYS, fill_and_handle, filled_rows

#: What the service itself changes when a product is written.
_OF_THE_SERVICE = frozenset({"updatedAt", "validation"})
#: So many products with a defect of a text that is answered has each owner at most, and so many with another one.
_OF_TEXTS, _OF_OTHERS = 9, 3

Place = tuple[str, str, str]


@dataclass
class Loop:
    """What became of the answers.

    Attributes
    ----------
    answers
        What was answered.
    files, ways
        Number of files that came back, and of ways in which they were handled.
    accepted
        The texts that were accepted, by product, attribute and language.
    refused
        Places whose answers were refused.
    listed
        Whether each of these has its file, row, cell and reason.
    conflicts
        Number of answers in conflict.
    needs_confirmation, to_confirm
        Files with answers that need confirmation, and those whose rows lost their keys.
    fix
        What was read.
    filled_rows
        How many rows of each file are not empty, as another program sees it.
    status
        Of the import.
    moved
        Product and attribute of every leaf that is another afterwards.
    texts, expected_texts
        All texts of the catalogue afterwards, and as they should be.
    fixed, expected
        Product and check that the second audit shows as fixed, and that were said to be before anything was sent.
    seconds
        What reading, applying and proving took.
    """

    answers: Answers
    files: int = 0
    ways: int = len(WAYS)
    accepted: dict[Place, str] = field(default_factory=dict)
    refused: set[Place] = field(default_factory=set)
    listed: bool = False
    conflicts: int = 0
    needs_confirmation: set[str] = field(default_factory=set)
    to_confirm: set[str] = field(default_factory=set)
    fix: prodex.worklists.Fix | None = None
    filled_rows: dict[str, int] = field(default_factory=dict)
    status: str = ""
    moved: set[tuple[str, str]] = field(default_factory=set)
    texts: dict[Place, list[str]] = field(default_factory=dict)
    expected_texts: dict[Place, list[str]] = field(default_factory=dict)
    fixed: set[tuple[str, str]] = field(default_factory=set)
    expected: set[tuple[str, str]] = field(default_factory=set)
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def may_move(self) -> set[tuple[str, str]]:
        """Product and attribute of the good answers."""
        return {(product, attribute) for product, attribute, _ in self.answers.good}


def looped(folder: Path, most: int = 1_000, products: int | None = None) -> Loop:
    """Go around once, with so many answers for the sample; for what matters of so many of its products, if given."""
    with Sandbox(None if products is None else _with_findings(products)) as sandbox:
        key = sandbox.credentials[0]
        service = prodex.connect(
            base_url=sandbox.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
        )
        catalog = prodex.load_products(service, name="loop", progress=False)
        audit = prodex.audit(catalog, "online-listing", progress=False).save()
        audit.worklists(folder / "out")
        loop = Loop(answered(folder / "out", catalog, most))
        _come_back(loop, folder / "back")

        with _timed(loop, "read"):
            fix = prodex.read_worklist(folder / "back")
        loop.needs_confirmation = set(fix.needs_confirmation["file"])
        fix.confirm()
        loop.fix, loop.files, loop.conflicts = fix, fix.files, len(fix.conflicts)
        loop.accepted = {
            (one.product_id, one.attribute, one.language): one.answer for one in fix.accepted.itertuples()
        }
        loop.refused = {(one.product_id, one.attribute, one.language) for one in fix.refused.itertuples()}
        loop.listed = bool(fix.refused[["file", "row", "cell", "reason"]].notna().all(axis=None))
        fixed = fix.effect().changes("fixed")
        loop.expected = set(zip(fixed["product_id"], fixed["check"], strict=True))
        with _timed(loop, "apply"):
            loop.status = fix.apply(service, progress=False).wait(progress=False).status
        with _timed(loop, "prove"):
            newer = prodex.refresh("loop", service, progress=False)
            again = prodex.audit(newer, "online-listing", progress=False)
            fixed = prodex.diff(audit, again).changes("fixed")
        loop.fixed = set(zip(fixed["product_id"], fixed["check"], strict=True))
        loop.moved = _moved(catalog, newer)
        loop.texts = _texts(newer)
        loop.expected_texts = _texts(catalog) | {place: [text] for place, text in loop.answers.good.items()}
        return loop


def _with_findings(products: int) -> Iterator[SharedProduct]:
    """Yield a few products of each owner of the sample in which a defect is planted, and one in fifty of the others."""
    seen: Counter[tuple[int, bool]] = Counter()
    for number, made in enumerate(made_products(products)):
        is_of_texts = any(defect.attribute in ATTRIBUTES for defect in made.defects)
        kind = (made.product.owner_id, is_of_texts)
        seen[kind] += bool(made.defects)
        most = _OF_TEXTS if is_of_texts else _OF_OTHERS
        if seen[kind] <= most if made.defects else number % 50 == 0:
            yield made.product


def shown_as_fixed(loop: Loop) -> set[tuple[str, str]]:
    """Return what the second audit shows as fixed, as far as it was to be said before.

    A write is an update, whatever it writes. Whether texts were cut is seen in all texts of an owner together, so that
    answers clear products of which nobody was asked; before, it is said of the products that were.
    """
    answered = {product for product, *_ in (*loop.answers.good, *loop.answers.bad)}
    return {
        (product, check)
        for product, check in loop.fixed
        if not check.startswith("updated_within") and (product in answered or check != "texts_not_cut_off")
    }


def _come_back(loop: Loop, folder: Path) -> None:
    """Fill the workbooks in, and do to each what people do."""
    folder.mkdir()
    ways = list(WAYS)
    for number, (path, texts) in enumerate(loop.answers.texts.items()):
        workbook = path.with_suffix(".xlsx")
        returned = folder / f"{number:02} {workbook.name}"
        returned.write_bytes(workbook.read_bytes())
        fill_and_handle(returned, texts, ways[number % len(ways)])
        if ways[number % len(ways)] in TO_CONFIRM:
            loop.to_confirm.add(str(returned))
    loop.filled_rows = {path.name: filled_rows(path) for path in folder.iterdir()}


@contextmanager
def _timed(loop: Loop, name: str) -> Iterator[None]:
    began = time.perf_counter()
    yield
    loop.seconds[name] = time.perf_counter() - began


def _moved(old: prodex.Catalog, new: prodex.Catalog) -> set[tuple[str, str]]:
    before, after = _records(old), _records(new)
    assert before.keys() == after.keys()
    moved = set()
    for product in before:
        # Only what differs is decoded: all of it would take gigabytes.
        if before[product] != after[product]:
            was, now = (_leaves(json.loads(one[product])) for one in (before, after))
            moved |= {
                (product, place[0]) for place in was.keys() | now.keys() if was.get(place) != now.get(place)
            }
    return {(product, attribute) for product, attribute in moved if attribute not in _OF_THE_SERVICE}


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> dict[tuple[Any, ...], Any]:
    """Return every leaf of a record by its path."""
    inner: Any = (
        value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    )
    if not value or not inner:
        return {path: value}
    return {place: leaf for key, one in inner for place, leaf in _leaves(one, (*path, key)).items()}


def _records(catalog: prodex.Catalog) -> dict[str, str]:
    rows = catalog.arrow("raw", ["product_id", "json"])
    return dict(zip(rows["product_id"].to_pylist(), rows["json"].to_pylist(), strict=True))


def _texts(catalog: prodex.Catalog) -> dict[Place, list[str]]:
    found: dict[Place, list[str]] = {}
    for row in catalog.arrow("texts", ["product_id", "attribute", "language", "text"]).to_pylist():
        found.setdefault((row["product_id"], row["attribute"], row["language"]), []).append(row["text"])
    return found
