"""A sandbox of few products, served where `connect("sandbox")` looks for it, in which three weeks pass."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import prodex
from prodex.sandbox import Sandbox
from prodex_sandbox.records.model import SharedProduct
from prodex_sandbox.sample import shared_products

#: When the weeks end: on a Friday.
UNTIL = datetime(2026, 11, 20, 9, tzinfo=UTC)
#: Enough for every supplier to have products for France.
COUNT = 600


@contextmanager
def exchange_in(
    home: Path, products: Iterable[SharedProduct | Mapping[str, Any]] | None = None
) -> Iterator[Sandbox]:
    """Serve a sandbox in the home of a user."""
    served = shared_products(COUNT) if products is None else products
    with Sandbox(served, home=home / "sandbox") as exchange:
        facts = {"base_url": exchange.base_url, "pid": os.getpid(), "credentials": exchange.credentials}
        (home / "sandbox" / "server.json").write_text(json.dumps(facts, default=str), "utf-8")
        yield exchange


@contextmanager
def three_weeks(home: Path) -> Iterator[Sandbox]:
    """Let three weeks pass in such a sandbox."""
    with pytest.MonkeyPatch.context() as patch, exchange_in(home) as exchange:
        patch.setenv("PRODEX_HOME", str(home))
        prodex.simulated_weeks(until=UNTIL)
        yield exchange
