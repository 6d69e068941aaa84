"""A file costs what it has: reading is linear in its cells, or refused at the limits with our error."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

import pandas as pd
import pytest

import prodex
from prodex import limits
from prodex.errors import InputError, SpreadsheetUnreadable
from prodex.formats.spreadsheet_files import MergedCells, sheets_of
from prodex.formats.workbook_cells import Cell
from prodex.worklists.answer_files import read_files

from .archives import MAIN, Parts, book_of, rewritten, text

ONE = '<row r="1"><c r="A1" s="7"><v>1</v></c></row>'
MANY = 100_000
LONG = 20_000_000
#: Elements of XML, more than a file of few bytes may have; and where the limit is made smaller.
ELEMENTS, FEWER, LIMIT = 1_100_000, 220_000, 200_000


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """See that something takes no more processor time than that: several times what it takes, and a tenth of before."""
    begin = time.process_time()
    yield
    assert time.process_time() - begin < seconds


def with_part(path: Path, name: str, change: Callable[[bytes], bytes]) -> Path:
    """Change a part of a workbook of one cell."""

    def changed(parts: Parts) -> Parts:
        return parts | {name: change(parts[name])}

    return rewritten(book_of(path, ONE), changed)


def in_workbook(xml: bytes) -> Callable[[Path], Path]:
    """Return what puts elements into the list of sheets, behind it."""
    return lambda path: with_part(
        path, "xl/workbook.xml", lambda old: old.replace(b"</sheets>", b"</sheets>" + xml)
    )


#: A workbook of few bytes that takes long, or much memory, if each of its elements is made an object.
READ: dict[str, Callable[[Path], Path]] = {
    "formats": lambda path: book_of(
        path, ONE, styles="<cellXfs>" + '<xf numFmtId="9" fontId="1"/>' * MANY + "</cellXfs>"
    ),
    "codes of formats": lambda path: book_of(
        path,
        ONE,
        styles="<numFmts>"
        + "".join(f'<numFmt numFmtId="{n}" formatCode="0.{n}"/>' for n in range(200, 20_000))
        + "</numFmts><cellXfs>"
        + "".join(f'<xf numFmtId="{n}"/>' for n in range(20_000))
        + "</cellXfs>",
    ),
    "a code without end": lambda path: book_of(
        path,
        ONE,
        styles="<numFmts><numFmt numFmtId='170' formatCode='"
        + "[&quot;" * 300_000
        + "'/></numFmts><cellXfs><xf numFmtId='170'/></cellXfs>",
    ),
    "fonts": lambda path: book_of(path, ONE, styles=f"<fonts>{'<font><strike/></font>' * MANY}</fonts>"),
    "texts": lambda path: book_of(path, ONE, shared="<si><t>x</t></si>" * (MANY // 2)),
    "rules": lambda path: book_of(
        path,
        ONE,
        after="<conditionalFormatting>"
        + "<cfRule/>" * MANY
        + "</conditionalFormatting><dataValidations>"
        + '<dataValidation sqref="A1:XFD9"/>' * MANY
        + "</dataValidations>",
    ),
    "columns": lambda path: book_of(
        path, ONE, before="<cols>" + '<col min="1" max="16384"/>' * MANY + "</cols>"
    ),
    "names": in_workbook(b"<definedNames>" + b"<definedName>A1</definedName>" * MANY + b"</definedNames>"),
    "deep elements": lambda path: book_of(path, ONE, before="<a>" * MANY + "</a>" * MANY),
    "the whole sheet": lambda path: book_of(
        path,
        ONE + '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>',
        before='<dimension ref="A1:XFD1048576"/>',
    ),
    "last columns": lambda path: book_of(
        path, "".join(f'<row r="{n}"><c r="XFD{n}"><v>1</v></c></row>' for n in range(1, 20_001))
    ),
    "cells without places": lambda path: book_of(path, "<row>" + "<c><v>1</v></c>" * (MANY // 2) + "</row>"),
    "one place": lambda path: book_of(path, "<row>" + "<c r='A1'><v>1</v></c>" * (MANY // 2) + "</row>"),
    "runs": lambda path: book_of(
        path,
        '<row r="1"><c r="A1" t="inlineStr"><is>'
        + "<r><rPr><b/></rPr><t>a</t></r>" * 40_000
        + "</is></c></row>",
    ),
    "a text": lambda path: book_of(path, "<row>" + text("x" * LONG) + "</row>"),
    "a mark": lambda path: book_of(path, "<row><c x='" + ">" * LONG + "'><v>1</v></c></row>"),
    "a comment": lambda path: book_of(path, ONE, before=f"<!--{'>' * LONG}-->"),
    "codes of characters": lambda path: book_of(path, "<row>" + text("_xD83D_" * MANY) + "</row>"),
    "marks of ranges": lambda path: book_of(path, ONE, after="<mergeCell " * MANY),
    "digits": lambda path: book_of(path, ("<row><c><v>" + "9" * 4301 + "</v></c></row>") * 500),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", READ)
def test_what_is_not_read_costs_next_to_nothing(tmp_path: Path, case: str) -> None:
    """Cells are what is read; what is only beside them is passed over."""
    path = READ[case](tmp_path / "a.xlsx")
    with within(4), sheets_of(path) as (sheet,):
        sheet.merged()
        assert list(sheet.rows())


def test_no_row_is_lost_behind_what_is_long(tmp_path: Path) -> None:
    """New versions of the parser keep the last rows until the end: they are read as well."""
    last = "<row><c><v>7</v></c></row>"
    for length in (10, 5_000, 9_000, 20_000, 70_000, 300_000, 1_000_000):
        for long in (f"<c x='{'>' * length}'><v>1</v></c>", text("x" * length)):
            path = book_of(tmp_path / "a.xlsx", f"<row>{long}</row>{last * 3}")
            with sheets_of(path) as (sheet,):
                rows = list(sheet.rows())
            assert ["7"] * 3 == [row[0].text for _, row in rows[1:]]
            assert 4 == len(rows)


REFUSED: dict[str, Callable[[Path], Path]] = {
    "formats": lambda path: book_of(path, ONE, styles="<a/>" * ELEMENTS),
    "texts": lambda path: book_of(path, ONE, shared="<si/>" * FEWER),
    "rows": lambda path: book_of(path, "<row/>" * FEWER),
    "cells": lambda path: book_of(path, f"<row>{'<c/>' * FEWER}</row>"),
    "cells of a row": lambda path: book_of(path, f"<row>{'<c/>' * 800_000}</row>"),
    "names": in_workbook(b"<a/>" * FEWER),
    "ranges": lambda path: book_of(
        path, ONE, after="<mergeCells>" + '<mergeCell ref="A1:XFD1048576"/>' * 100_001 + "</mergeCells>"
    ),
}
#: Those that meet the limit of elements as it is, and the limits of rows and ranges before that.
WHOLE = {"formats", "cells of a row", "ranges"}


@pytest.mark.slow
@pytest.mark.parametrize("case", REFUSED)
def test_more_than_anybody_writes_is_refused(
    tmp_path: Path, case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Elements are counted with the bytes: a few kilobytes that unpack to millions of them are no workbook."""
    if case not in WHOLE:
        monkeypatch.setattr(limits, "_ELEMENTS_FROM", LIMIT)
    path = REFUSED[case](tmp_path / "a.xlsx")

    def read() -> None:
        with sheets_of(path) as (sheet,):
            sheet.merged()
            list(sheet.rows())

    words = "elements of XML|elements in one row|merged ranges"
    with within(8), pytest.raises(SpreadsheetUnreadable, match=words):
        read()


