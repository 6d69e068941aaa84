"""Attributes and languages that a person names: in the specification or in the catalogue, else the nearest ones.

The service writes a language as "fr" or "fra", and people say "French": all of these are one language here, of every
country. "fr-BE" and "fra-BE" are one variant of it, and none of the others.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog.catalog import Catalog
from prodex.catalog.cells import language_of, variants_of
from prodex.catalog.origin import Origin
from prodex.errors import QueryError
from prodex.locales import (
    is_meant,
    is_same_language,
    known_language_tag,
    language_tag,
    short_of,
    spelled_tag,
    tag_of,
)
from prodex.phrases import hint, nearest
from prodex.query import ProductQuery
from prodex.tables.attributes import ATTRIBUTES, PATHS, TEXTS, attribute_of, child_path, is_within
from prodex.tables.columns import by_value
from prodex.tables.declaration import TABLES

_BY_SHAPE = ("texts", "codes", "quantities", "scalars")
#: On the wire the path of a text or a quantity ends so; tables use the path of the attribute alone.
_DATA = ".data"
#: An unknown step of a path that is at least so similar to a known one in the same place is taken for a typing error.
_SLIP = 0.75
#: The name at the top of a product that a path begins with; dots in names are escaped.
_HEAD = re.compile(r"(?:[^.\\]|\\.)*", re.DOTALL)


class AttributeNames:
    """The attributes of a catalogue, by wire path."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    @cached_property
    def heads(self) -> set[str]:
        """Names at the top of a product: the specification's, and those that any product has in any form."""
        columns = (name for part in self._catalog.parts for name in part.columns("presence"))
        seen = (
            child_path("", attribute) for attribute in map(attribute_of, columns) if attribute is not None
        )
        return {*ATTRIBUTES, *seen}

    @cached_property
    def seen(self) -> set[str]:
        """Wire paths of rows, with all above them."""
        found: set[str] = set()
        tables = [*_BY_SHAPE, *(t.name for t in TABLES.values() if t.anchors and t.name != "products")]
        for table in tables:
            for path in pc.unique(self._catalog.arrow(table, ["attribute"])["attribute"]).to_pylist():
                while path and path not in found:
                    found.add(path)
                    path = path.rpartition(".")[0]  # noqa: PLW2901
        return found

    @cached_property
    def texts(self) -> set[str]:
        """Attributes that hold texts: the specification's, and those of which any product has one."""
        return {*TEXTS, *self._paths("texts")}

    @cached_property
    def _localized(self) -> set[str]:
        """Attributes that hold texts or quantities, whose values are under `data` on the wire."""
        return {*self.texts, *self._paths("quantities")}

    def _paths(self, table: str) -> list[str]:
        paths: list[str] = pc.unique(self._catalog.arrow(table, ["attribute"])["attribute"]).to_pylist()
        return paths

    @cached_property
    def _spoken(self) -> set[str]:
        """Text attributes with their languages, as the columns of `wide()` are called."""
        columns = ["attribute", "language"]
        rows = self._catalog.arrow("texts", columns).group_by(columns).aggregate([]).to_pylist()
        return {f"{row['attribute']}.{row['language']}" for row in rows}

    @cached_property
    def every(self) -> list[str]:
        return sorted({*self.heads, *PATHS, *self.seen})

    def attribute(self, given: str) -> str:
        """Return an attribute as tables name it.

        Raises
        ------
        QueryError
            When neither the specification nor any product knows it; the message names the nearest.
        """
        around = given.removesuffix(_DATA)
        path = around if given not in self.seen and around in self._localized else given
        head = _HEAD.match(path)[0]  # type: ignore[index]
        if given in TABLES["products"].schema.names and given not in self.heads:
            raise QueryError(
                f"{given!r} is a column of products, not an attribute: wide(columns=[{given!r}])."
            )
        if head not in self.heads:
            there = "catalog.presence has a column for each attribute of a product."
            raise QueryError(f"There is no attribute {given!r:.80}{hint(given, self.every, there)}")
        if path == head or path in self.seen or any(is_within(known, path) for known in PATHS):
            return path
        around, _, last = path.rpartition(".")
        if last in {"code", "label", "description"} and around in self.seen:
            return path
        if f"{around}.{last}" in self._spoken:
            raise QueryError(
                f"{given!r} is an attribute and a language: wide(language={last!r}, attributes=[{around!r}])."
            )
        if near := self._slip(path):
            raise QueryError(f"There is nothing at {given!r}; did you mean {near!r}?")
        # Below the top, attributes are open: a path that no product has filled so far may still be right.
        return path

    def _slip(self, path: str) -> str | None:
        """Return the path that was meant where one step of it is nearly what is known at that place."""
        known = {*PATHS, *self.seen}
        *around, last = path.split(".")
        while around:
            place = ".".join(around) + "."
            steps = {one.removeprefix(place).partition(".")[0] for one in known if one.startswith(place)}
            if last not in steps and (near := nearest(last, sorted(steps), _SLIP)):
                return place + near
            *around, last = around
        return None

    def knows(self, column: str, languages: Sequence[str] | None) -> bool:
        """Whether this is the column of an attribute that nobody has filled."""
        if column in self.heads or any(is_within(known, column) for known in PATHS):
            return True
        around, _, last = column.rpartition(".")
        spoken = _is_language(last) if languages is None else last in languages
        return spoken and (around in TEXTS or any(name.startswith(f"{around}.") for name in self._spoken))


