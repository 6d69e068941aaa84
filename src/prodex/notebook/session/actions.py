"""What pages can ask for: actions, which make the next session, and tasks, which also reach outside."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol, TypeVar, get_type_hints

import msgspec

from prodex.notebook.session.session import Refused, Session
from prodex.progress import Reporter

#: A part of a view, as JSON: its kind, its key among its siblings, and what its kind draws.
Block = dict[str, Any]


class Panel(Protocol):
    """What a task may use: the session of now, and ways to change it, now and later."""

    session: Session

    @property
    def sections(self) -> list[Section]:
        """The sections that can be opened now."""

    def change(self, function: Callable[[Session], Session]) -> None:
        """Make another session of the one of now, and show it."""

    def run(
        self,
        slot: str,
        do: Callable[[Reporter], Any],
        then: Callable[[Session, Any], Session],
        **options: Any,
    ) -> None:
        """Do some work in the background, and make another session of its result; see `App.run`."""

    def cancel(self, slot: str) -> None:
        """End the work of a slot with its next step."""

    def give(self, name: str, content: bytes) -> None:
        """Hand a file over to the page, whose browser saves it."""


@dataclass(frozen=True)
class Deed:
    """Something that a page can ask for.

    Attributes
    ----------
    name
        How pages name it ("table.sort").
    function
        An action: of the session and the arguments. A task: of the panel and the arguments.
    is_task
        Whether it is a task.
    is_quiet
        Whether it is only typed or looked, so that a sentence at the top of the section stays.
    """

    name: str
    function: Callable[..., Any]
    is_task: bool
    is_quiet: bool = False

    def arguments(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a page sent as what the function takes.

        Raises
        ------
        Refused
            When it is of another kind: a page of another version may send anything.
        """
        hints = _arguments_of(self.function)
        try:
            inspect.signature(self.function).bind(None, **given)
            return {name: msgspec.convert(value, hints[name]) for name, value in given.items()}
        except (TypeError, KeyError, msgspec.ValidationError) as error:
            raise Refused(
                f"Nothing was done: {self.name} does not take {str(given)[:80]}. Run the cell of this panel again."
            ) from error


@cache
def _arguments_of(function: Callable[..., Any]) -> dict[str, Any]:
    # The first one is the session or the panel; its type may stand below `if TYPE_CHECKING`.
    first = next(iter(inspect.signature(function).parameters))
    names = {**vars(inspect.getmodule(function)), "App": Panel}
    kept = {name: note for name, note in function.__annotations__.items() if name not in (first, "return")}
    bare = type("_Bare", (), {"__annotations__": kept})
    return get_type_hints(bare, names)


#: Everything that a page can ask for, by name; each module of `views` adds what its section can do.
DEEDS: dict[str, Deed] = {}

Function = TypeVar("Function", bound=Callable[..., Any])


def action(name: str, *, is_quiet: bool = False) -> Callable[[Function], Function]:
    """Declare an action: a pure function of the session and what a page sends, which returns the next session."""
    return lambda function: _declare(Deed(name, function, is_task=False, is_quiet=is_quiet), function)


def task(name: str, *, is_quiet: bool = False) -> Callable[[Function], Function]:
    """Declare a task: a function of the panel and what a page sends, which may read, write, send and start work."""
    return lambda function: _declare(Deed(name, function, is_task=True, is_quiet=is_quiet), function)


def _declare(deed: Deed, function: Function) -> Function:
    assert deed.name not in DEEDS, deed.name  # noqa: S101 - two sections would answer one press
    DEEDS[deed.name] = deed
    return function


@dataclass(frozen=True)
class Want:
    """Something that a view still lacks, and how it is read.

    Attributes
    ----------
    slot
        The work that it is: newer work of the slot takes its place.
    key
        What is read: as long as this runs, the same is not started again.
    do
        Reads it, in a thread.
    then
        Makes the next session of it. Unless given, it has the same values, since what is read is kept where it was
        read; and it is shown anew.
    options
        As for `App.run`.
    """

    slot: str
    key: Any
    do: Callable[[Reporter], Any]
    then: Callable[[Session, Any], Session] = lambda session, _: session.replaced()
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Section:
    """A section of a panel.

    Attributes
    ----------
    name
        How Python and pages name it.
    title
        What its button says.
    view
        What it shows.
    wants
        What it lacks to show everything.
    is_offered
        Whether it can be opened.
    pictures
        The pictures that its view names: of each the name, the kind ("image/jpeg") and the content.
    """

    name: str
    title: Callable[[Session], str]
    view: Callable[[Session], list[Block]]
    wants: Callable[[Session], Iterable[Want]] = lambda _: ()
    is_offered: Callable[[Session], bool] = lambda _: True
    pictures: Callable[[Session], Iterable[tuple[str, str, bytes]]] = lambda _: ()


def deed_of(name: str) -> Deed:
    """Return what a page can ask for by a name.

    Raises
    ------
    Refused
        When there is nothing of this name: a page of another version may ask for anything.
    """
    if name not in DEEDS:
        raise Refused(f"Nothing was done: this panel has no {name[:80]!r}. Run its cell again.")
    return DEEDS[name]
