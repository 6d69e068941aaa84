"""The order of snapshots and audits: what was published last is the newest, whatever the clock said then."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.cases import each_row
from tests.forks import forking

import prodex
from prodex import clock
from prodex.errors import SnapshotNotFound
from prodex.notebook.views.audits_before import previous
from prodex.notebook.views.saved_snapshots import snapshot_entries
from prodex.quality.archive import remove_audits
from prodex.store.archive import MANIFEST, Archive, ArchivePlace, in_order
from prodex.store.snapshot import SNAPSHOTS

NOW = datetime(2026, 11, 20, 4, tzinfo=UTC)


def saved(number: int, days: float = 0, name: str = "shop", numbered: bool = True) -> prodex.Catalog:
    """Save a snapshot of one product while the clock is days ahead of 20 November."""
    with clock.at(NOW + timedelta(days=days)):
        catalog = prodex.flatten([{"id": number}]).save(name)
    assert catalog.folder is not None
    if not numbered:
        without_number(catalog.folder)
    return catalog


def without_number(folder: Path) -> None:
    """Take the number from a manifest, as damage does."""
    edited(folder, lambda manifest: {k: v for k, v in manifest.items() if k != "sequence"})


def edited(folder: Path, change: Any) -> None:
    """Change a manifest."""
    path = folder / MANIFEST
    path.write_text(json.dumps(change(json.loads(path.read_text("utf-8")))), "utf-8")


def newest(name: str = "shop") -> int:
    """Return the product of the snapshot that a name means."""
    return int(prodex.open_snapshot(name).products["product_id"][0])


def products(name: str = "shop") -> list[int]:
    """Return the products of all snapshots, in order."""
    return [newest(folder) for folder in prodex.list_snapshots(name)["folder"]]


@pytest.mark.slow
@pytest.mark.parametrize("days", [3, 0.2, -1, -9000])
def test_one_night_with_a_wrong_clock_hides_nothing(days: float) -> None:
    """Ahead or behind: what comes next is the newest, is listed last, and is not what a clean-up removes."""
    saved(1)
    saved(2, days)
    saved(3, 0.1)

    listed = prodex.list_snapshots("shop")
    removed = prodex.vacuum("shop", keep=1, dry_run=True)

    assert (3, [1, 2, 3]) == (newest(), products())
    assert [1, 2, 3] == listed["sequence"].tolist()
    assert listed["time"].tolist()[:2] == removed["time"].tolist()
    assert listed["folder"].tolist()[::-1] == [one.folder for one in snapshot_entries("shop")]


def test_a_time_before_an_existing_one_is_a_note() -> None:
    """Of the snapshot whose clock was set back, in words that name both times; of no other one."""
    first, ahead, after = saved(1), saved(2, 3), saved(3, 1)
    assert ahead.folder is not None

    assert () == first.origin.ledger.notes == ahead.origin.ledger.notes
    (note,) = after.origin.ledger.notes
    assert "clock was set back" in note
    assert ahead.folder.name in note
    assert f"note: {note}" in repr(prodex.open_snapshot("shop"))
    assert after.complete


def test_a_day_is_still_chosen_by_its_time() -> None:
    """The last one that was published with a time of that day."""
    for number, days in enumerate([3, 0, 3.1, 0.2, 1]):
        saved(number, days)

    assert [2, 3, 4] == [newest(f"shop@2026-11-{day}") for day in (23, 20, 21)]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone of a process cannot be changed")
@pytest.mark.parametrize(
    ("zone", "days"),
    [
        ("UTC", {"2026-11-28": "late", "2026-11-29": "early", "2026-11": "early"}),
        ("Europe/Paris", {"2026-11-28": None, "2026-11-29": "early", "2026-11": "early"}),
        ("America/New_York", {"2026-11-28": "early", "2026-11-29": None}),
        ("Pacific/Kiritimati", {"2026-11-29": "early", "2026-11-28": None, "2026": "early"}),
    ],
)
def test_a_day_is_one_of_this_machine(
    monkeypatch: pytest.MonkeyPatch, zone: str, days: Mapping[str, str | None]
) -> None:
    """Half past eleven in the evening and half past midnight by UTC; a time with its hour is meant as it is listed."""
    night = datetime(2026, 11, 28, 23, 30, tzinfo=UTC)
    for product, moment in (("late", night), ("early", night + timedelta(hours=1))):
        with clock.at(moment):
            saved = prodex.flatten([{"id": product}]).save("shop")
            prodex.audit(saved, {"checks": {"valid_gtin": {}}}).save()
    try:
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        for day, wanted in days.items():
            for opened in (prodex.open_snapshot, prodex.open_audit):
                if wanted is None:
                    with pytest.raises(SnapshotNotFound, match="has 2026-11-28T2330"):
                        opened(f"shop@{day}")
                    with pytest.raises(SnapshotNotFound, match="UTC, and so is 2026-11-29T01"):
                        opened("shop@2026-11-29T01")
                else:
                    assert [wanted] == opened(f"shop@{day}").products["product_id"].tolist()
        assert ["late"] == prodex.open_snapshot("shop@2026-11-28T23").products["product_id"].tolist()
        listed = prodex.list_snapshots("shop")["time"].iloc[0]
        assert ["late"] == prodex.open_snapshot(f"shop@{listed}").products["product_id"].tolist()
    finally:
        monkeypatch.undo()
        time.tzset()


def test_snapshots_that_lost_their_numbers_have_the_order_of_time() -> None:
    """The next one has a number that none of them can have had, and keeps it when others are removed."""
    for number in (1, 2, 3):
        saved(number, number, numbered=number == 1)
    saved(4, 3.5)
    assert [1, 2, 3, 4] == products()
    assert [1, None, None, 4] == [number for _, number in SNAPSHOTS.numbered("shop")]

    prodex.vacuum("shop", keep=2)

    assert [3, 4] == products()
    assert 4 == prodex.list_snapshots("shop")["sequence"].iloc[-1]


THINGS = Archive("thing", "Make it again.")


def kept(number: int, days: float, name: str, numbered: bool) -> None:
    """Keep a thing, with a number or with one that was lost, while the clock is days ahead."""
    parent = THINGS.folder(name)
    with clock.at(NOW + timedelta(days=days)), THINGS.publishing(parent) as (folder, sequence, _):
        beside = parent / ".beside"
        beside.mkdir()
        THINGS.write_manifest(beside, {"thing": number}, sequence if numbered else None)
        beside.rename(folder)


def things(days: float, name: str) -> list[int]:
    """Return all things in order, as somebody sees them whose clock is days ahead."""
    with clock.at(NOW + timedelta(days=days)):
        return [json.loads((folder / MANIFEST).read_text("utf-8"))["thing"] for folder in THINGS.of(name)]


NAMES = itertools.count()


@example([(True, 5), (False, 0), (True, 5)])  # twice ahead of what lost its number
@given(st.lists(st.tuples(st.booleans(), st.sampled_from([0, 0, 0, 5, 0.5, -5])), min_size=1, max_size=7))
def test_numbers_say_what_is_newer_and_times_only_where_one_was_lost(
    writers: list[tuple[bool, float]],
) -> None:
    """One each day: what has a number is in the order of publication, whatever the clock said.

    What lost its number follows whatever has an earlier time, and no number is there twice.
    """
    name = f"turns-{next(NAMES)}"
    for number, (numbered, wrong) in enumerate(writers):
        kept(number, number + wrong, name, numbered)

    found = things(len(writers), name)

    assert sorted(found) == list(range(len(writers)))
    with_number = [one for one in found if writers[one][0]]
    assert sorted(with_number) == with_number
    numbers = [number for _, number in THINGS.numbered(name) if number is not None]
    assert numbers == sorted(set(numbers))
    for at, one in enumerate(found):
        if not writers[one][0]:
            own = one + writers[one][1]
            assert all(own <= later + writers[later][1] for later in found[at + 1 :] if writers[later][0])


def test_a_snapshot_that_is_restored_returns_to_its_place() -> None:
    """Its number is in its manifest."""
    old = saved(1)
    assert old.folder is not None
    saved(2, -400)
    aside = old.folder.parent.parent.parent / "aside"
    old.folder.rename(aside)
    saved(3, -399)
    aside.rename(old.folder)

    assert [1, 2, 3] == products()


def test_two_times_that_are_the_same_are_two_snapshots(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that was set back may show a moment twice."""
    monkeypatch.setattr(clock, "now", lambda: NOW)

    for number in (1, 2, 3):
        prodex.flatten([{"id": number}]).save("shop")

    assert [1, 2, 3] == products()


