"""Workbooks: the sheets of a worklist as one XLSX file."""

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

from prodex.formats.workbook_cells import LONGEST, MOST_ROWS
from prodex.formats.workbook_writing import (
    Line,
    TextSheet,
    index,
    letters_of,
    spelled_column,
    spelled_row,
    spelled_rows,
    workbook,
)
from prodex.languages import ENGLISH, Message, Translation
from prodex.worklists.answer_fields import AnswerCell, Codes, Fields, add_validation
from prodex.worklists.grid import HIGHEST, LINE, Styles, fill_lines, fit_texts
from prodex.worklists.layout import (
    CODES_SHEET,
    FORMAT,
    KEYS_SHEET,
    READ_ME_SHEET,
    SEVERAL,
    SEVERAL_SHEET,
    SUMMARY_SHEET,
    TO_FIX,
    TO_FIX_SHEET,
    SheetColumn,
    seal_of,
)
from prodex.worklists.sheets import (
    Worklist,
    WorklistFacts,
    read_me_lines,
    rows_for_several,
    sheet_columns,
    summary_rows,
    summary_sentences,
)

#: Workbooks of fewer rows are made in memory, larger ones by way of temporary files.
_SMALL = 5_000
#: Rows that are written at once: with the longest texts in all cells they still fit into an Arrow array.
_AT_ONCE = 500


@dataclass(frozen=True)
class UnshownText:
    """What a workbook could not show in full.

    Attributes
    ----------
    escaped
        Number of characters that no workbook can hold; they are shown as escapes.
    cut
        Number of texts of which only the beginning is shown.
    """

    escaped: int
    cut: int

    def sentences(self, words: Translation) -> list[str]:
        """Return it in sentences."""
        sentences = []
        if self.escaped:
            sentences.append(
                words.say(
                    Message.of_number(
                        "{number} control character, which no workbook can hold, is shown as an escape such as "
                        "{escape}.",
                        "{number} control characters, which no workbook can hold, are shown as escapes such as "
                        "{escape}.",
                        self.escaped,
                        escape="\\x0b",
                    )
                )
            )
        if self.cut:
            sentences.append(
                words.say(
                    Message.of_number(
                        "{number} text is longer than a cell can be ({longest} characters): its cell says how much is "
                        "shown.",
                        "{number} texts are longer than a cell can be ({longest} characters): their cells say how much "
                        "is shown.",
                        self.cut,
                        longest=LONGEST,
                    )
                )
            )
        return sentences


def write_workbook(
    worklist: Worklist,
    facts: WorklistFacts,
    fields: Fields,
    keys: Mapping[str, Any],
    path: Path,
    most_rows: int = MOST_ROWS,
) -> UnshownText:
    """Write the workbook of a worklist.

    Parameters
    ----------
    worklist
        The worklist.
    facts
        The facts that all worklists share.
    fields
        What the fields take.
    keys
        The contents of the hidden sheet, for programs.
    path
        The file.
    most_rows
        Number of rows that a sheet can hold; further rows are written to further sheets.

    Returns
    -------
    UnshownText
        What could not be shown unchanged; the sheet "Read me" lists it as well.
    """
    words = worklist.words
    columns = sheet_columns(worklist.rows, words)
    states = fields.states(worklist.rows)
    held = {name: fit_texts(values) for name, values in columns.items()}
    unshown = UnshownText(sum(one.escaped for one in held.values()), sum(one.cut for one in held.values()))
    with workbook(path, in_memory=len(worklist.rows) < _SMALL) as book:
        styles = Styles(book)
        write_read_me(book, styles, worklist, facts, states, unshown.sentences(words))
        write_summary(book, styles, worklist, states)
        named = [name for name in _unique(columns["attribute"]) if name is not None and name in fields.codes]
        mine = Fields(fields.shapes, {name: fields.codes[name] for name in named})
        per_sheet = most_rows - 1
        names = []
        for number, start in enumerate(range(0, max(len(worklist.rows), 1), per_sheet), 1):
            named_sheet = words.gettext(TO_FIX_SHEET)
            names.append(named_sheet if number == 1 else f"{named_sheet} {number}")
            some = {name: one.texts.slice(start, per_sheet) for name, one in held.items()}
            is_asked = [one is AnswerCell.ASKED for one in states[start : start + per_sheet]]
            _write_to_fix(book, styles, names[-1], some, is_asked, mine, words)
        _write_several(book, styles, rows_for_several(held)[: most_rows - 1], mine, words)
        if mine.codes:
            write_codes(book, styles, mine.codes, words)
        listed = [column.name for column in TO_FIX]
        facts_written = {
            "format": FORMAT,
            **keys,
            "language": words.language,
            "sheets": names,
            "columns": listed,
        }
        write_keys(book, styles, {**facts_written, "seal": seal_of(facts_written)})
    return unshown


