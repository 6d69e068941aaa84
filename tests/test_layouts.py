"""What another version of prodex wrote is refused in words, with its path, and is never read as empty.

Of every kind of file the one that this version writes gets the number of an earlier layout, of a later one, or none.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq
import pytest
from openpyxl import load_workbook

import prodex
from prodex.corrections.recipe import Recipe, write_recipe
from prodex.corrections.recipe_files import read_recipe
from prodex.errors import OtherLayout
from prodex.exploration.drafts import CorrectionDraft, change_draft, read_draft
from prodex.exploration.saved_views import open_view, saved_views
from prodex.job.job_file import read_job
from prodex.job.run_journal import RunJournal
from prodex.job.steps import ExportRecord
from prodex.ledger.earlier_records import earlier_records
from prodex.ledger.upserts import has_sent, last_write
from prodex.ledger.writes import sent_writes
from prodex.notebook.views.saved_snapshots import snapshot_entries
from prodex.notebook.views.trend import read_trend
from prodex.quality.figures import kept_figures
from prodex.quality.requirements import Requirements
from prodex.sandbox import Sandbox
from prodex.sandbox_weeks import WeeksRecord
from prodex.send.sending_rule import SentBefore
from prodex.store.journal import LoadJournal
from prodex_sandbox.records.store import Store, StoreUnusable
from tests.cases import each_row
from tests.kept.make import CORRECTIONS, MILL, NOW, SHOP, gtin, product
from tests.kept.unpacking import Kept, unpack
from tests.load.exchange import connected

#: A check that judges every product.
PROFILE = {"checks": {"valid_gtin": {}}}


class Case(NamedTuple):
    """A kind of file: where it is, how it gets another number, and what reads it."""

    path: Callable[[Kept], Path]
    renumbered: Callable[[Path, int | None], None]
    reads: tuple[Callable[[Kept], object], ...]
    own: int


@pytest.fixture
def exchange() -> Iterator[Sandbox]:
    """Serve nothing, at the address that the files come from."""
    with Sandbox([], organizations=[SHOP, MILL], labels={}) as sandbox:
        yield sandbox


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kept:
    """Put what this version leaves on the disk."""
    kept = unpack(tmp_path)
    monkeypatch.setenv("PRODEX_HOME", str(kept.home))
    for name in ("URL", "ID", "SECRET"):
        monkeypatch.setenv(f"PRODEX_SHOP_{name}", "http://127.0.0.1:1")
    return kept


def glob(pattern: str) -> Callable[[Kept], Path]:
    """Return a function that finds the newest file of a pattern."""
    return lambda kept: max(kept.folder.glob(pattern))


def in_json(path: Path, number: int | None, name: str = "format") -> None:
    """Number a JSON file."""
    content = {key: value for key, value in json.loads(path.read_bytes()).items() if key != name}
    path.write_text(json.dumps(content if number is None else {name: number, **content}), "utf-8")


def in_sqlite(path: Path, number: int | None) -> None:
    """Number the file of an upsert."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {number or 0}")


def in_workbook(path: Path, number: int | None, sheet: str = "prodex") -> None:
    """Number a workbook in its hidden sheet."""
    book = load_workbook(path)
    (row,) = (row for row in book[sheet].iter_rows() if row[0].value == "format")
    if number is None:
        book[sheet].delete_rows(row[0].row)
    else:
        row[1].value = str(number)
    book.save(path)


def in_text(pattern: str) -> Callable[[Path, int | None], None]:
    """Return a function that numbers a text, in which the number stands behind a pattern."""

    def renumbered(path: Path, number: int | None) -> None:
        text = path.read_text("utf-8")
        found = re.sub(pattern, lambda one: one[0] if number is None else f"{one[1]}{number}{one[2]}", text)
        path.write_text(found, "utf-8")

    return renumbered


def in_parquet(path: Path, number: int | None) -> None:
    """Number the index of pictures."""
    table = pq.read_table(path)
    noted = {} if number is None else {"prodex_layout": str(number)}
    pq.write_table(table.replace_schema_metadata(noted), path)


def upsert(kept: Kept) -> str:
    """Name the newest upsert."""
    return max((kept.home / "tracking").glob("*Z*")).name


def exported_anew(kept: Kept) -> None:
    """Note an export of a job."""
    job = read_job(kept.folder / "ended.toml")
    with ExportRecord(kept.home / "jobs" / "ended" / "exports.json").exporting(job.exports[0]):
        raise AssertionError("it was not refused")


