"""Workbooks by any program: parts are found by their relationships, whatever they are called."""

from __future__ import annotations

import re
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from openpyxl import Workbook
from xlsxwriter import Workbook as WrittenBook

from prodex.errors import SpreadsheetUnreadable
from prodex.formats.spreadsheet_files import sheets_of
from prodex.formats.workbook_cells import cell_place
from tests.cases import each_row

from .archives import MAIN, Parts, packed, parts_of, rewritten

ROWS = [["GTIN", "Ä & <b>"], ["0012", 12], [None, True], ["x", 0.5]]
EXPECTED = {"A1": "GTIN", "B1": "Ä & <b>", "A2": "0012", "B2": "12", "B3": "true", "A4": "x", "B4": "50"}

STRICT = {
    "http://schemas.openxmlformats.org/spreadsheetml/2006/main": "http://purl.oclc.org/ooxml/spreadsheetml/main",
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships": (
        "http://purl.oclc.org/ooxml/officeDocument/relationships"
    ),
}


def renamed(parts: Parts, **names: str) -> Parts:
    """Rename parts, and what refers to them; `__` is a dot and `_` a slash."""
    return _moved(parts, {old.replace("__", ".").replace("_", "/"): new for old, new in names.items()})


def _moved(parts: Parts, names: dict[str, str]) -> Parts:
    made = {}
    for name, content in parts.items():
        if name.endswith((".rels", "[Content_Types].xml")):
            for old, new in names.items():
                for spelling in (old, f"/{old}", old.removeprefix("xl/")):
                    made_of = made.get(names.get(name, name), content)
                    made[names.get(name, name)] = made_of.replace(
                        f'"{spelling}"'.encode(), f'"/{new}"'.encode()
                    )
        made.setdefault(names.get(name, name), content)
    return made


def _with_workbook(parts: Parts, name: str) -> Parts:
    """Move the workbook, and with it the relationships, which lie beside it."""
    moved = _moved(_changed(parts, _absolute), {"xl/workbook.xml": name})
    folder, _, base = name.rpartition("/")
    moved[f"{folder}/_rels/{base}.rels".lstrip("/")] = moved.pop("xl/_rels/workbook.xml.rels")
    return moved


def _changed(parts: Parts, change: Callable[[str, str], str]) -> Parts:
    return {name: change(name, content.decode()).encode() for name, content in parts.items()}


def _strict(name: str, text: str) -> str:
    for old, new in STRICT.items():
        text = text.replace(old, new)
    return text


def _prefixed(name: str, text: str) -> str:
    if "xl/worksheets/" not in name and not name.endswith(
        ("sharedStrings.xml", "workbook.xml", "styles.xml")
    ):
        return text
    text = re.sub(r"<(/?)(?=[A-Za-z])", r"<\1x:", text).replace(f'xmlns="{MAIN}"', f'xmlns:x="{MAIN}"')
    return text.replace("<x:?xml", "<?xml")


def _unspaced(name: str, text: str) -> str:
    return text.replace(f' xmlns="{MAIN}"', "")


def _absolute(name: str, text: str) -> str:
    is_of_book = name == "xl/_rels/workbook.xml.rels"
    return re.sub(r'Target="(?!/|http)([a-z])', r'Target="/xl/\1', text) if is_of_book else text


def _relative(name: str, text: str) -> str:
    return (
        re.sub(r'Target="/?xl/', 'Target="./../xl/', text) if name == "xl/_rels/workbook.xml.rels" else text
    )


def _utf_16(parts: Parts) -> Parts:
    made = dict(parts)
    for name in parts:
        if name.startswith("xl/") and name.endswith((".xml", ".rels")):
            text = re.sub(r"^<\?xml[^>]*\?>", "", parts[name].decode())
            made[name] = ('<?xml version="1.0" encoding="UTF-16"?>' + text).encode("utf-16")
    return made


def _spaced(parts: Parts) -> Parts:
    """Let a part have a blank in its name, which relationships write as %20."""
    moved = _moved(parts, {"xl/worksheets/sheet1.xml": "xl/worksheets/sheet%201.xml"})
    moved["xl/worksheets/sheet 1.xml"] = moved.pop("xl/worksheets/sheet%201.xml")
    return moved


def _without(*words: str) -> Callable[[Parts], Parts]:
    """Leave relationships out that have one of these words."""

    def change(name: str, text: str) -> str:
        for word in words:
            text = re.sub(rf"<Relationship [^>]*{word}[^>]*/>", "", text)
        return text

    return lambda parts: _changed(parts, change)


