"""Following imports: what the service makes of the products that were sent (spec, endpoint 8)."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import pandas as pd

from prodex.dispatch import call
from prodex.errors import (
    AuthenticationFailed,
    InputError,
    RequestRefused,
    ServiceError,
    TrackingTimeout,
    UpsertStopped,
)
from prodex.progress import Progress, showing
from prodex.send.batches import Batch
from prodex.send.journal import UpsertJournal
from prodex.send.outcome import (
    Outcome,
    batches_frame,
    message_of_all,
    named,
    outcome_of,
    products_frame,
    status_of_all,
    still_running,
)
from prodex.send.sending import numbers_to_send, send
from prodex.send.upserts import note_ended
from prodex.service import Client
from prodex.service.replies import ENDED, RUNNING, SUCCESS
from prodex.service.settings import is_loopback
from prodex.service.tracking_identifiers import canonical


class _Pauses(NamedTuple):
    """Seconds between two rounds of questions, each pause twice the one before; and how long a 404 may pass."""

    first: float
    longest: float
    unknown: float


_PAUSES = _Pauses(2, 60, 300)
_PAUSES_ON_LOOPBACK = _Pauses(0.02, 1, 10)


class Tracking:
    """What became of products that were sent: one record for each batch, asked for again by `wait` and `refresh`.

    Made by `prodex.upsert` and `prodex.track`.

    Attributes
    ----------
    findings
        What was found before sending; a frame of gtin, attribute, severity, problem and what_to_do.

    Examples
    --------
    >>> import prodex
    >>> service = prodex.connect("sandbox")
    >>> name = {"expressedIn": {"code": "fra-FR"}, "data": "Riz long"}
    >>> record = {"gtin": "08784900123459", "namePublicLong": [name], "kind": {"code": "70020"}}
    >>> tracking = prodex.upsert(service, [record]).wait()
    >>> tracking.status, tracking.failed.empty
    ('SUCCESS', True)
    """

    def __init__(
        self,
        service: Client,
        batches: Iterable[Batch],
        *,
        journal: UpsertJournal | None = None,
        findings: pd.DataFrame | None = None,
    ) -> None:
        self._service = service
        self._sent = list(batches)
        self._journal = journal
        self._records: dict[str, Mapping[str, Any]] = {}
        self._problems: dict[str, ServiceError] = {}
        self._unknown_since: dict[str, float] = {}
        self._gave_up: set[str] = set()
        self._ended_imports: set[str] = set()
        self._outcomes: dict[int, Outcome] = {}
        self.findings = pd.DataFrame() if findings is None else findings

    @property
    def path(self) -> Path | None:
        """The file that keeps what became of each batch, or None for imports that were not sent from here."""
        return None if self._journal is None else self._journal.path

    @property
    def name(self) -> str | None:
        """What `prodex.track(service, upsert=...)` calls it, or None for imports that were not sent from here."""
        return None if self._journal is None else self._journal.name

    @property
    def tracking_ids(self) -> list[int | str]:
        """The tracking identifiers in the order of sending; text where a number would not name one ("007")."""
        return [canonical(batch.tracking) for batch in self._sent if batch.tracking is not None]

    @property
    def status(self) -> str:
        """The status of all batches together: the worst, and IN_PROGRESS as long as one of them is.

        Beside the six of the service (EMPTY, IN_PROGRESS, ERROR, CONTAINS_ERRORS, SUCCESS, TIMEOUT) there are four
        of our own: "unknown" (the answer was lost, or what the service says cannot be true), "refused", "not sent" and
        "accepted" (under an identifier that cannot be read).
        """
        return status_of_all(self._known())

    @property
    def message(self) -> str:
        """What the service says of what failed, and what to do where we know."""
        return message_of_all(self._sent, self._known())

    @property
    def count(self) -> int:
        """Number of products in the payloads, as the service counted them where it did."""
        return sum(outcome.count for outcome in self._known())

    @property
    def created_at(self) -> str | None:
        """When the first import was made, as the service writes it."""
        return named(self._first("createdAt"), "")

    @property
    def user(self) -> str | None:
        """Who sent it, by the service's account."""
        return named(self._first("user"), "username")

    @property
    def organization(self) -> str | None:
        """Whose import it is."""
        return named(self._first("organization"), "nameLegal")

    @property
    def endpoint(self) -> str | None:
        """API for a write through upsert, IMPORT for the import of a file."""
        return named(self._first("endpoint"), "")

    @property
    def done(self) -> bool:
        """Whether no import is followed any more."""
        return not any(outcome.is_running for outcome in self._known())

    @property
    def records(self) -> dict[int | str, Mapping[str, Any]]:
        """The tracking records as they came, by tracking identifier."""
        return {canonical(identifier): record for identifier, record in self._records.items()}

    @property
    def batches(self) -> pd.DataFrame:
        """One row for each batch, in the order of sending."""
        return batches_frame(self._sent, self._known())

    @property
    def products(self) -> pd.DataFrame:
        """One row for each product: gtin, status, message, tracking.

        Where the service gives no outcome of a product, the status is that of its batch. "unexpected" is an outcome of
        a GTIN that was not sent.
        """
        return products_frame(self._sent, self._known())

    @property
    def failed(self) -> pd.DataFrame:
        """The rows of `products` that are neither SUCCESS nor still running: failed, or nobody knows."""
        products = self.products
        return products[~products["status"].isin([SUCCESS, RUNNING])].reset_index(drop=True)

    @property
    def statuses(self) -> Counter[str]:
        """Count the products by status.

        Examples
        --------
        >>> import prodex
        >>> service = prodex.connect("sandbox")
        >>> name = {"expressedIn": {"code": "fra-FR"}, "data": "Riz long"}
        >>> record = {"gtin": "08784900123459", "namePublicLong": [name], "kind": {"code": "70020"}}
        >>> prodex.upsert(service, [record]).wait().statuses
        Counter({'SUCCESS': 1})
        """
        return Counter(status for outcome in self._known() for _, status, _ in outcome.products)

    def refresh(self) -> Self:
        """Ask the service once for each import that is not known to have ended.

        What it answers to one identifier hides no other: an error is in the row of its batch.

        Raises
        ------
        ServiceError
            When the service cannot be reached, or does not accept the access key.

        Examples
        --------
        >>> import prodex
        >>> service = prodex.connect("sandbox")
        >>> name = {"expressedIn": {"code": "fra-FR"}, "data": "Riz long"}
        >>> record = {"gtin": "08784900123459", "namePublicLong": [name], "kind": {"code": "70020"}}
        >>> tracking = prodex.upsert(service, [record])
        >>> tracking.refresh().status in {"IN_PROGRESS", "SUCCESS"}
        True
        """
        running = [batch for batch, known in zip(self._sent, self._known(), strict=True) if known.is_running]
        for identifier in dict.fromkeys(batch.tracking for batch in running if batch.tracking is not None):
            try:
                self._records[identifier] = self._service.track(identifier)
                self._problems.pop(identifier, None)
            except ServiceError as error:
                self._note(identifier, error)
                if error.status is None or isinstance(error, AuthenticationFailed):
                    for batch in running:
                        self._problems.setdefault(str(batch.tracking), error)
                    raise
            finally:
                self._outcomes.clear()
        note_ended(self._service.base_url, self._newly_ended())
        return self

    def wait(self, timeout: float = 3600, *, progress: Progress = None) -> Self:
        """Wait until every import has ended.

        Asks after 2, 4, 8 ... seconds, at last every 60; far more often on this machine. An import that the service
        does not know (404) is waited for, five minutes at most; a status that is none of the six is followed to the
        end of the time.

        Parameters
        ----------
        timeout
            Seconds after which to give up waiting.
        progress
            A bar where somebody is watching (None), always (True), never (False), or a function of (done, total).

        Raises
        ------
        TrackingTimeout
            When one still runs then. It goes on at the service; `prodex.track` picks it up at any time.

        Examples
        --------
        >>> import prodex
        >>> service = prodex.connect("sandbox")
        >>> name = {"expressedIn": {"code": "fra-FR"}, "data": "Riz long"}
        >>> record = {"gtin": "08784900123459", "namePublicLong": [name], "kind": {"code": "70020"}}
        >>> prodex.upsert(service, [record]).wait(timeout=600).done
        True
        """
        begin = time.monotonic()
        pause, longest, _ = self._pauses()
        total = sum(len(batch.gtins) for batch in self._sent) or self.count
        with showing(progress, "Imported") as show:
            while not self.refresh().done:
                show(self._ended(), total)
                left = begin + timeout - time.monotonic()
                if left <= 0:
                    raise TrackingTimeout(still_running(self._sent, self._known(), timeout))
                time.sleep(min(pause, left))
                pause = min(2 * pause, longest)
            show(self._ended(), total)
        return self

    def send_rest(
        self,
        *,
        also: str | Collection[str] = (),
        progress: Progress = None,
    ) -> Self:
        """Send the products of this upsert that were not sent, and only those.

        Parameters
        ----------
        also
            "refused", to send what the service refused once more; "unknown", to send what may have arrived already.
        progress
            A bar where somebody is watching (None), always (True), never (False), or a function of (done, total).

        Raises
        ------
        InputError
            When the products are not kept on this machine any more, or belong to another service or access key.
        ChangesStale
            When corrections were merged with what was loaded, and a product was changed since; nothing was sent.
        SnapshotLocked
            When another process is sending them now.
        ServiceError
            When not one batch could be sent.
        UpsertStopped
            When the disk refuses to take down what becomes of them.

        Examples
        --------
        >>> import prodex
        >>> service = prodex.connect("sandbox")
        >>> name = {"expressedIn": {"code": "fra-FR"}, "data": "Riz long"}
        >>> record = {"gtin": "08784900123459", "namePublicLong": [name], "kind": {"code": "70020"}}
        >>> prodex.upsert(service, [record]).send_rest().statuses["not sent"]  # all was sent
        0
        """
        words = {also} if isinstance(also, str) else set(also)
        if wrong := words - {"unknown", "refused"}:
            raise InputError(f"also is {min(map(str, wrong))!r}; give 'unknown', 'refused' or both.")
        with self._plan().alone():
            # Another process may have gone on with it since this one looked.
            self._sent[:] = self._plan().batches()
            self._outcomes.clear()
            self._send(numbers_to_send(self._service, self._plan(), self._sent, words), progress)
        return self

    def send_planned(self, progress: Progress) -> Self:
        """Send all of a plan that was just made; `prodex.upsert` has checked it.

        Examples
        --------
        >>> import prodex
        >>> service = prodex.connect("sandbox")
        >>> name = {"expressedIn": {"code": "fra-FR"}, "data": "Riz long"}
        >>> record = {"gtin": "08784900123459", "namePublicLong": [name], "kind": {"code": "70020"}}
        >>> prodex.upsert(service, [record]).send_planned(progress=False).statuses["not sent"]
        0
        """
        with self._plan().alone():
            self._sent[:] = self._plan().batches()
            self._send([n for n, batch in enumerate(self._sent) if batch.sent == "not sent"], progress)
        return self

    def discard(self) -> Self:
        """Delete the products that are kept to be sent; what became of each stays known.

        Examples
        --------
        >>> import prodex
        >>> service = prodex.connect("sandbox")
        >>> name = {"expressedIn": {"code": "fra-FR"}, "data": "Riz long"}
        >>> record = {"gtin": "08784900123459", "namePublicLong": [name], "kind": {"code": "70020"}}
        >>> _ = prodex.upsert(service, [record]).discard()
        >>> prodex.list_upserts()["keeps_products"].tolist()
        [False]
        """
        if self._journal is not None:
            self._journal.discard_payloads()
        return self

    @property
    def problems(self) -> dict[int | str, ServiceError]:
        """Why the last question for an import had no answer, by tracking identifier."""
        return {canonical(identifier): error for identifier, error in self._problems.items()}

    def _send(self, numbers: Sequence[int], progress: Progress) -> None:
        try:
            send(self._service, self._plan(), numbers, self._sent, progress)
        except UpsertStopped as error:
            error.tracking = self
            raise
        finally:
            self._outcomes.clear()

    def _plan(self) -> UpsertJournal:
        if self._journal is None:
            raise InputError("These imports were not sent from here, so their products are not kept here.")
        return self._journal

    def _known(self) -> list[Outcome]:
        """Return what is known of each batch."""
        for number, batch in enumerate(self._sent):
            if number not in self._outcomes:
                identifier = str(batch.tracking)
                record, problem = self._records.get(identifier), self._problems.get(identifier)
                self._outcomes[number] = outcome_of(
                    batch,
                    record,
                    "" if problem is None else str(problem),
                    gave_up=identifier in self._gave_up,
                )
        return [self._outcomes[number] for number in range(len(self._sent))]

    def _newly_ended(self) -> set[str]:
        """Return the imports that were not known to have ended when this was asked last."""
        word = {identifier: record.get("status") for identifier, record in self._records.items()}
        # A status may be anything that JSON can hold.
        ended = {name for name, status in word.items() if isinstance(status, str) and status in ENDED}
        new = ended - self._ended_imports
        self._ended_imports |= new
        return new

    def _note(self, identifier: str, error: ServiceError) -> None:
        """Keep why an import could not be asked for; give up on what no waiting mends."""
        self._problems[identifier] = error
        if not isinstance(error, RequestRefused):
            return
        since = self._unknown_since.setdefault(identifier, time.monotonic())
        if error.status != 404 or time.monotonic() - since >= self._pauses().unknown:
            self._gave_up.add(identifier)

    def _pauses(self) -> _Pauses:
        return _PAUSES_ON_LOOPBACK if is_loopback(self._service.base_url) else _PAUSES

    def _ended(self) -> int:
        return sum(
            len(batch.gtins)
            for batch, outcome in zip(self._sent, self._known(), strict=True)
            if not outcome.is_running
        )

    def _first(self, name: str) -> Any:
        return next((outcome.record[name] for outcome in self._known() if outcome.record.get(name)), None)

    def __repr__(self) -> str:
        text: str = call("Tracking.text", self)
        return text

    def _repr_html_(self) -> str:
        html: str = call("Tracking.html", self)
        return html
