"""The tables of a catalogue, declared once, as data.

Flattening, Parquet schemas, exports, `prodex tables` and the README's list all read this declaration. A column with
a wire path holds a leaf of the product; the others are keys, or derived from what stands elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

import pyarrow as pa

#: What a column takes from the wire. A value that does not fit its column stands in `scalars` instead.
#:
#: - `string`: a JSON string;
#: - `code`: a string, or a whole number written as text (codes come both ways);
#: - `integer`, `number`, `boolean`: such a JSON value, numbers exactly representable;
#: - `timestamp`: text `YYYY-MM-DDThh:mm:ss` without zone, and no zone is invented;
#: - `unix_seconds`: a whole number of seconds since 1970, UTC.
Kind = Literal["string", "code", "integer", "number", "boolean", "timestamp", "unix_seconds"]

ARROW_TYPES: Mapping[Kind, pa.DataType] = {
    "string": pa.string(),
    "code": pa.string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "timestamp": pa.timestamp("us"),
    "unix_seconds": pa.timestamp("s", tz="UTC"),
}


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table.

    Attributes
    ----------
    name, kind, meaning
        As in the data dictionary.
    paths
        Wire paths from the row's object, tried in this order; none for a key or a derived column. The empty path is
        the row's item itself.
    parent_path
        Wire path from the object around the row's list: a copy for convenience, whose own home is elsewhere.
    """

    name: str
    kind: Kind
    meaning: str
    paths: tuple[tuple[str, ...], ...] = ()
    parent_path: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Table:
    """One table: what a row is, where its objects stand on the wire, and its columns.

    `anchors` are the wire paths (lists are transparent) whose objects become rows; a table without any is filled by
    shape or derived. A table that is not `per_product` is a lexicon: each entry once, no product key.
    """

    name: str
    row: str
    columns: tuple[Column, ...]
    anchors: tuple[str, ...] = ()
    per_product: bool = True

    @cached_property
    def schema(self) -> pa.Schema:
        """Arrow schema, each field with its meaning as metadata."""
        return pa.schema(
            [pa.field(c.name, ARROW_TYPES[c.kind], metadata={"meaning": c.meaning}) for c in self.columns]
        )


def _leaf(name: str, path: str, kind: Kind, meaning: str, *others: str) -> Column:
    return Column(name, kind, meaning, tuple(tuple(p.split(".")) if p else () for p in (path, *others)))


def _derived(name: str, kind: Kind, meaning: str) -> Column:
    return Column(name, kind, meaning)


def _copied(name: str, path: str, kind: Kind, meaning: str) -> Column:
    return Column(name, kind, meaning, (), tuple(path.split(".")))


_KEYS = (
    _derived("product_id", "string", "key: id; uuid where there is no id, gtin where there is neither"),
    _derived("gtin", "string", "the product's GTIN as sent: text, leading zeros kept"),
)
_PLACE = (
    _derived("attribute", "string", "wire path of the attribute, lists left out"),
    _derived("position", "string", "list indexes along the path, outermost first (a key, not a sort order)"),
)

_ASSET = (
    _leaf("url", "url", "string", "address of the file"),
    _leaf("uniform_resource_identifier", "uniformResourceIdentifier", "string", "address of the file"),
    _leaf("file_name", "fileName", "string", "name of the file"),
    _leaf("name", "name", "string", "name shown to people"),
    _leaf("content_type", "contentType", "string", "content type"),
    _leaf("document_type_code", "documentTypeCode.code", "code", "kind of document: code"),
    _leaf("document_type", "documentTypeCode.label", "string", "kind of document: label"),
    _leaf("type_of_information", "typeOfInformation", "code", "type of information"),
    _leaf("format", "format", "string", "file format"),
    _leaf("file_size", "fileSize", "integer", "size in bytes"),
    _leaf("effective_start", "fileEffectiveStartDateTime", "unix_seconds", "valid from, UTC"),
    _leaf("effective_end", "fileEffectiveEndDateTime", "unix_seconds", "valid until, UTC"),
    _leaf("created_at", "createdAt", "timestamp", "created; local time without zone"),
    _leaf("updated_at", "updatedAt", "timestamp", "last changed; local time without zone"),
)

