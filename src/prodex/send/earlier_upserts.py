"""Corrections that earlier upserts have sent, or may have: they are continued, and not sent a second time.

A journal has a digest of each correction, so that any later process finds what became of it. A correction is sent again
only on evidence that nothing of it is under way: its call was never made, or its import has ended and the product does
not have it. An import whose end nobody has seen may run for a day (`upsert_history.LONGEST`) by the clock of the
service. This machine's clock, which may be wrong, ends no wait: without dates of the service only the state of the
import does, or somebody who knows better.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeAlias

from prodex.changes import by_product
from prodex.errors import InputError, SnapshotLocked
from prodex.files.lock import locked
from prodex.files.untrusted import read_bytes
from prodex.query import ProductQuery
from prodex.send.batches import ARRIVED, Batch, Loaded
from prodex.send.change_digests import Digests, attribute_of, digests_of, is_shown, shown_by
from prodex.send.corrections import Changes
from prodex.send.journal import SentCall, UpsertJournal, name_of, tracking_folder
from prodex.send.polling import ImportPolling
from prodex.send.records import Product, gtin_key
from prodex.send.tracking import Tracking
from prodex.send.upsert_history import (
    CLOCKS,
    LONGEST,
    SETTLES,
    changed_at,
    continued_upserts,
    ended_dates,
    ended_imports,
    note_ended,
    product_statuses,
    recent_journals,
    settle,
    settling,
)
from prodex.service import Client

#: Seconds to wait for another process that plans an upsert.
_PATIENCE = 10.0

#: What is written as a whole: an attribute at the top of a product, by the key of its GTIN.
Place: TypeAlias = tuple[str, str]


def digests_by_gtin(changes: Changes) -> dict[str, tuple[str, ...]]:
    """Return the digests of all changes by GTIN."""
    by = by_product(changes.changes)
    return {
        record["gtin"]: tuple(sorted(digests_of(by.get(product, ()))))
        for product, record in zip(changes.loaded, changes.records, strict=True)
    }


def places_of(changes: Changes) -> dict[Place, Digests]:
    """Return the changes of each place."""
    found: dict[Place, set[str]] = defaultdict(set)
    for gtin, digests in digests_by_gtin(changes).items():
        for one in digests:
            found[gtin_key(gtin), attribute_of(one)].add(one)
    return {place: frozenset(digests) for place, digests in found.items()}


def without_places(changes: Changes, places: Collection[Place]) -> Changes:
    """Return the changes without those of some places."""
    keys = _gtin_keys(changes)
    left = []
    for (product, updated_at), record in zip(changes.loaded.items(), changes.records, strict=True):
        key = gtin_key(record["gtin"])
        kept = {name: value for name, value in record.items() if (key, name) not in places}
        if kept.keys() - {"gtin"}:
            left.append((product, updated_at, kept))
    return replace(
        changes,
        records=tuple(record for *_, record in left),
        loaded={product: updated_at for product, updated_at, _ in left},
        changes=tuple(one for one in changes.changes if (keys.get(one.product), one.attribute) not in places),
        edits=tuple(
            edit
            for edit in changes.edits
            if (gtin_key(edit.gtin), edit.attribute.partition(".")[0]) not in places
        ),
    )


def _gtin_keys(changes: Changes) -> dict[str, str]:
    """Return the keys of the GTINs of products by their id."""
    return {
        product: gtin_key(record["gtin"])
        for product, record in zip(changes.loaded, changes.records, strict=True)
    }


def with_places(changes: Changes, others: Changes, places: Collection[Place]) -> Changes:
    """Return the changes, with those that others make of some places which these do not change."""
    here = places_of(changes)
    unwanted = {place for place in places_of(others) if place not in places or place in here}
    added = without_places(others, unwanted)
    records = dict(zip(changes.loaded, changes.records, strict=True))
    loaded = {**added.loaded, **changes.loaded}
    for product, record in zip(added.loaded, added.records, strict=True):
        records[product] = {**record, **records.get(product, {})}
    return replace(
        changes,
        records=tuple(records.values()),
        loaded={product: loaded[product] for product in records},
        changes=(*changes.changes, *added.changes),
        edits=(*changes.edits, *added.edits),
        known={**added.known, **changes.known},
    )


@dataclass(frozen=True)
class EarlierCall:
    """A call of an earlier upsert, or the plan of one, with a product that is to be written now.

    Attributes
    ----------
    name
        Of the upsert.
    journal
        Its journal; None if that cannot be read, so that only its GTINs are known.
    number, batch
        The batch, and its state.
    edits, loaded
        By the key of a GTIN, the corrections and what they were merged with; none where nothing was merged.
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
    journal: UpsertJournal | None
    number: int
    batch: Batch
    edits: Mapping[str, Digests]
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

    def has(self, gtin: str, corrections: Digests) -> bool:
        """Whether it has these corrections of a product."""
        return bool(corrections) and corrections <= self.edits.get(gtin, frozenset())

    def has_arrived(self, gtin: str) -> bool:
        """Whether the service has shown what was sent of the product, although it never confirmed it."""
        return gtin in map(gtin_key, self.batch.arrived)

    def writes(self, place: Place) -> bool:
        """Whether it writes this attribute of the product, as far as that is known."""
        gtin, root = place
        if edits := self.edits.get(gtin):
            return any(attribute_of(one) == root for one in edits)
        return self.attributes is None or root in self.attributes

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


