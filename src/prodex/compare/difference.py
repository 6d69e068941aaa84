"""The difference between two catalogues, as frames and counts.

A picture that is removed takes its address, its size, its renditions and twenty more values with it. These are one
event. Values belong to the item of the attribute in which they are (spec, "Product"): a picture, a text, a unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog
from prodex.facts.groups import Groups, groups_of, with_names
from prodex.files.html_file import HtmlFile
from prodex.languages.labels import attribute_title
from prodex.locales import language_label
from prodex.phrases import counted
from prodex.progress import Progress
from prodex.tables.columns import as_one_chunk
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
        members, before = _group_members(self.new, new), _group_members(self.old, old)
        # One product counts once: where it is now, or else where it was.
        before = before.filter(pc.invert(pc.is_in(before["product_id"], as_one_chunk(members["product_id"]))))
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
        return with_names(table.reset_index(drop=True), codes, [labels[code] for code in codes], by)

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
        return _counted_values(self.changes, ["attribute", "language"])

    @property
    def attributes(self) -> pd.DataFrame:
        """Return the same for each attribute at the top of a product, of assets for each kind: most products first.

        Examples
        --------
        >>> import prodex
        >>> old = prodex.flatten([{"id": 7, "brand": {"code": "A", "label": "Ace"}}])
        >>> new = prodex.flatten([{"id": 7, "brand": {"code": "M", "label": "Mill"}}])
        >>> prodex.diff(old, new).attributes.values.tolist()
        [['brand', 0, 0, 2, 1]]
        """
        whole = self.changes.assign(attribute=whole_attributes(self.changes["attribute"]))
        counted = _counted_values(whole, ["attribute"])
        return counted.sort_values("products", ascending=False, kind="stable", ignore_index=True)

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

    def to_html(self, path: str | Path, *, progress: Progress = None) -> HtmlFile:
        """Write what changed as one HTML file for somebody without Python: by cause, with old and new values.

        It opens in a browser from the disk, and asks for nothing: no network, no pictures, no other file.

        Parameters
        ----------
        path
            The file; an existing one is replaced.
        progress
            As for `prodex.verify`, in changed values.

        Returns
        -------
        HtmlFile
            Its `path` and `size` in bytes, and as `notes` what it does not have: it lists the values of at most 5,000
            products, and has at most 15 MB.

        Examples
        --------
        >>> import prodex, tempfile
        >>> old, new = prodex.flatten([{"id": 7, "serves": 4}]), prodex.flatten([{"id": 7, "serves": 6}])
        >>> prodex.diff(old, new).to_html(f"{tempfile.mkdtemp()}/changes.html").notes
        ()
        """
        from prodex.notebook.html_file.changes import write_changes

        return write_changes(self, path, progress)

    def __repr__(self) -> str:
        from prodex.display.difference import text_of

        return text_of(self)

    def _repr_html_(self) -> str:
        from prodex.display.difference import html_of

        return html_of(self)


def _counted_values(changes: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Return how many values were added, removed and changed, and on how many products, of each group of them."""
    counted = changes.groupby([*keys, "change"], dropna=False).size().unstack(fill_value=0)
    counted = counted.reindex(columns=list(CHANGES[:3]), fill_value=0)
    counted["products"] = changes.groupby(keys, dropna=False, sort=True)["product_id"].nunique()
    # `unstack` leaves the name of the level over the others, where a notebook shows it.
    counted.columns.name = None
    return counted.reset_index()


def _group_members(catalog: Catalog, groups: Groups) -> pa.Table:
    """Return one row for each product and group that it is in: product_id, code."""
    ids = as_one_chunk(catalog.arrow("products", ["product_id"])["product_id"])
    codes = pa.array(groups.codes, pa.string()).take(pa.array(groups.groups))
    return pa.table([ids.take(pa.array(groups.rows)), codes], names=["product_id", "code"])


#: What items of an attribute are called, where the name of the attribute says it badly.
_ITEMS = {
    "assets.pictures": "picture",
    "assets.documents": "document",
    "assets.videos": "video",
    "isPartitionedBy": "nutrient table",
    "logisticalHierarchies": "hierarchy",
    "isLabeledBy": "label",
    "isTaggedBy": "tag name",
    "hasTags": "tag",
}
_PREPOSITIONS = {"added": "to", "removed": "from", "changed": "on"}
#: Share of the products from which on one of several suppliers is named.
_MOSTLY = 0.5
_WHAT = ["attribute", "language", "change"]
#: A name in a path, in which a dot or a backslash of its own has a backslash before it (`tables.attributes`).
_PART = r"(?:\\.|[^.\\])+"
_WHOLE = rf"^(assets\.{_PART}|{_PART})"
COLUMNS = ("attribute", "language", "change", "items", "products", "owners", "owner", "says")


