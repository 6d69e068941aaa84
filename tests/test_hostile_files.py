"""Folders that come from somebody else: whatever stands in them, nothing outside is read as theirs, written or deleted.

Each case makes a folder hostile, then every operation that a user may do with such a folder is done. What lies outside
is hashed before and after; an operation works, or ends in an error of ours.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import prodex
from prodex.errors import InputError, OtherLayout, ProdexError, SnapshotDamaged
from prodex.ledger.batch import Planned
from prodex.ledger.upsert_file import UpsertFile
from prodex.sandbox import Sandbox
from prodex_sandbox.records.model import SharedProduct, View
from tests.cases import each_row
from tests.kept.make import MILL, SHOP, gtin
from tests.kept.unpacking import unpack
from tests.ledgered import FILE, contents, rewrite
from tests.load.exchange import connected
from tests.pictures.drawn import catalog, picture
from tests.pictures.file_server import serving

#: What no operation here opens.
_NOT_OPENED = ("published", "ended", "interrupted")

SECRET = "what nobody else may see"


class World:
    """A user's files: what came from somebody else, and what lies outside of it.

    Attributes
    ----------
    kept
        What came.
    outside
        A folder beside it, with a file of every name that something in it may be mistaken for.
    """

    def __init__(self, folder: Path, base_url: str) -> None:
        self.kept = unpack(folder / "came", base_url, without=_NOT_OPENED)
        self.outside = folder / "outside"
        shutil.copytree(self.newest("saved"), self.outside)
        for name in (
            "victim.txt",
            "victim.xlsx",
            "victim.csv",
            "victim.parquet",
            "page-000000.zst",
            "ledger.jsonl",
        ):
            (self.outside / name).write_text(SECRET)
        for name in ("part-00000.parquet", f"{gtin(1)}_0_1.jpg", f"{gtin(3)}_0_3.unknown", "broken.unknown"):
            (self.outside / name).write_text(SECRET)
        self.note()

    def note(self) -> None:
        """Keep how everything outside is now."""
        self.before, self.stated = self.look(), self.state()

    def state(self) -> list[tuple[str, int, int, int]]:
        """Return of everything outside which file it is, its size and its date: no write leaves all three."""
        found = []
        for folder, _, names in os.walk(self.outside):
            for name in names:
                facts = os.lstat(f"{folder}/{name}")
                found.append((f"{folder}/{name}", facts.st_ino, facts.st_size, facts.st_ctime_ns))
        return sorted(found)

    def look(self) -> dict[str, str]:
        """Return the digest of everything outside."""
        return {
            str(path.relative_to(self.outside)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(self.outside.rglob("*"))
            if path.is_file()
        }

    def newest(self, name: str) -> Path:
        """Return the folder of the newest snapshot of a name."""
        return max((self.kept.home / "snapshots" / name).glob("2*"))

    def up(self, folder: Path) -> str:
        """Return the way from a folder to what lies outside."""
        return os.path.relpath(self.outside, folder)

    def attempt(self, *operations: Callable[[], object]) -> list[object]:
        """Do them; return what came of each."""
        results: list[object] = []
        for operation in operations:
            try:
                results.append(operation())
            except ProdexError as error:
                results.append(error)
            # A file is dated as well when another name of it is removed, which is no harm.
            if self.stated != (now := self.state()):
                assert self.before == self.look(), f"{operation} touched what lies outside"
                self.stated = now
            assert SECRET not in (str(results[-1]) if isinstance(results[-1], ProdexError) else "")
        assert self.before == self.look()
        return results


@pytest.fixture(scope="module")
def exchange() -> Iterator[Sandbox]:
    """Serve what the loads were made of."""
    with Sandbox([], organizations=[SHOP, MILL], labels={}) as sandbox:
        yield sandbox


@pytest.fixture
def world(exchange: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """Put somebody's files on the disk, beside one's own."""
    made = World(tmp_path, exchange.base_url)
    wanted = made.kept.products
    if not exchange.requests:
        exchange.change(
            [SharedProduct(one, MILL.id, (View(SHOP.id),)) for one in wanted], moves_updated_at=False
        )
    monkeypatch.setenv("PRODEX_HOME", str(made.kept.home))
    monkeypatch.chdir(tmp_path)
    return made


def edited(path: Path, change: Callable[[Any], object]) -> None:
    """Change a JSON file."""
    content = json.loads(path.read_bytes())
    change(content)
    path.unlink()  # it may have another name elsewhere
    path.write_text(json.dumps(content), "utf-8")


def linked(path: Path, target: Path) -> None:
    """Put a link in the place of what stands there."""
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)
    path.symlink_to(target)


def renamed_table(world: World, name: str, to: str) -> None:
    """Let the manifest of a snapshot call a table something else."""

    def change(manifest: Any) -> None:
        files = manifest["parts"][0]["files"]
        files[to] = files.pop("tags")

    edited(world.newest(name) / "manifest.json", change)


def numbered(world: World, name: str, number: object) -> None:
    """Let the manifest of a snapshot give its part another number."""
    edited(world.newest(name) / "manifest.json", lambda m: m["parts"][0].update(number=number))


SNAPSHOTS: dict[str, Callable[[World, str], object]] = {
    "a table is a path": lambda w, name: renamed_table(w, name, w.up(w.newest(name))),
    "a table is an absolute path": lambda w, name: renamed_table(w, name, str(w.outside)),
    "a table is the folder itself": lambda w, name: renamed_table(w, name, "."),
    "a table has no name": lambda w, name: renamed_table(w, name, ""),
    "a table ends in zero": lambda w, name: renamed_table(w, name, "tags\0"),
    "a number is a path": lambda w, name: numbered(w, name, "../x"),
    "a number is below zero": lambda w, name: numbered(w, name, -1),
    "a number is endless": lambda w, name: numbered(w, name, 10**40),
    "a number is a fraction": lambda w, name: numbered(w, name, 0.0),
    "a number is a truth": lambda w, name: numbered(w, name, False),
    "a table's folder is a link": lambda w, name: linked(w.newest(name) / "raw", w.outside),
    "a file is a link": lambda w, name: linked(
        w.newest(name) / "raw" / "part-00000.parquet", w.outside / "raw" / "part-00000.parquet"
    ),
    "a file is a link to another kind": lambda w, name: linked(
        w.newest(name) / "raw" / "part-00000.parquet", w.outside / "victim.txt"
    ),
    "the manifest is a link": lambda w, name: linked(
        w.newest(name) / "manifest.json", w.outside / "manifest.json"
    ),
    "the snapshot is a link": lambda w, name: linked(w.newest(name), w.outside),
    "the lock is a link": lambda w, name: linked(
        w.kept.home / "snapshots" / name / ".lock", w.outside / "victim.txt"
    ),
    "the lock is a file of somebody": lambda w, name: _hard(
        w.outside / "victim.txt", w.kept.home / "snapshots" / name / ".lock"
    ),
    "the owner is a link": lambda w, name: linked(
        w.kept.home / "snapshots" / name / ".lock.json", w.outside / "victim.txt"
    ),
    "half-written is a link": lambda w, name: linked(
        w.kept.home / "snapshots" / name / ".2026.999999999.part", w.outside
    ),
    "a journal is a link": lambda w, name: linked(
        w.kept.home / "snapshots" / name / ".journal-00000000", w.outside
    ),
    "the audits are a link": lambda w, name: linked(w.kept.home / "snapshots" / name / "audits", w.outside),
}


def _hard(source: Path, target: Path) -> Path:
    target.unlink(missing_ok=True)
    os.link(source, target)
    return target


@pytest.mark.slow
@pytest.mark.parametrize("case", SNAPSHOTS)
def test_a_hostile_snapshot_touches_nothing_outside(world: World, exchange: Sandbox, case: str) -> None:
    """No function that takes a snapshot writes or reads outside of it."""
    name = "shop"
    folder = world.newest(name)
    SNAPSHOTS[case](world, name)
    found = world.attempt(
        prodex.list_snapshots,
        prodex.list_audits,
        lambda: prodex.open_snapshot(folder),
        lambda: prodex.open_snapshot(name),
        lambda: prodex.verify(folder),
        lambda: prodex.verify(name),
        lambda: prodex.open_snapshot(name).raw,
        lambda: prodex.open_snapshot(name).sql("select * from raw"),
        lambda: prodex.open_snapshot(name).save("copy"),
        lambda: prodex.diff(name, folder).summary,
        lambda: prodex.refresh(name, connected(exchange), sweep=True, progress=False),
        lambda: prodex.audit(prodex.flatten([{"id": 1}]), {"checks": {"valid_gtin": {}}}).save(name),
        lambda: prodex.recover(name, allow_incomplete=True),
        lambda: prodex.flatten([{"id": 1}]).save(name),
        lambda: prodex.vacuum(name, keep=1),
    )
    if case.startswith(("a table", "a number", "a file", "the manifest")):
        assert isinstance(found[2], SnapshotDamaged), found[2]
        listed = prodex.list_snapshots()
        others = listed[listed["name"] == "partial"]
        assert [63] == others["products"].tolist()


JOURNALS: dict[str, Callable[[World, Path], object]] = {
    "a page is a link": lambda w, j: linked(j / "page-000000.zst", w.outside / "page-000000.zst"),
    "the next page is a link": lambda w, j: linked(j / "page-000002.zst", w.outside / "victim.txt"),
    "the next page is a link, further on": lambda w, j: linked(
        j / "page-000003.zst", w.outside / "victim.txt"
    ),
    "the next page is somebody's file": lambda w, j: _hard(w.outside / "victim.txt", j / "page-000002.zst"),
    "the ledger is a link": lambda w, j: linked(j / "ledger.jsonl", w.outside / "ledger.jsonl"),
    "the ledger is somebody's file": lambda w, j: _hard(w.outside / "ledger.jsonl", j / "ledger.jsonl"),
    "the question is a link": lambda w, j: linked(j / "question.json", w.outside / "manifest.json"),
    "the build is a link": lambda w, j: linked(j / "build", w.outside),
    "a table of the build is a link": lambda w, j: (
        (j / "build").mkdir(exist_ok=True),
        linked(j / "build" / "raw", w.outside / "raw"),
    ),
    "a file of the build is a link": lambda w, j: (
        (j / "build" / "raw").mkdir(parents=True, exist_ok=True),
        linked(j / "build" / "raw" / "part-00000.parquet", w.outside / "victim.txt"),
    ),
    "a receipt is a link": lambda w, j: linked(j / "built-00000.json", w.outside / "victim.txt"),
    "a receipt names a path": lambda w, j: (j / "built-00000.json").write_text(
        json.dumps({"decided": "", "part": {"number": "../x", "products": 1, "files": {str(w.outside): {}}}})
    ),
    "the journal is a link": lambda w, j: linked(j, w.outside),
    "the journal is a link into nothing": lambda w, j: linked(j, w.outside / "new"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", JOURNALS)
def test_a_hostile_journal_touches_nothing_outside(world: World, exchange: Sandbox, case: str) -> None:
    """It may be resumed, recovered, refreshed or removed."""
    for name in ("judged", "half-scrolled"):
        journal = world.kept.journals()[name]
        shutil.copytree(journal.parent, journal.parent.with_name(f"{name}-copy"), symlinks=True)
    for journal in world.kept.journals().values():
        JOURNALS[case](world, journal)

    def load(name: str) -> object:
        return prodex.load_products(
            connected(exchange), name=name, page_size=20, windows=0, max_age=0, progress=False
        )

    def recover(name: str) -> object:
        return prodex.recover(name, allow_incomplete=True)

    results = world.attempt(
        # How pages were asked for is a text in the journal; whether its load was judged decides what is done with it.
        lambda: load("half-scrolled"),
        lambda: load("judged"),
        lambda: prodex.refresh("half-refreshed", connected(exchange), progress=False),
        lambda: recover("half-offset"),
        lambda: recover("judged-copy"),
        # One that was taken up, one that was not, and one of a refresh.
        lambda: prodex.vacuum("judged", keep=1),
        lambda: prodex.vacuum("half-scrolled-copy", keep=1),
        lambda: prodex.vacuum("half-refreshed", keep=1),
    )
    if "link into nothing" in case:
        assert not (world.outside / "new").exists()
    # Whatever stood in its way, a load comes to an end that is right.
    assert [66, 66] == [len(one) for one in results[:2] if isinstance(one, prodex.Catalog)]


AUDITS: dict[str, Callable[[World, Path], object]] = {
    "a table is a path": lambda w, a: edited(
        a / "manifest.json", lambda m: m["parts"][0].update({w.up(a): m["parts"][0].pop("findings")})
    ),
    "a table is an absolute path": lambda w, a: edited(
        a / "manifest.json", lambda m: m["parts"][0].update({str(w.outside): m["parts"][0].pop("findings")})
    ),
    "a further table is a path": lambda w, a: edited(
        a / "manifest.json",
        lambda m: m["parts"][0].update(
            {str(w.outside): hashlib.sha256((w.outside / "part-00000.parquet").read_bytes()).hexdigest()}
        ),
    ),
    "a folder is a link": lambda w, a: linked(a / "findings", w.outside),
    "a file is a link": lambda w, a: linked(
        a / "findings" / "part-00000.parquet", w.outside / "victim.parquet"
    ),
    "the manifest is a link": lambda w, a: linked(a / "manifest.json", w.outside / "manifest.json"),
    "the audit is a link": lambda w, a: linked(a, w.outside),
    "the catalogue is elsewhere": lambda w, a: edited(
        a / "manifest.json", lambda m: m.update(catalog=str(w.outside))
    ),
    "the catalogue is elsewhere, seen from here": lambda w, a: edited(
        a / "manifest.json", lambda m: m.update(catalog=os.path.relpath(w.outside))
    ),
    "the catalogue is above": lambda w, a: edited(
        a / "manifest.json", lambda m: m.update(catalog=f"x/{w.up(a.parent.parent)}/..")
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", AUDITS)
def test_a_hostile_audit_touches_nothing_outside(world: World, case: str) -> None:
    """Nor does it show a catalogue that is not beside it, as if that had been judged."""
    audits = world.kept.home / "snapshots" / "shop" / "audits"
    (folder,) = audits.iterdir()
    AUDITS[case](world, folder)
    world.attempt(
        prodex.list_audits,
        lambda: prodex.open_audit(folder),
        lambda: prodex.open_audit("shop"),
        lambda: prodex.open_audit("shop").failures(),
        lambda: prodex.open_audit("shop").to_html(world.kept.folder / "report.html"),
        lambda: prodex.open_audit("shop").worklists(world.kept.folder / "new"),
        lambda: prodex.open_audit("shop").save("elsewhere"),
        lambda: prodex.vacuum("shop", keep=1),
    )
    assert ["saved"] == [name for name in prodex.list_audits()["name"] if name == "saved"]
    if "catalogue" in case:
        opened = prodex.open_audit("shop")
        assert opened.catalog is None or 67 == len(opened.catalog)
        assert opened.catalog is None or opened.catalog.folder != world.outside


WORKLISTS: dict[str, Callable[[World, Path], object]] = {
    "a worklist is a path": lambda w, f: edited(
        f / "worklists.json", lambda m: m["worklists"][0].update(file=f"{w.up(f)}/victim.xlsx")
    ),
    "a worklist is elsewhere": lambda w, f: edited(
        f / "worklists.json", lambda m: m["worklists"][0].update(file=str(w.outside / "victim.xlsx"))
    ),
    "a worklist is a link": lambda w, f: linked(f / "Mill-4.eml", w.outside / "victim.csv"),
    "a worklist is a link to a folder": lambda w, f: linked(f / "Mill-4.eml", w.outside),
    "the index is a link": lambda w, f: linked(f / "index.csv", w.outside / "victim.csv"),
    "a listed file is missing and another there": lambda _w, f: (f / "Mill-4.eml").rename(f / "thesis.eml"),
    "a worklist is a folder": lambda _w, f: (
        (f / "Mill-4.eml").unlink(),
        (f / "Mill-4.eml").mkdir(),
        (f / "Mill-4.eml" / "thesis.txt").write_text("mine"),
    ),
    "the list is a link": lambda w, f: linked(f / "worklists.json", w.outside / "manifest.json"),
    "the list is of another kind": lambda _w, f: (f / "worklists.json").write_text('{"worklists": 7}'),
    "a name is not a text": lambda _w, f: edited(
        f / "worklists.json", lambda m: m["worklists"][0].update(file=7)
    ),
    "a name is a wildcard": lambda _w, f: (
        edited(f / "worklists.json", lambda m: m["worklists"][0].update(file="*.xlsx")),
        (f / "thesis.txt").write_text("mine"),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", WORKLISTS)
def test_a_hostile_folder_of_worklists_is_not_replaced(world: World, case: str) -> None:
    """Only files that were written and listed are taken away; with anything else in it, all of it stays."""
    folder = world.kept.folder / "to_fix"
    WORKLISTS[case](world, folder)
    before = sorted(str(path) for path in folder.rglob("*"))
    audit = prodex.open_audit("shop")
    (refused,) = world.attempt(lambda: audit.worklists(folder, replace=True))
    assert isinstance(refused, InputError | OtherLayout), refused
    assert before == sorted(str(path) for path in folder.rglob("*"))


def test_a_folder_of_worklists_that_is_a_link_stays_one(world: World) -> None:
    """A user's own arrangement: the new worklists come where the old ones were."""
    (world.kept.folder / "here").symlink_to(world.kept.folder / "to_fix")
    prodex.open_audit("shop").worklists(world.kept.folder / "here", replace=True)
    assert (world.kept.folder / "here").is_symlink()
    assert (world.kept.folder / "to_fix" / "worklists.json").is_file()
    assert not list(world.kept.folder.glob(".*.part"))