_FLAGS = (
    ("is_consumer_unit", "isConsumerUnit", "sold to consumers"),
    ("is_display_unit", "isDisplayUnit", "display unit"),
    ("is_despatch_unit", "isDespatchUnit", "despatched as such"),
    ("is_orderable_unit", "isOrderableUnit", "can be ordered"),
    ("is_invoice_unit", "isInvoiceUnit", "can be invoiced"),
)

_PRODUCTS = Table(
    "products",
    "product",
    (
        *_KEYS,
        _leaf("uuid", "uuid", "string", "universally unique id of the product"),
        _leaf("json_version", "_jsonVersion", "integer", "version of the record's format"),
        _leaf("created_at", "createdAt", "timestamp", "created; local time without zone"),
        _leaf("updated_at", "updatedAt", "timestamp", "last changed by anybody; local time without zone"),
        *(_leaf(name, path, "boolean", meaning) for name, path, meaning in _FLAGS),
        _leaf("is_promotional_item", "isPromotionalItem", "boolean", "promotional item"),
        _leaf("is_nomadic", "isNomadic", "boolean", "consumed on the go"),
        _leaf("is_marked_recyclable", "isMarkedRecyclable", "boolean", "marked as recyclable"),
        _leaf("has_batch_number", "hasBatchNumber", "boolean", "carries a batch number"),
        _leaf("life_cycle", "lifeCycle", "integer", "life cycle"),
        _leaf("sharing_status", "manufacturerSharingStatus", "integer", "DRAFT=2, PENDING=3, ACCEPTED=4"),
        _leaf("product_status", "targetProductStatus", "code", "status on the retailer's side"),
        _leaf("validation_status", "validation.status", "integer", "0 none, 1 not OK, 2 OK, 3 correction"),
        _leaf(
            "suggestion_count", "validation.nbSuggestions", "integer", "open suggestions of the validation"
        ),
        _leaf("regulatory_status", "validation.regulatory_status", "code", "regulatory validation"),
        _leaf("brand_code", "brand.code", "code", "brand: code, which never changes"),
        _leaf("brand", "brand.label", "string", "brand: label in the language of the labels"),
        _leaf("brand_description", "brand.description", "string", "brand: description"),
        _leaf("brand_picture_url", "brand.pictureUrl", "string", "brand: address of its picture"),
        _leaf("kind_code", "kind.code", "code", "kind (category): code, which never changes"),
        _leaf("kind", "kind.label", "string", "kind: label in the language of the labels"),
        _leaf("kind_description", "kind.description", "string", "kind: description"),
        _leaf("packaging_code", "typePackaging.code", "code", "EACH, PACK, CASE, PALLET ..."),
        _leaf("packaging", "typePackaging.label", "string", "type of packaging: label"),
        _leaf(
            "packaging_description", "typePackaging.description", "string", "type of packaging: description"
        ),
        _leaf("gpc_code", "GPC.code", "code", "GS1 global product classification: brick code"),
        _leaf("gpc", "GPC.label", "string", "GS1 global product classification: label"),
        _leaf("owner_id", "owner.id", "code", "owner: id"),
        _leaf("owner_uuid", "owner.uuid", "string", "owner: uuid"),
        _leaf("owner", "owner.name", "string", "owner: name"),
        _leaf("owner_type", "owner.type", "integer", "owner: 1 manufacturer, 2 retailer"),
        _leaf("supplier_id", "supplierId", "code", "the supplier's own number"),
        _leaf("unit_type", "unitType", "code", "unit type"),
        _leaf(
            "target_market", "product_key.target_market_id", "code", "market of this version of the product"
        ),
        _leaf(
            "pictures_updated_at",
            "assets.lastUpdatedAt.pictures",
            "timestamp",
            "freshness of pictures; no zone",
        ),
        _derived("has_pending_update", "boolean", "a change waits under lastRequest"),
    ),
    ("",),
)

