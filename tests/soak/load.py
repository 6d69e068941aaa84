"""What windows, resuming and refreshing cost: counted at the service, and timed against one scroll in the same run."""

# ruff: noqa: T201 - it prints figures

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import prodex
from prodex.sandbox import Behaviour, Sandbox
from prodex.service import Client
from tests.load.killing import SIDE_BY_SIDE, kill_often

Product = dict[str, Any]


def records(count: int) -> Iterator[Product]:
    """Yield small products, last updated at any time in two years."""
    now = datetime.now(UTC).replace(microsecond=0)
    for number in range(count):
        yield {
            "id": number,
            "gtin": f"{number:014d}",
            "updatedAt": f"{now - timedelta(seconds=1_000 + number * 7_919 % 63_000_000):%Y-%m-%dT%H:%M:%S}",
            "brand": {"code": str(number % 97), "label": f"Brand {number % 97}"},
            "namePublicLong": [
                {"expressedIn": {"code": code}, "data": f"product {number} in {code}"}
                for code in ("fra-FR", "deu-DE", "nld-BE")
            ],
        }


@contextmanager
def served(count: int, **behaviour: Any) -> Iterator[tuple[Sandbox, Client]]:
    """Serve small products, with a home of its own."""
    with tempfile.TemporaryDirectory(prefix="prodex-soak-") as home:
        os.environ["PRODEX_HOME"] = home
        with Sandbox(records(count), behaviour=Behaviour(**behaviour)) as sandbox:
            key = sandbox.credentials[0]
            yield (
                sandbox,
                prodex.connect(
                    base_url=sandbox.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
                ),
            )


@contextmanager
def served_apart(count: int, latency: float) -> Iterator[Client]:
    """Serve small products from a process of its own, so that nobody's clock runs with the other's work."""
    with tempfile.TemporaryDirectory(prefix="prodex-soak-") as home:
        os.environ["PRODEX_HOME"] = home
        file = Path(home) / "products.jsonl"
        with file.open("w", encoding="utf-8") as lines:
            lines.writelines(json.dumps(record) + "\n" for record in records(count))
        command = [
            sys.executable,
            "-m",
            "prodex",
            "sandbox",
            "--products",
            str(file),
            "--latency",
            str(latency),
        ]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            word = json.loads(process.stdout.readline())
            key = word["credentials"][0]
            try:
                yield prodex.connect(
                    base_url=word["base_url"], client_id=key["client_id"], client_secret=key["client_secret"]
                )
            finally:
                process.terminate()


def windows(count: int = 50_000, latency: float = 0.2) -> bool:
    """Time a pull through windows against one scroll, every call taking as long as over a slow line."""
    seconds: dict[int, list[float]] = {0: [], 4: []}
    with served_apart(count, latency) as client:
        for side_by_side in (0, 4) * 3:
            begin, fetched = time.perf_counter(), 0.0

            def note(*_: int) -> None:
                nonlocal fetched
                fetched = time.perf_counter() - begin  # noqa: B023 - called within this turn

            catalog = prodex.load_products(
                client, name=f"pull-{side_by_side}", max_age=0, windows=side_by_side, progress=note
            )
            assert (True, count) == (catalog.complete, len(catalog))
            seconds[side_by_side].append(fetched)
            what = f"{side_by_side} windows side by side" if side_by_side else "one scroll"
            print(
                f"{count:,} products at {latency * 1_000:.0f} ms a call, {what}: fetched in {fetched:.1f} s"
            )
    share = min(seconds[4]) / min(seconds[0])
    print(f"4 windows take {share:.2f} of one scroll (at most 0.33)")
    return share <= 1 / 3


def refresh(count: int = 200_000) -> bool:
    """Count the calls of a refresh after 1 % changed, next to those of a full load."""
    with served(count) as (sandbox, client):
        calls = []
        for step in ("full load", "refresh after 1 % changed", "refresh after nothing changed", "sweep"):
            if step == "refresh after 1 % changed":
                sandbox.change(
                    [record | {"lifeCycle": 7} for record in records(count) if not record["id"] % 100]
                )
            before, begin = len(sandbox.requests), time.perf_counter()
            if step == "full load":
                catalog = prodex.load_products(client, name="large", max_age=0)
            else:
                catalog = prodex.refresh("large", client, sweep=step == "sweep")
            assert (True, count) == (catalog.complete, len(catalog))
            calls.append(len(sandbox.requests) - before)
            print(f"{step} of {count:,}: {calls[-1]} calls, {time.perf_counter() - begin:.1f} s")
        changed = catalog.products["life_cycle"].eq(7).sum()
        assert count // 100 == changed
    share = calls[1] / calls[0]
    print(f"the refresh makes {share:.1%} of the calls of the full load (at most 5 %)")
    return share <= 0.05


def kills(count: int = 30_000, times: int = 30) -> bool:
    """Kill a load again and again, and count at the service what it fetched twice."""
    with served(count, latency=0.05) as (sandbox, _):
        killing = kill_often(sandbox, Path(os.environ["PRODEX_HOME"]), times, page_size=100, small=False)
        catalog = prodex.open_snapshot("killed")
        ids = {json.loads(record)["id"] for record in catalog.raw["json"]}
    again, most = killing.most_of_a_window, SIDE_BY_SIDE * killing.kills
    print(
        f"{killing.kills} kills in {killing.loads} loads of {count:,} products in {killing.pages} pages: "
        f"{len(ids):,} products, {len(catalog) - len(ids)} twice; pages of a window fetched again after a kill: "
        f"at most {again} (1), {killing.in_all} in all (at most {most}: {SIDE_BY_SIDE} windows, {killing.kills} kills)"
    )
    whole = catalog.complete and len(ids) == len(catalog) == count
    return whole and again <= 1 and killing.in_all <= most


def token(threads: int = 16) -> bool:
    """Let many threads begin at the same time, and count the token calls."""
    with served(100) as (sandbox, client):
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda _: client.count(), range(threads)))
        tokens = sum(path.endswith("/token") for _, path, _ in sandbox.requests)
    print(f"{threads} threads at once: {tokens} token call (1)")
    return tokens == 1
