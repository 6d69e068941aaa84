"""The panel as a widget of a notebook: one anywidget, in Jupyter, in Voila and in marimo."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable
from contextlib import suppress
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from traitlets import Instance, Int, Tuple, Unicode, observe, validate

from prodex.catalog import Catalog
from prodex.compare import Difference
from prodex.errors import InputError, QueryError
from prodex.files.html_file import HtmlFile
from prodex.notebook.app import App
from prodex.notebook.assets import script, style
from prodex.notebook.html_file.write import write_products
from prodex.notebook.saved import in_place_html, saved_html
from prodex.notebook.session.session import Session
from prodex.notebook.views import SECTIONS
from prodex.notebook.views.coverage import coverage_frame
from prodex.notebook.views.load import asked_of, with_query
from prodex.phrases import counted
from prodex.progress import Progress
from prodex.quality import Audit
from prodex.query import ProductQuery
from prodex.selection import Selection
from prodex.service import Client
from prodex.service.connection import service_given
from prodex.store.reading import flatten
from prodex.store.snapshot import catalog_given

if TYPE_CHECKING:
    from traitlets import HasTraits

    class AnyWidget(HasTraits):
        """The widget of anywidget, which has no types: whoever inherits from it would be unknown to editors as well."""

        def __init__(self, **traits: Any) -> None: ...
        def __getattr__(self, name: str) -> Any: ...

else:
    from anywidget import AnyWidget

_LOG = logging.getLogger("prodex")
#: Seconds that a cell waits for what a section reads in the background, so that it is saved with the notebook. Products
#: are shown at once: what is read about them later is not worth a pause.
_READS = 2.0
#: Ids that are told to the page of a notebook, where marimo runs other cells with them; more would be a large message.
_MOST_TOLD = 20_000


#: Sections that find their products themselves.
_WITHOUT_CATALOG = ("load", "snapshots")


def _told(ids: tuple[str, ...], _widget: object) -> list[str]:
    return list(ids) if len(ids) <= _MOST_TOLD else []


class _Ids(Tuple):
    """Product ids, each once; what is none is refused in words."""

    def validate(self, obj: Any, value: Any) -> Any:
        if not isinstance(value, list | tuple):
            raise InputError(
                f"{self.name} must be a list or a tuple of product ids, not {type(value).__name__}. Write "
                f"{self.name} = list(ids), and ('7',) for a single product."
            )
        # Refused here, and not by the session: nobody who observes hears of them.
        if wrong := [one for one in value if not isinstance(one, str)]:
            raise InputError(f"{self.name} holds {wrong[0]!r:.80}. Give product ids, which are text.")
        return super().validate(obj, tuple(dict.fromkeys(value)))


class _Text(Unicode[Any, Any]):
    """A product id, or a name; what is none is refused in words."""

    def validate(self, obj: Any, value: Any) -> Any:
        if not isinstance(value, str | bytes):
            kinds, example = ("text or None", "7") if self.allow_none else ("text", "quality")
            raise InputError(
                f"{self.name} must be {kinds}, not {type(value).__name__}. Write {self.name} = {example!r}."
            )
        return super().validate(obj, value)


class Explore(AnyWidget):
    """A panel: its sections over one catalogue, or one section alone.

    Parameters
    ----------
    session
        What it shows first.
    sections
        Names of its sections; all, unless given.

    Attributes
    ----------
    app
        The panel without its widget.
    selected
        Ids of the selected products, in the order of selection. Set it to select others. Other cells of marimo see it
        as long as there are at most 20,000.
    product_id
        The product whose card is open, or None. Set it to open another.
    section
        The section that is shown: "products", "quality", "coverage", "corrections", "snapshots" or "load".

    Examples
    --------
    >>> import prodex
    >>> explored = Explore(Session(prodex.flatten([{"id": 7}])))
    >>> explored.section
    'products'
    """

    selected: Instance[tuple[str, ...]] = _Ids().tag(sync=True, to_json=_told)
    product_id: Unicode[str | None, str | bytes | None] = _Text(None, allow_none=True)
    section: Unicode[str, str | bytes] = _Text("products")
    #: How often a page of marimo was told that others are selected.
    told: Int[int, int] = Int(0).tag(sync=True)
    # Only what a class declares is sent to the page: anywidget makes a trait of a script that is given, not of a style.
    _css: Unicode[str, str | bytes] = Unicode().tag(sync=True)

    def __init__(self, session: Session, sections: Iterable[str] = ()) -> None:
        if not isinstance(session, Session):
            raise InputError(
                f"Explore shows a session, not {type(session).__name__}. Call prodex.explore(catalog)."
            )
        super().__init__(_esm=script(), _css=style())
        self.app: App = App(session, sections)
        self._is_following = False
        self._follow(self.app.session, self.app.session)
        self.app.observers.append(self._follow)
        self.app.send = lambda message, buffers: self.send(message, list(buffers))
        self.on_msg(lambda _, message, buffers: self.app.hear(message, buffers))

    @property
    def catalog(self) -> Catalog:
        """The catalogue of the products that meet the filters."""
        return self.app.session.chosen

    @property
    def audit(self) -> Audit | None:
        """The audit of their quality, or None."""
        return self.app.session.audit

    @property
    def selection(self) -> Selection:
        """Which products are shown. Set it to show others."""
        return self.app.session.conditions

    @selection.setter
    def selection(self, selection: Selection) -> None:
        if not isinstance(selection, Selection):
            raise InputError(f"selection must be a prodex.Selection, not {type(selection).__name__}.")
        self.app.change(lambda session: session.filtered(selection))

    @property
    def query(self) -> ProductQuery:
        """What is asked of the service in the section Load. Set it to fill its form.

        Raises
        ------
        QueryError
            When something that is typed in the form cannot be understood.
        """
        asked = asked_of(self.app.session)
        if asked.query is None:
            raise QueryError(" ".join(asked.errors.values()))
        return asked.query

    @query.setter
    def query(self, query: ProductQuery) -> None:
        if not isinstance(query, ProductQuery):
            raise InputError(f"query must be a prodex.ProductQuery, not {type(query).__name__}.")
        self.app.change(lambda session: with_query(session, query))

    @property
    def corrections(self) -> tuple[Any, ...]:
        """The corrections that were collected and not sent (`prodex.TextCorrection`)."""
        return self.app.session.corrections

    @property
    def coverage(self) -> pd.DataFrame:
        """The whole grid of the section Coverage: one row for each attribute and column, also of other pages.

        `attrs["counted"]` says in words which products are counted. `attribute`; `language`, missing where texts in any
        count; the code and label of the group, unless columns are languages; `filled` of how many `products`, and
        their ratio as `coverage`; of how many it is `unknown`; and `state`: what the figures mean where they are not
        plainly known ("asked for in part", "not asked for", "not applicable", "not required", "unknown").

        Raises
        ------
        InputError
            When the catalogue could not be read; the section shows why.
        """
        return coverage_frame(self.app.read("coverage"))

    @property
    def difference(self) -> Difference | None:
        """What changed between two snapshots, as it was compared last in the panel; None if nothing was."""
        return self.app.session.difference

    def to_html(self, path: str | Path, *, progress: Progress = None) -> HtmlFile:
        """Write the products that meet the filters as one HTML file for somebody without Python.

        It has the table with the columns that are shown, its filters and search, a card of each product, and what the
        audit found. It opens in a browser from the disk, and asks for nothing: no network, no pictures, no other file.

        Parameters
        ----------
        path
            The file; an existing one is replaced.
        progress
            As for `prodex.verify`, in cards.

        Returns
        -------
        HtmlFile
            Its `path` and `size` in bytes, and as `notes` what it does not have: it has at most 5,000 products, the
            first of the table, and 15 MB.

        Raises
        ------
        InputError
            When the path is that of a folder, or the products do not fit into a file.
        StorageError
            When the disk refuses.

        Examples
        --------
        >>> import prodex, tempfile
        >>> explored = prodex.explore(prodex.flatten([{"id": 7, "brand": {"code": "ACME"}}, {"id": 8}]))
        >>> explored.to_html(f"{tempfile.mkdtemp()}/shop.html").path.name
        'shop.html'
        """
        return write_products(self.app.session, path, progress)

    def wait(self, seconds: float = 60.0) -> None:
        """Wait until nothing is read or done in the background; for scripts and tests."""
        self.app.wait(seconds)

    def __repr__(self) -> str:
        (first, *others) = self.app.sections
        what = "Explore" if others else first.title(self.app.session)
        return f"{what}: {counted(len(self.app.session.catalog), 'product')}. Run this cell to use it."

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any] | None:
        """Return the view of the panel, and what is saved of it for where a notebook is only read."""
        shown: Any = super()  # anywidget has no types
        bundle = shown._repr_mimebundle_(**options)
        if bundle is None:
            return None
        # For some programs anywidget returns what they need to find their scripts as well.
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        saved = {} if self._is_in_marimo() else {"text/html": self._saved()}
        return {**data, "text/plain": repr(self), **saved}

    def _ipython_display_(self) -> None:
        """Show the panel, and below it what takes its place where it cannot be drawn."""
        # IPython is looked up and not imported: only it calls this method, and it is no requirement of prodex.
        publish: Any = sys.modules["IPython.display"].publish_display_data
        # A panel that was closed has no view.
        bundle = None if self.comm is None else self._repr_mimebundle_()
        publish(bundle or {"text/plain": repr(self)})
        if bundle is not None and "text/html" in bundle:
            publish({"text/html": in_place_html(bundle["text/html"])})

    def _saved(self) -> str:
        try:
            view = self.app.view()
            if self.section != "products" or self.product_id is not None:
                # A section that is not done by then shows how far it is.
                with suppress(TimeoutError):
                    self.app.wait(_READS)
                view = self.app.view()
            return saved_html(view, self.app.pictures()) or f"<p>{escape(repr(self))}</p>"
        except Exception:  # noqa: BLE001 - the widget's edge: the panel itself is shown in any case
            _LOG.exception("what is saved of a panel could not be made")
            return f"<p>{escape(repr(self))}</p>"

    def _is_in_marimo(self) -> bool:
        """Whether marimo shows it, which saves nothing of it, and knows which cells use what is selected."""
        return hasattr(self.comm, "ui_element_id")

    def _follow(self, _before: Session, now: Session) -> None:
        before, self._is_following = self.selected, True
        try:
            with self.hold_trait_notifications():
                self.selected, self.product_id, self.section = now.selected, now.product_id, now.section
        finally:
            self._is_following = False
        if self.selected != before and self._is_in_marimo():
            # It runs cells only for what its page changes, so the page is asked to change something.
            self.app.send({"type": "selected", "count": self.told + 1}, [])

    @validate("selected")
    def _there(self, proposal: dict[str, Any]) -> Any:
        """Return what is selected; ids of no product are refused, since all that is said of it counts them."""
        ids: tuple[str, ...] = proposal["value"]
        if self._is_following or not ids:
            return ids
        catalog = self.app.session.catalog
        there = {*catalog.arrow("products", ["product_id"])["product_id"].to_pylist()}
        if unknown := [one for one in ids if one not in there]:
            raise InputError(
                f"selected holds {unknown[0]!r:.80}, which is the id of no product here: {len(unknown):,} of "
                f"{counted(len(ids), 'id')} are not among the {counted(len(catalog), 'product')} of this panel. "
                "Leave them out."
            )
        return ids

    @validate("section")
    def _offered(self, proposal: dict[str, Any]) -> Any:
        """Return the section that is opened: the one of now, if there is no other, so that nobody hears of it."""
        name = proposal["value"]
        is_offered = self._is_following or name in {one.name for one in self.app.sections}
        return name if is_offered else self.section

    @observe("selected", "product_id", "section")
    def _take(self, change: dict[str, Any]) -> None:
        if self._is_following:
            return
        try:
            self.app.change(lambda session: session.replaced(**{change["name"]: change["new"]}))
        finally:
            # What was refused, or is another than what was set, is not what the panel shows.
            self._follow(self.app.session, self.app.session)


def explore(
    catalog: Catalog | str | Path | None = None,
    *,
    audit: Audit | None = None,
    service: Client | None = None,
    query: ProductQuery | None = None,
    show: str = "",
    product_id: str | None = None,
) -> Explore:
    """Explore a catalogue in a notebook: filter, search, select, audit, compare and correct.

    Parameters
    ----------
    catalog
        The catalogue, or the name of a snapshot. The sections "load" and "snapshots" by themselves need none.
    audit
        The audit of its quality; without one, the panel offers to run one.
    service
        From `prodex.connect`: corrections can be sent, and another catalogue loaded.
    query
        What the form of the section Load begins with; all products, unless given.
    show
        The one section that is shown, for a panel of its own: "products", "quality", "coverage", "corrections",
        "snapshots", "load", "card" or "gallery". All sections, unless given.
    product_id
        The product whose card is open.

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
    if catalog is None and show in _WITHOUT_CATALOG:
        catalog = flatten([])
    catalog = catalog_given(catalog, "explore(catalog)")
    if service is not None:
        service = service_given(service, "explore(catalog, service=service)")
    if show and (not isinstance(show, str) or show not in SECTIONS):
        raise InputError(
            f"show is {show!r}. Give one of {', '.join(SECTIONS)}, or leave it out for all sections."
        )
    if show == "load" and service is None:
        raise InputError(
            'show="load" needs a service: prodex.explore(service=prodex.connect(...), show="load").'
        )
    if service is None and query is not None:
        raise InputError(
            "Nothing can be loaded without a service: explore(catalog, service=prodex.connect())."
        )
    session = Session(catalog, audit, service, product_id=product_id, section=show or "products")
    explored = Explore(session, (show,) if show else ())
    if query is not None:
        explored.query = query
    return explored