def causes_of(changes: pd.DataFrame, products: pd.DataFrame) -> pd.DataFrame:
    """Return changed values by what happened; see `Difference.causes`."""
    if changes.empty:
        return pd.DataFrame(columns=list(COLUMNS))
    # Positions that are all missing have no type of text.
    old, new = (changes[name].astype("string") for name in ("old_position", "position"))
    item = pd.DataFrame(
        {
            "product_id": changes["product_id"],
            "attribute": whole_attributes(changes["attribute"]),
            "language": changes["language"].where(_is_top_level(changes["attribute"])),
            # The place of the outermost item, in old where it was there, else in new.
            "place": np.where(old.notna(), "old " + _outermost(old), "new " + _outermost(new)),
        }
    )
    # An item is new or gone if it is so itself, and not only something in it.
    is_itself = _outermost(old.fillna(new)) == old.fillna(new).fillna("")
    is_added = is_itself & old.isna() & changes["change"].eq("added")
    is_removed = is_itself & new.isna() & changes["change"].eq("removed")
    keys = ["product_id", "attribute", "language", "place"]
    events = (
        item.assign(added=is_added, removed=is_removed)
        .groupby(keys, dropna=False, sort=False)[["added", "removed"]]
        .any()
        .reset_index()
    )
    is_both = events["added"] & events["removed"]
    events["change"] = np.select(
        [events["added"] & ~is_both, events["removed"] & ~is_both], ["added", "removed"], "changed"
    )
    owner = products.drop_duplicates("product_id").set_index("product_id")["owner"]
    events["owner"] = events["product_id"].map(owner)
    grouped = events.groupby(_WHAT, dropna=False, sort=False)
    found = grouped.agg(
        items=("place", "size"),
        products=("product_id", "nunique"),
        owners=("owner", "nunique"),
    ).reset_index()
    found = _without_companions(found.merge(_most_concerned(events), how="left", on=_WHAT))
    found = found.sort_values(
        ["products", "items", "attribute", "change"], ascending=[False, False, True, True], kind="stable"
    )
    found["says"] = [
        _change_sentence(*row)
        for row in found[[*COLUMNS[:-1], "of_owner"]].itertuples(index=False, name=None)
    ]
    return found.reset_index(drop=True)[list(COLUMNS)]


def _most_concerned(events: pd.DataFrame) -> pd.DataFrame:
    """Return for each kind of event the supplier with most of its products, and how many these are."""
    by_owner = events.groupby([*_WHAT, "owner"], dropna=False)["product_id"].nunique().rename("of_owner")
    ranked = by_owner.reset_index().sort_values("of_owner", ascending=False, kind="stable")
    return ranked.dropna(subset="owner").drop_duplicates(_WHAT)


def whole_attributes(attributes: pd.Series) -> pd.Series:
    r"""Return the attributes at the top of a product that others are parts of; of assets, the kind of asset.

    >>> whole_attributes(pd.Series(["brand.label", "assets.pictures.url", "assets", r"a\.b.c"])).tolist()
    ['brand', 'assets.pictures', 'assets', 'a\\.b']
    """
    return attributes.str.extract(_WHOLE, expand=False)


def _is_top_level(attributes: pd.Series) -> pd.Series:
    return ~attributes.str.contains(".", regex=False)


def _outermost(positions: pd.Series) -> pd.Series:
    return positions.str.split(".").str[0].fillna("")


def _without_companions(found: pd.DataFrame) -> pd.DataFrame:
    """Leave out the date that services write where pictures change: it says nothing more."""
    is_date = found["attribute"].eq("assets.lastUpdatedAt")
    others = found["attribute"].str.startswith("assets.") & ~is_date
    return found[~is_date] if others.any() else found


def _change_sentence(
    attribute: str,
    language: str | None,
    change: str,
    items: int,
    products: int,
    owners: int,
    owner: str,
    of_owner: int,
) -> str:
    noun = _ITEMS.get(attribute)
    what = f"{counted(items, noun)} {change}" if noun else attribute_title(attribute)
    if not noun:
        what += f"{'' if pd.isna(language) else f' in {language_label(str(language))}'} {change}"
        if items != products:
            what += f", {counted(items, 'value')},"
    whose = "" if not owners else f" of {owner}" if owners == 1 else f" of {owners:,} suppliers"
    if owners > 1 and of_owner >= _MOSTLY * products:
        whose += f", {of_owner:,} of them of {owner}"
    return f"{what} {_PREPOSITIONS[change]} {counted(products, 'product')}{whose}"
