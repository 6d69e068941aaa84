"""Thumbnails: small pictures that prodex encodes itself, so that only the pixels of a supplier's file are passed on."""

from __future__ import annotations

import builtins
import hashlib
import json
import os
import tempfile
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc

from prodex.arguments import whole_number
from prodex.catalog import Catalog
from prodex.errors import InputError
from prodex.files.atomic import home, make_folder, reading, remove_leftovers, storage, writing
from prodex.limits import Limits
from prodex.network.download import MediaDownloader
from prodex.pictures.fetch import FetchJob, arrivals, jobs_of, side_by_side
from prodex.pictures.file_check import check_file, compare, read_checksum
from prodex.pictures.plan import PlannedPicture, plan
from prodex.pictures.resize import SmallPicture, shrink
from prodex.pictures.result import PictureFolder
from prodex.progress import SILENT, Reporter

#: Downloads at a time, as by default for `download_pictures`.
_WORKERS = 8


def small_pictures(
    catalog: Catalog,
    pictures: Sequence[PlannedPicture],
    size: int,
    folder: str | Path | None = None,
    limits: Limits | None = None,
    reporter: Reporter = SILENT,
    on_picture: Callable[[PlannedPicture, SmallPicture], object] = lambda *_: None,
) -> dict[int, SmallPicture]:
    """Return a small picture for each of these, by its number in the plan.

    Parameters
    ----------
    catalog
        The catalogue of the pictures.
    pictures
        The pictures.
    size
        Pixels of the longest side.
    folder
        Take the files from this folder, and download nothing.
    limits
        Limits of a file.
    reporter
        Gets the number of pictures that are there.
    on_picture
        Called with each picture and what became of it, as soon as it is there.

    Raises
    ------
    InputError
        When there is no such folder.
    StorageError
        When the disk refuses.
    """
    made: dict[int, SmallPicture] = {}
    by_number = {one.number: one for one in pictures}
    with (
        reporter.phase("Downloading pictures", "pictures", len(by_number), counts=True) as phase,
        closing(_found_in(catalog, pictures, size, folder, limits)) as every,
    ):
        for found in every:
            made |= found
            for number, small in found.items():
                on_picture(by_number[number], small)
            phase.add(len(found))
    return made


def _found_in(
    catalog: Catalog,
    pictures: Sequence[PlannedPicture],
    size: int,
    folder: str | Path | None,
    limits: Limits | None,
) -> Generator[dict[int, SmallPicture], None, None]:
    """Yield small pictures as soon as they are there: those of the cache first."""
    if folder is not None:
        yield _from_download_folder(catalog, pictures, size, Path(folder))
        return
    known = {one.number: small for one in pictures if (small := read_cached(one, size)) is not None}
    missing = [one for one in pictures if one.number not in known]
    yield known | {one.number: SmallPicture(problem="no address") for one in missing if one.url is None}
    if jobs := jobs_of(missing):
        with (
            temporary_folder() as parts,
            MediaDownloader(catalog.origin.source, limits=limits, setting="gallery") as media,
        ):
            yield from side_by_side(
                jobs, partial(_fetch_and_shrink, media=media, parts=parts, size=size), media, _WORKERS
            )


def _fetch_and_shrink(
    job: FetchJob, media: MediaDownloader, parts: Path, size: int
) -> dict[int, SmallPicture]:
    made = {}
    with closing(arrivals(job, media, parts)) as found:
        for arrival in found:
            small = SmallPicture(problem=arrival.problem)
            if arrival.path is not None and arrival.problem is None:
                small = shrink(arrival.path, size)
            cache(arrival.picture, size, small)
            made[arrival.picture.number] = small
    return made


def _from_download_folder(
    catalog: Catalog, pictures: Sequence[PlannedPicture], size: int, folder: Path
) -> dict[int, SmallPicture]:
    """Return small pictures of the files in a folder, of each picture the file with the best size."""
    with reading(folder):
        is_known = folder.is_dir()
    if not is_known:
        raise InputError(
            f"{folder} is not a folder. download_pictures(catalog, folder) downloads pictures into one."
        )
    existing = PictureFolder.of(folder.absolute())
    ids = pa.array(sorted({one.product_id for one in pictures}), pa.string())
    files: dict[tuple[str, str], list[PlannedPicture]] = {}
    # The smallest that is large enough, then the originals, then the largest of the others.
    for of in sorted(existing.sizes, key=lambda of: _size_rank(of, size)):
        for file in plan(catalog, size=of, products=ids):
            if file.left_out is None:
                files.setdefault((file.product_id, file.position), []).append(file)
    return {
        one.number: _from_existing_files(files.get((one.product_id, one.position), ()), existing, size)
        for one in pictures
    }


def _size_rank(of: int | None, size: int) -> tuple[int, int]:
    if of is None:
        return 1, 0
    return (0, of) if of >= size else (2, -of)


def _from_existing_files(files: Iterable[PlannedPicture], existing: PictureFolder, size: int) -> SmallPicture:
    """Return a small picture of the first file that is good; else what is wrong with the others."""
    problem = "not in the folder"
    for file in files:
        path = existing.good.get(file.stem) or existing.broken.get(file.stem)
        if path is not None:
            wrong = compare(check_file(path, read_checksum(file.crc32)), file)[1]
            if wrong is None:
                return shrink(path, size)
            problem = wrong
    return SmallPicture(problem=problem)


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
        The product of the picture.
    position
        Key of the picture in the table `pictures`; None if the product has none.
    is_packshot
        Whether it is a packshot, according to its record.
    original
        Width and height of the original in pixels, according to its record.
    url
        Address of the original file, as the supplier sent it. Never show it as a link or a picture.
    bytes
        A JPEG, or None.
    width, height
        Size of the JPEG in pixels.
    problem
        Why there is no JPEG: "no picture", "no packshot", "not asked", or what is wrong with the file.
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
    def of(cls, picture: PlannedPicture, small: SmallPicture) -> Self:
        """Return the thumbnail of a picture, or why there is none."""
        of_record = ("product_id", "gtin", "position", "is_packshot", "original", "url")
        of_file = ("width", "height", "problem")
        return cls(
            **{name: getattr(picture, name) for name in of_record},
            **{name: getattr(small, name) for name in of_file},
            bytes=small.content,
        )