@pytest.mark.slow
@each_row("sequence", [2**53 - 1, 2**60, -1, "7", 1.5, None])
def test_a_number_that_somebody_wrote_into_a_manifest_stops_nobody(sequence: Any) -> None:
    """The next snapshot can be saved and opened, and everything is listed."""
    folder = saved(1).folder
    assert folder is not None
    edited(folder, lambda manifest: {**manifest, "sequence": sequence})
    saved(2, 1)
    saved(3, 2)

    assert [1, 2, 3] == products()


def test_a_manifest_that_is_damaged_is_still_refused_and_not_passed_over() -> None:
    """Of the newest nothing but its time is known then: an older one is not opened in its place."""
    saved(1)
    folder = saved(2, 1).folder
    assert folder is not None
    (folder / MANIFEST).write_text("{", "utf-8")

    with pytest.raises(prodex.errors.SnapshotDamaged):
        prodex.open_snapshot("shop")


_SEVERAL = """
for number in range(4):
    catalog = prodex.flatten([{"id": 1}]).save("shop")
    prodex.audit(catalog, {"checks": {"valid_gtin": {}}}).save()
"""


@pytest.mark.slow
def test_processes_that_publish_at_once_get_numbers_of_their_own(home: Path, tmp_path: Path) -> None:
    """Snapshots and audits, each with the next number: none is lost, and no number is there twice."""
    with (
        forking("import prodex", _SEVERAL, tmp_path / "said-1.txt") as one,
        forking("import prodex", _SEVERAL, tmp_path / "said-2.txt") as two,
    ):
        processes = [forks.start({"PRODEX_HOME": str(home)}) for forks in (one, two)]
        assert [0, 0] == [process.wait() for process in processes]

    assert list(range(1, 9)) == prodex.list_snapshots("shop")["sequence"].tolist()
    audits = prodex.list_audits()["folder"]
    numbers = [json.loads(Path(one, MANIFEST).read_text("utf-8"))["sequence"] for one in audits]
    assert list(range(1, 9)) == numbers
    assert [] == [path.name for path in (home / "snapshots" / "shop").iterdir() if path.name[0] == "."]


