"""A simulation: days of suppliers at work on a store, one transaction a day, the same for the same seed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from random import Random
from typing import Final

from prodex_sandbox.records.beginning import newest_update
from prodex_sandbox.records.service_clock import Clock, is_set
from prodex_sandbox.records.store import Store
from prodex_sandbox.sample.dates import AS_OF
from prodex_sandbox.simulation.actions import ACTIONS
from prodex_sandbox.simulation.day import Day
from prodex_sandbox.simulation.incidents import Incident, concerned, happen
from prodex_sandbox.simulation.journal import Journal, Note, read_notes
from prodex_sandbox.simulation.requests import correct_requested, requested_keys
from prodex_sandbox.simulation.rhythm import activity, care, days_after, how_many
from prodex_sandbox.simulation.state import CORRECTED, ActiveSupplier, SimulationState

#: More days than anybody watches, and few enough to keep the journal in memory.
_MOST_DAYS: Final = 3_660
#: The settings of a store that note its first simulated day and its last.
_SINCE: Final = "simulated_since"
_UNTIL: Final = "simulated_until"


def simulate_store(
    store: Store,
    days: int,
    seed: int,
    incidents: Iterable[Incident | str],
    clock: Clock,
    requested: Iterable[str] = (),
) -> Journal:
    """Let days pass in a store; see `Sandbox.simulate`."""
    if isinstance(days, bool) or not isinstance(days, int) or not 1 <= days <= _MOST_DAYS:
        raise ValueError(f"days is {days!r}; it has to be a whole number from 1 to {_MOST_DAYS:,}.")
    planned = _planned(incidents, days)
    state = SimulationState(store)
    for incident in planned:
        # A wrong name is refused before anything has happened.
        concerned(incident, Random(seed), state)
    keys = requested_keys(store, [requested] if isinstance(requested, str) else requested)
    notes: list[Note] = []
    has_own_time = is_set(store)
    dates = _days_until(store, days, clock().date()) if has_own_time else _days_after_last(store, days)
    stopped: set[int] = set()
    for number, today in enumerate(dates, start=1):
        with store.writing() as connection:
            behind = dates[-1] - today if has_own_time else timedelta(0)
            day = Day(connection, today, _behind(clock, behind), state.manufacturers)
            todays = [one for one in planned if one.day == number]
            for incident in todays:
                if incident.name == "updates_stop":
                    stopped |= {owner.id for owner in concerned(incident, Random(seed), state)}
            for owner in state.owners:
                if owner.id not in stopped:
                    _work(day, owner, seed, state)
                    correct_requested(day, owner, Random(f"{seed}/{today}/{owner.id}/asked"), state, keys)
            # At the end of the day, so that it leaves everything else of the day as it would have been.
            for place, incident in enumerate(todays):
                happen(incident, day, Random(f"{seed}/{today}/{incident.name}/{place}"), state)
            day.end()
            _note(connection, today)
        notes += day.notes
    return Journal(notes, dates)


def read_journal(store: Store) -> Journal:
    """Return everything that was simulated in a store since its beginning."""
    with store.writing() as connection:
        first, last = _day(connection, _SINCE), _day(connection, _UNTIL)
        before = _day_before_first(connection) if first is None else first - timedelta(days=1)
    return Journal(read_notes(store), [] if last is None else list(days_after(before, (last - before).days)))


def _days_after_last(store: Store, count: int) -> list[date]:
    """Return the days that follow the last one that was simulated."""
    with store.writing() as connection:
        return list(days_after(_day(connection, _UNTIL) or _day_before_first(connection), count))


def _days_until(store: Store, count: int, today: date) -> list[date]:
    """Return the days that end on the service's own, where its time was set.

    Raises
    ------
    ValueError
        When one of them was simulated already.
    """
    days = list(days_after(today - timedelta(days=count), count))
    with store.writing() as connection:
        last = _day(connection, _UNTIL)
    if last is not None and days[0] <= last:
        raise ValueError(
            f"The time of the service was set to {today}, so {count} days begin on {days[0]}; days until {last} were "
            "simulated already."
        )
    return days


def _behind(clock: Clock, behind: timedelta) -> Clock:
    return lambda: clock() - behind


def _note(connection: sqlite3.Connection, day: date) -> None:
    """Note that a day was simulated."""
    if _day(connection, _UNTIL) is None:
        connection.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (_SINCE, day.isoformat()))
    connection.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (_UNTIL, day.isoformat()))


def _planned(incidents: Iterable[Incident | str], days: int) -> list[Incident]:
    # A single name is one incident, not one for each of its letters.
    listed: Sequence[Incident | str] = (
        [incidents] if isinstance(incidents, str | Incident) else list(incidents)
    )
    planned = []
    for given in listed:
        one = Incident.from_text(given) if isinstance(given, str) else given
        day = (days + 1) // 2 if one.day is None else one.day
        if day > days:
            raise ValueError(f"{one.name} is planned for day {day}, and {days} are simulated.")
        planned.append(Incident(one.name, day, one.owner))
    return planned


def _work(day: Day, owner: ActiveSupplier, seed: int, state: SimulationState) -> None:
    """Let a supplier do what it does on a day."""
    for name, action in ACTIONS.items():
        if not owner.products:
            return
        # Numbers of its own for each: what one action does leaves the draws of the others as they are.
        rng = Random(f"{seed}/{day.day}/{owner.id}/{name}")
        expected = action.rate * len(owner.products) * activity(owner.name, day.day)
        for _ in range(how_many(rng, expected * (care(owner.name) if name == CORRECTED else 1.0))):
            begin = len(day.notes)
            action.act(day, owner, rng, state)
            for note in day.notes[begin:]:
                state.note(owner, note)


def _day(connection: sqlite3.Connection, name: str) -> date | None:
    """Return a day that the store notes of its simulations; None where there was none."""
    row = connection.execute("SELECT value FROM settings WHERE name = ?", (name,)).fetchone()
    return date.fromisoformat(row[0]) if row else None


def _day_before_first(connection: sqlite3.Connection) -> date:
    """Return the day of the newest update at the beginning; that of the sample where no product has a date."""
    newest = newest_update(connection)
    return (newest or AS_OF).date()
