"""The answers against the products as they are, the service's limits, and the rules that asked for them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType

import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog
from prodex.fix.agreement import agreed
from prodex.fix.decisions import AnswerState, ConcernedProducts, Confirmed, Decision, decided
from prodex.fix.evidence import alike
from prodex.fix.freshness import is_as_sent, still_asked
from prodex.fix.reading import Answer
from prodex.fix.shapes import AnswerShape
from prodex.fix.verdicts import Finding, Verdicts
from prodex.fix.waiting import Waiting
from prodex.quality.audit import Audit
from prodex.quality.profile import Profile
from prodex.quality.run import audit_among
from prodex.quality.states import State as Result
from prodex.send.changes import Changes, merged_changes
from prodex.send.merge import Correction, texts_of
from prodex.send.preflight import inspect
from prodex.send.records import DELETE, Product
from prodex.store.reading import flatten


@dataclass(frozen=True)
class JudgedAnswers:
    """The answers, and what the products would be with those that are accepted.

    Attributes
    ----------
    decisions
        Each answer with what becomes of it, in their order.
    changes
        The accepted ones, merged with what stands beside them.
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
    waiting: Waiting
    products: Collection[str] = ()


def judged_answers(
    answers: Sequence[Answer],
    products: ConcernedProducts,
    catalog: Catalog,
    profile: Profile,
    now: datetime,
    confirmed: Confirmed = MappingProxyType({}),
) -> JudgedAnswers | None:
    """Judge answers as they were read; None if there are none.

    `confirmed` has the questions that somebody has answered with yes; the other parameters are those of `judged`.
    """
    decisions = agreed(decided(answers, products, catalog, confirmed))
    return judged(decisions, products, catalog, profile, now) if answers else None


