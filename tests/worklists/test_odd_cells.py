"""Files that came back with odd cells, in odd encodings: each is said with its place, and the others are read."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from openpyxl import Workbook, load_workbook
from openpyxl.styles import Font

import prodex
from prodex.worklists.answer_files import read_files
from tests.cases import each_row
from tests.formats.archives import SHEET, Parts, rewritten

from .bakery import RECORDS, record, text
from .handling import fill
from .handling import place as column_named

FIRST = RECORDS[0]["gtin"]
HEADINGS = ("GTIN", "Field", "Language", "Value seen", "New value")
SEEN, ANSWER = "Boerenbrood", "Boerenbrood met zaden"
GOOD = (FIRST, "namePublicLong", "nl", SEEN, ANSWER)
NO_CHECKS = {"checks": {"valid_gtin": {}}}


def book(path: Path, *rows: tuple[Any, ...]) -> Path:
    """Write a worklist of one's own."""
    made = Workbook()
    made.active.title = "To fix"
    for row in (HEADINGS, *rows):
        made.active.append(row)
    made.save(path)
    return path


def with_cell(path: Path, place: str, xml: str, of_sheet: str = SHEET) -> Path:
    """Put a cell in the place of another, as XML."""

    def change(parts: Parts) -> Parts:
        import re

        sheet, count = re.subn(
            rf'<c r="{place}".*?(?:</c>|/>)',
            lambda _: xml,
            parts[of_sheet].decode(),
            count=1,
            flags=re.DOTALL,
        )
        assert count == 1
        return parts | {of_sheet: sheet.encode()}

    return rewritten(path, change)


#: Cells of which none can be read: by the words that name it.
ODD = {
    "not a number that a spreadsheet knows": '<c r="{0}"><v>12,5</v></c>',
    "not a text of the workbook": '<c r="{0}" t="s"><v>9999</v></c>',
    "4,301 characters": '<c r="{0}"><v>' + "7" * 4301 + "</v></c>",
    "unknown kind": '<c r="{0}" t="x"><v>7</v></c>',
    "half a character": '<c r="{0}" t="inlineStr"><is><t>_xD83D_</t></is></c>',
    "the error #REF!": '<c r="{0}" t="e"><v>#REF!</v></c>',
    "without its result": '<c r="{0}"><f>B1</f></c>',
    "is not a place in a sheet": '<c r="A{0}"><v>7</v></c>',
}


@pytest.mark.slow
@each_row("column", "ABCDE")
@each_row("words", ODD)
def test_one_cell_costs_one_row(tmp_path: Path, catalog: prodex.Catalog, words: str, column: str) -> None:
    """With file, sheet, row and cell; whatever column it is in, the answers around it are read."""
    path = book(tmp_path / "a.xlsx", GOOD, GOOD, GOOD)
    xml = ODD[words].format(f"{column}3" if "not a place" not in words else "AAA3")
    with_cell(path, f"{column}3", xml)
    fix = prodex.read_worklist(path, catalog, profile=NO_CHECKS)
    if (words, column) == ("without its result", "D"):
        # Programs make a formula of a seen text such as "=HYPERLINK(...)": what was seen is not known, and no more.
        assert {"accepted": 1, "unchanged": 2} == fix.counts
        return
    assert {"accepted": 1, "unchanged": 1, "refused": len(fix.refused)} == fix.counts
    about = fix.refused.iloc[0]
    place = "?3" if "not a place" in words else f"{column}3"
    assert ("To fix", 3, place) == (about["sheet"], about["row"], about["cell"])
    assert words in about["reason"]


def test_a_text_that_became_a_formula_is_not_typed_over(tmp_path: Path) -> None:
    """A program has made a formula of the value seen, and stored a result of its own: nobody has written that."""
    formula = '=HYPERLINK("https://evil.example","click here")'
    saved = prodex.flatten([record(1, FIRST, namePublicLong=[text("fra-FR", formula)])])
    wanted = {"checks": {"texts_without_formulas": {}}}
    prodex.audit(saved, wanted).worklists(tmp_path / "out")
    (path,) = (tmp_path / "out").glob("*.xlsx")
    made = load_workbook(path)
    seen = made["To fix"].cell(2, column_named(made["To fix"], "Value seen")).coordinate
    xml = f'<c r="{seen}"><f>HYPERLINK("https://evil.example","click here")</f><v>0</v></c>'
    with_cell(path, seen, xml, f"xl/worksheets/sheet{made.sheetnames.index('To fix') + 1}.xml")
    fix = prodex.read_worklist(path, saved, profile=wanted)
    assert ({}, 1) == (fix.counts, fix.unanswered)


