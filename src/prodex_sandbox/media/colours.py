"""The colours of a brand: always the same for its code, and different from most others'."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Final

from PIL import ImageColor

Colour = tuple[int, int, int]

BLACK: Final = (0, 0, 0)
WHITE: Final = (255, 255, 255)
INK: Final = (38, 40, 46)
PAPER: Final = (250, 249, 246)
#: Second colours: gold, coral, mint, sky, sand, rose, lime.
_ACCENTS: Final = (
    (244, 190, 62), (238, 118, 84), (122, 194, 164), (126, 182, 216), (240, 214, 170), (216, 126, 154), (172, 200, 96),
)  # fmt: skip
#: Saturation and value (HSV, in percent) of main colours.
_DEPTHS: Final = ((78, 62), (62, 74), (86, 52), (70, 68))


@dataclass(frozen=True)
class Palette:
    """Colours that go together.

    Attributes
    ----------
    main, dark, light
        The brand's colour, a darker one for print on a light ground, and a tint.
    accent
        A second colour, which also depends on the product.
    style
        Which of the layouts the brand has, from 0.
    """

    main: Colour
    dark: Colour
    light: Colour
    accent: Colour
    style: int


def palette_of(brand_code: str, name: str) -> Palette:
    """Return the colours of a brand, with an accent for one of its products."""
    # A checksum instead of `hash`, which differs from process to process.
    number = zlib.crc32(brand_code.encode("utf-8", "replace"))
    hue, (saturation, value) = number % 360, _DEPTHS[number // 360 % 4]
    # White letters would be hard to read on yellow and light green of full value.
    value = round(0.86 * value) if 40 <= hue < 180 else value
    main, light = colour_of(f"hsv({hue}, {saturation}%, {value}%)"), colour_of(f"hsv({hue}, 9%, 98%)")
    accent = _ACCENTS[zlib.crc32(name.encode("utf-8", "replace")) % len(_ACCENTS)]
    return Palette(main, mixed(main, BLACK, 0.4), light, accent, number // 1_440 % 3)


def mixed(one: Colour, other: Colour, share: float) -> Colour:
    """Return a colour between two, by the share of the other."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(one, other, strict=True))
    return red, green, blue


def colour_of(text: str) -> Colour:
    """Read a colour as CSS writes it, or as `hsv(...)`."""
    red, green, blue, *_ = ImageColor.getrgb(text)
    return red, green, blue
