"""Back and forward through the conditions of an exploration, as through the pages of a browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from traitlets import Bool, HasTraits

from prodex.explore.conditions import Conditions

#: Conditions that are kept; nobody goes further back, and a long day of work has thousands.
_MOST = 200


class HasConditions(Protocol):
    """What has conditions that can be followed: an `Exploration`."""

    conditions: Any

    def observe(self, handler: Callable[[Any], object], names: str) -> None:
        """Call the handler whenever one of its traits changes."""


class History(HasTraits):
    """The conditions that an exploration had, and a place among them.

    Parameters
    ----------
    exploration
        The exploration that it follows.

    Attributes
    ----------
    can_go_back, can_go_forward
        Whether there are earlier, and later ones.

    Examples
    --------
    >>> import prodex
    >>> from prodex.notebook.shared.exploration import Exploration
    >>> exploration = Exploration(catalog=prodex.flatten([{"id": 7}]))
    >>> history = exploration.history
    >>> exploration.conditions = exploration.conditions.toggled("brand", "ACME")
    >>> history.back()
    >>> exploration.conditions.facets, history.can_go_forward
    ({}, True)
    >>> history.forward()
    >>> exploration.conditions.facets
    {'brand': ('ACME',)}
    """

    can_go_back: Bool[bool, bool | int] = Bool(default_value=False)
    can_go_forward: Bool[bool, bool | int] = Bool(default_value=False)

    def __init__(self, exploration: HasConditions) -> None:
        super().__init__()
        self._exploration = exploration
        self._kept: list[Conditions] = [exploration.conditions]
        self._place = 0
        exploration.observe(lambda _: self._follow(), "conditions")
        exploration.observe(lambda _: self._begin(), "catalog")

    def back(self) -> None:
        """Restore the conditions before; nothing happens at the first."""
        self._go(-1)

    def forward(self) -> None:
        """Restore the conditions that `back` left; nothing happens at the last."""
        self._go(1)

    def _go(self, step: int) -> None:
        place = self._place + step
        if 0 <= place < len(self._kept):
            self._place = place
            self._exploration.conditions = self._kept[place]
            self._show()

    def _follow(self) -> None:
        now = self._exploration.conditions
        if now == self._kept[self._place]:
            return
        # What came after the place that somebody went back to is forgotten, as in a browser.
        self._kept = [*self._kept[: self._place + 1], now][-_MOST:]
        self._place = len(self._kept) - 1
        self._show()

    def _begin(self) -> None:
        """Forget all: values of another catalogue may not exist in this one."""
        self._kept, self._place = [self._exploration.conditions], 0
        self._show()

    def _show(self) -> None:
        self.can_go_back = self._place > 0
        self.can_go_forward = self._place < len(self._kept) - 1