_HIERARCHIES = Table(
    "hierarchies",
    "node of a logistical hierarchy or sharing unit, again for every product that shows its tree",
    (
        *_KEYS,
        *_PLACE,
        _derived("source", "string", "logisticalHierarchies or sharingUnits"),
        _derived("level", "integer", "0 at the root"),
        _derived("root_gtin", "string", "GTIN of the outermost unit"),
        _derived("parent_gtin", "string", "GTIN of the unit around this one; none at the root"),
        _leaf("node_gtin", "gtin", "string", "GTIN of this unit"),
        _leaf("node_uuid", "uuid", "string", "uuid of this unit"),
        _leaf("quantity", "quantity", "number", "how many stand in the parent; none when not said"),
        _derived(
            "units_per_root",
            "number",
            "how many stand in the root; none when not said; each product of a tree repeats it",
        ),
        _leaf(
            "packaging_code",
            "typePackaging.code",
            "code",
            "type of packaging: code",
            "version.typePackaging.code",
        ),
        _leaf(
            "packaging",
            "typePackaging.label",
            "string",
            "type of packaging: label",
            "version.typePackaging.label",
        ),
        *(_leaf(name, path, "boolean", meaning, f"version.{path}") for name, path, meaning in _FLAGS),
        _leaf("active_listing", "activeListing", "boolean", "shared through a listing"),
        _leaf("product_key_id", "product_key_id", "code", "key of the shared version"),
    ),
    ("logisticalHierarchies", "sharingUnits"),
)

