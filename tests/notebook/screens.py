"""Every panel as a picture, taken in a real JupyterLab over the sandbox's sample, in the light theme and the dark."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

from .lab import Lab, Notebook

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator

SCHEMES = ("light", "dark")
#: Colours that a picture without photographs keeps, at a third of the size.
_COLOURS = 256
#: As high as the longest panel, so that nothing has to be scrolled into sight.
_TALL = {"width": 1360, "height": 3000}

#: A sandbox in the kernel, a snapshot of it, and another after a week in which suppliers worked.
_BEGIN = """
    import os
    from dataclasses import replace
    from datetime import datetime
    os.environ["PRODEX_HOME"] = "data-{scheme}"  # from here, so that no picture shows a path of this machine
    import prodex as px
    from prodex.sandbox import Sandbox
    from prodex.sandbox.sample import shared_products

    made = list(shared_products({products}))
    poor = {{place: made[place].record | {{"description": []}} for place in range(10, 190, 7)}}
    worse = [made[place].record | {{"namePublicShort": [], "brand": None}} for place in range(12, 190, 23)]
    before = [replace(one, record=poor.get(place, one.record)) for place, one in enumerate(made)]
    sandbox = Sandbox(before).__enter__()
    key = sandbox.credentials[0]
    service = px.connect(
        base_url=sandbox.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
    )
    for day in (7, 14):
        folder = px.load_products(service, name="shop", max_age=0, progress=False).folder
        folder = folder.rename(folder.parent / f"2026-11-{{day:02}}T080000.000000Z")
        px.audit(px.open_snapshot(folder), "online-listing", progress=False, now=datetime(2026, 11, day)).save()
    sandbox.change([made[place].record for place in poor] + worse, moves_updated_at=True)
    sandbox.remove([made[5].record["id"]])
    catalog = px.refresh("shop", service, sweep=True, progress=False)
    today = catalog.products["updated_at"].max().to_pydatetime()
    audit = px.audit(catalog, "online-listing", progress=False, now=today).save()
    shown = catalog.where(packaging_code="EACH")
    counts = shown.products.set_index("product_id")
    rich = counts[(counts["pictures_count"] > 1) & (counts["hierarchies_count"] > 2)].index[0]
"""


@dataclass(frozen=True)
class Screen:
    """A picture to take.

    Attributes
    ----------
    name
        Of the file.
    cell
        What is run.
    act
        What is done then, until it shows what is to be seen.
    height
        Pixels from the top that are kept.
    has_photos
        Whether few colours would show.
    """

    name: str
    cell: str
    act: Callable[[Locator], object]
    height: int = 1100
    has_photos: bool = False


def _press(shown: Locator, name: str) -> None:
    shown.get_by_role("button", name=name).first.click()
    shown.page.wait_for_timeout(2500)


def _choose(shown: Locator) -> None:
    shown.locator("table.dataTable tbody td").first.wait_for()
    kind = shown.locator(".facet", has=shown.page.locator(".facet-head", has_text="Kind"))
    kind.locator(".facet-row").nth(2).click()
    shown.page.wait_for_timeout(1000)
    for place in (1, 3):
        shown.locator("table.dataTable tbody tr").nth(place).click()
    shown.page.mouse.move(0, 0)
    shown.page.wait_for_timeout(1000)


def _look(shown: Locator) -> None:
    shown.page.wait_for_timeout(2500)


def _compare(shown: Locator) -> None:
    shown.locator("table.dataTable tbody tr").first.click()
    shown.page.wait_for_timeout(1500)
    _press(shown, "Compare")


SCREENS = (
    Screen("explorer", "px.CatalogExplorer(catalog, audit=audit)", _choose, 900),
    Screen(
        "card",
        "px.ProductCard(catalog, rich, audit=audit)",
        lambda shown: _press(shown, "Show pictures"),
        1500,
        has_photos=True,
    ),
    Screen("audit-panel", "px.AuditPanel(audit)", _look, 1100),
    Screen(
        "query-panel",
        'px.QueryPanel(service, px.ProductQuery(target_market=250, tags_in="exportable", search=["lait"]))',
        _look,
        760,
    ),
    Screen("snapshot-panel", 'px.SnapshotPanel("shop")', _compare, 1500),
    Screen("gallery", "px.gallery(shown, per_page=12)", _look, 1100, has_photos=True),
)


def take(lab: Lab, browser: Browser, products: int) -> Iterator[tuple[str, bytes]]:
    """Yield the name of each picture (`explorer-light`) and its PNG.

    Parameters
    ----------
    products
        How many products of the sample to show.
    """
    for scheme in SCHEMES:
        cells = [_BEGIN.format(products=products, scheme=scheme), *(screen.cell for screen in SCREENS)]
        with lab.opened(browser, cells, scheme=scheme, name="screens") as notebook:
            notebook.run(0)
            notebook.page.set_viewport_size(_TALL)  # type: ignore[arg-type]
            for place, screen in enumerate(SCREENS, start=1):
                yield f"{screen.name}-{scheme}", _taken(notebook, place, screen)


def _all_shown(notebook: Notebook) -> None:
    notebook.page.evaluate(
        "document.querySelectorAll('.jp-Notebook .jp-CodeCell').forEach(cell => { cell.style.display = ''; })"
    )


def _taken(notebook: Notebook, place: int, screen: Screen) -> bytes:
    _all_shown(notebook)
    shown = notebook.run(place)
    # The others leave the page to it.
    notebook.page.evaluate(
        "place => document.querySelectorAll('.jp-Notebook .jp-CodeCell').forEach((cell, at) => {"
        " cell.style.display = at === place ? '' : 'none'; })",
        place,
    )
    screen.act(shown)
    notebook.wait_until_idle()
    told = shown.locator(".problem:visible")
    assert not told.count(), told.first.inner_text()
    picture = Image.open(io.BytesIO(shown.screenshot())).convert("RGB")
    picture = picture.crop((0, 0, picture.width, min(screen.height, picture.height)))
    if not screen.has_photos:
        picture = picture.quantize(_COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    picture.save(written := io.BytesIO(), "PNG", optimize=True)
    return written.getvalue()


def write(folder: Path, lab: Lab, browser: Browser, products: int) -> list[Path]:
    """Write the pictures to a folder, and return where they are."""
    folder.mkdir(exist_ok=True, parents=True)
    written = []
    for name, png in take(lab, browser, products):
        path = folder / f"{name}.png"
        path.write_bytes(png)
        written.append(path)
    return written
