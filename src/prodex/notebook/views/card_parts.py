"""A card that nobody corrects: the parts of it that reports, notebooks and files for colleagues show alike."""

from __future__ import annotations

from collections.abc import Mapping

from prodex.exploration.card.contents import CardContents
from prodex.notebook.session.actions import Block
from prodex.notebook.views.card_contents import (
    after_pictures,
    before_texts,
    part,
    pictures_above,
    pictures_block,
)
from prodex.notebook.views.card_texts import texts_part


def card_parts(card: CardContents, images: Mapping[str, Block] | None = None) -> list[Block]:
    """Return the parts of a card, without the record as received.

    Parameters
    ----------
    card
        The contents.
    images
        As for `pictures_block`.
    """
    return [
        *before_texts(card),
        texts_part(card),
        part("Pictures", pictures_above(card.pictures), *pictures_block(card.pictures, images or {})),
        *after_pictures(card),
    ]
