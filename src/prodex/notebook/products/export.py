"""Export of the filtered products: the table as it is shown, or every table of the catalogue."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import ipywidgets as w

from prodex.catalog import Catalog
from prodex.exploration.table_export import (
    AS_SHOWN,
    EVERYTHING,
    ExportRequest,
    ShownTable,
    export_formats,
    export_products,
)
from prodex.formats.registry import FORMATS
from prodex.messages import counted
from prodex.notebook.shared.boxes import VBox
from prodex.notebook.shared.exporting import path_of, spreadsheet_box
from prodex.notebook.shared.long_tasks import Exporter
from prodex.notebook.shared.panel import Panel, button, check_box, row, show_if

__all__ = ["AS_SHOWN", "EVERYTHING", "ExportBox", "ExportRequest", "ShownTable", "export_products"]


class ExportBox(VBox):
    """A form with what to export, format, folder and a button.

    Parameters
    ----------
    panel
        The panel around it.
    gather
        Returns the table as it is shown now, and the catalogue of the same products; or both of the products whose ids
        it is given.

    Attributes
    ----------
    only
        Whether only the selected products are exported.
    """

    def __init__(
        self, *, panel: Panel, gather: Callable[[tuple[str, ...] | None], tuple[ShownTable, Catalog]]
    ) -> None:
        super().__init__()
        self._gather = gather
        self._selected: tuple[str, ...] = ()
        self.only: w.Checkbox = check_box("")
        self._confirmed: ExportRequest | None = None
        narrow = w.Layout(width="auto")
        self._what = w.Dropdown(description="Export", options=[AS_SHOWN, EVERYTHING], layout=narrow)
        self._products = 0
        self._format = w.Dropdown(description="as", options=export_formats(AS_SHOWN), layout=narrow)
        self._folder = w.Text(description="to folder", value="export", layout=w.Layout(width="320px"))
        self._languages = w.Text(description="languages", placeholder="all, or such as fr, nl")
        self._columns = w.Text(description="columns", placeholder="all, or such as brand, text")
        self._safe = spreadsheet_box()
        self._button = button("", "primary")
        self.exporter: Exporter = Exporter(panel, {self._button: self._export}, finished=self._reset)
        self._line = row(self._what, self._format, self._folder, self._button, look="line")
        self._choices = row(self._languages, self._columns, look="line")
        self._fill()
        panel.on(self._what, lambda _: self._offer(), "value")
        controls = (self._format, self._folder, self._languages, self._columns, self._safe, self.only)
        for control in controls:
            panel.on(control, lambda _: self._reset(), "value")
        self.offer_only(())
        self.count(0)

    def count(self, products: int) -> None:
        """Show on the button how many products would be exported."""
        self._products = products
        self._reset()

    def offer_only(self, selected: tuple[str, ...]) -> None:
        """Offer to export only these products."""
        self._selected = selected
        self.only.description = f"Only the {counted(len(selected), 'selected product')}"
        self.only.value = self.only.value and bool(selected)
        show_if(self.only, bool(selected))
        self._reset()

    @property
    def _number(self) -> int:
        """How many products would be exported."""
        return len(self._selected) if self.only.value else self._products

    def _fill(self, choices: tuple[Any, ...] = ()) -> None:
        exporter = self.exporter
        self.children: tuple[Any, ...] = (
            *(self._line, self.only, *choices, self._safe),
            *(exporter.work, exporter.line),
        )

    def _offer(self) -> None:
        """Offer the formats of what is to be exported."""
        chosen, formats = self._format.value, export_formats(self._what.value)
        self._format.options = formats
        self._format.value = chosen if chosen in dict(formats).values() else formats[0][1]
        self._reset()

    def _reset(self) -> None:
        """Ask again before files are replaced, since something has changed."""
        self._confirmed = None
        has_parts = self._what.value == EVERYTHING and not FORMATS[self._format.value].holds_records
        self._fill((self._choices,) if has_parts else ())
        # Only CSV has no types: a spreadsheet reads a text in it as a formula.
        show_if(self._safe, FORMATS[self._format.value].can_escape_formulas)
        self._button.description = f"Export {counted(self._number, 'product')}"
        self._button.disabled = not self._number

    def _export(self) -> None:
        folder = path_of(self._folder.value, "a folder for the files, such as out")
        has_parts = self._choices in self.children
        languages, columns = (
            _comma_words(one.value) if has_parts else () for one in (self._languages, self._columns)
        )
        request = ExportRequest(
            self._what.value, self._format.value, folder, self._safe.value, languages, columns
        )
        existing = request.existing_files
        if existing and request != self._confirmed:
            self._confirmed = request
            self._button.description = f"Replace {counted(len(existing), 'file')}"
            self.exporter.show_message(
                f"{request.folder.absolute()} already contains {_first_names(existing)}."
            )
            return
        write = partial(export_products, request, *self._gather(self._selected if self.only.value else None))
        self.exporter.start(write, f"Exporting {counted(self._number, 'product')}")


def _comma_words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _first_names(names: list[str]) -> str:
    shown = ", ".join(names[:3])
    return shown if len(names) <= 3 else f"{shown} and {counted(len(names) - 3, 'other file')}"
