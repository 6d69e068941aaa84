"""The sections of a product's card as values, in the order of the card; its texts by language are in `texts`.

They are the header, the pictures, plain tables (labels, tags, identifiers, files, codes, quantities, nutrients), the
hierarchies, the update that waits for acceptance, and what an audit found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.errors import InputError
from prodex.exploration.card.record import (
    MOST,
    PACKINGS,
    PATHS,
    UNIT_FLAGS,
    CardRecord,
    CardTable,
    LabelledValue,
    Leaf,
    Row,
    item_text,
    language_text,
    leaves_of,
    order_of,
    product_leaves,
    table_of,
    value_text,
    why_missing,
)
from prodex.facts.market import market_label
from prodex.facts.name import NAME_PATHS, TEXT_COLUMNS, Names
from prodex.gtin import check_digit, from_upc_e, normal_form, with_all_digits
from prodex.languages.labels import attribute_label, attribute_title
from prodex.messages import percent
from prodex.quality import Audit
from prodex.quality.audit_part import AuditPart
from prodex.quality.check import Check
from prodex.quality.failures import failure_rows
from prodex.quality.picture_columns import FACES, FILE_NAME
from prodex.quality.rulebook import SEVERITIES
from prodex.quality.scores import counted, grades_of
from prodex.quality.states import State
from prodex.query import SharingStatus, ValidationStatus
from prodex.tables.attributes import path_keys
from prodex.tables.declaration import TABLES
from prodex.tables.fill_state import FillState, state_of
from prodex.tables.values import storable
from prodex.untrusted_text import Words, label, words

#: Labels of the columns with yes or no.
_FLAGS = {
    **UNIT_FLAGS,
    "is_promotional_item": "promotional item",
    "is_nomadic": "consumed on the go",
    "is_marked_recyclable": "marked recyclable",
    "has_batch_number": "batch number",
}
_NAMED: Mapping[str, type[IntEnum]] = {"sharing_status": SharingStatus, "validation_status": ValidationStatus}
_STATUSES = {
    "sharing_status": "Sharing",
    "validation_status": "Validation",
    "product_status": "Product status",
    "regulatory_status": "Regulatory",
    "suggestion_count": "Suggestions",
}


@dataclass(frozen=True)
class CardHeader:
    """The first part of a card.

    Attributes
    ----------
    name
        The name of the product, in the first language of its market that has one.
    name_is_pending
        Whether only a pending update has a name.
    gtin, digits
        The GTIN as sent, and the result of its check.
    gtin_is_valid
        Whether the GTIN passes the check.
    facts
        Brand, kind, owner, market, packaging.
    flags
        Properties by answer: yes, no, or why there is no answer.
    statuses
        The statuses of the product.
    """

    name: Words
    name_is_pending: bool
    gtin: Words
    digits: str
    gtin_is_valid: bool
    facts: tuple[LabelledValue, ...]
    flags: tuple[tuple[str, tuple[str, ...]], ...]
    statuses: tuple[LabelledValue, ...]


def read_header(record: CardRecord) -> CardHeader:
    """Return the header of a product's card."""
    product = record.product
    name, waits = _product_name(record)
    gtin = product["gtin"]
    problem = "no GTIN: " + why_missing(record, "gtin") if gtin is None else _gtin_problem(gtin)
    return CardHeader(
        name=label(name),
        name_is_pending=waits,
        gtin=words(gtin),
        digits=problem or "check digit correct",
        gtin_is_valid=not problem,
        facts=(
            _header_fact(record, "Brand", "brand", "brand_code"),
            _header_fact(record, "Kind", "kind", "kind_code"),
            _header_fact(record, "Owner", "owner", ""),
            _market_fact(record),
            _header_fact(record, "Packaging", "packaging", "packaging_code"),
        ),
        flags=tuple(_flags_by_answer(record)),
        statuses=tuple(_status_fact(record, column, term) for column, term in _STATUSES.items()),
    )


def _product_name(record: CardRecord) -> tuple[str | None, bool]:
    rows = [row for row in record.tables.get("texts", ()) if row["attribute"] in NAME_PATHS]
    texts = pa.table({name: pa.array([row[name] for row in rows], pa.string()) for name in TEXT_COLUMNS})
    names = Names.of(texts, np.zeros(len(rows), np.int64), pa.array([record.market], pa.string()))
    (row,) = names.rows().tolist()
    if row < 0:
        return None, False
    return names.text[row].as_py(), bool(names.is_pending[row])


