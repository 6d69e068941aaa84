"""Making the weeks: days pass in the sandbox, and a client loads, audits and asks suppliers, as it would have."""

from __future__ import annotations

from datetime import datetime

import prodex.sandbox as exchange
from prodex import clock
from prodex.catalog import Catalog
from prodex.errors import InputError, SnapshotError
from prodex.history.answers import answer_worklists
from prodex.history.plan import PlannedLoad, loads_until
from prodex.history.record import WeeksRecord
from prodex.load import load_products, refresh
from prodex.progress import Progress, showing, tell
from prodex.quality.audit import Audit
from prodex.quality.run import audit
from prodex.query import ProductQuery
from prodex.service import Client
from prodex.store.snapshot import open_snapshot

#: What the shop of these weeks sees: the products for France.
MARKET = 250
PROFILE = "online-listing"
#: What suppliers are asked to correct.
_ASKED = ["blocker", "error"]
_INCIDENT = "supplier_loses_pictures"


def make_weeks(old: WeeksRecord, client: Client, until: datetime | None, progress: Progress) -> WeeksRecord:
    """Let the weeks pass, and return what was made.

    Parameters
    ----------
    old
        What is noted of earlier weeks of this name; they are removed.
    client
        Of the sandbox that `prodex.connect("sandbox")` uses.
    until
        When they end; None for now.
    progress
        Shows how many days have passed.
    """
    _refuse_foreign(old, client)
    loads = loads_until(until or clock.now())
    first, last = loads[0].moment, loads[-1].moment
    tell(
        progress,
        f"Three weeks pass in the sandbox, from {first:%d %B} to {last:%d %B %Y}: their time is simulated.",
    )
    old.remove()
    if exchange.journal().days:
        tell(progress, "Days were simulated in it before; it is put back to its beginning first.")
        exchange.reset()
    record = WeeksRecord(old.name).noting(began=f"{clock.now():%Y-%m-%dT%H%M%S}")
    asked: list[str] = []
    days = sum(load.days for load in loads)
    try:
        with showing(progress, "Simulated", "days") as show:
            passed = 0
            for load in loads:
                # The last one is made at the present, whatever the others took.
                moment = load.moment if until or load is not loads[-1] else clock.now()
                exchange.set_time(moment)
                record = _with_days(record, load, asked)
                with clock.at(moment):
                    record, judged = _with_snapshot(record, load, client)
                    if load.asks:
                        judged.worklists(record.folder / "to_fix", severity=_ASKED)
                        asked = judged.failures(severity=_ASKED)["gtin"].dropna().unique().tolist()
                        record = record.noting(asked=moment.date().isoformat())
                passed += load.days
                show(passed, days)
        answer_worklists(record.folder / "to_fix", record.folder / "returned", exchange.open_defects)
    finally:
        exchange.set_time()
    return record.noting(ended=True)


def _refuse_foreign(old: WeeksRecord, client: Client) -> None:
    """Refuse a name under which products of another service are kept.

    Raises
    ------
    InputError
        When there are such.
    """
    try:
        newest = open_snapshot(old.name)
    except SnapshotError:
        return
    assert newest.folder is not None  # noqa: S101 - a snapshot has one
    if newest.origin.source != client.base_url and newest.folder.name not in old.snapshots:
        raise InputError(
            f"{old.name!r} holds snapshots of {newest.origin.source}, and the weeks are those of the sandbox. Keep "
            f"them under another name: prodex.simulated_weeks('{old.name}-sandbox')."
        )


def _with_days(record: WeeksRecord, load: PlannedLoad, asked: list[str]) -> WeeksRecord:
    """Let the days before a load pass."""
    if not load.days:
        return record
    incidents = [f"{_INCIDENT}@{load.days}"] if load.has_incident else []
    journal = exchange.simulate(load.days, incidents=incidents, requested=asked)
    return record.noting(incident=journal.incidents[0]) if journal.incidents else record


def _with_snapshot(record: WeeksRecord, load: PlannedLoad, client: Client) -> tuple[WeeksRecord, Audit]:
    """Load or refresh the products, and audit them."""
    if record.snapshots:
        catalog = refresh(record.name, client, progress=False)
    else:
        catalog = load_products(client, _query(client), name=record.name, max_age=0, progress=False)
    judged = audit(catalog, PROFILE, progress=False).save()
    record = record.noting(
        snapshots=(*record.snapshots, _time(catalog)),
        audits=(*record.audits, judged.folder.name if judged.folder else ""),
        **({"monday": _time(catalog)} if load.is_monday else {}),
    )
    return record, judged


def _query(client: Client) -> ProductQuery:
    """Ask for one market; for everything where the sandbox has other products than those of the sample."""
    query = ProductQuery(target_market=MARKET)
    return query if client.search_products(query.to_probe()).total_results else ProductQuery()


def _time(catalog: Catalog) -> str:
    assert catalog.folder is not None  # noqa: S101 - a snapshot has one
    return catalog.folder.name
