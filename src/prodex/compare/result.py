"""The difference between two catalogues, as frames and counts."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog
from prodex.compare.causes import causes_of
from prodex.dispatch import call
from prodex.facts.groups import Groups, groups_of, named
from prodex.tables.columns import whole
from prodex.tables.frames import to_frame

#: The possible outcomes for a product.
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
        What was not requested for one of the two, and therefore is in no row of `changes`: attribute, language, why,
        and the number of differing products that have it.
    notes
        What else to know before reading the rest.
    outcomes
        Every product of both with its outcome, as an Arrow table: product_id, change.
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
            "owner", "brand", "kind", "market", "language", "tag", or a column of `products`; see `prodex.facts.groups`.
            A product that changed its group counts in the new one, and one with several tags or languages in each.

        Returns
        -------
        pandas.DataFrame
            One row per group: its code and label (empty for products without), and the numbers of products.

        Raises
        ------
        QueryError
            When there is nothing to group by under this name; the message names the nearest.

        Examples
        --------
        >>> import prodex
        >>> old, new = prodex.flatten([{"id": 7, "serves": 4}]), prodex.flatten([{"id": 7, "serves": 6}, {"id": 8}])
        >>> difference = prodex.diff(old, new)
        >>> difference.counts("brand")[["added", "changed"]].values.tolist()
        [[1, 1]]
        """
        new, old = groups_of(self.new, by), groups_of(self.old, by)
        members, before = _members(self.new, new), _members(self.old, old)
        # One product counts once: where it is now, or else where it was.
        before = before.filter(pc.invert(pc.is_in(before["product_id"], whole(members["product_id"]))))
        counted = (
            pa.concat_tables([members, before])
            .join(self.outcomes, "product_id", join_type="inner")
            .group_by(["code", "change"])
            .aggregate([("product_id", "count_distinct")])
        )
        table = to_frame(counted).pivot(index="code", columns="change", values="product_id_count_distinct")
        table = table.reindex(columns=list(CHANGES)).fillna(0).astype("int64")
        table = table.sort_values([*CHANGES[:3], "code"], ascending=[False, False, False, True])
        # A pivot leaves the name of its column over the others, where a notebook shows it.
        table.columns.name = None
        labels = dict(zip(old.codes, old.labels, strict=True)) | dict(zip(new.codes, new.labels, strict=True))
        codes = [None if pd.isna(code) else code for code in table.index]
        return named(table.reset_index(drop=True), codes, [labels[code] for code in codes], by)

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
        # As above: `unstack` leaves the name of the level.
        counted.columns.name = None
        return counted.reset_index()

    @property
    def causes(self) -> pd.DataFrame:
        """Return what happened, the most products first: a picture that was removed is one event, and not its values.

        Returns
        -------
        pandas.DataFrame
            One row per attribute at the top of a product, language of a text and change: attribute, language, change
            (added, removed, changed), items (pictures, texts, units ...), products, owners (how many suppliers),
            owner (the one with most of these products), says (the row as a sentence).

        Examples
        --------
        >>> import prodex
        >>> picture = {"url": "https://cdn.example/a.jpg", "width": 400, "height": 300}
        >>> old = prodex.flatten([{"id": 7, "owner": {"name": "Mill"}, "assets": {"pictures": [picture]}}])
        >>> new = prodex.flatten([{"id": 7, "owner": {"name": "Mill"}, "assets": {"pictures": []}}])
        >>> prodex.diff(old, new).causes["says"].tolist()
        ['1 picture removed from 1 product of Mill']
        """
        return causes_of(self.changes, self.products)

    def __repr__(self) -> str:
        text: str = call("Difference.text", self)
        return text

    def _repr_html_(self) -> str:
        html: str = call("Difference.html", self)
        return html


def _members(catalog: Catalog, groups: Groups) -> pa.Table:
    """Return one row for each product and group that it is in: product_id, code."""
    ids = whole(catalog.arrow("products", ["product_id"])["product_id"])
    codes = pa.array(groups.codes, pa.string()).take(pa.array(groups.groups))
    return pa.table([ids.take(pa.array(groups.rows)), codes], names=["product_id", "code"])
