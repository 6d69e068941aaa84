"""Fetching: everything a query asks for, into the journal, each page once, however often the load is interrupted.

Each step looks into the journal first and asks the service only for what is not there yet. So a load that was killed
goes on by doing the same again. Nothing is decided here about what is built: see `prodex.store.plan`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from prodex.errors import ServiceError
from prodex.load.budget import LoadBudget
from prodex.load.clocks import ANY_ZONE, clock_notes, newest_update, should_find, starting_from
from prodex.load.window_fetcher import BoundsIgnored, Show, WindowFetcher, WindowRequest
from prodex.load.windows import Window, controls, cut, first_windows, window_size
from prodex.query import ProductQuery
from prodex.service import Client, paging
from prodex.store.journal import Journal
from prodex.store.journal_contents import (
    ABSENT,
    askable_gtin,
    contents,
    contradiction_of,
    is_newer,
    listed,
    newest,
)
from prodex.store.journal_format import PageEntry, Stage
from prodex.store.reconciliation import ledger_of, listing_is_whole, totals_notes
from prodex.tables.records import Identity

_LOG = logging.getLogger("prodex")

#: Everything is asked for through a scroll: its pages do not shift while products come and go, and hold ten times as
#: many products. Offset pages are for services that refuse a scroll or end it early.
BY_SCROLL = True

#: GTINs asked for at a time when what is missing is fetched by name.
_GTINS_PER_CALL = 200

#: Share of all products that the windows may leave to the listing of everything; with more of them without a time
#: of update, a single scroll costs less.
_UNDATED = 0.01

_MISSING = "missing"
_BOUNDS_ARE_HEEDED = "bounds heeded"


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
    held
        The products that are there without this load, by key.
    page_size
        Products per call.
    side_by_side
        Windows fetched at the same time; 0 for a single scroll.
    tolerant
        Go on without the windows that the service fails to give, and list them.
    show
        Called with the products that have come and the number announced.
    budget
        What the load may cost.
    """

    def __init__(
        self,
        service: Client,
        query: ProductQuery,
        journal: Journal,
        *,
        since: datetime | None = None,
        held: Mapping[str, Identity] | None = None,
        page_size: int | None = None,
        side_by_side: int = 4,
        tolerant: bool = False,
        show: Show = lambda *_: None,
        budget: LoadBudget | None = None,
    ) -> None:
        self._journal = journal
        self._whole = tuple(query.in_calls())
        self._asked = self._whole if since is None else tuple(_since(part, since) for part in self._whole)
        self._since = since
        self._is_refresh = since is not None
        self._held = held or {}
        self._page_size = page_size
        self._side_by_side = side_by_side
        self._size = 0
        self._walker = WindowFetcher(
            service,
            journal,
            self._pieces,
            side_by_side=side_by_side,
            tolerant=tolerant,
            show=show,
            budget=budget or LoadBudget(),
        )

    @property
    def began(self) -> datetime:
        """The service's clock when the first call of this load was made; ours where it does not tell."""
        return self._service_time or datetime.fromisoformat(self._journal.question["began"])

    @property
    def _service_time(self) -> datetime | None:
        first = self._journal.counts.get(Window(Stage.PULL, 0).name)
        return first.server_date if first is not None else None

    def load(self) -> None:
        """Fetch everything, and list all keys where the numbers do not agree or where that costs few calls."""
        self.pull()
        ledger = ledger_of(self._journal, newest(self._journal))
        if not ledger.complete or self._may_have_moved or not (ledger.agrees or self._totals_are_too_low):
            self.reconcile()

    def pull(self) -> None:
        """Fetch everything, then what changed meanwhile, and count how much there is at the end."""
        wholes = [self._errand(Window(Stage.PULL, part), query) for part, query in enumerate(self._asked)]
        totals = [total or 0 for total in self._walker.count(wholes)]
        self._walker.announced = sum(totals)
        self._size = window_size(sum(totals), self._side_by_side or 1)
        opened = [self._opened(whole, total) for whole, total in zip(wholes, totals, strict=True)]
        try:
            self._walker.run(errand for errands in opened for errand in errands)
        except BoundsIgnored:
            self._note("bounds", "the service announces as much for a part of the time as for all of it")
            self._journal.note(_BOUNDS_ARE_HEEDED, False)
            self._walker.run(wholes)
        self._fetch_changes()
        try:
            self._walker.count(
                [WindowRequest(Window(Stage.END, part), query) for part, query in enumerate(self._whole)]
            )
        except ServiceError as error:
            self._walker.leave_out(Stage.END, error)
        our_time = datetime.fromisoformat(self._journal.question["began"])
        for about, text in clock_notes(self._service_time, our_time, self._newest()):
            self._note(about, text)

    def reconcile(self) -> None:
        """List key and date of everything; fetch what is missing or newer, and ask for what the list does not name.

        A product is left out only when it was asked for by its GTIN and was not there.
        """
        _LOG.info("listing keys and dates of everything, to find what is missing or gone")
        keys = [_keys_only(query) for query in self._whole]
        self._walker.run(self._errand(Window(Stage.LISTING, part), query) for part, query in enumerate(keys))
        have = {key: one.updated_at for key, one in self._held.items()} | contents(self._journal)
        named = listed(self._journal)
        if _MISSING not in self._journal.notes:
            wanted = [one for one in named.values() if _is_missing(one, have)]
            self._journal.note(_MISSING, sorted({gtin for one in wanted if (gtin := askable_gtin(one))}))
        if ABSENT not in self._journal.notes:
            self._journal.note(ABSENT, self._doubtful(named) if listing_is_whole(self._journal) else {})
        missing, absent = self._journal.notes[_MISSING], self._journal.notes[ABSENT]
        calls = [missing[i : i + _GTINS_PER_CALL] for i in range(0, len(missing), _GTINS_PER_CALL)]
        self._walker.run(
            [
                *(
                    self._errand(Window(Stage.MISSING, number), replace(self._whole[0], gtins_in=some))
                    for number, some in enumerate(calls)
                ),
                *(
                    self._errand(
                        Window(Stage.ABSENT, number),
                        _keys_only(replace(self._whole[0], gtins_in=question["gtins"])),
                    )
                    for number, question in enumerate(absent.values())
                ),
            ]
        )

    def refresh(self, *, sweep: bool | None, was_complete: bool) -> None:
        """Fetch what changed, and list all keys as for a load.

        Parameters
        ----------
        sweep
            Make that listing (True), only where the numbers do not agree (False), or also where it costs few calls.
        was_complete
            Whether all was there before; otherwise the numbers may agree by chance.
        """
        self.pull()
        everything = {**self._held, **newest(self._journal)}
        ledger = ledger_of(self._journal, everything, refreshed=True)
        costs_little = sweep is None and len(everything) < paging.SCROLL_FROM
        if sweep or costs_little or not was_complete or not (ledger.complete and ledger.agrees):
            self.reconcile()

    def _opened(self, whole: WindowRequest, total: int) -> Sequence[WindowRequest]:
        """Return the windows to begin with: the whole, or its first pieces."""
        if total < paging.SCROLL_FROM or not self._side_by_side or whole.query.gtins_in:
            return [whole]
        if not self._bounds_are_heeded(whole.query):
            return [whole]
        pieces = [self._piece(window) for window in first_windows(whole.query, whole.window.part, self.began)]
        found = sum(count or 0 for count in self._walker.count(pieces))
        if found < total * (1 - _UNDATED):
            _LOG.warning(
                "%d of %d products have no time of update that the service finds them by; one scroll fetches all",
                total - found,
                total,
            )
            return [whole]
        return pieces

    def _bounds_are_heeded(self, query: ProductQuery) -> bool:
        """Ask for what no product can have: where something comes, updated_at_* cannot cut a pull into windows."""
        if self._journal.notes.get(_BOUNDS_ARE_HEEDED) is False:  # found out later
            return False
        bare = replace(query, updated_at_from=None, updated_at_to=None)
        heeded = all(self._walker.holds_nothing(self._errand(one, one.of(bare))) for one in controls(0))
        if not heeded:
            self._note(
                "bounds", "the service finds products where none can be: it ignores updated_at_from or _to"
            )
        return heeded

    def _pieces(self, errand: WindowRequest, total: int) -> Sequence[WindowRequest]:
        """Return what a window is to be cut into, if it holds too much and may be cut."""
        if errand.window.stage is not Stage.PULL or errand.window.is_whole:
            return []
        return [self._piece(window) for window in cut(errand.window, total, self._size, self.began)]

    def _piece(self, window: Window) -> WindowRequest:
        return WindowRequest(window, window.of(self._asked[window.part]), page_size=self._page_size)

    def _errand(self, window: Window, query: ProductQuery) -> WindowRequest:
        is_pull = window.stage is Stage.PULL
        return WindowRequest(window, query, BY_SCROLL or not is_pull, self._page_size if is_pull else None)

    def _fetch_changes(self) -> None:
        """Fetch what changed while it was pulled; what came on one page was frozen anyway."""
        newest_second = self._newest()
        since = starting_from(self._service_time, self.began, newest_second)
        parts = [
            part
            for part, query in enumerate(self._asked)
            if self._pages_of(part) > 1 and (query.updated_at_to is None or query.updated_at_to >= since)
        ]
        self._walker.run(self._piece(Window(Stage.CHANGES, part, int(since.timestamp()))) for part in parts)
        since = self._since or since
        if newest_second is None or not should_find(since, newest_second):
            return
        if self._is_refresh:  # what it fetches is what changed
            expected, parts = _of_second(self._held.values(), newest_second), list(range(len(self._whole)))
            keys_of_window = set(contents(self._journal))
        else:
            pulled = [one for entry in self._entries(Stage.PULL) for one in entry.keys if one]
            expected = _of_second(pulled, newest_second) if parts else set()
            keys_of_window = {
                one.product_id for entry in self._entries(Stage.CHANGES) for one in entry.keys if one
            }
        if expected and not expected & keys_of_window:
            self._note(
                "zone",
                f"asked for what was updated since {since:%Y-%m-%dT%H:%M:%S}, the service did not give the product "
                f"updated at {newest_second}: it has gone, or its filter reads times in another zone. Asked again from "
                f"{ANY_ZONE.total_seconds() / 3600:.0f} hours earlier",
            )
            earlier = since - ANY_ZONE
            self._walker.run(
                WindowRequest(
                    window := Window(Stage.CHANGES, part, int(earlier.timestamp())),
                    window.of(query),
                    page_size=self._page_size,
                )
                for part, query in enumerate(self._whole)
                if part in parts and (query.updated_at_to is None or query.updated_at_to >= earlier)
            )

    def _newest(self) -> str | None:
        """Return the latest updatedAt that is known: of what is held, or of what was pulled."""
        if self._is_refresh:
            return newest_update(one.updated_at for one in self._held.values())
        return newest_update(
            one.updated_at for entry in self._entries(Stage.PULL) for one in entry.keys if one
        )

    def _entries(self, stage: Stage) -> list[PageEntry]:
        return [entry for entry in self._journal.entries() if entry.stage is stage]

    def _pages_of(self, part: int) -> int:
        """Return how many pages with products a part of the query took."""
        names = (entry.window for entry in self._entries(Stage.PULL) if entry.keys)
        return sum(name.split("/")[1] == str(part) for name in names)

    @property
    def _may_have_moved(self) -> bool:
        """Whether products may have come and gone unseen while few pages were fetched, so that a look costs little."""
        pages = [self._pages_of(part) for part in range(len(self._asked))]
        return max(pages, default=0) > 1 and len(contents(self._journal)) < paging.SCROLL_FROM

    @property
    def _totals_are_too_low(self) -> bool:
        return contradiction_of("totals") in totals_notes(self._journal)

    def _note(self, about: str, text: str) -> None:
        if contradiction_of(about) not in self._journal.notes:
            _LOG.warning("%s", text)
            self._journal.note(contradiction_of(about), text)

    def _doubtful(self, named: Mapping[str, Identity]) -> dict[str, dict[str, object]]:
        """Return what is to be asked for by GTIN: the products that are held and that the listing does not name.

        With each call goes a product that is known to be there: only a reply that holds it says anything of others.
        """
        came = (
            one for entry in self._journal.entries() if entry.stage.has_products for one in entry.keys if one
        )
        held = {**self._held, **{one.product_id: one for one in came}}
        doubtful = [one for key, one in held.items() if key not in named and askable_gtin(one)]
        gtins = {one.filled_gtin for one in doubtful}
        known = next(
            (one for one in named.values() if askable_gtin(one) and one.filled_gtin not in gtins), None
        )
        size = _GTINS_PER_CALL - 1
        calls = [doubtful[first : first + size] for first in range(0, len(doubtful), size)]
        return {
            Window(Stage.ABSENT, number).name: {
                "keys": [one.product_id for one in some],
                "gtins": sorted({str(one.gtin) for one in [*some, *([known] if known else [])]}),
                "known": known.product_id if known else None,
            }
            for number, some in enumerate(calls)
        }


def _keys_only(query: ProductQuery) -> ProductQuery:
    return replace(query, source_include=("updatedAt",), source_exclude=None)


def _since(query: ProductQuery, since: datetime) -> ProductQuery:
    since = min(since, query.updated_at_to or since).replace(microsecond=0)
    if query.updated_at_from is not None and query.updated_at_from > since:
        return query
    return replace(query, updated_at_from=since)


def _is_missing(one: Identity, have: Mapping[str, str | None]) -> bool:
    return one.product_id not in have or is_newer(one.updated_at, have[one.product_id])


def _of_second(products: Iterable[Identity], second: str) -> set[str]:
    return {one.product_id for one in products if (one.updated_at or "").startswith(second)}