@dataclass(frozen=True)
class Continuation:
    """How corrections continue earlier upserts.

    Attributes
    ----------
    followed
        What was sent already, and the call that it was sent by.
    waits
        What cannot be sent now, since a call may still write something else there.
    upserts
        The upserts that are continued, the oldest first.
    taken_over
        The batches of these that are not to be sent any more, by name.
    calls
        All calls and plans that were looked at.
    """

    followed: Mapping[Place, EarlierCall]
    waits: Mapping[Place, EarlierCall]
    upserts: tuple[UpsertJournal, ...]
    taken_over: Mapping[str, Collection[int]]
    calls: tuple[EarlierCall, ...] = ()

    def has_sent(self, gtin: str, corrections: Digests) -> bool:
        """Whether one of the upserts has these corrections of a product in a call that arrived, or may have."""
        names = {one.name for one in self.upserts}
        return any(one.name in names and not one.is_plan and one.has(gtin, corrections) for one in self.calls)

    @property
    def excluded(self) -> frozenset[Place]:
        """What is not sent now."""
        return frozenset({*self.followed, *self.waits})

    @contextmanager
    def taking_over(self, earlier: EarlierUpserts, name: str) -> Iterator[None]:
        """Give the batches that are taken over to an upsert of this name, whose plan is written meanwhile.

        Raises
        ------
        SnapshotLocked
            When another process is sending some of them, or plans to.
        """
        with ExitStack() as stack:
            # Two processes that plan at the same time would not see each other's plan.
            stack.enter_context(locked(tracking_folder(), "planning an upsert", patience=_PATIENCE))
            if not earlier.is_current():
                raise SnapshotLocked(
                    "Another process has begun to send some of these products. Nothing was sent from here: wait for "
                    "its end, and apply the answers again."
                )
            continued = [one for one in self.upserts if one.name in self.taken_over]
            for journal in continued:
                # Kept until the new plan is on disk: until then the old one could still be sent.
                stack.enter_context(journal.exclusive())
                journal.continue_by(name, self.taken_over[journal.name])
            yield
            for journal in continued:
                if all(batch.is_done for batch in journal.batches()):
                    journal.discard_payloads()

    def tracking(self, service: Client) -> Tracking:
        """Return the state of what was sent."""
        *earlier, last = self.upserts
        return Tracking(service, last.batches(), journal=last, earlier=earlier)


