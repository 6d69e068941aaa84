"""What all panels share: the box with its style sheet, messages, errors in words, and sections that fold."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from html import escape
from importlib.resources import files as resources
from typing import Any, ClassVar, TypeVar

import ipywidgets as w
from traitlets import Bool, Unicode

from prodex.colour_scale import DARK, LIGHT, custom_properties, shade_rules, stylesheet
from prodex.errors import ProdexError
from prodex.messages import counted
from prodex.notebook.jobs import ANSWERING
from prodex.notebook.shared.boxes import VBox
from prodex.notebook.shared.message_order import keep_in_order
from prodex.notebook.shared.static_picture import in_place_html, picture_of
from prodex.untrusted_text import words

Styled = TypeVar("Styled", bound=w.DOMWidget)

_LOG = logging.getLogger("prodex")
_BUSY = "busy"
#: `common` has the tokens (colours) that the others use, so it is the first.
_STYLE_SHEETS = (
    "common",
    "audit",
    "products",
    "gallery",
    "cells",
    "query",
    "card",
    "corrections",
    "explore",
)


class Panel(VBox):
    """A box with the style of all panels and a line for messages.

    Parameters
    ----------
    title
        The heading; our own words.
    """

    def __init__(self, title: str = "") -> None:
        self._message = w.HTML()
        self._errors = 0
        self._top = (
            html(f"<style>{style()}</style>{f'<h2>{escape(title)}</h2>' if title else ''}"),
            self._message,
        )
        super().__init__(self._top)
        self.add_class("prodex")
        # JupyterLab typesets what looks like a formula ("$5 ... $6") wherever this class does not forbid it.
        self.add_class("mathjax_ignore")

    #: Seconds that a saved picture may wait for what the panel reads in the background when it is shown.
    reads_for: ClassVar[float] = 0.0

    def __repr__(self) -> str:
        catalog = getattr(getattr(self, "exploration", None), "catalog", None)
        of = "" if catalog is None else f": {counted(len(catalog), 'product')}"
        return f"{_class_name_words(type(self).__name__)}{of}. Run this cell to use it."

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any] | None:
        """Return the view of the panel, and its picture for where a notebook is only read."""
        shown: Any = super()  # ipywidgets has no types
        bundle: dict[str, Any] | None = shown._repr_mimebundle_(**options)
        if bundle is None:
            return None
        return {**bundle, "text/plain": repr(self), "text/html": self._picture()}

    def _ipython_display_(self) -> None:
        """Show the panel, and below it what takes its place where it cannot be drawn."""
        # IPython is looked up and not imported: only it calls this method, and it is no requirement of prodex.
        publish: Any = sys.modules["IPython.display"].publish_display_data
        # A panel that was closed has no view.
        bundle = None if self.comm is None else self._repr_mimebundle_()
        publish(bundle or {"text/plain": repr(self)})
        if bundle is not None:
            publish({"text/html": in_place_html(bundle["text/html"])})

    def _picture(self) -> str:
        try:
            for panel in _panels_in(self):
                # A panel that is not done by then shows how far it is.
                with suppress(TimeoutError):
                    if panel.reads_for:
                        panel.wait(panel.reads_for)
            return picture_of(self) or f"<p>{escape(repr(self))}</p>"
        except Exception:  # noqa: BLE001 - the widget's edge: the panel itself is shown in any case
            _LOG.exception("the picture of a panel failed")
            return f"<p>{escape(repr(self))}</p>"

    def fill(self, *children: w.Widget) -> None:
        """Show these widgets below the heading."""
        self.children: tuple[Any, ...] = (*self._top, *children)
        keep_in_order(self)

    def show_message(self, sentence: str, *, is_problem: bool = False) -> None:
        """Show a sentence and have screen readers read it out; an empty one removes the last message."""
        self._message.value = message_html(sentence, is_problem=is_problem) if sentence else ""

    @property
    def message(self) -> str:
        """The message that is shown, as HTML."""
        return str(self._message.value)

    def show_error(self, error: BaseException) -> None:
        """Show an error in words: what happened, with which value, and what to do."""
        self._errors += 1
        self.show_message(error_text(error), is_problem=True)

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Show an error that is raised inside, and remove the message when nothing fails."""
        with ANSWERING:
            before = self._errors
            try:
                yield
            # ipywidgets catches an exception of a callback and writes it to a log that no user of a notebook sees.
            except Exception as error:  # noqa: BLE001 - the widget's edge: beyond it nobody would see the error
                self.show_error(error)
            else:
                # A guarded call inside this one may have shown an error; it must not be removed here.
                if self._errors == before:
                    self.show_message("")

    def on(self, widget: Any, event: Callable[[Any], object], *names: str) -> None:
        """Call a function, guarded, when traits of a widget change; without names, when a button is clicked."""

        def answer(change: Any) -> None:
            if not names and is_busy(widget):
                return
            with self.guarded():
                event(change)

        keep_in_order(widget)
        if names:
            widget.observe(answer, names)
        else:
            widget.on_click(answer)


def _panels_in(widget: Any) -> Iterator[Any]:
    """Yield the panels that are shown in a widget."""
    if getattr(getattr(widget, "layout", None), "display", None) != "none":
        if isinstance(widget, Panel):
            yield widget
        for child in getattr(widget, "children", ()):
            yield from _panels_in(child)


