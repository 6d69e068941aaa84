"""Fetching the windows of a load in parallel: each page is in the journal before the next one is requested.

Received pages are kept, also of a window that has to start again. Some services have no scroll, lose cursors, or end a
scroll before everything that they announced was sent; such a window is then fetched by offset pages, as far as these
reach.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial

from prodex import clock
from prodex.errors import CursorLost, RequestRefused, ServiceError, ServiceUnreachable, UnexpectedReply
from prodex.limits import Spending
from prodex.load.windows import BoundsIgnored, Window, WindowRequest
from prodex.service import Client
from prodex.service.paging import PagingState, ProductPage, fetch_pages
from prodex.store.journal import Journal
from prodex.store.journal_contents import contradiction_of, failure_of
from prodex.store.journal_format import Stage

_LOG = logging.getLogger("prodex")

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
        Where the products come from.
    journal
        What was received so far; only the rest is requested.
    split
        Returns the parts that a window with so many products is to be fetched in; none to fetch it as it is.
    parallel
        Windows at the same time.
    tolerant
        Whether to skip windows that the service fails to send, and note them in the journal.
    came
        Called with a window and the products that it has received, after each page.
    spending
        What the whole load has used so far, and its limits.
    """

    service: Client
    journal: Journal
    split: Callable[[WindowRequest, int], Sequence[WindowRequest]]
    parallel: int
    tolerant: bool
    came: Callable[[Window, int], object]
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
            self.came(window, len(seen))
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
        self.came(window, len(seen))
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
