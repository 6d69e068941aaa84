"""Rows of any table as lines: where it stands on the wire, in which language or place, and what it says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from prodex.notebook.card.facts import as_sent
from prodex.notebook.card.record import PATHS, Record, Row
from prodex.tables.declaration import TABLES

_BY_SHAPE = {
    "texts": {"": "text"},
    "codes": {".code": "code", ".label": "label", ".description": "description"},
    "quantities": {"": "value"},
    "scalars": {"": "value"},
}


class Line(NamedTuple):
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


def lines_of(table: str, row: Row) -> Iterator[Line]:
    """Yield the leaves of a row.

    >>> row = {"attribute": "netContent", "position": "0", "value": 250.0, "unit_code": "GRM", "unit": "g"}
    >>> list(lines_of("quantities", row))
    [Line(attribute='netContent', place='0', value='250 g')]
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
        yield Line(f"{row['attribute']}{suffix}", place, told)


def lines_of_product(record: Record) -> Iterator[Line]:
    """Yield the leaves that stand in columns of `products`."""
    for column, path in PATHS.items():
        if record.product[column] is not None:
            yield Line(path, "", as_sent(record.product[column]))


def _columns(table: str) -> Iterator[tuple[str, str]]:
    if table in _BY_SHAPE:
        yield from _BY_SHAPE[table].items()
        return
    for column in TABLES[table].columns:
        for path in column.paths[:1]:
            yield "".join(f".{key}" for key in path if key), column.name
    if table == "entities":
        yield from ((".code", "entity_code"), (".normalizedCode", "short_code"))
