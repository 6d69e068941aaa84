"""Files that are damaged, edited or made by a newer version: one of our errors in every case, and the others open.

Every JSON file that prodex writes is spoiled at every path in every way, every line of a journal likewise, and Parquet
is cut off and has bits flipped in its footer. Then everything is done that opens it.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import prodex
from prodex.errors import InputError, ProdexError, SnapshotDamaged
from prodex.files import parquet
from prodex.files.lock import LockOwner
from prodex.ledger.batch import Batch, Loaded, Planned
from prodex.ledger.upsert_file import UpsertFile
from prodex.notebook.views.saved_snapshots import snapshot_entries
from prodex.notebook.views.trend import read_trend
from prodex.quality import Profile
from prodex.sandbox import Sandbox
from prodex.service.local_sandbox import running_sandbox
from prodex_sandbox.records.store import Store, StoreUnusable
from tests.cases import each_row
from tests.damage import flipped, spoiled, spoiled_json
from tests.kept.make import MILL, SHOP
from tests.kept.unpacking import Kept, unpack
from tests.ledgered import contents, rewrite, spoil
from tests.load.exchange import connected

Spoiled = Iterable[tuple[str, bytes]]
Operation = Callable[[], object]


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exchange: Sandbox) -> Kept:
    """Put the files on the disk, as the user's own."""
    kept = unpack(tmp_path, exchange.base_url, without=("published",))
    monkeypatch.setenv("PRODEX_HOME", str(kept.home))
    return kept


@pytest.fixture(scope="module")
def exchange() -> Iterator[Sandbox]:
    """Serve nothing, at the address that the files come from."""
    with Sandbox([], organizations=[SHOP, MILL], labels={}) as sandbox:
        yield sandbox


#: With PRODEX_ALL_DAMAGE=1, as `make soak` sets it, many more cases are tried.
_IN_FULL = bool(os.environ.get("PRODEX_ALL_DAMAGE"))


def every(quick: int, full: int = 1) -> int:
    """Say which share of the cases is tried: every so many, in `make test` and in `make soak`.

    There are 23 ways at each path, so that numbers without a common factor reach all ways at some paths, and all paths
    in some ways.
    """
    return full if _IN_FULL else quick


EVERY = every(7)


def raised(
    path: Path, cases: Spoiled, *operations: Operation, anew: Operation = lambda: None, share: int = EVERY
) -> list[str]:
    """Spoil a file in every way and do everything with it; return what raised no error of ours.

    Parameters
    ----------
    path
        The file, which is as before in the end.
    cases
        What to put in its place, by the name of what is wrong.
    operations
        What is done with each.
    anew
        What is done before each operation.
    share
        Every so many of the cases are tried.
    """
    before = path.read_bytes()
    wrong = []
    for name, content in list(cases)[::share]:
        for number, operation in enumerate(operations):
            anew()
            path.write_bytes(content)
            try:
                operation()
            except (ProdexError, StoreUnusable):
                continue
            except Exception as error:  # noqa: BLE001 - that there is none is what is tested
                wrong.append(f"{name}: operation {number}: {type(error).__name__}: {error!s:.200}")
    path.write_bytes(before)
    return wrong


def newest(kept: Kept, name: str) -> Path:
    """Return the folder of the newest snapshot of a name."""
    return max((kept.home / "snapshots" / name).glob("2*"))


def looked_at(folder: Path) -> None:
    """Look at a snapshot in every way that needs nothing but its manifest and a footer."""
    catalog = prodex.open_snapshot(folder)
    assert repr(catalog)
    assert catalog.origin.asked("namePublicLong", "fr") in {True, False}
    assert catalog.problems is not None
    assert catalog.products is not None


@pytest.mark.slow
def test_a_spoiled_manifest_of_a_snapshot(kept: Kept) -> None:
    """Listing, opening, looking, verifying and clearing away; the other snapshots are listed all the same."""
    path = newest(kept, "partial") / "manifest.json"

    def listed() -> None:
        rows = prodex.list_snapshots()
        assert {"ended", "half-refreshed", "interrupted", "partial", "saved", "shop"} == set(rows["name"])
        assert len([one.cells for one in snapshot_entries()]) == len(rows)

    cases = list(spoiled_json(path.read_bytes()))
    operations = (listed, lambda: looked_at(path.parent), lambda: prodex.vacuum("partial", dry_run=True))
    assert [] == raised(path, cases, *operations)


