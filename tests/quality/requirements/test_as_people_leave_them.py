"""Sheets of requirements as people leave them: understood, or to be confirmed by cell, and never half read."""

from __future__ import annotations

import csv
import random
import tempfile
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pandas as pd
import pytest
import xlsxwriter
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import load_workbook
from openpyxl.comments import Comment
from openpyxl.styles import Font

import prodex
from prodex.errors import InputError, SpreadsheetUnreadable
from prodex.formats.workbook_cells import cell_place
from tests.cases import each_row
from tests.office import needs_office, saved_again
from tests.quality.requirements.sheets import HEADINGS, answer, asks, changed, made, shop, table


def problems(path: Path) -> list[str]:
    """Return what a file is refused for, one line each."""
    with pytest.raises(InputError) as refused:
        prodex.Requirements.read(path)
    return [line.strip() for line in str(refused.value).splitlines()[1:]]


def own(folder: Path, *rows: dict[str, Any]) -> Path:
    """Make a workbook with rows that are like `ROW`, without anything that prodex keeps in one."""
    return made(folder / "own.xlsx", {"Requirements": table(*rows)})


def book(folder: Path) -> Path:
    """Write the workbook of the shop for one channel."""
    return prodex.write_requirements(folder / "book.xlsx", shop(), channels="Web shop:France")


def test_all_that_is_wrong_is_named_by_cell_at_once(tmp_path: Path) -> None:
    """Words of no level, attributes, languages, markets and faces that are none, contradictions; all of them."""
    path = own(
        tmp_path,
        {"Level": "x"},
        {"Level": "msut"},
        {"Attribute": "Long name"},
        {"Attribute": "namePublicLong", "Language": "Frnech"},
        {"Attribute": "namePublicLong"},
        {"Market": "Frnace"},
        {"Market": None},
        {"Attribute": "assets.pictures[frnt]"},
        {"Condition": "80 characters"},
        {"Level": None, "Condition": "one of: A"},
        {"Family": None},
        {"Attribute": None},
        {"Channel": None},
        {"Consumer units": "some"},
        {"Attribute": "kind"},
        {"Attribute": "kind", "Level": "may"},
    )

    assert [
        "Requirements!I2: 'x' is not clear. Type must, should, may or not.",
        "Requirements!I3: 'msut' is not clear (must was perhaps meant). Type must, should, may or not.",
        "Requirements!G4: 'Long name' is the name of namePublicLong in words. Write namePublicLong.",
        "Requirements!H5: There is no language 'Frnech'.",
        "Requirements!H6: a text without a language.",
        "Requirements!B7: There is no market 'Frnace'.",
        "Requirements!B8: the channel has no market.",
        "Requirements!G9: no picture shows the face 'frnt'; did you mean 'front'?",
        "Requirements!J10: '80 characters' does not say which bound it is.",
        "Requirements!I11: there is a condition, and no level.",
        "Requirements!D12: its row names no family.",
        "Requirements!G13: its row names no attribute.",
        "Requirements!A14: its row names no channel.",
        "Requirements!C15: consumer_units is 'some'; give true or false.",
        "Requirements!I17: kind of all families in Web shop (France) is 'may', and 'must' in Requirements!I16",
    ] == [
        line
        if line.endswith(("must, should, may or not.", "?", "I16", "namePublicLong.", "false."))
        else line.partition(".")[0] + "."
        for line in problems(path)
    ]


def test_a_row_twice_is_once_where_both_say_the_same(tmp_path: Path) -> None:
    """A row that somebody has copied is no contradiction."""
    read = prodex.Requirements.read(
        own(tmp_path, {}, {"Level": "Must "}, {"Attribute": "kind", "Level": "may"})
    )

    assert {("brand", "*"): "must", ("kind", "*"): "may"} == asks(read)


def test_blanks_around_a_code_are_none_of_it(tmp_path: Path) -> None:
    """Spaces of any kind before and behind, in every cell and every heading."""
    rows = table({"Family": "TEA"})
    padded = [[f" {cell}\u00a0 " if cell else "  " for cell in row] for row in rows]
    read = prodex.Requirements.read(made(tmp_path / "own.xlsx", {"Requirements": padded}))

    assert {("brand", "TEA"): "must"} == asks(read)
    assert ["Web shop (France)"] == [one.label for one in read.channels]


