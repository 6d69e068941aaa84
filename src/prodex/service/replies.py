"""What the replies to writes say, as JSON or as XML."""

from __future__ import annotations

import json
from typing import Any

from prodex.errors import UnexpectedReply
from prodex.markup import MarkupRefused, parsed
from prodex.service.door import Reply

#: The states of an import (spec, States).
IMPORT_STATES = ("EMPTY", "IN_PROGRESS", "ERROR", "CONTAINS_ERRORS", "SUCCESS", "TIMEOUT")

#: A reply is small and flat, and what is not is no reply to trust.
_LARGEST_XML = 1_000_000
_DEEPEST_XML = 16
_INT32 = range(2**31)


def json_value(reply: Reply) -> Any:
    """Return the JSON of a reply, of whatever shape."""
    try:
        return json.loads(reply.body)
    except (ValueError, RecursionError):
        raise UnexpectedReply(f"The reply is not JSON; it {_begins(reply.body)}.") from None


def json_or_nothing(reply: Reply) -> Any:
    """Return the JSON of a reply, or None where nothing came: a shape that the specification does not show."""
    return json_value(reply) if reply.body.strip() else None


def tracking_id(reply: Reply) -> int:
    """Return the tracking identifier in the answer to an upsert (spec, endpoint 7)."""
    if reply.body.lstrip()[:1] == b"<":
        found = _xml_tracking(reply.body).strip()
        identifier: Any = int(found) if found.isascii() and found.isdigit() and len(found) < 20 else found
    else:
        answer = json_value(reply)
        identifier = answer.get("tracking") if isinstance(answer, dict) else None
    if isinstance(identifier, bool) or not isinstance(identifier, int) or identifier not in _INT32:
        raise UnexpectedReply(
            f"The answer to an upsert has no tracking identifier; it {_begins(reply.body)}."
        )
    return identifier


def tracking_record(reply: Reply) -> dict[str, Any]:
    """Return a tracking record (spec, endpoint 8)."""
    record = json_value(reply)
    if not isinstance(record, dict) or record.get("status") not in IMPORT_STATES:
        status = record.get("status") if isinstance(record, dict) else None
        raise UnexpectedReply(
            f"The reply is no tracking record: its status is {status!r:.80}, not one of {', '.join(IMPORT_STATES)}."
        )
    return record


def _xml_tracking(body: bytes) -> str:
    """Return the text of the element `tracking`, wherever it stands; "" where there is none."""
    try:
        root = parsed(body, largest=_LARGEST_XML, deepest=_DEEPEST_XML)
    except MarkupRefused as error:
        raise UnexpectedReply(f"The XML reply cannot be read: {error}.") from None
    waiting = [root]
    while waiting:
        element = waiting.pop()
        if element.name.rpartition(":")[2] == "tracking":
            return element.text
        waiting += element.children
    return ""


def _begins(body: bytes) -> str:
    return f"begins with {body[:80].decode('utf-8', 'replace')!r}" if body else "is empty"
