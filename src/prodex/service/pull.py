"""Every product of a query, page by page: a generator for whoever needs all of them at once.

Loads go the same way with their journal at hand; see `prodex.load.fetch`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Literal

from prodex.arguments import whole_number
from prodex.errors import IncompleteLoad, QueryError
from prodex.progress import Progress, showing
from prodex.query import ProductQuery
from prodex.service.client import Client
from prodex.service.paging import LARGEST_PAGE, SCROLL_FROM, PagingState, ProductPage

# What GET reaches in one query, without and with source_include (spec, endpoint 4).
_GET_CAPS = {False: 500, True: 4_000}


@dataclass
class PullReport:
    """What a pull saw, filled in while its pages are taken.

    Totals are those that the service announced; for GTINs asked for in several calls, their sums. What it does not
    announce counts as 0.

    Attributes
    ----------
    total_probed, total_first, total_last
        Products announced before the first page, on it, and on the last.
    most
        The most products announced at any time.
    pages, rows, distinct
        Pages and products that came, and different products among them.
    moved
        Whether products came or went between offset pages, so that others may have been skipped.
    capped
        Whether the pages ended where offsets end, and there may be more.
    gtins_missing
        GTINs that were asked for and are in no page.
    server_date
        The service's clock at the first call: what changes later may be missing.
    """

    total_probed: int = 0
    total_first: int = 0
    total_last: int = 0
    most: int = 0
    pages: int = 0
    rows: int = 0
    distinct: int = 0
    moved: bool = False
    capped: bool = False
    gtins_missing: tuple[str, ...] = ()
    server_date: datetime | None = None

    @property
    def complete(self) -> bool:
        """Whether at least as many different products came as were announced, and none can have been skipped."""
        return self.distinct >= max(self.most, self.total_probed) and not self.moved and not self.capped


def pages(
    client: Client,
    query: ProductQuery | None = None,
    *,
    page_size: int | None = None,
    accept_language: str | None = None,
    progress: Progress = None,
    report: PullReport | None = None,
    method: Literal["search", "list", "rich_content"] = "search",
) -> Iterator[ProductPage]:
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
        When fewer products came than the service announced at any time, or others may have been skipped, and no report
        was given.
    CursorLost
        When the service forgot the cursor of a scroll.
    ServiceError
        See `prodex.errors` for what else can happen on the way.
    """
    page_size = checked_page_size(page_size)
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
            reach = None if method == "search" else _GET_CAPS[_has_chosen_fields(part, method)]
            fetch = partial(endpoints[method], part, accept_language=accept_language)
            by_scroll = None if method == "search" else False
            walk = PagingState.begin(total, page_size, by_scroll=by_scroll, reach=reach)
            for page in _walked(fetch, walk, ledger):
                awaited.difference_update(one.filled_gtin for one in page.identities if one)
                show(ledger.distinct, max(ledger.total_probed, ledger.distinct))
                yield page
    ledger.gtins_missing = tuple(gtin for gtin in query.gtins_in or () if gtin in awaited)
    if report is None and not ledger.complete:
        raise IncompleteLoad(
            f"{ledger.distinct:,} products came, but the service announced {max(ledger.most, ledger.total_probed):,}"
            + ("; products came or went between its pages" if ledger.moved else "")
            + ("; its offset pages end there, and there may be more" if ledger.capped else "")
            + ". Load again; if it stays so, load in smaller portions (by market, tag or time of update)."
        )


def checked_page_size(page_size: int | None) -> int | None:
    """Return the page size, or refuse one that the service does not take."""
    if page_size is not None and whole_number(page_size, 1, LARGEST_PAGE) is None:
        raise QueryError(f"page_size is {page_size!r}; the service takes 1 to {LARGEST_PAGE}.")
    return page_size


def _probe(client: Client, query: ProductQuery, ledger: PullReport) -> int:
    page = client.search_products(query.to_probe())
    total = page.total_results or 0
    ledger.total_probed += total
    ledger.server_date = ledger.server_date or page.server_date
    return total


def _has_chosen_fields(query: ProductQuery, method: str) -> bool:
    return method == "rich_content" or query.source_include is not None


def _refuse_more_than_get_reaches(total: int, query: ProductQuery, method: str) -> None:
    cap = _GET_CAPS[_has_chosen_fields(query, method)]
    if total > cap:
        raise QueryError(
            f"{total:,} products match, and GET reaches {cap:,} of them. Use method='search', or a "
            "narrower query."
        )


def _walked(fetch: partial[ProductPage], walk: PagingState, ledger: PullReport) -> Iterator[ProductPage]:
    """Go through the pages of one query, and enter them into the ledger."""
    seen: set[str] = set()
    most_before = ledger.most
    while not walk.ended:
        page = fetch(**walk.asks_for())
        before = walk
        keys = [None if one is None else one.product_id for one in page.identities]
        walk = walk.after(keys, page.new_to(seen), page.total_results, next_page=page.next_page)
        ledger.total_first += 0 if before.pages else walk.announced or 0
        ledger.most = most_before + walk.most
        ledger.pages += 1
        ledger.rows += len(page)
        ledger.distinct += walk.distinct - before.distinct
        yield page
    ledger.total_last += walk.announced or 0
    ledger.moved |= walk.moved
    # As many as were announced came, and that is no number at which services stop counting.
    is_exact = walk.distinct == walk.most and walk.reach < SCROLL_FROM
    ledger.capped |= walk.capped and not is_exact