def test_codes_that_are_numbers_are_codes(tmp_path: Path) -> None:
    """A spreadsheet makes numbers of families, markets and codes that look so."""
    read = prodex.Requirements.read(
        own(tmp_path, {"Family": 50000000, "Market": 250, "By": "gpc", "Condition": "one of: 1, 2"})
    )

    assert {("brand", "50000000"): "must; one of: 1, 2"} == asks(read)
    assert [250] == [one.market for one in read.channels]


def test_a_code_whose_zeros_are_gone_needs_confirmation(tmp_path: Path) -> None:
    """A number has no zeros before it: the workbook knows that its catalogue has no family 7, and a family 007."""
    catalog = prodex.flatten([{"id": 1, "kind": {"code": "007", "label": "Tea"}}])
    path = prodex.write_requirements(tmp_path / "book.xlsx", catalog, channels="Shop")
    (problem,) = problems(changed(path, lambda whole: answer(whole, "must", "brand", family=7)))  # type: ignore[arg-type]

    assert "there is no family '7'" in problem
    assert "If it is a new one, write its name in the column Family label." in problem


def test_a_family_that_no_product_has_needs_confirmation(tmp_path: Path) -> None:
    """A mistyped code asks nothing of anybody; a new one has a name, and one of the GPC its digits."""
    path = book(tmp_path)
    (problem,) = problems(changed(path, lambda whole: answer(whole, "must", "brand", family="TAE")))
    assert "there is no family 'TAE'; did you mean 'TEA'?" in problem

    def name(whole: Any) -> None:
        whole["Requirements"].cell(whole["Requirements"].max_row, 5).value = "Something new"

    read = prodex.Requirements.read(changed(path, name))
    assert {("brand", "TAE"): "must"} == asks(read)
    by_gpc = prodex.flatten([{"id": 1, "GPC": {"code": "50131703", "label": "Cheese"}}])
    other = prodex.write_requirements(tmp_path / "gpc.xlsx", by_gpc, by="gpc", channels="Shop")
    changed(other, lambda whole: answer(whole, "must", "brand", family="53000000"))
    assert {("brand", "53000000"): "must"} == asks(prodex.Requirements.read(other))
    (problem,) = problems(changed(other, lambda whole: answer(whole, "must", "kind", family="Food")))
    assert problem.endswith("A code of the GPC has eight digits.")


def test_a_parent_that_is_no_family_needs_confirmation(tmp_path: Path) -> None:
    """A family below a mistyped one would take nothing of what its parent is asked; a parent that is there is taken."""
    path = book(tmp_path)

    def belong(whole: Any, parent: str) -> None:
        sheet = whole["Requirements"]
        (row,) = (row for row in sheet.iter_rows(min_row=2) if row[3].value == "COFFEE")
        row[5].value = parent

    (problem,) = problems(changed(path, lambda whole: belong(whole, "Tea leaves")))
    assert "there is no family 'Tea leaves'" in problem
    read = prodex.Requirements.read(changed(path, lambda whole: belong(whole, "TEA")))
    assert [("COFFEE", "TEA"), ("TEA", "")] == [(one.code, one.parent) for one in read.families]


def test_an_attribute_that_the_catalogue_does_not_have_needs_confirmation(tmp_path: Path) -> None:
    """A workbook that prodex wrote knows the attributes of its catalogue: an invented one would fail all products."""
    path = book(tmp_path)
    place = {"Channel": "Web shop", "Market": "France", "Family": "*", "Level": "must"}

    def add(whole: Any, attribute: str) -> None:
        whole["Requirements"].append([(place | {"Attribute": attribute}).get(one) for one in HEADINGS])

    (problem,) = problems(changed(path, lambda whole: add(whole, "brnad")))
    assert "there is no attribute 'brnad'; did you mean brand (Brand)?" in problem
    assert problem.endswith("If the attribute is your own, write 'own: brnad'.")

    def confirm(whole: Any) -> None:
        sheet = whole["Requirements"]
        sheet.cell(sheet.max_row, 7).value = "own: shelfLife"

    read = prodex.Requirements.read(changed(path, confirm))
    again = prodex.write_requirements(tmp_path / "again.xlsx", shop(), start=read)
    assert {("shelfLife", "*"): "must"} == asks(read) == asks(prodex.Requirements.read(again))
    changed(path, lambda whole: add(whole, "xOther"))
    assert {"shelfLife", "xOther"} == {
        key[0] for key in asks(prodex.Requirements.read(path, known=["xOther"]))
    }


