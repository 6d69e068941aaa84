"""Polling imports: requests their tracking records until they have ended (spec, endpoint 8)."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from prodex.errors import AuthenticationFailed, RequestRefused, ServiceError
from prodex.ledger.batch import Batch
from prodex.network.addresses import is_loopback
from prodex.send.outcome import Outcome, outcome_of
from prodex.service import Client
from prodex.service.replies import ENDED


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
