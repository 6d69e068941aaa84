"""What a card shows as plain tables: labels, tags, identifiers, files, and whatever no other part of it shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from prodex.notebook.card.faces import face
from prodex.notebook.card.facts import Fact, said
from prodex.notebook.card.grids import Grid, grid
from prodex.notebook.card.record import PATHS, Record, Row


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
        {"tag": "tag", "put on": "created_at", "said by": "attribute"},
    ),
    _Section(
        "Identifiers",
        ("identifiers",),
        ("isIdentifiedBy", "specializes.isIdentifiedBy"),
        {"identifier": "reference", "said by": "attribute"},
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


def sections(record: Record) -> tuple[Grid, ...]:
    """Return the tables; one without rows says why there are none."""
    return tuple(
        grid(
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
    """Return a tag once that a record has in two lists: with its date, and by its name alone."""
    dated = [row for row in rows if row["created_at"] is not None]
    told = {row["tag"]: row["attribute"] for row in rows if row["created_at"] is None}
    both = [
        {**row, "attribute": f"{row['attribute']}, {told[row['tag']]}"} if row["tag"] in told else row
        for row in dated
    ]
    named = {row["tag"] for row in dated}
    return [*both, *(row for row in rows if row["created_at"] is None and row["tag"] not in named)]


#: Shown in the head, or as a code.
_ELSEWHERE = frozenset({"brand", "kind", "packaging", "gpc", "owner", "target_market"})


def numbers_and_dates(record: Record) -> tuple[Fact, ...]:
    """Return what stands in columns of `products` and nowhere else on a card."""
    facts = [Fact("product_id", said(record.product_id))]
    for column, path in PATHS.items():
        value = record.product[column]
        if value is None or column in _ELSEWHERE or column.startswith(("is_", "has_")):
            continue
        if not column.endswith(("_status", "_description", "_code")):
            facts.append(Fact(path, said(value)))
    return tuple(facts)


def _missing(record: Record, section: _Section) -> str:
    return ", ".join(f"{path} is {face(record, path)}" for path in section.paths) or "none"
