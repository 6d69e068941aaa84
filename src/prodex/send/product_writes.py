"""What is written of each product: changes merged with what it was loaded with, ready to be sent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeAlias

import pandas as pd

from prodex.catalog import Origin
from prodex.catalog.origin import Extent
from prodex.changes import ABSENT, Change, apply, diff, indexed, inverse, is_nothing, value_at, wire_path
from prodex.changes.sameness import is_text
from prodex.errors import ChangesRefused
from prodex.facts.same_product import comparable_gtin
from prodex.gtin import comparable, gtin_key, has_digits
from prodex.languages import Said
from prodex.languages.message import said_by
from prodex.ledger.batch import Loaded
from prodex.ledger.change_digests import Digests, attribute_of, digests_of
from prodex.locales import meant_by, short_of, tag_of
from prodex.phrases import counted
from prodex.send.known_products import KnownProducts
from prodex.send.merging import TextItem, join_changes, merge_values, texts_at, texts_of
from prodex.send.records import DELETE, Product
from prodex.written_json import is_plain

#: What is written as a whole: an attribute at the top of a product, by the key of its GTIN.
Place: TypeAlias = tuple[str, str]


@dataclass(frozen=True)
class ProductWrite:
    """What is written of one product.

    Attributes
    ----------
    product
        The id of the product.
    record
        Its GTIN and the complete values of the attributes that change.
    changes
        What tells the record from the loaded product, place by place.
    asked
        What was asked for, place by place.
    updated_at
        When the product was last updated (`updatedAt`) according to the catalogue.
    filled
        The mandatory attributes that it has already.
    """

    product: str
    record: Product = field(repr=False)
    changes: tuple[Change, ...] = field(repr=False)
    asked: tuple[Change, ...] = field(repr=False)
    updated_at: str | None
    filled: frozenset[str]

    @property
    def gtin(self) -> str:
        """Its GTIN, by which a write identifies it."""
        return str(self.record["gtin"])

    @property
    def loaded(self) -> Loaded:
        """The product and its version with which the changes were merged."""
        return Loaded(self.product, self.updated_at)

    @property
    def digests(self) -> Digests:
        """The digests of its changes."""
        return digests_of(self.changes)

    def without(self, attributes: Collection[str]) -> Self | None:
        """Return it without some attributes; None where nothing else is written."""
        record = {name: value for name, value in self.record.items() if name not in attributes}
        if not record.keys() - {"gtin"}:
            return None
        changes, asked = (
            tuple(one for one in several if one.attribute not in attributes)
            for several in (self.changes, self.asked)
        )
        return replace(self, record=record, changes=changes, asked=asked)

    def beside(self, other: Self | None) -> Self:
        """Return it with what another write has of the same product."""
        if other is None:
            return self
        return replace(
            self,
            record=other.record | self.record,
            changes=(*self.changes, *other.changes),
            asked=(*self.asked, *other.asked),
        )


@dataclass(frozen=True)
class Changes:
    """Corrections, merged and ready for `prodex.upsert`.

    Made by `Catalog.changes_from`.

    Attributes
    ----------
    writes
        What is written of each product, by product id.
    origin
        The origin of the catalogue.

    Examples
    --------
    >>> import prodex
    >>> name = [{"expressedIn": {"code": "eng-GB"}, "data": "Bred"}]
    >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935", "namePublicLong": name}])
    >>> changes = catalog.changes_from(catalog.texts.assign(text="Bread"))
    >>> len(changes.records), changes.preview()["after"].tolist()
    (1, ['Bread'])
    """

    writes: Mapping[str, ProductWrite] = field(repr=False)
    origin: Origin = field(repr=False)

    @property
    def records(self) -> tuple[Product, ...]:
        """One for each product: its GTIN and the complete values of the attributes that change."""
        return tuple(one.record for one in self.writes.values())

    @property
    def changes(self) -> tuple[Change, ...]:
        """What tells the records from the loaded products, place by place."""
        return tuple(change for one in self.writes.values() for change in one.changes)

    @property
    def filled(self) -> dict[str, frozenset[str]]:
        """The mandatory attributes that each product already has, by GTIN."""
        return {one.gtin: one.filled for one in self.writes.values()}

    @property
    def loaded_by_gtin(self) -> dict[str, Loaded]:
        """The loaded products by GTIN."""
        return {one.gtin: one.loaded for one in self.writes.values()}

    @property
    def digests(self) -> dict[str, tuple[str, ...]]:
        """The digests of all changes by GTIN."""
        return {one.gtin: tuple(sorted(one.digests)) for one in self.writes.values()}

    @property
    def extra(self) -> dict[str, Any]:
        """The filters of the load: without them the service would not list the products."""
        return {} if self.origin.query is None else dict(self.origin.query.extra)

    @property
    def places(self) -> dict[Place, Digests]:
        """The digests of the changes of each place."""
        found: dict[Place, set[str]] = defaultdict(set)
        for one in self.writes.values():
            for digest in one.digests:
                found[gtin_key(one.gtin), attribute_of(digest)].add(digest)
        return {place: frozenset(digests) for place, digests in found.items()}

    def without(self, places: Collection[Place]) -> Self:
        """Return the changes without those of some places."""
        attributes: dict[str, set[str]] = defaultdict(set)
        for gtin, attribute in places:
            attributes[gtin].add(attribute)
        left = {
            product: one.without(attributes.get(gtin_key(one.gtin), ()))
            for product, one in self.writes.items()
        }
        return replace(self, writes={product: one for product, one in left.items() if one is not None})

    def beside(self, others: Self, places: Collection[Place]) -> Self:
        """Return the changes, with those that others make of some places which these do not change."""
        here = self.places
        added = others.without({one for one in others.places if one not in places or one in here}).writes
        own = {product: one.beside(added.get(product)) for product, one in self.writes.items()}
        return replace(
            self, writes=own | {product: one for product, one in added.items() if product not in own}
        )

    def __len__(self) -> int:
        return sum(len(one.asked) for one in self.writes.values())

    def preview(self) -> pd.DataFrame:
        """Return the changes as a frame: gtin, attribute, position, language, before, after."""
        rows: list[tuple[Any, ...]] = []
        for one in self.writes.values():
            # What is written leads back to what was loaded.
            loaded = apply(one.record, inverse(one.changes))
            rows += [(one.gtin, *_preview_row(change, loaded, one.record)) for change in one.asked]
        columns = ["gtin", "attribute", "position", "language", "before", "after"]
        return pd.DataFrame(rows, columns=columns, dtype=object)

    def __repr__(self) -> str:
        changes, products = counted(len(self), "correction"), counted(len(self.writes), "product")
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
    variants = {tag_of(one.variant) for one in texts_at(written, item.attribute) if one.variant is not None}
    short = item.sent_language or item.code
    # Where an attribute has several texts of one language, that is named by its code.
    language = item.code if short and len(meant_by(short_of(short), [*variants])) > 1 else short
    # An item that gets its text is a new text for whoever looks at texts.
    steps = indexed(loaded, path) if old and old["data"] is not None else None
    position = None if steps is None else ".".join(str(one) for one in steps if isinstance(one, int))
    return item.attribute, position, language, old and old["data"], DELETE if new is None else new["data"]


#: Attributes that preflight requires, unless the service has them already.
_MANDATORY = ("nameLegal", "namePublicLong", "namePublicShort", "kind")
#: Product id, GTIN and reason of a product that cannot be corrected.
Refusal: TypeAlias = tuple[str, Any, Said]


def merge_changes(
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
    writes: dict[str, ProductWrite] = {}
    refused: list[Refusal] = []
    for product, asked in changes.items():
        record = products[product]
        try:
            made = merge_values(record, asked)
            if not made:
                continue
            _refuse_unknown(origin, record, made)
            gtin = _only_gtin(product, record, known)
            differing = diff({name: record.get(name, ABSENT) for name in made}, made, product=product)
        except ChangesRefused as error:
            refused.append((product, record.get("gtin"), said_by(error)))
            continue
        writes[product] = ProductWrite(
            product,
            # Labels in another language than the service's own would be written over its own.
            {"gtin": gtin, **(without_labels(made) if origin.accept_language else made)},
            differing,
            tuple(one for one in join_changes(asked) if one.attribute in made),
            record.get("updatedAt"),
            frozenset(name for name in _MANDATORY if record.get(name) or not origin.asked(name)),
        )
    return Changes(writes, origin), refused


def _only_gtin(product: str, record: Product, known: KnownProducts) -> str:
    """Return the GTIN of a product, by which a write identifies it."""
    gtin = record.get("gtin")
    if gtin is None:
        raise ChangesRefused(
            f"Product {product} has no GTIN, and a write identifies its product by the GTIN alone."
        )
    if not has_digits(str(gtin)):
        # Of several products, one that cannot be requested would stop all.
        raise ChangesRefused(
            f"{gtin!r:.40} is no GTIN, by which a product is requested before it is written. Correct it at its source."
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


def _refuse_unknown(origin: Origin, record: Product, made: Product) -> None:
    """Raise if the catalogue may lack a part of an attribute: writing the attribute would delete that part."""
    for attribute in made:
        has_texts = any(True for one in (record, made) for _ in texts_of(one.get(attribute), attribute))
        if why := why_in_part(origin, attribute, has_texts=has_texts):
            raise ChangesRefused(
                f"{attribute} {why}, and a write replaces all of it: the missing part would be lost. Load the products "
                "with the whole attribute in all languages, and correct these."
            )


def why_in_part(origin: Origin, attribute: str, *, has_texts: bool) -> str | None:
    """Return why a catalogue may lack a part of an attribute that its products have; None where it has all of it.

    >>> from prodex.query import ProductQuery
    >>> why_in_part(Origin("sandbox", ProductQuery(product_languages=["fr"])), "namePublicLong", has_texts=True)
    'was loaded only in fr'
    """
    query = origin.query
    if query is None:
        return None
    if not origin.asked(attribute):
        return "was not requested when this catalogue was loaded"
    if query.source_include and attribute not in query.source_include:
        return f"was requested only in part ({', '.join(query.source_include)})"
    if any(path.split(".")[0] == attribute for path in query.source_exclude or ()):
        return "was loaded without a part of it"
    if query.product_languages and has_texts:
        return f"was loaded only in {', '.join(query.product_languages)}"
    return None


def why_in_part_of_file(extent: Extent | None, attribute: str) -> str | None:
    """Return why the file of a catalogue may lack a part of an attribute; None where it has columns of all of it.

    >>> why_in_part_of_file(Extent(("namePublicLong",), (("namePublicLong", ("fr", "nl")),)), "namePublicLong")
    'is from a file with columns only in fr, nl'
    """
    if extent is None:
        return None
    if extent.is_in_part(attribute):
        return "is from a file with cells of it that could not be read"
    if attribute not in extent.attributes:
        there = [path for path in extent.attributes if path.split(".")[0] == attribute]
        return (
            f"is from a file with columns only of {', '.join(there)}"
            if there
            else "is from a file without it"
        )
    languages = sorted({one for _, several in extent.spoken(attribute) for one in several})
    return f"is from a file with columns only in {', '.join(languages)}" if languages else None


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
