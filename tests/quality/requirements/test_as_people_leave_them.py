"""Workbooks of requirements as people leave them: understood, or to be confirmed by cell, and never half read."""

from __future__ import annotations

import csv
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import load_workbook
from openpyxl.styles import Font
from openpyxl.worksheet.table import Table

import prodex
from prodex.errors import InputError, SpreadsheetUnreadable
from tests.cases import each_row
from tests.office import needs_office, saved_again
from tests.quality.requirements.sheets import OWN, asks, changed, made, shop

READ = {
    ("namePublicLong fr", "*"): "must",
    ("namePublicLong fr", "Coffee"): "should",
    ("brand", "*"): "must",
    ("brand", "Tea"): "may",
}


def problems(path: Path) -> list[str]:
    """Return what a file is refused for, one line each."""
    with pytest.raises(InputError) as refused:
        prodex.Requirements.read(path)
    return [line.strip() for line in str(refused.value).splitlines()[1:]]


def test_a_sheet_without_any_help_is_read(tmp_path: Path) -> None:
    """Words in place of paths, names in place of codes, the channel and its market in the name of the sheet."""
    read = prodex.Requirements.read(made(tmp_path / "own.xlsx", {"Web shop (France)": OWN}))

    assert READ == asks(read)
    assert ["Web shop (France)"] == [one.label for one in read.channels]
    assert ("own", "kind", ["Coffee", "Tea"]) == (read.name, read.by, [one.code for one in read.families])


@each_row(
    ("name", "label"),
    [
        ("Web shop - Belgique", "Web shop (Belgium)"),
        ("Webshop (Frankreich)", "Webshop (France)"),
        ("Web-shop", "Web-shop"),
        ("Drive, 250", "Drive (France)"),
    ],
)
def test_a_sheet_names_its_market_in_words(tmp_path: Path, name: str, label: str) -> None:
    """The market in brackets or behind a dash, in any language, or by its number."""
    read = prodex.Requirements.read(made(tmp_path / "own.xlsx", {name: OWN}))

    assert [label] == [one.label for one in read.channels]


@each_row(
    "row",
    [
        ("Long name", "French", None),
        ("Long name", "fr-FR", None),
        ("Long name", "français", None),
        ("Nom long", "Französisch", None),
        ("lange naam", "fra-FR", None),
        ("Langname (Französisch)", None, None),
        ("namePublicLong fr-FR", None, None),
        ("  LONG\u00a0NAME ,  french ", None, None),
        ("namePublicLong [fr]", "", None),
        (None, "fr", "namePublicLong"),
        (None, None, "namePublicLong, French"),
        ("my words", "Frans", " namePublicLong "),
    ],
)
def test_an_attribute_and_its_language_are_understood_in_words(tmp_path: Path, row: tuple[Any, ...]) -> None:
    """In four languages, by path or by words, with the language beside it, behind it or in brackets."""
    rows = [("Attribute", "Language", "Path", "All families"), (*row, "must")]

    assert {("namePublicLong fr", "*"): "must"} == asks(
        prodex.Requirements.read(made(tmp_path / "own.xlsx", {"Shop": rows}))
    )


@each_row(
    ("words", "attribute"),
    [
        ("Picture: front", "assets.pictures[front]"),
        ("Bild: Rückseite", "assets.pictures[back]"),
        ("photo - avant", "assets.pictures[front]"),
        ("Nutrient: fat", "isPartitionedBy.contains[FAT]"),
        ("Nährwert: Salz", "isPartitionedBy.contains[SALTEQ]"),
        ("Zutaten", "composition"),
        ("Front picture", "assets.pictures[front]"),
        ("Salz", "isPartitionedBy.contains[SALTEQ]"),
        ("alcohol", "percentageOfAlcoholByVolume"),
        ("Nettogewicht", "netWeight"),
        ("assets.pictures[left]", "assets.pictures[left]"),
        ("Certification information list", "certificationInformationList"),
        ("land van herkomst", "originCountry"),
        ("xOwnField", "xOwnField"),
    ],
)
def test_faces_nutrients_and_own_attributes_are_understood(
    tmp_path: Path, words: str, attribute: str
) -> None:
    """Whatever a row can be about has words, and an attribute of one's own its path."""
    rows = [("Attribute", "All families"), (words, "must")]

    assert {(attribute, "*"): "must"} == asks(
        prodex.Requirements.read(made(tmp_path / "own.xlsx", {"Shop": rows}))
    )


