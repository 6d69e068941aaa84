"""What users have on disk opens after every change: it is read, compared, refreshed, resumed, tracked and cleaned."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd
import pytest

import prodex
from prodex.errors import IncompleteLoad, InputError, SnapshotNotFound
from prodex.exploration.conditions import Conditions
from prodex.exploration.drafts import CollectedDraft
from prodex.exploration.saved_views import open_view, saved_views
from prodex.files import append_log
from prodex.quality import Profile
from prodex.sandbox import Sandbox
from prodex.store.journal import LoadJournal
from prodex.store.journal_format import Counted, Noted, PageEntry, Restarted
from prodex.tables.declaration import TABLES
from prodex_sandbox.records.model import SharedProduct, View
from tests.load.exchange import asked, connected, contents, paged
from tests.old.make import CANARY, CORRECTIONS, MILL, PAGE, SHOP, TOTAL, gtin
from tests.old.unpacking import KEPT, Kept, unpack
from tests.quality.workbooks import sheets, to_fix
from tests.worklists.handling import fill

VERSIONS = sorted(path.name for path in KEPT.iterdir() if (path / "files.tar.xz").is_file())

#: The name of an interrupted load, and how its pages went.
WAYS = {"half-offset": "offset", "half-scrolled": "scroll", "half-windows": "windows"}

EVERYTHING = list(range(1, TOTAL + 1))


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    """Name a version whose files are kept."""
    return str(request.param)


@pytest.fixture
def kept(version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kept:
    """Put its files on the disk, as the user's own."""
    return _kept(version, tmp_path, monkeypatch)


@pytest.fixture
def exchange(version: str, tmp_path: Path) -> Iterator[Sandbox]:
    """Serve what the service had when they were made."""
    records = unpack(version, tmp_path / "before").products
    with _serving(records) as sandbox:
        yield sandbox


