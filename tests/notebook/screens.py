"""Every panel as a picture, taken in a real JupyterLab over the sandbox's sample, in the light theme and the dark."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

from .lab import SCHEMES, Lab, Notebook

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator

#: Colours that a picture without photographs keeps, at a third of the size.
_COLOURS = 256
#: Pixels, as high as the longest panel, so that nothing has to be scrolled into sight.
_TALL = 3000
#: Milliseconds in which a page draws what has arrived.
_SETTLED = 800
_ROOT = str(Path(__file__).parents[2])

#: A sandbox in the kernel, in which three weeks have passed.
_BEGIN = """
    import os, sys
    from pathlib import Path
    os.environ["PRODEX_HOME"] = "data"  # from here, so that no picture shows a path of this machine
    sys.path.insert(0, {root!r})
    import prodex as px
    from prodex_sandbox.sample import shared_products
    from tests.lived import UNTIL, exchange_in

    exchange = exchange_in(Path("data"), shared_products({products}))
    exchange.__enter__()
    service = px.connect("sandbox")
    weeks = px.simulated_weeks(until=UNTIL, progress=False)
    catalog, audit = weeks.catalog, weeks.audits[-1]
    shown = catalog.where(packaging_code="EACH")
    counts = shown.products.set_index("product_id")
    full = counts.index[(counts["pictures_count"] > 1) & (counts["hierarchies_count"] > 1)]
    failing, languages = audit.failures()["product_id"], catalog.texts.groupby("product_id")["language"].nunique()
    rich = max(full, key=lambda one: (one in set(failing), min(languages.get(one, 0), 3)))
    # The supplier who has lost all pictures.
    owners = audit.scores("owner").set_index("owner")["owner_id"]
    unlucky = owners[weeks.incident.partition(":")[0]]
"""
#: The products of that supplier.
_EXPLORER = """
    explorer = px.CatalogExplorer(catalog, audit=audit)
    explorer.exploration.conditions = explorer.exploration.conditions.choosing("owner", (unlucky,))
    explorer
"""
#: Of two owners who have no product that tries to be code: those have tests of their own.
_GALLERY = """
    owners = ["Molinos Aldariz SA", "Speelhuis Tolbrink BV"]
    px.gallery(catalog.where(packaging="Each", owner=owners), per_page=12, progress=False)
"""
#: Answers of worklists that came back, collected as corrections: the short ones, which fit into a line.
_COVERAGE = """
    coverage = px.CoveragePanel(catalog, audit=audit)
    coverage.of_required = False  # in all languages
    coverage
"""

_CORRECTIONS = """
    fix = px.read_worklist(sorted(weeks.returned.glob("*.csv")), catalog, profile="online-listing")
    corrections = px.CorrectionsPanel(catalog, service=service, profile="online-listing")
    length = fix.accepted["before"].str.len().fillna(100)
    for row in fix.accepted.loc[length.sort_values(kind="stable").index].head(5).to_dict("records"):
        place = {name: row[name] for name in ("before", "position", "language_code")}
        correction = px.TextCorrection(
            row["product_id"], row["attribute"], row["language"], row["answer"], **place
        )
        corrections.exploration.correct(correction)
    corrections
