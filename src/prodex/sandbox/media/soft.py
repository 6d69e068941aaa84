"""What is soft or thin: bags, trays under film, things on a card, folded cloth."""

from __future__ import annotations

from typing import Final

import numpy as np
from PIL import Image, ImageChops, ImageDraw, ImageFilter

from prodex.sandbox.media.colours import PAPER, WHITE, Colour, Palette, mixed
from prodex.sandbox.media.light import lit
from prodex.sandbox.media.packs import Pack
from prodex.sandbox.media.printing import Print, print_within
from prodex.sandbox.media.solids import outline, wrapped

_BLACK: Final = (0, 0, 0)
#: Half of a bag's width from its top to its foot, and the height of each of its welds.
_BULGE: Final = ((0, 0.47), (0.05, 0.465), (0.25, 0.492), (0.6, 0.496), (0.95, 0.475), (1, 0.48))
_WELD: Final = 0.045
#: Share of a bag's print, on either side, that has no letters since it goes around the edge.
_TURNED_AWAY: Final = 0.23


def draw_bag(
    width: int, height: int, tone: Colour | None, pack: Pack, colours: Palette, print_: Print
) -> Image.Image:
    """Lay the front around something soft that is welded at top and bottom; with a tone, as a label on that."""
    around = round(width * np.pi / 2)
    ground = tone or colours.main
    art = Image.new("RGB", (around, height), ground)
    top, foot = (0, height) if tone is None else (round(0.17 * height), round(0.83 * height))
    label = Image.new("RGB", (around, foot - top))
    margin = _WELD * height
    print_(
        label,
        (_TURNED_AWAY * around, margin, (1 - _TURNED_AWAY) * around, foot - top - margin),
        pack,
        colours,
    )
    art.paste(label, (0, top))
    draw = ImageDraw.Draw(art)
    weld = round(_WELD * height)
    for top in (0, height - weld):
        draw.rectangle((0, top, around, top + weld), fill=mixed(ground, WHITE, 0.25))
        for line in range(top, top + weld, max(3, weld // 6)):
            draw.line((0, line, around, line), mixed(ground, _BLACK, 0.12), max(1, weld // 18))
    return _crumpled(wrapped(art, outline(_BULGE, height) * width, 0.0, 0.35), weld)


def _crumpled(body: Image.Image, weld: int) -> Image.Image:
    """Give a bag dents below its welds, and a jagged edge."""
    width, height = body.size
    dents = Image.new("L", (64, 80), 128)
    draw = ImageDraw.Draw(dents)
    for number in range(9):
        x = 4 + number * 7
        draw.polygon(
            [(x, 3), (x + 3, 3), (x + 1 + (number % 3 - 1) * 3, 12 + number * 5 % 9)],
            fill=60 + number * 37 % 90,
        )
        draw.polygon(
            [(x + 3, 77), (x + 6, 77), (x + 4 - (number % 3 - 1) * 3, 66 - number * 4 % 8)],
            fill=70 + number * 53 % 80,
        )
    dents = dents.filter(ImageFilter.GaussianBlur(1.6)).resize((width, height), Image.Resampling.BICUBIC)
    red, green, blue, alpha = body.split()
    lit = ImageChops.overlay(
        Image.merge("RGB", (red, green, blue)), Image.merge("RGB", (dents, dents, dents))
    )
    teeth = max(8, width // 26)
    step, tooth = width / teeth, 0.3 * weld
    mask = Image.new("L", (width, height), 0)
    upper = [(place * step / 2, tooth * (place % 2)) for place in range(2 * teeth + 1)]
    lower = [(x, height - 1 - y) for x, y in reversed(upper)]
    ImageDraw.Draw(mask).polygon([*upper, *lower], fill=255)
    lit.putalpha(ImageChops.multiply(alpha, mask))
    return lit


def draw_tray(art: Image.Image, tone: Colour, pack: Pack, colours: Palette, print_: Print) -> Image.Image:
    """Show what is in a tray through its film, beside a label."""
    width, height = art.size
    art.paste(mixed(tone, WHITE, 0.1), (0, 0, width, height))
    draw = ImageDraw.Draw(art)
    for number in range(6):
        x, y = (0.6 + 0.03 * (number % 2)) * width, (0.07 + 0.135 * number) * height
        slice_ = (x, y, x + 0.33 * width, y + 0.2 * height)
        draw.ellipse((slice_[0], slice_[1], slice_[2], slice_[3] + 0.012 * height), mixed(tone, _BLACK, 0.22))
        draw.ellipse(slice_, mixed(tone, WHITE, 0.16 * (number % 2)))
    label = Image.new("RGB", (round(0.56 * width), height))
    print_within(print_, label, pack, colours)
    art.paste(label, (0, 0))
    rim = round(0.035 * height)
    draw.rectangle((0, 0, width, height), outline=mixed(PAPER, _BLACK, 0.1), width=rim)
    shine = Image.new("L", (64, 64))
    ImageDraw.Draw(shine).polygon([(38, 0), (48, 0), (30, 64), (20, 64)], fill=46)
    shine = shine.filter(ImageFilter.GaussianBlur(3)).resize((width, height), Image.Resampling.BICUBIC)
    art.paste(WHITE, (0, 0), shine)
    return _rounded(art, 0.08)


def draw_card(art: Image.Image, pack: Pack, colours: Palette, print_: Print) -> Image.Image:
    """Hang things under a blister on a printed card."""
    width, height = art.size
    upper = Image.new("RGB", (width, round(0.58 * height)))
    print_within(print_, upper, pack, colours)
    art.paste(upper, (0, 0))
    draw = ImageDraw.Draw(art)
    top = upper.height
    draw.rectangle((0, top, width, height), fill=colours.dark)
    left, right, foot = 0.12 * width, 0.88 * width, 0.95 * height
    draw.rounded_rectangle(
        (left, top + 0.02 * height, right, foot), 0.07 * width, fill=mixed(colours.light, colours.main, 0.16)
    )
    thing = (right - left) / 5
    for number in range(4):
        x = left + (0.35 + 1.15 * number) * thing
        box = (x, top + 0.055 * height, x + 0.85 * thing, foot - 0.035 * height)
        draw.rounded_rectangle(box, 0.4 * thing, fill=mixed(colours.accent, _BLACK, 0.08 * number))
        draw.rounded_rectangle(
            (box[0] + 0.12 * thing, box[1] + 0.1 * thing, box[0] + 0.26 * thing, box[3] - 0.3 * thing),
            0.07 * thing,
            fill=mixed(colours.accent, WHITE, 0.55),
        )
    draw.line(
        (left + 0.03 * width, top + 0.06 * height, left + 0.03 * width, foot - 0.06 * height),
        fill=WHITE,
        width=max(1, width // 90),
    )
    body = _rounded(lit(art), 0.04)
    hole = 0.05 * width
    mask = ImageDraw.Draw(body)
    mask.rounded_rectangle(
        (width / 2 - 2 * hole, 0.018 * height, width / 2 + 2 * hole, 0.018 * height + hole),
        hole / 2,
        fill=(0, 0, 0, 0),
    )
    return body


def draw_folded(art: Image.Image, pack: Pack, colours: Palette, print_: Print) -> Image.Image:
    """Fold cloth, with a band of paper around it."""
    width, height = art.size
    art.paste(colours.accent, (0, 0, width, height))
    draw = ImageDraw.Draw(art)
    layers = 4
    for number in range(layers):
        y = height * (0.72 + 0.07 * number)
        draw.rectangle((0, y, width, height), fill=mixed(colours.accent, _BLACK, 0.1 + 0.07 * (number % 2)))
        draw.line((0, y, width, y), fill=mixed(colours.accent, _BLACK, 0.35), width=max(1, height // 160))
    for number in range(14):
        x = width * (number + 0.5) / 14
        draw.line(
            (x, 0, x, height * 0.72),
            fill=mixed(colours.accent, WHITE if number % 2 else _BLACK, 0.07),
            width=max(1, width // 60),
        )
    art = art.filter(ImageFilter.GaussianBlur(max(1, width / 400)))
    band = Image.new("RGB", (round(0.5 * width), height))
    print_within(print_, band, pack, colours)
    art.paste(band, (round(0.25 * width), 0))
    return _rounded(lit(art), 0.06)


def _rounded(art: Image.Image, share: float) -> Image.Image:
    mask = Image.new("L", art.size)
    ImageDraw.Draw(mask).rounded_rectangle(
        (0, 0, art.width - 1, art.height - 1), share * art.height, fill=255
    )
    body = art.convert("RGBA")
    body.putalpha(mask)
    return body
