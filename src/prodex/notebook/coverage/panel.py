"""The coverage panel: attributes by language or group of products as a grid, and a press lists what is missing."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import ipywidgets as w
import pandas as pd
from traitlets import Bool, Instance, TraitError, Tuple, Unicode, link, validate

from prodex.catalog import Catalog
from prodex.catalog.names import AttributeNames
from prodex.errors import InputError
from prodex.exploration.coverage import ALL_PRODUCTS, Checks, Choice, CoverageData, pressed, required_checks
from prodex.exploration.filled import USUAL
from prodex.locales import language_label
from prodex.messages import counted, hint_and_all, percent
from prodex.notebook.coverage.view import CoverageView
from prodex.notebook.jobs import Runner, to_the_end
from prodex.notebook.shared.cell_grid import CellGrid
from prodex.notebook.shared.panel import Fold, OwnChange, Panel, button, html, row, show_if, status_html
from prodex.notebook.shared.removable_buttons import RemovableButtons
from prodex.notebook.shared.row_table import Pager
from prodex.notebook.shared.selection_bar import SelectionBar
from prodex.notebook.shared.state import Exploration
from prodex.progress import Reporter
from prodex.quality import Audit
from prodex.selection import Selection
from prodex.selection.units import ALL_UNITS, CONSUMER, units_given
from prodex.untrusted_text import cut

#: What the columns can be: texts in a language, or the groups of a facet.
GROUPINGS = ("language", "kind", "owner", "brand", "market")

#: Columns and rows of a page.
_COLUMNS, _ROWS = 10, 40
_FILLED, _REQUIRED = ALL_PRODUCTS, "products to which it applies"


class CoveragePanel(Panel):
    """How many products have which attributes, by language, kind, owner, brand or market.

    A press on a cell adds conditions to the exploration, so that an explorer lists the products that lack the
    attribute; a second press takes them back. The figures are about the products that the conditions choose.

    Parameters
    ----------
    catalog
        The catalogue, or the name of a snapshot; may be left out with an exploration, which has one.
    exploration
        The state to share with other panels; by default a new one.
    audit
        The audit of its quality: the rows are then the attributes that its profile requires, and the grid can count
        only the products to which each of them applies.

    Attributes
    ----------
    exploration
        The state: the catalogue, and the conditions that filter it.
    by
        What the columns are: "language", "kind", "owner", "brand" or "market".
    text_language
        Of columns that are groups: the language in which texts count, "" for any.
    of_required
        Whether only products are counted to which an attribute applies, as the audit has it; with an audit that is so
        at first.
    units
        Which units are counted: "consumer", those that are not known to be other units, or "all". Where the conditions
        name kinds of units, all that they choose are counted.
    is_worst_first
        Whether the rows and columns of which the least is filled are first.
    is_shown
        Whether anybody sees the panel: while nobody does, it follows no change.

    Examples
    --------
    >>> import prodex
    >>> name = [{"expressedIn": {"code": "fra-FR"}, "data": "Riz"}]
    >>> panel = CoveragePanel(prodex.flatten([{"id": 7, "nameLegal": name}, {"id": 8}]))
    >>> panel.coverage.query("attribute == 'nameLegal'")[["language", "filled", "products"]].values.tolist()
    [[nan, 1, 2], ['fr', 1, 2]]
    >>> panel.attributes = ("brand", "nameLegal")
    >>> len(panel.coverage)
    4
    """

    reads_for: ClassVar[float] = 2.0

    by: Unicode[str, str | bytes] = Unicode("language")
    text_language: Unicode[str, str | bytes] = Unicode("")
    of_required: Bool[bool, bool | int] = Bool(default_value=False)
    units: Unicode[str, str | bytes] = Unicode(CONSUMER)
    is_worst_first: Bool[bool, bool | int] = Bool(default_value=False)
    is_shown: Bool[bool, bool | int] = Bool(default_value=True)

    def __init__(
        self,
        catalog: Catalog | None = None,
        *,
        exploration: Exploration | None = None,
        audit: Audit | None = None,
    ) -> None:
        super().__init__("Coverage")
        self.add_class("figures")
        self.exploration: Exploration = _exploration_of(catalog, audit, exploration)
        self._data: CoverageData = CoverageData.of(self.exploration.filter)
        self._view: CoverageView | None = None
        self._offered: tuple[Catalog | None, Audit | None] = (None, None)
        self._checks: Checks = {}
        self._paged: dict[Pager, tuple[int, str]] = {}
        self._filling = OwnChange()
        self._make()
        self._connect()
        self._refresh()

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes that are shown, as wire paths, in their order."""
        return self.picker.attributes

    @attributes.setter
    def attributes(self, attributes: tuple[str, ...]) -> None:
        self.picker.attributes = tuple(attributes)

    @property
    def coverage(self) -> pd.DataFrame:
        """The whole grid: one row per attribute and column, also of other pages.

        `attrs["counted"]` says in words which products are counted. `attribute`; `language`, missing where texts in any
        count; the code and label of the group, unless columns are
        languages; `filled` of how many `products`, and their ratio as `coverage`; of how many it is `unknown`; and
        `state`: what the figures mean where they are not plainly known ("asked for in part", "not asked for", "not
        applicable", "not required", "unknown").

        Raises
        ------
        InputError
            When the catalogue could not be read; the panel shows why.
        """
        self.wait()
        if self._view is None or not self._data.has_read(self._choice, self.exploration.conditions):
            raise InputError("The figures could not be read. The message above the grid says why.")
        frame = self._view.figures.frame()
        frame.attrs["counted"] = str(self._view.counted)
        return frame

    def wait(self, seconds: float = 600.0) -> None:
        """Wait until nothing is read; for scripts and tests."""
        self.picker.wait(seconds)
        self._reading.wait(seconds)

    def _make(self) -> None:
        self._about = html("", "about")
        self._status = html("", "muted")
        self._bar = SelectionBar(self, self.exploration)
        self.picker: AttributePicker = AttributePicker(panel=self)
        self._switch = w.ToggleButtons(
            options=[(f"{by}s", by) for by in GROUPINGS],
            style=w.ToggleButtonsStyle(button_width="auto"),
            layout=_narrow_layout(),
        )
        self._language = w.Dropdown(
            description="Texts in", options=[("any language", "")], layout=_narrow_layout()
        )
        self._count = w.Dropdown(
            description="Count", options=[(_FILLED, False), (_REQUIRED, True)], layout=_narrow_layout()
        )
        self._units = w.Dropdown(
            description="Units",
            options=[("consumer units", CONSUMER), ("all units", ALL_UNITS)],
            layout=_narrow_layout(),
        )
        self._order = w.Dropdown(
            description="Order",
            options=[("as listed", False), ("worst first", True)],
            layout=_narrow_layout(),
        )
        self.columns_pager: Pager = Pager(self, _COLUMNS, self._show_page)
        self.rows_pager: Pager = Pager(self, _ROWS, self._show_page)
        self.grid: CellGrid = CellGrid(
            self,
            cell=lambda row, column: self._press(lambda view: view.cell(row, column)),
            row=lambda row: self._press(lambda view: view.row(row)),
            column=lambda column: self._press(lambda view: view.column(column)),
        )
        self._attributes = Fold("Attributes", [self.picker])
        self.fill(
            self._bar,
            self._about,
            row(self._switch, self._language, self._units, self._count, self._order, look="bar-above"),
            row(self.columns_pager, self.rows_pager, self._status, look="bar-above"),
            self.grid,
            html(_LEGEND),
            self._attributes,
        )

    def _connect(self) -> None:
        self._reading: Runner[CoverageData] = Runner(self._take, self._not_read, watch=self._report)
        link((self._switch, "value"), (self, "by"))
        link((self._order, "value"), (self, "is_worst_first"))
        link((self._count, "value"), (self, "of_required"))
        link((self._units, "value"), (self, "units"))
        self.on(self._language, lambda change: self.set_trait("text_language", change["new"]), "value")
        self.on(self._attributes, lambda _: self.picker.complete(), "is_open")
        self.on(self.picker, lambda _: self._refresh(), "attributes")
        shown = ("by", "text_language", "of_required", "units", "is_worst_first", "is_shown")
        self.on(self, lambda _: self._refresh(), *shown)
        # Not guarded twice: an error of `_refresh` is shown by itself.
        self.exploration.observe(lambda _: self._refresh(), ["catalog", "audit", "conditions"])

    @validate("by")
    def _known_grouping(self, proposal: dict[str, str]) -> str:
        by = proposal["value"]
        if by not in GROUPINGS:
            there = hint_and_all(by, GROUPINGS, f"Give one of {', '.join(GROUPINGS)}.")
            raise TraitError(f"The columns cannot be {by!r:.60}{there}")
        return by

    @validate("units")
    def _known_units(self, proposal: dict[str, str]) -> str:
        try:
            return units_given(proposal["value"])
        except InputError as error:
            raise TraitError(str(error)) from error

    @property
    def _choice(self) -> Choice:
        return Choice(self.attributes, self.by, self.text_language, self.of_required, self.units)

    def _refresh(self) -> None:
        """Show the figures of the products that meet the conditions; what they need is read in the background."""
        if not self.is_shown or self._filling:
            return
        with self.guarded():
            self._offer()
            followed = self._data.following(self.exploration.filter)
            if not followed.filled.attributes:
                self._clear()
            self._data = followed
            conditions = self.exploration.conditions
            if self._data.has_read(self._choice, conditions):
                self._reading.forget()
                self._draw()
            else:
                self._status.value = status_html("Reading …")
                self._reading.start(
                    partial(_read, self._data, self._choice, conditions), "Reading attributes"
                )

    def _offer(self) -> None:
        """Offer the attributes of a new catalogue, and show those that a new audit requires."""
        catalog, audit = self.exploration.catalog, self.exploration.audit
        if self._offered[0] is catalog and self._offered[1] is audit:
            return
        self._offered = (catalog, audit)
        were_required = bool(self._checks)
        self._checks = {} if audit is None else required_checks(audit)
        required = tuple(dict.fromkeys(attribute for attribute, _ in self._checks))
        with self._filling:  # what changes here is drawn once, afterwards
            self.picker.offer(catalog, required or USUAL)
            show_if(self._count, bool(required))
            # What an audit requires of few products looks empty among all; it stays as somebody has chosen.
            self.of_required = bool(required) and (self.of_required or not were_required)

    def _take(self, data: CoverageData) -> None:
        """Keep what was read, and show it, unless something else is to be shown by now."""
        self._data = data
        self._refresh()

    def _not_read(self, error: BaseException) -> None:
        self._status.value = ""
        self.show_error(error)

    def _clear(self) -> None:
        """Show no figures: those of another catalogue must not stay."""
        self._view = None
        self._status.value = self._about.value = ""
        self.grid.show("", "", (), ())

    def _report(self) -> None:
        work = self._reading.work
        if work is not None and self._reading.is_running and (now := work.progress).done:
            share = percent(now.done / now.total, 0)
            self._status.value = status_html(
                f"{now.phase}: {now.done:,} of {now.total:,} {now.unit} ({share}), {now.time}"
            )

    def _draw(self) -> None:
        """Count, and show the page of the grid."""
        conditions, choice = self.exploration.conditions, self._choice
        figures = self._data.figures(choice, conditions)
        if self.is_worst_first:
            figures = figures.worst_first()
        counted_units = self._data.counted_units(choice, conditions)
        self._view = CoverageView(figures, self._checks, choice.of_required, counted_units)
        self._status.value = ""
        size, chosen = len(self.exploration.catalog), counted_units.products + counted_units.others
        of = f" of {counted(size, 'product')}" if conditions else f" product{'' if size == 1 else 's'}"
        left_out = self._data.left_out(choice, figures)
        counts = "" if counted_units.units == ALL_UNITS else f"counted: {counted_units}"
        separated = "".join(f"· {one} " for one in (counts, left_out) if one).rstrip()
        self._about.value = (
            f"<span role='status'><b>{chosen:,}</b>{of}</span> <span class='muted'>{separated}</span>"
        )
        self._offer_languages()
        with self._filling:
            for pager, total, noun in (
                (self.columns_pager, len(figures.columns) - 1, self.by),
                (self.rows_pager, len(figures.rows), "attribute"),
            ):
                # A press must not turn back to the first page.
                if self._paged.get(pager) != (total, noun):
                    self._paged[pager] = (total, noun)
                    pager.over(total, noun)
        self._show_page()

    def _offer_languages(self) -> None:
        show_if(self._language, self.by != "language" and not self.of_required)
        found = [*self._data.filled.languages(self.attributes)]
        if self.text_language and self.text_language not in found:
            found.append(self.text_language)
        options = [("any language", ""), *((language_label(one), one) for one in found)]
        with self._filling:
            if list(self._language.options) != options:
                self._language.options = options
            self._language.value = self.text_language

    def _show_page(self) -> None:
        if self._view is None or self._filling:
            return
        conditions = self.exploration.conditions
        columns = self.columns_pager.page
        self.grid.show(
            f"Coverage by {self.by}",
            "Attribute",
            self._view.heads(columns, conditions),
            self._view.rows(self.rows_pager.page, columns, conditions),
            empty="No attributes are shown.",
        )

    def _press(self, listed: Callable[[CoverageView], Selection | None]) -> None:
        """Require the products behind what was pressed as well, or no longer."""
        wanted = None if self._view is None else listed(self._view)
        if wanted is not None:
            now = self.exploration.conditions
            self.exploration.conditions = pressed(now, wanted)


