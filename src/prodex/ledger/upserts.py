"""All upserts from this machine: which there are, which has a product, and which may still be running.

Which imports have ended, at which time, and what became of each product of them, is noted in their upserts. An import
that ended long ago may be gone from the service, and its status too. The times of this machine are for people; those of
the service decide: a clock that is wrong for a while ends nothing, and a wait is over only by these.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pandas as pd

from prodex.advice import PythonCall, advice
from prodex.errors import InputError, OtherLayout, ProdexError, StorageError
from prodex.files.atomic import reading, remove, writing
from prodex.files.layouts import require_layout
from prodex.files.sealed_rows import Damaged, SealedRows, as_json
from prodex.files.untrusted import Count, converted, is_folder, is_there, read_bytes
from prodex.gtin import gtin_key
from prodex.ledger.upsert_file import (
    ADVICE,
    LAYOUT,
    LONGEST,
    UPSERT_FILE,
    UpsertFile,
    host_of,
    ledger_folder,
    name_of,
    planned_at,
    settling_time,
)
from prodex.limits import KeepingLimits

_LOG = logging.getLogger("prodex")

_COUNTS = ("sent", "accepted", "unknown", "refused", "not sent")

#: The file of an upsert of layout 3 and before.
_FILE_OF_LINES = "journal.jsonl"
#: Largest difference between the clock of a network disk and this machine's.
CLOCKS = timedelta(days=1)

_INDEX = "index.sqlite"
_INDEX_LAYOUT = 1
#: What may be a GTIN in the bytes of a file.
_GTIN = re.compile(rb"(?<!\d)\d{8,14}(?!\d)")


class _Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What the index has of an upsert: it is right as long as its file has this stamp."""

    stamp: tuple[int, int, int]
    base_url: str = ""
    key: str = ""
    gtins: frozenset[str] = frozenset()
    continues: frozenset[str] = frozenset()
    earlier_bytes: Count = 0
    is_settled: bool = False
    problem: str = ""


class LedgerEntry(_Facts, frozen=True, kw_only=True):
    """An upsert on this machine, as it is found without reading its file.

    Attributes
    ----------
    path, stamp
        Its file, and as which it was read.
    base_url, key
        Of the service, and the digest of the access key; "" where its file cannot be read and never could.
    gtins
        The keys of the GTINs of its products, as far as they are known.
    continues
        Names of the earlier upserts of the same corrections.
    earlier_bytes
        The size of the products as they were before; 0 if none are kept.
    is_settled
        Whether a service has shown that none of its imports can be running any more.
    problem
        Why its file cannot be read, or "".
    changed_at
        When its file was changed last.
    """

    path: Path
    changed_at: datetime

    @property
    def name(self) -> str:
        """The name of the upsert."""
        return name_of(self.path)

    @property
    def planned_at(self) -> datetime:
        """When it was planned."""
        return planned_at(self.path)

    def opened(self) -> UpsertFile:
        """Read its file; the errors are those of `UpsertFile`, and an older layout is refused."""
        return _opened(self.path)

    def may_have(self, gtins: Collection[str]) -> frozenset[str]:
        """Return the products of some, by the keys of their GTINs, that it has, or may have if it cannot be read.

        What cannot be read is never taken for empty: where neither the index nor its bytes name any product, it may
        have all of them.
        """
        here = self.gtins.intersection(gtins)
        if not self.problem:
            return here
        try:
            content = read_bytes(self.path, most=None)
        except OSError:
            content = b""
        named = here.union(one for one in gtins if one.lstrip("0").encode() in content)
        if named or self.gtins or _GTIN.search(content):
            return named
        return frozenset(gtins)


def list_entries() -> list[LedgerEntry]:
    """Return the upserts on this machine, the newest first, without links and unfinished ones.

    Raises
    ------
    StorageError
        When their folder belongs to somebody else and may not be read.
    """
    paths = list(_paths())
    index = _Index.read()
    found = {path: index.facts_of(path) for path in paths}
    index.write(found)
    return [
        LedgerEntry(path=path, changed_at=_changed_at(path), **msgspec.structs.asdict(facts))
        for path, facts in found.items()
    ]


