"""Who works with the keyboard never loses the place: whatever is pressed, something stays in focus to go on from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .lab import Lab

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator

_BEGIN = """
    import prodex as px
    from prodex_sandbox.sample import AS_OF, shared_products
    catalog = px.flatten(one.record for one in shared_products(120)).save("keyed")
    audit = px.audit(catalog, "online-listing", progress=False, now=AS_OF)
"""
_LOOK = "looked = px.explore(catalog, audit=audit)\nlooked"
_FOCUS = """() => {
    const one = document.activeElement;
    return one.closest('.prodex') ? one.innerText || one.tagName : 'lost';
}"""


def test_a_press_leaves_a_place_to_go_on_from(lab: Lab, browser: Browser) -> None:
    """After every press of Return something useful has the focus."""
    with lab.opened(browser, [_BEGIN, _LOOK]) as notebook:
        notebook.run(0)
        out = notebook.run(1)
        out.locator(".product-grid tbody tr").first.wait_for()

        def press(button: Locator, expected: str = "[^]*") -> None:
            # What the page is still drawing anew would lose the focus before the press.
            for _ in range(20):
                button.focus()
                notebook.page.wait_for_timeout(50)
                if button.evaluate("one => one.matches(':focus')"):
                    break
            notebook.page.keyboard.press("Enter")
            notebook.wait_until_idle()
            # The focus moves when the browser has drawn what the kernel sent.
            is_there = (
                f"expected => {{ const text = ({_FOCUS})(); "
                "return text !== 'lost' && RegExp(expected).test(text) }"
            )
            notebook.page.wait_for_function(is_there, arg=f"^{expected}$")

        def named(name: str) -> Locator:
            return out.get_by_role("button", name=name, exact=True).locator("visible=true").first

        press(named("Next"), "Next")
        press(named("Next"), "Previous")
        press(named("Previous"), "Previous")
        press(named("Previous"), "Next")
        press(out.locator("button.facet-more").first)
        press(out.locator(".facet-row .value").nth(2), "[^]*☑[^]*")
        # A chip that the page is still to draw anew would lose the focus together with the press.
        chip = out.locator(".chips button.chip")
        press(named("← Back"), "Forward →")
        chip.wait_for(state="hidden")
        press(named("Forward →"), "← Back")
        chip.wait_for()
        press(chip, "INPUT")
        press(out.locator(".product-grid button.sort").first, "GTIN[^]*")
        press(out.locator(".product-grid tbody tr").first)
        press(named("✕ Close"))
        press(named("Select this page"))
        press(named("Clear selection"), "Select this page")
        press(named("▸ Export"), "▾ Export")
        press(out.locator("button.primary").locator("visible=true").first)

        press(named("Quality"))
        press(named("Grade A"), "INPUT")
        assert "Products" == notebook.ask("looked.section")
        press(named("Quality"))
        press(named("Show all products"), "Show all products")
        press(named("Audit"), "Audit")
        notebook.wait_for("looked.audit is not audit")
        assert "Audit" == notebook.page.evaluate(_FOCUS)

        press(named("Snapshots"))
        press(named("Verify"), "Verify")
        out.get_by_text("are intact").wait_for()
        assert "Verify" == notebook.page.evaluate(_FOCUS)
        assert ([], []) == (notebook.outside, notebook.errors)
