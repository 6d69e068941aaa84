"""Folders that may come from somebody else: only plain files inside them are read, and only as what they should be.

Nothing in such a folder is trusted. A name may be a link to a file elsewhere, a number may be a path, and a file may
be a pipe that never ends. What is read as JSON is read into a declared shape, so that whoever uses it meets the types
and ranges that it expects.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec

Shape = TypeVar("Shape")

#: A number of things, as a file may claim it.
Count = Annotated[int, msgspec.Meta(ge=0, lt=2**53)]

#: A SHA-256 digest.
Digest = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]

#: A moment with its zone; see `check_moment` for its range.
Moment = Annotated[datetime, msgspec.Meta(tz=True)]

#: Bytes of a file that is read as a whole: far more than the manifest of any catalogue has.
_MOST_BYTES = 2**28

#: Moments outside of this are not of any load, and computing with them would leave what a datetime can hold.
_FIRST, _LAST = datetime(1970, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC)


class MadeByNewer(ValueError):
    """A file is of a format that only a newer version reads."""


class _Head(msgspec.Struct):
    format: Annotated[int, msgspec.Meta(ge=1)]


def is_folder(path: Path) -> bool:
    """Say whether a folder stands there, and no link to one."""
    return _is(path, stat.S_ISDIR)


def is_file(path: Path) -> bool:
    """Say whether a plain file stands there, and no link, pipe or device."""
    return _is(path, stat.S_ISREG)


def is_own_file(path: Path) -> bool:
    """Say whether a plain file stands there that has no other name: only such a file is ever written in place."""
    return is_file(path) and path.lstat().st_nlink == 1


def is_there(path: Path) -> bool:
    """Say whether anything has this name, a link into nothing included."""
    return os.path.lexists(path)


def is_plain(folder: Path) -> bool:
    """Say whether there is nothing in a folder but folders and plain files."""
    return is_folder(folder) and all(
        is_folder(Path(place, name)) or is_file(Path(place, name))
        for place, folders, files in os.walk(folder)
        for name in (*folders, *files)
    )


def refuse_links(folder: Path, paths: Iterable[Path]) -> None:
    """Refuse files that are reached through a link, or are none; what is above the folder is the user's own affair.

    Raises
    ------
    OSError
        When a path is not that of a plain file inside the folder; the message names it.
    """
    known: set[Path] = set()
    for path in paths:
        for place in reversed(path.relative_to(folder).parents[:-1]):
            if folder / place not in known and not is_folder(folder / place):
                raise OSError(f"{folder / place} is no folder of its own, and links are not followed")
            known.add(folder / place)
        if not is_file(path):
            raise OSError(f"{path} is missing" if not is_there(path) else f"{path} is {_what(path)}")


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
    # Between looking and opening it may have been replaced: neither is a link followed nor a pipe waited for.
    handle = os.open(path, os.O_RDONLY | sum(getattr(os, flag, 0) for flag in _OPENED))
    with os.fdopen(handle, "rb") as file:
        state = os.fstat(file.fileno())
        if not stat.S_ISREG(state.st_mode):
            raise OSError("it is no plain file")
        if most is not None and state.st_size > most:
            raise OSError(f"it has {state.st_size:,} bytes, and more than {most:,} are not read")
        return file.read(state.st_size)


def read_json(path: Path, shape: type[Shape], *, newest: int | None = None) -> Shape:
    """Read a JSON file into a declared shape.

    Parameters
    ----------
    path
        The file.
    shape
        A type that msgspec knows: names, types and ranges of what is in it. Further names are left out.
    newest
        The newest `format` that can be read; None for files without one.

    Raises
    ------
    OSError
        As for `read_bytes`.
    ValueError
        When the file is no JSON, or does not have the shape; `MadeByNewer` when only a newer version can read it.
    """
    content = read_bytes(path)
    if newest is not None and (found := decoded(content, _Head).format) > newest:
        raise MadeByNewer(f"made by a newer version of prodex (it is of format {found}): update prodex")
    return decoded(content, shape)


def decoded(content: bytes, shape: type[Shape]) -> Shape:
    """Return JSON as a declared shape.

    Raises
    ------
    ValueError
        When it is no JSON, or does not have the shape.
    """
    try:
        return msgspec.json.decode(content, type=shape)
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error
    except msgspec.MsgspecError as error:
        raise ValueError(str(error)) from error


def converted(value: Any, shape: type[Shape]) -> Shape:
    """Return values of JSON as a declared shape.

    Raises
    ------
    ValueError
        When they do not have it.
    """
    try:
        return msgspec.convert(value, shape)
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error
    except msgspec.MsgspecError as error:
        raise ValueError(str(error)) from error


def check_moment(moment: datetime | None) -> None:
    """Refuse a moment that is not of our time.

    Raises
    ------
    ValueError
        When it is.
    """
    if moment is not None and not _FIRST <= moment.replace(tzinfo=moment.tzinfo or UTC) <= _LAST:
        raise ValueError(f"the year {moment.year} is not of our time")


_OPENED = ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY")


def _is(path: Path, kind: Any) -> bool:
    try:
        return bool(kind(path.lstat().st_mode))
    except (OSError, ValueError):  # not there, or no name that a file can have
        return False


def _what(path: Path) -> str:
    if path.is_symlink():
        return "a link, and links are not followed"
    return "a folder, not a file" if path.is_dir() else "no plain file"
