"""From journal to Parquet, one part at a time: each part by itself, on any executor, with the same result.

A part that was built leaves a receipt in the journal, so that an interrupted build continues with the next part.

While a part is built, a small file counts its finished products. A file works for a thread, a process and a worker of a
cluster alike. If it cannot be written or read, only the estimate of the time left is coarser.

`BuildProcesses` are not the processes of `multiprocessing`, each of which runs the script of the user again to find its
functions (and never ends, where the script is not guarded). Ours run this module alone, and get what they need as
bytes: a job is written to the standard input of a process, its result is read from its standard output.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from importlib.metadata import version
from itertools import repeat
from os import cpu_count
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any, TypeVar

import msgspec

from prodex.executors import mapped
from prodex.files.atomic import open_private, remove, sha256, writing
from prodex.files.untrusted import is_foreign, is_plain, is_there, read_json, refuse_links
from prodex.progress import SILENT, Reporter
from prodex.store.journal import LoadJournal
from prodex.store.merge_plan import PartMerge
from prodex.store.parts import StoredPart, write_part
from prodex.store.plan import PartPlan
from prodex.tables.flatten import Tables, blocks_of

#: From so many products on, parts are built in other processes. These take a second of work until they begin, and then
#: less than threads, which wait for the interpreter's lock, and let those wait that fetch.
WORTH_PROCESSES = 20_000

#: So many threads hardly wait for the lock where nobody else needs it: building holds it for a third of its time.
_SHARING = 2

#: On a machine with many cores, so many products for each process.
_WORTH_A_PROCESS = 10_000

#: The phase in which parts are built.
BUILDING = "Building tables"

#: Read once: it is looked up in files, which takes longer than to build a small table.
_VERSION = version("prodex")


class _Receipt(msgspec.Struct):
    """What a part leaves in the journal when it is built: what was decided, and what became of it."""

    decided: str
    part: Any


def build_parts(
    journal: Path,
    plans: Sequence[PartPlan],
    folder: Path,
    executor: Executor | None = None,
    reporter: Reporter = SILENT,
    *,
    counts: bool = False,
) -> Iterator[StoredPart]:
    """Build the parts of a snapshot, in order.

    Parameters
    ----------
    journal
        Folder of the journal.
    plans
        What each part holds.
    folder
        Where the parts go.
    executor
        Any `concurrent.futures` executor; by default threads, and processes of our own for many products.
    reporter
        Gets the number of products that are built.
    counts
        Whether functions of users are called with these counts, too.
    """
    done, total = 0, sum(map(products_of, plans))
    left = deque(plans)
    with (
        running(executor, total) as runner,
        reporter.phase(BUILDING, "products", total, counts=counts) as phase,
    ):

        def waiting() -> None:
            # Between the end of a part's own count and the moment at which it counts as built, it would be missing.
            phase(max(phase.done, done + built_so_far(journal, left)), total)

        jobs = (repeat(journal), plans, repeat(folder))
        for part in mapped(runner, build_part, *jobs, folders=[journal], waiting=waiting):
            done += products_of(left.popleft())
            waiting()
            yield part


def products_of(plan: PartPlan | PartMerge) -> int:
    """Return how many products a part gets."""
    return sum(len(indexes) for _, indexes in plan.pages)


def built_so_far(journal: Path, plans: Iterable[PartPlan]) -> int:
    """Return how many products are built of parts that are not yet done."""
    return sum(min(count_of(journal, plan.number), products_of(plan)) for plan in plans)


def build_folder(journal: Path) -> Path:
    """Return where the parts of a journal are built: inside it, where they survive an interruption."""
    folder = journal / "build"
    # What an interrupted build left is used again, but never through links, which may lead anywhere.
    if is_there(folder) and not is_plain(folder):
        remove(folder)
    return folder


def own_executor(products: int, *, alone: bool = False) -> Executor:
    """Return what builds so many products where no executor was given; alone, while nobody fetches."""
    cores = cpu_count() or 1
    if products < WORTH_PROCESSES or (alone and cores <= _SHARING):
        return ThreadPoolExecutor(cores)
    return BuildProcesses(min(cores, max(products // _WORTH_A_PROCESS, 1)))


@contextmanager
def running(executor: Executor | None, products: int = 0) -> Iterator[Executor]:
    """Give the executor that was given, which stays open, or one of our own, which ends here."""
    if executor is not None:
        yield executor
        return
    with own_executor(products, alone=True) as own:
        yield own


def build_part(journal: Path, part: PartPlan, folder: Path) -> StoredPart:
    """Build one part from the pages that hold its products, unless it is there already, as its receipt says."""
    # The version is part of the decision: another version may flatten differently, and builds the part again.
    receipt = journal / f"built-{part.number:05d}.json"
    decided = hashlib.sha256(f"{_VERSION} {part}".encode()).hexdigest()
    if (stored := _built_before(receipt, decided, folder)) is not None:
        return stored
    pages = LoadJournal(journal, {})
    products = (product for page, indexes in part.pages for product in pages.products(page, indexes))
    blocks = counted(blocks_of(products), journal, part.number)
    stored = write_part(blocks, folder, part.number)
    with writing(receipt, private=True) as beside:
        beside.write_text(json.dumps({"decided": decided, "part": stored._asdict()}), "utf-8")
    remove_count(journal, part.number)
    return stored


def _built_before(receipt: Path, decided: str, folder: Path) -> StoredPart | None:
    """Return the part of a receipt, if its plan was the same and its files are as they were written."""
    try:
        found = read_json(receipt, _Receipt)
        stored = StoredPart.from_json(found.part)
        files = stored.open(folder).files
        refuse_links(folder, files.values())
        as_written = all(sha256(files[table]) == facts["sha256"] for table, facts in stored.files.items())
    except (OSError, ValueError):
        return None
    return stored if as_written and found.decided == decided else None


#: Digits of a count: what is longer is none of ours.
_MOST = 12


def counted(blocks: Iterable[Tables], journal: Path, number: int) -> Iterator[Tables]:
    """Pass the blocks of a part on, and note how many of its products are written.

    Parameters
    ----------
    blocks
        The tables of its products, block by block.
    journal
        The folder in which the count is noted.
    number
        The number of the part.
    """
    remove_count(journal, number)  # of a build that was interrupted
    done = 0
    for block in blocks:
        # Whoever writes the tables has no use for them afterwards, and neither has this function.
        waiting = [block]
        rows = block["products"].num_rows
        del block
        if done:  # earlier blocks are written when the next one is requested
            _write_count(_count_path(journal, number), done)
        yield waiting.pop()
        done += rows


def remove_count(journal: Path, number: int) -> None:
    """Remove the count of a part that is done."""
    with suppress(OSError):
        _count_path(journal, number).unlink(missing_ok=True)


def count_of(journal: Path, number: int) -> int:
    """Return how many products of a part that is being built are written; 0 where nobody has noted it."""
    try:
        with _count_path(journal, number).open("rb") as file:
            return int(file.read(_MOST))
    except (OSError, ValueError):
        return 0


def _write_count(path: Path, done: int) -> None:
    # What an interrupted build left may be anything, and nothing is written through a link.
    if is_foreign(path):
        return
    with suppress(OSError), open_private(path, "wb") as file:
        file.write(str(done).encode())


def _count_path(journal: Path, number: int) -> Path:
    return journal / f"building-{number:05d}"


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
        """End the processes: after their job, or at once where its result is not needed any more."""
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
        # A key that interrupts this process is not for the others: this process ends them.
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
        _write_message(self._process.stdin, job)
        return pickle.loads(_read_message(self._process.stdout))  # noqa: S301 - from a process of our own

    def kill(self) -> None:
        """End it now; what it was writing is in a folder that nobody takes for a snapshot."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError, ValueError):
                assert pipe is not None  # noqa: S101
                pipe.close()


