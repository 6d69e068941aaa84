"""The comparison of two snapshots: counts, groups, old and new values, and their audits; with an export of changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import ipywidgets as w
import pyarrow as pa
from traitlets import Instance

from prodex.compare import Difference, diff
from prodex.errors import InputError
from prodex.files.atomic import writing
from prodex.formats.csv_files import write_csv
from prodex.messages import counted
from prodex.notebook.boxes import VBox
from prodex.notebook.conditions import ProductList
from prodex.notebook.exporting import Exporter, path_of, spreadsheet_box
from prodex.notebook.panel import Panel, button, html, row, set_busy, show_if
from prodex.notebook.snapshots.changed_values import ChangedValues
from prodex.notebook.snapshots.comparison_tables import (
    attributes_markup,
    audits_markup,
    causes_markup,
    counts_markup,
    groups_markup,
    notes_markup,
)
from prodex.notebook.snapshots.saved import SnapshotEntry, readable
from prodex.notebook.snapshots.since import starts
from prodex.notebook.work import WorkRow
from prodex.progress import Progress, Show, reporting, showing
from prodex.quality import AuditComparison, compare_audits, list_audits

#: Changed values that are written at a time.
_BATCH = 10_000


class ComparisonBox(VBox):
    """What changed from one snapshot to another.

    Parameters
    ----------
    panel
        The panel around it.
    show_products
        As for `ChangedValues`.

    Attributes
    ----------
    difference
        The result of the comparison, or None.
    values
        The changed values.
    """

    difference: Instance[Difference | None] = Instance(Difference, allow_none=True)

    def __init__(self, panel: Panel, show_products: Callable[[ProductList], object] | None = None) -> None:
        self._panel = panel
        self._offered: tuple[SnapshotEntry, ...] = ()
        wide = w.Layout(width="380px")
        self.old: w.Dropdown = w.Dropdown(description="From", layout=wide)
        self.new: w.Dropdown = w.Dropdown(description="To", layout=wide)
        self.run: w.Button = button("Compare", "primary")
        self.work: WorkRow[tuple[Difference, AuditComparison | None]] = WorkRow(
            panel, self._done, self._failed, cancelled=self._ended, back_to=self.run
        )
        self._notes, self._counts, self._groups, self._causes, self._attributes, self._audits = (
            html("") for _ in range(6)
        )
        self.by: w.ToggleButtons = w.ToggleButtons(
            options=[("owners", "owner"), ("brands", "brand"), ("kinds", "kind")],
            style=w.ToggleButtonsStyle(button_width="auto"),
        )
        self.values: ChangedValues = ChangedValues(panel, show_products)
        self.file: w.Text = w.Text(description="File", value="changes.csv")
        self.is_safe: w.Checkbox = spreadsheet_box()
        self.export: w.Button = button("Export changes as CSV")
        self.exporter: Exporter = Exporter(panel, {self.export: self._export})
        start = row(self.old, self.new, self.run, look="form-row")
        self.since: tuple[w.Button, ...] = tuple(button("", "link") for _ in range(3))
        self._starts: list[tuple[str, SnapshotEntry]] = []
        since = row(*self.since, look="form-row")
        files = row(self.file, self.is_safe, self.export, look="form-row")
        groups = (html("<h4>Groups with most changes</h4>"), self.by, self._groups)
        self._results = w.VBox(
            [
                *(self._notes, self._counts, html("<h4>What happened</h4>"), self._causes),
                *(html("<h4>Changes by attribute</h4>"), self._attributes),
                *(self.values, files, self._audits, *groups),
            ]
        )
        shown = (self.work, self.exporter.work, self.exporter.line)
        super().__init__([html("<h3>Compare snapshots</h3>"), since, start, *shown, self._results])
        panel.on(self.run, lambda _: self.exporter.attempt(self._start_comparison))
        panel.on(self.by, lambda _: self._draw_groups(), "value")
        panel.on(self.new, lambda _: self._show_starts(), "value")
        for place, one in enumerate(self.since):
            begin = partial(self.exporter.attempt, partial(self._compare_since, place))
            panel.on(one, begin)
        show_if(self._results, False)
        self._show_starts()

    @property
    def cancel(self) -> w.Button:
        """The button that cancels the comparison that runs."""
        return self.work.cancel

    def offer(self, snapshots: tuple[SnapshotEntry, ...]) -> None:
        """Offer snapshots, newest first, and keep the selection if it is still there."""
        # A snapshot that cannot be read cannot be compared.
        self._offered = tuple(one for one in snapshots if one.products is not None)
        chosen = (self.old.value, self.new.value)
        for field in (self.old, self.new):
            field.options = [(one.title, one.folder) for one in self._offered]
        if None not in chosen and set(chosen) <= {one.folder for one in self._offered}:
            self.old.value, self.new.value = chosen
        else:
            self.prefer(*self._offered)

    def prefer(self, *snapshots: SnapshotEntry) -> None:
        """Select the first of these that has an earlier snapshot of its name, and that earlier one."""
        for new in (one for one in snapshots if one in self._offered):
            for old in self._offered:
                if old.name == new.name and old.time < new.time:
                    self.old.value, self.new.value = old.folder, new.folder
                    return

    def wait(self, seconds: float = 600.0) -> None:
        """Wait until the snapshots are compared, or the changes exported; for scripts and tests."""
        self.work.wait(seconds)
        self.exporter.wait(seconds)

    def _show_starts(self) -> None:
        """Offer the earlier snapshots with which the one under To is mostly compared."""
        newest = next((one for one in self._offered if one.folder == self.new.value), None)
        self._starts = [] if newest is None else starts(self._offered, newest)
        for place, one in enumerate(self.since):
            show_if(one, place < len(self._starts))
            if place < len(self._starts):
                one.description = self._starts[place][0]

    def _compare_since(self, place: int) -> None:
        self.old.value = self._starts[place][1].folder
        self._start_comparison()

    def _start_comparison(self) -> None:
        if self.old.value is None or self.new.value is None:
            if len(self._offered) < 2:
                raise InputError("A comparison needs two snapshots. Load or save a catalogue first.")
            raise InputError("Select a snapshot under From, and another one under To.")
        if self.old.value == self.new.value:
            raise InputError("Both are the same snapshot. Select another one under From.")
        set_busy(self.run, is_busy=True)
        self.exporter.show_message("")
        self.work.start(partial(compared, Path(self.old.value), Path(self.new.value)), "Comparing")

    def _done(self, found: tuple[Difference, AuditComparison | None]) -> None:
        self._ended()
        # The last step may have ended before Cancel was noticed.
        if self.work.work is not None and self.work.work.is_cancelled:
            return
        with self._panel.guarded():
            self._draw(*found)

    def _draw(self, difference: Difference, audits: AuditComparison | None) -> None:
        self.difference = difference
        self._notes.value = notes_markup(difference)
        self._counts.value = counts_markup(difference)
        self._audits.value = "" if audits is None else audits_markup(audits)
        self._draw_groups()
        self._causes.value = causes_markup(difference)
        self._attributes.value = attributes_markup(difference.changes)
        self.values.show(difference)
        show_if(self._results, True)

    def _draw_groups(self) -> None:
        if self.difference is not None:
            self._groups.value = groups_markup(self.difference, str(self.by.value))

    def _failed(self, error: BaseException) -> None:
        self._ended()
        self.exporter.show_error(error)

    def _ended(self) -> None:
        set_busy(self.run, is_busy=False)

    def _export(self) -> None:
        if self.difference is None:
            raise InputError("Nothing is compared yet. Press Compare first.")
        path = path_of(self.file.value.strip() or "changes.csv", "a file for the changes")
        write = partial(export_changes, self.difference, path, self.is_safe.value)
        self.exporter.start(write, "Exporting changes")


def compared(old: Path, new: Path, progress: Progress = False) -> tuple[Difference, AuditComparison | None]:
    """Compare two snapshots, and their newest audits by the same profile if both have one."""
    difference = diff(old, new, progress=progress)
    with reporting(progress, "Compared") as reporter, reporter.phase("Comparing their audits"):
        return difference, compared_audits(old, new)


def compared_audits(old: Path, new: Path) -> AuditComparison | None:
    """Compare the newest audits of two snapshots by the same profile; None where there are none."""
    before, after = (_audits_of(side) for side in (old, new))
    # The profile that was used last is the one that somebody works with.
    for profile in reversed([profile for profile in after if profile in before]):
        if len(both := readable([before[profile], after[profile]])) == 2:
            return compare_audits(*both)
    return None


def _audits_of(snapshot: Path) -> dict[str, str]:
    """Return the folder of the newest audit of a snapshot by each profile."""
    # The folder of all snapshots may have moved since the audit, so only the snapshot's own name is compared.
    return {
        str(row["profile"]): str(row["folder"])
        for row in list_audits(snapshot.parent.name).to_dict("records")
        if isinstance(row["snapshot"], str) and Path(row["snapshot"]).name == snapshot.name
    }


def export_changes(difference: Difference, path: Path, is_safe: bool, progress: Progress = False) -> str:
    """Write every changed value to a file, and return where.

    Raises
    ------
    InputError
        When the file exists.
    """
    # A list of changes is evidence: it is never replaced by that of another comparison.
    if path.exists():
        raise InputError(f"{path} already exists. Give another name, or delete it first.")
    rows = pa.Table.from_pandas(difference.changes, preserve_index=False)
    # A column without a value is of type null, and the schema of the file must not depend on what has changed.
    rows = rows.cast(pa.schema([(name, pa.string()) for name in rows.column_names]))
    with writing(path) as beside, showing(progress, "Exporting", "changes", len(rows)) as show:
        write_csv(_told(rows, show), rows.schema, beside, escape_formulas=is_safe)
    return f"Exported {counted(len(rows), 'changed value')} to {path.absolute()}."


def _told(rows: pa.Table, show: Show) -> Iterator[pa.RecordBatch]:
    """Pass rows on in batches, and report how many are written."""
    done = 0
    for batch in rows.to_batches(max_chunksize=_BATCH):
        yield batch
        done += batch.num_rows
        show(done, len(rows))
