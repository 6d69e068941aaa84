"""A card by itself, as HTML without scripts and without anything to load: how `CardContents` shows itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from prodex.exploration.card.contents import CardContents
from prodex.notebook.assets import card_style
from prodex.notebook.session.actions import Block
from prodex.notebook.static import blocks_html
from prodex.notebook.views.blocks import paragraph, typed_text
from prodex.notebook.views.card_contents import details, part, raw_block, raw_title
from prodex.notebook.views.card_parts import card_parts
from prodex.untrusted_text import words

if TYPE_CHECKING:
    from prodex.pictures import Thumbnail


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
    >>> from prodex.exploration.card.contents import read_card
    >>> "<h4>Texts by language</h4>" in card_html(read_card(prodex.flatten([{"id": 7}]), "7"))
    True
    """
    images = images or {}
    shown: dict[str, Block] = {
        position: {"image": position} if one.bytes else {"problem": _problem(one)}
        for position, one in images.items()
    }
    raw = (
        paragraph("The catalogue does not have the record.", key="none", tone="muted")
        if card.raw.is_missing
        else details(raw_title(card), raw_block(card), key="record")
    )
    blocks = [*card_parts(card, shown), part("Record as received", raw)]
    pictures = {position: ("image/jpeg", one.bytes) for position, one in images.items() if one.bytes}
    return f'<div class="prodex mathjax_ignore"><div class="card">{blocks_html(blocks, pictures)}</div></div>'


def shown_card(card: CardContents) -> str:
    """Return a card with its style sheet, as a notebook shows it by itself."""
    return f"<div><style>{card_style()}</style>{card_html(card)}</div>"


def _problem(one: Thumbnail) -> dict[str, str]:
    return typed_text(words(one.problem or "the picture could not be loaded", 1_000))
