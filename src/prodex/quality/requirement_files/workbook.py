"""The requirements workbook: a sheet that explains it, and one for each channel, with the shares of today in its cells.

A cell without an answer holds the share of products as a number. Its number format has a section for texts as well,
`@" · 83 %"`, so that the share stays visible behind a word that somebody types over it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from prodex.colour_scale import SCALE, shade
from prodex.formats.text_sheet import TextSheet, index, letters_of, spelled_cell, spelled_row
from prodex.formats.workbooks import held_by_a_cell, workbook
from prodex.locales import market_name
from prodex.messages import percent
from prodex.quality.requirement_files.code_lists import code_in_words
from prodex.quality.requirement_files.sheet_rows import (
    ChannelSheet,
    SheetRow,
    Today,
    WorkbookContents,
)
from prodex.quality.requirement_layout import (
    ALL_FAMILIES,
    FORMAT,
    KEYS_SHEET,
    NOT_ASKED,
    PICTURE,
    READ_ME,
    TEXT,
    SheetPlace,
)
from prodex.quality.requirements import ALL, Ask, Level, ProductFamily

#: Columns before those of families: attribute, language, wire path, share in the whole catalogue; width in characters.
_BEFORE = (
    (SheetPlace.ATTRIBUTE, 34),
    (SheetPlace.LANGUAGE, 12),
    (SheetPlace.PATH, 22),
    (SheetPlace.FILLED, 8),
)
_FIRST = len(_BEFORE)
_WIDTH = 14
#: Rows above the first attribute: channel, market, units, parent, code, products, labels.
_ABOVE = 7
_LINE = 15
#: The part of white in the ground of a cell.
_PALE = 0.55
_LONGEST_SHEET_NAME = 31
_LIST = tuple(level.value for level in Level)
_LONGEST_LIST = 255
#: Codes in a cell of the hidden sheet, and characters of the label of one.
_CODES_A_CELL, _LONGEST_LABEL = 20, 60
_INK, _HEADING, _GREY, _LINES = "#1F2A30", "#2F4858", "#7A7A7A", "#D9D9D9"


def write_workbook(contents: WorkbookContents, path: Path) -> None:
    """Write the workbook; `path` is a file that nobody reads yet."""
    with workbook(path, in_memory=True) as book:
        looks = _Looks(book)
        names = sheet_names([sheet.channel.label for sheet in contents.sheets])
        _write_read_me(book, looks, contents, names)
        for name, sheet in zip(names, contents.sheets, strict=True):
            _write_channel(book, looks, name, sheet, contents)
        _write_keys(book, contents, names)


def sheet_names(labels: Sequence[str]) -> list[str]:
    """Return names that sheets can have, each another one.

    >>> sheet_names(["Web shop (France)", "A/B", "x" * 40, "a_b", "Read me"])
    ['Web shop (France)', 'A_B', 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', 'a_b 2', 'Read me 2']
    """
    taken = {READ_ME.casefold(), KEYS_SHEET.casefold(), "history"}
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

    @cached_property
    def small(self) -> Any:
        return self.of(font_size=8, font_color=_GREY)

    @cached_property
    def path(self) -> Any:
        return self.of(font_size=8, font_color=_GREY, shrink=True)

    def cell(self, today: Today | None) -> Any:
        """Return the format of a cell by what the catalogue has: colour, and the share behind a word."""
        look: dict[str, Any] = {"border": 1, "border_color": _LINES, "align": "center", "text_wrap": True}
        if today is None:
            return self.of(**look)
        if not today.is_asked:
            return self.of(**look, num_format=f'0 %;;0 %;@" · {NOT_ASKED}"', font_color=_GREY)
        if today.share is None:
            return self.of(**look, num_format='0 %;;0 %;@" · no products"')
        text = shown_share(today.share)
        # "<1 %" and ">99 %" would be shown as 0 % and 100 %: none, and all.
        number = "0 %" if text[0].isdigit() else f'"{text}"'
        return self.of(**look, num_format=f'{number};;0 %;@" · {text}"', bg_color=ground(today.share))


def shown_share(share: float) -> str:
    """Write a share in whole per cent, never rounded to none or all.

    >>> shown_share(0.834), shown_share(0.001), shown_share(0.9999), shown_share(1)
    ('83 %', '<1 %', '>99 %', '100 %')
    """
    return percent(share, 0)


def ground(share: float) -> str:
    """Return the ground of a cell: the shade of its share, pale enough for black letters.

    >>> ground(1.0), ground(0.5)
    ('#FFFFFF', '#FEDBBC')
    """
    # The darker half of the scale is for white letters.
    colour = SCALE[(shade(share) + 1) // 2].light
    parts = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return "#" + "".join(f"{round(255 * _PALE + one * (1 - _PALE)):02X}" for one in parts)


def _write_channel(
    book: Any, looks: _Looks, name: str, plan: ChannelSheet, contents: WorkbookContents
) -> None:
    sheet = book.add_worksheet(name, worksheet_class=TextSheet)
    width = _FIRST + 1 + len(plan.families)
    lines: list[tuple[list[tuple[Any, Any]], int | None]] = [*_above(looks, plan, contents.by)]
    group = ""
    for row in plan.rows:
        if row.group != group:
            group = row.group
            style = looks.of(bold=True, font_color=_HEADING, bg_color="#E8EEF1", top=1, top_color=_HEADING)
            blank = [("", style)] * (width - 1)
            lines.append(([(group, style), *blank], 18))
        if row.asked.attribute in contents.codes:
            _show_codes(sheet, len(lines), contents.codes[row.asked.attribute])
        lines.append((_cells(looks, row, plan), _height(row)))
    for place, (_, columns) in enumerate(_BEFORE):
        sheet.set_column(place, place, columns)
    sheet.set_column(_FIRST, width - 1, _WIDTH)
    sheet.freeze_panes(_ABOVE, _FIRST)
    # Over all columns: sorting by a filter moves only what is in its range, and answers have to stay with their words.
    sheet.autofilter(_ABOVE - 1, 0, max(len(lines) - 1, _ABOVE), width - 1)
    _propose(sheet, looks, plan, len(lines), width)
    _print_setup(sheet, name)
    content = [_row_of(number, cells, height) for number, (cells, height) in enumerate(lines, 1)]
    sheet.fill(iter(content), len(lines), width)


def _height(row: SheetRow) -> int | None:
    """Return the height of a row with long answers; any other has none, so that it grows with what is typed."""
    # The share is behind the words.
    longest = max((len(ask.words) + 8 for ask in row.answers if ask is not None), default=0)
    return None if longest <= _WIDTH else 14 * min(-(-longest // (_WIDTH - 1)), 8)


def _row_of(number: int, cells: Sequence[tuple[str | float, Any]], height: int | None) -> str:
    """Return the XML of a row; a cell without content has its format alone, so that a text beside it is seen."""
    written = [
        f'<c r="{letters_of(place)}{number}" s="{index(style)}"/>'
        if value == ""
        else spelled_cell(
            f"{letters_of(place)}{number}",
            held_by_a_cell(value) if isinstance(value, str) else value,
            index(style),
        )
        for place, (value, style) in enumerate(cells)
    ]
    tall = "" if height is None else f' ht="{height}" customHeight="1"'
    return f'<row r="{number}"{tall}>{"".join(written)}</row>'


def _above(looks: _Looks, plan: ChannelSheet, by: str) -> Iterable[tuple[list[tuple[Any, Any]], int]]:
    """Yield the rows above the attributes: the channel and its market, and what each column is."""
    label, value = looks.of(font_color=_GREY), looks.of(bold=True, font_color=_INK)
    channel = plan.channel
    market = market_name(channel.market) if channel.market else "all markets"
    hint = looks.of(italic=True, font_color=_GREY)
    yield (
        [
            *(
                (SheetPlace.CHANNEL, label),
                (channel.name, looks.of(bold=True, font_size=12, font_color=_INK)),
            ),
            *(("", label), ("", label)),
            ("Type must, should, may or not over a share. The sheet Read me explains it.", hint),
        ],
        18,
    )
    yield [(SheetPlace.MARKET, label), (market, value)], _LINE
    yield [(SheetPlace.UNITS, label), ("consumer units" if channel.consumer_units else "all", value)], _LINE
    families = plan.families
    labels = {family.code: family.label or family.code for family in families}
    small = looks.of(font_size=8, font_color=_GREY, align="center", text_wrap=True)
    parents = [labels[one.parent] if _is_told(one, labels, families) else one.parent for one in families]
    blanks = [("", label)] * (_FIRST - 2)
    yield (
        [(SheetPlace.PARENT, label), ("", label), *blanks, ("", small), *((one, small) for one in parents)],
        _LINE,
    )
    yield (
        [
            (SheetPlace.CODE, label),
            (by, looks.small),
            *blanks,
            (ALL, small),
            *((one.code, small) for one in families),
        ],
        _LINE,
    )
    number = looks.of(num_format="#,##0", align="center", font_size=9, font_color=_GREY)
    yield (
        [(SheetPlace.PRODUCTS, label), ("", label), *blanks, *((one, number) for one in plan.products)],
        _LINE,
    )
    heading = looks.of(
        bold=True,
        font_color="#FFFFFF",
        bg_color=_HEADING,
        text_wrap=True,
        align="center",
        border=1,
        border_color="#FFFFFF",
    )
    titles = [ALL_FAMILIES, *(one.label or one.code for one in families)]
    tall = 15 * min(max(-(-len(one) // (_WIDTH - 2)) for one in titles) if titles else 1, 4) + 3
    yield [*((one, looks.heading) for one, _ in _BEFORE), *((one, heading) for one in titles)], max(tall, 18)


def _is_told(family: ProductFamily, labels: Mapping[str, str], families: Sequence[ProductFamily]) -> bool:
    """Whether the label of a family's parent names it and no other."""
    label = labels.get(family.parent)
    return label is not None and sum(labels[one.code] == label or one.code == label for one in families) == 1


def _cells(looks: _Looks, row: SheetRow, plan: ChannelSheet) -> list[tuple[Any, Any]]:
    title = looks.of(font_color=_INK, indent=1, text_wrap=True)
    cells: list[tuple[Any, Any]] = [
        (row.title, title),
        (row.language, looks.of(font_color=_INK)),
        (row.asked.attribute, looks.path),
    ]
    overall = row.overall
    grey = looks.of(num_format="0 %", font_color=_GREY, align="center")
    if overall is None or overall.share is None:
        cells.append(("", grey))
    elif not overall.is_asked:
        cells.append((NOT_ASKED, looks.of(font_size=8, font_color=_GREY, align="center", text_wrap=True)))
    else:
        text = shown_share(overall.share)
        style = (
            grey if text[0].isdigit() else looks.of(num_format=f'"{text}"', font_color=_GREY, align="center")
        )
        cells.append((_number(overall.share), style))
    today = row.today or (None,) * (len(plan.families) + 1)
    for one, ask in zip(today, row.answers, strict=True):
        cells.append((_content(one, ask), looks.cell(one)))
    return cells


def _content(today: Today | None, ask: Ask | None) -> str | float:
    if ask is not None:
        return ask.words
    if today is None or (today.is_asked and today.share is None):
        return ""
    return _number(today.share) if today.is_asked and today.share is not None else NOT_ASKED


def _number(share: float) -> float:
    return round(share, 4)


def _propose(sheet: Any, looks: _Looks, plan: ChannelSheet, lines: int, width: int) -> None:
    """Offer the words of levels in cells; anything else may be typed, since conditions follow."""
    last = max(lines - 1, _ABOVE)
    examples = {PICTURE: "must; at least 800 pixels", TEXT: "must; 20-80 characters"}
    line, group = _ABOVE, ""
    starts: list[tuple[int, str]] = []
    for row in plan.rows:
        if row.group != group:
            group = row.group
            line += 1
            starts.append((line, group))
        line += 1
    for place, (first, own) in enumerate(starts):
        end = starts[place + 1][0] - 2 if place + 1 < len(starts) else last
        offered = [*_LIST, *([examples[own]] if own in examples else [])]
        sheet.data_validation(
            first,
            _FIRST,
            end,
            width - 1,
            {
                "validate": "list",
                "source": offered,
                "show_error": False,
                "input_title": "must, should, may or not",
                "input_message": "Conditions may follow: must; at most 80 characters. Delete the word to ask nothing.",
            },
        )
    area = f"{letters_of(_FIRST)}{_ABOVE + 1}:{letters_of(width - 1)}{last + 1}"
    for level, style in (
        (Level.MUST, {"bold": True, "font_color": "#0B3D66"}),
        (Level.SHOULD, {"font_color": "#0B3D66"}),
        (Level.NOT, {"italic": True, "font_color": "#555555"}),
    ):
        rule = {
            "type": "text",
            "criteria": "begins with",
            "value": level.value,
            "format": looks.book.add_format(style),
        }
        sheet.conditional_format(area, rule)


def _show_codes(sheet: Any, row: int, codes: Mapping[str, str]) -> None:
    """Show the codes in use beside the name of an attribute, as far as such a message has room."""
    text = "Codes in use: "
    for place, (code, label) in enumerate(codes.items()):
        shown = f"{', ' if place else ''}{code_in_words(code, label)}"
        if len(text) + len(shown) > _LONGEST_LIST - 4:
            text += " ..."
            break
        text += shown
    sheet.data_validation(
        row,
        0,
        row,
        0,
        {
            "validate": "any",
            "show_error": False,
            "input_title": "one of: ...",
            # A message is no cell: no code of a character is read in it, and a control would damage the file.
            "input_message": held_by_a_cell("".join(one if one.isprintable() else " " for one in text)),
        },
    )


def _print_setup(sheet: Any, name: str) -> None:
    sheet.set_landscape()
    sheet.set_paper(9)
    # On one page forty families could not be read.
    sheet.set_print_scale(65)
    sheet.repeat_rows(0, _ABOVE - 1)
    sheet.repeat_columns(0, _FIRST - 1)
    sheet.set_margins(left=0.4, right=0.4)
    sheet.set_footer(f"&L{name.replace('&', '&&')}&RPage &P of &N")


def _write_read_me(book: Any, looks: _Looks, contents: WorkbookContents, names: Sequence[str]) -> None:
    sheet = book.add_worksheet(READ_ME, worksheet_class=TextSheet)
    sheet.hide_gridlines(2)
    sheet.set_column(0, 0, 24)
    sheet.set_column(1, 1, 92)
    sheet.set_paper(9)
    sheet.fit_to_pages(1, 0)
    title = looks.of(bold=True, font_size=14, font_color=_HEADING)
    word, text = looks.of(bold=True, valign="top", font_color=_INK), looks.of(text_wrap=True, valign="top")
    lines: list[tuple[list[tuple[Any, Any]], int]] = []
    for left, right in _read_me(contents, names):
        is_title = not right
        tall = 22 if is_title else 15 * max(-(-len(right) // 104), 1) + 3
        lines.append(([(left, title)] if is_title else [(left, word), (right, text)], tall))
    content = [_row_of(number, cells, height) for number, (cells, height) in enumerate(lines, 1)]
    sheet.fill(iter(content), len(lines), 2)


#: What the first sheet says: a word and what it means, for somebody who knows spreadsheets and nothing of prodex.
_READ_ME = """
What this is: Each sheet is one channel in one market. Rows are attributes, columns are families of products. {today}
What to do: Type one of four words over a figure, or choose it from the list of the cell. Leave a cell as it is where
    you ask for nothing.
must: It has to be filled. A product without it is not ready for the channel.
should: It is wanted. A product without it is listed, and is ready all the same.
may: It is welcome, and nothing is missing without it. It also lifts what all families must have.
not: It does not belong there. A product that has it is listed.
All families: holds for every family whose own cell has no word. A family without a word takes that of the family that
    it belongs to, if there is one, and in the end that of all families.
Conditions: may follow must and should, divided by semicolons. A text: must; 20-80 characters. A code: must; one of: FR,
    BE. Press on the name of a coded attribute to see the codes that products have. A picture: must; at least 800
    pixels. For experts: should; pattern: [A-Z].*
An example: In the row Long name, French, the column All families says: must; at most 80 characters. In the row Picture:
    front, it says must, and the column of products that are sold loose says may.
You may: sort, filter, hide and delete rows and columns; add a row for another attribute or language; copy a sheet for
    another channel, and change its name and market in its first rows; add columns and sheets of your own, which are
    left alone.
Families: are told by {by}; their codes are above their names. {left_out}
Channels: {channels}
What happens next: Save the file and give it back. The catalogue is judged by it. A cell that cannot be understood is
    listed with its place, such as Web shop!F12. Nothing is guessed, and your file is never changed.
"""


def _read_me(contents: WorkbookContents, names: Sequence[str]) -> list[tuple[str, str]]:
    """Return the lines of the first sheet, a title and then a word with its text each."""
    today = (
        "The figure in a cell is the share of the family's products that have the attribute today; it stays visible "
        "behind a word."
        if contents.source
        else "This workbook was written without a catalogue, so that its cells show no shares."
    )
    given = {
        "today": today,
        "by": contents.by,
        "left_out": " ".join(contents.left_out),
        "channels": f"{'; '.join(names)}." if names else "There are none yet.",
    }
    lines = [("What must a product have?", "")]
    for entry in re.split(r"\n(?! )", _READ_ME.strip()):
        word, _, text = entry.partition(": ")
        lines.append((word, re.sub(r"\s+", " ", text).format(**given).strip()))
    return [*lines, *([("Figures are from", contents.source)] if contents.source else [])]


def _shares(row: SheetRow) -> list[float | None]:
    """Return what the cells of a row show: by it a number that somebody types is known."""
    return [None if one.share is None or not one.is_asked else _number(one.share) for one in row.today]


def _some(codes: Mapping[str, str]) -> Iterable[list[tuple[str, str]]]:
    """Yield codes with their labels, so many as a cell holds in any script."""
    pairs = [(code, label[:_LONGEST_LABEL]) for code, label in codes.items()]
    for first in range(0, len(pairs), _CODES_A_CELL):
        yield pairs[first : first + _CODES_A_CELL]


def _write_keys(book: Any, contents: WorkbookContents, names: Sequence[str]) -> None:
    """Write the hidden sheet: it marks the workbook, and knows the names of its rows and families."""
    sheet = book.add_worksheet(KEYS_SHEET, worksheet_class=TextSheet)
    sheet.hide()
    titles = {row.asked.attribute: row.title for plan in contents.sheets for row in plan.rows}
    facts: list[tuple[str, Any]] = [("format", FORMAT), ("by", contents.by), ("sheets", list(names))]
    facts += [("attribute", [attribute, title]) for attribute, title in titles.items()]
    facts += [
        ("codes", [attribute, some]) for attribute, codes in contents.codes.items() for some in _some(codes)
    ]
    for name, plan in zip(names, contents.sheets, strict=True):
        if plan.products:
            facts.append(("columns", [name, [ALL, *(one.code for one in plan.families)]]))
            facts.append(("products", [name, list(plan.products)]))
            facts += [
                ("shares", [name, row.asked.attribute, row.asked.language, _shares(row)]) for row in plan.rows
            ]
    # By these a family is known whose code somebody deleted, since it looked technical.
    families = [one for plan in contents.sheets for one in plan.families] or contents.families
    facts += [("family", [one.code, one.label, one.parent]) for one in dict.fromkeys(families)]
    plain = book.add_format({})
    content = [
        spelled_row(n, [(key, plain), (json.dumps(value), plain)]) for n, (key, value) in enumerate(facts, 1)
    ]
    sheet.fill(iter(content), len(content), 2)
