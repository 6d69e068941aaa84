"""Matching: whether received products match the filters of their request, as their own records show.

Services ignore filters that they do not know, and some apply them on the first page only. What a record does not say
is undecided and never a mismatch: a field that was not requested, a status that the record lacks, and whatever no
record shows (`search`, `active_range`, `status_shared_with`, and filters of `extra`).

The checks read a few columns of the tables that are built anyway. Dates have no time zone, so a product is outside of a
bound only if it is in every zone.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog.load_ledger import MOST_LISTED, Ledger, limited_lines, product_named
from prodex.catalog.part import Part
from prodex.clock import ANY_ZONE
from prodex.facts.pending import own
from prodex.gtin import comparable
from prodex.locales import short_of
from prodex.query import ProductQuery
from prodex.query.values import ProductStatus, SharingStatus, ValidationStatus
from prodex.store.journal import LoadJournal
from prodex.store.journal_format import Stage
from prodex.tables.attributes import state_column
from prodex.tables.columns import as_one_chunk, by_value, encoded, is_true, numbers, places
from prodex.tables.fill_state import FillState

Mask = npt.NDArray[np.bool_]


class Unmatched(NamedTuple):
    """The products that do not match a filter.

    Attributes
    ----------
    filter
        The field of the query.
    decided
        Of how many products the record says whether they match.
    products
        Key and GTIN of each product that does not, and what its record says.
    """

    filter: str
    decided: int
    products: tuple[tuple[str, str | None, str], ...]


class _Verdict(NamedTuple):
    """Which products of a part do not match, for which of them the filter is decided, and what their records say."""

    wrong: Mask
    decided: Callable[[], Mask]
    found: Callable[[int], str]


class _Products:
    """The products of one part, and what the checks read of them, each column once."""

    def __init__(self, part: Part, columns: Sequence[str]) -> None:
        self._part = part
        self._columns = part.encoded("products", list(dict.fromkeys(columns))) if columns else None
        self.size = part.size

    @cached_property
    def ids(self) -> pa.Array:
        return self._part.read("products", ["product_id"])["product_id"].combine_chunks()

    @cached_property
    def gtins(self) -> pa.Array:
        return self._part.read("products", ["gtin"])["gtin"].combine_chunks()

    def column(self, name: str) -> pa.Array:
        assert self._columns is not None  # noqa: S101 - a check names the columns that it looks at
        return self._columns[name].combine_chunks()

    def values(self, table: str, column: str) -> set[Any]:
        """Return the distinct values that a column of a child table has anywhere in the part."""
        return set(encoded(self._part.encoded(table, [column])[column])[0].to_pylist())

    def own_rows(self, table: str, columns: Sequence[str]) -> pa.Table:
        """Return the rows of a child table that are the products' own, and not those of an update that waits."""
        return own(self._part.encoded(table, ["product_id", "attribute", *columns]))

    def having(self, rows: pa.Table, mask: Mask | None = None) -> Mask:
        """Return which products have one of some rows of a child table."""
        keys = as_one_chunk(rows["product_id"])
        keys = keys if mask is None else keys.filter(pa.array(mask))
        if not len(keys):
            return np.zeros(self.size, bool)
        distinct, _ = encoded(keys)
        if pa.types.is_dictionary(keys.type):  # what was filtered may have lost some of its keys
            distinct = distinct.take(pc.unique(keys.indices).drop_null())
        if len(distinct) == self.size:
            return np.ones(self.size, bool)
        found = np.zeros(self.size, bool)
        places_of = places(distinct, self.ids)
        found[places_of[places_of >= 0]] = True
        return found

    def collected(self, rows: pa.Table, column: str) -> Callable[[int], list[str]]:
        """Return a function that gives the distinct values that a product has in a column of a child table."""

        @cache
        def by_product() -> dict[str, dict[str, None]]:
            values: dict[str, dict[str, None]] = {}
            for product, value in zip(rows["product_id"].to_pylist(), rows[column].to_pylist(), strict=True):
                values.setdefault(product, {})[str(value)] = None
            return values

        return lambda row: list(by_product().get(self.ids[row].as_py(), ()))

    def state(self, attribute: str) -> pa.Array:
        """Return the state of an attribute at the top of each record; nulls if no product has it."""
        name = state_column(attribute)
        if name not in self._part.columns("presence"):
            return pa.nulls(self.size, pa.string())
        return self._part.read("presence", [name])[name].combine_chunks()

    def records(self, where: Mask) -> dict[int, Any]:
        """Return the records of some products, by their places."""
        chosen = self.ids.filter(pa.array(where))
        rows = self._part.read("raw", ["product_id", "json"], pc.field("product_id").isin(chosen))
        numbers_of = places(rows["product_id"].combine_chunks(), self.ids)
        return dict(zip(numbers_of.tolist(), map(json.loads, rows["json"].to_pylist()), strict=True))


