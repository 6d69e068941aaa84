"""Work side by side: in order, few at a time, and over as soon as somebody stops it."""

from __future__ import annotations

from collections.abc import Iterator
from os import cpu_count
from threading import Barrier, Event, Thread, get_ident

import pytest

from prodex.executors import side_by_side, use_half_the_cores
from tests.cases import each_row

CORES = cpu_count() or 1


def test_results_come_in_the_order_of_the_items() -> None:
    """Whichever is done first, and however many there are."""
    first_is_slow = Event()

    def work(number: int) -> int:
        if number == 1:
            first_is_slow.set()
        if number == 0 and CORES > 1:
            first_is_slow.wait(timeout=30)
        return number * 2

    assert [0, 2, 4, 6, 8, 10, 12] == list(side_by_side(work, range(7)))
    assert [] == list(side_by_side(work, []))


def test_items_are_taken_as_they_are_worked_on() -> None:
    """A million items may be large: no more are taken than threads, and one that waits for a thread."""
    taken: list[int] = []

    def items() -> Iterator[int]:
        for number in range(1_000_000):
            taken.append(number)
            yield number

    results = side_by_side(str, items())

    assert ["0", "1", "2"] == [next(results) for _ in range(3)]
    assert len(taken) <= 3 + CORES + 1
    results.close()
    assert len(taken) <= 3 + CORES + 1


def test_an_error_ends_it_where_it_happened() -> None:
    """Earlier results have come, and nothing after those that were under way is begun."""
    begun: list[int] = []

    def work(number: int) -> int:
        begun.append(number)
        if number == 3:
            raise ValueError("the fourth is damaged")
        return number

    results = side_by_side(work, range(1_000))

    assert [0, 1, 2] == [next(results) for _ in range(3)]
    with pytest.raises(ValueError, match="the fourth"):
        next(results)
    assert max(begun) <= 3 + CORES + 1
    assert [] == list(results)


@each_row(("cores", "left"), [(8, 4), (3, 2), (1, 1)])
def test_who_has_stepped_back_takes_half_of_the_processors(
    monkeypatch: pytest.MonkeyPatch, cores: int, left: int
) -> None:
    """Other threads still take all of them."""
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    found: list[int] = []

    def count(threads: int) -> None:
        meet = Barrier(threads)  # of fewer threads none would go on

        def work(_: int) -> int:
            meet.wait(timeout=30)
            return get_ident()

        found.append(len(set(side_by_side(work, range(threads * 3)))))

    def patient() -> None:
        use_half_the_cores()
        count(left)

    thread = Thread(target=patient)
    thread.start()
    thread.join()
    count(cores)
    assert [left, cores] == found
