"""The tracking identifier in the reply to an upsert (spec, endpoint 7), in all forms that services use.

The specification shows an integer `tracking`, or an XML element of that name. Services also send text, numbers beyond
32 bits, other spellings of the name, and objects around it. An identifier is kept as text, since every digit counts. If
a reply contains two different ones, none is chosen: the wrong one would track somebody else's import.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from prodex.errors import IdentifierUnreadable, UnexpectedReply
from prodex.formats.safe_xml import Element, MarkupRefused, parsed
from prodex.service.replies import beginning, is_web_page
from prodex.service.transport import Reply

#: Names of the identifier, in lower case, without hyphens and underscores.
_NAMES = frozenset({"tracking", "trackingid"})

_DIGITS = re.compile(r"[0-9]{1,40}")
_BLANK = b"\xef\xbb\xbf \t\r\n"

#: Bytes, and levels of elements. A regular reply is small and flat.
_LARGEST_XML = 1_000_000
_DEEPEST = 16


class _Pairs(list[tuple[str, Any]]):
    """The members of a JSON object, including repeated names."""


def tracking_identifier(reply: Reply) -> str:
    """Return the identifier in the reply to an upsert that was accepted.

    Raises
    ------
    IdentifierUnreadable
        When there is none, or more than one.
    UnexpectedReply
        When it is an HTML page: a proxy replied, and nobody knows what the service did.
    """
    if is_web_page(reply.body):
        raise UnexpectedReply(
            "The reply is a web page, so a proxy seems to have answered in place of the service."
        )
    found, why = [], "contains none"
    try:
        found = list(dict.fromkeys(_identifiers(reply.body)))
    except MarkupRefused as error:
        why = f"is XML that cannot be read ({error})"
    except (ValueError, RecursionError):
        why = "is neither JSON nor XML"
    if len(found) == 1 and found[0] is not None:
        return found[0]
    if None in found:
        why = "contains one that is not a whole number"
    elif len(found) > 1:
        why = f"contains {len(found)} different ones"
    raise IdentifierUnreadable(
        f"The service accepted the products (HTTP {reply.status}), but no tracking identifier can be read from "
        f"its reply: it {why}.",
        status=reply.status,
        answer=beginning(reply.body),
    )


def is_identifier(text: str) -> bool:
    """Whether a text is an identifier.

    >>> is_identifier("007"), is_identifier("../7")
    (True, False)
    """
    return _DIGITS.fullmatch(text) is not None


def canonical(identifier: str) -> int | str:
    """Return an identifier as a whole number, or as text if a number would change it.

    >>> canonical("7"), canonical("007")
    (7, '007')
    """
    return int(identifier) if identifier == "0" or not identifier.startswith("0") else identifier


def _identifiers(body: bytes) -> Iterator[str | None]:
    """Yield the values where an identifier is expected; None for a value that is not one."""
    body = body.strip(_BLANK)
    if body.startswith((b"<", b"\xff\xfe<", b"\xfe\xff\0<")):
        root = parsed(body, largest=_LARGEST_XML, deepest=_DEEPEST)
        found = list(_in_element(root))
        # Only if nothing is called tracking: an `id` may belong to anything.
        yield from found or _xml_ids(root)
        return
    answer = json.loads(body, object_pairs_hook=_Pairs)
    # The reply may be the identifier alone. An object is a list here, see `_Pairs`.
    if not isinstance(answer, list):
        yield _digits(answer)
        return
    found = list(_in_json(answer, 0))
    yield from found or _json_ids(answer)


def _in_json(value: Any, level: int) -> Iterator[str | None]:
    # A hostile reply must not exhaust the stack.
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
            within = [*_in_json(member, level + 1), *_json_ids(member)]
            yield from within or [None]
        elif member is not None:
            yield _digits(member)


def _json_ids(value: Any) -> Iterator[str | None]:
    """Yield the `id` of the reply, or of the one object in its `data`; never that of a product."""
    if isinstance(value, list) and not isinstance(value, _Pairs) and len(value) == 1:
        value = value[0]
    if not isinstance(value, _Pairs) or any(name == "gtin" for name, _ in value):
        return
    for name, member in value:
        if name == "id" and member is not None:
            yield _digits(member)
        elif name == "data":
            yield from _json_ids(member)


def _in_element(root: Element) -> Iterator[str | None]:
    pending = [root]
    while pending:
        element = pending.pop()
        if _is_tracking(_local(element.name)):
            named = [value for name, value in element.attributes.items() if _local(name) in {"id", "value"}]
            texts = [element.text] if element.text.strip() else []
            inner = list(_xml_ids(element)) if element.children else []
            yield from [*map(_digits, [*named, *texts]), *inner] or [None]
        yield from (
            _digits(value) for name, value in element.attributes.items() if _is_tracking(_local(name))
        )
        pending += element.children


def _xml_ids(root: Element) -> Iterator[str | None]:
    """Yield the `id` of an element: an attribute or a child."""
    yield from (_digits(value) for name, value in root.attributes.items() if _local(name) == "id")
    yield from (_digits(child.text) for child in root.children if _local(child.name) == "id")


def _is_tracking(name: str) -> bool:
    return re.sub("[_-]", "", name).lower() in _NAMES


def _local(name: str) -> str:
    """Return the name of an element or attribute without the prefix of its namespace."""
    return name.rpartition(":")[2]


def _digits(value: Any) -> str | None:
    """Return an identifier as text; None for anything else (negative, a fraction, a boolean)."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    text = str(value).strip()
    return text if is_identifier(text) else None
