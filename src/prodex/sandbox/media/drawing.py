"""Pictures of trade items on white, from one face: one pack, several in film, a case, a pallet; and logos.

A picture is drawn once, larger than most renditions that ask for it, and scaled down.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageChops, ImageDraw, ImageFilter

from prodex.sandbox.media.canvas import Canvas
from prodex.sandbox.media.colours import BLACK, WHITE, Colour, Palette, mixed, palette_of
from prodex.sandbox.media.files import Pack
from prodex.sandbox.media.printing import BACK, BOTTOM, TOP, print_barcode, printed
from prodex.sandbox.media.shapes import Flat, Round, seen_from, shape_of

Numbers = NDArray[Any]

#: Sides of drawn pictures: for renditions up to half of it, up to two thirds of it, and the largest that is drawn.
_SMALL, _MEDIUM, _LARGE = 1_024, 1_536, 2_400
#: Share of a print, on either side, that has no letters on a flat face, and on a round one, where it turns away.
_MARGIN, _TURNED_AWAY = 0.06, 0.23
#: How far the edge of a top rises for each pixel that it goes back.
_RISE: Final = 0.42
#: Columns of the tables that say how a round surface is lit.
_STEPS: Final = 2048
_BOARD, _TAPE, _WOOD = (208, 168, 120), (240, 226, 196), (198, 156, 104)
_PRINT: Final = (92, 58, 30)


def draw_pack(pack: Pack, face: int, width: int, height: int) -> Image.Image:
    """Draw a face of a trade item in so many pixels."""
    side = min(width, height)
    drawn = _SMALL if side <= _SMALL // 2 else _MEDIUM if side <= _MEDIUM * 2 // 3 else min(side, _LARGE)
    scene = _scene(pack, face, drawn)
    if drawn % side == 0:
        # By far the fastest way, and the sides of most renditions allow it.
        scene = scene.reduce(drawn // side)
    else:
        kernel = Image.Resampling.BICUBIC if side > drawn else Image.Resampling.LANCZOS
        scene = scene.resize((side, side), kernel, reducing_gap=2.0)
    if width == height:
        return scene
    ground = Image.new("RGB", (width, height), "white")
    ground.paste(scene, ((width - side) // 2, (height - side) // 2))
    return ground


def draw_logo(code: str, label: str, *, is_brand: bool) -> Image.Image:
    """Draw a brand as a plate with its name, a label as a seal."""
    colours = palette_of(code, label)
    image = Image.new("RGB", (512, 512), "white")
    canvas = Canvas(image)
    if is_brand:
        canvas.rectangle((0.03, 0.25, 0.97, 0.75), colours.main, radius=0.12)
        canvas.rectangle((0.15, 0.65, 0.85, 0.66), colours.accent)
        canvas.text((0.12, 0.3, 0.88, 0.63), label, WHITE, lines=2)
    else:
        for radius, colour in ((0.47, colours.main), (0.43, WHITE), (0.415, colours.main)):
            canvas.disc(0.5, 0.5, radius, colour)
        canvas.text((0.16, 0.3, 0.84, 0.7), label, WHITE, lines=3)
    return image.resize((256, 256), Image.Resampling.LANCZOS)


@lru_cache(maxsize=4)
def _scene(pack: Pack, face: int, side: int) -> Image.Image:
    """Draw a trade item on a white square, with a shadow where it stands."""
    colours = palette_of(pack.brand_code, pack.name)
    item = Image.new("RGBA", (side, side))
    if pack.packaging == "PALLET":
        _draw_pallet(item, pack, colours)
    elif pack.packaging == "CASE":
        _draw_case(item, pack, colours)
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
    """Darken the ground below an item, as wide as the lowest twentieth of the picture is there."""
    side = scene.width
    foot = (item.getbbox() or (0, 0, side, side))[3]
    left, _, right, _ = item.crop((0, foot - side // 20, side, foot)).getbbox() or (0, 0, side, 0)
    # Blurred while it is small, which is much faster and looks the same.
    small = Image.new("L", (128, 128))
    x0, x1, y = left / side, right / side, foot / side
    Canvas(small).ellipse((x0 - 0.03, y - 0.043, x1 + 0.03, y + 0.017), (87,))
    shadow = small.filter(ImageFilter.GaussianBlur(2.2)).resize(scene.size, Image.Resampling.BILINEAR)
    scene.paste("black", (0, 0), shadow)


def _draw_one(item: Image.Image, pack: Pack, face: int, colours: Palette) -> None:
    shape, body = shape_of(pack.kind)
    if isinstance(shape, Flat):
        _draw_flat(item, seen_from(face, shape), body, pack, face, colours)
    elif face not in (TOP, BOTTOM):
        _draw_round(item, shape, body or colours.main, pack, face, colours)
    elif shape.bend:
        cap, canvas = shape.lid or colours.dark, Canvas(item)
        for radius, colour in ((0.4, mixed(cap, BLACK, 0.25)), (0.385, cap), (0.33, mixed(cap, WHITE, 0.14))):
            canvas.disc(0.5, 0.5, radius, colour)
        canvas.text((0.26, 0.4, 0.74, 0.6), pack.brand, colours.dark if shape.lid else WHITE)
    else:
        _draw_flat(item, Flat(0.7, 0.26, 0, "box"), None, pack, face, colours)


def _draw_flat(
    item: Image.Image, shape: Flat, body: Colour | None, pack: Pack, face: int, colours: Palette
) -> None:
    side = item.width
    x, y = (1 - shape.width - shape.depth) / 2, (1 - shape.height) / 2
    if shape.height > 0.6:
        # A tall pack has its foot at the bottom of the picture; a low one is in the middle.
        y = 0.93 - shape.height
    size = round(shape.width * side), round(shape.height * side)
    if shape.form in {"tray", "card", "folded"}:
        item.alpha_composite(
            _panel(size, shape.form, body, pack, face, colours), (round(x * side), round(y * side))
        )
        return
    box = x, y, x + shape.width, y + shape.height
    if shape.form == "carton":
        _draw_gable(Canvas(item), box, shape.depth, colours)
    _draw_block(item, box, shape.depth, colours.main, printed(face, size, (_MARGIN, _MARGIN), pack, colours))


def _draw_block(
    item: Image.Image,
    box: tuple[float, float, float, float],
    depth: float,
    colour: Colour,
    front: Image.Image,
) -> None:
    """Draw a block that is seen a little from above and from the right: its front, its top and its side."""
    (x0, y0, x1, y1), back, rise = box, box[2] + depth, _RISE * depth
    canvas = Canvas(item)
    canvas.polygon((x1, y0, back, y0 - rise, back, y1 - rise, x1, y1), mixed(colour, BLACK, 0.42))
    canvas.polygon((x0, y0, x0 + depth, y0 - rise, back, y0 - rise, x1, y0), mixed(colour, WHITE, 0.3))
    # Light falls off downwards.
    fall = Image.linear_gradient("L").point(lambda value: 255 - round(value * 0.12)).resize(front.size)
    lit = ImageChops.multiply(front, Image.merge("RGB", (fall, fall, fall)))
    item.paste(lit, (round(x0 * item.width), round(y0 * item.width)))


def _draw_gable(
    canvas: Canvas, box: tuple[float, float, float, float], depth: float, colours: Palette
) -> None:
    """Draw the roof of a carton for drinks, with its cap."""
    (x0, y0, x1, _), half, top = box, depth / 2, box[1] - depth
    canvas.polygon((x1, y0, x1 + depth, y0 - _RISE * depth, x1 + half, top), mixed(colours.main, BLACK, 0.5))
    canvas.polygon((x0, y0, x1, y0, x1 + half, top, x0 + half, top), mixed(colours.main, WHITE, 0.22))
    canvas.rectangle((x0 + half, top - 0.35 * depth, x1 + half, top), mixed(colours.main, WHITE, 0.1))
    canvas.disc((x0 + x1 + half) / 2, y0 - 0.5 * depth, 0.3 * depth, colours.dark)
    canvas.disc((x0 + x1 + half) / 2, y0 - 0.56 * depth, 0.27 * depth, mixed(WHITE, colours.accent, 0.25))


def _panel(
    size: tuple[int, int], form: str, body: Colour | None, pack: Pack, face: int, colours: Palette
) -> Image.Image:
    """Return what is thin: a tray with slices beside its label, things on a card, cloth in a band of paper."""
    art = Image.new(
        "RGB", size, {"tray": body or colours.light, "card": colours.dark}.get(form, colours.accent)
    )
    canvas = Canvas(art)
    left, right, foot = {"tray": (0, 0.56, 1), "card": (0, 1, 0.58)}.get(form, (0.25, 0.75, 1))
    for number in range(6):
        if form == "tray":
            slice_ = (0.6, 0.03 + 0.15 * number, 0.96, 0.24 + 0.15 * number)
            canvas.ellipse(slice_, mixed(body or colours.light, BLACK if number % 2 else WHITE, 0.12))
        elif form == "card":
            x = 0.11 + 0.135 * number
            canvas.rectangle((x, 0.65, x + 0.105, 0.93), mixed(colours.accent, BLACK, 0.05 * number), 0.06)
        else:
            canvas.rectangle(
                (0, 0.7 + 0.06 * number, 1, 0.71 + 0.06 * number), mixed(colours.accent, BLACK, 0.3)
            )
    label = round((right - left) * size[0]), round(foot * size[1])
    art.paste(printed(face, label, (_MARGIN, _MARGIN), pack, colours), (round(left * size[0]), 0))
    corners = Image.new("L", size)
    Canvas(corners).rectangle((0, 0, 1 - 1 / size[0], 1 - 1 / size[1]), (255,), radius=0.06)
    art.putalpha(corners)
    return art


def _draw_round(
    item: Image.Image, shape: Round, body: Colour, pack: Pack, face: int, colours: Palette
) -> None:
    side, cap = item.width, shape.lid or colours.dark
    rows = round((shape.foot - shape.top) * side)
    halves = _outline(shape.profile, rows) * side
    art = Image.new("RGB", (round(float(halves.max()) * np.pi), rows), body)
    Canvas(art).rectangle((0, 0, 1, shape.cap), cap)
    begin, end = (round(place * rows) for place in shape.label)
    art.paste(printed(face, (art.width, end - begin), (_TURNED_AWAY, 0.03), pack, colours), (0, begin))
    wrapped = _wrapped(art, halves, shape.bend, shape.gloss)
    half, rise = float(halves[0]) / side, shape.bend * float(halves[0]) / side
    canvas = Canvas(item)
    canvas.ellipse((0.5 - half, shape.top - rise, 0.5 + half, shape.top + rise), mixed(cap, WHITE, 0.25))
    if shape.lid:
        inner = (0.5 - 0.9 * half, shape.top - 0.8 * rise, 0.5 + 0.9 * half, shape.top + 0.8 * rise)
        canvas.ellipse(inner, mixed(cap, BLACK, 0.08))
    item.alpha_composite(wrapped, (round((side - wrapped.width) / 2), round(shape.top * side)))


def _outline(profile: tuple[tuple[float, float], ...], rows: int) -> Numbers:
    """Return half of the width in each row; between two places of the profile it swings like half a cosine."""
    places, widths = np.array(profile, dtype=np.float32).T
    at = np.linspace(0, 1, rows, dtype=np.float32)
    before = np.clip(np.searchsorted(places, at, "right") - 1, 0, len(places) - 2)
    share = np.clip((at - places[before]) / (places[before + 1] - places[before]), 0, 1)
    swung: Numbers = widths[before] + (widths[before + 1] - widths[before]) * (1 - np.cos(np.pi * share)) / 2
    return swung


def _wrapped(art: Image.Image, halves: Numbers, bend: float, gloss: float) -> Image.Image:
    """Lay a flat picture around a body whose axis stands upright, lit from the upper left.

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
    light = 0.52 + 0.5 * np.clip(np.cos(angle + 0.42), 0, 1)
    shine = 0.55 * gloss * np.exp(-(((across + 0.58) / 0.1) ** 2))
    step = np.clip((x / half + 1) * (_STEPS / 2), 0, _STEPS - 1).astype(np.int16)
    row = y - bend * half * np.sqrt(1 - across**2)[step]
    row_of = np.clip(row * (art.height / rows), 0, art.height - 1).astype(np.int32)
    column_of = ((angle / np.pi + 0.5) * (art.width - 1)).astype(np.int32)[step]
    seen = np.asarray(art)[row_of, column_of] * light[step][..., None]
    seen += (255 - seen) * shine[step][..., None]
    # Edges are soft: a pixel is as opaque as it lies within the outline, and between top and foot.
    inside = (
        np.clip(half - np.abs(x) + 0.5, 0, 1) * np.clip(row + 0.5, 0, 1) * np.clip(rows - row + 0.5, 0, 1)
    )
    wrapped = np.empty((*inside.shape, 4), np.uint8)
    wrapped[..., :3], wrapped[..., 3] = seen, inside * 255
    return Image.fromarray(wrapped)


