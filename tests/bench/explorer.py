"""How quick a panel is with many products, in a real JupyterLab and a real browser: figures as JSON.

`python -m tests.bench.explorer COUNT` keeps COUNT products of the sample as a snapshot and opens it in a
panel; with the name of a snapshot in PRODEX_HOME instead of a number it opens that one.

Every time is measured by the browser, from the key or the click to the picture after what was asked for is in the page:
it holds the work of the kernel, the way to the browser and back, and that of the browser. On a busy machine it is long
for both; what the kernel and the script of the page worked for it is the time of a processor, which nobody else uses.
"""

# ruff: noqa: T201 - it prints figures

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from tests.notebook.lab import Notebook, chromium, serving

if TYPE_CHECKING:
    from playwright.sync_api import CDPSession

_CELLS = (
    "import prodex as px\ncatalog = px.open_snapshot({name!r})\npx.explore, len(catalog)",
    "explorer = px.explore(catalog)\nexplorer",
)
#: Facets are clicked so often, each time another value; as many cards are opened.
_CLICKS = 6

#: Says when something is painted: after the next picture but one, when what changed has been drawn.
_PAINTED = """() => {
  window.panel = () => document.querySelector(".jp-Notebook .prodex");
  window.isAnswered = () => panel().dataset.underWay === "0";
  window.painted = (isThere) => new Promise((resolve, reject) => {
    const look = () => isThere() && (observer.disconnect(),
      requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now()))));
    const observer = new MutationObserver(look);
    observer.observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
    setTimeout(() => reject(new Error(`not there: ${isThere}`)), 100_000);
    look();
  });
}"""
_UP = """() => {
  window.up = new Promise((resolve) => addEventListener("keydown", async (event) => {
    if (event.key !== "Enter" || !event.ctrlKey) return;
    const started = performance.now();
    resolve(await painted(() => panel()?.querySelector("tr[aria-selected]")) - started);
  }, { capture: true }));
}"""
#: Answered when the panel has drawn what the kernel has made of it.
_CLICK = """async (value) => {
  const started = performance.now();
  value.click();
  return await painted(isAnswered) - started;
}"""
_CARD = """async (row) => {
  const name = () => document.querySelector(".pane .card h3")?.innerText ?? "";
  const before = name(), started = performance.now();
  row.click();
  const isMarked = () => panel().querySelector("tr.is-open")?.dataset.key === row.dataset.key;
  const isRead = () => name() && name() !== before && document.querySelector(".pane table.texts");
  return await painted(() => isRead() && isMarked()) - started;
}"""
#: From the last letter; the page waits a moment for another one.
_WORDS = """async ([field, words]) => {
  const started = performance.now();
  const chips = () => panel().querySelector(".chips")?.innerText ?? "";
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(field, words);
  field.dispatchEvent(new Event("input", { bubbles: true }));
  const isSearching = () => panel().querySelector(".row.search").innerText.includes("Searching");
  return await painted(() => chips().includes(words) && isAnswered() && !isSearching()) - started;
}"""


def measured(what: str) -> dict[str, Any]:
    """Return the figures of looking at a snapshot: one of so many products, or one that is there."""
    with (
        tempfile.TemporaryDirectory(prefix="prodex-bench-") as folder,
        chromium() as browser,
    ):
        home = Path(folder) / "home"
        if what.isdecimal():
            keep = [sys.executable, "-m", "tests.bench.audits", "keep", what]
            subprocess.run(keep, env={**os.environ, "PRODEX_HOME": str(home)}, check=True)
        else:
            home.mkdir()
            (home / "snapshots").symlink_to(Path(os.environ["PRODEX_HOME"]).resolve() / "snapshots")
        cells = [one.format(name="bench" if what.isdecimal() else what) for one in _CELLS]
        with serving(Path(folder)) as lab, lab.opened(browser, cells, anew=True) as notebook:
            return figures(notebook)


def _bytes_of(frame: dict[str, Any]) -> int:
    """Return how many bytes came in a frame of a socket; what is no text is told as base64."""
    return len(frame["payloadData"]) * 3 // 4 if frame["opcode"] == 2 else len(frame["payloadData"])


def figures(notebook: Notebook) -> dict[str, Any]:
    """Return the figures of a notebook whose first cell makes a catalogue, and whose second one explores it."""
    page = notebook.page
    page.evaluate(_PAINTED)
    notebook.run(0)
    session = page.context.new_cdp_session(page)
    frames: list[int] = []
    session.on("Network.webSocketFrameReceived", lambda event: frames.append(_bytes_of(event["response"])))
    session.send("Network.enable")
    page.evaluate(_UP)
    notebook.run(1)
    up = page.evaluate("() => window.up")
    notebook.wait_until_idle()
    # What is read after the table is shown is sent as well.
    notebook.ask("explorer.wait(300)")
    sent = sum(frames)
    session.send("Network.disable")
    # Somebody who is quick clicks while what products lack is still read.
    first_click = _click(notebook, 0)
    notebook.ask("explorer.wait(300)")
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    before_clicks = _worked(notebook, session)
    clicks = [_click(notebook, place) for place in range(_CLICKS)]
    before_cards = _worked(notebook, session)
    cards = [page.locator(".jp-Notebook .prodex tr[aria-selected]").nth(place).evaluate(_CARD) for place in range(_CLICKS)]
    after_cards = _worked(notebook, session)
    page.get_by_role("button", name="Clear all").click()
    notebook.wait_for("not explorer.selection")
    notebook.ask("explorer.wait(300)")
    first, again = (_search(notebook, words) for words in ("citron", "huile olive"))
    peak = notebook.ask(
        "__import__('resource').getrusage(__import__('resource').RUSAGE_SELF).ru_maxrss / 1024"
    )
    return {
        "products": notebook.ask("len(catalog)"),
        "up": up / 1000,
        "sent_mb": sent / 1e6,
        "first_click": first_click / 1000,
        "click": median(clicks) / 1000,
        "click_worked": (before_cards - before_clicks) / _CLICKS,
        "slowest_click": max(clicks) / 1000,
        "card": median(cards) / 1000,
        "card_worked": (after_cards - before_cards) / _CLICKS,
        "slowest_card": max(cards) / 1000,
        "first_words": first / 1000,
        "words": again / 1000,
        "peak_mb": peak,
    }


def _worked(notebook: Notebook, page: CDPSession) -> float:
    """Return the seconds that the kernel and the page have worked so far."""
    metrics = {one["name"]: one["value"] for one in page.send("Performance.getMetrics")["metrics"]}
    kernel: float = notebook.ask("__import__('time').process_time()")
    return kernel + metrics["TaskDuration"]


def _click(notebook: Notebook, place: int) -> float:
    """Choose a value of a facet, and return the milliseconds until the products left are painted."""
    values = notebook.page.locator(".prodex .facet-list .facet-row .value")
    took: float = values.nth(place).evaluate(_CLICK)
    return took


def _search(notebook: Notebook, words: str) -> float:
    """Look for words in all texts, and return the milliseconds until the products left are painted."""
    field = notebook.page.locator(".prodex .row.search input").first.element_handle()
    took: float = notebook.page.evaluate(_WORDS, [field, words])
    return took


if __name__ == "__main__":
    print(json.dumps(measured(sys.argv[1])))
