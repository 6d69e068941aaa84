"""The tables of a catalogue, declared once, as data: a new column is one line here.

Flattening, Parquet schemas, exports, `prodex tables` and the documentation all read this declaration. A column with a
wire path holds a leaf of the product; the others are keys, or derived from other fields.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal

import pyarrow as pa

#: What a column takes from the wire. A value that does not fit its column is put into `scalars` instead.
#:
#: - `string`: a JSON string;
#: - `code`: a string, or a whole number written as text (services send codes in both forms);
#: - `integer`, `number`, `boolean`: such a JSON value, numbers exactly representable;
#: - `timestamp`: text `YYYY-MM-DDThh:mm:ss` without zone, and no zone is invented;
#: - `unix_seconds`: a whole number of seconds since 1970, UTC.
ColumnKind = Literal["string", "code", "integer", "number", "boolean", "timestamp", "unix_seconds"]

ARROW_TYPES: Mapping[ColumnKind, pa.DataType] = {
    "string": pa.string(),
    "code": pa.string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "timestamp": pa.timestamp("us"),
    "unix_seconds": pa.timestamp("s", tz="UTC"),
}

#: The meaning of a column of `presence`.
STATE_MEANING = "how the attribute came: filled, empty, null, absent, or there and unreadable"


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
        Wire path from the object around the row's list: a copy of a value that is also in a table of its own.
    """

    name: str
    kind: ColumnKind
    meaning: str
    paths: tuple[tuple[str, ...], ...] = ()
    parent_path: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Table:
    """One table: what a row is, where its objects are on the wire, and its columns.

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

    @cached_property
    def fields(self) -> Mapping[str, pa.Field]:
        """The fields of the schema, by name."""
        return {field.name: field for field in self.schema}

    def schema_of(self, names: Iterable[str]) -> pa.Schema:
        """Return the schema of some columns; those that are not declared are the attributes in `presence`."""
        known = self.fields
        # Suppliers name attributes, so that the columns of `presence` are known only from the data.
        attribute = pa.field("", pa.string(), metadata={"meaning": STATE_MEANING})
        return pa.schema([known.get(name, attribute.with_name(name)) for name in names])


def leaf(name: str, path: str, kind: ColumnKind, meaning: str, *others: str) -> Column:
    """Declare a column that holds the leaf at a wire path, or where there is none at one of the others."""
    return Column(name, kind, meaning, tuple(tuple(p.split(".")) if p else () for p in (path, *others)))


def coded(name: str, path: str, what: str) -> tuple[Column, Column, Column]:
    """Declare the three columns of an object `{code, label, description}`."""
    return (
        leaf(f"{name}_code", f"{path}.code", "code", f"{what}: code, which never changes"),
        leaf(name, f"{path}.label", "string", f"{what}: label in the language of the labels"),
        leaf(f"{name}_description", f"{path}.description", "string", f"{what}: description"),
    )


def derived(name: str, kind: ColumnKind, meaning: str) -> Column:
    """Declare a column that is computed: a key, or a value from elsewhere in the record."""
    return Column(name, kind, meaning)


def copied(name: str, path: str, kind: ColumnKind, meaning: str) -> Column:
    """Declare a column that repeats a leaf of the object around the row's list."""
    return Column(name, kind, meaning, (), tuple(path.split(".")))


def misfit(schema: pa.Schema, declared: Table, lacking: Collection[str] = ()) -> str:
    """Return why columns are not those of a table, without those that it lacks, or "" where they may be."""
    # Arrow opens such a file, and fails only when somebody asks for that column.
    there = set(schema.names)
    if len(there) < len(schema):
        return "it has a column twice"
    if missing := [name for name in declared.fields if name not in there and name not in lacking]:
        return f"it has no column {missing[0]}"
    if surplus := [name for name in lacking if name in there]:
        return f"it has a column {surplus[0]!r:.60} that was left out"
    for found, wanted in zip(schema, declared.schema_of(schema.names), strict=True):
        if _kind_of(found.type) != _kind_of(wanted.type):
            return f"its column {found.name!r:.60} holds {found.type!s:.60}, not {wanted.type}"
    return ""


