"""Simulated weeks: three weeks of the sandbox, with the snapshots, audits and worklists of a shop that used prodex.

Days pass in the sandbox, and a client loads, audits and asks suppliers, as it would have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from importlib import resources
from itertools import pairwise
from pathlib import Path
from typing import Final, Self

import pandas as pd

from prodex import clock
from prodex.catalog import Catalog
from prodex.errors import InputError, SnapshotError
from prodex.files.atomic import checked_name, discard, home, relative_to_working_folder, safe_name
from prodex.files.lock import locked
from prodex.files.state import write_state
from prodex.files.untrusted import is_folder, read_json
from prodex.load import load_products, refresh
from prodex.phrases import counted
from prodex.progress import Progress, showing, write_line
from prodex.quality.archive import open_audit
from prodex.quality.audit import Audit
from prodex.quality.requirements import Requirements
from prodex.quality.run import audit
from prodex.query import ProductQuery
from prodex.service import Client, connect
from prodex.store.archive import entries_of, snapshots_folder
from prodex.store.snapshot import list_snapshots, open_snapshot


@dataclass(frozen=True, repr=False)
class SimulatedWeeks:
    """Three weeks of the sandbox, and what a shop that used prodex would have by now.

    Suppliers worked on their products, as `prodex.sandbox.simulate` lets them. The shop loaded the products for France
    on three Mondays, in the last nights and at the end, and audited them each time. On the second Monday it sent each
    supplier a worklist: most correct in the exchange some of what they were asked for, and three filled in their
    worklist and sent it back. In the last night an incident happened.

    The service and its client did all of it. Only the time is simulated: that of the service, and that by
    which snapshots and audits are kept.

    Attributes
    ----------
    name
        Name of the snapshots.
    snapshots
        The snapshots as they are opened, `french-shop@2026-11-16T200000.000000Z`, oldest first.
    monday
        The one of the last Monday.
    asked
        The day on which the worklists were sent.
    sent, returned
        The folder of these worklists, and that of the returned ones.
    incident
        What happened in the last night. A real exchange does not say so.

    Examples
    --------
    >>> import prodex
    >>> weeks = prodex.simulated_weeks()
    >>> len(weeks.snapshots) > 4, weeks.monday in weeks.snapshots
    (True, True)
    >>> bool(prodex.diff(weeks.snapshots[0], weeks.snapshots[-1]))  # something has changed
    True
    """

    name: str
    snapshots: tuple[str, ...]
    monday: str
    asked: date
    sent: Path
    returned: Path
    incident: str
    _audits: tuple[Path, ...] = field(default=())

    @property
    def catalog(self) -> Catalog:
        """The products at the end."""
        return open_snapshot(self.snapshots[-1])

    @property
    def audits(self) -> tuple[Audit, ...]:
        """The audit of each snapshot, by the profile "online-listing"."""
        return tuple(map(open_audit, self._audits))

    @property
    def requirements(self) -> Requirements:
        """What the shop requires of its products, by channel and GPC segment.

        Examples
        --------
        >>> import prodex
        >>> [channel.label for channel in prodex.simulated_weeks().requirements.channels]
        ['Web shop (France)', 'Leaflet (France)']
        """
        with resources.as_file(resources.files("prodex") / "sandbox_weeks.toml") as file:
            return replace(Requirements.read(file), name="shop")

    def __repr__(self) -> str:
        days = [day_of(one.partition("@")[2]) for one in self.snapshots]
        came = len(list(self.returned.glob("*.csv")))
        return (
            f"{counted((days[-1] - days[0]).days, 'simulated day')} of the sandbox, {days[0]:%d %B} to "
            f"{days[-1]:%d %B %Y}\n"
            f"{counted(len(days), 'snapshot')} of {self.name!r}, each with its audit: "
            f"{', '.join(f'{day:%a %d %b}' for day in days)}\n"
            f"worklists of {self.asked:%d %B}: {relative_to_working_folder(self.sent)}\n"
            f"{counted(came, 'worklist')} came back: {relative_to_working_folder(self.returned)}"
        )


def simulated_weeks(
    name: str = "french-shop",
    *,
    until: datetime | None = None,
    progress: Progress = None,
    on_first_audit: Callable[[Audit], object] | None = None,
) -> SimulatedWeeks:
    """Return three weeks of the sandbox, with the snapshots, audits and worklists of a shop; the first call makes them.

    That takes about half a minute, and begins with the sandbox as it was filled: what was sent to it or simulated in it
    before is taken back. So does `prodex.sandbox.reset()` take back the weeks, and the next call makes them anew.

    Parameters
    ----------
    name
        Name of the snapshots. It belongs to the weeks: whatever else was kept under it is removed when they are made
        anew.
    until
        When the weeks end: a moment with a time zone, by default now.
    progress
        None shows a bar in a notebook or terminal.
    on_first_audit
        Called with the audit of the first Monday as soon as it is there, before the other days pass.

    Raises
    ------
    InputError
        When there are snapshots of this name that are not those of weeks, or `until` is no moment.
    MissingExtra
        When the packages that the sandbox needs are not installed.

    Examples
    --------
    >>> import prodex
    >>> weeks = prodex.simulated_weeks()
    >>> [one.profile for one in weeks.audits[:2]]
    ['online-listing', 'online-listing']
    """
    if until is not None and (not isinstance(until, datetime) or until.tzinfo is None):
        raise InputError(f"until is {until!r:.60}; give a datetime with a time zone.")
    client = connect("sandbox")
    import prodex.sandbox as exchange

    # Two notebooks that begin at the same time share the weeks.
    with locked(_file_of(name).parent, f"simulating weeks of {name!r}", name="weeks.lock", patience=None):
        known = WeeksRecord.read(name)
        if not _is_there(known) or known.incident not in exchange.journal().incidents:
            known = make_weeks(known, client, until, progress, on_first_audit)
        elif on_first_audit is not None:
            on_first_audit(_weeks(known).audits[0])
    return _weeks(known)


def _is_there(record: WeeksRecord) -> bool:
    """Whether the weeks were made to their end, and no snapshot or audit of them was removed since."""
    weeks = _weeks(record) if record.ended else None
    try:
        return weeks is not None and all(map(open_snapshot, weeks.snapshots)) and bool(weeks.audits)
    except SnapshotError:
        return False


def _weeks(record: WeeksRecord) -> SimulatedWeeks:
    audits = snapshots_folder() / record.name / "audits"
    return SimulatedWeeks(
        record.name,
        tuple(f"{record.name}@{time}" for time in record.snapshots),
        f"{record.name}@{record.monday}",
        date.fromisoformat(record.asked),
        record.folder / "to_fix",
        record.folder / "returned",
        record.incident,
        tuple(audits / time for time in record.audits),
    )


#: The layout of the file that notes what was made.
_LAYOUT: Final = 1


@dataclass(frozen=True)
class WeeksRecord:
    """What was made of the weeks so far.

    Attributes
    ----------
    name
        Name of the snapshots.
    began
        When they were made, as folders are called; "" where there are none.
    snapshots, audits
        Their times, as their folders are called, oldest first.
    monday
        The time of the snapshot of the last Monday.
    asked
        The day on which worklists were sent.
    incident
        The sentence of the sandbox's journal about the incident.
    ended
        Whether they were made to their end.
    """

    name: str
    began: str = ""
    snapshots: tuple[str, ...] = ()
    audits: tuple[str, ...] = ()
    monday: str = ""
    asked: str = ""
    incident: str = ""
    ended: bool = False

    @property
    def folder(self) -> Path:
        """The folder of what was sent to suppliers, and of what they returned."""
        return _file_of(self.name).parent / self.began

    @classmethod
    def read(cls, name: str) -> Self:
        """Return what is noted of the weeks of a name; nothing where it cannot be read.

        Raises
        ------
        OtherLayout
            When another version of prodex wrote it.
        """
        try:
            written = read_json(_file_of(name), cls, layout=_LAYOUT, advice="The weeks are then made anew.")
        except (OSError, ValueError):
            return cls(name)
        # They become names of folders.
        times = (*written.snapshots, *written.audits, written.began)
        return replace(written, name=name) if all(time == safe_name(time) for time in times) else cls(name)

    def write(self) -> None:
        """Write it down."""
        write_state(_file_of(self.name), self, _LAYOUT)

    def remove_snapshots(self) -> None:
        """Remove everything that is kept under the name: it is that of the weeks. Worklists stay."""
        folder = snapshots_folder() / self.name
        with locked(folder, f"removing the simulated weeks {self.name!r}", without_space=True):
            for path in entries_of(folder):
                if is_folder(path):
                    discard(path)


def _file_of(name: str) -> Path:
    return home() / "weeks" / checked_name(name) / "weeks.json"


def day_of(time: str) -> date:
    """Return the day of the time of a snapshot or audit.

    >>> day_of("2026-11-16T200000.000123Z")
    datetime.date(2026, 11, 16)
    """
    return date.fromisoformat(time[:10])


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
    import prodex.sandbox as exchange

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
    import prodex.sandbox as exchange

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
