"""For every test and every example of a docstring: a home and rules of its own; and which tests `make check` runs."""

from __future__ import annotations

import gc
import json
import os
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings
from tests import quick

pytest_plugins = ["tests.costs"]

from prodex.quality.rulebook import RULES
from prodex.sandbox import Sandbox
from prodex_sandbox.sample import shared_products

_EXAMPLES = ExitStack()

#: Tests that have ended in this process, and after how many of them what stays is left out of collections of garbage.
_ENDED, _OFTEN = count(1), 200

# No test depends on how fast the machine is. A law that names no number of its own is about one value or a few records,
# and nearly every wrong one falsifies it. Where CI is set, the rest is as Hypothesis wants it there.
settings.register_profile("prodex", settings(), deadline=None, max_examples=50)
settings.load_profile("prodex")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of `make check`."""
    parser.addoption("--quick", action="store_true", help="run what `make check` runs; see tests/quick.py")


def pytest_configure(config: pytest.Config) -> None:
    """Prepare a quick run before any test is imported."""
    if config.getoption("quick"):
        quick.be_quick()
        settings.register_profile("quick", settings(), max_examples=quick.examples(settings().max_examples))
        settings.load_profile("quick")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import what a quick run leaves out: JupyterLab alone takes seconds."""
    return True if config.getoption("quick") and quick.marks_of(collection_path) else None


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests by the files in which they are, and leave out those that a quick run does not have."""
    for item in items:
        marks = quick.marks_of(item.path)
        for mark in marks:
            item.add_marker(mark)
        if "browser" in marks:
            # One worker has the browser, the JupyterLab and the kernel that all of them share.
            item.add_marker(pytest.mark.xdist_group("browser"))
        elif _shares_with_its_module(item) and not item.get_closest_marker("xdist_group"):
            # One worker makes for all of them what is made once a module.
            item.add_marker(pytest.mark.xdist_group(item.path.stem))
    if config.getoption("quick"):
        # Of a law Hypothesis draws fewer examples.
        slow = {item.nodeid for item in items if item.get_closest_marker("slow") and not _is_law(item)}
        chosen = quick.chosen([item.nodeid for item in items], slow)
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in chosen])
        items[:] = [item for item in items if item.nodeid in chosen]


def pytest_collection_finish() -> None:
    """Leave out of every later collection of garbage what was imported and collected: millions of objects."""
    _leave_out_what_stays()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """Leave out from time to time what tests have imported and remembered, which stays to the end."""
    if next(_ENDED) % _OFTEN == 0:
        _leave_out_what_stays()


def _leave_out_what_stays() -> None:
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """Let what is frozen be collected when the process ends: libraries count what they have given out."""
    gc.unfreeze()


def _is_law(item: pytest.Item) -> bool:
    return bool(getattr(getattr(item, "obj", None), "is_hypothesis_test", False))


def _shares_with_its_module(item: pytest.Item) -> bool:
    found = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
    return any(one.scope == "module" for definitions in found.values() for one in definitions)


@cache
def _exchange_of_examples() -> Sandbox:
    """Serve thirty products of the sample, from the first example that asks for them to the end."""
    return _EXAMPLES.enter_context(Sandbox(products=shared_products(30)))


@pytest.fixture(scope="session", autouse=True)
def _examples_end() -> Iterator[None]:
    with _EXAMPLES:
        yield


@pytest.fixture(scope="session")
def _homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return one folder after another; none is made, since most tests never write to theirs."""
    parent = tmp_path_factory.mktemp("homes")
    return (parent / f"home-{number}" for number in count())


@pytest.fixture(autouse=True)
def home(_homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep every test's snapshots to itself, and real credentials out of all of them."""
    path = next(_homes)
    monkeypatch.setenv("PRODEX_HOME", str(path))
    for name in ("PRODEX_SERVICE", "PRODEX_BASE_URL", "PRODEX_CLIENT_ID", "PRODEX_CLIENT_SECRET"):
        monkeypatch.delenv(name, raising=False)
    return path


@pytest.fixture(autouse=True)
def _own_rules_stay_here() -> Iterator[None]:
    """Forget the rules that a test or an example has defined."""
    before = dict(RULES)
    yield
    RULES.clear()
    RULES.update(before)


@pytest.fixture(autouse=True)
def _sandbox_of_examples(request: pytest.FixtureRequest, home: Path) -> Iterator[None]:
    """Have `connect("sandbox")` of an example find a sandbox that runs in this process, so that none is started."""
    with ExitStack() as stack:
        if isinstance(request.node, pytest.DoctestItem):
            sources = [one.source for one in request.node.dtest.examples]
            exchange = None
            if any("import sandbox" in source or "simulated_weeks" in source for source in sources):
                # What happens to the store of a home happens to nobody else's.
                own = Sandbox(products=shared_products(30), home=home / "sandbox")
                exchange = stack.enter_context(own)
            elif any('"sandbox"' in source for source in sources):
                exchange = _exchange_of_examples()
                (home / "sandbox").mkdir(parents=True)
            if exchange is not None:
                facts = {
                    "base_url": exchange.base_url,
                    "pid": os.getpid(),
                    "credentials": exchange.credentials,
                }
                (home / "sandbox" / "server.json").write_text(json.dumps(facts, default=str), "utf-8")
        yield
