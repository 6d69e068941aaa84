"""Making the weeks: days pass in the sandbox, and a client loads, audits and asks suppliers, as it would have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

import prodex.sandbox as exchange
from prodex import clock
from prodex.errors import InputError
from prodex.history.answers import answer_worklists
from prodex.history.plan import PlannedLoad, loads_until
from prodex.history.record import WeeksRecord
from prodex.load import load_products, refresh
from prodex.messages import counted
from prodex.progress import Progress, showing, tell
from prodex.quality.audit import Audit
from prodex.quality.run import audit
from prodex.query import ProductQuery
from prodex.service import Client
from prodex.store.snapshot import list_snapshots

#: What the shop of these weeks sees: the products for France.
MARKET = 250
PROFILE = "online-listing"
#: What suppliers are asked to correct.
_ASKED = ["blocker", "error"]
_INCIDENT = "supplier_loses_pictures"


def make_weeks(
    old: WeeksRecord,
    client: Client,
    until: datetime | None,
    progress: Progress,
    on_first_audit: Callable[[Audit], object] | None,
) -> WeeksRecord:
    """Let the weeks pass, and return what was made.

    Parameters
    ----------
    old
        What is noted of earlier weeks of this name, the snapshots of which are removed.
    client
        Of the sandbox that `prodex.connect("sandbox")` uses.
    until
        When they end; None for now.
    progress
        Shows how many days have passed.
    on_first_audit
        Called with the audit of the first Monday, before the first day passes.

    Raises
    ------
    InputError
        When there are snapshots of this name that are not those of weeks.
    """
    if not old.began and not list_snapshots(old.name).empty:
        raise InputError(
            f"{old.name!r} has snapshots already, and simulated weeks need a name of their own: "
            f"prodex.simulated_weeks('simulated-{old.name}')."
        )
    loads = loads_until(until or clock.now())
    first, last = loads[0].moment, loads[-1].moment
    days = sum(load.days for load in loads)
    span = f"from {first:%d %B} to {last:%d %B %Y}"
    tell(progress, f"{counted(days, 'day')} pass in the sandbox, {span}: their time is simulated.")
    record = WeeksRecord(old.name, f"{clock.now():%Y-%m-%dT%H%M%S}")
    record.write()  # before anything is kept: from now on the name is that of the weeks
    record.remove_snapshots()
    if count := exchange.reset():
        tell(progress, f"What happened in it before is taken back first, to {counted(count, 'product')}.")
    asked: list[str] = []
    try:
        exchange.set_time(first)
        with clock.at(first):
            record, judged = _with_snapshot(record, loads[0], client)
        if on_first_audit is not None:
            on_first_audit(judged)
        with showing(progress, "Simulated", "days") as show:
            for number, load in enumerate(loads[1:], start=2):
                # The last one is made at the present, however long the others took.
                moment = load.moment if until or number < len(loads) else clock.now()
                exchange.set_time(moment)
                record = _with_days(record, load, asked, judged)
                with clock.at(moment):
                    record, judged = _with_snapshot(record, load, client)
                if load.asks:
                    judged.worklists(record.folder / "to_fix", severity=_ASKED)
                    asked = judged.failures(severity=_ASKED)["gtin"].dropna().unique().tolist()
                    record = replace(record, asked=moment.date().isoformat())
                show(sum(load.days for load in loads[:number]), days)
        answer_worklists(record.folder / "to_fix", record.folder / "returned", exchange.open_defects)
    finally:
        exchange.set_time()
    record = replace(record, ended=True)
    record.write()
    return record


def _with_days(record: WeeksRecord, load: PlannedLoad, asked: list[str], before: Audit) -> WeeksRecord:
    """Let the days before a load pass."""
    incidents = [exchange.Incident(_INCIDENT, load.days, _most_pictured(before))] if load.has_incident else []
    try:
        journal = exchange.simulate(load.days, incidents=incidents, requested=asked)
    except ValueError:
        # Records that the sandbox did not make may name their owner as nobody is named there. Nothing has happened yet.
        incidents = [replace(one, owner="") for one in incidents]
        journal = exchange.simulate(load.days, incidents=incidents, requested=asked)
    return replace(record, incident=journal.incidents[0]) if journal.incidents else record


def _most_pictured(before: Audit) -> str:
    """Return the owner of the most products with a picture; "" where nobody has any.

    Of a supplier with a few of them, nobody could say whether it is unusual that they are gone.
    """
    assert before.catalog is not None  # noqa: S101 - it was just audited
    products = before.catalog.products
    owners = products.loc[products["pictures_count"].fillna(0) > 0, "owner"].value_counts().sort_index()
    return str(owners.idxmax()) if len(owners) else ""


def _with_snapshot(record: WeeksRecord, load: PlannedLoad, client: Client) -> tuple[WeeksRecord, Audit]:
    """Load or refresh the products, and audit them."""
    if record.snapshots:
        catalog = refresh(record.name, client, progress=False)
    else:
        catalog = load_products(client, _query(client), name=record.name, max_age=0, progress=False)
    judged = audit(catalog, PROFILE, progress=False).save()
    assert catalog.folder is not None  # noqa: S101 - a snapshot has one
    assert judged.folder is not None  # noqa: S101 - it was saved
    time = catalog.folder.name
    made = replace(
        record,
        snapshots=(*record.snapshots, time),
        audits=(*record.audits, judged.folder.name),
        monday=time if load.is_monday else record.monday,
    )
    return made, judged


def _query(client: Client) -> ProductQuery:
    """Ask for one market; for everything where the sandbox has other products than those of the sample."""
    query = ProductQuery(target_market=MARKET)
    return query if client.search_products(query.to_probe()).total_results else ProductQuery()
