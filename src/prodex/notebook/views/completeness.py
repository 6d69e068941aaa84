"""Completeness in an audit: families by channel and language; a press on a cell shows the incomplete products."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import pandas as pd

from prodex.colour_scale import shade
from prodex.locales import language_label
from prodex.messages import counted, percent
from prodex.notebook.session.actions import Block, action
from prodex.notebook.session.value import Refused, Session
from prodex.notebook.views.blocks import box, heading, listed, row, sentence, typed_text
from prodex.notebook.views.cells import ShownCell, cells, cells_row, short_key
from prodex.notebook.views.drill_down import DrillDown, opened
from prodex.notebook.views.figures import Figures, figures_of
from prodex.notebook.views.forms import FormField, form
from prodex.notebook.views.turned_pages import first_of, pager, turned_to
from prodex.quality.completeness import EVERY_LANGUAGE, NO_LANGUAGE, Completeness, counted_of
from prodex.quality.requirements import ALL
from prodex.selection.paths import FAMILY
from prodex.untrusted_text import label

_ROWS = 12
_SAID = (
    "Products that have all that a channel requires; a stronger colour means fewer. Press a cell to list those that "
    "lack something."
)
Order = Literal["products", "completeness"]


@dataclass(frozen=True)
class ShownCompleteness:
    """The columns of the grid, and the order of its rows.

    Attributes
    ----------
    channel
        The channel whose languages are columns; empty: the columns are channels.
    order
        "products": the largest family first; "completeness": the least complete.
    """

    channel: str = ""
    order: Order = "products"


@dataclass(frozen=True)
class _Grid:
    """The grid of the requirements of an audit: what its rows and columns are."""

    seen: Completeness
    table: pd.DataFrame
    shown: ShownCompleteness

    @property
    def channels(self) -> list[str]:
        return [one.label for one in self.seen.wanted.channels]

    @property
    def channel(self) -> str:
        """The channel whose languages are columns, as long as the audit has it."""
        return self.shown.channel if self.shown.channel in self.channels else ""

    @property
    def families(self) -> list[str | None]:
        """The codes of the rows in their order; all products come first."""
        every = self.table[self.table["language"] == EVERY_LANGUAGE]
        by = self.shown.order
        sizes = every.groupby(every.columns[1], dropna=False, sort=False).agg(
            {"products": "max", "completeness": "min"}
        )
        ordered = sizes.sort_values(by, ascending=by == "completeness", kind="stable", na_position="last")
        names = [None if pd.isna(one) else str(one) for one in ordered.index]
        return [ALL, *(one for one in names if one != ALL)]

    @property
    def columns(self) -> list[tuple[str, str]]:
        """Channel and language of each column."""
        if self.channel:
            own = self.table[self.table["channel"] == self.channel]
            return [(self.channel, one) for one in dict.fromkeys(own["language"])]
        return [(one, EVERY_LANGUAGE) for one in self.channels]

    def head(self, channel: str, language: str) -> str:
        if not self.channel:
            return channel
        words = {EVERY_LANGUAGE: "everything", NO_LANGUAGE: "without language"}
        return words.get(language) or language_label(language)

    def choice(self, channel: str, language: str, family: str | None) -> DrillDown:
        checks = tuple(one.check.id for one in self.seen.columns(channel, language=language))
        what = channel if language == EVERY_LANGUAGE else f"{channel}, {self.head(channel, language)}"
        return DrillDown(what, checks, None if family == ALL else (FAMILY, family))


def completeness_block(session: Session, figures: Figures) -> Block | None:
    """Return the grid, a page at a time; None without requirements."""
    if figures.seen is None or figures.completeness is None:
        return None
    shown = session.part(ShownCompleteness)
    grid = _Grid(figures.seen, figures.completeness, shown)
    families = grid.families
    first = first_of(session, "families", len(families), _ROWS)
    fields = (
        FormField(
            "channel",
            "Columns",
            "choice",
            grid.channel,
            options=[("", "channels"), *((one, f"{one}: languages") for one in grid.channels)],
            do="completeness.columns",
        ),
        FormField(
            "order",
            "Order",
            "choice",
            shown.order,
            options=[("products", "largest first"), ("completeness", "least complete first")],
            do="completeness.order",
        ),
    )
    return box(
        heading("Completeness"),
        sentence(_SAID, key="said", tone="muted small"),
        row(
            form(session, "completeness", fields, label="What the grid shows"),
            pager("families", len(families), "group", first, _ROWS),
            key="bar",
            look="bar-above",
        ),
        cells(
            [
                ShownCell(column_key(*one), grid.head(*one), grid.head(*one), is_mute=True)
                for one in grid.columns
            ],
            _rows(session, grid, families[first : first + _ROWS]),
            key="grid",
            label="Completeness by family",
            corner="Family",
            do={"cell": "completeness.open"},
            empty="Nothing is required.",
        ),
        _note(grid),
        key="completeness-box",
    )


def _rows(session: Session, grid: _Grid, families: list[str | None]) -> list[Block]:
    code, name = grid.table.columns[1:3]
    columns = grid.columns
    figures: dict[tuple[str, str, str | None], Mapping[Any, Any]] = {
        (one["channel"], one["language"], None if pd.isna(one[code]) else one[code]): one
        for one in grid.table.to_dict("records")
    }
    made = []
    for family in families:
        found = [figures.get((*one, family)) for one in columns]
        known = next((one for one in found if one is not None), None)
        title = "without family" if known is None or pd.isna(known[name]) else label(known[name]).text
        own = []
        for (channel, language), figure in zip(columns, found, strict=True):
            cell = _cell(channel, language, title, figure)
            is_pressed = not cell.is_mute and grid.choice(channel, language, family).is_in(session.conditions)
            own.append(replace(cell, is_pressed=is_pressed))
        made.append(cells_row(_family_cell(family, title, known), own))
    return made


def family_key(family: str | None) -> str:
    """Return the key of a row."""
    return "none" if family is None else short_key(f"={family}")


def column_key(channel: str, language: str) -> str:
    """Return the key of a column."""
    return short_key(f"{language} {channel}")


def _family_cell(family: str | None, title: str, known: Mapping[Any, Any] | None) -> ShownCell:
    products = 0 if known is None else int(known["products"])
    is_new = known is not None and not known["listed"] and family is not None
    note = f"{products:,}{', not listed' if is_new else ''}"
    of = counted(products, "product") if known is None else counted_of(known)
    say = f"{title}: {of}{'; the requirements do not list it' if is_new else ''}"
    return ShownCell(family_key(family), title, say, note, is_mute=True)


def _cell(channel: str, language: str, title: str, figure: Mapping[Any, Any] | None) -> ShownCell:
    key = column_key(channel, language)
    about = f"{title}, {channel}"
    if figure is None or not figure["products"]:
        return ShownCell(key, "–", f"{about}: nothing is required", is_mute=True)
    products, complete, unknown = (int(figure[name]) for name in ("products", "complete", "unknown"))
    say = f"{complete:,} of {counted_of(figure)} complete"
    say += f", unknown of {unknown:,}" if unknown else ""
    if unknown == products:
        return ShownCell(key, "unknown", f"{about}: {say}", is_mute=True)
    share = float(figure["completeness"])
    if figure["with_accepted"] > share:
        say += f"; {percent(figure['with_accepted'], 0)} with what was accepted"
    most = f". Missing most: {figure['missing_most']}" if figure["missing_most"] else ""
    lists = f". Press to list the {int(figure['incomplete']):,} incomplete" if figure["incomplete"] else ""
    shown = f"{percent(share, 0)}{' ?' if unknown else ''}"
    return ShownCell(
        key,
        shown,
        f"{about}: {shown}, {say}",
        "",
        f"{about}: {say}{most}{lists}",
        shade(share if share >= 1 else min(round(share, 2), 0.99)),
        is_mute=not figure["incomplete"],
    )


def _note(grid: _Grid) -> Block | None:
    """Say of how many products the figures are, and which families are new."""
    said = [*grid.seen.counted(grid.table).values(), str(grid.seen.new_families_said or "")]
    return listed(map(typed_text, filter(None, said)), key="note", tone="muted")


@action("completeness.columns", is_quiet=True)
def show_columns(session: Session, value: str) -> Session:
    """Show channels as columns, or the languages of one of them."""
    return _turned(session, channel=value)


@action("completeness.order", is_quiet=True)
def order_by(session: Session, value: Order) -> Session:
    """Order the families by something else."""
    return _turned(session, order=value)


def _turned(session: Session, **changes: Any) -> Session:
    return turned_to(session.with_part(replace(session.part(ShownCompleteness), **changes)), "families", 0)


@action("completeness.open")
def open_cell(session: Session, row: str, column: str) -> Session:
    """Show the products of a family that lack something of what a channel requires."""
    figures = figures_of(session)
    if figures is None or figures.seen is None or figures.completeness is None:
        raise Refused("Nothing was done: this audit was made without requirements.")
    grid = _Grid(figures.seen, figures.completeness, session.part(ShownCompleteness))
    family = next((one for one in grid.families if family_key(one) == row), "")
    place = next((one for one in grid.columns if column_key(*one) == column), None)
    if family == "" or place is None:
        raise Refused("Nothing was done: the audit that is shown now has no such cell.")
    return opened(session, grid.choice(*place, family))