class _Index:
    """What is known of all upserts: only to find them, and made anew where it is missing or wrong."""

    def __init__(self, known: Mapping[str, _Facts]) -> None:
        self._known = known

    @classmethod
    def read(cls) -> _Index:
        known = {}
        with suppress(Damaged, ProdexError, OSError):
            for row in _index_file().rows("upserts"):
                with suppress(ValueError):
                    known[row.name] = converted(row.read(), _Facts)
        return cls(known)

    def facts_of(self, path: Path) -> _Facts:
        """Return what is known of an upsert, from its file if that has changed."""
        known, stamp = self._known.get(name_of(path)), _stamp(path)
        if known is not None and known.stamp == stamp and not known.problem:
            return known
        try:
            upsert = _opened(path)
            return _Facts(
                stamp=stamp,
                base_url=upsert.plan.base_url,
                key=upsert.plan.key,
                gtins=frozenset(map(gtin_key, upsert.all_gtins)),
                continues=frozenset(upsert.plan.continues),
                earlier_bytes=upsert.earlier_bytes,
                is_settled=upsert.is_settled,
            )
        except (InputError, OtherLayout, StorageError) as error:
            # What it was about before is still known.
            was = _Facts(stamp=stamp) if known is None else known
            return msgspec.structs.replace(was, stamp=stamp, is_settled=False, problem=str(error))

    def write(self, found: Mapping[Path, _Facts]) -> None:
        """Keep what was found; without it, the files are read again the next time."""
        facts = {name_of(path): one for path, one in found.items()}
        changed = [name for name, one in facts.items() if self._known.get(name) != one]
        gone = self._known.keys() - facts.keys()
        if not changed and not gone:
            return
        try:
            if self._known:
                with _index_file().writing() as change:
                    change.clear("upserts", gone)
                    for name in changed:
                        change.replace("upserts", name, as_json(facts[name]))
                return
        except (Damaged, OtherLayout, StorageError) as error:
            _LOG.info("the index of upserts is made anew: %s", error)
        with suppress(StorageError, Damaged):
            path = ledger_folder() / _INDEX
            # Of the file that is replaced: SQLite would take it for that of the new one.
            remove(path.with_name(f"{_INDEX}-journal"))
            with writing(path, private=True) as beside:
                rows = (("upserts", name, as_json(one)) for name, one in facts.items())
                replace(_index_file(), path=beside).create(rows)


def _index_file() -> SealedRows:
    return SealedRows(ledger_folder() / _INDEX, ("upserts",), _INDEX_LAYOUT)


def _stamp(path: Path) -> tuple[int, int, int]:
    try:
        found = path.lstat()
    except OSError:
        return 0, 0, 0
    return found.st_size, found.st_mtime_ns, found.st_ino


def _opened(path: Path) -> UpsertFile:
    if path.name != UPSERT_FILE:
        require_layout(path, LAYOUT - 1, LAYOUT, ADVICE)
    return UpsertFile(path)


def _paths() -> Iterator[Path]:
    folder = ledger_folder()
    with reading(folder):
        found = list(folder.iterdir()) if folder.is_dir() else []
    for path in sorted(found, key=lambda path: path.name.removesuffix(".jsonl"), reverse=True):
        if path.name.startswith(".") or path.is_symlink():
            continue
        if is_folder(path):
            for inside in (path / UPSERT_FILE, path / _FILE_OF_LINES):
                if is_there(inside) or _is_closed(inside):
                    yield inside
                    break
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


def _changed_at(path: Path) -> datetime:
    # Of a file that may not be looked at the date of its folder is known.
    found = path.parent if _is_closed(path) else path
    return datetime.fromtimestamp(found.lstat().st_mtime, UTC)