JOURNAL = Case(
    lambda kept: kept.journals()["half-offset"] / "question.json",
    in_json,
    (
        lambda _: prodex.recover("half-offset", allow_incomplete=True),
        lambda kept: LoadJournal.open(kept.journals()["half-offset"]),
    ),
    1,
)

CASES = {
    "snapshot": Case(
        glob("home/snapshots/saved/2*/manifest.json"),
        in_json,
        (
            lambda _: prodex.open_snapshot("saved"),
            lambda _: prodex.verify("saved"),
            lambda _: prodex.diff("saved", "shop"),
        ),
        3,
    ),
    "audit": Case(
        glob("home/snapshots/shop/audits/*/manifest.json"),
        in_json,
        (
            lambda _: prodex.open_audit("shop"),
            # Since when a finding is open is what the audit before says.
            lambda kept: prodex.audit("shop", kept.folder / "own.toml", now=NOW).save(),
        ),
        2,
    ),
    "figures": Case(
        glob("home/snapshots/shop/figures/*/manifest.json"), in_json, (lambda _: kept_figures("shop"),), 2
    ),
    "journal of a load": JOURNAL,
    "run of a job": Case(
        glob("home/jobs/interrupted/run.json"),
        in_json,
        (lambda kept: RunJournal.unfinished(read_job(kept.folder / "interrupted.toml")),),
        1,
    ),
    "exports of a job": Case(glob("home/jobs/ended/exports.json"), in_json, (exported_anew,), 1),
    "export": Case(
        glob("export/datapackage.json"),
        in_json,
        (lambda kept: prodex.read_export(kept.folder / "export"),),
        3,
    ),
    "folder of worklists": Case(
        glob("to_fix/worklists.json"),
        in_json,
        (lambda kept: prodex.open_audit("shop").worklists(kept.folder / "to_fix", replace=True),),
        2,
    ),
    "view": Case(
        glob("home/views/*.json"),
        in_json,
        (lambda _: saved_views(), lambda _: open_view("Bread, not ready")),
        2,
    ),
    "draft": Case(
        glob("home/corrections/shop.json"),
        in_json,
        (lambda _: change_draft("shop", CorrectionDraft(), CorrectionDraft(CORRECTIONS)),),
        1,
    ),
    "index of pictures": Case(
        glob("pictures/pictures.parquet"),
        in_parquet,
        (
            lambda kept: prodex.download_pictures(
                prodex.flatten(json.loads((kept.folder / "pictures" / "records.json").read_bytes())),
                kept.folder / "pictures",
                progress=False,
            ),
        ),
        1,
    ),
    "publication": Case(
        glob("published/_snapshots/_delta_log/*0.json"),
        in_text(r"(Published by prodex, format )\d+(, )"),
        (
            lambda kept: prodex.open_published(kept.folder / "published"),
            lambda kept: prodex.publish("saved", kept.folder / "published", progress=False),
        ),
        2,
    ),
    "upsert": Case(
        glob("home/tracking/*/upsert.sqlite"),
        in_sqlite,
        (
            lambda kept: prodex.track(_service(), upsert=upsert(kept)),
            lambda _: prodex.track(_service()),
            lambda kept: prodex.undo(upsert(kept), _service()),
            lambda kept: list(earlier_records(upsert(kept))),
        ),
        4,
    ),
}


def _service() -> Any:
    """Return a service that nobody reaches: what is refused is refused before a call."""
    return prodex.connect(base_url="http://127.0.0.1:1", client_id="mill", client_secret="secret")


@pytest.mark.slow
@each_row("kind", CASES)
def test_another_layout_is_refused_with_its_path(kept: Kept, kind: str) -> None:
    """An earlier and a later number, or none: the refusal names the file, says what to do, and changes nothing."""
    case = CASES[kind]
    path = case.path(kept)
    before = path.read_bytes()
    words = {
        case.own - 1: r"made by an earlier version of prodex .*Move it away",
        case.own + 1: r"made by a newer version of prodex .*Update prodex, or move it away",
        None: r"no layout number.*Move it away",
    }
    if kind == "publication":  # without one, it is another program's table
        del words[None]
    for number, said in words.items():
        path.write_bytes(before)
        case.renumbered(path, number)
        written = path.read_bytes()
        for read in case.reads:
            with pytest.raises(OtherLayout, match=said) as refused:
                read(kept)
            place = str(path.parent.parent) if kind == "publication" else str(path)
            assert place in str(refused.value).replace("file://", "")
            assert written == path.read_bytes()
    path.write_bytes(before)


