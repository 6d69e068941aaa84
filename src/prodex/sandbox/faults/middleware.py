"""The middleware that applies the faults of a schedule to calls."""

from __future__ import annotations

import time
from asyncio import sleep
from collections.abc import Callable, Sequence
from email.utils import formatdate
from typing import TYPE_CHECKING, Final

from prodex.sandbox.behaviour import Behaviour
from prodex.sandbox.faults.call import Call, PageSlice
from prodex.sandbox.faults.kinds import FAULTS
from prodex.sandbox.faults.schedule import FaultHit, FaultSchedule

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: Under this name the state of a call holds what faults do to its page.
_PAGE_EFFECT: Final = "page_effect"


class FaultMiddleware:
    """The application as it looks from outside: late, with a clock of its own, and with the faults ordered."""

    def __init__(
        self, app: ASGIApp, schedule: FaultSchedule, behaviour: Behaviour, expire_tokens: Callable[[], None]
    ) -> None:
        self._app = app
        self._schedule = schedule
        self._behaviour = behaviour
        self._expire_tokens = expire_tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._behaviour.clock_skew:
            send = _with_date(send, self._behaviour.clock_skew)
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
            # Which products a page holds is known only where it is cut; the endpoint asks for this there.
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


def _with_date(send: Send, skew: float) -> Send:
    async def dated(message: Message) -> None:
        if message["type"] == "http.response.start":
            date = (b"date", formatdate(time.time() + skew, usegmt=True).encode())
            message = {**message, "headers": [*message.get("headers", ()), date]}
        await send(message)

    return dated
