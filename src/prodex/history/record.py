"""What is noted of simulated weeks: which snapshots and audits are theirs, so that they are found, and removed."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path
from typing import Self

import msgspec

from prodex.errors import SnapshotError
from prodex.files.atomic import checked_name, discard, home, safe_name, writing
from prodex.files.lock import locked
from prodex.files.untrusted import MadeByNewer, is_folder, read_json
from prodex.quality.archive import AUDITS
from prodex.quality.figure_archive import FIGURES
from prodex.store.archive import snapshots_folder
from prodex.store.snapshot import SNAPSHOTS

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
        The time of the snapshot of the last Monday; "" as long as there is none.
    asked
        The day on which worklists were sent, as text; "" as long as none were.
    incident
        The sentence of the sandbox's journal about the incident; "" as long as there was none.
    ended
        Whether nothing is missing.
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
        """The folder of what was sent to suppliers, and of what came back."""
        return _folder(self.name) / self.began

    @classmethod
    def read(cls, name: str) -> Self:
        """Return what is noted of the weeks of a name; nothing where it cannot be read.

        Raises
        ------
        SnapshotError
            When a newer version of prodex wrote it.
        """
        path = _folder(name) / _FILE
        try:
            written = read_json(path, _Written, newest=_FORMAT)
        except MadeByNewer as error:
            raise SnapshotError(f"{path} was {error}.") from error
        except (OSError, ValueError):
            return cls(name)
        times = (*written.snapshots, *written.audits, written.began)
        # They become names of folders, some of which are removed.
        if any(time != safe_name(time) for time in times):
            return cls(name)
        return cls(name, **msgspec.structs.asdict(written))

    def noting(self, **facts: object) -> Self:
        """Return the record with facts replaced, and write it down."""
        newer = replace(self, **facts)  # type: ignore[arg-type] # names and types are those of the fields
        with writing(_folder(self.name) / _FILE, private=True) as beside:
            content = {"format": _FORMAT, **asdict(newer)}
            beside.write_text(json.dumps(content, ensure_ascii=False, indent=1), "utf-8")
        return newer

    def remove(self) -> None:
        """Remove the snapshots and audits of these weeks; others of the same name stay, and so do the worklists."""
        folder = snapshots_folder() / self.name
        if is_folder(folder):
            with locked(folder, f"removing the simulated weeks {self.name!r}", without_space=True):
                for archive, times in (
                    (SNAPSHOTS, self.snapshots),
                    (AUDITS, self.audits),
                    (FIGURES, self.audits),
                ):
                    for time in times:
                        if is_folder(place := archive.folder(self.name) / time):
                            discard(place)


def _folder(name: str) -> Path:
    return home() / "weeks" / checked_name(name)


class _Written(msgspec.Struct):
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
