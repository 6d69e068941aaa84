"""Tables of a card: headings and rows, without the columns in which nothing stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from prodex.notebook.card.facts import item, said
from prodex.notebook.card.record import Row
from prodex.verbatim import Words

#: Rows of one table.
_MOST_ROWS = 300


@dataclass(frozen=True)
class Grid:
    """A table.

    Attributes
    ----------
    title
        What it is about.
    headings
        The first is that of the rows.
    rows, total
        The cells of those shown, and how many rows there are.
    numeric
        Places of the columns of numbers.
    missing
        Why there are none.
    """

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[Words, ...], ...]
    total: int
    numeric: frozenset[int] = frozenset()
    missing: str = "none"


def grid(
    title: str,
    columns: Mapping[str, str],
    rows: Sequence[Row],
    *,
    numeric: Sequence[str] = (),
    missing: str = "none",
) -> Grid:
    """Return a table of rows, without the columns in which nothing stands."""
    rows = [{**row, "item": item(row.get("position") or "")} for row in rows]
    filled = {
        heading: column
        for heading, column in columns.items()
        if any(row.get(column) is not None for row in rows)
    }
    return Grid(
        title,
        tuple(filled),
        tuple(tuple(said(row.get(column)) for column in filled.values()) for row in rows[:_MOST_ROWS]),
        len(rows),
        frozenset(place for place, heading in enumerate(filled) if heading in numeric),
        missing,
    )
