"""Correcting all chosen products at once: what is done, what it would change, and how it is sent and taken back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ipywidgets as w

from prodex.catalog import Catalog
from prodex.corrections.bulk import apply_recipe
from prodex.corrections.recipe import Recipe
from prodex.corrections.undo import undo
from prodex.display.fix import state_in_words
from prodex.display.html_tables import block, table
from prodex.errors import InputError, QueryError
from prodex.messages import counted
from prodex.notebook.audit.overview import is_about
from prodex.notebook.corrections.outcome import profile_of
from prodex.notebook.corrections.panel import effect_html
from prodex.notebook.products.operation_form import ChosenOperation, OperationForm
from prodex.notebook.shared.arrival_check import ArrivalCheck, arrival_html, requested_again, sent_and_missing
from prodex.notebook.shared.boxes import VBox
from prodex.notebook.shared.exporting import path_of
from prodex.notebook.shared.long_tasks import Exporter, WorkRow
from prodex.notebook.shared.panel import (
    Panel,
    button,
    html,
    row,
    show_if,
    status_html,
    text_html,
)
from prodex.notebook.shared.sending import FixSender
from prodex.notebook.shared.state import Exploration
from prodex.progress import PATIENCE, Reporter
from prodex.quality import Profile
from prodex.selection import Selection
from prodex.service import Client
from prodex.worklists.fix import Fix

_HOW = "explore(catalog, service=prodex.connect())"
#: Seconds without another letter before a preview is made.
_PAUSE = 0.5
#: Rows of the preview, and reasons that are listed of each kind.
_ROWS, _REASONS = 8, 5


@dataclass(frozen=True, eq=False)
class BulkPreview:
    """A correction of many products as it was judged.

    Attributes
    ----------
    catalog
        The catalogue that they are of.
    products
        Ids of the chosen products.
    chosen
        What is done to them; None where something is taken back.
    fix
        What has judged it.
    """

    catalog: Catalog
    products: tuple[str, ...]
    chosen: ChosenOperation | None
    fix: Fix

    def holds(self, catalog: Catalog, products: tuple[str, ...], chosen: ChosenOperation | None) -> bool:
        """Whether this is what would be done now."""
        is_same = self.chosen is None or (self.products == products and self.chosen == chosen)
        return self.catalog is catalog and is_same


class BulkCorrection(VBox):
    """A form, a preview that follows it, and two presses to send what is previewed.

    Chosen are the products that are selected, and without a selection those that meet the filters.

    Parameters
    ----------
    panel
        The panel around it.
    exploration
        The shared state.
    service
        Where corrections are sent; without one they are only previewed, and kept as a recipe.

    Attributes
    ----------
    form
        What is done.
    preview
        What was judged last, or None.
    sender
        The buttons that send it.
    """

    def __init__(self, panel: Panel, exploration: Exploration, service: Client | None) -> None:
        self._panel, self._exploration, self._service = panel, exploration, service
        self._held: Catalog | None = None
        self.preview: BulkPreview | None = None
        self._sent: Fix | None = None
        self._sent_of: Catalog | None = None
        self.form: OperationForm = OperationForm(panel)
        self._judging: WorkRow[BulkPreview] = WorkRow(
            panel, self._show, self._failed, after=PATIENCE, delay=_PAUSE, is_dropped=True
        )
        self._proving: WorkRow[ArrivalCheck] = WorkRow(panel, self._proved, panel.show_error, after=PATIENCE)
        self._result, self._outcome = html("", "said-of"), html("", "said-of")
        self.confirm: w.Button = button("Confirm")
        self.back: w.Button = button("Take it back", tooltip="Preview how what was sent is taken back")
        self.sender: FixSender = FixSender(panel, service, _HOW, begins=self._begin, ended=self._ended)
        self.file: w.Text = w.Text(description="Recipe", placeholder="brand-spelling.toml")
        self.keep: w.Button = button("Keep as a recipe", tooltip="A file to read, to edit, and to use again")
        self._exporter: Exporter = Exporter(panel, {self.keep: self._keep})
        self._recipe: Any = row(self.file, self.keep, look="form-row")
        super().__init__(
            [
                self.form,
                self._judging,
                self._result,
                row(self.confirm, look="form-row"),
                self.sender,
                self._proving,
                self._outcome,
                row(self.back, look="form-row"),
                self._recipe,
                self._exporter.line,
            ]
        )
        self.add_class("bulk-correction")
        panel.on(self.form, lambda _: self.follow(), "changes")
        panel.on(exploration, lambda _: self.follow(), "catalog", "audit", "conditions", "selected")
        panel.on(self.confirm, lambda _: self._confirm())
        panel.on(self.back, lambda _: self._take_back())
        self._is_open = False

    @property
    def is_open(self) -> bool:
        """Whether somebody looks at it: what nobody sees is not judged."""
        return self._is_open

    @is_open.setter
    def is_open(self, is_open: bool) -> None:
        self._is_open = is_open
        self.follow()

    @property
    def products(self) -> tuple[str, ...]:
        """Ids of the chosen products."""
        state = self._exploration
        if state.selected:
            return state.selected
        ids = state.chosen.arrow("products", ["product_id"])["product_id"].to_pylist()
        return tuple(ids)

    def wait(self, seconds: float = 600.0) -> None:
        """Wait until nothing is judged, sent or requested; for scripts and tests."""
        for task in (self._judging, self.sender, self._proving, self._judging, self._exporter):
            task.wait(seconds)

    def follow(self) -> None:
        """Preview what the form says now; what was previewed before is no longer offered."""
        state = self._exploration
        if not self._is_open or self.sender.is_sending:
            return
        if self._held is not state.catalog:
            self._held = state.catalog
            self.form.hold(state.catalog)
            return  # it raises `changes`
        chosen = self._chosen()
        products = self.products
        if self.preview is not None and self.preview.holds(state.catalog, products, chosen):
            return
        self._judging.forget()
        self._drop()
        if chosen is None or not products:
            self._result.value = status_html("No product is chosen.") if not products else ""
            return
        of = (state.catalog, products, chosen, profile_of(state.audit))
        self._result.value = status_html("Making the preview …")
        self._judging.start(lambda _: preview_of(*of), "Making the preview")

    def _chosen(self) -> ChosenOperation | None:
        try:
            chosen = self.form.chosen
        except (InputError, QueryError) as error:
            self.form.say(str(error))
            return None
        self.form.say("")
        return chosen

    def _drop(self) -> None:
        self.preview = None
        self._result.value = ""
        self.sender.offer(None)
        self._draw()

    def _draw(self) -> None:
        fix = None if self.preview is None else self.preview.fix
        asked = 0 if fix is None else fix.counts["needs confirmation"]
        verb = "is" if asked == 1 else "are"
        self.confirm.description = f"Yes, {counted(asked, 'correction')} to be confirmed {verb} meant"
        show_if(self.confirm, asked > 0)
        can_undo = self._sent is not None and (self.preview is None or self.preview.chosen is not None)
        show_if(self.back, can_undo and not self.sender.is_sending)
        show_if(self._recipe, self.preview is not None and self.preview.chosen is not None)

    def _show(self, preview: BulkPreview) -> None:
        self.preview = preview
        self._result.value = preview_html(preview)
        self.sender.offer(preview.fix)
        self._draw()

    def _failed(self, error: BaseException) -> None:
        self._drop()
        if isinstance(error, InputError | QueryError):
            self.form.say(str(error))
        else:
            self._panel.show_error(error)

    def _confirm(self) -> None:
        if self.preview is not None:
            self.preview.fix.confirm()
            self._show(self.preview)
            self.sender.send.focus()

    def _begin(self, fix: Fix) -> None:
        """Refuse to send a preview of something that would not be done any more."""
        preview, state = self.preview, self._exploration
        if (
            preview is None
            or preview.fix is not fix
            or not preview.holds(state.catalog, self.products, self._chosen())
        ):
            raise InputError(
                "What is chosen has changed since the preview was made. Look at it, and send again."
            )
        self._outcome.value = ""
        self._draw()

    def _ended(self, fix: Fix, _error: BaseException | None) -> None:
        """Ask the service for the products, so that the explorer shows them as they are now."""
        if fix.tracking is None or self._service is None:
            self._draw()
            return
        self._sent = None if self.preview is None or self.preview.chosen is None else fix
        state, service = self._exploration, self._service
        self._sent_of = state.catalog
        profile = profile_of(state.audit)
        is_ours = state.audit is not None and profile is not None and is_about(state.audit, state.catalog)
        self._proving.start(
            lambda progress: requested_again(fix, service, profile if is_ours else None, progress),
            "Requesting the products",
        )
        self._draw()

    def _proved(self, arrival: ArrivalCheck) -> None:
        every, missing = sent_and_missing(arrival)
        self._outcome.value = arrival_html(every, missing, arrival, self.sender.host)
        shown = self._exploration.catalog
        if self._sent_of is shown:
            self._exploration.renew(shown, arrival.newest.catalog, arrival.audit)
        self.follow()

    def _take_back(self) -> None:
        """Preview how what was sent is taken back; it is sent as every other correction is."""
        sent, service, state = self._sent, self._service, self._exploration
        if sent is None or sent.tracking is None or service is None:
            return
        tracking, products, profile = sent.tracking, self.products, profile_of(state.audit)
        catalog = state.catalog
        self._drop()
        self._outcome.value = ""

        def judge(_progress: Reporter) -> BulkPreview:
            made = undo(tracking, service=service, catalog=catalog, profile=profile)
            return BulkPreview(catalog, products, None, made)

        self._judging.start(judge, "Requesting the products")

    def _keep(self) -> None:
        preview = self.preview
        path = path_of(self.file.value, "a file, such as brand-spelling.toml")
        if preview is None or preview.chosen is None:
            raise InputError("There is nothing to keep yet: fill in the form first.")
        state = self._exploration
        # What the catalogue and the filters chose is chosen again from other products; what is selected are these.
        before = None if state.selected else state.catalog.chosen
        own = Selection.of(product_id=state.selected) if state.selected else state.conditions
        recipe = Recipe(
            (preview.chosen.step,),
            path.stem.replace("-", " "),
            own if before is None else before.selection & own,
            "" if before is None else "; ".join(before.unwritten),
        )
        self._exporter.show_message(f"Kept as {recipe.save(path)}.")


def correct_title(number: int) -> str:
    """Return the title of the section, by the number of chosen products.

    >>> correct_title(1000)
    'Correct the 1,000 chosen products'
    """
    return f"Correct the {counted(number, 'chosen product')}"


def preview_of(
    catalog: Catalog, products: tuple[str, ...], chosen: ChosenOperation, profile: Profile | None
) -> BulkPreview:
    """Judge what is to be done to some products of a catalogue."""
    # A recipe, since its fix is of all products that are explored, whichever of them are chosen here.
    recipe = Recipe((chosen.step,), chosen=Selection.of(product_id=products))
    why = f"correction of many products: {chosen.step.words}"
    return BulkPreview(catalog, products, chosen, apply_recipe(catalog, recipe, profile=profile, why=why))


#: What is not taken, as the preview calls it.
_NOT_TAKEN = {
    "needs confirmation": "To be confirmed",
    "conflict": "In conflict",
    "refused": "Cannot be done",
}


def preview_html(preview: BulkPreview) -> str:
    """Return what a correction would change: the counts, a sample before and after, what is not taken, the effect."""
    fix = preview.fix
    rows = fix.preview()
    words = "take back what was sent" if preview.chosen is None else preview.chosen.step.operation.words
    title = f"{words[:1].upper()}{words[1:]}: {counts_in_words(preview, rows['gtin'].nunique())}."
    tables = []
    if len(rows):
        cells = [
            (one["gtin"], one["language"] or "", one["before"] or "(nothing)", one["after"] or "(taken away)")
            for one in rows.head(_ROWS).to_dict("records")
        ]
        number = f"{len(cells):,} of {counted(len(rows), 'correction')}, before and after"
        tables.append(table(number, ["GTIN", "language", "before", "after"], cells, codes={"GTIN"}))
    lines = [(line, True) for state, what in _NOT_TAKEN.items() for line in _reasons(fix, state, what)]
    # The headline is read out when it changes; the table is there for whoever wants it.
    said = f"<span class='sr' role='status'>{text_html(title)}</span>"
    return f"{said}{block(title, lines, tables)}{effect_html(fix)}"


def _reasons(fix: Fix, state: str, what: str) -> list[str]:
    """Return why answers are in a state: reasons that differ in the value that they quote are one."""
    own = fix.answers[fix.answers["state"] == state]
    if own.empty:
        return []
    kinds = own.groupby(own["reason"].str.partition(": ")[0], sort=False)["reason"].agg(["size", "first"])
    kinds = kinds.sort_values("size", ascending=False, kind="stable")
    lines = [
        f"{what}, {row['size']:,}{', such as' if row['size'] > 1 and row['first'] != kind else ''}: {row['first']}"
        for kind, row in kinds.head(_REASONS).iterrows()
    ]
    if len(kinds) > _REASONS:
        lines.append(f"{what}: {len(kinds) - _REASONS:,} more reasons. A worklist of them has all.")
    return lines


def counts_in_words(preview: BulkPreview, products: int) -> str:
    """Return how many values change, of how many products, are so already, and are not taken."""
    fix, steps = preview.fix, preview.fix.steps
    parts = []
    if fix.counts["accepted"]:
        parts.append(
            f"{counted(fix.counts['accepted'], 'value')} of {counted(products, 'product')} can be sent"
        )
    already = int(steps["already_so"].sum()) if "already_so" in steps else fix.counts["unchanged"]
    if already:
        parts.append(f"{already:,} {'is' if already == 1 else 'are'} so already")
    parts += [f"{number:,} {state_in_words(state)}" for state in _NOT_TAKEN if (number := fix.counts[state])]
    without = int(steps["no_value"].sum()) if "no_value" in steps else 0
    if without:
        parts.append(f"{counted(without, 'product')} {'has' if without == 1 else 'have'} no value there")
    return ", ".join(parts) or "nothing to change"
