"""A law: no function that takes a catalogue drops the selection of one of its parts.

A part may have only some of the products of its file: a filter chose them, or others were replaced by what the service
has now. Whatever takes such a catalogue has to find what it finds in one that was made of just these products.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import requests
from hypothesis import example, given
from hypothesis import strategies as st

import prodex
from prodex import operations as do
from prodex.catalog import Catalog
from prodex.errors import InputError
from prodex.sandbox import Sandbox
from tests.corrections.undoing import gtin
from tests.on_the_way import carried, reply, session_of
from tests.public import PUBLIC
from tests.worklists.bakery import record, text

COUNT = 6
NOW = pd.Timestamp("2026-11-27T12:00:00", tz="UTC").to_pydatetime()


def product(number: int, *, is_new: bool) -> dict[str, Any]:
    """Return a product as it was, and as somebody has corrected it since."""
    word = "Pain" if is_new else "PAIN"
    return record(
        number,
        gtin(number),
        uuid=f"00000000-0000-4000-8000-{number:012d}",
        brand={"code": "NEW" if is_new else "OLD", "label": "Brand"},
        isConsumerUnit=is_new,
        lifeCycle=2 if is_new else 1,
        namePublicLong=[text("fra-FR", f"{word}  {number}"), text("nld-NL", f"Brood {number}")],
        netContent=[{"data": 500.0 if is_new else 250.0, "expressedIn": {"code": "GRM", "label": "g"}}],
        logisticalHierarchies=[
            {
                "gtin": gtin(100 + number),
                "typePackaging": {"code": "CASE"},
                "children": [
                    {"gtin": gtin(number), "quantity": 6 if is_new else 4, "typePackaging": {"code": "EACH"}}
                ],
            }
        ],
        isPartitionedBy=[
            {
                "name": "100 g",
                "quantity": 100,
                "isMeasuredBy": {"code": "GRM", "label": "g"},
                "contains": [
                    {
                        "isConceptualizedBy": {"code": "FAT"},
                        "quantity": 2 if is_new else 1,
                        "expressedIn": {"code": "GRM", "label": "g"},
                    }
                ],
            }
        ],
    )


OLD = prodex.flatten([product(number, is_new=False) for number in range(1, 1 + COUNT)])


@dataclass
class Asked:
    """What the functions need beside a catalogue: a service, an upsert of it, and a folder."""

    service: prodex.service.Client
    tracking: prodex.send.Tracking
    folder: Path

    def file(self, name: str, content: str = "") -> Path:
        """Return the path of a new file."""
        path = Path(mkdtemp(dir=self.folder)) / name
        if content:
            path.write_text(content, "utf-8")
        return path


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[Asked]:
    """Serve the products as they are now."""
    with Sandbox([product(1 + n, is_new=True) for n in range(COUNT)]) as it:
        key = it.credentials[0]
        service = prodex.connect(
            base_url=it.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
        )
        same = {"gtin": gtin(1), "namePublicLong": product(1, is_new=True)["namePublicLong"], "lifeCycle": 3}
        tracking = prodex.upsert(service, [same], progress=False).wait(progress=False)
        it.change([product(1, is_new=True)], moves_updated_at=False)
        yield Asked(service, tracking, tmp_path)


def answers(fix: prodex.worklists.Fix) -> Any:
    """Return what becomes of answers, and what the steps of a recipe count."""
    steps = fix.steps if len(fix.steps) else None
    return fix.answers.drop(columns="file"), fix.preview().drop(columns="file"), steps


def shown(panel: prodex.notebook.Explore) -> Any:
    """Return the products that a panel is about, and what its filters count."""
    panel.app.view()
    panel.wait()
    return panel.catalog.products, panel.app.session.catalog.texts


_WORKLIST = "GTIN;Field;Language;New value\n" + "\n".join(
    f"{gtin(1 + n)};namePublicLong;fr;Pain blanc {n}" for n in range(COUNT)
)
_PASTED = "EAN\tNom\n" + "\n".join(f"{gtin(1 + n)}\tPain blanc {n}" for n in range(COUNT))
_CORRECTIONS = [
    prodex.TextCorrection(str(1 + n), "namePublicLong", "fr", f"Pain {n}", before=f"Pain  {1 + n}")
    for n in range(COUNT)
]
_PROFILE: dict[str, Any] = {"checks": {"names_not_in_capitals": {}, "duplicate_gtin": {}, "valid_gtin": {}}}


def published(catalog: Catalog, asked: Asked) -> Any:
    """Return what is published of a catalogue, which is saved first if it is no snapshot."""
    place = asked.file("published")
    try:
        prodex.publish(catalog, place, progress=False)
    except InputError:
        prodex.publish(catalog.save("published", progress=False), place, progress=False)
    return prodex.open_published(place).texts


def required(catalog: Catalog, asked: Asked) -> Any:
    """Return of which products something is required."""
    bodies: list[Any] = []

    def taken(request: requests.PreparedRequest, _: object) -> requests.Response:
        bodies.append(json.loads(request.body or b""))
        return reply(request, {})

    with carried("scenarios", taken, session_of(asked.service)):
        prodex.require_scenarios(asked.service, catalog, {"12": True}, progress=False)
    return bodies


def frame_changes(catalog: Catalog) -> Any:
    """Return what a frame with other texts would send."""
    texts = catalog.texts.query("attribute == 'namePublicLong' and language == 'fr'")
    return catalog.changes_from(texts.assign(text=texts["text"].str.lower())).records


#: What is asked, by the public name.
FUNCTIONS: dict[str, Callable[[Catalog, Asked], Any]] = {
    "apply_recipe": lambda c, _: answers(
        prodex.apply_recipe(c, prodex.Recipe([prodex.RecipeStep(do.TrimSpaces(), "namePublicLong", "fr")]))
    ),
    "audit": lambda c, _: prodex.audit(c, _PROFILE, now=NOW, progress=False).failures(),
    "correct": lambda c, _: answers(
        prodex.correct(c, "namePublicLong", do.TrimSpaces(), language="fr", now=NOW)
    ),
    "correct_from": lambda c, _: (
        answers(prodex.correct_from(_PASTED, c, ["gtin", "namePublicLong.fr"], profile=_PROFILE, now=NOW)),
        answers(prodex.correct_from(_CORRECTIONS, c, now=NOW)),
    ),
    "diff": lambda c, _: (
        prodex.diff(OLD, c, progress=False).changes,
        prodex.diff(c, OLD, progress=False).changes,
    ),
    "download_pictures": lambda c, asked: prodex.download_pictures(
        c, asked.file("p"), progress=False
    ).files.drop(columns="path"),
    "propose_headings": lambda c, _: prodex.worklists.propose_headings(_PASTED, c),
    "publish": published,
    "read_worklist": lambda c, asked: answers(
        prodex.read_worklist(asked.file("a.csv", _WORKLIST), c, profile=_PROFILE, now=NOW)
    ),
    "require_scenarios": required,
    "undo": lambda c, asked: answers(prodex.undo(asked.tracking, catalog=c, now=NOW)),
    "upsert": lambda c, asked: prodex.upsert(asked.service, c, dry_run=True, progress=False).payloads,
    "write_requirements": lambda c, asked: (
        prodex.Requirements.read(
            prodex.write_requirements(asked.file("r.xlsx"), c, by="brand_code", channels="Web shop:France")
        ).families
    ),
}

PANELS: dict[str, Callable[[Catalog, Asked], Any]] = {
    "explore": lambda c, _: [
        shown(prodex.explore(c, show=one))
        for one in ("", "quality", "coverage", "corrections", "gallery", "card")
    ],
}

METHODS: dict[str, Callable[[Catalog, Asked], Any]] = {
    **{
        name: lambda c, _, name=name: getattr(c, name)
        for name in (
            *(
                "codes",
                "documents",
                "enriched_contents",
                "entities",
                "exportables",
                "hierarchies",
                "identifiers",
            ),
            *(
                "labels",
                "nutrients",
                "pictures",
                "presence",
                "products",
                "quantities",
                "raw",
                "scalars",
                "tags",
            ),
            *("texts", "videos", "drift", "problems"),
        )
    },
    "arrow": lambda c, _: c.arrow("texts", ["product_id", "text"], pc.field("language") == "fr"),
    "batches": lambda c, _: pa.Table.from_batches(c.batches("quantities")),
    "changes_from": lambda c, _: frame_changes(c),
    "contents": lambda c, _: c.contents("CASE"),
    "describe": lambda c, _: c.describe(),
    "dictionary": lambda c, _: c.dictionary[c.dictionary["table"].isin(["products", "texts"])],
    "equals": lambda c, _: [c.equals(c), c.equals(c.head(0))],
    "export": lambda c, asked: (
        prodex.read_export(Path(c.export(asked.file("e"), progress=False)[0]).parent).texts
    ),
    "export_wide": lambda c, asked: pd.read_csv(
        c.export_wide(asked.file("wide.csv"), progress=False)[0], dtype="str"
    ),
    "gallery": lambda c, _: c.gallery().cells,
    "head": lambda c, _: c.head(2).texts,
    "mask": lambda c, _: c.mask(
        ~prodex.Selection.of(brand_code="NEW") & prodex.Selection(words="pain")
    ).tolist(),
    "nutrition_wide": lambda c, _: c.nutrition_wide(),
    "overridden": lambda c, _: c.overridden(),
    "row_count": lambda c, _: [c.row_count(one) for one in ("products", "texts", "quantities")],
    "sample": lambda c, _: c.sample(min(2, len(c)), seed=1).texts,
    "save": lambda c, _: c.save("again", progress=False).texts,
    "sql": lambda c, _: c.sql(
        "select product_id, text from texts join products using (product_id) order by 1, 2"
    ),
    "table": lambda c, _: c.table("texts", ["text"], with_products=["brand_code"]),
    "tables": lambda c, _: c.tables.loc[["products", "texts", "raw"], "rows"],
    "where": lambda c, _: (
        c.where(brand_code="NEW").texts,
        c.where(lambda one: one["life_cycle"] == 1).texts,
        c.where(prodex.Selection.of(brand_code="NEW") | prodex.Selection(words="brood")).texts,
    ),
    "wide": lambda c, _: c.wide(),
    "with_pending_updates": lambda c, _: c.with_pending_updates(progress=False).texts,
}

#: They take a catalogue for the name of its snapshot.
NAMED = {
    *("accepted", "history", "list_audits", "list_snapshots", "open_audit", "open_snapshot"),
    *("recover", "refresh", "vacuum", "verify", "watch"),
}
#: They are made of a catalogue by one of the others, or hold what was in use.
MADE = {"Audit", "Catalog", "Difference", "Fix"}
#: What says nothing of products, what belongs to none, and what a catalogue with a selection does not have.
OF_THE_WHOLE = {
    "as_received",
    "chosen",
    "code_labels",
    "complete",
    "descriptors",
    "files",
    "folder",
    "published",
}


def plain(value: Any) -> Any:
    """Return something that compares."""
    match value:
        case pd.DataFrame() | pd.Series():
            return value.reset_index(drop=True).to_json(default_handler=str, date_format="iso")
        case pa.Table():
            return value.to_pylist()
        case tuple() | list():
            return [plain(one) for one in value]
    return value if isinstance(value, str | int | bytes | dict | None) else repr(value)


def selected(asked: Asked, recheck: set[int], chosen: set[int], *, saved: bool) -> tuple[Catalog, Catalog]:
    """Return a catalogue of which some products were requested anew and some were chosen, and just these products."""
    catalog = OLD.save("whole", progress=False) if saved else OLD
    given = [prodex.TextCorrection(str(n), "namePublicLong", "fr", "x") for n in sorted(recheck)]
    newest = prodex.correct_from(given, catalog).recheck(asked.service).catalog
    some = (
        newest
        if chosen == set(range(1, 1 + COUNT))
        else newest.where(product_id=[str(n) for n in sorted(chosen)])
    )
    order = [*sorted(recheck), *(n for n in range(1, 1 + COUNT) if n not in recheck)]
    stored = {
        one["id"]: one
        for one in map(json.loads, map(bytes, asked.service.search_products(limit=COUNT).envelope.data))
    }
    # In two parts as well: rows of child tables are in the order of their attributes, part by part.
    new = [stored[n] for n in order if n in chosen & recheck]
    old = [product(n, is_new=False) for n in order if n in chosen - recheck]
    parts = tuple(part for records in (new, old) for part in prodex.flatten(records).parts)
    return some, replace(prodex.flatten([]), parts=parts, origin=some.origin)


NUMBERS = st.sets(st.integers(1, COUNT), min_size=1)


@pytest.mark.slow
@example(recheck={2, 5}, chosen={1, 2, 5, 6}, saved=True)
@example(recheck={6}, chosen={2, 4}, saved=False)
@given(recheck=NUMBERS, chosen=NUMBERS, saved=st.booleans())
def test_no_function_drops_a_selection(
    asked: Asked, recheck: set[int], chosen: set[int], saved: bool
) -> None:
    """It finds what it finds in a catalogue that was made of just these products."""
    some, just = selected(asked, recheck, chosen, saved=saved)
    assert sorted(map(str, chosen)) == sorted(some.products["product_id"])
    for name, ask in {**METHODS, **FUNCTIONS}.items():
        assert plain(ask(just, asked)) == plain(ask(some, asked)), name


@pytest.mark.slow
@example(recheck={2, 5}, chosen={1, 2, 5, 6})
@given(recheck=NUMBERS, chosen=NUMBERS)
def test_no_panel_drops_a_selection(asked: Asked, recheck: set[int], chosen: set[int]) -> None:
    """Panels show what a catalogue of just these products has."""
    some, just = selected(asked, recheck, chosen, saved=True)
    for name, ask in PANELS.items():
        assert plain(ask(just, asked)) == plain(ask(some, asked)), name


def test_the_law_asks_all_that_takes_a_catalogue() -> None:
    """A new function has to be asked as well, or it takes no catalogue."""
    taking = {name for name, value in PUBLIC.items() if _takes_a_catalogue(value)}
    assert taking | {"diff", "upsert"} == {*FUNCTIONS, *PANELS} | NAMED | MADE
    public = {name for name in dir(Catalog) if not name.startswith("_")} - {"origin", "parts"}
    assert public == set(METHODS) | OF_THE_WHOLE


def _takes_a_catalogue(given: Any) -> bool:
    function = given.__init__ if inspect.isclass(given) else given
    if not callable(given):
        return False
    parameters = inspect.signature(function).parameters.values()
    return any("Catalog" in str(one.annotation) for one in parameters)
