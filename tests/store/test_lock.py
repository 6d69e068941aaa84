"""Law: two processes on one folder exclude each other; the lock names its owner and dies with it."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.cases import each_row

from prodex.errors import SnapshotLocked, StorageError
from prodex.files.lock import locked, publishing_lock

_HOLD = """
import sys
from pathlib import Path
from prodex.files.lock import locked

with locked(Path(sys.argv[1]), "loading 'shop'"):
    print("held", flush=True)
    sys.stdin.read()
"""

Holder = Callable[[Path], "subprocess.Popen[str]"]


@pytest.fixture
def holder() -> Iterator[Holder]:
    """Start processes that hold the lock of a folder until they are told to end."""
    started: list[subprocess.Popen[str]] = []

    def hold(folder: Path) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", _HOLD, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdout is not None
        assert "held\n" == process.stdout.readline()
        return process

    yield hold
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.slow
def test_another_process_is_kept_out_and_told_by_whom(tmp_path: Path, holder: Holder) -> None:
    """The message names the process, what it does, and since when."""
    process = holder(tmp_path)

    with (
        pytest.raises(
            SnapshotLocked, match=rf"process {process.pid} of .+ on .+, loading 'shop' since 20.+Z"
        ),
        locked(tmp_path, "cleaning up"),
    ):
        pass


@pytest.mark.slow
def test_the_lock_ends_with_the_work(tmp_path: Path, holder: Holder) -> None:
    """Its file and the one that names the owner are removed."""
    holder(tmp_path).communicate(timeout=10)

    with locked(tmp_path, "cleaning up"):
        assert (tmp_path / ".lock.json").is_file()
    assert [] == list(tmp_path.iterdir())


@pytest.mark.slow
def test_the_lock_dies_with_a_process_that_is_killed(tmp_path: Path, holder: Holder) -> None:
    """What it wrote about itself stays, and keeps nobody out."""
    process = holder(tmp_path)
    process.kill()
    process.wait()
    assert str(process.pid) in (tmp_path / ".lock.json").read_text("utf-8")

    with locked(tmp_path, "cleaning up"):
        assert str(process.pid) not in (tmp_path / ".lock.json").read_text("utf-8")


def test_a_second_thread_is_kept_out_as_well(tmp_path: Path) -> None:
    """The lock belongs to whoever entered, not to the process."""
    with (
        locked(tmp_path, "loading"),
        pytest.raises(SnapshotLocked, match="loading since"),
        locked(tmp_path, ""),
    ):
        pass


def test_locks_of_other_names_exclude_nobody(tmp_path: Path) -> None:
    """Whoever loads publishes as well, to the folder that it holds."""
    with locked(tmp_path, "loading"), publishing_lock(tmp_path):
        assert (tmp_path / ".turn.lock").is_file()


@pytest.mark.slow
@each_row("name", [".lock", "start.lock"])
def test_whoever_waits_enters_when_the_others_have_left_and_never_before(tmp_path: Path, name: str) -> None:
    """Eight threads of two rounds each, although the file of the lock is removed between them."""
    inside: list[str] = []

    def enter(number: int) -> int:
        for _ in range(2):
            with locked(tmp_path, f"visit {number}", name=name, patience=None):
                inside.append("in")
                assert 1 == len(inside)
                time.sleep(0.01)
                inside.pop()
        return number

    with ThreadPoolExecutor(8) as threads:
        assert [*range(8)] == list(threads.map(enter, range(8)))
    assert [] == list(tmp_path.iterdir())


@pytest.mark.slow
def test_whoever_waited_in_vain_reads_for_whom(tmp_path: Path, holder: Holder) -> None:
    """A wait that ends says who holds the lock, as a refusal at once does."""
    process = holder(tmp_path)

    began = time.monotonic()
    with (
        pytest.raises(SnapshotLocked, match=rf"process {process.pid} of .+, loading 'shop' since"),
        locked(tmp_path, "keeping a draft", patience=0.2),
    ):
        pass
    assert time.monotonic() - began > 0.15


@each_row("said", ["", "{", "[]", '{"process": 7}'])
def test_an_owner_that_cannot_be_read_is_another_process(tmp_path: Path, said: str) -> None:
    """The lock holds whatever stands beside it."""
    with locked(tmp_path, "loading"):
        (tmp_path / ".lock.json").write_text(said)
        with pytest.raises(SnapshotLocked, match="in use by another process"), locked(tmp_path, ""):
            pass


def test_the_lock_is_released_when_the_work_fails(tmp_path: Path) -> None:
    """The next process can then begin."""
    with pytest.raises(ZeroDivisionError), locked(tmp_path, "loading"):
        raise ZeroDivisionError
    with locked(tmp_path, "loading again"):
        pass


def test_a_folder_that_cannot_be_made_is_a_typed_error(tmp_path: Path) -> None:
    """The message says what to do."""
    (tmp_path / "file").write_text("")

    with pytest.raises(StorageError, match="PRODEX_HOME"), locked(tmp_path / "file", "loading"):
        pass
