"""Parquet as prodex writes and reads it: a single flipped bit is an error, never other data.

Every page is written with a checksum, which every reader here verifies. These checksums do not cover the footer, which
holds names, types, statistics and offsets. So the manifest of a snapshot holds the digest of each footer, which is
verified whenever the file is opened. Files of versions without checksums have only the digest of the whole file: these
are verified as a whole, once in each process.

Every file contains the dtypes for pandas, so that `pandas.read_parquet` returns the same frame as prodex.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from prodex.advice import PythonCall, advice
from prodex.errors import SnapshotDamaged, StorageError
from prodex.files.atomic import reading, sha256
from prodex.tables.frames import for_pandas

#: What a manifest holds of a file: rows, bytes, its digest (sha256), and that of its footer.
FileFacts = Mapping[str, int | str]

_WRITTEN: dict[str, Any] = {"compression": "zstd", "write_page_checksum": True}
_READ: dict[str, Any] = {"page_checksum_verification": True}

#: At the end of a file: the length of the footer (4 bytes, little-endian) and the magic word.
_TAIL = 8

#: Rows that are unpacked at a time where all that are wanted lie within so many, and about how many bytes at most.
_BATCH = 2_048
_BATCH_BYTES = 1 << 20


def writer(path: Path | pa.NativeFile, schema: pa.Schema, **options: Any) -> pq.ParquetWriter:
    """Open a file to write tables to; further options are those of `pyarrow.parquet.ParquetWriter`."""
    described = for_pandas(schema)
    opened = pq.ParquetWriter(path, described, **_WRITTEN, **options)
    if not options.get(
        "store_schema", True
    ):  # without the Arrow schema, its metadata for pandas is left out too
        opened.add_key_value_metadata({"pandas": described.metadata[b"pandas"]})
    return opened


def write(table: pa.Table, path: Path) -> None:
    """Write one table."""
    with writer(path, table.schema) as file:
        file.write_table(table)


def facts_of(path: Path) -> dict[str, int | str]:
    """Return what a manifest holds of a file that was just written."""
    footer = _footer_bytes(path)
    return {
        "rows": pq.read_metadata(pa.BufferReader(footer)).num_rows,
        "bytes": path.stat().st_size,
        "sha256": sha256(path),
        "footer": _content_digest(footer),
    }


def problem(path: Path, facts: FileFacts) -> str:
    """Say what is wrong with a file; "" if every byte is as it was written."""
    try:
        if not path.is_file():
            return "missing"
        if path.stat().st_size != facts["bytes"]:
            return f"{path.stat().st_size:,} bytes instead of {facts['bytes']:,}"
        return "" if sha256(path) == facts["sha256"] else "changed: its digest differs"
    except OSError as error:
        return f"cannot be read ({error})"


def read(
    path: Path,
    facts: FileFacts | None = None,
    *,
    columns: Sequence[str] | None = None,
    condition: ds.Expression | None = None,
    dictionaries: Sequence[str] = (),
    among: tuple[str, pa.Array] | None = None,
    misfit: Callable[[pa.Schema], str] | None = None,
) -> pa.Table:
    """Read a file, or some of its columns and rows; some columns of text as dictionaries.

    Parameters
    ----------
    path, facts
        The file, and what the manifest holds of it.
    columns
        Which columns; those that the file does not have are left out.
    condition
        Which rows.
    dictionaries
        Columns of text that are returned dictionary-encoded.
    among
        Which rows as well: a column of text, and the values of it that are meant. Text that repeats may be returned
        dictionary-encoded.
    misfit
        Says why the columns of the file are not those that it should have, or "".

    Raises
    ------
    SnapshotDamaged
        When the file is missing, or not as it was written.
    pyarrow.ArrowException
        When the file is as it was written: then the condition does not fit.
    """
    footer = _footer(path, facts)
    schema = _checked_schema(path, footer, facts, misfit)
    names = None if columns is None else [name for name in columns if name in schema.names]
    # Names with a dot would be taken for paths into a column of the part before it.
    is_plain = condition is None and not any("." in name for name in schema.names)
    if among is not None and not is_plain:
        own = ds.field(among[0]).isin(among[1])
        condition = own if condition is None else own & condition
    with _reading(path, facts, at_fault=None if condition is None else "the condition"):
        if not is_plain:
            return pq.read_table(
                path,
                columns=names,
                filters=condition,
                read_dictionary=list(dictionaries),
                partitioning=None,
                **_READ,
            )
        repeating = list(dictionaries) if among is None else _repeating(footer)
        with pq.ParquetFile(path, metadata=footer, read_dictionary=repeating, **_READ) as file:
            return file.read(names) if among is None else _rows_among(file, names, *among)


def _repeating(footer: pq.FileMetaData) -> list[str]:
    """Name the columns of text that the file holds as dictionaries."""
    if not footer.num_row_groups:
        return []
    group = footer.row_group(0)
    columns = map(group.column, range(group.num_columns))
    return [c.path_in_schema for c in columns if c.physical_type == "BYTE_ARRAY" and c.has_dictionary_page]


def _rows_among(file: pq.ParquetFile, names: Sequence[str] | None, column: str, values: pa.Array) -> pa.Table:
    """Read the rows whose column has one of these values, and nothing of row groups without any."""
    found: list[pa.Table] = []
    # Callers read several files at a time, which keeps the cores busy: more threads for each would only wait.
    for group in range(file.num_row_groups):
        chosen = _are_among(file.read_row_group(group, [column], use_threads=False)[column], values)
        places = np.flatnonzero(chosen.to_numpy())
        if len(places):
            found += _rows_at(file, names, group, places)
    return pa.concat_tables(found) if found else file.read_row_groups([], names)


def _rows_at(
    file: pq.ParquetFile, names: Sequence[str] | None, group: int, places: np.ndarray[Any, np.dtype[np.intp]]
) -> Iterator[pa.Table]:
    """Yield the rows of a group at these places, in order."""
    if places[-1] - places[0] >= _BATCH:
        yield file.read_row_group(group, names, use_threads=False).take(pa.array(places))
        return
    # Rows that lie together, such as those of one product: what is after them is not unpacked, and a batch is small
    # enough for memory that is there already. Of many rows each batch would be a piece of its own, which takes longer.
    first, of_group = 0, file.metadata.row_group(group)
    size = _at_a_time(of_group.num_rows, of_group.total_byte_size)
    for batch in file.iter_batches(size, [group], names, use_threads=False):
        here = places[(places >= first) & (places < first + batch.num_rows)] - first
        if len(here):
            yield pa.Table.from_batches([batch.take(pa.array(here))])
        first += batch.num_rows
        if first > places[-1]:
            return


def _at_a_time(rows: int, size: int) -> int:
    """Return how many rows of a group of so many bytes are unpacked at a time; a footer may claim any size.

    >>> _at_a_time(10_000, 100_000), _at_a_time(10_000, 100_000_000), _at_a_time(10, 10**9), _at_a_time(10_000, 0)
    (2048, 104, 1, 2048)
    """
    return max(min(_BATCH, rows * _BATCH_BYTES // max(size, 1)), 1)


def rows_at(
    path: Path,
    columns: Sequence[str],
    rows: np.ndarray[Any, np.dtype[np.int64]],
    facts: FileFacts | None = None,
    misfit: Callable[[pa.Schema], str] | None = None,
) -> pa.Table:
    """Read the rows at some places, in that order; row groups are unpacked one after the other."""
    footer = _footer(path, facts)
    _checked_schema(path, footer, facts, misfit)
    order = np.argsort(rows, kind="stable")
    wanted = rows[order]
    found: list[pa.Table] = []
    with _reading(path, facts), pq.ParquetFile(path, metadata=footer, **_READ) as file:
        first = 0
        for group in range(file.num_row_groups):
            last = first + footer.row_group(group).num_rows
            begin, end = np.searchsorted(wanted, [first, last])
            if begin < end:
                found += _rows_at(file, columns, group, wanted[begin:end] - first)
            first = last
        table = pa.concat_tables(found) if found else file.read_row_groups([], columns)
    places = np.empty(len(rows), np.int64)
    places[order] = np.arange(len(rows))
    return table.take(pa.array(places))


def _are_among(column: pa.ChunkedArray, values: pa.Array) -> pa.ChunkedArray:
    """Say which rows have one of these values; of a dictionary each entry is compared once."""
    if not pa.types.is_dictionary(column.type):
        return pc.is_in(column, values)
    chunks = (pc.is_in(chunk.dictionary, values).take(chunk.indices) for chunk in column.chunks)
    return pc.fill_null(pa.chunked_array(chunks, pa.bool_()), False)


@contextmanager
def opened(path: Path, facts: FileFacts | None = None) -> Iterator[pq.ParquetFile]:
    """Open a file to read row groups from it; damage is reported as by `read`."""
    footer = _footer(path, facts)
    with _reading(path, facts), pq.ParquetFile(path, metadata=footer, **_READ) as file:
        yield file


def schema_of(
    path: Path, facts: FileFacts | None = None, misfit: Callable[[pa.Schema], str] | None = None
) -> pa.Schema:
    """Read the columns of a file from its footer; see `read` for `misfit`."""
    return _checked_schema(path, _footer(path, facts), facts, misfit)


def note_of(path: Path, name: str, facts: FileFacts | None = None) -> bytes | None:
    """Read what a file keeps under a name in its footer; None where it keeps nothing."""
    note: bytes | None = (_footer(path, facts).metadata or {}).get(name.encode())
    return note


def rows_of(path: Path, facts: FileFacts | None = None) -> int:
    """Return how many rows a file has: what the manifest says, and only without one what its footer says."""
    return int(_footer(path, None).num_rows if facts is None else facts["rows"])


def _checked_schema(
    path: Path,
    footer: pq.FileMetaData,
    facts: FileFacts | None,
    misfit: Callable[[pa.Schema], str] | None,
) -> pa.Schema:
    with _reading(path, facts):
        schema = footer.schema.to_arrow_schema()
    # Before anything is read: a file that was exchanged for another is then refused by its path.
    if misfit is not None and (problem := misfit(schema)):
        raise damaged(path, problem)
    return schema


def _footer(path: Path, facts: FileFacts | None) -> pq.FileMetaData:
    """Read the footer once, so that what is used is what was verified; the content of the file is not looked at."""
    with _reading(path, facts):
        content = _footer_bytes(path)
        if facts is not None and _content_digest(content) != facts["footer"]:
            raise OSError("the digest of its footer differs")
        footer = pq.read_metadata(pa.BufferReader(content))
        if facts is not None and footer.num_rows != facts["rows"]:
            raise OSError(f"it has {footer.num_rows:,} rows instead of {facts['rows']:,}")
    return footer


def dataset(files: Mapping[Path, FileFacts | None], schema: pa.Schema) -> ds.Dataset:
    """Return files as one Arrow dataset, which is read piece by piece."""
    for path, facts in files.items():
        _footer(path, facts)
    options = ds.ParquetFragmentScanOptions(**_READ)
    kind = ds.ParquetFileFormat(default_fragment_scan_options=options)
    return ds.dataset([str(path) for path in files], schema=schema, format=kind)


@contextmanager
def _reading(path: Path, facts: FileFacts | None, *, at_fault: str | None = None) -> Iterator[None]:
    """Report a missing or damaged file by its path; where something else may be `at_fault`, its error stays."""
    try:
        with reading(path):  # nobody can say whether a file is damaged that may not be read
            yield
    except StorageError:
        raise
    except (OSError, pa.ArrowException, UnicodeDecodeError, OverflowError) as error:
        # A filter that does not fit raises as well. Only the digest shows whether the file or the filter is wrong.
        if at_fault is not None and not isinstance(error, OSError) and not (facts and problem(path, facts)):
            raise
        raise damaged(path, error) from error


def damaged(path: Path, problem: object) -> SnapshotDamaged:
    """Return the error for a file that is not as it was written, or whose snapshot is gone as a whole."""
    snapshot = path.parents[1]  # <snapshot>/<table>/<part>
    if not snapshot.exists():
        return SnapshotDamaged(
            advice(
                "The snapshot {name}@{time} is gone: {folder} was deleted or moved while it was in use. Open another "
                "one ({list} has all), or load again.",
                name=snapshot.parent.name,
                time=snapshot.name,
                folder=snapshot,
                list=PythonCall("prodex.list_snapshots()"),
            )
        )
    return SnapshotDamaged(
        advice(
            "{path} cannot be read ({problem}). Run {verify} to see what else is damaged, and open an earlier snapshot "
            "or load again.",
            path=path,
            problem=problem,
            verify=PythonCall("verify()"),
        )
    )


def _footer_bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(max(end - _TAIL, 0))
        tail = file.read(_TAIL)
        length = int.from_bytes(tail[:4], "little")
        file.seek(max(end - _TAIL - length, 0))
        return file.read(length + _TAIL)


def _content_digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
