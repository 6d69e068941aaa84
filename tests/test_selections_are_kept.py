"""A law: whatever is made of a selection is of its products only, and says of which products it is.

Each product bears a mark in every text, and no mark of a product that was not chosen may be read in a frame, a file, a
page, a panel or a request. `tests/test_selections.py` shows that figures are those of the selection.
"""

from __future__ import annotations

import copy
import html
import inspect
import pickle
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
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
from matplotlib.figure import Figure
from matplotlib.text import Text
from typer.testing import CliRunner, Result

import prodex
from prodex import operations as do
from prodex.catalog import Catalog
from prodex.cli import app
from prodex.errors import ChangesRefused, ProdexError
from prodex.exploration.filtering import ProductFilter
from prodex.files.atomic import home
from prodex.formats.registry import FormatName
from prodex.notebook.app import App
from prodex.notebook.session.session import Session
from prodex.quality import AuditComparison
from prodex.quality.accepted import AcceptedFindings
from prodex.quality.comparison import worsening
from prodex.quality.figures import figures_of
from prodex.quality.rulebook import all_rules
from prodex.sandbox import Sandbox
from prodex.selection import Selection
from prodex.tables.declaration import TABLES
from tests.cases import each_row, own_home
from tests.marked import COUNT, Files, mark, numbers_in, own_gtin, product_id, records, texts_in
from tests.notebook.test_bulk_view import filled, send
from tests.public import PUBLIC

NOW = pd.Timestamp("2026-11-27T12:00:00").to_pydatetime()
#: Every rule that is told nothing more: those that look at one product, and those that look at all of them.
PROFILE: dict[str, Any] = {
    "checks": {
        name: {}
        for name, one in all_rules().items()
        if one.shipped
        and not any(parameter.default is inspect.Parameter.empty for parameter in one.parameters)
    }
}

#: The products that are chosen: of each part some, and of one part none.
CHOSEN = (2, 5)
#: Their kinds, which no other product has.
KINDS = tuple(records()[number - 1]["kind"]["code"] for number in CHOSEN)


@dataclass
class World:
    """What a call needs beside a catalogue: a service that records what it is asked, and folders."""

    service: prodex.service.Client
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
        named = {
            "BASE_URL": sandbox.base_url,
            "CLIENT_ID": key["client_id"],
            "CLIENT_SECRET": key["client_secret"],
        }
        for name, value in named.items():
            monkeypatch.setenv(f"PRODEX_{name}", str(value))
        service = prodex.connect()
        found: list[tuple[Any, Any]] = []
        send = requests.Session.send

        def sent(session: requests.Session, request: Any, **options: Any) -> requests.Response:
            found.append((request.url, request.body))
            return send(session, request, **options)

        monkeypatch.setattr(requests.Session, "send", sent)
        yield World(service, tmp_path, found)


def whole(*, saved: bool) -> Catalog:
    """Return the catalogue of all products, in three parts; one that is saved lies in the home of the test."""
    if not saved:
        return in_memory()
    if not (home() / "snapshots").exists():
        shutil.copytree(home_with_all(), home(), dirs_exist_ok=True)
    return prodex.open_snapshot("whole")


@cache
def home_with_all() -> Path:
    """Return a home, beside those of tests, in which the catalogue is saved: to copy it is faster than to save it."""
    with own_home(home().with_name("home-with-all")):
        in_memory().save("whole", progress=False)
        return home()


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
    conditions = Selection()
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
    "of updates": (
        lambda c: c.with_pending_updates(progress=False).where(product_id=ids(*CHOSEN)),
        CHOSEN,
    ),
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


def saved_anew(audit: prodex.quality.Audit) -> Path:
    """Return the folder of an audit that is saved."""
    folder = audit.save(f"audits-{id(audit)}").folder
    assert folder is not None
    return folder


def sent(fix: prodex.worklists.Fix, world: World) -> object:
    """Return what is sent of corrections, and what becomes of it."""
    if not fix.counts["accepted"]:
        return None
    return world.requested(
        lambda: fix.apply(world.service, elsewhere=True, progress=False).wait(progress=False)
    )


_TABLES = ("products", "texts", "presence", "raw")

