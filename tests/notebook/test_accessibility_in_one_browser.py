"""What the checker of accessibility is not asked about looks like something that it is asked about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tests.accessibility import violations

if TYPE_CHECKING:
    from playwright.sync_api import Browser

#: What somebody cannot read or use -> the rule that it breaks.
_BROKEN: Mapping[str, str] = {
    '<span style="color: #ccc">pale letters</span>': "color-contrast",
    '<b style="background: #333">a dark ground</b>': "color-contrast",
    '<div style="opacity: 0.3"><i>faint</i></div>': "color-contrast",
    '<div style="background: black"><i style="color: #333">on the ground around</i></div>': "color-contrast",
    '<button style="color: #bbb">a button</button>': "color-contrast",
    '<p>a <a href="#x" style="color: #111; text-decoration: none">link</a> like its text</p>': "link-in-text-block",
    '<img src="data:,">': "image-alt",
}


def _page(cell: str, outside: str = "") -> str:
    """Return a page with a table of many rows, one of them with this cell."""
    rows = [f"<tr><td>{number}</td><td><i>plain</i></td></tr>" for number in range(40)]
    rows[25] = f"<tr><td>25</td><td>{cell}</td></tr>"
    table = f'<main class="looked"><h1>Rows</h1><table>{"".join(rows)}</table></main>{outside}'
    return f'<!doctype html><html lang="en"><title>Rows</title><body style="background: white">{table}</body></html>'


def test_what_nobody_can_read_is_found_among_many_rows(browser: Browser) -> None:
    """One cell of forty rows is enough; what is elsewhere on the page is not looked at."""
    page = browser.new_page()
    for cell, rule in _BROKEN.items():
        page.set_content(_page(cell))
        assert rule in {name for name, _ in violations(page, ".looked")}, cell
        is_of_colours = rule != "image-alt"
        assert is_of_colours == (rule in {name for name, _ in violations(page, ".looked", "colours")}), cell
        assert is_of_colours != (rule in {name for name, _ in violations(page, ".looked", "all but colours")})
    page.set_content(_page("plain", '<p style="color: #ddd">outside</p>'))
    assert [] == violations(page, ".looked")
    page.close()
