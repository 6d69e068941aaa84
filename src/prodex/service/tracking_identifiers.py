"""The tracking identifier in the answer to an upsert (spec, endpoint 7), in the forms in which services give it.

The specification shows an integer `tracking`, or an XML element of that name. Services also give text, numbers beyond
32 bits, other spellings and objects around it. An identifier is kept as text, digit by digit. Where an answer holds two
different ones, none is chosen.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from prodex.errors import IdentifierUnreadable, UnexpectedReply
from prodex.safe_xml import Element, MarkupRefused, parsed
from prodex.service.replies import beginning, is_web_page
from prodex.service.transport import Reply

#: Names of the identifier, in small letters and without signs.
_NAMES = frozenset({"tracking", "trackingid"})

_DIGITS = re.compile(r"[0-9]{1,40}")
_BLANK = b"\xef\xbb\xbf \t\r\n"

#: A reply is small and flat, and what is not is no reply to trust.
_LARGEST_XML = 1_000_000
_DEEPEST = 16


class _Pairs(list[tuple[str, Any]]):
    """The members of a JSON object, with names that come twice."""


def tracking_identifier(reply: Reply) -> str:
    """Return the identifier in the answer to an upsert that was accepted.

    Raises
    ------
    IdentifierUnreadable
        When it holds none, or more than one.
    UnexpectedReply
        When a web page came: then it was not the service that answered, and nobody knows what it did.
    """
    if is_web_page(reply.body):
        raise UnexpectedReply("A web page came, so a proxy seems to have answered instead of the service.")
    found, why = [], "names none"
    try:
        found = list(dict.fromkeys(_identifiers(reply.body)))
    except MarkupRefused as error:
        why = f"is XML that cannot be read ({error})"
    except (ValueError, RecursionError):
        why = "is neither JSON nor XML"
    if len(found) == 1 and found[0] is not None:
        return found[0]
    if None in found:
        why = "names one that is no whole number"
    elif len(found) > 1:
        why = f"names {len(found)} different ones"
    raise IdentifierUnreadable(
        f"The service accepted the products (HTTP {reply.status}), but its answer has no tracking identifier that can "
        f"be read: it {why}.",
        status=reply.status,
        answer=beginning(reply.body),
    )


def is_identifier(text: str) -> bool:
    """Say whether a text is an identifier.

    >>> is_identifier("007"), is_identifier("../7")
    (True, False)
    """
    return _DIGITS.fullmatch(text) is not None


def canonical(identifier: str) -> int | str:
    """Return an identifier as a whole number, or as text where a number would not name it.

    >>> canonical("7"), canonical("007")
    (7, '007')
    """
    return int(identifier) if identifier == "0" or not identifier.startswith("0") else identifier


def _identifiers(body: bytes) -> Iterator[str | None]:
    """Yield what stands where an identifier is to be expected; None for what is there and is none."""
    body = body.strip(_BLANK)
    if body.startswith((b"<", b"\xff\xfe<", b"\xfe\xff\0<")):
        root = parsed(body, largest=_LARGEST_XML, deepest=_DEEPEST)
        found = list(_in_element(root))
        yield from found or _plain_ids(root)
        return
    answer = json.loads(body, object_pairs_hook=_Pairs)
    if not isinstance(answer, list):
        yield _digits(answer)
        return
    found = list(_in_json(answer, 0))
    yield from found or _plain_ids_of_json(answer)


def _in_json(value: Any, level: int) -> Iterator[str | None]:
    if level > _DEEPEST or not isinstance(value, list):
        return
    if not isinstance(value, _Pairs):
        for item in value:
            yield from _in_json(item, level + 1)
        return
    for name, member in value:
        if not _is_tracking(name):
            yield from _in_json(member, level + 1)
        elif isinstance(member, list) and len(member) == 1 and not isinstance(member, _Pairs):
            yield from _in_json([_Pairs([(name, member[0])])], level + 1)
        elif isinstance(member, list):
            within = [*_in_json(member, level + 1), *_plain_ids_of_json(member)]
            yield from within or [None]
        elif member is not None:
            yield _digits(member)


def _plain_ids_of_json(value: Any) -> Iterator[str | None]:
    """Yield the `id` of the answer, or of the one object that it wraps as `data`; never that of a product."""
    if isinstance(value, list) and not isinstance(value, _Pairs) and len(value) == 1:
        value = value[0]
    if not isinstance(value, _Pairs) or any(name == "gtin" for name, _ in value):
        return
    for name, member in value:
        if name == "id" and member is not None:
            yield _digits(member)
        elif name == "data":
            yield from _plain_ids_of_json(member)


def _in_element(root: Element) -> Iterator[str | None]:
    waiting = [root]
    while waiting:
        element = waiting.pop()
        if _is_tracking(_local(element.name)):
            named = [value for name, value in element.attributes.items() if _local(name) in {"id", "value"}]
            texts = [element.text] if element.text.strip() else []
            inner = list(_plain_ids(element)) if element.children else []
            yield from [*map(_digits, [*named, *texts]), *inner] or [None]
        yield from (
            _digits(value) for name, value in element.attributes.items() if _is_tracking(_local(name))
        )
        waiting += element.children


def _plain_ids(root: Element) -> Iterator[str | None]:
    """Yield the `id` of an element: its attribute, or a child."""
    yield from (_digits(value) for name, value in root.attributes.items() if _local(name) == "id")
    yield from (_digits(child.text) for child in root.children if _local(child.name) == "id")


def _is_tracking(name: str) -> bool:
    return re.sub("[_-]", "", name).lower() in _NAMES


def _local(name: str) -> str:
    """Return the name of an element or attribute without its namespace's prefix."""
    return name.rpartition(":")[2]


def _digits(value: Any) -> str | None:
    """Return an identifier as text; a number that is none (negative, a fraction, a boolean) is not taken for one."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    text = str(value).strip()
    return text if is_identifier(text) else None
