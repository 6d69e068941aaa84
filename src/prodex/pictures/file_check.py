"""Whether a file is the picture that was told: checksum, size, and what Pillow finds in it."""

from __future__ import annotations

import re
import struct
import threading
import warnings
import zlib
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from prodex.pictures.plan import Picture

if TYPE_CHECKING:
    from PIL.Image import Image

#: Formats of pictures, as Pillow calls them, with the ending of their files. Anything else is no picture here: SVG and
#: HTML are documents that run, and EPS is a program.
FORMATS = {
    "JPEG": "jpg",
    "MPO": "jpg",
    "PNG": "png",
    "GIF": "gif",
    "WEBP": "webp",
    "TIFF": "tif",
    "BMP": "bmp",
    "AVIF": "avif",
    "JPEG2000": "jp2",
}
#: Pixels above which a picture is only identified, and above which it is none.
_MOST_DECODED, _MOST_PIXELS = 40_000_000, 400_000_000
#: Pixels of a picture that is only decoded while no other such one is: several would take all memory of a machine.
_LARGE = 10_000_000
_ONE_LARGE = threading.Lock()
_LARGEST = 0xFFFFFFFF
_TURNED = {5, 6, 7, 8}
ORIENTATION = 0x0112

#: What Pillow raises for files that are cut off or damaged.
DAMAGES = (
    AssertionError,
    OSError,
    SyntaxError,
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
    ArithmeticError,
    EOFError,
    RuntimeError,
    MemoryError,
    struct.error,
    zlib.error,
)


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What a file is.

    Attributes
    ----------
    size, crc32
        Bytes, and their checksum.
    ending
        Of a file name, by what the bytes are; "unknown" for what is no picture.
    width, height
        Pixels; None for what is no picture.
    is_turned
        Whether it is to be shown lying on its side, so that width and height may be told the other way round.
    problem
        Why it is no picture, or no whole one.
    """

    size: int
    crc32: int
    ending: str = "unknown"
    width: int | None = None
    height: int | None = None
    is_turned: bool = False
    problem: str | None = None


def read_checksum(text: str | None) -> frozenset[int]:
    """Return the CRC-32 that a text may mean; none where it means none.

    It is written in decimal or hexadecimal, with or without 0x, in any case, with leading zeros or a sign. Digits alone
    may be either ("10000000"), so either is taken: a file passes if it has the one or the other.

    >>> sorted(read_checksum("0x00FF")), sorted(read_checksum("10000000")), sorted(read_checksum("none"))
    ([255], [10000000, 268435456], [])
    """
    word = (text or "").strip().lower()
    readings = set()
    if re.fullmatch(r"-?[0-9]{1,20}", word):
        decimal = int(word)
        readings.add(decimal + _LARGEST + 1 if -(2**31) <= decimal < 0 else decimal)
    if re.fullmatch(r"(0x)?[0-9a-f]{1,20}", word):
        readings.add(int(word, 16))
    return frozenset(reading for reading in readings if 0 <= reading <= _LARGEST)


def look_at(path: Path, checksums: frozenset[int] = frozenset()) -> FileFacts:
    """Return what a file is; its pixels are decoded to the end, unless its checksum says that it is whole.

    Parameters
    ----------
    path
        The file.
    checksums
        The CRC-32 that it is told to have.
    """
    from PIL import Image, UnidentifiedImageError

    content = path.read_bytes()
    size, crc32 = len(content), zlib.crc32(content)
    try:
        with QUIET, opened(path) as image:
            width, height = image.size
            ending = FORMATS[image.format or ""]
            is_turned = image.getexif().get(ORIENTATION) in _TURNED
            problem = None
            if width * height > _MOST_PIXELS:
                problem = f"it claims to have {width:,} x {height:,} pixels"
            elif crc32 not in checksums:
                image.draft("RGB", (64, 64))  # of a JPEG all is read, and little is drawn
                if image.width * image.height <= _MOST_DECODED:
                    with room_for(image):
                        image.load()
    except UnidentifiedImageError:
        return FileFacts(size, crc32, problem=f"it is no picture ({_kind(content)})")
    except Image.DecompressionBombError:
        return FileFacts(size, crc32, problem="it claims to have more pixels than any picture")
    except DAMAGES as error:
        return FileFacts(size, crc32, problem=f"the picture is cut off or damaged ({type(error).__name__})")
    return FileFacts(size, crc32, ending, width, height, is_turned, problem)


def opened(path: Path) -> Image:
    """Open a picture; nothing is decoded yet, and only formats of pictures are tried."""
    from PIL import Image

    Image.init()
    return Image.open(path, formats=[name for name in FORMATS if name in Image.OPEN])


def room_for(image: Image) -> AbstractContextManager[object]:
    """Wait until there is room for the pixels of a picture."""
    return _ONE_LARGE if image.width * image.height > _LARGE else nullcontext()


class _Quiet:
    """Keeps what reads pictures from warning while any thread does: a row of the result says what is wrong with a file.

    Filters of warnings are of the whole process, so who comes first sets them and who goes last takes them back.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._readers = 0
        self._before = warnings.catch_warnings()

    def __enter__(self) -> None:
        with self._lock:
            if not self._readers:
                self._before = warnings.catch_warnings()
                self._before.__enter__()
                warnings.filterwarnings("ignore", module=r"(PIL|prodex\.pictures)\.")
            self._readers += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._readers -= 1
            if not self._readers:
                self._before.__exit__(None, None, None)


QUIET = _Quiet()


def compare(facts: FileFacts, picture: Picture) -> tuple[str, str | None]:
    """Compare a file with what is told of it: what could be checked, and what is wrong.

    Parameters
    ----------
    facts
        What the file is.
    picture
        What is told.

    Returns
    -------
    tuple of str and str or None
        "crc32, bytes, pixels", as far as these are told; and the problem, or None.
    """
    checked, problems = [], [] if facts.problem is None else [facts.problem]
    if checksums := read_checksum(picture.crc32):
        checked.append("crc32")
        if facts.crc32 not in checksums:
            problems.append(
                f"CRC does not match: {picture.crc32} is told, and the file has {facts.crc32:08x}"
            )
    if picture.file_size is not None:
        checked.append("bytes")
        if facts.size != picture.file_size:
            problems.append(f"it has {facts.size:,} bytes, and {picture.file_size:,} are told")
    if picture.width is not None and picture.height is not None:
        checked.append("pixels")
        told, found = (picture.width, picture.height), (facts.width, facts.height)
        if facts.width is not None and found != told and not (facts.is_turned and found == told[::-1]):
            problems.append(f"it has {found[0]} x {found[1]} pixels, and {told[0]} x {told[1]} are told")
    return ", ".join(checked), "; ".join(problems) or None


def _kind(content: bytes) -> str:
    """Say what came instead of a picture."""
    head = content[:1000].lstrip().lower()
    if not content:
        return "an empty file"
    if b"<svg" in head:
        return "SVG, a document that can run scripts"
    if head.startswith((b"<!doctype", b"<html", b"<head", b"<body")):
        return "a web page"
    if head.startswith(b"<"):
        return "XML"
    if head.startswith((b"{", b"[")):
        return "JSON"
    return "PDF" if head.startswith(b"%pdf") else "of another kind"
