"""A form to write what is left of a catalogue to files."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets as w

from prodex.catalog import Catalog
from prodex.errors import ProdexError
from prodex.notebook.background import Newest
from prodex.notebook.panel import Panel, html, in_words, rest, typed
from prodex.notebook.products.exporting import AS_SHOWN, EVERYTHING, Shown, Wish, folder_of, written
from prodex.quality.display import counted

_FORMATS = (("CSV", "csv"), ("XLSX (Excel)", "xlsx"), ("Parquet", "parquet"))


class ExportBox(w.VBox):
    """Format, folder, a button, and what became of it.

    Parameters
    ----------
    panel
        Where it stands.
    gather
        Gives what is shown now, and the catalogue of the same products.
    """

    def __init__(self, *, panel: Panel, gather: Callable[[], tuple[Shown, Catalog]]) -> None:
        super().__init__()
        self._gather = gather
        self._confirmed: Wish | None = None
        narrow = w.Layout(width="auto")
        self._what = w.Dropdown(description="Write", options=[AS_SHOWN, EVERYTHING], layout=narrow)
        self._format = w.Dropdown(description="as", options=_FORMATS, layout=narrow)
        self._folder = w.Text(description="to the folder", value="export", layout=w.Layout(width="320px"))
        self._safe = w.Checkbox(
            description="Safe for spreadsheets: an apostrophe before text that would run as a formula",
            value=True,
            indent=False,
            layout=w.Layout(width="auto"),  # its own: it is hidden alone
        )
        self._button = w.Button(layout=narrow)
        self._button.add_class("primary")
        self._told = html("")
        self._writing: Newest[str] = Newest(written, self._done, self._failed)
        line = w.HBox([self._what, self._format, self._folder, self._button])
        line.add_class("line")
        self.children = (line, self._safe, self._told)
        for control in (self._what, self._format, self._folder, self._safe):
            panel.on(control, lambda _: self._ask_again(), "value")
        panel.on(self._button, lambda _: self._press())
        self.count(0)

    def count(self, products: int) -> None:
        """Say on the button how many products would be written."""
        self._products = products
        self._ask_again()

    def wait(self) -> None:
        """Wait until it is written; for scripts and tests."""
        self._writing.wait()

    def _ask_again(self) -> None:
        self._confirmed = None
        self._safe.layout.display = "" if self._format.value == "csv" else "none"
        self._button.description = f"Export {counted(self._products, 'product')}"
        self._button.disabled = not self._products

    def _press(self) -> None:
        self._told.value = ""
        try:
            self._write()
        except ProdexError as error:
            self._failed(error)

    def _write(self) -> None:
        wish = Wish(self._what.value, self._format.value, folder_of(self._folder.value), self._safe.value)
        there = wish.in_the_way
        if there and wish != self._confirmed:
            self._confirmed = wish
            self._button.description = f"Replace {'it' if len(there) == 1 else 'them'}"
            self._tell(f"In {wish.folder.absolute()} there is already: {_listed(there)}.")
            return
        rest(self._button, is_resting=True)
        self._tell(f"Writing {counted(self._products, 'product')} …")
        self._writing(wish, *self._gather())

    def _tell(self, sentence: str) -> None:
        self._told.value = f"<div class='note' role='status'>{typed(sentence)}</div>"

    def _done(self, sentence: str) -> None:
        self._tell(sentence)
        self._finish()

    def _failed(self, error: BaseException) -> None:
        self._told.value = f"<div class='problem' role='alert'>{typed(in_words(error))}</div>"
        self._finish()

    def _finish(self) -> None:
        self._ask_again()
        rest(self._button, is_resting=False)


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:3])
    return shown if len(names) <= 3 else f"{shown} and {counted(len(names) - 3, 'other file')}"
