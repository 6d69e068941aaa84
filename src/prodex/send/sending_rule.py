"""The rule of sending: what is sent now of some corrections, what was sent already, and what has to wait.

For each place of a product, in this order:

1. While a part of an upsert is not sent, under way or unknown, its answered calls are never made again, whatever the
   place holds: they are followed. When all of it has ended and settled, the same correction is a new one.
2. The place holds what was to be written: it is done. It has arrived only where a call of ours may have written it.
3. The place holds what was seen: it waits while one of our calls may still arrive there, and is sent then.
4. Anything else is a conflict, as whoever judges the corrections says.

The corrections of an upsert are known again by their digests (`prodex.ledger.change_digests`), in any later process.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from prodex.errors import SnapshotLocked
from prodex.files.lock import locked
from prodex.gtin import gtin_key
from prodex.ledger.calls import LedgerCall, calls_with
from prodex.ledger.change_digests import Digests, attribute_of, is_shown, shown_by
from prodex.ledger.upsert_file import LONGEST, SETTLES, UpsertFile, ledger_folder, settling_time
from prodex.ledger.upserts import note_ended, note_settled, upserts_of_correction
from prodex.phrases import moment_in_words
from prodex.query import ProductQuery
from prodex.send.polling import ImportPolling
from prodex.send.product_writes import Place
from prodex.send.records import Product
from prodex.send.tracking import Tracking
from prodex.service import Client

#: Seconds to wait for another process that plans an upsert.
_PATIENCE = 10.0


@dataclass(frozen=True)
class Ruling:
    """What becomes of corrections.

    Attributes
    ----------
    followed
        What was sent already, and the call that it was sent by.
    waits
        What cannot be sent now, and the call that may still write something there.
    upserts
        The upserts that are of these corrections, the oldest first; one that sends the rest stays together with them.
    taken_over
        The calls of these that are not made any more, since the rest is sent anew, by name.
    """

    followed: Mapping[Place, LedgerCall]
    waits: Mapping[Place, LedgerCall]
    upserts: tuple[UpsertFile, ...]
    taken_over: Mapping[str, Collection[int]]

    @property
    def excluded(self) -> frozenset[Place]:
        """What is not sent now."""
        return frozenset({*self.followed, *self.waits})

    @contextmanager
    def taking_over(self, before: SentBefore, name: str) -> Iterator[None]:
        """Give the calls that are taken over to an upsert of this name, whose plan is written meanwhile.

        Raises
        ------
        SnapshotLocked
            When another process is sending some of them, or plans to.
        """
        with ExitStack() as stack:
            # Two processes that plan at the same time would not see each other's plan.
            stack.enter_context(locked(ledger_folder(), "planning an upsert", patience=_PATIENCE))
            if not before.is_current():
                raise SnapshotLocked(
                    "Another process has begun to send some of these products. Nothing was sent from here: wait for "
                    "its end, and apply the answers again."
                )
            taken = [one for one in self.upserts if one.name in self.taken_over]
            for file in taken:
                # Kept until the new plan is on disk: until then the old one could still be sent.
                stack.enter_context(file.exclusive())
                file.continue_by(name, self.taken_over[file.name])
            yield
            for file in taken:
                _discard_if_done(file)

    def tracking(self, service: Client) -> Tracking:
        """Return the state of what was sent."""
        *earlier, last = self.upserts
        return Tracking(service, last.batches(), file=last, earlier=earlier)


@dataclass(frozen=True)
class SentBefore:
    """What the upserts from this machine have sent of some products, or may have.

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
    calls: tuple[LedgerCall, ...]
    date: datetime | None

    @classmethod
    def look(cls, service: Client, gtins: Collection[str], *, gives_up_lost: bool = False) -> SentBefore:
        """Read the ledger, and request the imports that may still be running.

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
        calls = calls_with(service.base_url, service.fingerprint, keys)
        for one in calls:
            if one.file is not None and one.file.is_busy:
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
        for one in calls_with(service.base_url, service.fingerprint, keys):
            record = polling.records.get(one.batch.tracking or "")
            is_new = one.ended is None and one.batch.tracking in ended
            over, over_date = (now, date) if is_new else (one.ended, one.ended_date)
            statuses = one.statuses if record is None or not over else polling.outcome(one.batch).statuses
            is_lost = one.batch.sent == "unknown" or one.batch.tracking in polling.problems
            # An import that was seen to end and that the service does not know any more says nothing: it was reset.
            # One that could not be requested just now has ended all the same, and is not sent again.
            problem = polling.problems.get(one.batch.tracking or "")
            if gives_up_lost and getattr(problem, "status", None) == 404:
                over = None
            gives_up = gives_up_lost and (is_lost if over is None else over_date is None or date is None)
            seen.append(
                replace(one, ended=over, ended_date=over_date, statuses=statuses, is_given_up=gives_up)
            )
        for file in {one.name: one.file for one in seen if one.file is not None}.values():
            note_settled(file, date)
        return cls(service, keys, tuple(seen), date)

    def is_current(self) -> bool:
        """Whether no other process has sent any of these products, or planned to, since this was read."""
        # Whatever another process does is a new state; one that is over is not read again.
        now = calls_with(self.service.base_url, self.service.fingerprint, self.gtins)
        return _states(now) <= _states(self.calls)

    def sent_by(self, gtin: str, changes: Digests) -> str | None:
        """Return the name of the last upsert that has sent these changes of a product, or may have."""
        names = [one.name for one in self.calls if not one.is_plan and one.has(gtin, changes)]
        return names[-1] if names else None

    def rule(
        self,
        sending: Mapping[Place, Digests],
        known: Mapping[Place, Collection[Digests]],
        unchanged: Collection[Place],
        records: Mapping[str, Product],
        own: Collection[str] = (),
    ) -> Ruling:
        """Return what becomes of corrections, by the rule of this module.

        Parameters
        ----------
        sending
            What the products of now still need: their places hold what was seen.
        known
            What was to be sent before, or was sent.
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
        # The calls with the same correction.
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
            is_there = place in unchanged and place not in sending
            of = begun if place in sending else {one.name for one in calls if place in unchanged}
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
                    one.writes(*place) and (one.is_plan or self._is_given_up(one, place)) for place in left
                )
            ):
                taken_over[one.name].add(one.number)
        names = {*taken_over, *(call.name for call in followed.values())}
        names |= {one.name for place in left for one in same[place] if one.name in begun}
        # Some of what waits may be what is under way.
        for place, call in waits.items():
            if call.changes.get(place[0], frozenset()) & sending[place]:
                names.add(call.name)
        return Ruling(followed, waits, self._upserts(names), taken_over)

    def has_sent(self, ruling: Ruling, gtin: str, changes: Digests) -> bool:
        """Whether an upsert of a ruling has these changes of a product in a call that arrived, or may have."""
        names = {one.name for one in ruling.upserts}
        return any(one.name in names and not one.is_plan and one.has(gtin, changes) for one in self.calls)

    def note_arrived(
        self, records: Mapping[str, Product], unchanged: Mapping[Place, Collection[Digests]]
    ) -> None:
        """Record which products the service has as they were sent, although it does not say what became of a call.

        Parameters
        ----------
        records
            The products of now, by the key of their GTIN.
        unchanged
            Changes that the products of now have already.
        """
        there: dict[str, set[str]] = defaultdict(set)
        for (gtin, _), found in unchanged.items():
            there[gtin].update(*found)
        for one in self.calls:
            if one.is_plan or one.ended is not None or one.file is None:
                continue
            gtins = [
                gtin
                for gtin in one.batch.gtins
                if (changes := one.changes.get(key := gtin_key(gtin)))
                and _are_there(changes, there[key], records.get(key, {}))
            ]
            if not one.batch.arrived.issuperset(gtins):
                with one.file.exclusive():
                    one.file.note_arrived(one.number, gtins)
                    _discard_if_done(one.file)

    def _begun(
        self,
        same: Mapping[Place, Collection[LedgerCall]],
        sending: Collection[Place],
        records: Mapping[str, Product],
    ) -> Iterator[str]:
        """Yield the names of the upserts that have not ended: a part is not sent, is under way, or was lost."""
        for place, calls in same.items():
            for one in calls:
                was_lost = place in sending and self._is_given_up(one, place)
                if one.is_plan or was_lost or self._may_be_under_way(one, place[0], records, SETTLES):
                    yield one.name

    def _is_superseded(self, call: LedgerCall, place: Place) -> bool:
        """Whether a later call has written something else there, and has ended: then this one is long over.

        The time stamp of the product does not say so where both came within its resolution, often a second.
        """
        # What may still arrive, or was only planned, is not over.
        if call.ended is None or call.is_plan:
            return False
        gtin, _ = place
        return any(
            later.at > call.at
            and later.ended is not None
            and not later.is_plan
            and later.statuses.get(gtin) != "ERROR"
            and _at(call, place) != _at(later, place)
            for later in self.calls
            if later.changes.get(gtin) and later.writes(*place)
        )

    def _is_given_up(self, call: LedgerCall, place: Place) -> bool:
        """Whether nobody ever saw what became of a call, and it cannot be under way any more."""
        is_over = call.ended is None and (call.is_given_up or call.is_over(self.date))
        return is_over and not call.is_plan and not call.has_arrived(place[0])

    def _of_one_upsert(self, names: Collection[str]) -> set[str]:
        """Return these upserts, with those that they continue and those that continue them."""
        found = set(names)
        files = {one.name: one.file for one in self.calls if one.file is not None}
        # The oldest first: a later one names all that it continues.
        for name, file in sorted(files.items()):
            if name in found or not found.isdisjoint(file.plan.continues):
                found |= {name, *file.plan.continues}
        return found

    def _followed(
        self,
        place: Place,
        calls: Collection[LedgerCall],
        of: Collection[str],
        records: Mapping[str, Product],
        *,
        is_there: bool,
    ) -> LedgerCall | None:
        """Return the last call that has sent the correction of a place, if it is of these upserts or under way."""
        found = None
        for one in calls:
            # What the product has shows that a call has arrived, although somebody had given it up.
            is_settled = one.name in of and (is_there or not self._is_given_up(one, place))
            if not one.is_plan and (is_settled or self._may_be_under_way(one, place[0], records, SETTLES)):
                found = one
        return found

    def _in_the_way(self, place: Place, records: Mapping[str, Product]) -> LedgerCall | None:
        """Return a call that may still write other values to a place."""
        settles = settling_time(self.service.base_url)
        for one in reversed(self.calls):
            if not one.writes(*place) or not self._may_be_under_way(one, place[0], records, settles):
                continue
            changes = one.changes.get(place[0])
            if not changes or not _are_there(changes, (), records.get(place[0], {})):
                return one
        return None

    def _may_be_under_way(
        self, call: LedgerCall, gtin: str, records: Mapping[str, Product], settles: timedelta
    ) -> bool:
        updated_at = records.get(gtin, {}).get("updatedAt")
        return call.may_be_under_way(gtin, self.date, updated_at, settles)

    def _upserts(self, names: Collection[str]) -> tuple[UpsertFile, ...]:
        found = {one.name: one.file for one in self.calls if one.file is not None}
        upserts = {name: found[name] for name in names if name in found}
        for one in list(upserts.values()):
            upserts |= {other.name: other for other in upserts_of_correction(one)}
        return tuple(upserts[name] for name in sorted(upserts))


