"""Scope: for which products a check is a question, as a selection that is judged with what may be unknown.

Whether a product is meant is unknown where it lacks the value that decides, or where it was not asked for. In a column,
a text that ends in "*" means every value that begins so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from prodex.catalog import Catalog
from prodex.errors import InputError, QueryError
from prodex.quality.products import Products, once_per_part
from prodex.selection import Begins, Range, Selection
from prodex.selection.column_values import SCHEMA, column_answer, column_condition
from prodex.selection.paths import COLUMN, GROUP_PATHS, needs_audit, paths_of
from prodex.selection.plain import MARKET, Keys, read_plain
from prodex.selection.units import with_units_named
from prodex.tables.columns import Answer, Mask

EVERYTHING = Selection()
#: The groups that are made by one value. That a product has no tag, picture or text in a language is known.
_BY_VALUE = frozenset(GROUP_PATHS) - {MARKET, "tag", "language", "packshot", "pending"}


def read_scope(
    only: Mapping[str, Any] | None = None, excepted: Mapping[str, Any] | None = None, *, place: str = "scope"
) -> Selection:
    """Read a scope from what people write: a selection, without those that meet any line of what is excepted.

    Raises
    ------
    InputError
        When there is no such column, or a value is not of its type; or it asks for what an audit finds.

    Examples
    --------
    >>> print(read_scope({"market": ["France", 56], "is_consumer_unit": True}, {"brand_code": "AC*"}))
    market = 250 or 56; is_consumer_unit = true; not brand_code = AC*
    """
    problems: list[str] = []

    def tell(keys: Keys, what: str) -> None:
        problems.append(f"{'.'.join(map(str, keys))}: {what}" if keys else what)

    read = [read_plain(one, tell) for one in (only or {}, excepted or {})]
    if problems:
        raise InputError("\n".join(f"{place}: {one}" for one in problems))
    meant, others = (_as_scope(one or Selection(), place) for one in read)
    return replace(meant, excepted=(*meant.excepted, *others.single()))


def _as_scope(selection: Selection, place: str) -> Selection:
    """Return a selection with values as their columns have them, and beginnings for texts that end in an asterisk."""
    if needs_audit(selection):
        raise InputError(f"{place}: a check cannot be asked by what an audit finds, which is known after it.")
    return replace(
        selection,
        columns={name: _values(name, values, place) for name, values in selection.columns.items()},
        either=tuple(tuple(_as_scope(one, place) for one in several) for several in selection.either),
        excepted=tuple(_as_scope(one, place) for one in selection.excepted),
    )


def _values(column: str, values: tuple[Any, ...], place: str) -> tuple[Any, ...]:
    is_text = pa.types.is_string(SCHEMA.field(column).type) and column != MARKET
    begun = [
        Begins(one[:-1]) if is_text and isinstance(one, str) and one.endswith("*") else one for one in values
    ]
    try:
        wanted = column_condition(column, begun, SCHEMA, None)
    except QueryError as error:
        raise InputError(f"{place}: {error}") from error
    if column != MARKET:
        return tuple(one.value for one in wanted.entries)
    if any(isinstance(one.value, Begins) for one in wanted.entries):
        raise InputError(
            f"{place}: a market is one of a list, and begins with nothing. Give its number or its name."
        )
    return tuple(one.value and one.value.lstrip("0") for one in wanted.entries)


@once_per_part
def is_meant(products: Products, scope: Selection) -> Answer:
    """Say for each product whether it is meant; missing where what decides is not there, or cannot be read.

    Who has no value is not excepted either: an exception is for products that show it.
    """
    everything = pd.array(np.ones(len(products), bool), "boolean")
    scope = with_units_named(scope)
    held: Answer = scope.met(
        everything, lambda one: _answer(products, one), lambda answer: answer.fillna(False)
    )
    unclear = products.unreadable(sorted(paths_of(scope)))
    if not unclear.any():
        return held
    # What cannot be read is not the same as nothing: the product may be meant or not, unless another column decides.
    return held & pd.arrays.BooleanArray(np.ones(len(products), bool), unclear)


def _answer(products: Products, one: Selection) -> Answer:
    for column, values in one.columns.items():
        return column_answer(column, values, products.assumed(column))
    if MARKET in one.groups:  # an audit may be given the market that counts
        return column_answer(MARKET, one.groups[MARKET], products.assumed(MARKET))
    # Groups, words and states of attributes are found where an explorer finds them.
    here = Catalog(products.parts, products.origin)
    return pd.arrays.BooleanArray(here.mask(one), _lacks_a_value(here, one))


def _lacks_a_value(here: Catalog, one: Selection) -> Mask:
    """Return which products have no value by which a range, or a group made by a value, could be decided."""
    for column in one.ranges:
        return ~here.mask(Selection(ranges={column: Range()}))
    for name, codes in one.groups.items():
        if None not in codes and (name in _BY_VALUE or name.startswith(COLUMN)):
            return here.mask(Selection(groups={name: (None,)}))
    return np.zeros(len(here), bool)
