"""The sheet Requirements as people leave it, in a workbook or as CSV: every row that asks for something, by its codes.

Rows may have been sorted, filtered, hidden, deleted and added, and columns moved. A row says all that it means, so
that its place says nothing. Columns and sheets of one's own are left alone and named, and so is what somebody typed
into a matrix, which only shows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

from prodex.files.layouts import require_layout
from prodex.formats.formulas import unescape_formulas
from prodex.formats.spreadsheet_files import Sheet
from prodex.formats.workbook_cells import Cell, Range, Row, cell_place
from prodex.phrases import nearest
from prodex.quality.asks import Level
from prodex.quality.requirement_files.attribute_titles import KnownAttributes
from prodex.quality.requirement_files.layout import (
    COLUMN_OF_SHARES,
    FORMAT,
    KEYS_SHEET,
    NO_PRODUCTS,
    NOT_ASKED,
    READ_ME,
    REQUIREMENTS,
    SHOWN,
    column_named,
    heading_of,
)
from prodex.quality.requirement_files.rows import COLUMNS, MOST_PROBLEMS, RequirementRow, read_rows
from prodex.quality.requirements import ALL, RequirementEntry

#: By these the row of headings is found.
_MARKS = frozenset({"channel", "attribute", "level"})
#: What to do with a workbook of another version.
_ADVICE = "Write the workbook anew, and enter in it what is required."
#: Copies of the hidden sheet, which spreadsheets make when sheets are copied.
_KEYS = re.compile(rf"{KEYS_SHEET}(?: ?\(\d+\)|_?\d+)?", re.IGNORECASE)
#: Cells of a sheet that only shows which are named.
_MOST_CELLS = 20
#: Families whose nearest code is looked for: each takes a while.
_MOST_SOUGHT = 200
#: What tells families by the GPC, and a code of it.
_GPC, _GPC_CODE = frozenset({"gpc", "gpc_code"}), re.compile("[0-9]{8}")
#: What the column of shares holds unless somebody typed into it.
_SHARE = re.compile(rf"(?:[<>]?[0-9]{{1,3}} ?%|[01](?:[.,][0-9]+)?|{NOT_ASKED}|{NO_PRODUCTS})?")


@dataclass
class SheetsRead:
    """What was read of a file.

    Attributes
    ----------
    entries
        What each row means, with its place.
    wrong
        What could not be read, each with its place.
    ignored
        Sheets and columns that are somebody's own, what was typed where a sheet only shows or beside the table, and
        comments.
    notes
        What is no error and may surprise.
    by
        By what families are told; empty where the file does not say it.
    is_there
        Whether the file has a sheet of requirements.
    lacks
        The columns that the sheet most like one does not have.
    """

    entries: list[tuple[str, RequirementEntry]] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    by: str = ""
    is_there: bool = False
    lacks: Collection[str] = ()


@dataclass
class _Keys:
    """What the hidden sheet knows of the catalogue for which a workbook was written.

    Attributes
    ----------
    attributes
        All attributes of its rows.
    families
        All families of the catalogue; none where they are not known.
    in_use
        The codes that each attribute has, with their labels.
    channels
        The channel of each matrix, by the name of its sheet.
    shown
        What the rows of each matrix hold, by their number.
    nobody
        By channel, attribute and language the families of which no product has it, each with its products.
    """

    attributes: list[str] = field(default_factory=list)
    families: set[str] = field(default_factory=set)
    in_use: dict[str, dict[str, str]] = field(default_factory=dict)
    channels: dict[str, str] = field(default_factory=dict)
    shown: dict[str, dict[int, dict[int, str]]] = field(default_factory=dict)
    nobody: dict[tuple[str, str, str], dict[str, int]] = field(default_factory=dict)


def read_sheets(sheets: Sequence[Sheet], known: Collection[str] = ()) -> SheetsRead:
    """Read the sheets of a file.

    Parameters
    ----------
    sheets
        All sheets.
    known
        Attributes that are known beside those of the specification.
    """
    found = SheetsRead()
    keys = _Keys()
    others = []
    for sheet in sheets:
        if _KEYS.fullmatch(sheet.name.strip()) is not None:
            require_layout(sheet.file, _read_keys(sheet.rows(), keys), FORMAT, _ADVICE)
        else:
            others.append(sheet)
    tables = []
    for sheet in others:
        if sheet.name in keys.shown:
            found.ignored += _typed(sheet, keys.shown[sheet.name])
        elif sheet.is_hidden:
            found.ignored.append(f"sheet {sheet.name} (hidden)")
        elif (table := _Table.of(sheet)) is not None:
            tables.append(table)
        elif sheet.name.strip().casefold() != READ_ME.casefold():
            found.ignored.append(f"sheet {sheet.name}")
    whole = [table for table in tables if not table.lacks]
    if len(whole) > 1:
        names = " and ".join(repr(one.sheet) for one in whole[:2])
        found.wrong.append(
            f"{names} are both sheets of requirements, and nobody knows which of them holds. Delete or hide one."
        )
    elif whole:
        found.is_there = True
        found.ignored += [f"sheet {one.sheet}" for one in tables if one.lacks]
        _read_table(whole[0], KnownAttributes.of(keys.attributes, known), keys, found)
    elif tables:
        found.lacks = tables[0].lacks
    return found


def named_columns(row: Row) -> Collection[str]:
    """Return the columns of the table that a row of headings names; none where it is another row."""
    names = {column_named(cell.text) for cell in row.values()}
    return names & set(COLUMNS) if names >= _MARKS else ()


def _read_keys(rows: Iterable[tuple[int, Row]], into: _Keys) -> int | None:
    """Read what a hidden sheet says, and return its layout; what somebody has changed there is passed over."""
    layout: int | None = None
    for _, row in rows:
        try:
            value = json.loads(row[1].text) if 1 in row else None
        except (ValueError, RecursionError):
            continue
        match (row[0].text if 0 in row else "", value):
            case "format", int(number):
                layout = number
            case "attributes", [*names]:
                into.attributes += [one for one in names if isinstance(one, str)]
            case "families", [*codes]:
                into.families.update(one for one in codes if isinstance(one, str))
            case "codes", [str(attribute), dict(codes)]:
                into.in_use.setdefault(attribute, {}).update(
                    {one: str(label) for one, label in codes.items()}
                )
            case "matrix", [str(sheet), str(channel)]:
                into.channels[sheet] = channel
                into.shown.setdefault(sheet, {})
            case "shown", [str(sheet), int(number), int(first), [*texts]]:
                cells = into.shown.setdefault(sheet, {}).setdefault(number, {})
                cells |= {column: str(one) for column, one in enumerate(texts, first)}
            case "nobody", [str(channel), str(attribute), str(language), dict(families)]:
                into.nobody.setdefault((channel, attribute, language), {}).update(
                    {code: number for code, number in families.items() if isinstance(number, int)}
                )
    return layout


def _typed(sheet: Sheet, shown: Mapping[int, Mapping[int, str]]) -> Iterator[str]:
    """Yield what somebody typed into a sheet that only shows."""
    typed = [
        f"cell {sheet.name}!{cell_place(number, column)} ({cell.text.strip()!r:.40})"
        for number, row in sheet.rows()
        for column, cell in sorted(row.items())
        if cell.text.strip() and cell.text.strip() != shown.get(number, {}).get(column, "").strip()
    ]
    yield from (f"{one}: the sheet only shows, write it in {REQUIREMENTS}" for one in typed[:_MOST_CELLS])
    if len(typed) > _MOST_CELLS:
        yield f"{len(typed) - _MOST_CELLS:,} more cells of {sheet.name}, which only shows"


@dataclass
class _Table:
    """A sheet with one requirement a row.

    Attributes
    ----------
    sheet
        Its name; empty for CSV.
    rows
        All of its rows: sorting may have moved some above the headings.
    heading
        Number of the row of headings.
    merged
        Its merged ranges.
    comments
        Row, column and text of each comment at a cell.
    """

    sheet: str
    rows: dict[int, Row]
    heading: int
    merged: list[Range]
    comments: Sequence[tuple[int, int, str]] = ()

    @classmethod
    def of(cls, sheet: Sheet) -> _Table | None:
        """Find the table of a sheet; None where it has none."""
        rows: dict[int, Row] = {}
        heading = None
        for number, row in sheet.rows():
            rows[number] = row
            if heading is None and named_columns(row):
                heading = number
        if heading is None:
            return None
        return cls(sheet.name, rows, heading, sheet.merged(), sheet.comments())

    @cached_property
    def headings(self) -> Mapping[int, str]:
        """What each column is called."""
        return {column: cell.text.strip() for column, cell in sorted(self.rows[self.heading].items())}

    @cached_property
    def columns(self) -> dict[str, int]:
        """The columns of the table, each with its place."""
        named = [(column_named(text), column) for column, text in self.headings.items()]
        return {name: column for name, column in reversed(named) if name in COLUMNS}

    @cached_property
    def _shares(self) -> Collection[int]:
        """The columns that show what products have."""
        return [column for column, text in self.headings.items() if column_named(text) == COLUMN_OF_SHARES]

    @cached_property
    def lacks(self) -> list[str]:
        """The columns that are not there."""
        return [one for one in COLUMNS if one not in self.columns]

    def at(self, number: int, column: str | int) -> str:
        """Return the place of a cell as people call it."""
        if not self.sheet and isinstance(column, str):
            return f"row {number}, {column}"
        place = cell_place(number, self.columns[column] if isinstance(column, str) else column)
        return f"{self.sheet}!{place}" if self.sheet else place

    def read(self, into: SheetsRead) -> Iterator[RequirementRow]:
        """Yield all rows that say something."""
        self._look_at_headings(into)
        self._look_at_merged(into)
        self._look_at_remarks(into)
        for number, row in self.rows.items():
            cells = {name: row[place] for name, place in self.columns.items() if place in row}
            filled = sum(bool(cell.text.strip()) for cell in cells.values())
            # A single cell above the headings is a title.
            if not filled or (number < self.heading and filled == 1):
                continue
            texts = dict.fromkeys(COLUMNS, "") | {name: self._text(cell) for name, cell in cells.items()}
            # Headings are repeated for printing.
            if texts["level"] == self.headings[self.columns["level"]]:
                continue
            self._look_at_shares(number, row, into)
            problems = {name: why for name, cell in cells.items() if (why := _problem(cell)) is not None}
            yield RequirementRow(texts, partial(self.at, number), problems)

    def _text(self, cell: Cell) -> str:
        text = cell.shown if cell.kind == "number" and cell.shown is not None else cell.text
        return (text if self.sheet else unescape_formulas(text)).strip()

    def _look_at_merged(self, into: SheetsRead) -> None:
        """Refuse a value that seems to hold for several rows or columns."""
        for (top, left), (bottom, right) in self.merged[:MOST_PROBLEMS]:
            is_ours = any(left <= column <= right for column in self.columns.values())
            if is_ours and bottom > self.heading and left in self.rows.get(top, {}):
                area = f"{cell_place(top, left)}:{cell_place(bottom, right)}"
                into.wrong.append(
                    f"{self.sheet}!{area}: the cells are merged, so that only the first holds a value. Divide them, "
                    "and fill in each."
                )

    def _look_at_headings(self, into: SheetsRead) -> None:
        """Name columns of one's own, and refuse what looks like ours and is not read."""
        seen: set[str] = set()
        for column, text in self.headings.items():
            name = column_named(text)
            where = cell_place(1, column)[:-1]
            if name in seen:
                into.wrong.append(
                    f"{self.at(self.heading, column)}: the column {text!r:.40} is there twice. Delete one."
                )
            elif text and name not in {*COLUMNS, *SHOWN}:
                into.ignored.append(f"column {text} ({f'{self.sheet}!' if self.sheet else ''}{where})")
            if name in COLUMNS:
                seen.add(name)

    def _look_at_remarks(self, into: SheetsRead) -> None:
        """Name what somebody wrote beside the table, or at a cell of it: it may limit what the row asks."""
        beside = [
            f"cell {self.at(number, column)} ({cell.text.strip()!r:.40}): it is in no column with a heading"
            for number, row in self.rows.items()
            for column, cell in sorted(row.items())
            if number > self.heading and cell.text.strip() and not self.headings.get(column)
        ]
        comments = [
            f"comment at {self.at(number, column)} ({text.strip()!r:.60})"
            for number, column, text in self.comments
        ]
        for remarks in (beside, comments):
            into.ignored += remarks[:_MOST_CELLS]
            if len(remarks) > _MOST_CELLS:
                into.ignored.append(
                    f"{len(remarks) - _MOST_CELLS:,} more of these in {self.sheet or 'the file'}"
                )

    def _look_at_shares(self, number: int, row: Row, into: SheetsRead) -> None:
        """Name what somebody typed into the column that shows what products have."""
        for column in self._shares:
            if column not in row:
                continue
            typed = row[column].text.strip()
            if row[column].kind == "text" and _SHARE.fullmatch(typed) is None:
                into.ignored.append(
                    f"cell {self.at(number, column)} ({typed!r:.40}): the column only shows, write it in the column "
                    f"{heading_of('level')}"
                )


