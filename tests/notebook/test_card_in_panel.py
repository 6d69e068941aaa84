"""The card in a panel: it follows the product that is chosen, says errors in words, and fetches pictures on demand."""

from __future__ import annotations

from pathlib import Path

import pytest

import prodex as px
from prodex.exploration.card.record import is_prepared
from prodex.notebook.app import App
from prodex.notebook.session.session import Session
from prodex.notebook.widget import explore
from tests.notebook import canary
from tests.notebook.card_products import rich, text
from tests.notebook.cards import block, card_of, keys, shown


@pytest.fixture
def catalog() -> px.Catalog:
    """Hold a product with everything, and one with a name."""
    return px.flatten([rich(), {"id": 8, "namePublicLong": [text("fra-FR", "Citron")]}])


def alone(catalog: px.Catalog, product_id: str | None, audit: px.quality.Audit | None = None) -> App:
    """Return a panel that is a card alone."""
    return App(Session(catalog, audit, product_id=product_id, section="card"), ["card"])


def test_it_shows_the_product_that_is_chosen(catalog: px.Catalog) -> None:
    """Another product, another audit and another catalogue are shown at once."""
    app = alone(catalog, None)
    assert "Select a product to show its card." in str(app.view()["blocks"])

    app.act("table.open", product_id="8")
    assert "Citron" in shown(app).words
    app.act("table.open", product_id="7")
    assert "Halfvolle melk" in shown(app).words
    assert "Quality" not in shown(app).words

    app.change(lambda session: session.replaced(audit=px.audit(catalog, "core", progress=False)))
    assert "Quality by core" in shown(app).words
    newer = px.flatten([{"id": 7, "namePublicLong": [text("fra-FR", "Orange")]}])
    app.change(lambda session: session.renewed(catalog, newer, None))
    assert "Orange" in shown(app).words


def test_until_it_was_read_it_says_so(catalog: px.Catalog) -> None:
    """The card of the product before is not taken for it."""
    app = alone(catalog, "8")
    assert "Citron" in shown(app).words
    app.change(lambda session: session.replaced(product_id="7"))
    words = str(alone(catalog, "7").view()["blocks"])
    assert "Citron" not in words
    assert "Reading the product …" in words


def test_what_was_read_is_kept(catalog: px.Catalog) -> None:
    """Whoever goes back to a product does not wait, and its parts are the very same objects."""
    app = alone(catalog, "7")
    before = card_of(app)["blocks"]
    app.act("table.open", product_id="8")
    card_of(app)
    app.act("table.open", product_id="7")
    after = app.view()["blocks"][0]["blocks"]
    assert before[0] is after[0]


def test_a_product_that_is_not_there_is_told_in_words(catalog: px.Catalog) -> None:
    """The card says what to do; it is read again on request, and gone with the next product."""
    app = alone(catalog, "9")
    assert "There is no product 9 among 2." in shown(app).words
    newer = px.flatten([{"id": 9, "namePublicLong": [text("fra-FR", "Neuf")]}])
    app.act("card.again")
    assert "There is no product 9 among 2." in shown(app).words
    app.change(lambda session: session.renewed(catalog, newer, None))
    assert "Neuf" in shown(app).words


def test_a_card_is_closed_where_it_is_open(catalog: px.Catalog) -> None:
    """A press that comes late does not close the card of another product."""
    app = App(Session(catalog, product_id="7"))
    assert {"close-card", "correct-first"} <= {*keys(app)}
    app.act("table.open", product_id="8")
    app.act("card.close", product_id="7")
    assert "8" == app.session.product_id
    app.act("card.close", product_id="8")
    assert app.session.product_id is None


def test_a_card_can_be_opened_alone(catalog: px.Catalog) -> None:
    """It is not among the sections of a whole panel, and cannot be closed."""
    assert "card" not in [one.name for one in App(Session(catalog)).sections]
    app = explore(catalog, show="card", product_id="7").app
    assert "Halfvolle melk" in shown(app).words
    assert not {"close-card", "apart"} & {*keys(app)}


def test_the_record_is_sent_to_whoever_opens_it(catalog: px.Catalog) -> None:
    """It is the longest part of a card, and mostly not looked at."""
    app = alone(catalog, "7")
    title = block(app, "fold", "card-record")["title"]
    assert title.startswith("JSON, ")
    assert "record" not in keys(app)
    app.act("fold.set", key="card-record", is_open=True)
    assert '"gtin"' in block(app, "record")["text"]


def test_the_first_card_can_be_prepared(catalog: px.Catalog) -> None:
    """What all cards need is read before anybody opens one; a catalogue without products has none."""
    for one in (catalog, px.flatten([])):
        app = alone(one, None)
        app.view()
        app.wait()
        assert {} == app.session.notices
    assert is_prepared(catalog)