def _gtin_problem(gtin: str) -> str:
    try:
        full = normal_form(gtin)
    except InputError:
        shown = label(gtin).text
        digits = "".join(one for one in shown if one.isascii() and one.isdigit())
        # The check digit is worth a sentence only if everything else is right: of other lengths it has no meaning.
        if (expanded := from_upc_e(digits)) is not None and shown == digits:
            return f"UPC-E with the right check digit; its GTIN is {expanded}"
        if shown == digits and (whole := with_all_digits(digits)) is not None:
            return f"{whole[0]} with the right check digit; with all 14 digits {whole[1]}"
        if shown == digits and len(digits) in {8, 12, 13, 14} and int(digits):
            return f"check digit {digits[-1]} is wrong, expected {check_digit(digits[:-1].zfill(13))}"
        return "not a GTIN: 14 digits expected"
    return "" if full == gtin else f"check digit correct; with all 14 digits {full}"


def _header_fact(record: CardRecord, term: str, name: str, code: str) -> LabelledValue:
    value, coded = record.product[name], record.product.get(code) if code else None
    missing = why_missing(record, PATHS[code or name].rpartition(".")[0])
    if value is None:
        return LabelledValue(term, label(coded), missing=missing)
    return LabelledValue(term, label(value), label(None if coded == value else coded), missing)


def _market_fact(record: CardRecord) -> LabelledValue:
    own = record.product["target_market"]
    number = record.market
    if number is None:
        return LabelledValue("Market", words(None), missing=why_missing(record, PATHS["target_market"]))
    name = market_label(number)
    # Without a market of its own the product is judged by that of the query, so the card says where it is from.
    note = number if own else f"{number}, from the query"
    return LabelledValue("Market", label(name), label(None if note == name else note))


def _flags_by_answer(record: CardRecord) -> Iterator[tuple[str, tuple[str, ...]]]:
    answers: dict[str, list[str]] = {}
    for column, name in _FLAGS.items():
        value = record.product[column]
        answer = _no_answer(record, column) if value is None else "yes" if value else "no"
        answers.setdefault(answer, []).append(name)
    # Grouped by answer, since of ten properties most have the same one.
    for answer in ("yes", "no", *sorted(answers.keys() - {"yes", "no"})):
        if answer in answers:
            yield answer, tuple(answers[answer])


def _no_answer(record: CardRecord, column: str) -> str:
    gap = why_missing(record, PATHS[column])
    return str(gap) if gap is FillState.NOT_ASKED else f"not specified ({gap})"


def _status_fact(record: CardRecord, column: str, term: str) -> LabelledValue:
    value = record.product[column]
    if value is None:
        return LabelledValue(term, words(None), missing=why_missing(record, PATHS[column]))
    if column in _NAMED:
        # The service may have a status that is newer than this release: it is shown as its number.
        known = {int(one): one.name for one in _NAMED[column]}
        number = value_text(value if value in known else None)
        return LabelledValue(term, value_text(known.get(value, value)), number)
    return LabelledValue(term, value_text(value))


#: Pictures that are shown; most products have fewer than ten.
_MOST_PICTURES = 60
#: Labels of what is shown of a picture at once, and in its fold.
_FACTS = {
    "gdsn_file_name": "file name",
    "format": "format",
    "effective_start": "valid from",
    "effective_end": "valid until",
    "created_at": "created",
    "updated_at": "updated",
}
_MORE = {
    "url": "address",
    "origin_url": "original address",
    "crc32": "checksum",
    "definition": "size as text",
    "ratio": "ratio",
    "resolution": "resolution",
    "resolution_x": "dots per inch across",
    "resolution_y": "dots per inch down",
    "type_of_information": "type of information",
    "content_type": "content type",
    "file_type": "file type",
    "product_face": "product face",
    "angle_horizontal": "horizontal angle",
    "angle_vertical": "vertical angle",
    "sequence_number": "sequence number",
}
_RENDITIONS = {
    "name": "name",
    "width": "width",
    "height": "height",
    "bytes": "file_size",
    "quality": "quality",
    "picture": "picture_id",
    "checksum": "crc32",
    "created": "created_at",
    "updated": "updated_at",
    "address": "url",
}


@dataclass(frozen=True)
class CardPicture:
    """The description of a picture.

    Attributes
    ----------
    position
        Its key.
    title
        What it shows.
    is_packshot
        Whether the record says that it is a packshot.
    size
        Width and height of the original.
    facts, more
        Further values, shown at once and in a fold.
    disagreements
        Where the record contradicts itself or the product.
    renditions
        Smaller files of it.
    """

    position: str
    title: Words
    is_packshot: bool
    size: str
    facts: tuple[LabelledValue, ...]
    more: tuple[LabelledValue, ...]
    disagreements: tuple[str, ...]
    renditions: CardTable


