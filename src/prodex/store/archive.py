"""Archives: values that are kept on disk under a name and a UTC time, such as snapshots and audits.

`<root>/<name>/<UTC time>/manifest.json`, with the files that the manifest describes beside it. A value is written to a
folder beside its own and renamed, so that it is there as a whole or not at all; afterwards it never changes. The
files of an archive may be from somebody else: links are not followed, and a manifest is read into a declared shape.

What is newest is decided by the order in which values were published, and not by their times: a clock that was ahead
once would otherwise hide everything that was published later. So a manifest has a number, one more than that of the
value before. Only the time of a value decides where its manifest cannot be read.
"""

from __future__ import annotations

import logging
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from prodex import clock
from prodex.errors import OtherLayout, SettingsError, SnapshotDamaged, SnapshotNotFound, StorageError
from prodex.files.atomic import checked_name, home, on_disk, reading, remove_leftovers, safe_name
from prodex.files.lock import publishing_lock
from prodex.files.seal import has_own_seal, own_seal
from prodex.files.untrusted import (
    Count,
    is_folder,
    is_there,
    read_bytes,
    read_json,
)
from prodex.phrases import hint_and_all

_LOG = logging.getLogger("prodex")

MANIFEST = "manifest.json"
#: Beside the manifest of what this installation has made: the seal of the manifest, which has the digests of all else.
SEAL = "seal"

#: Read once: it is looked up in files, and written into every manifest.
_VERSION = version("prodex")

# Times begin with a digit; a folder that is still being written begins with a dot.
_DIGITS = tuple("0123456789")

#: Why a folder is none of the values that it is beside, and what to do.
_COPIED = (
    "is not used, since it is not called by a time alone, as a copy is that a program has made which keeps folders "
    "alike. Open it by its path, or delete it."
)
_IN_PART = (
    f"is not used, since it has no {MANIFEST}, as a folder that was copied or deleted in part. Copy it again as a "
    "whole, or delete it."
)

#: Bytes that a seal may have.
_MOST_OF_SEAL = 100

#: Beyond it no reader of JSON is exact.
_LAST_NUMBER = 2**53 - 1

Shape = TypeVar("Shape")
Read = TypeVar("Read")
Value = TypeVar("Value")


class ArchivePlace(NamedTuple):
    """The place of a value in the order of its archive.

    Attributes
    ----------
    name
        Its time, as its folder is called.
    sequence
        Its number; None where its manifest cannot be read.
    """

    name: str
    sequence: int | None = None


class NextPlace(NamedTuple):
    """The place of a value that is being published; see `Archive.publishing`.

    Attributes
    ----------
    folder
        What its folder will be called.
    sequence
        Its number.
    later
        The latest time of the values before it, if that is after its own: the clock was set back meanwhile.
    """

    folder: Path
    sequence: int
    later: str | None = None


def snapshots_folder() -> Path:
    """Return the root of all archives: `PRODEX_HOME`/snapshots, else in the platform's data folder."""
    return home() / "snapshots"


