"""Words set into a box: as large as they fit, in as many lines as there may be, and cut where nothing else helps."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from PIL import Image, ImageDraw, ImageFont

from prodex.sandbox.media.colours import Colour

Box = tuple[float, float, float, float]

_LEADING: Final = 1.16
_REFERENCE: Final = 100
_SHRINKING: Final = 0.9
#: Pixels of the smallest letters; a text that is too long for them is cut.
_SMALLEST: Final = 5


def write(
    draw: ImageDraw.ImageDraw,
    box: Box,
    text: str,
    colour: Colour,
    *,
    bold: bool = True,
    lines: int = 1,
    largest: float = 1e9,
    left: bool = False,
) -> None:
    """Write a text into a box.

    Parameters
    ----------
    box
        Left, top, right, bottom in pixels.
    lines
        How many there may be.
    largest
        Size of letters that is not passed even where there is room.
    left
        Whether lines begin at the left edge and the top; else they stand in the middle.
    """
    x0, y0, x1, y1 = box
    width, height = x1 - x0, y1 - y0
    size, broken = _set(text, width, height, bold, lines, largest)
    if not broken:
        return
    face = _font(bold, round(size))
    y = y0 if left else (y0 + y1) / 2 - size * _LEADING * len(broken) / 2
    for line in broken:
        middle = y + size * _LEADING / 2
        draw.text((x0 if left else (x0 + x1) / 2, middle), line, colour, face, anchor="lm" if left else "mm")
        y += size * _LEADING


def write_upright(image: Image.Image, box: Box, text: str, colour: Colour, *, bold: bool = True) -> None:
    """Write one line into a box from its bottom to its top."""
    x0, y0, x1, y1 = map(round, box)
    if x1 <= x0 or y1 <= y0:
        return
    lying = Image.new("L", (y1 - y0, x1 - x0))
    draw = ImageDraw.Draw(lying)
    size, broken = _set(text, lying.width, lying.height, bold, 1, 1e9)
    if broken:
        middle = lying.width / 2, lying.height / 2
        draw.text(middle, broken[0], 255, _font(bold, round(size)), anchor="mm")
        image.paste(colour, (x0, y0), lying.transpose(Image.Transpose.ROTATE_90))


def _set(
    text: str, width: float, height: float, bold: bool, lines: int, largest: float
) -> tuple[float, list[str]]:
    """Return the size of letters and the lines; no lines where there is no text, or no room for a letter."""
    words = text.split()
    size = min(largest, height / _LEADING)
    while size >= _SMALLEST and words:
        broken = _broken(words, width / size, bold)
        fits = len(broken) <= min(lines, height / size / _LEADING)
        if fits and all(_length(line, bold) * size <= width for line in broken):
            return size, broken
        size *= _SHRINKING
    size = min(height, _SMALLEST)
    if size < _SMALLEST or not words:
        return size, []
    most = max(1, min(lines, int(height / size / _LEADING)))
    broken = _broken(words, width / size, bold)[:most]
    return size, [line[: int(width / size * 1.6)] for line in broken]


def _broken(words: list[str], width: float, bold: bool) -> list[str]:
    lines: list[str] = []
    room = 0.0
    for word in words:
        length = _length(word, bold) + 0.32
        if lines and length <= room:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
            room = width + 0.32
        room -= length
    return lines


@lru_cache(maxsize=4096)
def _length(text: str, bold: bool) -> float:
    """Return the width of a line in letters' sizes."""
    return _font(bold, _REFERENCE).getlength(text) / _REFERENCE


@lru_cache(maxsize=128)
def _font(bold: bool, size: int) -> ImageFont.FreeTypeFont:
    path = _fonts() / ("DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf")
    if path.is_file():
        return ImageFont.truetype(path, size, layout_engine=ImageFont.Layout.BASIC)
    font = ImageFont.load_default(size)
    assert isinstance(font, ImageFont.FreeTypeFont)  # noqa: S101 - what a size gives
    return font


@lru_cache(maxsize=1)
def _fonts() -> Path:
    """Return the folder of the fonts that come with matplotlib; the one of Pillow lacks every accent."""
    # Found without being imported, which would take longer than a picture.
    found = find_spec("matplotlib")
    return Path(found.origin if found and found.origin else "").parent / "mpl-data" / "fonts" / "ttf"