def test_lists_name_what_cannot_be_read(kept: Kept) -> None:
    """The lists of snapshots, audits and upserts have it with the reason, and the others as they are."""
    for kind in ("snapshot", "audit", "upsert"):
        case = CASES[kind]
        case.renumbered(case.path(kept), case.own + 1)
    lists = {
        "snapshot": prodex.list_snapshots("saved")["note"],
        "audit": prodex.list_audits("shop")["note"],
        "upsert": prodex.list_upserts()["note"],
    }
    for kind, notes in lists.items():
        found = notes.str.contains("newer version of prodex")
        assert [True] == found[found].tolist(), kind
    assert 5 == len(lists["upsert"])


def test_a_trend_says_what_it_lacks(kept: Kept) -> None:
    """Not that nobody has saved an audit."""
    path = CASES["audit"].path(kept)
    in_json(path, 1)
    assert str(path) in read_trend("shop", snapshot_entries()).unread


def test_a_draft_of_another_layout_is_left_where_it_is(kept: Kept) -> None:
    """Nothing of it is shown, which is said with its path."""
    path = CASES["draft"].path(kept)
    in_json(path, 0)
    draft, said = read_draft("shop")
    assert CorrectionDraft() == draft
    assert "left as it is" in said
    assert str(path) in said
    assert path.is_file()


@pytest.mark.slow
@each_row("number", [3, 5, None])
def test_an_old_folder_of_what_was_sent_stops_what_rests_on_it(
    kept: Kept, exchange: Sandbox, number: int | None
) -> None:
    """Sending, tracking, history and loads, until it is moved away; the refusal says that calls may still arrive."""
    path = CASES["upsert"].path(kept)
    in_sqlite(path, number)
    mill = connected(exchange, 1)
    catalog = prodex.flatten([product(7)]).save("sent")
    rests: tuple[Callable[[], object], ...] = (
        lambda: SentBefore.look(mill, {gtin(7)}),
        lambda: prodex.track(mill),
        lambda: sent_writes({gtin(7)}, {mill.base_url}),
        lambda: has_sent({"http://nobody.example"}),
        lambda: last_write(mill.base_url),
        catalog.overridden,
    )
    for rest in rests:
        with pytest.raises(OtherLayout, match="calls in it may still arrive for a day") as refused:
            rest()
        assert str(path) in str(refused.value)
    aside = kept.folder / "aside"
    path.parent.rename(aside)
    for rest in rests[2:]:
        rest()
    assert (aside / path.name).is_file()


def test_a_plain_file_among_what_was_sent_is_an_old_layout(kept: Kept) -> None:
    """The first layout was a file for each upsert, without a checksum."""
    path = kept.home / "tracking" / "2099-11-19T080000.000000Z-7.jsonl"
    path.write_text(json.dumps({"version": 1, "host": "127.0.0.1"}) + "\n")
    with pytest.raises(OtherLayout, match=r"earlier version of prodex.*may still arrive for a day"):
        prodex.track(_service())
    assert path.stem == prodex.list_upserts()["name"][0]


@pytest.mark.parametrize("begins", ["", "1-", "3-"])
def test_an_old_accepted_file_stops_what_rests_on_it(begins: str) -> None:
    """Audits, saved audits, lists and further acceptances, also where lines of today are beside those of then."""
    catalog = prodex.flatten([{"id": 8, "gtin": "03036811359936"}]).save("shop")
    judged = prodex.audit(catalog, PROFILE)
    saved = prodex.accept(judged, reason="printed so").save()
    assert saved.accepted_findings is not None
    path = saved.accepted_findings.path
    line = path.read_text("utf-8")
    for content in (line.replace('"2-', f'"{begins}'), line + line.replace('"2-', f'"{begins}')):
        path.write_text(content, "utf-8")
        rests: tuple[Callable[[], object], ...] = (
            lambda: prodex.audit("shop", PROFILE),
            lambda: prodex.open_audit("shop"),
            lambda: prodex.accepted("shop"),
            lambda: prodex.accept(judged, reason="again"),
        )
        for rest in rests:
            with pytest.raises(OtherLayout, match=r"Move it away|or move it away") as refused:
                rest()
            assert str(path) in str(refused.value)
        assert content == path.read_text("utf-8")
    path.rename(path.with_name("aside.jsonl"))
    assert 0 == prodex.audit("shop", PROFILE).summary["accepted"]


