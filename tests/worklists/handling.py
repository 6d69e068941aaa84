"""What people do to a workbook before they send it back, done by a program that is not ours (openpyxl, XlsxWriter).

Each way takes the path of a filled worklist and leaves files in its place; none changes what an answer says.
"""

from __future__ import annotations

import csv
import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import Any

from openpyxl import Workbook, load_workbook
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.comments import Comment
from openpyxl.styles import PatternFill
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.table import Table
from openpyxl.worksheet.worksheet import Worksheet
from xlsxwriter import Workbook as WrittenBook

from prodex.worklists.row_keys import RowKey

WAYS: dict[str, Callable[[Path], None]] = {}
#: Those after which no row says any more which question it is, beside a hidden sheet that says who was asked: a person
#: has to confirm the answers.
TO_CONFIRM = ("column_of_keys_removed", "rows_written_by_hand")
#: Those that change the sheet alone.
_OF_SHEET: dict[str, Callable[[Worksheet], None]] = {}


def way(does: Callable[..., None]) -> Callable[..., None]:
    """Register a way that changes the sheet "To fix" of a workbook in place."""

    def apply(path: Path) -> None:
        with _sheet_of(path) as sheet:
            handle(sheet)

    def handle(sheet: Worksheet) -> None:
        sheet.protection.disable()
        does(sheet)

    WAYS[does.__name__] = apply
    _OF_SHEET[does.__name__] = handle
    return does


@contextmanager
def _sheet_of(path: Path) -> Iterator[Worksheet]:
    """Change the sheet "To fix" of a workbook in place."""
    book = load_workbook(path)
    yield book["To fix"]
    book.save(path)


def way_of_file(does: Callable[[Path], None]) -> Callable[[Path], None]:
    """Register a way that replaces the file."""
    WAYS[does.__name__] = does
    return does


def rows_of(sheet: Worksheet) -> list[list[Any]]:
    """Return the cells of a sheet, headings first."""
    return [[cell.value for cell in row] for row in sheet.iter_rows()]


def written(sheet: Worksheet, rows: list[list[Any]]) -> None:
    """Write rows into a sheet in place of what it has."""
    sheet.delete_rows(1, sheet.max_row)
    for row in rows:
        sheet.append(row)


def place(sheet: Worksheet, heading: str) -> int:
    """Return the number of a column."""
    return [cell.value for cell in sheet[1]].index(heading) + 1


def key_at(sheet: Worksheet, number: int) -> RowKey:
    """Return the key of a row."""
    key = RowKey.read(sheet.cell(number, place(sheet, "Row key")).value)
    assert key is not None
    return key


def filled(sheet: Worksheet) -> Iterator[int]:
    """Yield the numbers of the rows with an answer."""
    column = place(sheet, "New value")
    for number in range(2, sheet.max_row + 1):
        if sheet.cell(number, column).value:
            yield number


@way
def rows_sorted_by_the_answer(sheet: Worksheet) -> None:
    heading, *rows = rows_of(sheet)
    column = place(sheet, "New value") - 1
    written(sheet, [heading, *sorted(rows, key=lambda row: str(row[column] or "~"))])


@way
def rows_shuffled(sheet: Worksheet) -> None:
    heading, *rows = rows_of(sheet)
    random.Random(1).shuffle(rows)
    written(sheet, [heading, *rows])


@way
def rows_without_an_answer_removed(sheet: Worksheet) -> None:
    keep = set(filled(sheet))
    written(sheet, [row for number, row in enumerate(rows_of(sheet), 1) if number == 1 or number in keep])


@way
def rows_filtered(sheet: Worksheet) -> None:
    for number in range(2, sheet.max_row + 1, 2):
        sheet.row_dimensions[number].hidden = True


@way
def columns_reversed(sheet: Worksheet) -> None:
    written(sheet, [row[::-1] for row in rows_of(sheet)])


@way
def columns_hidden(sheet: Worksheet) -> None:
    for column in range(3, sheet.max_column + 1, 2):
        sheet.column_dimensions[get_column_letter(column)].hidden = True


@way
def columns_shown(sheet: Worksheet) -> None:
    for column in range(1, sheet.max_column + 1):
        sheet.column_dimensions[get_column_letter(column)].hidden = False


@way
def columns_for_notes_inserted(sheet: Worksheet) -> None:
    answered = set(filled(sheet))
    row = next((number for number in range(2, sheet.max_row + 1) if number not in answered), 2)
    for before in (1, 5, 9):
        sheet.insert_cols(before)
        sheet.cell(1, before, f"Our notes {before}")
        sheet.cell(row, before, "asked Ben")


@way
def column_of_keys_removed(sheet: Worksheet) -> None:
    sheet.delete_cols(place(sheet, "Row key"))


@way
def explanations_removed(sheet: Worksheet) -> None:
    for heading in (
        "Severity",
        "Problem",
        "What is wrong",
        "How to fix",
        "Expected",
        "Market",
        "Name",
        "Required by",
    ):
        sheet.delete_cols(place(sheet, heading))


