"""Upserts to a service that nobody here made: each product is accounted for, none is sent twice by itself."""

from __future__ import annotations

import itertools

import pytest
from tests.send.strange import WriteCase, judged_write, write_cases

pytestmark = pytest.mark.slow

#: Of all cases of `make soak`, one in so many.
_ONE_IN = 8

#: Seconds for which an import is followed.
_FOLLOWED = 0.5


@pytest.mark.parametrize("case", list(itertools.islice(write_cases(40), 2, None, _ONE_IN)), ids=str)
def test_a_strange_service_is_told_each_product_once(case: WriteCase) -> None:
    """Nothing counts as done that is not, and each product is reported as sent, not sent or unknown."""
    became = judged_write(case, _FOLLOWED)
    assert became.is_good, became
