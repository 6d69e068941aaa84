"""The endpoints of the service, one method each."""

from __future__ import annotations

import copy
import hashlib
import json
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeVar

from prodex import clock, locales
from prodex.arguments import described, whole_number
from prodex.errors import (
    AuthenticationFailed,
    CursorLost,
    IdentifierUnreadable,
    RequestRefused,
    ServiceUnreachable,
    SettingsError,
    UnexpectedReply,
)
from prodex.limits import Limits
from prodex.network.addresses import is_loopback
from prodex.network.retry import RetryableError, Retrying, RetryPolicy
from prodex.phrases import counted
from prodex.query import ProductQuery
from prodex.service.paging import ProductPage, announced
from prodex.service.replies import (
    Reply,
    anything,
    canonical,
    json_value,
    refusal,
    tracking_identifier,
    tracking_record,
)
from prodex.service.secret import Secret
from prodex.service.settings import Settings
from prodex.service.token import TokenSource, request_token, token_path
from prodex.service.transport import RateLimit, Transport, quoted, raise_for_status
from prodex.tables import envelope
from prodex.untrusted_text import on_one_line

if TYPE_CHECKING:
    import requests


#: Calls per second to a remote service, as its operators recommend.
_CALLS_PER_SECOND = 2.0

T = TypeVar("T")

LIST_PATH = "/public/v1/products"
SEARCH_PATH = "/public/v1/products/list"
TRACK_PATH = "/public/v1/products/track"
ORGANIZATION_PATH = "/auth/v2/organization"
SEGMENT_PATH = "/core/v3/productsegments/hierarchy"
RULESET_PATH = "/public/v1/validation/rulesets/require"

# Statuses that, in a call with a cursor, are about the cursor: the same filters were accepted one call before.
_CURSOR_STATUSES = frozenset({400, 404, 409, 410, 422})

Filters = ProductQuery | Mapping[str, Any]