@each_row("column", HEADINGS)
def test_a_column_that_is_gone_is_not_taken_for_empty(tmp_path: Path, column: str) -> None:
    """Without languages, markets or parents the same rows would ask something else."""
    path = own(tmp_path, {})

    def delete(whole: Any) -> None:
        whole["Requirements"].delete_cols(HEADINGS.index(column) + 1)

    with pytest.raises(InputError, match="has no requirements") as refused:
        prodex.Requirements.read(changed(path, delete))
    if column not in {"Channel", "Attribute", "Level"}:
        assert f"Its table lacks {column}." in str(refused.value)


def test_a_column_that_is_there_twice_needs_confirmation(tmp_path: Path) -> None:
    """Nobody knows which of them holds; another one is somebody's own."""
    rows = table({})
    rows[0] += ["Level", "longest"]
    rows[1] += ["may", 80]

    assert ["Requirements!L1: the column 'Level' is there twice. Delete one."] == problems(
        made(tmp_path / "own.xlsx", {"Requirements": rows})
    )


def test_cells_that_are_no_words_need_confirmation(tmp_path: Path) -> None:
    """Formulas without a result, errors, truth values and struck words."""
    path = own(tmp_path, {"Level": "=A1"}, {"Family": "#REF!"}, {"Level": True}, {})

    def strike(whole: Any) -> None:
        whole["Requirements"]["G5"].font = Font(strike=True)

    assert [
        "Requirements!I2: a formula without a result. Save the file in a spreadsheet, or type the value.",
        "Requirements!D3: '#REF!' is the error of a formula. Type the value.",
        "Requirements!I4: 'true' is not clear. Type must, should, may or not.",
        "Requirements!G5: 'brand' is struck through. Delete it, or type again what is meant.",
    ] == problems(changed(path, strike))


def test_a_code_that_became_a_date_needs_confirmation(tmp_path: Path) -> None:
    """A spreadsheet makes the second of January of the code 1-2."""
    (problem,) = problems(own(tmp_path, {"Family": date(2026, 1, 2)}))

    assert problem.startswith("Requirements!D2: '2026-01-02")
    assert problem.endswith("is a date. If it was a code, type it again behind an apostrophe.")


@each_row("language", ["fr-BE", "fra-FR", "French (Belgium)"])
def test_a_variant_of_a_language_is_not_taken_for_the_language(tmp_path: Path, language: str) -> None:
    """Whoever asks for a text in French of Belgium is not given one in French of France."""
    (problem,) = problems(own(tmp_path, {"Attribute": "namePublicLong", "Language": language}))

    assert problem.startswith("Requirements!H2: ")


def test_rows_that_were_sorted_above_the_headings_are_read(tmp_path: Path) -> None:
    """Whoever sorts a whole sheet sorts its headings as well; a title is a cell alone."""
    rows = table({}, {"Attribute": "kind", "Level": "should"})
    sheet = [["Agreed on Tuesday"], rows[1], rows[0], rows[2]]

    assert {("brand", "*"): "must", ("kind", "*"): "should"} == asks(
        prodex.Requirements.read(made(tmp_path / "own.xlsx", {"Requirements": sheet}))
    )


def test_merged_cells_need_confirmation(tmp_path: Path) -> None:
    """Only the first cell of a range holds a value: the rows below would ask nothing."""
    path = own(tmp_path, {}, {"Attribute": "kind"})
    (problem,) = problems(changed(path, lambda whole: whole["Requirements"].merge_cells("I2:I3")))

    assert problem.startswith("Requirements!I2:I3: the cells are merged")
    rows = [["What we ask", None], *table({}), *[[None] * 11] * 2]

    def merge_others(whole: Any) -> None:
        for area in ("A1:E1", "A4:C5", "M3:M5"):
            whole["Requirements"].merge_cells(area)

    read = prodex.Requirements.read(made(tmp_path / "other.xlsx", {"Requirements": rows}, merge_others))
    assert {("brand", "*"): "must"} == asks(read)


