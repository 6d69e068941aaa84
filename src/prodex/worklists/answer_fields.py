"""Fields: which of them can be answered in a cell, how, and which values are allowed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from itertools import takewhile
from typing import Any

import numpy as np
import pyarrow as pa

from prodex.facts.name import NAMES
from prodex.languages import ENGLISH, Message, Translation
from prodex.languages.labels import attribute_label
from prodex.send.preflight import longest_text
from prodex.worklists import hierarchy_answers, nutrition_answers, picture_answers
from prodex.worklists.answer_kinds import AnswerShape, Shapes
from prodex.worklists.layout import same_answer

#: Codes with their labels, by attribute.
Codes = Mapping[str, Sequence[tuple[str, str | None]]]

_HOW = {
    AnswerShape.BOOLEAN: Message("true or false"),
    AnswerShape.INTEGER: Message("A whole number"),
    AnswerShape.NUMBER: Message("A number, such as 12.5"),
    AnswerShape.STRING: Message("A text"),
    AnswerShape.CODE: Message("A code, or its label"),
    AnswerShape.QUANTITY: Message("A number and its unit: 500 g"),
    AnswerShape.PICTURE: picture_answers.HOW,
    AnswerShape.NUTRITION: nutrition_answers.HOW,
    AnswerShape.HIERARCHY: hierarchy_answers.HOW,
    AnswerShape.NONE: Message("Not here: correct it at its source"),
}
#: How to answer where a row shows another text than the one that the answer replaces.
IN_PLACE_OF = "{how}, in place of: {text}"

#: Texts of one product each: an answer for several of them would be a new mistake.
_OWN = frozenset({*NAMES, "description", "composition"})

#: What several products can have alike.
_ALIKE = frozenset(
    {
        *(AnswerShape.TEXT, AnswerShape.BOOLEAN, AnswerShape.INTEGER, AnswerShape.NUMBER),
        *(AnswerShape.STRING, AnswerShape.CODE, AnswerShape.QUANTITY),
    }
)


class AnswerCell(StrEnum):
    """What becomes of the cell "New value" of a finding."""

    ASKED = "asked"
    #: An update of the attribute waits for acceptance.
    WAITS = "waits"
    AT_SOURCE = "at source"


@dataclass(frozen=True)
class Fields:
    """What the fields of a worklist take.

    Attributes
    ----------
    shapes
        What the attributes hold.
    codes
        Known codes with their labels, by attribute.
    """

    shapes: Shapes = field(default_factory=lambda: Shapes.of(None))
    codes: Codes = field(default_factory=dict)

    def can(self, attribute: str | None) -> bool:
        """Whether an attribute can be answered in a cell.

        >>> Fields().can("namePublicLong"), Fields().can("assets.pictures"), Fields().can("gtin")
        (True, True, False)
        """
        return self.shapes.of_attribute(attribute) is not AnswerShape.NONE

    def how(self, attribute: str | None, language: str | None, update_waits: bool | None = None) -> Message:
        """Return how to answer, in a few words, or why no answer is asked for.

        >>> print(Fields().how("description", None))
        The language, then the text: fr: Confiture
        >>> print(Fields().how("assets.pictures", None, update_waits=True))
        An update of pictures, documents and videos waits for acceptance; nothing to answer.
        """
        shape = self.shapes.of_attribute(attribute)
        if update_waits and attribute is not None and shape is not AnswerShape.NONE:
            return Message(
                "An update of {attribute} waits for acceptance; nothing to answer.",
                attribute=attribute.partition(".")[0],
            )
        if shape is not AnswerShape.TEXT:
            return _HOW[shape]
        if language is None:
            return Message("The language, then the text: fr: Confiture")
        return Message("A text in {language}", language=language)

    def states(self, rows: pa.Table) -> list[AnswerCell]:
        """Return for each finding whether an answer is asked for, and if not, why."""
        attributes = rows["attribute"].to_pylist()
        can = {attribute: self.can(attribute) for attribute in set(attributes)}
        return [
            AnswerCell.AT_SOURCE if not can[attribute] else AnswerCell.WAITS if waits else AnswerCell.ASKED
            for attribute, waits in zip(attributes, rows["update_waits"].to_pylist(), strict=True)
        ]

    def hows(self, rows: pa.Table, words: Translation) -> pa.Array:
        """Return how to answer each of some findings, and which text the answer replaces, if one is known.

        Parameters
        ----------
        rows
            The findings; `how` has the text that an answer replaces.
        words
            The language of whoever answers.
        """
        known = cache(lambda *about: words.say(self.how(*about)))
        names = ("how", "attribute", "language", "update_waits")
        about = zip(*(rows[name].to_pylist() for name in names), strict=True)
        how = [
            known(*one)
            if text is None or one[-1]
            else words.say(Message(IN_PLACE_OF, how=known(*one), text=_shown(text, words)))
            for text, *one in about
        ]
        return pa.array(how, pa.string())

    def same_answers(self, rows: pa.Table) -> pa.Array:
        """Return what findings have in common that one answer can be for; null for those that are answered one by one.

        Parameters
        ----------
        rows
            The findings; `how` has the text that an answer would replace.
        """
        columns = ("attribute", "check", "language", "value", "how")
        about = list(zip(*(rows[name].to_pylist() for name in columns), strict=True))
        can = {attribute: self._can_be_same(attribute) for attribute, *_ in about}
        keys = [
            same_answer(attribute, check, language, value)
            if can[attribute] and replaced is None and state is AnswerCell.ASKED
            else None
            for (attribute, check, language, value, replaced), state in zip(
                about, self.states(rows), strict=True
            )
        ]
        number = Counter(keys)
        return pa.array([key if number[key] > 1 else None for key in keys], pa.string())

    def _can_be_same(self, attribute: str | None) -> bool:
        # A value that is corrected in part is different in each product.
        return attribute not in _OWN and self.shapes.of_attribute(attribute) in _ALIKE

    def allowed(self, attribute: str, language: str | None, words: Translation = ENGLISH) -> Allowed | None:
        """Return the allowed values, or None where a cell cannot check them."""
        _ = words.gettext
        if self.codes.get(attribute):
            message = _(
                "A code: {count} are in use, see the sheet Codes. Others are possible.",
                count=len(self.codes[attribute]),
            )
            # Only asked about: the codes in use are known here, and the service knows others.
            return Allowed(_("Code"), message, codes_of=attribute, strict=False)
        match self.shapes.of_attribute(attribute):
            case AnswerShape.BOOLEAN:
                return Allowed(_("Yes or no"), _("Choose true or false."), choices=(_("true"), _("false")))
            case AnswerShape.TEXT if attribute in NAMES:
                # A spreadsheet refuses a longer title.
                title = attribute if words.is_english else _(attribute_label(attribute))
                return Allowed(
                    title[:32], _length_in_words(attribute, language, words), longest_text(str(attribute))
                )
            case AnswerShape.TEXT if language is not None:
                return Allowed(
                    _("Text"), _length_in_words(attribute, language, words), longest_text(str(attribute))
                )
        return None


@dataclass(frozen=True)
class Allowed:
    """The values that are allowed as "New value" of a row.

    Attributes
    ----------
    title, message
        The text that is shown while the cell is selected.
    longest
        Most characters of a text.
    choices
        The possible values.
    codes_of
        The attribute whose codes are offered.
    strict
        Whether other values are refused; otherwise the spreadsheet only warns.
    """

    title: str
    message: str
    longest: int | None = None
    choices: tuple[str, ...] = ()
    codes_of: str | None = None
    strict: bool = True


#: Characters of the text that an answer replaces, where a finding shows only a word of it or of another one: whoever
#: answered with a word would lose the rest.
_SHOWN = 500


def _shown(text: str, words: Translation) -> str:
    if len(text) <= _SHOWN:
        return text
    return text[:_SHOWN] + words.gettext("… ({count} of {of} characters)", count=_SHOWN, of=len(text))


def _length_in_words(attribute: str, language: str | None, words: Translation) -> str:
    """Say how long a text may be, and that a name is on one line."""
    _, longest = words.gettext, longest_text(attribute)
    named = None if language is None else words.language_label(language)[:20]
    if attribute not in NAMES:
        return _("A text in {language} of up to {longest} characters.", language=named, longest=longest)
    if named is None:
        return _("A text of up to {longest} characters, on one line.", longest=longest)
    return _(
        "A text in {language} of up to {longest} characters, on one line.", language=named, longest=longest
    )


#: Ranges of cells in one validation; spreadsheets refuse very long lists of them.
_RANGES = 500


def add_validation(
    sheet: Any,
    columns: Mapping[str, pa.Array],
    is_asked: Sequence[bool],
    fields: Fields,
    place: int,
    words: Translation = ENGLISH,
) -> None:
    """Declare the allowed values of the cells of "New value" that are asked for, as far as they are known.

    Parameters
    ----------
    sheet
        The sheet, whose first row has the headings.
    columns
        Attribute and language (as in `WORKLIST`) of its rows.
    is_asked
        Whether an answer is asked for, of each row.
    fields
        What the fields take.
    place
        The column "New value".
    words
        The language of titles and messages.
    """
    pairs = pa.table([columns["attribute"], columns["language"]], names=["attribute", "language"])
    pairs = pairs.append_column("row", pa.array(np.arange(1, len(pairs) + 1)))
    pairs = pairs.filter(pa.array(is_asked, pa.bool_()))
    # Cells with the same rule share one validation: sheets with one for each row open slowly.
    grouped = pairs.group_by(["attribute", "language"], use_threads=False).aggregate([("row", "list")])
    for pair in grouped.to_pylist():
        rule = fields.allowed(pair["attribute"], pair["language"], words)
        if rule is None:
            continue
        ranges = [[first, place, last, place] for first, last in _row_blocks(pair["row_list"])]
        for start in range(0, len(ranges), _RANGES):
            first, *others = ranges[start : start + _RANGES]
            sheet.data_validation(*first, {**_criteria(rule, fields.codes, words), "other_cells": others})


def _criteria(rule: Allowed, codes: Codes, words: Translation) -> dict[str, Any]:
    about = {
        "input_title": rule.title,
        "input_message": rule.message,
        "error_title": rule.title,
        "error_message": rule.message,
        "error_type": "stop" if rule.strict else "warning",
    }
    if rule.choices:
        return {"validate": "list", "source": list(rule.choices), **about}
    if rule.codes_of is not None:
        # The sheet Codes lists the codes of one attribute after those of the other, below a row of headings.
        above = takewhile(lambda name: name != rule.codes_of, codes)
        first = 2 + sum(len(codes[name]) for name in above)
        last = first + len(codes[rule.codes_of]) - 1
        return {"validate": "list", "source": f"={words.gettext('Codes')}!$B${first}:$B${last}", **about}
    return {"validate": "length", "criteria": "<=", "value": rule.longest, **about}


def _row_blocks(rows: Sequence[int]) -> list[tuple[int, int]]:
    """Return the first and the last row of each block of consecutive rows.

    >>> _row_blocks([1, 2, 3, 7, 9, 10])
    [(1, 3), (7, 7), (9, 10)]
    """
    numbers = np.sort(np.asarray(rows))
    cuts = np.flatnonzero(np.diff(numbers) != 1)
    firsts, lasts = numbers[np.r_[0, cuts + 1]], numbers[np.r_[cuts, len(numbers) - 1]]
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))
