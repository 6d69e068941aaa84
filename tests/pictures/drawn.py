"""Pictures and catalogues for tests."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from PIL import Image

import prodex


def picture(
    width: int = 120, height: int = 80, colour: str = "teal", form: str = "JPEG", **options: Any
) -> bytes:
    """Return a picture file: a field of colour with a darker corner."""
    image = Image.new("RGB", (width, height), colour)
    image.paste("black", (0, 0, width // 3, height // 3))
    written = io.BytesIO()
    image.save(written, form, **options)
    return written.getvalue()


def told(url: str | None, content: bytes, **more: Any) -> dict[str, Any]:
    """Return a picture of a record that tells the truth about its file."""
    with Image.open(io.BytesIO(content)) as image:
        width, height = image.size
    checksum = f"{zlib.crc32(content):08x}"
    return {"url": url, "width": width, "height": height, "crc32": checksum, **more}


def rendition(url: str, content: bytes) -> dict[str, Any]:
    """Return a rendition of a record that tells the truth about its file."""
    facts = told(url, content, fileSize=len(content))
    return {"uniformResourceIdentifier": facts.pop("url"), **facts}


def product(number: int, *pictures: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a record with pictures; its GTIN is made of its number."""
    return {"id": number, "gtin": f"{number:014d}", "assets": {"pictures": list(pictures)}, **more}


def catalog(source: str, products: Iterable[dict[str, Any]]) -> prodex.Catalog:
    """Return a catalogue as if it had been loaded from a service."""
    made = prodex.flatten(products)
    return replace(made, origin=replace(made.origin, source=source))
