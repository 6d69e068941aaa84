"""Technical paths, as a platform writes them above its columns: names with dots, places in lists as `[0]` or `.0`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from prodex.send.attribute_types import PRODUCT
from prodex.tables.declaration import TABLES, Kind
from prodex.worklists.answer_parsing import AnswerRefused

_STEP = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*)(?:\[([0-9]*)\])?")

#: A record with a list of more items would be mostly gaps.
_MOST_ITEMS = 1_000
_MOST_STEPS = 20

#: Lists that no declaration of attributes shows: nodes of hierarchies, and measures of the GDSN.
_LISTS = frozenset({"children", "height", "width", "depth"})


@dataclass(frozen=True)
class PathStep:
    """A step of a path.

    Attributes
    ----------
    name
        The member of the object.
    index
        The place in its list, where the path says one.
    in_list
        Whether it holds a list.
    """

    name: str
    index: int | None = None
    in_list: bool = False


@dataclass(frozen=True)
class TechnicalPath:
    """A path that was understood.

    Attributes
    ----------
    steps
        From the product inwards; a last step `data` is left out, since it is the value of the attribute around it.
    """

    steps: tuple[PathStep, ...]

    @property
    def attribute(self) -> str:
        """The wire path, as tables name it: without places in lists."""
        return ".".join(step.name for step in self.steps)


def path_of(text: str) -> TechnicalPath:
    """Return the path that a text names.

    Raises
    ------
    AnswerRefused
        When it is no path.

    Examples
    --------
    >>> [(step.name, step.index, step.in_list) for step in path_of("assets.pictures.0.url").steps]
    [('assets', None, False), ('pictures', 0, True), ('url', None, False)]
    >>> path_of("assets.pictures[0].url") == path_of("assets.pictures.0.url")
    True
    >>> path_of("netContent.data").attribute
    'netContent'
    """
    steps: list[PathStep] = []
    for part in text.strip().split("."):
        if part.isascii() and part.isdigit() and steps and steps[-1].index is None:
            steps[-1] = PathStep(steps[-1].name, _index(part), in_list=True)
            continue
        found = _STEP.fullmatch(part)
        if found is None or len(steps) == _MOST_STEPS:
            raise AnswerRefused(f"{text!r:.60} is not a technical path, such as namePublicLong")
        around = ".".join([*(step.name for step in steps), found[1]])
        in_list = found[2] is not None or found[1] in _LISTS or around in LISTS
        steps.append(PathStep(found[1], _index(found[2]) if found[2] else None, in_list))
    if len(steps) > 1 and steps[-1] == PathStep("data"):
        del steps[-1]
    if len(steps) == 1 and steps[0].name.casefold() == "gtin":
        steps = [PathStep("gtin")]
    return TechnicalPath(tuple(steps))


def _index(digits: str) -> int:
    if len(digits) > 4 or int(digits) >= _MOST_ITEMS:
        raise AnswerRefused(f"[{digits:.20}] is not a place in a list of at most {_MOST_ITEMS:,} items")
    return int(digits)


def _lists(types: Mapping[str, Any], around: str = "") -> Iterator[str]:
    """Yield the wire paths at which the specification shows lists."""
    for name, type_ in types.items():
        path = f"{around}{name}"
        is_list = isinstance(type_, list) or type_ in ("array", "localized")
        if is_list:
            yield path
        inner = type_[0] if isinstance(type_, list) else type_
        if isinstance(inner, Mapping):
            yield from _lists(inner, f"{path}.")


#: Wire paths at which there are lists.
LISTS = frozenset(
    [*_lists(PRODUCT), *(anchor for table in TABLES.values() for anchor in table.anchors if anchor)]
)

#: Kinds of the values that tables declare, by wire path.
DECLARED: Mapping[str, Kind] = {
    ".".join(filter(None, [anchor, *path])): column.kind
    for table in TABLES.values()
    for anchor in table.anchors
    for column in table.columns
    for path in column.paths
}
