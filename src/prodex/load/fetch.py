"""Fetching: all products of a query into the journal, each page once, however often the load is interrupted.

Each step reads the journal first and requests only what is missing there, so a load that was killed continues by
repeating the same steps. What is built of it is decided in `prodex.store.plan`.

Received pages are kept, also of a window that has to start again. Some services have no scroll, lose cursors, or end a
scroll before everything that they announced was sent; such a window is then fetched by offset pages, as far as these
reach.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import chain

import pyarrow as pa

from prodex import clock
from prodex.clock import ANY_ZONE
from prodex.errors import CursorLost, RequestRefused, ServiceError, ServiceUnreachable, UnexpectedReply
from prodex.limits import LoadBudget, Spending
from prodex.load import windows
from prodex.load.clocks import (
    Clocks,
    clock_notes,
    clocks_in_words,
    newest_update,
    should_find,
    starting_from,
    surely_before,
    was_set,
)
from prodex.load.windows import BoundsIgnored, Window, WindowRequest
from prodex.progress import SILENT, Reporter, Show
from prodex.query import ProductQuery
from prodex.service import Client, paging
from prodex.service.paging import PagingState, ProductPage, fetch_pages
from prodex.store.disappeared_products import absence_of, listing_is_whole
from prodex.store.journal import LoadJournal
from prodex.store.journal_contents import ABSENT, contradiction_of, dates_by_key, failure_of, keys_of, newest
from prodex.store.journal_format import PageEntry, Stage
from prodex.store.newest import Newest, packed
from prodex.store.reconciliation import ledger_of, totals_notes
from prodex.store.snapshot_keys import RefreshedKeys, SnapshotKeys
from prodex.tables.records import Identity

_LOG = logging.getLogger("prodex")

#: Scrolls are the default: their pages do not shift while products are added and removed, and contain ten times as many
#: products. Offset pages are for services that refuse a scroll or end it early.
BY_SCROLL = True

#: Largest share of products without a usable time of update, which no window finds and the reconciliation has to fetch
#: by GTIN; with more of them, a single scroll costs fewer calls.
_UNDATED = 0.01

#: Stages whose products count for the whole load; what changed meanwhile was received before, most of it.
_COUNTED = frozenset(stage for stage in Stage if stage.has_products) - {Stage.CHANGES}

_MISSING = "missing"
_BOUNDS_ARE_APPLIED = "bounds heeded"


class Fetch:
    """Fetches the products of one load or refresh, step by step, with its journal.

    Parameters
    ----------
    service
        The service with the products.
    query
        Which products.
    journal
        What was received so far, and the settings of the load: products per call, and windows in parallel.
    since
        Fetch only products updated since then; counts and listings are still those of the whole query.
    held
        The products of the snapshot that is refreshed, by key.
    last
        The clocks when that snapshot was loaded.
    tolerant
        Whether to skip windows that the service fails to send, and list them.
    reporter
        Gets the phases, and the numbers of products received.
    on_page
        Called after each page of products with the number announced for the whole load, by the threads that fetch, one
        at a time.
    budget
        Limits of the load.
    """

    def __init__(
        self,
        service: Client,
        query: ProductQuery,
        journal: LoadJournal,
        *,
        since: datetime | None = None,
        held: SnapshotKeys | None = None,
        last: Clocks | None = None,
        tolerant: bool = False,
        reporter: Reporter = SILENT,
        on_page: Callable[[int], object] = lambda _: None,
        budget: LoadBudget | None = None,
    ) -> None:
        self._journal = journal
        self._reporter, self._on_page = reporter, on_page
        self._received: dict[Window, int] = {}
        self._phase: tuple[Collection[Stage], int, Show] = ((), 0, lambda *_: None)
        self._announced = 0
        self._reporting = threading.Lock()
        self._whole = tuple(query.in_calls())
        self._asked = self._whole if since is None else tuple(_since(part, since) for part in self._whole)
        self._since = since
        self._last = last
        self._held = SnapshotKeys.empty() if held is None else held
        # A resumed load keeps its settings: with other windows, the received ones could not be recognised.
        self._page_size: int | None = journal.question.get("page_size")
        self._parallel: int = journal.question["windows"]
        self._size = 0
        self._fetcher = WindowFetcher(
            service,
            journal,
            self._split,
            parallel=max(1, self._parallel),
            tolerant=tolerant,
            on_received=self._report,
            spending=Spending(budget or LoadBudget()),
        )

    @property
    def began(self) -> datetime:
        """The time of the first call of this load, by the service's clock; by ours if the reply had no Date."""
        return self._service_time or datetime.fromisoformat(self._journal.question["began"])

    @property
    def _service_time(self) -> datetime | None:
        first = self._journal.counts.get(Window(Stage.PULL, 0).name)
        return first.server_date if first is not None else None

    @property
    def is_doubtful(self) -> bool:
        """Whether a load has to reconcile: counts do not agree, or products may have moved between few pages."""
        received = newest(self._journal)
        if self._may_have_moved(received):
            return True
        ledger = ledger_of(self._journal, received, absence_of(self._journal, received))
        is_too_low = contradiction_of("totals") in totals_notes(self._journal)
        return not (ledger.complete and (ledger.agrees or is_too_low))

    def pull(self) -> None:
        """Fetch everything, then what changed meanwhile, and count the products at the end."""
        requests = [self._request(Window(Stage.PULL, part), query) for part, query in enumerate(self._asked)]
        with self._counting("Counting products"):
            totals = [total or 0 for total in self._fetcher.count(requests)]
            announced = self._announced = sum(totals)
            # Known only now, and needed when windows that turn out too large are split.
            self._size = windows.window_size(announced, self._parallel or 1)
            parts = [
                self._first_requests(whole, total) for whole, total in zip(requests, totals, strict=True)
            ]
        with self._counting("Receiving", Stage.PULL, total=announced):
            try:
                self._fetcher.run(request for several in parts for request in several)
            except BoundsIgnored:
                self._fetcher.contradiction(
                    "bounds", "the service announces as many products for a part of the time as for all of it"
                )
                self._journal.note(_BOUNDS_ARE_APPLIED, False)
                self._fetcher.run(requests)
        with self._counting("Receiving what changed meanwhile", Stage.CHANGES):
            self._fetch_changes()
            self._fetch_what_a_wrong_clock_hid()
        with self._counting("Counting products again"):
            try:
                self._fetcher.count(
                    [WindowRequest(Window(Stage.END, part), query) for part, query in enumerate(self._whole)]
                )
            except ServiceError as error:
                self._fetcher.skip(Stage.END, error)
        our_time = datetime.fromisoformat(self._journal.question["began"])
        for about, text in clock_notes(self._service_time, our_time, self._newest()):
            self._fetcher.contradiction(about, text)

    def reconcile(self) -> None:
        """List key and date of all products; fetch missing and newer ones, and request by GTIN those not in the list.

        A product is only removed if a request for its GTIN did not return it, but did return a product that is known to
        be there: lists of a service may be incomplete.
        """
        _LOG.info("listing keys and dates of all products, to find missing and removed ones")
        with self._counting("Listing products to find missing ones", Stage.LISTING, total=self._counted()):
            self._fetcher.run(
                self._request(Window(Stage.LISTING, part), windows.keys_only(query))
                for part, query in enumerate(self._whole)
            )
        named, notes = keys_of(self._journal, Stage.LISTING), self._journal.notes
        if _MISSING not in notes:
            before = {one.product_id: one.updated_at for one in self._held.identities()}
            received = dates_by_key(self._journal)
            self._journal.note(_MISSING, windows.missing_gtins(named.values(), received, before))
        if ABSENT not in notes:
            pages = (entry.keys for entry in self._journal.entries() if entry.stage.has_products)
            known = chain(self._held.identities(), *pages)
            unlisted = {one.product_id: one for one in known if one and one.product_id not in named}
            # An incomplete listing says nothing about the products that it does not contain.
            whole = listing_is_whole(self._journal)
            self._journal.note(ABSENT, windows.unlisted_requests(unlisted, named) if whole else {})
        query = self._whole[0]
        missing = [
            self._request(Window(Stage.MISSING, number), replace(query, gtins_in=gtins))
            for number, gtins in enumerate(windows.batches_of_gtins(self._journal.notes[_MISSING]))
        ]
        absent = [
            self._request(
                Window(Stage.ABSENT, number), windows.keys_only(replace(query, gtins_in=asked["gtins"]))
            )
            for number, asked in enumerate(self._journal.notes[ABSENT].values())
        ]
        if missing or absent:
            with self._counting("Requesting missing products", Stage.MISSING, Stage.ABSENT):
                self._fetcher.run([*missing, *absent])

    def refresh(self, *, sweep: bool | None, was_complete: bool) -> None:
        """Fetch what changed, and reconcile as for a load.

        Parameters
        ----------
        sweep
            Reconcile always (True), only if the counts do not agree (False), or also if it costs few calls (None).
        was_complete
            Whether the snapshot was complete; otherwise the counts may agree by chance.
        """
        self.pull()
        everything = RefreshedKeys(self._held, newest(self._journal))
        ledger = ledger_of(self._journal, everything, absence_of(self._journal, everything), refreshed=True)
        costs_little = sweep is None and len(everything) < paging.SCROLL_FROM
        if sweep or costs_little or not was_complete or not (ledger.complete and ledger.agrees):
            self.reconcile()

    @contextmanager
    def _counting(self, phase: str, *stages: Stage, total: int = 0) -> Iterator[None]:
        """Begin a phase in which the products of these stages are counted; without any, nothing is counted."""
        before = self._phase
        with self._reporter.phase(phase, "products" if stages else "", total) as show:
            self._phase = (stages, total, show)
            try:
                yield
            finally:
                self._phase = before

    def _report(self, window: Window, products: int) -> None:
        """Report what a window has received by now; an error of whoever hears of it ends the fetch."""
        with self._reporting:  # windows are fetched by several threads
            self._received[window] = products
            # First: who is told of a phase may end the load, and then knows how much was received.
            if window.stage.has_products:
                self._on_page(self._announced)
                done = self._sum(_COUNTED)
                self._reporter.count(done, max(self._announced, done))
            stages, total, show = self._phase
            if window.stage in stages:
                show(self._sum(stages), total)

    def _sum(self, stages: Collection[Stage]) -> int:
        return sum(products for window, products in self._received.items() if window.stage in stages)

    def _first_requests(self, whole: WindowRequest, total: int) -> Sequence[WindowRequest]:
        """Return the first windows of a part of the query: the whole, or windows by time of update."""
        # GTINs are split into lists already, each with few products.
        if total < paging.SCROLL_FROM or not self._parallel or whole.query.gtins_in:
            return [whole]
        if not self._applies_bounds(whole.query):
            return [whole]
        first = windows.first_windows(whole.query, whole.window.part, self.began)
        parts = [self._part_request(window) for window in first]
        found = sum(count or 0 for count in self._fetcher.count(parts))
        if found < total * (1 - _UNDATED):
            _LOG.warning(
                "%d of %d products are not found by their time of update; a single scroll fetches all",
                total - found,
                total,
            )
            return [whole]
        return parts

    def _applies_bounds(self, query: ProductQuery) -> bool:
        """Whether the service applies updated_at_from and _to, tested with times that no product can have."""
        if self._journal.notes.get(_BOUNDS_ARE_APPLIED) is False:  # which `pull` has found out
            return False
        bare = replace(query, updated_at_from=None, updated_at_to=None)
        applies = all(self._fetcher.is_empty(self._request(one, one.of(bare))) for one in windows.controls(0))
        if not applies:
            self._fetcher.contradiction(
                "bounds",
                "the service finds products at times that none can have: it ignores updated_at_from or _to",
            )
        return applies

    def _split(self, request: WindowRequest, total: int) -> Sequence[WindowRequest]:
        """Return the parts of a window with too many products, if it may be split."""
        if request.window.stage is not Stage.PULL or request.window.is_whole:
            return []
        return [
            self._part_request(window)
            for window in windows.split(request.window, total, self._size, self.began)
        ]

    def _part_request(self, window: Window, query: ProductQuery | None = None) -> WindowRequest:
        query = query or self._asked[window.part]
        return WindowRequest(window, window.of(query), page_size=self._page_size)

    def _request(self, window: Window, query: ProductQuery) -> WindowRequest:
        is_pull = window.stage is Stage.PULL
        return WindowRequest(window, query, BY_SCROLL or not is_pull, self._page_size if is_pull else None)

    def _fetch_changes(self) -> None:
        """Fetch the products that changed during the pull; where one page was everything, nothing can have changed."""
        newest_second = self._newest()
        since = starting_from(self._service_time, self.began, newest_second)
        parts = [
            part
            for part, query in enumerate(self._asked)
            if self._pages_of(part) > 1 and (query.updated_at_to is None or query.updated_at_to >= since)
        ]
        self._fetcher.run(
            self._part_request(Window(Stage.CHANGES, part, int(since.timestamp()))) for part in parts
        )
        since = self._since or since
        if newest_second is None or not should_find(since, newest_second):
            return
        if self._since is not None:  # its pull has fetched the changes
            expected, parts = (
                _of_second(self._held.identities(), newest_second),
                list(range(len(self._whole))),
            )
            keys_of_window = set(dates_by_key(self._journal))
        else:
            pulled = (one for entry in self._entries(Stage.PULL) for one in entry.keys if one)
            expected = _of_second(pulled, newest_second) if parts else set()
            keys_of_window = {
                one.product_id for entry in self._entries(Stage.CHANGES) for one in entry.keys if one
            }
        if expected and not expected & keys_of_window:
            self._fetcher.contradiction(
                "zone",
                f"a request for products updated since {since:%Y-%m-%dT%H:%M:%S} did not return the one updated at "
                f"{newest_second}: it was removed, or the filter uses another time zone. Requested again from "
                f"{ANY_ZONE.total_seconds() / 3600:.0f} hours earlier",
            )
            earlier = since - ANY_ZONE
            self._fetcher.run(
                self._part_request(Window(Stage.CHANGES, part, int(earlier.timestamp())), query)
                for part, query in enumerate(self._whole)
                if part in parts and (query.updated_at_to is None or query.updated_at_to >= earlier)
            )

    def _fetch_what_a_wrong_clock_hid(self) -> None:
        """Fetch what changed since a clock was surely right, if one was set since the snapshot was loaded."""
        now = Clocks(self._service_time, datetime.fromisoformat(self._journal.question["began"]))
        if self._last is None or self._since is None or not was_set(self._last, now):
            return
        earlier = surely_before(self._last, now, self._newest())
        if earlier >= self._since:
            return
        self._fetcher.contradiction(
            "clock that was set",
            f"a clock was set since the snapshot was loaded ({clocks_in_words(self._last)} then, "
            f"{clocks_in_words(now)} now): changes are "
            f"requested since {earlier:%Y-%m-%dT%H:%M:%S}",
        )
        self._fetcher.run(
            self._part_request(Window(Stage.CHANGES, part, int(earlier.timestamp())), query)
            for part, query in enumerate(self._whole)
            if query.updated_at_to is None or query.updated_at_to >= earlier
        )

    def _counted(self) -> int:
        """Return how many products the whole query has, as they were counted at the end; 0 if they were not."""
        ends = [self._journal.counts.get(Window(Stage.END, part).name) for part in range(len(self._whole))]
        return sum(one.total or 0 for one in ends if one is not None)

    def _newest(self) -> str | None:
        """Return the latest updatedAt: of the snapshot that is refreshed, or of the products received."""
        if self._since is not None:
            return newest_update(self._held.dates)
        pulled = [packed(entry.keys).dates for entry in self._entries(Stage.PULL)]
        return newest_update(pa.chunked_array(pulled, pa.string()))

    def _entries(self, stage: Stage) -> list[PageEntry]:
        return [entry for entry in self._journal.entries() if entry.stage is stage]

    def _pages_of(self, part: int) -> int:
        """Return the number of non-empty pages of a part of the query."""
        names = (entry.window for entry in self._entries(Stage.PULL) if entry.keys)
        return sum(name.split("/")[1] == str(part) for name in names)

    def _may_have_moved(self, received: Newest) -> bool:
        """Whether products may have been added and removed unnoticed, and a listing of all of them costs few calls."""
        pages = [self._pages_of(part) for part in range(len(self._asked))]
        return max(pages, default=0) > 1 and len(received) < paging.SCROLL_FROM


