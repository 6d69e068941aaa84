"""What to ask the service for, as one value."""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from types import MappingProxyType
from typing import Any, Never, Self, TypeAlias, TypeVar

from prodex.advice import Argument, advice
from prodex.errors import QueryError
from prodex.phrases import nearest
from prodex.query.filters import FIELD_OF_WIRE_NAME, FILTERS, joined, text
from prodex.query.values import ProductStatus, SharingStatus, ValidationStatus

#: Fields that every reply must hold: they are the keys of all tables, and say how fresh a product is.
ALWAYS_REQUESTED = ("id", "uuid", "gtin", "updatedAt")

#: Fields of the rich-content reply (spec, endpoint 6).
RICH_CONTENT = ("gtin", "id", "assets")

#: GTINs in one call; the spec gives no limit, and 200 of them stay well below common limits of URLs and
#: bodies.
GTINS_PER_CALL = 200

_T = TypeVar("_T")

#: What takes one value or several: a list, an Index, a Series; of texts also a comma-separated one.
Many: TypeAlias = _T | Iterable[_T] | None

#: An aware point in time, or whole UNIX seconds.
Time: TypeAlias = datetime | int | None

#: Words, each alone or with the fields in which it is looked for.
Search: TypeAlias = str | Iterable[str | tuple[str, str | Iterable[str]]] | None

#: Keys of a request that say which page of an answer is wanted, not which products.
PAGING_KEYS = ("limit", "offset", "next_page")


