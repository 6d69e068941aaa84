"""What to build from a journal: duplicates resolved, parts assigned, and what came held against what was announced.

Pure: it reads the ledger's lines and decides; nothing is written here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from prodex.catalog.origin import Ledger
from prodex.store.journal import Entry, Journal, Stage
from prodex.tables.records import Identity

#: Products and bytes of JSON that one part holds at most, about: a page is never cut for it.
PRODUCTS_PER_PART = 10_000
BYTES_PER_PART = 100_000_000

#: From so many products on there are two parts at least, so that two cores have something to build.
_WORTH_TWO_PARTS = 2_000

#: What can be asked for by GTIN.
_GTIN = re.compile("[0-9]{1,14}")


class PartPlan(NamedTuple):
    """Which products make one part: for each page the indexes of its products."""

    number: int
    pages: tuple[tuple[int, tuple[int, ...]], ...]


class Plan(NamedTuple):
    """What to build, and whether it is all there is."""

    parts: tuple[PartPlan, ...]
    ledger: Ledger


class Came(NamedTuple):
    """The newest copy of a product in the journal: its updatedAt, where it stands, and what it was fetched for."""

    updated_at: str
    page: int
    item: int
    stage: Stage


def plan(journal: Journal, *, gtins_in: Sequence[str] = (), products_per_part: int | None = None) -> Plan:
    """Decide what to build.

    Of a product that came more than once the newest `updatedAt` counts, and the last received among equals. What the
    listing of all keys does not name any more is left out.

    Parameters
    ----------
    journal
        What came.
    gtins_in
        GTINs that were asked for by name.
    products_per_part
        How many products a part holds at most, about; `PRODUCTS_PER_PART` by default.
    """
    came = newest(journal)
    ledger = ledger_of(journal, came, gtins_in)
    gone = gone_from(came, journal) if ledger.listed is not None else frozenset()
    chosen: dict[int, list[int]] = {}
    for product, copy in came.items():
        if product not in gone:
            chosen.setdefault(copy.page, []).append(copy.item)
    size = sum(entry.size for entry in journal.entries() if entry.stage is not Stage.LISTING)
    count = max(
        math.ceil(ledger.distinct / (products_per_part or PRODUCTS_PER_PART)),
        math.ceil(size / BYTES_PER_PART),
        2 if ledger.distinct >= _WORTH_TWO_PARTS else 1,
    )
    return Plan(tuple(_parts(chosen, ledger.distinct / count)), ledger)


def newest(journal: Journal) -> dict[str, Came]:
    """Return the newest copy of each product that came, in the order in which products first came."""
    copies: dict[str, Came] = {}
    for entry in journal.entries():
        if entry.stage is Stage.LISTING:
            continue
        for index, key in enumerate(entry.keys):
            if key is None:
                continue
            seen = copies.get(key.product_id)
            updated_at = key.updated_at or ""
            if seen is None or updated_at >= seen.updated_at:
                stage = entry.stage if seen is None else seen.stage
                copies[key.product_id] = Came(updated_at, entry.page, index, stage)
    return copies


def contents(journal: Journal) -> dict[str, str | None]:
    """Return key and updatedAt of each product that came."""
    return {product: copy.updated_at for product, copy in newest(journal).items()}


def listed(journal: Journal) -> dict[str, Identity]:
    """Return what the listing of all keys names."""
    return {
        key.product_id: key
        for entry in journal.entries()
        if entry.stage is Stage.LISTING
        for key in entry.keys
        if key
    }


def gone_from(held: Iterable[str], journal: Journal) -> frozenset[str]:
    """Return the products that the listing of all keys does not name any more."""
    return frozenset(held) - listed(journal).keys()


def ledger_of(
    journal: Journal, held: Mapping[str, object], gtins_in: Sequence[str] = (), *, refreshed: bool = False
) -> Ledger:
    """Hold what came against what was announced.

    Parameters
    ----------
    journal
        What came.
    held
        The products that are there now, by key.
    gtins_in
        GTINs that were asked for by name.
    refreshed
        The journal holds changes only: what it announced at first was their number, not that of all products.
    """
    pages = journal.entries()
    content = [entry for entry in pages if entry.stage is not Stage.LISTING]
    listing = _agreed_listing(journal)
    gone = held.keys() - listing.keys() if listing is not None else frozenset()
    came = {key.filled_gtin for entry in content for key in entry.keys if key} if gtins_in else frozenset()
    return Ledger(
        announced=None if refreshed else _counted(journal, Stage.PULL),
        announced_last=None if refreshed else _last_announced(journal),
        announced_end=_counted(journal, Stage.END),
        received=sum(len(entry.keys) for entry in content),
        distinct=len(held) - len(gone),
        arrived=sum(isinstance(copy, Came) and copy.stage is not Stage.PULL for copy in held.values()),
        listed=None if listing is None else len(listing),
        gone=len(gone),
        missing_gtins=tuple(gtin for gtin in gtins_in if gtin not in came),
        set_aside=tuple(_set_aside(content)),
        not_loaded=tuple(_not_loaded(journal, held, listing)),
    )


def is_newer(updated_at: str | None, than: str | None) -> bool:
    """Say whether a time of update is later than another, to the second: tables hold no more of it.

    >>> is_newer("2026-11-20T08:00:00.9", "2026-11-20T08:00:00"), is_newer("2026-11-20T08:00:01", None)
    (False, True)
    """
    return (updated_at or "")[:19] > (than or "")[:19]


def askable_gtin(one: Identity) -> str | None:
    """Return the GTIN that a product can be asked for by, if it has one; suppliers type other things as well.

    >>> askable_gtin(Identity("7", gtin="3036811359935")), askable_gtin(Identity("7", gtin="to follow"))
    ('3036811359935', None)
    """
    return one.gtin if one.gtin is not None and _GTIN.fullmatch(one.gtin) else None


def failure_of(window: str) -> str:
    """Return the name under which a journal notes that a window could not be fetched."""
    return f"failed {window}"


def _agreed_listing(journal: Journal) -> dict[str, Identity] | None:
    """Return what the listing names if each of its stretches gave as many keys as it announced on every page."""
    totals: dict[str, set[int]] = {}
    keys: dict[str, set[str]] = {}
    for entry in journal.entries():
        if entry.stage is Stage.LISTING:
            totals.setdefault(entry.window, set()).add(entry.total_results)
            keys.setdefault(entry.window, set()).update(key.product_id for key in entry.keys if key)
    if not totals or any({len(keys[window])} != announced for window, announced in totals.items()):
        return None
    return listed(journal)


def _counted(journal: Journal, stage: Stage) -> int | None:
    """Return the sum of what was announced for the whole of each part of the query."""
    totals = [c.total for name, c in journal.counts.items() if c.stage is stage and name.count("/") == 1]
    return sum(totals) if totals else None


def _last_announced(journal: Journal) -> int | None:
    """Return what was announced on the last page, where no part of the query was cut into windows."""
    total = 0
    for name, count in journal.counts.items():
        if count.stage is Stage.PULL:
            entries = journal.pages_of(name)
            if (not entries and count.total) or name.count("/") != 1:
                return None
            total += entries[-1].total_results if entries else 0
    return total


def _set_aside(content: Iterable[Entry]) -> Iterable[str]:
    for entry in content:
        for index, key in enumerate(entry.keys):
            if key is None:
                yield f"page {entry.page}, item {index}: not a JSON object"


def _not_loaded(
    journal: Journal, held: Mapping[str, object], listing: Mapping[str, Identity] | None
) -> Iterable[str]:
    failed = {
        name.partition(" ")[2]: why for name, why in journal.notes.items() if name.startswith("failed ")
    }
    if listing is None:
        yield from (f"{window}: {why}" for window, why in failed.items() if why)
        yield from (f"{window}: {why}" for window, why in _short(journal) if not failed.get(window))
        no_end = _counted(journal, Stage.PULL) is not None and _counted(journal, Stage.END) is None
        if no_end and not failed.get(Stage.END):
            yield "end: interrupted before it was asked for what had changed meanwhile, and how many there are"
    for product, one in (listing or listed(journal)).items():
        is_old = product in held and is_newer(one.updated_at, _date(held[product]) or "9")
        if product not in held or is_old:
            which = "in a newer state, which was" if is_old else "but"
            reason = f"listed by the service, {which} not sent when asked for by its GTIN"
            if askable_gtin(one) is None:
                reason = f"listed by the service, {which} has no GTIN to ask for it by"
            yield f"product {product}, GTIN {one.gtin}: {reason}"


def _short(journal: Journal) -> Iterable[tuple[str, str]]:
    """Tell of the stretches that ended with fewer products than they announced.

    The sums may agree all the same: others may have arrived meanwhile, or what was lost may have been there before.
    """
    totals: dict[str, int] = {}
    keys: dict[str, set[object]] = {}
    for entry in journal.entries():
        if entry.stage in {Stage.PULL, Stage.CHANGES}:
            totals[entry.window] = max(entry.total_results, totals.get(entry.window, 0))
            found = (key.product_id if key else (entry.page, item) for item, key in enumerate(entry.keys))
            keys.setdefault(entry.window, set()).update(found)
    for window, total in totals.items():
        if len(keys[window]) < total:
            yield window, f"{len(keys[window]):,} of the {total:,} products that were announced came"


def _date(copy: object) -> str | None:
    """Return the updatedAt of a product that is held, be it in the journal or in a snapshot."""
    return copy.updated_at if isinstance(copy, Came) else copy if isinstance(copy, str) else None


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
