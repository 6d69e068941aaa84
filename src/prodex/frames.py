"""The one conversion from Arrow to pandas, so that a column has the same dtype wherever it comes from."""

from __future__ import annotations

from functools import lru_cache

import pandas as pd
import pyarrow as pa

#: Parquet has no timestamps in seconds and returns milliseconds, so frames have milliseconds before saving as well.
_SECONDS = pa.timestamp("s", "UTC")

_DTYPES = {
    pa.int64(): pd.Int64Dtype(),
    pa.bool_(): pd.BooleanDtype(),
    pa.string(): pd.StringDtype("pyarrow", na_value=float("nan")),
}


def to_frame(table: pa.Table) -> pd.DataFrame:
    """Return a table as a frame: str, boolean, Int64, float64, datetime64 without an invented zone.

    Dictionary-encoded text becomes plain text: a dtype shows what a column holds, not how it was stored. The frame is
    a copy: changing it does not change the table.

    >>> frame = to_frame(pa.table({"gtin": ["03036811359935", None], "width": pa.array([1200, None], pa.int64())}))
    >>> [str(dtype) for dtype in frame.dtypes]
    ['str', 'Int64']
    """
    for i, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(i, field.name, table.column(i).cast(field.type.value_type))
        elif field.type == _SECONDS:
            table = table.set_column(i, field.name, table.column(i).cast(pa.timestamp("ms", "UTC")))
    # The metadata for pandas in a file would override `types_mapper`; it is for those who read it without prodex.
    frame: pd.DataFrame = table.replace_schema_metadata(None).to_pandas(types_mapper=_DTYPES.get)
    return frame


def for_pandas(schema: pa.Schema) -> pa.Schema:
    """Return a schema that tells pandas the dtypes of `to_frame`, in a file of any number of rows.

    >>> list(for_pandas(pa.schema({"gtin": pa.string()})).metadata)
    [b'pandas']
    """
    return schema.with_metadata(
        {**(schema.metadata or {}), b"pandas": _pandas_dtypes(schema.remove_metadata())}
    )


# Every file of every part of a table says the same, and to have pandas describe a frame takes longer than to write a
# small file. Tables have the columns of their declaration; only those of `presence` differ between catalogues.
@lru_cache(maxsize=256)
def _pandas_dtypes(schema: pa.Schema) -> bytes:
    described = pa.Schema.from_pandas(to_frame(schema.empty_table()), preserve_index=False)
    dtypes: bytes = described.metadata[b"pandas"]
    return dtypes