def _read(data: CoverageData, choice: Choice, conditions: Selection, reporter: Reporter) -> CoverageData:
    # To the end, also when newer figures are asked for: these need what was read, and would read it once more.
    with to_the_end(reporter).phase("Reading attributes", "products", len(data.filter.products)) as show:
        return data.reading(choice, conditions, show)


def _narrow_layout() -> w.Layout:
    # One for each: a control that is hidden would hide all that share its layout.
    return w.Layout(width="auto")


def _exploration_of(
    catalog: Catalog | None, audit: Audit | None, exploration: Exploration | None
) -> Exploration:
    if exploration is None:
        return Exploration.of(catalog, audit, "CoveragePanel")
    if catalog is not None:
        raise InputError("Give CoveragePanel either a catalogue or an exploration, which has a catalogue.")
    if audit is not None:
        exploration.audit = audit
    return exploration


_LEGEND = (
    "<p class='muted small'>A cell shows the share of the products that have the attribute: the more lack it, the "
    "stronger is its colour. Press a cell to list the products that lack it, and again to take that back; a head lists "
    "those of its row or column. “≥”: only a part was asked for, and more may be there.</p>"
)


_LONGEST = 60


class AttributePicker(RemovableButtons):
    """A button for each attribute, and a field that adds another.

    Attributes
    ----------
    attributes
        The attributes, in their order.
    usual
        Those that a button restores.

    Examples
    --------
    >>> import prodex
    >>> picker = AttributePicker(panel=Panel())
    >>> picker.offer(prodex.flatten([{"id": 7, "brand": {"code": "ACME"}}]), ("nameLegal",))
    >>> picker.add("brand")
    >>> picker.wait()
    >>> picker.attributes
    ('nameLegal', 'brand')
    """

    attributes: Instance[tuple[str, ...]] = Tuple()

    def __init__(self, *, panel: Panel) -> None:
        super().__init__(panel, "Remove this attribute")
        self.usual: tuple[str, ...] = ()
        self._names: AttributeNames | None = None
        self._status = html("", "muted")
        self.field: w.Combobox = w.Combobox(
            description="Add", placeholder="attribute, such as net content", continuous_update=False
        )
        self._reset = button("Usual attributes", "quiet")
        self._listing: Runner[tuple[AttributeNames, list[str]]] = Runner(self._listed, panel.show_error)
        self._adding: Runner[str] = Runner(self._added, self._refused)
        panel.on(self.field, lambda change: self.add(change["new"]), "value")
        panel.on(self._reset, lambda _: self._restore())
        self.observe(lambda _: self._draw(), "attributes")

    def offer(self, catalog: Catalog, usual: tuple[str, ...]) -> None:
        """Offer the attributes of a catalogue, and show the usual ones, unless somebody has chosen others."""
        is_usual = self.attributes in {(), self.usual}
        self._names, self.usual = AttributeNames(catalog), usual
        self.field.options = ()
        if is_usual:
            self.attributes = usual

    def complete(self) -> None:
        """Have the field complete the names of all attributes, which are read in the background."""
        if self._names is not None and not self.field.options:
            self._listing.ask(lambda names: (names, names.every), self._names)

    def add(self, given: str) -> None:
        """Add an attribute, once it is known that there is one of this name."""
        if given.strip() and self._names is not None:
            self._status.value = status_html("Looking up the attribute …")
            self._adding.ask(AttributeNames.attribute, self._names, given.strip())

    def remove(self, place: int) -> None:
        """Remove an attribute."""
        self.attributes = tuple(name for number, name in enumerate(self.attributes) if number != place)

    def wait(self, seconds: float = 60.0) -> None:
        """Wait until nothing is looked up; for scripts and tests."""
        self._listing.wait(seconds)
        self._adding.wait(seconds)

    def _listed(self, found: tuple[AttributeNames, list[str]]) -> None:
        if found[0] is self._names:
            self.field.options = tuple(found[1])

    def _added(self, attribute: str) -> None:
        self._status.value = ""
        self.field.value = ""
        if attribute not in self.attributes:
            self.attributes = (*self.attributes, attribute)

    def _refused(self, error: BaseException) -> None:
        self._status.value = ""
        self._panel.show_error(error)

    def _restore(self) -> None:
        self.attributes = self.usual

    def _draw(self) -> None:
        shown: list[Any] = [self.field, self._reset, self._status]
        self._show([f"{cut(name, _LONGEST)} ✕" for name in self.attributes], tuple(shown))
        for one in self._buttons:  # a grid without rows could not be read
            one.disabled = len(self.attributes) == 1
