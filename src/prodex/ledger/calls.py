"""Before something is sent: the calls with its products, those that were made, planned, and may still arrive.

An import whose end nobody has seen may run for a day (`LONGEST`) by the clock of the service. This machine's clock,
which may be wrong, ends no wait: without dates of the service only the state of the import does, or somebody who knows
better.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from prodex.errors import InputError
from prodex.gtin import gtin_key
from prodex.ledger.batch import ARRIVED, Batch, Loaded
from prodex.ledger.change_digests import Digests, attribute_of
from prodex.ledger.upsert_file import LONGEST, SETTLES, SentCall, UpsertFile
from prodex.ledger.upserts import CLOCKS, LedgerEntry, recent_entries


@dataclass(frozen=True)
class LedgerCall:
    """A call of an upsert, or the plan of one, with a product that is asked for.

    Attributes
    ----------
    name
        Of the upsert.
    file
        Its file; None if that cannot be read, so that only its GTINs are known.
    number, batch
        The batch, and its state.
    changes, loaded
        By the key of a GTIN, the digests of changes and what they were merged with; none where nothing was merged.
    attributes
        The attributes that it writes; None if they are not known.
    at, ended
        When the call was made, and when its import was first seen to have ended, by the clock of this machine.
    date, ended_date
        The same by the clock of the service; None where it is not known.
    statuses
        By the key of a GTIN, what the service says of the product, or said when its import had ended.
    is_given_up
        Whether somebody has decided that it did not arrive, or is over.
    """

    name: str
    file: UpsertFile | None
    number: int
    batch: Batch
    changes: Mapping[str, Digests]
    loaded: Mapping[str, Loaded]
    attributes: frozenset[str] | None
    at: datetime
    ended: datetime | None = None
    date: datetime | None = None
    ended_date: datetime | None = None
    statuses: Mapping[str, str] = field(default_factory=dict)
    is_given_up: bool = False

    @property
    def is_plan(self) -> bool:
        """Whether it certainly did not arrive."""
        return self.batch.sent not in ARRIVED

    def is_settled(self, date: datetime | None) -> bool:
        """Whether nothing of it can appear any more at a date of the service."""
        if self.is_plan or self.is_over(date):
            return True
        if self.ended is None:
            return False
        # Where its date is not known, no other date says more.
        return self.ended_date is None or (date is not None and self.ended_date + SETTLES <= date)

    def is_over(self, date: datetime | None) -> bool:
        """Whether it cannot run any more at a date of the service, although nobody has seen its end."""
        return date is not None and self.date is not None and self.date + LONGEST <= date

    def has(self, gtin: str, changes: Digests) -> bool:
        """Whether it has these changes of a product."""
        return bool(changes) and changes <= self.changes.get(gtin, frozenset())

    def has_arrived(self, gtin: str) -> bool:
        """Whether the service has shown what was sent of the product, although it never confirmed it."""
        return gtin in map(gtin_key, self.batch.arrived)

    def writes(self, gtin: str, attribute: str) -> bool:
        """Whether it writes this attribute of a product, as far as that is known."""
        if gtin not in map(gtin_key, self.batch.gtins):
            return False
        if changes := self.changes.get(gtin):
            return any(attribute_of(one) == attribute for one in changes)
        return self.attributes is None or attribute in self.attributes

    def may_be_under_way(self, gtin: str, date: datetime | None, updated_at: Any, settles: timedelta) -> bool:
        """Whether the product may still get what was sent.

        Parameters
        ----------
        gtin
            The key of its GTIN.
        date
            The clock of the service before the product was requested; None if it is not known.
        updated_at
            When it was last updated, as the service says.
        settles
            How long the service takes to show what it has imported.
        """
        is_known = self.is_plan or self.is_given_up or self.has_arrived(gtin)
        if is_known or self.statuses.get(gtin) == "ERROR":
            return False
        if self.ended is None:
            return not self.is_over(date)
        # Once the product was updated, the import is visible.
        loaded = self.loaded.get(gtin)
        if (loaded is not None and updated_at != loaded.updated_at) or not settles:
            return False
        return date is None or self.ended_date is None or date < self.ended_date + settles


def calls_with(base_url: str, key: str, gtins: frozenset[str]) -> tuple[LedgerCall, ...]:
    """Return the calls and plans of recent upserts with any of some products, the oldest first.

    An upsert whose file cannot be read is a call of which nobody knows anything, with the products that it may have.

    Parameters
    ----------
    base_url, key
        Of the service, and the digest of the access key: with another one they are products of another organisation.
    gtins
        The keys of the GTINs of the products.

    Raises
    ------
    OtherLayout
        When another version of prodex has sent an upsert.
    StorageError
        When the folder of upserts, or a file in it, may not be read.
    """
    found: list[LedgerCall] = []
    for entry in recent_entries(datetime.now(UTC)):
        here = entry.may_have(gtins)
        try:
            if entry.problem or (here and (entry.base_url, entry.key) == (base_url, key)):
                found += _calls_of(entry, entry.opened(), base_url, key, gtins)
        except InputError as error:
            if here:
                batch = Batch(tuple(sorted(here)), "unknown", message=str(error))
                at = entry.changed_at
                # Nothing else is known of its time than that of the file.
                found.append(LedgerCall(entry.name, None, 0, batch, {}, {}, None, at, date=at + CLOCKS))
    return tuple(sorted(found, key=lambda one: (one.at, one.name, one.number)))


def _calls_of(
    entry: LedgerEntry, file: UpsertFile, base_url: str, key: str, gtins: frozenset[str]
) -> Iterator[LedgerCall]:
    if (file.plan.base_url, file.plan.key) != (base_url, key):
        return
    for number, several in enumerate(file.batches()):
        for batch in several.by_call():
            if gtins.intersection(map(gtin_key, batch.arrived if batch.continued_by else batch.gtins)):
                yield from _calls_of_batch(entry, file, number, batch)


def _calls_of_batch(entry: LedgerEntry, file: UpsertFile, number: int, batch: Batch) -> Iterator[LedgerCall]:
    """Yield the calls of a batch: one whose reply was lost may have been sent again."""
    # Of a call, what was left out of it is none.
    here = frozenset(batch.gtins)
    changes = {gtin_key(gtin): one for gtin, one in file.changes(number).items() if gtin in here}
    loaded = {gtin_key(gtin): one for gtin, one in file.loaded(number).items() if gtin in here}
    attributes = None if file.plan.attributes is None else frozenset(file.plan.attributes)
    made = [one for one in file.calls if one.number == number and batch.sent in ARRIVED]
    ended = file.ended.get(batch.tracking or "")
    for one in made or [SentCall()]:
        yield LedgerCall(
            file.name,
            file,
            number,
            batch,
            changes,
            loaded,
            attributes,
            at=one.at or entry.changed_at,
            ended=None if ended is None else ended.at,
            date=one.date,
            ended_date=None if ended is None else ended.date,
            statuses={} if ended is None else ended.statuses,
        )
