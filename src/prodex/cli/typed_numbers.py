"""Numbers of options, in the grammar of all that people type: what to give a typer.Option as its parser.

Typer shows the names of these functions in the help of a command, and gives them the default of an option as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import typer

from prodex.errors import InputError
from prodex.written_numbers import written_number, written_whole

_Number = TypeVar("_Number")


def integer(typed: Any) -> int | None:
    """Read a whole number.

    >>> integer("1 000"), integer(None)
    (1000, None)
    """
    return _read(written_whole, typed)


def number(typed: Any) -> float | None:
    """Read a number.

    >>> number("0,5"), number(float("inf"))
    (0.5, inf)
    """
    return _read(lambda text: float(written_number(text)), typed)


def count(typed: Any) -> int | None:
    """Read a whole number that is not below zero."""
    found = integer(typed)
    if found is not None and found < 0:
        raise typer.BadParameter(f"{typed!r:.60} is below 0. Write a whole number from 0 on.")
    return found


def share(typed: Any) -> float | None:
    """Read a number from 0 to 1."""
    found = number(typed)
    if found is not None and not 0 <= found <= 1:
        raise typer.BadParameter(f"{typed!r:.60} is not a share. Write a number from 0 to 1, such as 0.8.")
    return found


def _read(read: Callable[[str], _Number], typed: Any) -> _Number | None:
    try:
        return read(typed) if isinstance(typed, str) else typed
    except InputError as error:
        raise typer.BadParameter(str(error)) from error
