"""Sending answers once: what earlier upserts have sent of them is followed, and only the rest is sent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from prodex.changes import by_product
from prodex.errors import ChangesStale, ServiceError, UpsertStopped
from prodex.files.untrusted import is_file
from prodex.gtin import gtin_key
from prodex.languages import Message
from prodex.languages.message import sentences
from prodex.ledger.calls import LedgerCall
from prodex.ledger.change_digests import Digests, digests_of
from prodex.ledger.upsert_file import UpsertFile, file_named, new_name
from prodex.progress import Progress
from prodex.send.product_writes import Changes, Place
from prodex.send.records import Product
from prodex.send.sending_rule import Ruling, SentBefore, why_it_waits
from prodex.send.tracking import Tracking
from prodex.send.upsert import Author, Ruled, upsert_left
from prodex.service import Client
from prodex.worklists.answer_outcomes import AnswerState, Decision
from prodex.worklists.judging import ARRIVED, JudgedAnswers, only_together

#: States of products that certainly did not reach the service.
NOT_SENT = frozenset({"not sent", "refused"})
_NOT_TAKEN = frozenset({AnswerState.CONFLICT, AnswerState.REFUSED})


class SentAnswers:
    """What became of answers at the service.

    Attributes
    ----------
    judged
        The answers as they were judged when they were sent last; None before that.
    """

    def __init__(self) -> None:
        self.judged: JudgedAnswers | None = None
        self._digests: dict[int, Digests] = {}
        self._tracking: Tracking | None = None
        self._planned: tuple[Client, str] | None = None
        self._is_sending = False

    @property
    def tracking(self) -> Tracking | None:
        """The upsert that has sent them, from the moment when its plan is on disk."""
        if self._planned is None:
            return self._tracking
        # An interrupt is possible at any moment, so the disk decides whether there is a plan.
        service, name = self._planned
        if not is_file(path := file_named(name)):
            return self._tracking
        made = Tracking.of_upsert(service, UpsertFile(path))
        if not self._is_sending:
            self._tracking, self._planned = made, None
        return made

    @property
    def names(self) -> list[str]:
        """Names of the upserts that have sent some of them."""
        tracking = self.tracking
        return [] if tracking is None or tracking.name is None else [*tracking.continues, tracking.name]

    def outcomes(self, accepted: Iterable[tuple[int, str]]) -> dict[int, tuple[str, str]]:
        """Return status and message at the service of answers, by their number; none before they were sent.

        Parameters
        ----------
        accepted
            Number and key of the GTIN of each answer.
        """
        if (tracking := self.tracking) is None:
            return {}
        corrections, rows = tracking.corrections, tracking.products
        statuses = zip(rows["status"], rows["message"], strict=True)
        products = dict(zip(map(gtin_key, rows["gtin"]), statuses, strict=True))
        found = {}
        for number, gtin in accepted:
            digests = self._digests.get(number, frozenset())
            own = [corrections[gtin, one] for one in digests if (gtin, one) in corrections]
            found[number] = own[0] if own else products.get(gtin, ("not sent", "it was not planned"))
        return found

    def judge(
        self,
        asked: JudgedAnswers,
        newest: JudgedAnswers,
        products: Collection[Product],
        before: SentBefore,
    ) -> tuple[Changes, Ruling]:
        """Judge answers by what earlier upserts have sent; return what is left to send, and the ruling about the rest.

        Parameters
        ----------
        asked
            The answers as they were judged when they were read.
        newest
            The same by the products of now.
        products
            The products of now, as received.
        before
            What was sent of these products before.
        """
        records = {gtin_key(one.get("gtin")): one for one in products}
        gtins = _gtin_keys(newest.changes) | _gtin_keys(asked.changes)
        judged_before = [asked] if self.judged is None else [self.judged, asked]
        known: dict[Place, list[Digests]] = defaultdict(list)
        for judged in judged_before:
            for there, digests in judged.changes.places.items():
                known[there].append(digests)
        unchanged = {one: known[one] for one in _unchanged(asked, newest, gtins) if one in known}
        before.note_arrived(records, unchanged)
        ruling = before.rule(newest.changes.places, known, unchanged, records, self.names)
        held = _held_back(newest, gtins, ruling.waits)
        left = newest.changes.without(ruling.excluded | held.keys())
        for judged in reversed((newest, *judged_before)):
            self._digests |= _digests_of_answers(judged)
        decisions, sent_before = list(newest.decisions), set(ruling.followed)
        for number, (then, now) in enumerate(zip(asked.decisions, newest.decisions, strict=True)):
            place = _place_written(then, gtins)
            if then.state is not AnswerState.ACCEPTED or place is None:
                continue
            own = self._digests.get(number, frozenset())
            if place in ruling.followed:
                decisions[number] = _followed(then, now, ruling.followed[place])
            elif now.state is AnswerState.UNCHANGED and before.has_sent(ruling, place[0], own):
                decisions[number] = replace(now, state=AnswerState.ACCEPTED, reason="", note=ARRIVED)
            elif now.state in _NOT_TAKEN and (name := before.sent_by(place[0], own)) is not None:
                decisions[number] = _with_upsert(now, name)
            elif place in ruling.waits and now.state is AnswerState.ACCEPTED:
                call = ruling.waits[place]
                if not call.has(place[0], own):
                    decisions[number] = now.in_state(AnswerState.CONFLICT, why_it_waits(call, place))
                    continue
                sent_before.add(place)
            elif place in held and now.state is AnswerState.ACCEPTED:
                there = held[place]
                words = why_it_waits(ruling.waits[there], there)
                decisions[number] = now.in_state(AnswerState.CONFLICT, only_together(there[1], None, words))
        changes = left
        for judged in (newest, *judged_before):
            changes = changes.beside(judged.changes, sent_before)
        self.judged = replace(newest, decisions=tuple(decisions), changes=changes)
        return left, ruling

    def send(
        self,
        service: Client,
        left: Changes,
        before: SentBefore,
        ruling: Ruling,
        progress: Progress,
        products: Sequence[Product],
        author: Author,
    ) -> Tracking:
        """Send what is left of them, and keep the products as they were; the errors are those of `Fix.apply`."""
        tracking = self.tracking
        self._planned, self._is_sending = (service, new_name()), True
        try:
            ruled = Ruled(self._planned[1], before, ruling)
            made = upsert_left(service, left, ruled, progress, products, author)
        except ChangesStale as error:
            error.add_note("Or apply the answers again: they are judged by the products of then.")
            raise
        except UpsertStopped as error:
            # Some of them were sent.
            if isinstance(error.tracking, Tracking):
                self._tracking, self._planned = error.tracking, None
            raise
        except ServiceError:
            # Where nothing has arrived, there is nothing to follow.
            there = self.tracking
            has_sent = there is not None and not NOT_SENT.issuperset(there.statuses)
            self._tracking, self._planned = there if has_sent else tracking, None
            raise
        finally:
            self._is_sending = False
        self._tracking, self._planned = made, None
        return made

    def follow(self, service: Client, ruling: Ruling) -> Tracking:
        """Follow what was sent of them, where nothing is left to send."""
        made = ruling.tracking(service).refresh()
        self._tracking, self._planned = made, None
        return made


def _held_back(
    judged: JudgedAnswers, gtins: Mapping[str, str], waits: Collection[Place]
) -> dict[Place, Place]:
    """Return what cannot be sent without something that waits, with that: a text is moved as a whole, or not at all."""
    groups: dict[int, set[Place]] = defaultdict(set)
    for one in judged.decisions:
        place = _place_written(one, gtins)
        if one.answer.bound is not None and one.state is AnswerState.ACCEPTED and place is not None:
            groups[one.answer.bound].add(place)
    held = {place: place for place in waits}
    while True:
        # An attribute is written as a whole, so that whatever else is bound to one of it waits as well.
        more = {
            place: held[there]
            for places in groups.values()
            for there in sorted(places & held.keys())
            for place in places - held.keys()
        }
        if not more:
            return {place: there for place, there in held.items() if place not in waits}
        held |= more


def _followed(then: Decision, now: Decision, call: LedgerCall) -> Decision:
    """Return an answer that was sent before, as it is shown."""
    if now.state is AnswerState.UNCHANGED:
        return replace(now, state=AnswerState.ACCEPTED, reason="", note=ARRIVED)
    if now.state is AnswerState.ACCEPTED:
        return now
    # The import that is under way may have changed what the answer is about. Of a lost call nobody knows.
    if call.batch.tracking is not None:
        return then
    return _with_upsert(now, call.name)


def _with_upsert(decision: Decision, name: str | None) -> Decision:
    """Return an answer that was sent, or may have been, and that its product does not show."""
    sent_by = Message("The upsert {name} has sent this answer, or may have.", name=str(name))
    return replace(decision, reason=sentences(decision.reason, sent_by))


def _gtin_keys(changes: Changes) -> dict[str, str]:
    """Return the keys of the GTINs of products by their id."""
    return {product: gtin_key(one.gtin) for product, one in changes.writes.items()}


def _place_written(decision: Decision, gtins: Mapping[str, str]) -> Place | None:
    """Return what an answer writes, if it is known."""
    gtin = gtins.get(str(decision.product))
    if gtin is None or decision.said is None:
        return None
    return gtin, str(decision.attribute).partition(".")[0]


def _unchanged(asked: JudgedAnswers, newest: JudgedAnswers, gtins: Mapping[str, str]) -> set[Place]:
    """Return the places of accepted answers where the products of now have all that was answered."""
    states: dict[Place, set[AnswerState]] = defaultdict(set)
    for then, now in zip(asked.decisions, newest.decisions, strict=True):
        if then.state is AnswerState.ACCEPTED and (place := _place_written(then, gtins)) is not None:
            states[place].add(now.state)
    return {place for place, found in states.items() if found == {AnswerState.UNCHANGED}}


def _digests_of_answers(judged: JudgedAnswers) -> dict[int, Digests]:
    """Return the digests of the changes that each accepted answer makes, by its number."""
    by = by_product(judged.changes.changes)
    found: dict[int, Digests] = {}
    for number, one in enumerate(judged.decisions):
        if one.state is AnswerState.ACCEPTED and one.changes:
            paths = [change.path for change in one.changes]
            there = [change for change in by.get(str(one.product), ()) if change.path[:1] == paths[0][:1]]
            own = [change for change in there if any(change.path[: len(path)] == path for path in paths)]
            if own := own or there:
                found[number] = digests_of(own)
    return found
