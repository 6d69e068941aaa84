"""The heat map of an audit: scores of groups by block; a click on a cell shows the products that fail there."""

from __future__ import annotations

import ipywidgets as w

from prodex.display.report.group_scores import GROUPINGS, GroupScores
from prodex.notebook.audit.drill_down import Choose, Chosen, DrillDownButton, of_cell
from prodex.notebook.boxes import VBox
from prodex.notebook.paged_tables import Pager
from prodex.notebook.panel import Panel, html, row, styled, text_html
from prodex.quality import Audit
from prodex.quality.scores import SMALL
from prodex.text import counted

#: Rows of a page: each has a button for every block.
_ROWS = 12


class HeatMap(VBox):
    """A choice of grouping, and a grid of buttons.

    The buttons are made once and then get other labels: new ones for every page would be slow and lose the focus.
    """

    def __init__(self, panel: Panel, choose: Choose) -> None:
        self._panel, self._choose = panel, choose
        self._audit: Audit | None = None
        self._known: dict[str, GroupScores] = {}
        self._chosen: Chosen | None = None
        self.switch: w.ToggleButtons = w.ToggleButtons(
            options=[(f"{by}s", by) for by in GROUPINGS],
            style=w.ToggleButtonsStyle(button_width="auto"),
            layout=w.Layout(width="auto"),
        )
        self.pager: Pager = Pager(panel, _ROWS, self._draw)
        self._corner = html("")
        self._heads: list[w.HTML] = []
        self._names = [html("", "heat-name") for _ in range(_ROWS)]
        self._cells: list[list[DrillDownButton]] = [[] for _ in range(_ROWS)]
        self._grid = styled(w.GridBox(), "heat")
        panel.on(self.switch, lambda _: self._switch(), "value")
        bar = row(self.switch, self.pager, look="bar-above")
        title = (
            "<h3>Scores by group and block <span class='muted small'>worst first; groups of fewer than "
            f"{SMALL} products come last. A stronger colour means a lower score. Press a cell to list the products "
            "that fail there.</span></h3>"
        )
        super().__init__([html(title), bar, self._grid])

    @property
    def buttons(self) -> list[DrillDownButton]:
        """All cells."""
        return [cell for cells in self._cells for cell in cells]

    def show(self, audit: Audit) -> None:
        """Show an audit."""
        self._audit, self._known = audit, {}
        self._switch()

    def mark(self, chosen: Chosen | None) -> None:
        """Mark the selected cell, now and whenever its page is shown again."""
        self._chosen = chosen
        for button in self.buttons:
            button.mark(chosen)

    def _standings(self) -> GroupScores:
        assert self._audit is not None  # noqa: S101 - asked for only once there is one
        by = str(self.switch.value)
        # Kept: all groups are scored at once, also those of other pages, which is slow for a large catalogue.
        if by not in self._known:
            self._known[by] = GroupScores.of(self._audit, by)
        return self._known[by]

    def _switch(self) -> None:
        if self._audit is None:
            return
        standings = self._standings()
        self._fit(("all blocks", *standings.blocks))
        self.pager.over(len(standings.whole), standings.by)

    def _fit(self, blocks: tuple[str, ...]) -> None:
        """Make as many columns as there are blocks."""
        heads = [f"<div class='heat-head'>{text_html(block)}</div>" for block in blocks]
        if len(self._heads) != len(heads):
            self._heads = [html("") for _ in heads]
            # Cells are kept: each is a model of its own in the browser, which is slow to make.
            for cells in self._cells:
                new = (DrillDownButton(self._panel, self._choose, "cell") for _ in heads[len(cells) :])
                cells[:] = [*cells[: len(heads)], *new]
            columns = f"minmax(150px, 2fr) repeat({len(heads)}, minmax(64px, 1fr))"
            self._grid.layout.grid_template_columns = columns
        for head, words in zip(self._heads, heads, strict=True):
            head.value = words

    def _draw(self) -> None:
        if self._audit is None:
            return
        shown_map = self._standings().shown(self.pager.first, _ROWS)
        for place, group in enumerate(shown_map.rows):
            name = f"{text_html(group.name.text)}{'…' if group.name.is_cut else ''}"
            size = f"n = {group.products}" if group.is_small else f"{group.products:,}"
            self._names[place].value = f"{name} <span class='muted n'>{size}</span>"
            blocks = (None, *shown_map.blocks)
            for cell, button, block in zip(group.cells, self._cells[place], blocks, strict=True):
                choice = of_cell(self._audit, shown_map.by, group.code, group.name.text, block)
                button.set_choice(
                    choice if cell.failed else None,
                    cell.score,
                    more="none" if cell.shade is None else f"h{cell.shade}",
                    hint=counted(cell.failed, "failing check") if cell.failed else "",
                    chosen=self._chosen,
                )
        shown: list[w.Widget] = [self._corner, *self._heads]
        for name, cells in zip(self._names[: len(shown_map.rows)], self._cells, strict=False):
            shown += [name, *cells]
        # Assigning the children draws all of them again, so that is done only when their number changes.
        if len(shown) != len(self._grid.children):
            self._grid.children = tuple(shown)
