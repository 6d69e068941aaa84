"""One page of products, as it came."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from prodex.envelope import Envelope
from prodex.tables.records import Identity, identify


@dataclass(frozen=True)
class Page:
    """One reply of a product list.

    Attributes
    ----------
    body
        The reply as received, decompressed.
    envelope
        What stands around the products, and each product as its JSON bytes.
    received_at
        When it came, by this machine's clock (UTC).
    server_date
        When it was sent, by the service's clock (UTC), or None.
    """

    body: bytes = field(repr=False)
    envelope: Envelope = field(repr=False)
    received_at: datetime
    server_date: datetime | None

    def __len__(self) -> int:
        return len(self.envelope.data)

    def __bool__(self) -> bool:
        """Be true even without products: an empty page is a page."""
        return True

    @property
    def total_results(self) -> int | None:
        """Number of products that match, as the service announced it; None where it announced none."""
        return self.envelope.total_results

    @property
    def offset(self) -> int | None:
        """Index of the first product."""
        return self.envelope.offset

    @property
    def next_page(self) -> str | None:
        """Cursor of the next scroll call, or None where the service gives none."""
        cursor = self.envelope.next_page
        return None if cursor in (None, "") else str(cursor)

    @cached_property
    def identities(self) -> list[Identity | None]:
        """Who each product is; None for an item that is no product."""
        return [identify(product) for product in self.envelope.data]

    def new_to(self, seen: set[str]) -> int:
        """Return how many of its products were not seen before, and note them all as seen; other items do not count."""
        before = len(seen)
        seen.update(one.product_id for one in self.identities if one)
        return len(seen) - before
