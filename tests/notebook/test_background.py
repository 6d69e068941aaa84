"""Work beside a widget is handed over in the event loop that asked, also while somebody waits in it."""

from __future__ import annotations

import asyncio
import threading

import pytest

from prodex.notebook.background import Newest


def test_who_waits_in_the_event_loop_gets_the_result() -> None:
    """A cell of a notebook may wait: it is the loop itself that waits, so the result is taken over meanwhile."""
    found: list[tuple[int, threading.Thread]] = []
    work = Newest(lambda number: number + 1, lambda n: found.append((n, threading.current_thread())), print)

    async def cell() -> None:
        work(1)
        work.wait(10)
        assert [2] == [number for number, _ in found]
        await asyncio.sleep(0)  # what the loop was told besides must not take it over again

    asyncio.run(cell())
    assert [(2, threading.main_thread())] == found


def test_the_loop_takes_results_over_itself() -> None:
    """Nobody has to wait: the loop goes on, and takes the result over when it is there."""
    found: list[int] = []

    async def cell() -> None:
        there = asyncio.Event()
        work = Newest(lambda: 7, lambda number: (found.append(number), there.set()), print)
        work()
        assert [] == found
        await asyncio.wait_for(there.wait(), 10)
        assert not work.is_busy()

    asyncio.run(cell())
    assert [7] == found


def test_waiting_ends() -> None:
    """Work that takes longer than somebody wants to wait is an error."""
    stop = threading.Event()
    work = Newest(stop.wait, print, print)
    work()
    with pytest.raises(TimeoutError, match=r"after 0\.05 seconds"):
        work.wait(0.05)
    stop.set()
    work.wait(10)
