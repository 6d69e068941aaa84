"""Tests of the engine below the panels: none needs a widget."""
