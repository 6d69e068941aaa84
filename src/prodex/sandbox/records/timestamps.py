"""When a write happened: at the moment from which others see it, never before and never ahead of the clock.

Who refreshes asks for what was updated since the `Date` of an earlier reply. A long import that was dated when it began
would be seen later than that, and missed. So what a transaction wrote is dated anew, in one statement, just before
it is committed.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta
from typing import Final

from prodex.sandbox.raw_json import encode

#: How long a commit may take; where the second ends earlier, what is written belongs to the next one.
_COMMIT: Final = timedelta(milliseconds=50)

_MEMBER: Final = """
UPDATE records SET body = CAST(replace(CAST(body AS TEXT), :before, :after) AS BLOB)
WHERE key IN (SELECT value FROM json_each(:keys))
"""
_PICTURES: Final = """
UPDATE products SET pictures_updated_at = :after
WHERE key IN (SELECT value FROM json_each(:keys)) AND pictures_updated_at = :before
"""
_PRODUCTS: Final = """
UPDATE products SET updated_at = :after
WHERE key IN (SELECT value FROM json_each(:keys)) AND updated_at = :before
"""

Clock = Callable[[], datetime]


def stamp(moment: datetime) -> str:
    """Return a time as records hold it: local date-time without zone; the sandbox lives in UTC."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")


def date_writes(
    connection: sqlite3.Connection, keys: Collection[int], written: datetime, clock: Clock
) -> None:
    """Date products that a transaction wrote to the second in which it is going to be committed.

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


def _date(connection: sqlite3.Connection, keys: Collection[int], before: datetime, after: datetime) -> None:
    bound: dict[str, object] = {"keys": encode(list(keys)).decode()}
    for name in ("updatedAt", "pictures"):
        members = {"before": f'"{name}":"{stamp(before)}"', "after": f'"{name}":"{stamp(after)}"'}
        connection.execute(_MEMBER, bound | members)
    times = {"before": int(before.timestamp()), "after": int(after.timestamp())}
    connection.execute(_PICTURES, bound | {name: 1_000 * second for name, second in times.items()})
    connection.execute(_PRODUCTS, bound | times)
