"""The facets of a catalogue, their counts, and which products meet the conditions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from prodex.errors import QueryError
from prodex.notebook.conditions import Conditions
from prodex.notebook.products.facet_values import FacetValues, values_of
from prodex.notebook.products.facets import FACETS, Facet
from prodex.notebook.products.memberships import Counts
from prodex.notebook.products.product_columns import Mask, ProductColumns


class Facets(Mapping[str, FacetValues]):
    """The facets of a catalogue by name; each is read when it is first asked for.

    Parameters
    ----------
    products
        The products.

    Examples
    --------
    >>> import prodex
    >>> facets = Facets(ProductColumns(prodex.flatten([{"id": 7, "brand": {"code": "ACME"}}, {"id": 8}])))
    >>> facets["brand"].labels
    ('ACME', 'without brand')
    """

    def __init__(self, products: ProductColumns) -> None:
        self._products = products
        self.declared: dict[str, Facet] = {
            facet.name: facet for facet in FACETS if products.audit is not None or not facet.needs_audit
        }
        self._read: dict[str, FacetValues] = {}

    def __getitem__(self, name: str) -> FacetValues:
        if name not in self._read:
            self._read[name] = self._values(self.declared[name])
        return self._read[name]

    def __contains__(self, name: object) -> bool:
        return name in self.declared

    def __iter__(self) -> Iterator[str]:
        return iter(self.declared)

    def __len__(self) -> int:
        return len(self.declared)

    def _values(self, facet: Facet) -> FacetValues:
        products = self._products
        is_asked = not facet.attribute or products.catalog.origin.asked(facet.attribute)
        return values_of(facet, facet.read(products), len(products), is_asked=is_asked)


@dataclass(frozen=True, eq=False)
class FilterResult:
    """The products that meet some conditions, and the counts of the facets.

    Attributes
    ----------
    mask
        Which products meet all conditions.
    counts
        For each facet that is counted, how many products of each value meet all conditions except those of this
        facet: the number that a further value would add.
    """

    mask: Mask
    counts: Mapping[str, Counts]

    def __len__(self) -> int:
        return int(np.count_nonzero(self.mask))


def apply_filters(
    facets: Mapping[str, FacetValues],
    conditions: Conditions,
    size: int,
    others: Sequence[Mask] = (),
    counted: Collection[str] | None = None,
) -> FilterResult:
    """Return the products that meet conditions: one of the selected values of each facet, none of the excluded ones.

    Parameters
    ----------
    facets
        The facets of the catalogue.
    conditions
        What is selected and excluded in each facet; words, ranges and checks come as `others`.
    size
        Number of products.
    others
        Products that meet conditions of another kind, such as words.
    counted
        Facets to count; all by default.

    Raises
    ------
    QueryError
        When there is no such facet.
    """
    narrowed = dict.fromkeys((*conditions.facets, *conditions.excluded))
    if unknown := [name for name in narrowed if name not in facets]:
        raise QueryError(f"There is no facet {unknown[0]!r}; there are {', '.join(facets)}.")
    # For each product the number of conditions that it does not meet. A product counts for a facet when it misses no
    # condition, or only that of the facet itself: so one pass over the products serves all facets.
    misses = np.zeros(size, np.int16)
    for mask in others:
        misses += ~mask
    missed = {name: ~facets[name].meeting(conditions) for name in narrowed}
    for mask in missed.values():
        misses += mask
    counts = {
        name: facets[name].count(misses == missed[name] if name in missed else misses == 0)
        for name in (facets if counted is None else counted)
    }
    return FilterResult(misses == 0, counts)
