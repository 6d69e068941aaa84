"""A call as values: the products that are planned for it, and its state afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

#: The state of a call: it returned a tracking identifier; the service accepted it, but the identifier cannot be read;
#: its reply was lost; the service refused it; or it was not made.
Sent = Literal["sent", "accepted", "unknown", "refused", "not sent"]

#: The states in which the service has the products, or may have them.
ARRIVED = frozenset({"sent", "accepted", "unknown"})


@dataclass(frozen=True, slots=True)
class Batch:
    """Products that are sent in one call.

    Attributes
    ----------
    gtins
        Their GTINs, without those that were left out; none for an import that was not sent from here.
    sent
        The state of the call.
    tracking
        Its tracking identifier as the service wrote it, or None.
    message
        Why it was not sent, or how its reply was lost.
    arrived
        The GTINs for which the service has shown what was sent, although it never confirmed it.
    continued_by
        Name of the upsert that sends these products instead, or those that have not arrived; else "".
    left_out
        The GTINs that were planned for the call and are never sent by it, each with the reason: somebody has changed
        the product since its corrections were merged with it.
    is_left_out
        Whether these are the products that were left out of a call; see `by_call`.
    """

    gtins: tuple[str, ...]
    sent: Sent
    tracking: str | None = None
    message: str = ""
    arrived: frozenset[str] = frozenset()
    continued_by: str = ""
    left_out: Mapping[str, str] = field(default_factory=dict)
    is_left_out: bool = False

    def by_call(self) -> Iterator[Batch]:
        """Yield the products of the call, and those that were left out of it as batches that are not sent."""
        if self.gtins or not self.left_out:
            yield replace(self, left_out={}) if self.left_out else self
        for why in dict.fromkeys(self.left_out.values()):
            gtins = tuple(gtin for gtin, reason in self.left_out.items() if reason == why)
            yield Batch(gtins, "not sent", message=why, is_left_out=True)

    @property
    def has_arrived(self) -> bool:
        """Whether the service was seen to have all of it."""
        return bool(self.gtins) and self.arrived.issuperset(self.gtins)

    @property
    def is_done(self) -> bool:
        """Whether its payload is not needed any more."""
        is_empty = bool(self.left_out) and not self.gtins
        return self.sent in {"sent", "accepted"} or bool(self.continued_by) or self.has_arrived or is_empty


class Loaded(NamedTuple):
    """A loaded product with which corrections were merged: its key and its `updatedAt`."""

    product: str
    updated_at: str | None


class Planned(NamedTuple):
    """One batch of a plan; `loaded` and `changes` are parallel to the GTINs, or empty if nothing was merged.

    `changes` has the digests of each product's changes (`prodex.ledger.change_digests`). `sizes` has the bytes of each
    product in the body, parallel to the GTINs; without them the body is sent as a whole, or not at all.
    """

    body: bytes
    gtins: tuple[str, ...]
    loaded: tuple[Loaded, ...] = ()
    changes: tuple[tuple[str, ...], ...] = ()
    sizes: tuple[int, ...] = ()
