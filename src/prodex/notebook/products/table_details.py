"""Details of a table that are read after it is shown: what is under the heads of columns, and the languages of names.

Where there are many products, they are read in the background. A press on a value or a bar
under a head changes the conditions. Each head counts the products that meet all conditions except those of its own
column, so that a range can be widened and a further value added.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Self, TypeAlias

import numpy as np

from prodex.exploration.facet_values import Counts, FacetValues
from prodex.exploration.facets import FilterResult, facet_name
from prodex.exploration.filtering import ProductFilter
from prodex.exploration.ranges import Histogram, Histograms, measure_of, overlap
from prodex.exploration.table_page import NOT_ASKED
from prodex.messages import counted
from prodex.notebook.jobs import Runner
from prodex.notebook.products.product_table import ProductTable
from prodex.notebook.shared.panel import Panel
from prodex.notebook.shared.state import Exploration
from prodex.selection import Range, Selection
from prodex.selection.sentences import range_words
from prodex.untrusted_text import cut

#: With more products, it is read in the background.
_READ_AT_ONCE = 20_000
#: Seconds before that, so that the table is shown first.
_SHOWN_FIRST = 0.3

_Languages: TypeAlias = tuple[ProductFilter, list[str]]


class TableDetails:
    """A table of products with what is read after it is shown, and what a press under the heads of columns means.

    Parameters
    ----------
    panel
        The panel around the table, which shows errors.
    exploration
        Whose conditions a press changes.
    edit
        Called with the id of a product that is to be corrected.

    Attributes
    ----------
    table
        The table.
    """

    def __init__(self, panel: Panel, exploration: Exploration, edit: Callable[[str], object]) -> None:
        self._panel, self._exploration = panel, exploration
        self._filter: ProductFilter = exploration.filter
        self._heads = ColumnHeads(self._filter)
        self._left: FilterResult | None = None
        self.table: ProductTable = ProductTable(panel=panel, edit=edit, pick=self._pick, narrow=self._narrow)
        self._reading: Runner[ColumnHeads] = Runner(
            self._take_heads, panel.show_error, delay=_SHOWN_FIRST, is_patient=True
        )
        self._listing: Runner[_Languages] = Runner(
            self._take_languages, panel.show_error, delay=_SHOWN_FIRST, is_patient=True
        )
        panel.on(self.table, lambda _: self._show(), "columns", "with_heads")

    def is_busy(self) -> bool:
        """Return whether something is still read."""
        return self._reading.is_busy() or self._listing.is_busy()

    def wait(self, seconds: float = 60.0) -> None:
        """Wait until everything is read; for scripts and tests."""
        self._reading.wait(seconds)
        self._listing.wait(seconds)

    def hold(self, filter_: ProductFilter) -> None:
        """Take the products of another catalogue, which the table shows already."""
        self._filter, self._heads, self._left = filter_, ColumnHeads(filter_), None
        if len(filter_.products) > _READ_AT_ONCE:
            self._listing.ask(_read_languages, filter_)
        else:
            with self._panel.guarded():
                self._take_languages(_read_languages(filter_))

    def known(self, left: FilterResult) -> dict[str, dict[str, Any]]:
        """Return what is shown under the heads for the products that meet the conditions, if it is read already."""
        self._left = left
        return self._made() if self._heads.are_read(self.table.columns) else {}

    def complete(self) -> None:
        """Read what was not known, and show it."""
        if not self._heads.are_read(self.table.columns):
            self._show()

    def _show(self) -> None:
        heads, columns = self._heads, self.table.columns
        if self._left is None or not self.table.with_heads:
            return
        if not heads.are_read(columns):
            if len(self._filter.products) > _READ_AT_ONCE:
                self._reading.ask(ColumnHeads.read, heads, columns)
                return
            heads.read(columns)
        self.table.show_heads(self._made())

    def _made(self) -> dict[str, dict[str, Any]]:
        if self._left is None or not self.table.with_heads:
            return {}
        return self._heads.of(self.table.columns, self._exploration.conditions, self._left)

    def _take_heads(self, heads: ColumnHeads) -> None:
        if heads is self._heads:
            self._show()

    def _take_languages(self, found: _Languages) -> None:
        if found[0] is self._filter:
            self.table.offer_languages(found[1])

    def _pick(self, column: str, key: int) -> None:
        """Select the value under a head that was pressed, or clear it."""
        self._set(self._heads.picking(self._exploration.conditions, column, key))

    def _narrow(self, column: str, first: int, last: int) -> None:
        """Keep the bins under a head that were pressed, or remove their range."""
        self._set(self._heads.ranging(self._exploration.conditions, column, first, last))

    def _set(self, conditions: Selection) -> None:
        self._exploration.conditions = conditions


def _read_languages(filter_: ProductFilter) -> _Languages:
    return filter_, filter_.products.languages()


#: Values that a head names, beside those that are selected; of values in an order, such as grades, it names these all.
_NAMED, _NAMED_IN_ORDER = 3, 6
#: Characters of a value that a head shows.
_LABEL = 60


class ColumnHeads:
    """The heads of the columns of a table, as values of JSON for `grid.js`, and what a press on them means.

    Parameters
    ----------
    chosen
        The products, and which of them meet conditions.

    Examples
    --------
    >>> import prodex
    >>> chosen = ProductFilter(prodex.flatten([{"id": n, "lifeCycle": n // 2} for n in range(5)]))
    >>> heads, conditions = ColumnHeads(chosen), Selection()
    >>> found = heads.of(["life_cycle"], conditions, chosen.narrow(conditions))
    >>> [(one["label"], one["count"]) for one in found["life_cycle"]["bins"]]
    [('0', 2), ('1', 2), ('2', 1)]
    >>> heads.ranging(conditions, "life_cycle", 1, 2).ranges
    {'life_cycle': Range(least=1, greatest=2)}
    """

    def __init__(self, chosen: ProductFilter) -> None:
        self._chosen = chosen
        self._histograms = Histograms(chosen.products)

    def are_read(self, columns: Iterable[str]) -> bool:
        """Return whether all that these heads need is in memory: then `of` answers at once."""
        return all(
            self._chosen.facets.is_read(facet) if facet else self._histograms.is_read(column)
            for column, facet in _headed(columns)
        )

    def read(self, columns: Iterable[str]) -> Self:
        """Read what these heads need, and return itself; may be called in a thread of its own."""
        headed = list(_headed(columns))
        # At once: the file of a part is opened for all columns together.
        self._chosen.products.read(*(column for column, facet in headed if not facet))
        self._chosen.facets.read([facet for _, facet in headed if facet])
        for column, facet in headed:
            if not facet:
                self._histograms.read(column)
        return self

    def of(
        self, columns: Iterable[str], conditions: Selection, left: FilterResult
    ) -> dict[str, dict[str, Any]]:
        """Return the head of each column that has one.

        Parameters
        ----------
        columns
            Columns of the table.
        conditions, left
            The conditions, and the products that meet them.
        """
        return {
            column: self._values(facet, conditions, left)
            if facet
            else self._bins(column, conditions.ranges.get(column, Range()), left)
            for column, facet in _headed(columns)
        }

    def ranging(self, conditions: Selection, column: str, first: int, last: int) -> Selection:
        """Keep the values from one bin to another; the same bins once more remove the range."""
        limits = self._histogram(column).range(first, last)
        return conditions.within(column, Range() if conditions.ranges.get(column) == limits else limits)

    def picking(self, conditions: Selection, column: str, key: int) -> Selection:
        """Select a value, or clear it; the key is the one that its head has for it."""
        facet = facet_name(column)
        assert facet is not None  # noqa: S101 - other columns show no values
        return conditions.toggled(facet, self._chosen.facets[facet].codes[key])

    def _histogram(self, column: str, left: FilterResult | None = None) -> Histogram:
        everything = np.ones(len(self._chosen.products), bool)
        return self._histograms.of(column, everything if left is None else left.without(column))

    def _bins(self, column: str, limits: Range, left: FilterResult) -> dict[str, Any]:
        found = self._histogram(column, left)
        if not found.is_asked and not sum(found.totals):
            return {"note": NOT_ASKED}
        bins = []
        for place, count in enumerate(found.counts):
            own = found.range(place, place)
            label = range_words(own, column)
            if " to " in label:
                label = f"from {label}"
            bins.append({"label": label, "count": count, "inside": bool(limits) and overlap(own, limits)})
        return {"bins": bins, "note": _without_value(found.without)}

    def _values(self, facet: str, conditions: Selection, left: FilterResult) -> dict[str, Any]:
        values = self._chosen.facets[facet]
        counts = left.counts[facet] if facet in left.counts else values.count(left.without(facet))
        selected = conditions.groups.get(facet, ())
        named: list[dict[str, Any]] = [
            {
                "key": place,
                "label": cut(values.labels[place], _LABEL),
                "count": int(counts[place]),
                "chosen": values.codes[place] in selected,
            }
            for place in _places_to_name(values, counts, selected)
        ]
        others = int(np.count_nonzero(counts)) - sum(one["count"] > 0 for one in named)
        note = counted(others, "other value") if others else ""
        return {
            "values": named,
            "total": int(counts.sum()),
            "ordered": values.facet.is_ordered,
            "note": note if values.is_asked else NOT_ASKED,
        }


def _headed(columns: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the columns that have heads, each with its facet; one of numbers or dates has none."""
    for column in columns:
        facet = facet_name(column)
        if facet is not None or measure_of(column):
            yield column, facet or ""


def _places_to_name(values: FacetValues, counts: Counts, selected: tuple[str | None, ...]) -> list[int]:
    """Return the places of the values to name, longest first, and those without a value at the end."""
    if not values.is_asked and values.codes == (None,):
        return []
    there = np.flatnonzero(counts)
    without = [place for place in there.tolist() if values.codes[place] is None]
    order = there if values.facet.is_ordered else there[np.argsort(-counts[there], kind="stable")]
    most = _NAMED_IN_ORDER if values.facet.is_ordered else _NAMED
    frequent = [place for place in order[: most + 1].tolist() if place not in without][:most]
    # What is selected stays in sight, however rare it is.
    chosen = [values.codes.index(code) for code in selected if code is not None and code in values.codes]
    return [*frequent, *(place for place in chosen if place not in frequent), *without]


def _without_value(count: int) -> str:
    return f"{counted(count, 'product')} without" if count else ""