@pytest.mark.slow
def test_the_limit_of_seconds_holds_while_a_file_is_read(tmp_path: Path) -> None:
    """Of a workbook and of CSV, however small its pieces are."""
    rows = "".join(f'<row r="{n}"><c r="A{n}"><v>{n}</v></c></row>' for n in range(1, 30_001))
    book_of(tmp_path / "a.xlsx", rows)
    (tmp_path / "b.csv").write_text("a;b\n" * 100_000)

    def read(path: Path) -> None:
        with sheets_of(path, limits=prodex.limits.Limits(seconds=0.02)) as (sheet,):
            for _ in sheet.rows():
                time.sleep(0.00001)

    for name in ("a.xlsx", "b.csv"):
        with pytest.raises(SpreadsheetUnreadable, match=r"0\.02 s in all"):
            read(tmp_path / name)


@pytest.mark.slow
def test_merged_ranges_are_found_by_their_rows(tmp_path: Path) -> None:
    """Pairs of rows merged in two columns, ranges that overlap, and one that is larger than any sheet has cells."""
    del tmp_path
    pairs = [((row, column), (row + 1, column)) for row in range(2, 40_000, 2) for column in (0, 1)]
    with within(4):
        merged = MergedCells(pairs)
        for number in range(1, 40_000):
            row = {column: Cell(f"{number}", "text") for column in range(10) if number % 2 == 0 or column > 1}
            for column in range(10):
                above = number - number % 2 if number > 1 and column < 2 else number
                cell = merged.cell(number, column, row)
                assert (f"{above}" if number > 1 or column > 1 else None) == (cell and cell.text)
                assert merged.height(number, column) == (2 if number > 1 and column < 2 else 1)
    every = ((1, 0), (1_048_576, 16_383))
    with within(2):
        merged = MergedCells([every] * 100_000)
        assert [1_048_576, 1] == [merged.height(900_000, 5), MergedCells([]).height(1, 1)]
        for number in range(1, 2_000):
            merged.cell(number, 3, {3: Cell("x", "text")})
    overlapping = MergedCells([((1, 0), (3, 0)), ((2, 0), (9, 0)), ((5, 0), (6, 2))])
    assert [3, 3, 3, 1, 2, 2, 1] == [overlapping.height(number, 0) for number in range(1, 8)]


