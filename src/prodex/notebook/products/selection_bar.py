"""What is chosen, in one line: the conditions as chips, back and forward, and views that were saved by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import ipywidgets as w

from prodex.errors import InputError
from prodex.messages import counted
from prodex.notebook.boxes import VBox
from prodex.notebook.conditions import Conditions, ProductList
from prodex.notebook.exploration import Exploration
from prodex.notebook.panel import Fold, Panel, button, html, message_html, row, show_if
from prodex.notebook.products.applicable import applicable
from prodex.notebook.products.removable_buttons import ActiveFilters
from prodex.notebook.views import View, open_view, remove_view, save_view, saved_views

_NONE = ("a saved view …", "")
_EMPTY = "This catalogue has no products. Load with another query, or open another snapshot."


class SelectionBar(VBox):
    """The conditions of an exploration, the same in every panel; a press changes them.

    Parameters
    ----------
    panel
        The panel around it, which shows errors.
    exploration
        The shared state.
    look, take
        Return what a view saves beside the conditions, and show it again; without them a view has conditions only.

    Attributes
    ----------
    back, forward
        Buttons to the conditions before, and forward again.
    chips
        A button for each condition.
    only
        Shows the selected products and no others, so that they can be exported, audited or compared by themselves.
    views
        The saved views.
    """

    def __init__(
        self,
        panel: Panel,
        exploration: Exploration,
        *,
        look: Callable[[str, Conditions], View] | None = None,
        take: Callable[[View], object] | None = None,
    ) -> None:
        self._panel, self._exploration = panel, exploration
        self._look = look if look is not None else View
        self._take = take
        self._history = exploration.history
        self.back: w.Button = button("← Back", "quiet", tooltip="Back to the filters before")
        self.forward: w.Button = button("Forward →", "quiet", tooltip="Forward again")
        self.chips: ActiveFilters = ActiveFilters(panel=panel)
        self.only: w.Button = button("", "quiet", tooltip="Filter by what is selected; Back returns")
        self._saved = w.Dropdown(description="Open", options=[_NONE], layout=w.Layout(width="auto"))
        self._name = w.Text(description="Name", placeholder="Without pictures", layout=w.Layout(width="auto"))
        self._save, self._remove = button("Save view"), button("Remove view")
        lines = row(self._saved, self._remove, self._name, self._save, look="line")
        self.views: Fold = Fold("Views", [lines])
        self._said, self._empty = html(""), html("")
        self._opened: Conditions | None = None
        bar = row(self.back, self.forward, self.chips, self.only, self.views, look="selection")
        super().__init__([bar, self._empty, self._said])
        self._connect()
        self._list("")
        self.draw()

    def draw(self) -> None:
        """Show the conditions as they are now."""
        self.chips.show(self._exploration.conditions, self._exploration.filter.facets)
        self._empty.value = "" if len(self._exploration.catalog) else message_html(_EMPTY)
        # A view that was changed since is no longer shown as open, so that it can be opened again.
        if self._saved.value and self._exploration.conditions != self._opened:
            self._saved.value = ""
        number = counted(len(self._exploration.selected), "selected product")
        self.only.description = f"Show only the {number}"
        show_if(
            self.only, bool(self._exploration.selected) and self._exploration.conditions != self._selected
        )
        self.back.disabled = not self._history.can_go_back
        self.forward.disabled = not self._history.can_go_forward

    @property
    def _selected(self) -> Conditions:
        """The conditions that only the selected products meet."""
        ids = self._exploration.selected
        return Conditions(listed=(ProductList(counted(len(ids), "selected product"), ids),))

    def _connect(self) -> None:
        on = self._panel.on
        on(self.only, lambda _: self._set(self._selected))
        on(self.chips, lambda change: self._set(change["new"]), "conditions")
        on(self.back, lambda _: self._go(self._history.back, self.back, self.forward))
        on(self.forward, lambda _: self._go(self._history.forward, self.forward, self.back))
        on(self._history, lambda _: self.draw(), "can_go_back", "can_go_forward")
        on(self._exploration, lambda _: self.draw(), "conditions", "catalog", "audit", "selected")
        on(self._saved, lambda change: self._open(change["new"]), "value")
        on(self._save, lambda _: self._keep())
        on(self._remove, lambda _: self._drop())
        on(self.views, lambda _: self._list(self._saved.value), "is_open")

    def _go(self, go: Callable[[], object], pressed: w.Button, other: w.Button) -> None:
        self._refine(go)
        # At the end of the history the button that was pressed is disabled, and would leave the focus nowhere.
        if pressed.disabled:
            other.focus()

    def _set(self, conditions: Conditions) -> None:
        self._refine(partial(setattr, self._exploration, "conditions", conditions))

    def _refine(self, change: Callable[[], object]) -> None:
        """Change what is chosen; what was said of a view is about another choice then."""
        self._said.value = ""
        with self._exploration.refining:
            change()

    def _list(self, chosen: str) -> None:
        """List the views that are saved now: another notebook may have saved some."""
        names = [view.name for view in saved_views()]
        # The label is what somebody typed, between marks that isolate its direction.
        self._saved.options = [_NONE, *((f"\u2068{name}\u2069", name) for name in names)]
        self._saved.value = chosen if chosen in names else ""
        self._remove.disabled = not self._saved.value

    def _open(self, name: Any) -> None:
        self._remove.disabled = not name
        if not name:
            return
        view = open_view(str(name))
        if self._take is not None:
            self._take(view)
        conditions, said = applicable(view.conditions, self._exploration.filter)
        self._opened = conditions
        self._set(conditions)
        self._said.value = message_html(said, is_problem=True) if said else ""

    def _keep(self) -> None:
        name = self._name.value.strip()
        if not name:
            raise InputError("Enter a name for the view first, such as Without pictures.")
        save_view(self._look(name, self._exploration.conditions))
        self._list(name)
        self._name.value = ""

    def _drop(self) -> None:
        remove_view(str(self._saved.value))
        self._list("")
        self._saved.focus()
