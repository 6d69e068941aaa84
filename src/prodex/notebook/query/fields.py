"""Every filter of a query, declared once: the control that shows it, and how what stands there is read and written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from html import escape
from typing import Any

from prodex.notebook.query import choices, controls, reading
from prodex.notebook.query.word_rows import WordRows
from prodex.query import ProductQuery


class Place(Enum):
    """Where a control stands."""

    FRONT = "in front"
    MORE = "More filters: GTINs, owners, pictures, range"
    ANSWER = "What is returned: languages and fields"
    EXPERT = "Filters that prodex does not know"


@dataclass(frozen=True)
class Field:
    """One control.

    Attributes
    ----------
    names
        The fields of `ProductQuery` that it fills.
    make
        Makes the control, which shows and changes its trait `value`.
    place
        Where it stands.
    shown
        From a query to what the control shows.
    given
        From what the control shows to the fields of a query; None is no filter.
    hint
        What is said below it.
    """

    names: tuple[str, ...]
    make: Callable[[], Any]
    place: Place
    shown: Callable[[ProductQuery], Any]
    given: Callable[[Any], Mapping[str, Any]]
    hint: str = ""


def _one(
    name: str,
    make: Callable[[], Any],
    place: Place,
    shown: Callable[[Any], Any],
    given: Callable[[Any], Any],
    hint: str = "",
) -> Field:
    """Declare a control of one field."""
    return Field(
        (name,),
        make,
        place,
        lambda query: shown(getattr(query, name)),
        lambda value: {name: given(value)},
        hint,
    )


def _none_as_empty(value: Any) -> Any:
    return value or ()


def _none_as_blank(value: Any) -> Any:
    return value or ""


def _empty_as_none(value: Any) -> Any:
    return value or None


def _text(name: str, title: str, example: str, place: Place) -> Field:
    return _one(name, lambda: controls.line(title, example), place, reading.written, reading.typed_list)


def _moment(name: str, title: str, place: Place) -> Field:
    return _one(name, lambda: controls.moment(title), place, reading.shown_moment, reading.moment)


def _choice(name: str, title: str, options: Callable[[], controls.Options], place: Place) -> Field:
    return _one(name, lambda: controls.Choice(title, options()), place, _none_as_blank, _empty_as_none)


def _toggles(name: str, title: str, options: Callable[[], controls.Options]) -> Field:
    return _one(name, lambda: controls.Toggles(title, options()), Place.FRONT, _none_as_empty, _empty_as_none)


def _packshot_of(query: ProductQuery) -> str:
    return "with" if query.has_packshot else "without" if query.has_no_packshot else ""


_PACKSHOT = (("with or without", ""), ("with a packshot", "with"), ("without a packshot", "without"))
_ACTIVE = (("all products", ""), ("only the active range", True))

#: The controls, in the order in which they stand.
FIELDS: tuple[Field, ...] = (
    _choice("target_market", "Target market", choices.markets, Place.FRONT),
    Field(
        ("has_packshot", "has_no_packshot"),
        lambda: controls.Choice("Packshot", _PACKSHOT),
        Place.FRONT,
        _packshot_of,
        lambda value: {
            "has_packshot": value == "with" or None,
            "has_no_packshot": value == "without" or None,
        },
    ),
    _moment("updated_at_from", "Updated from (UTC)", Place.FRONT),
    _moment("updated_at_to", "Updated until (UTC)", Place.FRONT),
    _text("tags_in", "With the tags", "exportable, new", Place.FRONT),
    _text("tags_not_in", "Without the tags", "blocked", Place.FRONT),
    _choice("status_shared_from", "Sharing status of the source", choices.sharing_statuses, Place.FRONT),
    _choice("status_shared_with", "Sharing status of the target", choices.sharing_statuses, Place.FRONT),
    _toggles("target_productstatus_in", "Status at the retailer", choices.product_statuses),
    _toggles("validation_status_in", "Validation status", choices.validation_statuses),
    _one(
        "search",
        lambda: WordRows(choices.searched_fields()),
        Place.FRONT,
        _none_as_empty,
        reading.words,
        "Every word has to be found, in any one of its fields.",
    ),
    _one(
        "gtins_in",
        lambda: controls.Paste("GTINs", "Paste a column of a spreadsheet", reading.read_gtins),
        Place.MORE,
        lambda value: "\n".join(value or ()),
        reading.gtins,
    ),
    _moment("pictures_last_updated_at_from", "Pictures updated from (UTC)", Place.MORE),
    _moment("pictures_last_updated_at_to", "Pictures updated until (UTC)", Place.MORE),
    _choice("active_range", "Range", lambda: _ACTIVE, Place.MORE),
    _one(
        "owners_in",
        lambda: controls.Listed("Owners", "an owner", [], "numbers, such as 11, 12"),
        Place.MORE,
        reading.written,
        reading.numbers,
    ),
    _one(
        "product_languages",
        lambda: controls.Listed(
            "Languages",
            "a language",
            choices.languages(),
            "all languages",
            note=lambda text: escape(choices.language_names(text)),
        ),
        Place.ANSWER,
        reading.written,
        reading.typed_list,
        "Texts in other languages are not sent; the products stay the same.",
    ),
    Field(
        ("source_include",),
        lambda: controls.Preset("Return", choices.INCLUDED),
        Place.ANSWER,
        reading.shown_paths,
        lambda text: {"source_include": reading.typed_list(text)},
        "Keys and dates always come along.",
    ),
    _one(
        "source_exclude",
        lambda: controls.Preset("Leave out", choices.EXCLUDED),
        Place.ANSWER,
        reading.written,
        reading.typed_list,
    ),
    _one(
        "extra",
        lambda: controls.area("Further filters, as JSON", '{"allow_not_consumer_units": true}'),
        Place.EXPERT,
        reading.shown_extra,
        reading.extra,
        "Sent to the service as they are.",
    ),
)


def count_given(query: ProductQuery, place: Place) -> int:
    """Return how many filters of a query have their control in a place."""
    return sum(bool(getattr(query, name)) for field in FIELDS if field.place is place for name in field.names)


def shown(query: ProductQuery) -> list[Any]:
    """Return what the controls show of a query, in the order of `FIELDS`."""
    return [field.shown(query) for field in FIELDS]


def asked(values: list[Any]) -> ProductQuery:
    """Return the query that the controls show.

    Raises
    ------
    QueryError
        When it cannot be read, or contradicts itself.
    """
    given: dict[str, Any] = {}
    for field, value in zip(FIELDS, values, strict=True):
        given |= field.given(value)
    return ProductQuery(**given)