def test_a_cell_of_40_000_characters_is_refused(tmp_path: Path) -> None:
    """In CSV, where a cell may be of any length; no such text is cut."""
    path = tmp_path / "own.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(table({"Condition": f"one of: {'A' * 40_000}"}))
    (problem,) = problems(path)

    assert problem == "row 2, condition: has 40,008 characters, and a cell holds 32,767 at most"


def test_families_told_in_two_ways_need_confirmation(tmp_path: Path) -> None:
    """Rows of two files in one sheet: a code of one is none of the other."""
    (problem,) = problems(own(tmp_path, {}, {"By": "gpc", "Family": "50000000"}))

    assert problem.startswith("Requirements!K3: families are told by 'gpc', and by 'kind' in Requirements!K2")


@pytest.mark.parametrize("name", ["web shop", "Web  Shop", "WEB\u00a0SHOP"])
def test_a_channel_spelled_in_two_ways_needs_confirmation(tmp_path: Path, name: str) -> None:
    """As two channels, a product without what the second row asks was complete for the first."""
    (problem,) = problems(own(tmp_path, {}, {"Channel": name, "Attribute": "kind"}))

    assert problem.startswith("Requirements!I3: the channel ")
    assert "from 'Web shop (France)' in Requirements!I2. Write the same in both" in problem
    with pytest.raises(InputError, match="differs by capitals, blanks or the spelling of accents alone"):
        prodex.write_requirements(book(tmp_path), shop(), channels=f"{name}:France", replace=True)


def test_families_that_nobody_says_how_to_tell_need_confirmation(tmp_path: Path) -> None:
    """A code of the GPC is none of a kind; where all families are asked, there is nothing to tell."""
    (problem,) = problems(own(tmp_path, {"Family": "TEA", "By": None}))

    assert problem.startswith("Requirements!K2: no row says by what families are told.")
    assert {("brand", "*"): "must"} == asks(prodex.Requirements.read(own(tmp_path, {"By": None})))


def test_remarks_without_a_heading_and_comments_are_named(tmp_path: Path) -> None:
    """What limits a requirement is written beside it, and nobody heard that it is not read."""
    path = own(tmp_path, {}, {"Attribute": "kind"})
    book = load_workbook(path)
    sheet = book["Requirements"]
    sheet.cell(2, len(HEADINGS) + 2).value = "only from 2027"
    sheet.cell(3, 9).comment = Comment("not for tea", "Ann")
    book.save(path)

    wanted = prodex.Requirements.read(path)

    assert {("brand", "*"): "must", ("kind", "*"): "must"} == asks(wanted)
    place = cell_place(2, len(HEADINGS) + 1)
    assert (
        f"cell Requirements!{place} ('only from 2027'): it is in no column with a heading",
        "comment at Requirements!I3 ('not for tea')",
    ) == wanted.ignored


def test_own_columns_and_sheets_are_left_alone_and_named(tmp_path: Path) -> None:
    """Remarks and priorities of one's own, notes, and hidden sheets; a row of headings may be there twice."""
    rows = [["What we ask"], *table({}), [*HEADINGS]]
    rows[1] += ["Remark", "Priority", "Filled"]
    rows[2] += ["must be agreed with Anna", 3, "33 %"]

    def hide(whole: Any) -> None:
        whole["Old"].sheet_state = "hidden"

    read = prodex.Requirements.read(
        made(tmp_path / "own.xlsx", {"Shop": rows, "Notes": [("Call Ben",)], "Old": table({})}, hide)
    )

    assert {("brand", "*"): "must"} == asks(read)
    assert (
        "sheet Notes",
        "sheet Old (hidden)",
        "column Remark (Shop!L)",
        "column Priority (Shop!M)",
    ) == read.ignored


def test_two_sheets_of_requirements_need_confirmation(tmp_path: Path) -> None:
    """A copy, renamed or not: whoever deletes a row in one of them still has it in the other."""
    path = book(tmp_path)

    def copy(whole: Any) -> None:
        whole.copy_worksheet(whole["Requirements"]).title = "Mine"

    (problem,) = problems(changed(path, copy))
    assert problem == (
        "'Requirements' and 'Mine' are both sheets of requirements, and nobody knows which of them holds. Delete or "
        "hide one."
    )


