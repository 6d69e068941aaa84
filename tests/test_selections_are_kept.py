"""A law: whatever is made of a selection is of its products only, and says of which products it is.

Each product bears a mark in every text, and no mark of a product that was not chosen may be read in a frame, a file, a
page, a panel or a request. `tests/test_selections.py` shows that figures are those of the selection.
"""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import requests

import prodex
from prodex.catalog import Catalog
from prodex.errors import ProdexError
from prodex.exploration.conditions import Conditions
from prodex.exploration.filtering import ProductFilter
from prodex.formats.registry import FormatName
from prodex.quality.rulebook import RULES
from prodex.sandbox import Sandbox
from prodex.tables.declaration import TABLES
from tests.cases import each_row
from tests.marked import COUNT, Files, mark, numbers_in, product_id, records

NOW = pd.Timestamp("2026-11-27T12:00:00").to_pydatetime()
#: Every rule that is told nothing more: those that look at one product, and those that look at all of them.
PROFILE: dict[str, Any] = {
    "checks": {
        name: {}
        for name, one in RULES.items()
        if one.shipped
        and not any(parameter.default is inspect.Parameter.empty for parameter in one.parameters)
    }
}

#: The products that are chosen: of each part some, and of one part none.
CHOSEN = (2, 5)


@dataclass
class World:
    """What a call needs beside a catalogue: a service that records what it is asked, and folders."""

    service: prodex.Client
    folder: Path
    #: Address and body of each request.
    requests: list[tuple[Any, Any]]

    def new(self, name: str = "new") -> Path:
        """Return a path where nothing is."""
        return Path(mkdtemp(dir=self.folder)) / name

    def written(self, write: Callable[[Path], object], name: str = "new") -> tuple[object, Files]:
        """Return what a call that writes to a path returns, and what it has written there and beside it."""
        path = self.new(name)
        return write(path), Files(path.parent)

    def requested(self, ask: Callable[[], object]) -> tuple[object, list[tuple[Any, Any]]]:
        """Return what a call returns, and what it has requested."""
        before = len(self.requests)
        return ask(), self.requests[before:]


@pytest.fixture
def folders(tmp_path: Path) -> World:
    """Have folders, and no service."""
    return World(
        prodex.connect(base_url="https://nobody.example", client_id="a", client_secret="b"), tmp_path, []
    )


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """Serve the products, and record every request."""
    with Sandbox(records()) as sandbox:
        key = sandbox.credentials[0]
        service = prodex.connect(
            base_url=sandbox.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
        )
        found: list[tuple[Any, Any]] = []
        send = requests.Session.send

        def sent(session: requests.Session, request: Any, **options: Any) -> requests.Response:
            found.append((request.url, request.body))
            return send(session, request, **options)

        monkeypatch.setattr(requests.Session, "send", sent)
        yield World(service, tmp_path, found)


def whole(*, saved: bool) -> Catalog:
    """Return the catalogue of all products, in three parts."""
    return in_memory().save("whole", progress=False) if saved else in_memory()


@cache
def in_memory() -> Catalog:
    """Return the catalogue as it is before it is saved."""
    every = records()
    first, *others = (prodex.flatten(every[number : number + 2]).parts[0] for number in range(0, COUNT, 2))
    # Labels of codes in a further language are beside the first part, whichever products have the codes.
    brands = [(one["brand"]["code"], f"merk {mark(number)}") for number, one in enumerate(every, 1)]
    rows = [
        {"attribute": "brand", "code": code, "label_language": "nl", "label": one} for code, one in brands
    ]
    labels = pa.Table.from_pylist(rows, TABLES["code_labels"].schema)
    first = replace(first, tables={**first.tables, "code_labels": labels})
    return replace(prodex.flatten([]), parts=(first, *others))


def explorer(catalog: Catalog, *numbers: int) -> Catalog:
    """Return what the explorer leaves of a catalogue when the brands of some products are pressed."""
    conditions = Conditions()
    for code in catalog.where(product_id=ids(*numbers)).products["brand_code"]:
        conditions = conditions.toggled("brand", code)
    return ProductFilter(catalog).catalog(conditions)


def ids(*numbers: int) -> list[str]:
    """Return the ids of products."""
    return [product_id(number) for number in numbers]


#: How products are chosen, and which these are.
WAYS: Mapping[str, tuple[Callable[[Catalog], Catalog], tuple[int, ...]]] = {
    "where": (lambda c: c.where(product_id=ids(*CHOSEN)), CHOSEN),
    "expression": (lambda c: c.where(pc.field("product_id").isin(ids(*CHOSEN))), CHOSEN),
    "mask": (lambda c: c.where(c.products["product_id"].isin(ids(*CHOSEN))), CHOSEN),
    "head": (lambda c: c.head(2), (1, 2)),
    "sample": (lambda c: c.sample(3, seed=3), (1, 2, 4)),
    "explorer": (lambda c: explorer(c, *CHOSEN), CHOSEN),
    "two after another": (lambda c: c.head(5).where(product_id=ids(*CHOSEN)), CHOSEN),
    "a part of the first": (lambda c: explorer(c.head(4), 2), (2,)),
    "none": (lambda c: c.where(product_id=[]), ()),
}


