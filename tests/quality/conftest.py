"""What tests of audits share: rules of one's own do not outlive their test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import prodex
from prodex.quality.rulebook import RULES
from prodex.sandbox.sample import shared_products


@pytest.fixture(autouse=True)
def own_rules_stay_here() -> Iterator[None]:
    """Forget the rules that a test defined."""
    shipped = dict(RULES)
    yield
    RULES.clear()
    RULES.update(shipped)


@pytest.fixture(scope="session")
def sample() -> prodex.Catalog:
    """Hold 400 products of the sample, as the retailer sees them that sees all."""
    return prodex.flatten(product.record for product in shared_products(400))
