"""What to build from a journal: duplicates resolved, parts assigned, receipts compared with announcements.

Pure: it reads the lines of the ledger and decides; nothing is written here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from prodex.catalog.load_ledger import Ledger, limited_lines
from prodex.store.copies import left_out
from prodex.store.disappeared_products import absence_of
from prodex.store.journal import LoadJournal
from prodex.store.journal_contents import newest
from prodex.store.journal_format import PageEntry
from prodex.store.newest import Newest, Pages
from prodex.store.reconciliation import ledger_of

#: About the most products and bytes of JSON in one part; a page is never split for it.
PRODUCTS_PER_PART = 10_000
BYTES_PER_PART = 100_000_000

#: Parts are made smaller for the sake of more cores, but not smaller than this.
_WORTH_A_PART = 1_000

#: The least number of parts for each core, of a load whose parts are built while it runs: the more there are, the less
#: is left to build when the last page is there.
_EARLY_FOR_A_CORE = 4

#: But not smaller than this, and nor are the last ones, which begin while others are still built: each part has a price
#: of its own, that of a few hundred products.
_WORTH_AN_EARLY_PART = 1_250

#: The note in which a journal keeps how its first parts are cut; see `early_cut`.
EARLY = "early parts"


class PartPlan(NamedTuple):
    """Which products make one part: for each page the indexes of its products."""

    number: int
    pages: Pages


class Plan(NamedTuple):
    """What to build, and whether it is all there is."""

    parts: tuple[PartPlan, ...]
    ledger: Ledger


def plan(
    journal: LoadJournal,
    *,
    gtins_in: Sequence[str] = (),
    products_per_part: int | None = None,
    cores: int = 2,
) -> Plan:
    """Decide what to build.

    Of several copies of a product the one with the newest `updatedAt` counts, and the last received among equals.
    Products that have disappeared during the load are left out, and so is a record that has the key of another product.

    Parameters
    ----------
    journal
        The pages that were received.
    gtins_in
        GTINs that were asked for by name.
    products_per_part
        How many products a part holds at most, about; `PRODUCTS_PER_PART` by default.
    cores
        How many parts are built at the same time: their number is a multiple of it, so that no core is idle while
        another one builds the last part.
    """
    received = newest(journal)
    absence = absence_of(journal, received)
    lines = [line for several in left_out(journal, received).values() for line in several]
    ledger = replace(ledger_of(journal, received, absence, gtins_in), left_out=tuple(limited_lines(lines)))
    return Plan(parts_of(journal, received.by_page(absence.gone), products_per_part, cores), ledger)


def parts_of(
    journal: LoadJournal, pages: Pages, products_per_part: int | None = None, cores: int = 2
) -> tuple[PartPlan, ...]:
    """Assign products of a journal to parts; see `plan`.

    The first parts are cut as its note says, however many copies on their pages were superseded since: what was built
    of them before the last page was there follows from what is decided here.
    """
    taken = dict(pages)
    early = [
        PartPlan(number, tuple((entry.page, taken[entry.page]) for entry in part if entry.page in taken))
        for number, part in enumerate(early_parts(journal))
    ]
    built = {page for part in early for page, _ in part.pages}
    rest = tuple((page, indexes) for page, indexes in pages if page not in built)
    if early and not rest:
        return tuple(early)
    products = sum(len(indexes) for _, indexes in rest)
    size = sum(
        entry.size for entry in journal.entries() if entry.stage.has_products and entry.page not in built
    )
    count = _count_of(products, size, products_per_part or PRODUCTS_PER_PART, cores)
    if early:
        # Each core takes one of these parts when it has finished another: with small ones, all end together.
        count = max(count, min(2 * cores, products // _WORTH_AN_EARLY_PART))
    return (*early, *_even_parts(rest, products / count, len(early)))


def early_cut(announced: int, cores: int) -> tuple[int, int]:
    """Return how many products make a part that is built early, and of how many products in all such parts are made.

    The last parts, one for each core, wait for the end: then all cores work on what is left.

    >>> early_cut(30_000, cores=2), early_cut(1_000_000, cores=2), early_cut(1_500, cores=2)
    ((3750, 22500), (10000, 980000), (1500, 0))
    """
    wanted = min(_EARLY_FOR_A_CORE * cores, announced // _WORTH_AN_EARLY_PART)
    count = max(math.ceil(announced / PRODUCTS_PER_PART), wanted, 1)
    if count > cores:
        count = math.ceil(count / cores) * cores
    size = max(math.ceil(announced / count), 1)
    return size, max(announced - cores * size, 0)


def early_parts(journal: LoadJournal) -> Iterator[list[PageEntry]]:
    """Yield the pages of each part that later pages do not change any more, but for newer copies of its products."""
    per_part, until = journal.notes.get(EARLY, (0, 0))
    part: list[PageEntry] = []
    before = products = size = 0
    for number, entry in enumerate(journal.entries()):
        # Pages are numbered as they are asked for, and one may still be on its way.
        if entry.page != number or not entry.stage.has_products or before + products >= until:
            return
        part.append(entry)
        products += len(entry.keys)
        size += entry.size
        if products >= per_part or size >= BYTES_PER_PART:
            yield part
            before += products
            part, products, size = [], 0, 0


def early_plan(number: int, pages: Sequence[PageEntry]) -> PartPlan:
    """Return the plan of a part as it will be if no other page holds a newer copy of one of its products."""
    return PartPlan(number, Newest(pages).by_page())


def _count_of(products: int, size: int, products_per_part: int, cores: int) -> int:
    """Return how many parts so many products and bytes of JSON make.

    >>> _count_of(30_000, 90_000_000, 10_000, cores=2), _count_of(1_500, 9_000_000, 10_000, cores=2)
    (4, 1)
    """
    count = max(math.ceil(products / products_per_part), math.ceil(size / BYTES_PER_PART), 1)
    even = math.ceil(count / cores) * cores
    return max(count, min(even, products // _WORTH_A_PART))


def _even_parts(pages: Pages, products_per_part: float, first: int) -> list[PartPlan]:
    """Share the pages out evenly: the last part would otherwise be small, and a core idle."""
    parts: list[list[tuple[int, tuple[int, ...]]]] = [[]]
    before = 0
    for page, indexes in pages:
        if parts[-1] and before >= len(parts) * products_per_part:
            parts.append([])
        parts[-1].append((page, indexes))
        before += len(indexes)
    return [PartPlan(number, tuple(pages)) for number, pages in enumerate(parts, first)]
