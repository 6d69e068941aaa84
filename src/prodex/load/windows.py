"""Windows: what a load requests, in parts of which each is fetched, and resumed, on its own. Pure.

A large pull is split by time of last update. The reconciliation, after keys and dates of all products were listed,
requests single products by GTIN.

Spec: `updated_at_from` and `updated_at_to`, in whole seconds. Whether these bounds are inclusive is not shown, so
neighbours overlap by one second, which is then inside at least one of them; repeated products are recognised by their
keys. The outer windows are open.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from prodex.query import ProductQuery
from prodex.service.paging import SCROLL_FROM
from prodex.store.journal_contents import askable_gtin, is_another, is_newer
from prodex.store.journal_format import Stage
from prodex.tables.records import Identity

#: Largest and smallest planned number of products in a window.
LARGEST, SMALLEST = SCROLL_FROM, 1_000

#: Expected share of a full window in each part of a split one: times of update are not spread evenly, and a part that
#: turns out too large costs another split.
_SHARE = 0.75

#: Windows per parallel fetch, so that none is left alone with a large one at the end.
_ROUNDS = 3

#: Seconds of the narrowest window. More products in so short a time (an import of everything) are fetched by one
#: scroll: narrower windows would consist mostly of the seconds that neighbours share.
_NARROWEST = 10

#: Most parts of a window: a total is a claim, and a wrong one must not cause millions of calls.
_MAX_PARTS = 64

#: Times of update that no product has, in UNIX seconds: requested to see whether the service applies the bounds.
_NEVER_YET, _NEVER_BEFORE = 4_102_444_800, 31_536_000  # 2100-01-01 and 1971-01-01

_YEAR = 365 * 24 * 3600

#: Years before now at which the first windows meet: most products of a catalogue were updated recently.
_FIRST_EDGES = (8.0, 4.0, 2.0, 1.0, 0.5, 0.25)


@dataclass(frozen=True)
class Window:
    """A part of a load that is fetched, and resumed, on its own.

    Attributes
    ----------
    stage
        What it is fetched for.
    part
        Number of the list of GTINs that it belongs to; 0 for a query without GTINs.
    begin, end
        Bounds of the last update in UNIX seconds; None for no bound.
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
        return f"{self.stage}/{self.part}/{_local_time_text(self.begin)}..{_local_time_text(self.end)}"

    def of(self, query: ProductQuery) -> ProductQuery:
        """Return the query with these bounds in addition to its own."""
        begins = (_utc_of_seconds(self.begin), query.updated_at_from)
        ends = (_utc_of_seconds(self.end), query.updated_at_to)
        return replace(
            query,
            updated_at_from=max((one for one in begins if one is not None), default=None),
            updated_at_to=min((one for one in ends if one is not None), default=None),
        )


