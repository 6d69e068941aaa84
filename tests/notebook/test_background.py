"""Work beside a widget is handed over in the event loop that asked, also while somebody waits in it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import prodex
from prodex.errors import ServiceUnreachable
from prodex.notebook.app import App
from prodex.notebook.session.actions import DEEDS, task
from prodex.notebook.session.jobs import Work
from prodex.notebook.session.session import Session
from prodex.notebook.views.written_files import write_files
from prodex.progress import Reporter


def begun(
    do: Callable[..., Any], then: Callable[[Any], object], failed: Callable[..., object] = print
) -> Work[Any]:
    """Start work that reports nothing."""
    work = Work[Any](lambda _: do(), then, failed)
    work.start()
    return work


def test_who_waits_in_the_event_loop_gets_the_result() -> None:
    """A cell may wait: it blocks the event loop, so the result is delivered meanwhile."""
    found: list[tuple[int, threading.Thread]] = []

    async def cell() -> None:
        work = begun(lambda: 2, lambda n: found.append((n, threading.current_thread())))
        work.wait(10)
        assert [2] == [number for number, _ in found]
        await asyncio.sleep(0)  # what the loop was told besides must not take it over again

    asyncio.run(cell())
    assert [(2, threading.main_thread())] == found


def test_an_older_result_does_not_come_after_a_newer_one() -> None:
    """Also without an event loop, where each work delivers its own: while one is shown, the next one waits."""
    found: list[int] = []
    first, second = threading.Event(), threading.Event()

    def show(number: int) -> None:
        if number == 1:
            first.set()
            second.wait(0.2)
        found.append(number)
        second.set()

    works = [begun(lambda: 1, show)]
    assert first.wait(10)
    works.append(begun(lambda: 2, show))
    for work in works:
        work.wait()
    assert [1, 2] == found


def test_the_loop_takes_results_over_itself() -> None:
    """Without anybody waiting, the event loop delivers the result."""
    found: list[int] = []

    async def cell() -> None:
        there = asyncio.Event()

        def then(number: int) -> None:
            found.append(number)
            there.set()

        work = begun(lambda: 7, then)
        assert [] == found
        await asyncio.wait_for(there.wait(), 10)
        assert not work.is_busy

    asyncio.run(cell())
    assert [7] == found


@pytest.mark.slow
@pytest.mark.parametrize(("seconds", "patience"), [(0.5, 10), (600, 1)])
def test_a_process_ends_after_what_is_nearly_done_and_waits_for_nothing_else(
    seconds: float, patience: float, tmp_path: Path
) -> None:
    """What reads a file is not cut off in the middle, which aborts the process; what hangs holds nobody up."""
    script = f"""
        import time, pathlib
        from prodex.notebook.session.jobs import Work, let_end
        let_end.__defaults__ = ({patience},)
        def do(_):
            time.sleep({seconds})
            pathlib.Path("done").touch()
        Work(do, print, print).start()
    """
    subprocess.run([sys.executable, "-c", dedent(script)], cwd=tmp_path, check=True, timeout=60)
    assert (tmp_path / "done").exists() == (seconds < 1)


def test_waiting_ends() -> None:
    """Waiting raises an error when the work takes longer."""
    stop = threading.Event()
    work = begun(stop.wait, print)
    with pytest.raises(TimeoutError, match=r"after 0\.05 seconds"):
        work.wait(0.05)
    stop.set()
    work.wait(10)


def test_an_error_of_who_takes_the_result_is_told() -> None:
    """An error of the receiver is reported; otherwise it would only be in the log of the event loop."""
    told: list[str] = []

    def work() -> Work[Any]:
        return begun(lambda: 0, lambda number: 1 / number, lambda error: told.append(type(error).__name__))

    async def cell() -> None:
        work().wait(10)

    work().wait(10)
    asyncio.run(cell())
    assert ["ZeroDivisionError"] * 2 == told


def test_a_result_for_a_loop_that_was_closed_is_taken_over_by_who_waits() -> None:
    """Waiting ends although the loop that should deliver the result is closed."""
    found: list[int] = []
    go_on = threading.Event()

    async def cell() -> Work[Any]:
        return begun(lambda: go_on.wait(10) and 7, found.append)

    loop = asyncio.new_event_loop()
    work = loop.run_until_complete(cell())
    go_on.set()
    while work._receive is None:
        time.sleep(0.01)
    loop.close()
    work.wait(5)
    assert ([7], False) == (found, work.is_busy)


def test_what_was_written_of_other_products_says_so() -> None:
    """A file may be ready when the panel shows another catalogue: nobody takes it for one of these products."""
    app, go_on = panel(), threading.Event()
    write_files(app, "export", lambda _: "Wrote a.csv." if go_on.wait(10) else "", "Exporting")
    app.change(lambda session: session.looking_at(prodex.flatten([{"id": 9}])))
    go_on.set()
    app.wait(10)
    other = app.session.notices["export"].sentence
    write_files(app, "export", lambda _: "Wrote b.csv.", "Exporting")
    app.wait(10)

    assert "Wrote a.csv. It is about the products that were shown when it began." == other
    assert "Wrote b.csv." == app.session.notices["export"].sentence


def test_of_many_calls_the_newest_counts() -> None:
    """Of calls from several threads the latest counts, and in the end none is running."""
    app, found = panel(), list[int]()

    def ask(number: int) -> None:
        app.run("read", lambda _: number, finding(found), delay=0.05)

    def ask_for_all(n: int) -> None:
        for i in range(20):
            ask(n * 100 + i)

    threads = [threading.Thread(target=partial(ask_for_all, n)) for n in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ask(-1)
    app.wait(10)
    assert (-1, False) == (found[-1], app.is_running("read"))


def test_what_was_forgotten_is_not_told() -> None:
    """Before it has begun, and while it runs; whoever waits is not kept."""
    found, go_on = list[object](), threading.Event()
    for delay in (0.05, 0.0):
        work = Work[Any](lambda _: go_on.wait(0.2), found.append, found.append, delay=delay)
        work.start()
        threading.Timer(0.01, work.forget).start()
        work.wait(10)
        assert ([], False, False) == (found, work.is_busy, work.is_running)


def test_what_runs_already_is_not_started_again() -> None:
    """Ten clicks while something is read read it once, and its result comes; other keys start something else."""
    app, began, found, go = panel(), list[str](), list[str](), threading.Event()

    def ask(name: str, some: object) -> None:
        def work(_: Reporter) -> str:
            began.append(name)
            assert go.wait(10)
            return name

        app.run("read", work, finding(found), key=(name, some))

    some = object()
    for _ in range(10):
        ask("missing", some)
    go.set()
    app.wait()
    assert (["missing"], ["missing"]) == (began, found)

    ask("missing", some)
    app.wait()
    go.clear()
    ask("missing", object())
    ask("other", some)
    go.set()
    app.wait()
    assert 4 == len(began)
    assert ["missing", "missing", "other"] == found


def test_newer_work_cancels_what_ran_before() -> None:
    """What would be dropped anyway ends at its next step."""
    app, found, ended, started = panel(), list[str](), list[str](), threading.Event()

    def old(reporter: Reporter) -> str:
        try:
            with reporter.phase("Reading", "products") as show:
                started.set()
                while True:
                    show(1, 2)
                    time.sleep(0.01)
        finally:
            ended.append("old")

    app.run("read", old, finding(found))
    assert started.wait(10)
    app.run("read", lambda _: "new", finding(found))
    app.wait(10)
    assert (["new"], ["old"]) == (found, ended)


def test_work_says_how_far_it_is_and_is_cancelled() -> None:
    """Who watches sees its steps and its end; an error of the service while it is being cancelled is no news."""
    told, seen, stepped, go_on = list[str](), list[tuple[str, bool]](), threading.Event(), threading.Event()

    def load(reporter: Reporter) -> str:
        with reporter.phase("Receiving", "products", 9, counts=True) as phase:
            phase.add(4)
            stepped.set()
            go_on.wait(10)
        raise ServiceUnreachable("gone")

    work = Work[str](
        load,
        told.append,
        lambda error: told.append(str(error)),
        title="Waiting",
        cancelled=lambda: told.append("cancelled"),
        watch=lambda: seen.append((str(work.progress).split(",")[0], work.is_running)),
    )

    async def cell() -> None:
        work.start()
        assert stepped.wait(10)
        await asyncio.sleep(0.4)
        work.cancel()
        go_on.set()
        work.wait(10)

    asyncio.run(cell())
    assert ["cancelled"] == told
    steps = list(dict.fromkeys(seen))
    assert [("Receiving: 4 of 9 products", True), ("Receiving: 4 of 9 products", False)] == steps[-2:]
    assert (4, 9) == (work.done, work.total)


def panel() -> App:
    """Return a panel of one product."""
    return App(Session(prodex.flatten([{"id": 7}])))


def finding(found: list[Any], word: str = "") -> Any:
    """Return what keeps the result of work."""

    def keep(session: Session, result: Any = word) -> Session:
        found.append(result)
        return session

    return keep


def test_work_is_shown_only_when_it_takes_long() -> None:
    """Short work shows nothing; long work says what it does, and newer work takes its place."""
    app, found, stop = panel(), list[str](), threading.Event()

    async def cell() -> None:
        app.run("read", lambda _: "short", finding(found), title="Doing little", after=0.3)
        app.wait(10)
        assert ({}, ["short"]) == (app.session.works, found)

        app.run("read", lambda _: f"old {stop.wait(30)}", finding(found), title="Doing much", after=0.3)
        while not app.session.works:
            await asyncio.sleep(0.05)
        assert "Doing much" in str(app.session.works["read"].progress)
        app.run("read", lambda _: "new", finding(found), title="Doing more", after=0.3)
        stop.set()
        app.wait(10)

    asyncio.run(cell())
    assert (["short", "new"], {}) == (found, app.session.works)


def test_work_that_only_reads_is_left_at_once() -> None:
    """Cancel does not wait for a step of the work; its result is dropped, and the panel is told."""
    app, found, stop = panel(), list[str](), threading.Event()

    async def cell() -> None:
        left = finding(found, "cancelled")
        app.run("read", lambda _: f"read {stop.wait(30)}", finding(found), cancelled=left, is_dropped=True)
        app.act("work.cancel", slot="read")
        assert (["cancelled"], {}) == (found, app.session.works)
        stop.set()
        app.wait(10)

    asyncio.run(cell())
    assert ["cancelled"] == found


def test_a_panel_answers_one_press_at_a_time() -> None:
    """JupyterLab sends some presses to a second thread, and the first answer must not be met half done."""
    app, done = panel(), list[str]()
    begun, may_end = threading.Event(), threading.Event()

    @task("test.slow")
    def slow(_: App) -> None:
        done.append("slow begins")
        begun.set()
        may_end.wait(10)
        done.append("slow ends")

    @task("test.quick")
    def quick(_: App) -> None:
        done.append("quick")

    try:
        presses = [threading.Thread(target=partial(app.act, name)) for name in ("test.slow", "test.quick")]
        presses[0].start()
        assert begun.wait(10)
        presses[1].start()
        presses[1].join(0.2)
        may_end.set()
        for press in presses:
            press.join(10)
    finally:
        del DEEDS["test.slow"], DEEDS["test.quick"]
    assert ["slow begins", "slow ends", "quick"] == done


def test_an_answer_may_wait_for_what_it_has_started() -> None:
    """Work that ends while the panel answers does not stand in its own way."""
    app, found = panel(), list[str]()

    @task("test.waits")
    def waits(one: App) -> None:
        one.run("read", lambda _: "read", finding(found))

    try:
        app.act("test.waits")
        app.wait(10)
    finally:
        del DEEDS["test.waits"]
    assert ["read"] == found
