"""Every section as a picture, over the sandbox's sample, in the light theme and the dark."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PIL import Image

import prodex as px
from prodex.notebook.widget import Explore, explore
from prodex.selection import Selection
from prodex_sandbox.sample import shared_products
from tests.lived import UNTIL, exchange_in

from .lab import SCHEMES
from .one_browser import in_kernel, page_settled, shown

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

#: Colours that a picture without photographs keeps, at a third of the size.
_COLOURS = 256
#: Pixels, as high as the longest section, so that nothing has to be scrolled into sight.
_TALL = 3000
_GROUNDS = {"light": "#ffffff", "dark": "#161b22"}
#: Answers to worklists that are collected as corrections.
_ANSWERS = 5


class Shop:
    """What is shown: a sandbox in which three weeks have passed."""

    def __init__(self) -> None:
        self.service = px.connect("sandbox")
        self.weeks = px.simulated_weeks(until=UNTIL, progress=False)
        self.catalog, self.audit = self.weeks.catalog, self.weeks.audits[-1]

    @property
    def rich(self) -> str:
        """A product with pictures, a hierarchy, texts in many languages and findings."""
        each = self.catalog.where(packaging_code="EACH").products.set_index("product_id")
        full = each.index[(each["pictures_count"] > 1) & (each["hierarchies_count"] > 1)]
        failing = set(self.audit.failures()["product_id"])
        languages = self.catalog.texts.groupby("product_id")["language"].nunique()
        return str(max(full, key=lambda one: (one in failing, min(languages.get(one, 0), 3))))

    @property
    def unlucky(self) -> str:
        """The supplier who has lost all pictures."""
        owners = self.audit.scores("owner").set_index("owner")["owner_id"]
        return str(owners[self.weeks.incident.partition(":")[0]])

    def explorer(self) -> Explore:
        """Show the products of that supplier."""
        panel = explore(self.catalog, audit=self.audit)
        panel.selection = Selection().choosing("owner", (self.unlucky,))
        return panel

    def coverage(self) -> Explore:
        """Show the coverage in all languages."""
        panel = explore(self.catalog, audit=self.audit, show="coverage")
        panel.app.act("form.set", form="coverage", field="of_required", value=False)
        return panel

    def corrections(self) -> Explore:
        """Show answers of worklists as corrections: the short ones, which fit into a line."""
        panel = explore(self.catalog, audit=self.audit, service=self.service, show="corrections")
        fix = px.read_worklist(
            sorted(self.weeks.returned.glob("*.csv")), self.catalog, profile="online-listing"
        )
        length = fix.accepted["before"].str.len().fillna(100)
        shortest = fix.accepted.loc[length.sort_values(kind="stable").index].head(_ANSWERS)
        for row in shortest.to_dict("records"):
            place = {name: row[name] for name in ("before", "position", "language_code")}
            made = px.TextCorrection(
                row["product_id"], row["attribute"], row["language"], row["answer"], **place
            )
            panel.app.change(lambda session, made=made: session.correcting(made))
        return panel

    def bulk(self) -> Explore:
        """Show what our shop calls a case, for all French names at once."""
        panel = explore(self.catalog, audit=self.audit, service=self.service)
        panel.selection = Selection().toggled("market", "250")
        panel.app.act("fold.set", key="bulk", is_open=True)
        typed = {"language": "French", "replace text.find": "Carton de", "replace text.by": "Colis de"}
        for name, value in typed.items():
            panel.app.act("form.set", form="bulk", field=name, value=value)
        return panel

    def load(self) -> Explore:
        """Show a query as a form."""
        query = px.ProductQuery(target_market=250, tags_in="exportable", search=["lait"])
        return explore(service=self.service, query=query, show="load")

    def gallery(self) -> Explore:
        """Show the pictures of two owners who have no product that tries to be code: those have tests of their own."""
        owners = ["Molinos Aldariz SA", "Speelhuis Tolbrink BV"]
        panel = explore(self.catalog.where(packaging="Each", owner=owners), show="gallery")
        panel.app.act("form.set", form="gallery-controls", field="page_size", value=12)
        return panel


@contextmanager
def shop_of(folder: Path, products: int) -> Iterator[Shop]:
    """Serve a shop that lives in a folder."""
    # Named from here, so that no picture shows a path of this machine.
    with pytest.MonkeyPatch.context() as patch, chdir(folder):
        patch.setenv("PRODEX_HOME", "data")
        with exchange_in(Path("data"), shared_products(products)):
            yield Shop()


@dataclass(frozen=True)
class Screen:
    """A picture to take.

    Attributes
    ----------
    name
        Of the file.
    panel
        What is shown.
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
    panel: Callable[[Shop], Explore]
    act: Callable[[Page], object] = lambda _: None
    height: int = 1100
    width: int = 1360
    has_photos: bool = False
    is_bottom: bool = False