#: How members of a class are asked that cannot be asked without arguments, or that would write, or refuse.
ARGUMENTS: Mapping[type, Mapping[str, Callable[[Any, World], object]]] = {
    Catalog: {
        "arrow": lambda c, _: [c.arrow(one) for one in _TABLES],
        "batches": lambda c, _: [list(c.batches(one)) for one in _TABLES],
        "changes_from": lambda c, _: changed_names(c),
        "contents": lambda c, _: c.contents("CASE"),
        "equals": lambda c, _: c.equals(c.head(1)),
        "export": exported,
        "export_wide": lambda c, world: [
            world.written(lambda path: c.export_wide(path, progress=False), one)
            for one in ("one.csv", "one.xlsx", "one.parquet")
        ],
        "files": lambda c, _: refused(lambda: c.files("products")),
        "mask": lambda c, _: c.mask(Selection.of(product_id=ids(*CHOSEN))),
        "nutrition_wide": lambda c, _: c.nutrition_wide() if len(c) else None,
        "row_count": lambda c, _: [c.row_count(one) for one in TABLES],
        "sample": lambda c, _: c.sample(min(len(c), 1)),
        "save": lambda c, _: c.save("again", progress=False),
        "sql": lambda c, _: [c.sql(f"select * from {one}") for one in TABLES],
        "table": lambda c, _: c.table("texts", with_products=["brand", "owner"]),
    },
    prodex.quality.Audit: {
        "accepted_in": lambda a, _: [a.accepted_in(one) for one in a.parts],
        "accepting": lambda a, world: len(a.accepting(AcceptedFindings(world.new("accepted.jsonl")))),
        "completeness": lambda a, _: refused(a.completeness),
        "group_column": lambda a, _: a.group_column("brand_code"),
        "groups": lambda a, _: [a.groups("owner"), a.groups("brand")],
        "is_like": lambda a, _: a.is_like(a.only(ids(1))),
        "only": lambda a, _: len(a.only(ids(1, 2, 3))),
        "save": lambda a, _: Files(saved_anew(a)),
        "to_html": lambda a, world: world.written(lambda path: a.to_html(path, progress=False), "r.html"),
        "worklists": lambda a, world: [
            world.written(lambda path, by=by: a.worklists(path, by, progress=False))
            for by in ("owner", "kind")
        ],
    },
    prodex.worklists.Fix: {
        "accept": lambda f, _: refused(f.accept),
        "apply": sent,
        "asks_where": lambda f, world: f.asks_where(world.service),
        "confirm": lambda f, _: None if f.tracking else f.confirm(),
        "effect": lambda f, _: f.effect(),
        "recheck": lambda f, world: world.requested(lambda: f.recheck(world.service)),
        "recipe": lambda f, world: (
            world.written(f.recipe, "r.toml")
            if len(f.steps)
            else refused(lambda: f.recipe(world.new("r.toml")))
        ),
        "worklist": lambda f, world: world.written(lambda path: f.worklist(path, accepted=True)),
    },
    prodex.send.Changes: {
        "beside": lambda c, _: c.beside(c, c.places),
        "without": lambda c, _: c.without(list(c.places)[:1]),
    },
    prodex.compare.Difference: {"to_html": lambda d, world: world.written(d.to_html, "d.html")},
    prodex.pictures.Gallery: {"to_html": lambda g, world: world.written(g.to_html, "g.html")},
    AuditComparison: {"completeness": lambda c, _: refused(lambda: c.completeness)},
    prodex.send.Tracking: {
        name: lambda _t, _w: None
        for name in ("discard", "of_upsert", "refresh", "send_planned", "send_rest", "wait")
    },
}

#: What may say something of other products, and why.
EXCEPT: Mapping[type, Mapping[str, str]] = {
    Catalog: {
        "parts": "A part keeps its whole file, of which it reads the chosen products.",
        "as_received": "What the service has: corrections of the chosen products are merged into it.",
    },
    prodex.quality.Audit: {
        "taken_from": "It is the larger audit, whose figures a worklist has beside those of the choice."
    },
    prodex.send.Tracking: {"service": "It is about no product.", "organization": "It is about no product."},
}


def members(value: object) -> Iterator[str]:
    """Yield the public names of a value."""
    yield from (name for name in dir(type(value)) if not name.startswith("_"))
    if is_dataclass(value):
        yield from (one.name for one in fields(value) if not one.name.startswith("_"))