@pytest.mark.slow
def test_a_spoiled_manifest_is_refreshed_compared_or_refused(kept: Kept, exchange: Sandbox) -> None:
    """What goes on to the service, to other catalogues and to rules: what the manifest says of its origin."""
    path = newest(kept, "saved") / "manifest.json"
    manifest = json.loads(path.read_bytes())
    other = json.loads((newest(kept, "shop") / "manifest.json").read_bytes())["origin"]
    cases = [
        (f"origin.{name}", json.dumps({**manifest, "origin": json.loads(content)}).encode())
        for name, content in spoiled_json(json.dumps(other).encode())
        if _is_json(content)
    ]
    service = connected(exchange)
    assert [] == raised(
        path,
        cases,
        lambda: prodex.refresh("saved", service, progress=False),
        lambda: prodex.diff("saved", "shop").summary,
        lambda: prodex.verify("saved"),
    )


def _is_json(content: bytes) -> bool:
    try:
        json.loads(content)
    except (ValueError, RecursionError):
        return False
    return True


@pytest.mark.slow
def test_a_spoiled_manifest_of_an_audit(kept: Kept) -> None:
    """Listing, opening, counting, reporting; the other audits and their trend are shown all the same."""
    path = next(kept.home.glob("snapshots/shop/audits/*/manifest.json"))
    shutil.copytree(path.parent, path.parent.with_name("2026-11-21T000000.000000Z"))

    def listed() -> None:
        assert ["ended", "saved", "shop", "shop"] == prodex.list_audits()["name"].tolist()
        prodex.open_audit("shop@2026-11-21")
        prodex.open_audit("shop@2026-11-21", "own")
        read_trend("shop", snapshot_entries())

    def looked() -> None:
        audit = prodex.open_audit("shop")
        assert repr(audit)
        assert audit._repr_html_()
        assert audit.summary is not None
        assert audit.failures() is not None

    cases = spoiled_json(path.read_bytes(), repeated=1)
    assert [] == raised(path, cases, listed, looked, share=every(52))


@pytest.mark.slow
@pytest.mark.parametrize("table", ["products", "states", "findings"])
def test_a_spoiled_file_of_an_audit(kept: Kept, table: str) -> None:
    """Also where the manifest has its digest: somebody may have written both."""
    manifest = next(kept.home.glob("snapshots/shop/audits/*/manifest.json"))
    path = manifest.parent / table / "part-00000.parquet"
    content, read = path.read_bytes(), pq.read_table(path)

    def opened() -> None:
        written = json.loads(manifest.read_bytes())
        written["parts"][0][table] = prodex.files.atomic.sha256(path)
        manifest.write_text(json.dumps(written))
        audit = prodex.open_audit("shop")
        assert audit.failures() is not None
        assert audit.gaps() is not None

    cases = [*spoiled(content), *flipped(content, range(0, 400, 7)), *_other_tables(read)]
    assert [] == raised(path, cases, opened)


def _other_tables(table: pa.Table) -> Iterator[tuple[str, bytes]]:
    """Yield a Parquet file with other columns, types, rows and values than it should have."""
    first = table.column_names[0]
    other = {
        "without a column": table.drop_columns([first]),
        "with another name": table.rename_columns(["x", *table.column_names[1:]]),
        "with a further column": table.append_column("more", pa.nulls(table.num_rows)),
        "twice as long": pa.concat_tables([table, table]),
        "without rows": table.slice(0, 0),
        "of nulls": pa.table(
            {name: pa.nulls(table.num_rows, table[name].type) for name in table.column_names}
        ),
        "of texts": pa.table({name: ["x"] * table.num_rows for name in table.column_names}),
        "of numbers": pa.table({name: [2**40] * table.num_rows for name in table.column_names}),
        "of lists": pa.table({name: [[1]] * table.num_rows for name in table.column_names}),
        "of objects": pa.table({name: [{"a": 1}] * table.num_rows for name in table.column_names}),
        "of bytes": pa.table({name: [b"\xff\xfe"] * table.num_rows for name in table.column_names}),
        "of invalid text": pa.table({name: _invalid(table.num_rows) for name in table.column_names}),
    }
    for name, rows in other.items():
        sink = pa.BufferOutputStream()
        pq.write_table(rows, sink, store_schema=False)
        yield name, sink.getvalue().to_pybytes()


