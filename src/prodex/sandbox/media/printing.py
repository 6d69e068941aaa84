"""What is printed on the faces of a pack: a flat picture that is covered as a whole, with letters in a part of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from PIL import Image, ImageDraw

from prodex.sandbox.media.barcodes import modules_of
from prodex.sandbox.media.colours import INK, PAPER, WHITE, Palette, mixed
from prodex.sandbox.media.lettering import Box, write, write_upright
from prodex.sandbox.media.packs import Pack

#: Margin without letters, as a share of the shorter side.
_MARGIN: Final = 0.06
#: Modules on either side of a barcode that stay white.
_QUIET: Final = 10
#: Prints into a part of a picture what one face of a pack shows.
Print = Callable[[Image.Image, Box, Pack, Palette], None]


def print_within(print_: Print, art: Image.Image, pack: Pack, colours: Palette) -> None:
    """Print on the whole of a flat picture, with a margin without letters."""
    margin = _MARGIN * min(art.size)
    print_(art, (margin, margin, art.width - margin, art.height - margin), pack, colours)


def print_front(image: Image.Image, inner: Box, pack: Pack, colours: Palette) -> None:
    """Print brand, name and net content.

    Parameters
    ----------
    inner
        Where letters may stand; on a round body, the part that is seen well.
    """
    (_ground_in_colour, _ground_with_band, _ground_with_slope)[colours.style](image, inner, pack, colours)


def print_back(image: Image.Image, inner: Box, pack: Pack, colours: Palette) -> None:
    """Print the small print, and the barcode."""
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, *image.size), fill=colours.light)
    x0, y0, x1, y1 = inner
    width, height = x1 - x0, y1 - y0
    head = y0 + 0.13 * height
    draw.rectangle((0, 0, image.width, head), fill=colours.main)
    write(draw, (x0, y0 + 0.025 * height, x1, head - 0.015 * height), pack.brand, WHITE)
    code_height = min(0.3 * height, 0.42 * width)
    text_end = y1 - code_height - 0.07 * height
    y = head + 0.035 * height
    write(draw, (x0, y, x1, y + 0.1 * height), pack.name, INK, lines=2, left=True, largest=0.05 * height)
    y += 0.12 * height
    write(
        draw,
        (x0, y, x1, text_end),
        pack.small_print,
        INK,
        bold=False,
        lines=40,
        left=True,
        largest=0.036 * height,
    )
    half = min(width, 2.1 * code_height) / 2
    middle = (x0 + x1) / 2
    print_barcode(
        draw, (middle - half, y1 - code_height - 0.03 * height, middle + half, y1 - 0.03 * height), pack.gtin
    )


def print_side(image: Image.Image, inner: Box, pack: Pack, colours: Palette) -> None:
    """Print brand and name, on what is tall from bottom to top and above a table of figures."""
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, *image.size), fill=mixed(colours.main, (0, 0, 0), 0.06))
    x0, y0, x1, y1 = inner
    width, height = x1 - x0, y1 - y0
    if width > height:
        write(draw, (x0, y0 + 0.1 * height, x1, y0 + 0.6 * height), pack.brand, WHITE)
        write(draw, (x0, y0 + 0.62 * height, x1, y0 + 0.9 * height), pack.name, WHITE, bold=False)
        return
    middle, half = (x0 + x1) / 2, min(width, 0.3 * height) / 2
    write_upright(image, (middle - half, y0 + 0.04 * height, middle, y0 + 0.66 * height), pack.brand, WHITE)
    lower = (middle + 0.1 * half, y0 + 0.04 * height, middle + 0.8 * half, y0 + 0.66 * height)
    write_upright(image, lower, pack.name, WHITE, bold=False)
    top, bottom = y0 + 0.71 * height, y1 - 0.05 * height
    draw.rectangle((x0 + 0.08 * width, top, x1 - 0.08 * width, bottom), fill=PAPER)
    line = (bottom - top) / 7
    for number in range(1, 7):
        y = top + number * line
        share = 0.3 + 0.05 * (number * 5 % 7)
        draw.rectangle(
            (x0 + 0.14 * width, y - 0.2 * line, x0 + (0.14 + 0.5 * share) * width, y + 0.1 * line), fill=INK
        )
        draw.rectangle((x1 - 0.28 * width, y - 0.2 * line, x1 - 0.14 * width, y + 0.1 * line), fill=INK)


def print_barcode(draw: ImageDraw.ImageDraw, box: Box, gtin: str) -> None:
    """Print a GTIN as a barcode with its digits, on white; nothing for what is none.

    Modules are whole pixels wide wherever there is a pixel for each.
    """
    modules, digits = modules_of(gtin)
    x0, y0, x1, y1 = box
    if not modules:
        return
    draw.rectangle(box, fill=WHITE)
    step = (x1 - x0) / (len(modules) + 2 * _QUIET)
    step = max(1, int(step)) if step >= 1 else step
    left = (x0 + x1) / 2 - len(modules) * step / 2
    foot = y1 - 0.2 * (y1 - y0)
    for place, module in enumerate(modules):
        if module == "1":
            edge = round(left + place * step)
            draw.rectangle((edge, y0 + 0.06 * (y1 - y0), edge + max(1, round(step)) - 1, foot), fill=INK)
    write(draw, (x0 + _QUIET * step / 2, foot, x1 - _QUIET * step / 2, y1), digits, INK, bold=False)


def _ground_in_colour(image: Image.Image, inner: Box, pack: Pack, colours: Palette) -> None:
    """Print on the brand's colour, with discs of the accent at the foot."""
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, *image.size), fill=colours.main)
    x0, y0, x1, y1 = inner
    width, height = x1 - x0, y1 - y0
    radius = min(0.34 * width, 0.36 * height)
    for share, colour, size in (
        (-0.95, mixed(colours.main, colours.accent, 0.45), 0.8),
        (0.85, mixed(colours.main, colours.dark, 0.55), 0.95),
        (0.0, colours.accent, 1.0),
    ):
        x, y, r = x0 + 0.52 * width + share * radius, y1 - 0.02 * height, radius * size
        draw.ellipse((x - r, y - r, x + r, y + r), fill=colour)
    write(draw, (x0, y0 + 0.05 * height, x1, y0 + 0.27 * height), pack.brand, WHITE, lines=2)
    draw.rectangle(
        (x0 + 0.3 * width, y0 + 0.3 * height, x1 - 0.3 * width, y0 + 0.31 * height), fill=colours.accent
    )
    name = (x0, y0 + 0.34 * height, x1, y1 - 0.04 * height - radius)
    write(draw, name, pack.name, WHITE, bold=False, lines=3, largest=0.15 * height)
    x, y = x0 + 0.52 * width, y1 - 0.4 * radius
    write(draw, (x - 0.7 * radius, y - 0.28 * radius, x + 0.7 * radius, y + 0.28 * radius), pack.content, INK)


