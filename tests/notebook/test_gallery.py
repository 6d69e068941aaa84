"""The gallery without a browser: which products, whose pictures are downloaded, and what stands in place of others."""

from __future__ import annotations

import asyncio
import base64
import io
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import prodex
from prodex.errors import InputError
from prodex.exploration.gallery import sheet_rows
from prodex.exploration.product_columns import ProductColumns
from prodex.exploration.table_page import Order
from prodex.notebook.gallery.product_gallery import CONSENT, PictureLoader, ProductGallery
from prodex.notebook.products.explorer import CatalogExplorer
from prodex.notebook.products.table_or_gallery import GALLERY, TABLE
from prodex.notebook.shared.panel import Panel
from prodex.notebook.shared.state import Exploration
from prodex.selection import Selection
from tests.pictures import drawn
from tests.pictures.file_server import FileServer, serving

PHOTO, OTHER = drawn.picture(300, 200, colour="olive"), drawn.picture(200, 300, colour="navy")
COUNT = 40


@pytest.fixture(autouse=True)
def nobody_has_consented() -> Iterator[None]:
    """A consent is for the session, and each test is one of its own."""
    before, CONSENT.is_given = CONSENT.is_given, False
    yield
    CONSENT.is_given = before


@pytest.fixture
def server() -> Iterator[FileServer]:
    with serving() as served:
        yield served


def text(data: str) -> list[dict[str, Any]]:
    return [{"expressedIn": {"code": "fra-FR"}, "data": data}]


@pytest.fixture
def catalog(server: FileServer) -> prodex.Catalog:
    """40 products of four brands: of each ten, one has a broken picture, one none at all, and one no packshot."""
    good, broken = server.serve("/good.jpg", PHOTO), server.serve("/broken.jpg", b"no picture")
    made = []
    for number in range(COUNT):
        url, content = (broken, OTHER) if number % 10 == 3 else (good, PHOTO)
        pictures = [] if number % 10 == 5 else [drawn.told(url, content, isPackshot=number % 10 != 7)]
        brand = {"code": f"B{number % 4}", "label": f"Brand {number % 4}"}
        name = text(f"Product <b>{COUNT - number:02}</b>")
        made.append(drawn.product(number, *pictures, brand=brand, namePublicLong=name))
    # One picture is elsewhere, so that somebody has to say yes.
    elsewhere = drawn.told("https://pictures.example/more.jpg", PHOTO, isPackshot=False)
    made[1]["assets"]["pictures"].append(elsewhere)
    return drawn.catalog(server.base_url, made)


def shown(gallery: ProductGallery) -> list[dict[str, Any]]:
    """Return the tiles that the browser is given."""
    return [tile for group in gallery.grid.view.get("groups", ()) for tile in group["tiles"]]


def states(gallery: ProductGallery) -> dict[str, str]:
    return {tile["id"]: tile["state"] for tile in shown(gallery)}


def size_of(address: str) -> tuple[int, int]:
    return Image.open(io.BytesIO(base64.b64decode(address.partition(",")[2]))).size


def opened(explorer: CatalogExplorer) -> ProductGallery:
    """Return the gallery of an explorer, which is shown first."""
    explorer.view.switch.value = GALLERY
    explorer.view.wait()
    assert explorer.view.gallery is not None
    return explorer.view.gallery


def test_nothing_is_downloaded_before_somebody_says_yes(catalog: prodex.Catalog, server: FileServer) -> None:
    """Pages, groups and cards ask no server; a press on "Show pictures" asks for those of the page, once."""
    panel = prodex.GalleryPanel(catalog)
    panel.wait()
    gallery = panel.gallery
    gallery.controls.group_by.value = "brand"
    gallery.controls.group_by.value = ""
    gallery.pager.next.click()
    gallery.grid.press(do="open", id=shown(gallery)[0]["id"])
    panel.wait()
    assert [] == server.paths
    assert "36 of 40 products have a picture." in gallery.summary.value
    assert {"waiting", "missing"} == set(states(gallery).values())

    gallery.show_pictures.click()
    panel.wait()
    assert {"/good.jpg", "/broken.jpg"} == set(server.paths)
    assert "none" == gallery.show_pictures.layout.display

    another = prodex.GalleryPanel(catalog)
    another.wait()
    assert "shown" in states(another.gallery).values()  # asked once for the session


