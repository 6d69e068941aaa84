"""Vacuum removes what is old or left over, whole or not at all, and never the newest good snapshot."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.cases import each_row
from typer.testing import CliRunner

import prodex
from prodex.cli import app
from prodex.errors import QueryError, SettingsError, SnapshotLocked, SnapshotNotFound, StorageError
from prodex.files.lock import locked
from prodex.store.merge import merge_parts
from prodex.store.merge_plan import plan_merge
from prodex.store.parts import StoredPart
from prodex.store.publish import publish_parts
from prodex.store.snapshot import stored_parts


def snapshots(count: int, name: str = "shop") -> list[Path]:
    """Save so many snapshots of a name, each of another product; return their folders."""
    saved = [prodex.flatten([{"id": number}]).save(name).folder for number in range(count)]
    return [folder for folder in saved if folder is not None]


def there(folders: Sequence[Path]) -> list[int]:
    """Return which of the folders are there."""
    return [number for number, folder in enumerate(folders) if folder.exists()]


def edited(folder: Path, **ledger: int) -> None:
    """Make a snapshot an incomplete one."""
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    manifest["origin"]["ledger"] |= ledger
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")


def sizes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


@pytest.mark.slow
def test_only_the_newest_stay() -> None:
    """As many as asked for; what was removed is told, oldest first, and other names are left alone."""
    folders, other = snapshots(5), snapshots(2, "other")
    expected = [(folder.name, 1, sizes(folder), "older than the newest 3") for folder in folders[:2]]

    removed = prodex.vacuum("shop")

    assert ["name", "time", "products", "bytes_freed", "reason"] == list(removed)
    assert expected == list(removed.drop(columns="name").itertuples(index=False, name=None))
    assert ([2, 3, 4], [0, 1]) == (there(folders), there(other))
    assert ["4"] == prodex.open_snapshot("shop").products["product_id"].tolist()
    assert prodex.vacuum("shop").empty


def test_a_dry_run_says_the_same_and_removes_nothing() -> None:
    """A dry run returns the same rows."""
    folders = snapshots(3)

    said = prodex.vacuum("shop", keep=1, dry_run=True)

    assert [0, 1, 2] == there(folders)
    assert said.equals(prodex.vacuum("shop", keep=1))
    assert [2] == there(folders)


@pytest.mark.slow
@each_row("harm", ["incomplete", "changed", "missing", "no manifest"])
def test_the_newest_good_snapshot_stays_behind_worse_ones(harm: str) -> None:
    """Newer ones that are incomplete or damaged do not count as what one can fall back to."""
    folders = snapshots(5)
    for folder in folders[-2:]:
        path = folder / "raw" / "part-00000.parquet"
        match harm:
            case "incomplete":
                edited(folder, announced=7)
            case "changed":
                content = path.read_bytes()
                path.write_bytes(content[:60] + b"\0\0\0\0" + content[64:])
            case "missing":
                path.unlink()
            case "no manifest":
                (folder / "manifest.json").write_text("{")

    prodex.vacuum("shop", keep=2)

    assert [2, 3, 4] == there(folders)


def test_what_nobody_can_date_takes_nobodys_place() -> None:
    """A folder of next century without a readable manifest may be old: as many others stay as were asked for."""
    folders = snapshots(3)
    undated = folders[2].rename(folders[2].with_name("2199-01-01T000000.000000Z"))
    (undated / "manifest.json").write_text("{", "utf-8")

    assert not len(prodex.vacuum("shop", keep=2))
    assert ([0, 1], True) == (there(folders), undated.exists())


def test_a_copy_takes_nobodys_place_and_stays() -> None:
    """What a program that keeps folders alike has copied is not ours: as many snapshots stay as were asked for."""
    folders = snapshots(3)
    copy = shutil.copytree(folders[2], folders[2].with_name(f"{folders[2].name} (1)"))

    assert [folders[0].name] == prodex.vacuum("shop", keep=2)["time"].tolist()
    assert ([1, 2], True) == (there(folders), copy.exists())


def test_a_damaged_snapshot_that_is_old_goes_too() -> None:
    """How many products it had is not known."""
    folders = snapshots(2)
    (folders[0] / "manifest.json").write_text("{")

    removed = prodex.vacuum("shop", keep=1)

    assert removed["products"].isna().tolist() == [True]
    assert [1] == there(folders)


def test_a_file_that_a_kept_snapshot_shares_frees_nothing() -> None:
    """Of a file that only removed snapshots share, the last one frees the bytes."""
    (folder,) = snapshots(1)

    def write(beside: Path) -> list[StoredPart]:
        unchanged = plan_merge([["0"]], {}).parts
        return list(merge_parts(stored_parts(folder), folder, beside, unchanged, beside))

    origin = prodex.open_snapshot(folder).origin
    folders = [
        folder,
        *(f for _ in range(2) if (f := publish_parts("shop", origin, write).folder)),
        *snapshots(1),
    ]
    # Each has a manifest and a seal of its own.
    manifests = [sum((one / name).stat().st_size for name in ("manifest.json", "seal")) for one in folders]
    tables = sizes(folder) - manifests[0]

    two = prodex.vacuum("shop", keep=2, dry_run=True)
    three = prodex.vacuum("shop", keep=1)

    assert manifests[:2] == two["bytes_freed"].tolist()
    assert [*manifests[:2], manifests[2] + tables] == three["bytes_freed"].tolist()
    assert [3] == there(folders)


def test_what_killed_processes_left_goes(home: Path) -> None:
    """Half-written folders; what a living process is writing stays."""
    snapshots(1)
    folder = home / "snapshots" / "shop"
    dead, alive = (folder / f".2030-01-01T000000.000000Z.{pid}.part" for pid in (2**22 + 1, os.getppid()))
    for one in (dead, alive):
        one.mkdir()
        (one / "file").write_text("1234567")

    removed = prodex.vacuum("shop")

    assert [(True, 7, "half-written by a process that is gone")] == [
        (pd.isna(row.products), row.bytes_freed, row.reason) for row in removed.itertuples()
    ]
    assert (False, True) == (dead.exists(), alive.exists())


def test_journals_that_nobody_took_up_again_go(home: Path) -> None:
    """A day after the last page; whichever file of the journal was written last."""
    snapshots(1)
    now = time.time()
    journals = {}
    for name, hours in (("old", (30, 25)), ("new", (30, 23)), ("empty", ())):
        journals[name] = home / "snapshots" / "shop" / f".journal-{name}"
        journals[name].mkdir()
        for number, age in enumerate(hours):
            page = journals[name] / f"page-{number}"
            page.write_text("1234567")
            os.utime(page, (now - age * 3600, now - age * 3600))

    removed = prodex.vacuum("shop")

    assert [14] == removed["bytes_freed"].tolist()
    assert "journal of a load that was interrupted" in removed["reason"][0]
    assert ["empty", "new"] == sorted(name for name, path in journals.items() if path.exists())


def test_nothing_is_removed_while_somebody_loads(home: Path) -> None:
    """The load may be about to link, or to resume; its owner is named."""
    folders = snapshots(2)

    with (
        locked(home / "snapshots" / "shop", "loading 'shop'"),
        pytest.raises(SnapshotLocked, match="loading 'shop' since"),
    ):
        prodex.vacuum("shop", keep=1)
    assert [0, 1] == there(folders)


_KILLED = """
import os, shutil, sys
import prodex

