"""Answers about pictures: the address of a new one, or "old name -> address" for one that replaces another.

The service fetches a picture from its address; its size, its format and its checksum are known afterwards.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from prodex.fix.layout import DELETE_WORD
from prodex.fix.words import AnswerRefused

#: How to answer, for the worklist.
HOW = (
    "The address of the picture: https://... Where a product has several, name the one it replaces: old file name -> "
    "https://...; old file name -> (delete) removes one."
)

#: What a new picture has in common with the one that it replaces: what it shows, not how large it is.
_KEPT = (
    "isPackshot",
    "typeOfInformation",
    "contentType",
    "productFace",
    "angleHorizontal",
    "angleVertical",
    "angleOther",
)
_NAMES = ("gdsnFileName", "url", "uniformResourceIdentifierOrigin")
_ARROW = re.compile(r"\s*(?:->|→|=>)\s*")
_LONGEST = 2_000


def with_picture(value: Any, text: str, *, attribute: str, seen: str | None, front: bool) -> Any:
    """Return the assets of a product with the pictures of an answer, one a line.

    Parameters
    ----------
    value
        What the product has under `assets`; stays as it is.
    text
        The answer.
    attribute, seen
        What the finding is about: the attribute of a picture and the value it had, which say which one is replaced.
    front
        Whether the front packshot was asked for, so that a new picture is marked as that.

    Raises
    ------
    AnswerRefused
        When it is no address, or it is not certain which picture is meant.

    Examples
    --------
    >>> made = with_picture(None, "https://cdn.example/a.jpg", attribute="assets.pictures", seen=None, front=True)
    >>> made["pictures"]
    [{'url': 'https://cdn.example/a.jpg', 'isPackshot': True, 'productFace': 1}]
    """
    if value is not None and not isinstance(value, dict):
        raise AnswerRefused("the product has assets of another form. Correct it at its source.")
    assets: dict[str, Any] = copy.deepcopy(value or {})
    pictures = assets.setdefault("pictures", []) or []
    if not isinstance(pictures, list):
        raise AnswerRefused("the product has pictures of another form. Correct it at its source.")
    for line in filter(None, map(str.strip, text.splitlines())):
        old, *new = _ARROW.split(line)
        if len(new) > 1:
            raise AnswerRefused(f"{line!r:.80} has several arrows. {HOW}")
        place = _place(pictures, old) if new else _place_seen(pictures, attribute, seen)
        address = new[0] if new else old
        if address.casefold() == DELETE_WORD:
            if place is None:
                raise AnswerRefused(f"{line!r:.80} does not say which picture to remove. {HOW}")
            del pictures[place]
        elif place is None:
            pictures.append(
                {"url": _address(address), "isPackshot": front, **({"productFace": 1} if front else {})}
            )
        else:
            before = pictures[place]
            pictures[place] = {
                "url": _address(address),
                **{one: before[one] for one in _KEPT if one in before},
            }
    assets["pictures"] = pictures
    return assets


def is_there(value: Any, attribute: str, seen: str) -> bool:
    """Whether the one picture that a finding was about is still there, as it was seen."""
    pictures = value.get("pictures") if isinstance(value, dict) else None
    try:
        return _place_seen(pictures or [], attribute, seen) is not None
    except AnswerRefused:
        return False


def shows(value: Any, seen: str) -> bool:
    """Whether a picture of a product has what was seen: its name, its address, its size or anything else it says.

    >>> picture = {"url": "https://cdn.example/a.jpg", "width": 480, "height": 360}
    >>> [shows({"pictures": [picture]}, one) for one in ("a.jpg", "480 x 360", "480", "b.jpg")]
    [True, True, True, False]
    """
    held = value.get("pictures") if isinstance(value, dict) else None
    return any(
        seen == _size(picture)
        or any(seen == str(leaf) for leaf in picture.values() if leaf is not None)
        or any(str(picture.get(name) or "").endswith(f"/{seen}") for name in _NAMES)
        for picture in (held if isinstance(held, list) else [])
        if isinstance(picture, Mapping)
    )


def _address(text: str) -> str:
    parts = urlsplit(text) if len(text) <= _LONGEST and not re.search(r"\s", text) else None
    if parts is None or parts.scheme not in {"https", "http"} or not parts.hostname:
        raise AnswerRefused(f"{text!r:.80} is no address of a picture. Write it whole: https://...")
    return text


def _place(pictures: list[Any], name: str) -> int | None:
    """Return which picture a name or an address means."""
    found = [
        place
        for place, picture in enumerate(pictures)
        if isinstance(picture, Mapping)
        and any(name == (held := str(picture.get(key) or "")) or held.endswith(f"/{name}") for key in _NAMES)
    ]
    if len(found) != 1:
        raise AnswerRefused(f"{len(found) or 'no'} pictures of the product are called {name!r:.80}. {HOW}")
    return found[0]


def _place_seen(pictures: list[Any], attribute: str, seen: str | None) -> int | None:
    """Return which picture a finding is about; None where it asks for a new one."""
    leaf = attribute.rpartition(".")[2]
    if seen is None or leaf in {"pictures", "url", "isPackshot"}:
        return None
    found = [
        place
        for place, picture in enumerate(pictures)
        if isinstance(picture, Mapping) and seen in {str(picture.get(leaf)), _size(picture)}
    ]
    if len(found) != 1:
        raise AnswerRefused(
            f"{len(found) or 'no'} pictures of the product have {leaf} {seen!r:.60}, so it is not certain which one to "
            f"replace. {HOW}"
        )
    return found[0]


def _size(picture: Mapping[str, Any]) -> str:
    return f"{picture.get('width')} x {picture.get('height')}"