def _class_name_words(name: str) -> str:
    """Return the name of a class as words.

    >>> _class_name_words("CatalogExplorer"), _class_name_words("AuditPanel")
    ('Catalog explorer', 'Audit panel')
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).capitalize()


class OwnChange:
    """True while its block runs, so that an observer can tell our own change of a widget from one of a user.

    >>> filling = OwnChange()
    >>> with filling:
    ...     bool(filling)
    True
    >>> bool(filling)
    False
    """

    def __init__(self) -> None:
        self._depth = 0  # an observer may make a change of its own inside this one

    def __enter__(self) -> None:
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        self._depth -= 1

    def __bool__(self) -> bool:
        return self._depth > 0


class Fold(VBox):
    """A section that opens and closes with a button.

    An `Accordion` of ipywidgets cannot be reached with Tab, so this is a `ToggleButton` above a box.

    Parameters
    ----------
    title
        What the section contains; our own words.
    inside
        The widgets of the section.

    Attributes
    ----------
    title
        What the section contains.
    is_open
        Whether the widgets are shown.

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
        self.button: w.ToggleButton = w.ToggleButton(layout=w.Layout(width="auto"))
        self.button.add_class("fold")
        self.body: w.VBox = w.VBox(list(inside))
        super().__init__([self.button, self.body])
        self.title = title
        self._show()
        self.observe(lambda _: self._show(), ("is_open", "title"))
        self.button.observe(self._clicked, "value")

    def _clicked(self, change: dict[str, Any]) -> None:
        self.is_open = change["new"]

    def _show(self) -> None:
        self.button.value = self.is_open
        self.button.description = f"{'▾' if self.is_open else '▸'} {self.title}"
        self.body.layout.display = "flex" if self.is_open else "none"


@cache
def style() -> str:
    """Return the style sheet of all panels; its colours follow the theme of the notebook."""
    folder = resources("prodex.notebook") / "css"
    # The colours that panels share with reports and charts are defined first.
    dark = custom_properties('[data-jp-theme-light="false"] .prodex', DARK)
    own = ((folder / f"{name}.css").read_text("utf-8") for name in _STYLE_SHEETS)
    shades = shade_rules(".prodex.figures button")
    return "\n".join([custom_properties(".prodex", LIGHT), dark, stylesheet("audit"), shades, *own])


def styled(widget: Styled, *classes: str) -> Styled:
    """Give a widget classes of our style sheet, and return it."""
    for name in classes:
        widget.add_class(name)
    return widget


def html(markup: str, *classes: str) -> Any:
    """Return a widget of our own HTML; other text in it has gone through `text_html` or `escape`."""
    return styled(w.HTML(markup), *classes)


def button(label: str, *classes: str, tooltip: str | None = None) -> w.Button:
    """Return a button that is as wide as its label: ipywidgets gives all buttons one width, and cuts long labels."""
    return styled(w.Button(description=label, tooltip=tooltip, layout=w.Layout(width="auto")), *classes)


def check_box(label: str, *, is_ticked: bool = False, tooltip: str | None = None) -> w.Checkbox:
    """Return a box to tick, with its label beside it and not cut; our own words."""
    layout = w.Layout(width="auto")
    return w.Checkbox(is_ticked, description=label, tooltip=tooltip, indent=False, layout=layout)


def row(*widgets: w.Widget, look: str) -> w.HBox:
    """Return widgets side by side, with a class of our style sheet."""
    return styled(w.HBox(widgets), look)


def show_if(widget: Any, is_shown: bool) -> None:
    """Show a widget, or hide it without a gap."""
    widget.layout.display = "" if is_shown else "none"


def text_html(text: object) -> str:
    """Return text of any origin as HTML that shows it letter by letter, in its own direction.

    >>> text_html("<b>$5</b>")
    "<bdi dir='auto'>&lt;b&gt;$5&lt;/b&gt;</bdi>"
    """
    shown = words(text)
    # `ends` closes marks of direction that the text leaves open: <bdi> alone does not contain them.
    return f"<bdi dir='auto'>{escape(shown.text)}</bdi>{shown.ends}"


def message_html(sentence: str, *, is_problem: bool = False) -> str:
    """Return a message as HTML: screen readers interrupt for a problem, and wait their turn with a note.

    >>> message_html("Saved.")
    "<div class='note' role='status'><bdi dir='auto'>Saved.</bdi></div>"
    """
    kind, role = ("problem", "alert") if is_problem else ("note", "status")
    return f"<div class='{kind}' role='{role}'>{text_html(sentence)}</div>"


def list_html(sentences: Sequence[str]) -> str:
    """Return things to be aware of as a list in HTML; nothing if there are none."""
    if not sentences:
        return ""
    listed = "".join(f"<li>{text_html(one)}</li>" for one in sentences)
    return f"<div class='problem' role='note'><ul>{listed}</ul></div>"


def status_html(sentence: str) -> str:
    """Return what happens now as HTML that screen readers read out."""
    return f"<span role='status' class='muted'>{text_html(sentence)}</span>"


def error_text(error: BaseException) -> str:
    """Return an error as sentences; one that is not ours is named and logged with its traceback.

    >>> from prodex.errors import QueryError
    >>> error_text(QueryError("limit is 'x'. Give a number."))
    "limit is 'x'. Give a number."
    """
    if isinstance(error, ProdexError):
        return " ".join([str(error), *getattr(error, "__notes__", ())])
    _LOG.error("a widget failed", exc_info=error)
    return f"Unexpected {type(error).__name__}: {error}. The traceback is in the log of 'prodex'."


def set_busy(button: Any, *, is_busy: bool) -> None:
    """Make a button ignore clicks while its work runs.

    It is not disabled: a browser takes the focus away from a button that becomes disabled, and whoever uses the
    keyboard would have to start again at the top of the page.
    """
    if is_busy:
        button.add_class(_BUSY)
    else:
        button.remove_class(_BUSY)


def is_busy(button: Any) -> bool:
    """Return whether a button ignores clicks now."""
    return _BUSY in button._dom_classes
