"""The endpoints of the service, one method each."""

from __future__ import annotations

import copy
import hashlib
import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self, TypeVar

from prodex import envelope, locales
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
from prodex.query import ProductQuery
from prodex.service.authentication import TokenSource, request_token, token_path
from prodex.service.door import Door, Reply, refuse, says
from prodex.service.identifiers import canonical, tracking_identifier
from prodex.service.pace import Pace
from prodex.service.page import Page
from prodex.service.replies import anything, json_value, tracking_record
from prodex.service.retry import Retrying, RetryPolicy, Setback
from prodex.service.secret import Secret
from prodex.service.settings import Settings, is_loopback
from prodex.service.unauthenticated import refusal
from prodex.verbatim import on_one_line

if TYPE_CHECKING:
    import requests

LIST_PATH = "/public/v1/products"
SEARCH_PATH = "/public/v1/products/list"
TRACK_PATH = "/public/v1/products/track"
ORGANIZATION_PATH = "/auth/v2/organization"
SEGMENT_PATH = "/core/v3/productsegments/hierarchy"
RULESET_PATH = "/public/v1/validation/rulesets/require"

#: Calls per second to a remote service, as its operators recommend.
_CALLS_PER_SECOND = 2.0

# Refusals of a call with a cursor that speak of the cursor: the same filters were accepted a call before.
_CURSOR_STATUSES = frozenset({400, 404, 409, 410, 422})

T = TypeVar("T")
Filters = ProductQuery | Mapping[str, Any]


@dataclass
class _Load:
    """How far a load has come: whether a first call of it has succeeded."""

    has_begun: bool = False


