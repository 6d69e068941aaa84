"""How quick a notebook is with many products, in a real JupyterLab and a real browser: figures as JSON.

`python -m tests.bench.explorer COUNT` keeps COUNT products of the sample as a snapshot, opens it in `CatalogExplorer`
and clicks facets. It is up when its first row can be seen; a click is answered when the table says another number.
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
from time import perf_counter
from typing import Any

from tests.notebook.lab import Notebook, chromium, serving

_CELLS = (
    "import prodex as px\ncatalog = px.open_snapshot('bench')\npx.CatalogExplorer, len(catalog)",
    "explorer = px.CatalogExplorer(catalog)\nexplorer",
)
#: Facets are clicked so often, each time another value.
_CLICKS = 6


def measured(count: int) -> dict[str, Any]:
    """Return the figures of looking at so many products."""
    with (
        tempfile.TemporaryDirectory(prefix="prodex-bench-") as folder,
        chromium() as browser,
        serving(Path(folder)) as lab,
    ):
        environment = {**os.environ, "PRODEX_HOME": str(lab.home)}
        keep = [sys.executable, "-m", "tests.bench.audits", "keep", str(count)]
        subprocess.run(keep, env=environment, check=True)
        with lab.opened(browser, _CELLS) as notebook:
            notebook.run(0)
            before, started = notebook.received, perf_counter()
            notebook.run(1)
            notebook.page.wait_for_selector(".prodex table.dataTable tbody td")
            up = perf_counter() - started
            notebook.wait_until_idle()
            sent = notebook.received - before
            clicks = [_click(notebook, place) for place in range(_CLICKS)]
            return {
                "products": count,
                "up": up,
                "sent_mb": sent / 1e6,
                "click": median(clicks),
                "slowest_click": max(clicks),
                "search": _search(notebook),
            }


def _click(notebook: Notebook, place: int) -> float:
    """Choose a value of a facet, and return the seconds until the table shows the products left."""
    said = notebook.page.locator(".prodex .count").first
    before = said.inner_text()
    value = notebook.page.locator(".prodex .facets button.facet-row").nth(place)
    started = perf_counter()
    value.click()
    while said.inner_text() == before:
        notebook.page.wait_for_timeout(5)
    return perf_counter() - started


def _search(notebook: Notebook) -> float:
    """Look for a word in all texts, and return the seconds until the table shows the products left."""
    said = notebook.page.locator(".prodex .count").first
    before = said.inner_text()
    field = notebook.page.get_by_role("textbox", name="Search")
    started = perf_counter()
    field.fill("citron")
    while said.inner_text() == before:
        notebook.page.wait_for_timeout(5)
    return perf_counter() - started


if __name__ == "__main__":
    print(json.dumps(measured(int(sys.argv[1]))))
