"""What is said of a product, or why it is not: a term, the words, and how values are written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from prodex.display_text import Words, words
from prodex.locales import language_label
from prodex.notebook.card.record import PATHS, Record, Row
from prodex.tables.declaration import TABLES
from prodex.tables.values import number_text

NOTHING = words(None)
#: Bytes that one value takes at most; texts have a room of their own.
MOST = 2_000

#: What people call the uses of a unit, of a product and of what is packed in it alike.
UNIT_FLAGS = {
    "is_consumer_unit": "consumer unit",
    "is_display_unit": "display unit",
    "is_despatch_unit": "despatch unit",
    "is_orderable_unit": "orderable",
    "is_invoice_unit": "invoice unit",
}


@dataclass(frozen=True)
class LabelledValue:
    """A term and what is said.

    Attributes
    ----------
    term
        Our own words.
    value
        What is said.
    note
        What stands beside it in small letters: a code, say.
    missing
        Why nothing is said, where nothing is.
    """

    term: str
    value: Words
    note: Words = NOTHING
    missing: str = "none"


def said(value: Any, most: int = MOST) -> Words:
    """Return a value as people read it.

    >>> said(True).text, said(4000.0).text, said(datetime(2026, 11, 20, 8, 0)).text, said(None).is_missing
    ('yes', '4,000', '2026-11-20 08:00:00', True)
    """
    if isinstance(value, bool):
        return words("yes" if value else "no")
    if isinstance(value, int | float):
        return words(f"{value:,.15g}" if isinstance(value, float) else f"{value:,}")
    if isinstance(value, datetime):
        return words(f"{value:%Y-%m-%d %H:%M:%S}{' UTC' if value.tzinfo else ''}")
    return words(value, most)


def as_sent(value: Any) -> str:
    """Return a value as the wire had it, so that columns and scalars can be held against each other.

    >>> as_sent(True), as_sent(0.5), as_sent(datetime(2026, 11, 20, 8, 0))
    ('true', '0.5', '2026-11-20T08:00:00')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return number_text(value)
    if isinstance(value, datetime):
        return str(int(value.timestamp())) if value.tzinfo else value.isoformat()
    return str(value)


def item(position: str) -> str | None:
    """Say which item of a list a position means; the first, or only, needs no word.

    >>> item("0"), item("0.2"), item("")
    (None, 'item 1.3', None)
    """
    numbers = [int(one) + 1 for one in position.split(".") if one]
    return "item " + ".".join(map(str, numbers)) if any(one > 1 for one in numbers) else None


def tongue(code: str | None) -> Words:
    """Return the name of a language, or its code where there is no name.

    >>> tongue("fr").text, tongue("xx-Klingon").text, tongue(None).text
    ('French', 'xx-Klingon', 'no language')
    """
    return words("no language" if code is None else language_label(code), MOST)


#: Rows of one table.
_MOST_ROWS = 300


@dataclass(frozen=True)
class CardTable:
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
) -> CardTable:
    """Return a table of rows, without the columns in which nothing stands."""
    rows = [{**row, "item": item(row.get("position") or "")} for row in rows]
    filled = {
        heading: column
        for heading, column in columns.items()
        if any(row.get(column) is not None for row in rows)
    }
    return CardTable(
        title,
        tuple(filled),
        tuple(tuple(said(row.get(column)) for column in filled.values()) for row in rows[:_MOST_ROWS]),
        len(rows),
        frozenset(place for place, heading in enumerate(filled) if heading in numeric),
        missing,
    )


_BY_SHAPE = {
    "texts": {"": "text"},
    "codes": {".code": "code", ".label": "label", ".description": "description"},
    "quantities": {"": "value"},
    "scalars": {"": "value"},
}


class Leaf(NamedTuple):
    """One leaf of a record.

    Attributes
    ----------
    attribute
        Wire path.
    place
        The language of a text, else the position among the items of lists.
    value
        What it says, as sent; a quantity with its unit.
    """

    attribute: str
    place: str
    value: str


def lines_of(table: str, row: Row) -> Iterator[Leaf]:
    """Yield the leaves of a row.

    >>> row = {"attribute": "netContent", "position": "0", "value": 250.0, "unit_code": "GRM", "unit": "g"}
    >>> list(lines_of("quantities", row))
    [Leaf(attribute='netContent', place='0', value='250 g')]
    """
    place = row["position"]
    if table == "texts":
        place = row["language"] or row["language_code"] or ""
    for suffix, column in _columns(table):
        value = row[column]
        if value is None:
            continue
        told = as_sent(value)
        if table == "quantities":
            told = " ".join(filter(None, [told, row["unit"] or row["unit_code"]]))
        yield Leaf(f"{row['attribute']}{suffix}", place, told)


def lines_of_product(record: Record) -> Iterator[Leaf]:
    """Yield the leaves that stand in columns of `products`."""
    for column, path in PATHS.items():
        if record.product[column] is not None:
            yield Leaf(path, "", as_sent(record.product[column]))


def _columns(table: str) -> Iterator[tuple[str, str]]:
    if table in _BY_SHAPE:
        yield from _BY_SHAPE[table].items()
        return
    for column in TABLES[table].columns:
        for path in column.paths[:1]:
            yield "".join(f".{key}" for key in path if key), column.name
    if table == "entities":
        yield from ((".code", "entity_code"), (".normalizedCode", "short_code"))
