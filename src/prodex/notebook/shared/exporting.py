"""What a form of exports asks for: a path, and whether a spreadsheet will open the file."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import ipywidgets as w

from prodex.errors import InputError
from prodex.notebook.shared.panel import check_box

_SHOWN = 40


def spreadsheet_box() -> w.Checkbox:
    """Return the option of every export as CSV."""
    label = "Safe for spreadsheets (puts an apostrophe before text that would run as a formula)"
    return check_box(label, is_ticked=True)


def path_of(text: str, what: str) -> Path:
    """Return the path that was entered; `~` is the home folder.

    Parameters
    ----------
    text
        What was entered.
    what
        What it is the path of, for the message when nothing was entered.

    Raises
    ------
    InputError
        When nothing was entered, or no file and no folder can have this name.

    Examples
    --------
    >>> path_of(" out/list.csv ", "a file").name
    'list.csv'
    >>> path_of("x" * 300, "a file")
    Traceback (most recent call last):
    prodex.errors.InputError: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…' cannot be written to: File name too long. \
Give another name.
    """
    if not text.strip():
        raise InputError(f"Enter {what}.")
    try:
        path = Path(text.strip()).expanduser()
        # Which names are possible depends on the file system (length, characters), so it is asked.
        with suppress(FileNotFoundError, NotADirectoryError):
            path.stat()
    except (OSError, RuntimeError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error).rstrip(".")
        shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
        raise InputError(f"{shown!r} cannot be written to: {why}. Give another name.") from error
    return path
