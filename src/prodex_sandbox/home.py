"""The home of a sandbox: a folder with its store, a lock, and a file that says where it answers.

The store holds keys and secrets, so everything in the folder is readable by its owner only, whatever the umask.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import platformdirs
from filelock import FileLock, Timeout

from prodex_sandbox.raw_json import encode
from prodex_sandbox.records.beginning import bring_up_to_date
from prodex_sandbox.records.filling import Labels, fill_store
from prodex_sandbox.records.model import Organization, SharedProduct
from prodex_sandbox.records.reading import Record, shared_with_all
from prodex_sandbox.records.store import Store, StoreUnusable

#: What a new store is filled with: products, or records that every retailer sees.
Filling = Iterable[SharedProduct | Record]

#: Products of the sample in a new store.
SAMPLE_SIZE: Final = 12_000

_STORE: Final = "store.sqlite"
_LOCK: Final = "lock"
_SERVER: Final = "server.json"
#: Modes of files and of the folder.
_FILE: Final = 0o600
_FOLDER: Final = 0o700


def default_home() -> Path:
    """Return `sandbox` in the folder that PRODEX_HOME names, else in the user's data folder for prodex."""
    root = os.environ.get("PRODEX_HOME")
    folder = Path(root or platformdirs.user_data_dir("prodex", appauthor=False)).expanduser().absolute()
    return folder / "sandbox"


def store_file(home: Path) -> Path:
    """Return the file of the store in `home`."""
    return home / _STORE


def remove_store(home: Path) -> None:
    """Remove the store in `home`; the next start makes it anew.

    Raises
    ------
    StoreUnusable
        When a sandbox runs in `home`.
    """
    try:
        with FileLock(home / _LOCK, timeout=0, mode=0o600):
            for part in home.glob(f"{_STORE}*"):
                part.unlink()
    except Timeout:
        raise StoreUnusable(f"Another sandbox runs in {home}; stop it, or give another home.") from None


@contextmanager
def open_store(
    home: Path,
    filling: Callable[[], Filling],
    organizations: Sequence[Organization],
    labels: Labels,
    origin: str,
) -> Iterator[Store]:
    """Open the store in `home`, made and filled first where there is none; other sandboxes are kept out meanwhile.

    The folder and the files of the sandbox in it become readable by their owner only.

    `origin` describes what a new store is filled with.

    Raises
    ------
    StoreUnusable
        When another sandbox runs in `home`, or its store cannot be read.
    """
    _make_folder(home)
    path, lock = home / _STORE, home / _LOCK
    try:
        # thread_local=False: a context may be closed by another thread than opened it.
        with FileLock(lock, timeout=0, mode=0o600, thread_local=False):
            for kept in (*home.glob(f"{_STORE}*"), lock, *home.glob(f"{_SERVER}*")):
                if kept.is_file():
                    _close(kept, _FILE)
            if not path.exists():
                _create(path, filling(), organizations, labels, origin)
            bring_up_to_date(path)
            store = Store(path)
            try:
                yield store
            finally:
                store.close()
    except Timeout:
        raise StoreUnusable(f"Another sandbox runs in {home}; stop it, or give another home.") from None


@contextmanager
def announced(home: Path, ready: Path | None, server: Mapping[str, Any]) -> Iterator[None]:
    """Announce a running server in `home`/server.json while the context is open, and in `ready` for good."""
    announcement = encode(server) + b"\n"
    path = home / _SERVER
    _write(path, announcement)
    try:
        if ready is not None:
            _write(ready, announcement)
        yield
    finally:
        path.unlink(missing_ok=True)


def access_keys(organizations: Iterable[Organization]) -> list[dict[str, Any]]:
    """Return names, types and access keys, as the sandbox prints them."""
    return [
        {
            "organization": one.name,
            "type": int(one.type),
            "client_id": one.client_id,
            "client_secret": one.client_secret,
        }
        for one in organizations
    ]


def _create(
    path: Path, filling: Filling, organizations: Sequence[Organization], labels: Labels, origin: str
) -> None:
    """Fill a new store; a file is at `path` only when it is complete."""
    temporary = path.with_suffix(".filling")
    # What SQLite makes beside a store gets the mode of the store.
    _make_file(temporary)
    known = list(organizations)
    fill_store(temporary, known, shared_with_all(filling, known), labels, origin)
    # A reader sees the whole file or none.
    temporary.replace(path)


def _write(path: Path, content: bytes) -> None:
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    _make_file(temporary, content)
    temporary.replace(path)


def _make_folder(path: Path) -> None:
    """Make a folder for its owner only, and close one that others could read; one that everybody shares stays so."""
    if not path.is_dir():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(_FOLDER, exist_ok=True)
    # In a folder with the sticky bit, such as /tmp, others have files of their own.
    if not path.stat().st_mode & stat.S_ISVTX:
        _close(path, _FOLDER)


def _make_file(path: Path, content: bytes = b"") -> None:
    """Write a new file for its owner only; a file that was there is replaced."""
    path.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags, _FILE), "wb") as file:
        file.write(content)
    _close(path, _FILE)


def _close(path: Path, mode: int) -> None:
    """Take a file or folder away from all but its owner."""
    found = path.stat()
    # Only the owner may change a mode; what belongs to somebody else stays as it is.
    if stat.S_IMODE(found.st_mode) != mode and (not hasattr(os, "getuid") or found.st_uid == os.getuid()):
        path.chmod(mode)
