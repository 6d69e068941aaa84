"""The loaders: ask, fetch, plan, build, publish; under a lock, with a journal that survives every interruption."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from datetime import datetime, timedelta
from os import cpu_count
from typing import Any, Literal

from prodex import locales
from prodex.advice import Argument, PythonCall, advice
from prodex.arguments import described, whole_number
from prodex.catalog import Catalog, Origin
from prodex.catalog.load_ledger import Ledger
from prodex.errors import QueryError, SnapshotNotFound
from prodex.executors import checked_executor
from prodex.files.atomic import checked_name, storage
from prodex.files.lock import locked
from prodex.limits import WINDOWS, LoadBudget
from prodex.load.fetch import Fetch
from prodex.load.labels import load_code_labels
from prodex.load.matching import unmatched, with_mismatches
from prodex.load.resume import (
    age_of,
    fresh_snapshot,
    is_checked,
    kept_for_later,
    name_for,
    question_to,
    require_complete,
    resumed,
)
from prodex.phrases import counted
from prodex.progress import Progress, Reporter, reporting, write_line
from prodex.query import ProductQuery
from prodex.query.filters import FILTERS
from prodex.selection import Selection
from prodex.selection.plain import selection_given
from prodex.selection.request import request_for
from prodex.selection.selection import SelectionRequest
from prodex.service import Client
from prodex.service.connection import service_given
from prodex.service.pull import checked_page_size
from prodex.store.archive import new_name, snapshots_folder
from prodex.store.build import build_folder, build_parts
from prodex.store.build_while_fetching import EarlyBuild
from prodex.store.journal import LoadJournal, journals_in
from prodex.store.parts import StoredPart
from prodex.store.plan import Plan, plan
from prodex.store.publish import SAVING, publish_built
from prodex.store.snapshot import name_of
from prodex.store.snapshot_of_files import FILES
from prodex.untrusted_text import on_one_line


def load_products(
    service: Client | Literal["sandbox"],
    query: ProductQuery | None = None,
    *,
    where: Selection | None = None,
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
    """Load the products of a query and save them as a snapshot.

    After any interruption, a power cut included, the same call continues the load, within a day.

    Parameters
    ----------
    service
        From `prodex.connect`, or "sandbox" for the local one.
    query
        Which products, and which of their fields; by default all that the access key may see.
    where
        Which products, as a `prodex.Selection`, beside the filters of the query. The service is asked for them as far
        as it can filter. What it cannot is chosen from what it sends, and said where the progress is shown; the
        snapshot keeps every product that came.
    name
        Name of the snapshot; by default it is derived from the query.
    max_age
        Reuse a snapshot of the same query up to this age (a timedelta, or seconds); one hour by default, 0 to always
        load. A snapshot that was begun before an `upsert` from this machine had been imported is never reused.
    page_size
        Products per call, 500 at most; by default 500, and 50 for offset pages if the service has no scroll.
    windows
        From 10,000 products on, the load is split by time of update into windows, and so many are fetched in parallel;
        0 for a single scroll.
    labels
        Further languages in which to load the labels of codes, such as ("fr-FR", "de-DE"), into `code_labels`.
    allow_incomplete
        Save an incomplete load too, and continue if the service fails to send a part of it. The catalogue then says so
        wherever it is shown, and `catalog.problems` lists what is missing, and which products do not match the query.
    progress
        A progress bar in notebooks and terminals (None), always (True), never (False), or a function of (done, total).
        When a snapshot is reused, a line with its age takes the place of the bar.
    executor
        Builds the parts when all products are received: any `concurrent.futures` executor. By default threads build
        most parts while others are still fetched.
    budget
        Limits of calls, seconds and bytes; see `LoadBudget`.

    Raises
    ------
    IncompleteLoad
        When fewer products were received than announced, or others than requested. The same call with
        `allow_incomplete=True` saves them.
    SnapshotLocked
        When another process is loading a snapshot of this name.
    ServiceError, StorageError
        See `prodex.errors`. What was received is kept, and the same call continues from there.

    Examples
    --------
    >>> import prodex
    >>> service = prodex.connect("sandbox")
    >>> query = prodex.ProductQuery(target_market="France", source_include=["namePublicLong", "brand"])
    >>> catalog = prodex.load_products(service, query, name="shop")
    >>> catalog.complete, catalog.folder.parent.name
    (True, 'shop')
    >>> catalog.folder == prodex.load_products(service, query, name="shop").folder  # within an hour: reused
    True
    """
    checked_executor(executor)
    service = service_given(service, "load_products(service, ...)", query)
    request = request_for(
        selection_given({} if where is None else where, "where"), _checked_query(query, "load_products")
    )
    query = request.query
    # A text is a sequence too, of letters.
    labels = [labels] if isinstance(labels, str) else labels or ()
    labels = tuple(locales.language_tag(language) for language in labels)
    name = name_for(query, name)
    page_size = checked_page_size(page_size)
    windows = checked_windows(windows)
    asked = question_to(service, query, labels)
    if (fresh := fresh_snapshot(name, asked, age_of(max_age), progress)) is not None:
        return _chosen(fresh, request, progress)
    folder = snapshots_folder() / new_name(name)
    reads = service.for_load()
    # Two processes that load one name would write the same journal.
    with locked(folder, f"loading {name!r}"):
        settings = {"windows": windows, "page_size": page_size}
        journal = resumed(folder, {"asked": asked.to_json()}, settings, allow_incomplete)
        with (
            kept_for_later(journal),
            reporting(progress, "Products") as reporter,
            EarlyBuild(journal, executor) as early,
        ):
            # A load that was judged has all its pages: it was interrupted while its parts were built.
            if not is_checked(journal):
                _fetch(reads, query, journal, early, reporter, allow_incomplete, budget)
            decided = _planned(asked, journal, allow_incomplete, reporter)
            parts, ledger = _built(
                early.parts(decided.parts, reporter), decided.ledger, asked, journal, allow_incomplete
            )
            if asked.labels:
                beside = build_folder(journal.folder)
                with storage(beside):
                    parts, notes = load_code_labels(reads, query, asked.labels, parts, beside, reporter)
                ledger = replace(ledger, notes=(*ledger.notes, *notes))
            catalog = _published_snapshot(name, asked, journal, ledger, parts, reporter)
        journal.remove()
    return _chosen(catalog, request, progress)


def _chosen(catalog: Catalog, request: SelectionRequest, progress: Progress) -> Catalog:
    """Return the products that are meant, of those that the service has sent."""
    if not request.rest:
        return catalog
    chosen = catalog.where(request.rest)
    write_line(progress, on_one_line(f"{request} {len(chosen):,} of {counted(len(catalog), 'product')}."))
    return chosen


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

    Spec: endpoint 6, by way of the search, which reaches any number of products. All other attributes are then "not
    requested", not missing.

    Parameters
    ----------
    service, query, name, max_age, page_size, windows, allow_incomplete, progress, executor, budget
        As for `load_products`; fields that the query includes or excludes are replaced.

    Examples
    --------
    >>> import prodex
    >>> service = prodex.connect("sandbox")
    >>> catalog = prodex.load.load_rich_content(service, name="pictures")
    >>> len(catalog.pictures) > 0, catalog.origin.asked("namePublicLong")
    (True, False)
    """
    service = service_given(service, "load_rich_content(service, ...)", query)
    asked = replace(
        _checked_query(query, "load_rich_content"), source_include=("assets",), source_exclude=None
    )
    return load_products(
        service,
        asked,
        name=name,
        max_age=max_age,
        page_size=page_size,
        windows=windows,
        allow_incomplete=allow_incomplete,
        progress=progress,
        executor=executor,
        budget=budget,
    )