@pytest.fixture
def loaded(version: str, exchange: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kept:
    """Put its files on the disk, as loaded from that service."""
    return _kept(version, tmp_path, monkeypatch, exchange.base_url)


def _serving(records: list[dict[str, Any]], **options: Any) -> Sandbox:
    shared = [SharedProduct(record, MILL.id, (View(SHOP.id),)) for record in records]
    return Sandbox(shared, organizations=[SHOP, MILL], labels={}, **options)


def _kept(version: str, folder: Path, monkeypatch: pytest.MonkeyPatch, base_url: str | None = None) -> Kept:
    kept = unpack(version, folder, base_url)
    monkeypatch.setenv("PRODEX_HOME", str(kept.home))
    return kept


def _names(catalog: prodex.Catalog) -> dict[int, str]:
    every = [json.loads(text) for text in catalog.raw["json"]]
    return {one["id"]: one["namePublicLong"][0]["data"] for one in every}


@pytest.mark.slow
def test_snapshots_are_listed_opened_and_verified(kept: Kept) -> None:
    """Every table of every snapshot is as it was kept, and whether it is complete is known."""
    listed = prodex.list_snapshots()
    shown = [
        (row["name"], row["products"], row["complete"], row["note"]) for row in listed.to_dict("records")
    ]
    assert [
        ("ended", 1, True, ""),
        ("half-refreshed", 66, True, ""),
        ("interrupted", 1, True, ""),
        ("partial", 63, False, ""),
        ("saved", 2, True, ""),
        ("shop", 66, True, ""),
        ("shop", 67, True, ""),
    ] == shown
    for folder in listed["folder"]:
        assert bool(prodex.verify(folder)["ok"].all())
        catalog = prodex.open_snapshot(folder)
        assert all(len(getattr(catalog, table)) == catalog.row_count(table) for table in TABLES)
        assert len(catalog) < 60 or catalog.drift["attribute"].tolist()
        assert not catalog.dictionary.empty
    first = prodex.open_snapshot(str(listed.loc[listed["name"] == "shop", "folder"].iloc[0]))
    assert kept.products == [json.loads(text) for text in first.raw["json"]]


def test_hostile_texts_stand_there_as_they_were_typed(kept: Kept) -> None:
    """They are unchanged in the table of texts, in SQL and in exports."""
    catalog = prodex.open_snapshot("shop")
    texts = catalog.texts.query("attribute == 'description' and language == 'fr'")["text"]
    assert {CANARY} == set(texts)
    found = catalog.sql("select count(*) as n from texts where text like '=HYPERLINK%'")
    assert len(texts) == int(found["n"][0])
    assert CANARY in set(catalog.wide("fr")["description"])
    assert ["3"] == catalog.where(product_id="3").products["product_id"].tolist()


def test_what_is_not_there_is_listed(kept: Kept) -> None:
    """An incomplete snapshot still reports that it is incomplete, and why."""
    partial = prodex.open_snapshot("partial")
    assert not partial.complete
    # The descriptions of some products are bare texts and numbers.
    assert ["pull/0", "listing/0", "description"] == partial.problems["what"].tolist()
    assert "INCOMPLETE" in repr(partial).upper()


def test_two_snapshots_are_compared(kept: Kept) -> None:
    """What the refresh brought is what differs: 30 products with another name, and a new one."""
    old, new = (prodex.open_snapshot(folder) for folder in prodex.list_snapshots("shop")["folder"])
    difference = prodex.diff(old, new)
    counted = difference.summary.set_index("change")["products"]
    assert (1, 30, 0) == (counted["added"], counted["changed"], counted["removed"])
    assert set(range(1, 31)) == {int(product) for product in difference.changes["product_id"]}


def test_a_snapshot_is_refreshed(exchange: Sandbox, loaded: Kept) -> None:
    """From the older one of the two onward: what changed since is fetched, and nothing else is written."""
    exchange.change([*loaded.changes, {**loaded.products[50], "namePublicLong": [{"data": "neu"}]}])
    fresh = prodex.refresh("shop", connected(exchange), progress=False)
    assert (True, [*EVERYTHING, TOTAL + 1]) == (fresh.complete, contents(fresh))
    assert ("Autre 7", "neu", "Produit 60") == tuple(_names(fresh)[number] for number in (7, 51, 60))
    assert bool(prodex.verify("shop")["ok"].all())


@pytest.mark.slow
def test_an_incomplete_snapshot_is_made_whole_by_a_refresh(exchange: Sandbox, loaded: Kept) -> None:
    """What was missing is found by the listing of all keys."""
    fresh = prodex.refresh("partial", connected(exchange), progress=False)
    assert (True, EVERYTHING) == (fresh.complete, contents(fresh))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "way"), [*WAYS.items(), ("half-offset", "scroll"), ("half-scrolled", "offset")]
)
def test_an_interrupted_load_goes_on(
    exchange: Sandbox, loaded: Kept, monkeypatch: pytest.MonkeyPatch, name: str, way: str
) -> None:
    """All products come, and what had come is kept, also of pages by offset, which may have moved and come again."""
    paged(way, monkeypatch)
    journal = LoadJournal.open(loaded.journals()[name])
    assert journal is not None
    # The cursor has expired since; windows and offset pages go on where they were.
    had_come = sum(len(entry.keys) for entry in journal.entries()) if name == "half-scrolled" else 0
    begin = len(exchange.requests)
    windows = 1 if name == "half-windows" else 0
    catalog = prodex.load_products(
        connected(exchange), name=name, page_size=PAGE, windows=windows, max_age=0, progress=False
    )
    assert (True, EVERYTHING) == (catalog.complete, contents(catalog))
    assert TOTAL + had_come <= catalog.origin.ledger.received
    assert {"filter_source_include": ["uuid"], "limit": 1} != asked(exchange, begin)[0]
    assert name not in loaded.journals()


@pytest.mark.slow
def test_what_had_come_by_offset_is_held_until_it_is_known_to_have_gone(
    exchange: Sandbox, loaded: Kept
) -> None:
    """The service does not give it again: it is asked for by itself, and is counted as gone, not forgotten."""
    exchange.remove([3])
    catalog = prodex.load_products(
        connected(exchange), name="half-offset", page_size=PAGE, windows=0, max_age=0, progress=False
    )
    assert catalog.complete
    assert 1 == catalog.origin.ledger.gone
    assert [number for number in EVERYTHING if number != 3] == contents(catalog)


