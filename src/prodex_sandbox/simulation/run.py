"""A simulation: days of suppliers at work on a store, one transaction a day, the same for the same seed.

What is right is known where the sample planted a defect, or a simulated supplier made one. Careful suppliers correct
most of what they are asked for within a week, and others little of it; on weekends hardly anything happens.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from math import exp, log
from random import Random
from typing import Any, Final

from prodex_sandbox.raw_json import decode, encode
from prodex_sandbox.records.baseline import beside_baseline, newest_update
from prodex_sandbox.records.service_clock import Clock, is_set
from prodex_sandbox.records.store import Store
from prodex_sandbox.sample.defects.planting import Repair, carelessness
from prodex_sandbox.sample.products.dates import AS_OF
from prodex_sandbox.simulation.actions import ACTIONS
from prodex_sandbox.simulation.day import Day
from prodex_sandbox.simulation.incidents import Incident, apply_incident, suppliers_concerned
from prodex_sandbox.simulation.journal import Journal, Note, by_language, read_notes
from prodex_sandbox.simulation.state import CORRECTED, ActiveSupplier, SimulationState, is_open

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
    planned = _plan_incidents(incidents, days)
    state = SimulationState(store)
    for incident in planned:
        # A wrong name is refused before anything has happened.
        suppliers_concerned(incident, Random(seed), state)
    keys = requested_keys(store, [requested] if isinstance(requested, str) else requested)
    notes: list[Note] = []
    has_own_time = is_set(store)
    dates = _days_until(store, days, clock().date()) if has_own_time else _days_after_last(store, days)
    stopped: set[int] = set()
    for number, today in enumerate(dates, start=1):
        with store.writing() as connection:
            behind = dates[-1] - today if has_own_time else timedelta(0)
            day = Day(connection, today, _clock_behind(clock, behind), state.manufacturers)
            todays = [one for one in planned if one.day == number]
            for incident in todays:
                if incident.name == "updates_stop":
                    stopped |= {owner.id for owner in suppliers_concerned(incident, Random(seed), state)}
            for owner in state.owners:
                if owner.id not in stopped:
                    _simulate_supplier(day, owner, seed, state)
                    correct_requested(day, owner, Random(f"{seed}/{today}/{owner.id}/asked"), state, keys)
            # At the end of the day, so that it leaves everything else of the day as it would have been.
            for place, incident in enumerate(todays):
                apply_incident(incident, day, Random(f"{seed}/{today}/{incident.name}/{place}"), state)
            day.end()
            _note_day(connection, today)
        notes += day.notes
    return Journal(notes, dates)


def read_journal(store: Store) -> Journal:
    """Return everything that was simulated in a store."""
    with store.writing(changes_products=False) as connection:
        first, last = _noted_day(connection, _SINCE), _noted_day(connection, _UNTIL)
    if first is None or last is None:
        return Journal(read_notes(store), [])
    before = first - timedelta(days=1)
    return Journal(read_notes(store), list(days_after(before, (last - before).days)))


def _days_after_last(store: Store, count: int) -> list[date]:
    """Return the days that follow the last one that was simulated."""
    with beside_baseline(store) as connection:
        return list(days_after(_noted_day(connection, _UNTIL) or _day_before_first(connection), count))


def _days_until(store: Store, count: int, today: date) -> list[date]:
    """Return the days that end on the service's own, where its time was set.

    Raises
    ------
    ValueError
        When one of them was simulated already.
    """
    days = list(days_after(today - timedelta(days=count), count))
    with store.writing(changes_products=False) as connection:
        last = _noted_day(connection, _UNTIL)
    if last is not None and days[0] <= last:
        raise ValueError(
            f"The time of the service was set to {today}, so {count} days begin on {days[0]}; days until {last} were "
            "simulated already."
        )
    return days


def _clock_behind(clock: Clock, behind: timedelta) -> Clock:
    return lambda: clock() - behind


def _note_day(connection: sqlite3.Connection, day: date) -> None:
    """Note that a day was simulated."""
    if _noted_day(connection, _UNTIL) is None:
        connection.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (_SINCE, day.isoformat()))
    connection.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (_UNTIL, day.isoformat()))


def _plan_incidents(incidents: Iterable[Incident | str], days: int) -> list[Incident]:
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


def _simulate_supplier(day: Day, owner: ActiveSupplier, seed: int, state: SimulationState) -> None:
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


def _noted_day(connection: sqlite3.Connection, name: str) -> date | None:
    """Return a day that the store notes of its simulations; None where there was none."""
    row = connection.execute("SELECT value FROM settings WHERE name = ?", (name,)).fetchone()
    return date.fromisoformat(row[0]) if row else None


def _day_before_first(connection: sqlite3.Connection) -> date:
    """Return the day of the newest update in the baseline; that of the sample where no product has a date."""
    newest = newest_update(connection)
    return (newest or AS_OF).date()


#: The share of the products that it is asked for which an average supplier corrects on a working day.
_SHARE_CORRECTED: Final = 0.12
#: Nobody corrects more than this on one day.
_MOST_CORRECTED: Final = 0.6


@dataclass(frozen=True, slots=True)
class OpenDefect:
    """A value of a product that is wrong, with the right one.

    Attributes
    ----------
    supplier
        Whose product it is.
    gtin, product_id
        The product.
    defect
        Kind of defect.
    attribute
        Wire path of the attribute.
    language
        Short language code of the text, or "".
    value, right
        The value as it is and as it should be, None for no value.
    """

    supplier: str
    gtin: str
    product_id: str
    defect: str
    attribute: str
    language: str
    value: Any
    right: Any


def requested_keys(store: Store, gtins: Iterable[str]) -> frozenset[int]:
    """Return the keys of the products with these GTINs; a GTIN that no product has is left out."""
    wanted = encode(sorted({spelled for gtin in gtins for spelled in (gtin, gtin.zfill(14))})).decode()
    rows = store.rows("SELECT key FROM products WHERE gtin IN (SELECT value FROM json_each(?))", (wanted,))
    return frozenset(key for (key,) in rows)


def correct_requested(
    day: Day, owner: ActiveSupplier, rng: Random, state: SimulationState, requested: frozenset[int]
) -> None:
    """Let a supplier correct some of the products that it is asked to correct, each as a whole."""
    share = min(_SHARE_CORRECTED * activity(owner.name, day.day) * care(owner.name), _MOST_CORRECTED)
    for key in owner.products:
        if key not in requested or rng.random() >= share:
            continue
        for repair in _repairs(owner, key, decode(day.body(key)), state):
            if is_open(day.body(key), repair):
                right = {name: value for name, (_, value) in repair.values.items()}
                day.write(key, right, owner.name, CORRECTED, repair.defect)
                state.note(owner, day.notes[-1])


def open_defects(store: Store, gtins: Iterable[str]) -> Iterator[OpenDefect]:
    """Yield what is still wrong with products of the sample: as it was planted, or as a supplier broke it since."""
    state = SimulationState(store)
    owners = {key: owner for owner in state.owners for key in owner.products}
    keys = sorted(requested_keys(store, gtins) & owners.keys())
    sql = "SELECT key, body FROM records WHERE key IN (SELECT value FROM json_each(?)) ORDER BY key"
    for key, body in store.rows(sql, (encode(keys).decode(),)):
        record = decode(body)
        for repair in _repairs(owners[key], key, record, state):
            if not is_open(body, repair):
                continue
            for attribute, pair in repair.values.items():
                values = tuple(None if raw is None else decode(raw) for raw in pair)
                for language, value, right in by_language(*values):
                    yield OpenDefect(
                        owners[key].name,
                        str(record.get("gtin") or ""),
                        str(record.get("id") or ""),
                        repair.defect,
                        attribute,
                        language,
                        value,
                        right,
                    )


def _repairs(
    owner: ActiveSupplier, key: int, record: Mapping[str, Any], state: SimulationState
) -> list[Repair]:
    """Return what may have to be put right: what the supplier broke, newest first, then what the sample planted."""
    broken = [repair for of, repair in reversed(owner.broken) if of == key]
    original = state.originals.find(key, record)
    return [*broken, *(original.repairs if original else ())]


#: Activity from Monday to Sunday, as a share of an average working day.
_WEEK: Final = (1.2, 1.1, 1.0, 1.0, 0.7, 0.1, 0.05)
#: Above this expectation the normal distribution is used, since exp(-expected) becomes too small a number.
_NORMAL_ABOVE: Final = 30.0


def days_after(newest: date, count: int) -> Iterator[date]:
    """Yield the days that follow one.

    >>> [day.isoformat() for day in days_after(date(2026, 10, 31), 2)]
    ['2026-11-01', '2026-11-02']
    """
    return (newest + timedelta(days=number) for number in range(1, count + 1))


def activity(supplier: str, day: date) -> float:
    """Return how much a supplier does on a day, as a multiple of an average supplier's working day.

    Suppliers differ by a factor of up to nine, each always in the same direction.
    """
    return _WEEK[day.weekday()] * exp(log(3.0) * Random(f"activity/{supplier}").uniform(-1.0, 1.0))


def care(supplier: str) -> float:
    """Return how many corrections a supplier makes, as a multiple of the average one's.

    >>> care("Laiterie des Trois Combes"), care("Fernley Naturals Inc")
    (2.0, 1.0)
    """
    return 2.0 if carelessness(supplier) < 1.0 else 1.0


def how_many(rng: Random, expected: float) -> int:
    """Draw how often something happens that is expected so often (Poisson).

    >>> how_many(Random(1), 0.0)
    0
    """
    if expected > _NORMAL_ABOVE:
        return max(0, round(rng.gauss(expected, expected**0.5)))
    count, product, limit = 0, rng.random(), exp(-expected)
    while product > limit:
        count += 1
        product *= rng.random()
    return count
