"""Everything about a catalogue in one line: its products, their quality, its snapshots, and a query for more."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import ipywidgets as w
from traitlets import Instance, Tuple, Unicode, link

from prodex.catalog import Catalog
from prodex.notebook.audit.panel import AuditPanel
from prodex.notebook.card.panel import ProductCard
from prodex.notebook.exploration import Exploration
from prodex.notebook.panel import Panel
from prodex.notebook.products.explorer import CatalogExplorer
from prodex.notebook.query.panel import QueryPanel
from prodex.notebook.snapshots.panel import SnapshotPanel
from prodex.quality import Audit
from prodex.service import Client
from prodex.service.connection import service_given
from prodex.store.snapshot import catalog_given

_PRODUCTS, _QUALITY, _SNAPSHOTS, _QUERY = "Products", "Quality", "Snapshots", "Query"


class Explore(Panel):
    """The panels side by side, over one `Exploration`; each is made when it is first looked at.

    Parameters
    ----------
    catalog
        What to look at.
    audit
        What is known of its quality; without one the panel offers to make one.
    service
        Where a query can load more from.

    Attributes
    ----------
    exploration
        What all panels share.
    selected
        Ids of the products that were chosen.
    section
        Which panel is shown: "Products", "Quality", "Snapshots" or "Query".
    places
        Where the panels stand, by section.

    Examples
    --------
    >>> import prodex
    >>> explored = prodex.explore(prodex.flatten([{"id": 7}]))
    >>> explored.section
    'Products'
    """

    selected: Instance[tuple[str, ...]] = Tuple()
    section: Unicode[str, str | bytes] = Unicode(_PRODUCTS)

    def __init__(
        self, catalog: Catalog, *, audit: Audit | None = None, service: Client | None = None
    ) -> None:
        super().__init__()
        self.exploration = Exploration(catalog=catalog, audit=audit)
        self._makers: dict[str, Callable[[], tuple[w.Widget, ...]]] = {
            _PRODUCTS: self._products,
            _QUALITY: lambda: (AuditPanel(exploration=self.exploration),),
            _SNAPSHOTS: lambda: (SnapshotPanel(exploration=self.exploration),),
        }
        if service is not None:
            self._makers[_QUERY] = lambda: (self._query(service),)
        self.places = {name: w.VBox() for name in self._makers}
        switch = w.ToggleButtons(options=list(self._makers))
        switch.add_class("sections")
        link((switch, "value"), (self, "section"))
        link((self.exploration, "selected"), (self, "selected"))
        self.on(self, lambda _: self._show(), "section")
        self.on(self.exploration, lambda _: self._products_first(), "conditions")
        self.fill(switch, *self.places.values())
        self._show()

    @property
    def catalog(self) -> Catalog:
        """The products that the filters leave."""
        return self._explorer.catalog

    @property
    def audit(self) -> Audit | None:
        """What is known of their quality."""
        return self.exploration.audit

    def _products(self) -> tuple[w.Widget, ...]:
        self._explorer = CatalogExplorer(exploration=self.exploration)
        return self._explorer, ProductCard(exploration=self.exploration)

    def _query(self, service: Client) -> QueryPanel:
        panel = QueryPanel(service)
        self.on(panel, lambda change: self._loaded(change["new"]), "catalog")
        return panel

    def _loaded(self, catalog: Catalog | None) -> None:
        if catalog is not None:
            self.exploration.look_at(catalog)

    def _products_first(self) -> None:
        """Show the products when another panel asked for some of them."""
        if self.exploration.conditions and self.section != _PRODUCTS:
            self.section = _PRODUCTS
            self._explorer.focus()

    def _show(self) -> None:
        for name, place in self.places.items():
            place.layout.display = "" if name == self.section else "none"
        place = self.places[self.section]
        if not place.children:
            place.children = self._makers[self.section]()


def explore(
    catalog: Catalog | str | Path, *, audit: Audit | None = None, service: Client | None = None
) -> Explore:
    """Look at a catalogue in a notebook: filter, search, choose, judge and compare.

    Parameters
    ----------
    catalog
        The catalogue, or the name of a snapshot.
    audit
        What is known of its quality; without one the panel offers to make one.
    service
        From `prodex.connect`: adds a query, with which another catalogue can be loaded.

    Returns
    -------
    Explore
        A widget. `selected` are the ids of the products chosen, `catalog` what the filters leave, `audit` the audit.

    Raises
    ------
    InputError
        When it is given something else.
    SnapshotNotFound
        When no snapshot has this name.

    Examples
    --------
    >>> import prodex
    >>> explored = prodex.explore(prodex.flatten([{"id": 7}, {"id": 8}]))
    >>> len(explored.catalog), explored.selected
    (2, ())
    """
    catalog = catalog_given(catalog, "explore(catalog)")
    if service is not None:
        service = service_given(service, "explore(catalog, service=service)")
    return Explore(catalog, audit=audit, service=service)