def test_a_sheet_that_was_renamed_is_the_same(tmp_path: Path) -> None:
    """It is known by its headings, and the hidden sheet by what it holds for all others."""
    path = book(tmp_path)

    def rename(whole: Any) -> None:
        answer(whole, "must", "brand")
        whole["Requirements"].title = "Anforderungen"
        whole["Web shop (France)"].title = "Übersicht"

    read = prodex.Requirements.read(changed(path, rename))
    assert {("brand", "*"): "must"} == asks(read)
    assert ("sheet Übersicht",) == read.ignored


def test_an_empty_workbook_can_be_filled_in(tmp_path: Path) -> None:
    """Without a catalogue nobody knows families and channels: they are added by rows."""
    path = prodex.Requirements().write(tmp_path / "own.xlsx")
    row = dict(zip(HEADINGS, table({"Family": "TEA"})[1], strict=True))
    changed(path, lambda whole: whole["Requirements"].append([row[one] for one in HEADINGS]))

    assert {("brand", "TEA"): "must"} == asks(prodex.Requirements.read(path))


def test_what_is_typed_into_a_matrix_is_listed_and_not_read(tmp_path: Path) -> None:
    """Over a share, over a level, beside the matrix and in the column of shares; it never asks anything."""
    path = book(tmp_path)
    changed(path, lambda whole: answer(whole, "must", "brand"))
    prodex.write_requirements(path, shop(), replace=True)

    def type_there(whole: Any) -> None:
        sheet = whole["Web shop (France)"]
        row = next(row for row in sheet.iter_rows(min_row=7) if row[2].value == "brand")
        assert "must · 33 %" == row[4].value
        row[4].value, row[5].value = "may · 33 %", "x"
        sheet["J7"] = "ask Anna"
        whole["Requirements"]["M2"] = "must"

    row = next(
        number
        for number, row in enumerate(load_workbook(path)["Web shop (France)"].values, 1)
        if row[2] == "brand"
    )
    read = prodex.Requirements.read(changed(path, type_there))
    only = "the sheet only shows, write it in Requirements"
    assert {("brand", "*"): "must"} == asks(read)
    assert {
        f"cell Web shop (France)!J7 ('ask Anna'): {only}",
        f"cell Web shop (France)!E{row} ('may · 33 %'): {only}",
        f"cell Web shop (France)!F{row} ('x'): {only}",
        "cell Requirements!M2 ('must'): the column only shows, write it in the column Level",
    } == set(read.ignored)
    with pytest.raises(InputError, match="would be lost"):
        prodex.write_requirements(path, shop(), replace=True)


def test_a_matrix_that_was_sorted_is_named_with_a_few_of_its_cells(tmp_path: Path) -> None:
    """Somebody may remove the protection: a thousand cells are no thousand lines."""
    path = book(tmp_path)

    def turn(whole: Any) -> None:
        sheet = whole["Web shop (France)"]
        values = [[cell.value for cell in row] for row in sheet.iter_rows(min_row=7)][::-1]
        for number, row in enumerate(values, 7):
            for column, value in enumerate(row, 1):
                sheet.cell(number, column).value = value

    read = prodex.Requirements.read(changed(path, turn))
    assert 21 == len(read.ignored)
    assert read.ignored[-1].endswith("more cells of Web shop (France), which only shows")


