"""The small exchange, running, and clients of those who take part."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from mill_exchange import MILL, SHOP, client, small_exchange

from prodex.sandbox import Sandbox
from prodex.service import Client
from prodex_sandbox.records.model import Organization


@pytest.fixture
def exchange() -> Iterator[Sandbox]:
    """Serve five products of the mill; the shop sees all of them, and the assignation of the last is pending."""
    with small_exchange() as sandbox:
        yield sandbox


@pytest.fixture
def client_of(exchange: Sandbox) -> Callable[[Organization], Client]:
    """Make a client of an organisation."""

    def make(organization: Organization) -> Client:
        return client(exchange, organization)

    return make


@pytest.fixture
def mill(client_of: Callable[[Organization], Client]) -> Client:
    """The manufacturer whose products they are."""
    return client_of(MILL)


@pytest.fixture
def shop(client_of: Callable[[Organization], Client]) -> Client:
    """The retailer."""
    return client_of(SHOP)
