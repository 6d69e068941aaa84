"""Reading the cells of worklists with answers: the filled ones of the column "New value", with place and keys.

Rows may have been sorted, filtered, removed and added, columns moved, hidden or renamed, sheets copied into another
workbook. What cannot be read or assigned is a problem with its place; nothing stops at the first. Every row below the
headings is counted, and what somebody typed into another column than "New value" is kept with its place.

A program that saves a file in the code page of its country writes a question mark for every letter that this lacks. A
text of the catalogue that is in the file with such marks proves it; then an answer with a question mark may lack a
letter as well.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import msgspec
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.arguments import described
from prodex.catalog import Catalog
from prodex.changes import Change
from prodex.errors import InputError, NotExported, OtherLayout, SpreadsheetUnreadable
from prodex.files.layouts import require_layout
from prodex.files.untrusted import is_file, is_folder
from prodex.formats.frame_sheet import sheet_of_frame
from prodex.formats.spreadsheet import unescape_formulas
from prodex.formats.spreadsheet_files import Known, MergedCells, Sheet, sheets_of, skeleton
from prodex.formats.workbook_cells import MOST_COLUMNS, Cell, CellKind, Row, cell_place
from prodex.limits import Limits
from prodex.locales import known_language_tag
from prodex.messages import unaccented
from prodex.quality.problems import asked_attribute
from prodex.worklists.layout import (
    CODES_SHEET,
    FORMAT,
    INDEX,
    KEYS_SHEET,
    MAIL,
    MANIFEST,
    OF_THE_KEY,
    READ_ME_SHEET,
    SEVERAL,
    SUMMARY_SHEET,
    TO_FIX,
    WORKLIST,
    in_all_languages,
    seal_of,
)
from prodex.worklists.row_keys import EXPLAINED, RowKey, key_of

#: The cells that say what a row is about, by the columns of a worklist.
KEYS = (
    *("product_id", "gtin", "attribute", "language_code", "language", "position", "check"),
    *("value", "updated_at", "how", "asked_for"),
)
#: What a worklist shows and nobody has to type: compared letter by letter.
_SHOWN = frozenset({"value", "how"})
#: Copies of the hidden sheet, which spreadsheets make when all sheets of a workbook are copied into another one.
_KEYS_SHEET = re.compile(rf"{KEYS_SHEET}(?: ?\(\d+\)|_?\d+)?", re.IGNORECASE)
#: Sheets of a worklist that have no findings.
_EXPLANATIONS = frozenset().union(*map(in_all_languages, (READ_ME_SHEET, SUMMARY_SHEET, CODES_SHEET)))
_ENDINGS = frozenset({".xlsx", ".xlsm", ".csv", ".tsv", ".txt", ".xls", ".xlsb", ".ods", ".numbers"})
_TEXT_ENDINGS = frozenset({".csv", ".tsv", ".txt"})
_OWN = frozenset({MANIFEST, INDEX})
#: The columns of the sheet of answers for several rows, in their order.
_SEVERAL = tuple(column.name for column in SEVERAL)
_TO_FIX = "To fix"
_NO_ROWS = (
    f"no row of the sheet {_TO_FIX!r} is one of those that it is for. Write it into the rows that are meant."
)
_HIDDEN = "its sheet is hidden, so it is not used. Show the sheet if the answer is meant."
#: Keys that say whose value an answer is: what is struck through there is not meant.
_WHOSE = frozenset({"product_id", "gtin", "attribute", "language"})


@dataclass(frozen=True)
class AnswerSource:
    """Where an answer is from, which decides whose answer it can be.

    Attributes
    ----------
    is_worklist
        Whether prodex wrote the rows around it; a table of one's own asks for nothing.
    is_hidden
        Whether its sheet is hidden.
    is_edited
        Whether the hidden sheet, which names owners and products, is not as prodex wrote it.
    host
        Of the service whose products the worklist was written for, if it says one.
    owners
        What the owners are known by that the worklist was written for; None if that is not known, or any.
    of_sheet
        The owners of all products in its sheet.
    only
        What the owners are known by whose answers are read at all; None for all of them.
    """

    is_worklist: bool = False
    is_hidden: bool = False
    is_edited: bool = False
    host: str | None = None
    owners: frozenset[str | None] | None = None
    of_sheet: frozenset[str | None] = frozenset()
    only: frozenset[str | None] | None = None


class TextChange(NamedTuple):
    """What a text of a product is known to be, and what it is to be, letter by letter; None for no text."""

    before: str | None
    after: str | None


class Answer(NamedTuple):
    """A filled cell, or a correction that was typed somewhere else.

    Attributes
    ----------
    file, sheet, row, cell
        Its place; `cell` as spreadsheets call it ("L5"). A typed correction has its number as `row`, and no file.
    text, kind
        What it holds.
    shown
        A number as its format shows it, where that only adds zeros or shows percent.
    keys
        What its row says of product, attribute and so on; a key that the row lacks is absent. `value` is what was seen;
        empty if nothing was there. `position_read` is a position that a spreadsheet may have changed.
    source
        Of which worklist it is.
    is_typed_over
        Whether it was typed over the value that was seen, while "New value" is empty.
    given_at
        The place of an answer for several rows at once, in words; None where it is in its own row.
    change
        What it changes, of an answer that is exact (`prodex.worklists.exact_answers`); None for a cell.
    order
        The order of the list in which an exact answer adds an item or takes one away; None where it follows.
    questions
        What is asked back of it in any case.
    refusal
        Why it cannot be sent, where that is known already.
    bound
        Answers with the same number are sent together or not at all: a text is moved by taking it from one place and
        writing it at another one.
    restores
        Whether it restores what the product held earlier, of which nobody has to say that it is meant.
    """

    file: str
    sheet: str
    row: int
    cell: str
    text: str
    kind: CellKind
    keys: Mapping[str, str]
    shown: str | None = None
    source: AnswerSource = AnswerSource()
    is_typed_over: bool = False
    given_at: str | None = None
    change: TextChange | Change | None = None
    order: Change | None = None
    questions: tuple[str, ...] = ()
    refusal: str | None = None
    bound: int | None = None
    restores: bool = False

    @property
    def place(self) -> str:
        """Its place, in words."""
        place = place_in_words(self.file, self.sheet, self.row, self.cell)
        return place if self.given_at is None else f"{place} (as in {self.given_at})"


class Problem(NamedTuple):
    """What could not be read: a file, a sheet or a cell, as far as it is known, and why."""

    file: str
    sheet: str | None
    row: int | None
    cell: str | None
    text: str | None
    problem: str


class CellNote(NamedTuple):
    """What somebody typed beside a row that has no answer: a remark, or an answer in another column.

    Attributes
    ----------
    file, sheet, row, cell
        Where it is.
    column
        The heading above it; None where there is none.
    text
        What was typed.
    gtin, attribute
        What its row is about.
    """

    file: str
    sheet: str
    row: int
    cell: str
    column: str | None
    text: str
    gtin: str | None
    attribute: str | None


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

    def add(self, key: str, cell: Cell, problem: Problem) -> None:
        """Add an answer for all rows that have this in common."""
        self.given.setdefault(key, []).append((cell, problem))

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


#: What to do with a worklist of another version.
_ADVICE = "Its answers are not read. Write the worklist anew, audit.worklists(folder), and copy them into it."


class Written(msgspec.Struct, frozen=True):
    """What a workbook says of the audit it was written for, as far as it says it.

    Attributes
    ----------
    format
        The number of the layout; None where somebody has removed it.
    profile
        The profile of the audit.
    snapshot
        Name and time of the snapshot that was audited, "shop@2026-11-23T08-00-00Z".
    columns
        The columns in their order.
    sheets
        The sheets with findings.
    host
        The host of the service from which the products were loaded, if there is one.
    owners
        What the owner is known by whose products these are, None for products without one; None for any owners.
    is_sealed
        Whether the hidden sheet is as prodex wrote it.
    language
        The language of the worklist.
    """

    format: int | None = None
    profile: str | None = None
    snapshot: str | None = None
    columns: tuple[str, ...] = ()
    sheets: tuple[str, ...] = ()
    host: str | None = None
    owners: tuple[str | None, ...] | None = None
    is_sealed: bool = False
    language: str = "en"


@dataclass(frozen=True)
class AnswerSheet:
    """A sheet with findings, or a CSV file.

    Attributes
    ----------
    file, sheet
        Where it is.
    rows
        Number of rows: all that are not empty below its headings, but for headings that are repeated.
    unread
        How many of them could not be read, since a column is missing.
    is_hidden
        Whether the sheet is hidden.
    is_worklist
        Whether prodex wrote it, by its hidden sheet or by the keys of its rows.
    has_keys
        Whether it has a column for the keys of rows.
    products
        Number of rows by product id and GTIN, as far as they have them.
    """

    file: str
    sheet: str
    rows: int = 0
    unread: int = 0
    is_hidden: bool = False
    is_worklist: bool = False
    has_keys: bool = False
    products: Mapping[tuple[str | None, str | None], int] = field(default_factory=dict)


@dataclass
class Returned:
    """What was read.

    Attributes
    ----------
    answers
        The filled cells.
    problems
        What could not be read.
    written
        What the hidden sheets of each workbook say, by file.
    files
        Number of files.
    sheets
        The sheets with findings.
    ignored
        Files in a folder that are neither workbooks nor CSV, and sheets without the headings of a worklist.
    doubtful
        Cells "Value seen" of rows without an answer that may have been typed over: their keys say so, or nothing says
        what they were.
    notes
        What was typed into other columns of rows without an answer.
    requests
        The filled cells of the column "Accept because".
    damaged
        Texts of each file beside the answers in which letters may have been lost.
    """

    answers: list[Answer] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    written: dict[str, list[Written]] = field(default_factory=dict)
    files: int = 0
    sheets: list[AnswerSheet] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    doubtful: list[Answer] = field(default_factory=list)
    notes: list[CellNote] = field(default_factory=list)
    requests: list[Answer] = field(default_factory=list)
    damaged: dict[str, set[str]] = field(default_factory=dict)


#: Files and frames of answers, as they are given.
Given: TypeAlias = str | Path | pd.DataFrame | Iterable[str | Path | pd.DataFrame]


def read_files(
    files: Given,
    limits: Limits | None = None,
    known: Callable[[Returned], Known] | None = None,
) -> Returned:
    """Read the answers of worklists.

    Parameters
    ----------
    files
        Paths of workbooks and CSV files, and of folders with them; and frames with the columns of a worklist.
    limits
        What a file may take, unpacked.
    known
        Returns what knows the texts of the catalogue, by what was read before; it is asked where the letters of a file
        are not certain. Workbooks, which name their catalogue, are read before CSV files, which do not.

    Raises
    ------
    InputError
        When there is no such file, or none in a folder.
    """
    returned = Returned()

    def asked(skeletons: Collection[str]) -> Collection[str]:
        return () if known is None else known(returned)(skeletons)

    found = _answer_files(files, returned)
    places = {file: place for place, file in enumerate(found)}
    # Workbooks first: they name the catalogue, with which the encoding of other files has to agree.
    for file in sorted(places, key=lambda one: one.suffix.casefold() in _TEXT_ENDINGS):
        try:
            _read_file(file, found[file], limits, returned, asked)
        except (SpreadsheetUnreadable, OtherLayout) as error:
            returned.problems.append(Problem(str(file), None, None, None, None, str(error)))
    returned.answers.sort(key=lambda one: places[Path(one.file)])
    returned.problems.sort(key=lambda one: places[Path(one.file)])
    returned.files = len(places)
    return returned


def _answer_files(files: Given, returned: Returned) -> dict[Path, pd.DataFrame | None]:
    """Return the files that are read, and the frames by how messages name them."""
    if isinstance(files, str | Path | pd.DataFrame) or not isinstance(files, Iterable):
        files = [files]
    given: list[Any] = list(files)
    frames = [one for one in given if isinstance(one, pd.DataFrame)]
    given = [one for one in given if not isinstance(one, pd.DataFrame)]
    if wrong := [one for one in given if not isinstance(one, str | Path)]:
        raise InputError(
            f"files is {described(wrong[0])}. Give paths of workbooks and CSV files, or the folder of them."
        )
    found: list[Path] = []
    for path in map(Path, given):
        if not is_folder(path):
            if not is_file(path):
                raise InputError(
                    f"There is no file {path}. Give workbooks or CSV files, or the folder of them."
                )
            found.append(path)
            continue
        here = sorted(
            one for one in path.iterdir() if one.name not in _OWN and not one.name.startswith(("~$", "."))
        )
        wanted = [one for one in here if one.suffix.casefold() in _ENDINGS and is_file(one)]
        returned.ignored += [str(one) for one in here if one not in wanted and one.suffix != MAIL]
        if not wanted:
            raise InputError(
                f"The folder {path} has no workbook and no CSV file. Give the folder of the answers."
            )
        found += wanted
    if not found and not frames:
        raise InputError("No file was given. Give workbooks or CSV files, or the folder of them.")
    named = {Path(f"frame {n}" if n > 1 else "frame"): frame for n, frame in enumerate(frames, 1)}
    return {**dict.fromkeys(one.resolve() for one in found), **named}


def _sheets(
    file: Path, frame: pd.DataFrame | None, limits: Limits | None, known: Known
) -> AbstractContextManager[list[Sheet]]:
    if frame is not None:
        return nullcontext([sheet_of_frame(frame, file)])
    return sheets_of(file, limits=limits, headings=_named_columns, known=known)


def _read_file(
    file: Path, frame: pd.DataFrame | None, limits: Limits | None, returned: Returned, known: Known
) -> None:
    before = len(returned.answers)
    with _sheets(file, frame, limits, known) as sheets:
        kept = {sheet.name: written for sheet in sheets if (written := _read_hidden_sheet(sheet)) is not None}
        returned.written[str(file)] = list(kept.values())
        for one in kept.values():
            require_layout(file, one.format, FORMAT, _ADVICE)
        own = {name for one in kept.values() for name in one.sheets}
        listed = next((one.columns for one in kept.values()), ())
        lists = []
        several = SeveralAnswers()
        others = [one for one in sheets if one.name not in kept and not _read_several(one, several, returned)]
        for sheet in others:
            found = _read_sheet(sheet, listed, bool(kept), returned, several)
            lists.append(found is not None)
            if found is None and sheet.name in own:
                _without_headings(sheet, returned)
            elif found is None and not (kept and sheet.name in _EXPLANATIONS) and any(_filled_rows(sheet)):
                returned.ignored.append(place_in_words(str(file), sheet.name, None, None))
        returned.problems += several.unmet
    if not any(lists):
        problem = "no sheet has the headings of a worklist: GTIN, Field and New value. Name its columns as they were."
        returned.problems.append(Problem(str(file), None, None, None, None, problem))
    _refuse_lost_letters(file, before, returned, known)


def _named_columns(number: int, row: Row) -> int:
    """Return how many columns of a worklist a row names."""
    del number
    found = headings_of(row, ())
    return 0 if found is None else len(found.places)


def _refuse_lost_letters(file: Path, before: int, returned: Returned, known: Known) -> None:
    """Make problems of the answers of a file in which letters were lost."""
    doubtful = [one for one in returned.answers[before:] if not LOST.isdisjoint(one.text)]
    if not doubtful:
        return
    lost = lost_letters(returned.damaged.get(str(file), ()), known)
    kept = []
    for one in returned.answers[before:]:
        if "\ufffd" in one.text:
            why = "it holds \ufffd, which programs write for a letter that they cannot read"
        elif lost is not None and "?" in one.text:
            why = "letters of this file were lost when it was saved: it has {!r:.60} for {!r:.60}".format(
                *lost
            )
        else:
            kept.append(one)
            continue
        problem = f"{why}. Write the answer again, and save it as a workbook (.xlsx) or as CSV in UTF-8."
        returned.problems.append(Problem(*one[:4], one.text, problem))
    returned.answers[before:] = kept


def _without_headings(sheet: Sheet, returned: Returned) -> None:
    """Count the rows of a sheet of findings whose headings are gone: none of them can be read."""
    if rows := sum(1 for _ in _filled_rows(sheet)):
        words = "the sheet has no headings any more. Put them back: GTIN, Field, Language, New value."
        returned.problems.append(_problem(sheet, 1, None, words))
        returned.sheets.append(AnswerSheet(str(sheet.file), sheet.name, rows, rows, sheet.is_hidden, True))


def _filled_rows(sheet: Sheet) -> Iterator[tuple[int, Row]]:
    """Yield the rows in which a cell holds more than spaces."""
    for number, row in sheet.rows():
        if any(cell.kind != "text" or cell.text.strip() for cell in row.values()):
            yield number, row


def _read_hidden_sheet(sheet: Sheet) -> Written | None:
    """Return the facts in a hidden sheet, without values that somebody spoilt; None for any other sheet."""
    if _KEYS_SHEET.fullmatch(sheet.name) is None:
        return None
    found: dict[str, Any] = {}
    for _, row in sheet.rows():
        name, value = row.get(0), row.get(1)
        if name is not None and value is not None:
            try:
                found[name.text] = json.loads(value.text)
            except (ValueError, RecursionError):
                continue
    if sheet.name.casefold() != KEYS_SHEET and "format" not in found:
        return None
    layout = found.get("format")
    is_sealed = found.get("seal") == seal_of(found)
    try:
        return msgspec.convert(found | {"is_sealed": is_sealed}, Written)
    except msgspec.ValidationError:
        return Written(layout if isinstance(layout, int) else None)


def _read_several(sheet: Sheet, several: SeveralAnswers, returned: Returned) -> bool:
    """Read a sheet where one answer is given for several rows; False if it is none of these."""
    headings: Headings | None = None
    merged = MergedCells(sheet.merged())
    at, layout = _layout_by_keys(sheet, [_SEVERAL], _has_group)
    for number, row in _filled_rows(sheet):
        named = headings_of(row, _SEVERAL)
        if named is None and headings is None and number == at:
            named = _headings_by_place(row, layout)
        if named is not None:
            if headings is None and not _is_for_several(named):
                return False
            headings = named
            if "new_value" not in named.places:
                words = "no column is called 'New value'. Name the one with the answers so."
                returned.problems.append(_problem(sheet, number, None, words))
        elif headings is not None and "new_value" in headings.places:
            _read_given(sheet, number, row, headings, merged, several, returned)
    return headings is not None


def _is_for_several(headings: Headings) -> bool:
    return "same_answer" in headings.places and not {"gtin", "product_id", "row_key"} & set(headings.places)


def _read_given(
    sheet: Sheet,
    number: int,
    row: Row,
    headings: Headings,
    merged: MergedCells,
    several: SeveralAnswers,
    returned: Returned,
) -> None:
    """Read the answers of a row that represents several rows."""
    filled = [(place, row[place]) for place in headings.places["new_value"] if place in row]
    filled = [(place, cell) for place, cell in filled if cell.kind != "text" or cell.text.strip()]
    where = headings.first("same_answer")
    key = None if where is None else merged.cell(number, where, row)
    for place, cell in filled:
        why = _unusable(cell, merged.height(number, place)) or (_HIDDEN if sheet.is_hidden else None)
        if why is None and (key is None or not key.text.strip()):
            why = f"the row no longer says which rows it is for. Write the answer into the sheet {_TO_FIX!r}."
        if why is not None or key is None:
            returned.problems.append(_problem(sheet, number, place, str(why), cell.text))
        else:
            several.add(key.text.strip(), cell, _problem(sheet, number, place, _NO_ROWS, cell.text))
    for place, cell in row.items():
        if not filled and headings.names.get(place) is None and cell.text.strip():
            at = (str(sheet.file), sheet.name, number, cell_place(number, place))
            returned.notes.append(CellNote(*at, headings.texts.get(place), cell.text.strip(), None, None))


def _read_sheet(
    sheet: Sheet, listed: Sequence[str], is_ours: bool, returned: Returned, several: SeveralAnswers
) -> AnswerSheet | None:
    """Read a sheet; None if it is no list of findings at all."""
    headings: Headings | None = None
    merged = MergedCells(sheet.merged())
    rows, unread, has_keys = 0, 0, False
    products: Counter[tuple[str | None, str | None]] = Counter()
    layouts = [listed] if listed else [[column.name for column in TO_FIX], WORKLIST.names]
    at, proven = _layout_by_keys(sheet, layouts, _has_key)
    for number, row in _filled_rows(sheet):
        found = headings_of(row, listed or proven)
        if found is None and headings is None and number == at:
            found = _headings_by_place(row, proven)
        if found is not None:
            # Sheets that were copied below one another have their headings again.
            headings = found
            has_keys = has_keys or "row_key" in found.places
            if found.missing and "new_value" in found.places:
                words = f"there is no column {' and none '.join(map(repr, found.missing))}"
                returned.problems.append(
                    _problem(sheet, number, None, f"{words}. Name the columns as they were.")
                )
            elif found.missing and "New value" in found.missing and "attribute" in found.places:
                words = "no column is called 'New value'. Name the one with the answers so"
                returned.problems.append(_problem(sheet, number, None, f"{words}."))
        elif headings is not None and not headings.missing:
            keys = _read_row(sheet, number, row, headings, merged, returned, several)
            products[keys.get("product_id"), keys.get("gtin")] += 1
            rows += 1
        elif headings is not None and not {"new_value", "attribute"}.isdisjoint(headings.places):
            rows, unread = rows + 1, unread + 1
    # The summary has headings of its own, and nothing to answer.
    if headings is None or {"new_value", "attribute", "asked_for"}.isdisjoint(headings.places):
        return None
    where = (str(sheet.file), sheet.name)
    is_ours = is_ours or has_keys
    read = AnswerSheet(*where, rows, unread, sheet.is_hidden, is_ours, has_keys, products)
    if rows:
        returned.sheets.append(read)
    return read


def _keys_of(
    sheet: Sheet, number: int, row: Row, headings: Headings, merged: MergedCells
) -> tuple[dict[str, str], list[tuple[int, str, str]]]:
    """Return what a row says of product, attribute and so on, and the cells of it that cannot be used."""
    keys: dict[str, str] = {}
    unusable: list[tuple[int, str, str]] = []
    at = headings.first("row_key")
    own = None if at is None else row.get(at)  # a merged cell would hold the key of another row
    if own is not None and (text := own.text.strip()):
        keys["row_key"] = text
    key = key_of(keys)
    for name in KEYS:
        place = headings.first(name)
        cell = None if place is None else merged.cell(number, place, row)
        if name == "language" and key is not None and key.language and cell is not None and place not in row:
            keys[name] = key.language  # merged with the row above, which may be in another language
            continue
        if name in _SHOWN and cell is not None and (cell.kind == "formula" or _is_other(cell, key)):
            continue  # programs make a formula of a text such as "=HYPERLINK(...)": nobody knows what was seen
        if place is not None and cell is not None and (why := _unusable_key(name, cell)) is not None:
            unusable.append((place, cell.text, why))
        elif cell is not None and (text := _key_text(name, cell, sheet)):
            _add_key(keys, name, text)
        elif place is not None and name == "value" and (cell is None or cell.kind == "text"):
            keys[name] = ""  # nothing was there
    if key is not None:
        _add_facts(keys, key, "language" in headings.places)
    if "attribute" not in keys and (asked := asked_attribute(keys.get("asked_for", ""))) is not None:
        keys["attribute"] = asked
    return keys, unusable


def _is_other(cell: Cell, key: RowKey | None) -> bool:
    """Whether a cell has the result of a formula, where its row is known to have shown something else."""
    return cell.is_computed and key is not None and not key.shows(cell.text)


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


def _read_row(
    sheet: Sheet,
    number: int,
    row: Row,
    headings: Headings,
    merged: MergedCells,
    returned: Returned,
    several: SeveralAnswers,
) -> Mapping[str, str]:
    """Read the answers of a row; return its keys."""
    keys, unusable = _keys_of(sheet, number, row, headings, merged)
    filled = [(place, row[place]) for place in headings.places["new_value"] if place in row]
    filled = [(place, cell) for place, cell in filled if cell.kind != "text" or cell.text.strip()]
    # An answer in the row itself takes precedence over one for several rows.
    given = several.of_row(keys)
    if filled:
        given = []
    for place, cell in filled:
        why = _unusable(cell, merged.height(number, place))
        if why is not None:
            unusable.append((place, cell.text, why))
    # Cells whose place nobody knows may be the answer, or say what it is about.
    unusable += [
        (place, cell.text, f"{cell.problem}.") for place, cell in row.items() if place >= MOST_COLUMNS
    ]
    if filled or given or any(place >= MOST_COLUMNS for place, *_ in unusable):
        returned.problems += [_problem(sheet, number, place, why, text) for place, text, why in unusable]
    if not unusable:
        returned.answers += [_answer_of_cell(sheet, number, place, cell, keys) for place, cell in filled]
        at = headings.places["new_value"][0]
        returned.answers += [
            _answer_of_cell(sheet, number, at, cell, keys)._replace(given_at=where) for cell, where in given
        ]
    if not filled and not given:
        _look_elsewhere(sheet, number, row, headings, keys, returned)
    for place in headings.places.get("accept_because", ()):
        asked = row.get(place)
        if asked is None or (asked.kind == "text" and not asked.text.strip()):
            continue
        if (why := _unusable(asked, merged.height(number, place))) is not None:
            returned.problems.append(_problem(sheet, number, place, why, asked.text))
        else:
            returned.requests.append(_answer_of_cell(sheet, number, place, asked, keys))
    returned.damaged.setdefault(str(sheet.file), set()).update(
        cell.text
        for place, cell in row.items()
        if place not in headings.places["new_value"] and not LOST.isdisjoint(cell.text)
    )
    return keys


def _answer_of_cell(sheet: Sheet, number: int, place: int, cell: Cell, keys: Mapping[str, str]) -> Answer:
    text = trimmed(_verbatim(cell, sheet))
    return Answer(
        str(sheet.file), sheet.name, number, cell_place(number, place), text, cell.kind, keys, cell.shown
    )


def _look_elsewhere(
    sheet: Sheet,
    number: int,
    row: Row,
    headings: Headings,
    keys: Mapping[str, str],
    returned: Returned,
) -> None:
    """Keep what somebody typed into a row without an answer: over the value that was seen, or beside it."""
    key = key_of(keys)
    seen = headings.first("value")
    if (
        seen is not None
        and seen in row
        and keys.get("value", "").strip()
        and not (key and key.shows(keys["value"]))
    ):
        answer = _answer_of_cell(sheet, number, seen, row[seen], keys)
        returned.doubtful.append(answer._replace(is_typed_over=True))
    for place, cell in row.items():
        name = headings.names.get(place)
        if name is not None and not (key and name in EXPLAINED):
            continue
        text = _verbatim(cell, sheet)
        if text.strip() and (name is None or (key and not key.explains(name, text))):
            about = (keys.get("gtin"), keys.get("attribute"))
            where = (str(sheet.file), sheet.name, number, cell_place(number, place))
            returned.notes.append(CellNote(*where, headings.texts.get(place), text.strip(), *about))


def _add_key(keys: dict[str, str], name: str, text: str) -> None:
    """Add what a cell says to what its row says; a position may have been changed by a spreadsheet."""
    if name == "language":
        # Worklists show languages by name.
        text = text if "-" in text else known_language_tag(text) or text
    keys["position_read" if name == "position" else name] = text


def _key_text(name: str, cell: Cell, sheet: Sheet) -> str:
    # Values seen are compared with texts to the last character.
    if name in _SHOWN:
        return cell.shown or _verbatim(cell, sheet)
    # Ids have no zeros before them, whatever the format of their column adds.
    shown = cell.text if name == "product_id" else cell.shown or cell.text
    return shown.strip().lstrip("'")


def _verbatim(cell: Cell, sheet: Sheet) -> str:
    """Return the text of a cell; a CSV file may have an apostrophe before what looks like a formula."""
    return unescape_formulas(cell.text) if sheet.name == "" else cell.text


def _unusable_key(name: str, cell: Cell) -> str | None:
    """Return why a cell does not say what the answer of its row is about."""
    if cell.kind == "unreadable":
        return f"{cell.problem}. The answer of its row is not used. Take the row from the worklist again."
    if cell.kind in {"error", "formula"}:
        shown = f"shows the error {cell.text:.40}" if cell.text else "holds a formula without its result"
        return f"the cell {shown}, and the answer of its row is not used. Write the value."
    if cell.is_struck and name in _WHOSE:
        return "it is struck through, and the answer of its row is not used. Remove the line if it is meant."
    return None


def _unusable(answer: Cell, height: int) -> str | None:
    if answer.kind == "unreadable":
        return f"{answer.problem}. Write the value as text."
    if answer.kind == "error":
        return f"the cell shows the error {answer.text}. Write the value."
    if answer.kind == "formula":
        return (
            "the cell holds a formula without its result. Write the value, or save the file in a spreadsheet."
        )
    if answer.is_struck:
        return (
            f"{answer.text!r:.60} is struck through, as a whole or in part. Remove what is not meant, and the line "
            "through what is."
        )
    if height > 1:
        return (
            f"the cell is merged over {height} rows. Split it, and write into each row what is meant for it."
        )
    return None


def trimmed(text: str) -> str:
    """Return an answer without outer spaces, and with line ends as the service has them."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip().strip("\u00a0\u200b\ufeff").strip()