def test_a_cell_of_very_many_digits_stops_no_folder(tmp_path: Path) -> None:
    """More digits than Python reads as a number, in every column, as a number, a text, and in CSV."""
    digits, headings = "9" * 4301, ("GTIN", "Field", "Language", "Value seen", "New value")

    def book(path: Path, cell: str) -> None:
        rows = ["".join(map(text, headings))]
        rows += ["".join(cell if place == odd else text("x") for place in range(5)) for odd in range(5)]
        book_of(path, "".join(f"<row>{row}</row>" for row in rows))

    book(tmp_path / "a.xlsx", f"<c><v>{digits}</v></c>")
    book(tmp_path / "b.xlsx", text(digits))
    book(tmp_path / "c.xlsx", f"<c><f>{digits}</f><v>-{digits}E9</v></c>")
    lines = [";".join(digits if place == row else "x" for place in range(5)) for row in range(5)]
    (tmp_path / "d.csv").write_text("\n".join([";".join(headings), *lines]))
    returned = read_files(tmp_path)
    assert 4 == returned.files
    assert {"a.xlsx", "c.xlsx"} == {Path(one.file).name for one in returned.problems}
    assert ["A2", "B3", "C4", "D5", "E6"] * 2 == [one.cell for one in returned.problems]
    assert [5, 5] == [
        sum(one.file.endswith(name) for one in returned.answers) for name in ("b.xlsx", "d.csv")
    ]


CATALOG = prodex.flatten([{"id": 7, "gtin": "3036811359935", "kind": {"code": "A"}}])
#: Every function that reads what people give back, with a sheet that it reads.
GIVEN_BACK: dict[str, tuple[Callable[[Path], object], tuple[tuple[str, ...], ...]]] = {
    "requirements": (
        prodex.Requirements.read,
        (
            (
                *("channel", "market", "consumer_units", "family", "family_label", "family_parent"),
                *("attribute", "language", "level", "condition", "by"),
            ),
            ("Shop", "all", "", "*", "", "", "brand", "", "must", "", ""),
        ),
    ),
    "worklist": (
        lambda path: prodex.read_worklist(path, CATALOG),
        (("GTIN", "Field", "Language", "New value"), ("3036811359935", "nameLegal", "fr", "Sirop")),
    ),
    "platform": (
        prodex.read_workbook,
        (
            *(("My list", ""),) * 3,
            *(("gtin", "nameLegal"), ("GTIN", "Name"), ("", "French"), ("", "")),
            ("3036811359935", "Sirop"),
        ),
    ),
}


def with_sheets(path: Path, parts_of_sheets: list[str], rows: str) -> Path:
    """Write a workbook that lists sheets, each by the part that it is in."""
    package = "http://schemas.openxmlformats.org/package/2006/relationships"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    numbered = list(enumerate(parts_of_sheets, 1))

    def change(parts: Parts) -> Parts:
        sheet = parts["xl/worksheets/sheet1.xml"]
        listed = "".join(
            f'<sheet xmlns:r="{office}" name="S{n}" sheetId="{n}" r:id="q{n}"/>' for n, _ in numbered
        )
        related = "".join(
            f'<Relationship Id="q{n}" Type="{office}/worksheet" Target="worksheets/{part}"/>'
            for n, part in numbered
        )
        return {
            **parts,
            **{f"xl/worksheets/{part}": sheet for part in parts_of_sheets},
            "xl/workbook.xml": f'<workbook xmlns="{MAIN}"><sheets>{listed}</sheets></workbook>'.encode(),
            "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}">{related}</Relationships>'.encode(),
        }

    return rewritten(book_of(path, rows), change)


def in_rows(rows: tuple[tuple[str, ...], ...]) -> str:
    """Return rows as XML."""
    return "".join(
        f'<row r="{number}">' + "".join(map(text, row)) + "</row>" for number, row in enumerate(rows, 1)
    )


def refusal(read: Callable[[Path], object], path: Path) -> str:
    """Return why a file is not read, as an error or, of one file among several, as a problem."""
    try:
        found = read(path)
    except SpreadsheetUnreadable as error:
        return str(error)
    return (
        ""
        if not isinstance(found, prodex.worklists.Fix)
        else " ".join(map(str, found.refused.values.ravel()))
    )


