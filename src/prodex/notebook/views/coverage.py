"""Coverage: attributes by language or group of products as a grid; a press lists the products that lack one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pandas as pd

from prodex.catalog.names import AttributeNames
from prodex.errors import InputError, QueryError
from prodex.exploration.coverage import ALL_PRODUCTS, Checks, Choice, CoverageData, pressed, required_checks
from prodex.exploration.filled import USUAL
from prodex.locales import language_label
from prodex.notebook.session.actions import Block, Panel, Section, Want, action, task
from prodex.notebook.session.jobs import are_same_arguments, to_the_end
from prodex.notebook.session.readings import read_for, reading
from prodex.notebook.session.session import Refused, Session, error_text
from prodex.notebook.views.blocks import button, fold, is_open, paragraph, row, typed_text
from prodex.notebook.views.cells import cells
from prodex.notebook.views.conditions import conditions_bar
from prodex.notebook.views.coverage_grid import WHOLE, CoverageGrid
from prodex.notebook.views.forms import FormField, Setting, form, form_values, required
from prodex.notebook.views.pages_of_rows import RowList
from prodex.phrases import counted
from prodex.progress import Reporter
from prodex.selection import Selection
from prodex.selection.units import ALL_UNITS, CONSUMER
from prodex.untrusted_text import cut

#: What the columns can be: texts in a language, or the groups of a facet.
_GROUPINGS = ("language", "kind", "owner", "brand", "market")
_REQUIRED = "products to which it applies"
#: Characters of the path of an attribute on its button.
_LONGEST = 60
_FORM, _ATTRIBUTES, _NAMES = "coverage", "coverage-attributes", "coverage.names"
_LEGEND = (
    "A cell shows the share of the products that have the attribute: the more lack it, the stronger is its colour. "
    "Press a cell to list the products that lack it, and again to take that back; a head lists those of its row or "
    "column, and ⇅ beside it sorts the columns by a row. “≥”: only a part was asked for, and more may be there."
)


@dataclass(frozen=True)
class CoverageState:
    """What the section keeps beside its form.

    Attributes
    ----------
    attributes
        The attributes that somebody has chosen, as wire paths; None as long as they are the usual ones.
    sorted_by
        The row by which the columns are sorted, and whether the best is first.
    data
        What was read, of the catalogue that was shown then.
    unread
        What could not be read last, and why.
    """

    attributes: tuple[str, ...] | None = None
    sorted_by: tuple[str, bool] | None = None
    data: CoverageData | None = None
    unread: tuple[tuple[Any, ...], str] | None = None


_BY = Setting(
    _FORM, FormField("by", "Columns", "choice", "language", [(one, f"{one}s") for one in _GROUPINGS])
)
#: The columns and the rows of the grid, both of which have pages.
_COLUMNS = RowList(
    "coverage columns", 10, lambda session: (_BY.of(session), session.part(CoverageState).sorted_by)
)
_ROWS = RowList("coverage rows", 40)


class _Counted:
    """The last grid, and what it is of: it is drawn with each change, and counted only if it is another."""

    def __init__(self, _: Session) -> None:
        self.of: object = None
        self.grid: CoverageGrid | None = None


def coverage_view(session: Session) -> list[Block]:
    """Return what the section shows."""
    grid = shown_grid(session)
    blocks = [
        conditions_bar(session),
        None if grid is None else _about(session, grid),
        row(
            _BY.switch(session, key="by"),
            form(session, _FORM, _fields(session)[1:], look="bar"),
            key="choices",
        ),
        _status(session),
        *([] if grid is None else _grid_blocks(session, grid)),
        fold(session, _ATTRIBUTES, "Attributes", partial(_attribute_blocks, session)),
    ]
    return [one for one in blocks if one]


def coverage_wants(session: Session) -> Iterable[Want]:
    """Yield what is to be read for the figures, and for the names of attributes while these are offered."""
    data, choice, catalog = _data(session), _choice(session), session.catalog
    if not data.has_read(choice, session.conditions):
        key = _read_key(session)
        yield Want(
            "coverage.read",
            key,
            partial(_read, data, choice, session.conditions),
            lambda session, read: session.with_changed(CoverageState, data=read, unread=None),
            {
                "failed": lambda session, error: session.with_changed(
                    CoverageState, unread=(key, error_text(error))
                ),
                "title": "Reading attributes",
            },
        )
    if is_open(session, _ATTRIBUTES) and read_for(session, _NAMES, (catalog,)) is None:
        yield reading(_NAMES, (catalog,), lambda _: AttributeNames(catalog).every, failed=None)


def _read(data: CoverageData, choice: Choice, conditions: Selection, reporter: Reporter) -> CoverageData:
    # To the end, also when newer figures are asked for: these need what was read, and would read it once more.
    with to_the_end(reporter).phase("Reading attributes", "products", len(data.filter.products)) as show:
        return data.reading(choice, conditions, show)


def _read_key(session: Session) -> tuple[Any, ...]:
    choice = _choice(session)
    shown = (choice.attributes, choice.by, int(choice.of_required))
    return (session.filter, *shown, session.conditions.words)


def _data(session: Session) -> CoverageData:
    known = session.part(CoverageState).data
    return CoverageData.of(session.filter) if known is None else known.following(session.filter)


def _checks(session: Session) -> Checks:
    return {} if session.audit is None else required_checks(session.audit)


def _usual(session: Session) -> tuple[str, ...]:
    """Return the attributes that an audit requires; without one, those that matter to most."""
    required = tuple(dict.fromkeys(attribute for attribute, _ in session.derived(_checks)))
    return required or USUAL


def _attributes(session: Session) -> tuple[str, ...]:
    chosen = session.part(CoverageState).attributes
    return _usual(session) if chosen is None else chosen


def _fields(session: Session) -> list[FormField]:
    """Return what can be chosen; what the columns are is drawn apart from the others."""
    typed = session.typed.get(_FORM, {})
    is_required = bool(session.derived(_checks))
    of_required = is_required and typed.get("of_required", True)
    fields = [_BY.field]
    if typed.get("by", "language") != "language" and not of_required:
        spoken = _data(session).filled.languages(_attributes(session))
        languages = [("", "any language"), *((one, language_label(one)) for one in spoken)]
        fields.append(FormField("language", "Texts in", "choice", "", languages))
    units = [(CONSUMER, "consumer units"), (ALL_UNITS, "all units")]
    fields.append(FormField("units", "Units", "choice", CONSUMER, units))
    if is_required:
        # What an audit requires of few products looks empty among all.
        counts = [(False, ALL_PRODUCTS), (True, _REQUIRED)]
        fields.append(FormField("of_required", "Count", "choice", True, counts))
    orders = [("", "as listed"), ("worst", "worst first")]
    return [*fields, FormField("order", "Order", "choice", "", orders)]


def _values(session: Session) -> dict[str, Any]:
    return {"language": "", "of_required": False, **form_values(session, _FORM, _fields(session))}


def _choice(session: Session) -> Choice:
    values = _values(session)
    return Choice(
        _attributes(session), values["by"], values["language"], values["of_required"], values["units"]
    )


def shown_grid(session: Session) -> CoverageGrid | None:
    """Return the grid of all attributes that were read, or the one before; None where nothing was counted yet."""
    choice, conditions, data = _choice(session), session.conditions, _data(session)
    there = tuple(one for one in choice.attributes if one in data.filled.attributes)
    read, kept = replace(choice, attributes=there), session.derived(_Counted)
    if not there or not data.has_read(read, conditions):
        # What was shown before stays until the rest is read, and so does the focus in it.
        return kept.grid
    is_worst_first = _values(session)["order"] == "worst"
    sorted_by = session.part(CoverageState).sorted_by
    of = (read, conditions, data.filled, data.required, is_worst_first, sorted_by)
    if kept.grid is None or kept.of != of:
        figures = data.figures(read, conditions)
        figures = figures.worst_first() if is_worst_first else figures
        units = data.counted_units(read, conditions)
        kept.of = of
        kept.grid = CoverageGrid(figures, session.derived(_checks), read.of_required, units, sorted_by)
    return kept.grid


def coverage_frame(session: Session) -> pd.DataFrame:
    """Return the figures of a session that has read them; see `Explore.coverage`.

    Raises
    ------
    InputError
        When they could not be read; the section says why.
    """
    state, grid = session.part(CoverageState), shown_grid(session)
    if grid is None or not _data(session).has_read(_choice(session), session.conditions):
        why = "" if state.unread is None else f" {state.unread[1]}"
        raise InputError(f"The figures could not be read.{why}")
    frame = grid.figures.frame()
    frame.attrs["counted"] = str(grid.counted)
    return frame


def _about(session: Session, grid: CoverageGrid) -> Block:
    units, size = grid.counted, len(session.catalog)
    of = f" of {counted(size, 'product')}" if session.conditions else f" product{'' if size == 1 else 's'}"
    said = f"{units.products + units.others:,}{of}"
    left_out = _data(session).left_out(_choice(session), grid.figures)
    counts = "" if units.units == ALL_UNITS else f"counted: {units}"
    about = "".join(f" · {one}" for one in (counts, left_out) if one)
    return paragraph([said, typed_text(about)] if about else said, key="about", tone="status")


def _status(session: Session) -> Block | None:
    """Say that something is read, or why it could not be."""
    if _data(session).has_read(_choice(session), session.conditions):
        return None
    unread = session.part(CoverageState).unread
    if unread is not None and are_same_arguments(unread[0], _read_key(session)):
        return paragraph(typed_text(unread[1]), key="status", tone="problem")
    shown = session.works.get("coverage.read")
    return paragraph("Reading …" if shown is None else str(shown.progress), key="status", tone="muted")


def _grid_blocks(session: Session, grid: CoverageGrid) -> list[Block]:
    figures = grid.figures
    columns, of_columns = _COLUMNS.page(session, len(figures.columns) - 1, figures.by, key="columns")
    rows, of_rows = _ROWS.page(session, len(figures.rows), "attribute", key="rows")
    heads, lines = grid.page(rows, columns, session.conditions)
    return [
        row(of_columns, of_rows, key="pages"),
        cells(
            heads,
            lines,
            key="grid",
            label=f"Coverage by {figures.by}",
            corner="Attribute",
            do={one: f"coverage.{one}" for one in ("cell", "row", "column", "sort")},
            empty="No attributes are shown.",
        ),
        paragraph(_LEGEND, key="legend", tone="muted small"),
    ]


def _attribute_blocks(session: Session) -> list[Block]:
    attributes = _attributes(session)
    # A grid without rows could not be read.
    off = "The last attribute stays: a grid needs a row" if len(attributes) == 1 else ""
    known = read_for(session, _NAMES, (session.catalog,))
    every = [] if known is None else known.value
    add = FormField("attribute", "Add", placeholder="attribute, such as net content", suggestions=every)
    return [
        form(
            session,
            _ATTRIBUTES,
            [add],
            button("Add attribute", "coverage.add"),
            button("Usual attributes", "coverage.usual", look="quiet"),
        ),
        row(
            *(
                button(
                    [typed_text(cut(one, _LONGEST)), " ✕"],
                    "coverage.remove",
                    look="chip",
                    title="Remove this attribute",
                    off=off,
                    attribute=one,
                )
                for one in attributes
            ),
            key="chosen",
        ),
    ]


@action("coverage.sort", is_quiet=True)
def sort_columns(session: Session, row: str) -> Session:
    """Sort the columns by a row: the worst first, then the best, then as they are listed."""
    following = {(row, False): (row, True), (row, True): None}
    before = session.part(CoverageState).sorted_by or ("", False)
    sorted_by = following.get(before, (row, False))
    return session.with_changed(CoverageState, sorted_by=sorted_by)


@action("coverage.cell")
def press_cell(session: Session, row: str, column: str) -> Session:
    """List the products that lack an attribute, or no longer."""
    return _pressed(session, row, column)


@action("coverage.row")
def press_row(session: Session, row: str) -> Session:
    """List the products of all columns that lack the attribute of a row, or no longer."""
    return _pressed(session, row, WHOLE)


@action("coverage.column")
def press_column(session: Session, column: str) -> Session:
    """List the products of a column, or no longer."""
    return _pressed(session, WHOLE, column)


def _pressed(session: Session, row: str, column: str) -> Session:
    """Require the products behind what was pressed as well, and show them; or require them no longer."""
    grid = shown_grid(session)
    wanted = None if grid is None else grid.behind(row, column)
    if wanted is None:
        raise Refused("Nothing was done: the grid has changed since, and has no such cell.")
    is_taken_back = session.conditions.require(wanted)
    after = session.filtered(pressed(session.conditions, wanted))
    return after if is_taken_back else after.replaced(section="products")


@task("coverage.add")
def add_attribute(app: Panel) -> None:
    """Add the attribute that was typed, once it is known that there is one of this name."""
    catalog, values = app.session.catalog, {"attribute": "", **app.session.typed.get(_ATTRIBUTES, {})}
    given = required(values, _ATTRIBUTES, "attribute", "Enter the path of an attribute.")

    def known(_: Reporter) -> str:
        try:
            return AttributeNames(catalog).attribute(given)
        except QueryError as error:
            raise Refused(str(error), at=f"{_ATTRIBUTES}.attribute") from error

    def added(session: Session, attribute: str) -> Session:
        attributes = tuple(dict.fromkeys([*_attributes(session), attribute]))
        return session.with_changed(CoverageState, attributes=attributes).with_typed(
            _ATTRIBUTES, attribute=""
        )

    app.run("coverage.add", known, added, title="Looking up the attribute", after=0.6)


@action("coverage.remove", is_quiet=True)
def remove_attribute(session: Session, attribute: str) -> Session:
    """Show the row of an attribute no longer."""
    left = tuple(one for one in _attributes(session) if one != attribute)
    return session.with_changed(CoverageState, attributes=left) if left else session


@action("coverage.usual", is_quiet=True)
def restore_attributes(session: Session) -> Session:
    """Show the usual attributes again."""
    return session.with_changed(CoverageState, attributes=None)


COVERAGE = Section("coverage", lambda _: "Coverage", coverage_view, coverage_wants)
