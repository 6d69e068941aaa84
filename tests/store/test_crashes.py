"""The disk of the stories loses what was not synced, and nothing else: else they would prove nothing."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest
from tests.cases import each_row
from tests.store.crashes import Disk

import prodex

pytestmark = pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="needs a tmpfs, as Linux has one")


@pytest.fixture
def place() -> Iterator[Path]:
    """Give a folder on a tmpfs."""
    folder = Path(tempfile.mkdtemp(prefix="prodex-crash-", dir="/dev/shm"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def synced(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    os.fsync(handle)
    os.close(handle)


def outcomes(place: Path, work: Callable[[], None], *, power: bool = True) -> set[str]:
    """Return what may be in the file `a` after the work was done and a crash came."""
    found = set()
    for seed in range(40):
        shutil.rmtree(place)
        place.mkdir()
        (place / "a").write_text("old")
        disk = Disk(place)
        with disk.traced():
            assert disk.crash_during(work, 1000, Random(seed), power=power)
        found.add((place / "a").read_text() if (place / "a").exists() else "nothing")
    return found


@each_row(
    ("content", "name", "expected"),
    [(True, True, {"new"}), (True, False, {"old", "new"}), (False, True, {"", "n", "ne", "new", "\0\0\0"})],
)
def test_what_was_not_synced_may_be_lost(content: bool, name: bool, expected: set[str], place: Path) -> None:
    """The content of a file without its sync, its new name without that of its folder."""

    def work() -> None:
        (place / "b").write_text("new")
        if content:
            synced(place / "b")
        (place / "b").replace(place / "a")
        if name:
            synced(place)

    assert expected >= (found := outcomes(place, work))
    assert len(expected) == 1 or len(found) > 1
    assert {"new"} == outcomes(place, work, power=False)


@contextmanager
def without_folders_of_new() -> Iterator[None]:
    """Sync no folder of what is still written beside its place."""
    sync = os.fsync

    def without(handle: int) -> None:
        path = Path(f"/proc/self/fd/{handle}").readlink()
        if not (path.is_dir() and any(name.endswith(".part") for name in path.parts)):
            sync(handle)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", without)
        yield


@pytest.mark.slow
def test_a_save_without_its_syncs_would_be_found(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If no folder of a new snapshot was synced, a crash soon after it was reported as saved would show that."""
    monkeypatch.setenv("PRODEX_HOME", str(place / "home"))
    disk = Disk(place)
    lost = 0
    for seed in range(10):
        with disk.traced(), without_folders_of_new():
            disk.crash_during(
                lambda: prodex.flatten([{"id": 1}]).save("shop"), 10**6, Random(seed), power=True
            )
        try:
            lost += not prodex.verify("shop")["ok"].all()
        except prodex.ProdexError:
            lost += 1
    assert lost
