"""Invented products: who supplies them, what they are called and made of, and the records that show them."""
