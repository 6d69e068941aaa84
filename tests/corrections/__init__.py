"""Corrections of many products, recipes, taking back, and who changed what."""
