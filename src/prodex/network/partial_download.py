"""A file that arrives piece by piece: what came is kept, and the rest can be asked for later."""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from prodex.files import remove, storage

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse

_RANGE = re.compile(r"bytes ([0-9]{1,18})-[0-9]{1,18}/")


class PartialDownload:
    """The part of a file that came so far, with what tells the version of the file (ETag, Last-Modified) beside it.

    Parameters
    ----------
    path
        Where the part is, or will be.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._version = path.with_suffix(".version")

    @property
    def size(self) -> int:
        """Bytes that came."""
        return self.path.lstat().st_size if _is_file(self.path) else 0

    def headers(self) -> dict[str, str]:
        """Return what asks for the rest, if that is of the same version; nothing where it cannot be told."""
        if not self.size or not _is_file(self._version):
            return {}
        version = self._version.read_text("ascii", "replace")
        return {"Range": f"bytes={self.size}-", "If-Range": version} if _is_certain(version) else {}

    def goes_on(self, reply: BaseHTTPResponse) -> bool:
        """Say whether a reply (206) begins where we are, with the version that we have a part of."""
        place = _RANGE.match(reply.headers.get("Content-Range", ""))
        version = _version_of(reply)
        is_same = version is None or version == self.headers().get("If-Range")
        return place is not None and int(place[1]) == self.size and is_same

    def forget(self) -> None:
        """Begin anew next time."""
        remove(self.path)
        remove(self._version)

    @contextmanager
    def receiving(self, reply: BaseHTTPResponse) -> Iterator[Callable[[bytes], None]]:
        """Give a function that adds bytes to what came, or to nothing when the reply holds the whole file.

        Raises
        ------
        StorageError
            When the disk refuses.
        """
        with storage(self.path):
            if reply.status == 200 or not self.size:
                self.forget()
            if reply.status == 200 and (version := _version_of(reply)) is not None:
                self._version.write_text(version, "ascii")
            file = self.path.open("ab")

        def add(piece: bytes) -> None:
            with storage(self.path):
                file.write(piece)
                file.flush()  # what came counts even if nothing more comes of this process

        try:
            yield add
        finally:
            with storage(self.path):
                file.close()


def _version_of(reply: BaseHTTPResponse) -> str | None:
    """Return what tells this version of the file for certain; a weak ETag does not."""
    for name in ("ETag", "Last-Modified"):
        if _is_certain(value := reply.headers.get(name, "")):
            return value
    return None


def _is_certain(version: str) -> bool:
    return version != "" and version.isascii() and version.isprintable() and not version.startswith("W/")


def _is_file(path: Path) -> bool:
    """Say whether a file of this folder stands there, and no link: a folder may come from somebody else.

    What is added to a link would be written elsewhere, and what is read of it would be sent elsewhere.
    """
    try:
        found = path.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_nlink == 1