@dataclass(frozen=True)
class CardPictures:
    """The pictures that are shown, of how many; renditions that belong to none of them; and why there are none."""

    rows: tuple[CardPicture, ...]
    total: int
    strays: CardTable
    missing: str


def pictures(record: CardRecord) -> CardPictures:
    """Return the pictures of a product."""
    rows = list(record.rows("pictures"))
    renditions: dict[str, list[Row]] = {}
    for row in record.rows("exportables"):
        renditions.setdefault(row["position"].rpartition(".")[0], []).append(row)
    shown = rows[:_MOST_PICTURES]
    made = tuple(_card_picture(record, row, renditions.pop(row["position"], [])) for row in shown)
    # Renditions of pictures beyond the limit, or of positions that no picture has.
    strays = [row for left in renditions.values() for row in left]
    return CardPictures(
        made,
        len(rows),
        table_of("Renditions of other pictures", _RENDITIONS, strays, numeric=_NUMERIC),
        str(why_missing(record, "assets.pictures")),
    )


_NUMERIC = ("width", "height", "bytes")


def _card_picture(record: CardRecord, row: Row, renditions: list[Row]) -> CardPicture:
    number = row["product_face"]
    shows = FACES.get(number, f"face {number}") if number is not None else "face not specified"
    width, height = (f"{row[side]:,}" if row[side] is not None else "?" for side in ("width", "height"))
    return CardPicture(
        position=row["position"],
        title=words(shows, 400),
        is_packshot=row["is_packshot"] is True,
        size="size not specified" if width == height == "?" else f"{width} × {height} pixels",
        facts=(
            LabelledValue("packshot", value_text(row["is_packshot"]), missing="not specified"),
            *_labelled_values(row, _FACTS),
        ),
        more=_labelled_values(row, _MORE),
        disagreements=tuple(_disagreements(record, row)),
        renditions=table_of("Renditions", _RENDITIONS, renditions, numeric=_NUMERIC),
    )


def _labelled_values(row: Row, terms: Mapping[str, str]) -> tuple[LabelledValue, ...]:
    return tuple(
        LabelledValue(term, value_text(row[column]))
        for column, term in terms.items()
        if row[column] is not None
    )


def _disagreements(record: CardRecord, row: Row) -> Iterator[str]:
    name = row["gdsn_file_name"] or ""
    # GS1 names a picture by its GTIN (characters 1 to 14) and what it shows (character 17 is the face).
    if re.search(FILE_NAME, name):
        gtin = (record.product["gtin"] or "").zfill(14)
        if record.product["gtin"] is not None and name[:14] != gtin:
            yield "The file name contains another GTIN."
        if row["product_face"] in FACES and name[16] in FACES and name[16] != row["product_face"]:
            yield f"The file name says {FACES[name[16]]}, productFace says {FACES[row['product_face']]}."
    elif name:
        yield "The file name does not follow the GS1 pattern."
    # Suppliers type the size as text as well; one that was typed for another picture is seen here.
    stated = re.fullmatch(r"\s*([0-9]{1,6})\s*[x×*]\s*([0-9]{1,6})\s*", row["definition"] or "")
    if stated and None not in (row["width"], row["height"]):
        as_text = (int(stated[1]), int(stated[2]))
        if as_text != (row["width"], row["height"]):
            yield f"The size as text is {as_text[0]:,} × {as_text[1]:,}."


class _Section(NamedTuple):
    """A table: its title, the catalogue's tables and wire paths that it shows, and headings with columns."""

    title: str
    tables: tuple[str, ...]
    paths: tuple[str, ...]
    columns: Mapping[str, str]


_FILE = {
    "what": "kind",
    "file": "file_name",
    "name": "name",
    "document": "document_type",
    "code": "document_type_code",
    "information": "type_of_information",
    "format": "format",
    "content type": "content_type",
    "bytes": "file_size",
    "valid from": "effective_start",
    "valid until": "effective_end",
    "created": "created_at",
    "updated": "updated_at",
    "address": "uniform_resource_identifier",
    "other address": "url",
}
_LABEL = {
    "label": "label",
    "code": "label_code",
    "description": "description",
    "value": "value",
    "from": "start_date",
    "until": "end_date",
    "attributed": "attributed_at",
    "picture address": "picture_url",
}

