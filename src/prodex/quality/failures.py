"""Findings: what the matrix and the evidence say of failing checks, as rows that somebody can work through."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.errors import QueryError
from prodex.quality.check import CheckFacts
from prodex.quality.engine import IDENTITY, AuditPart
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
_OF_CHECK = {
    "check": "id",
    "rule": "rule",
    "problem": "problem",
    "title": "title",
    "block": "block",
    "severity": "severity",
    "fix": "fix",
}


def failure_rows(part: AuditPart, checks: Sequence[CheckFacts], equal: Mapping[str, Any]) -> pa.Table:
    """Return the findings of a part: its evidence, and a row from the matrix for each failing check without any.

    Parameters
    ----------
    part
        The part.
    checks
        The columns of its matrix.
    equal
        Column of `FAILURES` = value or list of values.

    Raises
    ------
    QueryError
        When there is no such column.
    """
    for name in equal:
        if name not in FAILURES.names:
            near = difflib.get_close_matches(name, FAILURES.names, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(FAILURES.names)}."
            raise QueryError(f"Failures have no column {name!r}; {hint}")
    evidence = part.evidence
    bare = part.states == State.FAIL
    bare[evidence["product"].to_numpy(), evidence["check"].to_numpy()] = False
    product, check = np.nonzero(bare)
    products = np.concatenate([evidence["product"].to_numpy(), product]).astype(np.int64)
    places = np.concatenate([evidence["check"].to_numpy(), check]).astype(np.int64)
    chosen = np.lexsort((places, products))
    chosen = chosen[_kept(part, checks, products[chosen], places[chosen], equal)]
    rows = _written(part, checks, products[chosen], places[chosen], chosen)
    left = {name: value for name, value in equal.items() if name not in _OF_PRODUCT and name not in _OF_CHECK}
    for name, value in left.items():
        rows = rows.filter(pc.is_in(rows[name], pa.array(_several(value), pa.string())))
    return rows


def failures_frame(batches: Iterable[pa.RecordBatch]) -> pd.DataFrame:
    """Return failures as a frame."""
    return to_frame(pa.Table.from_batches(list(batches), FAILURES))


def _kept(
    part: AuditPart, checks: Sequence[CheckFacts], products: Any, places: Any, equal: Mapping[str, Any]
) -> Any:
    """Say which rows are wanted, by what is known before any of them is written."""
    kept = np.ones(len(products), bool)
    for name, value in equal.items():
        wanted = _several(value)
        if name in _OF_PRODUCT:
            column = part.products[name].combine_chunks()
            is_wanted = pc.is_in(column, pa.array(wanted, pa.string())).to_numpy(zero_copy_only=False)
            kept &= is_wanted[products]
        elif name in _OF_CHECK:
            told = np.array([getattr(check, _OF_CHECK[name]) in wanted for check in checks], bool)
            kept &= told[places] if len(checks) else kept
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
    for name, attribute in _OF_CHECK.items():
        words = pa.array([getattr(check, attribute) for check in checks], pa.string())
        columns[name] = pa.DictionaryArray.from_arrays(place, words)
    for name in ("attribute", "language", "value", "reason"):
        found = part.evidence[name].combine_chunks().take(of_evidence)
        if name != "value":
            usual = pa.array([getattr(check, name) for check in checks], pa.string())
            found = pc.coalesce(found, usual.take(place))
        columns[name] = found
    return pa.table([columns[name] for name in FAILURES.names], schema=FAILURES)


def _several(value: Any) -> list[str | None]:
    values = list(value) if isinstance(value, list | tuple | set | frozenset | pd.Series) else [value]
    return [None if one is None else str(one) for one in values]