def _problem(sheet: Sheet, row: int, column: int | None, problem: str, text: str | None = None) -> Problem:
    cell = None if column is None else cell_place(row, column)
    return Problem(str(sheet.file), sheet.name, row, cell, text, problem)


def place_in_words(file: str | None, sheet: str | None, row: int | None, cell: str | None) -> str:
    """Return the place of an answer: file, sheet and cell, or the number of a correction that was typed.

    >>> place_in_words("/home/eva/to_fix/ACME.xlsx", "To fix", 5, "L5"), place_in_words("", "", 2, "")
    ('ACME.xlsx To fix L5', 'correction 2')
    """
    if not file:
        return f"correction {row}"
    # Its folder is nobody else's business.
    return " ".join(filter(None, [file_name(file), sheet, cell]))


def file_name(path: str) -> str:
    """Return the name of a file without its folder, whichever system wrote the path.

    >>> file_name("/home/eva/to_fix/ACME.xlsx"), file_name("")
    ('ACME.xlsx', '')
    """
    return path.replace("\\", "/").rpartition("/")[2]


#: Columns of products whose texts worklists show: texts, labels and values.
_TEXTS = (
    ("texts", ["text"]),
    ("products", ["brand", "kind", "packaging", "owner"]),
    ("codes", ["label"]),
    ("scalars", ["value"]),
)
#: What programs write for a letter that they cannot write or read.
LOST = frozenset("?\ufffd")


