"""Processes of our own do what they are told, and end when nobody needs them, whatever happens to either side."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor
from pathlib import Path

import pytest

from prodex.errors import SnapshotDamaged
from prodex.store import build
from prodex.store.build import BuildProcesses
from prodex.store.journal_format import read_page


@pytest.fixture(scope="module")
def two() -> Iterator[BuildProcesses]:
    """Give two processes to all tests that only have jobs for them."""
    with BuildProcesses(2) as processes:
        yield processes


@pytest.mark.slow
def test_jobs_run_elsewhere_and_their_results_come_back() -> None:
    """Each process is another one, and has several jobs, one after another."""
    with BuildProcesses(2) as processes:
        ids = {processes.submit(os.getpid).result() for _ in range(8)}
        sums = [processes.submit(sum, [number, 1]).result() for number in range(5)]

    assert os.getpid() not in ids
    assert 1 <= len(ids) <= 2
    assert [1, 2, 3, 4, 5] == sums
    assert all(map(_has_ended, ids))


@pytest.mark.slow
def test_as_many_build_as_there_are_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many products a service announces; so many are worth six processes."""
    monkeypatch.setattr(build, "cpu_count", lambda: 1)
    with build.own_executor(60_000) as processes:
        assert isinstance(processes, BuildProcesses)
        assert 1 == processes._threads._max_workers


@pytest.mark.slow
def test_errors_come_back_as_they_were_raised(two: BuildProcesses, tmp_path: Path) -> None:
    """Their type and their words are those of the job."""
    with pytest.raises(SnapshotDamaged, match="page-000001"):
        two.submit(read_page, tmp_path / "page-000001.zst").result()


@pytest.mark.slow
def test_what_a_job_prints_is_no_result(two: BuildProcesses) -> None:
    """Libraries print what they like."""
    # More than there are processes, so that one that has printed has another job.
    assert {None} == {two.submit(print, "x" * 100_000).result() for _ in range(3)}
    assert [3, 3, 3] == [two.submit(len, "abc").result() for _ in range(3)]


@pytest.mark.slow
def test_a_process_that_is_killed_costs_its_job_only() -> None:
    """Its future says so, and the next job has another process."""
    with BuildProcesses(1) as processes:
        first = processes.submit(os.getpid).result()
        job = processes.submit(time.sleep, 60)
        os.kill(first, signal.SIGKILL)
        with pytest.raises(BrokenExecutor, match="ended"):
            job.result(30)
        second = processes.submit(os.getpid).result()

    assert first != second
    assert _has_ended(second)


@pytest.mark.slow
def test_nobody_waits_for_a_job_that_is_not_wanted_any_more() -> None:
    """The end of a load that failed does not wait for parts that would take a while."""
    processes = BuildProcesses(1)
    process = processes.submit(os.getpid).result()
    job = processes.submit(time.sleep, 600)
    while not job.running():  # one that has not begun is cancelled, which is another end
        time.sleep(0.01)

    processes.shutdown(cancel_futures=True)

    assert isinstance(job.exception(30), BrokenExecutor)
    assert _has_ended(process)


@pytest.mark.slow
@pytest.mark.parametrize("can_start", [True, False])
def test_a_process_that_starts_while_all_are_ended_has_no_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, can_start: bool
) -> None:
    """Whoever interrupts a load in that moment does not wait until the part is built, in a process or without one."""
    starting, go_on, slow = (tmp_path / name for name in ("starting", "go on", "slow python"))
    end = f'exec "{sys.executable}" "$@"' if can_start else "exit 1"
    slow.write_text(
        f"#!/bin/sh\n: > '{starting}'\nwhile [ ! -e '{go_on}' ]; do sleep 0.01; done\n{end}\n", "utf-8"
    )
    slow.chmod(0o755)
    processes = BuildProcesses(1)
    os.kill(processes.submit(os.getpid).result(), signal.SIGKILL)
    assert isinstance(processes.submit(len, "abc").exception(30), BrokenExecutor)
    monkeypatch.setattr(sys, "executable", str(slow))
    job = processes.submit(time.sleep, 600)
    while not starting.exists():
        time.sleep(0.01)
    ending = threading.Thread(target=processes.shutdown, kwargs={"cancel_futures": True}, daemon=True)
    ending.start()
    while not processes._threads._shutdown:
        time.sleep(0.01)
    go_on.touch()

    ending.join(30)
    assert not ending.is_alive()
    assert isinstance(job.exception(0), BrokenExecutor)


