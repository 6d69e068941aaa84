"""Changes that are ready to be sent: what is written of each product, merged with what it was loaded with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex import gtin
from prodex.catalog import Catalog, Origin
from prodex.changes import (
    ABSENT,
    Change,
    apply,
    by_product,
    diff,
    indexed,
    inverse,
    is_nothing,
    is_same,
    value_at,
    wire_path,
)
from prodex.changes.sameness import is_text
from prodex.errors import ChangesRefused, ChangesStale, SnapshotDamaged
from prodex.facts.same_product import comparable_gtin, shared_gtins
from prodex.gtin import comparable
from prodex.languages import Said
from prodex.languages.message import said_by
from prodex.ledger.batch import Loaded
from prodex.locales import meant_by, short_of, tag_of
from prodex.messages import counted
from prodex.query import GTINS_PER_CALL, ProductQuery
from prodex.send.merging import TextItem, joined, texts_of, written_with
from prodex.send.records import DELETE, Product
from prodex.service import Client, pages
from prodex.tables.attributes import TEXTS
from prodex.tables.plain_walk import product_key
from prodex.written_json import is_plain, read_written


@dataclass(frozen=True)
class KnownProducts:
    """The facts of a catalogue that are needed to read a frame.

    Attributes
    ----------
    ids
        Product ids by GTIN in the form of `prodex.gtin.comparable`, since services also send 13 digits.
    codes
        The long language codes of each short one, as `short_of` returns it.
    texts
        Wire paths of localized texts.
    shared
        The GTINs that a product has and one that was not chosen as well: a write would be of either.
    """

    ids: Mapping[str | None, Sequence[str]]
    codes: Mapping[str, frozenset[str]]
    texts: Collection[str]
    shared: frozenset[str] = frozenset()

    @classmethod
    def of(cls, catalog: Catalog) -> KnownProducts:
        ids = defaultdict(list)
        for row in catalog.arrow("products", ["product_id", "gtin"]).to_pylist():
            ids[gtin.comparable(row["gtin"])].append(row["product_id"])
        columns = ["attribute", "language", "language_code"]
        rows = catalog.arrow("texts", columns).group_by(columns).aggregate([]).to_pylist()
        codes = defaultdict(set)
        for row in rows:
            if row["language"] and row["language_code"]:
                codes[short_of(row["language"])].add(row["language_code"])
        texts = {row["attribute"] for row in rows} | set(TEXTS)
        shared: frozenset[str] = frozenset()
        # One that shows updates as accepted may be made of a selection.
        received = [] if catalog.as_received is None else [catalog.as_received]
        for one in (catalog, *received):
            if any(part.chosen is not part.own for part in one.parts):
                every = (part.unfiltered() for part in one.parts)
                shared |= shared_gtins(part.read("products", ["gtin"])["gtin"] for part in every)
        return cls(ids, {language: frozenset(found) for language, found in codes.items()}, texts, shared)


#: Attributes that preflight requires, unless the service has them already.
_MANDATORY = ("nameLegal", "namePublicLong", "namePublicShort", "kind")


@dataclass(frozen=True)
class Changes:
    """Corrections, merged and ready for `prodex.upsert`.

    Made by `Catalog.changes_from`.

    Attributes
    ----------
    records
        One for each product: its GTIN and the complete values of the attributes that change.
    changes
        What tells the records from the loaded products, place by place.
    loaded
        When each product was last updated (`updatedAt`) according to the catalogue, by product id.
    known
        The mandatory attributes that each product already has, by GTIN.
    origin
        The origin of the catalogue.
    asked
        What was asked for, place by place; `preview` shows it.

    Examples
    --------
    >>> import prodex
    >>> name = [{"expressedIn": {"code": "eng-GB"}, "data": "Bred"}]
    >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935", "namePublicLong": name}])
    >>> changes = catalog.changes_from(catalog.texts.assign(text="Bread"))
    >>> len(changes.records), changes.preview()["after"].tolist()
    (1, ['Bread'])
    """

    records: tuple[Product, ...] = field(repr=False)
    changes: tuple[Change, ...] = field(repr=False)
    loaded: Mapping[str, str | None] = field(repr=False)
    known: Mapping[str, frozenset[str]] = field(repr=False)
    origin: Origin = field(repr=False)

    asked: tuple[Change, ...] = field(default=(), repr=False)

    def __len__(self) -> int:
        return len(self.asked)

    def preview(self) -> pd.DataFrame:
        """Return the changes as a frame: gtin, attribute, position, language, before, after."""
        written = dict(zip(self.loaded, self.records, strict=True))
        changes = by_product(self.changes)
        rows = []
        for product, asked in by_product(self.asked).items():
            # What is written leads back to what was loaded.
            loaded = apply(written[product], inverse(changes[product]))
            gtin = written[product]["gtin"]
            rows += [(gtin, *_preview_row(one, loaded, written[product])) for one in asked]
        columns = ["gtin", "attribute", "position", "language", "before", "after"]
        return pd.DataFrame(rows, columns=columns, dtype=object)

    def __repr__(self) -> str:
        changes, products = counted(len(self), "correction"), counted(len(self.records), "product")
        return f"<Changes: {changes} of {products}; .preview() shows them>"


def _preview_row(change: Change, loaded: Product, written: Product) -> tuple[Any, ...]:
    """Return attribute, position, language, the value before and the new one of a change."""
    path, before, after = change.path, change.before, change.after
    if isinstance(after, list) and after[:-1] == (before or []):
        # A text was added beside one that may be of the same language.
        before, after = ABSENT, after[-1]
    elif path[-1] == "data":
        path = path[:-1]
        before = value_at(loaded, path)
        after = before | {"data": after}
    text = next((one for one in (before, after) if is_text(one)), None)
    old, new = (None if one is ABSENT else one for one in (before, after))
    if text is None:
        return wire_path(path), None, None, old, DELETE if is_nothing(new) else new
    item = TextItem(wire_path(path), "", text)
    variants = {
        tag_of(one.variant)
        for one in texts_of(written.get(str(path[0])), str(path[0]))
        if one.attribute == item.attribute and one.variant is not None
    }
    short = item.sent_language or item.code
    # Where an attribute has several texts of one language, that is named by its code.
    language = item.code if short and len(meant_by(short_of(short), [*variants])) > 1 else short
    # An item that gets its text is a new text for whoever looks at texts.
    steps = indexed(loaded, path) if old and old["data"] is not None else None
    position = None if steps is None else ".".join(str(one) for one in steps if isinstance(one, int))
    return item.attribute, position, language, old and old["data"], DELETE if new is None else new["data"]


#: Product id, GTIN and reason of a product that cannot be corrected.
Refusal: TypeAlias = tuple[str, Any, Said]


def merged_changes(
    products: Mapping[str, Product],
    changes: Mapping[str, Sequence[Change]],
    known: KnownProducts,
    origin: Origin,
) -> tuple[Changes, list[Refusal]]:
    """Merge changes with products, and say which products cannot be corrected, and why.

    Parameters
    ----------
    products
        The products as received, by product id.
    changes
        What is asked for, by product id; products that are not there stay as they are.
    known
        Facts of the catalogue of the products.
    origin
        The origin of that catalogue.
    """
    records: list[Product] = []
    told: list[Change] = []
    wanted: list[Change] = []
    loaded: dict[str, str | None] = {}
    filled: dict[str, frozenset[str]] = {}
    refused: list[Refusal] = []
    for product, asked in changes.items():
        record = products[product]
        try:
            made = written_with(record, asked)
            if not made:
                continue
            _refuse_unknown(origin, record, made)
            gtin = _only_gtin(product, record, known)
            differing = diff({name: record.get(name, ABSENT) for name in made}, made, product=product)
        except ChangesRefused as error:
            refused.append((product, record.get("gtin"), said_by(error)))
            continue
        # Labels in another language than the service's own would be written over its own.
        written = without_labels(made) if origin.accept_language else made
        records.append({"gtin": gtin, **written})
        told += differing
        wanted += [one for one in joined(asked) if one.attribute in made]
        loaded[product] = record.get("updatedAt")
        filled[gtin] = frozenset(name for name in _MANDATORY if record.get(name) or not origin.asked(name))
    return Changes(tuple(records), tuple(told), loaded, filled, origin, tuple(wanted)), refused


def _only_gtin(product: str, record: Product, known: KnownProducts) -> str:
    """Return the GTIN of a product, by which a write identifies it."""
    gtin = record.get("gtin")
    if gtin is None:
        raise ChangesRefused(
            f"Product {product} has no GTIN, and a write identifies its product by the GTIN alone."
        )
    if len(several := known.ids[comparable(gtin)]) > 1:
        raise ChangesRefused(
            f"The catalogue has {len(several)} products of GTIN {gtin}, and a write only contains the GTIN: "
            "it is not certain which of them would change."
        )
    if comparable_gtin(gtin) in known.shared:
        raise ChangesRefused(
            f"A product that was not chosen has the GTIN {gtin} as well, and a write only contains the GTIN: it is not "
            "certain which of them would change."
        )
    return str(gtin)


def merged_with(changes: Changes) -> tuple[dict[str, Loaded], Mapping[str, Any]]:
    """Return the loaded products of corrections by GTIN, and the filters with which to find them at the service.

    Without the filters of the load (such as allow_not_consumer_units), the service would not list the products.
    """
    gtins = (record["gtin"] for record in changes.records)
    loaded = {gtin: Loaded(*one) for gtin, one in zip(gtins, changes.loaded.items(), strict=True)}
    return loaded, dict(changes.origin.query.extra) if changes.origin.query is not None else {}


def refuse_changed(service: Client, loaded: Mapping[str, Loaded], extra: Mapping[str, Any]) -> None:
    """Raise if one of these products was updated since it was loaded, according to the service.

    Parameters
    ----------
    loaded
        Key and date of the loaded products, by GTIN.
    extra
        Further filters with which they were loaded.

    Raises
    ------
    ChangesStale
        When one was updated, or is no longer there.
    """
    now = _products_at(service, loaded, ["updatedAt"], extra)
    for written, (product, then) in loaded.items():
        if product not in now:
            what = "is no longer at the service"
        elif _is_of_another_date(now[product], then):
            what = (
                f"was updated at {now[product].get('updatedAt')}, and the catalogue has the version of {then}"
            )
        else:
            continue
        raise ChangesStale(
            f"GTIN {written} {what}. Nothing was sent: load it again (max_age=0), and correct that version."
        )


def _products_at(
    service: Client, gtins: Collection[str], attributes: Sequence[str], extra: Mapping[str, Any]
) -> dict[str, Product]:
    """Request some attributes of products by their GTINs, whatever else is missing; return them by their keys."""
    if not gtins:
        return {}
    query = ProductQuery(gtins_in=list(gtins), source_include=attributes, extra=dict(extra))
    # With a report of its own, a missing product does not raise here.
    found = pages(service, query, page_size=GTINS_PER_CALL, progress=False, report=lambda _: None)
    records = [read_written(bytes(one)) for page in found for one in page.envelope.data]
    return {product_key(record): record for record in records}


def _is_of_another_date(record: Product, then: str | None) -> bool:
    # Without a date nobody knows which version the service has, and the correction may undo a change.
    return record.get("updatedAt") is None or record["updatedAt"] != then


#: Why a product is left out of a call.
_CHANGED: Final = "somebody has changed the product at the service since it was requested for this upsert"
_GONE: Final = "the product is no longer at the service"


def changed_meanwhile(
    service: Client,
    loaded: Mapping[str, Loaded],
    attributes: Collection[str],
    before: Mapping[str, Product],
    extra: Mapping[str, Any],
) -> dict[str, str]:
    """Return the GTINs of the products that are not as they were when their corrections were merged, each with why.

    It takes one search, and more only if that does not return all of them.

    Parameters
    ----------
    loaded
        Key and date of the products as they were, by GTIN; 500 at most.
    attributes
        What is written of them. Dates are of seconds, so that an attribute may have another value with the same date.
    before
        The records as they were, by product key, as far as they are known.
    extra
        Further filters with which they were loaded.

    Raises
    ------
    ServiceError
        When they cannot be requested.
    """
    if not loaded:
        return {}
    # A name with a comma would be two.
    wanted = ["updatedAt", "lastRequest", *sorted(name for name in attributes if name.isidentifier())]
    query = ProductQuery(gtins_in=list(loaded), source_include=wanted, extra=dict(extra))
    page = service.search_products(query, limit=len(loaded))
    now = {product_key(record): record for record in map(read_written, map(bytes, page.envelope.data))}
    lacking = [written for written, one in loaded.items() if one.product not in now]
    now |= _products_at(service, lacking, wanted, extra)
    found = {}
    for written, (product, then) in loaded.items():
        record, earlier = now.get(product), before.get(product, {})
        if record is None:
            found[written] = _GONE
        elif _is_of_another_date(record, then) or any(
            _has_another_value(record, earlier, name) for name in earlier.keys() & set(attributes)
        ):
            found[written] = _CHANGED
    return found


def _has_another_value(record: Product, earlier: Product, name: str) -> bool:
    """Whether an attribute has another value than earlier, or another update of it waits to be accepted."""
    if name in record and not is_same(record[name], earlier[name]):
        return True
    waiting, before = (
        one["lastRequest"].get(name) if isinstance(one.get("lastRequest"), Mapping) else None
        for one in (record, earlier)
    )
    return not is_same(waiting, before)


def received_products(catalog: Catalog, ids: Iterable[str]) -> dict[str, Product]:
    """Return products as they were received, by product id; those that the catalogue has."""
    concerned = pc.field("product_id").isin(pa.array(list(ids), pa.string()))
    rows = catalog.arrow("raw", ["product_id", "json"], concerned).to_pylist()
    return {row["product_id"]: _record(row["product_id"], row["json"]) for row in rows}


def _record(product: str, text: str) -> dict[str, Any]:
    try:
        record = read_written(text)
    except (ValueError, RecursionError) as error:
        raise SnapshotDamaged(
            f"The record of product {product} cannot be read ({error}). Load it again."
        ) from error
    if not isinstance(record, dict):
        raise SnapshotDamaged(f"The record of product {product} is not a JSON object. Load it again.")
    return record


def _refuse_unknown(origin: Origin, record: Product, made: Product) -> None:
    """Raise if the catalogue may lack a part of an attribute: writing the attribute would delete that part."""
    query = origin.query
    if query is None:
        return
    for attribute in made:
        why = None
        if not origin.asked(attribute):
            why = "was not requested when this catalogue was loaded"
        elif query.source_include and attribute not in query.source_include:
            why = f"was requested only in part ({', '.join(query.source_include)})"
        elif any(path.split(".")[0] == attribute for path in query.source_exclude or ()):
            why = "was loaded without a part of it"
        elif query.product_languages and any(
            True for one in (record, made) for _ in texts_of(one.get(attribute), attribute)
        ):
            why = f"was loaded only in {', '.join(query.product_languages)}"
        if why:
            raise ChangesRefused(
                f"{attribute} {why}, and a write replaces all of it: the missing part would be lost. Load the products "
                "with the whole attribute in all languages, and correct these."
            )


def language_codes_only(value: Any) -> Any:
    """Reduce the language of each text to its code, as in XML; the service adds the other fields itself.

    What XML cannot spell stays, so that it is refused.
    """
    match value:
        case {"expressedIn": {"code": str(code)} as language, "data": str()} if is_plain(language):
            return value | {"expressedIn": {"code": code}}
        case dict():
            return {key: language_codes_only(inner) for key, inner in value.items()}
        case list():
            return [language_codes_only(item) for item in value]
    return value


def without_labels(value: Any) -> Any:
    """Leave labels out of coded values: they were requested in some language, and the service has its own.

    A label follows from its code and from the language that is requested (spec, Code value object), so that none is
    lost; a description that is more than a text is of the item, and stays.
    """
    if isinstance(value, dict):
        drop = {"label", "description"} if "code" in value else set()
        return {
            key: without_labels(inner)
            for key, inner in value.items()
            if key not in drop or not isinstance(inner, str)
        }
    return [without_labels(item) for item in value] if isinstance(value, list) else value