def test_a_gtin_that_is_formatted_as_a_date_is_said(tmp_path: Path, catalog: prodex.Catalog) -> None:
    """It shows as #### in the spreadsheet, and the file is not damaged. So does a day before all days."""
    path = book(tmp_path / "a.xlsx", GOOD, GOOD, GOOD)
    made = load_workbook(path)
    for place, value in (("A3", int(FIRST)), ("E4", -7)):
        made.active[place].value, made.active[place].number_format = value, "dd/mm/yyyy"
    made.save(path)
    fix = prodex.read_worklist(path, catalog, profile=NO_CHECKS)
    assert ["A3", "E4"] == fix.refused["cell"].tolist()
    assert all("is not a date" in one for one in fix.refused["reason"])
    assert [ANSWER] == fix.accepted["answer"].tolist()


def test_odd_cells_elsewhere_cost_nothing(tmp_path: Path, catalog: prodex.Catalog) -> None:
    """In a sheet of notes, in a column of notes, and in a row that nobody answered."""
    path = book(tmp_path / "a.xlsx", (*GOOD, "note"), (*GOOD[:-1], None, "note"))
    made = load_workbook(path)
    notes = made.create_sheet("Notes")
    for cell in (made.active["F2"], made.active["A3"], notes["A1"]):
        cell.value, cell.number_format = -7, "dd/mm/yyyy"
    made.save(path)
    fix = prodex.read_worklist(path, catalog, profile=NO_CHECKS)
    assert ({"accepted": 1}, 1) == (fix.counts, fix.unanswered)


@pytest.mark.slow
def test_a_hidden_sheet_with_an_odd_cell_says_the_rest(tmp_path: Path, catalog: prodex.Catalog) -> None:
    """And the answers are read, and to be confirmed: somebody has changed what says whose they are."""
    saved = catalog.save("bakery")
    wanted = {"checks": {"required_text": {"attribute": "nameLegal", "language": "nl"}}}
    prodex.audit(saved, wanted).worklists(tmp_path / "out")
    (path,) = (tmp_path / "out").glob("*.xlsx")
    fill(path, {1: "Brood"})
    made = load_workbook(path)
    made["prodex"]["B2"].value, made["prodex"]["B2"].number_format = -7, "dd/mm/yyyy"
    made.save(path)
    fix = prodex.read_worklist(path, saved, profile=wanted)
    assert {"needs confirmation": 1} == fix.counts


def test_text_that_is_struck_through_is_refused(tmp_path: Path, catalog: prodex.Catalog) -> None:
    """The answer, and whose it is; the value that was seen may be, since another one replaces it."""
    path = book(tmp_path / "a.xlsx", *[GOOD] * 4)
    made = load_workbook(path)
    for place in ("E3", "A4", "D5"):
        made.active[place].font = Font(strike=True)
    made.save(path)
    fix = prodex.read_worklist(path, catalog, profile=NO_CHECKS)
    assert ["E3", "A4"] == fix.refused["cell"].tolist()
    assert all("struck through" in one for one in fix.refused["reason"])
    assert {"accepted": 1, "unchanged": 1, "refused": 2} == fix.counts


def test_an_answer_says_what_the_spreadsheet_shows(tmp_path: Path) -> None:
    """Whoever judges it can tell a padded code from a number that somebody typed."""
    path = book(tmp_path / "a.xlsx", *[(*GOOD[:-1], value) for value in (12, 12, 0.5, True, "0012")])
    made = load_workbook(path)
    made.active["E3"].number_format, made.active["E4"].number_format = "0000", "0%"
    made.save(path)
    found = [(one.text, one.kind, one.shown) for one in read_files(path).answers]
    assert [
        ("12", "number", None),
        ("12", "number", "0012"),
        ("50", "percentage", "50%"),
        ("true", "boolean", None),
        ("0012", "text", None),
    ] == found


def test_keys_are_what_the_spreadsheet_shows(tmp_path: Path) -> None:
    """A GTIN with the zeros of its format, and a percentage that was seen; an id is a number."""
    rows = [(3036811359935, "namePublicLong", "nl", 0.5, "x", 7)]
    made = Workbook()
    for row in ((*HEADINGS, "Product"), *rows):
        made.active.append(row)
    for place, code in (("A2", "0" * 14), ("D2", "0%"), ("F2", "0000")):
        made.active[place].number_format = code
    made.save(tmp_path / "a.xlsx")
    (answer,) = read_files(tmp_path / "a.xlsx").answers
    assert ("03036811359935", "50%", "7") == tuple(
        answer.keys[name] for name in ("gtin", "value", "product_id")
    )


CHEESES = {"fr": "Crème brûlée à l'ancienne", "pl": "Żółty ser z Łodzi, gęś", "de": "Käse für Größe Öl"}


