"""Answers that are quantities, codes and plain values: "500 g -> 600 g", "COLD; DARK", "yes"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from prodex.changes import ABSENT
from prodex.formats.workbook_cells import CellKind
from prodex.worklists.answer_kinds import AnswerShape
from prodex.worklists.answer_parsing import AnswerRefused, Vocabulary, read_boolean, read_number
from prodex.worklists.items import (
    ARROW,
    ItemAnswer,
    ItemChanges,
    ItemEvidence,
    is_code,
    is_plain,
    is_quantity,
    read_items,
)
from prodex.worklists.layout import is_deletion

_KINDS_OF_ITEMS = {AnswerShape.CODE: is_code, AnswerShape.QUANTITY: is_quantity}


def read_item_answer(
    product: str,
    present: Any,
    text: str,
    evidence: ItemEvidence,
    *,
    kind: CellKind,
    attribute: str,
    shape: AnswerShape,
    in_list: bool,
    words: Vocabulary,
) -> ItemChanges:
    """Return what an answer says of the items of an attribute.

    Parameters
    ----------
    product, present
        The product, and what it has.
    text, kind
        The answer, and what kind of cell it is in.
    evidence
        What its row says of the item that is meant.
    attribute, shape
        The attribute, and what it holds.
    in_list
        Whether it is a list where the product has nothing yet.
    words
        Units and codes of the catalogue.

    Raises
    ------
    AnswerRefused
        When it cannot be read, or it is not certain which item is meant.

    Examples
    --------
    >>> attribute = {"attribute": "serves", "shape": AnswerShape.INTEGER, "in_list": False, "words": Vocabulary()}
    >>> made = read_item_answer("7", 4, "6", ItemEvidence(), kind="text", **attribute)
    >>> made.said.before, made.said.after
    ('4', '6')
    """
    is_listed = isinstance(present, list) if present is not None else in_list

    def item(part: str) -> Any:
        return _item_as_sent(part, kind, attribute, shape, words)

    return read_items(
        product,
        present,
        [
            ItemAnswer(item(part)) if shape is AnswerShape.STRING else _with_arrow(part, item)
            for part in _parts(text, attribute, shape, is_listed)
        ],
        evidence,
        root=attribute,
        is_one=_KINDS_OF_ITEMS.get(shape, is_plain),
        in_list=is_listed,
        words=words,
    )


def _parts(text: str, attribute: str, shape: AnswerShape, in_list: bool) -> list[str]:
    """Return the parts of an answer; a text is one, whatever is in it."""
    if shape is AnswerShape.STRING:
        return [text]
    parts = [part for one in text.replace("\n", ";").split(";") if (part := one.strip())]
    if len(parts) > 1 and not in_list:
        raise AnswerRefused.saying(
            "{path} takes one value, and {text} are {count:d}.",
            path=attribute,
            text=f"{text!r:.60}",
            count=len(parts),
        )
    return parts or [text]


def _with_arrow(text: str, item: Callable[[str], Any]) -> ItemAnswer:
    """Return one part of an answer: an item, and the one before an arrow."""
    old, *new = ARROW.split(text)
    if len(new) > 1:
        raise AnswerRefused.saying(
            "{text} has several arrows. Write each of them on a line of its own.", text=f"{text!r:.80}"
        )
    if not new:
        return ItemAnswer(item(old))
    named = item(old)
    if named is ABSENT:
        raise AnswerRefused.saying(
            "{text} begins with (delete). Write what is there first: old -> new.", text=f"{text!r:.80}"
        )
    return ItemAnswer(item(new[0]), named)


def _item_as_sent(text: str, kind: CellKind, attribute: str, shape: AnswerShape, words: Vocabulary) -> Any:
    """Return an item as it is sent, or ABSENT."""
    if is_deletion(text):
        return ABSENT
    match shape:
        case AnswerShape.BOOLEAN:
            return read_boolean(text)
        case AnswerShape.INTEGER | AnswerShape.NUMBER:
            value = read_number(text, is_stored=kind in {"number", "percentage"})
            if shape is AnswerShape.INTEGER and not isinstance(value, int):
                raise AnswerRefused.saying("{text} is not a whole number.", text=f"{text!r:.60}")
            return value
        case AnswerShape.STRING:
            return text
        case AnswerShape.CODE:
            return {"code": words.code(attribute, text)}
    value, unit = words.quantity(text)
    return {"data": value, "expressedIn": {"code": unit}}
