"""Which products meet the conditions, and how many would with one value more of each facet."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from prodex.errors import QueryError
from prodex.notebook.conditions import Code
from prodex.notebook.products.facet_values import Counts, Values
from prodex.notebook.products.stock import Mask


@dataclass(frozen=True, eq=False)
class Narrowed:
    """What conditions leave of a catalogue.

    Attributes
    ----------
    mask
        Which products meet all of them.
    counts
        For each facet that is counted, how many products of each value meet all conditions but those of this facet:
        what a further value would bring.
    """

    mask: Mask
    counts: Mapping[str, Counts]

    def __len__(self) -> int:
        return int(self.mask.sum())


def narrowed(
    facets: Mapping[str, Values],
    chosen: Mapping[str, Sequence[Code]],
    size: int,
    others: Sequence[Mask] = (),
    counted: Collection[str] | None = None,
) -> Narrowed:
    """Apply conditions: one of the values of each facet, and everything else.

    Parameters
    ----------
    facets
        The facets of the catalogue.
    chosen
        Values of facets.
    size
        Number of products.
    others
        Products that meet conditions of another kind, such as words.
    counted
        Facets whose counts are wanted; all by default.

    Raises
    ------
    QueryError
        When a facet is chosen that is not there.
    """
    if unknown := [name for name in chosen if name not in facets]:
        raise QueryError(f"There is no facet {unknown[0]!r}; there are {', '.join(facets)}.")
    misses = np.zeros(size, np.int16)
    for mask in others:
        misses += ~mask
    missed = {name: ~facets[name].having(codes, size) for name, codes in chosen.items()}
    for mask in missed.values():
        misses += mask
    counts = {
        name: facets[name].count(misses == missed[name] if name in missed else misses == 0)
        for name in (facets if counted is None else counted)
    }
    return Narrowed(misses == 0, counts)
