"""The result of one part of an audit: products, states and evidence, held compressed until somebody asks for them.

Names, codes and reasons repeat, and most states of a check are equal: compressed, a million products take a tenth of
the memory, and what is asked of an audit is answered part by part.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from prodex.quality.states import State, States
from prodex.tables.columns import Rows

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
    _evidence: bytes
    _first_seen: bytes | None = None

    @classmethod
    def of(
        cls, products: pa.Table, states: States, evidence: pa.Table, crashes: tuple[Crash, ...] = ()
    ) -> Self:
        """Compress the result of a part: products are rows of `products` and `states`, checks columns of `states`."""
        size, checks = states.shape
        return cls(size, checks, crashes, _packed(products), _packed_states(states), _packed(evidence))

    def taken(self, kept: npt.NDArray[np.bool_]) -> AuditPart:
        """Return the result of some of the products, in their order."""
        if kept.all():
            return self
        evidence = self.evidence
        first_seen = self.first_seen
        if first_seen is not None:
            first_seen = first_seen.filter(pa.array(kept[findings_of(self, evidence).product]))
        product = evidence["product"].to_numpy()
        is_kept = kept[product]
        # Evidence names products by their place, which is another among those that are kept.
        place = pa.array(np.cumsum(kept)[product[is_kept]] - 1, evidence.schema.field("product").type)
        evidence = evidence.filter(pa.array(is_kept)).set_column(
            evidence.schema.get_field_index("product"), evidence.schema.field("product"), place
        )
        crashes = self.crashes if kept.any() else ()
        made = AuditPart.of(self.products.filter(pa.array(kept)), self.states[kept], evidence, crashes)
        return made if first_seen is None else made.with_first_seen(first_seen)

    def without(self, findings: Rows, product: Rows, check: Rows) -> AuditPart:
        """Return the same without some of its findings, as if they were none.

        Parameters
        ----------
        findings
            Which, by their number in `findings_of`.
        product, check
            The cells of the matrix of which these are all findings: they pass.
        """
        if not len(findings):
            return self
        evidence = self.evidence
        kept = np.ones(len(findings_of(self, evidence).product), bool)
        kept[findings] = False
        states = self.states.copy(order="F")
        states[product, check] = State.PASS
        # Findings with evidence come first.
        left = evidence.filter(pa.array(kept[: len(evidence)]))
        made = replace(self, _states=_packed_states(states), _evidence=_packed(left))
        first_seen = self.first_seen
        return made if first_seen is None else made.with_first_seen(first_seen.filter(pa.array(kept)))

    def with_first_seen(self, times: pa.Array) -> AuditPart:
        """Return the same with the moment since which each finding is open, in the order of `findings_of`."""
        return replace(self, _first_seen=_packed(pa.table([times], names=["first_seen"])))

    @property
    def first_seen(self) -> pa.Array | None:
        """Since when each finding is open, in the order of `findings_of`; None where the audit does not say it."""
        if self._first_seen is None:
            return None
        return _unpacked(self._first_seen)["first_seen"].combine_chunks()

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
    def evidence(self) -> pa.Table:
        """What was seen on failing products; `product` and `check` are places in `states`."""
        return _unpacked(self._evidence)


def evidence_in_order(evidence: pa.Table) -> pa.Table:
    """Return evidence check by check and product by product: rows of tables are in another order after a refresh."""
    check, product = (evidence[name].to_numpy() for name in ("check", "product"))
    key = check.astype(np.int64) << 32 | product
    # Nearly always it is in order already.
    if len(key) < 2 or bool((key[:-1] <= key[1:]).all()):
        return evidence
    return evidence.take(pa.array(np.argsort(key, kind="stable")))


class Findings(NamedTuple):
    """The findings of a part, those with evidence first.

    Attributes
    ----------
    product, check
        Places in the matrix.
    seen
        How many of them have evidence: they have its rows.
    """

    product: Rows
    check: Rows
    seen: int


def findings_of(part: AuditPart, evidence: pa.Table) -> Findings:
    """Return the findings of a part: its evidence, and each failing cell of the matrix without any."""
    # Missing data leave no evidence, so these are made from the matrix alone.
    bare = part.states == State.FAIL
    product, check = evidence["product"].to_numpy(), evidence["check"].to_numpy()
    bare[product, check] = False
    # `nonzero` of a matrix that lies column by column takes twice as long.
    of_matrix, column = np.divmod(np.flatnonzero(bare), part.checks)
    return Findings(
        np.concatenate([product, of_matrix]).astype(np.int64),
        np.concatenate([check, column]).astype(np.int64),
        len(product),
    )


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
