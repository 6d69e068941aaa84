"""Files as bytes that agree with the record (pixels, format, number of bytes, CRC-32), and as replies.

The same record always gives the same file.
"""

from __future__ import annotations

import hashlib
import io
import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from fastapi import Response
from PIL import Image

from prodex_sandbox.media.drawing import draw_logo, draw_pack
from prodex_sandbox.media.files import DocumentFile, File, LogoFile, Pack, PictureFile
from prodex_sandbox.media.fitting import fitted
from prodex_sandbox.refusals import Refusal

#: Qualities of JPEG that are tried below the first one; only the smallest files need the last.
_QUALITIES: Final = (80, 65, 50, 35, 20, 10, 4, 1)
#: Points of a page of PDF (A4), and letters in a line of it.
_WIDTH, _HEIGHT, _EDGE, _LETTERS = 595, 842, 56, 84
_SPECIAL: Final = re.compile(rb"[\\()]")
_RANGE: Final = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")


@dataclass(frozen=True)
class Content:
    """A file as it is served."""

    body: bytes
    media_type: str


@lru_cache(maxsize=32)
def content_of(file: File) -> Content:
    """Make a file.

    Raises
    ------
    Refusal
        When no picture of the recorded pixels has as few bytes as are recorded.
    """
    match file:
        case PictureFile():
            return Content(_picture(file), f"image/{file.format}")
        case LogoFile():
            logo = draw_logo(file.code, file.label, is_brand=file.is_brand)
            return Content(_saved(logo, "png"), "image/png")
        case DocumentFile():
            return Content(_page(file.title, file.pack), "application/pdf")


def reply_with(content: Content, headers: Mapping[str, str]) -> Response:
    """Answer a call for a file (RFC 9110, Range Requests).

    One range of bytes is answered as such. Several at once, or in another unit, are answered with the whole file, as
    is a range of a file with another ETag (`If-Range`).

    Parameters
    ----------
    headers
        Those of the call.
    """
    # Starlette's FileResponse serves ranges too, but only of files on disk, and answers 400 where the RFC lets a
    # server ignore a Range that it cannot read.
    size = len(content.body)
    etag = f'"{hashlib.sha256(content.body).hexdigest()[:32]}"'
    known = {"ETag": etag, "Accept-Ranges": "bytes"}
    if etag in (tag.strip() for tag in headers.get("if-none-match", "").split(",")):
        return Response(status_code=304, headers=known)
    part = _range(headers.get("range", ""), size) if headers.get("if-range", etag) == etag else None
    if part is None:
        return Response(content.body, headers=known, media_type=content.media_type)
    if not part:
        return Response(status_code=416, headers={**known, "Content-Range": f"bytes */{size}"})
    known["Content-Range"] = f"bytes {part.start}-{part.stop - 1}/{size}"
    return Response(content.body[part.start : part.stop], 206, known, content.media_type)


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


def _picture(file: PictureFile) -> bytes:
    image = draw_pack(file.pack, file.face, file.width, file.height)
    for encoded in _encodings(image, file):
        if content := fitted(encoded, file.format, file.size, file.crc32):
            return content
    raise Refusal(
        "file_not_served",
        f"The record says that it has {file.size:,} bytes, too few for any {file.format} of its pixels.",
    )


def _encodings(image: Image.Image, file: PictureFile) -> Iterator[bytes]:
    """Yield a picture encoded in ever fewer bytes."""
    if file.format == "jpeg":
        for quality in (file.quality, *(lower for lower in _QUALITIES if lower < file.quality)):
            yield _saved(image, "jpeg", quality=quality, optimize=file.size is not None, dpi=(300, 300))
        yield _saved(image.convert("L"), "jpeg", quality=1, optimize=True)
    elif file.format == "tiff":
        yield _saved(image, "tiff", compression="tiff_lzw", dpi=(300, 300))
    else:
        yield _saved(image, "png")


def _saved(image: Image.Image, format_: str, **options: Any) -> bytes:
    content = io.BytesIO()
    image.save(content, format_, **options)
    return content.getvalue()


def _page(title: str, pack: Pack) -> bytes:
    """Return a document about a trade item as PDF.

    Its font is one that every PDF reader has, for Latin letters only; other letters become question marks.
    """
    lines = [(20, title), (13, f"{pack.brand} {pack.name}".strip()), (11, f"GTIN {pack.gtin}"), (11, "")]
    lines += [(11, line) for line in textwrap.wrap(pack.small_print, _LETTERS)]
    lines += [(11, ""), (9, "An invented product of a local sandbox; nothing here is anybody's statement.")]
    text, top = [], _HEIGHT - _EDGE
    for size, line in lines:
        top -= round(1.4 * size)
        escaped = _SPECIAL.sub(rb"\\\g<0>", line.encode("cp1252", "replace"))
        text.append(b"BT /F1 %d Tf %d %d Td (%b) Tj ET" % (size, _EDGE, top, escaped))
    drawing = b"\n".join(text)
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>" % (_WIDTH, _HEIGHT),
        b"<< /Length %d >>\nstream\n%b\nendstream" % (len(drawing), drawing),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    )
    file, table = b"%PDF-1.4\n", b"xref\n0 6\n0000000000 65535 f \n"
    for number, content in enumerate(objects, start=1):
        # A reader finds the objects by the bytes before each, in ten digits.
        table += b"%010d 00000 n \n" % len(file)
        file += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    return file + table + b"trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % len(file)