_TABLES = (
    _PRODUCTS,
    Table(
        "texts",
        "localized text item, at any depth",
        (
            *_KEYS,
            *_PLACE,
            _derived("language_code", "string", 'language and country as sent ("fra-FR")'),
            _derived("language", "string", 'short language code ("fr")'),
            _derived("text", "string", "the text, verbatim"),
        ),
    ),
    Table(
        "codes",
        "code value, at any depth (brand, kind and packaging stand in products)",
        (
            *_KEYS,
            *_PLACE,
            _derived("code", "string", "the code, which never changes"),
            _derived("label", "string", "its label in the language of the labels"),
            _derived("description", "string", "its description"),
        ),
    ),
    Table(
        "quantities",
        "number with a unit, at any depth",
        (
            *_KEYS,
            *_PLACE,
            _derived("value", "number", "the number"),
            _derived("unit_code", "string", 'unit: code ("GRM")'),
            _derived("unit", "string", 'unit: label ("g")'),
        ),
    ),
    Table(
        "nutrients",
        "nutrient of one partition of a product",
        (
            *_KEYS,
            *_PLACE,
            _copied("partition", "name", "string", 'what the figures refer to ("100 g")'),
            _copied("basis_quantity", "quantity", "number", "how much that is"),
            _copied("basis_unit_code", "isMeasuredBy.code", "code", "and in which unit"),
            _leaf("nutrient_code", "isConceptualizedBy.code", "code", "nutrient: GS1 code (ENER-, FAT ...)"),
            _leaf("nutrient", "isConceptualizedBy.label", "string", "nutrient: label"),
            _leaf("quantity", "quantity", "number", "how much of it"),
            _leaf("unit_code", "expressedIn.code", "code", "unit: code (GRM, KJO, E14 = kcal)"),
            _leaf("unit", "expressedIn.label", "string", "unit: label"),
            _leaf(
                "daily_percentage", "percentageOfDailyValueIntake", "number", "per cent of the daily intake"
            ),
        ),
        ("isPartitionedBy.contains",),
    ),
    Table(
        "scalars",
        "value of no other table",
        (
            *_KEYS,
            *_PLACE,
            _derived("type", "string", "string, number or boolean"),
            _derived("value", "string", "the value as text; numbers by value (1.0 is 1), not spelling"),
        ),
    ),
    Table(
        "pictures",
        "picture",
        (
            *_KEYS,
            *_PLACE,
            _leaf("url", "url", "string", "address of the media file"),
            _leaf("is_packshot", "isPackshot", "boolean", "said to be a packshot"),
            _leaf("product_face", "productFace", "code", "1 front, 2 left, 3 top, 7 back, 8 right, 9 bottom"),
            _leaf("type_of_information", "typeOfInformation", "code", "type of information"),
            _leaf("content_type", "contentType", "code", "content type"),
            _leaf("file_type", "fileType", "code", "file type"),
            _leaf("angle_horizontal", "angleHorizontal", "integer", "horizontal angle, degrees"),
            _leaf("angle_vertical", "angleVertical", "integer", "vertical angle, degrees"),
            _leaf("sequence_number", "sequenceNumber", "integer", "sequence number"),
            _leaf("definition", "definition", "string", 'size as text ("569 x 1200")'),
            _leaf("width", "width", "integer", "width of the original, pixels"),
            _leaf("height", "height", "integer", "height of the original, pixels"),
            _leaf("resolution", "resolution", "string", "resolution as text"),
            _leaf("resolution_x", "resolutionX", "integer", "dots per inch across"),
            _leaf("resolution_y", "resolutionY", "integer", "dots per inch down"),
            _leaf("ratio", "ratio", "string", "width to height as text"),
            _leaf("format", "format", "string", "file format"),
            _leaf("crc32", "crc32", "code", "checksum of the original"),
            _leaf("gdsn_file_name", "gdsnFileName", "string", "GS1 file name"),
            _leaf("origin_url", "uniformResourceIdentifierOrigin", "string", "where it came from"),
            _leaf("effective_start", "fileEffectiveStartDateTime", "timestamp", "valid from; no zone"),
            _leaf("effective_end", "fileEffectiveEndDateTime", "timestamp", "valid until; no zone"),
            _leaf("created_at", "createdAt", "timestamp", "created; local time without zone"),
            _leaf("updated_at", "updatedAt", "timestamp", "last changed; local time without zone"),
        ),
        ("assets.pictures",),
    ),
    Table(
        "exportables",
        "rendition of a picture; its position begins with the picture's",
        (
            *_KEYS,
            *_PLACE,
            _leaf("url", "uniformResourceIdentifier", "string", "address of the file"),
            _leaf("name", "name", "string", "name of the rendition"),
            _leaf("width", "width", "integer", "pixels"),
            _leaf("height", "height", "integer", "pixels"),
            _leaf("file_size", "fileSize", "integer", "bytes"),
            _leaf("quality", "quality", "code", "quality"),
            _leaf("picture_id", "productpicture_id", "code", "id of the picture"),
            _leaf("crc32", "crc32", "code", "checksum of the file"),
            _leaf("created_at", "createdAt", "timestamp", "created; local time without zone"),
            _leaf("updated_at", "updatedAt", "timestamp", "last changed; local time without zone"),
        ),
        ("assets.pictures.exportables",),
    ),
    Table("documents", "document", (*_KEYS, *_PLACE, *_ASSET), ("assets.documents", "assets.document")),
    Table("videos", "video", (*_KEYS, *_PLACE, *_ASSET), ("assets.videos",)),
    Table("enriched_contents", "enriched content", (*_KEYS, *_PLACE, *_ASSET), ("assets.enriched_contents",)),
    _HIERARCHIES,
    Table(
        "labels",
        "label or certificate of a product (isLabeledBy)",
        (
            *_KEYS,
            *_PLACE,
            _leaf("label_code", "isConceptualizedBy.code", "code", "label: code"),
            _leaf("label", "isConceptualizedBy.label", "string", "label: label"),
            _leaf("description", "isConceptualizedBy.description", "string", "label: description"),
            _leaf("picture_url", "isConceptualizedBy.pictureUrl", "string", "label: address of its picture"),
            _leaf("value", "value", "code", "value"),
            _leaf("start_date", "startDate", "string", "from, as sent"),
            _leaf("end_date", "endDate", "string", "until, as sent"),
            _leaf("attributed_at", "attributedAt", "string", "attributed, as sent"),
        ),
        ("isLabeledBy",),
    ),
    Table(
        "tags",
        "tag of a product (hasTags, isTaggedBy)",
        (
            *_KEYS,
            *_PLACE,
            _leaf("tag", "tag", "string", "name of the tag", ""),
            _leaf("created_at", "createdAt", "timestamp", "put on; local time without zone"),
        ),
        ("hasTags", "isTaggedBy"),
    ),
    Table(
        "identifiers",
        "identifier of a product (isIdentifiedBy)",
        (*_KEYS, *_PLACE, _leaf("reference", "reference", "code", "the identifier")),
        ("isIdentifiedBy", "specializes.isIdentifiedBy"),
    ),
    Table(
        "entities",
        "language, unit or currency a record says it uses (presentEntities)",
        (
            *_KEYS,
            *_PLACE,
            _copied(
                "referential", "referential.name", "string", "languages, netcontents, currencies, weights"
            ),
            _derived("entity_code", "string", "code, described in descriptors"),
            _derived("short_code", "string", "short code"),
        ),
        ("expressedIn.presentEntities",),
    ),
    Table(
        "descriptors",
        "language, unit or entity descriptor, each once",
        (
            _derived("code", "string", 'code ("fra-FR", "GRM")'),
            _derived("short_code", "string", 'short code ("fr")'),
            _derived("description", "string", "description"),
            _derived("label", "string", "label"),
        ),
        per_product=False,
    ),
    Table(
        "code_labels",
        "label of a code in a further language, where such were asked for",
        (
            _derived("attribute", "string", "wire path of the code value"),
            _derived("code", "string", "the code"),
            _derived("label_language", "string", "language that was asked for"),
            _derived("label", "string", "its label in that language"),
            _derived("description", "string", "its description in that language"),
        ),
        per_product=False,
    ),
    Table(
        "presence",
        "product, with a column for each attribute seen (`brand_state`): filled, empty, null, absent",
        _KEYS[:1],
    ),
    Table("raw", "product, with its JSON as received", (*_KEYS, _derived("json", "string", "the record"))),
)

