"""A thousand answers of every kind that people give, each with what has to become of it, known beforehand.

Products of an own exchange have every shape; no product has two answers about the same thing. Good answers change one
item of one attribute, and bad ones nothing. The answers come in workbooks and in CSV files of several encodings.
"""

from __future__ import annotations

import copy
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from openpyxl import Workbook
from openpyxl.styles import Font

import prodex
from prodex.gtin import check_digit
from prodex.sandbox import Sandbox

from .bakery import record, text
from .test_needs_confirmation import REMARKS

ALL_REMARKS = [words for several in REMARKS.values() for words in several]
#: What nobody can mean as an amount.
NO_AMOUNTS = (
    "inf g", "NaN1 g", "sNaN g", "-Infinity g", "1E1000000 g", "12E3 g", "1,234 g", "600", "--5 g", "5+ g", "0x10 g",
    "1_000 g", "½ g", "12..5 g", "500 g 12 pcs", "7" * 4_301 + " g", "about 5 g", "5-6 g", "< 5 g", "٣ x g",
)  # fmt: skip
#: How a file is written: separator and encoding; None is a workbook.
FILES = (None, (";", "cp1252"), None, (",", "utf-8-sig"), ("\t", "utf-16"), (";", "mac_roman"))

CASE = "13036811359932"
SEEN = "Pain d’été à la mie dorée"
PAIN, BROOD = "Pain de campagne à l’ancienne numéro {}", "Boerenbrood met zaden en noten nr. {}"


@dataclass(frozen=True)
class Cell:
    """A cell that is more than its text: only a workbook has it."""

    value: Any
    shown: str = "General"
    is_struck: bool = False


@dataclass(frozen=True)
class Kind:
    """A way to answer.

    Attributes
    ----------
    name
        What is tried.
    attribute, keys
        What the row says beside its GTIN.
    answer
        The cell "New value", for the number of the product.
    after
        What is to become of the attribute; None where nothing may change.
    states
        What a bad answer may be.
    """

    name: str
    attribute: str
    keys: Mapping[str, str]
    answer: Callable[[int], Any]
    after: Callable[[Any, int], Any] | None = None
    states: frozenset[str] = frozenset()

    @property
    def root(self) -> str:
        return self.attribute.partition(".")[0]

    @property
    def about(self) -> tuple[str, str | None]:
        """What no second answer of the product is about."""
        return self.root, self.keys.get("Language")


KINDS: list[Kind] = []


def good(name: str, attribute: str, answer: Any, place: tuple[Any, ...], value: Any, **keys: str) -> None:
    """Add a kind that changes one leaf of an attribute; `{}` in answer and value is the number of the product."""

    def after(before: Any, number: int) -> Any:
        changed = inner = [copy.deepcopy(before)]
        at: Any = 0
        for step in place:
            inner, at = inner[at], step
        made = value.format(number) if isinstance(value, str) else value
        if value is REMOVED:
            del inner[at]
        else:
            inner[at] = made
        return changed[0]

    def typed(number: int) -> Any:
        return answer.format(number, gtin=gtin(number)) if isinstance(answer, str) else answer

    KINDS.append(Kind(name, attribute, _headed(keys), typed, after))


def bad(name: str, attribute: str, answer: Any, *states: str, **keys: str) -> None:
    """Add a kind that changes nothing; several answers are given in turn."""
    several = answer if isinstance(answer, (tuple, list)) else (answer,)
    KINDS.append(
        Kind(
            name,
            attribute,
            _headed(keys),
            lambda number: several[number % len(several)],
            states=frozenset(states),
        )
    )


