"""What tests of audits share."""

from __future__ import annotations

import pytest

import prodex
from prodex_sandbox.sample import shared_products


@pytest.fixture(scope="session")
def sample() -> prodex.Catalog:
    """Hold 400 products of the sample, as the retailer sees them that sees all."""
    return prodex.flatten(product.record for product in shared_products(400))
