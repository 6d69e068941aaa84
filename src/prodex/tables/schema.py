"""What a table and a column are: the terms in which `prodex.tables.declaration` declares the tables of a catalogue."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import pyarrow as pa

#: What a column takes from the wire. A value that does not fit its column stands in `scalars` instead.
#:
#: - `string`: a JSON string;
#: - `code`: a string, or a whole number written as text (codes come both ways);
#: - `integer`, `number`, `boolean`: such a JSON value, numbers exactly representable;
#: - `timestamp`: text `YYYY-MM-DDThh:mm:ss` without zone, and no zone is invented;
#: - `unix_seconds`: a whole number of seconds since 1970, UTC.
Kind = Literal["string", "code", "integer", "number", "boolean", "timestamp", "unix_seconds"]

ARROW_TYPES: Mapping[Kind, pa.DataType] = {
    "string": pa.string(),
    "code": pa.string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "timestamp": pa.timestamp("us"),
    "unix_seconds": pa.timestamp("s", tz="UTC"),
}

#: The meaning of a column of `presence`.
STATE_MEANING = "how the attribute came: filled, empty, null or absent"


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table.

    Attributes
    ----------
    name, kind, meaning
        As in the data dictionary.
    paths
        Wire paths from the row's object, tried in this order; none for a key or a derived column. The empty path is
        the row's item itself.
    parent_path
        Wire path from the object around the row's list: a copy of a value that is also in a table of its own.
    """

    name: str
    kind: Kind
    meaning: str
    paths: tuple[tuple[str, ...], ...] = ()
    parent_path: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Table:
    """One table: what a row is, where its objects stand on the wire, and its columns.

    `anchors` are the wire paths (lists are transparent) whose objects become rows; a table without any is filled by
    shape or derived. A table that is not `per_product` is a lexicon: each entry once, no product key.
    """

    name: str
    row: str
    columns: tuple[Column, ...]
    anchors: tuple[str, ...] = ()
    per_product: bool = True

    @cached_property
    def schema(self) -> pa.Schema:
        """Arrow schema, each field with its meaning as metadata."""
        return pa.schema(
            [pa.field(c.name, ARROW_TYPES[c.kind], metadata={"meaning": c.meaning}) for c in self.columns]
        )

    def schema_of(self, names: Iterable[str]) -> pa.Schema:
        """Return the schema of some columns; those that are not declared are the attributes in `presence`."""
        known = {field.name: field for field in self.schema}
        # Suppliers name attributes, so that the columns of `presence` are known only from the data.
        attribute = pa.field("", pa.string(), metadata={"meaning": STATE_MEANING})
        return pa.schema([known.get(name, attribute.with_name(name)) for name in names])


def leaf(name: str, path: str, kind: Kind, meaning: str, *others: str) -> Column:
    """Declare a column that holds the leaf at a wire path, or where there is none at one of the others."""
    return Column(name, kind, meaning, tuple(tuple(p.split(".")) if p else () for p in (path, *others)))


def coded(name: str, path: str, what: str) -> tuple[Column, Column, Column]:
    """Declare the three columns of an object `{code, label, description}`."""
    return (
        leaf(f"{name}_code", f"{path}.code", "code", f"{what}: code, which never changes"),
        leaf(name, f"{path}.label", "string", f"{what}: label in the language of the labels"),
        leaf(f"{name}_description", f"{path}.description", "string", f"{what}: description"),
    )


def derived(name: str, kind: Kind, meaning: str) -> Column:
    """Declare a column that is computed: a key, or a value from elsewhere in the record."""
    return Column(name, kind, meaning)


def copied(name: str, path: str, kind: Kind, meaning: str) -> Column:
    """Declare a column that repeats a leaf of the object around the row's list."""
    return Column(name, kind, meaning, (), tuple(path.split(".")))


def misfit(schema: pa.Schema, declared: Table, lacking: Collection[str] = ()) -> str:
    """Return why columns are not those of a table, without those that it lacks, or "" where they may be."""
    # Arrow opens such a file, and fails only when somebody asks for that column.
    if len(set(schema.names)) < len(schema.names):
        return "it has a column twice"
    if missing := [name for name in declared.schema.names if name not in {*schema.names, *lacking}]:
        return f"it has no column {missing[0]}"
    if surplus := [name for name in lacking if name in schema.names]:
        return f"it has a column {surplus[0]!r:.60} that was left out"
    for found, wanted in zip(schema, declared.schema_of(schema.names), strict=True):
        if _kind_of(found.type) != _kind_of(wanted.type):
            return f"its column {found.name!r:.60} holds {found.type!s:.60}, not {wanted.type}"
    return ""


def _kind_of(kind: pa.DataType) -> str:
    """Name the kind of a type: files know text, and not whether it repeats itself."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return "text"
    return "moment" if pa.types.is_timestamp(kind) else str(kind)