_SECTIONS = (
    _Section("Labels and certificates", ("labels",), ("isLabeledBy",), _LABEL),
    _Section(
        "Tags",
        ("tags",),
        ("hasTags", "isTaggedBy"),
        {"tag": "tag", "added": "created_at", "attribute": "attribute"},
    ),
    _Section(
        "Identifiers",
        ("identifiers",),
        ("isIdentifiedBy", "specializes.isIdentifiedBy"),
        {"identifier": "reference", "attribute": "attribute"},
    ),
    _Section(
        "Documents, videos and enriched contents",
        ("documents", "videos", "enriched_contents"),
        ("assets.documents", "assets.videos", "assets.enriched_contents"),
        _FILE,
    ),
    _Section(
        "Languages, units and currencies used",
        ("entities",),
        ("expressedIn",),
        {"code": "entity_code", "short code": "short_code", "referential": "referential"},
    ),
    _Section(
        "Other values",
        ("scalars",),
        (),
        {"attribute": "attribute", "value": "value", "type": "type", "item": "item"},
    ),
)
_KINDS = {"documents": "document", "videos": "video", "enriched_contents": "enriched content"}


def sections(record: CardRecord) -> tuple[CardTable, ...]:
    """Return the tables; a table without rows says why there are none."""
    # An empty table is returned as well: the card lists it under "No data" with the reason.
    return tuple(
        table_of(
            one.title,
            one.columns,
            list(_section_rows(record, one)),
            numeric=("bytes",),
            missing=_why_empty(record, one),
        )
        for one in _SECTIONS
    )


def _section_rows(record: CardRecord, section: _Section) -> Iterator[Row]:
    for table in section.tables:
        rows = [{**row, "kind": _KINDS.get(table)} for row in record.rows(table)]
        yield from _distinct_tags(rows) if table == "tags" else rows


def _distinct_tags(rows: Sequence[Row]) -> list[Row]:
    """Return tags, each once: a record lists a tag with its date, and may list it again by its name alone."""
    dated = [row for row in rows if row["created_at"] is not None]
    listed = {row["tag"]: row["attribute"] for row in rows if row["created_at"] is None}
    both = [
        {**row, "attribute": f"{row['attribute']}, {listed[row['tag']]}"} if row["tag"] in listed else row
        for row in dated
    ]
    named = {row["tag"] for row in dated}
    return [*both, *(row for row in rows if row["created_at"] is None and row["tag"] not in named)]


#: Shown in the header, or as a code.
_ELSEWHERE = frozenset({"brand", "kind", "packaging", "gpc", "owner", "target_market"})


def numbers_and_dates(record: CardRecord) -> tuple[LabelledValue, ...]:
    """Return the columns of `products` that are shown nowhere else on a card."""
    shown = {
        path: record.product[column]
        for column, path in PATHS.items()
        if column not in _ELSEWHERE
        and not column.startswith(("is_", "has_"))
        and not column.endswith(("_status", "_description", "_code"))
    }
    facts = {"product_id": record.product_id, **shown}
    return tuple(LabelledValue(name, value_text(one)) for name, one in facts.items() if one is not None)


def _why_empty(record: CardRecord, section: _Section) -> str:
    """Return why a section has no data; which of its attributes only where they differ."""
    why = {path: str(why_missing(record, path)) for path in section.paths}
    if len(set(why.values())) > 1:
        return ", ".join(f"{attribute_label(path)} {state}" for path, state in why.items())
    return next(iter(why.values()), "none")


_SUFFIXES = {"label": "", "description": "_description"}


def codes(record: CardRecord) -> CardTable:
    """Return the codes with their labels, those of `products` first; labels in further languages as further columns."""
    every: list[dict[str, Any]] = []
    for column, path in PATHS.items():
        if column.endswith("_code"):
            name = column.removesuffix("_code")
            listed = {one: record.product.get(f"{name}{suffix}") for one, suffix in _SUFFIXES.items()}
            row = {"code": record.product[column], **listed}
            if any(value is not None for value in row.values()):
                every.append({"attribute": path.removesuffix(".code"), **row})
    every += map(dict, record.rows("codes"))
    languages = sorted({one for labels in record.code_labels.values() for one in labels})
    for place, row in enumerate(every):
        labels = record.code_labels.get((row["attribute"], row["code"]), {})
        every[place] = row | {
            f"{one} {kind}": text
            for one in languages
            for kind, text in zip(_SUFFIXES, labels.get(one, (None, None)), strict=True)
        }
    further = {f"{kind} ({one})": f"{one} {kind}" for one in languages for kind in _SUFFIXES}
    columns = {"attribute": "attribute", "code": "code", "label": "label", "description": "description"}
    return table_of("Codes", {**columns, **further, "item": "item"}, every)


#: Tables of nutrients that are shown: one for each amount of food.
_MOST_PARTITIONS = 12


