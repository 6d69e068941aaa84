"""Walking through windows: side by side, each page into the journal, each window taken up where the journal left it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from prodex.errors import CursorLost, RequestRefused, ServiceError, ServiceUnreachable, UnexpectedReply
from prodex.load.windows import Window
from prodex.query import ProductQuery
from prodex.service import Client
from prodex.service.client import announced
from prodex.service.walk import Walk
from prodex.store.journal import Journal, Stage
from prodex.store.plan import failure_of
from prodex.tables.records import Identity

_LOG = logging.getLogger("prodex")

#: A cursor lives for 2 minutes from call to call (spec, "Scroll cursor validity"); one that is nearly as old is not
#: tried any more.
CURSOR_LIFE = timedelta(seconds=110)

#: Counts that are asked for side by side: they weigh next to nothing, and everything else waits for them.
_COUNTS = 8

#: How often a window begins again because its cursor was lost.
_MOST_RESTARTS = 3

#: What a service may fail with at one page and not at others.
_GIVEN_UP = (UnexpectedReply, RequestRefused, ServiceUnreachable)

Show = Callable[[int, int], object]


@dataclass(frozen=True)
class Errand:
    """One window to fetch, and what to ask for.

    Attributes
    ----------
    window
        What it is called in the journal.
    query
        What to ask for.
    by_scroll
        Through a scroll (True), by offset (False), or as the number of products suggests (None).
    page_size
        Products per call; the recommended number unless given.
    """

    window: Window
    query: ProductQuery
    by_scroll: bool | None = True
    page_size: int | None = None


class Walker:
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
    """

    def __init__(
        self,
        service: Client,
        journal: Journal,
        pieces: Callable[[Errand, int], Sequence[Errand]],
        *,
        side_by_side: int,
        tolerant: bool,
        show: Show,
    ) -> None:
        self._service = service
        self._journal = journal
        self._pieces = pieces
        self._side_by_side = max(1, side_by_side)
        self._tolerant = tolerant
        self._show = show
        self._stop = threading.Event()
        self._seen: set[str] = set()
        self._lock = threading.Lock()
        self.announced = 0

    def count(self, errands: Sequence[Errand]) -> list[int]:
        """Return how many products each has; a count that stands in the journal is not asked for again."""
        with ThreadPoolExecutor(max(self._side_by_side, _COUNTS)) as threads:
            return list(threads.map(self._counted, errands))

    def run(self, errands: Iterable[Errand]) -> None:
        """Fetch windows side by side; one may turn out to be several. An error stops all after the page in flight."""
        with ThreadPoolExecutor(self._side_by_side) as threads:
            running: set[Future[Sequence[Errand]]] = set()
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

    def _counted(self, errand: Errand) -> int:
        name = errand.window.name
        if (known := self._journal.counts.get(name)) is not None:
            return known.total
        page = self._service.search_products(errand.query.to_probe())
        total = announced(page)
        self._journal.count(name, total, page.server_date)
        return total

    def _take(self, errand: Errand) -> Sequence[Errand]:
        """Fetch one window, or return what it is cut into."""
        name = errand.window.name
        counted = self._journal.counts.get(name)
        if counted is not None and (pieces := self._pieces(errand, counted.total)):
            return pieces
        if counted is not None and not counted.total:
            return []
        found: Sequence[Errand] | None = None
        try:
            for attempt in range(_MOST_RESTARTS + 1):
                found = self._walked(errand, attempt)
                if found is not None:
                    break
        except _GIVEN_UP as error:
            self.leave_out(name, error)
            return []
        if self._journal.notes.get(failure_of(name)):
            self._journal.note(failure_of(name), None)
        return found or []

    def _walked(self, errand: Errand, attempt: int) -> Sequence[Errand] | None:
        """Walk through the pages of a window that are not there yet.

        Parameters
        ----------
        attempt
            How often it has begun already.

        Returns
        -------
        sequence of Errand or None
            What it turned out to be cut into; None when it has to begin again.
        """
        window = errand.window
        seen: set[str] = set()
        way = self._way_so_far(errand, seen)
        while not way.ended and not self._stop.is_set():
            asked = way.asks_for()
            try:
                page = self._service.search_products(errand.query, **asked)  # type: ignore[arg-type] # int and str by name
            except CursorLost:
                if attempt == _MOST_RESTARTS:
                    raise
                self._journal.restart(window.name)
                return None
            total = announced(page)
            # Only its first page tells how much a window holds that was never counted.
            is_news = not way.pages and window.name not in self._journal.counts
            if is_news and (pieces := self._pieces(errand, total)):
                self._journal.count(window.name, total, page.server_date)
                return pieces
            way = way.after(len(page), page.new_to(seen), total, offset=page.offset, next_page=page.next_page)
            cursor = asked.get("next_page")
            self._journal.add(
                window.name,
                page.body,
                page.envelope,
                page.identities,
                received_at=page.received_at,
                server_date=page.server_date,
                cursor=None if cursor is None else str(cursor),
            )
            self._saw(window, page.identities)
        # Once more costs a piece a few calls, and may spare the listing of everything.
        is_piece = window.stage is not Stage.PULL or not window.is_whole
        if way.ended and way.distinct < way.most and is_piece and not attempt:
            self._journal.restart(window.name)
            return None
        return []

    def _way_so_far(self, errand: Errand, seen: set[str]) -> Walk:
        """Take up a window where the journal left it."""
        window = errand.window
        counted = self._journal.counts.get(window.name)
        total = counted.total if counted else 0
        way = beginning = Walk.begin(total, errand.page_size, by_scroll=errand.by_scroll)
        entries = self._journal.pages_of(window.name)
        for entry in entries:
            before = len(seen)
            seen.update(key.product_id for key in entry.keys if key)
            odd = sum(key is None for key in entry.keys)
            way = way.after(
                len(entry.keys),
                len(seen) - before + odd,
                entry.total_results,
                offset=entry.offset,
                next_page=entry.next_page,
            )
            self._saw(window, entry.keys)
        is_late = entries and datetime.now(UTC) - entries[-1].received_at > CURSOR_LIFE
        if is_late and way.by_scroll and not way.ended:
            self._journal.restart(window.name)
            seen.clear()
            return beginning
        return way

    def _saw(self, window: Window, keys: Iterable[Identity | None]) -> None:
        if window.stage is not Stage.LISTING:
            with self._lock:
                self._seen.update(key.product_id for key in keys if key)
                self._show(len(self._seen), max(self.announced, len(self._seen)))
