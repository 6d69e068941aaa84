"""The control for words to look for: a row for each, with the fields in which it is looked for."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets as w
from traitlets import Instance, Tuple

from prodex.notebook.query.controls import Options, Toggles, above
from prodex.notebook.query.reading import Word

_AUTO = {"width": "auto"}


class _WordRow(w.HBox):
    """One word, and the fields in which it is looked for."""

    def __init__(self, number: int, fields: Options, changed: Callable[[], object]) -> None:
        self.text = w.Text(description=f"Word {number}", placeholder="cocoa", layout=w.Layout(width="260px"))
        self.fields = Toggles(f"Word {number} in any of", fields)
        self.remove = w.Button(description="Remove", tooltip=f"Remove word {number}", layout=_AUTO)
        self.remove.add_class("quiet")
        super().__init__([above(self.text), self.fields, self.remove])
        self.add_class("word")
        for one in (self.text, self.fields):
            one.observe(lambda _: changed(), "value")


class WordRows(w.VBox):
    """Words to look for, each in fields of its own; there is always a row to type into.

    Examples
    --------
    >>> rows = WordRows([("Name", "name"), ("Brand", "brand")])
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
