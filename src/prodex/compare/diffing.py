"""What can be compared with what: the one place where a kind of value meets its comparison."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from prodex.catalog import Catalog
from prodex.compare.catalogs import compare_catalogs
from prodex.compare.difference import Difference
from prodex.errors import InputError
from prodex.store.snapshot import open_snapshot

_COMPARISONS: Mapping[type, Callable[..., Difference]] = {Catalog: compare_catalogs}


def diff(old: Catalog | str | Path, new: Catalog | str | Path) -> Difference:
    """Compare two catalogues: which products were added, removed or changed, and each value old and new.

    Products are matched by product_id; texts by attribute and language, pictures by their address, codes by code,
    nodes of a hierarchy by GTIN, and so on; items that have no such key by what they say, then by their order. So one
    more item in front of a list is one more item, and no other changed. The order of a list alone, `updatedAt` alone,
    and how JSON is spelled are no changes.

    What was not asked for in one of the two is not compared, and listed in `not_comparable`. A product that an
    incomplete catalogue does not hold is not comparable either, rather than added or removed.

    Parameters
    ----------
    old, new
        Catalogues, in memory, from disk or filtered; or names of snapshots ("shop", "shop@2026-11-13"), or their
        folders.

    Raises
    ------
    SnapshotNotFound
        When there is no snapshot of that name.
    InputError
        When something else is to be compared.

    Examples
    --------
    >>> import prodex
    >>> old = prodex.flatten([{"id": 7, "serves": 4, "isTaggedBy": ["new"]}, {"id": 8}])
    >>> new = prodex.flatten([{"id": 7, "serves": 6, "isTaggedBy": ["big", "new"]}])
    >>> difference = prodex.diff(old, new)
    >>> difference.products[["product_id", "change"]].values.tolist()
    [['7', 'changed'], ['8', 'removed']]
    >>> difference.changes[["attribute", "column", "change", "new"]].values.tolist()
    [['isTaggedBy', 'tag', 'added', 'big'], ['serves', 'value', 'changed', '6']]
    """
    sides = [open_snapshot(side) if isinstance(side, str | Path) else side for side in (old, new)]
    compare = _COMPARISONS.get(type(sides[0]))
    if compare is None or type(sides[0]) is not type(sides[1]):
        raise InputError(
            f"diff() takes two catalogues or names of snapshots, not {type(old).__name__} and {type(new).__name__}."
        )
    return compare(*sides)