@way
def heading_renamed(sheet: Worksheet) -> None:
    sheet.cell(1, place(sheet, "New value")).value = "Nouvelle valeur"


@way
def headings_in_other_letters(sheet: Worksheet) -> None:
    for cell in sheet[1]:
        cell.value = f"  {str(cell.value).upper().replace(' ', '  ')}\n"


@way
def sheet_renamed(sheet: Worksheet) -> None:
    sheet.title = "Antworten März"


@way
def gtins_as_numbers(sheet: Worksheet) -> None:
    column = place(sheet, "GTIN")
    for number in range(2, sheet.max_row + 1):
        cell = sheet.cell(number, column)
        cell.value, cell.number_format = int(cell.value), "0"


@way
def gtins_with_spaces(sheet: Worksheet) -> None:
    column = place(sheet, "GTIN")
    for number in range(2, sheet.max_row + 1):
        digits = sheet.cell(number, column).value
        sheet.cell(number, column).value = f" {digits[:1]} {digits[1:7]} {digits[7:]} "


@way
def title_above(sheet: Worksheet) -> None:
    rows = rows_of(sheet)
    written(sheet, [["Our answers, with thanks"], [], ["Field", "see below"], *rows])


@way
def empty_rows_between(sheet: Worksheet) -> None:
    written(sheet, [line for row in rows_of(sheet) for line in (row, [])])


@way
def a_cell_far_below(sheet: Worksheet) -> None:
    sheet.cell(1_000_000, 16_000).fill = PatternFill("solid", fgColor="FFFF00")
    sheet.cell(900_000, 3).value = " "


@way
def spaces_around_answers(sheet: Worksheet) -> None:
    column = place(sheet, "New value")
    for number in filled(sheet):
        sheet.cell(number, column).value = f" \u00a0{sheet.cell(number, column).value}\u00a0  "


@way
def line_ends_after_answers(sheet: Worksheet) -> None:
    column = place(sheet, "New value")
    for number in filled(sheet):
        sheet.cell(number, column).value = f"{sheet.cell(number, column).value}\r\n\n"


@way
def answers_in_colours(sheet: Worksheet) -> None:
    column = place(sheet, "New value")
    for number in filled(sheet):
        text = str(sheet.cell(number, column).value)
        half = len(text) // 2
        red = TextBlock(InlineFont(color="FF0000", b=True), text[half:])
        sheet.cell(number, column).value = CellRichText(text[:half], red)


@way
def comments_at_cells(sheet: Worksheet) -> None:
    for number in filled(sheet):
        sheet.cell(number, 1).comment = Comment("Please check, Ben", "Ben")


@way
def keys_merged(sheet: Worksheet) -> None:
    heading, *rows = rows_of(sheet)
    rows.sort(key=lambda row: row[0])
    written(sheet, [heading, *rows])
    # Nothing that differs between the rows of a product: a spreadsheet keeps the first of merged cells only.
    keys = [place(sheet, name) for name in ("GTIN", "Name")]
    first = 2
    for number in range(3, len(rows) + 3):
        if number == len(rows) + 2 or rows[number - 2][0] != rows[first - 2][0]:
            if number - first > 1:
                for column in keys:
                    sheet.merge_cells(
                        start_row=first, end_row=number - 1, start_column=column, end_column=column
                    )
            first = number


@way
def answers_merged_with_the_next_column(sheet: Worksheet) -> None:
    column = place(sheet, "New value")
    for number in filled(sheet):
        sheet.merge_cells(start_row=number, end_row=number, start_column=column, end_column=column + 1)


@way
def languages_by_name(sheet: Worksheet) -> None:
    names = {"fr": "French", "nl": "Niederländisch", "es": "español"}
    column = place(sheet, "Language")
    for number in range(2, sheet.max_row + 1):
        cell = sheet.cell(number, column)
        cell.value = names.get(cell.value, cell.value)


@way
def as_a_table(sheet: Worksheet) -> None:
    sheet.auto_filter.ref = None
    sheet.add_table(
        Table(displayName="Answers", ref=f"A1:{get_column_letter(sheet.max_column)}{sheet.max_row}")
    )


@way
def pasted_below_with_its_headings(sheet: Worksheet) -> None:
    heading, *rows = rows_of(sheet)
    half = len(rows) // 2
    written(sheet, [heading, *rows[:half], [], heading, *rows[half:]])


@way
def rows_written_by_hand(sheet: Worksheet) -> None:
    heading = [cell.value for cell in sheet[1]]
    made = [heading]
    for row in rows_of(sheet)[1:]:
        by_name = dict(zip(heading, row, strict=True))
        kept = ("GTIN", "Asked for", "Language", "Value seen", "New value")
        made.append([by_name[name] if name in kept else None for name in heading])
    written(sheet, made)


@way_of_file
def copied_into_another_workbook(path: Path) -> None:
    rows = rows_of(load_workbook(path)["To fix"])
    book = Workbook()
    book.active.title = "Budget"
    book.active.append(["Budget", 2026])
    sheet = book.create_sheet("Sheet7")
    for row in rows:
        sheet.append(row)
    book.save(path)


