"""Overridden since we sent it: values that the service took from here, and that somebody has changed since.

What suppliers and retailers quarrel about is whether a correction was taken back, when, and what stands there instead.
So a value counts only if it was confirmed, or shown by a snapshot, and if nothing else was sent from here since.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd

from prodex.catalog import Catalog
from prodex.changes.trails import shown_value
from prodex.corrections.frame_columns import Columns, frame_of, of_write
from prodex.errors import SnapshotDamaged, SnapshotError, StorageError
from prodex.gtin import comparable_column
from prodex.ledger.writes import sent_writes
from prodex.phrases import counted
from prodex.send.sent_states import SentState, SentValue, sent_values
from prodex.store.archive import snapshots_folder, unlinked
from prodex.store.snapshot import SNAPSHOTS, open_snapshot
from prodex.tables.columns import as_one_chunk


@dataclass(frozen=True)
class Override:
    """A value that was sent from here and is something else now.

    Attributes
    ----------
    value
        What was sent, and what is there now.
    since_snapshot
        The first snapshot that shows something else; "" where that is not known.
    shown_in
        The last snapshot that shows what was sent; "" where none does.
    """

    value: SentValue
    since_snapshot: str = ""
    shown_in: str = ""


@dataclass(frozen=True)
class SentSummary:
    """What became of all values that were sent of the products of a catalogue.

    Attributes
    ----------
    overrides
        Those that are something else now, the last sent first.
    as_sent, not_visible, unknown
        The number of the others.
    products
        Number of products of which something was sent.
    """

    overrides: tuple[Override, ...] = field(repr=False)
    as_sent: int
    not_visible: int
    unknown: int
    products: int


def overridden(catalog: Catalog) -> pd.DataFrame:
    """List the values that were sent from this machine and are something else now; see `Catalog.overridden`."""
    found = sent_summary(catalog)
    return frame_of(_COLUMNS, found.overrides)


def sent_summary(catalog: Catalog) -> SentSummary:
    """Return what became of all values that were sent of the products of a catalogue."""
    gtins = (
        comparable_column(as_one_chunk(catalog.arrow("products", ["gtin"])["gtin"])).drop_null().to_pylist()
    )
    # Read once: earlier snapshots are of the same products.
    written = sent_writes(gtins, {catalog.origin.source}).writes
    states = {one.key: one for one in sent_values(catalog, written=written)}
    waiting = {key for key, one in states.items() if one.state in _OPEN}
    since, shown = dict.fromkeys(waiting, _name_of(catalog)), dict.fromkeys(waiting, "")
    for name, earlier in _earlier(catalog) if waiting else ():
        if earlier.origin.source != catalog.origin.source:  # those products are others
            continue
        ids = {states[key].product_id for key in waiting}
        try:
            known = {one.key: one for one in sent_values(earlier, ids, written)}
        except (SnapshotDamaged, StorageError):
            continue
        for key in list(waiting):
            before = known.get(key)
            is_before = earlier.origin.loaded_at is None or earlier.origin.loaded_at < states[key].write.at
            if before is not None and before.state in _OPEN:
                since[key] = name
            elif before is not None and before.state is SentState.AS_SENT and not is_before:
                # It has shown what was sent, whatever is known of the import.
                states[key] = replace(states[key], state=SentState.OVERRIDDEN)
                shown[key] = name
            if is_before or (before is not None and before.state not in _OPEN):
                waiting.remove(key)
        if not waiting:
            break
    found = list(states.values())
    overrides = [one for one in found if one.state is SentState.OVERRIDDEN]
    overrides.sort(
        key=lambda one: (-one.write.at.timestamp(), one.product_id, one.place.attribute, one.place.item)
    )
    counts = {state: sum(one.state is state for one in found) for state in SentState}
    return SentSummary(
        tuple(Override(one, since[one.key], shown[one.key]) for one in overrides),
        counts[SentState.AS_SENT],
        counts[SentState.NOT_VISIBLE],
        counts[SentState.UNKNOWN],
        len({one.product_id for one in found}),
    )


#: What earlier snapshots may say more about.
_OPEN = frozenset({SentState.OVERRIDDEN, SentState.UNKNOWN})


def _name_of(catalog: Catalog) -> str:
    return "" if catalog.folder is None else f"{catalog.folder.parent.name}@{catalog.folder.name}"


def _earlier(catalog: Catalog) -> Iterator[tuple[str, Catalog]]:
    """Yield the snapshots of the same name that were published before a catalogue, the newest first."""
    folder = catalog.folder
    if folder is None or Path(folder).absolute().parent.parent != snapshots_folder().absolute():
        return
    folders = SNAPSHOTS.of(folder.parent.name)
    names = [one.name for one in folders]
    for one in reversed(folders[: names.index(folder.name)] if folder.name in names else ()):
        try:
            yield f"{folder.parent.name}@{one.name}", open_snapshot(unlinked(one))
        except (SnapshotError, StorageError):  # what it shows is not known; others are asked
            continue


#: Values that a page lists, and characters of each that it shows.
_LISTED, _SHOWN = 20, 80


def override_lines(found: SentSummary, name: str) -> Iterator[str]:
    """Yield what a page says of overridden values: how many there are, and the last ones of them.

    Parameters
    ----------
    found
        What became of what was sent.
    name
        Of the snapshots, for the call that lists all.
    """
    if not found.products:
        yield "Nothing was sent from here of these products."
        return
    number = len(found.overrides)
    products = len({one.value.product_id for one in found.overrides})
    values = f"{counted(number, 'value')} of {counted(products, 'product')}" if number else "nothing"
    yield f"Overridden since we sent it: {values}, of {counted(found.products, 'product')} of which something was sent."
    for one in found.overrides[:_LISTED]:
        yield _line(one)
    if number > _LISTED:
        yield f"{_LISTED} of {number:,} values are listed; prodex.open_snapshot({name!r}).overridden() lists all."


def _line(one: Override) -> str:
    value, write = one.value, one.value.write
    place = " ".join(filter(None, [value.place.attribute, value.place.language, value.place.item]))
    by = f" by {write.by}" if write.by else ""
    why = f" ({write.why})" if write.why else ""
    since = f", since {one.since_snapshot}" if one.since_snapshot else ""
    sent, now = _cut(shown_value(value.sent)), _cut(shown_value(value.now))
    return f"{value.gtin} {place}: sent {sent} on {write.at:%Y-%m-%d}{by}{why}, now {now}{since}."


def _cut(text: str | None) -> str:
    if text is None:
        return "nothing"
    return f"“{text}”" if len(text) <= _SHOWN else f"“{text[:_SHOWN]} …” ({len(text):,} characters)"


#: Columns of the frame: of which type each is, and what it holds.
_COLUMNS: Columns[Override] = {
    "product_id": ("str", lambda one: one.value.product_id),
    "gtin": ("str", lambda one: one.value.gtin),
    "attribute": ("str", lambda one: one.value.place.attribute),
    "language": ("str", lambda one: one.value.place.language),
    "item": ("str", lambda one: one.value.place.item),
    "sent": ("str", lambda one: shown_value(one.value.sent)),
    "now": ("str", lambda one: shown_value(one.value.now)),
    **of_write(lambda one: one.value.write, "sent_at", "upsert", "tracking", "by", "why"),
    "since_snapshot": ("str", lambda one: one.since_snapshot or None),
    "shown_in": ("str", lambda one: one.shown_in or None),
}
