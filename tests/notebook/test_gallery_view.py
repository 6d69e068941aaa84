"""The gallery without a browser: which products, whose pictures are downloaded, and what stands in place of others."""

from __future__ import annotations

import asyncio
import io
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import prodex
from prodex.notebook.app import App
from prodex.notebook.session.session import Session
from prodex.notebook.views.gallery_pictures import CONSENT, shelf_of
from prodex.notebook.widget import explore
from prodex.selection import Selection
from tests.notebook.test_table_view import below, block, grid, ids, notice, opened, press
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


def gallery(catalog: prodex.Catalog) -> App:
    """Return a panel that shows the products by their pictures."""
    app = opened(catalog)
    app.act("products.look", name="gallery")
    app.wait()
    return app


def tiles(app: App) -> list[dict[str, Any]]:
    """Return the tiles that the browser is given."""
    return [tile for group in grid(app)["groups"] for tile in group["tiles"]]


def states(app: App) -> dict[str, str]:
    return {tile["key"]: tile["state"] for tile in tiles(app)}


def has(app: App, key: str) -> bool:
    return any(one.get("key") == key for one in below(app.view()["blocks"]))


def have_pictures(app: App) -> str:
    head = next(one for one in below(app.view()["blocks"]) if one.get("key") == "gallery-head")
    return str(next(one["text"] for one in head["blocks"] if one["key"] == "summary"))


def act(app: App, do: str, **arguments: Any) -> None:
    app.act(do, **arguments)
    app.wait()


def sent_of(app: App) -> dict[str, bytes]:
    """Return the pictures that pages get, by name, from now on."""
    got: dict[str, bytes] = {}

    def send(message: dict[str, Any], buffers: Any) -> None:
        if message["type"] == "picture":
            got[message["id"]] = bytes(buffers[0])

    app.send = send
    app.hear({"type": "open", "page": "p"})
    return got


def test_nothing_is_downloaded_before_somebody_says_yes(catalog: prodex.Catalog, server: FileServer) -> None:
    """Pages, groups and cards ask no server; a press on "Show pictures" asks for those of the page, once."""
    app = gallery(catalog)
    act(app, "gallery.group_by", value="brand")
    act(app, "gallery.group_by", value="")
    act(app, "gallery.turn", by=1)
    act(app, "table.open", product_id=tiles(app)[0]["key"])
    assert [] == server.paths
    assert "36 of 40 products have a picture." == have_pictures(app)
    assert {"waiting", "missing"} == set(states(app).values())

    press(app, "show")
    app.wait()
    assert {"/good.jpg", "/broken.jpg"} == set(server.paths)
    assert not has(app, "show")
    assert "shown" in states(gallery(catalog)).values()  # asked once for all panels of the kernel


def test_pictures_are_sent_as_bytes_by_what_they_are(catalog: prodex.Catalog) -> None:
    """Once for all products that share one, again to a page that opens later; no view holds one."""
    CONSENT.is_given = True
    app = gallery(catalog)
    got = sent_of(app)
    names = {tile["src"] for tile in tiles(app) if tile["src"]}
    assert names == {*got}
    assert 1 == len(names)
    assert (256, 171) >= Image.open(io.BytesIO(next(iter(got.values())))).size
    assert 40_000 > len(json.dumps(grid(app)))
    got.clear()
    app.hear({"type": "open", "page": "another"})
    assert names == {*got}
    got.clear()
    act(app, "gallery.turn", by=1)
    assert {} == got


def test_pictures_are_shown_while_others_are_still_to_come(server: FileServer) -> None:
    """Of two, the first is there and drawn while the server has not sent the second."""
    go_on = threading.Event()
    quick = server.serve("/quick.jpg", PHOTO)
    slow = server.serve("/slow.jpg", OTHER, before=lambda: None if go_on.wait(30) else 500)
    pictures = [drawn.told(quick, PHOTO), drawn.told(slow, OTHER)]
    catalog = drawn.catalog(server.base_url, [drawn.product(n, one) for n, one in enumerate(pictures)])

    async def look() -> list[list[str]]:
        seen: list[list[str]] = []
        app = App(Session(catalog))
        app.act("products.look", name="gallery")
        sent_of(app)
        for _ in range(300):
            shown = sorted(one for one, state in states(app).items() if state == "shown")
            if shown and (not seen or seen[-1] != shown):
                seen.append(shown)
                go_on.set()
            if len(shown) == 2:
                break
            await asyncio.sleep(0.05)
        return seen

    assert [["0"], ["0", "1"]] == asyncio.run(look())


