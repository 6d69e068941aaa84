"""Columns of frames about what was sent: of which type each is, and what it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias, TypeVar

import pandas as pd

from prodex.ledger.writes import SentWrite
from prodex.service.replies import canonical

_Row = TypeVar("_Row")
#: By the name of a column its type, and what it holds of a row.
Columns: TypeAlias = Mapping[str, tuple[str, Callable[[_Row], Any]]]

_OF_WRITE: Final[Columns[SentWrite]] = {
    "upsert": ("str", lambda write: write.upsert),
    "tracking": ("str", lambda write: None if write.tracking is None else str(canonical(write.tracking))),
    "by": ("str", lambda write: write.by or None),
    "why": ("str", lambda write: write.why or None),
    "sent_at": ("datetime64[us, UTC]", lambda write: write.at),
}


def of_write(write_of: Callable[[_Row], SentWrite | None], *names: str) -> Columns[_Row]:
    """Return columns that say which call wrote something; they are empty where none is known."""

    def of_row(held: Callable[[SentWrite], Any]) -> Callable[[_Row], Any]:
        return lambda row: None if (write := write_of(row)) is None else held(write)

    return {name: (_OF_WRITE[name][0], of_row(_OF_WRITE[name][1])) for name in names}


def frame_of(columns: Columns[_Row], rows: Iterable[_Row]) -> pd.DataFrame:
    """Return rows as a frame with declared columns."""
    cells = [tuple(held(row) for _, held in columns.values()) for row in rows]
    return pd.DataFrame(cells, columns=list(columns)).astype(
        {name: kind for name, (kind, _) in columns.items()}
    )
