"""The panel of snapshots: which there are, how they went over time, and what changed between two."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

import ipywidgets as w
from itables.widget import ITable
from traitlets import Instance, link

from prodex.catalog import Catalog
from prodex.compare import Difference
from prodex.display.audit import counted
from prodex.errors import InputError
from prodex.files import seen_from_here
from prodex.notebook.background import LatestTask
from prodex.notebook.exploration import Exploration
from prodex.notebook.paged_tables import ITABLE, Pager
from prodex.notebook.panel import Panel, html, rest, typed
from prodex.notebook.snapshots.comparison import ComparisonBox
from prodex.notebook.snapshots.saved import SnapshotEntry, snapshot_entries, snapshot_frame
from prodex.notebook.snapshots.trend import TrendBox
from prodex.store.archive import snapshots_folder
from prodex.store.snapshot import open_snapshot, verify

_ROWS = 10
_OPTIONS: dict[str, Any] = {
    **ITABLE,
    "columnDefs": [
        {"className": "dt-left", "targets": [0, 1, 4]},
        {"className": "dt-right", "targets": [2, 3]},
    ],
}


class SnapshotPanel(Panel):
    """Snapshots to choose from, and to compare.

    Parameters
    ----------
    name
        Only snapshots of this name; all by default.
    exploration
        The state shared with other panels: a snapshot that is chosen is what they look at then.

    Attributes
    ----------
    catalog
        The snapshot that is chosen, opened; or None. With an exploration, the one that is looked at.
    difference
        What came of comparing two, or None.

    Examples
    --------
    >>> import prodex
    >>> _ = prodex.flatten([{"id": 7}]).save("shop")
    >>> panel = SnapshotPanel("shop")
    >>> panel.table.selected_rows = [0]
    >>> len(panel.catalog)
    1
    """

    catalog: Instance[Catalog | None] = Instance(Catalog, allow_none=True)
    difference: Instance[Difference | None] = Instance(Difference, allow_none=True)

    def __init__(self, name: str | None = None, *, exploration: Exploration | None = None) -> None:
        if not isinstance(name, str | None):
            raise InputError(f"SnapshotPanel takes the name of snapshots, not {type(name).__name__}.")
        super().__init__("Snapshots")
        self.add_class("figures")
        self.exploration = exploration
        self._name = name
        self._every: tuple[SnapshotEntry, ...] = ()
        self._shown: tuple[SnapshotEntry, ...] = ()
        self._chosen: SnapshotEntry | None = None
        self._verifying: LatestTask[str] = LatestTask(verified, self._verified, self._failed)
        self.refresh = w.Button(description="Refresh list", layout=w.Layout(width="auto"))
        self.verify = w.Button(description="Verify", layout=w.Layout(width="auto"))
        self.pager = Pager(_ROWS)
        bar = w.HBox([self.refresh, self.verify, self.pager])
        bar.add_class("bar-above")
        self.table = ITable(snapshot_frame(()), **_OPTIONS)
        self._about = html("")
        self.trend, self.comparison = TrendBox(self), ComparisonBox(self)
        self._rest = w.VBox([self.trend, self.comparison])
        self.fill(bar, self.table, self._about, self._rest)
        self.on(self.refresh, lambda _: self._list())
        self.on(self.verify, lambda _: self._verify())
        self.on(self.pager, lambda _: self._draw(), "first")
        self.on(self.table, lambda _: self._selected(), "selected_rows")
        link((self.comparison, "difference"), (self, "difference"))
        with self.guarded():
            self._list()
            if exploration is not None:
                self.on(exploration, lambda _: self._follow(exploration.catalog), "catalog")
                self._follow(exploration.catalog)

    def wait(self, seconds: float = 600.0) -> None:
        """Wait until nothing is read, verified or compared any more; for scripts and tests."""
        self._verifying.wait(seconds)
        self.trend.wait(seconds)
        self.comparison.wait(seconds)

    def _list(self) -> None:
        self._every = snapshot_entries(self._name)
        was_first = self.pager.first == 0
        self.pager.over(len(self._every), "snapshot")
        if was_first:
            self._draw()
        self._rest.layout.display = "" if self._every else "none"
        self.verify.disabled = not self._every
        if not self._every:
            of = f" of {typed(self._name)}" if self._name else ""
            self._about.value = (
                f"<p class='muted'>There is no snapshot{of} in {typed(seen_from_here(snapshots_folder()))}. "
                "prodex.load_products(service, name='shop') or catalog.save('shop') makes one.</p>"
            )
            return
        self.comparison.offer(self._every)
        self.trend.show((self._chosen or self._every[0]).name, self._every)

    def _draw(self) -> None:
        self._shown = self._every[self.pager.first : self.pager.first + _ROWS]
        self.table.update(snapshot_frame(self._shown), selected_rows=self._places(), **_OPTIONS)

    def _places(self) -> list[int]:
        return [place for place, one in enumerate(self._shown) if one == self._chosen]

    def _mark(self) -> None:
        """Show which of the rows is chosen, where it is one of them."""
        self.table.selected_rows = self._places()

    def _selected(self) -> None:
        places = self.table.selected_rows
        if not places:  # what is chosen stays so when it is pressed again
            self._mark()
        if not places or self._shown[places[0]] == self._chosen:
            return
        chosen = self._shown[places[0]]
        self._about.value = ""
        catalog = open_snapshot(chosen.folder)
        self._chosen = chosen
        self._about.value = _said(chosen)
        self.trend.show(chosen.name, self._every)
        self.comparison.prefer(chosen)
        self.catalog = catalog
        if self.exploration is not None:
            self.exploration.look_at(catalog)

    def _follow(self, catalog: Catalog) -> None:
        """Show which snapshot is looked at, whoever chose it; a new one is listed."""
        folder = None if catalog.folder is None else str(catalog.folder)
        if folder == (self._chosen.folder if self._chosen else None):
            return
        if folder is not None and all(one.folder != folder for one in self._every):
            self._list()
        self._chosen = next((one for one in self._every if one.folder == folder), None)
        self._mark()
        if self._every:
            self._about.value = "" if self._chosen is None else _said(self._chosen)
        if self._chosen is not None:
            self.trend.show(self._chosen.name, self._every)
            self.comparison.prefer(self._chosen)
        self.catalog = None if self._chosen is None else catalog

    def _verify(self) -> None:
        chosen = self._chosen or self._every[0]
        rest(self.verify, is_resting=True)
        self._about.value = (
            f"<p class='muted' role='status'>Checking every file of {typed(chosen.title)} …</p>"
        )
        self._verifying(chosen)

    def _verified(self, said: str) -> None:
        rest(self.verify, is_resting=False)
        self._about.value = said

    def _failed(self, error: BaseException) -> None:
        rest(self.verify, is_resting=False)
        self._about.value = ""
        self.tell(error)


def verified(kept: SnapshotEntry) -> str:
    """Check every file of a snapshot, and say as markup what is wrong with which."""
    files = verify(kept.folder)
    damaged = files[~files["ok"]]
    if damaged.empty:
        return (
            f"<p role='status'>All {counted(len(files), 'file')} of {typed(kept.title)} are as written.</p>"
        )
    rows = "".join(
        f"<li>{typed(row['file'])}: {typed(row['problem'])}</li>" for row in damaged.to_dict("records")
    )
    return (
        f"<div class='problem' role='alert'>{len(damaged):,} of {counted(len(files), 'file')} of {typed(kept.title)} "
        f"are damaged. Open an earlier snapshot, or load again.<ul>{rows}</ul></div>"
    )


def _said(kept: SnapshotEntry) -> str:
    note = f" {typed(kept.note)}" if kept.note else ""
    state = "" if kept.is_complete is not False else " It is incomplete: the service had announced more."
    folder = typed(seen_from_here(Path(kept.folder)))
    return f"<p role='status'>Chosen: <b>{typed(kept.title)}</b> {folder}.{escape(state)}{note}</p>"
