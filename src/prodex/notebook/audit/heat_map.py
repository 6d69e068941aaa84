"""The heat map of an audit: scores of groups by block; a press on a cell lists the products that fail there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import ipywidgets as w
import pandas as pd

from prodex.display.report.contents import GROUPINGS, score_map
from prodex.messages import counted
from prodex.notebook.audit.drill_down import Choose, Chosen, DrillDown, of_cell
from prodex.notebook.shared.boxes import VBox
from prodex.notebook.shared.cell_grid import CellGrid, GridRow, PressableCell
from prodex.notebook.shared.panel import Panel, html, row
from prodex.notebook.shared.row_table import Pager
from prodex.quality import Audit
from prodex.quality.group_figures import block_scores
from prodex.quality.scores import SMALL

#: Rows of a page.
_ROWS = 12
_ALL = "all blocks"


class HeatMap(VBox):
    """A choice of grouping, and a grid of cells.

    Attributes
    ----------
    choices
        The products behind each cell of the page that lists any, by the keys of its row and its column.
    """

    def __init__(self, panel: Panel, choose: Choose) -> None:
        self._audit: Audit | None = None
        self._known: dict[str, dict[str | None, pd.DataFrame]] = {}
        self._chosen: Chosen | None = None
        self._heads: list[PressableCell] = []
        self._rows: list[GridRow] = []
        self.choices: dict[tuple[str, str], DrillDown] = {}
        self.switch: w.ToggleButtons = w.ToggleButtons(
            options=[(f"{by}s", by) for by in GROUPINGS],
            style=w.ToggleButtonsStyle(button_width="auto"),
            layout=w.Layout(width="auto"),
        )
        self.pager: Pager = Pager(panel, _ROWS, self._draw)
        self.grid: CellGrid = CellGrid(panel, cell=lambda *keys: choose(self.choices[keys]))
        panel.on(self.switch, lambda _: self._switch(), "value")
        bar = row(self.switch, self.pager, look="bar-above")
        title = (
            "<h3>Scores by group and block <span class='muted small'>worst first; groups of fewer than "
            f"{SMALL} products come last. A stronger colour means a lower score. Press a cell to list the products "
            "that fail there.</span></h3>"
        )
        super().__init__([html(title), bar, self.grid])

    def show(self, audit: Audit) -> None:
        """Show an audit."""
        self._audit, self._known = audit, {}
        self._switch()

    def mark(self, chosen: Chosen | None) -> None:
        """Mark the selected cells, now and whenever their page is shown again."""
        self._chosen = chosen
        self._show()

    def _scores(self) -> dict[str | None, pd.DataFrame]:
        assert self._audit is not None  # noqa: S101 - asked for only once there is one
        by = str(self.switch.value)
        # Kept: all groups are scored at once, also those of other pages, which is slow for a large catalogue.
        if by not in self._known:
            self._known[by] = block_scores(self._audit, by)
        return self._known[by]

    def _switch(self) -> None:
        if self._audit is not None:
            self.pager.over(len(self._scores()[None]), str(self.switch.value))

    def _draw(self) -> None:
        if self._audit is None:
            return
        by, scores = str(self.switch.value), self._scores()
        rows, blocks = score_map(scores, by, self.pager.first, _ROWS)["rows"], list(scores)
        self._heads = [PressableCell(_block_key(block), _block_key(block), is_mute=True) for block in blocks]
        self._rows, self.choices = [], {}
        for place, group in enumerate(rows):
            # By its place: two groups may have one name, and what their codes are is a supplier's choice.
            key = f"{by} {self.pager.first + place}"
            cells = []
            for block, cell in zip(blocks, group["cells"], strict=True):
                if cell["failed"]:
                    choice = of_cell(self._audit, by, group["code"], group["name"].text, block)
                    self.choices[key, _block_key(block)] = choice
                cells.append(_score_cell(group, block, cell))
            self._rows.append(GridRow(_group_cell(key, group), tuple(cells)))
        self._show()

    def _show(self) -> None:
        """Show the page, with the cells marked whose products are shown now."""
        rows = [
            replace(one, cells=tuple(self._marked(one.head.key, cell) for cell in one.cells))
            for one in self._rows
        ]
        empty = "" if self._audit is None else f"No {self.switch.value}s."
        self.grid.show("Scores by group and block", str(self.switch.value), self._heads, rows, empty=empty)

    def _marked(self, row_key: str, cell: PressableCell) -> PressableCell:
        choice = self.choices.get((row_key, cell.key))
        is_pressed = choice is not None and self._chosen is not None and self._chosen(choice)
        return replace(cell, is_pressed=is_pressed)


def _block_key(block: str | None) -> str:
    return _ALL if block is None else block


def _group_cell(key: str, group: dict[str, Any]) -> PressableCell:
    name, products = f"{group['name'].text}{'…' if group['name'].is_cut else ''}", group["products"]
    size = f"n = {products}" if group["is_small"] else f"{products:,}"
    return PressableCell(key, name, f"{name}: {counted(products, 'product')}", size, is_mute=True)


def _score_cell(group: dict[str, Any], block: str | None, cell: dict[str, Any]) -> PressableCell:
    score, failed = cell["score"], cell["failed"]
    fails = counted(failed, "failing check") if failed else ""
    say = "; ".join(filter(None, [f"{group['name'].text}, {_block_key(block)}: {score}", fails]))
    return PressableCell(_block_key(block), score, say, "", fails, cell["shade"], is_mute=not failed)
