"""The matrix of an audit: the state of every product under every check, and what is counted of it.

What answers questions about an audit (scores, gaps, coverage, reports) works on this; `prodex.quality.audit.Audit`
offers the answers as methods.

Names, codes and reasons repeat, and most states of a check are equal: compressed, a million products take a tenth of
the memory, and what is asked of an audit is answered part by part.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog, Origin
from prodex.catalog.origin import Chosen
from prodex.errors import InputError, QueryError
from prodex.facts.groups import KEPT, Groups, grouped, own_rows
from prodex.messages import counted
from prodex.quality.check import CheckFacts
from prodex.quality.profile import Profile
from prodex.quality.scores import Tally, grades, whole_score
from prodex.quality.states import State, States
from prodex.tables.columns import whole


@dataclass(frozen=True, eq=False, repr=False)
class AuditMatrix:
    """Products x checks; see `prodex.Audit` for the attributes."""

    parts: tuple[AuditPart, ...]
    checks: tuple[CheckFacts, ...]
    profile: str
    rule_set: str
    origin: Origin
    now: datetime
    audited_at: datetime
    folder: Path | None = None
    catalog_folder: Path | None = None
    catalog: Catalog | None = None
    assumed: tuple[tuple[str, Any], ...] = ()
    grade_with_blocker: str = "A"
    made_by: Profile | None = None
    taken_from: Self | None = None
    chosen_by: str = ""

    def __len__(self) -> int:
        return sum(part.size for part in self.parts)

    @cached_property
    def states(self) -> States:
        """The matrix as numbers: products x checks, values of `State`."""
        # An audit without parts still has its columns.
        empty = np.empty((0, len(self.checks)), np.int8)
        return np.concatenate([empty, *(part.states for part in self.parts)])

    @cached_property
    def state_counts(self) -> dict[int, npt.NDArray[np.int64]]:
        """For each value of `State` how many products have it under each check."""
        counts: dict[int, npt.NDArray[np.int64]] = {
            state: np.zeros(len(self.checks), np.int64) for state in State
        }
        for part in self.parts:
            states = part.states
            for state in State:
                counts[state] += (states == state).sum(axis=0)
        return counts

    @property
    def matrix(self) -> pd.DataFrame:
        """One row per product (its `product_id`), one column per check: 0 pass, 1 fail, 2 not applicable, 3 unknown."""
        # The same memory as `states`: a copy of millions of products would be felt.
        index = pd.Index(self._column("product_id").to_pylist(), name="product_id")
        return pd.DataFrame(self.states, index, [check.id for check in self.checks], copy=False)

    @property
    def crashes(self) -> tuple[Crash, ...]:
        """The rules that crashed, with the reason; their columns are unknown in those parts."""
        return tuple(crash for part in self.parts for crash in part.crashes)

    @property
    def pending(self) -> int:
        """How many products have an update that waits for acceptance: they were judged without it."""
        return sum(int(part.column("has_pending_update").to_numpy().sum()) for part in self.parts)

    @cached_property
    def tally(self) -> Tally:
        """What is counted for each product, in their order."""
        empty = Tally.of(np.empty((0, len(self.checks)), np.int8), self.checks)
        return Tally.joined([empty, *(Tally.of(part.states, self.checks) for part in self.parts)])

    @cached_property
    def grades(self) -> npt.NDArray[np.object_]:
        """The grade of each product, in their order; None where nothing applies."""
        return self.tally.grades(self.grade_with_blocker)

    @property
    def score(self) -> float:
        """The score of the headline: weight of checks passed / weight of checks passed or failed, over all products.

        Between 0 and 1, and as `summary()["score"]`; NaN where nothing applies or is known. How many products are
        ready is another question, which `summary()["ready"]` answers.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}])
        >>> audit = prodex.audit(catalog, {"checks": {"valid_gtin": {}}})
        >>> audit.score, audit.grade
        (0.5, 'E')
        """
        return whole_score(self.tally)

    @property
    def grade(self) -> str | None:
        """The grade of that score, "A" to "E", as in the headline; None where there is none."""
        (grade,) = grades(np.array([self.score]))
        return None if grade is None else str(grade)

    @property
    def measure(self) -> tuple[object, ...]:
        """What figures were made with: audits of which this differs are not the same measure."""
        return self.profile, self.rule_set, self.grade_with_blocker, self.assumed

    @cached_property
    def identity(self) -> pa.Table:
        """What the audit keeps of each product, in their order, as an Arrow table."""
        return pa.concat_tables([IDENTITY.empty_table(), *(part.products for part in self.parts)])

    def groups(self, by: str) -> Groups:
        """Return which products belong to which group; what `scores` and `coverage` are made with.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}])
        >>> audit = prodex.audit(catalog, {"checks": {"valid_gtin": {"severity": "blocker"}}})
        >>> audit.groups("brand").codes
        [None]
        """
        return grouped(by, len(self), self._column, self._own_rows)

    @property
    def chosen(self) -> Chosen | None:
        """Which products of a larger audit or catalogue these are; None for all of them."""
        found = None
        if self.taken_from is not None:
            found = Chosen.again(self.taken_from.chosen, len(self.taken_from), [self.chosen_by])
        elif self.catalog is not None:
            # Of an audit that was opened again, the catalogue is that of its whole snapshot.
            found = self.catalog.chosen or Chosen(len(self.catalog))
        return found if found is not None and found.of > len(self) else None

    @property
    def scope(self) -> str:
        """Which products the figures are of, in a sentence: what leaves the screen says it.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}])
        >>> audit = prodex.audit(catalog, {"checks": {"valid_gtin": {"severity": "blocker"}}})
        >>> audit.scope, audit.only(["8"], "GTIN missing or wrong").scope
        ('All 2 products.', '1 of 2 products, chosen by: GTIN missing or wrong.')
        """
        chosen = self.chosen
        return f"All {counted(len(self), 'product')}." if chosen is None else chosen.sentence(len(self))

    def only(self, product_ids: Iterable[str], chosen_by: str = "") -> Self:
        """Return the audit of some of its products: nothing is judged again, so that it takes no time.

        Rules that compare products have looked at all of them, as for the whole audit.

        Parameters
        ----------
        product_ids
            Which products; those that the audit does not cover are left out, and of an id that came twice all.
        chosen_by
            By what they were chosen, in words: reports and worklists say it, beside the figures of all products.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}])
        >>> audit = prodex.audit(catalog, {"checks": {"valid_gtin": {"severity": "blocker"}}})
        >>> len(audit.only(["8", "9"])), float(audit.only(["8"]).summary["ready"])
        (1, 0.0)
        """
        if isinstance(product_ids, str):
            raise InputError(
                f"product_ids is the text {product_ids!r:.60}. Give ids in a list: [{product_ids!r:.60}]."
            )
        wanted = pa.array(product_ids, pa.string())
        masks = (
            np.asarray(pc.is_in(part.column("product_id"), wanted).to_numpy(), bool) for part in self.parts
        )
        taken = (part.taken(mask) for part, mask in zip(self.parts, masks, strict=True) if mask.any())
        words = "; ".join(filter(None, [self.chosen_by, chosen_by]))
        return replace(
            self, parts=tuple(taken), folder=None, taken_from=self.taken_from or self, chosen_by=words
        )

    def _column(self, name: str) -> pa.Array:
        """Return a column for all products, from the audit itself or from its catalogue."""
        if name in IDENTITY.names:
            chunks = [chunk for part in self.parts for chunk in part.column(name).chunks]
            return whole(pa.chunked_array(chunks, IDENTITY.field(name).type))
        read = self._available_catalog(f"the column {name!r}").arrow("products", ["product_id", name])
        # The catalogue may have its products in another order than the audit.
        place = pc.index_in(self._column("product_id"), whole(read["product_id"]))
        return whole(read[name]).take(place)

    def _own_rows(self, table: str, *columns: str, filled: str = "") -> pa.Table:
        return own_rows(self._available_catalog(table), self._column, table, *columns, filled=filled)

    def _available_catalog(self, wanted: str) -> Catalog:
        if self.catalog is None:
            raise QueryError(
                f"An audit does not keep {wanted} itself, and its catalogue is not available. Audit it again, or group "
                f"by {', '.join(KEPT)}."
            )
        return self.catalog


#: What an audit keeps of each product, so that it can be read without its catalogue.
IDENTITY = pa.schema(
    [
        *((name, pa.string()) for name in ("product_id", "gtin", "name", "owner_id", "owner")),
        *((name, pa.string()) for name in ("brand_code", "brand", "kind_code", "kind", "market")),
        ("has_pending_update", pa.bool_()),
    ]
)

_CODEC = "zstd"


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

    @classmethod
    def of(
        cls, products: pa.Table, states: States, evidence: pa.Table, crashes: tuple[Crash, ...] = ()
    ) -> Self:
        """Compress the result of a part: products are rows of `products` and `states`, checks columns of `states`."""
        size, checks = states.shape
        # Column by column is how states are counted and written, and how they repeat.
        content = pa.compress(states.tobytes(order="F"), _CODEC, asbytes=True)
        return cls(size, checks, crashes, _packed(products), content, _packed(evidence))

    def taken(self, kept: npt.NDArray[np.bool_]) -> AuditPart:
        """Return the result of some of the products, in their order."""
        if kept.all():
            return self
        evidence = self.evidence
        product = evidence["product"].to_numpy()
        is_kept = kept[product]
        # Evidence names products by their place, which is another among those that are kept.
        place = pa.array(np.cumsum(kept)[product[is_kept]] - 1, evidence.schema.field("product").type)
        evidence = evidence.filter(pa.array(is_kept)).set_column(
            evidence.schema.get_field_index("product"), evidence.schema.field("product"), place
        )
        return AuditPart.of(self.products.filter(pa.array(kept)), self.states[kept], evidence, self.crashes)

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


def _packed(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression=_CODEC)) as stream:
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