def test_where_no_process_starts_threads_do_the_work(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An interpreter may be part of another program, or starting processes be forbidden."""
    other = tmp_path / "program"
    other.write_text("#!/bin/sh\necho hello\n")
    other.chmod(0o755)
    for executable in (str(other), str(tmp_path / "not there"), "/bin/true"):
        monkeypatch.setattr(sys, "executable", executable)
        with BuildProcesses(2) as processes:
            assert os.getpid() == processes.submit(os.getpid).result()


_SCRIPT = """
import os, signal, sys
from prodex.store.build import BuildProcesses

# Who starts the tests in the background of a shell passes on that interrupts are ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
print("the script runs", flush=True)
processes = BuildProcesses(int(sys.argv[1]))
ids = {processes.submit(os.getpid).result() for _ in range(9)}
try:
    if "wait" in sys.argv:
        import time
        processes.submit(time.sleep, 600)
    print(*ids, flush=True)
    # Python forgets an interrupt that comes while it collects garbage: from here on nothing but short waits is left.
    while "wait" in sys.argv:
        time.sleep(0.1)
finally:
    processes.shutdown(cancel_futures=True)
"""


@pytest.mark.slow
def test_an_unguarded_script_is_run_once(tmp_path: Path) -> None:
    """Nobody has to write `if __name__ == "__main__"` to load products; modules beside the script do no harm."""
    script = tmp_path / "script.py"
    script.write_text(_SCRIPT)
    (tmp_path / "pickle.py").write_text("raise SystemExit('this is not the module of that name')")

    ended = subprocess.run(
        [sys.executable, "-P", script, "1"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )

    assert (0, "") == (ended.returncode, ended.stderr)
    assert 1 == ended.stdout.count("the script runs")


@pytest.mark.slow
@pytest.mark.parametrize(("end", "count"), [(signal.SIGKILL, 2), (signal.SIGINT, 1), (signal.SIGTERM, 1)])
def test_processes_end_with_the_one_that_they_work_for(
    tmp_path: Path, end: signal.Signals, count: int
) -> None:
    """However it ends: another load may continue at once, and would write the same files."""
    script = tmp_path / "script.py"
    script.write_text(_SCRIPT)
    with subprocess.Popen(
        [sys.executable, script, str(count), "wait"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert "the script runs\n" == process.stdout.readline()
        ids = list(map(int, process.stdout.readline().split()))

        process.send_signal(end)
        try:
            process.wait(60)
        finally:
            process.kill()

    given_up = time.monotonic() + 30
    while not all(map(_has_ended, ids)):
        assert time.monotonic() < given_up, "processes are left over"
        time.sleep(0.01)


def test_a_message_that_is_cut_off_is_noticed() -> None:
    """Half a result is none."""
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as source, os.fdopen(writing, "wb") as target:
        target.write((100).to_bytes(8, "big") + b"half")
        target.close()
        with pytest.raises(EOFError, match="closed"):
            build._read_message(source)


@pytest.mark.slow
def test_processes_can_be_used_by_several_threads(two: BuildProcesses) -> None:
    """Jobs from many threads are answered each with its own result."""
    found: dict[int, int] = {}

    def ask(number: int) -> None:
        found[number] = two.submit(pow, number, 2).result()

    threads = [threading.Thread(target=ask, args=[number]) for number in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert {number: number**2 for number in range(40)} == found


def _has_ended(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    # A process whose parent was killed may wait to be collected by the system.
    status = Path(f"/proc/{process}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z"