class _Check(NamedTuple):
    """How the records decide a filter: the columns of `products` that it looks at, and the verdict on a part."""

    compare: Callable[[_Products, Any], _Verdict]
    columns: tuple[str, ...] = ()


def unmatched(parts: Iterable[Part], query: ProductQuery) -> list[Unmatched]:
    """Return for each filter of a query that the records can decide which products do not match it.

    Parameters
    ----------
    parts
        The received products.
    query
        What was requested.

    Examples
    --------
    >>> from prodex import flatten
    >>> came = flatten([{"id": 7, "isTaggedBy": ["new"]}, {"id": 8, "isTaggedBy": ["old"]}, {"id": 9}])
    >>> unmatched(came.parts, ProductQuery(tags_in=["new"]))
    [Unmatched(filter='tags_in', decided=2, products=(('8', None, 'tagged old'),))]
    """
    asked = {name: value for name in CHECKS if (value := getattr(query, name)) is not None}
    if not asked:
        return []
    parts = list(parts)
    wrong: dict[str, list[tuple[str, str | None, str]]] = {name: [] for name in asked}
    for part in parts:
        products = _Products(part, [column for name in asked for column in CHECKS[name].columns])
        for name, value in asked.items():
            verdict = CHECKS[name].compare(products, value)
            if rows := np.flatnonzero(verdict.wrong).tolist():
                keys, gtins = (
                    column.take(pa.array(rows)).to_pylist() for column in (products.ids, products.gtins)
                )
                # What a record says is only looked up for as many products as a ledger lists.
                some = rows[: max(MOST_LISTED - len(wrong[name]), 0)]
                found = [*map(verdict.found, some), *[""] * (len(rows) - len(some))]
                wrong[name] += zip(keys, gtins, found, strict=True)
    return [
        Unmatched(name, _number_decided(parts, name, asked[name]), tuple(found))
        for name, found in wrong.items()
        if found
    ]


def _number_decided(parts: Iterable[Part], name: str, value: Any) -> int:
    """Return for how many products their records decide a filter."""
    check = CHECKS[name]
    return sum(int(check.compare(_Products(part, check.columns), value).decided().sum()) for part in parts)


def with_mismatches(ledger: Ledger, found: Sequence[Unmatched], journal: LoadJournal | None = None) -> Ledger:
    """Return a ledger that lists the products that do not match, and has a note about each filter.

    Parameters
    ----------
    ledger
        What else is known.
    found
        From `unmatched`.
    journal
        The pages of a load, which show whether a filter was applied on the first pages, or ignored.
    """
    if not found:
        return ledger
    reasons: dict[tuple[str, str | None], list[str]] = {}
    for one in found:
        for product, gtin, what in one.products:
            reasons.setdefault((product, gtin), []).append(f"{one.filter} ({what})")
    lines = (
        f"{product_named(*key)}: came, and does not match {', '.join(why)}" for key, why in reasons.items()
    )
    first = frozenset() if journal is None else _on_first_pages(journal)
    notes = (*ledger.notes, *(_mismatch_note(one, first) for one in found))
    return replace(ledger, unmatched=tuple(limited_lines(lines)), notes=notes)


def _mismatch_note(one: Unmatched, first: Collection[str]) -> str:
    number = len(one.products)
    ignored = "the service did not apply this filter"
    if first and not any(product in first for product, _, _ in one.products):
        ignored = "the service applied this filter on the first page at most"
    no = "does not" if number == 1 else "do not"
    return f"{number:,} of {one.decided:,} products {no} match {one.filter}: {ignored}, or means something else by it"


def _on_first_pages(journal: LoadJournal) -> frozenset[str]:
    """Return the products on the first pages of windows that had more than one."""
    # Some services forget the filter when they continue a scroll: then only later pages have other products.
    first: set[str] = set()
    for name in dict.fromkeys(entry.window for entry in journal.entries() if entry.stage is Stage.PULL):
        pages = [entry for entry in journal.pages_of(name) if entry.keys]
        if len(pages) > 1:
            first.update(key.product_id for key in pages[0].keys if key)
    return frozenset(first)


def _check_of_column(column: str, path: str, decide: Callable[[Any], Callable[[str], bool | None]]) -> _Check:
    """Return a check of a column: what is decided of each of its values, once; None if it says nothing."""

    def compare(products: _Products, value: Any) -> _Verdict:
        texts = products.column(column)
        matches = decide(value)
        # 1 matches, 0 does not, -1 decides nothing.
        codes = by_value(texts, lambda text: -1 if (found := matches(str(text))) is None else int(found), -1)
        return _Verdict(codes == 0, lambda: codes >= 0, lambda row: f"{path} is {texts[row].as_py()}")

    return _Check(compare, (column,))