def known_texts(catalog: Catalog) -> Known:
    """Return what knows the texts of a catalogue, by their letters within ASCII.

    >>> import prodex
    >>> catalog = prodex.flatten([{"id": 7, "brand": {"code": "C", "label": "Crème"}}])
    >>> sorted(known_texts(catalog)(["Cr?me", "Pain"]))
    ['Crème']
    """

    def known(skeletons: Collection[str]) -> set[str]:
        wanted = pa.array(sorted(skeletons), pa.string())
        found: set[str] = set()
        for column in _text_columns(catalog):
            plain = pc.replace_substring_regex(column, r"[^\x00-\x7F]", "?")
            found.update(column.filter(pc.is_in(plain, wanted)).to_pylist())
        return found

    return known


def _text_columns(catalog: Catalog) -> Iterator[pa.ChunkedArray]:
    # One part at a time: all texts of a large catalogue take much memory.
    for part in catalog.parts:
        for table, columns in _TEXTS:
            for column in columns:
                try:
                    yield part.read(table, [column])[column]
                except NotExported:
                    continue


def lost_letters(texts: Iterable[str], known: Known) -> tuple[str, str] | None:
    """Return a text of a file whose letters were lost, and as the catalogue has it; None if none is known to be.

    Parameters
    ----------
    texts
        Texts of the file that have a question mark or U+FFFD.

    Examples
    --------
    >>> lost_letters(["Who?", "Cr?me"], lambda asked: {"Crème", "Who?"})
    ('Cr?me', 'Crème')
    """
    asked = {text: skeleton(text) for text in texts}
    there = known(set(asked.values())) if asked else ()
    by_skeleton: dict[str, list[str]] = {}
    for one in sorted(there):
        by_skeleton.setdefault(skeleton(one), []).append(one)
    for text, plain in asked.items():
        whole = by_skeleton.get(plain, [])
        if text not in whole:
            for one in whole:
                if all(mine == its or mine in LOST for mine, its in zip(text, one, strict=True)):
                    return text, one
    return None


