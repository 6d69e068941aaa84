"""Whether two values say the same, however a service spells them; and whether they are spelled alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from prodex.changes.change import ABSENT, NOT_ASKED, ORDER, Change, Item, NoValue
from prodex.locales import is_same_language, known_language_tag, tag_of, variant_of
from prodex.written_json import RepeatedKeys, WrittenNumber, exact_value, written_json

_MAINTAINED = """
id uuid _jsonVersion createdAt updatedAt owner product_key supplierId manufacturerSharingStatus
targetProductStatus validation hasTags isTaggedBy requiredScenarios lastRequest lastUserHistoryDate
assetsLastRequests
"""
#: Attributes that the service maintains itself. A loaded product that is written again leaves them out.
MAINTAINED_BY_SERVICE = frozenset(_MAINTAINED.split())

#: What a service adds beside the code of a value or a language; it follows from the code.
OF_THE_CODE = frozenset({"label", "description", "pictureUrl", "normalizedCode"})
#: What a service writes into an item each time that it stores it.
_STAMPS = frozenset({"lastUpdatedAt", "createdAt", "updatedAt"})
#: What a service adds to an item that it stores.
_ADDED = MAINTAINED_BY_SERVICE - _STAMPS


def is_nothing(value: Any) -> bool:
    """Whether a value says nothing: absent, null, empty, or an object of such. A write takes it away in one way.

    What nobody asked for is not nothing: it may be anything.
    """
    if isinstance(value, dict):
        # What is left of an attribute that was taken away may be a time stamp of the service.
        return all(name in _STAMPS or is_nothing(inner) for name, inner in value.items())
    return value is ABSENT or value is None or value == []


def is_same(one: Any, other: Any) -> bool:
    """Whether two values say the same, as a service may store what it was sent.

    - A number in any spelling: 1 is 1.0. True is not 1, and a text is the same letter by letter.
    - A code with any label beside it; a text in one language with any spelling of that: "fr" for "fra-FR", which is
      never "fra-BE".
    - Absent, null and empty are one (`is_nothing`). What was not asked for is only like itself.
    - Time stamps and identifiers that the service adds say nothing more. The order of a list does.

    Examples
    --------
    >>> is_same({"code": "FR", "label": "France"}, {"code": "FR"}), is_same(1, True), is_same([], None)
    (True, False, True)
    >>> names = [{"expressedIn": {"code": code}, "data": "Riz"} for code in ("fra-FR", "fr", "fra-BE")]
    >>> is_same(names[0], names[1]), is_same(names[0], names[2])
    (True, False)
    """
    if is_nothing(one) or is_nothing(other):
        return is_nothing(one) and is_nothing(other)
    match one, other:
        case (RepeatedKeys(), _) | (_, RepeatedKeys()):
            # Which of its values counts is for others to say.
            return is_exact(one, other)
        case dict(), dict():
            return _are_same_objects(one, other)
        case list(), list():
            return len(one) == len(other) and all(map(is_same, one, other))
        case (bool(), _) | (_, bool()):
            return one is other
        case (int() | float(), int() | float()):
            return one == other
    return type(one) is type(other) and bool(one == other)


def _are_same_objects(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    names = (one.keys() | other.keys()) - _STAMPS
    if is_text(one) and is_text(other):
        if not is_same_language(language_of(one), language_of(other)):
            return False
        names -= {"expressedIn"}
    if "code" in one and "code" in other:
        if str(one["code"]) != str(other["code"]):
            return False
        names -= OF_THE_CODE | {"code"}
    return all(
        is_same(one.get(name, ABSENT), other.get(name, ABSENT))
        for name in names
        if name not in _ADDED or (name in one and name in other)
    )


def said(value: Any) -> Any:
    """Return what a value says, as JSON: two values for which `is_same` holds say the same.

    A language without a country is not the same here as one with it: which one is meant, only the texts beside it say.

    >>> said({"code": 12, "label": "Twelve"}) == said({"code": "12"}), said([1.0, {"createdAt": "now"}]), said([])
    (True, ['1e0', None], None)
    """
    if is_nothing(value) or isinstance(value, NoValue):
        return None if value is not NOT_ASKED else repr(value)
    match value:
        case RepeatedKeys() | str():
            return value
        case list():
            return [said(one) for one in value]
        case dict():
            names = value.keys() - _STAMPS - _ADDED
            made: dict[str, Any] = {}
            if is_text(value):
                made["expressedIn"] = tag_of(language_of(value))
            if "code" in value:
                names -= OF_THE_CODE
                made["code"] = str(value["code"])
            others = {name: said(value[name]) for name in sorted(names - made.keys())}
            return made | {name: one for name, one in others.items() if one is not None}
        case int() | float() if not isinstance(value, bool):
            return _plain_number(value)
    return value


def _plain_number(number: float) -> str:
    """Return a number in the one spelling that all of its value have."""
    value = exact_value(number)
    if isinstance(value, str) or not value.is_finite():
        return str(value)
    digits = "".join(map(str, value.as_tuple().digits))
    kept = digits.rstrip("0")
    exponent = int(value.as_tuple().exponent) + len(digits) - len(kept)
    return f"{'-' * value.is_signed()}{kept}e{exponent}" if kept else "0"


def is_exact(one: Any, other: Any) -> bool:
    """Whether two values are written alike, to the order of keys and the spelling of numbers.

    >>> is_exact({"a": 1, "b": 2}, {"b": 2, "a": 1}), is_exact(1, 1.0), is_exact([0.5], [0.5])
    (False, False, True)
    """
    if one is other:
        return True
    kind = type(one)
    if kind is not type(other):
        return False
    if kind is dict:
        return [*one] == [*other] and all(map(is_exact, one.values(), other.values()))
    if kind is list:
        return len(one) == len(other) and all(map(is_exact, one, other))
    if kind is str or kind is int:
        return bool(one == other)
    if kind is float:
        return repr(one) == repr(other)
    if kind is WrittenNumber or kind is RepeatedKeys:
        return written_json(one) == written_json(other)
    return False


def says_the_same(change: Change) -> bool:
    """Whether a product says the same after a change: a spelling, a label, a time stamp, null in place of an empty
    list.

    The order of a list (`Change.is_order`) says something, and that of keys does not.

    >>> from prodex.changes.change import NOT_ASKED
    >>> [says_the_same(Change("7", ("serves",), *sides)) for sides in ((1, 1.0), (None, []), (NOT_ASKED, None), (1, 2))]
    [True, True, False, False]
    """
    before, after = change.before, change.after
    if any(isinstance(step, str) and step in _STAMPS for step in change.path[1:]):
        return True
    match change.path:
        case [*_, last] if last is ORDER:
            # The order of keys says nothing, and that of a list does.
            return all(isinstance(run[-1], str) for run in (*before, *after))
        case [_, *_, str(name)] if name in _ADDED and ABSENT in (before, after):
            return True
        case [*_, above, "expressedIn"] if isinstance(before, dict) and isinstance(after, dict):
            # The language of a text in another spelling; nothing of the kind is said of a unit.
            one, other = (language_of({"expressedIn": side}) for side in (before, after))
            is_language = isinstance(above, Item) and above.name == "language"
            if is_language or (known_language_tag(one) and known_language_tag(other)):
                return is_same_language(one, other)
    return is_same(before, after)


def with_orders(changes: Iterable[Change]) -> Iterator[tuple[Change, Change | None]]:
    """Yield the changes that say something new, those of items with the new order of their list, if it has one.

    The order of a list whose items stay is a change by itself.

    >>> one = Change("7", ("isTaggedBy", Item("value", "new")), ABSENT, "new")
    >>> order = Change("7", ("isTaggedBy", ORDER), [], [[None, ["value", "new"]]])
    >>> [*with_orders([one, order])] == [(one, order)]
    True
    """
    told = [one for one in changes if not says_the_same(one)]
    orders = {one.path[:-1]: one for one in told if one.is_order}
    with_items = {one.path[:-1] for one in told if ABSENT in (one.before, one.after)}
    for one in told:
        if not one.is_order:
            yield one, orders.get(one.path[:-1])
        elif one.path[:-1] not in with_items:
            yield one, None


def is_text(value: Any) -> bool:
    """Whether a value is a localized text, or lacks only the letters of one."""
    if not isinstance(value, dict) or "data" not in value or not isinstance(value.get("expressedIn"), dict):
        return False
    return isinstance(value["data"], str) or value["data"] is None


def is_expressed(value: Any) -> bool:
    """Whether a value is a text with its language, or an amount with its unit."""
    return isinstance(value, dict) and "data" in value and isinstance(value.get("expressedIn"), dict)


def is_one_value(value: Any) -> bool:
    """Whether a value is one for people: a code, an amount with its unit, a text with its language, or no object."""
    return not isinstance(value, list) and (
        not isinstance(value, dict) or "code" in value or is_expressed(value)
    )


def language_of(value: Mapping[str, Any]) -> str:
    """Return the language of a text with its country, as tables have it (`prodex.locales.variant_of`).

    >>> language_of({"expressedIn": {"code": "fra", "normalizedCode": "fr-BE"}, "data": "Riz"})
    'fr-BE'
    """
    named = value["expressedIn"]
    code, short = named.get("code"), named.get("normalizedCode")
    return (
        variant_of(code if isinstance(code, str) else None, short if isinstance(short, str) else None) or ""
    )
