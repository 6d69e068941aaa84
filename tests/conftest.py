"""What all tests share: a sandbox that is filled once and a client of it; one browser, and one JupyterLab."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

import prodex
from prodex.sandbox import Sandbox
from prodex.sandbox.sample import shared_products

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.notebook.lab import Lab


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


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Give one browser to all that look through one: its driver cannot run twice in a process."""
    from tests.notebook.lab import chromium

    with chromium() as browser:
        yield browser


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Serve notebooks; their kernels have a PRODEX_HOME of their own, `lab.home`."""
    from tests.notebook.lab import serving

    with serving(tmp_path_factory.mktemp("lab")) as lab:
        yield lab
