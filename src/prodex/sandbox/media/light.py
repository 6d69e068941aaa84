"""Light on what is drawn: the shadow below it, and how a front darkens away from the light."""

from __future__ import annotations

from typing import Final

from PIL import Image, ImageChops, ImageDraw, ImageFilter

_SHADOW_SIDE: Final = 128


def shadow(side: int, box: tuple[float, float, float, float], strength: float = 0.34) -> Image.Image:
    """Return the soft shadow of something that stands in a box, as a mask of a square picture."""
    small = Image.new("L", (_SHADOW_SIDE, _SHADOW_SIDE))
    scale = _SHADOW_SIDE / side
    ImageDraw.Draw(small).ellipse([place * scale for place in box], fill=round(255 * strength))
    return small.filter(ImageFilter.GaussianBlur(2.2)).resize((side, side), Image.Resampling.BICUBIC)


def lit(front: Image.Image) -> Image.Image:
    """Return a front with light that falls off to the lower right."""
    fall = Image.linear_gradient("L").rotate(35, Image.Resampling.BICUBIC, expand=False, fillcolor=128)
    fall = (
        fall.crop((48, 48, 208, 208))
        .point(lambda value: 255 - round(value * 0.16))
        .resize(front.size, Image.Resampling.BICUBIC)
    )
    return ImageChops.multiply(front, Image.merge("RGB", (fall, fall, fall)))
