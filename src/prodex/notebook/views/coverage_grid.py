"""A coverage grid as it is shown: the words, the shade and the products behind each cell and each head."""

from __future__ import annotations

import numpy as np

from prodex.exploration.coverage import (
    Checks,
    CoverageFigures,
    fails,
    in_group,
    lacks,
    of_counted_units,
)
from prodex.exploration.filled import CellState
from prodex.facts.attribute_states import Attribute
from prodex.facts.name import distinct_labels
from prodex.languages.labels import attribute_label
from prodex.locales import language_label
from prodex.notebook.session.actions import Block
from prodex.notebook.views.cells import ShownCell, cells_row, code_key, share_shade, short_key
from prodex.phrases import counted, percent
from prodex.selection import Code, Selection
from prodex.selection.units import CONSUMER, UnitCount

#: The key of the column of all products, and of a press on the head of a row or a column.
WHOLE = "all"
#: Languages that a head names.
_NAMED = 6


class CoverageGrid:
    """What is shown of figures.

    Parameters
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

    def __init__(
        self,
        figures: CoverageFigures,
        checks: Checks,
        of_required: bool,
        counted: UnitCount,
        sorted_by: tuple[str, bool] | None = None,
    ) -> None:
        self._rows = {_row_key(row): place for place, row in enumerate(figures.rows)}
        self._sorted_by, self._is_best_first = sorted_by or ("", False)
        if self._sorted_by in self._rows:
            figures = figures.by_row(self._rows[self._sorted_by], is_best_first=self._is_best_first)
        self._columns = {_column_key(one.code, place): place for place, one in enumerate(figures.columns)}
        self._column_keys = [*self._columns]
        # Attributes that people call the same have their wire paths behind.
        attributes = list(dict.fromkeys(attribute for attribute, _ in figures.rows))
        labels = distinct_labels(attributes, [attribute_label(one) for one in attributes])
        self._labels = {
            path: f"{one[:1].upper()}{one[1:]}" for path, one in zip(attributes, labels, strict=True)
        }
        self._has_figures = figures.has_figures
        self._totals, self._shares = figures.totals, figures.total_shares
        self._checks = checks
        self.figures: CoverageFigures = figures
        self.of_required: bool = of_required
        self.counted: UnitCount = counted

    def page(self, rows: slice, columns: slice, conditions: Selection) -> tuple[list[ShownCell], list[Block]]:
        """Return the heads of the first column and of some others, some rows, and the row of totals."""
        shown = [0, *(1 + place for place in range(*columns.indices(len(self.figures.columns) - 1)))]
        lines = [
            cells_row(
                self._row_head(row, conditions),
                [self._cell(row, column, conditions) for column in shown],
                sort=self._order(row),
            )
            for row in range(*rows.indices(len(self.figures.rows)))
        ]
        if len(self.figures.rows) > 1:  # the sum of one row is the row
            head = ShownCell("total", "all attributes", "All attributes together", is_mute=True)
            lines.append(cells_row(head, [self._total(column) for column in shown], is_total=True))
        return [self._column_head(column, conditions) for column in shown], lines

    def behind(self, row: str, column: str) -> Selection | None:
        """Return the products behind a cell; None where nothing is known to be missing, or there is no such cell.

        Those of the head of a row lack its attribute; those of a column are in its group, or have texts in its
        language.
        """
        if column not in self._columns or row not in {WHOLE, *self._rows}:
            return None
        place = self._columns[column]
        return self._in_column(place) if row == WHOLE else self._lacking(self._rows[row], place)

    def _in_column(self, column: int) -> Selection | None:
        return in_group(self.figures.by, self.figures.columns[column].code) if column else None

    def _order(self, row: int) -> str:
        if self._sorted_by != _row_key(self.figures.rows[row]):
            return ""
        return "descending" if self._is_best_first else "ascending"

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
        checks = self._checks[attribute]
        problems = dict.fromkeys(str(check.problem) for check in checks)
        failing = fails(" / ".join(problems), [check.id for check in checks], group)
        names_units = any(check.units != CONSUMER for check in checks)
        return failing if names_units else of_counted_units(failing, self.counted)

    def _row_head(self, row: int, conditions: Selection) -> ShownCell:
        attribute, language = self.figures.rows[row]
        label, lacking = self._labels[attribute], self._lacking(row, 0)
        named = label if language is None else f"{label} · {language_label(language)}"
        required = self._required(attribute) if language is None else ""
        lists = "list the products that lack it"
        return ShownCell(
            _row_key((attribute, language)),
            named,
            f"{named} ({attribute}): {lists}{f'; {required}' if required else ''}",
            required,
            f"{attribute}: {lists}" if lacking else attribute,
            is_pressed=_do_require(conditions, lacking),
            is_mute=lacking is None,
        )

    def _required(self, attribute: str) -> str:
        """Say in which languages an audit requires an attribute."""
        languages = [language for name, language in self._checks if name == attribute]
        spoken = [one for one in languages if one is not None]
        if not languages:
            return ""
        more = f" and {len(spoken) - _NAMED} more" if len(spoken) > _NAMED else ""
        return f"required: {', '.join(spoken[:_NAMED])}{more}" if spoken else "required"

    def _column_head(self, column: int, conditions: Selection) -> ShownCell:
        group, key, listed = self.figures.columns[column], self._column_keys[column], self._in_column(column)
        is_language = self.figures.by == "language"
        detail = (group.code or "") if is_language else f"{group.products:,}"
        if listed is None:
            return ShownCell(key, group.label, group.label, detail, is_mute=True)
        lists = "List the products with texts in it" if is_language else "List its products"
        is_pressed = _do_require(conditions, listed)
        return ShownCell(
            key, group.label, f"{group.label}: {lists.lower()}", detail, lists, is_pressed=is_pressed
        )

    def _cell(self, row: int, column: int, conditions: Selection) -> ShownCell:
        figures, key, attribute = self.figures, self._column_keys[column], self._attribute(row, column)
        filled, products, unknown = (
            int(one[row, column]) for one in (figures.filled, figures.products, figures.unknown)
        )
        state = figures.states[row, column]
        about = f"{self._labels[attribute[0]]}, {figures.columns[column].label}"
        notes = ["required"] if attribute in self._checks and not self.of_required else []
        if not self._has_figures[row, column]:
            return ShownCell(key, str(state), f"{about}: {'; '.join([state, *notes])}", is_mute=True)
        if not products:
            return ShownCell(key, "–", f"{about}: no products", is_mute=True)
        is_in_part = state == CellState.IN_PART
        notes += [f"unknown of {unknown:,}"] if unknown else []
        notes += [CellState.IN_PART.value] if is_in_part else []
        share = filled / products
        figure = f"{'≥ ' if is_in_part else ''}{percent(share, 0)}"
        say = "; ".join([f"{filled:,} of {counted(products, 'product')}", *notes])
        is_pressed = _do_require(conditions, self._lacking(row, column))
        lists = "" if filled == products else f". Press to list the {products - filled:,} that lack it"
        return ShownCell(
            key,
            figure,
            f"{about}: {figure}, {say}",
            hint=f"{about}: {say}{lists}",
            shade=share_shade(share),
            is_pressed=is_pressed,
            is_mute=filled == products and not is_pressed,
        )

    def _total(self, column: int) -> ShownCell:
        filled, products = (int(one[column]) for one in self._totals)
        share, key = float(self._shares[column]), self._column_keys[column]
        label = self.figures.columns[column].label
        if np.isnan(share):
            return ShownCell(key, "–", f"{label}: no figures", is_mute=True)
        say = f"{label}: {percent(share, 0)}, {filled:,} of {products:,} values"
        return ShownCell(key, percent(share, 0), say, hint=say, shade=share_shade(share), is_mute=True)


def _do_require(conditions: Selection, wanted: Selection | None) -> bool:
    """Return whether conditions require others; most cells are not pressed, which shows at a glance."""
    return (
        wanted is not None
        and conditions.groups.keys() >= wanted.groups.keys()
        and len(conditions.failing) >= len(wanted.failing)
        and conditions.require(wanted)
    )


def _row_key(row: Attribute) -> str:
    return short_key(f"{row[1] or ''} {row[0]}")


def _column_key(code: Code, place: int) -> str:
    # A group may have any code, and the one of the products without a value has none.
    return code_key(code) if place else WHOLE