def test_what_stands_in_the_place_of_a_picture_says_why(catalog: prodex.Catalog) -> None:
    """A broken picture, none, and none asked for are three things; a picture that is not a packshot says so."""
    CONSENT.is_given = True
    app = gallery(catalog)
    found = {tile["key"]: tile for tile in tiles(app)}
    assert ("shown", "", "") == (found["0"]["state"], found["0"]["words"], found["0"]["mark"])
    assert ("broken", None) == (found["3"]["state"], found["3"]["src"])
    assert found["3"]["words"]
    assert ("missing", "no picture") == (found["5"]["state"], found["5"]["words"])
    assert ("shown", "no packshot") == (found["7"]["state"], found["7"]["mark"])
    assert "Product <b>40</b>" == found["0"]["name"]

    act(app, "form.set", form="gallery-controls", field="kind", value=True)
    assert ("missing", "no packshot") == tuple(
        {tile["key"]: tile for tile in tiles(app)}["7"][key] for key in ("state", "words")
    )
    assert "32 of 40 products have a packshot." == have_pictures(app)


def test_pictures_that_were_not_requested_are_not_missing() -> None:
    """Where the service was not asked for pictures, nobody is said to have none."""
    catalog = prodex.flatten([{"id": 1}])
    origin = replace(catalog.origin, query=prodex.ProductQuery(source_include=["namePublicLong"]))
    app = gallery(replace(catalog, origin=origin))
    assert "not requested" in have_pictures(app)
    assert ["not asked for"] == [tile["words"] for tile in tiles(app)]


def test_a_broken_picture_is_tried_again(catalog: prodex.Catalog, server: FileServer) -> None:
    """A server that has recovered gives the picture at the second try, and the button goes away."""
    CONSENT.is_given = True
    app = gallery(catalog)
    broken = [one for one, state in states(app).items() if state == "broken"]
    assert f"Try again ({len(broken)})" == block(app, "again")["label"]
    asked = len(server.paths)
    act(app, "gallery.turn", by=1)
    act(app, "gallery.turn", by=-1)
    act(app, "table.select", product_id="3")
    assert "broken" == states(app)["3"]
    assert {"/good.jpg"} >= set(server.paths[asked:]) - {"/broken.jpg"}

    server.serve("/broken.jpg", OTHER)
    press(app, "again")
    app.wait()
    assert {"shown"} == {states(app)[one] for one in broken}
    assert not has(app, "again")
    assert "No picture of this page" not in have_pictures(app)


def test_where_no_picture_can_be_had_the_way_on_is_named(server: FileServer) -> None:
    """The service may have moved since: trying again does not help then, and loading again does."""
    CONSENT.is_given = True
    gone = server.serve("/gone.jpg", b"no picture")
    records = [drawn.product(one, drawn.told(gone, PHOTO)) for one in range(3)]
    app = gallery(drawn.catalog(server.base_url, records))
    assert {"broken"} == set(states(app).values())
    assert "load the products again" in have_pictures(app)


def test_pages_turn_with_buttons_and_with_keys(catalog: prodex.Catalog) -> None:
    """Every product is on one page, in order; at the ends nothing changes."""
    app = gallery(catalog)
    act(app, "form.set", form="gallery-controls", field="page_size", value=12)
    act(app, "gallery.turn", by=-1)
    pages = [list(states(app))]
    for _ in range(4):
        act(app, "gallery.turn", by=1)
        pages.append(list(states(app)))
    assert [12, 12, 12, 4, 4] == [len(page) for page in pages]
    assert [str(number) for number in range(COUNT)] == [one for page in pages[:4] for one in page]
    press(app, "previous")
    assert "25 to 36 of 40 products" == summary_of_pager(app)
    app.act("form.set", form="gallery-controls", field="page_size", value=7)
    assert "12, 24, 48, 96" in notice(app)


