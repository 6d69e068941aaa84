"""Folders that may be from somebody else: only plain files inside them are read, and JSON only in a declared shape.

Nothing in such a folder is trusted. A name may be a link to a file elsewhere, a number may be a path, and a file may
be a pipe that never ends. JSON is read into a declared shape, so that callers get the types and ranges they expect.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec

from prodex.files.layouts import require_layout

Shape = TypeVar("Shape")

#: A count that a file claims. Below 2**53 it is exact in every reader of JSON.
Count = Annotated[int, msgspec.Meta(ge=0, lt=2**53)]

#: A SHA-256 digest.
Digest = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]

#: A moment with its zone; see `check_moment` for its range.
Moment = Annotated[datetime, msgspec.Meta(tz=True)]

#: Bytes of a file that is read as a whole: far more than the manifest of any catalogue needs.
_MOST_BYTES = 2**28

#: No load happened outside of these, and adding a time zone to a moment near the year 9999 overflows a datetime.
_FIRST, _LAST = datetime(1970, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC)


class _LayoutOnly(msgspec.Struct):
    format: int | None = None


def is_folder(path: Path) -> bool:
    """Whether a path is a folder, and no link to one."""
    return _is(path, stat.S_ISDIR)


def leads_to_folder(path: Path) -> bool:
    """Whether a path leads to a folder, through links too; what may not be looked at is none."""
    try:
        return path.is_dir()
    except OSError:
        return False


def leads_to_file(path: Path) -> bool:
    """Whether a path leads to a plain file, through links too; what may not be looked at is none."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def is_file(path: Path) -> bool:
    """Whether a path is a plain file, and no link, pipe or device."""
    return _is(path, stat.S_ISREG)


def is_own_file(path: Path) -> bool:
    """Whether a path is a plain file without a second name (hard link): only such a file is written in place."""
    found = _looked_at(path)
    return found is not None and stat.S_ISREG(found.st_mode) and found.st_nlink == 1


def is_foreign(path: Path) -> bool:
    """Whether something has this path that is no such file; it is looked at once, since others may remove it."""
    found = _looked_at(path)
    return found is not None and not (stat.S_ISREG(found.st_mode) and found.st_nlink <= 1)