def _discard_if_done(file: UpsertFile) -> None:
    if all(batch.is_done for batch in file.batches()):
        file.discard_payloads()


def _at(call: LedgerCall, place: Place) -> Digests:
    gtin, attribute = place
    return frozenset(one for one in call.changes.get(gtin, ()) if attribute_of(one) == attribute)


def _are_there(changes: Digests, there: Collection[str], record: Product) -> bool:
    """Whether a product shows all of some changes; of some it is known already."""
    if left := changes.difference(there):
        shown = shown_by(record)
        return all(is_shown(one, shown) for one in left)
    return True


def _states(calls: Collection[LedgerCall]) -> set[tuple[str, int, str, str | None]]:
    return {(one.name, one.number, one.batch.sent, one.batch.tracking) for one in calls}


def why_it_waits(call: LedgerCall, place: Place) -> str:
    """Say why a correction cannot be sent now."""
    until = 'also="unknown" (--also unknown) sends them now, if you know that it is over.'
    if call.ended is None and call.date is not None:
        moment = moment_in_words(call.date + LONGEST, zone=UTC)
        until = f"after {moment} by the clock of the service it is no longer waited for."
    return (
        f"{place[1]} of this product was written at {moment_in_words(call.at, zone=UTC)} (upsert {call.name}), and the "
        f"service may still be importing that: another write now could undo it. Apply the answers again when it has "
        f"ended; {until}"
    )
