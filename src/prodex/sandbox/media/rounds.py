"""Round bodies: bottles, cans, jars and the like."""

from __future__ import annotations

from typing import Final

import numpy as np
from PIL import Image, ImageDraw

from prodex.sandbox.media.colours import WHITE, Colour, Palette, mixed
from prodex.sandbox.media.lettering import write
from prodex.sandbox.media.packs import Pack
from prodex.sandbox.media.printing import Print
from prodex.sandbox.media.shapes import Round
from prodex.sandbox.media.solids import outline, wrapped

#: Share of the unrolled surface, on either side, that is seen too much from the side to be read.
_TURNED_AWAY: Final = 0.23


def draw_round(
    side: int, shape: Round, tone: Colour | None, pack: Pack, colours: Palette, print_: Print
) -> Image.Image:
    """Draw a round body on a transparent square, printed on its label."""
    rows = round((shape.foot - shape.top) * side)
    halves = outline(shape.profile, rows) * side
    art = Image.new("RGB", (round(float(halves.max()) * np.pi), rows), tone or colours.main)
    draw = ImageDraw.Draw(art)
    cap = shape.lid or colours.dark
    draw.rectangle((0, 0, art.width, shape.cap * rows), fill=cap)
    begin, end = (place * rows for place in shape.label)
    margin, air = _TURNED_AWAY * art.width, 0.03 * (end - begin)
    label = art.crop((0, round(begin), art.width, round(end)))
    print_(label, (margin, air, art.width - margin, label.height - air), pack, colours)
    art.paste(label, (0, round(begin)))
    body = wrapped(art, halves, shape.bend, shape.gloss)
    item = Image.new("RGBA", (side, side))
    x, y = round((side - body.width) / 2), round(shape.top * side)
    _draw_top(item, float(halves[0]), y, shape, cap)
    item.alpha_composite(body, (x, y))
    return item


def draw_round_from_above(side: int, shape: Round, pack: Pack, colours: Palette) -> Image.Image:
    """Draw the lid of a round body."""
    item = Image.new("RGBA", (side, side))
    draw = ImageDraw.Draw(item)
    cap = shape.lid or colours.dark
    for radius, colour in ((0.4, mixed(cap, (0, 0, 0), 0.25)), (0.385, cap), (0.33, mixed(cap, WHITE, 0.14))):
        draw.ellipse([(0.5 + sign * radius) * side for sign in (-1, -1, 1, 1)], fill=colour)
    write(
        draw,
        (0.26 * side, 0.4 * side, 0.74 * side, 0.6 * side),
        pack.brand,
        colours.dark if shape.lid else WHITE,
    )
    return item


def _draw_top(item: Image.Image, half: float, y: int, shape: Round, cap: Colour) -> None:
    """Draw what is seen of the top from above."""
    draw = ImageDraw.Draw(item)
    middle, rise = item.width / 2, shape.bend * half
    draw.ellipse((middle - half, y - rise, middle + half, y + rise), fill=mixed(cap, WHITE, 0.25))
    if shape.lid:
        half, rise = 0.9 * half, 0.86 * rise
        draw.ellipse((middle - half, y - rise, middle + half, y + rise), fill=mixed(cap, (0, 0, 0), 0.12))
        rise *= 0.92
        draw.ellipse(
            (middle - half, y - rise * 0.9, middle + half, y + rise * 1.08), fill=mixed(cap, WHITE, 0.1)
        )
