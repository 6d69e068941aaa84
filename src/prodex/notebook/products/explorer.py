"""The explorer of a catalogue: facets with counts, a search, and the matching products as a table."""

from __future__ import annotations

from typing import Any, TypeAlias

import ipywidgets as w
import pyarrow as pa
import pyarrow.compute as pc
from traitlets import Instance, Tuple, link

from prodex.catalog import Catalog
from prodex.notebook.background import LatestTask
from prodex.notebook.conditions import Conditions
from prodex.notebook.exploration import Exploration
from prodex.notebook.panel import Fold, Panel, html, row, status_html, styled
from prodex.notebook.products.export import ExportBox
from prodex.notebook.products.facet_box import FacetBox
from prodex.notebook.products.facet_counts import Facets, FilterResult, apply_filters
from prodex.notebook.products.facets import Facet
from prodex.notebook.products.product_columns import Mask, ProductColumns
from prodex.notebook.products.product_table import ProductTable
from prodex.notebook.products.removable_buttons import ActiveFilters
from prodex.notebook.products.search import Search
from prodex.quality import Audit

#: Facets that are open at first: counting the values of the others is put off until somebody opens them.
_OPEN = ("grade", "kind", "brand")
#: Seconds without another letter before a search begins.
_TYPING_PAUSE = 0.3

