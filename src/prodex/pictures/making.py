"""Small pictures of a plan: some were made before, the others are made of files that are fetched or downloaded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

import pyarrow as pa

from prodex.catalog import Catalog
from prodex.errors import InputError
from prodex.limits import Limits
from prodex.pictures.checking import compare, look_at, read_checksum
from prodex.pictures.fetching import Job, arrivals, jobs_of, side_by_side
from prodex.pictures.keeping import keep, read_kept, workplace
from prodex.pictures.plan import Picture, plan
from prodex.pictures.shelf import Shelf
from prodex.pictures.shrinking import Small, shrink
from prodex.service.media import Media

_WORKERS = 8


def small_pictures(
    catalog: Catalog,
    pictures: Sequence[Picture],
    size: int,
    folder: str | Path | None = None,
    limits: Limits | None = None,
) -> dict[int, Small]:
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
        Take the files from there, and fetch nothing.
    limits
        What one file may take.

    Raises
    ------
    InputError
        When the folder is none.
    StorageError
        When the disk refuses.
    """
    if folder is not None:
        return _downloaded(catalog, pictures, size, Path(folder))
    made = {one.number: small for one in pictures if (small := read_kept(one, size)) is not None}
    missing = [one for one in pictures if one.number not in made]
    made |= {one.number: Small(problem="no address") for one in missing if one.url is None}
    if jobs := jobs_of(missing):
        with workplace() as parts, Media(catalog.origin.source, limits=limits, setting="gallery") as media:
            for found in side_by_side(
                jobs, partial(_fetched, media=media, parts=parts, size=size), media, _WORKERS
            ):
                made |= found
    return made


def _fetched(job: Job, media: Media, parts: Path, size: int) -> dict[int, Small]:
    made = {}
    with closing(arrivals(job, media, parts)) as found:
        for arrival in found:
            small = Small(problem=arrival.problem)
            if arrival.path is not None and arrival.problem is None:
                small = shrink(arrival.path, size)
            keep(arrival.picture, size, small)
            made[arrival.picture.number] = small
    return made


def _downloaded(catalog: Catalog, pictures: Sequence[Picture], size: int, folder: Path) -> dict[int, Small]:
    """Make them of files in a folder, of each picture the one whose size is best."""
    if not folder.is_dir():
        raise InputError(
            f"{folder} is no folder. download_pictures(catalog, folder) brings pictures into one."
        )
    shelf = Shelf.of(folder.absolute())
    ids = pa.array(sorted({one.product_id for one in pictures}), pa.string())
    files: dict[tuple[str, str], list[Picture]] = {}
    # The smallest that is large enough, then the originals, then the largest of the others.
    for of in sorted(shelf.sizes, key=lambda of: _rank(of, size)):
        for file in plan(catalog, size=of, products=ids):
            if file.left_out is None:
                files.setdefault((file.product_id, file.position), []).append(file)
    return {
        one.number: _found(files.get((one.product_id, one.position), ()), shelf, size) for one in pictures
    }


def _rank(of: int | None, size: int) -> tuple[int, int]:
    if of is None:
        return 1, 0
    return (0, of) if of >= size else (2, -of)


def _found(files: Iterable[Picture], shelf: Shelf, size: int) -> Small:
    """Make one of the first file that is there; else say what is wrong with the one that lies aside."""
    problem = "not in the folder"
    for file in files:
        path = shelf.good.get(file.stem) or shelf.broken.get(file.stem)
        if path is not None:
            wrong = compare(look_at(path, read_checksum(file.crc32)), file)[1]
            if wrong is None:
                return shrink(path, size)
            problem = wrong
    return Small(problem=problem)
