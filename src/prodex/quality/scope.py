"""Scope: for which products a check is a question, as a condition on columns of `products`.

Two words mean more than one column: `market` is the market of the product's version, else the one that was asked
for, else the one that the audit was given. A text that ends in "*" means every value that begins so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.errors import InputError, QueryError
from prodex.locales import market_code
from prodex.messages import composed, hint
from prodex.tables.columns import Answer, composed_texts
from prodex.tables.declaration import COUNTED, TABLES

#: Gives a column of `products`, or the `market`.
Read = Callable[[str], pa.Array]

_COLUMNS = {column.name: column for column in TABLES["products"].columns}
#: Wire paths of the columns that are no leaf of their own.
_DERIVED = {
    "market": ("product_key.target_market_id",),
    "has_pending_update": ("lastRequest",),
    "product_id": (),
    "gtin": (),
}


@dataclass(frozen=True)
class Condition:
    """Which products are meant: those where each column has one of its values, but none of the excepted ones.

    Attributes
    ----------
    only, excepted
        Columns, each with its values; None means no value.
    """

    only: tuple[tuple[str, tuple[Any, ...]], ...] = ()
    excepted: tuple[tuple[str, tuple[Any, ...]], ...] = ()

    @classmethod
    def of(
        cls,
        only: Mapping[str, Any] | None = None,
        excepted: Mapping[str, Any] | None = None,
        *,
        place: str = "scope",
    ) -> Self:
        """Read a condition from what people write.

        Raises
        ------
        InputError
            When there is no such column, or a value is not of its type.

        Examples
        --------
        >>> Condition.of({"market": ["France", 56], "is_consumer_unit": True}).words
        'market = 250 or 56, is_consumer_unit = true'
        """
        return cls(_read_conditions(only or {}, place), _read_conditions(excepted or {}, place))

    @property
    def words(self) -> str:
        """The condition as people read it."""
        named = [f"{column} = {_values_text(values)}" for column, values in self.only]
        return ", ".join(
            [*named, *(f"not {column} = {_values_text(values)}" for column, values in self.excepted)]
        )

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(column for column, _ in (*self.only, *self.excepted))

    def holds(self, read: Read, size: int) -> Answer:
        """Say for each product whether it is meant; missing where a column that decides has no value.

        Who has no value is not excepted either: an exception is for products that show it.
        """
        held = pd.array(np.ones(size, bool), "boolean")
        for column, values in self.only:
            held &= _is_one_of(read(column), values)
        for column, values in self.excepted:
            held &= ~_is_one_of(read(column), values).fillna(False)
        return held


EVERYTHING = Condition()


def wire_paths(column: str) -> tuple[str, ...]:
    """Return the wire path of a column of `products`."""
    if column in _DERIVED:
        return _DERIVED[column]
    table = column.removesuffix("_count")
    if table in COUNTED:
        return TABLES[table].anchors
    return tuple(".".join(path) for path in _COLUMNS[column].paths[:1])


def _read_conditions(conditions: Mapping[str, Any], place: str) -> tuple[tuple[str, tuple[Any, ...]], ...]:
    read = []
    for column, value in conditions.items():
        if column != "market" and column not in _COLUMNS:
            there_are = hint(column, ["market", *_COLUMNS], "`prodex tables products` lists its columns.")
            raise InputError(f"{place}: products has no column {column!r}{there_are}")
        values = value if isinstance(value, list | tuple | set | frozenset) else [value]
        read.append((column, tuple(dict.fromkeys(_condition_value(column, one, place) for one in values))))
    return tuple(read)


def _condition_value(column: str, value: Any, place: str) -> Any:
    if value is None:
        return None
    if column == "market":
        try:
            return str(market_code(value))
        except (QueryError, AttributeError) as error:
            raise InputError(f"{place}: {error}") from error
    kind = _COLUMNS[column].kind
    if kind in {"string", "code"} and not isinstance(value, bool):
        return str(value)
    fits = {"boolean": bool, "integer": int, "number": int | float}.get(kind)
    if fits is None or not isinstance(value, fits) or (kind != "boolean" and isinstance(value, bool)):
        raise InputError(f"{place}: {column} holds {kind}, and {value!r} is not one of them.")
    return value


def _is_one_of(column: pa.Array, values: tuple[Any, ...]) -> Answer:
    # "Nestlé" is written in two ways that look alike; a value without accents in one.
    if any(isinstance(one, str) and not one.isascii() for one in values):
        column = composed_texts(column)
        values = tuple(composed(one) if isinstance(one, str) else one for one in values)
    begins = [one[:-1] for one in values if isinstance(one, str) and one.endswith("*")]
    whole = [one for one in values if one is not None and not (isinstance(one, str) and one.endswith("*"))]
    # All plain values in one lookup; beginnings one by one.
    held = pc.is_in(column, pa.array(whole, column.type)).to_numpy(zero_copy_only=False)
    for beginning in begins:
        held = held | pc.fill_null(pc.starts_with(column, beginning), False).to_numpy(zero_copy_only=False)
    # Whether a product without a value is meant is undecided, unless no value is asked for.
    has_none = np.asarray(column.is_null().to_numpy(zero_copy_only=False), bool)
    if None in values:
        held, has_none = held | has_none, has_none & False
    return pd.arrays.BooleanArray(np.asarray(held, bool) & ~has_none, has_none)


def _values_text(values: tuple[Any, ...]) -> str:
    shown = ("nothing" if v is None else str(v).lower() if isinstance(v, bool) else str(v) for v in values)
    return " or ".join(shown)
