"""SmallPicture pictures that were made before, kept under `PRODEX_HOME`/thumbnails by what is told of their files."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from prodex.files import home, make_folder, storage, sweep, writing
from prodex.pictures.file_check import read_checksum
from prodex.pictures.plan import Picture
from prodex.pictures.resize import SmallPicture

#: Two threads may have made the same one.
_WRITING = threading.Lock()


def read_kept(picture: Picture, size: int) -> SmallPicture | None:
    """Return the small picture that was made before, if its file is told to be the same; None where there is none."""
    try:
        small = SmallPicture.of(_place(picture, size).read_bytes())
    except OSError:  # mostly since there is none
        return None
    return small if small.problem is None else None


def keep(picture: Picture, size: int, small: SmallPicture) -> None:
    """Keep one for the next time.

    Raises
    ------
    StorageError
        When the disk refuses.
    """
    if small.content is not None:
        with _WRITING, writing(_place(picture, size), private=True) as beside:
            beside.write_bytes(small.content)


@contextmanager
def workplace() -> Iterator[Path]:
    """Give a folder for files that are only needed meanwhile.

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
    """Name it by the content that is told; where too little is told, by address and date."""
    told = [picture.file_size, picture.width, picture.height]
    checksums = sorted(read_checksum(picture.crc32))
    content = [checksums, told] if checksums and any(told) else [picture.url, str(picture.updated_at), told]
    name = hashlib.sha256(json.dumps([content, size]).encode()).hexdigest()[:32]
    return _folder() / name[:2] / f"{name}.jpg"


def _folder() -> Path:
    return home() / "thumbnails"
