"""The comparison of two snapshots: counts, groups, old and new values, and their audits; with an export of changes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import ipywidgets as w
import pandas as pd
import pyarrow.compute as pc
from traitlets import Instance

from prodex.compare import Difference
from prodex.display.html_tables import Html, table
from prodex.errors import InputError
from prodex.facts.groups import shown_names
from prodex.languages.labels import attribute_title
from prodex.locales import language_label
from prodex.messages import counted, moment_in_words
from prodex.notebook.shared.boxes import VBox
from prodex.notebook.shared.exporting import path_of, spreadsheet_box
from prodex.notebook.shared.long_tasks import Exporter, WorkRow
from prodex.notebook.shared.panel import Panel, button, html, list_html, row, show_if, text_html
from prodex.notebook.shared.row_table import Pager
from prodex.notebook.views.comparison import compared, export_changes, products_of_attributes, whole_attribute
from prodex.notebook.views.saved_snapshots import SnapshotEntry, snapshots_to_compare
from prodex.progress import Progress
from prodex.quality import AuditComparison
from prodex.quality.scores import moved
from prodex.selection import ProductList
from prodex.untrusted_text import cut, words

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
        self.work: WorkRow[tuple[Difference, AuditComparison | None]] = WorkRow(
            panel, self._done, self.exporter.show_error, starts=[self.run]
        )
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
        self._starts = [] if newest is None else snapshots_to_compare(self._offered, newest)
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
        self.exporter.show_message("")
        self.work.start(partial(_compared, Path(self.old.value), Path(self.new.value)), "Comparing")

    def _done(self, found: tuple[Difference, AuditComparison | None]) -> None:
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

    def _export(self) -> None:
        if self.difference is None:
            raise InputError("Nothing is compared yet. Press Compare first.")
        path = path_of(self.file.value.strip() or "changes.csv", "a file for the changes")
        write = partial(export_changes, self.difference, path, self.is_safe.value)
        self.exporter.start(write, "Exporting changes")


def _compared(old: Path, new: Path, progress: Progress = False) -> tuple[Difference, AuditComparison | None]:
    found = compared(old, new, progress)
    return found.difference, found.audits


#: Changed values on a page.
_ROWS = 20
#: Characters of the name of an attribute.
_LONGEST = 60
#: Products without changed values that are there now, and how they are called.
_OTHERS = {"added": "added products", "touched only": "products touched only"}
_NO_VALUES = {
    "added": "<p class='muted'>All values of products that were added are new.</p>",
    "touched only": "<p class='muted'>Of these products only the date of the update differs.</p>",
}
#: Whose changes are listed at first.
_ALL = ("changed", None)


class ChangedValues(VBox):
    """Old and new values side by side, and a button that shows their products.

    Parameters
    ----------
    panel
        The panel around it.
    show_products
        Shows products among those of the newer snapshot; without it there is no such button.

    Attributes
    ----------
    what
        Whose changes are listed: an outcome of products as `Difference.outcomes` has it, and an attribute, or None for
        all of them.
    products
        The button.
    """

    def __init__(self, panel: Panel, show_products: Callable[[ProductList], object] | None = None) -> None:
        self._show_products = show_products
        self._difference: Difference | None = None
        self._changes = pd.DataFrame()
        self.what: Any = w.Dropdown(description="Changes of", layout=w.Layout(width="auto"))
        self.products: w.Button = button("Show products", "link")
        self.pager: Pager = Pager(panel, _ROWS, self._draw)
        self._table = html("")
        bar = row(self.what, self.pager, self.products, look="form-row")
        super().__init__([html("<h4>Changed values</h4>"), bar, self._table])
        panel.on(self.what, lambda _: self._choose(), "value")
        panel.on(self.products, lambda _: self._press())

    def show(self, difference: Difference) -> None:
        """Show the values of a comparison, those of all attributes first."""
        self._difference = None  # choosing among other options draws nothing yet
        counts = difference.summary.set_index("change")["products"]
        attributes = products_of_attributes(difference.changes)
        options: list[tuple[str, tuple[str, str | None]]] = [
            (f"all changed products ({counts['changed']:,})", _ALL),
            *(
                (
                    f"\u2068{cut(attribute_title(str(one)), _LONGEST)}\u2069 ({counted(number, 'product')})",
                    ("changed", str(one)),
                )
                for one, number in attributes.items()
            ),
            *((f"{words} ({counts[one]:,})", (one, None)) for one, words in _OTHERS.items() if counts[one]),
        ]
        self.what.options = options
        self.what.value = _ALL
        self._difference = difference
        self._choose()

    def _choose(self) -> None:
        if self._difference is None:
            return
        changes, (outcome, attribute) = self._difference.changes, self.what.value
        if outcome in _OTHERS:
            changes = changes.iloc[:0]
        elif attribute is not None:
            changes = changes[changes["attribute"].map(whole_attribute) == attribute]
        self._changes = changes
        number = len(self._ids())
        self.products.description = f"Show {counted(number, 'product')}"
        self.products.tooltip = "List them in the section Products"
        show_if(self.products, self._show_products is not None and number > 0)
        self.pager.over(len(changes), "changed value")

    def _draw(self) -> None:
        without = _NO_VALUES.get(self.what.value[0], "")
        self._table.value = changes_markup(self._changes.iloc[self.pager.page]) or without

    def _ids(self) -> tuple[str, ...]:
        assert self._difference is not None  # noqa: S101 - nothing is chosen before a comparison is shown
        outcome, attribute = self.what.value
        if attribute is None:
            outcomes = self._difference.outcomes
            return tuple(outcomes.filter(pc.field("change") == outcome)["product_id"].to_pylist())
        return tuple(dict.fromkeys(self._changes["product_id"]))

    def _press(self) -> None:
        if self._difference is not None and self._show_products is not None:
            outcome, attribute = self.what.value
            self._show_products(
                ProductList(_selection_title(outcome, attribute, self._difference), self._ids())
            )


def _selection_title(outcome: str, attribute: str | None, difference: Difference) -> str:
    since = difference.old.origin.loaded_at
    when = "" if since is None else f" since {moment_in_words(since)}"
    return f"{outcome}{when}" if attribute is None else f"{attribute_title(attribute)} {outcome}{when}"


#: Rows of the tables of groups, checks and attributes; characters of a value, and of a figure in large letters.
_GROUPS, _CHECKS, _ATTRIBUTES, _LONG, _WIDE = 10, 10, 12, 300, 12
#: Changed values on the card of a product, and how many are shown without a press.
_ON_CARD, _UNFOLDED = 20, 2
_MOVES = ("added", "removed", "changed")
_WORDS = (
    "<p class='muted'>Touched only: the date of the update differs, and no value does. "
    "Not comparable: missing from a catalogue that is incomplete, so perhaps not removed.</p>"
)


def tiles_markup(pairs: Iterable[tuple[str, str]]) -> str:
    """Return figures with their titles as tiles."""
    cells = "".join(
        f"<div class='tile{' small' * (len(figure) > _WIDE)}'><div class='title'>{escape(title)}</div>"
        f"<div class='figure'>{escape(figure)}</div></div>"
        for title, figure in pairs
    )
    return f"<div class='tiles'>{cells}</div>"


def counts_markup(difference: Difference) -> str:
    """Return how many products were added, removed, changed, touched or are unchanged."""
    pairs = difference.summary.itertuples(index=False)
    return tiles_markup((str(change).capitalize(), f"{count:,}") for change, count in pairs) + _WORDS


def notes_markup(difference: Difference) -> str:
    """Return what could not be compared, and why."""
    notes = list(difference.notes)
    if len(difference.not_comparable):
        rows = difference.not_comparable.head(_GROUPS).to_dict("records")
        named = ", ".join(
            f"{attribute_title(row['attribute'])}{_in_language(row)}: {row['why']}" for row in rows
        )
        notes.append(
            f"Not compared, {len(rows)} of {counted(len(difference.not_comparable), 'attribute')}: {named}."
            " All are in difference.not_comparable."
        )
    return list_html(notes)


def groups_markup(difference: Difference, by: str) -> str:
    """Return the groups with the most changed products."""
    counts = difference.counts(by)
    total = counts[list(_MOVES)].sum(axis=1).sort_values(ascending=False, kind="stable")
    moved = counts.loc[total.index[total > 0]]
    if moved.empty:
        return "<p class='muted'>No group has changes.</p>"
    shown = moved.head(_GROUPS)
    counted_moves = shown[list(_MOVES)].itertuples(index=False)
    rows = [
        (_verbatim(name), *counts)
        for name, counts in zip(shown_names(moved, by), counted_moves, strict=False)
    ]
    caption = f"{len(shown)} of {counted(len(moved), by)} with changes"
    moves = tuple(one.capitalize() for one in _MOVES)
    return table(caption, (by.capitalize(), *moves), rows, numbers=moves, look="plain numbers")


def attributes_markup(changes: pd.DataFrame) -> str:
    """Return the attributes with the most changed products, and how many of their values changed in which way.

    What is below an attribute counts for it: a picture that is removed takes fifty values with it, and is one thing.
    """
    if changes.empty:
        return ""
    counts = changes.groupby([changes["attribute"].map(whole_attribute), "change"]).size().to_dict()
    products = products_of_attributes(changes)
    shown = products.head(_ATTRIBUTES)
    rows = [
        (_attribute_html(str(attribute)), int(number), *(counts.get((attribute, one), 0) for one in _MOVES))
        for attribute, number in shown.items()
    ]
    numbers = ("Products", *(f"Values {one}" for one in _MOVES))
    caption = f"{len(shown)} of {counted(len(products), 'attribute')} with changed values"
    return table(caption, ("Attribute", *numbers), rows, numbers=numbers, look="plain numbers")


def causes_markup(difference: Difference) -> str:
    """Return what happened, in sentences: many values that changed for one reason are one line."""
    causes = difference.causes
    if causes.empty:
        return ""
    most = causes.head(_CHECKS)
    rows = [
        (_verbatim(says), int(items), int(products))
        for says, items, products in zip(most["says"], most["items"], most["products"], strict=True)
    ]
    caption = f"{len(most)} of {counted(len(causes), 'kind')} of changes, most products first"
    return table(caption, ("What", "Items", "Products"), rows, numbers=("Items", "Products"), look="plain")


def changes_markup(changes: pd.DataFrame) -> str:
    """Return changed values, old next to new."""
    if changes.empty:
        return ""
    rows = [
        (
            _verbatim(row["product_id"] if pd.isna(row["gtin"]) else row["gtin"]),
            _attribute_html(row["attribute"], _in_language(row)),
            f"{str(row['column']).replace('_', ' ')} {row['change']}",
            _value_html(row["old"]),
            _value_html(row["new"]),
        )
        for row in changes.to_dict("records")
    ]
    headings = ("GTIN", "Attribute", "What", "Old", "New")
    return table("Old and new", headings, rows, codes=headings[:1], look="plain")


def product_changes_markup(difference: Difference, product_id: str) -> str:
    """Return what changed of one product since the older catalogue, for its card; empty if nothing did."""
    since = difference.old.origin.loaded_at
    when = "the older snapshot" if since is None else moment_in_words(since)
    outcomes = difference.outcomes
    is_added = pc.and_(pc.equal(outcomes["product_id"], product_id), pc.equal(outcomes["change"], "added"))
    if pc.any(is_added).as_py():
        return _on_card(f"<p class='muted'>New since {escape(when)}.</p>")
    own = difference.changes[difference.changes["product_id"] == product_id]
    if own.empty:
        return ""
    rows = [
        (
            _attribute_html(row["attribute"], _in_language(row)),
            _value_html(row["old"]),
            _value_html(row["new"]),
        )
        for row in own.head(_ON_CARD).to_dict("records")
    ]
    rest = "; the section Snapshots exports all" if len(own) > len(rows) else ""
    shown = f"{len(rows)} of {counted(len(own), 'changed value')}{rest}"
    changed = table(shown, ("Attribute", "Old", "New"), rows, look="plain")
    # Folded where it would push the product itself out of sight.
    is_open = " open" * (len(own) <= _UNFOLDED)
    title = f"{counted(len(own), 'value')} changed since {escape(when)}"
    return _on_card(f"<details{is_open}><summary>{title}</summary>{changed}</details>")


def _on_card(inside: str) -> str:
    return f'<div class="prodex card mathjax_ignore">{inside}</div>'


def audits_markup(compared: AuditComparison) -> str:
    """Return which checks were fixed and which fail now."""
    checks = compared.by_check
    counts = {name: int(checks[name].sum()) for name in ("fixed", "newly_failing", "still_failing")}
    old, new = compared.old.summary, compared.new.summary
    pairs = [(name.replace("_", " ").capitalize(), f"{count:,}") for name, count in counts.items()]
    pairs += [
        (name.capitalize(), str(moved(old[name], new[name])).replace("->", "→"))
        for name in ("ready", "score")
    ]
    changed = checks[checks[["fixed", "newly_failing"]].sum(axis=1) > 0]
    # What got worse is listed first: somebody has to look at it.
    changed = changed.sort_values(["newly_failing", "fixed"], ascending=False, kind="stable")
    shown = changed[["problem", "severity", "fixed", "newly_failing"]].head(_CHECKS)
    caption = (
        f"{len(shown)} of {counted(len(changed), 'check')} that changed, by profile {compared.new.profile}"
    )
    columns = ("Problem", "Severity", "Fixed", "Newly failing")
    rows = [(_verbatim(problem), *others) for problem, *others in shown.itertuples(index=False)]
    listed = table(_verbatim(caption), columns, rows, numbers=columns[2:], look="plain") if rows else ""
    return f"<h4>Audits</h4>{list_html(compared.notes)}{tiles_markup(pairs)}{listed}"


def _verbatim(text: object) -> Html:
    """Return text as a cell that shows it letter by letter and uncut."""
    return Html(text_html(text))


def _attribute_html(attribute: str, language: str = "") -> Html:
    """Return an attribute as people call it; pointing at it shows its name in the tables."""
    return Html(
        f'<span title="{escape(attribute, quote=True)}">{text_html(attribute_title(attribute) + language)}</span>'
    )


def _in_language(row: Mapping[Hashable, Any]) -> str:
    return "" if pd.isna(row["language"]) else f" in {language_label(row['language'])}"


def _value_html(value: object) -> Html:
    if pd.isna(value):  # type: ignore[call-overload]
        return Html("<span class='muted'>none</span>")
    text = words(value)
    if text.text == "":
        return Html("<span class='muted'>empty</span>")
    if text.length <= _LONG:
        return _verbatim(text.text)
    cut = text_html(text.text[:_LONG])
    return Html(f"{cut}… <span class='muted'>({_LONG} of {text.length:,} characters)</span>")
