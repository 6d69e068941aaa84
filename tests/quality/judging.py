"""Rules of one's own in a module, as other processes can import them."""

from __future__ import annotations

import time

import prodex
from prodex.quality.products import Products


def is_even(products: Products) -> prodex.packs.Verdict:
    """Ids that are odd fail."""
    odd = (products["product_id"].str[-1].isin(list("13579"))).to_numpy()
    return prodex.packs.Verdict(odd)


def raises_on_odd(products: Products) -> prodex.packs.Verdict:
    """Raise where a product's id is odd."""
    if is_even(products).fails.any():
        raise ZeroDivisionError("an odd id")
    return prodex.packs.Verdict([False] * len(products))


def never_returns(products: Products) -> prodex.packs.Verdict:
    """Wait for ever."""
    while True:
        time.sleep(0.01)


def declare() -> None:
    """Make them rules; the tests forget them afterwards."""
    prodex.packs.rule(title="the id is even")(is_even)
    prodex.packs.rule(title="never")(never_returns)
    prodex.packs.rule(title="the id is even, or it raises")(raises_on_odd)
