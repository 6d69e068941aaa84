"""Every product of a query, page by page: a generator on which all loading is built.

Spec: "Pagination rules". Offset pages below 10,000 products, a scroll from there on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Literal

import msgspec

from prodex.errors import IncompleteLoad, QueryError, UnexpectedReply
from prodex.query import ProductQuery
from prodex.service.client import Client, announced
from prodex.service.page import Page
from prodex.service.progress import Progress, showing

#: From this many products on, offset pages do not reach all.
SCROLL_FROM = 10_000

_OFFSET_PAGE = 50  # recommended (spec, "Pagination rules", 4)
_LARGEST_PAGE = 500

# What GET reaches in one query, without and with source_include (spec, endpoint 4).
_GET_CAPS = {False: 500, True: 4_000}


@dataclass
class PullReport:
    """What a pull saw, filled in while its pages are taken.

    Totals are those that the service announced; for GTINs asked for in several calls, their sums.

    Attributes
    ----------
    total_probed, total_first, total_last
        Products announced before the first page, on it, and on the last.
    pages, rows
        Pages and products that came; a product that came twice counts twice.
    gtins_missing
        GTINs that were asked for and are in no page.
    server_date
        The service's clock at the first call: what changes later may be missing.
    """

    total_probed: int = 0
    total_first: int = 0
    total_last: int = 0
    pages: int = 0
    rows: int = 0
    gtins_missing: tuple[str, ...] = ()
    server_date: datetime | None = None

    @property
    def complete(self) -> bool:
        """Whether as many products came as were announced from begin to end."""
        return self.rows == self.total_probed == self.total_first == self.total_last


def pages(
    client: Client,
    query: ProductQuery | None = None,
    *,
    page_size: int | None = None,
    accept_language: str | None = None,
    progress: Progress = None,
    report: PullReport | None = None,
    method: Literal["search", "list", "rich_content"] = "search",
) -> Iterator[Page]:
    """Fetch all products of a query, page by page.

    A long list of GTINs is cut into several calls. A page that fails is tried again; a cursor that is
    lost all the same ends the pull with `CursorLost`, because only who keeps the pages can tell which
    products are new when the scroll starts again.

    Parameters
    ----------
    page_size
        Products per call, 500 at most; by default 50 for offset pages and 500 for a scroll.
    accept_language
        Language of labels, when other than the client's.
    progress
        A bar where somebody is watching (None), in any case (True), never (False), or a function that
        gets the number of products that have come and the number announced.
    report
        Filled in while pages are taken. Who gives one judges it; without one, fewer products than
        announced raise.
    method
        "search" (POST) reaches everything. "list" and "rich_content" are GET and end at 500 or 4,000
        products.

    Raises
    ------
    QueryError
        When the page size is out of range, or the query has more products than GET reaches.
    IncompleteLoad
        When not as many products came as the service announced last, and no report was given.
    UnexpectedReply
        When a page is not the one that was asked for, or a scroll does not end.
    CursorLost
        When the service forgot the cursor of a scroll.
    ServiceError
        See `prodex.errors` for what else can happen on the way.
    """
    if page_size is not None and not (isinstance(page_size, int) and 1 <= page_size <= _LARGEST_PAGE):
        raise QueryError(f"page_size is {page_size!r}; the service takes 1 to {_LARGEST_PAGE}.")
    query = query or ProductQuery()
    ledger = PullReport() if report is None else report
    awaited = set(query.gtins_in or ())
    endpoints = {
        "search": client.search_products,
        "list": client.list_products,
        "rich_content": client.rich_content,
    }
    with showing(progress, "Products") as show:
        for part in query.in_calls():
            total = _probe(client, part, ledger)
            if method != "search":
                _refuse_more_than_get_reaches(total, part, method)
            fetch = partial(endpoints[method], part, accept_language=accept_language)
            walk = _by_offset if total < SCROLL_FROM else _by_scroll
            for page in _entered(ledger, walk(fetch, total, page_size)):
                awaited.difference_update(_gtins(page) if awaited else ())
                show(ledger.rows, max(ledger.total_probed, ledger.rows))
                yield page
    ledger.gtins_missing = tuple(gtin for gtin in query.gtins_in or () if gtin in awaited)
    if report is None and ledger.rows != ledger.total_last:
        raise IncompleteLoad(
            f"{ledger.rows:,} products came, but the service announced {ledger.total_last:,}. Load again; "
            "if it stays so, load in smaller portions (by market, tag or time of update)."
        )


def _probe(client: Client, query: ProductQuery, ledger: PullReport) -> int:
    page = client.search_products(query.to_probe())
    total = announced(page)
    ledger.total_probed += total
    ledger.server_date = ledger.server_date or page.server_date
    return total


def _refuse_more_than_get_reaches(total: int, query: ProductQuery, method: str) -> None:
    cap = _GET_CAPS[method == "rich_content" or query.source_include is not None]
    if total > cap:
        raise QueryError(
            f"{total:,} products match, and GET reaches {cap:,} of them. Use method='search', or a "
            "narrower query."
        )


def _by_offset(fetch: Callable[..., Page], total: int, page_size: int | None) -> Iterator[Page]:
    size, offset = page_size or _OFFSET_PAGE, 0
    # A total that grows past what offsets reach ends here with fewer rows than announced, which the
    # ledger tells.
    while offset < min(total, SCROLL_FROM):
        limit = min(size, SCROLL_FROM - offset)
        page = fetch(limit=limit, offset=offset)
        if page.offset not in (None, offset):
            raise UnexpectedReply(
                f"The page at offset {offset} was asked for, and the page at {page.offset} came."
            )
        _refuse_more_than_asked(page, limit)
        yield page
        if not len(page):
            return
        offset, total = offset + len(page), announced(page)


def _by_scroll(fetch: Callable[..., Page], total: int, page_size: int | None) -> Iterator[Page]:
    limit = page_size or _LARGEST_PAGE
    cursor: str | None = ""
    rows, most = 0, 2 * total + _LARGEST_PAGE
    while cursor is not None:
        page = fetch(limit=limit, next_page=cursor)
        _refuse_more_than_asked(page, limit)
        rows += len(page)
        if rows > most:
            raise UnexpectedReply(
                f"The scroll does not end: {rows:,} rows came for {total:,} products announced at first. "
                "Load again, and tell the operators of the service if it stays so."
            )
        yield page
        # The end may show itself in three ways. Cursors are not compared: they may legally stay equal.
        cursor = page.next_page if len(page) and rows < announced(page) else None


def _refuse_more_than_asked(page: Page, limit: int) -> None:
    if len(page) > limit:
        raise UnexpectedReply(f"{limit} products were asked for, and {len(page)} came in one page.")


def _entered(ledger: PullReport, pages_of_part: Iterator[Page]) -> Iterator[Page]:
    """Enter pages into the ledger as they pass."""
    last = 0
    for number, page in enumerate(pages_of_part):
        last = announced(page)
        ledger.total_first += 0 if number else last
        ledger.pages += 1
        ledger.rows += len(page)
        yield page
    ledger.total_last += last


class _Keyed(msgspec.Struct):
    gtin: str | int | None = None


def _gtins(page: Page) -> Iterator[str]:
    for product in page.envelope.data:
        # A product that is no object, or too odd for this reader, has no GTIN that anybody asked for.
        with suppress(msgspec.DecodeError, RecursionError):
            yield str(msgspec.json.decode(product, type=_Keyed).gtin).zfill(14)
