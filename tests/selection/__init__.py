"""Which products are meant: one value, wherever it is asked."""
