"""Corrections of many products: named operations, recipes of them, taking back what was sent, and who changed what."""
