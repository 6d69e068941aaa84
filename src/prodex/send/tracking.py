"""Tracking: the state of products that were sent, for people and programs (spec, endpoint 8)."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import pandas as pd

from prodex.errors import InputError, ProdexError, ServiceError, TrackingTimeout, UpsertStopped
from prodex.gtin import gtin_key
from prodex.ledger.batch import ARRIVED, Batch
from prodex.ledger.upsert_file import UpsertFile
from prodex.ledger.upserts import note_ended, upserts_of_correction
from prodex.progress import Progress, showing
from prodex.send.outcome import (
    Outcome,
    batches_frame,
    message_of_all,
    name_in,
    products_frame,
    running_in_words,
    status_of_all,
)
from prodex.send.polling import ImportPolling
from prodex.send.products_now import renew_records
from prodex.send.sending import numbers_to_send, read_also, send_batches
from prodex.service import Client
from prodex.service.replies import RUNNING, SUCCESS, canonical


class Tracking:
    """The state of products that were sent: one record for each batch; `wait` and `refresh` request it again.

    Made by `prodex.upsert` and `prodex.track`.

    Attributes
    ----------
    findings
        What preflight found: a frame of gtin, attribute, severity, problem and what_to_do.

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
        file: UpsertFile | None = None,
        findings: pd.DataFrame | None = None,
        earlier: Iterable[UpsertFile] = (),
    ) -> None:
        self._service = service
        self._sent = list(batches)
        self._file = file
        self._earlier = [(one, one.batches()) for one in earlier]
        self._imports = ImportPolling(service)
        # Computed once per poll, since every property needs them.
        self._outcomes: list[Outcome] = []
        self.findings: pd.DataFrame = pd.DataFrame() if findings is None else findings

    @classmethod
    def of_upsert(cls, service: Client, file: UpsertFile) -> Self:
        """Return the state of all upserts that one correction took, whichever of them is given.

        Examples
        --------
        >>> import prodex
        >>> product = {"gtin": "08784900123459", "nameLegal": "Riz long", "kind": {"code": "70020"}}
        >>> tracking = prodex.upsert(prodex.connect("sandbox"), [product])
        >>> prodex.send.Tracking.of_upsert(tracking.service, UpsertFile(tracking.path)).name == tracking.name
        True
        """
        *earlier, last = upserts_of_correction(file)
        return cls(service, last.batches(), file=last, earlier=earlier)

    @property
    def service(self) -> Client:
        """The service that it was sent to."""
        return self._service

    @property
    def path(self) -> Path | None:
        """The file with the state of each batch, or None for imports that were not sent from here."""
        return None if self._file is None else self._file.path

    @property
    def name(self) -> str | None:
        """The name for `prodex.track(service, upsert=...)`, or None for imports that were not sent from here."""
        return None if self._file is None else self._file.name

    @property
    def tracking_ids(self) -> list[int | str]:
        """The tracking identifiers in the order of sending; text if a number would change one ("007")."""
        return [canonical(batch.tracking) for batch in self._all_sent if batch.tracking is not None]

    @property
    def continues(self) -> list[str]:
        """Names of the earlier upserts of the same corrections: what they sent is part of this tracking."""
        return [one.name for one, _ in self._earlier]

    @property
    def status(self) -> str:
        """The worst status of all batches; IN_PROGRESS as long as one of them is.

        In addition to the six states of the service (EMPTY, IN_PROGRESS, ERROR, CONTAINS_ERRORS, SUCCESS, TIMEOUT)
        there are "unknown" (the reply was lost, or contradicts itself), "refused", "not sent" and "accepted" (without
        an identifier that can be read).
        """
        return status_of_all(self._known())

    @property
    def message(self) -> str:
        """The messages of the service about failures, and what to do."""
        return message_of_all(self._known())

    @property
    def count(self) -> int:
        """Number of products: as the service has counted them once an import has ended, and as sent until then."""
        return sum(outcome.count for outcome in self._known())

    @property
    def created_at(self) -> str | None:
        """When the first import was created, as the service writes it."""
        return name_in(self._first("createdAt"), "")

    @property
    def user(self) -> str | None:
        """The user who sent it, according to the service."""
        return name_in(self._first("user"), "username")

    @property
    def organization(self) -> str | None:
        """The organization of the import."""
        return name_in(self._first("organization"), "nameLegal")

    @property
    def endpoint(self) -> str | None:
        """API for a write through upsert, IMPORT for the import of a file."""
        return name_in(self._first("endpoint"), "")

    @property
    def done(self) -> bool:
        """Whether no import is running, as far as is known."""
        return not any(outcome.is_running for outcome in self._known())

    @property
    def records(self) -> dict[int | str, Mapping[str, Any]]:
        """The tracking records as received, by tracking identifier."""
        return {canonical(identifier): record for identifier, record in self._imports.records.items()}

    @property
    def batches(self) -> pd.DataFrame:
        """One row for each batch, in the order of sending."""
        return batches_frame(self._known())

    @property
    def products(self) -> pd.DataFrame:
        """One row for each product: gtin, status, message, tracking.

        A product that the tracking record does not mention has the status of its batch. "unexpected" marks a GTIN in
        the record that was not sent.
        """
        return products_frame(self._known())

    @property
    def corrections(self) -> dict[tuple[str, str], tuple[str, str]]:
        """Status and message of each correction, by GTIN and digest (see `prodex.ledger.change_digests`)."""
        found = {}
        for (plan, number, _), outcome in zip(self._numbered(), self._known(), strict=True):
            changes = {} if plan is None else plan.changes(number)
            for gtin, status, message in outcome.products:
                found.update({(gtin_key(gtin), one): (status, message) for one in changes.get(gtin, ())})
        return found

    @property
    def failed(self) -> pd.DataFrame:
        """The rows of `products` that are neither SUCCESS nor running: failed, or unknown."""
        products = self.products
        return products[~products["status"].isin([SUCCESS, RUNNING])].reset_index(drop=True)

    @property
    def statuses(self) -> Counter[str]:
        """The number of products by status."""
        return Counter(status for outcome in self._known() for _, status, _ in outcome.products)

    def refresh(self) -> Self:
        """Request each import once that is not known to have ended.

        An error about one import does not affect the others; it is in the row of its batch.

        Raises
        ------
        ServiceError
            When the service cannot be reached, or rejects the access key.

        Examples
        --------
        >>> import prodex
        >>> product = {"gtin": "08784900123459", "nameLegal": "Riz long", "kind": {"code": "70020"}}
        >>> tracking = prodex.upsert(prodex.connect("sandbox"), [product])
        >>> tracking.refresh().count
        1
        """
        running = dict.fromkeys(str(one.batch.tracking) for one in self._known() if one.is_running)
        try:
            self._imports.poll(running)
        finally:
            self._outcomes.clear()
        # Until this is noted, loads reuse no snapshot that was begun before.
        ended = self._imports.newly_ended()
        statuses: dict[str, dict[str, str]] = {}
        for one in self._known() if ended else ():
            if one.batch.tracking in ended:
                statuses.setdefault(str(one.batch.tracking), {}).update(one.statuses)
        note_ended(self._service.base_url, ended, statuses, self._service.last_date)
        return self

    def wait(self, timeout: float = 3600, *, progress: Progress = None) -> Self:
        """Wait until every import has ended.

        The service is polled after 2, 4, 8 ... seconds, finally every 60; far more often on this machine. An import
        that the service does not know (404) is polled for five minutes at most; one with an unknown status, until the
        time is over.

        Parameters
        ----------
        timeout
            Seconds to wait at most.
        progress
            As for `prodex.load_products`.

        Raises
        ------
        TrackingTimeout
            When one is still running then. It continues at the service; `prodex.track` follows it at any time.

        Examples
        --------
        >>> import prodex
        >>> product = {"gtin": "08784900123459", "nameLegal": "Riz long", "kind": {"code": "70020"}}
        >>> prodex.upsert(prodex.connect("sandbox"), [product]).wait(timeout=600).done
        True
        """
        begin = time.monotonic()
        pause, longest, _ = self._imports.pauses
        # For imports that were not sent from here, only the service knows the number of products.
        total = sum(len(batch.gtins) for batch in self._all_sent) or self.count
        with showing(progress, "Imported", phase="Waiting for the service to import") as show:
            while not self.refresh().done:
                show(self._ended(), total)
                left = begin + timeout - time.monotonic()
                if left <= 0:
                    raise TrackingTimeout(running_in_words(self._known(), timeout))
                time.sleep(min(pause, left))
                pause = min(2 * pause, longest)
            show(self._ended(), total)
        return self

    def send_rest(self, *, also: str | Collection[str] = (), progress: Progress = None) -> Self:
        """Send the products of this upsert that were not sent, and only those.

        Parameters
        ----------
        also
            "refused" to send refused products again; "unknown" to send products that may have arrived already.
        progress
            As for `prodex.load_products`.

        Raises
        ------
        InputError
            When the payloads are no longer on this machine, or belong to another service or access key.
        ChangesStale
            When corrections were merged with loaded products, and one of these has changed since; nothing was sent.
        SnapshotLocked
            When another process is sending them now.
        ServiceError
            When not one batch could be sent.
        UpsertStopped
            When the state of a batch cannot be written to the disk.

        Examples
        --------
        >>> import prodex
        >>> product = {"gtin": "08784900123459", "nameLegal": "Riz long", "kind": {"code": "70020"}}
        >>> prodex.upsert(prodex.connect("sandbox"), [product]).send_rest().statuses["not sent"]  # everything was sent
        0
        """
        words = read_also(also, {"unknown", "refused"})
        for plan, batches in [*self._earlier, (self._plan(), self._sent)]:
            # What an earlier upsert had not sent is part of this one, or was given up.
            states = words if batches is not self._sent else {"not sent", *words}
            with plan.exclusive():
                # Another process may have sent some of them since this object was made.
                batches[:] = plan.batches()
                self._outcomes.clear()
                numbers = numbers_to_send(self._service, plan, batches, states)
                renew_records(self._service, plan, numbers, progress)
                self._send(plan, batches, numbers, progress)
        return self

    def send_planned(self, progress: Progress) -> Self:
        """Send a new plan; called by `prodex.upsert`, which has checked it, and keeps other processes from sending it.

        Examples
        --------
        >>> import prodex
        >>> product = {"gtin": "08784900123459", "nameLegal": "Riz long", "kind": {"code": "70020"}}
        >>> tracking = prodex.upsert(prodex.connect("sandbox"), [product])
        >>> tracking.send_planned(progress=False).statuses["not sent"]  # everything was sent
        0
        """
        self._sent[:] = self._plan().batches()
        numbers = [
            number
            for number, batch in enumerate(self._sent)
            if batch.sent == "not sent" and not batch.is_done
        ]
        self._send(self._plan(), self._sent, numbers, progress)
        return self

    def discard(self) -> Self:
        """Delete the payloads; the state of each batch remains known.

        Examples
        --------
        >>> import prodex
        >>> product = {"gtin": "08784900123459", "nameLegal": "Riz long", "kind": {"code": "70020"}}
        >>> _ = prodex.upsert(prodex.connect("sandbox"), [product]).discard()
        >>> prodex.list_upserts()["keeps_products"].tolist()
        [False]
        """
        for file in (*(one for one, _ in self._earlier), self._file):
            if file is not None:
                file.discard_payloads()
        return self

    @property
    def problems(self) -> dict[int | str, ServiceError]:
        """Why the last request for an import failed, by tracking identifier."""
        return {canonical(identifier): error for identifier, error in self._imports.problems.items()}

    def _send(
        self, plan: UpsertFile, batches: list[Batch], numbers: Sequence[int], progress: Progress
    ) -> None:
        try:
            send_batches(self._service, plan, numbers, batches, progress)
        except UpsertStopped as error:
            error.tracking = self
            raise
        except ProdexError:
            raise
        except BaseException:
            # An interrupt may happen between a call and the record of its state, here or on the disk.
            batches[:] = plan.reconciled(batches)
            raise
        finally:
            self._outcomes.clear()

    def _plan(self) -> UpsertFile:
        if self._file is None:
            raise InputError("These imports were not sent from here, so their products are not kept here.")
        return self._file

    def _known(self) -> list[Outcome]:
        """Return what is known of each batch."""
        if not self._outcomes:
            self._outcomes += map(self._imports.outcome, self._all_sent)
        return self._outcomes

    def _numbered(self) -> list[tuple[UpsertFile | None, int, Batch]]:
        """Return the batches with their numbers, after those that earlier upserts have sent, or may have.

        What was left out of a call is a batch of its own, that is not sent.
        """
        earlier = [
            # Of what is sent anew, only what has arrived.
            (plan, number, replace(batch, gtins=tuple(batch.arrived)) if batch.continued_by else batch)
            for plan, batches in self._earlier
            for number, several in enumerate(batches)
            for batch in several.by_call()
            if batch.sent in ARRIVED and (batch.arrived or not batch.continued_by)
        ]
        own = [
            (self._file, number, batch)
            for number, several in enumerate(self._sent)
            for batch in several.by_call()
        ]
        return [*earlier, *own]

    @property
    def _all_sent(self) -> list[Batch]:
        return [batch for *_, batch in self._numbered()]

    def _ended(self) -> int:
        return sum(len(one.batch.gtins) for one in self._known() if not one.is_running)

    def _first(self, name: str) -> Any:
        return next((outcome.record[name] for outcome in self._known() if outcome.record.get(name)), None)

    def __repr__(self) -> str:
        from prodex.display.tracking import text_of

        return text_of(self)

    def _repr_html_(self) -> str:
        from prodex.display.tracking import html_of

        return html_of(self)
