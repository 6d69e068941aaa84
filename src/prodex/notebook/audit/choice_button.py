"""A button that stands for products of an audit: pressing it shows them, pressing it again takes that back."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets as w

from prodex.notebook.audit.choices import Choice
from prodex.notebook.panel import Panel

#: Called with what was chosen; None shows all products again.
Choose = Callable[[Choice | None], object]


class ChoiceButton(w.Button):
    """One of many equal buttons; they share how they look.

    Parameters
    ----------
    panel
        Where errors are told.
    choose
        Called with the choice that the button stands for.
    look
        Class of our style; buttons of the same look share their layout.
    """

    def __init__(self, panel: Panel, choose: Choose, look: str) -> None:
        super().__init__(layout=_LAYOUTS.setdefault(look, w.Layout(width="auto")), style=_STYLE)
        self._look, self._more, self._words, self._marked = look, "", "", False
        self.choice: Choice | None = None
        panel.on(self, lambda _: None if self.choice is None else choose(self.choice))

    def stand_for(
        self,
        choice: Choice | None,
        words: str,
        *,
        more: str = "",
        hint: str = "",
        chosen: Choice | None = None,
    ) -> None:
        """Stand for another choice; for None the button only says something.

        Parameters
        ----------
        words
            What the button says.
        more
            A further class of our style.
        hint
            Our own words, for who points at it.
        chosen
            What is chosen now.
        """
        with self.hold_sync():
            self.choice, self._words, self._more = choice, words, more
            self.disabled, self.tooltip = choice is None, hint or None
            self.mark(chosen)

    def mark(self, chosen: Choice | None) -> None:
        """Show whether what is chosen is what the button stands for."""
        is_chosen = chosen is not None and chosen == self.choice
        self.description = f"✓ {self._words}" if is_chosen else self._words
        marks = (self._look, self._more, "chosen" if is_chosen else "")
        self._dom_classes = tuple(filter(None, marks))


_LAYOUTS: dict[str, w.Layout] = {}
_STYLE = w.ButtonStyle()
