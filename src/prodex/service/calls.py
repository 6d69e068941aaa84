"""Calls with an access token: what all protected endpoints share - token, rate limit, retries, error messages."""

from __future__ import annotations

import copy
import hashlib
import math
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeVar

from prodex import locales
from prodex.arguments import described
from prodex.display_text import on_one_line
from prodex.errors import (
    AuthenticationFailed,
    IdentifierUnreadable,
    ServiceUnreachable,
    SettingsError,
    UnexpectedReply,
)
from prodex.limits import Limits
from prodex.network.addresses import is_loopback
from prodex.network.retry import RetryableError, Retrying, RetryPolicy
from prodex.service.rate_limit import RateLimit
from prodex.service.replies import refusal, tracking_record
from prodex.service.secret import Secret
from prodex.service.settings import Settings
from prodex.service.token import TokenSource, request_token, token_path
from prodex.service.transport import Reply, Transport, quoted, raise_for_status

if TYPE_CHECKING:
    import requests

#: Calls per second to a remote service, as its operators recommend.
_CALLS_PER_SECOND = 2.0

T = TypeVar("T")


class ProtectedCalls:
    """What all endpoints share; `prodex.service.client.Client` adds them and documents the parameters."""

    def __init__(
        self,
        settings: Settings,
        *,
        accept_language: str | None = None,
        timeout: float | tuple[float, float] = (10, 120),
        calls_per_second: float | None = None,
        retry: RetryPolicy | None = None,
        limits: Limits | None = None,
        session: requests.Session | None = None,
        token_version: int = 2,
        clock: Callable[[], float] = time.time,
    ) -> None:
        import requests

        if not isinstance(settings, Settings):
            raise SettingsError(
                f'A Client is made by prodex.connect("sandbox") or prodex.connect(); settings is {described(settings)}.'
            )
        path = token_path(token_version)
        local = is_loopback(settings.base_url)
        if session is None:
            session = requests.Session()
            for scheme in ("https://", "http://"):
                # More than windows in parallel: with the default of 10, requests would discard and reopen some.
                session.mount(scheme, requests.adapters.HTTPAdapter(pool_maxsize=32))
            session.trust_env = not local  # a proxy cannot reach the loopback of this machine
        # The operators recommend 2 calls a second; for the sandbox that would only make tests slow.
        if calls_per_second is None:
            calls_per_second = math.inf if local else _CALLS_PER_SECOND
        if not calls_per_second > 0:
            raise SettingsError(f"calls_per_second is {calls_per_second}; give a positive number.")
        self.accept_language: str | None = (
            None if accept_language is None else locales.language_tag(accept_language)
        )
        self._settings = settings
        self._clock = clock
        self._retrying = Retrying(retry or RetryPolicy(), setting="connect")
        self._transport = Transport(
            settings.base_url,
            session,
            timeout,
            RateLimit(calls_per_second),
            limits or Limits(),
            hidden=(settings.client_secret,),
        )
        self._tokens = TokenSource(
            lambda: request_token(self._transport, settings, self._retrying, clock, path), clock
        )
        # Set when the first call of a load has succeeded; None outside of a load.
        self._load: threading.Event | None = None

    @property
    def fingerprint(self) -> str:
        """A digest of the client id: compares access keys without showing them."""
        return hashlib.sha256(self._settings.client_id.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    @property
    def base_url(self) -> str:
        """Base URL of the service."""
        return self._settings.base_url

    @property
    def settings_sources(self) -> Mapping[str, str]:
        """Where base_url, client_id and client_secret were found, in words."""
        return dict(self._settings.sources)

    def with_language(self, accept_language: str) -> Self:
        """Return a client that requests labels in another language; token, rate limit and connections are shared.

        Examples
        --------
        >>> from prodex.service import Client
        >>> client = Client(Settings("https://api.example.com", "key", "secret"))
        >>> client.with_language("French")
        <Client https://api.example.com key k..., labels in fr>
        """
        other = copy.copy(self)
        other.accept_language = locales.language_tag(accept_language)
        return other

    def for_load(self) -> Self:
        """Return a client for one load: after its first success, reads are tried again for longer.

        Token, rate limit, connections and the budget of retries are shared. A load that has begun survives a restart of
        the service (`RetryPolicy.load_seconds`); one that cannot begin fails soon (`RetryPolicy.seconds`).

        Examples
        --------
        >>> import prodex
        >>> service = prodex.connect("sandbox")
        >>> service.for_load()
        <Client http://127.0.0.1:...>
        """
        other = copy.copy(self)
        other._load = threading.Event()
        return other

    def without_secrets(self, text: str) -> str:
        """Return a text of the service for a message: without secrets, and shortened.

        Examples
        --------
        >>> import prodex
        >>> service = prodex.connect("sandbox")
        >>> service.without_secrets("nothing secret")
        'nothing secret'
        """
        return self._transport.hide(text)

    def token_facts(self) -> tuple[str | None, float]:
        """Connect, and return the subject of the access token (None if it has none) and the seconds until it expires.

        Examples
        --------
        >>> import prodex
        >>> service = prodex.connect("sandbox")
        >>> subject, seconds = service.token_facts()
        >>> 0 < seconds <= 7200
        True
        """
        token = self._tokens.current()
        return token.subject, token.ends_at - self._clock()

    def call(
        self,
        method: str,
        path: str,
        *,
        decode: Callable[[Reply], T],
        params: Mapping[str, str] | None = None,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        idempotent: bool = True,
    ) -> T:
        """Make one protected call, with token, rate limit and retries; every endpoint uses this method.

        Parameters
        ----------
        decode
            Converts a successful reply to the result. An `UnexpectedReply` that it raises is tried again: truncated
            JSON and web pages of proxies often disappear.
        idempotent
            False for a write, which is only repeated when the service cannot have processed it.

        Examples
        --------
        >>> import prodex
        >>> service = prodex.connect("sandbox")
        >>> service.call("GET", "/public/v1/products", decode=lambda reply: reply.status, params={"limit": "1"})
        200
        """
        what = f"{method} {path}"
        send = partial(self._transport.send, method, path, params=params, body=body, headers=headers)

        def attempt() -> T:
            token = self._token()
            reply = send(bearer=token)
            is_kept = not self._tokens.may_renew
            if self._refusal(reply, token, decode) is not None and not is_kept:
                # The service does nothing for an unknown caller, so even a write is sent again.
                token = self._token(rejected=token)
                reply = send(bearer=token)
            if (message := self._refusal(reply, token, decode)) is not None:
                problem = (
                    f"The service rejected a new token for {what}.{quoted(message)} The access "
                    "key may have been revoked; check it in the user's profile of the service."
                )
                # Nobody waits in front of a panel, or with a wrong key; a load or a write would end half done.
                if not self._tokens.is_proven or (idempotent and not self._is_in_load()):
                    raise AuthenticationFailed(problem, status=reply.status)
                self._tokens.give_time()
                raise RetryableError(
                    problem, kind=AuthenticationFailed, status=reply.status, not_processed=True
                )
            raise_for_status(what, reply)
            self._tokens.is_proven = True
            try:
                return decode(reply)
            except IdentifierUnreadable as error:
                answer = self._transport.hide(error.answer, token, 1_000)
                words = f"It says: {answer}" if answer else "It is empty."
                raise IdentifierUnreadable(f"{error} {words}", status=error.status, answer=answer) from None
            except UnexpectedReply as error:
                problem = self._transport.hide(str(error), token)
            # Raised outside of the handler: the error of a JSON parser contains the whole text that it could not read,
            # and would become the context of this one.
            raise RetryableError(problem, kind=UnexpectedReply, status=reply.status)

        result = self._retrying.call(what, attempt, idempotent=idempotent, in_load=self._is_in_load)
        if self._load is not None:
            self._load.set()
        return result

    def _token(self, *, rejected: Secret | None = None) -> Secret:
        try:
            return self._tokens.current(rejected=rejected).text
        except (ServiceUnreachable, UnexpectedReply) as error:
            if not self._is_in_load():
                raise
            # The token call was tried for `seconds`, by this thread or another; a load continues for `load_seconds`.
            raise RetryableError(
                str(error), kind=type(error), status=error.status, not_processed=True
            ) from error

    def _is_in_load(self) -> bool:
        return self._load is not None and self._load.is_set()

    def _refusal(self, reply: Reply, token: Secret, decode: Callable[[Reply], Any]) -> str | None:
        message = refusal(reply, of_tracking=decode is tracking_record)
        return None if message is None else self._transport.hide(message, token)

    def __repr__(self) -> str:
        key = self._settings.client_id
        labels = f", labels in {self.accept_language}" if self.accept_language else ""
        return on_one_line(
            f"<{type(self).__name__} {self.base_url} key {key[: min(4, len(key) // 3)]}...{labels}>"
        )
