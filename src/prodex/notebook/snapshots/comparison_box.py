"""Two snapshots compared: chosen by their titles, in the background, with a file of every change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import ipywidgets as w
import pyarrow as pa
from traitlets import Instance

from prodex.compare import Difference, diff
from prodex.errors import InputError, ProdexError
from prodex.files import writing
from prodex.formats import write_csv
from prodex.notebook.audit.history import readable
from prodex.notebook.background import Newest
from prodex.notebook.pager import Pager
from prodex.notebook.panel import Panel, html, in_words, rest, typed
from prodex.notebook.paths import path_of
from prodex.notebook.snapshots import comparison_words
from prodex.notebook.snapshots.listing import Kept
from prodex.quality import AuditComparison, compare_audits, list_audits
from prodex.quality.display import counted

_ROWS = 20


class ComparisonBox(w.VBox):
    """What changed from one snapshot to another.

    Attributes
    ----------
    difference
        What came of the comparison, or None.
    """

    difference: Instance[Difference | None] = Instance(Difference, allow_none=True)

    def __init__(self, panel: Panel) -> None:
        self._panel = panel
        self._offered: tuple[Kept, ...] = ()
        self._comparing: Newest[tuple[Difference, AuditComparison | None]] = Newest(
            compared, self._done, self._failed
        )
        wide = w.Layout(width="380px")
        self._writing: Newest[str] = Newest(write_changes, self._written, self._failed)
        self.old = w.Dropdown(description="From", layout=wide)
        self.new = w.Dropdown(description="To", layout=wide)
        self.run = w.Button(description="Compare", layout=w.Layout(width="auto"))
        self.run.add_class("primary")
        self.cancel = w.Button(description="Cancel", layout=w.Layout(width="auto"))
        self._said = html("")
        self._notes, self._counts, self._groups, self._changes, self._audits = (html("") for _ in range(5))
        self.by = w.ToggleButtons(
            options=[("owners", "owner"), ("brands", "brand"), ("kinds", "kind")],
            style=w.ToggleButtonsStyle(button_width="auto"),
        )
        self.pager = Pager(_ROWS)
        self.file = w.Text(description="File", value="changes.csv")
        self.is_safe = w.Checkbox(
            value=True,
            description="safe for spreadsheets (no text runs as a formula)",
            indent=False,
            layout=w.Layout(width="auto"),
        )
        self.write = w.Button(description="Write changes as CSV", layout=w.Layout(width="auto"))
        start = w.HBox([self.old, self.new, self.run, self.cancel])
        files = w.HBox([self.file, self.is_safe, self.write])
        above = w.HBox([html("<h4>Values</h4>"), self.pager])
        for row in (start, files, above):
            row.add_class("form-row")
        self._results = w.VBox(
            [
                *(self._notes, self._counts, self._audits, html("<h4>Where most changed</h4>"), self.by),
                *(self._groups, above, self._changes, files),
            ]
        )
        super().__init__([html("<h3>Compare two</h3>"), start, self._said, self._results])
        panel.on(self.run, lambda _: self._try(self._ask))
        panel.on(self.cancel, lambda _: self._forget())
        panel.on(self.by, lambda _: self._draw_groups(), "value")
        panel.on(self.pager, lambda _: self._draw_changes(), "first")
        panel.on(self.write, lambda _: self._try(self._write))
        self._busy(False)
        self._results.layout.display = "none"

    def offer(self, snapshots: tuple[Kept, ...]) -> None:
        """Offer snapshots, the newest first; what was chosen of them before stays chosen."""
        self._offered = tuple(one for one in snapshots if one.products is not None)
        chosen = (self.old.value, self.new.value)
        for field in (self.old, self.new):
            field.options = [(one.title, one.folder) for one in self._offered]
        if None not in chosen and set(chosen) <= {one.folder for one in self._offered}:
            self.old.value, self.new.value = chosen
        else:
            self.prefer(*self._offered)

    def prefer(self, *snapshots: Kept) -> None:
        """Choose the first of these that has an earlier one of the same name, and that."""
        for new in (one for one in snapshots if one in self._offered):
            for old in self._offered:
                if old.name == new.name and old.time < new.time:
                    self.old.value, self.new.value = old.folder, new.folder
                    return

    def wait(self, seconds: float = 600.0) -> None:
        """Wait until the snapshots are compared, or the file is written; for scripts and tests."""
        self._comparing.wait(seconds)
        self._writing.wait(seconds)

    def _try(self, work: Callable[[], object]) -> None:
        """Say beside the buttons what is wrong with what was given."""
        try:
            work()
        except ProdexError as error:
            self._failed(error)

    def _ask(self) -> None:
        if self.old.value is None or self.new.value is None:
            if len(self._offered) < 2:
                raise InputError("There are no two snapshots to compare. Load or save a catalogue first.")
            raise InputError("Choose a snapshot under From, and another one under To.")
        if self.old.value == self.new.value:
            raise InputError("Both are the same snapshot. Choose another one under From.")
        self._busy(True)
        self._comparing(Path(self.old.value), Path(self.new.value))

    def _done(self, found: tuple[Difference, AuditComparison | None]) -> None:
        self._busy(False)
        with self._panel.guarded():
            self._draw(*found)

    def _draw(self, difference: Difference, audits: AuditComparison | None) -> None:
        self.difference = difference
        self._notes.value = comparison_words.notes_markup(difference)
        self._counts.value = comparison_words.counts_markup(difference)
        self._audits.value = "" if audits is None else comparison_words.audits_markup(audits)
        self._draw_groups()
        self.pager.over(len(difference.changes), "changed value")
        self._draw_changes()
        self._results.layout.display = ""

    def _draw_groups(self) -> None:
        if self.difference is not None:
            self._groups.value = comparison_words.groups_markup(self.difference, str(self.by.value))

    def _draw_changes(self) -> None:
        if self.difference is not None:
            shown = self.difference.changes.iloc[self.pager.first : self.pager.first + _ROWS]
            self._changes.value = comparison_words.changes_markup(shown)

    def _failed(self, error: BaseException) -> None:
        self._busy(False)
        rest(self.write, is_resting=False)
        self._said.value = f"<div class='problem' role='alert'>{typed(in_words(error))}</div>"

    def _forget(self) -> None:
        self._comparing.forget()
        self._busy(False)
        self.run.focus()

    def _busy(self, is_busy: bool) -> None:
        rest(self.run, is_resting=is_busy)
        self.cancel.layout.display = "" if is_busy else "none"
        self._said.value = "<span role='status' class='muted'>Comparing …</span>" if is_busy else ""

    def _write(self) -> None:
        if self.difference is None:
            raise InputError("Nothing was compared yet. Press Compare first.")
        path = path_of(self.file.value.strip() or "changes.csv")
        rest(self.write, is_resting=True)
        self._writing(self.difference, path, self.is_safe.value)

    def _written(self, said: str) -> None:
        rest(self.write, is_resting=False)
        self._said.value = f"<div class='note' role='status'>{typed(said)}</div>"


def compared(old: Path, new: Path) -> tuple[Difference, AuditComparison | None]:
    """Compare two snapshots, and their newest audits by the same profile where both have one."""
    return diff(old, new), compared_audits(old, new)


def compared_audits(old: Path, new: Path) -> AuditComparison | None:
    """Compare the newest audits of two snapshots by the same profile; None where there are none."""
    audits = [list_audits(side.parent.name) for side in (old, new)]
    # The whole folder may have moved since, so only the snapshot's own name counts.
    before, after = (
        {
            str(row["profile"]): str(row["folder"])
            for row in listed.to_dict("records")
            if isinstance(row["snapshot"], str) and Path(row["snapshot"]).name == side.name
        }
        for listed, side in zip(audits, (old, new), strict=True)
    )
    for profile in reversed([profile for profile in after if profile in before]):
        if len(both := readable([before[profile], after[profile]])) == 2:
            return compare_audits(*both)
    return None


def write_changes(difference: Difference, path: Path, is_safe: bool) -> str:
    """Write every changed value to a file, and say where.

    Raises
    ------
    InputError
        When there is such a file already.
    """
    if path.exists():
        raise InputError(f"{path} is there already. Give another name, or delete it first.")
    rows = pa.Table.from_pandas(difference.changes, preserve_index=False)
    rows = rows.cast(pa.schema([(name, pa.string()) for name in rows.column_names]))
    with writing(path) as beside:
        write_csv(iter(rows.to_batches()), rows.schema, beside, escape_formulas=is_safe)
    return f"{counted(len(rows), 'changed value')} are in {path.absolute()}."
