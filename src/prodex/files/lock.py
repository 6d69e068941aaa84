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
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Self

import filelock

from prodex.errors import SnapshotLocked, StorageError
from prodex.files.atomic import make_folder, storage, writing
from prodex.files.untrusted import is_foreign, is_own_file, read_json
from prodex.untrusted_text import on_one_line

#: Locked by the operating system, which releases it however the process ends.
_LOCK = ".lock"
#: The same for the moment in which something is published: whoever finds it locked waits.
_TURN = ".turn.lock"
_PATIENCE = 60.0
#: Who holds the lock, for people to read. This file may outlive its process, the lock cannot: only the lock counts.
_OWNER = ".lock.json"


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
    def of(cls, folder: Path) -> Self | None:
        """Return the owner that a folder's lock names; None if it cannot be read."""
        try:
            return cls(**read_json(folder / _OWNER, dict[str, Any]))
        except (OSError, ValueError, TypeError):
            return None

    def __str__(self) -> str:
        # The folder may be from somebody else, so the names in it are shown and not trusted.
        return on_one_line(
            f"process {self.process} of {self.user} on {self.host}, {self.doing} since {self.since}"
        )


@contextmanager
def locked(folder: Path, doing: str, *, without_space: bool = False, patience: float = 0.0) -> Iterator[None]:
    """Hold the lock of a folder, against other threads of this process as well.

    Parameters
    ----------
    folder
        What to lock; made if it does not exist.
    doing
        What for, as in "loading 'shop'"; it is shown to those who find the folder locked.
    without_space
        Continue without the lock if the disk is too full to make it: then nobody else can hold it or begin to write.
        For work that only deletes.
    patience
        Seconds to wait for the lock, where it is held only for a moment.

    Raises
    ------
    SnapshotLocked
        When somebody else holds the lock; the message names the owner.
    StorageError
        When the folder cannot be written.
    """
    lock = filelock.FileLock(folder / _LOCK, mode=0o600)
    with storage(folder):
        make_folder(folder, private=True)
        _refuse_foreign(folder / _LOCK)
        try:
            lock.acquire(timeout=patience)
        except filelock.Timeout as error:
            raise SnapshotLocked(
                f"{folder} is in use by {LockOwner.of(folder) or 'another process'}. Wait for its end, or use another "
                "name."
            ) from error
        except OSError as error:
            if not without_space or error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
    owner = folder / _OWNER
    try:
        # The owner's name is only for people: on a full disk the lock holds without it, so that `vacuum` can delete.
        with suppress(StorageError), writing(owner, private=True) as beside:
            beside.write_text(json.dumps(LockOwner.now(doing)._asdict()), "utf-8")
        yield
    finally:
        with suppress(OSError):
            owner.unlink()
        lock.release()


def is_locked(folder: Path) -> bool:
    """Whether somebody holds the lock of a folder (`locked`)."""
    if not is_own_file(folder / _LOCK):  # opening a link would write to another file
        return False
    lock = filelock.FileLock(folder / _LOCK)
    try:
        lock.acquire(blocking=False)
    except filelock.Timeout:
        return True
    except OSError:  # without permission to write, nobody holds it
        return False
    lock.release()
    return False


@contextmanager
def publishing_lock(folder: Path) -> Iterator[None]:
    """Let one process at a time publish to a folder; the others wait, as it takes a moment only.

    Raises
    ------
    SnapshotLocked
        When another process has not ended it after a minute.
    StorageError
        When the folder cannot be written.
    """
    with taking_turns(folder / _TURN, f"publishing to {folder}", patience=_PATIENCE):
        yield


@contextmanager
def taking_turns(lock: Path, doing: str, *, patience: float | None = None) -> Iterator[None]:
    """Let one process at a time do something; the others wait, and find it done.

    Parameters
    ----------
    lock
        The file of the lock; its folder is made if it does not exist, and it is gone afterwards.
    doing
        What for, as in "starting the sandbox".
    patience
        Seconds to wait; as long as it takes by default.

    Raises
    ------
    SnapshotLocked
        When another process has not ended it by then.
    StorageError
        When the folder cannot be written.
    """
    held = filelock.FileLock(lock, mode=0o600)
    with storage(lock.parent):
        make_folder(lock.parent, private=True)
        _refuse_foreign(lock)
        try:
            held.acquire(timeout=-1 if patience is None else patience)
        except filelock.Timeout as error:
            raise SnapshotLocked(
                f"Another process has been {doing} for {patience:g} seconds. Wait for its end, and try again."
            ) from error
    try:
        yield
    finally:
        # While it is held: whoever waits for a file that is gone makes a new one (the lock looks for that).
        with suppress(OSError):
            lock.unlink()
        held.release()


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