def test_all_that_is_wrong_is_named_by_cell_at_once(tmp_path: Path) -> None:
    """A misspelt attribute with the nearest, crosses and yes, contradictions; nothing stops at the first."""
    rows = [
        ("Attribute", "Path", "All families", "Tea", "Tea"),
        ("Long name", "namePublicLnog", "must", "", ""),
        ("Brand", "brand", "x", "yes", ""),
        ("Net content", "netContent", "must", "should", "may"),
        ("Net content", "netContent", "should", "", ""),
        ("Lnog name", None, "must", "", ""),
        (None, None, "must", "", ""),
        ("Kind", "kind", "must 80 characters", "1", "msut"),
        ("Picture", "assets.pictures[frnt]", "must", "", ""),
    ]

    assert [
        "Shop!B2: there is no attribute 'namePublicLnog'; did you mean namePublicLong?",
        "Shop!C3: 'x' is not clear. Type must, should, may or not.",
        "Shop!D3: 'yes' is not clear. Type must, should, may or not.",
        "Shop!A6: there is no attribute 'Lnog name'; did you mean namePublicLong (Long name)?",
        "Shop!C7: its row names no attribute.",
        "Shop!C8: '80 characters' does not say which bound it is. Write at least or at most before it.",
        "Shop!D8: '1' is not clear. Type must, should, may or not.",
        "Shop!E8: 'msut' is not clear (must was perhaps meant). Type must, should, may or not.",
        "Shop!B9: no picture shows the face 'frnt'; did you mean 'front'?",
        "Shop!E4: netContent of family Tea in Shop is 'may', and 'should' in Shop!D4",
        "Shop!C5: netContent of all families in Shop is 'should', and 'must' in Shop!C4",
    ] == problems(made(tmp_path / "own.xlsx", {"Shop": rows}))


def test_a_family_twice_is_once_where_both_say_the_same(tmp_path: Path) -> None:
    """A column that somebody has copied is no contradiction."""
    rows = [("Attribute", "Tea", "Tea"), ("Brand", "must", "Must "), ("Kind", "", "should")]

    assert {("brand", "Tea"): "must", ("kind", "Tea"): "should"} == asks(
        prodex.Requirements.read(made(tmp_path / "own.xlsx", {"Shop": rows}))
    )


@each_row("share", [0.83, "83 %", "83,5%", "0,83", 0, 1.0, "-", None, "<1 %", ">99 %", "not asked for"])
def test_a_share_is_no_answer(tmp_path: Path, share: Any) -> None:
    """Shares of a workbook whose formats were lost are left as they are: none and all are numbers as well."""
    rows = [("Attribute", "All families", "Tea", "Coffee"), ("Brand", "must", share, 0.5)]

    assert {("brand", "*"): "must"} == asks(
        prodex.Requirements.read(made(tmp_path / "own.xlsx", {"Shop": rows}))
    )


def test_a_share_behind_a_word_belongs_to_the_format(tmp_path: Path) -> None:
    """A program that saves cells as they look writes the share behind the word."""
    path = tmp_path / "own.csv"
    path.write_text(
        "Attribute,All families,Tea\nBrand,must · 83 %,83 %\nKind,should · <1 %,not · not asked for\n"
    )

    assert {("brand", "*"): "must", ("kind", "*"): "should", ("kind", "Tea"): "not"} == asks(
        prodex.Requirements.read(path)
    )


def test_merged_headings_hold_for_all_that_they_cover(tmp_path: Path) -> None:
    """A family over two columns, an attribute over two rows, a word over two cells, a heading over the whole sheet."""
    rows: list[list[Any]] = [
        ["What we ask", None, None, None, None],
        ["Attribute", "Language", "Tea", None, "Coffee"],
        ["Names and texts", None, None, None, None],
        ["Long name", "French", "must", None, None],
        [None, "Dutch", None, "should", "may"],
        ["Brand", None, "must", None, None],
    ]

    def merge(book: Any) -> None:
        for area in ("A1:E1", "C2:D2", "A3:E3", "A4:A5", "C6:E6"):
            book["Shop"].merge_cells(area)

    assert {
        ("namePublicLong fr", "Tea"): "must",
        ("namePublicLong nl", "Tea"): "should",
        ("namePublicLong nl", "Coffee"): "may",
        ("brand", "Tea"): "must",
        ("brand", "Coffee"): "must",
    } == asks(prodex.Requirements.read(made(tmp_path / "own.xlsx", {"Shop": rows}, merge)))


def test_own_columns_rows_and_sheets_are_left_alone_and_named(tmp_path: Path) -> None:
    """Remarks, owners and priorities of one's own are no families, and neither are notes and hidden copies."""
    rows = [
        ("Attribute", "All families", "Tea", "Remark", "Priority"),
        ("Brand", "must", "may", "ask Anna", 3),
        ("Who decides", "Anna", "Ben", "", ""),
        ("Responsible", "Ben", "", "", ""),
        ("Kind", "should", "", "", 1),
    ]

    def hide(book: Any) -> None:
        book["Old"].sheet_state = "hidden"

    read = prodex.Requirements.read(
        made(tmp_path / "own.xlsx", {"Shop": rows, "Notes": [("Call Ben",)], "Old": OWN}, hide)
    )

    assert {("brand", "*"): "must", ("brand", "Tea"): "may", ("kind", "*"): "should"} == asks(read)
    assert (
        "column Remark (Shop!D)",
        "column Priority (Shop!E)",
        "row Who decides (Shop!A3)",
        "row Responsible (Shop!A4)",
        "sheet Notes",
        "sheet Old (hidden)",
    ) == read.ignored


