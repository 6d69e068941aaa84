"""The Parquet files of one part: written block by block, all tables aligned.

Suppliers name attributes, and a part is built without knowledge of the others: it has a column for each attribute that
its own products have. Once all parts are there, those that lack a column are written again with it, its state
"absent". These files are small; all others stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import lru_cache
from os import cpu_count
from pathlib import Path
from typing import IO, Annotated, Any, NamedTuple, Self

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from prodex.catalog.part import VERBATIM, Part, union, with_absent
from prodex.files import parquet
from prodex.files.atomic import make_folder, open_private
from prodex.files.untrusted import Count, Digest, converted
from prodex.tables.declaration import TABLES
from prodex.tables.flatten import BLOCK_BYTES, decoded_table, distinct
from prodex.tables.record_digests import NOTE, RecordDigests

#: Of each table's file what the manifest keeps; see `prodex.files.parquet.facts_of`.
Files = dict[str, dict[str, int | str]]

#: Columns of text by which products are looked up: their statistics allow readers to skip files and row groups.
_SOUGHT = frozenset({"product_id", "gtin"})

#: Tables that hold most of the bytes, in few columns.
_STREAMED = frozenset({"raw", "texts"})


class StoredPart(NamedTuple):
    """What the manifest keeps of a part: its number, its products, and of each file rows, bytes and digest."""

    number: int
    products: int
    files: Files

    @classmethod
    def from_json(cls, value: Any) -> Self:
        """Read what a manifest keeps of a part: its files are named after tables, and numbered.

        Raises
        ------
        ValueError
            When it is anything else: names and numbers become paths.
        """
        part = converted(value, _PartLayout)
        for name in part.files:
            if name not in TABLES:
                raise ValueError(f"it names a file {name!r:.80}, and there is no such table")
        if missing := [name for name in TABLES if name not in part.files]:
            raise ValueError(f"it names no file of {missing[0]}")
        if part.products != part.files["products"].rows:
            raise ValueError(
                f"a part of {part.products:,} products has {part.files['products'].rows:,} rows of them"
            )
        return cls(part.number, part.products, value["files"])

    def open(self, folder: Path) -> Part:
        file = _file_name(self.number)
        paths = {name: folder.joinpath(name, file) for name in self.files}
        return Part.on_disk(self.products, paths, self.files)

    def problem(self, table: str, folder: Path) -> str:
        """Say what is wrong with a file of a snapshot's folder, or nothing where it is as it was written."""
        return parquet.problem(folder / path_of(table, self.number), self.files[table])


class _FileLayout(msgspec.Struct):
    """What a manifest keeps of a file."""

    rows: Count
    bytes: Count
    sha256: Digest
    footer: Digest


class _PartLayout(msgspec.Struct):
    """What a manifest keeps of a part."""

    number: Annotated[int, msgspec.Meta(ge=0, lt=10**9)]
    products: Count
    files: dict[str, _FileLayout]


def path_of(table: str, number: int) -> Path:
    """Return the path of a part's file inside its snapshot.

    >>> path_of("texts", 7).as_posix()
    'texts/part-00007.parquet'
    """
    return Path(table, _file_name(number))


def _file_name(number: int) -> str:
    return f"part-{number:05d}.parquet"


def write_part(blocks: Iterable[Mapping[str, pa.Table]], folder: Path, number: int) -> StoredPart:
    """Write the tables of one part, given one block of products after another."""
    files = write_tables(blocks, folder, number)
    return StoredPart(number, int(files["products"]["rows"]), files)


def write_tables(blocks: Iterable[Mapping[str, pa.Table]], folder: Path, number: int) -> Files:
    """Write those tables of a part that the blocks hold, and return what the manifest keeps of them.

    The large tables are written block by block. The others are kept in memory until the part is complete: with a row
    group for each block, the overhead of their many columns would be larger than their content.
    """
    make_folder(folder, private=True, flushed=False)
    held: dict[str, list[pa.Table]] = {}
    digests: list[RecordDigests] = []
    with ExitStack() as stack:
        writers: dict[str, pq.ParquetWriter] = {}

        def take(tables: Mapping[str, pa.Table]) -> None:
            for name, table in tables.items():
                if name not in _STREAMED:
                    held.setdefault(name, []).append(table)
                    continue
                if name not in writers:
                    writers[name] = stack.enter_context(_writer(folder, name, number, table.schema))
                if name == "raw":
                    digests.append(RecordDigests.of(table["json"]))
                writers[name].write_table(table, row_group_size=_rows_of_a_group(table))

        for tables in blocks:
            take(tables)
            del tables  # the next block needs the memory of this one
        if "raw" in writers:
            writers["raw"].add_key_value_metadata({NOTE: RecordDigests.joined(digests).note})
    written = {*held, *writers}
    while held:  # taken out one by one, so that the memory of each table is free once it is written
        name, pieces = held.popitem()
        table = _whole_table(name, pieces)
        if not table.num_rows:
            with _new_file(folder, name, number) as file:
                file.write(_without_rows(name, table.schema))
            continue
        with _writer(folder, name, number, table.schema) as writer:
            writer.write_table(table)
    return {name: parquet.facts_of(folder / path_of(name, number)) for name in TABLES if name in written}