def _layout_by_keys(
    sheet: Sheet, layouts: Sequence[Sequence[str]], says: Callable[[Row, Sequence[str]], int | None]
) -> tuple[int, Sequence[str]]:
    """Return the row of headings and the layout of a sheet that its rows prove, whatever its headings say.

    Somebody may have translated the headings into any language. Where the column of the keys has keys, and the rows
    show what they are to show beside them, the columns are at their places. Without a proof the layout is empty.
    """
    before, met = 0, 0
    found: Counter[int] = Counter()
    for number, row in _filled_rows(sheet):
        for place, layout in enumerate(layouts):
            if (vote := says(row, layout)) is not None:
                found[place] += vote
        before = before if found else number
        met += bool(found)
        if met == _PROOF:
            break
    for place, votes in found.most_common(1):
        if before and votes > 0:
            return before, layouts[place]
    return 0, ()


#: Rows below the headings from which it is known whether columns are at their places.
_PROOF = 50
_GROUP = re.compile(r"s[0-9a-f]{8}\.[0-9a-f]{8}")


def _has_group(row: Row, layout: Sequence[str]) -> int | None:
    cell = row.get(layout.index("same_answer"))
    return 1 if cell is not None and _GROUP.fullmatch(cell.text.strip()) else None


def _has_key(row: Row, layout: Sequence[str]) -> int | None:
    """Return the vote of a row for a layout: by the value that its key says; None where it has no key at its place.

    That there is no value where there was none says little: an empty column may be another one.
    """
    if not {"row_key", "value"} <= set(layout):
        return None
    cell, seen = (row.get(layout.index(name)) for name in ("row_key", "value"))
    key = None if cell is None else RowKey.read(cell.text)
    if key is None:
        return None
    shown = "" if seen is None else seen.text
    return -_PROOF if not key.shows(shown) else _PROOF if shown.strip() else 1