def test_threads_that_publish_at_once_get_numbers_of_their_own() -> None:
    """Those of one process as well."""
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(kept_by_thread, range(24)))

    assert list(range(1, 25)) == [number for _, number in THINGS.numbered("shop")]


def kept_by_thread(number: int) -> None:
    """Keep a thing in a folder of the thread's own."""
    parent = THINGS.folder("shop")
    beside = parent / f".beside-{number}"
    beside.mkdir(parents=True)
    with THINGS.publishing(parent) as (folder, sequence, _):
        THINGS.write_manifest(beside, {"thing": number}, sequence)
        beside.rename(folder)


def test_a_process_that_hangs_while_it_publishes_is_named_as_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After a while; nothing is published without a number."""
    monkeypatch.setattr("prodex.files.lock._PATIENCE", 0.1)
    saved(1)

    with (
        SNAPSHOTS.publishing(SNAPSHOTS.folder("shop")),
        pytest.raises(prodex.errors.SnapshotLocked, match=r"publishing to .*shop"),
    ):
        saved(2)

    assert [1] == products()


def audited(number: int, days: float) -> prodex.quality.Audit:
    """Save a snapshot and an audit of it while the clock is days ahead."""
    with clock.at(NOW + timedelta(days=days)):
        catalog = prodex.flatten([{"id": one} for one in range(number)]).save("shop")
        return prodex.audit(catalog, "core").save()


@pytest.mark.slow
def test_audits_and_what_is_watched_have_the_same_order() -> None:
    """The newest audit, the last before another, those that are kept, and the night of which a watch tells."""
    last = [audited(20 + number, days) for number, days in enumerate([0, 1, 5, 2, 3, 4])][-1]

    assert 25 == len(prodex.open_audit("shop"))
    assert [20, 21, 22, 23, 24, 25] == prodex.list_audits("shop")["products"].tolist()
    assert last.audited_at.date() == prodex.watch("shop").moment.date()  # type: ignore[union-attr]
    before = previous(last)
    assert before is not None
    assert 24 == len(before)

    remove_audits("shop", keep=2)

    assert [24, 25] == prodex.list_audits("shop")["products"].tolist()
    assert 6 == prodex.watch("shop").audits


def test_an_order_is_one_of_all_values() -> None:
    """Whatever they say of each other: each is in it once."""
    places = [
        ArchivePlace("2026-11-20", 2),
        ArchivePlace("2026-11-20", 2),
        ArchivePlace("2026-11-25"),
        ArchivePlace("2026-11-19"),
        ArchivePlace(""),
    ]

    assert sorted(places, key=repr) == sorted(in_order(places, lambda one: one), key=repr)