@dataclass(frozen=True)
class EarlierUpserts:
    """What the upserts from this machine have sent, or may have, of some products.

    Attributes
    ----------
    service
        Where they were sent.
    gtins
        The keys of the GTINs of these products.
    calls
        The calls and plans with any of them, the oldest first.
    date
        When the imports were requested, by the clock of the service; None if that is not known. Whatever was visible
        then is visible to any later request.
    """

    service: Client
    gtins: frozenset[str]
    calls: tuple[EarlierCall, ...]
    date: datetime | None

    @classmethod
    def look(cls, service: Client, gtins: Collection[str], *, gives_up_lost: bool = False) -> EarlierUpserts:
        """Read the journals, and request the imports that may still be running.

        Parameters
        ----------
        service
            Where products are to be written.
        gtins
            Their GTINs.
        gives_up_lost
            Whether calls whose replies were lost, or whose imports the service does not know, did not arrive, and
            imports are over that have ended at a time that nobody knows.

        Raises
        ------
        ServiceError
            When the service cannot be reached.
        SnapshotLocked
            When another process is sending some of these products now.
        """
        keys = frozenset(map(gtin_key, gtins))
        calls = _calls(service, keys)
        for one in calls:
            if one.journal is not None and one.journal.is_busy:
                raise SnapshotLocked(
                    f"Another process is sending the upsert {one.name}, which has some of these products. Wait for its "
                    "end, and apply the answers again."
                )
        open_ = [one for one in calls if not one.is_settled(service.last_date)]
        # Of those that have ended a moment ago, whether the service still knows them.
        now = datetime.now(UTC)
        asked = dict.fromkeys(
            one.batch.tracking for one in open_ if one.ended is None or now < one.ended + SETTLES
        )
        polling = ImportPolling(service)
        try:
            polling.poll([one for one in asked if one is not None])
        finally:
            ended = polling.newly_ended()
            here = {one.batch.tracking: one.batch for one in calls if one.batch.tracking in ended}
            found = {str(tracking): polling.outcome(batch).statuses for tracking, batch in here.items()}
            note_ended(service.base_url, ended, found, service.last_date)
        if open_ and not any(asked):
            # How long ago a reply was lost, only the date of another one says.
            service.search_products(ProductQuery(gtins_in=sorted(keys)[:1]).to_probe())
        # After the imports were requested: what has ended by now is visible to whoever requests products from now on.
        now, date = datetime.now(UTC), service.last_date
        seen = []
        for one in _calls(service, keys):
            record = polling.records.get(one.batch.tracking or "")
            is_new = one.ended is None and one.batch.tracking in ended
            over, over_date = (now, date) if is_new else (one.ended, one.ended_date)
            statuses = one.statuses if record is None or not over else polling.outcome(one.batch).statuses
            is_lost = one.batch.sent == "unknown" or one.batch.tracking in polling.problems
            # An import that was seen to end and that the service does not know any more says nothing: it was reset.
            # One that could not be requested just now has ended all the same, and is not sent again.
            if (
                gives_up_lost
                and getattr(polling.problems.get(one.batch.tracking or ""), "status", None) == 404
            ):
                over = None
            gives_up = gives_up_lost and (is_lost if over is None else over_date is None or date is None)
            seen.append(
                replace(one, ended=over, ended_date=over_date, statuses=statuses, is_given_up=gives_up)
            )
        for journal in {one.name: one.journal for one in seen if one.journal is not None}.values():
            settle(journal, date)
        return cls(service, keys, tuple(seen), date)

    def is_current(self) -> bool:
        """Whether no other process has sent any of these products, or planned to, since this was read."""
        # Whatever another process does is a new state; one that is over is not read again.
        return _call_states(_calls(self.service, self.gtins)) <= _call_states(self.calls)

    def sent_by(self, gtin: str, corrections: Digests) -> str | None:
        """Return the name of the last upsert that has sent these corrections of a product, or may have."""
        names = [one.name for one in self.calls if not one.is_plan and one.has(gtin, corrections)]
        return names[-1] if names else None

    def compare(
        self,
        sending: Mapping[Place, Digests],
        known: Mapping[Place, Collection[Digests]],
        unchanged: Collection[Place],
        records: Mapping[str, Product],
        own: Collection[str] = (),
    ) -> Continuation:
        """Return how corrections continue what is here.

        Parameters
        ----------
        sending
            The corrections that the products of now still need.
        known
            Other corrections: what was to be sent before, or was sent.
        unchanged
            Places of these where the products of now have all that was to be sent.
        records
            The products of now, by the key of their GTIN.
        own
            Names of the upserts that have sent some of these corrections for certain.
        """
        wanted = {place: (found,) for place, found in sending.items()} | {
            place: tuple(found) for place, found in known.items() if place not in sending
        }
        same = {
            place: [
                one
                for one in self.calls
                if any(one.has(place[0], each) for each in found) and not self._is_superseded(one, place)
            ]
            for place, found in wanted.items()
        }
        begun = self._of_one_upsert({*own, *self._begun(same, sending, records)})
        followed = {}
        for place, calls in same.items():
            # Of what the product has, whoever has sent it is followed. What somebody has changed since is none of it.
            of = begun if place in sending else {one.name for one in calls if place in unchanged}
            is_there = place in unchanged and place not in sending
            if (call := self._followed(place, calls, of, records, is_there=is_there)) is not None:
                followed[place] = call
        waits = {
            place: call
            for place in sending
            if place not in followed and (call := self._in_the_way(place, records)) is not None
        }
        left = sending.keys() - followed.keys() - waits.keys()
        taken_over: dict[str, set[int]] = defaultdict(set)
        for one in self.calls:
            # A plan of corrections that is sent later would bring back what is older; what was left out never is.
            if (
                one.loaded
                and not one.batch.is_left_out
                and any(
                    _concerns(one, place) and (one.is_plan or self._is_given_up(one, place)) for place in left
                )
            ):
                taken_over[one.name].add(one.number)
        names = {*taken_over, *(call.name for call in followed.values())}
        names |= {one.name for place in left for one in same[place] if one.name in begun}
        # Some of what waits may be what is under way.
        for place, call in waits.items():
            if call.edits.get(place[0], frozenset()) & sending[place]:
                names.add(call.name)
        return Continuation(followed, waits, self._upserts(names), taken_over, self.calls)

    def note_arrived(
        self, records: Mapping[str, Product], unchanged: Mapping[Place, Collection[Digests]]
    ) -> None:
        """Record which products the service has as they were sent, although it does not say what became of a call.

        Parameters
        ----------
        records
            The products of now, by the key of their GTIN.
        unchanged
            Corrections that the products of now have already.
        """
        there: dict[str, set[str]] = defaultdict(set)
        for (gtin, _), found in unchanged.items():
            there[gtin].update(*found)
        for one in self.calls:
            if one.is_plan or one.ended is not None or one.journal is None:
                continue
            gtins = [
                gtin
                for gtin in one.batch.gtins
                if (edits := one.edits.get(key := gtin_key(gtin)))
                and _are_there(edits, there[key], records.get(key, {}))
            ]
            if not one.batch.arrived.issuperset(gtins):
                with one.journal.exclusive():
                    one.journal.note_arrived(one.number, gtins)
                    if all(batch.is_done for batch in one.journal.batches()):
                        one.journal.discard_payloads()

    def _begun(
        self,
        same: Mapping[Place, Collection[EarlierCall]],
        sending: Collection[Place],
        records: Mapping[str, Product],
    ) -> Iterator[str]:
        """Yield the names of the upserts that have not ended: a part is not sent, is under way, or was lost."""
        for place, calls in same.items():
            for one in calls:
                was_lost = place in sending and self._is_given_up(one, place)
                if one.is_plan or was_lost or self._may_be_under_way(one, place[0], records, SETTLES):
                    yield one.name

    def _is_superseded(self, call: EarlierCall, place: Place) -> bool:
        """Whether a later call has written something else there, and has ended: then this one is long over.

        The time stamp of the product does not say so where both came within its resolution, often a second.
        """
        # What may still arrive, or was only planned, is not over.
        if call.ended is None or call.is_plan:
            return False
        gtin, root = place
        own = {one for one in call.edits.get(gtin, frozenset()) if attribute_of(one) == root}
        return any(
            later.at > call.at
            and later.ended is not None
            and not later.is_plan
            and later.statuses.get(gtin) != "ERROR"
            and own != {one for one in later.edits.get(gtin, frozenset()) if attribute_of(one) == root}
            for later in self.calls
            if gtin in map(gtin_key, later.batch.gtins) and later.edits.get(gtin) and later.writes(place)
        )

    def _is_given_up(self, call: EarlierCall, place: Place) -> bool:
        """Whether nobody ever saw what became of a call, and it cannot be under way any more."""
        is_over = call.ended is None and (call.is_given_up or call.is_over(self.date))
        return is_over and not call.is_plan and not call.has_arrived(place[0])

    def _of_one_upsert(self, names: Collection[str]) -> set[str]:
        """Return these upserts, with those that they continue and those that continue them."""
        found = set(names)
        journals = {one.name: one.journal for one in self.calls if one.journal is not None}
        # The oldest first: a later one names all that it continues.
        for name, journal in sorted(journals.items()):
            if name in found or not found.isdisjoint(journal.head.continues):
                found |= {name, *journal.head.continues}
        return found

    def _followed(
        self,
        place: Place,
        calls: Collection[EarlierCall],
        of: Collection[str],
        records: Mapping[str, Product],
        *,
        is_there: bool,
    ) -> EarlierCall | None:
        """Return the last call that has sent the corrections of a place, if it is of these upserts or under way."""
        found = None
        for one in calls:
            # What the product has shows that a call has arrived, although somebody had given it up.
            is_settled = one.name in of and (is_there or not self._is_given_up(one, place))
            if not one.is_plan and (is_settled or self._may_be_under_way(one, place[0], records, SETTLES)):
                found = one
        return found

    def _in_the_way(self, place: Place, records: Mapping[str, Product]) -> EarlierCall | None:
        """Return a call that may still write other values to a place."""
        for one in reversed(self.calls):
            if place[0] not in map(gtin_key, one.batch.gtins) or not one.writes(place):
                continue
            edits = one.edits.get(place[0])
            is_there = edits is not None and bool(edits) and _are_there(edits, (), records.get(place[0], {}))
            settles = settling(self.service.base_url)
            if not is_there and self._may_be_under_way(one, place[0], records, settles):
                return one
        return None

    def _may_be_under_way(
        self, call: EarlierCall, gtin: str, records: Mapping[str, Product], settles: timedelta
    ) -> bool:
        updated_at = records.get(gtin, {}).get("updatedAt")
        return call.may_be_under_way(gtin, self.date, updated_at, settles)

    def _upserts(self, names: Collection[str]) -> tuple[UpsertJournal, ...]:
        found = {one.name: one.journal for one in self.calls if one.journal is not None}
        upserts = {name: found[name] for name in names if name in found}
        for one in list(upserts.values()):
            upserts |= {other.name: other for other in continued_upserts(one)}
        return tuple(upserts[name] for name in sorted(upserts))


