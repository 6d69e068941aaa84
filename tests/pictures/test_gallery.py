"""The contact sheet: which products, which picture of each, and how it looks in a browser."""

from __future__ import annotations

import io
import random
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import prodex
from prodex.errors import InputError
from prodex.pictures import Gallery
from prodex.pictures.contact_sheet import SheetCell, gallery
from prodex.pictures.thumbnails import Thumbnail
from tests.cases import each_row

from . import drawn
from .file_server import FileServer

PHOTO = drawn.picture(300, 200, colour="olive")
EVIL = (
    "<img src=x onerror=\"document.title='taken'\">",
    "</style><script>document.title='taken'</script>",
    "\"><svg onload=document.title='taken'>",
    "costs $5 or $6, $$\\sum$$",
    "مرحبا \u202egnp.exe",
    "nul \x00 and bell \x07",
    "x" * 40_000 + "https://evil.example",
)


def shop(server: FileServer, *products: dict[str, Any]) -> prodex.Catalog:
    return drawn.catalog(server.base_url, products)


def text(data: str) -> list[dict[str, Any]]:
    return [{"expressedIn": {"code": "fra-FR"}, "data": data}]


def products(server: FileServer, count: int) -> prodex.Catalog:
    """Return products with a packshot each."""
    url = server.serve("/a.jpg", PHOTO)
    return shop(
        server, *(drawn.product(n, drawn.told(url, PHOTO, isPackshot=True)) for n in range(1, count + 1))
    )


@each_row(
    ("page", "per_page", "ids", "title"),
    [
        (1, 3, ["1", "2", "3"], "products 1-3 of 7, page 1 of 3"),
        (3, 3, ["7"], "products 7-7 of 7, page 3 of 3"),
        (1, 24, [str(n) for n in range(1, 8)], "products 1-7 of 7, page 1 of 1"),
    ],
)
def test_a_page_says_which_products_of_how_many(
    page: int, per_page: int, ids: list[str], title: str, server: FileServer
) -> None:
    """A page has its products in the order of the catalogue, and states which they are."""
    sheet = gallery(products(server, 7), page=page, per_page=per_page)

    assert ids == [cell.thumbnail.product_id for cell in sheet.cells] == list(sheet.files["product_id"])
    assert title == sheet.title
    assert title in repr(sheet)
    assert title in sheet._repr_html_()


@each_row(
    "options", [{"page": 0}, {"page": 4}, {"page": "1"}, {"per_page": 0}, {"per_page": 501}, {"size": 5000}]
)
def test_pages_that_are_not_there_are_said(options: dict[str, Any], server: FileServer) -> None:
    """An invalid page is refused with the number of pages."""
    with pytest.raises(InputError, match=next(iter(options))):
        gallery(products(server, 7), **{"per_page": 3, **options})


def test_no_products_are_a_page_too() -> None:
    """A page without products says so."""
    sheet = gallery(prodex.flatten([]))

    assert "no products" in repr(sheet)
    assert 0 == len(sheet.files)
    assert "no products" in sheet._repr_html_()


def test_each_product_is_shown_by_its_packshot(server: FileServer) -> None:
    """A product is shown by its packshot, else by its first picture, with the number of others."""
    url = server.serve("/a.jpg", PHOTO)
    other, packshot = {"url": url, "isPackshot": False}, {"url": url, "isPackshot": True}
    catalog = shop(
        server, drawn.product(1, other, packshot, other), drawn.product(2, other, other), drawn.product(3)
    )

    def told(**options: Any) -> list[tuple[str | None, int, str | None]]:
        cells = gallery(catalog, **options).cells
        return [(cell.thumbnail.position, cell.others, cell.thumbnail.problem) for cell in cells]

    assert [("1", 2, None), (None, 2, "no packshot"), (None, 0, "no packshot")] == told()
    assert [("1", 2, None), ("0", 1, None), (None, 0, "no picture")] == told(packshots_only=False)
    assert "+2 more" in gallery(catalog)._repr_html_()
    assert "2 other pictures" in gallery(catalog)._repr_html_()


def test_what_is_missing_is_said_in_words(server: FileServer) -> None:
    """A missing picture has its reason in its place, and is counted above."""
    url = server.serve("/a.jpg", PHOTO)
    catalog = shop(
        server,
        drawn.product(1, drawn.told(url, PHOTO, isPackshot=True)),
        drawn.product(2, {"url": url, "crc32": "1", "isPackshot": True}),
        drawn.product(3),
    )
    sheet = gallery(catalog)

    assert (
        "1 of 3 with a picture, 1 with a picture that is broken or could not be downloaded, 1 without a packshot"
        == sheet.summary
    )
    assert "CRC does not match" in sheet._repr_html_()
    assert 1 == sheet._repr_html_().count("<img ")
    asked = prodex.catalog.Origin("https://api.example.com", prodex.ProductQuery(source_include=["brand"]))
    unknown = replace(shop(server, {"id": 1}), origin=asked)
    assert "0 of 1 with a picture, 1 for which pictures were not requested" in repr(gallery(unknown))