def quantities(record: CardRecord) -> CardTable:
    """Return the numbers with a unit."""
    columns = {
        "attribute": "attribute",
        "value": "value",
        "unit": "unit",
        "unit code": "unit_code",
        "item": "item",
    }
    return table_of("Quantities", columns, list(record.rows("quantities")), numeric=("value",))


@dataclass(frozen=True)
class NutrientTables:
    """Tables of nutrients, one for each partition (per 100 g, per serving), with the number of all partitions."""

    tables: tuple[CardTable, ...]
    total: int
    missing: str


def nutrients(record: CardRecord) -> NutrientTables:
    """Return the nutrients by partition."""
    parts: dict[tuple[Any, ...], list[Row]] = {}
    for row in record.rows("nutrients"):
        # Two partitions may have the same name and basis; the item of the list that they are in distinguishes them.
        outer = row["position"].rpartition(".")[0]
        parts.setdefault(
            (row["attribute"], outer, row["partition"], row["basis_quantity"], row["basis_unit_code"]), []
        ).append(row)
    columns = {
        "nutrient": "nutrient",
        "code": "nutrient_code",
        "quantity": "quantity",
        "unit": "unit",
        "unit code": "unit_code",
        "% of the daily intake": "daily_percentage",
    }
    tables = tuple(
        table_of(_per(*key[2:]), columns, rows, numeric=("quantity", "% of the daily intake"))
        for key, rows in list(parts.items())[:_MOST_PARTITIONS]
    )
    return NutrientTables(tables, len(parts), str(why_missing(record, "isPartitionedBy")))


def _per(partition: str | None, quantity: float | None, unit: str | None) -> str:
    basis = " ".join(filter(None, ["" if quantity is None else value_text(quantity).text, label(unit).text]))
    if partition is None:
        return f"per {basis}" if basis else "basis not specified"
    return f"per {label(partition).text}" + (f" ({basis})" if basis else "")


#: Units of an attribute that are shown.
_MOST_UNITS = 400
#: Further values that are shown of a unit.
_MOST_FACTS = 60
#: Units that are packed deeper are shown at this level: browsers give up on elements that nest without end.
_DEEPEST = 24
#: The path of a value in a hierarchy: the attribute, the levels below the root, and the path in the unit.
_NODE = re.compile(rf"({'|'.join(PACKINGS)})((?:\.children)*)(?:\.version)?\.(.+)", re.DOTALL)
_TITLES = {"logisticalHierarchies": "Logistical hierarchies", "sharingUnits": "Sharing units"}


@dataclass(frozen=True)
class CardUnit:
    """A unit of a hierarchy.

    Attributes
    ----------
    gtin, packaging
        What it is.
    quantity
        How many are packed in the unit around it; "" at the root.
    in_all
        How many are packed in the outermost unit; "" if that is the unit around it, and at the root.
    is_this
        Whether it is the product itself.
    is_active
        Whether it is shared through a listing; None if unknown.
    is_cycle
        Whether a unit with its own GTIN is around it.
    parents
        Number of units that it is packed in.
    flags
        Its uses.
    facts, facts_total
        Its further values that are shown, and the number of all.
    units
        The units that are packed in it.
    """

    gtin: Words
    packaging: Words
    quantity: str
    in_all: str
    is_this: bool
    is_active: bool | None
    is_cycle: bool
    parents: int
    flags: tuple[str, ...]
    facts: tuple[LabelledValue, ...]
    facts_total: int
    units: tuple[CardUnit, ...]


@dataclass(frozen=True)
class HierarchyTrees:
    """The trees of one attribute.

    Attributes
    ----------
    title
        The title of the attribute.
    roots
        The outermost units.
    shown, total
        Number of units that are shown, and of all units.
    facts, facts_total
        Values in the hierarchies that belong to no unit shown, and the number of all such values.
    missing
        Why there are no units, if there are none.
    """

    title: str
    roots: tuple[CardUnit, ...]
    shown: int
    total: int
    facts: tuple[LabelledValue, ...]
    facts_total: int
    missing: str


def read_hierarchies(record: CardRecord) -> tuple[HierarchyTrees, ...]:
    """Return the logistical hierarchies and the sharing units of a product."""
    return tuple(_hierarchy_trees(record, source) for source in PACKINGS)


