"""Archives: values that are kept on disk under a name and a UTC time, such as snapshots and audits.

`<root>/<name>/<UTC time>/manifest.json`, with the files that the manifest describes beside it. A value is written to a
folder beside its own and renamed, so that it is there as a whole or not at all; afterwards it never changes. Whatever
lies in an archive may come from somebody else: links in it are not followed, and a manifest is read into a declared
shape.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from prodex import clock
from prodex.errors import SnapshotDamaged, SnapshotNotFound
from prodex.files.atomic import checked_name, home, safe_name, sweep
from prodex.files.untrusted import MadeByNewer, is_folder, is_there, read_json
from prodex.text import hint_and_all

MANIFEST = "manifest.json"

#: Read once: it is looked up in files, and written into every manifest.
_VERSION = version("prodex")

# Times begin with a digit; a folder that is still being written begins with a dot.
_DIGITS = tuple("0123456789")

Shape = TypeVar("Shape")
Read = TypeVar("Read")


def snapshots_folder() -> Path:
    """Return the root of all archives: `PRODEX_HOME`/snapshots, else in the platform's data folder."""
    return home() / "snapshots"


@dataclass(frozen=True)
class Archive:
    """One kind of values that are kept by name and time.

    Attributes
    ----------
    kind
        What the values are called in messages: "snapshot".
    advice
        What to do when one of them cannot be read, as sentences.
    below
        Folder between that of the name and those of the times; "" where there is none.
    format
        The newest format of a manifest that this version reads, and the one that it writes.
    """

    kind: str
    advice: str
    below: str = ""
    format: int = 1

    def folder(self, name: str) -> Path:
        """Return the folder that holds the values of a name.

        Raises
        ------
        SettingsError
            When this cannot be a name, since it becomes a folder.
        """
        return snapshots_folder() / checked_name(name) / self.below

    def name_of(self, folder: Path) -> str:
        """Return the name under which a value is kept in its folder."""
        return folder.parent.parent.name if self.below else folder.parent.name

    def of(self, name: str) -> list[Path]:
        """Return the folders of the values of a name, oldest first; links among them as well."""
        # A name that no file can have, such as "../shop", is never looked up.
        return list(self._times(snapshots_folder() / name)) if name == safe_name(name) else []

    def every(self) -> Iterator[Path]:
        """Yield the folders of all values, by name, the oldest of each name first."""
        for folder in entries_of(snapshots_folder()):
            yield from self._times(folder)

    def matching(self, given: str) -> list[Path]:
        """Return the folders that a text such as "shop" or "shop@2026-11-13" means, oldest first.

        Any beginning of the time will do, so that a day stands for all values of that day.
        """
        name, _, time = given.partition("@")
        return [folder for folder in self.of(name) if folder.name.startswith(time)]

    def not_found(self, given: str, there_are: str, which: str = "") -> SnapshotNotFound:
        """Return the error for a name or time that matches nothing, with what there is instead.

        Parameters
        ----------
        given
            What was looked for.
        there_are
            The beginning of a sentence that the names end: "There are".
        which
            What else was asked for: " by profile 'core'".
        """
        name = given.partition("@")[0]
        names = sorted({self.name_of(folder) for folder in self.every()})
        times = ", ".join(folder.name for folder in self.of(name)[-5:])
        near = f". {name!r} has {times}."
        if not times:
            near = hint_and_all(name, names, f"{there_are} {', '.join(names) or 'none'}.")
        return SnapshotNotFound(f"No {self.kind} {given!r}{which} in {snapshots_folder()}{near}")

    def listing(self, name: str, facts: Callable[[Path], Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return one row for each value: name, time, folder, note, and what is known of it.

        Parameters
        ----------
        name
            Of which values; all when "*".
        facts
            Gives what is known of the value in a folder. Where it raises `SnapshotDamaged`, the message is the note.
        """
        rows = []
        for folder in self.every() if name == "*" else self.of(name):
            row: dict[str, Any] = {
                "name": self.name_of(folder),
                "time": folder.name,
                "folder": str(folder),
                "note": "",
            }
            try:
                row |= facts(folder)
            except SnapshotDamaged as error:
                row["note"] = str(error)
            rows.append(row)
        return rows

    def write_manifest(self, folder: Path, content: Mapping[str, Any]) -> None:
        """Write the manifest of a value, with its format and our version, to the folder that is being made."""
        manifest = {"format": self.format, "prodex": _VERSION, **content}
        (folder / MANIFEST).write_text(json.dumps(manifest, ensure_ascii=False, indent=1), encoding="utf-8")

    def read_manifest(self, folder: Path, shape: type[Shape], read: Callable[[Shape], Read]) -> Read:
        """Read the manifest of a value.

        Parameters
        ----------
        folder
            The folder of the value.
        shape
            A type that msgspec knows: names, types and ranges of what a manifest holds.
        read
            Makes of it what is needed; raises `ValueError` for what the shape alone cannot exclude.

        Raises
        ------
        SnapshotDamaged
            When it is missing, damaged, or only a newer version can read it.
        """
        path = folder / MANIFEST
        try:
            return read(read_json(path, shape, newest=self.format))
        except MadeByNewer as error:
            raise SnapshotDamaged(f"{path} was {error}.") from error
        except (OSError, ValueError) as error:
            raise SnapshotDamaged(f"{path} cannot be read ({error}). {self.advice}") from error

    def _times(self, folder: Path) -> Iterator[Path]:
        """Yield the values in the folder of a name; half-written ones begin with a dot or have no manifest."""
        if self.below and not is_folder(folder / self.below):  # a link in its place is not followed
            return
        for path in entries_of(folder / self.below):
            if path.name[:1] in _DIGITS and is_there(path / MANIFEST):
                yield path


def new_entry(parent: Path, moment: datetime | None = None) -> Path:
    """Return the folder of a new value, and remove what processes that were killed left beside it.

    Parameters
    ----------
    parent
        The folder of the name; see `Archive.folder`.
    moment
        Its time; now by default. Microseconds keep values apart that are made in the same second.
    """
    sweep(parent)
    return parent / f"{moment or clock.now():%Y-%m-%dT%H%M%S.%f}Z"


def is_entry(folder: Path) -> bool:
    """Whether a folder holds a value of an archive, wherever the folder is."""
    try:
        return (folder / MANIFEST).is_file()
    except OSError:  # a name longer than any file's
        return False


def unlinked(folder: Path) -> Path:
    """Return the folder of a value, unless it is a link.

    Raises
    ------
    SnapshotDamaged
        When it is one.
    """
    if not is_folder(folder):
        raise SnapshotDamaged(
            f"{folder} is a link, and links among snapshots are not followed. Open what it leads to by its own path."
        )
    return folder


def entries_of(folder: Path) -> list[Path]:
    """Return what is in a folder, by name; nothing where it cannot be read."""
    try:
        return sorted(folder.iterdir(), key=lambda path: path.name)
    except OSError:
        return []
