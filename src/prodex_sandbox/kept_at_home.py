"""Changing the store that a home keeps, beside a sandbox that may be serving it: days pass, and are taken back.

SQLite lets another process write while the service reads, so the service need not be stopped, and sees every
day as soon as it has been simulated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from prodex_sandbox.behaviour import Behaviour
from prodex_sandbox.home import SAMPLE_SIZE, Filling, default_home, open_store, remove_store, store_file
from prodex_sandbox.records.beginning import reset_store, take_back
from prodex_sandbox.records.service_clock import service_clock, set_service_time
from prodex_sandbox.records.store import Store, StoreOfAnotherVersion, StoreUnusable
from prodex_sandbox.simulation import Incident, Journal, OpenDefect, read_journal, simulate_store
from prodex_sandbox.simulation import open_defects as open_defects_of
from prodex_sandbox.terminal import counted

if TYPE_CHECKING:
    import pandas as pd


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
    with changed_store(home) as store:
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
    with changed_store(home) as store:
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
    with changed_store(home) as store:
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


def defects_frame(store: Store, gtins: Iterable[str]) -> pd.DataFrame:
    """Return the open defects of a store as a frame; see `open_defects`."""
    import pandas as pd

    found = open_defects_of(store, [gtins] if isinstance(gtins, str) else gtins)
    return pd.DataFrame([asdict(one) for one in found], columns=list(OpenDefect.__slots__))


def reset_in(store: Store, gtins: Iterable[str] | str | None, behaviour: Behaviour) -> int:
    """Take back products of a store, or the whole; see `reset`."""
    if gtins is None:
        return reset_store(store)
    clock = service_clock(store, behaviour)
    return len(take_back(store, [gtins] if isinstance(gtins, str) else list(gtins), clock))


@contextmanager
def changed_store(home: Path | None) -> Iterator[Store]:
    """Open the store of a home beside a sandbox that may be serving it, for one simulation or reset at a time."""
    from prodex_sandbox.sample import LABELS, organizations, shared_products
    from prodex_sandbox.sample.catalogue import origin_of

    home = home or default_home()
    if not store_file(home).exists():

        def filling() -> Filling:
            return counted(shared_products(SAMPLE_SIZE), SAMPLE_SIZE, "making the sample catalogue")

        with open_store(home, filling, organizations(), LABELS, origin_of(SAMPLE_SIZE, 1)):
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
