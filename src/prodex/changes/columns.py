"""Many changes as an Arrow table: a row is a `Change`, and only what differs becomes an object of Python.

Columns of records are compared where Arrow holds them, byte for byte. Of those that differ, the attributes are
compared as bytes, and only those that differ are read. An operation on columns of leaves makes no object at all of
what it leaves as it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import reduce
from typing import Any, Final

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from prodex.changes.applying import apply
from prodex.changes.change import ABSENT, Change, NoValue, Path, absence_of, by_product, path_as_json, path_of
from prodex.changes.diffing import differing
from prodex.written_json import read_written, written_json

#: A row is a change. `before` and `after` are JSON, null where there is none; `before_is` and `after_is` say "value",
#: or which of the four absences it is, so that columns can be asked. `path` is JSON as `Change.to_json` has it.
SCHEMA: Final = pa.schema(
    [(name, pa.string()) for name in ("product", "path", "before_is", "before", "after_is", "after")]
)
#: Records: the key of a product, and its JSON.
RECORDS: Final = pa.schema([("product_id", pa.string()), ("json", pa.string())])

_TOP = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ABSENCES = {one.value: one for one in NoValue}
#: In both records alike: it is neither read nor compared.
_ALIKE = object()


def table_of(changes: Iterable[Change]) -> pa.Table:
    """Return changes as a table (`SCHEMA`).

    >>> table_of([Change("7", ("serves",), None, 4)]).to_pylist()[0]["before_is"]
    'null'
    """
    return _table((one.product, one.path, one.before, one.after) for one in changes)


def changes_of(table: pa.Table) -> Iterator[Change]:
    """Yield the rows of a table as changes.

    >>> [*changes_of(table_of([Change("7", ("serves",), ABSENT, 4)]))][0].after
    4
    """
    for batch in table.select(SCHEMA.names).to_batches():
        for product, path, before_is, before, after_is, after in zip(
            *(column.to_pylist() for column in batch.columns), strict=True
        ):
            yield Change(
                product, path_of(read_written(path)), _read(before_is, before), _read(after_is, after)
            )


def differences(before: pa.Table, after: pa.Table) -> pa.Table:
    """Return what tells the records of one table from those of another, as `diff` does for one product.

    Parameters
    ----------
    before, after
        Records (`RECORDS`), each product once, in any order. One that is in one table only is a change of the product
        as a whole. Of a key that a record has twice, the last one counts, as in every reader of JSON.

    Returns
    -------
    pyarrow.Table
        Changes (`SCHEMA`), in the order of `after`; products that are gone come last.

    Examples
    --------
    >>> old, new = (
    ...     pa.table({"product_id": ["7", "8"], "json": ['{"id":7}', one]}, schema=RECORDS)
    ...     for one in ('{"id":8,"serves":4}', '{"id":8,"serves":4.0}')
    ... )
    >>> [str(one.path) for one in changes_of(differences(old, new))]
    ["('serves',)"]
    """
    before, after = (one.select(RECORDS.names).combine_chunks() for one in (before, after))
    place = pc.index_in(after["product_id"], before["product_id"])
    was = before["json"].take(place)
    # Of all others, no byte becomes an object.
    differs = pc.fill_null(pc.not_equal(was, after["json"]), True)
    gone = before.filter(pc.invert(pc.is_in(before["product_id"], after["product_id"])))
    sides = (
        [after["product_id"].filter(differs), gone["product_id"]],
        [was.filter(differs), gone["json"]],
        [after["json"].filter(differs), pa.nulls(len(gone), pa.string())],
    )
    columns = [[one for column in side for one in _bytes_or_none(column)] for side in sides]
    return _table(
        (product.decode(), *found)
        for product, old, new in zip(*columns, strict=True)
        for found in differing(*_different(old, new))
    )


def differing_leaves(before: pa.Array, after: pa.Array) -> pa.Array:
    """Return which leaves of two columns of one type differ; null is no value, and an object differs by its fields.

    >>> before, after = pa.array([1, None, None, 4]), pa.array([1, 2, None, 5])
    >>> differing_leaves(before, after).to_pylist()
    [False, True, False, True]
    """
    if pa.types.is_struct(before.type):
        fields = range(before.type.num_fields)
        parts = [
            differing_leaves(*(pc.struct_field(side, one) for side in (before, after))) for one in fields
        ]
        return reduce(pc.or_, parts)
    return pc.if_else(
        pc.and_(pc.is_valid(before), pc.is_valid(after)),
        pc.fill_null(pc.not_equal(before, after), False),
        pc.xor(pc.is_valid(before), pc.is_valid(after)),
    )


def applied(records: pa.Table, changes: pa.Table) -> pa.Table:
    """Return records with their changes, those that are gone left out and those that are new at the end.

    Parameters
    ----------
    records
        Records (`RECORDS`), each product once.
    changes
        Their changes (`SCHEMA`).

    Raises
    ------
    prodex.changes.PlaceChanged
        When a place holds something else than a change expects.

    Examples
    --------
    >>> records = pa.table({"product_id": ["7"], "json": ['{"id":7,"size":1.50}']}, schema=RECORDS)
    >>> applied(records, table_of([Change("7", ("serves",), ABSENT, 4)]))["json"].to_pylist()
    ['{"id":7,"size":1.50,"serves":4}']
    """
    keys, texts = (records[name] for name in RECORDS.names)
    by = by_product(changes_of(changes))
    is_changed = pc.is_in(keys, pa.array(by, pa.string()))
    there = dict(zip(*(one.filter(is_changed).to_pylist() for one in (keys, texts)), strict=True))
    made = {
        product: apply(read_written(there[product]) if product in there else ABSENT, several)
        for product, several in by.items()
    }
    written = [None if one is ABSENT else written_json(one) for one in made.values()]
    changed = pa.table([pa.array(made, pa.string()), pa.array(written, pa.string())], schema=RECORDS)
    # Of all others, no byte becomes an object.
    new_texts = pc.if_else(is_changed, changed["json"].take(pc.index_in(keys, changed["product_id"])), texts)
    new_ones = changed.filter(pc.invert(pc.is_in(changed["product_id"], keys)))
    table = pa.concat_tables([pa.table([keys, new_texts], schema=RECORDS), new_ones])
    return table.filter(pc.is_valid(table["json"]))


def _table(rows: Iterable[tuple[str, Path, Any, Any]]) -> pa.Table:
    columns: tuple[list[Any], ...] = tuple([] for _ in SCHEMA)
    for product, path, before, after in rows:
        row = (product, written_json(path_as_json(path)), *_written(before), *_written(after))
        for column, value in zip(columns, row, strict=True):
            column.append(value)
    return pa.table([pa.array(column, pa.string()) for column in columns], schema=SCHEMA)


def _written(value: Any) -> tuple[str, str | None]:
    absence = absence_of(value)
    text = None if isinstance(value, NoValue) else written_json(value)
    return "value" if absence is None else absence.value, text


def _read(what: str, text: str | None) -> Any:
    return read_written(text) if text is not None else _ABSENCES[what]


def _bytes_or_none(column: Any) -> list[bytes | None]:
    found: list[bytes | None] = column.cast(pa.binary()).to_pylist()
    return found


def _different(before: bytes | None, after: bytes | None) -> tuple[Any, Any]:
    """Read two records as far as they differ: what is the same in both is one object in both."""
    if before is None or after is None:
        old, new = (ABSENT if one is None else read_written(one) for one in (before, after))
        return old, new
    with suppress(msgspec.DecodeError, UnicodeDecodeError):
        was, becomes = _TOP.decode(before), _TOP.decode(after)
        alike = {name for name, value in was.items() if becomes.get(name) == value}
        return _read_but(was, alike), _read_but(becomes, alike)
    # The strict reader refuses NaN and halves of surrogate pairs.
    return read_written(before), read_written(after)


def _read_but(record: Mapping[str, msgspec.Raw], alike: set[str]) -> dict[str, Any]:
    return {name: _ALIKE if name in alike else read_written(bytes(value)) for name, value in record.items()}
