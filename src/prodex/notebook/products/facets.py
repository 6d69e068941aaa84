"""The facets of a catalogue, declared as data: the title of each, and which products have which value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from prodex.facts.groups import Groups
from prodex.facts.owner import OWNER_COLUMNS
from prodex.notebook.products.category_facet import category_values
from prodex.notebook.products.facet_values import Facet, FacetValues, values_of
from prodex.notebook.products.product_columns import ProductColumns
from prodex.tables.columns import encoded, is_true

#: Returns the values of a facet.
_Read = Callable[[Facet, ProductColumns], FacetValues]


@dataclass(frozen=True, kw_only=True)
class CatalogFacet(Facet):
    """A facet whose values are read from a catalogue.

    Attributes
    ----------
    read
        Returns its values.
    columns
        Columns of `products` that are read for it: those of several facets are read together.
    attribute
        Wire path that the service must have been asked for.
    needs_audit
        Whether it exists only with an audit.
    is_shared
        Whether other wire paths give values, too: the market of the query, the languages of any text.
    column
        The column of the table whose head shows its values; empty where there is none.
    """

    read: _Read
    columns: tuple[str, ...] = ()
    attribute: str = ""
    needs_audit: bool = False
    is_shared: bool = False
    column: str = ""

    def values(self, products: ProductColumns) -> FacetValues:
        """Return its values."""
        found = self.read(self, products)
        is_asked = not self.attribute or products.catalog.origin.asked(self.attribute)
        came = self.is_shared and any(code is not None for code in found.codes)
        return replace(found, is_asked=is_asked or came)


def by_group(name: str) -> _Read:
    """Group as audits do, so that a click in an audit and a click in a facet list the same products."""
    return _grouped(lambda products: products.groups(name))


def _grouped(group: Callable[[ProductColumns], Groups]) -> _Read:
    return lambda facet, products: values_of(facet, group(products), len(products))


def _packshots(products: ProductColumns) -> Groups:
    if not products.catalog.origin.asked(_PACKSHOT):
        return Groups.of("packshot", len(products), _NOBODY, [], [])
    pictures = products.own("pictures", "is_packshot")
    has = np.zeros(len(products), np.int64)
    has[pictures["product"].to_numpy()[is_true(pictures["is_packshot"])]] = 1
    return Groups("packshot", np.arange(len(products)), has, ["no", "yes"], [None, None])


def _grades(products: ProductColumns) -> Groups:
    codes, grade = encoded(products.column("grade"))
    rows, names = np.flatnonzero(grade >= 0), codes.to_pylist()
    return Groups.of("grade", len(products), (rows, grade[rows]), names, names)


_NOBODY = (np.zeros(0, np.int64), np.zeros(0, np.int64))
_PACKSHOT = "assets.pictures.isPackshot"

#: In the order in which they are shown. A facet that audits group by has the name that it has there.
FACETS = (
    CatalogFacet(
        "grade",
        "Grade",
        "without grade",
        is_ordered=True,
        read=_grouped(_grades),
        needs_audit=True,
        column="grade",
    ),
    CatalogFacet(
        "category",
        "Category",
        "without category",
        read=category_values,
        columns=("gpc_code", "gpc", "kind_code", "kind"),
        attribute="GPC.code",
        is_shared=True,
    ),
    CatalogFacet(
        "kind",
        "Kind",
        "without kind",
        read=by_group("kind"),
        columns=("kind_code", "kind"),
        attribute="kind.code",
        column="kind",
    ),
    CatalogFacet(
        "brand",
        "Brand",
        "without brand",
        read=by_group("brand"),
        columns=("brand_code", "brand"),
        attribute="brand.code",
        column="brand",
    ),
    CatalogFacet(
        "owner",
        "Owner",
        "without owner",
        read=by_group("owner"),
        columns=OWNER_COLUMNS,
        attribute="owner",
        column="owner",
    ),
    CatalogFacet(
        "market",
        "Market",
        "without market",
        read=by_group("market"),
        columns=("target_market",),
        attribute="product_key.target_market_id",
        is_shared=True,
        column="target_market",
    ),
    CatalogFacet(
        "language",
        "Language of texts",
        "none or not specified",
        read=by_group("language"),
        attribute="namePublicLong",
        is_shared=True,
    ),
    CatalogFacet("tag", "Tag", "without tags", read=by_group("tag"), attribute="hasTags"),
    CatalogFacet(
        "status",
        "Status",
        "without status",
        read=by_group("product_status"),
        columns=("product_status",),
        attribute="targetProductStatus",
        column="product_status",
    ),
    CatalogFacet(
        "sharing",
        "Sharing status",
        "without sharing status",
        {"2": "draft", "3": "pending", "4": "accepted"},
        read=by_group("sharing_status"),
        columns=("sharing_status",),
        attribute="manufacturerSharingStatus",
        column="sharing_status",
    ),
    CatalogFacet(
        "packshot",
        "Packshot",
        "not specified",
        {"yes": "has a packshot", "no": "has none"},
        read=_grouped(_packshots),
        attribute=_PACKSHOT,
    ),
    CatalogFacet(
        "unit",
        "Consumer unit",
        "not specified",
        {"true": "consumer unit", "false": "other unit"},
        read=by_group("is_consumer_unit"),
        columns=("is_consumer_unit",),
        attribute="isConsumerUnit",
        column="is_consumer_unit",
    ),
    CatalogFacet(
        "packaging",
        "Packaging",
        "without packaging",
        read=by_group("packaging"),
        columns=("packaging_code", "packaging"),
        attribute="typePackaging.code",
        column="packaging",
    ),
    CatalogFacet(
        "pending",
        "Update pending",
        "not specified",
        {"true": "update pending", "false": "no pending update"},
        read=by_group("has_pending_update"),
        columns=("has_pending_update",),
        attribute="lastRequest",
        column="has_pending_update",
    ),
)
