"""Reading worklists that came back: the filled cells of the column "New value", each with its place and its keys.

Rows may have been sorted, filtered, removed and added, columns moved, hidden or renamed, sheets copied into another
workbook. What cannot be read or assigned is a problem with its place; nothing stops at the first.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from prodex.arguments import described
from prodex.errors import InputError, SpreadsheetUnreadable
from prodex.files.untrusted import is_file, is_folder
from prodex.fix.headings import Headings, headings_of
from prodex.fix.layout import FORMAT, INDEX, KEYS_SHEET, MANIFEST
from prodex.fix.letters import LOST, lost_letters
from prodex.fix.merged_cells import MergedCells
from prodex.formats.csv_sheets import Known
from prodex.formats.spreadsheet import unescape_formulas
from prodex.formats.spreadsheet_files import Sheet, sheets_of
from prodex.formats.workbook_cells import MOST_COLUMNS, Cell, Kind, Row, place_of
from prodex.limits import Limits

#: The keys of a row, in the columns of a worklist.
KEYS = (
    *("product_id", "gtin", "attribute", "language", "language_code", "position", "check"),
    *("value", "updated_at"),
)
_ENDINGS = frozenset({".xlsx", ".xlsm", ".csv", ".tsv", ".txt", ".xls", ".xlsb", ".ods", ".numbers"})
_TEXT_ENDINGS = frozenset({".csv", ".tsv", ".txt"})
_OWN = frozenset({MANIFEST, INDEX})
#: Keys that say whose value an answer is: what is struck through there is not meant.
_WHOSE = frozenset({"product_id", "gtin", "attribute", "language"})


class Answer(NamedTuple):
    """A filled cell, or a correction that was typed somewhere else.

    Attributes
    ----------
    file, sheet, row, cell
        Where it stands; `cell` as spreadsheets call it ("L5"). What was typed has its number as `row`, and no file.
    text, kind
        What it holds.
    keys
        What its row says of product, attribute and so on; a key that the row lacks is absent. `value` is what was seen;
        empty if nothing was there.
    shown
        A number as the spreadsheet shows it, where its format adds zeros or shows percent; else None.
    """

    file: str
    sheet: str
    row: int
    cell: str
    text: str
    kind: Kind
    keys: Mapping[str, str]
    shown: str | None = None

    @property
    def place(self) -> str:
        """Where it stands, in words."""
        return place_in_words(self.file, self.sheet, self.row, self.cell)


class Problem(NamedTuple):
    """What could not be read: a file, a sheet or a cell, as far as it is known, and why."""

    file: str
    sheet: str | None
    row: int | None
    cell: str | None
    text: str | None
    problem: str


class Written(msgspec.Struct, frozen=True):
    """What a workbook says of the audit it was written for, as far as it says it.

    Attributes
    ----------
    format
        Version of the layout.
    profile
        The profile of the audit.
    snapshot
        Name and time of the snapshot that was audited, "shop@2026-11-23T08-00-00Z".
    columns
        The columns in their order.
    """

    format: int = 1
    profile: str | None = None
    snapshot: str | None = None
    columns: tuple[str, ...] = ()


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
        What each workbook says of itself, by file.
    files, rows
        Number of files, and of rows without an answer; workbook and CSV of a worklist count once unless both have
        answers.
    ignored
        Files in a folder that are neither workbooks nor CSV.
    doubtful
        Texts of each file beside the answers in which letters may have been lost.
    """

    answers: list[Answer] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    written: dict[str, Written] = field(default_factory=dict)
    files: int = 0
    rows: int = 0
    ignored: list[str] = field(default_factory=list)
    doubtful: dict[str, set[str]] = field(default_factory=dict)


