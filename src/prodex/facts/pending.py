"""Own or pending: what a product says itself, and what an update says that waits to be accepted.

A change that a supplier has sent, and that nobody has accepted yet, is inside the product, under `lastRequest`, with
the same shape as the product around it. Its rows are in the same tables, under an attribute that begins with
`lastRequest.`. They are not the product's own: nothing counts, groups or judges by them. One thing alone is taken
from them, the name of a product that has none of its own (see `prodex.facts.name`).
`catalog.with_pending_updates()` gives the catalogue as it will be when all of them are accepted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.tables.attributes import PENDING
from prodex.tables.columns import Mask, as_one_chunk, by_value

__all__ = ["IS_OWN", "PENDING", "are_pending", "own", "own_path"]

#: The condition over a child table by which its rows are the product's own.
IS_OWN: pc.Expression = ~pc.starts_with(pc.field("attribute"), PENDING)


def are_pending(attribute: Any) -> Mask:
    """Say for each wire path whether it is of an update that waits.

    >>> are_pending(pa.array(["namePublicLong", "lastRequest.namePublicLong", "lastRequested"])).tolist()
    [False, True, False]
    """
    if pa.types.is_dictionary(attribute.type):
        return np.asarray(by_value(attribute, lambda path: path.startswith(PENDING), False), bool)
    return np.asarray(as_one_chunk(pc.starts_with(attribute, PENDING)).to_numpy(zero_copy_only=False), bool)


def own_path(path: str) -> str:
    """Return a wire path as it will be when the update around it is accepted.

    >>> own_path("lastRequest.namePublicLong"), own_path("namePublicLong")
    ('namePublicLong', 'namePublicLong')
    """
    return path.removeprefix(PENDING)


def own(rows: pa.Table) -> pa.Table:
    """Return those rows of a child table, with their `attribute`, that are the product's own."""
    pending = are_pending(rows["attribute"])
    return rows.filter(pa.array(~pending)) if pending.any() else rows
