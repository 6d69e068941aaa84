"""The middleware that does to calls what the schedule of faults says."""

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

_SPOIL: Final = "spoil"


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
        spoiling = [hit for hit in due if FAULTS[hit.kind].spoils]
        for hit in due:
            if strike := FAULTS[hit.kind].strikes:
                self._schedule.hits.append(hit)
                await strike(hit.fault, call)
                if call.answered:
                    return
        if spoiling:
            # Which products a page holds is known only where it is cut; the endpoint asks for this there.
            call.scope["state"][_SPOIL] = lambda page: self._spoiled(spoiling, page)
        await self._app(call.scope, call.receive, call.send)

    def _spoiled(self, spoiling: Sequence[FaultHit], page: PageSlice) -> PageSlice:
        for hit in spoiling:
            spoil = FAULTS[hit.kind].spoils
            assert spoil is not None  # noqa: S101 - they were chosen by it
            before, page = page, spoil(hit.fault, page)
            if page != before:
                self._schedule.hits.append(hit)
        return page


def spoiling(scope: Scope) -> Callable[[PageSlice], PageSlice]:
    """Return what faults do to the page that a call asks for."""
    spoil: Callable[[PageSlice], PageSlice] = scope.get("state", {}).get(_SPOIL, lambda page: page)
    return spoil


def _with_date(send: Send, skew: float) -> Send:
    async def dated(message: Message) -> None:
        if message["type"] == "http.response.start":
            date = (b"date", formatdate(time.time() + skew, usegmt=True).encode())
            message = {**message, "headers": [*message.get("headers", ()), date]}
        await send(message)

    return dated