class Client:
    """A product data exchange service. Threads may share it.

    Make one with `prodex.connect`.

    Parameters
    ----------
    settings
        Base URL and credentials.
    accept_language
        Language of the labels of code values ("fr-FR"); US English when None.
    timeout
        Seconds to wait for a connection, and for the next bytes of a reply.
    calls_per_second
        Limit of calls to the service, retries and token calls included; None for 2 to a remote service and no limit on
        this machine, `math.inf` for no limit.
    retry
        For how long a failed call is tried again.
    limits
        The most seconds and bytes of one reply.
    session
        The `requests` session for all calls.
    token_version
        2, or 1 for a service that only has the deprecated token endpoint.
    clock
        Seconds since 1970; decides when the token is renewed.

    Examples
    --------
    >>> import prodex
    >>> service = prodex.connect("sandbox")
    >>> service.count(prodex.ProductQuery(target_market=250)) <= service.count()
    True
    """

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

        from prodex.network.http_adapter import LimitedAdapter

        if not isinstance(settings, Settings):
            raise SettingsError(
                f'A Client is made by prodex.connect("sandbox") or prodex.connect(); settings is {described(settings)}.'
            )
        path = token_path(token_version)
        local = is_loopback(settings.base_url)
        if session is None:
            session = requests.Session()
            for scheme in ("https://", "http://"):
                session.mount(scheme, LimitedAdapter())
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

    def __repr__(self) -> str:
        key = self._settings.client_id
        labels = f", labels in {self.accept_language}" if self.accept_language else ""
        return on_one_line(
            f"<{type(self).__name__} {self.base_url} key {key[: min(4, len(key) // 3)]}...{labels}>"
        )

    @property
    def fingerprint(self) -> str:
        """A digest of the client id: compares access keys without showing them."""
        return hashlib.sha256(self._settings.client_id.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    @property
    def last_date(self) -> datetime | None:
        """The service's clock (UTC) in its last reply; None if that had no date, or before the first one."""
        return self._transport.last_date

    @property
    def base_url(self) -> str:
        """Base URL of the service."""
        return self._settings.base_url

    @property
    def settings_sources(self) -> Mapping[str, str]:
        """Where base_url, client_id and client_secret were found, in words."""
        return dict(self._settings.sources)

    def with_language(self, accept_language: str | None) -> Self:
        """Return a client that requests labels in another language; token, rate limit and connections are shared.

        None is the service's own, US English.

        Examples
        --------
        >>> from prodex.service import Client
        >>> client = Client(Settings("https://api.example.com", "key", "secret"))
        >>> client.with_language("French")
        <Client https://api.example.com key k..., labels in fr>
        """
        other = copy.copy(self)
        other.accept_language = None if accept_language is None else locales.language_tag(accept_language)
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

    def list_products(
        self,
        query: Filters | None = None,
        *,
        limit: int | None = None,
        offset: int | None = None,
        next_page: str | None = None,
        received: int | None = None,
        accept_language: str | None = None,
    ) -> ProductPage:
        """List products by GET (spec, endpoint 4), one page.

        No more than 500 products can be reached this way, 4,000 with `source_include`;
        `search_products` reaches all.

        Parameters
        ----------
        query
            A `ProductQuery`, or query parameters under their wire names.
        limit, offset
            ProductPage size (20 when None, 500 at most) and index of the first product.
        next_page
            Cursor of the previous page.
        received
            How many products the earlier pages had; `offset` when None. A page whose `data` is null is an empty page
            only if no more products are announced.
        accept_language
            Language of labels, when other than the client's.

        Raises
        ------
        ServiceError
            See `prodex.errors` for the kinds.

        Examples
        --------
        >>> import prodex
        >>> service = prodex.connect("sandbox")
        >>> len(service.list_products(limit=2))
        2
        """
        params = query.to_params() if isinstance(query, ProductQuery) else dict(query or {})
        paging: dict[str, Any] = {"limit": limit, "offset": offset, "next_page": next_page or None}
        return self._products("GET", LIST_PATH, params, accept_language, received, **paging)

    def rich_content(
        self,
        query: Filters | None = None,
        *,
        limit: int | None = None,
        offset: int | None = None,
        next_page: str | None = None,
        received: int | None = None,
        accept_language: str | None = None,
    ) -> ProductPage:
        """List GTIN, id and assets of products by GET (spec, endpoint 6), one page.

        The parameters are those of `list_products`; fields that the query includes or excludes are replaced. No more
        than 4,000 products can be reached. In the reply, `id` is a string.

        Examples
        --------
        >>> import prodex
        >>> service = prodex.connect("sandbox")
        >>> len(service.rich_content(limit=2))
        2
        """
        query = query if isinstance(query, ProductQuery) else ProductQuery.from_body(query or {})
        paging: dict[str, Any] = {"limit": limit, "offset": offset, "next_page": next_page}
        params = query.to_rich_content_params()
        return self.list_products(params, **paging, received=received, accept_language=accept_language)

    def search_products(
        self,
        query: Filters | None = None,
        *,
        limit: int | None = None,
        offset: int | None = None,
        next_page: str | None = None,
        received: int | None = None,
        accept_language: str | None = None,
    ) -> ProductPage:
        """Search products by POST (spec, endpoint 5), one page.

        Parameters
        ----------
        query
            A `ProductQuery`, or a body under wire names.
        limit, offset
            ProductPage size (20 when None, 500 at most) and index of the first product.
        next_page
            "" on the first call of a scroll, then the cursor of the previous page.
        received
            How many products the earlier pages had; `offset` when None. A page whose `data` is null is an empty page
            only if no more products are announced.
        accept_language
            Language of labels, when other than the client's.

        Raises
        ------
        CursorLost
            When the service no longer knows the cursor: the scroll has to start again.
        ServiceError
            See `prodex.errors` for the other kinds.

        Examples
        --------
        >>> import prodex
        >>> service = prodex.connect("sandbox")
        >>> page = service.search_products(prodex.ProductQuery(target_market=250), limit=2)
        >>> len(page) <= page.total_results
        True
        """
        body = query.to_body() if isinstance(query, ProductQuery) else dict(query or {})
        paging: dict[str, Any] = {"limit": limit, "offset": offset, "next_page": next_page}
        return self._products("POST", SEARCH_PATH, body, accept_language, received, **paging)

    def count(self, query: ProductQuery | None = None) -> int:
        """Return the number of products that match, without loading them.

        Examples
        --------
        >>> import prodex
        >>> service = prodex.connect("sandbox")
        >>> service.count() >= service.count(prodex.ProductQuery(has_packshot=True))
        True
        """
        # GTINs beyond the limit of one call are counted in several, which never overlap.
        parts = (query or ProductQuery()).in_calls()
        return sum(announced(self.search_products(part.to_probe())) for part in parts)

    def upsert_products(self, body: bytes, content_type: str = "application/json") -> int | str:
        """Write products by POST (spec, endpoint 7), one payload; use `prodex.upsert` to check, split and follow them.

        Parameters
        ----------
        body
            The payload.
        content_type
            "application/json" or "application/xml".

        Returns
        -------
        int or str
            The tracking identifier; the import itself has only begun. Text if a number would change it ("007").

        Raises
        ------
        IdentifierUnreadable
            When the service accepted the payload, and its reply has no identifier that can be read.
        OutcomeUnknown
            When the reply was lost. The payload is not sent again, since the service may have processed it.

        Examples
        --------
        >>> import prodex
        >>> service = prodex.connect("sandbox")
        >>> isinstance(service.upsert_products(b'{"data": []}'), int)
        True
        """
        headers = {"Content-Type": content_type, "Accept": content_type}
        return canonical(
            self.call(
                "POST", LIST_PATH, decode=tracking_identifier, body=body, headers=headers, idempotent=False
            )
        )

    def track(self, tracking_id: int | str) -> dict[str, Any]:
        """Return the tracking record of a write (spec, endpoint 8) as received.

        Examples
        --------
        >>> import prodex
        >>> service = prodex.connect("sandbox")
        >>> service.track(service.upsert_products(b'{"data": []}'))["status"] in {"EMPTY", "IN_PROGRESS"}
        True
        """
        try:
            return self.call("GET", f"{TRACK_PATH}/{tracking_id}", decode=tracking_record)
        except RequestRefused as error:
            raise RequestRefused(
                f"{error} Only the access key that sent a write can track it: check the tracking identifier, the base "
                "URL and the access key.",
                status=error.status,
            ) from error

    def organizations(
        self, *, organization_type: int | None = None, offset: int | None = None, limit: int | None = None
    ) -> Any:
        """List organizations by GET (spec, endpoint 3), one page, whose shape the specification does not show.

        Parameters
        ----------
        organization_type
            1 for manufacturers, 2 for retailers.

        Examples
        --------
        >>> import prodex
        >>> service = prodex.connect("sandbox")
        >>> len(service.organizations(organization_type=2, limit=1)["data"])
        1
        """
        given = {"organization_type": organization_type, "offset": offset, "limit": limit}
        params = {name: str(value) for name, value in given.items() if value is not None}
        return self.call("GET", ORGANIZATION_PATH, decode=json_value, params=params)

    def product_segments(self, permission: str | None = None) -> Any:
        """Return the product segment hierarchy (spec, endpoint 9) as received, since its shape is not shown.

        Examples
        --------
        >>> import prodex
        >>> service = prodex.connect("sandbox")
        >>> service.product_segments() is not None
        True
        """
        params = {} if permission is None else {"permission": permission}
        return self.call("GET", SEGMENT_PATH, decode=json_value, params=params)

    def require_rulesets(
        self, uuids: Sequence[str], ruleset_values: Mapping[str, bool], deadline: str | None = None
    ) -> Any:
        """Activate or deactivate scenarios on products (spec, endpoint 10), for retailers only.

        Parameters
        ----------
        uuids
            The products.
        ruleset_values
            Scenario id to true (activate) or false (deactivate).
        deadline
            YYYY-MM-DD.

        Returns
        -------
        Any
            The reply, whose shape the specification does not show: JSON, else text; None if it is empty. Any reply with
            a status of success means that it was done.

        Examples
        --------
        >>> import prodex
        >>> service = prodex.connect("sandbox")
        >>> service.require_rulesets([], {})
        Traceback (most recent call last):
            ...
        prodex.errors.RequestRefused: ...
        """
        body: dict[str, Any] = {"uuids": list(uuids), "ruleset_values": dict(ruleset_values)}
        if deadline is not None:
            body["deadline"] = deadline
        headers = {"Content-Type": "application/json"}
        encoded = json.dumps(body).encode()
        return self.call(
            "POST", RULESET_PATH, decode=anything, body=encoded, headers=headers, idempotent=False
        )

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
        used: Secret | None = None
        send = partial(self._transport.send, method, path, params=params, body=body, headers=headers)

        def attempt() -> T:
            nonlocal used
            used = token = self._token()
            reply = send(bearer=token)
            is_kept = not self._tokens.may_renew
            if self._refusal(reply, token, decode) is not None and not is_kept:
                # The service does nothing for an unknown caller, so even a write is sent again.
                used = token = self._token(rejected=token)
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
                    problem,
                    kind=AuthenticationFailed,
                    status=reply.status,
                    not_processed=True,
                    is_answer=True,
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
                problem, is_answer = self._transport.hide(str(error), token), error.is_answer
            # Raised outside of the handler: the error of a JSON parser contains the whole text that it could not read,
            # and would become the context of this one.
            raise RetryableError(problem, kind=UnexpectedReply, status=reply.status, is_answer=is_answer)

        self._tokens.begin_call()
        try:
            result = self._retrying.call(what, attempt, idempotent=idempotent, in_load=self._is_in_load)
        except AuthenticationFailed:
            if used is not None:
                self._tokens.give_up(used)
            raise
        if self._load is not None:
            self._load.set()
        return result

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

    def _products(
        self,
        method: str,
        path: str,
        filters: Mapping[str, Any],
        accept_language: str | None,
        received: int | None,
        **paging: int | str | None,
    ) -> ProductPage:
        asked = {**filters, **{key: value for key, value in paging.items() if value is not None}}
        language = self.accept_language if accept_language is None else locales.language_tag(accept_language)
        headers = {} if language is None else {"Accept-language": language}
        before = received if received is not None else whole_number(paging["offset"], 0) or 0
        decode = partial(_page, before=before)
        try:
            if method == "GET":
                params = {key: str(value) for key, value in asked.items()}
                return self.call(method, path, decode=decode, params=params, headers=headers)
            headers["Content-Type"] = "application/json"
            return self.call(method, path, decode=decode, body=json.dumps(asked).encode(), headers=headers)
        except RequestRefused as error:
            if asked.get("next_page") and error.status in _CURSOR_STATUSES:
                raise CursorLost(
                    f"{error} A cursor expires 2 minutes after the last call: start the scroll again.",
                    status=error.status,
                ) from error
            raise

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


def _page(reply: Reply, before: int) -> ProductPage:
    found = envelope.split(reply.body)
    if not found.is_page_after(before):
        raise UnexpectedReply(
            f"The service sent null in place of products after {counted(before, 'product')}, and announced "
            f"{counted(found.total_results or 0, 'product')}.",
            is_answer=True,
        )
    return ProductPage(reply.body, found, clock.now(), reply.date)
