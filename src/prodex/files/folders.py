"""Exports that are replaced as a whole: if a process is killed, the old export is there, or the new one, or neither.

An export is several files that belong together, and no file system exchanges several files at once. So the new files
are written beside, the old ones are renamed, the new ones take their place, and the head is last: the folder itself
if everything in it is ours, else the one file that says that the export is complete (`datapackage.json`,
`worklists.json`, the page of a report). While the head is missing there is no export. A process that is killed in that
moment leaves the old files under hidden names, and the next one that writes there restores them first.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from prodex.files.atomic import (
    beside_of,
    flush,
    flush_all,
    left_over,
    make_folder,
    refuse_device,
    remove,
    retry_rename,
    storage,
)

#: Hidden names of files that will become a path or were one: `.texts.csv.123.part`, `.texts.csv.old.123.part`.
_ASIDE = re.compile(r"\.(?P<name>.+?)(?P<old>\.old)?\.[0-9]+\.part")


_OF_SYSTEM = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})


@contextmanager
def replacing(folder: Path, ours: Collection[str], head: Path) -> Iterator[Path]:
    """Give a folder to write to, and let what was written replace what an earlier export left in `folder`.

    Files that an export does not write, such as somebody's notes, stay. A folder that holds such a file, or that
    cannot be renamed (a link, a mount point, the working directory), is kept, and the files in it are exchanged one by
    one.

    Parameters
    ----------
    folder
        The folder of the export; made if it does not exist.
    ours
        Names of the files that an export writes there, or that an earlier export wrote.
    head
        The file that says that the export is complete: in the folder, or beside it. It is written like the others, to
        the folder that is given.

    Raises
    ------
    StorageError
        When the disk refuses; then the earlier export is as it was.
    """
    with storage(head), storage(folder):
        if folder.exists() and not folder.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        refuse_device(head)
        restore_old(folder, ours, head)
        whole = _can_be_exchanged(folder, ours)
    beside = beside_of(folder if whole else folder / head.name)
    remove(beside)
    try:
        with storage(folder):
            make_folder(beside)
            yield beside
            flush_all(beside)
            _exchange(*_moves(folder, beside, ours, head, whole))
    finally:
        remove(beside)
        remove(beside_of(head))


def is_of_system(name: str) -> bool:
    """Whether macOS or Windows puts a file of this name into the folders that people look at.

    >>> is_of_system(".DS_Store"), is_of_system("notes.txt")
    (True, False)
    """
    return name in _OF_SYSTEM or name.startswith("._")


def _moves(
    folder: Path, beside: Path, ours: Collection[str], head: Path, whole: bool
) -> tuple[dict[Path, Path | None], Path]:
    """Return the path for each new file (None where an old one is only removed), and which of them is last."""
    moves: dict[Path, Path | None] = {}
    last = head
    if head.parent != folder:
        retry_rename((beside / head.name).rename, beside_of(head))
        moves[head] = beside_of(head)
    if not whole:
        moves |= {folder / name: None for name in ours if name != head.name}
        moves |= {folder / path.name: path for path in beside.iterdir()}
        return moves, last
    if folder.is_dir():
        with suppress(OSError):
            shutil.copymode(folder, beside)
    moves[folder] = beside
    return moves, last if last in moves else folder


def _exchange(moves: Mapping[Path, Path | None], last: Path) -> None:
    """Rename the old files and then the new ones: the old head is the first, the new one is the last."""
    others = [place for place in moves if place != last]
    try:
        _rename_to_old(last)
        # From here on there is no export, also after a power cut: old and new files would otherwise look like one.
        flush(last.parent)
        for place in others:
            _rename_to_old(place)
            if (new := moves[place]) is not None:
                retry_rename(new.rename, place)
        for parent in {place.parent for place in others}:
            flush(parent)
        if (new := moves[last]) is not None:
            retry_rename(new.rename, last)
        flush(last.parent)
    except BaseException:  # a keyboard interrupt, too, must not leave the user without the old export
        if not last.exists():
            _put_back([*others, last], os.getpid())
        raise
    for place in moves:
        remove(_old_of(place, os.getpid()))


def _rename_to_old(place: Path) -> None:
    if place.exists():
        retry_rename(place.rename, _old_of(place, os.getpid()))


def _old_of(place: Path, process: int) -> Path:
    return place.with_name(f".{place.name}.old.{process}.part")


def _put_back(places: Collection[Path], process: int) -> None:
    """Restore the old files, the head last; until then there is no export."""
    for place in places:
        old = _old_of(place, process)
        if old.exists():
            remove(place)
            retry_rename(old.rename, place)
            flush(place.parent)


def restore_old(folder: Path, ours: Collection[str], head: Path) -> None:
    """Clean up after a killed process: restore the old export where the new one is not complete; see `replacing`."""
    places = [*(folder / name for name in ours if name != head.name), folder, head]
    names: dict[Path, set[str]] = {}
    for place in (*places, folder / head.name):  # the new head is written here if the folder is kept
        names.setdefault(place.parent, set()).add(place.name)
    for parent, known in names.items():
        if not parent.is_dir():
            continue
        for left in left_over(parent):
            found = _ASIDE.fullmatch(left.name)
            if found is None or found["name"] not in known or not left.exists():
                continue
            process = int(left.name.split(".")[-2])
            for last in (folder, head):
                if not last.exists() and _old_of(last, process).exists():
                    _put_back(places, process)
            remove(left)


def _can_be_exchanged(folder: Path, ours: Collection[str]) -> bool:
    """Whether one rename can replace the folder without removing anything that is not ours."""
    if not os.path.lexists(folder):
        return True
    if folder.is_symlink() or os.path.ismount(folder) or Path.cwd().is_relative_to(folder.resolve()):
        return False
    if not os.access(folder.absolute().parent, os.W_OK):
        return False
    return all(path.name in ours and not path.is_dir() for path in folder.iterdir())
