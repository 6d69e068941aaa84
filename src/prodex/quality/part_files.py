"""The files of one part of an audit: its products, its states and its evidence as Parquet, with their digests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.files import parquet
from prodex.files.atomic import sha256
from prodex.files.untrusted import refuse_links
from prodex.quality.audit_part import IDENTITY, AuditPart, Crash
from prodex.quality.states import EVIDENCE, State, States


def write_part(part: AuditPart, number: int, folder: Path) -> dict[str, str]:
    """Write one part of an audit, and return the digest of each of its files by table."""
    columns = [pa.array(np.ascontiguousarray(column)) for column in part.states.T]
    # Columns are named by number: a check's id can be longer than a column's name may be, and the manifest lists
    # the checks in this order.
    states = pa.table(columns, names=[str(place) for place in range(len(columns))]) if columns else None
    written = {"products": part.products, "evidence": part.evidence}
    digests = {}
    for table, rows in (written if states is None else {**written, "states": states}).items():
        path = folder / _path(table, number)
        path.parent.mkdir(exist_ok=True)
        parquet.write(rows, path)
        digests[table] = sha256(path)
    return digests


def _path(table: str, number: int) -> Path:
    return Path(table) / f"part-{number:05d}.parquet"


def refuse_linked_parts(folder: Path, parts: Sequence[Mapping[Any, str]]) -> None:
    """Refuse files of an audit's parts that are links, or none; of each part the digests are given by table.

    Raises
    ------
    OSError
        When one of them is.
    """
    refuse_links(
        folder, (folder / _path(table, number) for number, part in enumerate(parts) for table in part)
    )


def read_part(
    folder: Path, number: int, digests: Mapping[Any, str], checks: int, crashes: tuple[Crash, ...]
) -> AuditPart:
    """Read one part of an audit, whose files are known to be no links.

    Raises
    ------
    OSError, ValueError, pyarrow.ArrowException
        When it is not as an audit writes it.
    """
    # The digests are checked before a file is parsed: a changed file is refused as such, whatever it holds now.
    paths = {table: folder / _path(table, number) for table in digests}
    tables = {}
    for table, path in paths.items():
        if sha256(path) != digests[table]:
            raise ValueError(f"{path} was changed: its digest differs")
        tables[table] = parquet.read(path)
    if missing := {"products", "evidence", *(["states"] if checks else [])} - tables.keys():
        raise ValueError(f"part {number} has no {min(missing)}")
    products, evidence = tables["products"].cast(IDENTITY), tables["evidence"].cast(EVIDENCE)
    states = np.empty((products.num_rows, checks), np.int8, order="F")
    for place in range(checks):
        states[:, place] = _states(tables["states"], str(place), products.num_rows)
    for column, most in (("check", checks), ("product", products.num_rows)):
        found = pc.min_max(evidence[column]).as_py()
        if evidence[column].null_count or (
            found["min"] is not None and not 0 <= found["min"] <= found["max"] < most
        ):
            raise ValueError(f"the evidence of part {number} is of a {column} that does not exist")
    return AuditPart.of(products, states, evidence, crashes)


def _states(table: pa.Table, column: str, products: int) -> States:
    if column not in table.column_names or table.num_rows != products:
        raise ValueError(f"there are no states of check {column} for {products:,} products")
    states = table[column]
    if states.type != pa.int8() or states.null_count or not set(pc.unique(states).to_pylist()) <= set(State):
        raise ValueError(f"check {column} has states that do not exist")
    found: States = states.to_numpy()
    return found
