"""The script and the style sheet of a panel: each component is a file, and a widget has one of both."""

from __future__ import annotations

from functools import cache
from importlib.resources import files as resources

from prodex.colour_scale import DARK, LIGHT, custom_properties, shade_rules, stylesheet

#: Components in the order in which they are joined; what all use is first.
_SCRIPTS = (
    "dom",
    "words",
    "panel",
    "typing",
    "blocks",
    "form",
    "answer_files",
    "load",
    "filters",
    "product_table",
    "product_gallery",
    "cells_view",
    "trend_view",
    "card",
)
_STYLES = (
    "base",
    "blocks",
    "form",
    "sending",
    "sections",
    "load",
    "filters",
    "product_table",
    "product_gallery",
    "cells_view",
    "snapshots",
    "product_card",
    "quality",
)
#: Those of a file for colleagues, which is read and not edited: in the place of a kernel it has a script.
_SCRIPTS_OF_A_FILE = (
    *("dom", "words", "panel", "typing", "blocks", "form", "filters", "product_table", "card"),
    *("file", "file_filter", "file_products", "file_changes"),
)
_STYLES_OF_A_FILE = (
    *(
        "base",
        "blocks",
        "form",
        "sections",
        "filters",
        "product_table",
        "snapshots",
        "product_card",
        "quality",
    ),
    "file",
)
#: Those that a card by itself needs.
_OF_A_CARD = ("base", "blocks", "product_card")
#: What stands around a panel on a dark page: in JupyterLab, in marimo and elsewhere, in VS Code. Out of the shadow of
#: marimo nothing of it can be seen, so the script marks the panel as well.
_DARK = (
    '[data-jp-theme-light="false"]',
    ".dark",
    '[data-theme="dark"]',
    "body.vscode-dark",
    "body.vscode-high-contrast",
)


@cache
def script() -> str:
    """Return the script of a panel: an ES module that draws it."""
    return "\n".join([*_read("js", _SCRIPTS, ".js"), "export default panel;\n"])


@cache
def style() -> str:
    """Return the style sheet of a panel; its colours follow the theme of the notebook."""
    return _style_of(_STYLES)


@cache
def file_script() -> str:
    """Return the script of a file for colleagues, which has nothing around it."""
    joined = "\n".join(_read("js", _SCRIPTS_OF_A_FILE, ".js"))
    return f'"use strict";\n(() => {{\n{joined}\nopenFile();\n}})();\n'


@cache
def file_style() -> str:
    """Return the style sheet of a file for colleagues."""
    return _style_of(_STYLES_OF_A_FILE)


@cache
def card_style() -> str:
    """Return the style sheet of a card that stands by itself, as in a report."""
    return _style_of(_OF_A_CARD)


def _style_of(names: tuple[str, ...]) -> str:
    # The colours that panels share with reports and charts are defined first.
    dark = f":is({', '.join(_DARK)}) .prodex, .prodex.is-dark"
    shades = shade_rules(".prodex .shaded")
    colours = [
        custom_properties(".prodex", LIGHT),
        custom_properties(dark, DARK),
        stylesheet("audit"),
        shades,
    ]
    return "\n".join([*colours, *_read("css", names, ".css")])


def _read(folder: str, names: tuple[str, ...], ending: str) -> list[str]:
    place = resources("prodex.notebook") / folder
    return [(place / f"{name}{ending}").read_text("utf-8") for name in names]
