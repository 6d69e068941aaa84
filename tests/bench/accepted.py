"""What accepted findings cost an audit: the same audit with and without 50,000 of them, in turns in one run.

`python -m tests.bench.accepted [PRODUCTS] [ACCEPTED] [ROUNDS]`; it prints the ratio of the medians, and as JSON
in its last line; `make bench` shows it.
"""

# ruff: noqa: T201 - it prints figures

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import prodex
from prodex_sandbox.sample import AS_OF, shared_products

#: What 50,000 accepted findings may cost, as a share of an audit.
MOST = 0.05


def measure(products: int = 100_000, accepted: int = 50_000, rounds: int = 3) -> dict[str, float]:
    """Print what accepted findings cost, and return it."""
    with tempfile.TemporaryDirectory(prefix="prodex-bench-") as home:
        os.environ["PRODEX_HOME"] = home
        catalog = prodex.flatten(product.record for product in shared_products(products))
        file = Path(home, "accepted.jsonl")
        audit = prodex.audit(catalog, "online-listing", now=AS_OF, progress=False)
        found = audit.failures().sample(accepted, random_state=7)
        begin = perf_counter()
        marked = prodex.accept(audit, found, reason="looked at", by="Ana", to=file)
        writing = perf_counter() - begin
        lines = len(marked.accepted_findings.newest) if marked.accepted_findings is not None else 0

        def judged(path: Path | None) -> object:
            # With its figures: what is accepted is matched when somebody asks for it, and so is its view.
            made = prodex.audit(catalog, "online-listing", now=AS_OF, progress=False, accepted=path)
            return [one.summary for one in ((made, made.with_accepted()) if path else (made,))]

        # Of all threads: what else the machine does meanwhile must not count.
        seconds: dict[bool, list[float]] = {False: [], True: []}
        waited: dict[bool, list[float]] = {False: [], True: []}
        for _ in range(rounds):
            for is_with in (False, True):
                begin, cpu = perf_counter(), process_time()
                judged(file if is_with else None)
                waited[is_with].append(perf_counter() - begin)
                seconds[is_with].append(process_time() - cpu)
    without, with_them = (median(seconds[one]) for one in (False, True))
    cost = with_them / without - 1
    wall = median(waited[True]) / median(waited[False]) - 1
    print(
        f"{products:,} products, {lines:,} accepted findings: an audit takes {without:.1f} s of the processors without "
        f"and {with_them:.1f} s with them ({cost:+.1%}; at most {MOST:.0%}), {wall:+.1%} by the clock; accepting them "
        f"took {writing:.1f} s"
    )
    return {"cost": cost, "accepting": writing}


if __name__ == "__main__":
    print(json.dumps(measure(*map(int, sys.argv[1:]))))
