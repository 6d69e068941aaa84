"""What to ask the service for; the only home of the wire's filter names, types and units.

Spec: endpoints 4 (GET) and 5 (POST). `FILTERS` declares each parameter once; `ProductQuery` has a field for
each.
"""

from __future__ import annotations

import copy
import dataclasses
import difflib
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum, IntEnum, StrEnum
from numbers import Integral
from types import MappingProxyType
from typing import Any, Self, TypeVar

from prodex import locales
from prodex.errors import QueryError


class ValidationStatus(IntEnum):
    """Validation status of a product (spec, "Product"; the fourth is known from a deployed service)."""

    NA = 0
    NOT_OK = 1
    OK = 2
    CORRECTION = 3


class SharingStatus(IntEnum):
    """Sharing status of a product (spec, "Sharing status")."""

    DRAFT = 2
    PENDING = 3
    ACCEPTED = 4


class ProductStatus(StrEnum):
    """Product status on the retailer side (spec, "Product status on the retailer side")."""

    NOT_ASSIGNED = "NOT_ASSIGNED"
    ASSIGNATION_PENDING = "ASSIGNATION_PENDING"
    WAITING_TO_BE_SHARED = "WAITING_TO_BE_SHARED"
    TO_BE_VALIDATED = "TO_BE_VALIDATED"
    REFUSED = "REFUSED"
    UPDATED = "UPDATED"
    ACCEPTED = "ACCEPTED"


#: Fields in which a word can be searched (spec, endpoint 5).
SEARCH_FIELDS = (
    "namePublicLong.data",
    "composition.data",
    "allergens.data",
    "brand.label",
    "kind.label",
    "description.data",
)

#: Fields that every reply must hold: they are the keys of all tables, and say how fresh a product is.
ALWAYS_REQUESTED = ("id", "uuid", "gtin", "updatedAt")

#: Fields of the rich-content reply (spec, endpoint 6).
RICH_CONTENT = ("gtin", "id", "assets")

#: GTINs in one call; the spec gives no limit, and 200 of them stay well below common limits of URLs and
#: bodies.
GTINS_PER_CALL = 200

#: Keys of a request that say which page of an answer is wanted, not which products.
PAGING_KEYS = ("limit", "offset", "next_page")

Member = TypeVar("Member", bound=Enum)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TAKEN_FOR_MILLISECONDS = 100_000_000_000  # as seconds the year 5138, as milliseconds 1973
_SECOND = timedelta(seconds=1)
_MILLISECOND = timedelta(milliseconds=1)


# Reading: what a user gives becomes the field's value, or a QueryError that names the field.


def _several(name: str, value: object) -> list[Any]:
    """Take one value, a comma-separated string, or any iterable as a list of distinct values."""
    if isinstance(value, str) and not isinstance(value, Enum):
        items: list[Any] = [part.strip() for part in value.split(",") if part.strip()]
    elif isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping):
        items = list(value)
    else:
        items = [value]
    if not items:
        raise QueryError(
            f"{name} is empty, which the service would read as no filter. Leave it out, or give a value."
        )
    return items


def _texts(name: str, value: object) -> tuple[str, ...]:
    items = _several(name, value)
    for item in items:
        if not isinstance(item, str) or not item.strip() or "," in item:
            raise QueryError(f"{name} takes texts without commas, not {item!r}.")
    return tuple(dict.fromkeys(str(item).strip() for item in items))


def _paths(name: str, value: object) -> tuple[str, ...]:
    paths = _texts(name, value)
    for path in paths:
        if not re.fullmatch(r"[^\s.]+(\.[^\s.]+)*", path):
            raise QueryError(f"{name} takes dotted paths such as assets.pictures.url, not {path!r}.")
    return paths


def _gtins(name: str, value: object) -> tuple[str, ...]:
    gtins = []
    for item in _several(name, value):
        text = str(item).strip() if isinstance(item, str | Integral) and not isinstance(item, bool) else ""
        if not re.fullmatch(r"[0-9]{1,14}", text):
            raise QueryError(
                f"{name} takes GTINs of up to 14 digits, not {item!r}. In a table, read the column as text."
            )
        gtins.append(text.zfill(14))
    return tuple(dict.fromkeys(gtins))


def _integer(name: str, value: object) -> int:
    if isinstance(value, str) and re.fullmatch(r"[0-9]+", value.strip()):
        value = int(value)
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise QueryError(f"{name} takes whole numbers, not {value!r}.")
    return int(value)


def _integers(name: str, value: object) -> tuple[int, ...]:
    return tuple(dict.fromkeys(_integer(name, item) for item in _several(name, value)))


