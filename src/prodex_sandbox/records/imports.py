"""Imports: a queue in the store, and the worker that carries them out in their order (spec, endpoint 8).

An import is one transaction together with its outcome: whenever the process ends, an import is either done, or still
in the queue and begun again at the next start.
"""

from __future__ import annotations

import sqlite3
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from prodex_sandbox.behaviour import Behaviour
from prodex_sandbox.raw_json import decode, encode
from prodex_sandbox.records.merging import ProductRefused
from prodex_sandbox.records.model import Organization
from prodex_sandbox.records.payload import JSON, XML, Members, PayloadUnreadable, read_payload
from prodex_sandbox.records.schemas import ClosedObject, LocalDateTime
from prodex_sandbox.records.service_clock import date_writes, service_clock, stamp
from prodex_sandbox.records.store import Store
from prodex_sandbox.records.upsert import Upsert, gtin_sent


class ImportStatus(StrEnum):
    """Status of an import (spec, States)."""

    EMPTY = "EMPTY"
    IN_PROGRESS = "IN_PROGRESS"
    ERROR = "ERROR"
    CONTAINS_ERRORS = "CONTAINS_ERRORS"
    SUCCESS = "SUCCESS"
    TIMEOUT = "TIMEOUT"


class Endpoint(StrEnum):
    """Through which interface an import was sent (spec, Product inbound tracking record)."""

    API = "API"
    IMPORT = "IMPORT"


@dataclass(frozen=True)
class Import:
    """An import in the queue.

    Attributes
    ----------
    received
        UNIX time in seconds.
    attempts
        How often it was begun before without coming to an end, since the process ended.
    """

    tracking: int
    organization_id: int
    media_type: str
    received: float
    payload: bytes
    attempts: int


TrackingId = Annotated[int, Meta(ge=1, lt=2**31, extra_json_schema={"format": "int32"})]


class ProductOutcome(ClosedObject):
    """What became of one product of an import."""

    gtin: str
    status: Literal["SUCCESS", "ERROR"]
    message: Annotated[str, Meta(description="The reason of an ERROR; otherwise empty.")]


class User(ClosedObject):
    """Whose access key sent an import."""

    id: int
    username: str


class OrganizationName(ClosedObject):
    """The organisation that an import is of."""

    id: int
    nameLegal: str


class TrackingRecord(ClosedObject):
    """What became of an import (spec, Product inbound tracking record)."""

    createdAt: LocalDateTime
    status: ImportStatus
    message: Annotated[str, Meta(description="Detail when status is ERROR; otherwise empty.")]
    count: Annotated[int, Meta(ge=0, description="Number of products; 0 while the import is in progress.")]
    tracking: TrackingId
    products: Annotated[list[ProductOutcome], Meta(description="Empty while the import is in progress.")]
    user: User
    organization: OrganizationName
    endpoint: Endpoint


def next_import(store: Store) -> Import | None:
    """Return the import that has waited longest, or None."""
    rows = store.rows(
        "SELECT tracking, organization_id, media_type, received, payload, attempts FROM imports"
        " WHERE payload IS NOT NULL ORDER BY tracking LIMIT 1"
    )
    return Import(*rows[0]) if rows else None


def tracking_record(store: Store, caller: Organization, tracking: int) -> TrackingRecord | None:
    """Return the tracking record of one of the caller's imports, or None."""
    rows = store.rows(
        "SELECT received, status, message, count, outcomes, endpoint FROM imports"
        " WHERE tracking = ? AND organization_id = ?",
        (tracking, caller.id),
    )
    if not rows:
        return None
    received, status, message, count, outcomes, endpoint = rows[0]
    return TrackingRecord(
        createdAt=stamp(datetime.fromtimestamp(received, UTC)),
        status=ImportStatus(status),
        message=message,
        count=count,
        tracking=tracking,
        products=msgspec.convert(decode(outcomes.encode()), list[ProductOutcome]),
        # An organisation has one access key here, and the user has its id.
        user=User(id=caller.id, username=caller.username),
        organization=OrganizationName(id=caller.id, nameLegal=caller.name),
        endpoint=Endpoint(endpoint),
    )


# An import that was begun so often probably ends the process each time, and would do so for ever.
_MAX_ATTEMPTS: Final = 3
_SECONDS_BEFORE_ANOTHER_TRY: Final = 1.0


