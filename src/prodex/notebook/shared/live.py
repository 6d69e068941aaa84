"""Live widgets: lists and tables of many elements, drawn by a script of their own from one value of JSON.

ipywidgets makes a model and a view of every button. A table with its heads and facets has hundreds of them, and a click
would change them all, so these are drawn by a script from what Python says at once (an anywidget).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files as resources
from typing import TYPE_CHECKING, Any

from prodex.messages import counted
from prodex.notebook.shared.message_order import keep_in_order
from prodex.notebook.shared.panel import Panel
from prodex.untrusted_text import Words, words

if TYPE_CHECKING:
    from prodex.notebook.shared.boxes import Box as AnyWidget
else:
    from anywidget import AnyWidget
    from traitlets import Dict


class LiveWidget(AnyWidget):
    """A widget that shows `view` and reports what was pressed.

    Parameters
    ----------
    panel
        The panel around it, which shows errors.
    script
        Name of its script in `notebook/js`.
    answers
        For each action that the script reports, what is called with its values.

    Attributes
    ----------
    view
        What is shown, as values of JSON.
    script
        The name of its script, by which `prodex.notebook.shared.static_picture` draws the same.
    """

    if TYPE_CHECKING:
        view: dict[str, Any]
    else:
        view = Dict().tag(sync=True)

    def __init__(self, panel: Panel, script: str, answers: Mapping[str, Callable[..., object]]) -> None:
        super().__init__(_esm=script_of(script))
        self.script: str = script
        self._panel, self._answers = panel, answers
        keep_in_order(self)
        self.on_msg(lambda _, content, __: self.press(**content))

    def answer(self, action: str, with_: Callable[..., object]) -> None:
        """Call a function when the script reports this action, too."""
        self._answers = {**self._answers, action: with_}

    def press(self, **content: Any) -> None:
        """Do what was pressed, as the script reports it: `do` is the action; an error is shown by the panel."""
        action = content.pop("do", None)
        # A script of another version, or a page that was open when the kernel restarted, may report anything.
        if action in self._answers:
            with self._panel.guarded():
                self._answers[action](**content)


@cache
def script_of(name: str) -> str:
    """Return the script of a live widget, with what all of them share."""
    folder = resources("prodex.notebook") / "js"
    return "\n".join((folder / f"{one}.js").read_text("utf-8") for one in ("common", name))


def shown(it: Words) -> dict[str, str]:
    """Return a text as the scripts of live widgets show it: in full, folded, or why there is nothing to see.

    >>> shown(words("Pain")), shown(words("")), shown(words(" "))
    ({'text': 'Pain'}, {'gap': 'empty'}, {'text': ' ', 'gap': '1 invisible character'})
    """
    if it.is_missing:
        return {"gap": "none"}
    if not it.text:
        return {"gap": "empty"}
    closed = it.text + it.ends
    if not it.text.strip():
        return {"text": closed, "gap": counted(it.length, "invisible character")}
    note = f"{len(it.text):,}{f' of {it.length:,}' if it.is_cut else ''} characters"
    if it.is_long:
        begin = words(it.text[:120])
        return {"text": closed, "begin": begin.text + begin.ends, "note": note}
    return {"text": closed, "note": note} if it.is_cut else {"text": closed}
