"""Fetching: everything a query asks for, into the journal, each page once, however often the load is interrupted.

Each step looks into the journal first and asks the service only for what is not there yet. So a load that was killed
goes on by doing the same again. Nothing is decided here about what is built: see `prodex.store.plan`.
"""

from __future__ import annotations

import dataclasses
import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from datetime import UTC, datetime, timedelta

from prodex.errors import CursorLost, RequestRefused, ServiceError, ServiceUnreachable, UnexpectedReply
from prodex.load.windows import Window, cut, first_windows, window_size
from prodex.query import ProductQuery
from prodex.service import Client, walk
from prodex.service.client import announced
from prodex.service.walk import Walk
from prodex.store.journal import Journal, Stage
from prodex.store.plan import contents, failure_of, ledger_of, listed, newest
from prodex.tables.records import Identity

_LOG = logging.getLogger("prodex")

#: Changes since the service's clock at the beginning, less this, are looked through at the end: a service takes a
#: moment until what was written is found, and its machines' clocks differ.
LAG = timedelta(minutes=2)

#: The same where the service does not tell its time, and ours has to do.
_LAG_WITHOUT_CLOCK = timedelta(minutes=15)

#: A cursor lives for 2 minutes from call to call (spec, "Scroll cursor validity"); one that is nearly as old is not
#: tried any more.
_CURSOR_LIFE = timedelta(seconds=110)

#: How often a window begins again because its cursor was lost.
_MOST_RESTARTS = 3

#: GTINs asked for at a time when what is missing is fetched by name.
_MISSING_PER_CALL = 200

#: What a service may fail with at one page and not at others.
_GIVEN_UP = (UnexpectedReply, RequestRefused, ServiceUnreachable)

Show = Callable[[int, int], object]