@pytest.mark.slow
@pytest.mark.parametrize("reader", GIVEN_BACK)
def test_sheets_without_end_are_refused(tmp_path: Path, reader: str) -> None:
    """A thousand sheets are read; more are none that anybody looks at, and no sheet is read for several names."""
    read, rows = GIVEN_BACK[reader]
    path = with_sheets(tmp_path / "a.xlsx", [f"s{n}.xml" for n in range(3)], in_rows(rows))
    # Three sheets of requirements are two too many for another reason.
    with pytest.raises(InputError, match="are both") if reader == "requirements" else nullcontext():
        read(path)
    path = with_sheets(tmp_path / "b.xlsx", [f"s{n}.xml" for n in range(1_001)], in_rows(rows))
    assert "it has more than 1,000 sheets" in refusal(read, path)
    path = with_sheets(tmp_path / "c.xlsx", ["sheet1.xml"] * 100, in_rows(rows))
    assert "its sheet 'S2' is another one as well" in refusal(read, path)


#: Texts that nobody writes into a cell, by which whatever looks for words in it would take its square.
COSTLY = {
    "characters": ("x" * 100_001, "it has 100,001 characters, and 100,000 are read at most"),
    "words": ("x " * 60_000, "it has 120,000 characters"),
    "blanks": ("x" + " " * 501 + "y", "it has more than 500 blanks in a row"),
    "lines": ("x" + "\n" * 90_000 + "y", "it has more than 500 blanks in a row"),
}


def test_a_cell_without_end_is_a_cell_with_a_problem(tmp_path: Path) -> None:
    """In a workbook and in CSV; the cells beside it are read."""
    for words, problem in COSTLY.values():
        book_of(tmp_path / "a.xlsx", in_rows((("a", words, "b"),)))
        (tmp_path / "a.csv").write_text(f'a;"{words}";b\n')
        for name in ("a.xlsx", "a.csv"):
            with sheets_of(tmp_path / name, headings=lambda _, row: len(row)) as (sheet,):
                ((_, found),) = sheet.rows()
            assert ["text", "unreadable", "text"] == [found[place].kind for place in range(3)]
            assert problem in str(found[1].problem)
            assert len(found[1].text) <= 400


@pytest.mark.slow
@pytest.mark.parametrize("reader", GIVEN_BACK)
def test_such_a_cell_ends_in_words(tmp_path: Path, reader: str) -> None:
    """In every place of the last rows: each reader says what it is, or has no use for it."""
    read, rows = GIVEN_BACK[reader]
    for row in range(max(len(rows) - 5, 0), len(rows)):
        for column in range(len(rows[row])):
            for words, _ in COSTLY.values():
                changed = [list(one) for one in rows]
                changed[row][column] = words
                path = book_of(tmp_path / "a.xlsx", in_rows(tuple(map(tuple, changed))))
                with suppress(InputError):
                    read(path)


@pytest.mark.slow
def test_rows_without_end_are_refused(tmp_path: Path) -> None:
    """Of requirements a hundred thousand, of all other files so many that no sheet is left out."""
    path = tmp_path / "a.csv"
    path.write_text("Attribute;All families\n" + "Brand;must\n" * 100_000)
    with pytest.raises(
        SpreadsheetUnreadable, match=r"it has more than 100,000 rows with filled cells\. Split it"
    ):
        prodex.Requirements.read(path)
    path.write_text("a\n" * 30)
    with sheets_of(path, most_rows=30) as (sheet,):
        assert [30, 30] == [sum(1 for _ in sheet.rows()) for _ in range(2)]
    book = with_sheets(tmp_path / "b.xlsx", ["s1.xml", "s2.xml"], in_rows((("a",),) * 20))
    with sheets_of(book, most_rows=30) as sheets:
        assert 20 == sum(1 for _ in sheets[0].rows())
        with pytest.raises(SpreadsheetUnreadable, match="more than 30 rows"):
            list(sheets[1].rows())


def test_families_cost_what_they_are() -> None:
    """A thousand families that belong to each other are read; a longer way, or a circle of any length, is refused."""

    def chain(length: int, *, is_circle: bool = False) -> prodex.Requirements:
        rows = [
            {
                "channel": "Shop",
                "family": f"F{n}",
                "family_parent": f"F{n + 1}" if n + 1 < length else "F0" * is_circle,
                "attribute": "brand",
                "level": "must",
            }
            for n in range(length)
        ]
        return prodex.Requirements.of(pd.DataFrame(rows))

    wanted = chain(1_000)
    assert 1_001 == len(wanted.chain("F0"))
    assert all(wanted.asks(f"F{n}") for n in range(1_000))
    with pytest.raises(
        InputError, match="the family 'F0' is the last of more than 1,000 that belong to each other"
    ):
        chain(1_001)
    with pytest.raises(InputError, match=r"F0 -> F1 -> .* -> \.\.\. \(5,000 in all\) -> F0$"):
        chain(5_000, is_circle=True)