@pytest.mark.slow
def test_an_interrupted_refresh_goes_on(exchange: Sandbox, loaded: Kept) -> None:
    """The changes that had come are merged, without asking for them again."""
    exchange.change(loaded.changes, moves_updated_at=False)
    begin = len(exchange.requests)
    fresh = prodex.refresh("half-refreshed", connected(exchange), progress=False)
    assert (True, [*EVERYTHING, TOTAL + 1]) == (fresh.complete, contents(fresh))
    assert "Autre 30" == _names(fresh)[30]
    assert asked(exchange, begin)[0].get("limit") != 1
    assert "half-refreshed" not in loaded.journals()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "products"), [("half-offset", 38), ("half-scrolled", 40), ("judged", 63)])
def test_what_an_interrupted_load_left_becomes_a_snapshot(kept: Kept, name: str, products: int) -> None:
    """Without the service, and only when it is allowed to be incomplete."""
    with pytest.raises(IncompleteLoad):
        prodex.recover(name)
    catalog = prodex.recover(name, allow_incomplete=True)
    assert (False, products) == (catalog.complete, len(catalog))


def test_what_windows_had_brought_becomes_a_snapshot(kept: Kept) -> None:
    """Of a window that began again only the second attempt counts, and no product stands there twice."""
    catalog = prodex.recover("half-windows", allow_incomplete=True)
    found = contents(catalog)
    assert sorted(set(found)) == found
    assert not catalog.complete


def test_a_refresh_that_was_interrupted_is_no_load(kept: Kept) -> None:
    """It is useless without its service, and is reported as a refresh."""
    with pytest.raises(SnapshotNotFound, match="of an interrupted refresh"):
        prodex.recover("half-refreshed")


def test_old_snapshots_and_journals_are_cleared_away(kept: Kept) -> None:
    """The newest snapshot stays as it is, though it shares files with the one that goes."""
    before = prodex.open_snapshot("shop").raw["json"].tolist()
    assert ["older than the newest 1"] == prodex.vacuum("shop", keep=1)["reason"].tolist()
    assert before == prodex.open_snapshot("shop").raw["json"].tolist()
    assert bool(prodex.verify("shop")["ok"].all())
    for name in kept.journals():
        prodex.vacuum(name, dry_run=True)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["parquet", "csv", "xlsx"])
def test_a_snapshot_is_written_out_also_over_an_earlier_export(kept: Kept, form: str) -> None:
    """The folder of the earlier export then holds the new one."""
    catalog = prodex.open_snapshot("saved")
    written = catalog.export(kept.folder / "export", form)
    assert all(path.is_file() for path in written)
    package = json.loads((kept.folder / "export" / "datapackage.json").read_bytes())
    assert {form} == {resource["format"] for resource in package["resources"]}


def test_an_export_of_an_earlier_version_is_read_back(kept: Kept) -> None:
    """Every table as the snapshot has it from which it was written."""
    read, saved = prodex.read_export(kept.folder / "export"), prodex.open_snapshot("saved")
    assert 2 == len(read)
    for table in set(saved.tables.index) - {"raw"}:  # which is only exported when it is asked for
        assert saved.arrow(table).equals(read.arrow(table)), table


@pytest.mark.slow
def test_audits_are_listed_opened_compared_and_reported(kept: Kept) -> None:
    """The audit that was kept knows its catalogue, although the whole folder has moved since."""
    listed = prodex.list_audits()
    assert [("ended", 1), ("saved", 2), ("shop", 67)] == list(
        zip(listed["name"], listed["products"], strict=True)
    )
    old = prodex.open_audit("shop", profile="own")
    assert (67, "own") == (len(old), old.profile)
    assert old.catalog is not None
    assert 67 == len(old.catalog)
    assert not old.failures(severity="blocker").empty
    assert not old.gaps().empty
    new = prodex.audit(prodex.open_snapshot("shop"), kept.folder / "own.toml", now=old.now)
    compared = prodex.diff(old, new)
    assert (67, 67) == (len(compared.old), len(compared.new))
    # Rules that judge otherwise have another number, and a comparison across it names both.
    is_same = old.rule_set == new.rule_set
    assert is_same == (not any(note.startswith("Rule sets differ") for note in compared.notes))
    assert not is_same or compared.changes("fixed", "newly failing").empty
    assert old.to_html(kept.folder / "report.html", trend=[old]).is_file()
    assert 2 == len(old.worklists(kept.folder / "again"))


def test_a_profile_of_ones_own_is_read(kept: Kept) -> None:
    """All its settings are read."""
    profile = Profile.read(kept.folder / "own.toml")
    assert ("own", "Our own", 250) == (profile.name, profile.title, profile.market)
    assert {"required_text[namePublicLong,fr]", "required_text[description,fr]"} <= {
        c.id for c in profile.checks
    }


