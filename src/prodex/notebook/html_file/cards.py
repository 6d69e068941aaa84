"""The cards of a file: some at a time, packed together, so that one that is opened is read with few others."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from prodex.catalog import Catalog
from prodex.notebook.card_html import card_parts
from prodex.notebook.html_file.packing import Packer, packed_together
from prodex.notebook.html_file.page import file_part
from prodex.notebook.views.card_contents import read_cards
from prodex.quality import Audit

#: Cards that are packed together, and those by which is found what most cards have in common.
EACH, _SAMPLE = 50, 100


class CardParts:
    """Packs the cards of some products into parts of a page.

    Parameters
    ----------
    catalog, audit
        Whose cards.
    """

    def __init__(self, catalog: Catalog, audit: Audit | None) -> None:
        cards = (card_parts(one) for one in read_cards(catalog, audit))
        first = [*islice(cards, _SAMPLE)]
        self._common = packed_together(first)
        self._cards = chain(first, cards)

    def __iter__(self) -> Iterator[tuple[int, str]]:
        """Yield the parts, each with the number of its cards."""
        number = 0
        while cards := [*islice(self._cards, EACH)]:
            packer = Packer(self._common)
            roots = [packer.pack(one) for one in cards]
            yield len(cards), file_part(f"cards-{number}", {"roots": roots, "nodes": packer.nodes})
            number += 1

    def common(self) -> str:
        """Return the part that all others need, once these are made: it has the shapes of all of them."""
        shapes: dict[str, Any] = {"shapes": [*self._common.shapes], "nodes": self._common.nodes}
        return file_part("cards", shapes)
