"""The words to search for, each in fields of its own: a row for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import ipywidgets as w
from traitlets import Instance, Tuple

from prodex.notebook.boxes import HBox, VBox
from prodex.notebook.panel import OwnChange, button
from prodex.notebook.query.controls import Options, ToggleControl, label_above
from prodex.notebook.query.parsing import Word


class _WordRow(HBox):
    """A word, and the fields to search for it."""

    def __init__(self, number: int, fields: Options, changed: Callable[[], object]) -> None:
        # Completes what is typed, and takes any other text.
        self.text = w.Combobox(
            description=f"Word {number}", placeholder="cocoa", layout=w.Layout(width="230px")
        )
        self.fields = ToggleControl(f"Search for word {number} in", fields)
        self.remove = button("Remove", "quiet", tooltip=f"Remove word {number}")
        super().__init__([label_above(self.text), self.fields, self.remove])
        self.add_class("word")
        for one in (self.text, self.fields):
            one.observe(lambda _: changed(), "value")


class SearchWords(VBox):
    """Words to search for, each in fields of its own; there is always a row to type into.

    Parameters
    ----------
    fields
        The fields that can be searched.
    first
        Those that are searched for a new word; all by default.

    Examples
    --------
    >>> rows = SearchWords([("Name", "name"), ("Brand", "brand")])
    >>> rows.rows[0].text.value = "cocoa"
    >>> rows.value
    (('cocoa', ('name', 'brand')),)
    """

    value: Instance[tuple[Word, ...]] = Tuple()

    def __init__(self, fields: Options, first: Sequence[Any] | None = None) -> None:
        self._fields = fields
        self._first = tuple(value for _, value in fields if first is None or value in first)
        self._offered: tuple[str, ...] = ()
        self._made: list[_WordRow] = []
        self._shown = 0
        self._filling = OwnChange()
        self._list = w.VBox()
        self.add: w.Button = button("+ Add a word", "quiet")
        self.add.layout.align_self = "flex-start"
        super().__init__([self._list, self.add])
        self.add_class("wide")
        self.add.on_click(lambda _: self._fill((*self._typed(), ("", self._first))))
        self.observe(self._assigned, "value")
        self._fill(())

    @property
    def rows(self) -> list[_WordRow]:
        """The rows that are shown."""
        return self._made[: self._shown]

    def offer(self, names: Iterable[str]) -> None:
        """Have the fields complete these names; any other word can be typed as well."""
        self._offered = tuple(names)
        for line in self._made:
            line.text.options = self._offered

    def _typed(self) -> tuple[Word, ...]:
        return tuple((line.text.value, line.fields.value) for line in self.rows)

    def _assigned(self, _: object) -> None:
        if self.value != self._filled():
            self._fill(self.value)

    def _filled(self) -> tuple[Word, ...]:
        return tuple((word, fields) for word, fields in self._typed() if word)

    def _changed(self) -> None:
        if not self._filling:
            self.value = self._filled()

    def _fill(self, words: tuple[Word, ...]) -> None:
        words = words or (("", self._first),)
        # Rows are made once and then filled again: a new one would take the focus from whoever is typing.
        while len(self._made) < len(words):
            number = len(self._made)
            line = _WordRow(number + 1, self._fields, self._changed)
            line.remove.on_click(lambda _, number=number: self._removed(number))
            line.text.options = self._offered
            self._made.append(line)
        with self._filling:  # the value would be assigned from rows of which half are filled
            for line, (word, fields) in zip(self._made, words, strict=False):
                line.text.value, line.fields.value = word, fields
        if self._shown != len(words):
            self._shown = len(words)
            self._list.children = self.rows
        self._changed()

    def _removed(self, number: int) -> None:
        typed_rows = self._typed()
        self._fill((*typed_rows[:number], *typed_rows[number + 1 :]))
