"""What callers give to a function: one value or several, in whatever container, and how messages describe it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from decimal import Decimal
from enum import Enum
from numbers import Integral, Number
from pathlib import PurePath
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.errors import QueryError

_SINGLE = (str, bytes, Number, date, Enum, np.generic, pa.Scalar, type(None))


def is_missing(value: object) -> bool:
    """Whether this says that there is no value: None, NaN, NaT or pandas' NA."""
    if value is None or value is pd.NA or value is pd.NaT:
        return True
    return value.is_nan() if isinstance(value, Decimal) else isinstance(value, float) and math.isnan(value)


def is_one(value: object) -> bool:
    """Whether this is a single value, not something that holds several."""
    single = isinstance(value, _SINGLE) or value is pd.NA or value is pd.NaT
    return single or (isinstance(value, np.ndarray) and value.ndim == 0)


def whole_number(value: object, least: int | None = None, most: int | None = None) -> int | None:
    """Return a whole number within bounds as plain Python has it, numpy's too; None for anything else.

    True and 12.0 are none: who gives them means something else, or has read a column wrongly.

    >>> whole_number(12), whole_number(np.int64(12)), whole_number(True), whole_number(12.0), whole_number(12, 1, 10)
    (12, 12, None, None, None)
    """
    # numpy registers its whole numbers as Integral, and Python its truth values.
    if not isinstance(value, Integral) or isinstance(value, bool):
        return None
    number = int(value)
    is_within = (least is None or number >= least) and (most is None or number <= most)
    return number if is_within else None


def listed(name: str, value: object) -> list[Any]:
    """Return values as a list of plain Python values, whatever container holds them; a missing one is None.

    Parameters
    ----------
    name
        What they are given for, for the messages.
    value
        One value, or a list, tuple, set, range, generator, pandas Series, Index or array, numpy array or Arrow array.

    Raises
    ------
    QueryError
        When it holds no plain list of values: a frame, a mapping, an array of several dimensions.

    Examples
    --------
    >>> listed("gtin", pd.Series([1.0, None])), listed("gtin", "A"), listed("gtin", {"A": 1}.keys())
    ([1.0, None], ['A'], ['A'])
    """
    if isinstance(value, pd.DataFrame):
        raise QueryError(
            f"{name} got a frame of {len(value.columns)} columns. Give the column that is meant: "
            f"where({name}=frame[{name!r}])."
        )
    if isinstance(value, pc.Expression):
        raise QueryError(f"{name} got an expression. Give it alone, without {name}=: where(expression).")
    if isinstance(value, Mapping | pa.Table | pa.RecordBatch):
        raise QueryError(
            f"{name} got a {'mapping' if isinstance(value, Mapping) else 'table'}. Give a list of values."
        )
    if isinstance(value, np.ndarray) and value.ndim > 1:
        raise QueryError(
            f"{name} got an array of {value.ndim} dimensions. Give values in one dimension, such as its .ravel()."
        )
    if is_one(value):
        items: list[Any] = [value.item() if isinstance(value, np.ndarray) else value]
    elif isinstance(value, pa.Array | pa.ChunkedArray):
        items = value.to_pylist()
    elif isinstance(value, np.ndarray):
        items = pd.Series(
            value
        ).tolist()  # numpy's own tolist() turns datetimes with nanoseconds into integers
    else:  # an enumeration is a type that could be iterated over, and is given by mistake
        items = list(value) if isinstance(value, Iterable) and not isinstance(value, type) else [value]
    return [_python_value(item) for item in items]


def _python_value(item: Any) -> Any:
    if isinstance(item, pa.Scalar):
        item = item.as_py()
    # pandas keeps nanoseconds, which numpy would return as a whole number.
    if isinstance(item, np.datetime64):
        item = pd.Timestamp(item)
    elif isinstance(item, np.generic):
        item = item.item()
    return None if is_missing(item) else item


def described(given: object) -> str:
    """Describe a value for a message that refuses it: texts, numbers and paths with their content, others by type.

    Other objects may hold secrets in their repr, so only the name of their type is shown.

    >>> described(None), described("shop"), described(7), described([])
    ('None', "the text 'shop'", 'the number 7', 'a list')
    """
    if given is None or isinstance(given, bool):
        return repr(given)
    if isinstance(given, str):
        return f"the text {given!r:.60}"
    if isinstance(given, int | float):
        return f"the number {given!r:.30}"
    if isinstance(given, PurePath):
        return f"the path {str(given)!r:.80}"
    name = type(given).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name:.60}"


def duration_given(given: timedelta | float, name: str) -> timedelta:
    """Return a duration that was given as such, or as a number of seconds.

    Parameters
    ----------
    given
        The duration.
    name
        The keyword, for the message.

    Raises
    ------
    QueryError
        When it is none.

    Examples
    --------
    >>> duration_given(90, "lag") == duration_given(timedelta(minutes=1.5), "lag")
    True
    """
    try:
        return given if isinstance(given, timedelta) else timedelta(seconds=given)
    except (TypeError, ValueError, OverflowError) as error:
        raise QueryError(f"{name} is {given!r:.60}. Give a timedelta, or a number of seconds.") from error


def names_given(given: str | Iterable[str], call: str, keyword: str) -> list[str]:
    """Return a name, or several, as a list without repetitions.

    Parameters
    ----------
    given
        One text, or anything that holds texts.
    call, keyword
        The method and its keyword, for the message.

    Raises
    ------
    QueryError
        When one of them is no text.

    Examples
    --------
    >>> names_given("brand", "wide", "columns"), names_given(["kind", "brand", "kind"], "wide", "columns")
    (['brand'], ['kind', 'brand'])
    """
    is_several = isinstance(given, Iterable) and not isinstance(given, str)
    names: list[str] = list(dict.fromkeys(given)) if is_several else [given]  # type: ignore[list-item]
    for one in names:
        if not isinstance(one, str):
            raise QueryError(f"{call}() takes text under {keyword}, not {one!r:.60}.")
    return names
