"""What is noted of simulated weeks: that a name is theirs, and which of its snapshots and audits they are."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Self

import msgspec

from prodex.files.atomic import checked_name, discard, home, safe_name
from prodex.files.lock import locked
from prodex.files.state import read_state, write_state
from prodex.files.untrusted import is_folder
from prodex.store.archive import entries_of, snapshots_folder

_FILE = "weeks.json"
_FORMAT = 1


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
        return _weeks_folder(self.name) / self.began

    @classmethod
    def read(cls, name: str) -> Self:
        """Return what is noted of the weeks of a name; nothing where it cannot be read.

        Raises
        ------
        OtherLayout
            When another version of prodex wrote it.
        """
        path = _weeks_folder(name) / _FILE
        try:
            written = read_state(path, _RecordLayout, _FORMAT, "The weeks are then made anew.")
        except (OSError, ValueError):
            return cls(name)
        # They become names of folders.
        if any(time != safe_name(time) for time in (*written.snapshots, *written.audits, written.began)):
            return cls(name)
        return cls(name, **msgspec.structs.asdict(written))

    def write(self) -> None:
        """Write it down."""
        write_state(_weeks_folder(self.name) / _FILE, self, _FORMAT)

    def remove_snapshots(self) -> None:
        """Remove everything that is kept under the name: it is that of the weeks. Worklists stay."""
        folder = snapshots_folder() / self.name
        with locked(folder, f"removing the simulated weeks {self.name!r}", without_space=True):
            for path in entries_of(folder):
                if is_folder(path):
                    discard(path)


def _weeks_folder(name: str) -> Path:
    return home() / "weeks" / checked_name(name)


class _RecordLayout(msgspec.Struct):
    """A record as JSON."""

    began: str
    snapshots: tuple[str, ...]
    audits: tuple[str, ...]
    monday: str
    asked: str
    incident: str
    ended: bool


def day_of(time: str) -> date:
    """Return the day of the time of a snapshot or audit.

    >>> day_of("2026-11-16T200000.000123Z")
    datetime.date(2026, 11, 16)
    """
    return date.fromisoformat(time[:10])
