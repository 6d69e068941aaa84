"""Completeness in an audit: families by channel and language; a press on a cell shows the incomplete products."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import pandas as pd

from prodex.colour_scale import shade
from prodex.locales import language_label
from prodex.messages import counted, percent
from prodex.notebook.session.actions import Block, Want, action
from prodex.notebook.session.value import Refused, Session
from prodex.notebook.views.blocks import box, heading, listed, paragraph, row, typed_text
from prodex.notebook.views.cells import ShownCell, cells, cells_row, short_key
from prodex.notebook.views.drill_down import DrillDown, audited, opened
from prodex.notebook.views.figures import AuditFigures, figures_of
from prodex.notebook.views.forms import FormField, form
from prodex.notebook.views.pages_of_rows import first_of, pager_of, turned_to
from prodex.quality import Audit
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
_ORDERS: tuple[Order, ...] = ("products", "completeness")


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


class CompletenessFigures:
    """How complete the products of an audit are: the table of it, and what its rows and columns are."""

    def __init__(self, audit: Audit) -> None:
        self.of: Audit = audit
        self.seen: Completeness = Completeness.of(audit)
        table = self.seen.table_of_both()
        code, name = table.columns[1:3]
        #: The row of the table for a channel, a language and a family.
        self.rows: dict[tuple[str, str, str | None], dict[str, Any]] = {}
        #: Families as people call them.
        self.names: dict[str | None, str] = {}
        for one in table.to_dict("records"):
            family = None if pd.isna(one[code]) else str(one[code])
            self.rows[one["channel"], one["language"], family] = {str(key): cell for key, cell in one.items()}
            self.names[family] = "without family" if pd.isna(one[name]) else label(one[name]).text
        self.channels: list[str] = [one.label for one in self.seen.wanted.channels]
        self.languages: dict[str, list[str]] = {
            channel: list(dict.fromkeys(table.loc[table["channel"] == channel, "language"]))
            for channel in self.channels
        }
        every = table[table["language"] == EVERY_LANGUAGE].groupby(code, dropna=False, sort=False)
        sizes = every.agg({"products": "max", "completeness": "min"})
        #: The codes of the rows for each order; all products come first.
        self.families: dict[Order, list[str | None]] = {by: _ordered(sizes, by) for by in _ORDERS}
        said = [*self.seen.counted(table).values(), str(self.seen.new_families_said or "")]
        #: Of how many products the figures are, and which families are new.
        self.notes: list[str] = [one for one in said if one]

    def columns(self, channel: str) -> list[tuple[str, str]]:
        """Return channel and language of each column: all channels, or the languages of one."""
        if channel in self.channels:
            return [(channel, language) for language in self.languages[channel]]
        return [(one, EVERY_LANGUAGE) for one in self.channels]

    def choice(self, channel: str, language: str, family: str | None) -> DrillDown:
        """Return the products of a family that lack something of what a channel requires."""
        checks = tuple(one.check.id for one in self.seen.columns(channel, language=language))
        what = channel if language == EVERY_LANGUAGE else f"{channel}, {_language_words(language)}"
        return DrillDown(what, checks, None if family == ALL else (FAMILY, family))


@dataclass(frozen=True, eq=False)
class CountedCompleteness:
    """What was counted last."""

    figures: CompletenessFigures | None = None


def _ordered(sizes: pd.DataFrame, by: Order) -> list[str | None]:
    ordered = sizes.sort_values(by, ascending=by == "completeness", kind="stable", na_position="last")
    names = [None if pd.isna(one) else str(one) for one in ordered.index]
    return [ALL, *(one for one in names if one != ALL)]


def _language_words(language: str) -> str:
    words = {EVERY_LANGUAGE: "everything", NO_LANGUAGE: "without language"}
    return words.get(language) or language_label(language)


def completeness_wants(session: Session) -> Iterable[Want]:
    """Return the completeness of the products that are shown, which is not counted yet."""
    figures = figures_of(session)
    if figures is not None and figures.judged.families is not None:
        yield Want(
            "quality.completeness",
            (figures.judged,),
            lambda _: CompletenessFigures(figures.judged),
            lambda session, found: session.with_part(CountedCompleteness(found)),
        )


def completeness_block(session: Session, figures: AuditFigures) -> Block | None:
    """Return the grid, a page at a time; None without requirements."""
    if figures.judged.families is None:
        return None
    shown, grid = session.part(ShownCompleteness), session.part(CountedCompleteness).figures
    if grid is None or grid.of is not figures.judged:
        return box(
            heading("Completeness"),
            paragraph("It is being counted.", key="counting", tone="muted"),
            key="completeness-box",
        )
    families, columns = grid.families[shown.order], grid.columns(shown.channel)
    is_of_one = shown.channel in grid.channels
    first = first_of(session, "families", len(families), _ROWS)
    fields = (
        FormField(
            "channel",
            "Columns",
            "choice",
            shown.channel if is_of_one else "",
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
        paragraph(_SAID, key="said", tone="muted small"),
        row(
            form(session, "completeness", fields, label="What the grid shows"),
            pager_of("families", len(families), "group", first, _ROWS),
            key="bar",
            look="bar-above",
        ),
        cells(
            [
                ShownCell(column_key(*one), _language_words(one[1]) if is_of_one else one[0], is_mute=True)
                for one in columns
            ],
            [_row(session, grid, one, columns) for one in families[first : first + _ROWS]],
            key="grid",
            label="Completeness by family",
            corner="Family",
            do={"cell": "completeness.open"},
            empty="Nothing is required.",
        ),
        listed(map(typed_text, grid.notes), key="note", tone="muted"),
        key="completeness-box",
    )


def _row(
    session: Session, grid: CompletenessFigures, family: str | None, columns: list[tuple[str, str]]
) -> Block:
    found = [grid.rows.get((*one, family)) for one in columns]
    known = next((one for one in found if one is not None), None)
    title = "without family" if known is None else grid.names[family]
    own = []
    for (channel, language), figure in zip(columns, found, strict=True):
        cell = _cell(channel, language, title, figure)
        is_pressed = not cell.is_mute and grid.choice(channel, language, family).is_in(session.conditions)
        own.append(replace(cell, is_pressed=is_pressed))
    return cells_row(_family_cell(family, title, known), own)


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
    audit, grid = audited(session), session.part(CountedCompleteness).figures
    if grid is None or (grid.of.taken_from or grid.of) is not audit:
        raise Refused("Nothing was done: the completeness is being counted.")
    shown = session.part(ShownCompleteness)
    family = next((one for one in grid.names if family_key(one) == row), "")
    place = next((one for one in grid.columns(shown.channel) if column_key(*one) == column), None)
    if family == "" or place is None:
        raise Refused("Nothing was done: the audit that is shown now has no such cell.")
    return opened(session, grid.choice(*place, family))
