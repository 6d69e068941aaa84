"""Every filter, declared once: its name on the wire, how it is given and sent, and its option on the command line.

Spec: the parameters of endpoints 4 (GET) and 5 (POST). The form in a GET query is the text of the form in a POST
body.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple

from prodex.query import values


def _unchanged(value: Any) -> Any:
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


class Form(StrEnum):
    """How a filter is given on the command line."""

    VALUE = "value"
    LIST = "list"
    LIST_OR_FILE = "list or file"
    FLAG = "flag"
    TIME = "time"
    WORDS = "words"


@dataclass(frozen=True)
class FilterKind:
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
    form
        How it is given on the command line.
    """

    read: Callable[[str, Any], Any]
    write: Callable[[Any], Any]
    parse: Callable[[Any], Any] = _unchanged
    by_get: bool = True
    form: Form = Form.LIST


class Filter(NamedTuple):
    """A filter of the service.

    Attributes
    ----------
    wire
        Its name on the wire.
    kind
        The type of its value.
    option
        Its option on the command line, without the hyphens.
    help
        The help of that option.
    """

    wire: str
    kind: FilterKind
    option: str
    help: str


def _time(unit: timedelta) -> FilterKind:
    return FilterKind(
        values.moment(unit),
        lambda value: (value - values.EPOCH) // unit,
        lambda count: values.EPOCH + int(count) * unit,
        form=Form.TIME,
    )


# GTINs and included fields go as JSON arrays in a POST body (endpoint 5); for other lists the specification has
# only the comma-separated form.
GTINS = FilterKind(values.gtins, list, form=Form.LIST_OR_FILE)
INCLUDED = FilterKind(values.paths, list)
EXCLUDED = FilterKind(values.paths, joined)
TEXTS = FilterKind(values.texts, joined)
LANGUAGES = FilterKind(values.languages, joined)
INTEGERS = FilterKind(values.integers, _number_or_joined)
VALIDATION = FilterKind(values.members(values.ValidationStatus, "VALIDATION_STATUS_"), _number_or_joined)
STATUSES = FilterKind(values.members(values.ProductStatus), joined)
SHARING = FilterKind(values.member(values.SharingStatus), int, form=Form.VALUE)
MARKET = FilterKind(values.market, _unchanged, form=Form.VALUE)
FLAG = FilterKind(values.true, _unchanged, form=Form.FLAG)
SECONDS = _time(values.SECOND)
# Moments of pictures count milliseconds, and all others seconds.
MILLISECONDS = _time(values.MILLISECOND)
SEARCH = FilterKind(values.search, _must, _from_must, by_get=False, form=Form.WORDS)

_DECLARED = (
    Filter("filter_gtins_in", GTINS, "gtin", "A GTIN (repeat), or @FILE with one per line."),
    Filter("updated_at_from", SECONDS, "updated-from", "Updated since then, as 2026-11-20T08:00+01:00."),
    Filter("updated_at_to", SECONDS, "updated-to", "Updated until then."),
    Filter("filter_validation_status_in", VALIDATION, "validation", "Validation status (repeat)."),
    Filter("filter_tags_in", TEXTS, "tag", "With this tag (repeat)."),
    Filter("filter_tags_not_in", TEXTS, "without-tag", "Without this tag (repeat)."),
    Filter("filter_source_include", INCLUDED, "include", "Load only this field (repeat)."),
    Filter("filter_source_exclude", EXCLUDED, "exclude", "Do not load this field (repeat)."),
    Filter(
        "filter_target_productstatus_in", STATUSES, "product-status", "Status on the retailer side (repeat)."
    ),
    Filter("status_shared_from", SHARING, "shared-from", "DRAFT, PENDING or ACCEPTED at the source."),
    Filter("status_shared_with", SHARING, "shared-with", "DRAFT, PENDING or ACCEPTED at the target."),
    Filter("filter_target_market", MARKET, "market", "Market, by ISO 3166-1 number or name."),
    Filter("filter_product_languages", LANGUAGES, "language", "Load only texts in this language (repeat)."),
    Filter("filter_has_packshot", FLAG, "packshot", "Only products with a packshot."),
    Filter("filter_has_no_packshot", FLAG, "no-packshot", "Only products without a packshot."),
    Filter(
        "filter_pictures_last_updated_at_from", MILLISECONDS, "pictures-from", "Pictures updated since then."
    ),
    Filter("filter_pictures_last_updated_at_to", MILLISECONDS, "pictures-to", "Pictures updated until then."),
    Filter("filter_active_range", FLAG, "active-range", "Only products in the active range."),
    Filter("filter_owners_in", INTEGERS, "owner", "Owner id (repeat)."),
    Filter(
        "advanced_search", SEARCH, "search", "WORD, or WORD@FIELD,FIELD (repeat: all words must be found)."
    ),
)

#: Field of `ProductQuery` -> its filter (spec, tables of endpoints 4 and 5): its name on the wire, without what
#: the service puts before some of them.
FILTERS: Mapping[str, Filter] = MappingProxyType(
    {one.wire.removeprefix("filter_").removeprefix("advanced_"): one for one in _DECLARED}
)

FIELD_OF_WIRE_NAME = {one.wire: field for field, one in FILTERS.items()}
