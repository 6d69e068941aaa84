"""The upserts from this machine: the last one, all of them, and until when each write may have been in progress.

A service imports what is sent in its own time. So a snapshot that was begun before an import had ended may contain old
values, and must not be reused. What was sent, and when, is in the journals; when an import was first seen to have ended
is noted beside them. Times are of this machine's clock, which may have been wrong for a while; dates are of the clock
of the service, and a wait is over only by these.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pandas as pd

from prodex.errors import InputError, OtherLayout, StorageError
from prodex.files.atomic import reading, writing
from prodex.files.untrusted import Moment, check_moment, is_file, is_folder, read_bytes, read_json
from prodex.limits import KeepingLimits
from prodex.network.addresses import is_loopback
from prodex.send.journal import (
    JOURNAL,
    UpsertJournal,
    host_of,
    kept_bytes,
    name_of,
    planned_at,
    tracking_folder,
)

_LOG = logging.getLogger("prodex")

_COUNTS = ("sent", "accepted", "unknown", "refused", "not sent")


def latest(base_url: str, key: str) -> UpsertJournal:
    """Return the newest upsert to a service with an access key.

    Raises
    ------
    InputError
        When there is none on this machine.
    OtherLayout
        When another version of prodex has sent a newer one.
    """
    for path in journals():
        try:
            journal = UpsertJournal(path)
        except (InputError, StorageError) as error:
            _LOG.warning("%s It was skipped.", error)
            continue
        if (journal.head.host, journal.head.key) == (host_of(base_url), key):
            return journal
    raise InputError(
        f"There is no upsert to {host_of(base_url)} with this access key in {tracking_folder()}. Give the tracking "
        "identifiers, prodex.track(service, [...]), or the name of an upsert that prodex.list_upserts() shows."
    )


def continued_upserts(journal: UpsertJournal) -> list[UpsertJournal]:
    """Return the earlier upserts that one continues, the oldest first; those that cannot be read are left out."""
    found = []
    for name in sorted(journal.head.continues):
        try:
            found.append(upsert_named(name))
        except InputError as error:
            _LOG.warning("%s Upsert %s continues it.", error, journal.name)
    return found


def upsert_named(name: str) -> UpsertJournal:
    """Return the upsert with a name.

    Raises
    ------
    InputError
        When there is none, or its journal cannot be read.
    """
    for path in journals():
        if name_of(path) == name:
            return UpsertJournal(path)
    raise InputError(
        f"There is no upsert {name!r:.80} in {tracking_folder()}. prodex.list_upserts() shows all."
    )


def list_upserts() -> pd.DataFrame:
    """List the upserts from this machine, the newest first.

    Returns
    -------
    DataFrame
        One row for each upsert: number (for `prodex.undo`; the newest is 1), name, at (when it was planned), host,
        products (how many), and how many of them are sent, accepted (without an identifier that could be read),
        unknown, refused and not_sent; keeps_products (whether the payloads for `Tracking.send_rest` are there); by, why
        (who has sent it, and what for); earlier_records (bytes on the disk of its products as they were before, with
        which `prodex.undo` takes it back; 0 if none are kept) and kept_until (when these are removed); note (why a
        journal cannot be read, or which later upsert sends its other products).

    Examples
    --------
    >>> import prodex
    >>> prodex.list_upserts()["name"].tolist()
    []
    """
    limits = KeepingLimits.given()
    rows = [{"number": number, **_upsert_row(path, limits)} for number, path in enumerate(journals(), 1)]
    columns = ["number", "name", "at", "host", "products", *(name.replace(" ", "_") for name in _COUNTS)]
    after = ["keeps_products", "by", "why", "earlier_records", "kept_until", "note"]
    frame = pd.DataFrame(rows, columns=[*columns, *after])
    numbers = dict.fromkeys(["number", *columns[4:], "earlier_records"], "Int64")
    return frame.astype({**numbers, "keeps_products": "bool", "kept_until": "datetime64[us, UTC]"})


def _upsert_row(path: Path, limits: KeepingLimits) -> dict[str, Any]:
    size = kept_bytes(path)
    kept = {"earlier_records": size, "kept_until": limits.until(planned_at(path)) if size else None}
    try:
        journal = UpsertJournal(path)
        batches = journal.batches()
    except (InputError, OtherLayout, StorageError) as error:
        return {"name": name_of(path), "keeps_products": False, "note": str(error), **kept}
    # Each product counts where it is sent.
    counts: Counter[str] = Counter(
        batch.sent
        for several in batches
        for batch in several.by_call()
        for one in batch.gtins
        if not batch.continued_by or one in batch.arrived
    )
    continued = sorted({batch.continued_by for batch in batches} - {""})
    return {
        "name": journal.name,
        "at": journal.head.at,
        "host": journal.head.host,
        "products": counts.total(),
        **{name.replace(" ", "_"): counts[name] for name in _COUNTS},
        "keeps_products": journal.keeps_payloads,
        "by": journal.head.by,
        "why": journal.head.why,
        **kept,
        "note": "being sent now" if journal.is_busy else " ".join(f"continued by {one}" for one in continued),
    }


def journals() -> Iterator[Path]:
    """Yield the journals, the newest first, without links and unfinished ones.

    Raises
    ------
    StorageError
        When their folder belongs to somebody else and may not be read.
    """
    folder = tracking_folder()
    with reading(folder):
        found = list(folder.iterdir()) if folder.is_dir() else []
    for path in sorted(found, key=lambda path: path.name.removesuffix(".jsonl"), reverse=True):
        if path.name.startswith(".") or path.is_symlink():
            continue
        inside = path / JOURNAL
        if is_folder(path) and (is_file(inside) or _is_closed(inside)):
            yield inside
        elif path.suffix == ".jsonl" and path.is_file():
            # Of another layout: it is refused when it is read, and must not be passed over in silence.
            yield path


def _is_closed(path: Path) -> bool:
    """Whether the folder of a file belongs to somebody else and may not be entered; the file may be there."""
    try:
        path.lstat()
    except PermissionError:
        return True
    except OSError:
        return False
    return False


#: How long an import may run whose end is not known: its reply was lost, or nobody followed it.
LONGEST = timedelta(days=1)

#: How long a service takes until searches return what it has imported. The sandbox takes no time.
SETTLES = timedelta(minutes=2)

#: Largest difference between the clock of a network disk and this machine's.
CLOCKS = timedelta(days=1)

_ENDED = "ended.json"
_ENDED_DATES = "ended_dates.json"
#: Holds the size of a journal of which no import can be running any more.
_SETTLED = "settled"
_DIGITS = 20
_STATUSES = "statuses.json"


class Write(NamedTuple):
    """One call that wrote products, or may have.

    Attributes
    ----------
    upsert
        Name of its upsert.
    at
        When it was sent.
    through
        When its changes are certainly visible: when its import was first seen to have ended, else a day later.
    has_ended
        Whether its import was seen to have ended.
    """

    upsert: str
    at: datetime
    through: datetime
    has_ended: bool


def last_write(base_url: str, since: datetime | None = None, date: datetime | None = None) -> Write | None:
    """Return the write to a service that is visible last; None if there is none.

    Parameters
    ----------
    base_url
        Of the service. The access key does not matter: organisations see each other's products.
    since
        Only writes that were not visible at this time.
    date
        The same time by the clock of the service, if that is known: it decides of imports whose end nobody has seen.
    """
    found = [
        write
        for path in (journals() if since is None else recent_journals(since))
        for write in _writes(path, base_url, since, date)
        if since is None or write.through >= since
    ]
    return max(found, key=lambda write: write.through, default=None)


def note_ended(
    base_url: str,
    identifiers: Collection[str],
    statuses: Mapping[str, Mapping[str, str]] | None = None,
    date: datetime | None = None,
) -> None:
    """Note that imports which were sent from here have ended.

    An error of the disk is only logged: the imports then count as running for a day.

    Parameters
    ----------
    base_url
        Of the service.
    identifiers
        The imports.
    statuses
        By import, the status of each product as the service says it, by GTIN.
    date
        When it was seen, by the clock of the service.
    """
    if not identifiers:
        return
    try:
        # The end of an older import no longer matters.
        paths = list(recent_journals(datetime.now(UTC)))
    except StorageError as error:
        _LOG.info("the end of an import could not be recorded: %s", error)
        return
    for path in paths:
        try:
            journal = UpsertJournal(path)
        except (InputError, OtherLayout, StorageError):
            continue
        ended = ended_imports(path)
        ours = {call.tracking for call in journal.calls if call.tracking in identifiers}
        if not journal.is_for(base_url) or ours <= ended.keys():
            continue
        now = datetime.now(UTC)
        moments = {str(one): now for one in ours} | ended
        known = {one: dict(of) for one, of in (statuses or {}).items() if one in ours}
        dates = ended_dates(path) | ({} if date is None else {str(one): date for one in ours - ended.keys()})
        try:
            # First: an import that has ended is not looked at again.
            if known:
                with writing(path.with_name(_STATUSES), private=True) as beside:
                    beside.write_bytes(msgspec.json.encode(product_statuses(path) | known))
            if date is not None:
                with writing(path.with_name(_ENDED_DATES), private=True) as beside:
                    beside.write_bytes(msgspec.json.encode(dates))
            with writing(path.with_name(_ENDED), private=True) as beside:
                beside.write_bytes(msgspec.json.encode(moments))
        except StorageError as error:
            _LOG.info("the end of an import could not be recorded: %s", error)


def _writes(path: Path, base_url: str, since: datetime | None, date: datetime | None) -> Iterator[Write]:
    """Yield the calls of an upsert that arrived, or may have; `since` and `date` are one time by both clocks."""
    changed = changed_at(path)
    try:
        journal = UpsertJournal(path)
    except (InputError, StorageError):  # it may have been for this service
        yield Write(name_of(path), changed, changed + LONGEST, has_ended=False)
        return
    if not journal.is_for(base_url):
        return
    ended = ended_imports(path)
    for call in journal.calls:
        at = call.at or changed
        end = ended.get(call.tracking or "")
        through = at + LONGEST if end is None else end + settling(base_url)
        if end is None and since is not None and date is not None and call.date is not None:
            # As long before or after as the service says, whatever the clock here has said meanwhile.
            through = since + (call.date + LONGEST - date)
        yield Write(journal.name, at, through, end is not None)
    settle(journal, date)


def settling(base_url: str) -> timedelta:
    """Return how long a service takes until searches return what it has imported."""
    # The sandbox finds products at once; waiting would make every example of the documentation load twice.
    return timedelta(0) if is_loopback(base_url) else SETTLES


def recent_journals(since: datetime) -> Iterator[Path]:
    """Yield the journals of upserts whose imports may have been running at a time, the newest first.

    The others are those of which a service has shown that they are over (`settle`), and which were not changed since.
    """
    # Parsing a year of upserts would delay every load. By the date of the file alone nothing is over: a clock that is
    # ahead makes everything old.
    return (
        path for path in journals() if changed_at(path) + LONGEST + CLOCKS >= since or not _is_settled(path)
    )


def settle(journal: UpsertJournal, date: datetime | None) -> None:
    """Note that no import of an upsert can be running any more, if that is so at a date of the service."""
    if date is None or not journal.calls or _is_settled(journal.path):
        return
    ended = ended_dates(journal.path)
    begun = [ended.get(call.tracking or "", call.date) for call in journal.calls]
    if any(one is None or one + LONGEST > date for one in begun):
        return
    try:
        size = journal.path.lstat().st_size
        with writing(journal.path.with_name(_SETTLED), private=True) as beside:
            beside.write_text(str(size), "ascii")
    except (OSError, StorageError) as error:
        _LOG.info("that %s is over could not be recorded: %s", journal.name, error)


def _is_settled(journal: Path) -> bool:
    try:
        content = read_bytes(journal.with_name(_SETTLED), most=_DIGITS)
        return content == str(journal.lstat().st_size).encode()
    except (OSError, ValueError):
        return False


def changed_at(path: Path) -> datetime:
    """Return when a file was last changed."""
    # Of a journal that may not be read the date of its folder is known.
    found = path.parent if _is_closed(path) else path
    return datetime.fromtimestamp(found.lstat().st_mtime, UTC)


def ended_imports(journal: Path) -> dict[str, datetime]:
    """Return when imports were first seen to have ended, by identifier; none if the file cannot be read."""
    try:
        moments = read_json(journal.with_name(_ENDED), dict[str, Moment])
        for moment in moments.values():
            check_moment(moment)
    except (OSError, ValueError):
        return {}
    return moments


def ended_dates(journal: Path) -> dict[str, datetime]:
    """Return when imports were first seen to have ended, by the clock of the service, as far as that is known."""
    try:
        dates = read_json(journal.with_name(_ENDED_DATES), dict[str, Moment])
        for date in dates.values():
            check_moment(date)
    except (OSError, ValueError):
        return {}
    return dates


def product_statuses(journal: Path) -> dict[str, dict[str, str]]:
    """Return the status of each product by import and GTIN, as far as they were noted; none if that cannot be read."""
    try:
        return read_json(journal.with_name(_STATUSES), dict[str, dict[str, str]])
    except (OSError, ValueError):
        return {}
