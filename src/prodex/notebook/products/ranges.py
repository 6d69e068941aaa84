"""Ranges of numbers and dates: which columns have them, and which products are in one."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from prodex.errors import QueryError
from prodex.notebook.conditions import Range
from prodex.notebook.products.product_columns import Mask, ProductColumns
from prodex.notebook.products.quantity_columns import quantity_of
from prodex.tables.columns import is_true
from prodex.tables.declaration import TABLES

#: What a column holds that can be in a range; "" for anything else.
Measure: TypeAlias = Literal["number", "date", ""]

_OF_PRODUCTS = TABLES["products"].schema


def measure_of(column: str) -> Measure:
    """Return what a column of `products`, the score of the audit, or a column of numbers with a unit holds.

    >>> measure_of("updated_at"), measure_of("texts_count"), measure_of("brand"), measure_of("netWeight [GRM]")
    ('date', 'number', '', 'number')
    """
    if quantity_of(column):
        return "number"
    kind = _OF_PRODUCTS.field(column).type if column in _OF_PRODUCTS.names else None
    if column == "score" or (kind is not None and (pa.types.is_integer(kind) or pa.types.is_floating(kind))):
        return "number"
    return "date" if kind is not None and pa.types.is_timestamp(kind) else ""


def in_range(products: ProductColumns, column: str, limits: Range) -> Mask:
    """Return which products have a value of a column between limits, which are included.

    A product without a value is in no range. Dates without a zone are taken to be in UTC.

    Parameters
    ----------
    products
        The products.
    column
        A column of numbers or dates of `products`, "score", or a column of numbers with a unit.
    limits
        The least and the greatest value.

    Raises
    ------
    QueryError
        When the column holds something else, or the limits are not of its kind.

    Examples
    --------
    >>> import prodex
    >>> products = ProductColumns(prodex.flatten([{"id": n, "lifeCycle": n} for n in (1, 2, 3)] + [{"id": 4}]))
    >>> in_range(products, "life_cycle", Range(2, None)).tolist()
    [False, True, True, False]
    """
    if not (measure := measure_of(column)):
        raise QueryError(
            f"There is no range of {column!r:.60}. Give a column of products with numbers or dates, such as "
            "'texts_count' or 'updated_at', or 'score'."
        )
    values = products.column(column)
    met: Any = values.is_valid()
    for limit, compare in ((limits.least, pc.greater_equal), (limits.greatest, pc.less_equal)):
        if limit is not None:
            met = pc.and_kleene(met, compare(values, _limit(column, measure, limit)))
    return is_true(met)


def _limit(column: str, measure: Measure, limit: float | datetime) -> pa.Scalar:
    if isinstance(limit, datetime) != (measure == "date"):
        raise QueryError(
            f"{column!r} holds {measure}s, and a limit of its range is {limit!r}. Give a {measure}."
        )
    if not isinstance(limit, datetime):
        return pa.scalar(float(limit))
    return pa.scalar(in_utc(limit), pa.timestamp("us"))


def in_utc(limit: datetime) -> datetime:
    """Return a date in UTC without a zone, as the tables have dates; one without a zone is taken to be in UTC."""
    return limit if limit.tzinfo is None else limit.astimezone(UTC).replace(tzinfo=None)