def test_a_page_is_turned_in_one_message(catalog: prodex.Catalog) -> None:
    """The tile that gets the focus comes with its page; where there is no other page, nothing changes."""
    gallery = opened(CatalogExplorer(catalog))
    drawn: list[dict[str, Any]] = []
    gallery.grid.observe(lambda change: drawn.append(change["new"]), "view")
    focus = gallery.grid.view["focus"]
    for by, count, first, place in ((1, 1, "24", 0), (1, 1, "24", 0), (-1, 2, "0", 23), (-1, 2, "0", 23)):
        gallery.grid.press(do="turn", by=by)
        assert [count] * 2 == [len(drawn), drawn[-1]["focus"] - focus]
        assert (first, place) == (shown(gallery)[0]["id"], drawn[-1]["place"])
    gallery.grid.press(do="select", id="3")
    assert focus + 2 == gallery.grid.view["focus"]


def test_a_picture_that_comes_late_is_not_shown_for_another_catalogue(catalog: prodex.Catalog) -> None:
    """What the loop has still to take when another catalogue is shown belongs to the one before."""

    async def look() -> dict[str, Any]:
        loader = PictureLoader(Panel(), lambda: None, back_to=None)
        loader.load(catalog, sheet_rows(ProductColumns(catalog), [0, 1]))
        loader.work.wait()
        assert {"0", "1"} == set(loader.cells(["0", "1"]))
        loader.clear()
        await asyncio.sleep(0.05)
        return loader.cells(["0", "1"])

    assert {} == asyncio.run(look())


def test_pictures_are_shown_while_others_are_still_to_come(server: FileServer) -> None:
    """Of two, the first is there and drawn while the server has not sent the second."""
    go_on, drawn_with = threading.Event(), list[list[str]]()
    quick = server.serve("/quick.jpg", PHOTO)
    slow = server.serve("/slow.jpg", OTHER, before=lambda: None if go_on.wait(30) else 500)
    pictures = [drawn.told(quick, PHOTO), drawn.told(slow, OTHER)]
    catalog = drawn.catalog(server.base_url, [drawn.product(n, one) for n, one in enumerate(pictures)])

    async def look() -> None:
        loader = PictureLoader(
            Panel(), lambda: drawn_with.append(sorted(loader.cells(["0", "1"]))), back_to=None
        )
        loader.load(catalog, sheet_rows(ProductColumns(catalog), [0, 1]))
        for _ in range(300):
            if drawn_with:
                break
            await asyncio.sleep(0.05)
        go_on.set()
        loader.work.wait()

    asyncio.run(look())
    assert [["0"], ["0", "1"]] == [drawn_with[0], drawn_with[-1]]


def test_what_stands_in_the_place_of_a_picture_says_why(catalog: prodex.Catalog) -> None:
    """A broken picture, none, and none asked for are three things; a picture that is not a packshot says so."""
    CONSENT.is_given = True
    panel = prodex.GalleryPanel(catalog)
    panel.wait()
    tiles = {tile["id"]: tile for tile in shown(panel.gallery)}
    assert ("shown", "", "") == (tiles["0"]["state"], tiles["0"]["words"], tiles["0"]["mark"])
    assert (300, 200) > size_of(tiles["0"]["src"])
    assert ("broken", None) == (tiles["3"]["state"], tiles["3"]["src"])
    assert tiles["3"]["words"]
    assert ("missing", "no picture") == (tiles["5"]["state"], tiles["5"]["words"])
    assert ("shown", "no packshot") == (tiles["7"]["state"], tiles["7"]["mark"])
    assert "Product <b>40</b>" == tiles["0"]["name"]

    panel.gallery.controls.kind.value = True
    panel.wait()
    assert ("missing", "no packshot") == tuple(
        {tile["id"]: tile for tile in shown(panel.gallery)}["7"][key] for key in ("state", "words")
    )
    assert "32 of 40 products have a packshot." in panel.gallery.summary.value


