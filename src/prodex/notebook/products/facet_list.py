"""The facets of an explorer as a list: which are open, which of their values are shown, and what a press means."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from traitlets import HasTraits, Instance

from prodex.notebook.conditions import Code, Conditions
from prodex.notebook.live import LiveWidget
from prodex.notebook.panel import Panel
from prodex.notebook.products.facet_counts import Counts, FacetValues
from prodex.notebook.products.search import contains
from prodex.notebook.products.table_page import cut

#: Values shown at first, and how many come with each "more".
FEW, _MORE = 8, 20
#: Characters of a value that a row shows.
_LABEL = 60


@dataclass(frozen=True)
class Folding:
    """How a facet is shown.

    Attributes
    ----------
    is_open
        Whether its values are shown.
    most
        How many values are shown at most.
    find
        Words that shown values contain.
    with_zeros
        Whether values are shown that no product has under the conditions.
    """

    is_open: bool = False
    most: int = FEW
    find: str = ""
    with_zeros: bool = False


class FacetList(HasTraits):
    """The facets of a catalogue; `widget` shows them.

    Parameters
    ----------
    panel
        The panel around them, which shows errors.
    opened
        Called when a facet was opened, whose counts may be missing.

    Attributes
    ----------
    conditions
        The conditions, which a press changes.
    widget
        The live widget.
    """

    conditions: Instance[Conditions] = Instance(Conditions, ())

    def __init__(self, panel: Panel, opened: Callable[[], object], *, open_first: tuple[str, ...]) -> None:
        super().__init__()
        self._foldings: dict[str, Folding] = {name: Folding(is_open=True) for name in open_first}
        self._values: Mapping[str, FacetValues] = {}
        self._counts: Mapping[str, Counts] = {}
        self._opened = opened
        self._shown: dict[str, list[int]] = {}
        self.widget: LiveWidget = LiveWidget(
            panel,
            "facets",
            {
                "toggle": self._toggle,
                "exclude": self._exclude,
                "fold": self._fold,
                "more": lambda facet: self._change(facet, most=self._folding(facet).most + _MORE),
                "zeros": lambda facet: self._change(facet, with_zeros=not self._folding(facet).with_zeros),
                "find": lambda facet, text: self._change(facet, find=str(text), most=FEW),
            },
        )
        self.widget.add_class("facets")

    @property
    def open(self) -> list[str]:
        """Names of the facets whose values are shown."""
        return [name for name, folding in self._foldings.items() if folding.is_open]

    def hold(self, values: Mapping[str, FacetValues]) -> None:
        """Show the facets of another catalogue; those that are open stay open."""
        self._values, self._counts = values, {}
        for name, folding in self._foldings.items():
            self._foldings[name] = Folding(is_open=folding.is_open)

    def show(self, conditions: Conditions, counts: Mapping[str, Counts]) -> None:
        """Show these conditions, and the number of products that each value of an open facet has or would add."""
        self._counts = counts
        self.conditions = conditions
        self.draw()

    def draw(self) -> None:
        """Show the facets as they are now."""
        self.widget.view = {"facets": [self._facet(name) for name in self._values]}

    def _facet(self, name: str) -> dict[str, Any]:
        folding, conditions = self._folding(name), self.conditions
        numbers = (len(conditions.facets.get(name, ())), len(conditions.excluded.get(name, ())))
        active = [f"{n} {word}" for n, word in zip(numbers, ("selected", "excluded"), strict=True) if n]
        # `declared` and not the values: those of a closed facet have not been read.
        facet = {
            "name": name,
            "title": self._title(name),
            "open": folding.is_open and name in self._counts,
            "active": ", ".join(active),
            "values": [],
        }
        return facet | self._values_of(name, folding) if facet["open"] else facet

    def _title(self, name: str) -> str:
        declared = getattr(self._values, "declared", None)
        return str(declared[name].title if declared is not None else self._values[name].facet.title)

    def _values_of(self, name: str, folding: Folding) -> dict[str, Any]:
        values, counts = self._values[name], self._counts[name]
        fitting, zeros = self._fitting(name, folding)
        shown = fitting[: folding.most]
        self._shown[name] = shown
        return {
            "values": [
                {
                    "key": number,
                    "label": cut(values.labels[number], _LABEL),
                    "count": int(counts[number]),
                    "state": self._state(name, values.codes[number]),
                }
                for number in shown
            ],
            "shown": len(shown),
            "more": len(fitting) - len(shown),
            "zeros": zeros,
            "zerosOpen": folding.with_zeros,
            "distinct": len(values.codes),
            # A field for words only where not all values are shown.
            "find": folding.find if len(values.codes) > FEW else None,
            "note": _note(values, bool(fitting or zeros)),
        }

    def _fitting(self, name: str, folding: Folding) -> tuple[list[int], int]:
        """Return the numbers of the values to show, and how many more no product has under the conditions."""
        values, counts = self._values[name], self._counts[name]
        if not values.is_asked:
            return [], 0
        numbers = list(range(len(values.codes)))
        states = [self._state(name, code) for code in values.codes]
        if found_words := folding.find.strip():
            found = contains(values.labels, found_words)
            numbers = [number for number in numbers if found[number] or states[number]]
        zeros = [number for number in numbers if not counts[number] and not states[number]]
        if not folding.with_zeros:
            numbers = [number for number in numbers if counts[number] or states[number]]
        # What is selected or excluded comes first, so that it can be taken back. Grades keep their own order.
        if not values.facet.needs_audit:
            numbers.sort(key=lambda number: (not states[number], -int(counts[number])))
        return numbers, len(zeros)

    def _state(self, name: str, code: Code) -> str:
        if code in self.conditions.facets.get(name, ()):
            return "chosen"
        return "excluded" if code in self.conditions.excluded.get(name, ()) else ""

    def _code(self, facet: str, key: int) -> Code:
        return self._values[facet].codes[int(key)]

    def _toggle(self, facet: str, key: int) -> None:
        self.conditions = self.conditions.toggled(facet, self._code(facet, key))

    def _exclude(self, facet: str, key: int) -> None:
        self.conditions = self.conditions.excluding(facet, self._code(facet, key))

    def _fold(self, facet: str) -> None:
        self._foldings[facet] = replace(self._folding(facet), is_open=not self._folding(facet).is_open)
        self._opened()

    def _change(self, facet: str, **changed: Any) -> None:
        self._foldings[facet] = replace(self._folding(facet), **changed)
        self.draw()

    def _folding(self, name: str) -> Folding:
        return self._foldings.get(name, Folding())


def _note(values: FacetValues, has_values: bool) -> str:
    if not values.is_asked:
        return "not requested"
    if not values.codes:
        return "no products"
    return "" if has_values else "no matching value"
