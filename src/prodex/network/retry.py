"""Retry: which failures are tried again, for how long, and after which pause. The only retry layer of prodex.

Time is limited, not the number of attempts: a service that restarts is away for 20 to 30 seconds, however often it is
called. The threads of a client share one budget of retries; otherwise a service that recovers under load would get
several calls for each one that failed. All times are in seconds.
"""

from __future__ import annotations

import random
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from prodex import clock
from prodex.advice import PythonCall, advice
from prodex.arguments import whole_number
from prodex.errors import OutcomeUnknown, ServiceError, ServiceUnreachable, SettingsError
from prodex.limits import is_positive

#: 4xx statuses that are about the moment, not about the request: timeout, too early, too many requests.
RETRYABLE_STATUSES = frozenset({408, 425, 429})

T = TypeVar("T")


@dataclass(eq=False)
class RetryableError(Exception):
    """One attempt failed, and another may succeed. Never leaves `Retrying.call`.

    Attributes
    ----------
    message
        What failed.
    kind
        The error to raise when there is no further attempt.
    status
        HTTP status of the reply, if there was one.
    retry_after
        The pause that the service asked for, in seconds, or None.
    not_processed
        True when the service cannot have processed the request, so that even a write may be sent again.
    is_transient
        False when every further attempt would fail in the same way.
    is_answer
        True when the service itself answered so: it seldom changes its mind, so that this is not tried for as long as
        a service may be away.
    """

    message: str
    kind: type[ServiceError] = field(default=ServiceUnreachable, kw_only=True)
    status: int | None = field(default=None, kw_only=True)
    retry_after: float | None = field(default=None, kw_only=True)
    not_processed: bool = field(default=False, kw_only=True)
    is_transient: bool = field(default=True, kw_only=True)
    is_answer: bool = field(default=False, kw_only=True)

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, kw_only=True)
class RetryPolicy:
    """For how long a failed call is tried again, and how often at most.

    Attributes
    ----------
    seconds
        For the first call, for panels and for writes: no attempt begins after this time.
    load_seconds
        For reads inside a load or a refresh, after its first call has succeeded: longer than a service takes to
        restart. Before that, a wrong base URL should fail soon.
    answer_seconds
        The same for answers that a load cannot use, and that the service seldom changes: it refuses a new token again
        and again, or sends null in place of products. From the first of such answers on that follow one another.
    attempts
        Attempts, the first one included; None for as many as the time allows.
    first_wait, longest_wait
        Pauses double from the first to the longest; the last one is shortened to end with the time.
    jitter
        A random addition to each pause, up to this, so that many clients do not return at the same moment.
    longest_retry_after
        A Retry-After of the service is respected up to this. If it ends after the time is over, there is no further
        attempt. A longer one is not believed: the call waits for this long, or for the time that is left if that is
        shorter, and is tried again.
    retries_at_once, retries_per_second
        The budget that the threads of a client share: retries available at once, added per second, and one more for
        each successful call. A retry waits until one is available, or gives up if that is after its time.

    Raises
    ------
    SettingsError
        When a value is negative, infinite or not a number.

    Examples
    --------
    >>> RetryPolicy(load_seconds=900).seconds
    20
    """

    seconds: float = 20
    load_seconds: float = 300
    answer_seconds: float = 55
    attempts: int | None = None
    first_wait: float = 0.5
    longest_wait: float = 20
    jitter: float = 1
    longest_retry_after: float = 60
    retries_at_once: int = 10
    retries_per_second: float = 0.5

    def __post_init__(self) -> None:
        for name in (one.name for one in fields(self)):
            value = getattr(self, name)
            if name == "attempts":
                is_good = value is None or whole_number(value, 1) is not None
            else:
                is_zero = type(value) in {int, float} and value == 0
                is_good = is_positive(value) or (is_zero and not name.startswith("retries"))
            if not is_good:
                raise SettingsError(
                    advice(
                        "{policy} cannot be applied. Give a number {kind}.",
                        policy=PythonCall("RetryPolicy({name}={value})", name=name, value=f"{value!r:.40}"),
                        kind="above 0" if name.startswith(("retries", "attempts")) else "of seconds",
                    )
                )


class RetryBudget:
    """Retries that threads share: a token bucket, filled by time and by successful calls.

    Parameters
    ----------
    policy
        Its size, and how fast it is filled.
    clock
        Seconds.
    """

    def __init__(self, policy: RetryPolicy, clock: Callable[[], float]) -> None:
        self._most, self._rate = policy.retries_at_once, policy.retries_per_second
        self._clock = clock
        self._tokens = float(self._most)
        self._filled_at = clock()
        self._lock = threading.Lock()

    def take(self, latest: float) -> float | None:
        """Take one retry, and return the seconds until it may start; None, and take none, if that is too late."""
        with self._lock:
            now = self._clock()
            self._tokens = min(self._most, self._tokens + (now - self._filled_at) * self._rate)
            self._filled_at = now
            wait = max(0.0, (1 - self._tokens) / self._rate)
            if wait > latest:
                return None
            self._tokens -= 1
            return wait

    def add(self) -> None:
        """Add one retry for a call that succeeded."""
        with self._lock:
            self._tokens = min(self._most, self._tokens + 1)


