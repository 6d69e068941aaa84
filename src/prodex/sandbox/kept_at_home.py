"""Changing the store that a home keeps, beside a sandbox that may be serving it: days pass, and are taken back.

SQLite lets another process write while the service reads, so the service need not be stopped, and sees every
day as soon as it has been simulated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from prodex.sandbox.behaviour import Behaviour
from prodex.sandbox.home import Filling, default_home, open_store, remove_store, store_file
from prodex.sandbox.records.beginning import reset_store, take_back
from prodex.sandbox.records.store import Store, StoreOfAnotherVersion, StoreUnusable
from prodex.sandbox.simulation import Incident, Journal, read_journal, simulate_store
from prodex.sandbox.terminal import counted


def simulate(
    days: int = 7,
    seed: int = 1,
    incidents: Iterable[Incident | str] = (),
    *,
    home: Path | None = None,
    behaviour: Behaviour | None = None,
) -> Journal:
    """Let days pass in the sandbox that `prodex.connect("sandbox")` uses, running or not.

    The parameters are those of `Sandbox.simulate`, and these:

    Parameters
    ----------
    days, seed, incidents
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
    with changed_store(home) as store:
        return simulate_store(store, days, seed, incidents, (behaviour or Behaviour()).now)


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
        with changed_store(home) as store:
            return reset_in(store, gtins, behaviour or Behaviour())
    except StoreOfAnotherVersion:
        remove_store(home)
        with changed_store(home):
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
    with changed_store(home) as store:
        return read_journal(store)


def reset_in(store: Store, gtins: Iterable[str] | str | None, behaviour: Behaviour) -> int:
    """Take back products of a store, or the whole; see `reset`."""
    if gtins is None:
        return reset_store(store)
    return len(take_back(store, [gtins] if isinstance(gtins, str) else list(gtins), behaviour.now))


@contextmanager
def changed_store(home: Path | None) -> Iterator[Store]:
    """Open the store of a home beside a sandbox that may be serving it, for one simulation or reset at a time."""
    from prodex.sandbox.sample import LABELS, organizations, shared_products
    from prodex.sandbox.sample.catalogue import origin_of

    home = home or default_home()
    if not store_file(home).exists():
        count = 12_000

        def filling() -> Filling:
            return counted(shared_products(count), count, "making the sample catalogue")

        with open_store(home, filling, organizations(), LABELS, origin_of(count, 1)):
            pass
    with changing(home):
        store = Store(store_file(home))
        try:
            yield store
        finally:
            store.close()


@contextmanager
def changing(home: Path) -> Iterator[None]:
    """Keep other simulations and resets out of a home; the service that runs there goes on."""
    try:
        with FileLock(home / "changes.lock", timeout=0, mode=0o600):
            yield
    except Timeout:
        raise StoreUnusable(f"The store in {home} is being changed already; try again in a minute.") from None
