"""What is tried again, how often and after which pause. The only retry layer of prodex."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from prodex.errors import OutcomeUnknown, ServiceError, ServiceUnreachable

T = TypeVar("T")

# What was tried is told in the end; a line for each attempt is for those who set up logging.
logging.getLogger("stamina").addHandler(logging.NullHandler())


class Setback(Exception):
    """One attempt failed in a way that may pass. Never leaves `Patience.persist`.

    Attributes
    ----------
    kind
        The error to raise when patience ends.
    status
        HTTP status of the reply, if there was one.
    retry_after
        The pause that the service asked for, in seconds, or None.
    untouched
        True when the service cannot have acted on the request, so that even a write may be sent again.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: type[ServiceError] = ServiceUnreachable,
        status: int | None = None,
        retry_after: float | None = None,
        untouched: bool = False,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.status = status
        self.retry_after = retry_after
        self.untouched = untouched


@dataclass(frozen=True, kw_only=True)
class Patience:
    """How long to keep trying. All times are in seconds.

    Attributes
    ----------
    attempts
        Attempts in all, the first one included.
    total
        No further attempt begins after this time.
    first_wait, longest_wait
        Pauses double from the first to the longest.
    jitter
        Up to this much is added to a pause at random, so that many clients do not come back at once.
    longest_retry_after
        A pause that the service asks for (Retry-After) is kept, up to this.
    """

    attempts: int = 6
    total: float = 180
    first_wait: float = 0.5
    longest_wait: float = 20
    jitter: float = 1
    longest_retry_after: float = 60

    def persist(self, what: str, attempt: Callable[[], T], *, idempotent: bool = True) -> T:
        """Call `attempt` until it succeeds or patience ends.

        Parameters
        ----------
        what
            The call, for the message ("POST /public/v1/products/list").
        attempt
            Raises `Setback` for what may pass; any other error ends the matter.
        idempotent
            False for a write: it is only sent again when the service cannot have acted on it.

        Raises
        ------
        ServiceUnreachable, UnexpectedReply
            When patience ended; the message counts the attempts and tells the last cause.
        OutcomeUnknown
            When a write failed after the service may have acted on it.
        """
        import stamina

        begin, attempts = time.monotonic(), 0

        def pause(error: Exception) -> bool | float:
            if not isinstance(error, Setback) or not (idempotent or error.untouched):
                return False
            return True if error.retry_after is None else min(error.retry_after, self.longest_retry_after)

        try:
            for each in stamina.retry_context(
                pause,
                attempts=self.attempts,
                timeout=self.total,
                wait_initial=self.first_wait,
                wait_max=self.longest_wait,
                wait_jitter=self.jitter,
            ):
                with each:
                    attempts += 1
                    return attempt()
        except Setback as setback:
            kind: type[ServiceError]
            kind, tried = OutcomeUnknown, f"once; a write is not repeated: {setback}"
            if idempotent or setback.untouched:
                kind = setback.kind
                tried = f"{attempts} times in {time.monotonic() - begin:.0f} s, at last: {setback}"
            raise kind(f"{what} failed {tried}", status=setback.status) from setback.__cause__
        raise AssertionError("unreachable: the loop above returns or raises")