def _read_table(table: _Table, attributes: KnownAttributes, keys: _Keys, into: SheetsRead) -> None:
    """Read all that a table asks, and compare it with what the workbook knows of its catalogue."""
    into.entries, into.by = read_rows(table.read(into), into.wrong, attributes, keys.in_use)
    into.wrong += _unknown_families(into, keys.families)
    into.notes += _had_by_nobody(into.entries, keys)
    # Channels are in the order in which the workbook was written: that of sorted rows says nothing.
    place = {label: number for number, label in enumerate(keys.channels.values())}
    last = len(place)
    into.entries.sort(key=lambda one: place.get(one[1].channel.label, last) if one[1].channel else last)


def _had_by_nobody(entries: Sequence[tuple[str, RequirementEntry]], keys: _Keys) -> Iterator[str]:
    """Yield what must be filled and no product has: perhaps another attribute was meant."""
    labels = {family.code: family.label for _, (_, family, _, _) in entries if family and family.label}
    for place, (channel, family, asked, ask) in entries:
        if channel is None or asked is None or ask is None or ask.level is not Level.MUST:
            continue
        code = ALL if family is None else family.code
        nobody = keys.nobody.get((channel.label, asked.attribute, asked.language), {})
        if code in nobody:
            of = "no product" if family is None else f"no product of {labels.get(code, code)}"
            yield f"{place}: must, and {of} has it today ({nobody[code]:,} products)"


