"""The style of all panels: what they share, then what each adds; colours follow the notebook's theme."""

from __future__ import annotations

from functools import cache
from importlib.resources import files as resources

_FILES = ("common", "audit", "products", "query", "card", "explore")


@cache
def style() -> str:
    """Return the style sheet."""
    folder = resources("prodex.notebook") / "css"
    return "\n".join((folder / f"{name}.css").read_text("utf-8") for name in _FILES)
