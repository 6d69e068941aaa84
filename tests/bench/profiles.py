"""`python -m tests.bench.profiles OTHER/src`: what an audit by two profiles costs here and in another checkout.

Each checkout keeps the products of the sample as its own snapshot, 10,000 in a part, and judges it by `online-listing`
and `food-eu`, in turns and in fresh processes. What is printed is processor time, the best of all turns, its ratio, and
the largest peak of memory, for each number of products.
"""

# ruff: noqa: T201 - it prints figures

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.bench.measuring import HERE, HOME, said_here

COUNTS, TURNS = (10_000, 100_000), 3

_KEEP = """
import sys
from dataclasses import replace
from itertools import islice
import prodex
from prodex_sandbox.sample import shared_products
made, pieces = (product.record for product in shared_products(int(sys.argv[1]))), []
while piece := list(islice(made, 10_000)):
    pieces.append(prodex.flatten(piece).save(f"piece-{len(pieces)}"))
replace(pieces[0], parts=tuple(part for one in pieces for part in one.parts)).save("bench")
"""
_JUDGE = """
import resource, time
import prodex
from prodex_sandbox.sample import AS_OF
catalog = prodex.open_snapshot("bench")
begin = time.process_time()
for profile in ("online-listing", "food-eu"):
    prodex.audit(catalog, profile, now=AS_OF, progress=False)
print(time.process_time() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000)
"""


def run(source: Path, home: Path, code: str, *arguments: str) -> str:
    """Run code with the prodex of a source folder, and snapshots in a home of its own; see also `alone`."""
    if HERE.is_set():
        return said_here(lambda: exec(code, {"__name__": "__main__"}), "-c", *arguments, home=home)
    environment = os.environ | {"PYTHONPATH": str(source), "PRODEX_HOME": str(home)}
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print(__doc__)
        return 2
    sources = {"there": Path(arguments[0]).resolve(), "here": HOME / "src"}
    for count in COUNTS:
        with tempfile.TemporaryDirectory(prefix="prodex-bench-") as folder:
            best, peaks = dict.fromkeys(sources, float("inf")), dict.fromkeys(sources, 0.0)
            for name, source in sources.items():
                run(source, Path(folder) / name, _KEEP, str(count))
            for _ in range(TURNS):
                for name, source in sources.items():
                    seconds, peak = map(float, run(source, Path(folder) / name, _JUDGE).split())
                    best[name], peaks[name] = min(best[name], seconds), max(peaks[name], peak)
        for name in sources:
            print(f"{count:,} products, {name}: {best[name]:.2f} s of processor time, {peaks[name]:.0f} MB")
        print(f"{count:,} products: {best['here'] / best['there']:.2f} times")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
