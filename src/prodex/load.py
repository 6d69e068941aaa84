"""Loading: from a query, from files or from records to a catalogue.

Three steps, each on its own: fetch (pages to the journal), plan (what to build, and is it all?), build (Parquet,
part by part). Only the first needs the network.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from os import getpid
from pathlib import Path

import filelock

from prodex import locales
from prodex.catalog import Catalog, Ledger, Origin
from prodex.errors import IncompleteLoad, QueryError, SnapshotError, SnapshotLocked
from prodex.files import checked_name, storage
from prodex.labels import load_code_labels
from prodex.query import ProductQuery
from prodex.service import Client, PullReport, pages
from prodex.service.progress import Progress
from prodex.store.build import build_parts
from prodex.store.journal import Journal
from prodex.store.parts import StoredPart
from prodex.store.plan import Plan, plan
from prodex.store.snapshot import commit, open_snapshot, snapshots_folder

_LOG = logging.getLogger("prodex")

#: A snapshot of the same query that is younger than this is used again.
FRESH = timedelta(hours=1)


def load_products(
    service: Client,
    query: ProductQuery | None = None,
    *,
    name: str | None = None,
    max_age: timedelta | float | None = None,
    page_size: int | None = None,
    labels: Sequence[str] | None = None,
    allow_incomplete: bool = False,
    progress: Progress = None,
    executor: Executor | None = None,
) -> Catalog:
    """Load the products of a query and keep them as a snapshot.

    Parameters
    ----------
    service
        From `prodex.connect`.
    query
        Which products and which of their fields; all that the caller may see by default.
    name
        Name of the snapshot. Without one, a name is made from the query.
    max_age
        How old a snapshot of the same query may be to be used instead (a timedelta, or seconds); one hour by
        default. 0 always fetches.
    page_size
        Products per call, 500 at most; 50 by default for offset pages and 500 for a scroll.
    labels
        Further languages in which to load the labels of codes, such as ("fr-FR", "de-DE"), into `code_labels`.
    allow_incomplete
        Keep what came although the service announced more or less; the catalogue then says so wherever it is shown.
    progress
        A bar where somebody is watching (None), always (True), never (False), or a function of (done, total).
    executor
        Where parts are built: any `concurrent.futures` executor; threads by default.

    Raises
    ------
    IncompleteLoad
        When what came does not agree with what was announced. What came is not kept.
    SnapshotLocked
        When another process is loading under this name.
    ServiceError, StorageError
        See `prodex.errors`.
    """
    query = ProductQuery() if query is None else query
    labels = [labels] if isinstance(labels, str) else labels or ()
    labels = tuple(locales.language_tag(language) for language in labels)
    return _load(service, query, name, max_age, page_size, labels, allow_incomplete, progress, executor)


def load_rich_content(
    service: Client,
    query: ProductQuery | None = None,
    *,
    name: str | None = None,
    max_age: timedelta | float | None = None,
    page_size: int | None = None,
    allow_incomplete: bool = False,
    progress: Progress = None,
    executor: Executor | None = None,
) -> Catalog:
    """Load only GTIN and rich content (pictures, documents, videos, enriched contents) of products.

    Spec: endpoint 6, through the search, which reaches any number of products. What is not rich content is then "not
    asked for", not missing.

    Parameters
    ----------
    service, query, name, max_age, page_size, allow_incomplete, progress, executor
        As for `load_products`; what the query says about fields is replaced.
    """
    body = (query or ProductQuery()).to_body()
    body.pop("filter_source_exclude", None)
    asked = ProductQuery.from_body(body | {"filter_source_include": ["assets"]})
    return _load(service, asked, name, max_age, page_size, (), allow_incomplete, progress, executor)


def _load(
    service: Client,
    query: ProductQuery,
    name: str | None,
    max_age: timedelta | float | None,
    page_size: int | None,
    labels: Sequence[str],
    allow_incomplete: bool,
    progress: Progress,
    executor: Executor | None,
) -> Catalog:
    name = checked_name(name or f"products-{query.digest()[:8]}")
    if not isinstance(query, ProductQuery):
        raise QueryError(
            f"query is {query!r:.60}, not a ProductQuery. ProductQuery.from_body(...) makes one."
        )
    asked = Origin(
        service.base_url, query, service.accept_language, tuple(labels), asked_by=service.fingerprint
    )
    age = _age(max_age)
    if (fresh := _fresh(name, asked, age)) is not None:
        _LOG.info("using the snapshot in %s; max_age=0 fetches again", fresh.folder)
        return fresh
    folder = snapshots_folder() / name
    with storage(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with _only_one(folder, name):
        began = datetime.now(UTC)
        for left_over in folder.glob(".journal-*"):  # of a process that was killed, since we hold the lock
            shutil.rmtree(left_over, ignore_errors=True)
        journal = Journal.begin(folder / f".journal-{getpid()}")
        try:
            report = PullReport()
            for page in pages(service, query, page_size=page_size, progress=progress, report=report):
                journal.add(page.body, page.envelope, page.server_date)
            decided = plan(
                journal.entries(),
                announced=report.total_first,
                announced_last=report.total_last,
                missing_gtins=report.gtins_missing,
            )
            _judge(decided, allow_incomplete)
            origin = replace(asked, server_time=report.server_date, loaded_at=began, ledger=decided.ledger)

            def build(beside: Path) -> Iterable[StoredPart]:
                parts = list(build_parts(journal.folder, decided.parts, beside, executor))
                return load_code_labels(service, query, labels, parts, beside) if labels else parts

            return commit(name, origin, build)
        finally:
            shutil.rmtree(journal.folder, ignore_errors=True)


def _fresh(name: str, asked: Origin, age: timedelta) -> Catalog | None:
    """Return the newest snapshot of this name if it answers the same question and is young enough."""
    if age <= timedelta(0):
        return None
    try:
        catalog = open_snapshot(name)
    except SnapshotError:
        return None
    found = catalog.origin
    question = replace(found, server_time=None, loaded_at=None, ledger=Ledger())
    is_whole = found.complete and len(catalog) == found.ledger.distinct
    if question != asked or found.loaded_at is None or not is_whole:
        return None
    return catalog if datetime.now(UTC) - found.loaded_at < age else None


def _age(max_age: timedelta | float | None) -> timedelta:
    if max_age is None:
        return FRESH
    try:
        return max_age if isinstance(max_age, timedelta) else timedelta(seconds=max_age)
    except (TypeError, ValueError, OverflowError) as error:
        raise QueryError(f"max_age is {max_age!r}. Give a timedelta, or a number of seconds.") from error


def _judge(decided: Plan, allow_incomplete: bool) -> None:
    if decided.ledger.complete or allow_incomplete:
        return
    raise IncompleteLoad(
        f"The load is not complete: {decided.ledger}. Load again, or pass allow_incomplete=True to keep what came; "
        "the catalogue will then say so."
    )


@contextmanager
def _only_one(folder: Path, name: str) -> Iterator[None]:
    """Keep other processes from loading the same name meanwhile; the lock dies with its process."""
    try:
        with filelock.FileLock(folder / ".lock", blocking=False):
            yield
    except filelock.Timeout as error:
        raise SnapshotLocked(
            f"Another process is loading {name!r} right now. Wait for it, or load under another name."
        ) from error
