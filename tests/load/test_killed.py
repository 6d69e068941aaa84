"""Law 3 under SIGKILL: a load that is killed at any moment goes on where it was, and loses nothing."""

from __future__ import annotations

import json
from pathlib import Path

import prodex
from prodex.sandbox import Behaviour, Sandbox
from prodex_sandbox.sample import shared_products
from tests.load.killing import SIDE_BY_SIDE, kill_often

#: `make soak` kills thirty times.
_KILLS = 12


def test_kills_cost_no_product_and_hardly_a_page(home: Path) -> None:
    """The same call goes on each time: nothing is lost or twice, at most one page of each window comes again."""
    with Sandbox(shared_products(600), behaviour=Behaviour(latency=0.02)) as sandbox:
        killing = kill_often(sandbox, home, _KILLS, page_size=10)
    catalog = prodex.open_snapshot("killed")
    ids = [json.loads(record)["id"] for record in catalog.raw["json"]]

    assert (True, 600, 600) == (catalog.complete, len(ids), len(set(ids)))
    assert _KILLS == killing.kills
    assert 1 == killing.most_of_a_window
    assert 0 < killing.in_all <= _KILLS * SIDE_BY_SIDE


def test_kills_cost_nothing_where_parts_are_built_early(home: Path) -> None:
    """What a load that was killed had built is used or built again, and nothing half-built is in a snapshot."""
    with Sandbox(shared_products(450), behaviour=Behaviour(latency=0.02)) as sandbox:
        killing = kill_often(sandbox, home, 3, page_size=8, seed=2, in_parts=True)
    catalog = prodex.open_snapshot("killed")
    ids = [json.loads(record)["id"] for record in catalog.raw["json"]]

    assert (True, 450, 450) == (catalog.complete, len(ids), len(set(ids)))
    assert 3 == killing.kills
    assert len(catalog.parts) > 8
    assert prodex.verify("killed")["ok"].all()
