"""A query that matches nothing, without one of its filters at a time: which of them is too narrow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from prodex.query import FILTERS, GTINS_PER_CALL, ProductQuery

#: Filters that are tried: each is a call to the service.
_MOST = 6
#: Characters of a word that are quoted.
_LONGEST = 40
#: What says which data is returned, and not of which products.
_NOT_FILTERS = frozenset({"product_languages", "source_include", "source_exclude", "search"})


def relaxed(query: ProductQuery) -> list[tuple[str, ProductQuery]]:
    """Return a query without each of its filters, and what was left out, in words.

    Examples
    --------
    >>> query = ProductQuery(target_market="France", search=[("drinks", ["kind.label"])])
    >>> for left_out, wider in relaxed(query):
    ...     print(left_out, "->", wider)
    “drinks” -> ProductQuery(target_market=250)
    market -> ProductQuery(search=(('drinks', ('kind.label',)),))
    """
    # A longer list of GTINs is counted in several calls, which would be made again for each filter.
    if len(query.gtins_in or ()) > GTINS_PER_CALL:
        return []
    return list(_wider(query))[:_MOST]


def _wider(query: ProductQuery) -> Iterator[tuple[str, ProductQuery]]:
    words = query.search or ()
    for place, (word, _) in enumerate(words):
        others = (*words[:place], *words[place + 1 :])
        shown = word if len(word) <= _LONGEST else f"{word[:_LONGEST]}…"
        yield f"“{shown}”", replace(query, search=others or None)
    dates: dict[str, Any] = {"updated_at_from": None, "updated_at_to": None}
    if any(getattr(query, name) is not None for name in dates):
        yield "dates", replace(query, **dates)
    for name, one in FILTERS.items():
        if name not in {*_NOT_FILTERS, *dates} and getattr(query, name):
            none: dict[str, Any] = {name: None}
            yield one.option.replace("-", " "), replace(query, **none)
    if query.extra:
        yield "other filters", replace(query, extra={})
