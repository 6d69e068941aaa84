"""Downloading several files at a time: a file of several pictures is downloaded once, and an interruption stops all."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed, wait
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from prodex.errors import MediaFailed
from prodex.network.download import MediaDownloader, PartialDownload
from prodex.pictures.file_check import FileFacts, check_file, compare, read_checksum
from prodex.pictures.plan import PlannedPicture

Made = TypeVar("Made")

#: Seconds that running downloads get to stop after an interruption.
_GRACE = 3.0


@dataclass(frozen=True, slots=True)
class FetchJob:
    """Pictures that have the same file according to their records: `pictures` by address."""

    pictures: dict[str, list[PlannedPicture]]

    def __iter__(self) -> Iterator[PlannedPicture]:
        return (picture for pictures in self.pictures.values() for picture in pictures)


@dataclass(frozen=True, slots=True)
class Arrival:
    """What was downloaded for a picture.

    Attributes
    ----------
    path, facts
        The file, which exists until the next one is downloaded, and its properties.
    checked, problem
        What could be checked, and what is wrong.
    error
        Why there is no file, if there is none.
    """

    picture: PlannedPicture
    path: Path | None = None
    facts: FileFacts | None = None
    checked: str = ""
    problem: str | None = None
    error: MediaFailed | None = None


def jobs_of(pictures: Iterable[PlannedPicture]) -> list[FetchJob]:
    """Return jobs, each of the pictures with the same address or, according to their records, with the same content."""
    by_url: dict[str, list[PlannedPicture]] = {}
    for picture in pictures:
        if picture.url is not None:
            by_url.setdefault(picture.url, []).append(picture)
    jobs: dict[Hashable, FetchJob] = {}
    for url, same in by_url.items():
        contents = {_content_key(picture) for picture in same}
        content = contents.pop() if len(contents) == 1 else None
        jobs.setdefault(content or url, FetchJob({})).pictures[url] = same
    return list(jobs.values())


def _content_key(picture: PlannedPicture) -> Hashable | None:
    """Return what identifies the content of a file, or None if the record has too little."""
    # A CRC-32 alone is too short: of ten thousand files two have the same by chance once in a hundred catalogues.
    checksums = read_checksum(picture.crc32)
    sizes = (picture.file_size, picture.width, picture.height)
    return (checksums, sizes) if checksums and any(sizes) else None


def arrivals(job: FetchJob, media: MediaDownloader, folder: Path) -> Generator[Arrival, None, None]:
    """Download the file of a job, and yield what was downloaded for each of its pictures.

    A file that passes its check serves all pictures of the job; otherwise each has what its own address gave.

    Parameters
    ----------
    job
        The pictures.
    media
        Downloads files.
    folder
        The folder for partial files.
    """
    tried: list[tuple[Path, list[Arrival]]] = []
    try:
        for url, pictures in job.pictures.items():
            # By the address: the same file is continued after an interruption, whichever picture asks for it.
            part = folder / f".f{hashlib.sha256(url.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}.part"
            tried.append((part, _download_once(url, pictures, part, media)))
            # The pictures of a job have one file by their records; if one address fails its check, the next is tried.
            first = tried[-1][1][0]
            if first.facts is not None and not any(one.problem for one in tried[-1][1]):
                yield from (Arrival(one, part, first.facts, *compare(first.facts, one)) for one in job)
                return
        for _, found in tried:
            yield from found
    finally:
        for part, found in tried:
            # With facts it is complete, good or not; a partial file is kept for the next call.
            if found[0].facts is not None:
                PartialDownload(part).discard()


def _download_once(
    url: str, pictures: Sequence[PlannedPicture], part: Path, media: MediaDownloader
) -> list[Arrival]:
    try:
        media.download(url, part)
    except MediaFailed as error:
        return [Arrival(picture, problem=str(error), error=error) for picture in pictures]
    facts = check_file(part, read_checksum(pictures[0].crc32))
    return [Arrival(picture, part, facts, *compare(facts, picture)) for picture in pictures]


def side_by_side(
    jobs: Sequence[FetchJob], work: Callable[[FetchJob], Made], media: MediaDownloader, workers: int
) -> Iterator[Made]:
    """Work on several jobs at a time, and yield the result of each as soon as it is there.

    An error or an interruption ends all of them: soon after, nothing is written any more.
    """
    pool = ThreadPoolExecutor(workers, thread_name_prefix="prodex-pictures")
    futures = [pool.submit(work, job) for job in jobs]
    try:
        for future in as_completed(futures):
            yield future.result()
    except BaseException:
        media.halt()
        # Without waiting: a download that hangs in the network would delay the interruption.
        pool.shutdown(wait=False, cancel_futures=True)
        wait([future for future in futures if future.running()], timeout=_GRACE)
        raise
    pool.shutdown()
