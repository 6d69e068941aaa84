"""What can be compared with what: the one place where a kind of value meets its comparison."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, overload

from prodex.catalog import Catalog
from prodex.compare.catalogs import compare_catalogs
from prodex.compare.difference import Difference
from prodex.errors import InputError
from prodex.quality import Audit, AuditComparison, compare_audits
from prodex.store.snapshot import open_snapshot

_COMPARISONS: Mapping[type, Callable[..., Any]] = {Catalog: compare_catalogs, Audit: compare_audits}


@overload
def diff(old: Audit, new: Audit) -> AuditComparison: ...
@overload
def diff(old: Catalog | str | Path, new: Catalog | str | Path) -> Difference: ...
def diff(old: Any, new: Any) -> Any:
    """Compare two catalogues: which products were added, removed or changed, and each value old and new.

    Two audits are compared by their states: what was fixed, fails now, or still fails; see `AuditComparison`.

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
        folders. Or two audits.

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
            "diff() takes two catalogues, names of snapshots, or audits, not "
            f"{type(old).__name__} and {type(new).__name__}."
        )
    return compare(*sides)
