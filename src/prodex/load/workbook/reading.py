"""`read_workbook`: the export of an exchange platform as a catalogue, with every cell that could not be understood."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from prodex.arguments import described
from prodex.catalog import Catalog
from prodex.catalog.origin import Extent
from prodex.errors import InputError
from prodex.formats.spreadsheet_files import MergedCells, Sheet, sheets_of
from prodex.formats.workbook_cells import Cell, Row, cell_place
from prodex.limits import Limits
from prodex.load.workbook.headings import (
    FIRST_ROW,
    PATHS_ROW,
    QUALIFIERS_ROW,
    ColumnContent,
    Heading,
    headings_of,
)
from prodex.load.workbook.records import VALUELESS, Clash, Members, as_json, merge, record_of_cell, value_of
from prodex.locales import short_of
from prodex.store.reading import flatten
from prodex.tables.attributes import ATTRIBUTES
from prodex.worklists.answer_parsing import AnswerRefused

#: By these a row says which product it is about, the surest first.
_KEYS = ("id", "uuid", "gtin")


def read_workbook(path: str | Path, *, limits: Limits | None = None) -> Catalog:
    """Read a workbook that an exchange platform exported into a catalogue in memory.

    Row 4 of a sheet has the technical path of each column (`gtin`, `namePublicLong`, `assets.pictures[0].url`), row 6
    its language (fr, fra-FR, French) or unit (GRM, g), and products begin in row 8; other rows above are for people.
    A code is written with its label: `Sea salt∣SALT`. Sheets without such paths are left alone; the source of the
    catalogue names them.

    A cell that is merged with those below it is in all of their rows, as it is shown. One that is merged with cells of
    other columns is in its own column alone, and the others are listed.

    Rows of one GTIN are one product. Where a list has no places in its path (`assets.pictures.url`), each row adds an
    item to it; a second value for anything else is listed, and the first is kept.

    Cells that cannot be understood are never dropped: they are in `catalog.problems` with sheet, address, value and
    reason, the catalogue is incomplete, and what they hold is in `scalars` and `raw` as text, unless it is an error.
    `catalog.origin.extent` says which attributes and languages there are columns of. Of all others nothing is known:
    the checks of an audit that need them are unknown, and so is a missing value of an attribute with an odd cell.

    Parameters
    ----------
    path
        The file, saved by any program as .xlsx; the same layout as CSV is read as well.
    limits
        What the file may take, unpacked: a billion bytes unless given.

    Raises
    ------
    SpreadsheetUnreadable
        When it is no workbook, has a password, is damaged or larger than the limits.
    InputError
        When no sheet has technical paths in row 4.

    Examples
    --------
    >>> import pathlib, prodex, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "export.csv")
    >>> above = ["My list;;", ";;", ";;", "gtin;namePublicLong;netContent", "GTIN;Name;Content", ";French;g", ";;"]
    >>> _ = path.write_text("\\n".join([*above, "3036811359935;Sirop;0,5"]))
    >>> catalog = prodex.read_workbook(path)
    >>> catalog.texts[["gtin", "language", "text"]].values.tolist()
    [['03036811359935', 'fr', 'Sirop']]
    >>> catalog.origin.asked("brand"), catalog.problems.empty
    (False, True)
    """
    if not isinstance(path, str | Path):
        raise InputError(
            f"path is {described(path)}. Give the path of a workbook: prodex.read_workbook('a.xlsx')."
        )
    found = _Reading()
    with sheets_of(path, limits=limits, setting="read_workbook", headings=_known_paths) as sheets:
        for sheet in sheets:
            found.add(sheet)
    if not found.has_paths:
        raise InputError(
            f"{path} is not an export of an exchange platform: no sheet has technical paths such as gtin and "
            f"namePublicLong in row {PATHS_ROW}. prodex.read_worklist reads a worklist that was filled in."
        )
    records = [as_json(product) for product in found.products]
    without = f", without {', '.join(found.others)}" if found.others else ""
    catalog = flatten(records, source=f"{Path(path).name}{without}")
    ledger = replace(catalog.origin.ledger, set_aside=tuple(found.odd))
    return replace(catalog, origin=replace(catalog.origin, ledger=ledger, extent=found.extent))


@dataclass
class _Reading:
    """What was read so far.

    Attributes
    ----------
    products
        Their records, in the order of the sheet.
    odd
        Cells that could not be understood, each with its place and the reason.
    others
        Sheets that are for people.
    has_paths
        Whether any sheet is of a platform.
    """

    products: list[Members] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    has_paths: bool = False
    _attributes: dict[str, dict[str, None]] = field(default_factory=dict)
    _localized: set[str] = field(default_factory=set)
    _in_part: dict[str, None] = field(default_factory=dict)
    _by_key: dict[tuple[str, str], list[Members]] = field(default_factory=dict)
    _owners: dict[str, Members] = field(default_factory=dict)

    @property
    def extent(self) -> Extent:
        """The attributes that there are columns of."""
        languages = [
            (name, tuple(spoken)) for name, spoken in self._attributes.items() if name in self._localized
        ]
        return Extent(tuple(self._attributes), tuple(languages), tuple(self._in_part))

    def add(self, sheet: Sheet) -> None:
        """Read a sheet."""
        rows = sheet.rows()
        paths, qualifiers, first = _above(rows)
        ends: dict[int, int] = {}
        ranges = sheet.merged()
        for (line, begin), (_, end) in sorted(ranges):
            # A cell that is merged with those beside it belongs to all of their columns. Ranges do not overlap.
            above = {PATHS_ROW: paths, QUALIFIERS_ROW: qualifiers}.get(line, {})
            if begin in above and begin > ends.get(line, -1):
                above.update(dict.fromkeys(range(begin, end + 1), above[begin]))
                ends[line] = end
        headings = headings_of(paths, qualifiers)
        if not any(_is_known(one) for one in headings.values()):
            self.others.append(f"sheet {sheet.name!r:.60}")
            return
        self.has_paths = True
        for heading in headings.values():
            self._note(heading)
        merged = MergedCells(one for one in ranges if one[0][0] >= FIRST_ROW)
        given: set[tuple[int, tuple[int, int]]] = set()
        for number, row in _with_first_row(first, rows):
            self._add_row(sheet, number, _shown_cells(number, row, headings, merged), given)

    def _note(self, heading: Heading) -> None:
        if heading.path is None:
            return
        spoken = self._attributes.setdefault(heading.path.attribute, {})
        if heading.content is ColumnContent.TEXT:
            self._localized.add(heading.path.attribute)
        if heading.language is not None:
            spoken[short_of(heading.language["normalizedCode"])] = None

    def _add_row(
        self,
        sheet: Sheet,
        number: int,
        shown: Mapping[int, _ShownCell],
        given: set[tuple[int, tuple[int, int]]],
    ) -> None:
        """Read a row; `given` has the merged ranges whose value a product has, by its id and their first cell."""
        made = Members()
        cells = {cell_place(number, column): one for column, one in shown.items()}
        refused = dict.fromkeys(cells, "")
        own = {name for one in shown.values() if not one.is_copy for name in one.lists}
        # The item of another row of this product: it is another one only where this row says something of it.
        later = [
            place for place, one in cells.items() if one.is_copy and one.lists and one.lists[-1] not in own
        ]

        def put(place: str, one: _ShownCell) -> None:
            value, refused[place] = _understood(one)
            is_elsewhere = one.is_copy and bool(one.problem)
            if one.heading is None or one.heading.path is None or is_elsewhere or not _has_value(one.cell):
                return
            # What cannot be understood stays in the record as it is, a GTIN that is none included.
            is_odd = bool(refused[place])
            kept = record_of_cell(one.heading, one.cell.text if is_odd else value, place, is_odd=is_odd)
            refused.update(_clashes(merge(made, kept, in_one_row=True)))

        for place, one in cells.items():
            if place not in later:
                put(place, one)
        # Of the record, and not of the cells: where two columns name a GTIN, the first counts.
        keys = {name: str(as_json(made.members[name])).strip() for name in _KEYS if name in made.members}
        keys = {name: value for name, value in keys.items() if value}
        product = self._product(keys)
        for place in later:
            if product is None or (id(product), cells[place].first) not in given:
                put(place, cells[place])
        if product is None:
            why = "its row may be of several products" if keys else "its row names no product"
            refused |= {place: refused[place] or why for place in cells}
        else:
            refused |= _clashes(merge(product, made, in_one_row=False))
            given.update((id(product), one.first) for one in cells.values() if one.first is not None)
        for place, one in cells.items():
            if why := refused[place]:
                where = f"{sheet.name}!{place}" if sheet.name else place
                self.odd.append(f"{where}: {one.cell.text!r:.80}: {why}")
                if one.heading is not None and one.heading.path is not None:
                    self._in_part[one.heading.path.attribute] = None

    def _product(self, keys: Mapping[str, str]) -> Members | None:
        """Return the product that a row is about, a new one if there is none; None where nobody can say."""
        fitting: list[Members] = []
        for name in (name for name in _KEYS if name in keys and not fitting):
            # Versions of a product for several markets have one GTIN, and ids of their own: a surer key decides.
            surer = {key: keys[key] for key in _KEYS[: _KEYS.index(name)] if key in keys}
            same = self._by_key.get((name, keys[name]), [])
            fitting = [one for one in same if all(_fits(one, key, value) for key, value in surer.items())]
        if not keys or len(fitting) > 1:
            return None
        product = fitting[0] if fitting else Members()
        own = {name: str(as_json(product.members[name])) for name in _KEYS if name in product.members}
        known = {**keys, **own}
        # By this key tables know it; one that is written like another product's would hide that product.
        key = next(value for name in _KEYS if (value := known.get(name)))
        if self._owners.setdefault(key, product) is not product:
            return None
        if not fitting:
            self.products.append(product)
        for one in known.items():
            same = self._by_key.setdefault(one, [])
            if not any(other is product for other in same):
                same.append(product)
        return product


def _is_known(heading: Heading) -> bool:
    return heading.path is not None and heading.path.attribute.partition(".")[0] in ATTRIBUTES


def _known_paths(number: int, row: Row) -> int:
    """Return how many columns of a platform a row names."""
    return sum(map(_is_known, headings_of(row, {}).values())) if number == PATHS_ROW else 0


@dataclass(frozen=True)
class _ShownCell:
    """A cell as its sheet shows it: its own, or that with which it is merged.

    Attributes
    ----------
    cell
        What it shows.
    heading
        Its column.
    first
        Row and column of the first cell of the range that it is merged in.
    is_copy
        Whether it shows what another cell holds.
    problem
        Why it is not known whether what it shows is a value of its row and column.
    """

    cell: Cell
    heading: Heading | None
    first: tuple[int, int] | None = None
    is_copy: bool = False
    problem: str = ""

    @property
    def lists(self) -> list[str]:
        """The lists in whose items it is, from the outermost on, if these have no place."""
        steps = () if self.heading is None or self.heading.path is None else self.heading.path.steps
        # A text is told from others of its list by its language.
        named = (
            steps[:-1] if self.heading is not None and self.heading.content is ColumnContent.TEXT else steps
        )
        return [
            ".".join(one.name for one in steps[:place])
            for place, step in enumerate(named, 1)
            if step.in_list and step.index is None
        ]


def _shown_cells(
    number: int, row: Row, headings: Mapping[int, Heading], merged: MergedCells
) -> dict[int, _ShownCell]:
    """Return the cells of a row, by their column: its own, and what it shows of cells that are merged over it."""
    found = {}
    for column in sorted({*row, *headings}) if merged else sorted(row):
        own, shown = row.get(column), merged.cell(number, column, row)
        if (cell := own or shown) is None:
            continue
        first = merged.first(number, column)
        is_copy = first is not None and first != (number, column)
        problem = ""
        if first is not None and shown is not None and is_copy:
            place = cell_place(*first)
            if own is not None and own.text != shown.text:
                problem = f"it is hidden below {place}, which is merged over it"
            elif first[1] != column:
                problem = f"it is merged with {place}, which is of another column"
        found[column] = _ShownCell(cell, headings.get(column), first, is_copy and own is None, problem)
    return found


def _understood(one: _ShownCell) -> tuple[Any, str]:
    """Return the value of a cell, or why it cannot be understood."""
    if one.heading is None:
        return None, f"row {PATHS_ROW} has no path above it"
    if one.problem:
        return None, one.problem
    try:
        return value_of(one.cell, one.heading), ""
    except AnswerRefused as error:
        return None, str(error)


def _clashes(found: Iterable[Clash]) -> dict[str, str]:
    """Return why cells have no place in a record, by their address."""
    reasons = {}
    for clash in found:
        there = "something of another kind" if clash.other is None else f"{clash.other.value!r:.60}"
        where = "" if clash.other is None else f" (cell {clash.other.place})"
        reasons[clash.place] = f"its product has {there} there already{where}"
    return reasons


def _above(rows: Iterator[tuple[int, Row]]) -> tuple[Row, Row, tuple[int, Row] | None]:
    """Return the two rows that say what the columns are, and the first row of the data."""
    paths: Row = {}
    qualifiers: Row = {}
    for number, row in rows:
        if number >= FIRST_ROW:
            return paths, qualifiers, (number, row)
        if number == PATHS_ROW:
            paths = row
        elif number == QUALIFIERS_ROW:
            qualifiers = row
    return paths, qualifiers, None


def _with_first_row(
    first: tuple[int, Row] | None, others: Iterator[tuple[int, Row]]
) -> Iterator[tuple[int, Row]]:
    if first is not None:
        yield first
        yield from others


def _fits(product: Members, key: str, value: str) -> bool:
    there = product.members.get(key)
    return there is None or as_json(there) == value


def _has_value(cell: Cell) -> bool:
    return cell.kind not in VALUELESS
