"""Which products of a catalogue a selection means: asked by every panel, report and command, answered once."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from prodex.catalog import Catalog
from prodex.catalog.origin import Chosen
from prodex.exploration.facets import Facets, FilterResult, apply_filters
from prodex.exploration.filled import FilledReader
from prodex.exploration.product_columns import ProductColumns
from prodex.exploration.range_facets import column_of
from prodex.exploration.ranges import in_range
from prodex.exploration.search import LABELS, TEXTS, Search
from prodex.exploration.table_page import title
from prodex.facts.groups import fact_column
from prodex.languages import Message
from prodex.progress import Show
from prodex.quality import Audit
from prodex.selection import FailingChecks, ProductList, Range, Selection
from prodex.selection.column_values import column_mask
from prodex.selection.plain import MARKET
from prodex.selection.sentences import labels
from prodex.selection.units import with_units_named
from prodex.tables.columns import Mask, as_one_chunk

#: Masks of checks and ranges that are kept: a click changes one condition, and the others stay.
_KEPT = 32


@dataclass(frozen=True, eq=False)
class SearchResult:
    """What a search found.

    Attributes
    ----------
    words
        What was typed.
    mask
        Which products were found.
    searched
        What was searched, for people.
    is_complete
        Whether that was everything there is to search.
    """

    words: str
    mask: Mask
    searched: str
    is_complete: bool


class ProductFilter:
    """The products of a catalogue, and which of them meet conditions.

    Parameters
    ----------
    catalog
        The catalogue.
    audit
        The audit of its quality, or None.
    filled
        What has been read of the attributes of the same catalogue: an audit changes nothing about it.

    Attributes
    ----------
    products, facets, search
        Its columns, the values of its facets, and the search for words; each is read when it is first needed.
    found
        What was searched last, or None.

    Examples
    --------
    >>> import prodex
    >>> chosen = ProductFilter(prodex.flatten([{"id": 7, "brand": {"code": "ACME"}}, {"id": 8}]))
    >>> chosen.mask(Selection().toggled("brand", "ACME")).tolist()
    [True, False]
    """

    def __init__(
        self, catalog: Catalog, audit: Audit | None = None, filled: FilledReader | None = None
    ) -> None:
        self.products: ProductColumns = ProductColumns(catalog, audit)
        self.facets: Facets = Facets(self.products, filled)
        self.search: Search = Search(self.products)
        self.found: SearchResult | None = None
        self._masks: dict[object, Mask] = {}
        self._last: tuple[Selection, Mask] | None = None
        self._left: tuple[Selection, Catalog] | None = None

    def has_found(self, words: str) -> bool:
        """Return whether these words have been searched for, in labels at least: then `narrow` answers at once."""
        return not words or (self.found is not None and self.found.words == words)

    def find_in_labels(self, words: str) -> SearchResult:
        """Search for words in labels and numbers alone: the first answer, while the words of all texts are made."""
        self.found = SearchResult(words, self.search.find_in_labels(words), LABELS, is_complete=False)
        return self.found

    def find(self, words: str, show: Show = lambda *_: None) -> Mask:
        """Search for words everywhere; may be called in a thread of its own.

        Parameters
        ----------
        words
            What was typed.
        show
            Called with the number of parts whose words are there, and of all, when they have to be made first.
        """
        self.search.index.make(show)
        return self._searched(words).mask

    def narrow(self, conditions: Selection, counted: Collection[str] = ()) -> FilterResult:
        """Return the products that meet conditions, and the counts of some facets.

        After `find_in_labels` it is the result of that search, until `find` has searched everywhere.

        Raises
        ------
        QueryError
            When there is no such facet, check or range.
        """
        found = self._found(conditions.words)
        others = [] if found is None else [found.mask]
        others += [self._failing(failing) for failing in conditions.failing]
        others += [self._listed(products) for products in conditions.listed]
        others += [self._inner(one) for one in with_units_named(conditions).single() if _is_inner(one)]
        ranges = {column: self._in_range(column, limits) for column, limits in conditions.ranges.items()}
        self.facets.look_at(conditions)
        self.facets.read([*conditions.groups, *conditions.excluded, *counted])
        left = apply_filters(self.facets, conditions, len(self.products), others, counted, ranges)
        if found is None or found.is_complete:
            self._last = (conditions, left.mask)
        return left

    def has_at_once(self, facet: str) -> bool:
        """Return whether a facet can be shown in the time of a click; if not, `read` it in a thread of its own."""
        column = column_of(facet)
        return self.facets.counts_at_once(facet) if column is None else self.products.has_at_once(column)

    def read(self, facets: Collection[str]) -> None:
        """Read what facets of attributes, of dates and of numbers need."""
        columns = {facet: column_of(facet) for facet in facets}
        self.products.read(*filter(None, columns.values()))
        self.facets.read_attributes([facet for facet, column in columns.items() if column is None])

    def mask(self, conditions: Selection) -> Mask:
        """Return which products meet conditions, in the order of the catalogue; words are searched everywhere."""
        if self._last is not None and self._last[0] == conditions:
            return self._last[1]
        found = self._found(conditions.words)
        if found is not None and not found.is_complete:
            self.find(conditions.words)
        return self.narrow(conditions).mask

    def labels(self, conditions: Selection) -> list[str]:
        """Return conditions in words, each by itself."""
        return list(map(str, self._said(conditions)))

    def _said(self, conditions: Selection) -> list[Message]:
        return [said for said, _ in labels(conditions, self.facets.called, title)]

    def catalog(self, conditions: Selection) -> Catalog:
        """Return the catalogue of the products that meet conditions; words are searched everywhere."""
        # Asked for again and again, and made only when something has changed.
        if self._left is None or self._left[0] != conditions:
            whole, left = self.products.catalog, self._chosen(self.mask(conditions))
            if left is not whole:
                # Reports and worklists about them say by which filters of the screen they were chosen.
                by = Chosen.again(whole.chosen, len(whole), self._said(conditions), conditions)
                left = replace(left, chosen=by)
            self._left = (conditions, left)
        return self._left[1]

    def _found(self, words: str) -> SearchResult | None:
        """Return what words have found, as far as they have been searched for; None without words."""
        found = self.found  # another thread may search for other words meanwhile
        if not words or (found is not None and found.words == words):
            return found if words else None
        return self._searched(words)

    def _searched(self, words: str) -> SearchResult:
        found = self.found = SearchResult(words, self.search.find(words), TEXTS, is_complete=True)
        return found

    def _chosen(self, mask: Mask) -> Catalog:
        whole = self.products.catalog
        # The whole catalogue keeps its folder and its origin, so that an export or an audit of it names the snapshot.
        # For other products, only the parts that have some of them are read.
        return whole if mask.all() else whole.where(pd.Series(mask))

    def _inner(self, selection: Selection) -> Mask:
        """Return which products meet conditions that are no facet, nor a range, of this list."""
        everything = np.ones(len(self.products), bool)
        return self._kept(selection, lambda: selection.met(everything, self._answer, lambda answer: answer))

    def _answer(self, one: Selection) -> Mask:
        """Return which products meet one condition with no other selection inside."""
        for name, values in one.columns.items():
            return self._with_values(name, values)
        for name, codes in one.groups.items():
            return self.facets.having(name, codes)
        for column, limits in one.ranges.items():
            return self._in_range(column, limits)
        if one.words:
            return self.search.find(one.words)
        return self._failing(one.failing[0]) if one.failing else self._listed(one.listed[0])

    def _with_values(self, column: str, values: tuple[Any, ...]) -> Mask:
        """Return which products have one of some values in a column, as `Catalog.where` reads them."""
        catalog = self.products.catalog

        def read(name: str) -> pa.Array:
            return (
                fact_column(name, catalog)
                if name == MARKET
                else as_one_chunk(catalog.arrow("products", [name])[name])
            )

        return column_mask(column, values, read)

    def _failing(self, failing: FailingChecks) -> Mask:
        return self._kept(failing.checks, lambda: self.products.failing(failing.checks))

    def _listed(self, products: ProductList) -> Mask:
        return self._kept(products, lambda: self.products.having(products.ids))

    def _in_range(self, column: str, limits: Range) -> Mask:
        return self._kept((column, limits), lambda: in_range(self.products, column, limits))

    def _kept(self, key: object, make: Callable[[], Mask]) -> Mask:
        key = (type(key), key)  # a tuple of texts may be checks or something else
        mask = self._masks.pop(key, None)
        self._masks[key] = make() if mask is None else mask
        if len(self._masks) > _KEPT:
            del self._masks[next(iter(self._masks))]
        return self._masks[key]


def _is_inner(one: Selection) -> bool:
    """Whether a condition is no facet, nor a range, and excepts no values of a facet, which are counted with it."""
    return bool(one.columns or one.either or (one.excepted and not one.excluded))
