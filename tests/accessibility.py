"""The usual checker of accessibility, which is asked about colours only where something looks otherwise than before.

To measure the contrast of every text takes three quarters of its time, and on a page with a table nearly all texts look
like others: letters of one colour, size and weight, in elements of one kind, on the same grounds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from playwright.sync_api import Page

#: What the checker is asked about: colours depend on the theme, and nothing else does.
About = Literal["all", "colours", "all but colours"]
#: Rules that are broken, each with the beginnings of some elements that break it.
Violations = list[tuple[str, list[str]]]

_OF_COLOURS = ("color-contrast", "link-in-text-block")
#: Of elements that look alike so many are looked at: something may lie above the first one.
_OF_EACH_LOOK = 2

#: Marks elements with a text of their own, a few of each look, and returns how many it has marked.
_MARK = """([root, most]) => {
    if (!document.querySelector(root)) throw new Error(`there is no ${root} on this page`);
    const looks = new Map(), grounds = new Map();
    const groundsOf = (one) => {
        if (!one) return "";
        if (!grounds.has(one)) {
            const { backgroundColor, backgroundImage, opacity, filter } = getComputedStyle(one);
            const own = [backgroundColor, backgroundImage, opacity, filter].join();
            const around = groundsOf(one.parentElement);
            // What shows all that is below it changes nothing.
            grounds.set(one, own === "rgba(0, 0, 0, 0),none,1,none" ? around : `${own}|${around}`);
        }
        return grounds.get(one);
    };
    const hasText = (one) => /^(INPUT|TEXTAREA|SELECT|BUTTON)$/.test(one.tagName)
        || [...one.childNodes].some((part) => part.nodeType === Node.TEXT_NODE && part.data.trim());
    document.querySelectorAll("[data-looked-at]").forEach((one) => one.removeAttribute("data-looked-at"));
    let marked = 0;
    for (const one of document.querySelectorAll(`${root}, ${root} *`)) {
        if (!hasText(one) || !one.checkVisibility()) continue;
        const { color, fontSize, fontWeight, textDecorationLine, textShadow } = getComputedStyle(one);
        const letters = [color, fontSize, fontWeight, textDecorationLine, textShadow];
        // A link is compared with the text in which it stands.
        const around = one.parentElement ? getComputedStyle(one.parentElement).color : "";
        const look = [one.tagName, one.className, one.disabled, ...letters, around, groundsOf(one)].join(";");
        const before = looks.get(look) ?? 0;
        if (before >= most) continue;
        looks.set(look, before + 1);
        one.setAttribute("data-looked-at", "");
        marked += 1;
    }
    return marked;
}"""

#: Asks the checker, which is told that our pages have no frames and no style sheets of others.
_VIOLATIONS = """async ([where, chosen]) => {
    const options = { resultTypes: ["violations"], iframes: false, preload: false, ...chosen };
    const found = await axe.run(where, options);
    return found.violations.map(one => [one.id, one.nodes.slice(0, 3).map(node => node.html.slice(0, 200))]);
}"""


def violations(page: Page, root: str, about: About = "all", rules: list[str] | None = None) -> Violations:
    """Return what the checker complains of.

    Parameters
    ----------
    page
        What is looked at.
    root
        The selector of the part that is looked at.
    about
        Which rules.
    rules
        In place of all that are not about colours, only these.
    """
    from axe_playwright_python.sync_playwright import Axe

    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(Axe().axe_script)
    found = []
    if about != "colours":
        others: dict[str, Any] = {"rules": {name: {"enabled": False} for name in _OF_COLOURS}}
        found += page.evaluate(_VIOLATIONS, [root, others if rules is None else {"runOnly": rules}])
    if about != "all but colours" and page.evaluate(_MARK, [root, _OF_EACH_LOOK]):
        found += page.evaluate(_VIOLATIONS, ["[data-looked-at]", {"runOnly": list(_OF_COLOURS)}])
    return [(name, nodes) for name, nodes in found]
