"""Tables that several threads ask for at once."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event, Thread

import pytest

from prodex.once_per_process import once_per_process


def test_two_threads_that_ask_at_once_have_one_table():
    """Whoever asks while a table is made waits for that table, and makes none."""
    made, asking = [], Barrier(2)

    @once_per_process
    def table(name: str) -> list[str]:
        made.append(name)
        Event().wait(0.05)  # long enough for the other thread to ask
        return [name]

    def ask(_: int) -> list[str]:
        asking.wait()
        return table("fr")

    with ThreadPoolExecutor(2) as threads:
        first, second = threads.map(ask, range(2))
    assert (first is second, made) == (True, ["fr"])


def test_a_table_is_made_of_others():
    """A table may ask for another one, and each of its arguments has one of its own."""

    @once_per_process
    def words(language: str, *, most: int = 1) -> str:
        return f"{language}{most}"

    @once_per_process
    def every() -> str:
        return words("fr") + words("nl", most=2)

    assert every() == "fr1nl2"


def test_what_failed_is_made_again():
    """An error is nobody's table: the next who asks has another try."""
    tries = []

    @once_per_process
    def table() -> int:
        tries.append(1)
        if len(tries) == 1:
            raise OSError("the disk was full")
        return 7

    with pytest.raises(OSError, match="full"):
        table()
    assert table() == 7


def test_a_table_that_is_never_ready_keeps_no_other_one(monkeypatch: pytest.MonkeyPatch):
    """A rule of somebody else may hang: other tables are made at once, and its own by whoever has waited enough."""
    making, finish = Event(), Event()
    monkeypatch.setattr("prodex.once_per_process._PATIENCE", 0.05)

    @once_per_process
    def hangs() -> int:
        if making.is_set():
            return 7
        making.set()
        finish.wait(30)
        return 1

    @once_per_process
    def other() -> int:
        return 2

    thread = Thread(target=hangs)
    thread.start()
    making.wait(30)
    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(other).result(10) == 2
        assert threads.submit(hangs).result(10) == 7
    finish.set()
    thread.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system forks no processes")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_waits_for_no_thread_of_another():
    """A process that is forked while a thread makes a table makes its own ones at once."""
    making, finish = Event(), Event()

    @once_per_process
    def slow() -> int:
        making.set()
        finish.wait(30)
        return 1

    @once_per_process
    def other() -> int:
        return 2

    thread = Thread(target=slow)
    thread.start()
    making.wait(30)
    child = os.fork()
    if child == 0:
        # In a thread, so that a lock that is never released shows as a status and not as a process that hangs.
        asking = Thread(target=other, daemon=True)
        asking.start()
        asking.join(10)
        os._exit(1 if asking.is_alive() else 0)
    _, status = os.waitpid(child, 0)
    finish.set()
    thread.join()
    assert os.waitstatus_to_exitcode(status) == 0
