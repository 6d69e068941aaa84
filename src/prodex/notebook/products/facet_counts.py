"""The values of facets, their counts, and which products meet the conditions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from prodex.errors import QueryError
from prodex.facts.label import told_apart
from prodex.notebook.conditions import Code, Conditions
from prodex.notebook.products.facets import COLUMNS, FACETS, Facet
from prodex.notebook.products.product_columns import Mask, ProductColumns

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class FacetValues:
    """The values of a facet and the products that have them, most frequent first.

    Attributes
    ----------
    facet
        The facet.
    codes, labels
        Of each value; the code None stands for the products without a value.
    is_asked
        Whether the service was asked for it: if not, a product without a value may have one.
    rows, groups
        Place of a product and number of its value, in pairs.
    totals
        Number of products of the whole catalogue with each value.
    """

    facet: Facet
    codes: tuple[Code, ...]
    labels: tuple[str, ...]
    is_asked: bool
    rows: npt.NDArray[np.int32]
    groups: npt.NDArray[np.int32]
    totals: Counts

    def having(self, codes: Sequence[Code], size: int) -> Mask:
        """Return which products have one of these values."""
        chosen = np.array([code in codes for code in self.codes], bool)
        found = np.zeros(size, bool)
        # Pairs instead of one value per product: a product has several tags and languages.
        found[self.rows[chosen[self.groups]]] = True
        return found

    def meeting(self, conditions: Conditions, size: int) -> Mask:
        """Return which products have one of the selected values, if there are any, and none of the excluded ones."""
        name = self.facet.name
        chosen, excluded = conditions.facets.get(name, ()), conditions.excluded.get(name, ())
        found = self.having(chosen, size) if chosen else np.ones(size, bool)
        return found & ~self.having(excluded, size) if excluded else found

    def count(self, among: Mask) -> Counts:
        """Return the number of products with each value among some products."""
        return np.bincount(self.groups[among[self.rows]], minlength=len(self.codes))

    def label(self, code: Code) -> str:
        """Return the label of a value; a value that no product has is shown by its code."""
        if code in self.codes:
            return self.labels[self.codes.index(code)]
        return self.facet.without if code is None else self.facet.labels.get(code, code)


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
        products.read(*COLUMNS)
        self._products = products
        self.declared: dict[str, Facet] = {
            facet.name: facet for facet in FACETS if products.audit is not None or not facet.needs_audit
        }
        self._read: dict[str, FacetValues] = {}

    def __getitem__(self, name: str) -> FacetValues:
        if name not in self._read:
            self._read[name] = _values(self.declared[name], self._products)
        return self._read[name]

    def __contains__(self, name: object) -> bool:
        return name in self.declared

    def __iter__(self) -> Iterator[str]:
        return iter(self.declared)

    def __len__(self) -> int:
        return len(self.declared)


def _values(facet: Facet, products: ProductColumns) -> FacetValues:
    groups = facet.read(products)
    rows, numbers, codes = groups.rows, groups.groups, groups.codes
    labels = told_apart(
        codes,
        [facet.labels.get(one or "", label) for one, label in zip(codes, groups.labels, strict=True)],
        facet.without,
    )
    totals = np.bincount(numbers, minlength=len(codes))
    order = sorted(range(len(codes)), key=lambda n: (-totals[n], codes[n] is None, labels[n], codes[n] or ""))
    if facet.needs_audit:  # grades are in the order A to E, not by frequency
        order.sort(key=lambda n: (codes[n] is None, codes[n] or ""))
    # Codes without products are left out, and the others numbered in the order in which they are shown.
    there = np.array([n for n in order if totals[n]], np.int64)
    new_number = np.zeros(len(codes), np.int32)
    new_number[there] = np.arange(len(there))
    return FacetValues(
        facet,
        tuple(codes[n] for n in there),
        tuple(labels[n] for n in there),
        not facet.attribute
        or products.catalog.origin.asked(facet.attribute)
        or (facet.is_shared and any(codes[n] is not None for n in there)),
        rows.astype(np.int32),
        new_number[numbers],
        totals[there],
    )


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
        return int(self.mask.sum())


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
    missed = {name: ~facets[name].meeting(conditions, size) for name in narrowed}
    for mask in missed.values():
        misses += mask
    counts = {
        name: facets[name].count(misses == missed[name] if name in missed else misses == 0)
        for name in (facets if counted is None else counted)
    }
    return FilterResult(misses == 0, counts)
