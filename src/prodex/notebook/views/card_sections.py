"""The sections of a product's card, from its record to what is shown: its texts are in `card_texts`.

They are the header, the pictures, plain tables (labels, tags, identifiers, files, codes, quantities, nutrients), the
hierarchies, and the update that waits for acceptance.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from typing import Any, NamedTuple

from prodex.errors import InputError
from prodex.exploration.card.record import (
    MOST,
    PACKINGS,
    PATHS,
    UNIT_FLAGS,
    CardRecord,
    Leaf,
    Row,
    item_text,
    language_text,
    leaves_of,
    order_of,
    product_leaves,
    value_text,
    why_missing,
)
from prodex.facts.market import market_label
from prodex.gtin import check_digit, from_upc_e, normal_form, with_all_digits
from prodex.languages.labels import attribute_label, attribute_title
from prodex.notebook.session.actions import Block
from prodex.notebook.views.blocks import box, heading, listed, paragraph, row, typed_text
from prodex.notebook.views.card_blocks import (
    NOTHING,
    fact,
    facts,
    facts_of,
    folded_facts,
    folded_grid,
    grid,
    mark,
    nothing,
    of,
    part,
    plain_table,
    spaced,
    typed_or,
)
from prodex.phrases import counted
from prodex.quality.picture_columns import FACES, FILE_NAME
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
_NAMELESS = "This name is part of the pending update. The product itself has no name."


def header_blocks(record: CardRecord, name: Words) -> list[Block]:
    """Return what a product is: name, GTIN, brand, kind, owner, market, its status and its properties."""
    gtin = record.product["gtin"]
    problem = f"no GTIN: {why_missing(record, 'gtin')}" if gtin is None else _gtin_problem(gtin)
    named: list[Any] = [mark("GTIN ", "muted", key="label"), {"gap": "none"}]
    if gtin is not None:
        named = [{"kind": "copy", "key": "copy", "label": "GTIN (copy)", "text": words(gtin).text}]
    checked = mark(f"✗ {problem}", "digits bad") if problem else mark("✓ check digit correct", "digits good")
    about = (
        _header_fact(record, "Brand", "brand", "brand_code"),
        _header_fact(record, "Kind", "kind", "kind_code"),
        _header_fact(record, "Owner", "owner", ""),
        _market_fact(record),
        _header_fact(record, "Packaging", "packaging", "packaging_code"),
    )
    statuses = [_status_fact(record, column, term) for column, term in _STATUSES.items()]
    pending = [" ", mark("update pending", "mark")] if record.product["has_pending_update"] else []
    return [
        heading([typed_or(name, "without a name"), *pending], key="name"),
        *([paragraph(_NAMELESS, key="nameless", tone="muted")] if record.named.is_pending else []),
        row(
            paragraph([*named, " ", checked], key="gtin"),
            facts(about, key="head-facts"),
            key="top",
            look="top",
        ),
        box(
            part("Status", facts(statuses, key="statuses")),
            part("Properties", listed(_flags_by_answer(record), key="flags", tone="flags")),
            key="states",
            look="states",
        ),
    ]


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


def _header_fact(record: CardRecord, term: str, name: str, code: str) -> Block:
    value, coded = record.product[name], record.product.get(code) if code else None
    missing = why_missing(record, PATHS[code or name].rpartition(".")[0])
    if value is None:
        return fact(term, label(coded), missing=missing)
    return fact(term, label(value), label(None if coded == value else coded), missing)


def _market_fact(record: CardRecord) -> Block:
    number = record.named.market
    if number is None:
        return fact("Market", NOTHING, missing=why_missing(record, PATHS["target_market"]))
    name = market_label(number)
    # Without a market of its own the product is judged by that of the query, so the card says where it is from.
    note = number if record.product["target_market"] else f"{number}, from the query"
    return fact("Market", label(name), label(None if note == name else note))


def _flags_by_answer(record: CardRecord) -> Iterator[list[Block]]:
    answers: dict[str, list[str]] = {}
    for column, name in _FLAGS.items():
        value = record.product[column]
        answer = _no_answer(record, column) if value is None else "yes" if value else "no"
        answers.setdefault(answer, []).append(name)
    # Grouped by answer, since of ten properties most have the same one.
    for answer in ("yes", "no", *sorted(answers.keys() - {"yes", "no"})):
        if answer in answers:
            look = "yes" if answer == "yes" else "others"
            yield [mark(answer, "answer"), mark(", ".join(answers[answer]), f"flags {look}")]


def _no_answer(record: CardRecord, column: str) -> str:
    gap = why_missing(record, PATHS[column])
    return str(gap) if gap is FillState.NOT_ASKED else f"not specified ({gap})"


def _status_fact(record: CardRecord, column: str, term: str) -> Block:
    value = record.product[column]
    if value is None:
        return fact(term, NOTHING, missing=why_missing(record, PATHS[column]))
    # The service may have a status that is newer than this release: it is shown as its number.
    known = {int(one): one.name for one in _NAMED.get(column, ())}
    return fact(term, value_text(known.get(value, value)), value_text(value if value in known else None))


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
_NUMERIC = ("width", "height", "bytes")
_LOCAL = "Dates are in local time of the service, as it sent them."


class CardPicture(NamedTuple):
    """A picture as a card has it: its position in the record, what is said in its place, and what is known of it."""

    position: str
    alt: str
    about: Block


class CardPictures(NamedTuple):
    """The pictures that are shown: how many of all there are, and renditions that belong to none of them."""

    rows: tuple[CardPicture, ...]
    total: int
    above: Block
    strays: Block | None

    def blocks(self, images: Mapping[str, Block]) -> list[Block]:
        """Return the pictures with what is known of each.

        Parameters
        ----------
        images
            By position of a picture in the record, what is shown of it.
        """
        made = [
            [
                {"kind": "picture", "key": f"picture {one.position}", "alt": one.alt, **images[one.position]}
                if one.position in images
                else None,
                one.about,
            ]
            for one in self.rows
        ]
        return [one for one in (listed(made, key="pictures", tone="pictures"), self.strays) if one]


def pictures(record: CardRecord) -> CardPictures:
    """Return the pictures of a product."""
    rows = list(record.rows("pictures"))
    renditions: dict[str, list[Row]] = {}
    for one in record.rows("exportables"):
        renditions.setdefault(one["position"].rpartition(".")[0], []).append(one)
    made = tuple(
        _picture(record, number, one, renditions.pop(one["position"], []))
        for number, one in enumerate(rows[:_MOST_PICTURES], 1)
    )
    # Renditions of pictures beyond the limit, or of positions that no picture has.
    strays = [one for left in renditions.values() for one in left]
    title, more = "Renditions of other pictures", " of other pictures"
    above = nothing(str(why_missing(record, "assets.pictures")), "no-pictures")
    if made:
        said = f"{of(len(made), len(rows), 'picture')}. {_LOCAL}"
        above = paragraph(said, key="pictures-above", tone="muted")
    return CardPictures(
        made,
        len(rows),
        above,
        folded_grid(_RENDITIONS, strays, "rendition", title, key="strays", numeric=_NUMERIC, more=more),
    )


def _picture(record: CardRecord, number: int, it: Row, renditions: list[Row]) -> CardPicture:
    face = it["product_face"]
    shows = words(FACES.get(face, f"face {face}") if face is not None else "face not specified", 400)
    width, height = (f"{it[side]:,}" if it[side] is not None else "?" for side in ("width", "height"))
    size = "size not specified" if width == height == "?" else f"{width} × {height} pixels"
    title: list[Any] = [f"{number}. ", typed_text(shows), " ", mark(size, "size")]
    is_packshot = it["is_packshot"] is True
    more = facts_of({term: it[column] for column, term in _MORE.items()})
    name, key = f"Renditions of picture {number}", f"renditions {number}"
    about = box(
        heading([*title, " ", mark("packshot", "mark")] if is_packshot else title, key="title", level=5),
        listed(_disagreements(record, it), key="disagreements", tone="disagreements"),
        facts(
            [
                fact("packshot", value_text(it["is_packshot"]), missing="not specified"),
                *facts_of({term: it[column] for column, term in _FACTS.items()}),
            ],
            key="facts",
        ),
        row(
            folded_facts(counted(len(more), "more value"), more, f"more {number}", inside="more-facts"),
            folded_grid(_RENDITIONS, renditions, "rendition", name, key=key, numeric=_NUMERIC),
            key="folded",
            look="folded",
        ),
        key="about",
        look="about",
    )
    return CardPicture(
        it["position"], f"Picture {number}: {shows.text}{', packshot' if is_packshot else ''}", about
    )


def _disagreements(record: CardRecord, it: Row) -> Iterator[str]:
    name = it["gdsn_file_name"] or ""
    # GS1 names a picture by its GTIN (characters 1 to 14) and what it shows (character 17 is the face).
    if re.search(FILE_NAME, name):
        gtin = (record.product["gtin"] or "").zfill(14)
        if record.product["gtin"] is not None and name[:14] != gtin:
            yield "The file name contains another GTIN."
        if it["product_face"] in FACES and name[16] in FACES and name[16] != it["product_face"]:
            yield f"The file name says {FACES[name[16]]}, productFace says {FACES[it['product_face']]}."
    elif name:
        yield "The file name does not follow the GS1 pattern."
    # Suppliers type the size as text as well; one that was typed for another picture is seen here.
    stated = re.fullmatch(r"\s*([0-9]{1,6})\s*[x×*]\s*([0-9]{1,6})\s*", it["definition"] or "")
    if stated and None not in (it["width"], it["height"]):
        as_text = (int(stated[1]), int(stated[2]))
        if as_text != (it["width"], it["height"]):
            yield f"The size as text is {as_text[0]:,} × {as_text[1]:,}."


class CardTable(NamedTuple):
    """A table: its title, the catalogue's tables and wire paths that it shows, headings with columns, what a row is."""

    title: str
    tables: tuple[str, ...]
    paths: tuple[str, ...]
    columns: Mapping[str, str]
    noun: str = "row"
    numeric: tuple[str, ...] = ("bytes",)

    def part(self, rows: Sequence[Row]) -> Block:
        """Return it as a part of the card; one with many columns has the whole width."""
        shown = grid(self.columns, rows, self.noun, self.title, numeric=self.numeric)
        (_, table) = shown["blocks"]
        return part(self.title, shown, look="full" if len(table["columns"]) > _NARROW else "")


