"""A grid of cells that can be pressed: heads of rows and columns, a figure in each cell, and a shade behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from prodex.notebook.shared.live import LiveWidget
from prodex.notebook.shared.panel import Panel
from prodex.untrusted_text import LABEL, cut, ends

#: Characters that are shown of the head of a column, of other texts, and of a tooltip.
_NARROW, _WIDE, _HINT = 60, LABEL, 400


@dataclass(frozen=True)
class PressableCell:
    """A head or a cell.

    Attributes
    ----------
    key
        What a press reports.
    text
        What is shown.
    say
        What a screen reader reads out in its place; the text where it is empty.
    detail
        A line below the text of a head.
    hint
        The tooltip.
    shade
        Its place in `prodex.colour_scale.SCALE`, 0 where nothing is missing; None where there is no figure.
    is_pressed
        Whether what it lists is shown now.
    is_mute
        Whether it lists nothing: it can be read, and a press does nothing.
    """

    key: str
    text: str
    say: str = ""
    detail: str = ""
    hint: str = ""
    shade: int | None = None
    is_pressed: bool = False
    is_mute: bool = False

    def to_json(self, most: int = _WIDE) -> dict[str, Any]:
        """Return it as the script takes it; of long labels the beginning."""
        return {
            "key": self.key,
            "text": _beginning(self.text, most),
            "say": _beginning(self.say or self.text, _HINT),
            "detail": _beginning(self.detail, _HINT),
            "hint": _beginning(self.hint, _HINT),
            "shade": self.shade,
            "pressed": self.is_pressed,
            "disabled": self.is_mute,
        }


@dataclass(frozen=True)
class GridRow:
    """A row: its head, and a cell for each column; the row of totals is set apart."""

    head: PressableCell
    cells: tuple[PressableCell, ...]
    is_total: bool = False


class CellGrid(LiveWidget):
    """A grid of cells that can be pressed, and its heads as well.

    Parameters
    ----------
    panel
        The panel around it, which shows errors.
    cell, row, column
        Called with the keys of what was pressed: of a cell those of its row and its column.

    Examples
    --------
    >>> grid = CellGrid(Panel(), cell=lambda row, column: print(row, column))
    >>> cells = (PressableCell("fr", "50 %", "1 of 2"), PressableCell("de", "–", is_mute=True))
    >>> heads = [PressableCell("fr", "French"), PressableCell("de", "German")]
    >>> grid.show("Texts by language", "Attribute", heads, [GridRow(PressableCell("name", "Name"), cells)])
    >>> grid.press(do="cell", row="name", column="fr")
    name fr
    >>> grid.press(do="cell", row="name", column="de")
    """

    def __init__(
        self,
        panel: Panel,
        *,
        cell: Callable[[str, str], object],
        row: Callable[[str], object] | None = None,
        column: Callable[[str], object] | None = None,
    ) -> None:
        self._answers_of: dict[str, Callable[..., object] | None] = {
            "cell": cell,
            "row": row,
            "column": column,
        }
        self._listed: set[tuple[str, ...]] = set()
        pressed = {name: partial(self._pressed, name) for name in self._answers_of}
        super().__init__(panel, "cell_grid", pressed)
        self.show("", "", (), ())

    def show(
        self,
        label: str,
        corner: str,
        columns: Sequence[PressableCell],
        rows: Sequence[GridRow],
        *,
        empty: str = "",
    ) -> None:
        """Show other cells; the focus stays on the cell of the same keys.

        Parameters
        ----------
        label
            What the grid shows, for screen readers.
        corner
            The head above the heads of the rows.
        columns, rows
            The heads of the columns, and the rows.
        empty
            What is shown where there are no rows or no columns.
        """
        self._listed = {("column", one.key) for one in columns if not one.is_mute}
        for row in rows:
            self._listed |= {("row", row.head.key)} if not row.head.is_mute else set()
            self._listed |= {("cell", row.head.key, one.key) for one in row.cells if not one.is_mute}
        self.view = {
            "label": label,
            "corner": corner,
            "columns": [one.to_json(_NARROW) for one in columns],
            "rows": [
                {
                    **row.head.to_json(),
                    "cells": [one.to_json() for one in row.cells],
                    "total": row.is_total,
                }
                for row in rows
            ],
            "empty": empty,
        }

    def _pressed(self, what: str, **keys: str) -> None:
        answer = self._answers_of[what]
        places = [str(keys[name]) for name in ("row", "column") if name in keys]
        # The page may report a cell that has changed since.
        if answer is not None and (what, *places) in self._listed:
            answer(*places)


def _beginning(text: str, most: int) -> str:
    """Return the beginning of a text, with whatever closes the marks of direction that it leaves open."""
    beginning = cut(text, most)
    return beginning + ends(beginning)
