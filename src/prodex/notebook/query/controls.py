"""The controls of a query that ipywidgets does not have; like its own, each shows and changes a trait `value`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeAlias

import ipywidgets as w
import pandas as pd
from traitlets import Any as AnyTrait
from traitlets import Instance, Tuple, Unicode

from prodex.errors import QueryError
from prodex.gtin import GtinAccessor, as_text, comparable, has_digits, listed_in
from prodex.notebook.shared.boxes import HBox, VBox
from prodex.notebook.shared.panel import OwnChange, button, html, row, show_if, styled, text_html
from prodex.query import ALWAYS_REQUESTED, ProductQuery

#: The options of a list, each a label and a value; "" means no value, since a `Dropdown` shows None as nothing.
Options: TypeAlias = Sequence[tuple[str, Any]]

#: ipywidgets gives every control the same fixed width, which cuts long labels.
_AUTO = {"width": "auto"}
_OWN = object()
_SELECT = ("select …", "")


def label_above(widget: Any, *classes: str) -> Any:
    """Show the label of a control above it."""
    return styled(widget, "above", *classes)


def text_line(title: str, example: str = "") -> Any:
    """Return a control for a line of text."""
    return label_above(w.Text(description=title, placeholder=example, layout=_AUTO))


def text_area(title: str, example: str = "") -> Any:
    """Return a control for several lines of text."""
    return label_above(w.Textarea(description=title, placeholder=example, rows=4, layout=_AUTO), "wide")


def date_time(title: str) -> Any:
    """Return a control for a date and a time in UTC."""
    # Without a zone: `DatetimePicker` shows a time in the zone of the browser, and the service counts in UTC.
    return label_above(w.NaiveDatetimePicker(description=title, layout=_AUTO))


class ChoiceControl(VBox):
    """One of several options; a value that is not among them is added when it is assigned.

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
        self.list: Any = label_above(w.Dropdown(description=title, layout=_AUTO))
        super().__init__([self.list])
        self.add_class("choice")
        self.offer(options)
        self.observe(lambda _: self._show(), "value")
        self.list.observe(lambda change: self.set_trait("value", change["new"]), "value")

    def offer(self, options: Options) -> None:
        """Offer these options, and select the first."""
        self._options = tuple(options)
        # Options first: `Dropdown` selects the first of new options itself, and refuses values that are not in them.
        self.list.options = self._options
        self.list.value = self.value = self._options[0][1]

    def _show(self) -> None:
        if all(self.value != known for _, known in self._options):
            self._options = (*self._options, (str(self.value), self.value))
            self.list.options, self.list.value = self._options, self.value
        self.list.value = self.value


