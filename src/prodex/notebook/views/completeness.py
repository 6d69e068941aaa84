"""Completeness in an audit: families by channel and language; a press on a cell shows the incomplete products."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import pandas as pd

from prodex.exploration.coverage import fails
from prodex.locales import language_label
from prodex.notebook.session.actions import Block, Want, action
from prodex.notebook.session.readings import last_read, reading
from prodex.notebook.session.session import Refused, Session
from prodex.notebook.views.blocks import box, heading, listed, paragraph, row, typed_text
from prodex.notebook.views.cells import ShownCell, cells, cells_row, code_key, share_shade, short_key
from prodex.notebook.views.drill_down import are_shown, audited, opened
from prodex.notebook.views.figures import AuditFigures, figures_of
from prodex.notebook.views.forms import FormField, Setting, form, form_values
from prodex.notebook.views.pages_of_rows import RowList
from prodex.phrases import counted, percent
from prodex.quality import Audit
from prodex.quality.completeness import EVERY_LANGUAGE, NO_LANGUAGE, Completeness, counted_of
from prodex.quality.requirements import ALL
from prodex.selection import Selection
from prodex.selection.paths import FAMILY
from prodex.untrusted_text import label

_SLOT = "quality.completeness"
_SAID = (
    "Products that have all that a channel requires; a stronger colour means fewer. Press a cell to list those that "
    "lack something."
)
Order = Literal["products", "completeness"]
_ORDERS: dict[Order, str] = {"products": "largest first", "completeness": "least complete first"}
_LANGUAGES = {EVERY_LANGUAGE: "everything", NO_LANGUAGE: "without language"}


_FORM = "completeness"
_ORDER = Setting(_FORM, FormField("order", "Order", "choice", "products", [*_ORDERS.items()]))
_LIST = RowList("families", 12, lambda session: session.typed.get(_FORM))


class CompletenessFigures:
    """How complete the products of an audit are: the table of it, and what its rows and columns are."""

    def __init__(self, audit: Audit) -> None:
        self.of: Audit = audit
        self.seen: Completeness = Completeness.of(audit)
        table = self.seen.table_of_both()
        code, name = table.columns[1:3]
        #: The row of the table for a channel, a language and a family.
        self.rows: dict[tuple[str, str, str | None], dict[Any, Any]] = {}
        #: Families as people call them.
        self.names: dict[str | None, str] = {}
        for one in table.to_dict("records"):
            family = _code(one[code])
            self.rows[one["channel"], one["language"], family] = one
            self.names[family] = "without family" if pd.isna(one[name]) else label(one[name]).text
        self.channels: list[str] = [one.label for one in self.seen.wanted.channels]
        every = table[table["language"] == EVERY_LANGUAGE].groupby(code, dropna=False, sort=False)
        sizes = every.agg({"products": "max", "completeness": "min"})
        #: The codes of the rows for each order; all products come first.
        self.families: dict[Order, list[str | None]] = {
            by: [ALL, *(one for one in map(_code, _sorted(sizes, by).index) if one != ALL)] for by in _ORDERS
        }
        said = [*self.seen.counted(table).values(), str(self.seen.new_families_said or "")]
        #: Of how many products the figures are, and which families are new.
        self.notes: list[str] = [one for one in said if one]

    def columns(self, channel: str) -> list[tuple[str, str]]:
        """Return channel and language of each column: all channels, or the languages of one."""
        if channel not in self.channels:
            return [(one, EVERY_LANGUAGE) for one in self.channels]
        return list(dict.fromkeys(place[:2] for place in self.rows if place[0] == channel))

    def behind(self, channel: str, language: str, family: str | None) -> Selection:
        """Return the products of a family that lack something of what a channel requires."""
        checks = [one.check.id for one in self.seen.columns(channel, language=language)]
        what = channel if language == EVERY_LANGUAGE else f"{channel}, {_language_words(language)}"
        return fails(what, checks, None if family == ALL else (FAMILY, family))


def _code(value: Any) -> str | None:
    return None if pd.isna(value) else str(value)


def _sorted(sizes: pd.DataFrame, by: Order) -> pd.DataFrame:
    return sizes.sort_values(by, ascending=by == "completeness", kind="stable", na_position="last")


def _language_words(language: str) -> str:
    return _LANGUAGES.get(language) or language_label(language)


def completeness_wants(session: Session) -> Iterable[Want]:
    """Return the completeness of the products that are shown, which is not counted yet."""
    figures = figures_of(session)
    if figures is not None and figures.judged.families is not None:
        judged = figures.judged
        yield reading(_SLOT, (judged,), lambda _: CompletenessFigures(judged), failed=None)


def completeness_block(session: Session, figures: AuditFigures) -> Block | None:
    """Return the grid, a page at a time; None without requirements."""
    if figures.judged.families is None:
        return None
    grid: CompletenessFigures | None = last_read(session, _SLOT).value
    if grid is None or grid.of is not figures.judged:
        counting = paragraph("It is being counted.", key="counting", tone="muted")
        return box(heading("Completeness"), counting, key="completeness-box")
    families, channel = grid.families[_ORDER.of(session)], _channel(session, grid)
    columns = grid.columns(channel)
    page, turning = _LIST.page(session, len(families), "group")
    heads = [(column_key(*one), _language_words(one[1]) if channel else one[0]) for one in columns]
    return box(
        heading("Completeness"),
        paragraph(_SAID, key="said", tone="muted small"),
        row(
            form(session, _FORM, [_channels(grid), _ORDER.field], label="What the grid shows"),
            turning,
            key="bar",
            look="bar-above",
        ),
        cells(
            [ShownCell(*one, is_mute=True) for one in heads],
            [_row(session, grid, one, columns) for one in families[page]],
            key="grid",
            label="Completeness by family",
            corner="Family",
            do={"cell": "completeness.open"},
            empty="Nothing is required.",
        ),
        listed(map(typed_text, grid.notes), key="note", tone="muted"),
        key="completeness-box",
    )


def _channels(grid: CompletenessFigures) -> FormField:
    offered = [("", "channels"), *((one, f"{one}: languages") for one in grid.channels)]
    return FormField("channel", "Columns", "choice", "", offered)


def _channel(session: Session, grid: CompletenessFigures) -> str:
    """Return the channel whose languages are the columns; empty where channels are."""
    return str(form_values(session, _FORM, [_channels(grid)])["channel"])


def _row(
    session: Session, grid: CompletenessFigures, family: str | None, columns: list[tuple[str, str]]
) -> Block:
    figures = [grid.rows.get((*one, family)) for one in columns]
    known = next((one for one in figures if one is not None), None)
    title = grid.names[family]
    products, of = (0, counted(0, "product")) if known is None else (known["products"], counted_of(known))
    is_new = known is not None and not known["listed"] and family is not None
    note = f"{products:,}{', not listed' if is_new else ''}"
    say = f"{title}: {of}{'; the requirements do not list it' if is_new else ''}"
    return cells_row(
        ShownCell(code_key(family), title, say, note, is_mute=True),
        [
            _cell(column_key(*place), f"{title}, {place[0]}", figure, session, grid.behind(*place, family))
            for place, figure in zip(columns, figures, strict=True)
        ],
    )


def column_key(channel: str, language: str) -> str:
    """Return the key of a column."""
    return short_key(f"{language} {channel}")


def _cell(
    key: str, about: str, figure: Mapping[Any, Any] | None, session: Session, wanted: Selection
) -> ShownCell:
    if figure is None or not figure["products"]:
        return ShownCell(key, "–", f"{about}: nothing is required", is_mute=True)
    share, unknown, incomplete = figure["completeness"], figure["unknown"], figure["incomplete"]
    say = f"{figure['complete']:,} of {counted_of(figure)} complete"
    say += f", unknown of {unknown:,}" if unknown else ""
    if unknown == figure["products"]:
        return ShownCell(key, "unknown", f"{about}: {say}", is_mute=True)
    if figure["with_accepted"] > share:
        say += f"; {percent(figure['with_accepted'], 0)} with what was accepted"
    most = f". Missing most: {figure['missing_most']}" if figure["missing_most"] else ""
    lists = f". Press to list the {incomplete:,} incomplete" if incomplete else ""
    shown = f"{percent(share, 0)}{' ?' if unknown else ''}"
    return ShownCell(
        key,
        shown,
        f"{about}: {shown}, {say}",
        hint=f"{about}: {say}{most}{lists}",
        shade=share_shade(share),
        is_pressed=bool(incomplete) and are_shown(session, wanted),
        is_mute=not incomplete,
    )


@action("completeness.open")
def open_cell(session: Session, row: str, column: str) -> Session:
    """Show the products of a family that lack something of what a channel requires."""
    audit = audited(session)
    grid: CompletenessFigures | None = last_read(session, _SLOT).value
    if grid is None or (grid.of.taken_from or grid.of) is not audit:
        raise Refused("Nothing was done: the completeness is being counted.")
    families = {code_key(one): one for one in grid.names}
    places = {column_key(*one): one for one in grid.columns(_channel(session, grid))}
    if row not in families or column not in places:
        raise Refused("Nothing was done: the audit that is shown now has no such cell.")
    return opened(session, grid.behind(*places[column], families[row]))
