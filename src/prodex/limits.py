"""Limits of a reply, a picture or a file: total seconds, bytes as sent, bytes unpacked; and those of a whole load.

A timeout for each read limits nothing: a server that sends a byte now and then never reaches it, and a few bytes of
gzip may unpack to very many. Service, pictures and files count with the same `Meter`.

A service whose pages never end must not keep a load running for ever: `LoadBudget` limits a load as a whole. All times
are in seconds.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import datetime, timedelta
from typing import Literal, Self

from prodex.advice import PythonCall, advice
from prodex.errors import InputError, QueryError, SettingsError
from prodex.written_numbers import written_number

#: Product data becomes 10 to 100 times as large when it is unpacked. More than 200 bytes for each byte received are a
#: decompression bomb, if it is large enough to matter.
_RATIO, _RATIO_FROM = 200, 150_000_000
#: An element of XML costs its reader up to a kilobyte, whatever it unpacks from. Workbooks have about one a byte.
_ELEMENTS, _ELEMENTS_FROM = 10, 1_000_000
#: Gzip and deflate make at most 1,032 bytes of one.
_MOST_RATIO = 1_100

_UNITS = {"seconds": "s in all", "wire_bytes": "bytes as sent", "unpacked_bytes": "bytes unpacked"}


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of one reply, picture or file; each that is not given has its usual value.

    Attributes
    ----------
    seconds
        From the end of the request to the last byte of the reply, headers included, however slowly it arrives: 300
        for a reply of the service, 120 for a picture. By default a file on disk has no limit.
    wire_bytes
        Bytes as sent, or as stored in a file: 500 million for a reply of the service, 50 million for a picture. By
        default a file on disk has no limit.
    unpacked_bytes
        Bytes after decompression: 500 million for a reply of the service, a billion for a `.gz` file. Unless it is
        given, data that unpacks to more than 200 times its size is stopped at 150 million. Pictures are not unpacked.

    Raises
    ------
    SettingsError
        When a limit is not a positive, finite number.

    Examples
    --------
    >>> Limits(seconds=600)
    Limits(seconds=600, wire_bytes=None, unpacked_bytes=None)
    """

    seconds: float | None = None
    wire_bytes: int | None = None
    unpacked_bytes: int | None = None

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if value is not None and not is_positive(value):
                raise SettingsError(
                    f"Limits({one.name}={value!r:.40}) is not a limit. Give a positive number, a large one if need be."
                )

    def filled(self, usual: Limits) -> Limits:
        """Return the limits with the usual ones where none is given.

        >>> Limits(seconds=7).filled(PICTURE).wire_bytes
        50000000
        """
        return replace(usual, **{name: value for name, value in asdict(self).items() if value is not None})


def is_positive(value: object) -> bool:
    """Whether a value is a finite number above 0.

    >>> [is_positive(one) for one in (1, 0.5, 0, -1, math.nan, math.inf, True, "1", None)]
    [True, True, False, False, False, False, False, False, False]
    """
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 0 < value < math.inf  # type: ignore[operator] # a number, as the line above says


#: The usual values. A full page of 500 large products of 200 kB has 100 million bytes, a fifth of the limit.
REPLY = Limits(seconds=300, wire_bytes=500_000_000, unpacked_bytes=500_000_000)
PICTURE = Limits(seconds=120, wire_bytes=50_000_000, unpacked_bytes=50_000_000)
FILE = Limits(unpacked_bytes=1_000_000_000)


class LimitExceeded(Exception):
    """A limit was reached. Callers turn it into one of the errors in `prodex.errors`.

    Attributes
    ----------
    limit
        The name of the limit, as `Limits` has it.
    """

    def __init__(self, message: str, limit: str) -> None:
        super().__init__(message)
        self.limit = limit


