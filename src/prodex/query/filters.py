"""Every filter, declared once: its name on the wire, the forms it is given in, and its forms on the wire.

Spec: the parameters of endpoints 4 (GET) and 5 (POST). The form in a GET query is the text of the form in a POST
body.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType
from typing import Any

from prodex.query import values


def _same(value: Any) -> Any:
    return value


def joined(values: Iterable[object]) -> str:
    """Write a list in the comma-separated form."""
    return ",".join(text(value) for value in values)


def text(value: object) -> str:
    """Write a value as a query string holds it: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def _number_or_joined(values: tuple[int, ...]) -> int | str:
    return int(values[0]) if len(values) == 1 else joined(values)


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
        values.moment(unit),
        lambda value: (value - values.EPOCH) // unit,
        lambda count: values.EPOCH + int(count) * unit,
    )


GTINS = Kind(values.gtins, list)
INCLUDED = Kind(values.paths, list)
EXCLUDED = Kind(values.paths, joined)
TEXTS = Kind(values.texts, joined)
LANGUAGES = Kind(values.languages, joined)
INTEGERS = Kind(values.integers, _number_or_joined)
VALIDATION = Kind(values.members(values.ValidationStatus, "VALIDATION_STATUS_"), _number_or_joined)
STATUSES = Kind(values.members(values.ProductStatus), joined)
SHARING = Kind(values.member(values.SharingStatus), int)
MARKET = Kind(values.market, _same)
FLAG = Kind(values.true, _same)
SECONDS = _time(values.SECOND)
MILLISECONDS = _time(values.MILLISECOND)
SEARCH = Kind(values.search, _must, _from_must, by_get=False)

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

FIELD_OF_WIRE_NAME = {wire: field for field, (wire, _) in FILTERS.items()}
