"""Tables of a card: headings and rows, without the columns in which nothing stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prodex.notebook.card.faces import face
from prodex.notebook.card.facts import Fact, said
from prodex.notebook.card.record import PATHS, Record, Row
from prodex.verbatim import Words, words

#: Rows of one table.
_MOST_ROWS = 300


@dataclass(frozen=True)
class Grid:
    """A table.

    Attributes
    ----------
    title
        What it is about.
    headings
        The first is that of the rows.
    rows, total
        The cells of those shown, and how many rows there are.
    numeric
        Places of the columns of numbers.
    missing
        Why there are none.
    """

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[Words, ...], ...]
    total: int
    numeric: frozenset[int] = frozenset()
    missing: str = "none"


_FILE = {
    "kind of file": "kind",
    "file": "file_name",
    "name": "name",
    "document": "document_type",
    "document code": "document_type_code",
    "address": "uniform_resource_identifier",
    "url": "url",
    "content type": "content_type",
    "information": "type_of_information",
    "format": "format",
    "bytes": "file_size",
    "valid from": "effective_start",
    "valid until": "effective_end",
    "created": "created_at",
    "updated": "updated_at",
}

#: For each section its title, tables, wire paths, and headings with columns.
_SECTIONS: tuple[tuple[str, tuple[str, ...], tuple[str, ...], Mapping[str, str]], ...] = (
    (
        "Labels and certificates",
        ("labels",),
        ("isLabeledBy",),
        {
            "label": "label",
            "code": "label_code",
            "description": "description",
            "value": "value",
            "from": "start_date",
            "until": "end_date",
            "attributed": "attributed_at",
            "picture address": "picture_url",
        },
    ),
    (
        "Tags",
        ("tags",),
        ("hasTags", "isTaggedBy"),
        {"tag": "tag", "put on": "created_at", "attribute": "attribute"},
    ),
    (
        "Identifiers",
        ("identifiers",),
        ("isIdentifiedBy", "specializes.isIdentifiedBy"),
        {"identifier": "reference", "attribute": "attribute"},
    ),
    (
        "Documents, videos and enriched contents",
        ("documents", "videos", "enriched_contents"),
        ("assets.documents", "assets.videos", "assets.enriched_contents"),
        _FILE,
    ),
    (
        "Other values",
        ("scalars",),
        (),
        {"attribute": "attribute", "value": "value", "type": "type", "item": "position"},
    ),
    (
        "Languages, units and currencies that it says it uses",
        ("entities",),
        ("expressedIn",),
        {"code": "entity_code", "short code": "short_code", "referential": "referential"},
    ),
)
_KINDS = {"documents": "document", "videos": "video", "enriched_contents": "enriched content"}


def grid(
    title: str,
    columns: Mapping[str, str],
    rows: Sequence[Row],
    *,
    numeric: Sequence[str] = (),
    missing: str = "none",
) -> Grid:
    """Return a table of rows, without the columns in which nothing stands."""
    filled = {
        heading: column
        for heading, column in columns.items()
        if any(row.get(column) is not None for row in rows)
    }
    return Grid(
        title,
        tuple(filled),
        tuple(tuple(said(row.get(column)) for column in filled.values()) for row in rows[:_MOST_ROWS]),
        len(rows),
        frozenset(place for place, heading in enumerate(filled) if heading in numeric),
        missing,
    )


def sections(record: Record) -> tuple[Grid, ...]:
    """Return labels, tags, identifiers, files and whatever else stands in rows."""
    return tuple(
        grid(
            title,
            columns,
            [{**row, "kind": _KINDS.get(table)} for table in tables for row in record.rows(table)],
            numeric=("bytes",),
            missing=_missing(record, paths),
        )
        for title, tables, paths, columns in _SECTIONS
    )


def codes(record: Record) -> Grid:
    """Return the codes with labels, those of `products` first; further languages beside them."""
    every: list[dict[str, Any]] = []
    for column, path in PATHS.items():
        if column.endswith("_code"):
            name = column.removesuffix("_code")
            told = {one: record.product.get(f"{name}{suffix}") for one, suffix in _TOLD.items()}
            row = {"code": record.product[column], **told}
            if any(value is not None for value in row.values()):
                every.append({"attribute": path.removesuffix(".code"), **row})
    every += map(dict, record.rows("codes"))
    languages = sorted({one for labels in record.code_labels.values() for one in labels})
    for place, row in enumerate(every):
        labels = record.code_labels.get((row["attribute"], row["code"]), {})
        every[place] = row | {
            f"{one} {kind}": text
            for one in languages
            for kind, text in zip(_TOLD, labels.get(one, (None, None)), strict=True)
        }
    further = {f"{kind} ({one})": f"{one} {kind}" for one in languages for kind in _TOLD}
    columns = {"attribute": "attribute", "code": "code", "label": "label", "description": "description"}
    return grid("Codes", {**columns, **further, "item": "position"}, every)


_TOLD = {"label": "", "description": "_description"}


def quantities(record: Record) -> Grid:
    """Return the numbers with a unit."""
    columns = {
        "attribute": "attribute",
        "value": "value",
        "unit": "unit",
        "unit code": "unit_code",
        "item": "position",
    }
    return grid("Quantities", columns, list(record.rows("quantities")), numeric=("value",))


def nutrients(record: Record) -> tuple[Grid, ...]:
    """Return the nutrients, one table for each partition: per 100 g, per serving."""
    parts: dict[tuple[Any, ...], list[Row]] = {}
    for row in record.rows("nutrients"):
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
    return tuple(
        grid(_per(*key[2:]), columns, rows, numeric=("quantity", "% of the daily intake"))
        for key, rows in parts.items()
    )


def _per(partition: str | None, quantity: float | None, unit: str | None) -> str:
    basis = " ".join(filter(None, ["" if quantity is None else said(quantity).text, unit]))
    if partition is None:
        return f"per {basis}" if basis else "of a basis that is not said"
    return f"per {partition}" + (f" ({basis})" if basis else "")


#: Shown in the head, or as a code.
_ELSEWHERE = frozenset({"brand", "kind", "packaging", "gpc", "owner", "target_market"})


def numbers_and_dates(record: Record) -> tuple[Fact, ...]:
    """Return what stands in columns of `products` and nowhere else on a card; the zone of dates is said."""
    facts = []
    for column, path in PATHS.items():
        value = record.product[column]
        if value is None or column in _ELSEWHERE or column.startswith(("is_", "has_")):
            continue
        if column.endswith(("_status", "_description", "_code")):
            continue
        zone = "local time without zone" if hasattr(value, "isoformat") else None
        facts.append(Fact(path, said(value), words(zone)))
    return (Fact("product_id", said(record.product_id)), *facts)


def _missing(record: Record, paths: Sequence[str]) -> str:
    return ", ".join(f"{path} is {face(record, path)}" for path in paths) or "none"