class Client:
    """A product data exchange service. Threads may share it.

    Make one with `prodex.connect`.

    Parameters
    ----------
    settings
        Where the service is, and the credentials.
    accept_language
        Language of the labels of code values ("fr-FR"); US English when None.
    timeout
        Seconds to wait for a connection, and for the next bytes of a reply.
    calls_per_second
        Limit of calls to the service, replays and token calls included; None for 2 to a remote service and no
        limit on this machine, `math.inf` for no limit.
    retry
        For how long a call is tried again when the service or the way to it fails.
    limits
        What one reply may take.
    session
        The way to the network: every call goes through it.
    token_version
        2, or 1 for the deprecated endpoint of a service that has no other.
    clock
        Seconds since 1970; decides when the token is renewed.
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

        path = token_path(token_version)
        local = is_loopback(settings.base_url)
        if session is None:
            session = requests.Session()
            session.mount("https://", requests.adapters.HTTPAdapter(pool_maxsize=32))
            session.mount("http://", requests.adapters.HTTPAdapter(pool_maxsize=32))
            session.trust_env = not local  # a proxy cannot reach this machine's loopback
        if calls_per_second is None:
            calls_per_second = math.inf if local else _CALLS_PER_SECOND
        if not calls_per_second > 0:
            raise SettingsError(f"calls_per_second is {calls_per_second}; give a positive number.")
        self.accept_language = None if accept_language is None else locales.language_tag(accept_language)
        self._settings = settings
        self._clock = clock
        self._retrying = Retrying(retry or RetryPolicy(), setting="connect")
        self._door = Door(
            settings.base_url,
            session,
            timeout,
            Pace(calls_per_second),
            limits=limits,
            hidden=(settings.client_secret,),
        )
        self._tokens = TokenSource(
            lambda: request_token(self._door, settings, self._retrying, clock, path), clock
        )
        self._load: _Load | None = None

    @property
    def fingerprint(self) -> str:
        """A digest of the client id: who asks, without saying it."""
        return hashlib.sha256(self._settings.client_id.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    @property
    def base_url(self) -> str:
        """Where the service is."""
        return self._settings.base_url

    @property
    def settings_sources(self) -> Mapping[str, str]:
        """Where base_url, client_id and client_secret came from, for people."""
        return dict(self._settings.sources)

    def with_language(self, accept_language: str) -> Self:
        """Return a client that asks for labels in another language; token, pace and connections are shared.

        Examples
        --------
        >>> client = Client(Settings("https://api.example.com", "key", "secret"))
        >>> client.with_language("French")
        <Client https://api.example.com key k..., labels in fr>
        """
        other = copy.copy(self)
        other.accept_language = locales.language_tag(accept_language)
        return other

    def for_load(self) -> Self:
        """Return a client for one load: its reads are tried again for longer, once a first one has succeeded.

        Token, pace, connections and the budget of retries are shared. A load that has begun outlives a restart of the
        service (`RetryPolicy.load_seconds`); one that cannot begin says so soon (`RetryPolicy.seconds`).
        """
        other = copy.copy(self)
        other._load = _Load()
        return other

    def list_products(
        self,
        query: Filters | None = None,
        *,
        limit: int | None = None,
        offset: int | None = None,
        next_page: str | None = None,
        accept_language: str | None = None,
    ) -> Page:
        """List products by GET (spec, endpoint 4), one page.

        No more than 500 products can be reached this way, 4,000 with `source_include`;
        `search_products` reaches all.

        Parameters
        ----------
        query
            A `ProductQuery`, or query parameters under their wire names.
        limit, offset
            Page size (20 when None, 500 at most) and index of the first product.
        next_page
            Cursor of the page before.
        accept_language
            Language of labels, when other than the client's.

        Raises
        ------
        ServiceError
            See `prodex.errors` for what can happen on the way.
        """
        params = query.to_params() if isinstance(query, ProductQuery) else dict(query or {})
        paging = {"limit": limit, "offset": offset, "next_page": next_page or None}
        return self._products("GET", LIST_PATH, params, paging, accept_language)

    def rich_content(
        self,
        query: Filters | None = None,
        *,
        limit: int | None = None,
        offset: int | None = None,
        next_page: str | None = None,
        accept_language: str | None = None,
    ) -> Page:
        """List GTIN, id and assets of products by GET (spec, endpoint 6), one page.

        The parameters are those of `list_products`; what the query says about fields is replaced. No
        more than 4,000 products can be reached. In the reply, `id` is a string.
        """
        query = query if isinstance(query, ProductQuery) else ProductQuery.from_body(query or {})
        paging = {"limit": limit, "offset": offset, "next_page": next_page or None}
        return self._products("GET", LIST_PATH, query.to_rich_content_params(), paging, accept_language)

    def search_products(
        self,
        query: Filters | None = None,
        *,
        limit: int | None = None,
        offset: int | None = None,
        next_page: str | None = None,
        accept_language: str | None = None,
    ) -> Page:
        """Search products by POST (spec, endpoint 5), one page.

        Parameters
        ----------
        query
            A `ProductQuery`, or a body under wire names.
        limit, offset
            Page size (20 when None, 500 at most) and index of the first product.
        next_page
            "" on the first call of a scroll, then the cursor of the page before.
        accept_language
            Language of labels, when other than the client's.

        Raises
        ------
        CursorLost
            When the service does not know the cursor any more: the scroll has to start again.
        ServiceError
            See `prodex.errors` for what else can happen on the way.
        """
        body = query.to_body() if isinstance(query, ProductQuery) else dict(query or {})
        paging = {"limit": limit, "offset": offset, "next_page": next_page}
        return self._products("POST", SEARCH_PATH, body, paging, accept_language)

    def count(self, query: ProductQuery | None = None) -> int:
        """Return the number of products that match, without loading them."""
        parts = (query or ProductQuery()).in_calls()
        return sum(announced(self.search_products(part.to_probe())) for part in parts)

    def upsert_products(self, body: bytes, content_type: str = "application/json") -> int | str:
        """Write products by POST (spec, endpoint 7), one payload; `prodex.upsert` checks, cuts and keeps track.

        Parameters
        ----------
        body
            The payload as it goes out.
        content_type
            "application/json" or "application/xml".

        Returns
        -------
        int or str
            The tracking identifier: the import itself has only begun. Text where a number would not name it ("007").

        Raises
        ------
        IdentifierUnreadable
            When the service accepted the payload, and its answer holds no identifier that can be read.
        OutcomeUnknown
            When the answer was lost. The payload is not sent again, since it may have been taken.
        """
        headers = {"Content-Type": content_type, "Accept": content_type}
        return canonical(
            self.call(
                "POST", LIST_PATH, decode=tracking_identifier, body=body, headers=headers, idempotent=False
            )
        )

    def track(self, tracking_id: int | str) -> dict[str, Any]:
        """Return the tracking record of a write (spec, endpoint 8) as it came."""
        try:
            return self.call("GET", f"{TRACK_PATH}/{tracking_id}", decode=tracking_record)
        except RequestRefused as error:
            raise RequestRefused(
                f"{error} Only who sent a write can track it: check the tracking identifier, the base URL and the "
                "access key.",
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
        """
        asked = {"organization_type": organization_type, "offset": offset, "limit": limit}
        params = {name: str(value) for name, value in asked.items() if value is not None}
        return self.call("GET", ORGANIZATION_PATH, decode=json_value, params=params)

    def product_segments(self, permission: str | None = None) -> Any:
        """Return the product segment hierarchy (spec, endpoint 9) as it came: its shape is not shown there."""
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
            What the service says, whose shape is not shown: JSON, else its text; None where it says nothing. Any
            answer of success means that it was done.
        """
        body: dict[str, Any] = {"uuids": list(uuids), "ruleset_values": dict(ruleset_values)}
        if deadline is not None:
            body["deadline"] = deadline
        return self.call(
            "POST",
            RULESET_PATH,
            decode=anything,
            body=json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
            idempotent=False,
        )

    def without_secrets(self, text: str) -> str:
        """Return what the service said as a message may show it: without secrets, and shortened."""
        return self._door.hide(text)

    def token_facts(self) -> tuple[str | None, float]:
        """Connect, and return whom the access token was issued to (None when it does not say) and its seconds left."""
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
        """Make one protected call, with token, pace and retries; every endpoint goes through here.

        Parameters
        ----------
        decode
            Makes the result of a successful reply. An `UnexpectedReply` that it raises counts as a
            passing fault.
        idempotent
            False for a write, which is never blindly repeated.
        """
        what = f"{method} {path}"

        def attempt() -> T:
            token = self._token()
            reply = self._door.send(method, path, params=params, body=body, headers=headers, bearer=token)
            if self._refusal(path, reply, token) is not None:
                # It did nothing for a caller that it does not know, so a write is sent again as well.
                token = self._token(spent=token)
                reply = self._door.send(method, path, params=params, body=body, headers=headers, bearer=token)
            if (said := self._refusal(path, reply, token)) is not None:
                raise AuthenticationFailed(
                    f"The service did not accept a new token for {what}.{says(said)} The access "
                    "key may have been revoked; check it in the user's profile of the service.",
                    status=reply.status,
                )
            refuse(what, reply)
            try:
                return decode(reply)
            except IdentifierUnreadable as error:
                answer = self._door.hide(error.answer, token, 1_000)
                said = f"It says: {answer}" if answer else "It is empty."
                raise IdentifierUnreadable(f"{error} {said}", status=error.status, answer=answer) from None
            except UnexpectedReply as error:
                problem = self._door.hide(str(error), token)
            # Raised out here, because an error of a JSON reader carries the whole text that it could
            # not read.
            raise Setback(problem, kind=UnexpectedReply, status=reply.status)

        result = self._retrying.call(what, attempt, idempotent=idempotent, in_load=self._is_in_load)
        if self._load is not None:
            self._load.has_begun = True
        return result

    def _token(self, *, spent: Secret | None = None) -> Secret:
        try:
            return self._tokens.get(spent=spent)
        except (ServiceUnreachable, UnexpectedReply) as error:
            if not self._is_in_load():
                raise
            # It was tried for the time of a first call, alone or by another thread; a load goes on trying.
            raise Setback(str(error), kind=type(error), status=error.status, untouched=True) from error

    def _is_in_load(self) -> bool:
        return self._load is not None and self._load.has_begun

    def _refusal(self, path: str, reply: Reply, token: Secret) -> str | None:
        said = refusal(reply, of_tracking=path.startswith(TRACK_PATH))
        return None if said is None else self._door.hide(said, token)

    def _products(
        self,
        method: str,
        path: str,
        filters: Mapping[str, Any],
        paging: Mapping[str, int | str | None],
        accept_language: str | None,
    ) -> Page:
        wanted = {**filters, **{key: value for key, value in paging.items() if value is not None}}
        language = self.accept_language if accept_language is None else locales.language_tag(accept_language)
        headers = {} if language is None else {"Accept-language": language}
        try:
            if method == "GET":
                params = {key: str(value) for key, value in wanted.items()}
                return self.call(method, path, decode=_page, params=params, headers=headers)
            headers["Content-Type"] = "application/json"
            return self.call(method, path, decode=_page, body=json.dumps(wanted).encode(), headers=headers)
        except RequestRefused as error:
            if wanted.get("next_page") and error.status in _CURSOR_STATUSES:
                raise CursorLost(
                    f"{error} A cursor lives for 2 minutes from call to call: start the scroll again.",
                    status=error.status,
                ) from error
            raise

    def __repr__(self) -> str:
        key = self._settings.client_id
        labels = f", labels in {self.accept_language}" if self.accept_language else ""
        return on_one_line(f"<Client {self.base_url} key {key[: min(4, len(key) // 3)]}...{labels}>")


def announced(page: Page) -> int:
    """Return the total that a page announces.

    Raises
    ------
    UnexpectedReply
        When it announces none: without it nobody can tell whether all products came.
    """
    if page.total_results is None or page.total_results < 0:
        raise UnexpectedReply(
            f"The service announced {page.total_results!r} as totalResults; a count is needed."
        )
    return page.total_results


def _page(reply: Reply) -> Page:
    return Page(reply.body, envelope.split(reply.body), datetime.now(UTC), reply.date)
