"""A panel does the same wherever notebooks run: in Jupyter Notebook, Voila, marimo and VS Code, and anywhere in JupyterLab."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from .hosts import give_size, in_frame, in_marimo, in_voila, panel_in
from .lab import Lab

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Frame, Locator, Page

    from .lab import Notebook

_BEGIN = """
    import prodex as px
    from prodex_sandbox.sample import shared_products
    catalog = px.flatten(one.record for one in shared_products(60))
"""
_LOOK = "looked = px.explore(catalog)\nlooked"
_GONE = "Nothing was done: the kernel was restarted or stopped. Run the cell of this panel again."
_DIE_ONCE = """
    import os, signal
    from pathlib import Path
    if not Path("has-died").exists():
        Path("has-died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
"""
#: What Voila's own page asks for, whatever is in it.
_OF_VOILA = re.compile(r"https://cdn\.jsdelivr\.net/npm/@fortawesome/")
_ROWS = ".page-body tbody tr[aria-selected]"


def use(place: Page | Frame | Locator) -> str:
    """Filter, open a card, and preview a correction of what is left; return the name of the product."""
    panel_in(place)
    place.get_by_role("button", name=re.compile("^Belgium: 9")).first.click()
    place.get_by_text("1 to 9 of 9 products (60 in all)").first.wait_for()
    assert 9 == place.locator(_ROWS).count()
    place.locator(_ROWS).nth(1).click()
    card = place.locator(".pane .card h3").first
    card.wait_for()
    place.get_by_role("button", name="Correct the 9 chosen products").click()
    place.get_by_role("button", name="Replace text", exact=True).click()
    find = place.get_by_label("Find", exact=True)
    # What is typed is taken before what is pressed at once after it.
    find.fill("e")
    place.get_by_label("Replace by", exact=True).fill("#")
    place.get_by_role("checkbox", name="Ignore case").click()
    place.locator(".fold td", has_text="#").first.wait_for()
    place.locator(".prodex[data-under-way='0']").first.wait_for()
    return card.inner_text()


def test_in_jupyter_notebook(lab: Lab, browser: Browser) -> None:
    """What is pressed there is seen in Python, as in JupyterLab."""
    with replace(lab, pages="notebooks").opened(browser, [_BEGIN, _LOOK], anew=True) as notebook:
        assert "notebooks" == notebook.page.locator("body").get_attribute("data-notebook")
        notebook.run(0)
        # It complains of its own settings while it opens, whatever is in the notebook.
        of_its_own = list(notebook.errors)
        out = notebook.run(1)
        use(out)
        assert (9, True) == tuple(notebook.ask("[len(looked.catalog), looked.product_id is not None]"))
        assert ([], of_its_own) == (notebook.outside, notebook.errors)


def test_in_voila(browser: Browser, tmp_path: Path) -> None:
    """Of a notebook only what it shows is there, and the panel is used."""
    with in_voila(browser, tmp_path, [_BEGIN, _LOOK]) as hosted:
        use(hosted.page)
        assert [] == [one for one in hosted.outside if not _OF_VOILA.match(one)]
        assert [] == hosted.errors


@pytest.mark.parametrize("mode", ["run", "edit"])
def test_in_marimo(browser: Browser, tmp_path: Path, mode: Literal["run", "edit"]) -> None:
    """As an app and to be edited; cells that use what is selected run when it changes, and at no other press."""
    cells = [
        f"import marimo as mo\nruns = []\n{_BEGIN.replace('    ', '').strip()}",
        "looked = mo.ui.anywidget(px.explore(catalog))\nlooked",
        "runs.append(1)\nmo.md(f\"ran {len(runs)}: {len(looked.value['selected'])} selected\")",
    ]
    with in_marimo(browser, tmp_path, cells, mode=mode) as hosted:
        page = hosted.page
        page.get_by_text("ran 1: 0 selected").wait_for()
        use(page)
        assert page.get_by_text("ran 1: 0 selected").is_visible()
        page.locator(_ROWS).nth(1).get_by_role("checkbox").click()
        page.get_by_text("ran 2: 1 selected").wait_for()
        # The panel itself was not made again.
        assert page.get_by_text("1 selected", exact=True).is_visible()
        assert 9 == page.locator(_ROWS).count()
        assert ([], []) == (hosted.outside, hosted.errors)


def test_in_a_frame_as_of_vs_code(lab: Lab, browser: Browser) -> None:
    """It is drawn before its frame has a size, asks for nothing but its kernel, and follows the theme around the frame."""
    with lab.opened(browser, [_BEGIN, "looked = px.explore(catalog)"]) as notebook:
        notebook.run(0)
        notebook.run(1)
        frame = in_frame(notebook, "looked")
        panel = frame.locator(".prodex")
        panel.wait_for(state="attached")
        frame.locator(_ROWS).first.wait_for(state="attached")
        give_size(notebook)
        use(frame)
        assert 9 == notebook.ask("len(looked.catalog)")
        assert "is-dark" not in str(panel.get_attribute("class"))
        notebook.page.evaluate("document.body.dataset.vscodeThemeKind = 'vscode-dark'")
        frame.locator(".prodex.is-dark").wait_for()
        notebook.page.evaluate("delete document.body.dataset.vscodeThemeKind")
        frame.locator(".prodex:not(.is-dark)").wait_for()
        notebook.page.evaluate("document.querySelector('iframe[name=\"of-a-widget\"]').remove()")
        assert ([], []) == (notebook.outside, notebook.errors)


def test_in_boxes_and_twice_and_in_a_page_that_is_loaded_again(lab: Lab, browser: Browser) -> None:
    """Inside other widgets, in two outputs at once, and after a reload, all show what the one panel holds."""
    boxed = """
        import ipywidgets
        ipywidgets.VBox([ipywidgets.Label("above"), ipywidgets.HBox([looked])])
    """
    with lab.opened(browser, [_BEGIN, _LOOK, boxed], anew=True) as notebook:
        notebook.run(0)
        out = notebook.run(1)
        use(notebook.run(2))
        _shows_nine(out)
        # The second view of the output, as "Create New View for Cell Output" makes it.
        out.click(button="right", position={"x": 5, "y": 5})
        notebook.page.get_by_role("menuitem", name="Create New View for Cell Output").click()
        _shows_nine(notebook.page.locator(".jp-LinkedOutputView"))
        notebook.page.keyboard.press("Control+s")
        notebook.page.wait_for_function("() => !jupyterapp.shell.currentWidget.context?.model.dirty")
        notebook.page.goto(f"{lab.url}/{lab.pages}/{notebook.path.name}?reset")
        notebook.wait_until_ready()
        again = notebook.output(1)
        _shows_nine(again)
        again.get_by_role("button", name="Clear all", exact=True).click()
        again.get_by_text("of 60 products").first.wait_for()
        assert 60 == notebook.ask("len(looked.catalog)")
        assert ([], []) == (notebook.outside, notebook.errors)


def _shows_nine(place: Locator) -> None:
    panel_in(place)
    place.get_by_text("1 to 9 of 9 products (60 in all)").first.wait_for()
    assert 9 == place.locator(_ROWS).count()


def test_what_is_typed_and_pressed_at_once_is_taken_in_order(lab: Lab, browser: Browser) -> None:
    """JupyterLab sends to one thread of the kernel, and ipykernel redirects: a press never overtakes what was typed."""
    # A thread that has changed the widget last is the one to which its messages are redirected.
    other = """
        from threading import Thread
        thread = Thread(target=lambda: setattr(looked, "product_id", catalog.products.product_id[0]))
        thread.start()
        thread.join()
    """
    with lab.opened(browser, [_BEGIN, _LOOK, other]) as notebook:
        notebook.run(0)
        out = notebook.run(1)
        panel_in(out)
        notebook.run(2)
        out.get_by_role("button", name="Views", exact=True).click()
        name = out.get_by_placeholder("Without pictures")
        for number in range(12):
            name.fill(f"view {number}")
            out.get_by_role("button", name="Save view", exact=True).click()
            # The panel empties the field once the view is saved.
            name.and_(out.locator(":placeholder-shown")).wait_for()
        saved = notebook.ask(
            "[one.name for one in __import__('prodex.exploration.saved_views').exploration.saved_views.saved_views()]"
        )
        assert {f"view {number}" for number in range(12)} <= set(saved)
        assert [] == notebook.errors


def test_a_kernel_that_was_restarted_is_said(lab: Lab, browser: Browser) -> None:
    """At what is pressed, and what was typed stays; a panel that is shown anew is heard by the next kernel."""
    with lab.opened(browser, [_BEGIN, _LOOK], anew=True) as notebook:
        page = notebook.page
        notebook.run(0)
        out = notebook.run(1)
        panel_in(out)
        search = out.get_by_role("textbox", name="Search").first
        page.get_by_role("menuitem", name="Kernel", exact=True).click()
        page.get_by_role("menuitem", name=re.compile("^Restart Kernel…")).click()
        page.get_by_role("button", name="Confirm Kernel Restart").click()
        notebook.wait_for("'looked' not in globals()")
        search.fill("not lost")
        out.locator(_ROWS).nth(2).click()
        out.get_by_role("alert").get_by_text(_GONE, exact=True).wait_for()
        assert "not lost" == search.input_value()
        notebook.run_all()
        _is_heard(notebook)


def test_a_kernel_that_was_killed_is_said(lab: Lab, browser: Browser) -> None:
    """The server starts another one, which knows nothing of the panel."""
    with lab.opened(browser, [_BEGIN, _LOOK, _DIE_ONCE], anew=True) as notebook:
        notebook.run(0)
        out = notebook.run(1)
        panel_in(out)
        notebook.cells.nth(2).locator(".cm-content").click()
        notebook.page.keyboard.press("Control+Enter")
        out.locator(".jupyter-widgets-disconnected, .jp-widgets-disconnected").first.wait_for()
        notebook.page.get_by_role("dialog").get_by_role("button").first.click()
        out.locator(_ROWS).nth(2).click()
        out.get_by_role("alert").get_by_text(_GONE, exact=True).wait_for()
        notebook.run_all()
        _is_heard(notebook)


def _is_heard(notebook: Notebook) -> None:
    out = notebook.output(1)
    panel_in(out)
    out.locator(_ROWS).nth(2).click()
    out.locator(".pane .card h3").first.wait_for()
    assert notebook.ask("looked.product_id is not None")
    assert 0 == out.get_by_text(_GONE).count()
