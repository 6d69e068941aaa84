"""The endpoints of the service, one method each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from prodex import clock, locales
from prodex.errors import CursorLost, RequestRefused
from prodex.query import ProductQuery
from prodex.service.calls import ProtectedCalls
from prodex.service.paging import ProductPage, announced
from prodex.service.replies import anything, json_value, tracking_record
from prodex.service.tracking_identifiers import canonical, tracking_identifier
from prodex.service.transport import Reply
from prodex.tables import envelope

LIST_PATH = "/public/v1/products"
SEARCH_PATH = "/public/v1/products/list"
TRACK_PATH = "/public/v1/products/track"
ORGANIZATION_PATH = "/auth/v2/organization"
SEGMENT_PATH = "/core/v3/productsegments/hierarchy"
RULESET_PATH = "/public/v1/validation/rulesets/require"

# Statuses that, in a call with a cursor, are about the cursor: the same filters were accepted one call before.
_CURSOR_STATUSES = frozenset({400, 404, 409, 410, 422})

Filters = ProductQuery | Mapping[str, Any]


class Client(ProtectedCalls):
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

    def list_products(
        self,
        query: Filters | None = None,
        *,
        limit: int | None = None,
        offset: int | None = None,
        next_page: str | None = None,
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
        return self._products(
            "GET", LIST_PATH, params, accept_language, limit=limit, offset=offset, next_page=next_page or None
        )

    def rich_content(
        self,
        query: Filters | None = None,
        *,
        limit: int | None = None,
        offset: int | None = None,
        next_page: str | None = None,
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
        return self.list_products(query.to_rich_content_params(), **paging, accept_language=accept_language)

    def search_products(
        self,
        query: Filters | None = None,
        *,
        limit: int | None = None,
        offset: int | None = None,
        next_page: str | None = None,
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
        return self._products(
            "POST", SEARCH_PATH, body, accept_language, limit=limit, offset=offset, next_page=next_page
        )

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

    def _products(
        self,
        method: str,
        path: str,
        filters: Mapping[str, Any],
        accept_language: str | None,
        **paging: int | str | None,
    ) -> ProductPage:
        asked = {**filters, **{key: value for key, value in paging.items() if value is not None}}
        language = self.accept_language if accept_language is None else locales.language_tag(accept_language)
        headers = {} if language is None else {"Accept-language": language}
        try:
            if method == "GET":
                params = {key: str(value) for key, value in asked.items()}
                return self.call(method, path, decode=_page, params=params, headers=headers)
            headers["Content-Type"] = "application/json"
            return self.call(method, path, decode=_page, body=json.dumps(asked).encode(), headers=headers)
        except RequestRefused as error:
            if asked.get("next_page") and error.status in _CURSOR_STATUSES:
                raise CursorLost(
                    f"{error} A cursor expires 2 minutes after the last call: start the scroll again.",
                    status=error.status,
                ) from error
            raise


def _page(reply: Reply) -> ProductPage:
    return ProductPage(reply.body, envelope.split(reply.body), clock.now(), reply.date)