def test_an_answer_below_a_heading_of_ones_own_needs_confirmation(tmp_path: Path) -> None:
    """A column without a code where others have codes may be a family: a word of the four is never passed over."""
    rows = [
        ("Family code", "*", "TEA", None, None),
        ("Attribute", "All families", "Tea", "Cocoa", None),
        ("Brand", "must", "", "must", "should"),
    ]

    assert [
        (
            "Shop!D3: the column 'Cocoa' has answers, but nobody knows of which family. Write the code of its family "
            "in row 1."
        ),
        "Shop!E3: the column has answers, but nobody knows of which family. Write the code of its family in row 1.",
    ] == problems(made(tmp_path / "own.xlsx", {"Shop": rows}))


def test_cells_that_are_no_words_need_confirmation(tmp_path: Path) -> None:
    """Formulas without a result, errors, dates, truth values and struck words; a formula with its result is read."""
    rows = [
        ("Attribute", "All families", "Tea"),
        ("Brand", "must", True),
        ("Kind", "=A1", "#REF!"),
        ("Net content", "must", "should"),
    ]

    def strike(book: Any) -> None:
        book["Shop"]["C4"].font = Font(strike=True)

    assert [
        "Shop!C2: 'true' is not clear. Type must, should, may or not.",
        "Shop!B3: a formula without a result. Save the file in a spreadsheet, or type the word.",
        "Shop!C3: '#REF!' is the error of a formula. Type must, should, may or not.",
        "Shop!C4: 'should' is struck through. Delete it, or type again what is meant.",
    ] == problems(made(tmp_path / "own.xlsx", {"Shop": rows}, strike))


def test_a_written_workbook_survives_everyday_handling(tmp_path: Path) -> None:
    """Paths deleted, rows sorted and hidden, columns removed and hidden, titles put above, a filter, a table."""
    path = prodex.requirements(tmp_path / "book.xlsx", shop(), channels="Web shop:France")

    def handle(book: Any) -> None:
        sheet = book["Web shop (France)"]
        rows = {(row[0].value, row[1].value or ""): row[0].row for row in sheet.iter_rows(min_row=8)}
        sheet.cell(rows["Long name", "French"], 5).value = " Must ; at\u00a0most 80 characters"
        sheet.cell(rows["Brand", ""], 6).value = "nicht"
        sheet.cell(rows["Picture: front", ""], 7).value = "aanbevolen"
        below = [[cell.value for cell in row] for row in sheet.iter_rows(min_row=8)]
        below.sort(key=lambda row: str(row[0]), reverse=True)
        for number, row in enumerate(below, 8):
            for column, value in enumerate(row, 1):
                # Somebody has no use for technical words.
                sheet.cell(number, column).value = None if column == 3 else value
        sheet.delete_cols(4)
        sheet.insert_rows(1, 3)
        sheet["A1"] = "Agreed on Tuesday"
        sheet.column_dimensions["B"].hidden = True
        sheet.row_dimensions[12].hidden = True
        sheet.auto_filter.ref = "A10:F40"
        book.create_sheet("Table").append(["a", "b"])
        book["Table"].add_table(Table(displayName="T", ref="A1:B2"))

    read = prodex.Requirements.read(changed(path, handle))

    assert {
        ("namePublicLong fr", "*"): "must; at most 80 characters",
        ("brand", "COFFEE"): "not",
        ("assets.pictures[front]", "TEA"): "should",
    } == asks(read)
    assert [("COFFEE", "Coffee"), ("TEA", "Tea")] == [(one.code, one.label) for one in read.families]


def test_channels_are_renamed_and_copied_in_their_first_rows(tmp_path: Path) -> None:
    """A copy of a sheet becomes another channel by its name and its market; the name of a sheet says nothing then."""
    path = prodex.requirements(tmp_path / "book.xlsx", shop(), channels="Web shop:France")

    def copy(book: Any) -> None:
        other = book.copy_worksheet(book["Web shop (France)"])
        other["B1"], other["B2"], other["B3"] = "Drive", "Belgien", "all"
        other["E9"] = "must"

    read = prodex.Requirements.read(changed(path, copy))

    assert [("Web shop", 250, True), ("Drive", 56, False)] == [
        (one.name, one.market, one.consumer_units) for one in read.channels
    ]
    assert ["Drive (Belgium)"] == [one.channel for one in read.requirements]