def _invalid(rows: int) -> pa.Array:
    return pa.array([b"\xff\xfe"] * rows, pa.binary()).view(pa.string())


TABLES = ["products", "texts", "presence", "descriptors", "raw", "codes"]


@pytest.mark.slow
@pytest.mark.parametrize("table", TABLES)
def test_a_spoiled_file_of_a_snapshot(kept: Kept, table: str) -> None:
    """Read in every way: as a frame, as Arrow, piece by piece, by SQL, wide, chosen from, exported and refreshed."""
    folder = newest(kept, "saved")
    path = folder / table / "part-00000.parquet"
    manifest = folder / "manifest.json"
    content, read = path.read_bytes(), pq.read_table(path)

    def told() -> None:
        """Let the manifest agree with the file: somebody may have written both."""
        written = json.loads(manifest.read_bytes())
        facts = written["parts"][0]["files"][table]
        facts |= {"sha256": prodex.files.atomic.sha256(path), "bytes": path.stat().st_size}
        facts["footer"] = parquet._content_digest(parquet._footer_bytes(path))
        manifest.write_text(json.dumps(written))

    def catalog() -> prodex.Catalog:
        told()
        return prodex.open_snapshot("saved")

    operations: tuple[Operation, ...] = (
        lambda: getattr(catalog(), table).to_dict("records"),
        lambda: [batch.to_pylist() for batch in catalog().batches(table)],
        lambda: catalog().sql(f"select * from {table}"),
        lambda: repr(catalog()),
        lambda: catalog().where(product_id="1").arrow(table),
        lambda: catalog().wide(),
        lambda: prodex.verify("saved"),
    )
    spoilt = [*spoiled(content), *flipped(content, range(0, 300, 11)), *_other_tables(read)]
    assert [] == raised(path, spoilt, *operations)
    assert [] == raised(
        path,
        spoilt[-12:],
        lambda: catalog().save("copy"),
        lambda: catalog().export(kept.folder / "out", "csv"),
        lambda: prodex.diff(catalog(), "shop").summary,
        lambda: prodex.audit(catalog(), {"checks": {"valid_gtin": {}}}).failures(),
    )


def test_the_error_names_the_damaged_file(kept: Kept) -> None:
    """This holds for every way of reading it."""
    path = newest(kept, "saved") / "texts" / "part-00000.parquet"
    path.write_bytes(path.read_bytes()[:-9])
    catalog = prodex.open_snapshot("saved")
    ways: tuple[Operation, ...] = (
        lambda: catalog.texts,
        lambda: catalog.arrow("texts", ["text"]),
        lambda: list(catalog.batches("texts")),
        lambda: catalog.sql("select * from texts"),
        catalog.wide,
    )
    for way in ways:
        with pytest.raises(SnapshotDamaged, match=r"texts/part-00000\.parquet"):
            way()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["half-offset", "half-windows", "judged"])
