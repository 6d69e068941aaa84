"""Which products of a catalogue meet the conditions of an exploration: asked by every panel, answered once."""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog
from prodex.notebook.conditions import Conditions
from prodex.notebook.products.condition_labels import labels
from prodex.notebook.products.facet_counts import Facets, FilterResult, apply_filters
from prodex.notebook.products.product_columns import Mask, ProductColumns
from prodex.notebook.products.search import Search
from prodex.quality import Audit

#: Words, and the products that have them.
_Found: TypeAlias = tuple[str, Mask]


class ProductFilter:
    """The products of a catalogue, and which of them meet conditions.

    Parameters
    ----------
    catalog
        The catalogue.
    audit
        The audit of its quality, or None.

    Attributes
    ----------
    products, facets, search
        Its columns, the values of its facets, and the search for words; each is read when it is first needed.

    Examples
    --------
    >>> import prodex
    >>> chosen = ProductFilter(prodex.flatten([{"id": 7, "brand": {"code": "ACME"}}, {"id": 8}]))
    >>> chosen.mask(Conditions().toggled("brand", "ACME")).tolist()
    [True, False]
    """

    def __init__(self, catalog: Catalog, audit: Audit | None = None) -> None:
        self.products: ProductColumns = ProductColumns(catalog, audit)
        self.facets: Facets = Facets(self.products)
        self.search: Search = Search(self.products)
        self._found: _Found | None = None
        self._last: tuple[Conditions, Mask] | None = None
        self._left: tuple[Conditions, Catalog] | None = None

    def has_found(self, words: str) -> bool:
        """Return whether these words have been searched for already: then `narrow` answers at once."""
        return not words or (self._found is not None and self._found[0] == words)

    def find(self, words: str) -> Mask:
        """Search for words; may be called in a thread of its own."""
        found = self.search.find(words)
        self._found = (words, found)
        return found

    def narrow(self, conditions: Conditions, counted: Collection[str] = ()) -> FilterResult:
        """Return the products that meet conditions, and the counts of some facets.

        Raises
        ------
        QueryError
            When there is no such facet or check.
        """
        others = []
        if conditions.words:
            found = self._found
            is_known = found is not None and found[0] == conditions.words
            others.append(found[1] if is_known and found is not None else self.find(conditions.words))
        others += [self.products.failing(failing.checks) for failing in conditions.failing]
        left = apply_filters(self.facets, conditions, len(self.products), others, counted)
        self._last = (conditions, left.mask)
        return left

    def mask(self, conditions: Conditions) -> Mask:
        """Return which products meet conditions, in the order of the catalogue."""
        if self._last is None or self._last[0] != conditions:
            self.narrow(conditions)
        assert self._last is not None  # noqa: S101 - narrow sets it
        return self._last[1]

    def labels(self, conditions: Conditions) -> list[str]:
        """Return conditions in words, each by itself."""
        return [label for label, _ in labels(conditions, self.facets)]

    def catalog(self, conditions: Conditions) -> Catalog:
        """Return the catalogue of the products that meet conditions."""
        # Asked for again and again, and made only when something has changed.
        if self._left is None or self._left[0] != conditions:
            self._left = (conditions, self._chosen(self.mask(conditions)))
        return self._left[1]

    def _chosen(self, mask: Mask) -> Catalog:
        whole = self.products.catalog
        # The whole catalogue keeps its folder and its origin, so that an export or an audit of it names the snapshot.
        if mask.all():
            return whole
        # By id and not by place: `where` reads only the parts that have one of them.
        return whole.where(pc.field("product_id").isin(self.products.ids.filter(pa.array(mask))))
