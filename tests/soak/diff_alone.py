"""One comparison in a process of its own; the last line is its figures as JSON."""

# ruff: noqa: T201 - it prints figures

from __future__ import annotations

import json
import resource
import sys
import time

import prodex


def main(old: str, new: str) -> None:
    began, cpu = time.perf_counter(), time.process_time()
    difference = prodex.diff(old, new)
    figures = {
        "seconds": time.perf_counter() - began,
        "cpu": time.process_time() - cpu,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000,
        "changed": int(difference.summary.set_index("change").loc["changed", "products"]),
        "changes": len(difference.changes),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main(*sys.argv[1:])
