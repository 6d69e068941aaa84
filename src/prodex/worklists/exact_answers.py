"""Answers that were computed or typed beside the product, and not in a cell: they are meant letter by letter.

A cell has a grammar: "delete" takes a text away, "fr: ..." names its language, "-" says nothing. An exact answer has
none of it. It says what the place holds now and what it is to hold; where it holds something else by the time it is
sent, that is a conflict.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from prodex.send.leaves import ItemKey, LeafChange, is_nothing
from prodex.worklists.returned_files import Answer, TextChange


def exact_text(
    product_id: str,
    attribute: str,
    language: str | None,
    language_code: str | None,
    position: str | None,
    before: str | None,
    after: str | None,
    *,
    number: int,
    updated_at: str | None = None,
    questions: Collection[str] = (),
) -> Answer:
    """Return the answer that one text of a product is to be another one.

    Parameters
    ----------
    product_id, attribute
        The product, and the wire path of the text.
    language, language_code
        Its language; one of them is enough for a text that is there.
    position
        Which text is meant where the attribute has several, as in `catalog.texts`.
    before, after
        The text now, None if there is none, and the new one; None takes it away.
    number
        Of the answer among those that are judged together.
    updated_at
        When the product had last been changed, as far as it is known.
    questions
        What is asked back before it is sent.
    """
    keys = {
        "product_id": product_id,
        "attribute": attribute,
        "language": language,
        "language_code": language_code,
        "position": position,
        "value": before or "",
        "updated_at": updated_at,
    }
    filled = {name: value for name, value in keys.items() if value is not None}
    change = TextChange(before, after)
    return Answer("", "", number, "", after or "", "text", filled, change=change, questions=tuple(questions))


def exact_change(
    product_id: str,
    change: LeafChange,
    *,
    number: int,
    attribute: str | None = None,
    language: str | None = None,
    updated_at: str | None = None,
    questions: Collection[str] = (),
) -> Answer:
    """Return the answer that one leaf of an attribute is to hold another value.

    Parameters
    ----------
    product_id, change
        The product, and the change.
    number, updated_at, questions
        As for `exact_text`.
    attribute
        The wire path that is shown and compared with findings; by default that of the change.
    language
        The language of the leaf; by default that of the change, if it is about a text.
    """
    keys = {
        "product_id": product_id,
        "attribute": attribute or wire_path(change),
        "language": language or _language_of(change),
        "value": in_words(change.before),
        "updated_at": updated_at,
    }
    filled = {name: value for name, value in keys.items() if value is not None}
    text = in_words(change.after)
    return Answer("", "", number, "", text, "text", filled, change=change, questions=tuple(questions))


def exact_refusal(
    product_id: str, attribute: str, language: str | None, reason: str, *, number: int, text: str = ""
) -> Answer:
    """Return the answer of which it is known already that it cannot be sent, and why."""
    keys = {"product_id": product_id, "attribute": attribute, "language": language}
    filled = {name: value for name, value in keys.items() if value is not None}
    return Answer("", "", number, "", text, "text", filled, refusal=reason)


def wire_path(change: LeafChange) -> str:
    """Return the wire path of a change: without the items of lists, and without `data` of a text.

    >>> from prodex.send.leaves import leaf_changes
    >>> before, after = ([{"code": code, "label": "x"}] for code in ("A", "B"))
    >>> wire_path(leaf_changes("isDerivedFrom", before, after)[0])
    'isDerivedFrom'
    """
    names = [step for step in change.path if isinstance(step, str)]
    if names and names[-1] == "data":
        names.pop()
    return ".".join([change.root, *names])


def _language_of(change: LeafChange) -> str | None:
    keys = [step for step in change.path if isinstance(step, ItemKey) and step.name == "language"]
    return keys[-1].value if keys else None


def in_words(value: Any) -> str:
    """Return a value of a record as text: what people read of it.

    >>> in_words({"data": 1.4, "expressedIn": {"code": "KGM"}}), in_words([{"code": "A"}, {"code": "B"}])
    ('1.4 KGM', 'A; B')
    """
    match value:
        case {"data": data, "expressedIn": {"code": code}}:
            return str(data) if isinstance(data, str) else f"{data} {code}"
        case {"code": code}:
            return str(code)
        case bool():
            return str(value).lower()
        case list() if value:
            return "; ".join(map(in_words, value))
        case dict() if value:
            return ", ".join(f"{name}: {in_words(inner)}" for name, inner in value.items())
    return "" if is_nothing(value) else str(value)
