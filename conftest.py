"""For every test, the examples in docstrings included: a home of its own; and which tests `make check` runs.

`pytest --quick` is what `make check` runs. It does not import what needs a browser, JupyterLab or processes that are
killed. Of what is marked `slow` it takes every tenth case of a test with parameters, and leaves out a test that is one
long proof. Laws that Hypothesis tests draw a tenth of their examples (see `tests.examples`). The choice depends on
nothing but the tests themselves, so it is the same everywhere.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings

from prodex.sandbox import Sandbox
from prodex.sandbox.sample import shared_products

_EXAMPLES = ExitStack()

#: Marker -> names of the files whose tests have it. `--quick` leaves these files out.
LEFT_OUT = {
    "browser": ("test_*_in_browser.py", "test_lab.py", "test_notebooks_in_lab.py"),
    "notebooks": ("test_notebooks.py", "test_notebooks_in_lab.py"),
    "kills": ("test_killed*.py",),
}

#: Of the cases of a slow test, `--quick` takes one in so many.
_ONE_IN = 10

# No test depends on how fast the machine is; where CI is set, Hypothesis has a profile of its own that says so too.
settings.register_profile("no deadline", deadline=None)
if not os.environ.get("CI"):
    settings.load_profile("no deadline")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of `make check`."""
    parser.addoption(
        "--quick", action="store_true", help="run what `make check` runs: no browser, no long proof"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Tell modules that are imported from now on whether only a tenth of the examples is wanted."""
    if config.getoption("quick"):
        os.environ["PRODEX_QUICK_TESTS"] = "1"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import what a quick run leaves out: JupyterLab alone takes seconds."""
    return True if config.getoption("quick") and _marks_of(collection_path) else None


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests by the files in which they are, and choose among the slow ones of a quick run."""
    browsing = sorted({item.path for item in items if "browser" in _marks_of(item.path)})
    chains = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    for item in items:
        for mark in _marks_of(item.path):
            item.add_marker(mark)
        if item.path in browsing:
            # The modules of a chain share one browser and one server, and each worker has one chain.
            item.add_marker(pytest.mark.xdist_group(f"browser-{browsing.index(item.path) % chains}"))
    if config.getoption("quick"):
        chosen = _quick(items)
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = [item for item in items if item in chosen]


def _marks_of(path: Path) -> list[str]:
    return [mark for mark, names in LEFT_OUT.items() if any(path.match(name) for name in names)]


def _quick(items: list[pytest.Item]) -> set[pytest.Item]:
    """Return the tests of a quick run: all that are not slow, and every tenth case of those that are."""
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("slow"):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    slow = {item for found in cases.values() for item in found}
    kept = {item for found in cases.values() if len(found) > 1 for item in found[::_ONE_IN]}
    return {item for item in items if item not in slow or item in kept}


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
    return (parent / str(number) / "home" for number in count())


@pytest.fixture(autouse=True)
def home(_homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep every test's snapshots to itself, and real credentials out of all of them."""
    path = next(_homes)
    monkeypatch.setenv("PRODEX_HOME", str(path))
    for name in ("PRODEX_SERVICE", "PRODEX_BASE_URL", "PRODEX_CLIENT_ID", "PRODEX_CLIENT_SECRET"):
        monkeypatch.delenv(name, raising=False)
    return path


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
