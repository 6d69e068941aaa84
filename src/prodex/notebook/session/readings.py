"""What sections have read: of each slot the last result, or why there is none, with the key that it is of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from prodex.notebook.session.actions import Want
from prodex.notebook.session.session import Session, error_text
from prodex.progress import Reporter


@dataclass(frozen=True)
class KeptReading:
    """What came of reading something.

    Attributes
    ----------
    key
        What was read, as the want names it; empty as long as nothing was.
    value
        The result; None where there is none.
    problem
        Why there is none.
    """

    key: tuple[Any, ...] = ()
    value: Any = None
    problem: str = ""


@dataclass(frozen=True)
class Readings:
    """The last reading of each slot."""

    last: Mapping[str, KeptReading] = field(default_factory=dict)


def last_read(session: Session, slot: str) -> KeptReading:
    """Return what was read last for a slot."""
    return session.part(Readings).last.get(slot, KeptReading())


def read_for(session: Session, slot: str, key: tuple[Any, ...]) -> KeptReading | None:
    """Return what was read for a key; None where that is not read yet."""
    found = last_read(session, slot)
    return found if found.key == key else None


def reading(slot: str, key: tuple[Any, ...], do: Callable[[Reporter], Any], **options: Any) -> Want:
    """Return a want whose result is kept where `last_read` and `read_for` find it.

    Parameters
    ----------
    slot, key, do, options
        As for `Want`. Where it fails, the problem is kept, and is shown by whoever looks for it.

    Examples
    --------
    >>> import prodex
    >>> session = Session(prodex.flatten([]))
    >>> want = reading("shops.count", ("fr",), lambda _: 7)
    >>> read_for(want.then(session, 7), "shops.count", ("fr",)).value
    7
    >>> read_for(session, "shops.count", ("fr",)) is None
    True
    """

    def kept(session: Session, found: KeptReading) -> Session:
        return session.with_part(Readings({**session.part(Readings).last, slot: found}))

    def failed(session: Session, error: BaseException) -> Session:
        return kept(session, KeptReading(key, problem=error_text(error)))

    return Want(
        slot,
        key,
        do,
        lambda session, value: kept(session, KeptReading(key, value)),
        {"failed": failed, **options},
    )