shutil.rmtree = lambda path, **options: os._exit(9)  # the process ends in the middle of deleting
prodex.vacuum("shop", keep=1)
"""


@pytest.mark.slow
def test_an_interrupted_vacuum_leaves_no_half_snapshot(home: Path) -> None:
    """A snapshot whose removal began is not listed, and the next vacuum removes it."""
    folders = snapshots(3)

    ended = subprocess.run([sys.executable, "-c", _KILLED], env={**os.environ}, check=False)

    assert 9 == ended.returncode
    assert [1, 2] == there(folders)
    assert [1, 1] == prodex.list_snapshots("shop")["products"].tolist()
    assert all(prodex.verify(folder)["ok"].all() for folder in folders[1:])
    reasons = prodex.vacuum("shop", keep=1)["reason"].tolist()
    assert ["older than the newest 1", "half-written by a process that is gone"] == reasons
    assert [folders[2].name] == [path.name for path in (home / "snapshots" / "shop").iterdir()]


def test_a_disk_that_refuses_is_a_typed_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """The snapshot is still whole afterwards."""
    folders = snapshots(2)

    def refuse(self: Path, target: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", refuse)
        with pytest.raises(StorageError, match="Permission denied"):
            prodex.vacuum("shop", keep=1)
    assert bool(prodex.verify(folders[0])["ok"].all())


@each_row("keep", [0, -1, True, 1.5, "3"])
def test_keeping_none_is_refused(keep: Any) -> None:
    """A typing error must not delete all snapshots."""
    folders = snapshots(1)

    with pytest.raises(QueryError, match="Keep at least one snapshot"):
        prodex.vacuum("shop", keep=keep)
    assert [0] == there(folders)


def test_names_are_taken_literally(home: Path) -> None:
    """Neither a pattern nor a path cleans up elsewhere, and a name that is not there makes no folder."""
    folders = snapshots(4)

    for name in ("*", "..", "sh*", str(folders[0])):
        with pytest.raises(SettingsError):
            prodex.vacuum(name, keep=1)
    with pytest.raises(SnapshotNotFound, match="nothing of 'shopp'"):
        prodex.vacuum("shopp")
    assert ["shop"] == [path.name for path in (home / "snapshots").iterdir()]
    assert [0, 1, 2, 3] == there(folders)


@pytest.mark.slow
def test_the_command_says_what_it_removed() -> None:
    """It prints the same table as a dry run, with the bytes freed."""
    folders = snapshots(3)
    freed = sizes(folders[0]) + sizes(folders[1])

    tried = CliRunner().invoke(app, ["vacuum", "shop", "--keep", "1", "--dry-run"])
    assert (0, [0, 1, 2]) == (tried.exit_code, there(folders))
    done = CliRunner().invoke(app, ["vacuum", "shop", "--keep", "1"])
    assert (0, [2]) == (done.exit_code, there(folders))

    assert f"2 would be removed and would free {freed:,} bytes" == tried.stdout.splitlines()[-1]
    assert f"2 removed, which freed {freed:,} bytes" == done.stdout.splitlines()[-1]
    assert tried.stdout.splitlines()[:-1] == done.stdout.splitlines()[:-1]
    shown = CliRunner().invoke(app, ["vacuum", "shop", "--format", "json"])
    assert [] == json.loads(shown.stdout)
