"""Vacuum: deletes old snapshots of a name, and what interrupted loads left beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from prodex import clock
from prodex.advice import Argument, advice
from prodex.arguments import whole_number
from prodex.catalog import Catalog
from prodex.errors import QueryError, SnapshotDamaged, SnapshotNotFound
from prodex.files.atomic import checked_name, discard, left_over, reading
from prodex.files.lock import locked
from prodex.files.untrusted import is_file, is_folder
from prodex.store.archive import snapshots_folder
from prodex.store.journal import journals_in
from prodex.store.snapshot import SNAPSHOTS, list_snapshots, name_of, verify

#: A journal younger than this may still be taken up again.
_RESUMABLE = timedelta(days=1)


class _Removal(NamedTuple):
    """Something to remove, and why; only of a snapshot it is known how many products it holds."""

    folder: Path
    time: str
    products: int | None
    reason: str


def vacuum(name: str | Catalog, *, keep: int = 3, dry_run: bool = False) -> pd.DataFrame:
    """Remove all but the newest snapshots of a name, and what interrupted work left there.

    The newest is the one that was published last, whatever the clock showed then. The newest snapshot that is complete
    and undamaged always stays, even if there are newer ones that are not.
    Half-written folders are removed if the process that wrote them is gone, and journals of interrupted loads if
    nothing was added to them for a day. Each snapshot disappears as a whole; catalogues that were opened from it cannot
    be read any further. It works on a full disk.

    Parameters
    ----------
    name
        Name of the snapshots, or a catalogue that is one of them.
    keep
        How many of the newest stay; one at least.
    dry_run
        Only say what would be removed.

    Returns
    -------
    pandas.DataFrame
        One row for each thing removed: name, time, products (none for what is no snapshot), bytes_freed (a file
        that a remaining snapshot shares frees nothing), reason.

    Raises
    ------
    SnapshotNotFound
        When nothing has this name.
    SnapshotLocked
        When a process is loading under this name.

    Examples
    --------
    >>> import prodex
    >>> for number in range(3):
    ...     _ = prodex.flatten([{"id": number}]).save("cleaned")
    >>> prodex.vacuum("cleaned", keep=1)["reason"].tolist()
    ['older than the newest 1', 'older than the newest 1']
    """
    if (number := whole_number(keep, 1)) is None:
        raise QueryError(
            advice(
                "{keep} is {given}. Keep at least one snapshot; delete the folder to keep none.",
                keep=Argument("keep"),
                given=repr(keep),
            )
        )
    name = name_of(name, "vacuum")
    folder = snapshots_folder() / checked_name(name)
    with reading(folder):
        is_known = folder.is_dir()
    if not is_known:
        raise SnapshotNotFound(f"There is nothing of {name!r} in {snapshots_folder()}.")
    with locked(folder, f"cleaning up {name!r}", without_space=True):
        # The lock is held, so that no load continues with a journal while it is judged to be abandoned.
        removals = [*_old(name, number), *_half_written(folder), *_abandoned(folder, datetime.now(UTC))]
        freed = _freed(one.folder for one in removals)
        if not dry_run:
            for one in removals:
                discard(one.folder)
    rows = [
        (name, one.time, one.products, size, one.reason) for one, size in zip(removals, freed, strict=True)
    ]
    return pd.DataFrame(rows, columns=["name", "time", "products", "bytes_freed", "reason"]).astype(
        {"name": "str", "time": "str", "products": "Int64", "bytes_freed": "Int64", "reason": "str"}
    )


def _old(name: str, keep: int) -> Iterator[_Removal]:
    """Yield the snapshots that are neither among the newest nor the newest that is whole, oldest first."""
    counted = set(map(str, SNAPSHOTS.of(name)))
    every: list[dict[str, Any]] = list_snapshots(name).to_dict("records")  # type: ignore[assignment]
    # A copy beside them is listed, and neither takes the place of one nor is ours to remove.
    listed = [row for row in every if row["folder"] in counted]
    # Of a time in the future it is known only that it is wrong: what has no number either takes nobody's place.
    soon = clock.as_name(clock.now() + clock.TOLERATED)
    older = [row for row in listed if row["time"] <= soon or not pd.isna(row["sequence"])][:-keep]
    if not older:
        return
    whole = next((row for row in reversed(listed) if _is_intact(row)), None)
    for row in older:
        # It may be older than all that stay, and is still the only one that can be opened safely.
        if row is not whole:
            yield _Removal(Path(row["folder"]), row["time"], row["products"], f"older than the newest {keep}")


def _is_intact(row: dict[str, Any]) -> bool:
    """Whether a listed snapshot is complete, and every file as it was written."""
    if row["note"] or not row["complete"]:
        return False
    try:
        return bool(verify(row["folder"])["ok"].all())
    except SnapshotDamaged:
        return False


def _half_written(folder: Path) -> Iterator[_Removal]:
    for left in left_over(folder):
        yield _Removal(
            left, clock.as_name(_last_written(left)), None, "half-written by a process that is gone"
        )


def _abandoned(folder: Path, now: datetime) -> Iterator[_Removal]:
    """Yield the journals of interrupted loads that nobody took up again; while we hold the lock, nobody does."""
    for journal in journals_in(folder):
        written = _last_written(journal)
        # In both directions: a clock that was ahead has dated files in the future.
        if abs(now - written) > _RESUMABLE:
            yield _Removal(
                journal,
                clock.as_name(written),
                None,
                "journal of a load that was interrupted a day ago or longer",
            )


def _last_written(path: Path) -> datetime:
    """Return the time of the newest file in a folder. The folder's own time changes when files are only moved."""
    files = [file for file in _paths_inside(path) if is_file(file)]
    return datetime.fromtimestamp(max(file.lstat().st_mtime for file in files or [path]), UTC)


def _paths_inside(path: Path) -> Iterator[Path]:
    """Yield what is in a folder, at any depth; a link is nothing but itself."""
    if is_folder(path):
        yield from path.rglob("*")


def _freed(folders: Iterable[Path]) -> list[int]:
    """Return the bytes that each folder frees if all are removed in this order.

    Snapshots share unchanged files as hard links, so that a file is freed when its last name is removed.
    """
    names_gone: Counter[tuple[int, int]] = Counter()
    freed = []
    for folder in folders:
        size = 0
        for path in (folder, *_paths_inside(folder)):
            if is_file(path):
                facts = path.lstat()
                names_gone[facts.st_dev, facts.st_ino] += 1
                if names_gone[facts.st_dev, facts.st_ino] == facts.st_nlink:
                    size += facts.st_size
        freed.append(size)
    return freed
