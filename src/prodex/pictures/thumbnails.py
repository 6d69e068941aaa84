"""Small pictures as bytes of our own making: what a supplier's file holds besides pixels goes no further.

Each is kept under `PRODEX_HOME`/thumbnails, by what is told of its file, so that a second look is quick.
"""

from __future__ import annotations

import builtins
import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog
from prodex.errors import InputError
from prodex.files import home, storage, sweep, writing
from prodex.pictures.checking import compare, look_at, read_checksum
from prodex.pictures.fetching import Job, arrivals, jobs_of, side_by_side
from prodex.pictures.plan import Picture, plan
from prodex.pictures.shelf import Shelf
from prodex.pictures.shrinking import Small, shrink
from prodex.service.media import Media

_SIDES = range(16, 2_049)
_WORKERS = 8

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


def thumbnails(
    catalog: Catalog,
    product_ids: Iterable[str],
    size: int = 256,
    packshots_only: bool = False,
    *,
    folder: str | Path | None = None,
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
    made = small_pictures(catalog, [one for of in pictures.values() for one in of], size, folder)
    nothing = nothing_in(catalog, packshots_only)
    gtins = gtins_of(catalog, ids)
    return [
        thumbnail
        for key in ids
        for thumbnail in (
            [made[one.number] for one in pictures[key]]
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


def small_pictures(
    catalog: Catalog, pictures: Sequence[Picture], size: int, folder: str | Path | None
) -> dict[int, Thumbnail]:
    """Return a small picture for each of these, by its number in the plan.

    Parameters
    ----------
    catalog
        Whose they are.
    pictures
        Which.
    size
        Pixels of the longest side.
    folder
        Take the files from there and fetch nothing.
    """
    if folder is not None:
        return _from_folder(catalog, pictures, size, Path(folder))
    made = {one.number: _kept(one, size) for one in pictures}
    missing = [one for one in pictures if made[one.number] is None]
    if jobs := jobs_of(missing):
        cache = _cache()
        with storage(cache):
            cache.mkdir(parents=True, exist_ok=True)
            sweep(cache)
            place = tempfile.TemporaryDirectory(dir=cache, prefix=".", suffix=f".{os.getpid()}.part")
        with place as parts, Media(catalog.origin.source) as media:
            work = partial(_work, media=media, parts=Path(parts), size=size)
            for found in side_by_side(jobs, work, media, _WORKERS):
                made |= found
    return {one.number: made[one.number] or _told(one, problem="no address") for one in pictures}


def _work(job: Job, media: Media, parts: Path, size: int) -> dict[int, Thumbnail]:
    made = {}
    with closing(arrivals(job, media, parts)) as found:
        for arrival in found:
            picture = arrival.picture
            if arrival.problem is not None or arrival.path is None:
                made[picture.number] = _told(picture, problem=arrival.problem)
                continue
            thumbnail = made[picture.number] = _made(picture, arrival.path, size)
            if thumbnail.bytes is not None:
                with writing(_place(picture, size)) as beside:
                    beside.write_bytes(thumbnail.bytes)
    return made


def _from_folder(
    catalog: Catalog, pictures: Sequence[Picture], size: int, folder: Path
) -> dict[int, Thumbnail]:
    """Make them of files that were downloaded, of each picture the one whose size is best."""
    if not folder.is_dir():
        raise InputError(
            f"{folder} is no folder. download_pictures(catalog, folder) brings pictures into one."
        )
    shelf = Shelf.of(folder.absolute())
    sizes = sorted(shelf.sizes, key=lambda of: (of is not None and of < size, of is None, of or 0))
    ids = pa.array(sorted({one.product_id for one in pictures}), pa.string())
    files: dict[tuple[str, str], list[Picture]] = {}
    for of in sizes:
        for file in plan(catalog, size=of, products=ids):
            if file.left_out is None:
                files.setdefault((file.product_id, file.position), []).append(file)
    return {
        one.number: _found(one, files.get((one.product_id, one.position), ()), shelf, size)
        for one in pictures
    }


def _found(picture: Picture, files: Iterable[Picture], shelf: Shelf, size: int) -> Thumbnail:
    """Make one of the first file that is there; else say what is wrong with the one that lies aside."""
    problem = "not in the folder"
    for file in files:
        path = shelf.good.get(file.stem) or shelf.broken.get(file.stem)
        if path is not None:
            wrong = compare(look_at(path), file)[1]
            if wrong is None:
                return _made(picture, path, size)
            problem = wrong
    return _told(picture, problem=problem)


def _made(picture: Picture, path: Path, size: int) -> Thumbnail:
    small = shrink(path, size)
    return _told(picture, bytes=small.content, width=small.width, height=small.height, problem=small.problem)


def _kept(picture: Picture, size: int) -> Thumbnail | None:
    """Return the small picture that was made before, if its file is told to be the same."""
    if picture.url is None:
        return None
    try:
        small = Small.of(_place(picture, size).read_bytes())
    except OSError:  # mostly since there is none
        return None
    return (
        _told(picture, bytes=small.content, width=small.width, height=small.height) if small.content else None
    )


def _place(picture: Picture, size: int) -> Path:
    told = [picture.file_size, picture.width, picture.height]
    checksums = sorted(read_checksum(picture.crc32))
    content = [checksums, told] if checksums and any(told) else [picture.url, str(picture.updated_at), told]
    name = hashlib.sha256(json.dumps([content, size]).encode()).hexdigest()[:32]
    return _cache() / name[:2] / f"{name}.jpg"


def _cache() -> Path:
    return home() / "thumbnails"


def _told(picture: Picture, **made: Any) -> Thumbnail:
    told = ("product_id", "gtin", "position", "is_packshot", "original", "url")
    return Thumbnail(**{name: getattr(picture, name) for name in told}, **made)
