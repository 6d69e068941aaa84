"""A copied table as text: what spreadsheets put on the clipboard, and CSV; each cell as it was, none beside itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prodex.errors import SpreadsheetUnreadable
from prodex.formats import pasted_text
from prodex.formats.pasted_text import sheet_of_text


def cells(text: str) -> list[list[str]]:
    """Return the cells of a copied table, with empty ones where nothing is."""
    rows = [row for _, row in sheet_of_text(text, Path("paste")).rows()]
    return [[row[place].text if place in row else "" for place in range(max(row) + 1)] for row in rows]


@pytest.mark.parametrize("ending", ["\r\n", "\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_of_every_system_are_read(ending: str, mark: str) -> None:
    """Windows, Linux and the old Mac; with or without the mark that Windows puts in front."""
    copied = mark + ending.join(["GTIN\tName", f'1\t"two{ending}lines"', "", "2\t", "\tx", ""])

    assert [["GTIN", "Name"], ["1", f"two{ending}lines"], ["2"], ["", "x"]] == cells(copied)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ('Riz "bio"', 'Riz "bio"'),
        ('"Bio" Riz', '"Bio" Riz'),
        ('"Bio"', '"Bio"'),
        ('12"', '12"'),
        ('"', '"'),
        ('"a\tb"', "a\tb"),
        ('"a ""b""\nc"', 'a "b"\nc'),
        ('"a\nb" c', None),
    ],
)
def test_quotes_are_letters_unless_the_cell_needs_them(written: str, meant: str | None) -> None:
    """Spreadsheets put a copied cell in quotes only where it has a tab or a line break."""
    found = cells(f"GTIN\tName\n1\t{written}\n2\tnext\n")

    if meant is None:
        assert [["GTIN", "Name"], ["1", '"a'], ['b" c'], ["2", "next"]] == found
    else:
        assert [["GTIN", "Name"], ["1", meant], ["2", "next"]] == found


def test_a_program_that_quotes_everything_is_understood() -> None:
    """Its headings are in quotes as well."""
    assert [["GTIN", "Name"], ["1", 'Riz "bio"']] == cells('"GTIN"\t"Name"\n"1"\t"Riz ""bio"""\n')


@pytest.mark.parametrize(
    "text",
    [
        "GTIN;Name\n1;a, b\n",
        'GTIN,Name\n1,"a, b"\n',
        "sep=;\nGTIN;Name\n1;a, b\n",
        "\ufeffGTIN|Name\r\n1|a, b\r\n",
    ],
)
def test_a_text_without_tabs_is_read_as_csv(text: str) -> None:
    """With the separator that its rows have; a decimal comma is none."""
    assert [["GTIN", "Name"], ["1", "a, b"]] == cells(text)
    assert [["GTIN", "kg"], ["1", "0,5"], ["2", "1,25"]] == cells("GTIN;kg\n1;0,5\n2;1,25\n")
    assert [["GTIN", "kg"], ["1", "0,5"]] == cells("GTIN\tkg\n1\t0,5")


def test_half_a_character_costs_its_cell(recwarn: pytest.WarningsRecorder) -> None:
    """It is one that cannot be read; the others are."""
    (_, first), (_, second) = sheet_of_text("1\ta\ud83d\n2\tb\n", Path("paste")).rows()

    assert ("unreadable", "text", "b") == (first[1].kind, second[1].kind, second[1].text)


def test_what_is_no_table_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text with a character that no text has, and one that is too long; the message counts."""
    for text in ("1\t\0\n", "1;\0\n"):
        with pytest.raises(SpreadsheetUnreadable):
            list(sheet_of_text(text, Path("paste")).rows())
    monkeypatch.setattr(pasted_text, "MOST_CHARACTERS", 10)
    with pytest.raises(SpreadsheetUnreadable, match="has 12 characters, and 10 are read"):
        sheet_of_text("1\t2\n" * 3, Path("paste"))


def as_copied(cell: str) -> str:
    """Return a cell as a spreadsheet puts it on the clipboard."""
    return '"' + cell.replace('"', '""') + '"' if any(sign in cell for sign in "\t\r\n") else cell


#: Of a cell that begins with quotes and needs none, nobody knows where it ends if a later one has quotes as well.
CELLS = st.text(st.sampled_from('ab"\t\n\r;,= é'), max_size=6).filter(
    lambda one: not one.startswith('"') or one != as_copied(one)
)


@given(
    st.lists(st.lists(CELLS, min_size=2, max_size=3), min_size=1, max_size=4), st.sampled_from(["\n", "\r\n"])
)
def test_every_cell_comes_back(rows: list[list[str]], ending: str) -> None:
    """Whatever is in it: as a spreadsheet writes it, so it is read."""
    whole = [["GTIN", "Name"], *rows]
    copied = ending.join("\t".join(map(as_copied, row)) for row in whole)

    found = dict(sheet_of_text(copied, Path("paste")).rows())
    for number, row in enumerate(whole, 1):
        there = found.get(number, {})
        assert row == [there[place].text if place in there else "" for place in range(len(row))]
