"""How Sphinx builds these pages: `make docs`. Nothing is fetched while it runs."""

from __future__ import annotations

import gc
import re
import sys
from functools import cache
from importlib.metadata import version as version_of
from pathlib import Path

from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent))
from generate import write_examples, write_reference, write_tutorials

# Pages are trees of millions of nodes that all stay: to look for garbage among them took an eighth of the time.
gc.set_threshold(100_000, 50, 50)

project = "prodex"
author = "the prodex contributors"
copyright = "the prodex contributors, Apache-2.0"  # noqa: A001 - Sphinx gives it this name
release = version = version_of("prodex")

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
exclude_patterns = ["_build"]
# A docstring may name a method without its class, where several classes have one of that name: shown as code.
suppress_warnings = ["ref.python"]
html_theme = "pydata_sphinx_theme"
html_title = f"prodex {version}"
# Methods are in the contents of their page, without the name of their class before each.
toc_object_entries_show_parents = "hide"
html_static_path = ["_static"]
html_css_files = ["prodex.css"]
# These pages have none below them, so that the list on the left would be empty.
html_sidebars: dict[str, list[str]] = {
    page: []
    for page in (
        "install",
        "guarantees",
        "performance",
        "conformance",
        "architecture",
        "contributing",
        "security",
        "changelog",
    )
}
html_show_sourcelink = False
# Search works from a folder of files, but there a page cannot read the others to quote them.
html_show_search_summary = False
html_context = {"default_mode": "auto"}  # light or dark, as the reader's system is
html_copy_source = False
html_theme_options = {
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 3,
    "show_prev_next": True,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

# Notebooks are shown with the outputs that they keep; tests run them (tests/test_notebooks.py).
nb_execution_mode = "off"
nb_merge_streams = True

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3

# Docstrings name objects in single backquotes: linked where there is such an object, code everywhere else.
default_role = "py:obj"
# Quotation marks of examples are typed again by readers, so they stay what they are.
smartquotes = False
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
# A default such as `object()` would show where it lies in memory, which differs from build to build.
autodoc_preserve_defaults = True

# Reference pages are made from the package itself, so that a new column or rule is one entry in one file.
write_reference(Path(__file__).parent / "reference" / "generated")
write_examples(Path(__file__).parent / "extending" / "generated")
write_tutorials(Path(__file__).parent / "tutorials" / "generated")


def setup(app: Sphinx) -> None:
    """Have the source of what is public link back to where it is described."""
    app.connect("build-finished", _with_links_back)


def _with_links_back(app: Sphinx, error: Exception | None) -> None:
    # Of a module from which one thing is public at the top and another in a module of its own, viewcode takes the first
    # place for both: `prodex.watch`, and then `prodex.Watch` for `prodex.quality.Watch`.
    if error is not None:
        return
    for page in sorted((Path(app.outdir) / "_modules").rglob("*.html")):
        text = page.read_text("utf-8")
        page.write_text(_BACK.sub(lambda found, page=page: _as_described(found, page), text), "utf-8")


_BACK = re.compile(r'(?<=class="viewcode-back" href=")([^"#]+)#prodex\.([\w.]+)')


def _as_described(found: re.Match[str], page: Path) -> str:
    """Return a link to the place that the other page has."""
    file, name = found.groups()
    places = _places((page.parent / file).resolve())
    ends = [one for one in places if one.endswith(f".{name}")]
    return f"{file}#{ends[0]}" if f"prodex.{name}" not in places and len(ends) == 1 else found[0]


@cache
def _places(page: Path) -> frozenset[str]:
    return frozenset(re.findall(r'id="(prodex\.[\w.]+)"', page.read_text("utf-8")))
