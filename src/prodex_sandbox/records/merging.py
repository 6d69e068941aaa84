"""The merge rule: a stored record after attributes were written to it (contract, Writing), and the date of the write.

Attributes stay JSON bytes, so that those that are not written keep every byte. The members
of `assets` count as attributes of their own, by the names `assets.pictures` and so on.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec

from prodex_sandbox.raw_json import decode, encode, joined, members
from prodex_sandbox.records.validation import ProductRefused

#: How long a commit may take; where the second ends earlier, what is written belongs to the next one.
_COMMIT: Final = timedelta(milliseconds=50)

_MEMBER: Final = """
UPDATE records SET body = CAST(replace(CAST(body AS TEXT), :before, :after) AS BLOB)
WHERE key IN (SELECT value FROM json_each(:keys))
"""
_COLUMN: Final = """
UPDATE products SET {0} = :after WHERE key IN (SELECT value FROM json_each(:keys)) AND {0} = :before
"""

Clock = Callable[[], datetime]


def stamp(moment: datetime) -> str:
    """Return a time as records hold it: local date-time without zone; the sandbox lives in UTC."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")


def date_writes(
    connection: sqlite3.Connection, keys: Collection[int], written: datetime, clock: Clock
) -> datetime:
    """Date products that a transaction wrote to the second in which it is going to be committed, and return it.

    Parameters
    ----------
    keys
        The products.
    written
        The time that they were given when they were written.
    clock
        The clock of the service.
    """
    dated, needed = written.replace(microsecond=0), timedelta(0)
    while dated < (second := (clock() + _COMMIT + needed).replace(microsecond=0)):
        begin = time.monotonic()
        _date(connection, keys, dated, second)
        dated = second
        # Where dating itself takes long, it is done for a second that has not come yet.
        needed = (
            timedelta(seconds=time.monotonic() - begin) * 2 if clock() + _COMMIT > second else timedelta(0)
        )
    time.sleep(max(0.0, (dated - clock()).total_seconds()))
    return dated


def _date(connection: sqlite3.Connection, keys: Collection[int], before: datetime, after: datetime) -> None:
    bound: dict[str, object] = {"keys": encode(list(keys)).decode()}
    for name in ("updatedAt", "pictures"):
        members = {"before": f'"{name}":"{stamp(before)}"', "after": f'"{name}":"{stamp(after)}"'}
        connection.execute(_MEMBER, bound | members)
    for column, unit in (("pictures_updated_at", 1_000), ("updated_at", 1)):
        times = {"before": unit * int(before.timestamp()), "after": unit * int(after.timestamp())}
        connection.execute(_COLUMN.format(column), bound | times)


#: What a record holds, or what was sent: attribute -> its JSON bytes.
Members = Mapping[str, bytes | msgspec.Raw]

_NULL: Final = b"null"
_ASSETS: Final = "assets."


def is_null(raw: bytes | msgspec.Raw) -> bool:
    """Tell whether an attribute is null, which deletes."""
    return bytes(raw) == _NULL


def attributes_of(sent: Mapping[str, msgspec.Raw]) -> dict[str, msgspec.Raw]:
    """Return what was sent with the members of `assets` as attributes of their own.

    Raises
    ------
    ProductRefused
        When assets is neither an object nor null.
    """
    attributes = dict(sent)
    assets = attributes.get("assets")
    if assets is None or is_null(assets):
        return attributes
    if not bytes(assets).startswith(b"{"):
        raise ProductRefused("assets is not an object")
    del attributes["assets"]
    # One description of the service names the documents so.
    names = {"document": "documents"}
    return attributes | {_ASSETS + names.get(name, name): raw for name, raw in members(bytes(assets)).items()}


def stored_attributes(body: bytes) -> dict[str, bytes]:
    """Return the attributes of a stored record; its assets are one of them where they are no object."""
    stored = members(body)
    if bytes(stored.get("assets", _NULL)).startswith(b"{"):
        stored = attributes_of(stored)
    return {name: bytes(raw) for name, raw in stored.items()}


def merged(stored: Members, attributes: Members, now: datetime) -> dict[str, bytes | msgspec.Raw]:
    """Return a record after attributes were written to it.

    Parameters
    ----------
    now
        The time of the write; `updatedAt` moves to it, and never back.
    """
    record = dict(stored)
    updated_at = encode(next_updated_at(record.get("updatedAt"), now))
    of_assets = {
        name.removeprefix(_ASSETS): raw for name, raw in attributes.items() if name.startswith(_ASSETS)
    }
    for name, raw in attributes.items():
        if not name.startswith(_ASSETS):
            _write(record, name, raw)
    if of_assets or "assets" in attributes:
        before = _object(stored.get("assets"))
        assets = {} if "assets" in attributes else dict(before)
        for name, raw in of_assets.items():
            _write(assets, name, raw)
        # Compared as values: the same pictures with other blanks are no change.
        if _decoded(assets.get("pictures")) != _decoded(before.get("pictures")):
            dates = _object(assets.get("lastUpdatedAt"))
            assets["lastUpdatedAt"] = joined(dates | {"pictures": updated_at})
        if assets or of_assets:
            record["assets"] = joined(assets)
    # Last, so that an `updatedAt` among the attributes sent cannot win.
    record["updatedAt"] = updated_at
    return record


def _write(record: dict[str, bytes | msgspec.Raw], name: str, raw: bytes | msgspec.Raw) -> None:
    if is_null(raw):
        record.pop(name, None)
    else:
        record[name] = raw


def _object(raw: bytes | msgspec.Raw | None) -> dict[str, bytes | msgspec.Raw]:
    if raw is None or not bytes(raw).startswith(b"{"):
        return {}
    return dict(members(bytes(raw)))


def _decoded(raw: bytes | msgspec.Raw | None) -> Any:
    return None if raw is None else decode(bytes(raw))


def next_updated_at(updated_at: bytes | msgspec.Raw | None, now: datetime) -> str:
    """Return the `updatedAt` of a write: now, or what it was where that is later.

    Two writes of one second have one date. To be later than it was in any case, the date of a product that is written
    often would have to run ahead of the clock.
    """
    before = _decoded(updated_at)
    try:
        last = datetime.fromisoformat(before)
        return stamp(max(now, last if last.tzinfo else last.replace(tzinfo=UTC)))
    except (TypeError, ValueError, OverflowError):
        return stamp(now)
