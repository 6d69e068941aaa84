"""Answers that are texts: in which language a text is meant, and which one of several in that language.

The row names the language, or the answer does: "fr: Confiture de fraises". Where a product has several texts of it,
the row has to say which: by the hidden code, by the position, or by the text that was seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from prodex.errors import ChangesRefused
from prodex.languages import Message, Said
from prodex.languages.message import said_by
from prodex.locales import codes_in_words, is_meant, is_whole_language, language_code, short_of, tag_of
from prodex.send.merging import TextItem, TextPlace, text_change, texts_at, texts_meant
from prodex.send.records import DELETE, Product
from prodex.tables.containers import numbered_place
from prodex.worklists.answer_changes import AnswerChange, AnswerChanges
from prodex.worklists.answer_parsing import AnswerRefused, read_language, split_language
from prodex.worklists.evidence import alike
from prodex.worklists.layout import is_deletion

_POSITION = re.compile(r"\d+(?:\.\d+)*")
_NUMBER = re.compile(r"\d{1,9}\.\d{1,9}")


class TextAnswer(NamedTuple):
    """An answer that is a text, understood.

    Attributes
    ----------
    language, language_code, position
        The text that is meant.
    variant
        The code of its language, where the product has another text of that language beside it.
    before
        The text that is there; None if there is none.
    said
        What it says; None where that cannot be.
    obstacle
        Why it cannot be.
    """

    language: str | None
    language_code: str | None
    position: str | None
    variant: str | None
    before: str | None
    said: AnswerChanges | None
    obstacle: Said


def read_text_answer(
    product: str,
    record: Product,
    attribute: str,
    text: str,
    keys: Mapping[str, str],
    codes: Mapping[str, frozenset[str]],
) -> TextAnswer:
    """Return what an answer says of a text.

    Parameters
    ----------
    product, record
        The product, and what it holds.
    attribute, text
        The wire path of the text, and the answer.
    keys
        What its row says.
    codes
        The long language codes of each short one, for texts in a language that is new in this product.

    Raises
    ------
    AnswerRefused
        When it is not certain in which language it is, or which of several texts is meant.

    Examples
    --------
    >>> record = {"namePublicLong": [{"expressedIn": {"code": "fra-FR"}, "data": "Riz"}]}
    >>> made = read_text_answer("7", record, "namePublicLong", "fr: Riz long", {}, {})
    >>> made.language, made.before, made.said.after
    ('fr', 'Riz', 'Riz long')
    """
    language, code, text = _language(text, keys)
    place = TextPlace(attribute, keys.get("position") if code else None, language, code)
    if code and (read := keys.get("position_read")) is not None:
        place = place._replace(position=_position(record, place, read, keys.get("value")))
    found = [*_texts_at(record, place)]
    if place.position is None and len(found) > 1:
        # As with items of other shapes, what was seen says which one is meant.
        found = [one for one in found if alike(one.data, keys.get("value"))] or found
        if len(found) > 1:
            beside = _codes_beside(found)
            advice = Message(
                "Take the row from the worklist again, with its hidden columns; or write the text that is there into "
                "the column Value seen."
            )
            if beside:  # which a language can say that was written by hand, and a heading too
                tags = [tag_of(str(one.variant)) for one in found]
                example = next((tag for tag in tags if "-" in tag), language)
                advice = Message(
                    "Give the language with its country, such as {example}; or take the row from a worklist, with its "
                    "hidden columns.",
                    example=example,
                )
            raise AnswerRefused.saying(
                "the product has {count:d} texts of {path} in '{language_code}'{codes}, and the row does not say which "
                "is meant. {advice}",
                count=len(found),
                path=attribute,
                language_code=language,
                codes=beside,
                advice=advice,
            )
        place = place._replace(position=found[0].position)
    there = found[0] if len(found) == 1 else None
    variant = code_beside_others(record, place, code if there is None else there.variant)
    before = None if there is None else there.data
    new = None if is_deletion(text) else text
    said: AnswerChanges | None = AnswerChanges(())
    obstacle: Said = ""
    try:
        change = text_change(product, record, place, DELETE if new is None else new, codes)
        said = AnswerChanges(() if change is None else [AnswerChange(change, before, new)])
    except ChangesRefused as error:
        # Something else may speak against it that says more, such as a text that is gone.
        said, obstacle = (said if new is None else None), said_by(error)
    return TextAnswer(language, code, place.position, variant, before, said, obstacle)


def _language(text: str, keys: Mapping[str, str]) -> tuple[str, str | None, str]:
    """Return the language that the row names or the answer begins with, its code if it is known, and the text."""
    language, code = keys.get("language"), keys.get("language_code")
    if language is not None:
        tag = read_language(language)
        # A language that somebody changed in its row is meant; the hidden code is that of the old one.
        if code is not None and not _is_code_of(code, tag):
            code = None
        return short_of(tag), code or _with_country(tag), text
    if code is not None:
        return short_of(code), code, text
    tag_before, text = split_language(text)
    if tag_before is None:
        raise AnswerRefused.saying(
            "the row has no language. Write it before the text, such as fr: Confiture de fraises, or fill in the "
            "column Language."
        )
    return short_of(tag_before), _with_country(tag_before), text


def _is_code_of(code: str, tag: str) -> bool:
    """Whether a hidden code is of the language that a row shows, which need not name the country."""
    return short_of(code) == short_of(tag) if is_whole_language(tag) else is_meant(code, tag)


def _with_country(tag: str) -> str | None:
    """Return the code of a language that was given with its country."""
    return language_code(tag) if "-" in tag else None


def _position(record: Product, place: TextPlace, read: str, seen: str | None) -> str:
    """Return the position that is meant by one that was read from a cell, where a spreadsheet may have changed it.

    0.10 becomes 0.1, and 0.2 becomes a date. The text that was seen then says which one it was.
    """
    there = [*_texts_at(record, place)]
    meant = [one for one in there if _is_same_position(one.position, read.replace(",", "."))]
    if seen and len(meant) != 1:
        meant = [one for one in meant or there if alike(one.data, seen)]
    if len(meant) == 1:
        return meant[0].position
    if not meant and (seen or _POSITION.fullmatch(read)):
        return read
    raise AnswerRefused.saying(
        "the column Position has {text}, which a spreadsheet may have changed: it is not certain which text of {path} "
        "is meant. Take the row from the worklist again.",
        text=f"{read!r:.40}",
        path=place.attribute,
    )


def _is_same_position(one: str, other: str) -> bool:
    """Whether two positions are the same number, as a spreadsheet has it."""
    if one == other:
        return True
    numbers = _NUMBER.fullmatch(one), _NUMBER.fullmatch(other)
    return all(numbers) and float(one) == float(other)


def _texts_at(record: Product, place: TextPlace) -> Iterator[TextItem]:
    """Yield each text that can be meant."""
    for one in _texts_in(record, place.attribute, place.language, place.language_code):
        if place.position in {None, one.position}:
            yield one


def _texts_in(
    record: Product, attribute: str, language: str | None, language_code: str | None
) -> list[TextItem]:
    """Return the texts of an attribute in a language; under its code, where that is given."""
    texts, root = texts_at(record, attribute), attribute.partition(".")[0]
    if not texts and (odd := numbered_place(record.get(root), root)) is not None:
        raise AnswerRefused.saying(
            "the product has {path} of another form. Correct it at its source.", path=odd
        )
    return texts_meant(texts, language, language_code)


def code_beside_others(record: Product, place: TextPlace, code: str | None) -> str | None:
    """Return the code of a text where the product has a text of its language under another one; else None."""
    if code is None:
        return None
    there = _texts_in(record, place.attribute, short_of(code), None)
    return code if {tag_of(str(one.variant)) for one in there} - {tag_of(code)} else None


def _codes_beside(texts: Sequence[TextItem]) -> str:
    """Return the codes of texts in brackets, where these tell them apart."""
    differ = len({tag_of(str(one.variant)) for one in texts}) > 1
    return f" ({codes_in_words(one.variant for one in texts)})" if differ else ""
