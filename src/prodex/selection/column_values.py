"""Values of one column, of any type and in any container, as a condition over that column.

Values that occur in the catalogue are always accepted, even if no specification lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from enum import IntEnum
from functools import reduce
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex import gtin
from prodex.advice import PythonCall, advice
from prodex.arguments import listed
from prodex.errors import InputError, QueryError
from prodex.phrases import composed, hint
from prodex.query import ProductStatus, SharingStatus, ValidationStatus
from prodex.query.values import gtins_given, market, member, refuse_rounded
from prodex.selection.plain import MARKET
from prodex.selection.selection import Begins
from prodex.tables.columns import Answer, Mask, composed_texts, is_true
from prodex.tables.declaration import TABLES
from prodex.written_dates import written_date
from prodex.written_numbers import written_whole

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
    is_open
        Whether a service may have values that the list lacks, so that one which is not known may be meant.
    """

    read: Callable[[str, Any], Any]
    form: Callable[[Any], Any] = as_it_is
    is_open: bool = False


#: The columns of `products`, and the market that counts.
SCHEMA = TABLES["products"].schema.append(pa.field(MARKET, pa.string()))


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
        "product_status": ClosedList(member(ProductStatus), in_capitals, is_open=True),
        "target_market": ClosedList(market_value, in_three_digits),
        MARKET: ClosedList(market_value, in_three_digits),
        "owner_type": ClosedList(member(OwnerType)),
    }
)


