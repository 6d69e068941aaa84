"""Reading the sheets of worklists with answers: the filled cells of the column "New value", with place and keys.

Rows may have been sorted, filtered, removed and added, columns moved, hidden or renamed, sheets copied into another
workbook. What cannot be read or assigned is a problem with its place; nothing stops at the first. Every row below the
headings is counted, and what somebody typed into another column than "New value" is kept with its place.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from prodex.formats.formulas import unescape_formulas
from prodex.formats.spreadsheet_files import MergedCells, Sheet
from prodex.formats.workbook_cells import MOST_COLUMNS, Cell, Row, cell_place
from prodex.gtin import gtin_key
from prodex.languages import Message, Said
from prodex.languages.message import sentences
from prodex.locales import known_language_tag
from prodex.quality.problems import asked_attribute
from prodex.worklists.headings import (
    Headings,
    filled_rows,
    find_layout,
    has_group,
    has_key,
    headings_by_place,
    headings_of,
    is_empty,
)
from prodex.worklists.layout import SEVERAL, TO_FIX, WORKLIST
from prodex.worklists.lost_letters import LOST
from prodex.worklists.returned_files import (
    Answer,
    AnswerSheet,
    CellNote,
    Problem,
    Returned,
    ShownName,
    place_in_words,
    trimmed,
)
from prodex.worklists.retyped import as_shown
from prodex.worklists.row_keys import EXPLAINED, RowKey, key_of

#: The cells that say what a row is about, by the columns of a worklist.
KEYS = (
    *("product_id", "gtin", "attribute", "language_code", "language", "position", "check"),
    *("value", "updated_at", "how", "asked_for"),
)
#: What a worklist shows and nobody has to type: compared letter by letter.
_SHOWN = frozenset({"value", "how"})
#: Keys that say whose value an answer is: what is struck through there is not meant.
_WHOSE = frozenset({"product_id", "gtin", "attribute", "language"})
#: The columns of the sheet of answers for several rows, in their order.
_SEVERAL = tuple(column.name for column in SEVERAL)
_NO_ROWS = Message(
    "no row of the sheet 'To fix' is one of those that it is for. Write it into the rows that are meant."
)
_NO_COLUMN = Message("no column is called 'New value'. Name the one with the answers so.")
_HIDDEN = Message("its sheet is hidden, so it is not used. Show the sheet if the answer is meant.")


@dataclass
class SeveralAnswers:
    """Answers of a file that are given for several rows at once.

    Attributes
    ----------
    given
        The cells by what their rows have in common, each with its problem in case that no row has that any more.
    met
        What rows were found for.
    """

    given: dict[str, list[tuple[Cell, Problem]]] = field(default_factory=dict)
    met: set[str] = field(default_factory=set)

    def of_row(self, keys: Mapping[str, str]) -> list[tuple[Cell, str]]:
        """Return the answers that are given for a row, each with its place in words.

        A row in which the value seen was typed over is not one of those that they are for: that may be its answer.
        """
        key = key_of(keys)
        if key is None or key.same_answer not in self.given:
            return []
        self.met.add(key.same_answer)
        if not key.shows(keys.get("value", "")):
            return []
        given = self.given[key.same_answer]
        return [(cell, place_in_words(at.file, at.sheet, at.row, at.cell)) for cell, at in given]

    @property
    def unmet(self) -> list[Problem]:
        """The answers for which there is no row."""
        return [problem for key, of in self.given.items() if key not in self.met for _, problem in of]


class SheetReader:
    """Reads one sheet, and adds what it finds to what was read.

    Parameters
    ----------
    sheet
        The sheet.
    returned
        Gets answers, problems, notes and requests.
    several
        The answers of its file that are given for several rows at once.
    """

    def __init__(self, sheet: Sheet, returned: Returned, several: SeveralAnswers) -> None:
        self.sheet, self._returned, self._several = sheet, returned, several
        self._merged = MergedCells(sheet.merged())
        self._headings: Headings | None = None

    @cached_property
    def _comments(self) -> Mapping[int, Sequence[tuple[int, str]]]:
        """The comments at cells, by row: people write there what they do not dare to write into a cell."""
        found: dict[int, list[tuple[int, str]]] = defaultdict(list)
        for row, column, text in self.sheet.comments():
            found[row].append((column, text))
        return found

    def read_several(self) -> bool:
        """Read a sheet where one answer is given for several rows; False if it is none of these."""
        for number, row, found in self._rows(_SEVERAL, [_SEVERAL], has_group):
            if found is not None:
                if self._headings is None and not _is_for_several(found):
                    return False
                self._headings = found
                if "new_value" not in found.places:
                    self._refuse(number, None, _NO_COLUMN)
            elif self._headings is not None and "new_value" in self._headings.places:
                self._read_given(number, row, self._headings)
        return self._headings is not None

    def read_rows(self, listed: Sequence[str], is_ours: bool) -> AnswerSheet | None:
        """Read a sheet with findings; None if it is none at all.

        Parameters
        ----------
        listed
            The columns of the worklist as it was written, from the hidden sheet; empty if that is not there.
        is_ours
            Whether the file has a hidden sheet.
        """
        rows, unread = 0, 0
        products: Counter[tuple[str | None, str | None]] = Counter()
        layouts = [listed] if listed else [[column.name for column in TO_FIX], WORKLIST.names]
        for number, row, found in self._rows(listed, layouts, has_key):
            if found is not None:
                # Sheets that were copied below one another have their headings again.
                self._headings = found
                is_ours = is_ours or "row_key" in found.places
                self._refuse_missing_columns(number, found)
            elif self._headings is not None and not self._headings.missing:
                keys = self._read_row(number, row, self._headings)
                products[keys.get("product_id"), keys.get("gtin")] += 1
                rows += 1
            elif self._headings is not None and not {"new_value", "attribute"}.isdisjoint(
                self._headings.places
            ):
                rows, unread = rows + 1, unread + 1
        # The summary has headings of its own, and nothing to answer.
        if self._headings is None or {"new_value", "attribute", "asked_for"}.isdisjoint(
            self._headings.places
        ):
            return None
        where = (str(self.sheet.file), self.sheet.name)
        read = AnswerSheet(*where, rows, unread, self.sheet.is_hidden, is_ours, products)
        if rows:
            self._returned.sheets.append(read)
        return read

    def has_keys(self) -> bool:
        """Whether rows of a worklist are in the sheet, whatever became of their headings."""
        return any(RowKey.read(cell.text) for _, row in filled_rows(self.sheet) for cell in row.values())

    def refuse_rows(self) -> None:
        """Count the rows of a sheet of findings whose headings are gone: none of them can be read."""
        if rows := sum(1 for _ in filled_rows(self.sheet)):
            self._refuse(
                1,
                None,
                Message(
                    "the sheet has no headings any more. Put them back: GTIN, Field, Language, New value."
                ),
            )
            where = (str(self.sheet.file), self.sheet.name)
            self._returned.sheets.append(AnswerSheet(*where, rows, rows, self.sheet.is_hidden, True))

    def _rows(
        self,
        listed: Sequence[str],
        layouts: Sequence[Sequence[str]],
        proves: Callable[[Row, Sequence[str]], int | None],
    ) -> Iterator[tuple[int, Row, Headings | None]]:
        """Yield the rows, each with its headings if it is a row of headings."""
        at, proven = find_layout(self.sheet, layouts, proves)
        for number, row in filled_rows(self.sheet):
            found = headings_of(row, listed or proven)
            if found is None and self._headings is None and number == at:
                found = headings_by_place(row, proven)
            yield number, row, found

    def _refuse_missing_columns(self, number: int, found: Headings) -> None:
        if found.missing and "new_value" in found.places:
            self._refuse(number, None, _missing(found.missing))
        elif "new_value" not in found.places and "attribute" in found.places:
            self._refuse(number, None, _NO_COLUMN)

    def _read_given(self, number: int, row: Row, headings: Headings) -> None:
        """Read the answers of a row that represents several rows."""
        filled = _filled(row, headings.places["new_value"])
        where = headings.first("same_answer")
        key = None if where is None else self._merged.cell(number, where, row)
        for place, cell in filled:
            why = unusable_answer(as_shown(cell), self._merged.height(number, place)) or (
                _HIDDEN if self.sheet.is_hidden else None
            )
            if why is None and (key is None or not key.text.strip()):
                why = Message(
                    "the row no longer says which rows it is for. Write the answer into the sheet 'To fix'."
                )
            if why is not None or key is None:
                self._refuse(number, place, why or "", cell.text)
            else:
                nowhere = self._problem(number, place, _NO_ROWS, cell.text)
                self._several.given.setdefault(key.text.strip(), []).append((cell, nowhere))
        for place, cell in row.items():
            if not filled and headings.names.get(place) is None and cell.text.strip():
                self._note(number, place, headings, cell.text)
        for place, text in [] if filled else self._comments.get(number, ()):
            self._note(number, place, headings, text)

    def _read_row(self, number: int, row: Row, headings: Headings) -> Mapping[str, str]:
        """Read the answers of a row; return its keys."""
        keys, unusable = self._keys_of(number, row, headings)
        filled = _filled(row, headings.places["new_value"])
        # An answer in the row itself takes precedence over one for several rows.
        given = self._several.of_row(keys)
        if filled:
            given = []
        for place, cell in filled:
            why = unusable_answer(as_shown(cell), self._merged.height(number, place))
            if why is not None:
                unusable.append((place, cell.text, why))
        # Cells whose place nobody knows may be the answer, or say what it is about.
        unusable += [
            (place, cell.text, _unreadable(cell)) for place, cell in row.items() if place >= MOST_COLUMNS
        ]
        if filled or given or any(place >= MOST_COLUMNS for place, *_ in unusable):
            for place, text, why in unusable:
                self._refuse(number, place, why, text)
        if not unusable:
            self._returned.answers += [self._answer(number, place, cell, keys) for place, cell in filled]
            at = headings.places["new_value"][0]
            self._returned.answers += [
                self._answer(number, at, cell, keys)._replace(given_at=where) for cell, where in given
            ]
        if not filled and not given:
            self._look_elsewhere(number, row, headings, keys)
        for place, asked in _filled(row, headings.places.get("accept_because", ())):
            if (why := unusable_answer(asked, self._merged.height(number, place))) is not None:
                self._refuse(number, place, why, asked.text)
            else:
                self._returned.requests.append(self._answer(number, place, asked, keys))
        self._returned.damaged.setdefault(str(self.sheet.file), set()).update(
            cell.text
            for place, cell in row.items()
            if place not in headings.places["new_value"] and not LOST.isdisjoint(cell.text)
        )
        return keys

    def _keys_of(
        self, number: int, row: Row, headings: Headings
    ) -> tuple[dict[str, str], list[tuple[int, str, Said]]]:
        """Return what a row says of product, attribute and so on, and the cells of it that cannot be used."""
        keys: dict[str, str] = {}
        unusable: list[tuple[int, str, Said]] = []
        at = headings.first("row_key")
        own = None if at is None else row.get(at)  # a merged cell would hold the key of another row
        if own is not None and (text := own.text.strip()):
            keys["row_key"] = text
        key = key_of(keys)
        for name in KEYS:
            place = headings.first(name)
            cell = None if place is None else self._merged.cell(number, place, row)
            if name == "language" and key is not None and key.language and cell and place not in row:
                keys[name] = key.language  # merged with the row above, which may be in another language
                continue
            if name in _SHOWN and cell is not None and (cell.kind == "formula" or _is_other(cell, key)):
                continue  # programs make a formula of a text such as "=HYPERLINK(...)": nobody knows what was seen
            if place is not None and cell is not None and (why := _unusable_key(name, cell)) is not None:
                unusable.append((place, cell.text, why))
            elif cell is not None and (text := self._key_text(name, cell)):
                _add_key(keys, name, text)
            elif place is not None and name == "value" and (cell is None or cell.kind == "text"):
                keys[name] = ""  # nothing was there
            if key is None and name in _WHOSE and (other := self._other_key(number, row, headings, name)):
                unusable.append(other)
        if key is not None:
            _add_facts(keys, key, "language" in headings.places)
        if "attribute" not in keys and (asked := asked_attribute(keys.get("asked_for", ""))) is not None:
            keys["attribute"] = asked
        return keys, unusable

    def _other_key(
        self, number: int, row: Row, headings: Headings, name: str
    ) -> tuple[int, str, Said] | None:
        """Return the cell in which a row says something else than in a column of the same name before it, and why."""
        cells = ((place, self._merged.cell(number, place, row)) for place in headings.places.get(name, ()))
        said = [
            (place, cell.text.strip()) for place, cell in cells if cell is not None and not is_empty(cell)
        ]
        for place, text in said[1:]:
            if _comparable_key(name, text) != _comparable_key(name, said[0][1]):
                one, other = (f"{headings.texts[at].strip()!r:.40}" for at in (said[0][0], place))
                why = Message(
                    "the row has {text} in the column {heading}, and {other} in the column {column}. Leave the one "
                    "that is meant.",
                    text=f"{said[0][1]!r:.60}",
                    heading=one,
                    other=f"{text!r:.60}",
                    column=other,
                )
                return place, text, why
        return None

    def _look_elsewhere(self, number: int, row: Row, headings: Headings, keys: Mapping[str, str]) -> None:
        """Keep what somebody typed into a row without an answer: over the value that was seen, or beside it."""
        key = key_of(keys)
        seen = headings.first("value")
        is_shown = key is not None and key.shows(keys.get("value", ""))
        if seen is not None and seen in row and keys.get("value", "").strip() and not is_shown:
            answer = self._answer(number, seen, row[seen], keys)
            self._returned.doubtful.append(answer._replace(is_typed_over=True))
        for place, cell in row.items():
            name, text = headings.names.get(place), self._verbatim(cell)
            is_typed = name is None or (
                key is not None and name in EXPLAINED and not key.explains(name, text)
            )
            if is_typed and text.strip():
                self._note(number, place, headings, text, keys)
        at = headings.first("name")
        if key is not None and key.product_id is not None and at is not None and at in row:
            note = self._noted(number, at, headings, self._verbatim(row[at]), keys)
            self._returned.names.append(ShownName(note, key.product_id, key.updated_at))
        for place, text in self._comments.get(number, ()):
            self._note(number, place, headings, text, keys)

    def _answer(self, number: int, place: int, cell: Cell, keys: Mapping[str, str]) -> Answer:
        where = (str(self.sheet.file), self.sheet.name, number, cell_place(number, place))
        text, is_spelled = trimmed(self._verbatim(cell)), not self.sheet.has_kinds
        return Answer(*where, text, cell.kind, keys, cell.shown, is_spelled=is_spelled)

    def _note(
        self, number: int, place: int, headings: Headings, text: str, keys: Mapping[str, str] | None = None
    ) -> None:
        self._returned.notes.append(self._noted(number, place, headings, text, keys))

    def _noted(
        self, number: int, place: int, headings: Headings, text: str, keys: Mapping[str, str] | None
    ) -> CellNote:
        about = (None, None) if keys is None else (keys.get("gtin"), keys.get("attribute"))
        where = (str(self.sheet.file), self.sheet.name, number, cell_place(number, place))
        return CellNote(*where, headings.texts.get(place), text.strip(), *about)

    def _problem(self, number: int, place: int | None, why: Said, text: str | None = None) -> Problem:
        cell = None if place is None else cell_place(number, place)
        return Problem(str(self.sheet.file), self.sheet.name, number, cell, text, why)

    def _refuse(self, number: int, place: int | None, why: Said, text: str | None = None) -> None:
        self._returned.problems.append(self._problem(number, place, why, text))

    def _key_text(self, name: str, cell: Cell) -> str:
        # Values seen are compared with texts to the last character.
        if name in _SHOWN:
            return cell.shown or self._verbatim(cell)
        # Ids have no zeros before them, whatever the format of their column adds.
        shown = cell.text if name == "product_id" else cell.shown or cell.text
        return shown.strip().lstrip("'")

    def _verbatim(self, cell: Cell) -> str:
        """Return the text of a cell; a CSV file may have an apostrophe before what looks like a formula."""
        return unescape_formulas(cell.text) if self.sheet.name == "" else cell.text


def _filled(row: Row, places: Sequence[int]) -> list[tuple[int, Cell]]:
    return [(place, row[place]) for place in places if place in row and not is_empty(row[place])]


def _is_for_several(headings: Headings) -> bool:
    return "same_answer" in headings.places and not {"gtin", "product_id", "row_key"} & set(headings.places)


def _add_key(keys: dict[str, str], name: str, text: str) -> None:
    """Add what a cell says to what its row says; a position may have been changed by a spreadsheet."""
    if name == "language":
        # Worklists show languages by name.
        text = text if "-" in text else known_language_tag(text) or text
    keys["position_read" if name == "position" else name] = text


def _comparable_key(name: str, text: str) -> str:
    """Return what a cell says as it is compared with another one that says the same."""
    if name == "gtin":
        return gtin_key(text)
    return (known_language_tag(text) if name == "language" else None) or text.casefold()


def _add_facts(keys: dict[str, str], key: RowKey, shows_language: bool) -> None:
    """Add what the key of a row says to what its cells say, which counts first."""
    facts = key.facts()
    if shows_language:
        # Whoever empties the cell means no language, or begins the answer with one.
        facts.pop("language", None)
    if "position_read" in keys and keys["position_read"] != facts.get("position"):
        facts.pop("position", None)
    else:
        keys.pop("position_read", None)
    for name, fact in facts.items():
        keys.setdefault(name, fact)


def _is_other(cell: Cell, key: RowKey | None) -> bool:
    """Whether a cell has the result of a formula, where its row is known to have shown something else."""
    return cell.is_computed and key is not None and not key.shows(cell.text)


def _missing(headings: Sequence[str]) -> Message:
    """Return that there are no columns of these headings, which a table has to have."""
    columns: Said = repr(headings[0])
    for one in headings[1:]:
        columns = Message("{names} and none {name}", names=columns, name=repr(one))
    return Message("there is no column {names}. Name the columns as they were.", names=columns)


def _unreadable(cell: Cell) -> Said:
    """Return why a cell cannot be read, in a sentence."""
    if isinstance(cell.problem, Message):
        return Message("{said}.", said=cell.problem)
    return f"{cell.problem}."


def _unusable_key(name: str, cell: Cell) -> Said | None:
    """Return why a cell does not say what the answer of its row is about."""
    if cell.kind == "unreadable":
        return sentences(
            _unreadable(cell),
            Message("The answer of its row is not used."),
            Message("Take the row from the worklist again."),
        )
    if cell.kind in {"error", "formula"}:
        if not cell.text:
            return Message(
                "the cell holds a formula without its result, and the answer of its row is not used. Write the value."
            )
        return Message(
            "the cell shows the error {text}, and the answer of its row is not used. Write the value.",
            text=f"{cell.text:.40}",
        )
    if cell.is_struck and name in _WHOSE:
        return Message(
            "it is struck through, and the answer of its row is not used. Remove the line if it is meant."
        )
    return None


def unusable_answer(answer: Cell, height: int) -> Said | None:
    """Return why a cell is no answer that can be used."""
    if answer.kind == "unreadable":
        return sentences(_unreadable(answer), Message("Write the value as text."))
    if answer.kind == "error":
        return Message("the cell shows the error {text}. Write the value.", text=answer.text)
    if answer.kind == "formula":
        return Message(
            "the cell holds a formula without its result. Write the value, or save the file in a spreadsheet."
        )
    if answer.is_struck:
        return Message(
            "{text} is struck through, as a whole or in part. Remove what is not meant, and the line through what is.",
            text=f"{answer.text!r:.60}",
        )
    if height > 1:
        return Message(
            "the cell is merged over {count:d} rows. Split it, and write into each row what is meant for it.",
            count=height,
        )
    return None
