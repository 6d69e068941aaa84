"""The cache of small pictures, under `PRODEX_HOME`/thumbnails, by the records of their files."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from prodex.files.atomic import home, make_folder, storage, sweep, writing
from prodex.pictures.file_check import read_checksum
from prodex.pictures.plan import Picture
from prodex.pictures.resize import SmallPicture

#: Two threads may make the same picture.
_WRITING = threading.Lock()


def read_cached(picture: Picture, size: int) -> SmallPicture | None:
    """Return the small picture of a record from the cache, or None."""
    try:
        small = SmallPicture.of(_place(picture, size).read_bytes())
    except OSError:  # mostly because it is not in the cache; it can be made again in any case
        return None
    return small if small.problem is None else None


def cache(picture: Picture, size: int, small: SmallPicture) -> None:
    """Put a small picture into the cache.

    Raises
    ------
    StorageError
        When the disk refuses.
    """
    if small.content is not None:
        with _WRITING, writing(_place(picture, size), private=True) as beside:
            beside.write_bytes(small.content)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Provide a folder for files that are needed only for a moment.

    Raises
    ------
    StorageError
        When the disk refuses.
    """
    with storage(_folder()):
        make_folder(_folder(), private=True)
        sweep(_folder())
        place = tempfile.TemporaryDirectory(dir=_folder(), prefix=".", suffix=f".{os.getpid()}.part")
    with place as folder:
        yield Path(folder)


def _place(picture: Picture, size: int) -> Path:
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
    return _folder() / name[:2] / f"{name}.jpg"


def _folder() -> Path:
    return home() / "thumbnails"
