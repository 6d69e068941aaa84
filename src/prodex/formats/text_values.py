"""Values as text for files that hold only text, and back: numbers to their last digit, moments with their zone."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc


def spelled(value: Any) -> str:
    """Return a single value as text.

    >>> spelled(datetime.fromisoformat("2026-11-20T08:00:00+00:00")), spelled(0.1 + 0.2)
    ('2026-11-20T08:00:00Z', '0.30000000000000004')
    """
    return value.isoformat().replace("+00:00", "Z") if isinstance(value, datetime) else str(value)


def spelled_column(column: pa.Array) -> list[str | None]:
    """Return the values of a column that is no text as texts."""
    if pa.types.is_timestamp(column.type):
        return [None if moment is None else spelled(moment) for moment in column.to_pylist()]
    texts: list[str | None] = pc.cast(column, pa.string()).to_pylist()
    return texts


def understood(texts: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return the values that texts spell.

    Raises
    ------
    pyarrow.ArrowInvalid
        When a text spells no value of the type.

    Examples
    --------
    >>> understood(pa.array(["true", None]), pa.bool_()).to_pylist()
    [True, None]
    """
    return pc.cast(texts, kind)
