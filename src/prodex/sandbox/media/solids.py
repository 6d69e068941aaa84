"""Things with a round surface: something flat laid around them, lit from the upper left, with soft edges."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Numbers = NDArray[Any]
#: Points (place from the top in 0 to 1, half of the width there) of an outline; between them it swings.
Profile = Sequence[tuple[float, float]]

_STEPS: Final = 2048


def outline(profile: Profile, rows: int) -> Numbers:
    """Return half of the width in each row, in the unit of the profile."""
    places, widths = np.array(profile, dtype=np.float32).T
    at = np.linspace(0, 1, rows, dtype=np.float32)
    before = np.clip(np.searchsorted(places, at, "right") - 1, 0, len(places) - 2)
    share = (at - places[before]) / np.maximum(places[before + 1] - places[before], 1e-6)
    eased = (1 - np.cos(np.pi * np.clip(share, 0, 1))) / 2
    swung: Numbers = widths[before] + (widths[before + 1] - widths[before]) * eased
    return swung


def wrapped(art: Image.Image, halves: Numbers, bend: float, gloss: float) -> Image.Image:
    """Lay a flat picture around a body whose axis stands upright.

    Parameters
    ----------
    art
        What is seen of the surface, unrolled: half of the way around.
    halves
        Half of the body's width in each row of pixels.
    bend
        By which share of half the width the middle of a level line is seen below its ends: how much one looks
        from above. None for a flat thing such as a bag.
    gloss
        How much light it gives back, 0 to 1.
    """
    rows = len(halves)
    middle = float(halves.max()) + 1
    x = np.arange(int(2 * middle) + 1, dtype=np.float32)[None, :] - middle + 0.5
    y = np.arange(rows + int(bend * float(halves[-1])) + 1, dtype=np.float32)[:, None] + 0.5
    # On which level a pixel lies depends on the width there, and the width on the level: once around is enough.
    half = halves[np.clip(y, 0, rows - 1).astype(np.int32)]
    half = halves[np.clip(y - 0.7 * bend * half, 0, rows - 1).astype(np.int32)]
    step = np.clip((x / half + 1) * (_STEPS / 2), 0, _STEPS - 1).astype(np.int16)
    around, depth, light, shine = _curves(gloss)
    row = y - bend * half * depth[step]
    inside = np.clip(half - np.abs(x) + 0.5, 0, 1)
    inside *= np.clip(row + 0.5, 0, 1)
    inside *= np.clip(rows - row + 0.5, 0, 1)
    row_of = np.clip(row * (art.height / rows), 0, art.height - 1).astype(np.int32)
    column_of = (around * (art.width - 1)).astype(np.int32)[step]
    seen = np.asarray(art.convert("RGB"))[row_of, column_of].astype(np.float32)
    seen *= light[step][..., None]
    seen += (255 - seen) * shine[step][..., None]
    body = np.empty((*inside.shape, 4), np.uint8)
    body[..., :3] = np.clip(seen, 0, 255)
    body[..., 3] = inside * 255
    return Image.fromarray(body)


@lru_cache(maxsize=8)
def _curves(gloss: float) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Return, from the left edge to the right: the place in the art, the depth, the light and the shine."""
    across = np.linspace(-1, 1, _STEPS, dtype=np.float32)
    depth = np.sqrt(1 - across**2)
    light = 0.52 + 0.5 * np.clip(np.cos(np.arcsin(across) + 0.42), 0, 1) ** 0.8
    light = np.maximum(light, 0.5 + 0.16 * across.clip(0) ** 3)
    shine = gloss * (
        0.55 * np.exp(-(((across + 0.58) / 0.1) ** 2)) + 0.18 * np.exp(-(((across - 0.8) / 0.06) ** 2))
    )
    return np.arcsin(across) / np.pi + 0.5, depth, light, shine