def _hierarchy_trees(record: CardRecord, source: str) -> HierarchyTrees:
    every = sorted(_hierarchy_rows(record, source), key=lambda row: order_of(row["position"]))
    rows = every[:_MOST_UNITS]
    places = {row["position"] for row in rows}
    facts = _facts_by_unit(record, source, places)
    above = {row["position"]: _unit_around(row["position"], places) for row in rows}
    gtins = {row["position"]: row["node_gtin"] for row in rows}
    parents: dict[str, set[str | None]] = {}
    for place, around in above.items():
        if gtins[place] and around:
            parents.setdefault(gtins[place], set()).add(gtins[around] or around)
    # Values of units beyond the limit, and of positions that have no unit: they are counted and never dropped.
    strays = [fact for place, found in facts.items() if place not in places for fact in found]
    inside: dict[str, list[CardUnit]] = {}
    for row in reversed(rows):  # from the inside out: a unit is frozen, so the units in it are made before it
        place = row["position"]
        unit = _hierarchy_unit(
            record,
            row,
            is_cycle=bool(gtins[place]) and gtins[place] in _gtins_around(place, above, gtins),
            parents=len(parents.get(gtins[place], ())),
            facts=tuple(facts.get(place, ())[:_MOST_FACTS]),
            facts_total=len(facts.get(place, ())),
            units=tuple(reversed(inside.pop(place, []))),
        )
        inside.setdefault(_shown_in(place, above), []).append(unit)
    return HierarchyTrees(
        title=_TITLES[source],
        roots=tuple(reversed(inside.get("", []))),
        shown=len(rows),
        total=len(every),
        facts=tuple(strays[:_MOST_FACTS]),
        facts_total=len(strays),
        missing=str(why_missing(record, source)),
    )


def _hierarchy_rows(record: CardRecord, source: str) -> Iterator[Row]:
    for row in record.tables.get("hierarchies", ()):
        if row["source"] == source and row["attribute"].startswith(source):
            yield row


def _hierarchy_unit(record: CardRecord, row: Row, **of_tree: object) -> CardUnit:
    quantity, units = row["quantity"], row["units_per_root"]
    inside = "unknown" if quantity is None else value_text(quantity).text
    in_all = "total unknown" if units is None else f"= {value_text(units).text} in total"
    return CardUnit(
        gtin=label(row["node_gtin"]),
        packaging=label(row["packaging"] or row["packaging_code"]),
        quantity="" if row["level"] == 0 else f"× {inside}",
        in_all="" if row["level"] < 2 else in_all,
        # The record marks no unit as the product itself, so it is found by its GTIN.
        is_this=_are_same_gtin(row["node_gtin"], record.product["gtin"]),
        is_active=row["active_listing"],
        flags=tuple(name for column, name in UNIT_FLAGS.items() if row[column]),
        **of_tree,  # type: ignore[arg-type]
    )


def _facts_by_unit(record: CardRecord, source: str, places: set[str]) -> dict[str, list[LabelledValue]]:
    """Return the values of each unit that the tree itself does not show, by position."""
    found: dict[str, list[LabelledValue]] = {}
    for row in _hierarchy_rows(record, source):
        if row["position"] in places:
            unlike = [name for column, name in UNIT_FLAGS.items() if row[column] is False]
            values = {
                "quantity": row["quantity"] if row["level"] == 0 else None,
                "packaging code": row["packaging_code"] if row["packaging"] else None,
                "uuid": row["node_uuid"],
                "product_key_id": row["product_key_id"],
                "is not": ", ".join(unlike) or None,
                "active listing": row["active_listing"],
            }
            facts = found.setdefault(row["position"], [])
            facts += [LabelledValue(term, value_text(one)) for term, one in values.items() if one is not None]
    for table in record.tables:
        # The tree itself shows `hierarchies`; the others have no rows of units.
        if table in {"hierarchies", "products", "presence", "raw"}:
            continue
        for row in record.packed(table):
            if (match := _NODE.fullmatch(row["attribute"])) and match[1] == source:
                level = match[2].count(".children")
                place = ".".join(row["position"].split(".")[: level + 1])
                for line in leaves_of(table, {**row, "attribute": match[3]}):
                    spoken = label(line.place if table == "texts" else None)
                    fact = LabelledValue(line.attribute, words(line.value, MOST), spoken)
                    found.setdefault(place, []).append(fact)
    return found


def _unit_around(position: str, places: set[str]) -> str:
    """Return the position of the nearest unit around another; "" if there is none."""
    outer = position.rpartition(".")[0]
    while outer and outer not in places:
        outer = outer.rpartition(".")[0]
    return outer


def _shown_in(place: str, above: dict[str, str]) -> str:
    outer = above[place]
    # A unit below the deepest level is shown with its ancestor at that level.
    while outer and outer.count(".") >= _DEEPEST:
        outer = above[outer]
    return outer


