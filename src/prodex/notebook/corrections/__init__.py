"""Corrections that were typed on product cards: collected, kept on disk, previewed, sent and proved."""
