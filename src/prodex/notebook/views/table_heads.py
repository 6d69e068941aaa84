"""What stands under the heads of the columns: how the values of a column are distributed, and a press on them filters.

Each head counts the products that meet all conditions except those of its own column, so that a range can be widened
and a further value added. Where there are many products, they are read after the table is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import Any

import numpy as np

from prodex.errors import ProdexError
from prodex.exploration.facet_values import Counts, FacetValues
from prodex.exploration.facets import FilterResult, facet_name
from prodex.exploration.range_facets import bins_of
from prodex.exploration.ranges import measure_of
from prodex.exploration.table_page import NOT_ASKED, title
from prodex.notebook.session.actions import Want, action
from prodex.notebook.session.session import Refused, Session
from prodex.notebook.views.products_left import counted_once, counted_values, histograms_of
from prodex.phrases import counted
from prodex.selection import Code, Range
from prodex.selection.sentences import range_words
from prodex.untrusted_text import cut

#: With more products, they are read in the background.
AT_ONCE = 20_000
#: Seconds before that, so that the table is shown first.
SHOWN_FIRST = 0.3
#: Values that a head names, beside those that are selected; of values in an order, such as grades, it names these all.
_NAMED, _NAMED_IN_ORDER = 3, 6
#: Characters of a value that a head shows.
_LABEL = 60


def _are_read(session: Session, columns: Sequence[str]) -> bool:
    facets, histograms = session.filter.facets, session.derived(histograms_of)
    headed = _headed(columns)
    return all(facets.is_read(facet) if facet else histograms.is_read(column) for column, facet in headed)


def _read(session: Session, columns: Sequence[str], _: object = None) -> None:
    headed = [*_headed(columns)]
    measured = [column for column, facet in headed if not facet]
    # At once: the file of a part is opened for all columns together.
    session.filter.products.read(*measured)
    session.filter.facets.read([facet for _, facet in headed if facet])
    for column in measured:
        session.derived(histograms_of).read(column)


def heads_of(session: Session, columns: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the heads of those columns that have one, as JSON; none as long as they are not read.

    >>> import prodex
    >>> session = Session(prodex.flatten([{"id": n, "lifeCycle": n // 2} for n in range(5)]))
    >>> [(one["label"], one["count"]) for one in heads_of(session, ["life_cycle"])["life_cycle"]["bins"]]
    [('0', 2), ('1', 2), ('2', 1)]
    """
    if not _are_read(session, columns):
        if len(session.filter.products) > AT_ONCE:
            return {}
        try:
            _read(session, columns)
        except ProdexError:
            return {}  # the rows cannot be read either, and say why
    return {
        column: counted_once(session, ("head", column), partial(_head, session, column, facet))
        for column, facet in _headed(columns)
    }


def heads_wants(session: Session, columns: Sequence[str]) -> Iterator[Want]:
    """Yield what these heads lack."""
    if len(session.filter.products) > AT_ONCE and not _are_read(session, columns):
        options = {"delay": SHOWN_FIRST, "is_patient": True}
        key = ("heads", session.derived(histograms_of), tuple(columns))
        yield Want("table.heads", key, partial(_read, session, columns), options=options)


@action("table.pick")
def pick_value(session: Session, column: str, code: str | None) -> Session:
    """Select the value under a head that was pressed, or clear it."""
    if (facet := facet_name(column)) is None:
        raise Refused(f"{title(column)} has no values to filter by.")
    return session.filtered(session.conditions.toggled(facet, code))


@action("table.range")
def keep_range(
    session: Session, column: str, least: int | float | str, greatest: int | float | str
) -> Session:
    """Keep the products whose value is in the bars that were pressed; the same range once more removes it."""
    measure = measure_of(column)
    if not measure:
        raise Refused(f"{title(column)} has no range to filter by.")
    try:
        limits = Range(_limit(least, measure), _limit(greatest, measure))
    except ValueError as error:
        raise Refused(f"{least} to {greatest} is no range of {title(column)}.") from error
    is_there = session.conditions.ranges.get(column) == limits
    return session.filtered(session.conditions.within(column, Range() if is_there else limits))


def _limit(value: float | str, measure: str) -> float | datetime:
    if measure == "date":
        return datetime.fromisoformat(str(value))
    return float(value) if isinstance(value, str) else value


def _head(session: Session, column: str, facet: str, left: FilterResult) -> dict[str, Any]:
    return _values(session, facet) if facet else _bins(session, column, left)


def _bins(session: Session, column: str, left: FilterResult) -> dict[str, Any]:
    limits = session.conditions.ranges.get(column, Range())
    found = session.derived(histograms_of).of(column, left.without(column))
    if not found.is_asked and not sum(found.totals):
        return {"note": NOT_ASKED}

    def said(own: Range) -> str:
        label = range_words(own, column)
        return f"from {label}" if " to " in label else label

    without = f"{counted(found.without, 'product')} without" if found.without else ""
    return {"bins": bins_of(found, limits, said), "note": without}


def _values(session: Session, facet: str) -> dict[str, Any]:
    values, counts = counted_values(session, facet)
    selected = session.conditions.groups.get(facet, ())
    named: list[dict[str, Any]] = [
        {
            "code": values.codes[place],
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


def _places_to_name(values: FacetValues, counts: Counts, selected: tuple[Code, ...]) -> list[int]:
    """Return the places of the values to name, longest first, and those without a value at the end."""
    if not values.is_asked and values.codes == (None,):
        return []
    order = np.array(values.order(counts), np.int64)
    there = order[counts[order] > 0].tolist()
    without = [place for place in there if values.codes[place] is None]
    most = _NAMED_IN_ORDER if values.facet.is_ordered else _NAMED
    frequent = [place for place in there[: most + 1] if place not in without][:most]
    # What is selected stays in sight, however rare it is.
    chosen = [values.codes.index(code) for code in selected if code is not None and code in values.codes]
    return [*frequent, *(place for place in chosen if place not in frequent), *without]
