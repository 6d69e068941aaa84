"""Pictures of trade items on white, from one face: one pack, several with a band, a case, a pallet; and logos.

A picture is drawn once, larger than most renditions that ask for it, and scaled down. An item is its outline with a
label on it. The colours depend on the brand, the outline on the kind of product (`kinds.csv`, `shapes.csv`), and the
label on the face: brand and name on the front, barcode and small print on the back.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from PIL import Image, ImageColor, ImageOps

from prodex_sandbox.media.canvas import Box, Canvas
from prodex_sandbox.media.files import Pack
from prodex_sandbox.own_tables import read_table

Colour = tuple[int, int, int]

BLACK: Final = (0, 0, 0)
WHITE: Final = (255, 255, 255)
INK: Final = (38, 40, 46)
PAPER: Final = (250, 249, 246)
_BOARD: Final = (208, 168, 120)
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
class PackShape:
    """What a trade item looks like from the front.

    Attributes
    ----------
    outline
        Places from the top (0) to the foot (1), with half of the width there as a share of the picture.
    top, foot
        Where these are in the picture, from 0 to 1 downwards.
    cap
        The end of the cap, as a place of the outline; 0 where there is none.
    label
        Where the label begins and ends, as places of the outline.
    """

    outline: tuple[Shares, ...]
    top: float
    foot: float
    cap: float
    label: Shares

    def seen_from(self, face: int) -> PackShape:
        """Return the shape as it is from another face: narrower from the side, low from above and below."""
        if face in (TOP, BOTTOM):
            # Even a bottle has its brand on the cap.
            wide = max(0.22, *(half for _, half in self.outline))
            return PackShape(((0.0, wide), (1.0, wide)), 0.5 - 0.6 * wide, 0.5 + 0.6 * wide, 0.0, (0.0, 1.0))
        if face in (LEFT, RIGHT):
            return PackShape(
                tuple((place, 0.7 * half) for place, half in self.outline),
                self.top,
                self.foot,
                self.cap,
                self.label,
            )
        return self

    def corners(self, end: float = 1.0) -> list[float]:
        """Return x and y of the corners of the outline, down on the right and up on the left, as far as a place."""
        right = [(0.5 + half, self._y(place)) for place, half in self.outline if place <= end]
        left = [(1 - x, y) for x, y in reversed(right)]
        return [share for corner in (*right, *left) for share in corner]

    @property
    def label_box(self) -> Box:
        """The box of the label: nearly as wide as the item is where the label is narrowest."""
        begin, end = self.label
        half = 0.96 * min(
            self._half_at(begin), self._half_at(end), *(h for at, h in self.outline if begin < at < end)
        )
        return 0.5 - half, self._y(begin), 0.5 + half, self._y(end)

    def _y(self, place: float) -> float:
        return self.top + place * (self.foot - self.top)

    def _half_at(self, place: float) -> float:
        (above, half), (below, other) = next(
            pair for pair in zip(self.outline, self.outline[1:], strict=False) if pair[1][0] >= place
        )
        return half + (other - half) * (place - above) / (below - above)


def _shares(text: str) -> Shares:
    return tuple(map(float, text.split(":")))


def _shape(row: Mapping[str, str]) -> PackShape:
    outline, label = tuple(map(_shares, row["outline"].split())), _shares(row["label"])
    return PackShape(outline, float(row["top"]), float(row["foot"]), float(row["cap"]), label)


SHAPES: Final[Mapping[str, PackShape]] = {
    row["shape"]: _shape(row) for row in read_table(__package__, "shapes")
}
_KINDS: Final = {
    row["kind"]: (row["shape"], colour_of(row["body"]) if row["body"] else None)
    for row in read_table(__package__, "kinds")
}


def shape_of(kind: str) -> tuple[PackShape, Colour | None]:
    """Return the shape of a kind of product, and the colour of its body where that is not the brand's."""
    name, body = _KINDS.get(kind, ("box", None))
    return SHAPES[name], body


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


#: Boxes of the items in a pack of several; the one in the middle is drawn last, since it is in front of the others.
_SEVERAL: Final = ((0.0, 0.14, 0.6, 0.74), (0.4, 0.14, 1.0, 0.74), (0.17, 0.17, 0.83, 0.83))


