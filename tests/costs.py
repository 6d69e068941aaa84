"""What each test costs: `python -m pytest --costs FILE` writes a line for each into FILE.<process>.

Processor time is that of the worker and of all processes that it has started, fixtures included: a fixture of a module
or of the whole run is paid by the first test that asks for it. What a browser or a JupyterLab that lives on takes is
counted where the system has `/proc`; elsewhere it is seen in the seconds of the clock only.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

_PROCESSES = Path("/proc")
#: A second of processor time, in the unit of the system.
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption("--costs", metavar="FILE", help="write what each test costs, as JSON lines")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Note the processor time and the clock around a test and its fixtures."""
    name = item.config.getoption("costs")
    if not name:
        return (yield)
    before, began = _processor_time(), time.time()
    try:
        return (yield)
    finally:
        line = {
            "test": item.nodeid,
            "began": round(began, 3),
            "clock": round(time.time() - began, 3),
            # What a browser took that has ended is known no longer.
            "processor": round(max(_processor_time() - before, 0), 3),
        }
        with Path(f"{name}.{os.getpid()}").open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def _processor_time() -> float:
    """Return the seconds of this process, of those that it has waited for, and of those that it has started."""
    return sum(os.times()[:4]) + _of_descendants(os.getpid())


def _of_descendants(process: int) -> float:
    children: dict[int, list[tuple[int, int]]] = {}
    for path in _PROCESSES.glob("[0-9]*/stat"):
        with suppress(OSError):  # one that has just ended is counted where it was waited for
            # The name of a program may hold anything, parentheses too.
            said = path.read_text("utf-8", "replace").rpartition(")")[2].split()
            parent, ticks = int(said[1]), sum(map(int, said[11:15]))
            children.setdefault(parent, []).append((int(path.parent.name), ticks))
    found, ticks = [process], 0
    for one in found:
        for child, of_child in children.get(one, ()):
            found.append(child)
            ticks += of_child
    return ticks / _TICKS