def _ground_with_band(image: Image.Image, inner: Box, pack: Pack, colours: Palette) -> None:
    """Print on paper, below a band of the brand's colour and above a wave of it."""
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, *image.size), fill=PAPER)
    x0, y0, x1, y1 = inner
    width, height = x1 - x0, y1 - y0
    draw.rectangle((0, 0, image.width, y0 + 0.32 * height), fill=colours.main)
    draw.rectangle((0, y0 + 0.32 * height, image.width, y0 + 0.345 * height), fill=colours.accent)
    write(draw, (x0, y0 + 0.05 * height, x1, y0 + 0.28 * height), pack.brand, WHITE, lines=2)
    write(
        draw,
        (x0, y0 + 0.39 * height, x1, y0 + 0.7 * height),
        pack.name,
        colours.dark,
        lines=3,
        largest=0.15 * height,
    )
    spread = image.width
    draw.ellipse((-0.3 * spread, y0 + 0.76 * height, 1.1 * spread, y1 + 0.9 * height), colours.main)
    draw.ellipse((0.2 * spread, y0 + 0.8 * height, 1.5 * spread, y1 + 0.9 * height), colours.dark)
    write(
        draw,
        (x0 + 0.5 * width, y1 - 0.13 * height, x1 - 0.02 * width, y1 - 0.04 * height),
        pack.content,
        WHITE,
    )


def _ground_with_slope(image: Image.Image, inner: Box, pack: Pack, colours: Palette) -> None:
    """Print on a tint, with a slope of the brand's colour and a badge for the content."""
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, *image.size), fill=colours.light)
    x0, y0, x1, y1 = inner
    width, height = x1 - x0, y1 - y0
    left, right, foot = 0, *image.size
    draw.polygon(
        [(left, y0 + 0.74 * height), (right, y0 + 0.5 * height), (right, foot), (left, foot)], colours.accent
    )
    draw.polygon(
        [(left, y0 + 0.78 * height), (right, y0 + 0.54 * height), (right, foot), (left, foot)], colours.main
    )
    write(draw, (x0, y0 + 0.06 * height, x1, y0 + 0.26 * height), pack.brand, colours.dark, lines=2)
    write(
        draw,
        (x0, y0 + 0.28 * height, x1, y0 + 0.53 * height),
        pack.name,
        INK,
        bold=False,
        lines=3,
        largest=0.14 * height,
    )
    if not pack.content:
        return
    radius = min(0.2 * width, 0.13 * height)
    x, y = x1 - radius * 1.1, y0 + 0.8 * height
    draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=WHITE)
    draw.ellipse(
        (x - radius * 0.9, y - radius * 0.9, x + radius * 0.9, y + radius * 0.9), fill=colours.accent
    )
    write(draw, (x - radius * 0.7, y - radius * 0.4, x + radius * 0.7, y + radius * 0.4), pack.content, INK)
