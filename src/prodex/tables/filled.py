"""Which products have an attribute filled: an index of each table, that is asked for many attributes and languages.

No data is absent, null, empty, or text that shows nothing. The language or unit of a value (`expressedIn`) is no
data of the attribute around it: a text that was sent as null still says its language. Neither is what cannot be read:
whether it is there is another question (`prodex.tables.unreadable`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Self, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.locales import short_of
from prodex.tables.attributes import PENDING, is_within
from prodex.tables.columns import Mask, Rows, encoded, filled_values
from prodex.tables.declaration import TABLES
from prodex.tables.declared_paths import is_data_of

#: Tables without anchors, whose column `attribute` is the wire path of a row, and the columns with their data.
BY_SHAPE: Mapping[str, tuple[str, ...]] = {
    "texts": ("text",),
    "codes": ("code", "label"),
    "quantities": ("value",),
    "scalars": ("value",),
}
#: Tables whose rows are at declared wire paths.
ANCHORED = tuple(t.name for t in TABLES.values() if t.anchors and t.per_product and t.name != "products")
_KEYS = {"id": "product_id", "gtin": "gtin"}
#: Columns that say where a row is, and nothing of what is there.
_OF_EVERY_ROW = frozenset({"product_id", "gtin", "attribute", "position"})

#: Reads columns of a table, as whole arrays.
Read: TypeAlias = Callable[[str, Sequence[str]], list[pa.Array]]
#: Returns the position of the product of each row of a table, as read.
Positions: TypeAlias = Callable[[str], Rows]


@dataclass(frozen=True)
class FilledIndex:
    """Positions of products, sorted by attribute and language.

    Attributes
    ----------
    size
        Number of products.
    table
        The table whose rows are indexed.
    attributes, languages
        What occurs; languages as short codes, with "" for rows without.
    starts
        Where the positions of each pair begin: attribute by attribute, and language by language in each.
    positions
        Of the products that have data there.
    """

    size: int
    table: str
    attributes: list[str]
    languages: list[str]
    starts: Rows
    positions: Rows

    @classmethod
    def of(
        cls,
        size: int,
        table: str,
        positions: Rows,
        attribute: pa.Array,
        filled: Mask,
        language: pa.Array | None = None,
    ) -> Self:
        """Make the index of rows: position of the product, attribute, whether there is data, and language."""
        distinct, attribute_codes = encoded(attribute)
        attributes = distinct.to_pylist()
        languages, language_codes = [""], np.zeros(len(attribute), np.int64)
        if language is not None:
            languages, language_codes = short_languages(language)
        # Sorting once makes each later question a slice: an audit asks hundreds of them.
        pair = (attribute_codes * len(languages) + language_codes)[filled]
        order = np.argsort(pair, kind="stable")
        edges = np.arange(len(attributes) * len(languages) + 1)
        return cls(
            size, table, attributes, languages, np.searchsorted(pair[order], edges), positions[filled][order]
        )

    def products(self, attribute: str, language: str | None = None) -> Mask:
        """Say for each product whether it has data at or below an attribute, in one language or in any."""
        found = np.zeros(self.size, bool)
        width = len(self.languages)
        for place in self._below.get(attribute.partition(".")[0], ()):
            if not is_data_of(self.table, self.attributes[place], attribute):
                continue
            if language is None:
                first, last = place * width, (place + 1) * width
            elif (short := short_of(language)) in self.languages:
                first = place * width + self.languages.index(short)
                last = first + 1
            else:
                continue
            found[self.positions[self.starts[first] : self.starts[last]]] = True
        return found

    @cached_property
    def _below(self) -> dict[str, list[int]]:
        """The places of the attributes, by the name at their top."""
        found: dict[str, list[int]] = {}
        for place, name in enumerate(self.attributes):
            found.setdefault(name.partition(".")[0], []).append(place)
        return found

    def languages_of(self, attribute: str) -> list[str]:
        """Return the languages in which any product has data at or below an attribute."""
        of_pair = np.diff(self.starts).reshape(len(self.attributes), len(self.languages)) > 0
        own = [is_data_of(self.table, name, attribute) for name in self.attributes]
        there = of_pair[np.array(own, bool)].any(axis=0)
        return [one for one, is_there in zip(self.languages, there, strict=True) if is_there]


def short_languages(sent: Any) -> tuple[list[str], Rows]:
    """Return the short codes of the languages that occur, and for each row which of them it has; "" is none.

    >>> languages, place = short_languages(pa.array(["fr-FR", None, "fr-BE"]))
    >>> languages, place.tolist()
    (['fr', ''], [0, 1, 0])
    """
    distinct, code = encoded(pc.fill_null(sent, ""))
    shorts = [short_of(one) if one else "" for one in distinct.to_pylist()]
    languages = list(dict.fromkeys(shorts))
    # By way of the distinct codes: comparing the texts of millions of rows again would take most of the time.
    return languages, np.array([languages.index(one) for one in shorts], np.int64)[code]


@dataclass(frozen=True, eq=False)
class Filled:
    """What is filled of some products.

    Attributes
    ----------
    size
        Number of products.
    read, positions
        What reads their tables.
    """

    size: int
    read: Read
    positions: Positions
    _indexes: dict[str, FilledIndex] = field(default_factory=dict)

    def products(self, attribute: str, language: str | None = None) -> Mask:
        """Say for each product whether it has data at a wire path, or anywhere below it.

        Parameters
        ----------
        attribute
            Wire path.
        language
            Short code: only texts in this language count.
        """
        # Only texts have a language.
        if language is not None:
            return self._index("texts").products(attribute, language)
        # Keys are in every table, and have no path of their own.
        if attribute in _KEYS:
            return filled_values(*self.read("products", (_KEYS[attribute],)))
        found = self._leaves("products", attribute)
        for table in tables_at(attribute):
            found |= self._index(table).products(attribute)
            found |= self._leaves(table, attribute)
        return found

    def languages(self, attribute: str) -> list[str]:
        """Return the short codes of the languages of the texts at or below a wire path."""
        return [one for one in self._index("texts").languages_of(attribute) if one]

    def _index(self, table: str) -> FilledIndex:
        if table not in self._indexes:
            self._indexes[table] = self._make_index(table)
        return self._indexes[table]

    def _make_index(self, table: str) -> FilledIndex:
        (attribute,) = self.read(table, ("attribute",))
        language = None
        if table in BY_SHAPE:
            filled = np.logical_or.reduce([*map(filled_values, self.read(table, BY_SHAPE[table]))])
        else:
            filled = self._rows_with_data(table, len(attribute))
        if table == "texts":
            language = pc.coalesce(*self.read(table, ("language", "language_code")))
        return FilledIndex.of(self.size, table, self.positions(table), attribute, filled, language)

    def _rows_with_data(self, table: str, size: int) -> Mask:
        """Say which rows at declared wire paths have a value that shows anything."""
        columns = own_columns(table)
        filled = np.full(size, not columns)
        for column in columns:
            if filled.all():  # nearly always the first column decides
                break
            (values,) = self.read(table, (column,))
            filled |= filled_values(values)
        return filled

    def _leaves(self, table: str, attribute: str) -> Mask:
        """Say for each product whether a declared column at or below this path has data."""
        found = np.zeros(self.size, bool)
        for column, anchor in leaf_columns(table, attribute):
            (values,) = self.read(table, (column,))
            filled = filled_values(values)
            if table == "products":
                found |= filled
                continue
            (own,) = self.read(table, ("attribute",))
            filled &= pc.equal(own, anchor).to_numpy(zero_copy_only=False)
            found[self.positions(table)[filled]] = True
        return found


@lru_cache(maxsize=64)
def own_columns(table: str) -> tuple[str, ...]:
    """Name the columns with the values of the objects of a table; none where a row says something by itself.

    >>> own_columns("tags"), own_columns("hierarchies")
    (('tag', 'created_at'), ())
    """
    columns = [column for column in TABLES[table].columns if column.name not in _OF_EVERY_ROW]
    if not all(column.paths or column.parent_path for column in columns):
        return ()
    return tuple(column.name for column in columns if column.paths)


@lru_cache(maxsize=65536)
def leaf_columns(table: str, attribute: str) -> tuple[tuple[str, str], ...]:
    """Return the declared columns whose values are at or below a wire path, and where their rows are anchored.

    >>> leaf_columns("products", "GPC"), leaf_columns("videos", "assets.videos.format")
    ((('gpc_code', ''), ('gpc', '')), (('format', 'assets.videos'),))
    """
    found = []
    for anchor in TABLES[table].anchors:
        if anchor and not attribute.startswith(f"{anchor}."):
            continue
        inner = attribute.removeprefix(f"{anchor}.") if anchor else attribute
        for column in TABLES[table].columns:
            if any(is_within(".".join(path), inner) for path in column.paths):
                found.append((column.name, anchor))
    return tuple(found)


@lru_cache(maxsize=65536)
def tables_at(attribute: str) -> tuple[str, ...]:
    """Name the tables whose rows can be at a wire path, above it or below it.

    >>> tables_at("namePublicLong"), tables_at("assets.videos.url")[len(BY_SHAPE) :]
    (('texts', 'codes', 'quantities', 'scalars'), ('videos',))
    """
    own = attribute.removeprefix(PENDING)
    anchored = [
        table
        for table in ANCHORED
        if own == "lastRequest"
        or any(is_within(own, anchor) or is_within(anchor, own) for anchor in TABLES[table].anchors)
    ]
    return (*BY_SHAPE, *anchored)
