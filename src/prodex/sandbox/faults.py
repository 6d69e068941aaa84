"""Faults: what can go wrong with calls, and the order that something shall.

What holds all the time is a setting (`Behaviour`); what happens at certain calls is a fault.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from prodex.sandbox.failing import Call

#: What a fault can be ordered for -> (method, pattern of the path) of its calls.
ENDPOINTS: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "list": (("GET", r"/public/v1/products"), ("POST", r"/public/v1/products/list")),
    "token": (("POST", r"/auth/v[12]/token"),),
    "upsert": (("POST", r"/public/v1/products"),),
    "track": (("GET", r"/public/v1/products/track/.*"),),
    "organizations": (("GET", r"/auth/v2/organization"),),
    "segments": (("GET", r"/core/v3/productsegments/hierarchy"),),
    "scenarios": (("POST", r"/public/v1/validation/rulesets/require"),),
    "all": (("GET", r"/(auth|public|core)/.*"), ("POST", r"/(auth|public|core)/.*")),
}


@dataclass(frozen=True)
class Fault:
    """Something that shall go wrong, and at which calls.

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
        A key of `ENDPOINTS`. "list", both endpoints that list products, unless given. What goes wrong with a
        page of products (see `FAULTS`) can only be ordered for "list".
    seconds
        For "latency": how much longer the call takes.
    retry_after
        For "429" and "503": seconds to announce in Retry-After; none unless given.
    products
        For "repeats", "moves" and "drops": how many products.
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
    at: int | Collection[int] | None = None
    times: int | None = None
    endpoint: str = "list"
    seconds: float | None = None
    retry_after: int | None = None
    products: int | None = None
    run: Callable[[], object] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        kind = FAULTS.get(self.kind) if isinstance(self.kind, str) else None
        if kind is None:
            raise ValueError(
                f"{self.kind!r} is no fault; there are {', '.join(FAULTS)}. What holds all the time, such as "
                "a clock that is off, is a setting of Behaviour."
            )
        if not isinstance(self.endpoint, str) or self.endpoint not in ENDPOINTS:
            raise ValueError(f"endpoint is {self.endpoint!r}, not one of {', '.join(ENDPOINTS)}.")
        if kind.spoils and self.endpoint != "list":
            raise ValueError(
                f"{self.kind} happens to pages of products, so endpoint is 'list', not {self.endpoint!r}."
            )
        if self.at is not None and not isinstance(self.at, int):
            object.__setattr__(self, "at", self.at if isinstance(self.at, range) else tuple(self.at))
        numbers = self._numbers()
        if numbers is not None and not (
            numbers and all(isinstance(number, int) and number >= 1 for number in _ends(numbers))
        ):
            raise ValueError(f"at is {self.at!r}; calls are counted from 1.")
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
        given = {one.name: getattr(self, one.name) for one in fields(self)[1:]}
        said = "".join(f", {name}={value!r}" for name, value in given.items() if value != default.get(name))
        return f"Fault({self.kind!r}{said})"

    def hits(self, call: int) -> bool:
        """Tell whether it hits a call, by its number since the fault was ordered."""
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
                raise ValueError(f"{name!r} is no option of a fault; there are {', '.join(_READERS)}.")
            if equals:
                options[name] = _read(name, value, _READERS[name])
        numbers = [_read("at", call, int) for call in calls]
        if len(numbers) > 1:
            return cls(kind, at=numbers, **options)
        return cls(kind, at=numbers[0] if numbers else None, **options)

    def _numbers(self) -> Collection[int] | None:
        return (self.at,) if isinstance(self.at, int) else self.at


@dataclass(frozen=True)
class Stretch:
    """What a call is about to get from the product list; faults change it.

    Attributes
    ----------
    position
        Index of its first product, from 0.
    cursor
        The cursor that came with the call, None where none did.
    scrolls
        Whether it is a page of a scroll rather than one by offset.
    cursor_lost
        Whether the service forgets the cursor.
    without
        How many of its first products are left out of the page.
    """

    position: int
    cursor: str | None
    scrolls: bool
    cursor_lost: bool = False
    without: int = 0


Strike = Callable[[Fault, "Call"], Awaitable[None]]
Spoil = Callable[[Fault, Stretch], Stretch]


@dataclass(frozen=True)
class FaultKind:
    """One kind of fault.

    Attributes
    ----------
    meaning
        What it does, in words.
    strikes
        Does it to a call, whatever the endpoint; None for what happens to a page of products.
    spoils
        Does it to a page of products; None for the others.
    options
        The options that it takes, with their values unless given.
    """

    meaning: str
    strikes: Strike | None = None
    spoils: Spoil | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


def _reply(status: int, body: bytes, content_type: bytes = b"application/json") -> Strike:
    async def strike(fault: Fault, call: Call) -> None:
        headers = [(b"content-type", content_type)]
        if status == 401:
            headers.append((b"www-authenticate", b"Bearer"))
        if fault.retry_after is not None:
            headers.append((b"retry-after", b"%d" % fault.retry_after))
        await call.reply(status, headers, body)

    return strike


