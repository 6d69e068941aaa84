"""What checksums of pages cost: the same tables written and read with and without, in turns, as ratios of CPU time.

`python -m tests.bench.checksums --products 20000`, or `make soak`, part "checksums".
"""

# ruff: noqa: T201 - it prints figures

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from statistics import median
from time import process_time
from typing import TypeVar
from unittest.mock import patch

import pyarrow as pa

from prodex.catalog import Part
from prodex.files import parquet
from prodex.store.parts import StoredPart, write_part
from prodex.tables.declaration import TABLES
from prodex.tables.flatten import flatten_products
from prodex.tables.parse import ShapeCache
from tests.bench.products import products
from tests.wire import encode

Value = TypeVar("Value")


def measure(count: int, *, rounds: int = 5) -> bool:
    """Print the medians of writing and reading one part, and of verifying its footers and its files as a whole."""
    shapes = ShapeCache()
    block = flatten_products([encode(product) for product in islice(products(count), count)], shapes)
    seconds: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="prodex-checksums-") as name:
        folder = Path(name)
        stored = write_part([block], folder / "with", 0)
        with patch.dict(parquet._WRITTEN, write_page_checksum=False):
            bare = write_part([block], folder / "without", 0)
        for _ in range(rounds):
            _timed(seconds, "write, with", lambda: write_part([block], folder / "with", 0))
            _timed(seconds, "read, with", lambda: _read(stored, folder / "with"))
            with patch.dict(parquet._WRITTEN, write_page_checksum=False):
                _timed(seconds, "write, without", lambda: write_part([block], folder / "without", 0))
            with patch.dict(parquet._READ, page_checksum_verification=False):
                _timed(seconds, "read, without", lambda: _read(bare, folder / "without", verified=False))
            _timed(
                seconds, "digests", lambda: [stored.problem(name, folder / "with") for name in stored.files]
            )
        size, plain = (sum(int(f["bytes"]) for f in part.files.values()) for part in (stored, bare))
    times = {what: median(taken) for what, taken in seconds.items()}
    print(
        f"{count:,} products in one part of {size:,} bytes ({size / plain:.4f} of the size without checksums)"
    )
    for way in ("write", "read"):
        on, off = times[f"{way}, with"], times[f"{way}, without"]
        print(
            f"  {way:<6}{off:>7.3f} s without,{on:>7.3f} s with checksums and digests of footers: {on / off:.3f}"
        )
    print(f"  digests of all files as a whole: {times['digests']:.3f} s")
    return True


def _read(part: StoredPart, folder: Path, *, verified: bool = True) -> list[pa.Table]:
    opened = part.open(folder)
    if not verified:
        opened = Part.on_disk(opened.size, opened.files)
    return [opened.read(table) for table in TABLES]


def _timed(seconds: dict[str, list[float]], what: str, work: Callable[[], Value]) -> Value:
    begin = process_time()
    made = work()
    seconds.setdefault(what, []).append(process_time() - begin)
    return made


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="tests.bench.checksums", description=__doc__)
    parser.add_argument("--products", type=int, default=10_000)
    options = parser.parse_args(arguments)
    return 0 if measure(options.products) else 1


if __name__ == "__main__":
    sys.exit(main())