#: A table with more columns has the whole width.
_NARROW = 5
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
_CODES = {"attribute": "attribute", "code": "code", "label": "label", "description": "description"}
_QUANTITIES = {
    "attribute": "attribute",
    "value": "value",
    "unit": "unit",
    "unit code": "unit_code",
    "item": "item",
}
#: The tables beside the pictures' and the nutrients', in their order; the first two stand before the nutrients.
_TABLES_ABOVE = (
    CardTable("Codes", ("codes",), (), _CODES, "code"),
    CardTable("Quantities", ("quantities",), (), _QUANTITIES, "quantity", ("value",)),
)
_TABLES_BELOW = (
    CardTable("Labels and certificates", ("labels",), ("isLabeledBy",), _LABEL),
    CardTable(
        "Tags",
        ("tags",),
        ("hasTags", "isTaggedBy"),
        {"tag": "tag", "added": "created_at", "attribute": "attribute"},
    ),
    CardTable(
        "Identifiers",
        ("identifiers",),
        ("isIdentifiedBy", "specializes.isIdentifiedBy"),
        {"identifier": "reference", "attribute": "attribute"},
    ),
    CardTable(
        "Documents, videos and enriched contents",
        ("documents", "videos", "enriched_contents"),
        ("assets.documents", "assets.videos", "assets.enriched_contents"),
        _FILE,
    ),
    CardTable(
        "Languages, units and currencies used",
        ("entities",),
        ("expressedIn",),
        {"code": "entity_code", "short code": "short_code", "referential": "referential"},
    ),
    CardTable(
        "Other values",
        ("scalars",),
        (),
        {"attribute": "attribute", "value": "value", "type": "type", "item": "item"},
    ),
)
_KINDS = {"documents": "document", "videos": "video", "enriched_contents": "enriched content"}
_ZONES = (
    "Dates that name a time zone are in that of this machine. All others are in local time of the service, as it "
    "sent them."
)


