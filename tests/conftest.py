"""What all tests share: a sandbox that is filled once, and a client of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import prodex
from prodex.sandbox import Sandbox
from prodex.sandbox.sample import shared_products


@pytest.fixture(scope="session")
def sample_exchange() -> Iterator[Sandbox]:
    """Serve 600 products of the sample."""
    with Sandbox(products=shared_products(600)) as sandbox:
        yield sandbox


@pytest.fixture
def service(sample_exchange: Sandbox) -> prodex.Client:
    """Reach them as the retailer that sees all."""
    key = sample_exchange.credentials[0]
    return prodex.connect(
        base_url=sample_exchange.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
    )
