"""All products of a query, page by page, without a journal: a generator for small and temporary requests.

Loads use the same loop over pages, with a journal and several windows; see `prodex.load.fetch`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Literal

from prodex.advice import Argument, advice
from prodex.arguments import whole_number
from prodex.catalog.load_ledger import Ledger
from prodex.errors import IncompleteLoad, QueryError
from prodex.progress import Progress, showing
from prodex.query import ProductQuery
from prodex.service.client import Client
from prodex.service.paging import LARGEST_PAGE, SCROLL_FROM, PagingState, ProductPage, fetch_pages

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
    `CursorLost`: after a restart of the scroll, only a caller that keeps the pages can know which products are new.

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
        When fewer products were received than announced at any time, if nothing was announced, or if some products may
        have been skipped; and no report was given.
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
    is_announced = False
    reasons: dict[str, None] = {}
    with showing(progress, "Products", phase="Receiving") as show:
        for part in query.in_calls():
            # Counted first: the total decides between offset pages and a scroll.
            counted = client.search_products(part.to_probe()).total_results
            is_announced = is_announced or counted is not None
            total = counted or 0
            announced += total
            state = begin = _beginning(part, total, page_size, method)
            fetch = partial(endpoints[method], part, accept_language=accept_language)
            for page, before, state in fetch_pages(fetch, begin, set()):
                received += len(page)
                is_announced = is_announced or page.total_results is not None
                distinct += state.distinct - before.distinct
                awaited.difference_update(one.filled_gtin for one in page.identities if one)
                show(distinct, max(announced, distinct))
                yield page
            last += state.announced or 0
            most += state.most
            reasons |= dict.fromkeys(_gaps(state))
    # The largest total counts, on whichever page it was: so many products were there during the pull.
    short = [f"{most - distinct:,} products fewer than announced"] if distinct < most else []
    if received and not is_announced:
        # As for a load: without a total, nothing shows whether the pages ended with the products.
        reasons |= {"the service announced no number of products": None}
    ledger = Ledger(
        announced=announced if is_announced else None,
        announced_last=last if is_announced else None,
        received=received,
        distinct=distinct,
        missing_gtins=tuple(gtin for gtin in query.gtins_in or () if gtin in awaited),
        not_loaded=tuple(f"the query: {reason}" for reason in (*reasons, *short)),
    )
    if report is not None:
        report(ledger)
    elif not ledger.complete:
        claim = [f"the service announced {most:,}"] if is_announced else []
        raise IncompleteLoad(
            f"{distinct:,} products were received, but {'; '.join([*claim, *reasons])}. Load again; if it happens "
            "again, load in smaller portions (by market, tag or time of update).",
            ledger,
        )


def checked_page_size(page_size: int | None) -> int | None:
    """Return the page size, if the service accepts it."""
    whole = None if page_size is None else whole_number(page_size, 1, LARGEST_PAGE)
    if page_size is not None and whole is None:
        raise QueryError(
            advice(
                "{size} is {given}; the service accepts 1 to {most}.",
                size=Argument("page_size"),
                given=repr(page_size),
                most=LARGEST_PAGE,
            )
        )
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
    # Where exactly the announced number was received, the last offset was the end; at 10,000, services stop counting.
    is_exact = state.distinct == state.most and state.reach < SCROLL_FROM
    if state.capped and not is_exact:
        yield "offset pages end there, and there may be more"
