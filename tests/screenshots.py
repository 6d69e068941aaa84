"""Pictures of the report for the README, of the sample: `python -m tests.screenshots` writes notebooks/images."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
import tempfile
import zlib
from datetime import timedelta
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

import prodex
from prodex.sandbox.sample import AS_OF, shared_products

FOLDER = Path(__file__).parents[1] / "notebooks" / "images"
PROFILE = "online-listing"
#: Bytes of one picture.
LARGEST = 300_000

_PRODUCTS = 2_000
_SIZE = {"width": 1240, "height": 1500}
#: What suppliers had not given yet, the first of it oftenest.
_GAPS = ("namePublicLong", "assets", "description", "brand", "kind", "namePublicShort", "GPC")
#: What is in the middle of each picture.
_PLACES = {"report": "body", "heat-map": "#standings"}


def audits() -> list[prodex.Audit]:
    """Judge the sample as it is, after two months in which suppliers filled gaps."""
    records: list[dict[str, Any]] = [product.record for product in shared_products(_PRODUCTS)]
    months = {62: 3, 31: 6, 0: None}
    return [
        prodex.audit(
            prodex.save(prodex.flatten(_with_gaps(record, every) for record in records), "shop"),
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


def write() -> list[Path]:
    """Write the pictures, and return where they are."""
    written = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        os.environ["PRODEX_HOME"] = folder
        *earlier, newest = audits()
        page_path = newest.to_html(Path(folder, "report.html"), trend=earlier)
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for scheme in ("light", "dark"):
            page = browser.new_page(viewport=_SIZE, color_scheme=scheme)
            page.goto(page_path.as_uri())
            for name, place in _PLACES.items():
                top = page.locator(place).evaluate("one => one.getBoundingClientRect().top + scrollY")
                clip = {"x": 0, "y": max(top - 16, 0), **_SIZE}
                picture = Image.open(io.BytesIO(page.screenshot(full_page=True, clip=clip))).convert("RGB")
                path = FOLDER / f"{name}-{scheme}.png"
                path.parent.mkdir(exist_ok=True)
                picture.save(path, "PNG", optimize=True)
                written.append(path)
        browser.close()
    return written


if __name__ == "__main__":
    for made in write():
        sys.stdout.write(f"{made.relative_to(Path.cwd())}: {made.stat().st_size:,} bytes\n")
