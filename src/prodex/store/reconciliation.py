"""Reconciliation: what came compared with what was announced, and where the service contradicts itself.

Pure: it reads the lines of a journal. A total is only a claim of the service; see `prodex.ledger.Ledger` for what
makes a load complete.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from prodex.ledger import Ledger
from prodex.store.held import Together
from prodex.store.journal import Journal
from prodex.store.journal_contents import (
    askable_gtin,
    contradiction_of,
    failure_of,
    gave_all,
    gone_from,
    is_newer,
    keys_of,
)
from prodex.store.journal_format import PageEntry, Stage
from prodex.store.newest import Newest, NewestCopy, distinct_keys
from prodex.tables.records import Identity


def ledger_of(
    journal: Journal, held: Newest | Together, gtins_in: Sequence[str] = (), *, refreshed: bool = False
) -> Ledger:
    """Compare what came with what was announced.

    Parameters
    ----------
    journal
        What came.
    held
        The products that are there now, by key.
    gtins_in
        GTINs that were asked for by name.
    refreshed
        The journal holds only changes: its first total was the number of changes, not of all products.
    """
    content = [entry for entry in journal.entries() if entry.stage.has_products]
    listing = keys_of(journal, Stage.LISTING) if listing_is_whole(journal) else None
    gone = gone_from(held, journal)
    came = {key.filled_gtin for entry in content for key in entry.keys if key} if gtins_in else frozenset()
    return Ledger(
        announced=None if refreshed else _counted(journal, Stage.PULL),
        announced_last=None if refreshed else _last_announced(journal),
        announced_end=_counted(journal, Stage.END),
        received=sum(len(entry.keys) for entry in content),
        distinct=len(held) - len(gone),
        arrived=held.arrived,
        # A product that was listed and then not returned by GTIN has disappeared in between.
        listed=None if listing is None else len(listing.keys() - gone),
        gone=len(gone),
        missing_gtins=tuple(gtin for gtin in gtins_in if gtin not in came),
        set_aside=tuple(_set_aside(content)),
        not_loaded=tuple(_not_loaded(journal, held, listing)),
        notes=tuple(_notes(journal, held, listing, gone, gtins_in)),
    )


def listing_is_whole(journal: Journal) -> bool:
    """Whether there is a listing of all keys that returned as many as it announced at any time, in every window."""
    # A listing that is cut short would make products look gone that are there.
    windows = {entry.window for entry in journal.entries() if entry.stage is Stage.LISTING}
    failed = tuple(
        name for name, why in journal.notes.items() if why and name.startswith(failure_of("listing"))
    )
    return (
        bool(windows)
        and not failed
        and all(gave_all(journal.pages_of(window), len(journal.keys_of_window(window))) for window in windows)
    )


def totals_notes(journal: Journal) -> dict[str, str]:
    """Return the notes about the totals: a total that is lower than the number of products is no count."""
    came, most = _by_window(journal, Stage.PULL, Stage.LISTING)
    totals = [entry.total_results for entry in journal.entries() if entry.window in came]
    totals += [count.total for count in journal.counts.values()]
    notes = {}
    if came and all(total is None for total in totals):
        notes[contradiction_of("totals")] = "the service announced no number of products"
    elif low := [
        window for window, count in came.items() if count > max(most[window], _count(journal, window))
    ]:
        window = max(low, key=lambda window: came[window])
        notes[contradiction_of("totals")] = (
            f"the service announced at most {max(most[window], _count(journal, window)):,} products and gave "
            f"{came[window]:,} ({window}): its totals are no counts, and do not tell whether more are missing"
        )
    return notes


def _count(journal: Journal, window: str) -> int:
    counted = journal.counts.get(window)
    return (counted.total or 0) if counted else 0


def _notes(
    journal: Journal,
    held: Mapping[str, object],
    listing: Mapping[str, Identity] | None,
    gone: frozenset[str],
    gtins_in: Sequence[str],
) -> Iterable[str]:
    """Yield where the service contradicts itself, and what is not known because of it."""
    noted = {name: text for name, text in journal.notes.items() if name.startswith(contradiction_of(""))}
    yield from (noted | totals_notes(journal)).values()
    confirmed = keys_of(journal, Stage.ABSENT).keys()  # they came when they were asked for by GTIN
    if listing is not None and (doubtful := held.keys() - listing.keys() - gone - confirmed):
        yield (
            f"{len(doubtful):,} products are kept that the listing of all keys does not name: whether they have gone "
            "is not known, since they could not be asked for by GTIN"
        )
    if gtins_in:
        # Some services ignore a filter that they do not know, and send everything.
        wanted = {gtin.zfill(14) for gtin in gtins_in}
        pulled = (entry for entry in journal.entries() if entry.stage is Stage.PULL)
        others = {
            key.product_id for entry in pulled for key in entry.keys if key and key.filled_gtin not in wanted
        }
        if others:
            yield f"{len(others):,} products came whose GTIN was not requested; they are kept"


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


def _set_aside(content: Iterable[PageEntry]) -> Iterable[str]:
    for entry in content:
        for index, key in enumerate(entry.keys):
            if key is None:
                yield f"page {entry.page}, item {index}: not a JSON object in UTF-8"


def _not_loaded(
    journal: Journal, held: Mapping[str, object], listing: Mapping[str, Identity] | None
) -> Iterable[str]:
    failed = {
        name.partition(" ")[2]: why for name, why in journal.notes.items() if name.startswith("failed ")
    }
    # Without a whole listing of keys, only totals tell what is missing; with one, every key is looked for.
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
    named = keys_of(journal, Stage.LISTING)
    gone = gone_from(named, journal)
    for product, one in named.items():
        if product in gone:
            continue
        # A held copy without a date counts as the newest: no date is later than "9".
        is_old = product in held and is_newer(one.updated_at, _date(held[product]) or "9")
        if product not in held or is_old:
            which = "in a newer state, which was" if is_old else "but"
            reason = f"listed by the service, {which} not sent when asked for by its GTIN"
            if askable_gtin(one) is None:
                reason = f"listed by the service, {which} has no GTIN to ask for it by"
            yield f"product {product}, GTIN {one.gtin}: {reason}"


def _short(journal: Journal, *stages: Stage) -> Iterable[tuple[str, str]]:
    """Yield the windows that returned fewer products than they announced.

    The sums may agree nevertheless, if other products were added in between.
    """
    came, most = _by_window(journal, *stages)
    for window, total in most.items():
        if came[window] < total:
            yield window, f"{came[window]:,} of the {total:,} products that were announced came"


def _by_window(journal: Journal, *stages: Stage) -> tuple[dict[str, int], dict[str, int]]:
    """Return for each window how many products came in it, and the most that a page of it announced."""
    entries: dict[str, list[PageEntry]] = {}
    for entry in journal.entries():
        if entry.stage in stages:
            entries.setdefault(entry.window, []).append(entry)
    came = {window: distinct_keys(several) for window, several in entries.items()}
    most = {window: max(entry.total_results or 0 for entry in several) for window, several in entries.items()}
    return came, most


def _date(copy: object) -> str | None:
    """Return the updatedAt of a product that is held, be it in the journal or in a snapshot."""
    return copy.updated_at if isinstance(copy, NewestCopy | Identity) else None