def _is_language(word: str) -> bool:
    return known_language_tag(word) is not None


#: The tables whose rows are in a language, and the columns that say in which: the first that does decides.
LOCALIZED: Mapping[str, tuple[str, str]] = {
    "texts": ("language", "language_code"),
    "code_labels": ("label_language", "label_language"),
}


def languages_given(catalog: Catalog, given: Sequence[str], call: str) -> list[str]:
    """Return the codes of languages, each once and spelled short: columns are named by them.

    A language alone means all that is in it. One with a country or script is that variant, and none of its siblings.

    Parameters
    ----------
    catalog
        Its texts may be in languages that the CLDR does not know.
    given
        Codes in any form, or names.
    call
        The method that they were given to, for the message.

    Raises
    ------
    QueryError
        When neither the texts nor the CLDR know a language; the message names the nearest.
    """
    if not given:
        raise QueryError(f"{call}() was given no language. Leave it out for all of them.")
    there = _text_languages(catalog)
    found: dict[str, str] = {}
    for one in given:
        spelled = spelled_tag(one)
        # What texts are in is taken as it is: suppliers use codes that the CLDR does not know.
        if short_of(one) not in there:
            try:
                spelled = spelled_tag(language_tag(one))
            except QueryError as error:
                near = hint(one, there, "")
                texts = f"The texts here are in {', '.join(sorted(there)) or 'no language'}"
                raise QueryError(f"{error} {texts}{near if near.startswith(';') else '.'}") from error
        found.setdefault(tag_of(spelled), spelled)
    return list(found.values())


def _text_languages(catalog: Catalog) -> set[str]:
    """Return the short codes of the languages that texts are in."""
    found: set[str] = set()
    for part in catalog.parts:
        rows = part.encoded("texts", ["language", "language_code"]).unify_dictionaries()
        pairs = rows.group_by(rows.column_names).aggregate([])
        language, code = (pairs[name].combine_chunks().cast(pa.string()) for name in rows.column_names)
        found.update(language_of(language, code).dictionary.to_pylist())
    return found


def shown_languages(catalog: Catalog) -> dict[str, str]:
    """Return what each code that texts are sent with is called in the columns of `wide()`.

    It is the code as it was sent; where several codes of one language occur, all of them are called by one.
    """
    found: dict[str, set[str]] = {}
    for part in catalog.parts:
        rows = part.encoded("texts", ["language", "language_code"]).unify_dictionaries()
        pairs = rows.group_by(rows.column_names).aggregate([])
        sent = pc.coalesce(*(pairs[name].combine_chunks().cast(pa.string()) for name in rows.column_names))
        for one in pc.unique(sent).drop_null().to_pylist():
            found.setdefault(tag_of(one), set()).add(one)
    return {one: tag if len(several) > 1 else one for tag, several in found.items() for one in several}


def rows_in(rows: pa.Table, table: str, languages: Collection[str]) -> pa.Table:
    """Return the rows of a localized table that are in one of these languages.

    Labels are of no country where they were asked for by the language alone: these are the labels of every variant.
    """
    short, code = (rows[name].combine_chunks() for name in LOCALIZED[table])
    is_in = is_meant if table == "texts" else is_same_language

    def is_wanted(variant: str) -> bool:
        return any(is_in(variant, one) for one in languages)

    return rows.filter(pa.array(by_value(variants_of(short, code), is_wanted, False), pa.bool_()))


def origin_in(origin: Origin, languages: Sequence[str]) -> Origin:
    """Return the origin of only the texts in these languages: nothing is known of any other.

    Raises
    ------
    QueryError
        When none of them was requested in the first place.
    """
    query = origin.query or ProductQuery()
    requested = query.product_languages
    # The narrower of both: "fr-BE" is not all that is French.
    kept = (
        list(languages)
        if requested is None
        else [
            one if is_meant(one, language) else language
            for one in requested
            for language in languages
            if is_same_language(one, language)
        ]
    )
    if not kept:
        raise QueryError(
            f"Texts in {', '.join(languages)} were not requested when this catalogue was loaded; it has those in "
            f"{', '.join(requested or ())}."
        )
    labels = tuple(one for one in origin.labels if any(is_same_language(one, each) for each in languages))
    query = replace(query, product_languages=tuple(dict.fromkeys(kept)))
    return replace(origin, query=query, labels=labels)
