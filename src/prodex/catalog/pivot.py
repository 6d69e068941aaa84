"""From cells to columns: one array a column, one place a product, several values of one product joined.

Whole columns at a time; a column keeps the type of its values where they are all of one type.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog.cells import Cells, Kind, number_texts

JOINED_BY = " | "

#: Beyond these a whole number is none that a double holds exactly.
_EXACT = 2**53


class _Run(NamedTuple):
    """The cells of one column that came from one place, by product."""

    products: npt.NDArray[np.int64]
    values: pa.Array
    kind: Kind


def pivot(cells: Iterable[Cells], size: int, numbers: bool) -> dict[str, pa.Array]:
    """Return a column for each name, in the order of names.

    Parameters
    ----------
    cells
        The cells, whole tables at a time.
    size
        Number of products.
    numbers
        Whether numbers that came as such become numbers, instead of staying text.
    """
    runs: dict[str, list[_Run]] = {}
    for some in cells:
        if len(some.products):
            _sort_in(some, size, runs)
    return {name: _column(runs[name], size, numbers) for name in sorted(runs)}


def _sort_in(cells: Cells, size: int, runs: dict[str, list[_Run]]) -> None:
    """Cut cells into runs of one column each; within a product their order stays."""
    key = cells.columns * size + cells.products
    if np.any(key[1:] < key[:-1]):
        order = np.argsort(key, kind="stable")
        cells = cells.at(order)
    starts = np.flatnonzero(np.r_[True, cells.columns[1:] != cells.columns[:-1]])
    for start, end in zip(starts, [*starts[1:], len(cells.columns)], strict=True):
        run = _Run(cells.products[start:end], cells.values.slice(start, end - start), cells.kind)
        runs.setdefault(cells.names[cells.columns[start]], []).append(run)


def _column(runs: list[_Run], size: int, numbers: bool) -> pa.Array:
    kinds = {run.kind for run in runs}
    products = np.concatenate([run.products for run in runs])
    order = None if len(runs) == 1 else np.argsort(products, kind="stable")
    products = products if order is None else products[order]
    several = bool(np.any(products[1:] == products[:-1]))
    typed = len(kinds) == 1 and not several
    arrays = [run.values if typed else as_text(run.values) for run in runs]
    values = arrays[0] if len(arrays) == 1 else pa.concat_arrays(arrays)
    if order is not None:
        values = values.take(pa.array(order))
    if several:
        products, values = _joined(products, values)
    elif typed:
        values = _typed(values, kinds.pop(), numbers)
    place = np.full(size, -1)
    place[products] = np.arange(len(products))
    return values.take(pa.array(place, mask=place < 0))


def _joined(products: npt.NDArray[np.int64], values: pa.Array) -> tuple[npt.NDArray[np.int64], pa.Array]:
    starts = np.flatnonzero(np.r_[True, products[1:] != products[:-1]])
    offsets = pa.array([*starts, len(products)], pa.int64())
    lists = pa.LargeListArray.from_arrays(offsets, values)
    return products[starts], pc.binary_join(lists, JOINED_BY)


def _typed(values: pa.Array, kind: Kind, numbers: bool) -> pa.Array:
    """Give values their type; numbers that no column of numbers holds exactly stay as they are written."""
    if not pa.types.is_string(values.type) or kind == "text" or (kind == "number" and not numbers):
        return as_text(values) if kind == "number" and not numbers else values
    if kind == "boolean":
        return pc.equal(values, "true")
    return as_numbers(values)


def as_numbers(texts: pa.Array) -> pa.Array:
    """Return numbers written by value as whole numbers or doubles; as they are where neither holds them exactly.

    >>> as_numbers(pa.array(["1", "250"])).type, as_numbers(pa.array(["1", "0.5"])).type
    (DataType(int64), DataType(double))
    >>> as_numbers(pa.array(["0.5", "18446744073709551617"])).type
    DataType(string)
    """
    if pc.all(pc.match_substring_regex(texts, "^-?[0-9]{1,18}$")).as_py():
        return texts.cast(pa.int64())
    whole = pc.match_substring_regex(texts, "^-?[0-9]+$")
    doubles = texts.cast(pa.float64())
    large = pc.greater_equal(pc.abs(doubles), float(_EXACT))
    inexact = pc.or_(pc.and_(whole, large), pc.invert(pc.is_finite(doubles)))
    return texts if pc.any(inexact).as_py() else doubles


def as_text(values: pa.Array) -> pa.Array:
    if pa.types.is_boolean(values.type):
        return pc.if_else(values, "true", "false")
    return number_texts(values) if pa.types.is_floating(values.type) else values.cast(pa.string())