PICTURES: dict[str, Callable[[World, Path], object]] = {
    "broken is a link": lambda w, f: linked(f / "broken", w.outside),
    "a picture is a link": lambda w, f: linked(f / f"{gtin(1)}_0_1.jpg", w.outside / f"{gtin(1)}_0_1.jpg"),
    "the index is a link": lambda w, f: linked(f / "pictures.parquet", w.outside / "victim.parquet"),
    "the index for people is a link": lambda w, f: linked(f / "pictures.csv", w.outside / "victim.csv"),
    "the lock is a link": lambda w, f: linked(f / ".lock", w.outside / "victim.txt"),
    "the index names a path": lambda w, f: _index_names(f, f"{w.up(f)}/{gtin(1)}_0_1.jpg"),
    "the index names an absolute path": lambda w, f: _index_names(f, str(w.outside / f"{gtin(1)}_0_1.jpg")),
    "a part is a link": lambda _w, _f: None,  # it is named after the address
    "half-written is a link": lambda w, f: linked(f / ".x.999999999.part", w.outside),
}


def _part_is_a_link(folder: Path, records: list[dict[str, Any]], target: Path) -> None:
    for record in records:
        url = record["assets"]["pictures"][0]["url"]
        linked(folder / f".f{hashlib.sha256(url.encode()).hexdigest()[:24]}.part", target)