def recover(
    name: str | Catalog,
    *,
    allow_incomplete: bool = False,
    progress: Progress = None,
    executor: Executor | None = None,
) -> Catalog:
    """Make a snapshot of what an interrupted load received, without the service.

    Labels in further languages are not loaded.

    Parameters
    ----------
    name
        Name of the snapshot that was being loaded.
    allow_incomplete
        Save an incomplete snapshot, which is usual after an interruption.
    progress
        As for `load_products`; a function is called with the number of products that are built, and of all.
    executor
        As for `load_products`.

    Raises
    ------
    SnapshotNotFound
        When there is no interrupted load of this name.
    IncompleteLoad
        When not everything was received.
    SnapshotLocked
        When a process is loading a snapshot of this name.

    Examples
    --------
    >>> import prodex
    >>> prodex.recover("shop")  # nothing was interrupted
    Traceback (most recent call last):
        ...
    prodex.errors.SnapshotNotFound: No load of 'shop' was interrupted: ...
    """
    name = name_of(name, "recover")
    checked_executor(executor)
    folder = snapshots_folder() / checked_name(name)
    questions = {path: LoadJournal.question_of(path) for path in journals_in(folder)}
    # The journal of a refresh contains only changes, so it cannot be built without its snapshot and the service.
    loads = [
        path
        for path, question in questions.items()
        if question and "snapshot" not in question and {"asked", "began"} <= question.keys()
    ]
    if not loads:
        hint: str = ""
        if any(question and FILES in question for question in questions.values()):
            reads = PythonCall("prodex.read_products(files, name={name!r})", name=name)
            hint = advice(" There is one of files that were being read: {reads} continues.", reads=reads)
        elif questions:
            hint = f" There is one of an interrupted refresh: refresh {name!r} again."
        raise SnapshotNotFound(
            advice(
                "No load of {name} was interrupted: there is no journal of one in {folder}.{hint}",
                name=repr(name),
                folder=folder,
                hint=hint,
            )
        )
    with locked(folder, f"recovering {name!r}"):
        # Loads of one name with different queries have journals of their own; the last one is meant.
        newest_first = sorted(loads, key=lambda path: path.lstat().st_mtime, reverse=True)
        journal = next(filter(None, map(LoadJournal.open, newest_first)), None)
        if journal is None:
            raise SnapshotNotFound(f"The journal in {folder} cannot be read. Load {name!r} again.")
        # Without labels: they would need the service.
        asked = replace(Origin.from_json(journal.question["asked"]), labels=())
        with reporting(progress, "Products") as reporter:
            decided = _planned(asked, journal, allow_incomplete, reporter)
            build = build_parts(
                journal.folder, decided.parts, build_folder(journal.folder), executor, reporter, counts=True
            )
            parts, ledger = _built(build, decided.ledger, asked, journal, allow_incomplete)
            catalog = _published_snapshot(name, asked, journal, ledger, parts, reporter)
        journal.remove()
        return catalog


