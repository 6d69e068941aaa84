"""The snapshots and audits that are saved on this machine, as the panels of before show them."""

from __future__ import annotations

from collections.abc import Sequence

from prodex.load.resume import UnfinishedLoad
from prodex.notebook.shared.panel import text_html
from prodex.notebook.views.audits_before import earlier, previous, readable
from prodex.notebook.views.saved_snapshots import (
    COLUMNS,
    NUMBERS,
    SnapshotEntry,
    snapshot_entries,
    unfinished_lines,
)

__all__ = [
    "COLUMNS",
    "NUMBERS",
    "SnapshotEntry",
    "earlier",
    "previous",
    "readable",
    "snapshot_entries",
    "unfinished_markup",
]


def unfinished_markup(loads: Sequence[UnfinishedLoad]) -> str:
    """Return what is kept of loads that are not finished, as HTML; nothing if there are none."""
    if not loads:
        return ""
    how_many, lines = unfinished_lines(loads)
    return f"<p>{how_many}</p><ul>{''.join(f'<li>{text_html(one)}</li>' for one in lines)}</ul>"
