"""A cell has a kind: what a spreadsheet made of what was typed is told apart from text, and what it shows is known."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import Any

from openpyxl import Workbook
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.styles import Font
from xlsxwriter import Workbook as WrittenBook

from prodex.formats.workbook_cells import Cell
from tests.cases import each_row

from .archives import book_of, cells

#: What is stored, with its number format: kind and text, and what the spreadsheet shows where that is the same value.
SHOWN: list[tuple[Any, str, str, str, str | None]] = [
    (12, "0000", "number", "12", "0012"),
    (12345, "0000", "number", "12345", "12345"),
    (0, "0000", "number", "0", "0000"),
    (-12, "0000", "number", "-12", "-0012"),
    (-12, "0000;-0000", "number", "-12", "-0012"),
    (3036811359935, "00000000000000", "number", "3036811359935", "03036811359935"),
    (3036811359935, "0000000000000#", "number", "3036811359935", "03036811359935"),
    (12, "[Red]0000", "number", "12", "0012"),
    (12, "[$-407]0000_)", "number", "12", "0012"),
    (12, "0000;@", "number", "12", "0012"),
    (1.5, "0.00", "number", "1.5", "1.50"),
    (1.5, "0.0##", "number", "1.5", "1.5"),
    (12, "00.0", "number", "12", "12.0"),
    (0.5, "0%", "percentage", "50", "50%"),
    (0.125, "0.0%", "percentage", "12.5", "12.5%"),
    (0.5, "0.00%", "percentage", "50", "50.00%"),
    (0.5, "0 %", "percentage", "50", "50 %"),
    # A percent sign in quotes is a word, and multiplies nothing.
    (50, '0" %"', "number", "50", "50 %"),
    (0.5, "0\\ %", "percentage", "50", "50 %"),
    (0.29, "0%", "percentage", "29", "29%"),
    (-0.5, "0%", "percentage", "-50", "-50%"),
    # Nothing is padded: somebody typed 0012, 1E2 or a number.
    (12, "General", "number", "12", None),
    (12, "0", "number", "12", None),
    (12, "#", "number", "12", None),
    (12, "@", "number", "12", None),
    (100, "0.00E+00", "number", "100", None),
    (1234, "#,##0", "number", "1234", None),
    (0.5, "# ?/?", "number", "0.5", None),
    # What is shown is another value, or more than the value.
    (12.5, "0000", "number", "12.5", None),
    (1.567, "0.00", "number", "1.567", None),
    (0.125, "0%", "percentage", "12.5", None),
    (12, '"EAN "0000', "number", "12", None),
    (1234, "00-00", "number", "1234", None),
    (-12, "0000;(0000)", "number", "-12", None),
    (12, "[<100]0000;0", "number", "12", None),
    (0, "0000;-0000;", "number", "0", None),
    (12, "0000,", "number", "12", None),
    (12, "0000.", "number", "12", None),
    # A spreadsheet made them of MAR1, of a time and of TRUE.
    (datetime(2026, 3, 1), "d-mmm", "date", "2026-03-01", None),  # noqa: DTZ001 - a workbook knows no zone
    (datetime(2026, 3, 1, 8, 30), "m/d/yy h:mm", "date", "2026-03-01T08:30:00", None),  # noqa: DTZ001
    (date(1900, 1, 1), "yyyy-mm-dd", "date", "1900-01-01", None),
    (46082, "[$-F800]dddd\\,\\ mmmm\\ dd\\,\\ yyyy", "date", "2026-03-01", None),
    (True, "General", "boolean", "true", None),
    (False, "0%", "boolean", "false", None),
    ("0012", "0000", "text", "0012", None),
    ("50 %", "0%", "text", "50 %", None),
]  # fmt: skip


def test_what_a_format_only_pads_or_shows_as_percent_is_known(tmp_path: Path) -> None:
    """As the spreadsheet shows it, where that is the same value; of everything else the kind is known."""
    made = Workbook()
    for row, (value, code, *_) in enumerate(SHOWN, 1):
        made.active.cell(row, 1, value).number_format = code
    made.save(tmp_path / "a.xlsx")
    found = cells(tmp_path / "a.xlsx")

    expected = {f"A{row}": Cell(said, kind, shown) for row, (*_, kind, said, shown) in enumerate(SHOWN, 1)}  # type: ignore[arg-type]
    assert expected == found


@each_row("number", [9, 10, 14, 22, 27, 36, 45, 47, 50, 57, 49, 1, 2])
def test_formats_that_are_built_in_are_known(tmp_path: Path, number: int) -> None:
    """Dates of East Asia included, which have a number and no code."""
    styles = f'<cellXfs><xf numFmtId="0"/><xf numFmtId="{number}"/></cellXfs>'
    path = book_of(tmp_path / "a.xlsx", '<row r="1"><c r="A1" s="1"><v>0.5</v></c></row>', styles=styles)
    kind = {9: "percentage", 10: "percentage", 49: "number", 1: "number", 2: "number"}.get(number, "date")
    assert kind == cells(path)["A1"].kind


def test_text_that_is_struck_through_is_known(tmp_path: Path) -> None:
    """As a whole or in part, by the format of the cell or of a run; blanks that nobody sees do not count."""
    struck, plain, red = InlineFont(strike=True), InlineFont(strike=False), InlineFont(color="FF0000")
    made = Workbook()
    sheet = made.active
    for place, value, is_struck in [
        ("A1", "old", True),
        ("A2", 12, True),
        ("A3", CellRichText("new ", TextBlock(struck, "old")), False),
        ("A4", CellRichText("new", TextBlock(struck, "  ")), False),
        ("A5", CellRichText("new ", TextBlock(plain, "and new")), False),
        ("A6", CellRichText(TextBlock(red, "red "), "as the cell"), True),
        ("A7", CellRichText(TextBlock(red, "red "), TextBlock(plain, "plain")), True),
        ("A8", "plain", False),
    ]:
        sheet[place] = value
        if is_struck:
            sheet[place].font = Font(strike=True)
    made.save(tmp_path / "a.xlsx")
    expected = {
        "A1": True,
        "A2": True,
        "A3": True,
        "A4": False,
        "A5": False,
        "A6": True,
        "A7": False,
        "A8": False,
    }
    found = cells(tmp_path / "a.xlsx")
    assert expected == {place: cell.is_struck for place, cell in found.items()}
    assert ["old", "12", "new old", "new  ", "new and new"] == [found[f"A{row}"].text for row in range(1, 6)]

    book = WrittenBook(str(tmp_path / "b.xlsx"))
    format_ = book.add_format({"font_strikeout": True})
    page = book.add_worksheet()
    page.write_string(0, 0, "old", format_)
    page.write_rich_string(1, 0, "new ", format_, "old", " new")
    page.write_string(2, 0, "new")
    book.close()
    assert {"A1": True, "A2": True, "A3": False} == {
        place: cell.is_struck for place, cell in cells(tmp_path / "b.xlsx").items()
    }


def test_a_text_is_what_a_spreadsheet_shows(tmp_path: Path) -> None:
    """Without what says how to pronounce it, with codes read once, and whatever its font says."""
    shared = [
        "<si><t>plain</t></si>",
        "<si><r><t>a</t></r><r><rPr><family val='77'/><color rgb='red'/><b/></rPr><t>b</t></r></si>",
        "<si><t>東京</t><rPh sb='0' eb='2'><t>とうきょう</t></rPh><phoneticPr fontId='1'/></si>",
        "<si><t>a_x000D_b_x005F_x0041__x005f_</t></si>",
        "<si><t>_xD83D__xDE00_ and 😀</t></si>",
        "<si><r><t>_xD83D_</t></r><r><t>_xDE00_</t></r></si>",
        "<si><t xml:space='preserve'>  x </t></si>",
        "<si/>",
        "<si><t/></si>",
    ]
    rows = "".join(
        f'<row r="{row}"><c r="A{row}" t="s"><v>{row - 1}</v></c>'
        f'<c r="B{row}" t="inlineStr">{one.replace("<si", "<is").replace("/si>", "/is>")}</c></row>'
        for row, one in enumerate(shared, 1)
    )
    found = cells(book_of(tmp_path / "a.xlsx", rows, shared="".join(shared)))
    expected = ["plain", "ab", "東京", "a\rb_x0041__", "😀 and 😀", "😀", "  x "]
    for column in "AB":
        assert {f"{column}{row}": Cell(one, "text") for row, one in enumerate(expected, 1)} == {
            place: cell for place, cell in found.items() if place[0] == column
        }
