"""An update that waits for acceptance: what it would change, beside what is there now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from prodex.notebook.card.faces import face
from prodex.notebook.card.facts import tongue
from prodex.notebook.card.lines import Line, lines_of, lines_of_product
from prodex.notebook.card.record import PENDING, Record
from prodex.tables.declaration import TABLES
from prodex.tables.plain import presence_of
from prodex.verbatim import Words, words

_MOST = 300
_MOST_BYTES = 4_000


@dataclass(frozen=True)
class Change:
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
        The face that would be there instead of a value, where the update takes it away.
    """

    attribute: Words
    place: Words
    now: tuple[Words, ...]
    then: tuple[Words, ...]
    missing: str
    emptied: str


@dataclass(frozen=True)
class Pending:
    """What waits.

    Attributes
    ----------
    changes, total
        Those shown, and how many there are.
    same
        Attributes that the update repeats as they are, with their values: nothing would change.
    """

    changes: tuple[Change, ...]
    total: int
    same: int


def pending(record: Record) -> Pending | None:
    """Return what an update that waits would change, or None where none waits."""
    if not record.product["has_pending_update"]:
        return None
    then = _by_place(
        line for table in _TABLES for row in record.waiting(table) for line in lines_of(table, row)
    )
    tops = {attribute.split(".")[0] for attribute, _ in then}
    now = _by_place(
        line
        for line in (
            *lines_of_product(record),
            *(
                line
                for table in _TABLES
                for row in record.tables.get(table, ())
                for line in lines_of(table, row)
            ),
        )
        if not line.attribute.startswith(PENDING) and line.attribute.split(".")[0] in tops
    )
    changes = [
        Change(
            words(attribute, 1_000),
            tongue(place) if _is_spoken(place) else words(_item(place) or None),
            _all(now.get((attribute, place), ())),
            _all(then.get((attribute, place), ())),
            str(face(record, attribute)),
            "no longer there",
        )
        for attribute, place in _places(then, now)
        if now.get((attribute, place)) != then.get((attribute, place))
    ]
    changes += _emptied(record)
    same = sum(now.get(key) == value for key, value in then.items())
    return Pending(tuple(changes[:_MOST]), len(changes), same)


_TABLES = tuple(
    name for name, table in TABLES.items() if table.per_product and "attribute" in table.schema.names
)


def _by_place(lines: Iterable[Line]) -> dict[tuple[str, str], tuple[str, ...]]:
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for line in lines:
        key = (line.attribute, line.place)
        found[key] = (*found.get(key, ()), line.value)
    return found


def _places(
    then: Mapping[tuple[str, str], tuple[str, ...]], now: Mapping[tuple[str, str], tuple[str, ...]]
) -> list[tuple[str, str]]:
    """Return where something would change: an attribute that the update brings takes the place of all there is."""
    brought = {attribute.split(".")[0] for attribute, _ in then}
    return sorted({*then, *(key for key in now if key[0].split(".")[0] in brought)})


def _emptied(record: Record) -> list[Change]:
    """Return the attributes that the update takes away."""
    waiting = record.wire.get("lastRequest")
    taken = waiting.items() if isinstance(waiting, dict) else ()
    return [
        Change(words(name, 1_000), words(None), (), (), record.presence(name), shown)
        for name, value in taken
        if (shown := presence_of(value)) != "filled" and record.presence(name) != shown
    ]


def _all(values: Iterable[str]) -> tuple[Words, ...]:
    return tuple(words(value, _MOST_BYTES) for value in values)


def _is_spoken(place: str) -> bool:
    return bool(place) and not place.replace(".", "").isdecimal()


def _item(place: str) -> str:
    """Say which item of a list a position means; the first needs no word."""
    numbers = [int(one) + 1 for one in place.split(".") if one]
    return "item " + ".".join(map(str, numbers)) if any(one > 1 for one in numbers) else ""