def new_name(name: str) -> str:
    """Return a name under which something is about to be kept, its letters in their usual form.

    Raises
    ------
    SettingsError
        When it cannot be a name, or when a disk could take it for another one that there is: "Shop" beside "shop" would
        be the same folder on macOS and Windows, to which snapshots are copied.
    """
    name = checked_name(name)
    # Older disks of macOS list names with their letters taken apart.
    there = [unicodedata.normalize("NFC", folder.name) for folder in entries_of(snapshots_folder())]
    if name not in there and (twins := [one for one in there if on_disk(one) == on_disk(name)]):
        raise SettingsError(
            f"There is {twins[0]!r} already, and macOS and Windows do not tell {name!r} from it. Use {twins[0]!r}, or "
            "a name that differs in more than the case of its letters."
        )
    return name


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
        The number of the layout that this version writes and reads.
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
        """Return the folders of the values of a name in the order of publication; links among them as well."""
        return [folder for folder, _ in self.numbered(name)]

    def every(self) -> Iterator[Path]:
        """Yield the folders of all values, by name, those of each name in the order of publication."""
        yield from (folder for folder, _ in self.numbered("*"))

    def numbered(self, name: str) -> Iterator[tuple[Path, int | None]]:
        """Yield the folders of the values of a name, or of all ("*"), in the order of publication, with numbers.

        A value whose manifest cannot be read has none.
        """
        closed = {parent for parent, _ in self._closed_names()} if name == "*" else ()
        for parent in self._below(name):
            if parent in closed:  # a list of all mentions it, and has what is not somebody else's
                continue
            for place in in_order(self.places_in(parent), lambda place: place):
                yield parent / place.name, place.sequence

    def places(self, name: str) -> list[ArchivePlace]:
        """Return the places of the values of a name, in no order; a link has only its time."""
        return [place for parent in self._below(name) for place in self.places_in(parent)]

    def places_in(self, parent: Path) -> list[ArchivePlace]:
        """Return the places of the values in a folder, which may be another one than that of our own snapshots."""
        return [archive_place(folder) for folder in self._entries(parent)]

    def _below(self, name: str) -> list[Path]:
        """Return the folder of the values of a name, or of each name ("*")."""
        if name == "*":
            return [folder / self.below for folder in entries_of(snapshots_folder())]
        name = unicodedata.normalize("NFC", name)
        # A name that no file can have, such as "../shop", is never looked up.
        return [snapshots_folder() / name / self.below] if name == safe_name(name) else []

    def _closed_names(self) -> Iterator[tuple[Path, StorageError]]:
        """Yield the folders of names that belong to somebody else and may not be read, each with the error."""
        for parent in self._below("*"):
            try:
                next(self._entries(parent), None)
            except StorageError as error:
                yield parent, error

    def _closed(self, parent: Path, error: StorageError) -> dict[str, Any]:
        name = self.name_of(parent / "any")
        return {"name": name, "time": "", "sequence": None, "folder": str(parent), "note": str(error)}

    def matching(self, given: str) -> list[Path]:
        """Return the folders that a text such as "shop" or "shop@2026-11-13" means, in the order of publication.

        A day, a month or a year means all values of it, as `is_of` reads them.
        """
        name, _, time = given.partition("@")
        if name == "*":  # means all of them only where somebody lists them
            return []
        return [folder for folder in self.of(name) if is_of(folder.name, time)]

    def not_found(self, given: str, things: str, which: str = "") -> SnapshotNotFound:
        """Return the error for a name or time that matches nothing, with what there is instead.

        Parameters
        ----------
        given
            What was looked for.
        things
            What the names are names of, in the plural: "snapshots".
        which
            What else was asked for: " by profile 'core'".
        """
        name, _, day = given.partition("@")
        every = [path for path, _ in self.numbered("*")]
        # A copied folder is called "shop (1)", which can be no name: one is not told to write it.
        names = sorted({one for one in map(self.name_of, every) if one == safe_name(one)})
        if name not in names and (alike := [path for path in every if self.name_of(path) == name]):
            return SnapshotNotFound(
                f"{name!r} cannot be a name, as of a folder that was copied or renamed, so no {self.kind} is found by "
                f"it. Open {alike[-1]} by this path, or give the folder another name."
            )
        times = ", ".join(folder.name for folder in self.of(name)[-5:])
        near = f". {name!r} has {times}.{zone_note((folder.name for folder in self.of(name)), day)}"
        if not times:
            there_are = f"The {things} are: {', '.join(names)}." if names else f"It has no {things}."
            near = hint_and_all(name, names, there_are)
        return SnapshotNotFound(f"No {self.kind} {given!r}{which} in {snapshots_folder()}{near}")

    def listing(self, name: str, facts: Callable[[Path], Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return one row for each value, in order: name, time, sequence, folder, note, and what is known of it.

        Parameters
        ----------
        name
            Of which values; all when "*".
        facts
            Gives what is known of the value in a folder. Where it raises `SnapshotDamaged`, `OtherLayout` or
            `StorageError`, the message is the note. So is why a folder beside them is none of the values: a program
            that keeps folders alike makes copies of them, and brings their files one by one.
        """
        rows = [self._closed(*one) for one in self._closed_names()] if name == "*" else []
        rows += self._strays(name)
        for folder, number in self.numbered(name):
            row: dict[str, Any] = {
                "name": self.name_of(folder),
                "time": folder.name,
                "sequence": number,
                "folder": str(folder),
                "note": "",
            }
            try:
                row |= facts(folder)
            except (SnapshotDamaged, OtherLayout, StorageError) as error:
                row["note"] = str(error)
            rows.append(row)
        return rows

    @contextmanager
    def publishing(self, parent: Path, moment: datetime | None = None) -> Iterator[NextPlace]:
        """Give the place of a value that is published now; meanwhile, no other one of its name is.

        Parameters
        ----------
        parent
            The folder of the values of its name; see `folder`.
        moment
            Its time; now by default.

        Raises
        ------
        SnapshotLocked
            When another process does not end publishing.
        StorageError
            When the disk refuses.
        """
        with publishing_lock(parent):
            before = self.places_in(parent)
            time = clock.now() if moment is None else moment
            while moment is None and is_there(parent / clock.as_name(time)):  # a clock that was set back
                time += timedelta(microseconds=1)
            made = clock.as_name(time)
            # What cannot be read may have had the numbers after the last one that is known.
            unknown = sum(one.sequence is None for one in before)
            sequence = max((one.sequence or 0 for one in before), default=0) + unknown + 1
            later = max((one.name for one in before), default="")
            is_set_back = moment is None and later > made
            if is_set_back:
                _LOG.warning(
                    "the %s %s is newer than %s in %s, which has a later time: the clock was set back",
                    self.kind,
                    made,
                    later,
                    parent,
                )
            yield NextPlace(parent / made, min(sequence, _LAST_NUMBER), later if is_set_back else None)

    def write_manifest(
        self,
        folder: Path,
        content: Mapping[str, Any],
        sequence: int | None = None,
        *,
        sealed_for: Path | None = None,
    ) -> None:
        """Write the manifest of a value, with its format and our version, to the folder that is being made.

        Parameters
        ----------
        folder
            Where to.
        content
            What it holds beside.
        sequence
            Its number in the order of its archive.
        sealed_for
            The folder that the value will have, where all of it was made by this installation: see `is_own`.
        """
        manifest: dict[str, Any] = {"format": self.format, "prodex": _VERSION}
        if sequence is not None:
            manifest["sequence"] = sequence
        manifest |= content
        written = msgspec.json.format(msgspec.json.encode(manifest), indent=1)
        (folder / MANIFEST).write_bytes(written)
        if sealed_for is not None and (seal := own_seal(self._sealed_place(sealed_for), written)) is not None:
            (folder / SEAL).write_text(seal, "ascii")

    def is_own(self, folder: Path) -> bool:
        """Whether all of a value was made by this installation, and is where it was written.

        A folder that was copied into our own, or a manifest that was edited there, is not: it has no seal that the key
        of this home has made, or one for another place. What a value of somebody else says is read like any other; what
        was judged earlier is believed only of our own.
        """
        folder = folder.absolute()
        if self._below_root(folder) != snapshots_folder() or not is_folder(folder):
            return False
        with suppress(OSError, ValueError):
            seal = read_bytes(folder / SEAL, _MOST_OF_SEAL).decode("ascii")
            return has_own_seal(self._sealed_place(folder), read_bytes(folder / MANIFEST), seal)
        return False

    def _below_root(self, folder: Path) -> Path:
        return folder.parent.parent.parent if self.below else folder.parent.parent

    def _sealed_place(self, folder: Path) -> str:
        # Older disks of macOS list names with their letters taken apart.
        name = unicodedata.normalize("NFC", self.name_of(folder))
        return f"{self.kind} {name}/{folder.name}"

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
            When it is missing or damaged.
        OtherLayout
            When another version of prodex wrote it.
        StorageError
            When it belongs to somebody else and may not be read.
        """
        path = folder / MANIFEST
        try:
            with reading(path):
                return read(read_json(path, shape, layout=self.format, advice=self.advice))
        except StorageError:
            raise
        except (OSError, ValueError) as error:
            raise SnapshotDamaged(f"{path} cannot be read ({error}). {self.advice}") from error

    def _entries(self, parent: Path) -> Iterator[Path]:
        """Yield the values in the folder of a name: called by a time, and with a manifest, which is written last."""
        return (path for path in self._dated(parent) if _is_time(path.name) and _has_manifest(path))

    def _dated(self, parent: Path) -> Iterator[Path]:
        """Yield what is called by a time in the folder of a name, or by what begins like one."""
        if self.below and is_there(parent) and not is_folder(parent):  # a link in its place is not followed
            return
        yield from (path for path in entries_of(parent) if path.name[:1] in _DIGITS)

    def _strays(self, name: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of folders beside the values of a name, or of all ("*"), that only look like one of them."""
        for parent in self._below(name):
            # What may not be read is listed by itself, or is an error of what asks for this name.
            with suppress(StorageError):
                for path in self._dated(parent):
                    # A copy of the newest would be newer than it, and take the place of one that is to be kept.
                    if _is_time(path.name) is _has_manifest(path) or not is_folder(path):
                        continue
                    why = _COPIED if _has_manifest(path) else _IN_PART
                    yield {
                        "name": self.name_of(path),
                        "time": path.name,
                        "sequence": None,
                        "folder": str(path),
                        "note": f"{path} {why}",
                    }


def in_order(values: Iterable[Value], place: Callable[[Value], ArchivePlace]) -> list[Value]:
    """Return values in the order in which they were published: what has no number follows all of an earlier time.

    Parameters
    ----------
    values
        The values.
    place
        Returns the place of one.

    Examples
    --------
    >>> ahead, after = ArchivePlace("2026-11-26", 1), ArchivePlace("2026-11-24", 2)
    >>> [one.name for one in in_order([after, ahead, ArchivePlace("2026-11-25")], lambda one: one)]
    ['2026-11-26', '2026-11-24', '2026-11-25']
    """
    known = [(place(value), value) for value in values]
    numbered = [(one.name, one.sequence) for one, _ in known if one.sequence is not None]

    def order(one: ArchivePlace) -> tuple[int, bool, str]:
        if one.sequence is not None:
            return one.sequence, False, one.name
        return max((number for name, number in numbered if name < one.name), default=-1), True, one.name

    return [value for _, value in sorted(known, key=lambda pair: order(pair[0]))]


class _Order(msgspec.Struct):
    """What a manifest says about the order."""

    sequence: Count | None = None


def archive_place(folder: Path) -> ArchivePlace:
    """Return the place of a value by its manifest; only its time where that is a link or cannot be read."""
    if is_folder(folder):
        with suppress(OSError, ValueError):
            return ArchivePlace(folder.name, read_json(folder / MANIFEST, _Order).sequence)
    return ArchivePlace(folder.name)


def is_of(time: str, given: str) -> bool:
    """Whether a folder's time is one that somebody means.

    Parameters
    ----------
    time
        What the folder is called: a moment, UTC.
    given
        A day, a month or a year, which is one of this machine's time zone, as `watch` counts days; or the time, or its
        beginning with the hour, as it is listed (UTC).

    Examples
    --------
    >>> is_of("2026-11-13T050102.000003Z", "2026-11"), is_of("2026-11-13T050102.000003Z", "2026-11-13T0501")
    (True, True)
    >>> is_of("2026-11-13T050102.000003Z", "2026-1"), is_of("2026-11-13T050102.000003Z", "2026-11-13T0")
    (False, False)
    """
    if "T" in given:
        return _begins(time, given)
    try:
        day = f"{moment.astimezone():%Y-%m-%d}" if (moment := clock.from_name(time)) else time
    except (ValueError, OverflowError, OSError):  # no time zone of this machine reaches so far
        day = time
    return _begins(day, given)


#: Characters before the minutes and the seconds of a time, which nothing parts from the digits before them.
_BEFORE_DIGITS = (13, 15)
#: Characters of a time to the second: of its fraction, the beginning will do.
_TO_THE_SECOND = 17


def _begins(time: str, given: str) -> bool:
    """Whether a time begins with whole parts: the 3rd, written "2026-11-3", is no day of "2026-11-30"."""
    rest, end = time[len(given) :], len(given)
    is_cut = given[-1:].isdigit() and rest[:1].isdigit()
    return time.startswith(given) and (not is_cut or end in _BEFORE_DIGITS or end > _TO_THE_SECOND)


def zone_note(times: Iterable[str], given: str) -> str:
    """Return a sentence for somebody who may have meant a time in another zone than `is_of`; "" where nobody has.

    >>> zone_note(["2026-11-13T050102.000003Z"], "2026-11-13"), zone_note(["2026-11-13T050102.000003Z"], "2026-10")
    (' These times are UTC, and 2026-11-13 is meant in the time zone of this machine.', '')
    """
    if "T" in given:
        return f" These times are UTC, and so is {given}."
    if given and any(_begins(one, given) for one in times):
        return f" These times are UTC, and {given} is meant in the time zone of this machine."
    return ""


def new_entry(parent: Path, moment: datetime | None = None) -> Path:
    """Return the folder of a new value, and remove what processes that were killed left beside it.

    Parameters
    ----------
    parent
        The folder of the name; see `Archive.folder`.
    moment
        Its time; now by default. Microseconds keep values apart that are made in the same second.
    """
    remove_leftovers(parent)
    return parent / clock.as_name(moment or clock.now())


def _has_manifest(folder: Path) -> bool:
    """Whether there is a manifest; a folder that may not be entered has one, as far as anybody knows."""
    try:
        (folder / MANIFEST).lstat()
    except PermissionError:
        return True
    except OSError:
        return False
    return True


def _is_time(name: str) -> bool:
    return clock.from_name(name) is not None


def is_entry(folder: Path) -> bool:
    """Whether a folder holds a value of an archive, wherever the folder is.

    Raises
    ------
    StorageError
        When it is a path to a folder that may not be looked at.
    """
    try:
        return (folder / MANIFEST).is_file()
    except PermissionError:
        # A name is looked for in the working directory as well, which may be somebody else's.
        if len(folder.parts) < 2:
            return False
        with reading(folder):
            raise
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
    """Return what is in a folder, by name; nothing where there is none.

    Raises
    ------
    StorageError
        When it belongs to somebody else and may not be read.
    """
    try:
        with reading(folder):
            return sorted(folder.iterdir(), key=lambda path: path.name)
    except StorageError:
        raise
    except OSError:
        return []