def _headings_by_place(row: Row, layout: Sequence[str]) -> Headings:
    texts = {place: cell.text for place, cell in row.items()}
    return Headings({name: [place] for place, name in enumerate(layout)}, texts)


#: What rows are about, and the answer.
_NEEDED = ("attribute", "new_value")
_PRODUCT = ("product_id", "gtin")
#: Headings of these many columns make a row of headings, and no row of data.
_FEWEST = 3

#: Other headings that people give, in the languages of worklists.
_ALSO = {
    "gtin": "ean, barcode, code gtin, code-barres, Strichcode, streepjescode",
    "product_id": "productid",
    "attribute": "attribute, attribut, attribuut",
    "new_value": "answer, réponse, Antwort, antwoord",
}


def _folded_heading(heading: str) -> str:
    # People leave accents out in capitals.
    return re.sub(r"[\W_]+", "", unaccented(heading))


@cache
def _headings() -> Mapping[str, str]:
    """Return the columns by their headings in all languages; a heading of two columns is none."""
    found: dict[str, set[str]] = defaultdict(set)
    for name, headings in _ALSO.items():
        for heading in headings.split(","):
            found[_folded_heading(heading)].add(name)
    for field_ in WORKLIST:
        found[_folded_heading(field_.name)].add(field_.name)
    shown = {**OF_THE_KEY, **{column.name: column.heading for column in (*SEVERAL, *TO_FIX)}}
    for name, message in shown.items():
        for heading in in_all_languages(message):
            found[_folded_heading(heading)].add(name)
    return {heading: next(iter(names)) for heading, names in found.items() if len(names) == 1}


