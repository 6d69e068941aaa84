"""The requirements workbook: what it is, the sheet that is filled in, and a locked matrix of each channel.

The sheet Requirements has one requirement a row, by codes. A matrix shows families beside attributes: the level that is
asked, and the share of products that have the attribute. Its cells are texts, which the hidden sheet holds as well: so
what somebody types there is known.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeVar

from prodex.colour_scale import SCALE, shade
from prodex.facts.market import REQUIRED_LANGUAGES
from prodex.formats.workbook_cells import held_by_a_cell
from prodex.formats.workbook_writing import Line, TextSheet, letters_of, workbook
from prodex.locales import markets
from prodex.phrases import percent
from prodex.quality.asks import Ask, Level
from prodex.quality.codes_in_use import code_in_words
from prodex.quality.requirement_files.layout import (
    FORMAT,
    KEYS_SHEET,
    NO_PRODUCTS,
    NOT_ASKED,
    READ_ME,
    REQUIREMENTS,
    SHOWN,
    heading_of,
)
from prodex.quality.requirement_files.rows import ALL_MARKETS, ANY, COLUMNS, check_lengths, row_of
from prodex.quality.requirement_files.workbook_contents import (
    MOST_FAMILIES,
    USUAL,
    ChannelSheet,
    SheetRow,
    WorkbookContents,
)
from prodex.quality.requirements import ALL, RequirementEntry

#: Columns of the sheet that is filled in, each with its width in characters.
_WIDTHS: Mapping[str, int] = {
    "channel": 18,
    "market": 12,
    "consumer_units": 10,
    "family": 14,
    "family_label": 20,
    "family_parent": 12,
    "attribute": 32,
    "language": 9,
    "level": 9,
    "condition": 30,
    "by": 9,
    "attribute_name": 34,
    "filled": 12,
}
#: Columns of a matrix before those of families, with their widths.
_BEFORE = (("Attribute", 34), ("Language", 9), ("Path", 24), ("Filled", 12))
_FIRST_COLUMN, _WIDTH = len(_BEFORE), 16
#: Rows of a matrix above its attributes, the last one with what columns are called.
_ROWS_ABOVE = 6
#: What a matrix calls the column of all families, and what divides the level from the share.
_ALL_FAMILIES, _BEHIND = "All families", " · "
#: Products of a family of which it is remarkable that none has what it must have.
_LARGE = 20
#: Rows below the last one that have lists to choose from as well.
_MORE_ROWS = 1_000
#: The part of white in the ground of a cell.
_PALE = 0.55
_LONGEST_SHEET_NAME = 31
#: Characters of a message beside a cell.
_LONGEST_MESSAGE = 255
#: Characters that a cell of a matrix shows, of which the hidden sheet holds so many in a cell in any script.
_LONGEST_SHOWN, _CELLS_TOGETHER = 200, 10
#: Characters of a cell of the hidden sheet, and of the label of a code.
_LONGEST_FACT, _LONGEST_LABEL = 30_000, 60
_INK, _HEADING, _GREY, _LINES = "#1F2A30", "#2F4858", "#7A7A7A", "#D9D9D9"
#: How letters look by what is asked.
_LEVELS: Mapping[Level, Mapping[str, Any]] = {
    Level.MUST: {"bold": True, "font_color": "#0B3D66"},
    Level.SHOULD: {"font_color": "#0B3D66"},
    Level.NOT: {"italic": True, "font_color": "#555555"},
}
T = TypeVar("T")
#: The value and the format of a cell.
_Cell = tuple[str, Any]


def write_workbook(contents: WorkbookContents, path: Path) -> None:
    """Write the workbook; `path` is a file that nobody reads yet.

    Raises
    ------
    InputError
        When a cell cannot hold a text.
    """
    rows = [*_table(contents)]
    check_lengths(rows)
    with workbook(path, in_memory=True) as book:
        looks = _Looks(book)
        names = sheet_names([sheet.channel.label for sheet in contents.sheets])
        _write_read_me(book, looks, contents)
        lists = _lists(contents)
        _write_table(book, looks, rows, lists)
        facts = [("format", FORMAT), *_known(contents)]
        for name, sheet in zip(names, contents.sheets, strict=True):
            facts.append(("matrix", [name, sheet.channel.label]))
            facts += _write_matrix(book, looks, name, sheet, contents)
        _write_keys(book, facts, lists)


def sheet_names(labels: Sequence[str]) -> list[str]:
    """Return names that sheets can have, each another one.

    >>> sheet_names(["Web shop (France)", "A/B", "x" * 40, "a_b", "Read me"])
    ['Web shop (France)', 'A_B', 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', 'a_b 2', 'Read me 2']
    """
    taken = {READ_ME.casefold(), REQUIREMENTS.casefold(), KEYS_SHEET.casefold(), "history"}
    names = []
    for label in labels:
        plain = (
            re.sub(r"[\[\]:*?/\\\x00-\x1f\ufffe\uffff]", "_", label).strip("' ")[:_LONGEST_SHEET_NAME] or "_"
        )
        name, number = plain, 1
        while name.casefold() in taken:
            number += 1
            name = f"{plain[: _LONGEST_SHEET_NAME - len(str(number)) - 1]} {number}"
        taken.add(name.casefold())
        names.append(name)
    return names


@dataclass(frozen=True)
class _Looks:
    """The formats of a workbook, each made once."""

    book: Any
    _made: dict[tuple[tuple[str, Any], ...], Any] = field(default_factory=dict)

    def of(self, **settings: Any) -> Any:
        """Return a format."""
        whole = {"font_size": 10, "valign": "vcenter", **settings}
        key = tuple(sorted(whole.items()))
        if key not in self._made:
            self._made[key] = self.book.add_format(whole)
        return self._made[key]

    @cached_property
    def heading(self) -> Any:
        return self.of(
            bold=True,
            font_color="#FFFFFF",
            bg_color=_HEADING,
            text_wrap=True,
            border=1,
            border_color=_HEADING,
        )

    def cell(self, share: float | None, level: Level | None) -> Any:
        """Return the format of a cell of the matrix: the ground by its share, the letters by its level."""
        look: dict[str, Any] = {"border": 1, "border_color": _LINES, "align": "center"}
        if share is not None:
            look["bg_color"] = ground(share)
        elif level is None:
            look["font_color"] = _GREY
        return self.of(**look, **(_LEVELS.get(level, {}) if level is not None else {}))


def ground(share: float) -> str:
    """Return the ground of a cell: the shade of its share, pale enough for black letters.

    >>> ground(1.0), ground(0.5)
    ('#FFFFFF', '#FEDBBC')
    """
    # The darker half of the scale is for white letters.
    colour = SCALE[(shade(share) + 1) // 2].light
    parts = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return "#" + "".join(f"{round(255 * _PALE + one * (1 - _PALE)):02X}" for one in parts)


def _table(contents: WorkbookContents) -> Iterator[dict[str, str]]:
    """Yield the rows of the sheet that is filled in: of each channel its attributes, then families without any."""
    by, used = contents.requirements.by, set()
    for sheet in contents.sheets:
        if not sheet.rows:
            yield row_of(by, RequirementEntry(sheet.channel))
        for row in sheet.rows:
            asks = contents.asks(sheet, row)
            for family, ask, share in zip_longest((None, *contents.families), asks, row.shares):
                if ask is not None or family is None:
                    cells = row_of(by, RequirementEntry(sheet.channel, family, row.asked, ask))
                    used.add(cells["family"])
                    yield cells | {"attribute_name": row.title, "filled": _share(row, share)}
    unused = [one for one in contents.families if one.code not in used]
    yield from (row_of(by, RequirementEntry(None, one)) for one in unused)
    if not contents.sheets and not unused:
        yield row_of(by, RequirementEntry())


def _share(row: SheetRow, share: float | None) -> str:
    """Return what a cell of a row shows of the catalogue."""
    if not row.shares:
        return ""
    if not row.is_asked:
        return NOT_ASKED
    return NO_PRODUCTS if share is None else percent(share, 0)


def _lists(contents: WorkbookContents) -> Mapping[str, Sequence[str]]:
    """Return what can be chosen in each column."""
    sheets = contents.sheets
    attributes = dict.fromkeys(row.asked.attribute for sheet in sheets for row in sheet.rows)
    if not contents.source:
        attributes |= dict.fromkeys(USUAL)
    own = {row.asked.language for sheet in sheets for row in sheet.rows if row.asked.language}
    return {
        "channel": list(dict.fromkeys(sheet.channel.name for sheet in sheets)),
        "market": [ALL_MARKETS, *markets().values()],
        "consumer_units": ["true", "false"],
        "family": [ALL, *(one.code for one in contents.all_families)],
        "attribute": list(attributes),
        "language": [ANY, *sorted(own.union(*REQUIRED_LANGUAGES.values()))],
        "level": [level.value for level in Level],
    }


def _write_table(
    book: Any,
    looks: _Looks,
    rows: Sequence[Mapping[str, str]],
    lists: Mapping[str, Sequence[str]],
) -> None:
    sheet = book.add_worksheet(REQUIREMENTS, worksheet_class=TextSheet)
    columns = (*COLUMNS, *SHOWN)
    text, shown = looks.of(font_color=_INK), looks.of(font_color=_GREY, bg_color="#F4F4F4")
    lines: list[Line] = [([(heading_of(one), looks.heading) for one in columns], 30)]
    for row in rows:
        cells = [(row.get(one, ""), shown if one in {*SHOWN, "by"} else text) for one in columns]
        lines.append((cells, None))
    for place, name in enumerate(columns):
        sheet.set_column(place, place, _WIDTHS[name])
    sheet.freeze_panes(1, 0)
    # Over all columns: sorting by a filter moves only what is in its range.
    sheet.autofilter(0, 0, max(len(rows), 1), len(columns) - 1)
    last = len(rows) + _MORE_ROWS
    for place, name in enumerate(lists):
        column = COLUMNS.index(name)
        letters = letters_of(_FIRST_LIST + place)
        choice: dict[str, Any] = {
            "validate": "list",
            "source": f"='{KEYS_SHEET}'!${letters}$1:${letters}${max(len(lists[name]), 1)}",
            # A channel or a family may be new; there is no fifth level.
            "show_error": name == "level",
            "error_title": "must, should, may or not",
            "error_message": "Choose one of the four words. What the value must be like goes to the column Condition.",
        }
        sheet.data_validation(1, column, last, column, choice)
    level = letters_of(COLUMNS.index("level"))
    for one, style in _LEVELS.items():
        rule = {"type": "cell", "criteria": "==", "value": f'"{one}"', "format": book.add_format(dict(style))}
        sheet.conditional_format(f"{level}2:{level}{last + 1}", rule)
    sheet.data_validation(
        *(1, COLUMNS.index("condition"), last, COLUMNS.index("condition")),
        {
            "validate": "any",
            "input_title": "What the value must be like",
            "input_message": "20-80 characters; at most 80 characters; one of: FR, BE; at least 800 pixels; "
            "pattern: [A-Z].*",
        },
    )
    _print_setup(sheet, REQUIREMENTS, 1)
    sheet.fit_to_pages(1, 0)
    sheet.fill_lines(lines)


def _write_matrix(
    book: Any, looks: _Looks, name: str, plan: ChannelSheet, contents: WorkbookContents
) -> list[tuple[str, Any]]:
    """Write the matrix of a channel, and return what the hidden sheet keeps of it."""
    sheet = book.add_worksheet(name, worksheet_class=TextSheet)
    width = _FIRST_COLUMN + len(contents.columns)
    lines: list[tuple[list[_Cell], int | None]] = [*_above(looks, plan, contents)]
    group = ""
    for row in plan.rows:
        if row.group != group:
            group = row.group
            style = looks.of(bold=True, font_color=_HEADING, bg_color="#E8EEF1", top=1, top_color=_HEADING)
            lines.append(([(group, style), *([("", style)] * (width - 1))], 18))
        if (codes := contents.codes.get(row.asked.attribute)) is not None:
            _show_codes(sheet, len(lines), codes)
        lines.append((_cells(looks, row, contents.asks(plan, row)), None))
    lines = [([(text[:_LONGEST_SHOWN], style) for text, style in cells], height) for cells, height in lines]
    for place, (_, columns) in enumerate(_BEFORE):
        sheet.set_column(place, place, columns)
    sheet.set_column(_FIRST_COLUMN, width - 1, _WIDTH)
    sheet.freeze_panes(_ROWS_ABOVE, _FIRST_COLUMN)
    # Without a password: it keeps people from typing where nothing is read, and from nothing else.
    sheet.protect("", {"format_columns": True, "format_rows": True})
    _print_setup(sheet, name, _ROWS_ABOVE)
    # On one page forty families could not be read: each page says what its rows are.
    sheet.set_print_scale(65)
    sheet.repeat_columns(0, _FIRST_COLUMN - 1)
    sheet.fill_lines(lines)
    nobody = [
        ("nobody", [plan.channel.label, row.asked.attribute, row.asked.language, dict(some)])
        for row in plan.rows
        for some in _some(_nobody(contents.columns, plan, row))
    ]
    return nobody + [
        ("shown", [name, number, first, texts[first : first + _CELLS_TOGETHER]])
        for number, (cells, _) in enumerate(lines, 1)
        for texts in [[held_by_a_cell(text) for text, _ in cells]]
        for first in range(0, len(texts), _CELLS_TOGETHER)
    ]


def _nobody(codes: Sequence[str], plan: ChannelSheet, row: SheetRow) -> Iterator[tuple[str, int]]:
    """Yield the families of some size of which no product has an attribute, each with its products."""
    for code, products, share in zip(codes, plan.products, row.shares, strict=False):
        if row.is_asked and share == 0 and products >= _LARGE:
            yield code, products


def _above(
    looks: _Looks, plan: ChannelSheet, contents: WorkbookContents
) -> Iterable[tuple[list[_Cell], int]]:
    """Yield the rows above the attributes: the channel, and what each column is."""
    channel, families = plan.channel, contents.families
    grey, small = looks.of(font_color=_GREY), looks.of(font_size=8, font_color=_GREY, align="center")
    heading = looks.of(
        bold=True, font_color="#FFFFFF", bg_color=_HEADING, text_wrap=True, align="center", border=1
    )
    titles = [_ALL_FAMILIES, *(one.label or one.code for one in families)]
    labels = {one.code: one.label or one.code for one in families}
    products = [f"{one:,}" for one in plan.products] or [""] * len(titles)
    units = "" if channel.consumer_units else ", all units"
    yield [(f"This sheet shows what is asked. Write in the sheet {REQUIREMENTS}.", looks.of(italic=True))], 15
    yield [("Channel", grey), (f"{channel.label}{units}", looks.of(bold=True))], 15
    for name, texts in (
        ("Belongs to", ["", *(labels.get(one.parent, one.parent) for one in families)]),
        ("Family", contents.columns),
        ("Number of products", products),
    ):
        blanks = [("", grey)] * (_FIRST_COLUMN - 1)
        yield [(name, grey), *blanks, *((one, small) for one in texts)], 15
    tall = 15 * min(max(-(-len(one) // (_WIDTH - 2)) for one in titles), 4) + 3
    yield [*((one, looks.heading) for one, _ in _BEFORE), *((one, heading) for one in titles)], tall


def _cells(looks: _Looks, row: SheetRow, asks: Sequence[Ask | None]) -> list[_Cell]:
    text, grey = looks.of(font_color=_INK, indent=1), looks.of(font_color=_GREY, font_size=8)
    overall = _share(row, row.overall)
    cells = [(row.title, text), (row.asked.language, text), (row.asked.attribute, grey), (overall, grey)]
    for ask, share in zip_longest(asks, row.shares):
        level = "" if ask is None else f"{ask.level}{'; ...' if ask.is_of_value else ''}"
        words = _BEHIND.join(filter(None, [level, _share(row, share)]))
        cells.append((words, looks.cell(share if row.is_asked else None, ask.level if ask else None)))
    return cells


def _show_codes(sheet: Any, row: int, codes: Mapping[str, str]) -> None:
    """Show the codes in use beside the name of an attribute, as far as such a message has room."""
    text = "Codes in use: "
    for place, (code, label) in enumerate(codes.items()):
        shown = f"{', ' if place else ''}{code_in_words(code, label)}"
        if len(text) + len(shown) > _LONGEST_MESSAGE - 4:
            text += " ..."
            break
        text += shown
    # A message is no cell: no code of a character is read in it, and a control would damage the file.
    message = held_by_a_cell("".join(one if one.isprintable() else " " for one in text))
    choice = {"validate": "any", "show_error": False, "input_title": "one of: ...", "input_message": message}
    sheet.data_validation(row, 0, row, 0, choice)


def _print_setup(sheet: Any, name: str, heading: int) -> None:
    sheet.set_landscape()
    sheet.set_paper(9)
    sheet.repeat_rows(0, heading - 1)
    sheet.set_margins(left=0.4, right=0.4)
    sheet.set_footer(f"&L{name.replace('&', '&&')}&RPage &P of &N")


def _write_read_me(book: Any, looks: _Looks, contents: WorkbookContents) -> None:
    sheet = book.add_worksheet(READ_ME, worksheet_class=TextSheet)
    sheet.hide_gridlines(2)
    sheet.set_column(0, 0, 24)
    sheet.set_column(1, 1, 92)
    sheet.set_paper(9)
    sheet.fit_to_pages(1, 0)
    title = looks.of(bold=True, font_size=14, font_color=_HEADING)
    word, text = looks.of(bold=True, valign="top", font_color=_INK), looks.of(text_wrap=True, valign="top")
    lines: list[Line] = []
    for left, right in _read_me(contents):
        tall = 15 * max(-(-len(right) // 104), 1) + 3 if right else 22
        lines.append(([(left, word), (right, text)] if right else [(left, title)], tall))
    sheet.fill_lines(lines)


#: What the first sheet says: a word and what it means, for somebody who knows spreadsheets and nothing of prodex.
_READ_ME = """
What this is: The sheet Requirements has a row for each attribute that a channel may ask of a family of
    products. The sheets behind it show the same as a matrix. {today}
What to do: Choose a word in the column Level, in the sheet Requirements. Leave it empty where you ask for
    nothing. To ask something of one family, copy a row and choose the code of the family.
must: It has to be filled. A product without it is not ready for the channel.
should: It is wanted. A product without it is listed, and is ready all the same.
may: It is welcome, and nothing is missing without it. It also lifts what all families must have.
not: It does not belong there. A product that has it is listed.
Family: A code, or * for all families. What is asked of all families holds for every family that has no row of
    its own for the attribute. A family without a row takes that of the family in Family parent, and in the end
    that of all families. The matrix has the names of families beside their codes.
Condition: What a value must be like, in these words, divided by semicolons, where the level is must or should. A
    text: 20-80 characters, or at most 80 characters. A code: one of: FR, BE. A picture: at least 800 pixels. For
    experts: pattern: [A-Z].* In the matrix, press on the name of a coded attribute to see the codes that products
    have.
Attribute: The technical name, as in the list. The column Attribute name and the matrix have it in words.
Language: Of texts, its code, such as fr; or any, where a text may be in any language.
You may: sort, filter, hide, add and delete rows; move columns; add columns and sheets of your own, which are
    left alone. Add a channel by a new name with its market. Every row says all that it means: fill in each
    cell, and merge none.
The matrix: only shows, and is locked. What is typed there is not read, but listed. It is new when the workbook
    is written anew.
Families: are told by {by}. {left_out}
What happens next: Save the file and give it back. The catalogue is judged by it. A cell that cannot be
    understood is listed with its place, such as Requirements!I12. Nothing is guessed, and your file is never
    changed.
"""


def _read_me(contents: WorkbookContents) -> list[tuple[str, str]]:
    """Return the lines of the first sheet, a title and then a word with its text each."""
    today = (
        "The column Filled and the matrix have the share of the family's products that have the attribute today."
        if contents.source
        else "This workbook was written without a catalogue, so that it shows no shares."
    )
    given = {"today": today, "by": contents.requirements.by, "left_out": " ".join(contents.left_out)}
    lines = [("What must a product have?", "")]
    for entry in re.split(r"\n(?! )", _READ_ME.strip()):
        word, _, text = entry.partition(": ")
        lines.append((word, re.sub(r"\s+", " ", text).format(**given).strip()))
    return [*lines, *([("Figures are from", contents.source)] if contents.source else [])]


def _known(contents: WorkbookContents) -> Iterator[tuple[str, Any]]:
    """Yield what a workbook knows of its catalogue: attributes, families and codes in use."""
    attributes = dict.fromkeys(row.asked.attribute for sheet in contents.sheets for row in sheet.rows)
    yield from (("attributes", some) for some in _some(attributes))
    if contents.source and len(contents.all_families) < MOST_FAMILIES:
        codes_of_families = dict.fromkeys(
            code for one in contents.all_families for code in (one.code, one.parent) if code
        )
        yield from (("families", some) for some in _some(codes_of_families))
    for attribute, codes in contents.codes.items():
        pairs = [(code, label[:_LONGEST_LABEL]) for code, label in codes.items()]
        yield from (("codes", [attribute, dict(some)]) for some in _some(pairs))


def _some(several: Iterable[T]) -> Iterator[list[T]]:
    """Yield so many of several as a cell holds."""
    some: list[T] = []
    size = 0
    for one in several:
        length = len(json.dumps(one)) + 2
        if some and size + length > _LONGEST_FACT:
            yield some
            some, size = [], 0
        some.append(one)
        size += length
    if some:
        yield some


#: The first column of the hidden sheet that has a list to choose from.
_FIRST_LIST = 3


def _write_keys(book: Any, facts: Sequence[tuple[str, Any]], lists: Mapping[str, Sequence[str]]) -> None:
    """Write the hidden sheet: what the workbook knows, and beside it the lists to choose from."""
    sheet = book.add_worksheet(KEYS_SHEET, worksheet_class=TextSheet)
    sheet.hide()
    plain = book.add_format({})
    written = [(key, json.dumps(value)) for key, value in facts]
    lines: list[Line] = []
    for fact, *choices in zip_longest(written, *lists.values()):
        cells = [*(fact or ("", "")), "", *(one or "" for one in choices)]
        lines.append(([(one, plain) for one in cells], None))
    sheet.fill_lines(lines)