def asked(value: object, world: World) -> Iterator[tuple[str, object]]:
    """Yield everything that a value says, by its name: one that needs arguments has to be in `ARGUMENTS`."""
    kind = type(value)
    if isinstance(value, list | tuple):
        for one in value:
            yield from asked(one, world)
    if not kind.__module__.startswith("prodex.") or isinstance(value, list | tuple):
        return
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
    read: dict[int, object] = {}
    for name, found in asked(choose(whole(saved=saved)), folders):
        assert numbers_in(found, read) <= set(numbers), name


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
    "with updates": lambda c: c.with_pending_updates(progress=False),
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


def answers_in(folder: Path, numbers: Iterable[int]) -> Path:
    """Return a file with a new name for each product."""
    folder.parent.mkdir(exist_ok=True)
    rows = [f"{own_gtin(number)};namePublicLong;fr;Pain blanc {mark(number)}" for number in numbers]
    folder.write_text("\n".join(["GTIN;Field;Language;New value", *rows]), "utf-8")
    return folder


def numbers_of(catalog: Catalog) -> list[int]:
    """Return the numbers of the products of a catalogue."""
    known = {product_id(number): number for number in range(1, 1 + COUNT)}
    return [known[one] for one in catalog.products["product_id"]]


def changed_names(catalog: Catalog) -> prodex.send.Changes:
    """Return the changes of a frame with other names."""
    names = catalog.texts.query("attribute == 'namePublicLong'")
    return catalog.changes_from(names.assign(text=names["text"].str.lower()))


def undone(catalog: Catalog, world: World) -> prodex.worklists.Fix:
    """Return how it is taken back what was sent of the products of a catalogue."""
    names = [
        {"gtin": one["gtin"], "lifeCycle": 3, "namePublicLong": one["namePublicLong"]}
        for number, one in enumerate(records(), 1)
        if number in numbers_of(catalog)
    ]
    sent = prodex.upsert(world.service, names, progress=False).wait(progress=False)
    return prodex.undo(sent, catalog=catalog, profile=PROFILE, now=NOW)


def published(catalog: Catalog, world: World) -> object:
    """Return what is published of a catalogue, which is saved first."""
    assert "save" in refused(lambda: prodex.publish(catalog, world.new(), progress=False))
    kept = catalog.save("published", progress=False)
    return world.written(lambda path: prodex.publish(kept, path, progress=False))


def accepted(catalog: Catalog, world: World) -> object:
    """Return what is accepted of an audit, as a baseline."""
    audit = judged(catalog)
    made, files = world.written(lambda path: prodex.accept(audit, reason="so it is", to=path / "a.jsonl"))
    return made, files, prodex.withdraw(made, to=world.new("b.jsonl"))  # type: ignore[arg-type]


def texts_of_figure(figure: Figure) -> list[str]:
    """Return the texts of a picture."""
    return [one.get_text() for one in figure.findobj(Text)]


def judged(catalog: Catalog) -> prodex.quality.Audit:
    """Return the audit of a catalogue by all rules."""
    return prodex.audit(catalog, PROFILE, now=NOW, progress=False)


_TRIM = prodex.RecipeStep(do.TrimSpaces(), "namePublicLong", "fr")


def pasted(catalog: Catalog) -> pd.DataFrame:
    """Return a table with another name for each product."""
    numbers = numbers_of(catalog)
    return pd.DataFrame(
        {"gtin": [own_gtin(one) for one in numbers], "name": [f"Pain {mark(one)}" for one in numbers]}
    )