def latest_upsert(base_url: str, key: str) -> UpsertFile:
    """Return the newest upsert to a service with an access key.

    Raises
    ------
    InputError
        When there is none on this machine.
    OtherLayout
        When another version of prodex has sent a newer one.
    """
    for entry in list_entries():
        try:
            upsert = entry.opened()
        except (InputError, StorageError) as error:
            _LOG.warning("%s It was skipped.", error)
            continue
        if upsert.is_of(base_url, key):
            return upsert
    raise InputError(
        advice(
            "There is no upsert to {host} with this access key in {folder}. Give the tracking identifiers, {track}, or "
            "the name of an upsert that {list} shows.",
            host=host_of(base_url),
            folder=ledger_folder(),
            track=PythonCall("prodex.track(service, [...])"),
            list=PythonCall("prodex.list_upserts()"),
        )
    )


def upserts_of_correction(upsert: UpsertFile) -> list[UpsertFile]:
    """Return all upserts that one correction took, the oldest first, whichever of them is given.

    Those that cannot be read are left out.
    """
    names = {upsert.name, *upsert.plan.continues}
    found = list_entries()
    # The oldest first: a later one names those that it continues.
    for entry in reversed(found):
        if entry.name in names or not names.isdisjoint(entry.continues):
            names |= {entry.name, *entry.continues}
    files = {upsert.name: upsert}
    for name in names - files.keys():
        try:
            files[name] = upsert_named(name)
        except InputError as error:
            _LOG.warning("%s It is of the same corrections as the upsert %s.", error, upsert.name)
    return [files[name] for name in sorted(files)]