def _index_names(folder: Path, name: str) -> None:
    index = pq.read_table(folder / "pictures.parquet")
    place = index.schema.get_field_index("file")
    names = [name, *index["file"].to_pylist()[1:]]
    pq.write_table(index.set_column(place, index.schema.field(place), [names]), folder / "pictures.parquet")


@pytest.mark.slow
@each_row("case", PICTURES)
def test_a_hostile_folder_of_pictures_touches_nothing_outside(world: World, case: str) -> None:
    """No function that takes pictures writes or reads outside of the folder."""
    folder = world.kept.folder / "pictures"
    records = json.loads((folder / "records.json").read_bytes())
    PICTURES[case](world, folder)
    with serving() as server:
        contents = [picture(60, 40), b"no picture", b"nor this", picture(30, 20)]
        for number, (record, content) in enumerate(zip(records, contents, strict=True)):
            record["assets"]["pictures"][0]["url"] = server.serve(f"/{number}.jpg", content)
        if case == "a part is a link":
            _part_is_a_link(folder, records, world.outside / "victim.txt")
        came = catalog(server.base_url, records)
        pictures = world.attempt(*[partial(prodex.download_pictures, came, folder, progress=False)] * 2)
    if case != "the lock is a link":
        first, again = (
            one.files["state"].tolist() for one in pictures if isinstance(one, prodex.pictures.Pictures)
        )
        assert ["downloaded", "broken", "broken", "downloaded"] == first
        assert ["already there", "broken", "broken", "already there"] == again