def _gtins_around(place: str, above: dict[str, str], gtins: dict[str, str | None]) -> Iterator[str | None]:
    """Yield the GTINs of the units around one."""
    while place := above[place]:
        yield gtins[place]


def _are_same_gtin(one: str | None, other: str | None) -> bool:
    # GTINs of 8, 12 and 13 digits are the same with zeros in front.
    return bool(one) and bool(other) and str(one).zfill(14) == str(other).zfill(14)


_MOST_CHANGES = 300


@dataclass(frozen=True)
class PendingChange:
    """A value that the update would change.

    Attributes
    ----------
    attribute
        Wire path, without `lastRequest`.
    place
        The language of a text, or the item of a list.
    now, then
        The current values, and those of the update.
    missing
        Why there is no current value, if there is none.
    emptied
        What would be there instead of a value that the update removes.
    """

    attribute: Words
    place: Words
    now: tuple[Words, ...]
    then: tuple[Words, ...]
    missing: str
    emptied: str


@dataclass(frozen=True)
class PendingUpdate:
    """The changes of a pending update.

    Attributes
    ----------
    changes, total
        The changes that are shown, and the number of all.
    same
        Number of values that the update repeats unchanged.
    """

    changes: tuple[PendingChange, ...]
    total: int
    same: int


def read_pending_update(record: CardRecord) -> PendingUpdate | None:
    """Return what a pending update would change, or None if there is no pending update."""
    if not record.product["has_pending_update"]:
        return None
    then = _values_by_place(
        line for table in _TABLES for row in record.waiting(table) for line in leaves_of(table, row)
    )
    emptied = _removed_attributes(record)
    # A top-level attribute that the update does not name stays as it is, so only the others are compared.
    brought = {*(_top_attribute(attribute) for attribute, _ in then), *emptied}
    own = (
        line for table in _TABLES for row in record.tables.get(table, ()) for line in leaves_of(table, row)
    )
    now = _values_by_place(
        line for line in (*product_leaves(record), *own) if _top_attribute(line.attribute) in brought
    )
    bare: set[tuple[str, str]] = {(name, "") for name in emptied} - {
        (_top_attribute(attribute), "") for attribute, _ in now
    }
    # An attribute of the update replaces the whole attribute: a language that it leaves out would be removed.
    places = [
        place for place in sorted({*then, *now, *bare}) if now.get(place) != then.get(place) or place in bare
    ]
    changes = [
        PendingChange(
            words(attribute_title(attribute), 1_000),
            language_text(place) if _is_spoken(place) else words(item_text(place)),
            _all_words(now.get((attribute, place), ())),
            _all_words(then.get((attribute, place), ())),
            str(why_missing(record, attribute)),
            emptied.get(_top_attribute(attribute), "no longer there"),
        )
        for attribute, place in places[:_MOST_CHANGES]
    ]
    same = sum(now.get(key) == value for key, value in then.items())
    return PendingUpdate(tuple(changes), len(places), same)


#: The tables with a row for each value: the others have no rows of updates.
_TABLES = tuple(
    name for name, table in TABLES.items() if table.per_product and "attribute" in table.schema.names
)


def _values_by_place(lines: Iterable[Leaf]) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = {}
    for line in lines:
        found.setdefault((line.attribute, line.place), []).append(line.value)
    return found


def _removed_attributes(record: CardRecord) -> dict[str, str]:
    """Return the attributes that the update removes, with what would be there instead: null or empty."""
    waiting = record.wire.get("lastRequest")
    taken = waiting.items() if isinstance(waiting, dict) else ()
    return {
        storable(name): shown
        for name, value in taken
        if (shown := state_of(value)) not in {FillState.FILLED, record.presence(storable(name))}
    }


def _top_attribute(attribute: str) -> str:
    return path_keys(attribute)[0]


def _all_words(values: Iterable[str]) -> tuple[Words, ...]:
    return tuple(words(value, MOST) for value in values)


def _is_spoken(place: str) -> bool:
    # The place of a leaf is a language or a position, and a position has digits and dots only.
    return bool(place) and not place.replace(".", "").isdecimal()


#: A product with texts in a hundred languages can have a finding in each of them.
_MOST_FINDINGS = 200


@dataclass(frozen=True)
class CheckFinding:
    """A reason why a check fails: attribute, language, the value found, and what is wrong."""

    attribute: Words
    language: Words
    value: Words
    reason: Words


@dataclass(frozen=True)
class FailedCheck:
    """A failed check with its findings."""

    facts: Check
    findings: tuple[CheckFinding, ...]


