"""An update that waits for acceptance: what it would change, beside what is there now."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from prodex.display_text import Words, words
from prodex.notebook.card.labelled_values import MOST, Leaf, item, lines_of, lines_of_product, tongue
from prodex.notebook.card.missing import face, keys
from prodex.notebook.card.record import Record
from prodex.tables.declaration import TABLES
from prodex.tables.plain import presence_of
from prodex.tables.values import storable

_MOST = 300


@dataclass(frozen=True)
class PendingChange:
    """A place at which the update says something else.

    Attributes
    ----------
    attribute
        Wire path, without `lastRequest`.
    place
        The language of a text, or which item of a list.
    now, then
        What is there, and what would be there.
    missing
        Why nothing is there now, where nothing is.
    emptied
        What would be there instead of a value, where the update takes it away.
    """

    attribute: Words
    place: Words
    now: tuple[Words, ...]
    then: tuple[Words, ...]
    missing: str
    emptied: str


@dataclass(frozen=True)
class PendingUpdate:
    """What waits.

    Attributes
    ----------
    changes, total
        Those shown, and how many there are.
    same
        Attributes that the update repeats as they are, with their values: nothing would change.
    """

    changes: tuple[PendingChange, ...]
    total: int
    same: int


def pending(record: Record) -> PendingUpdate | None:
    """Return what an update that waits would change, or None where none waits."""
    if not record.product["has_pending_update"]:
        return None
    then = _by_place(
        line for table in _TABLES for row in record.waiting(table) for line in lines_of(table, row)
    )
    emptied = _emptied(record)
    brought = {*(_top(attribute) for attribute, _ in then), *emptied}
    own = (line for table in _TABLES for row in record.tables.get(table, ()) for line in lines_of(table, row))
    now = _by_place(line for line in (*lines_of_product(record), *own) if _top(line.attribute) in brought)
    bare: set[tuple[str, str]] = {(name, "") for name in emptied} - {
        (_top(attribute), "") for attribute, _ in now
    }
    # An attribute that the update brings takes the place of all that is there now.
    places = [
        place for place in sorted({*then, *now, *bare}) if now.get(place) != then.get(place) or place in bare
    ]
    changes = [
        PendingChange(
            words(attribute, 1_000),
            tongue(place) if _is_spoken(place) else words(item(place)),
            _all(now.get((attribute, place), ())),
            _all(then.get((attribute, place), ())),
            str(face(record, attribute)),
            emptied.get(_top(attribute), "no longer there"),
        )
        for attribute, place in places[:_MOST]
    ]
    same = sum(now.get(key) == value for key, value in then.items())
    return PendingUpdate(tuple(changes), len(places), same)


_TABLES = tuple(
    name for name, table in TABLES.items() if table.per_product and "attribute" in table.schema.names
)


def _by_place(lines: Iterable[Leaf]) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = {}
    for line in lines:
        found.setdefault((line.attribute, line.place), []).append(line.value)
    return found


def _emptied(record: Record) -> dict[str, str]:
    """Return the attributes that the update takes away, with the face that they would show."""
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
    return bool(place) and not place.replace(".", "").isdecimal()