def closed_value(column: str, value: Any, closed: ClosedList, stored: Stored | None) -> Any:
    """Return a value of a closed list, or one that is in the data, as far as that is known.

    Raises
    ------
    QueryError
        When neither the list nor the data has it; the message names the nearest.
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # pandas makes 3.0 of the status 3 in a column with gaps
    try:
        return closed.read(column, value)
    except QueryError:
        if stored is None and closed.is_open:
            return value
        if stored is None:
            raise
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


_TEXTS = (pa.string(), pa.large_string())

#: No column of whole numbers reaches as far.
_HUGE = 10**19

Form: TypeAlias = Callable[[Any], Any]

_PACKAGING = ("packaging", "packaging_code")

#: The form in which the values of a column compare; in others they are what they are.
_FORMS: Mapping[str, Form] = {"gtin": gtin.comparable_column, **dict.fromkeys(_PACKAGING, in_capitals)}


@dataclass(frozen=True)
class WantedValue:
    """One value: as given, the column in which it is looked up, and its form there. None means no value."""

    given: Any
    column: str
    value: Any


@dataclass(frozen=True)
class ColumnCondition:
    """Values of a column, of which a product must have one.

    Attributes
    ----------
    column
        The column that was named.
    entries
        The values; none of them means no product.
    schema
        The types of the columns.
    form
        The form in which values of the column compare.
    blanks
        Empty cells among GTINs, which mean no product.
    """

    column: str
    entries: tuple[WantedValue, ...]
    schema: pa.Schema
    form: Form = as_it_is
    blanks: int = 0

    @property
    def condition(self) -> pc.Expression:
        """The condition over the columns of the table."""
        return reduce(pc.or_kleene, (self._has(name, pc.field(name)) for name in self.columns))

    @property
    def wants_none(self) -> bool:
        """Whether a product without a value is meant."""
        return any(entry.value is None for entry in self.entries)

    def holds(self, rows: pa.Table) -> pa.Array:
        """Return for each row of a table whether the condition holds."""
        return reduce(pc.or_kleene, (self._has(name, rows[name]) for name in self.columns))

    def not_found(self, stored: Stored) -> list[Any]:
        """Return the values, as they were given, that no row has."""
        missing = []
        for name in self.columns:
            texts = stored(name) if any(isinstance(one.value, Begins) for one in self.entries) else None
            entries = [entry for entry in self.entries if entry.column == name]
            for entry in entries if texts is not None else ():
                if (
                    isinstance(entry.value, Begins)
                    and not pc.any(self._begins(name, texts, entry.value)).as_py()
                ):
                    missing.append(entry.given)
            entries = [entry for entry in entries if not isinstance(entry.value, Begins)]
            sought = self._form(name)(pa.array([entry.value for entry in entries], self._type(name)))
            is_there = pc.is_in(sought, self._form(name)(stored(name))).to_pylist()
            missing += [entry.given for entry, found in zip(entries, is_there, strict=True) if not found]
        return missing

    @property
    def columns(self) -> list[str]:
        """The columns that have to be read to know whether it holds."""
        return list(dict.fromkeys([self.column, *(entry.column for entry in self.entries)]))

    def _has(self, name: str, field: Any) -> Any:
        """Return where a column has one of its values: of an array an array, of a field an expression."""
        values = [one.value for one in self.entries if one.column == name]
        form = self._form(name)
        # None is looked up by itself, because null is in no set of values.
        exact = [value for value in values if value is not None and not isinstance(value, Begins)]
        has = pc.is_in(form(field), value_set=form(pa.array(exact, self._type(name))))
        for value in values:
            if isinstance(value, Begins):
                has = pc.or_kleene(has, pc.and_kleene(self._begins(name, field, value), pc.is_valid(field)))
        return pc.or_kleene(has, pc.is_null(field)) if None in values else has

    def _begins(self, name: str, texts: Any, value: Begins) -> Any:
        # As they were sent: a GTIN begins with the zeros that it has.
        form = as_it_is if name == "gtin" else self._form(name)
        spelled = form(pa.array([composed(value.text)], pa.string()))[0].as_py()
        return pc.starts_with(form(texts if value.text.isascii() else composed_texts(texts)), spelled)

    def _form(self, name: str) -> Form:
        form = self.form if name == self.column else _FORMS.get(name, as_it_is)
        # "Nestlé" has two spellings that look alike; a text without accents has one.
        values = (entry.value for entry in self.entries if entry.column == name)
        if all(not isinstance(value, str) or value.isascii() for value in values):
            return form
        return lambda texts: form(composed_texts(texts))

    def _type(self, name: str) -> pa.DataType:
        return self.schema.field(name).type


def column_condition(
    column: str,
    value: Any,
    schema: pa.Schema,
    stored: Stored | None,
    closed: Mapping[str, ClosedList] = CLOSED,
) -> ColumnCondition:
    """Return the condition for a column and the values that a person gave.

    Parameters
    ----------
    column
        Its name.
    value
        One value or several; see `Catalog.where`.
    schema
        Columns and types of its table.
    stored
        Gives the distinct values of a column of the table, which are accepted in any case; None where no data is known
        yet, and every value that the column can hold is.
    closed
        The columns whose values are of a closed list.

    Raises
    ------
    QueryError
        When a value is not of the column's type, or of no closed list that the column has.
    """
    items = listed(column, value)
    begins = [
        WantedValue(one, column, _beginning(column, one, schema)) for one in items if isinstance(one, Begins)
    ]
    others = [one for one in items if not isinstance(one, Begins)] if begins else value
    if column == "gtin":
        found = _gtin_condition(column, others, schema, stored)
        return replace(found, entries=(*found.entries, *begins))
    entries = begins
    for item in listed(column, others):
        place = column
        if item is None:
            read = None
        elif column in _PACKAGING:
            place, read = packaging_value(column, item, stored) if stored is not None else (column, str(item))
        else:
            sought = closed_value(column, item, closed[column], stored) if column in closed else item
            read = _of_type(column, sought, schema.field(column).type)
        entries.append(WantedValue(item, place, read))
    # 56 and "056" are one market: a value that was given twice is looked up, and counted as not found, once.
    once = {(entry.column, _compared(entry.value)): entry for entry in entries}
    form = closed[column].form if column in closed else _FORMS.get(column, as_it_is)
    return ColumnCondition(column, tuple(once.values()), schema, form)


def _beginning(column: str, value: Begins, schema: pa.Schema) -> Begins:
    if schema.field(column).type not in _TEXTS:
        raise QueryError(
            f"{column} holds {schema.field(column).type}, which begins with no text. Give a value."
        )
    return value


def column_mask(column: str, values: Sequence[Any], read: Stored) -> Mask:
    """Return which products have one of some values in a column, as `Catalog.where` reads them.

    Parameters
    ----------
    column, values
        The column of `products`, or the market, and the values.
    read
        Gives a column of the products, or the market that counts.

    Raises
    ------
    QueryError
        When there is no such column, or no such value.

    Examples
    --------
    >>> column_mask("brand_code", ["ACME", None], lambda name: pa.array(["ACME", "ZEST", None])).tolist()
    [True, False, True]
    """
    if column not in SCHEMA.names:
        raise QueryError(f"products has no column {column!r:.60}{hint(column, SCHEMA.names)}")
    wanted = column_condition(column, list(values), SCHEMA, lambda name: pc.unique(read(name)))
    return is_true(wanted.holds(pa.table({name: read(name) for name in wanted.columns})))


def column_answer(column: str, values: Sequence[Any], held: pa.Array) -> Answer:
    """Return the same of a column as it is held, and unknown where a product has no value, unless none is wanted.

    >>> column_answer("brand_code", ["ACME"], pa.array(["ACME", "ZEST", None])).tolist()
    [True, False, <NA>]
    """
    wanted = column_condition(column, list(values), SCHEMA, None)
    found = is_true(wanted.holds(pa.table({column: held})))
    lacks = np.zeros(len(held), bool) if wanted.wants_none else is_true(held.is_null())
    return pd.arrays.BooleanArray(found, lacks)


def _compared(value: Any) -> Any:
    return composed(value) if isinstance(value, str) else value


def _gtin_condition(column: str, value: Any, schema: pa.Schema, stored: Stored | None) -> ColumnCondition:
    """Read GTINs; an empty cell among several means none, and None alone means the products without one."""
    given = gtins_given(column, value)
    if given.is_none:
        return ColumnCondition(column, (WantedValue(None, column, None),), schema)
    # Suppliers also send what is no GTIN, and such products can be chosen by what they have.
    odd = [text for text in given.texts if not gtin.has_digits(text)]
    if odd and stored is not None:
        there = set(gtin.comparable_column(stored(column)).to_pylist())
        lost = [text for text in odd if text not in there]
        for text in lost:
            refuse_rounded(column, text)
        if lost and len(lost) == len(given.texts):
            raise QueryError(f"{lost[0]!r:.60} is not a GTIN, and no product has it. Give 8 to 14 digits.")
    # Empty cells of a spreadsheet are no question for products without a GTIN, so that they are only counted.
    entries = tuple(WantedValue(shown, column, text) for text, shown in given.texts.items())
    return ColumnCondition(column, entries, schema, gtin.comparable_column, given.blanks)


def _of_type(column: str, value: Any, kind: pa.DataType) -> Any:
    """Return a value as its column has it."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    read: Any
    if pa.types.is_string(kind):
        needed, read = "text", _code_text(value)
        if read is not None:  # Arrow would refuse half a surrogate pair, which no row has
            return read
    elif pa.types.is_boolean(kind):
        needed, read = "True or False", value if isinstance(value, bool) else None
    elif pa.types.is_integer(kind):
        needed, read = "whole numbers", _integer_value(value)
    elif pa.types.is_timestamp(kind):
        needed, read = "moments", _timestamp_value(column, value, has_zone=kind.tz is not None)
    else:
        needed, read = "numbers", float(value) if is_number else None
    try:
        if read is not None:
            return pa.scalar(read, kind).as_py()
    except (pa.ArrowException, OverflowError, ValueError):
        pass  # too large for the type: refused below, like any other value that no row can have
    raise QueryError(f"{column} holds {kind}, and {_short_repr(value)} is not one of them. Give {needed}.")


