"""Counting and loading from a query panel: in the background, with progress, Cancel and a report of the load."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC
from functools import partial
from html import escape
from typing import Any

import ipywidgets as w
from traitlets import Bool, Instance

from prodex import clock
from prodex.catalog import Catalog
from prodex.display.html_tables import table
from prodex.errors import IncompleteLoad
from prodex.load import load_products
from prodex.load.reuse import in_words as age_in_words
from prodex.load.reuse import reusable_snapshot
from prodex.notebook.query.controls import ChoiceControl, lock, text_line
from prodex.notebook.shared.background import LatestTask
from prodex.notebook.shared.boxes import VBox
from prodex.notebook.shared.panel import (
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
from prodex.notebook.shared.work import Work, WorkRow
from prodex.query import ProductQuery
from prodex.service import Client

#: Seconds without a change before the snapshots are looked through.
_PAUSE = 0.4

#: Problems that are shown; `catalog.problems` has all.
PROBLEMS = 20


def cancelled_text(done: int, total: int) -> str:
    """Return the progress of a load that was cancelled, as a sentence.

    >>> cancelled_text(3500, 12000)
    'Cancelled after 3,500 of 12,000 products. They are kept: “Load products” continues from there.'
    >>> cancelled_text(139, 139)
    'Cancelled before the snapshot was saved. All 139 products came and are kept: “Load products” continues from there.'
    """
    if not done:
        return "Cancelled before any product was received."
    if done >= total:
        came = f"Cancelled before the snapshot was saved. All {done:,} products came and are kept"
    else:
        came = f"Cancelled after {done:,} of {total:,} products. They are kept"
    return f"{came}: “Load products” continues from there."


def load_report(catalog: Catalog, load: Work[Catalog]) -> str:
    """Return the report of a load as HTML: how many products, complete or not, when, where, and what is missing."""
    state = "complete" if catalog.complete else "incomplete"
    ledger, folder = catalog.origin.ledger, catalog.folder
    where = "" if folder is None else f"<p class='muted'>Snapshot in {text_html(folder)}</p>"
    loaded = f"<p><strong>{escape(str(ledger))}</strong>, {state}. {_when(catalog, load)}</p>"
    return loaded + where + _problems(ledger.problems)


def _when(catalog: Catalog, load: Work[Catalog]) -> str:
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


_AGES = (("reuse it for an hour", ""), ("reuse it for a day", 86_400), ("load it again", 0))


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
        self.name_field: Any = text_line("Name of the snapshot", "optional, such as french-shop")
        self.name_field.value = name or ""
        self.name_field.layout.width = "240px"
        self.age_field: ChoiceControl = ChoiceControl("If it was loaded before", _AGES)
        self.age_field.layout.width = "240px"
        self.load_button: w.Button = button("Load products", "primary")
        self._work: WorkRow[Catalog] = WorkRow(
            panel, self._loaded, self._failed, cancelled=self._cancelled, back_to=self.load_button
        )
        self.keep_button: w.Button = button(
            "Keep incomplete load", tooltip="Save the products that were received as an incomplete snapshot"
        )
        self._report = html("", "outcome")
        self.plan: Any = html("", "muted")
        self._planning: LatestTask[Catalog | None] = LatestTask(
            partial(reusable_snapshot, service), self._planned, lambda _: self._planned(None), delay=_PAUSE
        )
        start = row(self.name_field, self.age_field, self.load_button, self.keep_button, look="query-bar")
        super().__init__([start, self.plan, self._work, self._report])
        self.add_class("query-load")
        panel.on(self.load_button, lambda _: self._begin(allow_incomplete=False))
        panel.on(self.keep_button, lambda _: self._begin(allow_incomplete=True))
        self.observe(lambda _: self._show(), ("is_loading", "is_possible"))
        for field in (self.name_field, self.age_field):
            field.observe(lambda _: self._look_ahead(), "value")
        self._keep(offered=False)
        self._show()

    @property
    def cancel_button(self) -> w.Button:
        """The button that cancels the load that runs."""
        return self._work.cancel

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
        """Forget the load before, which was one of another query."""
        self._keep(offered=False)
        self._report.value = ""
        self._look_ahead()

    def show_count(self, count: int | None) -> None:
        """Invite to load only if something matches; None is unknown."""
        # It can be pressed all the same: what a service announces may be wrong.
        (self.load_button.remove_class if count == 0 else self.load_button.add_class)("primary")

    def add(self, sentence: str) -> None:
        """Add a sentence to the report of the last load."""
        self._report.value += message_html(sentence)

    def wait(self, seconds: float) -> None:
        """Wait until no load runs; for scripts and tests."""
        self._work.wait(seconds)
        self._planning.wait(seconds)

    def _look_ahead(self) -> None:
        """Find out whether the next load would ask the service."""
        self.plan.value = ""
        self._planning.forget()  # what there is may have changed, though the question is the same
        self._planning(self._asked(), self.name, self.max_age)

    def _planned(self, catalog: Catalog | None) -> None:
        if catalog is None or catalog.origin.loaded_at is None:
            self.plan.value = ""
            return
        age = age_in_words(clock.now() - catalog.origin.loaded_at)
        self.plan.value = text_html(
            f"“Load products” opens the snapshot that was loaded {age} ago, without asking the service again."
        )

    def _begin(self, *, allow_incomplete: bool) -> None:
        if self.is_loading:
            return
        load = partial(load_products, self._service, self._asked(), allow_incomplete=allow_incomplete)
        load = partial(load, name=self.name, max_age=self.max_age)
        self._report.value = self.plan.value = ""
        self._keep(offered=False)
        self.is_loading = True
        self._work.start(lambda progress: load(progress=progress), "Waiting for the service")

    def _loaded(self, catalog: Catalog) -> None:
        self.is_loading = False
        if self._work.work is not None:
            self._report.value = load_report(catalog, self._work.work)
        with self._panel.guarded():  # an observer of `catalog` may fail, which is not an error of the load
            self.catalog = catalog

    def _cancelled(self) -> None:
        self.is_loading = False
        if (load := self._work.work) is not None:
            self._report.value = message_html(cancelled_text(load.done, load.total))

    def _failed(self, error: BaseException) -> None:
        self.is_loading = False
        self._report.value = message_html(error_text(error), is_problem=True)
        # Only a load that the service ended early has something to keep; other errors left nothing, or the journal.
        self._keep(offered=isinstance(error, IncompleteLoad))

    def _keep(self, *, offered: bool) -> None:
        show_if(self.keep_button, offered)

    def _show(self) -> None:
        for one in (self.name_field, self.age_field, self.keep_button):
            lock(one, is_locked=self.is_loading)
        set_busy(self.load_button, is_busy=self.is_loading)
        self.load_button.disabled = not self.is_possible
