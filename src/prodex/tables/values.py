"""How one wire value fits a declared column: the definition, a value at a time.

Two kinds of value also fit as the text that some services send: amounts ("12.5") and times of all the forms in which
ISO 8601 states at least the second. What is not certain, such as a day where a time should be, does not fit.
"""

from __future__ import annotations

import json
import math
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.tables.declaration import ARROW_TYPES, ColumnKind

#: Whole numbers up to here are exact as doubles, which is what an Arrow number column holds.
EXACT = 2**53

#: A time as the specification has it, a fraction of a second, and a zone (ISO 8601, RFC 3339).
_TIMESTAMP = re.compile(
    "([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]([0-9]{2}:[0-9]{2}:[0-9]{2})(?:[.,]([0-9]{1,9}))?"
    "(?:([Zz])| ?([+-])([0-9]{2}):?([0-9]{2})?)?"
)
#: The farthest that clocks of a zone are from UTC.
_FARTHEST = timedelta(hours=14)

#: A number as text: at most one sign and one decimal point or comma among digits; no exponent, no spaces, no grouping.
_AMOUNT = re.compile("([+-]?)(?=[.,]?[0-9])([0-9]*)(?:[.,]([0-9]*))?")
_MOST_DIGITS = 30

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_YEAR_10000 = 253_402_300_800


def read_json(text: bytes) -> Any:
    """Decode JSON without losing a number: what neither a double nor Python's int reads becomes a Decimal.

    >>> read_json(b"[1e400, 0.5, 7]")
    [Decimal('1E+400'), 0.5, 7]
    """
    return _JSON.decode(text.decode(json.detect_encoding(text), "surrogatepass"))


def _integer(text: str) -> int | Decimal:
    return int(text) if len(text) < _LONG_INTEGER else Decimal(text)


def _fraction(text: str) -> float | Decimal:
    number = float(text)
    return number if math.isfinite(number) else Decimal(text)


_JSON = json.JSONDecoder(parse_int=_integer, parse_float=_fraction)

# Python refuses to read integers of more than 4,300 digits, since that takes quadratic time.
_LONG_INTEGER = 4_000

type_of: dict[type, str] = {Decimal: "number", str: "string", bool: "boolean", int: "number", float: "number"}


def fit(value: Any, kind: ColumnKind) -> Any:
    """Return the value as its column holds it, or None when it does not fit (or is null).

    >>> fit(12, "code"), fit("0012", "code"), fit(1.5, "code"), fit("2026-11-20T08:00:00", "timestamp")
    ('12', '0012', None, datetime.datetime(2026, 11, 20, 8, 0))
    >>> fit("12,50", "number"), fit("2026-11-20T08:00:00+01:00", "timestamp"), fit("2026-11-20", "timestamp")
    (12.5, datetime.datetime(2026, 11, 20, 7, 0), None)
    """
    if value is None:
        return None
    match kind:
        case "string":
            return storable(value) if isinstance(value, str) else None
        case "code":
            if isinstance(value, str):
                return storable(value)
            return number_text(value) if is_whole(value) else None
        case "integer":
            return int(value) if is_whole(value) and abs(value) < EXACT else None
        case "number":
            number: Any = amount(value) if isinstance(value, str) else value
            return float(number) if exact(number) else None
        case "boolean":
            return value if isinstance(value, bool) else None
        case "timestamp":
            return _timestamp(value)
        case "unix_seconds":
            return (
                datetime.fromtimestamp(value, UTC)
                if is_whole(value) and 0 <= value < _YEAR_10000
                else _second(value)
            )


def exact(value: Any) -> bool:
    """Whether this is a JSON number that a double holds exactly as sent."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) if isinstance(value, float) else abs(value) < EXACT


def is_whole(value: Any) -> bool:
    """Whether this is a whole JSON number, by value: 12.0 is 12."""
    if isinstance(value, float):
        return value.is_integer() and abs(value) < EXACT
    return isinstance(value, int) and not isinstance(value, bool)


def amount(text: str) -> float | Decimal | None:
    """Read a number that was sent as text, or return None for what is none.

    Wire data is not written for the eyes of one country, so that a point and a comma are both decimal.

    >>> amount("500.0000"), amount("1,5"), amount(" -18 "), amount("1.000,5"), amount("1e3"), amount("")
    (500, 1.5, -18, None, None, None)
    """
    match = _AMOUNT.fullmatch(text.strip())
    if match is None or len(match[2]) + len(match[3] or "") > _MOST_DIGITS:
        return None
    sign, digits, decimals = match[1].replace("+", ""), match[2] or "0", (match[3] or "").rstrip("0")
    if not decimals:
        return int(sign + digits)
    number = Decimal(f"{sign}{digits}.{decimals}")
    return float(number) if abs(number) < EXACT else number


def number_text(value: float | Decimal) -> str:
    """Write a number by its value, not its spelling.

    >>> number_text(250), number_text(1.0), number_text(0.5), number_text(-0.0), number_text(2**63)
    ('250', '1', '0.5', '0', '9223372036854775808')
    """
    if isinstance(value, Decimal):
        return str(value)
    return str(int(value)) if is_whole(value) else repr(value)


def scalar_text(value: Any) -> str:
    """Write any scalar as the text that `scalars` holds."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return storable(value) if isinstance(value, str) else number_text(value)