def _rows_of_a_group(table: pa.Table) -> int | None:
    """Return how many rows of a table to keep together; None for all.

    A catalogue in memory is one block of thousands of products. One row group of it would have to be unpacked
    as a whole to read one product.
    """
    if table.nbytes <= 2 * BLOCK_BYTES:
        return None
    return max(int(table.num_rows * BLOCK_BYTES // table.nbytes), 1)


def _whole_table(name: str, pieces: list[pa.Table]) -> pa.Table:
    if name == "presence":
        return union([decoded_table(piece) for piece in pieces], name)
    if not TABLES[name].per_product:
        return distinct(pa.concat_tables(pieces).combine_chunks())
    return pa.concat_tables(pieces).unify_dictionaries()


def rewrite_table(part: StoredPart, folder: Path, table: str, rows: pa.Table) -> StoredPart:
    """Replace one table of a part that is still being built."""
    with _writer(folder, table, part.number, rows.schema) as writer:
        writer.write_table(rows)
    facts = parquet.facts_of(folder / path_of(table, part.number))
    return part._replace(files={**part.files, table: facts})


def _writer(folder: Path, table: str, number: int, schema: pa.Schema) -> pq.ParquetWriter:
    _new_file(folder, table, number).close()
    return _opened(folder / path_of(table, number), table, schema)


def _new_file(folder: Path, table: str, number: int) -> IO[bytes]:
    path = folder / path_of(table, number)
    # What is published is flushed as a whole; what a power cut takes of a part before that is built again.
    path.parent.mkdir(mode=0o700, exist_ok=True)
    path.unlink(missing_ok=True)  # it may be a link to a file of an earlier snapshot, which never changes
    return open_private(path, "wb")


@lru_cache(maxsize=1_000)
def _without_rows(table: str, schema: pa.Schema) -> bytes:
    """Return the file of a table without rows: half of the tables of a small part have none, and all are alike."""
    file = pa.BufferOutputStream()
    # A group without rows would describe each of its columns.
    _opened(file, table, schema).close()
    return bytes(file.getvalue())


def _opened(file: Path | pa.NativeFile, table: str, schema: pa.Schema) -> pq.ParquetWriter:
    # From the statistics of `presence` a merge learns which attributes no product has any more.
    counted = [f.name for f in schema if f.name in _SOUGHT or table == "presence" or not _is_text(f.type)]
    return parquet.writer(
        file,
        schema,
        compression_level=1,
        use_dictionary=[name for name in schema.names if name not in VERBATIM],
        write_statistics=counted,
        # The declaration has the types. A stored Arrow schema would make readers return dictionary columns.
        store_schema=False,
    )


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_dictionary(kind))


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
    found = [_file_columns(part, folder, forgetting) for part in parts]
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


def _file_columns(part: StoredPart, folder: Path, with_seen: bool) -> _Columns:
    """Read from the footer of a part's file which columns it has, and if asked which are not absent throughout."""
    with parquet.opened(folder / path_of("presence", part.number), part.files["presence"]) as file:
        names: list[str] = file.schema_arrow.names
        return _Columns(
            names, frozenset(_columns_with_values(names, file.metadata)) if with_seen else frozenset()
        )


def _columns_with_values(names: Sequence[str], footer: pq.FileMetaData) -> Iterator[str]:
    for group in map(footer.row_group, range(footer.num_row_groups if footer.num_rows else 0)):
        for place, name in enumerate(names):
            statistics = group.column(place).statistics
            # Where nothing is known of a column, it may have something.
            if statistics is None or not statistics.has_min_max or statistics.max != _ABSENT:
                yield name
