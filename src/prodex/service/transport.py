"""The transport to the service: sends a request, reads the reply, and keeps secrets out of messages and errors."""

from __future__ import annotations

import codecs
import logging
import math
import re
import threading
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from email.message import Message
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urljoin, urlsplit

from prodex.advice import PythonCall, advice
from prodex.encodings import in_utf8
from prodex.errors import RedirectRefused, RequestRefused, ServiceUnreachable, UnexpectedReply
from prodex.files.unpacking import codings, unpacked
from prodex.limits import REPLY, LimitExceeded, Limits, Meter
from prodex.network.addresses import MOST_REDIRECTS, REDIRECTS, shortened
from prodex.network.causes import Cause, cause_of, wrapped
from prodex.network.retry import RETRYABLE_STATUSES, RetryableError, http_date, retry_after
from prodex.service.replies import Reply, message_of
from prodex.service.secret import Secret

if TYPE_CHECKING:
    import requests

logger: logging.Logger = logging.getLogger("prodex")

_LONGEST_MESSAGE = 300
#: Of an error reply only a sentence for the message is needed.
_ERROR_LIMITS = Limits(wire_bytes=1_000_000, unpacked_bytes=1_000_000)
_JSON_WEB_TOKEN = re.compile(r"eyJ[\w-]+\.[\w-]+(?:\.[\w-]*)?")

_UNREACHABLE = "{problem}. Check the base URL and the network. {sandbox} restarts a sandbox that has ended."