def storable(text: str) -> str:
    r"""Return text that UTF-8 can hold: half a surrogate pair becomes its wire escape.

    >>> storable("a\ud83d")
    'a\\ud83d'
    """
    if text.isascii():  # most texts are, and the search is slow for long ones
        return text
    return _LONE_SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def halves_of(text: str) -> list[str]:
    """Return the halves of surrogate pairs in a text, for which `storable` writes escapes."""
    return _LONE_SURROGATE.findall(text)


def _timestamp(value: Any) -> datetime | None:
    """Return a time without zone: the local time of the service, or UTC where the value names its zone.

    Only in one zone do times of several zones compare, and a time with a zone is certain in UTC alone.
    """
    match = _TIMESTAMP.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return None
    day, time, fraction, _, sign, hours, minutes = match.groups()
    try:
        moment = datetime.fromisoformat(f"{day}T{time}")
        # Columns hold microseconds; some services write a digit more.
        moment = moment.replace(microsecond=int((fraction or "0").ljust(6, "0")[:6]))
        offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
        if offset > _FARTHEST or int(minutes or 0) >= 60:
            return None
        return moment + offset if sign == "-" else moment - offset
    except (ValueError, OverflowError):
        return None


def _second(value: Any) -> datetime | None:
    """Return a time that was written out with its zone, where whole seconds in UTC are expected."""
    match = _TIMESTAMP.fullmatch(value) if isinstance(value, str) else None
    if match is None or not (match[4] or match[5]):
        return None
    moment = _timestamp(value)
    if moment is None or moment.microsecond or moment < _EPOCH:
        return None
    return moment.replace(tzinfo=UTC)


def moment_text(value: str) -> str:
    """Return a time as times of one product are compared, as text: as `timestamp` columns have it, else as it was sent.

    >>> moment_text("2026-11-20T08:00:00+01:00"), moment_text("2026-11-20 08:00:00"), moment_text("yesterday")
    ('2026-11-20T07:00:00', '2026-11-20T08:00:00', 'yesterday')
    """
    # Nearly all times have the form of the specification, which is the one that is compared.
    if len(value) == _WITHOUT_ZONE and value[10] == "T":
        return value
    moment = _timestamp(value)
    return value if moment is None else moment.isoformat()


#: Characters of a time without fraction and zone.
_WITHOUT_ZONE = 19
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - local times without zone


_YEAR_1 = pa.scalar(datetime(1, 1, 1), pa.timestamp("s"))  # noqa: DTZ001 - local times without zone


class Fitted(NamedTuple):
    """A column as declared, and the values that did not fit it (None when all did)."""

    values: pa.Array
    misfits: pa.Array | None


def fit_column(array: pa.Array, kind: ColumnKind) -> Fitted | None:
    """Fit a column of wire values into a declared kind, or return None when their type never fits."""
    numbers, strings = pa.types.is_floating(array.type), pa.types.is_string(array.type)
    if strings and kind == "timestamp":
        return _timestamps(array)
    if strings and kind in {"number", "unix_seconds"}:
        return _fit_each(array, kind)
    if numbers and kind in {"code", "integer", "unix_seconds"}:
        return _whole_numbers(array, kind)
    fits = (strings and kind in {"string", "code"}) or (numbers and kind == "number")
    return Fitted(array, None) if fits or (pa.types.is_boolean(array.type) and kind == "boolean") else None


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


def _whole_numbers(array: pa.Array, kind: ColumnKind) -> Fitted:
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
    return _fit_each(array, "timestamp")


def _fit_each(array: pa.Array, kind: ColumnKind) -> Fitted:
    """Fit texts one by one, each distinct one once."""
    encoded = array.dictionary_encode()
    values = pa.array([fit(value, kind) for value in encoded.dictionary.to_pylist()], ARROW_TYPES[kind])
    fitted = values.take(encoded.indices)
    odd = np.logical_and(fitted.is_null().to_numpy(False), array.is_valid().to_numpy(False))
    return Fitted(fitted, pc.if_else(pa.array(odd), array, None) if odd.any() else None)