@pytest.mark.slow
def test_worklists_open_and_make_room_for_new_ones(kept: Kept) -> None:
    """Workbook, CSV and Parquet have the same rows; the folder is known as ours, so that replacing it is allowed."""
    folder = kept.folder / "to_fix"
    index = pd.read_csv(folder / "index.csv")
    assert [347, 253] == index["failures"].tolist()
    for name, rows in zip(index["file"], index["failures"], strict=True):
        assert "To fix" in sheets(folder / name)
        assert rows == len(pd.read_parquet(folder / name.replace(".xlsx", ".parquet")))
        assert rows == len(pd.read_csv(folder / name.replace(".xlsx", ".csv")))
    audit = prodex.open_audit("shop")
    with pytest.raises(InputError, match="replace=True"):
        audit.worklists(folder)
    again = audit.worklists(folder, replace=True)
    assert index["failures"].tolist() == again["failures"].tolist()


@pytest.mark.slow
def test_worklists_of_then_come_back(kept: Kept) -> None:
    """They name their snapshot, owner and products, and an answer is judged as one of today is."""
    folder = kept.folder / "to_fix"
    profile = Profile.read(kept.folder / "own.toml")
    for path in sorted(folder.glob("M*.xlsx")):
        rows = pd.DataFrame(to_fix(path))
        asked = rows[rows["check"].eq("texts_without_placeholders")]["row"].head(2)
        fill(path, dict(zip(asked.astype(float).astype(int), ["Mehl aus Weizen vom Land", "?"], strict=True)))
    fix = prodex.read_worklist(folder, profile=profile)
    assert prodex.open_snapshot("shop").folder == fix.catalog.folder
    assert {"accepted": 1, "refused": 1} == dict(fix.counts), fix.answers["reason"].tolist()


def test_what_was_published_opens_and_is_published_to_again(kept: Kept) -> None:
    """Its tables are those of the snapshot; publishing the same snapshot writes nothing, another one is number 2."""
    place = kept.folder / "published"
    published, saved = prodex.open_published(place), prodex.open_snapshot("saved")
    for table in saved.tables.index:
        assert saved.arrow(table).equals(published.arrow(table)), table
    assert 1 == prodex.publish("saved", place, progress=False).number
    prodex.flatten([{"id": 7}]).save("saved")
    assert 2 == prodex.publish("saved", place, progress=False).number
    assert ["1", "3"] == prodex.open_published(place, 1).products["product_id"].tolist()


def test_what_the_explorer_kept_is_there(kept: Kept) -> None:
    """A saved view, and corrections that were not sent."""
    (view,) = saved_views()
    assert ("Bread, not ready", ("gtin", "name"), "gtin", True) == (
        view.name,
        view.columns,
        view.sorted_by,
        view.descending,
    )
    assert view == open_view(view.name)
    assert Conditions().toggled("language", "fr") == view.conditions
    draft, words = CollectedDraft().of(prodex.open_snapshot("shop"))
    assert CORRECTIONS == draft.corrections
    assert words.startswith("1 correction of 20")