class Fetch:
    """One load's way through the service, with its journal.

    Parameters
    ----------
    service
        Whom to ask.
    query
        What is asked for.
    journal
        What has come so far.
    since
        Fetch only what was updated since then; the whole query is still what is counted and listed.
    page_size
        Products per call.
    side_by_side
        Windows fetched at the same time; 0 for a single scroll.
    tolerant
        Go on without the windows that the service fails to give, and list them.
    show
        Called with the products that have come and the number announced.
    """

    def __init__(
        self,
        service: Client,
        query: ProductQuery,
        journal: Journal,
        *,
        since: datetime | None = None,
        page_size: int | None = None,
        side_by_side: int = 4,
        tolerant: bool = False,
        show: Show = lambda *_: None,
    ) -> None:
        self._service = service
        self._journal = journal
        self._whole = tuple(query.in_calls())
        self._asked = self._whole if since is None else tuple(_since(part, since) for part in self._whole)
        # What changed is scrolled through whatever its number: offsets shift while products move.
        self._by_scroll = None if since is None else True
        self._page_size = page_size
        self._side_by_side = side_by_side
        self._tolerant = tolerant
        self._show = show
        self._stop = threading.Event()
        self._seen: set[str] = set()
        self._lock = threading.Lock()
        self._announced = 0
        self._size = 0
        self._missing: Mapping[int, Sequence[str]] = {}

    @property
    def began(self) -> datetime:
        """The service's clock when the first call of this load was made; ours where it does not tell."""
        first = self._journal.counts.get(Window(Stage.PULL, 0).name)
        told = first.server_date if first is not None else None
        return told or datetime.fromisoformat(self._journal.question["began"])

    def load(self) -> None:
        """Fetch everything, and find what is missing where the numbers do not agree."""
        self.pull()
        if not ledger_of(self._journal, newest(self._journal)).complete:
            self.reconcile()

    def pull(self) -> None:
        """Fetch everything, then what changed meanwhile, and count how much there is at the end."""
        wholes = [Window(Stage.PULL, number) for number in range(len(self._asked))]
        totals = self._each(self._count, wholes)
        self._announced = sum(totals)
        self._size = window_size(self._announced, self._side_by_side or 1)
        windows = [
            piece for whole, total in zip(wholes, totals, strict=True) for piece in self._opened(whole, total)
        ]
        self._take_all(windows)
        self._take_all(self._changes(totals))
        self.count_whole()

    def count_whole(self) -> None:
        """Count how many products the whole query has at the end."""
        windows = [Window(Stage.END, number) for number in range(len(self._whole))]
        try:
            self._each(self._count, windows)
        except _GIVEN_UP as error:
            self._leave_out(Stage.END, error)

    def reconcile(self, held: Mapping[str, str | None] | None = None) -> None:
        """List key and date of everything, and fetch what is missing or newer.

        Parameters
        ----------
        held
            Key and updatedAt of the products that are there without this load.
        """
        _LOG.info("listing keys and dates of everything, to find what is missing or gone")
        self._take_all([Window(Stage.LISTING, number) for number in range(len(self._whole))])
        have = {**(held or {}), **contents(self._journal)}
        wanted = [one for one in listed(self._journal).values() if _is_missing(one, have)]
        gtins = sorted({one.gtin for one in wanted if one.gtin is not None})
        calls = range(0, len(gtins), _MISSING_PER_CALL)
        self._missing = {n: gtins[begin : begin + _MISSING_PER_CALL] for n, begin in enumerate(calls)}
        self._take_all([Window(Stage.MISSING, number) for number in self._missing])

    def _opened(self, whole: Window, total: int) -> list[Window]:
        """Return the windows to begin with: the whole, or its first pieces."""
        query = self._asked[whole.part]
        if total < walk.SCROLL_FROM or not self._side_by_side or query.gtins_in:
            return [whole]
        pieces = first_windows(query, whole.part, self.began)
        found = sum(self._each(self._count, pieces))
        if found < total * 0.99:
            _LOG.warning(
                "%d of %d products have no time of update that the service finds them by; one scroll fetches all",
                total - found,
                total,
            )
            return [whole]
        return pieces

    def _changes(self, totals: Sequence[int]) -> list[Window]:
        """Return the windows of what changed while it was pulled; what came on one page was frozen anyway."""
        told = self._journal.counts[Window(Stage.PULL, 0).name].server_date
        since = self.began - (_LAG_WITHOUT_CLOCK if told is None else LAG)
        windows = []
        for part, query in enumerate(self._asked):
            limit = Walk.begin(totals[part], self._page_size, by_scroll=self._by_scroll).limit
            if totals[part] > limit and (query.updated_at_to is None or query.updated_at_to >= since):
                windows.append(Window(Stage.CHANGES, part, int(since.timestamp())))
        return windows

    def _count(self, window: Window) -> int:
        counted = self._journal.counts.get(window.name)
        if counted is not None:
            return counted.total
        page = self._service.search_products(self._query(window).to_probe())
        total = announced(page)
        self._journal.count(window.name, total, page.server_date)
        return total

    def _query(self, window: Window) -> ProductQuery:
        match window.stage:
            case Stage.END:
                return self._whole[window.part]
            case Stage.LISTING:
                return dataclasses.replace(
                    self._whole[window.part], source_include=["updatedAt"], source_exclude=None
                )
            case Stage.MISSING:
                # By name alone, within the filters of the query but one: it may just have been updated.
                return dataclasses.replace(self._whole[0], gtins_in=self._missing[window.part])
            case _:
                return window.of(self._asked[window.part])

    def _each(self, do: Callable[[Window], int], windows: Sequence[Window]) -> list[int]:
        with ThreadPoolExecutor(max(1, self._side_by_side)) as threads:
            return list(threads.map(do, windows))

    def _take_all(self, windows: Iterable[Window]) -> None:
        """Fetch windows side by side; one may turn out to be several. An error stops all after the page in flight."""
        with ThreadPoolExecutor(max(1, self._side_by_side)) as threads:
            running: set[Future[list[Window]]] = set()
            try:
                running = {threads.submit(self._take, window) for window in windows}
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

    def _take(self, window: Window) -> list[Window]:
        """Fetch one window, or return the windows that it is cut into."""
        counted = self._journal.counts.get(window.name)
        if counted is not None and (pieces := self._pieces(window, counted.total)):
            return pieces
        if counted is not None and not counted.total:
            return []
        try:
            found: list[Window] | None = None
            for attempt in range(_MOST_RESTARTS + 1):
                found = self._walked(window, attempt)
                if found is not None:
                    break
        except _GIVEN_UP as error:
            self._leave_out(window.name, error)
            return []
        if self._journal.notes.get(failure_of(window.name)):
            self._journal.note(failure_of(window.name), None)
        return found or []

    def _leave_out(self, what: str, error: ServiceError) -> None:
        """Go on without what the service failed to give, if that was allowed; not without the service itself."""
        if not self._tolerant or (isinstance(error, ServiceUnreachable) and error.status is None):
            raise error
        _LOG.warning("%s is left out: %s", what, error)
        self._journal.note(failure_of(what), str(error))

    def _pieces(self, window: Window, total: int) -> list[Window]:
        """Return what a window is to be cut into, if it holds too much and may be cut."""
        if window.stage is not Stage.PULL or (window.begin is None and window.end is None):
            return []
        return cut(window, total, self._size, self.began)

    def _walked(self, window: Window, attempt: int) -> list[Window] | None:
        """Walk through the pages of a window that are not there yet.

        Parameters
        ----------
        attempt
            How often it has begun already.

        Returns
        -------
        list of Window or None
            The windows that it turned out to be; None when it has to begin again.
        """
        query = self._query(window)
        seen: set[str] = set()
        way = self._way_so_far(window, seen)
        while not way.ended and not self._stop.is_set():
            asked = way.asks_for()
            try:
                page = self._service.search_products(query, **asked)  # type: ignore[arg-type] # int and str by name
            except CursorLost:
                if attempt == _MOST_RESTARTS:
                    raise
                self._journal.restart(window.name)
                return None
            total = announced(page)
            # Only its first page tells how much a piece holds that was never counted.
            is_news = not way.pages and window.name not in self._journal.counts
            if is_news and (pieces := self._pieces(window, total)):
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

    def _way_so_far(self, window: Window, seen: set[str]) -> Walk:
        """Take up a window where the journal left it."""
        counted = self._journal.counts.get(window.name)
        is_whole_pull = window.stage is Stage.PULL and window.is_whole
        way = beginning = Walk.begin(
            counted.total if counted else 0,
            None if window.stage is Stage.LISTING else self._page_size,
            by_scroll=self._by_scroll if is_whole_pull else True,
        )
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
        dead = entries and datetime.now(UTC) - entries[-1].received_at > _CURSOR_LIFE
        if dead and way.by_scroll and not way.ended:
            self._journal.restart(window.name)
            seen.clear()
            return beginning
        return way

    def _saw(self, window: Window, keys: Iterable[Identity | None]) -> None:
        if window.stage is not Stage.LISTING:
            with self._lock:
                self._seen.update(key.product_id for key in keys if key)
                self._show(len(self._seen), max(self._announced, len(self._seen)))


def _since(query: ProductQuery, since: datetime) -> ProductQuery:
    since = since.replace(microsecond=0)
    if query.updated_at_from is not None and query.updated_at_from > since:
        return query
    return dataclasses.replace(query, updated_at_from=since)


def _is_missing(one: Identity, have: Mapping[str, str | None]) -> bool:
    # To the second: tables hold no more of a date.
    return one.product_id not in have or (one.updated_at or "")[:19] > (have[one.product_id] or "")[:19]
