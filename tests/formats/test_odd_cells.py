"""One cell costs one cell: whatever is wrong with it, the others are read, and its problem is known with its place."""

from __future__ import annotations

from pathlib import Path

from prodex.formats.spreadsheet_files import sheets_of
from prodex.formats.workbook_cells import Cell, Row, cell_place
from tests.cases import each_row

from .archives import book_of, cells, text

STYLES = (
    '<numFmts><numFmt numFmtId="170" formatCode="yyyy-mm-dd"/></numFmts>'
    '<cellXfs><xf numFmtId="0"/><xf numFmtId="170"/></cellXfs>'
)
DIGITS = "9" * 4301

#: A cell that cannot be read at B2 -> words of its problem.
ODD: dict[str, tuple[str, str]] = {
    "a GTIN as a date": ('<c r="B2" s="1"><v>4006381333931</v></c>', "4006381333931 is not a date"),
    "a day before all days": ('<c r="B2" s="1"><v>-5</v></c>', "-5 is not a date"),
    "a day after all days": ('<c r="B2" s="1"><v>2958466</v></c>', "2958466 is not a date"),
    "a day beyond numbers": ('<c r="B2" s="1"><v>1e20</v></c>', "is not a date"),
    "a date beyond digits": (f'<c r="B2" s="1"><v>{DIGITS}</v></c>', "4,301 characters"),
    "a number beyond digits": (f'<c r="B2"><v>{DIGITS}</v></c>', "4,301 characters"),
    "a number beyond doubles": ('<c r="B2"><v>1E400</v></c>', "'1E400' is not a number"),
    "an endless number": ('<c r="B2"><v>Infinity</v></c>', "'Infinity' is not a number"),
    "not a number": ('<c r="B2"><v>NaN</v></c>', "'NaN' is not a number"),
    "a comma": ('<c r="B2"><v>12,5</v></c>', "'12,5' is not a number"),
    "digits with lines": ('<c r="B2"><v>1_000</v></c>', "'1_000' is not a number"),
    "other digits": ('<c r="B2"><v>１２</v></c>', "is not a number"),
    "words as a number": ('<c r="B2" t="n"><v>twelve</v></c>', "'twelve' is not a number"),
    "a text that is not there": ('<c r="B2" t="s"><v>7</v></c>', "'7' is not a text"),
    "a text before the first": ('<c r="B2" t="s"><v>-1</v></c>', "'-1' is not a text"),
    "a text without a number": ('<c r="B2" t="s"><v>first</v></c>', "'first' is not a text"),
    "a text beyond digits": (f'<c r="B2" t="s"><v>{DIGITS}</v></c>', "4,301 characters"),
    "neither true nor false": ('<c r="B2" t="b"><v>maybe</v></c>', "'maybe' is neither true nor false"),
    "no day of the year": ('<c r="B2" t="d"><v>2026-13-45</v></c>', "'2026-13-45' is not a date"),
    "a day and more": ('<c r="B2" t="d"><v>2026-11-23 or so</v></c>', "is not a date"),
    "a kind that is unknown": ('<c r="B2" t="zip"><v>1</v></c>', "unknown kind 'zip'"),
    "an error without a name": ('<c r="B2" t="e"><v/></c>', "an error"),
    "half a character": (text("_xD83D_", "B2"), "half a character"),
    "the other half first": (text("_xDE00__xD83D_", "B2"), "half a character"),
    "there twice": ('<c r="B2"><v>1</v></c><c r="B2"><v>2</v></c>', "twice"),
    "in another row": ('<c r="B7"><v>1</v></c>', "'B7'"),
}  # fmt: skip


@each_row("case", ODD)
def test_a_cell_that_cannot_be_read_costs_itself(tmp_path: Path, case: str) -> None:
    """Its neighbours, its row and its sheet are read."""
    xml, words = ODD[case]
    rows = (
        f'<row r="1">{text("above", "B1")}</row>'
        f'<row r="2">{text("before", "A2")}{xml}{text("after", "C2")}</row>'
        f'<row r="3">{text("below", "B3")}</row>'
    )
    found = cells(book_of(tmp_path / "a.xlsx", rows, shared="<si><t>x</t></si>", styles=STYLES))
    odd = found.pop("B2")
    assert "unreadable" == odd.kind
    assert words in str(odd.problem)
    assert len(str(odd.problem)) < 200
    assert {"A2": "before", "B1": "above", "B3": "below", "C2": "after"} == {
        place: cell.text for place, cell in found.items()
    }


#: A place that is none.
NOWHERE = ["AAAA2", "XFE2", "B0", "2", "B", "B2.5", "B-2", "ä2", "B2:C3", f"B{DIGITS}", "$B", " "]