@pytest.fixture
def cheeses() -> prodex.Catalog:
    """Return products whose names have the letters of their languages."""
    codes = {"fr": "fra-FR", "pl": "pol-PL", "de": "deu-DE"}
    return prodex.flatten(
        [
            record(number, one["gtin"], namePublicLong=[text(codes[language], name)])
            for number, (one, (language, name)) in enumerate(zip(RECORDS, CHEESES.items(), strict=True), 1)
        ]
    )


def csv_file(path: Path, *rows: tuple[str, ...]) -> str:
    """Return rows as CSV as a German spreadsheet writes it."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=";").writerows([HEADINGS, *rows])
    return path.read_bytes().decode()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "encoding", "answer"),
    [
        *(
            ("fr", one, "Crème à l'ancienne brûlée")
            for one in ("cp1252", "mac_roman", "cp850", "cp437", "utf-16")
        ),
        *(
            ("pl", one, "Gęś i żółty ser z Łodzi")
            for one in ("cp1250", "cp852", "iso8859_2", "utf-16-le", "utf-8")
        ),
        *(
            ("de", one, "Öl und Käse für Größe")
            for one in ("cp1252", "mac_roman", "cp437", "utf-16-be", "utf-8-sig")
        ),
    ],
)
def test_an_answer_has_the_letters_that_agree_with_the_catalogue(
    tmp_path: Path, cheeses: prodex.Catalog, language: str, encoding: str, answer: str
) -> None:
    """In whichever encoding somebody's spreadsheet saved it."""
    number = list(CHEESES).index(language)
    row = (RECORDS[number]["gtin"], "namePublicLong", language, CHEESES[language], answer)
    content = csv_file(tmp_path / "a.csv", row)
    (tmp_path / "a.csv").write_bytes(content.encode(encoding))
    fix = prodex.read_worklist(tmp_path / "a.csv", cheeses, profile=NO_CHECKS)
    assert [answer] == fix.accepted["answer"].tolist()


@pytest.mark.parametrize("encoding", ["cp1252", "mac_roman", "cp850"])
def test_letters_that_agree_with_nothing_are_refused_row_by_row(
    tmp_path: Path, catalog: prodex.Catalog, encoding: str
) -> None:
    """Nothing of this catalogue has them; the rows of plain letters are read."""
    rows = [(*GOOD[:-1], "Boerenbrood à la crème"), GOOD, (*GOOD[:3], "Bröd", ANSWER)]
    content = csv_file(tmp_path / "a.csv", *rows)
    (tmp_path / "a.csv").write_bytes(content.encode(encoding))
    fix = prodex.read_worklist(tmp_path / "a.csv", catalog, profile=NO_CHECKS)
    assert [("E2", 2), ("D4", 4)] == list(fix.refused[["cell", "row"]].itertuples(index=False, name=None))
    assert all("UTF-8" in one for one in fix.refused["reason"])
    assert [ANSWER] == fix.accepted["answer"].tolist()
    assert not {"?", "\ufffd"} & set("".join(map(str, fix.answers.to_numpy().ravel())))


@pytest.mark.slow
def test_the_workbook_beside_it_names_the_catalogue(tmp_path: Path, cheeses: prodex.Catalog) -> None:
    """The rows of a worklist are answered in a table of a program, which was saved in the code page of a country."""
    saved = cheeses.save("cheeses")
    audit = prodex.audit(
        saved,
        {
            "checks": {
                "names_not_in_capitals": {},
                "required_text": {"attribute": "nameLegal", "language": "de"},
            }
        },
    )
    audit.worklists(tmp_path / "out")
    assert (tmp_path / "out" / "index.csv").read_bytes().startswith(b"\xef\xbb\xbf")
    rows = audit.worklist_rows()
    rows["new_value"] = "Käse " + rows["product_id"] + " Größe"
    file = tmp_path / "out" / "answers.csv"
    rows.to_csv(file, sep=";", index=False, encoding="cp1252", errors="replace")
    fix = prodex.read_worklist(tmp_path / "out", profile=NO_CHECKS)
    assert set(rows["new_value"]) == set(fix.accepted["answer"])


