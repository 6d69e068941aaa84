"""Completeness in an audit panel: families by channel and language; a press on a cell lists the incomplete products."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import ipywidgets as w
import pandas as pd

from prodex.colour_scale import shade
from prodex.locales import language_label
from prodex.messages import counted, percent
from prodex.notebook.audit.drill_down import Choose, Chosen, DrillDown
from prodex.notebook.shared.boxes import VBox
from prodex.notebook.shared.cell_grid import CellGrid, GridRow, PressableCell
from prodex.notebook.shared.panel import Panel, html, row, show_if, text_html
from prodex.notebook.shared.row_table import Pager
from prodex.quality import Audit
from prodex.quality.completeness import EVERY_LANGUAGE, NO_LANGUAGE, Completeness, counted_of
from prodex.quality.requirements import ALL
from prodex.selection.paths import FAMILY
from prodex.untrusted_text import label

#: Rows of a page.
_ROWS = 12


class CompletenessGrid(VBox):
    """A choice of columns, and a grid of families.

    Attributes
    ----------
    choices
        The products behind each cell of the page that lists any, by the keys of its row and its column.
    """

    def __init__(self, panel: Panel, choose: Choose) -> None:
        super().__init__()
        self._panel, self._choose = panel, choose
        self._seen: Completeness | None = None
        self._table: pd.DataFrame = pd.DataFrame()
        self._chosen: Chosen | None = None
        self._heads: list[PressableCell] = []
        self._rows: list[GridRow] = []
        self.choices: dict[tuple[str, str], DrillDown] = {}

    def _make(self) -> None:
        """Make the widgets: only for whoever has requirements, since each of them is a message to the browser."""
        #: Channels as columns, or the languages of one channel.
        self.switch: w.Dropdown = w.Dropdown(description="Columns", layout=w.Layout(width="auto"))
        self.order: w.Dropdown = w.Dropdown(
            description="Order",
            options=[("largest first", "products"), ("least complete first", "completeness")],
            layout=w.Layout(width="auto"),
        )
        self.pager: Pager = Pager(self._panel, _ROWS, self._draw)
        self.grid: CellGrid = CellGrid(self._panel, cell=lambda *keys: self._choose(self.choices[keys]))
        self._panel.on(self.switch, lambda _: self._turn(), "value")
        self._panel.on(self.order, lambda _: self._turn(), "value")
        self._note = html("", "muted")
        title = (
            "<h3>Completeness <span class='muted small'>products that have all that a channel requires; a stronger "
            "colour means fewer. Press a cell to list those that lack something.</span></h3>"
        )
        bar = row(self.switch, self.order, self.pager, look="bar-above")
        self.children = (html(title), bar, self.grid, self._note)

    @property
    def table(self) -> pd.DataFrame:
        """The whole table, as `Audit.completeness` returns it; empty without requirements."""
        return self._table.drop(columns="with_accepted", errors="ignore")

    def show(self, audit: Audit) -> None:
        """Show an audit; without requirements nothing is shown."""
        show_if(self, audit.families is not None)
        if audit.families is None:
            self._seen = None
            return
        if not self.children:
            self._make()
        self._seen = Completeness.of(audit)
        self._table = self._seen.table_of_both()
        channels = [one.label for one in self._seen.wanted.channels]
        options = [("channels", ""), *((f"{one}: languages", one) for one in channels)]
        if list(self.switch.options) != options:
            self.switch.options = options
            self.switch.value = ""
        self._note.value = _note(self._seen, self._table)
        self._turn()

    def mark(self, chosen: Chosen | None) -> None:
        """Mark the selected cells, now and whenever their page is shown again."""
        self._chosen = chosen
        if self._seen is not None:
            self._show()

    def _turn(self) -> None:
        if self._seen is not None:
            self.pager.over(len(self._families()), "group")

    def _families(self) -> list[str | None]:
        """Return the codes of the rows in their order; all products come first."""
        every = self._table[self._table["language"] == EVERY_LANGUAGE]
        code = every.columns[1]
        by = str(self.order.value)
        sizes = every.groupby(code, dropna=False, sort=False).agg({"products": "max", "completeness": "min"})
        ordered = sizes.sort_values(
            by, ascending=by == "completeness", kind="stable", na_position="last"
        ).index
        names = [None if pd.isna(one) else str(one) for one in ordered]
        return [ALL, *(one for one in names if one != ALL)]

    def _columns(self) -> list[tuple[str, str]]:
        """Return channel and language of each column."""
        assert self._seen is not None  # noqa: S101 - asked for only once there is an audit
        if channel := str(self.switch.value or ""):
            own = self._table[self._table["channel"] == channel]
            return [(channel, one) for one in dict.fromkeys(own["language"])]
        return [(one.label, EVERY_LANGUAGE) for one in self._seen.wanted.channels]

    def _draw(self) -> None:
        if self._seen is None:
            return
        code, name = self._table.columns[1:3]
        columns = self._columns()
        self._heads = [
            PressableCell(_key(*one), self._head(*one), self._head(*one), is_mute=True) for one in columns
        ]
        figures: dict[tuple[str, str, str | None], Mapping[Any, Any]] = {
            (one["channel"], one["language"], None if pd.isna(one[code]) else one[code]): one
            for one in self._table.to_dict("records")
        }
        self._rows, self.choices = [], {}
        for place, family in enumerate(self._families()[self.pager.first :][:_ROWS]):
            key = f"family {self.pager.first + place}"
            rows = [figures.get((*one, family)) for one in columns]
            known = next((one for one in rows if one is not None), None)
            title = "without family" if known is None or pd.isna(known[name]) else label(known[name]).text
            cells = []
            for (channel, language), figure in zip(columns, rows, strict=True):
                if figure is not None and figure["incomplete"]:
                    self.choices[key, _key(channel, language)] = self._choice(
                        channel, language, family, title
                    )
                cells.append(_cell(channel, language, title, figure))
            self._rows.append(GridRow(self._family_cell(key, title, family, known), tuple(cells)))
        self._show()

    def _head(self, channel: str, language: str) -> str:
        if not self.switch.value:
            return channel
        words = {EVERY_LANGUAGE: "everything", NO_LANGUAGE: "without language"}
        return words.get(language) or language_label(language)

    def _choice(self, channel: str, language: str, family: str | None, title: str) -> DrillDown:
        assert self._seen is not None  # noqa: S101 - asked for only once there is an audit
        checks = tuple(one.check.id for one in self._seen.columns(channel, language=language))
        what = channel if language == EVERY_LANGUAGE else f"{channel}, {self._head(channel, language)}"
        return DrillDown(
            what, checks, None if family == ALL else (FAMILY, family), "" if family == ALL else title
        )

    def _family_cell(
        self, key: str, title: str, family: str | None, known: Mapping[Any, Any] | None
    ) -> PressableCell:
        products = 0 if known is None else int(known["products"])
        is_new = known is not None and not known["listed"] and family is not None
        note = f"{products:,}{', not listed' if is_new else ''}"
        of = counted(products, "product") if known is None else counted_of(known)
        say = f"{title}: {of}{'; the requirements do not list it' if is_new else ''}"
        return PressableCell(key, title, say, note, is_mute=True)

    def _show(self) -> None:
        """Show the page, with the cells marked whose products are shown now."""
        rows = [
            replace(one, cells=tuple(self._marked(one.head.key, cell) for cell in one.cells))
            for one in self._rows
        ]
        self.grid.show("Completeness by family", "Family", self._heads, rows, empty="Nothing is required.")

    def _marked(self, row_key: str, cell: PressableCell) -> PressableCell:
        choice = self.choices.get((row_key, cell.key))
        return replace(
            cell, is_pressed=choice is not None and self._chosen is not None and self._chosen(choice)
        )


def _key(channel: str, language: str) -> str:
    return f"{channel} {language}"


def _cell(channel: str, language: str, title: str, figure: Mapping[Any, Any] | None) -> PressableCell:
    key = _key(channel, language)
    about = f"{title}, {channel}"
    if figure is None or not figure["products"]:
        return PressableCell(key, "–", f"{about}: nothing is required", is_mute=True)
    products, complete, unknown = (int(figure[name]) for name in ("products", "complete", "unknown"))
    say = f"{complete:,} of {counted_of(figure)} complete"
    say += f", unknown of {unknown:,}" if unknown else ""
    if unknown == products:
        return PressableCell(key, "unknown", f"{about}: {say}", is_mute=True)
    share = float(figure["completeness"])
    if figure["with_accepted"] > share:
        say += f"; {percent(figure['with_accepted'], 0)} with what was accepted"
    most = f". Missing most: {figure['missing_most']}" if figure["missing_most"] else ""
    lists = f". Press to list the {int(figure['incomplete']):,} incomplete" if figure["incomplete"] else ""
    shown = f"{percent(share, 0)}{' ?' if unknown else ''}"
    return PressableCell(
        key,
        shown,
        f"{about}: {shown}, {say}",
        "",
        f"{about}: {say}{most}{lists}",
        shade(share if share >= 1 else min(round(share, 2), 0.99)),
        is_mute=not figure["incomplete"],
    )


def _note(seen: Completeness, table: pd.DataFrame) -> str:
    """Say of how many products the figures are, and which families are new."""
    return "<br>".join(
        map(text_html, filter(None, [*seen.counted(table).values(), str(seen.new_families_said or "")]))
    )
