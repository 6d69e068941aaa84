"""What the steps of a run share: the job, its service, and what earlier steps have made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from prodex.catalog import Catalog
from prodex.errors import SnapshotError
from prodex.job.job_file import Job, connect_service
from prodex.job.result import Figure
from prodex.job.run_journal import NUMBER, RunJournal
from prodex.quality.archive import last_own_audit, list_audits, open_audit
from prodex.quality.audit import Audit
from prodex.quality.profile import Profile
from prodex.service import Client
from prodex.store.snapshot import SNAPSHOTS, open_snapshot

#: The key under which a run notes the newest snapshot before it.
_SNAPSHOT = "snapshot"


@dataclass(eq=False)
class Context:
    """A run as its steps see it.

    Attributes
    ----------
    job
        What is to be done.
    time
        The name of the run.
    before
        The newest snapshot and audits when it began, and the number of that snapshot; see `newest_before`.
    figures
        Figures of the steps that were done, by name of the step.
    """

    job: Job
    time: str
    before: Mapping[str, str]
    figures: dict[str, Mapping[str, Figure]] = field(default_factory=dict)
    _audits: dict[str, Audit] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, job: Job, journal: RunJournal) -> Context:
        """Return the context of a run that begins or continues."""
        return cls(job, journal.time, journal.before, {n: s.figures for n, s in journal.steps.items()})

    @cached_property
    def client(self) -> Client:
        """The service; connected when a step first needs it."""
        return connect_service(self.job.service)

    @property
    def catalog(self) -> Catalog:
        """The snapshot that this run has loaded."""
        return open_snapshot(f"{self.job.name}@{self.figures['load']['snapshot']}")

    @property
    def previous(self) -> Catalog | None:
        """The last snapshot before this run; None for the first run, or where it cannot be read."""
        try:
            return open_snapshot(f"{self.job.name}@{self.before[_SNAPSHOT]}")
        except (KeyError, SnapshotError):
            return None

    def audit(self, profile: str) -> Audit:
        """Return the audit that this run has made by a profile."""
        if profile not in self._audits:
            time = self.figures[f"audit {profile}"]["audit"]
            self._audits[profile] = open_audit(f"{self.job.name}@{time}")
        return self._audits[profile]

    def keep_audit(self, audit: Audit) -> None:
        """Keep an audit in memory for the steps that follow."""
        self._audits[audit.profile] = audit

    def previous_audit(self, profile: str) -> Audit | None:
        """Return the last audit by a profile before this run; None where there is none that can be read."""
        try:
            return open_audit(f"{self.job.name}@{self.before[_audit_key(profile)]}")
        except (KeyError, SnapshotError):
            return None

    def made_meanwhile(self) -> str | None:
        """Return the snapshot that this run made before it was killed, if its end was not written down."""
        newest, number = _newest_numbered(self.job.name)
        return newest if number > int(self.before[NUMBER]) else None

    def audited_meanwhile(self, profile: str, snapshot: str) -> str | None:
        """Return the audit of the snapshot of this run that it made before it was killed, likewise."""
        listed = list_audits(self.job.name)
        # The snapshot is new, so every audit of it is.
        own = listed[(listed["profile"] == profile) & listed["snapshot"].astype("str").str.endswith(snapshot)]
        return None if own.empty else str(own["time"].iloc[-1])


def newest_snapshot(name: str) -> str | None:
    """Return the time of the newest snapshot of a name; None if there is none."""
    return _newest_numbered(name)[0]


def _newest_numbered(name: str) -> tuple[str | None, int]:
    """Return the time of the newest snapshot of a name, and the highest number."""
    found = list(SNAPSHOTS.numbered(name))
    # One that cannot be read has no number.
    return (found[-1][0].name if found else None), max((number or 0 for _, number in found), default=0)


def newest_before(job: Job) -> dict[str, str]:
    """Return the newest snapshot with its number and, for each profile, the newest audit of a job, by their times."""
    newest, number = _newest_numbered(job.name)
    # By their numbers is seen what was published later: times are those of a clock.
    before = {NUMBER: str(number)}
    if newest is not None:
        before[_SNAPSHOT] = newest
    for profile in map(_name_of, job.profiles):
        # One that came along with a copied folder would decide whether this night is worse.
        last = last_own_audit(job.name, profile)
        if last is not None and last.folder is not None:
            before[_audit_key(profile)] = last.folder.name
    return before


def _name_of(profile: Profile) -> str:
    return profile.name


def _audit_key(profile: str) -> str:
    return f"audit {profile}"