@pytest.mark.parametrize("ending", [".csv", ".xlsx"])
def test_an_answer_whose_letters_were_lost_is_refused(
    tmp_path: Path, cheeses: prodex.Catalog, ending: str
) -> None:
    """Where a text of the catalogue shows that the file lost letters, whatever it was saved as later."""
    gtin = RECORDS[1]["gtin"]
    lost = CHEESES["pl"].encode("cp1252", "replace").decode("cp1252")
    assert "?" in lost
    rows = [
        (gtin, "namePublicShort", "pl", "", "?ó?ty ser"),
        (gtin, "description", "pl", "", "Smaczny"),
        (gtin, "namePublicLong", "pl", lost, "?"),
        (RECORDS[0]["gtin"], "description", "fr", "", "Quoi\ufffd"),
    ]
    if ending == ".csv":
        csv_file(tmp_path / "a.csv", *rows)
    else:
        book(tmp_path / "a.xlsx", *rows)
    fix = prodex.read_worklist(tmp_path / f"a{ending}", cheeses, profile=NO_CHECKS)
    refused = fix.refused.set_index("cell")["reason"]
    assert {"E2", "E4", "E5"} == set(refused.index)
    assert repr(CHEESES["pl"]) in refused["E2"]
    assert "cannot read" in refused["E5"]
    assert ["Smaczny"] == fix.accepted["answer"].tolist()


def test_a_question_is_an_answer_where_nothing_was_lost(tmp_path: Path, cheeses: prodex.Catalog) -> None:
    """A question mark alone proves nothing."""
    row = (RECORDS[1]["gtin"], "description", "pl", "", "Dlaczego?")
    csv_file(tmp_path / "a.csv", row, (RECORDS[1]["gtin"], "namePublicLong", "pl", CHEESES["pl"], ""))
    fix = prodex.read_worklist(tmp_path / "a.csv", cheeses, profile=NO_CHECKS)
    assert ["Dlaczego?"] == fix.accepted["answer"].tolist()


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_that_of_the_headings(
    tmp_path: Path, catalog: prodex.Catalog, separator: str
) -> None:
    """In a file whose texts are full of all others, with a letter above."""
    answer = "Boerenbrood, met; zaden | en meer, veel; meer"
    with (tmp_path / "a.csv").open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file, delimiter=separator)
        writer.writerows([["Dear Ben, please; answer, all | of it"], HEADINGS, (*GOOD[:-1], answer)])
    fix = prodex.read_worklist(tmp_path / "a.csv", catalog, profile=NO_CHECKS)
    assert [answer] == fix.accepted["answer"].tolist()


@pytest.mark.parametrize("blank", ["\u200b", "\ufeff", " \u200b\u00a0"])
def test_a_cell_of_blanks_without_width_is_empty(tmp_path: Path, catalog: prodex.Catalog, blank: str) -> None:
    """Pages and mails leave them behind: nobody answered, and no name is replaced by nothing."""
    path = book(tmp_path / "a.xlsx", (*GOOD[:-1], blank), (FIRST, "assets.pictures", "", "", blank))
    fix = prodex.read_worklist(path, catalog, profile=NO_CHECKS)
    assert ({}, 2) == (fix.counts, fix.unanswered)
    copied = prodex.correct_from(f"EAN\tNom\n{FIRST}\t{blank}\n", catalog, ["gtin", "namePublicLong.nl"])
    assert ({}, 1) == (copied.counts, copied.unanswered)


SPELLED = {
    "the cell shows the error": ("#REF!", "#NAME?", "#WERT!", "#NV", "########"),
    "reads like a number": ("1,23E+12", "12.50", "1E2"),
    "reads like a date": ("2026-03-01", "1-Mar", "01. Mrz", "mars-26"),
    "": ("#foodie", "1664", "Pain 5", "7 Up", "MAR1"),
}


@pytest.mark.parametrize("ending", ["csv", "frame"])
@pytest.mark.parametrize("words", SPELLED)
def test_a_text_that_a_spreadsheet_spelled_is_refused_or_asked_about(
    tmp_path: Path, catalog: prodex.Catalog, words: str, ending: str
) -> None:
    """CSV has what a spreadsheet showed, and a frame what a program read of it: neither says what was typed."""
    for typed in SPELLED[words]:
        row = (*GOOD[:-1], typed)
        csv_file(tmp_path / "a.csv", row)
        names = ["gtin", "attribute", "language", "value", "new_value"]
        given = tmp_path / "a.csv" if ending == "csv" else pd.DataFrame([row], columns=names)
        fix = prodex.read_worklist(given, catalog, profile=NO_CHECKS)
        state = {"": "accepted", "the cell shows the error": "refused"}.get(words, "needs confirmation")
        assert ([typed], [state]) == (fix.answers["answer"].tolist(), fix.answers["state"].tolist())
        assert words in fix.answers["reason"][0]


def test_a_text_of_a_workbook_is_what_was_typed(tmp_path: Path, catalog: prodex.Catalog) -> None:
    """Its cell says that it is a text, so no spreadsheet has made a number of it; an error is none anywhere."""
    path = book(tmp_path / "a.xlsx", (*GOOD[:-1], "12.50"), (*GOOD[:-1], "#WERT!"))
    fix = prodex.read_worklist(path, catalog, profile=NO_CHECKS)
    assert {"accepted": 1, "refused": 1} == fix.counts
