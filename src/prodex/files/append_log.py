"""Logs: files of JSON lines that are only ever added to, each line on the disk before anybody counts on it.

What a killed process, a full disk or a power cut has left of a line at the end is no line: readers leave it out, and
the next writer removes it, since a line behind it could not be read either. One process writes at a time, which a lock
of the caller sees to.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from prodex.errors import StorageError
from prodex.files.atomic import flush, open_private, storage
from prodex.files.untrusted import is_foreign, is_there, read_bytes

#: Bytes that are read at once, from the end of a file, to find the beginning of its last line.
_STEP = 1 << 16


@dataclass(frozen=True)
class AppendLog:
    r"""A file of lines.

    Parameters
    ----------
    path
        The file; made with the first line, its folder has to be there.
    private
        Only its owner may read it.
    keeps_rest
        What is left of a line at the end becomes a line of its own: of files that people edit, nothing is removed.

    Examples
    --------
    >>> import tempfile
    >>> log = AppendLog(Path(tempfile.mkdtemp(), "log.jsonl"))
    >>> log.append(b'{"batch": 1}')
    >>> _ = log.path.write_bytes(log.path.read_bytes() + b'{"bat')  # a process that was killed
    >>> log.append(b'{"batch": 2}')
    >>> list(log.lines()), log.path.read_bytes()
    ([b'{"batch": 1}', b'{"batch": 2}'], b'{"batch": 1}\n{"batch": 2}\n')
    """

    path: Path
    private: bool = True
    keeps_rest: bool = False

    def append(self, line: bytes) -> None:
        """Add a line, given without its end. It is on the disk when this returns; after an error, nothing of it is.

        Raises
        ------
        StorageError
            When the disk refuses, or the file is a link or has another name: writing would change a file elsewhere.
        """
        with self._handle() as handle:
            _append(handle, line + b"\n", self.keeps_rest)

    def repair(self) -> None:
        """Remove what is left of a line at the end, as the next `append` would; complete one that only lacks its end.

        Raises
        ------
        StorageError
            As for `append`.
        """
        with self._handle() as handle:
            _whole_lines(handle, self.keeps_rest)

    def lines(self) -> Iterator[bytes]:
        """Yield the lines without their ends, and not what is left of one at the end.

        Raises
        ------
        OSError
            When it cannot be read, or is a link.
        """
        content = read_bytes(self.path, most=None)
        begin = 0
        while (end := content.find(b"\n", begin)) >= 0:
            yield content[begin:end]
            begin = end + 1
        if _is_whole_line(last := content[begin:]):
            yield last

    def cut(self, size: int) -> None:
        """Keep only so many bytes, which the lines before one that cannot be used take with their ends.

        Raises
        ------
        StorageError
            When the disk refuses.
        """
        with storage(self.path):
            if is_there(self.path) and self.path.stat().st_size > size:
                os.truncate(self.path, size)

    @contextmanager
    def _handle(self) -> Iterator[int]:
        """Open the file to read it and to add to it."""
        with storage(self.path):
            if is_foreign(self.path):
                raise StorageError(
                    f"{self.path} is not a plain file, and lines are not written through links. Nothing was written to "
                    "it. Check where its folder comes from."
                )
            is_new = not self.path.exists()
            with open_private(self.path, "a+b") if self.private else self.path.open("a+b") as file:
                yield file.fileno()
            if is_new:
                flush(self.path.parent)


def _append(handle: int, line: bytes, keeps_rest: bool) -> None:
    end = _whole_lines(handle, keeps_rest)
    try:
        rest = memoryview(line)
        while rest:  # the system may take a part, as on a disk that is nearly full
            rest = rest[os.write(handle, rest) :]
        os.fsync(handle)
    except BaseException:
        # A part of a line would make the next one unreadable; an interrupt leaves one as a full disk does.
        with suppress(OSError):
            os.ftruncate(handle, end)
        raise


def _whole_lines(handle: int, keeps_rest: bool) -> int:
    """Have a file end with a line break, and return its size."""
    size = os.lseek(handle, 0, os.SEEK_END)
    if not size:
        return 0
    os.lseek(handle, size - 1, os.SEEK_SET)
    if os.read(handle, 1) == b"\n":
        return size
    begin, last = size, b""
    while begin and b"\n" not in last:
        step = min(begin, _STEP)
        begin -= step
        os.lseek(handle, begin, os.SEEK_SET)
        last = os.read(handle, step) + last
    last = last.rpartition(b"\n")[2]
    if keeps_rest or _is_whole_line(last):  # only its end is missing
        return size + os.write(handle, b"\n")
    os.ftruncate(handle, size - len(last))
    return size - len(last)


def _is_whole_line(line: bytes) -> bool:
    """Whether the bytes at the end of a file are a whole line: the beginning of an object is no JSON."""
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True