def blocks_below(record: CardRecord) -> list[Block]:
    """Return what is below the pictures: hierarchies, all other tables, numbers and dates, and what has no data."""
    above, none_above = _tables(record, _TABLES_ABOVE)
    below, none_below = _tables(record, _TABLES_BELOW)
    numbers = (
        facts(facts_of(_numbers_and_dates(record)), key="facts"),
        paragraph(_ZONES, key="zones", tone="muted"),
    )
    without = listed([*none_above, *none_below], key="without")
    return [
        part("Hierarchy", *(block for source in PACKINGS for block in _hierarchy(record, source))),
        box(*above, key="codes", look="side"),
        _nutrients(record),
        box(*below, key="tables", look="side"),
        part("Numbers and dates", *numbers, look="wide"),
        *([part("No data", without)] if without else []),
    ]


def _tables(record: CardRecord, tables: Iterable[CardTable]) -> tuple[list[Block], list[str]]:
    """Return the tables that have rows, and of the others why there are none."""
    shown, without = [], []
    for declared in tables:
        one, rows = _read(record, declared)
        if rows:
            shown.append(one.part(rows))
        else:
            without.append(f"{one.title}: {_why_empty(record, one)}.")
    return shown, without


def _read(record: CardRecord, it: CardTable) -> tuple[CardTable, list[Row]]:
    """Return the rows of a table; of codes with a column for each language of their labels."""
    if it.tables == ("codes",):
        return _codes(record, it)
    rows: list[Row] = []
    for table in it.tables:
        own = [{**one, "kind": _KINDS.get(table)} for one in record.rows(table)]
        rows += _distinct_tags(own) if table == "tags" else own
    return it, rows


