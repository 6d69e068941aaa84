"""Parquet as prodex writes and reads it: a single flipped bit is an error, never other data.

Every page is written with a checksum, which every reader here verifies. Checksums of pages do not cover the footer,
where names, types, statistics and places stand; of a file that belongs to a snapshot, the manifest holds the digest of
its footer, and it is verified whenever the file is opened. Files written before there were checksums have neither, only
the digest of the whole file: these are verified as a whole, once in each process.

Every file tells pandas its dtypes: `pandas.read_parquet` gives the frame that prodex gives.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from prodex.errors import SnapshotDamaged
from prodex.files import sha256
from prodex.frames import for_pandas

#: What a manifest keeps of a file: rows, bytes, digest (sha256) and, since there are checksums, digest of the footer.
FileFacts = Mapping[str, int | str]

_WRITTEN: dict[str, Any] = {"compression": "zstd", "write_page_checksum": True}
_READ: dict[str, Any] = {"page_checksum_verification": True}

#: At the end of a file: the length of the footer (4 bytes, little-endian) and the magic word.
_TAIL = 8


def writer(path: Path, schema: pa.Schema, **options: Any) -> pq.ParquetWriter:
    """Open a file to write tables to; further options are those of `pyarrow.parquet.ParquetWriter`."""
    described = for_pandas(schema)
    opened = pq.ParquetWriter(path, described, **_WRITTEN, **options)
    if not options.get("store_schema", True):  # what it says to pandas would be left out with it
        opened.add_key_value_metadata({"pandas": described.metadata[b"pandas"]})
    return opened


def write(table: pa.Table, path: Path) -> None:
    """Write one table."""
    with writer(path, table.schema) as file:
        file.write_table(table)


def facts_of(path: Path) -> dict[str, int | str]:
    """Return what a manifest keeps of a file that was just written."""
    return {
        "rows": pq.read_metadata(path).num_rows,
        "bytes": path.stat().st_size,
        "sha256": sha256(path),
        "footer": _footer_digest(path),
    }


def problem(path: Path, facts: FileFacts) -> str:
    """Say what is wrong with a file, or nothing where every byte is as it was written."""
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
) -> pa.Table:
    """Read a file, or some of its columns and rows.

    Raises
    ------
    SnapshotDamaged
        When the file is missing, or not as it was written.
    pyarrow.ArrowException
        When the file is as it was written: then the condition does not fit.
    """
    _verify(path, facts)
    with _reading(path, facts, at_fault=None if condition is None else "the condition"):
        return pq.read_table(path, columns=columns, filters=condition, partitioning=None, **_READ)


@contextmanager
def opened(path: Path, facts: FileFacts | None = None) -> Iterator[pq.ParquetFile]:
    """Open a file to read row groups of it; damage is named as by `read`."""
    _verify(path, facts)
    with _reading(path, facts), pq.ParquetFile(path, **_READ) as file:
        yield file


def schema_of(path: Path, facts: FileFacts | None = None) -> pa.Schema:
    """Read the columns of a file from its footer."""
    _verify(path, facts, content=False)
    with _reading(path, facts):
        footer = pq.read_metadata(path)
        if facts is not None and footer.num_rows != facts["rows"]:
            raise OSError(f"it has {footer.num_rows:,} rows instead of {facts['rows']:,}")
        return footer.schema.to_arrow_schema()


def rows_of(path: Path, facts: FileFacts | None = None) -> int:
    """Read from its footer how many rows a file has."""
    _verify(path, facts, content=False)
    with _reading(path, facts):
        return int(pq.read_metadata(path).num_rows)


def dataset(files: Mapping[Path, FileFacts | None], schema: pa.Schema) -> ds.Dataset:
    """Return files as one table that is read piece by piece, by whoever takes Arrow datasets."""
    for path, facts in files.items():
        _verify(path, facts)
    options = ds.ParquetFragmentScanOptions(**_READ)
    kind = ds.ParquetFileFormat(default_fragment_scan_options=options)
    return ds.dataset([str(path) for path in files], schema=schema, format=kind)


def _verify(path: Path, facts: FileFacts | None, *, content: bool = True) -> None:
    """Refuse a file that is not what the manifest says, as far as checksums of pages would not show it."""
    if facts is None:
        return
    with _reading(path, facts):
        if "footer" in facts:
            if _footer_digest(path) != facts["footer"]:
                raise OSError("the digest of its footer differs")
        elif content:
            state = path.stat()
            if _whole_digest(path, state.st_ino, state.st_size, state.st_mtime_ns) != facts["sha256"]:
                raise OSError("its digest differs")


@contextmanager
def _reading(path: Path, facts: FileFacts | None, *, at_fault: str | None = None) -> Iterator[None]:
    """Name the file when it turns out to be missing or damaged; what else may be `at_fault` keeps its own error."""
    try:
        yield
    except (OSError, pa.ArrowException, UnicodeDecodeError, OverflowError) as error:
        if at_fault is not None and not isinstance(error, OSError) and not (facts and problem(path, facts)):
            raise
        raise SnapshotDamaged(
            f"{path} cannot be read ({error}). Run verify() to see what else is damaged, and open an earlier snapshot "
            "or load again."
        ) from error


def _footer_digest(path: Path) -> str:
    with path.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(max(end - _TAIL, 0))
        tail = file.read(_TAIL)
        length = int.from_bytes(tail[:4], "little")
        file.seek(max(end - _TAIL - length, 0))
        return hashlib.sha256(file.read(length + _TAIL)).hexdigest()


@lru_cache(maxsize=100_000)
def _whole_digest(path: Path, inode: int, size: int, changed: int) -> str:  # noqa: ARG001 - they say which state
    return sha256(path)
