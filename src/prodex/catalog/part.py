"""A part of a catalogue: all tables of about 10,000 products, in memory, on disk, or a selection of either.

Only this module knows which of these it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc

from prodex.errors import NotExported, QueryError
from prodex.files import parquet
from prodex.tables.attributes import shown_columns
from prodex.tables.columns import Rows
from prodex.tables.declaration import TABLES, misfit
from prodex.tables.flatten import blocks_of, decoded
from prodex.tables.record_digests import NOTE, RecordDigests

#: Columns in which values hardly ever repeat: a dictionary would cost time and save nothing.
VERBATIM = frozenset({"json", "text", "url", "uuid"})


@dataclass(frozen=True, eq=False)
class Part:
    """Aligned tables of the same products.

    Attributes
    ----------
    size
        Number of products.
    tables
        The tables held in memory, by name.
    files
        The tables held on disk, by name.
    facts
        Sizes and digests of these files, to verify them; see `prodex.files.parquet`.
    chosen
        The ids of the products that a filter kept; None for all.
    own
        The ids of the products that the part has without any filter: others may stand in its tables, and were replaced
        or left out for good; None for all.
    lacking
        The columns that an export left out, by table; those of `presence` under the names that people see.
    """

    size: int
    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    files: Mapping[str, Path] = field(default_factory=dict)
    facts: Mapping[str, parquet.FileFacts] = field(default_factory=dict)
    chosen: pa.Array | None = None
    own: pa.Array | None = None
    lacking: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def in_memory(cls, tables: Mapping[str, pa.Table]) -> Self:
        return cls(tables["products"].num_rows, tables=tables)

    @classmethod
    def of_records(cls, records: Iterator[bytes]) -> Self:
        """Make the part of records, one JSON object each."""
        blocks = [decoded(tables) for tables in blocks_of(records)]
        return cls.in_memory({name: union([block[name] for block in blocks], name) for name in blocks[0]})

    @classmethod
    def on_disk(
        cls,
        size: int,
        files: Mapping[str, Path],
        facts: Mapping[str, parquet.FileFacts] = MappingProxyType({}),
    ) -> Self:
        return cls(size, files=files, facts=facts)

    def holds(self, table: str) -> bool:
        """Say whether the part has a table at all; one that was read back has the tables that were exported."""
        return table in self.tables or table in self.files

    def choose(self, condition: pc.Expression) -> Self:
        """Return the part with only the products for which the condition holds on their row of `products`."""
        return self._only(self.read("products", ["product_id"], condition)["product_id"])

    def take(self, mask: pa.Array) -> Self:
        """Return the part with only the products at which a mask, one truth value for each, is true."""
        # Of a large catalogue few parts have any, and no file needs to be opened to say so.
        if mask.true_count in (0, self.size):
            return self if mask.true_count else self._only(pa.chunked_array([], pa.string()))
        return self._only(self.read("products", ["product_id"])["product_id"].filter(mask))

    def unfiltered(self) -> Self:
        """Return the part with all its products again; those that it was left without stay out."""
        if self.chosen is self.own:
            return self
        if self.own is not None:
            return replace(self, chosen=self.own, size=len(self.own))
        whole = replace(self, chosen=None)
        return replace(whole, size=whole.read("products", ["product_id"]).num_rows)

    def without(self, products: pa.Array) -> Self:
        """Return the part without some products for good: it does not have them without a filter either.

        Examples
        --------
        >>> import prodex
        >>> part = prodex.flatten([{"id": 7}, {"id": 8}, {"id": 9}]).parts[0].without(pa.array(["8"]))
        >>> part.choose(pc.field("product_id") == "9").unfiltered().read("products")["product_id"].to_pylist()
        ['7', '9']
        """
        stays = ~pc.field("product_id").isin(products)
        left = self.choose(stays)
        whole = left if self.chosen is self.own else self.unfiltered().choose(stays)
        return replace(left, own=whole.chosen)

    def read_once(self) -> Self:
        """Return the part with its tables in memory from when somebody first reads them: for a small one.

        To read a column of a small file takes as long as to read the whole file.

        Examples
        --------
        >>> import prodex
        >>> part = prodex.flatten([{"id": 7}]).save("shop").parts[0].read_once()
        >>> part.read("products") is part.read("products"), part.read("products", ["product_id"]).num_rows
        (False, 1)
        """
        if not self.files:
            return self
        return replace(self, tables=_ReadOnce(self), files={}, facts={}, chosen=None, own=None)

    def _only(self, ids: pa.ChunkedArray) -> Self:
        # A part that keeps all its products is used as it is: its files then need no filter when they are read.
        return self if len(ids) == self.size else replace(self, size=len(ids), chosen=ids.combine_chunks())

    def read(
        self, table: str, columns: Sequence[str] | None = None, condition: pc.Expression | None = None
    ) -> pa.Table:
        """Read one table.

        Parameters
        ----------
        table
            Its name.
        columns
            Which columns, in which order; all by default.
        condition
            Which rows, as an Arrow expression over any columns of the table.

        Raises
        ------
        SnapshotDamaged
            When its file is missing or cannot be read.
        NotExported
            When an export left the table or one of the columns out.
        QueryError
            When the condition names a column that the table does not have.
        """
        self.require(table, columns or ())
        if table == "presence":
            return self._presence(columns, condition)
        return self._read(table, columns, condition)

    def stored(self, table: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Return a table as files hold it: the columns of `presence` are called as the attributes."""
        return self._read(table, columns, None)

    def encoded(self, table: str, columns: Sequence[str]) -> pa.Table:
        """Read columns with text that repeats as dictionaries, as far as files hold it so: three times as fast.

        Raises
        ------
        NotExported
            As `read`.
        """
        self.require(table, columns)
        if self.chosen is not None or table not in self.files or table == "presence":
            return self.read(table, columns)
        schema = TABLES[table].schema_of(columns)
        repeating = [f.name for f in schema if pa.types.is_string(f.type) and f.name not in VERBATIM]
        found = parquet.read(
            self.files[table],
            self.facts.get(table),
            columns=columns,
            dictionaries=repeating,
            misfit=self._misfit(table),
        )
        plain = {f.name: f for f in schema if f.name not in repeating}
        kinds = [plain.get(f.name, f).type for f in found.schema]
        with self._checking(table):
            encoded = found.cast(pa.schema(list(zip(found.column_names, kinds, strict=True))))
            _check_table(encoded)
        return encoded

    def pieces(self, table: str, size: int) -> Iterator[pa.Table]:
        """Yield one table piece by piece; from a file, pieces of so many bytes at least, except the last."""
        if self.chosen is not None or table not in self.files:
            yield self.stored(table)
            return
        with parquet.opened(self.files[table], self.facts.get(table)) as file:
            waiting: list[int] = []
            bytes_waiting = 0
            for group in range(file.num_row_groups):
                waiting.append(group)
                bytes_waiting += file.metadata.row_group(group).total_byte_size
                if bytes_waiting >= size or group == file.num_row_groups - 1:
                    yield self._declared(file.read_row_groups(waiting), table)
                    waiting, bytes_waiting = [], 0

    def rows_at(self, table: str, columns: Sequence[str], rows: Rows) -> pa.Table:
        """Return the rows of a table at some places, in that order; of a file nothing else is kept in memory."""
        if self.chosen is not None or table not in self.files:
            return self.read(table, columns).take(pa.array(rows))
        self.require(table, columns)
        path, facts = self.files[table], self.facts.get(table)
        return self._declared(parquet.rows_at(path, columns, rows, facts, self._misfit(table)), table)

    def rows(self, table: str) -> int:
        """Count the rows of a table; without a filter nothing is read that the manifest says."""
        self.require(table)
        if table == "products":
            return self.size
        if self.chosen is None and table in self.files:
            return parquet.rows_of(self.files[table], self.facts.get(table))
        key = TABLES[table].schema.names[0]
        return int(self.read(table, [key]).num_rows)

    def columns(self, table: str) -> list[str]:
        """Name the columns of a table; `presence` has one for each attribute seen."""
        # A snapshot has every declared column, as is checked when it is read, so that no footer is needed to name them.
        if table != "presence" and table in self.facts:
            self.require(table)
            lacking = self.lacking.get(table, ())
            return [name for name in TABLES[table].schema.names if name not in lacking]
        names = self.stored_columns(table)
        return list(shown_columns(names)) if table == "presence" else names

    def record_digests(self, *, computed: bool = True) -> RecordDigests | None:
        """Return the digests of the records, in the order of `raw`.

        Parameters
        ----------
        computed
            Whether to read the records where the file does not keep their digests, which takes far longer; otherwise
            None is returned.
        """
        facts = self.facts.get("raw")
        # Whoever copies a file may copy its footer with it: only that of a manifest is believed.
        if "raw" in self.files and facts is not None:
            path = self.files["raw"]
            note = parquet.note_of(path, NOTE, facts)
            kept = None if note is None else RecordDigests.of_note(note, parquet.rows_of(path, facts))
            if kept is not None:
                if self.chosen is None:
                    return kept
                keys = self._stored("raw", ["product_id"], None)["product_id"]
                return kept.take(pc.is_in(keys, self.chosen).to_numpy())
        return RecordDigests.of(self.read("raw", ["json"])["json"]) if computed else None

    def check(self, table: str) -> None:
        """Look at the columns of a table.

        Raises
        ------
        SnapshotDamaged
            When its file is not of this table.
        """
        self.stored_columns(table)

    def stored_columns(self, table: str) -> list[str]:
        """Name the columns of a table as files hold it."""
        self.require(table)
        if table in self.files:
            return list(
                parquet.schema_of(self.files[table], self.facts.get(table), self._misfit(table)).names
            )
        return list(self.tables[table].column_names)

    def require(self, table: str, columns: Iterable[str] = ()) -> None:
        """Raise `NotExported` if an export left out a table, or one of these of its columns."""
        if not self.holds(table):
            raise NotExported(
                f"{table} is not in this catalogue: it was not exported, and whether it has rows is not known. Export "
                f"it as well: catalog.export(folder, tables=[..., {table!r}])."
            )
        if gone := [name for name in columns if name in self.lacking.get(table, ())]:
            raise NotExported(
                f"{table} has no column {gone[0]!r:.60} here: it was not exported, and what it holds is not known. "
                f"Export it as well: catalog.export(folder, columns={{{table!r}: [..., {gone[0]!r:.60}]}})."
            )

    def _misfit(self, table: str) -> Callable[[pa.Schema], str]:
        return partial(misfit, declared=TABLES[table], lacking=self.lacking.get(table, frozenset()))

    def _read(self, table: str, columns: Sequence[str] | None, condition: pc.Expression | None) -> pa.Table:
        if self.chosen is not None and TABLES[table].per_product:
            if not self.size:  # a strict filter leaves most parts empty: their files need not be opened
                return self._nothing(table, columns)
            return self._declared(self._stored(table, columns, condition, self.chosen), table)
        return self._declared(self._stored(table, columns, condition), table)

    def _presence(self, columns: Sequence[str] | None, condition: pc.Expression | None) -> pa.Table:
        """Read `presence` under the names that people see; only here are they given."""
        shown = shown_columns(self.stored_columns("presence"))
        wanted = list(shown) if columns is None else [name for name in columns if name in shown]
        # A condition uses the names that people see, and Arrow does not show which: so all columns are read for it.
        needed = wanted if condition is None else list(shown)
        found = self.stored("presence", [shown[name] for name in needed]).rename_columns(needed)
        with _fitting("presence"):
            return found if condition is None else found.filter(condition).select(wanted)

    def _declared(self, found: pa.Table, table: str) -> pa.Table:
        """Return what was read as declared; what a file holds is checked to its last value."""
        if table not in self.files:
            return _as_declared(found, table)
        with self._checking(table):
            declared = _as_declared(found, table)
            _check_table(declared)
        return declared

    @contextmanager
    def _checking(self, table: str) -> Iterator[None]:
        try:
            yield
        except pa.ArrowException as error:
            raise parquet.damaged(self.files[table], error) from error

    def _nothing(self, table: str, columns: Sequence[str] | None) -> pa.Table:
        """Return a table without rows; no file has to be read for it."""
        there = self.stored_columns(table) if table == "presence" else self.columns(table)
        names = there if columns is None else [name for name in columns if name in there]
        return TABLES[table].schema_of(names).empty_table()

    def _stored(
        self,
        table: str,
        columns: Sequence[str] | None,
        condition: pc.Expression | None,
        products: pa.Array | None = None,
    ) -> pa.Table:
        self.require(table)
        with _fitting(table):
            if table in self.files:
                return parquet.read(
                    self.files[table],
                    self.facts.get(table),
                    columns=columns,
                    condition=condition,
                    among=None if products is None else ("product_id", products),
                    misfit=self._misfit(table),
                )
            held = self.tables[table]
            if products is not None:
                own = pc.field("product_id").isin(products)
                condition = own if condition is None else own & condition
            held = held if condition is None else held.filter(condition)
            there = set(held.column_names)
            return held if columns is None else held.select([name for name in columns if name in there])


