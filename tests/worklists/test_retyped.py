"""What a spreadsheet makes of what somebody types, by cases of spreadsheets that people use."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook

import prodex
from prodex.worklists.retyped import is_made_of, possible_values

from .bakery import RECORDS

*_, THIRD = (one["gtin"] for one in RECORDS)


@pytest.mark.parametrize(
    ("typed", "kind", "held"),
    [
        ("0012", "number", "12"), ("12", "number", "12"), ("1E2", "number", "100"), ("2e3", "number", "2000"),
        ("1E-7", "number", "0.0000001"), ("1.50", "number", "1.5"), ("1,5", "number", "1.5"), ("+7", "number", "7"),
        ("1 234", "number", "1234"), ("1,234", "number", "1234"), ("1.234.567", "number", "1234567"),
        ("00", "number", "0"), ("MAR1", "date", "2026-03-01"), ("SEPT2", "date", "2026-09-02"),
        ("DEC-1", "date", "2026-12-01"), ("1-2", "date", "2026-02-01"), ("1/2", "date", "2026-01-02"),
        ("3.4", "date", "2026-04-03"), ("12/2026", "date", "2026-12-01"), ("2026-11-23", "date", "2026-11-23"),
        ("MAI24", "date", "2026-05-24"), ("März 3", "date", "2026-03-03"), ("5-févr", "date", "2026-02-05"),
        ("OCT-25", "date", "2025-10-01"), ("50%", "percentage", "50"), ("12,5 %", "percentage", "12.5"),
        ("TRUE", "boolean", "true"), ("Wahr", "boolean", "true"), ("FAUX", "boolean", "false"),
    ],
)  # fmt: skip
def test_what_becomes_this_cell(typed: str, kind: str, held: str) -> None:
    """Zeros, exponents, groups, days and months, truth values, in the languages of spreadsheets."""
    assert is_made_of(typed, kind, held)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("typed", "kind", "held"),
    [
        ("0013", "number", "12"), ("12A", "number", "12"), ("ACME", "number", "12"), ("", "number", "0"),
        ("MAR2", "date", "2026-03-01"), ("APR1", "date", "2026-03-01"), ("MARKET1", "date", "2026-03-01"),
        ("A-1-2", "date", "2026-02-01"), ("1", "date", "2026-01-01"), ("50", "percentage", "50"),
        ("TRUE", "boolean", "false"), ("YES", "boolean", "true"), ("12", "text", "12"), ("1E999999999", "number", "1"),
        ("9" * 5_000, "number", "9"), ("1-2", "date", "no date"),
    ],
)  # fmt: skip
def test_what_does_not(typed: str, kind: str, held: str) -> None:
    """Other values, and words that only begin like a month."""
    assert not is_made_of(typed, kind, held)  # type: ignore[arg-type]


def test_several_known_values_may_become_one_cell() -> None:
    """Which of them was typed is not in the cell any more."""
    assert ["12", "0012", "12.0"] == possible_values(["12", "0012", "12.0", "13"], "number", "12")


def read(folder: Path, *cells: tuple[str, str, Any], brands: tuple[str, ...]) -> prodex.worklists.Fix:
    """Read answers from a workbook of another program: field, number format and value, for the third product."""
    book = Workbook()
    book.active.append(["GTIN", "Field", "Language", "New value"])
    for number, (field, shown, value) in enumerate(cells, 2):
        book.active.append([THIRD, field, "fr" if field.startswith("name") else None, value])
        book.active.cell(number, 4).number_format = shown
    book.save(folder / "answers.xlsx")
    others = [
        RECORDS[1] | {"id": 10 + n, "gtin": None, "brand": {"code": code}} for n, code in enumerate(brands)
    ]
    catalog = prodex.flatten([*RECORDS, *others])
    return prodex.read_worklist(folder / "answers.xlsx", catalog, profile={"checks": {"valid_gtin": {}}})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("value", "shown", "brands", "state", "brand"),
    [
        (12, "General", ("0012",), "needs confirmation", "0012"),
        (date(2026, 3, 1), "d-mmm", ("MAR1",), "needs confirmation", "MAR1"),
        (100, "General", ("1E2",), "needs confirmation", "1E2"),
        (True, "General", ("TRUE",), "needs confirmation", "TRUE"),
        (12, "General", ("12",), "accepted", "12"),
        (12, "General", ("12", "0012"), "refused", None),
        (12, "General", ("0013",), "refused", None),
        ("0012", "@", ("0012",), "accepted", "0012"),
    ],
)
def test_a_code_that_a_program_has_changed_needs_confirmation(
    tmp_path: Path, value: Any, shown: str, brands: tuple[str, ...], state: str, brand: str | None
) -> None:
    """With the one code in use that becomes this cell; where there are several or none, the cell is refused."""
    fix = read(tmp_path, ("brand", shown, value), brands=brands)
    assert {state: 1} == fix.counts
    if brand is not None:
        assert [brand] == fix.confirm().preview()["after"].tolist()


def test_a_text_from_a_number_or_a_date_is_refused(tmp_path: Path) -> None:
    """Nobody knows what was typed; a number where a number is asked for is one."""
    cells = [
        ("namePublicLong", "General", 1664),
        ("namePublicShort", "d-mmm", date(2026, 3, 1)),
        ("percentageOfAlcoholByVolume", "General", 5.5),
        ("netContent", "d-mmm", date(2026, 3, 1)),
    ]
    fix = read(tmp_path, *cells, brands=())
    assert {"refused": 3, "accepted": 1} == fix.counts
    assert all("ormat the cell as text" in one for one in fix.refused["reason"])
