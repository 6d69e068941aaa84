"""Some products of a catalogue: the first, or any."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.errors import QueryError

if TYPE_CHECKING:
    from prodex.catalog.catalog import Catalog


def first(catalog: Catalog, n: int) -> pc.Expression:
    """Return the condition that holds for the first products."""
    ids = catalog.arrow("products", ["product_id"])["product_id"]
    return _among(ids.slice(0, _count(n, "head")))


def drawn(catalog: Catalog, n: int, seed: int | None) -> pc.Expression:
    """Return the condition that holds for products drawn at random, each at most once."""
    ids = catalog.arrow("products", ["product_id"])["product_id"]
    if _count(n, "sample") > len(ids):
        raise QueryError(f"sample({n}) asks for more products than the {len(ids):,} that there are.")
    places = np.random.default_rng(seed).choice(len(ids), n, replace=False)
    return _among(ids.take(pa.array(np.sort(places))))


def _count(n: int, method: str) -> int:
    if not isinstance(n, int | np.integer) or isinstance(n, bool) or n < 0:
        raise QueryError(f"{method}() takes a number of products, and {n!r:.60} is none.")
    return int(n)


def _among(ids: pa.ChunkedArray) -> pc.Expression:
    return pc.field("product_id").isin(ids.combine_chunks())
