"""What a load leaves when it is interrupted, and how the next call goes on from there."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from prodex.errors import IncompleteLoad, ProdexError
from prodex.files import remove
from prodex.files.untrusted import is_folder, is_there
from prodex.ledger import Ledger
from prodex.store.journal import Journal
from prodex.store.journal_format import QUESTION, refuse_newer

_LOG = logging.getLogger("prodex")

#: A load that was interrupted longer ago than this begins anew.
RESUMABLE = timedelta(hours=24)

_JUDGED = "judged"


def resumed(
    folder: Path, question: dict[str, Any], settings: dict[str, Any], allow_incomplete: bool
) -> Journal:
    """Return the journal of the same question if its load was interrupted not long ago, else a new one.

    Parameters
    ----------
    folder
        Of the snapshots of this name.
    question
        What makes it the same load.
    settings
        How it is fetched; a load that is resumed keeps those it began with.
    allow_incomplete
        Whether what came and was found incomplete is good enough now.
    """
    question = json.loads(json.dumps(question))  # as the journal gives it back
    digest = hashlib.sha256(json.dumps(question, sort_keys=True).encode()).hexdigest()
    mine = folder / f".journal-{digest[:8]}"
    now = datetime.now(UTC)
    for path in folder.glob(".journal-*"):
        found = Journal.question_of(path)
        # It is written first, so without it nothing had come. One that cannot be read may be of a newer version.
        is_empty = is_folder(path) and not is_there(path / QUESTION)
        if is_empty or (found is not None and now - _began(found) > RESUMABLE):
            remove(path)
    refuse_newer(mine)
    journal = Journal.open(mine)
    if journal is not None and not (
        question.items() <= journal.question.items() and {*settings, "began"} <= journal.question.keys()
    ):
        journal = None
    if journal is not None and (allow_incomplete or journal.notes.get(_JUDGED) != "incomplete"):
        _LOG.info("going on with the load that was interrupted; its journal is %s", mine)
        return journal
    return Journal.begin(mine, question | settings | {"began": now.isoformat()})


def _began(question: Mapping[str, Any]) -> datetime:
    """Return when a load began; one that does not say so began long ago."""
    began = question.get("began")
    return datetime.min.replace(tzinfo=UTC) if began is None else datetime.fromisoformat(began)


@contextmanager
def kept_for_later(journal: Journal) -> Iterator[None]:
    """Say with an error that what has come is kept; what holds nothing is thrown away."""
    try:
        yield
    except BaseException as error:
        if not journal.counts and not journal.entries():
            journal.remove()
        elif isinstance(error, ProdexError) and not isinstance(error, IncompleteLoad):
            error.add_note("What has come so far is kept: the same call goes on from there.")
        raise


def judge(what: str, ledger: Ledger, journal: Journal, allow_incomplete: bool) -> None:
    """Refuse what is not all there is, saying with numbers what is missing; the journal remembers the judgement.

    Raises
    ------
    IncompleteLoad
        Unless it is complete, or that is allowed not to be.
    """
    if ledger.complete or allow_incomplete:
        journal.note(_JUDGED, "complete" if ledger.complete else "allowed")
        return
    journal.note(_JUDGED, "incomplete")
    problems = ledger.problems
    shown = "".join(f" {place}: {reason}." for place, reason in problems[:3])
    if problems[3:]:
        shown += f" These are 3 of {len(problems):,}; `error.ledger.problems` lists all."
    raise IncompleteLoad(
        f"{what} is not complete: {ledger}.{shown} Try again, or pass allow_incomplete=True to keep what came; "
        "the catalogue will then say so.",
        ledger,
    )


def is_judged(journal: Journal) -> bool:
    """Say whether all that is to be fetched was fetched, and found complete or not."""
    return _JUDGED in journal.notes
