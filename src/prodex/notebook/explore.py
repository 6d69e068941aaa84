"""All panels of a catalogue in one: its products, their quality and coverage, snapshots, a query for another."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ipywidgets as w
from traitlets import Instance, Tuple, Unicode, link

from prodex.catalog import Catalog
from prodex.catalog.origin import scope_of
from prodex.messages import counted
from prodex.notebook.audit.panel import AuditPanel
from prodex.notebook.corrections.panel import CorrectionsPanel
from prodex.notebook.coverage.panel import CoveragePanel
from prodex.notebook.products.explorer import CatalogExplorer
from prodex.notebook.query.panel import QueryPanel
from prodex.notebook.shared.panel import OwnChange, Panel, button, html, row, show_if, status_html, styled
from prodex.notebook.shared.state import Exploration
from prodex.notebook.snapshots.panel import SnapshotPanel
from prodex.notebook.snapshots.saved import SnapshotEntry
from prodex.quality import Audit
from prodex.service import Client
from prodex.service.connection import service_given
from prodex.store.snapshot import catalog_given
from prodex.untrusted_text import cut

#: Characters of the name of the catalogue before.
_LONGEST = 40
_PRODUCTS, _QUALITY, _COVERAGE = "Products", "Quality", "Coverage"
_CORRECTIONS, _SNAPSHOTS, _LOAD = "Corrections", "Snapshots", "Load"


class Explore(Panel):
    """The panels as sections over one `Exploration`; each is made when its section is first opened.

    Parameters
    ----------
    catalog
        The catalogue to explore.
    audit
        The audit of its quality; without one, the section Quality offers to run one.
    service
        The service from which the section Load loads another catalogue, and to which corrections are sent.

    Attributes
    ----------
    exploration
        The state that all panels share.
    selected
        Ids of the selected products.
    section
        The section that is shown: "Products", "Quality", "Coverage", "Corrections", "Snapshots" or "Load".
    places
        The box of each section.

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
        self._service = service
        self.exploration: Exploration = Exploration(catalog=catalog, audit=audit)
        self._makers: dict[str, Callable[[], tuple[w.Widget, ...]]] = {
            _PRODUCTS: self._products,
            _QUALITY: lambda: (AuditPanel(exploration=self.exploration, service=service),),
            _COVERAGE: lambda: (CoveragePanel(exploration=self.exploration),),
            _CORRECTIONS: lambda: (CorrectionsPanel(exploration=self.exploration, service=service),),
            _SNAPSHOTS: lambda: (SnapshotPanel(exploration=self.exploration),),
        }
        if service is not None:
            self._makers[_LOAD] = lambda: (self._load(service),)
        self.places: dict[str, Any] = {name: w.VBox() for name in self._makers}
        self._switch: w.ToggleButtons = w.ToggleButtons(options=list(self._makers))
        self._switch.add_class("sections")
        self._named = html("", "catalogue")
        self.back: w.Button = button("", "link")
        self._relabelling = OwnChange()
        self.on(self._switch, lambda change: self._choose(change["new"]), "value")
        link((self.exploration, "selected"), (self, "selected"))
        self.on(self, lambda _: self._show(), "section")
        self.on(self.exploration, lambda _: self._products_first(), "conditions")
        self.on(self.exploration, lambda _: self._show_card(), "product_id")
        self.on(self.exploration, lambda _: self._count_corrections(), "corrections", "unconfirmed")
        self.on(self.exploration, lambda _: self._name_catalogue(), "catalog")
        self.on(self.back, lambda _: self._go_back())
        self._count_corrections()
        self._name_catalogue()
        self.fill(
            row(
                self._switch,
                styled(w.VBox([self._named, self.back]), "shown-catalogue"),
                look="sections-line",
            ),
            *self.places.values(),
        )
        self._show()

    @property
    def catalog(self) -> Catalog:
        """The catalogue of the products that meet the filters."""
        return self._explorer.catalog

    @property
    def audit(self) -> Audit | None:
        """The audit of their quality, or None."""
        return self.exploration.audit

    def _products(self) -> tuple[w.Widget, ...]:
        self._explorer = CatalogExplorer(exploration=self.exploration, service=self._service)
        return (self._explorer,)

    def _load(self, service: Client) -> QueryPanel:
        panel = QueryPanel(service, known=self.exploration.catalog)
        self.on(panel, lambda change: self._loaded(change["new"]), "catalog")
        return panel

    def _loaded(self, catalog: Catalog | None) -> None:
        if catalog is None or self.exploration.catalog is catalog:
            return
        self.exploration.look_at(catalog)
        (panel,) = self.places[_LOAD].children
        panel.loading.add(
            f"All sections show these products now. “{self.back.description}” at the top returns."
        )

    def _go_back(self) -> None:
        """Show the catalogue before again, with its audit; this one is the one before then."""
        if self.exploration.former is not None:
            self.exploration.look_at(*self.exploration.former)

    def _name_catalogue(self) -> None:
        """Name the catalogue that all sections show: a load replaces it, wherever somebody is looking."""
        self._named.value = status_html(_catalog_title(self.exploration.catalog))
        former = self.exploration.former
        show_if(self.back, former is not None)
        if former is not None:
            self.back.description = f"Back to {_catalog_label(former[0])}"
            self.back.tooltip = f"Show {_catalog_title(former[0])} again"

    def _products_first(self) -> None:
        """Open the products when a figure of another section was pressed, and move the focus there."""
        state = self.exploration
        if state.conditions and not state.refining and self.section != _PRODUCTS:
            self.section = _PRODUCTS
            self._explorer.focus()

    def _show_card(self) -> None:
        """Open the products when a correction is pressed: the card is among them."""
        if self.exploration.product_id is not None and self.section == _CORRECTIONS:
            self.section = _PRODUCTS

    def _count_corrections(self) -> None:
        state = self.exploration
        number = len(state.corrections) + sum(len(sent.corrections) for sent in state.unconfirmed)
        titles = [
            f"{name} ({number:,})" if name == _CORRECTIONS and number else name for name in self._makers
        ]
        # ipywidgets selects the first option whenever the options change.
        with self._relabelling:
            self._switch.options = list(zip(titles, self._makers, strict=True))
            self._switch.value = self.section

    def _choose(self, section: str) -> None:
        if not self._relabelling:
            self.section = section

    def _show(self) -> None:
        # `section` can be set from Python as well.
        self._switch.value = self.section
        for name, place in self.places.items():
            place.layout.display = "" if name == self.section else "none"
        place = self.places[self.section]
        # Made only now: a panel of an audit has over a hundred widgets, and many users never open it.
        if not place.children:
            place.children = self._makers[self.section]()
        # What nobody sees does not follow each click: to count again takes most of the time of one.
        for name in (_QUALITY, _COVERAGE):
            for panel in self.places[name].children:
                panel.is_shown = name == self.section
        if self.section == _SNAPSHOTS:
            for panel in place.children:
                panel.show_unfinished()


