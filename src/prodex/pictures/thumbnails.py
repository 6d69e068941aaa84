"""Small pictures as bytes of our own making: what a supplier's file holds besides pixels goes no further."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog
from prodex.errors import InputError
from prodex.limits import Limits
from prodex.pictures.making import small_pictures
from prodex.pictures.plan import Picture, plan
from prodex.pictures.shrinking import Small

_SIDES = range(16, 2_049)

NO_PICTURE = "no picture"
NO_PACKSHOT = "no packshot"
NOT_ASKED = "not asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Thumbnail:
    """A small picture, or why there is none.

    Attributes
    ----------
    product_id, gtin
        Whose it is.
    position
        Key of the picture in the table `pictures`; None where the product has none.
    is_packshot
        Whether it is said to be one.
    original
        Width and height of the original as told, pixels.
    url
        Address of the file that it was made of, as the supplier typed it. Never show it as a link or a picture.
    bytes
        A JPEG, or None.
    width, height
        Of these bytes, pixels.
    problem
        Why there is none: "no picture", "no packshot", "not asked", or what is wrong with the file.
    """

    product_id: str
    gtin: str | None = None
    position: str | None = None
    is_packshot: bool | None = None
    original: tuple[int | None, int | None] = (None, None)
    url: str | None = None
    bytes: builtins.bytes | None = None
    width: int | None = None
    height: int | None = None
    problem: str | None = None

    @classmethod
    def of(cls, picture: Picture, small: Small) -> Self:
        """Put together whose picture it is and what was made of it."""
        return cls(
            product_id=picture.product_id,
            gtin=picture.gtin,
            position=picture.position,
            is_packshot=picture.is_packshot,
            original=picture.original,
            url=picture.url,
            bytes=small.content,
            width=small.width,
            height=small.height,
            problem=small.problem,
        )


def thumbnails(
    catalog: Catalog,
    product_ids: Iterable[str],
    size: int = 256,
    packshots_only: bool = False,
    *,
    folder: str | Path | None = None,
    limits: Limits | None = None,
) -> list[Thumbnail]:
    """Return the pictures of some products as small JPEGs.

    Parameters
    ----------
    catalog
        Where the products are.
    product_ids
        Which of them.
    size
        Pixels of the longest side.
    packshots_only
        Only what is said to be a packshot.
    folder
        Take the files from this folder, which `download_pictures` filled, and fetch nothing.
    limits
        What one file may take, as for `download_pictures`.

    Returns
    -------
    list of Thumbnail
        One for each picture, product by product; one for a product that has none, which says so.

    Raises
    ------
    InputError
        When the size is none for a small picture.
    StorageError
        When the disk refuses.

    Examples
    --------
    >>> import prodex
    >>> catalog = prodex.flatten([{"id": 7, "assets": {"pictures": []}}])
    >>> [thumbnail.problem for thumbnail in thumbnails(catalog, ["7"])]
    ['no picture']
    """
    ids = list(dict.fromkeys(product_ids))
    pictures = pictures_of(catalog, ids, size)
    if packshots_only:
        pictures = {key: [one for one in of if one.is_packshot] for key, of in pictures.items()}
    made = small_pictures(catalog, [one for of in pictures.values() for one in of], size, folder, limits)
    nothing = nothing_in(catalog, packshots_only)
    gtins = gtins_of(catalog, ids)
    return [
        thumbnail
        for key in ids
        for thumbnail in (
            [Thumbnail.of(one, made[one.number]) for one in pictures[key]]
            or [Thumbnail(product_id=key, gtin=gtins.get(key), problem=nothing)]
        )
    ]


def pictures_of(catalog: Catalog, product_ids: Sequence[str], size: int) -> dict[str, list[Picture]]:
    """Return the pictures of some products, those of updates that wait left out.

    Raises
    ------
    InputError
        When the size is none for a small picture.
    """
    if not isinstance(size, int) or isinstance(size, bool) or size not in _SIDES:
        raise InputError(
            f"size={size!r} must be a number of pixels from {_SIDES[0]} to {_SIDES[-1]}; download_pictures() brings "
            "larger pictures."
        )
    found: dict[str, list[Picture]] = {key: [] for key in product_ids}
    for picture in plan(catalog, size=size, products=pa.array(product_ids, pa.string())):
        if picture.left_out is None:
            found[picture.product_id].append(picture)
    return found


def nothing_in(catalog: Catalog, packshots_only: bool) -> str:
    """Say what it means that a product has no picture to show."""
    needed = ["assets.pictures.url", *(["assets.pictures.isPackshot"] if packshots_only else [])]
    if not all(map(catalog.origin.asked, needed)):
        return NOT_ASKED
    return NO_PACKSHOT if packshots_only else NO_PICTURE


def gtins_of(catalog: Catalog, product_ids: Sequence[str]) -> dict[str, str | None]:
    """Return the GTINs of some products."""
    chosen = pc.field("product_id").isin(pa.array(product_ids, pa.string()))
    rows = catalog.arrow("products", ["product_id", "gtin"], chosen).to_pylist()
    return {row["product_id"]: row["gtin"] for row in rows}
