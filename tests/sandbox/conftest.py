"""The small exchange, served; and callers for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from small_exchange import DAIRY, LABELS, MARKET, MILL, PRODUCTS, SHOP, Caller

from prodex.sandbox import Sandbox
from prodex_sandbox.records.model import Organization

CallerOf = Callable[..., Caller]


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """Serve the small exchange."""
    with Sandbox(PRODUCTS, organizations=[SHOP, MARKET, MILL, DAIRY], labels=LABELS) as sandbox:
        yield sandbox


@pytest.fixture(scope="session")
def shop(sandbox: Sandbox) -> Iterator[Caller]:
    """Call as the retailer that sees four products."""
    caller = Caller(sandbox.base_url).log_in()
    with caller.session:
        yield caller


@pytest.fixture
def caller_of(sandbox: Sandbox) -> Iterator[CallerOf]:
    """Call as any organisation, at the small exchange or another sandbox."""
    callers: list[Caller] = []

    def call_as(organization: Organization = SHOP, at: Sandbox = sandbox) -> Caller:
        callers.append(Caller(at.base_url, organization))
        return callers[-1].log_in()

    yield call_as
    for caller in callers:
        caller.session.close()