class Meter:
    """Counts the bytes and seconds of one reply or file, and stops it at its limits.

    Parameters
    ----------
    limits
        The limits that the caller gave.
    usual
        The limits where the caller gave none; None in both is no limit.
    setting
        The function whose keyword `limits` changes them, for the message: "connect".
    clock
        Seconds, for tests.
    """

    def __init__(
        self, limits: Limits, usual: Limits, setting: str, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.limits: Limits = limits.filled(usual)
        # A limit for unpacked bytes is given by somebody who knows the data: then the ratio is not checked.
        self._ratio = None if limits.unpacked_bytes else _RATIO
        self.wire: int = 0
        self.unpacked: int = 0
        self._setting = setting
        self._clock = clock
        self._begin = clock()

    def begin(self) -> None:
        """Start the clock again."""
        self._begin = self._clock()

    @property
    def seconds_left(self) -> float:
        """Seconds until the limit; infinite where there is none."""
        seconds = self.limits.seconds
        return math.inf if seconds is None else self._begin + seconds - self._clock()

    def count_received(self, size: int) -> None:
        """Count bytes received.

        Raises
        ------
        LimitExceeded
            When there are too many, or it took too long.
        """
        self.wire += size
        if self.limits.wire_bytes is not None and self.wire > self.limits.wire_bytes:
            raise self.exceeded("wire_bytes")
        if self.seconds_left < 0:
            raise self.exceeded("seconds")

    def count_unpacked(self, size: int) -> None:
        """Check the total number of unpacked bytes.

        Raises
        ------
        LimitExceeded
            When there are too many.
        """
        self.unpacked = max(self.unpacked, size)
        most = self.limits.unpacked_bytes
        if most is not None and size > most:
            raise self.exceeded("unpacked_bytes")
        if self._ratio is not None and size > max(_RATIO_FROM, self._ratio * self.wire):
            raise self._bomb(f"more than {_RATIO} bytes for each byte received")

    def held(self, elements: int) -> None:
        """Check the total number of elements of XML.

        Raises
        ------
        LimitExceeded
            When there are too many for the bytes received, unless a limit for unpacked bytes was given.
        """
        if self._ratio is not None and elements > max(_ELEMENTS_FROM, _ELEMENTS * self.wire):
            raise self._bomb(f"more than {_ELEMENTS} elements of XML for each byte received")

    def may_exceed(self, wire: int) -> bool:
        """Say whether so many bytes may be too many when they are unpacked."""
        most = self.limits.unpacked_bytes
        return most is not None and wire * (self._ratio or _MOST_RATIO) > most

    def _bomb(self, what: str) -> LimitExceeded:
        return LimitExceeded(
            f"{self._so_far()}; {what} look like a decompression bomb, and "
            f"{self._setting}(limits=px.limits.Limits(unpacked_bytes=...)) accepts them nevertheless",
            "unpacked_bytes",
        )

    def exceeded(self, name: Literal["seconds", "wire_bytes", "unpacked_bytes"]) -> LimitExceeded:
        """Return what says that a limit was reached, with the numbers and the setting."""
        return LimitExceeded(
            f"{self._so_far()}; the limit is {getattr(self.limits, name):,} {_UNITS[name]}, and "
            f"{self._setting}(limits=px.limits.Limits({name}=...)) sets another",
            name,
        )

    def _so_far(self) -> str:
        seconds = self._clock() - self._begin
        more = f", unpacked {self.unpacked:,} so far" if self.unpacked else ""
        return f"stopped after {seconds:,.{0 if seconds >= 10 else 1}f} s: {self.wire:,} bytes received{more}"


#: Windows of time in which a large load is fetched, in parallel.
WINDOWS = 4


@dataclass(frozen=True, kw_only=True)
class LoadBudget:
    """The limits of one load or refresh. When one is reached, the load ends incomplete and keeps what was received.

    Attributes
    ----------
    calls
        Calls for products. 100,000 pages of 500 hold 50 million products.
    seconds
        Time of the whole load.
    bytes
        Size of all replies, decompressed.

    Raises
    ------
    QueryError
        When a value is not a positive number; `math.inf` for no limit.

    Examples
    --------
    >>> LoadBudget(seconds=3600)
    LoadBudget(calls=100000, seconds=3600, bytes=500000000000)
    """

    calls: float = 100_000
    seconds: float = 86_400
    bytes: float = 500_000_000_000

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if not (is_positive(value) or value == math.inf):
                budget = PythonCall("LoadBudget({name}={value})", name=one.name, value=repr(value))
                raise QueryError(advice("{budget} is not a limit. Give a positive number.", budget=budget))


@dataclass
class Spending:
    """What a load has used so far. Threads may share it.

    Parameters
    ----------
    budget
        The limits.
    clock
        Seconds, for tests.
    """

    budget: LoadBudget
    clock: Callable[[], float] = time.monotonic
    calls: int = 0
    bytes: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def __post_init__(self) -> None:
        self._began = self.clock()

    def add(self, size: int) -> None:
        """Count one call and the bytes of its reply."""
        with self._lock:
            self.calls += 1
            self.bytes += size

    def exceeded(self) -> str:
        """Return which limit was reached, in words; "" if none was."""
        spent = {"calls": self.calls, "seconds": self.clock() - self._began, "bytes": self.bytes}
        for name, value in spent.items():
            limit = getattr(self.budget, name)
            if value >= limit:
                # "0 of 0 seconds" would be half a second.
                is_whole = float(limit).is_integer()
                shown = f"{math.floor(value):,} of {limit:,.0f} {name}" if is_whole else f"{limit:g} {name}"
                return f"the budget of the load is spent ({shown})"
        return ""


#: The environment variables that limit what is kept of products before they are written, and their usual values.
_DAYS, _GIGABYTES = "PRODEX_EARLIER_RECORDS_DAYS", "PRODEX_EARLIER_RECORDS_GB"
_USUAL_KEEPING = {_DAYS: 90.0, _GIGABYTES: 1.0}


@dataclass(frozen=True)
class KeepingLimits:
    """For how long, and up to which size, products are kept as they were before an upsert.

    >>> KeepingLimits.given({"PRODEX_EARLIER_RECORDS_DAYS": "30"})
    KeepingLimits(days=30.0, gigabytes=1.0)
    """

    days: float
    gigabytes: float

    @classmethod
    def given(cls, environment: Mapping[str, str] | None = None) -> Self:
        """Read the settings.

        Raises
        ------
        SettingsError
            When one is not a number, or below zero.
        """
        found = os.environ if environment is None else environment
        return cls(*(_number(name, found.get(name, "").strip()) for name in (_DAYS, _GIGABYTES)))

    @property
    def keep_any(self) -> bool:
        """Whether anything is kept at all."""
        return self.days > 0 and self.gigabytes > 0

    def until(self, planned: datetime) -> datetime:
        """Return when the earlier records of an upsert are removed."""
        # A setting may be any number, and a date ends with the year 9999.
        return planned + timedelta(days=min(self.days, 365_000))


def _number(name: str, text: str) -> float:
    try:
        value = float(written_number(text)) if text else _USUAL_KEEPING[name]
    except InputError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise SettingsError(
            f"{name} is {text!r:.40}. Give a number, such as {_USUAL_KEEPING[name]:g}; with 0, products are not kept "
            "as they were before an upsert."
        )
    return value
