"""What all tests share: a home of their own, and two sandboxes that are filled once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import prodex
from prodex.sandbox import Sandbox
from prodex.sandbox.sample import shared_products


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep every test's snapshots to itself, and real credentials out of all of them."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path / "home"))
    for name in ("PRODEX_BASE_URL", "PRODEX_CLIENT_ID", "PRODEX_CLIENT_SECRET"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "home"


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
