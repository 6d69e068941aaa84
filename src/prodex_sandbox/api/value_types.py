"""The types of parameters: how values of each are written in a query string and in a JSON body.

A body may write numbers and flags as text, as a query string has to; the schemas name the documented form alone.

A reader raises ValueError with the value and what to send instead; its caller adds the name of the parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from prodex_sandbox.records.indexing import full_text_expression

Value = TypeVar("Value")

INT32: Final = range(-(2**31), 2**31)
CURSORS: Final = range(2**63)

# A UNIX time reaches this in the year 5138 when it is in seconds; in milliseconds it did so in 1973.
_MILLISECONDS_FROM: Final = 100_000_000_000
_TIMES: Final = range(10**15)

#: The first call of a scroll, as a value of `next_page`.
FIRST_PAGE: Final = ""


@dataclass(frozen=True)
class ValueType:
    """One type of parameter.

    Attributes
    ----------
    from_text
        Reads the text of a query parameter.
    from_json
        Reads a member of a JSON body.
    get_schema, post_schema
        The JSON schemas of the two forms.
    """

    from_text: Callable[[str], Any]
    from_json: Callable[[Any], Any]
    get_schema: dict[str, Any]
    post_schema: dict[str, Any]


def texts(choices: Collection[str] = ()) -> ValueType:
    """Strings: comma-separated, in a body also an array."""

    def from_text(text: str) -> tuple[str, ...]:
        return tuple(_chosen(value, choices) for value in _separated(text))

    def from_json(value: Any) -> tuple[str, ...]:
        if not isinstance(value, list):
            return from_text(_string(value, "an array of strings or a comma-separated string"))
        for item in _filled(value):
            if not _string(item, "a string, as the items of this array must be"):
                raise ValueError("the array holds an empty string")
        return tuple(_chosen(item, choices) for item in value)

    item = {"type": "string", **({"enum": list(choices)} if choices else {"minLength": 1})}
    comma = _comma_separated("|".join(choices) if choices else r"[^,\s][^,]*")
    return ValueType(from_text, from_json, comma, {"oneOf": [_array_of(item), comma]})


def paths() -> ValueType:
    """Dotted paths through objects and lists, written as `texts` are."""
    plain = texts()

    def checked(values: tuple[str, ...]) -> tuple[str, ...]:
        for value in values:
            if not all(value.split(".")):
                raise ValueError(f"{value!r} is not a dotted path such as assets.pictures.url")
        return values

    path = r"[^,.\s][^,.]*(\.[^,.]+)*"
    comma = _comma_separated(path)
    return ValueType(
        lambda text: checked(plain.from_text(text)),
        lambda value: checked(plain.from_json(value)),
        comma,
        {"oneOf": [_array_of({"type": "string", "pattern": r"^[^,.]+(\.[^,.]+)*$"}), comma]},
    )


def word(choices: Collection[str]) -> ValueType:
    """One of a few words in capitals, which may be written in any case."""

    def from_json(value: Any) -> str:
        text = _string(value, "a string")
        return text.upper() if text.upper() in choices else _chosen(text, choices)

    schema = {"type": "string", "enum": list(choices)}
    return ValueType(from_json, from_json, schema, schema)


def integers(choices: Collection[int] = ()) -> ValueType:
    """32-bit integers: one or several, comma-separated, in a body also one integer or an array."""

    def checked(value: int) -> int:
        return _chosen(_within(value, INT32), choices)

    def from_text(text: str) -> tuple[int, ...]:
        return tuple(checked(_integer_in(value)) for value in _separated(text))

    def from_json(value: Any) -> tuple[int, ...]:
        if isinstance(value, str):
            return from_text(value)
        return tuple(
            checked(_written(item)) for item in (_filled(value) if isinstance(value, list) else [value])
        )

    item = {"type": "integer", "format": "int32", **_among(choices, INT32)}
    comma = _comma_separated("|".join(map(str, choices)) if choices else "-?[0-9]{1,9}")
    return ValueType(from_text, from_json, comma, {"oneOf": [item, _array_of(item), comma]})


def integer(choices: Collection[int] = (), bounds: range = INT32) -> ValueType:
    """One 32-bit integer, of `choices` or within `bounds`."""

    def checked(value: int) -> int:
        return _chosen(_within(value, bounds), choices)

    schema = {"type": "integer", "format": "int32", **_among(choices, bounds)}
    return ValueType(
        lambda text: checked(_integer_in(text)), lambda value: checked(_written(value)), schema, schema
    )


def timestamp(unit: str) -> ValueType:
    """A UNIX time in whole `unit`, "seconds" or "milliseconds"; in a body also as a string."""

    def checked(value: int) -> int:
        if unit == "seconds" and value >= _MILLISECONDS_FROM:
            raise ValueError(f"{value} looks like milliseconds; this is a UNIX time in seconds")
        return _within(value, _TIMES)

    def from_text(text: str) -> int:
        try:
            return checked(_integer_in(text))
        except ValueError as error:
            raise ValueError(f"{error}; send {unit} since 1970-01-01") from None

    def from_json(value: Any) -> int:
        return from_text(value) if isinstance(value, str) else checked(_integer(value))

    times = range(_MILLISECONDS_FROM) if unit == "seconds" else _TIMES
    number = {
        "type": "integer",
        "format": "int64",
        "description": f"{unit} since 1970-01-01",
        **_among((), times),
    }
    digits = {"type": "string", "pattern": f"^[0-9]{{1,{len(str(times.stop - 1))}}}$"}
    return ValueType(from_text, from_json, number, {"oneOf": [number, digits]})


def flag() -> ValueType:
    """A boolean: true or false."""

    def from_text(text: str) -> bool:
        return {"true": True, "false": False}[_chosen(text, ("true", "false"))]

    def from_json(value: Any) -> bool:
        if isinstance(value, str):
            return from_text(value)
        if not isinstance(value, bool):
            raise ValueError(f"{value!r} is not true or false")  # noqa: TRY004 - one error for a wrong value
        return value

    schema = {"type": "boolean"}
    return ValueType(from_text, from_json, schema, schema)


def cursor() -> ValueType:
    """A scroll cursor: digits; in a body also an integer, an empty string for the first call, and null for none."""

    def from_text(text: str) -> str:
        if not text:
            raise ValueError("it is empty; leave it out on the first call of a scroll by GET")
        return str(_within(_integer_in(text), CURSORS))

    def from_json(value: Any) -> str | None:
        # Some clients send null for a member that is not set.
        if value is None:
            return None
        if value == FIRST_PAGE:
            return FIRST_PAGE
        return from_text(value) if isinstance(value, str) else str(_within(_integer(value), CURSORS))

    digits = {"type": "string", "pattern": "^[0-9]{0,19}$"}
    number = {"type": "integer", "format": "int64", **_among((), CURSORS)}
    return ValueType(from_text, from_json, number, {"oneOf": [digits, number]})


def search() -> ValueType:
    """A text search, as a body has it; a query string cannot hold one."""

    def from_text(text: str) -> str:
        raise ValueError(f"{text!r} is not a search; a search is an object in the body of a POST")

    # Its schema has a name: schemas.reading.AdvancedSearch.
    return ValueType(from_text, full_text_expression, {}, {})


def _comma_separated(value: str) -> dict[str, Any]:
    """Return the schema of values, each of a pattern, with commas between them."""
    pattern = f"^({value})(,({value}))*$"
    return {"type": "string", "description": "comma-separated", "pattern": pattern}


def _array_of(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item, "minItems": 1}


def _among(choices: Collection[Any], bounds: range) -> dict[str, Any]:
    return {"enum": list(choices)} if choices else {"minimum": bounds.start, "maximum": bounds.stop - 1}


def _integer_in(text: str) -> int:
    digits = text.removeprefix("-")
    # `isdigit` alone accepts digits of other scripts; `int` takes long for very long numbers.
    if not (digits.isascii() and digits.isdigit() and len(digits) < 20):
        raise ValueError(f"{text!r} is not an integer")
    return int(text)


def _written(value: Any) -> int:
    """Return an integer that a body holds, as a number or as text."""
    return _integer_in(value) if isinstance(value, str) else _integer(value)


def _integer(value: Any) -> int:
    # True is 1 for Python, but not for JSON.
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{value!r} is not an integer")  # noqa: TRY004 - one error for a wrong value
    return value


def _string(value: Any, wanted: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not {wanted}")  # noqa: TRY004 - one error for a wrong value
    return value


def _within(value: int, bounds: range) -> int:
    if value not in bounds:
        raise ValueError(f"{value} is not from {bounds.start} to {bounds.stop - 1}")
    return value


def _chosen(value: Value, choices: Collection[Value]) -> Value:
    if choices and value not in choices:
        raise ValueError(f"{value!r} is not one of {', '.join(map(str, choices))}")
    return value


def _filled(values: list[Any]) -> list[Any]:
    if not values:
        raise ValueError("the array is empty; leave the parameter out to ask for everything")
    return values


def _separated(text: str) -> list[str]:
    values = [value.strip() for value in text.split(",")]
    if not all(values):
        raise ValueError(f"{text!r} holds an empty value; leave the parameter out to ask for everything")
    return values
