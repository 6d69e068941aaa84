"""The access token: one call for all threads, renewed before it ends, never shown.

Spec: endpoint 1, "Authentication", "Time-driven states".
"""

from __future__ import annotations

import base64
import json
import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from prodex.errors import AuthenticationFailed, RequestRefused, SettingsError, UnexpectedReply
from prodex.network.retry import RetryableError, Retrying
from prodex.service.secret import Secret
from prodex.service.settings import Settings
from prodex.service.transport import Reply, Transport, refuse, says

#: Version -> where a token is asked for; the first one is deprecated (spec, endpoints 1 and 2).
TOKEN_PATHS = {1: "/auth/v1/token", 2: "/auth/v2/token"}

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

    text: Secret
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

    def get(self, *, spent: Secret | None = None) -> Secret:
        """Return a token.

        The first thread that needs a new one gets it; the others wait for that one call and share what
        comes of it, a failure too.

        Parameters
        ----------
        spent
            A token that the service did not accept: any other will do.
        """
        return self.current(spent=spent).text

    def current(self, *, spent: Secret | None = None) -> Token:
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


def token_path(version: int) -> str:
    """Return where a token is asked for.

    Raises
    ------
    SettingsError
        When there is no such version.
    """
    if type(version) is not int or version not in TOKEN_PATHS:
        raise SettingsError(
            f"token_version is {version!r}; give 1 or 2: the endpoint {TOKEN_PATHS[1]}, which is deprecated, or "
            f"{TOKEN_PATHS[2]}."
        )
    return TOKEN_PATHS[version]


def request_token(
    door: Transport,
    settings: Settings,
    retrying: Retrying,
    clock: Callable[[], float],
    path: str = TOKEN_PATHS[2],
) -> Token:
    """Get a token from client credentials.

    Raises
    ------
    AuthenticationFailed
        When the service does not accept the credentials, or sends a token that cannot be used.
    """

    def attempt() -> Token:
        asked_at = clock()
        reply = door.send(
            "POST", path, body=_credentials(settings), headers={"Content-Type": "application/json"}
        )
        if reply.status in (400, 401, 403):
            raise _failed(reply.message, reply.status)
        refuse(f"POST {path}", reply)
        answer = _answer(reply, door)
        if answer is None:
            raise RetryableError(
                "the reply is not JSON. Check the base URL, and whether a proxy answers instead of the service.",
                kind=UnexpectedReply,
                status=reply.status,
            )
        if answer.token is None:
            # The spec shows no status for rejected credentials: a message in place of a token is one, too.
            raise _failed(answer.message, reply.status)
        _check(answer.token, reply.status)
        claims = claims_of(answer.token)
        lifetime = min(lifetime_of(claims, asked_at), answer.expires_in)
        subject = claims.get("sub")
        return Token(
            answer.token,
            renew_at=asked_at + lifetime - min(60, lifetime / 10),
            ends_at=asked_at + lifetime,
            subject=str(subject) if isinstance(subject, str | int) else None,
        )

    try:
        return retrying.call(f"POST {path}", attempt)
    except RequestRefused as error:
        raise RequestRefused(
            f"{error} Check the base URL.{_other_version(path)}", status=error.status
        ) from error


def _other_version(path: str) -> str:
    return (
        " A service that only has the deprecated endpoint is asked with token_version=1."
        if path == TOKEN_PATHS[2]
        else ""
    )


def _credentials(settings: Settings) -> Secret:
    """Return the body of the call; what is not ASCII goes as JSON's own escapes."""
    return Secret(
        json.dumps(
            {
                "client_id": settings.client_id,
                "client_secret": settings.client_secret.reveal(),
                "grant_type": "client_credentials",
            }
        )
    )


def _failed(message: str, status: int) -> AuthenticationFailed:
    return AuthenticationFailed(
        f"The service did not accept the credentials.{says(message)} {_WHAT_TO_DO}", status=status
    )


@dataclass(frozen=True)
class _Answer:
    """What the service says to credentials: a token and the seconds that it lives, or a message without secrets."""

    token: Secret | None
    expires_in: float
    message: str


def _answer(reply: Reply, door: Transport) -> _Answer | None:
    """Read the answer to credentials; None where it is no JSON.

    Nothing is raised here: the error of a JSON reader, and this frame, hold the whole text, token and all.
    """
    try:
        fields = json.loads(reply.body, parse_int=whole)
    except (ValueError, RecursionError):
        return None
    if isinstance(fields, dict) and "access_token" not in fields and isinstance(fields.get("data"), dict):
        fields = fields["data"]
    if not isinstance(fields, dict):
        return _Answer(None, LONGEST_LIFETIME, "")
    text = fields.get("access_token")
    token = Secret(text) if isinstance(text, str) and text else None
    message = door.hide(str(fields.get("message") or ""))
    return _Answer(token, positive(fields.get("expires_in")) or LONGEST_LIFETIME, message)


def _check(token: Secret, status: int) -> None:
    """Make sure that a token can stand in a header, where a line break would begin another one."""
    odd = {sign for sign in token.reveal() if not "!" <= sign <= "~"}
    if not odd:
        return
    what = "line breaks" if odd & {"\r", "\n"} else "characters that no header may hold"
    raise AuthenticationFailed(
        f"The service sent an access token with {what}, so it cannot be sent back. Check the base URL, and whether "
        "a proxy changes replies; else tell the operators of the service.",
        status=status,
    )


LONGEST_LIFETIME = 2 * 60 * 60  # seconds


def claims_of(token: Secret) -> dict[str, Any]:
    """Read what a token says of itself; nothing where it is not the JSON Web Token that it should be."""
    try:
        payload = token.reveal().split(".")[1]
        text = base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))
        claims = json.loads(text, parse_int=whole)
    except (ValueError, LookupError, RecursionError):
        return {}
    return claims if isinstance(claims, dict) else {}


def lifetime_of(claims: dict[str, Any], now: float) -> float:
    """Read from the token for how many seconds it is valid; two hours when it says nothing, or more.

    Issue and end are compared with each other where both are given, so that a clock that is off does no harm.
    """
    end, begin = positive(claims.get("exp")), positive(claims.get("iat")) if "iat" in claims else now
    if end is None or begin is None or end <= begin:
        return LONGEST_LIFETIME
    return min(end - begin, LONGEST_LIFETIME)


def whole(digits: str) -> float:
    """Read an integer of any length: Python refuses those of several thousand digits."""
    return int(digits) if len(digits) < 100 else math.inf


def positive(value: object) -> float | None:
    """Return a finite number above zero, or None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if 0 < number < math.inf else None
