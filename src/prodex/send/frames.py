"""What is known of imports, as frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from prodex.send.batch import Batch
from prodex.send.outcome import Outcome
from prodex.service.identifiers import canonical


def batches_frame(batches: Sequence[Batch], outcomes: Sequence[Outcome]) -> pd.DataFrame:
    """Return one row for each batch."""
    rows = [
        (
            outcome.status,
            outcome.count,
            outcome.record.get("createdAt"),
            outcome.message,
            named(outcome.record.get("user"), "username"),
            named(outcome.record.get("organization"), "nameLegal"),
            outcome.record.get("endpoint"),
        )
        for outcome in outcomes
    ]
    columns = ["status", "count", "created_at", "message", "user", "organization", "endpoint"]
    frame = pd.DataFrame(rows, columns=columns).astype({"count": "Int64"})
    frame.insert(0, "tracking", _identifiers([batch.tracking for batch in batches]))
    return frame


def products_frame(batches: Sequence[Batch], outcomes: Sequence[Outcome]) -> pd.DataFrame:
    """Return one row for each product."""
    rows = [row for outcome in outcomes for row in outcome.products]
    frame = pd.DataFrame(rows, columns=["gtin", "status", "message"])
    pairs = zip(batches, outcomes, strict=True)
    frame["tracking"] = _identifiers([batch.tracking for batch, outcome in pairs for _ in outcome.products])
    return frame


def named(value: Any, name: str) -> str | None:
    """Return what an object of a tracking record is called."""
    if not isinstance(value, Mapping):
        return None if value is None else str(value)
    return str(value.get(name) or value.get("id") or "") or None


def _identifiers(texts: Sequence[str | None]) -> pd.Series[Any]:
    """Return identifiers as whole numbers where 64 bits hold all of them, else as text: every digit counts."""
    distinct = {text: canonical(text) for text in set(texts) if text is not None}
    if all(isinstance(one, int) and one < 2**63 for one in distinct.values()):
        return pd.Series([None if text is None else distinct[text] for text in texts], dtype="Int64")
    return pd.Series(list(texts), dtype="str")
