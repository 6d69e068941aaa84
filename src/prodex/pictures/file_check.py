"""Checking a file against the record of its picture: checksum, size, and what Pillow finds in it."""

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

from prodex.pictures.plan import PlannedPicture

if TYPE_CHECKING:
    from PIL.Image import Image

#: Formats of pictures by their names in Pillow, with the suffix of their files. Anything else is not accepted: SVG and
#: HTML are documents that run scripts, and EPS is a program.
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
#: Pixels above which a picture is identified and not decoded, and above which it is refused.
_MOST_DECODED, _MOST_PIXELS = 40_000_000, 400_000_000
#: Pixels above which pictures are decoded one at a time: several together would take all memory of a machine.
_LARGE = 10_000_000
_ONE_LARGE = threading.Lock()
#: CRC-32 has 32 bits.
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
    """The properties of a file.

    Attributes
    ----------
    size, crc32
        Number of bytes, and their checksum.
    ending
        The suffix for a file name, by the content; "unknown" for a file that is not a picture.
    width, height
        Pixels; None for a file that is not a picture.
    is_turned
        Whether it is shown turned by 90 degrees (Exif), so that the record may have width and height exchanged.
    problem
        Why it is not a picture, or not a complete one.
    """

    size: int
    crc32: int
    ending: str = "unknown"
    width: int | None = None
    height: int | None = None
    is_turned: bool = False
    problem: str | None = None


def read_checksum(text: str | None) -> frozenset[int]:
    """Return the CRC-32 values that a text may mean; none if it means none.

    Suppliers write it in decimal or hexadecimal, with or without 0x, in any case, with leading zeros or a sign. Digits
    alone ("10000000") may be either: a file passes if it has one of the two values.

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


def check_file(path: Path, checksums: frozenset[int] = frozenset()) -> FileFacts:
    """Return the properties of a file; its pixels are decoded, unless its checksum proves that it is complete.

    Parameters
    ----------
    path
        The file.
    checksums
        The CRC-32 values of its record.
    """
    from PIL import Image, UnidentifiedImageError

    # Read once for checksum and kind; a file has at most the bytes of `Limits`.
    content = path.read_bytes()
    size, crc32 = len(content), zlib.crc32(content)
    try:
        with QUIET, opened_picture(path) as image:
            width, height = image.size
            ending = FORMATS[image.format or ""]
            is_turned = image.getexif().get(ORIENTATION) in _TURNED
            problem = None
            if width * height > _MOST_PIXELS:
                problem = f"it claims to have {width:,} x {height:,} pixels"
            elif crc32 not in checksums:
                image.draft("RGB", (64, 64))  # reads a JPEG to its end, and decodes a small version of it
                if image.width * image.height <= _MOST_DECODED:
                    with memory_for(image):
                        image.load()
    except UnidentifiedImageError:
        return FileFacts(size, crc32, problem=f"it is not a picture ({_kind_of_content(content)})")
    except Image.DecompressionBombError:
        return FileFacts(size, crc32, problem="it claims to have more pixels than any picture")
    except DAMAGES as error:
        return FileFacts(size, crc32, problem=f"the picture is cut off or damaged ({type(error).__name__})")
    return FileFacts(size, crc32, ending, width, height, is_turned, problem)


def opened_picture(path: Path) -> Image:
    """Open a picture; nothing is decoded yet, and only formats of pictures are tried."""
    from PIL import Image

    # Only the formats above: Pillow would try more than forty, and some of them start other programs.
    Image.init()
    return Image.open(path, formats=[name for name in FORMATS if name in Image.OPEN])


def memory_for(image: Image) -> AbstractContextManager[object]:
    """Wait until there is memory for the pixels of a picture."""
    return _ONE_LARGE if image.width * image.height > _LARGE else nullcontext()


class _Quiet:
    """Silences the warnings of Pillow while any thread reads pictures: the result says what is wrong with a file.

    Filters of warnings belong to the process, so the first thread sets them and the last one restores them.
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


def compare(facts: FileFacts, picture: PlannedPicture) -> tuple[str, str | None]:
    """Compare a file with its record.

    Parameters
    ----------
    facts
        The properties of the file.
    picture
        Its record.

    Returns
    -------
    tuple of str and str or None
        "crc32, bytes, pixels", as far as the record has them; and the problem, or None.
    """
    checked, problems = [], [] if facts.problem is None else [facts.problem]
    if checksums := read_checksum(picture.crc32):
        checked.append("crc32")
        if facts.crc32 not in checksums:
            problems.append(
                f"CRC does not match: {picture.crc32} in the record, {facts.crc32:08x} in the file"
            )
    if picture.file_size is not None:
        checked.append("bytes")
        if facts.size != picture.file_size:
            problems.append(f"it has {facts.size:,} bytes, and {picture.file_size:,} in the record")
    if picture.width is not None and picture.height is not None:
        checked.append("pixels")
        stated, found = (picture.width, picture.height), (facts.width, facts.height)
        # Suppliers state the size as the picture is shown, or as its pixels are stored.
        if facts.width is not None and found != stated and not (facts.is_turned and found == stated[::-1]):
            problems.append(
                f"it has {found[0]} x {found[1]} pixels, and {stated[0]} x {stated[1]} in the record"
            )
    return ", ".join(checked), "; ".join(problems) or None


def _kind_of_content(content: bytes) -> str:
    """Return what was downloaded instead of a picture: mostly the page of an error."""
    # Servers answer with a page or a message in place of a picture, and with status 200.
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
