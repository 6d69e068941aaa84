"""A file for colleagues: how long it takes to be made, how large it is, and how quick a browser shows it, as JSON.

`python -m tests.bench.html_file COUNT` makes one of COUNT products of the sample, audited; with the path of a file of
products in place of the number, of those. The browser measures from when it begins to open the file from the disk to
the picture after the first row, a pressed filter and the first card. On a busy machine all of it takes longer; what
making the file worked is the time of a processor, which nobody else uses.
"""

# ruff: noqa: T201 - it prints figures

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import prodex
from prodex_sandbox.sample import AS_OF, shared_products
from tests.bench.measuring import HERE
from tests.notebook.lab import chromium

#: The file is opened so often where it is measured, and once where it is only asked whether it works.
_TIMES = 5
_FIRST_ROW = """() => {
  const isThere = () => document.querySelector("tr[data-key^='row/']");
  window.first = new Promise((resolve) => {
    const look = () => isThere() && (observer.disconnect(),
      requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now()))));
    const observer = new MutationObserver(look);
    observer.observe(document, { subtree: true, childList: true });
  });
}"""
_PRESSED = """async ([pressed, wanted]) => {
  const started = performance.now();
  document.querySelector(pressed).click();
  while (!document.querySelector(wanted)) await new Promise(requestAnimationFrame);
  await new Promise(requestAnimationFrame);
  return performance.now() - started;
}"""
_FILTER = ["button.value", "button.value[aria-pressed='true']"]
_CARD = ["tr[data-key^='row/'] td.name", ".card h3"]


def measured(of: str) -> dict[str, Any]:
    """Make a file, open it some times, and return the figures."""
    records = (one.record for one in shared_products(int(of))) if of.isdigit() else None
    catalog = prodex.read_products(of) if records is None else prodex.flatten(records)
    audit = prodex.audit(catalog, "online-listing", now=AS_OF, progress=False)
    with tempfile.TemporaryDirectory() as folder:
        began, worked = time.perf_counter(), time.process_time()
        written = prodex.explore(catalog, audit=audit).to_html(Path(folder) / "shop.html", progress=False)
        made = {
            "products": len(catalog),
            "made": time.perf_counter() - began,
            "made_worked": time.process_time() - worked,
            "mb": written.size / 1e6,
            "notes": list(written.notes),
            "load": os.getloadavg()[0],
        }
        return made | _opened(written.path)


def _opened(path: Path) -> dict[str, float]:
    found: dict[str, list[float]] = {"first_row": [], "first_row_worked": [], "filter": [], "card": []}
    with chromium() as browser:
        for _ in range(1 if HERE.is_set() else _TIMES):
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.add_init_script(f"({_FIRST_ROW})()")
            session = page.context.new_cdp_session(page)
            session.send("Performance.enable", {"timeDomain": "threadTicks"})
            page.goto(path.as_uri())
            found["first_row"].append(page.evaluate("window.first") / 1000)
            metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
            found["first_row_worked"].append(metrics["TaskDuration"])
            found["filter"].append(page.evaluate(_PRESSED, _FILTER) / 1000)
            found["card"].append(page.evaluate(_PRESSED, _CARD) / 1000)
            page.close()
    return {name: median(times) for name, times in found.items()}


if __name__ == "__main__":
    print(json.dumps(measured(sys.argv[1])))
