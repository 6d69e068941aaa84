"""Whether a file is the picture that was told."""

from __future__ import annotations

import io
import struct
import warnings
import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

import prodex
from prodex.pictures.file_check import check_file, compare, read_checksum
from prodex.pictures.plan import PlannedPicture, plan
from prodex.pictures.resize import shrink
from tests.cases import each_row

from . import drawn


def wanted(**told: Any) -> PlannedPicture:
    """Return a picture of which this is told."""
    nothing = plan(prodex.flatten([drawn.product(1, {"url": "a"})]))[0]
    return replace(nothing, **told)


@given(st.integers(0, 0xFFFFFFFF))
def test_a_checksum_is_read_however_it_is_written(checksum: int) -> None:
    """A checksum is decimal or hexadecimal, in any case, with 0x, leading zeros, spaces or a sign."""
    signed = struct.unpack(">i", struct.pack(">I", checksum))[0]
    for text in (
        *(f"{checksum}", f"{checksum:x}", f"{checksum:08X}", f"0x{checksum:x}", f"0X{checksum:08X}"),
        *(f" {checksum:08x} ", f"0000{checksum}", f"{signed}"),
    ):
        assert checksum in read_checksum(text), text


def test_digits_alone_may_be_either() -> None:
    """A checksum of digits alone has two readings, and any other text one at most."""
    assert {12345678, 0x12345678} == read_checksum("12345678")
    assert {4294967295} == read_checksum("4294967295")


@each_row("text", [None, "", " ", "none", "0x", "12345678901234567890", "1" * 40_000, "abcdefghi", "-5e"])
def test_what_is_no_checksum_says_nothing(text: str | None) -> None:
    """A text that is not a checksum checks nothing."""
    assert frozenset() == read_checksum(text)


FORMATS = ["JPEG", "PNG", "GIF", "WEBP", "TIFF", "BMP"]


@each_row("form", FORMATS)
def test_a_picture_is_known_by_its_bytes(form: str, tmp_path: Path) -> None:
    """The format, size and checksum are those of the bytes, whatever name or address a file has."""
    content = drawn.picture(30, 20, form=form)
    (tmp_path / "a.exe").write_bytes(content)
    facts = check_file(tmp_path / "a.exe")
    endings = {"JPEG": "jpg", "TIFF": "tif"}

    assert (endings.get(form, form.lower()), 30, 20, None) == (
        facts.ending,
        facts.width,
        facts.height,
        facts.problem,
    )
    assert (len(content), zlib.crc32(content)) == (facts.size, facts.crc32)


OTHERS = {
    b"": "an empty file",
    b"<!DOCTYPE html><html><script>alert(1)</script>": "a web page",
    b"\n <HTML><body>not found": "a web page",
    b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>': "SVG",
    b"<?xml version='1.0'?><error/>": "XML",
    b'{"error": "not found"}': "JSON",
    b"%PDF-1.7\n": "PDF",
    b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n%%EndComments\n": "of another kind",
    b"\0" * 1000: "of another kind",
}


@each_row("content", OTHERS)
def test_what_is_no_picture_says_what_it_is(content: bytes, tmp_path: Path) -> None:
    """Documents and programs are not pictures, even if a browser would draw them."""
    (tmp_path / "a.jpg").write_bytes(content)
    facts = check_file(tmp_path / "a.jpg")

    assert ("unknown", None) == (facts.ending, facts.width)
    assert OTHERS[content] in str(facts.problem)


