"""Work in the background lets answers through, and leaves everything as it was when it ends."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from prodex.notebook.background import LatestTask
from prodex.notebook.turns import short_turns


@pytest.fixture(autouse=True)
def usual() -> Iterator[float]:
    """Set the length of a turn to what Python begins with, and back after the test."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(0.005)
    yield sys.getswitchinterval()
    sys.setswitchinterval(before)


@pytest.mark.parametrize("fails", [False, True])
def test_turns_are_short_while_something_works(usual: float, fails: bool) -> None:
    """They are as long as before when the work has ended, also with an error."""
    turns, ends = [], []

    def work() -> None:
        turns.append(sys.getswitchinterval())
        if fails:
            raise ValueError

    task = LatestTask(work, ends.append, ends.append)
    task()
    task.wait()
    assert 1 == len(ends)
    assert [True] == [turn < usual / 5 for turn in turns]
    assert usual == sys.getswitchinterval()


def test_turns_stay_short_until_the_last_work_has_ended(usual: float) -> None:
    """Of two pieces of work, the one that began first may end first."""
    first, second = short_turns(), short_turns()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert sys.getswitchinterval() < usual
    second.__exit__(None, None, None)
    assert usual == sys.getswitchinterval()


def test_somebody_elses_turns_stay_theirs() -> None:
    """Who has shorter turns keeps them, and who chooses another length meanwhile has it afterwards."""
    sys.setswitchinterval(0.0001)
    own = sys.getswitchinterval()
    with short_turns():
        assert own == sys.getswitchinterval()
    assert own == sys.getswitchinterval()
    with short_turns():
        sys.setswitchinterval(0.02)
    assert 0.02 == pytest.approx(sys.getswitchinterval())


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a priority for each thread")
def test_a_patient_task_steps_back_with_all_its_threads() -> None:
    """Threads that it starts step back as well; the thread that called it, and other tasks, do not."""

    def priority() -> int:
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    def priorities() -> tuple[int, int]:
        with ThreadPoolExecutor(1) as threads:
            return priority(), threads.submit(priority).result()

    found: list[tuple[int, int]] = []
    own = priority()
    for is_patient in (True, False):
        task = LatestTask(priorities, found.append, print, is_patient=is_patient)
        task()
        task.wait()
    patient, other = found
    assert (own, own) == other
    assert own < patient[0] or own == 19
    assert patient[0] == patient[1]
    assert own == priority()