@dataclass(eq=False)
class RateLimit:
    """Starts calls at a steady rate, as the operators of the service ask for (at most 2 a second).

    Each call reserves the next free moment and waits for it outside the lock, so that threads queue without blocking
    each other. All times are in seconds.

    Parameters
    ----------
    calls_per_second
        The rate; `math.inf` for no limit.
    clock, sleep
        For tests.
    """

    calls_per_second: float
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    _next: float = field(default=-math.inf, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def wait(self) -> None:
        """Return when the caller may start its call."""
        with self._lock:
            now = self.clock()
            # Moments that nobody used are not saved up: a burst after a pause would exceed the rate.
            start = max(now, self._next)
            self._next = start + 1 / self.calls_per_second
        if start > now:
            self.sleep(start - now)


@dataclass(eq=False, repr=False)
class Transport:
    """Sends every request of prodex to the service.

    Parameters
    ----------
    base_url
        A base URL that `checked_base_url` accepted.
    session
        The `requests` session; tests and unusual networks pass their own.
    timeout
        Seconds to wait for a connection, and for the next bytes of a reply.
    rate_limit
        The limit on calls per second.
    limits
        Time and size of a reply.
    hidden
        Secrets that the service might repeat in a message.

    Attributes
    ----------
    last_date
        The service's clock (Date header) in the last reply, None if that had none; None before the first one.
    """

    base_url: str
    session: requests.Session
    timeout: float | tuple[float, float]
    rate_limit: RateLimit
    limits: Limits = field(default_factory=Limits)
    hidden: tuple[Secret, ...] = ()
    last_date: datetime | None = field(default=None, init=False)

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
            The request body; a `Secret` when it contains one.
        bearer
            The access token.

        Raises
        ------
        RetryableError
            When there is no reply, or only a part of one.
        RedirectRefused
            When the reply redirects to another host, which must not get the token.
        """
        import requests

        from prodex.network.http_adapter import USER_AGENT

        url = self.base_url + path
        # requests would also offer br and zstd where they are installed; only these can be unpacked within the limits.
        offered = {"Accept": "application/json", "Accept-Encoding": "gzip, deflate"}
        sent = {"User-Agent": USER_AGENT, **offered, **(headers or {})}
        for _ in range(MOST_REDIRECTS):
            data = None if isinstance(body, Secret) else body
            secrets = _SecretAuth(bearer, body if isinstance(body, Secret) else None)
            request = requests.Request(method, url, sent, data=data, params=params, auth=secrets)
            response, content, location = self._send(request)
            if location is None:
                return self._reply(response, content, bearer)
            url, params = _redirected(request, response, location), None
        raise RedirectRefused(f"{method} {path} was redirected {MOST_REDIRECTS} times. Check the base URL.")

    def _send(self, request: requests.Request) -> tuple[requests.Response, bytes, str | None]:
        """Send a request; return the reply, its body, and the Location of a redirect."""
        import requests
        from urllib3.exceptions import LocationValueError

        from prodex.network.http_adapter import LimitedCall, limit_replies

        self.rate_limit.wait()
        begin = time.monotonic()
        session, place = self.session, urlsplit(request.url)
        host = str(place.hostname)
        locations: list[str] = []

        def take_location(response: requests.Response, **_: object) -> None:
            # With a Location, requests prepares the next request even with allow_redirects=False, and to do so reads
            # the whole body, without a limit.
            location = response.headers.get("Location")
            if response.status_code in REDIRECTS and location is not None:
                locations.append(location)
                del response.headers["Location"]

        call = LimitedCall(Meter(self.limits, REPLY, "connect"))
        with call.under_way():
            try:
                prepared = session.prepare_request(request)
                prepared.register_hook("response", take_location)  # type: ignore[no-untyped-call]
                # `Session.send` alone does not read proxies and certificates from the environment.
                options = session.merge_environment_settings(prepared.url, {}, True, None, None)
                limit_replies(session, prepared, options)
                response = session.send(prepared, timeout=self.timeout, allow_redirects=False, **options)
            except (requests.RequestException, LocationValueError, LimitExceeded) as error:
                _forget_secrets(error)
                # What cannot be sent is quoted by its error: the address of a proxy with its password, or a header.
                is_quoted = cause_of(error) is Cause.NOT_CALLABLE
                raise _failure(error, host) from (None if is_quoted else error)
            content = _received(response, call.meter, host)
        status, took = response.status_code, time.monotonic() - begin
        logger.debug("%s %s: %d, %d bytes in %.2f s", request.method, place.path, status, len(content), took)
        return response, content, next(iter(locations), None)

    def _reply(self, response: requests.Response, content: bytes, bearer: Secret | None) -> Reply:
        failed = not 200 <= response.status_code < 300
        body = in_utf8(content, _charset(response.headers.get("Content-Type")))
        self.last_date = date = http_date(response.headers.get("Date"))
        return Reply(
            status=response.status_code,
            body=body,
            message=self.hide(message_of(body), bearer) if failed else "",
            date=date,
            retry_after=retry_after(response.headers.get("Retry-After"), now=date),
        )

    def hide(self, text: str, bearer: Secret | None = None, longest: int = _LONGEST_MESSAGE) -> str:
        """Return a text of the service for a message: without secrets, and shortened."""
        for secret in (*self.hidden, bearer):
            text = secret.hidden_in(text) if secret else text
        text = _JSON_WEB_TOKEN.sub("***", text)
        return text if len(text) <= longest else f"{text[:longest]}..."


@dataclass(eq=False, repr=False)
class _SecretAuth:
    """Adds token and secret body to a request; without a token, keeps requests from sending credentials of ~/.netrc.

    They are added at the last moment, so that no variable of a traceback has them as text.
    """

    token: Secret | None
    body: Secret | None

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self.token is not None:
            request.headers["Authorization"] = f"Bearer {self.token.reveal()}"
        if self.body is not None:
            request.body = self.body.reveal().encode()
        return request


def _forget_secrets(error: BaseException) -> None:
    """Remove the request and the traceback from an error and from all errors that led to it.

    Tools that show the variables of a traceback would show token and secret.
    """
    for each in wrapped(error, "__cause__", "__context__"):
        each.__traceback__ = None
        for name in ("request", "response"):
            if getattr(each, name, None) is not None:
                setattr(each, name, None)


def _redirected(request: requests.Request, response: requests.Response, location: str) -> str:
    """Return where a redirect leads, if that is the same host and keeps the method."""
    here = urlsplit(request.url)
    try:
        there = urlsplit(urljoin(request.url, location))
    except ValueError as error:
        raise RedirectRefused(f"{here.hostname} redirects to an address that cannot be parsed.") from error
    if _url_origin(here) != _url_origin(there) or there.username is not None:
        raise RedirectRefused(
            f"{here.hostname} redirects to {there.scheme}://{there.hostname}, which must not get the token. If that is "
            "the service, give it as the base URL.",
            status=response.status_code,
        )
    # By other redirects than 307 and 308, clients turn a POST into a GET, and the filters or products are lost.
    if request.method != "GET" and response.status_code not in (307, 308):
        raise RedirectRefused(
            f"{here.hostname} answered {request.method} {here.path} with {response.status_code} and "
            "a redirect, which would turn it into a GET. Check the base URL.",
            status=response.status_code,
        )
    # With our own spelling of the host: the service closes connections to an explicit port (spec).
    return str(there._replace(netloc=here.netloc, fragment="").geturl())


def quoted(message: str) -> str:
    """Return a sentence that quotes the message of the service; "" where there is none.

    >>> quoted("No such key."), quoted("")
    (' It says: No such key.', '')
    """
    return f" It says: {message.removesuffix('.')}." if message else ""


def raise_for_status(what: str, reply: Reply) -> None:
    """Raise the error for the status of a reply; return when it is a success.

    Raises
    ------
    RetryableError
        For 429, 5xx and the like.
    RequestRefused
        For any other 4xx, with the message of the service.
    """
    if 200 <= reply.status < 300:
        return
    if 400 <= reply.status < 500 and reply.status not in RETRYABLE_STATUSES:
        raise RequestRefused(
            f"The service refused {what} with HTTP {reply.status}.{quoted(reply.message)}",
            status=reply.status,
        )
    raise RetryableError(
        f"HTTP {reply.status}.{quoted(reply.message)}",
        kind=ServiceUnreachable,
        status=reply.status,
        retry_after=reply.retry_after,
        not_processed=reply.status == 429,
    )


def _charset(content_type: str | None) -> str | None:
    """Return the encoding that a header states.

    >>> _charset('application/json; charset="ISO-8859-1"'), _charset("application/json"), _charset(None)
    ('iso-8859-1', None, None)
    """
    message = Message()
    message["Content-Type"] = content_type or ""
    return message.get_content_charset()


def _url_origin(url: SplitResult) -> tuple[str, str | None, int | None]:
    try:
        port = url.port
    except ValueError:
        port = -1
    return url.scheme, url.hostname, port or {"https": 443, "http": 80}.get(url.scheme)


def _received(response: requests.Response, meter: Meter, host: str) -> bytes:
    """Return the body of a reply, without the byte order mark that some services write before JSON.

    An error reply whose body cannot be received has an empty body: its status is enough.

    Raises
    ------
    RetryableError
        When it is not complete, not in time, or not within the limits.
    """
    failed = not 200 <= response.status_code < 300
    if failed:
        meter.limits = replace(_ERROR_LIMITS, seconds=meter.limits.seconds)
    try:
        return _body(response, meter, host).removeprefix(codecs.BOM_UTF8)
    except RetryableError:
        if not failed:
            raise
        return b""
    finally:
        response.close()


def _body(response: requests.Response, meter: Meter, host: str) -> bytes:
    from urllib3.exceptions import HTTPError

    from prodex.network.http_adapter import chunks

    status, header = response.status_code, response.headers.get("Content-Encoding", "")
    encodings = codings(header)
    if encodings is None:
        raise RetryableError(
            f"the reply of {host} has the Content-Encoding {shortened(header)!r}, which was not requested. A "
            "proxy may have added it.",
            kind=UnexpectedReply,
            status=status,
        )
    if response.raw is None or getattr(response, "_content_consumed", False):
        return response.content  # a session or a hook of the user has read it
    try:
        return b"".join(unpacked(chunks(response.raw), encodings, meter, may_be_more=True))
    except (LimitExceeded, HTTPError, OSError) as error:
        raise _failure(error, host, status) from error
    except zlib.error as error:
        raise RetryableError(f"the reply of {host} could not be decompressed.") from error


def _failure(error: Exception, host: str, status: int | None = None) -> RetryableError | ServiceUnreachable:
    """Return the error to raise: a `RetryableError` where another attempt may succeed."""
    if isinstance(error, LimitExceeded):
        # A late reply may be faster next time, a large one stays large.
        if error.limit == "seconds":
            return RetryableError(f"the reply of {host} did not end in time: {error}.", status=status)
        return RetryableError(
            f"the reply of {host} is too large: {error}. A smaller page_size may help.",
            kind=UnexpectedReply,
            status=status,
            is_transient=False,
        )
    cause = cause_of(error)
    problem = cause.format(host=host)
    match cause:
        case Cause.CERTIFICATE:
            return ServiceUnreachable(
                f"{problem}. Behind a company proxy, point REQUESTS_CA_BUNDLE to its certificate; else check the base "
                "URL."
            )
        case Cause.NO_CONNECTION:
            sandbox = PythonCall('connect("sandbox")')
            return RetryableError(advice(_UNREACHABLE, problem=problem, sandbox=sandbox), not_processed=True)
        case Cause.NOT_ACCEPTED:
            return RetryableError(f"{problem}. Check the network.", not_processed=True)
        case Cause.LATE:
            return RetryableError(
                f"{problem}. Fewer products in a call (page_size, batch_size) or a longer timeout may help."
            )
        case Cause.BROKEN:
            return RetryableError(f"{problem} before the reply was complete.")
        case Cause.NOT_CALLABLE:
            return ServiceUnreachable(
                f"{problem} ({type(error).__name__}). Check the base URL, and the proxies of the session or of the "
                "environment (HTTPS_PROXY)."
            )
