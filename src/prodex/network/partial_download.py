"""Resumable downloads: the part of a file that was received is kept, and the rest can be requested later."""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from prodex.files.atomic import remove, storage

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse

_RANGE = re.compile(r"bytes ([0-9]{1,18})-[0-9]{1,18}/")


class PartialDownload:
    """The received part of a file; its version (ETag or Last-Modified) is in a file beside it.

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
        """Bytes received."""
        return self.path.lstat().st_size if _is_file(self.path) else 0

    def headers(self) -> dict[str, str]:
        """Return headers that request the rest of the same version; none where the version is not known."""
        if not self.size or not _is_file(self._version):
            return {}
        version = self._version.read_text("ascii", "replace")
        return {"Range": f"bytes={self.size}-", "If-Range": version} if _is_strong(version) else {}

    def is_continued_by(self, reply: BaseHTTPResponse) -> bool:
        """Whether a 206 reply begins where this part ends and is of the same version."""
        range_ = _RANGE.match(reply.headers.get("Content-Range", ""))
        version = _version_of(reply)
        is_same = version is None or version == self.headers().get("If-Range")
        return range_ is not None and int(range_[1]) == self.size and is_same

    def discard(self) -> None:
        """Delete the part; the next attempt begins at the first byte."""
        remove(self.path)
        remove(self._version)

    @contextmanager
    def receiving(self, reply: BaseHTTPResponse) -> Iterator[Callable[[bytes], None]]:
        """Yield a function that appends bytes to the part, or to an empty file when the reply is the whole file.

        Raises
        ------
        StorageError
            When the disk refuses.
        """
        with storage(self.path):
            # A 200 is the whole file, even if a range was requested: servers may ignore Range.
            if reply.status == 200 or not self.size:
                self.discard()
            if reply.status == 200 and (version := _version_of(reply)) is not None:
                self._version.write_text(version, "ascii")
            file = self.path.open("ab")

        def add(piece: bytes) -> None:
            with storage(self.path):
                file.write(piece)
                file.flush()  # received bytes must survive a kill of this process

        try:
            yield add
        finally:
            with storage(self.path):
                file.close()


def _version_of(reply: BaseHTTPResponse) -> str | None:
    """Return the validator of this version of the file; a weak ETag (RFC 9110, 8.8.1) does not identify the bytes."""
    for name in ("ETag", "Last-Modified"):
        if _is_strong(value := reply.headers.get(name, "")):
            return value
    return None


def _is_strong(version: str) -> bool:
    return version != "" and version.isascii() and version.isprintable() and not version.startswith("W/")


def _is_file(path: Path) -> bool:
    """Whether this is a regular file with one name.

    The folder may come from somebody else. Through a symbolic or a hard link, received bytes would overwrite another
    file, and the content of another file would be sent as If-Range.
    """
    try:
        found = path.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_nlink == 1
