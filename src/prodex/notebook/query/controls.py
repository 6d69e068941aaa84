"""The controls of a query panel that ipywidgets does not have; like its own, each shows and changes its `value`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import ipywidgets as w
from traitlets import Any as AnyTrait
from traitlets import Instance, Tuple, Unicode

from prodex.notebook.panel import html, typed
from prodex.notebook.query.parsing import Word

#: What stands in a list to choose from, and what it means; "" means none, since a `Dropdown` shows None as nothing.
Options: TypeAlias = Sequence[tuple[str, Any]]

_AUTO = {"width": "auto"}
_OWN = object()


def above(widget: Any, *classes: str) -> Any:
    """Put the description of a control above it."""
    for name in ("above", *classes):
        widget.add_class(name)
    return widget


def line(title: str, example: str = "") -> Any:
    """Return a control for a line of text."""
    return above(w.Text(description=title, placeholder=example, layout=_AUTO))


def area(title: str, example: str = "") -> Any:
    """Return a control for lines of text."""
    return above(w.Textarea(description=title, placeholder=example, rows=4, layout=_AUTO), "wide")


def moment(title: str) -> Any:
    """Return a control for a date and a time, which are those of UTC."""
    return above(w.NaiveDatetimePicker(description=title, layout=_AUTO))


class ChoiceControl(w.VBox):
    """One of several; a value that is not among them is added when it is assigned.

    Examples
    --------
    >>> choice = ChoiceControl("Market", [("any", ""), ("France (250)", 250)])
    >>> choice.value, choice.list.label
    ('', 'any')
    >>> choice.value = 280
    >>> choice.list.label
    '280'
    """

    value: AnyTrait = AnyTrait("")

    def __init__(self, title: str, options: Options) -> None:
        self.list = above(w.Dropdown(description=title, layout=_AUTO))
        super().__init__([self.list])
        self.offer(options)
        self.observe(lambda _: self._show(), "value")
        self.list.observe(lambda change: self.set_trait("value", change["new"]), "value")

    def offer(self, options: Options) -> None:
        """Give these to choose from, and choose the first of them."""
        self._options = tuple(options)
        self.list.options = self._options
        self.list.value = self.value = self._options[0][1]

    def _show(self) -> None:
        if all(self.value != known for _, known in self._options):
            self._options = (*self._options, (str(self.value), self.value))
            self.list.options, self.list.value = self._options, self.value
        self.list.value = self.value


class ToggleControl(w.VBox):
    """Any number of several, in the order in which they were chosen.

    Examples
    --------
    >>> toggles = ToggleControl("Status", [("OK", 2), ("Not OK", 1)])
    >>> toggles.buttons[1].value = toggles.buttons[0].value = True
    >>> toggles.value
    (1, 2)
    """

    value: Instance[tuple[Any, ...]] = Tuple()

    def __init__(self, title: str, options: Options) -> None:
        self._meant: list[Any] = [value for _, value in options]
        layout = w.Layout(**_AUTO)
        self.buttons = [
            w.ToggleButton(description=text, tooltip=f"{title}: {text}", layout=layout) for text, _ in options
        ]
        row = w.HBox(self.buttons)
        row.add_class("choices")
        super().__init__([html(title, "label"), row])
        self.add_class("wide")
        self.observe(lambda _: self._show(), "value")
        for button, value in zip(self.buttons, self._meant, strict=True):
            button.observe(lambda change, value=value: self._pressed(value, change["new"]), "value")

    def _show(self) -> None:
        for button, value in zip(self.buttons, self._meant, strict=True):
            button.value = value in self.value

    def _pressed(self, value: Any, is_on: bool) -> None:
        others = tuple(one for one in self.value if one != value)
        if is_on != (value in self.value):
            self.value = (*others, value) if is_on else others


class ListControl(w.VBox):
    """A list as text with commas, beside a list of names from which one can be added.

    Parameters
    ----------
    title, one
        What it is a list of, and one of it; our own words.
    names
        What can be added, and how it is written.
    note
        What is said of the list, as markup.
    """

    value: Unicode[str, str | bytes] = Unicode()

    def __init__(
        self, title: str, one: str, names: Options, example: str, note: Callable[[str], str] = lambda _: ""
    ) -> None:
        self._note, self._said = note, html("", "muted")
        self._text = line(title, example)
        self._names = ChoiceControl(f"Add {one} by name", [("choose ...", "")])
        super().__init__([self._text, self._names, self._said])
        self.add_class("list")
        self.offer(names)
        w.link((self, "value"), (self._text, "value"))
        self.observe(lambda _: self._say(), "value")
        self._names.observe(self._added, "value")

    def offer(self, names: Options, note: Callable[[str], str] | None = None) -> None:
        """Give other names to choose from, and another note; without names only the text is shown."""
        self._note = note or self._note
        self._names.offer((("choose ...", ""), *names))
        self._names.layout.display = "" if names else "none"
        self._say()

    def _say(self) -> None:
        self._said.value = self._note(self.value)

    def _added(self, change: dict[str, Any]) -> None:
        if not change["new"]:
            return
        held = [one.strip() for one in self.value.split(",") if one.strip()]
        if str(change["new"]) not in held:
            self.value = ", ".join([*held, str(change["new"])])
        self._names.value = ""


class PresetControl(w.VBox):
    """A text, beside a list of usual ones.

    Parameters
    ----------
    title
        Our own words.
    presets
        What is usual, in words, and its text; the first is the empty one.
    """

    value: Unicode[str, str | bytes] = Unicode()

    def __init__(self, title: str, presets: Options) -> None:
        self._presets = presets
        self._usual = ChoiceControl(title, [*presets, ("own paths", _OWN)])
        self._text = line(f"Paths to {title[0].lower()}{title[1:]}", "namePublicLong.data, assets.pictures")
        super().__init__([self._usual, self._text])
        self.add_class("list")
        w.link((self, "value"), (self._text, "value"))
        self.observe(lambda _: self._show(), "value")
        self._usual.observe(self._chosen, "value")

    def _show(self) -> None:
        texts = [text for _, text in self._presets]
        self._usual.value = self.value if self.value in texts else _OWN

    def _chosen(self, change: dict[str, Any]) -> None:
        if change["new"] != _OWN:
            self.value = change["new"]


class Paste(w.VBox):
    """Lines of text, with a sentence on what was read from them."""

    value: Unicode[str, str | bytes] = Unicode()

    def __init__(self, title: str, example: str, read: Callable[[str], object]) -> None:
        self._read, self._said = read, html("", "muted")
        self._text = area(title, example)
        super().__init__([self._text, self._said])
        self.add_class("wide")
        w.link((self, "value"), (self._text, "value"))
        self.observe(lambda _: self._show(), "value")
        self._show()

    def _show(self) -> None:
        self._said.value = typed(self._read(self.value))


def lock(widget: Any, *, is_locked: bool) -> None:
    """Let nobody change a widget, or what stands in it; or let them again."""
    if widget.has_trait("disabled"):
        widget.disabled = is_locked
    for child in getattr(widget, "children", ()):
        lock(child, is_locked=is_locked)


class _WordRow(w.HBox):
    """One word, and the fields in which it is looked for."""

    def __init__(self, number: int, fields: Options, changed: Callable[[], object]) -> None:
        self.text = w.Text(description=f"Word {number}", placeholder="cocoa", layout=w.Layout(width="260px"))
        self.fields = ToggleControl(f"Word {number} in any of", fields)
        self.remove = w.Button(description="Remove", tooltip=f"Remove word {number}", layout=_AUTO)
        self.remove.add_class("quiet")
        super().__init__([above(self.text), self.fields, self.remove])
        self.add_class("word")
        for one in (self.text, self.fields):
            one.observe(lambda _: changed(), "value")


class SearchWords(w.VBox):
    """Words to look for, each in fields of its own; there is always a row to type into.

    Examples
    --------
    >>> rows = SearchWords([("Name", "name"), ("Brand", "brand")])
    >>> rows.rows[0].text.value = "cocoa"
    >>> rows.value
    (('cocoa', ('name', 'brand')),)
    """

    value: Instance[tuple[Word, ...]] = Tuple()

    def __init__(self, fields: Options) -> None:
        self._fields = fields
        self._every = tuple(value for _, value in fields)
        self._made: list[_WordRow] = []
        self._shown = 0
        self._is_filling = False
        self._list = w.VBox()
        self.add = w.Button(description="+ Add a word", layout={"width": "auto", "align_self": "flex-start"})
        self.add.add_class("quiet")
        super().__init__([self._list, self.add])
        self.add_class("wide")
        self.add.on_click(lambda _: self._fill((*self._typed(), ("", self._every))))
        self.observe(self._assigned, "value")
        self._fill(())

    @property
    def rows(self) -> list[_WordRow]:
        """The rows that are shown."""
        return self._made[: self._shown]

    def _typed(self) -> tuple[Word, ...]:
        return tuple((row.text.value, row.fields.value) for row in self.rows)

    def _assigned(self, _: object) -> None:
        if self.value != self._filled():
            self._fill(self.value)

    def _filled(self) -> tuple[Word, ...]:
        return tuple(row for row in self._typed() if row[0])

    def _changed(self) -> None:
        if not self._is_filling:
            self.value = self._filled()

    def _fill(self, words: tuple[Word, ...]) -> None:
        words = words or (("", self._every),)
        while len(self._made) < len(words):
            number = len(self._made)
            row = _WordRow(number + 1, self._fields, self._changed)
            row.remove.on_click(lambda _, number=number: self._removed(number))
            self._made.append(row)
        self._is_filling = True
        try:
            for row, (word, fields) in zip(self._made, words, strict=False):
                row.text.value, row.fields.value = word, fields
        finally:
            self._is_filling = False
        if self._shown != len(words):
            self._shown = len(words)
            self._list.children = self.rows
        self._changed()

    def _removed(self, number: int) -> None:
        typed_rows = self._typed()
        self._fill((*typed_rows[:number], *typed_rows[number + 1 :]))
