"""The view of a panel without the buttons, fields and forms that ask for what it may not do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

#: What holds blocks, and is nothing without them: its kind, and what it holds.
_HOLDERS = {"row": "blocks", "box": "blocks", "form": "buttons"}
#: In place of a part that is left out.
_NOTHING = object()


def permitted(view: dict[str, Any], can: Callable[[str], bool]) -> dict[str, Any]:
    """Return a view without what asks for actions that are not allowed.

    What is left out here is only not offered: `App` refuses it, whoever asks for it.

    Examples
    --------
    >>> press = {"kind": "button", "do": "views.save"}
    >>> permitted({"blocks": [press, {"kind": "text", "text": "7 products"}]}, lambda name: name != "views.save")
    {'blocks': [{'kind': 'text', 'text': '7 products'}]}
    """
    return {name: _kept(part, can, name) for name, part in view.items()}


def _kept(part: Any, can: Callable[[str], bool], name: str = "") -> Any:
    """Return what is left of a part of a view, or `_NOTHING`."""
    if isinstance(part, list):
        kept = [_kept(one, can) for one in part]
        # The cells of a row stay below their heads.
        instead = [""] if name == "cells" else []
        return [one for each in kept for one in (instead if each is _NOTHING else [each])]
    if not isinstance(part, dict):
        return part
    if not all(map(can, _asked(part))):
        if "kind" in part:
            return _NOTHING
        # A row of a table is still read.
        part = {key: one for key, one in part.items() if key not in {"do", "args"}}
    made = {key: left for key, one in part.items() if (left := _kept(one, can, key)) is not _NOTHING}
    if _holds_nothing(part, made) or ("button" in part and "button" not in made):
        return _NOTHING
    return made


def _asked(part: dict[str, Any]) -> Iterable[str]:
    """Return the actions that a part asks for."""
    do = part.get("do")
    return do.values() if isinstance(do, dict) else [do] if isinstance(do, str) and do else []


def _holds_nothing(before: dict[str, Any], made: dict[str, Any]) -> bool:
    """Return whether a holder has lost all that it held; without its buttons, a form does nothing."""
    held = _HOLDERS.get(before.get("kind", ""))
    if held is None or not before[held] or made[held]:
        return False
    return not any(map(_asked, made.get("fields", ())))
