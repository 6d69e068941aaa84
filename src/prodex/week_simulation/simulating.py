"""Making the weeks: days pass in the sandbox, and a client loads, audits and asks suppliers, as it would have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pandas as pd

import prodex.sandbox as exchange
from prodex import clock
from prodex.errors import InputError
from prodex.load import load_products, refresh
from prodex.messages import counted
from prodex.progress import Progress, showing, write_line
from prodex.quality.audit import Audit
from prodex.quality.run import audit
from prodex.query import ProductQuery
from prodex.service import Client
from prodex.store.snapshot import list_snapshots
from prodex.week_simulation.record import WeeksRecord

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
    write_line(progress, f"{counted(days, 'day')} pass in the sandbox, {span}: their time is simulated.")
    record = WeeksRecord(old.name, f"{clock.now():%Y-%m-%dT%H%M%S-%f}")
    record.write()  # before anything is kept: from now on the name is that of the weeks
    record.remove_snapshots()
    if count := exchange.reset():
        write_line(
            progress, f"What happened in it before is taken back first, to {counted(count, 'product')}."
        )
    asked: list[str] = []
    sent: dict[str, pd.DataFrame] = {}
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
                    sent = _sent_worklists(judged, record.folder / "to_fix")
                    asked = judged.failures(severity=_ASKED)["gtin"].dropna().unique().tolist()
                    record = replace(record, asked=moment.date().isoformat())
                show(sum(load.days for load in loads[:number]), days)
        answer_worklists(sent, record.folder / "returned", exchange.open_defects)
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
        catalog = load_products(
            client, _query_of_one_market(client), name=record.name, max_age=0, progress=False
        )
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


def _query_of_one_market(client: Client) -> ProductQuery:
    """Ask for one market; for everything where the sandbox has other products than those of the sample."""
    query = ProductQuery(target_market=MARKET)
    return query if client.search_products(query.to_probe()).total_results else ProductQuery()


#: Every load but the last is made in the evening, UTC.
_HOUR = 20
#: Days between two Mondays.
_WEEK = 7


@dataclass(frozen=True)
class PlannedLoad:
    """A load, and the days that pass before it.

    Attributes
    ----------
    moment
        When the snapshot is made.
    days
        How many days have passed since the load before.
    is_monday
        Whether it is one of the three Mondays.
    asks
        Whether suppliers are sent worklists afterwards.
    has_incident
        Whether an incident happens on the last of these days.
    """

    moment: datetime
    days: int
    is_monday: bool = False
    asks: bool = False
    has_incident: bool = False


def loads_until(end: datetime) -> tuple[PlannedLoad, ...]:
    """Return what happens in about three weeks that end at a moment.

    The last Monday is at least two days ago: something is to have changed since then.

    Parameters
    ----------
    end
        With a time zone.

    Examples
    --------
    >>> for load in loads_until(datetime.fromisoformat("2026-11-26T09:00:00+00:00")):
    ...     print(f"{load.moment:%a %d %b %H:%M}", load.days, load.is_monday, load.asks, load.has_incident)
    Mon 09 Nov 20:00 0 True False False
    Mon 16 Nov 20:00 7 True True False
    Mon 23 Nov 20:00 7 True False False
    Tue 24 Nov 20:00 1 False False False
    Wed 25 Nov 20:00 1 False False False
    Thu 26 Nov 09:00 1 False False True
    """
    evening = end.replace(hour=_HOUR, minute=0, second=0, microsecond=0)
    last = 2 + (end.weekday() - 2) % _WEEK  # days since the last Monday
    mondays = [evening - timedelta(days=last + _WEEK * weeks) for weeks in (2, 1, 0)]
    nights = [evening - timedelta(days=days) for days in (2, 1)]
    moments = sorted({*mondays, *nights})
    passed = [(later.date() - one.date()).days for one, later in pairwise([*moments, end])]
    return (
        *(
            PlannedLoad(moment, days, is_monday=moment in mondays, asks=moment == mondays[1])
            for moment, days in zip(moments, [0, *passed], strict=False)
        ),
        PlannedLoad(end, passed[-1], has_incident=True),
    )


#: Suppliers who send their worklist back: those who have most left to answer.
_SUPPLIERS = 3
#: Every fifth cell is left empty, and the first answer of several is none.
_FORGOTTEN = 5
_NO_ANSWER = "?"
_PLACE = ["product_id", "attribute", "language"]


def _sent_worklists(judged: Audit, folder: Path) -> dict[str, pd.DataFrame]:
    """Write the worklists to a folder, and return the rows of each by its name."""
    index = judged.worklists(folder, severity=_ASKED)
    rows = judged.worklist_rows(severity=_ASKED)
    names = dict(zip(index["code"].fillna(""), index["file"], strict=True))
    return {names[code].removesuffix(".xlsx"): own for code, own in rows.groupby(rows["owner_id"].fillna(""))}


def answer_worklists(
    sent: Mapping[str, pd.DataFrame], returned: Path, right: Callable[[list[str]], pd.DataFrame]
) -> list[Path]:
    """Write the returned worklists, as the suppliers filled them in, and return their files.

    Each is a table of the supplier's own program, as CSV.

    Parameters
    ----------
    sent
        The rows of each worklist, by its name.
    returned
        The folder to write to; new.
    right
        Returns what is wrong with products, and what would be right, by their GTINs; see `sandbox.open_defects`.
    """
    gtins = sorted({gtin for rows in sent.values() for gtin in rows["gtin"].dropna()})
    known = right(gtins)
    # Of what is no text, the record has a structure, and a cell holds text.
    texts = known[known["right"].map(lambda value: isinstance(value, str)).astype(bool)]
    answers = texts.drop_duplicates(_PLACE).set_index(_PLACE)["right"]
    filled = {name: rows.assign(new_value=_answered(rows, answers)) for name, rows in sent.items()}
    most = sorted(filled, key=lambda name: (-int(filled[name]["new_value"].notna().sum()), name))
    written = []
    for name in most[:_SUPPLIERS]:
        if filled[name]["new_value"].notna().any():
            returned.mkdir(parents=True, exist_ok=True)
            written.append(returned / f"{name}.csv")
            filled[name].to_csv(written[-1], index=False)
    return written


def _answered(rows: pd.DataFrame, answers: pd.Series) -> pd.Series:
    """Return the column of new values: what the supplier knows and is asked for, less what it forgets."""
    places = pd.MultiIndex.from_frame(rows[_PLACE])
    typed = pd.Series(answers.reindex(places).to_numpy(), rows.index, dtype=object)
    # What the supplier has sent already waits for acceptance.
    typed[rows["update_waits"].fillna(False)] = None
    known = typed.index[typed.notna()]
    typed[known[_FORGOTTEN - 1 :: _FORGOTTEN]] = None
    if len(known) > 1:
        typed[known[0]] = _NO_ANSWER
    return typed
