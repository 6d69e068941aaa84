"""Where somebody wants to have something written, as typed into a field."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from prodex.errors import InputError

_SHOWN = 40


def path_of(text: str) -> Path:
    """Return the path that was typed; `~` is one's own folder.

    Raises
    ------
    InputError
        When no file and no folder can be called so.

    Examples
    --------
    >>> path_of(" out/list.csv ").name
    'list.csv'
    >>> path_of("x" * 300)
    Traceback (most recent call last):
    prodex.errors.InputError: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…' cannot be written to: File name too long. \
Give another name.
    """
    try:
        path = Path(text.strip()).expanduser()
        with suppress(FileNotFoundError, NotADirectoryError):
            path.stat()  # the disk says what it thinks of the name
    except (OSError, RuntimeError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error).rstrip(".")
        shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
        raise InputError(f"{shown!r} cannot be written to: {why}. Give another name.") from error
    return path
