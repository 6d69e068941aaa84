"""Through the windows of a load side by side: each page is in the journal before the next is asked for.

What came is kept, also of a window that has to begin again. A scroll that is refused, that loses its cursor again and
again or that ends before as many products came as were announced is followed by offset pages, as far as these reach.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from prodex.errors import CursorLost, RequestRefused, ServiceError, ServiceUnreachable, UnexpectedReply
from prodex.load.budget import LoadBudget, Spending
from prodex.load.windows import Window
from prodex.query import ProductQuery
from prodex.service import Client
from prodex.service.paging import PagingState, ProductPage
from prodex.store.journal import Journal
from prodex.store.journal_contents import contradiction_of, failure_of
from prodex.store.journal_format import PageEntry, Stage
from prodex.tables.records import Identity

_LOG = logging.getLogger("prodex")

#: A cursor lives for 2 minutes from call to call (spec, "Scroll cursor validity"); one that is nearly as old is not
#: tried any more.
CURSOR_LIFE = timedelta(seconds=110)

#: Counts that are asked for side by side: they weigh next to nothing, and everything else waits for them.
_COUNTS = 8

#: How often a count without a total is asked for.
_COUNT_ATTEMPTS = 3

#: How often a window begins again because its cursor was lost.
_MOST_RESTARTS = 3

#: How often offset pages are walked through while products come and go in between.
_OFFSET_WALKS = 3

#: What a service may fail with at one page and not at others.
_GIVEN_UP = (UnexpectedReply, RequestRefused, ServiceUnreachable)

Show = Callable[[int, int], object]


class BoundsIgnored(Exception):
    """Pieces of a window each announce as much as the whole of it: the service ignores their bounds."""


@dataclass(frozen=True)
class WindowRequest:
    """One window to fetch, and what to ask for.

    Attributes
    ----------
    window
        What it is called in the journal.
    query
        What to ask for.
    by_scroll
        Through a scroll, or by offset.
    page_size
        Products per call; the recommended number unless given.
    cut_from
        The window that it is a piece of, and how much that one announced.
    """

    window: Window
    query: ProductQuery
    by_scroll: bool = True
    page_size: int | None = None
    cut_from: tuple[str, int] | None = None


class WindowFetcher:
    """Runs errands, several at a time.

    Parameters
    ----------
    service
        Whom to ask.
    journal
        What has come so far; only what is not there is asked for.
    pieces
        Says of an errand and its number of products into which errands it is to be cut, if any.
    side_by_side
        Errands at the same time.
    tolerant
        Go on without the windows that the service fails to give, and note them in the journal.
    show
        Called with the products that have come and the number announced.
    budget
        What all of it may cost.
    """

    def __init__(
        self,
        service: Client,
        journal: Journal,
        pieces: Callable[[WindowRequest, int], Sequence[WindowRequest]],
        *,
        side_by_side: int,
        tolerant: bool,
        show: Show,
        budget: LoadBudget,
    ) -> None:
        self._service = service
        self._journal = journal
        self._pieces = pieces
        self._side_by_side = max(1, side_by_side)
        self._tolerant = tolerant
        self._show = show
        self._spending = Spending(budget)
        self._stop = threading.Event()
        self._seen: set[str] = set()
        self._as_large: Counter[str] = Counter()
        self._lock = threading.Lock()
        self.announced = 0

    def count(self, errands: Sequence[WindowRequest]) -> list[int | None]:
        """Return how many products each has, None where the service does not say; what is in the journal is known."""
        with ThreadPoolExecutor(max(self._side_by_side, _COUNTS)) as threads:
            return list(threads.map(self._counted, errands))

    def holds_nothing(self, errand: WindowRequest) -> bool:
        """Say whether a window that should hold nothing does: no product comes, and none is announced."""
        name = errand.window.name
        if name not in self._journal.counts:
            page = self._service.search_products(errand.query.to_probe())
            self._journal.count(name, max(page.total_results or 0, len(page)), page.server_date)
        return not self._journal.counts[name].total

    def run(self, errands: Iterable[WindowRequest]) -> None:
        """Fetch windows side by side; one may turn out to be several. An error stops all after the page in flight.

        Raises
        ------
        BoundsIgnored
            When several pieces of a window announce as much as the whole of it.
        """
        if self._spent():
            return
        self._stop.clear()
        with ThreadPoolExecutor(self._side_by_side) as threads:
            running: set[Future[Sequence[WindowRequest]]] = set()
            try:
                running = {threads.submit(self._take, errand) for errand in errands}
                while running:
                    done, running = wait(running, return_when=FIRST_COMPLETED)
                    running |= {
                        threads.submit(self._take, piece) for future in done for piece in future.result()
                    }
            except BaseException:
                self._stop.set()
                for future in running:
                    future.cancel()
                raise

    def leave_out(self, what: str, error: ServiceError) -> None:
        """Go on without what the service failed to give, if that was allowed; not without the service itself."""
        away = isinstance(error, ServiceUnreachable) and error.status is None
        if not self._tolerant or away or not isinstance(error, _GIVEN_UP):
            raise error
        _LOG.warning("%s is left out: %s", what, error)
        self._journal.note(failure_of(what), str(error))

    def _counted(self, errand: WindowRequest) -> int | None:
        name = errand.window.name
        if (known := self._journal.counts.get(name)) is not None:
            return known.total
        for _ in range(_COUNT_ATTEMPTS):
            page = self._service.search_products(errand.query.to_probe())
            if page.total_results is not None:
                break
        self._journal.count(name, page.total_results, page.server_date)
        return page.total_results

    def _take(self, errand: WindowRequest) -> Sequence[WindowRequest]:
        """Fetch one window, or return what it is cut into."""
        name = errand.window.name
        counted = self._journal.counts.get(name)
        if counted is not None and (pieces := self._cut(errand, counted.total)):
            return pieces
        try:
            pieces = self._fetched(errand)
        except _GIVEN_UP as error:
            self.leave_out(name, error)
            return []
        if self._journal.notes.get(failure_of(name)):
            self._journal.note(failure_of(name), None)
        return pieces

    def _fetched(self, errand: WindowRequest) -> Sequence[WindowRequest]:
        """Go through a window until all that it announces came, or nothing is left to try."""
        name = errand.window.name
        by_scroll = self._goes_by_scroll(errand)
        lost = walks = 0
        while True:
            refused: RequestRefused | None = None
            try:
                came = self._walked(errand, by_scroll)
                if not isinstance(came, PagingState):
                    return came
                walks += 1
            except RequestRefused as error:
                is_lost = isinstance(error, CursorLost)
                if not is_lost and (not by_scroll or self._journal.pages_of(name)):
                    raise
                # A service without a scroll refuses its first call: asking again changes nothing.
                refused, lost = error, lost + 1 if is_lost else _MOST_RESTARTS + 1
                came = self._way_so_far(errand, set(), by_scroll)
            if self._stop.is_set():
                return []
            # A cursor that is refused when just as many products came as were announced is an end like others.
            has_ended = refused is None or 0 < came.distinct == came.most
            is_all = has_ended and not came.moved and len(self._journal.brought(name)) >= came.most
            if by_scroll and is_all:
                return []
            if not by_scroll and (is_all or walks >= _OFFSET_WALKS):
                self._tell_of_offsets(name, came)
                return []
            if by_scroll and not (
                lost <= _MOST_RESTARTS if refused else walks < 2 and self._is_piece(errand)
            ):
                if came.most > came.reach:  # offsets do not reach what is missing; the ledger tells
                    if refused is not None:
                        raise refused
                    return []
                self._contradiction(
                    f"scroll {name}",
                    f"{name}: the scroll ended {f'in an error ({refused})' if refused else 'early'} with "
                    f"{came.distinct:,} of {came.most:,} products; fetched by offset as well",
                )
                by_scroll, walks = False, 0
            self._journal.restart(name)

    def _tell_of_offsets(self, name: str, way: PagingState) -> None:
        """Say of offset pages what they cannot answer for."""
        if way.moved:
            self._contradiction(f"moved {name}", f"{name}: products came or went between its offset pages")
        if way.capped:
            self._journal.note(
                failure_of(f"{name} beyond offset {way.reach:,}"),
                "offset pages end there, and there was no scroll: there may be more products",
            )

    def _walked(self, errand: WindowRequest, by_scroll: bool) -> PagingState | Sequence[WindowRequest]:
        """Go through the pages of a window that are not there yet; return the walk, or what it is cut into."""
        window = errand.window
        seen: set[str] = set()
        way = self._way_so_far(errand, seen, by_scroll)
        while not way.ended and not self._stop.is_set() and not self._spent():
            asked = way.asks_for()
            page = self._service.search_products(errand.query, **asked)  # type: ignore[arg-type] # int and str by name
            self._spending.add(len(page.body))
            total = page.total_results
            # Only its first page tells how much a window holds that was never counted.
            is_news = not way.pages and window.name not in self._journal.counts
            if is_news and (pieces := self._cut(errand, total)):
                self._journal.count(window.name, total, page.server_date)
                return pieces
            way = way.after(_product_ids(page.identities), page.new_to(seen), total, next_page=page.next_page)
            self._keep(window, page, asked)
        return way

    def _keep(self, window: Window, page: ProductPage, asked: dict[str, int | str]) -> None:
        cursor, offset, limit = asked.get("next_page"), asked.get("offset"), int(asked["limit"])
        self._journal.add(
            window.name,
            page.body,
            page.envelope,
            page.identities,
            received_at=page.received_at,
            server_date=page.server_date,
            cursor=None if cursor is None else str(cursor),
            asked=None if offset is None else int(offset),
            limit=limit,
        )
        if len(page) > limit:
            self._contradiction(
                "limit", f"asked for {limit:,} products a page, the service gave {len(page):,}"
            )
        self._saw(window, page.identities)

    def _cut(self, errand: WindowRequest, total: int | None) -> Sequence[WindowRequest]:
        """Return what a window is cut into; nothing where its size is not known, or where it is best left whole."""
        if not total or self._stop.is_set():
            return []
        pieces = self._pieces(errand, total)
        if pieces and errand.cut_from is not None and total >= errand.cut_from[1]:
            # One piece may hold all that the whole does, two of them cannot.
            with self._lock:
                self._as_large[errand.cut_from[0]] += 1
                if self._as_large[errand.cut_from[0]] > 1:
                    raise BoundsIgnored
        return [replace(piece, cut_from=(errand.window.name, total)) for piece in pieces]

    def _goes_by_scroll(self, errand: WindowRequest) -> bool:
        """Say which way a window goes: the way it began, if it was interrupted."""
        entries = self._journal.pages_of(errand.window.name)
        return entries[0].cursor is not None if entries and not _is_older(entries) else errand.by_scroll

    def _way_so_far(self, errand: WindowRequest, seen: set[str], by_scroll: bool) -> PagingState:
        """Take up a window where the journal left it."""
        window = errand.window
        counted = self._journal.counts.get(window.name)
        way = beginning = PagingState.begin(
            counted.total if counted else None, errand.page_size, by_scroll=by_scroll
        )
        entries = self._journal.pages_of(window.name)
        if entries and _is_older(entries):
            self._journal.restart(window.name)
            return beginning
        for entry in entries:
            before = len(seen)
            seen.update(key.product_id for key in entry.keys if key)
            way = way.after(
                _product_ids(entry.keys), len(seen) - before, entry.total_results, next_page=entry.next_page
            )
            self._saw(window, entry.keys)
        is_late = entries and datetime.now(UTC) - entries[-1].received_at > CURSOR_LIFE
        if is_late and way.by_scroll and not way.ended:
            self._journal.restart(window.name)
            seen.clear()
            return beginning
        return way

    def _is_piece(self, errand: WindowRequest) -> bool:
        """Say whether a scroll that ended early is worth another: it costs a piece a few calls."""
        return errand.window.stage is not Stage.PULL or not errand.window.is_whole

    def _contradiction(self, about: str, text: str) -> None:
        if contradiction_of(about) not in self._journal.notes:
            _LOG.warning("%s", text)
            self._journal.note(contradiction_of(about), text)

    def _spent(self) -> bool:
        """Say whether the budget is spent; the journal remembers it as what was not loaded."""
        if reason := self._spending.exceeded():
            if failure_of("budget") not in self._journal.notes:
                _LOG.warning("%s", reason)
                self._journal.note(failure_of("budget"), reason)
            self._stop.set()
        return bool(reason)

    def _saw(self, window: Window, keys: Iterable[Identity | None]) -> None:
        if window.stage.has_products:
            with self._lock:
                self._seen.update(key.product_id for key in keys if key)
                self._show(len(self._seen), max(self.announced, len(self._seen)))


def _product_ids(keys: Iterable[Identity | None]) -> list[str | None]:
    return [None if key is None else key.product_id for key in keys]


def _is_older(entries: Sequence[PageEntry]) -> bool:
    """Say whether pages by offset come from a version that did not let them overlap."""
    return entries[0].cursor is None and entries[0].asked is None
