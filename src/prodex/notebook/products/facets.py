"""The facets of a catalogue, declared as data: the title of each, and which products have which value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from prodex.facts.groups import Groups
from prodex.notebook.products.product_columns import ProductColumns
from prodex.tables.columns import encoded, is_true


@dataclass(frozen=True)
class Facet:
    """A facet: a property by which products are filtered.

    Attributes
    ----------
    name
        Its key in `Conditions.facets`.
    title
        Its heading; our own words.
    read
        Returns which products have which code.
    attribute
        Wire path that the service must have been asked for.
    without
        Label of the products without a value.
    labels
        Labels of codes that have none of their own.
    needs_audit
        Whether it exists only with an audit.
    is_shared
        Whether other wire paths give values, too: the market of the query, the languages of any text.
    is_ordered
        Whether its values are listed by their codes and not by their counts.
    """

    name: str
    title: str
    read: Callable[[ProductColumns], Groups]
    attribute: str = ""
    without: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    needs_audit: bool = False
    is_shared: bool = False
    is_ordered: bool = False


def _by(name: str) -> Callable[[ProductColumns], Groups]:
    """Group as audits do, so that a click in an audit and a click in a facet list the same products."""
    return lambda columns: columns.groups(name)


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
    Facet("grade", "Grade", _grades, without="without grade", needs_audit=True, is_ordered=True),
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
        "none or not specified",
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
        "not specified",
        labels={"yes": "has a packshot", "no": "has none"},
    ),
    Facet(
        "unit",
        "Consumer unit",
        _by("is_consumer_unit"),
        "isConsumerUnit",
        "not specified",
        {"true": "consumer unit", "false": "other unit"},
    ),
    Facet("packaging", "Packaging", _by("packaging"), "typePackaging.code", "without packaging"),
    Facet(
        "pending",
        "Update pending",
        _by("has_pending_update"),
        "lastRequest",
        "not specified",
        {"true": "update pending", "false": "no pending update"},
    ),
)
