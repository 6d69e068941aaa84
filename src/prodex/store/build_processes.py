"""Processes that build parts beside the process of the user, which meanwhile fetches.

They are not those of `multiprocessing`, which run the script of the user again to find their functions, in each of them
(or never end, where it is not guarded). These run this module alone, and get what they need as bytes: a job goes to the
standard input of a process, its result comes from its standard output.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any, TypeVar

_Result = TypeVar("_Result")

#: Before each message: how many bytes it has.
_LENGTH = 8


class BuildProcesses(Executor):
    """Runs functions of prodex in processes of its own; where none can be started, in threads.

    Parameters
    ----------
    count
        How many processes. They start at once, since each takes half a second until it can work.

    Raises
    ------
    BrokenExecutor
        From a future, when the process that had its job ended.

    Examples
    --------
    >>> from prodex.messages import counted
    >>> with BuildProcesses(1) as processes:
    ...     processes.submit(counted, 2, "product").result()
    '2 products'
    """

    def __init__(self, count: int) -> None:
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="prodex-build")
        self._own = threading.local()
        self._processes: list[_Process] = []
        self._is_cancelled = False
        for _ in range(count):
            self._threads.submit(self._start)

    def submit(self, function: Callable[..., _Result], /, *args: Any, **kwargs: Any) -> Future[_Result]:
        """Call a function of a module of prodex in a process that is idle, as soon as there is one."""
        return self._threads.submit(self._run, function, args, kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes; those that still have a job end after it, or at once where nobody wants it any more."""
        if cancel_futures:
            self._is_cancelled = True
            for process in tuple(self._processes):
                process.kill()
        self._threads.shutdown(wait=wait, cancel_futures=cancel_futures)
        for process in self._processes:
            process.kill()

    def _start(self) -> None:
        """Start the process of this thread."""
        process = _Process.started()
        if process is not None:
            self._processes.append(process)
        # `shutdown` may have ended all others meanwhile: nobody would end this one, or this thread, before its job.
        if self._is_cancelled:
            if process is not None:
                process.kill()
            raise BrokenExecutor("the load was cut short while a process was started to build a part")
        self._own.process = process

    def _run(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        if not hasattr(self._own, "process"):
            self._start()
        process: _Process | None = self._own.process
        if process is None:
            return function(*args, **kwargs)
        try:
            worked, outcome = process.call(pickle.dumps((function, args, kwargs)))
        except (OSError, EOFError) as error:
            process.kill()
            del self._own.process  # the next job gets another one
            raise BrokenExecutor(f"a process that built a part ended ({error})") from error
        if worked:
            return outcome
        raise outcome


class _Process:
    """One process, and the pipes to it."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    @classmethod
    def started(cls) -> _Process | None:
        """Start a process, or return None where that is not possible."""
        # As this process finds its modules, wherever it was started from.
        path = os.pathsep.join(folder or str(Path.cwd()) for folder in sys.path)
        environment = {**os.environ, "PYTHONPATH": path}
        # A key that interrupts this process is not for the others: this one tells them to end.
        apart: dict[str, Any] = (
            {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}  # type: ignore[attr-defined,unused-ignore]
            if os.name == "nt"
            else {"process_group": 0}
        )
        try:
            process = subprocess.Popen(  # noqa: S603 - this very Python
                [sys.executable, "-P", "-c", f"from {__spec__.name} import serve; serve()"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=environment,
                **apart,
            )
        except (OSError, ValueError):
            return None
        started = cls(process)
        # Where Python is embedded in another program, its executable may be that program.
        with suppress(OSError, EOFError, ValueError, MemoryError, pickle.UnpicklingError):
            if started.call(pickle.dumps((os.getpid, (), {}))) == (True, process.pid):
                return started
        started.kill()
        return None

    def call(self, job: bytes) -> Any:
        """Send a job and return whether it worked, and its result or its error."""
        assert self._process.stdin is not None  # noqa: S101 - both are pipes
        assert self._process.stdout is not None  # noqa: S101
        _write(self._process.stdin, job)
        return pickle.loads(_read(self._process.stdout))  # noqa: S301 - from a process of our own

    def kill(self) -> None:
        """End it now; what it was writing is in a folder that nobody takes for a snapshot."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError, ValueError):
                assert pipe is not None  # noqa: S101
                pipe.close()


def serve() -> None:
    """Do what comes on the standard input, and end with whoever sends it, however that ends."""
    # Whatever else prints something must not be taken for a result.
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    jobs: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_receive, args=[jobs], daemon=True).start()
    while True:
        _write(results, _outcome(jobs.get()))


def _receive(jobs: SimpleQueue[bytes]) -> None:
    """Read jobs until their sender is gone, and then end at once: another process may take over its work."""
    try:
        while True:
            jobs.put(_read(sys.stdin.buffer))
    finally:
        os._exit(0)


def _outcome(job: bytes) -> bytes:
    function, args, kwargs = pickle.loads(job)  # noqa: S301 - from the process that started this one
    try:
        return pickle.dumps((True, function(*args, **kwargs)))
    except Exception as error:  # noqa: BLE001 - raised again where somebody waits for it
        return pickle.dumps((False, error))


def _write(pipe: IO[bytes], message: bytes) -> None:
    pipe.write(len(message).to_bytes(_LENGTH, "big") + message)
    pipe.flush()


def _read(pipe: IO[bytes]) -> bytes:
    size = _exactly(pipe, _LENGTH)
    return _exactly(pipe, int.from_bytes(size, "big"))


def _exactly(pipe: IO[bytes], size: int) -> bytes:
    found = pipe.read(size)
    if len(found) < size:
        raise EOFError("its pipe was closed")
    return found
