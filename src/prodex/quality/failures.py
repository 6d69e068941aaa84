"""Findings: what the matrix and the evidence say of failing checks, as rows that somebody can work through."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog.wanted import Wanted
from prodex.quality.check import CheckFacts
from prodex.quality.engine import IDENTITY, AuditPart
from prodex.quality.failure_filters import OF_CHECK
from prodex.quality.states import State
from prodex.tables.frames import to_frame

_WORD = pa.dictionary(pa.int32(), pa.string())

FAILURES = pa.schema(
    [
        *(field for field in IDENTITY if field.name != "has_pending_update"),
        ("check", _WORD),
        ("rule", _WORD),
        ("problem", _WORD),
        ("title", _WORD),
        ("block", _WORD),
        ("severity", _WORD),
        ("attribute", pa.string()),
        ("language", pa.string()),
        ("value", pa.string()),
        ("reason", pa.string()),
        ("fix", _WORD),
    ]
)

_OF_PRODUCT = FAILURES.names[: FAILURES.names.index("check")]


def failure_rows(part: AuditPart, checks: Sequence[CheckFacts], wants: Sequence[Wanted] = ()) -> pa.Table:
    """Return the findings of a part: its evidence, and a row from the matrix for each failing check without any.

    Parameters
    ----------
    part
        The part.
    checks
        The columns of its matrix.
    wants
        What is wanted of the columns of `FAILURES`; see `failure_filters`.
    """
    evidence = part.evidence
    bare = part.states == State.FAIL
    bare[evidence["product"].to_numpy(), evidence["check"].to_numpy()] = False
    product, check = np.nonzero(bare)
    products = np.concatenate([evidence["product"].to_numpy(), product]).astype(np.int64)
    places = np.concatenate([evidence["check"].to_numpy(), check]).astype(np.int64)
    chosen = np.lexsort((places, products))
    chosen = chosen[_kept(part, checks, products[chosen], places[chosen], wants)]
    rows = _written(part, checks, products[chosen], places[chosen], chosen)
    for want in wants:
        if want.column not in _OF_PRODUCT and want.column not in OF_CHECK:
            rows = rows.filter(want.holds(rows))
    return rows


def failures_frame(batches: Iterable[pa.RecordBatch]) -> pd.DataFrame:
    """Return failures as a frame."""
    return to_frame(pa.Table.from_batches(list(batches), FAILURES))


def _kept(
    part: AuditPart, checks: Sequence[CheckFacts], products: Any, places: Any, wants: Sequence[Wanted]
) -> Any:
    """Say which rows are wanted, by what is known before any of them is written."""
    kept = np.ones(len(products), bool)
    for want in wants:
        if want.column in _OF_PRODUCT:
            kept &= want.holds(part.products).to_numpy()[products]
        elif want.column in OF_CHECK and len(checks):
            facts = [getattr(check, OF_CHECK[want.column]) for check in checks]
            told = want.holds(pa.table({want.column: pa.array(facts, pa.string())}))
            kept &= told.to_numpy()[places]
    return kept


def _written(
    part: AuditPart, checks: Sequence[CheckFacts], products: Any, places: Any, rows: Any
) -> pa.Table:
    seen = part.evidence.num_rows
    # Rows from the matrix stand behind the evidence, where there is nothing to take.
    of_evidence = pa.array(np.where(rows < seen, rows, 0), mask=rows >= seen)
    columns: dict[str, pa.Array] = {}
    for name in _OF_PRODUCT:
        columns[name] = part.products[name].combine_chunks().take(pa.array(products))
    place = pa.array(places.astype(np.int32))
    for name, attribute in OF_CHECK.items():
        words = pa.array([getattr(check, attribute) for check in checks], pa.string())
        columns[name] = pa.DictionaryArray.from_arrays(place, words)
    for name in ("attribute", "language", "value", "reason"):
        found = part.evidence[name].combine_chunks().take(of_evidence)
        if name != "value":
            usual = pa.array([getattr(check, name) for check in checks], pa.string())
            found = pc.coalesce(found, usual.take(place))
        columns[name] = found
    return pa.table([columns[name] for name in FAILURES.names], schema=FAILURES)