#: Child tables whose rows are counted in `products`, as `<table>_count`.
COUNTED = tuple(t.name for t in _TABLES if t.per_product and t.name not in {"products", "presence", "raw"})

TABLES: Mapping[str, Table] = {
    table.name: Table(
        table.name,
        table.row,
        (*table.columns, *(_derived(f"{name}_count", "integer", f"rows in {name}") for name in COUNTED)),
        table.anchors,
    )
    if table.name == "products"
    else table
    for table in _TABLES
}

_ANCHORS = {anchor: table for table in TABLES.values() for anchor in table.anchors}


@lru_cache(maxsize=65536)
def anchored(path: str) -> Table | None:
    """Return the table whose rows stand at this wire path, if one is declared.

    A record under `lastRequest` (the update that waits for acceptance) has the same shape as the product around it,
    and hierarchies recurse through `children`.

    >>> anchored("lastRequest.assets.pictures").name, anchored("logisticalHierarchies.children.children").name
    ('pictures', 'hierarchies')
    """
    own = path.removeprefix("lastRequest.")
    while own.endswith(".children"):
        own = own.removesuffix(".children")
        if (table := _ANCHORS.get(own)) is not None:
            return table if table.name == "hierarchies" else None
    return _ANCHORS.get(own)


def child_path(path: str, key: str) -> str:
    r"""Append one wire key to a wire path.

    Dots inside a key are escaped and an empty key is written `\e`, so that different places never share a path.

    >>> child_path("netContent", "data"), child_path("tags", "a.b"), child_path("", "")
    ('netContent.data', 'tags.a\\.b', '\\e')
    """
    if not key or "." in key or "\\" in key:
        key = key.replace("\\", "\\\\").replace(".", "\\.") or "\\e"
    return f"{path}.{key}" if path else key


def data_dictionary(table: str) -> list[tuple[str, str, str, str]]:
    """Return name, Arrow type, wire path and meaning of each column of a table."""
    declared = TABLES[table]
    rows = []
    for column in declared.columns:
        paths = [
            ".".join(filter(None, [declared.anchors[0] if declared.anchors else "", *path]))
            for path in column.paths
        ]
        rows.append((column.name, str(ARROW_TYPES[column.kind]), paths[0] if paths else "", column.meaning))
    return rows