def _headed(keys: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", " ").capitalize(): value for name, value in keys.items()}


REMOVED = object()

good("the weight beside pieces", "netContent", "600 g", (0, "data"), 600)
good("the pieces that were seen", "netContent", "10 pcs", (1, "data"), 10, value_seen="12 H87")
good(
    "an arrow",
    "netContent",
    "500 g -> 0.75 kg",
    (0,),
    {"data": 0.75, "expressedIn": {"code": "KGM"}, "sort": 1},
)
good("all in another order", "netContent", "12 Stück; 650 GRM", (0, "data"), 650)
good("one item taken away", "netContent", "(delete)", (1,), REMOVED, value_seen="12 H87")
good("a code beside another", "conservations", "FREEZE", (0, "code"), "FREEZE", value_seen="COLD")
good("a code by its place", "conservations", "DRY", (1, "code"), "DRY", position="1")
good("a code taken away", "conservations", "COLD -> (delete)", (0,), REMOVED)
good("a brand with zeros as text", "brand", Cell("0013", "@"), ("code",), "0013")
good("a brand padded by its format", "brand", Cell(13, "0000"), ("code",), "0013")
good("a French name", "namePublicLong", PAIN, (0, "data"), PAIN, language="fr", value_seen=SEEN)
good(
    "a Dutch name",
    "namePublicLong",
    BROOD,
    (1, "data"),
    BROOD,
    language="nl",
    value_seen="Brood van de molen",
)
good("one of two texts", "description", PAIN, (1, "data"), PAIN, language="fr", value_seen="Un autre pain")
good("a figure of a table", "isPartitionedBy", "per 100 g: Fat 4,5 g", (0, "contains", 0, "quantity"), 4.5)
good("of another table", "isPartitionedBy", "per 30 g: Fat 1.5 g", (1, "contains", 0, "quantity"), 1.5)
good("a number", "percentageOfAlcoholByVolume", "4,8", (), 4.8)
good("a number in a number cell", "percentageOfAlcoholByVolume", Cell(4.8), (), 4.8)
good("a truth", "isConsumerUnit", "no", (), False)
good(
    "units in a case",
    "logisticalHierarchies",
    CASE + ": 8 x {gtin}",
    (0, "children", 0, "quantity"),
    8,
)
good(
    "a picture taken away",
    "assets.pictures",
    "b.jpg -> (delete)",
    ("pictures", 1),
    REMOVED,
)

bad("a remark as a name", "namePublicLong", ALL_REMARKS, "needs confirmation", language="fr")
bad(
    "a remark as a description",
    "description",
    ALL_REMARKS[::-1],
    "needs confirmation",
    language="fr",
    value_seen="Un pain",
)
bad("a remark as a code", "brand", [one for one in ALL_REMARKS if one.isalpha()], "needs confirmation")
bad("a brand that nobody has", "brand", ("ACMEE", "0014", "NEXT"), "needs confirmation")
bad("markup", "namePublicLong", "Pain <b>bis</b>", "needs confirmation", language="fr")
bad("a placeholder", "namePublicLong", ("xxx", "TBD", "test"), "needs confirmation", "refused", language="nl")
bad("no amount", "netContent", NO_AMOUNTS, "refused")
bad("a weight that was another", "netContent", "600 g", "refused", "conflict", value_seen="450 GRM")
bad("a litre of what", "netContent", "0.5 l", "refused")
bad("which code", "conservations", "FREEZE", "refused", "conflict")
bad(
    "a code that is gone",
    "conservations",
    "FREEZE",
    "refused",
    "conflict",
    value_seen="WET",
)
bad("a text that was another", "namePublicLong", PAIN, "conflict", language="fr", value_seen="Pain bis")
bad("which text", "description", "Un pain bis", "refused", "conflict", language="fr")
bad("which table", "isPartitionedBy", "Fat 4 g", "refused")
bad("of which basis", "isPartitionedBy", "per 100 ml", "refused")
bad("a code that became a number", "brand", Cell(13), "needs confirmation")
bad("a code that became a date", "brand", Cell(date(2026, 3, 1), "d-mmm"), "needs confirmation", "refused")
bad("a text that became a number", "namePublicLong", Cell(1664), "refused", language="fr")
bad("a text that became a truth", "namePublicLong", Cell(value=True), "refused", language="nl")
bad("an error", "namePublicLong", Cell("#REF!"), "refused", language="fr")
bad("struck through", "namePublicLong", Cell("Pain gris", is_struck=True), "refused", language="fr")
bad("half a number", "percentageOfAlcoholByVolume", ("4,8,9", "NaN", "1e3"), "refused")
bad("no truth", "isConsumerUnit", ("perhaps", "2", "yes/no"), "refused", "needs confirmation")
bad("half a unit", "logisticalHierarchies", CASE + ": 1.5 x 03036811359935", "refused")
bad("which picture", "assets.pictures", "(delete)", "refused")
bad("a field of nobody", "nameless", "Pain", "refused")
bad("a key", "gtin", "03036811359935", "refused")


def gtin(number: int) -> str:
    """Return the GTIN of a product."""
    digits = f"{4_000_000_000 + number:013d}"
    return f"{digits}{check_digit(digits)}"


def product(number: int) -> dict[str, Any]:
    """Return a product with every shape."""

    def figure(code: str, amount: float) -> dict[str, Any]:
        return {
            "isConceptualizedBy": {"code": code},
            "quantity": amount,
            "expressedIn": {"code": "GRM"},
            "own": {"a": [1]},
        }

    def table(amount: int, *figures: dict[str, Any]) -> dict[str, Any]:
        return {"quantity": amount, "isMeasuredBy": {"code": "GRM"}, "contains": list(figures)}

    return record(
        number,
        gtin(number),
        namePublicLong=[text("fra-FR", SEEN), text("nld-NL", "Brood van de molen")],
        description=[text("fra-FR", "Un pain"), text("fra-FR", "Un autre pain")],
        netContent=[
            {"data": 500, "expressedIn": {"code": "GRM"}, "sort": 1},
            {"data": 12, "expressedIn": {"code": "H87"}, "own": [{"b": 2}]},
        ],
        conservations=[{"code": "COLD", "sort": 1}, {"code": "DARK", "own": {"c": 3}}],
        brand={"code": "0012" if number % 2 else "ACME"},
        percentageOfAlcoholByVolume=4.5,
        isConsumerUnit=True,
        isPartitionedBy=[
            table(100, figure("FAT", 3.2), figure("SALTEQ", 1.1)),
            table(30, figure("FAT", 0.96)),
        ],
        assets={
            "pictures": [
                {"url": f"https://cdn.example/{number}/a.jpg", "gdsnFileName": "a.jpg", "width": 480},
                {"url": f"https://cdn.example/{number}/b.jpg", "gdsnFileName": "b.jpg", "width": 2_000},
            ]
        },
        logisticalHierarchies=[
            {
                "gtin": CASE,
                "quantity": 1,
                "own": {"d": 4},
                "children": [{"gtin": gtin(number), "quantity": 6, "children": []}],
            }
        ],
    )


#: Codes that are in use somewhere: a product that nobody answers about.
OF_OTHERS = {
    "brand": {"code": "0013"},
    "conservations": [{"code": "FREEZE"}, {"code": "DRY"}],
}
#: What the service writes itself.
_OF_THE_SERVICE = frozenset({"updatedAt", "validation", "lastUpdatedAt"})
#: Checks that an answer may break.
PROFILE = {
    "checks": {"texts_without_markup": {}, "texts_without_placeholders": {}, "names_not_in_capitals": {}}
}


@dataclass
class Given:
    """What became of a thousand answers of every kind.

    Attributes
    ----------
    kinds
        How many kinds of answers there are.
    applied, good
        How many good answers stand at the service as they were meant, and how many there were.
    held, bad
        How many bad ones were refused, to be confirmed or in conflict, and how many there were.
    wrong
        What is not as it should be, in words.
    others
        Attributes of products that changed and were not answered.
    rows, accounted
        Rows of the files, and rows that have exactly one state.
    by_state
        Number of answers by state.
    seconds
        What reading and judging, applying and proving took.
    """

    kinds: int = len(KINDS)
    applied: int = 0
    good: int = 0
    held: int = 0
    bad: int = 0
    wrong: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    rows: int = 0
    accounted: int = 0
    by_state: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=dict)


