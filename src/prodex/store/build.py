"""From journal to Parquet, one part at a time: each part by itself, on any executor, with the same result.

A part that was built leaves a receipt in the journal, so that an interrupted build continues with the next part.

While a part is built, a small file counts its finished products. A file works for a thread, a process and a worker of a
cluster alike. If it cannot be written or read, only the estimate of the time left is coarser.
"""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from importlib.metadata import version
from itertools import repeat
from pathlib import Path
from typing import Any

import msgspec

from prodex.executors import mapped, running
from prodex.files.atomic import open_private, remove, sha256, writing
from prodex.files.untrusted import is_foreign, is_plain, is_there, read_json, refuse_links
from prodex.progress import SILENT, Reporter
from prodex.store.journal import LoadJournal
from prodex.store.merge_plan import PartMerge
from prodex.store.parts import StoredPart, write_part
from prodex.store.plan import PartPlan
from prodex.tables.flatten import Tables, blocks_of

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
        Any `concurrent.futures` executor; threads by default.
    reporter
        Gets the number of products that are built.
    counts
        Whether functions of users are called with these counts, too.
    """
    done, total = 0, sum(map(products_of, plans))
    left = deque(plans)
    with (
        running(executor) as runner,
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


def build_part(journal: Path, part: PartPlan, folder: Path) -> StoredPart:
    """Build one part from the pages that hold its products, unless it is there already, as its receipt says."""
    # The version is part of the decision: another version may flatten differently, and builds the part again.
    receipt = journal / f"built-{part.number:05d}.json"
    decided = hashlib.sha256(f"{_VERSION} {part}".encode()).hexdigest()
    if (stored := _built_before(receipt, decided, folder)) is not None:
        return stored
    pages = LoadJournal(journal, {})
    blocks = counted(blocks_of(pages.products_of(part.pages)), journal, part.number)
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

    def noted(block: Tables) -> Tables:
        nonlocal done
        if done:  # earlier blocks are written when the next one is requested
            _write_count(_count_path(journal, number), done)
        done += block["products"].num_rows
        return block

    # Unlike a loop, it holds no block while that is written.
    return map(noted, blocks)


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