@each_row("place", [0, 1, 3])
def test_a_journal_of_what_was_sent_that_is_a_link_is_not_read(
    world: World, exchange: Sandbox, place: int
) -> None:
    """It is not written either; the other journals are read."""
    sent = world.kept.tracked()
    (world.outside / "sent.jsonl").write_bytes(sent[place].read_bytes())
    world.note()
    for path in sent:
        linked(path, world.outside / "sent.jsonl")
    (refused,) = world.attempt(lambda: prodex.track(connected(exchange)))
    assert isinstance(refused, InputError), refused


PLANS: dict[str, Callable[[World, Path], object]] = {
    "the file is a link": lambda w, p: linked(p / FILE, w.outside / FILE),
    "the file is somebody's": lambda w, p: _hard(w.outside / FILE, p / FILE),
    "what SQLite writes beside it is a link": lambda w, p: linked(
        p / f"{FILE}-journal", w.outside / "victim.txt"
    ),
    "what SQLite writes beside it is somebody's": lambda w, p: _hard(
        w.outside / "victim.txt", p / f"{FILE}-journal"
    ),
    "the lock is a link": lambda w, p: linked(p / ".lock", w.outside / "victim.txt"),
    "the lock is somebody's file": lambda w, p: _hard(w.outside / "victim.txt", p / ".lock"),
    "who holds the lock is a link": lambda w, p: linked(p / ".lock.json", w.outside / "victim.txt"),
    "the upsert is a link": lambda w, p: linked(p, w.outside),
}

