"""Reconciliation: what was received compared with what was announced, and where the service contradicts itself.

Pure: it reads the lines of a journal. A total is only a claim of the service; `prodex.catalog.load_ledger.Ledger` says
what makes a load complete.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from prodex.catalog.load_ledger import Ledger, limited_lines, product_named
from prodex.phrases import counted
from prodex.query import GTINS_PER_CALL
from prodex.store.disappeared_products import FEW, Absence, are_many
from prodex.store.journal import LoadJournal
from prodex.store.journal_contents import (
    announced_for,
    askable_gtin,
    contradiction_of,
    is_another,
    is_newer,
    keys_of,
    newest,
)
from prodex.store.journal_format import PageEntry, Stage
from prodex.store.newest import Newest, NewestCopy, distinct_keys
from prodex.store.snapshot_keys import RefreshedKeys
from prodex.tables.records import Identity


def ledger_of(
    journal: LoadJournal,
    held: Newest | RefreshedKeys,
    absence: Absence,
    gtins_in: Sequence[str] = (),
    *,
    refreshed: bool = False,
) -> Ledger:
    """Compare what was received with what was announced.

    Parameters
    ----------
    journal
        The pages that were received.
    held
        The products that are there now, by key.
    absence
        Which of them have disappeared.
    gtins_in
        GTINs that were asked for by name.
    refreshed
        The journal holds only changes: its first total was the number of changes, not of all products.
    """
    content = [entry for entry in journal.entries() if entry.stage.has_products]
    listing, gone = absence.listing, absence.gone
    # Only a query by GTIN needs them: a set of a million GTINs is built for nothing otherwise.
    gtins = {key.filled_gtin for entry in content for key in entry.keys if key} if gtins_in else frozenset()
    notes = [*_contradictions(journal, len(held), absence)]
    # A refresh receives only changes, so that few products and few GTINs prove nothing.
    if not refreshed:
        notes += _notes_on_a_load(journal, len(held), listing, [gtin in gtins for gtin in gtins_in])
    return Ledger(
        announced=None if refreshed else announced_for(journal, Stage.PULL),
        announced_last=None if refreshed else _last_announced(journal),
        announced_end=announced_for(journal, Stage.END),
        received=sum(len(entry.keys) for entry in content),
        # Products that have disappeared are still among `held`: the merge removes them.
        distinct=len(held) - len(gone),
        arrived=held.arrived,
        listed=None if listing is None else len(listing),
        gone=len(gone),
        missing_gtins=tuple(gtin for gtin in gtins_in if gtin not in gtins),
        set_aside=tuple(_items_set_aside(content)),
        not_loaded=(*_not_loaded(journal, held, listing), *_nameless(content)),
        doubtful=tuple(limited_lines(_doubtful(journal, held, absence))),
        notes=tuple(notes),
    )


def totals_notes(journal: LoadJournal) -> dict[str, str]:
    """Return the notes about the totals: a total that is lower than the number of products is no count."""
    received, most = _by_window(journal, Stage.PULL, Stage.LISTING)
    totals = [entry.total_results for entry in journal.entries() if entry.window in received]
    totals += [count.total for count in journal.counts.values()]
    notes = {}
    if received and all(total is None for total in totals):
        notes[contradiction_of("totals")] = "the service announced no number of products"
    elif low := [
        window
        for window, count in received.items()
        if count > max(most[window], _announced_count(journal, window))
    ]:
        # One window is enough as proof; the largest is the clearest.
        window = max(low, key=lambda window: received[window])
        notes[contradiction_of("totals")] = (
            f"the service announced at most {max(most[window], _announced_count(journal, window)):,} products and gave "
            f"{received[window]:,} ({window}): its totals are not counts, and do not tell whether more are missing"
        )
    return notes


def _announced_count(journal: LoadJournal, window: str) -> int:
    counted = journal.counts.get(window)
    return (counted.total or 0) if counted else 0


def _contradictions(journal: LoadJournal, held: int, absence: Absence) -> Iterable[str]:
    """Yield where the service contradicts itself, and what is not known because of it."""
    noted = {name: text for name, text in journal.notes.items() if name.startswith(contradiction_of(""))}
    yield from (noted | totals_notes(journal)).values()
    for why, number in Counter(absence.doubtful.values()).most_common():
        yield (
            f"{counted(number, 'product')} {'is' if number == 1 else 'are'} kept that the listing of all keys does not "
            f"name: whether {'it has' if number == 1 else 'they have'} gone is not known, since {why}"
        )
    if are_many(len(absence.gone), held):
        yield (
            f"{len(absence.gone):,} of {held:,} products have disappeared at once: they did not come beside others "
            "that are there, but a service whose index is being built anew may look the same"
        )


def _notes_on_a_load(
    journal: LoadJournal, held: int, listing: Mapping[str, Identity] | None, are_received: Sequence[bool]
) -> Iterable[str]:
    """Yield what a load cannot know of products that were not received.

    Parameters
    ----------
    journal, held, listing
        As for `ledger_of`.
    are_received
        Of each GTIN that was asked for by name, whether a product of it was received.
    """
    first = announced_for(journal, Stage.PULL)
    if listing and first and are_many(first - len(listing), first):
        yield f"the service announced {first:,} products at first, and lists the keys of {len(listing):,}"
    if not held and not first:
        yield (
            "the service showed no product: it has none for this query, or its index is being built anew; nothing that "
            "came tells which"
        )
    for begin in range(0, len(are_received), GTINS_PER_CALL):
        call = are_received[begin : begin + GTINS_PER_CALL]
        known = call.index(False) if False in call else len(call)
        # Missing GTINs at the end of a list, and nowhere else, are hardly a coincidence if there are several.
        if known >= FEW and len(call) - known >= FEW and not any(call[known:]):
            yield (
                f"of {len(call):,} GTINs in one request the first {known:,} came, and none of the others: the service "
                "may read only the beginning of such a list"
            )


def _last_announced(journal: LoadJournal) -> int | None:
    """Return what was announced on the last page, where no part of the query was cut into windows."""
    total = 0
    for name, count in journal.counts.items():
        if count.stage is Stage.PULL:
            entries = journal.pages_of(name)
            # `pull/0` is a whole part of the query; with bounds it is a window, which has a total of its own.
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


def _doubtful(journal: LoadJournal, held: Mapping[str, object], absence: Absence) -> Iterable[str]:
    """Yield each product that is kept although the service does not show it any more, with the reason."""
    gtins = _gtins_of(journal, held, absence.doubtful)
    for product, why in absence.doubtful.items():
        name = product_named(product, gtins.get(product))
        yield f"{name}: kept, although the listing of all keys does not name it: {why}"


def _gtins_of(
    journal: LoadJournal, held: Mapping[str, object], products: Collection[str]
) -> dict[str, str | None]:
    """Return the GTINs of some products that are held."""
    if not products:
        return {}
    received = (
        key for entry in journal.entries() for key in entry.keys if key and key.product_id in products
    )
    before = (one for product in products if isinstance(one := held[product], Identity))
    return {one.product_id: one.gtin for one in (*before, *received)}


def _items_set_aside(content: Iterable[PageEntry]) -> Iterable[str]:
    for entry in content:
        for index, key in enumerate(entry.keys):
            if key is None:
                yield f"page {entry.page}, item {index}: not a JSON object in UTF-8"


def _nameless(content: Sequence[PageEntry]) -> Iterable[str]:
    """Say it where most records name no product: then their number proves nothing, and no two of them can be one.

    A few of many are as good as others: each has a key of its content (`prodex.tables.plain_walk.product_key`).
    """
    # One page shows it, and a million keys need not be looked at.
    first = next((entry.keys for entry in content if len(entry.keys)), ())
    if not any(map(_names_nothing, first)):
        return
    keys = [key for entry in content for key in entry.keys if key]
    nameless = sum(map(_names_nothing, keys))
    if 2 * nameless > len(keys):
        yield (
            f"{nameless:,} of {len(keys):,} records have neither id, uuid nor GTIN: which products they are, and "
            "whether all have come, is not known"
        )


def _names_nothing(key: Identity | None) -> bool:
    return key is not None and key.product_id.startswith("#")


def _not_loaded(
    journal: LoadJournal, held: Mapping[str, object], listing: Mapping[str, Identity] | None
) -> Iterable[str]:
    failed = {
        name.partition(" ")[2]: why for name, why in journal.notes.items() if name.startswith("failed ")
    }
    # Without a whole listing of keys, only totals show what is missing; with one, every key is looked for.
    if listing is None:
        yield from (f"{window}: {why}" for window, why in failed.items() if why)
        yield from (
            f"{window}: {why}"
            for window, why in _short_windows(journal, Stage.PULL, Stage.CHANGES)
            if not failed.get(window)
        )
        yield from (f"{window}: {why}" for window, why in _short_windows(journal, Stage.LISTING))
        counted = {count.stage for count in journal.counts.values()}
        if Stage.PULL in counted and Stage.END not in counted and not failed.get(Stage.END):
            yield "end: interrupted before it was asked for what had changed meanwhile, and how many there are"
        if contradiction_of("totals") in totals_notes(journal) and announced_for(journal, Stage.PULL) is None:
            yield "totals: the service announced no number of products, and no list of their keys to hold them against"
    else:
        lasting = ("budget", *(window for window in failed if " beyond offset " in window))
        yield from (f"{window}: {failed[window]}" for window in lasting if failed.get(window))
        if not held and not listing and (first := announced_for(journal, Stage.PULL)):
            yield f"pull: the service announced {first:,} products, then showed none, as while its index is built anew"
    listed = keys_of(journal, Stage.LISTING) if listing is None else listing
    # What was sent in a refresh is as new as the listing, even where it equals what was held.
    sent = newest(journal) if isinstance(held, RefreshedKeys) and listed else {}
    for product, one in listed.items():
        copy = held.get(product)
        date = _date(copy)
        if copy is not None and date == one.updated_at:
            continue
        # A held copy without a date counts as the newest: no date is later than "9".
        is_old = copy is not None and is_newer(one.updated_at, date or "9")
        is_from_before = isinstance(copy, Identity) and product not in sent
        is_unlike = is_from_before and date is not None and is_another(one.updated_at, date)
        if copy is None or is_old or is_unlike:
            state = "a newer" if is_old else "another"
            is_held = is_old or is_unlike
            which = f"in {state} state, which was" if is_held else "but"
            reason = f"listed by the service, {which} not sent when asked for by its GTIN"
            if askable_gtin(one) is None:
                which = f"in {state} state, and" if is_held else "but"
                reason = f"listed by the service, {which} has no GTIN to ask for it by"
            yield f"{product_named(product, one.gtin)}: {reason}"


def _short_windows(journal: LoadJournal, *stages: Stage) -> Iterable[tuple[str, str]]:
    """Yield the windows that returned fewer products than they announced.

    The sums may agree nevertheless, if other products were added in between.
    """
    received, most = _by_window(journal, *stages)
    for window, total in most.items():
        if received[window] < total:
            yield window, f"{received[window]:,} of the {total:,} products that were announced came"


def _by_window(journal: LoadJournal, *stages: Stage) -> tuple[dict[str, int], dict[str, int]]:
    """Return for each window how many products it received, and the most that a page of it announced."""
    entries: dict[str, list[PageEntry]] = {}
    for entry in journal.entries():
        if entry.stage in stages:
            entries.setdefault(entry.window, []).append(entry)
    received = {window: distinct_keys(several) for window, several in entries.items()}
    most = {window: max(entry.total_results or 0 for entry in several) for window, several in entries.items()}
    return received, most


def _date(copy: object) -> str | None:
    """Return the updatedAt of a product that is held, be it in the journal or in a snapshot."""
    return copy.updated_at if isinstance(copy, NewestCopy | Identity) else None
