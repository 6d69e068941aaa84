"""The keys of a snapshot that is refreshed, as columns: those that it holds, and those after the refresh."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from prodex.store.journal_format import Stage
from prodex.store.newest import Keys, NewestCopy
from prodex.tables.records import Identity


class SnapshotKeys(Mapping[str, Identity]):
    """The products of a snapshot: for each its key, `updatedAt` as the service writes it, and GTIN.

    Parameters
    ----------
    products
        Rows with `product_id`, `updated_at` and `gtin`.

    Examples
    --------
    >>> columns = {"product_id": ["7", "8"], "updated_at": [None, "2026-11-20"], "gtin": [None, None]}
    >>> held = SnapshotKeys(pa.table(columns))
    >>> len(held), held.among(["8", "9"])
    (2, {'8': Identity(product_id='8', updated_at='2026-11-20', gtin=None)})
    """

    def __init__(self, products: pa.Table) -> None:
        columns = (products[name] for name in ("product_id", "updated_at", "gtin"))
        self._keys = Keys.of(*(column.cast(pa.string()).combine_chunks() for column in columns))

    @classmethod
    def empty(cls) -> SnapshotKeys:
        """Return the keys of a load without an earlier snapshot: none."""
        return cls(
            pa.table({name: pa.array([], pa.string()) for name in ("product_id", "updated_at", "gtin")})
        )

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return (one.product_id for one in self.identities())

    def __getitem__(self, product: str) -> Identity:
        return self._all[product]

    @cached_property
    def _all(self) -> dict[str, Identity]:
        # Only needed where the whole catalogue is compared with a listing of all keys.
        return {one.product_id: one for one in self.identities()}

    def identities(self) -> Iterator[Identity]:
        """Yield what is known of each product."""
        return (one for one in self._keys if one is not None)

    @property
    def dates(self) -> pa.Array:
        """The `updatedAt` of each product, as a column."""
        return self._keys.dates

    def among(self, products: Iterable[str]) -> dict[str, Identity]:
        """Return those of some products that are held."""
        wanted = pa.array(list(products), pa.string())
        rows = pc.index_in(wanted, self._keys.columns[0]).drop_null()
        found = Keys.of(*(column.take(rows) for column in self._keys.columns))
        return {one.product_id: one for one in found if one is not None}


class RefreshedKeys(Mapping[str, "Identity | NewestCopy"]):
    """The keys of a snapshot after a refresh: of a product that was received, its newest copy."""

    def __init__(self, held: SnapshotKeys, received: Mapping[str, NewestCopy]) -> None:
        self._held = held
        self._received = received
        self._before = held.among(received)

    def __len__(self) -> int:
        return len(self._held) + len(self._received) - len(self._before)

    def __iter__(self) -> Iterator[str]:
        yield from self._held
        yield from (product for product in self._received if product not in self._before)

    def __contains__(self, product: object) -> bool:
        return product in self._received or product in self._held

    def __getitem__(self, product: str) -> Identity | NewestCopy:
        return self._received[product] if product in self._received else self._held[product]

    @property
    def arrived(self) -> int:
        """How many the pull did not find: they were received with the changes, or when they were looked for."""
        return sum(copy.stage is not Stage.PULL for copy in self._received.values())
