"""The one door to the network: send a request, judge the reply, let no secret out."""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from importlib.metadata import version
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urljoin, urlsplit

from prodex.errors import RedirectRefused, RequestRefused, ServiceUnreachable
from prodex.limits import REPLY, Limits, Meter
from prodex.network.response_body import past_limits, receive
from prodex.network.retry import RetryableError, http_date, retry_after
from prodex.service.rate_limit import RateLimit
from prodex.service.secret import Secret

if TYPE_CHECKING:
    import requests

logger = logging.getLogger("prodex")

_LONGEST_MESSAGE = 300
_MOST_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_JSON_WEB_TOKEN = re.compile(r"eyJ[\w-]+\.[\w-]+(?:\.[\w-]*)?")

# Where services put a sentence for the reader of an error.
_MESSAGE_KEYS = ("message", "error_description", "detail", "title", "error", "errors")

_WHEN_NOBODY_ANSWERS = (
    'Check the base URL and the network. A sandbox that has ended is started again by connect("sandbox").'
)

# Statuses of the 4xx range that tell of the moment, not of the request.
PASSING_STATUSES = frozenset({408, 425, 429})


@dataclass(frozen=True)
class Reply:
    """What came back for one request.

    Attributes
    ----------
    status
        HTTP status.
    body
        The body, decompressed.
    message
        What the service says in a reply that is no success, shortened and without secrets.
    date
        The service's clock (Date header), or None.
    retry_after
        The pause that the service asks for, in seconds, or None.
    """

    status: int
    body: bytes = field(repr=False)
    message: str
    date: datetime | None
    retry_after: float | None


class Transport:
    """Everything that prodex sends passes here.

    Parameters
    ----------
    base_url
        A base URL that was checked.
    session
        The way to the network; tests and unusual networks bring their own.
    timeout
        Seconds to wait for a connection, and for the next bytes of a reply.
    pace
        The limit on calls per second.
    limits
        What a reply may take.
    hidden
        Texts that no message may hold, if the service should echo them.
    """

    def __init__(
        self,
        base_url: str,
        session: requests.Session,
        timeout: float | tuple[float, float],
        pace: RateLimit,
        *,
        limits: Limits | None = None,
        hidden: tuple[Secret, ...] = (),
    ) -> None:
        self.base_url = base_url
        self._session = session
        self._timeout = timeout
        self._pace = pace
        self._limits = limits or Limits()
        self._hidden = hidden
        self._name = f"prodex/{version('prodex')}"

    def send(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: bytes | Secret | None = None,
        headers: Mapping[str, str] | None = None,
        bearer: Secret | None = None,
    ) -> Reply:
        """Send one request and return its reply, whatever its status.

        Parameters
        ----------
        body
            What is posted; as a `Secret` when it holds one.
        bearer
            The access token to send along.

        Raises
        ------
        RetryableError
            When no reply came, or only a part of one.
        RedirectRefused
            When the service points to another host, where the token must not go.
        """
        import requests

        url = self.base_url + path
        # requests would offer whatever it finds installed; what we ask for is what `limits` can unpack bit by bit.
        offered = {"Accept": "application/json", "Accept-Encoding": "gzip, deflate"}
        sent = {"User-Agent": self._name, **offered, **(headers or {})}
        for _ in range(_MOST_REDIRECTS):
            data = None if isinstance(body, Secret) else body
            secrets = _Secrets(bearer, body if isinstance(body, Secret) else None)
            request = requests.Request(method, url, sent, data=data, params=params, auth=secrets)
            response, content, elsewhere = self._send(request)
            if elsewhere is None:
                return self._reply(response, content, bearer)
            url, params = _redirected(request, response, elsewhere), None
        raise RedirectRefused(f"{method} {path} was redirected {_MOST_REDIRECTS} times. Check the base URL.")

    def _send(self, request: requests.Request) -> tuple[requests.Response, bytes, str | None]:
        """Send a request; return the reply, its body, and where it sends us."""
        import requests

        from prodex.network.connection_pool import Deadline, watch

        self._pace.wait()
        begin = time.monotonic()
        session, place = self._session, urlsplit(request.url)
        host = str(place.hostname)
        elsewhere: list[str] = []

        def take_location(response: requests.Response, **_: object) -> None:
            # requests would read the whole body of a redirect, and its address, though told not to follow it.
            location = response.headers.get("Location")
            if response.status_code in _REDIRECTS and location is not None:
                elsewhere.append(location)
                del response.headers["Location"]

        with Deadline(Meter(self._limits, REPLY, "connect")) as deadline:
            try:
                prepared = session.prepare_request(request)
                prepared.register_hook("response", take_location)  # type: ignore[no-untyped-call]
                options = session.merge_environment_settings(prepared.url, {}, True, None, None)
                watch(session, str(prepared.url), options["proxies"])
                response = session.send(prepared, timeout=self._timeout, allow_redirects=False, **options)
            except requests.RequestException as error:
                _forget_secrets(error)
                if deadline.is_over:
                    raise past_limits(deadline.meter.exceeded("seconds"), host) from error
                raise _setback(error, host) from error
            if not deadline.has_begun:  # a session with connections of its own
                deadline.begin(getattr(response.raw, "shutdown", None))
            content = receive(response, deadline, host)
        status, took = response.status_code, time.monotonic() - begin
        logger.debug("%s %s: %d, %d bytes in %.2f s", request.method, place.path, status, len(content), took)
        return response, content, next(iter(elsewhere), None)

    def _reply(self, response: requests.Response, content: bytes, bearer: Secret | None) -> Reply:
        failed = not 200 <= response.status_code < 300
        return Reply(
            status=response.status_code,
            body=content,
            message=self.hide(_message(content), bearer) if failed else "",
            date=http_date(response.headers.get("Date")),
            retry_after=retry_after(response.headers.get("Retry-After")),
        )

    def hide(self, text: str, bearer: Secret | None = None, longest: int = _LONGEST_MESSAGE) -> str:
        """Return a text of the service as it may be shown: without secrets, and not too long."""
        for secret in (*self._hidden, bearer):
            text = secret.hidden_in(text) if secret else text
        text = _JSON_WEB_TOKEN.sub("***", text)
        return text if len(text) <= longest else f"{text[:longest]}..."