def test_a_spoiled_journal_of_a_load(kept: Kept, exchange: Sandbox, tmp_path: Path, name: str) -> None:
    """Recovered, resumed and cleared away: what cannot be read did not come, and all else is there."""
    journal = kept.journals()[name]
    shutil.copytree(journal, tmp_path / "before")

    def anew() -> None:
        shutil.rmtree(journal.parent)
        shutil.copytree(tmp_path / "before", journal)

    operations: tuple[Operation, ...] = (
        lambda: prodex.recover(name, allow_incomplete=True),
        lambda: prodex.load_products(
            connected(exchange),
            name=name,
            page_size=20,
            windows=0,
            max_age=0,
            progress=False,
            allow_incomplete=True,
        ),
        lambda: prodex.vacuum(name),
    )
    question, ledger, page = (journal / one for one in ("question.json", "ledger.jsonl", "page-000000.zst"))
    lines = ledger.read_bytes().splitlines(keepends=True)
    in_ledger = [
        (
            f"line {number}: {what}",
            b"".join([*lines[:number], content.replace(b"\n", b"") + b"\n", *lines[number + 1 :]]),
        )
        for number in _telling(lines)
        for what, content in spoiled_json(lines[number], repeated=1)
    ]
    share = every(150, 5) if name == "half-offset" else every(300, 11)
    questions = spoiled_json(question.read_bytes())
    assert [] == raised(question, questions, *operations, anew=anew, share=share)
    assert [] == raised(ledger, in_ledger, *operations, anew=anew, share=share)
    pages = [*spoiled(page.read_bytes()), ("a claim", b"9" * 30 + page.read_bytes()[4:]), ("below", b"-1\nx")]
    assert [] == raised(page, pages, *operations, anew=anew)


def _telling(lines: list[bytes]) -> list[int]:
    """Return the places of the first line of each kind, and of the last two."""
    kinds: dict[str, int] = {}
    for place, line in enumerate(lines):
        kinds.setdefault(json.loads(line)["line"], place)
    return sorted({*kinds.values(), len(lines) - 1, len(lines) - 2})


def test_a_spoiled_journal_does_not_hide_another(kept: Kept) -> None:
    """Of two loads that were interrupted the one that can be read is recovered."""
    journal = kept.journals()["half-offset"]
    shutil.copytree(journal, journal.with_name(".journal-00000000"))
    (journal.with_name(".journal-00000000") / "question.json").write_bytes(b"\xff")
    shutil.copytree(journal, journal.with_name(".journal-00000001"))
    (journal.with_name(".journal-00000001") / "ledger.jsonl").unlink()
    (journal.with_name(".journal-00000001") / "ledger.jsonl").mkdir()
    assert 38 == len(prodex.recover("half-offset", allow_incomplete=True))


@pytest.mark.slow
def test_a_spoiled_journal_of_what_was_sent(kept: Kept) -> None:
    """The import is tracked against the store that took it."""
    with Sandbox([], home=kept.home / "sandbox", organizations=[SHOP, MILL], labels={}) as sandbox:
        mill = connected(sandbox, 1)
        sent = kept.tracked(sandbox.base_url)
        path = sent[1]
        for other in sent:
            if other != path:
                shutil.rmtree(other.parent)
        cases = _spoiled_rows(path, ("plan", "calls", "products", "events", "imports"))

        def tracked() -> None:
            tracking = prodex.track(mill)
            assert repr(tracking)
            assert tracking.products is not None
            assert tracking.batches is not None

        assert [] == raised(path, cases, tracked, share=every(13))


@pytest.mark.slow
def test_a_spoiled_plan_of_what_is_sent(kept: Kept, exchange: Sandbox) -> None:
    """Listed and tracked, also where somebody wrote the checksum of the row as well."""
    shop = connected(exchange)
    planned = [Planned(b"[]", (f"{number:014d}",), (Loaded("1", None),)) for number in (1, 2)]
    path = UpsertFile.begin(shop.base_url, shop.fingerprint, "application/json", planned).path
    upsert = UpsertFile(path)
    upsert.begin_sending(0)
    upsert.end_sending(0, Batch(upsert.batches()[0].gtins, "sent", "1"))
    upsert.note_ended({"1": {"00000000000001": "SUCCESS"}}, None)
    upsert.stop("it was late")
    cases = _spoiled_rows(path, ("plan", "calls", "products", "payloads", "events", "imports"))

    def tracked() -> None:
        assert prodex.track(shop, upsert=upsert.name).products is not None

    assert [] == raised(path, cases, prodex.list_upserts, tracked, share=every(13))