def _looked_at(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except (OSError, ValueError):  # missing, or no name that a file can have
        return None


def is_there(path: Path) -> bool:
    """Whether anything has this path, a broken link included."""
    try:
        return os.path.lexists(path)
    except ValueError:  # no name that a file can have, in Python before 3.13
        return False


def resolved(path: Path) -> Path:
    """Return a path with its links followed, as far as they lead.

    Raises
    ------
    OSError
        When it is no path that a file can have, or its links form a circle.
    """
    try:
        return path.resolve()
    except (ValueError, RuntimeError) as error:
        raise OSError(f"it is no path of a file ({error})") from error


def is_plain(folder: Path) -> bool:
    """Whether a folder contains only folders and plain files."""
    if not is_folder(folder):
        return False
    waiting: list[Path | str] = [folder]
    while waiting:
        entries: list[os.DirEntry[str]] = []
        # What may not be listed may not be read either, and whoever reads it says so.
        with suppress(OSError), os.scandir(waiting.pop()) as found:
            entries = list(found)
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
            elif not entry.is_file(follow_symlinks=False):
                return False
    return True


def refuse_links(folder: Path, paths: Iterable[Path]) -> None:
    """Refuse paths that lead through a link or to no plain file; links above the folder are the user's own choice.

    Raises
    ------
    OSError
        When a path is not that of a plain file inside the folder; the message names it.
    """
    plain: dict[str, set[str]] = {}
    for path in paths:
        # Its folder is listed once for all its files: to ask for each of thousands would take most of the opening.
        parent, name = os.path.split(path)
        if parent not in plain:
            _refuse_linked_folders(folder, path.parent)
            plain[parent] = _plain_files(parent)
        # A file system may find a file by its name in another case, so it is asked.
        if name not in plain[parent] and not is_file(path):
            raise OSError(f"{path} is missing" if not is_there(path) else f"{path} is {_what(path)}")


def _refuse_linked_folders(folder: Path, below: Path) -> None:
    between = below.relative_to(folder)
    for place in [*reversed(between.parents), between][1:]:
        if not is_folder(folder / place):
            raise OSError(f"{folder / place} is not a folder of its own, and links are not followed")


def _plain_files(folder: str) -> set[str]:
    with os.scandir(folder) as entries:
        return {entry.name for entry in entries if entry.is_file(follow_symlinks=False)}


def read_bytes(path: Path, most: int | None = _MOST_BYTES) -> bytes:
    """Read a plain file, following no link.

    Parameters
    ----------
    path
        The file.
    most
        Bytes that it may have; None for any number.

    Raises
    ------
    OSError
        When it is not there, no plain file, or larger.
    """
    if is_there(path) and not is_file(path):
        raise OSError(f"it is {_what(path)}")
    # It may have been replaced since it was looked at: O_NOFOLLOW refuses a link, O_NONBLOCK does not wait for a pipe.
    try:
        handle = os.open(path, os.O_RDONLY | sum(getattr(os, flag, 0) for flag in _OPENED))
    except ValueError as error:
        raise OSError(f"it is no path of a file ({error})") from error
    with os.fdopen(handle, "rb") as file:
        state = os.fstat(file.fileno())
        if not stat.S_ISREG(state.st_mode):
            raise OSError("it is not a plain file")
        if most is not None and state.st_size > most:
            raise OSError(f"it has {state.st_size:,} bytes, and more than {most:,} are not read")
        return file.read(state.st_size)


def read_json(path: Path, shape: type[Shape], *, layout: int | None = None, advice: str = "") -> Shape:
    """Read a JSON file into a declared shape.

    Parameters
    ----------
    path
        The file.
    shape
        A type that msgspec knows: names, types and ranges of what is in it. Further names are left out.
    layout
        The number that it has to have under `format`; None for files without a number of their own.
    advice
        What to do with one that has another; see `prodex.files.layouts`.

    Raises
    ------
    OSError
        As for `read_bytes`.
    ValueError
        When the file is no JSON, or does not have the shape.
    OtherLayout
        When another version of prodex wrote it.
    """
    content = read_bytes(path)
    if layout is not None:
        require_layout(path, json_in_shape(content, _LayoutOnly).format, layout, advice)
    return json_in_shape(content, shape)


def json_in_shape(content: bytes, shape: type[Shape]) -> Shape:
    """Return JSON as a declared shape.

    Raises
    ------
    ValueError
        When it is no JSON, or does not have the shape.
    """
    with _as_value_error():
        return msgspec.json.decode(content, type=shape, dec_hook=_of_plain)


def converted(value: Any, shape: type[Shape]) -> Shape:
    """Return values of JSON as a declared shape.

    Raises
    ------
    ValueError
        When they do not have it.
    """
    with _as_value_error():
        return msgspec.convert(value, shape, dec_hook=_of_plain)


def _of_plain(kind: type, value: Any) -> Any:
    """Return a value whose type says itself how it is read."""
    return kind.of_plain(value)  # type: ignore[attr-defined]


@contextmanager
def _as_value_error() -> Iterator[None]:
    try:
        yield
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error
    except msgspec.MsgspecError as error:
        raise ValueError(str(error)) from error


def check_moment(moment: datetime | None) -> None:
    """Refuse a moment at which no load can have happened.

    Raises
    ------
    ValueError
        When it is before 1970 or after the year 9000.
    """
    if moment is not None and not _FIRST <= moment.replace(tzinfo=moment.tzinfo or UTC) <= _LAST:
        raise ValueError(f"the year {moment.year} is not of our time")


_OPENED = ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY")


def _is(path: Path, kind: Any) -> bool:
    try:
        return bool(kind(path.lstat().st_mode))
    except (OSError, ValueError):  # missing, or no name that a file can have, such as one with a zero byte
        return False


def _what(path: Path) -> str:
    if path.is_symlink():
        return "a link, and links are not followed"
    return "a folder, not a file" if path.is_dir() else "not a plain file"
