"""The product card as a panel: it shows the selected product, collects corrections, and has its pictures on request."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import ipywidgets as w
from traitlets import Unicode, link

from prodex.catalog import Catalog
from prodex.errors import InputError
from prodex.exploration.card.contents import CardContents, read_card
from prodex.exploration.card.record import is_prepared
from prodex.notebook.card.history import (
    HistoryReader,
    failed_markup,
    gtin_of,
    name_with_history,
    waiting_markup,
)
from prodex.notebook.card.html import CardParts, parts
from prodex.notebook.card.text_table import TextTable
from prodex.notebook.jobs import Runner
from prodex.notebook.shared.long_tasks import WorkRow
from prodex.notebook.shared.panel import Panel, html, show_if
from prodex.notebook.shared.state import Exploration
from prodex.notebook.snapshots.comparison import product_changes_markup
from prodex.progress import PATIENCE, Reporter
from prodex.quality import Audit

if TYPE_CHECKING:
    from prodex.pictures import Thumbnail

#: Pixels of the longer side of a picture.
_SIDE = 256
#: Seconds that a card is looked at before its history is read: whoever looks through products has none of them read.
_PAUSE = 0.2
_NOTHING = "<p class='muted'>Select a product to show its card.</p>"


class ProductCard(Panel):
    """The card of the selected product.

    A text is corrected in place: Return or `e` on its button, or a double click. Corrections are collected in
    `exploration.corrections`; `CorrectionsPanel` shows, checks and sends them.

    Its history is read in the background, from the snapshots of the same name and from what was sent from here.

    Pictures are described. Their files are downloaded by Python, and only after a click on "Show pictures"; the browser
    itself loads nothing.

    Parameters
    ----------
    catalog
        The catalogue of the product; may be left out with an exploration.
    product_id
        The product; None shows none yet.
    audit
        The audit of its quality.
    exploration
        The state to share with other panels: the card shows the product, catalogue and audit of it.

    Attributes
    ----------
    product_id
        The product that is shown.
    exploration
        The shared state.
    card
        The contents of the card that is shown, or None.
    texts
        The table of its texts.

    Examples
    --------
    >>> import prodex
    >>> catalog = prodex.flatten([{"id": 7, "namePublicLong": [{"expressedIn": {"code": "fra-FR"}, "data": "Citron"}]}])
    >>> panel = ProductCard(catalog, "7")
    >>> panel.card
    CardContents(product '7', 'Citron', 1 text, 0 pictures)
    """

    product_id: Unicode[str | None, str | bytes | None] = Unicode(None, allow_none=True)

    def __init__(
        self,
        catalog: Catalog | None = None,
        product_id: str | None = None,
        *,
        audit: Audit | None = None,
        exploration: Exploration | None = None,
    ) -> None:
        super().__init__()
        if exploration is None:
            exploration = Exploration.of(catalog, audit, "ProductCard")
        elif catalog is not None or audit is not None:
            raise InputError("Give ProductCard either a catalogue, or an exploration, which has a catalogue.")
        self.exploration = exploration
        self.card: CardContents | None = None
        self._before, self._changed, self._above, self._pictures, self._after = (html("") for _ in range(5))
        self._history: w.HTML = html("")
        self.texts: TextTable = TextTable(self, exploration)
        self._preparing: Runner[CardParts] = Runner(_drop, _drop, is_patient=True)
        self._tracing: Runner[str] = Runner(
            self._show_history, self._say_why_no_history, delay=_PAUSE, is_patient=True
        )
        self._read_history = HistoryReader(
            lambda product: self.card is not None and self.card.product_id == product
        )
        self._show = w.Button(description="Show pictures")
        self._fetch: WorkRow[dict[str, Thumbnail]] = WorkRow(
            self,
            self._show_images,
            self._say_why_not,
            cancelled=self._offer_pictures,
            starts=[self._show],
            after=PATIENCE,
            is_dropped=True,
        )
        pictures = (self._show, self._fetch, self._pictures)
        texts = (self.texts.widget, self._history, self._above)
        self.fill(self._changed, self._before, *texts, *pictures, self._after)
        self.on(self._show, lambda _: self._ask())
        self.on(exploration, lambda _: self._follow(), "catalog", "audit", "product_id")
        self.on(exploration, lambda _: self._draw_changes(), "difference")
        if product_id is not None:
            exploration.product_id = product_id
        link((exploration, "product_id"), (self, "product_id"))
        with self.guarded():
            self._follow()

    def prepare(self, product_id: str) -> None:
        """Read what all cards of this catalogue need, in the background: the first one would take twice as long."""
        catalog = self.exploration.catalog
        if not is_prepared(catalog):
            self._preparing.ask(_made, catalog, product_id, self.exploration.audit)

    def wait(self, seconds: float = 60.0) -> None:
        """Wait until the history of the product is there; for scripts and tests."""
        self._tracing.wait(seconds)

    def _follow(self) -> None:
        """Show the product that is selected now."""
        # Pictures of the product before must not arrive in the card of this one.
        self._fetch.forget()
        self._tracing.forget()
        self.card = None
        state = self.exploration
        try:
            if state.product_id is not None:
                self.card = read_card(state.catalog, state.product_id, state.audit)
        # Also when the product is not found: the card of the one before would be taken for it.
        finally:
            self._draw()

    def _draw(self) -> None:
        pieces = CardParts(_NOTHING, "", "", "", "") if self.card is None else parts(self.card)
        self._before.value, self._above.value = pieces.before, pieces.above_pictures
        self._pictures.value, self._after.value = pieces.pictures, pieces.after
        self.texts.show(self.card)
        self._draw_changes()
        self._offer_pictures()
        self._trace()

    def _trace(self) -> None:
        """Read the history of the product that is shown, in the background: the card does not wait for it."""
        name = None if self.card is None else name_with_history(self.exploration.catalog)
        self._history.value = "" if name is None else waiting_markup()
        if self.card is not None and name is not None:
            self._tracing.ask(self._read_history, name, self.card.product_id, gtin_of(self.card))

    def _show_history(self, section: str) -> None:
        if section:
            self._history.value = section

    def _say_why_no_history(self, error: BaseException) -> None:
        self._history.value = failed_markup(error)

    def _draw_changes(self) -> None:
        card, known = self.card, self.exploration.changed
        self._changed.value = (
            "" if card is None or known is None else product_changes_markup(known, card.product_id)
        )

    def _offer_pictures(self) -> None:
        count = 0 if self.card is None else len(self.card.pictures.rows)
        self._show.description = f"Show pictures ({count})"
        show_if(self._show, count > 0)

    def _ask(self) -> None:
        """Download the pictures of the product that is shown, in the background."""
        if self.card is None:
            return
        self._show.description = "Loading pictures …"
        fetch = partial(_fetched_thumbnails, self.exploration.catalog, self.card.product_id)
        self._fetch.start(fetch, "Downloading pictures")

    def _show_images(self, images: dict[str, Thumbnail]) -> None:
        with self.guarded():
            if self.card is not None:
                self._pictures.value = parts(self.card, images).pictures
                show_if(self._show, False)

    def _say_why_not(self, error: BaseException) -> None:
        self.show_error(error)
        self._show.description = "Try again to show pictures"


def _made(catalog: Catalog, product_id: str, audit: Audit | None) -> CardParts:
    return parts(read_card(catalog, product_id, audit))


def _drop(_: object) -> None:
    """Show neither the card that was only prepared nor its error: whoever opens a card sees both."""


def _fetched_thumbnails(catalog: Catalog, product_id: str, reporter: Reporter) -> dict[str, Thumbnail]:
    """Return the pictures of a product by position, as small JPEGs that prodex has encoded itself."""
    # Imported on request: most cards are read without their pictures, and Pillow takes a while.
    from prodex.pictures import thumbnails

    made = thumbnails(catalog, [product_id], _SIDE, reporter=reporter)
    return {one.position: one for one in made if one.position is not None}
