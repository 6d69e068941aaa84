"""How whole columns of wire values fit declared columns: what `prodex.tables.values` says, a column at a time."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.tables.declaration import ARROW_TYPES, Kind
from prodex.tables.values import fit, number_text

_YEAR_1 = pa.scalar(datetime(1, 1, 1), pa.timestamp("s"))  # noqa: DTZ001 - local times without zone


class Fitted(NamedTuple):
    """A column as declared, and the values that did not fit it (None when all did)."""

    values: pa.Array
    misfits: pa.Array | None


def fit_column(array: pa.Array, kind: Kind) -> Fitted | None:
    """Fit a column of wire values into a declared kind, or return None when their type never fits."""
    numbers, strings = pa.types.is_floating(array.type), pa.types.is_string(array.type)
    if strings and kind in {"string", "code"}:
        return Fitted(array, None)
    if strings and kind == "timestamp":
        return _timestamps(array)
    if numbers and kind == "number":
        return Fitted(array, None)
    if numbers and kind in {"code", "integer", "unix_seconds"}:
        return _whole_numbers(array, kind)
    if pa.types.is_boolean(array.type) and kind == "boolean":
        return Fitted(array, None)
    return None


def number_texts(array: pa.Array) -> pa.Array:
    """Write doubles by their value, as `number_text` does."""
    whole = pc.equal(array, pc.floor(array))
    if pc.all(whole, min_count=0).as_py():
        return pc.cast(pc.cast(array, pa.int64()), pa.string())
    texts = pc.if_else(
        whole,
        pc.cast(pc.cast(pc.if_else(whole, array, 0.0), pa.int64()), pa.string()),
        pc.cast(array, pa.string()),
    )
    size = pc.abs(array)
    unlike = pc.and_(pc.invert(whole), pc.or_(pc.less(size, 1e-3), pc.greater(size, 1e14)))
    if not pc.any(unlike).as_py():
        return texts
    # Arrow and Python write very small and very large fractions differently.
    spelled = [number_text(v) if v is not None else None for v in pc.filter(array, unlike).to_pylist()]
    return pc.replace_with_mask(texts, pc.fill_null(unlike, False), pa.array(spelled, pa.string()))


def _whole_numbers(array: pa.Array, kind: Kind) -> Fitted:
    fits = pc.equal(array, pc.floor(array))
    if kind == "unix_seconds":
        fits = pc.and_(fits, pc.and_(pc.greater_equal(array, 0), pc.less(array, 253_402_300_800)))
    misfits = None
    if not pc.all(fits, min_count=0).as_py():
        misfits = pc.if_else(fits, None, array)
        array = pc.if_else(fits, array, None)
    whole = pc.cast(array, pa.int64())
    return Fitted(pc.cast(whole, ARROW_TYPES[kind]), misfits)


def _timestamps(array: pa.Array) -> Fitted:
    """Read all at once where all look alike, else one by one."""
    if pc.all(pc.equal(pc.binary_length(array), 19), min_count=0).as_py():
        try:
            seconds = pc.cast(array, pa.timestamp("s"))
            if not pc.any(pc.less(seconds, _YEAR_1)).as_py():  # Arrow knows a year 0, Python does not
                return Fitted(pc.cast(seconds, ARROW_TYPES["timestamp"]), None)
        except pa.ArrowInvalid:
            pass
    fitted = pa.array([fit(value, "timestamp") for value in array.to_pylist()], ARROW_TYPES["timestamp"])
    odd = np.logical_and(fitted.is_null().to_numpy(False), array.is_valid().to_numpy(False))
    return Fitted(fitted, pc.if_else(pa.array(odd), array, None) if odd.any() else None)
