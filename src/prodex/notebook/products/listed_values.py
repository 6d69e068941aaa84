"""The values of a facet as a list shows them: which ones, in which order, and how many are folded away."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from prodex.notebook.conditions import Code, Conditions
from prodex.notebook.products.facet_values import FacetValues
from prodex.notebook.products.memberships import Counts
from prodex.notebook.products.search import contains
from prodex.notebook.products.table_page import cut

#: Values shown at first, and how many come with each "more".
FEW, MORE = 8, 20
#: Characters of a value that a row shows.
_LABEL = 60


@dataclass(frozen=True)
class Folding:
    """How a facet is shown.

    Attributes
    ----------
    is_open
        Whether its values are shown.
    most
        How many values are shown at most, beside those that are selected or excluded.
    find
        Words that shown values contain.
    with_zeros
        Whether values are shown that no product has under the conditions.
    unfolded
        Of a tree: codes of the values below which others are shown.
    """

    is_open: bool = False
    most: int = FEW
    find: str = ""
    with_zeros: bool = False
    unfolded: frozenset[Code] = frozenset()


def listed_values(
    values: FacetValues, counts: Counts, conditions: Conditions, folding: Folding
) -> dict[str, Any]:
    """Return the values of a facet as the list of facets is given them.

    What is selected or excluded is always shown, so that it can be taken back.

    Parameters
    ----------
    values
        The facet.
    counts
        Number of products of each value, under the conditions.
    conditions
        What is selected and excluded.
    folding
        How the facet is shown.

    Examples
    --------
    >>> import prodex
    >>> from prodex.notebook.products.filtering import ProductFilter
    >>> brands = [{"id": n, "brand": {"code": code}} for n, code in enumerate("AAB")]
    >>> brand = ProductFilter(prodex.flatten(brands)).facets["brand"]
    >>> found = listed_values(brand, brand.totals, Conditions().excluding("brand", "B"), Folding())
    >>> [(value["label"], value["count"], value["state"]) for value in found["values"]]
    [('B', 1, 'excluded'), ('A', 2, '')]
    """
    name = values.facet.name
    chosen, excluded = conditions.facets.get(name, ()), conditions.excluded.get(name, ())
    fitting, zeros = _fitting(values, counts, {*chosen, *excluded}, folding)
    shown = fitting[: folding.most]
    parents = set(values.above)

    def entry(number: int) -> dict[str, Any]:
        code = values.codes[number]
        found = {
            "key": number,
            "label": cut(values.labels[number], _LABEL),
            "count": int(counts[number]),
            "state": "chosen" if code in chosen else "excluded" if code in excluded else "",
        }
        if values.above:
            fold = ("open" if code in folding.unfolded else "closed") if number in parents else ""
            found |= {"level": values.depths[number], "fold": fold}
        return found

    return {
        "values": [entry(number) for number in shown],
        "shown": len(shown),
        "more": len(fitting) - len(shown),
        "next": min(MORE, len(fitting) - len(shown)),
        "fewer": len(shown) > FEW,
        "zeros": zeros,
        "zerosOpen": folding.with_zeros,
        "distinct": len(values.codes),
        # A field for words only where one "more" does not show all values.
        "find": folding.find if len(values.codes) > MORE or folding.find else None,
        "note": _note(values, bool(fitting or zeros)),
    }


def _fitting(
    values: FacetValues, counts: Counts, active: Collection[Code], folding: Folding
) -> tuple[list[int], int]:
    """Return the numbers of the values to show, and how many more no product has under the conditions."""
    if not values.is_asked:
        return [], 0
    numbers = values.order(counts, active)
    kept = {number for number, code in enumerate(values.codes) if code in active}
    if words := folding.find.strip():
        found = contains(values.labels, words)
        wanted = _with_above(values, {*kept, *(number for number in numbers if found[number])})
        numbers = [number for number in numbers if number in wanted]
    elif values.above:
        unfolded = _unfolded(values, folding.unfolded, _with_above(values, kept))
        numbers = [number for number in numbers if number in unfolded]
    kept = _with_above(values, kept)
    zeros = [number for number in numbers if not counts[number] and number not in kept]
    if not folding.with_zeros:
        numbers = [number for number in numbers if counts[number] or number in kept]
    return numbers, len(zeros)


def _with_above(values: FacetValues, numbers: Iterable[int]) -> set[int]:
    """Return numbers of values and of all values above them."""
    found: set[int] = set()
    for number in numbers:
        while number >= 0 and number not in found:
            found.add(number)
            number = values.above[number] if values.above else -1  # noqa: PLW2901 - one step up
    return found


def _unfolded(values: FacetValues, unfolded: Collection[Code], kept: Collection[int]) -> set[int]:
    """Return the numbers of the values of a tree below which nothing is folded, and those that are kept."""
    found: set[int] = set()
    # A value comes after the one above it.
    for number, above in enumerate(values.above):
        if number in kept or above < 0 or (above in found and values.codes[above] in unfolded):
            found.add(number)
    return found


def _note(values: FacetValues, has_values: bool) -> str:
    if not values.is_asked:
        return "not requested"
    if not values.codes:
        return "no products"
    return "" if has_values else "no matching value"
