"""A walk through the pages of one query: what to ask for next, and when it has ended.

Pure, and made of nothing but what was seen on the pages so far: a walk that was interrupted is taken up again by
telling it those pages once more. Spec: "Pagination rules".

A total is what the service claims. It is held against what came, and never ends a walk: services announce at most
10,000 whatever they have, or the size of the page, or nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Self

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
        What stands around the products, and each product as its JSON bytes.
    received_at
        When it came, by this machine's clock (UTC).
    server_date
        When it was sent, by the service's clock (UTC), or None.

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
        """Be true even without products: an empty page is a page."""
        return True

    @property
    def total_results(self) -> int | None:
        """Number of products that match, as the service announced it; None where it announced none."""
        return self.envelope.total_results

    @property
    def offset(self) -> int | None:
        """Index of the first product."""
        return self.envelope.offset

    @property
    def next_page(self) -> str | None:
        """Cursor of the next scroll call, or None where the service gives none."""
        cursor = self.envelope.next_page
        return None if cursor in (None, "") else str(cursor)

    @cached_property
    def identities(self) -> list[Identity | None]:
        """Who each product is; None for an item that is no product."""
        return [identify(product) for product in self.envelope.data]

    def new_to(self, seen: set[str]) -> int:
        """Return how many of its products were not seen before, and note them all as seen; other items do not count."""
        before = len(seen)
        seen.update(one.product_id for one in self.identities if one)
        return len(seen) - before


#: From this many products on, offset pages do not reach all.
SCROLL_FROM = 10_000

LARGEST_PAGE = 500
_OFFSET_PAGE = 50  # recommended (spec, "Pagination rules", 4)

#: A walk that brought nothing new on so many pages one after the other goes in circles.
_MOST_IDLE_PAGES = 3

#: An offset page begins with the last products of the page before. Where they are not the same ones, products came
#: or went in between, and others may have been skipped.
OVERLAP = 2


@dataclass(frozen=True)
class PagingState:
    """How far a walk has come. A step makes a new one.

    Attributes
    ----------
    by_scroll
        Through a scroll cursor; by offset otherwise.
    limit
        Products to ask for on each page.
    reach
        Offset plus limit never exceed this.
    announced
        `totalResults` as announced last; None while nothing was announced.
    most
        The most that was announced so far, 0 while nothing was.
    pages, rows, distinct
        Pages and products that came, and different products among them.
    cursor
        What to send as `next_page`; "" opens a scroll.
    offset
        Index of the first product to ask for.
    tail
        The products with which the next offset page should begin.
    moved
        Whether an offset page did not continue the page before: products may have been skipped.
    ended
        Whether there is nothing left to ask for.
    idle
        How many pages in a row brought no product that was not there before.
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
        """Start a walk through so many products: by offset below 10,000 and by scroll from there on, unless told.

        >>> PagingState.begin(120).asks_for(), PagingState.begin(12_000).asks_for()
        ({'limit': 50, 'offset': 0}, {'limit': 500, 'next_page': ''})
        """
        most = announced or 0
        scroll = most >= SCROLL_FROM if by_scroll is None else by_scroll
        limit = page_size or (LARGEST_PAGE if scroll else _OFFSET_PAGE)
        return cls(scroll, limit, SCROLL_FROM if reach is None else reach, announced, most)

    def asks_for(self) -> dict[str, int | str]:
        """Return the paging parameters of the next page."""
        if self.by_scroll:
            return {"limit": self.limit, "next_page": self.cursor}
        return {"limit": min(self.limit, self.reach - self.offset), "offset": self.offset}

    def after(
        self,
        keys: Sequence[str | None],
        new: int,
        announced: int | None,
        *,
        next_page: str | None = None,
    ) -> Self:
        """Return the walk after one more page.

        Parameters
        ----------
        keys
            Key of each product on the page; None for an item that is no product.
        new
            How many of them no page before had.
        announced, next_page
            What its envelope says.
        """
        came = replace(
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
        if came.by_scroll:
            return replace(came, ended=not keys or not came.cursor or came.circles)
        return came._turned(keys)

    def _turned(self, keys: Sequence[str | None]) -> Self:
        """Return a walk by offset, set to the next page."""
        reached = self.offset + len(keys)
        overlap = min(OVERLAP, len(keys) // 2)
        only_known = len(keys) <= len(self.tail) and self.idle > 0
        return replace(
            self,
            moved=self.moved or self.tail != tuple(keys[: len(self.tail)]),
            offset=reached - overlap,
            tail=tuple(keys[len(keys) - overlap :]),
            ended=not keys or only_known or self.circles or reached >= self.reach,
        )

    @property
    def circles(self) -> bool:
        """Whether the service keeps giving the same products."""
        return self.idle >= _MOST_IDLE_PAGES

    @property
    def capped(self) -> bool:
        """Whether it ended where offsets end, so that there may be more."""
        return not self.by_scroll and self.ended and self.offset + len(self.tail) >= self.reach

    @property
    def short(self) -> bool:
        """Whether it ended with fewer products than the service announced at any time."""
        return self.distinct < self.most
