"""`advanced_search`, read as one expression of SQLite's full text search.

Every word of a query is quoted, so that nothing in it is an operator. A product matches an entry when one of
the entry's fields holds all words of its query, in any of the field's languages, whatever their case or
accents; it matches the search when it matches every entry (spec, endpoint 5).
"""

from __future__ import annotations

from typing import Any, Final

from prodex.sandbox.wire import storable

#: The fields that can be searched (spec, endpoint 5) -> their columns in the index.
SEARCH_FIELDS: Final = {
    "namePublicLong.data": "name_public_long",
    "composition.data": "composition",
    "allergens.data": "allergens",
    "brand.label": "brand_label",
    "kind.label": "kind_label",
    "description.data": "description",
}

# More than anybody types, and few enough to be answered at once.
_MOST_WORDS: Final = 64
_MOST_ENTRIES: Final = 32


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
    _check_keys(search, {"must"}, "it")
    if not isinstance(search["must"], list):
        raise ValueError("must is not an array")  # noqa: TRY004 - one error for a wrong value
    if len(search["must"]) > _MOST_ENTRIES:
        raise ValueError(f"must holds {len(search['must'])} entries; {_MOST_ENTRIES} are the most")
    return " AND ".join(_entry(entry, f"must[{index}]") for index, entry in enumerate(search["must"])) or None


def _entry(entry: Any, where: str) -> str:
    _check_keys(entry, {"query", "fields"}, where)
    query, fields = entry["query"], entry["fields"]
    if not isinstance(query, str):
        raise ValueError(f"{where}.query is {query!r}, not a string")  # noqa: TRY004 - one error for a wrong value
    # A zero byte would end the expression.
    words = [word for word in storable(query).replace("\0", " ").split() if any(map(str.isalnum, word))]
    if not words:
        raise ValueError(f"{where}.query is {query!r}, which holds no word to look for")
    if len(words) > _MOST_WORDS:
        raise ValueError(f"{where}.query holds {len(words)} words; {_MOST_WORDS} are the most")
    if not isinstance(fields, list) or not fields:
        raise ValueError(f"{where}.fields is {fields!r}, not an array of fields")
    for field in fields:
        if not isinstance(field, str) or field not in SEARCH_FIELDS:
            raise ValueError(
                f"{where}.fields holds {field!r}, which is not one of {', '.join(SEARCH_FIELDS)}"
            )
    every_word = " AND ".join('"' + word.replace('"', '""') + '"' for word in words)
    return "(" + " OR ".join(f"({SEARCH_FIELDS[field]} : ({every_word}))" for field in fields) + ")"


def _check_keys(value: Any, keys: set[str], where: str) -> None:
    if not isinstance(value, dict) or value.keys() != keys:
        raise ValueError(f"{where} is not an object of {' and '.join(sorted(keys))}")