def _spoiled_rows(path: Path, tables: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the file of an upsert with one row of it spoiled, although its checksum is right, and what is wrong."""
    before = path.read_bytes()
    for table in tables:
        for number, content in enumerate(contents(path, table)[:5]):
            for what, spoilt in spoiled_json(content):
                rewrite(path, table, number, spoilt)
                yield f"{table}, row {number}: {what}", path.read_bytes()
                path.write_bytes(before)
            spoil(path, table, number)
            yield f"{table}, row {number}: a bit is another one", path.read_bytes()
            path.write_bytes(before)


def test_a_spoiled_list_of_worklists(kept: Kept) -> None:
    """The folder is refused or replaced, never with an error of Python."""
    path = kept.folder / "to_fix" / "worklists.json"
    audit = prodex.audit(prodex.flatten([{"id": 1}]), {"checks": {"valid_gtin": {}}})
    content = path.read_bytes()
    shutil.copytree(path.parent, kept.folder / "before")

    def anew() -> None:
        shutil.rmtree(path.parent)
        shutil.copytree(kept.folder / "before", path.parent)

    cases = spoiled_json(content, repeated=1)
    written = partial(audit.worklists, path.parent, replace=True)
    assert [] == raised(path, cases, written, anew=anew, share=every(52))


def test_a_spoiled_index_of_pictures(kept: Kept) -> None:
    """Then nothing is known of the files, and they are looked at again."""
    folder = kept.folder / "pictures"
    path = folder / "pictures.parquet"
    records = json.loads((folder / "records.json").read_bytes())
    for record in records:
        record["assets"]["pictures"][0]["url"] = "file:///x.jpg"
    catalog = prodex.flatten(records)
    cases = [
        *spoiled(path.read_bytes()),
        *flipped(path.read_bytes(), range(0, 200, 40)),
        *_other_tables(pq.read_table(path)),
    ]
    assert [] == raised(path, cases, lambda: prodex.download_pictures(catalog, folder, progress=False))


PROFILES = {
    "deep": "a = " + "[" * 5_000 + "]" * 5_000,
    "deep keys": ".".join("a" * 5_000) + " = 1",
    "deep tables": "[" + ".".join("a" * 5_000) + "]",
    "zero": 'title = "a\0b"',
    "a moment": "title = 2026-01-01T00:00:00Z",
    "market": "market = 9999999999999999999999",
    "market below": "market = -1",
    "market of lists": "market = [[]]",
    "checks a list": "checks = [1, 2]",
    "rule a list": "[[checks]]\na = 1",
    "rule a number": "[checks]\nvalid_gtin = 7",
    "rules of rules": "[checks.valid_gtin.valid_gtin]\nseverity = 1",
    "severity": '[checks.valid_gtin]\nseverity = ["error"]',
    "severity of objects": "[checks.valid_gtin]\nseverity = {a = 1}",
    "weight": "[checks.valid_gtin]\nweight = 1e400",
    "weight nan": "[checks.valid_gtin]\nweight = nan",
    "weight huge": "[checks.valid_gtin]\nweight = 99999999999999999999999999999999999999",
    "weight endless": f"[checks.valid_gtin]\nweight = {'9' * 400}",
    "weight below": "[checks.valid_gtin]\nweight = -1",
    "weight text": '[checks.valid_gtin]\nweight = "1"',
    "only": "[checks.valid_gtin]\nonly = {is_consumer_unit = [{}]}",
    "only deep": "[checks.valid_gtin]\nonly = {is_consumer_unit = " + "[" * 90 + "]" * 90 + "}",
    "only huge": "[checks.valid_gtin]\nonly = {market = [99999999999999999999999]}",
    "only a moment": "[checks.valid_gtin]\nonly = {updated_at = 2026-01-01}",
    "except": "[checks.valid_gtin]\nexcept = 7",
    "parameter": "[checks.required_text]\nattribute = {a = 1}\nlanguage = []",
    "parameters": '[checks.required_text]\nattribute = [["a"]]\nlanguage = [1]',
    "none": "[checks.required_text]",
    "days": "[checks.updated_within]\ndays = 99999999999999999999",
    "days below": "[checks.updated_within]\ndays = -5",
    "many": "[checks.required_text]\nattribute = [" + '"namePublicLong",' * 3_000 + ']\nlanguage = "fr"',
    "extends": 'extends = ["core"]',
    "extends itself": 'extends = "own"',
    "title": "title = [1]",
    "duplicate": 'title = "a"\ntitle = "b"',
    "half": 'title = "a',
}


@pytest.mark.slow
@each_row("case", PROFILES)
def test_a_spoiled_profile(tmp_path: Path, case: str) -> None:
    """A damaged profile is refused when it is read, shown or used by an audit."""
    path = tmp_path / "own.toml"
    path.write_text("")
    catalog = prodex.flatten([{"id": 1, "updatedAt": "2026-01-01T00:00:00"}])

    def judged() -> None:
        profile = Profile.read(path)
        assert repr(profile)
        assert profile.table is not None
        assert prodex.audit(catalog, profile).summary is not None

    assert [] == raised(path, [(case, PROFILES[case].encode())], judged, share=1)


def test_a_profile_that_is_no_text(tmp_path: Path) -> None:
    """It may be cut off anywhere, be in another encoding, be binary, or be a folder."""
    path = tmp_path / "own.toml"
    path.write_text("title = 'é'\n[checks.valid_gtin]\nseverity = 'blocker'\n", "utf-8")
    assert [] == raised(path, spoiled(path.read_bytes()), lambda: Profile.read(path))
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(InputError):
        Profile.read(tmp_path / "folder.toml")


def test_a_spoiled_word_of_a_running_sandbox(tmp_path: Path) -> None:
    """A record of a running sandbox that cannot be read means that none runs."""
    word: dict[str, Any] = {
        "service": "prodex sandbox",
        "base_url": "http://127.0.0.1:1",
        "pid": 1,
        "products": 1,
        "credentials": [{"client_id": "a", "client_secret": "b"}],
    }
    path = tmp_path / "server.json"
    path.write_text(json.dumps(word))
    assert [] == raised(path, spoiled_json(path.read_bytes()), lambda: running_sandbox(tmp_path))


def test_a_spoiled_store_of_a_sandbox(kept: Kept) -> None:
    """The message says that it is no store, and what to do."""
    path = kept.home / "sandbox" / "store.sqlite"

    def opened() -> None:
        Store(path).close()

    content = path.read_bytes()
    flips = ((name, spoilt) for name, spoilt in flipped(content[:4096], range(0, 4096, 101)))
    cases = [*spoiled(content), *((name, head + content[4096:]) for name, head in flips)]
    assert [] == raised(path, cases, opened)


@pytest.mark.slow
@each_row(
    "change",
    [
        "DELETE FROM settings",
        "DELETE FROM settings WHERE name = 'token_key'",
        "DELETE FROM settings WHERE name = 'origin'",
        "UPDATE settings SET value = x'ff' WHERE name = 'token_key'",
        "UPDATE settings SET value = '99' WHERE name = 'version'",
        "DROP TABLE organizations",
        "ALTER TABLE organizations DROP COLUMN username",
        "UPDATE organizations SET type = 99",
        "UPDATE organizations SET type = 'x'",
        "UPDATE organizations SET type = NULL",
    ],
)
def test_an_edited_store_of_a_sandbox(kept: Kept, change: str) -> None:
    """It is refused with a message, and not opened in part."""
    import sqlite3
    from contextlib import closing

    path = kept.home / "sandbox" / "store.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(change)
        connection.commit()
    with pytest.raises(StoreUnusable, match="delete it or give another home"):
        Store(path)


def test_a_spoiled_name_of_who_holds_a_lock(tmp_path: Path) -> None:
    """The message then names another process of which nothing is known."""
    path = tmp_path / ".lock.json"
    path.write_text(json.dumps(LockOwner.now("loading 'shop'")._asdict()))
    assert [] == raised(path, spoiled_json(path.read_bytes()), lambda: str(LockOwner.of(tmp_path)))
