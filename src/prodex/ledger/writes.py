"""Looking back: each call that wrote a product, what was written, and what became of it.

Of an upsert whose earlier records are not kept the attributes are known, and of corrections their digests; so it may
still be known that a value was sent, and never what it was before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple

from prodex.changes import ABSENT, NoValue
from prodex.errors import InputError, StorageError
from prodex.gtin import gtin_key
from prodex.ledger.batch import ARRIVED, Batch, Loaded
from prodex.ledger.change_digests import attribute_of
from prodex.ledger.earlier_records import EarlierRecord, earlier_records
from prodex.ledger.upsert_file import SentCall, UpsertFile, settling_time
from prodex.ledger.upserts import readable_entries
from prodex.service.replies import SUCCESS


class WriteOutcome(StrEnum):
    """What is known of a call that wrote a product."""

    CONFIRMED = "confirmed by the service"
    REFUSED = "refused by the service"
    ENDED = "its import has ended"
    UNKNOWN = "nobody has seen the end of its import"


#: States of a product whose import has failed, as services say it.
_FAILED = frozenset({"ERROR"})


@dataclass(frozen=True)
class SentWrite:
    """A call that wrote a product, or may have.

    Attributes
    ----------
    upsert
        Name of the upsert.
    at
        When the call was made, by the clock of this machine.
    by, why
        Who sent it, and what for.
    tracking
        Its tracking identifier, or None.
    base_url
        Of the service.
    product
        The id of the product; "" if it is not known.
    gtin
        Its GTIN as GTINs compare.
    outcome
        What is known of it.
    ended
        When its import was first seen to have ended, or None.
    before
        The record as it was before; None if it is not known, or there was none.
    sent
        The attributes as they were written, null for one that was deleted; None if that is not kept.
    is_new
        Whether the service did not list the product before.
    attributes
        What was written; None if it is not known.
    digests
        The corrections as `prodex.ledger.change_digests` knows them; none if nothing was merged.
    """

    upsert: str
    at: datetime
    by: str
    why: str
    tracking: str | None
    base_url: str
    product: str
    gtin: str
    outcome: WriteOutcome
    ended: datetime | None = None
    before: Mapping[str, Any] | None = field(default=None, repr=False)
    sent: Mapping[str, Any] | None = field(default=None, repr=False)
    is_new: bool = False
    attributes: frozenset[str] | None = None
    digests: frozenset[str] = frozenset()

    def writes(self, root: str) -> bool:
        """Whether it wrote an attribute, as far as that is known."""
        if self.sent is not None:
            return root in self.sent
        if self.digests:
            return any(attribute_of(one) == root for one in self.digests)
        return self.attributes is None or root in self.attributes

    def value_before(self, root: str) -> Any:
        """Return an attribute as it was before; `NoValue.NOT_ASKED` where that is not known."""
        if self.before is not None:
            return self.before.get(root, ABSENT)
        return ABSENT if self.is_new else NoValue.NOT_ASKED

    def value_sent(self, root: str) -> Any:
        """Return an attribute as it is once it was written: of the assets only those that are named are replaced."""
        sent = (self.sent or {})[root]
        before = self.value_before(root)
        return (
            before | sent
            if root == "assets" and isinstance(sent, dict) and isinstance(before, dict)
            else sent
        )

    def is_of(self, product: str) -> bool:
        """Whether it may be of the product with an id: another one may have the same GTIN."""
        return not self.product or self.product == product

    def is_visible_at(self, moment: datetime | None) -> bool:
        """Whether a load that began at a time shows it, if it arrived at all."""
        if self.outcome is WriteOutcome.CONFIRMED and self.ended is None:
            return True
        return self.ended is not None and moment is not None and moment >= self.ended + self._settles

    @property
    def _settles(self) -> timedelta:
        return settling_time(self.base_url)


class SentWrites(NamedTuple):
    """What was sent of some products, and which upserts cannot be read.

    Attributes
    ----------
    writes
        The calls, the oldest first.
    unreadable
        By the name of an upsert whose file cannot be read, the GTINs that are, or may be, in it.
    """

    writes: tuple[SentWrite, ...]
    unreadable: Mapping[str, frozenset[str]]


def sent_writes(gtins: Collection[str], sources: Collection[str]) -> SentWrites:
    """Return what was sent of some products from this machine.

    Parameters
    ----------
    gtins
        Their GTINs, as GTINs compare.
    sources
        The base URLs of the services that the products are from: the same GTIN at another service is another product.
    """
    wanted = frozenset(gtins)
    found: list[SentWrite] = []
    unreadable: dict[str, frozenset[str]] = {}
    for entry in readable_entries():
        # One that cannot be read may be of this service.
        if entry.base_url and entry.base_url not in sources:
            continue
        if not (here := entry.may_have(wanted)):
            continue
        try:
            upsert = entry.opened()
            batches = upsert.batches()
        except (InputError, StorageError):
            unreadable[entry.name] = here
            continue
        found += _writes_of(upsert, batches, here)
    return SentWrites(tuple(sorted(found, key=lambda one: (one.at, one.upsert))), unreadable)


def _writes_of(upsert: UpsertFile, batches: Collection[Batch], wanted: frozenset[str]) -> Iterator[SentWrite]:
    concerned = [
        (number, batch, [one for one in batch.gtins if gtin_key(one) in wanted])
        for number, batch in enumerate(batches)
        if batch.sent in ARRIVED or batch.sent == "refused"
    ]
    named = {gtin_key(one) for _, _, here in concerned for one in here}
    if not named:
        return
    kept = _kept(upsert, named)
    calls = {call.number: call for call in upsert.calls if call.number is not None}
    for number, batch, here in concerned:
        loaded = {gtin_key(gtin): one for gtin, one in upsert.loaded(number).items()}
        digests = {gtin_key(gtin): one for gtin, one in upsert.changes(number).items()}
        for gtin in map(gtin_key, here):
            is_seen = gtin in map(gtin_key, batch.arrived)
            if batch.continued_by and not is_seen:  # a later upsert has sent it instead
                continue
            ended = upsert.ended.get(batch.tracking or "")
            call = _Call(upsert, batch, calls.get(number, SentCall()), None if ended is None else ended.at)
            status = None if ended is None else ended.statuses.get(gtin)
            outcome = _outcome(status, is_seen=is_seen, has_ended=call.ended is not None)
            if batch.sent == "refused":
                outcome = WriteOutcome.REFUSED
            yield from call.writes(gtin, outcome, kept.get(gtin, ()), loaded.get(gtin), digests.get(gtin))


class _Call(NamedTuple):
    upsert: UpsertFile
    batch: Batch
    call: SentCall
    ended: datetime | None

    def writes(
        self,
        gtin: str,
        outcome: WriteOutcome,
        kept: Collection[EarlierRecord],
        loaded: Loaded | None,
        digests: frozenset[str] | None,
    ) -> Iterator[SentWrite]:
        """Yield the call of each product with a GTIN: several may have it."""
        plan = self.upsert.plan
        attributes = None if plan.attributes is None else frozenset(plan.attributes)
        product = "" if loaded is None else loaded.product
        write = SentWrite(
            self.upsert.name,
            self.call.at or plan.at,
            plan.by,
            plan.why,
            self.batch.tracking,
            plan.base_url,
            product,
            gtin,
            outcome,
            self.ended,
            attributes=attributes,
            digests=digests or frozenset(),
        )
        if not kept:
            yield write
        for one in kept:
            known: dict[str, Any] = (
                {} if one.problem else {"before": one.before, "sent": one.sent, "is_new": one.is_new}
            )
            yield replace(write, **known, product=one.product or product)


def _outcome(status: str | None, *, is_seen: bool, has_ended: bool) -> WriteOutcome:
    if is_seen or status == SUCCESS:
        return WriteOutcome.CONFIRMED
    if status in _FAILED:
        return WriteOutcome.REFUSED
    return WriteOutcome.ENDED if has_ended else WriteOutcome.UNKNOWN


def _kept(upsert: UpsertFile, gtins: Collection[str]) -> dict[str, list[EarlierRecord]]:
    """Return the earlier records of products by the keys of their GTINs; none if none are kept."""
    found: dict[str, list[EarlierRecord]] = {}
    if upsert.keeps_earlier_records:
        try:
            for one in earlier_records(upsert.name, gtins):
                found.setdefault(gtin_key(one.gtin), []).append(one)
        except (InputError, StorageError):  # removed meanwhile, or not to be read: as if none were kept
            return {}
    return found
