"""Small pictures as bytes of our own making."""

from __future__ import annotations

import io
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageChops, ImageFilter, ImageOps

import prodex
from prodex.errors import InputError, StorageError
from prodex.pictures import download_pictures
from prodex.pictures.resize import shrink
from prodex.pictures.thumbnails import thumbnails
from tests.cases import each_row

from . import drawn
from .file_server import FileServer

_BLUR = ImageFilter.BoxBlur(4)
LARGE = drawn.picture(800, 600, colour="orange")


def shop(server: FileServer, *products: dict[str, Any]) -> prodex.Catalog:
    return drawn.catalog(server.base_url, products)


def seen(content: bytes | None) -> Image.Image:
    assert content is not None
    with Image.open(io.BytesIO(content), formats=["JPEG"]) as image:
        image.load()
        return image


def test_a_thumbnail_is_a_small_jpeg(server: FileServer) -> None:
    """A thumbnail has the size that was asked for, keeps its proportions, and names its source."""
    url = server.serve("/a.jpg", LARGE)
    catalog = shop(server, drawn.product(1, drawn.told(url, LARGE, isPackshot=True)))
    (made,) = thumbnails(catalog, ["1"], 200)

    assert (200, 150) == seen(made.bytes).size == (made.width, made.height)
    assert ("1", "00000000000001", "0", True, (800, 600), url, None) == (
        *(made.product_id, made.gtin, made.position, made.is_packshot),
        *(made.original, made.url, made.problem),
    )
    assert (255, 165, 0) == pytest.approx(seen(made.bytes).getpixel((190, 140)), abs=5)


def test_a_small_picture_is_not_made_larger(server: FileServer) -> None:
    """A picture that is small already is not enlarged."""
    small = drawn.picture(40, 30)
    catalog = shop(server, drawn.product(1, drawn.told(server.serve("/a.jpg", small), small)))

    assert (40, 30) == seen(thumbnails(catalog, ["1"], 256)[0].bytes).size


def test_nothing_but_pixels_is_handed_on(server: FileServer) -> None:
    """A thumbnail has no comment, position, serial number or script of its file."""
    exif = Image.Exif()
    exif[0x010F] = "CAMERA OF SOMEBODY"
    content = (
        drawn.picture(300, 200, exif=exif, comment=b"<script>alert(1)</script>")
        + b"<script>alert(2)</script>"
    )
    catalog = shop(server, drawn.product(1, {"url": server.serve("/a.jpg", content)}))
    made = thumbnails(catalog, ["1"], 256)[0].bytes

    assert made is not None
    assert b"CAMERA" in content
    assert b"CAMERA" not in made
    assert b"script" not in made


CLEAR, WHITE = Image.new("RGBA", (300, 300), (0, 0, 0, 0)), Image.new("RGB", (300, 300), "white")
KINDS = {
    "RGB": (WHITE, ["PNG", "WEBP", "TIFF", "BMP", "JPEG"]),
    "RGBA": (CLEAR, ["PNG", "WEBP", "TIFF", "GIF"]),
    "LA": (CLEAR, ["PNG", "TIFF"]),
    "L": (WHITE, ["PNG", "GIF", "TIFF", "BMP", "JPEG"]),
    "P": (WHITE, ["PNG", "GIF", "TIFF", "BMP"]),
    "1": (WHITE, ["PNG", "TIFF", "BMP"]),
    "CMYK": (WHITE, ["TIFF", "JPEG"]),
}


@pytest.mark.slow
@each_row(("mode", "form"), [(mode, form) for mode in KINDS for form in KINDS[mode][1]])
def test_every_kind_of_picture_can_be_made_small(mode: str, form: str, server: FileServer) -> None:
    """Grey, indexed, CMYK and transparent pictures become JPEGs on white."""
    written = io.BytesIO()
    KINDS[mode][0].convert(mode).save(written, form)
    catalog = shop(server, drawn.product(1, {"url": server.serve("/a", written.getvalue())}))
    (made,) = thumbnails(catalog, ["1"], 64)

    assert made.problem is None
    assert min(seen(made.bytes).convert("L").tobytes()) > 240


@pytest.mark.parametrize("form", ["PNG", "TIFF"])
def test_sixteen_bits_are_as_bright_as_they_were(form: str, server: FileServer) -> None:
    """A middle grey of 16 bits does not become white."""
    written = io.BytesIO()
    Image.new("I;16", (300, 300), 32_768).save(written, form)
    catalog = shop(server, drawn.product(1, {"url": server.serve("/a", written.getvalue())}))

    assert 128 == pytest.approx(seen(thumbnails(catalog, ["1"], 64)[0].bytes).getpixel((9, 9))[0], abs=3)


