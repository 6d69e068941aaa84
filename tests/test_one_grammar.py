"""Wherever a number or a date is typed, it is read alike: what is certain is understood, and all else is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any

import pytest
import typer

import prodex
from prodex.cli.options import moment_of
from prodex.cli.typed_numbers import integer, number
from prodex.errors import ProdexError
from prodex.exploration.range_facets import typed_range
from prodex.formats.workbook_cells import Cell
from prodex.limits import KeepingLimits
from prodex.load.workbook.headings import Heading
from prodex.load.workbook.records import ColumnContent, value_of
from prodex.selection import Range
from prodex.worklists.answer_parsing import read_number as answered
from prodex.written_dates import day_given
from tests.cases import each_row
from tests.test_written_dates import CERTAIN as DATES
from tests.test_written_dates import UNCERTAIN as NO_DATES
from tests.test_written_numbers import CERTAIN as NUMBERS
from tests.test_written_numbers import UNCERTAIN as NO_NUMBERS

Readers = Mapping[str, Callable[[str], Any]]

CATALOG = prodex.flatten([{"id": 7, "lifeCycle": 2, "updatedAt": "2026-11-20T08:00:00"}])


def in_cell(content: ColumnContent) -> Callable[[str], Any]:
    """Return what reads a cell of a workbook."""
    return lambda typed: value_of(Cell(typed, "text"), Heading(None, content))


def limit_of(column: str) -> Callable[[str], Any]:
    """Return what reads the least value of a filter."""
    return lambda typed: typed_range(column, Range(), "least", typed).least


def owners(typed: str) -> int:
    """Read the whole number of a query; a comma divides values there."""
    query = prodex.ProductQuery(owners_in=[typed])
    assert query.owners_in is not None
    return query.owners_in[0]


def day_of_cell(typed: str) -> date:
    """Read a day of a workbook, where it is a moment."""
    return datetime.fromisoformat(in_cell(ColumnContent.MOMENT)(typed)).date()


#: Where numbers are typed.
READ_NUMBERS: Readers = {
    "an answer": answered,
    "a cell of a workbook": in_cell(ColumnContent.NUMBER),
    "a limit of a filter": limit_of("life_cycle"),
    "an option of a command": number,
}
READ_WHOLE: Readers = {
    "a cell of a workbook": in_cell(ColumnContent.INTEGER),
    "a query": owners,
    "an option of a command": integer,
}
READ_DAYS: Readers = {
    "a law": lambda typed: day_given(typed, "as_of"),
    "a cell of a workbook": day_of_cell,
    "a limit of a filter": lambda typed: limit_of("updated_at")(typed).date(),
    "an option of a command": lambda typed: moment_of("now", typed).date(),  # type: ignore[union-attr]
}


def refused(readers: Readers, typed: str) -> None:
    """Assert that a text is refused everywhere; a field that is left empty asks for nothing, and is none."""
    for where, read in readers.items():
        with pytest.raises((ProdexError, typer.BadParameter)):
            pytest.fail(f"{where} reads {typed[:60]!r} as {read(typed)!r}")


@each_row(("typed", "meant"), NUMBERS)
def test_a_number_is_read_alike(typed: str, meant: float) -> None:
    """A number that is not whole is refused where a whole one is asked."""
    assert dict.fromkeys(READ_NUMBERS, meant) == {where: read(typed) for where, read in READ_NUMBERS.items()}
    settings = {"PRODEX_EARLIER_RECORDS_DAYS": typed}
    if meant >= 0:
        assert meant == KeepingLimits.given(settings).days
    if meant == int(meant):
        assert dict.fromkeys(READ_WHOLE, meant) == {where: read(typed) for where, read in READ_WHOLE.items()}
        there = prodex.flatten([{"id": 7, "lifeCycle": int(meant)}, {"id": 8, "lifeCycle": int(meant) + 1}])
        assert ["7"] == there.where(life_cycle=typed).products["product_id"].tolist()
    else:
        refused(READ_WHOLE, typed)


@each_row(
    "typed", [one for why, every in NO_NUMBERS.items() for one in every if why != "16 digits" and one.strip()]
)
def test_what_is_no_number_is_refused_alike(typed: str) -> None:
    """A share with its sign is a number in a cell alone, and ids may have more digits than an amount."""
    readers = dict(READ_NUMBERS)
    if typed == "5 %":
        del readers["an answer"], readers["a cell of a workbook"]
    refused(readers, typed)
    refused(READ_WHOLE if typed != "5 %" else {"a query": owners, "an option of a command": integer}, typed)
    with pytest.raises(ProdexError):
        KeepingLimits.given({"PRODEX_EARLIER_RECORDS_DAYS": typed})
    with pytest.raises(ProdexError):
        CATALOG.where(life_cycle=typed)


@each_row(("typed", "meant"), [one for one in DATES if not isinstance(one[1], datetime)])
def test_a_day_is_read_alike(typed: str, meant: date) -> None:
    """Whoever asks for it."""
    assert dict.fromkeys(READ_DAYS, meant) == {where: read(typed) for where, read in READ_DAYS.items()}


@each_row("typed", [one for every in NO_DATES.values() for one in every if one.strip()])
def test_what_is_no_date_is_refused_alike(typed: str) -> None:
    """Nobody guesses which of two days was meant."""
    refused(READ_DAYS, typed)
    with pytest.raises(ProdexError):
        CATALOG.where(updated_at=typed)
