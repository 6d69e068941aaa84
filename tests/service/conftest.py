"""A scripted service, and clients that do not wait long for it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import requests
from exchange import CLIENT_ID, CLIENT_SECRET, Exchange
from requests.adapters import HTTPAdapter

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

    def make(base_url: str = exchange.base_url, **options: Any) -> Client:
        options = {"retry": HASTY, "timeout": (2, 2), **options}
        return Client(Settings(base_url, CLIENT_ID, CLIENT_SECRET), **options)

    return make


class Tunnel(HTTPAdapter):
    """Carries what is sent to a service far away to one on this machine."""

    def __init__(self, near: str) -> None:
        super().__init__()
        self.near = near

    def send(self, request: requests.PreparedRequest, *arguments: Any, **options: Any) -> requests.Response:
        request.url = f"{self.near}{request.path_url}"
        return super().send(request, *arguments, **options)


@pytest.fixture
def far_client(exchange: Exchange, make_client: Callable[..., Client]) -> Client:
    """A client of the scripted service, which is on another machine as far as it knows."""
    session = requests.Session()
    session.trust_env = False
    session.mount("https://", Tunnel(exchange.base_url))
    return make_client("https://api.example.com", session=session, calls_per_second=math.inf)
