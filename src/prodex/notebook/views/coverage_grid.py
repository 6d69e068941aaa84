"""A coverage grid as it is shown: the words, the shade and the products behind each cell and each head."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from prodex.colour_scale import shade
from prodex.exploration.coverage import (
    Checks,
    Counts,
    CoverageFigures,
    fails,
    in_group,
    lacks,
    of_counted_units,
)
from prodex.exploration.filled import CellState
from prodex.facts.filled import Attribute
from prodex.facts.name import distinct_labels
from prodex.languages.labels import attribute_label
from prodex.locales import language_label
from prodex.messages import counted, percent
from prodex.notebook.session.actions import Block
from prodex.notebook.views.cells import ShownCell, cells_row, short_key
from prodex.selection import Selection
from prodex.selection.units import CONSUMER, UnitCount

_ALL = "all"
#: Languages that a head names.
_NAMED = 6


@dataclass(frozen=True, eq=False)
class CoverageGrid:
    """What is shown of figures.

    Attributes
    ----------
    figures
        The figures.
    checks
        What an audit requires, by attribute and language; none without one.
    of_required
        Whether the figures are about what is required, and not about all that could be filled.
    counted
        Of how many products they are.
    sorted_by
        The row by which the columns are sorted, and whether the best is first; None where they are as listed.
    """

    figures: CoverageFigures
    checks: Checks
    of_required: bool
    counted: UnitCount
    sorted_by: tuple[str, bool] | None = None

    def sorted_columns(self, row: str, *, is_best_first: bool) -> CoverageGrid:
        """Return the same with the columns in the order of a row; as it is, if there is no such row now."""
        if row not in self._row_keys:
            return self
        figures = self.figures.by_row(self._row_keys[row], is_best_first=is_best_first)
        return CoverageGrid(figures, self.checks, self.of_required, self.counted, (row, is_best_first))

    def heads(self, columns: slice, conditions: Selection) -> list[ShownCell]:
        """Return the heads of the first column and of some others."""
        return [self._column_head(column, conditions) for column in self._shown(columns)]

    def rows(self, rows: slice, columns: slice, conditions: Selection) -> list[Block]:
        """Return some rows with the cells of some columns, and the row of totals."""
        shown = self._shown(columns)
        found = [
            cells_row(
                self._row_head(row, conditions),
                [self._cell(row, column, conditions) for column in shown],
                sort=self._order(row),
            )
            for row in range(*rows.indices(len(self.figures.rows)))
        ]
        if len(self.figures.rows) < 2:  # the sum of one row is the row
            return found
        head = ShownCell("total", "all attributes", "All attributes together", is_mute=True)
        return [*found, cells_row(head, [self._total(column) for column in shown], is_total=True)]

    def has_row(self, row: str) -> bool:
        """Return whether there is a row of this key."""
        return row in self._row_keys

    def cell(self, row: str, column: str) -> Selection | None:
        """Return the products behind a cell; None where nothing is known to be missing, or there is no such cell."""
        if row not in self._row_keys or column not in self._column_keys:
            return None
        return self._lacking(self._row_keys[row], self._column_keys[column])

    def row(self, row: str) -> Selection | None:
        """Return the products that lack the attribute of a row."""
        return self.cell(row, _ALL)

    def column(self, column: str) -> Selection | None:
        """Return the products of a column: those of its group, or that have texts in its language."""
        place = self._column_keys.get(column, 0)
        return in_group(self.figures.by, self.figures.columns[place].code) if place else None

    @cached_property
    def _labels(self) -> dict[str, str]:
        """What attributes are called among people; those that are called the same with their wire paths behind."""
        attributes = list(dict.fromkeys(attribute for attribute, _ in self.figures.rows))
        labels = distinct_labels(attributes, [attribute_label(one) for one in attributes])
        return {path: f"{one[:1].upper()}{one[1:]}" for path, one in zip(attributes, labels, strict=True)}

    @cached_property
    def _has_figures(self) -> npt.NDArray[np.bool_]:
        return self.figures.has_figures

    @cached_property
    def _totals(self) -> tuple[tuple[Counts, Counts], npt.NDArray[np.float64]]:
        return self.figures.totals, self.figures.total_shares

    @cached_property
    def _row_keys(self) -> dict[str, int]:
        return {_row_key(row): place for place, row in enumerate(self.figures.rows)}

    @cached_property
    def _column_keys(self) -> dict[str, int]:
        return {self._column_key(place): place for place in range(len(self.figures.columns))}

    def _column_key(self, column: int) -> str:
        code = self.figures.columns[column].code
        # A group may have any code, and the one of the products without a value has none.
        return _ALL if not column else "without" if code is None else short_key(f"={code}")

    def _shown(self, columns: slice) -> list[int]:
        """Return the numbers of the first column, and of some of the groups after it."""
        return [0, *(1 + place for place in range(*columns.indices(len(self.figures.columns) - 1)))]

    def _order(self, row: int) -> str:
        key, is_best_first = self.sorted_by or ("", False)
        if key != _row_key(self.figures.rows[row]):
            return ""
        return "descending" if is_best_first else "ascending"

    def _attribute(self, row: int, column: int) -> Attribute:
        """Return what a cell is about."""
        attribute, language = self.figures.rows[row]
        if self.figures.by == "language":
            language = self.figures.columns[column].code
        return attribute, language

    def _lacking(self, row: int, column: int) -> Selection | None:
        figures = self.figures
        if not self._has_figures[row, column]:
            return None
        attribute = self._attribute(row, column)
        is_group = figures.by != "language" and column > 0
        group = (figures.by, figures.columns[column].code) if is_group else None
        if not self.of_required:
            return of_counted_units(lacks(*attribute, group), self.counted)
        checks = self.checks[attribute]
        problems = dict.fromkeys(str(check.problem) for check in checks)
        failing = fails(" / ".join(problems), [check.id for check in checks], group)
        names_units = any(check.units != CONSUMER for check in checks)
        return failing if names_units else of_counted_units(failing, self.counted)

    def _row_head(self, row: int, conditions: Selection) -> ShownCell:
        attribute, language = self.figures.rows[row]
        label = self._labels[attribute]
        named = label if language is None else f"{label} · {language_label(language)}"
        lacking = self._lacking(row, 0)
        required = self._required(attribute) if language is None else ""
        return ShownCell(
            _row_key((attribute, language)),
            named,
            f"{named} ({attribute}): list the products that lack it{f'; {required}' if required else ''}",
            required,
            f"{attribute}: list the products that lack it" if lacking else attribute,
            None,
            lacking is not None and _do_require(conditions, lacking),
            is_mute=lacking is None,
        )

    def _required(self, attribute: str) -> str:
        """Say in which languages an audit requires an attribute."""
        languages = [language for name, language in self.checks if name == attribute]
        spoken = [one for one in languages if one is not None]
        if not languages:
            return ""
        more = f" and {len(spoken) - _NAMED} more" if len(spoken) > _NAMED else ""
        return f"required: {', '.join(spoken[:_NAMED])}{more}" if spoken else "required"

    def _column_head(self, column: int, conditions: Selection) -> ShownCell:
        group = self.figures.columns[column]
        is_language = self.figures.by == "language"
        lists = "List the products with texts in it" if is_language else "List its products"
        detail = (group.code or "") if is_language else f"{group.products:,}"
        listed = in_group(self.figures.by, group.code) if column else None
        return ShownCell(
            self._column_key(column),
            group.label,
            f"{group.label}: {lists.lower()}" if column else group.label,
            detail,
            lists if column else "",
            None,
            listed is not None and _do_require(conditions, listed),
            is_mute=listed is None,
        )

    def _cell(self, row: int, column: int, conditions: Selection) -> ShownCell:
        figures = self.figures
        filled, products = int(figures.filled[row, column]), int(figures.products[row, column])
        unknown, state = int(figures.unknown[row, column]), figures.states[row, column]
        attribute, language = self._attribute(row, column)
        about = f"{self._labels[attribute]}, {figures.columns[column].label}"
        is_required = (attribute, language) in self.checks
        notes = ["required"] if is_required and not self.of_required else []
        key = self._column_key(column)
        if not self._has_figures[row, column]:
            return ShownCell(key, str(state), f"{about}: {'; '.join([state, *notes])}", is_mute=True)
        if not products:
            return ShownCell(key, "–", f"{about}: no products", is_mute=True)
        share = filled / products
        notes += [f"unknown of {unknown:,}"] if unknown else []
        notes += [CellState.IN_PART.value] if state == CellState.IN_PART else []
        figure = f"{'≥ ' if state == CellState.IN_PART else ''}{percent(share, 0)}"
        say = f"{filled:,} of {counted(products, 'product')}"
        lacking = self._lacking(row, column)
        is_pressed = lacking is not None and _do_require(conditions, lacking)
        lists = "" if filled == products else f". Press to list the {products - filled:,} that lack it"
        return ShownCell(
            key,
            figure,
            "; ".join([f"{about}: {figure}, {say}", *notes]),
            "",
            f"{'; '.join([f'{about}: {say}', *notes])}{lists}",
            _shade(share),
            is_pressed,
            is_mute=filled == products and not is_pressed,
        )

    def _total(self, column: int) -> ShownCell:
        totals, shares = self._totals
        filled, products = (int(one[column]) for one in totals)
        share = float(shares[column])
        label = self.figures.columns[column].label
        if np.isnan(share):
            return ShownCell(self._column_key(column), "–", f"{label}: no figures", is_mute=True)
        say = f"{label}: {percent(share, 0)}, {filled:,} of {products:,} values"
        return ShownCell(
            self._column_key(column), percent(share, 0), say, "", say, _shade(share), is_mute=True
        )


def _shade(share: float) -> int:
    """Return the shade of a share as it is written, in whole per cent: one figure has one shade.

    >>> _shade(1.0), _shade(0.999), _shade(0.0)
    (0, 1, 7)
    >>> _shade(0.8999), _shade(0.9)  # both are written as 90 %
    (4, 4)
    """
    return shade(share if share >= 1 else min(round(share, 2), 0.99))


def _do_require(conditions: Selection, wanted: Selection) -> bool:
    """Return whether conditions require others; most cells are not pressed, which shows at a glance."""
    has_groups = conditions.groups.keys() >= wanted.groups.keys()
    return has_groups and len(conditions.failing) >= len(wanted.failing) and conditions.require(wanted)


def _row_key(row: Attribute) -> str:
    return short_key(f"{row[1] or ''} {row[0]}")
