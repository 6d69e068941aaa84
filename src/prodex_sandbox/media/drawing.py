"""Pictures of trade items on white, from one face: one pack, several in film, a case, a pallet; and logos.

A picture is drawn once, larger than most renditions that ask for it, and scaled down. The colours depend on the brand,
the shape on the kind of product (`kinds.csv`, `shapes.csv`), and the print on the face: brand and name on the front,
barcode and small print on the back.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageChops, ImageColor, ImageFilter, ImageOps

from prodex_sandbox.media.canvas import Box, Canvas
from prodex_sandbox.media.files import Pack
from prodex_sandbox.own_tables import read_table

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


Shares = tuple[float, ...]


@dataclass(frozen=True)
class Round:
    """A body with a round surface.

    Attributes
    ----------
    profile
        Its outline: places from the top (0) to the foot (1), with half of the width there as a share of the picture.
    top, foot
        Where these are in the picture, from 0 to 1 downwards.
    cap
        The end of the cap, as a place of the profile.
    label
        Where the label begins and ends, as places of the profile.
    bend
        How much is seen from above, as a share of half the width; 0 for what has a straight edge.
    gloss
        How much light it reflects, from 0 to 1.
    lid
        Colour of a lid that is seen from above, or None.
    """

    profile: tuple[Shares, ...]
    top: float
    foot: float
    cap: float
    label: Shares
    bend: float
    gloss: float
    lid: Colour | None


@dataclass(frozen=True)
class Flat:
    """Something with a flat front.

    Attributes
    ----------
    width, height
        Of the front, as shares of the picture.
    depth
        How far its side is seen, as a share of the picture.
    label
        What of the front is printed, as shares of it.
    part, step
        Of what is thin and shows what is sold beside its label: the box of the first of six parts, and how far each
        is from the one before, as shares of the front. Empty for a box.
    """

    width: float
    height: float
    depth: float = 0.0
    label: Shares = (0.0, 0.0, 1.0, 1.0)
    part: Shares = ()
    step: Shares = ()


def _shares(text: str) -> Shares:
    return tuple(map(float, text.split(":"))) if text else ()


def _colour(text: str) -> Colour | None:
    return colour_of(text) if text else None


#: How columns are read that are not a number.
_READERS: Final[Mapping[str, Callable[[str], Any]]] = {
    "lid": _colour,
    "profile": lambda text: tuple(map(_shares, text.split())),
    **dict.fromkeys(("label", "part", "step"), _shares),
}


def _shape(row: Mapping[str, str]) -> Round | Flat:
    type_ = Round if row["form"] == "round" else Flat
    return type_(**{one.name: _READERS.get(one.name, float)(row[one.name]) for one in fields(type_)})


SHAPES: Final[Mapping[str, Round | Flat]] = {
    row["shape"]: _shape(row) for row in read_table(__package__, "shapes")
}
_KINDS: Final = {
    row["kind"]: (row["shape"], _colour(row["body"])) for row in read_table(__package__, "kinds")
}


def shape_of(kind: str) -> tuple[Round | Flat, Colour | None]:
    """Return the shape of a kind of product, and the colour of its body where that is not the brand's."""
    name, body = _KINDS.get(kind, ("box", None))
    return SHAPES[name], body


def seen_from(face: int, shape: Flat) -> Flat:
    """Return a shape as it is from the left (2) or right (8), from above (3) or below (9); else as from the front."""
    # What is thin shows an edge from the side that is just wide enough to be printed on.
    deep = 0.2 if shape.part else 0.42 * min(shape.width, shape.height) + 0.06
    if face in {2, 8}:
        return Flat(deep, shape.height, shape.depth / 2)
    return Flat(shape.width, deep) if face in {3, 9} else shape


Pixels = NDArray[Any]
#: Prints a face in so many pixels, with margins as shares of them.
Print = Callable[[tuple[int, int], tuple[float, float]], Image.Image]

#: Share of a print, on either side, that has no letters on a flat face, and on a round one, where it turns away.
_FLAT_MARGINS, _ROUND_MARGINS = (0.06, 0.06), (0.23, 0.03)
#: How far the edge of a top rises for each pixel of depth.
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


