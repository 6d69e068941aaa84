"""The clock of the service: this machine's, moved by `clock_skew`, and by the time that the store was set to.

The store keeps by how much it was moved, so that a service which is running follows at once, whoever sets the time.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from prodex_sandbox.behaviour import Behaviour
from prodex_sandbox.records.merging import Clock
from prodex_sandbox.records.store import Store

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
    """Tell whether the time of a store was set."""
    return _moved(store) != 0.0


def _moved(store: Store) -> float:
    rows = store.rows("SELECT value FROM settings WHERE name = ?", (MOVED,))
    return float(rows[0][0]) if rows else 0.0
