"""A reply of the service as received: its envelope is split off without decoding the products inside.

The client needs it to check what the service announced, and the tables to get at the products. Spec: "Response
envelope for product reads".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from prodex.arguments import whole_number
from prodex.errors import UnexpectedReply


class Envelope(NamedTuple):
    """What a reply contains besides its products, and the products undecoded.

    Attributes
    ----------
    data
        The products, each as its JSON bytes.
    total_results
        Number of products that match the request, as the service announced it; None where it announced nothing that
        can be read as a count.
    offset
        Index of the first product, or None.
    next_page
        Cursor for the next scroll call as it was sent (string or number), or None.
    is_null
        Whether null was sent in place of the list, as some services write an empty page.
    """

    data: list[msgspec.Raw]
    total_results: int | None = None
    offset: int | None = None
    next_page: str | int | float | None = None
    is_null: bool = False

    def is_page_after(self, received: int) -> bool:
        """Whether this can be the page after so many products: null is an empty page only where no more are announced.

        >>> split(b'{"totalResults": 7, "offset": 7, "data": null}').is_page_after(7)
        True
        >>> split(b'{"totalResults": 7, "offset": 2, "data": null}').is_page_after(2)
        False
        """
        if not self.is_null:
            return True
        # So many are announced whatever there is, and then say nothing of the end.
        return (
            self.total_results is not None and self.total_results <= received and self.total_results != _CAP
        )


_NULL = msgspec.Raw(b"null")


class _Reply(msgspec.Struct):
    """A reply with everything but the list of products left undecoded: services write counts as text, too."""

    data: list[msgspec.Raw] | None
    total_results: msgspec.Raw = msgspec.field(name="totalResults", default=_NULL)
    offset: msgspec.Raw = _NULL
    next_page: msgspec.Raw = _NULL


_DECODER = msgspec.json.Decoder(_Reply)

#: Services stop counting at so many products (spec, "Pagination rules": offset and limit reach no further).
_CAP = 10_000

#: Keys under which services put the message of an error.
MESSAGE_KEYS = ("message", "error_description", "detail", "title", "error", "errors", "reason")

#: Keys of a status inside of a reply, and what it says of a success.
_STATUS_KEYS = ("status", "statusCode", "code", "success")
#: In further keys of a reply that tell of an error.
_ERROR_WORDS = re.compile("error|exception|(?<!de)fault|fail|warn", re.IGNORECASE)
_SUCCESSES = frozenset({"ok", "success", "true"})

#: A count above this is still announced, and no array or loop is ever sized by it.
_LARGEST_COUNT = 2**62

_DIGITS = re.compile(r"\s*[0-9]+(?:\.0*)?\s*", re.ASCII)

# One escape sequence of a JSON string: a surrogate pair, a lone surrogate (group 1), or any other.
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


def split(body: bytes) -> Envelope:
    """Split one reply into its envelope and the raw JSON of its products.

    A null in place of the list is an empty page where the rest of an envelope is around it, without a word of an error.

    Parameters
    ----------
    body
        The reply, decompressed, UTF-8.

    Raises
    ------
    UnexpectedReply
        When the body is no JSON object with a list named `data`, or is cut off. The message shows how it begins. Where
        `data` is null, and nothing shows that it is an empty page, it is the service itself that answered so.

    Examples
    --------
    >>> reply = split(b'{"totalResults": 2, "data": [{"id": 1}, {"id": 2}], "offset": 0}')
    >>> reply.total_results, len(reply.data), bytes(reply.data[1])
    (2, 2, b'{"id": 2}')
    """
    try:
        return _envelope(_DECODER.decode(body), body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        try:
            return _split_leniently(body)
        except (ValueError, RecursionError):
            begins = body[:80].decode("utf-8", "replace")
            raise UnexpectedReply(
                f"The reply is not a product envelope ({error}); its {len(body):,} bytes begin with {begins!r}. "
                "If this is a web page, a proxy answered instead of the service."
            ) from error


def escape_lone_surrogates(body: bytes) -> bytes:
    r"""Turn each escape of a lone surrogate into the text of that escape.

    Half of a surrogate pair is no character: no UTF-8 file, Arrow table or XLSX can hold it. What the
    supplier sent stays readable instead: the six characters of the wire escape. Records are kept with the escape.

    >>> escape_lone_surrogates(rb'"a\uD83D b\ud83d\ude00 c\\ud83d"')
    b'"a\\\\ud83d b\\ud83d\\ude00 c\\\\ud83d"'
    """
    return _ESCAPE.sub(lambda match: match[0] if match[1] is None else b"\\\\" + match[1].lower(), body)


def count_of(value: object) -> int | None:
    """Read a count that a service announced: a number of whatever type, or its digits as text.

    >>> count_of(230), count_of("230"), count_of(230.0), count_of(-1), count_of("many"), count_of(None)
    (230, 230, 230, None, None, None)
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str) and _DIGITS.fullmatch(value) and len(value) < 1_000:
        value = int(value.strip().partition(".")[0])
    number = whole_number(value, 0)
    return None if number is None else min(number, _LARGEST_COUNT)


