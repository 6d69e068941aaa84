"""Imports: what was sent, kept in the store until it is worked off, and what became of it (spec, endpoint 8)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from prodex.sandbox.dating import stamp
from prodex.sandbox.model import Organization
from prodex.sandbox.store import Store
from prodex.sandbox.wire import decode, encode


class ImportStatus(StrEnum):
    """Status of an import (spec, States)."""

    EMPTY = "EMPTY"
    IN_PROGRESS = "IN_PROGRESS"
    ERROR = "ERROR"
    CONTAINS_ERRORS = "CONTAINS_ERRORS"
    SUCCESS = "SUCCESS"
    TIMEOUT = "TIMEOUT"


class Endpoint(StrEnum):
    """How an import came in (spec, Product inbound tracking record)."""

    API = "API"
    IMPORT = "IMPORT"


@dataclass(frozen=True)
class Import:
    """An import that waits for its turn.

    Attributes
    ----------
    received
        UNIX time in seconds.
    attempts
        How often it was begun before; more than none when it was begun and the process ended.
    """

    tracking: int
    organization_id: int
    media_type: str
    received: float
    payload: bytes
    attempts: int


@dataclass(frozen=True)
class Outcome:
    """What became of an import.

    Attributes
    ----------
    message
        The reason of an ERROR.
    products
        Outcome of each product: gtin, status, message.
    """

    status: ImportStatus
    message: str = ""
    count: int = 0
    products: Sequence[dict[str, str]] = ()


def queue_import(
    store: Store, organization: Organization, endpoint: Endpoint, media_type: str, payload: bytes
) -> int:
    """Keep a payload to be imported, and return its tracking id."""
    with store.writing() as connection:
        cursor = connection.execute(
            "INSERT INTO imports (organization_id, endpoint, media_type, received, payload)"
            " VALUES (?, ?, ?, ?, ?)",
            (organization.id, endpoint, media_type, time.time(), payload),
        )
        assert cursor.lastrowid is not None  # noqa: S101 - a row was inserted
        return cursor.lastrowid


def next_import(store: Store) -> Import | None:
    """Return the import that has waited longest, or None."""
    rows = store.rows(
        "SELECT tracking, organization_id, media_type, received, payload, attempts FROM imports"
        " WHERE payload IS NOT NULL ORDER BY tracking LIMIT 1"
    )
    return Import(*rows[0]) if rows else None


def tracking_record(store: Store, caller: Organization, tracking: int) -> dict[str, Any] | None:
    """Return the tracking record of one of the caller's imports, or None."""
    rows = store.rows(
        "SELECT received, status, message, count, outcomes, endpoint FROM imports"
        " WHERE tracking = ? AND organization_id = ?",
        (tracking, caller.id),
    )
    if not rows:
        return None
    received, status, message, count, outcomes, endpoint = rows[0]
    return {
        "createdAt": stamp(datetime.fromtimestamp(received, UTC)),
        "status": status,
        "message": message,
        "count": count,
        "tracking": tracking,
        "products": decode(outcomes.encode()),
        # An organisation has one access key here, and the user has its id.
        "user": {"id": caller.id, "username": caller.username},
        "organization": {"id": caller.id, "nameLegal": caller.name},
        "endpoint": endpoint,
    }


def outcomes_text(outcome: Outcome) -> str:
    """Return the outcomes of the products as the store keeps them."""
    return encode(list(outcome.products)).decode()
