"""This tree beside an earlier one: what users do, in turns in one run, as ratios of seconds, work and memory.

`git worktree add ../before COMMIT`, then `python -m tests.bench.paired ../before` prints for each figure the best value
of its rounds in both, and their ratio: whatever else a machine does makes a figure worse, and none better. Each tree
runs its own bench in processes of its own, with the Python of its `.venv-dev`, or else with this one. What only one of
them has is listed. More than 5 % worse is marked; nothing fails.
"""

# ruff: noqa: T201 - it prints figures

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Any

from tests.bench import results
from tests.bench.measuring import HOME, Measured, alone
from tests.bench.operations import OPERATIONS
from tests.bench.pinned import kept
from tests.bench.products import real_products, write_pages

#: From this ratio on a figure is marked.
_WORSE = 1.05
#: A difference below so many seconds or MB is noise, whatever its ratio.
_NOISE = 0.01
#: Figures of which more is better, or which say how much was done and not what it took.
_NO_COSTS = ("products", "checks", "changed", "answers", "cells", "rows", "ratio", "cost", "times")

Figures = Mapping[str, float]


class _Tree:
    """A checkout, and where its snapshots are kept: layouts on disk may differ."""

    def __init__(self, root: Path, homes: Path) -> None:
        self.root, self._homes = root, homes
        own = root / ".venv-dev" / "bin" / "python"
        self._python = str(own) if own.exists() else sys.executable

    def run(self, module: str, *arguments: object, home: str = "") -> Any:
        """Run a module of its bench in a fresh process and return the JSON of its last line."""
        environment = os.environ | {"PYTHONPATH": str(self.root / "src")}
        if home:
            self.folder(home).mkdir(parents=True, exist_ok=True)
            environment["PRODEX_HOME"] = str(self.folder(home))
        command = [self._python, "-m", f"tests.bench.{module}", *map(str, arguments)]
        ended = subprocess.run(
            command, cwd=self.root, env=environment, stdout=subprocess.PIPE, check=True, text=True
        )
        return json.loads(ended.stdout.splitlines()[-1])

    def folder(self, name: str) -> Path:
        """Return a folder of its own."""
        return self._homes / name


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.paired", description=__doc__)
    parser.add_argument("before", type=Path, help="the root of an earlier checkout")
    parser.add_argument("--products", type=int, default=30_000, help="size of the catalogue")
    parser.add_argument("--rounds", type=int, default=5, help="of which the best one counts")
    parser.add_argument("--only", nargs="+", choices=list(_PARTS), default=list(_PARTS))
    options = parser.parse_args(arguments)
    print(f"{results.machine()}\n")
    worse = []
    with tempfile.TemporaryDirectory(prefix="prodex-paired-") as folder:
        trees = (
            _Tree(options.before.resolve(), Path(folder) / "before"),
            _Tree(HOME, Path(folder) / "now"),
        )
        for part in options.only:
            print(f"{part}:")
            worse += [f"{part}: {line}" for line in _compared(part, trees, options)]
    print(f"\n{len(worse)} figures are more than {_WORSE - 1:.0%} worse{':' if worse else '.'}")
    print("\n".join(worse))
    return 0


def _compared(part: str, trees: tuple[_Tree, _Tree], options: argparse.Namespace) -> Iterator[str]:
    """Measure a part in both trees, in turns; print each figure, and yield those that became worse."""
    found: list[dict[str, list[float]]] = [defaultdict(list), defaultdict(list)]
    for turn in range(options.rounds):
        # Whoever is second may find warmer files: both are second equally often.
        for number in (0, 1) if turn % 2 == 0 else (1, 0):
            for name, value in _PARTS[part](trees[number], options.products, turn):
                found[number][name].append(value)
    before, now = found
    for name in sorted(before.keys() ^ now.keys()):
        print(f"  {name}: {'only now' if name in now else 'only before'}")
    for name in (one for one in now if one in before):
        old, new = min(before[name]), min(now[name])
        ratio = new / max(old, 1e-9)
        is_worse = ratio > _WORSE and new - old > _NOISE
        line = f"{name}: {old:,.3f} -> {new:,.3f}, times {ratio:.2f}"
        print(f"  {line}{'  WORSE' if is_worse else ''}", flush=True)
        if is_worse:
            yield line


def _measured(name: str, figures: list[float]) -> Iterator[tuple[str, float]]:
    one = Measured(*figures)
    yield f"{name}, s", one.seconds
    yield f"{name}, s of work", one.cpu
    yield f"{name}, MB", one.peak_mb


def _costs(figures: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for name, value in figures.items():
        if isinstance(value, int | float) and not any(word in name for word in _NO_COSTS):
            yield name, float(value)


def _lines(count: int) -> Path:
    path = kept() / f"products-{count}.jsonl"
    if not path.exists():
        alone("main_job", "catalogue", count, path)
    return path


def _operations(tree: _Tree, count: int, turn: int) -> Iterator[tuple[str, float]]:
    if turn == 0:
        yield from _measured("read_products", tree.run("operations", "keep", _lines(count), home="kept"))
    for name in OPERATIONS:
        yield from _measured(name, tree.run("operations", name, home="kept"))


def _refresh(tree: _Tree, count: int, turn: int) -> Iterator[tuple[str, float]]:
    served = tree.folder("served")
    figures = tree.run("operations", "night", _lines(count), served, home=f"night-{turn}")
    yield from _measured("refresh, audit and worklists", figures)


def _load(tree: _Tree, count: int, _: int) -> Iterator[tuple[str, float]]:
    yield from _costs(tree.run("main_job", "measured", _lines(count), 1, tree.folder("served")))
    if real_products().exists():
        for name, value in _costs(tree.run("main_job", "measured", real_products(), 1)):
            yield f"5,000 real products: {name}", value


def _pages(tree: _Tree, count: int, turn: int) -> Iterator[tuple[str, float]]:
    pages = kept() / f"pages-{count}"
    if not pages.exists():
        write_pages(pages, count)
    made = tree.run("contestants", "prodex", pages, tree.folder(f"tables-{turn}"), 1)
    yield "seconds", median(made["seconds"])
    yield "s of work", median(made["cpu"])
    yield "MB", made["peak_mb"]


def _sampled(tree: _Tree, count: int, turn: int) -> None:
    if turn == 0 and not tree.folder("sampled").exists():
        tree.run("audits", "keep", count, home="sampled")


def _rules(tree: _Tree, count: int, turn: int) -> Iterator[tuple[str, float]]:
    _sampled(tree, count, turn)
    yield from _costs(tree.run("audits", "judge", count, home="sampled"))


def _recipes(tree: _Tree, count: int, turn: int) -> Iterator[tuple[str, float]]:
    _sampled(tree, count, turn)
    yield from _costs(tree.run("recipes", "bench", home="sampled"))


def _requirements(tree: _Tree, count: int, _: int) -> Iterator[tuple[str, float]]:
    yield from _costs(tree.run("requirements", count, 1, 40))
    yield from _costs(tree.run("accepted", count, count // 2, 1))


def _small(tree: _Tree, _: int, __: int) -> Iterator[tuple[str, float]]:
    yield from _costs(tree.run("small", 100, 1, 7)["this"])


_PARTS = {
    "operations": _operations,
    "refresh": _refresh,
    "load": _load,
    "pages": _pages,
    "rules": _rules,
    "recipes": _recipes,
    "requirements": _requirements,
    "small": _small,
}


if __name__ == "__main__":
    sys.exit(main())
