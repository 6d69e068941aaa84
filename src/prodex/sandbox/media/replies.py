"""A file as a reply: whole, or the range of it that is asked for (RFC 9110, Range Requests)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Final

from fastapi import Response

from prodex.sandbox.media.rendering import Content

_RANGE: Final = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")


def reply_with(content: Content, headers: Mapping[str, str]) -> Response:
    """Answer a call for a file.

    One range of bytes is answered as such. Several at once, or in another unit, are answered with the whole file, as
    is a range that is asked for of a file with another ETag (`If-Range`).

    Parameters
    ----------
    headers
        Those of the call.
    """
    size = len(content.body)
    etag = f'"{hashlib.sha256(content.body).hexdigest()[:32]}"'
    told = {"ETag": etag, "Accept-Ranges": "bytes"}
    if etag in (tag.strip() for tag in headers.get("if-none-match", "").split(",")):
        return Response(status_code=304, headers=told)
    asked = None
    if headers.get("if-range", etag) == etag:
        asked = _range(headers.get("range", ""), size)
    if asked is None:
        return Response(content.body, headers=told, media_type=content.media_type)
    if not asked:
        return Response(status_code=416, headers={**told, "Content-Range": f"bytes */{size}"})
    told["Content-Range"] = f"bytes {asked.start}-{asked.stop - 1}/{size}"
    return Response(content.body[asked.start : asked.stop], 206, told, content.media_type)


def _range(header: str, size: int) -> range | None:
    """Return the bytes that a Range header asks for, none where they lie past the end; None where it asks for none."""
    match = _RANGE.fullmatch(header.replace(" ", ""))
    if match is None or not any(match.groups()):
        return None
    first, last = match.groups()
    if not first:
        return range(max(0, size - int(last)), size)
    if last and int(last) < int(first):
        return None
    return range(int(first), min(size, int(last) + 1 if last else size))
