"""For every test, the examples in docstrings included: a home of its own."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings

from prodex.sandbox import Sandbox
from prodex.sandbox.sample import shared_products

_EXAMPLES = ExitStack()

# No test depends on how fast the machine is; where CI is set, Hypothesis has a profile of its own that says so too.
settings.register_profile("no deadline", deadline=None)
if not os.environ.get("CI"):
    settings.load_profile("no deadline")


@cache
def _exchange_of_examples() -> Sandbox:
    """Serve thirty products of the sample, from the first example that asks for them to the end."""
    return _EXAMPLES.enter_context(Sandbox(products=shared_products(30)))


@pytest.fixture(scope="session", autouse=True)
def _examples_end() -> Iterator[None]:
    with _EXAMPLES:
        yield


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep every test's snapshots to itself, and real credentials out of all of them."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path / "home"))
    for name in ("PRODEX_SERVICE", "PRODEX_BASE_URL", "PRODEX_CLIENT_ID", "PRODEX_CLIENT_SECRET"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "home"


@pytest.fixture(autouse=True)
def _sandbox_of_examples(request: pytest.FixtureRequest, home: Path) -> None:
    """Have `connect("sandbox")` of an example find a sandbox that runs in this process, so that none is started."""
    if isinstance(request.node, pytest.DoctestItem) and any(
        '"sandbox"' in one.source for one in request.node.dtest.examples
    ):
        exchange = _exchange_of_examples()
        facts = {"base_url": exchange.base_url, "pid": os.getpid(), "credentials": exchange.credentials}
        (home / "sandbox").mkdir(parents=True)
        (home / "sandbox" / "server.json").write_text(json.dumps(facts, default=str), "utf-8")
