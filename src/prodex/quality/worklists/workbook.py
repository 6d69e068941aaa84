"""Workbooks: the sheets of a worklist as one XLSX file.

XlsxWriter makes the workbook; the rows are written here, column by column, which is many times faster and takes every
text as text: nothing in it becomes a formula, a link, a number or markup.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from xlsxwriter import Workbook
from xlsxwriter.utility import xl_col_to_name
from xlsxwriter.worksheet import Worksheet

from prodex.quality.worklists.cells import MOST_ROWS, all_spelled, cell, cells, spelled
from prodex.quality.worklists.fields import Allowed, allowed, is_correctable
from prodex.quality.worklists.sheets import TO_FIX, Facts, Worklist, read_me, shown, standing, summary

#: Version of what readers go by: the hidden sheet of this name, and the columns that it lists.
FORMAT = 1
KEYS_SHEET = "prodex"

Codes = Mapping[str, Sequence[tuple[str, str | None]]]

_ALL_TEXT = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
_SMALL = 20_000
_AT_ONCE = 2_000
_RANGES = 500
_HIGHEST = 8
_LINE = 15
_PAGE = 84
_COLORS = {"blocker": "#F8D7DA", "error": "#FCE5CD", "warning": "#FFF8DC", "info": "#E7F1FA"}
_TEXT = {
    "num_format": "@",
    "valign": "top",
    "text_wrap": True,
    "font_size": 10,
    "border": 1,
    "border_color": "#D9D9D9",
}
_HEADING = {
    "bold": True,
    "font_color": "#FFFFFF",
    "bg_color": "#2F4858",
    "valign": "vcenter",
    "text_wrap": True,
}


@dataclass(frozen=True)
class Told:
    """What a workbook could not show as it is.

    Attributes
    ----------
    escaped
        Characters that no workbook can hold; they stand there as escapes.
    cut
        Texts of which only the beginning stands there.
    """

    escaped: int
    cut: int

    @property
    def words(self) -> list[str]:
        told = []
        if self.escaped:
            told.append(
                f"{self.escaped:,} control characters, which no workbook can hold, are shown as escapes such as \\x0b; "
                "the Parquet and CSV files have them as they are."
            )
        if self.cut:
            told.append(
                f"{self.cut:,} texts are longer than a cell can be (32,767 characters): their cells say how much is "
                "shown; the Parquet and CSV files have all of it."
            )
        return told


class _Rows(Worksheet):  # type: ignore[misc]  # XlsxWriter publishes no types
    """A sheet whose rows come as XML when the file is written."""

    def __init__(self) -> None:
        super().__init__()
        self.content: Iterator[str] = iter(())

    def _write_sheet_data(self) -> None:
        self.fh.write("<sheetData>")
        self.fh.writelines(self.content)
        self.fh.write("</sheetData>")


def write_workbook(
    worklist: Worklist,
    facts: Facts,
    codes: Codes,
    keys: Mapping[str, Any],
    path: Path,
    most_rows: int = MOST_ROWS,
) -> Told:
    """Write one worklist.

    Parameters
    ----------
    worklist
        What stands in it.
    facts
        What all worklists have in common.
    codes
        Known codes with their labels, by attribute.
    keys
        What the hidden sheet says to programs.
    path
        Where to.
    most_rows
        Rows that a sheet holds; what is more goes to further sheets.

    Returns
    -------
    Told
        What could not be shown as it is; "Read me" says it too.
    """
    columns = shown(worklist.rows)
    held = {name: cells(values) for name, values in columns.items()}
    told = Told(sum(one.escaped for one in held.values()), sum(one.cut for one in held.values()))
    with Workbook(str(path), {**_ALL_TEXT, "in_memory": len(worklist.rows) < _SMALL}) as book:
        book.use_zip64()
        styles = _Styles(book)
        _write_read_me(book, styles, worklist, facts, told)
        _write_summary(book, styles, worklist)
        mine = {
            name: codes[name] for name in _unique(columns["attribute"]) if name is not None and name in codes
        }
        per_sheet = most_rows - 1
        names = []
        for number, start in enumerate(range(0, max(len(worklist.rows), 1), per_sheet), 1):
            names.append("To fix" if number == 1 else f"To fix {number}")
            some = {name: one.texts.slice(start, per_sheet) for name, one in held.items()}
            _write_to_fix(book, styles, names[-1], some, mine)
        if mine:
            _write_codes(book, styles, mine)
        _write_keys(
            book, {"format": FORMAT, **keys, "sheets": names, "columns": [column.name for column in TO_FIX]}
        )
    return told


class _Styles:
    """The formats of a workbook; `index` is how cells name them."""

    def __init__(self, book: Workbook) -> None:
        self.text = book.add_format(_TEXT)
        self.plain = book.add_format({**_TEXT, "text_wrap": False})
        self.line = book.add_format({**_TEXT, "border": 0})
        self.unwrapped = book.add_format({**_TEXT, "border": 0, "text_wrap": False})
        self.number = book.add_format({**_TEXT, "num_format": "#,##0"})
        self.heading = book.add_format(_HEADING)
        self.title = book.add_format({"bold": True, "font_size": 14, "font_color": "#2F4858"})
        self.open = book.add_format(
            {**_TEXT, "locked": False, "bg_color": "#FFFFF0", "border_color": "#909090"}
        )
        self.closed = book.add_format({**_TEXT, "bg_color": "#D9D9D9"})
        self.severity = {
            name: book.add_format({**_TEXT, "bg_color": color}) for name, color in _COLORS.items()
        }

    @staticmethod
    def index(style: Any) -> str:
        return str(style._get_xf_index())


def _write_to_fix(
    book: Workbook, styles: _Styles, name: str, columns: Mapping[str, pa.Array], codes: Codes
) -> None:
    sheet = book.add_worksheet(name, worksheet_class=_Rows)
    for place, column in enumerate(TO_FIX):
        style = {"new_value": styles.open}.get(column.name, styles.text)
        sheet.set_column(place, place, column.width, style, {"hidden": True} if column.is_hidden else {})
    sheet.freeze_panes(1, 3)
    rows = len(columns["row"])
    sheet.autofilter(0, 0, rows, len(TO_FIX) - 1)
    sheet.protect("", {"autofilter": True, "format_columns": True, "format_rows": True})
    sheet.set_landscape()
    sheet.set_paper(9)
    sheet.fit_to_pages(1, 0)
    sheet.repeat_rows(0)
    sheet.set_footer(f"&L{name}&RPage &P of &N")
    can = {one: is_correctable(one) for one in _unique(columns["attribute"])}
    _validate(sheet, columns, can, codes)
    sheet.content = _to_fix(styles, columns, can)


def _to_fix(
    styles: _Styles, columns: Mapping[str, pa.Array], can: Mapping[str | None, bool]
) -> Iterator[str]:
    yield _row(1, [(column.heading, styles.heading) for column in TO_FIX], 30)
    text, closed, opened = (styles.index(one) for one in (styles.text, styles.closed, styles.open))
    severities = {name: styles.index(style) for name, style in styles.severity.items()}
    heights = _heights(columns)
    for start in range(0, len(columns["row"]), _AT_ONCE):
        some = {name: values.slice(start, _AT_ONCE) for name, values in columns.items()}
        number = pa.array(np.arange(start + 2, start + 2 + len(some["row"]))).cast(pa.string())
        style = {
            "severity": pa.array([severities[one] for one in some["severity"].to_pylist()], pa.string()),
            "new_value": pa.array([opened if can[one] else closed for one in some["attribute"].to_pylist()]),
        }
        written = [
            _column(xl_col_to_name(place), number, some[column.name], style.get(column.name, pa.scalar(text)))
            for place, column in enumerate(TO_FIX)
        ]
        height = pa.array(heights[start : start + _AT_ONCE]).cast(pa.string())
        rows = pc.binary_join_element_wise(
            '<row r="', number, '" ht="', height, '" customHeight="1">', *written, "</row>", ""
        )
        yield from rows.to_pylist()


def _column(letter: str, number: pa.Array, texts: pa.Array, style: Any) -> pa.Array:
    """Return the cells of a column; where there is no text only what differs from the column's own look."""
    filled = pc.binary_join_element_wise(
        f'<c r="{letter}', number, '" s="', style, '" t="inlineStr"><is><t xml:space="preserve">', all_spelled(texts),
        "</t></is></c>", "",
    )  # fmt: skip
    if texts.null_count == 0:
        return filled
    blank = pa.scalar("")
    if isinstance(style, pa.Array):
        blank = pc.binary_join_element_wise(f'<c r="{letter}', number, '" s="', style, '"/>', "")
    return pc.if_else(texts.is_valid(), filled, blank)


