"""Upserts to a service that nobody here made: each product is accounted for, none is sent twice by itself."""

from __future__ import annotations

import itertools

import pytest
from tests.send.strange import WriteCase, judged_write, write_cases

#: Of all cases of `make soak`, one in so many.
_ONE_IN = 8


@pytest.mark.parametrize("case", list(itertools.islice(write_cases(40), 2, None, _ONE_IN)), ids=str)
def test_a_strange_service_is_told_each_product_once(case: WriteCase) -> None:
    """Nothing is called done that is not, and what was sent, was not, or may have been is said of each product."""
    became = judged_write(case)
    assert became.is_good, became