def _calls(service: Client, gtins: frozenset[str]) -> tuple[EarlierCall, ...]:
    """Return the calls and plans of recent upserts with any of these products, the oldest first."""
    found: list[EarlierCall] = []
    for path in recent_journals(datetime.now(UTC)):
        try:
            journal = UpsertJournal(path)
            batches = journal.batches()
        except InputError as error:
            found += _unreadable(path, gtins, error)
            continue
        # Sent with another key, they are products of another organisation.
        if not journal.is_for(service.base_url) or journal.head.key != service.fingerprint:
            continue
        ended = ended_imports(path)
        for number, batch in [
            (number, one) for number, several in enumerate(batches) for one in several.by_call()
        ]:
            here = gtins.intersection(map(gtin_key, batch.arrived if batch.continued_by else batch.gtins))
            if here:
                found += _calls_of(journal, number, batch, ended)
    return tuple(sorted(found, key=lambda one: (one.at, one.name, one.number)))


def _calls_of(
    journal: UpsertJournal, number: int, batch: Batch, ended: Mapping[str, datetime]
) -> Iterator[EarlierCall]:
    """Yield the calls of a batch: a batch whose reply was lost may have been sent again."""
    changed = changed_at(journal.path)
    # Of a call, what was left out of it is none.
    here = frozenset(batch.gtins)
    edits = {gtin_key(gtin): one for gtin, one in journal.edits(number).items() if gtin in here}
    loaded = {gtin_key(gtin): one for gtin, one in journal.loaded(number).items() if gtin in here}
    attributes = None if journal.head.attributes is None else frozenset(journal.head.attributes)
    made = [one for one in journal.calls if one.batch == number and batch.sent in ARRIVED]
    end, end_date = ended.get(batch.tracking or ""), ended_dates(journal.path).get(batch.tracking or "")
    statuses = product_statuses(journal.path).get(batch.tracking or "", {})
    for one in made or [SentCall()]:
        at = one.at or changed
        yield EarlierCall(
            journal.name,
            journal,
            number,
            batch,
            edits,
            loaded,
            attributes,
            at,
            end,
            one.date,
            end_date,
            statuses,
        )


