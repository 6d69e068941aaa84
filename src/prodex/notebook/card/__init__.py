"""The card of a product as a panel."""
