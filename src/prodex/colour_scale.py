"""The colours that mean the same wherever prodex shows something, and the style sheets made of them.

A report, a panel, a chart and a worklist show the same audit: a score or a share has one shade and a severity one
colour in all of them. They are declared here, and what draws only uses them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files as resources
from typing import NamedTuple


class Shade(NamedTuple):
    """A shade of the scale of scores and shares.

    Attributes
    ----------
    least
        The lowest score that has it.
    light, dark
        The ground on a light and on a dark page.
    ink
        The colour of letters on it, by its name in `LIGHT` and `DARK`.
    """

    least: float
    light: str
    dark: str
    ink: str


#: From no failure to many. Most scores are near the top, and so are the steps. On a dark page the scale runs from the
#: ground of the page to a light orange, so that a lower score is stronger on both.
SCALE = (
    Shade(1.00, "#ffffff", "#161b22", "ink-pale"),
    Shade(0.99, "#fff5eb", "#26221f", "ink-pale"),
    Shade(0.97, "#fee6ce", "#38291d", "ink-pale"),
    Shade(0.95, "#fdd0a2", "#4e321b", "ink-pale"),
    Shade(0.90, "#fdae6b", "#6b3f16", "ink-pale"),
    Shade(0.80, "#f58a3c", "#8d4e0f", "ink-pale"),
    Shade(0.60, "#b53d02", "#e08a3c", "ink-dark"),
    Shade(0.00, "#7f2704", "#ffc48a", "ink-dark"),
)

#: The scores at which the shade changes, from the lowest.
SCORES = tuple(one.least for one in SCALE[-2::-1])

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
    **{f"h{place}": one.light for place, one in enumerate(SCALE)},
    "ink-pale": "#1a2029",
    "ink-dark": "#ffffff",
}
#: On a dark page.
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
    **{f"h{place}": one.dark for place, one in enumerate(SCALE)},
    "ink-pale": "#e6eaf0",
    "ink-dark": "#1a1005",
}
#: The grounds of cells of workbooks, pale enough for black letters: each is the colour of its severity.
SEVERITY_GROUNDS: Mapping[str, str] = {
    "blocker": "#F8D7DA",
    "error": "#FCE5CD",
    "warning": "#FFF8DC",
    "info": "#E7F1FA",
}


def shade(score: float) -> int:
    """Return the place in `SCALE` of a score or a share: 0 if nothing is missing.

    >>> shade(1.0), shade(0.999), shade(0.5)
    (0, 1, 7)
    """
    return next((place for place, one in enumerate(SCALE) if score >= one.least), len(SCALE) - 1)


def shade_rules(elements: str) -> str:
    """Return the rules of style sheets for elements with the class of a shade: "h0", "h1" and so on.

    >>> shade_rules("td").splitlines()[0]
    'td.h0 { background: var(--h0); color: var(--ink-pale); }'
    """
    return "\n".join(
        f"{elements}.h{place} {{ background: var(--h{place}); color: var(--{one.ink}); }}"
        for place, one in enumerate(SCALE)
    )


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
