"""Selections as plain values, for JSON and TOML: written, and read from what a person may have typed.

::

    brand_code = ["ACME", {no_value = true}]
    gpc_code = {begins = "5013"}
    groups = {tag = "new"}
    ranges = {updated_at = {from = 2026-01-01T00:00:00}}
    words = "chocolate"
    any = [{is_consumer_unit = true}, {packaging_code = "CASE"}]
    except = [{groups = {tag = "old"}}]

A product has to meet each line. What is no key of this file's own is a column of `products`, or the `market`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from functools import reduce
from operator import and_
from typing import Any, Final, TypeAlias, TypeGuard

from prodex.arguments import described, listed
from prodex.errors import InputError, QueryError
from prodex.files.toml_writing import NO_VALUE
from prodex.phrases import hint
from prodex.selection.selection import (
    Begins,
    FailingChecks,
    ProductList,
    Range,
    Selection,
    wrong_code,
)
from prodex.tables.declaration import TABLES
from prodex.written_dates import written_date

#: The market that counts: see `Selection.columns`.
MARKET: Final = "market"
#: What can be asked of a product by name.
COLUMNS: Final = (MARKET, *TABLES["products"].schema.names)
#: The keys that are no columns.
KEYS: Final = ("groups", "ranges", "words", "fails", "products", "any", "all", "except")
#: Selections inside selections: nobody writes more, and each level is read by a call.
_DEEPEST: Final = 20

_DATES = frozenset(column.name for column in TABLES["products"].columns if column.kind == "timestamp")

#: Where a value is in what was read: keys, and the place in a list.
Keys: TypeAlias = tuple[str | int, ...]
#: Told where something is wrong, and what.
Tell: TypeAlias = Callable[[Keys, str], None]


def plain_values(column: str, value: Any) -> tuple[Any, ...]:
    """Return one value, or several in whatever holds them, as plain ones that can be written down; each once.

    Raises
    ------
    QueryError
        When one is nothing that a file can hold.
    """
    values = [_plain_value(column, one) for one in listed(column, value)]
    return tuple({(type(one), one): one for one in values}.values())


def _plain_value(column: str, value: Any) -> Any:
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, Decimal):
        value = int(value) if value == value.to_integral_value() else float(value)
    if value is None or isinstance(value, Begins | bool):
        return value
    if isinstance(value, date):
        return value
    for kind in (str, int, float):  # as plain ones: those of numpy are neither of JSON nor of TOML
        if isinstance(value, kind):
            return kind(value)
    raise QueryError(f"{column} has {described(value)}. Give texts, numbers, dates, True, False or None.")


def as_plain(selection: Selection, depth: int = 0) -> dict[str, Any]:
    """Return a selection as plain values; what is empty is left out, and None is in place of no value.

    Raises
    ------
    InputError
        When it is nested so deep, or so empty, that it could not be read again.

    Examples
    --------
    >>> as_plain(Selection.of(brand_code=["ACME", None]) | Selection().within("texts_count", Range(2, None)))
    {'any': [{'brand_code': ['ACME', None]}, {'ranges': {'texts_count': {'from': 2}}}]}
    """
    if depth > _DEEPEST or any(not several for several in selection.either):
        why = f"nested deeper than {_DEEPEST} levels" if depth > _DEEPEST else "one of no alternatives"
        raise InputError(f"A selection that is {why} cannot be written down.")
    made: dict[str, Any] = {
        name: values[0] if len(values) == 1 else list(values)
        for name, values in (
            (name, tuple(map(_as_plain_value, one))) for name, one in selection.columns.items()
        )
    }
    if selection.groups:
        made["groups"] = {name: list(codes) for name, codes in selection.groups.items()}
    if selection.ranges:
        ends = {name: (("from", one.least), ("to", one.greatest)) for name, one in selection.ranges.items()}
        made["ranges"] = {
            name: {side: limit for side, limit in both if limit is not None} for name, both in ends.items()
        }
    if selection.words:
        made["words"] = selection.words
    if selection.failing:
        made["fails"] = [{"title": one.title, "checks": list(one.checks)} for one in selection.failing]
    if selection.listed:
        made["products"] = [{"title": one.title, "ids": list(one.ids)} for one in selection.listed]
    if len(selection.either) == 1:
        made["any"] = [as_plain(one, depth + 1) for one in selection.either[0]]
    elif selection.either:
        made["all"] = [{"any": [as_plain(one, depth + 2) for one in several]} for several in selection.either]
    if selection.excepted:
        made["except"] = [as_plain(one, depth + 1) for one in selection.excepted]
    return made


def _as_plain_value(value: Any) -> Any:
    return {"begins": value.text} if isinstance(value, Begins) else value


def from_plain(value: object) -> Selection:
    """Read what `as_plain` returned, or what a person wrote like it.

    Raises
    ------
    InputError
        When it is anything else; the message says all that is wrong, each with its place.

    Examples
    --------
    >>> from_plain({"brand_code": "ACME", "ranges": {"texts_count": {"from": 2}}}).ranges
    {'texts_count': Range(least=2, greatest=None)}
    """
    problems: list[str] = []
    found = read_plain(
        value, lambda keys, what: problems.append(f"{'.'.join(map(str, keys))}: {what}".lstrip(": "))
    )
    if found is None or problems:
        raise InputError(f"This is no selection of products: {' '.join(dict.fromkeys(problems))}")
    return found


def read_plain(value: object, tell: Tell, here: Keys = ()) -> Selection | None:
    """Read a selection, and tell of everything that is wrong in it; None where something is.

    Parameters
    ----------
    value
        A mapping, as `as_plain` returns it.
    tell
        Called with the place of each problem, and with what to write.
    here
        Where the selection is in what is read.
    """
    return _Reader(tell).selection(value, here)


def selection_given(given: Any, name: str) -> Selection:
    """Return a selection that a caller gave as it is, or as plain values; of several, products have to meet each.

    Raises
    ------
    InputError
        When it is neither; the message begins with the name of what it was given for.
    """
    if isinstance(given, Selection):
        return given
    if isinstance(given, list | tuple):
        return reduce(and_, (selection_given(one, name) for one in given), Selection())
    if not isinstance(given, Mapping):
        raise InputError(
            f"{name} is {described(given)}. Give a prodex.Selection, or {{'brand_code': 'ACME'}}."
        )
    try:
        return from_plain(given)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error


class _Reader:
    """Reads selections, and tells of what is wrong with them."""

    def __init__(self, tell: Tell) -> None:
        self._told = 0
        self._tell_outside = tell

    def _tell(self, keys: Keys, what: str) -> None:
        self._told += 1
        self._tell_outside(keys, what)

    def selection(self, value: object, here: Keys, depth: int = 0) -> Selection | None:
        before = self._told
        if isinstance(value, list | tuple) and not depth:
            several = [self.selection(one, (*here, number), 1) for number, one in enumerate(value)]
            return reduce(and_, filter(None, several), Selection())
        if not isinstance(value, Mapping):
            self._tell(here, f"it is {described(value)}; give a table: brand_code = 'ACME'.")
        elif depth > _DEEPEST:
            self._tell(here, f"it is nested deeper than {_DEEPEST} levels.")
        else:
            read = [self._condition(key, one, (*here, key), depth) for key, one in value.items()]
            return reduce(and_, read, Selection()) if self._told == before else None
        return None

    def _condition(self, key: str, value: object, here: Keys, depth: int) -> Selection:
        match key:
            case "words":
                return Selection(words=self._text(value, here))
            case "groups":
                return Selection(groups=self._groups(value, here))
            case "ranges":
                return Selection(ranges=self._ranges(value, here))
            case "fails":
                return Selection(failing=tuple(self._titled(value, here, FailingChecks, "checks")))
            case "products":
                return Selection(listed=tuple(self._titled(value, here, ProductList, "ids")))
            case "any":
                return Selection(either=(tuple(self._selections(value, here, depth)),))
            case "all":
                return reduce(and_, self._selections(value, here, depth), Selection())
            case "except":
                return Selection(excepted=tuple(self._selections(value, here, depth)))
        return self._of_column(key, value, here)

    def _of_column(self, key: str, value: object, here: Keys) -> Selection:
        if key not in COLUMNS:
            there_are = hint(str(key), [*COLUMNS, *KEYS], "`prodex tables products` lists its columns.")
            self._tell(here, f"there is no key {str(key)!r:.60} of products{there_are}")
            return Selection()
        if isinstance(value, Mapping) and value and set(value) <= {"from", "to"}:
            return Selection(ranges={key: self._range(value, here)})
        return Selection(columns={key: self._values(key, value, here)})

    def _selections(self, value: object, here: Keys, depth: int) -> list[Selection]:
        several = [value] if isinstance(value, Mapping) else value
        if not isinstance(several, Sequence) or isinstance(several, str | bytes) or not several:
            self._tell(
                here, f"it is {described(value)}; give a list of tables: [{{brand_code = 'ACME'}}, ...]."
            )
            return []
        read = [self.selection(one, (*here, number), depth + 1) for number, one in enumerate(several)]
        return [one for one in read if one is not None]

    def _values(self, column: str, value: object, here: Keys) -> tuple[Any, ...]:
        several = list(value) if isinstance(value, list | tuple | set | frozenset) else [value]
        read: list[Any] = []
        for one in several:
            if isinstance(one, Mapping) and set(one) == {"begins"} and isinstance(one["begins"], str):
                read.append(Begins(one["begins"]))
            elif _is_no_value(one):
                read.append(None)
            elif isinstance(one, Mapping | list | tuple):
                self._tell(here, f"{column} is {described(one)}; give a value, or a list of values.")
            else:
                read.append(_as_date(one) if column in _DATES else one)
        try:
            return plain_values(column, read)
        except QueryError as error:
            self._tell(here, str(error))
            return ()

    def _groups(self, value: object, here: Keys) -> dict[str, tuple[str | None, ...]]:
        groups = {}
        for name, codes in self._table(value, here, "tag = 'new'").items():
            several = codes if isinstance(codes, list | tuple) else [codes]
            several = [None if _is_no_value(one) else one for one in several]
            are_texts = all(one is None or isinstance(one, str) for one in several)
            if are_texts and (wrong := wrong_code(name, several)):
                self._tell((*here, name), wrong)
            elif are_texts and several:
                groups[name] = tuple(dict.fromkeys(several))
            else:
                self._tell((*here, name), "its codes are texts; give one, or a list of them.")
        return groups

    def _ranges(self, value: object, here: Keys) -> dict[str, Range]:
        given = self._table(value, here, "texts_count = {from = 2}")
        return {name: self._range(one, (*here, name)) for name, one in given.items()}

    def _range(self, value: object, here: Keys) -> Range:
        given = self._table(value, here, "from = 2, to = 7")
        for key, limit in given.items():
            if key not in ("from", "to"):
                self._tell((*here, key), f"there is no key {str(key)!r:.60}; give from, to or both.")
            elif _limit(limit, time.min) is None:
                self._tell(
                    (*here, key), f"{key} is {described(limit)}; give a number, or a day such as 2026-01-31."
                )
        # The last day of a range belongs to it as a whole.
        return Range(_limit(given.get("from"), time.min), _limit(given.get("to"), time.max))

    def _titled(self, value: object, here: Keys, kind: type[Any], key: str) -> list[Any]:
        several = value if isinstance(value, list | tuple) else [value]
        made = []
        for number, one in enumerate(several):
            named = one if isinstance(one, Mapping) else {key: one}
            texts = named.get(key, ())
            texts = [texts] if isinstance(texts, str) else texts
            title = named.get("title", texts[0] if isinstance(texts, list | tuple) and texts else "")
            is_right = isinstance(texts, list | tuple) and all(
                isinstance(each, str) for each in (title, *texts)
            )
            if is_right and set(named) <= {"title", key}:
                made.append(kind(title, tuple(texts)))
            else:
                self._tell((*here, number), f"give a title and {key}, which are texts.")
        return made

    def _table(self, value: object, here: Keys, example: str) -> Mapping[str, Any]:
        if isinstance(value, Mapping) and all(isinstance(one, str) for one in value):
            return value
        self._tell(here, f"it is {described(value)}; give a table: {{{example}}}.")
        return {}

    def _text(self, value: object, here: Keys) -> str:
        if isinstance(value, str):
            return value
        self._tell(here, f"it is {described(value)}; give a text.")
        return ""


def _is_no_value(value: object) -> bool:
    return isinstance(value, Mapping) and dict(value) == NO_VALUE


def _limit(value: object, of_day: time) -> float | datetime | None:
    """Return a number, or a moment: of a day alone that at this time of day; None for anything else."""
    read = _as_date(value)
    if isinstance(read, date) and not isinstance(read, datetime):
        return datetime.combine(read, of_day)
    return read if _is_limit(read) else None


def _is_limit(value: object) -> TypeGuard[float | datetime]:
    is_one = isinstance(value, int | float | datetime) and not isinstance(value, bool)
    return is_one and value == value  # noqa: PLR0124 - NaN is in no order


def _as_date(value: Any) -> Any:
    """Return the date that JSON has as a text; anything else as it is."""
    if isinstance(value, str):
        with suppress(InputError):
            return written_date(value)
    return value
