"""Paging: a page of products, which page to request next, and the loop over the pages of a query.

`PagingState` is pure and depends on the received pages only, so an interrupted load continues by replaying the pages
that it has. Spec: "Pagination rules".

`totalResults` is a claim of the service. It is compared with what was received and never ends the loop: services
announce at most 10,000 whatever they have, or the size of the page, or nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import NamedTuple, Self

from prodex.encodings import not_utf8
from prodex.errors import UnexpectedReply
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
        Requests one page; it gets the paging parameters, and the products `received` before it, by name.
    state
        Where to begin.
    seen
        Keys of the products of earlier pages; those of each page are added.
    """
    while not state.ended:
        page = fetch(**state.parameters(), received=state.rows if state.by_scroll else state.offset)
        before, state = state, state.after_page(page.identities, seen, page.total_results, page.next_page)
        yield FetchedPage(page, before, state)


def announced(page: ProductPage) -> int:
    """Return the total that a page announces.

    Raises
    ------
    UnexpectedReply
        When it announces none: without a total, nobody can know whether all products were received.
    """
    if page.total_results is None or page.total_results < 0:
        raise UnexpectedReply(
            f"The service announced {page.total_results!r} as totalResults, which is not a count."
        )
    return page.total_results
