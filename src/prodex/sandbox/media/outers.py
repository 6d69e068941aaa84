"""What trade items are packed in: several in film, a carton, cartons on a pallet."""

from __future__ import annotations

from typing import Final

from PIL import Image, ImageDraw

from prodex.sandbox.media.colours import WHITE, Colour, Palette, mixed
from prodex.sandbox.media.flats import RISE, draw_block
from prodex.sandbox.media.lettering import write
from prodex.sandbox.media.packs import Pack
from prodex.sandbox.media.printing import print_barcode

_BLACK: Final = (0, 0, 0)
_BOARD: Final = (208, 168, 120)
_TAPE: Final = (240, 226, 196)
_PRINT: Final = (92, 58, 30)
_WOOD: Final = (198, 156, 104)
#: Places of the packs that stand in film together, and how large each is; those behind come first.
_TOGETHER: Final = ((0.3, 0.6), (0.7, 0.6), (0.5, 0.66))
_COLUMNS, _LAYERS = 3, 4


def draw_several(item: Image.Image, pack: Pack, colours: Palette) -> Image.Image:
    """Draw three of an item together in film, with a band around them."""
    side = item.width
    box = item.getbbox() or (0, 0, side, side)
    one = item.crop(box)
    together = Image.new("RGBA", (side, side))
    foot = round(0.88 * side)
    widest = max(share for _, share in _TOGETHER)
    scale = min(widest * side / one.height, 0.42 * side / one.width) / widest
    for place, share in _TOGETHER:
        copy = one.resize(
            (round(one.width * scale * share), round(one.height * scale * share)), reducing_gap=2.0
        )
        lift = round((widest - share) * 0.5 * side)
        together.alpha_composite(copy, (round(place * side - copy.width / 2), foot - lift - copy.height))
    x0, y0, x1, y1 = together.getbbox() or box
    air = round(0.02 * side)
    film = Image.new("RGBA", (side, side))
    draw = ImageDraw.Draw(film)
    edges = (x0 - air, y0 - air, x1 + air, y1 + air // 2)
    draw.rounded_rectangle(
        edges, 2 * air, fill=(235, 242, 248, 62), outline=(170, 180, 190, 150), width=max(1, air // 6)
    )
    for place in (0.1, 0.36, 0.82):
        x = x0 + place * (x1 - x0)
        draw.polygon([(x, y0), (x + air, y0), (x - air, y1), (x - 2 * air, y1)], fill=(255, 255, 255, 78))
    top, bottom = y1 - 0.3 * (y1 - y0), y1 - 0.12 * (y1 - y0)
    draw.rectangle((edges[0], top, edges[2], bottom), fill=(*colours.dark, 235))
    write(
        draw,
        (x0 + air, top, x1 - air, bottom),
        f"{pack.brand} {pack.name}",
        WHITE,
        lines=2,
        largest=0.05 * side,
    )
    together.alpha_composite(film)
    return together


def draw_case(pack: Pack, side: int, colours: Palette) -> Image.Image:
    """Draw a carton that is closed with tape."""
    item = Image.new("RGBA", (side, side))
    width, height, depth = round(0.66 * side), round(0.52 * side), round(0.16 * side)
    x, y = round(0.09 * side), round(0.36 * side)
    draw_block(item, (x, y, x + width, y + height), depth, _BOARD, _board(pack, width, height, colours))
    draw = ImageDraw.Draw(item)
    rise = round(RISE * depth)
    draw.polygon(
        [
            (left + share * depth, y - share * rise)
            for left, share in ((x, 0.4), (x, 0.6), (x + width, 0.6), (x + width, 0.4))
        ],
        fill=_TAPE,
    )
    side_of_tape = [(x + width + share * depth, y - share * rise) for share in (0.4, 0.6)]
    lower = [(place, top + 0.2 * height) for place, top in reversed(side_of_tape)]
    draw.polygon([*side_of_tape, *lower], fill=mixed(_TAPE, _BLACK, 0.34))
    return item


def draw_pallet(pack: Pack, side: int, colours: Palette) -> Image.Image:
    """Draw a pallet with layers of cartons."""
    item = Image.new("RGBA", (side, side))
    width, height, depth = round(0.2 * side), round(0.165 * side), round(0.11 * side)
    x, foot = round(0.13 * side), round(0.86 * side)
    _draw_wood(item, x, foot, _COLUMNS * width, depth)
    front = _board(pack, width, height, colours)
    edge, thin = mixed(_BOARD, _BLACK, 0.55), max(1, side // 400)
    draw = ImageDraw.Draw(item)
    for layer in range(_LAYERS):
        y = foot - (layer + 1) * height
        # Each covers the side of its left neighbour.
        for column in range(_COLUMNS):
            left = x + column * width
            draw_block(item, (left, y, left + width, y + height), depth, _BOARD, front)
            draw.line((left, y, left + width, y, left + width, y + height), edge, thin)
        right = x + _COLUMNS * width
        draw.line((right, y + height, right + depth, y + height - RISE * depth), edge, thin)
    return item


def _board(pack: Pack, width: int, height: int, colours: Palette) -> Image.Image:
    """Return the front of a carton: printed board with a label."""
    art = Image.new("RGB", (width, height), _BOARD)
    draw = ImageDraw.Draw(art)
    for line in range(0, width, max(3, width // 90)):
        draw.line((line, 0, line, height), fill=mixed(_BOARD, _BLACK, 0.025))
    draw.rectangle((0, 0.08 * height, width, 0.36 * height), fill=mixed(colours.main, _BOARD, 0.12))
    write(draw, (0.06 * width, 0.1 * height, 0.94 * width, 0.34 * height), pack.brand, WHITE)
    write(
        draw,
        (0.06 * width, 0.42 * height, 0.56 * width, 0.72 * height),
        pack.name,
        _PRINT,
        lines=3,
        left=True,
    )
    _draw_arrows(draw, width, height, _PRINT)
    draw.rectangle((0.6 * width, 0.44 * height, 0.94 * width, 0.9 * height), fill=WHITE)
    write(
        draw,
        (0.62 * width, 0.46 * height, 0.92 * width, 0.58 * height),
        pack.name,
        _PRINT,
        bold=False,
        lines=2,
    )
    print_barcode(draw, (0.61 * width, 0.6 * height, 0.93 * width, 0.89 * height), pack.gtin)
    return art


def _draw_arrows(draw: ImageDraw.ImageDraw, width: int, height: int, colour: Colour) -> None:
    """Draw what says where the top is (ISO 780)."""
    for place in (0.1, 0.2):
        x, top, foot, half = place * width, 0.77 * height, 0.91 * height, 0.028 * width
        draw.polygon(
            [(x - half, top + 0.06 * height), (x, top), (x + half, top + 0.06 * height)], fill=colour
        )
        draw.rectangle((x - half / 3, top + 0.05 * height, x + half / 3, foot), fill=colour)
    draw.rectangle((0.06 * width, 0.925 * height, 0.24 * width, 0.94 * height), fill=colour)


def _draw_wood(item: Image.Image, x: int, y: int, width: int, depth: int) -> None:
    draw = ImageDraw.Draw(item)
    thick, rise = round(0.022 * item.width), round(RISE * depth)
    for top, shade in ((y, 0.0), (y + 3 * thick, 0.12)):
        draw.polygon(
            [
                (x + width, top),
                (x + width + depth, top - rise),
                (x + width + depth, top - rise + thick),
                (x + width, top + thick),
            ],
            fill=mixed(_WOOD, _BLACK, 0.4),
        )
        draw.rectangle((x, top, x + width, top + thick), fill=mixed(_WOOD, _BLACK, shade))
    block = width // 7
    for left in (x, x + (width - block) // 2, x + width - block):
        draw.rectangle((left, y + thick, left + block, y + 3 * thick), fill=mixed(_WOOD, _BLACK, 0.22))
    for share in (0, 0.75):
        ends = [(x + width + place * depth, y + thick - place * rise) for place in (share, share + 0.25)]
        draw.polygon(
            [*ends, *((left, top + 2 * thick) for left, top in reversed(ends))], mixed(_WOOD, _BLACK, 0.5)
        )
