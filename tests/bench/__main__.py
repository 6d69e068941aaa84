"""`make bench`: prodex, `pandas.json_normalize` and dlt on the same page bytes in one run, and what prodex promises.

Every contestant runs in fresh processes of its own, in turns, so that a noisy machine is noisy for all. Numbers never
fail the run; rows that disagree, or a lost leaf, do.
"""

# ruff: noqa: T201 - it prints figures

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from statistics import median
from typing import Any

from tests.bench.products import real_products, sizes, write_pages

#: The repository, from which `tests.bench` can be run as a module.
_HOME = Path(__file__).parents[2]
_PEERS = {"json_normalize": "pandas", "dlt": "dlt"}


def main(arguments: list[str] | None = None) -> int:
    options = _options(arguments)
    print(
        f"{options.products:,} products on {os.cpu_count()} cores; every figure by fresh processes, in turns"
    )
    with tempfile.TemporaryDirectory(prefix="prodex-bench-") as folder:
        same_rows = _race(options, Path(folder))
    _audit(options.audited)
    _explore(options.audited)
    complete = _figures(options)
    return 0 if same_rows and complete else 1


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--products", type=int, default=20_000, help="how many products the race is about")
    parser.add_argument("--turns", type=int, default=2, help="how often each peer runs")
    parser.add_argument("--rounds", type=int, default=2, help="rounds of prodex between its peers")
    parser.add_argument("--repeats", type=int, default=7, help="of which further figures are the median")
    parser.add_argument("--leaves", type=int, default=20_000, help="products to hold against a naive walk")
    parser.add_argument("--audited", type=int, default=100_000, help="how many products are judged")
    parser.add_argument("--quick", action="store_true", help="small counts: whether it works, not how fast")
    options = parser.parse_args(arguments)
    if options.quick:
        options.products, options.leaves, options.audited = 200, 200, 200
        options.turns = options.rounds = options.repeats = 1
    return options


def _race(options: argparse.Namespace, folder: Path) -> bool:
    pages = folder / "pages"
    size = write_pages(pages, options.products)
    bytes_each, leaves_each = sizes(min(options.products, 500))
    print(f"a product: {bytes_each:,.0f} bytes, {leaves_each:.0f} leaves; all pages: {size / 1e6:,.0f} MB\n")
    peers = [name for name, module in _PEERS.items() if find_spec(module) is not None]
    for name in _PEERS.keys() - peers:
        print(f"{name} is not installed")
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in ("prodex", *peers)}
    for turn, name in enumerate(_turns(peers, options.turns)):
        rounds = options.rounds if name == "prodex" else 1
        out = folder / f"{turn}-{name}"
        runs[name].append(_alone("contestants", name, pages, out, rounds))
    seconds = {name: median(s for run in results for s in run["seconds"]) for name, results in runs.items()}
    cpu = {name: median(s for run in results for s in run["cpu"]) for name, results in runs.items()}
    print(
        f"{'page bytes to zstd Parquet':<28}{'products/s':>12}{'slower by':>11}{'CPU':>14}{'peak memory':>14}"
    )
    for name, results in runs.items():
        peak = max(run["peak_mb"] for run in results)
        rate, ratio = options.products / seconds[name], seconds[name] / seconds["prodex"]
        each = cpu[name] / options.products * 1000
        print(f"  {name:<26}{rate:>12,.0f}{ratio:>11.1f}{each:>8.2f} ms each{peak:>11,.0f} MB")
    print()
    _say("prodex, products/s", options.products / seconds["prodex"], 10_000)
    for name in peers:
        _say(f"times {name}", seconds[name] / seconds["prodex"], 15)
    return agree({name: results[0]["rows"] for name, results in runs.items()})


def _turns(peers: list[str], times: int) -> Iterator[str]:
    for _ in range(times):
        for name in peers:
            yield "prodex"
            yield name
    yield "prodex"


def agree(rows: dict[str, dict[str, int]]) -> bool:
    """Say whether all contestants made the same rows; name each list about which they differ."""
    ours = rows["prodex"]
    differing = {
        path: {name: found.get(path, 0) for name, found in rows.items()}
        for path in ours
        if any(found.get(path, 0) != ours[path] for found in rows.values())
    }
    for path, found in differing.items():
        print(f"DISAGREE about {path}: {found}")
    if not differing:
        print(f"rows of {len(ours)} shared lists agree: {sum(ours.values()):,} each")
    return not differing


def _figures(options: argparse.Namespace) -> bool:
    repeats = options.repeats
    if real_products().exists():
        _say("split and parse, real products/s", _alone("figures", "parse", repeats, real_products()), 35_000)
    else:
        print(
            "split and parse is skipped: the real products are not here (PRODEX_REAL_PRODUCTS names their file)"
        )
    _say(
        "page of odd products, times a clean one",
        _alone("figures", "odd_page", repeats, min(500, options.products)),
        -10,
    )
    _say("import over pandas and pyarrow, s", _alone("figures", "import_time", repeats), -0.15)
    _say("sample catalogue made, products/s", _alone("figures", "sample", options.products), 1_500)
    leaves, wrong = map(int, _alone("figures", "leaves", options.leaves))
    print(f"{wrong:,} of {leaves:,} leaves lost or invented, in {options.leaves:,} products")
    return wrong == 0


def _audit(count: int) -> None:
    found = _alone("audits", count)
    judged = f"{found['products']:,} products x {found['checks']} checks"
    _say(f"{judged}, s", found["audit"], -20)
    _say("the same, peak memory in GB", found["peak_mb"] / 1000, -2)
    _say("telling the languages of their texts, s", found["languages"], -20)
    _say("scores by owner, kind and market, s", found["scores"], -1)


def _explore(count: int) -> None:
    if find_spec("playwright") is None or which("chromium") is None:
        print("the explorer is skipped: it needs playwright and chromium")
        return
    found = _alone("explorer", count)
    looked_at = f"explorer of {found['products']:,} products"
    _say(f"{looked_at} up in a browser, s", found["up"], -3)
    _say("a click on a facet, s", found["click"], -0.5)
    _say("words in all their texts, s", found["search"], -2)
    _say("state sent to the browser, MB", found["sent_mb"], -2)


def _say(what: str, value: float, target: float) -> None:
    """Print a figure with its target; a negative target is a ceiling."""
    reached = value >= target if target > 0 else value <= -target
    ceiling = "at least" if target > 0 else "at most"
    print(
        f"{what:<42}{value:>10,.4g}   {ceiling} {abs(target):,g}: {'reached' if reached else 'NOT reached'}"
    )


def _alone(module: str, *arguments: object) -> Any:
    """Run a module of this package in a fresh process and return the JSON of its last line."""
    command = [sys.executable, "-m", f"tests.bench.{module}", *map(str, arguments)]
    ended = subprocess.run(command, cwd=_HOME, stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(ended.stdout.splitlines()[-1])


if __name__ == "__main__":
    sys.exit(main())
