"""Resuming: what an interrupted load leaves, and how the next call continues it."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from prodex import clock
from prodex.catalog import Origin
from prodex.catalog.ledger import Ledger
from prodex.errors import IncompleteLoad, ProdexError, StorageError
from prodex.files.atomic import remove
from prodex.files.untrusted import is_folder, is_there
from prodex.query import ProductQuery
from prodex.store.archive import entries_of
from prodex.store.journal import Journal, journals_in
from prodex.store.journal_format import QUESTION, refuse_newer

_LOG = logging.getLogger("prodex")

#: A load that began longer ago starts again: too much has changed meanwhile.
RESUMABLE = timedelta(hours=24)

_JUDGED = "judged"


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
    """

    name: str
    query: ProductQuery | None
    began: datetime
    is_resumable: bool


def unfinished_loads(folder: Path) -> list[UnfinishedLoad]:
    """Return the loads from a service that are not finished, the newest first; refreshes and files are not loads.

    Parameters
    ----------
    folder
        The folder of all snapshots. Nothing in it is changed: one of the loads may be running.
    """
    found = []
    for path in (journal for name in entries_of(folder) for journal in _readable(name)):
        question = Journal.question_of(path)
        if question is None or "snapshot" in question or not {"asked", "began"} <= question.keys():
            continue
        began = _began(question)
        query = Origin.from_json(question["asked"]).query
        found.append(UnfinishedLoad(path.parent.name, query, began, _is_resumable(question, clock.now())))
    return sorted(found, key=lambda one: (one.began, one.name), reverse=True)


def _readable(folder: Path) -> list[Path]:
    """Return the journals of a name; none where it belongs to somebody else, whose loads are none of ours."""
    try:
        return journals_in(folder)
    except StorageError:
        return []


def resumed(
    folder: Path, question: dict[str, Any], settings: dict[str, Any], allow_incomplete: bool
) -> Journal:
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
        found = Journal.question_of(path)
        # The question is written first: without it, nothing was received. One that cannot be read may be of a newer
        # version of prodex, which can still use it.
        is_empty = is_folder(path) and not is_there(path / QUESTION)
        if is_empty or (found is not None and not _is_resumable(found, now)):
            remove(path)
    refuse_newer(mine)
    journal = Journal.open(mine)
    if journal is not None:
        known = journal.question
        is_ours = question.items() <= known.items() and {*settings, "began"} <= known.keys()
        # What was found incomplete is not judged again from the same pages: those that are missing may come now.
        if is_ours and (allow_incomplete or journal.notes.get(_JUDGED) != "incomplete"):
            _LOG.info("continuing the interrupted load; its journal is %s", mine)
            return journal
    return Journal.begin(mine, question | settings | {"began": now.isoformat()})


def _is_resumable(question: Mapping[str, Any], now: datetime) -> bool:
    """Whether a load began within a day; one that began in the future has no known age, as its clock was wrong."""
    return -clock.TOLERATED <= now - _began(question) <= RESUMABLE


def _began(question: Mapping[str, Any]) -> datetime:
    """Return when a load began; long ago if it does not say so."""
    began = question.get("began")
    return datetime.min.replace(tzinfo=UTC) if began is None else datetime.fromisoformat(began)


@contextmanager
def kept_for_later(journal: Journal) -> Iterator[None]:
    """Add to an error that everything received is kept; remove a journal that contains nothing."""
    try:
        yield
    except BaseException as error:
        if not journal.counts and not journal.entries():
            journal.remove()
        elif isinstance(error, ProdexError) and not isinstance(error, IncompleteLoad):
            error.add_note("Everything received so far is kept: the same call continues from there.")
        raise


def judge(what: str, ledger: Ledger, journal: Journal, allow_incomplete: bool) -> None:
    """Raise if a load is incomplete, with the numbers of what is missing; the journal records the decision.

    Raises
    ------
    IncompleteLoad
        When it is incomplete, and that is not allowed.
    """
    if ledger.complete or allow_incomplete:
        journal.note(_JUDGED, "complete" if ledger.complete else "allowed")
        return
    journal.note(_JUDGED, "incomplete")
    problems = ledger.problems
    shown = "".join(f" {place}: {reason}." for place, reason in problems[:3])
    if problems[3:]:
        shown += f" These are 3 of {len(problems):,}; `error.ledger.problems` lists all."
    shown += "".join(f" Note: {note}." for note in ledger.notes[:3])
    raise IncompleteLoad(
        f"{what} is not complete: {ledger}.{shown} Try again, or pass allow_incomplete=True to save what was "
        "received; the catalogue will then say so.",
        ledger,
    )


def is_judged(journal: Journal) -> bool:
    """Whether everything was fetched, and checked for completeness."""
    return _JUDGED in journal.notes
