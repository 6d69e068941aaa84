"""Simulated weeks: three weeks of the sandbox, with the snapshots, audits and worklists of a shop that used prodex."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime
from importlib import resources
from pathlib import Path

from prodex.catalog import Catalog
from prodex.errors import InputError, SnapshotError
from prodex.files.atomic import relative_to_working_folder
from prodex.files.lock import locked
from prodex.messages import counted
from prodex.progress import Progress
from prodex.quality.archive import open_audit
from prodex.quality.audit import Audit
from prodex.quality.requirements import Requirements
from prodex.service import connect
from prodex.store.archive import snapshots_folder
from prodex.store.snapshot import open_snapshot
from prodex.week_simulation.record import WeeksRecord, day_of


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
        with resources.as_file(resources.files("prodex.week_simulation") / "requirements.toml") as file:
            return Requirements.read(file).named("shop")

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
    known = WeeksRecord.read(name)
    folder = known.folder.parent
    from prodex.sandbox import journal
    from prodex.week_simulation.simulating import make_weeks

    # Two notebooks that begin at the same time share the weeks.
    with locked(folder, f"simulating weeks of {name!r}", name="weeks.lock", patience=None):
        known = WeeksRecord.read(name)
        if not _is_there(known) or known.incident not in journal().incidents:
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
