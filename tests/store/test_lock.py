"""Law: two processes on one folder exclude each other; the lock names its owner and dies with it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.cases import each_row

from prodex.errors import SnapshotLocked, StorageError
from prodex.files.lock import locked

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
    """The file that names the owner is removed as well."""
    holder(tmp_path).communicate(timeout=10)

    with locked(tmp_path, "cleaning up"):
        assert (tmp_path / ".lock.json").is_file()
    assert not (tmp_path / ".lock.json").exists()


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