@lru_cache(maxsize=1_000)
def _kind_of(kind: pa.DataType) -> str:
    """Name the kind of a type: files know text, and not whether it repeats itself."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return "text"
    return "moment" if pa.types.is_timestamp(kind) else str(kind)


_KEYS = (
    derived("product_id", "string", "key: id; uuid where there is no id, gtin where there is neither"),
    derived("gtin", "string", "the product's GTIN as sent: text, leading zeros kept"),
)
_PLACE = (
    derived("attribute", "string", "wire path of the attribute, lists left out"),
    derived("position", "string", "list indexes along the path, outermost first (a key, not a sort order)"),
)

# Services write the validity of documents in UNIX seconds, and that of pictures as local time.
_ASSET = (
    leaf("url", "url", "string", "address of the file"),
    leaf("uniform_resource_identifier", "uniformResourceIdentifier", "string", "address of the file"),
    leaf("file_name", "fileName", "string", "name of the file"),
    leaf("name", "name", "string", "name shown to people"),
    leaf("content_type", "contentType", "string", "content type"),
    leaf("document_type_code", "documentTypeCode.code", "code", "kind of document: code"),
    leaf("document_type", "documentTypeCode.label", "string", "kind of document: label"),
    leaf("type_of_information", "typeOfInformation", "code", "type of information"),
    leaf("format", "format", "string", "file format"),
    leaf("file_size", "fileSize", "integer", "size in bytes"),
    leaf("effective_start", "fileEffectiveStartDateTime", "unix_seconds", "valid from, UTC"),
    leaf("effective_end", "fileEffectiveEndDateTime", "unix_seconds", "valid until, UTC"),
    leaf("created_at", "createdAt", "timestamp", "created; local time without zone"),
    leaf("updated_at", "updatedAt", "timestamp", "last changed; local time without zone"),
)

_FLAGS = (
    leaf("is_consumer_unit", "isConsumerUnit", "boolean", "sold to consumers"),
    leaf("is_display_unit", "isDisplayUnit", "boolean", "display unit"),
    leaf("is_despatch_unit", "isDespatchUnit", "boolean", "despatch unit"),
    leaf("is_orderable_unit", "isOrderableUnit", "boolean", "can be ordered"),
    leaf("is_invoice_unit", "isInvoiceUnit", "boolean", "can be invoiced"),
)


def _child(name: str, row: str, *columns: Column, anchors: tuple[str, ...] = ()) -> Table:
    """Declare a table of rows that belong to products: the keys and the place on the wire are its first columns."""
    return Table(name, row, (*_KEYS, *_PLACE, *columns), anchors)


def _or_of_version(*columns: Column) -> Iterator[Column]:
    """Declare columns of a node that may be in its `version` instead."""
    # Deployed services send hierarchies in two shapes: {gtin, quantity, children, ...} with the attributes of the unit
    # beside these, and {version: {...}, gtin, quantity, children} with the attributes apart.
    for column in columns:
        yield replace(column, paths=(*column.paths, *(("version", *path) for path in column.paths)))


_PRODUCTS = Table(
    "products",
    "product",
    (
        *_KEYS,
        leaf("uuid", "uuid", "string", "universally unique id of the product"),
        leaf("json_version", "_jsonVersion", "integer", "version of the record's format"),
        leaf("created_at", "createdAt", "timestamp", "created; local time without zone"),
        leaf("updated_at", "updatedAt", "timestamp", "last changed by anybody; local time without zone"),
        *_FLAGS,
        leaf("is_promotional_item", "isPromotionalItem", "boolean", "promotional item"),
        leaf("is_nomadic", "isNomadic", "boolean", "consumed on the go"),
        leaf("is_marked_recyclable", "isMarkedRecyclable", "boolean", "marked as recyclable"),
        leaf("has_batch_number", "hasBatchNumber", "boolean", "carries a batch number"),
        leaf("life_cycle", "lifeCycle", "integer", "life cycle"),
        leaf("sharing_status", "manufacturerSharingStatus", "integer", "DRAFT=2, PENDING=3, ACCEPTED=4"),
        leaf("product_status", "targetProductStatus", "code", "status on the retailer's side"),
        leaf("validation_status", "validation.status", "integer", "0 none, 1 not OK, 2 OK, 3 correction"),
        leaf("suggestion_count", "validation.nbSuggestions", "integer", "open suggestions of the validation"),
        leaf("regulatory_status", "validation.regulatory_status", "code", "regulatory validation"),
        *coded("brand", "brand", "brand"),
        leaf("brand_picture_url", "brand.pictureUrl", "string", "brand: address of its picture"),
        *coded("kind", "kind", "kind (category)"),
        *coded("packaging", "typePackaging", "type of packaging (EACH, PACK, CASE, PALLET ...)"),
        leaf("gpc_code", "GPC.code", "code", "GS1 global product classification: brick code"),
        leaf("gpc", "GPC.label", "string", "GS1 global product classification: label"),
        leaf("owner_id", "owner.id", "code", "owner: id"),
        leaf("owner_uuid", "owner.uuid", "string", "owner: uuid"),
        leaf("owner", "owner.name", "string", "owner: name"),
        leaf("owner_type", "owner.type", "integer", "owner: 1 manufacturer, 2 retailer"),
        leaf("supplier_id", "supplierId", "code", "the supplier's own number"),
        leaf("unit_type", "unitType", "code", "unit type"),
        leaf("target_market", "product_key.target_market_id", "code", "market of this version"),
        leaf(
            "pictures_updated_at", "assets.lastUpdatedAt.pictures", "timestamp", "pictures changed; no zone"
        ),
        derived("has_pending_update", "boolean", "a change waits under lastRequest"),
    ),
    ("",),
)

_HIERARCHIES = _child(
    "hierarchies",
    "node of a logistical hierarchy or sharing unit, repeated for every product that shows the tree",
    derived("source", "string", "logisticalHierarchies or sharingUnits"),
    derived("level", "integer", "0 at the root"),
    derived("root_gtin", "string", "GTIN of the outermost unit"),
    derived("parent_gtin", "string", "GTIN of the unit around this one; none at the root"),
    leaf("node_gtin", "gtin", "string", "GTIN of this unit"),
    leaf("node_uuid", "uuid", "string", "uuid of this unit"),
    # Services leave quantities out; a missing one is unknown and never 1.
    leaf("quantity", "quantity", "number", "quantity in the parent; missing where the record has none"),
    derived("units_per_root", "number", "quantity in the root; missing where one on the way is"),
    *_or_of_version(
        leaf("packaging_code", "typePackaging.code", "code", "type of packaging: code"),
        leaf("packaging", "typePackaging.label", "string", "type of packaging: label"),
        *_FLAGS,
    ),
    leaf("active_listing", "activeListing", "boolean", "shared through a listing"),
    leaf("product_key_id", "product_key_id", "code", "key of the shared version"),
    anchors=("logisticalHierarchies", "sharingUnits"),
)

_TABLES = (
    _PRODUCTS,
    _child(
        "texts",
        "localized text item, at any depth",
        derived("language_code", "string", 'language and country as sent ("fra-FR")'),
        derived("language", "string", 'short language code ("fr")'),
        derived("text", "string", "the text, verbatim"),
    ),
    _child(
        "codes",
        "code value, at any depth (brand, kind and packaging are in products)",
        derived("code", "string", "the code, which never changes"),
        derived("label", "string", "its label in the language of the labels"),
        derived("description", "string", "its description"),
    ),
    _child(
        "quantities",
        "number with a unit, at any depth",
        derived("value", "number", "the number"),
        derived("unit_code", "string", 'unit: code ("GRM")'),
        derived("unit", "string", 'unit: label ("g")'),
    ),
    _child(
        "nutrients",
        "nutrient of one partition of a product",
        # The wire has the basis beside the list of nutrients; with it in each row nobody has to join by position.
        copied("partition", "name", "string", 'what the figures refer to ("100 g")'),
        copied("basis_quantity", "quantity", "number", "how much that is"),
        copied("basis_unit_code", "isMeasuredBy.code", "code", "and in which unit"),
        leaf("nutrient_code", "isConceptualizedBy.code", "code", "nutrient: GS1 code (ENER-, FAT ...)"),
        leaf("nutrient", "isConceptualizedBy.label", "string", "nutrient: label"),
        leaf("quantity", "quantity", "number", "how much of it"),
        leaf("unit_code", "expressedIn.code", "code", "unit: code (GRM, KJO, E14 = kcal)"),
        leaf("unit", "expressedIn.label", "string", "unit: label"),
        leaf("daily_percentage", "percentageOfDailyValueIntake", "number", "per cent of the daily intake"),
        anchors=("isPartitionedBy.contains",),
    ),
    _child(
        "scalars",
        "value of no other table",
        derived("type", "string", "string, number or boolean"),
        derived("value", "string", "the value as text; numbers by value (1.0 is 1), not spelling"),
    ),
    _child(
        "pictures",
        "picture",
        leaf("url", "url", "string", "address of the media file"),
        leaf("is_packshot", "isPackshot", "boolean", "marked as a packshot"),
        leaf("product_face", "productFace", "code", "1 front, 2 left, 3 top, 7 back, 8 right, 9 bottom"),
        leaf("type_of_information", "typeOfInformation", "code", "type of information"),
        leaf("content_type", "contentType", "code", "content type"),
        leaf("file_type", "fileType", "code", "file type"),
        leaf("angle_horizontal", "angleHorizontal", "integer", "horizontal angle, degrees"),
        leaf("angle_vertical", "angleVertical", "integer", "vertical angle, degrees"),
        leaf("sequence_number", "sequenceNumber", "integer", "sequence number"),
        leaf("definition", "definition", "string", 'size as text ("569 x 1200")'),
        leaf("width", "width", "integer", "width of the original, pixels"),
        leaf("height", "height", "integer", "height of the original, pixels"),
        leaf("resolution", "resolution", "string", "resolution as text"),
        leaf("resolution_x", "resolutionX", "integer", "dots per inch across"),
        leaf("resolution_y", "resolutionY", "integer", "dots per inch down"),
        leaf("ratio", "ratio", "string", "width to height as text"),
        leaf("format", "format", "string", "file format"),
        leaf("crc32", "crc32", "code", "checksum of the original"),
        leaf("gdsn_file_name", "gdsnFileName", "string", "GS1 file name"),
        leaf("origin_url", "uniformResourceIdentifierOrigin", "string", "where it came from"),
        leaf("effective_start", "fileEffectiveStartDateTime", "timestamp", "valid from; no zone"),
        leaf("effective_end", "fileEffectiveEndDateTime", "timestamp", "valid until; no zone"),
        leaf("created_at", "createdAt", "timestamp", "created; local time without zone"),
        leaf("updated_at", "updatedAt", "timestamp", "last changed; local time without zone"),
        anchors=("assets.pictures",),
    ),
    _child(
        "exportables",
        "rendition of a picture; its position begins with the picture's",
        leaf("url", "uniformResourceIdentifier", "string", "address of the file"),
        leaf("name", "name", "string", "name of the rendition"),
        leaf("width", "width", "integer", "pixels"),
        leaf("height", "height", "integer", "pixels"),
        leaf("file_size", "fileSize", "integer", "bytes"),
        leaf("quality", "quality", "code", "quality"),
        leaf("picture_id", "productpicture_id", "code", "id of the picture"),
        leaf("crc32", "crc32", "code", "checksum of the file"),
        leaf("created_at", "createdAt", "timestamp", "created; local time without zone"),
        leaf("updated_at", "updatedAt", "timestamp", "last changed; local time without zone"),
        anchors=("assets.pictures.exportables",),
    ),
    _child("documents", "document", *_ASSET, anchors=("assets.documents", "assets.document")),
    _child("videos", "video", *_ASSET, anchors=("assets.videos",)),
    _child("enriched_contents", "enriched content", *_ASSET, anchors=("assets.enriched_contents",)),
    _HIERARCHIES,
    _child(
        "labels",
        "label or certificate of a product (isLabeledBy)",
        leaf("label_code", "isConceptualizedBy.code", "code", "label: code"),
        leaf("label", "isConceptualizedBy.label", "string", "label: label"),
        leaf("description", "isConceptualizedBy.description", "string", "label: description"),
        leaf("picture_url", "isConceptualizedBy.pictureUrl", "string", "label: address of its picture"),
        leaf("value", "value", "code", "value"),
        # Services send dates, local times and UNIX seconds here, so that they are kept as sent.
        leaf("start_date", "startDate", "string", "from, as sent"),
        leaf("end_date", "endDate", "string", "until, as sent"),
        leaf("attributed_at", "attributedAt", "string", "attributed, as sent"),
        anchors=("isLabeledBy",),
    ),
    _child(
        "tags",
        "tag of a product (hasTags, isTaggedBy)",
        # `hasTags` holds objects and `isTaggedBy` texts: the empty path is the item itself.
        leaf("tag", "tag", "string", "name of the tag", ""),
        leaf("created_at", "createdAt", "timestamp", "added; local time without zone"),
        anchors=("hasTags", "isTaggedBy"),
    ),
    _child(
        "identifiers",
        "identifier of a product (isIdentifiedBy)",
        leaf("reference", "reference", "code", "the identifier"),
        anchors=("isIdentifiedBy", "specializes.isIdentifiedBy"),
    ),
    _child(
        "entities",
        "language, unit or currency that a record lists (presentEntities)",
        copied("referential", "referential.name", "string", "languages, netcontents, currencies ..."),
        derived("entity_code", "string", "code, described in descriptors"),
        derived("short_code", "string", "short code"),
        anchors=("expressedIn.presentEntities",),
    ),
    Table(
        "descriptors",
        "language, unit or entity descriptor, each once",
        (
            derived("code", "string", 'code ("fra-FR", "GRM")'),
            derived("short_code", "string", 'short code ("fr")'),
            derived("description", "string", "description"),
            derived("label", "string", "label"),
        ),
        per_product=False,
    ),
    Table(
        "code_labels",
        "label of a code in a further language, where such were requested",
        (
            derived("attribute", "string", "wire path of the code value"),
            derived("code", "string", "the code"),
            derived("label_language", "string", "language that was requested"),
            derived("label", "string", "its label in that language"),
            derived("description", "string", "its description in that language"),
        ),
        per_product=False,
    ),
    Table(
        "presence",
        "product, with a column for the state of each attribute seen (`brand_state`)",
        _KEYS[:1],
    ),
    Table("raw", "product, with its JSON as received", (*_KEYS, derived("json", "string", "the record"))),
)

#: Child tables whose rows are counted in `products`, as `<table>_count`.
COUNTED = tuple(t.name for t in _TABLES if t.per_product and t.name not in {"products", "presence", "raw"})

_COUNTS = tuple(derived(f"{name}_count", "integer", f"rows in {name}") for name in COUNTED)

#: Every table by its name, in the order in which people see them. `raw` is the last: it is the largest by far, and a
#: merge that has seen the others need not compare it.
TABLES: Mapping[str, Table] = {
    table.name: replace(table, columns=(*table.columns, *_COUNTS)) if table is _PRODUCTS else table
    for table in _TABLES
}


def data_dictionary(table: str) -> list[tuple[str, str, str, str]]:
    """Return name, Arrow type, wire path and meaning of each column of a table."""
    declared = TABLES[table]
    anchor = declared.anchors[0] if declared.anchors else ""
    return [
        (
            column.name,
            str(ARROW_TYPES[column.kind]),
            ".".join(filter(None, [anchor, *column.paths[0]])) if column.paths else "",
            column.meaning,
        )
        for column in declared.columns
    ]
