"""Files as bytes that agree with the record (pixels, format, number of bytes, CRC-32), and as replies.

The same record always gives the same file. A record states the number of bytes and the CRC-32 of its files before any
of them is drawn: drawing the 67,000 files of the sample takes hours, so it cannot be done when a store is filled, and a
record that a supplier sends names files that were never made. So the file is made to agree with the record, whatever
bytes the installed version of Pillow writes.
"""

from __future__ import annotations

import hashlib
import io
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from PIL import Image
from starlette.responses import Response

from prodex_sandbox.media.canvas import Canvas
from prodex_sandbox.media.drawing import INK, draw_logo, draw_pack
from prodex_sandbox.media.files import DocumentFile, File, LogoFile, Pack, PictureFile
from prodex_sandbox.refusals import Refusal

#: Qualities of JPEG that are tried below the first one; only the smallest files need the last.
_QUALITIES: Final = (80, 65, 50, 35, 20, 10, 4, 1)
#: Pixels of a page of a document (A4), and how many of them there are in an inch.
_PAGE, _DPI = (1240, 1754), 150
#: Bytes behind the end of a picture that choose its CRC-32.
_FREE: Final = 4
_ONES: Final = 0xFFFF_FFFF
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
            return Content(_document(file.title, file.pack), "application/pdf")


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
        if content := fitted(encoded, file.size, file.crc32):
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


def fitted(content: bytes, size: int | None, crc32: int | None) -> bytes | None:
    """Return a picture with so many bytes and this CRC-32, each unchanged where it is None.

    The bytes are added behind the end of the picture, where readers of pictures ignore them. None is returned for a
    picture that has too many bytes already.
    """
    free = 0 if crc32 is None else _FREE
    filling = 0 if size is None else size - len(content) - free
    if filling < 0:
        return None
    filled = content + bytes(filling)
    return filled if crc32 is None else filled + four_bytes(filled, crc32)


def four_bytes(content: bytes, crc32: int) -> bytes:
    """Return the four bytes that give a content before them a CRC-32.

    Examples
    --------
    >>> zlib.crc32(b"before" + four_bytes(b"before", 0x12345678)) == 0x12345678
    True
    """
    # The algorithm shifts a register once for each bit and adds its polynomial where a bit falls out; both are undone
    # here for 32 bits. The difference from the register after the content is the four bytes.
    register = crc32 ^ _ONES
    for _ in range(8 * _FREE):
        register = register << 1 ^ (0x1_DB71_0641 if register >> 31 else 0)
    return (register ^ zlib.crc32(content) ^ _ONES).to_bytes(_FREE, "little")


def _document(title: str, pack: Pack) -> bytes:
    """Return a document about a trade item: one page of PDF."""
    page = Image.new("L", _PAGE, "white")
    canvas, ink = Canvas(page), INK[:1]
    canvas.text((0.09, 0.06, 0.91, 0.11), title, ink, largest=0.03)
    canvas.text((0.09, 0.12, 0.91, 0.16), f"{pack.brand} {pack.name}".strip(), ink, largest=0.02)
    canvas.text((0.09, 0.17, 0.91, 0.19), f"GTIN {pack.gtin}", ink, bold=False, largest=0.014)
    canvas.text((0.09, 0.22, 0.91, 0.88), pack.small_print, ink, 40, bold=False, largest=0.014)
    note = "An invented product of a local sandbox; nothing here is anybody's statement."
    canvas.text((0.09, 0.9, 0.91, 0.92), note, ink, bold=False, largest=0.012)
    # Without dates, so that the same record gives the same file on another day.
    return _saved(page, "pdf", resolution=_DPI, title=title, creationDate=None, modDate=None)
