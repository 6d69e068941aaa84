"""Fetching: all products of a query into the journal, each page once, however often the load is interrupted.

Each step reads the journal first and requests only what is missing there, so a load that was killed continues by
repeating the same steps. What is built of it is decided in `prodex.store.plan`.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from prodex.clock import ANY_ZONE
from prodex.errors import ServiceError
from prodex.limits import LoadBudget, Spending
from prodex.load import windows
from prodex.load.clocks import (
    Clocks,
    clock_notes,
    newest_update,
    should_find,
    shown,
    starting_from,
    surely_before,
    was_set,
)
from prodex.load.fetch_progress import Came, FetchProgress, Listener
from prodex.load.window_fetcher import WindowFetcher
from prodex.load.windows import BoundsIgnored, Window, WindowRequest
from prodex.query import ProductQuery
from prodex.service import Client, paging
from prodex.store.absence import absence_of, listing_is_whole
from prodex.store.journal import Journal
from prodex.store.journal_contents import ABSENT, contents, contradiction_of, keys_of, newest
from prodex.store.journal_format import PageEntry, Stage
from prodex.store.reconciliation import ledger_of, totals_notes
from prodex.store.snapshot_keys import Held, Together
from prodex.tables.records import Identity

_LOG = logging.getLogger("prodex")

#: Scrolls are the default: their pages do not shift while products are added and removed, and contain ten times as many
#: products. Offset pages are for services that refuse a scroll or end it early.
BY_SCROLL = True

#: Largest share of products without a usable time of update, which no window finds and the reconciliation has to fetch
#: by GTIN; with more of them, a single scroll costs fewer calls.
_UNDATED = 0.01

_MISSING = "missing"
_BOUNDS_ARE_APPLIED = "bounds heeded"


class Fetch:
    """Fetches the products of one load or refresh, step by step, with its journal.

    Parameters
    ----------
    service
        Where the products come from.
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
    progress
        Hears of its phases, and of what has come.
    listeners
        Hear of what has come as well.
    budget
        Limits of the load.
    """

    def __init__(
        self,
        service: Client,
        query: ProductQuery,
        journal: Journal,
        *,
        since: datetime | None = None,
        held: Held | None = None,
        last: Clocks | None = None,
        tolerant: bool = False,
        progress: FetchProgress | None = None,
        listeners: Sequence[Listener] = (),
        budget: LoadBudget | None = None,
    ) -> None:
        self._journal = journal
        self._progress = FetchProgress() if progress is None else progress
        self._listeners = (*listeners, self._progress.hear)
        self._announced = 0
        self._telling = threading.Lock()
        self._whole = tuple(query.in_calls())
        self._asked = self._whole if since is None else tuple(_since(part, since) for part in self._whole)
        self._since = since
        self._last = last
        self._held = Held.nothing() if held is None else held
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
            came=self._tell,
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
        came = newest(self._journal)
        ledger = ledger_of(self._journal, came, absence_of(self._journal, came))
        is_too_low = contradiction_of("totals") in totals_notes(self._journal)
        return not ledger.complete or self._may_have_moved or not (ledger.agrees or is_too_low)

    def pull(self) -> None:
        """Fetch everything, then what changed meanwhile, and count the products at the end."""
        requests = [self._request(Window(Stage.PULL, part), query) for part, query in enumerate(self._asked)]
        with self._progress.phase("Counting products"):
            totals = [total or 0 for total in self._fetcher.count(requests)]
            announced = self._announced = sum(totals)
            # Known only now, and needed when windows that turn out too large are split.
            self._size = windows.window_size(announced, self._parallel or 1)
            parts = [
                self._first_requests(whole, total) for whole, total in zip(requests, totals, strict=True)
            ]
        with self._progress.phase("Receiving", Stage.PULL, total=announced):
            try:
                self._fetcher.run(request for several in parts for request in several)
            except BoundsIgnored:
                self._fetcher.contradiction(
                    "bounds", "the service announces as many products for a part of the time as for all of it"
                )
                self._journal.note(_BOUNDS_ARE_APPLIED, False)
                self._fetcher.run(requests)
        with self._progress.phase("Receiving what changed meanwhile", Stage.CHANGES):
            self._fetch_changes()
            self._fetch_what_a_wrong_clock_hid()
        with self._progress.phase("Counting products again"):
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
        with self._progress.phase(
            "Listing products to find missing ones", Stage.LISTING, total=self._counted()
        ):
            self._fetcher.run(
                self._request(Window(Stage.LISTING, part), windows.keys_only(query))
                for part, query in enumerate(self._whole)
            )
        named, notes = keys_of(self._journal, Stage.LISTING), self._journal.notes
        if _MISSING not in notes:
            before = {one.product_id: one.updated_at for one in self._held.identities()}
            dates = {**before, **contents(self._journal)}
            self._journal.note(_MISSING, windows.missing_gtins(named.values(), dates))
        if ABSENT not in notes:
            pages = (entry for entry in self._journal.entries() if entry.stage.has_products)
            received = {**self._held, **{one.product_id: one for page in pages for one in page.keys if one}}
            # An incomplete listing says nothing about the products that it does not contain.
            whole = listing_is_whole(self._journal)
            self._journal.note(ABSENT, windows.unlisted_requests(received, named) if whole else {})
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
            with self._progress.phase("Requesting missing products", Stage.MISSING, Stage.ABSENT):
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
        everything = Together(self._held, newest(self._journal))
        ledger = ledger_of(self._journal, everything, absence_of(self._journal, everything), refreshed=True)
        costs_little = sweep is None and len(everything) < paging.SCROLL_FROM
        if sweep or costs_little or not was_complete or not (ledger.complete and ledger.agrees):
            self.reconcile()

    def _tell(self, window: Window, products: int) -> None:
        """Tell the listeners what a window has received; windows are fetched by several threads."""
        with self._telling:
            for hear in self._listeners:
                hear(Came(window, products, self._announced))

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
            keys_of_window = set(contents(self._journal))
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
            f"a clock was set since the snapshot was loaded ({shown(self._last)} then, {shown(now)} now): changes are "
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
            return newest_update(one.updated_at for one in self._held.identities())
        return newest_update(
            one.updated_at for entry in self._entries(Stage.PULL) for one in entry.keys if one
        )

    def _entries(self, stage: Stage) -> list[PageEntry]:
        return [entry for entry in self._journal.entries() if entry.stage is stage]

    def _pages_of(self, part: int) -> int:
        """Return the number of non-empty pages of a part of the query."""
        names = (entry.window for entry in self._entries(Stage.PULL) if entry.keys)
        return sum(name.split("/")[1] == str(part) for name in names)

    @property
    def _may_have_moved(self) -> bool:
        """Whether products may have been added and removed unnoticed, and a listing of all of them costs few calls."""
        pages = [self._pages_of(part) for part in range(len(self._asked))]
        return max(pages, default=0) > 1 and len(newest(self._journal)) < paging.SCROLL_FROM


def _since(query: ProductQuery, since: datetime) -> ProductQuery:
    since = min(since, query.updated_at_to or since).replace(microsecond=0)
    if query.updated_at_from is not None and query.updated_at_from > since:
        return query
    return replace(query, updated_at_from=since)


def _of_second(products: Iterable[Identity], second: str) -> set[str]:
    return {one.product_id for one in products if (one.updated_at or "").startswith(second)}