def test_a_market_and_units_that_are_none_are_named_by_cell(tmp_path: Path) -> None:
    """The first rows of a sheet are typed by hand as well."""
    path = prodex.requirements(tmp_path / "book.xlsx", shop(), channels="Web shop:France")

    def misspell(book: Any) -> None:
        sheet = book["Web shop (France)"]
        sheet["B2"], sheet["B3"] = "Frnace", "some"

    assert [
        "Web shop (France)!B3: 'some' is neither consumer units nor all.",
        (
            "Web shop (France)!B2: There is no market 'Frnace'. Did you mean 'France'? Give its ISO 3166-1 number "
            "(250) or its name (France)."
        ),
    ] == problems(changed(path, misspell))


@each_row("encoding", ["utf-8-sig", "utf-8", "utf-16"])
@each_row("separator", [";", ",", "\t"])
def test_csv_is_read_with_any_separator(tmp_path: Path, encoding: str, separator: str) -> None:
    """A sheet that a spreadsheet saved as CSV, with a BOM or without; the channel is the name of the file."""
    path = tmp_path / "Drive (France).csv"
    lines = [
        separator.join(f'"{one}"' for one in row)
        for row in [*OWN, ("Zutaten, Französisch", "must; one of: A", "", "")]
    ]
    path.write_text("\r\n".join(lines), encoding)
    read = prodex.Requirements.read(path)

    assert READ | {("composition fr", "*"): "must; one of: A"} == asks(read)
    assert ["Drive (France)"] == [one.label for one in read.channels]


def test_a_file_takes_no_more_than_its_limits(tmp_path: Path) -> None:
    """An archive of a few bytes may be a billion unpacked: it is refused, with what changes the limit."""
    path = made(tmp_path / "own.xlsx", {"Shop": OWN})

    with pytest.raises(SpreadsheetUnreadable, match=r"Requirements\.read"):
        prodex.Requirements.read(path, limits=prodex.Limits(unpacked_bytes=1_000))


def test_reading_never_changes_the_file(tmp_path: Path) -> None:
    """Neither a file that is read nor one that is refused."""
    for rows in (OWN, [*OWN, ("Brnad", "must", "", "")]):
        path = made(tmp_path / "own.xlsx", {"Shop": rows})
        before = path.read_bytes()
        with suppress(InputError):
            prodex.Requirements.read(path)
        assert before == path.read_bytes()


def test_other_files_are_refused_in_words(tmp_path: Path) -> None:
    """A worklist, an export, another spreadsheet's format, a broken archive, nothing at all."""
    worklist = made(tmp_path / "worklist.xlsx", {"Read me": [("x",)], "To fix": [("GTIN", "New value")]})
    with pytest.raises(InputError, match=r"worklist\.xlsx has no requirements\. It is a worklist"):
        prodex.Requirements.read(worklist)
    export = made(tmp_path / "export.xlsx", {"products": [("product_id", "gtin"), ("1", "2")]})
    with pytest.raises(InputError, match="has a row of headings with Attribute or Path"):
        prodex.Requirements.read(export)
    (tmp_path / "old.xls").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 100)
    with pytest.raises(SpreadsheetUnreadable, match=r"old program \(\.xls\)"):
        prodex.Requirements.read(tmp_path / "old.xls")
    (tmp_path / "cut.xlsx").write_bytes(worklist.read_bytes()[:200])
    with pytest.raises(SpreadsheetUnreadable, match="damaged"):
        prodex.Requirements.read(tmp_path / "cut.xlsx")
    with pytest.raises(InputError, match="is not there"):
        prodex.Requirements.read(tmp_path / "none.xlsx")


def test_a_sheet_without_its_headings_is_no_sheet_of_ones_own(tmp_path: Path) -> None:
    """Where prodex wrote the sheet and somebody deleted the row that says what it is, its answers need confirmation."""
    path = prodex.requirements(tmp_path / "book.xlsx", shop(), channels="Web shop:France")

    def behead(book: Any) -> None:
        sheet = book["Web shop (France)"]
        sheet["E9"] = "must"
        sheet.delete_rows(1, 7)

    (problem,) = problems(changed(path, behead))
    assert problem.startswith(
        "Web shop (France)!E2: there is an answer, but no row of the sheet has the heading"
    )


def test_a_parent_is_known_by_its_label_and_a_misspelt_one_is_named(tmp_path: Path) -> None:
    """People write the name of a family where its code is meant."""
    path = prodex.requirements(tmp_path / "book.xlsx", shop(), channels="Web shop:France")

    def belongs(book: Any) -> None:
        book["Web shop (France)"]["F4"] = "Tea"

    def misspelt(book: Any) -> None:
        book["Web shop (France)"]["F4"] = "Teea"

    read = prodex.Requirements.read(changed(path, belongs))
    assert [("COFFEE", "TEA"), ("TEA", "")] == [(one.code, one.parent) for one in read.families]
    assert ["Web shop (France)!F4: there is no family 'Teea'; did you mean 'Tea'?"] == problems(
        changed(path, misspelt)
    )