async def _wait(fault: Fault, _call: Call) -> None:
    await asyncio.sleep(fault.seconds or 0)


async def _run(fault: Fault, _call: Call) -> None:
    assert fault.run is not None  # noqa: S101 - checked when the fault was made
    await asyncio.to_thread(fault.run)


async def _cut(_fault: Fault, call: Call) -> None:
    await call.hang_up()


async def _truncate(_fault: Fault, call: Call) -> None:
    await call.answer_half()


async def _expire(_fault: Fault, call: Call) -> None:
    call.expire_tokens()


def _lose_cursor(_fault: Fault, stretch: Stretch) -> Stretch:
    return replace(stretch, cursor_lost=stretch.cursor is not None)


def _repeat(fault: Fault, stretch: Stretch) -> Stretch:
    return replace(stretch, position=max(0, stretch.position - (fault.products or 0)))


def _move(fault: Fault, stretch: Stretch) -> Stretch:
    if stretch.scrolls or not stretch.position:
        return stretch
    return replace(stretch, position=stretch.position + (fault.products or 0))


def _drop(fault: Fault, stretch: Stretch) -> Stretch:
    return replace(stretch, without=fault.products or 0)


def _error(text: str) -> bytes:
    return b'{"error":"ordered","message":"%b"}' % text.encode()


_PAGE_OF_A_GATEWAY: Final = (
    b"<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1>"
    b"</center>\r\n</body>\r\n</html>\r\n"
)

#: Every fault that can be ordered, by its name.
FAULTS: Final[Mapping[str, FaultKind]] = {
    "latency": FaultKind(
        "The call takes `seconds` longer. Calls wait side by side.", _wait, options={"seconds": 1.0}
    ),
    "401": FaultKind(
        "The call is refused as unauthorized, whatever its token, which stays good for other calls.",
        _reply(401, _error("The caller could not be authenticated.")),
    ),
    "429": FaultKind(
        "Too many requests, with Retry-After where `retry_after` says how many seconds.",
        _reply(429, _error("Too many requests.")),
        options={"retry_after": None},
    ),
    "500": FaultKind("An internal error.", _reply(500, _error("Internal error."))),
    "502": FaultKind(
        "A page of HTML from a gateway that got no answer.", _reply(502, _PAGE_OF_A_GATEWAY, b"text/html")
    ),
    "503": FaultKind(
        "Service unavailable, with Retry-After where `retry_after` says how many seconds.",
        _reply(503, _error("Service unavailable.")),
        options={"retry_after": None},
    ),
    "cut": FaultKind("The connection is cut before any byte of the reply. The call has no effect.", _cut),
    "truncated": FaultKind(
        "The call has its effect; of the reply, which announces its full Content-Length, half comes, "
        "then the connection is closed.",
        _truncate,
    ),
    "garbage": FaultKind(
        "Status 200 and application/json, with a body that is neither JSON nor text.",
        _reply(200, b'{"totalResults": 3, "data": [\xff\xfe\x00 not JSON'),
    ),
    "expired-token": FaultKind(
        "All tokens that were issued until then expire just before the call; new ones are good.", _expire
    ),
    "lost-cursor": FaultKind(
        "The scroll cursor that came with the call is forgotten for good: 410, now and when it is tried again. "
        "Nothing happens to a call without cursor.",
        spoils=_lose_cursor,
    ),
    "repeats": FaultKind(
        "The page begins with the last `products` products of the page before. A scroll goes on from there, so "
        "that nothing is missing at its end; a page by offset lacks as many at its own end. Nothing happens to a "
        "first page.",
        spoils=_repeat,
        options={"products": 1},
    ),
    "moves": FaultKind(
        "`products` products moved from the pages before to behind this page: a page by offset begins so much later, "
        "and what slid before it is in neither page. Nothing happens to a first page, or to a scroll, whose order "
        "is frozen.",
        spoils=_move,
        options={"products": 1},
    ),
    "drops": FaultKind(
        "The first `products` products of the page are missing from it, silently: totals and the next page are as "
        "always.",
        spoils=_drop,
        options={"products": 1},
    ),
    "call": FaultKind(
        "The function `run` is called, in a thread, before the call is answered.", _run, options={"run": None}
    ),
}

_OPTIONS: Final = ("seconds", "retry_after", "products", "run")
_READERS: Final[Mapping[str, Callable[[str], Any]]] = {
    "times": int,
    "endpoint": str,
    "seconds": float,
    "retry_after": int,
    "products": int,
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
    if "run" in FAULTS[fault.kind].options and not callable(fault.run):
        raise ValueError(f"run is {fault.run!r}; call takes a function without parameters.")


def _check_whole(name: str, value: object, least: int) -> None:
    if value is not None and not (isinstance(value, int) and not isinstance(value, bool) and value >= least):
        raise ValueError(f"{name} is {value!r}, not a whole number from {least}.")


def _ends(numbers: Collection[int]) -> Collection[int]:
    """Return the numbers, of a range its ends, since it may be endless."""
    return (numbers[0], numbers[-1]) if isinstance(numbers, range) and numbers else numbers
