"""Every parameter of the lists, declared once: its values in a query string and in a body, and its condition.

Both product lists read their parameters by `FILTERS`; the OpenAPI document describes them from it. A parameter
with SQL chooses products; one without shapes the reply, or pages through it. A flag that is false asks for
nothing.

Dates of the wire have no zone. The sandbox takes them for UTC when it compares them with a timestamp.

A body may write numbers and flags as text, as a query string has to; the schemas name the documented form alone.

A reader raises ValueError with the value and what to send instead; its caller adds the name of the parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from prodex_sandbox.raw_json import encode
from prodex_sandbox.records.indexing import full_text_expression
from prodex_sandbox.records.model import PRODUCT_STATUSES, OrganizationType, SharingStatus
from prodex_sandbox.records.segments import PERMISSIONS
from prodex_sandbox.refusals import Refusal

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
        return tuple(_require_choice(value, choices) for value in _split_at_commas(text))

    def from_json(value: Any) -> tuple[str, ...]:
        if not isinstance(value, list):
            return from_text(_string(value, "an array of strings or a comma-separated string"))
        for item in _require_values(value):
            if not _string(item, "a string, as the items of this array must be"):
                raise ValueError("the array holds an empty string")
        return tuple(_require_choice(item, choices) for item in value)

    item = {"type": "string", **({"enum": list(choices)} if choices else {"minLength": 1})}
    comma = _comma_separated_schema("|".join(choices) if choices else r"[^,\s][^,]*")
    return ValueType(from_text, from_json, comma, {"oneOf": [_array_schema(item), comma]})


def paths() -> ValueType:
    """Dotted paths through objects and lists, written as `texts` are."""
    plain = texts()

    def checked(values: tuple[str, ...]) -> tuple[str, ...]:
        for value in values:
            if not all(value.split(".")):
                raise ValueError(f"{value!r} is not a dotted path such as assets.pictures.url")
        return values

    path = r"[^,.\s][^,.]*(\.[^,.]+)*"
    comma = _comma_separated_schema(path)
    return ValueType(
        lambda text: checked(plain.from_text(text)),
        lambda value: checked(plain.from_json(value)),
        comma,
        {"oneOf": [_array_schema({"type": "string", "pattern": r"^[^,.]+(\.[^,.]+)*$"}), comma]},
    )


def word(choices: Collection[str]) -> ValueType:
    """One of a few words in capitals, which may be written in any case."""

    def from_json(value: Any) -> str:
        text = _string(value, "a string")
        return text.upper() if text.upper() in choices else _require_choice(text, choices)

    schema = {"type": "string", "enum": list(choices)}
    return ValueType(from_json, from_json, schema, schema)


def integers(choices: Collection[int] = ()) -> ValueType:
    """32-bit integers: one or several, comma-separated, in a body also one integer or an array."""
    one = integer(choices)

    def from_text(text: str) -> tuple[int, ...]:
        return tuple(one.from_text(value) for value in _split_at_commas(text))

    def from_json(value: Any) -> tuple[int, ...]:
        if isinstance(value, str):
            return from_text(value)
        return tuple(map(one.from_json, _require_values(value) if isinstance(value, list) else [value]))

    comma = _comma_separated_schema("|".join(map(str, choices)) if choices else "-?[0-9]{1,9}")
    item = one.post_schema
    return ValueType(from_text, from_json, comma, {"oneOf": [item, _array_schema(item), comma]})


def integer(choices: Collection[int] = (), bounds: range = INT32) -> ValueType:
    """One 32-bit integer, of `choices` or within `bounds`; in a body also as a string."""

    def read(value: Any) -> int:
        number = _parsed_integer(value) if isinstance(value, str) else _integer(value)
        return _require_choice(_require_within(number, bounds), choices)

    schema = {"type": "integer", "format": "int32", **_limits_schema(choices, bounds)}
    return ValueType(read, read, schema, schema)


def timestamp(unit: str) -> ValueType:
    """A UNIX time in whole `unit`, "seconds" or "milliseconds"; in a body also as a string."""

    def checked(value: int) -> int:
        if unit == "seconds" and value >= _MILLISECONDS_FROM:
            raise ValueError(f"{value} looks like milliseconds; this is a UNIX time in seconds")
        return _require_within(value, _TIMES)

    def read(value: Any) -> int:
        if not isinstance(value, str):
            return checked(_integer(value))
        try:
            return checked(_parsed_integer(value))
        except ValueError as error:
            raise ValueError(f"{error}; send {unit} since 1970-01-01") from None

    times = range(_MILLISECONDS_FROM) if unit == "seconds" else _TIMES
    number = {
        "type": "integer",
        "format": "int64",
        "description": f"{unit} since 1970-01-01",
        **_limits_schema((), times),
    }
    digits = {"type": "string", "pattern": f"^[0-9]{{1,{len(str(times.stop - 1))}}}$"}
    return ValueType(read, read, number, {"oneOf": [number, digits]})


def flag() -> ValueType:
    """A boolean: true or false; in a body also as a string."""

    def read(value: Any) -> bool:
        if isinstance(value, str):
            return _require_choice(value, ("true", "false")) == "true"
        if not isinstance(value, bool):
            raise ValueError(f"{value!r} is not true or false")  # noqa: TRY004 - one error for a wrong value
        return value

    schema = {"type": "boolean"}
    return ValueType(read, read, schema, schema)


def cursor() -> ValueType:
    """A scroll cursor: digits; in a body also an integer, an empty string for the first call, and null for none."""

    def from_text(text: str) -> str:
        if not text:
            raise ValueError("it is empty; leave it out on the first call of a scroll by GET")
        return str(_require_within(_parsed_integer(text), CURSORS))

    def from_json(value: Any) -> str | None:
        # Some clients send null for a member that is not set.
        if value is None:
            return None
        if value == FIRST_PAGE:
            return FIRST_PAGE
        return from_text(value) if isinstance(value, str) else str(_require_within(_integer(value), CURSORS))

    digits = {"type": "string", "pattern": "^[0-9]{0,19}$"}
    number = {"type": "integer", "format": "int64", **_limits_schema((), CURSORS)}
    return ValueType(from_text, from_json, number, {"oneOf": [digits, number]})


def search() -> ValueType:
    """A text search, as a body has it; a query string cannot hold one."""

    def from_text(text: str) -> str:
        raise ValueError(f"{text!r} is not a search; a search is an object in the body of a POST")

    # Its schema has a name: `openapi.AdvancedSearch`.
    return ValueType(from_text, full_text_expression, {}, {})


def _comma_separated_schema(value: str) -> dict[str, Any]:
    """Return the schema of values, each of a pattern, with commas between them."""
    pattern = f"^({value})(,({value}))*$"
    return {"type": "string", "description": "comma-separated", "pattern": pattern}


def _array_schema(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item, "minItems": 1}


def _limits_schema(choices: Collection[Any], bounds: range) -> dict[str, Any]:
    return {"enum": list(choices)} if choices else {"minimum": bounds.start, "maximum": bounds.stop - 1}


def _parsed_integer(text: str) -> int:
    digits = text.removeprefix("-")
    # `isdigit` alone accepts digits of other scripts; `int` takes long for very long numbers.
    if not (digits.isascii() and digits.isdigit() and len(digits) < 20):
        raise ValueError(f"{text!r} is not an integer")
    return int(text)


def _integer(value: Any) -> int:
    # True is 1 for Python, but not for JSON.
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{value!r} is not an integer")  # noqa: TRY004 - one error for a wrong value
    return value


def _string(value: Any, wanted: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not {wanted}")  # noqa: TRY004 - one error for a wrong value
    return value


def _require_within(value: int, bounds: range) -> int:
    if value not in bounds:
        raise ValueError(f"{value} is not from {bounds.start} to {bounds.stop - 1}")
    return value


def _require_choice(value: Value, choices: Collection[Value]) -> Value:
    if choices and value not in choices:
        raise ValueError(f"{value!r} is not one of {', '.join(map(str, choices))}")
    return value


def _require_values(values: list[Any]) -> list[Any]:
    if not values:
        raise ValueError("the array is empty; leave the parameter out to ask for everything")
    return values


def _split_at_commas(text: str) -> list[str]:
    values = [value.strip() for value in text.split(",")]
    if not all(values):
        raise ValueError(f"{text!r} holds an empty value; leave the parameter out to ask for everything")
    return values


_GET_AND_POST: Final = frozenset({"GET", "POST"})
_SHARING_STATUSES: Final = tuple(map(int, SharingStatus))


@dataclass(frozen=True)
class ListFilter:
    """One parameter.

    Attributes
    ----------
    value_type
        Type of its value.
    meaning
        What it asks for.
    sql
        The condition that products must meet, with the value as `:name` (lists as a JSON array).
    methods
        Where it can be sent.
    """

    value_type: ValueType
    meaning: str
    sql: str | None = None
    methods: frozenset[str] = _GET_AND_POST


# EXISTS, since a join would list a product with two of the tags twice.
_TAGGED: Final = (
    "EXISTS (SELECT 1 FROM tags WHERE tags.organization_id = views.organization_id"
    " AND tags.product_key = views.product_key AND tags.name IN (SELECT value FROM json_each(:{})))"
)

FILTERS: Final[Mapping[str, ListFilter]] = {
    "filter_gtins_in": ListFilter(
        texts(),
        "Products with one of these GTINs, written as in the record.",
        "products.gtin IN (SELECT value FROM json_each(:filter_gtins_in))",
    ),
    "updated_at_from": ListFilter(
        timestamp("seconds"),
        "Products updated at this time or later.",
        "views.updated_at >= :updated_at_from",
    ),
    "updated_at_to": ListFilter(
        timestamp("seconds"),
        "Products updated at this time or earlier.",
        "views.updated_at <= :updated_at_to",
    ),
    "limit": ListFilter(integer(bounds=range(1, 501)), "Most products returned; 20 unless given."),
    "offset": ListFilter(integer(bounds=range(2**31)), "Index of the first product returned."),
    "filter_validation_status_in": ListFilter(
        integers((0, 1, 2, 3)),
        "Validation status: 0 not applicable, 1 not OK, 2 OK, 3 correction (seen at a deployed service).",
        "views.validation_status IN (SELECT value FROM json_each(:filter_validation_status_in))",
    ),
    "filter_tags_in": ListFilter(
        texts(),
        "Products on which one of these tags is on.",
        _TAGGED.format("filter_tags_in"),
    ),
    "filter_tags_not_in": ListFilter(
        texts(),
        "Products on which none of these tags is on.",
        f"NOT {_TAGGED.format('filter_tags_not_in')}",
    ),
    "filter_source_include": ListFilter(
        paths(), "Fields to return, as dotted paths through objects and lists."
    ),
    "filter_source_exclude": ListFilter(
        paths(), "Fields to omit, as dotted paths through objects and lists."
    ),
    "filter_target_productstatus_in": ListFilter(
        texts(PRODUCT_STATUSES),
        "Retailer-side status of the product.",
        "views.product_status IN (SELECT value FROM json_each(:filter_target_productstatus_in))",
    ),
    "status_shared_from": ListFilter(
        integer(_SHARING_STATUSES),
        "Sharing status of the source product: 2 draft, 3 pending, 4 accepted.",
        "views.shared_from = :status_shared_from",
    ),
    "status_shared_with": ListFilter(
        integer(_SHARING_STATUSES),
        "Sharing status of the target product: 2 draft, 3 pending, 4 accepted.",
        "views.shared_with = :status_shared_with",
    ),
    "filter_target_market": ListFilter(
        integer(),
        "Target market, ISO 3166-1 numeric.",
        "views.target_market = :filter_target_market",
    ),
    "filter_product_languages": ListFilter(
        texts(),
        "Languages of the localized texts returned (fr, fra-FR or fr-FR); it does not choose products.",
    ),
    "filter_has_packshot": ListFilter(
        flag(), "Only products that have a picture that is a packshot.", "products.has_packshot"
    ),
    "filter_has_no_packshot": ListFilter(
        flag(), "Only products without a packshot.", "NOT products.has_packshot"
    ),
    "filter_pictures_last_updated_at_from": ListFilter(
        timestamp("milliseconds"),
        "Products whose pictures were updated at this time or later.",
        "products.pictures_updated_at >= :filter_pictures_last_updated_at_from",
    ),
    "filter_pictures_last_updated_at_to": ListFilter(
        timestamp("milliseconds"),
        "Products whose pictures were updated at this time or earlier.",
        "products.pictures_updated_at <= :filter_pictures_last_updated_at_to",
    ),
    "filter_active_range": ListFilter(
        flag(), "Only products in the caller's active range.", "views.active_range"
    ),
    "filter_owners_in": ListFilter(
        integers(),
        "Products of these owners, by organisation id.",
        "products.owner_id IN (SELECT value FROM json_each(:filter_owners_in))",
    ),
    "next_page": ListFilter(
        cursor(),
        "Scroll cursor of the previous reply; on the first call left out of a GET, empty in a POST.",
    ),
    "advanced_search": ListFilter(
        search(),
        "Text search: every entry of must has to match in one of its fields.",
        "products.key IN (SELECT rowid FROM texts WHERE texts MATCH :advanced_search)",
        frozenset({"POST"}),
    ),
    "allow_not_consumer_units": ListFilter(
        flag(),
        "Also list products that are neither consumer nor display units; the sandbox leaves them "
        "out when it runs with only_consumer_units (seen at a deployed service).",
        methods=frozenset({"POST"}),
    ),
}


#: The parameters of the list of organisations (spec, endpoint 3).
ORGANIZATION_PARAMETERS: Final[Mapping[str, ListFilter]] = {
    "organization_type": ListFilter(
        integer(tuple(map(int, OrganizationType))),
        "1 manufacturers, 2 retailers; both unless given.",
    ),
    "offset": ListFilter(integer(bounds=range(2**31)), "Index of the first organisation returned."),
    "limit": ListFilter(integer(bounds=range(1, 501)), "Most organisations returned; 20 unless given."),
}

#: The parameters of product segments (spec, endpoint 9).
SEGMENT_PARAMETERS: Final[Mapping[str, ListFilter]] = {
    "permission": ListFilter(
        word(PERMISSIONS),
        "; ".join(f"{name}: {meaning}" for name, meaning in PERMISSIONS.items()) + ". READ unless given.",
    )
}


def read_query_string(
    pairs: Iterable[tuple[str, str]], among: Mapping[str, ListFilter] = FILTERS
) -> dict[str, Any]:
    """Read the parameters of a GET, which are `among` these.

    Raises
    ------
    Refusal
        When a name is unknown or given twice, or a value is not as documented.
    """
    values: dict[str, Any] = {}
    for name, text in pairs:
        if name in values:
            raise Refusal(
                "invalid_value", f"{name} is given twice; give it once, its values comma-separated."
            )
        values[name] = _read(name, text, "GET", among)
    return values


def read_body(body: Mapping[str, Any]) -> dict[str, Any]:
    """Read the members of a POST's body; raise Refusal as `read_query_string` does."""
    return {name: _read(name, value, "POST", FILTERS) for name, value in body.items()}


def condition(values: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Turn read values into one SQL condition and what it binds."""
    fragments, bound = ["TRUE"], {}
    for name, value in values.items():
        fragment = FILTERS[name].sql
        # A flag that is false asks for nothing (contract, Reading).
        if fragment and value is not None and value is not False:
            fragments.append(fragment)
            bound[name] = encode(value).decode() if isinstance(value, tuple) else value
    return " AND ".join(fragments), bound


def _read(name: str, value: Any, method: str, among: Mapping[str, ListFilter]) -> Any:
    known = among.get(name)
    if known is None or method not in known.methods:
        raise Refusal(
            "unknown_parameter",
            f"{name!r} is not a parameter of this endpoint; it takes "
            f"{', '.join(name for name, known in among.items() if method in known.methods)}.",
        )
    try:
        return known.value_type.from_text(value) if method == "GET" else known.value_type.from_json(value)
    except ValueError as error:
        raise Refusal("invalid_value", f"{name}: {error}.") from None
