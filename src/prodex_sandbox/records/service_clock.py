"""The clock of the service, and the dates that writes get from it.

It is the clock of this machine, moved by `clock_skew`, and by the time that the store was set to. The store keeps by
how much it was moved, so that a running service follows at once, whoever sets the time.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec

from prodex_sandbox.behaviour import Behaviour
from prodex_sandbox.raw_json import decode, encode
from prodex_sandbox.records.store import Store

Clock = Callable[[], datetime]

#: The setting of a store: seconds by which its clock was moved.
MOVED: Final = "clock_moved"


def service_clock(store: Store, behaviour: Behaviour) -> Clock:
    """Return the clock by which a service dates replies and writes."""

    def now() -> datetime:
        return behaviour.now() + timedelta(seconds=_moved(store))

    return now


def set_service_time(store: Store, moment: datetime | None, behaviour: Behaviour) -> None:
    """Set the clock of a store to a moment, from which it runs on; None sets it to the clock of the machine.

    Raises
    ------
    ValueError
        When the moment has no time zone.
    """
    if moment is not None and (not isinstance(moment, datetime) or moment.tzinfo is None):
        raise ValueError(f"moment is {moment!r:.60}; give a datetime with a time zone.")
    moved = 0.0 if moment is None else (moment.astimezone(UTC) - behaviour.now()).total_seconds()
    with store.writing() as connection:
        connection.execute("DELETE FROM settings WHERE name = ?", (MOVED,))
        if moved:
            connection.execute("INSERT INTO settings VALUES (?, ?)", (MOVED, repr(moved)))


def is_set(store: Store) -> bool:
    """Whether the time of a store was set."""
    return _moved(store) != 0.0


def _moved(store: Store) -> float:
    rows = store.rows("SELECT value FROM settings WHERE name = ?", (MOVED,))
    return float(rows[0][0]) if rows else 0.0


#: How long a commit may take; where the second ends earlier, what is written belongs to the next one.
_COMMIT: Final = timedelta(milliseconds=50)

_MEMBER: Final = """
UPDATE records SET body = CAST(replace(CAST(body AS TEXT), :before, :after) AS BLOB)
WHERE key IN (SELECT value FROM json_each(:keys))
"""
_COLUMN: Final = """
UPDATE products SET {0} = :after WHERE key IN (SELECT value FROM json_each(:keys)) AND {0} = :before
"""


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


def next_updated_at(updated_at: bytes | msgspec.Raw | None, now: datetime) -> str:
    """Return the `updatedAt` of a write: now, or what it was where that is later.

    Two writes of one second have one date. To be later than it was in any case, the date of a product that is written
    often would have to run ahead of the clock.
    """
    before: Any = None if updated_at is None else decode(bytes(updated_at))
    try:
        last = datetime.fromisoformat(before)
        return stamp(max(now, last if last.tzinfo else last.replace(tzinfo=UTC)))
    except (TypeError, ValueError, OverflowError):
        return stamp(now)