def test_a_csv_file_in_the_code_page_of_a_country_is_read_by_its_words(tmp_path: Path) -> None:
    """Excel saves no Unicode unless somebody chooses it: the words of attributes say which code page it is."""
    path = tmp_path / "own.csv"
    path.write_bytes(
        "Attribut;Alle Familien\r\nNährwerte;muss\r\nMaße;\r\nHöhe;höchstens\r\n".encode("cp1252")
    )

    assert ["B4: 'höchstens' is not clear. Type must, should, may or not."] == problems(path)


@pytest.mark.slow
def test_a_hostile_sheet_takes_no_longer_than_its_cells(tmp_path: Path) -> None:
    """Ranges over the whole sheet, columns at its end, and thousands of problems."""
    rows = [("Attribute", "All families"), *((f"Brnad {number}", "must") for number in range(1_500))]

    def spread(book: Any) -> None:
        sheet = book["Shop"]
        sheet.cell(1_048_576, 16_384).value = "seen"
        sheet.merged_cells.add("D1:XFD1048576")
        sheet.merged_cells.add("A1600:B1000000")

    found = problems(made(tmp_path / "own.xlsx", {"Shop": rows}, spread))
    assert 1_001 == len(found)
    assert "Shop!A1002: from here on nothing was read, after so many problems" == found[-1]


def test_remarks_are_no_answers_whatever_they_begin_with(tmp_path: Path) -> None:
    """A remark may begin with one of the four words, and stands in a column or row of one's own."""
    rows = [
        ("Family code", "*", "TEA", None, None),
        ("Attribute", "All families", "Tea", "Remark", "Seen"),
        ("Brand", "must", "", "must be agreed with Anna", "2026"),
        ("Kind", "", "should", "not yet discussed", None),
        ("To do", "may be later", "", "", ""),
    ]
    own = [("Attribute", "Remark"), ("Brand", "may be left out"), ("Kind", "as on the pack")]
    read = prodex.Requirements.read(made(tmp_path / "own.xlsx", {"Shop": rows, "Words": own}))

    assert {("brand", "*"): "must", ("kind", "TEA"): "should"} == asks(read)
    assert ["Shop"] == [one.label for one in read.channels]
    assert ("column Remark (Shop!D)", "column Seen (Shop!E)", "row To do (Shop!A5)") == read.ignored[:3]
    assert "sheet Words" in read.ignored


def test_a_sheet_of_crosses_needs_confirmation_and_is_not_left_alone(tmp_path: Path) -> None:
    """Marks do not make a family a column of one's own: each is asked about, also in a row that nobody understands."""
    rows = [("Attribute", "Tea", "Coffee"), ("Brand", "x", ""), ("Kind", "", "✓"), ("Lnog name", "x", "")]

    assert [
        "Shop!B2: 'x' is not clear. Type must, should, may or not.",
        "Shop!C3: '✓' is not clear. Type must, should, may or not.",
        "Shop!A4: there is no attribute 'Lnog name'; did you mean namePublicLong (Long name)?",
    ] == problems(made(tmp_path / "own.xlsx", {"Shop": rows}))


def test_words_at_a_wrong_place_need_confirmation(tmp_path: Path) -> None:
    """In the column of shares of the whole catalogue, and in the row of a heading."""
    path = prodex.requirements(tmp_path / "book.xlsx", shop(), channels="Web shop:France")

    def misplace(book: Any) -> None:
        sheet = book["Web shop (France)"]
        sheet["D9"], sheet["E8"] = "must", "must"

    assert [
        "Web shop (France)!E8: 'Names and texts' is a heading. Write the word in the rows below it.",
        "Web shop (France)!D9: 'must' is in the column Filled. Write it below All families, or below a family.",
    ] == problems(changed(path, misplace))


def test_a_number_that_was_typed_over_a_shneed_confirmation(tmp_path: Path) -> None:
    """A 1 has the format of the cell, 100 %; the share itself, and one that was typed again, is no answer."""
    path = prodex.requirements(tmp_path / "book.xlsx", shop(), channels="Web shop:France")
    rows = {row[0].value: row[0].row for row in load_workbook(path)["Web shop (France)"].iter_rows(min_row=8)}

    def count(book: Any) -> None:
        sheet = book["Web shop (France)"]
        sheet.cell(rows["Brand"], 5).value = 1
        sheet.cell(rows["Brand"], 6).value = 0.01
        sheet.cell(rows["Brand"], 7).value = 0.5
        sheet.cell(rows["Kind"], 5).value = 1
        sheet.cell(rows["Picture: front"], 5).value = 0.33

    assert [
        f"Web shop (France)!E{rows['Brand']}: 100 % was typed over the share of 33 %. Type must, should, may or not.",
        f"Web shop (France)!F{rows['Brand']}: 1 % was typed over the share of 0 %. Type must, should, may or not.",
    ] == problems(changed(path, count))