#: What is made of a catalogue, by the public name of what makes it.
FUNCTIONS: Mapping[str, Callable[[Catalog, World], object]] = {
    "accept": accepted,
    "accepted": lambda c, _: refused(lambda: prodex.accepted(c)),
    "apply_recipe": lambda c, _: prodex.apply_recipe(c, prodex.Recipe([_TRIM]), profile=PROFILE, now=NOW),
    "audit": lambda c, _: judged(c),
    "correct": lambda c, _: prodex.correct(
        c, "namePublicLong", do.TrimSpaces(), language="fr", profile=PROFILE, now=NOW
    ),
    "correct_from": lambda c, _: prodex.correct_from(
        pasted(c), c, {"gtin": "gtin", "name": "namePublicLong.fr"}, profile=PROFILE, now=NOW
    ),
    "correct_from of texts": lambda c, _: prodex.correct_from(
        [
            prodex.TextCorrection(
                product_id(one), "namePublicLong", "fr", f"Pain {mark(one)}", f"PAIN  {mark(one)}"
            )
            for one in numbers_of(c)
        ],
        c,
        profile=PROFILE,
        now=NOW,
    ),
    "diff": lambda c, _: prodex.diff(c, c.where(brand_code=None), progress=False),
    "download_pictures": lambda c, world: world.requested(
        lambda: world.written(lambda path: prodex.download_pictures(c, path, progress=False))
    ),
    "history": lambda c, _: refused(lambda: prodex.history(product_id(2), c)),
    "largest_gaps": lambda c, _: texts_of_figure(prodex.charts.largest_gaps(judged(c))),
    "list_audits": lambda c, _: refused(lambda: prodex.list_audits(c)),
    "list_snapshots": lambda c, _: refused(lambda: prodex.list_snapshots(c)),
    "open_audit": lambda c, _: refused(lambda: prodex.open_audit(c)),
    "open_snapshot": lambda c, _: prodex.open_snapshot(c) if c.folder else c,
    "publish": published,
    "read_worklist": lambda c, world: prodex.read_worklist(
        answers_in(world.new("answers.csv"), numbers_of(c)), c, profile=PROFILE, now=NOW
    ),
    "recover": lambda c, _: refused(lambda: prodex.recover(c)),
    "refresh": lambda c, world: refused(lambda: prodex.refresh(c, world.service)),
    "require_scenarios": lambda c, world: world.requested(
        lambda: prodex.require_scenarios(world.service, c, {"101": True}, progress=False)
    ),
    "score_map": lambda c, _: texts_of_figure(prodex.charts.score_map(judged(c), "brand")),
    "undo": undone,
    "upsert": lambda c, world: world.requested(
        lambda: prodex.upsert(world.service, c, progress=False).wait(progress=False)
    ),
    "vacuum": lambda c, _: refused(lambda: prodex.vacuum(c)),
    "verify": lambda c, _: prodex.verify(c) if c.folder else None,
    "watch": lambda c, _: refused(lambda: prodex.watch(c)),
    "write_requirements": lambda c, world: [
        world.written(
            lambda path, by=by: prodex.write_requirements(path, c, by=by, channels="Shop:France"), "r.xlsx"
        )
        for by in ("kind", "brand_code")
    ],
    # Methods of a catalogue that make something else of it.
    "Catalog.changes_from": lambda c, _: changed_names(c),
    "Catalog.gallery": lambda c, _: c.gallery(),
    "Catalog.overridden": lambda c, _: c.overridden(),
    "Catalog.with_pending_updates": lambda c, _: c.with_pending_updates(progress=False),
}
#: They refuse a selection, look at files alone, or have nothing to say of these products.
SILENT = {
    *("accepted", "history", "list_audits", "list_snapshots", "open_audit", "recover", "refresh"),
    *("Catalog.overridden", "largest_gaps", "vacuum", "verify", "watch"),
}
#: It withdraws what `accept` accepts; they are made by one of the others, or know a catalogue for its codes alone; it
#: hears of an audit.
ELSEWHERE = {
    *("propose_headings", "withdraw"),
    *("Audit", "AuditComparison", "Catalog", "Difference", "Fix"),
    "simulated_weeks",
}


def first_id(catalog: Catalog) -> str:
    """Return the first product of a catalogue."""
    return str(catalog.products["product_id"].iloc[0])


#: The panels of a catalogue, and its audit.
PANELS: Mapping[str, Callable[[Catalog], Any]] = {
    **{
        name: lambda c, name=name: prodex.explore(c, audit=judged(c), show=name)
        for name in ("products", "quality", "coverage", "corrections", "snapshots", "gallery")
    },
    "card": lambda c: prodex.explore(c, audit=judged(c), show="card", product_id=first_id(c)),
    "explore": lambda c: prodex.explore(c, audit=judged(c)),
}


