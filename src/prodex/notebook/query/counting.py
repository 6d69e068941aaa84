"""How many products match a query, as the service announces it."""

from __future__ import annotations

from collections.abc import Callable

from prodex.query import GTINS_PER_CALL, ProductQuery
from prodex.service import Client
from prodex.service.paging import announced


def count_products(
    service: Client, query: ProductQuery, is_wanted: Callable[[], bool] = lambda: True
) -> int | None:
    """Return how many products match, or None when the number is no longer wanted.

    Parameters
    ----------
    is_wanted
        Called before each call to the service: a long list of GTINs is counted in several calls, which are not worth
        making for a query that has changed meanwhile.
    """
    total = 0
    for part in query.in_calls():
        if not is_wanted():
            return None
        total += announced(service.search_products(part.to_probe()))
    return total


def count_text(count: int, query: ProductQuery) -> str:
    """Return how many products match, as a sentence.

    >>> count_text(1203, ProductQuery()), count_text(1, ProductQuery())
    ('1,203 products match', '1 product matches')
    """
    sentence = "1 product matches" if count == 1 else f"{count:,} products match"
    gtins = query.gtins_in or ()
    if len(gtins) > GTINS_PER_CALL:
        calls = -(-len(gtins) // GTINS_PER_CALL)
        sentence += f" (the sum of {calls:,} calls, for {len(gtins):,} GTINs)"
    return sentence
