"""What is printed on the faces of a pack: brand and name on the front, barcode and small print on the back."""

from __future__ import annotations

from typing import Final

from PIL import Image

from prodex_sandbox.media.barcodes import modules_of
from prodex_sandbox.media.canvas import Box, Canvas
from prodex_sandbox.media.colours import BLACK, INK, PAPER, WHITE, Palette, mixed
from prodex_sandbox.media.files import Pack

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