def upsert_named(name: str) -> UpsertFile:
    """Return the upsert with a name.

    Raises
    ------
    InputError
        When there is none, or its file cannot be read.
    """
    for path in _paths():
        if name_of(path) == name:
            return _opened(path)
    raise InputError(
        advice(
            "There is no upsert {name} in {folder}. {list} shows all.",
            name=f"{name!r:.80}",
            folder=ledger_folder(),
            list=PythonCall("prodex.list_upserts()"),
        )
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
        which `prodex.undo` takes it back; 0 if none are kept) and kept_until (when these are removed); note (why an
        upsert cannot be read, or which later upsert sends its other products).

    Examples
    --------
    >>> import prodex
    >>> prodex.list_upserts()["name"].tolist()
    []
    """
    limits = KeepingLimits.given()
    rows = [
        {"number": number, **_upsert_row(entry, limits)} for number, entry in enumerate(list_entries(), 1)
    ]
    columns = ["number", "name", "at", "host", "products", *(name.replace(" ", "_") for name in _COUNTS)]
    after = ["keeps_products", "by", "why", "earlier_records", "kept_until", "note"]
    frame = pd.DataFrame(rows, columns=[*columns, *after])
    numbers = dict.fromkeys(["number", *columns[4:], "earlier_records"], "Int64")
    return frame.astype({**numbers, "keeps_products": "bool", "kept_until": "datetime64[us, UTC]"})


def _upsert_row(entry: LedgerEntry, limits: KeepingLimits) -> dict[str, Any]:
    size = entry.earlier_bytes
    kept = {"earlier_records": size, "kept_until": limits.until(entry.planned_at) if size else None}
    try:
        upsert = entry.opened()
        batches = upsert.batches()
    except (InputError, OtherLayout, StorageError) as error:
        return {"name": entry.name, "keeps_products": False, "note": str(error), **kept}
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
        "name": upsert.name,
        "at": upsert.plan.at.isoformat(),
        "host": upsert.plan.host,
        "products": counts.total(),
        **{name.replace(" ", "_"): counts[name] for name in _COUNTS},
        "keeps_products": upsert.keeps_payloads,
        "by": upsert.plan.by,
        "why": upsert.plan.why,
        **kept,
        "note": "being sent now" if upsert.is_busy else " ".join(f"continued by {one}" for one in continued),
    }


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
        for entry in (list_entries() if since is None else recent_entries(since))
        for write in _writes(entry, base_url, since, date)
        if since is None or write.through >= since
    ]
    return max(found, key=lambda write: write.through, default=None)


def was_sent_since(base_url: str, since: datetime) -> bool:
    """Whether products were sent to a service at a time or later, or may have been."""
    entries = recent_entries(since)
    return any(write.at >= since for entry in entries for write in _writes(entry, base_url, since, None))


def recent_entries(since: datetime) -> Iterator[LedgerEntry]:
    """Yield the upserts whose imports may have been running at a time, the newest first.

    The others are those of which a service has shown that they are over, and which were not changed since.
    """
    # Reading a year of upserts would delay every load. By the date of the file alone nothing is over: a clock that is
    # ahead makes everything old.
    return (
        entry
        for entry in list_entries()
        if entry.changed_at + LONGEST + CLOCKS >= since or not entry.is_settled
    )


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
        found = list(recent_entries(datetime.now(UTC)))
    except StorageError as error:
        _LOG.info("the end of an import could not be recorded: %s", error)
        return
    for entry in found:
        if entry.problem or entry.base_url != base_url:
            continue
        try:
            upsert = entry.opened()
            ours = {call.tracking for call in upsert.calls if call.tracking in identifiers}
            if new := [str(one) for one in ours if one not in upsert.ended]:
                upsert.note_ended({one: (statuses or {}).get(one, {}) for one in new}, date)
        except (InputError, OtherLayout, StorageError) as error:
            _LOG.info("the end of an import could not be recorded: %s", error)


def _writes(
    entry: LedgerEntry, base_url: str, since: datetime | None, date: datetime | None
) -> Iterator[Write]:
    """Yield the calls of an upsert that arrived, or may have; `since` and `date` are one time by both clocks."""
    if not entry.problem and entry.base_url != base_url:
        return
    try:
        upsert = entry.opened()
    except (InputError, StorageError):  # it may have been for this service
        yield Write(entry.name, entry.changed_at, entry.changed_at + LONGEST, has_ended=False)
        return
    for call in upsert.calls:
        at, ended = call.at or entry.changed_at, upsert.ended.get(call.tracking or "")
        through = at + LONGEST if ended is None else ended.at + settling_time(base_url)
        if ended is None and since is not None and date is not None and call.date is not None:
            # As long before or after as the service says, whatever the clock here has said meanwhile.
            through = since + (call.date + LONGEST - date)
        yield Write(upsert.name, at, through, ended is not None)
    note_settled(upsert, date)


def note_settled(upsert: UpsertFile, date: datetime | None) -> None:
    """Note that no import of an upsert can be running any more, if that is so at a date of the service."""
    try:
        upsert.settle(date)
    except (InputError, StorageError) as error:
        _LOG.info("that %s is over could not be recorded: %s", upsert.name, error)


def unfollowed_imports(base_url: str, key: str) -> list[str]:
    """Return the imports of recent upserts to a service whose end nobody has seen, by their tracking identifiers.

    Parameters
    ----------
    base_url, key
        Of the service, and the digest of the access key that sent them.
    """
    found: dict[str, None] = {}
    for entry in recent_entries(datetime.now(UTC)):
        if (entry.base_url, entry.key) != (base_url, key):
            continue
        with suppress(InputError, StorageError):
            upsert = entry.opened()
            tracked = [call.tracking for call in upsert.calls]
            found |= dict.fromkeys(one for one in tracked if one is not None and one not in upsert.ended)
    return list(found)


def has_sent(sources: Collection[str]) -> bool:
    """Whether there are upserts from this machine to one of these services, as far as they can be read."""
    return any(entry.base_url in sources for entry in readable_entries())


def anything_sent() -> bool:
    """Whether there is an upsert from this machine at all."""
    return bool(readable_entries())


def readable_entries() -> list[LedgerEntry]:
    """Return the upserts; none where their folder belongs to somebody else, and so does what was sent.

    Raises
    ------
    OtherLayout
        When another version of prodex has sent one.
    """
    try:
        found = list_entries()
    except StorageError:
        return []
    for entry in found:
        if entry.problem:
            with suppress(InputError, StorageError):
                entry.opened()
    return found
