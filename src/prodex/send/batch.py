"""Batches: the products of one call, before it and after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

#: What became of a batch on its way: it got its tracking identifier; the service accepted it under an identifier that
#: cannot be read; its answer was lost; the service refused it; or it was not sent.
Sent = Literal["sent", "accepted", "unknown", "refused", "not sent"]

#: Of these, what the service has, or may have.
ARRIVED = frozenset({"sent", "accepted", "unknown"})


@dataclass(frozen=True, slots=True)
class Batch:
    """Products that are sent in one call.

    Attributes
    ----------
    gtins
        Their GTINs; none for an import that somebody else sent.
    sent
        What became of the call.
    tracking
        Its tracking identifier as the service wrote it, or None where none came.
    message
        Why it was not sent, or how its answer was lost.
    """

    gtins: tuple[str, ...]
    sent: Sent
    tracking: str | None = None
    message: str = ""


class Loaded(NamedTuple):
    """A product whose corrections were merged with what was loaded: its key, and its `updatedAt` then."""

    product: str
    updated_at: str | None


class Planned(NamedTuple):
    """One batch of a plan; `loaded` goes with the GTINs, and is empty where nothing was merged."""

    body: bytes
    gtins: tuple[str, ...]
    loaded: tuple[Loaded, ...] = ()