def _true(name: str, value: object) -> bool:
    if str(value).lower() != "true":
        raise QueryError(
            f"{name} takes True, not {value!r}: the contract gives False no meaning, so leave it out. For "
            "products without a packshot there is has_no_packshot=True."
        )
    return True


def _member(enum: type[Member], prefix: str = "") -> Callable[[str, object], Member]:
    """Read a member of an enumeration by its name, in any case, or by its value."""

    def read(name: str, value: object) -> Member:
        text = (value.name if isinstance(value, Enum) else str(value)).strip().upper().removeprefix(prefix)
        for member in enum:
            if text in (member.name, str(member.value)) and not isinstance(value, bool):
                return member
        allowed = ", ".join(
            member.name if isinstance(member.value, str) else f"{member.name} ({member.value})"
            for member in enum
        )
        raise QueryError(f"{name} does not know {value!r}. It takes {allowed}.")

    return read


def _members(enum: type[Member], prefix: str = "") -> Callable[[str, object], tuple[Member, ...]]:
    read = _member(enum, prefix)
    return lambda name, value: tuple(dict.fromkeys(read(name, item) for item in _several(name, value)))


def _market(name: str, value: object) -> int:
    return locales.market_code(value if isinstance(value, str) else _integer(name, value))


def _languages(name: str, value: object) -> tuple[str, ...]:
    tags = {text: locales.language_tag(text) for text in _texts(name, value)}
    # A code stays as it is written, since both forms stand in records; only a name has to become a code.
    return tuple(dict.fromkeys(text if "-" in text or len(text) <= 3 else tag for text, tag in tags.items()))