def read_files(
    files: str | Path | Iterable[str | Path],
    limits: Limits | None = None,
    known: Callable[[Returned], Known] | None = None,
) -> Returned:
    """Read the answers of worklists.

    Parameters
    ----------
    files
        Paths of workbooks and CSV files, and of folders with them.
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

    # Of each file: whether anything is to be said of it, and how many rows nobody has answered.
    found: dict[Path, tuple[bool, int]] = {}
    places = {file: place for place, file in enumerate(_files(files, returned))}
    for file in sorted(places, key=lambda one: one.suffix.casefold() in _TEXT_ENDINGS):
        rows, said = returned.rows, len(returned.answers) + len(returned.problems)
        try:
            _read(file, limits, returned, asked)
        except SpreadsheetUnreadable as error:
            returned.problems.append(Problem(str(file), None, None, None, None, str(error)))
        found[file] = (len(returned.answers) + len(returned.problems) > said, returned.rows - rows)
    returned.answers.sort(key=lambda one: places[Path(one.file)])
    returned.problems.sort(key=lambda one: places[Path(one.file)])
    # A worklist is written as a workbook and as CSV; whoever answers in one leaves the other as it was.
    twins = [file for file in found if _is_untouched_twin(file, found)]
    returned.files = len(found) - len(twins)
    returned.rows -= sum(found[file][1] for file in twins)
    return returned


def _is_untouched_twin(file: Path, found: Mapping[Path, tuple[bool, int]]) -> bool:
    """Whether a file says nothing, and the other one of its worklist was read too."""
    is_csv = file.suffix == ".csv"
    other = found.get(file.with_suffix(".xlsx" if is_csv else ".csv"))
    if found[file][0] or other is None or file.suffix not in {".csv", ".xlsx"}:
        return False
    return is_csv or other[0]


def _files(files: str | Path | Iterable[str | Path], returned: Returned) -> list[Path]:
    given: list[Any] = list(files) if isinstance(files, Iterable) and not isinstance(files, str) else [files]
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
        # The rows of a worklist that nobody edits are no news.
        returned.ignored += [str(one) for one in here if one not in wanted and one.suffix != ".parquet"]
        if not wanted:
            raise InputError(
                f"The folder {path} has no workbook and no CSV file. Give the folder of the answers."
            )
        found += wanted
    if not found:
        raise InputError("No file was given. Give workbooks or CSV files, or the folder of them.")
    return list(dict.fromkeys(one.resolve() for one in found))


def _read(file: Path, limits: Limits | None, returned: Returned, known: Known) -> None:
    before = len(returned.answers)
    with sheets_of(file, limits=limits, headings=_named_columns, known=known) as sheets:
        keys = next((sheet for sheet in sheets if sheet.name.casefold() == KEYS_SHEET), None)
        written = Written() if keys is None else _written(keys)
        returned.written[str(file)] = written
        if written.format > FORMAT:
            raise SpreadsheetUnreadable(
                f"{file.name} was written by a newer version of prodex (layout {written.format}; this one reads up to "
                f"{FORMAT}). Install that version: pip install --upgrade prodex."
            )
        lists = [_read_sheet(sheet, written.columns, returned) for sheet in sheets if sheet is not keys]
    if not any(lists):
        problem = "no sheet has the headings of a worklist: GTIN, Field and New value. Name its columns as they were."
        returned.problems.append(Problem(str(file), None, None, None, None, problem))
    _set_lost_aside(file, before, returned, known)


def _named_columns(number: int, row: Row) -> int:
    """Return how many columns of a worklist a row names."""
    del number
    found = headings_of(row, ())
    return 0 if found is None else len(found.places)


def _set_lost_aside(file: Path, before: int, returned: Returned, known: Known) -> None:
    """Make problems of the answers of a file in which letters were lost."""
    doubtful = [one for one in returned.answers[before:] if not LOST.isdisjoint(one.text)]
    if not doubtful:
        return
    lost = lost_letters(returned.doubtful.get(str(file), ()), known)
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


def _written(sheet: Sheet) -> Written:
    """Return what the hidden sheet says; somebody may have changed it, and then it says nothing."""
    found = {}
    for _, row in sheet.rows():
        name, value = row.get(0), row.get(1)
        if name is not None and value is not None:
            try:
                found[name.text] = json.loads(value.text)
            except (ValueError, RecursionError):
                continue
    try:
        return msgspec.convert(found, Written)
    except msgspec.ValidationError:
        return Written()


def _read_sheet(sheet: Sheet, listed: Sequence[str], returned: Returned) -> bool:
    """Read a sheet; return whether it is a list of findings at all."""
    headings: Headings | None = None
    merged = MergedCells(sheet.merged())
    for number, row in sheet.rows():
        if (found := headings_of(row, listed)) is not None:
            # Sheets that were copied below one another have their headings again.
            headings = found
            if found.missing and "new_value" in found.places:
                words = f"there is no column {' and none '.join(map(repr, found.missing))}"
                returned.problems.append(
                    _problem(sheet, number, None, f"{words}. Name the columns as they were.")
                )
            elif found.missing and "New value" in found.missing and "attribute" in found.places:
                words = "no column is called 'New value'. Name the one with the answers so"
                returned.problems.append(_problem(sheet, number, None, f"{words}."))
        elif headings is not None and not headings.missing:
            _read_row(sheet, number, row, headings, merged, returned)
    return headings is not None


def _read_row(
    sheet: Sheet, number: int, row: Row, headings: Headings, merged: MergedCells, returned: Returned
) -> None:
    keys = {}
    unusable: list[tuple[int, str, str]] = []
    for name in KEYS:
        place = headings.first(name)
        cell = None if place is None else merged.cell(number, place, row)
        if place is None or cell is None:
            continue
        if (why := _unusable_key(name, cell)) is not None:
            unusable.append((place, cell.text, why))
        elif text := _key_text(name, cell, sheet):
            keys[name] = text
    filled = [(place, row[place]) for place in headings.places["new_value"] if place in row]
    filled = [(place, cell) for place, cell in filled if cell.kind != "text" or cell.text.strip()]
    for place, cell in filled:
        why = _unusable(cell, merged.height(number, place))
        if why is not None:
            unusable.append((place, cell.text, why))
    # Cells whose place nobody knows may be the answer, or say what it is about.
    unusable += [
        (place, cell.text, f"{cell.problem}.") for place, cell in row.items() if place >= MOST_COLUMNS
    ]
    if filled or any(place >= MOST_COLUMNS for place, *_ in unusable):
        returned.problems += [_problem(sheet, number, place, why, text) for place, text, why in unusable]
    if not unusable:
        returned.answers += [
            Answer(
                str(sheet.file),
                sheet.name,
                number,
                place_of(number, place),
                trimmed(_verbatim(cell, sheet)),
                cell.kind,
                keys,
                cell.shown,
            )
            for place, cell in filled
        ]
    returned.rows += not filled
    doubtful = returned.doubtful.setdefault(str(sheet.file), set())
    doubtful |= {
        cell.text
        for place, cell in row.items()
        if place not in headings.places["new_value"] and not LOST.isdisjoint(cell.text)
    }


def _key_text(name: str, cell: Cell, sheet: Sheet) -> str:
    # The value that was seen is compared with texts to the last character.
    if name == "value":
        return cell.shown or _verbatim(cell, sheet)
    # Ids have no zeros before them, whatever the format of their column adds.
    shown = cell.text if name == "product_id" else cell.shown or cell.text
    return shown.strip().lstrip("'")


def _verbatim(cell: Cell, sheet: Sheet) -> str:
    """Return the text of a cell; in a CSV file, an apostrophe may stand before what looks like a formula."""
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
    cell = None if column is None else place_of(row, column)
    return Problem(str(sheet.file), sheet.name, row, cell, text, problem)


def place_in_words(file: str | None, sheet: str | None, row: int | None, cell: str | None) -> str:
    """Return where an answer stands: file, sheet and cell, or the number of a correction that was typed.

    >>> place_in_words("/home/eva/to_fix/ACME.xlsx", "To fix", 5, "L5"), place_in_words("", "", 2, "")
    ('ACME.xlsx To fix L5', 'correction 2')
    """
    if not file:
        return f"correction {row}"
    # Its folder is nobody else's business.
    return " ".join(filter(None, [file.replace("\\", "/").rpartition("/")[2], sheet, cell]))
