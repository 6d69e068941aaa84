"""What happened, rather than each value that it touched: "56 pictures removed from 133 products of one supplier".

A picture that is removed takes its address, its size, its renditions and twenty more values with it. These are one
event. Values belong to the item of the attribute in which they are (spec, "Product"): a picture, a text, a unit.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from prodex.locales import language_label
from prodex.quality.problems import attribute_title
from prodex.text import counted

#: What items of an attribute are called, where the name of the attribute says it badly.
_ITEMS = {
    "assets.pictures": "picture",
    "assets.documents": "document",
    "assets.videos": "video",
    "isPartitionedBy": "table of nutrients",
    "logisticalHierarchies": "hierarchy",
    "isLabeledBy": "label",
    "isTaggedBy": "tag name",
    "hasTags": "tag",
}
_PREPOSITIONS = {"added": "to", "removed": "from", "changed": "on"}
#: Share of the products from which on one of several suppliers is named.
_MOSTLY = 0.5
_WHAT = ["attribute", "language", "change"]
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
            "attribute": _root(changes["attribute"]),
            "language": changes["language"].where(_is_whole(changes["attribute"])),
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
        _sentence(*row) for row in found[[*COLUMNS[:-1], "of_owner"]].itertuples(index=False, name=None)
    ]
    return found.reset_index(drop=True)[list(COLUMNS)]


def _most_concerned(events: pd.DataFrame) -> pd.DataFrame:
    """Return for each kind of event the supplier with most of its products, and how many these are."""
    by_owner = events.groupby([*_WHAT, "owner"], dropna=False)["product_id"].nunique().rename("of_owner")
    ranked = by_owner.reset_index().sort_values("of_owner", ascending=False, kind="stable")
    return ranked.dropna(subset="owner").drop_duplicates(_WHAT)


def _root(attributes: pd.Series) -> pd.Series:
    """Return the attribute at the top of a product; of assets, the kind of asset."""
    return attributes.str.extract(r"^(assets\.[^.]+|[^.]+)", expand=False)


def _is_whole(attributes: pd.Series) -> pd.Series:
    return ~attributes.str.contains(".", regex=False)


def _outermost(positions: pd.Series) -> pd.Series:
    return positions.str.split(".").str[0].fillna("")


def _without_companions(found: pd.DataFrame) -> pd.DataFrame:
    """Leave out the date that services write where pictures change: it says nothing more."""
    is_date = found["attribute"].eq("assets.lastUpdatedAt")
    others = found["attribute"].str.startswith("assets.") & ~is_date
    return found[~is_date] if others.any() else found


def _sentence(
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