def given(folder: Path, most: int = 1_000) -> Given:
    """Give so many answers, send them, and hold what the service has against what each of them means."""
    answers: list[tuple[Kind, int]] = []
    products: Counter[tuple[str, str | None]] = Counter()
    for kind in islice(cycle(KINDS), most):
        products[kind.about] += 1
        answers.append((kind, products[kind.about]))
    records = [product(1 + number) for number in range(max(products.values()))]
    others = record(len(records) + 1, gtin(len(records) + 1), **OF_OTHERS)
    files = _written(folder, answers)
    found = Given()
    with Sandbox([*records, others]) as sandbox:
        key = sandbox.credentials[0]
        service = prodex.connect(
            base_url=sandbox.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
        )
        catalog = prodex.load_products(service, name="every-kind", progress=False)
        before = _records(catalog)
        with _timed(found, "read and judge"):
            fix = prodex.read_worklist(folder, catalog, profile=PROFILE)
        with _timed(found, "apply"):
            fix.apply(service, progress=False).wait(progress=False)
        with _timed(found, "prove"):
            after = _records(prodex.load_products(service, name="afterwards", progress=False))
    counts = fix.row_counts
    found.rows, found.accounted = len(answers), int(counts[_STATES].sum().sum())
    found.by_state = Counter(fix.answers["state"])
    states = {(Path(one.file).name, one.row): (one.state, one.reason) for one in fix.answers.itertuples()}
    expected = copy.deepcopy(before)
    good_ones: list[tuple[Kind, int]] = []
    for place, (kind, number) in files.items():
        state, reason = states.get(place, ("nowhere", ""))
        what = f"{kind.name}, product {number}: {kind.answer(number)!r:.80} is {state}: {reason}"
        if kind.after is None:
            found.bad += 1
            found.held += state in kind.states
            if state not in kind.states:
                found.wrong.append(what)
            continue
        found.good += 1
        good_ones.append((kind, number))
        expected[gtin(number)][kind.root] = kind.after(expected[gtin(number)][kind.root], number)
        if state != "accepted":
            found.wrong.append(what)
    found.applied = sum(
        _same(after[gtin(number)], expected[gtin(number)], kind.root) for kind, number in good_ones
    )
    for one, whole in expected.items():
        for attribute in whole.keys() | after[one].keys():
            if not _same(after[one], whole, attribute):
                found.others.append(
                    f"{one} {attribute}: {after[one].get(attribute)} and not {whole.get(attribute)}"
                )
    return found


