"""A service reply as received: its envelope is split off without decoding the products inside.

Both ends of the way need this: the client checks what the service announced, and the tables take the products
apart. Spec: "Response envelope for product reads".
"""

from __future__ import annotations

import json
import re

import msgspec

from prodex.errors import UnexpectedReply


class Envelope(msgspec.Struct, frozen=True, rename={"total_results": "totalResults"}):
    """What stands around the products of one reply.

    Attributes
    ----------
    data
        The products, each as its JSON bytes.
    total_results
        Number of products that match the request, as the service announced it, or None.
    offset
        Index of the first product, or None.
    next_page
        Cursor for the next scroll call as it came (string or integer), or None.
    """

    data: list[msgspec.Raw]
    total_results: int | None = None
    offset: int | None = None
    next_page: str | int | None = None


_DECODER = msgspec.json.Decoder(Envelope)

# One escape sequence of a JSON string: a surrogate pair, a lone surrogate (group 1), or any other.
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


def split(body: bytes) -> Envelope:
    """Split one reply into its envelope and the raw JSON of its products.

    Parameters
    ----------
    body
        The reply, decompressed, UTF-8.

    Raises
    ------
    UnexpectedReply
        When the body is no JSON object with a list named `data`, or is cut off. The message shows how it begins.

    Examples
    --------
    >>> reply = split(b'{"totalResults": 2, "data": [{"id": 1}, {"id": 2}], "offset": 0}')
    >>> reply.total_results, len(reply.data), bytes(reply.data[1])
    (2, 2, b'{"id": 2}')
    """
    try:
        return _DECODER.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        repaired = escape_lone_surrogates(body)
        try:
            if repaired != body:
                return _DECODER.decode(repaired)
            return _split_leniently(body)
        except (ValueError, RecursionError):
            begins = body[:80].decode("utf-8", "replace")
            raise UnexpectedReply(
                f"The reply is not a product envelope ({error}); its {len(body):,} bytes begin with {begins!r}. "
                "If this is a web page, a proxy answered instead of the service."
            ) from error


def escape_lone_surrogates(body: bytes) -> bytes:
    r"""Turn each escape of a lone surrogate into the text of that escape.

    Half of a surrogate pair stands for no character: no UTF-8 file, Arrow table or XLSX can hold it. What the
    supplier sent stays readable instead: the six characters of the wire escape.

    >>> escape_lone_surrogates(rb'"a\uD83D b\ud83d\ude00 c\\ud83d"')
    b'"a\\\\ud83d b\\ud83d\\ude00 c\\\\ud83d"'
    """
    return _ESCAPE.sub(lambda match: match[0] if match[1] is None else b"\\\\" + match[1].lower(), body)


def _split_leniently(body: bytes) -> Envelope:
    """Read what the strict reader refuses but Python's own accepts, such as NaN."""
    reply = json.loads(body)
    if not isinstance(reply, dict) or not isinstance(reply.get("data"), list):
        raise ValueError("no object with a list named data")  # noqa: TRY004 - one error for a wrong reply
    data = [msgspec.Raw(json.dumps(item).encode()) for item in reply["data"]]
    return msgspec.convert({**reply, "data": data}, Envelope)