def judged(
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
        The answers; those that are not accepted stay as they are.
    products
        The products concerned.
    catalog
        The catalogue that has them, for rules that compare products.
    profile
        The checks.
    now
        The moment to which "older than" refers.
    """
    asked = {(one.product, one.check) for one in decisions if one.product and one.check}
    before = audit_among(
        catalog.where(product_id=list(products.records)), catalog, profile, now, progress=False
    )
    verdicts = Verdicts.of(before, asked)
    made = [still_asked(one, products, verdicts) for one in decisions]
    made = _sendable(made, products, catalog)
    while True:
        changes, made = _merged(made, products, catalog)
        after = _audit_after(changes, products, catalog, profile, now)
        verdicts = Verdicts.of(after, asked)
        satisfying = [_satisfying(one, verdicts, changes) for one in made]
        # Without an answer that is refused, others of its product may look different.
        if [one.state for one in satisfying] == [one.state for one in made]:
            return JudgedAnswers(
                tuple(satisfying), changes, before, after, products.waiting, tuple(products.records)
            )
        made = satisfying


def with_arrived(judged: JudgedAnswers, sent: JudgedAnswers, products: ConcernedProducts) -> JudgedAnswers:
    """Return answers that are judged again, unchanged where their attribute is now as it was sent.

    Positions move when a text is deleted, so the place of another one may not show that it has arrived.
    """
    written = dict(zip(sent.changes.loaded, sent.changes.records, strict=True))
    decisions = []
    for then, one in zip(sent.decisions, judged.decisions, strict=True):
        ours, theirs = written.get(str(one.product)), products.records.get(str(one.product))
        if then.state is AnswerState.ACCEPTED and ours and theirs and is_as_sent(then, ours, theirs):
            decisions.append(replace(one, state=AnswerState.UNCHANGED, reason="it has arrived."))
        else:
            decisions.append(one)
    return replace(judged, decisions=tuple(decisions))


def _sendable(decisions: Sequence[Decision], products: ConcernedProducts, catalog: Catalog) -> list[Decision]:
    """Return the answers, refused where one alone cannot be merged, or the service would not take it."""
    made = []
    for one in decisions:
        if one.state is not AnswerState.ACCEPTED or one.correction is None or one.product is None:
            made.append(one)
            continue
        alone = {one.product: [one.correction]}
        record = {one.product: products.records[one.product]}
        changes, refused = merged_changes(record, alone, products.known, catalog.origin)
        if refused:
            made.append(one.becomes(AnswerState.REFUSED, _without_gtin(refused[0][2])))
            continue
        errors = [
            finding
            for finding in inspect(changes.records, as_xml=False, known=changes.known)
            if finding.severity == "error"
        ]
        made.append(
            one.becomes(AnswerState.REFUSED, f"{errors[0].problem}. {errors[0].what_to_do}")
            if errors
            else one
        )
    return made


def _without_gtin(words: str) -> str:
    head, colon, rest = words.partition(": ")
    return rest if colon and head.startswith("GTIN ") else words


def _merged(
    decisions: Sequence[Decision], products: ConcernedProducts, catalog: Catalog
) -> tuple[Changes, list[Decision]]:
    """Merge the accepted answers of each product; those of a product where that fails are refused together."""
    corrections: dict[str, list[Correction]] = defaultdict(list)
    for one in decisions:
        if one.state is AnswerState.ACCEPTED and one.correction is not None and one.product is not None:
            corrections[one.product].append(one.correction)
    records = {product: products.records[product] for product in corrections}
    changes, refused = merged_changes(records, corrections, products.known, catalog.origin)
    why = {product: _without_gtin(words) for product, _, words in refused}
    made = [
        one.becomes(AnswerState.REFUSED, why[one.product])
        if one.product is not None and one.product in why
        else one
        for one in decisions
    ]
    return changes, made


def corrected(changes: Changes, products: ConcernedProducts) -> list[Product]:
    """Return the products concerned as they would be."""
    written = dict(zip(changes.loaded, changes.records, strict=True))
    made = []
    for product, record in products.records.items():
        new = {name: value for name, value in written.get(product, {}).items() if name != "gtin"}
        made.append(
            {name: value for name, value in (record | new).items() if value is not None or name not in new}
        )
    return made


def _audit_after(
    changes: Changes, products: ConcernedProducts, catalog: Catalog, profile: Profile, now: datetime
) -> Audit:
    made = replace(flatten(corrected(changes, products)), origin=catalog.origin)
    others = catalog.where(~pc.field("product_id").isin(pa.array(list(products.records), pa.string())))
    return audit_among(
        made, replace(catalog, parts=(*others.parts, *made.parts)), profile, now, progress=False
    )


def _satisfying(decision: Decision, verdicts: Verdicts, changes: Changes) -> Decision:
    """Return the answer, refused if the rule that asked for it would still find something at its place."""
    if decision.state is not AnswerState.ACCEPTED or decision.check is None or decision.product is None:
        return decision
    key = (decision.product, decision.check)
    match verdicts.results.get(key):
        case None:
            return replace(decision, note="not judged: the check is not part of the profile")
        case Result.UNKNOWN:
            return replace(decision, note="cannot be judged before the service has it")
        case Result.FAIL:
            for one in verdicts.findings.get(key, ()):
                if _is_about(decision, one, changes):
                    says = f": {one.reason}" if one.reason else ""
                    return decision.becomes(
                        AnswerState.REFUSED, f"the check {decision.check} would still fail{says}."
                    )
    return decision


def _is_about(decision: Decision, found: Finding, changes: Changes) -> bool:
    """Whether a finding is about the place of an answer, and not about another text beside it."""
    if found.attribute is not None and found.attribute != decision.answer.keys.get("attribute"):
        return False
    if None not in (decision.language, found.language) and found.language != decision.language:
        return False
    correction = decision.correction
    if decision.shape is not AnswerShape.TEXT or correction is None or found.value is None:
        return True
    if correction.value is not DELETE and alike(found.value, str(correction.value)):
        return True
    written = dict(zip(changes.loaded, changes.records, strict=True)).get(str(decision.product), {})
    root = correction.attribute.partition(".")[0]
    beside = [
        one
        for one in texts_of(written.get(root), root)
        if one.attribute == correction.attribute and one.language == decision.language
    ]
    return len(beside) < 2