_STATES = ["accepted", "unchanged", "refused", "conflict", "needs confirmation", "without an answer"]


def _written(folder: Path, answers: list[tuple[Kind, int]]) -> dict[tuple[str, int], tuple[Kind, int]]:
    """Write the answers into files; return them by file and row."""
    folder.mkdir()
    places: dict[tuple[str, int], tuple[Kind, int]] = {}
    rows: list[list[tuple[Kind, int]]] = [[] for _ in FILES]
    for number, one in enumerate(answers):
        at = number // len(KINDS) % len(FILES)
        kind, of = one
        typed = kind.answer(of)
        form = FILES[at]
        rows[at if form is None or (isinstance(typed, str) and _fits(typed, form[1])) else 0].append(one)
    for at, (form, mine) in enumerate(zip(FILES, rows, strict=True)):
        name = f"{at}.xlsx" if form is None else f"{at}.csv"
        lines: list[list[Any]] = []
        above: list[str] = []
        for kind, number in sorted(mine, key=lambda one: sorted(one[0].keys)):
            keys = {
                "GTIN": gtin(number),
                "Field": kind.attribute,
                **kind.keys,
                "New value": kind.answer(number),
            }
            # An empty cell says that nothing was seen: a row has only the columns that say something of it.
            if list(keys) != above:
                lines.append(above := list(keys))
            lines.append(list(keys.values()))
            places[name, len(lines)] = kind, number
        if form is None:
            _workbook(folder / name, lines)
        else:
            quoted = [form[0].join('"' + cell.replace('"', '""') + '"' for cell in line) for line in lines]
            (folder / name).write_bytes("\r\n".join(quoted).encode(form[1]))
    return places


def _fits(typed: str, encoding: str) -> bool:
    try:
        typed.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _workbook(path: Path, lines: list[list[Any]]) -> None:
    book = Workbook()
    for row, line in enumerate(lines, 1):
        for column, held in enumerate(line, 1):
            one = held if isinstance(held, Cell) else Cell(held, "@")
            cell = book.active.cell(row, column, one.value)
            cell.number_format = one.shown
            if isinstance(one.value, str) and not one.value.startswith("#"):
                cell.data_type = "s"
            if one.is_struck:
                cell.font = Font(strike=True)
    book.save(path)


def _records(catalog: prodex.Catalog) -> dict[str, Any]:
    return {one["gtin"]: one for one in map(json.loads, catalog.arrow("raw", ["json"])["json"].to_pylist())}


def _same(one: Mapping[str, Any], other: Mapping[str, Any], attribute: str) -> bool:
    return attribute in _OF_THE_SERVICE or _bare(one.get(attribute)) == _bare(other.get(attribute))


def _bare(value: Any) -> Any:
    """Return a value without what the service says in its own words: the labels of codes."""
    if isinstance(value, list):
        return [_bare(one) for one in value]
    if isinstance(value, dict):
        return {
            name: _bare(one)
            for name, one in value.items()
            if name not in _OF_THE_SERVICE and not (name == "label" and "code" in value)
        }
    return value


@contextmanager
def _timed(found: Given, name: str) -> Iterator[None]:
    began = time.perf_counter()
    yield
    found.seconds[name] = time.perf_counter() - began
