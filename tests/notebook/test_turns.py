"""Work in the background lets answers through, and leaves everything as it was when it ends."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from prodex.executors import side_by_side
from prodex.notebook.session.jobs import Work, short_switch_interval
from prodex.progress import Reporter


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
    turns, ends = list[float](), list[object]()

    def do(_: Reporter) -> None:
        turns.append(sys.getswitchinterval())
        if fails:
            raise ValueError

    work = Work(do, ends.append, ends.append)
    work.start()
    work.wait()
    assert 1 == len(ends)
    assert [True] == [turn < usual / 5 for turn in turns]
    assert usual == sys.getswitchinterval()


def test_turns_stay_short_until_the_last_work_has_ended(usual: float) -> None:
    """Of two pieces of work, the one that began first may end first."""
    first, second = short_switch_interval(), short_switch_interval()
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
    with short_switch_interval():
        assert own == sys.getswitchinterval()
    assert own == sys.getswitchinterval()
    with short_switch_interval():
        sys.setswitchinterval(0.02)
    assert 0.02 == pytest.approx(sys.getswitchinterval())


def _called(function: Callable[[int], int], argument: int, _: Reporter) -> int:
    return function(argument)


def test_patient_work_leaves_half_of_the_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other work takes all of them, and so does the thread that called it."""
    monkeypatch.setattr("os.cpu_count", lambda: 8)

    def threads(expected: int) -> int:
        meet = threading.Barrier(expected)  # of fewer threads none would go on

        def work(_: int) -> int:
            meet.wait(timeout=30)
            return threading.get_ident()

        return len(set(side_by_side(work, range(expected * 3))))

    found: list[int] = []
    for is_patient, expected in ((True, 4), (False, 8)):
        runner = Work(partial(_called, threads, expected), found.append, print, is_patient=is_patient)
        runner.start()
        runner.wait()
    assert [4, 8] == found
    assert 8 == threads(8)
