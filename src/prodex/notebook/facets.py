"""The facets of a catalogue, declared once, as data: what each is called, and which products have which value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from prodex.errors import QueryError
from prodex.locales import language_name
from prodex.notebook.conditions import Code
from prodex.notebook.stock import Mask, Stock, languages_of
from prodex.quality.columns import encoded, is_true
from prodex.quality.groups import Groups, grouped
from prodex.quality.index import filled_values

Counts = npt.NDArray[np.int64]


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
    """

    name: str
    title: str
    read: Callable[[Stock], Groups]
    attribute: str = ""
    without: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    needs_audit: bool = False


@dataclass(frozen=True, eq=False)
class Values:
    """The values of a facet and who has them, the most frequent first.

    Attributes
    ----------
    facet
        Which facet.
    codes, labels
        Of each value; the code None is that of the products without.
    is_asked
        Whether anybody asked the service for it: if not, that there is nothing says nothing.
    rows, groups
        Place of a product and number of its value, in pairs.
    totals
        How many products of the whole catalogue have each.
    """

    facet: Facet
    codes: tuple[Code, ...]
    labels: tuple[str, ...]
    is_asked: bool
    rows: npt.NDArray[np.int32]
    groups: npt.NDArray[np.int32]
    totals: Counts

    def having(self, codes: Sequence[Code], size: int) -> Mask:
        """Say which products have one of these values."""
        chosen = np.array([code in codes for code in self.codes], bool)
        found = np.zeros(size, bool)
        found[self.rows[chosen[self.groups]]] = True
        return found

    def count(self, among: Mask) -> Counts:
        """Count the products of each value among some."""
        return np.bincount(self.groups[among[self.rows]], minlength=len(self.codes))

    def label(self, code: Code) -> str:
        """Return what a value is called; one that nobody has is its code."""
        if code in self.codes:
            return self.labels[self.codes.index(code)]
        return self.facet.without if code is None else self.facet.labels.get(code, code)


def read_facets(stock: Stock) -> dict[str, Values]:
    """Read every facet that this catalogue has, by name."""
    stock.read(*_COLUMNS)
    facets = (facet for facet in FACETS if stock.audit is not None or not facet.needs_audit)
    return {facet.name: _values(facet, stock) for facet in facets}


def unknown_facet(name: str, known: Sequence[str]) -> QueryError:
    """Return the error for a facet that is not there."""
    return QueryError(f"There is no facet {name!r}; there are {', '.join(known)}.")


def _values(facet: Facet, stock: Stock) -> Values:
    groups = facet.read(stock)
    rows, numbers, codes = groups.rows, groups.groups, list(groups.codes)
    outside = np.ones(len(stock), bool)
    outside[rows] = False
    if outside.any():  # such as products without tags
        if None not in codes:
            codes.append(None)
        rows = np.concatenate([rows, np.flatnonzero(outside)])
        numbers = np.concatenate([numbers, np.full(int(outside.sum()), codes.index(None))])
    labels = _labels(facet, codes, groups.labels)
    totals = np.bincount(numbers, minlength=len(codes))
    order = sorted(range(len(codes)), key=lambda n: (-totals[n], codes[n] is None, labels[n], codes[n] or ""))
    if facet.needs_audit:  # grades have an order of their own
        order.sort(key=lambda n: (codes[n] is None, codes[n] or ""))
    there = np.array([n for n in order if totals[n]], np.int64)
    new_number = np.zeros(len(codes), np.int32)
    new_number[there] = np.arange(len(there))
    return Values(
        facet,
        tuple(codes[n] for n in there),
        tuple(labels[n] for n in there),
        not facet.attribute or stock.catalog.origin.asked(facet.attribute),
        rows.astype(np.int32),
        new_number[numbers],
        totals[there],
    )


def _labels(facet: Facet, codes: Sequence[Code], given: Sequence[str | None]) -> list[str]:
    """Say what each value is called; values that are called the same get their codes behind."""
    known = [*given, *([None] * (len(codes) - len(given)))]
    labels = [
        facet.without if code is None else facet.labels.get(code) or label or code or '""'
        for code, label in zip(codes, known, strict=True)
    ]
    return [
        f"{label} ({code})" if labels.count(label) > 1 and code not in {None, label} else label
        for code, label in zip(codes, labels, strict=True)
    ]


def _by(name: str) -> Callable[[Stock], Groups]:
    """Group as audits do."""

    def column(stock: Stock, wanted: str) -> pa.Array:
        return {"market": lambda: stock.market, "owner_id": lambda: stock.owner}.get(
            wanted, lambda: stock.column(wanted)
        )()

    def tags(stock: Stock) -> pa.Table:
        every = stock.own("tags", "tag")
        return every.filter(every["tag"].is_valid())

    return lambda stock: grouped(name, lambda wanted: column(stock, wanted), lambda: tags(stock))


def _languages(stock: Stock) -> Groups:
    texts = stock.own("texts", "language", "language_code", "text")
    filled = np.flatnonzero(filled_values(texts["text"].combine_chunks()))
    codes, language = encoded(languages_of(texts))
    has = np.zeros((len(stock), len(codes) + 1), bool)  # the last stands for texts that do not say theirs
    has[texts["product"].to_numpy()[filled], language[filled]] = True
    rows, groups = np.nonzero(has[:, :-1])
    names = codes.to_pylist()
    return Groups(rows, groups, names, [_language(code) for code in names])


def _language(code: str) -> str:
    try:
        return language_name(code)
    except QueryError:  # what is no language of the CLDR is shown as it came
        return code


def _packagings(stock: Stock) -> Groups:
    columns = {"kind_code": "packaging_code", "kind": "packaging"}  # grouped and named as kinds are
    return grouped("kind", lambda wanted: stock.column(columns[wanted]), lambda: pa.table({}))


def _packshots(stock: Stock) -> Groups:
    pictures = stock.own("pictures", "is_packshot")
    has = np.zeros(len(stock), np.int64)
    has[pictures["product"].to_numpy()[is_true(pictures["is_packshot"])]] = 1
    return Groups(np.arange(len(stock)), has, ["no", "yes"], [None, None])


def _grades(stock: Stock) -> Groups:
    codes, grade = encoded(stock.column("grade"))
    rows, names = np.flatnonzero(grade >= 0), codes.to_pylist()
    return Groups(rows, grade[rows], names, names)


#: In the order in which they are shown; names of those that audits group by are the audits' own.
FACETS = (
    Facet("grade", "Grade", _grades, without="without grade", needs_audit=True),
    Facet("kind", "Kind", _by("kind"), "kind.code", "without kind"),
    Facet("brand", "Brand", _by("brand"), "brand.code", "without brand"),
    Facet("owner", "Owner", _by("owner"), "owner", "without owner"),
    Facet("market", "Market", _by("market"), without="without market"),
    Facet("language", "Language of texts", _languages, without="without texts"),
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
        "assets.pictures.isPackshot",
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
    Facet("packaging", "Packaging", _packagings, "typePackaging.code", "without packaging"),
    Facet(
        "pending",
        "Update pending",
        _by("has_pending_update"),
        "lastRequest",
        "not said",
        {"true": "an update waits", "false": "no update waits"},
    ),
)

_COLUMNS = (
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