class Worker:
    """Carries out the imports of a store, in a thread of its own."""

    def __init__(self, store: Store, behaviour: Behaviour) -> None:
        self._store = store
        self._behaviour = behaviour
        self._clock = service_clock(store, behaviour)
        self._organizations = {one.id: one for one in store.organizations}
        # Read once: codes come from the records that fill a store, and imports add none.
        self._codes = store.referentials()
        self._woken = threading.Event()
        self._stopping = threading.Event()

    def take(
        self, organization: Organization, media_type: str, payload: bytes, endpoint: Endpoint = Endpoint.API
    ) -> int:
        """Queue a payload, and return its tracking id."""
        with self._store.writing() as connection:
            cursor = connection.execute(
                "INSERT INTO imports (organization_id, endpoint, media_type, received, payload)"
                " VALUES (?, ?, ?, ?, ?)",
                (organization.id, endpoint, media_type, time.time(), payload),
            )
        self._woken.set()
        assert cursor.lastrowid is not None  # noqa: S101 - a row was inserted
        return cursor.lastrowid

    def take_file(self, organization: Organization, path: Path) -> int:
        """Queue a file, as XML where it is named `.xml`, else as JSON; return its tracking id."""
        media_type = XML if path.suffix.lower() == ".xml" else JSON
        return self.take(organization, media_type, path.read_bytes(), Endpoint.IMPORT)

    def run(self) -> None:
        """Work until `stop`."""
        while True:
            # Cleared before the queue is read: an import that is queued afterwards sets it again.
            self._woken.clear()
            if self._stopping.is_set():
                return
            try:
                waiting = next_import(self._store)
                if waiting is None:
                    self._woken.wait()
                else:
                    self._carry_out(waiting)
            except sqlite3.Error:
                # The disk is full, for example; the import stays in the queue and is tried again.
                sys.excepthook(*sys.exc_info())
                self._stopping.wait(_SECONDS_BEFORE_ANOTHER_TRY)

    def stop(self) -> None:
        """Ask to stop; an import in progress is left for the next start."""
        self._stopping.set()
        self._woken.set()

    def _carry_out(self, one: Import) -> None:
        if one.attempts >= _MAX_ATTEMPTS:
            self._end(one, ImportStatus.TIMEOUT)
            return
        deadline = time.monotonic() + self._behaviour.import_timeout
        # Written before the work begins: if the work ends the process, the next start knows.
        self._note_attempts(one, one.attempts + 1)
        try:
            self._wait_for_delay(one, deadline)
            self._import(one, deadline)
        except PayloadUnreadable as error:
            self._end(one, ImportStatus.ERROR, str(error))
        except _Stopping:
            # A stop is not the fault of the import.
            self._note_attempts(one, one.attempts)
        except _Overdue:
            self._end(one, ImportStatus.TIMEOUT)
        except Exception:  # noqa: BLE001 - one import that fails must not keep the others from being imported
            sys.excepthook(*sys.exc_info())
            self._end(one, ImportStatus.TIMEOUT)

    def _import(self, one: Import, deadline: float) -> None:
        sent = read_payload(one.payload, one.media_type, self._behaviour.upsert_limit)
        with self._store.writing() as connection:
            organization = self._organizations[one.organization_id]
            # One time for the whole import; `date_writes` moves it to the end of the transaction.
            now = self._clock()
            upsert = Upsert(connection, organization, self._codes, now)
            products = []
            for place, product in enumerate(sent, start=1):
                self._check_time(deadline)
                products.append(_outcome_of(upsert, product, place))
            date_writes(connection, upsert.written, now, self._clock)
            self._check_time(deadline)
            _note_end(connection, one, _status_of(products), "", products)

    def _wait_for_delay(self, one: Import, deadline: float) -> None:
        remaining = one.received + self._behaviour.import_delay - time.time()
        self._stopping.wait(max(0.0, min(remaining, deadline - time.monotonic())))
        self._check_time(deadline)

    def _check_time(self, deadline: float) -> None:
        if self._stopping.is_set():
            raise _Stopping
        if time.monotonic() >= deadline:
            raise _Overdue

    def _note_attempts(self, one: Import, attempts: int) -> None:
        with self._store.writing() as connection:
            connection.execute("UPDATE imports SET attempts = ? WHERE tracking = ?", (attempts, one.tracking))

    def _end(self, one: Import, status: ImportStatus, message: str = "") -> None:
        with self._store.writing() as connection:
            _note_end(connection, one, status, message)


class _Stopping(Exception):
    """The worker is asked to stop."""


class _Overdue(Exception):
    """The import takes longer than it may."""


@contextmanager
def running_worker(store: Store, behaviour: Behaviour) -> Iterator[Worker]:
    """Run a worker while the context is open."""
    worker = Worker(store, behaviour)
    thread = threading.Thread(target=worker.run, daemon=True)
    thread.start()
    try:
        yield worker
    finally:
        worker.stop()
        thread.join()


def _outcome_of(upsert: Upsert, product: Members, place: int) -> ProductOutcome:
    try:
        return ProductOutcome(gtin=upsert.write(product), status="SUCCESS", message="")
    except ProductRefused as error:
        return ProductOutcome(gtin=gtin_sent(product), status="ERROR", message=f"product {place}: {error}")


def _status_of(products: list[ProductOutcome]) -> ImportStatus:
    if not products:
        return ImportStatus.EMPTY
    if any(one.status == "ERROR" for one in products):
        return ImportStatus.CONTAINS_ERRORS
    return ImportStatus.SUCCESS


def _note_end(
    connection: sqlite3.Connection,
    one: Import,
    status: ImportStatus,
    message: str,
    products: Sequence[ProductOutcome] = (),
) -> None:
    connection.execute(
        "UPDATE imports SET status = ?, message = ?, count = ?, outcomes = ?, payload = NULL WHERE tracking = ?",
        (status, message, len(products), encode(list(products)).decode(), one.tracking),
    )
