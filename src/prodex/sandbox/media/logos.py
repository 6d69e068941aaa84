"""The picture of a brand, or of a label that products bear."""

from __future__ import annotations

from typing import Final

from PIL import Image, ImageDraw

from prodex.sandbox.media.colours import WHITE, palette_of
from prodex.sandbox.media.lettering import write

_SIDE: Final = 256
_DRAWN: Final = 2 * _SIDE


def draw_logo(code: str, label: str, *, is_brand: bool) -> Image.Image:
    """Draw a brand as a plate with its name, a label as a seal."""
    colours = palette_of(code, label)
    image = Image.new("RGB", (_DRAWN, _DRAWN), "white")
    draw = ImageDraw.Draw(image)
    if is_brand:
        draw.rounded_rectangle((16, 130, 496, 382), 60, fill=colours.main)
        draw.rectangle((76, 330, 436, 338), fill=colours.accent)
        write(draw, (60, 156, 452, 324), label, WHITE, lines=2)
    else:
        draw.ellipse((16, 16, 496, 496), fill=colours.main)
        draw.ellipse((36, 36, 476, 476), outline=WHITE, width=8)
        write(draw, (84, 150, 428, 362), label, WHITE, lines=3)
    return image.resize((_SIDE, _SIDE), Image.Resampling.LANCZOS)
