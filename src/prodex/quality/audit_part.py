"""The result of one part of an audit: its products, the matrix of states and the findings, compressed until asked for.

Names, codes and reasons repeat, and most states of a check are equal: compressed, a million products take a tenth of
the memory, and what is asked of an audit is answered part by part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import pyarrow as pa

from prodex.quality.states import NO_FINDINGS, State, States
from prodex.tables.columns import Mask, Rows

#: What an audit keeps of each product, so that it can be read without its catalogue.
IDENTITY = pa.schema(
    [
        *((name, pa.string()) for name in ("product_id", "gtin", "name", "owner_id", "owner")),
        *((name, pa.string()) for name in ("brand_code", "brand", "kind_code", "kind", "market")),
        *((name, pa.bool_()) for name in ("is_consumer_unit", "has_pending_update")),
    ]
)

_CODEC = "zstd"
#: Tables of so many bytes are kept as they are.
_FEW_BYTES = 4_000


@dataclass(frozen=True)
class Crash:
    """A rule that crashed.

    Attributes
    ----------
    check
        Which check.
    part
        In which part of the catalogue.
    message
        What happened.
    """

    check: str
    part: int
    message: str


@dataclass(frozen=True, eq=False)
class AuditPart:
    """The result of one part.

    Attributes
    ----------
    size
        Number of products.
    checks
        Number of checks.
    crashes
        The rules that crashed in this part.
    """

    size: int
    checks: int
    crashes: tuple[Crash, ...]
    _products: bytes
    _states: bytes
    _findings: bytes
    _first_seen: bytes
    _doubts: bytes

    @classmethod
    def of(
        cls,
        products: pa.Table,
        states: States,
        findings: pa.Table,
        crashes: tuple[Crash, ...] = (),
        doubts: pa.Table = NO_FINDINGS,
    ) -> Self:
        """Compress the result of a part: products are rows of `products` and `states`, checks columns of `states`."""
        size, checks = states.shape
        seen, times = _without_times(findings)
        tables = (_packed(seen), _packed(times), _packed(doubts.drop_columns("first_seen")))
        return cls(size, checks, crashes, _packed(products), _packed_states(states), *tables)

    @classmethod
    def of_each(
        cls, sizes: Sequence[int], products: pa.Table, states: States, findings: pa.Table, doubts: pa.Table
    ) -> list[Self]:
        """Compress the results of parts that were judged together, one after another: each has so many products."""
        if len(sizes) == 1:
            return [cls.of(products, states, findings, (), doubts)]
        ends = np.cumsum(sizes)
        places = np.arange(len(states))
        each = []
        for begin, end in zip(ends - sizes, ends, strict=True):
            own = (places >= begin) & (places < end)
            rows = (_of_products(table, own) for table in (findings, doubts))
            found, doubted = (table.combine_chunks() for table in rows)
            each.append(cls.of(products.slice(begin, end - begin), states[own], found, (), doubted))
        return each

    def taken(self, kept: Mask) -> AuditPart:
        """Return the result of some of the products, in their order."""
        if kept.all():
            return self
        findings, doubts = (_of_products(table, kept) for table in (self.findings, self.doubts))
        crashes = self.crashes if kept.any() else ()
        return AuditPart.of(
            self.products.filter(pa.array(kept)), self.states[kept], findings, crashes, doubts
        )

    def without(self, rows: Rows) -> AuditPart:
        """Return the same without some of its findings, as if they were none: a cell without any passes."""
        if not len(rows):
            return self
        findings, states = self.findings, self.states.copy(order="F")
        states[self.whole_cells(rows)] = State.PASS
        kept = np.ones(len(findings), bool)
        kept[rows] = False
        seen, times = _without_times(findings.filter(pa.array(kept)))
        return replace(
            self, _states=_packed_states(states), _findings=_packed(seen), _first_seen=_packed(times)
        )

    def whole_cells(self, rows: Rows) -> Mask:
        """Say which cells of the matrix have all of their findings among these."""
        cells = tuple(_unpacked(self._findings, name)[name].to_numpy() for name in ("product", "check"))
        is_whole = np.zeros((self.size, self.checks), bool)
        is_whole[tuple(places[rows] for places in cells)] = True
        is_whole[tuple(np.delete(places, rows) for places in cells)] = False
        return is_whole

    def with_first_seen(self, times: pa.Array) -> AuditPart:
        """Return the same with the moment since which each finding is open."""
        return replace(self, _first_seen=_packed(pa.table([times], names=["first_seen"])))

    @property
    def products(self) -> pa.Table:
        """What the audit keeps of each product; its columns are those of `IDENTITY`."""
        return _unpacked(self._products)

    def column(self, name: str) -> pa.ChunkedArray:
        """Return one column of `products`; no other is decompressed."""
        return _unpacked(self._products, name)[name]

    @property
    def states(self) -> States:
        """The states, a row for each product and a column for each check; they cannot be written to."""
        content = pa.decompress(self._states, self.size * self.checks, _CODEC, asbytes=True)
        return np.frombuffer(content, np.int8).reshape(self.checks, self.size).T

    @property
    def findings(self) -> pa.Table:
        """What was found; its columns are those of `FINDINGS`, its rows check by check and product by product."""
        return _unpacked(self._findings).append_column("first_seen", self.first_seen)

    @property
    def doubts(self) -> pa.Table:
        """Why checks are unknown of products, as far as rules say it; its columns are those of `FINDINGS`."""
        doubts = _unpacked(self._doubts)
        return doubts.append_column("first_seen", pa.nulls(len(doubts), pa.timestamp("us")))

    @property
    def first_seen(self) -> pa.ChunkedArray:
        """The column of that name alone."""
        return _unpacked(self._first_seen)["first_seen"]


def _of_products(rows: pa.Table, kept: Mask) -> pa.Table:
    """Return the rows of some of the products; rows name them by their place, which is another among these."""
    product = rows["product"].to_numpy()
    is_kept = kept[product]
    place = pa.array(np.cumsum(kept)[product[is_kept]] - 1, pa.int32())
    column = rows.schema.get_field_index("product")
    return rows.filter(pa.array(is_kept)).set_column(column, rows.schema.field(column), place)


def _without_times(findings: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Return findings, and since when they are open: this is found out later, and nothing else is compressed anew."""
    return findings.drop_columns("first_seen"), findings.select(["first_seen"])


def _packed_states(states: States) -> bytes:
    # Column by column is how states are counted and written, and how they repeat.
    packed: bytes = pa.compress(states.tobytes(order="F"), _CODEC, asbytes=True)
    return packed


def _packed(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    # To compress a few products takes thirty times as long as to write them.
    codec = _CODEC if table.nbytes > _FEW_BYTES else None
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as stream:
        stream.write_table(table)
    # Copied: the buffer of a stream holds up to twice of what was written.
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def _unpacked(content: bytes, *names: str) -> pa.Table:
    with pa.ipc.open_stream(content) as stream:
        if not names:
            return stream.read_all()
        fields = [stream.schema.get_field_index(name) for name in names]
    with pa.ipc.open_stream(content, options=pa.ipc.IpcReadOptions(included_fields=fields)) as stream:
        return stream.read_all()
