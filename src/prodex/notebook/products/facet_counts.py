"""The facets of a catalogue, their counts, and which products meet the conditions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from prodex.errors import QueryError
from prodex.notebook.conditions import Conditions
from prodex.notebook.coverage.filled import FilledReader
from prodex.notebook.products.attribute_facets import MISSING, AttributeFacets
from prodex.notebook.products.column_facets import column_facet
from prodex.notebook.products.facet_values import Facet, FacetValues
from prodex.notebook.products.facets import FACETS, CatalogFacet
from prodex.notebook.products.memberships import Counts
from prodex.notebook.products.product_columns import Mask, ProductColumns


class Facets(Mapping[str, FacetValues]):
    """The facets of a catalogue by name; each is read when it is first asked for.

    Beside those that are listed there is one for the state of every attribute, such as "fill:namePublicLong:fr", and
    one for every other column of texts or flags, such as "column:unit_type".

    Parameters
    ----------
    products
        The products.
    filled
        What has been read of the attributes of the catalogue, if something has.

    Examples
    --------
    >>> import prodex
    >>> facets = Facets(ProductColumns(prodex.flatten([{"id": 7, "brand": {"code": "ACME"}}, {"id": 8}])))
    >>> facets["brand"].labels
    ('ACME', 'without brand')
    """

    def __init__(self, products: ProductColumns, filled: FilledReader | None = None) -> None:
        self._products = products
        self._of_attributes = AttributeFacets(products.catalog, filled)
        self._of_catalog = {
            facet.name: facet for facet in FACETS if products.audit is not None or not facet.needs_audit
        }
        self.declared: dict[str, Facet] = {**self._of_catalog, MISSING.name: MISSING}
        self._read: dict[str, FacetValues] = {}

    def look_at(self, conditions: Conditions) -> None:
        """Show what depends on conditions as they are: what products lack, in the language that is selected."""
        self._of_attributes.look_at(conditions)

    def title(self, name: str) -> str:
        """Return the heading of a facet, which need not have been read for it."""
        is_declared = name in self._of_catalog
        return self.declared[name].title if is_declared else self._of_attributes.title(name)

    @property
    def filled(self) -> FilledReader:
        """Which products have which attributes, as far as it has been read."""
        return self._of_attributes.filled

    def counts_at_once(self, name: str) -> bool:
        """Return whether a facet can be counted at once; `read_attributes` prepares those that take long."""
        return name not in self._of_attributes or self._of_attributes.is_read(name)

    def read_attributes(self, names: Iterable[str]) -> None:
        """Read the facets of attributes among these; may be called in a thread of its own."""
        for name in names:
            if name in self._of_attributes:
                self._of_attributes.read(name)

    def read(self, names: Iterable[str]) -> None:
        """Read several facets: columns that they need are read together, since a file is opened once for all."""
        new = [
            facet for name in names if name not in self._read and (facet := self._stored(name)) is not None
        ]
        self._products.read(*(column for facet in new for column in facet.columns))
        for facet in new:
            self._read[facet.name] = facet.values(self._products)

    def is_read(self, name: str) -> bool:
        """Return whether a facet that is read from columns is in memory."""
        return name in self._read

    def __getitem__(self, name: str) -> FacetValues:
        if name in self._of_attributes:
            return self._of_attributes[name]
        if self._stored(name) is None:
            raise KeyError(name)
        self.read([name])
        return self._read[name]

    def __contains__(self, name: object) -> bool:
        return name in self._of_attributes or (isinstance(name, str) and self._stored(name) is not None)

    def _stored(self, name: str) -> CatalogFacet | None:
        return self._of_catalog.get(name) or column_facet(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.declared)

    def __len__(self) -> int:
        return len(self.declared)


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
    _misses: npt.NDArray[np.int16]
    _missed: Mapping[str, Mask]

    def __len__(self) -> int:
        return int(np.count_nonzero(self.mask))

    def without(self, name: str) -> Mask:
        """Return which products meet all conditions except those of a facet, or the range of a column."""
        return self._misses == self._missed[name] if name in self._missed else self.mask


def apply_filters(
    facets: Mapping[str, FacetValues],
    conditions: Conditions,
    size: int,
    others: Sequence[Mask] = (),
    counted: Collection[str] | None = None,
    ranges: Mapping[str, Mask] | None = None,
) -> FilterResult:
    """Return the products that meet conditions: one of the selected values of each facet, none of the excluded ones.

    Parameters
    ----------
    facets
        The facets of the catalogue.
    conditions
        What is selected and excluded in each facet; words and checks come as `others`.
    size
        Number of products.
    others
        Products that meet conditions of another kind, such as words.
    counted
        Facets to count; all by default.
    ranges
        Products that are in the range of a column, by column.

    Raises
    ------
    QueryError
        When there is no such facet.
    """
    narrowed = dict.fromkeys((*conditions.facets, *conditions.excluded))
    if unknown := [name for name in narrowed if name not in facets]:
        raise QueryError(f"There is no facet {unknown[0]!r}; give one of {', '.join(facets)}.")
    # For each product the number of conditions that it does not meet. A product counts for a facet when it misses no
    # condition, or only that of the facet itself: so one pass over the products serves all facets.
    misses = np.zeros(size, np.int16)
    for mask in others:
        misses += ~mask
    missed = {name: ~facets[name].meeting(conditions) for name in narrowed}
    missed |= {column: ~mask for column, mask in (ranges or {}).items()}
    for mask in missed.values():
        misses += mask
    result = FilterResult(misses == 0, {}, misses, missed)
    counts = {
        name: facets[name].count(result.without(name)) for name in (facets if counted is None else counted)
    }
    return replace(result, counts=counts)