class _Secrets:
    """Put token and secret body into a request; without a token, keep requests from sending what ~/.netrc holds.

    They come in here, at the last moment, so that no variable on the way holds them as text.
    """

    def __init__(self, token: Secret | None, body: Secret | None) -> None:
        self._token = token
        self._body = body

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._token is not None:
            request.headers["Authorization"] = f"Bearer {self._token.reveal()}"
        if self._body is not None:
            request.body = self._body.reveal().encode()
        return request


def _forget_secrets(error: BaseException) -> None:
    """Take the request, and the frames in which it stood, from an error and from all that led to it.

    Tools that show the variables of a traceback would else show token and secret.
    """
    waiting: list[object] = [error]
    seen: set[int] = set()
    while waiting:
        each = waiting.pop()
        if not isinstance(each, BaseException) or id(each) in seen:
            continue
        seen.add(id(each))
        each.__traceback__ = None
        for name in ("request", "response"):
            if getattr(each, name, None) is not None:
                setattr(each, name, None)
        waiting += [each.__cause__, each.__context__, getattr(each, "reason", None), *each.args]


def _redirected(request: requests.Request, response: requests.Response, location: str) -> str:
    """Return where a reply sends us, if that is within the same host and keeps the method."""
    here = urlsplit(request.url)
    try:
        there = urlsplit(urljoin(request.url, location))
    except ValueError as error:
        raise RedirectRefused(f"{here.hostname} points to an address that cannot be read.") from error
    if _origin(here) != _origin(there) or there.username is not None:
        raise RedirectRefused(
            f"{here.hostname} points to {there.scheme}://{there.hostname}, where no token may go. If that "
            "is the service, give it as the base URL.",
            status=response.status_code,
        )
    if request.method != "GET" and response.status_code not in (307, 308):
        raise RedirectRefused(
            f"{here.hostname} answered {request.method} {here.path} with {response.status_code} and "
            "another address, which would turn it into a GET. Check the base URL.",
            status=response.status_code,
        )
    return str(there._replace(netloc=here.netloc, fragment="").geturl())


def says(message: str) -> str:
    """Put the words of the service into a sentence of ours; nothing where it says nothing.

    >>> says("No such key."), says("")
    (' It says: No such key.', '')
    """
    return f" It says: {message.removesuffix('.')}." if message else ""


def refuse(what: str, reply: Reply) -> None:
    """Raise what the status of a reply calls for; return when it is a success.

    Raises
    ------
    RetryableError
        For 429, 5xx and the like.
    RequestRefused
        For any other 4xx, with the service's own words.
    """
    if 200 <= reply.status < 300:
        return
    if 400 <= reply.status < 500 and reply.status not in PASSING_STATUSES:
        raise RequestRefused(
            f"The service refused {what} with HTTP {reply.status}.{says(reply.message)}", status=reply.status
        )
    raise RetryableError(
        f"HTTP {reply.status}.{says(reply.message)}",
        kind=ServiceUnreachable,
        status=reply.status,
        retry_after=reply.retry_after,
        untouched=reply.status == 429,
    )


def _origin(url: SplitResult) -> tuple[str, str | None, int | None]:
    try:
        port = url.port
    except ValueError:
        port = -1
    return url.scheme, url.hostname, port or {"https": 443, "http": 80}.get(url.scheme)


def _setback(error: requests.RequestException, host: str | None) -> RetryableError | ServiceUnreachable:
    """Say in plain words what went wrong on the way."""
    import requests
    from urllib3.exceptions import MaxRetryError, NewConnectionError

    problem: RetryableError | ServiceUnreachable
    match error:
        case requests.exceptions.SSLError():
            problem = ServiceUnreachable(
                f"The certificate of {host} was not accepted. Behind a company proxy, point "
                "REQUESTS_CA_BUNDLE to its certificate; else check the base URL."
            )
        case requests.ConnectTimeout():
            problem = RetryableError(
                f"{host} did not take the connection in time. Check the network.", untouched=True
            )
        case requests.Timeout():
            problem = RetryableError(
                f"{host} did not answer in time. A smaller page_size or a longer timeout may help."
            )
        case requests.ConnectionError(args=(MaxRetryError(reason=NewConnectionError()), *_)):
            problem = RetryableError(f"no connection to {host}. {_WHEN_NOBODY_ANSWERS}", untouched=True)
        case requests.ConnectionError() | requests.exceptions.ChunkedEncodingError():
            problem = RetryableError(f"the connection to {host} broke before the whole reply had come.")
        case _:
            problem = ServiceUnreachable(
                f"{host} cannot be asked ({type(error).__name__}). Check the base URL."
            )
    return problem


def _message(body: bytes) -> str:
    """Find the sentence that the service meant for us, in JSON of any form or in text."""
    text = body.decode("utf-8", "replace").strip()
    if text[:1] == "<":
        return "a web page, so a proxy seems to have answered instead of the service"
    try:
        said = json.loads(text)
        while isinstance(said, dict) and (key := next((key for key in _MESSAGE_KEYS if said.get(key)), None)):
            said = said[key]
        return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text