@pytest.mark.slow
def test_pictures_come_when_they_are_asked_for(service: px.service.Client) -> None:
    """A card has no image before the button is pressed, then one for each, and next time all of them at once."""
    catalog = px.load_products(service, px.ProductQuery(has_packshot=True), progress=False)
    counts = catalog.products.set_index("product_id")["pictures_count"]
    app = alone(catalog, counts.idxmax())
    button = block(app, "button", "show-pictures")
    assert f"Show pictures ({counts.max()})" == button["label"]
    assert [] == shown(app).all("img")

    sent: list[str] = []
    app.hear({"type": "open", "page": "p"})
    app.send = lambda message, buffers: sent.append(message["id"]) if buffers else None
    app.act(button["do"], **button["args"])
    app.wait()
    pictures = [one for one in keys(app) if one.startswith("picture ")]
    assert counts.max() == len(pictures)
    assert block(app, "picture")["alt"].startswith("Picture 1: ")
    assert {block(app, "picture", key)["image"] for key in pictures} == {*sent}
    assert "show-pictures" not in keys(app)

    again = alone(catalog, counts.idxmax())
    assert counts.max() == len([one for one in keys(again) if one.startswith("picture ")])


def test_a_picture_that_does_not_come_says_why() -> None:
    """An internal address is never called, and the reason is shown in place of the picture."""
    inside = {"pictures": [{"url": "http://127.0.0.1:9/a.jpg", "productFace": 1}]}
    app = alone(px.flatten([{"id": 7, "assets": inside}]), "7")
    card_of(app)
    app.act("card.pictures", product_id="7")
    assert "127.0.0.1" in str(block(app, "picture")["problem"])


def test_a_product_without_pictures_offers_none(catalog: px.Catalog) -> None:
    """A product without pictures has no button for them."""
    assert "show-pictures" not in keys(alone(catalog, "8"))
    assert "show-pictures" in keys(alone(catalog, "7"))


@pytest.mark.slow
def test_pictures_of_the_product_before_are_not_shown(service: px.service.Client) -> None:
    """The next product does not get the pictures of the last, however late they come."""
    catalog = px.load_products(service, px.ProductQuery(has_packshot=True), progress=False)
    first, second = catalog.products["product_id"][:2]
    app = alone(catalog, first)
    card_of(app)
    app.act("card.pictures", product_id=first)
    app.act("table.open", product_id=second)
    assert "show-pictures" in keys(app)
    app.act("table.open", product_id=first)
    assert "show-pictures" not in keys(app)


@pytest.mark.slow
def test_the_disk_refuses_in_words(
    service: px.service.Client, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error while pictures are loaded is shown, and the button offers another try, which works."""
    catalog = px.load_products(service, px.ProductQuery(has_packshot=True), progress=False)
    product = catalog.products["product_id"][0]
    app = alone(catalog, product)
    card_of(app)
    in_the_way = tmp_path_factory.mktemp("home") / "file"
    in_the_way.write_text("no folder")
    with monkeypatch.context() as patch:
        patch.setenv("PRODEX_HOME", str(in_the_way))
        app.act("card.pictures", product_id=product)
        app.wait()
        assert str(in_the_way) in str(block(app, "text", "why-not"))
    assert "Try again to show pictures" == block(app, "button", "show-pictures")["label"]
    app.act("card.pictures", product_id=product)
    app.wait()
    assert "why-not" not in keys(app)


def test_what_changed_since_another_snapshot_is_on_the_card() -> None:
    """Old and new side by side, unfolded where there is little, and nothing where nothing changed."""
    old = px.flatten([{"id": 7, "brand": {"code": "A"}}, {"id": 8}]).save("shop", progress=False)
    new = px.flatten([{"id": 7, "brand": {"code": "B"}}, {"id": 8}, {"id": 9}]).save("shop", progress=False)
    app = App(Session(new, product_id="7", section="card", difference=px.diff(old, new)), ["card"])
    changed = block(app, "details", "changed-since")
    assert changed["title"].startswith("1 value changed since ")
    assert changed["open"]
    assert [{"text": "A"}, {"text": "B"}] == block(app, "table", "changes")["rows"][0]["cells"][1:]
    app.act("table.open", product_id="8")
    assert "changed-since" not in keys(app)
    app.act("table.open", product_id="9")
    assert "New since " in shown(app).words


@pytest.mark.slow
def test_no_text_of_a_supplier_is_markup_or_loads_anything() -> None:
    """Whatever a card has from outside is a typed text of its view: no address, no element, no formula."""
    catalog = canary.catalog()
    for product in catalog.products["product_id"]:
        page = shown(alone(catalog, product))
        assert not {"script", "img", "iframe", "a", "link", "svg"} & {one.name for one in page.walk()}
        assert canary.ADDRESS in page.text


def test_a_snapshot_gives_the_same_card(catalog: px.Catalog, tmp_path: Path) -> None:
    """From disk and from memory, apart from its history."""
    saved = catalog.save("shop", progress=False)
    views = [shown(alone(one, "7")) for one in (catalog, saved)]
    said = [one.words for one in views]
    assert said[0].split("Pictures")[-1] == said[1].split("Pictures")[-1]


def test_the_neighbours_in_the_list_are_read_meanwhile() -> None:
    """Whoever walks through the products with the arrow keys does not wait for each."""
    records = [{"id": one, "namePublicLong": [text("fra-FR", f"Citron {one}")]} for one in range(1, 6)]
    app = App(Session(px.flatten(records), product_id="3"))
    card_of(app)
    for product_id in ("4", "5", "4"):
        app.act("table.open", product_id=product_id)
        assert f"Citron {product_id}" in str(app.view()["blocks"])
        assert "Reading the product" not in str(app.view()["blocks"])
        app.wait()