def window_size(total: int, parallel: int) -> int:
    """Return the planned number of products in a window of such a pull.

    >>> window_size(12_000, 4), window_size(50_000, 4), window_size(2_000_000, 4)
    (1000, 4166, 10000)
    """
    return max(SMALLEST, min(LARGEST, total // (_ROUNDS * parallel)))


def first_windows(query: ProductQuery, part: int, now: datetime) -> list[Window]:
    """Return the first windows of a query, narrower where more products are expected; each has to be counted.

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
    """Return windows that are empty if the service applies the lower and the upper bound.

    >>> [window.name for window in controls(0)]
    ['control/0/2100-01-01T00:00:00..', 'control/0/..1971-01-01T00:00:00']
    """
    return [Window(Stage.CONTROL, part, _NEVER_YET, None), Window(Stage.CONTROL, part, None, _NEVER_BEFORE)]


def split(window: Window, total: int, size: int, now: datetime) -> list[Window]:
    """Split a window with too many products into parts of equal time; an empty list if it is better fetched as a whole.

    Parameters
    ----------
    window
        What to split.
    total
        Products in it.
    size
        Planned number of products in a window.
    now
        The service's clock, at which an open window ends for this purpose. Its last part is open again.

    Examples
    --------
    >>> [part.name for part in split(Window(Stage.PULL, 0, 0, 7200), 1_500, 1_000, datetime.now(UTC))]
    ['pull/0/1970-01-01T00:00:00..1970-01-01T01:00:01', 'pull/0/1970-01-01T01:00:00..1970-01-01T02:00:00']
    """
    begin = 0 if window.begin is None else window.begin
    end = int(now.timestamp()) if window.end is None else window.end
    width = end - begin
    parts = min(math.ceil(total / (size * _SHARE)), width // _NARROWEST, _MAX_PARTS)
    if total <= size or parts < 2:
        return []
    edges = [begin + width * number // parts for number in range(1, parts)]
    return _between(window.part, window.begin, edges, window.end)


def _between(part: int, lowest: int | None, edges: list[int], highest: int | None) -> list[Window]:
    begins = [lowest, *edges]
    ends = [*(edge + 1 for edge in edges), highest]
    return [Window(Stage.PULL, part, begin, end) for begin, end in zip(begins, ends, strict=True)]


def _utc_of_seconds(seconds: int | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _seconds(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp())


def _local_time_text(seconds: int | None) -> str:
    return "" if seconds is None else f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}"


class BoundsIgnored(Exception):
    """Parts of a window each announce as many products as the whole window: the service ignores their bounds."""


@dataclass(frozen=True)
class WindowRequest:
    """One window to fetch.

    Attributes
    ----------
    window
        Its name in the journal, and its bounds.
    query
        The query within these bounds.
    by_scroll
        Whether pages are requested by a scroll; otherwise by offset.
    page_size
        Products per call; by default the recommended number.
    cut_from
        The window that it is a part of, and the number of products that this window announced.
    """

    window: Window
    query: ProductQuery
    by_scroll: bool = True
    page_size: int | None = None
    cut_from: tuple[str, int] | None = None


#: GTINs per call. The specification shows no limit; a body with 200 of them stays small.
GTINS_PER_CALL = 200


def keys_only(query: ProductQuery) -> ProductQuery:
    """Return a query for the keys and dates of the same products."""
    return replace(query, source_include=("updatedAt",), source_exclude=None)


def missing_gtins(
    listed: Iterable[Identity], received: Mapping[str, str | None], held: Mapping[str, str | None]
) -> list[str]:
    """Return the GTINs of listed products that were not received, or only in another version.

    Parameters
    ----------
    listed
        The products of the listing.
    received
        `updatedAt` of the products received, by key.
    held
        The same of the products of the snapshot that is refreshed.
    """

    def is_missing(one: Identity) -> bool:
        if one.product_id in received:
            return is_newer(one.updated_at, received[one.product_id])
        return one.product_id not in held or is_another(one.updated_at, held[one.product_id])

    return sorted({gtin for one in listed if is_missing(one) if (gtin := askable_gtin(one))})


def batches_of_gtins(gtins: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Split GTINs into calls."""
    return (tuple(gtins[first : first + GTINS_PER_CALL]) for first in range(0, len(gtins), GTINS_PER_CALL))


def unlisted_requests(
    received: Mapping[str, Identity], listed: Mapping[str, Identity]
) -> dict[str, dict[str, object]]:
    """Return the requests by GTIN for received products that are not in the listing, by name of their window.

    Each request includes products that are certainly there, as controls. Only a reply that contains these proves that
    the others were removed: some services answer what they do not understand with an empty page, and others read only
    the beginning of a long list, so one control is its first GTIN and one its last. Without a control there is no
    request, since no reply could prove anything.
    """
    unlisted = [one for key, one in received.items() if key not in listed and askable_gtin(one)]
    if not unlisted:
        return {}
    gtins = {one.filled_gtin for one in unlisted}
    controls = _controls(listed.values(), gtins)
    if not controls:
        return {}
    # With both controls, a call has one GTIN more than others have.
    size = GTINS_PER_CALL - 1
    batches = [unlisted[first : first + size] for first in range(0, len(unlisted), size)]
    return {
        Window(Stage.ABSENT, number).name: {
            "keys": [one.product_id for one in batch],
            "gtins": _gtins_with_controls(sorted({str(one.gtin) for one in batch}), controls),
            "controls": [one.product_id for one in controls],
        }
        for number, batch in enumerate(batches)
    }


def _controls(listed: Iterable[Identity], gtins: Container[str | None]) -> list[Identity]:
    """Return one or two listed products that can be asked for by GTIN, far from each other in the listing."""
    askable = [one for one in listed if askable_gtin(one)]
    # A product that shares its GTIN with another is a weaker control: one may be returned where the other is not.
    others = [one for one in askable if one.filled_gtin not in gtins] or askable
    return [*others[:1], *others[1:][-1:]]


def _gtins_with_controls(gtins: Sequence[str], controls: Sequence[Identity]) -> list[str]:
    first, *last = (str(one.gtin) for one in controls)
    return list(dict.fromkeys([first, *(gtin for gtin in gtins if gtin not in last), *last]))
