"""The small sheets of a workbook: Read me, Summary, Codes, and the hidden one that programs go by."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from xlsxwriter import Workbook

from prodex.quality.worklists.fields import Codes
from prodex.quality.worklists.grid import HIGHEST, LINE, Line, Rows, Styles
from prodex.quality.worklists.sheets import Facts, Worklist, read_me, standing, summary

#: The hidden sheet: names and values as JSON.
KEYS_SHEET = "prodex"

#: Width of a page in characters.
_PAGE = 84


def write_read_me(
    book: Workbook, styles: Styles, worklist: Worklist, facts: Facts, told: Sequence[str]
) -> None:
    """Say what this is, how to fill it in, where it comes from, what is left out, and how to read it."""
    sheet = _sheet(book, "Read me", [_PAGE])
    sheet.hide_gridlines(2)
    rows: list[Line] = []
    for heading, lines in read_me(worklist, facts, told):
        rows.append(([(heading, styles.title)], LINE + 8))
        rows += [([(line, styles.line)], LINE * _lines(line, _PAGE - 5) + 1) for line in lines]
        rows.append(([], LINE))
    sheet.fill_lines(rows, styles.line)


def write_summary(book: Workbook, styles: Styles, worklist: Worklist) -> None:
    """Show each check with its failing products."""
    widths = (10, 40, 46, 10, 10, 56, 30)
    sheet = _sheet(book, "Summary", widths)
    sheet.set_landscape()
    rows: list[Line] = [([(worklist.title, styles.title)], 24)]
    rows += [([(line, styles.unwrapped)], LINE) for line in standing(worklist)]
    headings = ("Severity", "Problem", "Expected", "Products", "Findings", "How to fix", "Check")
    rows += [([], LINE), ([(heading, styles.heading) for heading in headings], 20)]
    sheet.freeze_panes(len(rows), 0)
    for row in summary(worklist).to_dict("records"):
        names = ("severity", "problem", "title", "products", "findings", "fix", "check")
        values = [row[name] for name in names]
        looks = [
            styles.severity[row["severity"]],
            styles.text,
            styles.text,
            styles.number,
            styles.number,
            styles.text,
            styles.text,
        ]
        lines = max(_lines(str(value), width - 2) for value, width in zip(values, widths, strict=True))
        rows.append((list(zip(values, looks, strict=True)), LINE * min(lines, HIGHEST)))
    sheet.fill_lines(rows, styles.text)


def write_codes(book: Workbook, styles: Styles, codes: Codes) -> None:
    """List the codes that cells offer, with their labels."""
    sheet = _sheet(book, "Codes", (24, 20, 60))
    sheet.freeze_panes(1, 0)
    rows: list[Line] = [([(name, styles.heading) for name in ("Field", "Code", "Label")], LINE)]
    for attribute, known in codes.items():
        rows += [([(one or "", styles.plain) for one in (attribute, *pair)], LINE) for pair in known]
    sheet.fill_lines(rows, styles.plain)


def write_keys(book: Workbook, styles: Styles, keys: Mapping[str, Any]) -> None:
    """Say to programs what this is."""
    sheet = _sheet(book, KEYS_SHEET, (20, 60))
    sheet.hide()
    rows = [([(name, styles.plain), (json.dumps(value), styles.plain)], LINE) for name, value in keys.items()]
    sheet.fill_lines(rows, styles.plain)


def _sheet(book: Workbook, name: str, widths: Sequence[int]) -> Rows:
    sheet: Rows = book.add_worksheet(name, worksheet_class=Rows)
    for place, width in enumerate(widths):
        sheet.set_column(place, place, width)
    sheet.set_paper(9)  # A4
    sheet.fit_to_pages(1, 0)
    return sheet


def _lines(text: str, width: int) -> int:
    """Say how many lines a text takes, about."""
    return max(-(-len(text) // width), 1)