def test_a_written_workbook_survives_everyday_handling(tmp_path: Path) -> None:
    """Rows sorted, hidden, filtered, deleted and copied, columns moved and hidden, a title above, a matrix deleted."""
    path = prodex.write_requirements(
        tmp_path / "book.xlsx", shop(), channels=["Web shop:France", "Drive:Belgium:consumer"]
    )

    def handle(whole: Any) -> None:
        answer(whole, "should", "namePublicLong", "fr", condition="at most 80 characters")
        answer(whole, "not", "brand", family="COFFEE")
        sheet = whole["Requirements"]
        rows = [[cell.value for cell in row] for row in sheet.iter_rows(min_row=2)]
        random.Random(7).shuffle(rows)
        heading = [cell.value for cell in sheet[1]]
        sheet.delete_rows(1, sheet.max_row)
        sheet.append(["Agreed on Tuesday"])
        sheet.append([])
        # The first column moved to the end.
        for row in [heading, *rows]:
            sheet.append([*row[1:], row[0]])
        sheet.row_dimensions[12].hidden = True
        sheet.column_dimensions["B"].hidden = True
        sheet.auto_filter.ref = f"A3:M{sheet.max_row}"
        sheet.auto_filter.add_filter_column(7, ["must"])
        del whole["Drive (Belgium)"]

    before = prodex.Requirements.read(path)
    read = prodex.Requirements.read(changed(path, handle))
    assert {
        ("namePublicLong fr", "*"): "should; at most 80 characters",
        ("brand", "COFFEE"): "not",
    } == asks(read)
    assert (before.channels, before.families, before.by) == (read.channels, read.families, read.by)
    assert () == read.ignored


def test_a_channel_is_added_by_its_rows(tmp_path: Path) -> None:
    """A new name with its market, or the same name in another market; rows without a level make it known."""
    read = prodex.Requirements.read(
        own(
            tmp_path,
            {},
            {"Market": "Belgien", "Level": None},
            {"Channel": "Drive", "Consumer units": "FALSE"},
        )
    )

    assert ["Web shop (France)", "Web shop (Belgium)", "Drive (France)"] == [
        one.label for one in read.channels
    ]
    assert [True, True, False] == [one.consumer_units for one in read.channels]


def test_rows_that_were_copied_into_another_program_are_read(tmp_path: Path) -> None:
    """Without the hidden sheet and the matrix, a row still says all that it means."""
    path = book(tmp_path)

    def copy(whole: Any) -> None:
        answer(whole, "must", "brand", family="TEA")
        for name in whole.sheetnames:
            if name != "Requirements":
                del whole[name]

    before = prodex.Requirements.read(path)
    read = prodex.Requirements.read(changed(path, copy))
    assert {("brand", "TEA"): "must"} == asks(read)
    assert (before.channels, before.families) == (read.channels, read.families)


@each_row("encoding", ["utf-8-sig", "utf-8", "utf-16"])
@each_row("separator", [";", ",", "\t"])
def test_csv_is_read_with_any_separator(tmp_path: Path, encoding: str, separator: str) -> None:
    """The sheet that a spreadsheet saved as CSV, with a BOM or without."""
    path = tmp_path / "own.csv"
    rows = table({"Family": "THÉ", "Condition": "one of: A, B"})
    lines = [separator.join(f'"{one or ""}"' for one in row) for row in rows]
    path.write_text("\r\n".join(lines), encoding)

    assert {("brand", "THÉ"): "must; one of: A, B"} == asks(prodex.Requirements.read(path))


def test_csv_in_a_code_page_is_not_guessed(tmp_path: Path) -> None:
    """Excel saves no Unicode unless somebody chooses it: a letter that nobody knows for certain is a problem."""
    path = tmp_path / "own.csv"
    lines = [
        ";".join(one or "" for one in row) for row in table({"Family": "TEA", "Family label": "Thé"}, {})
    ]
    path.write_bytes("\r\n".join(lines).encode("cp1252"))
    (problem,) = problems(path)

    assert problem.startswith("row 2, family_label: ")
    assert "cannot be read" in problem


def test_a_file_takes_no_more_than_its_limits(tmp_path: Path) -> None:
    """An archive of a few bytes may be a billion unpacked: it is refused, with what changes the limit."""
    with pytest.raises(SpreadsheetUnreadable, match=r"Requirements\.read"):
        prodex.Requirements.read(own(tmp_path, {}), limits=prodex.limits.Limits(unpacked_bytes=1_000))


def test_reading_never_changes_the_file(tmp_path: Path) -> None:
    """Neither a file that is read nor one that is refused."""
    for row in ({}, {"Level": "x"}):
        path = own(tmp_path, row)
        before = path.read_bytes()
        with suppress(InputError):
            prodex.Requirements.read(path)
        assert before == path.read_bytes()


