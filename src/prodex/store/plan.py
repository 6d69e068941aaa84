"""What to build from a journal: duplicates resolved, parts assigned, and what came held against what was announced.

Pure: it reads the ledger's lines and decides; nothing is written here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from prodex.catalog.origin import Ledger
from prodex.store.journal import Entry

#: Products and bytes of JSON that one part holds at most, about: a page is never cut for it.
PRODUCTS_PER_PART = 10_000
BYTES_PER_PART = 100_000_000

#: From so many products on there are two parts at least, so that two cores have something to build.
_WORTH_TWO_PARTS = 2_000


class PartPlan(NamedTuple):
    """Which products make one part: for each page the indexes of its products."""

    number: int
    pages: tuple[tuple[int, tuple[int, ...]], ...]


class Plan(NamedTuple):
    """What to build, and whether it is all there is."""

    parts: tuple[PartPlan, ...]
    ledger: Ledger


def plan(
    entries: Sequence[Entry],
    *,
    announced: int | None = None,
    announced_last: int | None = None,
    missing_gtins: Sequence[str] = (),
    products_per_part: int | None = None,
) -> Plan:
    """Decide what to build.

    Of a product that came more than once the newest `updatedAt` counts, and the last received among equals.

    Parameters
    ----------
    entries
        The ledger's lines.
    announced, announced_last
        Total announced at the first page and at the last.
    missing_gtins
        GTINs that were asked for and did not come.
    products_per_part
        How many products a part holds at most, about; `PRODUCTS_PER_PART` by default.
    """
    newest: dict[str, tuple[str, int, int]] = {}
    set_aside: list[str] = []
    received = 0
    for entry in entries:
        for index, key in enumerate(entry.keys):
            received += 1
            if key is None:
                set_aside.append(f"page {entry.page}, item {index}: not a JSON object")
                continue
            product, updated_at = key
            seen = newest.get(product)
            if seen is None or (updated_at or "") >= seen[0]:
                newest[product] = (updated_at or "", entry.page, index)
    chosen: dict[int, list[int]] = {}
    for _, page, index in newest.values():
        chosen.setdefault(page, []).append(index)
    ledger = Ledger(
        announced=announced,
        announced_last=announced_last,
        received=received,
        distinct=len(newest),
        missing_gtins=tuple(missing_gtins),
        set_aside=tuple(set_aside),
    )
    count = max(
        math.ceil(len(newest) / (products_per_part or PRODUCTS_PER_PART)),
        math.ceil(sum(entry.size for entry in entries) / BYTES_PER_PART),
        2 if len(newest) >= _WORTH_TWO_PARTS else 1,
    )
    return Plan(tuple(_parts(chosen, len(newest) / count)), ledger)


def _parts(chosen: dict[int, list[int]], products_per_part: float) -> list[PartPlan]:
    """Share the pages out evenly: the last part would otherwise be small, and a core idle."""
    parts: list[list[tuple[int, tuple[int, ...]]]] = [[]]
    before = 0
    for page in sorted(chosen):
        if parts[-1] and before >= len(parts) * products_per_part:
            parts.append([])
        parts[-1].append((page, tuple(sorted(chosen[page]))))
        before += len(chosen[page])
    return [PartPlan(number, tuple(pages)) for number, pages in enumerate(parts)]
