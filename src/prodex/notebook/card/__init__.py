"""The card of a product: everything that a catalogue knows about it, as values and as HTML."""

from prodex.notebook.card.contents import CardContents, read_card

__all__ = ["CardContents", "read_card"]
