"""Pictures of the report and of every panel, for the README: `python -m tests.screenshots` writes notebooks/images."""

from __future__ import annotations

import io
import json
import os
import sys
import tempfile
import zlib
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PIL import Image

import prodex
from prodex_sandbox.sample import AS_OF, shared_products
from tests.notebook import screens
from tests.notebook.lab import chromium
from tests.notebook.screens import SCHEMES

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FOLDER = Path(__file__).parents[1] / "notebooks" / "images"
PROFILE = "online-listing"

_PRODUCTS = 2_000
_SIZE = {"width": 1240, "height": 1500}
#: What suppliers had not given yet, the first of it oftenest.
_GAPS = ("namePublicLong", "assets", "description", "brand", "kind", "namePublicShort", "GPC")
#: What is in the middle of each picture.
_PLACES = {"report": "body", "heat-map": "#standings"}


def audits() -> list[prodex.quality.Audit]:
    """Judge the sample as it is, after two months in which suppliers filled gaps."""
    records: list[dict[str, Any]] = [product.record for product in shared_products(_PRODUCTS)]
    months = {62: 3, 31: 6, 0: None}
    return [
        prodex.audit(
            prodex.flatten(_with_gaps(record, every) for record in records).save("shop"),
            PROFILE,
            now=AS_OF - timedelta(days=days),
        )
        for days, every in months.items()
    ]


def _with_gaps(record: dict[str, Any], every: int | None) -> dict[str, Any]:
    """Take something from one product in `every`: what its supplier had not given yet."""
    if every is None or zlib.crc32(str(record.get("gtin")).encode()) % every:
        return record
    poorer = json.loads(json.dumps(record))
    for attribute in _GAPS[: 2 + record["id"] % len(_GAPS)]:
        poorer.pop(attribute, None)
    return dict(poorer)


def report(browser: Browser) -> list[Path]:
    """Write the pictures of the report, and return where they are."""
    written = []
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PRODEX_HOME"] = folder
        *earlier, newest = audits()
        page_path = newest.to_html(Path(folder, "report.html"), trend=earlier)
        for scheme in SCHEMES:
            page = browser.new_page(viewport=_SIZE, color_scheme=scheme)  # type: ignore[arg-type]
            page.goto(page_path.as_uri())
            for name, place in _PLACES.items():
                top = page.locator(place).evaluate("one => one.getBoundingClientRect().top + scrollY")
                clip = {"x": 0, "y": max(top - 16, 0), **_SIZE}
                picture = Image.open(io.BytesIO(page.screenshot(full_page=True, clip=clip))).convert("RGB")  # type: ignore[arg-type]
                path = FOLDER / f"{name}-{scheme}.png"
                picture.save(path, "PNG", optimize=True)
                written.append(path)
    return written


def panels(browser: Browser) -> list[Path]:
    """Write the pictures of the panels, and return where they are."""
    with tempfile.TemporaryDirectory() as folder:
        return screens.write(FOLDER, Path(folder), browser, _PRODUCTS)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    with chromium() as opened:
        for made in (*report(opened), *panels(opened)):
            sys.stdout.write(f"{made.relative_to(Path.cwd())}: {made.stat().st_size:,} bytes\n")