@pytest.mark.slow
@each_row("function, saved", [(one, number % 2 == 0) for number, one in enumerate(FUNCTIONS)])
def test_what_is_made_of_a_selection_says_nothing_of_a_product_that_was_not_chosen(
    world: World, function: str, saved: bool
) -> None:
    """Audits, reports, worklists, corrections, requests and pictures of a selection are of its products."""
    choose, numbers = WAYS["expression"]
    made = FUNCTIONS[function](choose(whole(saved=saved)), world)
    read: dict[int, object] = {}
    assert numbers_in(made, read) == (set() if function in SILENT else set(numbers))
    for name, found in asked(made, world):
        # Calls may have changed what was made: it is read again at the end.
        assert numbers_in(found, None if found is made else read) <= set(numbers), name


#: What describes itself, so that whoever gets it knows of which products it is.
DESCRIBED: Mapping[str, Callable[[Catalog, World], object]] = {
    "a catalogue": lambda c, _: repr(c),
    "a catalogue in a notebook": lambda c, _: c._repr_html_(),
    "what was saved": lambda c, _: repr(c.save("kept", progress=False)),
    "the audit of what was saved": lambda c, _: judged(c.save("kept", progress=False)).scope,
    "the audit of what was exported": lambda c, _: judged(JOURNEYS["exported"](c)).scope,
    "the audit of exported records": lambda c, _: judged(JOURNEYS["exported as records"](c)).scope,
    "an export": exported,
    "an audit": lambda c, _: [(audit := judged(c)).to_markdown(), repr(audit), audit._repr_html_()],
    "an audit that was saved": lambda c, _: prodex.open_audit(saved_anew(judged(c))).scope,
    "a report": lambda c, world: world.written(
        lambda path: judged(c).to_html(path, progress=False), "r.html"
    ),
    "worklists": lambda c, world: world.written(lambda path: judged(c).worklists(path, progress=False)),
    "worklists of answers": lambda c, world: world.written(
        lambda path: FUNCTIONS["read_worklist"](c, world).worklist(path, accepted=True)  # type: ignore[attr-defined]
    ),
    "a correction": lambda c, world: FUNCTIONS["correct"](c, world).before.scope,  # type: ignore[attr-defined]
    "what a correction leaves": lambda c, world: FUNCTIONS["correct"](c, world).after.scope,  # type: ignore[attr-defined]
    "a recipe": lambda c, world: world.written(FUNCTIONS["correct"](c, world).recipe, "r.toml"),  # type: ignore[attr-defined]
    "a gallery": lambda c, world: world.written(c.gallery().to_html, "g.html"),
    "a file for a colleague": lambda c, world: world.written(prodex.explore(c).to_html, "e.html"),
    "requirements": FUNCTIONS["write_requirements"],
    "a difference": lambda c, _: repr(prodex.diff(whole(saved=False), c, progress=False)),
    "the explorer": lambda c, _: shown(PANELS["explore"](c)),
    "the panel of an audit": lambda c, _: shown(PANELS["quality"](c)),
}


@pytest.mark.slow
@each_row("what, saved", [(one, number % 2 == 0) for number, one in enumerate(DESCRIBED)])
def test_what_describes_itself_says_of_which_products_it_is(folders: World, what: str, saved: bool) -> None:
    """Whoever has only the file knows that these were chosen, and by what."""
    some = whole(saved=saved).where(kind_code=list(KINDS))
    found = html.unescape("\n".join(texts_in(DESCRIBED[what](some, folders))))
    assert all(kind in found for kind in KINDS)
    # A recipe is for other products, too: it does not say how many these were.
    assert what == "a recipe" or re.search(rf"{len(some)} of {COUNT}|(of|from) {COUNT} products", found)
    assert numbers_in(found) <= set(CHOSEN)


@pytest.mark.slow
def test_a_worklist_of_some_has_the_keys_of_that_of_all() -> None:
    """In whichever part a product lies, its findings name the same texts and times as among all findings."""
    catalog = whole(saved=True)
    audit = judged(catalog)
    rows = audit.worklist_rows()
    for number in range(1, 1 + COUNT):
        every = rows.query("product_id == @product_id(@number)")
        some = audit.only(ids(number))
        for one in (
            some,
            prodex.open_audit(saved_anew(some)),
            judged(catalog.where(product_id=ids(number))),
        ):
            found = one.worklist_rows()
            assert len(found) == len(every) > 0
            for column in sorted({*every} - {"row", "scope"}):
                assert every[column].tolist() == found[column].tolist() or every[column].isna().all(), (
                    f"{number}: {column}"
                )