@dataclass(frozen=True)
class ProductAudit:
    """The result of an audit for a product.

    Attributes
    ----------
    score, grade, ready
        As they are shown.
    failed
        The failed checks, worst first.
    findings, findings_total
        Number of findings that are shown, and of all findings.
    passed, unknown, not_applicable
        The other checks.
    crashes
        Why a rule crashed, by the id of its check.
    wanted
        Attributes with languages that the checks look for in this product.
    """

    score: str
    grade: str
    ready: str
    failed: tuple[FailedCheck, ...]
    findings: int
    findings_total: int
    passed: tuple[Check, ...]
    unknown: tuple[Check, ...]
    not_applicable: tuple[Check, ...]
    crashes: dict[str, Words]
    wanted: tuple[tuple[str, str | None], ...]


def read_product_audit(audit: Audit, product_id: str) -> ProductAudit | None:
    """Return the result of an audit for a product, or None if the audit does not cover it."""
    for part in audit.parts:
        place = pc.index(part.column("product_id"), pa.scalar(product_id)).as_py()
        if place >= 0:
            # A part with one product: a card cannot disagree with its audit.
            return next(_product_audits(audit, part.taken(np.arange(part.size) == place)))[1]
    return None


class ProductAudits:
    """The results of an audit for all of its products, of which each is asked for in turn.

    Parameters
    ----------
    audit
        The audit.
    """

    def __init__(self, audit: Audit) -> None:
        self._left = (found for part in audit.parts for found in _product_audits(audit, part))
        self._read: dict[str, ProductAudit] = {}

    def of(self, product_id: str) -> ProductAudit | None:
        """Return the result for a product, or None if the audit does not cover it."""
        while product_id not in self._read and (found := next(self._left, None)) is not None:
            self._read[found[0]] = found[1]
        return self._read.pop(product_id, None)


def _product_audits(audit: Audit, part: AuditPart) -> Iterator[tuple[str, ProductAudit]]:
    """Yield the products of a part, each with its result."""
    tally = counted([part.states], audit.checks)
    grades = grades_of(tally, audit.grade_with_blocker)
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in failure_rows(part, audit.checks, accepted=audit.accepted_in(part)).to_pylist():
        rows.setdefault(row["product_id"], []).append(row)
    # A rule may be one of the user: its message is as long as it likes.
    crashes = {crash.check: words(crash.message, 1_000) for crash in part.crashes}
    severities = list(SEVERITIES)
    failing = sorted(audit.checks, key=lambda one: severities.index(one.severity))
    figures = tally[["score", "not_ready", "undecided"]].itertuples(index=False, name=None)
    ids = part.column("product_id").to_pylist()
    for product_id, grade, own, (score, not_ready, undecided) in zip(
        ids, grades, part.states.tolist(), figures, strict=True
    ):
        states = dict(zip((one.id for one in audit.checks), own, strict=True))
        found = rows.get(product_id, [])
        listed: dict[str, list[CheckFinding]] = {}
        for row in found[:_MOST_FINDINGS]:
            listed.setdefault(row["check"], []).append(_check_finding(row))
        yield (
            product_id,
            ProductAudit(
                score=percent(float(score)),
                grade=grade or "none",
                # An unknown blocker leaves it undecided: neither "yes" nor "no" would be true.
                ready="no" if not_ready else "undecided" if undecided else "yes",
                failed=tuple(
                    FailedCheck(one, tuple(listed.get(one.id, ())))
                    for one in failing
                    if states[one.id] == State.FAIL
                ),
                findings=min(len(found), _MOST_FINDINGS),
                findings_total=len(found),
                passed=tuple(one for one in audit.checks if states[one.id] == State.PASS),
                unknown=tuple(one for one in audit.checks if states[one.id] == State.UNKNOWN),
                not_applicable=tuple(one for one in audit.checks if states[one.id] == State.NOT_APPLICABLE),
                crashes=crashes,
                wanted=tuple(
                    dict.fromkeys(
                        (one.attribute, one.language)
                        for state in (State.FAIL, State.PASS, State.UNKNOWN)
                        for one in audit.checks
                        if states[one.id] == state and one.attribute and one.language
                    )
                ),
            ),
        )


def _check_finding(row: dict[str, Any]) -> CheckFinding:
    return CheckFinding(
        label(None if row["attribute"] is None else attribute_title(row["attribute"])),
        label(row["language"]),
        words(row["value"], 2_000),
        words(f"{row['reason']}{_accepted_words(row)}", 2_000),
    )


def _accepted_words(row: dict[str, Any]) -> str:
    """Return why a finding is accepted, behind its reason."""
    return "" if row["accepted"] is None else f" (accepted by {row['accepted_by']}: {row['accepted']})"
