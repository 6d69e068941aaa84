"""One process at a time in a folder: a lock that names its owner and dies with its process."""

from __future__ import annotations

import errno
import getpass
import json
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Self

import filelock

from prodex.display_text import on_one_line
from prodex.errors import SnapshotLocked, StorageError
from prodex.files import make_folder, storage, writing
from prodex.files.untrusted import is_own_file, is_there, read_json

#: Locked by the system itself, which lets go of it when the process ends in whatever way.
_LOCK = ".lock"
#: Who holds the lock, for people to read. It may outlive its process, the lock cannot: only the lock counts.
_OWNER = ".lock.json"


class Owner(NamedTuple):
    """Who holds a lock: process, user and host, since when (ISO 8601, UTC), and what for."""

    process: int
    user: str
    host: str
    since: str
    doing: str

    @classmethod
    def now(cls, doing: str) -> Self:
        """Return this process as the owner from now on."""
        return cls(os.getpid(), _user(), platform.node(), f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", doing)

    @classmethod
    def of(cls, folder: Path) -> Self | None:
        """Return who says to hold the lock of a folder, or None where nobody can be named."""
        try:
            return cls(**read_json(folder / _OWNER, dict[str, Any]))
        except (OSError, ValueError, TypeError):
            return None

    def __str__(self) -> str:
        told = f"process {self.process} of {self.user} on {self.host}, {self.doing} since {self.since}"
        return on_one_line(told)


@contextmanager
def locked(folder: Path, doing: str, *, without_space: bool = False) -> Iterator[None]:
    """Keep everybody else out of a folder meanwhile, other threads of this process included.

    Parameters
    ----------
    folder
        What to lock; made if it does not exist.
    doing
        What for, as in "loading 'shop'"; whoever is kept out reads it.
    without_space
        Go on where the disk is so full that the lock cannot be made: then nobody holds it, and nobody can begin to
        write. For work that only deletes.

    Raises
    ------
    SnapshotLocked
        When the lock is taken; nobody waits for it. The message names its owner.
    StorageError
        When the folder cannot be written.
    """
    lock = filelock.FileLock(folder / _LOCK, mode=0o600)
    with storage(folder):
        make_folder(folder, private=True)
        _refuse_foreign(folder / _LOCK)
        try:
            lock.acquire(blocking=False)
        except filelock.Timeout as error:
            raise SnapshotLocked(
                f"{folder} is in use by {Owner.of(folder) or 'another process'}. Wait for its end, or use another name."
            ) from error
        except OSError as error:
            if not without_space or error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
    owner = folder / _OWNER
    try:
        # Only for people: on a full disk the lock holds without it, and something can be deleted under it.
        with suppress(StorageError), writing(owner, private=True) as beside:
            beside.write_text(json.dumps(Owner.now(doing)._asdict()), "utf-8")
        yield
    finally:
        with suppress(OSError):
            owner.unlink()
        lock.release()


def _refuse_foreign(lock: Path) -> None:
    """Refuse to lock what is no lock of ours: opening it could write elsewhere, or wait for good."""
    if is_there(lock) and not is_own_file(lock):
        raise StorageError(
            f"{lock} is no lock of prodex, but a link, no plain file, or one that has another name elsewhere. Nothing "
            "was written. Look where the folder comes from, and delete it there."
        )


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # a container may have no name for its user
        return "an unknown user"
