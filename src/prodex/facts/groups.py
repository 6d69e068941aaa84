"""Groups of products: by owner, brand, kind, market, tag or any column of `products`; by code, never by label."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from prodex.errors import QueryError
from prodex.locales import market_name
from prodex.tables.declaration import TABLES
from prodex.text import hint

#: What people group by, with the columns that hold code and label.
NAMED = {
    "owner": ("owner_id", "owner"),
    "brand": ("brand_code", "brand"),
    "kind": ("kind_code", "kind"),
    "market": ("market", None),
}
BY = (*NAMED, "language", "tag")

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Groups:
    """Which products belong to which group.

    Attributes
    ----------
    rows, groups
        Place of a product and number of its group, in pairs: a product can have several tags, or none.
    codes, labels
        Of each group; None for the products without.
    """

    rows: Integers
    groups: Integers
    codes: list[str | None]
    labels: list[str | None]


def grouped(by: str, column: Callable[[str], pa.Array], tags: Callable[[], pa.Table]) -> Groups:
    """Group products.

    Parameters
    ----------
    by
        "owner", "brand", "kind", "market", "tag" or a column of `products`.
    column
        Gives a column, one value for each product.
    tags
        Gives the tags: `product` (place of the product) and `tag`.

    Raises
    ------
    QueryError
        When there is no such column.
    """
    if by == "tag":
        return _by_tag(tags())
    code, label = NAMED.get(by, (by, None))
    if by not in NAMED and by not in TABLES["products"].schema.names:
        otherwise = f"Group by {', '.join(BY)} or a column of products."
        near = hint(by, [*BY, *TABLES["products"].schema.names], otherwise)
        raise QueryError(f"There is nothing to group by under {by!r}{near}")
    values = column(code)
    groups, codes = _encoded(values)
    labels: Sequence[str | None] = codes
    if label is not None:
        labels = _labels(groups, column(label), len(codes))
    elif by in {"market", "target_market"}:
        labels = [market_name(one) if one is not None and one.isdecimal() else one for one in codes]
    return Groups(np.arange(len(values)), groups, codes, list(labels))


def column_names(by: str) -> tuple[str, str]:
    """Return how the columns of a group's code and label are called in a result.

    >>> column_names("owner"), column_names("gpc_code")
    (('owner_id', 'owner'), ('gpc_code', 'gpc_code_label'))
    """
    code, label = NAMED.get(by, (by, None))
    return code, label or f"{by}_label"


def _encoded(values: pa.Array) -> tuple[Integers, list[str | None]]:
    encoded = values.cast(pa.string()).dictionary_encode(null_encoding="encode")
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64), encoded.dictionary.to_pylist()


def _labels(groups: Integers, labels: pa.Array, count: int) -> list[str | None]:
    """Return the label of each group: the one that most of its products have."""
    table = pa.table([pa.array(groups), labels], names=["group", "label"])
    table = table.filter(pc.is_valid(table["label"]))
    counted = (
        table.group_by(["group", "label"])
        .aggregate([("label", "count")])
        .sort_by([("label_count", "ascending"), ("label", "descending")])
    )
    found: list[str | None] = [None] * count
    for group, label in zip(counted["group"].to_pylist(), counted["label"].to_pylist(), strict=True):
        found[group] = label
    return found


def _by_tag(tags: pa.Table) -> Groups:
    once = tags.group_by(["product", "tag"]).aggregate([]).sort_by("product")
    groups, codes = _encoded(once["tag"].combine_chunks())
    return Groups(once["product"].to_numpy().astype(np.int64), groups, codes, codes)
