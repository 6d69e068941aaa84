"""A part of a panel that is folded away until somebody wants it; unlike an `Accordion` it is reached with Tab."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ipywidgets as w
from traitlets import Bool, Unicode


class Fold(w.VBox):
    """A button that shows and hides what stands below it.

    Parameters
    ----------
    title
        What is in there; our own words.
    inside
        The widgets.

    Attributes
    ----------
    title
        What is in there.
    is_open
        Whether they are shown.

    Examples
    --------
    >>> fold = Fold("more", [w.HTML("all of it")])
    >>> fold.is_open = True
    >>> fold.button.description, fold.body.layout.display
    ('▾ more', 'flex')
    """

    title: Unicode[str, str | bytes] = Unicode()
    is_open: Bool[bool, bool | int] = Bool(default_value=False)

    def __init__(self, title: str, inside: Sequence[Any]) -> None:
        self.button = w.ToggleButton(layout=w.Layout(width="auto"))
        self.button.add_class("fold")
        self.body = w.VBox(list(inside))
        super().__init__([self.button, self.body])
        self.title = title
        self._show()
        self.observe(lambda _: self._show(), ("is_open", "title"))
        self.button.observe(self._pressed, "value")

    def _pressed(self, change: dict[str, Any]) -> None:
        self.is_open = change["new"]

    def _show(self) -> None:
        self.button.value = self.is_open
        self.button.description = f"{'▾' if self.is_open else '▸'} {self.title}"
        self.body.layout.display = "flex" if self.is_open else "none"