def thumbnails(
    catalog: Catalog,
    product_ids: Iterable[str],
    size: int = 256,
    packshots_only: bool = False,
    *,
    folder: str | Path | None = None,
    limits: Limits | None = None,
    reporter: Reporter = SILENT,
) -> list[Thumbnail]:
    """Return the pictures of some products as small JPEGs.

    Parameters
    ----------
    catalog
        The catalogue of the products.
    product_ids
        The products.
    size
        Pixels of the longest side.
    packshots_only
        Return packshots only.
    folder
        Take the files from this folder of `download_pictures`, and download nothing.
    limits
        Limits of a file, as for `download_pictures`.
    reporter
        Gets the number of pictures that are there.

    Returns
    -------
    list of Thumbnail
        One for each picture, product by product; for a product without pictures one that says why.

    Raises
    ------
    InputError
        When the size is too large or too small.
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
    wanted = [one for of in pictures.values() for one in of]
    made = small_pictures(catalog, wanted, size, folder, limits, reporter)
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


def thumbnails_on_disk(catalog: Catalog, product_id: str, size: int = 256) -> list[Thumbnail]:
    """Return the pictures of a product that were made small before; nothing is downloaded.

    >>> import prodex
    >>> thumbnails_on_disk(prodex.flatten([{"id": 7}]), "7")
    []
    """
    known = ((one, read_cached(one, size)) for one in pictures_of(catalog, [product_id], size)[product_id])
    return [Thumbnail.of(one, small) for one, small in known if small is not None]


def pictures_of(catalog: Catalog, product_ids: Sequence[str], size: int) -> dict[str, list[PlannedPicture]]:
    """Return the pictures of some products, without those of pending updates.

    Raises
    ------
    InputError
        When the size is too large or too small.
    """
    if (whole := whole_number(size, _SIDES[0], _SIDES[-1])) is None:
        raise InputError(
            f"size={size!r} must be a number of pixels from {_SIDES[0]} to {_SIDES[-1]}; download_pictures() returns "
            "larger pictures."
        )
    size = whole
    found: dict[str, list[PlannedPicture]] = {key: [] for key in product_ids}
    for picture in plan(catalog, size=size, products=pa.array(product_ids, pa.string())):
        if picture.left_out is None:
            found[picture.product_id].append(picture)
    return found


def nothing_in(catalog: Catalog, packshots_only: bool) -> str:
    """Return why a product has no picture: without the attributes in the query, it may have one."""
    needed = ["assets.pictures.url", *(["assets.pictures.isPackshot"] if packshots_only else [])]
    if not all(map(catalog.origin.asked, needed)):
        return NOT_ASKED
    return NO_PACKSHOT if packshots_only else NO_PICTURE


def gtins_of(catalog: Catalog, product_ids: Sequence[str]) -> dict[str, str | None]:
    """Return the GTINs of some products."""
    chosen = pc.field("product_id").isin(pa.array(product_ids, pa.string()))
    rows = catalog.arrow("products", ["product_id", "gtin"], chosen).to_pylist()
    return {row["product_id"]: row["gtin"] for row in rows}


#: Two threads may make the same picture.
_WRITING = threading.Lock()


def read_cached(picture: PlannedPicture, size: int) -> SmallPicture | None:
    """Return the small picture of a record from the cache, or None."""
    try:
        small = SmallPicture.of(_cache_path(picture, size).read_bytes())
    except OSError:  # mostly because it is not in the cache; it can be made again in any case
        return None
    return small if small.problem is None else None


def cache(picture: PlannedPicture, size: int, small: SmallPicture) -> None:
    """Put a small picture into the cache.

    Raises
    ------
    StorageError
        When the disk refuses.
    """
    if small.content is not None:
        with _WRITING, writing(_cache_path(picture, size), private=True) as beside:
            beside.write_bytes(small.content)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Provide a folder for files that are needed only for a moment.

    Raises
    ------
    StorageError
        When the disk refuses.
    """
    with storage(_cache_folder()):
        make_folder(_cache_folder(), private=True)
        remove_leftovers(_cache_folder())
        place = tempfile.TemporaryDirectory(dir=_cache_folder(), prefix=".", suffix=f".{os.getpid()}.part")
    with place as folder:
        yield Path(folder)


def _cache_path(picture: PlannedPicture, size: int) -> Path:
    """Return the path by the content of the record, else by address and date."""
    stated = [picture.file_size, picture.width, picture.height]
    checksums = sorted(read_checksum(picture.crc32))
    # By content a picture that moved to another address is still found; a supplier who replaces a file at the same
    # address changes the checksum or, without one, the date.
    content = (
        [checksums, stated] if checksums and any(stated) else [picture.url, str(picture.updated_at), stated]
    )
    # A hash, since an address holds characters that no file name may have.
    name = hashlib.sha256(json.dumps([content, size]).encode()).hexdigest()[:32]
    return _cache_folder() / name[:2] / f"{name}.jpg"


def _cache_folder() -> Path:
    return home() / "thumbnails"