def _distinct_tags(rows: Sequence[Row]) -> list[Row]:
    """Return tags, each once: a record lists a tag with its date, and may list it again by its name alone."""
    dated = [one for one in rows if one["created_at"] is not None]
    by_name = {one["tag"]: one["attribute"] for one in rows if one["created_at"] is None}
    both = [
        {**one, "attribute": f"{one['attribute']}, {by_name[one['tag']]}"} if one["tag"] in by_name else one
        for one in dated
    ]
    named = {one["tag"] for one in dated}
    return [*both, *(one for one in rows if one["created_at"] is None and one["tag"] not in named)]


#: Shown in the header, or as a code.
_ELSEWHERE = frozenset({"brand", "kind", "packaging", "gpc", "owner", "target_market"})


def _numbers_and_dates(record: CardRecord) -> dict[str, Any]:
    """Return the columns of `products` that are shown nowhere else on a card."""
    shown = {
        path: record.product[column]
        for column, path in PATHS.items()
        if column not in _ELSEWHERE
        and not column.startswith(("is_", "has_"))
        and not column.endswith(("_status", "_description", "_code"))
    }
    return {"product_id": record.product_id, **shown}


def _why_empty(record: CardRecord, it: CardTable) -> str:
    """Return why a table has no data; which of its attributes only where they differ."""
    why = {path: str(why_missing(record, path)) for path in it.paths}
    if len(set(why.values())) > 1:
        return ", ".join(f"{attribute_label(path)} {state}" for path, state in why.items())
    return next(iter(why.values()), "none")


_SUFFIXES = {"label": "", "description": "_description"}


def _codes(record: CardRecord, it: CardTable) -> tuple[CardTable, list[Row]]:
    """Return the codes with their labels, those of `products` first; labels in further languages as further columns."""
    every: list[dict[str, Any]] = []
    for column, path in PATHS.items():
        if column.endswith("_code"):
            name = column.removesuffix("_code")
            of_code = {one: record.product.get(f"{name}{suffix}") for one, suffix in _SUFFIXES.items()}
            values = {"code": record.product[column], **of_code}
            if any(value is not None for value in values.values()):
                every.append({"attribute": path.removesuffix(".code"), **values})
    every += map(dict, record.rows("codes"))
    languages = sorted({one for labels in record.code_labels.values() for one in labels})
    for place, one in enumerate(every):
        labels = record.code_labels.get((one["attribute"], one["code"]), {})
        every[place] = one | {
            f"{language} {kind}": text
            for language in languages
            for kind, text in zip(_SUFFIXES, labels.get(language, (None, None)), strict=True)
        }
    further = {f"{kind} ({one})": f"{one} {kind}" for one in languages for kind in _SUFFIXES}
    return it._replace(columns={**it.columns, **further, "item": "item"}), [*every]


#: Tables of nutrients that are shown: one for each amount of food.
_MOST_PARTITIONS = 12
_NUTRIENTS = {
    "nutrient": "nutrient",
    "code": "nutrient_code",
    "quantity": "quantity",
    "unit": "unit",
    "unit code": "unit_code",
    "% of the daily intake": "daily_percentage",
}


