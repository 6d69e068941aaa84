"""Files that cannot be read, or only in part: each is said in words, and the others are read."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Collection
from datetime import date, datetime
from pathlib import Path

import pytest
from openpyxl import Workbook, load_workbook
from openpyxl.utils.datetime import CALENDAR_MAC_1904, CALENDAR_WINDOWS_1900

import prodex
from prodex import limits
from prodex.errors import InputError, SpreadsheetUnreadable
from prodex.formats.spreadsheet_files import sheets_of
from prodex.formats.workbook_cells import Cell
from prodex.worklists.layout import FORMAT

from .bakery import RECORDS
from .handling import fill

FIRST = RECORDS[0]["gtin"]
HEADINGS = ("GTIN", "Field", "Language", "New value")
GOOD = (FIRST, "namePublicLong", "nl", "Boerenbrood met zaden")

#: What files begin with that are no workbook: of old programs, with a password, and of other programs.
OLD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
ENCRYPTED = b"x" * 600 + "EncryptedPackage".encode("utf-16-le")


def book(path: Path, *rows: tuple[object, ...], name: str = "To fix") -> Path:
    """Write a workbook."""
    made = Workbook()
    made.active.title = name
    for row in rows:
        made.active.append(row)
    made.save(path)
    return path


def archive(path: Path, **files: str) -> Path:
    """Write an archive."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            made.writestr(name, content)
    return path


def bomb(path: Path) -> Path:
    """Write a workbook that unpacks to far more than it is."""
    book(path, HEADINGS, GOOD)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as made:
        made.writestr("xl/sharedStrings.xml", b"<sst>" + b" " * 3_000_000)
    return path


def entities(path: Path) -> Path:
    """Write a workbook that declares entities."""
    book(path, HEADINGS, GOOD)
    row = '<row r="1"><c t="str"><v>&a;</v></c></row>'
    content = f'<!DOCTYPE x [<!ENTITY a "aaaa">]><worksheet><sheetData>{row}</sheetData></worksheet>'
    with zipfile.ZipFile(path) as old:
        kept = {name: old.read(name) for name in old.namelist() if name != "xl/worksheets/sheet1.xml"}
    with zipfile.ZipFile(path, "w") as made:
        for name, held in kept.items():
            made.writestr(name, held)
        made.writestr("xl/worksheets/sheet1.xml", content)
    return path


def bytes_of(path: Path, content: bytes) -> Path:
    """Write a file."""
    path.write_bytes(content)
    return path


