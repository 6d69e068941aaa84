"""Compare two large snapshots and print what it took: `python -m tests.soak.diff --products 200000`.

The snapshots are made once in the folder given and used again; the comparison runs in a fresh process, so that its
peak memory is its own. Of the newer snapshot one product in a hundred is changed, and all stand in other parts and
another order than in the older one, as two full loads of a living service would have them. A third snapshot is a
refresh of the first: every part but the one that holds the changes is the same file.
"""

# ruff: noqa: T201 - it prints figures

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

import prodex
from prodex.catalog import Origin
from prodex.store.parts import StoredPart, write_part
from prodex.store.publish import publish_parts
from prodex.tables.flatten import blocks_of
from tests.bench.products import Product, products

#: Limits that the comparison of 200,000 products has to keep, on two cores.
SECONDS, MEGABYTES = 10, 2_000

_PART = 10_000
_EVERY = 100
_HOME = Path(__file__).parents[2]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak.diff", description=__doc__)
    parser.add_argument("--products", type=int, default=200_000, help="how many products each snapshot holds")
    parser.add_argument(
        "--folder", type=Path, default=_HOME / "data" / "soak", help="where the snapshots are kept"
    )
    options = parser.parse_args(arguments)
    os.environ["PRODEX_HOME"] = str(options.folder.absolute())
    names = make(options.products)
    kept = True
    for words, new in (("other parts, other order", names[1]), ("a refresh", names[2])):
        figures = measure(names[0], new)
        print(
            f"diff of {options.products:,} products ({words}): {figures['seconds']:.1f} s, {figures['cpu']:.1f} s CPU, "
            f"peak {figures['peak_mb']:,.0f} MB; {figures['changed']:,} changed, {figures['changes']:,} values"
        )
        kept &= figures["seconds"] < SECONDS and figures["peak_mb"] < MEGABYTES
    print(f"at most {SECONDS} s and {MEGABYTES:,} MB: {'kept' if kept else 'NOT kept'}")
    return 0 if kept else 1


def measure(old: str, new: str) -> dict[str, Any]:
    """Compare two snapshots in a fresh process; return seconds, CPU seconds, peak memory and counts."""
    command = [sys.executable, "-m", "tests.soak.diff_alone", old, new]
    ended = subprocess.run(command, cwd=_HOME, stdout=subprocess.PIPE, check=True, text=True)
    figures: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return figures


def make(count: int) -> tuple[str, str, str]:
    """Make the snapshots, unless they are there."""
    names = (f"old-{count}", f"shuffled-{count}", f"refreshed-{count}")
    if prodex.list_snapshots(names[2]).empty:
        began = time.perf_counter()
        old = publish_parts(names[0], Origin("bench"), lambda folder: _parts(products(count), folder))
        publish_parts(names[1], Origin("bench"), lambda folder: _parts(_shuffled(count), folder))
        publish_parts(names[2], Origin("bench"), lambda folder: _refreshed(old, count, folder))
        print(f"made the snapshots in {time.perf_counter() - began:,.0f} s")
    return names


def _parts(records: Iterable[Product], folder: Path) -> Iterator[StoredPart]:
    held: list[bytes] = []
    number = 0
    for record in records:
        held.append(msgspec.json.encode(record))
        if len(held) == _PART:
            yield write_part(blocks_of(iter(held)), folder, number)
            held, number = [], number + 1
    if held or not number:
        yield write_part(blocks_of(iter(held)), folder, number)


def _shuffled(count: int) -> Iterator[Product]:
    """Yield the products in other parts and another order, one in a hundred changed."""
    window: list[Product] = []
    for number, record in enumerate(products(count)):
        window.append(changed(record) if number % _EVERY == 0 else record)
        if len(window) == _PART * 3 // 2:
            yield from reversed(window)
            window = []
    yield from reversed(window)


def _refreshed(old: prodex.Catalog, count: int, folder: Path) -> Iterator[StoredPart]:
    """Write a snapshot whose first parts are changed and whose others are the files of the old one."""
    of_part = min(_PART, count)
    few = (
        changed(record) if number < count // _EVERY else record
        for number, record in enumerate(products(of_part))
    )
    yield from _parts(few, folder)
    manifest = json.loads((Path(str(old.folder)) / "manifest.json").read_bytes())
    for part in manifest["parts"][1:]:
        stored = StoredPart.from_json(part)
        for table, path in stored.open(Path(str(old.folder))).files.items():
            beside = folder / table / path.name
            beside.parent.mkdir(parents=True, exist_ok=True)
            beside.hardlink_to(path)
        yield stored


def changed(record: Product) -> Product:
    """Return a product with another text, one picture more in front and a later date."""
    text, *others = record["namePublicLong"]
    pictures = [
        {"url": "https://media.example.com/new.jpg", "isPackshot": False},
        *record["assets"]["pictures"],
    ]
    return record | {
        "updatedAt": "2026-11-20T08:00:00",
        "namePublicLong": [text | {"data": f"{text['data']} (new)"}, *others],
        "assets": record["assets"] | {"pictures": pictures},
    }


if __name__ == "__main__":
    sys.exit(main())
