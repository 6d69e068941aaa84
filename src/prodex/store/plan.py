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

#: The note in which a journal keeps what was asked for by GTIN to see whether it has gone: for each window the keys,
#: their GTINs, and a product that is known to be there.
ABSENT = "absent"

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

    Of a product that came more than once the newest `updatedAt` counts, and the last received among equals. What was
    asked for by its GTIN and was not there any more is left out.

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
    gone = gone_from(came, journal)
    chosen: dict[int, list[int]] = {}
    for product, copy in came.items():
        if product not in gone:
            chosen.setdefault(copy.page, []).append(copy.item)
    size = sum(entry.size for entry in journal.entries() if entry.stage.has_products)
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
        if not entry.stage.has_products:
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
    """Return the products that have gone: asked for by GTIN, because no listing named them, and not there.

    A reply says nothing where it is not whole, where it holds products that nobody asked for (the service ignores the
    filter), or where a product that is known to be there is not among them.
    """
    gone: set[str] = set()
    for window, asked in (journal.notes.get(ABSENT) or {}).items():
        pages = journal.pages_of(window)
        came = {key.product_id: key for page in pages for key in page.keys if key}
        gtins = {gtin.zfill(14) for gtin in asked["gtins"]}
        is_whole = pages and failure_of(window) not in journal.notes
        is_heeded = all(key.filled_gtin in gtins for key in came.values())
        if is_whole and is_heeded and asked["known"] in {None, *came} and _announced_all(pages, len(came)):
            gone.update(set(asked["keys"]) - came.keys())
    return frozenset(held) & gone


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
    content = [entry for entry in journal.entries() if entry.stage.has_products]
    listing = listed(journal) if listing_is_whole(journal) else None
    gone = gone_from(held, journal)
    came = {key.filled_gtin for entry in content for key in entry.keys if key} if gtins_in else frozenset()
    return Ledger(
        announced=None if refreshed else _counted(journal, Stage.PULL),
        announced_last=None if refreshed else _last_announced(journal),
        announced_end=_counted(journal, Stage.END),
        received=sum(len(entry.keys) for entry in content),
        distinct=len(held) - len(gone),
        arrived=sum(isinstance(copy, Came) and copy.stage is not Stage.PULL for copy in held.values()),
        # A product that was listed and then asked for in vain has gone meanwhile.
        listed=None if listing is None else len(listing.keys() - gone),
        gone=len(gone),
        missing_gtins=tuple(gtin for gtin in gtins_in if gtin not in came),
        set_aside=tuple(_set_aside(content)),
        not_loaded=tuple(_not_loaded(journal, held, listing)),
        notes=tuple(_notes(journal, held, listing, gone, gtins_in)),
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


def contradiction_of(about: str) -> str:
    """Return the name under which a journal notes something that the service contradicts itself in."""
    return f"contradiction {about}"


def listing_is_whole(journal: Journal) -> bool:
    """Say whether there is a listing of all keys that gave as many as it announced at any time, in each stretch."""
    windows = {entry.window for entry in journal.entries() if entry.stage is Stage.LISTING}
    failed = tuple(
        name for name, why in journal.notes.items() if why and name.startswith(failure_of("listing"))
    )
    return (
        bool(windows)
        and not failed
        and all(_announced_all(journal.pages_of(window), len(journal.brought(window))) for window in windows)
    )


def totals_notes(journal: Journal) -> dict[str, str]:
    """Return what is to be said of the totals: those that are lower than what came are no counts."""
    came: dict[str, set[str]] = {}
    most: dict[str, int] = {}
    is_silent = True
    for entry in journal.entries():
        if entry.stage in {Stage.PULL, Stage.LISTING}:
            came.setdefault(entry.window, set()).update(key.product_id for key in entry.keys if key)
            total = entry.total_results
            is_silent &= total is None
            most[entry.window] = max(most.get(entry.window, 0), total or 0)
    counts = (count.total for count in journal.counts.values())
    notes = {}
    if came and is_silent and all(total is None for total in counts):
        notes[contradiction_of("totals")] = "the service announced no number of products"
    elif low := [
        window for window, keys in came.items() if len(keys) > max(most[window], _count(journal, window))
    ]:
        window = max(low, key=lambda window: len(came[window]))
        notes[contradiction_of("totals")] = (
            f"the service announced at most {max(most[window], _count(journal, window)):,} products and gave "
            f"{len(came[window]):,} ({window}): its totals are no counts, and do not tell whether more are missing"
        )
    return notes


def _count(journal: Journal, window: str) -> int:
    counted = journal.counts.get(window)
    return (counted.total or 0) if counted else 0


def _announced_all(pages: Sequence[Entry], came: int) -> bool:
    """Say whether pages ended, and gave at least as many products as they announced at any time."""
    totals = [page.total_results for page in pages if page.total_results is not None]
    return bool(pages) and came >= max(totals, default=0)


def _notes(
    journal: Journal,
    held: Mapping[str, object],
    listing: Mapping[str, Identity] | None,
    gone: frozenset[str],
    gtins_in: Sequence[str],
) -> Iterable[str]:
    """Tell what the service said that contradicts itself, and what is not known for it."""
    told = {name: text for name, text in journal.notes.items() if name.startswith(contradiction_of(""))}
    yield from (told | totals_notes(journal)).values()
    if listing is not None and (doubtful := held.keys() - listing.keys() - gone - _confirmed(journal)):
        yield (
            f"{len(doubtful):,} products are kept that the listing of all keys does not name: whether they have gone "
            "is not known, since they could not be asked for by GTIN"
        )
    if gtins_in:
        wanted = {gtin.zfill(14) for gtin in gtins_in}
        pulled = (entry for entry in journal.entries() if entry.stage is Stage.PULL)
        others = {
            key.product_id for entry in pulled for key in entry.keys if key and key.filled_gtin not in wanted
        }
        if others:
            yield f"{len(others):,} products came whose GTIN was not asked for; they are kept"


def _confirmed(journal: Journal) -> set[str]:
    """Return the products that came when they were asked for by GTIN."""
    return {
        key.product_id
        for entry in journal.entries()
        if entry.stage is Stage.ABSENT
        for key in entry.keys
        if key
    }


def _counted(journal: Journal, stage: Stage) -> int | None:
    """Return the sum of what was announced for the whole of each part of the query."""
    totals = [c.total for name, c in journal.counts.items() if c.stage is stage and name.count("/") == 1]
    known = [total for total in totals if total is not None]
    return sum(known) if known and len(known) == len(totals) else None


def _last_announced(journal: Journal) -> int | None:
    """Return what was announced on the last page, where no part of the query was cut into windows."""
    total = 0
    for name, count in journal.counts.items():
        if count.stage is Stage.PULL:
            entries = journal.pages_of(name)
            if (not entries and count.total) or name.count("/") != 1:
                return None
            # The page that ends a scroll has no products, and some services announce none on it.
            totals = [
                entry.total_results for entry in entries if entry.keys and entry.total_results is not None
            ]
            if entries and not totals and any(entry.keys for entry in entries):
                return None
            total += totals[-1] if totals else 0
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
        yield from (
            f"{window}: {why}"
            for window, why in _short(journal, Stage.PULL, Stage.CHANGES)
            if not failed.get(window)
        )
        yield from (f"{window}: {why}" for window, why in _short(journal, Stage.LISTING))
        counted = {count.stage for count in journal.counts.values()}
        if Stage.PULL in counted and Stage.END not in counted and not failed.get(Stage.END):
            yield "end: interrupted before it was asked for what had changed meanwhile, and how many there are"
        if contradiction_of("totals") in totals_notes(journal) and _counted(journal, Stage.PULL) is None:
            yield "totals: the service announced no number of products, and no list of their keys to hold them against"
    else:
        lasting = ("budget", *(window for window in failed if " beyond offset " in window))
        yield from (f"{window}: {failed[window]}" for window in lasting if failed.get(window))
    gone = gone_from(listed(journal), journal)
    for product, one in (listing or listed(journal)).items():
        if product in gone:
            continue
        is_old = product in held and is_newer(one.updated_at, _date(held[product]) or "9")
        if product not in held or is_old:
            which = "in a newer state, which was" if is_old else "but"
            reason = f"listed by the service, {which} not sent when asked for by its GTIN"
            if askable_gtin(one) is None:
                reason = f"listed by the service, {which} has no GTIN to ask for it by"
            yield f"product {product}, GTIN {one.gtin}: {reason}"


def _short(journal: Journal, *stages: Stage) -> Iterable[tuple[str, str]]:
    """Tell of the stretches that ended with fewer products than they announced.

    The sums may agree all the same: others may have arrived meanwhile, or what was lost may have been there before.
    """
    totals: dict[str, int] = {}
    keys: dict[str, set[str]] = {}
    for entry in journal.entries():
        if entry.stage in stages:
            totals[entry.window] = max(entry.total_results or 0, totals.get(entry.window, 0))
            keys.setdefault(entry.window, set()).update(key.product_id for key in entry.keys if key)
    for window, total in totals.items():
        if len(keys[window]) < total:
            yield window, f"{len(keys[window]):,} of the {total:,} products that were announced came"


def _date(copy: object) -> str | None:
    """Return the updatedAt of a product that is held, be it in the journal or in a snapshot."""
    return copy.updated_at if isinstance(copy, Came | Identity) else None


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
