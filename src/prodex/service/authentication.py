"""The access token: one call for all threads, renewed before it ends, never shown.

Spec: endpoint 1, "Authentication", "Time-driven states".
"""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from prodex.errors import AuthenticationFailed, RequestRefused, UnexpectedReply
from prodex.service.door import Door, Reply, refuse, says
from prodex.service.retry import Retrying, Setback
from prodex.service.settings import Settings

TOKEN_PATH = "/auth/v2/token"  # noqa: S105 - an address
_LIFETIME = 2 * 60 * 60  # seconds (spec, Limits)

_WHAT_TO_DO = (
    "Check client_id and client_secret; new access keys are made in the user's profile of the service."
)


@dataclass(frozen=True)
class Token:
    """An access token, and until when it is good. All times are seconds since 1970.

    Attributes
    ----------
    text
        The token itself.
    renew_at
        When it is better renewed, somewhat before its end.
    ends_at
        When it ends.
    subject
        Whom it was issued to, as far as it says so.
    """

    text: str = field(repr=False)
    renew_at: float
    ends_at: float = 0
    subject: str | None = None


class TokenSource:
    """Hand out a valid access token to any number of threads.

    Parameters
    ----------
    fetch
        Gets a new token from the service.
    clock
        Seconds since 1970.
    """

    def __init__(self, fetch: Callable[[], Token], clock: Callable[[], float] = time.time) -> None:
        self._fetch = fetch
        self._clock = clock
        self._lock = threading.Lock()
        self._token: Token | None = None
        self._flight: Future[Token] | None = None

    def get(self, *, spent: str | None = None) -> str:
        """Return a token.

        The first thread that needs a new one gets it; the others wait for that one call and share what
        comes of it, a failure too.

        Parameters
        ----------
        spent
            A token that the service did not accept: any other will do.
        """
        return self.current(spent=spent).text

    def current(self, *, spent: str | None = None) -> Token:
        """Return the same with what is known of it."""
        with self._lock:
            token = self._token
            if token is not None and token.text != spent and self._clock() < token.renew_at:
                return token
            flight = self._flight
            if mine := flight is None:
                flight = self._flight = Future()
        if mine:
            self._fly(flight)
        return flight.result()

    def _fly(self, flight: Future[Token]) -> None:
        try:
            token = self._fetch()
        except BaseException as error:  # whoever waits has to hear of it, of a KeyboardInterrupt too
            with self._lock:
                self._flight = None
            flight.set_exception(error)
            raise
        with self._lock:
            self._token, self._flight = token, None
        flight.set_result(token)


def request_token(door: Door, settings: Settings, retrying: Retrying, clock: Callable[[], float]) -> Token:
    """Get a token from client credentials.

    Raises
    ------
    AuthenticationFailed
        When the service does not accept the credentials.
    """
    body = json.dumps(
        {
            "client_id": settings.client_id,
            "client_secret": settings.client_secret,
            "grant_type": "client_credentials",
        }
    ).encode()

    def attempt() -> Token:
        asked_at = clock()
        reply = door.send("POST", TOKEN_PATH, body=body, headers={"Content-Type": "application/json"})
        if reply.status in (400, 401, 403):
            raise _failed(reply.message, reply.status)
        refuse(f"POST {TOKEN_PATH}", reply)
        text = _access_token(door, reply)
        claims = _claims(text)
        lifetime = _lifetime(claims, asked_at)
        subject = claims.get("sub")
        return Token(
            text,
            renew_at=asked_at + lifetime - min(60, lifetime / 10),
            ends_at=asked_at + lifetime,
            subject=str(subject) if isinstance(subject, str | int) else None,
        )

    try:
        return retrying.call(f"POST {TOKEN_PATH}", attempt)
    except RequestRefused as error:
        raise RequestRefused(f"{error} Check the base URL.", status=error.status) from error


def _failed(message: str, status: int) -> AuthenticationFailed:
    return AuthenticationFailed(
        f"The service did not accept the credentials.{says(message)} {_WHAT_TO_DO}", status=status
    )


def _access_token(door: Door, reply: Reply) -> str:
    try:
        fields = json.loads(reply.body)
    except (ValueError, RecursionError):
        fields = None
    if fields is None:
        # Raised out here, because the error of the JSON reader carries the whole text, token and all.
        raise Setback(
            "the reply is not JSON. Check the base URL, and whether a proxy answers instead of the service.",
            kind=UnexpectedReply,
            status=reply.status,
        )
    if isinstance(fields, dict) and isinstance(fields.get("access_token"), str) and fields["access_token"]:
        return str(fields["access_token"])
    # The spec shows no status for rejected credentials: a message in place of a token is one, too.
    message = fields.get("message", "") if isinstance(fields, dict) else ""
    raise _failed(door.hide(str(message)), reply.status)


def _claims(token: str) -> dict[str, Any]:
    """Read what a token says of itself; nothing where it is not the JSON Web Token that it should be."""
    try:
        payload = token.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    except (ValueError, LookupError, RecursionError):
        return {}
    return claims if isinstance(claims, dict) else {}


def _lifetime(claims: dict[str, Any], now: float) -> float:
    """Read from the token for how many seconds it is valid; two hours when it does not say.

    Issue and end are compared with each other where both are given, so that a clock that is off does no harm.
    """
    try:
        lifetime = float(claims["exp"]) - float(claims.get("iat", now))
    except (ValueError, LookupError, TypeError):
        return _LIFETIME
    return lifetime if lifetime > 0 else _LIFETIME