@pytest.mark.slow
def test_jobs_of_then_go_on(kept: Kept, exchange: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that was interrupted does not load again; one that had ended begins anew, with the last to compare with."""
    key = exchange.credentials[0]
    monkeypatch.setenv("PRODEX_SHOP_URL", exchange.base_url)
    monkeypatch.setenv("PRODEX_SHOP_ID", key["client_id"])
    monkeypatch.setenv("PRODEX_SHOP_SECRET", key["client_secret"])
    begin = len(exchange.requests)
    resumed = prodex.run_job(kept.folder / "interrupted.toml")
    assert 0 == resumed.exit_code, resumed.steps
    assert begin == len(exchange.requests)


def test_every_line_is_written_as_it_was(kept: Kept) -> None:
    """The journals of loads and of upserts, byte for byte: whatever writes them now writes what that version wrote."""
    ledgers = [line for path in kept.home.rglob("ledger.jsonl") for line in path.read_bytes().splitlines()]
    assert 50 < len(ledgers)
    decode = msgspec.json.Decoder(Counted | PageEntry | Restarted | Noted).decode
    assert ledgers == [msgspec.json.encode(decode(line)) for line in ledgers]
    sent = [line for path in kept.tracked() for line in path.read_bytes().splitlines(keepends=True)]
    cut = [line for line in sent if not line.endswith(b"\n")]
    assert [b'{"batch": 0, "state": "se'] == cut
    for line in sent:
        if line not in cut:
            content = json.loads(line)
            del content["check"]
            assert line == append_log.sealed(content) + b"\n"
            assert content == append_log.unsealed(line.rstrip(b"\n"))


def _home_of_mill(kept: Kept) -> Sandbox:
    return _serving([], home=kept.home / "sandbox")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "organization", "status"),
    [
        (0, 1, ["CONTAINS_ERRORS", "CONTAINS_ERRORS"]),
        (1, 1, ["CONTAINS_ERRORS", "unknown", "SUCCESS"]),
        (2, 0, ["SUCCESS"]),
        (3, 1, ["unknown", "not sent"]),
        (4, 1, ["CONTAINS_ERRORS"]),
    ],
)
def test_what_was_sent_is_tracked(kept: Kept, place: int, organization: int, status: list[str]) -> None:
    """Finished, with a lost answer, killed in the middle of a line, and in progress when all stopped."""
    with _home_of_mill(kept) as sandbox:
        sent = kept.tracked(sandbox.base_url)
        for path in sent[:place] + sent[place + 1 :]:
            shutil.rmtree(path.parent)
        tracking = prodex.track(connected(sandbox, organization)).wait(progress=False)
    assert status == tracking.batches["status"].tolist()
    assert sent[place] == tracking.path
    assert all(isinstance(one, str) and len(one) == 14 for one in tracking.products["gtin"])


def test_what_a_killed_process_had_not_sent_is_sent(kept: Kept) -> None:
    """Its plan and its payloads are there; the half line is removed, and the batch that it was about stays unknown."""
    with _home_of_mill(kept) as sandbox:
        for path in kept.tracked(sandbox.base_url)[:3] + kept.tracked()[4:]:
            shutil.rmtree(path.parent)
        tracking = prodex.track(connected(sandbox, 1)).send_rest(progress=False).wait(progress=False)
    assert "unknown" == tracking.batches["status"][0]
    assert "not sent" not in tracking.batches["status"].tolist()


def test_the_store_of_a_sandbox_opens_with_what_was_written_into_it(kept: Kept) -> None:
    """Its products, what the shop wrote over one of them, and its imports; and it takes more."""
    with _home_of_mill(kept) as sandbox:
        shop, mill = connected(sandbox), connected(sandbox, 1)
        catalog = prodex.load_products(shop, progress=False)
        assert 8 == len(catalog)
        assert "À nous" == _names(catalog)[7]
        assert "CONTAINS_ERRORS" == mill.track(1)["status"]
        record = {"gtin": gtin(8), "namePublicLong": [{"expressedIn": {"code": "fra-FR"}, "data": "Encore"}]}
        assert "SUCCESS" == prodex.upsert(mill, [record], progress=False).wait(progress=False).status
        assert "Encore" == _names(prodex.load_products(shop, max_age=0, progress=False))[8]


def test_pictures_that_are_there_are_not_fetched_again(kept: Kept) -> None:
    """The index tells whose they are; what was damaged or did not come is tried again, here in vain."""
    folder = kept.folder / "pictures"
    records = json.loads((folder / "records.json").read_bytes())
    before = {path.name: path.read_bytes() for path in folder.glob("*.jpg")}
    for record in records[2:]:
        record["assets"]["pictures"][0]["url"] = "file:///3.jpg"
    pictures = prodex.download_pictures(prodex.flatten(records), folder, progress=False)
    assert ["already there", "already there", "failed", "failed"] == pictures.files["state"].tolist()
    assert before == {path.name: path.read_bytes() for path in folder.glob("*.jpg")}


def test_a_copy_of_a_snapshot_opens_from_wherever_it_is(kept: Kept, tmp_path: Path) -> None:
    """A copy is opened by its folder."""
    folder = prodex.list_snapshots("saved")["folder"].iloc[0]
    shutil.copytree(folder, tmp_path / "elsewhere")
    assert ["1", "3"] == prodex.open_snapshot(tmp_path / "elsewhere").products["product_id"].tolist()