def _nutrients(record: CardRecord) -> Block:
    """Return a table of nutrients for each partition (per 100 g, per serving)."""
    parts: dict[tuple[Any, ...], list[Row]] = {}
    for one in record.rows("nutrients"):
        # Two partitions may have the same name and basis; the item of the list that they are in distinguishes them.
        outer = one["position"].rpartition(".")[0]
        parts.setdefault(
            (one["attribute"], outer, one["partition"], one["basis_quantity"], one["basis_unit_code"]), []
        ).append(one)
    tables = [
        grid(
            _NUTRIENTS,
            rows,
            "nutrient",
            f"Nutrients, table {number}",
            numeric=("quantity", "% of the daily intake"),
            title=["Nutrients ", typed_text(_per(*key[2:]))],
        )
        for number, (key, rows) in enumerate([*parts.items()][:_MOST_PARTITIONS], 1)
    ]
    count = None
    if len(tables) < len(parts):
        count = paragraph(of(len(tables), len(parts), "table"), key="count")
    none = nothing(str(why_missing(record, "isPartitionedBy")), "none")
    return part("Nutrients", count, box(*tables, key="tables", look="side") if tables else none)


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


def _hierarchy(record: CardRecord, source: str) -> list[Block]:
    """Return the logistical hierarchies, or the sharing units, of a product as trees."""
    every = sorted(_hierarchy_rows(record, source), key=lambda one: order_of(one["position"]))
    rows = every[:_MOST_UNITS]
    places = {one["position"] for one in rows}
    known = _facts_by_unit(record, source, places)
    above = {one["position"]: _unit_around(one["position"], places) for one in rows}
    gtins = {one["position"]: one["node_gtin"] for one in rows}
    parents: dict[str, set[str | None]] = {}
    for place, around in above.items():
        if gtins[place] and around:
            parents.setdefault(gtins[place], set()).add(gtins[around] or around)
    inside: dict[str, list[list[Any]]] = {}
    for one in reversed(rows):  # from the inside out: the units in a unit are made before it
        place = one["position"]
        is_cycle = bool(gtins[place]) and gtins[place] in _gtins_around(place, above, gtins)
        packed_in = len(parents.get(gtins[place], ()))
        said = _unit(record, one, known.get(place, []), is_cycle=is_cycle, packed_in=packed_in)
        below = listed(reversed(inside.pop(place, [])), key="units", tone="tree")
        inside.setdefault(_shown_in(place, above), []).append([*said, " ", below])
    # Values of units beyond the limit, and of positions that have no unit: they are counted and never dropped.
    strays = [one for place, found in known.items() if place not in places for one in found]
    title = _TITLES[source]
    key, shown = f"hierarchy {title}", strays[:_MOST_FACTS]
    more = f"{of(len(shown), len(strays), 'value')} of units that are not shown"
    count = paragraph(of(len(rows), len(every), "unit"), key=f"{key} count", tone="muted")
    blocks = (
        heading(title, key=key, level=5),
        count if every else None,
        listed(reversed(inside.get("", [])), key=f"{key} units", tone="tree")
        or nothing(str(why_missing(record, source)), f"{key} none"),
        folded_facts(more, shown, f"{key} others"),
    )
    return [one for one in blocks if one]


def _hierarchy_rows(record: CardRecord, source: str) -> Iterator[Row]:
    for one in record.tables.get("hierarchies", ()):
        if one["source"] == source and one["attribute"].startswith(source):
            yield one


def _unit(record: CardRecord, it: Row, known: list[Block], *, is_cycle: bool, packed_in: int) -> list[Any]:
    quantity, units, shown = it["quantity"], it["units_per_root"], known[:_MOST_FACTS]
    times = f"× {'unknown' if quantity is None else value_text(quantity).text}"
    in_all = "total unknown" if units is None else f"= {value_text(units).text} in total"
    return spaced(
        mark(times, "times", key="times") if it["level"] else None,
        mark(typed_or(label(it["packaging"] or it["packaging_code"]), "packaging not specified"), "strong"),
        mark(typed_or(label(it["node_gtin"]), "no GTIN"), "gtin"),
        mark(in_all, "times", key="in-all") if it["level"] >= 2 else None,
        # The record marks no unit as the product itself, so it is found by its GTIN.
        _are_same_gtin(it["node_gtin"], record.product["gtin"])
        and mark("this product", "mark this", key="this"),
        it["active_listing"] and mark("active listing", "mark", key="active"),
        is_cycle and mark("contains itself", "problem", key="cycle"),
        f"packed in {packed_in:,} different units" if packed_in > 1 else "",
        ", ".join(name for column, name in UNIT_FLAGS.items() if it[column]),
        folded_facts(of(len(shown), len(known), "more value"), shown, "more"),
    )


