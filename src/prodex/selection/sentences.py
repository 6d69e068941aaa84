"""Selections in words: a label for each condition, as chips and headlines show them, and a sentence for all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, time
from typing import Any, TypeAlias

from prodex.messages import counted, percent
from prodex.selection.value import Code, Range, Selection
from prodex.untrusted_text import cut

#: Characters of a value that a label shows.
_LONGEST = 60
#: Characters of a list of values that is shown as it is.
_ALL = 200

#: Returns the heading of a kind of groups, and what a code in it is called.
CalledGroup: TypeAlias = Callable[[str, Code], tuple[str, str]]
#: Returns what a column with a range is called.
CalledColumn: TypeAlias = Callable[[str], str]


def _by_its_code(name: str, code: Code) -> tuple[str, str]:
    return cut(name, _LONGEST), "none" if code is None else code


def labels(
    selection: Selection, group: CalledGroup = _by_its_code, column: CalledColumn = str
) -> Iterator[tuple[str, Selection]]:
    """Yield a label for each condition, with the selection that is left without it.

    Parameters
    ----------
    selection
        The selection.
    group, column
        What groups and columns are called; by default by their names.
    """
    for name, values in selection.columns.items():
        columns = {one: kept for one, kept in selection.columns.items() if one != name}
        yield f"{name} = {values_text(values)}", replace(selection, columns=columns)
    for name, codes in selection.groups.items():
        for code in codes:
            yield _group_label(name, (code,), group), selection.toggled(name, code)
    for name, codes in selection.excluded.items():
        for code in codes:
            yield f"not {_group_label(name, (code,), group)}", selection.excluding(name, code)
    for name, limits in selection.ranges.items():
        yield f"{column(name).lower()}: {range_words(limits, name)}", selection.within(name, Range())
    if selection.words:
        yield f"words: {_isolated(selection.words)}", selection.searching("")
    for failing in selection.failing:
        yield f"fails: {_isolated(failing.title)}", selection.failing_any(failing.title, failing.checks)
    for products in selection.listed:
        yield f"list: {_isolated(products.title)}", selection.listing(products)
    for several in selection.either:
        left = tuple(one for one in selection.either if one != several)
        yield _either(several, group, column), replace(selection, either=left)
    shown = {Selection(groups={name: codes}) for name, codes in selection.excluded.items()}
    for one in selection.excepted:
        if one not in shown:
            left_out = tuple(other for other in selection.excepted if other != one)
            yield f"not {_inside(one, group, column)}", replace(selection, excepted=left_out)


def sentence(selection: Selection, group: CalledGroup = _by_its_code, column: CalledColumn = str) -> str:
    """Return a selection in words; empty where it means every product.

    >>> print(sentence(Selection.of(market=[250, 56]) & ~Selection.of(brand_code=None)))
    market = 250 or 56; not brand_code = nothing
    """
    return "; ".join(_condition(one, group, column) for one in selection.single())


def _condition(one: Selection, group: CalledGroup, column: CalledColumn) -> str:
    """Return one condition in words, with all its codes."""
    for name, codes in one.groups.items():
        return _group_label(name, codes, group)
    for excepted in one.excepted:
        return f"not {_inside(excepted, group, column)}"
    return next(label for label, _ in labels(one, group, column))


def _either(several: tuple[Selection, ...], group: CalledGroup, column: CalledColumn) -> str:
    if len(several) == 1:
        return sentence(several[0], group, column) or "every product"
    if not several:
        return "no product"
    return f"either {', or '.join(_inside(one, group, column) for one in several)}"


def _inside(selection: Selection, group: CalledGroup, column: CalledColumn) -> str:
    words = sentence(selection, group, column) or "any product"
    return f"({words})" if len(list(selection.single())) > 1 else words


def _group_label(name: str, codes: tuple[Code, ...], group: CalledGroup) -> str:
    called = [group(name, code) for code in codes]
    heading = called[0][0] if called else name
    return f"{heading}: {' or '.join(_isolated(label) for _, label in called)}"


def values_text(values: tuple[Any, ...]) -> str:
    """Return the values of a column in words; of a long list how many they are.

    >>> values_text(("ACME", None, True)), values_text(tuple(map(str, range(1000))))
    ('ACME or nothing or true', 'one of 1,000 values')
    """
    text = " or ".join(map(_value_text, values[: _ALL + 1]))
    return text if 0 < len(text) <= _ALL else f"one of {counted(len(values), 'value')}"


def _value_text(value: Any) -> str:
    if value is None:
        return "nothing"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return cut(text, _LONGEST) if text.isascii() else _isolated(text)


def range_words(limits: Range, column: str = "") -> str:
    """Return a range in words; with its column, as the table shows the values.

    >>> range_words(Range(3, None)), range_words(Range(None, 7.5)), range_words(Range(1, 2)), range_words(Range(4, 4))
    ('from 3', 'up to 7.5', '1 to 2', '4')
    >>> range_words(Range(0.5, None), "score")
    'from 50.0 %'
    >>> range_words(Range(datetime(2026, 1, 1), datetime(2026, 1, 31, 23, 59, 59, 999999)))
    '2026-01-01 to 2026-01-31'
    """
    least = None if limits.least is None else _limit_label(limits.least, column, whole_day=time.min)
    greatest = None if limits.greatest is None else _limit_label(limits.greatest, column, whole_day=time.max)
    if least is None:
        return f"up to {greatest}"
    if greatest is None:
        return f"from {least}"
    return least if least == greatest else f"{least} to {greatest}"


def _limit_label(value: float | datetime, column: str, *, whole_day: time) -> str:
    """Return a limit in words; a date alone where it is where the day begins or ends."""
    if isinstance(value, datetime):
        is_day = (value.hour, value.minute) == (whole_day.hour, whole_day.minute)
        return f"{value:%Y-%m-%d}" if is_day else f"{value:%Y-%m-%d %H:%M}"
    return percent(min(value, 1)) if column == "score" else f"{value:,.15g}"


def _isolated(text: str) -> str:
    """Return text between marks that isolate its direction: a label of a button cannot hold a <bdi>."""
    return f"\u2068{cut(text, _LONGEST)}\u2069"