def serve() -> None:
    """Do the jobs that arrive on the standard input; end when the process that sends them ends, however it does."""
    # Whatever else prints something must not be taken for a result.
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    jobs: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_receive, args=[jobs], daemon=True).start()
    while True:
        _write_message(results, _outcome(jobs.get()))


def _receive(jobs: SimpleQueue[bytes]) -> None:
    """Read jobs until their sender is gone, and then end at once: another process may take over its work."""
    try:
        while True:
            jobs.put(_read_message(sys.stdin.buffer))
    finally:
        os._exit(0)


def _outcome(job: bytes) -> bytes:
    function, args, kwargs = pickle.loads(job)  # noqa: S301 - from the process that started this one
    try:
        return pickle.dumps((True, function(*args, **kwargs)))
    except Exception as error:  # noqa: BLE001 - raised again where somebody waits for it
        return pickle.dumps((False, error))


def _write_message(pipe: IO[bytes], message: bytes) -> None:
    pipe.write(len(message).to_bytes(_LENGTH, "big") + message)
    pipe.flush()


def _read_message(pipe: IO[bytes]) -> bytes:
    size = _exactly(pipe, _LENGTH)
    return _exactly(pipe, int.from_bytes(size, "big"))


def _exactly(pipe: IO[bytes], size: int) -> bytes:
    found = pipe.read(size)
    if len(found) < size:
        raise EOFError("its pipe was closed")
    return found