@each_row("form", ["JPEG", "PNG", "GIF", "TIFF", "BMP"])
def test_a_picture_that_is_cut_off_is_broken(form: str, tmp_path: Path) -> None:
    """A picture that is cut off is found without a size or checksum in its record."""
    noise = Image.effect_noise((300, 300), 60).convert("RGB")
    written = io.BytesIO()
    noise.save(written, form)
    (tmp_path / "a").write_bytes(written.getvalue()[: len(written.getvalue()) * 2 // 3])

    assert "cut off or damaged" in str(check_file(tmp_path / "a").problem)


@given(st.data())
def test_damage_of_any_kind_is_a_problem_and_no_error(data: st.DataObject) -> None:
    """Any byte may be changed or missing: the result is a problem and never an exception."""
    content = bytearray(drawn.picture(16, 16, form=data.draw(st.sampled_from(FORMATS))))
    for _ in range(data.draw(st.integers(1, 6))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    del content[data.draw(st.integers(1, len(content))) :]
    path = prodex.files.atomic.home() / "damaged"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    facts = check_file(path)

    assert zlib.crc32(content) == facts.crc32
    assert (facts.ending == "unknown") == (facts.width is None)


def test_a_picture_that_its_decoder_gives_up_on_is_damaged(tmp_path: Path) -> None:
    """An error of the decoder does not end the download of other files."""
    content = drawn.picture(40, 30, form="AVIF")
    pixels = content.index(b"mdat") + 8
    (tmp_path / "a").write_bytes(content[:pixels] + b"\xff" * 8 + content[pixels + 8 :])
    (tmp_path / "b").write_bytes(content.replace(b"iloc", b"ilod"))

    assert ["the picture is cut off or damaged (RuntimeError)"] * 2 == [
        check_file(tmp_path / name).problem for name in ("a", "b")
    ]
    assert "it cannot be shown (RuntimeError)" == shrink(tmp_path / "a", 64).problem


def test_a_damaged_picture_is_a_problem_and_no_warning(tmp_path: Path) -> None:
    """Damage causes no warning, and the filters of warnings are restored."""
    exif = Image.Exif()
    exif[0x010E] = "x" * 50
    for form in (forms := ["JPEG", "WEBP", "TIFF"]):
        content = drawn.picture(40, 30, form=form, exif=exif)
        for whole, beyond in ((b"\0\2\0\0\0\x33", b"\0\2\0\0\x7f\x33"), (b"\2\0\x33\0\0", b"\2\0\x33\x7f\0")):
            content = content.replace(whole, beyond)
        (tmp_path / form).write_bytes(content)
    paths = [tmp_path / form for form in forms] * 30
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with ThreadPoolExecutor(8) as pool:
            looked = list(pool.map(check_file, paths))
            shrunk = list(pool.map(shrink, paths, [64] * len(paths)))
        with pytest.raises(UserWarning):
            warnings.warn("still an error", stacklevel=1)

    assert {40} == {facts.width for facts in looked} == {small.width for small in shrunk}


def test_a_decompression_bomb_is_not_unpacked(tmp_path: Path) -> None:
    """A few bytes that claim billions of pixels are refused without a warning."""

    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    for side in (50_000, 15_000, 10_000):
        header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
        body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 100)) + chunk(b"IEND", b"")
        (tmp_path / "bomb.png").write_bytes(b"\x89PNG\r\n\x1a\n" + body)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            facts = check_file(tmp_path / "bomb.png")
        assert (side > 12_000) == ("pixels" in str(facts.problem)), facts


@each_row(
    ("told", "checked", "problem"),
    [
        ({}, "", None),
        ({"crc32": "{crc}"}, "crc32", None),
        ({"crc32": "nothing"}, "", None),
        ({"file_size": 0}, "bytes", "in the record"),
        ({"width": 30, "height": 20}, "pixels", None),
        ({"width": 30}, "", None),
        ({"width": 20, "height": 30}, "pixels", "30 x 20 pixels, and 20 x 30 in the record"),
        (
            {"crc32": "00000001", "width": 30, "height": 20},
            "crc32, pixels",
            "CRC does not match: 00000001 in the record",
        ),
    ],
)
def test_each_thing_that_is_told_is_checked(
    told: dict[str, Any], checked: str, problem: str | None, tmp_path: Path
) -> None:
    """Each value of the record is checked, and nothing else."""
    (tmp_path / "a").write_bytes(drawn.picture(30, 20))
    facts = check_file(tmp_path / "a")
    told = {
        name: value.format(crc=facts.crc32) if isinstance(value, str) else value
        for name, value in told.items()
    }
    found = compare(facts, wanted(**told))

    assert checked == found[0]
    assert (problem or "None") in str(found[1])


def test_a_picture_that_lies_on_its_side_may_be_told_upright(tmp_path: Path) -> None:
    """The record may state the size of a turned picture as it is shown."""
    exif = Image.Exif()
    exif[0x0112] = 6
    (tmp_path / "a").write_bytes(drawn.picture(30, 20, exif=exif))
    facts = check_file(tmp_path / "a")

    assert [None, None] == [compare(facts, wanted(width=w, height=h))[1] for w, h in ((20, 30), (30, 20))]
