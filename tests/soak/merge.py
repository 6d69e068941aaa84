"""How long a merge takes, as a share of a full build from a journal in the same run.

`python -m tests.soak.merge --products 200000`. The products have about 10 kB each, and 1 % of them changed.
"""

# ruff: noqa: T201 - it prints figures

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from prodex.store.build import build_parts
from prodex.store.journal import LoadJournal
from prodex.store.merge import merge_parts
from prodex.store.merge_plan import plan_merge
from prodex.store.newest import Place
from prodex.store.parts import StoredPart
from prodex.store.plan import PRODUCTS_PER_PART, PartPlan
from prodex.tables.envelope import split
from prodex.tables.records import identify
from tests.bench.products import pages, products

Product = dict[str, Any]

#: One product in so many changed.
_ONE_IN = 100

#: What changed where, and the largest share of a full build that the merge may take; None is only shown.
_CASES = {
    ("other products", "all parts"): 0.7,
    ("other products", "a tenth of the parts"): 0.25,
    ("another name", "all parts"): None,
    ("another name", "a tenth of the parts"): None,
}


def measure(count: int, *, per_part: int = PRODUCTS_PER_PART, rounds: int = 3) -> bool:
    """Print how long merges take next to full builds, in turns; say whether all keep to their share.

    "Other products" is the worst case: all of each changed product is different, so every table has to be written.
    """
    spread, dense = range(0, count, _ONE_IN), range(0, -(-count // 10), max(_ONE_IN // 10, 1))
    originals: dict[int, Product] = {}
    with tempfile.TemporaryDirectory(prefix="prodex-merge-") as name:
        home = Path(name)
        wanted = {*spread, *dense}
        journal, places = _journal(home / "all", _noting(products(count), wanted, originals))
        ids = list(places)
        plans = [
            PartPlan(number, _by_page(ids[start : start + per_part], places))
            for number, start in enumerate(range(0, count, per_part))
        ]
        held = [ids[start : start + per_part] for start in range(0, count, per_part)]
        old = list(build_parts(journal, plans, home / "old"))
        others = dict(zip(sorted(wanted), products(len(wanted), seed=2), strict=True))
        ways: dict[str, Callable[[int], Product]] = {
            "other products": lambda i: others[i] | {"id": originals[i]["id"]},
            "another name": lambda i: originals[i] | {"namePublicLong": others[i]["namePublicLong"]},
        }
        merges = {}
        for case in _CASES:
            changed = map(ways[case[0]], spread if case[1] == "all parts" else dense)
            changes, came = _journal(home / f"changes-{len(merges)}", changed)
            merges[case] = (changes, plan_merge(held, came).parts)
        full: list[float] = []
        seconds: dict[tuple[str, str], list[float]] = {case: [] for case in _CASES}
        for _ in range(rounds):
            full.append(_timed(lambda out: build_parts(journal, plans, out), home / "out", count))
            for case, (changes, parts) in merges.items():
                run = lambda out: merge_parts(old, home / "old", changes, parts, out)  # noqa: B023, E731
                seconds[case].append(_timed(run, home / "out", count))
    print(f"{count:,} products in {len(held)} parts, {len(spread):,} changed: build {median(full):.1f} s")
    kept = True
    for case, target in _CASES.items():
        share = median(merge / build for merge, build in zip(seconds[case], full, strict=True))
        words = (
            "" if target is None else f"at most {target}: {'reached' if share <= target else 'NOT reached'}"
        )
        print(f"  {', '.join(case):<40}{median(seconds[case]):>7.2f} s {share:>7.3f} of a build   {words}")
        kept = kept and (target is None or share <= target)
    return kept


def _noting(records: Iterable[Product], wanted: set[int], noted: dict[int, Product]) -> Iterator[Product]:
    for index, record in enumerate(records):
        if index in wanted:
            noted[index] = record
        yield record


def _journal(folder: Path, records: Iterable[Product]) -> tuple[Path, dict[str, Place]]:
    """Write products to a journal; return it, and where each stands."""
    journal = LoadJournal.begin(folder, {})
    places: dict[str, Place] = {}
    for number, body in enumerate(pages(iter(records))):
        envelope = split(body)
        keys = [identify(product) for product in envelope.data]
        journal.add("all", body, envelope, keys, received_at=datetime.now(UTC))
        places |= {key.product_id: (number, index) for index, key in enumerate(keys) if key}
    return folder, places


def _by_page(ids: Iterable[str], places: dict[str, Place]) -> tuple[tuple[int, tuple[int, ...]], ...]:
    found: dict[int, list[int]] = {}
    for page, index in map(places.__getitem__, ids):
        found.setdefault(page, []).append(index)
    return tuple((page, tuple(indexes)) for page, indexes in found.items())


def _timed(make: Callable[[Path], Iterable[StoredPart]], out: Path, expected: int) -> float:
    started = perf_counter()
    made = sum(part.products for part in make(out))
    seconds = perf_counter() - started
    assert expected == made
    shutil.rmtree(out)
    return seconds


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="tests.soak.merge", description=__doc__)
    parser.add_argument("--products", type=int, default=200_000)
    parser.add_argument("--per-part", type=int, default=PRODUCTS_PER_PART, help="products of one part")
    parser.add_argument("--rounds", type=int, default=3, help="of which the figures are the median")
    options = parser.parse_args(arguments)
    return 0 if measure(options.products, per_part=options.per_part, rounds=options.rounds) else 1


if __name__ == "__main__":
    sys.exit(main())