def test_under_each_picture_stands_what_it_is(server: FileServer) -> None:
    """Each picture has GTIN, name, brand, packshot and pixels, also for screen readers."""
    picture = drawn.told(server.serve("/a.jpg", PHOTO), PHOTO, isPackshot=True)
    record = drawn.product(
        1, picture, namePublicLong=text("Riz & lait"), brand={"code": "A", "label": "Acme"}
    )
    html = gallery(shop(server, record))._repr_html_()

    assert 'alt="packshot of Riz &amp; lait"' in html
    for words in ("00000000000001", "Riz &amp; lait", "Acme", "packshot", "300 × 200 px"):
        assert words in html
    assert ["1", "Riz & lait", "Acme", True, 300, 200, True] == (
        gallery(shop(server, record))
        .files.loc[0, ["product_id", "name", "brand", "is_packshot", "width", "height", "shown"]]
        .tolist()
    )


def hostile(server: FileServer) -> prodex.Catalog:
    """Return products whose every text would do harm."""
    url = server.serve("/a.jpg", PHOTO)
    records = [
        {
            **drawn.product(n, {"url": url, "isPackshot": True, "gdsnFileName": evil}, {"url": evil}),
            "gtin": evil,
            "namePublicLong": text(evil),
            "brand": {"code": evil, "label": evil},
        }
        for n, evil in enumerate(EVIL)
    ]
    return shop(
        server, *records, {**drawn.product(99, {"url": EVIL[0], "isPackshot": True}), "gtin": EVIL[1]}
    )


def test_nothing_of_a_supplier_runs_or_is_asked_for(server: FileServer) -> None:
    """A page has no elements but ours and no addresses but data, and no formula is typeset."""
    html = gallery(hostile(server))._repr_html_()

    assert {"style", "div", "strong", "ul", "li", "img", "p", "bdi", "span"} == set(
        re.findall(r"<([a-z0-9]+)", html)
    )
    assert {"data:image/jpeg"} == set(re.findall(r'<img [^>]* src="([^;"]*)', html))
    assert "evil.example" not in html
    assert "mathjax_ignore" in html
    assert "(160 of 40,020 characters)" in html
    assert "\x00" not in html


def test_a_name_turns_none_of_our_words_around() -> None:
    """A change of direction in a name ends with the name."""
    catalog = prodex.flatten([{"id": 1, "namePublicLong": text("\u2067" + "x" * 200)}])

    assert "x</bdi>\u2069 (160 of 201 characters)" in gallery(catalog)._repr_html_()


@pytest.mark.slow
def test_a_page_is_small(server: FileServer) -> None:
    """A page of 24 pictures has at most 300 kB, even of pictures that cannot be compressed."""
    from PIL import Image

    noisy = []
    for n in range(24):
        noise = Image.effect_noise((512, 512), 40 + n).convert("RGB")
        path = prodex.files.atomic.home() / f"{n}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        noise.save(path)
        noisy.append(
            drawn.product(n, {"url": server.serve(f"/{n}.jpg", path.read_bytes()), "isPackshot": True})
        )
    sheet = gallery(shop(server, *noisy))

    assert 24 == sheet.files["shown"].sum()
    assert len(sheet._repr_html_().encode()) <= 300_000


def test_the_page_is_a_file(server: FileServer, tmp_path: Path) -> None:
    """The file is written completely or not at all, and a folder is refused."""
    path = gallery(products(server, 2)).to_html(tmp_path / "new" / "gallery.html")
    page = path.read_text("utf-8")

    assert page.startswith("<!doctype html>")
    assert "default-src 'none'" in page
    assert server.base_url not in re.sub("from <bdi>.*?</bdi>", "", page)
    with pytest.raises(InputError, match="is a folder"):
        gallery(products(server, 2)).to_html(tmp_path)


def test_a_gallery_cannot_be_changed(server: FileServer) -> None:
    """A gallery is frozen."""
    with pytest.raises(AttributeError):
        gallery(products(server, 1)).page = 2  # type: ignore[misc]
    assert isinstance(gallery(products(server, 1)), Gallery)


@pytest.mark.slow
def test_who_only_imports_it_does_not_wait_for_pillow() -> None:
    """Pillow is imported when the first picture is read."""
    code = "import sys, prodex.pictures; print({'PIL', 'matplotlib', 'jinja2'} & set(sys.modules))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert "set()\n" == said


@pytest.mark.slow
@pytest.mark.parametrize("cells", [24, 500])
def test_a_sheet_in_a_notebook_is_small_whatever_its_pictures(cells: int) -> None:
    """A saved notebook carries at most 200 kB of it: smaller pictures, then fewer; the page has all."""
    noise = random.Random(1).randbytes(256 * 256 * 3)
    Image.frombytes("RGB", (256, 256), noise).save(written := io.BytesIO(), "JPEG", quality=60)
    shown = tuple(
        SheetCell(
            Thumbnail(product_id=str(n), gtin=f"{n:014}", bytes=written.getvalue(), width=256, height=256),
            f"Pain {n}",
            "Acme",
            0,
        )
        for n in range(cells)
    )
    sheet = Gallery(shown, 1, 1, 1, cells, "records", 256)
    html = sheet._repr_html_()
    assert len(html.encode()) <= 200_000
    assert html.count("<img") == (cells if cells == 24 else html.count("<li>"))
    assert (cells == 24) != ("products are shown here" in html)
