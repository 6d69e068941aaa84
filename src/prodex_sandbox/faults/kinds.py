"""Every kind of fault: what can go wrong with a call, in words, and how it is done.

What holds all the time is a setting (`Behaviour`); what happens at certain calls is a fault (`Fault`).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from prodex_sandbox.faults.call import Call, PageSlice


@dataclass(frozen=True, kw_only=True)
class FaultOptions:
    """The options that kinds of fault take, each of them the ones that its `FaultKind` names."""

    seconds: float | None = None
    retry_after: int | None = None
    products: int | None = None
    to: str | None = None
    run: Callable[[], object] | None = None


CallEffect = Callable[[FaultOptions, Call], Awaitable[None]]
PageEffect = Callable[[FaultOptions, PageSlice], PageSlice]


@dataclass(frozen=True)
class FaultKind:
    """One kind of fault.

    Attributes
    ----------
    meaning
        What it does, in words.
    on_call
        Does it to a call, whatever the endpoint; None for what happens to a page of products.
    on_page
        Does it to a page of products; None for the others.
    options
        The options that it takes, with their values unless given.
    """

    meaning: str
    on_call: CallEffect | None = None
    on_page: PageEffect | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


def _reply(status: int, body: bytes, content_type: bytes = b"application/json") -> CallEffect:
    async def effect(fault: FaultOptions, call: Call) -> None:
        headers = [(b"content-type", content_type)]
        # RFC 9110 requires the header, and clients look for it.
        if status == 401:
            headers.append((b"www-authenticate", b"Bearer"))
        if fault.retry_after is not None:
            headers.append((b"retry-after", b"%d" % fault.retry_after))
        await call.reply(status, headers, body)

    return effect


async def _run(fault: FaultOptions, call: Call) -> None:
    assert fault.run is not None  # noqa: S101 - checked when the fault was made
    try:
        # In a thread, since the function may call the sandbox itself.
        await asyncio.to_thread(fault.run)
    except Exception as error:  # noqa: BLE001 - whatever it is, it belongs to the author of the function
        await call.fail(error)


async def _stall(fault: FaultOptions, call: Call) -> None:
    async def pieces(body: bytes) -> AsyncIterator[bytes]:
        half = len(body) // 2
        yield body[:half]
        await call.wait(fault.seconds or 0)
        yield body[half:]

    await call.answer_as(pieces)


async def _drip(fault: FaultOptions, call: Call) -> None:
    async def pieces(body: bytes) -> AsyncIterator[bytes]:
        # Rounded up, so that there are no more pieces than that.
        length = -(-len(body) // _DRIPS) or 1
        for start in range(0, len(body), length):
            yield body[start : start + length]
            await call.wait((fault.seconds or 0) / _DRIPS)

    await call.answer_as(pieces)


async def _damage(_fault: FaultOptions, call: Call) -> None:
    async def pieces(body: bytes) -> AsyncIterator[bytes]:
        half = len(body) // 2
        yield body[:half] + body[half:].translate(_INVERTED)

    await call.answer_as(pieces)


async def _expire(_fault: FaultOptions, call: Call) -> None:
    call.expire_tokens()


def _move(fault: FaultOptions, page: PageSlice) -> PageSlice:
    if page.cursor or not page.position:
        return page
    return replace(page, position=page.position + (fault.products or 0))


def _error(text: str) -> bytes:
    return b'{"error":"ordered","message":"%b"}' % text.encode()


#: Pieces in which a slow body comes.
_DRIPS: Final = 20
_INVERTED: Final = bytes(255 - byte for byte in range(256))

_PAGE_OF_A_GATEWAY: Final = (
    b"<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1>"
    b"</center>\r\n</body>\r\n</html>\r\n"
)

#: Every fault that can be ordered, by its name.
FAULTS: Final[Mapping[str, FaultKind]] = {
    "latency": FaultKind(
        "The call takes longer by `seconds`. Calls wait concurrently.",
        lambda fault, _call: asyncio.sleep(fault.seconds or 0),
        options={"seconds": 1.0},
    ),
    "401": FaultKind(
        "The call is refused as unauthorized, whatever its token, which stays valid for other calls.",
        _reply(401, _error("The caller could not be authenticated.")),
    ),
    "404": FaultKind("Nothing is found at the address of the call.", _reply(404, _error("Nothing is here."))),
    "429": FaultKind(
        "Too many requests; with `retry_after`, that many seconds in Retry-After.",
        _reply(429, _error("Too many requests.")),
        options={"retry_after": None},
    ),
    "500": FaultKind("An internal error.", _reply(500, _error("Internal error."))),
    "502": FaultKind(
        "A page of HTML from a gateway that got no answer.", _reply(502, _PAGE_OF_A_GATEWAY, b"text/html")
    ),
    "503": FaultKind(
        "Service unavailable; with `retry_after`, that many seconds in Retry-After.",
        _reply(503, _error("Service unavailable.")),
        options={"retry_after": None},
    ),
    "cut": FaultKind(
        "The connection is cut before any byte of the reply. The call has no effect.",
        lambda _fault, call: call.hang_up(),
    ),
    "truncated": FaultKind(
        "The call is carried out; half of the reply is sent, with the Content-Length of the whole, "
        "then the connection is closed.",
        lambda _fault, call: call.answer_half(),
    ),
    "stalled": FaultKind(
        "Half of the reply's body is sent, then nothing for `seconds`, then the rest.",
        _stall,
        options={"seconds": 10.0},
    ),
    "slow": FaultKind(
        "The reply's body is sent in twenty pieces, spread over `seconds`.", _drip, options={"seconds": 10.0}
    ),
    "damaged": FaultKind(
        "The reply is as long as it announces, but the bits of the second half of its body are inverted.",
        _damage,
    ),
    "redirect": FaultKind(
        "The call is redirected: 302, with the address in `to`.",
        lambda fault, call: call.reply(302, [(b"location", (fault.to or "").encode())], b""),
        options={"to": "https://elsewhere.example/"},
    ),
    "garbage": FaultKind(
        "Status 200 and application/json, with a body that is neither JSON nor text.",
        _reply(200, b'{"totalResults": 3, "data": [\xff\xfe\x00 not JSON'),
    ),
    "expired-token": FaultKind(
        "All tokens that were issued until then expire just before the call; new ones are valid.", _expire
    ),
    "lost-cursor": FaultKind(
        "The scroll cursor of the call is lost for good: 410, now and when the call is repeated. "
        "Nothing happens to a call without a cursor.",
        on_page=lambda _fault, page: replace(page, cursor_lost=page.cursor is not None),
    ),
    "repeats": FaultKind(
        "The page begins with the last `products` products of the page before. A scroll continues from there, so that "
        "nothing is missing at its end; a page by offset lacks as many at its own end. Nothing happens to a first "
        "page.",
        on_page=lambda fault, page: replace(page, position=max(0, page.position - (fault.products or 0))),
        options={"products": 1},
    ),
    "moves": FaultKind(
        "`products` products have moved from the pages before to after this one: a page by offset begins that much "
        "later, and as many products are in neither page. Nothing happens to a first page, or to a scroll, whose "
        "order is fixed.",
        on_page=_move,
        options={"products": 1},
    ),
    "drops": FaultKind(
        "The first `products` products of the page are missing from it, silently: totals and the next page are as "
        "always.",
        on_page=lambda fault, page: replace(page, without=fault.products or 0),
        options={"products": 1},
    ),
    "call": FaultKind(
        "The function `run` is called, in a thread, before the call is answered. Where it raises, the call gets a "
        "500, and the error is raised again when the sandbox ends.",
        _run,
        options={"run": None},
    ),
}
