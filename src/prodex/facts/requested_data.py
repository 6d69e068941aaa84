"""How much of the data that a check needs was requested: all, a part, or nothing.

Data that were not requested are neither present nor missing. If only a part of the texts was requested, a wrong one
among them is still wrong and a present name is still present; any other verdict would be a guess.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum

from prodex.catalog import Origin
from prodex.catalog.origin import Extent
from prodex.locales import is_same_language, is_whole_language, known_language_tag, tag_of
from prodex.query import ALWAYS_REQUESTED
from prodex.tables.attributes import MEASURES, is_within
from prodex.tables.declaration import TABLES
from prodex.tables.declared_paths import home_of

#: Separates wire paths of which one is enough.
OR = " or "

#: Attributes that hold no texts: a choice of languages takes nothing from them. Those of the columns of `products`,
#: and those whose items are numbers with their units, or tables of their own.
_WITHOUT_TEXTS = frozenset(
    {
        *(path[0] for column in TABLES["products"].columns for path in column.paths if path),
        *ALWAYS_REQUESTED,
        *MEASURES,
        "originCountry",
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
    >>> from prodex.query import ProductQuery
    >>> origin = Origin("sandbox", ProductQuery(source_include=["nameLegal", "assets.pictures.url"]))
    >>> [asked_for(origin, [path]).name for path in ("nameLegal", "assets", "brand", "nameLegal or description")]
    ['ALL', 'PART', 'NOTHING', 'PART']
    """
    choices = []
    if (query := origin.query) is not None:
        excluded, languages = query.source_exclude or (), query.product_languages or ()
        choices.append(_Choice(query.source_include or None, excluded, languages))
    if (extent := origin.extent) is not None:
        choices.append(_Choice(extent.attributes, extent=extent))
    return min((_asked_for_any(one, path, language) for one in choices for path in needs), default=Asked.ALL)


@dataclass(frozen=True)
class _Choice:
    """What was chosen, by a query or by the columns of a file.

    Attributes
    ----------
    included
        Wire paths that alone are there; None where all are.
    left_out
        Wire paths that are not there.
    languages
        Languages that alone are there, of all texts; none where all are.
    extent
        The languages of the columns of a file, and what could not be read of them.
    """

    included: tuple[str, ...] | None = None
    left_out: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    extent: Extent | None = None


def _asked_for_any(choice: _Choice, paths: str, language: str | None) -> Asked:
    each = [_asked_for_path(choice, path, language) for path in paths.split(OR)]
    return Asked.PART if len(set(each)) > 1 else each[0]


def _asked_for_path(choice: _Choice, path: str, language: str | None) -> Asked:
    if path == EVERYTHING:
        is_restricted = choice.included is not None or choice.left_out or choice.languages
        return Asked.PART if is_restricted else Asked.ALL
    if path == EVERY_TEXT:
        return _every_text(choice, language)
    # Requesting `nameLegal.data` is requesting the name: the service adds the language.
    asked = [_whole_text(one) for one in choice.included or ()]
    # The language or unit of a text or number is not the text or number.
    asked = [one for one in asked if ".expressedIn." not in f"{one}."]
    included = [one for one in asked if is_within(path, one) or is_within(one, path)]
    if choice.included is not None and not included:
        return Asked.NOTHING
    left_out = choice.left_out
    if any(is_within(path, one) or (is_within(one, path) and one.endswith(".data")) for one in left_out):
        return Asked.NOTHING
    is_part = any(is_within(one, path) or _may_wrap(one, path) for one in left_out)
    is_part |= bool(included) and not any(_is_included(one, path) for one in included)
    is_part |= choice.extent is not None and choice.extent.is_in_part(path)
    of_texts = (
        Asked.ALL if path.partition(".")[0] in _WITHOUT_TEXTS else _asked_for_texts(choice, path, language)
    )
    return min(of_texts, Asked.PART) if is_part else of_texts


def _asked_for_texts(choice: _Choice, path: str, language: str | None) -> Asked:
    """Return how many of the texts at a path, in a language or in all languages, were requested."""
    spoken = [] if choice.extent is None else [languages for _, languages in choice.extent.spoken(path)]
    spoken += [choice.languages] if choice.languages else []
    return min((_asked_in_language(languages, language) for languages in spoken), default=Asked.ALL)


def _asked_in_language(languages: Sequence[str], language: str | None) -> Asked:
    if language is None:
        return Asked.PART
    same = [one for one in languages if is_same_language(one, language)]
    if not same:
        return Asked.NOTHING
    # "fr-BE" is not all that is French.
    is_whole = any(is_whole_language(one) or tag_of(one) == tag_of(language) for one in same)
    return Asked.ALL if is_whole else Asked.PART


def _may_wrap(left_out: str, path: str) -> bool:
    """Say whether what was left out may have been around what is at a path: it is below a key that wraps values."""
    home = home_of(left_out)
    if home is None or not is_within(path, home.path):
        return False
    key = left_out[len(home.path) + 1 :].partition(".")[0]
    # Numbers, "data" and languages are keys of containers; others are of further attributes.
    return bool(key) and (not key.isidentifier() or key == "data" or known_language_tag(key) is not None)


def _is_included(included: str, path: str) -> bool:
    """Say whether a path was included with all that is needed: of a list, the items that have none of it as well."""
    lists = [one for one in _LISTS if is_within(path, one)]
    return is_within(path, included) and all(is_within(one, included) for one in lists)


def _whole_text(path: str) -> str:
    name = path.removesuffix(".data")
    return name if name in _LOCALIZED else path


def _every_text(choice: _Choice, language: str | None) -> Asked:
    if choice.languages and _asked_in_language(choice.languages, language) is Asked.NOTHING:
        return Asked.NOTHING
    if choice.included is not None and _top_attributes(choice.included) <= _WITHOUT_TEXTS:
        return Asked.NOTHING
    is_part = choice.included is not None or choice.languages
    return Asked.PART if is_part or not _top_attributes(choice.left_out) <= _WITHOUT_TEXTS else Asked.ALL


def _top_attributes(paths: Iterable[str]) -> set[str]:
    return {path.partition(".")[0] for path in paths} - {"lastRequest"}  # the product's own texts are meant
