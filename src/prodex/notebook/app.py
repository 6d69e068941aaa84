"""A panel without its widget: it holds the session, takes what pages ask for, and sends them what changes."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import Any, TypeAlias, TypeVar

from prodex.errors import ProdexError
from prodex.exploration.drafts import CollectedDraft, are_same_products
from prodex.notebook.pages import OpenPage, changes, messages
from prodex.notebook.permitted import permitted
from prodex.notebook.session.actions import Deed, Section, Want, deed_of
from prodex.notebook.session.jobs import Work, are_same_arguments
from prodex.notebook.session.rights import Right
from prodex.notebook.session.session import Notice, Refused, Session, ShownWork, error_text
from prodex.notebook.views import SECTIONS
from prodex.notebook.views.frame import frame_view
from prodex.progress import Reporter

_LOG = logging.getLogger("prodex")
#: Seconds that a missing action is waited for before it is asked for again, and then until it is given up.
_PATIENCE, _LAST = 2.0, 5.0
#: Pages that are remembered: a page that was closed without a word is one of the oldest.
_MOST_PAGES = 40
#: Seconds of work before it is shown, where nobody asked for it.
_UNASKED = 0.6

T = TypeVar("T")
Send: TypeAlias = Callable[[dict[str, Any], Sequence[bytes]], object]
View: TypeAlias = dict[str, Any]


class App:
    """A panel: a session, and what is done with it.

    Parameters
    ----------
    session
        What it shows first.
    sections
        Names of the sections that it has; all that are offered, unless given.

    Attributes
    ----------
    session
        What it shows now.
    observers
        Called with the session before and the one of now, after each change.
    send
        Sends a message and its buffers to all pages.

    Examples
    --------
    >>> import prodex
    >>> app = App(Session(prodex.flatten([{"id": 7}, {"id": 8}])))
    >>> app.view()["section"]
    'products'
    >>> app.act("section.open", name="coverage")
    >>> app.view()["section"]
    'coverage'
    """

    def __init__(self, session: Session, sections: Iterable[str] = ()) -> None:
        self._lock = threading.RLock()
        self._draft = CollectedDraft()
        self._named = tuple(sections)
        self._works: dict[str, Work[Any]] = {}
        self._left: list[Work[Any]] = []
        self._keys: dict[str, Any] = {}
        self._pages: dict[str, OpenPage] = {}
        self._is_looked_at = False
        self._is_answering = False
        self._revision = 0
        self._view: View = {}
        self._sent: set[str] = set()
        self.observers: list[Callable[[Session, Session], object]] = []
        self.send: Send = lambda *_: None
        self.session: Session = self._with_draft(session)
        if self.session.section not in [one.name for one in self.sections]:
            self.session = self.session.replaced(section=self.sections[0].name)

    @property
    def sections(self) -> list[Section]:
        """The sections that can be opened now."""
        if self._named:
            return [SECTIONS[name] for name in self._named]
        session = self.session
        return [one for one in SECTIONS.values() if session.can(one.name) and one.is_offered(session)]

    def view(self) -> View:
        """Return what is shown now, as JSON."""
        with self._lock:
            self._look()
            return self._made()

    def pictures(self) -> dict[str, tuple[str, bytes]]:
        """Return the pictures that the view names, by name: of each its kind and its content."""
        with self._lock:
            shown = self._asked_of(lambda section: section.pictures(self.session))
            return {name: (kind, content) for name, kind, content in shown}

    def read(self, section: str) -> Session:
        """Read what a section lacks, whether it is open or not, and return the session that has it."""
        self._start(SECTIONS[section].wants(self.session))
        self.wait()
        return self.session

    def act(self, do: str, /, **arguments: Any) -> None:
        """Do what a page asks for; what is refused is shown at its section, or beside its field."""
        self._take({"do": do, "args": arguments})

    def change(self, function: Callable[[Session], Session]) -> None:
        """Make another session of the one of now, and show it."""
        with self._lock:
            before, after = self.session, function(self.session)
            if after is before:
                return
            if after.section not in {one.name for one in self.sections}:
                after = _instead_of(after.section, after.replaced(section=before.section), before)
            self.session = self._kept(before, after)
            for observe in [*self.observers]:
                observe(before, self.session)
            self._show()

    def wait(self, seconds: float = 60.0) -> None:
        """Wait until nothing is read or done in the background; for scripts and tests.

        Raises
        ------
        TimeoutError
            When it takes longer.
        """
        end = monotonic() + seconds
        while busy := [one for one in (*self._works.values(), *self._left) if one.is_busy]:
            for work in busy:
                work.wait(max(0.0, end - monotonic()))

    def run(
        self,
        slot: str,
        do: Callable[[Reporter], Any],
        then: Callable[[Session, Any], Session] = lambda session, _: session,
        *,
        title: str = "",
        key: Any = None,
        failed: Callable[[Session, BaseException], Session] | None = None,
        cancelled: Callable[[Session], Session] = lambda session: session,
        delay: float = 0.0,
        after: float = 0.0,
        is_patient: bool = False,
        is_dropped: bool = False,
    ) -> None:
        """Do some work in the background; newer work of the same slot takes its place.

        Parameters
        ----------
        slot
            What kind of work it is; `session.works` names it while it runs.
        do
            The work, in a thread of its own; it reports its phases to what it is given.
        then
            Makes the next session of its result.
        title
            What is done, for as long as no phase is reported.
        key
            What it is about: work of the same key is not started again while it runs.
        failed, cancelled
            Make the next session instead; an error is shown at the section, unless given.
        delay, after
            Seconds to wait for newer work before it begins, and seconds before it is shown.
        is_patient, is_dropped
            As for `Work`.
        """
        with self._lock:
            known = self._works.get(slot)
            if known is not None:
                if key is not None and known.is_running and are_same_arguments(key, self._keys.get(slot)):
                    return
                known.forget()
                self._left = [one for one in (*self._left, known) if one.is_busy]
            section = self.session.section
            work = Work(
                do,
                lambda result: self.change(lambda session: then(session, result)),
                lambda error: self.change(
                    lambda session: (
                        _failed(session, error, section) if failed is None else failed(session, error)
                    )
                ),
                title=title,
                cancelled=lambda: self.change(cancelled),
                watch=lambda: self._watched(slot, after),
                delay=delay,
                is_patient=is_patient,
                is_dropped=is_dropped,
            )
            self._works[slot], self._keys[slot] = work, key
        work.start()

    def cancel(self, slot: str) -> None:
        """End the work of a slot with its next step."""
        if (work := self._works.get(slot)) is not None:
            work.cancel()

    def give(self, name: str, content: bytes) -> None:
        """Hand a file over to the page, whose browser saves it."""
        with self._lock:
            self.send({"type": "file", "name": name}, [content])

    def is_running(self, slot: str) -> bool:
        """Return whether work of a slot runs."""
        work = self._works.get(slot)
        return work is not None and work.is_running

    def hear(self, message: Mapping[str, Any], _buffers: object = None) -> None:
        """Take a message of a page, in whatever order the messages come."""
        match message:
            case {"type": "open", "page": str(page)}:
                with self._lock:
                    self._open(page)
            case {"type": "act", "page": str(page), "number": int(number), "do": str(), "args": dict()}:
                with self._lock:
                    self._arrived(page, number, message)
            case {"type": "closed", "page": str(page)}:
                with self._lock:
                    self._pages.pop(page, None)

    def _open(self, page: str) -> None:
        is_first = not self._pages.keys() - {page}
        self._page(page)
        self._look()
        if is_first:
            self._read_wanted()
            self._view, self._revision = self._made(), self._revision + 1
        else:
            # Others may be behind: all of them see the same revision from here on.
            self._show()
        self._say(
            {
                "type": "all",
                "page": page,
                "view": self._view,
                "revision": self._revision,
                "taken": self._pages[page].taken,
            }
        )
        # This page has none of those that others were sent before.
        self._sent.clear()
        self._send_pictures()

    def _send_pictures(self) -> None:
        """Send the pictures that the section shows, as far as pages do not have them."""
        if not self._pages:
            return
        for name, kind, content in self._asked_of(lambda section: section.pictures(self.session)):
            if name not in self._sent:
                self._sent.add(name)
                self.send({"type": "picture", "id": name, "mime": kind}, [content])

    def _page(self, page: str) -> OpenPage:
        if page not in self._pages:
            self._pages[page] = OpenPage()
            for oldest in [*self._pages][:-_MOST_PAGES]:
                del self._pages[oldest]
        return self._pages[page]

    def _arrived(self, page: str, number: int, message: Mapping[str, Any]) -> None:
        known = self._page(page)
        self._take_all(known.arrived(number, message))
        if (missing := known.lacks) is not None:
            _later(_PATIENCE, partial(self._ask_again, page, missing))
        self._show(is_told=True)

    def _ask_again(self, page: str, missing: int) -> None:
        with self._lock:
            if (known := self._pages.get(page)) is not None and known.lacks == missing:
                self._say({"type": "again", "page": page, "from": missing})
                _later(_LAST, partial(self._give_up, page, missing))

    def _give_up(self, page: str, missing: int) -> None:
        with self._lock:
            if (known := self._pages.get(page)) is None or known.lacks != missing:
                return
            lost, ready = known.give_up()
            self._say({"type": "lost", "page": page, "number": lost})
            self._take_all(ready)
            self._show(is_told=True)

    def _take_all(self, ready: Sequence[Mapping[str, Any]]) -> None:
        """Take actions, and show what they have changed together."""
        self._is_answering = True
        try:
            for one in ready:
                self._take(one)
        finally:
            self._is_answering = False

    def _take(self, message: Mapping[str, Any]) -> None:
        with self._lock:
            section = self.session.section
            try:
                deed = deed_of(str(message["do"]))
                self._do(deed, deed.arguments(message["args"]))
            except Exception as error:  # noqa: BLE001 - the widget's edge: beyond it nobody would see the error
                self.change(partial(_failed, error=error, section=section))

    def _do(self, deed: Deed, arguments: dict[str, Any]) -> None:
        if not self.session.can(deed.name):
            raise Refused(
                f"Nothing was done: {deed.name} is not allowed in this page. In a notebook it is: prodex.explore(...)."
            )
        if not deed.is_quiet:
            self.change(_without_words)
        if deed.is_task:
            deed.function(self, **arguments)
        else:
            self.change(lambda session: deed.function(session, **arguments))

    def _look(self) -> None:
        """Read what the view lacks, from the first time that somebody looks: a panel that nobody sees reads nothing."""
        if not self._is_looked_at:
            self._is_looked_at = True
            # Made before anything is read in the background, which would take the processors from it.
            self._made()
            self._read_wanted()

    def _open_section(self) -> Section:
        sections = self.sections
        return next((one for one in sections if one.name == self.session.section), sections[0])

    def _asked_of(self, of: Callable[[Section], Iterable[T]]) -> list[T]:
        """Return what the open section wants or sends; nothing where that fails, since its view fails as well."""
        try:
            return [*of(self._open_section())]
        except Exception:  # noqa: BLE001 - the view fails as well, and says why
            return []

    def _read_wanted(self) -> None:
        if not self._is_looked_at:
            return
        self._start(self._asked_of(lambda section: section.wants(self.session)))

    def _start(self, wants: Iterable[Want]) -> None:
        for want in wants:
            # What was read a moment ago and is still wanted, or could not be read, would be read for ever.
            if not are_same_arguments(want.key, self._keys.get(want.slot)):
                self.run(want.slot, want.do, want.then, key=want.key, **{"after": _UNASKED, **want.options})

    def _show(self, *, is_told: bool = False) -> None:
        """Send what has changed to all pages; with what was taken of them, if it is to be told in any case."""
        if self._is_answering:
            return
        self._read_wanted()
        if not self._pages:
            return
        self._send_pictures()
        now = self._made()
        changed = list(changes(self._view, now))
        if changed or is_told:
            base, self._revision, self._view = self._revision, self._revision + bool(changed), now
            taken = {name: page.taken for name, page in self._pages.items()}
            self._say(
                {
                    "type": "patch",
                    "base": base,
                    "revision": self._revision,
                    "changes": changed,
                    "taken": taken,
                }
            )

    def _say(self, message: dict[str, Any]) -> None:
        for one in messages(message):
            self.send(one, [])

    def _made(self) -> View:
        """Return the view; what fails there is shown in its place."""
        session, sections, section = self.session, self.sections, self._open_section()
        try:
            made = frame_view(session, sections, section)
            return made if session.may is Right.EVERYTHING else permitted(made, session.can)
        except Exception as error:  # noqa: BLE001 - nobody would see it
            return frame_view(
                session.noting(error_text(error), is_problem=True),
                sections,
                Section(section.name, section.title, lambda _: []),
            )

    def _watched(self, slot: str, after: float) -> None:
        """Show how far work is, or that it has ended."""
        with self._lock:
            work = self._works.get(slot)
            others = {name: one for name, one in self.session.works.items() if name != slot}
            if work is not None and work.is_running and work.seconds >= after:
                others[slot] = ShownWork(work.progress, work.is_cancelled, work.done, work.total)
            if others != self.session.works:
                self.change(lambda session: session.replaced(works=others))

    def _with_draft(self, session: Session) -> Session:
        """Take up what was collected for this catalogue before."""
        if not session.can("corrections"):
            return session
        draft, note = self._draft.of(session.catalog)
        return session.replaced(corrections=draft.corrections, unconfirmed=draft.unconfirmed, draft_note=note)

    def _kept(self, before: Session, after: Session) -> Session:
        """Keep corrections on disk, with what another kernel has collected for the same snapshot."""
        if after.corrections != before.corrections or after.unconfirmed != before.unconfirmed:
            after = self._written(before, after)
        if after.catalog is before.catalog:
            return after
        # The products of now in place of those of before: what is collected is about them as well.
        if are_same_products(before.catalog, after.catalog):
            self._draft.of(after.catalog)
            return after
        return self._with_draft(after)

    def _written(self, before: Session, after: Session) -> Session:
        try:
            kept = self._draft.keep(after.corrections, after.unconfirmed)
        except ProdexError as error:
            return after.replaced(draft_note=str(error)).noting(str(error), is_problem=True)
        note = "" if after.draft_note != before.draft_note else after.draft_note
        return after.replaced(corrections=kept.corrections, unconfirmed=kept.unconfirmed, draft_note=note)


def _failed(session: Session, error: BaseException, section: str) -> Session:
    """Return the session with an error: beside its field, or at the section where it was caused."""
    if isinstance(error, Refused) and error.at:
        return session.replaced(errors={**session.errors, error.at: str(error)})
    return session.replaced(notices={**session.notices, section: Notice(error_text(error), is_problem=True)})


def _instead_of(section: str, session: Session, before: Session) -> Session:
    """Return the session that says what was to be shown in a section that this panel does not have."""
    if section != "products":
        return session
    if session.product_id != before.product_id and session.product_id is not None:
        return session.noting(
            f"This panel has no cards. In Python, `product_id` is {session.product_id!r} now."
        )
    if session.conditions == before.conditions and session.catalog is before.catalog:
        return session
    return session.noting(
        "Other products are chosen now. This panel does not list them: its `catalog` has them in Python."
    )


def _without_words(session: Session) -> Session:
    """Return the session without the sentences about what was done before."""
    if not session.errors and session.section not in session.notices:
        return session
    return session.noting("").replaced(errors={})


def _later(seconds: float, do: Callable[[], object]) -> None:
    """Call a function later: in the event loop of this thread, or without one in a thread of its own."""
    with suppress(RuntimeError):
        asyncio.get_running_loop().call_later(seconds, do)
        return
    timer = threading.Timer(seconds, do)
    timer.daemon = True
    timer.start()