def _several(item: Image.Image, pack: Pack, colours: Palette) -> Image.Image:
    """Return three of an item together in film, with a band around them."""
    side = item.width
    one = item.crop(item.getbbox())
    together = Image.new("RGBA", item.size)
    scale = min(0.6 * side / one.height, 0.4 * side / one.width)
    size = round(one.width * scale), round(one.height * scale)
    copy = one.resize(size, reducing_gap=2.0)
    # The one in the middle is drawn last, since it is in front of the others.
    for place, foot in ((0.3, 0.85), (0.7, 0.85), (0.5, 0.88)):
        together.alpha_composite(copy, (round(place * side) - size[0] // 2, round(foot * side) - size[1]))
    x0, y0, x1, y1 = (edge / side for edge in together.getbbox() or (0, 0, side, side))
    film = Image.new("RGBA", item.size)
    canvas = Canvas(film)
    canvas.rectangle((x0 - 0.02, y0 - 0.02, x1 + 0.02, y1 + 0.01), (205, 215, 225, 70), radius=0.04)
    band = (x0 - 0.02, y1 - 0.3 * (y1 - y0), x1 + 0.02, y1 - 0.12 * (y1 - y0))
    canvas.rectangle(band, (*colours.dark, 235))
    canvas.text(band, f"{pack.brand} {pack.name}", WHITE, lines=2, largest=0.05)
    together.alpha_composite(film)
    return together


def _draw_case(item: Image.Image, pack: Pack, colours: Palette) -> None:
    """Draw a carton that is closed with tape."""
    x0, y0, x1, y1, depth = 0.09, 0.36, 0.75, 0.88, 0.16
    size = round(0.66 * item.width), round(0.52 * item.width)
    _draw_block(item, (x0, y0, x1, y1), depth, _BOARD, _board(size, pack, colours))
    near, far, up, high = 0.4 * depth, 0.6 * depth, 0.4 * _RISE * depth, 0.6 * _RISE * depth
    canvas = Canvas(item)
    canvas.polygon((x0 + near, y0 - up, x0 + far, y0 - high, x1 + far, y0 - high, x1 + near, y0 - up), _TAPE)
    lower = (x1 + near, y0 - up, x1 + far, y0 - high, x1 + far, y0 - high + 0.1, x1 + near, y0 - up + 0.1)
    canvas.polygon(lower, mixed(_TAPE, BLACK, 0.34))


def _draw_pallet(item: Image.Image, pack: Pack, colours: Palette) -> None:
    """Draw a pallet with layers of cartons."""
    width, height, depth = 0.2, 0.165, 0.11
    x, foot = 0.13, 0.86
    wood = Image.new("RGB", (round(3 * width * item.width), round(0.03 * item.width)), _WOOD)
    for top in (foot + 0.05, foot):
        _draw_block(item, (x, top, x + 3 * width, top + 0.03), depth, _WOOD, wood)
    board = _board((round(width * item.width), round(height * item.width)), pack, colours)
    ImageDraw.Draw(board).rectangle(
        (0, 0, board.width - 1, board.height - 1), outline=mixed(_BOARD, BLACK, 0.5)
    )
    # From the bottom to the top and from left to right: each covers the top or the side of the one before.
    for layer in range(1, 5):
        for column in range(3):
            left, y = x + column * width, foot - layer * height
            _draw_block(item, (left, y, left + width, y + height), depth, _BOARD, board)


def _board(size: tuple[int, int], pack: Pack, colours: Palette) -> Image.Image:
    """Return the front of a carton: printed board with a label, and arrows that point upwards (ISO 780)."""
    art = Image.new("RGB", size, _BOARD)
    canvas = Canvas(art)
    canvas.rectangle((0, 0.08, 1, 0.36), mixed(colours.main, _BOARD, 0.12))
    canvas.text((0.06, 0.1, 0.94, 0.34), pack.brand, WHITE)
    canvas.text((0.06, 0.42, 0.56, 0.72), pack.name, _PRINT, lines=3, left=True)
    for x in (0.1, 0.2):
        canvas.polygon((x - 0.03, 0.83, x, 0.77, x + 0.03, 0.83), _PRINT)
        canvas.rectangle((x - 0.01, 0.82, x + 0.01, 0.91), _PRINT)
    canvas.rectangle((0.06, 0.925, 0.24, 0.94), _PRINT)
    canvas.rectangle((0.6, 0.44, 0.94, 0.9), WHITE)
    canvas.text((0.62, 0.46, 0.92, 0.58), pack.name, _PRINT, bold=False, lines=2)
    print_barcode(canvas, (0.61, 0.6, 0.93, 0.89), pack.gtin)
    return art
