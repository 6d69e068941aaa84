"""A card that nobody corrects: the parts of it that reports, notebooks and files for colleagues show alike."""

from __future__ import annotations

from collections.abc import Mapping

from prodex.notebook.session.actions import Block
from prodex.notebook.views.card_blocks import part
from prodex.notebook.views.card_contents import CardContents
from prodex.notebook.views.card_texts import texts_part


def card_parts(card: CardContents, images: Mapping[str, Block] | None = None) -> list[Block]:
    """Return the parts of a card that nobody corrects, without the record as received; `images` as for its pictures."""
    pictures = card.pictures
    return [
        *card.above,
        texts_part(card),
        part("Pictures", pictures.above, *pictures.blocks(images or {})),
        *card.below,
    ]
