"""The lines of a journal's ledger: what a load did, in the order in which it did it."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

import msgspec

from prodex.store.journal_reading import Number
from prodex.tables.records import Identity
from prodex.untrusted import Count


class Stage(StrEnum):
    """What a window is fetched for; its name begins with it."""

    #: The products that were asked for.
    PULL = "pull"
    #: Those that changed while they were pulled.
    CHANGES = "changes"
    #: How many there are when all is done.
    END = "end"
    #: Key and date of all there are: what is missing, what has gone.
    LISTING = "listing"
    #: What the listing names and did not come, asked for by GTIN.
    MISSING = "missing"
    #: What came and the listing does not name, asked for by GTIN: has it gone?
    ABSENT = "absent"
    #: What nobody can have, asked for to see whether the service heeds a filter.
    CONTROL = "control"

    @property
    def has_products(self) -> bool:
        """Whether its pages hold products as they were asked for; those of others hold keys only."""
        return self in {Stage.PULL, Stage.CHANGES, Stage.MISSING}


class Counted(msgspec.Struct, frozen=True, tag="count", tag_field="line"):
    """A count that was asked for.

    Attributes
    ----------
    window
        Name of the window that was counted; see `prodex.load.windows`.
    total
        What the service announced; None where it announced nothing that is a count.
    server_date
        The service's clock.
    """

    window: str
    total: Number | None
    server_date: datetime | None

    @property
    def stage(self) -> Stage:
        return _stage(self.window)


class Entry(msgspec.Struct, frozen=True, tag="page", tag_field="line"):
    """One page in the ledger.

    Attributes
    ----------
    page
        Number of its file.
    window
        Name of the window it belongs to; the pages of a window stand in the order in which they came.
    cursor
        The cursor it was asked for with; None for a page by offset.
    next_page
        The cursor that came with it.
    offset
        Index of its first product, as its envelope says.
    total_results
        What the service announced on it; None where it announced nothing that is a count.
    server_date, received_at
        The service's clock, and ours.
    size, sha256
        Bytes and digest of the page as received.
    keys
        Key, updatedAt and GTIN of each product on it; null for an item that is no product.
    asked
        The offset it was asked for with; None for a page of a scroll, and in older journals.
    limit
        Products asked for; None in older journals.
    """

    page: Count
    window: str
    cursor: str | None
    next_page: str | None
    offset: Number | None
    total_results: Number | None
    server_date: datetime | None
    received_at: datetime
    size: Count
    sha256: str
    keys: list[Identity | None]
    asked: int | None = None
    limit: int | None = None

    @property
    def stage(self) -> Stage:
        return _stage(self.window)


class Restarted(msgspec.Struct, frozen=True, tag="restart", tag_field="line"):
    """A window is fetched again from its first page. What it brought so far is kept."""

    window: str


class Noted(msgspec.Struct, frozen=True, tag="note", tag_field="line"):
    """A fact about the whole load, such as what could not be loaded; with null it holds no more."""

    name: str
    value: Any


def _stage(window: str) -> Stage:
    return Stage(window.partition("/")[0])
