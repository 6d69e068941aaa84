"""What users do with a catalogue that is there, at several sizes: seconds and the peak of memory of each.

`python -m tests.bench.operations keep COUNT` keeps the pinned products as a snapshot, and a second one in which one in
a hundred was changed; `... audit` does one of the operations in this process and prints what it took.
"""

# ruff: noqa: T201 - it prints figures

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import prodex
from prodex.catalog import Catalog
from prodex.sandbox import Sandbox
from prodex.sandbox.sample import AS_OF
from tests.bench import pinned
from tests.bench.measuring import Stopwatch

#: Products of one part, as a load makes them.
_AT_ONCE = 10_000
_PROFILE = "online-listing"
_CHANGED_ONE_IN = 100


def keep(count: int) -> None:
    """Keep the products as snapshots: as they are, and changed."""
    for name, lines in (("bench", pinned.products(count)), ("changed", changed(count))):
        with tempfile.TemporaryDirectory(prefix="prodex-bench-") as folder:
            pieces = []
            while piece := list(islice(lines, _AT_ONCE)):
                file = pinned.write_lines(Path(folder) / "piece.jsonl", piece)
                # Each is kept by itself, so that no more than one is in memory.
                pieces.append(prodex.read_products(file).save(f"{name}-piece"))
        joined = tuple(part for one in pieces for part in one.parts)
        replace(pieces[0], parts=joined).save(name)
        shutil.rmtree(pieces[0].folder.parent)  # type: ignore[union-attr]


def changed(count: int) -> Iterator[bytes]:
    """Yield the products, one in a hundred with another name."""
    for number, line in enumerate(pinned.products(count)):
        if number % _CHANGED_ONE_IN:
            yield line
        else:
            yield json.dumps(json.loads(line) | {"lifeCycle": 7, "xChangedName": f"name {number}"}).encode()


def _opened() -> Catalog:
    return prodex.open_snapshot("bench")


def show() -> object:
    """Open the newest snapshot and show it as text."""
    return repr(_opened())


def show_html() -> object:
    """Show it as a notebook does."""
    return _opened()._repr_html_()


def products() -> object:
    return _opened().products


def where() -> object:
    """Choose one brand, then look at its texts."""
    catalog = _opened()
    brand = catalog.head(1).products["brand"].iloc[0]
    return catalog.where(brand=brand).texts


def texts() -> object:
    """Take three columns of all texts."""
    return _opened().table("texts", columns=["product_id", "attribute", "language"])


def sql() -> object:
    """Group all texts."""
    return _opened().sql("SELECT attribute, language, count(*) AS texts FROM texts GROUP BY ALL ORDER BY ALL")


def wide() -> object:
    """One row a product, texts in one language."""
    return _opened().wide("fr")


def audit() -> object:
    """Audit by the profile of the demo."""
    return prodex.audit(_opened(), _PROFILE, progress=False, now=AS_OF)


def diff() -> object:
    """Compare with the snapshot in which one in a hundred was changed."""
    return prodex.diff(_opened(), prodex.open_snapshot("changed")).summary


def export() -> object:
    """Export all tables as Parquet."""
    with tempfile.TemporaryDirectory(prefix="prodex-bench-") as folder:
        return _opened().export(Path(folder) / "out")


def verify() -> object:
    """Check every file against the manifest."""
    return prodex.verify("bench")


def worklists() -> object:
    """Write a workbook for each owner (the audit is part of it)."""
    with tempfile.TemporaryDirectory(prefix="prodex-bench-") as folder:
        found = prodex.audit(_opened(), _PROFILE, progress=False, now=AS_OF)
        return found.worklists(Path(folder) / "out", by="owner")


OPERATIONS: dict[str, Callable[[], object]] = {
    "open and repr": show,
    "open and HTML": show_html,
    "products": products,
    "where one brand, then its texts": where,
    "three columns of all texts": texts,
    "sql: group all texts": sql,
    "wide('fr')": wide,
    "audit": audit,
    "audit and worklists": worklists,
    "diff, 1 % changed": diff,
    "export as Parquet": export,
    "verify": verify,
}


def refresh(count: int) -> Any:
    """Refresh a snapshot after one in a hundred products was changed at the service."""
    now = AS_OF + timedelta(days=1)
    with Sandbox(json.loads(line) for line in pinned.products(count)) as exchange:
        key = exchange.credentials[0]
        service = prodex.connect(
            base_url=exchange.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
        )
        prodex.load_products(service, name="refreshed", max_age=0, progress=False)
        records = (json.loads(line) for line in islice(pinned.products(count), 0, None, _CHANGED_ONE_IN))
        exchange.change(
            [record | {"lifeCycle": 7, "updatedAt": f"{now:%Y-%m-%dT%H:%M:%S}"} for record in records]
        )
        watch = Stopwatch()
        found = prodex.refresh("refreshed", service, progress=False)
        measured = watch.read()
        if not found.complete or len(found) != count:
            raise SystemExit(f"the refresh found {len(found):,} of {count:,} products")
        return measured


def main(arguments: Sequence[str]) -> Any:
    """Keep the snapshots, or do one of the operations."""
    match arguments:
        case ["keep", count]:
            return keep(int(count))
        case ["refresh", count]:
            return refresh(int(count))
        case [name]:
            operation = OPERATIONS[name]
            watch = Stopwatch()
            operation()
            return watch.read()
    raise SystemExit(__doc__)


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1:])))
