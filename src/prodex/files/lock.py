"""A lock on a folder, for one process at a time: it names its owner and ends with its process.

All times are in seconds.
"""

from __future__ import annotations

import errno
import getpass
import json
import os
import platform
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Self

import filelock

from prodex.errors import SnapshotLocked, StorageError
from prodex.files.atomic import make_folder, storage, writing
from prodex.files.untrusted import is_foreign, is_own_file, read_json
from prodex.untrusted_text import on_one_line

#: Locked by the operating system, which releases it however the process ends.
LOCK = ".lock"
#: The same for the moment in which something is published to a folder, which a load may hold meanwhile.
_TURN, _PATIENCE = ".turn.lock", 60.0


class LockOwner(NamedTuple):
    """Who holds a lock: process, user and host, since when (ISO 8601, UTC), and what for."""

    process: int
    user: str
    host: str
    since: str
    doing: str

    @classmethod
    def now(cls, doing: str) -> Self:
        """Return this process as the owner from now on."""
        return cls(
            os.getpid(), user_name(), platform.node(), f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", doing
        )

    @classmethod
    def of(cls, folder: Path, name: str = LOCK) -> Self | None:
        """Return the owner that a folder's lock names; None if it cannot be read."""
        try:
            return cls(**read_json(_owner_file(folder, name), dict[str, Any]))
        except (OSError, ValueError, TypeError):
            return None

    def __str__(self) -> str:
        # The folder may be from somebody else, so the names in it are shown and not trusted.
        return on_one_line(
            f"process {self.process} of {self.user} on {self.host}, {self.doing} since {self.since}"
        )


@contextmanager
def locked(
    folder: Path,
    doing: str,
    *,
    name: str = LOCK,
    patience: float | None = 0.0,
    without_space: bool = False,
) -> Iterator[None]:
    """Hold a lock of a folder, against other threads of this process as well.

    Parameters
    ----------
    folder
        What to lock; made if it does not exist.
    doing
        What for, as in "loading 'shop'"; it is shown to those who find the folder locked.
    name
        The file of the lock: locks of several names exclude nobody from each other. It is gone afterwards.
    patience
        Seconds to wait for the lock, where it is held only for a moment; None for as long as it takes.
    without_space
        Continue without the lock if the disk is too full to make it: then nobody else can hold it or begin to write.
        For work that only deletes.

    Raises
    ------
    SnapshotLocked
        When somebody else holds the lock; the message names the owner.
    StorageError
        When the folder cannot be written.
    """
    file, owner = folder / name, _owner_file(folder, name)
    lock = filelock.FileLock(file, mode=0o600)
    with storage(folder):
        make_folder(folder, private=True)
        _refuse_foreign(file)
        try:
            lock.acquire(timeout=-1 if patience is None else patience)
        except filelock.Timeout as error:
            raise SnapshotLocked(
                f"{folder} is in use by {LockOwner.of(folder, name) or 'another process'}. Wait for its end, or use "
                "another name."
            ) from error
        except OSError as error:
            if not without_space or error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
    try:
        # The owner's name is only for people: on a full disk the lock holds without it, so that `vacuum` can delete.
        with suppress(StorageError), writing(owner, private=True) as beside:
            beside.write_text(json.dumps(LockOwner.now(doing)._asdict()), "utf-8")
        yield
    finally:
        with suppress(OSError):
            owner.unlink()
        if lock.is_locked:
            # While it is held: whoever waits for a file that is gone makes a new one (the lock looks for that).
            with suppress(OSError):
                file.unlink()
            lock.release()


def _owner_file(folder: Path, name: str) -> Path:
    """Return the file that names the owner to people: it may outlive its process, and only the lock counts."""
    return folder / f"{name}.json"


def is_locked(folder: Path) -> bool:
    """Whether somebody holds the lock of a folder (`locked`)."""
    if not is_own_file(folder / LOCK):  # opening a link would write to another file
        return False
    lock = filelock.FileLock(folder / LOCK)
    try:
        lock.acquire(blocking=False)
    except filelock.Timeout:
        return True
    except OSError:  # without permission to write, nobody holds it
        return False
    lock.release()
    return False


def publishing_lock(folder: Path) -> AbstractContextManager[None]:
    """Let one process at a time publish to a folder; the others wait for a minute, as it takes a moment only.

    The errors are those of `locked`.
    """
    return locked(folder, f"publishing to {folder}", name=_TURN, patience=_PATIENCE)


def _refuse_foreign(lock: Path) -> None:
    """Refuse a lock file that prodex did not make: opening a link would write elsewhere, opening a pipe would hang."""
    if is_foreign(lock):
        raise StorageError(
            f"{lock} is not a lock of prodex: it is a link, is not a plain file, or has another name elsewhere. "
            "Nothing was written. Look where the folder comes from, and delete it there."
        )


def user_name() -> str:
    """Return the name of the user of this machine."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # a container may have no name for its user
        return "an unknown user"