def _facts_by_unit(record: CardRecord, source: str, places: set[str]) -> dict[str, list[Block]]:
    """Return the values of each unit that the tree itself does not show, by position."""
    found: dict[str, list[Block]] = {}
    for one in _hierarchy_rows(record, source):
        if one["position"] in places:
            unlike = [name for column, name in UNIT_FLAGS.items() if one[column] is False]
            found.setdefault(one["position"], []).extend(
                facts_of(
                    {
                        "quantity": one["quantity"] if one["level"] == 0 else None,
                        "packaging code": one["packaging_code"] if one["packaging"] else None,
                        "uuid": one["node_uuid"],
                        "product_key_id": one["product_key_id"],
                        "is not": ", ".join(unlike) or None,
                        "active listing": one["active_listing"],
                    }
                )
            )
    for table in record.tables:
        # The tree itself shows `hierarchies`; the others have no rows of units.
        if table in {"hierarchies", "products", "presence", "raw"}:
            continue
        for one in record.packed(table):
            if (match := _NODE.fullmatch(one["attribute"])) and match[1] == source:
                level = match[2].count(".children")
                place = ".".join(one["position"].split(".")[: level + 1])
                for line in leaves_of(table, {**one, "attribute": match[3]}):
                    spoken = label(line.place if table == "texts" else None)
                    value = fact(line.attribute, words(line.value, MOST), spoken)
                    found.setdefault(place, []).append(value)
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
_COMPARED = ("Attribute", "Language or item", "Current", "Pending")


def pending_part(record: CardRecord) -> Block | None:
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
    same = sum(now.get(key) == value for key, value in then.items())
    rows = [
        (
            typed_text(words(attribute_title(attribute), 1_000)),
            _typed_place(place),
            _values(now.get((attribute, place)), str(why_missing(record, attribute)), "now"),
            _values(
                then.get((attribute, place)),
                emptied.get(_top_attribute(attribute), "no longer there"),
                "then",
            ),
        )
        for attribute, place in places[:_MOST_CHANGES]
    ]
    would = f"{counted(len(places), 'value')} would change" if places else "Nothing would change"
    stays = f"; {counted(same, 'value')} would stay the same" if same else ""
    changes = (
        paragraph(of(len(rows), len(places), "change"), key="count", tone="muted"),
        plain_table(_COMPARED, rows, key="changes", label="Changes of the pending update"),
    )
    return part(
        "Update pending",
        paragraph(f"An update is pending acceptance. {would}{stays}.", key="would"),
        *(changes if rows else ()),
        look="pending",
    )


#: The tables with a row for each value: the others have no rows of updates.
_TABLES = tuple(
    name for name, table in TABLES.items() if table.per_product and "attribute" in table.schema.names
)


def _values(values: Sequence[str] | None, gap: str, look: str) -> Any:
    """Return the values of a place below each other, or what is there instead."""
    if not values:
        return {"gap": gap}
    shown = enumerate(typed_text(words(one, MOST)) for one in values)
    return [box(*(paragraph(one, key=str(at)) for at, one in shown), key=look)]


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


def _typed_place(place: str) -> str | dict[str, str]:
    # The place of a leaf is a language or a position, and a position has digits and dots only.
    is_spoken = bool(place) and not place.replace(".", "").isdecimal()
    said = language_text(place) if is_spoken else words(item_text(place))
    return "" if said.is_missing else typed_text(said)


def raw_part(raw: Words, folded: Any) -> Block:
    """Return the record as received, in what is folded and opened by its title; or that it is not there."""
    size = f"{len(raw.text):,} of {raw.length:,}" if raw.is_cut else f"{len(raw.text):,}"
    none = "The catalogue does not have the record."
    is_missing = raw.is_missing
    shown = paragraph(none, key="none", tone="muted") if is_missing else folded(f"JSON, {size} characters")
    return part("Record as received", shown)


def raw_block(raw: Words) -> Block:
    """Return the record as received."""
    return {"kind": "record", "key": "record", "text": raw.text, "label": "Record as received"}