def _wrapped(art: Image.Image, halves: Pixels, bend: float, gloss: float) -> Image.Image:
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


#: Faces (GS1 Product Image Specification).
LEFT, TOP, BACK, RIGHT, BOTTOM = 2, 3, 7, 8, 9
#: Larger than any picture, so that margins are filled too.
_EVERYWHERE: Final = (-9, -9, 9, 9)
#: Modules on either side of a barcode that stay white.
_QUIET: Final = 10


def printed(
    pack: Pack, face: int, colours: Palette, size: tuple[int, int], margins: tuple[float, float]
) -> Image.Image:
    """Return the print of a face.

    Parameters
    ----------
    size
        Width and height in pixels.
    margins
        Left and right, top and bottom: how much of the picture has no letters, as shares of its width and height.
    """
    if face in _SIDES and size[0] < size[1]:
        # Upright letters on what is taller than wide: printed lying, and turned.
        return printed(pack, face, colours, size[::-1], margins[::-1]).transpose(Image.Transpose.ROTATE_90)
    image = Image.new("RGB", size)
    across, down = margins[0] * size[0], margins[1] * size[1]
    canvas = Canvas(image, (across, down, size[0] - across, size[1] - down))
    print_ = print_back if face == BACK else _print_side if face in _SIDES else _print_front
    print_(canvas, pack, colours)
    return image


def print_barcode(canvas: Canvas, box: Box, gtin: str) -> None:
    """Print a GTIN as a barcode with its digits, on white; nothing for what is no GTIN.

    Modules are whole pixels wide wherever there is a pixel for each.
    """
    modules, digits = modules_of(gtin)
    if not modules:
        return
    canvas.rectangle(box, WHITE)
    x0, y0, x1, y1 = box
    pixel, height = 1 / canvas.width, y1 - y0
    step = (x1 - x0) / (len(modules) + 2 * _QUIET)
    step = int(step / pixel) * pixel if step >= pixel else step
    left = round(((x0 + x1 - len(modules) * step) / 2) / pixel) * pixel
    for place, module in enumerate(modules):
        if module == "1":
            edge = left + place * step
            # Pillow draws the last row and column of pixels too.
            bar = (edge, y0 + 0.06 * height, edge + max(step - pixel, 0), y1 - 0.2 * height)
            canvas.rectangle(bar, INK)
    canvas.text((x0, y1 - 0.2 * height, x1, y1), digits, INK, bold=False)


def print_back(canvas: Canvas, pack: Pack, colours: Palette) -> None:
    """Print the small print and the barcode."""
    canvas.rectangle(_EVERYWHERE, colours.light)
    canvas.rectangle((-9, -9, 9, 0.13), colours.main)
    canvas.text((0, 0.025, 1, 0.115), pack.brand, WHITE)
    high = min(0.3, 0.42 * canvas.width / canvas.height)
    half = min(0.5, 1.05 * high * canvas.height / canvas.width)
    canvas.text((0, 0.16, 1, 0.26), pack.name, INK, 2, largest=0.05)
    canvas.text((0, 0.28, 1, 0.95 - high), pack.small_print, INK, 40, bold=False, largest=0.036)
    print_barcode(canvas, (0.5 - half, 0.97 - high, 0.5 + half, 0.97), pack.gtin)


def _print_side(canvas: Canvas, pack: Pack, colours: Palette) -> None:
    """Print brand and name beside a table of figures."""
    canvas.rectangle(_EVERYWHERE, mixed(colours.main, BLACK, 0.06))
    for place in (0.04, 0.09, 0.14, 0.19, 0.24):
        canvas.rectangle((place, 0.1, place + 0.02, 0.9), PAPER)
    canvas.text((0.32, 0.08, 0.98, 0.56), pack.brand, WHITE)
    canvas.text((0.32, 0.6, 0.98, 0.9), pack.name, WHITE, bold=False)