_Found: TypeAlias = tuple[Search, str, Mask]
_State: TypeAlias = tuple[Catalog, Audit | None, Conditions]


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

    Attributes
    ----------
    selected
        Ids of the selected products, in the order of selection.
    exploration
        The state: the catalogue, and the conditions that filter it.

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
    ) -> None:
        super().__init__("Products")
        self.add_class("explorer")
        self.exploration: Exploration = _shared(catalog, audit, exploration)
        self._boxes: dict[str, FacetBox] = {}
        self._look = (w.Layout(width="100%", height="auto"), w.ButtonStyle())
        self._found: _Found | None = None
        self._left: tuple[_State, Catalog] | None = None
        self._words = ""
        self._make()
        self._hold(ProductColumns(self.exploration.catalog, self.exploration.audit))
        self._connect()
        self._refresh()

    @property
    def catalog(self) -> Catalog:
        """The catalogue of the products that meet the conditions."""
        # Asked for again and again (by `catalog`, by an export), and made only when something has changed.
        state = (self.exploration.catalog, self.exploration.audit, self.exploration.conditions)
        if self._left is None or self._left[0] != state:
            self._open()
            self._left = (state, _chosen(self._products, self._narrow().mask))
        return self._left[1]

    def focus(self) -> None:
        """Put the focus into the search field."""
        self._search_field.focus()

    def _make(self) -> None:
        self._search_field = w.Text(
            description="Search",
            placeholder="words in texts, brand or owner, or a GTIN",
            layout=w.Layout(width="100%"),
        )
        self._hint = html("", "muted", "hint")
        self._filters = ActiveFilters(panel=self)
        self._table = ProductTable(panel=self)
        self._facets = styled(w.VBox(), "facets")
        search = row(self._search_field, self._hint, look="search")
        self._export = ExportBox(panel=self, gather=lambda: (self._table.shown, self.catalog))
        folds = (Fold("Columns", [self._table.column_picker]), Fold("Export", [self._export]))
        main = styled(w.VBox([search, self._filters, *self._table.head, *folds, self._table]), "main")
        self.fill(row(self._facets, main, look="sides"))

    def _connect(self) -> None:
        self._looking: LatestTask[_Found] = LatestTask(_find, self._take, self._not_found, _TYPING_PAUSE)
        link((self.exploration, "selected"), (self, "selected"))
        link((self.exploration, "selected"), (self._table, "selected"))
        link((self.exploration, "product_id"), (self._table, "product_id"))
        self.on(self._search_field, lambda _: self._typed(), "value")
        self.on(self._filters, self._filters_changed, "conditions")
        self.exploration.observe(lambda _: self._refresh(), ["catalog", "audit", "conditions"])

    def _open(self) -> None:
        """Read the catalogue, unless it is the one that was read before."""
        catalog, audit = self.exploration.catalog, self.exploration.audit
        if self._products.catalog is not catalog or self._products.audit is not audit:
            self._hold(ProductColumns(catalog, audit))

    def _hold(self, products: ProductColumns) -> None:
        self._products = products
        self._values = Facets(self._products)
        self._search = Search(self._products)
        self._found = None
        self._table.hold(self._products)
        for name, facet in self._values.declared.items():
            if name not in self._boxes:
                self._boxes[name] = self._box(facet)
        # Boxes are kept when the catalogue changes, so that those which are open stay open.
        self._facets.children = tuple(self._boxes[name] for name in self._values)

    def _box(self, facet: Facet) -> FacetBox:
        box = FacetBox(panel=self, facet=facet, look=self._look, is_open=facet.name in _OPEN)
        self.on(box, lambda change: self._choose(facet.name, change["new"]), "chosen")
        self.on(box, lambda _: self._draw_facets(self._narrow()), "is_open")
        return box

    def _choose(self, facet: str, codes: tuple[str | None, ...]) -> None:
        self.exploration.conditions = self.exploration.conditions.choosing(facet, codes)

    def _filters_changed(self, change: dict[str, Any]) -> None:
        self.exploration.conditions = change["new"]
        if not change["new"]:  # the button that was clicked is hidden, and would leave the focus nowhere
            self.focus()

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
        self._looking(self._search, words)

    def _take(self, found: _Found) -> None:
        """Show what a search found, unless another catalogue is shown by now."""
        # The search itself is compared: each catalogue has its own.
        if found[0] is not self._search:
            return
        self._found = found
        self._hint.value = ""
        conditions = self.exploration.conditions.searching(found[1])
        if conditions == self.exploration.conditions:
            self._refresh()
        else:
            self.exploration.conditions = conditions

    def _not_found(self, error: BaseException) -> None:
        self._hint.value = ""
        self.show_error(error)

    def _refresh(self) -> None:
        """Show the products that meet the conditions; a search for words runs in the background first."""
        with self.guarded():
            self._open()
            words = self.exploration.conditions.words
            if words != self._words:
                self._words = words
                if self._search_field.value.strip() != words:
                    self._search_field.value = words
            if words and (self._found is None or self._found[:2] != (self._search, words)):
                self._look_for(words)
                return
            self._hint.value = ""
            self._draw(self._narrow())

    def _narrow(self) -> FilterResult:
        conditions = self.exploration.conditions
        others = []
        if conditions.words:
            if self._found is None or self._found[:2] != (self._search, conditions.words):
                self._found = _find(self._search, conditions.words)
            others.append(self._found[2])
        others += [self._products.failing(failing.checks) for failing in conditions.failing]
        # A closed facet shows no counts, and to count the values of all of them takes most of the time of a click.
        counted = [name for name in self._values if self._boxes[name].is_open]
        return apply_filters(self._values, conditions, len(self._products), others, counted)

    def _draw_facets(self, left: FilterResult) -> None:
        for name in self._values:
            chosen = tuple(self.exploration.conditions.facets.get(name, ()))
            if name in left.counts:
                self._boxes[name].show(chosen, self._values[name], left.counts[name])
            else:
                self._boxes[name].show(chosen)

    def _draw(self, left: FilterResult) -> None:
        self._draw_facets(left)
        self._filters.show(self.exploration.conditions, self._values)
        self._table.show(left.mask)
        self._export.count(len(left))


def _find(search: Search, words: str) -> _Found:
    return search, words, search.find(words)


def _chosen(products: ProductColumns, mask: Mask) -> Catalog:
    # The whole catalogue keeps its folder and its origin, so that an export or an audit of it names the snapshot.
    if mask.all():
        return products.catalog
    # By id and not by place: `where` reads only the parts that have one of them.
    ids = products.ids.filter(pa.array(mask))
    return products.catalog.where(pc.field("product_id").isin(ids))


def _shared(catalog: Catalog | None, audit: Audit | None, exploration: Exploration | None) -> Exploration:
    if exploration is None:
        return Exploration.of(catalog, audit, "CatalogExplorer")
    if catalog is not None and catalog is not exploration.catalog:
        exploration.look_at(catalog, audit)
    elif audit is not None:
        exploration.audit = audit
    return exploration
