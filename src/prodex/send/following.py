"""Following imports that were sent earlier, from this process or any other."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from prodex.arguments import described
from prodex.catalog import Catalog
from prodex.errors import AuthenticationFailed, InputError, RequestRefused, ServiceError
from prodex.network.addresses import is_loopback
from prodex.send.batches import Batch
from prodex.send.outcome import Outcome, outcome_of
from prodex.send.tracking import Tracking
from prodex.send.upserts import continued_upserts, latest, named
from prodex.service import Client
from prodex.service.connection import service_given
from prodex.service.replies import ENDED, is_identifier


def track(
    service: Client, ids: int | str | Sequence[int | str] | None = None, *, upsert: str | None = None
) -> Tracking:
    """Follow imports that were sent earlier, from this process or any other.

    Parameters
    ----------
    service
        From `prodex.connect`, with the access key that sent them.
    ids
        Tracking identifiers; by default those of the last `upsert` to this service from this machine.
    upsert
        Name of an earlier upsert from this machine, as `prodex.list_upserts` shows it.

    Returns
    -------
    Tracking
        With the current state; `.wait()` waits for the end. For an upsert from this machine it contains every product:
        sent, not sent, or unknown; `.send_rest()` sends the rest.

    Raises
    ------
    RequestRefused
        When the service knows none of the identifiers.
    InputError
        When nothing was sent from here, and no identifiers are given.

    Examples
    --------
    >>> import prodex
    >>> service = prodex.connect("sandbox")
    >>> name = {"expressedIn": {"code": "fra-FR"}, "data": "Riz long"}
    >>> record = {"gtin": "08784900123459", "namePublicLong": [name], "kind": {"code": "70020"}}
    >>> _ = prodex.upsert(service, [record])
    >>> prodex.track(service).wait().products[["gtin", "status"]].values.tolist()  # in a later process, too
    [['08784900123459', 'SUCCESS']]
    """
    service = service_given(service, "track(service)", ids)
    if ids is None:
        journal = latest(service.base_url, service.fingerprint) if upsert is None else named(upsert)
        tracking = Tracking(service, journal.batches(), journal=journal, earlier=continued_upserts(journal))
        try:
            return tracking.refresh()
        except ServiceError as error:
            if isinstance(error, AuthenticationFailed):
                raise
            return (
                tracking  # the journal is still valid while the service is away; the rows contain the error
            )
    if upsert is not None:
        raise InputError("Give tracking identifiers or the name of an upsert, not both.")
    if isinstance(ids, Catalog | pd.DataFrame | Mapping) or not isinstance(ids, int | str | Iterable):
        raise InputError(
            f"ids are tracking identifiers, such as 12 or [12, 13], not {described(ids)}. For the last upsert from "
            "this machine, prodex.track(service) knows them."
        )
    # Each identifier once, or its products would be counted twice.
    wanted = dict.fromkeys(map(_identifier, [ids] if isinstance(ids, int | str) else ids))
    tracking = Tracking(service, [Batch((), "sent", one) for one in wanted]).refresh()
    # A mistyped identifier must not look like an import that is still running.
    if tracking.problems and not tracking.records:
        raise next(iter(tracking.problems.values()))
    return tracking


def _identifier(value: Any) -> str:
    text = str(value).strip() if isinstance(value, int | str) and not isinstance(value, bool) else ""
    if not is_identifier(text):
        raise InputError(f"{value!r:.80} is not a tracking identifier, which is a whole number, such as 12.")
    return text


class Pauses(NamedTuple):
    """Seconds: the first and the longest pause between two polls, and for how long a 404 is accepted."""

    first: float
    longest: float
    unknown: float


#: No interval is documented; 2, 4, 8 ... 60 s stays far below the recommended 2 calls per second.
_REMOTE = Pauses(2, 60, 300)
_LOOPBACK = Pauses(0.02, 1, 10)


class ImportPolling:
    """The tracking records of imports, and why some could not be requested.

    Parameters
    ----------
    service
        Where the imports are.

    Attributes
    ----------
    records
        The last tracking record of each import, by identifier.
    problems
        Why the last request for an import failed, by identifier.
    """

    def __init__(self, service: Client) -> None:
        self._service = service
        self.records: dict[str, Mapping[str, Any]] = {}
        self.problems: dict[str, ServiceError] = {}
        self._unknown_since: dict[str, float] = {}
        # Imports that are no longer requested, since waiting cannot help.
        self._abandoned: set[str] = set()
        self._reported: set[str] = set()

    @property
    def pauses(self) -> Pauses:
        """The pauses between two polls."""
        return _LOOPBACK if is_loopback(self._service.base_url) else _REMOTE

    def outcome(self, batch: Batch) -> Outcome:
        """Return what is known of a batch."""
        identifier = str(batch.tracking)
        problem = str(self.problems.get(identifier, ""))
        is_abandoned = identifier in self._abandoned
        return outcome_of(batch, self.records.get(identifier), problem, gave_up=is_abandoned)

    def poll(self, identifiers: Collection[str]) -> None:
        """Request the record of each import once.

        An error about one import is kept and does not affect the others.

        Raises
        ------
        ServiceError
            When the service cannot be reached, or rejects the access key.
        """
        for identifier in identifiers:
            try:
                self.records[identifier] = self._service.track(identifier)
                self.problems.pop(identifier, None)
            except ServiceError as error:
                self._note(identifier, error)
                if error.status is None or isinstance(error, AuthenticationFailed):
                    # The other imports are in the same state: none of them could be asked.
                    for other in identifiers:
                        self.problems.setdefault(other, error)
                    raise

    def newly_ended(self) -> set[str]:
        """Return the imports whose end was not returned before."""
        # A status may be any JSON value, so it is not simply looked up in a set.
        states = {identifier: record.get("status") for identifier, record in self.records.items()}
        ended = {name for name, status in states.items() if isinstance(status, str) and status in ENDED}
        new = ended - self._reported
        self._reported |= new
        return new

    def _note(self, identifier: str, error: ServiceError) -> None:
        self.problems[identifier] = error
        if not isinstance(error, RequestRefused):
            return
        # Services answer 404 for a while after they have accepted an upsert.
        since = self._unknown_since.setdefault(identifier, time.monotonic())
        if error.status != 404 or time.monotonic() - since >= self.pauses.unknown:
            self._abandoned.add(identifier)
