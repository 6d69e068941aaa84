"""The journal: what simulated suppliers did, product by product and value by value, kept in the store."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from prodex_sandbox.raw_json import decode, encode
from prodex_sandbox.records.store import Store

if TYPE_CHECKING:
    import pandas as pd

#: The action under which an incident is noted as a whole; its products have notes of their own.
INCIDENT: Final = "incident"

#: Attribute -> its JSON before and after; None for no value.
Changes = Mapping[str, tuple[bytes | None, bytes | None]]

_COLUMNS: Final = "day, supplier, action, detail, incident, product_key, product_id, gtin, changes"


@dataclass(frozen=True, slots=True)
class Note:
    """What was done to one product at once, as it is kept; `product_key` is None for an incident as a whole."""

    day: date
    supplier: str
    action: str
    detail: str
    incident: str
    product_key: int | None
    product_id: str
    gtin: str
    changes: Changes


@dataclass(frozen=True, slots=True)
class Entry:
    """One value that a simulated supplier changed.

    Attributes
    ----------
    day
        The simulated day.
    supplier
        Who did it.
    action
        What sort of thing was done, a key of `ACTIONS`; "incident" says what an incident did as a whole.
    detail
        What exactly, in words.
    incident
        Name of the incident that it belongs to, or "".
    gtin, product_id
        The product; "" for an incident as a whole.
    attribute
        Wire path of the attribute; "" where no value of the record changed.
    language
        Short language code of the text, or "".
    before, after
        The value, None where there was none.
    """

    day: date
    supplier: str
    action: str
    detail: str
    incident: str
    gtin: str
    product_id: str
    attribute: str
    language: str
    before: Any
    after: Any


class Journal(Sequence[Entry]):
    """What simulated suppliers did: a sequence of entries, which prints as a summary of each day.

    Examples
    --------
    >>> Journal([])
    Nothing was simulated.
    """

    def __init__(self, notes: Sequence[Note], days: Sequence[date] = ()) -> None:
        self._notes = tuple(notes)
        self._days = tuple(days) or tuple(sorted({note.day for note in notes}))

    @cached_property
    def _entries(self) -> tuple[Entry, ...]:
        # Decoded only where they are asked for: days and incidents need none of the values.
        return tuple(entry for note in self._notes for entry in _entries(note))

    def __len__(self) -> int:
        return len(self._entries)

    def __getitem__(self, index: Any) -> Any:
        return self._entries[index]

    @property
    def days(self) -> tuple[date, ...]:
        """The simulated days, those on which nothing happened too."""
        return self._days

    @property
    def incidents(self) -> list[str]:
        """A sentence about each incident: what happened, and to which products."""
        return [note.detail for note in self._notes if note.action == INCIDENT]

    @property
    def counts(self) -> dict[date, dict[str, int]]:
        """How many products each action changed on each day; one for each action of a product."""
        counted: dict[date, Counter[str]] = {day: Counter() for day in self._days}
        for note in self._notes:
            if note.action != INCIDENT:
                counted[note.day][note.action] += 1
        return {day: dict(found) for day, found in counted.items()}

    def to_frame(self) -> pd.DataFrame:
        """Return the entries as a pandas frame, one row for each."""
        import pandas as pd

        frame = pd.DataFrame([asdict(entry) for entry in self._entries], columns=list(Entry.__slots__))
        return frame.astype({"day": "datetime64[s]"})

    def __repr__(self) -> str:
        if not self._days:
            return "Nothing was simulated."
        lines = []
        for day, counted in self.counts.items():
            done = ", ".join(f"{counted[action]:,} {action}" for action in sorted(counted))
            lines.append(f"{day:%a %Y-%m-%d}  {done or 'nothing happened'}")
            lines += [
                f"  {note.incident}: {note.detail}"
                for note in self._notes
                if note.day == day and note.action == INCIDENT
            ]
        return "\n".join(printable(line) for line in lines)


def printable(text: str) -> str:
    """Escape control characters; those that a supplier typed must not reach a terminal.

    >>> printable("\\x1b[2Jgone")
    '\\\\x1b[2Jgone'
    """
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def insert_notes(connection: sqlite3.Connection, notes: Sequence[Note]) -> None:
    """Add notes to the journal of a store."""
    connection.executemany(
        f"INSERT INTO journal ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - our own names
        (
            (
                note.day.isoformat(),
                note.supplier,
                note.action,
                note.detail,
                note.incident,
                note.product_key,
                note.product_id,
                note.gtin,
                _packed(note.changes),
            )
            for note in notes
        ),
    )


def read_notes(store: Store, actions: Sequence[str] = ()) -> list[Note]:
    """Return the notes of a store in their order; those of some actions alone where they are named."""
    chosen = "WHERE action IN (SELECT value FROM json_each(?))" if actions else ""
    rows = store.rows(
        f"SELECT {_COLUMNS} FROM journal {chosen} ORDER BY number",  # noqa: S608 - our own names
        (encode(list(actions)).decode(),) if actions else (),
    )
    return [
        Note(date.fromisoformat(day), supplier, action, detail, incident, key, id_, gtin, _unpacked(changes))
        for day, supplier, action, detail, incident, key, id_, gtin, changes in rows
    ]


def _packed(changes: Changes) -> bytes:
    # Values are JSON already; None and null are different facts, so an absent value is an empty list.
    return encode(
        {name: [[decode(raw)] if raw is not None else [] for raw in pair] for name, pair in changes.items()}
    )


def _unpacked(packed: bytes) -> Changes:
    return {
        name: (encode(before[0]) if before else None, encode(after[0]) if after else None)
        for name, (before, after) in decode(packed).items()
    }


def _entries(note: Note) -> Iterator[Entry]:
    head = note.day, note.supplier, note.action, note.detail, note.incident, note.gtin, note.product_id
    if not note.changes:
        yield Entry(*head, "", "", None, None)
    for attribute, pair in note.changes.items():
        before, after = (None if raw is None else decode(raw) for raw in pair)
        for language, old, new in by_language(before, after):
            yield Entry(*head, attribute, language, old, new)


def by_language(before: Any, after: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield the texts that differ between two values of an attribute, by language; else the two values, with ""."""
    texts = _texts(before), _texts(after)
    if texts[0] is None or texts[1] is None or texts[0] == texts[1]:
        yield "", before, after
        return
    for language in dict.fromkeys([*texts[0], *texts[1]]):
        if texts[0].get(language) != texts[1].get(language):
            yield language, texts[0].get(language), texts[1].get(language)


def _texts(value: Any) -> dict[str, str] | None:
    """Return the texts of a list of localized items by language; None where it is something else."""
    if value is None:
        return {}
    if not isinstance(value, list):
        return None
    texts: dict[str, str] = {}
    for item in value:
        described = item.get("expressedIn") if isinstance(item, dict) else None
        language = described.get("normalizedCode") if isinstance(described, dict) else None
        if not isinstance(language, str) or language in texts or not isinstance(item.get("data"), str):
            return None
        texts[language] = item["data"]
    return texts
