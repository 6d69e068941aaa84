"""Stores of the sample that are filled once in a process: every test gets a copy."""

from __future__ import annotations

import tempfile
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path

from prodex_sandbox import sample
from prodex_sandbox.home import open_store, store_file
from prodex_sandbox.records.store import Store


def fill(home: Path, count: int) -> Path:
    """Put a store of so many products into a home, and return the home."""
    home.mkdir(parents=True, exist_ok=True)
    store_file(home).write_bytes(_filled(count))
    return home


@cache
def _filled(count: int) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        with opened(Path(folder), count):
            pass
        return store_file(Path(folder)).read_bytes()


def opened(home: Path, count: int) -> AbstractContextManager[Store]:
    """Open the store of a home, filled with so many products where there is none."""
    origin = f"the sample of {count} products with seed 1"
    return open_store(
        home, lambda: sample.shared_products(count), sample.organizations(), sample.LABELS, origin
    )
