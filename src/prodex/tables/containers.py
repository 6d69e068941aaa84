"""Containers: a value may be wrapped in another way than its place is declared, and is read as what it is.

Services write lists as objects with numbers as keys (`{"0": ..., "2": ...}`, as PHP does), a list of one item as the
item itself, and what there is one of as a list of one. None of these leaves a doubt, and all of them are read:

- an object whose keys are all numbers is a list of its values, in their order, wherever it is;
- an object where a list of objects is declared is a list of one, and lists in that list are one list;
- a list of one where an object or a single value is declared is its item. An amount is the exception: a list of numbers
  may have one for each of several bases, and nobody knows which of them is left.

Whatever else is in the place of a declared value stays as it is, and cannot be read (see `prodex.tables.unreadable`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, TypeAlias

from prodex.tables.attributes import PENDING, anchored, child_path
from prodex.tables.declaration import TABLES, ColumnKind
from prodex.tables.values import storable
from prodex.tables.visible import is_visible

#: What an object holds as declared: by key either what is in the object there, or the kinds of value that fit.
Singles: TypeAlias = "dict[str, Singles | tuple[ColumnKind, ...]]"

#: Lists of objects that are no table: their parts are the rows of one, or are read by their names.
_OTHER_LISTS = frozenset(
    {
        "isPartitionedBy",
        "expressedIn",
        "certificationInformationList",
        "certificationInformationList.certificationDetailsList",
    }
)
#: Values that are in no column, and are read by their names.
_OTHER_SINGLES: Mapping[str, Mapping[str, tuple[ColumnKind, ...]]] = {
    "": dict.fromkeys(("startAvailabilityDateTime", "endAvailabilityDateTime"), ("string", "code")),
    "certificationInformationList.certificationDetailsList": dict.fromkeys(
        ("certificationEffectiveStartDate", "certificationEffectiveEndDate"), ("string", "code")
    ),
}

_INDEX = re.compile("0|[1-9][0-9]{0,8}")
_DIGITS = frozenset("0123456789")
_CONTAINERS = frozenset({list, dict})


def is_index(key: str) -> bool:
    """Whether a key is a number, as in an object that stands for a list.

    >>> is_index("0"), is_index("12"), is_index("012"), is_index("a")
    (True, True, False, False)
    """
    return _INDEX.fullmatch(key) is not None


def numbered_items(value: Mapping[str, Any]) -> list[Any] | None:
    """Return the items of an object whose keys are all numbers, or None for any other object.

    >>> numbered_items({"1": "a", "2": "b"}), numbered_items({"1": "a", "code": "b"}), numbered_items({})
    (['a', 'b'], None, None)
    """
    for key in value:  # of nearly all objects the first key decides
        if key[:1] not in _DIGITS or not is_index(key):
            return None
    return list(value.values()) or None


def only_item(value: Any) -> Any:
    """Return the item of a list of one, and anything else as it is.

    >>> only_item([7]), only_item({"0": 7}), only_item([7, 8]), only_item({"code": 7})
    (7, 7, [7, 8], {'code': 7})
    """
    items = numbered_items(value) if isinstance(value, dict) else value
    return items[0] if isinstance(items, list) and len(items) == 1 else value


@lru_cache(maxsize=65536)
def is_list_at(path: str) -> bool:
    """Whether a list of objects is declared at a wire path.

    >>> is_list_at("assets.pictures"), is_list_at("isPartitionedBy"), is_list_at("brand"), is_list_at("")
    (True, True, False, False)
    """
    table = anchored(path)
    return (table is not None and table.name != "products") or path.removeprefix(PENDING) in _OTHER_LISTS


def listed(value: Any) -> list[Any]:
    """Return the items of what is in place of a list of objects, those of lists in it as well.

    >>> listed({"url": "a"}), listed([{"url": "a"}, [{"url": "b"}]]), listed({"1": {"url": "a"}})
    ([{'url': 'a'}], [{'url': 'a'}, {'url': 'b'}], [{'url': 'a'}])
    """
    if isinstance(value, list) and not any(map(_is_list, value)):  # nearly always
        return value
    items: list[Any] = []
    waiting = [value]
    while waiting:
        one = waiting.pop()
        inner = numbered_items(one) if isinstance(one, dict) else one
        if isinstance(inner, list):
            waiting.extend(reversed(inner))
        else:
            items.append(one)
    return items


def _is_list(value: Any) -> bool:
    return isinstance(value, list) or (isinstance(value, dict) and numbered_items(value) is not None)


@lru_cache(maxsize=65536)
def singles_at(path: str) -> Singles:
    """Return what the objects at a wire path hold of which there is one: objects and values.

    >>> singles_at("isPartitionedBy")["isMeasuredBy"], singles_at("hasTags")["tag"], singles_at("netContent")
    ({'code': ('code',)}, ('string',), {})
    """
    found: Singles = {}
    if (table := anchored(path)) is not None:
        for column in table.columns:
            for inner in filter(None, column.paths):
                _add_single(found, inner, column.kind)
    own = path.removeprefix(PENDING)
    for key, kinds in _OTHER_SINGLES.get(own, {}).items():
        found[key] = kinds
    for table in TABLES.values():
        # What rows copy from the object around them is declared there as well.
        if own in {anchor.rpartition(".")[0] for anchor in table.anchors if anchor}:
            for column in table.columns:
                if column.parent_path is not None:
                    _add_single(found, column.parent_path, column.kind)
    return found


def _add_single(singles: Singles, path: tuple[str, ...], kind: ColumnKind) -> None:
    key, *rest = path
    if not rest:
        kinds = singles.get(key, ())
        singles[key] = (*kinds, kind) if isinstance(kinds, tuple) else kinds
        return
    inner = singles.setdefault(key, {})
    if isinstance(inner, dict):
        _add_single(inner, tuple(rest), kind)


def opened(value: Mapping[str, Any], singles: Singles) -> Mapping[str, Any]:
    """Return an object with the items of lists of one in their places, where no list is declared.

    >>> opened({"isPackshot": [True], "exportables": [{}]}, singles_at("assets.pictures"))
    {'isPackshot': True, 'exportables': [{}]}
    >>> opened({"quantity": [0.1]}, singles_at("isPartitionedBy.contains"))
    {'quantity': [0.1]}
    """
    if not singles:
        return value
    changed: dict[str, Any] = {}
    for key, item in value.items():
        if type(item) not in _CONTAINERS or (declared := singles.get(key)) is None:
            continue
        one = only_item(item)
        if not isinstance(declared, dict):
            if "number" not in declared and not isinstance(one, list | dict):
                changed[key] = one
        elif isinstance(one, dict) and (inner := opened(one, declared)) is not item:
            changed[key] = inner
    return {**value, **changed} if changed else value


def as_declared(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return attributes of a product with every value in the container in which it is read: that of its rows.

    >>> as_declared({"assets": {"pictures": {"1": {"isPackshot": [True]}}}, "brand": [{"code": "ACME"}]})
    {'assets': {'pictures': [{'isPackshot': True}]}, 'brand': {'code': 'ACME'}}
    """
    made = dict(opened(attributes, singles_at("")))
    waiting: list[tuple[Any, str]] = [(made, "")]
    while waiting:
        holder, path = waiting.pop()
        items = holder.items() if isinstance(holder, dict) else enumerate(holder)
        for key, item in list(items):
            if not isinstance(item, list | dict):
                continue
            below = child_path(path, storable(key)) if isinstance(holder, dict) else path
            read: Any = listed(item) if isinstance(holder, dict) and is_list_at(below) else item
            numbered = numbered_items(read) if isinstance(read, dict) else read
            copy: Any = list(numbered) if numbered is not None else dict(opened(read, singles_at(below)))
            holder[key] = copy
            waiting.append((copy, below))
    return made