def summary_of_pager(app: App) -> str:
    return str(next(one for one in below(block(app, "pager")) if one.get("key") == "summary")["text"])


def test_groups_show_the_first_of_each_value(catalog: prodex.Catalog) -> None:
    """Each brand shows six of its products, those with a picture first; its label keeps only its products."""
    app = gallery(catalog)
    act(app, "gallery.by", facet="brand")
    groups = grid(app)["groups"]
    assert [(f"Brand {number}", 10, 6) for number in range(4)] == [
        (group["label"], group["total"], len(group["tiles"])) for group in groups
    ]
    assert {"waiting"} == set(states(app).values())
    assert "1 to 4 of 4 values" == summary_of_pager(app)

    act(app, "gallery.keep", facet=groups[2]["facet"], code=groups[2]["code"])
    assert ("B2",) == tuple(app.session.conditions.groups["brand"])
    assert [str(number) for number in range(COUNT) if number % 4 == 2] == list(states(app))
    assert "" == grid(app)["groups"][0]["label"]


def test_the_same_products_are_shown_by_their_pictures(catalog: prodex.Catalog) -> None:
    """Conditions, order, selection and card are those of the table, and stay when it comes back."""
    app = opened(catalog)
    app.change(lambda session: session.filtered(Selection().toggled("brand", "B1")))
    app.act("table.sort", column="name")
    act(app, "products.look", name="gallery")
    by_name = [str(number) for number in reversed(range(COUNT)) if number % 4 == 1]
    assert by_name == list(states(app))

    act(app, "table.open", product_id=by_name[2])
    app.act("gallery.select", product_id=by_name[0])
    app.act("gallery.select", product_id=by_name[3], through=True)
    assert (by_name[2], tuple(by_name[:4])) == (app.session.product_id, app.session.selected)
    assert by_name[:4] == grid(app)["selected"]
    app.change(lambda session: session.filtered(session.conditions.toggled("brand", "B2")))
    act(app, "products.look", name="table")
    assert (20, by_name[2], set(by_name[:4])) == (len(ids(app)), grid(app)["open"], {*grid(app)["selected"]})


def test_a_facet_opens_the_gallery(catalog: prodex.Catalog) -> None:
    """Also one of an attribute, which the list does not offer; an unknown one is refused in words."""
    app = opened(catalog)
    act(app, "gallery.by", facet="brand")
    assert 4 == len(grid(app)["groups"])
    act(app, "gallery.by", facet="fill:namePublicLong")
    assert ["filled"] == [group["label"] for group in grid(app)["groups"]]
    app.act("gallery.by", facet="<b>nonsense")
    assert "There is no facet" in notice(app)
    app.act("gallery.keep", facet="nonsense", code=None)
    assert "There is no facet" in notice(app)


def test_a_table_shows_the_pictures_that_are_there(catalog: prodex.Catalog, server: FileServer) -> None:
    """The box appears once the gallery has pictures; rows show those, small, and nothing else is downloaded."""
    app = gallery(catalog)
    app.act("fold.set", key="columns", is_open=True)
    act(app, "form.set", form="gallery-controls", field="page_size", value=12)
    press(app, "show")
    app.wait()
    there = {one for one, state in states(app).items() if state == "shown"}
    asked = len(server.paths)
    act(app, "products.look", name="table")
    assert grid(app)["pictures"] is None
    assert "Pictures" in [one["label"] for one in block(app, "table-settings")["fields"]]
    act(app, "form.set", form="table-settings", field="pictures", value=True)
    got = sent_of(app)
    assert there == {*grid(app)["pictures"]}
    assert {*grid(app)["pictures"].values()} == {*got}
    assert {96} == {max(Image.open(io.BytesIO(one)).size) for one in got.values()}
    assert asked == len(server.paths)


