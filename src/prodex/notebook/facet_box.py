"""A facet as a box of rows: a value and its count in each, a click chooses it or lets it go."""

from __future__ import annotations

import ipywidgets as w
from traitlets import Instance, Tuple

from prodex.notebook.conditions import Code
from prodex.notebook.facets import Counts, Values
from prodex.notebook.panel import Panel, html
from prodex.notebook.searching import contains
from prodex.notebook.table_page import cut

#: Rows shown at first, and how many come with each "more".
_FEW, _MORE = 8, 20
#: Characters of a value that a row shows.
_LABEL = 60


class FacetBox(w.VBox):
    """A heading that folds, and below it the values.

    Parameters
    ----------
    panel
        Where it stands; what goes wrong is told there.
    values
        What there is to choose from.
    look
        Layout and style that all rows of all boxes share.
    is_open
        Whether the values are shown at once.

    Attributes
    ----------
    chosen
        The codes that were chosen, in the order of the choice.
    """

    chosen: Instance[tuple[Code, ...]] = Tuple()

    def __init__(
        self, *, panel: Panel, values: Values, look: tuple[w.Layout, w.ButtonStyle], is_open: bool = False
    ) -> None:
        super().__init__()
        self.add_class("facet")
        self._panel, self._values, self._look = panel, values, look
        self._counts = values.totals
        self._is_open = is_open
        self._most = _FEW
        self._rows: list[w.Button] = []
        self._codes: list[Code] = []
        self._head = self._button("facet-head")
        self._find = w.Text(
            description="Find",
            placeholder=f"in {len(values.codes):,} values",
            layout=look[0],
            continuous_update=True,
        )
        self._more = self._button("facet-more")
        self._note = html("", "muted")
        panel.on(self._head, lambda _: self._fold())
        panel.on(self._find, lambda _: self._draw(), "value")
        panel.on(self._more, lambda _: self._show_more())
        self._draw()

    def show(self, values: Values, counts: Counts, chosen: tuple[Code, ...]) -> None:
        """Show these values with how many products each has or would add, some of them chosen."""
        if values is not self._values:
            self._values, self._most = values, _FEW
            self._find.value = ""
            self._find.placeholder = f"in {len(values.codes):,} values"
        self._counts = counts
        self.chosen = chosen
        self._draw()

    def _fold(self) -> None:
        self._is_open = not self._is_open
        self._draw()

    def _show_more(self) -> None:
        self._most += _MORE
        self._draw()

    def _toggle(self, place: int) -> None:
        code = self._codes[place]
        kept = tuple(one for one in self.chosen if one != code)
        self.chosen = kept if code in self.chosen else (*kept, code)

    def _draw(self) -> None:
        title = self._values.facet.title
        number = f" · {len(self.chosen)} chosen" if self.chosen else ""
        self._head.description = f"{'▾' if self._is_open else '▸'} {title}{number}"
        self._head.tooltip = f"{'Hide' if self._is_open else 'Show'} the values of {title}"
        if not self._is_open:
            self.children = (self._head,)
            return
        fitting = self._fitting()
        self._codes = [self._values.codes[n] for n in fitting[: self._most]]
        for place, number_ in enumerate(fitting[: self._most]):
            self._draw_row(place, number_)
        self._note.value = _told(self._values, len(fitting))
        self._more.description = f"Show more ({len(self._codes):,} of {len(fitting):,})"
        self.children = (
            self._head,
            *((self._find,) if len(self._values.codes) > _FEW else ()),
            *self._rows[: len(self._codes)],
            *((self._more,) if len(fitting) > len(self._codes) else ()),
            *((self._note,) if self._note.value else ()),
        )

    def _fitting(self) -> list[int]:
        """Return the numbers of the values to show: those that are chosen or would bring products come first.

        Apart from that they stand by their frequency in the whole catalogue: a click never moves the rows of its
        own facet.
        """
        if not self._values.is_asked:
            return []
        found = contains(self._values.labels, self._find.value)
        numbers = [
            n for n in range(len(self._values.codes)) if found[n] or self._values.codes[n] in self.chosen
        ]
        return sorted(numbers, key=lambda n: not self._counts[n] and self._values.codes[n] not in self.chosen)

    def _draw_row(self, place: int, number: int) -> None:
        if place == len(self._rows):
            row = self._button("facet-row")
            self._panel.on(row, lambda _: self._toggle(place))
            self._rows.append(row)
        row, code, count = self._rows[place], self._values.codes[number], int(self._counts[number])
        is_chosen = code in self.chosen
        state = ("is-chosen",) if is_chosen else ("is-empty",) if not count else ()
        with row.hold_sync():
            row.description = f"{'☑' if is_chosen else '☐'} {isolated(self._values.labels[number])}"
            row.tooltip = f"{count:,}"  # shown at the end of the row by the style
            row._dom_classes = ("facet-row", *state)

    def _button(self, name: str) -> w.Button:
        button = w.Button(layout=self._look[0], style=self._look[1])
        button.add_class(name)
        return button


def isolated(text: str) -> str:
    """Return what somebody typed with marks around that keep its direction to itself."""
    return f"\u2068{cut(text, _LABEL)}\u2069"


def _told(values: Values, fitting: int) -> str:
    if not values.is_asked:
        return "not asked for"
    if not values.codes:
        return "no products"
    return "" if fitting else "none is called so"
