"""What small work costs: seconds of processor time for 100 products, in a fresh process and in one that has begun.

`python -m tests.bench.small COUNT ROUNDS TURNS` measures all of it, and prints seconds as JSON; `... first STEP` and
`... again` are the processes it starts. With the path of an earlier checkout as well, both are measured in turns.
Tests and notebooks do this small work by the hundred, and most of it depends on no product.
"""

# ruff: noqa: T201 - it prints figures

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from itertools import count, islice
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from tests.bench.measuring import alone, sandbox

_PROFILE = "online-listing"
_NOW = datetime(2026, 11, 13, 8, tzinfo=UTC)
#: Products that are audited once each.
_FEW = 5

#: Steps of a fresh process, each in one of its own: what is imported on first use is part of it.
FIRST = ("import", "load", "open", "audit", "explorer", "command")


def steps(folder: Path, service: Sequence[str]) -> dict[str, Callable[[], object]]:
    """Return what is measured; each can be done again and again."""
    import prodex

    @cache
    def lines() -> list[Any]:
        return [json.loads(line) for line in (folder / "products.jsonl").read_bytes().splitlines()]

    @cache
    def judged() -> prodex.quality.Audit:
        return audit()

    def load() -> object:
        base_url, client_id, client_secret = service
        connected = prodex.connect(base_url=base_url, client_id=client_id, client_secret=client_secret)
        return prodex.load_products(connected, name="small", max_age=0, progress=False)

    def opened() -> prodex.Catalog:
        return prodex.open_snapshot("kept")

    def audit() -> prodex.quality.Audit:
        return prodex.audit(opened(), _PROFILE, progress=False, now=_NOW)

    def others() -> object:
        # Products that this process has not seen: what it remembers of texts helps little.
        number = next(turns)
        records = lines()[number * _FEW : (number + 1) * _FEW]
        return prodex.audit(prodex.flatten(records), _PROFILE, progress=False, now=_NOW)

    def worklists() -> object:
        with tempfile.TemporaryDirectory() as out:
            return judged().worklists(Path(out) / "lists", by="owner")

    def drawn(panel: prodex.notebook.Explore) -> object:
        panel.app.view()
        panel.wait()
        return panel.app.view()

    turns = count()
    return {
        "flatten": lambda: prodex.flatten(lines()),
        "load": load,
        "save": lambda: prodex.flatten(lines()).save("saved"),
        "open": lambda: len(opened().products),
        "audit": audit,
        "flatten and audit five others": others,
        "worklists": worklists,
        "explorer": lambda: drawn(prodex.explore(opened())),
        "audit panel": lambda: drawn(prodex.explore(judged().catalog, audit=judged(), show="quality")),
    }


def first(step: str, folder: Path, service: Sequence[str]) -> float:
    """Return the seconds from the start of this process to the end of a step."""
    import prodex  # noqa: F401 - it is what is measured

    if step != "import":
        steps(folder, service)[step]()
    return process_time()


def again(turns: int, folder: Path, service: Sequence[str]) -> dict[str, float]:
    """Return the seconds of each step when it has been done before in this process: the median of some turns."""
    found = {}
    for name, step in steps(folder, service).items():
        step()
        seconds = []
        for _ in range(turns):
            before = process_time()
            step()
            seconds.append(process_time() - before)
        found[name] = median(seconds)
    return found


def command() -> float:
    """Return the seconds of `prodex --help`, from start to end."""
    before = os.times()
    subprocess.run([sys.executable, "-m", "prodex", "--help"], stdout=subprocess.DEVNULL, check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def measured(
    number: int, rounds: int, turns: int, earlier: Path | None = None
) -> dict[str, dict[str, float]]:
    """Return the seconds of everything: of "this" checkout, and of an earlier one in turns with it."""
    found: dict[str, dict[str, list[float]]] = {"this": {}} | ({"earlier": {}} if earlier else {})
    with tempfile.TemporaryDirectory(prefix="prodex-bench-") as place:
        folder = Path(place)
        home = folder / "home"
        alone("small", "keep", folder, number, home=home)
        with sandbox(folder / "products.jsonl") as server:
            key = server["credentials"][0]
            given = (folder, server["base_url"], key["client_id"], key["client_secret"])
            for _ in range(rounds):
                for which, of_each in found.items():
                    with _importing(earlier if which == "earlier" else None):
                        one = {
                            f"first: {step}": alone("small", "first", step, *given, home=home)
                            for step in FIRST
                        }
                        for step, seconds in {
                            **one,
                            **alone("small", "again", turns, *given, home=home),
                        }.items():
                            of_each.setdefault(step, []).append(seconds)
    return {which: {name: median(seconds) for name, seconds in each.items()} for which, each in found.items()}


@contextmanager
def _importing(checkout: Path | None) -> Iterator[None]:
    """Let the processes that start meanwhile import prodex from another checkout."""
    before = os.environ.get("PYTHONPATH")
    if checkout is not None:
        os.environ["PYTHONPATH"] = str(checkout / "src")
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("PYTHONPATH", None)
        else:
            os.environ["PYTHONPATH"] = before


def keep(folder: Path, number: int) -> float:
    """Keep so many products, as a file and as a snapshot."""
    import prodex
    from prodex_sandbox.sample import shared_products

    records = [product.record for product in islice(shared_products(number), number)]
    (folder / "products.jsonl").write_bytes(b"\n".join(json.dumps(one).encode() for one in records) + b"\n")
    prodex.flatten(records).save("kept")
    return process_time()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["keep", place, number]:
            print(json.dumps(keep(Path(place), int(number))))
        case ["first", "command", *_]:
            print(json.dumps(command()))
        case ["first", step, place, *service]:
            print(json.dumps(first(step, Path(place), service)))
        case ["again", turns, place, *service]:
            print(json.dumps(again(int(turns), Path(place), service)))
        case [number, rounds, turns, *earlier]:
            before = Path(earlier[0]) if earlier else None
            print(json.dumps(measured(int(number), int(rounds), int(turns), before)))