def test_other_files_are_refused_in_words(tmp_path: Path) -> None:
    """A worklist, an export, a matrix of one's own, another spreadsheet's format, a broken archive, nothing at all."""
    worklist = made(tmp_path / "worklist.xlsx", {"Read me": [("x",)], "To fix": [("GTIN", "New value")]})
    with pytest.raises(InputError, match=r"worklist\.xlsx has no requirements\. It is a worklist"):
        prodex.Requirements.read(worklist)
    export = made(tmp_path / "export.xlsx", {"products": [("product_id", "gtin"), ("1", "2")]})
    crossed = made(
        tmp_path / "own.xlsx", {"Shop": [("Attribute", "All families", "Tea"), ("Brand", "must", "")]}
    )
    for path in (export, crossed):
        with pytest.raises(
            InputError, match=r"prodex\.write_requirements\('requirements\.xlsx', catalog\) writes one"
        ):
            prodex.Requirements.read(path)
    (tmp_path / "old.xls").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 100)
    with pytest.raises(SpreadsheetUnreadable, match=r"old program \(\.xls\)"):
        prodex.Requirements.read(tmp_path / "old.xls")
    (tmp_path / "cut.xlsx").write_bytes(worklist.read_bytes()[:200])
    with pytest.raises(SpreadsheetUnreadable, match="damaged"):
        prodex.Requirements.read(tmp_path / "cut.xlsx")
    with pytest.raises(InputError, match="is not there"):
        prodex.Requirements.read(tmp_path / "none.xlsx")


def test_another_table_is_refused_with_the_template_beside_it(tmp_path: Path) -> None:
    """An empty workbook of its name, written once: what was filled in there since stays."""
    other = made(tmp_path / "own.xlsx", {"Shop": [("Attribute", "All families"), ("Brand", "must")]})
    with pytest.raises(InputError, match=r"own template\.xlsx beside it is an empty one to fill in"):
        prodex.Requirements.read(other)
    template = tmp_path / "own template.xlsx"
    assert () == prodex.Requirements.read(template).requirements

    def fill_in(whole: Any) -> None:
        sheet = whole["Requirements"]
        for column, text in enumerate(table({})[1], 1):
            sheet.cell(2, column).value = text

    changed(template, fill_in)
    with pytest.raises(InputError, match=r"own template\.xlsx"):
        prodex.Requirements.read(other)
    assert {("brand", "*"): "must"} == asks(prodex.Requirements.read(template))


def test_a_worklist_has_no_template_beside_it(tmp_path: Path) -> None:
    """It is another file of prodex, and nobody has to write it anew."""
    worklist = made(tmp_path / "worklist.xlsx", {"To fix": [("GTIN", "New value")]})
    with pytest.raises(InputError, match="is a worklist"):
        prodex.Requirements.read(worklist)
    assert ["worklist.xlsx"] == [one.name for one in tmp_path.iterdir()]


def test_where_nothing_can_be_written_the_call_is_named(tmp_path: Path) -> None:
    """Something else has the name of the template: it is left alone."""
    other = made(tmp_path / "own.xlsx", {"Shop": [("Attribute", "All families"), ("Brand", "must")]})
    (tmp_path / "own template.xlsx").mkdir()
    with pytest.raises(
        InputError, match=r"prodex\.write_requirements\('requirements\.xlsx', catalog\) writes one"
    ):
        prodex.Requirements.read(other)


def test_a_family_that_was_renamed_in_one_row_is_named_once(tmp_path: Path) -> None:
    """Both cells, and what to do."""
    path = own(
        tmp_path,
        {"Family": "TEA", "Family label": "Tea"},
        {"Family": "TEA", "Family label": "Thé", "Attribute": "kind"},
        {"Family": "TEA", "Family label": "Thé", "Attribute": "gtin"},
    )

    assert [
        (
            "Requirements!I3: the label of family TEA is 'Thé', and 'Tea' in Requirements!I2. Write the same in both."
        )
    ] == problems(path)


@pytest.mark.slow
def test_a_hostile_sheet_takes_no_longer_than_its_cells(tmp_path: Path) -> None:
    """Ranges over the whole sheet, columns at its end, and thousands of problems."""

    def spread(whole: Any) -> None:
        sheet = whole["Requirements"]
        sheet.cell(1_048_576, 16_384).value = "seen"
        sheet.merged_cells.add("P1:XFD1048576")

    path = own(tmp_path, *({"Level": f"x{number}"} for number in range(1_500)))
    found = problems(changed(path, spread))
    assert 1_001 == len(found)
    assert "Requirements!I1002: from here on nothing was read, after so many problems" == found[-1]


