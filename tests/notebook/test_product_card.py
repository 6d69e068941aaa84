"""The card as a widget: it follows the product that is chosen, says errors in words, and fetches pictures on demand."""

from __future__ import annotations

import time
from collections.abc import Iterator
from threading import Thread

import ipywidgets as w
import pytest
from traitlets import TraitError

import prodex
from prodex.errors import InputError
from prodex.exploration.card.record import is_prepared
from prodex.notebook.card.panel import ProductCard
from prodex.notebook.shared.panel import is_busy
from prodex.notebook.shared.state import Exploration
from tests.notebook.card_products import rich, text
from tests.quality.reading_html import parsed


@pytest.fixture
def catalog() -> prodex.Catalog:
    return prodex.flatten([rich(), {"id": 8, "namePublicLong": [text("fra-FR", "Citron")]}])


def said(panel: ProductCard) -> str:
    """Return the words of everything that a panel shows."""
    return " ".join(parsed(one.value).words for one in panel.children if isinstance(one, w.HTML))


def button(panel: ProductCard) -> w.Button:
    (found,) = [one for one in panel.children if isinstance(one, w.Button)]
    return found


def press(panel: ProductCard) -> None:
    """Press the button where no event loop runs: the driver of a browser leaves one behind that never goes on."""
    thread = Thread(target=button(panel).click)
    thread.start()
    thread.join()


def images(panel: ProductCard) -> Iterator[dict[str, str]]:
    for one in panel.children:
        if isinstance(one, w.HTML):
            yield from (image.attributes for image in parsed(one.value).all("img"))


def waited(panel: ProductCard, *words: str) -> str:
    """Wait until a panel says one of these."""
    end = time.monotonic() + 30
    while not any(one in said(panel) + button(panel).description for one in words):
        assert time.monotonic() < end, panel.message
        time.sleep(0.02)
    return said(panel)


def test_it_shows_the_product_that_is_chosen(catalog: prodex.Catalog) -> None:
    """The card and its exploration share `product_id`."""
    panel = ProductCard(catalog)
    assert "Select a product" in said(panel)

    panel.exploration.product_id = "8"
    assert ("8", True) == (panel.product_id, "Citron" in said(panel))

    panel.product_id = "7"
    assert ("7", True) == (panel.exploration.product_id, "Halfvolle melk" in said(panel))

    panel.product_id = None
    assert "Select a product" in said(panel)


def test_it_follows_an_exploration(catalog: prodex.Catalog) -> None:
    """A new audit and a new catalogue are shown at once."""
    exploration = Exploration(catalog=catalog)
    panel = ProductCard(exploration=exploration, product_id="8")
    assert "Quality" not in said(panel)

    exploration.audit = prodex.audit(catalog, "core", progress=False)
    assert "Quality by core" in said(panel)

    exploration.catalog = prodex.flatten([{"id": 8, "namePublicLong": [text("fra-FR", "Orange")]}])
    assert "Orange" in said(panel)


def test_a_product_that_is_not_there_is_told_in_words(catalog: prodex.Catalog) -> None:
    """The error says what to do, and is removed with the next product."""
    panel = ProductCard(catalog, "9")
    assert "There is no product 9 among 2." in said(panel)

    panel.product_id = "8"
    assert "There is no product" not in said(panel)


def test_what_it_is_given_has_to_fit(catalog: prodex.Catalog) -> None:
    """A card refuses nothing at all, two states, and an unknown keyword."""
    with pytest.raises(InputError, match="needs a catalogue"):
        ProductCard()
    with pytest.raises(InputError, match="ive ProductCard either"):
        ProductCard(catalog, exploration=Exploration(catalog=catalog))
    with pytest.raises(TypeError, match="colour"):
        ProductCard(catalog, colour="red")  # type: ignore[call-arg]
    with pytest.raises(TraitError):
        ProductCard(catalog, 7)  # type: ignore[arg-type]


@pytest.mark.slow
def test_pictures_come_when_they_are_asked_for(service: prodex.Client) -> None:
    """A card has no image before the button is clicked, and then one for each picture, from Python."""
    catalog = prodex.load_products(service, prodex.ProductQuery(has_packshot=True), progress=False)
    counts = catalog.products.set_index("product_id")["pictures_count"]
    panel = ProductCard(catalog, counts.idxmax())
    assert (f"Show pictures ({counts.max()})", []) == (button(panel).description, list(images(panel)))

    press(panel)
    end = time.monotonic() + 30
    while not (shown := list(images(panel))):
        assert time.monotonic() < end, panel.message
        time.sleep(0.02)

    assert counts.max() == len(shown)
    assert all(one["src"].startswith("data:image/jpeg;base64,") for one in shown)
    assert shown[0]["alt"].startswith("Picture 1: ")
    assert "none" == button(panel).layout.display


def test_a_picture_that_does_not_come_says_why() -> None:
    """An internal address is never called, and the reason is shown in place of the picture."""
    inside = {"pictures": [{"url": "http://127.0.0.1:9/a.jpg", "productFace": 1}]}
    panel = ProductCard(prodex.flatten([{"id": 7, "assets": inside}]), "7")
    press(panel)

    assert "127.0.0.1" in waited(panel, "not requested")
    assert [] == list(images(panel))


def test_a_product_without_pictures_offers_none(catalog: prodex.Catalog) -> None:
    """A product without pictures has no button for them."""
    assert "none" == button(ProductCard(catalog, "8")).layout.display
    assert "" == button(ProductCard(catalog, "7")).layout.display


@pytest.mark.slow
def test_pictures_of_the_product_before_are_forgotten(service: prodex.Client) -> None:
    """The next product does not get the pictures of the last."""
    catalog = prodex.load_products(service, prodex.ProductQuery(has_packshot=True), progress=False)
    first, second = catalog.products["product_id"][:2]
    panel = ProductCard(catalog, first)
    press(panel)
    panel.product_id = second
    panel._fetch.wait()

    assert [] == list(images(panel))
    assert button(panel).description.startswith("Show pictures (")


@pytest.mark.slow
def test_the_disk_refuses_in_words(
    service: prodex.Client, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error while pictures are loaded is shown, and the button offers another try."""
    catalog = prodex.load_products(service, prodex.ProductQuery(has_packshot=True), progress=False)
    panel = ProductCard(catalog, catalog.products["product_id"][0])
    in_the_way = tmp_path_factory.mktemp("home") / "file"
    in_the_way.write_text("no folder")
    monkeypatch.setenv("PRODEX_HOME", str(in_the_way))
    press(panel)

    assert str(in_the_way) in waited(panel, "Try again")
    assert not is_busy(button(panel))


def test_the_first_card_can_be_prepared(catalog: prodex.Catalog) -> None:
    """What all cards need is read before anybody opens one; nothing is shown, even where the product is not found."""
    panel = ProductCard(catalog)
    panel.prepare("7")
    panel._preparing.wait()
    assert is_prepared(catalog)
    panel.prepare("no such product")
    other = ProductCard(prodex.flatten([{"id": 1}]))
    other.prepare("no such product")
    other._preparing.wait()
    assert [(None, ""), (None, "")] == [(one.card, one.message) for one in (panel, other)]
