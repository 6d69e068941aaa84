"""The schedule of faults, and the middleware that applies it: which are ordered, which calls they hit, and how."""

from __future__ import annotations

import threading
from asyncio import sleep
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from re import fullmatch
from typing import TYPE_CHECKING, Final

from prodex_sandbox.behaviour import Behaviour
from prodex_sandbox.faults.call import Call, PageSlice
from prodex_sandbox.faults.kinds import ENDPOINTS, FAULTS, Fault

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


@dataclass(frozen=True)
class FaultHit:
    """A fault that has happened.

    Attributes
    ----------
    fault
        As it was ordered.
    call
        Number of the call, counted as for the fault's `at`.
    method, path
        The call.
    """

    fault: Fault
    call: int
    method: str
    path: str

    @property
    def kind(self) -> str:
        """The fault's name."""
        return self.fault.kind


@dataclass
class _Ordered:
    fault: Fault
    calls: int = 0


class FaultSchedule:
    """The faults that are ordered, and those that have happened.

    Attributes
    ----------
    hits
        What has happened, in its order.
    failures
        What functions raised that were run at a call.
    """

    def __init__(self, faults: Iterable[Fault] = ()) -> None:
        self._ordered: list[_Ordered] = []
        self._lock = threading.Lock()
        self.hits: list[FaultHit] = []
        self.failures: list[Exception] = []
        self.add(faults)

    def add(self, faults: Iterable[Fault]) -> None:
        """Order faults; each counts calls from now on."""
        added = []
        for fault in faults:
            if not isinstance(fault, Fault):
                raise TypeError(f"{fault!r} is not a Fault; write Fault('503', at=3), for example.")
            added.append(_Ordered(fault))
        with self._lock:
            # A new list, since `due` reads the old one without the lock.
            self._ordered = [*self._ordered, *added]

    def clear(self) -> None:
        """Remove every fault."""
        with self._lock:
            self._ordered = []

    # Nearly every call passes here without a fault; it takes no lock then.
    def due(self, method: str, path: str) -> list[FaultHit]:
        """Count a call, and return the faults that hit it."""
        if not self._ordered:
            return []
        with self._lock:
            due = []
            for one in self._ordered:
                if any(
                    method == of and fullmatch(pattern, path) for of, pattern in ENDPOINTS[one.fault.endpoint]
                ):
                    one.calls += 1
                    if one.fault.hits(one.calls):
                        due.append(FaultHit(one.fault, one.calls, method, path))
            return due


#: Under this name the state of a call holds what faults do to its page.
_PAGE_EFFECT: Final = "page_effect"


class FaultMiddleware:
    """The application as it looks from outside: late, and with the faults ordered."""

    def __init__(
        self, app: ASGIApp, schedule: FaultSchedule, behaviour: Behaviour, expire_tokens: Callable[[], None]
    ) -> None:
        self._app = app
        self._schedule = schedule
        self._behaviour = behaviour
        self._expire_tokens = expire_tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._behaviour.latency:
            await sleep(self._behaviour.latency)
        if due := self._schedule.due(scope["method"], scope["path"]):
            call = Call(self._app, scope, receive, send, self._schedule.failures, self._expire_tokens)
            await self._fail(due, call)
        else:
            await self._app(scope, receive, send)

    async def _fail(self, due: Sequence[FaultHit], call: Call) -> None:
        on_page = [hit for hit in due if FAULTS[hit.kind].on_page]
        for hit in due:
            if effect := FAULTS[hit.kind].on_call:
                self._schedule.hits.append(hit)
                await effect(hit.fault, call)
                if call.answered:
                    return
        if on_page:
            # Only the endpoint knows which products the page holds, so it applies this itself.
            call.scope["state"][_PAGE_EFFECT] = lambda page: self._changed(on_page, page)
        await self._app(call.scope, call.receive, call.send)

    def _changed(self, hits: Sequence[FaultHit], page: PageSlice) -> PageSlice:
        for hit in hits:
            effect = FAULTS[hit.kind].on_page
            assert effect is not None  # noqa: S101 - they were chosen by it
            before, page = page, effect(hit.fault, page)
            # A lost cursor, say, cannot happen to a call that has none: then the fault has not hit.
            if page != before:
                self._schedule.hits.append(hit)
        return page


def page_effect(scope: Scope) -> Callable[[PageSlice], PageSlice]:
    """Return what faults do to the page that a call asks for."""
    effect: Callable[[PageSlice], PageSlice] = scope.get("state", {}).get(_PAGE_EFFECT, lambda page: page)
    return effect