def _heights(columns: Mapping[str, pa.Array]) -> npt.NDArray[np.int64]:
    """Say how high each row has to be to show what it holds, within reason."""
    lines = np.ones(len(columns["row"]), np.int64)
    for column in TO_FIX:
        if not column.is_hidden:
            length = pc.fill_null(pc.utf8_length(columns[column.name]), 0).to_numpy(zero_copy_only=False)
            breaks = pc.fill_null(pc.count_substring(columns[column.name], "\n"), 0).to_numpy(
                zero_copy_only=False
            )
            lines = np.maximum(lines, -(-length // column.width) + breaks)
    return np.minimum(lines, _HIGHEST) * _LINE


def _validate(
    sheet: Any, columns: Mapping[str, pa.Array], can: Mapping[str | None, bool], codes: Codes
) -> None:
    """Say of each cell of "New value" what may stand in it, where that is known."""
    place = next(i for i, column in enumerate(TO_FIX) if column.name == "new_value")
    counts = {name: len(known) for name, known in codes.items()}
    pairs = pa.table([columns["attribute"], columns["language"]], names=["attribute", "language"])
    pairs = pairs.append_column("row", pa.array(np.arange(1, len(pairs) + 1)))
    grouped = pairs.group_by(["attribute", "language"], use_threads=False).aggregate([("row", "list")])
    for pair in grouped.to_pylist():
        attribute = pair["attribute"]
        if not can[attribute]:
            continue
        rule = allowed(attribute, pair["language"], counts)
        if rule is None:
            continue
        ranges = [[first, place, last, place] for first, last in _runs(pair["row_list"])]
        for start in range(0, len(ranges), _RANGES):
            first, *others = ranges[start : start + _RANGES]
            sheet.data_validation(*first, {**_criteria(rule, codes), "other_cells": others})


def _criteria(rule: Allowed, codes: Codes) -> dict[str, Any]:
    about = {
        "input_title": rule.title,
        "input_message": rule.message,
        "error_title": rule.title,
        "error_message": rule.message,
        "error_type": "stop" if rule.strict else "warning",
    }
    if rule.choices:
        return {"validate": "list", "source": list(rule.choices), **about}
    if rule.codes_of is not None:
        first = 2 + sum(len(known) for name, known in _before(codes, rule.codes_of))
        last = first + len(codes[rule.codes_of]) - 1
        return {"validate": "list", "source": f"=Codes!$B${first}:$B${last}", **about}
    return {"validate": "length", "criteria": "<=", "value": rule.longest, **about}


def _before(codes: Codes, name: str) -> Iterator[tuple[str, Sequence[tuple[str, str | None]]]]:
    for other, known in codes.items():
        if other == name:
            return
        yield other, known


def _runs(rows: Sequence[int]) -> list[tuple[int, int]]:
    """Return first and last of each stretch of rows that follow each other.

    >>> _runs([1, 2, 3, 7, 9, 10])
    [(1, 3), (7, 7), (9, 10)]
    """
    numbers = np.sort(np.asarray(rows))
    cuts = np.flatnonzero(np.diff(numbers) != 1)
    firsts, lasts = numbers[np.r_[0, cuts + 1]], numbers[np.r_[cuts, len(numbers) - 1]]
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))


