"""Every kind of fault, and the order of one: what goes wrong, at which calls of which endpoint.

What holds all the time is a setting (`Behaviour`); what happens at certain calls is a fault (`Fault`).
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final, cast

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


#: Pieces in which a slow body is sent.
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


#: What a fault can be ordered for -> (method, pattern of the path) of its calls.
ENDPOINTS: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "list": (("GET", r"/public/v1/products"), ("POST", r"/public/v1/products/list")),
    "token": (("POST", r"/auth/v[12]/token"),),
    "upsert": (("POST", r"/public/v1/products"),),
    "track": (("GET", r"/public/v1/products/track/.*"),),
    "organizations": (("GET", r"/auth/v2/organization"),),
    "segments": (("GET", r"/core/v3/productsegments/hierarchy"),),
    "media": (("GET", r"/media/.*"), ("HEAD", r"/media/.*")),
    "scenarios": (("POST", r"/public/v1/validation/rulesets/require"),),
    "all": (("GET", r"/(auth|public|core)/.*"), ("POST", r"/(auth|public|core)/.*")),
}


@dataclass(frozen=True)
class Fault(FaultOptions):
    """Something that goes wrong on purpose, and at which calls.

    Parameters
    ----------
    kind
        A key of `FAULTS`.
    at
        Number of the call that it hits, or several numbers (a range too), counted from 1 among the calls of
        its endpoint since it was ordered. Calls that are tried again count again. Every call unless given.
    times
        How many calls in a row it hits from there on; 1 unless given. Without `at`, from the first call.
    endpoint
        A key of `ENDPOINTS`. "list", both endpoints that list products, unless given. "all" is the service, not the
        files of its products, which are "media". Faults of a page of products (see `FAULTS`) are for "list" only.
    seconds
        For "latency", "stalled" and "slow": how much longer the call takes.
    retry_after
        For "429" and "503": seconds to announce in Retry-After; none unless given.
    products
        For "repeats", "moves" and "drops": how many products.
    to
        For "redirect": an address.
    run
        For "call": a function without parameters.

    Examples
    --------
    >>> Fault("503", at=2, times=3)
    Fault('503', at=2, times=3)
    >>> Fault("429", endpoint="upsert", retry_after=5).hits(1)
    True
    >>> Fault("503", at=[2, 4]).hits(3)
    False
    """

    kind: str
    at: int | Iterable[int] | None = None
    times: int | None = None
    endpoint: str = "list"

    def __post_init__(self) -> None:
        kind = FAULTS.get(self.kind) if isinstance(self.kind, str) else None
        if kind is None:
            raise ValueError(
                f"{self.kind!r} is not a fault; give one of {', '.join(FAULTS)}. What holds all the time, such as "
                "a clock that is off, is a setting of Behaviour."
            )
        if not isinstance(self.endpoint, str) or self.endpoint not in ENDPOINTS:
            raise ValueError(f"endpoint is {self.endpoint!r}, not one of {', '.join(ENDPOINTS)}.")
        if kind.on_page and self.endpoint != "list":
            raise ValueError(
                f"{self.kind} happens to pages of products, so endpoint is 'list', not {self.endpoint!r}."
            )
        if isinstance(self.at, Iterable) and not isinstance(self.at, range):
            # An iterator could be read only once; the fault is compared and shown later.
            object.__setattr__(self, "at", tuple(self.at))
        if self.at is not None and not _are_calls(self.at):
            raise ValueError(f"at is {self.at!r}, not the number of a call, from 1, or several.")
        _check_whole("times", self.times, least=1)
        for option in _OPTIONS:
            given = getattr(self, option)
            if option not in kind.options:
                if given is not None:
                    takes = ", ".join(kind.options) or "no option"
                    raise ValueError(f"{self.kind} has no {option}; it takes {takes}.")
            elif given is None:
                object.__setattr__(self, option, kind.options[option])
        _check_values(self)

    def __repr__(self) -> str:
        default = {"endpoint": "list", **FAULTS[self.kind].options}
        given = {name: getattr(self, name) for name in ("at", "times", "endpoint", *_OPTIONS)}
        shown = "".join(f", {name}={value!r}" for name, value in given.items() if value != default.get(name))
        return f"Fault({self.kind!r}{shown})"

    def hits(self, call: int) -> bool:
        """Whether it hits a call, by its number since the fault was ordered."""
        numbers = self._numbers()
        if numbers is None:
            return self.times is None or call <= self.times
        if self.times is None:
            return call in numbers
        return any(call - back in numbers for back in range(self.times))

    @classmethod
    def from_text(cls, text: str) -> Fault:
        """Read a fault as the command line has it: KIND[@CALL[,CALL...]][,OPTION=VALUE...].

        Examples
        --------
        >>> Fault.from_text("lost-cursor@3")
        Fault('lost-cursor', at=3)
        >>> Fault.from_text("429@2,5,endpoint=upsert,retry_after=1")
        Fault('429', at=(2, 5), endpoint='upsert', retry_after=1)
        >>> Fault.from_text("latency,seconds=2")
        Fault('latency', seconds=2.0)
        """
        kind, *rest = re.split(r"[@,]", text)
        calls = [part for part in rest if "=" not in part]
        options: dict[str, Any] = {}
        for part in rest:
            name, equals, value = part.partition("=")
            if equals and name not in _READERS:
                raise ValueError(f"{name!r} is not an option of a fault; give one of {', '.join(_READERS)}.")
            if equals:
                options[name] = _read(name, value, _READERS[name])
        numbers = [_read("at", call, int) for call in calls]
        return cls(kind, at=numbers if len(numbers) > 1 else next(iter(numbers), None), **options)

    def _numbers(self) -> Collection[int] | None:
        return (self.at,) if isinstance(self.at, int) else cast("Collection[int] | None", self.at)


_OPTIONS: Final = tuple(option.name for option in fields(FaultOptions))
_READERS: Final[Mapping[str, Callable[[str], Any]]] = {
    "times": int,
    "endpoint": str,
    "seconds": float,
    "retry_after": int,
    "products": int,
    "to": str,
}


def _read(name: str, text: str, reader: Callable[[str], Any]) -> Any:
    try:
        return reader(text)
    except ValueError:
        raise ValueError(f"{name} is {text!r}, not a number.") from None


def _check_values(fault: Fault) -> None:
    _check_whole("retry_after", fault.retry_after, least=0)
    _check_whole("products", fault.products, least=1)
    seconds = fault.seconds
    if seconds is not None and not (
        isinstance(seconds, int | float) and math.isfinite(seconds) and seconds >= 0
    ):
        raise ValueError(f"seconds is {seconds!r}, not a number of seconds from 0.")
    if fault.to is not None and not (
        isinstance(fault.to, str) and fault.to.isascii() and fault.to.isprintable()
    ):
        raise ValueError(f"to is {fault.to!r}, not an address.")
    if "run" in FAULTS[fault.kind].options and not callable(fault.run):
        raise ValueError(f"run is {fault.run!r}; call takes a function without parameters.")


def _check_whole(name: str, value: object, least: int) -> None:
    if value is not None and not _is_whole(value, least):
        raise ValueError(f"{name} is {value!r}, not a whole number from {least}.")


def _are_calls(at: object) -> bool:
    numbers = at if isinstance(at, range | tuple) else (at,)
    # Only the ends of a range are checked, since it may have billions of numbers.
    ends = (numbers[0], numbers[-1]) if numbers and isinstance(numbers, range) else numbers
    return bool(ends) and all(_is_whole(call, 1) for call in ends)


def _is_whole(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least
