"""Columns for computing: Arrow arrays as numpy arrays, and rows looked up by key.

A column of text may be dictionary-encoded wherever a column is taken here: then each distinct value is looked at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.phrases import LETTERS
from prodex.tables.visible import visible_texts

Mask: TypeAlias = npt.NDArray[np.bool_]
Rows: TypeAlias = npt.NDArray[np.int64]
Numbers: TypeAlias = npt.NDArray[np.float64]
#: True, False, or missing where it is unknown; combined by three-valued logic: unknown and False is False.
Answer: TypeAlias = pd.arrays.BooleanArray


def with_nulls_at(column: pa.Array, rows: pa.Array) -> pa.Array:
    """Return a column with null in some rows, given as a mask."""
    if pa.types.is_struct(column.type):
        # `if_else` would leave zeros and empty texts below an object that is null.
        return column.take(pa.array(np.arange(len(column)), mask=rows.to_numpy(zero_copy_only=False)))
    return pc.if_else(rows, None, column)


def as_one_chunk(values: Any) -> Any:
    """Return a column as one array."""
    if not isinstance(values, pa.ChunkedArray):
        return values
    # Arrow copies even a single chunk to combine it.
    return values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()


def filled_values(values: pa.Array) -> npt.NDArray[np.bool_]:
    """Say for each value whether it is data: neither null, nor text that shows nothing (`prodex.tables.visible`).

    >>> filled_values(pa.array(["a", "", " \\n", None])).tolist(), filled_values(pa.array([0.0, None])).tolist()
    ([True, False, False, False], [True, False])
    """
    if pa.types.is_dictionary(values.type):
        return of_each(filled_values(values.dictionary), values, False)
    if pa.types.is_string(values.type):
        return np.asarray(visible_texts(values).to_numpy(zero_copy_only=False))
    return np.asarray(values.is_valid().to_numpy(zero_copy_only=False))


def unaccented_texts(texts: pa.Array) -> pa.Array:
    """Return texts in the form in which words are compared; see `prodex.phrases.unaccented`.

    >>> unaccented_texts(pa.array(["CRÈME Brûlée", "Œufs", None])).to_pylist()
    ['creme brulee', 'oeufs', None]
    """
    # Most texts are plain letters, for which all but the first step would be in vain.
    odd = pc.fill_null(pc.invert(pc.string_is_ascii(texts)), False)
    marked = pc.utf8_lower(pc.utf8_normalize(texts.filter(odd), "NFKD"))
    for letter, letters in LETTERS.items():
        marked = pc.replace_substring(marked, letter, letters)
    return pc.replace_with_mask(pc.utf8_lower(texts), odd, pc.replace_substring_regex(marked, r"\pM+", ""))


def composed_texts(texts: Any) -> Any:
    """Return a column of texts, or an expression of one, as texts compare; see `prodex.phrases.composed`.

    >>> composed_texts(pa.array(["Nestle\u0301", None])).to_pylist() == ["Nestl\u00e9", None]
    True
    """
    if not isinstance(texts, pa.Array):
        return pc.utf8_normalize(texts, form="NFC")
    # Most texts are plain letters, which have one form.
    odd = pc.fill_null(pc.invert(pc.string_is_ascii(texts)), False)
    return pc.replace_with_mask(texts, odd, pc.utf8_normalize(texts.filter(odd), form="NFC"))


def unless_blank(texts: Any) -> pa.Array:
    """Return texts with null in place of those that show nothing."""
    texts = as_one_chunk(texts)
    filled = filled_values(texts)
    if filled.all():
        return texts
    if pa.types.is_dictionary(texts.type):
        codes = texts.indices.to_numpy(zero_copy_only=False)
        return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32(), mask=~filled), texts.dictionary)
    return pc.if_else(pa.array(filled), texts, pa.scalar(None, texts.type))


def is_true(flags: Any) -> Mask:
    """Return booleans; missing ones are False."""
    return np.asarray(as_one_chunk(pc.fill_null(flags, False)).to_numpy(zero_copy_only=False), bool)


def numbers(values: Any) -> Numbers:
    """Return numbers (true is 1); missing ones are NaN."""
    return np.asarray(
        as_one_chunk(pc.cast(values, pa.float64(), safe=False)).to_numpy(zero_copy_only=False), float
    )


def encoded(values: Any) -> tuple[pa.Array, Rows]:
    """Return the distinct values, and for each row which of them it has; -1 where it has none."""
    read = as_one_chunk(values.dictionary_encode())  # what is encoded already stays as it is
    codes = pc.fill_null(read.indices, -1).to_numpy(zero_copy_only=False)
    return read.dictionary, np.asarray(codes, np.int64)


def of_each(results: npt.NDArray[Any], values: pa.DictionaryArray, missing: Any) -> npt.NDArray[Any]:
    """Return for each row what was found for its distinct value."""
    codes = pc.fill_null(values.indices, len(results)).to_numpy(zero_copy_only=False)
    of_rows: npt.NDArray[Any] = np.append(results, np.array([missing], results.dtype))[codes]
    return of_rows


def by_value(values: Any, make: Callable[[Any], Any], missing: Any) -> npt.NDArray[Any]:
    """Return what is made of each value; each distinct one is asked about once, however often it occurs.

    >>> by_value(pa.array(["KGM", None, "KGM"]), {"KGM": 1000.0}.get, 0.0).tolist()
    [1000.0, 0.0, 1000.0]
    """
    distinct, code = encoded(values)
    # The last one is for rows without a value, whose code is -1.
    return np.array([*map(make, distinct.to_pylist()), missing])[code]


def combinations(*columns: Any) -> tuple[Rows, list[pa.Array]]:
    """Return which combination of values each row has, and the values of each combination, column by column.

    >>> place, (names, codes) = combinations(pa.array(["Mill", "Mill", None]), pa.array([4, 4, 4]))
    >>> place.tolist(), names.to_pylist(), codes.to_pylist()
    ([0, 0, 1], ['Mill', None], [4, 4])
    """
    read = [encoded(column) for column in columns]
    # One number for each combination, as in a number whose digits have as many values as the columns.
    key = np.zeros(len(columns[0]), np.int64)
    for distinct, code in read:
        key = key * (len(distinct) + 1) + code + 1
    keys, place = encoded(pa.array(key))
    left, values = keys.to_numpy(), []
    for distinct, _ in reversed(read):
        left, code = np.divmod(left, len(distinct) + 1)
        values.append(distinct.take(pa.array(code - 1, mask=code == 0)))
    return place, values[::-1]


def by_combination(make: Callable[..., pa.Array], *columns: Any) -> pa.DictionaryArray:
    """Return what is made of the values that several columns have in a row; each combination is looked at once.

    Parameters
    ----------
    make
        Gets as many columns, with one row for each combination that occurs, and returns a value for each row.
    *columns
        The columns.

    Examples
    --------
    >>> names, codes = pa.array(["Mill", None, "Mill", None]), pa.array(["4", "5", "4", None])
    >>> by_combination(pc.coalesce, names, codes).to_pylist()
    ['Mill', '5', 'Mill', None]
    """
    place, values = combinations(*columns)
    distinct, code = encoded(make(*values))
    code = code[place]
    return pa.DictionaryArray.from_arrays(pa.array(code, pa.int32(), mask=code < 0), distinct)


def places(values: pa.Array, among: pa.Array) -> Rows:
    """Return the place of each value among others; -1 where it is not among them."""
    if pa.types.is_dictionary(values.type):
        return of_each(places(values.dictionary, among), values, -1)
    return np.asarray(pc.fill_null(pc.index_in(values, among), -1).to_numpy(zero_copy_only=False), np.int64)


def occurrences(keys: Rows) -> Rows:
    """Return for each key how often it occurs.

    >>> occurrences(np.array([7, 8, 7])).tolist()
    [2, 1, 2]
    """
    _, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
    return np.asarray(counts[inverse])


def looked_up(keys: Rows, rows: Rows, wanted: Rows) -> Rows:
    """Return the row of each wanted key, `keys` being sorted; -1 where there is none.

    >>> looked_up(np.array([2, 5]), np.array([10, 11]), np.array([5, 3, 9]))
    array([11, -1, -1])
    """
    if not len(keys):
        return np.full(len(wanted), -1, np.int64)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, rows[place], -1)