def _unreadable(path: Path, gtins: frozenset[str], error: InputError) -> Iterator[EarlierCall]:
    """Yield what may be known of an upsert whose journal cannot be read: the GTINs that are in it somewhere."""
    try:
        content = read_bytes(path, most=None)
    except OSError:
        return
    if here := tuple(sorted(gtin for gtin in gtins if gtin.encode() in content)):
        batch, at = Batch(here, "unknown", message=str(error)), changed_at(path)
        # Nothing else is known of its time than that of the file.
        yield EarlierCall(name_of(path), None, 0, batch, {}, {}, None, at, date=at + CLOCKS)


def _are_there(digests: Digests, there: Collection[str], record: Product) -> bool:
    """Whether a product shows all of some changes; of some it is known already."""
    if left := digests.difference(there):
        shown = shown_by(record)
        return all(is_shown(one, shown) for one in left)
    return True


def _call_states(calls: Collection[EarlierCall]) -> set[tuple[str, int, str, str | None]]:
    return {(one.name, one.number, one.batch.sent, one.batch.tracking) for one in calls}


def _concerns(plan: EarlierCall, place: Place) -> bool:
    return place[0] in map(gtin_key, plan.batch.gtins) and (
        plan.writes(place) if plan.edits else True  # products that were given as a whole
    )


def why_it_waits(call: EarlierCall, place: Place) -> str:
    """Say why a correction cannot be sent now."""
    until = 'also="unknown" (--also unknown) sends them now, if you know that it is over.'
    if call.ended is None and call.date is not None:
        moment = f"{call.date + LONGEST:%Y-%m-%d %H:%M} UTC"
        until = f"after {moment} by the clock of the service it is no longer waited for."
    return (
        f"{place[1]} of this product was written at {call.at:%Y-%m-%d %H:%M} UTC (upsert {call.name}), and the "
        f"service may still be importing that: another write now could undo it. Apply the answers again when it has "
        f"ended; {until}"
    )
