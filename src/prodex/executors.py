"""Work on parts, one after another, by any executor: on threads, in other processes, or by the workers of a cluster.

A job for another process is sealed: it is sent as bytes, which the worker opens after it has compared its version of
prodex and has seen the folders that it needs. So a worker that would read or build something else refuses first.
Results are returned one by one: what a worker still held would be lost with it.

Reading, compressing and computing with columns happens without the lock of the interpreter, so that threads help.
"""

from __future__ import annotations

import gc
import os
import pickle
import platform
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager
from importlib.metadata import version
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

from prodex.arguments import described
from prodex.errors import InputError, WorkerLost, WorkerRefused

_Result = TypeVar("_Result")

#: Making tables of JSON holds the lock of the interpreter for a third of its time: more threads would wait for it.
_MOST_THREADS = 4

#: Seconds between two reports of how much is done.
REPORT_SECONDS = 0.25


def checked_executor(executor: Any) -> Executor | None:
    """Return the executor that was given, if it is one.

    Raises
    ------
    InputError
        When it is something else, such as the client of a Dask cluster, which has one.
    """
    if executor is None or isinstance(executor, Executor):
        return executor
    own = " Of a Dask client it is client.get_executor()." if hasattr(executor, "get_executor") else ""
    raise InputError(
        f"executor is {described(executor)}. Give a concurrent.futures executor, or leave it out.{own}"
    )


def own_threads() -> ThreadPoolExecutor:
    """Return the threads that work on parts where no executor was given."""
    return ThreadPoolExecutor(min(os.cpu_count() or 1, _MOST_THREADS), thread_name_prefix="prodex-parts")


@contextmanager
def running(executor: Executor | None) -> Iterator[Executor]:
    """Give the executor that was given, which stays open, or threads of our own, which end here."""
    if executor is not None:
        yield executor
        return
    with own_threads() as own:
        yield own


def mapped(
    executor: Executor,
    function: Callable[..., _Result],
    *arguments: Iterable[Any],
    folders: Sequence[Path] = (),
    waiting: Callable[[], object] = lambda: None,
) -> Iterator[_Result]:
    """Call a function once for each set of arguments, and yield the results in the order of these.

    Parameters
    ----------
    executor
        Threads get the arguments as they are, all other executors as bytes. Functions of a notebook go to other
        processes where cloudpickle is installed, as it is with Dask, but not to a `ProcessPoolExecutor`.
    function
        It may be called again for the same arguments, when the worker that had them was killed.
    *arguments
        As for `map`: the shortest of them ends it.
    folders
        What the function reads and writes on disk, and every worker must see under the same path.
    waiting
        Called again and again while a result is waited for.

    Raises
    ------
    WorkerRefused
        When a worker has another version of prodex, lacks a module, or does not see one of the folders.
    WorkerLost
        When a worker was killed and nobody took over its part.
    InputError
        When an argument cannot be sent to another process.
    """
    is_here = isinstance(executor, ThreadPoolExecutor)
    losses = () if is_here else _losses()  # threads are not lost: what they raise is the function's own
    needed = [str(folder.absolute()) for folder in folders]
    # An executor may take two equal calls for one, and these read and write files.
    once = uuid4().hex
    futures: deque[Future[_Result]] = deque()
    try:
        for one in zip(*arguments, strict=False):
            if is_here:
                futures.append(executor.submit(function, *one))
            else:
                sealed = _sealed(executor, (function, one))
                futures.append(executor.submit(_opened, version("prodex"), needed, sealed, once))
        while futures:
            while not wait([futures[0]], REPORT_SECONDS).done:
                waiting()
            yield futures.popleft().result()
    except losses as error:
        raise WorkerLost(
            f"A worker ended before its part was done, and nobody took it over ({type(error).__name__}: {error}). It "
            "may have been killed, or have used up its memory. What was loaded and built is kept: the same call "
            "continues from there, with an executor whose workers run."
        ) from error
    finally:
        for future in futures:
            future.cancel()


