"""Columns whose values come from a closed list: given by name, code or number, as in `ProductQuery`.

Values that occur in the catalogue are always accepted, even if no specification lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from types import MappingProxyType
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from prodex.errors import QueryError
from prodex.query import ProductStatus, SharingStatus, ValidationStatus
from prodex.query.values import market, member
from prodex.text import composed, hint

#: Gives the distinct values of a column.
Stored: TypeAlias = Callable[[str], pa.Array]

#: Types of packaging that services are known to use, from the smallest to the largest; a catalogue may have others.
PACKAGING_CODES = ("EACH", "PACK", "CASE", "PALLET")


class OwnerType(IntEnum):
    """What an organisation is (spec, endpoint 3)."""

    MANUFACTURER = 1
    RETAILER = 2


def as_it_is(values: Any) -> Any:
    """Return a column, or an expression of one, unchanged."""
    return values


def in_capitals(texts: Any) -> Any:
    """Return a column of texts, or an expression of one, as texts compare whatever their case."""
    return pc.utf8_upper(texts)


def in_three_digits(markets: Any) -> Any:
    """Return a column of markets, or an expression of one, as they compare: services send 56 and "056"."""
    return pc.utf8_lpad(markets, width=3, padding="0")


@dataclass(frozen=True)
class ClosedList:
    """How the values of a column are read.

    Attributes
    ----------
    read
        From the column's name and what a person gives to the value; raises `QueryError` with what there is.
    form
        The form in which values of the column compare.
    """

    read: Callable[[str, Any], Any]
    form: Callable[[Any], Any] = as_it_is


def market_value(name: str, value: Any) -> str:
    """Return a market in three digits, by its number, code or name."""
    try:
        return f"{market(name, value):03d}"
    except QueryError as error:
        raise QueryError(f"{name}: {error}") from error


CLOSED: Mapping[str, ClosedList] = MappingProxyType(
    {
        "sharing_status": ClosedList(member(SharingStatus)),
        "validation_status": ClosedList(member(ValidationStatus, "VALIDATION_STATUS_")),
        "product_status": ClosedList(member(ProductStatus), in_capitals),
        "target_market": ClosedList(market_value, in_three_digits),
        "owner_type": ClosedList(member(OwnerType)),
    }
)


def closed_value(column: str, value: Any, read: Callable[[str, Any], Any], stored: Stored) -> Any:
    """Return a value of a closed list, which `read` reads, or which stands in the data.

    Raises
    ------
    QueryError
        When neither the list nor the data has it; the message names the nearest.
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # pandas makes 3.0 of the status 3 in a column with gaps
    try:
        return read(column, value)
    except QueryError:
        there = {str(one): one for one in stored(column).to_pylist()}
        if isinstance(value, bool) or str(value) not in there:
            raise
        return there[str(value)]


def packaging_value(column: str, value: Any, stored: Stored) -> tuple[str, str]:
    """Return the column in which a type of packaging is to be looked up, by code or label in any case, and its value.

    Raises
    ------
    QueryError
        When neither is known; the message names the nearest.
    """
    other = "packaging" if column == "packaging_code" else "packaging_code"
    there = {name: [one for one in stored(name).to_pylist() if one is not None] for name in (column, other)}
    for name in (column, other):
        if _capitals(str(value)) in map(_capitals, there[name]):
            return name, str(value)
    if str(value).strip().upper() in PACKAGING_CODES:
        return "packaging_code", str(value).strip()
    known = dict.fromkeys([*PACKAGING_CODES, *there["packaging_code"], *there["packaging"]])
    there_are = hint(str(value), known, f"Give one of {', '.join(known)}.")
    raise QueryError(f"{column} does not know {value!r:.60}{there_are}")


def _capitals(text: str) -> str:
    return str(pc.utf8_upper(pa.scalar(composed(text))).as_py())