@way_of_file
def what_is_shown_copied_into_another_workbook(path: Path) -> None:
    sheet = load_workbook(path)["To fix"]
    shown = [
        number
        for number in range(sheet.max_column)
        if not sheet.column_dimensions[get_column_letter(number + 1)].hidden
    ]
    book = Workbook()
    for row in rows_of(sheet):
        book.active.append([row[number] for number in shown])
    book.save(path)


@way_of_file
def formulas_with_their_results(path: Path) -> None:
    rows = rows_of(load_workbook(path)["To fix"])
    column = rows[0].index("New value")
    path.unlink()
    book = WrittenBook(str(path))
    sheet = book.add_worksheet("To fix")
    for number, row in enumerate(rows):
        for place_, value in enumerate(row):
            if value is not None and number and place_ == column:
                sheet.write_formula(number, place_, "=VLOOKUP(A2,[prices.xlsx]S!A:B,2,0)", None, value)
            elif value is not None:
                sheet.write(number, place_, value)
    book.close()


@way_of_file
def split_into_two_files(path: Path) -> None:
    second = path.with_name(f"{path.stem} (2).xlsx")
    rows = rows_of(load_workbook(path)["To fix"])
    half = len(rows) // 2
    for target, kept in ((second, [rows[0], *rows[half:]]), (path, rows[:half])):
        book = load_workbook(path)
        written(book["To fix"], kept)
        book.save(target)


@way_of_file
def in_two_sheets(path: Path) -> None:
    book = load_workbook(path)
    sheet = book["To fix"]
    rows = rows_of(sheet)
    half = len(rows) // 2
    other = book.create_sheet("To fix (2)")
    for row in [rows[0], *rows[half:]]:
        other.append(row)
    written(sheet, rows[:half])
    book.save(path)


@way_of_file
def with_macros(path: Path) -> None:
    path.rename(path.with_suffix(".xlsm"))


@way_of_file
def as_csv_of_a_western_spreadsheet(path: Path) -> None:
    as_csv(path, ";", "cp1252", "replace")


@way_of_file
def as_csv_in_utf_8(path: Path) -> None:
    as_csv(path, ",", "utf-8-sig")


@way_of_file
def as_unicode_text(path: Path) -> None:
    as_csv(path, "\t", "utf-16", ending=".txt")


def as_csv(path: Path, separator: str, encoding: str, errors: str = "strict", ending: str = ".csv") -> None:
    """Save the sheet "To fix" as CSV, and remove the workbook."""
    rows = rows_of(load_workbook(path)["To fix"])
    with path.with_suffix(ending).open("w", encoding=encoding, errors=errors, newline="") as file:
        csv.writer(file, delimiter=separator).writerows(rows)
    path.unlink()


@way_of_file
def answered_twice_alike(path: Path) -> None:
    book = load_workbook(path)
    book.save(path.with_name(f"Copy of {path.name}"))


def fill(path: Path, answers: dict[int, str]) -> None:
    """Write answers into the rows of a worklist, by the number of the row."""
    with _sheet_of(path) as sheet:
        _fill(sheet, answers)


def fill_and_handle(path: Path, answers: dict[int, str], name: str) -> None:
    """Write answers into a worklist and do one of the ways to it; a workbook takes long to open and to save."""
    if name not in _OF_SHEET:
        fill(path, answers)
        WAYS[name](path)
        return
    with _sheet_of(path) as sheet:
        _fill(sheet, answers)
        _OF_SHEET[name](sheet)


def _fill(sheet: Worksheet, answers: dict[int, str]) -> None:
    column = place(sheet, "New value")
    for number, answer in answers.items():
        style = copy(sheet.cell(number + 1, column)._style)
        sheet.cell(number + 1, column, answer)._style = style


def filled_rows(file: Path) -> int:
    """Return how many rows of a file below headings are not empty, as another program sees it."""
    if file.suffix in {".xlsx", ".xlsm"}:
        sheets = [_cells(sheet) for sheet in load_workbook(file).worksheets]
    else:
        raw = file.read_bytes()
        decoded = (
            raw.decode("utf-16")
            if raw[:2] in {b"\xff\xfe", b"\xfe\xff"}
            else raw.decode("utf-8-sig", "replace")
        )
        separator = max(",;\t", key=decoded.splitlines()[0].count)
        sheets = [list(csv.reader(decoded.splitlines(keepends=True), delimiter=separator))]
    found = 0
    for rows in sheets:
        is_below = False
        for row in rows:
            cells = {re.sub(r"[\W_]+", "", str(cell)).casefold() for cell in row if cell is not None}
            if "gtin" in cells and cells & {"askedfor", "field", "attribute"}:
                is_below = True
            elif is_below and any(str(cell).strip() for cell in row if cell is not None):
                found += 1
    return found


def _cells(sheet: Worksheet) -> list[list[Any]]:
    """Return the cells that are there: a sheet may have one of them in row 1,000,000."""
    rows: dict[int, list[Any]] = {}
    for (row, _), cell in sorted(sheet._cells.items()):
        rows.setdefault(row, []).append(cell.value)
    return list(rows.values())
