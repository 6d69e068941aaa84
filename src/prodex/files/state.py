"""Small state of one's own, such as a draft or a saved view: a private JSON file with the number of its layout.

It is written as a whole; `prodex.files.untrusted.read_json` reads it in a declared shape, or says why not. What
was sent to a service is no small state: see `prodex.ledger`. What a team shares is no private file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from prodex.files.atomic import writing


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
    >>> from prodex.files.untrusted import read_json
    >>> write_state(home() / "counts.json", {"seen": 7}, 1)
    >>> read_json(home() / "counts.json", dict[str, int], layout=1)["seen"]
    7
    """
    content = msgspec.json.encode({"format": layout, **msgspec.to_builtins(state)})
    with writing(path, private=True) as beside:
        beside.write_bytes(msgspec.json.format(content, indent=1))
