"""Light on what is drawn: the shadow below it, and how a front darkens away from the light."""

from __future__ import annotations

from typing import Final

from PIL import Image, ImageChops, ImageDraw, ImageFilter

#: Pixels that a whole picture would have where its shadow is drawn, and how dark that is at most.
_SHADOW_SIDE: Final = 128
_DARKEST: Final = 0.34


def cast_shadow(scene: Image.Image, left: float, right: float, foot: float) -> None:
    """Darken the ground below something that stands there.

    Parameters
    ----------
    scene
        A square.
    left, right, foot
        Where it stands, in pixels.
    """
    side = scene.width
    reach, depth = 0.03 * side, 0.043 * side
    # Drawn as small as it is soft.
    box = [left - reach, foot - depth, right + reach, foot + 0.4 * depth]
    around = (
        round(left - 3 * reach),
        round(foot - 2.4 * depth),
        round(right + 3 * reach),
        round(foot + 1.8 * depth),
    )
    scale = _SHADOW_SIDE / side
    small = Image.new("L", (round((around[2] - around[0]) * scale), round((around[3] - around[1]) * scale)))
    drawn = [(place - around[number % 2]) * scale for number, place in enumerate(box)]
    ImageDraw.Draw(small).ellipse(drawn, fill=round(255 * _DARKEST))
    soft = small.filter(ImageFilter.GaussianBlur(2.2))
    mask = soft.resize((around[2] - around[0], around[3] - around[1]), Image.Resampling.BICUBIC)
    scene.paste("black", around, mask)


def lit(front: Image.Image) -> Image.Image:
    """Return a front with light that falls off to the lower right."""
    fall = Image.linear_gradient("L").rotate(35, Image.Resampling.BICUBIC, expand=False, fillcolor=128)
    fall = (
        fall.crop((48, 48, 208, 208))
        .point(lambda value: 255 - round(value * 0.16))
        .resize(front.size, Image.Resampling.BILINEAR)
    )
    return ImageChops.multiply(front, Image.merge("RGB", (fall, fall, fall)))
