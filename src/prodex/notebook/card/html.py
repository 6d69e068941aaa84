"""The HTML of a product's card, from a template that escapes everything.

A page with it has no scripts and loads nothing: addresses are text, pictures are descriptions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from prodex.display.html_tables import Html, table, template
from prodex.exploration.card.contents import CardContents
from prodex.exploration.card.record import CardTable
from prodex.notebook.shared.panel import style
from prodex.untrusted_text import Words

if TYPE_CHECKING:
    from prodex.pictures import Thumbnail


class CardParts(NamedTuple):
    """The HTML of a card in pieces, each of which is shown by a widget of its own.

    Only one of them is sent again when images have arrived, and the long texts that somebody has opened in the others
    stay open. The texts are shown by a table in which they can be corrected, and as HTML only on a page without one.
    """

    before: str
    texts: str
    above_pictures: str
    pictures: str
    after: str


def parts(card: CardContents, images: Mapping[str, Thumbnail] | None = None) -> CardParts:
    """Return the HTML of a card.

    Parameters
    ----------
    card
        The contents.
    images
        Thumbnails by the position of their picture, once somebody has asked for them.
    """
    page: Any = template("prodex.notebook", "card", "card.html").make_module({"table_html": _table_html})
    pieces = (
        page.before(card),
        page.texts_by_language(card.texts),
        page.pictures_above(card.pictures),
        page.pictures(card.pictures, images or {}),
        page.after(card),
    )
    return CardParts(*(f'<div class="prodex card mathjax_ignore">{piece}</div>' for piece in pieces))


def shown(card: CardContents) -> str:
    """Return a card with its style sheet, as a notebook shows it by itself."""
    return f"<div><style>{style()}</style>{card.html}</div>"


def _table_html(grid: CardTable, caption: str, cell: Callable[[Words, str], Html]) -> Html:
    """Return a table of a card; `cell` is the macro of the template that shows a value, or a dash for none."""
    headings = [f"{one[0].upper()}{one[1:]}" for one in grid.headings]
    rows = ([cell(value, "–") for value in values] for values in grid.rows)
    return Html(table(caption, headings, rows, numbers=[headings[place] for place in grid.numeric]))
