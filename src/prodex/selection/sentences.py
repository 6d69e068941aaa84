"""Selections in words: a label for each condition, as chips and headlines show them, and a sentence for all.

They are messages: reports and worklists say in their own language by what products were chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, time
from functools import reduce
from typing import Any, TypeAlias

from prodex.languages import Message, Said, either
from prodex.selection.selection import Code, Range, Selection
from prodex.untrusted_text import cut

#: Characters of a value that a label shows.
_LONGEST = 60
#: Characters of a list of values that is shown as it is.
_ALL = 200
#: The column whose codes are numbers of markets.
_MARKET = "market"

#: Returns the heading of a kind of groups, and what a code in it is called.
CalledGroup: TypeAlias = Callable[[str, Code], tuple[str, Said]]
#: Returns what a column with a range is called.
CalledColumn: TypeAlias = Callable[[str], str]


def _by_its_code(name: str, code: Code) -> tuple[str, Said]:
    if code is None:
        return cut(name, _LONGEST), Message("none")
    return cut(name, _LONGEST), Message("{market_code}", market_code=code) if name == _MARKET else code


def labels(
    selection: Selection, group: CalledGroup = _by_its_code, column: CalledColumn = str
) -> Iterator[tuple[Message, Selection]]:
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
        said = Message("{column} = {said}", column=name, said=values_said(values, name))
        yield said, replace(selection, columns=columns)
    for name, codes in selection.groups.items():
        for code in codes:
            yield _group_label(name, (code,), group), selection.toggled(name, code)
    for name, codes in selection.excluded.items():
        for code in codes:
            yield _without(_group_label(name, (code,), group)), selection.excluding(name, code)
    for name, limits in selection.ranges.items():
        said = Message("{column}: {said}", column=column(name).lower(), said=range_said(limits, name))
        yield said, selection.within(name, Range())
    if selection.words:
        yield Message("words: {text}", text=_isolated(selection.words)), selection.searching("")
    for failing in selection.failing:
        said = Message("fails: {text}", text=_isolated(failing.title))
        yield said, selection.failing_any(failing.title, failing.checks)
    for products in selection.listed:
        yield Message("list: {text}", text=_isolated(products.title)), selection.listing(products)
    for several in selection.either:
        left = tuple(one for one in selection.either if one != several)
        yield _either(several, group, column), replace(selection, either=left)
    shown = {Selection(groups={name: codes}) for name, codes in selection.excluded.items()}
    for one in selection.excepted:
        if one not in shown:
            left_out = tuple(other for other in selection.excepted if other != one)
            yield _without(_inside(one, group, column)), replace(selection, excepted=left_out)


def sentence(selection: Selection, group: CalledGroup = _by_its_code, column: CalledColumn = str) -> Message:
    """Return a selection in words; empty where it means every product.

    >>> chosen = Selection.of(market=[250, 56]) & ~Selection.of(brand_code=None)
    >>> print(sentence(chosen))
    market = 250 or 56; not brand_code = nothing
    >>> from prodex.languages import Translation
    >>> print(Translation("fr").say(sentence(chosen)))
    marché = France ou Belgique; sauf marque = rien
    """
    said = tuple(_condition(one, group, column) for one in selection.single())
    return Message("{conditions}", conditions=said)


def _condition(one: Selection, group: CalledGroup, column: CalledColumn) -> Message:
    """Return one condition in words, with all its codes."""
    for name, codes in one.groups.items():
        return _group_label(name, codes, group)
    for excepted in one.excepted:
        return _without(_inside(excepted, group, column))
    return next(label for label, _ in labels(one, group, column))


def _without(said: Said) -> Message:
    return Message("not {said}", said=said)


def _either(several: tuple[Selection, ...], group: CalledGroup, column: CalledColumn) -> Message:
    if not several:
        return Message("no product")
    if len(several) == 1:
        return sentence(several[0], group, column) if several[0] else Message("every product")
    said = (_inside(one, group, column) for one in several)
    listed = reduce(lambda before, one: Message("{said}, or {further}", said=before, further=one), said)
    return Message("either {said}", said=listed)


def _inside(selection: Selection, group: CalledGroup, column: CalledColumn) -> Message:
    said = sentence(selection, group, column) if selection else Message("any product")
    return Message("({said})", said=said) if len(list(selection.single())) > 1 else said


def _group_label(name: str, codes: tuple[Code, ...], group: CalledGroup) -> Message:
    called = [group(name, code) for code in codes]
    heading = called[0][0] if called else name
    return Message("{column}: {said}", column=heading, said=either(*(_isolated(said) for _, said in called)))


def values_said(values: tuple[Any, ...], column: str = "") -> Said:
    """Return the values of a column in words; of a long list how many they are.

    >>> str(values_said(("ACME", None, True))), str(values_said(tuple(map(str, range(1000)))))
    ('ACME or nothing or true', 'one of 1,000 values')
    """
    # Of a long list no words are made.
    said = either(*(_value_said(one, column) for one in values[: _ALL // 2])) if values else ""
    if len(values) <= _ALL // 2 and 0 < len(str(said)) <= _ALL:
        return said
    return Message.of_number("one of {number} value", "one of {number} values", len(values))


def _value_said(value: Any, column: str) -> Said:
    if value is None:
        return Message("nothing")
    if isinstance(value, bool):
        return Message("true") if value else Message("false")
    text = str(value)
    if column == _MARKET:
        return Message("{market_code}", market_code=cut(text, _LONGEST))
    return cut(text, _LONGEST) if text.isascii() else _isolated(text)


def range_words(limits: Range, column: str = "") -> str:
    """Return a range in words; with its column, as the table shows the values.

    >>> range_words(Range(3, None)), range_words(Range(None, 7.5)), range_words(Range(1, 2)), range_words(Range(4, 4))
    ('from 3', 'up to 7.5', '1 to 2', '4')
    >>> range_words(Range(0.5, None), "score"), range_words(Range())
    ('from 50.0 %', 'any value')
    >>> range_words(Range(datetime(2026, 1, 1), datetime(2026, 1, 31, 23, 59, 59, 999999)))
    '2026-01-01 to 2026-01-31'
    """
    return str(range_said(limits, column))


def range_said(limits: Range, column: str = "") -> Message:
    """Return the same as a message."""
    least = None if limits.least is None else _limit_label(limits.least, column, whole_day=time.min)
    greatest = None if limits.greatest is None else _limit_label(limits.greatest, column, whole_day=time.max)
    if least is None and greatest is None:
        # A product without a value is in no range.
        return Message("any value")
    if least is None:
        return Message("up to {said}", said=greatest)
    if greatest is None:
        return Message("from {said}", said=least)
    return least if least == greatest else Message("{least} to {greatest}", least=least, greatest=greatest)


def _limit_label(value: float | datetime, column: str, *, whole_day: time) -> Message:
    """Return a limit in words; a date alone where it is where the day begins or ends."""
    if isinstance(value, datetime):
        is_day = (value.hour, value.minute) == (whole_day.hour, whole_day.minute)
        return Message("{moment}", moment=f"{value:%Y-%m-%d}" if is_day else f"{value:%Y-%m-%d %H:%M}")
    if column == "score":
        return Message("{share:%}", share=min(value, 1))
    return Message("{figure}", figure=value)


def _isolated(said: Said) -> Said:
    """Return text between marks that isolate its direction: a label of a button cannot hold a <bdi>."""
    return said if isinstance(said, Message) else f"\u2068{cut(said, _LONGEST)}\u2069"
