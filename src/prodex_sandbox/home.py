"""The home of a sandbox: a folder with its store, opened to be served, and changed while it is being served.

The store holds keys and secrets, so everything in the folder is readable by its owner only, whatever the umask.

SQLite lets another process write while the service reads. So days are simulated and changes reset without stopping the
service, which reads each day as soon as it has been simulated.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import platformdirs
from filelock import FileLock, Timeout

from prodex_sandbox.behaviour import Behaviour
from prodex_sandbox.raw_json import encode
from prodex_sandbox.records.baseline import reset_products, reset_store
from prodex_sandbox.records.filling import Labels, fill_store
from prodex_sandbox.records.model import Organization, SharedProduct
from prodex_sandbox.records.reading import Record, shared_with_all
from prodex_sandbox.records.service_clock import service_clock, set_service_time
from prodex_sandbox.records.store import Store, StoreOfAnotherVersion, StoreUnusable
from prodex_sandbox.simulation import Incident, Journal, OpenDefect, read_journal, simulate_store
from prodex_sandbox.simulation import open_defects as open_defects_of
from prodex_sandbox.terminal import with_progress

if TYPE_CHECKING:
    import pandas as pd


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
            store = Store(path)
            try:
                yield store
            finally:
                store.close()
    except Timeout:
        raise StoreUnusable(f"Another sandbox runs in {home}; stop it, or give another home.") from None


@contextmanager
def server_file(home: Path, ready: Path | None, server: Mapping[str, Any]) -> Iterator[None]:
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
    # What a store of before left, which somebody removed by hand: its copy would be taken for that of the new one.
    for left in path.parent.glob(f"{path.name}?*"):
        left.unlink()
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


def simulate(
    days: int = 7,
    seed: int = 1,
    incidents: Iterable[Incident | str] = (),
    requested: Iterable[str] = (),
    *,
    home: Path | None = None,
    behaviour: Behaviour | None = None,
) -> Journal:
    """Let days pass in the sandbox that `prodex.connect("sandbox")` uses, running or not.

    The parameters are those of `Sandbox.simulate`, and these:

    Parameters
    ----------
    days, seed, incidents, requested
        As for `Sandbox.simulate`.
    home
        Folder of the store; the user's unless given. It is made, and filled with the sample, where there is none.
    behaviour
        That of the sandbox which serves it, where its clock is skewed.

    Raises
    ------
    ValueError
        When a number of days, or the name of an incident or a supplier, is none.
    StoreUnusable
        When the store cannot be read, or is being changed by another simulation.

    Examples
    --------
    >>> from prodex import sandbox
    >>> journal = sandbox.simulate(days=1, incidents=["supplier_loses_pictures"])
    >>> len(journal.days), len(journal.incidents)
    (1, 1)
    """
    with open_to_change(home) as store:
        clock = service_clock(store, behaviour or Behaviour())
        return simulate_store(store, days, seed, incidents, clock, requested)


def set_time(
    moment: datetime | None = None, *, home: Path | None = None, behaviour: Behaviour | None = None
) -> None:
    """Set the clock of the service that `prodex.connect("sandbox")` uses, running or not; it runs on from there.

    Replies, writes and simulated days are dated by it, also after the sandbox was started again, until it is set
    back, or the whole store is reset.

    Parameters
    ----------
    moment
        With a time zone. The clock of this machine unless given.
    home, behaviour
        As for `simulate`.

    Raises
    ------
    ValueError
        When the moment has no time zone.
    StoreUnusable
        As for `simulate`.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> from prodex import sandbox
    >>> sandbox.set_time(datetime(2026, 11, 20, 20, tzinfo=UTC))
    >>> str(sandbox.simulate(1).days[0])
    '2026-11-20'
    >>> sandbox.set_time()
    >>> _ = sandbox.reset()
    """
    with open_to_change(home) as store:
        set_service_time(store, moment, behaviour or Behaviour())


def open_defects(gtins: Iterable[str], *, home: Path | None = None) -> pd.DataFrame:
    """Return what is wrong with products of the sandbox's sample, and what would be right.

    Parameters
    ----------
    gtins
        Of which products.
    home
        As for `simulate`.

    Returns
    -------
    pandas.DataFrame
        One row for each value, with the columns of `OpenDefect`: supplier, gtin, product_id, defect, attribute,
        language, value, right.

    Examples
    --------
    >>> from prodex import sandbox
    >>> sandbox.open_defects(["03036811359935"]).columns.tolist()[-2:]
    ['value', 'right']
    """
    with open_to_change(home) as store:
        return defects_frame(store, gtins)


def reset(
    gtins: Iterable[str] | str | None = None,
    *,
    home: Path | None = None,
    behaviour: Behaviour | None = None,
) -> int:
    """Take back what was changed in the sandbox that `prodex.connect("sandbox")` uses, and return how many products.

    Parameters
    ----------
    gtins
        Products that become what they were at the beginning, dated to now, so that a refresh finds them. Unless given,
        the whole store becomes what it was, its dates too, which a refresh does not see: load it again.
    home, behaviour
        As for `simulate`.

    Raises
    ------
    LookupError
        When a GTIN never was in the sandbox; then nothing is taken back.
    StoreUnusable
        As for `simulate`. A store of another version is made anew, unless a sandbox is serving it.

    Examples
    --------
    >>> from prodex import sandbox
    >>> journal = sandbox.simulate(days=1, incidents=["updates_stop", "bulk_overwrite:all"])
    >>> sandbox.reset() > 0
    True
    """
    home = home or default_home()
    try:
        with open_to_change(home) as store:
            return reset_opened(store, gtins, behaviour or Behaviour())
    except StoreOfAnotherVersion:
        remove_store(home)
        with open_to_change(home):
            return 0


def journal(*, home: Path | None = None) -> Journal:
    """Return what was simulated since the beginning in the sandbox that `prodex.connect("sandbox")` uses.

    Parameters
    ----------
    home
        As for `simulate`.

    Examples
    --------
    >>> from prodex import sandbox
    >>> sandbox.journal()
    Nothing was simulated.
    """
    with open_to_change(home) as store:
        return read_journal(store)


def defects_frame(store: Store, gtins: Iterable[str]) -> pd.DataFrame:
    """Return the open defects of a store as a frame; see `open_defects`."""
    import pandas as pd

    found = open_defects_of(store, [gtins] if isinstance(gtins, str) else gtins)
    return pd.DataFrame([asdict(one) for one in found], columns=list(OpenDefect.__slots__))


def reset_opened(store: Store, gtins: Iterable[str] | str | None, behaviour: Behaviour) -> int:
    """Take back products of a store, or the whole; see `reset`."""
    if gtins is None:
        return reset_store(store)
    clock = service_clock(store, behaviour)
    return len(reset_products(store, [gtins] if isinstance(gtins, str) else list(gtins), clock))


@contextmanager
def open_to_change(home: Path | None) -> Iterator[Store]:
    """Open the store of a home beside a sandbox that may be serving it, for one simulation or reset at a time."""
    from prodex_sandbox.sample import LABELS, organizations, shared_products
    from prodex_sandbox.sample.catalogue import origin_of

    home = home or default_home()
    if not store_file(home).exists():

        def filling() -> Filling:
            return with_progress(shared_products(SAMPLE_SIZE), SAMPLE_SIZE, "making the sample catalogue")

        with open_store(home, filling, organizations(), LABELS, origin_of(SAMPLE_SIZE, 1)):
            pass
    with lock_changes(home):
        store = Store(store_file(home))
        try:
            yield store
        finally:
            store.close()


@contextmanager
def lock_changes(home: Path) -> Iterator[None]:
    """Keep other simulations and resets out of a home; the service that runs there continues."""
    try:
        with FileLock(home / "changes.lock", timeout=0, mode=0o600):
            yield
    except Timeout:
        raise StoreUnusable(f"The store in {home} is being changed already; try again in a minute.") from None
