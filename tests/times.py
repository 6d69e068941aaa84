"""How long a person waits: `make times` runs `make check` and `make test` in fresh clones and prints the seconds.

Each run clones what is committed here and makes its environment, which is not counted; then each target runs as CI runs
it, so that a browser that is missing is an error and not a short run. `--runs` says how many clones, and names of
targets after it which targets.
"""

# ruff: noqa: T201 - it prints what it measured

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: Target -> seconds of the clock on two cores that it may take.
BOUNDS = {"check": 100, "test": 12 * 60}


def in_words(seconds: float) -> str:
    """Return a duration as people say it.

    >>> in_words(98.7), in_words(719.6)
    ('99 s', '12 min 0 s')
    """
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes > 1 else f"{round(seconds)} s"


def last_line(output: str) -> str:
    """Return what pytest said at its end; without that, the last line there is.

    >>> last_line("....\\n===== 3 passed in 0.12s =====\\n")
    '3 passed in 0.12s'
    >>> last_line("make: *** [Makefile:30: test] Error 1\\n")
    'make: *** [Makefile:30: test] Error 1'
    """
    counts = re.findall(
        r"^=*\s*(.*\b(?:passed|failed|errors?)\b.* in [\d.:ms ()]+?)\s*=*$", output, re.MULTILINE
    )
    return counts[-1] if counts else (output.strip().splitlines() or ["no output"])[-1]


def measure(target: str, clone: Path) -> bool:
    """Run one target in a clone, print its times, and return whether it passed within its bound."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    environment = {**os.environ, "CI": "true"}
    done = subprocess.run(
        ["make", target], cwd=clone, env=environment, capture_output=True, text=True, check=False
    )
    clock, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    passed = not done.returncode
    print(
        f"make {target}: {in_words(clock)} of at most {in_words(BOUNDS[target])}, "
        f"{in_words(processor)} of processor time on {os.cpu_count()} cores; {last_line(done.stdout)}",
        flush=True,
    )
    if not passed:
        print("\n".join(done.stdout.splitlines()[-40:] + done.stderr.splitlines()[-5:]))
    return passed and clock <= BOUNDS[target]


def main() -> int:
    """Measure, and return 1 when a target failed or took longer than it may."""
    parser = argparse.ArgumentParser(prog="python -m tests.times", description=__doc__.partition("\n")[0])
    parser.add_argument("targets", nargs="*", metavar="target", help="check or test; both if left out")
    parser.add_argument("--runs", type=int, default=1, help="fresh clones, one after the other")
    chosen = parser.parse_args()
    if unknown := sorted({*chosen.targets} - BOUNDS.keys()):
        parser.error(f"unknown: {', '.join(unknown)}; there are {', '.join(BOUNDS)}")
    kept = []
    for run in range(chosen.runs):
        with tempfile.TemporaryDirectory(prefix="prodex-times-") as folder:
            Path(folder).chmod(0o755)  # tests ask as other users for what they may not read
            clone = Path(folder) / "clone"
            subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
            # Not a target of people: what stands behind both.
            subprocess.run(["make", ".venv-dev/.ready"], cwd=clone, stdout=subprocess.DEVNULL, check=True)
            print(f"clone {run + 1} of {chosen.runs}", flush=True)
            kept += [measure(target, clone) for target in chosen.targets or BOUNDS]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
