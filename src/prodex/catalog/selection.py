"""Which products are meant: from what a person gives `where()` to a condition over the columns of `products`."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.errors import QueryError
from prodex.nearest import hint
from prodex.tables.declaration import TABLES


def equal_to(column: str, value: Any) -> pc.Expression:
    """Return the condition that a column of `products` has a value, or one of several; None is no value.

    Raises
    ------
    QueryError
        When there is no such column, or the value is not of its type.
    """
    names = TABLES["products"].schema.names
    if column not in names:
        there_are = hint(column, names, "catalog.dictionary() lists its columns.")
        raise QueryError(f"products has no column {column!r}{there_are}")
    field, kind = pc.field(column), TABLES["products"].schema.field(column).type
    if value is None:
        return field.is_null()
    several = isinstance(value, list | tuple | set | frozenset | pd.Series)
    values = list(value) if several else [value]
    if column == "gtin":
        values = [f"{v:014d}" if isinstance(v, int) else v for v in values]
    elif pa.types.is_string(kind):  # codes are text here, and people write 250
        values = [str(v) if isinstance(v, int) and not isinstance(v, bool) else v for v in values]
    try:
        return field.isin(pa.array(values, kind)) if several else field == pa.scalar(values[0], kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError, ValueError, TypeError, OverflowError) as error:
        raise QueryError(
            f"{column} holds {kind}, and {value!r} is none. Give a value of that type."
        ) from error
