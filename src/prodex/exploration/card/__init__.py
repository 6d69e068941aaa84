"""What the card of a product says, section by section, as values."""
