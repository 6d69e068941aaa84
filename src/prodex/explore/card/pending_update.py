"""A pending update: what it would change if it were accepted, next to the current values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from prodex.explore.card.record import (
    MOST,
    Leaf,
    Record,
    item_text,
    language_text,
    leaves_of,
    product_leaves,
    why_missing,
)
from prodex.facts.fill import keys
from prodex.quality.problems import attribute_title
from prodex.tables.declaration import TABLES
from prodex.tables.plain import presence_of
from prodex.tables.values import storable
from prodex.untrusted_text import Words, words

_MOST = 300


@dataclass(frozen=True)
class PendingChange:
    """A value that the update would change.

    Attributes
    ----------
    attribute
        Wire path, without `lastRequest`.
    place
        The language of a text, or the item of a list.
    now, then
        The current values, and those of the update.
    missing
        Why there is no current value, if there is none.
    emptied
        What would be there instead of a value that the update removes.
    """

    attribute: Words
    place: Words
    now: tuple[Words, ...]
    then: tuple[Words, ...]
    missing: str
    emptied: str


@dataclass(frozen=True)
class PendingUpdate:
    """The changes of a pending update.

    Attributes
    ----------
    changes, total
        The changes that are shown, and the number of all.
    same
        Number of values that the update repeats unchanged.
    """

    changes: tuple[PendingChange, ...]
    total: int
    same: int


def read_pending_update(record: Record) -> PendingUpdate | None:
    """Return what a pending update would change, or None if there is no pending update."""
    if not record.product["has_pending_update"]:
        return None
    then = _by_place(
        line for table in _TABLES for row in record.waiting(table) for line in leaves_of(table, row)
    )
    emptied = _emptied(record)
    # A top-level attribute that the update does not name stays as it is, so only the others are compared.
    brought = {*(_top(attribute) for attribute, _ in then), *emptied}
    own = (
        line for table in _TABLES for row in record.tables.get(table, ()) for line in leaves_of(table, row)
    )
    now = _by_place(line for line in (*product_leaves(record), *own) if _top(line.attribute) in brought)
    bare: set[tuple[str, str]] = {(name, "") for name in emptied} - {
        (_top(attribute), "") for attribute, _ in now
    }
    # An attribute of the update replaces the whole attribute: a language that it leaves out would be removed.
    places = [
        place for place in sorted({*then, *now, *bare}) if now.get(place) != then.get(place) or place in bare
    ]
    changes = [
        PendingChange(
            words(attribute_title(attribute), 1_000),
            language_text(place) if _is_spoken(place) else words(item_text(place)),
            _all(now.get((attribute, place), ())),
            _all(then.get((attribute, place), ())),
            str(why_missing(record, attribute)),
            emptied.get(_top(attribute), "no longer there"),
        )
        for attribute, place in places[:_MOST]
    ]
    same = sum(now.get(key) == value for key, value in then.items())
    return PendingUpdate(tuple(changes), len(places), same)


#: The tables with a row for each value: the others have no rows of updates.
_TABLES = tuple(
    name for name, table in TABLES.items() if table.per_product and "attribute" in table.schema.names
)


def _by_place(lines: Iterable[Leaf]) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = {}
    for line in lines:
        found.setdefault((line.attribute, line.place), []).append(line.value)
    return found


def _emptied(record: Record) -> dict[str, str]:
    """Return the attributes that the update removes, with what would be there instead: null or empty."""
    waiting = record.wire.get("lastRequest")
    taken = waiting.items() if isinstance(waiting, dict) else ()
    return {
        storable(name): shown
        for name, value in taken
        if (shown := presence_of(value)) not in {"filled", record.presence(storable(name))}
    }


def _top(attribute: str) -> str:
    return keys(attribute)[0]


def _all(values: Iterable[str]) -> tuple[Words, ...]:
    return tuple(words(value, MOST) for value in values)


def _is_spoken(place: str) -> bool:
    # The place of a leaf is a language or a position, and a position has digits and dots only.
    return bool(place) and not place.replace(".", "").isdecimal()
