"""Matching: whether the products that came match the filters that they were requested with, as their own records say.

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
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog.part import Part
from prodex.clock import ANY_ZONE
from prodex.facts.pending import own
from prodex.gtin import comparable
from prodex.ledger import Ledger, listed, product_named
from prodex.locales import short_of
from prodex.query import ProductQuery
from prodex.query.values import ProductStatus, SharingStatus, ValidationStatus
from prodex.store.journal import Journal
from prodex.store.journal_format import Stage
from prodex.tables.columns import by_value, numbers, places
from prodex.tables.presence import state_column

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
    """For which products of a part a filter is decided, which of them do not match, and what their records say."""

    decided: Mask
    wrong: Mask
    found: Callable[[int], str]


class _Products:
    """The products of one part, and what a check reads of them."""

    def __init__(self, part: Part) -> None:
        self._part = part
        self.size = part.size

    @cached_property
    def ids(self) -> pa.Array:
        return self.column("product_id")

    def column(self, name: str) -> pa.Array:
        return self._part.read("products", [name])[name].combine_chunks()

    def encoded(self, name: str) -> pa.Array:
        return self._part.encoded("products", [name])[name].combine_chunks()

    def own_rows(self, table: str, columns: Sequence[str]) -> tuple[npt.NDArray[np.int64], pa.Table]:
        """Return rows of a child table that are the products' own, and for each the place of its product."""
        rows = own(self._part.encoded(table, ["product_id", "attribute", *columns]))
        return places(rows["product_id"].combine_chunks(), self.ids), rows

    def state(self, attribute: str) -> pa.Array:
        """Return whether an attribute is filled, empty, null or absent; nulls if no product has it."""
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


_Check = Callable[[_Products, Any], _Verdict]


def unmatched(parts: Iterable[Part], query: ProductQuery) -> list[Unmatched]:
    """Return for each filter of a query that the records can decide which products do not match it.

    Parameters
    ----------
    parts
        The products that came.
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
    decided = dict.fromkeys(asked, 0)
    wrong: dict[str, list[tuple[str, str | None, str]]] = {name: [] for name in asked}
    for part in parts if asked else ():
        products = _Products(part)
        for name, value in asked.items():
            verdict = CHECKS[name](products, value)
            decided[name] += int(verdict.decided.sum())
            rows = np.flatnonzero(verdict.wrong).tolist()
            if rows:
                keys, gtins = (
                    column.take(pa.array(rows)).to_pylist()
                    for column in (products.ids, products.column("gtin"))
                )
                wrong[name] += zip(keys, gtins, map(verdict.found, rows), strict=True)
    return [Unmatched(name, decided[name], tuple(wrong[name])) for name in asked if wrong[name]]


def with_mismatches(ledger: Ledger, found: Sequence[Unmatched], journal: Journal | None = None) -> Ledger:
    """Return a ledger that lists the products that do not match, and has a note about each filter.

    Parameters
    ----------
    ledger
        What else is known.
    found
        From `unmatched`.
    journal
        The pages of a load, by which a filter that was applied on the first pages is told from one that was ignored.
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
    notes = (*ledger.notes, *(_note(one, first) for one in found))
    return replace(ledger, unmatched=tuple(listed(lines)), notes=notes)


def _note(one: Unmatched, first: Collection[str]) -> str:
    number = len(one.products)
    ignored = "the service did not apply this filter"
    if first and not any(product in first for product, _, _ in one.products):
        ignored = "the service applied this filter on the first page at most"
    no = "does not" if number == 1 else "do not"
    return f"{number:,} of {one.decided:,} products {no} match {one.filter}: {ignored}, or means something else by it"


def _on_first_pages(journal: Journal) -> frozenset[str]:
    """Return the products on the first pages of windows that had more than one."""
    first: set[str] = set()
    for name in dict.fromkeys(entry.window for entry in journal.entries() if entry.stage is Stage.PULL):
        pages = [entry for entry in journal.pages_of(name) if entry.keys]
        if len(pages) > 1:
            first.update(key.product_id for key in pages[0].keys if key)
    return frozenset(first)


