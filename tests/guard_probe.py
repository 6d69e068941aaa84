"""What `tests.guard` puts beside a copy of the source: notes which planted places each test reaches, and what failed.

It is a plugin of pytest, and what the places call, in this process and in those that tests start.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from typing import Any

FILE, PROCESS = "PRODEX_GUARD_FILE", "PRODEX_GUARD_PROCESS"

_reached: set[int] = set()
#: Fixtures that are made once for several tests -> what was reached when they were made.
_of_fixtures: dict[Any, set[int]] = {}
_outcomes: set[str] = set()
_modules: list[Any] = []


def hit(number: int) -> None:
    """Note that a place was reached; it is falsy, so that `hit(1) or x` is `x`."""
    if number in _reached:
        return
    _reached.add(number)
    if os.environ.get(PROCESS) != str(os.getpid()):
        _write({"test": os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0], "reached": [number]})


def _write(line: dict[str, Any]) -> None:
    if name := os.environ.get(FILE):
        descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.write(descriptor, (json.dumps(line) + "\n").encode())
        os.close(descriptor)


def _processor() -> float:
    return sum(os.times()[:4])


def _forget() -> None:
    """Forget what functions of the source remember: each module of tests reaches anew what makes it."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in {"prodex", "prodex_sandbox"}:
            for one in list(vars(module).values()):
                if callable(forget := getattr(one, "cache_clear", None)):
                    forget()


if "pytest" in sys.modules:  # a program that a test starts needs no plugin
    import pytest

    def pytest_configure() -> None:
        """Draw the examples of laws as ever, but do not look for the smallest that fails, nor show what went wrong."""
        from hypothesis import Phase, settings

        os.environ[PROCESS] = str(os.getpid())
        settings.register_profile("guard", settings(), phases=[Phase.explicit, Phase.generate])
        settings.load_profile("guard")

    def pytest_report_header() -> str:
        """Say which source is tested."""
        import prodex

        return f"guard: {prodex.__file__}"

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
        """Note what a fixture of several tests reaches: it is reached by each of these."""
        if fixturedef.scope == "function":
            return (yield)
        before = set(_reached)
        _reached.clear()
        try:
            return (yield)
        finally:
            _of_fixtures[fixturedef] = set(_reached)
            _reached.update(before)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
        """Write what a test costs and reaches, and how it ended."""
        _reached.clear()
        _outcomes.clear()
        if _modules[-1:] != [item.path]:
            _modules.append(item.path)
            _forget()
        before, began = _processor(), time.time()
        try:
            return (yield)
        finally:
            shared = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
            made = [_of_fixtures.get(one, set()) for found in shared.values() for one in found]
            _write(
                {
                    "test": item.nodeid,
                    "passed": _outcomes == {"passed"},
                    "processor": round(_processor() - before, 3),
                    "clock": round(time.time() - began, 3),
                    "reached": sorted(_reached.union(*made)),
                }
            )

    def pytest_runtest_logreport(report: pytest.TestReport) -> None:
        """Keep how each phase of a test ended."""
        _outcomes.add(report.outcome)

    def pytest_collectreport(report: pytest.CollectReport) -> None:
        """Write which module could not be imported."""
        if report.failed:
            _write({"test": report.nodeid, "passed": False, "reached": []})