def test_pictures_that_were_not_requested_are_not_missing() -> None:
    """Where the service was not asked for pictures, nobody is said to have none."""
    catalog = prodex.flatten([{"id": 1}])
    origin = replace(catalog.origin, query=prodex.ProductQuery(source_include=["namePublicLong"]))
    panel = prodex.GalleryPanel(replace(catalog, origin=origin))
    panel.wait()
    assert "not requested" in panel.gallery.summary.value
    assert ["not asked for"] == [tile["words"] for tile in shown(panel.gallery)]


def test_a_broken_picture_is_tried_again(catalog: prodex.Catalog, server: FileServer) -> None:
    """A server that has recovered gives the picture at the second try, and the button goes away."""
    CONSENT.is_given = True
    panel = prodex.GalleryPanel(catalog)
    panel.wait()
    gallery = panel.gallery
    broken = [one for one, state in states(gallery).items() if state == "broken"]
    assert f"Try again ({len(broken)})" == gallery.again.description
    server.serve("/broken.jpg", OTHER)
    gallery.again.click()
    panel.wait()
    assert {"shown"} == {states(gallery)[one] for one in broken}
    assert "none" == gallery.again.layout.display
    assert "No picture of this page" not in gallery.summary.value


def test_where_no_picture_can_be_had_the_way_on_is_named(server: FileServer) -> None:
    """The service may have moved since: trying again does not help then, and loading again does."""
    CONSENT.is_given = True
    gone = server.serve("/gone.jpg", b"no picture")
    records = [drawn.product(one, drawn.told(gone, PHOTO)) for one in range(3)]
    panel = prodex.GalleryPanel(drawn.catalog(server.base_url, records))
    panel.wait()
    assert {"broken"} == set(states(panel.gallery).values())
    assert "load the products again" in panel.gallery.summary.value


def test_pages_turn_with_buttons_and_with_keys(catalog: prodex.Catalog) -> None:
    """Every product is on one page, in order; a key at the last picture turns, and the focus goes on."""
    panel = prodex.GalleryPanel(catalog)
    panel.wait()
    gallery = panel.gallery
    gallery.controls.per_page.value = 12
    pages = [[tile["id"] for tile in shown(gallery)]]
    for _ in range(3):
        focus = gallery.grid.view["focus"]
        gallery.grid.press(do="turn", by=1)
        assert (focus + 1, 0) == (gallery.grid.view["focus"], gallery.grid.view["place"])
        pages.append([tile["id"] for tile in shown(gallery)])
    gallery.grid.press(do="turn", by=1)  # there is no further page
    assert [12, 12, 12, 4] == [len(page) for page in pages]
    assert [str(number) for number in range(COUNT)] == [one for page in pages for one in page]
    gallery.grid.press(do="turn", by=-1)
    assert 11 == gallery.grid.view["place"]
    assert "25 to 36 of 40 products" == gallery.pager.summary


def test_groups_show_the_first_of_each_value(catalog: prodex.Catalog) -> None:
    """Each brand shows six of its products, those with a picture first; its label keeps only its products."""
    panel = prodex.GalleryPanel(catalog)
    panel.wait()
    gallery = panel.gallery
    gallery.show_by("brand")
    panel.wait()
    groups = gallery.grid.view["groups"]
    assert [(f"Brand {number}", 10, 6) for number in range(4)] == [
        (group["label"], group["total"], len(group["tiles"])) for group in groups
    ]
    assert {"waiting"} == set(states(gallery).values())
    assert "1 to 4 of 4 values" == gallery.pager.summary

    gallery.grid.press(do="group", key=2)
    panel.wait()
    assert ("B2",) == tuple(panel.exploration.conditions.groups["brand"])
    assert [str(number) for number in range(COUNT) if number % 4 == 2] == [t["id"] for t in shown(gallery)]
    assert "" == gallery.controls.facet


