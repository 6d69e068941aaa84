"""What small work costs: seconds of processor time for 100 products, in a fresh process and in one that has begun.

`python -m tests.bench.small COUNT` measures all of it; `... first STEP` and `... again` are the processes it starts.
Tests and notebooks do this small work by the hundred, and most of it depends on no product.
"""

# ruff: noqa: T201 - it prints figures

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from statistics import median
from time import process_time

from tests.bench.measuring import alone, sandbox

#: Each is measured so often in a process that has begun, and the median counts.
_TURNS = 7
_PROFILE = "online-listing"

#: Steps of a fresh process, each in one of its own: what is imported on first use is part of it.
FIRST = ("import", "load", "open", "audit", "explorer", "command")


def steps(service: tuple[str, str, str] | None, folder: Path) -> dict[str, Callable[[], object]]:
    """Return what is measured; each can be called again and again."""
    import prodex
    from prodex_sandbox.sample import AS_OF

    def load() -> object:
        assert service is not None
        base_url, client_id, client_secret = service
        connected = prodex.connect(base_url=base_url, client_id=client_id, client_secret=client_secret)
        return prodex.load_products(connected, name="small", max_age=0, progress=False)

    def opened() -> prodex.Catalog:
        return prodex.open_snapshot("kept")

    def audit() -> prodex.Audit:
        return prodex.audit(opened(), _PROFILE, progress=False, now=AS_OF)

    lines = [json.loads(line) for line in (folder / "products.jsonl").read_bytes().splitlines()]
    judged: list[prodex.Audit] = []

    def worklists() -> object:
        if not judged:
            judged.append(audit())
        with tempfile.TemporaryDirectory() as out:
            return judged[0].worklists(Path(out) / "lists", by="owner")

    return {
        "flatten": lambda: prodex.flatten(lines),
        "load": load,
        "save": lambda: prodex.flatten(lines).save("saved"),
        "open": lambda: len(opened().products),
        "audit": audit,
        "audit saved and opened": lambda: prodex.open_audit(audit().save().folder).gaps(),
        "worklists": worklists,
        "explorer": lambda: prodex.CatalogExplorer(opened()),
        "audit panel": lambda: prodex.AuditPanel(judged[0]),
    }


def first(step: str, folder: Path, service: tuple[str, str, str] | None) -> float:
    """Return the seconds from the start of this process to the end of a step."""
    import prodex  # noqa: F401 - it is what is measured

    if step != "import":
        steps(service, folder)[step]()
    return process_time()


def again(folder: Path, service: tuple[str, str, str]) -> dict[str, float]:
    """Return the seconds of each step when it has been done before in this process."""
    found = {}
    for name, step in steps(service, folder).items():
        step()
        seconds = []
        for _ in range(_TURNS):
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


def measured(count: int, rounds: int) -> dict[str, float]:
    """Return the seconds of everything."""
    with tempfile.TemporaryDirectory(prefix="prodex-bench-") as place:
        folder = Path(place)
        alone("small", "keep", folder, count, home=folder / "home")
        with sandbox(folder / "products.jsonl") as server:
            key = server["credentials"][0]
            given = (folder, server["base_url"], key["client_id"], key["client_secret"])
            found: dict[str, list[float]] = {}
            for _ in range(rounds):
                for step in FIRST:
                    found.setdefault(f"first: {step}", []).append(
                        alone("small", "first", step, *given, home=folder / "home")
                    )
                for step, seconds in alone("small", "again", *given, home=folder / "home").items():
                    found.setdefault(step, []).append(seconds)
    return {name: median(seconds) for name, seconds in found.items()}


def keep(folder: Path, count: int) -> float:
    """Keep so many products, as a file and as a snapshot."""
    import prodex
    from prodex_sandbox.sample import shared_products

    records = [product.record for product in islice(shared_products(count), count)]
    (folder / "products.jsonl").write_bytes(b"\n".join(json.dumps(one).encode() for one in records) + b"\n")
    prodex.flatten(records).save("kept")
    return process_time()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["keep", place, count]:
            print(json.dumps(keep(Path(place), int(count))))
        case ["first", "command", *_]:
            print(json.dumps(command()))
        case ["first", step, place, *service]:
            print(json.dumps(first(step, Path(place), tuple(service) or None)))
        case ["again", place, *service]:
            print(json.dumps(again(Path(place), tuple(service))))
        case [count, rounds]:
            print(json.dumps(measured(int(count), int(rounds))))