@lru_cache(maxsize=4)
def _scene(pack: Pack, face: int, side: int) -> Image.Image:
    """Draw a trade item on a white square."""
    colours = palette_of(pack.brand_code, pack.name)
    scene = Image.new("RGB", (side, side), "white")
    if pack.packaging in {"CASE", "PALLET"}:
        _draw_cartons(scene, pack, colours)
    elif pack.packaging == "PACK" and face not in (TOP, BOTTOM, BACK):
        for box in _SEVERAL:
            _draw_item(scene, box, pack, face, colours)
        band = (0.06, 0.6, 0.94, 0.72)
        canvas = Canvas(scene)
        canvas.rectangle(band, colours.dark)
        canvas.text(band, f"{pack.brand} {pack.name}", WHITE, 2, largest=0.05)
    else:
        _draw_item(scene, (0, 0, 1, 1), pack, face, colours)
    return scene


def _draw_item(scene: Image.Image, box: Box, pack: Pack, face: int, colours: Palette) -> None:
    """Draw an item into a box of the picture: its outline, its cap and its label."""
    shape, body = shape_of(pack.kind)
    shape, (left, top, right, foot) = shape.seen_from(face), (edge * scene.width for edge in box)
    canvas = Canvas(scene, (left, top, right, foot))
    colour = body or colours.main
    # Much is as white as the ground.
    canvas.polygon(shape.corners(), colour, mixed(colour, BLACK, 0.2))
    if shape.cap:
        canvas.polygon(shape.corners(shape.cap), colours.dark)
    x0, y0, x1, y1 = canvas.pixels(shape.label_box)
    scene.paste(printed(pack, face, colours, (round(x1 - x0), round(y1 - y0))), (round(x0), round(y0)))


def _draw_cartons(scene: Image.Image, pack: Pack, colours: Palette) -> None:
    """Draw cartons: a case, or layers of cases on a pallet."""
    columns, layers = (3, 4) if pack.packaging == "PALLET" else (1, 1)
    width, height = 0.8 / columns, 0.72 / layers if layers > 1 else 0.6
    board = _board((round(width * scene.width), round(height * scene.width)), pack, colours)
    foot = 0.88
    for place in range(layers * columns):
        x, y = 0.1 + place % columns * width, foot - (place // columns + 1) * height
        scene.paste(board, (round(x * scene.width), round(y * scene.width)))
    if layers > 1:
        Canvas(scene).rectangle((0.1, foot, 0.9, foot + 0.04), mixed(_BOARD, BLACK, 0.4))


def _board(size: tuple[int, int], pack: Pack, colours: Palette) -> Image.Image:
    """Return the front of a carton: board with a band of the brand's colour, and the barcode."""
    art = Image.new("RGB", size, _BOARD)
    canvas = Canvas(art)
    canvas.rectangle((0, 0.08, 1, 0.36), mixed(colours.main, _BOARD, 0.12))
    canvas.text((0.06, 0.1, 0.94, 0.34), pack.brand, WHITE)
    canvas.text((0.06, 0.42, 0.56, 0.72), pack.name, INK, 3)
    print_barcode(canvas, (0.6, 0.46, 0.94, 0.89), pack.gtin)
    return ImageOps.expand(ImageOps.crop(art, 1), 1, mixed(_BOARD, BLACK, 0.4))


#: Faces (GS1 Product Image Specification).
LEFT, TOP, BACK, RIGHT, BOTTOM = 2, 3, 7, 8, 9
#: Share of a print, on each side, that has no letters.
_MARGIN: Final = 0.06
#: Larger than any picture, so that margins are filled too.
_EVERYWHERE: Final = (-9, -9, 9, 9)
#: Modules on either side of a barcode that stay white.
_QUIET: Final = 10


def printed(pack: Pack, face: int, colours: Palette, size: tuple[int, int]) -> Image.Image:
    """Return the print of a face in so many pixels."""
    if face in _SIDES and size[0] < size[1]:
        # Upright letters on what is taller than wide: printed lying, and turned.
        return printed(pack, face, colours, size[::-1]).transpose(Image.Transpose.ROTATE_90)
    image = Image.new("RGB", size)
    across, down = _MARGIN * size[0], _MARGIN * size[1]
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
