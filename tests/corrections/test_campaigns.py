"""Campaigns of corrections, recipes and undos, in calls smaller than a correction: see `make soak` for many of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from .campaigning import campaign_often

#: Seeds whose campaigns have kills, faults, and others who write between two calls of a correction.
SEEDS = (1, 3)


@pytest.mark.slow
def test_a_campaign_loses_nothing_of_others_and_sends_nothing_twice(tmp_path: Path) -> None:
    """Whatever is killed, lost or written meanwhile, each step does what it says, once, and nothing else."""
    found = campaign_often(tmp_path, SEEDS)
    assert found.wrong == []
    assert min(found.kills, found.faults, found.by_others) > 0