#: What somebody wrote into a row of it: its table, its number, and what is another value.
EDITS: dict[str, tuple[str, int, dict[str, Any]]] = {
    "a product is larger than any disk": ("products", 0, {"size": 2**52}),
    "a product is below zero": ("products", 0, {"size": -1}),
    "a product of a call beyond any plan": ("products", 0, {"call": 2**52}),
    "a product of a call beyond numbers": ("products", 0, {"call": float("inf")}),
    "a call that is not planned": ("events", 0, {"call": 7, "state": "refused"}),
    "a call before the first": ("events", 0, {"call": -1, "state": "refused"}),
    "a call beyond numbers": ("events", 0, {"call": 2**70, "state": "refused"}),
    "an identifier is a path": ("events", 0, {"call": 0, "state": "sent", "tracking": "../../outside"}),
    "it is continued by a path": ("events", 0, {"continued": "../../outside", "calls": [0]}),
    "it continues a path": ("plan", 0, {"continues": ["../../outside"]}),
    "a digest is none": ("calls", 0, {"sha256": {"a": 1}}),
    "a plan of nothing": ("plan", 0, {"host": None, "extra": [1]}),
}

#: What somebody did to the file with SQLite.
SCRIPTS = {
    "a table is a view without end": """
        DROP TABLE events;
        CREATE VIEW events AS WITH RECURSIVE e(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM e)
        SELECT n AS number, '' AS name, x'7b7d' AS content, 0 AS seal FROM e
    """,
    "a row triggers more": "CREATE TRIGGER more AFTER INSERT ON events BEGIN DELETE FROM products; END",
    "it has another journal": "PRAGMA journal_mode=WAL",
    "a table is missing": "DROP TABLE payloads",
}