class Retrying:
    """Makes calls and repeats those that fail, by a policy; threads may share it, and share its budget.

    Parameters
    ----------
    policy
        For how long, and how often.
    budget
        Whether threads share a budget: useful where all calls go to one service.
    setting
        The public function whose argument `retry` changes the policy, for the message.
    clock, sleep
        For tests.
    """

    def __init__(
        self,
        policy: RetryPolicy,
        *,
        budget: bool = True,
        setting: str = "",
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.policy = policy
        self._budget = RetryBudget(policy, clock) if budget else None
        self._setting = setting
        self._clock = clock
        self._sleep = sleep

    def call(
        self,
        what: str,
        attempt: Callable[[], T],
        *,
        idempotent: bool = True,
        in_load: Callable[[], bool] = lambda: False,
    ) -> T:
        """Call `attempt` until it succeeds or the time is over.

        Parameters
        ----------
        what
            The call, for the message ("POST /public/v1/products/list").
        attempt
            Raises `RetryableError` for what may succeed later; any other error is not retried.
        idempotent
            False for a write, which is only repeated when the service cannot have processed it.
        in_load
            Whether `load_seconds` applies. Another thread may make that true during this call.

        Raises
        ------
        ServiceUnreachable, UnexpectedReply
            When the time is over; the message has the number of attempts and the last cause.
        OutcomeUnknown
            When a write failed after the service may have processed it.
        """
        begin, attempts = self._clock(), 0
        answered: float | None = None
        while True:
            attempts += 1
            try:
                result = attempt()
            except RetryableError as error:
                # The frames of its traceback hold the reply, and in a circle this one: memory until a collection.
                failure = error.with_traceback(None)
            else:
                if self._budget is not None:
                    self._budget.add()
                return result
            if not idempotent and not failure.not_processed:
                tried = f"once; writes are not repeated: {failure}"
                raise OutcomeUnknown(f"{what} failed {tried}", status=failure.status) from failure.__cause__
            # Asked after each attempt: a load may have begun meanwhile, by a call of another thread.
            name = "load_seconds" if in_load() else "seconds"
            seconds: float = getattr(self.policy, name)
            end, now = begin + seconds, self._clock()
            # A service that was away in between has started anew, and so do its answers.
            answered = (now if answered is None else answered) if failure.is_answer else None
            if answered is not None and (ends := answered + self.policy.answer_seconds) < end:
                name, seconds, end = "answer_seconds", self.policy.answer_seconds, ends
            may_repeat = failure.is_transient and attempts != self.policy.attempts
            wait = self._pause(failure, attempts, end - now) if may_repeat else None
            if wait is None:
                times = "once" if attempts == 1 and not failure.is_transient else f"{attempts} times"
                longer = " {longer} tries longer than {seconds} s." if may_repeat and self._setting else ""
                failed = advice(
                    "{what} failed {times} in {time} s; the last failure: {failure}" + longer,
                    what=what,
                    times=times,
                    time=f"{self._clock() - begin:.0f}",
                    failure=failure,
                    longer=PythonCall(
                        "{setting}(retry=px.service.RetryPolicy({name}=...))",
                        setting=self._setting,
                        name=name,
                    ),
                    seconds=f"{seconds:g}",
                )
                raise failure.kind(failed, status=failure.status) from failure.__cause__
            self._sleep(wait)

    def _pause(self, failure: RetryableError, attempts: int, left: float) -> float | None:
        """Return the seconds to wait before the next attempt; None to give up."""
        if left <= 0:
            return None
        # No pause, or one that ended before the reply was received, is of no use.
        if not failure.retry_after:
            # Bounded before the power is taken: a float has no 2 ** 1024.
            doubled = self.policy.first_wait * 2.0 ** min(attempts - 1, 100)
            backoff = min(doubled, self.policy.longest_wait) + random.uniform(0, self.policy.jitter)  # noqa: S311 - no secret
            wait = min(backoff, left)
        # A pause of hours is a mistake more often than a wish, and must not stop a load: tried once more at least.
        elif failure.retry_after > self.policy.longest_retry_after:
            wait = min(self.policy.longest_retry_after, left)
        # A service that requests a pause knows better than the backoff.
        elif (wait := failure.retry_after) > left:
            return None
        turn = 0.0 if self._budget is None else self._budget.take(left)
        return None if turn is None else max(wait, turn)


def http_date(text: str | None) -> datetime | None:
    """Parse an HTTP date (RFC 9110, 5.6.7), in UTC; None for anything else.

    >>> http_date("Sun, 06 Nov 1994 08:49:37 GMT")
    datetime.datetime(1994, 11, 6, 8, 49, 37, tzinfo=datetime.timezone.utc)
    >>> http_date("Fri, 31 Dec 9999 23:59:59 -1200"), http_date("soon"), http_date(None)
    (None, None, None)
    """
    try:
        date = parsedate_to_datetime(text or "")
        return date.replace(tzinfo=UTC) if date.tzinfo is None else date.astimezone(UTC)
    # parsedate_to_datetime raises any of these for malformed dates, and astimezone an OverflowError in the year 9999.
    except (ValueError, TypeError, LookupError, ArithmeticError):
        return None


def retry_after(text: str | None, *, now: datetime | None = None) -> float | None:
    """Parse Retry-After, which is a number of seconds or a date; None for anything else, and 0 for a date that is past.

    Parameters
    ----------
    text
        The header.
    now
        The clock of who wrote it, if that is known: a date means a pause only by the same clock.

    Examples
    --------
    >>> retry_after("120"), retry_after("9" * 400), retry_after("Fri, 31 Dec 9999 23:59:59 -1200"), retry_after("soon")
    (120.0, None, None, None)
    >>> date = http_date("Sun, 06 Nov 1994 08:49:37 GMT")
    >>> retry_after("Sun, 06 Nov 1994 08:49:47 GMT", now=date), retry_after("Sun, 06 Nov 1994 08:49:27 GMT", now=date)
    (10.0, 0.0)
    """
    word = (text or "").strip()
    if re.fullmatch(r"[0-9]{1,9}", word):
        return float(word)
    moment = http_date(word)
    return max(0.0, (moment - (now or clock.now())).total_seconds()) if moment else None
