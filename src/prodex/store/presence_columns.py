"""The same columns of `presence` in every part of a snapshot, so that its folder is one table to any reader.

Suppliers name attributes, and a part is built without knowledge of the others: it has a column for each attribute that
its own products have. Once all parts are there, those that lack a column are written again with it, its state
"absent". These files are small; all others stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq

from prodex.catalog.part import with_absent
from prodex.files import parquet
from prodex.store.parts import StoredPart, path_of, rewrite_table
from prodex.tables.declaration import TABLES

_KEYS = frozenset(TABLES["presence"].schema.names)
_ABSENT = "absent"


class _Columns(NamedTuple):
    """The columns of one part's `presence`, and which of them say something else than absent."""

    names: list[str]
    seen: frozenset[str]


def same_columns(parts: Sequence[StoredPart], folder: Path, *, forgetting: bool = False) -> list[StoredPart]:
    """Give `presence` the same columns, in the same order, in all parts of a snapshot that is being made.

    Parameters
    ----------
    parts
        The parts; those whose files are as they should be already are returned unchanged.
    folder
        Where they are. What is written there is never written through a link to an earlier snapshot.
    forgetting
        Leave out attributes that no product of any part has any more.

    Returns
    -------
    list of StoredPart
        The parts with the facts of their files as they are now.
    """
    found = [_columns_of(part, folder, forgetting) for part in parts]
    # In the order in which the parts have them: a later snapshot then adds columns at the end and links the rest.
    names = list(dict.fromkeys(name for columns in found for name in columns.names))
    if forgetting:
        seen = frozenset().union(*(columns.seen for columns in found))
        names = [name for name in names if name in _KEYS or name in seen]

    def written(number: int) -> StoredPart:
        part = parts[number]
        if found[number].names == names:
            return part
        stored = part.open(folder).stored("presence")
        return rewrite_table(part, folder, "presence", with_absent(stored, names))

    with ThreadPoolExecutor(cpu_count()) as threads:
        return list(threads.map(written, range(len(parts))))


def _columns_of(part: StoredPart, folder: Path, with_seen: bool) -> _Columns:
    """Read from the footer of a part's file which columns it has, and if asked which are not absent throughout."""
    with parquet.opened(folder / path_of("presence", part.number), part.files["presence"]) as file:
        names: list[str] = file.schema_arrow.names
        return _Columns(names, frozenset(_seen(names, file.metadata)) if with_seen else frozenset())


def _seen(names: Sequence[str], footer: pq.FileMetaData) -> Iterator[str]:
    for group in map(footer.row_group, range(footer.num_row_groups if footer.num_rows else 0)):
        for place, name in enumerate(names):
            statistics = group.column(place).statistics
            # Where nothing is known of a column, it may have something.
            if statistics is None or not statistics.has_min_max or statistics.max != _ABSENT:
                yield name
