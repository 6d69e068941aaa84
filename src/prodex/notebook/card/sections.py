"""The plain tables of a card: labels, tags, identifiers, files, codes, quantities, nutrients, and all other values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from prodex.explore.card.record import (
    PATHS,
    CardTable,
    LabelledValue,
    Record,
    Row,
    table_of,
    value_text,
    why_missing,
)
from prodex.quality.problems import attribute_label
from prodex.untrusted_text import label


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


def sections(record: Record) -> tuple[CardTable, ...]:
    """Return the tables; a table without rows says why there are none."""
    # An empty table is returned as well: the card lists it under "No data" with the reason.
    return tuple(
        table_of(
            one.title,
            one.columns,
            list(_rows(record, one)),
            numeric=("bytes",),
            missing=_missing(record, one),
        )
        for one in _SECTIONS
    )


def _rows(record: Record, section: _Section) -> Iterator[Row]:
    for table in section.tables:
        rows = [{**row, "kind": _KINDS.get(table)} for row in record.rows(table)]
        yield from _joined(rows) if table == "tags" else rows


def _joined(rows: Sequence[Row]) -> list[Row]:
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


def numbers_and_dates(record: Record) -> tuple[LabelledValue, ...]:
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


def _missing(record: Record, section: _Section) -> str:
    """Return why a section has no data; which of its attributes only where they differ."""
    why = {path: str(why_missing(record, path)) for path in section.paths}
    if len(set(why.values())) > 1:
        return ", ".join(f"{attribute_label(path)} {state}" for path, state in why.items())
    return next(iter(why.values()), "none")


_SUFFIXES = {"label": "", "description": "_description"}


def codes(record: Record) -> CardTable:
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


#: Tables of nutrients.
_MOST = 12


def quantities(record: Record) -> CardTable:
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
class Nutrients:
    """Tables of nutrients, one for each partition (per 100 g, per serving), with the number of all partitions."""

    tables: tuple[CardTable, ...]
    total: int
    missing: str


def nutrients(record: Record) -> Nutrients:
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
        for key, rows in list(parts.items())[:_MOST]
    )
    return Nutrients(tables, len(parts), str(why_missing(record, "isPartitionedBy")))


def _per(partition: str | None, quantity: float | None, unit: str | None) -> str:
    basis = " ".join(filter(None, ["" if quantity is None else value_text(quantity).text, label(unit).text]))
    if partition is None:
        return f"per {basis}" if basis else "basis not specified"
    return f"per {label(partition).text}" + (f" ({basis})" if basis else "")