def _judged(column: str, path: str, decide: Callable[[Any], Callable[[str], bool | None]]) -> _Check:
    """Return a check of a column: what is decided of each of its values, once; None if it says nothing."""

    def check(products: _Products, value: Any) -> _Verdict:
        texts = products.encoded(column)
        matches = decide(value)
        # 1 matches, 0 does not, -1 says nothing.
        codes = by_value(texts, lambda text: -1 if (found := matches(str(text))) is None else int(found), -1)
        return _Verdict(codes >= 0, codes == 0, lambda row: f"{path} is {texts[row].as_py()}")

    return check


def _gtins(products: _Products, wanted: Sequence[str]) -> _Verdict:
    texts = products.column("gtin")
    filled = pc.utf8_lpad(pc.utf8_trim_whitespace(texts), 14, "0")
    among = _mask(pc.is_in(filled, pa.array(wanted)))
    wrong = ~among & _mask(texts.is_valid())
    decided = among.copy()
    # Few are left where the service applies the filter; these are read as a GTIN that a person typed would be.
    for row in np.flatnonzero(wrong).tolist():
        text = comparable(texts[row].as_py())
        decided[row] = text is not None and text.isdigit()
        wrong[row] = decided[row] and text not in wanted
    return _Verdict(decided, wrong, lambda row: f"its GTIN is {texts[row].as_py()}, which was not requested")


def _since(column: str, path: str) -> _Check:
    return _bound(column, path, lambda times, bound: times < np.datetime64(bound - ANY_ZONE))


def _until(column: str, path: str) -> _Check:
    return _bound(column, path, lambda times, bound: times > np.datetime64(bound + ANY_ZONE))


def _bound(column: str, path: str, is_outside: Callable[[Any, datetime], Any]) -> _Check:
    def check(products: _Products, bound: datetime) -> _Verdict:
        times = products.column(column)
        moments = times.to_numpy(zero_copy_only=False)
        wrong = np.asarray(is_outside(moments, bound.replace(tzinfo=None)), bool)
        return _Verdict(
            _mask(times.is_valid()), wrong, lambda row: f"{path} is {times[row].as_py():%Y-%m-%dT%H:%M:%S}"
        )

    return check


def _number_among(column: str, path: str, known: Collection[int]) -> _Check:
    """Return a check of a column of numbers, of which only the known ones say something."""

    def check(products: _Products, value: Any) -> _Verdict:
        wanted = [int(one) for one in (value if isinstance(value, tuple) else (value,))]
        found = numbers(products.column(column))
        decided = np.isin(found, list(known))
        return _Verdict(
            decided, decided & ~np.isin(found, wanted), lambda row: f"{path} is {int(found[row])}"
        )

    return check


def _number(wanted: Any) -> Callable[[str], bool | None]:
    """Compare whole numbers that records have as numbers or as text, also with zeros before them."""
    texts = {str(one) for one in (wanted if isinstance(wanted, tuple) else (wanted,))}

    def matches(text: str) -> bool | None:
        text = text.strip()
        return (text.lstrip("0") or "0") in texts if text.isascii() and text.isdigit() else None

    return matches


def _status(wanted: Sequence[ProductStatus]) -> Callable[[str], bool | None]:
    known = {one.value: one in wanted for one in ProductStatus}
    return lambda text: known.get(text.strip().upper())


def _tag(text: str) -> str:
    """Return a tag as it is compared: services differ in capitals and in how they write accents."""
    return unicodedata.normalize("NFC", text).strip().casefold()


def _with_tags(products: _Products, wanted: Sequence[str]) -> tuple[Mask, Mask, Callable[[int], str]]:
    """Return of which products the tags are known, which of them have a wanted one, and what each has."""
    sought = {_tag(text) for text in wanted}
    rows, tags = products.own_rows("tags", ["tag"])
    names = tags["tag"].combine_chunks()
    is_tag, is_sought = (
        by_value(names, lambda _: True, False),
        by_value(names, lambda text: _tag(text) in sought, False),
    )
    known, has = (_any(products.size, rows[mask.astype(bool)]) for mask in (is_tag, is_sought))
    # A list that came, and has nothing in it, says that there is no tag; null and no list say nothing.
    states = [products.state(name) for name in ("hasTags", "isTaggedBy")]
    known |= np.logical_or.reduce([_mask(pc.equal(state, "empty")) for state in states])

    def found(row: int) -> str:
        own_tags = dict.fromkeys(names.filter(pa.array(rows == row)).to_pylist())
        return f"tagged {', '.join(map(str, own_tags))}" if own_tags else "it has no tag"

    return known, has, found