def _resealed(path: Path, table: str, number: int, change: dict[str, Any]) -> None:
    """Change or add a row, with a checksum that is right: whoever edits can compute one."""
    rows = contents(path, table)
    before = json.loads(rows[number]) if number < len(rows) else {}
    rewrite(path, table, number, json.dumps(before | change).encode())


def _replaced(path: Path, make: Callable[[Path], object]) -> None:
    path.unlink()
    make(path)


@pytest.mark.slow
@each_row("case", [*PLANS, *EDITS, *SCRIPTS, "the file is a folder", "the file is a pipe"])
def test_a_hostile_upsert_touches_nothing_outside(world: World, exchange: Sandbox, case: str) -> None:
    """Listed, tracked, and what is said not to have been sent is sent: nothing but what was planned."""
    shop = connected(exchange)
    bodies = [json.dumps([{"gtin": gtin(number), "lifeCycle": 1}]).encode() for number in (1, 2)]
    planned = [Planned(body, (gtin(number),)) for number, body in enumerate(bodies, 1)]
    plan = UpsertFile.begin(shop.base_url, shop.fingerprint, "application/json", planned).path.parent
    for path in plan.iterdir():
        shutil.copy(path, world.outside / path.name)
    world.note()
    if case in EDITS:
        _resealed(plan / FILE, *EDITS[case])
    elif case in SCRIPTS:
        with closing(sqlite3.connect(plan / FILE)) as connection:
            connection.executescript(SCRIPTS[case])
    elif case in PLANS:
        PLANS[case](world, plan)
    else:
        _replaced(plan / FILE, os.mkfifo if case.endswith("pipe") else Path.mkdir)
    begin = len(exchange.requests)
    world.attempt(
        prodex.list_upserts,
        lambda: prodex.track(shop),
        lambda: prodex.track(shop, upsert=plan.name),
        lambda: prodex.track(shop, upsert=plan.name).send_rest(progress=False),
        prodex.list_upserts,
    )
    sent = [body for _, path, body in exchange.requests[begin:] if path == "/public/v1/products"]
    assert all(body in [json.loads(one) for one in bodies] for body in sent)
    assert sent or case != "who holds the lock is a link"
    assert not any("outside" in path for _, path, _ in exchange.requests[begin:])


