"""A saved notebook shows its panels: to a colleague, without a kernel, and as a page without a network."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from .hosts import panel_in
from .lab import Lab

if TYPE_CHECKING:
    from nbformat import NotebookNode
    from playwright.sync_api import Browser

_BEGIN = """
    import prodex as px
    from prodex_sandbox.sample import AS_OF, shared_products
    catalog = px.flatten(one.record for one in shared_products(60))
    audit = px.audit(catalog, "online-listing", progress=False, now=AS_OF)
"""
_CELLS = [_BEGIN, "px.explore(catalog, audit=audit)", 'px.explore(catalog, audit=audit, show="quality")']
_GTIN = "08784900123459"
_VIEW = "application/vnd.jupyter.widget-view+json"


@pytest.fixture(scope="module")
def saved(lab: Lab, browser: Browser) -> NotebookNode:
    """Return a notebook as JupyterLab saved it, with its panels live and what was saved of them out of sight."""
    import nbformat  # here and below, since it takes seconds to import

    with lab.opened(browser, _CELLS) as notebook:
        notebook.run(0)
        for cell in (1, 2):
            panel_in(notebook.run(cell))
            assert 0 == notebook.cells.nth(cell).locator(".jp-RenderedHTML table").count()
        notebook.page.keyboard.press("Control+s")
        notebook.page.wait_for_function("() => !jupyterapp.shell.currentWidget.context.model.dirty")
        return nbformat.read(notebook.path, 4)


def panels(notebook: NotebookNode) -> list[Any]:
    return [
        output.data for cell in notebook.cells for output in cell.outputs if _VIEW in output.get("data", {})
    ]


def test_a_colleague_and_a_page_without_kernel_show_the_tables(
    saved: NotebookNode, lab: Lab, browser: Browser, tmp_path: Path
) -> None:
    """Somebody else's notebook is not trusted, and one's own has lost its kernel: both show table and figures."""
    import nbformat

    assert 2 == len(panels(saved))
    foreign = deepcopy(saved)
    for data in panels(foreign):
        data["text/html"] += "<p>of somebody else</p>"
    for name, notebook in (("own", saved), ("foreign", foreign)):
        path = tmp_path / f"{name}.ipynb"
        nbformat.write(notebook, path)
        with lab.opened(browser, path, anew=True) as opened:
            cell = opened.cells.nth(1)
            cell.locator(".jp-RenderedHTML table").get_by_text(_GTIN, exact=True).wait_for()
            assert 1 == cell.get_by_text(_GTIN, exact=True).count()
            assert not cell.get_by_text("Error displaying widget").first.is_visible()
            assert [] == opened.outside


def test_a_panel_that_was_restored_without_its_kernel_makes_room(
    saved: NotebookNode, lab: Lab, browser: Browser, tmp_path: Path
) -> None:
    """JupyterLab can save the state of widgets: the panel is then there, and knows nothing; what was saved is shown."""
    import nbformat

    from prodex.notebook.assets import script, style

    notebook = deepcopy(saved)
    whole = {"version_major": 2, "version_minor": 0, "state": {}}
    for data in panels(notebook):
        whole["state"][data[_VIEW]["model_id"]] = {
            "model_name": "AnyModel",
            "model_module": "anywidget",
            "model_module_version": "~0.11.*",
            "state": {
                "_view_name": "AnyView",
                "_view_module": "anywidget",
                "_view_module_version": "~0.11.*",
                "_model_name": "AnyModel",
                "_model_module": "anywidget",
                "_model_module_version": "~0.11.*",
                "_esm": script(),
                "_css": style(),
                "layout": None,
            },
        }
    notebook.metadata.widgets = {"application/vnd.jupyter.widget-state+json": whole}
    nbformat.write(notebook, tmp_path / "restored.ipynb")
    with lab.opened(browser, tmp_path / "restored.ipynb", anew=True) as opened:
        cell = opened.cells.nth(1)
        cell.locator(".jp-RenderedHTML table").get_by_text(_GTIN, exact=True).wait_for()
        assert 1 == cell.get_by_text(_GTIN, exact=True).count()
        assert ([], []) == (opened.outside, opened.errors)


@pytest.mark.parametrize("has_state", [False, True], ids=["as saved", "with the state of its widgets"])
def test_an_exported_page_shows_them_without_a_network(
    saved: NotebookNode, browser: Browser, tmp_path: Path, *, has_state: bool
) -> None:
    """In both themes, whether the scripts that would draw the widgets come or not, and never twice."""
    from nbconvert import HTMLExporter

    notebook = deepcopy(saved)
    if has_state:
        state = {
            data[_VIEW]["model_id"]: {"model_name": "AnyModel", "state": {}} for data in panels(notebook)
        }
        whole = {"version_major": 2, "version_minor": 0, "state": state}
        notebook.metadata.widgets = {"application/vnd.jupyter.widget-state+json": whole}
    for theme in ("light", "dark"):
        html, _ = HTMLExporter(theme=theme).from_notebook_node(notebook)
        (tmp_path / "page.html").write_text(html, "utf-8")
        context = browser.new_context(offline=True, viewport={"width": 1000, "height": 900})
        try:
            page = context.new_page()
            page.goto((tmp_path / "page.html").as_uri())
            page.get_by_text(_GTIN, exact=True).first.wait_for()
            assert 1 == page.get_by_text(_GTIN, exact=True).count()
            said = page.inner_text("body")
            assert "Mean score" in said
            assert "all blocks" in said
            assert "children=" not in said
            assert "--accent" not in said
        finally:
            context.close()