def _code_text(value: Any) -> str | None:
    """Return a code as text: tables hold text, people write 250, and pandas makes 250.0 of it in a column with gaps."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int) and not isinstance(value, bool) and not -_HUGE < value < _HUGE:
        return str(value) if abs(value) < 10**1000 else None
    whole = _integer_value(value)
    return None if whole is None else str(whole)


def _integer_value(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        try:
            return written_whole(value)
        except InputError:
            return None
    # The bounds also keep out infinity and NaN, of which `int` makes an error.
    if isinstance(value, float | Decimal):
        return int(value) if -_HUGE < value < _HUGE and value == int(value) else None
    return int(value) if isinstance(value, int) and -_HUGE < value < _HUGE else None


def _timestamp_value(column: str, value: Any, *, has_zone: bool) -> datetime | None:
    is_day = isinstance(value, date) and not isinstance(value, datetime)
    if is_day or (isinstance(value, str) and len(value.strip()) == len("2026-11-20")):
        raise QueryError(
            advice(
                "{column} holds moments, and {value} is a whole day. Give day and time{or_write}.",
                column=column,
                value=str(value),
                or_write=PythonCall(
                    ", or write where(lambda products: products[{column!r}].dt.normalize() == {day!r})",
                    column=column,
                    day=str(value),
                ),
            )
        )
    if isinstance(value, str):
        try:
            value = written_date(value)
        except InputError:
            return None
    if isinstance(value, datetime) and (value.tzinfo is not None) is not has_zone:
        needed = "a time zone" if has_zone else "no time zone, since the service gives none"
        raise QueryError(
            f"{column} has {needed}, and {_short_repr(value)} has{' none' * has_zone}. Give it in this form."
        )
    return value if isinstance(value, datetime) else None


def _short_repr(value: object) -> str:
    try:
        return f"{value!r:.60}"
    except ValueError:  # Python does not write whole numbers of thousands of digits
        return f"a {type(value).__name__}"


def not_found_words(wants: Sequence[ColumnCondition], stored: Stored) -> str:
    """Say which of the wanted values no row has: how many of how many, and the first of them; "" if all are found."""
    sentences = []
    for want in wants:
        missing = want.not_found(stored)
        if missing:
            what = "GTINs" if want.column == "gtin" else f"values of {want.column}"
            blank = f" ({want.blanks:,} blank cells were skipped)" if want.blanks else ""
            first = ", ".join(_short_repr(one) for one in missing[:5]) + (", ..." if len(missing) > 5 else "")
            sentences.append(
                f"{len(missing):,} of {len(want.entries):,} {what} were not found: {first}{blank}"
            )
    return "; ".join(sentences)


#: Up to so many values of a condition are looked for in others: a long list was made by a program.
_WORDS = 5


def containing_words(wants: Sequence[ColumnCondition], stored: Stored) -> str:
    """Say which values contain the texts that no row has: "kind has no 'Chocolate'; 2 of its values contain it"."""
    sentences = []
    for want in wants:
        if len(want.entries) > _WORDS or want.schema.field(want.column).type not in _TEXTS:
            continue
        values = [str(one) for one in stored(want.column).to_pylist() if one is not None]
        for given in want.not_found(stored):
            word = given.strip().casefold() if isinstance(given, str) else ""
            near = sorted(one for one in values if word and word in one.casefold())
            if near:
                shown = ", ".join(map(_short_repr, near[:5])) + (", ..." if len(near) > 5 else "")
                contain = (
                    "1 of its values contains" if len(near) == 1 else f"{len(near):,} of its values contain"
                )
                sentences.append(f"{want.column} has no {_short_repr(given)}; {contain} it: {shown}")
    return "; ".join(sentences)