def _add_sheet_to_fill_in(
    book: Workbook,
    styles: Styles,
    name: str,
    columns: Sequence[SheetColumn],
    about: Mapping[str, pa.Array],
    is_asked: Sequence[bool],
    fields: Fields,
    words: Translation,
) -> TextSheet:
    """Add a sheet that is filled in: with open cells and what they take, filters, protection, and how it is printed."""
    sheet: TextSheet = book.add_worksheet(name, worksheet_class=TextSheet)
    for place, column in enumerate(columns):
        style = styles.open if column.name in {"new_value", "accept_because"} else styles.text
        sheet.set_column(place, place, column.width, style, {"hidden": True} if column.is_hidden else {})
    sheet.autofilter(0, 0, len(is_asked), len(columns) - 1)
    sheet.protect("", {"autofilter": True, "format_columns": True, "format_rows": True})
    sheet.set_landscape()
    sheet.set_paper(9)
    sheet.fit_to_pages(1, 0)
    sheet.repeat_rows(0)
    page = words.gettext("Page {page} of {pages}", page="&P", pages="&N")
    sheet.set_footer(f"&L{name}&R{page}")
    answers = [column.name for column in columns].index("new_value")
    add_validation(sheet, about, is_asked, fields, answers, words)
    return sheet


def _write_to_fix(
    book: Workbook,
    styles: Styles,
    name: str,
    columns: Mapping[str, pa.Array],
    is_asked: Sequence[bool],
    fields: Fields,
    words: Translation,
) -> None:
    sheet = _add_sheet_to_fill_in(book, styles, name, TO_FIX, columns, is_asked, fields, words)
    # GTIN, name and language stay in sight beside the new value.
    sheet.freeze_panes(1, 3)
    sheet.fill(_to_fix(styles, columns, is_asked, words), len(is_asked) + 1, len(TO_FIX))


def _write_several(
    book: Workbook,
    styles: Styles,
    asked: Sequence[Mapping[str, Any]],
    fields: Fields,
    words: Translation,
) -> None:
    """Write the sheet where one answer is given for several rows; none where no rows ask for the same."""
    if not asked:
        return
    about = {name: pa.array([row[name] for row in asked], pa.string()) for name in ("attribute", "language")}
    name, every = words.gettext(SEVERAL_SHEET), [True] * len(asked)
    sheet = _add_sheet_to_fill_in(book, styles, name, SEVERAL, about, every, fields, words)
    sheet.freeze_panes(1, 0)
    lines: list[Line] = [([(words.gettext(column.heading), styles.heading) for column in SEVERAL], 30)]
    looks = {"new_value": styles.open, "rows": styles.number}
    for row in asked:
        values = [(row[column.name] or "", looks.get(column.name, styles.text)) for column in SEVERAL]
        height = max(
            _line_count(str(value), column.width) for (value, _), column in zip(values, SEVERAL, strict=True)
        )
        lines.append((values, LINE * min(height, HIGHEST)))
    fill_lines(sheet, lines)


def _to_fix(
    styles: Styles, columns: Mapping[str, pa.Array], is_asked: Sequence[bool], words: Translation
) -> Iterator[str]:
    yield spelled_row(1, [(words.gettext(column.heading), styles.heading) for column in TO_FIX], 30)
    text, closed, opened = (index(one) for one in (styles.text, styles.closed, styles.open))
    severities = {name: index(style) for name, style in styles.severity.items()}
    heights = _heights(columns)
    for start in range(0, len(columns["gtin"]), _AT_ONCE):
        some = {name: values.slice(start, _AT_ONCE) for name, values in columns.items()}
        number = pa.array(np.arange(start + 2, start + 2 + len(some["gtin"]))).cast(pa.string())
        # The problem has the colour of its severity, which is not on the screen of a laptop.
        severe = pa.array([severities[one] for one in some["severity"].to_pylist()], pa.string())
        style = {
            **dict.fromkeys(("severity", "problem"), severe),
            "new_value": pa.array(
                [opened if one else closed for one in is_asked[start : start + _AT_ONCE]], pa.string()
            ),
            "accept_because": pa.scalar(opened),
        }
        some["severity"] = pa.array(map(words.gettext, some["severity"].to_pylist()), pa.string())
        written = [
            spelled_column(
                letters_of(place),
                number,
                some[column.name],
                style.get(column.name, pa.scalar(text)),
                is_fit=True,  # `fit_texts` has shown what no workbook can hold as escapes
            )
            for place, column in enumerate(TO_FIX)
        ]
        height = pa.array(heights[start : start + _AT_ONCE]).cast(pa.string())
        yield from spelled_rows(number, written, height)


