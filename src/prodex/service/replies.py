"""Decoders of replies whose shape varies, and the replies that reject the caller.

Spec, Errors: "Credentials rejected, or token missing/invalid: an authentication failure message stating the caller
could not be authenticated"; no status is shown for it but the 401 of an expired token. So a 200 may contain such a
message (services do that), and so may a 400 or 403.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from prodex.errors import UnexpectedReply
from prodex.service.transport import MESSAGE_KEYS, Reply

#: The state of an import that is running, and of one that succeeded (spec, States).
RUNNING = "IN_PROGRESS"
SUCCESS = "SUCCESS"

#: The states of an import that has ended, and all states.
ENDED = frozenset({"EMPTY", "ERROR", "CONTAINS_ERRORS", SUCCESS, "TIMEOUT"})
IMPORT_STATES = ENDED | {RUNNING}

#: What may precede the content of a reply.
_BLANK = "\ufeff \t\r\n"


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
    text = body[:20_000].decode(_encoding(body), "replace").strip(_BLANK)
    return "".join(sign if sign.isprintable() or sign == " " else repr(sign)[1:-1] for sign in text)


def is_web_page(body: bytes) -> bool:
    """Whether a reply is an HTML page, as proxies send it in place of the service."""
    return beginning(body)[:40].lower().startswith(("<!doctype html", "<html"))


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
    content = _content(reply.body)
    if isinstance(content, dict):
        is_record = (
            of_tracking and isinstance(content.get("status"), str) and content["status"] in IMPORT_STATES
        )
        if is_record or any(content.get(key) for key in _REGULAR_KEYS):
            return None
        content = {key: content[key] for key in MESSAGE_KEYS if key in content}
    elif not isinstance(content, str):
        return None
    return next((text for text in _texts(content) if _REJECTION.search(text)), None)


def _content(body: bytes) -> Any:
    """Parse a reply as JSON, else return the text between its tags; an HTML page is not about the token."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        text = body.decode("utf-8", "replace")
    return None if "<html" in text.lower() else " ".join(_TAG.sub(" ", text).split())


def _texts(content: Any) -> Iterator[str]:
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