class _ReadOnce(Mapping[str, pa.Table]):
    """The tables of a part, each read as a whole when it is first asked for."""

    def __init__(self, part: Part) -> None:
        self._part = part
        self._read: dict[str, pa.Table] = {}

    def __getitem__(self, table: str) -> pa.Table:
        if table not in self._read:
            self._read[table] = self._part.stored(table)
        return self._read[table]

    def __contains__(self, table: object) -> bool:
        return table in self._part.files or table in self._part.tables

    def __iter__(self) -> Iterator[str]:
        return iter({**self._part.tables, **self._part.files})

    def __len__(self) -> int:
        return len({**self._part.tables, **self._part.files})


def _check_table(found: pa.Table) -> None:
    # Arrow does not check UTF-8 while it reads: invalid text would fail later, far from the file.
    found.validate(full=True)
    if "product_id" in found.column_names and found["product_id"].null_count:
        raise pa.ArrowInvalid("it has a row without product_id")


@contextmanager
def _fitting(table: str) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, KeyError) as error:
        raise QueryError(f"The condition does not fit table {table!r}: {error}.") from error


def _as_declared(found: pa.Table, table: str) -> pa.Table:
    """Give each column its declared type: files know neither dictionaries nor meanings."""
    if not found.num_columns:
        return found  # a table made of no columns would have no rows either
    schema = TABLES[table].schema_of(found.column_names)
    # A cast to the same type is quick, but not for thousands of columns of `presence` in every part.
    columns = zip(found.columns, schema, strict=True)
    arrays = [
        column if column.type == wanted.type else column.cast(wanted.type) for column, wanted in columns
    ]
    return pa.table(arrays, schema=schema)


def union(tables: Iterable[pa.Table], table: str) -> pa.Table:
    """Concatenate the same table of several parts; attributes that only some parts have are absent in the others."""
    tables = list(tables)
    if table == "presence":
        names = list(dict.fromkeys(name for t in tables for name in t.column_names))
        tables = [with_absent(t, names) for t in tables]
    if not tables:
        return TABLES[table].schema.empty_table()
    return pa.concat_tables(tables)


def with_absent(presence: pa.Table, names: Sequence[str]) -> pa.Table:
    missing = pa.repeat(pa.scalar("absent"), presence.num_rows)
    # `presence[name]` searches all columns, and products may have thousands of attributes: that would be quadratic.
    there = dict(zip(presence.column_names, presence.columns, strict=True))
    return pa.table({name: there.get(name, missing) for name in names})
