"""The part of a query panel that loads: a name, a button, progress, a way to stop, and what came of it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

import ipywidgets as w
from traitlets import Bool, Instance

from prodex.catalog import Catalog
from prodex.errors import IncompleteLoad, ServiceError
from prodex.notebook.background import Newest
from prodex.notebook.panel import Panel, html, in_words, rest, typed
from prodex.notebook.query.controls import Choice, line, lock
from prodex.notebook.query.telling import cancelled, outcome, progress, told
from prodex.notebook.query.work import Cancelled, Load
from prodex.query import ProductQuery
from prodex.service import Client

#: Seconds between two looks at how far a load has come.
_LOOK = 0.25

_AGES = (
    ("if it is younger than an hour", ""),
    ("if it is younger than a day", 86_400),
    ("never: always fetch", 0),
)


class LoadBox(w.VBox):
    """Loads what a panel asks for.

    Parameters
    ----------
    panel
        Where it stands.
    service
        Whom to ask.
    asked
        Gives the query.
    name
        Name of the snapshot; from the query when None.

    Attributes
    ----------
    catalog
        What was loaded last, or None.
    is_loading
        Whether a load runs.
    is_possible
        Whether there is a query to load.
    """

    catalog: Instance[Catalog | None] = Instance(Catalog, allow_none=True)
    is_loading: Bool[bool, bool | int] = Bool(default_value=False)
    is_possible: Bool[bool, bool | int] = Bool(default_value=True)

    def __init__(
        self, panel: Panel, service: Client, asked: Callable[[], ProductQuery], name: str | None
    ) -> None:
        self._panel, self._service, self._asked = panel, service, asked
        self._load: Load | None = None
        self._work: Newest[Catalog] = Newest(lambda load: load.run(), self._loaded, self._failed)
        self.name_field = line("Name of the snapshot", "made from the query")
        self.name_field.value = name or ""
        self.name_field.layout.width = "240px"
        self.age_field = Choice("Use a snapshot that is there", _AGES)
        self.age_field.layout.width = "240px"
        self.load_button = w.Button(description="Load", layout=w.Layout(width="110px"))
        self.load_button.add_class("primary")
        self.cancel_button = w.Button(description="Cancel", layout=w.Layout(width="110px"))
        self.keep_button = w.Button(description="Keep what came", layout=w.Layout(width="auto"))
        self._bar = w.IntProgress(bar_style="info", layout=w.Layout(width="240px"))
        self._said, self._outcome = html(""), html("", "outcome")
        row = w.HBox([self.name_field, self.age_field, self.load_button, self.keep_button])
        self._running = w.HBox([self._bar, self._said, self.cancel_button])
        for one in (row, self._running):
            one.add_class("query-bar")
        super().__init__([row, self._running, self._outcome])
        self.add_class("query-load")
        panel.on(self.load_button, lambda _: self._begin(allow_incomplete=False))
        panel.on(self.keep_button, lambda _: self._begin(allow_incomplete=True))
        panel.on(self.cancel_button, lambda _: self._stop())
        self.observe(lambda _: self._show(), ("is_loading", "is_possible"))
        self._keep(offered=False)
        self._show()

    @property
    def said(self) -> str:
        """What is said of the last load, as markup."""
        return str(self._outcome.value)

    @property
    def name(self) -> str | None:
        """The name that was typed, or None."""
        return self.name_field.value.strip() or None

    @property
    def max_age(self) -> float | None:
        """The age that was chosen, as `load_products` takes it."""
        age: float | str = self.age_field.value
        return None if isinstance(age, str) else age

    def forget_problem(self) -> None:
        """Offer no more to keep what came: another query is asked."""
        self._keep(offered=False)

    def wait(self, seconds: float) -> None:
        """Wait until no load runs; for scripts and tests."""
        self._work.wait(seconds)

    def _begin(self, *, allow_incomplete: bool) -> None:
        if self.is_loading:
            return
        self._load = Load(
            self._service,
            self._asked(),
            name=self.name,
            max_age=self.max_age,
            allow_incomplete=allow_incomplete,
        )
        self._outcome.value = ""
        self._keep(offered=False)
        self.is_loading = True
        self._look()
        self._work(self._load)

    def _stop(self) -> None:
        if self._load is not None:
            self._load.stop()
            rest(self.cancel_button, is_resting=True)
            self._tell_progress(self._load)

    def _look(self) -> None:
        """Show how far it has come, and look again in a moment; without an event loop nobody is looking."""
        if self._load is None or not self.is_loading:
            return
        self._tell_progress(self._load)
        with contextlib.suppress(RuntimeError):
            asyncio.get_running_loop().call_later(_LOOK, self._look)

    def _tell_progress(self, load: Load) -> None:
        self._bar.max, self._bar.value = max(load.total, 1), load.done
        said = progress(load.done, load.total, load.seconds)
        self._said.value = typed(f"{said}; cancelling ..." if load.is_stopping else said)

    def _loaded(self, catalog: Catalog) -> None:
        self.is_loading = False
        if self._load is not None:
            self._outcome.value = outcome(catalog, self._load)
        with self._panel.guarded():  # whoever observes it may fail
            self.catalog = catalog

    def _failed(self, error: BaseException) -> None:
        self.is_loading = False
        stopped = self._load if self._load is not None and self._load.is_stopping else None
        if stopped is not None and isinstance(error, Cancelled | ServiceError):
            self._outcome.value = told(cancelled(stopped.done, stopped.total))
            return
        self._outcome.value = told(in_words(error), is_problem=True)
        self._keep(offered=isinstance(error, IncompleteLoad))

    def _keep(self, *, offered: bool) -> None:
        self.keep_button.layout.display = "" if offered else "none"

    def _show(self) -> None:
        for one in (self.name_field, self.age_field, self.keep_button):
            lock(one, is_locked=self.is_loading)
        rest(self.load_button, is_resting=self.is_loading)
        rest(self.cancel_button, is_resting=False)
        self.load_button.disabled = not self.is_possible
        self._running.layout.display = "" if self.is_loading else "none"
