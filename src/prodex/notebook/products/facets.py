"""The facets of a catalogue, declared once, as data: what each is called, and which products have which value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from prodex.facts.groups import Groups
from prodex.notebook.products.product_columns import ProductColumns
from prodex.tables.columns import encoded, is_true


@dataclass(frozen=True)
class Facet:
    """A way to cut a catalogue.

    Attributes
    ----------
    name
        What conditions call it.
    title
        What people call it; our own words.
    read
        Which products have which code.
    attribute
        Wire path that has to have been asked for.
    without
        What is said of products without a value.
    labels
        Words for codes that have no label of their own.
    needs_audit
        Whether there is nothing to see without an audit.
    is_shared
        Whether other paths give values, too: the market of the query, languages of any text.
    """

    name: str
    title: str
    read: Callable[[ProductColumns], Groups]
    attribute: str = ""
    without: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    needs_audit: bool = False
    is_shared: bool = False


def _by(name: str) -> Callable[[ProductColumns], Groups]:
    """Group as audits do."""
    return lambda columns: columns.groups(name)


def _packshots(stock: ProductColumns) -> Groups:
    if not stock.catalog.origin.asked(_PACKSHOT):
        return Groups.of("packshot", len(stock), _NOBODY, [], [])
    pictures = stock.own("pictures", "is_packshot")
    has = np.zeros(len(stock), np.int64)
    has[pictures["product"].to_numpy()[is_true(pictures["is_packshot"])]] = 1
    return Groups("packshot", np.arange(len(stock)), has, ["no", "yes"], [None, None])


def _grades(stock: ProductColumns) -> Groups:
    codes, grade = encoded(stock.column("grade"))
    rows, names = np.flatnonzero(grade >= 0), codes.to_pylist()
    return Groups.of("grade", len(stock), (rows, grade[rows]), names, names)


_NOBODY = (np.zeros(0, np.int64), np.zeros(0, np.int64))
_PACKSHOT = "assets.pictures.isPackshot"

#: In the order in which they are shown; names of those that audits group by are the audits' own.
FACETS = (
    Facet("grade", "Grade", _grades, without="without grade", needs_audit=True),
    Facet("kind", "Kind", _by("kind"), "kind.code", "without kind"),
    Facet("brand", "Brand", _by("brand"), "brand.code", "without brand"),
    Facet("owner", "Owner", _by("owner"), "owner", "without owner"),
    Facet(
        "market", "Market", _by("market"), "product_key.target_market_id", "without market", is_shared=True
    ),
    Facet(
        "language",
        "Language of texts",
        _by("language"),
        "namePublicLong",
        "none, or not said",
        is_shared=True,
    ),
    Facet("tag", "Tag", _by("tag"), "hasTags", "without tags"),
    Facet("status", "Status", _by("product_status"), "targetProductStatus", "without status"),
    Facet(
        "sharing",
        "Sharing status",
        _by("sharing_status"),
        "manufacturerSharingStatus",
        "without sharing status",
        {"2": "draft", "3": "pending", "4": "accepted"},
    ),
    Facet(
        "packshot",
        "Packshot",
        _packshots,
        _PACKSHOT,
        "not said",
        labels={"yes": "has a packshot", "no": "has none"},
    ),
    Facet(
        "unit",
        "Consumer unit",
        _by("is_consumer_unit"),
        "isConsumerUnit",
        "not said",
        {"true": "consumer unit", "false": "other unit"},
    ),
    Facet("packaging", "Packaging", _by("packaging"), "typePackaging.code", "without packaging"),
    Facet(
        "pending",
        "Update pending",
        _by("has_pending_update"),
        "lastRequest",
        "not said",
        {"true": "an update waits", "false": "no update waits"},
    ),
)

#: What most of them read of `products`.
COLUMNS = (
    "product_id",
    "kind_code",
    "kind",
    "brand_code",
    "brand",
    "owner_id",
    "owner_uuid",
    "owner",
    "target_market",
    "product_status",
    "sharing_status",
    "is_consumer_unit",
    "packaging_code",
    "packaging",
    "has_pending_update",
)
