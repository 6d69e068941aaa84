"""Everything about a catalogue in one line: its products, their quality, its snapshots, and a query for more."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ipywidgets as w
from traitlets import Instance, Tuple

from prodex.catalog import Catalog
from prodex.errors import InputError
from prodex.notebook.audit_panel import AuditPanel
from prodex.notebook.exploration import Exploration
from prodex.notebook.explorer import CatalogExplorer
from prodex.notebook.panel import Panel
from prodex.notebook.product_card import ProductCard
from prodex.notebook.query_panel import QueryPanel
from prodex.notebook.snapshot_panel import SnapshotPanel
from prodex.quality import Audit
from prodex.service import Client
from prodex.store.snapshot import open_snapshot

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
        Trait: ids of the products that were chosen.
    """

    selected: Instance[tuple[str, ...]] = Tuple()

    def __init__(self, catalog: Catalog, *, audit: Audit | None = None, service: Client | None = None) -> None:
        super().__init__()
        self.exploration = Exploration(catalog=catalog, audit=audit)
        w.link((self.exploration, "selected"), (self, "selected"))
        makers: dict[str, Callable[[], Any]] = {
            _PRODUCTS: self._products,
            _QUALITY: lambda: AuditPanel(exploration=self.exploration),
            _SNAPSHOTS: lambda: SnapshotPanel(exploration=self.exploration),
        }
        if service is not None:
            makers[_QUERY] = lambda: self._query(service)
        self._makers = makers
        self._places = {name: w.VBox() for name in makers}
        self._switch = w.ToggleButtons(options=list(makers), value=_PRODUCTS)
        self._switch.add_class("sections")
        self.on(self._switch, lambda change: self._show(change["new"]), "value")
        self.on(self.exploration, lambda _: self._products_first(), "conditions")
        self.fill(self._switch, *self._places.values())
        self._show(_PRODUCTS)

    @property
    def catalog(self) -> Catalog:
        """The products that the conditions leave."""
        self._show(self._switch.value)
        return self._explorer.catalog

    @property
    def audit(self) -> Audit | None:
        """What is known of their quality."""
        return self.exploration.audit

    def _products(self) -> Any:
        self._explorer = CatalogExplorer(exploration=self.exploration)
        return w.VBox([self._explorer, ProductCard(exploration=self.exploration)])

    def _query(self, service: Client) -> Any:
        panel = QueryPanel(service)
        self.on(panel, lambda change: self.exploration.look_at(change["new"]), "catalog")
        return panel

    def _products_first(self) -> None:
        """Show the products when somebody asked another panel for them."""
        if self.exploration.conditions.failing is not None and self._switch.value != _PRODUCTS:
            self._switch.value = _PRODUCTS

    def _show(self, name: str) -> None:
        for other, place in self._places.items():
            place.layout.display = "" if other == name else "none"
        place = self._places[name]
        if not place.children:
            place.children = (self._makers[name](),)


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
    """
    if isinstance(catalog, str | Path):
        catalog = open_snapshot(catalog)
    if not isinstance(catalog, Catalog):
        raise InputError(
            f"explore() takes a catalogue or the name of a snapshot, not {type(catalog).__name__}. "
            "prodex.flatten(records) makes a catalogue."
        )
    return Explore(catalog, audit=audit, service=service)
