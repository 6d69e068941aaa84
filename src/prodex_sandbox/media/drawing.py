"""Pictures of trade items on white, from one face: one pack, several in film, a case, a pallet; and logos.

A picture is drawn once, larger than most renditions that ask for it, and scaled down.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageChops, ImageFilter, ImageOps

from prodex_sandbox.media.canvas import Box, Canvas
from prodex_sandbox.media.colours import BLACK, WHITE, Colour, Palette, mixed, palette_of
from prodex_sandbox.media.files import Pack
from prodex_sandbox.media.printing import BACK, BOTTOM, TOP, print_barcode, printed
from prodex_sandbox.media.shapes import Flat, Round, seen_from, shape_of

Numbers = NDArray[Any]
#: Prints a face in so many pixels, with margins as shares of them.
Print = Callable[[tuple[int, int], tuple[float, float]], Image.Image]

#: Share of a print, on either side, that has no letters on a flat face, and on a round one, where it turns away.
_FLAT_MARGINS, _ROUND_MARGINS = (0.06, 0.06), (0.23, 0.03)
#: How far the edge of a top rises for each pixel that it goes back.
_RISE: Final = 0.42
#: Columns of the tables that say how a round surface is lit.
_STEPS: Final = 2048
_BOARD, _TAPE, _WOOD, _PRINT = (208, 168, 120), (240, 226, 196), (198, 156, 104), (92, 58, 30)


def draw_pack(pack: Pack, face: int, width: int, height: int) -> Image.Image:
    """Draw a face of a trade item in so many pixels."""
    side = min(width, height)
    drawn = 1_024 if side <= 512 else 1_536 if side <= 1_024 else min(side, 2_400)
    # Taking the mean of whole pixels first is by far the fastest way to make a picture small.
    scene = _scene(pack, face, drawn).reduce(max(1, drawn // side))
    return ImageOps.pad(scene, (width, height), color="white")


def draw_logo(code: str, label: str, *, is_brand: bool) -> Image.Image:
    """Draw a brand as a plate with its name, a label as a seal."""
    colours = palette_of(code, label)
    image = Image.new("RGB", (512, 512), "white")
    canvas = Canvas(image)
    if is_brand:
        canvas.rectangle((0.03, 0.25, 0.97, 0.75), colours.main, radius=0.12)
    else:
        canvas.ellipse((0.03, 0.03, 0.97, 0.97), colours.main)
    canvas.text((0.16, 0.3, 0.84, 0.63), label, WHITE, 2)
    return image.reduce(2)


@lru_cache(maxsize=4)
def _scene(pack: Pack, face: int, side: int) -> Image.Image:
    """Draw a trade item on a white square, with a shadow below it."""
    colours = palette_of(pack.brand_code, pack.name)
    item = Image.new("RGBA", (side, side))
    if pack.packaging in {"CASE", "PALLET"}:
        _draw_cartons(item, pack, colours)
    else:
        _draw_one(item, pack, face, colours)
        if pack.packaging == "PACK" and face not in (TOP, BOTTOM, BACK):
            item = _several(item, pack, colours)
    scene = Image.new("RGB", (side, side), "white")
    if face not in (TOP, BOTTOM):
        _cast_shadow(scene, item)
    scene.paste(item, (0, 0), item)
    return scene


def _cast_shadow(scene: Image.Image, item: Image.Image) -> None:
    """Darken the ground below an item, as wide as it is."""
    left, _, right, foot = (edge / scene.width for edge in item.getbbox() or (0, 0, *scene.size))
    # Blurred while it is small, which is much faster and looks the same.
    small = Image.new("L", (128, 128))
    Canvas(small).ellipse((left - 0.03, foot - 0.043, right + 0.02, foot + 0.017), (87,))
    shadow = small.filter(ImageFilter.GaussianBlur(2.2)).resize(scene.size, Image.Resampling.BILINEAR)
    scene.paste("black", (0, 0), shadow)


def _draw_one(item: Image.Image, pack: Pack, face: int, colours: Palette) -> None:
    (shape, body), print_ = shape_of(pack.kind), partial(printed, pack, face, colours)
    if isinstance(shape, Flat):
        _draw_flat(item, seen_from(face, shape), body or colours.accent, colours, print_)
    elif face not in (TOP, BOTTOM):
        _draw_round(item, shape, body or colours.main, shape.lid or colours.dark, print_)
    elif shape.bend:
        cap, canvas = shape.lid or colours.dark, Canvas(item)
        canvas.ellipse((0.1, 0.1, 0.9, 0.9), mixed(cap, BLACK, 0.12))
        canvas.ellipse((0.13, 0.13, 0.87, 0.87), mixed(cap, WHITE, 0.08))
        canvas.text((0.26, 0.4, 0.74, 0.6), pack.brand, colours.dark if shape.lid else WHITE)
    else:
        _draw_flat(item, Flat(0.7, 0.26), colours.main, colours, print_)


def _draw_flat(item: Image.Image, shape: Flat, body: Colour, colours: Palette, print_: Print) -> None:
    x = (1 - shape.width - shape.depth) / 2
    # A tall pack has its foot at the bottom of the picture; a low one is in the middle.
    y = 0.93 - shape.height if shape.height > 0.6 else (1 - shape.height) / 2
    size = round(shape.width * item.width), round(shape.height * item.width)
    front = Image.new("RGB", size, mixed(body, WHITE, 0.35))
    if shape.part:
        # Six slices, things on a card, or folds of cloth.
        canvas, (left, top, right, foot), (over, down) = Canvas(front), shape.part, shape.step
        for n in range(6):
            part = left + n * over, top + n * down, right + n * over, foot + n * down
            canvas.rectangle(part, mixed(body, BLACK, 0.06 * n), radius=0.05)
    left, top, right, foot = (round(edge * size[axis % 2]) for axis, edge in enumerate(shape.label))
    front.paste(print_((right - left, foot - top), _FLAT_MARGINS), (left, top))
    _draw_block(item, (x, y, x + shape.width, y + shape.height), shape.depth, colours.main, front)


def _draw_block(item: Image.Image, box: Box, depth: float, colour: Colour, front: Image.Image) -> None:
    """Draw a block that is seen a little from above and from the right: its front, its top and its side."""
    (x0, y0, x1, y1), back, rise = box, box[2] + depth, _RISE * depth
    canvas = Canvas(item)
    canvas.polygon((x1, y0, back, y0 - rise, back, y1 - rise, x1, y1), mixed(colour, BLACK, 0.42))
    canvas.polygon((x0, y0, x0 + depth, y0 - rise, back, y0 - rise, x1, y0), mixed(colour, WHITE, 0.3))
    # Light falls off downwards.
    fall = Image.linear_gradient("L").point(lambda value: 255 - round(value * 0.12)).resize(front.size)
    lit = ImageChops.multiply(front, Image.merge("RGB", (fall, fall, fall)))
    item.paste(lit, (round(x0 * item.width), round(y0 * item.width)))


def _draw_round(item: Image.Image, shape: Round, body: Colour, cap: Colour, print_: Print) -> None:
    side, rows = item.width, round((shape.foot - shape.top) * item.width)
    halves = (side * np.interp(np.linspace(0, 1, rows), *np.array(shape.profile).T)).astype(np.float32)
    art = Image.new("RGB", (round(float(halves.max()) * np.pi), rows), body)
    Canvas(art).rectangle((0, 0, 1, shape.cap), cap)
    begin, end = (round(place * rows) for place in shape.label)
    art.paste(print_((art.width, end - begin), _ROUND_MARGINS), (0, begin))
    wrapped = _wrapped(art, halves, shape.bend, shape.gloss)
    x, y = float(halves[0]) / side, float(halves[0]) / side * shape.bend
    Canvas(item).ellipse((0.5 - x, shape.top - y, 0.5 + x, shape.top + y), mixed(cap, WHITE, 0.25))
    item.alpha_composite(wrapped, (round((side - wrapped.width) / 2), round(shape.top * side)))


def _wrapped(art: Image.Image, halves: Numbers, bend: float, gloss: float) -> Image.Image:
    """Lay a flat picture around a body whose axis is vertical, lit from the upper left.

    Parameters
    ----------
    art
        What is seen of the surface, unrolled: half of the way around.
    halves
        Half of the body's width in each row of pixels.
    bend
        By which share of half the width the middle of a level line is seen below its ends.
    gloss
        How much light it reflects, from 0 to 1.
    """
    rows, middle = len(halves), float(halves.max()) + 1
    x = np.arange(int(2 * middle) + 1, dtype=np.float32)[None, :] - middle + 0.5
    y = np.arange(rows + int(bend * float(halves[-1])) + 1, dtype=np.float32)[:, None] + 0.5
    # The level of a pixel depends on the width there, and the width on the level: one step of the iteration is enough.
    half = halves[np.clip(y, 0, rows - 1).astype(np.int32)]
    half = halves[np.clip(y - 0.7 * bend * half, 0, rows - 1).astype(np.int32)]
    # From the left edge to the right, looked up rather than computed for each pixel.
    across = np.linspace(-1, 1, _STEPS, dtype=np.float32)
    angle = np.arcsin(across)
    # At most 1: a byte that is more than 255 begins at 0 again, and white letters would become black.
    light = 0.5 + 0.5 * np.clip(np.cos(angle + 0.42), 0, 1)
    shine = 0.55 * gloss * np.exp(-(((across + 0.58) / 0.1) ** 2))
    step = np.clip((x / half + 1) * (_STEPS / 2), 0, _STEPS - 1).astype(np.int16)
    row = y - bend * half * np.sqrt(1 - across**2)[step]
    row_of = np.clip(row * (art.height / rows), 0, art.height - 1).astype(np.int32)
    column_of = ((angle / np.pi + 0.5) * (art.width - 1)).astype(np.int32)[step]
    seen = np.asarray(art)[row_of, column_of] * light[step][..., None]
    seen += (255 - seen) * shine[step][..., None]
    # Edges are soft: a pixel is as opaque as it lies within the outline, and between top and foot.
    inside = np.clip(half - np.abs(x) + 0.5, 0, 1) * np.clip(np.minimum(row, rows - row) + 0.5, 0, 1)
    return Image.fromarray(np.dstack((seen, inside * 255)).astype(np.uint8))


def _several(item: Image.Image, pack: Pack, colours: Palette) -> Image.Image:
    """Return three of an item together in film, with a band around them."""
    side = item.width
    one = ImageOps.contain(item.crop(item.getbbox()), (round(0.4 * side), round(0.6 * side)))
    together, film = Image.new("RGBA", item.size), Image.new("RGBA", item.size)
    # The one in the middle is drawn last, since it is in front of the others.
    for x, y in ((0.3, 0.85), (0.7, 0.85), (0.5, 0.88)):
        together.alpha_composite(one, (round(x * side) - one.width // 2, round(y * side) - one.height))
    x0, y0, x1, y1 = (edge / side for edge in together.getbbox() or (0, 0, side, side))
    canvas, band = Canvas(film), (x0 - 0.02, y0 + 0.7 * (y1 - y0), x1 + 0.02, y0 + 0.88 * (y1 - y0))
    canvas.rectangle((x0 - 0.02, y0 - 0.02, x1 + 0.02, y1 + 0.01), (205, 215, 225, 70), radius=0.04)
    canvas.rectangle(band, (*colours.dark, 235))
    canvas.text(band, f"{pack.brand} {pack.name}", WHITE, 2, largest=0.05)
    return Image.alpha_composite(together, film)


def _draw_cartons(item: Image.Image, pack: Pack, colours: Palette) -> None:
    """Draw cartons that are closed with tape: a case, or layers of cases on a pallet."""
    columns, layers, high = (3, 4, 0.66) if pack.packaging == "PALLET" else (1, 1, 0.52)
    x, foot, width, height, depth = 0.11, 0.86, 0.66 / columns, high / layers, 0.13
    if layers > 1:
        wood = Image.new("RGB", (round(0.66 * item.width), round(0.03 * item.width)), _WOOD)
        _draw_block(item, (x, foot + 0.02, x + 0.66, foot + 0.05), depth, _WOOD, wood)
    board = _board((round(width * item.width), round(height * item.width)), pack, colours)
    low, near, far = 0.4 * depth * _RISE, 0.4 * depth, 0.6 * depth
    # From the bottom to the top and from left to right: each covers the top or the side of the one before.
    for place in range(layers * columns):
        left, y = x + place % columns * width, foot - (place // columns + 1) * height
        right, up = left + width, y - 1.5 * low
        _draw_block(item, (left, y, right, y + height), depth, _BOARD, board)
        tape = (left + near, y - low, left + far, up, right + far, up, right + near, y - low)
        Canvas(item).polygon(tape, _TAPE)


def _board(size: tuple[int, int], pack: Pack, colours: Palette) -> Image.Image:
    """Return the front of a carton: board with a band of the brand's colour, and the barcode."""
    art = Image.new("RGB", size, _BOARD)
    canvas = Canvas(art)
    canvas.rectangle((0, 0.08, 1, 0.36), mixed(colours.main, _BOARD, 0.12))
    canvas.text((0.06, 0.1, 0.94, 0.34), pack.brand, WHITE)
    canvas.text((0.06, 0.42, 0.56, 0.72), pack.name, _PRINT, 3)
    print_barcode(canvas, (0.6, 0.46, 0.94, 0.89), pack.gtin)
    return ImageOps.expand(ImageOps.crop(art, 1), 1, mixed(_BOARD, BLACK, 0.4))
