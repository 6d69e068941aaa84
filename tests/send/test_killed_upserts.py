"""Upserts under SIGKILL: every product is sent, not sent, or unknown, and none is sent twice."""

from __future__ import annotations

from pathlib import Path

from tests.send.upsert_killing import BATCH, PRODUCTS, kill_upserts


def test_killed_upserts_send_nothing_twice_and_lose_nothing(tmp_path: Path) -> None:
    """Wherever the process ends: only the batch on its way is unknown, and sending the rest completes the others."""
    killed = kill_upserts(tmp_path, 3)

    assert ([], []) == (killed.twice, killed.unaccounted)
    assert 3 == killed.kills
    assert killed.unknown <= killed.kills * BATCH
    assert killed.upserts * PRODUCTS == killed.sent + killed.unknown