def _choose(page: Page) -> None:
    """Select two products, and open the card of another one."""
    rows = page.locator(".product-table tbody tr[tabindex]")
    for place in (1, 2):
        rows.nth(place).get_by_role("checkbox").click()
    rows.nth(0).locator("td").nth(2).click()
    page_settled(page)


def _show_pictures(page: Page) -> None:
    button = page.get_by_role("button", name="Show pictures")
    if button.count():
        button.first.click()
    page_settled(page)


def _compare(page: Page) -> None:
    page.get_by_role("button", name="Since Monday").click()
    page_settled(page)
    page.get_by_text("Groups with most changes").wait_for()


SCREENS = (
    Screen("explorer", Shop.explorer, _choose, 1000, width=1600),
    Screen(
        "card",
        lambda shop: explore(shop.catalog, audit=shop.audit, show="card", product_id=shop.rich),
        _show_pictures,
        1500,
        has_photos=True,
    ),
    Screen("audit-panel", lambda shop: explore(shop.catalog, audit=shop.audit, show="quality")),
    Screen("coverage-panel", Shop.coverage, height=900),
    Screen("corrections-panel", Shop.corrections, height=900),
    Screen("bulk-correction", Shop.bulk, height=960, is_bottom=True),
    Screen("query-panel", Shop.load, height=760),
    Screen("snapshot-panel", lambda shop: explore(shop.weeks.name, show="snapshots"), _compare, 1500),
    Screen("gallery", Shop.gallery, _show_pictures, has_photos=True),
)


@contextmanager
def opened(screen: Screen, shop: Shop, browser: Browser) -> Iterator[Page]:
    """Open a panel, and do what is to be done, in the light theme."""
    panel = in_kernel(lambda: screen.panel(shop))
    with shown(panel, browser, width=screen.width, height=_TALL) as page:
        screen.act(page)
        page.mouse.move(0, 0)
        page_settled(page)
        told = page.locator(".problem:visible")
        assert not told.count(), (screen.name, told.first.inner_text())
        yield page


def show_theme(page: Page, scheme: str) -> None:
    """Change to the light or the dark theme, as JupyterLab does."""
    page.evaluate(
        """([isLight, ground]) => {
            document.documentElement.dataset.jpThemeLight = isLight;
            document.body.style.background = ground;
        }""",
        [str(scheme == "light").lower(), _GROUNDS[scheme]],
    )
    page_settled(page)


def take(folder: Path, browser: Browser, products: int) -> Iterator[tuple[str, Image.Image]]:
    """Yield the name of each picture (`explorer-light`), and the picture.

    Parameters
    ----------
    folder
        Where everything is kept.
    products
        How many products of the sample to show.
    """
    with shop_of(folder, products) as shop:
        for screen in SCREENS:
            with opened(screen, shop, browser) as page:
                for scheme in SCHEMES:
                    show_theme(page, scheme)
                    yield f"{screen.name}-{scheme}", taken(page, screen)


def taken(page: Page, screen: Screen) -> Image.Image:
    """Return the picture of what a page shows."""
    picture = Image.open(io.BytesIO(page.locator("#panel").screenshot())).convert("RGB")
    height = min(screen.height, picture.height)
    top = picture.height - height if screen.is_bottom else 0
    return picture.crop((0, top, picture.width, top + height))


def write(folder: Path, home: Path, browser: Browser, products: int) -> list[Path]:
    """Write the pictures to a folder, and return where they are."""
    folder.mkdir(exist_ok=True, parents=True)
    written = []
    with_photos = {f"{one.name}-{scheme}" for one in SCREENS if one.has_photos for scheme in SCHEMES}
    for name, picture in take(home, browser, products):
        few = {"method": Image.Quantize.MAXCOVERAGE, "dither": Image.Dither.NONE}
        kept = picture if name in with_photos else picture.quantize(_COLOURS, **few)
        kept.save(path := folder.absolute() / f"{name}.png", optimize=True)
        written.append(path)
    return written
