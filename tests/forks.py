"""Processes that are killed: each is forked from one Python that has imported everything, and so starts at once."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

#: Reads a line for each process: what it sees, as JSON. Answers with its number, and with its status when it has ended.
_SERVER = """
import json, os, sys, traceback
names = {}
exec(sys.argv[1], names)
for line in sys.stdin:
    task = json.loads(line)
    process = os.fork()
    if not process:
        os.environ.update(task["environment"])
        with open(task["complaints"], "w") as file:
            os.dup2(file.fileno(), 2)
        try:
            exec(sys.argv[2], {**names, **task["names"]})
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    print(process, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)
"""

#: Ends a process with the signal `end` at a moment `at`: before or after a call to a service, or after something was
#: written to the disk, each counted from 1. The process has imported what it names.
ENDING_AT = """
calls, flushes = itertools.count(1), itertools.count(1)
send, fsync = requests.Session.send, os.fsync

def ends(moment, number):
    if at == [moment, number]:
        os.kill(os.getpid(), getattr(signal, end))

def counted(session, *arguments, **options):
    number = next(calls)
    ends("before", number)
    reply = send(session, *arguments, **options)
    ends("after", number)
    return reply

def flushed(handle):
    fsync(handle)
    ends("disk", next(flushes))

requests.Session.send, os.fsync = counted, flushed

from contextlib import contextmanager
from prodex.files.sealed_rows import SealedRows
writing = SealedRows.writing

@contextmanager
def committed(rows):
    with writing(rows) as change:
        yield change
    ends("disk", next(flushes))

SealedRows.writing = committed
"""


class Process:
    """A forked process."""

    def __init__(self, server: subprocess.Popen[str], complaints: Path) -> None:
        self._server, self._complaints = server, complaints
        self._number = int(self._line())
        self._status: int | None = None

    def _line(self) -> str:
        assert self._server.stdout is not None
        return self._server.stdout.readline()

    def is_running(self) -> bool:
        if self._status is None and select.select([self._server.stdout], [], [], 0)[0]:
            self._status = int(self._line())
        return self._status is None

    def kill(self) -> None:
        """End it at once (SIGKILL), unless it has just ended by itself."""
        with suppress(ProcessLookupError):
            os.kill(self._number, signal.SIGKILL)
        self.wait()

    def wait(self) -> int:
        """Return its status when it has ended."""
        if self._status is None:
            self._status = int(self._line())
        return self._status

    def complaints(self) -> str:
        """Return what it wrote to the error stream."""
        return self._complaints.read_text("utf-8")


class Forks:
    """A Python from which processes are forked, one after the other."""

    def __init__(self, server: subprocess.Popen[str], complaints: Path) -> None:
        self._server, self._complaints = server, complaints

    def start(self, environment: dict[str, str], **names: Any) -> Process:
        """Start a process that sees these names and variables."""
        task = {"environment": environment, "names": names, "complaints": str(self._complaints)}
        assert self._server.stdin is not None
        self._server.stdin.write(json.dumps(task) + "\n")
        self._server.stdin.flush()
        return Process(self._server, self._complaints)


@contextmanager
def forking(imported: str, work: str, complaints: Path) -> Iterator[Forks]:
    """Give a Python that has run `imported`, and whose processes run `work`."""
    command = [sys.executable, "-c", _SERVER, imported, work]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        yield Forks(server, complaints)
        assert server.stdin is not None
        server.stdin.close()