def _catalog_label(catalog: Catalog) -> str:
    if catalog.folder is None:
        return counted(len(catalog), "product")
    return f"{cut(catalog.folder.parent.name, _LONGEST)}, {_snapshot_entry(catalog, catalog.folder).moment}"


def _snapshot_entry(catalog: Catalog, folder: Path) -> SnapshotEntry:
    return SnapshotEntry(
        folder.parent.name, folder.name, str(folder), len(catalog), None, catalog.complete, ""
    )


def _catalog_title(catalog: Catalog) -> str:
    notes = "" if catalog.complete else ", incomplete"
    if (scope := scope_of(catalog.chosen, len(catalog))) is not None:
        notes += f", a selection: {scope}"
    folder = catalog.folder
    if folder is None:
        return f"{counted(len(catalog), 'product')}, in memory{notes}"
    return f"{_snapshot_entry(catalog, folder).title}{notes}"


def explore(
    catalog: Catalog | str | Path, *, audit: Audit | None = None, service: Client | None = None
) -> Explore:
    """Explore a catalogue in a notebook: filter, search, select, audit and compare.

    Parameters
    ----------
    catalog
        The catalogue, or the name of a snapshot.
    audit
        The audit of its quality; without one, the panel offers to run one.
    service
        From `prodex.connect`: adds a query that loads another catalogue.

    Returns
    -------
    Explore
        A widget. It exposes `selected`, the ids of the selected products, as a traitlet; `catalog` is the catalogue of
        the products that meet the filters, `audit` the audit.

    Raises
    ------
    InputError
        When an argument is of another kind.
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