@each_row("place", NOWHERE, ids=lambda place: ascii(place)[:12])
def test_a_cell_without_a_place_is_listed_with_its_row(tmp_path: Path, place: str) -> None:
    """Nobody knows which column it is of, so that it is neither the answer nor anything else."""
    odd = f'<c r="{place}"><v>7</v></c>'
    rows = f'<row r="2">{text("before", "A2")}{odd}{text("after", "C2")}{odd}</row>'
    ((number, row),) = _rows(book_of(tmp_path / "a.xlsx", rows))
    texts = {cell_place(number, column): cell.text for column, cell in row.items() if cell.kind == "text"}
    assert {"A2": "before", "C2": "after"} == texts
    problems = {column: cell for column, cell in row.items() if cell.kind != "text"}
    assert [("?2", "7"), ("?2-2", "7")] == [
        (cell_place(number, column), cell.text) for column, cell in problems.items()
    ]
    assert all("is not a place" in str(cell.problem) for cell in problems.values())


@each_row(
    "number",
    ["abc", "0", "-1", "1048577", "2.5", "1e3", DIGITS, "", "１"],
    ids=lambda number: ascii(number)[:12],
)
def test_a_row_without_a_number_is_listed_cell_by_cell(tmp_path: Path, number: str) -> None:
    """None of its cells is used; the rows around it are read."""
    rows = (
        f'<row r="1">{text("above", "A1")}</row>'
        f'<row r="{number}">{text("x", "A2")}{text("y", "C2")}</row>'
        f'<row r="3">{text("below", "A3")}</row>'
    )
    found = cells(book_of(tmp_path / "a.xlsx", rows))
    assert ("above", "below") == (found["A1"].text, found["A3"].text)
    odd = [found["A2"], found["C2"]]
    assert [("x", "unreadable"), ("y", "unreadable")] == [one[:2] for one in odd]
    assert all("row" in str(one.problem) for one in odd)


def test_a_row_that_is_there_twice_is_listed(tmp_path: Path) -> None:
    """Its second half may be meant for another one; rows in another order are read."""
    rows = "".join(f'<row r="{row}">{text(str(n), f"A{row}")}</row>' for n, row in enumerate([1, 5, 3, 5]))
    with_kinds = [
        (number, [cell[:2] for cell in row.values()])
        for number, row in _rows(book_of(tmp_path / "a.xlsx", rows))
    ]
    assert [
        (1, [("0", "text")]),
        (5, [("1", "text")]),
        (3, [("2", "text")]),
        (5, [("3", "unreadable")]),
    ] == with_kinds


def _rows(path: Path) -> list[tuple[int, Row]]:
    with sheets_of(path) as (sheet,):
        return list(sheet.rows())


def test_what_is_certain_is_read(tmp_path: Path) -> None:
    """Places in small letters or fixed, none at all, formats that are not there, and blanks around a number."""
    rows = (
        '<row r="1"><c r="a1"><v>1</v></c><c r="$B$1"><v> 2 </v></c><c r="C1" s="99"><v>3</v></c>'
        '<c r="D1" s="x"><v>4</v></c><c r="E1" s="-1"><v>5</v></c></row>'
        '<row><c><v>1.0</v></c><c t="b"><v>true</v></c><c t="b"><v>1</v></c><c t="b"><v>false</v></c></row>'
        '<row r="4"><c r="B4"><v>1</v></c><c><v>2E+2</v></c><c/><c><v>4</v></c></row>'
    )
    found = cells(book_of(tmp_path / "a.xlsx", rows))
    assert {
        "A1": "1",
        "B1": "2",
        "C1": "3",
        "D1": "4",
        "E1": "5",
        "A2": "1",
        "B2": "true",
        "C2": "true",
        "D2": "false",
        "B4": "1",
        "C4": "200",
        "E4": "4",
    } == {place: cell.text for place, cell in found.items()}


def test_a_formula_has_its_result_or_none(tmp_path: Path) -> None:
    """Nothing is computed; an empty result is an empty cell, and a result that is an error is that error."""
    rows = (
        '<row r="1"><c r="A1"><f>1+1</f></c><c r="B1"><f>1+</f><v>2</v></c>'
        '<c r="C1" t="str"><f>A9</f><v></v></c><c r="D1" t="str"><f>A9</f><v>a_x0041_</v></c>'
        '<c r="E1" t="e"><f>1/0</f><v>#DIV/0!</v></c><c r="F1"><f t="shared" si="9"/></c>'
        '<c r="G1" t="s"><f>A1</f></c><c r="H1"><f t="dataTable" ref="A1"/><v>3</v></c></row>'
    )
    found = cells(book_of(tmp_path / "a.xlsx", rows))
    assert {
        "A1": Cell("", "formula"),
        "B1": Cell("2", "number", is_computed=True),
        "D1": Cell("aA", "text", is_computed=True),
        "E1": Cell("#DIV/0!", "error", is_computed=True),
        "F1": Cell("", "formula"),
        "G1": Cell("", "formula"),
        "H1": Cell("3", "number", is_computed=True),
    } == found