def test_a_picture_that_lies_on_its_side_is_put_upright(server: FileServer) -> None:
    """A thumbnail is turned as the file of the picture says."""
    exif = Image.Exif()
    exif[0x0112] = 6
    content = drawn.picture(300, 200, exif=exif)
    catalog = shop(server, drawn.product(1, {"url": server.serve("/a.jpg", content)}))

    assert (43, 64) == seen(thumbnails(catalog, ["1"], 64)[0].bytes).size


def test_the_rendition_that_is_large_enough_is_fetched(server: FileServer) -> None:
    """The rendition is downloaded and not the original, which may have fifty times its bytes."""
    small = drawn.picture(256, 256)
    picture = {
        **drawn.told(server.serve("/original.jpg", LARGE), LARGE),
        "exportables": [drawn.rendition(server.serve("/256.jpg", small), small)],
    }
    (made,) = thumbnails(shop(server, drawn.product(1, picture)), ["1"], 200)

    assert ["/256.jpg"] == server.paths
    assert (800, 600) == made.original


def test_a_second_look_asks_nobody(server: FileServer) -> None:
    """A cached thumbnail is used in this process and in others."""
    told = drawn.told(server.serve("/a.jpg", LARGE), LARGE)
    catalog = shop(
        server, drawn.product(1, told), drawn.product(2, {**told, "url": server.base_url + "/copy.jpg"})
    )
    first = thumbnails(catalog, ["1"], 100)
    server.files.clear()
    server.asked.clear()

    assert first == thumbnails(catalog, ["1"], 100)
    assert first[0].bytes == thumbnails(catalog, ["2"], 100)[0].bytes
    assert [] == server.paths
    assert "HTTP 404" in str(thumbnails(catalog, ["1"], 101)[0].problem)


def test_what_is_told_anew_is_fetched_anew(server: FileServer) -> None:
    """Another checksum, or without one another date, is another picture."""
    other = drawn.picture(800, 600, colour="green")
    url = server.serve("/a.jpg", LARGE)
    before = thumbnails(shop(server, drawn.product(1, drawn.told(url, LARGE), {"url": url})), ["1"], 64)
    server.serve("/a.jpg", other)
    dated = {"url": url, "updatedAt": "2026-11-20T00:00:00"}
    after = thumbnails(shop(server, drawn.product(1, drawn.told(url, other), dated)), ["1"], 64)

    assert 2 == len({one.bytes for one in (*before, *after)})
    assert before[0].bytes == before[1].bytes != after[0].bytes == after[1].bytes


def test_a_kept_file_that_is_damaged_is_made_again(server: FileServer, home: Path) -> None:
    """A damaged file of the cache is made again."""
    catalog = shop(server, drawn.product(1, drawn.told(server.serve("/a.jpg", LARGE), LARGE)))
    first = thumbnails(catalog, ["1"], 100)
    (kept,) = home.rglob("*.jpg")
    kept.write_bytes(b"<html>")

    assert first == thumbnails(catalog, ["1"], 100)


PROBLEMS: dict[str, tuple[dict[str, Any], bytes, str]] = {
    "a page": ({}, b"<html>sorry", "a web page"),
    "a wrong checksum": ({"crc32": "1"}, LARGE, "CRC does not match: 1 in the record"),
    "other pixels": ({"width": 1, "height": 1}, LARGE, "800 x 600 pixels, and 1 x 1 in the record"),
    "half": ({}, drawn.picture(900, 900)[:3000], "cut off or damaged"),
}


@each_row("case", PROBLEMS)
def test_what_does_not_pass_its_check_is_not_shown(case: str, server: FileServer, home: Path) -> None:
    """A failed file is not shown and not cached, and the reason is given."""
    told, content, problem = PROBLEMS[case]
    catalog = shop(server, drawn.product(1, {**told, "url": server.serve("/a.jpg", content)}))
    (made,) = thumbnails(catalog, ["1"], 100)

    assert made.bytes is None
    assert problem in str(made.problem)
    assert [] == [path for path in home.rglob("*") if path.is_file()]


def test_one_for_each_picture_product_by_product(server: FileServer) -> None:
    """Thumbnails are in the order of the ids; a product without pictures has one that says so."""
    url = server.serve("/a.jpg", LARGE)
    waiting = {**drawn.product(3), "lastRequest": {"assets": {"pictures": [{"url": url}]}}}
    catalog = shop(
        server,
        drawn.product(1, {"url": url, "isPackshot": False}, {"url": url, "isPackshot": True}),
        drawn.product(2, {"isPackshot": True}),
        waiting,
    )

    def told(**options: Any) -> list[tuple[str, str | None, str | None]]:
        made = thumbnails(catalog, ["3", "2", "1", "1", "4"], 64, **options)
        return [(one.product_id, one.position, one.problem) for one in made]

    nothing = [("3", None, "no picture"), ("2", "0", "no address"), ("1", "0", None), ("1", "1", None)]
    assert [*nothing, ("4", None, "no picture")] == told()
    packshots = [
        ("3", None, "no packshot"),
        ("2", "0", "no address"),
        ("1", "1", None),
        ("4", None, "no packshot"),
    ]
    assert packshots == told(packshots_only=True)


