"""Values that are copied and moved: from another attribute, from another language, or both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from prodex.corrections.exact_amounts import find_inexact, find_unread
from prodex.corrections.leaves import Leaves, Rows, no_rows, text_of
from prodex.corrections.operations import CopyFrom, MoveText
from prodex.corrections.products_in_work import ProductsInWork, StepImpossible
from prodex.corrections.value_places import Codes, StepPlace, StepRefusal, StepRows, in_codes, single_values
from prodex.locales import is_whole_language, known_language_tag, language_tag, tag_of
from prodex.phrases import composed
from prodex.worklists.answer_kinds import AnswerShape
from prodex.worklists.confirmation_questions import question_of_code

_NUMBERS: Final = frozenset({AnswerShape.QUANTITY, AnswerShape.INTEGER, AnswerShape.NUMBER})
_NO_LANGUAGE: Final = "its language is not known. Give the language that it is to have."


def copy_values(work: ProductsInWork, place: StepPlace, operation: CopyFrom) -> StepRows:
    """Copy values to a place; without a language each text into its own."""
    target, chosen = place.leaves, place.chosen
    source, tag = _source(work, place, operation)
    rows = StepPlace.of(source, chosen, tag).rows
    rows = _filled(source, rows)
    parts, unknown = _by_language(source, rows, place.tag) if target.is_text else ([(None, rows)], no_rows())
    made = [_copied_rows(work, source, own, StepPlace.of(target, chosen, to), operation) for to, own in parts]
    refused = [StepRefusal(product, -1, _NO_LANGUAGE) for product in source.product[unknown].tolist()]
    have = set(source.product[rows].tolist())
    refused += [one for one in find_unread(work, source, chosen, "copied") if one.product not in have]
    return _together(made, refused, int(chosen.sum()) - len(have | {one.product for one in refused}))


def _filled(source: Leaves, rows: Rows) -> Rows:
    """Return rows but those with an empty text, which is no value: nothing is carried, and nothing is in the way."""
    is_filled = [bool(text.strip()) for text in source.texts(rows).values()]
    found: Rows = rows[np.array(is_filled, bool)]
    return found


def _source(work: ProductsInWork, place: StepPlace, operation: CopyFrom) -> tuple[Leaves, str | None]:
    """Return what is copied from, and in which language."""
    target = place.leaves
    name, language = operation.from_attribute, operation.from_language
    source = target if name is None else work.leaves(work.wire_path(name))
    kinds = {source.shape, target.shape}
    if len(kinds) > 1 and kinds != {AnswerShape.INTEGER, AnswerShape.NUMBER}:
        holds = (
            f"{source.attribute} holds a {source.shape.value}, and {target.attribute} a {target.shape.value}"
        )
        raise StepImpossible(f"{holds}: one is no other.")
    if language is not None and not target.is_text:
        holds = f"{source.attribute} holds a {source.shape.value}"
        raise StepImpossible(f"{holds}, which has no language. Leave from_language out.")
    tag = place.tag if language is None else language_tag(language)
    is_here = tag is None or place.tag is None or tag_of(tag) == tag_of(place.tag)
    if target.is_text and source is target and is_here:
        raise StepImpossible(
            "it is copied from where it is. Give the language of the step, and another one to copy from."
        )
    return source, tag


def _copied_rows(
    work: ProductsInWork, source: Leaves, rows: Rows, there: StepPlace, operation: CopyFrom
) -> StepRows:
    wanted, why = _one_of_each(source, rows, "values{codes}, and it is not known which is meant")
    if source.shape in _NUMBERS:
        owners = source.owners(rows)
        for row, spelled in find_inexact(work, source, rows).items():
            if wanted.pop(owners[row], None) is not None:
                why[owners[row]] = f"{spelled} is no number that is copied exactly."
    if not operation.replace:
        present = _present(there)
        _refuse_others(wanted, why, there, present, "value")
        for one in wanted.keys() & present.keys():
            # What is there in another form of Unicode is there already.
            wanted[one] = there.leaves.now[present[one][_as_compared(wanted[one])]].as_py()
    made = there.set(wanted, codes=_codes_of(source, rows) if operation.from_language is None else {})
    if there.leaves.shape is AnswerShape.CODE:
        _ask_about_codes(work, there.leaves, made.rows)
    return made._replace(refused=[*made.refused, *(StepRefusal(one, -1, said) for one, said in why.items())])


def _ask_about_codes(work: ProductsInWork, leaves: Leaves, rows: Rows) -> None:
    """Ask about codes that an attribute does not have yet: those of a country are no brands."""
    words, asked = work.words(leaves.attribute), {}
    for row, code in leaves.held(rows).items():
        if code is not None and code not in asked:
            asked[code] = question_of_code(code, leaves.attribute, words)
        if (question := asked.get(code)) is not None:
            leaves.ask([row], question, code)


def move_texts(work: ProductsInWork, place: StepPlace, operation: MoveText) -> StepRows:
    """Move texts to another place; without a language each into its own."""
    source, name, language = place.leaves, operation.to_attribute, operation.to_language
    target = source if name is None else work.leaves(work.wire_path(name))
    if not target.is_text:
        raise StepImpossible(f"{target.attribute} holds a {target.shape.value}, and takes no text.")
    tag = None if language is None else language_tag(language)
    several, refused = place.without_several(place.rows)
    rows = _filled(source, several)
    empty = np.setdiff1d(source.product[several], source.product[rows])
    if target is source:
        if tag is None or (place.tag is not None and tag_of(tag) == tag_of(place.tag)):
            raise StepImpossible("it is moved to where it is. Give another attribute or language.")
        # What is in the language already is where it is to be.
        rows = rows[~source.in_language(tag)[rows]]
    parts, unknown = _by_language(source, rows, tag)
    made = [
        _moved_rows(work, source, own, StepPlace.of(target, place.chosen, to), keeps_language=tag is None)
        for to, own in parts
    ]
    refused += [StepRefusal(product, row, _NO_LANGUAGE) for row, product in source.owners(unknown).items()]
    return _together(made, refused, len(place.lacking) + len(empty))


def _moved_rows(
    work: ProductsInWork, source: Leaves, rows: Rows, there: StepPlace, *, keeps_language: bool
) -> StepRows:
    wanted, why = _one_of_each(source, rows, "texts to move{codes}, and only one fits there")
    # Where several texts may be the other place, it is not known whether one of them is where this text is to be.
    for product, _, said in there.without_several(there.rows)[1]:
        if wanted.pop(product, None) is not None:
            why[product] = said
    present = _present(there)
    _refuse_others(wanted, why, there, present, "text")
    absent = {one: value for one, value in wanted.items() if one not in present}
    if absent and (said := there.why_not_added()):
        why |= dict.fromkeys(absent, said)
        wanted = {one: value for one, value in wanted.items() if one in present}
        absent = {}
    # An empty text there becomes the one that is moved: its language has one item.
    empty = {
        product: own[0] for product, own in there.leaves.by_product(there.rows).items() if product in absent
    }
    there.leaves.put(
        np.array([*empty.values()], np.int64), there.leaves.column(absent.pop(one) for one in empty)
    )
    added = there.add(absent, _codes_of(source, rows) if keeps_language else {})
    added = np.concatenate([np.array([*empty.values()], np.int64), added])
    arrived = {product: row for row, product in there.leaves.owners(added).items()}
    own = {product: several[0] for product, several in source.by_product(rows).items()}
    taken = np.array([own[one] for one in wanted], np.int64)
    source.put(taken, source.nothing(len(taken)))
    # Where the text stands already, it has to stand there still when it is taken away here.
    rows_there = {
        one: arrived.get(one, present.get(one, {}).get(composed(text), -1)) for one, text in wanted.items()
    }
    _bind(work, source, there.leaves, {own[one]: row for one, row in rows_there.items()})
    refused = [StepRefusal(one, own[one], said) for one, said in why.items()]
    return StepRows(taken, refused, arrived={own[one]: (there.leaves, row) for one, row in arrived.items()})


def _bind(work: ProductsInWork, source: Leaves, target: Leaves, pairs: Mapping[int, int]) -> None:
    """Let pairs of rows be sent together or not at all, each with all that they are bound to already."""
    next_group = 1 + max(int(leaves.bound.max(initial=-1)) for leaves in work.touched)
    for row, other in pairs.items():
        known = {int(source.bound[row]), int(target.bound[other])} - {-1}
        group = min(known, default=next_group)
        next_group += not known
        for one in known - {group}:
            for leaves in work.touched:
                leaves.bound[leaves.bound == one] = group
        source.bound[row] = target.bound[other] = group


def _one_of_each(source: Leaves, rows: Rows, said: str) -> tuple[dict[int, Any], dict[int, str]]:
    """Return the one value of each product among some rows, and of those that have several why none is taken."""
    wanted, several = single_values(source, rows, source.held(rows))
    has = f"{source.attribute} has several {said}."
    return wanted, {one: has.format(codes=in_codes(source, own)) for one, own in several.items()}


def _refuse_others(
    wanted: dict[int, Any],
    why: dict[int, str],
    there: StepPlace,
    present: Mapping[int, Mapping[str, int]],
    what: str,
) -> None:
    """Take out what would replace another value."""
    for one in [*wanted]:
        if one in present and _as_compared(wanted[one]) not in present[one]:
            del wanted[one]
            why[one] = f"{there.in_words} holds another {what} already: {min(present[one])[:60]!r}."


def _present(place: StepPlace) -> dict[int, dict[str, int]]:
    """Return the rows of what products hold at a place, by the text that is compared."""
    found: dict[int, dict[str, int]] = {}
    rows = _filled(place.leaves, place.rows)
    owners = place.leaves.owners(rows)
    for row, text in place.leaves.texts(rows).items():
        found.setdefault(owners[row], {})[composed(text)] = row
    return found


def _as_compared(value: Any) -> str:
    return composed(text_of(value))


def _codes_of(source: Leaves, rows: Rows) -> Codes:
    """Return the code of the language of each product's text: it stays the same wherever the text is."""
    codes = source.code.take(pa.array(rows)).to_pylist()
    # A text whose code is of another language than its own is carried by that language alone.
    own = zip(source.product[rows].tolist(), codes, source.variants(rows), strict=True)
    return {product: code for product, code, variant in own if code == variant}


def _by_language(leaves: Leaves, rows: Rows, tag: str | None) -> tuple[list[tuple[str | None, Rows]], Rows]:
    """Return languages with the texts that are carried to each, and the texts of which no language is known.

    Without a language, each text is carried to its own, those with a country first: a language alone means them, too.
    """
    if tag is not None:
        return [(tag, rows)], no_rows()
    known = [one for one in leaves.variants(rows) if one is not None and known_language_tag(one) is not None]
    parts: list[tuple[str | None, Rows]] = []
    for one in sorted(dict.fromkeys(map(tag_of, known)), key=is_whole_language):
        is_own = leaves.in_language(one)[rows]
        parts.append((one, rows[is_own]))
        rows = rows[~is_own]
    return parts, rows


def _together(parts: Sequence[StepRows], refused: Sequence[StepRefusal], without: int) -> StepRows:
    """Return what a step did language by language, and what it refused beside."""
    return StepRows(
        np.concatenate([no_rows(), *(one.rows for one in parts)]),
        [*(refusal for one in parts for refusal in one.refused), *refused],
        without,
        {row: there for one in parts for row, there in one.arrived.items()},
    )
