"""What is taken from a record to find it by: the columns of filters, and the texts of `advanced_search`.

Records are as messy as suppliers are: a value of an unexpected type is left out, and is never an error.

A search becomes one expression of SQLite's full text search, in which every word is quoted, so that nothing in it is an
operator. A product matches an entry when one of the entry's fields holds all words of its query, in any of the field's
languages, whatever their case or accents; it matches the search when it matches every entry (spec, endpoint 5).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Final, TypedDict

import msgspec
from msgspec import Meta

from prodex_sandbox.raw_json import decode, storable
from prodex_sandbox.records.schemas import ClosedObject

#: The fields that can be searched (spec, endpoint 5), each a member of an attribute -> their columns in the index.
SEARCH_FIELDS: Final = {
    "namePublicLong.data": "name_public_long",
    "composition.data": "composition",
    "allergens.data": "allergens",
    "brand.label": "brand_label",
    "kind.label": "kind_label",
    "description.data": "description",
}

# More than anybody types, and few enough to be answered at once.
_MAX_WORDS: Final = 64
_MAX_ENTRIES: Final = 32


SearchField = Annotated[str, Meta(extra_json_schema={"enum": list(SEARCH_FIELDS)})]


class SearchEntry(ClosedObject):
    """A word that one of some fields has to hold (spec, endpoint 5)."""

    query: Annotated[str, Meta(min_length=1, examples=["chocolate"])]
    fields: Annotated[list[SearchField], Meta(min_length=1)]


class AdvancedSearch(ClosedObject):
    """A text search: every entry of `must` has to match (spec, endpoint 5)."""

    must: Annotated[list[SearchEntry], Meta(max_length=_MAX_ENTRIES)]


def full_text_expression(search: Any) -> str | None:
    """Turn an `advanced_search` object into an FTS5 expression; None when it asks for nothing.

    Raises
    ------
    ValueError
        When it is not as documented; the message says where.

    Examples
    --------
    >>> full_text_expression({"must": [{"query": "dark chocolate", "fields": ["brand.label", "kind.label"]}]})
    '((brand_label : ("dark" AND "chocolate")) OR (kind_label : ("dark" AND "chocolate")))'
    """
    _check_members(search, AdvancedSearch, "it")
    if not isinstance(search["must"], list):
        raise ValueError("must is not an array")  # noqa: TRY004 - one error for a wrong value
    if len(search["must"]) > _MAX_ENTRIES:
        raise ValueError(f"must holds {len(search['must'])} entries; at most {_MAX_ENTRIES} are allowed")
    return " AND ".join(_entry(entry, f"must[{index}]") for index, entry in enumerate(search["must"])) or None


def _entry(entry: Any, where: str) -> str:
    _check_members(entry, SearchEntry, where)
    query, fields = entry["query"], entry["fields"]
    if not isinstance(query, str):
        raise ValueError(f"{where}.query is {query!r}, not a string")  # noqa: TRY004 - one error for a wrong value
    # A zero byte would end the expression.
    # Signs alone are no words for the tokenizer, and an expression without a word is an error.
    words = [word for word in storable(query).replace("\0", " ").split() if any(map(str.isalnum, word))]
    if not words:
        raise ValueError(f"{where}.query is {query!r}, which holds no word to look for")
    if len(words) > _MAX_WORDS:
        raise ValueError(f"{where}.query holds {len(words)} words; at most {_MAX_WORDS} are allowed")
    if not isinstance(fields, list) or not fields:
        raise ValueError(f"{where}.fields is {fields!r}, not an array of fields")
    for field in fields:
        if not isinstance(field, str) or field not in SEARCH_FIELDS:
            raise ValueError(
                f"{where}.fields holds {field!r}, which is not one of {', '.join(SEARCH_FIELDS)}"
            )
    every_word = " AND ".join('"' + word.replace('"', '""') + '"' for word in words)
    return "(" + " OR ".join(f"({SEARCH_FIELDS[field]} : ({every_word}))" for field in fields) + ")"


def _check_members(value: Any, model: type[msgspec.Struct], where: str) -> None:
    names = model.__struct_fields__
    if not isinstance(value, dict) or value.keys() != set(names):
        raise ValueError(f"{where} is not an object of {' and '.join(sorted(names))}")


_IDS: Final = range(2**62)
#: Each field that can be searched, its attribute, and the member of that.
_SEARCHED: Final = tuple((field, *field.split(".")) for field in SEARCH_FIELDS)
_SEARCHED_MEMBERS: Final = msgspec.json.Decoder(
    TypedDict("_SearchedMembers", {name: Any for _, name, _ in _SEARCHED}, total=False)  # type: ignore[operator]
)


class IndexedValues(msgspec.Struct, frozen=True, gc=False):
    """One product, as the filters see it.

    Attributes
    ----------
    updated_at
        UNIX time in seconds, or None.
    pictures_updated_at
        UNIX time in milliseconds, or None.
    consumer_unit
        Whether it is a consumer unit or a display unit.
    """

    id: int | None
    uuid: str | None
    gtin: str | None
    updated_at: int | None
    pictures_updated_at: int | None
    has_packshot: bool
    consumer_unit: bool


def indexed_values(record: dict[str, Any]) -> IndexedValues:
    """Take the facts from a record."""
    id_ = record.get("id")
    updated_at = _unix_time(record.get("updatedAt"))
    pictures_updated_at = _unix_time(next(iter(values_at(record, "assets.lastUpdatedAt.pictures")), None))
    return IndexedValues(
        # SQLite holds integers of 64 bits; records may hold larger ones.
        id=id_ if isinstance(id_, int) and id_ in _IDS else None,
        uuid=_text(record.get("uuid")),
        gtin=_text(record.get("gtin")),
        updated_at=None if updated_at is None else int(updated_at),
        pictures_updated_at=None if pictures_updated_at is None else round(pictures_updated_at * 1000),
        has_packshot=True in [value is True for value in values_at(record, "assets.pictures.isPackshot")],
        consumer_unit=record.get("isConsumerUnit") is True or record.get("isDisplayUnit") is True,
    )


def searched_texts(record: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what `advanced_search` looks through in a record: a text for each of `SEARCH_FIELDS`."""
    return tuple([_text_of(record.get(name), member) for _, name, member in _SEARCHED])


def searched_texts_of(body: bytes) -> tuple[str, ...]:
    """Return the `searched_texts` of a stored record, of which nothing else is decoded."""
    try:
        return searched_texts(_SEARCHED_MEMBERS.decode(body))
    except msgspec.DecodeError:
        return searched_texts(decode(body))


def values_at(value: Any, path: str) -> list[Any]:
    """Return the values at a dotted path, through objects and lists."""
    found = [value]
    for name in path.split("."):
        items = [item for one in found for item in (one if isinstance(one, list) else (one,))]
        found = [item[name] for item in items if isinstance(item, dict) and name in item]
    return found


def _text(value: Any) -> str | None:
    return storable(value) if isinstance(value, str) else None


def _text_of(value: Any, member: str) -> str:
    items = value if isinstance(value, list) else [value]
    texts = [item.get(member) for item in items if isinstance(item, dict)]
    return storable("\n".join([text for text in texts if isinstance(text, str)]))


def _unix_time(value: Any) -> float | None:
    try:
        moment = datetime.fromisoformat(value)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None
