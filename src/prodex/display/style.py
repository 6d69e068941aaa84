"""The colours that mean the same wherever prodex shows something, and the style sheets made of them.

A report, a panel and a chart show the same audit: a score has one shade and a severity one colour in all of them. They
are declared here, and the style sheets of pages and panels only use them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files as resources

#: On a light page. Every colour of letters has a contrast of 4.5 to 1 or more (WCAG 2.2, 1.4.3) with its ground.
LIGHT: Mapping[str, str] = {
    "accent": "#0b5cad",
    "good": "#1a6b36",
    "bad": "#a63c06",
    "warn": "#fff6dd",
    "warn-ink": "#6b4a00",
    "blocker": "#9c1c1c",
    "error": "#a63c06",
    "warning": "#6b4a00",
    "info": "#3b5b7a",
    # From no failure to many: the steps of `charts.SCORES`.
    "h0": "#ffffff",
    "h1": "#fff5eb",
    "h2": "#fee6ce",
    "h3": "#fdd0a2",
    "h4": "#fdae6b",
    "h5": "#f58a3c",
    "h6": "#b53d02",
    "h7": "#7f2704",
    "ink-pale": "#1a2029",
    "ink-dark": "#ffffff",
}
#: On a dark page, where the scale runs from the ground of the page to a light orange.
DARK: Mapping[str, str] = {
    "accent": "#79b8ff",
    "good": "#6fce8f",
    "bad": "#ff9d66",
    "warn": "#33290f",
    "warn-ink": "#ffdf9a",
    "blocker": "#ff9a9a",
    "error": "#ffae80",
    "warning": "#f2cf7a",
    "info": "#9cc4ec",
    "h0": "#161b22",
    "h1": "#26221f",
    "h2": "#38291d",
    "h3": "#4e321b",
    "h4": "#6b3f16",
    "h5": "#8d4e0f",
    "h6": "#e08a3c",
    "h7": "#ffc48a",
    "ink-pale": "#e6eaf0",
    "ink-dark": "#1a1005",
}

#: The shades of a heat map, from the one of no failure.
SHADES = tuple(colour for name, colour in LIGHT.items() if name[0] == "h" and name[1:].isdecimal())


def custom_properties(selector: str, colours: Mapping[str, str]) -> str:
    """Return a rule that declares colours for what a selector matches, as `var(--good)` and so on.

    >>> custom_properties(":root", {"good": "#1a6b36"})
    ':root { --good: #1a6b36; }'
    """
    return f"{selector} {{ {' '.join(f'--{name}: {colour};' for name, colour in colours.items())} }}"


@cache
def stylesheet(*names: str) -> str:
    """Return style sheets of `display/css`, one after the other.

    Every output of a notebook carries its style sheet, so comments and indents are left out.
    """
    folder = resources("prodex.display") / "css"
    sheets = "\n".join((folder / f"{name}.css").read_text("utf-8") for name in names)
    return re.sub(r"/\*.*?\*/\s*|^\s+", "", sheets, flags=re.DOTALL | re.MULTILINE)