@dataclass(frozen=True, kw_only=True, init=False, repr=False)
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

    # The types of what a query holds. `__init__` accepts more: one value or several, names or numbers.
    gtins_in: tuple[str, ...] | None = None
    updated_at_from: datetime | None = None
    updated_at_to: datetime | None = None
    validation_status_in: tuple[ValidationStatus, ...] | None = None
    tags_in: tuple[str, ...] | None = None
    tags_not_in: tuple[str, ...] | None = None
    source_include: tuple[str, ...] | None = None
    source_exclude: tuple[str, ...] | None = None
    target_productstatus_in: tuple[ProductStatus, ...] | None = None
    status_shared_from: SharingStatus | None = None
    status_shared_with: SharingStatus | None = None
    target_market: int | None = None
    product_languages: tuple[str, ...] | None = None
    has_packshot: bool | None = None
    has_no_packshot: bool | None = None
    pictures_last_updated_at_from: datetime | None = None
    pictures_last_updated_at_to: datetime | None = None
    active_range: bool | None = None
    owners_in: tuple[int, ...] | None = None
    search: tuple[tuple[str, tuple[str, ...]], ...] | None = None
    extra: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __init__(
        self,
        *,
        gtins_in: Many[str | int] = None,
        updated_at_from: Time = None,
        updated_at_to: Time = None,
        validation_status_in: Many[ValidationStatus | str | int] = None,
        tags_in: Many[str] = None,
        tags_not_in: Many[str] = None,
        source_include: Many[str] = None,
        source_exclude: Many[str] = None,
        target_productstatus_in: Many[ProductStatus | str] = None,
        status_shared_from: SharingStatus | str | int | None = None,
        status_shared_with: SharingStatus | str | int | None = None,
        target_market: int | str | None = None,
        product_languages: Many[str] = None,
        has_packshot: bool | None = None,
        has_no_packshot: bool | None = None,
        pictures_last_updated_at_from: Time = None,
        pictures_last_updated_at_to: Time = None,
        active_range: bool | None = None,
        owners_in: Many[int | str] = None,
        search: Search = None,
        extra: Mapping[str, Any] = MappingProxyType({}),
        **unknown: Never,
    ) -> None:
        given = {name: value for name, value in locals().items() if name in FILTERS}
        for name in unknown:
            raise QueryError(_unknown_field(name))
        for name, one in FILTERS.items():
            value = given[name]
            object.__setattr__(self, name, None if value is None else one.kind.read(name, value))
        if self.source_include is not None:
            object.__setattr__(self, "source_include", _with_always_requested(self.source_include))
        object.__setattr__(self, "extra", _checked_extra(extra))
        _refuse_contradictions(self)

    def to_body(self) -> dict[str, Any]:
        """Return the filters as a POST body holds them; also how a query is kept in a manifest.

        >>> ProductQuery(target_market="France").to_body()
        {'filter_target_market': 250}
        """
        body = {FILTERS[name].wire: FILTERS[name].kind.write(value) for name, value in self._given().items()}
        return body | copy.deepcopy(dict(self.extra))

    def to_params(self) -> dict[str, str]:
        """Return the filters as a GET query holds them.

        Raises
        ------
        QueryError
            When `search` is set: GET has no such parameter.

        Examples
        --------
        >>> ProductQuery(tags_in=["new", "exportable"]).to_params()
        {'filter_tags_in': 'new,exportable'}
        """
        for name in self._given():
            if not FILTERS[name].kind.by_get:
                raise QueryError(
                    f"{name} cannot be asked by GET. Use search_products (POST), or leave it out."
                )
        return {
            wire: joined(value) if isinstance(value, list) else text(value)
            for wire, value in self.to_body().items()
        }

    def holds(self, path: str) -> bool:
        """Return whether a reply can hold anything at a wire path.

        >>> query = ProductQuery(source_include=["assets.pictures.url"])
        >>> query.holds("assets"), query.holds("brand"), ProductQuery(source_exclude=["assets"]).holds("assets.videos")
        (True, False, False)
        """
        # An attribute is there in part if only something inside it was requested: `assets` for `assets.pictures.url`.
        included = self.source_include
        if included and not any(_is_within(path, one) or _is_within(one, path) for one in included):
            return False
        return not any(_is_within(path, one) for one in self.source_exclude or ())

    def to_probe(self) -> dict[str, Any]:
        """Return the POST body that only asks how many products match (spec, "Pagination rules", 3).

        >>> ProductQuery(target_market=250).to_probe()
        {'filter_target_market': 250, 'filter_source_include': ['uuid'], 'limit': 1}
        """
        # Only the count is wanted, so that one product with its uuid is all that is sent.
        body = dataclasses.replace(self, source_include=None, source_exclude=None).to_body()
        return body | {FILTERS["source_include"].wire: ["uuid"], "limit": 1}

    def to_rich_content_params(self) -> dict[str, str]:
        """Return the GET query for GTIN, id and assets alone (spec, endpoint 6).

        >>> ProductQuery(target_market=250).to_rich_content_params()
        {'filter_target_market': '250', 'filter_source_include': 'gtin,id,assets'}
        """
        params = dataclasses.replace(self, source_include=None, source_exclude=None).to_params()
        return params | {FILTERS["source_include"].wire: ",".join(RICH_CONTENT)}

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

        What prodex does not know is kept in `extra`; `limit`, `offset` and `next_page` are no part of a query.

        >>> ProductQuery.from_body({"filter_target_market": "250", "filter_tags_in": "new,big", "limit": 50})
        ProductQuery(tags_in=('new', 'big'), target_market=250)
        """
        fields: dict[str, Any] = {}
        extra = {}
        for wire, value in body.items():
            if wire in FIELD_OF_WIRE_NAME:
                field = FIELD_OF_WIRE_NAME[wire]
                try:
                    fields[field] = FILTERS[field].kind.parse(value)
                except (ValueError, TypeError, LookupError, OverflowError) as error:
                    raise QueryError(f"{wire} cannot be read from {value!r}.") from error
            elif wire not in PAGING_KEYS:
                extra[wire] = value
        return cls(**fields, extra=extra)

    def wire(self) -> str:
        """Return the POST body as JSON text, to read or to paste into another tool.

        >>> print(ProductQuery(target_market=250).wire())
        {
          "filter_target_market": 250
        }
        """
        return json.dumps(self.to_body(), ensure_ascii=False, indent=2)

    @property
    def digest(self) -> str:
        """Return a fingerprint of what is asked: the same everywhere, and for any order of the values.

        >>> ProductQuery(tags_in=["a", "b"]).digest == ProductQuery(tags_in="b,a").digest
        True
        """
        canonical = {
            FILTERS[name].wire: sorted(value) if isinstance(value, tuple) else FILTERS[name].kind.write(value)
            for name, value in self._given().items()
        }
        text = json.dumps([canonical, dict(self.extra)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def _given(self) -> dict[str, Any]:
        return {name: value for name in FILTERS if (value := getattr(self, name)) is not None}

    def __repr__(self) -> str:
        shown = {name: _as_typed(value) for name, value in self._given().items()}
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
    if not isinstance(extra, Mapping):
        raise QueryError(f"extra is {extra!r:.60}. Give a mapping of wire names to values, or leave it out.")
    for wire in extra:
        if wire in FIELD_OF_WIRE_NAME:
            raise QueryError(
                advice(
                    "{extra} holds {wire}, which has a field of its own: {own}.",
                    extra=Argument("extra"),
                    wire=wire,
                    own=Argument(FIELD_OF_WIRE_NAME[wire]),
                )
            )
        if wire in PAGING_KEYS:
            raise QueryError(
                advice(
                    "{extra} holds {wire}, which chooses a page of the answer, not products. Leave it out.",
                    extra=Argument("extra"),
                    wire=wire,
                )
            )
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
            raise QueryError(
                advice(
                    "{begin} ({first}) is after {end} ({last}).",
                    begin=Argument(begin),
                    first=first.isoformat(),
                    end=Argument(end),
                    last=last.isoformat(),
                )
            )
    if query.has_packshot and query.has_no_packshot:
        raise QueryError(
            advice(
                "{one} and {other} contradict each other: no product matches both.",
                one=Argument("has_packshot"),
                other=Argument("has_no_packshot"),
            )
        )
    if both := set(query.tags_in or ()) & set(query.tags_not_in or ()):
        raise QueryError(
            advice(
                "{one} and {other} both hold {both}: no product can have it and not.",
                one=Argument("tags_in"),
                other=Argument("tags_not_in"),
                both=sorted(both),
            )
        )
    needed = query.source_include or ALWAYS_REQUESTED
    for field in query.source_exclude or ():
        if ".expressedIn." in f"{field}." or any(f"{path}.".startswith(f"{field}.") for path in needed):
            raise QueryError(
                advice(
                    "{exclude} holds {field}, which cannot be left out. Needed are what {include} asks for, {always}, "
                    "and the expressedIn of texts and quantities.",
                    exclude=Argument("source_exclude"),
                    field=field,
                    include=Argument("source_include"),
                    always=", ".join(ALWAYS_REQUESTED),
                )
            )


def _is_within(path: str, outer: str) -> bool:
    return path == outer or path.startswith(f"{outer}.")


def _unknown_field(name: str) -> str:
    near = nearest(name.removeprefix("filter_"), [*FILTERS, "extra"], cutoff=0.5)
    hint = f" Did you mean {near}?" if near else ""
    return (
        f"ProductQuery has no field {name!r}.{hint} Filters that prodex does not know go into extra={{...}}."
    )


def _as_typed(value: Any) -> Any:
    """Write statuses as their names, which is how a person would type them."""
    if isinstance(value, Enum):
        return value.name
    return tuple(_as_typed(item) for item in value) if isinstance(value, tuple) else value
