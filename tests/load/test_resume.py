"""Resume: a load that was broken off goes on where it was, whatever broke it off and whatever became of its journal."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import prodex
from prodex.errors import IncompleteLoad, ServiceError, SnapshotLocked, SnapshotNotFound
from prodex.files.lock import locked
from prodex.sandbox import Fault, Sandbox
from prodex.store.archive import snapshots_folder
from tests.load.exchange import (
    PAGE,
    TOTAL,
    WAYS,
    asked,
    connected,
    contents,
    loaded,
    named,
    paged,
    pages_asked,
    records,
    renamed,
)

EVERYTHING = list(range(1, TOTAL + 1))

#: More often than anybody's patience.
FOR_GOOD = 10**9


@pytest.fixture(scope="module")
def exchange() -> Iterator[Sandbox]:
    """Serve the catalogue, one for all cases."""
    with Sandbox(records()) as sandbox:
        yield sandbox


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Have pages go one of the ways."""
    paged(request.param, monkeypatch)
    return str(request.param)


def broken_off(sandbox: Sandbox, way: str, call: int, **options: Any) -> None:
    """Begin a load that fails at one call, however often it is tried again."""
    sandbox.order(Fault("500", at=range(call, FOR_GOOD)))
    with pytest.raises(ServiceError) as raised:
        loaded(sandbox, way, **options)
    sandbox.clear_faults()
    assert ("kept" in "".join(getattr(raised.value, "__notes__", ()))) == bool(journals())


def journals() -> list[Path]:
    """Return the folders of the journals that are there."""
    return sorted(snapshots_folder().glob("*/.journal-*"))


def journal() -> Path:
    """Return the folder of the only journal."""
    (folder,) = journals()
    return folder


class Calls:
    """Counts the searches that the service answered from now on; those that a fault struck are not among them."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._begin = len(sandbox.requests)
        self._struck = len(sandbox.faults_hit)

    @property
    def answered(self) -> int:
        struck = len(self._sandbox.faults_hit) - self._struck
        return len(asked(self._sandbox, self._begin)) - struck


@pytest.fixture(scope="module")
def needed() -> dict[str, int]:
    """Keep how many calls a load needs of which nothing fails, by the way of paging."""
    return {}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("way", "call"),
    # What is counted is the same in all ways; what comes in pages differs.
    [
        (way, call)
        for way, calls in {"offset": (1, 5, 9), "scroll": (2, 3, 8), "windows": (1, 3, 8, 9)}.items()
        for call in calls
    ],
    indirect=["way"],
)
def test_a_load_goes_on_where_it_failed(
    exchange: Sandbox, way: str, call: int, needed: dict[str, int]
) -> None:
    """Nothing that was received is requested again, counts included."""
    if way not in needed:
        calls = Calls(exchange)
        loaded(exchange, way)
        needed[way] = calls.answered
    calls = Calls(exchange)
    broken_off(exchange, way, call)
    catalog = loaded(exchange, way)
    assert (True, EVERYTHING) == (catalog.complete, contents(catalog))
    assert needed[way] == calls.answered
    assert [] == journals()


@pytest.mark.slow
def test_an_interrupted_load_stops_after_the_pages_in_flight(
    exchange: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C: each of the windows ends its page and begins no other; then the load goes on."""
    paged("windows", monkeypatch)
    # Slow pages, so that no thread can end one and begin another before the interruption has reached it.
    exchange.order(Fault("latency", at=range(1, FOR_GOOD), seconds=0.2))
    begin = len(exchange.requests)
    shown = 0

    def interrupt(_done: int, _total: int) -> None:
        nonlocal shown
        shown += 1
        if shown == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        loaded(exchange, "windows", progress=interrupt, page_size=5)
    pages = len(pages_asked(exchange, begin))
    assert pages <= 2 + 3
    exchange.clear_faults()
    catalog = loaded(exchange, "windows", page_size=5)
    assert (True, EVERYTHING) == (catalog.complete, contents(catalog))
    repeated = sum(Counter(pages_asked(exchange, begin)).values()) - len(set(pages_asked(exchange, begin)))
    assert repeated <= 3


