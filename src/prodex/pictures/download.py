"""The pictures of a catalogue, brought into a folder: checked, resumable, and explained by an index beside them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

from prodex.arguments import described, whole_number
from prodex.catalog import Catalog
from prodex.errors import InputError, StorageError
from prodex.facts.name import names_of
from prodex.files.lock import locked
from prodex.limits import Limits
from prodex.network.download import MediaDownloader
from prodex.pictures.fetch import FetchJob, arrivals, jobs_of, side_by_side
from prodex.pictures.picture_folder import PictureFolder
from prodex.pictures.plan import Picture, checked_origin, plan
from prodex.pictures.result import PictureResult, Pictures, PictureState, frame_of
from prodex.progress import Progress, showing
from prodex.store.snapshot import catalog_given

_WORKERS = range(1, 65)


def download_pictures(
    catalog: Catalog,
    folder: str | Path,
    *,
    size: int | None = None,
    packshots_only: bool = False,
    workers: int = 8,
    limits: Limits | None = None,
    progress: Progress = None,
) -> Pictures:
    """Bring the pictures of a catalogue into a folder, each checked against what is told of it.

    A file is good when it is a picture that can be read to its end, and has the checksum (CRC-32, in decimal or
    hexadecimal; digits alone may be either), the bytes and the pixels that are told, as far as they are. What does not
    pass lies in the folder `broken`, and `broken` of the result says why. What is there already and passes is not
    fetched again, and a file of which a part came goes on from there: after an interruption, call it again.

    The addresses are what suppliers typed. They are asked without any token or cookie, http and https only, on the
    public internet only (the sandbox excepted that the catalogue came from), within limits of bytes and time.

    Parameters
    ----------
    catalog
        With `assets.pictures`; or the name of a snapshot.
    folder
        Where to; made if it does not exist. Files are named `<gtin>_<position>_<product_id>`, and `_<size>` where one
        was given, so that nothing overwrites anything; the ending says what the file is.
    size
        Pixels: of each picture the smallest rendition whose longest side has so many, else the largest there is, else
        the original. None for the originals.
    packshots_only
        Only what is said to be a packshot.
    workers
        Files at a time, of one host four at most.
    limits
        What one file may take: 50 million bytes and 120 seconds by default.
    progress
        As for `load_products`.

    Returns
    -------
    Pictures
        What became of every picture.

    Raises
    ------
    InputError
        When pictures were not asked for when the catalogue was loaded, or a parameter makes no sense.
    StorageError
        When the disk refuses: full, read-only, not permitted, or the folder is a file.
    SnapshotLocked
        When another process brings pictures into the folder.

    Examples
    --------
    >>> import prodex, tempfile
    >>> catalog = prodex.flatten([{"id": 7, "assets": {"pictures": [{"url": "file:///etc/passwd"}]}}])
    >>> pictures = download_pictures(catalog, tempfile.mkdtemp())
    >>> pictures.broken[["state", "reason"]].values.tolist()
    [['failed', 'file:///etc/passwd is a file: address, and only http and https are asked.']]
    """
    if whole_number(workers, _WORKERS[0], _WORKERS[-1]) is None:
        raise InputError(f"workers={workers!r} must be a number from 1 to {_WORKERS[-1]}.")
    catalog = catalog_given(catalog, "download_pictures(catalog, 'pictures')", folder)
    if not isinstance(folder, str | Path):
        raise InputError(
            f"folder is {described(folder)}. Give a folder: download_pictures(catalog, 'pictures')."
        )
    checked_origin(catalog, _needed(size, packshots_only))
    pictures = plan(catalog, size=size, packshots_only=packshots_only)
    place = Path(folder).absolute()
    with locked(place, "downloading pictures"):
        shelf = PictureFolder.of(place)
        results = [_untouched(picture) for picture in pictures]
        wanted = [one.picture for one in results if one.state is PictureState.FAILED]
        try:
            with (
                MediaDownloader(catalog.origin.source, limits=limits) as media,
                showing(progress, "Pictures", "pictures") as show,
            ):
                done = 0
                work = partial(_work, shelf=shelf, media=media)
                for found in side_by_side(jobs_of(wanted), work, media, workers):
                    for result in found:
                        results[result.picture.number] = result
                    done += len(found)
                    show(done, len(wanted))
        except BaseException:
            with suppress(StorageError):
                shelf.describe(frame_of(map(shelf.recalled, results), {}))
            raise
        outcome = Pictures(place, frame_of(results, names_of(catalog)))
        shelf.describe(outcome.files)
        if outcome.complete:
            shelf.sweep()
    return outcome


def _needed(size: int | None, packshots_only: bool) -> Iterator[str]:
    yield "assets.pictures.url"
    if size is not None:
        yield "assets.pictures.exportables"
    if packshots_only:
        yield "assets.pictures.isPackshot"


def _untouched(picture: Picture) -> PictureResult:
    """Return what is true of a picture as long as nothing was fetched."""
    if picture.left_out is not None:
        return PictureResult(picture, PictureState.NOT_ASKED, reason=picture.left_out)
    if picture.url is None:
        helps = "Ask the supplier to send the picture again."
        return PictureResult(
            picture, PictureState.NO_ADDRESS, reason="the record has no address", what_to_do=helps
        )
    helps = "Call it again: what is here stays."
    return PictureResult(picture, PictureState.FAILED, reason="it was stopped before", what_to_do=helps)


def _work(job: FetchJob, shelf: PictureFolder, media: MediaDownloader) -> list[PictureResult]:
    """Bring the file of a job where it is not there yet."""
    results, missing = [], FetchJob({})
    for picture in job:
        there = shelf.there(picture)
        if there is None:
            missing.pictures.setdefault(str(picture.url), []).append(picture)
        else:
            results.append(there)
    with closing(arrivals(missing, media, shelf.folder)) as found:
        return results + [shelf.put(arrival) for arrival in found]