def _print_front(canvas: Canvas, pack: Pack, colours: Palette) -> None:
    """Print brand, name and content, in the layout that a brand has on all of its products."""
    main, dark = colours.main, colours.dark
    looks = ((main, WHITE, WHITE), (PAPER, WHITE, dark), (colours.light, dark, INK))
    ground, brand, name = looks[colours.style]
    canvas.rectangle(_EVERYWHERE, ground)
    if colours.style == 1:
        canvas.rectangle((-9, -9, 9, 0.32), main)
    elif colours.style == 2:
        canvas.polygon((-1, 0.9, 2, 0.54, 2, 2, -1, 2), main)
    canvas.ellipse((-0.2, 0.72, 1.2, 1.8), mixed(colours.accent, WHITE, 0.3))
    canvas.text((0, 0.05, 1, 0.27), pack.brand, brand, 2)
    canvas.text((0, 0.35, 1, 0.62), pack.name, name, 3, bold=False, largest=0.14)
    canvas.text((0.25, 0.8, 0.75, 0.94), pack.content, INK, largest=0.11)


_SIDES: Final = {LEFT, RIGHT, TOP, BOTTOM}


#: Digit -> its modules in set A; set C is the inverse of it, set B the inverse read backwards.
_A: Final = (
    "0001101", "0011001", "0010011", "0111101", "0100011", "0110001", "0101111", "0111011", "0110111", "0001011",
)  # fmt: skip
#: First digit of an EAN-13 -> the sets of the six digits after it.
_SETS: Final = (
    "AAAAAA", "AABABB", "AABBAB", "AABBBA", "ABAABB", "ABBAAB", "ABBBAA", "ABABAB", "ABABBA", "ABBABA",
)  # fmt: skip
#: Digit -> its five elements in ITF-14, wide where it is 1.
_WIDE: Final = (
    "00110", "10001", "01001", "11000", "00101", "10100", "01100", "00011", "10010", "01010",
)  # fmt: skip
_INVERTED: Final = str.maketrans("01", "10")


def modules_of(gtin: str) -> tuple[str, str]:
    """Return the barcode of a GTIN of 14 digits, and what is printed below it.

    A GTIN-8 is an EAN-8, a GTIN-12 or GTIN-13 an EAN-13 (a UPC-A is one with a leading zero), any other an ITF-14.
    For what is no GTIN both are empty.

    Examples
    --------
    >>> modules_of("00000096385074")[0][:18]
    '101000101101011110'
    >>> [len(modules_of(gtin)[0]) for gtin in ("00000096385074", "03036811359935", "13663836037981", "x")]
    [67, 95, 135, 0]
    """
    if len(gtin) != 14 or not (gtin.isascii() and gtin.isdigit()):
        return "", ""
    if gtin.startswith("0"):
        first, left, right, sets = gtin[1], gtin[2:8], gtin[8:], _SETS[int(gtin[1])]
        if gtin.startswith("000000") and gtin != "0" * 14:
            first, left, right, sets = "", gtin[6:10], gtin[10:], "AAAA"
        bars = f"101{_coded(left, sets)}01010{_coded(right, 'C' * len(right))}101"
        return bars, f"{first} {left} {right}".strip()
    return _interleaved(gtin), f"{gtin[0]} {gtin[1:3]} {gtin[3:8]} {gtin[8:13]} {gtin[13]}"


def _coded(digits: str, sets: str) -> str:
    modules = ""
    for digit, set_ in zip(digits, sets, strict=True):
        in_a = _A[int(digit)]
        in_c = in_a.translate(_INVERTED)
        modules += {"A": in_a, "B": in_c[::-1], "C": in_c}[set_]
    return modules


def _interleaved(digits: str) -> str:
    """Return pairs of digits, the first in the bars and the second in the spaces; wide is three modules."""
    modules = "1010"
    for bar, space in zip(digits[::2], digits[1::2], strict=True):
        for dark, light in zip(_WIDE[int(bar)], _WIDE[int(space)], strict=True):
            modules += "1" * (1 + 2 * int(dark)) + "0" * (1 + 2 * int(light))
    return modules + "11101"
