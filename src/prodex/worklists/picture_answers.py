"""Answers about pictures: the address of a new one, or "old name -> address" for one that replaces another.

The service fetches a picture from its address; its size, its format and its checksum are known afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from prodex.changes import ABSENT, Change, Item, step_to
from prodex.languages import Message
from prodex.worklists.answer_changes import AnswerChange, AnswerChanges
from prodex.worklists.answer_parsing import AnswerRefused
from prodex.worklists.items import ARROW
from prodex.worklists.layout import is_deletion

#: How to answer, for the worklist.
HOW = Message(
    "The address of the picture: https://... Where a product has several, name the one it replaces: old file name -> "
    "https://...; old file name -> (delete) removes one."
)

#: What describes the file of a picture, and is known again once the service has fetched a new one: its size, its
#: renditions, how long it may be used. What the picture shows, and what it is for, stays.
_OF_THE_FILE = frozenset(
    """
    url uniformResourceIdentifier uniformResourceIdentifierOrigin gdsnFileName fileName name fileType fileSize format
    definition resolution resolutionX resolutionY width height ratio crc32 exportables backgroundScore webOptimizedType
    quality fileEffectiveStartDateTime fileEffectiveEndDateTime createdAt updatedAt
    """.split()  # noqa: SIM905
)
_NAMES = ("gdsnFileName", "url", "uniformResourceIdentifierOrigin")
_ADDRESSES = _NAMES[1:]
_LONGEST = 2_000
_PATH = ("assets", "pictures")


def read_picture_answer(
    product: str, value: Any, text: str, *, attribute: str, seen: str | None, front: bool
) -> AnswerChanges:
    """Return what an answer says of the pictures of a product, one a line.

    Parameters
    ----------
    product
        The key of the product.
    value
        What the product has under `assets`.
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
    >>> address = "https://cdn.example/a.jpg"
    >>> said = read_picture_answer("7", None, address, attribute="assets.pictures", seen=None, front=True)
    >>> said.before, said.after, [one.after for one in said.changes]
    (None, 'https://cdn.example/a.jpg', [{'url': 'https://cdn.example/a.jpg', 'isPackshot': False}, True, 1])
    """
    if value is not None and not isinstance(value, dict):
        raise AnswerRefused.saying("the product has assets of another form. Correct it at its source.")
    held = (value or {}).get("pictures")
    if held is not None and not isinstance(held, list):
        raise AnswerRefused.saying("the product has pictures of another form. Correct it at its source.")
    pictures: list[Any] = list(held or [])
    steps = [step_to(pictures, place, "url") for place in range(len(pictures))]
    said: list[AnswerChange] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        said += _said_in_line(product, pictures, steps, line, attribute, seen, front)
    return AnswerChanges(said)


#: What is removed leaves its place until the end of an answer.
_REMOVED = object()


def _said_in_line(
    product: str,
    pictures: list[Any],
    steps: list[Item | int],
    line: str,
    attribute: str,
    seen: str | None,
    front: bool,
) -> Iterator[AnswerChange]:
    """Yield what a line says of its picture, and put it among the pictures, with the step to it."""
    old, *new = ARROW.split(line)
    if len(new) > 1:
        raise AnswerRefused.saying("{text} has several arrows. {how}", text=f"{line!r:.80}", how=HOW)
    is_removal = is_deletion(new[0] if new else old)
    address = None if is_removal else _address(new[0] if new else old)
    there = None if address is None else _with_address(pictures, address)
    place = (
        _place_of_picture(pictures, old, address, there)
        if new
        else _place_seen(pictures, attribute, seen, there)
    )
    if is_removal and place is None:
        raise AnswerRefused.saying(
            "{text} does not say which picture to remove. {how}", text=f"{line!r:.80}", how=HOW
        )
    if place is not None and place != there:
        before = pictures[place]
        kept = {name: kept for name, kept in before.items() if name not in _OF_THE_FILE}
        after = ABSENT if is_removal else {"url": address, **kept}
        # Beside another one with the same address, it is found by its index.
        path = (*_PATH, place if there is not None else steps[place])
        pictures[place] = _REMOVED if is_removal else after
        yield AnswerChange(Change(product, path, before, after), _picture_name(before), address)
        return
    is_new = there is None
    if there is None:
        there = len(pictures)
        pictures.append({"url": address, "isPackshot": False})
        steps.append(step_to(pictures, there, "url"))
    path, before = (*_PATH, steps[there]), pictures[there]
    # What is there already lacks only its marks as the front packshot.
    marks = _marked(before) if front and not new else {}
    marked = [Change(product, (*path, name), before.get(name, ABSENT), mark) for name, mark in marks.items()]
    pictures[there] = before | marks
    if is_new:
        yield AnswerChange(Change(product, path, ABSENT, before), None, address)
    elif marked:
        yield AnswerChange(marked.pop(0), _picture_name(before), f"{address} (front packshot)")
    else:
        yield AnswerChange(Change(product, path, before, before), _picture_name(before), address)
    yield from (AnswerChange(one, None, None) for one in marked)


def _marked(picture: Mapping[str, Any]) -> dict[str, Any]:
    """Return the marks of a front packshot that a picture lacks."""
    marks: dict[str, Any] = {} if picture.get("isPackshot") is True else {"isPackshot": True}
    return marks if str(picture.get("productFace")) == "1" else marks | {"productFace": 1}


def _with_address(pictures: list[Any], address: str) -> int | None:
    """Return the picture that was fetched from an address; a service may serve it from one of its own."""
    found = [
        place
        for place, picture in enumerate(pictures)
        if isinstance(picture, Mapping) and address in {picture.get(key) for key in _ADDRESSES}
    ]
    return found[0] if found else None


def _picture_name(picture: Mapping[str, Any]) -> str:
    return next(
        (str(picture[key]) for key in ("url", *_NAMES) if picture.get(key)), "a picture without address"
    )


def has_picture_seen(value: Any, seen: str) -> bool:
    """Whether a picture of a product has what was seen: its name, its address, its size or anything else it says.

    >>> picture = {"url": "https://cdn.example/a.jpg", "width": 480, "height": 360}
    >>> [has_picture_seen({"pictures": [picture]}, one) for one in ("a.jpg", "480 x 360", "480", "b.jpg")]
    [True, True, True, False]
    """
    held = value.get("pictures") if isinstance(value, dict) else None
    return any(
        seen == _pixel_size(picture)
        or any(seen == str(leaf) for leaf in picture.values() if leaf is not None)
        or any(str(picture.get(name) or "").endswith(f"/{seen}") for name in _NAMES)
        for picture in (held if isinstance(held, list) else [])
        if isinstance(picture, Mapping)
    )


def _address(text: str) -> str:
    try:
        parts = urlsplit(text) if len(text) <= _LONGEST and not re.search(r"\s", text) else None
    except ValueError:  # such as half of an IPv6 address
        parts = None
    if parts is None or parts.scheme not in {"https", "http"} or not parts.hostname:
        raise AnswerRefused.saying(
            "{text} is not an address of a picture. Write it whole: https://...", text=f"{text!r:.80}"
        )
    return text


def _place_of_picture(pictures: list[Any], name: str, address: str | None, there: int | None) -> int | None:
    """Return which picture a name or an address means."""
    found = [
        place
        for place, picture in enumerate(pictures)
        if isinstance(picture, Mapping)
        and any(name == (held := str(picture.get(key) or "")) or held.endswith(f"/{name}") for key in _NAMES)
    ]
    if not found and address is not None and there is not None:
        return there  # it has been replaced already
    if len(found) != 1:
        shown, names = f"{name!r:.80}", _picture_names(pictures)
        if found:
            raise AnswerRefused.saying(
                "{count:d} pictures of the product are called {name}; give one of {names}. {how}",
                count=len(found),
                name=shown,
                names=names,
                how=HOW,
            )
        if names:
            raise AnswerRefused.saying(
                "no pictures of the product are called {name}; give one of {names}. {how}",
                name=shown,
                names=names,
                how=HOW,
            )
        raise AnswerRefused.saying("no pictures of the product are called {name}. {how}", name=shown, how=HOW)
    return found[0]


def _place_seen(pictures: list[Any], attribute: str, seen: str | None, there: int | None) -> int | None:
    """Return which picture a finding is about; None where it asks for a new one."""
    leaf = attribute.rpartition(".")[2]
    if not seen or leaf in {"pictures", "isPackshot"}:
        return None
    found = [
        place
        for place, picture in enumerate(pictures)
        if isinstance(picture, Mapping)
        and seen in {str(picture.get(one)) for one in (leaf, "definition", *_NAMES)} | {_pixel_size(picture)}
    ]
    if not found and there is not None:
        return there  # it has been replaced already
    if len(found) != 1:
        about = {"path": leaf, "text": f"{seen!r:.60}", "how": HOW}
        names = _picture_names(pictures)
        if found:
            raise AnswerRefused.saying(
                "{count:d} pictures of the product have {path} {text}, so it is not certain which one to replace; give "
                "one of {names}. {how}",
                count=len(found),
                names=names,
                **about,
            )
        if names:
            raise AnswerRefused.saying(
                "no pictures of the product have {path} {text}, so it is not certain which one to replace; give one "
                "of {names}. {how}",
                names=names,
                **about,
            )
        raise AnswerRefused.saying(
            "no pictures of the product have {path} {text}, so it is not certain which one to replace. {how}",
            **about,
        )
    return found[0]


def _picture_names(pictures: list[Any]) -> str:
    names = [_picture_name(one) for one in pictures if isinstance(one, Mapping)]
    return ", ".join(f"{name:.80}" for name in names[:10])


def _pixel_size(picture: Mapping[str, Any]) -> str:
    return f"{picture.get('width')} x {picture.get('height')}"
