"""For every test and every example of a docstring: a home and rules of its own; and which tests `make check` runs."""

from __future__ import annotations

import gc
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from itertools import count
from pathlib import Path

import pytest

# Each worker has a core; threads of Arrow that wait for each other cost more than tables of tests take.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from tests import laws, quick
from tests.cases import number_of_rows, own_home, own_rules

from prodex.sandbox import Sandbox
from prodex_sandbox.sample import shared_products

pytest_plugins = ["tests.costs"]

_EXAMPLES = ExitStack()

#: What an example of a docstring begins with.
_PROMPT = b">>>"

#: Tests that have ended in this process, and after how many of them what stays is left out of collections of garbage.
_ENDED, _OFTEN = count(1), 200

#: How many objects are made between two collections: ten times the usual, and twice as many of these before older ones
#: are looked at. A test makes and forgets tables, and hardly ever a cycle.
_BETWEEN_COLLECTIONS = (10_000, 20, 20)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of `make check` and `make soak`."""
    parser.addoption("--quick", action="store_true", help="run what `make check` runs; see tests/quick.py")
    parser.addoption("--full-laws", action="store_true", help="run laws only, in full; see tests/laws.py")


def pytest_configure(config: pytest.Config) -> None:
    """Say how many examples laws have, before any of them is imported, and look for no garbage until all are."""
    laws.load_profile(_times(config))
    gc.disable()


def _times(config: pytest.Config) -> float:
    quick_or_every = laws.QUICK if config.getoption("quick") else 1
    return laws.FULL if config.getoption("full_laws") else quick_or_every


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import what a quick run leaves out, JupyterLab alone takes seconds; no law is there either."""
    is_less = config.getoption("quick") or config.getoption("full_laws")
    return True if is_less and quick.marks_of(collection_path) else None


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Iterator[list[pytest.Collector]]:
    """Look for examples only in files that hold some: each worker would search a thousand others in vain."""
    found = yield
    if file_path.suffix != ".py" or _PROMPT in file_path.read_bytes():
        return found
    return [one for one in found if isinstance(one, pytest.Module)]


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests by the files in which they are, and leave out those that a quick run does not have."""
    for item in items:
        marks = quick.marks_of(item.path)
        for mark in marks:
            item.add_marker(mark)
        if "browser" in marks:
            # One worker has the JupyterLab and the kernel that its tests share, another one the panels without either:
            # both take as long. Documents and reports are with the first.
            is_panel = item.path.match("tests/notebook/*.py") and "lab" not in _fixtures_of(item)
            item.add_marker(pytest.mark.xdist_group("one browser" if is_panel else "browser"))
        elif _shares_with_its_module(item) and not item.get_closest_marker("xdist_group"):
            # One worker makes for all of them what is made once a module.
            item.add_marker(pytest.mark.xdist_group(item.path.stem))
    laws.apply(items, _times(config))
    if config.getoption("full_laws"):
        config.hook.pytest_deselected(items=[item for item in items if not laws.is_law(item)])
        items[:] = [item for item in items if laws.is_law(item)]
    elif config.getoption("quick"):
        slow = {item.nodeid for item in items if _is_slow(item) and not _is_shortened(item)}
        chosen = quick.chosen([item.nodeid for item in items], slow)
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in chosen])
        items[:] = [item for item in items if item.nodeid in chosen]


def pytest_collection_finish() -> None:
    """Leave out of every later collection of garbage what was imported and collected: millions of objects."""
    gc.freeze()
    gc.set_threshold(*_BETWEEN_COLLECTIONS)
    gc.enable()


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


def _is_slow(item: pytest.Item) -> bool:
    return bool(item.get_closest_marker("slow")) or laws.is_law(item)


def _is_shortened(item: pytest.Item) -> bool:
    """Return whether a quick run has a part of a slow test: fewer examples of a law, every tenth row of a table."""
    return laws.has_a_tenth(item) or number_of_rows(getattr(item, "obj", None)) >= quick.ONE_IN


def _shares_with_its_module(item: pytest.Item) -> bool:
    return any(one.scope == "module" for definitions in _fixtures_of(item).values() for one in definitions)


def _fixtures_of(item: pytest.Item) -> Mapping[str, Sequence[pytest.FixtureDef[object]]]:
    found: Mapping[str, Sequence[pytest.FixtureDef[object]]] = getattr(
        getattr(item, "_fixtureinfo", None), "name2fixturedefs", {}
    )
    return found


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


@pytest.fixture(scope="session", autouse=True)
def _no_real_credentials() -> Iterator[None]:
    """Keep real credentials out of all tests."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("PRODEX_SERVICE", "PRODEX_BASE_URL", "PRODEX_CLIENT_ID", "PRODEX_CLIENT_SECRET"):
            patch.delenv(name, raising=False)
        yield


@pytest.fixture(autouse=True)
def home(_homes: Iterator[Path], request: pytest.FixtureRequest) -> Iterator[Path]:
    """Keep every test's snapshots to itself."""
    path = next(_homes)
    with own_home(path):
        if isinstance(request.node, pytest.DoctestItem):
            with _sandbox_of_examples(request.node, path):
                yield path
        else:
            yield path


@pytest.fixture(autouse=True)
def _own_rules_stay_here() -> Iterator[None]:
    """Forget the rules that a test or an example has defined."""
    with own_rules():
        yield


@contextmanager
def _sandbox_of_examples(node: pytest.DoctestItem, home: Path) -> Iterator[None]:
    """Have `connect("sandbox")` of an example find a sandbox that runs in this process, so that none is started."""
    with ExitStack() as stack:
        sources = [one.source for one in node.dtest.examples]
        exchange = None
        if any("import sandbox" in source or "simulated_weeks" in source for source in sources):
            # What happens to the store of a home happens to nobody else's.
            own = Sandbox(products=shared_products(30), home=home / "sandbox")
            exchange = stack.enter_context(own)
        elif any('"sandbox"' in source for source in sources):
            exchange = _exchange_of_examples()
            (home / "sandbox").mkdir(parents=True)
        if exchange is not None:
            facts = {"base_url": exchange.base_url, "pid": os.getpid(), "credentials": exchange.credentials}
            (home / "sandbox" / "server.json").write_text(json.dumps(facts, default=str), "utf-8")
        yield
