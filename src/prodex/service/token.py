"""The access token: requested once for all threads, renewed before it expires, never shown.

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
from dataclasses import dataclass, field
from typing import Any

from prodex.advice import Argument, advice
from prodex.errors import AuthenticationFailed, InputError, RequestRefused, SettingsError, UnexpectedReply
from prodex.network.retry import RetryableError, Retrying
from prodex.service.replies import Reply, is_web_page
from prodex.service.secret import Secret
from prodex.service.settings import Settings
from prodex.service.transport import Transport, quoted, raise_for_status
from prodex.written_numbers import stored_number

#: Version -> path of the token endpoint; version 1 is deprecated (spec, endpoints 1 and 2).
TOKEN_PATHS = {1: "/auth/v1/token", 2: "/auth/v2/token"}


@dataclass(frozen=True)
class Token:
    """An access token and its lifetime. All times are seconds since 1970.

    Attributes
    ----------
    text
        The token itself.
    renew_at
        When to renew it: somewhat before it expires, so that no call starts with a token that ends on the way.
    ends_at
        When it expires.
    subject
        Whom it was issued to, if it contains that.
    """

    text: Secret
    renew_at: float
    ends_at: float = 0
    subject: str | None = None


#: Seconds for which a new token is kept although it was refused: the nodes of a service learn of a token one after the
#: other. If it is refused after that, the next one is kept for twice as long.
_PATIENCE = 15.0


@dataclass(eq=False, repr=False)
class TokenSource:
    """Provides a valid access token to any number of threads.

    Parameters
    ----------
    fetch
        Requests a new token from the service.
    clock
        Seconds since 1970.

    Attributes
    ----------
    is_proven
        Whether a call has succeeded with a token of this access key.
    """

    fetch: Callable[[], Token]
    clock: Callable[[], float] = time.time
    is_proven: bool = field(default=False, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _token: Token | None = field(default=None, init=False)
    _pending: Future[Token] | None = field(default=None, init=False)
    _kept: tuple[float, float] = field(default=(-math.inf, 0.0), init=False)
    _given_up: Secret | None = field(default=None, init=False)

    @property
    def may_renew(self) -> bool:
        """Whether a refused token may be replaced: not while a new one is given time to become known."""
        until, _ = self._kept
        return self.clock() >= until

    def give_time(self) -> None:
        """Keep the token for a while, although the service refused it as soon as it was new.

        Another new token would be as unknown to the node of the service that refused this one, and every other node
        would have to learn of it, too.
        """
        with self._lock:
            now, (until, seconds) = self.clock(), self._kept
            if now >= until:
                is_again = now - until < seconds
                seconds = 2 * seconds if is_again else _PATIENCE
                self._kept = (now + seconds, seconds)

    def give_up(self, refused: Secret) -> None:
        """Remember a token that was refused until the time for it was over: the next call begins with another one."""
        with self._lock:
            self._given_up = refused

    def begin_call(self) -> None:
        """Forget a token that was given up; calls that are on their way keep it, since another would be as unknown."""
        with self._lock:
            if self._given_up is not None and self._token is not None and self._token.text == self._given_up:
                self._token, self._kept = None, (-math.inf, 0.0)
            self._given_up = None

    def current(self, *, rejected: Secret | None = None) -> Token:
        """Return a token with its lifetime.

        The first thread that needs a new one requests it; the others wait for that call and share its result, or its
        error: with wrong credentials, one call fails and not one for each thread.

        Parameters
        ----------
        rejected
            A token that the service rejected; only a different one is returned.
        """
        with self._lock:
            token = self._token
            if token is not None and token.text != rejected and self.clock() < token.renew_at:
                return token
            pending = self._pending
            if is_first := pending is None:
                pending = self._pending = Future()
        if is_first:
            self._request(pending)
        return pending.result()

    def _request(self, pending: Future[Token]) -> None:
        try:
            token = self.fetch()
        except BaseException as error:  # even a KeyboardInterrupt, or waiting threads would wait for ever
            with self._lock:
                self._pending = None
            pending.set_exception(error)
            raise
        with self._lock:
            self._token, self._pending = token, None
        pending.set_result(token)


def token_path(version: int) -> str:
    """Return the path of a token endpoint.

    Raises
    ------
    SettingsError
        When there is no such version.
    """
    if type(version) is not int or version not in TOKEN_PATHS:
        raise SettingsError(
            advice(
                "{argument} is {version}; give 2 for the endpoint {new}, or 1 for the deprecated {old}.",
                argument=Argument("token_version"),
                version=repr(version),
                new=TOKEN_PATHS[2],
                old=TOKEN_PATHS[1],
            )
        )
    return TOKEN_PATHS[version]


def request_token(
    transport: Transport,
    settings: Settings,
    retrying: Retrying,
    clock: Callable[[], float],
    path: str = TOKEN_PATHS[2],
) -> Token:
    """Request a token with client credentials.

    Raises
    ------
    AuthenticationFailed
        When the service rejects the credentials, or sends a token that cannot be used.
    """

    def attempt() -> Token:
        # Before the call: the lifetime may begin at any moment during it.
        requested_at = clock()
        reply = transport.send(
            "POST", path, body=_credentials(settings), headers={"Content-Type": "application/json"}
        )
        # A firewall in between answers 400 and 403 with a page of its own, and has seen no access key.
        if reply.status == 401 or (reply.status in (400, 403) and not is_web_page(reply.body)):
            raise _failed(reply.message, reply.status)
        raise_for_status(f"POST {path}", reply)
        answer = _parsed_answer(reply, transport)
        if answer is None:
            raise RetryableError(
                "the reply is not JSON. Check the base URL, and whether a proxy answers instead of the service.",
                kind=UnexpectedReply,
                status=reply.status,
            )
        if answer.token is None:
            # The spec shows no status for rejected credentials: some services answer 200 with a message and no token.
            raise _failed(answer.message, reply.status)
        _check_header_characters(answer.token, reply.status)
        claims = claims_of(answer.token)
        # The shorter of the two, since services were seen whose expires_in and claims disagree.
        lifetime = min(lifetime_of(claims, requested_at), answer.expires_in)
        subject = claims.get("sub")
        return Token(
            answer.token,
            # A minute early, but not more than a tenth of a short lifetime, or each call would renew the token.
            renew_at=requested_at + lifetime - min(60, lifetime / 10),
            ends_at=requested_at + lifetime,
            subject=str(subject) if isinstance(subject, str | int) else None,
        )

    try:
        return retrying.call(f"POST {path}", attempt)
    except RequestRefused as error:
        # Who has asked for version 1 already needs no hint to it.
        hint = " For a service that only has the deprecated endpoint, give {version}."
        refused = advice(
            "{error} Check the base URL." + hint * (path == TOKEN_PATHS[2]),
            error=error,
            version=Argument("token_version", 1),
        )
        raise RequestRefused(refused, status=error.status) from error


def _credentials(settings: Settings) -> Secret:
    """Return the request body; JSON escapes characters beyond ASCII."""
    given = {"client_id": settings.client_id, "client_secret": settings.client_secret.reveal()}
    return Secret(json.dumps({**given, "grant_type": "client_credentials"}))


def _failed(message: str, status: int) -> AuthenticationFailed:
    return AuthenticationFailed(
        f"The service rejected the credentials.{quoted(message)} Check client_id and client_secret; new access keys "
        "are made in the user's profile of the service.",
        status=status,
    )


@dataclass(frozen=True)
class _Answer:
    """The reply to credentials: a token with its lifetime in seconds, or a message without secrets."""

    token: Secret | None
    expires_in: float
    message: str


def _parsed_answer(reply: Reply, transport: Transport) -> _Answer | None:
    """Parse the reply to credentials; None if it is not JSON.

    Nothing is raised here: the error of the JSON parser and this frame contain the whole text, with the token.
    """
    try:
        fields = json.loads(reply.body, parse_int=parse_long_integer)
    except (ValueError, RecursionError):
        return None
    # Some services wrap every reply in an object `data`.
    if isinstance(fields, dict) and "access_token" not in fields and isinstance(fields.get("data"), dict):
        fields = fields["data"]
    if not isinstance(fields, dict):
        return _Answer(None, LONGEST_LIFETIME, "")
    text = fields.get("access_token")
    token = Secret(text) if isinstance(text, str) and text else None
    message = transport.hide(str(fields.get("message") or ""))
    return _Answer(token, positive(fields.get("expires_in")) or LONGEST_LIFETIME, message)


def _check_header_characters(token: Secret, status: int) -> None:
    """Make sure that a token fits into a header, where a line break would begin another header."""
    odd = {sign for sign in token.reveal() if not "!" <= sign <= "~"}
    if not odd:
        return
    what = "line breaks" if odd & {"\r", "\n"} else "characters that a header cannot contain"
    raise AuthenticationFailed(
        f"The service sent an access token with {what}, so it cannot be used. Check the base URL, and whether a "
        "proxy changes replies; otherwise contact the operators of the service.",
        status=status,
    )


#: Seconds (spec, Limits: "Access token lifetime: 2 hours"). A token that claims more is renewed after two hours too.
LONGEST_LIFETIME = 2 * 60 * 60


def claims_of(token: Secret) -> dict[str, Any]:
    """Return the claims of a JSON Web Token; none if it is not one: tokens may be opaque."""
    try:
        payload = token.reveal().split(".")[1]
        text = base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))
        claims = json.loads(text, parse_int=parse_long_integer)
    except (ValueError, LookupError, RecursionError):
        return {}
    return claims if isinstance(claims, dict) else {}


def lifetime_of(claims: dict[str, Any], now: float) -> float:
    """Return for how many seconds a token is valid: two hours if its claims say nothing, or more.

    Where both are given, the time of expiry is compared with the time of issue and not with this machine's clock, which
    may be hours off from the service's.
    """
    end, begin = positive(claims.get("exp")), positive(claims.get("iat")) if "iat" in claims else now
    if end is None or begin is None or end <= begin:
        return LONGEST_LIFETIME
    return min(end - begin, LONGEST_LIFETIME)


def parse_long_integer(digits: str) -> float:
    """Parse an integer of any length: Python raises a ValueError for more than 4,300 digits."""
    return int(digits) if len(digits) < 100 else math.inf


def positive(value: object) -> float | None:
    """Return a finite number above zero, or None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(stored_number(value) if isinstance(value, str) else value)
    except (InputError, OverflowError):
        return None
    return number if 0 < number < math.inf else None