#: Characters of a heading, with what people put around it.
_LONGEST = 60


@lru_cache(5_000)
def _column_of_heading(text: str) -> str | None:
    """Return the column that a cell names, if it is a heading: every cell of every row is asked."""
    return _headings().get(_folded_heading(text)) if len(text) <= _LONGEST else None


@dataclass(frozen=True)
class Headings:
    """The columns of a sheet.

    Attributes
    ----------
    places
        The places of each column of a worklist, by its name; "new_value" may occur several times.
    texts
        The headings as they are, by place.
    """

    places: Mapping[str, Sequence[int]]
    texts: Mapping[int, str]

    def first(self, name: str) -> int | None:
        """Return the first place of a column, or None."""
        return next(iter(self.places.get(name, ())), None)

    @cached_property
    def names(self) -> Mapping[int, str]:
        """What each column is, by its place; others than those of a worklist are not there."""
        return {place: name for name, places in self.places.items() for place in places}

    @property
    def missing(self) -> list[str]:
        """What is needed and not there, as people call it."""
        missing = [name for name in _NEEDED if name not in self.places]
        if "attribute" in missing and "asked_for" in self.places:
            # Somebody copied what is shown into a workbook of their own: the words of people say it as well.
            missing.remove("attribute")
        if not any(name in self.places for name in _PRODUCT):
            missing.insert(0, "gtin")
        by_name = {**OF_THE_KEY, **{column.name: column.heading for column in TO_FIX}}
        return [by_name[name] for name in missing]


def headings_of(row: Row, listed: Sequence[str]) -> Headings | None:
    """Return the columns that a row of headings names; None if the row is none.

    Parameters
    ----------
    row
        The cells.
    listed
        The columns of the worklist as it was written, from the hidden sheet; empty if that is not there. A column that
        was renamed is recognized by its place if no other column was moved.

    Examples
    --------
    >>> from prodex.formats.workbook_cells import Cell
    >>> row = {place: Cell(text, "text") for place, text in enumerate(["GTIN", "Field", "Language", "Mein Wert"])}
    >>> headings_of(row, ["gtin", "attribute", "language", "new_value"]).places["new_value"]
    [3]
    """
    places: dict[str, list[int]] = defaultdict(list)
    for place, cell in sorted(row.items()):
        if cell.kind == "text" and (name := _column_of_heading(cell.text)) is not None:
            places[name].append(place)
    if len(places) < _FEWEST:
        return None
    texts = {place: cell.text for place, cell in row.items()}
    are_in_place = all(
        tuple(listed[place : place + 1]) == (name,) for name, several in places.items() for place in several
    )
    if are_in_place:
        for place, name in enumerate(listed):
            if name not in places and place in row:
                places[name].append(place)
    return Headings(dict(places), texts)
