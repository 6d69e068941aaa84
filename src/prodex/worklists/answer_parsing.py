"""What people type into a cell: numbers, units, yes and no, codes and languages, in the spellings that are certain.

What may mean two things raises `AnswerRefused` with both: a person is asked rather than guessed at.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog
from prodex.errors import ChangesRefused, InputError, ProdexError, QueryError
from prodex.languages.recognized import recognized
from prodex.locales import known_language_tag, language_tag
from prodex.phrases import nearest, nearest_few
from prodex.worklists.answer_kinds import code_column, without_code
from prodex.worklists.units import ESTIMATED, unit_code
from prodex.written_numbers import amount_and_unit, as_json, stored_number, written_number


class AnswerRefused(ChangesRefused):
    """An answer that cannot be used; the message says why, and what to write instead."""

    @classmethod
    def by(cls, error: ProdexError) -> Self:
        """Return the refusal that says what another error says."""
        return cls.saying(error.sentence, **error.values) if error.sentence else cls(str(error))


class AnswerInConflict(AnswerRefused):
    """An answer that somebody has to decide about, since its product is gone, or is not as it was."""


#: Yes and no beside the choices that worklists offer.
_YES = frozenset("yes y j 1 x si sí sim tak wahr vrai vero waar verdadero ✓".split())  # noqa: SIM905
_NO = frozenset("no n 0 não nao nie falsch faux falso onwaar ✗".split())  # noqa: SIM905

_SPACES = re.compile("[\\s\u00a0\u2007\u202f]+")
#: A text with its language before it: "fr: Confiture", "fra-FR: Confiture".
_WITH_LANGUAGE = re.compile(r"\s*([A-Za-z]{2,3}(?:-[A-Za-z]{2})?)\s*:\s+(?=\S)(.*)", re.DOTALL)
#: A language before a text or a part of it, by its code or its name. Words of three letters are too often no code:
#: "sel", "min", "new".
_LANGUAGE_BEFORE = re.compile(
    r"(?:^|[;/|\n])[ \t\u00a0\u202f(\[]*"
    r"((?:[a-z]{2}|[A-Z]{2}|[A-Z][a-z])(?:-[A-Za-z]{2})?|[A-Za-z]{3}-[A-Za-z]{2}|[^\W\d_]{4,20})"
    r"[)\]]?[ \t\u00a0\u202f]*:(?!//)"
)
#: What platforms put between label and code, and what people type for it.
BARS = "∣|"
_LONGEST_CODE = 80


#: Codes of the service that no product of a catalogue may have yet.
_STANDARD_CODES = {"typePackaging": frozenset({"EACH", "PACK", "CASE", "PALLET"})}


def as_one_line(text: str) -> str:
    """Return a text without outer spaces, and with single ones inside.

    >>> as_one_line("  8\\u00a0 x  7 ")
    '8 x 7'
    """
    return _SPACES.sub(" ", text).strip()


def read_boolean(text: str) -> bool:
    """Return what yes or no means.

    >>> read_boolean("Ja"), read_boolean("FALSE")
    (True, False)
    """
    word = text.strip().casefold()
    # Letter by letter: "yes?" is no answer.
    said = recognized(word, ("true", "false"), str.casefold)
    if said == "true" or word in _YES:
        return True
    if said == "false" or word in _NO:
        return False
    raise AnswerRefused.saying("{text} is neither yes nor no. Write true or false.", text=f"{text!r:.60}")


def read_number(text: str, *, is_stored: bool = False) -> int | float:
    """Return a number, as `prodex.written_numbers` reads it; a sign of per cent behind it changes nothing.

    Parameters
    ----------
    text
        As typed.
    is_stored
        Whether it is the spelling of a number that a workbook holds, so that a point is a point.

    >>> read_number("0,5"), read_number("1 234,5"), read_number("12"), read_number("1.234", is_stored=True)
    (0.5, 1234.5, 12, 1.234)
    """
    try:
        if is_stored:
            return as_json(stored_number(text))
        return as_json(written_number(text.strip().removesuffix("%")))
    except InputError as error:
        raise AnswerRefused.by(error) from None


def read_language(text: str) -> str:
    """Return the tag of a language by its code or name.

    >>> read_language("French"), read_language("fra-FR")
    ('fr', 'fr-FR')
    """
    try:
        return language_tag(text.strip())
    except QueryError as error:
        raise AnswerRefused.by(error) from None


def split_language(text: str) -> tuple[str | None, str]:
    """Return the language written before a text, if there is one, and the text.

    >>> split_language("fr: Confiture"), split_language("Note: fresh"), split_language("Confiture")
    (('fr', 'Confiture'), (None, 'Note: fresh'), (None, 'Confiture'))
    """
    if (found := _WITH_LANGUAGE.fullmatch(text)) is not None and (tag := known_language_tag(found[1])):
        return tag, found[2]
    return None, text


def languages_in(text: str) -> list[tuple[str, str]]:
    """Return the languages that a text names before parts of it, each with what is written.

    >>> languages_in("FR: Pain / NL: Brood"), languages_in("Nederlands: brood"), languages_in("Riz: 99 %; sel: 1 %")
    ([('fr', 'FR:'), ('nl', 'NL:')], [('nl', 'Nederlands:')], [])
    """
    named = ((known_language_tag(found[1]), found[1]) for found in _LANGUAGE_BEFORE.finditer(text))
    return [(tag, f"{written}:") for tag, written in named if tag is not None]


@dataclass(frozen=True)
class Vocabulary:
    """The units and codes that a catalogue uses, by their words.

    Attributes
    ----------
    units
        Codes of units by code and label in lower case.
    codes
        Codes by attribute, and there by label in lower case.
    nutrients
        Codes of nutrients by code and label in lower case.
    labels
        Labels by attribute, and there by code: a product may have another label of a code than others.
    """

    units: Mapping[str, frozenset[str]] = field(default_factory=dict)
    codes: Mapping[str, Mapping[str, frozenset[str]]] = field(default_factory=dict)
    nutrients: Mapping[str, frozenset[str]] = field(default_factory=dict)
    labels: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)

    @classmethod
    def of(cls, catalog: Catalog, attributes: Iterable[str]) -> Self:
        """Return the words of a catalogue, for the codes of some attributes."""
        units: dict[str, set[str]] = defaultdict(set)
        nutrients: dict[str, set[str]] = defaultdict(set)
        for table in ("quantities", "nutrients"):
            _collect(units, catalog, table, "unit_code", "unit")
        _collect(nutrients, catalog, "nutrients", "nutrient_code", "nutrient")
        attributes = list(attributes)
        return cls(
            _frozen(units),
            {one: _codes_by_word(catalog, one) for one in attributes},
            _frozen(nutrients),
            {one: _labels_by_code(catalog, one) for one in attributes},
        )

    def quantity(self, text: str) -> tuple[int | float, str]:
        """Return number and code of the unit of a quantity.

        >>> Vocabulary().quantity("0,5 kg"), Vocabulary().quantity("500 GRM")
        ((0.5, 'KGM'), (500, 'GRM'))
        """
        try:
            value, unit = amount_and_unit(text.strip().removeprefix(ESTIMATED))
        except InputError as error:
            raise AnswerRefused.by(error) from None
        return read_number(value), self.unit(unit)

    def unit(self, word: str) -> str:
        """Return the code of a unit.

        >>> Vocabulary().unit("Liter"), Vocabulary(units={"kiste": frozenset({"BOX"})}).unit("Kiste")
        ('LTR', 'BOX')
        """
        try:
            return unit_code(word, self.units)
        except InputError as error:
            raise AnswerRefused.by(error) from None

    def code(self, attribute: str, text: str) -> str:
        """Return the code that an answer names: a code, its label, or both with a bar between them.

        A code that no product has yet is taken as it is: the service knows more of them than are in use.
        """
        by_label = self.codes.get(attribute, {})
        in_use = {code for codes in by_label.values() for code in codes}
        typed = as_one_line(text)
        for bar in BARS:
            label, found, code = (part.strip() for part in typed.rpartition(bar))
            if found:
                typed, other = (label, code) if label in in_use and code not in in_use else (code, label)
                self._refuse_another(attribute, text, typed, other)
        if typed in in_use:
            return typed
        meant = by_label.get(typed.casefold(), frozenset())
        if len(meant) > 1:
            raise AnswerRefused.saying(
                "{text} is the label of {count:d} codes: {codes}. Write the code.",
                text=f"{typed!r:.60}",
                count=len(meant),
                codes=", ".join(sorted(meant)[:5]),
            )
        if meant:
            return next(iter(meant))
        if not typed or " " in typed or len(typed) > _LONGEST_CODE:
            shown = f"{typed!r:.60}"
            if near := nearest(typed, [*by_label, *in_use]):
                raise AnswerRefused.saying(
                    "{text} is not a code; did you mean {near}?", text=shown, near=repr(near)
                )
            raise AnswerRefused.saying(
                "{text} is not a code. The sheet Codes of a worklist lists those in use.", text=shown
            )
        return typed

    def _refuse_another(self, attribute: str, text: str, code: str, label: str) -> None:
        """Refuse a code beside the label of another one: whoever overwrote one of both meant that one."""
        own = self.labels.get(attribute, {}).get(code, ())
        known = {one.casefold() for one in (code, *own)}
        if label and own and label.casefold() not in known:
            raise AnswerRefused.saying(
                "{text} has the code of one thing and the label of another: {code} is {label}. Write the one that is "
                "meant.",
                text=f"{as_one_line(text)!r:.60}",
                code=code,
                label=repr(own[0]),
            )

    def in_use(self, attribute: str) -> list[str]:
        """Return the codes of an attribute that products have."""
        return sorted({code for codes in self.codes.get(attribute, {}).values() for code in codes})

    def nearest(self, attribute: str, typed: str, most: int = 3) -> list[str]:
        """Return the codes in use whose code or label is most like what was typed."""
        by_label = self.codes.get(attribute, {})
        near = nearest_few(typed, by_label, most, 0.4)
        return list(dict.fromkeys(code for label in near for code in sorted(by_label[label])))[:most]


def is_standard_code(attribute: str, code: str) -> bool:
    """Return whether a list of the specification has a code, which no product of a catalogue may have yet.

    >>> is_standard_code("typePackaging", "PALLET"), is_standard_code("typePackaging", "PLT")
    (True, False)
    """
    return code in _STANDARD_CODES.get(attribute, frozenset())


def _collect(into: dict[str, set[str]], catalog: Catalog, table: str, code: str, label: str) -> None:
    for row in catalog.arrow(table, [code, label]).group_by([code, label]).aggregate([]).to_pylist():
        for word in filter(None, row.values()):
            if row[code]:
                into[word.strip().casefold()].add(row[code])


def _frozen(words: Mapping[str, set[str]]) -> dict[str, frozenset[str]]:
    return {word: frozenset(codes) for word, codes in words.items()}


def _codes_by_word(catalog: Catalog, attribute: str) -> dict[str, frozenset[str]]:
    """Return the codes in use of an attribute by label and by code, in lower case."""
    found: dict[str, set[str]] = defaultdict(set)
    for code, label in codes_in_use(catalog, attribute):
        for word in filter(None, (code, label)):
            found[word.strip().casefold()].add(code)
    return _frozen(found)


def _labels_by_code(catalog: Catalog, attribute: str) -> dict[str, list[str]]:
    """Return all labels of each code that products have in an attribute."""
    found: dict[str, list[str]] = defaultdict(list)
    pairs = _codes_with_labels(catalog, attribute)
    for code, label in zip(*(pairs[name].to_pylist() for name in pairs.column_names), strict=True):
        if label is not None and label.strip() and label not in found[code]:
            found[code].append(as_one_line(label))
    return {code: sorted(labels) for code, labels in found.items() if labels}


def codes_in_use(catalog: Catalog, attribute: str) -> list[tuple[str, str | None]]:
    """Return each code that products have in an attribute, with its label, in their order."""
    found = _codes_with_labels(catalog, attribute)
    names = found.column_names
    found = found.group_by(names[0]).aggregate([(names[-1], "max")]).sort_by(names[0])
    return list(zip(found[names[0]].to_pylist(), found[f"{names[-1]}_max"].to_pylist(), strict=True))


def _codes_with_labels(catalog: Catalog, attribute: str) -> pa.Table:
    """Return each code of an attribute with each label that it has, once; the code first."""
    column = code_column(attribute)
    if column is None:
        found = catalog.arrow("codes", ["code", "label"], pc.field("attribute") == without_code(attribute))
    else:
        found = catalog.arrow("products", [column, column.removesuffix("_code")])
    names = found.column_names
    found = found.filter(pc.is_valid(found[names[0]]))
    return found.group_by(names, use_threads=False).aggregate([]).select(names)
