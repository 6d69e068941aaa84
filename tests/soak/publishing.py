"""What killed publishers, and two that publish at once, leave to readers: in a folder and in an object store."""

# ruff: noqa: T201 - it prints figures

from __future__ import annotations

import os
import tempfile

from tests.publishing.racing import Raced, race, schedule, snapshots
from tests.publishing.s3 import serving


def rounds(count: int = 60) -> bool:
    """Race in some rounds at each kind of place, and print how many were unreadable or had no winner."""
    with tempfile.TemporaryDirectory(prefix="prodex-soak-") as home:
        os.environ["PRODEX_HOME"] = home
        published = snapshots()
        folders = race(schedule([f"{home}/round-{number}" for number in range(count)]), published)
        _print("a folder", folders)
        with serving() as store:
            places = [f"s3://bucket/round-{number}" for number in range(max(count // 3, 2))]
            stored = race(schedule(places, seed=34), published, store.options)
        _print("an object store", stored)
    return not folders.problems and not stored.problems


def _print(where: str, raced: Raced) -> None:
    print(
        f"{where}: {raced.rounds} rounds of two publishers with a kill each ({raced.kills} kills): "
        f"{len(raced.unreadable)} unreadable, {len(raced.without_winner)} rounds without a winner, "
        f"{len(raced.untrue)} answers that are not true; {raced.won} publications by the two, "
        f"{raced.reads:,} reads beside them"
    )
    for problem in raced.problems[:20]:
        print(f"    {problem}")
