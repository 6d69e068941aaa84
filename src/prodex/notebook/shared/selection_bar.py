"""What is chosen, in one line: the conditions as chips, back and forward, and views that were saved by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from html import escape
from typing import Any

import ipywidgets as w

from prodex.errors import InputError, OtherLayout
from prodex.exploration.saved_views import (
    SavedView,
    applicable,
    open_view,
    remove_view,
    save_view,
    saved_views,
)
from prodex.messages import counted
from prodex.notebook.shared.boxes import HBox, VBox
from prodex.notebook.shared.panel import Fold, Panel, button, html, message_html, row, show_if
from prodex.notebook.shared.removable_buttons import ActiveFilters
from prodex.notebook.shared.state import Exploration
from prodex.selection import ProductList, Selection

#: On the button that begins an "either ..., or ...".
_OR = "Or …"
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
    alternative
        Keeps the conditions as one half of an "either ..., or ...", and joins both when the second is built.
    others
        Shows all products that are not shown now.
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
        look: Callable[[str, Selection], SavedView] | None = None,
        take: Callable[[SavedView], object] | None = None,
    ) -> None:
        self._panel, self._exploration = panel, exploration
        self._look = look if look is not None else SavedView
        self._take = take
        self._history = exploration.history
        self.back: w.Button = button("← Back", "quiet", tooltip="Back to the filters before")
        self.forward: w.Button = button("Forward →", "quiet", tooltip="Forward again")
        self.chips: ActiveFilters = ActiveFilters(panel=panel)
        self.alternative: w.Button = button(_OR, "quiet", tooltip="Show other products beside these")
        self.others: w.Button = button(
            "All others", "quiet", tooltip="Show what is not shown now, and nothing else"
        )
        self._either = html("", "muted", "either")
        self.only: w.Button = button("", "quiet", tooltip="Filter by what is selected; Back returns")
        self._saved = w.Dropdown(description="Open", options=[_NONE], layout=w.Layout(width="auto"))
        self._name = w.Text(description="Name", placeholder="Without pictures", layout=w.Layout(width="auto"))
        self._save, self._remove = button("Save view"), button("Remove view")
        lines = row(self._saved, self._remove, self._name, self._save, look="line")
        self.views: Fold = Fold("Views", [lines])
        self._view_note, self._empty = html(""), html("")
        self._opened: Selection | None = None
        shown = (self._either, self.chips, self.alternative, self.others, self.only)
        bar = row(self.back, self.forward, *shown, self.views, look="selection")
        super().__init__([bar, self._empty, self._view_note])
        self._connect()
        self._list("")
        self.draw()

    def draw(self) -> None:
        """Show the conditions as they are now."""
        self.chips.show(self._exploration.conditions, self._exploration.filter.facets)
        self._empty.value = "" if len(self._exploration.catalog) else message_html(_EMPTY)
        filtered, first = bool(self._exploration.conditions), self._exploration.alternative
        words = "" if first is None else "; ".join(self._exploration.filter.labels(first))
        self._either.value = "" if first is None else f"either {escape(words)}, or"
        self.alternative.description = _OR if first is None else "Join both" if filtered else "Take back"
        show_if(self._either, first is not None)
        show_if(self.alternative, filtered or first is not None)
        show_if(self.others, filtered)
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
    def _selected(self) -> Selection:
        """The conditions that only the selected products meet."""
        ids = self._exploration.selected
        return Selection(listed=(ProductList(counted(len(ids), "selected product"), ids),))

    def _connect(self) -> None:
        on = self._panel.on
        on(self.only, lambda _: self._set(self._selected))
        on(self.alternative, lambda _: self._choose_alternative())
        on(self.others, lambda _: self._set(_others_than(self._exploration.conditions)))
        on(self.chips, lambda change: self._set(change["new"]), "conditions")
        on(self.back, lambda _: self._go(self._history.back, self.back, self.forward))
        on(self.forward, lambda _: self._go(self._history.forward, self.forward, self.back))
        on(self._history, lambda _: self.draw(), "can_go_back", "can_go_forward")
        on(
            self._exploration,
            lambda _: self.draw(),
            "conditions",
            "alternative",
            "catalog",
            "audit",
            "selected",
        )
        on(self._saved, lambda change: self._open(change["new"]), "value")
        on(self._save, lambda _: self._keep())
        on(self._remove, lambda _: self._drop())
        on(self.views, lambda _: self._list(self._saved.value), "is_open")

    def _go(self, go: Callable[[], object], pressed: w.Button, other: w.Button) -> None:
        self._refine(go)
        # At the end of the history the button that was pressed is disabled, and would leave the focus nowhere.
        if pressed.disabled:
            other.focus()

    def _set(self, conditions: Selection) -> None:
        self._refine(partial(setattr, self._exploration, "conditions", conditions))

    def _refine(self, change: Callable[[], object]) -> None:
        """Change what is chosen, and clear the message about a view, which was about the earlier choice."""
        self._view_note.value = ""
        with self._exploration.refining:
            change()

    def _choose_alternative(self) -> None:
        """Keep the conditions as the first half; with a second half, show the products of both."""
        state = self._exploration
        first, now = state.alternative, state.conditions

        def change() -> None:
            # Both at once; and who is told of it is told while the panel says that it refines what it shows.
            with state.hold_trait_notifications():
                state.alternative = now if first is None else None
                state.conditions = Selection() if first is None else first | now if now else first

        self._refine(change)
        # The button may be hidden now, and would leave the focus nowhere.
        if not state.conditions and state.alternative is None:
            self.back.focus()

    def _list(self, chosen: str) -> None:
        """List the views that are saved now: another notebook may have saved some."""
        try:
            names = [view.name for view in saved_views()]
        except OtherLayout as error:
            names = []
            self._view_note.value = message_html(str(error), is_problem=True)
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
        conditions, note = applicable(view.conditions, self._exploration.filter)
        self._opened = conditions
        self._set(conditions)
        self._view_note.value = message_html(note, is_problem=True) if note else ""

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


def _others_than(conditions: Selection) -> Selection:
    """Return the conditions of all other products; those of all others than these are what they were."""
    excepted = conditions.excepted
    is_all_others = len(excepted) == 1 and conditions == Selection(excepted=excepted)
    return excepted[0] if is_all_others else ~conditions


class SelectionButtons(HBox):
    """The same for every way in which products are shown.

    Parameters
    ----------
    panel
        The panel around it, which shows errors.
    of
        What has the trait `selected`.
    page
        Returns the ids of the products that are shown.

    Attributes
    ----------
    all, none
        The buttons.

    Examples
    --------
    >>> from prodex.notebook.gallery.product_gallery import ProductGallery
    >>> gallery = ProductGallery(panel=Panel())
    >>> gallery.selection.choose(["7", "8"])
    >>> gallery.selection.choose(["8", "9"])
    >>> gallery.selected
    ('7', '8', '9')
    """

    def __init__(self, *, panel: Panel, of: Any, page: Callable[[], Sequence[str]]) -> None:
        self._of, self._page = of, page
        self._anchor: str | None = None
        self._words = html("", "muted")
        self.all: w.Button = button("Select this page")
        self.none: w.Button = button("Clear selection")
        super().__init__([self._words, self.all, self.none])
        self.add_class("selection-buttons")
        panel.on(self.all, lambda _: self.choose(self._page()))
        panel.on(self.none, lambda _: self._clear())
        panel.on(of, lambda _: self.draw(), "selected")
        self.draw()

    def choose(self, ids: Sequence[str]) -> None:
        """Select products beside those that are selected; one that is selected already keeps its place in the order."""
        self._of.selected = tuple(dict.fromkeys([*self._selected, *ids]))

    def toggle(self, product_id: str, *, through: bool = False) -> None:
        """Select a product or clear it; `through` selects all of the page from the last one that was pressed."""
        page = list(self._page())
        if through and self._anchor in page and product_id in page:
            first, last = sorted((page.index(self._anchor), page.index(product_id)))
            self.choose(page[first : last + 1])
        elif product_id in self._selected:
            self._of.selected = tuple(one for one in self._selected if one != product_id)
        else:
            self.choose([product_id])
        self._anchor = product_id

    def draw(self) -> None:
        """Show how many are selected, and what can be pressed."""
        self._words.value = f"{len(self._selected):,} selected"
        self.all.disabled = not self._page()
        self.none.disabled = not self._selected

    @property
    def _selected(self) -> tuple[str, ...]:
        selected: tuple[str, ...] = self._of.selected
        return selected

    def _clear(self) -> None:
        self._of.selected = ()
        # The button that was pressed is disabled now, and would leave the focus nowhere.
        self.all.focus()
