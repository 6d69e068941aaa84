"""Corrections of single texts and values, merged with the loaded products so that the rest of an attribute is kept."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.arguments import described
from prodex.catalog import Catalog, Origin
from prodex.errors import ChangesRefused, ChangesStale, InputError, SnapshotDamaged
from prodex.gtin import comparable_cell
from prodex.messages import counted
from prodex.query import GTINS_PER_CALL, ProductQuery
from prodex.send.batches import Loaded
from prodex.send.corrections import KnownProducts, corrections_in
from prodex.send.merge import Correction, Edit, merged
from prodex.send.records import Product
from prodex.service import Client, pages
from prodex.service.connection import service_given
from prodex.store.snapshot import catalog_given
from prodex.tables.plain import product_key

#: Attributes that preflight requires, unless the service has them already.
_MANDATORY = ("nameLegal", "namePublicLong", "namePublicShort", "kind")


@dataclass(frozen=True)
class Changes:
    """Corrections, merged and ready for `prodex.upsert`.

    Made by `prodex.changes_from_frame`.

    Attributes
    ----------
    records
        One for each product: its GTIN and the complete values of the attributes that change.
    edits
        The single changes.
    loaded
        When each product was last updated (`updatedAt`) according to the catalogue, by product id.
    known
        The mandatory attributes that each product already has, by GTIN.
    origin
        The origin of the catalogue.

    Examples
    --------
    >>> import prodex
    >>> name = [{"expressedIn": {"code": "eng-GB"}, "data": "Bred"}]
    >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935", "namePublicLong": name}])
    >>> changes = prodex.changes_from_frame(catalog.texts.assign(text="Bread"), catalog)
    >>> len(changes.records), changes.preview()["after"].tolist()
    (1, ['Bread'])
    """

    records: tuple[Product, ...] = field(repr=False)
    edits: tuple[Edit, ...] = field(repr=False)
    loaded: Mapping[str, str | None] = field(repr=False)
    known: Mapping[str, frozenset[str]] = field(repr=False)
    origin: Origin = field(repr=False)

    def __len__(self) -> int:
        return len(self.edits)

    def preview(self) -> pd.DataFrame:
        """Return the changes as a frame: gtin, attribute, position, language, before, after."""
        return pd.DataFrame(list(self.edits), columns=list(Edit._fields), dtype=object)

    def __repr__(self) -> str:
        edits, products = counted(len(self.edits), "correction"), counted(len(self.records), "product")
        return f"<Changes: {edits} of {products}; .preview() shows them>"


def changes_from_frame(
    frame: pd.DataFrame, catalog: Catalog, *, language: str | None = None, service: Client | None = None
) -> Changes:
    """Merge the corrections in a frame with the products of a catalogue.

    The service replaces an array as a whole. So each corrected attribute is taken from the catalogue with every
    language and every item, and only what the frame corrects is changed in it.

    Parameters
    ----------
    frame
        Either the long form, one row for each text: `product_id` or `gtin`, `attribute`, `language` or
        `language_code`, `text`, and `position` where an attribute has several; `catalog.texts` is such a frame. Or
        the wide form, one row for each product, as `catalog.wide()` gives it: columns such as `namePublicLong.fr`,
        `is_consumer_unit`, `brand_code`. Cells that are unchanged, NaN or None change nothing; `prodex.DELETE`
        deletes.
    catalog
        The products, with the complete values of the corrected attributes.
    language
        For a wide frame made with `catalog.wide(language)`: the language of its texts.
    service
        Check now that no product has changed since it was loaded; `upsert` checks that again in any case.

    Raises
    ------
    ChangesRefused
        When the catalogue does not have the rest of a corrected attribute (it was not requested), or a correction is
        ambiguous. The message contains which and why.
    ChangesStale
        When a product has changed since it was loaded.

    Examples
    --------
    >>> import prodex
    >>> names = [{"expressedIn": {"code": "fra-FR"}, "data": "Pain"},
    ...          {"expressedIn": {"code": "eng-GB"}, "data": "Bred"}]
    >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935", "namePublicLong": names}])
    >>> texts = catalog.texts
    >>> texts.loc[texts["language"] == "en", "text"] = "Bread"
    >>> changes = prodex.changes_from_frame(texts, catalog)
    >>> changes.preview()[["attribute", "language", "before", "after"]].values.tolist()
    [['namePublicLong', 'en', 'Bred', 'Bread']]
    >>> [item["data"] for item in changes.records[0]["namePublicLong"]]
    ['Pain', 'Bread']
    """
    catalog = catalog_given(catalog, "changes_from_frame(frame, catalog)", frame)
    if not isinstance(frame, pd.DataFrame):
        raise InputError(
            f"frame is {described(frame)}. Give a frame with the corrections: catalog.texts or catalog.wide(), edited."
        )
    if service is not None:
        service = service_given(service, "changes_from_frame(frame, catalog, service=service)")
    known = KnownProducts.of(catalog)
    corrections = corrections_in(frame, catalog, known, language)
    changes, refused = merged_changes(
        received_products(catalog, corrections), corrections, known, catalog.origin
    )
    _refuse_all(refused, len(corrections))
    if service is not None:
        refuse_changed(service, *merged_with(changes))
    return changes


#: Product id, GTIN and reason of a product that cannot be corrected.
Refusal: TypeAlias = tuple[str, Any, str]


def merged_changes(
    products: Mapping[str, Product],
    corrections: Mapping[str, Sequence[Correction]],
    known: KnownProducts,
    origin: Origin,
) -> tuple[Changes, list[Refusal]]:
    """Merge corrections with products, and say which products cannot be corrected, and why.

    Parameters
    ----------
    products
        The products as received, by product id.
    corrections
        Their corrections, by product id.
    known
        Facts of the catalogue that the products come from.
    origin
        The origin of that catalogue.
    """
    records: list[Product] = []
    edits: list[Edit] = []
    loaded: dict[str, str | None] = {}
    filled: dict[str, frozenset[str]] = {}
    refused: list[Refusal] = []
    for product, record in products.items():
        try:
            touched, edited = merged(record, corrections[product], known.codes)
            if not edited:
                continue
            for attribute in touched:
                _refuse_unknown(origin, attribute, corrections[product])
            gtin = _only_gtin(product, record, known)
        except ChangesRefused as error:
            refused.append((product, record.get("gtin"), str(error)))
            continue
        # Labels in another language than the service's own would be written over its own.
        written = _without_labels(touched) if origin.accept_language else touched
        records.append({"gtin": gtin, **written})
        edits += edited
        loaded[product] = record.get("updatedAt")
        filled[gtin] = frozenset(name for name in _MANDATORY if record.get(name) or not origin.asked(name))
    return Changes(tuple(records), tuple(edits), loaded, filled, origin), refused


def _only_gtin(product: str, record: Product, known: KnownProducts) -> str:
    """Return the GTIN of a product, by which a write identifies it."""
    gtin = record.get("gtin")
    if gtin is None:
        raise ChangesRefused(
            f"Product {product} has no GTIN, and a write identifies its product by the GTIN alone."
        )
    if len(several := known.ids[comparable_cell(gtin)]) > 1:
        raise ChangesRefused(
            f"The catalogue has {len(several)} products of GTIN {gtin}, and a write only contains the GTIN: "
            "it is not certain which of them would change."
        )
    return str(gtin)


def _refuse_all(refused: Sequence[Refusal], of: int) -> None:
    """Raise one error for all products that cannot be corrected, with the way to continue without them."""
    if not refused:
        return
    words = refused[0][2]
    if len(refused) > 1:
        words = (
            f"{len(refused):,} of {of:,} products cannot be corrected. {words} All are in .refused of this error; "
            "frame[~frame['product_id'].isin(error.refused['product_id'])] leaves them out."
        )
    elif of > 1:
        words += f" It is in .refused of this error: without it the other {of - 1:,} can be sent."
    raise ChangesRefused(words, pd.DataFrame(refused, columns=["product_id", "gtin", "problem"], dtype="str"))


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
    if not loaded:
        return
    query = ProductQuery(gtins_in=list(loaded), source_include=["updatedAt"], extra=dict(extra))
    now: dict[str, str | None] = {}
    # With a report of its own, a missing product does not raise here; it is reported below.
    for page in pages(service, query, page_size=GTINS_PER_CALL, progress=False, report=lambda _: None):
        for record in map(json.loads, map(bytes, page.envelope.data)):
            now[product_key(record)] = record.get("updatedAt")
    for gtin, (product, then) in loaded.items():
        if product not in now:
            what = "is no longer at the service"
        # Without a date nobody knows which version the service has, and the correction may undo a change.
        elif now[product] is None or now[product] != then:
            what = f"was updated at {now[product]}, and the catalogue has the version of {then}"
        else:
            continue
        raise ChangesStale(
            f"GTIN {gtin} {what}. Nothing was sent: load it again (max_age=0), and correct that version."
        )


def received_products(catalog: Catalog, ids: Iterable[str]) -> dict[str, Product]:
    """Return products as they were received, by product id; those that the catalogue has."""
    concerned = pc.field("product_id").isin(pa.array(list(ids), pa.string()))
    rows = catalog.arrow("raw", ["product_id", "json"], concerned).to_pylist()
    return {row["product_id"]: _record(row["product_id"], row["json"]) for row in rows}


def _record(product: str, text: str) -> dict[str, Any]:
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SnapshotDamaged(
            f"The record of product {product} cannot be read ({error}). Load it again."
        ) from error
    if not isinstance(record, dict):
        raise SnapshotDamaged(f"The record of product {product} is not a JSON object. Load it again.")
    return record


def _refuse_unknown(origin: Origin, attribute: str, corrections: Sequence[Correction]) -> None:
    """Raise if the catalogue may lack a part of an attribute: writing the attribute would delete that part."""
    query = origin.query
    if query is None:
        return
    why = None
    if not origin.asked(attribute):
        why = "was not requested when this catalogue was loaded"
    elif query.source_include and attribute not in query.source_include:
        why = f"was requested only in part ({', '.join(query.source_include)})"
    elif any(path.split(".")[0] == attribute for path in query.source_exclude or ()):
        why = "was loaded without a part of it"
    elif query.product_languages and any(correction.is_text for correction in corrections):
        why = f"was loaded only in {', '.join(query.product_languages)}"
    if why:
        raise ChangesRefused(
            f"{attribute} {why}, and a write replaces all of it: the missing part would be lost. Load the products "
            "with the whole attribute in all languages, and correct these."
        )


def language_codes_only(value: Any) -> Any:
    """Reduce the language of each text to its code, as in XML; the service adds the other fields itself."""
    match value:
        case {"expressedIn": {"code": str(code)}, "data": str()}:
            return value | {"expressedIn": {"code": code}}
        case dict():
            return {key: language_codes_only(inner) for key, inner in value.items()}
        case list():
            return [language_codes_only(item) for item in value]
    return value


def _without_labels(value: Any) -> Any:
    """Leave labels out of coded values: they were requested in some language, and the service has its own.

    A label follows from its code and from the language that is requested (spec, Code value object), so that none is
    lost; a description that is more than a text is of the item, and stays.
    """
    if isinstance(value, dict):
        drop = {"label", "description"} if "code" in value else set()
        return {
            key: _without_labels(inner)
            for key, inner in value.items()
            if key not in drop or not isinstance(inner, str)
        }
    return [_without_labels(item) for item in value] if isinstance(value, list) else value
