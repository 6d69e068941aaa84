"""Resizing: a small JPEG of the pixels of a picture, without anything else that its file holds."""

from __future__ import annotations

import base64
import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from prodex.pictures.file_check import DAMAGES, ORIENTATION, QUIET, memory_for, opened_picture

if TYPE_CHECKING:
    from PIL.Image import Image

_MOST_PIXELS = 40_000_000
#: How a picture is turned upright, by its orientation (Exif): values of `PIL.Image.Transpose`.
_TURNS = {2: 0, 3: 3, 4: 1, 5: 5, 6: 4, 7: 6, 8: 2}
#: Tried from the best to the worst until the JPEG is small enough.
_QUALITIES = (82, 70, 58, 45, 32, 20)
#: Most bytes per pixel, so that a page of pictures stays small, and most bytes of the smallest pictures.
_DENSITY, _LEAST = 0.13, 1_500
#: Pixels of the longest side, tried one after the other until a page is small enough.
_SIDES = (224, 192, 160, 128, 96, 64, 48)
_INSIDE = re.compile(r"(data:image/jpeg;base64,)([A-Za-z0-9+/=]+)")


@dataclass(frozen=True, slots=True)
class SmallPicture:
    """A small JPEG with its pixels, or why there is none."""

    content: bytes | None = None
    width: int | None = None
    height: int | None = None
    problem: str | None = None

    @classmethod
    def of(cls, content: bytes) -> Self:
        """Read a small picture that was made before."""
        from PIL import Image

        try:
            with Image.open(io.BytesIO(content), formats=["JPEG"]) as image:
                return cls(content, *image.size)
        except DAMAGES:
            return cls(problem="it is damaged")


def shrink(path: Path, size: int) -> SmallPicture:
    """Return a picture with at most `size` pixels on its longest side; it is never enlarged.

    Parameters
    ----------
    path
        A file that passed its check.
    size
        Pixels.
    """
    from PIL.Image import Transpose

    try:
        with QUIET, opened_picture(path) as image:
            # Decodes a JPEG at a half, a quarter or an eighth of its size. That is much faster, and twice the pixels
            # are enough for a good small picture.
            image.draft("RGB", (size * 2, size * 2))
            if image.width * image.height > _MOST_PIXELS:
                return SmallPicture(problem=f"too large to show: {image.width:,} x {image.height:,} pixels")
            turn = _TURNS.get(image.getexif().get(ORIENTATION, 1))
            with memory_for(image):
                small = _in_true_colours(image)
                # Pillow does this in two steps: a quick one to twice the size, then a careful one.
                small.thumbnail((size, size), reducing_gap=2.0)
                image.close()
            # Transparent pictures are mostly packshots on white.
            small = _on_white(small if turn is None else small.transpose(Transpose(turn)))
            small.info.clear()  # Pillow would write comments of the file again, whatever they hold
            return SmallPicture(_as_jpeg(small, size), *small.size)
    except DAMAGES as error:
        return SmallPicture(problem=f"it cannot be shown ({type(error).__name__})")


def smaller(content: bytes, size: int) -> bytes:
    """Return a small picture that was made by `shrink` with fewer pixels, at most `size` on its longest side."""
    from PIL import Image

    with Image.open(io.BytesIO(content), formats=["JPEG"]) as image:
        image.thumbnail((size, size))
        return _as_jpeg(image, size)


def smaller_within(html: str, most: int) -> str:
    """Return a page of at most so many bytes, if smaller pictures make it so small; else with its smallest pictures.

    A notebook keeps every page that it shows, and is opened as a whole.

    Parameters
    ----------
    html
        A page whose small pictures (`shrink`) are inside it.
    most
        Bytes.
    """
    size, inside = len(html.encode()), [len(found[2]) for found in _INSIDE.finditer(html)]
    if size <= most or not inside:
        return html
    # Base64 takes four characters for three bytes.
    room = (most - size + sum(inside)) / len(inside) * 3 / 4
    for pixels in _SIDES:
        # What `shrink` allows for so many pixels; most pictures take less, so a size is tried before it is certain.
        if room >= pixels * pixels * _DENSITY / 2 or pixels == _SIDES[-1]:
            made = _with_smaller(html, pixels)
            if len(made.encode()) <= most:
                return made
            html = made
    return html


def _with_smaller(html: str, size: int) -> str:
    return _INSIDE.sub(lambda found: f"{found[1]}{_reduced(found[2], size)}", html)


def _reduced(encoded: str, size: int) -> str:
    from PIL import Image

    content = base64.b64decode(encoded)
    with Image.open(io.BytesIO(content), formats=["JPEG"]) as image:
        if max(image.size) <= size:
            return encoded
    return base64.b64encode(smaller(content, size)).decode()


def _in_true_colours(image: Image) -> Image:
    """Return a picture in colours that can be mixed, so that it can be made small before all else."""
    if image.mode.startswith("I"):  # 16 bits per pixel, of which a JPEG keeps the upper eight
        image = image.point(lambda value: value / 256).convert("L")
    mode = "RGBA" if image.has_transparency_data else "RGB"
    return image.copy() if image.mode == mode else image.convert(mode)


def _on_white(image: Image) -> Image:
    from PIL import Image as Images

    if image.mode == "RGBA":
        image = Images.alpha_composite(Images.new("RGBA", image.size, "white"), image)
    return image.convert("RGB")


def _as_jpeg(image: Image, size: int) -> bytes:
    """Return a JPEG, in the best quality that keeps it small."""
    content = b""
    for quality in _QUALITIES:
        written = io.BytesIO()
        image.save(written, "JPEG", quality=quality, optimize=True)
        content = written.getvalue()
        if len(content) <= max(_LEAST, int(size * size * _DENSITY)):
            break
    return content


def data_url(content: bytes, kind: str = "jpeg") -> str:
    """Return the address of a picture that is inside the page: what is sent to a colleague has no files beside it.

    >>> data_url(b"picture", "png")
    'data:image/png;base64,cGljdHVyZQ=='
    """
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"
