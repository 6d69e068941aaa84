"""Tests of widgets without a browser run as in a script: where no event loop waits for what a thread has found."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def without_loop(request: pytest.FixtureRequest) -> Iterator[None]:
    """Hide the loop of the browser's driver, which stands still between two calls but counts as running."""
    loop = asyncio._get_running_loop()
    if "browser" in request.fixturenames or loop is None:
        yield
        return
    asyncio._set_running_loop(None)
    yield
    asyncio._set_running_loop(loop)
