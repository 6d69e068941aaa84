"""What replies say, of whatever shape they are, and the words that the specification lets them say."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from prodex.errors import UnexpectedReply
from prodex.service.transport import Reply

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


#: The words for it. Other messages about access ("3 unauthorised products left out") are none of them.
_WORDS = re.compile(
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
_MARKUP = re.compile(r"<[^>]*>")

#: Where services put such a message.
_MESSAGES = ("message", "error_description", "detail", "title", "error", "errors", "reason")

#: What a reply holds that keeps its endpoint's promise (spec, Resources), or may be the record that was asked for.
_PROMISED = ("data", "totalResults", "next_page", "tracking", "id", "uuid", "children", "products")

#: A refusal is short: longer replies are not searched.
_LONGEST = 5_000


def refusal(reply: Reply, *, of_tracking: bool = False) -> str | None:
    """Return the words with which a service says that it does not know the caller, or None when it does not.

    Parameters
    ----------
    of_tracking
        Whether a tracking record was asked for, which may itself speak of an error.

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
    said = _said(reply.body)
    if isinstance(said, dict):
        is_record = of_tracking and isinstance(said.get("status"), str) and said["status"] in IMPORT_STATES
        if is_record or any(said.get(key) for key in _PROMISED):
            return None
        said = {key: said[key] for key in _MESSAGES if key in said}
    elif not isinstance(said, str):
        return None
    return next((text for text in _texts(said) if _WORDS.search(text)), None)


def _said(body: bytes) -> Any:
    """Read a reply as JSON, else as the text between its tags; a web page says nothing about the token."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        text = body.decode("utf-8", "replace")
    return None if "<html" in text.lower() else " ".join(_MARKUP.sub(" ", text).split())


def _texts(said: Any) -> Iterator[str]:
    """Yield every text in what was said, whatever it stands in."""
    waiting = [said]
    while waiting:
        each = waiting.pop(0)
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
