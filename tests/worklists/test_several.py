"""One answer for several rows: each of them gets it, unless it has its own one; no other row does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook
from openpyxl.styles import Font
from openpyxl.workbook import Workbook

import prodex
from prodex.worklists.layout import SEVERAL_SHEET, TO_FIX

from .handling import key_at, place

#: Four products without a brand, two without storage conditions in French, one with a brand that others have.
RECORDS: list[dict[str, Any]] = [
    {
        "id": number,
        "gtin": gtin,
        "owner": {"id": 4, "name": "Mill"},
        "updatedAt": "2026-10-01T08:00:00",
        "isConsumerUnit": True,
        "namePublicLong": [{"expressedIn": {"code": "fra-FR"}, "data": f"Pain {gtin[-3:]} aux graines"}],
        **({"brand": {"code": "ACME", "label": "Acme"}} if number == 5 else {}),
        **(
            {}
            if number < 3
            else {"conservationAdvices": [{"expressedIn": {"code": "fra-FR"}, "data": "Au frais et au sec."}]}
        ),
    }
    for number, gtin in enumerate(
        ["03036811359935", "03036811359942", "03036811359959", "03036811359966", "03036811359973"], 1
    )
]
PROFILE = {
    "checks": {"has_brand": {}, "required_text": {"attribute": "conservationAdvices", "language": "fr"}}
}
ADVICE = "Conserver au frais et au sec."


@pytest.fixture(scope="module")
def catalog() -> prodex.Catalog:
    """Return the products."""
    return prodex.flatten(RECORDS)


@pytest.fixture
def worklist(tmp_path: Path, catalog: prodex.Catalog) -> Path:
    """Write the worklist of the only owner, and return its workbook."""
    prodex.audit(catalog, PROFILE).worklists(tmp_path / "out")
    return tmp_path / "out" / "Mill-4.xlsx"


def edited(path: Path, *does: Callable[[Workbook], object]) -> None:
    """Change a workbook by another program than ours."""
    book = load_workbook(path)
    for one in book:
        one.protection.disable()
    for do in does:
        do(book)
    book.save(path)


def given(**answers: Any) -> Callable[[Workbook], None]:
    """Answer for several rows at once, by the beginning of what is asked for."""

    def fill(book: Workbook) -> None:
        sheet = book[SEVERAL_SHEET]
        for number in range(2, sheet.max_row + 1):
            asked = str(sheet.cell(number, place(sheet, "Asked for")).value)
            for name, text in answers.items():
                if asked.startswith(name):
                    sheet.cell(number, place(sheet, "New value")).value = text

    return fill


def in_row(gtin: str, asked: str, column: str, text: Any) -> Callable[[Workbook], None]:
    """Write into a row of its own."""

    def fill(book: Workbook) -> None:
        sheet = book["To fix"]
        for number in range(2, sheet.max_row + 1):
            if sheet.cell(number, 1).value == gtin and str(
                sheet.cell(number, place(sheet, "Asked for")).value
            ).startswith(asked):
                sheet.cell(number, place(sheet, column)).value = text

    return fill


def read(path: Path, catalog: prodex.Catalog) -> prodex.worklists.Fix:
    return prodex.read_worklist(path.parent, catalog, profile=PROFILE)


def test_the_sheet_lists_what_several_rows_ask_for_alike(worklist: Path) -> None:
    """The most rows first, in the words of people; its key is hidden."""
    sheet = load_workbook(worklist)[SEVERAL_SHEET]
    rows = [[cell.value or "" for cell in row][:7] for row in sheet.iter_rows(min_row=2)]
    advice = ("Storage conditions missing in French", "Storage conditions: as on the pack", "French")
    assert [
        ["No brand with a code", "Brand: its code or its name", "", "", 4, "", "A code, or its label"],
        [*advice, "", 2, "", "A text in French"],
    ] == rows
    assert sheet.column_dimensions["H"].hidden


@pytest.mark.slow
def test_each_row_gets_the_answer_and_its_own_one_counts_first(
    worklist: Path, catalog: prodex.Catalog
) -> None:
    """Both fields, and a brand that one product has of its own."""
    edited(
        worklist, given(Brand="ACME", Storage=ADVICE), in_row("03036811359942", "Brand", "New value", "Acme")
    )
    fix = read(worklist, catalog)
    assert {"accepted": 6} == dict(fix.counts), fix.answers["reason"].tolist()
    assert (6, 0) == (fix.rows, fix.unanswered)
    brands = fix.accepted[fix.accepted["check"] == "has_brand"]
    assert ["ACME", "Acme", "ACME", "ACME"] == brands.sort_values("gtin")["answer"].tolist()
    shown = fix.preview()
    assert 5 == shown["says"].str.contains(f"written for several rows in Mill-4.xlsx {SEVERAL_SHEET} F").sum()


@pytest.mark.slow
def test_an_answer_that_needs_confirmation_says_where_it_was_written(
    worklist: Path, catalog: prodex.Catalog
) -> None:
    """It is one question for each row, and each can be confirmed."""
    edited(worklist, given(Brand="erledigt"))
    fix = read(worklist, catalog)
    assert {"needs confirmation": 4} == dict(fix.counts)
    assert fix.needs_confirmation["reason"].str.contains(f"{SEVERAL_SHEET} F2").all()
    assert 4 == fix.needs_confirmation["cell"].nunique()


def moved(book: Workbook) -> None:
    for name in ("To fix", SEVERAL_SHEET):
        rows = [[cell.value for cell in row] for row in book[name].iter_rows()]
        book[name].delete_rows(1, len(rows))
        for row in (rows[0], *rows[:0:-1]):
            book[name].append(row[::-1])


def renamed(book: Workbook) -> None:
    book[SEVERAL_SHEET].title = "Für alle"
    book["Für alle"].cell(1, place(book["Für alle"], "New value")).value = "Neuer Wert"


def only_both_sheets(book: Workbook) -> None:
    for name in ("Read me", "Summary", "Codes", "prodex"):
        if name in book:
            del book[name]


@pytest.mark.slow
@pytest.mark.parametrize("handle", [moved, renamed, only_both_sheets])
def test_the_sheet_is_known_however_it_was_handled(
    worklist: Path, catalog: prodex.Catalog, handle: Callable[[Workbook], None]
) -> None:
    """Sorted, columns reversed, renamed, copied into another workbook."""
    edited(worklist, given(Brand="ACME"), handle)
    fix = read(worklist, catalog)
    assert {"accepted": 4} == dict(fix.counts), fix.answers["reason"].tolist()


def without_key(book: Workbook) -> None:
    book[SEVERAL_SHEET].cell(2, 8).value = None


def without_rows(book: Workbook) -> None:
    sheet = book["To fix"]
    for number in range(sheet.max_row, 1, -1):
        if key_at(sheet, number).check == "has_brand":
            sheet.delete_rows(number)


def of_other_rows(book: Workbook) -> None:
    """Their keys are dragged to rows that ask for another thing."""
    without_rows(book)
    sheet = book["To fix"]
    for number in range(2, sheet.max_row + 1):
        sheet.cell(number, place(sheet, "Row key")).value = book[SEVERAL_SHEET].cell(2, 8).value


def as_formula(book: Workbook) -> None:
    book[SEVERAL_SHEET].cell(2, 6).value = "=A1"


def struck(book: Workbook) -> None:
    book[SEVERAL_SHEET].cell(2, 6).font = Font(strike=True)


def merged(book: Workbook) -> None:
    book[SEVERAL_SHEET].merge_cells("F2:F3")


def hidden(book: Workbook) -> None:
    book[SEVERAL_SHEET].sheet_state = "hidden"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("handle", "says"),
    [
        (without_key, "no longer says which rows"),
        (without_rows, "is one of those that it is for"),
        (of_other_rows, "is one of those that it is for"),
        (as_formula, "formula"),
        (struck, "struck through"),
        (merged, "merged over 2 rows"),
        (hidden, "hidden"),
    ],
)
def test_an_answer_for_nobody_is_refused_with_its_place(
    worklist: Path, catalog: prodex.Catalog, handle: Callable[[Workbook], None], says: str
) -> None:
    """It is lost in silence nowhere, and reaches no row that it is not for."""
    edited(worklist, given(Brand="ACME"), handle)
    fix = read(worklist, catalog)
    assert {"refused": 1} == dict(fix.counts)
    assert says in fix.refused["reason"].iloc[0]
    assert ("F2", SEVERAL_SHEET) == tuple(fix.refused[["cell", "sheet"]].iloc[0])


def test_a_row_that_was_typed_over_is_none_of_them(worklist: Path, catalog: prodex.Catalog) -> None:
    """What stands over the value seen may be its answer, and needs confirmation as ever."""
    edited(worklist, given(Brand="ACME"), in_row("03036811359942", "Brand", "Value seen", "Own brand"))
    fix = read(worklist, catalog)
    assert 3 == fix.counts["accepted"]
    assert "03036811359942" not in set(fix.accepted["gtin"])


def test_what_was_copied_from_the_screen_alone_is_read(worklist: Path, catalog: prodex.Catalog) -> None:
    """Without any hidden column: the words of people say the field."""
    book = load_workbook(worklist)
    sheet, own = book["To fix"], Workbook()
    seen = [number for number, column in enumerate(TO_FIX, 1) if not column.is_hidden]
    made = own.active
    for row in sheet.iter_rows():
        made.append([row[column - 1].value for column in seen])
    for number in range(2, made.max_row + 1):
        asked = str(made.cell(number, place(made, "Asked for")).value)
        made.cell(number, place(made, "New value")).value = "ACME" if asked.startswith("Brand") else ADVICE
    path = worklist.with_name("copied.xlsx")
    worklist.unlink()
    own.save(path)
    fix = prodex.read_worklist(path, catalog, profile=PROFILE)
    assert {"accepted": 6} == dict(fix.counts), fix.answers["reason"].tolist()
