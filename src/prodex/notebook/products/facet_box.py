"""A facet as a box of rows, each with a value and its count; a click selects the value or clears it."""

from __future__ import annotations

import ipywidgets as w
from traitlets import Bool, Instance, Tuple

from prodex.notebook.boxes import VBox
from prodex.notebook.conditions import Code
from prodex.notebook.panel import Panel, html
from prodex.notebook.products.facet_counts import Counts, FacetValues
from prodex.notebook.products.facets import Facet
from prodex.notebook.products.search import contains
from prodex.notebook.products.table_page import cut

#: Rows shown at first, and how many come with each "more".
_FEW, _MORE = 8, 20
#: Characters of a value that a row shows.
_LABEL = 60


class FacetBox(VBox):
    """A heading that opens and closes, and below it the values.

    Parameters
    ----------
    panel
        The panel around it, which shows errors.
    facet
        The facet.
    look
        Layout and style that all rows of all boxes share.
    is_open
        Whether the values are shown at first.

    Attributes
    ----------
    chosen
        The codes of the selected values, in the order of selection.
    is_open
        Whether the values are shown.
    """

    chosen: Instance[tuple[Code, ...]] = Tuple()
    is_open: Bool[bool, bool | int] = Bool(default_value=False)

    def __init__(
        self, *, panel: Panel, facet: Facet, look: tuple[w.Layout, w.ButtonStyle], is_open: bool = False
    ) -> None:
        super().__init__(is_open=is_open)
        self.add_class("facet")
        self._panel, self._facet, self._look = panel, facet, look
        self._values: FacetValues | None = None
        self._counts: Counts | None = None
        self._most = _FEW
        self._rows: list[w.Button] = []
        self._codes: list[Code] = []
        self._head = self._button("facet-head")
        self._find = w.Text(description="Find", layout=look[0])
        self._more = self._button("facet-more")
        self._note = html("", "muted")
        panel.on(self._head, lambda _: self._fold())
        panel.on(self._find, lambda _: self._draw(), "value")
        panel.on(self._more, lambda _: self._show_more())
        self._draw()

    def show(
        self, chosen: tuple[Code, ...], values: FacetValues | None = None, counts: Counts | None = None
    ) -> None:
        """Show the selection; in an open box these values, with the number of products that each has or would add."""
        if values is not None and values is not self._values:
            self._values, self._most = values, _FEW
            self._find.value = ""
            self._find.placeholder = f"in {len(values.codes):,} values"
        self._counts = counts
        self.chosen = chosen
        self._draw()

    def _fold(self) -> None:
        self.is_open = not self.is_open
        self._draw()

    def _show_more(self) -> None:
        before = len(self._codes)
        self._most += _MORE
        self._draw()
        self._rows[before - 1].focus()  # so that the next Tab leads to the first of the new rows

    def _toggle(self, place: int) -> None:
        code = self._codes[place]
        kept = tuple(one for one in self.chosen if one != code)
        self.chosen = kept if code in self.chosen else (*kept, code)

    def _draw(self) -> None:
        title = self._facet.title
        number = f" · {len(self.chosen)} selected" if self.chosen else ""
        self._head.description = f"{'▾' if self.is_open else '▸'} {title}{number}"
        self._head.tooltip = f"{'Hide' if self.is_open else 'Show'} the values of {title}"
        # The rows of a closed box are not sent: a catalogue may have thousands of brands.
        if self.is_open and self._values is not None and self._counts is not None:
            self._draw_rows(self._values, self._counts)
        else:
            self.children: tuple[w.Widget, ...] = (self._head,)

    def _draw_rows(self, values: FacetValues, counts: Counts) -> None:
        fitting = self._fitting(values, counts)
        shown = fitting[: self._most]
        self._codes = [values.codes[number] for number in shown]
        for place, number in enumerate(shown):
            self._draw_row(place, values.codes[number], values.labels[number], int(counts[number]))
        self._note.value = _note(values, len(fitting))
        self._more.description = f"Show more ({len(shown):,} of {len(fitting):,})"
        self.children = (
            self._head,
            # A search field for values only where not all of them are shown.
            *((self._find,) if len(values.codes) > _FEW else ()),
            *self._rows[: len(shown)],
            *((self._more,) if len(fitting) > len(shown) else ()),
            *((self._note,) if self._note.value else ()),
        )

    def _fitting(self, values: FacetValues, counts: Counts) -> list[int]:
        """Return the numbers of the values to show: those that are selected or would add products come first."""
        if not values.is_asked:
            return []
        is_chosen = [code in self.chosen for code in values.codes]
        numbers = list(range(len(values.codes)))
        if words := self._find.value.strip():
            found = contains(values.labels, words)
            numbers = [number for number in numbers if found[number] or is_chosen[number]]
        # `sorted` is stable: otherwise values stay in the order of their frequency in the whole catalogue, so that a
        # click never moves the rows of its own facet.
        return sorted(numbers, key=lambda number: not counts[number] and not is_chosen[number])

    def _draw_row(self, place: int, code: Code, label: str, count: int) -> None:
        if place == len(self._rows):
            made = self._button("facet-row")
            self._panel.on(made, lambda _: self._toggle(place))
            self._rows.append(made)
        row, is_chosen = self._rows[place], code in self.chosen
        state = ("is-chosen",) if is_chosen else () if count else ("is-empty",)
        with row.hold_sync():
            row.description = f"{'☑' if is_chosen else '☐'} {isolated(label)}"
            # The style sheet shows it at the end of the row: a button has one label only.
            row.tooltip = f"{count:,}"
            row._dom_classes = ("facet-row", *state)

    def _button(self, name: str) -> w.Button:
        button = w.Button(layout=self._look[0], style=self._look[1])
        button.add_class(name)
        return button


def isolated(text: str) -> str:
    """Return text between marks that isolate its direction: a label of a button cannot hold a <bdi>."""
    return f"\u2068{cut(text, _LABEL)}\u2069"


def _note(values: FacetValues, fitting: int) -> str:
    if not values.is_asked:
        return "not requested"
    if not values.codes:
        return "no products"
    return "" if fitting else "no matching value"
