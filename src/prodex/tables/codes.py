"""The codes in tables: of which attribute each is, and with which label and description it came."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa

from prodex.tables.declaration import TABLES, Table

#: Wire path of a code value, and the code.
Code: TypeAlias = tuple[str, str]


class CodeColumns(NamedTuple):
    """A code value with columns of its own: its table, its wire path, and the names of the columns."""

    table: str
    attribute: str
    code: str
    label: str
    description: str | None


@cache
def declared_codes() -> tuple[CodeColumns, ...]:
    """Return the code values with columns of their own; those of `codes` are in rows.

    >>> [one.attribute for one in declared_codes() if one.table == "products"]
    ['brand', 'kind', 'typePackaging', 'GPC']
    """
    return tuple(one for table in TABLES.values() for one in _code_columns(table))


def _code_columns(table: Table) -> Iterator[CodeColumns]:
    by_path = {path: column.name for column in table.columns for path in column.paths[:1]}
    for path, name in by_path.items():
        label = by_path.get((*path[:-1], "label"))
        if path[-1:] == ("code",) and label is not None:
            attribute = ".".join([*table.anchors[0].split("."), *path[:-1]]).lstrip(".")
            yield CodeColumns(table.name, attribute, name, label, by_path.get((*path[:-1], "description")))


def code_values(tables: Mapping[str, pa.Table]) -> Iterator[tuple[str, str, str | None, str | None]]:
    """Yield attribute, code, label and description of every code value, in whichever table it is."""
    for row in _distinct(tables["codes"], ["attribute", "code", "label", "description"]):
        if row["code"] is not None:
            yield row["attribute"], row["code"], row["label"], row["description"]
    for one in declared_codes():
        described = [] if one.description is None else [one.description]
        for row in _distinct(tables[one.table], [one.code, one.label, *described]):
            if row[one.code] is not None:
                yield one.attribute, row[one.code], row[one.label], row.get(one.description or "")


def _distinct(table: pa.Table, names: Sequence[str]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = table.select(names).group_by(names).aggregate([]).to_pylist()
    return rows