"""


#: What our shop calls a case, for all French names at once.
_BULK = """
    bulk = px.CatalogExplorer(catalog, audit=audit, service=service)
    bulk.exploration.conditions = bulk.exploration.conditions.toggled("market", "250")
    bulk.correcting.is_open = True
    form = bulk.bulk.form
    form.language.value = "French"
    form.parameters["find"].value, form.parameters["by"].value = "Carton de", "Colis de"
    bulk
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
    width
        Of the window, in pixels.
    has_photos
        Whether few colours would show.
    is_bottom
        Whether the lower end is kept, and not the upper one.
    """

    name: str
    cell: str
    act: Callable[[Locator], object]
    height: int = 1100
    width: int = 1360
    has_photos: bool = False
    is_bottom: bool = False


def _press(shown: Locator, name: str) -> None:
    shown.get_by_role("button", name=name).first.click()
    shown.page.wait_for_timeout(_SETTLED)


def _choose(shown: Locator) -> None:
    """Select two products, and open the card of another one."""
    rows = shown.locator(".product-grid tbody tr")
    rows.first.wait_for()
    shown.locator("button.chip").first.wait_for()
    shown.page.wait_for_timeout(_SETTLED)
    for place in (1, 2):
        rows.nth(place).get_by_role("checkbox").click()
    rows.nth(0).locator("td").nth(2).click()
    shown.locator(".pane .texts").first.wait_for()
    shown.page.mouse.move(0, 0)
    shown.page.wait_for_timeout(_SETTLED)


def _look(shown: Locator) -> None:
    shown.page.wait_for_timeout(_SETTLED)


def _compare(shown: Locator) -> None:
    shown.get_by_role("button", name="Since Monday").click()
    shown.get_by_text("Groups with most changes").wait_for()
    shown.page.wait_for_timeout(_SETTLED)


def _preview(shown: Locator) -> None:
    shown.get_by_text("before and after").wait_for()
    shown.page.wait_for_timeout(_SETTLED)


SCREENS = (
    Screen("explorer", _EXPLORER, _choose, 1000, width=1600),
    Screen(
        "card",
        "px.ProductCard(catalog, rich, audit=audit)",
        lambda shown: _press(shown, "Show pictures"),
        1500,
        has_photos=True,
    ),
    Screen("audit-panel", "px.AuditPanel(audit)", _look, 1100),
    Screen("coverage-panel", _COVERAGE, _look, 900),
    Screen("corrections-panel", _CORRECTIONS, _look, 900),
    Screen("bulk-correction", _BULK, _preview, 960, is_bottom=True),
    Screen(
        "query-panel",
        'px.QueryPanel(service, px.ProductQuery(target_market=250, tags_in="exportable", search=["lait"]))',
        _look,
        760,
    ),
    Screen("snapshot-panel", "px.SnapshotPanel(weeks.name)", _compare, 1500),
    Screen("gallery", _GALLERY, _look, 1100, has_photos=True),
)


def take(lab: Lab, browser: Browser, products: int) -> Iterator[tuple[str, Image.Image]]:
    """Yield the name of each picture (`explorer-light`), and the picture.

    Parameters
    ----------
    products
        How many products of the sample to show.
    """
    cells = [_BEGIN.format(products=products, root=_ROOT), *(screen.cell for screen in SCREENS)]
    with lab.opened(browser, cells) as notebook:
        notebook.run(0)
        first, second = SCHEMES
        for place, screen in enumerate(SCREENS, start=1):
            shown = _opened(notebook, place, screen)
            yield f"{screen.name}-{first}", _taken(shown, screen)
        # To change the theme takes as long as a panel: all of them are there before it changes.
        notebook.show(second)
        for place, screen in enumerate(SCREENS, start=1):
            notebook.page.set_viewport_size({"width": screen.width, "height": _TALL})
            _leave_the_page_to(notebook, place)
            notebook.page.wait_for_timeout(_SETTLED)
            yield f"{screen.name}-{second}", _taken(notebook.output(place), screen)


def _all_shown(notebook: Notebook) -> None:
    notebook.page.evaluate(
        "document.querySelectorAll('.jp-Notebook .jp-CodeCell').forEach(cell => { cell.style.display = ''; })"
    )


def _leave_the_page_to(notebook: Notebook, place: int) -> None:
    notebook.page.evaluate(
        "place => document.querySelectorAll('.jp-Notebook .jp-CodeCell').forEach((cell, at) => {"
        " cell.style.display = at === place ? '' : 'none'; })",
        place,
    )


def _opened(notebook: Notebook, place: int, screen: Screen) -> Locator:
    """Run its cell, and do what is to be done."""
    notebook.page.set_viewport_size({"width": screen.width, "height": _TALL})
    _all_shown(notebook)
    shown = notebook.run(place)
    _leave_the_page_to(notebook, place)
    screen.act(shown)
    notebook.wait_until_idle()
    told = shown.locator(".problem:visible")
    assert not told.count(), told.first.inner_text()
    return shown


def _taken(shown: Locator, screen: Screen) -> Image.Image:
    picture = Image.open(io.BytesIO(shown.screenshot())).convert("RGB")
    height = min(screen.height, picture.height)
    top = picture.height - height if screen.is_bottom else 0
    return picture.crop((0, top, picture.width, top + height))


def write(folder: Path, lab: Lab, browser: Browser, products: int) -> list[Path]:
    """Write the pictures to a folder, and return where they are."""
    folder.mkdir(exist_ok=True, parents=True)
    written = []
    with_photos = {f"{one.name}-{scheme}" for one in SCREENS if one.has_photos for scheme in SCHEMES}
    for name, taken in take(lab, browser, products):
        few = {"method": Image.Quantize.MAXCOVERAGE, "dither": Image.Dither.NONE}
        kept = taken if name in with_photos else taken.quantize(_COLOURS, **few)
        kept.save(path := folder / f"{name}.png", optimize=True)
        written.append(path)
    return written
