"""A scripted service, and clients that do not wait long for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from exchange import CLIENT_ID, CLIENT_SECRET, Exchange

from prodex.service import Client, RetryPolicy
from prodex.service.settings import Settings

HASTY = RetryPolicy(
    attempts=4,
    first_wait=0.001,
    longest_wait=0.01,
    jitter=0,
    longest_retry_after=0.5,
    retries_per_second=1_000,
)


@pytest.fixture
def exchange() -> Iterator[Exchange]:
    """A service of 120 products."""
    with Exchange(120) as service:
        yield service


@pytest.fixture
def client(exchange: Exchange, make_client: Callable[..., Client]) -> Client:
    """A client of the scripted service."""
    return make_client()


@pytest.fixture
def make_client(exchange: Exchange) -> Callable[..., Client]:
    """Make a client of the scripted service with other options."""

    def make(**options: Any) -> Client:
        options = {"retry": HASTY, "timeout": (2, 2), **options}
        return Client(Settings(exchange.base_url, CLIENT_ID, CLIENT_SECRET), **options)

    return make