def _moment(unit: timedelta) -> Callable[[str, object], datetime]:
    """Read a point in time, cut to the unit in which it goes over the wire."""

    def read(name: str, value: object) -> datetime:
        if isinstance(value, int) and not isinstance(value, bool) and unit == _SECOND:
            if not 0 <= value < _TAKEN_FOR_MILLISECONDS:
                raise QueryError(
                    f"{name} counts seconds since 1970, and {value} looks like milliseconds. "
                    "Divide it by 1000, or better, give an aware datetime."
                )
            return _EPOCH + value * _SECOND
        if not isinstance(value, datetime):
            whole = " or whole UNIX seconds" if unit == _SECOND else ""
            raise QueryError(f"{name} takes an aware datetime{whole}, not {value!r}.")
        if value.utcoffset() is None:
            raise QueryError(
                f"{name} got {value.isoformat()} without a time zone. Say which one is meant: "
                "datetime(..., tzinfo=UTC), or value.astimezone() for this machine's zone."
            )
        if value < _EPOCH:
            raise QueryError(f"{name} got {value.isoformat()}, which is before 1970, where UNIX time begins.")
        return _EPOCH + ((value - _EPOCH) // unit) * unit

    return read


def _search(name: str, value: object) -> tuple[tuple[str, tuple[str, ...]], ...]:
    entries = [value] if isinstance(value, str) else value
    if not isinstance(entries, Iterable) or isinstance(entries, Mapping):
        raise QueryError(f"{name} takes a list of (word, fields), not {value!r}.")
    read = []
    for entry in entries:
        word, fields = (entry, SEARCH_FIELDS) if isinstance(entry, str) else _pair(name, entry)
        if not isinstance(word, str) or not word.strip():
            raise QueryError(f"{name} needs a word to look for, not {word!r}.")
        chosen = _texts(name, fields)
        for field in chosen:
            if field not in SEARCH_FIELDS:
                raise QueryError(
                    f"{name} cannot look into {field!r}. The fields are {', '.join(SEARCH_FIELDS)}."
                )
        read.append((word, chosen))
    if not read:
        raise QueryError(f"{name} is empty. Leave it out, or give a list of (word, fields).")
    return tuple(read)


def _pair(name: str, entry: object) -> tuple[object, object]:
    if isinstance(entry, list | tuple) and len(entry) == 2:
        return entry[0], entry[1]
    raise QueryError(
        f"{name} takes a list of (word, fields), such as [('cocoa', ['brand.label'])], not {entry!r}."
    )


# Writing: the form in a POST body, and back. The form in a GET query is the text of that.


def _same(value: Any) -> Any:
    return value


def _joined(values: Iterable[object]) -> str:
    return ",".join(_text(value) for value in values)


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _number_or_joined(values: tuple[int, ...]) -> int | str:
    return int(values[0]) if len(values) == 1 else _joined(values)


def _must(search: Any) -> dict[str, Any]:
    return {"must": [{"query": word, "fields": list(fields)} for word, fields in search]}


def _from_must(wire: Any) -> Any:
    return [(entry["query"], entry["fields"]) for entry in wire["must"]]


@dataclass(frozen=True)
class Kind:
    """A type of filter value: how a user may give it, and its form on the wire.

    Attributes
    ----------
    read
        From what a user gives to the value of the field; gets the field's name for its messages.
    write
        From the value to its form in a POST body.
    parse
        From the form in a POST body or a GET query to something that `read` takes.
    by_get
        Whether GET knows the parameter.
    """

    read: Callable[[str, Any], Any]
    write: Callable[[Any], Any]
    parse: Callable[[Any], Any] = _same
    by_get: bool = True


def _time(unit: timedelta) -> Kind:
    return Kind(
        _moment(unit), lambda value: (value - _EPOCH) // unit, lambda count: _EPOCH + int(count) * unit
    )


GTINS = Kind(_gtins, list)
INCLUDED = Kind(_paths, list)
EXCLUDED = Kind(_paths, _joined)
TEXTS = Kind(_texts, _joined)
LANGUAGES = Kind(_languages, _joined)
INTEGERS = Kind(_integers, _number_or_joined)
VALIDATION = Kind(_members(ValidationStatus, "VALIDATION_STATUS_"), _number_or_joined)
STATUSES = Kind(_members(ProductStatus), _joined)
SHARING = Kind(_member(SharingStatus), int)
MARKET = Kind(_market, _same)
FLAG = Kind(_true, _same)
SECONDS = _time(_SECOND)
MILLISECONDS = _time(_MILLISECOND)
SEARCH = Kind(_search, _must, _from_must, by_get=False)

#: Field of `ProductQuery` -> its name on the wire and its kind (spec, tables of endpoints 4 and 5).
FILTERS: Mapping[str, tuple[str, Kind]] = MappingProxyType(
    {
        "gtins_in": ("filter_gtins_in", GTINS),
        "updated_at_from": ("updated_at_from", SECONDS),
        "updated_at_to": ("updated_at_to", SECONDS),
        "validation_status_in": ("filter_validation_status_in", VALIDATION),
        "tags_in": ("filter_tags_in", TEXTS),
        "tags_not_in": ("filter_tags_not_in", TEXTS),
        "source_include": ("filter_source_include", INCLUDED),
        "source_exclude": ("filter_source_exclude", EXCLUDED),
        "target_productstatus_in": ("filter_target_productstatus_in", STATUSES),
        "status_shared_from": ("status_shared_from", SHARING),
        "status_shared_with": ("status_shared_with", SHARING),
        "target_market": ("filter_target_market", MARKET),
        "product_languages": ("filter_product_languages", LANGUAGES),
        "has_packshot": ("filter_has_packshot", FLAG),
        "has_no_packshot": ("filter_has_no_packshot", FLAG),
        "pictures_last_updated_at_from": ("filter_pictures_last_updated_at_from", MILLISECONDS),
        "pictures_last_updated_at_to": ("filter_pictures_last_updated_at_to", MILLISECONDS),
        "active_range": ("filter_active_range", FLAG),
        "owners_in": ("filter_owners_in", INTEGERS),
        "search": ("advanced_search", SEARCH),
    }
)

_FIELD_OF_WIRE_NAME = {wire: field for field, (wire, _) in FILTERS.items()}


@dataclass(frozen=True, kw_only=True, repr=False)
class ProductQuery:
    """Which products to ask for, and which of their fields.

    A field that is None does not filter. A list may be any iterable, one value, or a comma-separated
    string; it is kept as a tuple of distinct values. Statuses go by name or number, markets and
    languages by code or name. Points in time are aware datetimes; bounds are inclusive.

    Parameters
    ----------
    gtins_in
        GTINs; shorter ones are filled up with zeros to 14 digits.
    updated_at_from, updated_at_to
        Bounds of the last update, in whole seconds (a whole number is taken as UNIX seconds).
    validation_status_in
        NA (0), NOT_OK (1), OK (2), CORRECTION (3).
    tags_in, tags_not_in
        Tags that are on a product, or are not.
    source_include, source_exclude
        Fields to return or to omit, as dotted paths ("namePublicLong.data"). `id`, `uuid`, `gtin`,
        `updatedAt` and the language or unit (`expressedIn`) of a requested `.data` are always included: they
        are the keys of all tables.
    target_productstatus_in
        Status on the retailer side, by name.
    status_shared_from, status_shared_with
        Sharing status of the source product and of the target product: DRAFT (2), PENDING (3), ACCEPTED (4).
    target_market
        Market, by ISO 3166-1 number (250) or name ("France").
    product_languages
        Languages of the texts to return. The products stay the same; texts in other languages are not sent.
    has_packshot, has_no_packshot
        True for only the products with, or without, a packshot.
    pictures_last_updated_at_from, pictures_last_updated_at_to
        Bounds of the last update of a product's pictures, in milliseconds.
    active_range
        True for the products in the retailer's active range.
    owners_in
        Ids of owners (partner integrations).
    search
        Words to look for, as a list of (word, fields): every word must be found, in any one of its fields. A
        word alone is looked for in all of `SEARCH_FIELDS`. POST only.
    extra
        Filters that this version does not know, passed through under their wire names.

    Raises
    ------
    QueryError
        When a value cannot be understood, or not as it was meant; the message says what to give instead.

    Examples
    --------
    >>> query = ProductQuery(target_market="France", tags_in="exportable", status_shared_with="accepted")
    >>> query
    ProductQuery(tags_in=('exportable',), status_shared_with='ACCEPTED', target_market=250)
    >>> query.to_params()
    {'filter_tags_in': 'exportable', 'status_shared_with': '4', 'filter_target_market': '250'}
    """

    # Any, since a field takes more forms than it then holds.
    gtins_in: Any = None
    updated_at_from: Any = None
    updated_at_to: Any = None
    validation_status_in: Any = None
    tags_in: Any = None
    tags_not_in: Any = None
    source_include: Any = None
    source_exclude: Any = None
    target_productstatus_in: Any = None
    status_shared_from: Any = None
    status_shared_with: Any = None
    target_market: Any = None
    product_languages: Any = None
    has_packshot: Any = None
    has_no_packshot: Any = None
    pictures_last_updated_at_from: Any = None
    pictures_last_updated_at_to: Any = None
    active_range: Any = None
    owners_in: Any = None
    search: Any = None
    extra: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __new__(cls, **fields: Any) -> Self:
        for name in fields:
            if name not in FILTERS and name != "extra":
                raise QueryError(_unknown_field(name))
        return super().__new__(cls)

    def __post_init__(self) -> None:
        for name, (_, kind) in FILTERS.items():
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, kind.read(name, value))
        if self.source_include is not None:
            object.__setattr__(self, "source_include", _with_always_requested(self.source_include))
        object.__setattr__(self, "extra", _checked_extra(self.extra))
        _refuse_contradictions(self)

    def to_body(self) -> dict[str, Any]:
        """Return the filters as a POST body holds them; also how a query is kept in a manifest."""
        body = {FILTERS[name][0]: FILTERS[name][1].write(value) for name, value in self._given().items()}
        return body | copy.deepcopy(dict(self.extra))

    def to_params(self) -> dict[str, str]:
        """Return the filters as a GET query holds them.

        Raises
        ------
        QueryError
            When `search` is set: GET has no such parameter.
        """
        for name in self._given():
            if not FILTERS[name][1].by_get:
                raise QueryError(
                    f"{name} cannot be asked by GET. Use search_products (POST), or leave it out."
                )
        return {
            wire: _joined(value) if isinstance(value, list) else _text(value)
            for wire, value in self.to_body().items()
        }

    def to_probe(self) -> dict[str, Any]:
        """Return the POST body that only asks how many products match (spec, "Pagination rules", 3)."""
        body = dataclasses.replace(self, source_include=None, source_exclude=None).to_body()
        return body | {FILTERS["source_include"][0]: ["uuid"], "limit": 1}

    def to_rich_content_params(self) -> dict[str, str]:
        """Return the GET query for GTIN, id and assets alone (spec, endpoint 6)."""
        params = dataclasses.replace(self, source_include=None, source_exclude=None).to_params()
        return params | {FILTERS["source_include"][0]: ",".join(RICH_CONTENT)}

    def in_calls(self, gtins_per_call: int = GTINS_PER_CALL) -> Iterator[Self]:
        """Cut a query with a long list of GTINs into queries that a service takes.

        >>> [len(part.gtins_in) for part in ProductQuery(gtins_in=range(1, 451)).in_calls()]
        [200, 200, 50]
        """
        if self.gtins_in is None:
            yield self
            return
        for begin in range(0, len(self.gtins_in), gtins_per_call):
            yield dataclasses.replace(self, gtins_in=self.gtins_in[begin : begin + gtins_per_call])

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Self:
        """Read a query from a POST body or from GET parameters.

        What prodex does not know goes to `extra`; `limit`, `offset` and `next_page` are no part of a query.

        >>> ProductQuery.from_body({"filter_target_market": "250", "filter_tags_in": "new,big", "limit": 50})
        ProductQuery(tags_in=('new', 'big'), target_market=250)
        """
        fields: dict[str, Any] = {}
        extra = {}
        for wire, value in body.items():
            if wire in _FIELD_OF_WIRE_NAME:
                field = _FIELD_OF_WIRE_NAME[wire]
                try:
                    fields[field] = FILTERS[field][1].parse(value)
                except (ValueError, TypeError, LookupError, OverflowError) as error:
                    raise QueryError(f"{wire} cannot be read from {value!r}.") from error
            elif wire not in PAGING_KEYS:
                extra[wire] = value
        return cls(**fields, extra=extra)

    def wire(self) -> str:
        """Return the POST body as JSON text, to read or to paste into another tool."""
        return json.dumps(self.to_body(), ensure_ascii=False, indent=2)

    def digest(self) -> str:
        """Return a fingerprint of what is asked: the same everywhere, and for any order of the values."""
        canonical = {
            FILTERS[name][0]: sorted(value) if isinstance(value, tuple) else FILTERS[name][1].write(value)
            for name, value in self._given().items()
        }
        text = json.dumps([canonical, dict(self.extra)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def _given(self) -> dict[str, Any]:
        return {name: value for name in FILTERS if (value := getattr(self, name)) is not None}

    def __repr__(self) -> str:
        shown = {name: _shown(value) for name, value in self._given().items()}
        if self.extra:
            shown["extra"] = dict(self.extra)
        return f"ProductQuery({', '.join(f'{name}={value!r}' for name, value in shown.items())})"

    def __hash__(self) -> int:
        return hash((tuple(self._given().items()), frozenset(self.extra)))

    def __reduce__(self) -> tuple[Any, ...]:
        return (ProductQuery.from_body, (self.to_body(),))


def _with_always_requested(fields: tuple[str, ...]) -> tuple[str, ...]:
    languages = [f"{field.removesuffix('.data')}.expressedIn" for field in fields if field.endswith(".data")]
    return tuple(dict.fromkeys((*fields, *languages, *ALWAYS_REQUESTED)))


def _checked_extra(extra: Mapping[str, Any]) -> Mapping[str, Any]:
    for wire in extra:
        if wire in _FIELD_OF_WIRE_NAME:
            raise QueryError(
                f"extra holds {wire}, which has a field of its own: {_FIELD_OF_WIRE_NAME[wire]}=..."
            )
        if wire in PAGING_KEYS:
            raise QueryError(f"extra holds {wire}, but pages are chosen by who fetches them. Leave it out.")
    try:
        ours: dict[str, Any] = json.loads(json.dumps(dict(extra), allow_nan=False))
    except (TypeError, ValueError) as error:
        raise QueryError(f"extra must hold what JSON can hold: {error}.") from error
    return MappingProxyType(ours)


def _refuse_contradictions(query: ProductQuery) -> None:
    for begin, end in (
        ("updated_at_from", "updated_at_to"),
        ("pictures_last_updated_at_from", "pictures_last_updated_at_to"),
    ):
        first, last = getattr(query, begin), getattr(query, end)
        if first is not None and last is not None and first > last:
            raise QueryError(f"{begin} ({first.isoformat()}) is after {end} ({last.isoformat()}).")
    if query.has_packshot and query.has_no_packshot:
        raise QueryError("has_packshot and has_no_packshot contradict each other: no product is in both.")
    if both := set(query.tags_in or ()) & set(query.tags_not_in or ()):
        raise QueryError(f"tags_in and tags_not_in both hold {sorted(both)}: no product can have it and not.")
    needed = query.source_include or ALWAYS_REQUESTED
    for field in query.source_exclude or ():
        if field.endswith(".expressedIn") or any(f"{path}.".startswith(f"{field}.") for path in needed):
            raise QueryError(
                f"source_exclude holds {field}, which cannot be left out. Needed are what source_include "
                f"asks for, {', '.join(ALWAYS_REQUESTED)}, and the expressedIn of texts and quantities."
            )


def _unknown_field(name: str) -> str:
    near = difflib.get_close_matches(name.removeprefix("filter_"), [*FILTERS, "extra"], n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]}?" if near else ""
    return (
        f"ProductQuery has no field {name!r}.{hint} Filters that prodex does not know go into extra={{...}}."
    )


def _shown(value: Any) -> Any:
    """Write statuses as their names, which is how a person would type them."""
    if isinstance(value, Enum):
        return value.name
    return tuple(_shown(item) for item in value) if isinstance(value, tuple) else value
