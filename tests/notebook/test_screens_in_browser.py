"""Every section draws itself in both themes, wide and narrow, and is read by everybody."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.accessibility import About

from . import screens
from .lab import SCHEMES
from .one_browser import page_settled, violations

if TYPE_CHECKING:
    from PIL import Image
    from playwright.sync_api import Browser

_PRODUCTS = 200
_TALL = 3000
#: Parts that are wider than their panel, apart from those that are scrolled inside of something.
_CUT = """root => {
    const { right } = root.getBoundingClientRect();
    const isScrolled = (one) => one.closest(".scroll, pre, .switch") !== null;
    return [...root.querySelectorAll("*")]
        .filter((one) => !isScrolled(one) && one.getBoundingClientRect().right > right + 1 && one.checkVisibility())
        .map((one) => one.outerHTML.slice(0, 120));
}"""
#: Width and theme -> what the checker of accessibility is asked about there.
_CHECKED: Mapping[tuple[int, str], About] = {
    (1440, "light"): "all",
    (1440, "dark"): "colours",
    (800, "light"): "all but colours",
}
#: Buttons whose words do not fit into them.
_CUT_BUTTONS = """root => [...root.querySelectorAll("button")]
    .filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1)
    .map((one) => one.outerHTML.slice(0, 160))"""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[screens.Shop]:
    """Serve a shop in which three weeks have passed."""
    with screens.shop_of(tmp_path_factory.mktemp("shop"), _PRODUCTS) as shop:
        yield shop


@pytest.mark.parametrize("screen", screens.SCREENS, ids=lambda screen: screen.name)
def test_a_section_is_seen_and_read_by_everybody(
    screen: screens.Screen, shop: screens.Shop, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Letters and colours on the ground of its theme, nothing cut, and the checker of accessibility has nothing to say.

    These are the pictures that the README shows.
    """
    monkeypatch.setenv("PRODEX_HOME", "data")
    with screens.opened(screen, shop, browser) as page:
        for width in (1440, 800):
            page.set_viewport_size({"width": width, "height": _TALL})
            page_settled(page)
            root = page.locator(".prodex")
            assert [] == root.evaluate(_CUT), width
            assert [] == root.evaluate(_CUT_BUTTONS), width
            for scheme in SCHEMES:
                screens.show_theme(page, scheme)
                is_of_theme(screens.taken(page, screen), scheme)
                # Only colours differ between themes, and they are the same at every width.
                if (of := _CHECKED.get((width, scheme))) is not None:
                    assert [] == violations(page, of), (width, scheme)
            screens.show_theme(page, "light")


def is_of_theme(picture: Image.Image, scheme: str) -> None:
    """Assert that a picture has letters and colours on the ground of a theme."""
    colours = picture.getcolors(picture.width * picture.height) or []
    sums = [sum(colour) for _, colour in colours]  # type: ignore[arg-type]
    assert picture.height > 300
    assert len(colours) > 50
    assert (min(sums) < 200) if scheme == "light" else (max(sums) > 600)
    # Pictures of products are white in every theme: what most of both edges show is the ground.
    edges = [(x, y) for x in (2, picture.width - 3) for y in range(0, picture.height, 4)]
    ground = sum(Counter(map(picture.getpixel, edges)).most_common(1)[0][0])  # type: ignore[arg-type]
    assert (ground > 600) == (scheme == "light")


def test_the_pictures_of_the_documents_are_these() -> None:
    """Each has the name by which it is written, in both themes."""
    images = Path(__file__).parents[2] / "notebooks" / "images"
    for screen in screens.SCREENS:
        for scheme in SCHEMES:
            assert (images / f"{screen.name}-{scheme}.png").exists()
