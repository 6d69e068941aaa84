"""Paths that are typed into forms."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from prodex.notebook.session.session import Refused
from prodex.notebook.views.forms import required

_SHOWN = 40


def path_of(text: str, *, at: str = "") -> Path:
    """Return the path that was typed; `~` is the home folder.

    Parameters
    ----------
    text
        What was typed.
    at
        The form and the field.

    Raises
    ------
    Refused
        When no file and no folder can have this name.

    Examples
    --------
    >>> path_of(" out/list.csv ").name
    'list.csv'
    >>> path_of("x" * 300)
    Traceback (most recent call last):
    prodex.notebook.session.session.Refused: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…' cannot be written to: File \
name too long. Give another name.
    """
    try:
        path = Path(text.strip()).expanduser()
        # Which names are possible depends on the file system (length, characters), so it is asked.
        with suppress(FileNotFoundError, NotADirectoryError):
            path.stat()
    except (OSError, RuntimeError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error).rstrip(".")
        shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
        raise Refused(f"{shown!r} cannot be written to: {why}. Give another name.", at=at) from error
    return path


def path_typed(values: Mapping[str, Any], at: str, sentence: str) -> Path:
    """Return the path that was typed in a field ("report.page"), whose form has these values.

    Raises
    ------
    Refused
        When nothing was typed, which the sentence says, or no file and no folder can have this name.
    """
    form, _, field = at.partition(".")
    return path_of(required(values, form, field, sentence), at=at)