def _envelope(reply: _Reply, body: bytes) -> Envelope:
    cursor = _decoded_scalar(reply.next_page)
    if reply.data is None and (lacking := _is_no_page(body)):
        begins = body[:80].decode("utf-8", "replace")
        raise UnexpectedReply(
            f"The service sent null in place of products, and {lacking}, so that nobody knows whether it is an empty "
            f"page. The reply begins with {begins!r}.",
            is_answer=True,
        )
    return Envelope(
        reply.data or [],
        count_of(_decoded_scalar(reply.total_results)),
        count_of(_decoded_scalar(reply.offset)),
        cursor if isinstance(cursor, str | int | float) and not isinstance(cursor, bool) else None,
        reply.data is None,
    )


def _is_no_page(body: bytes) -> str:
    """Say why a reply without a list is not a page; "" if everything around it is that of a page."""
    try:
        around = json.loads(body)
    except (ValueError, RecursionError):  # such as a number of 5,000 digits
        return "beside it what cannot be read"
    if count_of(around.get("totalResults")) is None or not {"offset", "next_page"} & around.keys():
        return "not the rest of a page's envelope (totalResults, offset)"
    if words := next((key for key in around if _is_of_error(key) and around[key]), ""):
        return f"{words!r} beside it"
    for key in _STATUS_KEYS:
        status = around.get(key)
        is_good = str(status).casefold() in _SUCCESSES or str(status)[:1] == "2"
        if status is not None and not is_good:
            return f"{key} {status!s:.20} beside it"
    return ""


def _is_of_error(key: str) -> bool:
    return key in MESSAGE_KEYS or _ERROR_WORDS.search(key) is not None


def _decoded_scalar(raw: msgspec.Raw) -> object:
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return bytes(raw).decode("utf-8", "replace")  # such as a number of 400 digits


def _split_leniently(body: bytes) -> Envelope:
    """Read what the strict reader refuses but Python's own accepts, such as NaN or half of a surrogate pair."""
    text = body.decode(json.detect_encoding(body), "surrogatepass")
    reply = _WHOLE.decode(text)
    if not isinstance(reply, dict) or not isinstance(reply.get("data", 0), list | None):
        raise ValueError("no object with a list named data")  # noqa: TRY004 - one error for a wrong reply
    # Not decoded and encoded again, which changes numbers and loses keys that stand twice.
    members = dict(_members(text, text.index("{")))
    items = None
    if reply["data"] is not None:
        items = [msgspec.Raw(_as_received(item)) for _, item in _members(members["data"], 0)]
    facts = (_as_received(members.get(name, "null")) for name in ("totalResults", "offset", "next_page"))
    return _envelope(_Reply(items, *(msgspec.Raw(escape_lone_surrogates(one)) for one in facts)), body)


#: Reads numbers of any length: they are only looked at to find where values end.
_WHOLE = json.JSONDecoder(parse_int=str, parse_float=str)
_SPACES = re.compile(r"[ \t\r\n]*")


def _members(text: str, begin: int) -> Iterator[tuple[str, str]]:
    """Yield the members of an object, or with "" the items of a list, as they are written; it is known to be valid."""
    is_object = text[begin] == "{"
    at = _behind_spaces(text, begin + 1)
    while text[at] not in "]}":
        name = ""
        if is_object:
            name, at = _WHOLE.raw_decode(text, at)
            at = _behind_spaces(text, _behind_spaces(text, at) + 1)
        _, end = _WHOLE.raw_decode(text, at)
        yield name, text[at:end]
        at = _behind_spaces(text, end)
        at = _behind_spaces(text, at + 1) if text[at] == "," else at


def _behind_spaces(text: str, at: int) -> int:
    return _SPACES.match(text, at).end()  # type: ignore[union-attr] # it matches anything


def _as_received(text: str) -> bytes:
    """Return a piece of a reply as bytes; half a surrogate pair that is no escape, which UTF-8 lacks, becomes one."""
    return _HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", text).encode()


_HALF = re.compile("[\ud800-\udfff]")


def as_raw_json(value: object) -> msgspec.Raw:
    """Return a value as JSON, as Python writes it: with NaN, which the strict reader refuses."""
    return msgspec.Raw(json.dumps(value).encode())
