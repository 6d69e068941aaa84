"""Windows: a large pull cut by time of last update, so that each piece is fetched, and resumed, on its own.

Spec: `updated_at_from` and `updated_at_to`, in whole seconds. Whether these bounds are inclusive is not shown. So
neighbours overlap by a second, which then lies inside at least one of them however the service reads its bounds; what
comes twice is found by its key. The outer windows are open. Pure: nothing is asked for here.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from datetime import UTC, datetime

from prodex.query import ProductQuery
from prodex.service.paging import SCROLL_FROM
from prodex.store.journal_format import Stage

#: Products that a window holds at most, and at least where there are enough.
LARGEST, SMALLEST = SCROLL_FROM, 1_000

#: A window is cut into pieces that are expected to hold this share of what a window holds: times of update are
#: not spread evenly, and a piece that turns out too large has to be cut again.
_SHARE = 0.75

#: Windows for each of those fetched side by side, so that none is left alone with a large one at the end.
_ROUNDS = 3

#: Seconds of the narrowest window. More products than a window holds in so short a time are scrolled through: each
#: further cut would share as many seconds between neighbours as it tells apart.
_NARROWEST = 10

#: Pieces that a window is cut into at most: a total is a claim, and nothing is sized by it.
_MOST_PIECES = 64

#: Times of update that no product has, in UNIX seconds: asked for to see whether the service heeds the bounds.
_NEVER_YET, _NEVER_BEFORE = 4_102_444_800, 31_536_000  # 2100-01-01 and 1971-01-01

_YEAR = 365 * 24 * 3600

#: Years before now at which the first cut is made: most products of any catalogue were updated not long ago.
_FIRST_EDGES = (8.0, 4.0, 2.0, 1.0, 0.5, 0.25)


@dataclass(frozen=True)
class Window:
    """A stretch of a load that is fetched on its own.

    Attributes
    ----------
    stage
        What it is fetched for.
    part
        Number of the call's worth of GTINs that it belongs to; 0 for a query without GTINs.
    begin, end
        Bounds of the last update in UNIX seconds; None is open.
    """

    stage: Stage
    part: int
    begin: int | None = None
    end: int | None = None

    @property
    def is_whole(self) -> bool:
        """Whether it has no bounds of its own."""
        return self.begin is None and self.end is None

    @property
    def name(self) -> str:
        """Its name in the journal.

        >>> Window(Stage.PULL, 0).name, Window(Stage.PULL, 0, None, 86_400).name
        ('pull/0', 'pull/0/..1970-01-02T00:00:00')
        """
        if self.is_whole:
            return f"{self.stage}/{self.part}"
        return f"{self.stage}/{self.part}/{_shown(self.begin)}..{_shown(self.end)}"

    def of(self, query: ProductQuery) -> ProductQuery:
        """Return what to ask for: the query, within these bounds as well as within its own."""
        begin, end = _moment(self.begin), _moment(self.end)
        if query.updated_at_from is not None and (begin is None or begin < query.updated_at_from):
            begin = query.updated_at_from
        if query.updated_at_to is not None and (end is None or end > query.updated_at_to):
            end = query.updated_at_to
        return dataclasses.replace(query, updated_at_from=begin, updated_at_to=end)


def window_size(total: int, side_by_side: int) -> int:
    """Return how many products a window of such a pull holds.

    >>> window_size(12_000, 4), window_size(50_000, 4), window_size(2_000_000, 4)
    (1000, 4166, 10000)
    """
    return max(SMALLEST, min(LARGEST, total // (_ROUNDS * side_by_side)))


def first_windows(query: ProductQuery, part: int, now: datetime) -> list[Window]:
    """Make the first cut of a query, finer where more products are to be expected; each is to be counted.

    >>> [window.name for window in first_windows(ProductQuery(), 0, datetime(2026, 1, 1, tzinfo=UTC))][-2:]
    ['pull/0/2025-07-02T12:00:00..2025-10-01T18:00:01', 'pull/0/2025-10-01T18:00:00..']
    """
    lowest, highest = _seconds(query.updated_at_from), _seconds(query.updated_at_to)
    edges = [int(now.timestamp() - years * _YEAR) for years in _FIRST_EDGES]
    within = [
        edge
        for edge in edges
        if (lowest is None or lowest + 1 < edge) and (highest is None or edge + 1 < highest)
    ]
    return _between(part, lowest, within, highest)


def controls(part: int) -> list[Window]:
    """Return windows that hold nothing where the service heeds the lower bound, and the upper.

    >>> [window.name for window in controls(0)]
    ['control/0/2100-01-01T00:00:00..', 'control/0/..1971-01-01T00:00:00']
    """
    return [
        Window(Stage.CONTROL, part, _NEVER_YET, None),
        Window(Stage.CONTROL, part, None, _NEVER_BEFORE),
    ]


def cut(window: Window, total: int, size: int, now: datetime) -> list[Window]:
    """Cut a window that holds too much into pieces of equal time; an empty list where it is best left whole.

    Parameters
    ----------
    window
        What to cut.
    total
        Products in it.
    size
        Products that a window holds.
    now
        The service's clock: where an open window ends for this purpose. Its last piece is open again.

    Examples
    --------
    >>> [piece.name for piece in cut(Window(Stage.PULL, 0, 0, 7200), 1_500, 1_000, datetime.now(UTC))]
    ['pull/0/1970-01-01T00:00:00..1970-01-01T01:00:01', 'pull/0/1970-01-01T01:00:00..1970-01-01T02:00:00']
    """
    begin = 0 if window.begin is None else window.begin
    end = int(now.timestamp()) if window.end is None else window.end
    width = end - begin
    pieces = min(math.ceil(total / (size * _SHARE)), width // _NARROWEST, _MOST_PIECES)
    if total <= size or pieces < 2:
        return []
    edges = [begin + width * number // pieces for number in range(1, pieces)]
    return _between(window.part, window.begin, edges, window.end)


def _between(part: int, lowest: int | None, edges: list[int], highest: int | None) -> list[Window]:
    begins = [lowest, *edges]
    ends = [*(edge + 1 for edge in edges), highest]
    return [Window(Stage.PULL, part, begin, end) for begin, end in zip(begins, ends, strict=True)]


def _moment(seconds: int | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _seconds(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp())


def _shown(seconds: int | None) -> str:
    return "" if seconds is None else f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}"
