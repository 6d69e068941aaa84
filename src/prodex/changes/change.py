"""A change of one place of a product, as a value: it can be compared, kept in a set, and written to disk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any, Final, NamedTuple, Self, TypeAlias

from prodex.written_json import read_written, written_json


class NoValue(Enum):
    """Why a place has no value."""

    ABSENT = "absent"
    NULL = "null"
    EMPTY = "empty"
    NOT_ASKED = "not asked for"

    def __repr__(self) -> str:
        return self.name


#: The two that JSON has no value for. Null and an empty list are values of JSON, and a change has them as they are.
ABSENT: Final = NoValue.ABSENT
NOT_ASKED: Final = NoValue.NOT_ASKED


def absence_of(value: Any) -> NoValue | None:
    """Return why a place has no value; None where it has one.

    >>> [absence_of(one) for one in (ABSENT, None, [], {}, NOT_ASKED, "", 0, [None])]
    [ABSENT, NULL, EMPTY, EMPTY, NOT_ASKED, None, None, None]
    """
    if value is None:
        return NoValue.NULL
    if isinstance(value, list | dict):
        return None if value else NoValue.EMPTY
    return value if isinstance(value, NoValue) else None


class Item(NamedTuple):
    """An item of a list, by what tells it from its neighbours.

    Attributes
    ----------
    name, value
        What it is known by, and the value of that: "language" and "fra-FR", "code" and "COLD".
    number, of
        Which of the items with this value it is, and how many of them there are.
    """

    name: str
    value: str
    number: int = 0
    of: int = 1


class Ordering(Enum):
    """The order of what is in a list or an object, which is a place of its own, beside the members."""

    ORDER = "order"

    def __repr__(self) -> str:
        return self.name


ORDER: Final = Ordering.ORDER

#: A key of an object; what tells an item of a list apart, or its index where nothing else does; or the order of both.
Step: TypeAlias = str | int | Item | Ordering
#: From the attribute down; empty for the product as a whole.
Path: TypeAlias = tuple[Step, ...]


@dataclass(frozen=True, eq=False)
class Change:
    """One change of one place: a value, an item of a list as a whole, or the order of a list or an object.

    Two changes are equal if they are written alike, so 1, 1.0, `1.00` and true are four values. Nobody changes the
    values of a change: they are shared with the records that they are from.

    Attributes
    ----------
    product
        The key of the product.
    path
        Where in the product, as it was before.
    before, after
        What is there and what is to be there: values of JSON, ABSENT, or NOT_ASKED. Of an order they are the members
        that come in between others, as runs: the one that they follow (null at the beginning), then they themselves.

    Examples
    --------
    >>> one = Change("7", ("namePublicLong", Item("language", "fra-FR"), "data"), "Riz", "Riz long")
    >>> print(one.to_json())
    {"product":"7","path":["namePublicLong",["language","fra-FR"],"data"],"before":"Riz","after":"Riz long"}
    >>> Change.from_json(one.to_json()) == one
    True
    """

    product: str
    path: Path
    before: Any
    after: Any

    @property
    def attribute(self) -> str | None:
        """The attribute of the product; None of the product as a whole, and of the order of its attributes."""
        return self.path[0] if self.path and isinstance(self.path[0], str) else None

    @property
    def is_order(self) -> bool:
        """Whether it is about the order of a list or an object, and of no value."""
        return bool(self.path) and self.path[-1] is ORDER

    def to_json(self) -> str:
        """Write it as JSON; a side that is absent is left out, and `not_asked` names those that nobody asked for."""
        return self._written

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read what `to_json` has written."""
        read = read_written(text)
        sides = {side: read.get(side, ABSENT) for side in _SIDES}
        return cls(
            read["product"],
            path_of(read["path"]),
            **sides | dict.fromkeys(read.get("not_asked", ()), NOT_ASKED),
        )

    @cached_property
    def _written(self) -> str:
        sides = {"before": self.before, "after": self.after}
        made: dict[str, Any] = {"product": self.product, "path": path_as_json(self.path)}
        made |= {side: value for side, value in sides.items() if not isinstance(value, NoValue)}
        if unknown := [side for side, value in sides.items() if value is NOT_ASKED]:
            made["not_asked"] = unknown
        return written_json(made)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Change) and self._written == other._written

    def __hash__(self) -> int:
        return hash(self._written)


_SIDES = ("before", "after")


def step_as_json(step: Step) -> Any:
    """Return a step as JSON: a key, an index, a list of what tells an item apart, or null for the order.

    >>> [step_as_json(one) for one in ("data", 2, Item("code", "A"), Item("unit", "GRM", 1, 2), ORDER)]
    ['data', 2, ['code', 'A'], ['unit', 'GRM', 1, 2], None]
    """
    match step:
        case Item(of=1):
            return [step.name, step.value]
        case Item():
            return [*step]
        case Ordering():
            return None
    return step


def step_of(value: Any) -> Step:
    """Return the step that `step_as_json` has written."""
    return ORDER if value is None else Item(*value) if isinstance(value, list) else value


def path_as_json(path: Path) -> list[Any]:
    """Return a path as JSON."""
    return [step_as_json(step) for step in path]


def path_of(steps: Sequence[Any]) -> Path:
    """Return the path that `path_as_json` has written."""
    return tuple(map(step_of, steps))


def by_product(changes: Iterable[Change]) -> Mapping[str, list[Change]]:
    """Return changes by their product, both in their order.

    >>> [*by_product([Change("8", ("serves",), 1, 2), Change("7", ("serves",), 1, 2)])]
    ['8', '7']
    """
    found: dict[str, list[Change]] = {}
    for one in changes:
        found.setdefault(one.product, []).append(one)
    return found