#: What containers are called in a sentence.
_LIST, _NUMBERED, _OBJECT, _VALUE = "a list", "an object with numbers as keys", "an object", "a bare value"


def rewritten_container(before: Any, after: Any, path: str) -> str | None:
    """Say where a value would be wrapped in another way than it is, or return None where it keeps its containers.

    What is empty has no container yet, and what is taken away needs none.

    >>> rewritten_container("ACME", {"code": "MILL"}, "brand")
    'brand is a bare value, and would become an object'
    >>> rewritten_container([{"code": "ACME"}], [{"code": "MILL"}], "brand"), rewritten_container(None, {}, "brand")
    (None, None)
    """
    waiting = [(before, after, path)]
    while waiting:
        old, new, place = waiting.pop()
        if old is new or _is_nothing(old) or _is_nothing(new):
            continue
        if (was := _container(old)) != (becomes := _container(new)):
            return f"{place} is {was}, and would become {becomes}"
        if isinstance(old, dict):
            waiting += [(old[key], new[key], child_path(place, key)) for key in old.keys() & new.keys()]
        elif isinstance(old, list):
            if len(old) == len(new):
                waiting += [(one, other, place) for one, other in zip(old, new, strict=True)]
                continue
            were, are = ({_container(one) for one in some if not _is_nothing(one)} for some in (old, new))
            if were and (odd := are - were):
                return f"{place} is a list with {min(were)} in it, and would have {min(odd)} there"
    return None


def _container(value: Any) -> str:
    if isinstance(value, list):
        return _LIST
    if isinstance(value, dict):
        return _OBJECT if numbered_items(value) is None else _NUMBERED
    return _VALUE


def _is_nothing(value: Any) -> bool:
    return value is None or value in ([], {}) or (isinstance(value, str) and not is_visible(value))


def numbered_place(value: Any, path: str) -> str | None:
    """Return the first wire path at which an object with numbers as keys stands for a list, or None.

    >>> numbered_place([{"text": {"1": {"data": "Riz"}}}], "productBenefits")
    'productBenefits.text'
    """
    waiting = [(value, path)]
    while waiting:
        one, place = waiting.pop()
        if isinstance(one, list):
            waiting += [(item, place) for item in one]
        elif isinstance(one, dict):
            if numbered_items(one) is not None:
                return place
            waiting += [(item, child_path(place, key)) for key, item in one.items()]
    return None


def unusual_list(value: Any) -> str | None:
    """Say in which other way than as a list of texts an attribute has its texts, or None where it is one.

    >>> unusual_list([{"expressedIn": {"code": "fra-FR"}, "data": "Riz"}, None]), unusual_list(None)
    (None, None)
    >>> unusual_list({"fr": "Riz"}), unusual_list([{"fr": "Riz"}])
    ('an object', 'a list with other items than texts')
    """
    if _is_nothing(value):
        return None
    if not isinstance(value, list):
        return _container(value)
    is_item = all(
        one is None or (isinstance(one, dict) and {"data", "expressedIn"} & one.keys()) for one in value
    )
    return None if is_item else "a list with other items than texts"
