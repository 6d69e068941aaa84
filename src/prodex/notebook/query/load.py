"""Counting and loading from a query panel: in the background, with progress, Cancel and a report of the load."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
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
from prodex.load.resume import reusable_snapshot
from prodex.messages import duration_in_words, moment_in_words
from prodex.notebook.jobs import Runner, Work
from prodex.notebook.query.controls import ChoiceControl, lock, text_line
from prodex.notebook.query.options import SIMILAR, Suggestions
from prodex.notebook.shared.boxes import VBox
from prodex.notebook.shared.long_tasks import WorkRow
from prodex.notebook.shared.panel import (
    Panel,
    button,
    error_text,
    html,
    message_html,
    row,
    show_if,
    text_html,
)
from prodex.query import FILTERS, GTINS_PER_CALL, ProductQuery
from prodex.service import Client
from prodex.service.paging import announced

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


def load_report(catalog: Catalog, load: Work) -> str:
    """Return the report of a load as HTML: how many products, complete or not, when, where, and what is missing."""
    state = "complete" if catalog.complete else "incomplete"
    ledger, folder = catalog.origin.ledger, catalog.folder
    where = "" if folder is None else f"<p class='muted'>Snapshot in {text_html(folder)}</p>"
    loaded = f"<p><strong>{escape(str(ledger))}</strong>, {state}. {_loaded_when(catalog, load)}</p>"
    return loaded + where + _problems_html(ledger.problems)


def _loaded_when(catalog: Catalog, load: Work) -> str:
    loaded = catalog.origin.loaded_at
    if loaded is None or loaded >= load.began:
        return f"Loaded in {duration_in_words(load.seconds)}."
    when = moment_in_words(loaded, zone=UTC)
    if load.total:  # something was received, so this load has continued an earlier one
        return f"Begun at {when} and continued for {duration_in_words(load.seconds)}."
    return f"Reused a snapshot from {when}, {duration_in_words(load.began - loaded)} old."


def _problems_html(problems: list[tuple[str, str]]) -> str:
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
            panel, self._loaded, self._failed, cancelled=self._cancelled, starts=[self.load_button]
        )
        self.keep_button: w.Button = button(
            "Keep incomplete load", tooltip="Save the products that were received as an incomplete snapshot"
        )
        self._report = html("", "outcome")
        self.plan: Any = html("", "muted")
        self._planning: Runner[Catalog | None] = Runner(
            self._planned, lambda _: self._planned(None), delay=_PAUSE
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
        self._planning.ask(reusable_snapshot, self._service, self._asked(), self.name, self.max_age)

    def _planned(self, catalog: Catalog | None) -> None:
        if catalog is None or catalog.origin.loaded_at is None:
            self.plan.value = ""
            return
        age = duration_in_words(clock.now() - catalog.origin.loaded_at)
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
        self.load_button.disabled = not self.is_possible


def count_products(
    service: Client, query: ProductQuery, is_wanted: Callable[[], bool] = lambda: True
) -> int | None:
    """Return how many products match, or None when the number is no longer wanted.

    Parameters
    ----------
    is_wanted
        Called before each call to the service: a long list of GTINs is counted in several calls, which are not worth
        making for a query that has changed meanwhile.
    """
    total = 0
    for part in query.in_calls():
        if not is_wanted():
            return None
        total += announced(service.search_products(part.to_probe()))
    return total


def count_text(count: int, query: ProductQuery) -> str:
    """Return how many products match, as a sentence.

    >>> count_text(1203, ProductQuery()), count_text(1, ProductQuery())
    ('1,203 products match', '1 product matches')
    """
    sentence = "1 product matches" if count == 1 else f"{count:,} products match"
    gtins = query.gtins_in or ()
    if len(gtins) > GTINS_PER_CALL:
        calls = -(-len(gtins) // GTINS_PER_CALL)
        sentence += f" (the sum of {calls:,} calls, for {len(gtins):,} GTINs)"
    return sentence


#: Seconds before the filters are tried: whoever types a word has no match until it is whole.
_NO_MATCH_PAUSE = 0.6

#: Filters that are tried: each is a call to the service.
_MOST = 6
#: Characters of a word that are quoted, and kinds that are named for one.
_LONGEST, _KINDS = 40, 5
#: What says which data is returned, and not of which products.
_NOT_FILTERS = frozenset({"product_languages", "source_include", "source_exclude", "search"})


class NoMatch(VBox):
    """The message where nothing matches, with words to search for instead.

    Parameters
    ----------
    panel
        The panel around it.
    service
        Where products are counted.
    asked
        Returns the query of now: another one is not worth counting for.
    take
        Called with a word of the query and one to search for in its place.

    Attributes
    ----------
    known
        The kinds whose words are offered.
    sentence
        The message, as HTML.
    words
        A button for each word that is offered.
    """

    def __init__(
        self,
        panel: Panel,
        service: Client,
        asked: Callable[[], ProductQuery],
        take: Callable[[str, str], object],
    ) -> None:
        self._service, self._asked, self._take = service, asked, take
        self._offered: list[tuple[str, str]] = []
        self.known: Suggestions = Suggestions()
        self.sentence: Any = html("", "muted")
        self.words: tuple[w.Button, ...] = tuple(button("", "link") for _ in range(SIMILAR))
        self._line: Any = row(html("Similar words of kinds:", "muted"), *self.words, look="line")
        super().__init__([self._line, self.sentence])
        for place, one in enumerate(self.words):
            panel.on(one, partial(self._press, place))
        self._offer([])
        # Without the numbers it is still known that nothing matches.
        self._counting: Runner[list[str]] = Runner(self._show, lambda _: None, delay=_NO_MATCH_PAUSE)

    def explain(self, query: ProductQuery) -> None:
        """Offer similar words, and say what there is without each filter of a query that matches nothing."""
        # At once: what the catalogue knows needs no answer of the service.
        words = [word.strip() for word, _ in query.search or ()]
        self._offer([(word, one, kinds) for word in words for one, kinds in self.known.similar(word).items()])
        self._counting.ask(self._without_each, query)

    def clear(self) -> None:
        """Say nothing."""
        self._counting.forget()
        self.sentence.value = ""
        self._offer([])

    def wait(self, seconds: float) -> None:
        """Wait until nothing is counted; for scripts and tests."""
        self._counting.wait(seconds)

    def _offer(self, found: list[tuple[str, str, list[str]]]) -> None:
        found = found[:SIMILAR]
        self._offered = [(word, one) for word, one, _ in found]
        show_if(self._line, bool(found))
        for place, one in enumerate(self.words):
            show_if(one, place < len(found))
            if place < len(found):
                _, word, kinds = found[place]
                more = f" and {len(kinds) - _KINDS} more" if kinds[_KINDS:] else ""
                # Each is what suppliers typed, and keeps its direction to itself.
                named = ", ".join(f"\u2068{kind}\u2069" for kind in kinds[:_KINDS])
                one.description = f"\u2068{word}\u2069 ({named}{more})"

    def _press(self, place: int, _: object) -> None:
        self._take(*self._offered[place])

    def _without_each(self, query: ProductQuery) -> list[str]:
        counts = []
        for left_out, wider in relaxed(query):
            count = count_products(self._service, wider, lambda: self._asked() == query)
            if count is None:
                return []
            counts.append(f"{count:,} without {left_out}")
        return [f"With one filter less: {', '.join(counts)}."] if counts else []

    def _show(self, sentences: list[str]) -> None:
        if sentences:
            self.sentence.value = f"<div role='status'>{text_html(' '.join(sentences))}</div>"


def relaxed(query: ProductQuery) -> list[tuple[str, ProductQuery]]:
    """Return a query without each of its filters, and what was left out, in words.

    Examples
    --------
    >>> query = ProductQuery(target_market="France", search=[("drinks", ["kind.label"])])
    >>> for left_out, wider in relaxed(query):
    ...     print(left_out, "->", wider)
    “drinks” -> ProductQuery(target_market=250)
    market -> ProductQuery(search=(('drinks', ('kind.label',)),))
    """
    # A longer list of GTINs is counted in several calls, which would be made again for each filter.
    if len(query.gtins_in or ()) > GTINS_PER_CALL:
        return []
    return list(_wider_queries(query))[:_MOST]


def _wider_queries(query: ProductQuery) -> Iterator[tuple[str, ProductQuery]]:
    words = query.search or ()
    for place, (word, _) in enumerate(words):
        others = (*words[:place], *words[place + 1 :])
        shown = word if len(word) <= _LONGEST else f"{word[:_LONGEST]}…"
        yield f"“{shown}”", replace(query, search=others or None)
    dates: dict[str, Any] = {"updated_at_from": None, "updated_at_to": None}
    if any(getattr(query, name) is not None for name in dates):
        yield "dates", replace(query, **dates)
    for name, one in FILTERS.items():
        if name not in {*_NOT_FILTERS, *dates} and getattr(query, name):
            none: dict[str, Any] = {name: None}
            yield one.option.replace("-", " "), replace(query, **none)
    if query.extra:
        yield "other filters", replace(query, extra={})