def test_a_contact_sheet_is_written_of_what_is_shown(catalog: prodex.Catalog, tmp_path: Path) -> None:
    """It needs the consent, asks before it replaces a file, and holds the groups with their pictures."""
    app = gallery(catalog)
    act(app, "gallery.by", facet="brand")
    sheet = tmp_path / "sheet.html"

    def field(name: str) -> dict[str, Any]:
        fields = next(
            one["fields"]
            for one in below(app.view())
            if one.get("label") == "Contact sheet" and "fields" in one
        )
        return next(one for one in fields if one["key"] == name)

    def written(**values: Any) -> str:
        for name, value in values.items():
            app.act("form.set", form="contact-sheet", field=name, value=value)
        press(app, "sheet")
        app.wait()
        said = [one["text"]["text"] for one in below(app.view()) if one.get("key") == "sheet-said"]
        return " ".join(said) or field("file").get("error", "")

    assert "Show pictures" in written(file=str(sheet))
    assert not sheet.exists()
    press(app, "show")
    app.wait()
    assert "Exported 24 products" in written()
    text_ = sheet.read_text("utf-8")
    assert all(f"Brand {number}" in text_ for number in range(4))
    assert "<b>" not in text_
    assert "already exists" in written()
    assert "Enter a file" in written(file=" ")

    # What is chosen is in the title, and the report goes with the products that it was about.
    app.change(lambda session: session.filtered(Selection().toggled("brand", "B1")))
    assert "Exported" in written(file=str(tmp_path / "one.html"))
    assert "<h1>brand: \u2068Brand 1\u2069: " in (tmp_path / "one.html").read_text("utf-8")
    app.change(lambda session: session.looking_at(prodex.flatten([{"id": 7}])))
    app.wait()
    assert [] == [one for one in below(app.view()) if one.get("key") == "sheet-said"]


def test_pictures_of_another_catalogue_are_not_shown(catalog: prodex.Catalog, server: FileServer) -> None:
    """Products of the same ids have their own pictures; what comes late belongs to the one before."""
    CONSENT.is_given = True
    app = gallery(catalog)
    assert "shown" == states(app)["0"]
    before = shelf_of(app.session)
    act(app, "gallery.turn", by=1)
    app.change(lambda session: session.looking_at(prodex.flatten([{"id": n} for n in range(3)])))
    assert before is not shelf_of(app.session)
    app.wait()
    assert {"0": "missing", "1": "missing", "2": "missing"} == states(app)
    assert "3 of 3" not in have_pictures(app)


def test_a_catalogue_without_products_is_shown(catalog: prodex.Catalog) -> None:
    """An empty catalogue says so, and one that replaces it is shown from its first page."""
    app = gallery(prodex.flatten([]))
    assert ("no products", [], "No products to show.") == (
        summary_of_pager(app),
        tiles(app),
        grid(app)["empty"],
    )
    app.change(lambda session: session.looking_at(catalog))
    app.wait()
    assert "1 to 24 of 40 products" == summary_of_pager(app)


def test_pictures_of_a_sandbox_on_this_machine_need_no_consent(server: FileServer) -> None:
    """Nobody else learns of it, and a gallery of grey boxes helps nobody; one address elsewhere, and it is asked."""
    url = server.serve("/good.jpg", PHOTO)
    own = [drawn.product(number, drawn.told(url, PHOTO, isPackshot=True)) for number in range(3)]
    app = gallery(drawn.catalog(server.base_url, own))
    assert {"shown"} == set(states(app).values())
    assert not has(app, "show")
    mixed = [*own, drawn.product(3, drawn.told("https://pictures.example/more.jpg", PHOTO))]
    app = gallery(drawn.catalog(server.base_url, mixed))
    assert {"waiting"} == set(states(app).values())
    assert has(app, "show")


def test_a_gallery_alone_is_its_section(catalog: prodex.Catalog) -> None:
    """It is opened by name, is no section among others, and has the card beside it."""
    explored = explore(catalog, show="gallery")
    explored.app.view()
    explored.wait()
    assert ("gallery", COUNT // 2 + 4) == (explored.section, len(tiles(explored.app)))
    explored.app.act("table.open", product_id="4")
    assert has(explored.app, "pane")
    assert "gallery" not in [one.name for one in App(Session(catalog)).sections]


def test_a_product_without_a_gtin_is_named_by_its_id() -> None:
    """Which says that it is one: nobody copies it as a GTIN."""
    app = gallery(prodex.flatten([{"id": 13}]))
    assert ["id 13"] == [tile["gtin"] for tile in tiles(app)]