class ToggleControl(VBox):
    """Any number of several options, in the order in which they were selected.

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
        # Shared: each layout is a model of its own in the browser.
        layout = w.Layout(**_AUTO)
        self.buttons: list[Any] = [
            w.ToggleButton(description=text, tooltip=f"{title}: {text}", layout=layout) for text, _ in options
        ]
        super().__init__([html(title, "label"), row(*self.buttons, look="choices")])
        self.add_class("wide")
        self.observe(lambda _: self._show(), "value")
        for one, value in zip(self.buttons, self._meant, strict=True):
            one.observe(lambda change, value=value: self._pressed(value, change["new"]), "value")

    def _show(self) -> None:
        for one, value in zip(self.buttons, self._meant, strict=True):
            one.value = value in self.value

    def _pressed(self, value: Any, is_on: bool) -> None:
        others = tuple(one for one in self.value if one != value)
        # `_show` sets the buttons from the value, which must not change the value again.
        if is_on != (value in self.value):
            self.value = (*others, value) if is_on else others


class PeriodButtons(HBox):
    """Usual periods, of which the one that is chosen is marked.

    Parameters
    ----------
    title
        What happened in them; our own words.
    periods
        Returns labels with the beginning and the end of each, None where it is open. They end now, or ended before, so
        they are asked for anew.

    Attributes
    ----------
    value
        The beginning and the end.

    Examples
    --------
    >>> periods = PeriodButtons("Updated", lambda: [("any time", None, None), ("in 2026", "2026-01-01", None)])
    >>> periods.buttons["in 2026"].value = True
    >>> periods.value, periods.buttons["any time"].value
    (('2026-01-01', None), False)
    """

    value: Instance[tuple[Any, ...]] = Tuple((None, None))

    def __init__(self, title: str, periods: Callable[[], Iterable[tuple[str, Any, Any]]]) -> None:
        self._periods = periods
        self._showing = OwnChange()
        layout = w.Layout(**_AUTO)
        self.buttons: dict[str, Any] = {
            label: w.ToggleButton(description=label, tooltip=f"{title}: {label}", layout=layout)
            for label, *_ in periods()
        }
        super().__init__(list(self.buttons.values()))
        self.add_class("choices")
        self._show()
        self.observe(lambda _: self._show(), "value")
        for label, one in self.buttons.items():
            one.observe(lambda _, label=label: self._pressed(label), "value")

    def _show(self) -> None:
        with self._showing:
            for label, *limits in self._periods():
                self.buttons[label].value = tuple(limits) == self.value

    def _pressed(self, label: str) -> None:
        if self._showing:
            return
        self.value = next((begin, end) for one, begin, end in self._periods() if one == label)
        self._show()  # one that was pressed again stays marked


class TextControl(VBox):
    """A text field with more around it; the text is its `value`.

    Parameters
    ----------
    text
        The field.
    *others
        What is shown below it.
    look
        Class of our style sheet.
    """

    value: Unicode[str, str | bytes] = Unicode()

    def __init__(self, text: Any, *others: Any, look: str = "list") -> None:
        super().__init__([text, *others])
        self.add_class(look)
        w.link((self, "value"), (text, "value"))
        self.observe(lambda _: self._show(), "value")

    def _show(self) -> None:
        """Show what the text means."""


class ListControl(TextControl):
    """A comma-separated text, with a list of names to add from.

    Parameters
    ----------
    title, one
        What it is a list of, and one item of it; our own words.
    names
        What can be added: names and values.
    note
        Returns the note on the list, as HTML.
    """

    def __init__(
        self, title: str, one: str, names: Options, example: str, note: Callable[[str], str] = lambda _: ""
    ) -> None:
        self._note, self._note_line = note, html("", "muted")
        self._names = ChoiceControl(f"Add {one} by name", [_SELECT])
        text = text_line(title, example)
        super().__init__(text, self._note_line)
        # A name is what people know; few know a number or a code.
        self.children: tuple[Any, ...] = (self._names, text, self._note_line)
        self.offer(names)
        self._names.observe(self._added, "value")

    def offer(self, names: Options, note: Callable[[str], str] | None = None) -> None:
        """Offer other names, with another note; without names only the text is shown."""
        self._note = note or self._note
        self._names.offer((_SELECT, *names))
        show_if(self._names, bool(names))
        self._show()

    def _show(self) -> None:
        self._note_line.value = self._note(self.value)

    def _added(self, change: dict[str, Any]) -> None:
        if not change["new"]:
            return
        held = comma_separated(self.value)
        # The name stays in the list: adding it twice would send it twice.
        if str(change["new"]) not in held:
            self.value = ", ".join([*held, str(change["new"])])
        self._names.value = ""


class PresetControl(TextControl):
    """A text, with a list of presets.

    Parameters
    ----------
    title
        The label; our own words.
    presets
        Labels and texts; the first text is empty.
    """

    def __init__(self, title: str, presets: Options) -> None:
        self._presets = presets
        self._usual = ChoiceControl(title, [*presets, ("other paths", _OWN)])
        text = text_line(f"Paths to {title[0].lower()}{title[1:]}", "namePublicLong.data, assets.pictures")
        super().__init__(text)
        self.children: tuple[Any, ...] = (self._usual, text)
        self._usual.observe(self._chosen, "value")

    def _show(self) -> None:
        texts = [text for _, text in self._presets]
        self._usual.value = self.value if self.value in texts else _OWN

    def _chosen(self, change: dict[str, Any]) -> None:
        if change["new"] != _OWN:
            self.value = change["new"]


class PasteControl(TextControl):
    """Lines of text, with a note on what was read from them."""

    def __init__(self, title: str, example: str, read: Callable[[str], object]) -> None:
        self._read, self._note_line = read, html("", "muted")
        super().__init__(text_area(title, example), self._note_line, look="wide")
        self._show()

    def _show(self) -> None:
        self._note_line.value = text_html(self._read(self.value))


def lock(widget: Any, *, is_locked: bool) -> None:
    """Disable a widget and all widgets in it, or enable them again."""
    if widget.has_trait("disabled"):
        widget.disabled = is_locked
    # A box has no `disabled`; the widgets in it have.
    for child in getattr(widget, "children", ()):
        lock(child, is_locked=is_locked)


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


#: A word to search for, and the fields to search.
Word: TypeAlias = tuple[str, tuple[str, ...]]

#: GTINs that a sentence quotes.
_SHOWN = 5


def written(values: Iterable[object] | None) -> str:
    """Return a list as comma-separated text.

    >>> written(["new", "big"]), written(None)
    ('new, big', '')
    """
    return ", ".join(map(str, values or ()))


def comma_separated(text: str) -> list[str]:
    """Return the items of a comma-separated text.

    >>> comma_separated("new, big,")
    ['new', 'big']
    """
    return [one.strip() for one in text.split(",") if one.strip()]


def typed_list(text: str) -> str | None:
    """Return a comma-separated text for the query to read, or None if nothing was entered."""
    return text.strip() or None


def numbers(text: str) -> list[str] | None:
    """Return the whole numbers of a text, for the query to read, or None if nothing was entered.

    >>> numbers("11, 12"), numbers("11 x"), numbers(" ")
    (['11', '12'], ['11', 'x'], None)
    """
    pieces = re.split(r"[\s,;]+", text.strip(" \t\n,;"))
    return pieces if any(pieces) else None


def shown_moment(moment: datetime | None) -> datetime | None:
    """Return a point in time as the date picker shows it, in UTC."""
    return None if moment is None else moment.astimezone(UTC).replace(tzinfo=None)


def moment(shown: datetime | None) -> datetime | None:
    """Return the point in time that the date picker shows, in UTC.

    >>> moment(datetime(2026, 11, 13, 12)).isoformat()
    '2026-11-13T12:00:00+00:00'
    """
    return None if shown is None else shown.replace(tzinfo=UTC)


def words(rows: Iterable[Word]) -> tuple[Word, ...] | None:
    """Return the rows with a word, or None if there are none.

    Raises
    ------
    QueryError
        When a word has no field to search.
    """
    filled = tuple((word, fields) for word, fields in rows if word.strip())
    for word, fields in filled:
        if not fields:
            raise QueryError(
                f"No field is selected for the word {word!r}. Select at least one, or clear the word."
            )
    return filled or None


def shown_extra(extra: Mapping[str, Any]) -> str:
    """Return further filters as JSON."""
    return json.dumps(dict(extra), ensure_ascii=False, indent=2) if extra else ""


def extra(text: str) -> Any:
    """Return further filters from JSON.

    >>> extra('{"allow_not_consumer_units": true}'), extra("")
    ({'allow_not_consumer_units': True}, {})
    """
    if not text.strip():
        return {}
    try:
        return json.loads(text)
    # A thousand nested lists end in a RecursionError, which is no ValueError.
    except (ValueError, RecursionError) as error:
        raise QueryError(
            f'extra cannot be read as JSON: {error}. Write it as {{"name of the filter": value}}.'
        ) from error


def shown_paths(query: ProductQuery) -> str:
    """Return the fields that were asked for as text, without those that every query adds by itself.

    >>> shown_paths(ProductQuery(source_include="namePublicLong.data, brand"))
    'namePublicLong.data, brand'
    """
    whole: tuple[str, ...] = query.source_include or ()
    kept = len(whole)
    while kept > 1 and (whole[kept - 1] in ALWAYS_REQUESTED or whole[kept - 1].endswith(".expressedIn")):
        kept -= 1
    same = kept and ProductQuery(source_include=whole[:kept]).source_include == whole
    return written(whole[:kept] if same else whole)


@dataclass(frozen=True)
class Pasted:
    """GTINs that were pasted.

    Attributes
    ----------
    gtins
        Those to filter by, with 14 digits, each once.
    doubtful
        Those of them, as pasted, whose length or check digit is wrong.
    unreadable
        Texts that are not numbers of up to 14 digits, and are left out.
    repeated
        Number of repetitions.
    """

    gtins: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()
    repeated: int = 0

    def __str__(self) -> str:
        if not self.gtins and not self.unreadable:
            return "No list: products match whatever their GTIN."
        sentences = [f"{len(self.gtins):,} {'GTIN' if len(self.gtins) == 1 else 'GTINs'} to filter by."]
        if self.repeated:
            sentences.append(f"{self.repeated:,} repeated.")
        if self.doubtful:
            sentences.append(
                f"{len(self.doubtful):,} with a wrong length or check digit: {_first_texts(self.doubtful)}."
            )
        if self.unreadable:
            sentences.append(f"Left out, not GTINs: {_first_texts(self.unreadable)}.")
        return " ".join(sentences)


def read_gtins(text: str) -> Pasted:
    """Read GTINs as they are pasted from a spreadsheet: separated by lines, commas, semicolons, tabs or spaces.

    Where spaces group the digits of one GTIN, as on a pack, it is one.

    >>> print(read_gtins("GTIN\\n3036811359935\\n3036811359936\\n"))
    2 GTINs to filter by. 1 with a wrong length or check digit: 3036811359936. Left out, not GTINs: GTIN.
    """
    cells = re.split("[,;]+", text)
    pieces = [piece for cell in cells for one in listed_in(cell) if (piece := as_text(one))]
    readable: dict[str, str] = {}
    unreadable = []
    for piece in pieces:
        if has_digits(piece):
            readable.setdefault(str(comparable(piece)), piece)
        else:
            unreadable.append(piece)
    # Reported and sent all the same: the service may have a product under a GTIN that is wrong.
    are_valid = GtinAccessor(pd.Series(list(readable.values()), dtype="str")).is_valid
    doubtful = tuple(piece for piece, valid in zip(readable.values(), are_valid, strict=True) if not valid)
    repeated = len(pieces) - len(unreadable) - len(readable)
    return Pasted(tuple(readable), doubtful, tuple(dict.fromkeys(unreadable)), repeated)


def gtins(text: str) -> tuple[str, ...] | None:
    """Return the GTINs to filter by, or None if nothing was pasted.

    Raises
    ------
    QueryError
        When the text that was pasted has no GTIN.
    """
    pasted = read_gtins(text)
    # None would be no filter: whoever pastes the wrong column would load every product.
    if pasted.unreadable and not pasted.gtins:
        raise QueryError(
            f"gtins_in has no GTIN, but {_first_texts(pasted.unreadable)}. Paste numbers of up to 14 digits; "
            "with an empty list, products match whatever their GTIN."
        )
    return pasted.gtins or None


def _first_texts(texts: tuple[str, ...]) -> str:
    shown = ", ".join(text if len(text) <= 20 else f"{text[:20]}…" for text in texts[:_SHOWN])
    return shown if len(texts) <= _SHOWN else f"{shown} ({_SHOWN} of {len(texts):,})"
