"""Counting and loading from a query panel: in the background, with progress, Cancel and a report of the load."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from datetime import UTC, datetime
from functools import partial
from html import escape
from typing import Any

import ipywidgets as w
from traitlets import Bool, Instance

from prodex.catalog import Catalog
from prodex.display.html_tables import table
from prodex.errors import IncompleteLoad, ServiceError
from prodex.load import load_products
from prodex.load.reuse import in_words as age_in_words
from prodex.notebook.background import LatestTask
from prodex.notebook.boxes import VBox
from prodex.notebook.panel import (
    Panel,
    button,
    error_text,
    html,
    message_html,
    row,
    set_busy,
    show_if,
    text_html,
)
from prodex.notebook.query.controls import ChoiceControl, lock, text_line
from prodex.query import ProductQuery
from prodex.service import Client


class Load:
    """One load; `run` it in a thread, `stop` it from another.

    Parameters
    ----------
    load
        Loads with the progress function that it is given.

    Attributes
    ----------
    done, total
        Number of products received, and announced by the service.
    began
        Time of our clock when it began, UTC.
    """

    def __init__(self, load: Callable[..., Catalog]) -> None:
        self._load = load
        self._stop = threading.Event()
        self._start = time.monotonic()
        self.began: datetime = datetime.now(UTC)
        self.done: int = 0
        self.total: int = 0

    @property
    def seconds(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self._start

    @property
    def is_stopping(self) -> bool:
        """Whether it was stopped, and ends after the page that is being received."""
        return self._stop.is_set()

    def run(self) -> Catalog:
        """Load.

        Raises
        ------
        CancelledError
            When it was stopped before all products were received; those received are in the journal.
        ProdexError
            As `load_products`.
        """
        return self._load(progress=self._received)

    def stop(self) -> None:
        """Stop after the page that is being received."""
        self._stop.set()

    def _received(self, done: int, total: int) -> None:
        self.done, self.total = done, total
        # Called after a page is in the journal: whatever is raised here, the next load continues from that page.
        if self._stop.is_set():
            raise CancelledError


#: Problems that are shown; `catalog.problems` has all.
PROBLEMS = 20


def progress_text(done: int, total: int, seconds: float) -> str:
    """Return the progress of a load as a sentence.

    >>> progress_text(3500, 12000, 41.3), progress_text(12000, 12000, 90)
    ('3,500 of 12,000 products, 41 s', '12,000 of 12,000 products, 90 s; building the tables')
    >>> progress_text(0, 0, 2)
    'Waiting for the service, 2 s'
    """
    if not total:
        return f"Waiting for the service, {seconds:.0f} s"
    sentence = f"{done:,} of {total:,} products, {seconds:.0f} s"
    return f"{sentence}; building the tables" if done >= total else sentence


def cancelled_text(done: int, total: int) -> str:
    """Return the progress of a load that was cancelled, as a sentence.

    >>> cancelled_text(3500, 12000)
    'Cancelled after 3,500 of 12,000 products. They are kept: press Load to continue.'
    """
    if not done:
        return "Cancelled before any product was received."
    return f"Cancelled after {done:,} of {total:,} products. They are kept: press Load to continue."


def load_report(catalog: Catalog, load: Load) -> str:
    """Return the report of a load as HTML: how many products, complete or not, when, where, and what is missing."""
    state = "complete" if catalog.complete else "incomplete"
    ledger, folder = catalog.origin.ledger, catalog.folder
    where = "" if folder is None else f"<p class='muted'>Snapshot in {text_html(folder)}</p>"
    loaded = f"<p><strong>{escape(str(ledger))}</strong>, {state}. {_when(catalog, load)}</p>"
    return loaded + where + _problems(ledger.problems)


def _when(catalog: Catalog, load: Load) -> str:
    loaded = catalog.origin.loaded_at
    if loaded is None or loaded >= load.began:
        return f"Loaded in {load.seconds:,.0f} s."
    when = f"{loaded.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    if load.total:  # something was received, so this load has continued an earlier one
        return f"Begun at {when} and continued for {load.seconds:,.0f} s."
    return f"Reused a snapshot from {when}, {age_in_words(load.began - loaded)} old."


def _problems(problems: list[tuple[str, str]]) -> str:
    if not problems:
        return ""
    of = f"{min(PROBLEMS, len(problems)):,} of {len(problems):,}; all in panel.catalog.problems"
    return table(f"Missing: {of}", ("What", "Reason"), problems[:PROBLEMS], look="problems")


#: Seconds between two updates of the progress.
_INTERVAL = 0.25

_AGES = (("if less than an hour old", ""), ("if less than a day old", 86_400), ("never, load again", 0))


class LoadBox(VBox):
    """The controls that load the products of a query.

    Parameters
    ----------
    panel
        The panel around it.
    service
        The service to load from.
    asked
        Returns the query.
    name
        Name of the snapshot; made from the query when None.

    Attributes
    ----------
    catalog
        The catalogue that was loaded last, or None.
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
        self._work: LatestTask[Catalog] = LatestTask(lambda load: load.run(), self._loaded, self._failed)
        self.name_field: Any = text_line("Name of the snapshot", "made from the query")
        self.name_field.value = name or ""
        self.name_field.layout.width = "240px"
        self.age_field: ChoiceControl = ChoiceControl("Reuse a recent snapshot", _AGES)
        self.age_field.layout.width = "240px"
        self.load_button: w.Button = button("Load", "primary")
        self.cancel_button: w.Button = button("Cancel")
        for one in (self.load_button, self.cancel_button):
            one.layout.width = "110px"
        self.keep_button: w.Button = button(
            "Keep incomplete load", tooltip="Save the products that were received as an incomplete snapshot"
        )
        self._bar = w.IntProgress(bar_style="info", layout=w.Layout(width="240px"))
        self._progress, self._report = html(""), html("", "outcome")
        start = row(self.name_field, self.age_field, self.load_button, self.keep_button, look="query-bar")
        self._running = row(self._bar, self._progress, self.cancel_button, look="query-bar")
        super().__init__([start, self._running, self._report])
        self.add_class("query-load")
        panel.on(self.load_button, lambda _: self._begin(allow_incomplete=False))
        panel.on(self.keep_button, lambda _: self._begin(allow_incomplete=True))
        panel.on(self.cancel_button, lambda _: self._stop())
        self.observe(lambda _: self._show(), ("is_loading", "is_possible"))
        self._keep(offered=False)
        self._show()

    @property
    def message(self) -> str:
        """The report of the last load, as HTML."""
        return str(self._report.value)

    @property
    def name(self) -> str | None:
        """The name that was entered, or None."""
        return self.name_field.value.strip() or None

    @property
    def max_age(self) -> float | None:
        """The age that was selected, as `load_products` takes it."""
        age: float | str = self.age_field.value
        return None if isinstance(age, str) else age

    def query_changed(self) -> None:
        """Offer no longer to keep an incomplete load, which was one of another query."""
        self._keep(offered=False)

    def wait(self, seconds: float) -> None:
        """Wait until no load runs; for scripts and tests."""
        self._work.wait(seconds)

    def _begin(self, *, allow_incomplete: bool) -> None:
        if self.is_loading:
            return
        load = partial(load_products, self._service, self._asked(), allow_incomplete=allow_incomplete)
        self._load = Load(partial(load, name=self.name, max_age=self.max_age))
        self._report.value = ""
        self._keep(offered=False)
        self.is_loading = True
        self._update()
        self._work(self._load)

    def _stop(self) -> None:
        if self._load is not None:
            self._load.stop()
            set_busy(self.cancel_button, is_busy=True)
            self._show_progress(self._load)

    def _update(self) -> None:
        """Show the progress now, and again after a moment as long as the load runs."""
        if self._load is None or not self.is_loading:
            return
        self._show_progress(self._load)
        with contextlib.suppress(RuntimeError):  # no event loop: a script, in which nobody watches
            asyncio.get_running_loop().call_later(_INTERVAL, self._update)

    def _show_progress(self, load: Load) -> None:
        # The bar ends at 1 as long as the service has not announced how many products there are.
        self._bar.max, self._bar.value = max(load.total, 1), load.done
        sentence = progress_text(load.done, load.total, load.seconds)
        self._progress.value = text_html(f"{sentence}; cancelling …" if load.is_stopping else sentence)

    def _loaded(self, catalog: Catalog) -> None:
        self.is_loading = False
        if self._load is not None:
            self._report.value = load_report(catalog, self._load)
        with self._panel.guarded():  # an observer of `catalog` may fail, which is not an error of the load
            self.catalog = catalog

    def _failed(self, error: BaseException) -> None:
        self.is_loading = False
        stopped = self._load if self._load is not None and self._load.is_stopping else None
        # A service that fails while a load is being cancelled is no news to whoever has cancelled it.
        if stopped is not None and isinstance(error, CancelledError | ServiceError):
            self._report.value = message_html(cancelled_text(stopped.done, stopped.total))
            return
        self._report.value = message_html(error_text(error), is_problem=True)
        # Only a load that the service ended early has something to keep; other errors left nothing, or the journal.
        self._keep(offered=isinstance(error, IncompleteLoad))

    def _keep(self, *, offered: bool) -> None:
        show_if(self.keep_button, offered)

    def _show(self) -> None:
        for one in (self.name_field, self.age_field, self.keep_button):
            lock(one, is_locked=self.is_loading)
        set_busy(self.load_button, is_busy=self.is_loading)
        set_busy(self.cancel_button, is_busy=False)
        self.load_button.disabled = not self.is_possible
        show_if(self._running, self.is_loading)
