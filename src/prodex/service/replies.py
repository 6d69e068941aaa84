"""What replies say, of whatever shape they are, and the words that the specification lets them say."""

from __future__ import annotations

import json
from typing import Any

from prodex.errors import UnexpectedReply
from prodex.service.door import Reply

#: The state of an import that goes on, and of one that went well (spec, States).
RUNNING = "IN_PROGRESS"
SUCCESS = "SUCCESS"

#: The states of an import that has ended, and all there are.
ENDED = frozenset({"EMPTY", "ERROR", "CONTAINS_ERRORS", SUCCESS, "TIMEOUT"})
IMPORT_STATES = ENDED | {RUNNING}

#: What may stand before a reply and says nothing.
_BLANK = "\ufeff \t\r\n"


def json_value(reply: Reply) -> Any:
    """Return the JSON of a reply, of whatever shape."""
    try:
        return json.loads(reply.body)
    except (ValueError, RecursionError):
        raise UnexpectedReply(f"The reply is not JSON; it {_begins(reply.body)}.") from None


def anything(reply: Reply) -> Any:
    """Return the JSON of a reply whose shape the specification does not show, or its text; None where nothing came."""
    try:
        return json.loads(reply.body)
    except (ValueError, RecursionError):
        return beginning(reply.body) or None


def tracking_record(reply: Reply) -> dict[str, Any]:
    """Return a tracking record (spec, endpoint 8) as it came; it is judged where it is known what was sent."""
    record = json_value(reply)
    if not isinstance(record, dict):
        raise UnexpectedReply(f"The reply is no tracking record; it {_begins(reply.body)}.")
    return record


def beginning(body: bytes) -> str:
    """Return how a reply begins, as text, with control characters as escapes; it may hold secrets."""
    text = body[:20_000].decode(_encoding(body), "replace").strip(_BLANK)
    return "".join(sign if sign.isprintable() or sign == " " else repr(sign)[1:-1] for sign in text)


def is_web_page(body: bytes) -> bool:
    """Whether a reply is an HTML page, as a proxy sends it instead of the service."""
    return beginning(body)[:40].lower().startswith(("<!doctype html", "<html"))


def _encoding(body: bytes) -> str:
    return "utf-16" if body.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8"


def _begins(body: bytes) -> str:
    return f"begins with {body[:80].decode('utf-8', 'replace')!r}" if body else "is empty"
