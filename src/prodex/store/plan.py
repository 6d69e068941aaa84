"""What to build from a journal: duplicates resolved, parts assigned, what came compared with what was announced.

Pure: it reads the lines of the ledger and decides; nothing is written here.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from prodex.ledger import Ledger
from prodex.store.journal import Journal
from prodex.store.journal_contents import gone_from, newest
from prodex.store.reconciliation import ledger_of

#: About the most products and bytes of JSON in one part; a page is never split for it.
PRODUCTS_PER_PART = 10_000
BYTES_PER_PART = 100_000_000

#: Parts are made smaller for the sake of more cores, but not smaller than this.
_WORTH_A_PART = 1_000

#: Where a product stands in the journal: page, and index on that page.
Place = tuple[int, int]
#: For each page the indexes of the products that are taken from it.
Pages = tuple[tuple[int, tuple[int, ...]], ...]


class PartPlan(NamedTuple):
    """Which products make one part: for each page the indexes of its products."""

    number: int
    pages: Pages


class Plan(NamedTuple):
    """What to build, and whether it is all there is."""

    parts: tuple[PartPlan, ...]
    ledger: Ledger


def plan(
    journal: Journal, *, gtins_in: Sequence[str] = (), products_per_part: int | None = None, cores: int = 2
) -> Plan:
    """Decide what to build.

    Of several copies of a product the one with the newest `updatedAt` counts, and the last received among equals.
    Products that have disappeared during the load are left out.

    Parameters
    ----------
    journal
        What came.
    gtins_in
        GTINs that were asked for by name.
    products_per_part
        How many products a part holds at most, about; `PRODUCTS_PER_PART` by default.
    cores
        How many parts are built at the same time: their number is a multiple of it, so that no core is idle while
        another one builds the last part.
    """
    came = newest(journal)
    ledger = ledger_of(journal, came, gtins_in)
    gone = gone_from(came, journal)
    places = [(copy.page, copy.item) for product, copy in came.items() if product not in gone]
    return Plan(parts_of(journal, places, products_per_part, cores), ledger)


def parts_of(
    journal: Journal, places: Collection[Place], products_per_part: int | None = None, cores: int = 2
) -> tuple[PartPlan, ...]:
    """Assign products of a journal to parts; see `plan`."""
    size = sum(entry.size for entry in journal.entries() if entry.stage.has_products)
    count = _count_of(len(places), size, products_per_part or PRODUCTS_PER_PART, cores)
    return tuple(_parts(by_page(places), len(places) / count))


def _count_of(products: int, size: int, products_per_part: int, cores: int) -> int:
    """Return how many parts so many products and bytes of JSON make.

    >>> _count_of(30_000, 90_000_000, 10_000, cores=2), _count_of(1_500, 9_000_000, 10_000, cores=2)
    (4, 1)
    """
    count = max(math.ceil(products / products_per_part), math.ceil(size / BYTES_PER_PART), 1)
    even = math.ceil(count / cores) * cores
    return max(count, min(even, products // _WORTH_A_PART))


def by_page(places: Iterable[Place]) -> Pages:
    """Return for each page of the journal the indexes of some products on it, in order."""
    pages: dict[int, list[int]] = {}
    for page, index in sorted(places):
        pages.setdefault(page, []).append(index)
    return tuple((page, tuple(indexes)) for page, indexes in pages.items())


def _parts(pages: Pages, products_per_part: float) -> list[PartPlan]:
    """Share the pages out evenly: the last part would otherwise be small, and a core idle."""
    parts: list[list[tuple[int, tuple[int, ...]]]] = [[]]
    before = 0
    for page, indexes in pages:
        if parts[-1] and before >= len(parts) * products_per_part:
            parts.append([])
        parts[-1].append((page, indexes))
        before += len(indexes)
    return [PartPlan(number, tuple(pages)) for number, pages in enumerate(parts)]