def _unknown_families(read: SheetsRead, known: Collection[str]) -> Iterator[str]:
    """Ask about families that no product can be of: a code that somebody mistyped asks nothing of anybody."""
    first: dict[str, str] = {}
    new = set()
    for place, entry in read.entries if known else ():
        if (family := entry.family) is not None:
            new |= {family.code} if family.label else set()
            for code in filter(None, (family.code, family.parent)):
                first.setdefault(code, place)
    is_gpc = read.by in _GPC
    unknown = [
        code
        for code in first
        if code not in known and not (_GPC_CODE.fullmatch(code) if is_gpc else code in new)
    ]
    what_to_do = (
        "A code of the GPC has eight digits."
        if is_gpc
        else f"If it is a new one, write its name in the column {heading_of('family_label')}."
    )
    for number, code in enumerate(unknown):
        near = nearest(code, known) if number < _MOST_SOUGHT else None
        meant = f"; did you mean {near!r:.60}?" if near is not None else "."
        yield f"{first[code]}: there is no family {code!r:.60}{meant} {what_to_do}"


def _problem(cell: Cell) -> str | None:
    """Return why nobody knows what a cell says; None where that is plain."""
    if cell.is_struck and cell.text.strip():
        return f"{cell.text!r:.60} is struck through. Delete it, or type again what is meant."
    if cell.problem:
        return f"{cell.text!r:.60} cannot be read: {cell.problem}."
    if cell.kind == "formula":
        return "a formula without a result. Save the file in a spreadsheet, or type the value."
    if cell.kind == "error":
        return f"{cell.text!r:.40} is the error of a formula. Type the value."
    if cell.kind == "date":
        return f"{cell.text!r:.40} is a date. If it was a code, type it again behind an apostrophe."
    return None