def refused(ask: Callable[[], object]) -> str:
    """Return the words of an error that is meant."""
    with pytest.raises(ProdexError) as error:
        ask()
    return str(error.value)


def exported(catalog: Catalog, world: World) -> object:
    """Return a catalogue in files of every format."""
    formats: tuple[FormatName, ...] = ("parquet", "csv", "xlsx", "jsonl")
    return [world.written(lambda path, one=one: catalog.export(path, one, progress=False)) for one in formats]


_TABLES = ("products", "texts", "presence", "raw")

#: How members of a class are asked that cannot be asked without arguments, or that would write, or refuse.
ARGUMENTS: Mapping[type, Mapping[str, Callable[[Any, World], object]]] = {
    Catalog: {
        "arrow": lambda c, _: [c.arrow(one) for one in _TABLES],
        "batches": lambda c, _: [list(c.batches(one)) for one in _TABLES],
        "contents": lambda c, _: c.contents("CASE"),
        "equals": lambda c, _: c.equals(c.head(1)),
        "export": exported,
        "files": lambda c, _: refused(lambda: c.files("products")),
        "nutrition_wide": lambda c, _: c.nutrition_wide() if len(c) else None,
        "row_count": lambda c, _: [c.row_count(one) for one in TABLES],
        "sample": lambda c, _: c.sample(min(len(c), 1)),
        "save": lambda c, _: c.save("again", progress=False),
        "sql": lambda c, _: [c.sql(f"select * from {one}") for one in TABLES],
        "table": lambda c, _: c.table("texts", with_products=["brand", "owner"]),
    },
}

#: What may say something of other products, and why.
EXCEPT: Mapping[type, Mapping[str, str]] = {
    Catalog: {"parts": "A part keeps its whole file, of which it reads the chosen products."},
}


def members(value: object) -> Iterator[str]:
    """Yield the public names of a value."""
    yield from (name for name in dir(type(value)) if not name.startswith("_"))
    if is_dataclass(value):
        yield from (one.name for one in fields(value) if not one.name.startswith("_"))


def asked(value: object, world: World) -> Iterator[tuple[str, object]]:
    """Yield everything that a value says, by its name: one that needs arguments has to be in `ARGUMENTS`."""
    kind = type(value)
    for name in sorted({*members(value)} - EXCEPT.get(kind, {}).keys()):
        if (ask := ARGUMENTS.get(kind, {}).get(name)) is not None:
            yield name, ask(value, world)
        elif callable(getattr(kind, name, None)):
            found = getattr(value, name)()
            yield name, list(found) if isinstance(found, Iterator) else found
        else:
            yield name, getattr(value, name)
    yield "repr", value


@pytest.mark.slow
@each_row("way, saved", [("expression", True), ("a part of the first", False), ("none", True)])
def test_a_catalogue_says_nothing_of_a_product_that_was_not_chosen(
    folders: World, way: str, saved: bool
) -> None:
    """Tables, files, queries and descriptions of a selection are of its products."""
    choose, numbers = WAYS[way]
    for name, found in asked(choose(whole(saved=saved)), folders):
        assert numbers_in(found) <= set(numbers), name


def sent_to_another_process(catalog: Catalog) -> Catalog:
    """Return a catalogue that was written down and read back."""
    made: Catalog = pickle.loads(pickle.dumps(catalog))
    return made


def read_in_threads(catalog: Catalog) -> Catalog:
    """Return a catalogue after two threads have read it, and chosen of it, at the same time."""
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda number: [catalog.head(number).texts, catalog.wide(), len(catalog)], range(8)))
    return catalog


#: What becomes of a catalogue on its way, and is the selection still.
JOURNEYS: Mapping[str, Callable[[Catalog], Catalog]] = {
    "nothing": lambda c: c,
    "another process": sent_to_another_process,
    "copied": copy.copy,
    "copied as a whole": copy.deepcopy,
    "replaced": lambda c: replace(c, origin=replace(c.origin, labels=("fr-FR",))),
    "two threads": read_in_threads,
    "chosen again": lambda c: c.where(lambda products: products["gtin"].notna()),
    "saved": lambda c: c.save("kept", progress=False),
    "saved and opened": lambda c: prodex.open_snapshot(c.save("kept", progress=False).folder),
    "with updates": lambda c: prodex.with_pending_updates(c, progress=False),
    "audited": lambda c: prodex.audit(c, "core", progress=False).catalog or c.head(0),
    "exported": lambda c: prodex.read_export(Path(c.export(mkdtemp(), progress=False)[0]).parent),
    "exported as records": lambda c: prodex.read_export(
        Path(c.export(mkdtemp(), "jsonl", progress=False)[0]).parent
    ),
}


@pytest.mark.slow
@each_row(
    "way, saved, journey",
    [
        *product(WAYS, (False, True), ["nothing", "saved"]),
        *(("expression", number % 2 == 0, one) for number, one in enumerate(JOURNEYS)),
    ],
)
def test_a_selection_stays_one_on_every_way(way: str, saved: bool, journey: str) -> None:
    """However it was chosen, copied, saved or exported, it has its products and no other."""
    choose, numbers = WAYS[way]
    found = JOURNEYS[journey](choose(whole(saved=saved)))
    assert sorted(ids(*numbers)) == sorted(found.products["product_id"])
    assert set(numbers) == numbers_in(found)
