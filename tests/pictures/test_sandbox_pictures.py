"""Pictures of a real exchange, there and back: every file as its record says, and every fault survived or told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import prodex
from prodex.pictures import download_pictures
from prodex.pictures.contact_sheet import gallery
from prodex.pictures.thumbnails import thumbnails
from prodex.sandbox import Fault, Sandbox
from prodex_sandbox.sample import shared_products
from tests.cases import own_home

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def exchange() -> Iterator[Sandbox]:
    with Sandbox(products=shared_products(80)) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def loaded(exchange: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> prodex.Catalog:
    """Load it once for all tests, none of which changes what was loaded."""
    key = exchange.credentials[0]
    client = prodex.connect(
        base_url=exchange.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
    )
    with own_home(tmp_path_factory.mktemp("home")):
        return prodex.load_products(client, name="shop")


@pytest.fixture
def shop(exchange: Sandbox, loaded: prodex.Catalog) -> Iterator[prodex.Catalog]:
    """Give what was loaded; whatever was ordered to go wrong is over afterwards."""
    yield loaded
    exchange.clear_faults()


def test_every_picture_passes_its_check(shop: prodex.Catalog, tmp_path: Path) -> None:
    """Renditions pass by checksum, bytes and pixels, also from a snapshot on disk."""
    pictures = download_pictures(prodex.open_snapshot(str(shop.folder)), tmp_path, size=256)

    assert len(shop.pictures) == len(pictures.files) == pictures.good > 50
    assert {"crc32, bytes, pixels"} == set(pictures.files["checked"])
    assert {256} == set(pictures.files["width"])
    assert "already there" == str(download_pictures(shop, tmp_path, size=256).files["state"].unique()[0])


def test_originals_pass_their_check(shop: prodex.Catalog, tmp_path: Path) -> None:
    """Originals pass by checksum and pixels, with several thousand pixels a side."""
    few = shop.where(product_id=list(shop.pictures["product_id"].unique()[:3]))
    pictures = download_pictures(few, tmp_path)

    assert pictures.complete
    assert {"crc32, pixels"} == set(pictures.files["checked"])
    assert pictures.files["width"].min() > 1000


@pytest.mark.parametrize(
    ("fault", "state"),
    [
        (Fault("503", at=1, endpoint="media", retry_after=0), "downloaded"),
        (Fault("429", at=1, times=2, endpoint="media", retry_after=0), "downloaded"),
        (Fault("cut", at=1, endpoint="media"), "downloaded"),
        (Fault("truncated", at=1, endpoint="media"), "downloaded"),
        (Fault("slow", at=1, endpoint="media", seconds=0.5), "downloaded"),
        (Fault("404", at=1, endpoint="media"), "failed"),
        (Fault("redirect", at=1, endpoint="media", to="http://10.0.0.1/x"), "failed"),
        (Fault("redirect", at=1, endpoint="media", to="http://localhost:1/x"), "failed"),
        (Fault("damaged", at=1, endpoint="media"), "broken"),
        (Fault("garbage", at=1, endpoint="media"), "broken"),
    ],
)
def test_what_passes_is_survived_and_the_rest_is_told(
    fault: Fault, state: str, shop: prodex.Catalog, exchange: Sandbox, tmp_path: Path
) -> None:
    """Transient faults are survived, others are reported, and the next call completes the download."""
    few = shop.where(product_id=list(shop.pictures["product_id"].unique()[:4]))
    exchange.order(fault)
    pictures = download_pictures(few, tmp_path, size=256, workers=1)

    assert exchange.faults_hit
    assert state == pictures.files["state"][0]
    assert {"downloaded"} == set(pictures.files["state"][1:])
    assert download_pictures(few, tmp_path, size=256).complete


def test_a_page_of_the_gallery_shows_the_products(shop: prodex.Catalog, home: Path) -> None:
    """A page is small enough for a notebook, and quick the second time."""
    sheet = gallery(shop, packshots_only=False)
    pictured = sheet.files["position"].notna()

    assert list(pictured) == list(sheet.files["shown"])
    assert pictured.sum() > 10
    assert len(sheet._repr_html_().encode()) <= 300_000
    assert {path.stat().st_size < 10_000 for path in (home / "thumbnails").rglob("*.jpg")} == {True}


def test_a_sandbox_that_has_ended_is_said(tmp_path: Path) -> None:
    """A sandbox that has ended is reported picture by picture, without a long wait."""
    with Sandbox(products=shared_products(40)) as sandbox:
        key = sandbox.credentials[0]
        client = prodex.connect(
            base_url=sandbox.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
        )
        shop = prodex.load_products(client, name="gone")
    made = thumbnails(shop, list(shop.pictures["product_id"].unique()[:2]), 64)

    assert {None} == {one.bytes for one in made}
    assert all("no connection to 127.0.0.1" in str(one.problem) for one in made)
