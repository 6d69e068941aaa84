"""Law 3 under SIGKILL: a load that is killed at any moment goes on where it was, and loses nothing."""

from __future__ import annotations

import json
from pathlib import Path

import prodex
from prodex.sandbox import Behaviour, Sandbox
from prodex_sandbox.sample import shared_products
from tests.load.killing import SIDE_BY_SIDE, kill_often


def test_thirty_kills_cost_no_product_and_hardly_a_page(home: Path) -> None:
    """The same call goes on each time: nothing is lost or twice, at most one page of each window comes again."""
    with Sandbox(shared_products(900), behaviour=Behaviour(latency=0.02)) as sandbox:
        killing = kill_often(sandbox, home, 30, page_size=15)
    catalog = prodex.open_snapshot("killed")
    ids = [json.loads(record)["id"] for record in catalog.raw["json"]]

    assert (True, 900, 900) == (catalog.complete, len(ids), len(set(ids)))
    assert 30 == killing.kills
    assert 1 == killing.most_of_a_window
    assert 0 < killing.in_all <= 30 * SIDE_BY_SIDE


def test_kills_cost_nothing_where_processes_build(home: Path) -> None:
    """The processes of a load that was killed end with it, and write nothing into the next one."""
    with Sandbox(shared_products(900), behaviour=Behaviour(latency=0.02)) as sandbox:
        killing = kill_often(sandbox, home, 6, page_size=15, seed=2, by_processes=True)
    catalog = prodex.open_snapshot("killed")
    ids = [json.loads(record)["id"] for record in catalog.raw["json"]]

    assert (True, 900, 900) == (catalog.complete, len(ids), len(set(ids)))
    assert 6 == killing.kills
    assert len(catalog.parts) > 8
    assert prodex.verify("killed")["ok"].all()
