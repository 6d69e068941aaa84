"""What is left of writes that were taken back: `python -m tests.soak undo`.

Each process that writes, and each one that takes back, is killed (SIGKILL) at the next of its steps, and somebody else
changes some of the products meanwhile. In the end every product is as before, but for what somebody else has changed.
"""

# ruff: noqa: T201 - it prints figures

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.corrections.undoing import MOMENTS, undo_often

#: Products of a group.
_SIZE = 10


def undone(products: int = 1_000) -> bool:
    """Print what became of so many products; whether it is as it should be."""
    with tempfile.TemporaryDirectory(prefix="prodex-soak-") as folder:
        found = undo_often(Path(folder), Path(folder, "home"), products // _SIZE, _SIZE)
    moments = min(len(MOMENTS), found.groups)
    print(
        f"{found.products:,} products corrected and undone in {found.groups} groups, {found.kills} processes killed at "
        f"{moments} moments, {found.changed_by_others} leaves changed by somebody else meanwhile: "
        f"{len(found.unequal)} products not value-equal to before, {len(found.touched)} touched that had changed "
        f"since, {len(found.unaccounted)} not accounted for by name"
    )
    for what in [*found.unequal, *found.touched, *found.unaccounted][:10]:
        print(f"   {what}")
    wrong = (found.unequal, found.touched, found.unaccounted)
    return not any(wrong) and found.kills > 0 and found.products == products
