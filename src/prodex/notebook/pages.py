"""Open pages: each numbers what is typed and pressed in it, and is sent patches of the view.

A panel may be open in two tabs, and a page may be loaded anew. Kernels and their clients may deliver messages in
another order, twice or never. So that nothing is lost or done twice, each page counts its own actions, which are taken
in the order of their numbers, and each patch names the revision of the view that it changes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

#: Characters of a message; longer ones are sent in pieces, since servers refuse or delay what is large.
_LONGEST = 1_000_000
_PIECES = count(1)

#: Where a value stands in a view, and the value; without one, it is no longer there.
Change = list[Any]


@dataclass
class OpenPage:
    """What one page has sent.

    Attributes
    ----------
    taken
        The number of the last action that was taken, or given up.
    early
        Actions that came before one that is missing, by number.

    Examples
    --------
    >>> page = OpenPage()
    >>> page.arrived(2, "press"), page.arrived(1, "type"), page.arrived(2, "press")
    ([], ['type', 'press'], [])
    """

    taken: int = 0
    early: dict[int, Any] = field(default_factory=dict)

    @property
    def lacks(self) -> int | None:
        """The number of the first action that is missing; None as long as nothing waits for one."""
        return self.taken + 1 if self.early else None

    def arrived(self, number: int, action: Any) -> list[Any]:
        """Return the actions that can be taken now, in their order; none where it came twice, or one is missing."""
        if number > self.taken:
            self.early.setdefault(number, action)
        return self._ready()

    def give_up(self) -> tuple[int, list[Any]]:
        """Pass over what is missing: return the number of the last action that is lost, and what can be taken now.

        >>> page = OpenPage()
        >>> page.arrived(3, "press"), page.give_up()
        ([], (2, ['press']))
        """
        self.taken = lost = min(self.early) - 1
        return lost, self._ready()

    def _ready(self) -> list[Any]:
        ready = []
        while self.taken + 1 in self.early:
            self.taken += 1
            ready.append(self.early.pop(self.taken))
        return ready


def changes(before: Any, after: Any, path: tuple[str | int, ...] = ()) -> Iterator[Change]:
    """Yield where two values of JSON differ, and what stands there now.

    >>> list(changes({"a": 1, "b": [{"n": 1}, {"n": 2}]}, {"b": [{"n": 1}, {"n": 3}]}))
    [[['a']], [['b', 1, 'n'], 3]]
    """
    if before is after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for name in before:
            if name not in after:
                yield [[*path, name]]
        for name, value in after.items():
            if name not in before:
                yield [[*path, name], value]
            else:
                yield from changes(before[name], value, (*path, name))
    elif isinstance(before, list) and isinstance(after, list) and _are_same_things(before, after):
        for place, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from changes(one, other, (*path, place))
    elif before != after or type(before) is not type(after):
        yield [list(path), after]


def _are_same_things(before: Sequence[Any], after: Sequence[Any]) -> bool:
    """Whether lists have the same things in the same places: then only what is different of each is sent."""
    return len(before) == len(after) and all(
        isinstance(one, dict) and isinstance(other, dict) and one.get("key") == other.get("key")
        for one, other in zip(before, after, strict=True)
    )


def messages(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a message, or pieces of it where it is long.

    >>> [one["type"] for one in messages({"type": "all", "view": "x" * 1_500_000})]
    ['piece', 'piece']
    """
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        # Half of a character, which somebody typed: no host takes a message with it.
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        message = json.loads(text)
    if len(text) <= _LONGEST:
        yield message
        return
    number, pieces = next(_PIECES), -(-len(text) // _LONGEST)
    for at in range(pieces):
        piece = text[at * _LONGEST : (at + 1) * _LONGEST]
        yield {"type": "piece", "id": number, "at": at, "of": pieces, "text": piece}
