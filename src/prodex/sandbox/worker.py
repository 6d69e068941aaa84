"""The worker: takes imports in the order of their arrival, and brings each to its end.

An import is one transaction, its outcome included: whenever the process ends, an import is either done or
still waiting, and is begun again at the next start.
"""

from __future__ import annotations

import sqlite3
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from prodex.sandbox.behaviour import Behaviour
from prodex.sandbox.checks import ProductRefused
from prodex.sandbox.dating import date_writes
from prodex.sandbox.imports import (
    Endpoint,
    Import,
    ImportStatus,
    Outcome,
    next_import,
    outcomes_text,
    queue_import,
)
from prodex.sandbox.model import Organization
from prodex.sandbox.payload import JSON, XML, Members, PayloadUnreadable, read_payload
from prodex.sandbox.store import Store
from prodex.sandbox.upsert import Upsert, gtin_sent

# An import that was begun so often without an end has ended the process each time.
_MOST_ATTEMPTS: Final = 3
_SECONDS_BEFORE_ANOTHER_TRY: Final = 1.0


class Worker:
    """Works off the imports of a store, in a thread of its own."""

    def __init__(self, store: Store, behaviour: Behaviour) -> None:
        self._store = store
        self._behaviour = behaviour
        self._organizations = {one.id: one for one in store.organizations}
        self._codes = store.referentials()
        self._woken = threading.Event()
        self._stopping = threading.Event()

    def take(
        self, organization: Organization, media_type: str, payload: bytes, endpoint: Endpoint = Endpoint.API
    ) -> int:
        """Take a payload in, and return its tracking id."""
        tracking = queue_import(self._store, organization, endpoint, media_type, payload)
        self._woken.set()
        return tracking

    def take_file(self, organization: Organization, path: Path) -> int:
        """Take a file in, XML by its name or else JSON, and return its tracking id."""
        media_type = XML if path.suffix.lower() == ".xml" else JSON
        return self.take(organization, media_type, path.read_bytes(), Endpoint.IMPORT)

    def run(self) -> None:
        """Work until `stop`."""
        while True:
            self._woken.clear()
            if self._stopping.is_set():
                return
            try:
                waiting = next_import(self._store)
                if waiting is None:
                    self._woken.wait()
                else:
                    self._bring_to_end(waiting)
            except sqlite3.Error:
                # A full disk, say; what waits is tried again.
                sys.excepthook(*sys.exc_info())
                self._stopping.wait(_SECONDS_BEFORE_ANOTHER_TRY)

    def stop(self) -> None:
        """Ask to stop; an import in progress is left for the next start."""
        self._stopping.set()
        self._woken.set()

    def _bring_to_end(self, one: Import) -> None:
        if one.attempts >= _MOST_ATTEMPTS:
            self._end(one, Outcome(ImportStatus.TIMEOUT))
            return
        deadline = time.monotonic() + self._behaviour.import_timeout
        self._note_attempts(one, one.attempts + 1)
        try:
            self._wait_for_delay(one, deadline)
            self._import(one, deadline)
        except PayloadUnreadable as error:
            self._end(one, Outcome(ImportStatus.ERROR, str(error)))
        except _Stopping:
            self._note_attempts(one, one.attempts)
        except _Overdue:
            self._end(one, Outcome(ImportStatus.TIMEOUT))
        except Exception:  # noqa: BLE001 - whatever one import fails of, the next has to be worked off
            sys.excepthook(*sys.exc_info())
            self._end(one, Outcome(ImportStatus.TIMEOUT))

    def _import(self, one: Import, deadline: float) -> None:
        sent = read_payload(one.payload, one.media_type, self._behaviour.upsert_limit)
        with self._store.writing() as connection:
            organization = self._organizations[one.organization_id]
            now = self._behaviour.now()
            upsert = Upsert(connection, organization, self._codes, now)
            products = []
            for place, product in enumerate(sent, start=1):
                self._check_time(deadline)
                products.append(_outcome_of(upsert, product, place))
            date_writes(connection, upsert.written, now, self._behaviour.now)
            self._check_time(deadline)
            _note_end(connection, one, Outcome(_status_of(products), "", len(sent), products))

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

    def _end(self, one: Import, outcome: Outcome) -> None:
        with self._store.writing() as connection:
            _note_end(connection, one, outcome)


class _Stopping(Exception):
    """The worker is asked to stop."""


class _Overdue(Exception):
    """The import takes longer than it may."""


@contextmanager
def working(store: Store, behaviour: Behaviour) -> Iterator[Worker]:
    """Run a worker meanwhile."""
    worker = Worker(store, behaviour)
    thread = threading.Thread(target=worker.run, daemon=True)
    thread.start()
    try:
        yield worker
    finally:
        worker.stop()
        thread.join()


def _outcome_of(upsert: Upsert, product: Members, place: int) -> dict[str, str]:
    try:
        gtin = upsert.write(product)
    except ProductRefused as error:
        return {
            "gtin": gtin_sent(product),
            "status": ImportStatus.ERROR,
            "message": f"product {place}: {error}",
        }
    return {"gtin": gtin, "status": ImportStatus.SUCCESS, "message": ""}


def _status_of(products: list[dict[str, str]]) -> ImportStatus:
    if not products:
        return ImportStatus.EMPTY
    if any(one["status"] == ImportStatus.ERROR for one in products):
        return ImportStatus.CONTAINS_ERRORS
    return ImportStatus.SUCCESS


def _note_end(connection: sqlite3.Connection, one: Import, outcome: Outcome) -> None:
    connection.execute(
        "UPDATE imports SET status = ?, message = ?, count = ?, outcomes = ?, payload = NULL WHERE tracking = ?",
        (outcome.status, outcome.message, outcome.count, outcomes_text(outcome), one.tracking),
    )
