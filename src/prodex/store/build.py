"""From journal to Parquet, one part at a time: each part by itself, on any executor, with the same result.

A part that was built leaves a receipt in the journal, so that an interrupted build continues with the next part.
"""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from importlib.metadata import version
from itertools import repeat
from os import cpu_count
from pathlib import Path
from typing import Any

import msgspec

from prodex.executors import mapped
from prodex.files.atomic import remove, sha256, writing
from prodex.files.untrusted import is_plain, is_there, read_json, refuse_links
from prodex.progress import SILENT, Reporter, Show
from prodex.store.build_processes import BuildProcesses
from prodex.store.journal import Journal
from prodex.store.merge_plan import PartMerge
from prodex.store.part_counts import count_of, counted, forget_count
from prodex.store.parts import StoredPart, write_part
from prodex.store.plan import PartPlan
from prodex.tables.flatten import blocks_of

#: From so many products on, parts are built in other processes. These take a second of work until they begin, and then
#: less than threads, which wait for the interpreter's lock, and let those wait that fetch.
WORTH_PROCESSES = 20_000

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
        Hears of how many products are built.
    counts
        Whether functions of users hear of that, too.
    """
    done, total = 0, sum(map(products_of, plans))
    left = deque(plans)
    with running(executor, total) as runner, reporter.phase(BUILDING, "products", total) as show:
        report = never_less(show)

        def waiting() -> None:
            report(done + built_so_far(journal, left), total)

        jobs = (repeat(journal), plans, repeat(folder))
        for part in mapped(runner, build_part, *jobs, folders=[journal], waiting=waiting):
            done += products_of(left.popleft())
            waiting()
            if counts:
                reporter.count(done, total)
            yield part


def products_of(plan: PartPlan | PartMerge) -> int:
    """Return how many products come into a part."""
    return sum(len(indexes) for _, indexes in plan.pages)


def built_so_far(journal: Path, plans: Iterable[PartPlan]) -> int:
    """Return how many products are built of parts that are not yet done."""
    return sum(min(count_of(journal, plan.number), products_of(plan)) for plan in plans)


def never_less(show: Show) -> Show:
    """Return a function that reports as another one does, but never less than before.

    Between the end of a part's own count and the moment at which it counts as built, it would be missing.
    """
    most = 0

    def report(done: int, total: int) -> None:
        nonlocal most
        most = max(most, done)
        show(most, total)

    return report


def build_folder(journal: Path) -> Path:
    """Return where the parts of a journal are built: inside it, where they survive an interruption."""
    folder = journal / "build"
    # What an interrupted build left is used again, but never through links, which may lead anywhere.
    if is_there(folder) and not is_plain(folder):
        remove(folder)
    return folder


def own_executor(products: int) -> Executor:
    """Return what builds so many products where no executor was given."""
    cores = cpu_count() or 1
    if products < WORTH_PROCESSES:
        return ThreadPoolExecutor(cores)
    return BuildProcesses(min(cores, max(products // _WORTH_A_PROCESS, 1)))


@contextmanager
def running(executor: Executor | None, products: int = 0) -> Iterator[Executor]:
    """Give the executor that was given, which stays open, or one of our own, which ends here."""
    if executor is not None:
        yield executor
        return
    with own_executor(products) as own:
        yield own


def build_part(journal: Path, part: PartPlan, folder: Path) -> StoredPart:
    """Build one part from the pages that hold its products, unless it is there already, as its receipt says."""
    # The version is part of the decision: another version may flatten differently, and builds the part again.
    receipt = journal / f"built-{part.number:05d}.json"
    decided = hashlib.sha256(f"{_VERSION} {part}".encode()).hexdigest()
    if (stored := _built_before(receipt, decided, folder)) is not None:
        return stored
    pages = Journal(journal, {})
    products = (product for page, indexes in part.pages for product in pages.products(page, indexes))
    blocks = counted(blocks_of(products), journal, part.number)
    stored = write_part(blocks, folder, part.number)
    with writing(receipt, private=True) as beside:
        beside.write_text(json.dumps({"decided": decided, "part": stored._asdict()}), "utf-8")
    forget_count(journal, part.number)
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
