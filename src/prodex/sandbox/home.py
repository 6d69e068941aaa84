"""The folder in which a sandbox lives: its store, a lock, and word of where it answers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import platformdirs
from filelock import FileLock, Timeout

from prodex.sandbox.private_files import close_files, make_file, make_folder
from prodex.sandbox.raw_json import encode
from prodex.sandbox.records.filling import Labels, create_store
from prodex.sandbox.records.model import Organization, SharedProduct
from prodex.sandbox.records.reading import Record, shared_with_all
from prodex.sandbox.records.store import Store, StoreUnusable

#: What a new store is filled with: products, or records that every retailer sees.
Filling = Iterable[SharedProduct | Record]

_STORE: Final = "store.sqlite"
_LOCK: Final = "lock"
_WORD: Final = "server.json"


def default_home() -> Path:
    """Return `sandbox` in the folder that PRODEX_HOME names, else in the user's data folder for prodex."""
    root = os.environ.get("PRODEX_HOME")
    folder = Path(root or platformdirs.user_data_dir("prodex", appauthor=False)).expanduser().absolute()
    return folder / "sandbox"


@contextmanager
def open_store(
    home: Path,
    filling: Callable[[], Filling],
    organizations: Sequence[Organization],
    labels: Labels,
    origin: str,
) -> Iterator[Store]:
    """Open the store in `home`, made and filled first where there is none; other sandboxes are kept out meanwhile.

    The folder and what the sandbox keeps in it are for their owner alone, also where they stood open until now.

    `origin` says what a new store is filled with, in words.

    Raises
    ------
    StoreUnusable
        When another sandbox runs in `home`, or its store cannot be read.
    """
    make_folder(home)
    path, lock = home / _STORE, home / _LOCK
    try:
        with FileLock(lock, timeout=0, mode=0o600, thread_local=False):
            for kept in (f"{_STORE}*", _LOCK, f"{_WORD}*"):
                close_files(home, kept)
            if not path.exists():
                _create(path, filling(), organizations, labels, origin)
            store = Store(path)
            try:
                yield store
            finally:
                store.close()
    except Timeout:
        raise StoreUnusable(f"Another sandbox runs in {home}; stop it, or give another home.") from None


@contextmanager
def word_of(home: Path, ready: Path | None, server: Mapping[str, Any]) -> Iterator[None]:
    """Keep word of a running server in `home`/server.json meanwhile, and in `ready` for good."""
    word = encode(server) + b"\n"
    path = home / _WORD
    _write(path, word)
    try:
        if ready is not None:
            _write(ready, word)
        yield
    finally:
        path.unlink(missing_ok=True)


def _create(
    path: Path, filling: Filling, organizations: Sequence[Organization], labels: Labels, origin: str
) -> None:
    known = list(organizations)
    create_store(path, known, shared_with_all(filling, known), labels, origin)


def _write(path: Path, content: bytes) -> None:
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    make_file(beside, content)
    beside.replace(path)
