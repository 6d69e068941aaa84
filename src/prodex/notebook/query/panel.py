"""The query panel: every filter as a control, a live count of the matching products, and the load."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from html import escape
from typing import Any, ClassVar
from urllib.parse import urlsplit

import ipywidgets as w
import pandas as pd
from traitlets import Instance, Int, validate

from prodex.catalog import Catalog
from prodex.errors import QueryError
from prodex.load.reference_data import load_organizations
from prodex.messages import hint
from prodex.notebook.jobs import Runner
from prodex.notebook.query import options
from prodex.notebook.query.controls import PeriodButtons, lock
from prodex.notebook.query.fields import FIELDS, FieldGroup, asked, control_values, count_given
from prodex.notebook.query.load import LoadBox, NoMatch, count_products, count_text
from prodex.notebook.query.options import Suggestions
from prodex.notebook.shared.boxes import VBox
from prodex.notebook.shared.panel import (
    Fold,
    OwnChange,
    Panel,
    button,
    error_text,
    html,
    message_html,
    row,
    status_html,
    styled,
    text_html,
)
from prodex.query import ProductQuery
from prodex.service import Client
from prodex.service.connection import service_given

#: Seconds without a change before the service is asked for the count.
_PAUSE = 0.4
#: Characters of the code in a saved notebook: a list of GTINs can be very long.
_LONGEST_CODE = 4_000

#: The groups of controls that are closed at first.
_FOLDED = (FieldGroup.STATUS, FieldGroup.MORE, FieldGroup.ANSWER, FieldGroup.EXPERT)


class QueryPanel(Panel):
    """Set filters, see how many products match, and load them.

    Parameters
    ----------
    service
        From `prodex.connect`.
    query
        The query to begin with; all products by default.
    name
        Name of the snapshot; made from the query when None.
    known
        A catalogue whose markets and kinds are suggested.

    Attributes
    ----------
    query
        The query of the controls; assigning one fills the controls. While the controls contradict each other, the last
        valid one.
    catalog
        The catalogue that was loaded last, or None.
    count
        Number of products that match the query, or None while it is unknown.

    Examples
    --------
    >>> import prodex
    >>> from prodex.sandbox import Sandbox
    >>> with Sandbox([{"id": 7, "gtin": "03036811359935"}, {"id": 8}]) as sandbox:
    ...     keys = {name: sandbox.credentials[0][name] for name in ("client_id", "client_secret")}
    ...     panel = QueryPanel(prodex.connect(sandbox.base_url, **keys))
    ...     panel.control("gtins_in").value = "3036811359935"
    ...     panel.wait()
    >>> panel.query, panel.count
    (ProductQuery(gtins_in=('03036811359935',)), 1)
    """

    reads_for: ClassVar[float] = 2.0

    # Set before `__init__`: the first query that it assigns is validated, too.
    _is_valid = True
    query: Instance[ProductQuery] = Instance(ProductQuery, ())
    catalog: Instance[Catalog | None] = Instance(Catalog, allow_none=True)
    count: Int[int | None, Any] = Int(None, allow_none=True)

    def __init__(
        self,
        service: Client,
        query: ProductQuery | None = None,
        *,
        name: str | None = None,
        known: Catalog | None = None,
    ) -> None:
        service = service_given(service, "QueryPanel(service)", query)
        super().__init__(f"Load products from {urlsplit(service.base_url).netloc}")
        self._service = service
        # Each control that is filled reports a change; the query is complete only when all are filled.
        self._filling = OwnChange()
        self._counting: Runner[int | None] = Runner(self._counted, self._not_counted, delay=_PAUSE)
        self._listing: Runner[pd.DataFrame] = Runner(self._listed, self._not_listed)
        self.no_match: NoMatch = NoMatch(self, service, lambda: self.query, self._search_instead)
        self._suggesting: Runner[Suggestions] = Runner(self._suggest, lambda _: None)
        self.controls: list[Any] = [field.make() for field in FIELDS]
        self.matching: Any = html("", "matching")
        self.loading: LoadBox = LoadBox(self, service, lambda: self.query, name)
        self.folds: dict[FieldGroup, Fold] = {
            place: Fold(place.value, [self._grid(place)]) for place in _FOLDED
        }
        self.code: QueryCode = QueryCode()
        self.clear_button: w.Button = button("Clear all filters", "quiet")
        count = row(self.matching, self.clear_button, look="query-count")
        self.periods: PeriodButtons = PeriodButtons("Updated", lambda: options.periods(datetime.now(UTC)))
        period = w.VBox(
            [
                html(FieldGroup.PERIOD.value, "label"),
                self.periods,
                row(*self._controls_of(FieldGroup.PERIOD), look="limits"),
            ]
        )
        front = styled(w.Box([*self._controls_of(FieldGroup.FRONT), styled(period, "period")]), "front")
        more = html("More filters, and what to load", "more-filters")
        self.fill(
            styled(w.VBox([front, self._grid(FieldGroup.WORDS)]), "query-front"),
            count,
            self.no_match,
            self.loading,
            more,
            *self.folds.values(),
            self.code,
        )
        self.on(self.periods, lambda change: self._update_within(change["new"]), "value")
        self.on(self.clear_button, lambda _: self.set_trait("query", ProductQuery()))
        for control in self.controls:
            self.on(control, lambda _: self._changed(), "value")
        for field in (self.loading.name_field, self.loading.age_field):
            self.on(field, lambda _: self._show_code(), "value")
        self.on(self.folds[FieldGroup.MORE], lambda _: self._list_owners(), "is_open")
        self.loading.observe(lambda change: self.set_trait("catalog", change["new"]), "catalog")
        self.loading.observe(lambda change: self._lock(change["new"]), "is_loading")
        self._owners_asked = False
        self.query = query or ProductQuery()
        self._assigned()
        self.observe(lambda _: self._assigned(), "query")
        if known is not None:
            self._suggesting.ask(Suggestions.of, known)

    def control(self, name: str) -> Any:
        """Return the control of a field of the query."""
        controls = {one: control for field, control in self._pairs() for one in field.names}
        if name not in controls:
            there_are = hint(name, controls, f"Give one of {', '.join(controls)}.")
            raise QueryError(f"The panel has no control {name!r}{there_are}")
        return controls[name]

    def wait(self, seconds: float = 60.0) -> None:
        """Wait until nothing is counted or loaded; for scripts and tests."""
        for work in (self._counting, self.no_match, self._listing, self._suggesting, self.loading):
            work.wait(seconds)

    def static_picture(self) -> str:
        """Return the query and how many products match it, for a notebook that is only read."""
        code = query_as_python(self.query)
        code = code if len(code) <= _LONGEST_CODE else f"{code[:_LONGEST_CODE]} …"
        return f"<h3>Load products</h3><p>{self.matching.value}</p><pre>{escape(code)}</pre>"

    def _update_within(self, limits: tuple[Any, ...]) -> None:
        """Ask for products that were updated in a period."""
        if not self._filling:
            self.query = replace(self.query, updated_at_from=limits[0], updated_at_to=limits[1])

    def _pairs(self) -> Iterator[tuple[Any, Any]]:
        return zip(FIELDS, self.controls, strict=True)

    def _controls_of(self, place: FieldGroup) -> list[Any]:
        return [control for field, control in self._pairs() if field.place is place]

    def _suggest(self, found: Suggestions) -> None:
        self.no_match.known = found
        market = self.control("target_market")
        with self._filling:  # offering options selects the first of them
            market.offer(options.markets(first=found.markets))
            market.value = self.query.target_market or ""
        self.control("search").offer(found.kinds)

    def _search_instead(self, word: str, other: str) -> None:
        """Search for another word in place of one."""
        rows = self.control("search")
        rows.value = tuple((other if one.strip() == word else one, fields) for one, fields in rows.value)

    def _grid(self, place: FieldGroup) -> Any:
        here = [(field.hint, control) for field, control in self._pairs() if field.place is place]
        return styled(
            w.Box([_with_hint(control, hint) if hint else control for hint, control in here]), "fields"
        )

    def _changed(self) -> None:
        """Read the query from the controls."""
        if self._filling:
            return
        try:
            query = asked([control.value for control in self.controls])
        except QueryError as error:
            self._counting.forget()
            self.no_match.clear()
            self.matching.value = message_html(str(error), is_problem=True)
            # The controls contradict each other: what matched before is not what they ask for.
            self._set_valid(is_valid=False)
            self.count = None
            return
        try:
            with self._filling:
                self.query = query
                self._mark_period()
        finally:  # also when an observer of the query fails
            self._count_matches()

    def _assigned(self) -> None:
        """Fill the controls with a query that was assigned."""
        if self._filling:
            return
        with self._filling:
            for control, value in zip(self.controls, control_values(self.query), strict=True):
                control.value = value
            self._mark_period()
        self.show_message("")
        self._count_matches()

    @validate("query")
    def _assigned_again(self, proposal: dict[str, Any]) -> Any:
        """Fill the controls also when the last valid query is assigned while they hold an invalid one."""
        # traitlets calls no observer for a value that is assigned again, but it validates it.
        if not self._is_valid and not self._filling and proposal["value"] == self.query:
            self._assigned()
        return proposal["value"]

    def _mark_period(self) -> None:
        self.periods.value = (self.query.updated_at_from, self.query.updated_at_to)

    def _count_matches(self) -> None:
        """Count the products that match the new query."""
        self.matching.value = status_html("Counting matching products …")
        self.no_match.clear()
        self.loading.show_count(None)
        self._set_valid(is_valid=True)
        self.loading.query_changed()
        self._show_code()
        for place, fold in self.folds.items():
            given = count_given(self.query, place)
            fold.title = f"{place.value} ({given} set)" if given else place.value
        self._counting.ask(self._count, self.query)
        self.count = None

    def _set_valid(self, *, is_valid: bool) -> None:
        self._is_valid = self.loading.is_possible = is_valid

    def _count(self, query: ProductQuery) -> int | None:
        # The count runs in a thread: it stops when the query of the panel is another one by then.
        return count_products(self._service, query, lambda: self.query == query)

    def _counted(self, count: int | None) -> None:
        if count is None:
            return
        self.matching.value = f"<div role='status'>{text_html(count_text(count, self.query))}</div>"
        self.loading.show_count(count)
        if count == 0:
            self.no_match.explain(self.query)
        with self.guarded():  # an observer of `count` may fail, which is not an error of the count
            self.count = count

    def _not_counted(self, error: BaseException) -> None:
        self.matching.value = message_html(
            f"The products could not be counted: {error_text(error)}", is_problem=True
        )

    def _show_code(self) -> None:
        self.code.show(self.query, self.loading.name, self.loading.max_age)

    def _list_owners(self) -> None:
        """Load the names of owners from the service when their control is first shown."""
        if self.folds[FieldGroup.MORE].is_open and not self._owners_asked:
            self._owners_asked = True
            self._listing.ask(load_organizations, self._service)

    def _listed(self, organizations: pd.DataFrame) -> None:
        known = options.owners(organizations)
        self.control("owners_in").offer(known, lambda text: text_html(options.owner_names(text, known)))

    def _not_listed(self, error: BaseException) -> None:
        note = text_html(f"Names of owners could not be loaded: {error_text(error)} Numbers still work.")
        self.control("owners_in").offer([], lambda _: note)

    def _lock(self, is_loading: bool) -> None:
        for control in (*self.controls, self.periods):
            lock(control, is_locked=is_loading)
        self.clear_button.disabled = is_loading


def _with_hint(control: Any, hint: str) -> Any:
    box = w.VBox([control, html(escape(hint), "muted")])
    return styled(box, *({"wide"} & set(control._dom_classes)))


#: Height of the field in lines; the others are reached by scrolling.
_MOST_ROWS = 18


class QueryCode(VBox):
    """Two folds with a query as Python and as the body of a request.

    A closed fold is not filled: a query with ten thousand GTINs would go to the browser twice with every change.
    """

    def __init__(self) -> None:
        self._asked: tuple[ProductQuery, str | None, float | None] = (ProductQuery(), None, None)
        self.python: Any = html("")
        self.wire: Any = html("")
        self.python_fold: Fold = Fold("Python code", [self.python])
        self.wire_fold: Fold = Fold("Request as JSON", [self.wire])
        super().__init__([self.python_fold, self.wire_fold])
        for fold in (self.python_fold, self.wire_fold):
            fold.observe(lambda _: self._write(), "is_open")

    def show(self, query: ProductQuery, name: str | None, max_age: float | None) -> None:
        """Show a query, and the call that loads it."""
        self._asked = (query, name, max_age)
        self._write()

    def _write(self) -> None:
        if self.python_fold.is_open:
            self.python.value = _copyable_text(as_python(*self._asked), "Python code of the query")
        if self.wire_fold.is_open:
            self.wire.value = _copyable_text(self._asked[0].wire(), "Request of the query as JSON")


def as_python(query: ProductQuery, name: str | None, max_age: float | None) -> str:
    """Return the query and the call that loads it as Python code that runs as it is.

    >>> print(as_python(ProductQuery(target_market=250), "shop", None))
    import prodex as px
    <BLANKLINE>
    service = px.connect()
    query = px.ProductQuery(
        target_market=250,
    )
    catalog = px.load_products(service, query, name='shop')
    """
    how = "" if name is None else f", name={name!r}"
    how += "" if max_age is None else f", max_age={max_age!r}"
    asked = query_as_python(query)
    # The repr of a point in time names its module.
    imports = "import datetime\n\nimport prodex as px" if "datetime." in asked else "import prodex as px"
    return (
        f"{imports}\n\nservice = px.connect()\nquery = {asked}\n"
        f"catalog = px.load_products(service, query{how})"
    )


def query_as_python(query: ProductQuery) -> str:
    """Return a query as Python code, one field per line.

    >>> print(query_as_python(ProductQuery(tags_in="new")))
    px.ProductQuery(
        tags_in=('new',),
    )
    """
    # The repr of a query is Python, and leaves out what is not asked for; it is only laid out here.
    call = ast.parse(repr(query), mode="eval").body
    fields = [f"    {one.arg}={ast.unparse(one.value)},\n" for one in getattr(call, "keywords", ())]
    return f"px.ProductQuery(\n{''.join(fields)})" if fields else "px.ProductQuery()"


def _copyable_text(text: str, name: str) -> str:
    """Return text that can be copied: Tab leads into it, and Ctrl+A selects all of it."""
    # Not read-only: JupyterLab would take Ctrl+A for itself, and select all cells.
    rows = min(text.count("\n") + 1, _MOST_ROWS)
    return (
        f"<textarea class='code' rows='{rows}' aria-label='{name}' dir='ltr' spellcheck='false'>"
        f"{escape(text)}</textarea>"
    )
