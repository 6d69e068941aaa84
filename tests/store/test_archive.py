"""The archive: what is kept by name and time, whatever it is; snapshots and audits use it."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.cases import each_row

from prodex.errors import SettingsError, SnapshotDamaged
from prodex.files.atomic import writing_folder
from prodex.store.archive import MANIFEST, Archive, is_entry, new_entry, snapshots_folder

PLAIN = Archive("thing", "Make it again.")
BELOW = Archive("thing", "Make it again.", below="things")


class Content(msgspec.Struct):
    """What a thing's manifest says."""

    size: int


def keep(archive: Archive, name: str, day: int, size: int = 1) -> Path:
    """Keep a thing of a day."""
    folder = new_entry(archive.folder(name), datetime(2026, 11, day, tzinfo=UTC))
    with writing_folder(folder) as beside:
        archive.write_manifest(beside, {"size": size})
    return folder


def size_of(archive: Archive, folder: Path) -> int:
    """Read the size back; a negative one is refused."""

    def checked(content: Content) -> int:
        if content.size < 0:
            raise ValueError("its size is negative")
        return content.size

    return archive.read_manifest(folder, Content, checked)


@pytest.mark.parametrize("archive", [PLAIN, BELOW], ids=["plain", "below"])
def test_a_value_is_found_by_name_and_by_a_part_of_its_time(archive: Archive) -> None:
    """The newest comes last; a day, a month or a year stands for all of it, and "2026-11-1" for nothing."""
    folders = [keep(archive, "shop", day) for day in (13, 12, 2)]
    keep(archive, "other", 14)

    assert sorted(folders) == archive.of("shop") == archive.matching("shop")
    assert sorted(folders) == archive.matching("shop@2026-11") == archive.matching("shop@2026")
    assert (
        []
        == archive.matching("shop@2026-11-1")
        == archive.matching("shop@2026-1")
        == archive.matching("shop@2")
    )
    assert [folders[0]] == archive.matching("shop@2026-11-13")
    assert [] == archive.matching("shop@2025")
    assert ["other", "shop", "shop", "shop"] == [archive.name_of(folder) for folder in archive.every()]


def test_two_archives_of_one_name_do_not_see_each_other() -> None:
    """A folder of audits beside the snapshots of a name is no snapshot."""
    plain, below = keep(PLAIN, "shop", 12), keep(BELOW, "shop", 13)

    assert ([plain], [below]) == (PLAIN.of("shop"), BELOW.of("shop"))


def test_what_is_half_written_is_neither_listed_nor_found() -> None:
    """A folder without a manifest, one that is hidden, and one whose name is no time."""
    whole = keep(PLAIN, "shop", 12)
    for name in ("2026-11-13T000000.000000Z", ".2026-11-14T000000.000000Z.1.part", "notes"):
        (whole.parent / name).mkdir()
    (whole.parent / "notes" / MANIFEST).write_text("{}")

    assert [whole] == PLAIN.of("shop")
    assert [is_entry(whole), is_entry(whole.parent), is_entry(Path("x" * 5_000))] == [True, False, False]


@each_row("name", ["../shop", "", ".", "shop@2026", "a/b"])
def test_a_name_that_cannot_be_a_folder_is_never_looked_up(name: str) -> None:
    """Reading finds nothing under it, and writing refuses it."""
    keep(PLAIN, "shop", 12)

    assert [] == PLAIN.of(name)
    with pytest.raises(SettingsError):
        PLAIN.folder(name)


@each_row(
    ("content", "message"),
    [
        ('{"format": 1, "size": "much"}', "cannot be read"),
        ('{"format": 1, "size": -1}', "its size is negative"),
        ('{"format": "1", "size": 1}', "cannot be read"),
        ("[" * 100_000, "cannot be read"),
        ("", "cannot be read"),
    ],
)
def test_a_manifest_that_cannot_be_used_is_refused_and_listed_with_the_reason(
    content: str, message: str
) -> None:
    """The error names the file and says what to do; a listing goes on with the others."""
    good, bad = keep(PLAIN, "shop", 12, 7), keep(PLAIN, "shop", 13)
    (bad / MANIFEST).write_text(content)

    with pytest.raises(SnapshotDamaged, match=message):
        size_of(PLAIN, bad)
    rows: list[dict[str, Any]] = PLAIN.listing("*", lambda folder: {"size": size_of(PLAIN, folder)})
    assert [(str(good), 7, ""), (str(bad), None, True)] == [
        (row["folder"], row.get("size"), message in row["note"] or row["note"]) for row in rows
    ]


def test_a_name_that_is_not_there_is_refused_with_the_nearest_one() -> None:
    """Where the name is there and the time is not, the times are named."""
    folder = keep(BELOW, "shop", 12)

    assert "did you mean 'shop'" in str(BELOW.not_found("shpo", "snapshots"))
    assert folder.name in str(BELOW.not_found("shop@2025", "snapshots"))
    assert str(snapshots_folder()) in str(BELOW.not_found("x", "snapshots", " by profile 'core'"))


def test_a_copy_beside_a_value_is_listed_and_takes_no_place() -> None:
    """A program that keeps folders alike calls it by more than its time; the newest is the value itself."""
    first, last = keep(PLAIN, "shop", 12), keep(PLAIN, "shop", 13)
    copies = [shutil.copytree(last, last.with_name(f"{last.name}{more}")) for more in (" (1)", " - Copy")]

    assert [first, last] == PLAIN.of("shop") == PLAIN.matching("shop@2026-11")
    notes = {row["folder"]: row["note"] for row in PLAIN.listing("*", lambda _: {})}
    assert {""} == {notes[str(first)], notes[str(last)]}
    assert ["not called by a time alone" in notes[str(copy)] for copy in copies] == [True, True]


@each_row("below", ["", "things"])
def test_a_value_that_was_copied_in_part_is_listed(below: str) -> None:
    """Without its manifest it is no value, and whoever lists them hears why an earlier one is the newest."""
    archive = Archive("thing", "Make it again.", below=below)
    first, last = keep(archive, "shop", 12), keep(archive, "shop", 13)
    (last / MANIFEST).unlink()

    assert [first] == archive.of("shop")
    (stray,) = [row for row in archive.listing("shop", lambda _: {}) if row["note"]]
    assert (last.name, None) == (stray["time"], stray["sequence"])
    assert "copied or deleted in part" in stray["note"]


def test_a_folder_whose_name_can_be_none_is_opened_by_its_path() -> None:
    """What looks for "shop (1)" is not asked whether it means "shop (1)"."""
    whole = keep(PLAIN, "shop", 12)
    copied = shutil.copytree(whole.parent, whole.parent.with_name("shop (1)"))

    message = str(PLAIN.not_found("shop (1)", "things"))
    assert (True, False) == (str(copied / whole.name) in message, "did you mean" in message)
    assert "The things are: shop." in str(PLAIN.not_found("other", "things"))