_TOKENS = st.sampled_from(
    [
        *(
            "Attribute",
            "Language",
            "Path",
            "Filled",
            "Family code",
            "Belongs to",
            "Number of products",
            "Channel",
        ),
        *(
            "Market",
            "Units",
            "All families",
            "*",
            "TEA",
            "Tea",
            "Coffee",
            "must",
            "should",
            "x",
            "1",
            "0.5",
            "83 %",
        ),
        *(
            "must; one of: A, B",
            "Long name",
            "namePublicLong",
            "French",
            "France",
            "brand",
            "Brand, Dutch",
            "kind",
        ),
        *(
            "gpc",
            "",
            "",
            "",
            "Remark",
            "level",
            "channel",
            "attribute",
            "family",
            "consumer units",
            "must ;;",
            '"',
        ),
    ]
)


@given(st.lists(st.lists(_TOKENS, max_size=7), max_size=9))
def test_no_sheet_is_anything_but_requirements_or_an_error_of_ours(rows: list[list[str]]) -> None:
    """Whatever is where: read as requirements that can be written, or refused in words."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "own.csv")
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(rows)
        try:
            read = prodex.Requirements.read(path)
        except InputError:
            return
        assert read == prodex.Requirements.read(read.write(Path(folder, "own.toml")))


def gpc_book(path: Path, *channels: str) -> Path:
    """Write the workbook of two products of food and one of cosmetics, by the GPC."""
    codes = {"50131703": "Cheese", "50131700": "Dairy", "53000000": "Beauty"}
    records = [{"id": n, "GPC": {"code": code, "label": codes[code]}} for n, code in enumerate(codes)]
    return prodex.requirements(
        path, prodex.flatten(records), by="gpc", channels=channels or ("Web shop", "Drive")
    )


@pytest.mark.slow
@each_row("rows", [(4, 3), (5, 1), (4, 1), (5, 2)])
@each_row("has_hidden", [True, False])
def test_a_family_whose_code_was_deleted_is_known_by_its_label(
    tmp_path: Path, rows: tuple[int, int], has_hidden: bool
) -> None:
    """Rows above that look technical: the hidden sheet knows the codes, and so does another sheet."""
    path = gpc_book(tmp_path / "book.xlsx")

    def delete(book: Any) -> None:
        book["Drive"]["F9"] = "must"
        book["Drive"].delete_rows(*rows)
        if not has_hidden:
            del book["prodex requirements"]

    before = prodex.Requirements.read(path)
    read = prodex.Requirements.read(changed(path, delete))
    assert ["50000000"] == [one.family for one in read.requirements]
    assert (before.by, before.families) == (read.by, read.families)


def test_a_family_whose_code_nobody_knows_needs_confirmation(tmp_path: Path) -> None:
    """A label that was changed and whose code was deleted, and words where families are told by the GPC."""
    path = gpc_book(tmp_path / "book.xlsx", "Web shop")

    def rename(book: Any) -> None:
        sheet = book["Web shop"]
        sheet["F9"], sheet["F7"] = "must", "Nourriture"
        sheet.delete_rows(5)

    (problem,) = problems(changed(path, rename))
    assert problem.startswith(
        "Web shop!F8: the column 'Nourriture' has answers, but nobody knows of which family."
    )
    assert "in a row that begins with Family code" in problem
    rows = [
        ("Family code", "gpc", "*", "Food and beverages"),
        ("Attribute", "Path", "All", ""),
        ("Brand", "brand", "", "must"),
    ]
    assert [
        (
            "Shop!D2: 'Food and beverages' is no code of the GPC, which has eight digits. Write its code in the row "
            "Family code, such as 50000000 for Food and beverages."
        )
    ] == problems(made(tmp_path / "own.xlsx", {"Shop": rows}))


def test_a_family_that_was_renamed_in_one_sheet_is_named_once(tmp_path: Path) -> None:
    """However many answers it has: both cells, and what to do."""
    path = prodex.requirements(tmp_path / "book.xlsx", shop(), channels=["Web shop:France", "Drive:France"])

    def rename(book: Any) -> None:
        sheet = book["Drive (France)"]
        sheet["G7"] = "Thé"
        sheet["G9"], sheet["G10"] = "must", "may"

    assert [
        (
            "Drive (France)!G7: the label of family TEA is 'Thé', and 'Tea' in Web shop (France)!G7. Write the same "
            "in both."
        )
    ] == problems(changed(path, rename))


@pytest.mark.slow
@each_row(
    ("words", "path"),
    [
        ("Prix de vente TTC", "prixVente"),
        ("Prix de vente", None),
        ("Prix", "prix"),
        ("", "pricepublic"),
        ("Verkaufspreis", None),
        ("prijs", None),
    ],
)
def test_an_attribute_that_the_catalogue_does_not_have_needs_confirmation(
    tmp_path: Path, words: str, path: str | None
) -> None:
    """A workbook that prodex wrote knows the attributes of its catalogue: an invented one would fail all products."""
    book = prodex.requirements(tmp_path / "book.xlsx", shop(), channels="Web shop:France")
    place = f"Web shop (France)!{'C' if path else 'A'}{load_workbook(book)['Web shop (France)'].max_row + 1}"
    (problem,) = problems(
        changed(book, lambda one: one["Web shop (France)"].append([words or None, None, path, None, "must"]))
    )

    assert problem.startswith(f"{place}: there is no attribute {path or words!r}; did you mean ")
    assert "suggestedRetailPrice (Suggested retail price)" in problem
    assert (
        "Copy the row of the attribute that you mean, or write its name here, or delete this row." in problem
    )
    assert "wire" not in problem


@pytest.mark.slow
@pytest.mark.parametrize("path", ["own: prixVente", "OWN:prixVente", '"prixVente"'])
def test_an_attribute_of_ones_own_is_confirmed(tmp_path: Path, path: str) -> None:
    """By a word before its name, or where Python names it; from then on the workbook knows it."""
    book = prodex.requirements(tmp_path / "book.xlsx", shop(), channels="Web shop:France")
    row = ["Price", None, path, None, "must"]
    read = prodex.Requirements.read(changed(book, lambda one: one["Web shop (France)"].append(row)))
    again = prodex.requirements(tmp_path / "again.xlsx", shop(), start=read)

    assert {("prixVente", "*"): "must"} == asks(read) == asks(prodex.Requirements.read(again))
    row[2] = "xOther"
    other = changed(book, lambda one: one["Web shop (France)"].append(row))
    assert {"prixVente", "xOther"} == {
        key[0] for key in asks(prodex.Requirements.read(other, known=["xOther"]))
    }


def rows_by_name(path: Path, sheet: str = "Web shop (France)") -> dict[tuple[str, str], int]:
    """Return the number of each row by attribute and language."""
    rows = load_workbook(path)[sheet].iter_rows(min_row=8)
    return {(str(row[0].value), row[1].value or ""): row[0].row for row in rows}


@pytest.mark.slow
def test_a_language_that_was_deleted_needs_confirmation(tmp_path: Path) -> None:
    """Any language is another rule: somebody has to say it, or to add such a row, which is noted."""
    path = prodex.requirements(tmp_path / "book.xlsx", shop(), channels="Web shop:France")
    row = rows_by_name(path)["Long name", "French"]

    def delete(book: Any) -> None:
        sheet = book["Web shop (France)"]
        sheet.cell(row, 2).value, sheet.cell(row, 5).value = None, "must"

    assert [
        (
            f"Web shop (France)!B{row}: the language is gone. Type French, or any where the text may be in any "
            "language."
        )
    ] == problems(changed(path, delete))

    def say_any(book: Any) -> None:
        book["Web shop (France)"].cell(row, 2).value = "any"

    assert {("namePublicLong", "*"): "must"} == asks(prodex.Requirements.read(changed(path, say_any)))

    def add(book: Any) -> None:
        sheet = book["Web shop (France)"]
        sheet.cell(row, 2).value = "French"
        sheet.append(["Long name", None, None, None, "should"])

    read = prodex.Requirements.read(changed(path, add))
    assert {("namePublicLong fr", "*"): "must", ("namePublicLong", "*"): "should"} == asks(read)
    assert 1 == len(read.notes)
    assert read.notes[0].endswith(": no language, so that the text may be in any language")


def test_a_wrong_language_is_named_at_its_own_cell(tmp_path: Path) -> None:
    """Not at the path beside it."""
    rows = [
        ("Attribute", "Language", "Path", "All families"),
        ("Long name", "Frnech", "namePublicLong", "must"),
    ]
    (problem,) = problems(made(tmp_path / "own.xlsx", {"Shop": rows}))

    assert problem.startswith("Shop!B2: There is no language 'Frnech'")


@pytest.mark.slow
@each_row("typed", ["1", "0", "0.5", "0,5", "100%", "100 %", "1%"])
def test_a_share_that_was_typed_as_text_needs_confirmation(tmp_path: Path, typed: str) -> None:
    """As the number is; the share of the cell itself is none, and neither are other cells of the same file."""
    path = prodex.requirements(tmp_path / "book.xlsx", shop(), channels="Web shop:France")
    row = rows_by_name(path)["Brand", ""]

    def text(book: Any) -> None:
        sheet = book["Web shop (France)"]
        sheet.cell(row, 5).value = typed
        sheet.cell(row, 7).value = "50 %"

    (problem,) = problems(changed(path, text))
    assert problem.startswith(f"Web shop (France)!E{row}: '{typed}' ")
    assert problem.endswith("Type must, should, may or not.")


def test_a_word_in_a_row_above_the_attributes_needs_confirmation(tmp_path: Path) -> None:
    """In the row of products, of codes and of parents."""
    path = prodex.requirements(tmp_path / "book.xlsx", shop(), channels="Web shop:France")

    def misplace(book: Any) -> None:
        sheet = book["Web shop (France)"]
        sheet["E6"], sheet["F4"] = "must", "obligatoire"

    assert {
        "Web shop (France)!E6: 'must' is in the row Number of products. Write it in the row of an attribute.",
        "Web shop (France)!F4: 'obligatoire' is in the row Belongs to. Write it in the row of an attribute.",
    } == set(problems(changed(path, misplace)))


@pytest.mark.slow
@each_row("heading", ["Remark", "Remarques", "Bemerkung", "Opmerkingen"])
def test_short_remarks_below_their_heading_are_left_alone(tmp_path: Path, heading: str) -> None:
    """Marks are remarks there; the four words need confirmation all the same."""
    path = prodex.requirements(tmp_path / "book.xlsx", shop(), channels="Web shop:France")

    def remark(book: Any) -> None:
        sheet = book["Web shop (France)"]
        sheet["H7"], sheet["H9"], sheet["H10"], sheet["H11"] = heading, "ok", "x", "non"

    def answer(book: Any) -> None:
        book["Web shop (France)"]["H9"] = "must"

    read = prodex.Requirements.read(changed(path, remark))
    assert (f"column {heading} (Web shop (France)!H)",) == read.ignored
    (problem,) = problems(changed(path, answer))
    assert problem.startswith(f"Web shop (France)!H9: the column {heading!r} has answers")
    assert problem.endswith("If they are remarks, write them as sentences.")


def test_short_remarks_below_another_heading_are_named_with_what_to_do(tmp_path: Path) -> None:
    """Every cell once, and how to say that they are remarks."""
    path = prodex.requirements(tmp_path / "book.xlsx", shop(), channels="Web shop:France")

    def remark(book: Any) -> None:
        sheet = book["Web shop (France)"]
        sheet["H7"], sheet["H9"], sheet["H11"] = "Anna", "ok", "x"

    assert [
        (
            "Web shop (France)!H9, Web shop (France)!H11: the column 'Anna' has answers, but nobody knows of which "
            "family. Write the code of its family in row 5. If they are remarks, write Remark in row 7, or write "
            "them as sentences."
        )
    ] == problems(changed(path, remark))


def test_what_must_be_and_no_product_has_is_noted(tmp_path: Path) -> None:
    """No error, in families of some size: perhaps another attribute was meant."""
    records = [{"id": n, "kind": {"code": "TEA" if n else "MUG", "label": "Tea"}} for n in range(31)]
    path = prodex.requirements(tmp_path / "book.xlsx", prodex.flatten(records), channels="Shop")
    row = rows_by_name(path, "Shop")["Brand", ""]

    def answer(book: Any) -> None:
        for column in (5, 6, 7):
            book["Shop"].cell(row, column).value = "must"
        book["Shop"].cell(row + 1, 6).value = "must"

    read = prodex.Requirements.read(changed(path, answer))
    assert (
        f"Shop!E{row}: must, and no product has it today (31 products)",
        f"Shop!F{row}: must, and no product of Tea has it today (30 products)",
    ) == read.notes
    assert () == read.ignored


@pytest.mark.slow
@needs_office
def test_a_workbook_that_libreoffice_saved_says_the_same(tmp_path: Path) -> None:
    """Filled in and saved by another program, it is read as it was meant, with its codes and families."""
    path = prodex.requirements(tmp_path / "r.xlsx", shop(), channels="Web shop:France")
    wanted = [
        ["Web shop", "250", "TEA", "brand", "", "must"],
        ["Web shop", "250", "*", "namePublicLong", "fr", "should"],
    ]
    columns = ["channel", "market", "family", "attribute", "language", "level"]
    start = prodex.Requirements.of(pd.DataFrame(wanted, columns=columns))
    prodex.requirements(path, shop(), start=start, replace=True)

    read = prodex.Requirements.read(saved_again(path, tmp_path))

    assert asks(start) == asks(read)
    assert start.channels == read.channels
