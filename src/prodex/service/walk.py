"""A walk through the pages of one query: what to ask for next, and when it has ended.

Pure, and made of nothing but what was seen on the pages so far: a walk that was interrupted is taken up again by
telling it those pages once more. Spec: "Pagination rules".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from prodex.errors import UnexpectedReply

#: From this many products on, offset pages do not reach all.
SCROLL_FROM = 10_000

LARGEST_PAGE = 500
_OFFSET_PAGE = 50  # recommended (spec, "Pagination rules", 4)

#: A scroll that brought nothing new on so many pages one after the other goes in circles.
_MOST_IDLE_PAGES = 3


@dataclass(frozen=True)
class Walk:
    """How far a walk has come. A step makes a new one.

    Attributes
    ----------
    by_scroll
        Through a scroll cursor; by offset otherwise.
    limit
        Products to ask for on each page.
    announced
        `totalResults` as announced last.
    most
        The most that was announced so far.
    pages, rows, distinct
        Pages and products that came, and different products among them.
    cursor
        What to send as `next_page`; "" opens a scroll.
    ended
        Whether there is nothing left to ask for.
    idle
        How many pages in a row brought no product that was not there before.
    """

    by_scroll: bool
    limit: int
    announced: int
    most: int
    pages: int = 0
    rows: int = 0
    distinct: int = 0
    cursor: str = ""
    ended: bool = False
    idle: int = 0

    @classmethod
    def begin(cls, announced: int, page_size: int | None = None, *, by_scroll: bool | None = None) -> Self:
        """Start a walk through so many products: by offset below 10,000 and by scroll from there on, unless told.

        >>> Walk.begin(120).asks_for(), Walk.begin(12_000).asks_for()
        ({'limit': 50, 'offset': 0}, {'limit': 500, 'next_page': ''})
        """
        scroll = announced >= SCROLL_FROM if by_scroll is None else by_scroll
        limit = page_size or (LARGEST_PAGE if scroll else _OFFSET_PAGE)
        return cls(scroll, limit, announced, announced, ended=not announced and not scroll)

    def asks_for(self) -> dict[str, int | str]:
        """Return the paging parameters of the next page."""
        if self.by_scroll:
            return {"limit": self.limit, "next_page": self.cursor}
        return {"limit": min(self.limit, SCROLL_FROM - self.rows), "offset": self.rows}

    def after(
        self, rows: int, new: int, announced: int, *, offset: int | None = None, next_page: str | None = None
    ) -> Self:
        """Return the walk after one more page.

        Parameters
        ----------
        rows, new
            Products on the page, and those of them that no page before had.
        announced, offset, next_page
            What its envelope says.

        Raises
        ------
        UnexpectedReply
            When it is not the page that was asked for.
        """
        asked = self.asks_for()
        if rows > int(asked["limit"]):
            raise UnexpectedReply(f"{asked['limit']} products were asked for, and {rows} came in one page.")
        if not self.by_scroll and offset not in (None, asked["offset"]):
            raise UnexpectedReply(
                f"The page at offset {asked['offset']} was asked for, and the page at {offset} came."
            )
        came = replace(
            self,
            announced=announced,
            most=max(self.most, announced),
            pages=self.pages + 1,
            rows=self.rows + rows,
            distinct=self.distinct + new,
            cursor=next_page or "",
            idle=0 if new else self.idle + 1,
        )
        return replace(came, ended=not rows or came._all_came())

    def _all_came(self) -> bool:
        if not self.by_scroll:
            # A total that grows past what offsets reach ends here with fewer than announced, which the ledger tells.
            return self.rows >= min(self.announced, SCROLL_FROM)
        # The end may show itself in several ways. Cursors are not compared: they may legally stay equal. Rows are
        # not counted: products that come twice would hide as many that did not come. And a total that falls is
        # no reason to stop.
        return not self.cursor or self.distinct >= self.most or self.circles

    @property
    def circles(self) -> bool:
        """Whether the service keeps giving a cursor and the same products."""
        return self.by_scroll and self.idle >= _MOST_IDLE_PAGES

    @property
    def short(self) -> bool:
        """Whether it ended with another number of products than the service announced from begin to end."""
        return not self.distinct == self.rows == self.most == self.announced