@pytest.mark.slow
def test_a_saved_audit_of_some_has_these_products() -> None:
    """Opened again it has no other product, and its catalogue neither."""
    audit = judged(WAYS["expression"][0](whole(saved=True)))
    opened = prodex.open_audit(saved_anew(audit))
    assert opened.catalog is not None
    assert set(CHOSEN) == numbers_in(opened.catalog) == numbers_in(opened.products)
    assert audit.scope == opened.scope


def shown(panel: Any) -> list[object]:
    """Return what a panel shows when it has ended its work, and what is saved of it in a notebook."""
    panel.app.view()
    panel.wait()
    return [panel, panel.app.view(), panel._repr_mimebundle_()["text/html"]]


@pytest.mark.slow
@each_row("name, saved", [(one, number % 2 == 0) for number, one in enumerate(PANELS)])
def test_a_panel_shows_no_product_that_was_not_chosen(name: str, saved: bool) -> None:
    """Nor does any section of `explore`."""
    some = WAYS["expression"][0](whole(saved=saved))
    panel = PANELS[name](some)
    found = shown(panel)
    for section in panel.app.sections:
        panel.section = section.name
        found += shown(panel)
    assert numbers_in(found) <= set(CHOSEN)


@pytest.mark.slow
def test_the_explorer_of_a_selection_corrects_and_keeps_it(world: World) -> None:
    """After a correction it shows these products, audited, and its recipe chooses them of all."""
    query = prodex.ProductQuery(extra={"allow_not_consumer_units": True})
    catalog = prodex.load_products(world.service, query, name="loaded", progress=False)
    some = catalog.where(kind_code=list(KINDS))
    app = filled(App(Session(some, judged(some), world.service)), "trim spaces", language="French")
    app.act("form.set", form="bulk-recipe", field="file", value=str(world.folder / "spaces.toml"))
    app.act("bulk.keep")
    send(app)

    state = app.session
    assert sorted(ids(*CHOSEN)) == sorted(state.catalog.products["product_id"])
    assert state.audit is not None
    assert len(CHOSEN) == len(state.audit)
    assert all(kind in state.audit.scope for kind in KINDS)
    again = prodex.apply_recipe(catalog, world.folder / "spaces.toml")
    assert set(ids(*CHOSEN)) == set(again.answers["product_id"])


def recipe_for(path: Path, *numbers: int) -> Path:
    """Return the file of a recipe for some products."""
    return prodex.Recipe([_TRIM], "Spaces", Selection.of(product_id=ids(*numbers))).save(path)


#: Commands that take a selection by an option, a file, or a snapshot that is one, for the second product alone.
COMMANDS: Mapping[str, Callable[[World], list[object]]] = {
    "accept": lambda _: ["accept", "whole", "--product", product_id(2), "--reason", "so it is"],
    "audit": lambda world: [
        *("audit", "second", "--profile", "food-eu", "--show", "failures"),
        *("--html", world.new("r.html"), "--worklists", world.new("lists")),
    ],
    "export": lambda world: ["export", "second", "--to", world.new("export"), "--format", "csv"],
    "export --wide": lambda world: ["export", "second", "--wide", "all", "--to", world.new("one.csv")],
    "export --select": lambda world: [
        *("export", "whole", "--to", world.new("export"), "--format", "jsonl"),
        *("--select", Selection.of(product_id=ids(2)).save(world.new("second.toml"))),
    ],
    "fix": lambda world: [
        *("fix", answers_in(world.new("answers.csv"), range(1, 1 + COUNT)), "--snapshot", "whole"),
        *("--owner", owner_of(2), "--send", "--elsewhere", "--wait"),
    ],
    "history": lambda _: ["history", own_gtin(2), "--snapshot", "whole", "--all"],
    "publish": lambda world: ["publish", "second", "--to", world.new("published")],
    "recipe": lambda world: ["recipe", recipe_for(world.new("r.toml"), 2), "whole", "--show", "rows"],
    "requirements": lambda world: [
        "requirements",
        "second",
        "--to",
        world.new("r.xlsx"),
        "--by",
        "brand_code",
    ],
}


