"""From journal to Parquet, one part at a time: each part by itself, on any executor, with the same result.

A part that was built leaves a receipt in the journal, so that an interrupted build continues with the next part.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from importlib.metadata import version
from itertools import repeat
from os import cpu_count
from pathlib import Path
from typing import Any

import msgspec

from prodex.files.atomic import sha256, writing
from prodex.files.untrusted import read_json, refuse_links
from prodex.store.executors import mapped
from prodex.store.journal import Journal
from prodex.store.parts import StoredPart, write_part
from prodex.store.plan import PartPlan
from prodex.tables.flatten import Tables, flatten_products
from prodex.tables.parse import ShapeCache

#: JSON flattened at a time, in bytes: large enough for columns to pay, small enough for any laptop.
BLOCK_BYTES = 12_000_000

#: What this process learnt of products so far; see `prodex.tables.shape`.
_SHAPES = ShapeCache()


class _Receipt(msgspec.Struct):
    """What a part leaves in the journal when it is built: what was decided, and what became of it."""

    decided: str
    part: Any


def build_parts(
    journal: Path, plans: Sequence[PartPlan], folder: Path, executor: Executor | None = None
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
    """
    with running(executor) as runner:
        yield from mapped(runner, build_part, repeat(journal), plans, repeat(folder), folders=[journal])


@contextmanager
def running(executor: Executor | None) -> Iterator[Executor]:
    """Give the executor that was given, which stays open, or threads of our own, which end here."""
    if executor is not None:
        yield executor
        return
    # Threads will do: nearly all of the time goes into Arrow, which does not hold the interpreter's lock.
    with ThreadPoolExecutor(cpu_count()) as threads:
        yield threads


def build_part(journal: Path, part: PartPlan, folder: Path) -> StoredPart:
    """Build one part from the pages that hold its products, unless it is there already, as its receipt says."""
    # The version is part of the decision: another version may flatten differently, and builds the part again.
    receipt = journal / f"built-{part.number:05d}.json"
    decided = hashlib.sha256(f"{version('prodex')} {part}".encode()).hexdigest()
    if (stored := _built_before(receipt, decided, folder)) is not None:
        return stored
    pages = Journal(journal, {})
    products = (product for page, indexes in part.pages for product in pages.products(page, indexes))
    stored = write_part(blocks_of(products), folder, part.number)
    with writing(receipt, private=True) as beside:
        beside.write_text(json.dumps({"decided": decided, "part": stored._asdict()}), "utf-8")
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


def blocks_of(products: Iterator[bytes]) -> Iterator[Tables]:
    """Flatten products block by block."""
    block: list[bytes] = []
    size = 0
    empty = True
    for product in products:
        block.append(product)
        size += len(product)
        if size >= BLOCK_BYTES:
            yield flatten_products(block, _SHAPES)
            block, size, empty = [], 0, False
    if block or empty:
        yield flatten_products(block, _SHAPES)
