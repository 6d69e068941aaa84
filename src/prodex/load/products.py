"""The loaders: fetch, plan and build, under a lock, from a journal that outlives whatever interrupts them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Literal

from prodex import locales
from prodex.arguments import described, whole_number
from prodex.catalog import Catalog, Origin
from prodex.errors import QueryError, SnapshotNotFound
from prodex.files import checked_name, remove, storage
from prodex.files.lock import locked
from prodex.files.untrusted import is_plain, is_there
from prodex.ledger import Ledger
from prodex.load.budget import LoadBudget
from prodex.load.fetch import Fetch
from prodex.load.labels import load_code_labels
from prodex.load.resume import is_judged, judge, kept_for_later, resumed
from prodex.load.reuse import age_of, fresh_snapshot
from prodex.progress import Progress, showing
from prodex.query import ProductQuery
from prodex.query.filters import FILTERS
from prodex.service import Client
from prodex.service.connection import service_given
from prodex.service.pull import checked_page_size
from prodex.store.archive import snapshots_folder
from prodex.store.build import build_parts
from prodex.store.journal import Journal
from prodex.store.journal_format import refuse_newer
from prodex.store.plan import Plan, plan
from prodex.store.snapshot import commit_built, name_of

#: Windows that are fetched side by side.
WINDOWS = 4


def load_products(
    service: Client | Literal["sandbox"],
    query: ProductQuery | None = None,
    *,
    name: str | None = None,
    max_age: timedelta | float | None = None,
    page_size: int | None = None,
    windows: int = WINDOWS,
    labels: Sequence[str] | None = None,
    allow_incomplete: bool = False,
    progress: Progress = None,
    executor: Executor | None = None,
    budget: LoadBudget | None = None,
) -> Catalog:
    """Load the products of a query and keep them as a snapshot.

    Whatever interrupts a load, a power cut included, the same call goes on where it was, for a day.

    Parameters
    ----------
    service
        From `prodex.connect`, or "sandbox" for the local one.
    query
        Which products and which of their fields; all that the caller may see by default.
    name
        Name of the snapshot. Without one, a name is made from the query.
    max_age
        How old a snapshot of the same query may be to be used instead (a timedelta, or seconds); one hour by
        default. 0 always fetches. One that was begun before an own `upsert` to this service had been imported is
        never used, whichever process sent it.
    page_size
        Products per call, 500 at most; by default 500, and 50 for offset pages, where the service has no scroll.
    windows
        From 10,000 products on, the pull is cut by time of update into windows, of which so many are fetched side
        by side; 0 makes it a single scroll.
    labels
        Further languages in which to load the labels of codes, such as ("fr-FR", "de-DE"), into `code_labels`.
    allow_incomplete
        Keep what came although it is not all, and go on where the service fails to give a part of it; the catalogue
        then says so wherever it is shown, and `catalog.problems` lists what is missing.
    progress
        A bar where somebody is watching (None), always (True), never (False), or a function of (done, total). In
        place of a bar stands a line that says so when a snapshot is used again, and how old it is.
    executor
        Where parts are built: any `concurrent.futures` executor; threads by default.
    budget
        What the load may cost in calls, seconds and bytes; see `LoadBudget`.

    Raises
    ------
    IncompleteLoad
        When what came does not agree with what was announced. The same call with `allow_incomplete=True` keeps it.
    SnapshotLocked
        When another process is loading under this name.
    ServiceError, StorageError
        See `prodex.errors`. What came before is kept, and the same call goes on from there.

    Examples
    --------
    >>> import prodex
    >>> service = prodex.connect("sandbox")
    >>> query = prodex.ProductQuery(target_market="France", source_include=["namePublicLong", "brand"])
    >>> catalog = prodex.load_products(service, query, name="shop")
    >>> catalog.complete, catalog.folder.parent.name
    (True, 'shop')
    >>> catalog.folder == prodex.load_products(service, query, name="shop").folder  # within an hour: used again
    True
    """
    service = service_given(service, "load_products(service, ...)", query)
    query = _query(query, "load_products")
    labels = [labels] if isinstance(labels, str) else labels or ()
    labels = tuple(locales.language_tag(language) for language in labels)
    return _load(
        service,
        query,
        name,
        max_age,
        page_size,
        windows,
        labels,
        allow_incomplete,
        progress,
        executor,
        budget,
    )


def load_rich_content(
    service: Client | Literal["sandbox"],
    query: ProductQuery | None = None,
    *,
    name: str | None = None,
    max_age: timedelta | float | None = None,
    page_size: int | None = None,
    windows: int = WINDOWS,
    allow_incomplete: bool = False,
    progress: Progress = None,
    executor: Executor | None = None,
    budget: LoadBudget | None = None,
) -> Catalog:
    """Load only GTIN and rich content (pictures, documents, videos, enriched contents) of products.

    Spec: endpoint 6, through the search, which reaches any number of products. What is not rich content is then "not
    asked for", not missing.

    Parameters
    ----------
    service, query, name, max_age, page_size, windows, allow_incomplete, progress, executor, budget
        As for `load_products`; what the query says about fields is replaced.

    Examples
    --------
    >>> import prodex
    >>> service = prodex.connect("sandbox")
    >>> catalog = prodex.load_rich_content(service, name="pictures")
    >>> len(catalog.pictures) > 0, catalog.origin.asked("namePublicLong")
    (True, False)
    """
    service = service_given(service, "load_rich_content(service, ...)", query)
    body = _query(query, "load_rich_content").to_body()
    body.pop("filter_source_exclude", None)
    asked = ProductQuery.from_body(body | {"filter_source_include": ["assets"]})
    return _load(
        service, asked, name, max_age, page_size, windows, (), allow_incomplete, progress, executor, budget
    )


def recover(
    name: str | Catalog, *, allow_incomplete: bool = False, executor: Executor | None = None
) -> Catalog:
    """Make a snapshot of what an interrupted load left, without the service.

    Labels in further languages are not loaded.

    Parameters
    ----------
    name
        Name of the snapshot that was being loaded.
    allow_incomplete
        Keep what came although it is not all, as is to be expected of a load that was interrupted.
    executor
        As for `load_products`.

    Raises
    ------
    SnapshotNotFound
        When no load of this name was interrupted.
    IncompleteLoad
        When not all had come.
    SnapshotLocked
        When a process is loading under this name.

    Examples
    --------
    >>> import prodex
    >>> prodex.recover("shop")  # nothing was interrupted
    Traceback (most recent call last):
        ...
    prodex.errors.SnapshotNotFound: No load of 'shop' was interrupted: ...
    """
    name = name_of(name, "recover")
    folder = snapshots_folder() / checked_name(name)
    questions = {path: Journal.question_of(path) for path in folder.glob(".journal-*")}
    # What a refresh left is nothing without its snapshot and the service.
    loads = [
        path
        for path, question in questions.items()
        if question and "snapshot" not in question and {"asked", "began"} <= question.keys()
    ]
    if not loads:
        for path in questions:
            refuse_newer(path)
        hint = f" What is there is of a refresh: refresh {name!r} again." if questions else ""
        raise SnapshotNotFound(f"No load of {name!r} was interrupted: {folder} has no journal of one.{hint}")
    with locked(folder, f"recovering {name!r}"):
        newest_first = sorted(loads, key=lambda path: path.lstat().st_mtime, reverse=True)
        journal = next(filter(None, map(Journal.open, newest_first)), None)
        if journal is None:
            raise SnapshotNotFound(f"The journal in {folder} cannot be read. Load {name!r} again.")
        asked = replace(Origin.from_json(journal.question["asked"]), labels=())
        decided = _decided(journal, asked.query or ProductQuery(), allow_incomplete)
        catalog = _built(name, asked, journal, decided, executor, None)
        journal.remove()
        return catalog


def _load(
    service: Client,
    query: ProductQuery,
    name: str | None,
    max_age: timedelta | float | None,
    page_size: int | None,
    windows: int,
    labels: tuple[str, ...],
    allow_incomplete: bool,
    progress: Progress,
    executor: Executor | None,
    budget: LoadBudget | None,
) -> Catalog:
    name = checked_name(name or f"products-{query.digest[:8]}")
    page_size = checked_page_size(page_size)
    windows = checked_windows(windows)
    asked = Origin(service.base_url, query, service.accept_language, labels, asked_by=service.fingerprint)
    if (fresh := fresh_snapshot(name, asked, age_of(max_age), progress)) is not None:
        return fresh
    folder = snapshots_folder() / name
    reads = service.for_load()
    with locked(folder, f"loading {name!r}"):
        settings = {"windows": windows, "page_size": page_size}
        journal = resumed(folder, {"asked": asked.to_json()}, settings, allow_incomplete)
        with kept_for_later(journal):
            if not is_judged(journal):
                with showing(progress, "Products") as show:
                    Fetch(
                        reads,
                        query,
                        journal,
                        page_size=journal.question["page_size"],
                        side_by_side=journal.question["windows"],
                        tolerant=allow_incomplete,
                        show=show,
                        budget=budget,
                    ).load()
            decided = _decided(journal, query, allow_incomplete)
            catalog = _built(name, asked, journal, decided, executor, reads)
        journal.remove()
        return catalog


def _query(query: Any, function: str) -> ProductQuery:
    """Return the query that was given, or say what to write."""
    if query is None or isinstance(query, ProductQuery):
        return query or ProductQuery()
    what = f"query is {described(query)}, not a ProductQuery."
    if isinstance(query, str):
        raise QueryError(
            f"{what} The name of the snapshot has its own place: {function}(service, name={query!r:.60})."
        )
    if isinstance(query, Mapping):
        given = ", ".join(f"{name}={value!r:.40}" for name, value in query.items() if name in FILTERS)
        raise QueryError(
            f"{what} Write prodex.ProductQuery({given or 'target_market=250'}); of names as on the wire "
            "prodex.ProductQuery.from_body(...) makes one."
        )
    raise QueryError(f"{what} Write {function}(service, prodex.ProductQuery(target_market=250)).")


def checked_windows(windows: int) -> int:
    """Return the number of windows side by side, or refuse what is none."""
    if whole_number(windows, 0) is None:
        raise QueryError(
            f"windows is {windows!r}. Give the number to be fetched side by side, or 0 for one scroll."
        )
    return windows


def _decided(journal: Journal, query: ProductQuery, allow_incomplete: bool) -> Plan:
    """Plan what to build, and refuse what is not all there is."""
    decided = plan(journal, gtins_in=query.gtins_in or ())
    judge("The load", decided.ledger, journal, allow_incomplete)
    return decided


def _built(
    name: str,
    asked: Origin,
    journal: Journal,
    decided: Plan,
    executor: Executor | None,
    service: Client | None,
) -> Catalog:
    """Build the parts inside the journal, where they outlive an interruption, and make them a snapshot."""
    beside = journal.folder / "build"
    if is_there(beside) and not is_plain(beside):
        remove(beside)
    with storage(beside):
        parts = list(build_parts(journal.folder, decided.parts, beside, executor))
        if asked.labels and service is not None and asked.query is not None:
            parts = load_code_labels(service, asked.query, asked.labels, parts, beside)
    return commit_built(name, dated(asked, journal, decided.ledger), parts, beside)


def dated(asked: Origin, journal: Journal, ledger: Ledger) -> Origin:
    """Return the origin with when it was asked, by both clocks, and what came of it."""
    told = [count.server_date for count in journal.counts.values() if count.server_date is not None]
    return replace(
        asked,
        server_time=min(told, default=None),
        loaded_at=datetime.fromisoformat(journal.question["began"]),
        ledger=ledger,
    )
