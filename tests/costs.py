"""What each test costs: `python -m pytest --costs FILE` writes a line for each into FILE.<process>.

Processor time is that of the worker and of the processes for which it has waited, fixtures included: a fixture of a
module or of the whole run is paid by the first test that asks for it. What a browser or a JupyterLab that lives on
takes is seen in the seconds of the clock only.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption("--costs", metavar="FILE", help="write what each test costs, as JSON lines")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Note the processor time and the clock around a test and its fixtures."""
    name = item.config.getoption("costs")
    if not name:
        return (yield)
    before, began = sum(os.times()[:4]), time.time()
    try:
        return (yield)
    finally:
        line = {
            "test": item.nodeid,
            "began": round(began, 3),
            "clock": round(time.time() - began, 3),
            "processor": round(sum(os.times()[:4]) - before, 3),
        }
        with Path(f"{name}.{os.getpid()}").open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
