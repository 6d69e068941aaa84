"""Every parameter of the lists, declared once: products (spec, endpoints 4 and 5), organisations and segments.

Both product lists read their parameters by `FILTERS`; the OpenAPI document describes them from it. A parameter
with SQL chooses products; one without shapes the reply, or pages through it. A flag that is false asks for
nothing.

Dates of the wire have no zone. The sandbox takes them for UTC when it compares them with a timestamp.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from prodex_sandbox.api import value_types
from prodex_sandbox.raw_json import encode
from prodex_sandbox.records.model import PRODUCT_STATUSES, OrganizationType, SharingStatus
from prodex_sandbox.records.segments import PERMISSIONS
from prodex_sandbox.refusals import Refusal

_GET_AND_POST: Final = frozenset({"GET", "POST"})
_SHARING_STATUSES: Final = tuple(map(int, SharingStatus))


@dataclass(frozen=True)
class Filter:
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

    value_type: value_types.ValueType
    meaning: str
    sql: str | None = None
    methods: frozenset[str] = _GET_AND_POST


# EXISTS, since a join would list a product with two of the tags twice.
_TAGGED: Final = (
    "EXISTS (SELECT 1 FROM tags WHERE tags.organization_id = views.organization_id"
    " AND tags.product_key = views.product_key AND tags.name IN (SELECT value FROM json_each(:{})))"
)

FILTERS: Final[Mapping[str, Filter]] = {
    "filter_gtins_in": Filter(
        value_types.texts(),
        "Products with one of these GTINs, written as in the record.",
        "products.gtin IN (SELECT value FROM json_each(:filter_gtins_in))",
    ),
    "updated_at_from": Filter(
        value_types.timestamp("seconds"),
        "Products updated at this time or later.",
        "views.updated_at >= :updated_at_from",
    ),
    "updated_at_to": Filter(
        value_types.timestamp("seconds"),
        "Products updated at this time or earlier.",
        "views.updated_at <= :updated_at_to",
    ),
    "limit": Filter(value_types.integer(bounds=range(1, 501)), "Most products returned; 20 unless given."),
    "offset": Filter(value_types.integer(bounds=range(2**31)), "Index of the first product returned."),
    "filter_validation_status_in": Filter(
        value_types.integers((0, 1, 2, 3)),
        "Validation status: 0 not applicable, 1 not OK, 2 OK, 3 correction (seen at a deployed service).",
        "views.validation_status IN (SELECT value FROM json_each(:filter_validation_status_in))",
    ),
    "filter_tags_in": Filter(
        value_types.texts(),
        "Products on which one of these tags is on.",
        _TAGGED.format("filter_tags_in"),
    ),
    "filter_tags_not_in": Filter(
        value_types.texts(),
        "Products on which none of these tags is on.",
        f"NOT {_TAGGED.format('filter_tags_not_in')}",
    ),
    "filter_source_include": Filter(
        value_types.paths(), "Fields to return, as dotted paths through objects and lists."
    ),
    "filter_source_exclude": Filter(
        value_types.paths(), "Fields to omit, as dotted paths through objects and lists."
    ),
    "filter_target_productstatus_in": Filter(
        value_types.texts(PRODUCT_STATUSES),
        "Retailer-side status of the product.",
        "views.product_status IN (SELECT value FROM json_each(:filter_target_productstatus_in))",
    ),
    "status_shared_from": Filter(
        value_types.integer(_SHARING_STATUSES),
        "Sharing status of the source product: 2 draft, 3 pending, 4 accepted.",
        "views.shared_from = :status_shared_from",
    ),
    "status_shared_with": Filter(
        value_types.integer(_SHARING_STATUSES),
        "Sharing status of the target product: 2 draft, 3 pending, 4 accepted.",
        "views.shared_with = :status_shared_with",
    ),
    "filter_target_market": Filter(
        value_types.integer(),
        "Target market, ISO 3166-1 numeric.",
        "views.target_market = :filter_target_market",
    ),
    "filter_product_languages": Filter(
        value_types.texts(),
        "Languages of the localized texts returned (fr, fra-FR or fr-FR); it does not choose products.",
    ),
    "filter_has_packshot": Filter(
        value_types.flag(), "Only products that have a picture that is a packshot.", "products.has_packshot"
    ),
    "filter_has_no_packshot": Filter(
        value_types.flag(), "Only products without a packshot.", "NOT products.has_packshot"
    ),
    "filter_pictures_last_updated_at_from": Filter(
        value_types.timestamp("milliseconds"),
        "Products whose pictures were updated at this time or later.",
        "products.pictures_updated_at >= :filter_pictures_last_updated_at_from",
    ),
    "filter_pictures_last_updated_at_to": Filter(
        value_types.timestamp("milliseconds"),
        "Products whose pictures were updated at this time or earlier.",
        "products.pictures_updated_at <= :filter_pictures_last_updated_at_to",
    ),
    "filter_active_range": Filter(
        value_types.flag(), "Only products in the caller's active range.", "views.active_range"
    ),
    "filter_owners_in": Filter(
        value_types.integers(),
        "Products of these owners, by organisation id.",
        "products.owner_id IN (SELECT value FROM json_each(:filter_owners_in))",
    ),
    "next_page": Filter(
        value_types.cursor(),
        "Scroll cursor of the previous reply; on the first call left out of a GET, empty in a POST.",
    ),
    "advanced_search": Filter(
        value_types.search(),
        "Text search: every entry of must has to match in one of its fields.",
        "products.key IN (SELECT rowid FROM texts WHERE texts MATCH :advanced_search)",
        frozenset({"POST"}),
    ),
    "allow_not_consumer_units": Filter(
        value_types.flag(),
        "Also list products that are neither consumer nor display units; the sandbox leaves them "
        "out when it runs with only_consumer_units (seen at a deployed service).",
        methods=frozenset({"POST"}),
    ),
}


#: The parameters of the list of organisations (spec, endpoint 3).
ORGANIZATION_PARAMETERS: Final[Mapping[str, Filter]] = {
    "organization_type": Filter(
        value_types.integer(tuple(map(int, OrganizationType))),
        "1 manufacturers, 2 retailers; both unless given.",
    ),
    "offset": Filter(value_types.integer(bounds=range(2**31)), "Index of the first organisation returned."),
    "limit": Filter(
        value_types.integer(bounds=range(1, 501)), "Most organisations returned; 20 unless given."
    ),
}

#: The parameters of product segments (spec, endpoint 9).
SEGMENT_PARAMETERS: Final[Mapping[str, Filter]] = {
    "permission": Filter(
        value_types.word(PERMISSIONS),
        "; ".join(f"{name}: {meaning}" for name, meaning in PERMISSIONS.items()) + ". READ unless given.",
    )
}


def read_query_string(
    pairs: Iterable[tuple[str, str]], among: Mapping[str, Filter] = FILTERS
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


def _read(name: str, value: Any, method: str, among: Mapping[str, Filter]) -> Any:
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
