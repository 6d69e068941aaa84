"""What campaigns of corrections, recipes and undos leave, while all goes wrong: `python -m tests.soak campaigns`.

Each step needs several calls. Its processes are killed and begun again, replies are lost, imports take their time, and
somebody else writes between the steps and between the calls. Each seed draws a campaign; a seed that is named in a line
of what went wrong draws the same one again (`tests.corrections.campaigning.campaign_often`).
"""

# ruff: noqa: T201 - it prints figures

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.corrections.campaigning import BATCH, PRODUCTS, campaign_often


def campaigns(count: int = 60) -> bool:
    """Print what became of so many campaigns; whether nothing went wrong."""
    with tempfile.TemporaryDirectory(prefix="prodex-soak-") as folder:
        found = campaign_often(Path(folder), range(1, 1 + count))
    print(
        f"{found.campaigns} campaigns on {PRODUCTS} products in calls of {BATCH}: {found.steps} corrections, recipes "
        f"and undos in {found.calls} calls, {found.kills} processes killed, {found.faults} faults, {found.by_others} "
        f"changes by others: {len(found.twice)} received twice, {len(found.lost)} changes of others lost, "
        f"{len(found.beside)} changes beside what was meant, {len(found.unaccounted)} not accounted for"
    )
    for what in found.wrong[:20]:
        print(f"   {what}")
    return not found.wrong and found.kills > 0 and found.faults > 0 and found.by_others > 0
