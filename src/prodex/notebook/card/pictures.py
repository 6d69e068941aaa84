"""Descriptions of pictures: what each shows, its size, and where its data contradicts itself. None is loaded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from prodex.explore.card.record import (
    CardTable,
    LabelledValue,
    Record,
    Row,
    table_of,
    value_text,
    why_missing,
)
from prodex.quality.picture_columns import FACES, FILE_NAME
from prodex.untrusted_text import Words, words

#: Pictures that are shown; most products have fewer than ten.
_MOST = 60
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


def pictures(record: Record) -> CardPictures:
    """Return the pictures of a product."""
    rows = list(record.rows("pictures"))
    renditions: dict[str, list[Row]] = {}
    for row in record.rows("exportables"):
        renditions.setdefault(row["position"].rpartition(".")[0], []).append(row)
    shown = rows[:_MOST]
    made = tuple(_picture(record, row, renditions.pop(row["position"], [])) for row in shown)
    # Renditions of pictures beyond the limit, or of positions that no picture has.
    strays = [row for left in renditions.values() for row in left]
    return CardPictures(
        made,
        len(rows),
        table_of("Renditions of other pictures", _RENDITIONS, strays, numeric=_NUMERIC),
        str(why_missing(record, "assets.pictures")),
    )


_NUMERIC = ("width", "height", "bytes")


def _picture(record: Record, row: Row, renditions: list[Row]) -> CardPicture:
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
            *_labelled(row, _FACTS),
        ),
        more=_labelled(row, _MORE),
        disagreements=tuple(_disagreements(record, row)),
        renditions=table_of("Renditions", _RENDITIONS, renditions, numeric=_NUMERIC),
    )


def _labelled(row: Row, terms: Mapping[str, str]) -> tuple[LabelledValue, ...]:
    return tuple(
        LabelledValue(term, value_text(row[column]))
        for column, term in terms.items()
        if row[column] is not None
    )


def _disagreements(record: Record, row: Row) -> Iterator[str]:
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