def _heights(columns: Mapping[str, pa.Array]) -> npt.NDArray[np.int64]:
    """Return the height of each row, which is limited for long texts."""
    lines = np.ones(len(columns["gtin"]), np.int64)
    for column in TO_FIX:
        if not column.is_hidden:
            texts = columns[column.name].fill_null("")
            length = pc.utf8_length(texts).to_numpy()
            breaks = pc.count_substring(texts, "\n").to_numpy()
            lines = np.maximum(lines, -(-length // column.width) + breaks)
    return np.minimum(lines, HIGHEST) * LINE


def _unique(values: pa.Array) -> list[str | None]:
    found: list[str | None] = pc.unique(values).to_pylist()
    return found


#: Width of a page in characters, and its margins in inches.
_PAGE, _MARGIN = 84, 0.4


#: The columns of the sheet "Summary": column of `summary`, heading, width in characters.
_SUMMARY = (
    ("severity", "Severity", 13),
    ("problem", "Problem", 40),
    ("title", "Expected", 46),
    ("products", "Products", 10),
    ("findings", "Findings", 12),
    ("fix", "How to fix", 56),
    ("check", "Check", 30),
)


#: Columns of the summary in words of the service, which are hidden.
_OF_THE_SERVICE = frozenset({"title", "check"})


def write_read_me(
    book: Workbook,
    styles: Styles,
    worklist: Worklist,
    facts: WorklistFacts,
    states: Sequence[AnswerCell],
    unshown: Sequence[str],
) -> None:
    """Write the sheet "Read me": contents, how to fill it in, source, what is left out, and how to read it."""
    sheet = _add_sheet(book, worklist.words.gettext(READ_ME_SHEET), [_PAGE])
    sheet.hide_gridlines(2)
    rows: list[Line] = []
    for heading, lines in read_me_lines(worklist, facts, states, unshown):
        rows.append(([(heading, styles.title)], LINE + 8))
        rows += [([(line, styles.line)], LINE * _line_count(line, _PAGE - 5) + 1) for line in lines]
        rows.append(([], LINE))
    # Some programs fit several columns to a page, and cut one that is too wide.
    sheet.print_area(0, 0, len(rows), 1)
    fill_lines(sheet, rows)


def write_summary(book: Workbook, styles: Styles, worklist: Worklist, states: Sequence[AnswerCell]) -> None:
    """Write the sheet "Summary": each check with its failing products."""
    names, headings, widths = zip(*_SUMMARY, strict=True)
    words = worklist.words
    sheet = _add_sheet(book, words.gettext(SUMMARY_SHEET), widths)
    for place, name in enumerate(names):
        if name in _OF_THE_SERVICE:
            sheet.set_column(place, place, widths[place], None, {"hidden": True})
    sheet.set_landscape()
    rows: list[Line] = [([(worklist.title, styles.title)], 24)]
    rows += [([(line, styles.unwrapped)], LINE) for line in summary_sentences(worklist, states)]
    rows += [([], LINE), ([(words.gettext(heading), styles.heading) for heading in headings], 20)]
    sheet.freeze_panes(len(rows), 0)
    for row in summary_rows(worklist):
        values = [row[name] for name in names]
        looks = [styles.number if isinstance(value, int) else styles.text for value in values]
        looks[0], values[0] = styles.severity[row["severity"]], words.gettext(row["severity"])
        lines = max(_line_count(str(value), width - 2) for value, width in zip(values, widths, strict=True))
        rows.append((list(zip(values, looks, strict=True)), LINE * min(lines, HIGHEST)))
    fill_lines(sheet, rows)


def write_codes(book: Workbook, styles: Styles, codes: Codes, words: Translation = ENGLISH) -> None:
    """Write the sheet "Codes": the codes that cells offer, with their labels."""
    sheet = _add_sheet(book, words.gettext(CODES_SHEET), (24, 20, 60))
    sheet.freeze_panes(1, 0)
    rows: list[Line] = [
        ([(words.gettext(name), styles.heading) for name in ("Field", "Code", "Label")], LINE)
    ]
    for attribute, known in codes.items():
        rows += [([(one or "", styles.plain) for one in (attribute, *pair)], LINE) for pair in known]
    fill_lines(sheet, rows)


def write_keys(book: Workbook, styles: Styles, keys: Mapping[str, Any]) -> None:
    """Write the hidden sheet, by which programs recognize the workbook."""
    sheet = _add_sheet(book, KEYS_SHEET, (20, 60))
    sheet.hide()
    rows = [([(name, styles.plain), (json.dumps(value), styles.plain)], LINE) for name, value in keys.items()]
    fill_lines(sheet, rows)


def _add_sheet(book: Workbook, name: str, widths: Sequence[int]) -> TextSheet:
    sheet: TextSheet = book.add_worksheet(name, worksheet_class=TextSheet)
    for place, width in enumerate(widths):
        sheet.set_column(place, place, width)
    sheet.set_paper(9)  # A4
    sheet.fit_to_pages(1, 0)
    # Programs with a wider font than Excel's cut a single column that is wider than the page.
    sheet.set_margins(left=_MARGIN, right=_MARGIN)
    return sheet


def _line_count(text: str, width: int) -> int:
    """Return about how many lines a text takes."""
    return max(-(-len(text) // width), 1)
