"""The card of one product: what a catalogue says of it, read as values and laid out as a part of a page."""

from prodex.notebook.card.contents import CardContents, card

__all__ = ["CardContents", "card"]
