"""From what a person gives to what a filter holds.

Each function reads one kind of value; it gets the name of the field for its messages, and raises `QueryError` for
what the service could not understand, or not as it was meant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum, IntEnum, StrEnum
from typing import Any, TypeVar

from prodex import gtin, locales
from prodex.advice import PythonCall, advice
from prodex.arguments import is_one, listed, whole_number
from prodex.errors import InputError, QueryError
from prodex.phrases import hint_and_all
from prodex.written_numbers import is_rounded, written_whole


class ValidationStatus(IntEnum):
    """Validation status of a product (spec, "Product"; the fourth is known from a deployed service).

    Examples
    --------
    >>> import prodex
    >>> prodex.ProductQuery(validation_status_in=[prodex.query.ValidationStatus.NOT_OK]).to_body()
    {'filter_validation_status_in': 1}
    """

    NA = 0
    NOT_OK = 1
    OK = 2
    CORRECTION = 3


class SharingStatus(IntEnum):
    """Sharing status of a product (spec, "Sharing status").

    Examples
    --------
    >>> import prodex
    >>> prodex.ProductQuery(status_shared_with=prodex.query.SharingStatus.ACCEPTED).to_body()
    {'status_shared_with': 4}
    """

    DRAFT = 2
    PENDING = 3
    ACCEPTED = 4


class ProductStatus(StrEnum):
    """Product status on the retailer side (spec, "Product status on the retailer side").

    Examples
    --------
    >>> import prodex
    >>> prodex.ProductQuery(target_productstatus_in=[prodex.query.ProductStatus.TO_BE_VALIDATED]).to_body()
    {'filter_target_productstatus_in': 'TO_BE_VALIDATED'}
    """

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

Member = TypeVar("Member", bound=Enum)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LEAST_MILLISECONDS = 100_000_000_000  # as seconds the year 5138, as milliseconds 1973
SECOND = timedelta(seconds=1)
MILLISECOND = timedelta(milliseconds=1)


def several(name: str, value: object) -> list[Any]:
    """Take one value, a comma-separated string, or any iterable as a list of distinct values."""
    # Members of `ProductStatus` are texts as well, and none of them is a list.
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


def texts(name: str, value: object) -> tuple[str, ...]:
    items = several(name, value)
    for item in items:
        if not isinstance(item, str) or not item.strip() or "," in item:
            raise QueryError(f"{name} takes texts without commas, not {item!r}.")
    return tuple(dict.fromkeys(str(item).strip() for item in items))


def paths(name: str, value: object) -> tuple[str, ...]:
    paths = texts(name, value)
    for path in paths:
        if not re.fullmatch(r"[^\s.]+(\.[^\s.]+)*", path):
            raise QueryError(f"{name} takes dotted paths such as assets.pictures.url, not {path!r}.")
    return paths


def gtins(name: str, value: object) -> tuple[str, ...]:
    """Read GTINs; empty cells among them mean none."""
    given = gtins_given(name, value)
    if not given.texts:
        # Raises: nothing but empty cells is an empty list, and the service would send everything.
        several(name, [])
    for text, item in given.texts.items():
        refuse_rounded(name, text)
        if not gtin.has_digits(text):
            raise QueryError(
                f"{name} takes GTINs of up to 14 digits, not {item!r}. In a table, read the column as text."
            )
    return tuple(given.texts)


def integer(name: str, value: object) -> int:
    number = whole_number(value)
    if number is None and isinstance(value, str):
        with suppress(InputError):
            number = written_whole(value)
    if number is None:
        raise QueryError(f"{name} takes whole numbers, not {value!r:.60}.")
    return number


def integers(name: str, value: object) -> tuple[int, ...]:
    return tuple(dict.fromkeys(integer(name, item) for item in several(name, value)))


def true(name: str, value: object) -> bool:
    if str(value).lower() != "true":
        raise QueryError(
            f"{name} takes True, not {value!r}: the contract gives False no meaning, so leave it out. For "
            "products without a packshot there is has_no_packshot=True."
        )
    return True


def member(enum: type[Member], prefix: str = "") -> Callable[[str, object], Member]:
    """Read a member of an enumeration by its name, in any case, or by its value."""

    def read(name: str, value: object) -> Member:
        # The specification writes VALIDATION_STATUS_OK where people write "ok".
        word = (value.name if isinstance(value, Enum) else str(value)).strip().upper().removeprefix(prefix)
        word = word.replace(" ", "_").replace("-", "_")
        for member in enum:
            if word in (member.name, str(member.value)) and not isinstance(value, bool):
                return member
        allowed = ", ".join(
            member.name if isinstance(member.value, str) else f"{member.name} ({member.value})"
            for member in enum
        )
        near = hint_and_all(word, enum.__members__, f"It takes {allowed}.")
        raise QueryError(f"{name} does not know {value!r:.60}{near}")

    return read


def members(enum: type[Member], prefix: str = "") -> Callable[[str, object], tuple[Member, ...]]:
    read = member(enum, prefix)
    return lambda name, value: tuple(dict.fromkeys(read(name, item) for item in several(name, value)))


def market(name: str, value: object) -> int:
    return locales.market_code(value if isinstance(value, str) else integer(name, value))


def languages(name: str, value: object) -> tuple[str, ...]:
    tags = {text: locales.language_tag(text) for text in texts(name, value)}
    # A code stays as it is written, since both forms are in records; only a name has to become a code.
    return tuple(dict.fromkeys(text if "-" in text or len(text) <= 3 else tag for text, tag in tags.items()))


def moment(unit: timedelta) -> Callable[[str, object], datetime]:
    """Read a point in time, cut to the unit in which it is sent."""

    def read(name: str, value: object) -> datetime:
        if unit == SECOND and isinstance(value, int) and whole_number(value) is not None:
            if not 0 <= value < _LEAST_MILLISECONDS:
                raise QueryError(
                    f"{name} counts seconds since 1970, and {value} looks like milliseconds. "
                    "Divide it by 1000, or better, give an aware datetime."
                )
            return EPOCH + value * SECOND
        if not isinstance(value, datetime) or value != value:  # noqa: PLR0124 - NaT is a datetime, but no time
            whole = " or whole UNIX seconds" if unit == SECOND else ""
            raise QueryError(f"{name} takes an aware datetime{whole}, not {value!r}.")
        if value.utcoffset() is None:
            raise QueryError(
                advice(
                    "{name} got {value} without a time zone. Say which one is meant: {zoned}.",
                    name=name,
                    value=value.isoformat(),
                    zoned=PythonCall(
                        "datetime(..., tzinfo=UTC), or value.astimezone() for this machine's zone",
                        value=f"{value:%Y-%m-%dT%H:%M}",
                    ),
                )
            )
        # Earlier moments would be negative numbers on the wire, for which the specification has no meaning.
        if value < EPOCH:
            raise QueryError(f"{name} got {value.isoformat()}, which is before 1970, where UNIX time begins.")
        return EPOCH + ((value - EPOCH) // unit) * unit

    return read


def search(name: str, value: object) -> tuple[tuple[str, tuple[str, ...]], ...]:
    entries = [value] if isinstance(value, str) else value
    if not isinstance(entries, Iterable) or isinstance(entries, Mapping):
        raise QueryError(f"{name} takes a list of (word, fields), not {value!r}.")
    read = []
    for entry in entries:
        word, fields = (entry, SEARCH_FIELDS) if isinstance(entry, str) else _pair(name, entry)
        if not isinstance(word, str) or not word.strip():
            raise QueryError(f"{name} needs a word to look for, not {word!r}.")
        chosen = texts(name, fields)
        for field in chosen:
            if field not in SEARCH_FIELDS:
                fields_are = f"The fields are {', '.join(SEARCH_FIELDS)}."
                near = hint_and_all(field, SEARCH_FIELDS, fields_are)
                raise QueryError(f"{name} cannot look into {field!r}{near}")
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


@dataclass(frozen=True)
class GivenGtins:
    """GTINs that a person gave.

    Attributes
    ----------
    texts
        Each as it compares, once, with how it was given.
    blanks
        How many cells were empty.
    is_none
        Whether a single missing value was given, not a list with one.
    """

    texts: Mapping[str, Any]
    blanks: int = 0
    is_none: bool = False


def gtins_given(name: str, value: object) -> GivenGtins:
    """Read GTINs out of anything that holds values; a single text may hold several, with commas between.

    Raises
    ------
    QueryError
        When something in it can be no GTIN and is no empty cell either.

    Examples
    --------
    >>> gtins_given("gtin", [3036811359935.0, None, "03036811359935"])
    GivenGtins(texts={'03036811359935': 3036811359935.0}, blanks=1, is_none=False)
    """
    items = value.split(",") if isinstance(value, str) and "," in value else listed(name, value)
    texts: dict[str, Any] = {}
    blanks = 0
    for item in items:
        try:
            text = gtin.comparable(item)
        except InputError as error:
            raise QueryError(f"{name}: {error}") from error
        if text is None:
            blanks += 1
        else:
            texts.setdefault(text, item)
    return GivenGtins(texts, blanks, is_none=is_one(value) and not texts and not isinstance(value, str))


def refuse_rounded(name: str, text: str) -> None:
    """Refuse a number that a spreadsheet shortened: nobody can know which GTIN it was.

    Raises
    ------
    QueryError
        When the text is such a number.
    """
    if is_rounded(text):
        raise QueryError(
            advice(
                "{name}: {text} is what a spreadsheet shows of a long number; its last digits are lost. Format the "
                "column as text before it is saved{or_read}.",
                name=name,
                text=repr(text),
                or_read=PythonCall(", or read it with dtype=str"),
            )
        )