def _opened(wanted: str, folders: Sequence[str], sealed: bytes, once: str) -> Any:  # noqa: ARG001 - see `mapped`
    """Do a job in the process of a worker."""
    worker = f"The worker on {platform.node() or 'an unknown host'} (process {os.getpid()})"
    if (own := version("prodex")) != wanted:
        raise WorkerRefused(
            f"{worker} has prodex {own}, and you have {wanted}. Install the same version everywhere: "
            f"pip install prodex=={wanted}"
        )
    if missing := [folder for folder in folders if not os.path.isdir(folder)]:  # noqa: PTH112 - as it was sent
        raise WorkerRefused(
            f"{worker} does not see {missing[0]}. Set PRODEX_HOME to a folder on a file system that all workers and "
            "you see under the same path."
        )
    try:
        function, arguments = pickle.loads(sealed)  # noqa: S301 - from whoever gives this process its work
    except (ImportError, AttributeError) as error:
        raise WorkerRefused(
            f"{worker} lacks what a job needs: {error}. Install it there, or define the rule in your notebook; a file "
            "of your own goes to the workers of a Dask cluster by client.upload_file(path)."
        ) from error
    return function(*arguments)


def _sealed(executor: Executor, job: Any) -> bytes:
    try:
        sealed: bytes = _dumps(executor)(job)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise InputError(
            f"A job cannot be sent to another process: {error}. A rule of your own may hold something that lives in "
            "this process alone (an open file, a connection, a lock); make it inside the rule, or leave executor out."
        ) from error
    return sealed


def _dumps(executor: Executor) -> Callable[[Any], bytes]:
    """Return what writes a job as bytes; only cloudpickle writes functions that no module has."""
    # Whoever only reads a catalogue on threads does not wait for what starts processes.
    from concurrent.futures import ProcessPoolExecutor

    if not isinstance(executor, ProcessPoolExecutor):
        try:
            from cloudpickle import dumps
        except ImportError:
            return pickle.dumps
        by_value: Callable[[Any], bytes] = dumps
        return by_value
    return pickle.dumps


def _losses() -> tuple[type[BaseException], ...]:
    """Return what executors raise where workers end; Dask's own errors where Dask is in use at all."""
    cluster = sys.modules.get("distributed")
    own = () if cluster is None else (cluster.KilledWorker,)
    return (BrokenExecutor, CancelledError, *own)


_Item = TypeVar("_Item")
_Made = TypeVar("_Made")


class _Here(threading.local):
    """What is true of the thread that asks."""

    uses_half = False


_HERE = _Here()


def side_by_side(
    work: Callable[[_Item], _Made], items: Iterable[_Item], *, threads: int | None = None
) -> Iterator[_Made]:
    """Yield what a function makes of each item, in order; as many threads as there are cores work ahead.

    In a thread that has stepped back half of them work.

    Unlike `Executor.map`, it takes no more items than are worked on, and holds no more results than one a thread.

    Parameters
    ----------
    work
        What is done with each.
    items
        The items; they are asked for here, one at a time.
    threads
        How many threads, where it is not the cores that decide: one makes the next result while this one is used.

    Examples
    --------
    >>> list(side_by_side(str.upper, ["wide", "narrow"]))
    ['WIDE', 'NARROW']
    """
    if threads is None:
        cores = os.cpu_count() or 1
        threads = (cores + 1) // 2 if _HERE.uses_half else cores
    waiting: Iterator[_Item] = iter(items)
    under_way: deque[Future[_Made]] = deque()
    # Most catalogues are of one part, for which a thread would only be started and waited for.
    if len(first := list(islice(waiting, 2))) < 2:
        yield from map(work, first)
        return
    waiting = chain(first, waiting)
    with ThreadPoolExecutor(threads) as pool:
        try:
            while True:
                under_way.extend(
                    pool.submit(work, one) for one in islice(waiting, threads + 1 - len(under_way))
                )
                if not under_way:
                    return
                yield under_way.popleft().result()
        finally:
            # Whoever takes no more, or is interrupted, does not wait for what has not begun.
            for future in under_way:
                future.cancel()


def use_half_the_cores() -> None:
    """Leave half of the processors to others: for a thread whose result nobody waits for, and which ends with its work.

    It is not made less urgent (`nice`) as well: Arrow begins the threads that it keeps for good in whichever thread
    reads first, and they would be less urgent ever after.
    """
    _HERE.uses_half = True


@contextmanager
def without_collecting() -> Iterator[None]:
    """Let millions of objects be made without the collector of cycles, which would look at all of them again and again.

    >>> with without_collecting():
    ...     gc.isenabled()
    False
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