def _since(query: ProductQuery, since: datetime) -> ProductQuery:
    since = min(since, query.updated_at_to or since).replace(microsecond=0)
    if query.updated_at_from is not None and query.updated_at_from > since:
        return query
    return replace(query, updated_at_from=since)


def _of_second(products: Iterable[Identity], second: str) -> set[str]:
    return {one.product_id for one in products if (one.updated_at or "").startswith(second)}


#: A cursor expires 2 minutes after the last call (spec, "Scroll cursor validity"); an almost expired one is not used,
#: since the refusal would cost a call.
CURSOR_LIFE = timedelta(seconds=110)

#: Counts requested in parallel: their replies are small, and everything else waits for them.
_PARALLEL_COUNTS = 8

#: Requests for a count before a missing total is accepted: some services leave it out now and then.
_COUNT_ATTEMPTS = 3

#: Restarts of a window whose cursor was lost.
_MAX_RESTARTS = 3

#: Passes through the offset pages of a window while products are added and removed in between.
_MAX_OFFSET_PASSES = 3

#: Errors that may concern one page of a service and not others.
_SKIPPABLE = (UnexpectedReply, RequestRefused, ServiceUnreachable)


@dataclass(eq=False, repr=False)
class WindowFetcher:
    """Fetches windows, several at the same time.

    Parameters
    ----------
    service
        The service with the products.
    journal
        What was received so far; only the rest is requested.
    split
        Returns the parts that a window with so many products is to be fetched in; none to fetch it as it is.
    parallel
        Windows at the same time.
    tolerant
        Whether to skip windows that the service fails to send, and note them in the journal.
    on_received
        Called with a window and the products that it has received, after each page.
    spending
        What the whole load has used so far, and its limits.
    """

    service: Client
    journal: LoadJournal
    split: Callable[[WindowRequest, int], Sequence[WindowRequest]]
    parallel: int
    tolerant: bool
    on_received: Callable[[Window, int], object]
    spending: Spending
    _stop: threading.Event = field(default_factory=threading.Event, init=False)
    _as_large: Counter[str] = field(default_factory=Counter, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def count(self, requests: Sequence[WindowRequest]) -> list[int | None]:
        """Return the number of products of each window, None if it is not announced; reuse counts in the journal."""
        with ThreadPoolExecutor(max(self.parallel, _PARALLEL_COUNTS)) as threads:
            return list(threads.map(self._count_one, requests))

    def is_empty(self, request: WindowRequest) -> bool:
        """Whether a window that should be empty is empty: without products, and without an announced total."""
        name = request.window.name
        if name not in self.journal.counts:
            page = self.service.search_products(request.query.to_probe())
            self.journal.count(name, max(page.total_results or 0, len(page)), page.server_date)
        return not self.journal.counts[name].total

    def run(self, requests: Iterable[WindowRequest]) -> None:
        """Fetch windows in parallel; one may be split into several. An error stops the others after their current page.

        Raises
        ------
        BoundsIgnored
            When several parts of a window announce as many products as the window itself.
        """
        if self._spent():
            return
        self._stop.clear()
        with ThreadPoolExecutor(self.parallel) as threads:
            running: set[Future[Sequence[WindowRequest]]] = set()
            try:
                running = {threads.submit(self._fetch_or_split, request) for request in requests}
                while running:
                    done, running = wait(running, return_when=FIRST_COMPLETED)
                    running |= {
                        threads.submit(self._fetch_or_split, part)
                        for future in done
                        for part in future.result()
                    }
            except BaseException:
                self._stop.set()
                for future in running:
                    future.cancel()
                raise

    def skip(self, what: str, error: ServiceError) -> None:
        """Continue without what the service failed to send, if that is allowed; raise if the service is away."""
        is_away = isinstance(error, ServiceUnreachable) and error.status is None
        if not self.tolerant or is_away or not isinstance(error, _SKIPPABLE):
            raise error
        _LOG.warning("%s is skipped: %s", what, error)
        self.journal.note(failure_of(what), str(error))

    def contradiction(self, about: str, text: str) -> None:
        """Note in the journal, once, where the service contradicts itself or the specification."""
        if contradiction_of(about) not in self.journal.notes:
            _LOG.warning("%s", text)
            self.journal.note(contradiction_of(about), text)

    def _count_one(self, request: WindowRequest) -> int | None:
        name = request.window.name
        if (known := self.journal.counts.get(name)) is not None:
            return known.total
        for _ in range(_COUNT_ATTEMPTS):
            page = self.service.search_products(request.query.to_probe())
            if page.total_results is not None:
                break
        self.journal.count(name, page.total_results, page.server_date)
        return page.total_results

    def _fetch_or_split(self, request: WindowRequest) -> Sequence[WindowRequest]:
        """Fetch one window, or return its parts."""
        name = request.window.name
        counted = self.journal.counts.get(name)
        if counted is not None and (parts := self._parts_of(request, counted.total)):
            return parts
        try:
            parts = self._fetch_window(request)
        except _SKIPPABLE as error:
            self.skip(name, error)
            return []
        if self.journal.notes.get(failure_of(name)):
            self.journal.note(failure_of(name), None)
        return parts

    def _fetch_window(self, request: WindowRequest) -> Sequence[WindowRequest]:
        """Fetch a window until it is complete or nothing is left to try; return its parts if it is split."""
        name = request.window.name
        by_scroll = self._uses_scroll(request)
        # A scroll that ended early is repeated only where that costs few calls: for a part of a pull.
        is_small = request.window.stage is not Stage.PULL or not request.window.is_whole
        lost = passes = 0
        while True:
            refused: RequestRefused | None = None
            try:
                state = self._fetch_pages(request, by_scroll)
                if not isinstance(state, PagingState):
                    return state
                passes += 1
            except RequestRefused as error:
                is_lost = isinstance(error, CursorLost)
                if not is_lost and (not by_scroll or self.journal.pages_of(name)):
                    raise
                # A service without a scroll refuses the first call; another attempt would be refused too.
                refused, lost = error, lost + 1 if is_lost else _MAX_RESTARTS + 1
                state = self._replayed(request, set(), by_scroll)
            if self._stop.is_set():
                return []
            # Some services refuse the last cursor: if everything announced was received, that is a regular end.
            has_ended = refused is None or 0 < state.distinct == state.most
            is_all = has_ended and not state.moved and len(self.journal.keys_of_window(name)) >= state.most
            if by_scroll and is_all:
                return []
            if not by_scroll and (is_all or passes >= _MAX_OFFSET_PASSES):
                self._note_offset_limits(name, state)
                return []
            if by_scroll and not (lost <= _MAX_RESTARTS if refused else passes < 2 and is_small):
                if state.most > state.reach:  # offset pages do not reach the missing products
                    if refused is not None:
                        raise refused
                    return []
                self.contradiction(
                    f"scroll {name}",
                    f"{name}: the scroll ended {f'with an error ({refused})' if refused else 'early'}, after "
                    f"{state.distinct:,} of {state.most:,} products; offset pages were fetched as well",
                )
                by_scroll, passes = False, 0
            self.journal.restart(name)

    def _note_offset_limits(self, name: str, state: PagingState) -> None:
        """Note in the journal what offset pages cannot guarantee."""
        if state.moved:
            self.contradiction(
                f"moved {name}", f"{name}: products were added or removed between its offset pages"
            )
        if state.capped:
            self.journal.note(
                failure_of(f"{name} beyond offset {state.reach:,}"),
                "offset pages end there, and there was no scroll: there may be more products",
            )

    def _fetch_pages(self, request: WindowRequest, by_scroll: bool) -> PagingState | Sequence[WindowRequest]:
        """Fetch the pages of a window that are not in the journal; return the paging state, or the window's parts."""
        window = request.window
        seen: set[str] = set()
        state = self._replayed(request, seen, by_scroll)
        if self._stop.is_set() or self._spent():
            return state
        fetch = partial(self.service.search_products, request.query)
        for page, before, after in fetch_pages(fetch, state, seen):
            self.spending.add(len(page.body))
            # The first page has the number of products of a window that was not counted before.
            is_news = not before.pages and window.name not in self.journal.counts
            if is_news and (parts := self._parts_of(request, page.total_results)):
                self.journal.count(window.name, page.total_results, page.server_date)
                return parts
            state = after
            self._keep(window, page, before)
            self.on_received(window, len(seen))
            if self._stop.is_set() or self._spent():
                break
        return state

    def _keep(self, window: Window, page: ProductPage, before: PagingState) -> None:
        """Write a page into the journal, with the paging parameters that it was requested with."""
        self.journal.add(
            window.name,
            page.body,
            page.envelope,
            page.identities,
            received_at=page.received_at,
            server_date=page.server_date,
            cursor=before.cursor if before.by_scroll else None,
            asked=None if before.by_scroll else before.offset,
            limit=before.page_limit,
        )
        if len(page) > (limit := before.page_limit):
            self.contradiction(
                "limit", f"{limit:,} products a page were requested, and the service sent {len(page):,}"
            )

    def _parts_of(self, request: WindowRequest, total: int | None) -> Sequence[WindowRequest]:
        """Return the parts of a window; none if its size is not known, or if it is better fetched as a whole."""
        if not total or self._stop.is_set():
            return []
        parts = self.split(request, total)
        if parts and request.cut_from is not None and total >= request.cut_from[1]:
            # One part may contain everything that the window does, two of them cannot.
            with self._lock:
                self._as_large[request.cut_from[0]] += 1
                if self._as_large[request.cut_from[0]] > 1:
                    raise BoundsIgnored
        return [replace(part, cut_from=(request.window.name, total)) for part in parts]

    def _uses_scroll(self, request: WindowRequest) -> bool:
        """Whether a window is fetched by a scroll: as it began, if it was interrupted."""
        entries = self.journal.pages_of(request.window.name)
        return entries[0].cursor is not None if entries else request.by_scroll

    def _replayed(self, request: WindowRequest, seen: set[str], by_scroll: bool) -> PagingState:
        """Return the paging state of a window after its pages in the journal."""
        window = request.window
        counted = self.journal.counts.get(window.name)
        state = beginning = PagingState.begin(
            counted.total if counted else None, request.page_size, by_scroll=by_scroll
        )
        entries = self.journal.pages_of(window.name)
        for entry in entries:
            state = state.after_page(entry.keys, seen, entry.total_results, entry.next_page)
        self.on_received(window, len(seen))
        is_late = entries and clock.now() - entries[-1].received_at > CURSOR_LIFE
        if is_late and state.by_scroll and not state.ended:
            self.journal.restart(window.name)
            seen.clear()
            return beginning
        return state

    def _spent(self) -> bool:
        """Whether the budget is spent, which the journal records as the reason for missing products."""
        if reason := self.spending.exceeded():
            if failure_of("budget") not in self.journal.notes:
                _LOG.warning("%s", reason)
                self.journal.note(failure_of("budget"), reason)
            self._stop.set()
        return bool(reason)
