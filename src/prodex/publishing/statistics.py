"""The statistics of a Parquet file as Delta tables keep them: rows, nulls, and the least and greatest values.

Readers leave out files whose values cannot match a filter. So only what is exact is given: of the columns by which
products are looked up and of whole numbers. Times are left out, since Delta rounds them to milliseconds.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from prodex.files import parquet
from prodex.files.parquet import FileFacts

#: Delta keeps statistics of this many columns, counted from the first.
_COLUMNS = 32

#: Longer texts would make the log larger than what they save.
_LONGEST = 200


def statistics_of(path: Path, facts: FileFacts, columns: Sequence[str]) -> str:
    """Return the statistics of a file as JSON.

    Parameters
    ----------
    path
        The file.
    facts
        What the manifest keeps of it: a file that is not as it was written is refused.
    columns
        The columns of its Delta table; those that a Parquet file lacks have no statistics.

    Raises
    ------
    SnapshotDamaged
        When the file is missing or not as it was written.
    """
    with parquet.opened(path, facts) as file:
        footer = file.metadata
    wanted = set(columns[:_COLUMNS])
    places = {
        name: number
        for number in range(footer.num_columns)
        if (name := footer.schema.column(number).path) in wanted
    }
    found: dict[str, Any] = {"numRecords": footer.num_rows, "minValues": {}, "maxValues": {}, "nullCount": {}}
    for name, number in places.items():
        groups = [footer.row_group(group).column(number) for group in range(footer.num_row_groups)]
        _add(found, name, groups)
    return json.dumps(found)


def _add(found: dict[str, Any], name: str, groups: list[pq.ColumnChunkMetaData]) -> None:
    """Add the statistics of a column, as far as every row group has them."""
    known = [group.statistics for group in groups]
    if not known or not all(one is not None and one.has_null_count for one in known):
        return
    nulls = sum(one.null_count for one in known)
    found["nullCount"][name] = nulls
    # A row group of nulls has no least value, and that says nothing against the others.
    with_values = [one for one in known if one.num_values]
    if not with_values or not all(one.has_min_max for one in with_values):
        return
    least, greatest = min(one.min for one in with_values), max(one.max for one in with_values)
    if _is_exact(least) and _is_exact(greatest):
        found["minValues"][name], found["maxValues"][name] = least, greatest


def _is_exact(value: object) -> bool:
    """Whether Delta keeps a value as it is."""
    if isinstance(value, str):
        return len(value) <= _LONGEST and value.isascii() and value.isprintable()
    return isinstance(value, int) and not isinstance(value, bool)
