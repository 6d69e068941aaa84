"""A fault: which kind, at which calls of which endpoint."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, cast

from prodex_sandbox.faults.kinds import FAULTS, FaultOptions

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
