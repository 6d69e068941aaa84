"""The way in which widgets are tested sees what it is meant to see."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .lab import Lab

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def test_a_click_reaches_python(lab: Lab, browser: Browser) -> None:
    """The effect of a click is seen in the kernel."""
    cell = """
        import ipywidgets as w
        pressed, button = [], w.Button(description="Press")
        button.on_click(lambda _: pressed.append(1))
        button
    """
    with lab.opened(browser, [cell]) as notebook:
        notebook.run().get_by_role("button", name="Press").click()
        assert [1] == notebook.wait_for("pressed")


def test_what_must_not_happen_is_seen(lab: Lab, browser: Browser) -> None:
    """A script that runs, a request to elsewhere and a control without a name are noticed."""
    cell = """
        import ipywidgets as w
        w.HTML(
            "<img src='http://127.0.0.1:9/x.png' onerror='alert(1)'><input>"
            "<p style='color:#888;background:#999'>pale words"
        )
    """
    with lab.opened(browser, [cell]) as notebook:
        notebook.run()
        notebook.page.wait_for_timeout(500)
        assert ["http://127.0.0.1:9/x.png"] == notebook.outside
        assert ["1"] == notebook.errors
        assert {"label", "image-alt", "color-contrast"} <= {name for name, _ in notebook.violations()}


def test_both_themes_are_there(lab: Lab, browser: Browser) -> None:
    """A dark screen gets the dark theme."""
    for scheme, is_light in (("light", "true"), ("dark", "false")):
        with lab.opened(browser, ["1"], scheme=scheme) as notebook:
            notebook.page.wait_for_selector(f"body[data-jp-theme-light='{is_light}']", state="attached")