def _checked_query(query: Any, function: str) -> ProductQuery:
    """Return the query that was given; raise an error that contains the line to write if it is not one."""
    if query is None or isinstance(query, ProductQuery):
        return query or ProductQuery()
    what = f"query is {described(query)}, not a ProductQuery."
    if isinstance(query, str):
        raise QueryError(
            f"{what} The name of the snapshot is another argument: {function}(service, name={query!r:.60})."
        )
    if isinstance(query, Mapping):
        given = ", ".join(f"{name}={value!r:.40}" for name, value in query.items() if name in FILTERS)
        raise QueryError(
            f"{what} Write prodex.ProductQuery({given or 'target_market=250'}); for the service's own parameter names, "
            "write prodex.ProductQuery.from_body(...)."
        )
    raise QueryError(f"{what} Write {function}(service, prodex.ProductQuery(target_market=250)).")


def checked_windows(windows: int) -> int:
    """Return the number of parallel windows, if it is one."""
    if (whole := whole_number(windows, 0)) is None:
        raise QueryError(
            advice(
                "{windows} is {given}. Give the number to fetch in parallel, or 0 for one scroll.",
                windows=Argument("windows"),
                given=repr(windows),
            )
        )
    return whole


def _fetch(
    service: Client,
    query: ProductQuery,
    journal: LoadJournal,
    early: EarlyBuild,
    reporter: Reporter,
    allow_incomplete: bool,
    budget: LoadBudget | None,
) -> None:
    """Fetch everything into the journal; meanwhile, build the parts whose pages are there."""
    fetch = Fetch(
        service,
        query,
        journal,
        tolerant=allow_incomplete,
        reporter=reporter,
        on_page=early.begin,
        budget=budget,
    )
    fetch.pull()
    if fetch.is_doubtful:
        early.begin_rest()  # nearly all products are there, and a listing of keys leaves the processors idle
        fetch.reconcile()


def _planned(asked: Origin, journal: LoadJournal, allow_incomplete: bool, reporter: Reporter) -> Plan:
    """Decide what to build of the journal; raise if the load is incomplete."""
    # GTINs that were requested by name can be missing even where every total agrees.
    gtins = () if asked.query is None else asked.query.gtins_in or ()
    with reporter.phase("Checking what was received"):
        decided = plan(journal, gtins_in=gtins, cores=cpu_count() or 1)
        require_complete("The load", decided.ledger, journal, allow_incomplete)
    return decided


def _built(
    build: Iterable[StoredPart], ledger: Ledger, asked: Origin, journal: LoadJournal, allow_incomplete: bool
) -> tuple[Sequence[StoredPart], Ledger]:
    """Build the parts of a plan; raise if they hold other products than requested."""
    beside = build_folder(journal.folder)
    with storage(beside):
        parts = list(build)
        # Only now: the tables have what the records say, and to read it again would cost as much as to build them.
        mismatches = unmatched((part.open(beside) for part in parts), asked.query or ProductQuery())
        checked = with_mismatches(ledger, mismatches, journal)
        require_complete("The load", checked, journal, allow_incomplete)
    return parts, checked


def _published_snapshot(
    name: str,
    asked: Origin,
    journal: LoadJournal,
    ledger: Ledger,
    parts: Sequence[StoredPart],
    reporter: Reporter,
) -> Catalog:
    """Publish parts as a snapshot, with one rename."""
    with reporter.phase(SAVING):
        return publish_built(name, dated(asked, journal, ledger), parts, build_folder(journal.folder))


def dated(asked: Origin, journal: LoadJournal, ledger: Ledger) -> Origin:
    """Return the origin with the time of the load, by both clocks, and its ledger."""
    # Each part of the query was counted by itself; later changes than the first count may be missing.
    dates = [count.server_date for count in journal.counts.values() if count.server_date is not None]
    return replace(
        asked,
        server_time=min(dates, default=None),
        loaded_at=datetime.fromisoformat(journal.question["began"]),
        ledger=ledger,
    )