def _with_gtins(products: _Products, wanted: Sequence[str]) -> _Verdict:
    texts = products.gtins
    wrong = _mask(pc.invert(pc.is_in(texts, pa.array(wanted))))
    undecided = ~_mask(texts.is_valid())
    # Few are left where the service applies the filter; these are read as a GTIN that a person typed would be.
    for row in np.flatnonzero(wrong).tolist():
        text = comparable(texts[row].as_py())
        undecided[row] = text is None or not text.isdigit()
        wrong[row] = not undecided[row] and text not in wanted
    return _Verdict(
        wrong, lambda: ~undecided, lambda row: f"its GTIN is {texts[row].as_py()}, which was not requested"
    )


def _since(column: str, path: str) -> _Check:
    return _bound(column, path, lambda times, bound: times < np.datetime64(bound - ANY_ZONE))


def _until(column: str, path: str) -> _Check:
    return _bound(column, path, lambda times, bound: times > np.datetime64(bound + ANY_ZONE))


def _bound(column: str, path: str, is_outside: Callable[[Any, datetime], Any]) -> _Check:
    def compare(products: _Products, bound: datetime) -> _Verdict:
        times = products.column(column)
        moments = times.to_numpy(zero_copy_only=False)
        wrong = np.asarray(is_outside(moments, bound.replace(tzinfo=None)), bool)
        return _Verdict(
            wrong,
            lambda: _mask(times.is_valid()),
            lambda row: f"{path} is {times[row].as_py():%Y-%m-%dT%H:%M:%S}",
        )

    return _Check(compare, (column,))


def _number_among(column: str, path: str, known: Collection[int]) -> _Check:
    """Return a check of a column of numbers, of which only the known ones say something."""

    def compare(products: _Products, value: Any) -> _Verdict:
        wanted = [int(one) for one in (value if isinstance(value, tuple) else (value,))]
        found = numbers(products.column(column))
        decided = np.isin(found, list(known))
        return _Verdict(
            decided & ~np.isin(found, wanted), lambda: decided, lambda row: f"{path} is {int(found[row])}"
        )

    return _Check(compare, (column,))


def _equal_number(wanted: Any) -> Callable[[str], bool | None]:
    """Compare whole numbers that records have as numbers or as text, also with zeros before them."""
    texts = {str(one) for one in (wanted if isinstance(wanted, tuple) else (wanted,))}

    def matches(text: str) -> bool | None:
        text = text.strip()
        return (text.lstrip("0") or "0") in texts if text.isascii() and text.isdigit() else None

    return matches


def _status(wanted: Sequence[ProductStatus]) -> Callable[[str], bool | None]:
    known = {one.value: one in wanted for one in ProductStatus}
    # A status that prodex does not know decides nothing.
    return lambda text: known.get(text.strip().upper())


def _tag(text: str) -> str:
    """Return a tag as it is compared: services differ in capitals and in how they write accents."""
    return unicodedata.normalize("NFC", text).strip().casefold()


def _tags_known(products: _Products, rows: pa.Table) -> Mask:
    """Return which products say what tags they have.

    An empty list shows that there is no tag; null, or no list, shows nothing.
    """
    known = products.having(rows)
    for name in ("hasTags", "isTaggedBy"):
        known |= _mask(pc.equal(products.state(name), FillState.EMPTY))
    return known


def _tags_of(products: _Products, rows: pa.Table) -> Callable[[int], str]:
    tags = products.collected(rows, "tag")
    return lambda row: f"tagged {', '.join(found)}" if (found := tags(row)) else "it has no tag"


def _with_tags(products: _Products, names: Sequence[str]) -> tuple[pa.Table, Mask]:
    """Return the tags of products, and which products have one of these."""
    sought = {_tag(text) for text in names}
    rows = products.own_rows("tags", ["tag"])
    rows = rows.filter(rows["tag"].is_valid())
    is_sought = by_value(rows["tag"], lambda text: _tag(text) in sought, False).astype(bool)
    return rows, products.having(rows, is_sought)


def _tags_in(products: _Products, wanted: Sequence[str]) -> _Verdict:
    rows, has = _with_tags(products, wanted)
    # Where every product has a tag that was wanted, as a service that filters returns, the states need not be read.
    wrong = ~has & _tags_known(products, rows) if not has.all() else ~has
    return _Verdict(wrong, lambda: _tags_known(products, rows), _tags_of(products, rows))


