"""Packs as they are drawn: one scene for each face, on white."""

from __future__ import annotations

from PIL import Image, ImageDraw

from prodex.sandbox.media.packs import Pack


def draw_pack(pack: Pack, face: int, width: int, height: int) -> Image.Image:
    """Draw a face of a trade item in so many pixels."""
    image = Image.new("RGB", (width, height), "white")
    draw = ImageDraw.Draw(image)
    draw.rectangle((width // 4, height // 8, width * 3 // 4, height * 7 // 8), fill="steelblue")
    draw.text((width // 3, height // 2), f"{pack.gtin} {face}", fill="white")
    return image


def draw_logo(code: str, label: str, *, is_brand: bool) -> Image.Image:
    """Draw the picture of a brand or a label."""
    image = Image.new("RGB", (256, 256), "white")
    ImageDraw.Draw(image).text((20, 100), label or code, fill="black" if is_brand else "green")
    return image
