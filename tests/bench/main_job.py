"""The main job: loading a whole catalogue from a service into a snapshot.

It is held against a script that downloads the same pages with `requests`, calls `response.json()` on each and keeps
nothing. Both are processes of their own, in turns, and so is the sandbox that serves them.
"""

# ruff: noqa: T201 - it prints figures

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import requests

import prodex
from tests.bench import pinned
from tests.bench.measuring import Measured, Stopwatch, alone, sandbox

#: As many products a page as a load fetches.
_PAGE = 500


def measured(lines: Path, rounds: int, kept: Path | None = None) -> dict[str, Any]:
    """Return what loading took, and what downloading took, of a catalogue in a file of JSON lines.

    `kept` is where the sandbox keeps it.
    """
    with tempfile.TemporaryDirectory(prefix="prodex-bench-") as home, sandbox(lines, home=kept) as server:
        key = server["credentials"][0]
        ways: dict[str, list[Measured]] = {"download": [], "load": []}
        for _ in range(rounds):
            for way, found in ways.items():
                given = (way, server["base_url"], key["client_id"], key["client_secret"])
                *figures, count = alone("main_job", *given, home=Path(home))
                found.append(Measured(*figures))
                if count != server["products"]:
                    raise SystemExit(f"{way} found {count:,} of {server['products']:,} products")
        # One way stands for its round: what disturbs one mostly disturbs its neighbour, too.
        ratios = [
            load.seconds / down.seconds for load, down in zip(ways["load"], ways["download"], strict=True)
        ]
        return {
            "products": server["products"],
            "ratio": median(ratios),
            **{way: median(one.seconds for one in found) for way, found in ways.items()},
            "cpu": median(one.cpu for one in ways["load"]),
            "peak_mb": max(one.peak_mb for one in ways["load"]),
        }


def load(base_url: str, client_id: str, client_secret: str) -> int:
    """Load everything into a snapshot and return how many products it has."""
    service = prodex.connect(base_url=base_url, client_id=client_id, client_secret=client_secret)
    catalog = prodex.load_products(service, name="bench", max_age=0, progress=False)
    if not catalog.complete:
        raise SystemExit("the load is incomplete")
    return len(catalog)


def download(base_url: str, client_id: str, client_secret: str) -> int:
    """Download every page as the specification shows it, read its JSON and keep nothing (spec: endpoints 1 and 5)."""
    session = requests.Session()
    body: dict[str, Any] = {
        "client_id": client_id,
        "client_secret": client_secret,
        "grant_type": "client_credentials",
    }
    token = session.post(f"{base_url}/auth/v2/token", json=body, timeout=60).json()["access_token"]
    session.headers["Authorization"] = f"Bearer {token}"
    body = {"limit": _PAGE, "next_page": ""}
    count = 0
    while True:
        response = session.post(f"{base_url}/public/v1/products/list", json=body, timeout=60)
        response.raise_for_status()
        page = response.json()
        if not page["data"]:
            return count
        count += len(page["data"])
        body["next_page"] = page["next_page"]


WAYS = {"load": load, "download": download}


def main(arguments: list[str]) -> Any:
    """Run one way alone, or measure both."""
    match arguments:
        case ["measured", lines, rounds, *kept]:
            return measured(Path(lines), int(rounds), *map(Path, kept))
        case ["catalogue", count, file]:
            return str(pinned.write_lines(Path(file), pinned.products(int(count))))
        case [way, *given]:
            # prodex is imported as it is used. Modules are no part of the job, as `requests` above is none.
            assert callable(prodex.connect) and callable(prodex.load_products)  # noqa: PT018
            watch = Stopwatch()
            count = WAYS[way](*given)
            return [*watch.read(), count]
    raise SystemExit(__doc__)


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1:])))
