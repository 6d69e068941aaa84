"""Things with a flat front: boxes and cartons here, what is soft or thin in a module of its own."""

from __future__ import annotations

from typing import Final

from PIL import Image, ImageDraw

from prodex.sandbox.media.colours import WHITE, Colour, Palette, mixed
from prodex.sandbox.media.light import lit
from prodex.sandbox.media.packs import Pack
from prodex.sandbox.media.printing import Print, print_within
from prodex.sandbox.media.shapes import Flat
from prodex.sandbox.media.soft import draw_bag, draw_card, draw_folded, draw_tray

_BLACK: Final = (0, 0, 0)
#: Where a tall thing stands, and how tall that is, as shares of the picture; a low one is in its middle.
_FOOT, _TALL = 0.93, 0.7
#: How far the edge of a top rises for each pixel that it goes back.
RISE: Final = 0.42


def draw_flat(
    side: int, shape: Flat, tone: Colour | None, pack: Pack, colours: Palette, print_: Print
) -> Image.Image:
    """Draw something with a flat front on a transparent square."""
    width, height = round(shape.width * side), round(shape.height * side)
    depth = round(shape.depth * side)
    x = (side - width - depth) // 2
    y = round(_FOOT * side) - height if shape.height > _TALL else (side - height) // 2
    art = Image.new("RGB", (width, height), tone or colours.main)
    item = Image.new("RGBA", (side, side))
    match shape.form:
        case "bag":
            body = draw_bag(width, height, tone, pack, colours, print_)
        case "tray":
            body = draw_tray(art, tone or colours.light, pack, colours, print_)
        case "card":
            body = draw_card(art, pack, colours, print_)
        case "folded":
            body = draw_folded(art, pack, colours, print_)
        case _:
            print_within(print_, art, pack, colours)
            draw_block(item, (x, y, x + width, y + height), depth, colours.main, art)
            if shape.form == "carton":
                _draw_gable(item, (x, y, x + width, y + height), depth, colours)
            return item
    item.alpha_composite(body, (x, y))
    return item


def draw_block(
    item: Image.Image, box: tuple[int, int, int, int], depth: int, colour: Colour, front: Image.Image
) -> None:
    """Draw a block that is seen a little from above and from the right: its front, its top and its side."""
    x0, y0, x1, y1 = box
    draw = ImageDraw.Draw(item)
    rise = round(RISE * depth)
    draw.polygon(
        [(x1, y0), (x1 + depth, y0 - rise), (x1 + depth, y1 - rise), (x1, y1)],
        fill=mixed(colour, _BLACK, 0.42),
    )
    draw.polygon(
        [(x0, y0), (x0 + depth, y0 - rise), (x1 + depth, y0 - rise), (x1, y0)], fill=mixed(colour, WHITE, 0.3)
    )
    item.paste(lit(front), (x0, y0))


def _draw_gable(item: Image.Image, box: tuple[int, int, int, int], depth: int, colours: Palette) -> None:
    """Draw the roof of a carton for drinks, with its cap."""
    x0, y0, x1, _ = box
    draw = ImageDraw.Draw(item)
    rise, ridge = round(1.0 * depth), round(0.35 * depth)
    top = y0 - rise
    half = depth // 2
    slope = mixed(colours.main, WHITE, 0.22)
    draw.polygon(
        [(x1, y0), (x1 + depth, y0 - round(RISE * depth)), (x1 + half, top)],
        fill=mixed(colours.main, _BLACK, 0.5),
    )
    draw.polygon([(x0, y0), (x1, y0), (x1 + half, top), (x0 + half, top)], fill=slope)
    draw.rectangle((x0 + half, top - ridge, x1 + half, top), fill=mixed(colours.main, WHITE, 0.1))
    middle, radius = (x0 + x1 + half) // 2, round(0.3 * depth)
    y = y0 - rise // 2
    draw.ellipse((middle - radius, y - radius * 0.7, middle + radius, y + radius * 0.9), fill=colours.dark)
    draw.ellipse(
        (middle - radius, y - radius * 0.95, middle + radius, y + radius * 0.6),
        fill=mixed(WHITE, colours.accent, 0.25),
    )
