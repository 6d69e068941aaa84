"""What thirty kills leave of upserts: counted at a service that takes down every product it receives."""

# ruff: noqa: T201 - it prints figures

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from tests.send.upsert_killing import BATCH, PRODUCTS, kill_upserts


def kills(times: int = 30) -> bool:
    """Kill upserts again and again, send the rest each time, and count what came twice or is not accounted for."""
    with tempfile.TemporaryDirectory(prefix="prodex-soak-") as home:
        os.environ["PRODEX_HOME"] = home
        killed = kill_upserts(Path(home), times)
    print(
        f"{killed.kills} kills in {killed.upserts} upserts of {PRODUCTS} products in batches of {BATCH}, "
        f"{killed.in_planning} of them before the plan was there: {len(killed.twice)} products sent twice, "
        f"{len(killed.unaccounted)} not accounted for, {killed.sent:,} sent, {killed.unknown} unknown at the end, of "
        f"which {killed.unknown_that_arrived} had arrived (at most {BATCH} a kill may be)"
    )
    complete = killed.upserts * PRODUCTS == killed.sent + killed.unknown
    return complete and not killed.twice and not killed.unaccounted and killed.unknown <= BATCH * times