WAYS: dict[str, Callable[[Parts], Parts]] = {
    "as it is": lambda p: p,
    "texts in capitals": lambda p: renamed(p, xl_sharedStrings__xml="xl/SharedStrings.xml"),
    "texts elsewhere": lambda p: renamed(p, xl_sharedStrings__xml="texts/all of them.xml"),
    "another workbook": lambda p: _with_workbook(p, "xl/workbook2.xml"),
    "a workbook in another folder": lambda p: _with_workbook(p, "book/main.xml"),
    "a workbook at the top": lambda p: _with_workbook(p, "workbook.xml"),
    "a sheet in capitals": lambda p: renamed(p, xl_worksheets_sheet1__xml="xl/worksheets/Sheet1.XML"),
    "capitals in the archive alone": lambda p: {
        n.replace("sheet1", "Sheet1").replace("shared", "Shared").replace("styles", "Styles"): c
        for n, c in p.items()
    },
    "backslashes": lambda p: {n.replace("/", "\\"): c for n, c in p.items()},
    "backslashes in targets": lambda p: _changed(
        p, lambda n, t: t.replace("worksheets/sheet1", "worksheets\\sheet1") if n.endswith(".rels") else t
    ),
    "slashes before all names": lambda p: {f"/{n}": c for n, c in p.items()},
    "targets from the top": lambda p: _changed(p, _absolute),
    "targets with dots": lambda p: _changed(p, _relative),
    "blanks in a name": _spaced,
    "strict": lambda p: _changed(p, _strict),
    "with prefixes": lambda p: _changed(p, _prefixed),
    "without namespaces": lambda p: _changed(p, _unspaced),
    "as UTF-16": _utf_16,
    "without content types": lambda p: {n: c for n, c in p.items() if "Content_Types" not in n},
    "without the first relationships": lambda p: {n: c for n, c in p.items() if n != "_rels/.rels"},
    "without relationships of texts and formats": _without("sharedStrings", "styles"),
    "with comments": lambda p: _changed(
        p,
        lambda _, t: t.replace("<sheetData>", "<!-- <row r='9'> --><sheetData>").replace(
            "</row>", "<!--x--></row>"
        ),
    ),
    "with what extensions add": lambda p: _changed(
        p,
        lambda _, t: t.replace("</row>", '<extLst><ext uri="x"><y/></ext></extLst></row>').replace(
            "<row ", '<row xmlns:d="urn:d" d:descent="0.2" ht="15" customHeight="1" '
        ),
    ),
}


def made_by(program: str, path: Path) -> Path:
    """Write the rows with a program."""
    if program == "openpyxl":
        made = Workbook()
        made.active.title = "To fix"
        for row in ROWS:
            made.active.append(row)
        made.active["B4"].number_format = "0%"
        made.save(path)
        return path
    book = WrittenBook(str(path))
    sheet = book.add_worksheet("To fix")
    for number, row in enumerate(ROWS):
        for place, value in enumerate(row):
            if value is not None:
                sheet.write(
                    number, place, value, book.add_format({"num_format": "0%"}) if value == 0.5 else None
                )
    book.close()
    return path


@each_row("program", ["openpyxl", "XlsxWriter"])
@each_row("way", WAYS)
def test_a_workbook_is_read_whatever_its_parts_are_called(tmp_path: Path, way: str, program: str) -> None:
    """The same cells, whoever wrote it and however its archive looks."""
    path = rewritten(made_by(program, tmp_path / "a.xlsx"), WAYS[way])
    with sheets_of(path) as sheets:
        found = {
            cell_place(number, column): cell.text
            for number, row in sheets[0].rows()
            for column, cell in row.items()
        }
        names = [sheet.name for sheet in sheets]
    assert ["To fix"] == names
    assert EXPECTED == found


def test_sheets_of_one_name_are_both_read(tmp_path: Path) -> None:
    """No program writes that, and nothing of it may be lost."""
    made = Workbook()
    made.active.append(["first"])
    made.create_sheet("Other").append(["second"])
    made.save(tmp_path / "a.xlsx")
    rewritten(
        tmp_path / "a.xlsx",
        lambda p: _changed(
            p, lambda n, t: t.replace('name="Other"', 'name="Sheet"') if "workbook.xml" in n else t
        ),
    )
    with sheets_of(tmp_path / "a.xlsx") as sheets:
        assert [["first"], ["second"]] == [
            [cell.text for _, row in one.rows() for cell in row.values()] for one in sheets
        ]


