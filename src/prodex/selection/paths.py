"""Which attributes decide whether a product is meant: what was not asked for decides nothing."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from prodex.locales import short_of
from prodex.selection.plain import MARKET
from prodex.selection.selection import Selection
from prodex.tables.declaration import COUNTED, TABLES

#: Kinds of groups -> the wire path of what they are made by.
GROUP_PATHS: Mapping[str, str] = MappingProxyType(
    {
        "category": "GPC.code",
        "kind": "kind.code",
        "brand": "brand.code",
        "owner": "owner",
        "market": "product_key.target_market_id",
        "language": "namePublicLong",
        "tag": "hasTags",
        "status": "targetProductStatus",
        "sharing": "manufacturerSharingStatus",
        "packshot": "assets.pictures.isPackshot",
        "unit": "isConsumerUnit",
        "packaging": "typePackaging.code",
        "pending": "lastRequest",
    }
)

#: How the names of groups begin that are made by the state of an attribute, and by any column.
FILL, COLUMN = "fill:", "column:"
#: The attributes that consumer units lack, or those units that a condition beside it names; and, whatever is beside it,
#: those that consumer units lack, and those that any product lacks.
MISSING, MISSING_OF_CONSUMERS, MISSING_OF_ALL = "missing", "missing:consumer", "missing:all"
LACKED = (MISSING, MISSING_OF_CONSUMERS, MISSING_OF_ALL)
#: How the names of groups begin that requirements make: of each channel whether a product is complete, and what it
#: lacks. `FAMILY` are the families of the requirements.
COMPLETE, LACKING, FAMILY = "complete:", "lacking:", "family"

_COLUMNS = {column.name: column for column in TABLES["products"].columns}
#: Wire paths of the columns that are no leaf of their own.
_DERIVED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        MARKET: ("product_key.target_market_id",),
        "has_pending_update": ("lastRequest",),
        "product_id": (),
        "gtin": (),
    }
)


def wire_paths(column: str) -> tuple[str, ...]:
    """Return the wire paths of a column of `products`, or of the market; none of one that every reply has.

    >>> wire_paths("brand_code"), wire_paths("gtin"), wire_paths("market")
    (('brand.code',), (), ('product_key.target_market_id',))
    """
    if column in _DERIVED:
        return _DERIVED[column]
    table = column.removesuffix("_count")
    if table in COUNTED:
        return TABLES[table].anchors
    return tuple(".".join(path) for path in _COLUMNS[column].paths[:1])


def attribute_of_code(code: str) -> tuple[str, str | None]:
    """Return the attribute and the language of the code of a lacking attribute; the language is None for any.

    People write a language in any form, and what is filled is known by its short code.

    >>> attribute_of_code("namePublicLong:fra-FR"), attribute_of_code("assets.pictures"), attribute_of_code("x:y:")
    (('namePublicLong', 'fr'), ('assets.pictures', None), ('x:y', None))
    """
    attribute, colon, language = code.rpartition(":")
    return (attribute, short_of(language) if language else None) if colon else (code, None)


def paths_of(selection: Selection) -> set[str]:
    """Return the wire paths of what decides which products are meant; what an audit finds, and words, have none.

    >>> sorted(paths_of(Selection.of(brand_code="ACME") | Selection().toggled("fill:netContent", "empty")))
    ['brand.code', 'netContent']
    """
    found: set[str] = set()
    for one in selection.every():
        for column in (*one.columns, *one.ranges):
            quantity, bracket, _ = column.rpartition(" [")
            if column in _COLUMNS or column in _DERIVED:
                found.update(wire_paths(column))
            elif bracket:
                found.add(quantity)
        for name, codes in one.groups.items():
            if name in LACKED:
                found.update(attribute_of_code(code)[0] for code in codes if code is not None)
            elif name.startswith(FILL):
                found.add(attribute_of_code(name.removeprefix(FILL))[0])
            elif name.startswith(COLUMN) and name.removeprefix(COLUMN) in _COLUMNS:
                found.update(wire_paths(name.removeprefix(COLUMN)))
            elif name in GROUP_PATHS:
                found.add(GROUP_PATHS[name])
    return found


def languages_of(selection: Selection) -> set[str]:
    """Return the short codes of the languages whose texts decide which products are meant, beside those of words.

    >>> languages_of(Selection().toggled("fill:nameLegal:fra-FR", "empty").toggled("missing", "nameLegal"))
    {'fr'}
    """
    found: set[str | None] = set()
    for one in selection.every():
        for name, codes in one.groups.items():
            if name in LACKED:
                found.update(attribute_of_code(code)[1] for code in codes if code is not None)
            elif name.startswith(FILL):
                found.add(attribute_of_code(name.removeprefix(FILL))[1])
            elif name == "language":
                found.update(codes)
    return {short_of(language) for language in found if language is not None}


def is_of_requirements(name: str) -> bool:
    """Return whether groups exist with an audit by requirements only."""
    return name == FAMILY or name.startswith((COMPLETE, LACKING))


def needs_audit(selection: Selection) -> bool:
    """Return whether a selection asks for anything that an audit has found.

    >>> needs_audit(~Selection().toggled("grade", "A")), needs_audit(Selection.of(brand_code="ACME"))
    (True, False)
    >>> needs_audit(Selection().toggled("complete:Web shop", "complete"))
    True
    """
    return any(
        one.failing
        or "score" in one.ranges
        or any(name == "grade" or is_of_requirements(name) for name in one.groups)
        for one in selection.every()
    )
