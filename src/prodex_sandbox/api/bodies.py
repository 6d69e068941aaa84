"""Bodies of requests: their type, their character set, and their size, packed and unpacked."""

from __future__ import annotations

import codecs
import re
import zlib
from collections.abc import Collection
from email.message import Message
from typing import Any, Final

from starlette.requests import Request

from prodex_sandbox.raw_json import decode
from prodex_sandbox.refusals import Refusal

#: Content types of a JSON body; none at all counts as plain text.
_JSON_TYPES: Final = frozenset({"application/json", "text/json", "text/plain"})
# Python's names of them. Its other codecs are no character sets, or slow on bodies that are made to be.
_CHARACTER_SETS: Final = re.compile(r"utf-(8|16|32)(-le|-be|-sig)?|iso8859-[0-9]+|cp125[0-9]|ascii")
_ENCODINGS: Final = {"", "identity", "gzip"}
# Bytes past the limit that are read and discarded: a caller that is still sending would not read the answer.
_MAX_DISCARDED: Final = 256_000_000


def media_type_of(request: Request, taken: Collection[str]) -> str:
    """Return the media type of a body; raise Refusal when it is none of those taken."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type not in taken:
        raise _unsupported(media_type, taken)
    return media_type


async def read_body(request: Request, limit: int) -> bytes:
    """Return the body, unpacked.

    Raises
    ------
    Refusal
        When it, or what it unpacks to, has more bytes than `limit`; or when it is packed in another way than
        gzip, or damaged.
    """
    encoding = request.headers.get("content-encoding", "").strip().lower()
    if encoding not in _ENCODINGS:
        raise Refusal("unsupported_media_type", f"Content-Encoding is {encoding!r}; send gzip, or none.")
    unpack = _Unpacking(limit) if encoding == "gzip" else None
    body, received = bytearray(), 0
    async for chunk in request.stream():
        received += len(chunk)
        if received > _MAX_DISCARDED:
            break
        if len(body) <= limit:
            body += unpack(chunk) if unpack else chunk
    if len(body) > limit:
        raise Refusal(
            "body_too_large",
            f"The body has more than {limit:,} bytes (unpacked); send fewer products at once.",
        )
    if unpack:
        unpack.check_end()
    return bytes(body)


async def read_object(request: Request, limit: int) -> dict[str, Any]:
    """Return a body that is a JSON object; raise Refusal when it is not.

    A body without a type, or as plain text, counts as JSON: only the upsert is documented to need a type.
    """
    announced = Message()
    announced["Content-Type"] = request.headers.get("content-type") or "text/plain"
    media_type = announced.get_content_type()
    if not (media_type in _JSON_TYPES or media_type.endswith("+json")):
        raise _unsupported(media_type, ["application/json"])
    charset = announced.get_param("charset", "utf-8")
    try:
        body = decode(_in_utf_8(await read_body(request, limit), str(charset)))
    except (ValueError, RecursionError) as error:
        raise Refusal("invalid_json", f"The body is not JSON: {error}.") from None
    if not isinstance(body, dict):
        raise Refusal("invalid_json", "The body is JSON, but not an object.")
    return body


def _unsupported(media_type: str, taken: Collection[str]) -> Refusal:
    return Refusal(
        "unsupported_media_type",
        f"Content-Type is {media_type or 'missing'!r}; send the body as {' or '.join(taken)}, not a form.",
    )


def _in_utf_8(body: bytes, charset: str) -> bytes:
    """Return a text in UTF-8 that was written in a character set; raise ValueError where it was not."""
    try:
        name = codecs.lookup(charset).name
    except LookupError:
        name = ""
    if not _CHARACTER_SETS.fullmatch(name):
        raise Refusal(
            "unsupported_media_type", f"charset is {charset[:60]!r}, which is not known here; send UTF-8."
        )
    # Nearly all bodies are UTF-8, and those are not copied.
    return body if name == "utf-8" else body.decode(name).removeprefix("\ufeff").encode()


class _Unpacking:
    """Unpacks gzip of one or several members, up to a limit: a small body may unpack to many gigabytes."""

    def __init__(self, limit: int) -> None:
        # One byte more than the limit shows that there is more.
        self._left = limit + 1
        self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)

    def __call__(self, chunk: bytes) -> bytes:
        unpacked = bytearray()
        try:
            while chunk and self._left:
                if self._member.eof:
                    self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)
                piece = self._member.decompress(chunk, self._left)
                self._left -= len(piece)
                unpacked += piece
                chunk = self._member.unused_data
        except zlib.error as error:
            raise Refusal(
                "invalid_gzip", f"The body is not gzip, as Content-Encoding says: {error}."
            ) from None
        return bytes(unpacked)

    def check_end(self) -> None:
        if not self._member.eof:
            raise Refusal("invalid_gzip", "The body ends in the middle of its gzip data.")
