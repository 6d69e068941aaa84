"""What a team does past one machine: it builds and judges by the workers of a Dask cluster, and publishes.

`python -m tests.bench.team cluster COUNT ROUNDS` holds two workers of one thread against one, each a process of its
own; `... publish COUNT ROUNDS` publishes a snapshot to a folder, and again when nothing has changed. Both print JSON.
"""

# ruff: noqa: T201 - it prints figures

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from datetime import UTC, datetime
from itertools import count, islice
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import prodex
from prodex.files.atomic import home
from prodex.store.build import build_parts
from prodex.store.journal import LoadJournal
from prodex.store.plan import plan
from prodex.tables.envelope import split
from prodex.tables.records import identify
from prodex_sandbox.sample import AS_OF
from tests.bench import pinned
from tests.bench.measuring import alone
from tests.cluster import scheduler, worker

_PROFILE = "online-listing"
_PAGE = 500


def cluster(products: int, rounds: int) -> dict[str, float]:
    """Return how many times as fast two workers build and judge as one does."""
    with tempfile.TemporaryDirectory(prefix="prodex-bench-") as folder:
        place = Path(folder)
        alone("team", "keep", products, home=place)
        one, two = (alone("team", "workers", number, rounds, home=place) for number in (1, 2))
    return {what: one[what] / two[what] for what in one}


def keep(products: int) -> None:
    """Keep the products as a snapshot, and as the journal of a download."""
    with tempfile.TemporaryDirectory(prefix="prodex-bench-") as folder:
        lines = pinned.write_lines(Path(folder) / "products.jsonl", pinned.products(products))
        prodex.read_products(lines, name="bench", progress=False)
    journal = LoadJournal.begin(_journal(), {})
    waiting = pinned.products(products)
    while page := list(islice(waiting, _PAGE)):
        body = b'{"data":[' + b",".join(page) + b"]}"
        envelope = split(body)
        keys = [identify(product) for product in envelope.data]
        journal.add("pull/0", body, envelope, keys, received_at=datetime.now(UTC))


def workers(number: int, rounds: int) -> dict[str, float]:
    """Return the seconds that so many workers take; what they do first, and learn from, is not counted."""
    with tempfile.TemporaryDirectory(prefix="prodex-bench-") as folder, ExitStack() as running:
        client = running.enter_context(scheduler())
        for place in range(number):
            running.enter_context(worker(client, f"worker {place}", Path(folder)))
        executor = client.get_executor()
        ways = {"build": _build(executor, Path(folder)), "audit": _audit(executor)}
        return {what: median(_seconds(way, rounds + 1)[1:]) for what, way in ways.items()}


def _build(executor: Executor, folder: Path) -> Callable[[], object]:
    journal = LoadJournal.open(_journal())
    assert journal is not None
    parts = plan(journal).parts
    if not all(part.pages for part in parts):
        raise SystemExit("there is nothing to build")
    places = (folder / f"built-{number}" for number in count())
    return lambda: list(build_parts(_journal(), parts, next(places), executor))


def _audit(executor: Executor) -> Callable[[], object]:
    catalog = prodex.open_snapshot("bench")
    return lambda: prodex.audit(catalog, _PROFILE, executor=executor, progress=False, now=AS_OF)


def publish(products: int, rounds: int) -> dict[str, float]:
    """Return the seconds of publishing a snapshot, the first time and when nothing has changed."""
    with tempfile.TemporaryDirectory(prefix="prodex-bench-") as folder:
        place = Path(folder)
        alone("team", "keep", products, home=place)
        found = [alone("team", "published", place / f"to-{turn}", home=place) for turn in range(rounds)]
    return {what: median(one[what] for one in found) for what in found[0]}


def published(target: str) -> dict[str, float]:
    """Publish to a folder where there is nothing yet, and once more."""
    catalog = prodex.open_snapshot("bench")
    first, again = _seconds(lambda: prodex.publish(catalog, target), 2)
    return {"first": first, "again": again}


def _seconds(way: Callable[[], object], times: int) -> list[float]:
    taken = []
    for _ in range(times):
        began = perf_counter()
        way()
        taken.append(perf_counter() - began)
    return taken


def _journal() -> Path:
    return home() / "journal"


def main(arguments: Sequence[str]) -> Any:
    """Measure one of the two, or do one step of it in this process."""
    match arguments:
        case ["cluster" | "publish" as what, products, rounds]:
            return {"cluster": cluster, "publish": publish}[what](int(products), int(rounds))
        case ["keep", products]:
            return keep(int(products))
        case ["workers", number, rounds]:
            return workers(int(number), int(rounds))
        case ["published", target]:
            return published(target)
    raise SystemExit(__doc__)


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1:])))
