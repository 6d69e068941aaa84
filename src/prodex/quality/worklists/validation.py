"""What may stand in the cells of "New value", as the data validation of a spreadsheet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from prodex.quality.worklists.fields import Allowed, Codes, allowed
from prodex.quality.worklists.sheets import TO_FIX

#: Ranges of cells in one validation; spreadsheets refuse very long lists of them.
_RANGES = 500


def validate(
    sheet: Any, columns: Mapping[str, pa.Array], can: Mapping[str | None, bool], codes: Codes
) -> None:
    """Say of each cell of "New value" what may stand in it, where that is known."""
    place = next(i for i, column in enumerate(TO_FIX) if column.name == "new_value")
    counts = {name: len(known) for name, known in codes.items()}
    pairs = pa.table([columns["attribute"], columns["language"]], names=["attribute", "language"])
    pairs = pairs.append_column("row", pa.array(np.arange(1, len(pairs) + 1)))
    grouped = pairs.group_by(["attribute", "language"], use_threads=False).aggregate([("row", "list")])
    for pair in grouped.to_pylist():
        attribute = pair["attribute"]
        if not can[attribute]:
            continue
        rule = allowed(attribute, pair["language"], counts)
        if rule is None:
            continue
        ranges = [[first, place, last, place] for first, last in _runs(pair["row_list"])]
        for start in range(0, len(ranges), _RANGES):
            first, *others = ranges[start : start + _RANGES]
            sheet.data_validation(*first, {**_criteria(rule, codes), "other_cells": others})


def _criteria(rule: Allowed, codes: Codes) -> dict[str, Any]:
    about = {
        "input_title": rule.title,
        "input_message": rule.message,
        "error_title": rule.title,
        "error_message": rule.message,
        "error_type": "stop" if rule.strict else "warning",
    }
    if rule.choices:
        return {"validate": "list", "source": list(rule.choices), **about}
    if rule.codes_of is not None:
        first = 2 + sum(len(known) for name, known in _before(codes, rule.codes_of))
        last = first + len(codes[rule.codes_of]) - 1
        return {"validate": "list", "source": f"=Codes!$B${first}:$B${last}", **about}
    return {"validate": "length", "criteria": "<=", "value": rule.longest, **about}


def _before(codes: Codes, name: str) -> Iterator[tuple[str, Sequence[tuple[str, str | None]]]]:
    for other, known in codes.items():
        if other == name:
            return
        yield other, known


def _runs(rows: Sequence[int]) -> list[tuple[int, int]]:
    """Return first and last of each stretch of rows that follow each other.

    >>> _runs([1, 2, 3, 7, 9, 10])
    [(1, 3), (7, 7), (9, 10)]
    """
    numbers = np.sort(np.asarray(rows))
    cuts = np.flatnonzero(np.diff(numbers) != 1)
    firsts, lasts = numbers[np.r_[0, cuts + 1]], numbers[np.r_[cuts, len(numbers) - 1]]
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))
