"""What a query panel has others do in a thread: count what matches, and load it, with progress and a way to stop."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from html import escape

import ipywidgets as w
from traitlets import Bool, Instance

from prodex.catalog import Catalog
from prodex.errors import IncompleteLoad, ServiceError
from prodex.load import load_products
from prodex.load.reuse import in_words as age_in_words
from prodex.notebook.background import LatestTask
from prodex.notebook.panel import Panel, html, in_words, rest, typed
from prodex.notebook.query.controls import ChoiceControl, line, lock
from prodex.query import GTINS_PER_CALL, ProductQuery
from prodex.service import Client
from prodex.service.client import announced


class Cancelled(Exception):
    """The load was cancelled; it is raised by what shows its progress, and ends in the panel."""


def count_products(
    service: Client, query: ProductQuery, is_wanted: Callable[[], bool] = lambda: True
) -> int | None:
    """Return how many products match, or None when nobody wants to know any more.

    A long list of GTINs is counted in several calls.

    Parameters
    ----------
    is_wanted
        Asked before each call: nobody waits for the sum of a query that has changed meanwhile.
    """
    total = 0
    for part in query.in_calls():
        if not is_wanted():
            return None
        total += announced(service.search_products(part.to_probe()))
    return total


class Load:
    """One load; `run` it in a thread, `stop` it from another.

    Parameters
    ----------
    service, query, name, max_age, allow_incomplete
        As for `load_products`.

    Attributes
    ----------
    done, total
        Products that have come, and that were announced.
    began
        Our clock when it began, UTC.
    """

    def __init__(
        self,
        service: Client,
        query: ProductQuery,
        *,
        name: str | None = None,
        max_age: float | None = None,
        allow_incomplete: bool = False,
    ) -> None:
        self._service, self._query, self._name = service, query, name
        self._max_age, self._allow_incomplete = max_age, allow_incomplete
        self._stop = threading.Event()
        self._start = time.monotonic()
        self.began = datetime.now(UTC)
        self.done = self.total = 0

    @property
    def seconds(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self._start

    @property
    def is_stopping(self) -> bool:
        """Whether it was stopped, and ends with the page in flight."""
        return self._stop.is_set()

    def run(self) -> Catalog:
        """Load.

        Raises
        ------
        Cancelled
            When it was stopped before all had come; what came is in the journal.
        ProdexError
            As `load_products`.
        """
        return load_products(
            self._service,
            self._query,
            name=self._name,
            max_age=self._max_age,
            allow_incomplete=self._allow_incomplete,
            progress=self._came,
        )

    def stop(self) -> None:
        """Stop after the page in flight."""
        self._stop.set()

    def _came(self, done: int, total: int) -> None:
        self.done, self.total = done, total
        if self._stop.is_set():
            raise Cancelled


#: Problems that are shown; the catalogue has all.
PROBLEMS = 20


def told(sentence: str, *, is_problem: bool = False) -> str:
    """Return a sentence as markup, which a screen reader reads out."""
    kind, role = ("problem", "alert") if is_problem else ("note", "status")
    return f"<div class='{kind}' role='{role}'>{typed(sentence)}</div>"


def counted(count: int, query: ProductQuery) -> str:
    """Say how many products match.

    >>> counted(1203, ProductQuery()), counted(1, ProductQuery())
    ('1,203 products match', '1 product matches')
    """
    said = "1 product matches" if count == 1 else f"{count:,} products match"
    gtins = query.gtins_in or ()
    if len(gtins) > GTINS_PER_CALL:
        calls = -(-len(gtins) // GTINS_PER_CALL)
        said += f" (the sum of {calls:,} calls, for {len(gtins):,} GTINs)"
    return said


def progress(done: int, total: int, seconds: float) -> str:
    """Say how far a load has come.

    >>> progress(3500, 12000, 41.3), progress(12000, 12000, 90), progress(0, 0, 2)
    ('3,500 of 12,000 products, 41 s', '12,000 of 12,000 products, 90 s; building the tables', 'asking ..., 2 s')
    """
    if not total:
        return f"asking ..., {seconds:.0f} s"
    said = f"{done:,} of {total:,} products, {seconds:.0f} s"
    return f"{said}; building the tables" if done >= total else said


def cancelled(done: int, total: int) -> str:
    """Say how far a load had come that was cancelled.

    >>> cancelled(3500, 12000)
    'Cancelled after 3,500 of 12,000 products. What came is kept: Load goes on from there.'
    """
    if not done:
        return "Cancelled before any product came."
    return f"Cancelled after {done:,} of {total:,} products. What came is kept: Load goes on from there."


def outcome(catalog: Catalog, load: Load) -> str:
    """Return what came, as markup: how many, complete or not, from when, where it lies, and what is not there."""
    state = "complete" if catalog.complete else "not complete"
    said = [
        f"<p><strong>{escape(str(catalog.origin.ledger))}</strong>, {state}. {_from_when(catalog, load)}</p>"
    ]
    if catalog.folder is not None:
        said.append(f"<p class='muted'>Snapshot in {typed(catalog.folder)}</p>")
    return "".join(said) + _problems(catalog.origin.ledger.problems)


def _from_when(catalog: Catalog, load: Load) -> str:
    loaded = catalog.origin.loaded_at
    if loaded is None or loaded >= load.began:
        return f"Loaded in {load.seconds:,.0f} s."
    when = f"{loaded.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    if load.total:
        return f"Begun at {when}, and gone on with for {load.seconds:,.0f} s."
    return f"From {when}, {age_in_words(load.began - loaded)} old; nothing had to be fetched."


def _problems(problems: list[tuple[str, str]]) -> str:
    if not problems:
        return ""
    rows = "".join(
        f"<tr><td>{typed(what)}</td><td>{typed(why)}</td></tr>" for what, why in problems[:PROBLEMS]
    )
    of = f"{min(PROBLEMS, len(problems)):,} of {len(problems):,}; all in panel.catalog.problems"
    return (
        f"<table class='problems'><caption>What is not there: {of}</caption>"
        f"<thead><tr><th scope='col'>What</th><th scope='col'>Why</th></tr></thead><tbody>{rows}</tbody></table>"
    )


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
        self._work: LatestTask[Catalog] = LatestTask(lambda load: load.run(), self._loaded, self._failed)
        self.name_field = line("Name of the snapshot", "made from the query")
        self.name_field.value = name or ""
        self.name_field.layout.width = "240px"
        self.age_field = ChoiceControl("Use a snapshot that is there", _AGES)
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