def _write_read_me(book: Workbook, styles: _Styles, worklist: Worklist, facts: Facts, told: Told) -> None:
    sheet = book.add_worksheet("Read me", worksheet_class=_Rows)
    sheet.set_column(0, 0, _PAGE)
    sheet.hide_gridlines(2)
    sheet.set_paper(9)
    sheet.fit_to_pages(1, 0)
    rows = []
    for heading, lines in read_me(worklist, facts, told.words):
        rows += [(heading, styles.title), *((line, styles.line) for line in lines), ("", styles.line)]
    sheet.content = iter(
        [
            _row(
                number,
                [(line, style)],
                _LINE * max(-(-len(line) // (_PAGE - 5)), 1) + (8 if style is styles.title else 1),
            )
            for number, (line, style) in enumerate(rows, 1)
        ]
    )


def _write_summary(book: Workbook, styles: _Styles, worklist: Worklist) -> None:
    sheet = book.add_worksheet("Summary", worksheet_class=_Rows)
    for place, width in enumerate((10, 34, 50, 10, 10, 60)):
        sheet.set_column(place, place, width)
    told = standing(worklist)
    rows: list[tuple[list[tuple[Any, Any]], int]] = [([(worklist.title, styles.title)], 24)]
    rows += [([(line, styles.unwrapped)], _LINE) for line in told]
    headings = ("Severity", "Rule", "Expected", "Products", "Failures", "How to fix")
    rows += [([], _LINE), ([(heading, styles.heading) for heading in headings], 20)]
    sheet.freeze_panes(len(rows), 0)
    sheet.set_landscape()
    sheet.set_paper(9)
    sheet.fit_to_pages(1, 0)
    for row in summary(worklist).to_dict("records"):
        filled = [
            (row["severity"], styles.severity[row["severity"]]),
            (row["check"], styles.text),
            (row["title"], styles.text),
            (int(row["products"]), styles.number),
            (int(row["failures"]), styles.number),
            (row["fix"], styles.text),
        ]
        lines = max(-(-len(row["title"]) // 48), -(-len(row["fix"]) // 58), -(-len(row["check"]) // 32), 1)
        rows.append((filled, _LINE * min(lines, _HIGHEST)))
    sheet.content = iter([_row(number, *one) for number, one in enumerate(rows, 1)])


def _write_codes(book: Workbook, styles: _Styles, codes: Codes) -> None:
    sheet = book.add_worksheet("Codes", worksheet_class=_Rows)
    for place, width in enumerate((24, 20, 60)):
        sheet.set_column(place, place, width)
    sheet.freeze_panes(1, 0)
    rows: list[list[tuple[Any, Any]]] = [[(name, styles.heading) for name in ("Field", "Code", "Label")]]
    for attribute, known in codes.items():
        rows += [[(one, styles.plain) for one in (attribute, code, label or "")] for code, label in known]
    sheet.content = iter([_row(number, row, _LINE) for number, row in enumerate(rows, 1)])


def _write_keys(book: Workbook, keys: Mapping[str, Any]) -> None:
    sheet = book.add_worksheet(KEYS_SHEET, worksheet_class=_Rows)
    sheet.hide()
    plain = book.add_format({"num_format": "@"})
    sheet.content = iter(
        [
            _row(number, [(name, plain), (json.dumps(value), plain)], _LINE)
            for number, (name, value) in enumerate(keys.items(), 1)
        ]
    )


def _row(number: int, filled: Sequence[tuple[Any, Any]], height: int) -> str:
    """Spell one row of texts and numbers, each with its format."""
    written = []
    for place, (value, style) in enumerate(filled):
        at = f'<c r="{xl_col_to_name(place)}{number}" s="{_Styles.index(style)}"'
        if isinstance(value, int):
            written.append(f"{at}><v>{value}</v></c>")
            continue
        text, *_ = cell(value)
        written.append(f'{at} t="inlineStr"><is><t xml:space="preserve">{spelled(text)}</t></is></c>')
    return f'<row r="{number}" ht="{height}" customHeight="1">{"".join(written)}</row>'


def _unique(values: pa.Array) -> list[str | None]:
    found: list[str | None] = pc.unique(values).to_pylist()
    return found
