"""Every panel draws itself, in light and in dark, and says of nothing that it did not work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import screens
from .lab import Lab

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_PRODUCTS = 200


def test_every_panel_is_a_picture(lab: Lab, browser: Browser) -> None:
    """Each has letters and colours on the ground of its theme; these are the pictures that the README shows."""
    taken = dict(screens.take(lab, browser, _PRODUCTS))
    assert [f"{one.name}-{scheme}" for one in screens.SCREENS for scheme in screens.SCHEMES] == list(taken)
    for name, picture in taken.items():
        assert picture.height > 300, name
        assert len(picture.getcolors(picture.width * picture.height) or []) > 50, name
        sums = [sum(colour) for _, colour in picture.getcolors(picture.width * picture.height) or []]
        # While JupyterLab changes its theme, everything is paler.
        assert (min(sums) < 200) if name.endswith("light") else (max(sums) > 600), name
        ground = sum(picture.getpixel((2, picture.height // 2)))  # type: ignore[arg-type]
        assert (ground > 600) == name.endswith("light"), name
