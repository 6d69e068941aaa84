"""A card by itself, as HTML without scripts and without anything to load: how `CardContents` shows itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from prodex.notebook.assets import card_style
from prodex.notebook.static import blocks_html
from prodex.notebook.views.card_blocks import details
from prodex.notebook.views.card_contents import CardContents, shown_picture
from prodex.notebook.views.card_parts import card_parts
from prodex.notebook.views.card_sections import raw_block, raw_part
from prodex.notebook.views.gallery_pictures import jpegs

if TYPE_CHECKING:
    from prodex.pictures.thumbnails import Thumbnail


def card_html(card: CardContents, images: Mapping[str, Thumbnail] | None = None) -> str:
    """Return a card as HTML, without its style sheet.

    Parameters
    ----------
    card
        The contents.
    images
        Thumbnails by the position of their picture.

    Examples
    --------
    >>> import prodex
    >>> from prodex.notebook.views.card_contents import read_card
    >>> "<h4>Texts by language</h4>" in card_html(read_card(prodex.flatten([{"id": 7}]), "7"))
    True
    """
    images = images or {}
    named = {position: shown_picture(one) for position, one in images.items()}
    raw = raw_part(card.raw, lambda title: details(title, raw_block(card.raw), key="record"))
    blocks = [*card_parts(card, named), raw]
    pictures = {name: (kind, content) for name, kind, content in jpegs(one.bytes for one in images.values())}
    return f'<div class="prodex mathjax_ignore"><div class="card">{blocks_html(blocks, pictures)}</div></div>'


def shown_card(card: CardContents) -> str:
    """Return a card with its style sheet, as a notebook shows it by itself."""
    return f"<div><style>{card_style()}</style>{card_html(card)}</div>"
