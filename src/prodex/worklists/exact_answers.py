"""Answers that were computed or typed beside the product, and not in a cell: they are meant letter by letter.

A cell has a grammar: "delete" takes a text away, "fr: ..." names its language, "-" says nothing. An exact answer has
none of it. It says what the place holds now and what it is to hold; where it holds something else by the time it is
sent, that is a conflict.
"""

from __future__ import annotations

from collections.abc import Collection

from prodex.changes import Change, Item, sides_in_words, wire_path
from prodex.languages import Said
from prodex.worklists.returned_files import Answer


def exact_change(
    change: Change,
    *,
    number: int,
    attribute: str | None = None,
    language: str | None = None,
    updated_at: str | None = None,
    questions: Collection[Said] = (),
    order: Change | None = None,
) -> Answer:
    """Return the answer that one place of a product is to hold another value.

    Parameters
    ----------
    change
        The change.
    number
        Of the answer among those that are judged together.
    updated_at
        When the product had last been changed, as far as it is known.
    questions
        What needs confirmation before it is sent.
    attribute
        The wire path that is shown and compared with findings; by default that of the change.
    language
        The language of the place; by default that of the change, if it is about a text.
    order
        The order that its list is to have with it.
    """
    before, text = sides_in_words(change)
    keys = {
        "product_id": change.product,
        "attribute": attribute or wire_path(change.path),
        "language": language or _language_of(change),
        "value": before,
        "updated_at": updated_at,
    }
    return Answer.typed(number, text, keys, change=change, order=order, questions=tuple(questions))


def exact_refusal(
    product_id: str, attribute: str, language: str | None, reason: Said, *, number: int, text: str = ""
) -> Answer:
    """Return the answer of which it is known already that it cannot be sent, and why."""
    keys = {"product_id": product_id, "attribute": attribute, "language": language}
    return Answer.typed(number, text, keys, refusal=reason)


def _language_of(change: Change) -> str | None:
    languages = [step.value for step in change.path if isinstance(step, Item) and step.name == "language"]
    return languages[-1] if languages else None
