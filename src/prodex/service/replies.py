"""A reply of the service, and what is read from replies whose shape varies: messages, rejections, identifiers.

Spec, Errors: "Credentials rejected, or token missing/invalid: an authentication failure message stating the caller
could not be authenticated"; no status is shown for it but the 401 of an expired token. So a 200 may contain such a
message (services do that), and so may a 400 or 403.

The specification shows an integer `tracking`, or an XML element of that name. Services also send text, numbers beyond
32 bits, other spellings of the name, and objects around it. An identifier is kept as text, since every digit counts. If
a reply contains two different ones, none is chosen: the wrong one would track somebody else's import.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from prodex.errors import IdentifierUnreadable, UnexpectedReply
from prodex.formats.safe_xml import MarkupRefused, XmlElement, parsed
from prodex.tables.envelope import MESSAGE_KEYS

#: The state of an import that is running, and of one that succeeded (spec, States).
RUNNING = "IN_PROGRESS"
SUCCESS = "SUCCESS"

#: The states of an import that has ended, and all states.
ENDED = frozenset({"EMPTY", "ERROR", "CONTAINS_ERRORS", SUCCESS, "TIMEOUT"})
IMPORT_STATES = ENDED | {RUNNING}

#: What may precede the content of a reply.
_AROUND_TEXT = "\ufeff \t\r\n"
#: Characters in which a web page says that it is one.
_HEAD = 1_000


@dataclass(frozen=True)
class Reply:
    """The reply to one request.

    Attributes
    ----------
    status
        HTTP status.
    body
        The body, decompressed, in UTF-8 where it is known how to read it.
    message
        The message of an error reply, shortened and without secrets.
    date
        The service's clock (Date header), or None.
    retry_after
        The pause that the service requests, in seconds, or None.
    """

    status: int
    body: bytes = field(repr=False)
    message: str
    date: datetime | None
    retry_after: float | None


def json_value(reply: Reply) -> Any:
    """Return the JSON of a reply, of any shape."""
    try:
        return json.loads(reply.body)
    except (ValueError, RecursionError):
        raise UnexpectedReply(f"The reply is not JSON; it {_begins(reply.body)}.") from None


def anything(reply: Reply) -> Any:
    """Return the JSON of a reply whose shape the specification does not show, or its text; None if it is empty."""
    try:
        return json.loads(reply.body)
    except (ValueError, RecursionError):
        return beginning(reply.body) or None


def tracking_record(reply: Reply) -> dict[str, Any]:
    """Return a tracking record (spec, endpoint 8) as received; `send.outcome` compares it with what was sent."""
    record = json_value(reply)
    if not isinstance(record, dict):
        raise UnexpectedReply(f"The reply is not a tracking record; it {_begins(reply.body)}.")
    return record


def beginning(body: bytes) -> str:
    """Return the beginning of a reply as text, control characters escaped; it may contain secrets."""
    text = body[:20_000].decode(_encoding(body), "replace").strip(_AROUND_TEXT)
    return "".join(sign if sign.isprintable() or sign == " " else repr(sign)[1:-1] for sign in text)


def is_web_page(body: bytes) -> bool:
    """Whether a reply is an HTML page, as proxies send it in place of the service."""
    text = beginning(body)[:_HEAD].lower()
    return text.startswith("<") and ("<!doctype html" in text or "<html" in text)


def message_of(body: bytes) -> str:
    """Return the message in an error reply: JSON of any shape, XML, or text.

    >>> message_of(b'{"error": {"message": "no such key"}}'), message_of(b"<error><text>too large</text></error>")
    ('no such key', 'too large')
    """
    if is_web_page(body):
        return "a web page, so a proxy seems to have answered instead of the service"
    content = _reply_content(body)
    while isinstance(content, dict) and (key := next((k for k in MESSAGE_KEYS if content.get(k)), None)):
        content = content[key]
    try:
        return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    except RecursionError:  # what could be parsed may be too deep to be written again
        return beginning(body)


def _encoding(body: bytes) -> str:
    return "utf-16" if body.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8"


def _begins(body: bytes) -> str:
    return f"begins with {body[:80].decode('utf-8', 'replace')!r}" if body else "is empty"


#: Wordings of an authentication failure; other messages about access ("3 unauthorised products left out") do not match.
_REJECTION = re.compile(
    r"(?:not|n't|cannot) (?:be |been )?authenticated"
    r"|unauthenticated"
    r"|authentication (?:has )?(?:failed|failure|error|required|is required)"
    r"|failed to authenticate|(?:could|can) ?not authenticate"
    r"|(?:invalid|expired|missing|unknown|revoked)[ _](?:access[ _]|bearer[ _])?token"
    r"|token (?:is |has |was |has been )?(?:invalid|expired|missing|unknown|revoked|not valid|not accepted)"
    r"|invalid[ _]client\b|(?:invalid|bad|wrong) credentials"
    r"|^\W*(?:401\W+)?unauthori[sz]ed(?: access| request| caller| client)?\W*$",
    re.IGNORECASE,
)
_HINT = re.compile(rb"authenti|unauthori|token|invalid.client|credentials", re.IGNORECASE)
_TAG = re.compile(r"<[^>]*>")

#: Keys of a regular reply (spec, Resources). A product may well contain the words "invalid token".
_REGULAR_KEYS = ("data", "totalResults", "next_page", "tracking", "id", "uuid", "children", "products")

#: Bytes. Such a message is short; longer replies are not searched, which would cost time for each page of products.
_LONGEST = 5_000


def refusal(reply: Reply, *, of_tracking: bool = False) -> str | None:
    """Return the message with which a service rejects the caller; None if the reply is not a rejection.

    Parameters
    ----------
    of_tracking
        Whether a tracking record was requested, whose message may be about an error of the import.

    Examples
    --------
    >>> refusal(Reply(200, b'{"message": "The caller could not be authenticated"}', "", None, None))
    'The caller could not be authenticated'
    >>> refusal(Reply(200, b'{"totalResults": 0, "data": []}', "", None, None))
    """
    if reply.status == 401:
        return reply.message
    may_hold_one = 200 <= reply.status < 300 or reply.status in {400, 403}
    if not may_hold_one or len(reply.body) > _LONGEST or not _HINT.search(reply.body):
        return None
    if is_web_page(reply.body):  # which is not about the token
        return None
    content = _reply_content(reply.body)
    if isinstance(content, dict):
        is_record = (
            of_tracking and isinstance(content.get("status"), str) and content["status"] in IMPORT_STATES
        )
        if is_record or any(content.get(key) for key in _REGULAR_KEYS):
            return None
        content = {key: content[key] for key in MESSAGE_KEYS if key in content}
    elif not isinstance(content, str):
        return None
    return next((text for text in _texts_in(content) if _REJECTION.search(text)), None)


def _reply_content(body: bytes) -> Any:
    """Return the JSON of a reply, else its text, without tags if it is XML."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        text = body.decode("utf-8", "replace").strip()
    return " ".join(_TAG.sub(" ", text).split()) if text.startswith("<") else text


def _texts_in(content: Any) -> Iterator[str]:
    """Yield every text in a JSON value."""
    pending = [content]
    while pending:
        each = pending.pop(0)
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            pending += each.values()
        elif isinstance(each, list):
            pending += each


#: Names of the identifier, in lower case, without hyphens and underscores.
_NAMES = frozenset({"tracking", "trackingid"})

_DIGITS = re.compile(r"[0-9]{1,40}")
_AROUND_XML = b"\xef\xbb\xbf \t\r\n"

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
    body = body.strip(_AROUND_XML)
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


def _in_element(root: XmlElement) -> Iterator[str | None]:
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


def _xml_ids(root: XmlElement) -> Iterator[str | None]:
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