def _tags_not_in(products: _Products, unwanted: Sequence[str]) -> _Verdict:
    rows, has = _with_tags(products, unwanted)
    return _Verdict(has, lambda: _tags_known(products, rows), _tags_of(products, rows))


def _in_languages(products: _Products, wanted: Sequence[str]) -> _Verdict:
    """Say which products have texts of their own attributes in other languages; deeper texts may be of anybody."""
    among = {short_of(language) for language in wanted}

    # Asked for by several parts of the verdict, or by none.
    @cache
    def texts() -> tuple[pa.Table, Mask]:
        rows = products.own_rows("texts", ["language"])
        at_top = by_value(rows["attribute"], lambda path: "." not in path, False).astype(bool)
        rows = rows.filter(pa.array(at_top & _mask(as_one_chunk(rows["language"]).is_valid())))
        return rows, by_value(rows["language"], lambda code: short_of(code) not in among, False).astype(bool)

    # Mostly no text at all is in another language, and which product it is of need not be found out.
    languages = products.values("texts", "language")
    if all(code is None or short_of(code) in among for code in languages):
        wrong, others = np.zeros(products.size, bool), None
    else:
        rows, is_other = texts()
        wrong, others = (
            products.having(rows, is_other),
            products.collected(rows.filter(pa.array(is_other)), "language"),
        )
    return _Verdict(
        wrong,
        lambda: products.having(texts()[0]),
        lambda row: f"it came with texts in {', '.join(sorted(others(row) if others else ()))}",
    )


def _packshots(products: _Products) -> tuple[pa.Table, Mask]:
    """Return the pictures of products, and which products have a packshot."""
    rows = products.own_rows("pictures", ["is_packshot"])
    return rows, products.having(rows, is_true(rows["is_packshot"]))


def _without_packshot(products: _Products, rows: pa.Table, has: Mask) -> Mask:
    """Return which products have certainly no packshot: no picture, or each says that it is none."""
    pictured = products.having(rows)
    without = pictured & ~has & ~products.having(rows, _mask(as_one_chunk(rows["is_packshot"]).is_null()))
    # Of a product without a row of pictures, only its record shows whether it has an empty list of them.
    is_there = pc.is_in(products.state("assets"), pa.array([FillState.FILLED, FillState.UNREADABLE]))
    candidates = ~pictured & _mask(is_there)
    if candidates.any():
        for row, record in products.records(candidates).items():
            assets = record.get("assets")
            without[row] = isinstance(assets, dict) and assets.get("pictures", 0) == []
    return without


def _has_packshot(products: _Products, _: bool) -> _Verdict:
    rows, has = _packshots(products)
    wrong = ~has if has.all() else _without_packshot(products, rows, has)
    return _Verdict(wrong, lambda: has | wrong, lambda _: "none of its pictures is a packshot")


def _has_no_packshot(products: _Products, _: bool) -> _Verdict:
    rows, has = _packshots(products)
    return _Verdict(
        has,
        lambda: has | _without_packshot(products, rows, has),
        lambda _: "one of its pictures is a packshot",
    )


#: Field of `ProductQuery` -> how a record decides it. The other filters leave no trace in a record.
CHECKS: Mapping[str, _Check] = {
    "gtins_in": _Check(_with_gtins),
    "updated_at_from": _since("updated_at", "updatedAt"),
    "updated_at_to": _until("updated_at", "updatedAt"),
    "validation_status_in": _number_among(
        "validation_status", "validation.status", [*map(int, ValidationStatus)]
    ),
    "tags_in": _Check(_tags_in),
    "tags_not_in": _Check(_tags_not_in),
    "target_productstatus_in": _check_of_column("product_status", "targetProductStatus", _status),
    "status_shared_from": _number_among(
        "sharing_status", "manufacturerSharingStatus", [*map(int, SharingStatus)]
    ),
    "target_market": _check_of_column("target_market", "product_key.target_market_id", _equal_number),
    "product_languages": _Check(_in_languages),
    "has_packshot": _Check(_has_packshot),
    "has_no_packshot": _Check(_has_no_packshot),
    "pictures_last_updated_at_from": _since("pictures_updated_at", "assets.lastUpdatedAt.pictures"),
    "pictures_last_updated_at_to": _until("pictures_updated_at", "assets.lastUpdatedAt.pictures"),
    "owners_in": _check_of_column("owner_id", "owner.id", _equal_number),
}


def _mask(values: Any) -> Mask:
    """Return booleans; missing ones are False."""
    return np.asarray(pc.fill_null(values, False).to_numpy(zero_copy_only=False), bool)
