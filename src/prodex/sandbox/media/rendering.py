"""Files as bytes, true to what the record says: pixels, format, number of bytes, CRC-32.

The same record always gives the same file.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from PIL import Image

from prodex.sandbox.media.documents import page
from prodex.sandbox.media.drawing import draw_pack
from prodex.sandbox.media.files import DocumentFile, File, LogoFile, PictureFile
from prodex.sandbox.media.fitting import fitted
from prodex.sandbox.media.logos import draw_logo
from prodex.sandbox.refusals import Refusal

#: Media type of each format that pictures are made in.
MEDIA_TYPES: Final = {"jpeg": "image/jpeg", "tiff": "image/tiff", "png": "image/png"}

#: Qualities of JPEG that are tried below the first one; only the smallest files need the last.
_QUALITIES: Final = (80, 65, 50, 35, 20, 10, 4, 1)


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
            return Content(_picture(file), MEDIA_TYPES[file.format])
        case LogoFile():
            return Content(
                _saved(draw_logo(file.code, file.label, is_brand=file.is_brand), "png"), "image/png"
            )
        case DocumentFile():
            return Content(page(file.title, file.pack), "application/pdf")


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