def test_what_was_not_asked_for_is_not_called_missing() -> None:
    """A product of a catalogue without pictures may well have some."""
    catalog = prodex.flatten([{"id": 1}])
    for asked, options, problem in (
        ({"source_include": ["brand"]}, {}, "not asked"),
        ({"source_exclude": ["assets.pictures.isPackshot"]}, {"packshots_only": True}, "not asked"),
        ({"source_exclude": ["assets.pictures.isPackshot"]}, {}, "no picture"),
    ):
        query = prodex.ProductQuery(**asked)
        some = replace(catalog, origin=prodex.catalog.Origin("https://api.example.com", query))
        assert [problem] == [one.problem for one in thumbnails(some, ["1"], 64, **options)]


def test_files_that_were_downloaded_are_used(server: FileServer, tmp_path: Path) -> None:
    """With a folder nothing is downloaded: good files are shown, failed ones have their reason."""
    small = drawn.picture(256, 256)
    good = {
        **drawn.told(server.serve("/a.jpg", LARGE), LARGE),
        "exportables": [drawn.rendition(server.serve("/256.jpg", small), small)],
    }
    broken = {"url": server.serve("/b.jpg", LARGE), "crc32": "1"}
    catalog = shop(server, drawn.product(1, good), drawn.product(2, broken), drawn.product(3, good))
    for size in (None, 256):
        download_pictures(catalog.where(product_id=["1", "2"]), tmp_path / "images", size=size)
    server.asked.clear()
    made = thumbnails(catalog, ["1", "2", "3"], 100, folder=tmp_path / "images")

    assert [(100, 100), None, None] == [one.bytes and seen(one.bytes).size for one in made]
    assert "CRC does not match" in str(made[1].problem)
    assert "not in the folder" == made[2].problem
    assert (400, 300) == seen(thumbnails(catalog, ["1"], 400, folder=tmp_path / "images")[0].bytes).size
    assert [] == server.paths
    with pytest.raises(InputError, match="is not a folder"):
        thumbnails(catalog, ["1"], 100, folder=tmp_path / "nothing")


@each_row("size", [0, 15, 4000, "big", None, True])
def test_a_size_must_be_one_of_a_small_picture(size: Any) -> None:
    """A size beyond that of a small picture is refused."""
    with pytest.raises(InputError, match="must be a number of pixels"):
        thumbnails(prodex.flatten([]), [], size)


def test_a_home_that_cannot_be_written_is_said(server: FileServer, home: Path) -> None:
    """A home that cannot be written is reported."""
    home.write_text("a file")
    catalog = shop(server, drawn.product(1, {"url": server.serve("/a.jpg", LARGE)}))
    with pytest.raises(StorageError, match="thumbnails"):
        thumbnails(catalog, ["1"], 64)


_SCRIPT = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from prodex.pictures.resize import shrink
with ThreadPoolExecutor(8) as pool:
    assert not {small.problem for small in pool.map(shrink, [Path(sys.argv[1])] * 8, [64] * 8)} - {None}
# The memory of this program alone: the largest that getrusage knows may be that of the process that started it.
print(next(line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line))
"""


@pytest.mark.slow
def test_many_large_pictures_do_not_take_all_memory(tmp_path: Path) -> None:
    """Eight threads do not decode large pictures together, which took 2.4 GB of memory."""
    # However it is compressed, it takes as much memory.
    Image.new("RGBA", (5_000, 5_000), (200, 10, 10, 120)).save(tmp_path / "large.png", compress_level=1)
    command = [sys.executable, "-c", _SCRIPT, str(tmp_path / "large.png")]
    said = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)

    assert int(said.stdout) < 1_800_000


@each_row("orientation", range(1, 9))
def test_a_picture_is_turned_upright_whichever_way_it_lies(orientation: int, tmp_path: Path) -> None:
    """Every orientation is turned as Pillow turns it."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    (tmp_path / "a").write_bytes(drawn.picture(80, 48, form="PNG", exif=exif))
    made = shrink(tmp_path / "a", 80)
    with Image.open(tmp_path / "a") as image:
        upright = ImageOps.exif_transpose(image).convert("RGB")

    assert upright.size == (made.width, made.height)
    assert 20 > max(
        high for _, high in ImageChops.difference(upright, seen(made.content)).filter(_BLUR).getextrema()
    )