def test_an_explorer_shows_the_same_products_by_their_pictures(catalog: prodex.Catalog) -> None:
    """Selection, order, selection and card are those of the table, and stay when it comes back."""
    explorer = CatalogExplorer(catalog)
    explorer.exploration.conditions = explorer.exploration.conditions.toggled("brand", "B1")
    explorer.table.order = Order("name")
    gallery = opened(explorer)
    by_name = [str(number) for number in reversed(range(COUNT)) if number % 4 == 1]
    assert by_name == [tile["id"] for tile in shown(gallery)]

    gallery.grid.press(do="open", id=by_name[2])
    gallery.grid.press(do="select", id=by_name[0])
    gallery.grid.press(do="select", id=by_name[3], through=True)
    assert (by_name[2], tuple(by_name[:4])) == (explorer.exploration.product_id, explorer.selected)
    explorer.table.order = Order("name", descending=True)
    assert by_name[::-1] == [tile["id"] for tile in shown(gallery)]
    explorer.exploration.conditions = explorer.exploration.conditions.toggled("brand", "B2")
    assert 20 == gallery.total

    explorer.view.switch.value = TABLE
    rows = explorer.table.grid.view["rows"]
    assert set(by_name[:4]) == {row["id"] for row in rows if row["selected"]}
    assert (20, by_name[2]) == (len(rows), explorer.table.grid.view["open"])


def test_a_facet_of_the_list_opens_the_gallery(catalog: prodex.Catalog) -> None:
    """The facet list sends "gallery" with its facet, also one of an attribute; an unknown one is refused in words."""
    explorer = CatalogExplorer(catalog)
    explorer.facets.widget.press(do="gallery", facet="brand")
    explorer.view.wait()
    assert explorer.view.gallery is not None
    assert explorer.view.is_gallery
    assert 4 == len(explorer.view.gallery.grid.view["groups"])

    explorer.facets.widget.press(do="gallery", facet="fill:namePublicLong")
    explorer.view.wait()
    assert ["filled"] == [group["label"] for group in explorer.view.gallery.grid.view["groups"]]

    explorer.facets.widget.press(do="gallery", facet="nonsense")
    assert "There is no facet &#x27;nonsense&#x27;" in explorer.message
    with pytest.raises(InputError, match="nonsense"):
        explorer.gallery_by("nonsense")


@pytest.mark.slow
def test_a_table_shows_the_pictures_that_are_there(catalog: prodex.Catalog, server: FileServer) -> None:
    """The box appears once the gallery has pictures; rows show those, small, and nothing else is downloaded."""
    explorer = CatalogExplorer(catalog)
    box = explorer.table.with_pictures
    gallery = opened(explorer)
    gallery.controls.per_page.value = 12
    assert "none" == box.layout.display

    gallery.show_pictures.click()
    explorer.view.wait()
    assert "" == box.layout.display
    asked = len(server.paths)
    explorer.view.switch.value = TABLE
    assert explorer.table.grid.view["thumbs"] is False
    box.value = True
    thumbs = {row["id"]: row["thumb"] for row in explorer.table.grid.view["rows"]}
    assert {one for one, state in states(gallery).items() if state == "shown"} == {
        one for one, thumb in thumbs.items() if thumb
    }
    assert 96 == max(size_of(thumbs["0"]))
    assert asked == len(server.paths)


def test_a_product_is_corrected_from_its_picture(catalog: prodex.Catalog) -> None:
    """A double click or "e" opens the card at the text; afterwards the focus is back on the picture."""
    panel = prodex.GalleryPanel(catalog)
    panel.wait()
    panel.gallery.grid.press(do="edit", id="4")
    assert "4" == panel.exploration.product_id
    panel.exploration.focus_on = "table"
    assert ("", 4) == (panel.exploration.focus_on, panel.gallery.grid.view["place"])


