"""How anything is measured: in fresh processes, seconds and the peak of memory, as JSON on the last line.

What is compared is measured in turns in one run, so that a noisy machine is noisy for all.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

#: The repository, from which `tests.bench` can be run as a module.
HOME = Path(__file__).parents[2]


class Measured(NamedTuple):
    """What something took.

    Attributes
    ----------
    seconds
        By the clock on the wall.
    cpu
        Seconds of processor time, of child processes too.
    peak_mb
        Peak of memory of the process, in MB; with child processes, the largest of them is added.
    """

    seconds: float
    cpu: float
    peak_mb: float


class Stopwatch:
    """Measures what happens from when it is made."""

    def __init__(self) -> None:
        self._began, self._cpu = perf_counter(), _cpu_seconds()

    def read(self) -> Measured:
        peak = sum(usage.ru_maxrss for usage in _usages()) / 1024
        return Measured(perf_counter() - self._began, _cpu_seconds() - self._cpu, peak)


def alone(module: str, *arguments: object, home: Path | None = None) -> Any:
    """Run a module of this package in a fresh process and return the JSON of its last line."""
    command = [sys.executable, "-m", f"tests.bench.{module}", *map(str, arguments)]
    environment = os.environ | ({"PRODEX_HOME": str(home)} if home else {})
    ended = subprocess.run(command, cwd=HOME, env=environment, stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(ended.stdout.splitlines()[-1])


@contextmanager
def sandbox(*options: object) -> Iterator[dict[str, Any]]:
    """Serve the sandbox from a process of its own; gives what it says of itself: its address and its keys."""
    with tempfile.TemporaryDirectory(prefix="prodex-bench-") as home:
        command = [
            sys.executable,
            "-m",
            "prodex",
            "sandbox",
            "--home",
            home,
            "--port",
            "0",
            *map(str, options),
        ]
        with subprocess.Popen(command, cwd=HOME, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                yield json.loads(process.stdout.readline())
            finally:
                process.terminate()


def _usages() -> list[resource.struct_rusage]:
    return [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]


def _cpu_seconds() -> float:
    return sum(usage.ru_utime + usage.ru_stime for usage in _usages())
