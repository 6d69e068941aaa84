"""Fetching: everything a query asks for, into the journal, each page once, however often the load is interrupted.

Each step looks into the journal first and asks the service only for what is not there yet. So a load that was killed
goes on by doing the same again. Nothing is decided here about what is built: see `prodex.store.plan`.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from prodex.errors import ServiceError
from prodex.load.walking import Errand, Show, Walker
from prodex.load.windows import Window, cut, first_windows, window_size
from prodex.query import ProductQuery
from prodex.service import Client, walk
from prodex.service.walk import Walk
from prodex.store.journal import Journal, Stage
from prodex.store.plan import askable_gtin, contents, is_newer, ledger_of, listed, newest
from prodex.tables.records import Identity

_LOG = logging.getLogger("prodex")

#: Changes since the service's clock at the beginning, less this, are looked through at the end: a service takes a
#: moment until what was written is found, and its machines' clocks differ.
LAG = timedelta(minutes=2)

#: The same where the service does not tell its time, and ours has to do.
LAG_WITHOUT_CLOCK = timedelta(minutes=15)

#: GTINs asked for at a time when what is missing is fetched by name.
_MISSING_PER_CALL = 200

#: Share of all products that the windows may leave to the listing of everything; with more of them without a time
#: of update, a single scroll costs less.
_UNDATED = 0.01

_MISSING = "missing"


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
        self._journal = journal
        self._whole = tuple(query.in_calls())
        self._asked = self._whole if since is None else tuple(_since(part, since) for part in self._whole)
        # What changed is scrolled through whatever its number: offsets shift while products move.
        self._by_scroll = None if since is None else True
        self._page_size = page_size
        self._side_by_side = side_by_side
        self._size = 0
        self._walker = Walker(
            service, journal, self._pieces, side_by_side=side_by_side, tolerant=tolerant, show=show
        )

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
        wholes = [
            Errand(Window(Stage.PULL, part), query, self._by_scroll, self._page_size)
            for part, query in enumerate(self._asked)
        ]
        totals = self._walker.count(wholes)
        self._walker.announced = sum(totals)
        self._size = window_size(sum(totals), self._side_by_side or 1)
        opened = [self._opened(errand, total) for errand, total in zip(wholes, totals, strict=True)]
        self._walker.run(errand for errands in opened for errand in errands)
        self._walker.run(self._changes(totals))
        try:
            self._walker.count(
                [Errand(Window(Stage.END, part), query) for part, query in enumerate(self._whole)]
            )
        except ServiceError as error:
            self._walker.leave_out(Stage.END, error)

    def reconcile(self, held: Mapping[str, str | None] | None = None) -> None:
        """List key and date of everything, and fetch what is missing or newer.

        Parameters
        ----------
        held
            Key and updatedAt of the products that are there without this load.
        """
        _LOG.info("listing keys and dates of everything, to find what is missing or gone")
        keys = [replace(query, source_include=["updatedAt"], source_exclude=None) for query in self._whole]
        self._walker.run(Errand(Window(Stage.LISTING, part), query) for part, query in enumerate(keys))
        if _MISSING not in self._journal.notes:
            have = {**(held or {}), **contents(self._journal)}
            wanted = [one for one in listed(self._journal).values() if _is_missing(one, have)]
            self._journal.note(_MISSING, sorted({gtin for one in wanted if (gtin := askable_gtin(one))}))
        gtins = self._journal.notes[_MISSING]
        calls = [
            gtins[begin : begin + _MISSING_PER_CALL] for begin in range(0, len(gtins), _MISSING_PER_CALL)
        ]
        self._walker.run(
            Errand(Window(Stage.MISSING, number), replace(self._whole[0], gtins_in=some))
            for number, some in enumerate(calls)
        )

    def _opened(self, whole: Errand, total: int) -> Sequence[Errand]:
        """Return the windows to begin with: the whole, or its first pieces."""
        if total < walk.SCROLL_FROM or not self._side_by_side or whole.query.gtins_in:
            return [whole]
        pieces = [self._piece(window) for window in first_windows(whole.query, whole.window.part, self.began)]
        found = sum(self._walker.count(pieces))
        if found < total * (1 - _UNDATED):
            _LOG.warning(
                "%d of %d products have no time of update that the service finds them by; one scroll fetches all",
                total - found,
                total,
            )
            return [whole]
        return pieces

    def _pieces(self, errand: Errand, total: int) -> Sequence[Errand]:
        """Return what a window is to be cut into, if it holds too much and may be cut."""
        if errand.window.stage is not Stage.PULL or errand.window.is_whole:
            return []
        return [self._piece(window) for window in cut(errand.window, total, self._size, self.began)]

    def _piece(self, window: Window) -> Errand:
        return Errand(window, window.of(self._asked[window.part]), page_size=self._page_size)

    def _changes(self, totals: Sequence[int]) -> Sequence[Errand]:
        """Return the windows of what changed while it was pulled; what came on one page was frozen anyway."""
        told = self._journal.counts[Window(Stage.PULL, 0).name].server_date
        since = self.began - (LAG_WITHOUT_CLOCK if told is None else LAG)
        return [
            self._piece(Window(Stage.CHANGES, part, int(since.timestamp())))
            for part, query in enumerate(self._asked)
            if totals[part] > Walk.begin(totals[part], self._page_size, by_scroll=self._by_scroll).limit
            and (query.updated_at_to is None or query.updated_at_to >= since)
        ]


def _since(query: ProductQuery, since: datetime) -> ProductQuery:
    since = min(since, query.updated_at_to or since).replace(microsecond=0)
    if query.updated_at_from is not None and query.updated_at_from > since:
        return query
    return replace(query, updated_at_from=since)


def _is_missing(one: Identity, have: Mapping[str, str | None]) -> bool:
    return one.product_id not in have or is_newer(one.updated_at, have[one.product_id])
