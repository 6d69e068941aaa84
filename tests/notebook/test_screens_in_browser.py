"""Every panel draws itself, in light and in dark, and says of nothing that it did not work."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from . import screens
from .lab import Lab

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_PRODUCTS = 200


def test_every_panel_is_a_picture(lab: Lab, browser: Browser) -> None:
    """Each has letters and colours on the ground of its theme; these are the pictures that the README shows."""
    taken = dict(screens.take(lab, browser, _PRODUCTS))
    assert [f"{one.name}-{scheme}" for scheme in screens.SCHEMES for one in screens.SCREENS] == list(taken)
    for name, picture in taken.items():
        assert picture.height > 300, name
        assert len(picture.getcolors(picture.width * picture.height) or []) > 50, name
        sums = [sum(colour) for _, colour in picture.getcolors(picture.width * picture.height) or []]
        # While JupyterLab changes its theme, everything is paler.
        assert (min(sums) < 200) if name.endswith("light") else (max(sums) > 600), name
        # Pictures of products are white in every theme: what most of both edges show is the ground.
        edges = [(x, y) for x in (2, picture.width - 3) for y in range(0, picture.height, 4)]
        ground = sum(Counter(map(picture.getpixel, edges)).most_common(1)[0][0])  # type: ignore[arg-type]
        assert (ground > 600) == name.endswith("light"), name
