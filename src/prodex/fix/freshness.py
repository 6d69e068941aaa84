"""Whether what an answer is about still stands as the worklist showed it, or has changed meanwhile."""

from __future__ import annotations

from typing import Any

from prodex.fix import pictures
from prodex.fix.decisions import AnswerState, ConcernedProducts, Decision
from prodex.fix.shapes import AnswerShape
from prodex.fix.verdicts import Verdicts
from prodex.fix.waiting import awaited
from prodex.send.merge import texts_of
from prodex.send.records import DELETE, Product
from prodex.tables.values import moment_text
from prodex.text import composed


def still_asked(decision: Decision, products: ConcernedProducts, verdicts: Verdicts) -> Decision:
    """Return the answer, in conflict if what it answers has changed since the worklist was written."""
    if not decision.is_open or decision.product is None:
        return decision
    record, keys = products.records[decision.product], decision.answer.keys
    correction = decision.correction
    root = str(decision.attribute).partition(".")[0]
    if update := awaited(decision.attribute, products.waiting.get(decision.product, ())):
        return decision.becomes(
            AnswerState.CONFLICT,
            f"an update of {update} waits for acceptance (lastRequest) and may change it again. Answer after that.",
        )
    if _changes_nothing(decision, record):
        return decision.becomes(AnswerState.UNCHANGED, "the product has this value already.")
    seen, then = keys.get("value"), keys.get("updated_at")
    now = _moment(record.get("updatedAt"))
    if decision.shape is AnswerShape.TEXT and correction is not None:
        if decision.before is not None and seen is not None and alike(decision.before, seen):
            return decision
        if decision.before is None and not seen and decision.position is None:
            return decision
    # Where nothing was seen there is something now, whenever it came.
    is_filled = seen == "" and bool(decision.before)
    if then is not None and _moment(then) == now and not is_filled:
        return decision
    is_picture = decision.shape is AnswerShape.PICTURE and seen is not None
    if is_picture and pictures.is_there(record.get(root), str(decision.attribute), str(seen)):
        return decision
    if decision.check is None and seen is None and then is None:
        # A row of one's own asks for nothing and saw nothing.
        return decision
    asked = verdicts.findings.get((decision.product, decision.check or ""), ())
    is_there = any(
        one.attribute == keys.get("attribute")
        # A row without what was seen is about whatever the same check still finds in its language.
        and (alike(one.value, seen) or (seen is None and one.language in {None, decision.language}))
        for one in asked
    )
    # Positions move when texts are added: one that held another text then may be another text now.
    is_moved = (
        decision.shape is AnswerShape.TEXT and decision.position is not None and decision.before is not None
    )
    if is_there and not is_moved:
        return decision
    there = "nothing" if decision.before is None else repr(decision.before[:80])
    when = f" at {record['updatedAt']}" if record.get("updatedAt") else ""
    is_typed = not decision.answer.file
    since = "it was corrected here" if is_typed else "the worklist was written"
    what_to_do = (
        "Look at it, and correct it again." if is_typed else "Answer the next worklist, which shows it."
    )
    return decision.becomes(
        AnswerState.CONFLICT,
        f"the product was changed{when}, after {since}: there is now {there}"
        f"{f' in place of {seen[:80]!r}' if seen else ''}. {what_to_do}",
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
    correction = decision.correction
    if correction is None:
        return False
    present = record.get(correction.attribute.partition(".")[0])
    if correction.is_text:
        if correction.value is DELETE:
            # Positions move when texts are deleted: this one may be another by now.
            return decision.before is None and not _is_left(decision, present)
        return decision.before == str(correction.value)
    if callable(correction.value):
        return bool(correction.value(present) == present)
    return _same_value(present, None if correction.value is DELETE else correction.value)


def _is_left(decision: Decision, present: Any) -> bool:
    """Whether a text that is to be deleted is still there, whatever its position."""
    seen, attribute = decision.answer.keys.get("value"), str(decision.attribute)
    if decision.position is None or not seen:
        return decision.position is not None
    return any(
        one.attribute == attribute and one.language == decision.language and alike(one.item["data"], seen)
        for one in texts_of(present, attribute.partition(".")[0])
    )


def _same_value(present: Any, new: Any) -> bool:
    """Whether a value says the same; labels and descriptions beside a code say nothing more."""
    match present, new:
        case dict(), dict() if "code" in new:
            return bool(present.get("code") == new["code"])
        case {"data": held}, {"data": given}:
            return bool(held == given) and _same_value(present.get("expressedIn"), new.get("expressedIn"))
        case list(), list():
            return len(present) == len(new) and all(map(_same_value, present, new))
    return bool(present == new)


def alike(one: str | None, other: str | None) -> bool:
    """Whether two texts are the same, as far as a cell shows them."""
    if one is None or other is None:
        return one is other
    if " … [" in other and other.endswith("]"):  # the worklist showed the beginning
        return composed(one).startswith(composed(other.rpartition(" … [")[0]))
    return _visible(one) == _visible(other)


def _visible(text: str) -> str:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").strip().split("\n")
    return composed("\n".join(line.strip() for line in lines))


def _moment(text: Any) -> str | None:
    return None if text is None else moment_text(str(text)).replace(" ", "T").removesuffix("T00:00:00")[:19]
