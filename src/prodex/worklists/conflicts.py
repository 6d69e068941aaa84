"""Conflicts: whether the product still has what the worklist showed, and whether the worklist asked for the answer.

The value that the worklist showed is evidence: where the product now has another one, the answer is in conflict,
whenever the product was changed. The time of the last change decides only where the values cannot be compared.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import pyarrow as pa
import pyarrow.compute as pc

from prodex.languages import Message, Said
from prodex.languages.recognized import spellings
from prodex.locales import short_of
from prodex.quality.audit import Audit
from prodex.quality.failures import found_rows
from prodex.quality.reasons import read_reason
from prodex.quality.states import State
from prodex.send.merging import texts_at, texts_meant, texts_of
from prodex.send.records import Product
from prodex.worklists.answer_fields import IN_PLACE_OF
from prodex.worklists.answer_kinds import AnswerShape
from prodex.worklists.answer_outcomes import HAS_IT_ALREADY, AnswerState, ConcernedProducts, Decision
from prodex.worklists.evidence import alike, same_moment
from prodex.worklists.ownership import questions_about, refused_owner
from prodex.worklists.pending_updates import awaiting_attribute
from prodex.worklists.row_keys import RowKey, key_of, place_digest

#: Before the text that an answer replaces, where a row shows another one; see `Fields.hows`.
_REPLACED = spellings(IN_PLACE_OF)
_TYPED_OVER = Message(
    'It was typed over "Value seen", and "New value" is empty. Is it the new value? If so, write it into "New '
    'value", or confirm it.'
)
#: What a rule shows of these says which part is meant.
_IN_PART = frozenset({AnswerShape.PICTURE, AnswerShape.NUTRITION, AnswerShape.HIERARCHY})


def check_for_conflict(decision: Decision, products: ConcernedProducts, verdicts: Verdicts) -> Decision:
    """Return the answer, in conflict if what it answers has changed since the worklist was written.

    What its worklist did not ask for needs confirmation.
    """
    # An answer that needs confirmation is judged when it is confirmed; its product is not requested again before.
    product = str(decision.product)
    if not decision.is_open or product not in products.records:
        return decision
    if why := refused_owner(decision.answer, product, products.owners):
        return decision.in_state(AnswerState.REFUSED, why)
    record = products.records[product]
    if update := awaiting_attribute(decision.attribute, products.waiting.get(product, ())):
        return decision.in_state(
            AnswerState.CONFLICT,
            Message(
                "an update of {update} waits for acceptance and may change it again. Answer after that.",
                update=update,
            ),
        )
    if _changes_nothing(decision, record) and not _is_seen_replaced(decision):
        return decision.in_state(AnswerState.UNCHANGED, HAS_IT_ALREADY)
    if not _is_as_seen(decision, record, verdicts):
        return decision.in_state(AnswerState.CONFLICT, _what_changed(decision, record))
    questions = questions_about(
        decision.answer,
        product,
        decision.language,
        products.owners,
        is_asked=_is_asked(decision, verdicts),
    )
    if decision.answer.is_typed_over:
        decision = decision.needing_confirmation(_TYPED_OVER)
    for question in questions:
        decision = decision.needing_confirmation(question)
    return decision


def _is_as_seen(decision: Decision, record: Product, verdicts: Verdicts) -> bool:
    """Whether the place still holds what was seen, or, where that cannot be compared, the product is as it was."""
    keys = decision.answer.keys
    if decision.answer.is_typed_over:
        # Nobody knows what was seen there.
        known = _text_as_in_key(decision, key_of(keys))
        return _is_product_unchanged(decision, record) is not False if known is None else known
    # What was seen place by place was compared when the answer was understood.
    if decision.is_as_seen or decision.answer.seen is not None:
        return True
    is_shown = (
        _text_as_seen(decision, verdicts) if _is_text_answer(decision) else _value_as_seen(decision, verdicts)
    )
    if is_shown is not None:
        return is_shown
    is_unchanged = _is_product_unchanged(decision, record)
    if is_unchanged is not None:
        return is_unchanged
    if decision.check is None and not keys.get("value"):
        # A row of one's own asks for nothing and saw nothing.
        return True
    return any(_shows_the_same(decision, one) for one in _findings_at_place(decision, verdicts))


def _is_seen_replaced(decision: Decision) -> bool:
    """Whether somebody typed another text over what was seen: beside the text that is there, that is the answer."""
    seen, key = decision.answer.keys.get("value"), key_of(decision.answer.keys)
    if not _is_text_answer(decision) or not seen or key is None or decision.answer.is_typed_over:
        return False
    return not key.shows(seen) and not alike(decision.before or "", seen)


def _is_text_answer(decision: Decision) -> bool:
    return decision.shape is AnswerShape.TEXT


def _is_product_unchanged(decision: Decision, record: Product) -> bool | None:
    """Whether the product was not changed since; None where the worklist has no time of the last change."""
    then, now = decision.answer.keys.get("updated_at"), record.get("updatedAt")
    return None if then is None else same_moment(then, None if now is None else str(now))


def _text_as_in_key(decision: Decision, key: RowKey | None) -> bool | None:
    """Whether the text at a place is the one that the key of its row knows; None where it knows none."""
    if key is None or not key.place or not _is_text_answer(decision):
        return None
    return key.place == place_digest(decision.before)


def _text_as_seen(decision: Decision, verdicts: Verdicts) -> bool | None:
    keys, before = decision.answer.keys, decision.before
    key, seen = key_of(keys), keys.get("value")
    if seen is None and key is None:
        # Where nothing is, nothing is overwritten.
        return True if before is None and decision.position is None else None
    if seen is not None and alike(before or "", seen):
        return True
    if (known := _text_as_in_key(decision, key)) is not None:
        # What was typed over is no evidence.
        return known and (seen is None or key is None or key.shows(seen))
    for between in (one.removeprefix("{how}").removesuffix("{text}") for one in _REPLACED):
        _, is_replaced, replaced = keys.get("how", "").partition(between)
        if is_replaced:
            return alike(before, replaced)
    if before is None and decision.position is None and decision.language_code is not None and seen:
        # A finding names the language alone, so that it may be about the text of another country.
        return False
    # Positions move when texts are added: one that held another text then may be another text now.
    if before is None or decision.position is None:
        return any(_shows_the_same(decision, one) for one in _findings_at_place(decision, verdicts))
    return False


def _value_as_seen(decision: Decision, verdicts: Verdicts) -> bool | None:
    keys = decision.answer.keys
    key, seen = key_of(keys), keys.get("value")
    if seen is None:
        return None
    is_there = any(_shows_the_same(decision, one) for one in _findings_at_place(decision, verdicts))
    if decision.holds:
        return True
    if key is not None and not key.shows(seen):
        return False
    # A rule shows what it computes, and shows the same as long as the place is the same.
    if is_there and (seen or decision.shape in _IN_PART):
        return True
    if decision.holds is False and not (is_there and not seen):
        return False
    result = verdicts.result((str(decision.product), decision.check or ""))
    if result in {State.PASS, State.FAIL, State.NOT_APPLICABLE} and not is_there:
        return False
    return None


def _findings_at_place(decision: Decision, verdicts: Verdicts) -> tuple[Finding, ...]:
    """Return what the check of a row finds at its place."""
    found = verdicts.findings.get((str(decision.product), decision.check or ""), ())
    return tuple(
        one
        for one in found
        if one.attribute == decision.answer.keys.get("attribute")
        and (None in (one.language, decision.language) or short_of(str(one.language)) == decision.language)
    )


def _shows_the_same(decision: Decision, found: Finding) -> bool:
    """Whether a check shows what it showed then; of a row without what was seen nothing is known."""
    seen = decision.answer.keys.get("value")
    return seen is None or alike(found.value or "", seen)


def _is_asked(decision: Decision, verdicts: Verdicts) -> bool | None:
    """Whether the check of a row finds something at its place; None where it cannot be judged."""
    result = verdicts.result((str(decision.product), decision.check or ""))
    if result is None or result is State.UNKNOWN:
        return None
    return bool(_findings_at_place(decision, verdicts))


def _what_changed(decision: Decision, record: Product) -> Message:
    keys = decision.answer.keys
    seen, key = keys.get("value"), key_of(keys)
    root = str(decision.attribute).partition(".")[0]
    is_part = decision.shape in _IN_PART and record.get(root) is not None
    there: Said = Message("nothing") if decision.before is None else repr(decision.before[:80])
    there = Message("something else") if is_part else there
    if seen and key is not None and not key.shows(seen):
        return Message(
            "the value that was seen was typed over: there is now {there} in place of {seen}, which the worklist did "
            "not show. Take the row from the worklist again.",
            there=there,
            seen=repr(seen[:80]),
        )
    if seen:
        there = Message("{there} in place of {seen}", there=there, seen=repr(seen[:80]))
    moment = record.get("updatedAt")
    if not decision.answer.file:
        if moment:
            return Message(
                "the product was changed at {moment}, after it was corrected here: there is now {there}. Look at it, "
                "and correct it again.",
                moment=str(moment),
                there=there,
            )
        return Message(
            "the product was changed, after it was corrected here: there is now {there}. Look at it, and correct it "
            "again.",
            there=there,
        )
    if moment:
        return Message(
            "the product was changed at {moment}, after the worklist was written: there is now {there}. Answer the "
            "next worklist, which shows it.",
            moment=str(moment),
            there=there,
        )
    return Message(
        "the product was changed, after the worklist was written: there is now {there}. Answer the next worklist, "
        "which shows it.",
        there=there,
    )


def is_as_sent(decision: Decision, sent: Product, product: Product) -> bool:
    """Whether the texts of an attribute are now those that were sent, one by one."""
    root = str(decision.attribute).partition(".")[0]
    if decision.shape is not AnswerShape.TEXT or root not in sent:
        return False
    ours, theirs = (
        [
            (one.attribute, one.position, one.code, one.item["data"])
            for one in texts_of(record.get(root), root)
        ]
        for record in (sent, product)
    )
    return ours == theirs


def _changes_nothing(decision: Decision, record: Product) -> bool:
    said = decision.said
    # An exact answer was compared with the product when it was understood.
    if said is None or decision.answer.change is not None:
        return False
    if _is_text_answer(decision) and (not said or said.after is None):
        # Positions move when texts are deleted: this one may be another by now.
        return decision.before is None and not _is_left(decision, record)
    return said.is_there


def _is_left(decision: Decision, record: Product) -> bool:
    """Whether a text that is to be deleted is still there, whatever its position."""
    seen, attribute = decision.answer.keys.get("value"), str(decision.attribute)
    if decision.position is None or not seen:
        return decision.position is not None
    texts = texts_meant(texts_at(record, attribute), decision.language, decision.language_code)
    return any(alike(one.data, seen) for one in texts)


#: Product id and id of a check.
Asked = tuple[str, str]


class Finding(NamedTuple):
    """What a check found: the place, the value there, and why it fails; each as far as the rule says it."""

    attribute: str | None
    language: str | None
    value: str | None
    reason: Said | None

    @property
    def place(self) -> tuple[str | None, str | None]:
        """Attribute and language: what two audits have in common of a finding."""
        return self.attribute, self.language


@dataclass(frozen=True)
class Verdicts:
    """The results of an audit for some products.

    Attributes
    ----------
    states
        Of each product, in the order of the checks.
    checks
        The place of each check.
    findings
        What was found where a check fails.
    """

    states: Mapping[str, Sequence[int]]
    checks: Mapping[str, int]
    findings: Mapping[Asked, Sequence[Finding]]

    def result(self, asked: Asked) -> State | None:
        """Return the result of a check for a product; None where it was not judged."""
        product, check = asked
        if product not in self.states or check not in self.checks:
            return None
        return State(int(self.states[product][self.checks[check]]))

    @classmethod
    def of(cls, audit: Audit, products: Collection[str]) -> Self:
        """Return the results of an audit for some products."""
        wanted = frozenset(products)
        checks = {check.id: place for place, check in enumerate(audit.checks)}
        states = {
            product: row
            for part in audit.parts
            for product, row in zip(part.column("product_id").to_pylist(), part.states, strict=True)
            if product in wanted
        }
        findings: dict[Asked, list[Finding]] = defaultdict(list)
        names = ("product_id", "check", *Finding._fields)
        for part in audit.parts:
            rows = found_rows(part, audit.checks).select(names)
            rows = rows.filter(pc.is_in(rows["product_id"], pa.array(wanted, rows["product_id"].type)))
            for product, place, attribute, language, value, reason in zip(
                *rows.to_pydict().values(), strict=True
            ):
                why = read_reason(reason)
                found = Finding(attribute, language, value, why if str(why) else None)
                findings[product, audit.checks[place].id].append(found)
        return cls(states, checks, findings)

    def newly_found(self, before: Verdicts) -> Iterator[tuple[Asked, Finding]]:
        """Yield what is found here and was not before, with its product and check.

        A place that a check had found before is not new, whatever is found there now.
        """
        for asked, findings in self.findings.items():
            if self.result(asked) is not State.FAIL:
                continue
            there = Counter(one.place for one in before.findings.get(asked, ()))
            for one in findings:
                if there[one.place]:
                    there[one.place] -= 1
                else:
                    yield asked, one