@pytest.mark.slow
@each_row("name", ["*", "[0-9]*", "?", "**", "a*", "..", ".", "~", "{0}", "a[b]"])
def test_a_folder_that_looks_like_a_pattern_is_no_pattern(world: World, tmp_path: Path, name: str) -> None:
    """It is itself, and nothing that matches it; the same holds for the folder that everything is in."""
    above = tmp_path / (name if name not in {"..", "."} else "dots") / "a"
    shutil.copytree(world.newest("saved"), above)
    if name not in {"..", "."}:
        hostile = world.kept.home / "snapshots" / name
        hostile.mkdir()
        shutil.copytree(world.newest("shop"), hostile / "2026-11-22T000000.000000Z")
    opened = prodex.open_snapshot(above)
    assert 2 == int(opened.sql("select count(*) as n from products")["n"][0])
    assert 2 == len(opened.raw)
    listed = prodex.list_snapshots(name)["name"].tolist()
    assert name == "*" or not listed
    results = world.attempt(
        lambda: prodex.open_snapshot(name),
        lambda: prodex.open_audit(name),
        lambda: prodex.vacuum(name, keep=1),
        lambda: prodex.recover(name),
        lambda: opened.save(name),
    )
    assert all(isinstance(one, ProdexError) for one in results)
    assert 2 == len(prodex.list_snapshots("shop"))


@pytest.mark.slow
def test_an_export_and_a_report_write_through_no_link(world: World) -> None:
    """A link in the place of a file is replaced, and a folder that is a link is refused."""
    export, report = world.kept.folder / "export", world.kept.folder / "page.html"
    linked(export / "raw.csv", world.outside / "victim.csv")
    linked(export / "datapackage.json", world.outside / "manifest.json")
    linked(report, world.outside / "victim.txt")
    (world.kept.folder / "page_files").symlink_to(world.outside)
    world.attempt(
        lambda: prodex.open_snapshot("saved").export(export, "csv", tables=["products", "raw"]),
        lambda: prodex.open_audit("saved").to_html(report),
    )
