"""Requirements in sheets as people leave them: every cell that asks for something, with its place.

Rows may have been sorted, filtered, deleted and added, columns moved, hidden and merged, wire paths deleted. A row is
known by its path, or by its words; a column by the code of its family, or by its label. Columns, rows and sheets of
one's own are left alone and named. Where such a one holds a word of the four, that is a problem and never passed over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from prodex.errors import InputError, QueryError
from prodex.facts.gpc import SEGMENTS
from prodex.files.layouts import require_layout
from prodex.formats.spreadsheet import unescape_formulas
from prodex.formats.spreadsheet_files import Sheet
from prodex.formats.workbook_cells import Cell, Range, Row, cell_place
from prodex.locales import language_name, market_code
from prodex.messages import nearest, percent
from prodex.quality.requirement_files.asked_in_words import ask_of, is_answer, is_level, is_share
from prodex.quality.requirement_files.attribute_words import AttributeWords, language_of
from prodex.quality.requirement_files.row_kinds import RowKind
from prodex.quality.requirement_layout import (
    ALL_FAMILIES,
    FORMAT,
    GROUPS,
    KEYS_SHEET,
    READ_ME,
    SheetPlace,
    consumer_units,
    is_all_families,
    is_not_asked,
    is_remark,
    place_of,
)
from prodex.quality.requirements import (
    ALL,
    COLUMNS,
    Ask,
    AskedAttribute,
    Channel,
    Level,
    ProductFamily,
    column_of,
    row_read,
)
from prodex.tables.attributes import TEXTS
from prodex.written_numbers import written_share

#: The share behind a word, which a program writes that saves cells as they look.
_SHARE_BEHIND = re.compile(r"\s*·\s*(?:[<>]?[0-9]{1,3}\s?%|not asked for|no products)\s*$")
_NAME_AND_MARKET = re.compile(r"(.+?)\s*(?:\(([^()]+)\)|[-–—·,/]\s*([^-–—·,/()]+))\s*")
#: What to do with a workbook of another version.
_ADVICE = "Write the workbook anew, and copy into it what is required."
#: Copies of the hidden sheet, which spreadsheets make when sheets are copied.
_KEYS = re.compile(rf"{KEYS_SHEET}(?: ?\(\d+\)|_?\d+)?", re.IGNORECASE)
_EVERY_MARKET = frozenset({"", "all", "all markets", "0", "*", "-"})
#: Columns of a table with one requirement a row, by which it is recognized.
_LONG = frozenset({"channel", "attribute", "level"})

#: Problems of a file that are listed: whoever corrects so many reads it again.
_MOST_PROBLEMS = 1_000
#: Cells that one problem names.
_MOST_CELLS = 20
#: Products of a family of which it is remarkable that none has what it must have.
_LARGE = 20
#: A share that is a plain number or has a sign.
#: How far a share and what a cell shows of it are apart.
_ROUNDED = 0.006
#: How alike a parent and a family are where one is taken for a typing error of the other.
_ALIKE = 0.8
#: Cells of a merged range: larger ones are no heading.
_MOST_MERGED = 100_000

#: What the first cells of rows above the attributes say.
_ABOVE = frozenset(
    {
        *(SheetPlace.CHANNEL, SheetPlace.MARKET, SheetPlace.UNITS),
        *(SheetPlace.CODE, SheetPlace.PRODUCTS, SheetPlace.PARENT),
    }
)
#: Characters of what names a row.
_LONGEST_NAME = 1_000
#: Families whose nearest name is looked for: each takes a while.
_MOST_SOUGHT = 200

#: What tells families by the GPC.
_GPC = frozenset({"gpc", "gpc_code"})

#: As `Requirements.joined` takes it.
Read = tuple[str, Channel | None, ProductFamily | None, AskedAttribute | None, Ask | None]


@dataclass
class SheetsRead:
    """What was read of a file.

    Attributes
    ----------
    read
        Cell by cell: its place, channel, family, what it is about and what is asked.
    wrong
        What could not be read, each with its place.
    ignored
        Sheets, columns and rows that are somebody's own.
    notes
        What is no error and may surprise.
    by
        By what families are told; empty where the file does not say it.
    tables
        Number of sheets with requirements.
    """

    read: list[Read] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    by: str = ""
    tables: int = 0


@dataclass
class _Keys:
    """What the hidden sheet says."""

    titles: dict[str, str] = field(default_factory=dict)
    families: list[ProductFamily] = field(default_factory=list)
    sheets: list[str] = field(default_factory=list)
    columns: dict[str, list[str]] = field(default_factory=dict)
    shares: dict[tuple[str, AskedAttribute], list[Any]] = field(default_factory=dict)
    products: dict[str, list[int]] = field(default_factory=dict)
    in_use: dict[str, dict[str, str]] = field(default_factory=dict)
    by: str = ""

    @cached_property
    def codes(self) -> frozenset[str]:
        """The codes of all families with which the workbook was written."""
        return frozenset({one.code for one in self.families}.union(*self.columns.values()) - {ALL})

    @cached_property
    def attributes(self) -> Mapping[str, str]:
        """The attribute of each title, in small letters, with which the workbook was written."""
        return {_as_label(title): attribute for attribute, title in reversed([*self.titles.items()])}

    def shown(self, sheet: str, asked: AskedAttribute, family: str) -> list[float | None]:
        """Return what was written into a cell: a share, or None for nothing; an empty list where it is not known."""
        columns, shares = self.columns.get(sheet, []), self.shares.get((sheet, asked), [])
        found = shares[columns.index(family) :][:1] if family in columns else []
        return [float(one) if isinstance(one, int | float) else None for one in found]

    def products_of(self, sheet: str, family: str) -> int:
        """Return how many products the column of a family had; 0 where it is not known."""
        columns, counts = self.columns.get(sheet, []), self.products.get(sheet, [])
        return dict(zip(columns, counts, strict=False)).get(family, 0)

    def languages(self, sheet: str, attribute: str) -> list[str]:
        """Return the languages in which a sheet was written with an attribute; an empty one is any."""
        return [asked.language for of, asked in self.shares if of == sheet and asked.attribute == attribute]


@dataclass(frozen=True)
class _KnownFamilies:
    """The families of a whole file: where somebody deleted a row of codes, another place still has them.

    Attributes
    ----------
    codes
        All codes.
    parents
        What each family belongs to, as the hidden sheet says.
    by_label
        The codes of each label, in small letters.
    labels
        The label of each family, in small letters, with which the workbook was written.
    """

    codes: frozenset[str]
    parents: Mapping[str, str]
    by_label: Mapping[str, Collection[str]]
    labels: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, keys: _Keys, tables: Iterable[_Table]) -> _KnownFamilies:
        """Collect what the hidden sheet and all other sheets say."""
        by_label: dict[str, set[str]] = {}
        codes = set(keys.codes)
        labelled = [(one.code, one.label) for one in keys.families]
        for code, label in [*labelled, *(pair for table in tables for pair in table.labelled())]:
            codes.add(code)
            by_label.setdefault(_as_label(label), set()).add(code)
        labels = {f"{digits}000000": label for digits, label in SEGMENTS.items()} if keys.by in _GPC else {}
        labels |= {one.code: one.label or one.code for one in keys.families}
        return cls(
            frozenset(codes),
            {one.code: one.parent for one in keys.families},
            by_label,
            {code: _as_label(label) for code, label in labels.items()},
        )

    @cached_property
    def _codes_by_own_label(self) -> Mapping[str, str]:
        return {label: code for code, label in reversed([*self.labels.items()])}

    def taken_from(self, code: str, label: str) -> str | None:
        """Return the code of another family whose label is above a code, as after sorting a row; None for none."""
        wanted = _as_label(label)
        if not wanted or wanted in {self.labels.get(code), _as_label(code)}:
            return None
        other = self._codes_by_own_label.get(wanted)
        return None if other == code else other

    def named(self, text: str) -> list[str]:
        """Return the codes of families that a text is the code or the label of."""
        return [text] if text in self.codes else sorted(self.by_label.get(_as_label(text), ()))


def _as_label(text: str) -> str:
    return " ".join(text.casefold().split())


def read_sheets(sheets: Sequence[Sheet], stem: str, known: Collection[str] = ()) -> SheetsRead:
    """Read the sheets of a file.

    Parameters
    ----------
    sheets
        All sheets.
    stem
        The name of the file without its ending: that of the channel, where nothing else says it.
    known
        Attributes that are known beside those of the specification.
    """
    found = SheetsRead()
    keys = _Keys()
    is_ours = [_KEYS.fullmatch(sheet.name.strip()) is not None for sheet in sheets]
    for sheet, is_own in zip(sheets, is_ours, strict=True):
        if is_own:
            require_layout(sheet.file, _read_keys(sheet.rows(), keys), FORMAT, _ADVICE)
    names = AttributeWords.of(keys.titles, known)
    shown = [
        (sheet, [] if sheet.is_hidden else _rows_of(sheet))
        for sheet, is_own in zip(sheets, is_ours, strict=True)
        if not is_own and sheet.name.strip().casefold() != READ_ME.casefold()
    ]
    headings = [_long_heading(rows) for _, rows in shown]
    tables = [
        _Table.of(sheet.name, rows, sheet.merged()) if heading is None else None
        for (sheet, rows), heading in zip(shown, headings, strict=True)
    ]
    families = _KnownFamilies.of(keys, filter(None, tables))
    in_tables: list[Read] = []
    for (sheet, rows), heading, table in zip(shown, headings, tables, strict=True):
        if sheet.is_hidden:
            found.ignored.append(f"sheet {sheet.name} (hidden)")
        elif heading is not None:
            _read_long(sheet.name, rows, heading, names, found)
            found.tables += 1
        elif table is not None:
            before = len(found.read)
            table.read(stem, names, keys, families, found)
            in_tables += found.read[before:]
        elif sheet.name in keys.sheets and (answer := _first_answer(rows)) is not None:
            place = cell_place(*answer)
            what = f"{SheetPlace.ATTRIBUTE} or {SheetPlace.PATH}"
            found.wrong.append(
                f"{sheet.name}!{place}: there is an answer, but no row of the sheet has the heading {what}. Write it "
                "above the attributes."
            )
        else:
            found.ignored.append(f"sheet {sheet.name}")
    found.by = found.by or keys.by
    if not found.tables and keys.by:
        found.read += [("the hidden sheet", None, family, None, None) for family in keys.families]
        found.tables = 1
    if found.by in _GPC:
        found.wrong += _no_gpc(in_tables, families.codes if keys.by else ())
    return found


def _rows_of(sheet: Sheet) -> list[tuple[int, Row]]:
    return [(number, _plain(row, is_csv=not sheet.name)) for number, row in sheet.rows()]


def _no_gpc(read: Iterable[Read], known: Collection[str]) -> Iterator[str]:
    """Yield the families that are told by the GPC and have no code of it: no product is of a family in words."""
    codes = {label.casefold(): f"{digits}000000" for digits, label in SEGMENTS.items()}
    # Each family is named once, at its heading.
    first = {family.code: place for place, _, family, _, _ in reversed([*read]) if family is not None}
    for code, place in reversed(first.items()):
        if code not in known and re.fullmatch("[0-9]{8}", code) is None:
            found = codes.get(code.casefold())
            example = f"{found} for {code}" if found else "50000000"
            yield (
                f"{place}: {code!r:.60} is no code of the GPC, which has eight digits. Write its code in the row "
                f"{SheetPlace.CODE}, such as {example}."
            )


def _plain(row: Row, *, is_csv: bool) -> Row:
    return (
        {place: cell._replace(text=unescape_formulas(cell.text)) for place, cell in row.items()}
        if is_csv
        else row
    )


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
            case "attribute", [str(attribute), str(title)]:
                into.titles.setdefault(attribute, title)
            case "family", [str(code), str(label), str(parent)]:
                into.families.append(ProductFamily(code, label, parent))
            case "sheets", [*names]:
                into.sheets += [name for name in names if isinstance(name, str)]
            case "columns", [str(sheet), [*codes]]:
                into.columns.setdefault(sheet, list(map(str, codes)))
            case "products", [str(sheet), [*counts]]:
                into.products.setdefault(sheet, [one if isinstance(one, int) else 0 for one in counts])
            case "shares", [str(sheet), str(attribute), str(language), [*shares]]:
                into.shares.setdefault((sheet, AskedAttribute(attribute, language)), shares)
            case "codes", [str(attribute), [*pairs]]:
                in_use = {
                    str(one[0]): str(one[1]) for one in pairs if isinstance(one, list) and len(one) == 2
                }
                into.in_use.setdefault(attribute, {}).update(in_use)
            case "by", str(by):
                into.by = into.by or by
    return layout


@dataclass
class _Table:
    """A sheet with attributes as rows and families as columns."""

    sheet: str
    rows: dict[int, Row]
    merged: dict[tuple[int, int], tuple[int, int]]
    heading: int
    places: dict[SheetPlace, int]
    _languages: dict[str, set[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, sheet: str, rows: Sequence[tuple[int, Row]], merged: Iterable[Range]) -> _Table | None:
        """Find the headings of a sheet; None where it has none."""
        found: tuple[int, dict[SheetPlace, int]] | None = None
        for number, row in rows:
            places: dict[SheetPlace, int] = {}
            for column, cell in sorted(row.items()):
                if (place := place_of(cell.text)) is not None:
                    places.setdefault(place, column)
            if len(row) > 1 and (SheetPlace.ATTRIBUTE in places or SheetPlace.PATH in places):
                # A channel or a family may be called like a heading: its row is none if there is another one.
                if place_of(row[min(row)].text) not in _ABOVE:
                    found = (number, places)
                    break
                found = found or (number, places)
        return None if found is None else cls(sheet, dict(rows), _anchors(merged, dict(rows)), *found)

    def cell(self, row: int, column: int | None) -> Cell | None:
        """Return a cell, or that which it is merged with."""
        if column is None:
            return None
        row, column = self.merged.get((row, column), (row, column))
        return self.rows.get(row, {}).get(column)

    def text(self, row: int, column: int | None) -> str:
        """Return the text of a heading or key."""
        cell = self.cell(row, column)
        return "" if cell is None else re.sub(r"[\s\u00a0]+", " ", cell.text).strip()

    def verbatim(self, row: int, column: int) -> str:
        """Return the text of a code or label, as products have it."""
        cell = self.cell(row, column)
        return "" if cell is None else cell.text.strip()

    def at(self, row: int, column: int) -> str:
        """Return the place of a cell as people call it."""
        place = cell_place(row, column)
        return f"{self.sheet}!{place}" if self.sheet else place

    @property
    def keys(self) -> set[int]:
        """The columns that are not about a family."""
        own = (SheetPlace.ATTRIBUTE, SheetPlace.LANGUAGE, SheetPlace.PATH, SheetPlace.FILLED)
        return {self.places[one] for one in own if one in self.places}

    def labelled(self) -> Iterator[tuple[str, str]]:
        """Yield code and label of each column that has both."""
        code_row = self._rows_above().get(SheetPlace.CODE)
        if code_row is None:
            return
        for column in sorted(self.rows[code_row]):
            code, label = self.verbatim(code_row, column), self.verbatim(self.heading, column)
            if column not in self.keys and code and label and code != ALL:
                yield code, label

    def read(
        self,
        stem: str,
        names: AttributeWords,
        keys: _Keys,
        known: _KnownFamilies,
        into: SheetsRead,
    ) -> None:
        """Read all that is asked."""
        rows_of = self._rows_above()
        channel = self._channel(rows_of, stem, into)
        if (code_row := rows_of.get(SheetPlace.CODE)) is not None:
            self._read_by(code_row, into)
        families = self._families(rows_of, known, into)
        place = self.at(self.heading, min(families, default=0))
        if not families and SheetPlace.CHANNEL not in rows_of and not into.wrong:
            # Somebody's own list of attributes.
            into.ignored.append(f"sheet {self.sheet}")
            return
        into.tables += 1
        into.read.append((place, channel, None, None, None))
        for column, family in families.items():
            into.read.append((self.at(self.heading, column), channel, family, None, None))
        others = {*rows_of.values()}
        self._refuse_words_above(rows_of, families, known, into)
        for number in sorted(self.rows):
            if len(into.wrong) >= _MOST_PROBLEMS:
                into.wrong.append(
                    f"{self.at(number, 0)}: from here on nothing was read, after so many problems"
                )
                return
            if number > self.heading and number not in others:
                self._read_row(number, channel, families, names, keys, into)

    def _rows_above(self) -> dict[SheetPlace, int]:
        """Return the rows that say something of the sheet and of its columns; sorting may have moved some below."""
        found: dict[SheetPlace, int] = {}
        for number, row in sorted(self.rows.items()):
            if self.text(number, self.places.get(SheetPlace.PATH)) and number > self.heading:
                continue
            first = next((cell for column, cell in sorted(row.items())), None)
            place = None if first is None else place_of(first.text)
            of_sheet = place in {SheetPlace.CHANNEL, SheetPlace.MARKET, SheetPlace.UNITS}
            is_of_columns = place in {SheetPlace.CODE, SheetPlace.PRODUCTS, SheetPlace.PARENT}
            if place is not None and (is_of_columns or (of_sheet and number < self.heading)):
                found.setdefault(place, number)
        return found

    @cached_property
    def _merged_by_row(self) -> Mapping[int, Collection[int]]:
        found: dict[int, list[int]] = {}
        for row, column in self.merged:
            found.setdefault(row, []).append(column)
        return found

    def _read_by(self, code_row: int, into: SheetsRead) -> None:
        """Read by what families are told, which is beside the words "Family code"."""
        beside = {
            column: self.text(code_row, column) for column in self.rows[code_row] if column in self.keys
        }
        for column, by in beside.items():
            if place_of(by) is SheetPlace.CODE:
                continue
            try:
                column_of(by)
            except InputError as error:
                into.wrong.append(f"{self.at(code_row, column)}: {error}")
            else:
                into.by = into.by or by

    def _beside(self, row: int) -> str:
        """Return what is beside the first cell of a row, before the columns of families."""
        columns = sorted(self.rows[row])
        last = max(self.keys, default=columns[0] + 1)
        return next((self.verbatim(row, one) for one in columns[1:] if one <= max(last, columns[0] + 1)), "")

    def _channel(self, rows_of: Mapping[SheetPlace, int], stem: str, into: SheetsRead) -> Channel:
        name = self._beside(rows_of[SheetPlace.CHANNEL]) if SheetPlace.CHANNEL in rows_of else ""
        market, at = "", self.sheet or stem
        if SheetPlace.MARKET in rows_of:
            market, at = self._beside(rows_of[SheetPlace.MARKET]), self.at(rows_of[SheetPlace.MARKET], 1)
        if not name:
            name, of_name = _name_and_market(self.sheet or stem)
            market = market or of_name
        is_consumer = True
        if SheetPlace.UNITS in rows_of:
            said = self._beside(rows_of[SheetPlace.UNITS])
            units = consumer_units(said)
            if units is None:
                into.wrong.append(
                    f"{self.at(rows_of[SheetPlace.UNITS], 1)}: {said!r:.40} is neither consumer units nor all."
                )
            is_consumer = bool(units)
        try:
            code = 0 if market.casefold() in _EVERY_MARKET else market_code(market)
        except QueryError as error:
            into.wrong.append(f"{at}: {error}")
            return Channel(name, 0, is_consumer)
        return Channel(name, code, is_consumer)

    def _families(
        self, rows_of: Mapping[SheetPlace, int], known: _KnownFamilies, into: SheetsRead
    ) -> dict[int, ProductFamily | None]:
        """Return the family of each column, None for all of them; other columns are named."""
        code_row, parent_row = rows_of.get(SheetPlace.CODE), rows_of.get(SheetPlace.PARENT)
        columns = sorted(
            {column for number, row in self.rows.items() for column in row} | {c for _, c in self.merged}
        )
        found: dict[int, ProductFamily | None] = {}
        parents: dict[int, str] = {}
        beside = {self.rows[one] and min(self.rows[one]) for one in rows_of.values()}
        for column in columns:
            if column in self.keys:
                continue
            label = self.verbatim(self.heading, column)
            code = self.verbatim(code_row, column) if code_row is not None else ""
            if (
                code_row is not None
                and self.merged.get((self.heading, column), (0, column))[1] != column
                and code
            ):
                label = ""
            if code == ALL or (not code and is_all_families(label)):
                found[column] = None
                continue
            parents[column] = self.verbatim(parent_row, column) if parent_row is not None else ""
            if code:
                found[column] = ProductFamily(code, "" if label == code else label)
                if (other := known.taken_from(code, label)) is not None:
                    at = "" if code_row is None else f" in {self.at(code_row, column)}"
                    into.wrong.append(
                        f"{self.at(self.heading, column)}: {label!r:.60} is the family {other!r:.60}, and the code "
                        f"of its column{at} is {code!r:.60}. If the columns were sorted, sort all rows together; if "
                        "the family has a new name, write one that no other has."
                    )
            elif label and len(named := known.named(label)) == 1:
                found[column] = ProductFamily(named[0], "" if label == named[0] else label)
            elif label and not known.codes and code_row is None and self._may_be_family(column):
                found[column] = ProductFamily(label)
            elif column not in beside:
                self._own_column(column, label, code_row, into)
        return found | self._with_parents(found, parents, parent_row, known, into)

    def _with_parents(
        self,
        found: Mapping[int, ProductFamily | None],
        parents: Mapping[int, str],
        parent_row: int | None,
        known: _KnownFamilies,
        into: SheetsRead,
    ) -> dict[int, ProductFamily | None]:
        """Return the families of columns with those that they belong to, which may be named by their labels."""
        sought = 0
        by_label: dict[str, set[str]] = {}
        for one in filter(None, found.values()):
            by_label.setdefault(one.label, set()).add(one.code)
        codes = {*known.codes, *(one.code for one in found.values() if one is not None)}
        whole: dict[int, ProductFamily | None] = {}
        for column, parent in parents.items():
            family = found.get(column)
            if family is None:
                continue
            if parent_row is None:
                whole[column] = replace(family, parent=known.parents.get(family.code, ""))
            elif parent:
                above = by_label.get(parent) or known.named(parent)
                code = parent if parent in codes or len(above) != 1 else next(iter(above))
                near = None
                if code not in codes and sought < _MOST_SOUGHT:
                    near, sought = nearest(code, [*filter(None, by_label), *codes], _ALIKE), sought + 1
                if near is not None:
                    into.wrong.append(
                        f"{self.at(parent_row, column)}: there is no family {parent!r:.60}; did you mean {near!r:.60}?"
                    )
                whole[column] = replace(family, parent=code)
        return whole

    def _refuse_words_above(
        self,
        rows_of: Mapping[SheetPlace, int],
        families: Collection[int],
        known: _KnownFamilies,
        into: SheetsRead,
    ) -> None:
        """Ask about words of the four that are in a row above the attributes."""
        for place, number in rows_of.items():
            for column in sorted(families):
                text = self.verbatim(number, column)
                if is_level(text) and not known.named(text):
                    into.wrong.append(
                        f"{self.at(number, column)}: {text!r:.40} is in the row {place}. Write it in the row of an "
                        "attribute."
                    )

    @cached_property
    def _below(self) -> Mapping[int, Mapping[int, Cell]]:
        """The cells below the headings, by column and row."""
        found: dict[int, dict[int, Cell]] = {}
        for number, row in self.rows.items():
            for column, cell in row.items() if number > self.heading else ():
                found.setdefault(column, {})[number] = cell
        return found

    def _may_be_family(self, column: int) -> bool:
        cells = list(self._below.get(column, {}).values())
        # Plain numbers are somebody's own, such as priorities.
        is_open = all(_is_open(one, self._has_plain_shares) for one in cells)
        return is_open or any(one.kind != "number" and _is_answer(one) for one in cells)

    def _own_column(self, column: int, label: str, code_row: int | None, into: SheetsRead) -> None:
        below = self._below.get(column, {})
        answers = [number for number, cell in below.items() if cell.kind != "number" and _is_answer(cell)]
        if is_remark(label):
            # "ok" and "x" are remarks there; the four words may still be meant for a family.
            answers = [number for number in answers if is_level(_bare(below[number]))]
        letters = cell_place(1, column)[:-1]
        where = f"{self.sheet}!{letters}" if self.sheet else f"column {letters}"
        if answers:
            what = (
                f"code of its family in row {code_row}"
                if code_row
                else f"code of its family above, in a row that begins with {SheetPlace.CODE}"
                if label
                else f"name of its family in row {self.heading}"
            )
            places = ", ".join(self.at(number, column) for number in answers[:_MOST_CELLS])
            more = f" and {len(answers) - _MOST_CELLS:,} more" if len(answers) > _MOST_CELLS else ""
            # Whoever writes the four words means no remark, unless the heading says so.
            are_remarks = is_remark(label) or not all(is_level(_bare(below[one])) for one in answers)
            heading = "" if is_remark(label) else f"write Remark in row {self.heading}, or "
            remarks = f" If they are remarks, {heading}write them as sentences." if are_remarks else ""
            into.wrong.append(
                f"{places}{more}: the column {f'{label!r:.40} ' if label else ''}has answers, but "
                f"nobody knows of which family. Write the {what}.{remarks}"
            )
        elif label:
            into.ignored.append(f"column {label} ({where})")

    @cached_property
    def _has_plain_shares(self) -> bool:
        """Whether shares lost their format, so that 0 and 1 are none and all: other cells are fractions."""
        return any(
            re.fullmatch(r"0[.,][0-9]+", cell.text) is not None
            for column, below in self._below.items()
            for cell in below.values()
            if column not in self.keys and cell.kind in {"number", "text"}
        )

    def _read_row(
        self,
        number: int,
        channel: Channel,
        families: Mapping[int, ProductFamily | None],
        names: AttributeWords,
        keys: _Keys,
        into: SheetsRead,
    ) -> None:
        filled: dict[int, Cell] = {}
        open_cells: dict[int, Cell] = {}
        for column, cell in self._cells(number, families):
            (open_cells if _is_open(cell, self._has_plain_shares) else filled)[column] = cell
        self._read_numbers(number, open_cells, families, names, keys, into)
        other = self.cell(number, self.places.get(SheetPlace.FILLED))
        if other is not None and _is_answer(other) and other.kind == "text":
            into.wrong.append(
                f"{self.at(number, self.places[SheetPlace.FILLED])}: {other.text!r:.40} is in the column "
                f"{SheetPlace.FILLED}. Write it below {ALL_FAMILIES}, or below a family."
            )
        if not filled or (asked := self._asked(number, filled, names, keys, into)) is None:
            return
        row = RowKind.of(asked, keys.in_use.get(asked.attribute))
        for column, cell in filled.items():
            place = self.at(number, column)
            try:
                ask = _ask_of_cell(cell, row)
            except (InputError, QueryError) as error:
                into.wrong.append(f"{place}: {error}")
                continue
            if ask is not None:
                into.read.append((place, channel, families[column], asked, ask))
                self._note_of_none(place, asked, ask, families[column], keys, into)

    def _note_of_none(
        self,
        place: str,
        asked: AskedAttribute,
        ask: Ask,
        family: ProductFamily | None,
        keys: _Keys,
        into: SheetsRead,
    ) -> None:
        """Note what must be filled and nobody has: perhaps another attribute was meant."""
        code = ALL if family is None else family.code
        products = keys.products_of(self.sheet, code)
        if ask.level is Level.MUST and products >= _LARGE and keys.shown(self.sheet, asked, code) == [0]:
            of = "no product" if family is None else f"no product of {family.label or family.code}"
            into.notes.append(f"{place}: must, and {of} has it today ({products:,} products)")

    def _read_numbers(
        self,
        number: int,
        cells: Mapping[int, Cell],
        families: Mapping[int, ProductFamily | None],
        names: AttributeWords,
        keys: _Keys,
        into: SheetsRead,
    ) -> None:
        """Ask about a number that somebody typed over another share: no share is written over by a share."""
        doubtful = {column: share for column, cell in cells.items() if (share := _typed(cell)) is not None}
        if not keys.shares or not doubtful:
            return
        path, words, language = self._keys_of(number)
        try:
            asked = names.asked(path, words, language)
        except (InputError, QueryError):
            return
        for column, typed in doubtful.items():
            family = families[column]
            for share in keys.shown(self.sheet, asked, ALL if family is None else family.code):
                if share is None or abs(share - typed) > _ROUNDED:
                    over = "" if share is None else f" over the share of {percent(share, 0)}"
                    cell = cells[column]
                    what = f"{cell.text} %" if cell.kind == "percentage" else repr(_bare(cell))
                    into.wrong.append(
                        f"{self.at(number, column)}: {what} was typed{over}. Type must, should, may or not."
                    )

    def _keys_of(self, number: int) -> list[str]:
        """Return wire path, words and language of a row, as far as any name is long."""
        return [
            self.text(number, self.places.get(one))[:_LONGEST_NAME]
            for one in (SheetPlace.PATH, SheetPlace.ATTRIBUTE, SheetPlace.LANGUAGE)
        ]

    def _cells(self, number: int, families: Collection[int]) -> Iterator[tuple[int, Cell]]:
        """Yield the cells of a row that are of a family."""
        for column in sorted(
            {*self.rows[number], *self._merged_by_row.get(number, ())}.intersection(families)
        ):
            origin = self.merged.get((number, column), (number, column))[1]
            # What is merged with the words of a row is a heading over all of it.
            if origin not in self.keys and (cell := self.cell(number, column)) is not None:
                yield column, cell

    def _asked(
        self,
        number: int,
        filled: Mapping[int, Cell],
        names: AttributeWords,
        keys: _Keys,
        into: SheetsRead,
    ) -> AskedAttribute | None:
        """Return what a row is about; None where nobody knows, which is a problem if it has answers."""
        for one in (SheetPlace.PATH, SheetPlace.ATTRIBUTE, SheetPlace.LANGUAGE):
            key = self.cell(number, self.places.get(one))
            if key is not None and key.problem:
                into.wrong.append(f"{self.at(number, self.places[one])}: {_cannot_be_read(key)}")
                return None
        path, words, language = self._keys_of(number)
        has_answers = any(_is_answer(cell) for cell in filled.values())
        if not path and not words:
            if has_answers:
                into.wrong.append(f"{self.at(number, next(iter(filled)))}: its row names no attribute.")
            return None
        # Headings that somebody has repeated, for printing.
        if place_of(words) is SheetPlace.ATTRIBUTE and not path:
            return None
        if words in GROUPS and not path and has_answers:
            place = self.at(number, next(iter(filled)))
            into.wrong.append(f"{place}: {words!r:.40} is a heading. Write the word in the rows below it.")
            return None
        try:
            language_of(language)
        except InputError as error:
            if has_answers:
                into.wrong.append(f"{self.at(number, self.places[SheetPlace.LANGUAGE])}: {error}")
                return None
        try:
            asked = names.asked(path, words, language)
        except (InputError, QueryError) as error:
            place = self.at(number, self.places.get(SheetPlace.PATH if path else SheetPlace.ATTRIBUTE, 0))
            if has_answers or path:
                into.wrong.append(f"{place}: {error}")
            else:
                into.ignored.append(f"row {words} ({place})")
            return None
        if has_answers and not asked.language and not language:
            self._check_any_language(number, asked, names, keys, into)
        is_titled = not has_answers or self._is_titled(number, asked, path, words, keys, into)
        return asked if is_titled else None

    def _is_titled(
        self, number: int, asked: AskedAttribute, path: str, words: str, keys: _Keys, into: SheetsRead
    ) -> bool:
        """Ask about words that are those of another attribute than the path: sorting may have moved one of them."""
        titled = keys.attributes.get(_as_label(words), asked.attribute)
        if path != asked.attribute or path not in keys.titles or titled == asked.attribute:
            return True
        into.wrong.append(
            f"{self.at(number, self.places.get(SheetPlace.ATTRIBUTE, 0))}: {words!r:.60} is the attribute {titled}, "
            f"and the path of its row is {path!r:.60}. If the rows were sorted, sort all columns together; else write "
            "the words or the path of the one that you mean."
        )
        return False

    def _check_any_language(
        self, number: int, asked: AskedAttribute, names: AttributeWords, keys: _Keys, into: SheetsRead
    ) -> None:
        """Ask about a language that somebody deleted; a text that had none before may be in any."""
        written = keys.languages(self.sheet, asked.attribute)
        column = self.places.get(SheetPlace.LANGUAGE, self.places.get(SheetPlace.ATTRIBUTE, 0))
        gone = [] if "" in written else [one for one in written if one not in self._spoken(asked, names)]
        if gone:
            before = " or ".join(map(language_name, gone))
            into.wrong.append(
                f"{self.at(number, column)}: the language is gone. Type {before}, or any where the text may be in any "
                "language."
            )
        elif asked.attribute in TEXTS:
            into.notes.append(
                f"{self.at(number, column)}: no language, so that the text may be in any language"
            )

    def _spoken(self, asked: AskedAttribute, names: AttributeWords) -> Collection[str]:
        """Return the languages of all rows of an attribute."""
        if not self._languages:
            for number in self.rows:
                with suppress(InputError, QueryError):
                    other = names.asked(*self._keys_of(number))
                    self._languages.setdefault(other.attribute, set()).add(other.language)
        return self._languages.get(asked.attribute, ())


def _anchors(merged: Iterable[Range], rows: Mapping[int, Row]) -> dict[tuple[int, int], tuple[int, int]]:
    """Return the first cell of the range that each cell is merged with; cells with a value of their own keep it."""
    found: dict[tuple[int, int], tuple[int, int]] = {}
    widest = max((max(row, default=0) for row in rows.values()), default=0)
    deepest = max(rows, default=0)
    for (top, left), (bottom, right) in merged:
        # Somebody merges whole columns or rows: only what is in use counts.
        last_row, last_column = min(bottom, deepest), min(right, widest)
        size = (last_row - top + 1) * (last_column - left + 1)
        if left not in rows.get(top, {}) or size > _MOST_MERGED or len(found) > _MOST_MERGED:
            continue
        for row in range(top, last_row + 1):
            for column in range(left, last_column + 1):
                if (row, column) != (top, left) and column not in rows.get(row, {}):
                    found[row, column] = (top, left)
    return found


def _bare(cell: Cell) -> str:
    return _SHARE_BEHIND.sub("", cell.text).strip()


def _is_answer(cell: Cell) -> bool:
    return not _is_open(cell) and is_answer(_bare(cell))


def _is_open(cell: Cell, has_plain_shares: bool = False) -> bool:
    """Whether a cell is not answered: empty, a dash, or what was written there of today."""
    if cell.kind == "percentage":
        return True
    text = _bare(cell)
    if cell.kind in {"number", "text"} and has_plain_shares and re.fullmatch(r"[01](?:[.,]0+)?", text):
        return True
    return cell.kind in {"number", "text"} and not cell.is_struck and (is_share(text) or is_not_asked(text))


def _typed(cell: Cell) -> float | None:
    """Return the share that a cell holds as a number, or as a text that looks like one; None for anything else."""
    if cell.kind not in {"percentage", "number", "text"}:
        return None
    text = _bare(cell)
    try:
        value = float(written_share(text))
    except InputError:
        return None
    return value / 100 if cell.kind == "percentage" or text.endswith("%") else value


def _cannot_be_read(cell: Cell) -> str:
    return f"{cell.text!r:.60} cannot be read: {cell.problem}."


def _ask_of_cell(cell: Cell, row: RowKind) -> Ask | None:
    if cell.is_struck:
        raise InputError(f"{cell.text!r:.60} is struck through. Delete it, or type again what is meant.")
    if cell.problem:
        raise InputError(_cannot_be_read(cell))
    if cell.kind == "formula":
        raise InputError("a formula without a result. Save the file in a spreadsheet, or type the word.")
    if cell.kind == "error":
        raise InputError(f"{cell.text!r:.40} is the error of a formula. Type must, should, may or not.")
    return ask_of(_bare(cell), row)


def _first_answer(rows: Iterable[tuple[int, Row]]) -> tuple[int, int] | None:
    """Return row and column of the first cell that is one of the four words."""
    for number, row in rows:
        for column, cell in sorted(row.items()):
            if _is_answer(cell):
                return number, column
    return None


def _name_and_market(name: str) -> tuple[str, str]:
    """Return channel and market of the name of a sheet.

    >>> _name_and_market("Web shop (France)"), _name_and_market("Web shop - Belgique"), _name_and_market("Web-shop")
    (('Web shop', 'France'), ('Web shop', 'Belgique'), ('Web-shop', ''))
    """
    found = _NAME_AND_MARKET.fullmatch(name.strip())
    if found is not None:
        market = found[2] or found[3]
        try:
            market_code(market)
        except QueryError:
            return name.strip(), ""
        return found[1].strip(), market
    return name.strip(), ""


def _long_heading(rows: Sequence[tuple[int, Row]]) -> int | None:
    """Return the number of the row with the headings of a table of one requirement a row; None where it is none."""
    for number, row in rows:
        if {cell.text.strip().casefold() for cell in row.values()} >= _LONG:
            return number
    return None


def _read_long(
    sheet: str, rows: Sequence[tuple[int, Row]], heading: int, names: AttributeWords, into: SheetsRead
) -> None:
    """Read a table with one requirement a row, as `Requirements.write` writes CSV."""
    table = dict(rows)
    columns: dict[int, str] = {}
    for column, cell in sorted(table[heading].items()):
        name = cell.text.strip().casefold()
        if name in {*COLUMNS, "by"} and name not in columns.values():
            columns[column] = name
        else:
            into.ignored.append(f"column {cell.text.strip()}")
    for number, row in rows:
        if number <= heading:
            continue
        given: dict[str, Any] = {name: row[column].text for column, name in columns.items() if column in row}
        if not any(str(value).strip() for value in given.values()):
            continue
        by = str(given.pop("by", "")).strip()
        into.by = into.by or by
        place = f"{sheet}!row {number}" if sheet else f"row {number}"
        try:
            into.read.append((place, *_long_row(given, names)))
        except (InputError, QueryError) as error:
            into.wrong.append(f"{place}: {error}")


def _long_row(
    given: dict[str, Any], names: AttributeWords
) -> tuple[Channel | None, ProductFamily | None, AskedAttribute | None, Ask | None]:
    attribute, level = str(given.get("attribute", "")).strip(), str(given.get("level", "")).strip()
    if attribute:
        given["attribute"] = names.as_written(attribute)
        if (ask := ask_of(level)) is None:
            raise InputError("it has no level. Give must, should, may or not.")
        given["level"] = ask.level.value
        for name in ("shortest", "longest", "pixels"):
            if getattr(ask, name):
                given.setdefault(name, getattr(ask, name))
        given |= {"one_of": list(ask.one_of)} if ask.one_of and not given.get("one_of") else {}
        given |= {"pattern": ask.pattern} if ask.pattern and not given.get("pattern") else {}
    return row_read(given)
