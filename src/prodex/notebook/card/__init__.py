"""The card of one product: what a catalogue says of it, read as values and laid out as a part of a page."""

from prodex.notebook.card.contents import Card, card

__all__ = ["Card", "card"]
