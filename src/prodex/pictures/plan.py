"""The plan of a download: which file of each picture is wanted, its name, and its record. Nothing is downloaded yet."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from prodex.advice import Argument, PythonCall, advice
from prodex.arguments import whole_number
from prodex.catalog import Catalog
from prodex.errors import InputError
from prodex.files.atomic import safe_name

_OWN = "assets.pictures"
_COLUMNS = ("url", "crc32", "width", "height", "updated_at")
_LONGEST_WORD = 40
#: JPEG, the largest of the formats, has at most 65,535 pixels a side; 30,000 is more than any picture here.
_SIDES = range(1, 30_001)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedPicture:
    """A picture of a product and the file of it that is wanted.

    Attributes
    ----------
    number
        Its number in the plan.
    product_id, gtin, position, is_packshot
        As in the table `pictures`.
    rendition
        Position of the rendition in `exportables`; None for the original.
    url
        Address of the file, as the supplier typed it.
    crc32, file_size, width, height, updated_at
        The record of the file.
    original
        Width and height of the original, according to the record.
    stem
        Name of the file without its suffix, which depends on its content.
    left_out
        Why it is not wanted; None if it is.
    """

    number: int
    product_id: str
    gtin: str | None
    position: str
    is_packshot: bool | None
    rendition: str | None
    url: str | None
    crc32: str | None
    file_size: int | None
    width: int | None
    height: int | None
    updated_at: datetime | None
    original: tuple[int | None, int | None]
    stem: str
    left_out: str | None = None


def plan(
    catalog: Catalog,
    *,
    size: int | None = None,
    packshots_only: bool = False,
    products: pa.Array | None = None,
) -> list[PlannedPicture]:
    """Return every picture of a catalogue, with the file of it that is wanted or why none is.

    Parameters
    ----------
    catalog
        The catalogue.
    size
        Pixels: the smallest rendition whose longest side has at least this many, else the largest, else the original.
        None for the original.
    packshots_only
        Want packshots only.
    products
        Want pictures of these products only, by product_id.

    Raises
    ------
    InputError
        When the size is no number of pixels.

    Examples
    --------
    >>> import prodex
    >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935", "assets": {"pictures": [{"url": "a"}]}}])
    >>> [(picture.url, picture.stem) for picture in plan(catalog)]
    [('a', '03036811359935_0_7')]
    """
    whole = None if size is None else whole_number(size, _SIDES[0], _SIDES[-1])
    if size is not None and whole is None:
        raise InputError(
            advice(
                "{size} is not a number of pixels. Give the longest side, such as 512, or {none} for the original.",
                size=Argument("size", size),
                none=PythonCall("None"),
            )
        )
    size = whole
    chosen = None if products is None else pc.field("product_id").isin(products)
    columns = ["product_id", "gtin", "attribute", "position", "is_packshot", *_COLUMNS]
    rows = catalog.arrow("pictures", columns, chosen).to_pylist()
    renditions = {} if size is None else _renditions(catalog, size, chosen)
    taken: dict[str, str | None] = {}
    return [
        _planned_picture(number, row, renditions, size, packshots_only, taken)
        for number, row in enumerate(rows)
    ]


def _planned_picture(
    number: int,
    row: Mapping[str, Any],
    renditions: Mapping[tuple[str, str, str], Mapping[str, Any]],
    size: int | None,
    packshots_only: bool,
    taken: dict[str, str | None],
) -> PlannedPicture:
    rendition = renditions.get((row["product_id"], row["attribute"], row["position"]))
    record = rendition or row
    url = record["url"] or None
    return PlannedPicture(
        number=number,
        **{name: row[name] for name in ("product_id", "gtin", "position", "is_packshot")},
        rendition=rendition["position"] if rendition else None,
        url=url,
        file_size=record.get("file_size"),
        **{name: record[name] for name in _COLUMNS if name != "url"},
        original=(row["width"], row["height"]),
        stem=_stem(row, size, url, taken),
        left_out=_why_left_out(row, packshots_only),
    )


def _why_left_out(row: Mapping[str, Any], packshots_only: bool) -> str | None:
    if row["attribute"] != _OWN:
        return "it belongs to a pending update; catalog.with_pending_updates() has it as accepted"
    if packshots_only and not row["is_packshot"]:
        return "it is not a packshot according to its record"
    return None


def _renditions(
    catalog: Catalog, size: int, chosen: pc.Expression | None
) -> dict[tuple[str, str, str], dict[str, Any]]:
    """Return the rendition to take for each picture that has one."""
    columns = ["product_id", "attribute", "position", "file_size", *_COLUMNS]
    best: dict[tuple[str, str, str], dict[str, Any]] = {}
    for row in catalog.arrow("exportables", columns, chosen).to_pylist():
        # A rendition without size or address cannot be chosen by size, or not be downloaded.
        if not row["url"] or not row["width"] or not row["height"]:
            continue
        picture = row["attribute"].removesuffix(".exportables"), row["position"].rpartition(".")[0]
        known = best.setdefault((row["product_id"], *picture), row)
        if _rendition_rank(row, size) < _rendition_rank(known, size):
            best[row["product_id"], *picture] = row
    return best


def _rendition_rank(row: Mapping[str, Any], size: int) -> tuple[bool, int]:
    """Order renditions: the smallest of those that are large enough first, then the others from the largest."""
    side = max(row["width"], row["height"])
    return (False, side) if side >= size else (True, -side)


def _stem(row: Mapping[str, Any], size: int | None, url: str | None, taken: dict[str, str | None]) -> str:
    """Return the file name by GTIN, position and product: the same whatever else is in the catalogue."""
    words = [row["gtin"] or "no-gtin", row["position"], row["product_id"]]
    stem = "_".join([*map(_file_name_word, words), *([] if size is None else [str(size)])])
    if row["attribute"] != _OWN:
        stem += "_waiting"
    if taken.setdefault(stem, url) != url:  # a product that is in the catalogue twice
        stem += f"_{_text_digest(url or '')}"
    return stem


def size_in(stem: str) -> int | None:
    """Return the size in the name of a file; None for an original.

    >>> size_in("03036811359935_0_7_512"), size_in("03036811359935_0_7")
    (512, None)
    """
    words = stem.split("_")
    return int(words[3]) if len(words) > 3 and words[3].isdecimal() and int(words[3]) in _SIDES else None


def _file_name_word(text: str) -> str:
    """Return a word for a file name, with a digest if it had to be changed.

    >>> _file_name_word("03036811359935"), _file_name_word("../etc")
    ('03036811359935', 'etc-f7f9121f')
    """
    # Only lower case: some file systems do not distinguish "a.jpg" from "A.jpg", and would mix up two products.
    is_plain = re.fullmatch(r"[0-9a-z]([0-9a-z.-]*[0-9a-z])?", text) and text == safe_name(text)
    if is_plain and len(text) <= _LONGEST_WORD:
        return text
    plain = re.sub(r"[^0-9a-z.-]+", "-", safe_name(text).lower())[:_LONGEST_WORD].strip(".-")
    return f"{plain}-{_text_digest(text)}" if plain else _text_digest(text)


def _text_digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def checked_origin(catalog: Catalog, attributes: Iterable[str]) -> None:
    """Make sure that the catalogue was loaded with pictures, so that "none" means that there are none.

    Raises
    ------
    InputError
        When one of the attributes was not.
    """
    for attribute in attributes:
        if not catalog.origin.asked(attribute):
            raise InputError(
                f"The catalogue was loaded without {attribute}, so its pictures are unknown. Load it "
                "again with assets.pictures among source_include, or without source_include and source_exclude."
            )
