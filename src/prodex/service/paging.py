"""Paging: a page of products, which page to request next, and the loop over the pages of a query.

`PagingState` is pure and depends on the received pages only, so an interrupted load continues by replaying the pages
that it has. Spec: "Pagination rules".

`totalResults` is a claim of the service. It is compared with what was received and never ends the loop: services
announce at most 10,000 whatever they have, or the size of the page, or nothing.

Loads use the same loop over pages, with a journal and several windows; see `prodex.load.fetch`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property, partial
from typing import Literal, NamedTuple, Self

from prodex.arguments import whole_number
from prodex.catalog.ledger import Ledger
from prodex.encodings import not_utf8
from prodex.errors import IncompleteLoad, QueryError, UnexpectedReply
from prodex.progress import Progress, showing
from prodex.query import ProductQuery
from prodex.service.client import Client
from prodex.tables.envelope import Envelope
from prodex.tables.records import Identity, identify


@dataclass(frozen=True)
class ProductPage:
    """One reply of a product list.

    Attributes
    ----------
    body
        The reply as received, decompressed.
    envelope
        The fields around the products, and each product as JSON bytes.
    received_at
        When it was received, by this machine's clock (UTC).
    server_date
        The service's clock (UTC), or None.

    Examples
    --------
    >>> import prodex
    >>> page = prodex.connect("sandbox").list_products(limit=2)
    >>> len(page), page.total_results > 2
    (2, True)
    """

    body: bytes = field(repr=False)
    envelope: Envelope = field(repr=False)
    received_at: datetime
    server_date: datetime | None

    def __len__(self) -> int:
        return len(self.envelope.data)

    def __bool__(self) -> bool:
        """An empty page is a page: without this method, `__len__` would make it false."""
        return True

    @property
    def total_results(self) -> int | None:
        """Number of products that match, as the service announced it; None if it announced none."""
        return self.envelope.total_results

    @property
    def offset(self) -> int | None:
        """Index of the first product."""
        return self.envelope.offset

    @property
    def next_page(self) -> str | None:
        """Cursor of the next scroll call, or None if the service sent none."""
        cursor = self.envelope.next_page
        return None if cursor in (None, "") else str(cursor)

    @cached_property
    def identities(self) -> list[Identity | None]:
        """Keys and dates of the products; None for an item that is not a product, or not in UTF-8."""
        products = self.envelope.data
        if not not_utf8(self.body):
            return list(map(identify, products))
        return [None if not_utf8(bytes(product)) else identify(product) for product in products]


#: From this many products on, offset pages do not reach all (spec, "Pagination rules").
SCROLL_FROM = 10_000

LARGEST_PAGE = 500
_OFFSET_PAGE = 50  # recommended (spec, "Pagination rules", 4)

#: After so many successive pages without a new product, the service is repeating itself.
_MOST_IDLE_PAGES = 3

#: An offset page repeats the last products of the previous page. If they differ, products were added or removed in
#: between, and others may have been skipped.
OVERLAP = 2


@dataclass(frozen=True)
class PagingState:
    """What was received so far, and which page to request next. A page makes a new state.

    Attributes
    ----------
    by_scroll
        Whether pages are requested by a scroll cursor; otherwise by offset.
    limit
        Products to request per page.
    reach
        Offset plus limit never exceed this.
    announced
        The last `totalResults`; None if there was none.
    most
        The largest `totalResults` so far; 0 if there was none.
    pages, rows, distinct
        Pages and products received, and distinct products among them.
    cursor
        The next `next_page`; "" begins a scroll.
    offset
        Index of the first product to request.
    tail
        The products with which the next offset page should begin.
    moved
        Whether an offset page did not continue the previous one, so that products may have been skipped.
    ended
        Whether there is no further page to request.
    idle
        Successive pages without a new product.
    """

    by_scroll: bool
    limit: int
    reach: int
    announced: int | None = None
    most: int = 0
    pages: int = 0
    rows: int = 0
    distinct: int = 0
    cursor: str = ""
    offset: int = 0
    tail: tuple[str | None, ...] = ()
    moved: bool = False
    ended: bool = False
    idle: int = 0

    @classmethod
    def begin(
        cls,
        announced: int | None = None,
        page_size: int | None = None,
        *,
        by_scroll: bool | None = None,
        reach: int | None = None,
    ) -> Self:
        """Return the state before the first page: by default offset pages below 10,000 products, else a scroll.

        >>> PagingState.begin(120).parameters(), PagingState.begin(12_000).parameters()
        ({'limit': 50, 'offset': 0}, {'limit': 500, 'next_page': ''})
        """
        most = announced or 0
        scroll = most >= SCROLL_FROM if by_scroll is None else by_scroll
        # A scroll has few large pages, since its cursor expires; offset pages are small, since products move between
        # them.
        limit = page_size or (LARGEST_PAGE if scroll else _OFFSET_PAGE)
        return cls(scroll, limit, SCROLL_FROM if reach is None else reach, announced, most)

    def parameters(self) -> dict[str, int | str]:
        """Return the paging parameters of the next page."""
        if self.by_scroll:
            return {"limit": self.page_limit, "next_page": self.cursor}
        return {"limit": self.page_limit, "offset": self.offset}

    @property
    def page_limit(self) -> int:
        """Products to request on the next page; the last offset page is shorter, since it must not exceed `reach`."""
        return self.limit if self.by_scroll else min(self.limit, self.reach - self.offset)

    def after(
        self, keys: Sequence[str | None], new: int, announced: int | None, *, next_page: str | None = None
    ) -> Self:
        """Return the state after one more page.

        Parameters
        ----------
        keys
            Key of each item of the page; None for an item that is not a product.
        new
            Number of products that no earlier page had.
        announced, next_page
            From the envelope of the page.
        """
        state = replace(
            self,
            announced=self.announced if announced is None else announced,
            most=max(self.most, announced or 0),
            pages=self.pages + 1,
            rows=self.rows + len(keys),
            distinct=self.distinct + new,
            cursor=next_page or "",
            idle=0 if new else self.idle + 1,
        )
        # Cursors are not compared: they may legally stay equal.
        if state.by_scroll:
            return replace(state, ended=not keys or not state.cursor or state.repeats)
        return state._with_next_offset(keys)

    def _with_next_offset(self, keys: Sequence[str | None]) -> Self:
        """Return a state with offset pages, set to the next page."""
        reached = self.offset + len(keys)
        # Half of the page at most, or pages of one or two products would never advance.
        overlap = min(OVERLAP, len(keys) // 2)
        only_known = len(keys) <= len(self.tail) and self.idle > 0
        return replace(
            self,
            moved=self.moved or self.tail != tuple(keys[: len(self.tail)]),
            offset=reached - overlap,
            tail=tuple(keys[len(keys) - overlap :]),
            ended=not keys or only_known or self.repeats or reached >= self.reach,
        )

    @property
    def repeats(self) -> bool:
        """Whether the service sends the same products again and again."""
        return self.idle >= _MOST_IDLE_PAGES

    @property
    def capped(self) -> bool:
        """Whether it ended at the last offset that the service allows, so that there may be more products."""
        return not self.by_scroll and self.ended and self.offset + len(self.tail) >= self.reach

    def after_page(
        self,
        identities: Iterable[Identity | None],
        seen: set[str],
        announced: int | None,
        next_page: str | None,
    ) -> Self:
        """Return the state after a page whose products are compared with those seen before, and added to them."""
        keys = [None if one is None else one.product_id for one in identities]
        before = len(seen)
        seen.update(key for key in keys if key is not None)
        return self.after(keys, len(seen) - before, announced, next_page=next_page)


class FetchedPage(NamedTuple):
    """A page, the state in which it was requested, and the state after it."""

    page: ProductPage
    before: PagingState
    after: PagingState


def fetch_pages(
    fetch: Callable[..., ProductPage], state: PagingState, seen: set[str]
) -> Iterator[FetchedPage]:
    """Fetch page after page until the state says that there is no further one; the only loop over pages.

    Parameters
    ----------
    fetch
        Requests one page; it gets the paging parameters by name.
    state
        Where to begin.
    seen
        Keys of the products of earlier pages; those of each page are added.
    """
    while not state.ended:
        page = fetch(**state.parameters())
        before, state = state, state.after_page(page.identities, seen, page.total_results, page.next_page)
        yield FetchedPage(page, before, state)


def announced(page: ProductPage) -> int:
    """Return the total that a page announces.

    Raises
    ------
    UnexpectedReply
        When it announces none: without a total, nobody can tell whether all products were received.
    """
    if page.total_results is None or page.total_results < 0:
        raise UnexpectedReply(
            f"The service announced {page.total_results!r} as totalResults, which is not a count."
        )
    return page.total_results


# What GET reaches in one query, without and with source_include (spec, endpoint 4).
_GET_CAPS = {False: 500, True: 4_000}


def pages(
    client: Client,
    query: ProductQuery | None = None,
    *,
    page_size: int | None = None,
    accept_language: str | None = None,
    progress: Progress = None,
    report: Callable[[Ledger], object] | None = None,
    method: Literal["search", "list", "rich_content"] = "search",
) -> Iterator[ProductPage]:
    """Fetch all products of a query, page by page.

    A long list of GTINs is split into several calls. A page that fails is tried again. A lost cursor ends the pull with
    `CursorLost`: after a restart of the scroll, only a caller that keeps the pages can tell which products are new.

    Parameters
    ----------
    page_size
        Products per call, 500 at most; by default 50 for offset pages and 500 for a scroll.
    accept_language
        Language of labels, when other than the client's.
    progress
        A progress bar in notebooks and terminals (None), always (True), never (False), or a function of the number of
        products received and the number announced.
    report
        Called with the ledger after the last page; the caller then has to check it. Without one, an incomplete pull
        raises. A list of GTINs that needs several calls has the sums of their totals, a missing total counting as 0.
    method
        "search" (POST) reaches everything. "list" and "rich_content" are GET and end at 500 or 4,000
        products.

    Raises
    ------
    QueryError
        When the page size is out of range, or the query has more products than GET reaches.
    IncompleteLoad
        When fewer products were received than announced at any time, or some may have been skipped, and no report was
        given.
    CursorLost
        When the service no longer knows the cursor of a scroll.
    ServiceError
        See `prodex.errors` for the other kinds.
    """
    page_size = checked_page_size(page_size)
    query = query or ProductQuery()
    endpoints = {
        "search": client.search_products,
        "list": client.list_products,
        "rich_content": client.rich_content,
    }
    awaited = set(query.gtins_in or ())
    announced = last = most = received = distinct = 0
    reasons: dict[str, None] = {}
    with showing(progress, "Products", phase="Receiving") as show:
        for part in query.in_calls():
            # Counted first: the total decides between offset pages and a scroll.
            total = client.search_products(part.to_probe()).total_results or 0
            announced += total
            state = begin = _beginning(part, total, page_size, method)
            fetch = partial(endpoints[method], part, accept_language=accept_language)
            for page, before, state in fetch_pages(fetch, begin, set()):
                received += len(page)
                distinct += state.distinct - before.distinct
                awaited.difference_update(one.filled_gtin for one in page.identities if one)
                show(distinct, max(announced, distinct))
                yield page
            last += state.announced or 0
            most += state.most
            reasons |= dict.fromkeys(_gaps(state))
    # The largest total counts, on whichever page it was: so many products were there during the pull.
    short = [f"{most - distinct:,} products fewer than announced"] if distinct < most else []
    ledger = Ledger(
        announced=announced,
        announced_last=last,
        received=received,
        distinct=distinct,
        missing_gtins=tuple(gtin for gtin in query.gtins_in or () if gtin in awaited),
        not_loaded=tuple(f"the query: {reason}" for reason in (*reasons, *short)),
    )
    if report is not None:
        report(ledger)
    elif not ledger.complete:
        raise IncompleteLoad(
            f"{distinct:,} products were received, but the service announced "
            f"{'; '.join([f'{most:,}', *reasons])}. Load again; if it happens again, load in smaller portions (by "
            "market, tag or time of update).",
            ledger,
        )


def checked_page_size(page_size: int | None) -> int | None:
    """Return the page size, if the service accepts it."""
    whole = None if page_size is None else whole_number(page_size, 1, LARGEST_PAGE)
    if page_size is not None and whole is None:
        raise QueryError(f"page_size is {page_size!r}; the service accepts 1 to {LARGEST_PAGE}.")
    return whole


def _beginning(query: ProductQuery, total: int, page_size: int | None, method: str) -> PagingState:
    """Return the state before the first page of a query with so many products."""
    if method == "search":
        return PagingState.begin(total, page_size)
    cap = _GET_CAPS[method == "rich_content" or query.source_include is not None]
    if total > cap:
        raise QueryError(
            f"{total:,} products match, and GET reaches {cap:,} of them. Use method='search', or a "
            "narrower query."
        )
    return PagingState.begin(total, page_size, by_scroll=False, reach=cap)


def _gaps(state: PagingState) -> Iterator[str]:
    """Yield why products may be missing after the last page of a query."""
    if state.moved:
        yield "products were added or removed between its pages"
    # Where exactly the announced number came, the last offset was the end; at 10,000, services stop counting.
    is_exact = state.distinct == state.most and state.reach < SCROLL_FROM
    if state.capped and not is_exact:
        yield "offset pages end there, and there may be more"