def cut(path: Path) -> Path:
    """Write half of a workbook."""
    content = book(path, HEADINGS, GOOD).read_bytes()
    return bytes_of(path, content[: len(content) // 2])


UNREADABLE: dict[str, tuple[Callable[[Path], Path], str]] = {
    "a password": (lambda path: bytes_of(path, OLD + ENCRYPTED), "has a password"),
    "an old program": (lambda path: bytes_of(path, OLD + b"x" * 5_000), "old program"),
    "LibreOffice": (lambda path: archive(path, **{"content.xml": "<x/>"}), "OpenDocument"),
    "a binary workbook": (lambda path: archive(path, **{"xl/workbook.bin": "x"}), "binary workbook"),
    "Numbers": (lambda path: archive(path, **{"Index/Document.iwa": "x"}), "Numbers"),
    "an archive": (lambda path: archive(path, **{"a.csv": "x"}), "not a workbook"),
    "a picture": (lambda path: bytes_of(path, b"\x89PNG\r\n\x1a\n\0\0\0"), "neither a workbook nor text"),
    "half a file": (cut, "is damaged"),
    "a bomb": (bomb, "decompression bomb"),
    "entities": (entities, "declares a document type"),
    "no headings": (lambda path: book(path, ("Dear Ben,", "see below"), GOOD), "headings of a worklist"),
    "no answers": (lambda path: book(path, HEADINGS[:3], GOOD[:3]), "no column is called 'New value'"),
    "no products": (lambda path: book(path, HEADINGS[1:], GOOD[1:]), "there is no column 'GTIN'"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("case", UNREADABLE)
def test_what_cannot_be_read_is_said_and_the_others_are_read(
    case: str, tmp_path: Path, catalog: prodex.Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the file and what to do; nothing aborts at the first."""
    make, words = UNREADABLE[case]
    if make is bomb:
        monkeypatch.setattr(limits, "_RATIO_FROM", 2_000_000)
    make(tmp_path / "a.xlsx")
    book(tmp_path / "b.xlsx", HEADINGS, GOOD)
    fix = prodex.read_worklist(tmp_path, catalog, profile={"checks": {"valid_gtin": {}}})
    assert fix.preview()["after"].tolist() == ["Boerenbrood met zaden"]
    (reason,) = fix.refused["reason"]
    assert words in reason
    assert reason.count("cannot be read") <= 1
    assert str(tmp_path) not in reason
    assert fix.refused["file"][0].endswith("a.xlsx")


def test_what_a_cell_does_not_say_needs_confirmation(tmp_path: Path, catalog: prodex.Catalog) -> None:
    """A formula without its result, an error in place of a value, one cell over several rows, a row without product."""
    path = book(tmp_path / "a.xlsx", HEADINGS, GOOD, *[GOOD] * 6)
    made = load_workbook(path)
    sheet = made.active
    sheet["D3"], sheet["D4"], sheet["D5"] = "=VLOOKUP(A3,[prices.xlsx]S!A:B,2,0)", "#REF!", "over two rows"
    sheet["D4"].data_type = "e"
    sheet.merge_cells("D5:D6")
    sheet["A7"] = None
    sheet["B8"] = None
    made.save(path)
    fix = prodex.read_worklist(path, catalog, profile={"checks": {"valid_gtin": {}}})
    asked = fix.refused.set_index("cell")["reason"]
    assert "formula without its result" in asked["D3"]
    assert "error #REF!" in asked["D4"]
    assert "merged over 2 rows" in asked["D5"]
    assert "neither a product nor a GTIN" in asked["D7"]
    assert "no field" in asked["D8"]
    assert len(fix.accepted) == 1


def test_dates_numbers_and_percentages_are_read_as_they_are_shown(tmp_path: Path) -> None:
    """Whether days are counted from 1900 or from 1904."""
    for epoch in (CALENDAR_WINDOWS_1900, CALENDAR_MAC_1904):
        made = Workbook()
        made.epoch = epoch
        sheet = made.active
        day, moment = date(2026, 11, 23), datetime(2026, 11, 23, 8, 30)  # noqa: DTZ001 - a workbook knows no zone
        sheet.append([day, moment, 0.1 + 0.2, 4006381333931, True, 0.125, " x "])
        sheet["F1"].number_format = "0.0%"
        made.save(tmp_path / "a.xlsx")
        with sheets_of(tmp_path / "a.xlsx") as (only,):
            ((_, row),) = only.rows()
        assert [row[place][:2] for place in range(7)] == [
            ("2026-11-23", "date"),
            ("2026-11-23T08:30:00", "date"),
            ("0.3", "number"),
            ("4006381333931", "number"),
            ("true", "boolean"),
            ("12.5", "percentage"),
            (" x ", "text"),
        ]


@pytest.mark.slow
def test_a_hundred_thousand_empty_rows_cost_nothing_much(tmp_path: Path, catalog: prodex.Catalog) -> None:
    """Rows that hold nothing but formats are passed over."""
    path = book(tmp_path / "a.xlsx", HEADINGS, GOOD)
    with zipfile.ZipFile(path) as old:
        kept = {name: old.read(name) for name in old.namelist()}
    sheet = kept["xl/worksheets/sheet1.xml"].decode()
    empty = "".join(f'<row r="{number}"><c r="A{number}" s="0"/></row>' for number in range(3, 100_001))
    kept["xl/worksheets/sheet1.xml"] = sheet.replace("</sheetData>", f"{empty}</sheetData>").encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, held in kept.items():
            made.writestr(name, held)
    fix = prodex.read_worklist(path, catalog, profile={"checks": {"valid_gtin": {}}})
    assert fix.counts == {"accepted": 1}


def test_a_file_that_is_too_large_is_refused(tmp_path: Path, catalog: prodex.Catalog) -> None:
    """By the limits that the caller may set."""
    path = book(tmp_path / "a.xlsx", HEADINGS, *[GOOD] * 500)
    limits = prodex.limits.Limits(unpacked_bytes=20_000)
    fix = prodex.read_worklist(path, catalog, profile={"checks": {"valid_gtin": {}}}, limits=limits)
    assert "unpacked" in fix.refused["reason"][0]
    assert not len(fix.accepted)


def test_a_workbook_of_another_catalogue_is_said_row_by_row(tmp_path: Path, catalog: prodex.Catalog) -> None:
    """Its products are not there, and nothing of it is sent."""
    others = [
        {**one, "id": one["id"] + 100, "gtin": f"0000000000{17 + place}"} for place, one in enumerate(RECORDS)
    ]
    audit = prodex.audit(
        prodex.flatten(others), {"checks": {"required_text": {"attribute": "nameLegal", "language": "nl"}}}
    )
    audit.worklists(tmp_path / "out")
    (path,) = (tmp_path / "out").glob("*.xlsx")
    fill(path, {1: "Brood", 2: "Brood"})
    fix = prodex.read_worklist(path, catalog, profile={"checks": {"valid_gtin": {}}})
    assert fix.counts == {"conflict": 2}
    assert fix.conflicts["reason"].str.contains("is gone").all()


def test_it_is_asked_which_catalogue_and_profile_are_meant(tmp_path: Path, catalog: prodex.Catalog) -> None:
    """Where the workbooks do not say, or say something that is not here."""
    path = book(tmp_path / "a.xlsx", HEADINGS, GOOD)
    with pytest.raises(InputError, match="Give the catalogue"):
        prodex.read_worklist(path)
    prodex.audit(
        catalog, {"checks": {"required_text": {"attribute": "description", "language": "nl"}}}
    ).worklists(tmp_path / "out")
    with pytest.raises(InputError, match="Give the profile"):
        prodex.read_worklist(tmp_path / "out", catalog)
    with pytest.raises(InputError, match="There is no file"):
        prodex.read_worklist(tmp_path / "nothing.xlsx", catalog)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="has no workbook"):
        prodex.read_worklist(tmp_path / "empty", catalog)


@pytest.mark.slow
def test_the_workbooks_name_their_snapshot(tmp_path: Path, catalog: prodex.Catalog) -> None:
    """So that the folder alone is enough; one of a newer layout is refused."""
    saved = catalog.save("bakery")
    prodex.audit(saved, "core").worklists(tmp_path / "out")
    fix = prodex.read_worklist(tmp_path / "out")
    assert (fix.catalog.folder, fix.profile.name) == (saved.folder, "core")
    assert fix.counts == {}
    (path,) = (tmp_path / "out").glob("*.xlsx")
    made = load_workbook(path)
    for number in range(1, 30):
        if made["prodex"].cell(number, 1).value == "format":
            made["prodex"].cell(number, 2).value = str(FORMAT + 1)
    made.save(path)
    fix = prodex.read_worklist(path, saved)
    assert "newer version of prodex" in fix.refused["reason"][0]


@pytest.mark.parametrize(
    ("content", "cells"),
    [
        ("a;b\n1;2\n", ["1", "2"]),
        ("sep=|\na|b\n1|2\n", ["1", "2"]),
        ('a,b\n"1,5","2\n3"\n', ["1,5", "2\n3"]),
        ("a\tb\n1\t2\n", ["1", "2"]),
        ("Title\n\na;b\n1, with commas, more, and more;2\n3, a, b;4", ["3, a, b", "4"]),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_csv_is_read_with_any_separator_and_encoding(
    tmp_path: Path, content: str, cells: list[str], encoding: str
) -> None:
    """The separator is what cuts most lines alike; the letter is that of a text that is known."""
    (tmp_path / "a.csv").write_text(f"{content}é", encoding)

    def known(asked: Collection[str]) -> list[str]:
        return [one.replace("?", "é") for one in asked]

    with sheets_of(tmp_path / "a.csv", known=known) as (only,):
        rows = [row for _, row in only.rows()]
    assert [Cell(one.removesuffix("é"), "text") for one in cells] in [
        [Cell(cell.text.removesuffix("é"), "text") for cell in row.values()] for row in rows
    ]


def test_a_path_that_is_no_file_is_an_error(tmp_path: Path) -> None:
    """Neither a folder nor a name without a file can be opened."""
    for path in (tmp_path, tmp_path / "nothing.xlsx"):
        with pytest.raises(SpreadsheetUnreadable), sheets_of(path):
            pass


def test_a_mail_that_came_back_is_not_passed_over(tmp_path: Path, catalog: prodex.Catalog) -> None:
    """It may have the answers attached; the draft beside its workbook has none."""
    book(tmp_path / "Mill.xlsx", HEADINGS, GOOD)
    for name in ("Mill.eml", "Re Mill.eml", "Re Mill.msg"):
        (tmp_path / name).write_bytes(OLD)
    fix = prodex.read_worklist(tmp_path, catalog, profile={"checks": {"valid_gtin": {}}})
    assert ["Re Mill.eml", "Re Mill.msg"] == [Path(one).name for one in fix.ignored]
    for name in ("Re Mill.eml", "Re Mill.msg"):
        given = prodex.read_worklist(tmp_path / name, catalog, profile={"checks": {"valid_gtin": {}}})
        assert "it is a mail. Save the file that is attached to it" in given.refused["reason"][0]