def test_charts_and_macros_are_no_sheets(tmp_path: Path) -> None:
    """A sheet that shows a chart alone has no rows."""
    book = WrittenBook(str(tmp_path / "a.xlsx"))
    chart = book.add_chart({"type": "bar"})
    chart.add_series({"values": "='To fix'!$A$1:$A$2"})
    book.add_chartsheet("Chart").set_chart(chart)
    book.add_worksheet("To fix").write(0, 0, "x")
    book.close()
    with sheets_of(tmp_path / "a.xlsx") as sheets:
        assert ["To fix"] == [one.name for one in sheets]


REFUSED: dict[str, tuple[Callable[[Parts], Parts], str]] = {
    "a document": (
        lambda p: {
            **{n: c for n, c in p.items() if not n.startswith("xl/")},
            "_rels/.rels": p["_rels/.rels"].replace(b"xl/workbook.xml", b"word/document.xml"),
            "word/document.xml": b"<w:document xmlns:w='urn:w'/>",
        },
        "not a workbook",
    ),
    "a binary workbook of another name": (
        lambda p: {
            "[Content_Types].xml": p["[Content_Types].xml"].replace(
                b"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml",
                b"application/vnd.ms-excel.sheet.binary.macroEnabled.main",
            ),
            "_rels/.rels": p["_rels/.rels"].replace(b"workbook.xml", b"book.bin"),
            "xl/book.bin": b"\0",
        },
        "binary workbook",
    ),
    "a sheet that is not there": (
        lambda p: {n: c for n, c in p.items() if "sheet1" not in n},
        "its sheet 'To fix' is not in it",
    ),
    "another encoding": (
        lambda p: p
        | {
            "xl/worksheets/sheet1.xml": b"<?xml version='1.0' encoding='cp037'?>"
            + p["xl/worksheets/sheet1.xml"].decode().encode("cp037", "ignore")
        },
        "cp037",
    ),
    "an entity in its texts": (
        lambda p: p
        | {"xl/sharedStrings.xml": b"<!DOCTYPE x [<!ENTITY a 'b'>]>" + b"<sst><si><t>&a;</t></si></sst>"},
        "document type",
    ),
    "an entity in its relationships": (
        lambda p: p | {"xl/_rels/workbook.xml.rels": b"<!DOCTYPE x SYSTEM 'file:///etc/passwd'><Relationships/>"},
        "document type",
    ),
    "an entity in its formats": (
        lambda p: p | {"xl/styles.xml": b"<!-- x --><!DOCTYPE x><styleSheet/>"},
        "document type",
    ),
    "half a sheet": (
        lambda p: p | {"xl/worksheets/sheet1.xml": p["xl/worksheets/sheet1.xml"].partition(b"</row>")[0]},
        "is damaged",
    ),
}  # fmt: skip


@each_row("case", REFUSED)
def test_what_is_no_workbook_is_refused_with_the_reason(tmp_path: Path, case: str) -> None:
    """With the name of the file and no other path, and with what to do."""
    change, words = REFUSED[case]
    path = rewritten(made_by("openpyxl", tmp_path / "a.xlsx"), change)

    def read() -> None:
        with sheets_of(path) as sheets:
            for sheet in sheets:
                list(sheet.rows())

    with pytest.raises(SpreadsheetUnreadable, match=words) as raised:
        read()
    assert str(tmp_path) not in str(raised.value)


def test_a_part_with_a_password_is_refused(tmp_path: Path) -> None:
    """The archive says that it is locked; nobody asks for a password."""
    path = made_by("openpyxl", tmp_path / "a.xlsx")
    content = bytearray(path.read_bytes())
    at = -1
    while (at := content.find(b"PK\x01\x02", at + 1)) >= 0:
        content[at + 8] |= 1
    at = -1
    while (at := content.find(b"PK\x03\x04", at + 1)) >= 0:
        content[at + 6] |= 1
    path.write_bytes(content)
    with pytest.raises(SpreadsheetUnreadable, match="password"), sheets_of(path):
        pass


def test_of_two_parts_of_one_name_the_last_counts(tmp_path: Path) -> None:
    """As programs do that read archives; none is read in part."""
    path = made_by("openpyxl", tmp_path / "a.xlsx")
    parts = parts_of(path.read_bytes())
    packed(path, parts | {"xl/worksheets/sheet1.xml": b"<worksheet/>"})
    with warnings.catch_warnings(), zipfile.ZipFile(path, "a") as archive:
        warnings.simplefilter("ignore")
        archive.writestr("xl/worksheets/sheet1.xml", parts["xl/worksheets/sheet1.xml"])
    with sheets_of(path) as (sheet,):
        assert 4 == len(list(sheet.rows()))