def _tags_in(products: _Products, wanted: Sequence[str]) -> _Verdict:
    known, has, found = _with_tags(products, wanted)
    return _Verdict(known, known & ~has, found)


def _tags_not_in(products: _Products, unwanted: Sequence[str]) -> _Verdict:
    known, has, found = _with_tags(products, unwanted)
    return _Verdict(known, has, found)


def _languages(products: _Products, wanted: Sequence[str]) -> _Verdict:
    """Say which products have texts of their own attributes in other languages; deeper texts may be of anybody."""
    among = {short_of(language) for language in wanted}
    rows, texts = products.own_rows("texts", ["language"])
    at_top = by_value(texts["attribute"].combine_chunks(), lambda path: "." not in path, False).astype(bool)
    language = texts["language"].combine_chunks()
    is_wanted = by_value(language, lambda code: int(short_of(code) in among), -1)
    decided = _any(products.size, rows[at_top & (is_wanted >= 0)])
    other = at_top & (is_wanted == 0)

    def found(row: int) -> str:
        codes = set(language.filter(pa.array(other & (rows == row))).to_pylist())
        return f"it came with texts in {', '.join(sorted(codes))}"

    return _Verdict(decided, _any(products.size, rows[other]), found)


def _packshots(products: _Products) -> tuple[Mask, Mask]:
    """Return which products have a packshot, and which certainly have none."""
    rows, pictures = products.own_rows("pictures", ["is_packshot"])
    flags = pictures["is_packshot"].combine_chunks()
    has = _any(products.size, rows[_mask(pc.fill_null(flags, False))])
    pictured = _any(products.size, rows)
    unflagged = _any(products.size, rows[_mask(flags.is_null())])
    without = pictured & ~has & ~unflagged
    # Whether a product without a row of pictures came with an empty list of them, only its record shows.
    for row, record in _without_pictures(products, ~pictured).items():
        without[row] = record
    return has, without


def _without_pictures(products: _Products, candidates: Mask) -> Mapping[int, bool]:
    candidates = candidates & _mask(pc.equal(products.state("assets"), "filled"))
    if not candidates.any():
        return {}
    assets = {row: record.get("assets") for row, record in products.records(candidates).items()}
    return {row: isinstance(one, dict) and one.get("pictures", 0) == [] for row, one in assets.items()}


def _has_packshot(products: _Products, _: bool) -> _Verdict:
    has, without = _packshots(products)
    return _Verdict(has | without, without, lambda _: "none of its pictures is a packshot")


def _has_no_packshot(products: _Products, _: bool) -> _Verdict:
    has, without = _packshots(products)
    return _Verdict(has | without, has, lambda _: "one of its pictures is a packshot")


#: Field of `ProductQuery` -> how a record decides it. The other filters leave no trace in a record.
CHECKS: Mapping[str, _Check] = {
    "gtins_in": _gtins,
    "updated_at_from": _since("updated_at", "updatedAt"),
    "updated_at_to": _until("updated_at", "updatedAt"),
    "validation_status_in": _number_among(
        "validation_status", "validation.status", [*map(int, ValidationStatus)]
    ),
    "tags_in": _tags_in,
    "tags_not_in": _tags_not_in,
    "target_productstatus_in": _judged("product_status", "targetProductStatus", _status),
    "status_shared_from": _number_among(
        "sharing_status", "manufacturerSharingStatus", [*map(int, SharingStatus)]
    ),
    "target_market": _judged("target_market", "product_key.target_market_id", _number),
    "product_languages": _languages,
    "has_packshot": _has_packshot,
    "has_no_packshot": _has_no_packshot,
    "pictures_last_updated_at_from": _since("pictures_updated_at", "assets.lastUpdatedAt.pictures"),
    "pictures_last_updated_at_to": _until("pictures_updated_at", "assets.lastUpdatedAt.pictures"),
    "owners_in": _judged("owner_id", "owner.id", _number),
}


def _mask(values: Any) -> Mask:
    """Return booleans; missing ones are False."""
    return np.asarray(pc.fill_null(values, False).to_numpy(zero_copy_only=False), bool)


def _any(size: int, rows: npt.NDArray[np.int64]) -> Mask:
    """Return which of so many products have one of these rows."""
    found = np.zeros(size, bool)
    found[rows[rows >= 0]] = True
    return found
