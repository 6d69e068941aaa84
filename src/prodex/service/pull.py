"""All products of a query, page by page, without a journal: a generator for small and temporary requests.

Loads use the same loop over pages, with a journal and several windows; see `prodex.load.fetch`.
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
from prodex.service.paging import LARGEST_PAGE, SCROLL_FROM, PagingState, ProductPage, fetch_pages

# What GET reaches in one query, without and with source_include (spec, endpoint 4).
_GET_CAPS = {False: 500, True: 4_000}


@dataclass
class PullReport:
    """The counts of a pull, filled in while its pages are consumed.

    Totals are those that the service announced; a list of GTINs that needs several calls has their sums. A total that
    was not announced counts as 0.

    Attributes
    ----------
    total_probed, total_first, total_last
        Products announced before the first page, on it, and on the last.
    most
        The largest total announced.
    pages, rows, distinct
        Pages and products received, and distinct products among them.
    moved
        Whether products were added or removed between offset pages, so that others may have been skipped.
    capped
        Whether the pages ended at the last possible offset, so that there may be more.
    gtins_missing
        Requested GTINs that are in no page.
    server_date
        The service's clock at the first call: later changes may be missing.
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
        """Whether at least as many distinct products were received as announced, and none can have been skipped."""
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
        Filled in while pages are consumed; the caller then has to check it. Without one, an incomplete pull raises.
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
    counts = PullReport() if report is None else report
    awaited = set(query.gtins_in or ())
    endpoints = {
        "search": client.search_products,
        "list": client.list_products,
        "rich_content": client.rich_content,
    }
    with showing(progress, "Products") as show:
        for part in query.in_calls():
            # Counted first: the total decides between offset pages and a scroll.
            total = _probe(client, part, counts)
            if method != "search":
                _refuse_more_than_get_reaches(total, part, method)
            reach = None if method == "search" else _GET_CAPS[_has_chosen_fields(part, method)]
            fetch = partial(endpoints[method], part, accept_language=accept_language)
            by_scroll = None if method == "search" else False
            state = PagingState.begin(total, page_size, by_scroll=by_scroll, reach=reach)
            for page in _counted(fetch, state, counts):
                awaited.difference_update(one.filled_gtin for one in page.identities if one)
                show(counts.distinct, max(counts.total_probed, counts.distinct))
                yield page
    counts.gtins_missing = tuple(gtin for gtin in query.gtins_in or () if gtin in awaited)
    if report is None and not counts.complete:
        announced = max(counts.most, counts.total_probed)
        raise IncompleteLoad(
            f"{counts.distinct:,} products were received, but the service announced {announced:,}"
            + ("; products were added or removed between its pages" if counts.moved else "")
            + ("; offset pages end there, and there may be more" if counts.capped else "")
            + ". Load again; if it happens again, load in smaller portions (by market, tag or time of update)."
        )


def checked_page_size(page_size: int | None) -> int | None:
    """Return the page size, if the service accepts it."""
    whole = None if page_size is None else whole_number(page_size, 1, LARGEST_PAGE)
    if page_size is not None and whole is None:
        raise QueryError(f"page_size is {page_size!r}; the service accepts 1 to {LARGEST_PAGE}.")
    return whole


def _probe(client: Client, query: ProductQuery, counts: PullReport) -> int:
    page = client.search_products(query.to_probe())
    total = page.total_results or 0
    counts.total_probed += total
    counts.server_date = counts.server_date or page.server_date
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


def _counted(fetch: partial[ProductPage], begin: PagingState, counts: PullReport) -> Iterator[ProductPage]:
    """Yield the pages of one query, and add them to the counts."""
    most_before, state = counts.most, begin
    for page, before, state in fetch_pages(fetch, begin, set()):
        counts.total_first += 0 if before.pages else state.announced or 0
        counts.most = most_before + state.most
        counts.pages += 1
        counts.rows += len(page)
        counts.distinct += state.distinct - before.distinct
        yield page
    counts.total_last += state.announced or 0
    counts.moved |= state.moved
    # Exactly the announced number was received, and it is not 10,000, where services stop counting.
    is_exact = state.distinct == state.most and state.reach < SCROLL_FROM
    counts.capped |= state.capped and not is_exact