def test_a_digest_that_nobody_wrote_costs_its_line() -> None:
    """It is no layout, but a typing error: the other lines count."""
    catalog = prodex.flatten([{"id": 8, "gtin": "03036811359936"}]).save("shop")
    accepted = prodex.accept(prodex.audit(catalog, PROFILE), reason="printed so")
    assert accepted.accepted_findings is not None
    path = accepted.accepted_findings.path
    line = path.read_text("utf-8")
    path.write_text(line + re.sub(r'"2-[0-9a-f]+"', '"yes"', line), "utf-8")
    assert ["in force", "cannot be read"] == prodex.accepted("shop")["state"].tolist()


@pytest.mark.slow
@pytest.mark.parametrize("number", [4, 6, None])
def test_a_worklist_of_another_layout_is_refused_as_a_whole(kept: Kept, number: int | None) -> None:
    """With its path and what to do, in the list of what was refused; none of its answers is read."""
    path = kept.folder / "to_fix" / "Mill-4.xlsx"
    in_workbook(path, number)
    fix = prodex.read_worklist(path, prodex.open_snapshot("shop"), profile="core")
    (why,) = fix.refused["reason"]
    assert str(path) in why
    assert "Write the worklist anew" in why


@pytest.mark.parametrize("number", [0, 3])
def test_a_recipe_or_requirements_of_another_layout_are_refused(tmp_path: Path, number: int) -> None:
    """A recipe may have no number, since people write it; requirements without one are none."""
    recipe, asked = tmp_path / "recipe.toml", tmp_path / "asked.toml"
    recipe.write_text(f'format = {number or 7}\n[[steps]]\ndo = "trim spaces"\nattribute = "nameLegal"\n')
    asked.write_text(f"requirements = {number}\n")
    for path, read in ((recipe, read_recipe), (asked, Requirements.read)):
        with pytest.raises(OtherLayout, match="version of prodex") as refused:
            read(path)
        assert str(path) in str(refused.value)


@each_row("number", [0, 1, None])
def test_a_workbook_of_requirements_of_another_layout_is_refused(tmp_path: Path, number: int | None) -> None:
    """By its hidden sheet."""
    path = tmp_path / "asked.xlsx"
    prodex.write_requirements(path, prodex.flatten([product(1)]))
    in_workbook(path, number, "prodex requirements")
    with pytest.raises(OtherLayout, match="Write the workbook anew") as refused:
        Requirements.read(path)
    assert str(path) in str(refused.value)


@each_row("number", [0, 2, None])
def test_weeks_of_another_layout_are_refused(home: Path, number: int | None) -> None:
    """They are not made anew over what is there."""
    WeeksRecord("shop", "2026-11-20T090000").write()
    path = home / "weeks" / "shop" / "weeks.json"
    in_json(path, number)
    with pytest.raises(OtherLayout, match=re.escape(str(path))):
        WeeksRecord.read("shop")


@each_row("value", ["5", "7", None])
def test_a_store_of_the_sandbox_of_another_layout_is_refused(kept: Kept, value: str | None) -> None:
    """Also that of the version before: nothing is brought up to date."""
    path = kept.home / "sandbox" / "store.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM settings WHERE name = 'version'")
        if value is not None:
            connection.execute("INSERT INTO settings VALUES ('version', ?)", (value,))
    before = path.read_bytes()
    with pytest.raises(StoreUnusable, match=f"{re.escape(str(path))} was made by another version") as refused:
        Store(path)
    assert f"layout {value}" in str(refused.value)
    assert before == path.read_bytes()


def test_a_recipe_that_is_written_has_the_number_of_today(tmp_path: Path) -> None:
    """So that a later version can tell."""
    recipe = read_recipe(_recipe(tmp_path))
    assert isinstance(recipe, Recipe)
    assert "format = 2\n" in write_recipe(recipe, tmp_path / "again.toml").read_text("utf-8")


def _recipe(folder: Path) -> Path:
    path = folder / "recipe.toml"
    path.write_text('[[steps]]\ndo = "trim spaces"\nattribute = "nameLegal"\n')
    return path


def test_an_upsert_of_lines_is_an_old_layout(kept: Kept) -> None:
    """The third layout was a folder with a journal of lines, and is not passed over."""
    path = kept.home / "tracking" / "2099-11-19T080000.000000Z-7" / "journal.jsonl"
    path.parent.mkdir()
    path.write_text(json.dumps({"version": 3, "host": "127.0.0.1"}) + "\n")
    with pytest.raises(
        OtherLayout, match=r"earlier version of prodex.*may still arrive for a day"
    ) as refused:
        prodex.track(_service())
    assert str(path) in str(refused.value)
    assert path.parent.name == prodex.list_upserts()["name"][0]
