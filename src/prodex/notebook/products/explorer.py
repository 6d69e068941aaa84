"""The explorer of a catalogue: facets with counts, a search, and the matching products as a table."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from html import escape
from typing import TypeAlias

import ipywidgets as w
from traitlets import Instance, Tuple, link

from prodex.catalog import Catalog
from prodex.catalog.origin import Chosen
from prodex.exploration.facets import FilterResult
from prodex.exploration.filtering import ProductFilter
from prodex.exploration.range_facets import column_of
from prodex.exploration.saved_views import SavedView
from prodex.exploration.search import HELP, LABELS
from prodex.exploration.table_page import Order
from prodex.notebook.card.panel import ProductCard
from prodex.notebook.jobs import Runner
from prodex.notebook.products.bulk_correction import BulkCorrection, correct_title
from prodex.notebook.products.export import ExportBox, ShownTable
from prodex.notebook.products.facet_list import FacetList
from prodex.notebook.products.product_table import ProductTable
from prodex.notebook.products.table_details import TableDetails
from prodex.notebook.products.table_or_gallery import TableOrGallery
from prodex.notebook.shared.long_tasks import WorkRow
from prodex.notebook.shared.panel import (
    Fold,
    Panel,
    button,
    html,
    message_html,
    row,
    show_if,
    status_html,
    styled,
)
from prodex.notebook.shared.selection_bar import SelectionBar
from prodex.notebook.shared.state import Exploration
from prodex.progress import PATIENCE, Reporter
from prodex.quality import Audit
from prodex.selection import Code, Selection
from prodex.service import Client
from prodex.service.connection import service_given

#: Facets that are open at first: counting the values of the others is put off until somebody opens them.
_OPEN = ("market", "missing", "owner", "brand")
#: Seconds without another letter before a search begins.
_TYPING_PAUSE = 0.3


class CatalogExplorer(Panel):
    """Filter, search, sort, select and export the products of a catalogue.

    Parameters
    ----------
    catalog
        The catalogue; may be left out with an exploration, which has one.
    audit
        The audit of its quality: adds grades and scores.
    exploration
        The state to share with other panels; by default a new one.
    service
        Where corrections of many products are sent; without one they are only previewed.

    Attributes
    ----------
    selected
        Ids of the selected products, in the order of selection.
    exploration
        The state: the catalogue, and the conditions that filter it.
    view
        The products: as a table, or by their pictures.

    Examples
    --------
    >>> import prodex
    >>> catalog = prodex.flatten([{"id": 7, "brand": {"code": "ACME"}}, {"id": 8}])
    >>> explorer = CatalogExplorer(catalog)
    >>> explorer.exploration.conditions = explorer.exploration.conditions.toggled("brand", "ACME")
    >>> explorer.catalog.products["product_id"].tolist()
    ['7']
    """

    selected: Instance[tuple[str, ...]] = Tuple()

    def __init__(
        self,
        catalog: Catalog | None = None,
        *,
        audit: Audit | None = None,
        exploration: Exploration | None = None,
        service: Client | None = None,
    ) -> None:
        super().__init__()
        self.add_class("explorer")
        self.exploration: Exploration = Exploration.shared(catalog, audit, exploration, "CatalogExplorer")
        self._service = (
            None if service is None else service_given(service, "CatalogExplorer(service=service)")
        )
        self._filter: ProductFilter | None = None
        self._words, self._shown = "", 0
        self._make()
        self._connect()
        self._refresh()

    @property
    def catalog(self) -> Catalog:
        """The catalogue of the products that meet the conditions."""
        return self.exploration.chosen

    def focus(self) -> None:
        """Put the focus into the search field."""
        self._search_field.focus()

    def gallery_by(self, facet: str) -> None:
        """Show the products by their pictures, the first ones of each value of a facet.

        Raises
        ------
        InputError
            When the catalogue has no such facet.
        """
        self.view.show_by(facet)

    def _make(self) -> None:
        self._search_field = w.Text(
            description="Search",
            placeholder="words in texts, brand or owner, or a GTIN",
            tooltip=HELP,
            layout=w.Layout(width="100%"),
        )
        self._hint = html("", "muted", "hint")
        self._drawer = styled(w.ToggleButton(description="Filters", layout=w.Layout(width="auto")), "drawer")
        self.details: TableDetails = TableDetails(self, self.exploration, self._correct)
        self.table: ProductTable = self.details.table
        self.bar: SelectionBar = SelectionBar(self, self.exploration, look=self._look, take=self._take_view)
        self.view: TableOrGallery = TableOrGallery(
            panel=self,
            table=self.table,
            edit=self._correct,
            pressed=self._keep_value,
            chosen=lambda: self.exploration.chosen_words,
        )
        self.facets: FacetList = FacetList(self, self._refresh, open_first=_OPEN)
        self.facets.widget.answer("gallery", self.gallery_by)
        self._card = ProductCard(exploration=self.exploration)
        self._close = button("✕ Close", "quiet", "close", tooltip="Close the card (Escape)")
        self._edit = button("✎ Correct a text", "quiet", tooltip="Open the first text to correct (e)")
        self._apart = html("", "apart")
        # The bar stays in sight while the card is scrolled, and with it whose card this is not.
        bar = styled(w.VBox([row(self._edit, self._close, look="card-keys"), self._apart]), "card-bar")
        self.pane: w.VBox = styled(w.VBox([bar, self._card]), "pane")
        self._completing: WorkRow[Searched] = WorkRow(
            self, self._complete, self._not_found, cancelled=self._leave, after=PATIENCE, is_dropped=True
        )
        self._help = w.ToggleButton(description="?", tooltip="How to search", layout=w.Layout(width="auto"))
        how = html(f"<span class='muted'>{escape(HELP)}</span>", "search-help")
        show_if(how, False)
        self.on(self._help, lambda change: show_if(how, change["new"]), "value")
        search = row(
            *(self._drawer, self._search_field, self._help, self._hint, self.view.switch), look="search"
        )
        self._export = ExportBox(panel=self, gather=self._gather)
        self._columns = Fold("Columns and rows", [self.table.settings, self.table.column_picker])
        self.correcting: Fold = Fold(correct_title(0), [])
        self.bulk: BulkCorrection | None = None
        folds = row(self._columns, Fold("Export", [self._export]), look="folds")
        main = styled(w.VBox([self.view, folds, self.correcting]), "main")
        self._sides = row(self.facets.widget, main, self.pane, look="sides")
        self.fill(search, how, self._completing, self.bar, self._sides)
        self._show_pane()

    def _connect(self) -> None:
        self._looking: Runner[Searched] = Runner(self._take, self._not_found, delay=_TYPING_PAUSE)
        self._reading_facets: Runner[ProductFilter] = Runner(
            self._take_facets, self.show_error, is_patient=True
        )
        link((self.exploration, "selected"), (self, "selected"))
        link((self.exploration, "selected"), (self.view, "selected"))
        link((self.exploration, "product_id"), (self.view, "product_id"))
        self.on(self.exploration, lambda change: self._export.offer_only(change["new"]), "selected")
        self.on(self.view.switch, lambda _: show_if(self._columns, not self.view.is_gallery), "value")
        self.on(self._search_field, lambda _: self._typed(), "value")
        self.on(self.facets, lambda change: self._set(change["new"]), "conditions")
        self.on(self._close, lambda _: self._close_card())
        self.on(self._edit, lambda _: self._correct(str(self.exploration.product_id)))
        self.on(self._drawer, lambda _: self._show_pane(), "value")
        self.on(self.exploration, lambda _: self._show_pane(), "product_id")
        self.on(self.exploration, lambda _: self._take_focus(), "focus_on")
        self.exploration.observe(lambda _: self._refresh(), ["catalog", "audit", "conditions"])
        self.on(self.bar.chips, lambda _: self._keep_focus(), "clicks")
        self.on(self.correcting, lambda change: self._open_bulk(is_open=change["new"]), "is_open")
        self.on(self.exploration, lambda _: self._title_bulk(), "selected")

    def _gather(self, only: tuple[str, ...] | None) -> tuple[ShownTable, Catalog]:
        """Return what an export writes: the products that are shown, or only some."""
        if only is None:
            return self.table.shown, self.catalog
        whole = self.exploration.catalog
        chosen = Chosen.again(whole.chosen, len(whole), ["selected one by one"])
        return self.table.shown_of(only), replace(whole.where(product_id=list(only)), chosen=chosen)

    def _open_bulk(self, *, is_open: bool) -> None:
        """Make the form when it is first opened: most users never open it."""
        if self.bulk is None:
            self.bulk = BulkCorrection(self, self.exploration, self._service)
            self.correcting.body.children = (self.bulk,)
        self.bulk.is_open = is_open

    def _title_bulk(self) -> None:
        self.correcting.title = correct_title(len(self.exploration.selected) or self._shown)

    def _show_pane(self) -> None:
        """Show the card beside the table as long as a product is open, and the facets of a narrow panel on request."""
        is_open = self.exploration.product_id is not None
        show_if(self.pane, is_open)
        self._say_if_apart()
        for name, is_on in (("with-card", is_open), ("with-facets", self._drawer.value)):
            (self._sides.add_class if is_on else self._sides.remove_class)(name)

    def _say_if_apart(self) -> None:
        """Say it on the card if its product is not among those of the table: it would be taken for one of them."""
        product_id = self.exploration.product_id
        is_apart = product_id is not None and not self.table.lists(product_id)
        self._apart.value = message_html("This product is not in the list beside it.") if is_apart else ""

    def _close_card(self) -> None:
        # The button that was pressed is hidden with the card, and would leave the focus nowhere.
        self.view.focus(self.exploration.product_id)
        self.exploration.product_id = None

    def _open(self) -> ProductFilter:
        """Show the facets and columns of the catalogue, unless it is the one that was shown before."""
        now = self.exploration.filter
        if self._filter is not now:
            self._filter = now
            self.view.hold(now)
            self._export.exporter.show_message("")
            self.details.hold(now)
            self.facets.hold(now)
        return now

    def _set(self, conditions: Selection) -> None:
        self.exploration.conditions = conditions

    def _keep_value(self, facet: str, code: Code) -> None:
        self._set(self.exploration.conditions.choosing(facet, (code,)))

    def _correct(self, product_id: str) -> None:
        """Open the card of a product at the text that is to be corrected."""
        self.exploration.product_id = product_id
        self.exploration.focus_on = "text"

    def _take_focus(self) -> None:
        """Put the focus back on the row whose text was corrected."""
        if self.exploration.focus_on == "table":
            self.exploration.focus_on = ""
            self.view.focus(self.exploration.product_id)

    def _keep_focus(self) -> None:
        """Move the focus when the last condition was removed by the button that had it, which is hidden then."""
        if not self.exploration.conditions:
            self.focus()

    def _look(self, name: str, conditions: Selection) -> SavedView:
        by = self.table.order
        return SavedView(name, conditions, self.table.columns, by.column, descending=by.descending)

    def _take_view(self, view: SavedView) -> None:
        """Show the columns and the order of a view, as far as this catalogue has them."""
        if view.columns:
            self.table.column_picker.take(view.columns)
        if view.sorted_by in ("", *self.table.columns):
            self.table.order = Order(view.sorted_by, view.descending)

    def _typed(self) -> None:
        words = self._search_field.value.strip()
        if words == self.exploration.conditions.words:
            self._looking.forget()
            self._hint.value = ""
        elif not words:
            self._looking.forget()
            self.exploration.conditions = self.exploration.conditions.searching("")
        else:
            self._look_for(words)

    def _look_for(self, words: str) -> None:
        self._hint.value = status_html("Searching …")
        self._looking.ask(search_quickly, self.exploration.filter, words)

    def _take(self, found: Searched) -> None:
        """Show what a search found, unless another catalogue is shown by now."""
        # The filter itself is compared: each catalogue has its own.
        if found[0] is not self.exploration.filter:
            return
        conditions = self.exploration.conditions.searching(found[1])
        if conditions == self.exploration.conditions:
            self._refresh()
        else:
            self.exploration.conditions = conditions
        if self._searched_in():
            self._completing.start(partial(search_everywhere, *found), "Reading texts")

    def _leave(self) -> None:
        self._hint.value = status_html(f"Searched in {LABELS} only.")

    def _complete(self, found: Searched) -> None:
        if found == (self.exploration.filter, self.exploration.conditions.words):
            self._refresh()

    def _searched_in(self) -> str:
        """Return what the words were searched in, in words, unless that was everything."""
        found = self.exploration.filter.found
        if found is None or found.is_complete or found.words != self.exploration.conditions.words:
            return ""
        return f"Searched in {found.searched} only: the texts are still read …"

    def _not_found(self, error: BaseException) -> None:
        self._hint.value = ""
        self.show_error(error)

    def _refresh(self) -> None:
        """Show the products that meet the conditions; a search for words runs in the background first."""
        with self.guarded():
            now = self._open()
            words = self.exploration.conditions.words
            if words != self._words:
                self._words = words
                if self._search_field.value.strip() != words:
                    self._search_field.value = words
            if not now.has_found(words):
                self._look_for(words)
                return
            partly = self._searched_in()
            self._hint.value = status_html(partly) if partly else ""
            # A closed facet shows no counts, and to count all of them takes most of the time of a click.
            wanted = [name for name in self.facets.open if name in now.facets or column_of(name)]
            ready = [name for name in wanted if now.has_at_once(name)]
            counted = [name for name in ready if name in now.facets]
            self._draw(now.narrow(self.exploration.conditions, counted))
            if late := [name for name in wanted if name not in ready]:
                self._reading_facets.ask(_read_facets, now, late)

    def _take_facets(self, read: ProductFilter) -> None:
        if read is self.exploration.filter:
            self._refresh()
            for product_id in self.table.on_page[:1]:
                self._card.prepare(product_id)

    def _draw(self, left: FilterResult) -> None:
        self.facets.show(self.exploration.conditions, left)
        self.view.show(left.mask, self.details.known(left))
        self._say_if_apart()
        self._export.count(len(left))
        self._shown = len(left)
        self._title_bulk()
        self.details.complete()


def _read_facets(filter_: ProductFilter, facets: list[str]) -> ProductFilter:
    filter_.read(facets)
    return filter_


#: A filter that has searched, and what was typed.
Searched: TypeAlias = tuple[ProductFilter, str]

#: The texts of so many products are read in a second or two; of more, the labels are searched first.
_AT_ONCE = 5_000


def search_quickly(filter_: ProductFilter, words: str) -> Searched:
    """Search everywhere, or in labels alone where the texts have not been read and there are many of them."""
    if filter_.search.index.is_ready or len(filter_.products) <= _AT_ONCE:
        filter_.find(words)
    else:
        filter_.find_in_labels(words)
    return filter_, words


def search_everywhere(filter_: ProductFilter, words: str, reporter: Reporter) -> Searched:
    """Search everywhere, and say how far the texts are read.

    Examples
    --------
    >>> import prodex
    >>> filter_ = ProductFilter(prodex.flatten([{"id": 7, "gtin": "03036811359935"}]))
    >>> heard = []
    >>> _ = search_everywhere(filter_, "3036811359935", Reporter(lambda one: heard.append(str(one).split(",")[0])))
    >>> heard[-1], filter_.found.mask.tolist()
    ('Reading texts: 1 of 1 parts of the catalogue', [True])
    """
    with reporter.phase("Reading texts", "parts of the catalogue") as show:
        filter_.find(words, show)
    return filter_, words
