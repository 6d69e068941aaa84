"""Whatever happens during a publish, readers have the last whole publication, and the next publish continues."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import prodex
from prodex.errors import ProdexError, PublicationConflict, StorageError
from tests.publishing.racing import race, schedule, snapshots
from tests.publishing.snapshots import same, shop

#: Publishes in a child for each line that it reads, and kills the child when only so many steps are left. Processes of
#: their own would spend most of the time importing.
_KILLED = """
import os, signal, sys
import prodex
import prodex.publishing
for line in sys.stdin:
    left = int(line)
    def show(done, total):
        if total - done <= left:
            os.kill(os.getpid(), signal.SIGKILL)
    child = os.fork()
    if not child:
        prodex.publish(sys.argv[2], sys.argv[1], progress=show)
        os._exit(0)
    print(os.waitpid(child, 0)[1], flush=True)
"""


@pytest.mark.slow
@pytest.mark.kills
def test_a_kill_at_any_commit_leaves_the_last_whole_publication(tmp_path: Path) -> None:
    """After some files, between two tables, and before the row that makes them visible."""
    old = shop()
    prodex.publish(old, tmp_path)
    new = shop("Riz long")

    command = [sys.executable, "-c", _KILLED, str(tmp_path), str(new.folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as killed:
        assert killed.stdin is not None
        assert killed.stdout is not None
        for left in (4, 3, 2, 1):  # two files, two tables and the pointer are five steps
            killed.stdin.write(f"{left}\n")
            killed.stdin.flush()
            assert f"{int(signal.SIGKILL)}\n" == killed.stdout.readline(), left
            assert same(old, prodex.open_published(tmp_path)), left
    published = prodex.publish(new, tmp_path)
    assert (2, 0) == (published.number, published.uploaded)
    assert same(new, prodex.open_published(tmp_path))
    assert same(old, prodex.open_published(tmp_path, at=1))


@pytest.mark.slow
@pytest.mark.kills
def test_of_two_publishers_one_wins_wherever_a_third_was_killed(tmp_path: Path) -> None:
    """First or later, killed among them or before, of one snapshot or of others, each with each of the others."""
    rounds = schedule([str(tmp_path / str(number)) for number in range(8)])
    raced = race([rounds[number] for number in (0b000, 0b011, 0b101, 0b110)], snapshots())

    assert [] == raced.problems
    assert (4, 4) == (raced.rounds, raced.kills)


@pytest.mark.slow
def test_an_interrupted_first_publish_shows_nothing_and_is_continued(tmp_path: Path) -> None:
    """What was uploaded is not uploaded again."""
    catalog = shop()

    def stop(done: int, total: int) -> None:
        if done == total - 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prodex.publish(catalog, tmp_path, progress=stop)
    with pytest.raises(prodex.errors.SnapshotNotFound):
        prodex.open_published(tmp_path)

    assert 0 == prodex.publish(catalog, tmp_path).uploaded
    assert same(catalog, prodex.open_published(tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["at the first step", "before the pointer"])
@pytest.mark.parametrize("first", [True, False], ids=["first publication", "later publication"])
def test_a_second_publisher_at_the_same_time_is_told(first: bool, moment: str, tmp_path: Path) -> None:
    """Whoever comes second is told so, and what the other published is whole."""
    if not first:
        prodex.publish(shop(), tmp_path)
    others = shop("Riz of the others")
    mine = shop("Riz that is mine")
    begun: list[prodex.publishing.Publication] = []

    def another(done: int, total: int) -> None:
        if not begun and done == (1 if moment == "at the first step" else total - 1):
            begun.append(prodex.publish(others, tmp_path))

    with pytest.raises(PublicationConflict, match="publish again"):
        prodex.publish(mine, tmp_path, progress=another)

    assert same(others, prodex.open_published(tmp_path))
    again = prodex.publish(mine, tmp_path)
    assert begun[0].number + 1 == again.number
    assert same(mine, prodex.open_published(tmp_path))
    assert same(others, prodex.open_published(tmp_path, at=begun[0].number))


def test_what_killed_processes_left_is_removed_after_a_day(tmp_path: Path) -> None:
    """Not before: the process may run on another machine."""
    (tmp_path / "texts").mkdir()
    old, young = (tmp_path / "texts" / f".part-{name}.parquet.4999999.part" for name in ("old", "young"))
    for path in (old, young):
        path.write_bytes(b"half")
    os.utime(old, (0, 0))

    prodex.publish(shop(), tmp_path)
    assert [young] == [path for path in (old, young) if path.exists()]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a file system of 2 MB, where that is allowed."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)]
    if sys.platform != "linux" or os.geteuid() or subprocess.run(mount, check=False).returncode:
        pytest.skip("only root may mount a small file system")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.slow
def test_a_disk_that_fills_leaves_what_was_published(small_disk: Path) -> None:
    """From the first byte, in the middle of the files, and in the middle of the commits."""
    old = shop()
    prodex.publish(old, small_disk)
    new = shop("Riz long")
    filler = small_disk / "filler"
    free = os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_frsize
    refused = 0
    for left in (0, 8192, 16384, 24576):
        with filler.open("wb") as file:
            file.write(b"x" * (free - left))
        try:
            prodex.publish(new, small_disk)
        except StorageError as error:
            assert "space" in str(error), left  # noqa: PT017 - whether it is enough depends on the file system
            refused += 1
            assert same(old, prodex.open_published(small_disk)), left
        filler.unlink()

    assert refused >= 2
    prodex.publish(new, small_disk)
    assert same(new, prodex.open_published(small_disk))


@pytest.mark.parametrize("what", ["a file for a folder", "a file for a table"])
def test_where_nothing_can_be_written_it_is_said(what: str, tmp_path: Path) -> None:
    """With the path and what to do; a process of root may write everywhere else."""
    place = tmp_path / "place"
    if what == "a file for a folder":
        place.write_text("mine")
    else:
        place.mkdir()
        (place / "texts").write_text("mine")

    with pytest.raises(ProdexError, match="choose another") as refused:
        prodex.publish(shop(), place)
    assert isinstance(refused.value, StorageError)
    assert ["mine"] == [path.read_text() for path in (place, place / "texts") if path.is_file()]
