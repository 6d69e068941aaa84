"""How much of the data that a check needs was requested: all, a part, or nothing.

Data that were not requested are neither present nor missing. If only a part of the texts was requested, a wrong one
among them is still wrong and a present name is still present; any other verdict would be a guess.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from prodex.catalog import Origin
from prodex.locales import short_of
from prodex.query import ALWAYS_REQUESTED, ProductQuery
from prodex.tables.declaration import TABLES

#: Separates wire paths of which one is enough.
OR = " or "

#: Attributes that hold no texts: a choice of languages takes nothing from them. Those of the columns of `products`,
#: and those whose items are numbers with their units, or tables of their own.
_WITHOUT_TEXTS = frozenset(
    {
        *(path[0] for column in TABLES["products"].columns for path in column.paths if path),
        *ALWAYS_REQUESTED,
        *("netContent", "netWeight", "grossWeight", "height", "width", "depth", "temperature"),
        *("percentageOfAlcoholByVolume", "suggestedRetailPrice", "dutyFeeTax", "originCountry"),
        *("assets", "isPartitionedBy", "logisticalHierarchies", "isLabeledBy", "hasTags", "isTaggedBy"),
    }
)


#: Arrays of texts, of which `data` is all that is looked at (spec, Product).
_LOCALIZED = (
    *("nameLegal", "namePublicShort", "namePublicLong", "description"),
    *("composition", "allergens", "productionVariantName"),
)

#: Lists of objects: where only a part of each object is asked for, those without it are left out.
_LISTS = tuple(anchor for table in TABLES.values() if table.name != "products" for anchor in table.anchors)

#: Wildcards: every attribute that may hold a text, and everything that a product may hold.
EVERY_TEXT, EVERYTHING = "*", "**"


class Asked(IntEnum):
    """How much was requested."""

    NOTHING = 0
    PART = 1
    ALL = 2


def asked_for(origin: Origin, needs: Iterable[str], language: str | None = None) -> Asked:
    """Return how much of the needed data was requested.

    Parameters
    ----------
    origin
        What the catalogue was asked for.
    needs
        Wire paths; of "nameLegal or description" one is enough, and both are all of it.
    language
        Short code of the language that alone is looked at.

    Examples
    --------
    >>> origin = Origin("sandbox", ProductQuery(source_include=["nameLegal", "assets.pictures.url"]))
    >>> [asked_for(origin, [path]).name for path in ("nameLegal", "assets", "brand", "nameLegal or description")]
    ['ALL', 'PART', 'NOTHING', 'PART']
    """
    if origin.query is None:
        return Asked.ALL
    return min((_one_of(origin.query, path, language) for path in needs), default=Asked.ALL)


def _one_of(query: ProductQuery, paths: str, language: str | None) -> Asked:
    each = [_path(query, path, language) for path in paths.split(OR)]
    return Asked.PART if len(set(each)) > 1 else each[0]


def _path(query: ProductQuery, path: str, language: str | None) -> Asked:
    if path == EVERYTHING:
        is_restricted = query.source_include or query.source_exclude or query.product_languages
        return Asked.PART if is_restricted else Asked.ALL
    if path == EVERY_TEXT:
        return _every_text(query, language)
    # Requesting `nameLegal.data` is requesting the name: the language comes with it.
    asked = [_whole_text(one) for one in query.source_include or ()]
    # The language or unit of a text or number is not the text or number.
    asked = [one for one in asked if ".expressedIn." not in f"{one}."]
    included = [one for one in asked if is_within(path, one) or is_within(one, path)]
    if query.source_include and not included:
        return Asked.NOTHING
    left_out = query.source_exclude or ()
    if any(is_within(path, one) or (is_within(one, path) and one.endswith(".data")) for one in left_out):
        return Asked.NOTHING
    is_part = any(is_within(one, path) for one in left_out)
    is_part |= bool(included) and not any(_holds(one, path) for one in included)
    of_texts = Asked.ALL if path.partition(".")[0] in _WITHOUT_TEXTS else _in_language(query, language)
    return min(of_texts, Asked.PART) if is_part else of_texts


def _in_language(query: ProductQuery, language: str | None) -> Asked:
    """Return how many of the texts in a language, or in all languages, were requested."""
    if not query.product_languages:
        return Asked.ALL
    if language is None:
        return Asked.PART
    if not any(short_of(one) == short_of(language) for one in query.product_languages):
        return Asked.NOTHING
    # "fr-BE" is not all that is French.
    return Asked.ALL if short_of(language) in query.product_languages else Asked.PART


def _holds(included: str, path: str) -> bool:
    """Say whether a path was included with all that is needed: of a list, the items that have none of it as well."""
    lists = [one for one in _LISTS if is_within(path, one)]
    return is_within(path, included) and all(is_within(one, included) for one in lists)


def _whole_text(path: str) -> str:
    name = path.removesuffix(".data")
    return name if name in _LOCALIZED else path


def _every_text(query: ProductQuery, language: str | None) -> Asked:
    if _in_language(query, language) is Asked.NOTHING:
        return Asked.NOTHING
    if query.source_include and _roots(query.source_include) <= _WITHOUT_TEXTS:
        return Asked.NOTHING
    is_part = query.source_include or query.product_languages
    return Asked.PART if is_part or not _roots(query.source_exclude or ()) <= _WITHOUT_TEXTS else Asked.ALL


def _roots(paths: Iterable[str]) -> set[str]:
    return {path.partition(".")[0] for path in paths} - {"lastRequest"}  # the product's own texts are meant


def is_within(path: str, outer: str) -> bool:
    """Whether a wire path is another one or lies below it.

    >>> is_within("assets.pictures", "assets"), is_within("assetsOf", "assets")
    (True, False)
    """
    return path == outer or path.startswith(f"{outer}.")
