"""The snapshot panel: a list of snapshots, their development over time, and the comparison of two."""

from __future__ import annotations

from functools import partial
from html import escape
from pathlib import Path
from typing import ClassVar

import ipywidgets as w
from traitlets import Instance, link

from prodex.catalog import Catalog
from prodex.compare import Difference
from prodex.errors import InputError, OtherLayout
from prodex.files.atomic import relative_to_working_folder
from prodex.load.resume import unfinished_loads
from prodex.messages import counted
from prodex.notebook.shared.long_tasks import WorkRow
from prodex.notebook.shared.panel import Panel, button, html, message_html, row, show_if, text_html
from prodex.notebook.shared.row_table import Pager, RowTable
from prodex.notebook.shared.state import Exploration
from prodex.notebook.snapshots.comparison import ComparisonBox
from prodex.notebook.snapshots.saved import (
    COLUMNS,
    NUMBERS,
    SnapshotEntry,
    snapshot_entries,
    unfinished_markup,
)
from prodex.notebook.snapshots.trend import TrendBox
from prodex.progress import Progress
from prodex.selection import ProductList, Selection
from prodex.store.archive import snapshots_folder
from prodex.store.snapshot import open_snapshot, verify

_ROWS = 10


class SnapshotPanel(Panel):
    """Open snapshots, and compare them.

    Parameters
    ----------
    name
        Only snapshots of this name; all by default.
    exploration
        The state shared with other panels: they show the snapshot that is selected here.

    Attributes
    ----------
    catalog
        The selected snapshot, opened, or None. With an exploration, the snapshot that is explored.
    difference
        The result of the last comparison, or None.

    Examples
    --------
    >>> import prodex
    >>> _ = prodex.flatten([{"id": 7}]).save("shop")
    >>> panel = SnapshotPanel("shop")
    >>> panel.table.selected_rows = [0]
    >>> len(panel.catalog)
    1
    """

    reads_for: ClassVar[float] = 2.0

    catalog: Instance[Catalog | None] = Instance(Catalog, allow_none=True)
    difference: Instance[Difference | None] = Instance(Difference, allow_none=True)

    def __init__(self, name: str | None = None, *, exploration: Exploration | None = None) -> None:
        if not isinstance(name, str | None):
            raise InputError(f"name must be the name of snapshots, not {type(name).__name__}.")
        super().__init__("Snapshots")
        self.add_class("figures")
        self.exploration = exploration
        self._name = name
        self._every: tuple[SnapshotEntry, ...] = ()
        self._shown: tuple[SnapshotEntry, ...] = ()
        self._chosen: SnapshotEntry | None = None
        self.refresh: w.Button = button("Refresh list")
        self.verify: w.Button = button("Verify")
        self.verifying: WorkRow[str] = WorkRow(self, self._verified, self.show_error, starts=[self.verify])
        self.pager: Pager = Pager(self, _ROWS, self._draw)
        bar = row(self.refresh, self.verify, self.pager, look="bar-above")
        self.table: RowTable = RowTable(self, "Snapshots", COLUMNS, numbers=NUMBERS)
        self._about, self._unfinished = html(""), html("", "muted")
        self.trend: TrendBox = TrendBox(self)
        self.comparison: ComparisonBox = ComparisonBox(
            self, None if exploration is None else self._show_products
        )
        self._rest = w.VBox([self.comparison, self.trend])
        self.fill(bar, self.verifying, self.table, self._unfinished, self._about, self._rest)
        self.on(self.refresh, lambda _: self._list())
        self.on(self.verify, lambda _: self._verify())
        self.on(self.table, lambda _: self._selected(), "selected_rows")
        link((self.comparison, "difference"), (self, "difference"))
        with self.guarded():
            self._list()
            # Last: what the other panels show is selected in the list that was just read.
            if exploration is not None:
                self.on(self, lambda _: self._tell(exploration), "difference")
                self.on(exploration, lambda _: self._follow(exploration.catalog), "catalog")
                self._follow(exploration.catalog)

    def wait(self, seconds: float = 600.0) -> None:
        """Wait until nothing is read, verified or compared; for scripts and tests."""
        self.verifying.wait(seconds)
        self.trend.wait(seconds)
        self.comparison.wait(seconds)

    def _list(self) -> None:
        self._every = snapshot_entries(self._name)
        self.pager.over(len(self._every), "snapshot")
        self.show_unfinished()
        show_if(self._rest, bool(self._every))
        self.verify.disabled = not self._every
        if not self._every:
            of = f" of {text_html(self._name)}" if self._name else ""
            self._about.value = (
                f"<p class='muted'>No snapshots{of} in "
                f"{text_html(relative_to_working_folder(snapshots_folder()))}. Create one "
                "with prodex.load_products(service, name='shop') or catalog.save('shop').</p>"
            )
            return
        self.comparison.offer(self._every)
        self.trend.show((self._chosen or self._every[0]).name, self._every)

    def show_unfinished(self) -> None:
        """Show which loads are not finished now: one may have been cancelled since."""
        try:
            kept = unfinished_loads(snapshots_folder())
        except OtherLayout as error:
            self._unfinished.value = message_html(str(error), is_problem=True)
            return
        self._unfinished.value = unfinished_markup([one for one in kept if self._name in (None, one.name)])

    def _draw(self) -> None:
        self._shown = self._every[self.pager.page]
        self.table.show({one.folder: one.cells for one in self._shown}, self._places())

    def _places(self) -> list[int]:
        return [place for place, one in enumerate(self._shown) if one == self._chosen]

    def _mark(self) -> None:
        """Mark the row of the selected snapshot, if it is on this page."""
        self.table.selected_rows = self._places()

    def _selected(self) -> None:
        places = self.table.selected_rows
        if not places:  # a click on the selected row does not clear it: some snapshot is always open
            self._mark()
        if not places or self._shown[places[0]] == self._chosen:
            return
        chosen = self._shown[places[0]]
        self._about.value = ""
        catalog = open_snapshot(chosen.folder)  # before anything is shown: it may be damaged
        self._chosen = chosen
        self._show_details(chosen)
        self.catalog = catalog
        if self.exploration is not None:
            # The audit shown elsewhere is that of another catalogue, and is removed with it.
            self.exploration.look_at(catalog)

    def _show_products(self, products: ProductList) -> None:
        """List products of the newer snapshot of a comparison; it is explored then, if another one was."""
        state, difference = self.exploration, self.difference
        if state is None or difference is None:
            return
        if state.catalog.folder != difference.new.folder:
            state.look_at(difference.new)
        state.conditions = Selection(listed=(products,))

    def _tell(self, exploration: Exploration) -> None:
        """Have cards show what changed of their products; while others are compared, what is known stays."""
        if self.difference is not None:
            exploration.difference = self.difference

    def _follow(self, catalog: Catalog) -> None:
        """Select the snapshot that is explored, whoever opened it, and list it if it is new."""
        folder = None if catalog.folder is None else str(catalog.folder)
        if folder == (self._chosen.folder if self._chosen else None):
            return
        if folder is not None and all(one.folder != folder for one in self._every):
            self._list()
        self._chosen = next((one for one in self._every if one.folder == folder), None)
        self._mark()
        if self._chosen is not None:
            self._show_details(self._chosen)
        elif self._every:  # else it explains how to make a snapshot
            self._about.value = ""
        self.catalog = None if self._chosen is None else catalog

    def _show_details(self, chosen: SnapshotEntry) -> None:
        self._about.value = _details(chosen)
        self.trend.show(chosen.name, self._every)
        self.comparison.prefer(chosen)

    def _verify(self) -> None:
        chosen = self._chosen or self._every[0]
        self._about.value = ""
        self.verifying.start(partial(verified, chosen), f"Verifying all files of {chosen.title}")

    def _verified(self, report: str) -> None:
        self._about.value = report


def verified(snapshot: SnapshotEntry, progress: Progress = False) -> str:
    """Verify every file of a snapshot, and return which are damaged, as HTML."""
    files, title = verify(snapshot.folder, progress=progress), text_html(snapshot.title)
    damaged = files[~files["ok"]]
    if damaged.empty:
        return f"<p role='status'>All {counted(len(files), 'file')} of {title} are intact.</p>"
    rows = "".join(
        f"<li>{text_html(one['file'])}: {text_html(one['problem'])}</li>"
        for one in damaged.to_dict("records")
    )
    return (
        f"<div class='problem' role='alert'>{len(damaged):,} of {counted(len(files), 'file')} of {title} "
        f"{'is' if len(damaged) == 1 else 'are'} damaged. Open an earlier snapshot, or load again.<ul>{rows}</ul></div>"
    )


def _details(snapshot: SnapshotEntry) -> str:
    note = f" {text_html(snapshot.note)}" if snapshot.note else ""
    state = "" if snapshot.complete is not False else " It is incomplete: the service had announced more."
    folder = text_html(relative_to_working_folder(Path(snapshot.folder)))
    return f"<p role='status'>Selected: <b>{text_html(snapshot.title)}</b> {folder}.{escape(state)}{note}</p>"
