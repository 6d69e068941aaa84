"""Downloading the pictures of a catalogue into a folder: checked, resumable, and listed in an index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

from prodex.advice import Argument, advice
from prodex.arguments import described, whole_number
from prodex.catalog import Catalog
from prodex.errors import InputError, StorageError
from prodex.facts.name import names_of
from prodex.files.lock import locked
from prodex.limits import Limits
from prodex.network.download import MediaDownloader
from prodex.pictures.fetch import FetchJob, arrivals, jobs_of, side_by_side
from prodex.pictures.plan import PlannedPicture, checked_origin, plan
from prodex.pictures.result import PictureFolder, PictureResult, Pictures, PictureState, frame_of
from prodex.progress import Progress, Reporter, reporting
from prodex.store.snapshot import catalog_given

#: More would wait for each other: four downloads of one host at most.
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
    """Download the pictures of a catalogue into a folder, and check each against its record.

    A file passes when it is a picture that can be decoded to its end, and has the checksum (CRC-32, in decimal or
    hexadecimal; digits alone may be either), the bytes and the pixels of the record, as far as the record has them.
    Failed files go to a separate folder, `broken`, and `broken` of the result has the reasons. A file that exists and
    passes is not downloaded again, and a partial file is continued: after an interruption, call it again.

    Suppliers typed the addresses. They are called without any token or cookie, by http and https only, on the
    public internet only (except for the sandbox with the catalogue), within limits of bytes and time.

    Parameters
    ----------
    catalog
        A catalogue with `assets.pictures`, or the name of a snapshot.
    folder
        The folder, made if it does not exist. Files are named `<gtin>_<position>_<product_id>`, with `_<size>` if a
        size is given, so that no file overwrites another; the suffix is that of the format of the file.
    size
        Pixels: the smallest rendition of each picture whose longest side has at least this many, else the largest
        rendition, else the original. None for the originals.
    packshots_only
        Download packshots only.
    workers
        Number of files at a time, at most four of one host.
    limits
        Limits of a file: 50 million bytes and 120 seconds by default.
    progress
        As for `load_products`.

    Returns
    -------
    Pictures
        A row for every picture of the catalogue.

    Raises
    ------
    InputError
        When the catalogue was loaded without pictures, or a parameter is not valid.
    StorageError
        When the disk refuses: full, read-only, not permitted, or the folder is a file.
    SnapshotLocked
        When another process downloads pictures into the folder.

    Examples
    --------
    >>> import prodex, tempfile
    >>> catalog = prodex.flatten([{"id": 7, "assets": {"pictures": [{"url": "file:///etc/passwd"}]}}])
    >>> pictures = download_pictures(catalog, tempfile.mkdtemp())
    >>> pictures.broken[["state", "reason"]].values.tolist()
    [['failed', 'file:///etc/passwd is a file: address; only http and https are requested.']]
    """
    if (whole := whole_number(workers, _WORKERS[0], _WORKERS[-1])) is None:
        raise InputError(
            advice(
                "{workers} must be a number from 1 to {most}.",
                workers=Argument("workers", workers),
                most=_WORKERS[-1],
            )
        )
    workers = whole
    catalog = catalog_given(catalog, "download_pictures(catalog, 'pictures')", folder)
    if not isinstance(folder, str | Path):
        raise InputError(
            f"folder is {described(folder)}. Give a folder: download_pictures(catalog, 'pictures')."
        )
    checked_origin(catalog, _needed(size, packshots_only))
    place = Path(folder).absolute()
    with reporting(progress, "Pictures", "pictures") as reporter:
        # Before the folder is made: a size that makes no sense leaves nothing behind.
        with reporter.phase("Listing pictures"):
            pictures = plan(catalog, size=size, packshots_only=packshots_only)
        with locked(place, "downloading pictures"):
            return _downloaded(catalog, pictures, place, workers, limits, reporter)


def _downloaded(
    catalog: Catalog,
    pictures: Sequence[PlannedPicture],
    place: Path,
    workers: int,
    limits: Limits | None,
    reporter: Reporter,
) -> Pictures:
    with reporter.phase("Checking the folder"):
        existing = PictureFolder.of(place)
    # A result for every picture before the first download: an index that is written on interruption is complete.
    results = [_untouched(picture) for picture in pictures]
    # What was left out or has no address needs no download.
    wanted = [one.picture for one in results if one.state is PictureState.FAILED]
    try:
        with (
            MediaDownloader(catalog.origin.source, limits=limits) as media,
            reporter.phase("Downloading pictures", "pictures", len(wanted), counts=True) as phase,
        ):
            work = partial(_work, existing=existing, media=media)
            for found in side_by_side(jobs_of(wanted), work, media, workers):
                for result in found:
                    results[result.picture.number] = result
                phase.add(len(found))
    except BaseException:
        # A full disk that has stopped the download would hide its own error behind that of the index.
        with suppress(StorageError):
            existing.describe(frame_of(map(existing.recalled, results), {}))
        raise
    with reporter.phase("Listing what was downloaded"):
        outcome = Pictures(place, frame_of(results, names_of(catalog)))
        existing.describe(outcome.files)
        if outcome.complete:
            existing.remove_leftovers()
    return outcome


def _needed(size: int | None, packshots_only: bool) -> Iterator[str]:
    yield "assets.pictures.url"
    if size is not None:
        yield "assets.pictures.exportables"
    if packshots_only:
        yield "assets.pictures.isPackshot"


def _untouched(picture: PlannedPicture) -> PictureResult:
    """Return the result for a picture before anything is downloaded; an interruption leaves it so."""
    if picture.left_out is not None:
        return PictureResult(picture, PictureState.NOT_ASKED, reason=picture.left_out)
    if picture.url is None:
        state, reason = PictureState.NO_ADDRESS, "the record has no address"
        helps = "Ask the supplier to send the picture again."
    else:
        state, reason = PictureState.FAILED, "the download was stopped before"
        helps = "Call download_pictures again: the files in the folder are kept."
    return PictureResult(picture, state, reason=reason, what_to_do=helps)


def _work(job: FetchJob, existing: PictureFolder, media: MediaDownloader) -> list[PictureResult]:
    """Download the file of a job, unless it is there."""
    results, missing = [], FetchJob({})
    for picture in job:
        there = existing.there(picture)
        if there is None:
            missing.pictures.setdefault(str(picture.url), []).append(picture)
        else:
            results.append(there)
    with closing(arrivals(missing, media, existing.folder)) as found:
        return results + [existing.put(arrival) for arrival in found]
