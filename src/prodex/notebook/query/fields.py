"""Every filter of a query, declared once: its control, and how its value is read from and written to a query."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import partial
from html import escape
from typing import Any

from prodex.notebook.query import controls, options
from prodex.notebook.query.controls import SearchWords
from prodex.query import FILTERS, ProductQuery
from prodex.query.filters import Filter, Form


class FieldGroup(Enum):
    """The group in which a control is shown; the value is its title."""

    FRONT = "in front"
    PERIOD = "Updated"
    WORDS = "words"
    STATUS = "Status, sharing and tags"
    MORE = "GTINs, owners, pictures, active range"
    ANSWER = "Languages and fields to load"
    EXPERT = "Other filters, as JSON"


@dataclass(frozen=True)
class QueryField:
    """A control of the query panel.

    Attributes
    ----------
    names
        The fields of `ProductQuery` that it fills.
    make
        Makes the control, which shows and changes its trait `value`.
    place
        Its group.
    shown
        Returns the value of the control for a query.
    given
        Returns the fields of a query for a value of the control; None is no filter.
    hint
        The note below it.
    """

    names: tuple[str, ...]
    make: Callable[[], Any]
    place: FieldGroup
    shown: Callable[[ProductQuery], Any]
    given: Callable[[Any], Mapping[str, Any]]
    hint: str = ""


FRONT, PERIOD, WORDS, STATUS, MORE, ANSWER, EXPERT = FieldGroup


def _one(
    name: str,
    make: Callable[[], Any],
    place: FieldGroup,
    shown: Callable[[Any], Any],
    given: Callable[[Any], Any],
    hint: str = "",
) -> QueryField:
    """Declare a control of one field."""
    return QueryField(
        (name,),
        make,
        place,
        lambda query: shown(getattr(query, name)),
        lambda value: {name: given(value)},
        hint,
    )


def _or(empty: Any) -> Callable[[Any], Any]:
    """Return what replaces an empty value: controls hold no None, and a query has None for "no filter"."""
    return lambda value: value or empty


def _list_field(name: str, title: str, example: str, place: FieldGroup) -> QueryField:
    return _one(
        name, lambda: controls.text_line(title, example), place, controls.written, controls.typed_list
    )


def _moment_field(name: str, title: str, place: FieldGroup) -> QueryField:
    return _one(name, lambda: controls.date_time(title), place, controls.shown_moment, controls.moment)


def _choice(name: str, title: str, options: Callable[[], controls.Options], place: FieldGroup) -> QueryField:
    return _one(name, lambda: controls.ChoiceControl(title, options()), place, _or(""), _or(None))


def _toggles(name: str, title: str, options: Callable[[], controls.Options]) -> QueryField:
    return _one(name, lambda: controls.ToggleControl(title, options()), STATUS, _or(()), _or(None))


def _packshot_of(query: ProductQuery) -> str:
    return "with" if query.has_packshot else "without" if query.has_no_packshot else ""


#: One control for two filters of the service: both at once would match nothing.
_PACKSHOT = (("with or without", ""), ("with a packshot", "with"), ("without a packshot", "without"))
_ACTIVE = (("all products", ""), ("only products in it", True))

_DESIGNED: tuple[QueryField, ...] = (
    _choice("target_market", "Target market", options.markets, FRONT),
    _moment_field("updated_at_from", "Updated from (UTC)", PERIOD),
    _moment_field("updated_at_to", "Updated until (UTC)", PERIOD),
    _one(
        "search",
        lambda: SearchWords(options.searched_fields(), options.FIRST_SEARCHED),
        WORDS,
        _or(()),
        controls.words,
        "All words must match; the service decides whether a part of a word does (in the sandbox none does). There is "
        "no filter by category: type the name of a kind, or load a market and filter it by category under Products.",
    ),
    _toggles("target_productstatus_in", "Status at the retailer", options.product_statuses),
    _toggles("validation_status_in", "Validation status", options.validation_statuses),
    _choice("status_shared_from", "Sharing status at the manufacturer", options.sharing_statuses, STATUS),
    _choice("status_shared_with", "Sharing status at the retailer", options.sharing_statuses, STATUS),
    _list_field("tags_in", "Tag is on", "such as exportable, new", STATUS),
    _list_field("tags_not_in", "Tag is off", "such as blocked", STATUS),
    _one(
        "gtins_in",
        lambda: controls.PasteControl("GTINs", "Paste a column of a spreadsheet", controls.read_gtins),
        MORE,
        lambda value: "\n".join(value or ()),
        controls.gtins,
    ),
    _one(
        "owners_in",
        lambda: controls.ListControl(
            "Owners (suppliers), by number", "an owner", [], "numbers, such as 11, 12"
        ),
        MORE,
        controls.written,
        controls.numbers,
    ),
    QueryField(
        ("has_packshot", "has_no_packshot"),
        lambda: controls.ChoiceControl("Packshot (picture of the packed product)", _PACKSHOT),
        MORE,
        _packshot_of,
        lambda value: {
            "has_packshot": value == "with" or None,
            "has_no_packshot": value == "without" or None,
        },
    ),
    _moment_field("pictures_last_updated_at_from", "Pictures updated from (UTC)", MORE),
    _moment_field("pictures_last_updated_at_to", "Pictures updated until (UTC)", MORE),
    _choice("active_range", "Active range of the retailer", lambda: _ACTIVE, MORE),
    _one(
        "product_languages",
        lambda: controls.ListControl(
            "Languages",
            "a language",
            options.language_options(),
            "all languages",
            note=lambda text: escape(options.language_names(text)),
        ),
        ANSWER,
        controls.written,
        controls.typed_list,
        "Leaves out texts in other languages; the same products are returned.",
    ),
    QueryField(
        ("source_include",),
        lambda: controls.PresetControl("Return", options.INCLUDED),
        ANSWER,
        controls.shown_paths,
        lambda text: {"source_include": controls.typed_list(text)},
        "Keys and dates are always included.",
    ),
    _one(
        "source_exclude",
        lambda: controls.PresetControl("Leave out", options.EXCLUDED),
        ANSWER,
        controls.written,
        controls.typed_list,
    ),
    _one(
        "extra",
        lambda: controls.text_area("Further filters, as JSON", '{"allow_not_consumer_units": true}'),
        EXPERT,
        controls.shown_extra,
        controls.extra,
        "Sent to the service unchanged.",
    ),
)


def _made_of(name: str, one: Filter) -> QueryField:
    """Declare the control of a filter for which nobody has designed one, by the form of its values."""
    title = one.option.replace("-", " ").capitalize()
    if one.kind.form is Form.FLAG:
        return _choice(name, title, lambda: (("all products", ""), (one.help, True)), MORE)
    if one.kind.form is Form.TIME:
        return _moment_field(name, f"{title} (UTC)", MORE)
    if one.kind.form is Form.VALUE:
        line = partial(controls.text_line, title, "")
        return _one(name, line, MORE, _or(""), _or(None), one.help)
    return _list_field(name, title, "", MORE)


#: The controls, in the order in which they are shown. A filter that is new has one at once.
FIELDS: tuple[QueryField, ...] = (
    *_DESIGNED,
    *(
        _made_of(name, one)
        for name, one in FILTERS.items()
        if not any(name in field.names for field in _DESIGNED)
    ),
)


def count_given(query: ProductQuery, place: FieldGroup) -> int:
    """Return how many filters of a query have their control in a group."""
    return sum(bool(getattr(query, name)) for field in FIELDS if field.place is place for name in field.names)


def control_values(query: ProductQuery) -> list[Any]:
    """Return the values of the controls for a query, in the order of `FIELDS`."""
    return [field.shown(query) for field in FIELDS]


def asked(values: list[Any]) -> ProductQuery:
    """Return the query for the values of the controls.

    Raises
    ------
    QueryError
        When a value cannot be read, or two contradict each other.
    """
    # A query is made at once of all values, since its fields are checked against each other.
    given: dict[str, Any] = {}
    for field, value in zip(FIELDS, values, strict=True):
        given |= field.given(value)
    return ProductQuery(**given)