def test_a_contact_sheet_is_written_of_what_is_shown(catalog: prodex.Catalog, tmp_path: Path) -> None:
    """It needs the consent, asks before it replaces a file, and holds the groups with their pictures."""
    panel = prodex.GalleryPanel(catalog)
    panel.wait()
    panel.gallery.show_by("brand")
    export, sheet = panel.export, tmp_path / "sheet.html"
    export.file.value = str(sheet)
    export.write.click()
    panel.wait()
    assert "Show pictures" in export.exporter.message
    assert not sheet.exists()

    panel.gallery.show_pictures.click()
    panel.wait()
    export.write.click()
    panel.wait()
    assert "Exported 24 products" in export.exporter.message
    written = sheet.read_text("utf-8")
    assert all(f"Brand {number}" in written for number in range(4))
    assert "<b>" not in written
    export.write.click()
    panel.wait()
    assert "already exists" in export.exporter.message

    # What is chosen is in the title, and the report goes with the products that it was about.
    panel.exploration.conditions = Selection().toggled("brand", "B1")
    panel.wait()
    export.file.value = str(tmp_path / "one.html")
    export.write.click()
    panel.wait()
    assert "<h1>brand: \u2068Brand 1\u2069: " in (tmp_path / "one.html").read_text("utf-8")
    assert "Exported" in export.exporter.message
    panel.exploration.look_at(prodex.flatten([{"id": 7}]))
    panel.wait()
    assert "" == export.exporter.message


def test_another_catalogue_is_shown_only_when_its_products_are_given(catalog: prodex.Catalog) -> None:
    """What is known first of a smaller catalogue, its pictures or its products, shows nothing of the one before."""
    panel = Panel()
    gallery = ProductGallery(panel=panel)
    exploration = Exploration(catalog=catalog)
    gallery.hold(exploration.filter)
    gallery.wait()
    assert {} == gallery.grid.view  # nobody has said yet which products there are
    gallery.show(np.ones(COUNT, bool))
    gallery.pager.next.click()
    exploration.look_at(catalog.head(3))
    gallery.hold(exploration.filter)
    gallery.selected = ("1",)
    gallery.wait()
    gallery.show(np.ones(3, bool))
    assert ["0", "1", "2"] == [tile["id"] for tile in shown(gallery)]
    assert "" == panel.message


def test_a_catalogue_without_products_or_pictures_is_shown(catalog: prodex.Catalog) -> None:
    """An empty catalogue says so, and one that replaces it is shown from its first page."""
    panel = prodex.GalleryPanel(exploration=Exploration(catalog=prodex.flatten([])))
    panel.wait()
    assert "no products" == panel.gallery.pager.summary
    assert [] == shown(panel.gallery)
    panel.exploration.look_at(catalog)
    panel.wait()
    assert "1 to 24 of 40 products" == panel.gallery.pager.summary


def test_pictures_of_a_sandbox_on_this_machine_need_no_consent(server: FileServer) -> None:
    """Nobody else learns of it, and a gallery of grey boxes helps nobody; one address elsewhere, and it is asked."""
    url = server.serve("/good.jpg", PHOTO)
    own = [drawn.product(number, drawn.told(url, PHOTO, isPackshot=True)) for number in range(3)]
    panel = prodex.GalleryPanel(drawn.catalog(server.base_url, own))
    panel.wait()
    assert {"shown"} == set(states(panel.gallery).values())
    assert "none" == panel.gallery.show_pictures.layout.display
    mixed = [*own, drawn.product(3, drawn.told("https://pictures.example/more.jpg", PHOTO))]
    panel = prodex.GalleryPanel(drawn.catalog(server.base_url, mixed))
    panel.wait()
    assert {"waiting"} == set(states(panel.gallery).values())
    assert "none" != panel.gallery.show_pictures.layout.display
