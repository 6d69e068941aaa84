"""Twenty-one tasks of an analyst, each in at most four lines of what somebody types who knows pandas and the README.

`test_tasks.py` holds each answer against plain Python over the records as they came.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

import prodex as px


def names_side_by_side(catalog: px.Catalog) -> pd.DataFrame:
    """French and Dutch names, beside each other."""
    return catalog.wide(["fr", "nl"], "namePublicLong", columns=["gtin", "brand"])


def ingredients_told(catalog: px.Catalog) -> pd.DataFrame:
    """How many products of each kind and owner tell their ingredients?"""
    states = catalog.table("presence", ["composition_state"], with_products=["kind", "owner"])
    told = states.assign(told=states["composition_state"] == "filled")
    return told.groupby(["kind", "owner"])["told"].agg(["sum", "size"])


def large_packshots(catalog: px.Catalog) -> pd.DataFrame:
    """Packshots of at least 2,000 pixels on the longest side, with their addresses."""
    pictures = catalog.pictures
    large = pictures["is_packshot"] & (pictures[["width", "height"]].max(axis="columns") >= 2000)
    return pictures.loc[large, ["gtin", "url", "width", "height"]]


def pieces_per_pallet(catalog: px.Catalog) -> pd.DataFrame:
    """How many pieces stand on each pallet?"""
    return catalog.contents(of="PALLET", unit="EACH")


def french_equals_dutch(catalog: px.Catalog) -> pd.DataFrame:
    """Products whose French description is their Dutch one: nobody translated it."""
    told = catalog.wide(["fr", "nl"], "description", columns=["gtin"])
    return told[told["description.fr"] == told["description.nl"]]


def nutrients_as_columns(catalog: px.Catalog) -> pd.DataFrame:
    """One row per product, one column per nutrient."""
    return catalog.nutrition_wide(basis="100 g")


def updates_by_supplier(catalog: px.Catalog) -> Any:
    """How many products did each supplier update in each month, as a plot?"""
    products = catalog.products
    months = products["updated_at"].dt.to_period("M")
    return products.groupby([months, "owner"]).size().unstack(fill_value=0).plot()


def lengths_of_texts(catalog: px.Catalog) -> pd.DataFrame:
    """How long are the texts of each attribute and language?"""
    return catalog.describe()


def attributes_of_some_suppliers_only(catalog: px.Catalog) -> pd.Series:
    """Which attributes do some suppliers fill and others never, and how many of them fill each?"""
    states = catalog.table("presence", with_products=["owner"]).set_index("owner").filter(like="_state")
    suppliers = states.eq("filled").groupby("owner").any().sum()
    return suppliers[suppliers.between(1, states.index.nunique() - 1)]


def labels_by_brand(catalog: px.Catalog) -> pd.Series:
    """Which brands carry which labels, and how many products do?"""
    labels = catalog.table("labels", ["product_id", "label_code"], with_products=["brand"])
    return labels.drop_duplicates(["product_id", "label_code"]).value_counts(["brand", "label_code"])


def duplicates(catalog: px.Catalog) -> pd.DataFrame:
    """Products that come several times: the same GTIN in the same market."""
    products = catalog.products.assign(normalized=catalog.products["gtin"].gtin.normalized)
    return products[products.duplicated(["normalized", "target_market"], keep=False)]


def failures_by_supplier(catalog: px.Catalog, folder: Path) -> None:
    """What fails, with the age of each product, as a file for each supplier."""
    dates = catalog.products[["product_id", "updated_at"]]
    failures = px.audit(catalog).failures().merge(dates, on="product_id")
    for number, (_, rows) in enumerate(failures.groupby("owner")):
        rows.to_csv(folder / f"supplier-{number}.csv", index=False)


def price_relevant_changes(before: px.Catalog, after: px.Catalog) -> pd.DataFrame:
    """What changed between two snapshots that a price depends on?"""
    changes = px.diff(before, after).changes
    return changes[changes["attribute"].isin(["netContent", "suggestedRetailPrice"])]


def not_shared(catalog: px.Catalog) -> px.Catalog:
    """Products that their owners have not shared yet."""
    return catalog.where(sharing_status=["DRAFT", "PENDING"])


def of_a_list_out_of_excel(catalog: px.Catalog, workbook: Path) -> px.Catalog:
    """The products of a buyer's list, with a warning that names those that are not there."""
    wanted = pd.read_excel(workbook, engine="calamine")["EAN"]
    return catalog.where(gtin=wanted, unmatched="warn")


def over_two_tables(catalog: px.Catalog, market: str) -> pd.DataFrame:
    """How many pictures do the products of each brand have in one market?"""
    return catalog.sql(
        "select brand, count(*) as pictures from pictures join products using (product_id)"
        " where target_market = ? group by brand order by brand",
        [market],
    )


def memory(catalog: px.Catalog) -> pd.Series:
    """How much memory does each table take as a frame?"""
    return pd.Series(
        {name: catalog.table(name).memory_usage(deep=True).sum() for name in catalog.tables.index}
    )


def round_trip(catalog: px.Catalog, folder: Path, kind: str) -> px.Catalog:
    """Give everything away, and read it back."""
    catalog.export(folder, kind, tables=catalog.tables.index)
    return px.read_export(folder)


def fifty_corrections(service: px.service.Client, catalog: px.Catalog) -> tuple[Any, Any]:
    """Set the right apostrophe in fifty French names: look at what would be sent, and then send it."""
    texts = catalog.texts.query("attribute in ['namePublicShort', 'nameLegal'] and language == 'fr'")
    texts = texts[texts["text"].str.contains("'")].head(50)
    changes = catalog.changes_from(texts.assign(text=texts["text"].str.replace("'", "’")))
    return px.upsert(service, changes, dry_run=True), px.upsert(service, changes).wait()


def own_rule_and_profile(catalog: px.Catalog) -> pd.DataFrame:
    """A rule of one's own in a profile of one's own: what shoppers buy tells where it comes from."""

    @px.packs.rule(title="the origin is told", needs="originCountry", scope={"is_consumer_unit": True})
    def origin_told(products: Any) -> px.packs.Verdict:
        codes = products.rows("codes", "attribute")
        return px.packs.Verdict(
            fails=~products.any(codes.loc[codes["attribute"] == "originCountry", "product"])
        )

    return px.audit(catalog, {"title": "Ours", "checks": {"origin_told": {}}}).failures()


def every_night(service: px.service.Client) -> str:
    """Refresh, audit, compare with yesterday, and say in a sentence what became worse."""
    yesterday = px.open_snapshot("shop")
    today = px.refresh("shop", service)
    return str(px.diff(px.audit(yesterday), px.audit(today)))
