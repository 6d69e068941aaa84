"""What an answer says of a product: its changes, each with the words that people read for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from prodex.changes import Change, in_words, is_nothing, is_same
from prodex.changes.change import Path
from prodex.worklists.answer_parsing import AnswerRefused
from prodex.worklists.layout import DELETE_WORD


class AnswerChange(NamedTuple):
    """What an answer says of one place.

    Attributes
    ----------
    change
        The change; where the place holds it already, it leads from that to the same.
    before, after
        What is there and what is to be there, in words; None for nothing.
    """

    change: Change
    before: str | None
    after: str | None

    @property
    def place(self) -> Path:
        """Of what something is said: whoever takes an item away says something of its letters or number, too."""
        path = self.change.path
        return path[:-1] if path[-1] in {"data", "quantity"} else path


class AnswerChanges(tuple[AnswerChange, ...]):
    """What an answer says, place by place."""

    __slots__ = ()

    @classmethod
    def of(cls, changes: Iterable[Change], words: Callable[[Any], str] = in_words) -> AnswerChanges:
        """Return changes that read as their values do."""
        return cls(
            AnswerChange(
                change, *(None if is_nothing(one) else words(one) for one in (change.before, change.after))
            )
            for change in changes
        )

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changes."""
        return tuple(one.change for one in self)

    @property
    def is_there(self) -> bool:
        """Whether the product holds all of it already."""
        return all(is_same(one.change.before, one.change.after) for one in self)

    @property
    def before(self) -> str | None:
        """What is there where it changes something, in words."""
        return _joined(one.before for one in self._changing)

    @property
    def after(self) -> str | None:
        """What is to be there."""
        return _joined(one.after for one in self._changing)

    @property
    def _changing(self) -> tuple[AnswerChange, ...]:
        return tuple(one for one in self if one.before != one.after) or self


def merge_agreeing(several: Iterable[AnswerChange]) -> AnswerChanges:
    """Return what an answer says, each place once.

    Raises
    ------
    AnswerRefused
        When it says two things of one place.
    """
    found: dict[Path, AnswerChange] = {}
    for one in several:
        first = found.setdefault(one.place, one)
        if first.after != one.after:
            raise AnswerRefused.saying(
                "the answer has {text} and {other}. Write one of them.",
                text=first.after or DELETE_WORD,
                other=one.after or DELETE_WORD,
            )
    return AnswerChanges(found.values())


def _joined(values: Iterable[str | None]) -> str | None:
    """Return several values as one text; None where all are empty."""
    there = [one for one in values if one is not None]
    return "; ".join(there) if there else None
