"""What every panel is: a box in our style, with a line in which errors are told in words."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from html import escape
from importlib.resources import files as resources
from typing import Any

import ipywidgets as w
from traitlets import Bool, Unicode

from prodex.display_text import words
from prodex.errors import ProdexError

_LOG = logging.getLogger("prodex")
_RESTING = "resting"


class Panel(w.VBox):
    """A box in our style. `say` shows a sentence in it, `guarded` whatever goes wrong inside, in words.

    Parameters
    ----------
    title
        The heading; our own words.
    """

    def __init__(self, title: str = "") -> None:
        self._notice = w.HTML()
        self._problems = 0
        self._top = (
            html(f"<style>{style()}</style>{f'<h2>{escape(title)}</h2>' if title else ''}"),
            self._notice,
        )
        super().__init__(self._top)
        self.add_class("prodex")
        self.add_class("mathjax_ignore")

    def fill(self, *children: w.Widget) -> None:
        """Show these below the heading."""
        self.children = (*self._top, *children)

    def say(self, sentence: str, *, is_problem: bool = False) -> None:
        """Show a sentence, which a screen reader reads out; none takes the last one away."""
        kind = "problem" if is_problem else "note"
        role = "alert" if is_problem else "status"
        self._notice.value = f"<div class='{kind}' role='{role}'>{typed(sentence)}</div>" if sentence else ""

    @property
    def said(self) -> str:
        """What is shown in the line for sentences, as markup."""
        return str(self._notice.value)

    def tell(self, error: BaseException) -> None:
        """Show an error in words: what happened, with which value, and what to do."""
        self._problems += 1
        self.say(in_words(error), is_problem=True)

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Show what goes wrong in here, and take it away when all is well again."""
        before = self._problems
        try:
            yield
        except Exception as error:  # noqa: BLE001 - the widget's edge: beyond it nobody would see the error
            self.tell(error)
        else:
            if self._problems == before:  # nor did anything go wrong further in
                self.say("")

    def on(self, widget: Any, event: Callable[[Any], object], *names: str) -> None:
        """Call a function, guarded, when traits of a widget change, or when a button is pressed (without names)."""

        def answer(change: Any) -> None:
            if not names and is_resting(widget):
                return
            with self.guarded():
                event(change)

        if names:
            widget.observe(answer, names)
        else:
            widget.on_click(answer)


def rest(button: Any, *, is_resting: bool) -> None:
    """Have a button do nothing while its work is done; one that is disabled would lose the keyboard's place."""
    if is_resting:
        button.add_class(_RESTING)
    else:
        button.remove_class(_RESTING)


def is_resting(button: Any) -> bool:
    """Say whether a button does nothing now."""
    return _RESTING in button._dom_classes


def in_words(error: BaseException) -> str:
    """Return an error as sentences; one that is not ours is named, and goes to the log with its traceback.

    >>> from prodex.errors import QueryError
    >>> in_words(QueryError("limit is 'x'. Give a number."))
    "limit is 'x'. Give a number."
    """
    if isinstance(error, ProdexError):
        return " ".join([str(error), *getattr(error, "__notes__", ())])
    _LOG.error("a widget failed", exc_info=error)
    return f"This did not work: {type(error).__name__}: {error}. The log of 'prodex' has the traceback."


def typed(text: object) -> str:
    """Return what somebody typed as markup that shows it letter by letter, in its own direction.

    >>> typed("<b>$5</b>")
    "<bdi dir='auto'>&lt;b&gt;$5&lt;/b&gt;</bdi>"
    """
    shown = words(text)
    return f"<bdi dir='auto'>{escape(shown.text)}</bdi>{shown.ends}"


def html(markup: str, *classes: str) -> Any:
    """Return a widget of our own markup; whatever else stands in it has gone through `typed` or `escape`."""
    widget = w.HTML(markup)
    for name in classes:
        widget.add_class(name)
    return widget


_FILES = ("common", "audit", "products", "query", "card", "explore")


@cache
def style() -> str:
    """Return the style sheet."""
    folder = resources("prodex.notebook") / "css"
    return "\n".join((folder / f"{name}.css").read_text("utf-8") for name in _FILES)


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
