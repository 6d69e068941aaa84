"""The one conversion from Arrow to pandas, so that a column has the same dtype whatever its source."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import pandas as pd
import pyarrow as pa

#: Parquet has no timestamps in seconds and returns milliseconds, so frames have milliseconds before saving as well.
_SECONDS = pa.timestamp("s", "UTC")

_TEXT = pd.StringDtype("pyarrow", na_value=float("nan"))

_DTYPES: dict[pa.DataType, Any] = {
    pa.int64(): pd.Int64Dtype(),
    pa.bool_(): pd.BooleanDtype(),
    pa.string(): _TEXT,
    pa.large_string(): _TEXT,
}


def to_frame(table: pa.Table) -> pd.DataFrame:
    """Return a table as a frame: str, boolean, Int64, float64, datetime64 without an invented zone.

    Dictionary-encoded text becomes plain text: a dtype shows what a column holds, not how it was stored. The frame is
    a copy: changing it does not change the table.

    >>> frame = to_frame(pa.table({"gtin": ["03036811359935", None], "width": pa.array([1200, None], pa.int64())}))
    >>> [str(dtype) for dtype in frame.dtypes]
    ['str', 'Int64']
    """
    table = as_framed(table)
    # The metadata for pandas in a file would override `types_mapper`; it is for those who read it without prodex.
    frame: pd.DataFrame = table.replace_schema_metadata(None).to_pandas(types_mapper=_DTYPES.get)
    return frame


def to_series(name: str, values: pa.Array) -> pd.Series:
    """Return one column as that of a frame: the same as `to_frame`, but far quicker for few values.

    >>> to_series("gtin", pa.array(["03036811359935", None])).dtype == _TEXT
    True
    """
    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    if (dtype := _DTYPES.get(kind)) is None:
        return to_frame(pa.table([values], names=[name]))[name]
    framed = as_framed(pa.table([values], names=[name])).column(0)
    return pd.Series(dtype.__from_arrow__(framed), name=name, copy=False)


def as_framed(table: pa.Table) -> pa.Table:
    """Return a table with the types of columns that pandas keeps, so that `to_frame` copies none of them again.

    >>> as_framed(pa.table({"kind": pa.array(["rice", "rice"]).dictionary_encode()})).schema.types
    [DataType(large_string)]
    """
    columns = []
    for column in table.columns:
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        wanted = {pa.string(): pa.large_string(), _SECONDS: pa.timestamp("ms", "UTC")}.get(kind, kind)
        columns.append(column if column.type == wanted else column.cast(wanted))
    return pa.table(columns, names=table.column_names) if columns else table


def for_pandas(schema: pa.Schema) -> pa.Schema:
    """Return a schema with metadata that make pandas use the dtypes of `to_frame`, in a file of any number of rows.

    >>> list(for_pandas(pa.schema({"gtin": pa.string()})).metadata)
    [b'pandas']
    """
    return schema.with_metadata(
        {**(schema.metadata or {}), b"pandas": _pandas_dtypes(schema.remove_metadata())}
    )


def _pandas_dtypes(schema: pa.Schema) -> bytes:
    described = [_pandas_dtype(field.type) for field in schema]
    columns = [
        {**one, "name": name, "field_name": name}
        for name, (one, _) in zip(schema.names, described, strict=True)
    ]
    of_frame = described[0][1] if described else _pandas_dtype(pa.int64())[1]
    return json.dumps({**of_frame, "columns": columns}).encode()


# To have pandas describe a frame takes longer than to write a small file; what it says of a column is up to its type.
@lru_cache(maxsize=256)
def _pandas_dtype(kind: pa.DataType) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what pandas says of a column of a type, and of a frame."""
    empty = to_frame(pa.schema([("column", kind)]).empty_table())
    of_frame = json.loads(pa.Schema.from_pandas(empty, preserve_index=False).metadata[b"pandas"])
    (column,) = of_frame.pop("columns")
    return column, of_frame