@pytest.mark.slow
def test_a_young_cursor_is_continued_and_an_old_one_begins_its_window_again(
    exchange: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a scroll that had brought two pages; one that is too old is not even tried."""
    paged("scroll", monkeypatch)
    for life, opened in ((timedelta(minutes=1), 0), (timedelta(0), 1)):
        monkeypatch.setattr("prodex.load.fetch.CURSOR_LIFE", life)
        broken_off(exchange, "scroll", 4)
        begin = len(exchange.requests)
        catalog = loaded(exchange, "scroll")
        first = [body for body in asked(exchange, begin) if body.get("next_page") == ""]
        others = {"updated_at_from", "filter_source_include"}  # what changed, and the list of all keys
        assert opened == sum(not others & body.keys() for body in first)
        assert (True, EVERYTHING) == (catalog.complete, contents(catalog))


def test_a_cursor_that_the_service_forgot_begins_its_window_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Although it is young by our clock."""
    paged("scroll", monkeypatch)
    now = [0.0]
    with Sandbox(records(), clock=lambda: now[0]) as sandbox:
        broken_off(sandbox, "scroll", 4)
        now[0] = 1_000
        catalog = loaded(sandbox, "scroll")
    assert (True, EVERYTHING) == (catalog.complete, contents(catalog))


@pytest.mark.slow
def test_an_old_cursor_costs_its_own_window_only(exchange: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows that were whole are not asked for again."""
    paged("windows", monkeypatch)
    monkeypatch.setattr("prodex.load.fetch.CURSOR_LIFE", timedelta(0))
    calls = Calls(exchange)
    loaded(exchange, "windows", windows=1, page_size=5)
    needed = calls.answered
    calls = Calls(exchange)
    broken_off(exchange, "windows", 22, windows=1, page_size=5)
    catalog = loaded(exchange, "windows", windows=1, page_size=5)
    assert (True, EVERYTHING) == (catalog.complete, contents(catalog))
    assert 1 <= calls.answered - needed <= 5


def torn(folder: Path) -> None:
    ledger = folder / "ledger.jsonl"
    ledger.write_bytes(ledger.read_bytes()[:-7])


def cut_off(folder: Path) -> None:
    page = last_page(folder)
    page.write_bytes(page.read_bytes()[:-7])


def missing(folder: Path) -> None:
    last_page(folder).unlink()


def changed(folder: Path) -> None:
    earlier, page = sorted(folder.glob("page-*.zst"))[-2:]
    page.write_bytes(earlier.read_bytes())


def never_entered(folder: Path) -> None:
    (folder / "page-000099.zst").write_bytes(b"12\nhalf")


def last_page(folder: Path) -> Path:
    return sorted(folder.glob("page-*.zst"))[-1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("damage", "again"), [(torn, 1), (cut_off, 1), (missing, 1), (changed, 1), (never_entered, 0)]
)
def test_a_damaged_journal_costs_what_was_damaged(
    exchange: Sandbox, way: str, damage: Any, again: int, needed: dict[str, int]
) -> None:
    """A torn last line, and a page that is cut off, missing or another: fetched again, and nothing else."""
    one = 0 if way == "scroll" else 1
    in_one = f"{way}, one after the other"
    if in_one not in needed:
        calls = Calls(exchange)
        loaded(exchange, way, windows=one)
        needed[in_one] = calls.answered
    calls = Calls(exchange)
    broken_off(exchange, way, 13 if way == "windows" else 5, windows=one)
    damage(journal())
    catalog = loaded(exchange, way, windows=one)
    assert (True, EVERYTHING) == (catalog.complete, contents(catalog))
    assert needed[in_one] + again == calls.answered


def test_a_page_that_is_damaged_after_everything_came_is_fetched_again(
    exchange: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also a load that only had to be built."""
    built_no_further(exchange, 0)
    page = sorted(journal().glob("page-*.zst"))[1]
    page.write_bytes(page.read_bytes()[:-7])
    begin = len(exchange.requests)
    catalog = loaded(exchange, "offset")
    assert (True, EVERYTHING) == (catalog.complete, contents(catalog))
    assert 0 < len(asked(exchange, begin)) <= 6


def built_no_further(sandbox: Sandbox, parts: int, way: str = "offset") -> None:
    """Load, and be interrupted when so many parts were built."""

    class Failing(Executor):
        done = 0

        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            future: Future[Any] = Future()
            if self.done == parts:
                raise KeyboardInterrupt
            self.done += 1
            future.set_result(fn(*args, **kwargs))
            return future

    with pytest.raises(KeyboardInterrupt):
        loaded(sandbox, way, executor=Failing())


def test_building_goes_on_part_by_part(exchange: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Written parts are kept, a damaged one is written again, and nothing is requested."""
    monkeypatch.setattr("prodex.store.plan.PRODUCTS_PER_PART", 30)
    built_no_further(exchange, 3)
    texts = sorted((journal() / "build").glob("texts/*.parquet"))
    assert 3 == len(texts)
    texts[1].write_bytes(texts[1].read_bytes()[:-9])
    before = [path.stat().st_ino for path in texts], [path.stat().st_mtime_ns for path in texts]
    begin = len(exchange.requests)
    catalog = loaded(exchange, "offset")
    assert catalog.folder is not None
    texts = sorted(catalog.folder.glob("texts/*.parquet"))
    after = [path.stat().st_ino for path in texts], [path.stat().st_mtime_ns for path in texts]
    assert [] == asked(exchange, begin)
    assert [True, False, True] == [one == other for one, other in zip(before[1], after[1], strict=False)]
    assert before[0][0] == after[0][0]
    assert EVERYTHING == contents(catalog)
    assert bool(prodex.verify("shop")["ok"].all())


@pytest.mark.slow
def test_another_page_size_does_not_disturb_what_has_come(exchange: Sandbox, way: str) -> None:
    """A load that is resumed keeps the settings it began with."""
    broken_off(exchange, way, 9)
    catalog = loaded(exchange, way, page_size=7, windows=2)
    assert (True, EVERYTHING) == (catalog.complete, contents(catalog))


def test_the_journal_of_another_question_is_left_alone_until_it_is_old(exchange: Sandbox) -> None:
    """Each question goes on with its own; after a day it begins anew."""
    broken_off(exchange, "offset", 5)
    mine = journal()
    other = prodex.ProductQuery(gtins_in=[3])
    assert [4] == contents(loaded(exchange, "offset", query=other))
    assert [mine] == journals()

    head = mine / "question.json"
    asked_then = json.loads(head.read_text("utf-8"))
    asked_then["asked"]["began"] = (datetime.now(UTC) - timedelta(hours=25)).isoformat()
    head.write_text(json.dumps(asked_then), "utf-8")
    loaded(exchange, "offset", query=other)
    assert [] == journals()


@pytest.mark.slow
def test_what_was_found_incomplete_is_asked_for_anew(exchange: Sandbox) -> None:
    """If it is accepted as incomplete now, nothing is requested."""
    exchange.order(Fault("drops", at=range(2, FOR_GOOD)))
    for _ in range(2):
        begin = len(exchange.requests)
        with pytest.raises(IncompleteLoad):
            loaded(exchange, "offset")
        assert len(asked(exchange, begin)) > 7
    begin = len(exchange.requests)
    catalog = loaded(exchange, "offset", allow_incomplete=True)
    exchange.clear_faults()
    assert not catalog.complete
    assert [] == asked(exchange, begin)
    assert [] == journals()


@pytest.mark.slow
def test_a_load_is_recovered_without_the_service(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When all had come; what came in the middle is not complete, and is kept where that is allowed."""
    with Sandbox(records()) as sandbox:
        built_no_further(sandbox, 0)
    catalog = prodex.recover("shop")
    assert (True, EVERYTHING) == (catalog.complete, contents(catalog))
    assert [] == journals()
    with pytest.raises(SnapshotNotFound, match="No load of 'shop' was interrupted"):
        prodex.recover("shop")
    with Sandbox(records()) as sandbox:
        broken_off(sandbox, "offset", 4)
    with pytest.raises(IncompleteLoad, match=f"40 of {TOTAL} products"):
        prodex.recover("shop")
    catalog = prodex.recover("shop", allow_incomplete=True)
    assert (False, EVERYTHING[:40]) == (catalog.complete, contents(catalog))
    assert not prodex.open_snapshot("shop").complete


def test_a_load_is_recovered_beside_a_refresh(exchange: Sandbox) -> None:
    """Which was interrupted later, and of which nothing can be made without its snapshot."""
    loaded(exchange, "offset")
    broken_off(exchange, "offset", 4)
    exchange.order(Fault("500", at=range(2, FOR_GOOD)))
    with pytest.raises(ServiceError):
        prodex.refresh("shop", connected(exchange))
    exchange.clear_faults()
    assert EVERYTHING[:40] == contents(prodex.recover("shop", allow_incomplete=True))
    with pytest.raises(SnapshotNotFound, match="refresh 'shop' again"):
        prodex.recover("shop")


@pytest.mark.parametrize("call", [8, 9])
def test_what_changed_meanwhile_is_part_of_all(exchange: Sandbox, call: int) -> None:
    """Recovered before it was looked through, or before the last count, a load is not known to be complete."""
    broken_off(exchange, "offset", call)
    with pytest.raises(IncompleteLoad, match="end"):
        prodex.recover("shop")


def test_a_load_recovered_is_refreshed_to_what_there_is() -> None:
    """In the middle of it the service went away; when it is back, a refresh fetches what is missing."""
    with Sandbox(records()) as sandbox:
        broken_off(sandbox, "offset", 4)
        prodex.recover("shop", allow_incomplete=True)
        sandbox.change([renamed(records()[2], "autre")])
        catalog = prodex.refresh("shop", connected(sandbox))
    assert (True, EVERYTHING, "autre") == (catalog.complete, contents(catalog), named(catalog)[3])


_HOLD = """
import sys, time
from prodex.files.lock import locked
from prodex.store.snapshot import snapshots_folder
with locked(snapshots_folder() / "shop", "holding it"):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.mark.slow
def test_two_processes_on_one_snapshot_exclude_each_other(exchange: Sandbox, home: Path) -> None:
    """The second process learns who holds the lock; when that process is killed, the lock is free."""
    with subprocess.Popen(
        [sys.executable, "-c", _HOLD], stdout=subprocess.PIPE, text=True, env={**os.environ}
    ) as process:
        assert process.stdout is not None
        assert "held\n" == process.stdout.readline()
        for act in (
            lambda: loaded(exchange, "offset"),
            lambda: locked(snapshots_folder() / "shop", "trying").__enter__(),
        ):
            with pytest.raises(SnapshotLocked, match=f"process {process.pid} of .*holding it"):
                act()
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert EVERYTHING == contents(loaded(exchange, "offset"))


def test_no_secret_is_in_a_journal(exchange: Sandbox) -> None:
    """Neither the client secret nor a token, nor the client id."""
    client = connected(exchange)
    token = client._tokens.current().text.reveal()
    exchange.order(Fault("500", at=range(4, FOR_GOOD)))
    with pytest.raises(ServiceError):
        prodex.load_products(client, name="shop", max_age=0, page_size=PAGE)
    exchange.clear_faults()
    key = exchange.credentials[0]
    held = b"".join(path.read_bytes() for path in journal().rglob("*") if path.is_file())
    assert b"asked_by" in held
    for secret in (key["client_secret"], key["client_id"], token):
        assert secret.encode() not in held


@pytest.mark.slow
def test_what_only_has_to_be_built_asks_for_nothing(way: str) -> None:
    """Also where a window ended short, because a product had moved out of it."""
    with Sandbox(records()) as sandbox:
        for call in (3, 9, 11):
            sandbox.at_call(call, lambda call=call: sandbox.change([renamed(records()[60 + call], "autre")]))
        built_no_further(sandbox, 0, way)
        begin = len(sandbox.requests)
        catalog = loaded(sandbox, way)
    assert [] == asked(sandbox, begin)
    assert "autre" == named(catalog)[64]
