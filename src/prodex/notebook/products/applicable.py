"""Conditions that were saved for other products: what this catalogue cannot answer, and what no product here meets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from prodex.errors import ProdexError
from prodex.notebook.conditions import Conditions
from prodex.notebook.products.condition_labels import labels
from prodex.notebook.products.filtering import ProductFilter


def applicable(conditions: Conditions, chosen: ProductFilter) -> tuple[Conditions, str]:
    """Return conditions as far as a catalogue can answer them, and in words what was left out, and what nothing meets.

    Words are kept as they are: a search of everything takes a while, and says itself what it finds.

    Parameters
    ----------
    conditions
        The conditions, as they were saved for another catalogue, or before an audit.
    chosen
        The products of this one.

    Examples
    --------
    >>> import prodex
    >>> here = ProductFilter(prodex.flatten([{"id": 7, "brand": {"code": "ACME"}}]))
    >>> asked = Conditions().toggled("brand", "ACME").toggled("brand", "OTHER").toggled("grade", "A")
    >>> kept, said = applicable(asked, here)
    >>> kept == asked.without_facet("grade")
    True
    >>> print(said.replace(chr(0x2068), "").replace(chr(0x2069), ""))
    There is no audit here, so this was left out: grade: A. No product here meets: brand: OTHER.
    """
    kept = Conditions(words=conditions.words)
    unaudited, unanswered, unmet = [], [], []
    for add, needs_audit in _single(conditions):
        one = add(Conditions())
        label = next(labels(one, chosen.facets))[0]
        if needs_audit and chosen.products.audit is None:
            unaudited.append(label)
            continue
        try:
            mask = chosen.narrow(one).mask
        except ProdexError as error:
            unanswered.append(f"{label} was left out: {error}")
            continue
        kept = add(kept)
        if not mask.any():
            unmet.append(label)
    said = [f"There is no audit here, so this was left out: {'; '.join(unaudited)}."] if unaudited else []
    said += unanswered
    said += [f"No product here meets: {'; '.join(unmet)}."] if unmet else []
    return kept, " ".join(said)


def _single(conditions: Conditions) -> Iterator[tuple[Callable[[Conditions], Conditions], bool]]:
    """Yield for each condition a function that adds it to others, and whether it is about an audit."""
    for name, codes in conditions.facets.items():
        for code in codes:
            yield partial(Conditions.toggled, facet=name, code=code), name == "grade"
    for name, codes in conditions.excluded.items():
        for code in codes:
            yield partial(Conditions.excluding, facet=name, code=code), name == "grade"
    for column, limits in conditions.ranges.items():
        yield partial(Conditions.within, column=column, limits=limits), column == "score"
    for failing in conditions.failing:
        yield partial(Conditions.failing_any, title=failing.title, checks=failing.checks), True
    for products in conditions.listed:
        yield partial(Conditions.listing, products=products), False
