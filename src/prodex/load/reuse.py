"""Using a snapshot again instead of loading: only where it answers the same question and nothing was written since."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from prodex.catalog import Catalog, Origin
from prodex.errors import QueryError, SnapshotError
from prodex.ledger import Ledger
from prodex.progress import Progress, tell
from prodex.send.upserts import last_write
from prodex.store.snapshot import open_snapshot

_LOG = logging.getLogger("prodex")

#: A snapshot of the same query that is younger than this is used again.
FRESH = timedelta(hours=1)


def age_of(max_age: timedelta | float | None) -> timedelta:
    """Return how old a snapshot may be, or refuse what is no age."""
    if max_age is None:
        return FRESH
    try:
        return max_age if isinstance(max_age, timedelta) else timedelta(seconds=max_age)
    except (TypeError, ValueError, OverflowError) as error:
        raise QueryError(f"max_age is {max_age!r}. Give a timedelta, or a number of seconds.") from error


def fresh_snapshot(name: str, asked: Origin, age: timedelta, progress: Progress) -> Catalog | None:
    """Return the newest snapshot of a name where it may be used again, and tell whoever watches.

    Parameters
    ----------
    name
        Name of the snapshot.
    asked
        What is to be loaded; a snapshot of another question is not used.
    age
        How old it may be.
    progress
        As for `load_products`.

    Returns
    -------
    Catalog or None
        None where all has to be loaded. So it is after a write from this machine to the same service, from when it
        was sent until the snapshot is one that was begun after its import had ended.
    """
    if age <= timedelta(0):
        return None
    try:
        catalog = open_snapshot(name)
    except SnapshotError:
        return None
    now, begun = datetime.now(UTC), catalog.origin.loaded_at
    # A snapshot of the future was made while the clock was wrong: nobody knows what it is older than.
    if begun is None or not _answers(catalog, asked) or not timedelta(0) <= now - begun < age:
        return None
    write = last_write(asked.source, since=begun)
    if write is not None:
        when = f"at {write.at.astimezone(UTC):%H:%M:%S} UTC"
        state = (
            "" if write.has_ended else "; nobody has seen the end of its import, track(service).wait() does"
        )
        _say(progress, f"Loading {name!r} again: the upsert {write.upsert} was sent {when}{state}.")
        return None
    _say(progress, used_again(catalog, now))
    return catalog


def used_again(catalog: Catalog, now: datetime) -> str:
    """Say of a snapshot that it was used again, how old it is, and how to load instead; "" where it was made later.

    Parameters
    ----------
    catalog
        From a load.
    now
        When the load was asked for.
    """
    begun, folder = catalog.origin.loaded_at, catalog.folder
    if begun is None or folder is None or folder.name > f"{now:%Y-%m-%dT%H%M%S.%f}Z":
        return ""
    return (
        f"Using the snapshot {folder.parent.name!r} of {begun.astimezone(UTC):%Y-%m-%d %H:%M} UTC, "
        f"{in_words(now - begun)} old; max_age=0 loads again."
    )


def in_words(age: timedelta) -> str:
    """Write an age in the unit that a person would take.

    >>> in_words(timedelta(seconds=61)), in_words(timedelta(minutes=90)), in_words(timedelta(hours=50))
    ('61 seconds', '90 minutes', '2 days')
    """
    seconds = max(int(age.total_seconds()), 0)
    for unit, length, least in (("day", 86_400, 2), ("hour", 3_600, 2), ("minute", 60, 2), ("second", 1, 0)):
        if (count := seconds // length) >= least:
            return f"{count} {unit}{'' if count == 1 else 's'}"
    raise AssertionError(seconds)


def _answers(catalog: Catalog, asked: Origin) -> bool:
    """Say whether a snapshot has all that is asked for, and was asked the same."""
    found = catalog.origin
    question = replace(found, server_time=None, loaded_at=None, ledger=Ledger())
    return question == asked and found.complete and len(catalog) == found.ledger.distinct


def _say(progress: Progress, line: str) -> None:
    _LOG.info("%s", line)
    tell(progress, line)
