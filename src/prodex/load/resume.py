"""Resuming: what an interrupted load leaves, and how the next call continues it."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from prodex import clock
from prodex.advice import Argument, PythonCall, advice
from prodex.arguments import duration_given
from prodex.catalog import Catalog, Origin
from prodex.catalog.load_ledger import Ledger
from prodex.errors import IncompleteLoad, OtherLayout, ProdexError, SnapshotError, StorageError
from prodex.files.atomic import checked_name, remove
from prodex.files.untrusted import is_folder, is_there
from prodex.phrases import duration_in_words, moment_in_words
from prodex.progress import Progress, write_line
from prodex.query import ProductQuery
from prodex.service import Client
from prodex.store.archive import entries_of
from prodex.store.journal import LoadJournal, journals_in
from prodex.store.journal_format import QUESTION, Stage
from prodex.store.snapshot import open_snapshot
from prodex.untrusted_text import on_one_line

_LOG = logging.getLogger("prodex")

#: A load that began longer ago starts again: too much has changed meanwhile.
RESUMABLE = timedelta(hours=24)

_CHECKED = "judged"


@dataclass(frozen=True)
class UnfinishedLoad:
    """A load that runs, or was interrupted, and whose pages are kept.

    Attributes
    ----------
    name
        The name of its snapshots.
    query
        What it asked for; None for everything.
    began
        When it began.
    is_resumable
        Whether the same load continues it; `prodex.recover` makes a snapshot of one that is older.
    asked
        What it asked, and whom.
    """

    name: str
    query: ProductQuery | None
    began: datetime
    is_resumable: bool
    asked: Origin | None = None


def unfinished_loads(folder: Path) -> list[UnfinishedLoad]:
    """Return the loads from a service that are not finished, the newest first; refreshes and files are not loads.

    Parameters
    ----------
    folder
        The folder of all snapshots. Nothing in it is changed: one of the loads may be running.

    Raises
    ------
    OtherLayout
        When another version of prodex has begun one.
    """
    found = []
    for path in (journal for name in entries_of(folder) for journal in _readable(name)):
        question = LoadJournal.question_of(path)
        if question is None or "snapshot" in question or not {"asked", "began"} <= question.keys():
            continue
        began = _began(question)
        asked = Origin.from_json(question["asked"])
        is_resumable = _is_resumable(question, clock.now())
        found.append(UnfinishedLoad(path.parent.name, asked.query, began, is_resumable, asked))
    return sorted(found, key=lambda one: (one.began, one.name), reverse=True)


def _readable(folder: Path) -> list[Path]:
    """Return the journals of a name; none where it belongs to somebody else, whose loads are none of ours."""
    try:
        return journals_in(folder)
    except StorageError:
        return []


def resumed(
    folder: Path, question: dict[str, Any], settings: dict[str, Any], allow_incomplete: bool
) -> LoadJournal:
    """Return the journal of a recently interrupted load of the same question; otherwise a new one.

    Parameters
    ----------
    folder
        Folder of the snapshots of this name.
    question
        What is loaded; another question is another load.
    settings
        How it is fetched; a resumed load keeps its first settings.
    allow_incomplete
        Whether a load that was found incomplete is now accepted.
    """
    question = json.loads(json.dumps(question))  # as the journal returns it: tuples become lists
    digest = hashlib.sha256(json.dumps(question, sort_keys=True).encode()).hexdigest()
    mine = folder / f".journal-{digest[:8]}"
    now = clock.now()
    for path in journals_in(folder):
        found = LoadJournal.question_of(path)
        # The question is written first: without it, nothing was received.
        is_empty = is_folder(path) and not is_there(path / QUESTION)
        if is_empty or (found is not None and not _is_resumable(found, now)):
            remove(path)
    journal = LoadJournal.open(mine)
    if journal is not None:
        known = journal.question
        is_ours = question.items() <= known.items() and {*settings, "began"} <= known.keys()
        # An incomplete load is not checked again by the same pages: the missing ones may be available now.
        if is_ours and (allow_incomplete or journal.notes.get(_CHECKED) != "incomplete"):
            if not _missed_a_write(journal):
                _LOG.info("continuing the interrupted load; its journal is %s", mine)
                return journal
            _LOG.info("loading again: products were sent after the interrupted load looked for changes")
    return LoadJournal.begin(mine, question | settings | {"began": now.isoformat()})


def _missed_a_write(journal: LoadJournal) -> bool:
    """Whether products were sent from here after a load had looked for what changed meanwhile.

    What was sent before that is among these changes, as far as an uninterrupted load would see it. The rule for
    snapshots is the same: what is loaded after an upsert was not received before it.
    """
    if not any(count.stage in {Stage.CHANGES, Stage.END} for count in journal.counts.values()):
        return False
    # A count has no time of this machine: without a changed product, the last page before it is the nearest.
    pulled = [entry.received_at for entry in journal.entries() if entry.stage is Stage.PULL]
    changed = [entry.received_at for entry in journal.entries() if entry.stage is Stage.CHANGES]
    looked = min(changed, default=max(pulled, default=_began(journal.question)))
    # Only who continues a load needs what sends.
    from prodex.ledger.upserts import was_sent_since

    try:
        return was_sent_since(Origin.from_json(journal.question["asked"]).source, looked)
    except StorageError:  # somebody else's, who may have sent something
        return True


def _is_resumable(question: Mapping[str, Any], now: datetime) -> bool:
    """Whether a load began within a day; one that began in the future has no known age, as its clock was wrong."""
    return -clock.TOLERATED <= now - _began(question) <= RESUMABLE


def _began(question: Mapping[str, Any]) -> datetime:
    """Return when a load began; long ago if it does not say so."""
    began = question.get("began")
    return datetime.min.replace(tzinfo=UTC) if began is None else datetime.fromisoformat(began)


@contextmanager
def kept_for_later(journal: LoadJournal) -> Iterator[None]:
    """Add to an error that everything received is kept; remove a journal that contains nothing."""
    try:
        yield
    except BaseException as error:
        if not journal.counts and not journal.entries():
            journal.remove()
        elif isinstance(error, ProdexError) and not isinstance(error, IncompleteLoad):
            error.add_note("Everything received so far is kept: the same call continues from there.")
        raise


def require_complete(what: str, ledger: Ledger, journal: LoadJournal, allow_incomplete: bool) -> None:
    """Raise if a load is incomplete, with the numbers of what is missing; the journal records the decision.

    Raises
    ------
    IncompleteLoad
        When it is incomplete, and that is not allowed.
    """
    if ledger.complete or allow_incomplete:
        journal.note(_CHECKED, "complete" if ledger.complete else "allowed")
        return
    journal.note(_CHECKED, "incomplete")
    problems = ledger.problems
    shown = "".join(f" {place}: {reason}." for place, reason in problems[:3])
    if problems[3:]:
        shown += f" These are 3 of {len(problems):,}."
    shown += "".join(f" Note: {note}." for note in ledger.notes[:3])
    is_spent = any(place == "budget" for place, _ in problems)
    raise IncompleteLoad(
        advice(
            "{what} is not complete: {ledger}.{shown} Try again, or pass {allow} to save what was received; the "
            "catalogue will then say so." + " {budget} changes the budget." * is_spent,
            what=what,
            ledger=ledger,
            shown=shown,
            allow=Argument("allow_incomplete", True),
            budget=PythonCall("budget=LoadBudget(...)"),
        ),
        ledger,
    )


def is_checked(journal: LoadJournal) -> bool:
    """Whether everything was fetched, and checked for completeness."""
    return _CHECKED in journal.notes


#: A snapshot of the same query that is younger than this is reused.
FRESH = timedelta(hours=1)


def reusable_snapshot(
    service: Client, query: ProductQuery, name: str | None, max_age: timedelta | float | None
) -> Catalog | None:
    """Return the snapshot that `load_products` would reuse, or None when it would ask the service."""
    return found_fresh(name_for(query, name), question_to(service, query), age_of(max_age))[0]


def name_for(query: ProductQuery, name: str | None) -> str:
    """Return the name of the snapshot of a query, if this can be one; it is made from the query where none is given."""
    return checked_name(name or f"products-{query.digest[:8]}")


def question_to(service: Client, query: ProductQuery, labels: tuple[str, ...] = ()) -> Origin:
    """Return what is asked, of whom."""
    return Origin(service.base_url, query, service.accept_language, labels, asked_by=service.fingerprint)


def age_of(max_age: timedelta | float | None) -> timedelta:
    """Return how old a snapshot may be, if this is an age."""
    return FRESH if max_age is None else duration_given(max_age, "max_age")


def fresh_snapshot(name: str, asked: Origin, age: timedelta, progress: Progress) -> Catalog | None:
    """Return the newest snapshot of a name if it may be reused, and report that where a progress bar would be.

    Parameters
    ----------
    name
        Name of the snapshot.
    asked
        What is to be loaded; a snapshot of another question is not reused.
    age
        How old it may be.
    progress
        As for `load_products`.

    Returns
    -------
    Catalog or None
        None if everything has to be loaded. That includes a write from this machine to the same service: until its
        import has ended, and for every snapshot that was begun before that.
    """
    catalog, line = found_fresh(name, asked, age)
    if line:
        _say(progress, line)
    return catalog


def found_fresh(name: str, asked: Origin, age: timedelta) -> tuple[Catalog | None, str]:
    """Return the newest snapshot of a name if it may be reused, and why, or why not, as a line; "" if there is none."""
    if age <= timedelta(0):
        return None, ""
    try:
        catalog = open_snapshot(name)
    except OtherLayout as error:
        return None, f"Loading {name!r} again. {error}"
    except SnapshotError:
        return None, ""
    now, begun = clock.now(), catalog.origin.loaded_at
    if begun is None or not _answers(catalog, asked) or not _is_younger(catalog.origin, now, age):
        return None, ""
    # An empty load does not prove that there is nothing, and another request takes two calls.
    if not len(catalog):
        return None, ""
    # Only who loads again needs what sends.
    from prodex.ledger.upserts import last_write

    # What was sent from here must be in what is loaded afterwards.
    try:
        write = last_write(asked.source, begun, catalog.origin.server_time)
    except StorageError as error:  # somebody else's, who may have sent something
        return None, f"Loading {name!r} again: it is not known what was sent meanwhile. {error}"
    if write is not None:
        when = moment_in_words(write.at, "%H:%M:%S", UTC)
        line = f"Loading {name!r} again: the upsert {write.upsert} was sent at {when}"
        if not write.has_ended:
            line += "; whether its import has ended is not known, track(service).wait() finds out"
        return None, f"{line}."
    return catalog, reuse_notice(catalog, now)


def _is_younger(origin: Origin, now: datetime, age: timedelta) -> bool:
    """Whether a load is younger than an age, and its age is known.

    It is not if the load is of the future, or if the clock of the service was on another day: then one was wrong.
    """
    begun, theirs = origin.loaded_at, origin.server_time
    if begun is None or (theirs is not None and abs(theirs - begun) > clock.ANY_ZONE):
        return False
    return timedelta(0) <= now - begun < age


def reuse_notice(catalog: Catalog, now: datetime) -> str:
    """Return the line that a snapshot was reused: how old it is, and how to load instead; "" if it was just loaded.

    Parameters
    ----------
    catalog
        From a load.
    now
        When the load was requested.
    """
    begun, folder = catalog.origin.loaded_at, catalog.folder
    if begun is None or folder is None or folder.name > clock.as_name(now):
        return ""
    return advice(
        "Reusing the snapshot {name} of {moment}, {age} old; {again} loads again.",
        name=repr(folder.parent.name),
        moment=moment_in_words(begun, zone=UTC),
        age=duration_in_words(now - begun),
        again=Argument("max_age", 0),
    )


def _answers(catalog: Catalog, asked: Origin) -> bool:
    """Whether a snapshot is complete, and has the answer to the same question."""
    found = catalog.origin
    return question_of(found) == asked and found.complete and len(catalog) == found.ledger.distinct


def question_of(origin: Origin) -> Origin:
    """Return an origin without the result of its load: what was asked, of whom."""
    return replace(origin, server_time=None, loaded_at=None, ledger=Ledger())


def _say(progress: Progress, line: str) -> None:
    _LOG.info("%s", line)
    write_line(progress, on_one_line(line))
