"""Judging answers: against the products as they are, the limits of the service, and the rules that asked for them.

Accepted answers are merged with the values beside them, and the products that result are audited. An answer is refused
where the check that asked for it would still fail, and has to be confirmed where another check would newly fail.
Answers that give different values for one place are in conflict.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import islice
from types import MappingProxyType
from typing import Any, NamedTuple

from prodex.catalog import Catalog
from prodex.catalog.where import without_products
from prodex.changes import Change
from prodex.languages import Message, Said
from prodex.languages.message import sentences
from prodex.quality.audit import Audit
from prodex.quality.profile import Profile
from prodex.quality.run import audit_among
from prodex.quality.states import State as Result
from prodex.send.merging import texts_at
from prodex.send.preflight import inspect_products
from prodex.send.product_writes import Changes, merge_changes
from prodex.send.records import Product
from prodex.store.reading import flatten
from prodex.worklists.answer_kinds import AnswerShape
from prodex.worklists.answer_outcomes import (
    AnswerState,
    ConcernedProducts,
    Confirmed,
    Decision,
    decide_answers,
)
from prodex.worklists.conflicts import Finding, Verdicts, check_for_conflict, is_as_sent
from prodex.worklists.evidence import alike
from prodex.worklists.pending_updates import PendingUpdates
from prodex.worklists.returned_files import Answer

#: The note of an answer that was sent, and that its product shows.
ARRIVED = Message("it has arrived.")


@dataclass(frozen=True)
class JudgedAnswers:
    """The answers, and what the products would be with those that are accepted.

    Attributes
    ----------
    decisions
        Each answer with what becomes of it, in their order.
    changes
        The accepted ones, merged with the values beside them.
    before, after
        The audit of the products concerned, as they are and as they would be.
    waiting
        The attributes of which an update waits, by the id of their product.
    products
        Ids of the products concerned.
    """

    decisions: tuple[Decision, ...]
    changes: Changes
    before: Audit
    after: Audit
    waiting: PendingUpdates
    products: Collection[str] = ()


def judge_answers(
    answers: Sequence[Answer],
    products: ConcernedProducts,
    catalog: Catalog,
    profile: Profile,
    now: datetime,
    confirmed: Confirmed = MappingProxyType({}),
) -> JudgedAnswers | None:
    """Judge answers as they were read; None if there are none.

    `confirmed` has the questions that somebody has answered with yes; the other parameters are those of
    `judge_decisions`.
    """
    decisions = mark_contradictions(decide_answers(answers, products, catalog, confirmed))
    return judge_decisions(decisions, products, catalog, profile, now) if answers else None


def judge_decisions(
    decisions: Sequence[Decision],
    products: ConcernedProducts,
    catalog: Catalog,
    profile: Profile,
    now: datetime,
) -> JudgedAnswers:
    """Judge answers that are understood.

    Parameters
    ----------
    decisions
        The answers; those that are closed, or about other products, stay as they are.
    products
        The products concerned.
    catalog
        The catalogue that has them, for rules that compare products.
    profile
        The checks.
    now
        The moment to which "older than" refers.
    """
    before = audit_among(
        catalog.where(product_id=list(products.records)), catalog, profile, now, progress=False
    )
    at_present = Verdicts.of(before, products.records)
    made = [
        check_for_conflict(one, products, at_present) if one.product in products.records else one
        for one in decisions
    ]
    made, together = _sendable(made, products, catalog)
    made = _bound(made)
    trial = partial(
        _tried,
        products=products,
        catalog=catalog,
        profile=profile,
        before=at_present,
        present=before,
        together=together,
    )
    # First with what needs confirmation, so that all its questions are known before somebody answers one of them.
    made, changes, after = trial(made, {AnswerState.ACCEPTED, AnswerState.NEEDS_CONFIRMATION})
    if any(one.state is AnswerState.NEEDS_CONFIRMATION for one in made):
        made, changes, after = trial(made, {AnswerState.ACCEPTED})
    return JudgedAnswers(tuple(made), changes, before, after, products.waiting, tuple(products.records))


def _tried(
    decisions: Sequence[Decision],
    states: Collection[AnswerState],
    *,
    products: ConcernedProducts,
    catalog: Catalog,
    profile: Profile,
    before: Verdicts,
    present: Audit,
    together: Merge,
) -> tuple[list[Decision], Changes, Audit]:
    """Return the answers, the changes by those in some states, and the audit that the products would then have.

    An answer is refused where the rule that asked for it would still fail, and to be confirmed where another would.
    """
    made = list(decisions)
    while True:
        # What was merged to see what can be sent need not be merged once more.
        if together.of == _numbers_of(made, states):
            changes = together.changes
        else:
            changes, made = _merged(made, states, products, catalog)
        # Without a check the products need not be read again: nothing is found in them.
        after = _audit_after(changes, products, catalog, profile, present) if profile.every_check else present
        verdicts = Verdicts.of(after, products.records)
        satisfying = [_satisfying(one, verdicts, changes) if one.state in states else one for one in made]
        satisfying = _bound(_breaking_nothing(satisfying, states, before, verdicts, after))
        # Without an answer that is refused, others of its product may look different.
        if [one.state in states for one in satisfying] == [one.state in states for one in made]:
            return satisfying, changes, after
        made = satisfying


def _bound(decisions: Sequence[Decision]) -> list[Decision]:
    """Return the answers; of those that are sent together, none is sent if another is not, or not yet."""
    made = list(decisions)
    groups: dict[int, list[int]] = defaultdict(list)
    for number, one in enumerate(decisions):
        if one.answer.bound is not None:
            groups[one.answer.bound].append(number)
    for group in groups.values():
        closed = [made[number] for number in group if made[number].state in _NOT_TAKEN]
        asked = [made[number] for number in group if made[number].state is AnswerState.NEEDS_CONFIRMATION]
        for number in group:
            if closed:
                made[number] = made[number].in_state(closed[0].state, _only_together(closed[0]))
            elif asked and made[number].state is AnswerState.ACCEPTED:
                made[number] = made[number].needing_confirmation(
                    sentences(_only_together(asked[0]), Message("Is it meant?"))
                )
    return made


_NOT_TAKEN = frozenset({AnswerState.REFUSED, AnswerState.CONFLICT})


def only_together(path: str, language: str | None, why: Said) -> Message:
    """Say that something is sent only together with something else, which is not, and why."""
    if language:
        return Message(
            "it is sent only together with what becomes of {path} in {code}: {said}",
            path=path,
            code=language,
            said=why,
        )
    return Message("it is sent only together with what becomes of {path}: {said}", path=path, said=why)


def _only_together(other: Decision) -> Message:
    language = other.language or other.answer.keys.get("language")
    return only_together(str(other.attribute), language, other.reason)


def _breaking_nothing(
    decisions: Sequence[Decision],
    states: Collection[AnswerState],
    before: Verdicts,
    after: Verdicts,
    audit: Audit,
) -> list[Decision]:
    """Return the answers, to be confirmed where a check finds something with them that it did not find before."""
    sent: dict[str, list[int]] = defaultdict(list)
    for number, one in enumerate(decisions):
        if one.state in states and one.product is not None and one.said is not None:
            sent[one.product].append(number)
    problems = {check.id: check.problem for check in audit.checks}
    made = list(decisions)
    for (product, check), found in after.newly_found(before):
        answers = sent.get(product, [])
        here = [number for number in answers if _is_at_its_place(made[number], found)]
        if not here and not _only_asks_for_more([made[number] for number in answers], found):
            here = answers
        for number in here:
            made[number] = made[number].needing_confirmation(_newly_found(problems[check], found.reason))
    return made


def _newly_found(problem: Message, why: Said | None) -> Message:
    if why:
        return Message(
            "With this answer, a check would find something that it does not find now: {said} ({why}). Is it meant?",
            said=problem,
            why=why,
        )
    return Message(
        "With this answer, a check would find something that it does not find now: {said}. Is it meant?",
        said=problem,
    )


def _only_asks_for_more(answers: Sequence[Decision], found: Finding) -> bool:
    """Whether a finding is that something is missing beside a text that was missing, too.

    The first French description asks for a Dutch one, which is no fault of it. Another kind of product asks for other
    data as well, and that may be a mistake.
    """
    texts = [one for one in answers if one.shape is AnswerShape.TEXT]
    root = (found.attribute or "").partition(".")[0]
    same = any(str(one.attribute).partition(".")[0] == root for one in texts)
    return found.value is None and (same or len(texts) == len(answers))


def _is_at_its_place(decision: Decision, found: Finding) -> bool:
    """Whether a finding is about the attribute of an answer, in its language."""
    if decision.attribute is None or found.attribute is None:
        return False
    same = found.attribute.partition(".")[0] == decision.attribute.partition(".")[0]
    return same and (None in (found.language, decision.language) or found.language == decision.language)


def mark_arrived(judged: JudgedAnswers, sent: JudgedAnswers, products: ConcernedProducts) -> JudgedAnswers:
    """Return answers that are judged again, unchanged where their attribute is now as it was sent.

    Positions move when a text is deleted, so the place of another one may not show that it has arrived.
    """
    decisions = []
    for then, one in zip(sent.decisions, judged.decisions, strict=True):
        ours, theirs = sent.changes.writes.get(str(one.product)), products.records.get(str(one.product))
        if then.state is AnswerState.ACCEPTED and ours and theirs and is_as_sent(then, ours.record, theirs):
            decisions.append(replace(one, state=AnswerState.UNCHANGED, reason=ARRIVED))
        else:
            decisions.append(one)
    return replace(judged, decisions=tuple(decisions))


class Merge(NamedTuple):
    """Answers that were merged together, by their numbers, and the changes that they make."""

    of: frozenset[int]
    changes: Changes


def _numbers_of(decisions: Sequence[Decision], states: Collection[AnswerState]) -> frozenset[int]:
    """Return the numbers of the answers in some states that change something."""
    return frozenset(
        number for number, one in enumerate(decisions) if one.state in states and one.said is not None
    )


def _sendable(
    decisions: Sequence[Decision], products: ConcernedProducts, catalog: Catalog
) -> tuple[list[Decision], Merge]:
    """Return the answers, refused where one alone cannot be merged, or the service would not take it; and their merge.

    All answers of each product are merged first; only where that fails, each is tried alone.
    """
    states = {AnswerState.ACCEPTED, AnswerState.NEEDS_CONFIRMATION}
    decisions = [
        one.in_state(AnswerState.REFUSED, one.obstacle) if one.obstacle else one for one in decisions
    ]
    changes, tried = _merged(decisions, states, products, catalog)
    failed = {
        one.product for one, other in zip(decisions, tried, strict=True) if one.state is not other.state
    }
    made = [
        _merged([one], states, products, catalog)[1][0] if one.product in failed else one for one in decisions
    ]
    places = [number for number, one in enumerate(made) if one.product in failed]
    others, tried = _merged([made[number] for number in places], states, products, catalog)
    for number, one in zip(places, tried, strict=True):
        made[number] = one
    return made, Merge(
        _numbers_of(made, states), replace(changes, writes={**changes.writes, **others.writes})
    )


def _merged(
    decisions: Sequence[Decision],
    states: Collection[AnswerState],
    products: ConcernedProducts,
    catalog: Catalog,
) -> tuple[Changes, list[Decision]]:
    """Merge the answers of each product in some states; those of a product where that fails are refused together."""
    asked: dict[str, list[Change]] = defaultdict(list)
    for one in decisions:
        product = str(one.product)
        if one.state in states and product in products.records:
            asked[product] += one.changes
    changes, refused = merge_changes(products.records, asked, products.known, catalog.origin)
    why: dict[str, Said] = {product: words for product, _, words in refused}
    # Each answer alone may be fine, and all of them take away the last name.
    of_gtins = {one.gtin: one.product for one in changes.writes.values()}
    for finding in inspect_products(changes.records, as_xml=False, filled=changes.filled):
        if finding.severity == "error" and (own := of_gtins.get(str(finding.gtin))) is not None:
            said = Message("{said}. {further}", said=finding.problem, further=finding.what_to_do)
            why.setdefault(own, said)
    sendable = {product: one for product, one in changes.writes.items() if product not in why}
    made = [
        one.in_state(AnswerState.REFUSED, why[one.product])
        if one.product is not None and one.product in why and one.state in states
        else one
        for one in decisions
    ]
    return replace(changes, writes=sendable), made


def correct_products(changes: Changes, products: ConcernedProducts) -> list[Product]:
    """Return the products concerned as they would be."""
    made = []
    for product, record in products.records.items():
        write = changes.writes.get(product)
        new = {} if write is None else {name: one for name, one in write.record.items() if name != "gtin"}
        made.append(
            {name: value for name, value in (record | new).items() if value is not None or name not in new}
        )
    return made


def products_after(answers: Sequence[Answer], products: ConcernedProducts, catalog: Catalog) -> Catalog:
    """Return the products concerned as they would be with all answers that nothing but a question speaks against."""
    decisions = mark_contradictions(decide_answers(answers, products, catalog))
    states = {AnswerState.ACCEPTED, AnswerState.NEEDS_CONFIRMATION}
    return _flattened(_merged(decisions, states, products, catalog)[0], products, catalog)


def _flattened(changes: Changes, products: ConcernedProducts, catalog: Catalog) -> Catalog:
    return replace(flatten(correct_products(changes, products)), origin=catalog.origin)


def _audit_after(
    changes: Changes, products: ConcernedProducts, catalog: Catalog, profile: Profile, before: Audit
) -> Audit:
    # They are the same products, chosen in the same way.
    chosen = None if before.catalog is None else before.catalog.chosen
    made = replace(_flattened(changes, products, catalog), chosen=chosen)
    others = without_products(catalog, products.records)
    return audit_among(
        made, replace(catalog, parts=(*others, *made.parts)), profile, before.now, progress=False
    )


def _satisfying(decision: Decision, verdicts: Verdicts, changes: Changes) -> Decision:
    """Return the answer, refused if the rule that asked for it would still find something at its place."""
    if not decision.is_open or decision.check is None or decision.product is None:
        return decision
    key = (decision.product, decision.check)
    match verdicts.result(key):
        case None:
            return replace(decision, note=Message("not judged: the check is not part of the profile"))
        case Result.UNKNOWN:
            return replace(decision, note=Message("cannot be judged before the service has it"))
        case Result.FAIL:
            for one in verdicts.findings.get(key, ()):
                if _is_about(decision, one, changes):
                    return decision.in_state(AnswerState.REFUSED, _would_fail(decision.check, one.reason))
    return decision


def _would_fail(check: str, why: Said | None) -> Message:
    if why:
        return Message("the check {check} would still fail: {said}.", check=check, said=why)
    return Message("the check {check} would still fail.", check=check)


def _is_about(decision: Decision, found: Finding, changes: Changes) -> bool:
    """Whether a finding is about the place of an answer, and not about another text beside it."""
    if found.attribute is not None and found.attribute != decision.answer.keys.get("attribute"):
        return False
    if None not in (decision.language, found.language) and found.language != decision.language:
        return False
    if decision.shape is not AnswerShape.TEXT or not decision.said or found.value is None:
        return True
    if decision.after is not None and alike(found.value, decision.after):
        return True
    write = changes.writes.get(str(decision.product))
    written = {} if write is None else write.record
    beside = [one for one in texts_at(written, str(decision.attribute)) if one.language == decision.language]
    return len(beside) < 2


#: The values that answers give for one place, each with the numbers of these answers.
_Answers = Mapping[Any, Sequence[int]]


def mark_contradictions(decisions: Sequence[Decision]) -> list[Decision]:
    """Mark the answers that give different values for one place as conflicts; equal answers count as one.

    Answers are grouped by place and value, so that thousands about one place are not compared pair by pair.
    """
    claims = [one.claims if one.is_open else {} for one in decisions]
    # Nearly every place is in one answer, of which nothing has to be compared.
    times = Counter(place for own in claims for place in own)
    places: dict[tuple[Any, ...], dict[Any, list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, own in enumerate(claims):
        for place, value in own.items():
            if times[place] > 1:
                places[place][value].append(number)
    made = list(decisions)
    for number, (one, own) in enumerate(zip(decisions, claims, strict=True)):
        values_by_place = [(places[place], value) for place, value in own.items() if times[place] > 1]
        found = (other for values, value in values_by_place for other in _other_answers(values, value))
        others = list(dict.fromkeys(islice(found, 3)))
        if others:
            where = ", ".join(
                f"{answer.place} says {answer.text!r:.60}" for answer in _answers_at(decisions, others)
            )
            made[number] = one.in_state(
                AnswerState.CONFLICT,
                Message(
                    "another answer to the same says something else: {answers}. Keep one of them.",
                    answers=where,
                ),
            )
        elif 0 < len(own) == len(values_by_place) and all(
            values[value][0] < number for values, value in values_by_place
        ):
            first = decisions[max(values[value][0] for values, value in values_by_place)].answer
            made[number] = one.in_state(
                AnswerState.UNCHANGED, Message("the same answer as {place}.", place=first.place)
            )
    return made


def _other_answers(values: _Answers, own: Any) -> Iterator[int]:
    """Yield the answers that say something else."""
    return (number for value, numbers in values.items() if value != own for number in numbers)


def _answers_at(decisions: Sequence[Decision], numbers: Sequence[int]) -> Iterator[Answer]:
    return (decisions[number].answer for number in numbers)