def owner_of(number: int) -> str:
    """Return what the owner of a product is known by."""
    return str(whole(saved=False).where(product_id=ids(number)).products["owner"].iloc[0])


@pytest.mark.slow
@each_row("command", list(COMMANDS))
def test_a_command_is_about_the_products_that_it_was_told(world: World, command: str) -> None:
    """Of no other product it shows, writes, accepts or sends anything."""
    every = whole(saved=True)
    every.where(product_id=ids(2)).save("second")
    words = [str(one) for one in COMMANDS[command](world)]
    given = {Path(one) for one in words if Path(one).is_file()}
    ran, asked_for = world.requested(lambda: CliRunner().invoke(app, words))
    assert isinstance(ran, Result)
    assert ran.exception is None or isinstance(ran.exception, SystemExit), ran.exception
    written = [Files(one) for one in world.folder.rglob("*") if one.is_file() and one not in given]
    accepted_lines = [Files(one) for one in (every.folder or Path()).parent.glob("*.jsonl")]
    # The rows of a file that are not read are named.
    said = "" if command == "fix" else ran.output
    assert {2} == numbers_in([said, asked_for, written, accepted_lines]), ran.output


@pytest.mark.slow
@pytest.mark.parametrize("pending", [False, True])
def test_a_product_that_was_not_chosen_still_has_its_gtin(folders: World, pending: bool) -> None:
    """A write contains the GTIN alone: one that another product has as well is refused, whatever is written."""
    twin = {**records()[0], "id": 77, "gtin": own_gtin(2)}
    chosen = prodex.flatten([*records(), twin]).where(product_id=ids(*CHOSEN))
    some = chosen.with_pending_updates(progress=False) if pending else chosen
    names = some.texts.query("attribute == 'namePublicLong'").assign(text="Pain")
    with pytest.raises(ChangesRefused) as error:
        some.changes_from(names)
    assert ids(2) == error.value.refused["product_id"].tolist()
    for make in ("read_worklist", "correct", "correct_from", "correct_from of texts", "apply_recipe"):
        fix = FUNCTIONS[make](some, folders)
        assert isinstance(fix, prodex.worklists.Fix)
        states = dict(zip(fix.answers["product_id"], fix.answers["state"], strict=True))
        assert {product_id(2): "refused", product_id(5): "accepted"} == states, make


@pytest.mark.slow
def test_an_audit_of_some_is_not_compared_with_that_of_all_unsaid() -> None:
    """Nobody knows whether all are worse than some, and two choices are not two states of one catalogue."""
    every, some = (judged(one) for one in (in_memory(), WAYS["expression"][0](in_memory())))
    for old, new in ((every, some), (some, every), (every, every.only(ids(1), "by hand"))):
        found = worsening(prodex.diff(old, new))
        assert found.is_worse is None
        assert "They are about other products" in str(found.why[0])
    assert not prodex.diff(some, judged(WAYS["expression"][0](in_memory()))).notes
    questions = {figures_of(one).question for one in (every, some, every.only(ids(1), "by hand"))}
    assert 3 == len(questions)


@pytest.mark.slow
def test_an_audit_of_some_does_not_take_the_place_of_that_of_all() -> None:
    """Both are of one moment: the second is refused in words, and the first stays."""
    audit = judged(whole(saved=True))
    kept = audit.save()
    assert "same moment" in refused(audit.only(ids(*CHOSEN)).save)
    assert COUNT == len(prodex.open_audit("whole")) == len(kept)


def test_the_law_asks_all_that_takes_a_catalogue() -> None:
    """A new function has to be asked as well, or it takes nothing that was made of a catalogue."""
    every = PUBLIC | {name: getattr(prodex.charts, name) for name in prodex.charts.__all__}
    taking = {name for name, value in every.items() if _takes_a_catalogue(name, value)}
    asked_for = {name.partition(" ")[0] for name in FUNCTIONS if not name.startswith("Catalog.")}
    assert taking | {"diff", "upsert"} == {*asked_for, "explore"} | ELSEWHERE


def _takes_a_catalogue(name: str, given: object) -> bool:
    if name.startswith("_") or not callable(given):
        return False
    parameters = inspect.signature(given.__init__ if inspect.isclass(given) else given).parameters.values()
    return any(re.search(r"\b(Catalog|Audit|Fix|Changes)\b", str(one.annotation)) for one in parameters)
