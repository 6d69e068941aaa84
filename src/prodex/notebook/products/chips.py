"""What narrows a catalogue down as a line of buttons; each takes its condition away."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import ipywidgets as w
from traitlets import Instance

from prodex.notebook.conditions import Conditions
from prodex.notebook.panel import Panel
from prodex.notebook.products.facet_box import isolated
from prodex.notebook.products.facet_values import Values


class Chips(w.HBox):
    """The conditions, one button for each.

    Parameters
    ----------
    panel
        Where they stand; what goes wrong is told there.

    Attributes
    ----------
    conditions
        What is left after a click.
    """

    conditions: Instance[Conditions] = Instance(Conditions, ())

    def __init__(self, *, panel: Panel) -> None:
        super().__init__()
        self.add_class("line")
        self.add_class("chips")
        self._panel = panel
        self._look = (w.Layout(width="auto", height="auto"), w.ButtonStyle())
        self._buttons: list[w.Button] = []
        self._without: list[Conditions] = []

    def show(self, conditions: Conditions, values: Mapping[str, Values]) -> None:
        """Show these conditions."""
        self.conditions = conditions
        chips = list(_chips(conditions, values))
        if len(chips) > 1:
            chips.append(("clear all", Conditions()))
        self._without = [without for _, without in chips]
        for place, (words, _) in enumerate(chips):
            if place == len(self._buttons):
                self._buttons.append(self._button(place))
            self._buttons[place].description = words
        self.children = tuple(self._buttons[: len(chips)])

    def _button(self, place: int) -> w.Button:
        button = w.Button(layout=self._look[0], style=self._look[1], tooltip="Take this condition away")
        button.add_class("chip")
        self._panel.on(button, self._taking(place))
        return button

    def _taking(self, place: int) -> Callable[[Any], None]:
        def take(_: Any) -> None:
            self.conditions = self._without[place]
            if 0 < len(self.children) <= place:  # the button that was pressed is gone
                self._buttons[len(self.children) - 1].focus()

        return take


def _chips(conditions: Conditions, values: Mapping[str, Values]) -> Iterator[tuple[str, Conditions]]:
    for name, codes in conditions.facets.items():
        for code in codes:
            label = values[name].label(code)
            yield f"{values[name].facet.title.lower()}: {isolated(label)} ✕", conditions.toggled(name, code)
    if conditions.words:
        yield f"words: {isolated(conditions.words)} ✕", conditions.searching("")
    if conditions.failing is not None:
        yield f"fails: {isolated(conditions.failing.title)} ✕", conditions.without_failing()
