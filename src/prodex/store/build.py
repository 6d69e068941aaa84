"""From journal to Parquet, one part at a time: each part alone, on any executor, with the same result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from os import cpu_count
from pathlib import Path

from prodex.store.journal import Journal
from prodex.store.parts import StoredPart, write_part
from prodex.store.plan import PartPlan
from prodex.tables.flatten import Tables, flatten_products
from prodex.tables.parse import ShapeCache

#: JSON flattened at a time, in bytes: large enough for columns to pay, small enough for any laptop.
BLOCK_BYTES = 12_000_000

#: What this process learnt of products so far; see `prodex.tables.shape`.
_SHAPES = ShapeCache()


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
    if executor is not None:
        yield from executor.map(build_part, [journal] * len(plans), plans, [folder] * len(plans))
        return
    with ThreadPoolExecutor(cpu_count()) as threads:
        yield from threads.map(build_part, [journal] * len(plans), plans, [folder] * len(plans))


def build_part(journal: Path, part: PartPlan, folder: Path) -> StoredPart:
    """Build one part from the pages that hold its products."""
    pages = Journal(journal)
    products = (product for page, indexes in part.pages for product in pages.products(page, indexes))
    return write_part(blocks_of(products), folder, part.number)


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
