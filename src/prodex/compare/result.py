"""The difference between two catalogues, as frames and counts."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import pyarrow as pa

from prodex.catalog import Catalog
from prodex.dispatch import call
from prodex.errors import QueryError
from prodex.frames import to_frame
from prodex.tables.declaration import TABLES
from prodex.text import hint

#: What can have become of a product.
CHANGES = ("added", "removed", "changed", "touched only", "unchanged", "not comparable")


@dataclass(frozen=True, eq=False, repr=False)
class Difference:
    """What changed between two catalogues.

    Attributes
    ----------
    products
        One row per product that was added, removed or changed, or that cannot be compared: product_id, gtin, change,
        changes (how many values; none for whole products), name, brand_code, brand, kind_code, kind, owner, and
        updated_at in old and new. Of a changed product they are as in new.
    changes
        One row per value of a changed product: product_id, gtin, table, attribute (wire path), language and
        language_code of a text, key (what the row is recognised by: an address, a code, a GTIN), its position in old
        and new, column, change (added, removed, changed), old and new value as text, verbatim. What both rows do not
        have in common (a language that changed, say) is left open.
    not_comparable
        What was not asked for in one of the two, and therefore is in no row of `changes`: attribute, language, why,
        and on how many products that differ it stands.
    notes
        What else to know before reading the rest.
    outcomes
        Every product of both with what became of it, as an Arrow table: product_id, change.
    old, new
        The two catalogues.

    Examples
    --------
    >>> import prodex
    >>> old, new = prodex.flatten([{"id": 7, "serves": 4}]), prodex.flatten([{"id": 7, "serves": 6}])
    >>> difference = prodex.diff(old, new)
    >>> difference.changes[["attribute", "old", "new"]].values.tolist()
    [['serves', '4', '6']]
    """

    products: pd.DataFrame
    changes: pd.DataFrame
    not_comparable: pd.DataFrame
    notes: tuple[str, ...]
    outcomes: pa.Table
    old: Catalog
    new: Catalog

    def __bool__(self) -> bool:
        """Whether any product was added, removed or changed."""
        return bool(self.products["change"].isin(["added", "removed", "changed"]).any())

    @property
    def summary(self) -> pd.DataFrame:
        """Return how many products were added, removed, changed, only touched (`updatedAt` alone), or none of it.

        Returns
        -------
        pandas.DataFrame
            change, products.

        Examples
        --------
        >>> import prodex
        >>> old, new = prodex.flatten([{"id": 7, "serves": 4}]), prodex.flatten([{"id": 7, "serves": 6}, {"id": 8}])
        >>> difference = prodex.diff(old, new)
        >>> difference.summary.set_index("change")["products"][["added", "changed"]].tolist()
        [1, 1]
        """
        counted = to_frame(self.outcomes)["change"].value_counts()
        rows = [(change, int(counted.get(change, 0))) for change in CHANGES]
        return pd.DataFrame(rows, columns=["change", "products"])

    def counts(self, by: str = "owner") -> pd.DataFrame:
        """Return the same counts for each group of products.

        Parameters
        ----------
        by
            Any column of `products`: "owner", "brand", "kind", "sharing_status" ... Of what has a code (brand, kind)
            the code makes the group. A product that changed its group counts in the new one.

        Examples
        --------
        >>> import prodex
        >>> old, new = prodex.flatten([{"id": 7, "serves": 4}]), prodex.flatten([{"id": 7, "serves": 6}, {"id": 8}])
        >>> difference = prodex.diff(old, new)
        >>> difference.counts("brand")[["added", "changed"]].values.tolist()
        [[1, 1]]
        """
        names = TABLES["products"].schema.names
        if by not in names:
            there_are = hint(by, ["owner", "brand", "kind", *names], "catalog.dictionary lists its columns.")
            raise QueryError(f"products has no column {by!r}{there_are}")
        code = f"{by}_code"
        columns = [code, by] if code in TABLES["products"].schema.names else [by]
        sides = [to_frame(side.arrow("products", ["product_id", *columns])) for side in (self.new, self.old)]
        every = pd.concat(sides, ignore_index=True).drop_duplicates("product_id")
        known = to_frame(self.outcomes).merge(every, on="product_id", how="left")
        if len(columns) == 2:  # one label for each code, whichever was seen first
            known[by] = known.groupby(code, dropna=False)[by].transform("first")
        counted = known.groupby([*columns, "change"], dropna=False).size().unstack(fill_value=0)
        counted = counted.reindex(columns=list(CHANGES), fill_value=0).sort_values(
            list(CHANGES[:3]), ascending=False
        )
        counted.columns.name = None
        return counted.reset_index()

    @property
    def by_attribute(self) -> pd.DataFrame:
        """Return for each attribute and language how many values were added, removed and changed, on how many
        products.

        Examples
        --------
        >>> import prodex
        >>> old, new = prodex.flatten([{"id": 7, "serves": 4}]), prodex.flatten([{"id": 7, "serves": 6}, {"id": 8}])
        >>> difference = prodex.diff(old, new)
        >>> difference.by_attribute[["attribute", "changed", "products"]].values.tolist()
        [['serves', 1, 1]]
        """
        keys = ["attribute", "language"]
        grouped = self.changes.groupby(keys, dropna=False, sort=True)
        counted = self.changes.groupby([*keys, "change"], dropna=False).size().unstack(fill_value=0)
        counted = counted.reindex(columns=list(CHANGES[:3]), fill_value=0)
        counted["products"] = grouped["product_id"].nunique()
        counted.columns.name = None
        return counted.reset_index()

    def __repr__(self) -> str:
        text: str = call("Difference.text", self)
        return text

    def _repr_html_(self) -> str:
        html: str = call("Difference.html", self)
        return html
