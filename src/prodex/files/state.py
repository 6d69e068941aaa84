"""Small state of one's own, such as a draft or a saved view: a private JSON file with the number of its layout.

It is written as a whole, and whoever reads it gets the shape that was declared, or an error that says why not. What
was sent to a service is no small state: see `prodex.ledger`. What a team shares is no private file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from prodex.files.atomic import writing
from prodex.files.untrusted import Shape, read_json


def write_state(path: Path, state: Any, layout: int) -> None:
    """Write a state in the place of the one before, which stays until this one is complete.

    Parameters
    ----------
    path
        Of the file; its folder is made.
    state
        A dataclass, or a dict by text, of what JSON can hold, paths, times and other dataclasses.
    layout
        The number of its layout.

    Raises
    ------
    StorageError
        When the disk refuses.

    Examples
    --------
    >>> from prodex.files.atomic import home
    >>> write_state(home() / "counts.json", {"seen": 7}, 1)
    >>> read_state(home() / "counts.json", dict[str, int], 1)["seen"]
    7
    """
    content = msgspec.json.encode({"format": layout, **msgspec.to_builtins(state)})
    with writing(path, private=True) as beside:
        beside.write_bytes(msgspec.json.format(content, indent=1))


def read_state(path: Path, shape: type[Shape], layout: int, advice: str = "") -> Shape:
    """Return a state.

    Parameters
    ----------
    path
        Of the file.
    shape
        What it has to be; further names are left out.
    layout
        The number that it has to have.
    advice
        What to do with a file of another layout, after it was moved away.

    Raises
    ------
    OSError, ValueError
        When it cannot be read, as for `read_json`.
    OtherLayout
        When another version of prodex wrote it.
    """
    return read_json(path, shape, layout=layout, advice=advice)
