"""Drawing in shares of a box instead of pixels, and text that is as large as its box allows."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from functools import lru_cache
from importlib.util import find_spec
from itertools import cycle
from pathlib import Path
from typing import Final, cast

from PIL import Image, ImageDraw, ImageFont

Box = tuple[float, float, float, float]
Fill = tuple[int, ...]

#: Height of a line and mean width of a letter, in sizes of letters.
_LEADING, _LETTER = 1.16, 0.6
#: Pixels of the smallest letters; a text that is too long even for these is cut.
_SMALLEST: Final = 5.0
_LINES_OF_TITLE: Final = 3
_REFERENCE: Final = 100


class Canvas:
    """A picture and a box in it; coordinates are shares of the box, (0, 0) is its top left and (1, 1) its bottom right.

    Parameters
    ----------
    image
        The picture, which is drawn on.
    box
        Left, top, right and bottom of the box in pixels; the whole picture unless given.
    """

    def __init__(self, image: Image.Image, box: Box | None = None) -> None:
        left, top, right, bottom = box or (0, 0, *image.size)
        self._draw = ImageDraw.Draw(image)
        self._origin = left, top
        self.width: float = right - left
        self.height: float = bottom - top

    def rectangle(self, box: Box, fill: Fill, radius: float = 0) -> None:
        """Draw a rectangle; `radius` rounds its corners and is a share of the box's height."""
        self._draw.rounded_rectangle(self.pixels(box), radius * self.height, fill=fill)

    def ellipse(self, box: Box, fill: Fill) -> None:
        """Draw an ellipse that fills a rectangle."""
        self._draw.ellipse(self.pixels(box), fill=fill)

    def disc(self, x: float, y: float, radius: float, fill: Fill) -> None:
        """Draw a disc around a point; its radius is a share of the box's shorter side."""
        wide, high = (radius * min(self.width, self.height) / side for side in (self.width, self.height))
        self.ellipse((x - wide, y - high, x + wide, y + high), fill)

    def polygon(self, points: Iterable[float], fill: Fill, edge: Fill | None = None) -> None:
        """Draw a polygon: x and y of one corner after the other; its edge in another colour where one is given."""
        self._draw.polygon(self.pixels(points), fill, edge, width=max(1, round(self.height / 250)))

    def text(
        self, box: Box, text: str, fill: Fill, lines: int = 1, *, bold: bool = True, largest: float = 1
    ) -> None:
        """Write a text into a rectangle, in letters as large as fit there.

        Parameters
        ----------
        lines
            How many lines there may be. More than three are a paragraph, which begins at the left edge and the top;
            fewer are centred.
        largest
            Size of letters that is not passed even where there is room, as a share of the box's height.
        """
        x0, y0, x1, y1 = self.pixels(box)
        size, rows = _fitted(text, x1 - x0, y1 - y0, lines, largest * self.height, bold)
        place, anchor, align = ((x0 + x1) / 2, (y0 + y1) / 2), "mm", "center"
        if lines > _LINES_OF_TITLE:
            place, anchor, align = (x0, y0), "la", "left"
        # Pillow adds the spacing to the height of a capital, which is 0.73 of the size.
        spacing, font = (_LEADING - 0.73) * size, _font(bold, round(size))
        self._draw.text(place, "\n".join(rows), fill, font, anchor, spacing, align)

    def pixels(self, points: Iterable[float]) -> list[float]:
        """Return shares of the box as pixels of the picture: x and y, one after the other."""
        origins, lengths = cycle(self._origin), cycle((self.width, self.height))
        return [origin + share * length for share, origin, length in zip(points, origins, lengths)]  # noqa: B905


def _fitted(
    text: str, width: float, height: float, lines: int, largest: float, bold: bool
) -> tuple[float, list[str]]:
    """Return the size of the letters and the lines; no lines where there is no room for a letter."""
    size = max(_SMALLEST, min(largest, height / _LEADING))
    while True:
        # Words are broken only where no smaller letters are left to try.
        rows = textwrap.wrap(text, max(1, int(width / size / _LETTER)), break_long_words=size == _SMALLEST)
        most = min(lines, int(height / size / _LEADING))
        fits = len(rows) <= most and all(_length(row, bold) * size <= width for row in rows)
        if fits or size == _SMALLEST:
            return size, rows[:most]
        size = max(_SMALLEST, 0.9 * size)


@lru_cache(maxsize=4096)
def _length(text: str, bold: bool) -> float:
    """Return the width of a line, in sizes of its letters."""
    return _font(bold, _REFERENCE).getlength(text) / _REFERENCE


@lru_cache(maxsize=128)
def _font(bold: bool, size: int) -> ImageFont.FreeTypeFont:
    # The fonts of matplotlib, since Pillow's own lacks every accent; found without an import, which would take
    # longer than a picture.
    found = find_spec("matplotlib")
    folder = Path(found.origin if found and found.origin else "").parent / "mpl-data/fonts/ttf"
    path = folder / ("DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf")
    if path.is_file():
        return ImageFont.truetype(path, size, layout_engine=ImageFont.Layout.BASIC)
    # It is a FreeType font wherever a size is given.
    return cast("ImageFont.FreeTypeFont", ImageFont.load_default(size))
