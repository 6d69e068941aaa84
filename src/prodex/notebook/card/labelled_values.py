"""The values of a card: with a label, as tables, and as the leaves of a record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from prodex.locales import language_label
from prodex.notebook.card.record import PATHS, Record, Row
from prodex.tables.declaration import TABLES
from prodex.tables.values import number_text
from prodex.untrusted_text import Words, words

NOTHING = words(None)
#: Bytes of a value that are shown; texts have a limit of their own.
MOST = 2_000

#: Labels of the uses of a unit, for a product and for the units of a hierarchy alike.
UNIT_FLAGS = {
    "is_consumer_unit": "consumer unit",
    "is_display_unit": "display unit",
    "is_despatch_unit": "despatch unit",
    "is_orderable_unit": "orderable",
    "is_invoice_unit": "invoice unit",
}


@dataclass(frozen=True)
class LabelledValue:
    """A value with a label.

    Attributes
    ----------
    term
        The label; our own words.
    value
        The value.
    note
        What follows it in small letters, such as its code.
    missing
        Why there is no value, if there is none.
    """

    term: str
    value: Words
    note: Words = NOTHING
    missing: str = "none"


def value_text(value: Any, most: int = MOST) -> Words:
    """Return a value as it is shown.

    >>> value_text(True).text, value_text(4000.0).text, value_text(datetime(2026, 11, 20, 8, 0)).text
    ('yes', '4,000', '2026-11-20 08:00:00')
    """
    if isinstance(value, bool):
        return words("yes" if value else "no")
    if isinstance(value, int | float):
        return words(f"{value:,.15g}" if isinstance(value, float) else f"{value:,}")
    if isinstance(value, datetime):
        return words(f"{value:%Y-%m-%d %H:%M:%S}{' UTC' if value.tzinfo else ''}")
    return words(value, most)


def wire_text(value: Any) -> str:
    """Return a value as it was on the wire, so that typed columns and untyped scalars can be compared.

    >>> wire_text(True), wire_text(0.5), wire_text(datetime(2026, 11, 20, 8, 0))
    ('true', '0.5', '2026-11-20T08:00:00')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return number_text(value)
    if isinstance(value, datetime):
        # The service sends seconds since 1970 for times with a zone, and ISO 8601 for times without one.
        return str(int(value.timestamp())) if value.tzinfo else value.isoformat()
    return str(value)


def order_of(position: str) -> tuple[int, ...]:
    """Return a position as numbers, by which rows are sorted: as text, item 10 would come before item 2.

    >>> order_of("0.10") > order_of("0.2")
    True
    """
    return tuple(int(one) for one in position.split(".") if one)


def item_text(position: str) -> str | None:
    """Return which item of a list a position means; None for the first, which is mostly the only one.

    >>> item_text("0"), item_text("0.2"), item_text("")
    (None, 'item 1.3', None)
    """
    numbers = [one + 1 for one in order_of(position)]
    return "item " + ".".join(map(str, numbers)) if any(one > 1 for one in numbers) else None


def language_text(code: str | None) -> Words:
    """Return the name of a language, or its code if it has no name.

    >>> language_text("fr").text, language_text("xx-Klingon").text, language_text(None).text
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
        Its title.
    headings
        Headings of the columns; the first column names the rows.
    rows, total
        The cells of the rows that are shown, and the number of all rows.
    numeric
        Numbers of the columns of numbers.
    missing
        Why there are no rows, if there are none.
    """

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[Words, ...], ...]
    total: int
    numeric: frozenset[int] = frozenset()
    missing: str = "none"


def table_of(
    title: str,
    columns: Mapping[str, str],
    rows: Sequence[Row],
    *,
    numeric: Sequence[str] = (),
    missing: str = "none",
) -> CardTable:
    """Return a table of rows, without the columns that are empty."""
    rows = [{**row, "item": item_text(row.get("position") or "")} for row in rows]
    filled = {
        heading: column
        for heading, column in columns.items()
        if any(row.get(column) is not None for row in rows)
    }
    return CardTable(
        title,
        tuple(filled),
        tuple(tuple(value_text(row.get(column)) for column in filled.values()) for row in rows[:_MOST_ROWS]),
        len(rows),
        frozenset(place for place, heading in enumerate(filled) if heading in numeric),
        missing,
    )


#: Tables of values of any attribute: their columns, with what each adds to the path of the attribute. The leaves of
#: all other tables are their declared columns.
_BY_SHAPE = {
    "texts": {"": "text"},
    "codes": {".code": "code", ".label": "label", ".description": "description"},
    "quantities": {"": "value"},
    "scalars": {"": "value"},
}


class Leaf(NamedTuple):
    """A leaf of a record.

    Attributes
    ----------
    attribute
        Wire path.
    place
        The language of a text, else the position in lists.
    value
        The value as sent; a quantity with its unit.
    """

    attribute: str
    place: str
    value: str


def leaves_of(table: str, row: Row) -> Iterator[Leaf]:
    """Yield the leaves of a row.

    >>> row = {"attribute": "netContent", "position": "0", "value": 250.0, "unit_code": "GRM", "unit": "g"}
    >>> list(leaves_of("quantities", row))
    [Leaf(attribute='netContent', place='0', value='250 g')]
    """
    place = row["position"]
    if table == "texts":
        place = row["language"] or row["language_code"] or ""
    for suffix, column in _columns(table):
        value = row[column]
        if value is None:
            continue
        text = wire_text(value)
        if table == "quantities":
            text = " ".join(filter(None, [text, row["unit"] or row["unit_code"]]))
        yield Leaf(f"{row['attribute']}{suffix}", place, text)


def product_leaves(record: Record) -> Iterator[Leaf]:
    """Yield the leaves in columns of `products`."""
    for column, path in PATHS.items():
        if record.product[column] is not None:
            yield Leaf(path, "", wire_text(record.product[column]))


def _columns(table: str) -> Iterator[tuple[str, str]]:
    if table in _BY_SHAPE:
        yield from _BY_SHAPE[table].items()
        return
    for column in TABLES[table].columns:
        for path in column.paths[:1]:
            yield "".join(f".{key}" for key in path if key), column.name
    # These two columns are filled by a rule of their own, so their declaration has no path.
    if table == "entities":
        yield from ((".code", "entity_code"), (".normalizedCode", "short_code"))
