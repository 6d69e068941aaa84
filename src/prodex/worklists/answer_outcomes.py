"""What becomes of each answer: accepted, unchanged, refused, or in conflict with something, each with the reason.

An answer is accepted on evidence only: its row names one product and one place, the place still holds what the worklist
showed, no other answer says otherwise, the service would take it, and the rule that asked for it is satisfied.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import reduce
from types import MappingProxyType
from typing import Any

from prodex import gtin
from prodex.catalog import Catalog
from prodex.changes import (
    ABSENT,
    Change,
    Item,
    PlaceChanged,
    check,
    in_words,
    indexed,
    is_made,
    is_nothing,
    path_after,
    sides_in_words,
    value_at,
)
from prodex.changes.change import Path
from prodex.errors import InputError
from prodex.languages import Message, Said
from prodex.languages.message import said_by, sentences
from prodex.locales import short_of, tag_of
from prodex.phrases import nearest
from prodex.quality.misread_letters import misread
from prodex.send.known_products import KnownProducts
from prodex.send.merging import TextPlace
from prodex.send.records import Product
from prodex.tables.values import halves_of
from prodex.worklists import hierarchy_answers, nutrition_answers, picture_answers
from prodex.worklists.answer_changes import AnswerChange, AnswerChanges
from prodex.worklists.answer_kinds import NEVER_WRITTEN, AnswerShape, Shapes, why_never_written, without_code
from prodex.worklists.answer_parsing import AnswerInConflict, AnswerRefused, Vocabulary
from prodex.worklists.confirmation_questions import (
    question_of_code,
    question_of_date,
    question_of_language,
    question_of_misread,
    question_of_remark,
)
from prodex.worklists.evidence import has_value_seen
from prodex.worklists.item_answers import read_item_answer
from prodex.worklists.items import ItemEvidence, is_code
from prodex.worklists.ownership import Owners
from prodex.worklists.pending_updates import PendingUpdates
from prodex.worklists.returned_files import Answer, CellPlace
from prodex.worklists.retyped import RETYPED, possible_values, questions_of_spelling
from prodex.worklists.text_answers import (
    code_beside_others,
    read_text_answer,
)
from prodex.written_numbers import is_rounded

#: Digits of an id of which a spreadsheet may have dropped zeros at the beginning.
_LONGEST_ID = 20

#: What people write where they have nothing to say.
NO_VALUE = frozenset("? ?? - -- – — . n/a na #n/a nan null none nil tbd tbc todo xxx".split())  # noqa: SIM905


#: Why an answer changes nothing.
HAS_IT_ALREADY = Message("the product has this value already.")


class AnswerState(StrEnum):
    """What becomes of an answer."""

    ACCEPTED = "accepted"
    UNCHANGED = "unchanged"
    REFUSED = "refused"
    CONFLICT = "conflict"
    #: Nothing speaks against it but that it may not be meant: it is sent once somebody has confirmed it.
    NEEDS_CONFIRMATION = "needs confirmation"


#: What somebody has confirmed: the questions about each answer, by its file, sheet, row and cell.
Confirmed = Mapping[CellPlace, frozenset[Said]]


@dataclass(frozen=True)
class Decision:
    """An answer, and what becomes of it.

    Attributes
    ----------
    answer
        As it was read.
    state, reason
        What becomes of it, and why.
    product
        Id of the product, if it is known.
    attribute, language, language_code, position
        The place that it is about, as far as it is known.
    variant
        The code of the language of a text, where the product has another text of that language beside it.
    shape
        What the answer has to be.
    said
        What it says of the product, place by place; None as long as that is not understood.
    before
        The present value, as text.
    obstacle
        Why it cannot be made, if nothing else speaks against it.
    is_as_seen
        Whether the quantities, codes or plain values that it changes are those that the worklist showed.
    holds
        Whether what was seen is still there, of what is no text; None where that cannot be compared.
    note
        A remark about it.
    questions
        What needs confirmation, sentence by sentence; `reason` has all of them.
    confirmed
        The questions that somebody has answered with yes.
    """

    answer: Answer
    state: AnswerState = AnswerState.ACCEPTED
    reason: Said = ""
    product: str | None = None
    attribute: str | None = None
    language: str | None = None
    language_code: str | None = None
    variant: str | None = None
    position: str | None = None
    shape: AnswerShape = AnswerShape.NONE
    said: AnswerChanges | None = None
    before: str | None = None
    obstacle: Said = ""
    is_as_seen: bool = False
    holds: bool | None = None
    note: Said = ""
    questions: tuple[Said, ...] = ()
    confirmed: frozenset[Said] = frozenset()

    @property
    def is_open(self) -> bool:
        """Whether it is sent, now or once it is confirmed: nothing has spoken against it yet."""
        return self.state in {AnswerState.ACCEPTED, AnswerState.NEEDS_CONFIRMATION}

    @property
    def check(self) -> str | None:
        """The check that asked for it."""
        return self.answer.keys.get("check")

    @property
    def after(self) -> str | None:
        """The new value, as text; None where it is deleted."""
        return self.answer.text if self.said is None else self.said.after

    @property
    def changes(self) -> tuple[Change, ...]:
        """What it changes, and what it says that is there already."""
        return () if self.said is None else self.said.changes

    @property
    def claims(self) -> Mapping[tuple[Any, ...], Any]:
        """What it says of each place: two answers of one place have to agree."""
        claims: dict[tuple[Any, ...], Any] = {}
        for place, change in ((one.place, one.change) for one in self.said or ()):
            # Of an item that becomes another one, both are meant.
            claims[self.product, *path_after(change)] = claims[self.product, *place] = change
        if self.shape is AnswerShape.TEXT and self.answer.change is None:
            # Also of a text that cannot be written.
            language = tag_of(str(self.language_code or self.language))
            claims[self.product, self.attribute, language, self.position] = self.after
        is_list = self.shape in _IN_LISTS and self.answer.change is None
        if is_list and (added := [one for one in self.changes if _is_added(one)]):
            # Two answers that add different things are two lists of what there is; but several rows may ask for a
            # picture each, and each gets its own.
            asked = (self.answer.keys.get("value"), self.check) if self.shape is AnswerShape.PICTURE else ()
            claims[self.product, *added[0].path[:-1], "+", *asked] = tuple(added)
        return claims

    def in_state(self, state: AnswerState, reason: Said) -> Decision:
        """Return it with another state; the first reason against it stays, and outweighs a question."""
        return replace(self, state=state, reason=reason, questions=()) if self.is_open else self

    def refused_by(self, error: AnswerRefused) -> Decision:
        """Return it refused, or in conflict, for the reason that an error gives."""
        is_conflict = isinstance(error, AnswerInConflict)
        return self.in_state(AnswerState.CONFLICT if is_conflict else AnswerState.REFUSED, said_by(error))

    def needing_confirmation(self, question: Said) -> Decision:
        """Return it with a question to confirm, unless that is confirmed; a further question is added to the others."""
        if not self.is_open or question in self.confirmed or question in self.questions:
            return self
        questions = (*self.questions, question)
        return replace(
            self, state=AnswerState.NEEDS_CONFIRMATION, questions=questions, reason=sentences(*questions)
        )


#: Shapes of which what is added is a list.
_IN_LISTS = frozenset(AnswerShape) - {AnswerShape.TEXT, AnswerShape.NUTRITION, AnswerShape.HIERARCHY}


def _is_added(change: Change) -> bool:
    return change.before is ABSENT and isinstance(change.path[-1], Item)


@dataclass(frozen=True)
class ConcernedProducts:
    """The products that answers are about.

    Attributes
    ----------
    known
        Facts of the catalogue.
    gtins
        The GTIN of each product, by its id.
    records
        Those concerned as received, by their id.
    waiting
        The attributes of these of which an update waits, by the id of their product.
    owners
        Who owns them.
    """

    known: KnownProducts
    gtins: Mapping[str, str | None]
    records: Mapping[str, Product]
    waiting: PendingUpdates
    owners: Owners = field(default_factory=Owners)


def decide_answers(
    answers: Sequence[Answer],
    products: ConcernedProducts,
    catalog: Catalog,
    confirmed: Confirmed = MappingProxyType({}),
) -> list[Decision]:
    """Return answers with their products and corrections; those that cannot be understood are refused."""
    first = [assign_product(one, products.known, products.gtins) for one in answers]
    if confirmed:
        first = [replace(one, confirmed=confirmed.get(one.answer.cell_place, frozenset())) for one in first]
    attributes = {one.answer.keys.get("attribute", "") for one in first}
    shapes = Shapes.of(catalog)
    codes = {without_code(one) for one in attributes if shapes.of_attribute(one) is AnswerShape.CODE}
    words = Vocabulary.of(catalog, {*codes, "typePackaging"})
    return [_asked_if_misread(understand_answer(one, products, shapes, words)) for one in first]


def assign_product(answer: Answer, known: KnownProducts, gtins: Mapping[str, str | None]) -> Decision:
    """Return whose answer it is, by id and GTIN: where a row has both, they have to agree."""
    try:
        return Decision(answer, product=_product_meant(answer.keys, known, gtins))
    except AnswerRefused as error:
        return Decision(answer).refused_by(error)


def _product_meant(keys: Mapping[str, str], known: KnownProducts, gtins: Mapping[str, str | None]) -> str:
    own, code = keys.get("product_id"), keys.get("gtin")
    if own is not None and code is None:
        own = _whole_id(own, gtins)
    of_gtin: Sequence[str] = ()
    if code is not None:
        try:
            of_gtin = known.ids.get(gtin.comparable(code), ())
        except InputError as error:
            if own is None:
                further = Message("Write the GTIN as text.")
                raise AnswerRefused.saying("{said} {further}", said=said_by(error), further=further) from None
    if own is not None and own in gtins:
        # A GTIN that lost digits to a spreadsheet is no other product; one of another product is.
        if of_gtin and own not in of_gtin:
            raise AnswerRefused.saying(
                "the row has product {code} and the GTIN {gtin}, which is that of product {other}: the cells of its "
                "row were mixed up. Copy the row again from where it is right.",
                code=f"{own:.40}",
                gtin=f"{code:.20}",
                other=of_gtin[0],
            )
        return own
    if own is not None and not of_gtin:
        raise AnswerInConflict.saying(
            "product {code} is gone: the catalogue does not have it (any more).", code=f"{own:.40}"
        )
    if len(of_gtin) > 1:
        raise AnswerRefused.saying(
            "{count:d} products have the GTIN {code}, and a write holds the GTIN alone. Correct them at the service "
            "itself.",
            count=len(of_gtin),
            code=str(code),
        )
    if of_gtin:
        return of_gtin[0]
    if code is None:
        raise AnswerRefused.saying("the row has neither a product nor a GTIN. Fill in the GTIN.")
    if not gtin.has_digits(str(gtin.comparable(code))):
        raise AnswerRefused.by(gtin.no_gtin(code, f"{code!r:.40}"))
    raise AnswerInConflict.saying(
        "no product of the catalogue has the GTIN {code}: it is gone, or mistyped.", code=f"{code:.40}"
    )


def _whole_id(own: str, gtins: Mapping[str, str | None]) -> str:
    """Return the id that is meant by one from a spreadsheet: without a GTIN, it alone says which product is meant."""
    several = _with_zeros(own, gtins)
    if len(several) > 1:
        raise AnswerRefused.saying(
            "{code} may be each of the products {products_named}: a spreadsheet drops zeros at the beginning. Fill in "
            "the GTIN.",
            code=f"{own:.40}",
            products_named=", ".join(several),
        )
    if is_rounded(own):
        raise AnswerRefused.saying(
            "a spreadsheet rounded the product id to {code}. Fill in the GTIN.", code=f"{own:.40}"
        )
    return several[0] if several else own


def _with_zeros(own: str, gtins: Mapping[str, str | None]) -> list[str]:
    """Return the ids of the catalogue that are this one, or become it where zeros at the beginning are dropped."""
    longer = range(len(own) + 1, _LONGEST_ID + 1) if own.isdecimal() and not own.startswith("0") else ()
    return [one for one in (own, *map(own.zfill, longer)) if one in gtins]


def understand_answer(
    decision: Decision, products: ConcernedProducts, shapes: Shapes, words: Vocabulary
) -> Decision:
    """Return what the answer changes, and where."""
    answer, product = decision.answer, decision.product
    if not decision.is_open or product is None:
        return decision
    try:
        if product not in products.records:
            raise AnswerInConflict.saying("product {code} is gone.", code=f"{product:.40}")
        if (attribute := answer.keys.get("attribute")) is None:
            raise AnswerRefused.saying(
                "the row has no field. Fill in the column Field, such as namePublicLong."
            )
    except AnswerRefused as error:
        return decision.refused_by(error)
    decision = replace(decision, attribute=attribute, shape=shapes.of_attribute(attribute))
    if answer.refusal is not None:
        return decision.in_state(AnswerState.REFUSED, answer.refusal)
    record = products.records[product]
    if answer.change is not None:
        made = _with_exact_change(decision, record, answer.change)
    else:
        made = _with_typed_answer(decision, record, products, shapes, words)
    return reduce(Decision.needing_confirmation, answer.questions, made)


def _with_typed_answer(
    decision: Decision, record: Product, products: ConcernedProducts, shapes: Shapes, words: Vocabulary
) -> Decision:
    """Return what an answer in a cell changes."""
    attribute, keys = str(decision.attribute), decision.answer.keys
    try:
        for change in decision.answer.seen or ():
            if not is_made(record, change):
                _require_held(record, change, change.before)
        _refuse_no_value(decision, shapes)
        decision = _as_typed(decision, words)
        if decision.shape is AnswerShape.TEXT:
            text = decision.answer.text
            found = read_text_answer(
                str(decision.product), record, attribute, text, keys, products.known.codes
            )
            made = replace(decision, **found._asdict())
            _require_seen(made, record)
            return _asked_if_a_remark(made)
        decision = replace(decision, holds=_is_still_there(decision, record, words))
        made = _with_new_value(decision, record, shapes, words)
        _require_seen(made, record)
        return (
            _asked_if_unknown(made, words) if made.shape in {AnswerShape.STRING, AnswerShape.CODE} else made
        )
    except AnswerRefused as error:
        if decision.holds is not False:
            return decision.refused_by(error)
        # What was seen is gone, so it is not certain what is meant.
        gone = Message(
            "the product has something else in place of {seen}, which the worklist showed: {said}",
            seen=repr((keys.get("value") or "nothing")[:80]),
            said=said_by(error),
        )
        return decision.in_state(AnswerState.CONFLICT, gone)


def _refuse_no_value(decision: Decision, shapes: Shapes) -> None:
    """Refuse what cannot be the value of a field, whatever that is."""
    text = decision.answer.text
    if decision.shape is AnswerShape.NONE:
        shown = f"{decision.attribute!r:.60}"
        if near := nearest(str(decision.attribute), shapes.found):
            raise AnswerRefused.saying(
                "{path} cannot be answered in a cell; did you mean {near}?", path=shown, near=repr(near)
            )
        raise AnswerRefused.saying(
            "{path} cannot be answered in a cell. It is corrected at its source.", path=shown
        )
    if text.casefold() in NO_VALUE:
        raise AnswerRefused.saying(
            "{text} is not a value. Leave the cell empty, or write the value.", text=repr(text)
        )
    if halves := halves_of(text):
        # No workbook can hold one, and a frame can.
        raise AnswerRefused.saying(
            "the answer has half of a character ({text}), which cannot be sent. Type it again.",
            text=f"U+{ord(halves[0]):04X}",
        )


def _too_deep(root: str) -> AnswerRefused:
    return AnswerRefused.saying(
        "{path} of the product is nested too deep. Correct it at its source.", path=root
    )


def _with_exact_change(decision: Decision, record: Product, change: Change) -> Decision:
    """Return an answer that is meant letter by letter, in conflict if its place holds something else by now."""
    root = str(decision.attribute).partition(".")[0]
    try:
        if root in NEVER_WRITTEN:
            why = why_never_written(root)
            raise AnswerRefused.saying(why.id, **why.values)
        return _with_leaf(decision, record, change)
    except AnswerRefused as error:
        return decision.refused_by(error)
    except RecursionError:
        return decision.refused_by(_too_deep(root))


def _with_leaf(decision: Decision, record: Product, change: Change) -> Decision:
    order = decision.answer.order
    found = value_at(record, change.path)
    if found is ABSENT:
        found = value_at(record, path_after(change))
    before: str | None
    after: str | None
    if change.is_order:
        before, after = sides_in_words(change)
        expected: Any = before
    else:
        before, after = (None if is_nothing(one) else in_words(one) for one in (found, change.after))
        expected = change.before
    said = [AnswerChange(change, before, after)]
    if order is not None:
        said.append(AnswerChange(order, None, None))
    language, code = (decision.answer.keys.get(one) for one in ("language", "language_code"))
    place = TextPlace(str(decision.attribute), None, language, code)
    decision = replace(
        decision,
        language=None if language is None else short_of(language),
        said=AnswerChanges(said),
        variant=code_beside_others(record, place, code),
        before=before,
        is_as_seen=True,
    )
    if is_made(record, change):
        return decision.in_state(AnswerState.UNCHANGED, HAS_IT_ALREADY)
    try:
        _require_held(record, change, expected)
    except AnswerInConflict as error:
        return decision.refused_by(error)
    return decision


def _require_seen(decision: Decision, record: Product) -> None:
    """Refuse an answer that by now means something that nobody had seen: another text of its language, another unit."""
    if (seen := decision.answer.seen) is None:
        return
    places = [place for one in seen if (place := indexed(record, one.path)) is not None]
    for change in decision.changes:
        if is_made(record, change) or (place := indexed(record, change.path)) is None:
            continue
        if not any(place[: len(one)] == one[: len(place)] for one in places):
            before = next((one for one in seen if not is_nothing(one.before)), None)
            raise _changed_since(
                value_at(record, change.path),
                ABSENT if before is None else before.before,
                in_=(change.path, () if before is None else before.path),
            )


def _changed_since(found: Any, expected: Any, in_: tuple[Path, Path] = ((), ())) -> AnswerInConflict:
    """Say what is at a place by now; with its language where what was seen is in another one, or is nothing."""
    codes = [_language_in(path) for path in in_]
    if codes[0] == codes[1]:
        codes = ["", ""]
    there, seen = (
        Message("nothing")
        if is_nothing(one)
        else Message("{text} in {language}", text=repr(in_words(one)[:80]), language=code)
        if code
        else repr(in_words(one)[:80])
        for one, code in zip((found, expected), codes, strict=True)
    )
    return AnswerInConflict.saying(
        "the product was changed since: there is now {there} in place of {seen}. Look at it, and correct it again.",
        there=there,
        seen=seen,
    )


def _language_in(path: Path) -> str:
    """Return the code of the language of the text that a path leads to; empty where it leads to none."""
    return next((step.value for step in path if isinstance(step, Item) and step.name == "language"), "")


def _require_held(record: Product, change: Change, expected: Any) -> None:
    """Refuse a change of a place that holds something else than was expected there."""
    try:
        check(record, change)
    except PlaceChanged as error:
        raise _changed_since(error.found, expected) from None


def _as_typed(decision: Decision, words: Vocabulary) -> Decision:
    """Return the answer with what was typed, where a spreadsheet has made a number or a date of it.

    Where a known value becomes this cell, it is asked whether that was typed; otherwise the cell is refused.
    """
    answer, attribute = decision.answer, str(decision.attribute)
    if answer.kind not in RETYPED:
        return decision
    held = _held(answer)
    if decision.shape not in {AnswerShape.TEXT, AnswerShape.STRING, AnswerShape.CODE}:
        if answer.kind == "date":
            raise AnswerRefused.saying(
                "the cell holds {said}, which {path} does not take: a spreadsheet has changed what was typed. Format "
                "the cell as text, and type it again.",
                said=held,
                path=attribute,
            )
        return decision
    if answer.shown is not None:
        return replace(decision, answer=answer._replace(text=answer.shown, kind="text"))
    seen = answer.keys.get("value")
    known = words.in_use(without_code(attribute)) if decision.shape is AnswerShape.CODE else ()
    found = possible_values(
        [*known, *([seen] if seen and seen not in known else [])], answer.kind, answer.text
    )
    if len(found) > 1:
        raise AnswerRefused.saying(
            "the cell holds {said}, and a spreadsheet may have changed what was typed, such as zeros in front. It may "
            "be {values}. Format the cell as text, and type it again.",
            said=held,
            values=", ".join(map(repr, found[:5])),
        )
    if not found:
        raise AnswerRefused.saying(
            "the cell holds {said}, and a spreadsheet may have changed what was typed, such as zeros in front. Format "
            "the cell as text, and type it again.",
            said=held,
        )
    typed = replace(decision, answer=answer._replace(text=found[0], kind="text"))
    if found[0] == answer.text:
        return typed
    return typed.needing_confirmation(
        Message(
            "The cell holds {said}, and a spreadsheet may have changed what was typed. Was {other} typed?",
            said=held,
            other=f"{found[0]!r:.60}",
        )
    )


def _held(answer: Answer) -> Message:
    """Return what a cell holds that a spreadsheet has made of something else."""
    held = f"{answer.text:.40}"
    match answer.kind:
        case "boolean":
            return Message("a truth value ({text})", text=held)
        case "date":
            return Message("a date ({text})", text=held)
        case "percentage":
            return Message("a percentage ({text})", text=held)
    return Message("a number ({text})", text=held)


def _asked_if_a_remark(decision: Decision) -> Decision:
    """Return the answer, to be confirmed if its words are not for the field: for a person, or for another language."""
    if (text := decision.after) is None:
        return decision
    path, language = str(decision.attribute), decision.language
    asked: list[Said | None] = [question_of_remark(text, path)]
    if decision.answer.is_spelled:
        asked += questions_of_spelling(text, path)
    if decision.shape is AnswerShape.STRING:
        asked.append(question_of_date(text, path, decision.before))
    if decision.shape is AnswerShape.TEXT and language is not None:
        asked.append(question_of_language(text, path, language, decision.before))
    return reduce(Decision.needing_confirmation, [one for one in asked if one], decision)


def _asked_if_misread(decision: Decision) -> Decision:
    """Return a text, to be confirmed if its letters were read in another encoding, and were not so before."""
    if decision.shape not in {AnswerShape.TEXT, AnswerShape.STRING} or not decision.is_open:
        return decision
    typed = None if decision.answer.restores else decision.after
    if typed is None or misread(decision.before or "") is not None:
        return decision
    question = question_of_misread(typed, str(decision.attribute))
    return decision if question is None else decision.needing_confirmation(question)


def _asked_if_unknown(decision: Decision, words: Vocabulary) -> Decision:
    """Return a code or string, to be confirmed if it is a remark, or a code that no product and no list has."""
    if decision.shape is not AnswerShape.CODE or decision.said is None:
        return _asked_if_a_remark(decision)
    attribute = without_code(str(decision.attribute))
    items = [
        item
        for one in decision.changes
        for item in (one.after if isinstance(one.after, list) else [one.after])
    ]
    asked = (question_of_code(str(one["code"]), attribute, words) for one in items if is_code(one))
    return reduce(Decision.needing_confirmation, filter(None, asked), decision)


def _with_new_value(decision: Decision, record: Product, shapes: Shapes, words: Vocabulary) -> Decision:
    root = without_code(str(decision.attribute)).partition(".")[0]
    try:
        said, is_as_seen = _said_of_value(decision, record.get(root), shapes, words)
    except RecursionError:
        raise _too_deep(root) from None
    return replace(decision, said=said, before=said.before, is_as_seen=is_as_seen)


def _said_of_value(
    decision: Decision, present: Any, shapes: Shapes, words: Vocabulary
) -> tuple[AnswerChanges, bool]:
    """Return what an answer says of the value of an attribute, and whether that is certainly what was seen."""
    product, text, keys = str(decision.product), decision.answer.text, decision.answer.keys
    attribute = str(decision.attribute)
    match decision.shape:
        case AnswerShape.NUTRITION:
            return nutrition_answers.read_nutrient_answer(product, present, text, words), False
        case AnswerShape.HIERARCHY:
            own = keys.get("gtin", "")
            return hierarchy_answers.read_hierarchy_answer(product, present, text, own, words), False
        case AnswerShape.PICTURE:
            is_front = "packshot" in (keys.get("check") or "") or attribute.endswith("isPackshot")
            seen = keys.get("value")
            said = picture_answers.read_picture_answer(
                product, present, text, attribute=attribute, seen=seen, front=is_front
            )
            return said, False
    top = without_code(attribute)
    return read_item_answer(
        product,
        present,
        text,
        ItemEvidence(keys.get("value"), keys.get("position", keys.get("position_read"))),
        kind=decision.answer.kind,
        attribute=top,
        shape=decision.shape,
        in_list=top in shapes.in_lists,
        words=words,
    )


def _is_still_there(decision: Decision, record: Product, words: Vocabulary) -> bool | None:
    """Whether what was seen is still there; None where that is not known, or cannot be compared."""
    keys, attribute = decision.answer.keys, str(decision.attribute)
    seen = keys.get("value")
    if seen is None:
        return None
    value = record.get(without_code(attribute).partition(".")[0])
    return has_value_seen(decision.shape, seen, value, attribute, words, keys.get("gtin", ""))