_TOKENS = st.sampled_from(
    [
        *(*HEADINGS, "one_of", "Remark", "Web shop", "France", "all", "*", "TEA", "Tea", "must", "should"),
        *("x", "1", "0.5", "83 %", "one of: A, B", "at most 80 characters", "Long name", "namePublicLong"),
        *("fr", "any", "klingon", "brand", "kind", "gpc", "true", "consumer units", "must ;;", '"', "", ""),
    ]
)


@given(st.lists(st.lists(_TOKENS, max_size=11), max_size=9), st.booleans())
def test_no_sheet_is_anything_but_requirements_or_an_error_of_ours(
    rows: list[list[str]], has_headings: bool
) -> None:
    """Whatever is where: read as requirements that can be written, or refused in words."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "own.csv")
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([*([HEADINGS] if has_headings else []), *rows])
        try:
            read = prodex.Requirements.read(path)
        except InputError:
            return
        assert read == prodex.Requirements.read(read.write(Path(folder, "own.toml")))


def test_what_must_be_and_no_product_has_is_noted(tmp_path: Path) -> None:
    """No error, in families of some size: perhaps another attribute was meant."""
    records = [{"id": n, "kind": {"code": "TEA" if n else "MUG", "label": "Tea"}} for n in range(31)]
    path = prodex.write_requirements(tmp_path / "book.xlsx", prodex.flatten(records), channels="Shop")

    def ask(whole: Any) -> None:
        answer(whole, "must", "brand")
        answer(whole, "must", "brand", family="TEA")
        answer(whole, "must", "brand", family="MUG")
        answer(whole, "must", "kind")

    read = prodex.Requirements.read(changed(path, ask))
    assert {
        "must, and no product has it today (31 products)",
        "must, and no product of Tea has it today (30 products)",
    } == {one.partition(": ")[2] for one in read.notes}
    assert 2 == len(read.notes)
    assert () == read.ignored


def _start() -> prodex.Requirements:
    wanted = [
        ["Web shop", "250", "TEA", "brand", "", "must", 'one of: A, "B c"'],
        ["Web shop", "250", "*", "namePublicLong", "fr", "should", ""],
    ]
    columns = ["channel", "market", "family", "attribute", "language", "level", "condition"]
    return prodex.Requirements.of(pd.DataFrame(wanted, columns=columns))


def test_an_export_without_styles_lists_and_shared_texts_says_the_same(tmp_path: Path) -> None:
    """Another program writes texts into their cells, and leaves out formats, lists and locks."""
    path = prodex.write_requirements(tmp_path / "r.xlsx", shop(), start=_start())
    plain = tmp_path / "plain.xlsx"
    with xlsxwriter.Workbook(plain, {"constant_memory": True}) as book:
        for one in load_workbook(path):
            sheet = book.add_worksheet(one.title)
            if one.sheet_state == "hidden":
                sheet.hide()
            for number, row in enumerate(one.iter_rows(values_only=True)):
                sheet.write_row(number, 0, ["" if text is None else text for text in row])
    with ZipFile(plain) as archive:
        assert b"inlineStr" in archive.read("xl/worksheets/sheet2.xml")

    _says_the_same(path, plain)


@pytest.mark.slow
@needs_office
@each_row("through", ["xlsx", "ods"])
def test_a_workbook_that_libreoffice_saved_says_the_same(tmp_path: Path, through: str) -> None:
    """Filled in and saved by another program, in its own format too, with nothing typed into its matrix."""
    path = prodex.write_requirements(tmp_path / "r.xlsx", shop(), start=_start())
    between = saved_again(path, tmp_path, "ods") if through == "ods" else path

    _says_the_same(path, saved_again(between, tmp_path))


def _says_the_same(path: Path, other: Path) -> None:
    before, read = prodex.Requirements.read(path), prodex.Requirements.read(other)
    assert asks(_start()) == asks(read)
    assert (before.channels, before.families, before.requirements) == (
        read.channels,
        read.families,
        read.requirements,
    )
    assert () == read.ignored
