"""How anything is measured: in fresh processes, seconds and the peak of memory, as JSON on the last line.

What is compared is measured in turns in one run, so that a noisy machine is noisy for all.
"""

from __future__ import annotations

import io
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from runpy import run_path
from threading import Event, Thread
from time import perf_counter
from typing import Any, NamedTuple

#: The repository, from which `tests.bench` can be run as a module.
HOME = Path(__file__).parents[2]

#: Set where it is asked whether something works, and not how fast.
HERE = Event()

#: Seconds between two looks at the memory of several processes.
_LOOK_EVERY = 0.05


class Measured(NamedTuple):
    """What something took.

    Attributes
    ----------
    seconds
        By the clock on the wall.
    cpu
        Seconds of processor time, of child processes too.
    peak_mb
        Peak of memory of the process and of all its child processes at the same time, in MB.
    """

    seconds: float
    cpu: float
    peak_mb: float


class Stopwatch:
    """Measures what happens from when it is made."""

    def __init__(self) -> None:
        self._began, self._cpu = perf_counter(), _cpu_seconds()
        self._together = 0.0
        self._ended = Event()
        self._looking = Thread(target=self._look, daemon=True)
        self._looking.start()

    def read(self) -> Measured:
        seconds, cpu = perf_counter() - self._began, _cpu_seconds() - self._cpu
        self._ended.set()
        self._looking.join()
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return Measured(seconds, cpu, max(own, self._together))

    def _look(self) -> None:
        # The kernel keeps the peak of one process. Of several together nobody does, so somebody has to look.
        while not self._ended.wait(_LOOK_EVERY):
            self._together = max(self._together, memory_of_all())


def memory_of_all() -> float:
    """Return the MB that this process and all below it hold now: what files they share counts once."""
    own, shared = [], []
    waiting = [str(os.getpid())]
    while waiting:
        process = Path("/proc", waiting.pop())
        try:
            _, resident, of_files, *_ = map(int, (process / "statm").read_text().split())
            below = [path.read_text() for path in (process / "task").glob("*/children")]
        except (OSError, ValueError):  # it has just ended, or the system has no such files
            continue
        own.append(resident - of_files)
        shared.append(of_files)
        waiting += " ".join(below).split()
    return (sum(own) + max(shared, default=0)) * resource.getpagesize() / 2**20


def alone(module: str, *arguments: object, home: Path | None = None) -> Any:
    """Run a module of this package in a fresh process and return the JSON of its last line.

    Where nothing is measured (`HERE`), it runs in this process: to start hundreds of them takes minutes.
    """
    if HERE.is_set():
        return _here(module, *arguments, home=home)
    command = [sys.executable, "-m", f"tests.bench.{module}", *map(str, arguments)]
    environment = os.environ | ({"PRODEX_HOME": str(home)} if home else {})
    ended = subprocess.run(command, cwd=HOME, env=environment, stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(ended.stdout.splitlines()[-1])


def _here(module: str, *arguments: object, home: Path | None) -> Any:
    path = str(Path(__file__).with_name(f"{module}.py"))
    said = said_here(lambda: run_path(path, run_name="__main__"), module, *arguments, home=home)
    return json.loads(said.splitlines()[-1])


def said_here(work: Callable[[], object], *arguments: object, home: Path | None) -> str:
    """Do in this process what a process of its own would do, and return what it prints.

    Parameters
    ----------
    work
        What to do.
    *arguments
        The name of the program and what it is given.
    home
        PRODEX_HOME meanwhile; None for the one there is.
    """
    given, before = sys.argv, dict(os.environ)
    sys.argv = list(map(str, arguments))
    os.environ.update({"PRODEX_HOME": str(home)} if home else {})
    try:
        with redirect_stdout(io.StringIO()) as said:
            work()
    finally:
        sys.argv = given
        os.environ.clear()
        os.environ.update(before)
    return said.getvalue()


@contextmanager
def sandbox(products: Path, *options: object, home: Path | None = None) -> Iterator[dict[str, Any]]:
    """Serve products from a process of its own; gives what it says of itself: its address and its keys.

    A home that is given keeps them, so that the next sandbox there has no need to read them again.
    """
    with tempfile.TemporaryDirectory(prefix="prodex-bench-") as passing:
        command = [
            sys.executable,
            "-m",
            "prodex_sandbox",
            "--home",
            str(home or passing),
            "--port",
            "0",
            "--products",
            str(products),
            *map(str, options),
        ]
        with subprocess.Popen(command, cwd=HOME, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                yield json.loads(process.stdout.readline())
            finally:
                process.terminate()


def _cpu_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)
