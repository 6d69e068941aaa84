"""A trade item as it stands before a white ground: its shape, printed and lit, seen from one face.

A scene is drawn once, larger than the renditions that ask for it, and scaled down.
"""

from __future__ import annotations

from functools import lru_cache

from PIL import Image

from prodex.sandbox.media.colours import palette_of
from prodex.sandbox.media.packs import Pack
from prodex.sandbox.media.scenes import draw_scene

#: Sides of scenes: for renditions up to half of it, for those up to two thirds of it, and the largest that is drawn.
_SMALL, _MEDIUM, _LARGE = 1_024, 1_536, 2_400


def draw_pack(pack: Pack, face: int, width: int, height: int) -> Image.Image:
    """Draw a face of a trade item in so many pixels."""
    side = min(width, height)
    drawn = _SMALL if side <= _SMALL // 2 else _MEDIUM if side <= _MEDIUM * 2 // 3 else min(side, _LARGE)
    scene = _scene(pack, face, drawn)
    if drawn % side == 0:
        scene = scene.reduce(drawn // side)
    else:
        kernel = Image.Resampling.BICUBIC if side > drawn else Image.Resampling.LANCZOS
        scene = scene.resize((side, side), kernel, reducing_gap=2.0)
    if width == height:
        return scene
    ground = Image.new("RGB", (width, height), "white")
    ground.paste(scene, ((width - side) // 2, (height - side) // 2))
    return ground


@lru_cache(maxsize=4)
def _scene(pack: Pack, face: int, side: int) -> Image.Image:
    return draw_scene(pack, face, side, palette_of(pack.brand_code, pack.name))
