"""What people type into a cell: numbers, units, yes and no, codes and languages, in the spellings that are certain.

What may mean two things raises `AnswerRefused` with both: a person is asked rather than guessed at.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import cache
from typing import Any, Self

import pyarrow.compute as pc

from prodex.catalog import Catalog
from prodex.errors import QueryError
from prodex.fix.shapes import code_column, without_code
from prodex.locales import known_language_tag, language_tag
from prodex.text import hint, nearest_few


class AnswerRefused(ValueError):
    """An answer that cannot be used; the message says why, and what to write instead."""


_YES = frozenset(
    [
        "true",
        "yes",
        "y",
        "1",
        "x",
        "ja",
        "oui",
        "si",
        "sí",
        "sim",
        "tak",
        "wahr",
        "vrai",
        "vero",
        "waar",
        "verdadero",
        "✓",
    ]
)
_NO = frozenset(
    [
        "false",
        "no",
        "n",
        "0",
        "nein",
        "nee",
        "non",
        "não",
        "nao",
        "nie",
        "falsch",
        "faux",
        "falso",
        "onwaar",
        "✗",
    ]
)

_SPACES = re.compile("[\\s\u00a0\u2007\u202f]+")
_QUANTITY = re.compile(r"([-+−]?[\d.,'’\s]*\d)\s*(\D.*)?", re.DOTALL)
_GROUPED = re.compile(r"\d{1,3}(?:[ '’]\d{3})+")
#: A text with its language before it: "fr: Confiture", "fra-FR: Confiture".
_WITH_LANGUAGE = re.compile(r"\s*([A-Za-z]{2,3}(?:-[A-Za-z]{2})?)\s*:\s+(?=\S)(.*)", re.DOTALL)
#: What platforms put between label and code, and what people type for it.
_BARS = "∣|"
_LONGEST_CODE = 80

#: Words for units, with their codes (UN/CEFACT Recommendation 20).
_UNITS = {
    "MC": "µg μg mcg microgram microgramme mikrogramm",
    "MGM": "mg milligram milligramme milligramm",
    "GRM": "g gr gram grams gramme grammes gramm gramo gramos grammi",
    "KGM": "kg kilo kilogram kilograms kilogramme kilogramm kilogramo",
    "MLT": "ml millilitre milliliter millilitres",
    "CLT": "cl centilitre centiliter zentiliter",
    "DLT": "dl decilitre deciliter",
    "LTR": "l litre litres liter liters litro litros",
    "MMT": "mm millimetre millimeter millimètre",
    "CMT": "cm centimetre centimeter centimètre zentimeter",
    "MTR": "m metre meter mètre",
    "KJO": "kj kilojoule kilojoules",
    "E14": "kcal kilocalorie kilocalories kilokalorien cal",
    "CEL": "°c c celsius",
    "P1": "% percent prozent",
    "H87": "pc pcs piece pieces pièce pièces stück stuk stuks unit units pieza piezas",
}


#: Codes of the service that no product of a catalogue may have yet.
_STANDARD_CODES = {"typePackaging": frozenset({"EACH", "PACK", "CASE", "PALLET"})}


def as_one_line(text: str) -> str:
    """Return a text without outer spaces, and with single ones inside.

    >>> as_one_line("  8\\u00a0 x  7 ")
    '8 x 7'
    """
    return _SPACES.sub(" ", text).strip()


def boolean(text: str) -> bool:
    """Return what yes or no means.

    >>> boolean("Ja"), boolean("FALSE")
    (True, False)
    """
    word = text.strip().casefold()
    if word in _YES:
        return True
    if word in _NO:
        return False
    raise AnswerRefused(f"{text!r:.60} is neither yes nor no. Write true or false.")


def number(text: str, *, is_stored: bool = False) -> int | float:
    """Return a number, with a decimal point or comma.

    Parameters
    ----------
    text
        As typed.
    is_stored
        Whether it is the spelling of a number that a workbook holds, so that a point is a point.

    >>> number("0,5"), number("1 234,5"), number("12"), number("1.234", is_stored=True)
    (0.5, 1234.5, 12, 1.234)
    """
    typed = as_one_line(text).replace("−", "-").removeprefix("+").removesuffix("%").strip()
    sign, digits = ("-", typed[1:].strip()) if typed.startswith("-") else ("", typed)
    plain = digits if is_stored else _plain(digits, text)
    try:
        value = Decimal(sign + plain)
    except InvalidOperation:
        raise AnswerRefused(f"{text!r:.60} is not a number. Write digits, such as 12.5.") from None
    return int(value) if value == value.to_integral_value() else float(value)


def _plain(digits: str, text: str) -> str:
    """Return digits with a point as their only sign."""
    whole, mark, rest = digits, "", ""
    if marks := [place for place, sign in enumerate(digits) if sign in ".,"]:
        whole, mark, rest = digits[: marks[-1]], digits[marks[-1]], digits[marks[-1] + 1 :]
        before = {digits[place] for place in marks[:-1]}
        if mark in before:  # 1.234.567: the sign groups the digits
            whole, mark, rest = digits, "", ""
        elif len(marks) == 1 and len(rest) == 3 and whole.isdecimal() and whole.strip("0"):
            raise AnswerRefused(
                f"{text!r:.60} may be {whole}.{rest} or {whole}{rest}. Write {whole}{rest} without a sign, or "
                f"{whole}.{rest}0 with one more digit."
            )
    grouped = re.sub("[.,]", " ", whole)
    if " " in grouped or "'" in grouped or "’" in grouped:
        if not _GROUPED.fullmatch(grouped):
            raise AnswerRefused(f"{text!r:.60} is not one number. Write digits, such as 12.5.")
        whole = re.sub("[^0-9]", "", grouped)
    return f"{whole}.{rest}" if mark else whole


def language_of(text: str) -> str:
    """Return the tag of a language by its code or name.

    >>> language_of("French"), language_of("fra-FR")
    ('fr', 'fr-FR')
    """
    try:
        return language_tag(text.strip())
    except QueryError as error:
        raise AnswerRefused(str(error)) from None


def with_language(text: str) -> tuple[str | None, str]:
    """Return the language that stands before a text, if one does, and the text.

    >>> with_language("fr: Confiture"), with_language("Note: fresh"), with_language("Confiture")
    (('fr', 'Confiture'), (None, 'Note: fresh'), (None, 'Confiture'))
    """
    if (found := _WITH_LANGUAGE.fullmatch(text)) is not None and (tag := known_language_tag(found[1])):
        return tag, found[2]
    return None, text


@cache
def _standard_units() -> Mapping[str, str]:
    return {word: code for code, words in _UNITS.items() for word in words.split()}


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
    """

    units: Mapping[str, frozenset[str]] = field(default_factory=dict)
    codes: Mapping[str, Mapping[str, frozenset[str]]] = field(default_factory=dict)
    nutrients: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, catalog: Catalog, attributes: Iterable[str]) -> Self:
        """Return the words of a catalogue, for the codes of some attributes."""
        units: dict[str, set[str]] = defaultdict(set)
        nutrients: dict[str, set[str]] = defaultdict(set)
        for table in ("quantities", "nutrients"):
            _collect(units, catalog, table, "unit_code", "unit")
        _collect(nutrients, catalog, "nutrients", "nutrient_code", "nutrient")
        return cls(_frozen(units), {one: _codes(catalog, one) for one in attributes}, _frozen(nutrients))

    def quantity(self, text: str) -> tuple[int | float, str]:
        """Return number and code of the unit of a quantity.

        >>> Vocabulary().quantity("0,5 kg"), Vocabulary().quantity("500 GRM")
        ((0.5, 'KGM'), (500, 'GRM'))
        """
        found = _QUANTITY.fullmatch(as_one_line(text))
        if found is None or not (found[2] or "").strip():
            raise AnswerRefused(f"{text!r:.60} is not a number with its unit. Write both, such as 500 g.")
        return number(found[1]), self.unit(found[2])

    def unit(self, word: str) -> str:
        """Return the code of a unit."""
        key = word.strip().rstrip(".").casefold()
        own = self.units.get(key, frozenset())
        if len(own) == 1:
            return next(iter(own))
        if word.strip() in _UNITS:
            return word.strip()
        if (code := _standard_units().get(key)) is not None:
            return code
        known = [*_standard_units(), *self.units]
        near = hint(key, known, "Write g, kg, ml, l, cm or a code such as GRM.")
        raise AnswerRefused(f"{word.strip()!r:.40} is no unit that is known{near}")

    def code(self, attribute: str, text: str) -> str:
        """Return the code that an answer names: a code, its label, or both with a bar between them.

        A code that no product has yet is taken as it is: the service knows more of them than are in use.
        """
        by_label = self.codes.get(attribute, {})
        in_use = {code for codes in by_label.values() for code in codes}
        typed = as_one_line(text)
        for bar in _BARS:
            label, found, code = (part.strip() for part in typed.rpartition(bar))
            if found:
                typed = label if label in in_use and code not in in_use else code
        if typed in in_use:
            return typed
        meant = by_label.get(typed.casefold(), frozenset())
        if len(meant) > 1:
            raise AnswerRefused(
                f"{typed!r:.60} is the label of {len(meant)} codes: {', '.join(sorted(meant)[:5])}. Write the code."
            )
        if meant:
            return next(iter(meant))
        if not typed or " " in typed or len(typed) > _LONGEST_CODE:
            near = hint(typed, [*by_label, *in_use], "The sheet Codes lists those in use.")
            raise AnswerRefused(f"{typed!r:.60} is no code{near}")
        return typed

    def in_use(self, attribute: str) -> list[str]:
        """Return the codes of an attribute that products have."""
        return sorted({code for codes in self.codes.get(attribute, {}).values() for code in codes})

    def nearest(self, attribute: str, typed: str, most: int = 3) -> list[str]:
        """Return the codes in use whose code or label is most like what was typed."""
        by_label = self.codes.get(attribute, {})
        near = nearest_few(typed, by_label, most, 0.4)
        return list(dict.fromkeys(code for label in near for code in sorted(by_label[label])))[:most]


def unknown_codes(value: Any, attribute: str, words: Vocabulary) -> list[str]:
    """Return the codes of a value that no product of the catalogue has and no list of the standards.

    >>> unknown_codes([{"code": "PALLET"}, {"code": "PLT"}], "typePackaging", Vocabulary())
    ['PLT']
    """
    known = {code for codes in words.codes.get(attribute, {}).values() for code in codes}
    known |= _STANDARD_CODES.get(attribute, frozenset())
    listed = value if isinstance(value, list) else [value]
    return [str(one["code"]) for one in listed if str(one["code"]) not in known]


def _collect(into: dict[str, set[str]], catalog: Catalog, table: str, code: str, label: str) -> None:
    for row in catalog.arrow(table, [code, label]).group_by([code, label]).aggregate([]).to_pylist():
        for word in filter(None, row.values()):
            if row[code]:
                into[word.strip().casefold()].add(row[code])


def _frozen(words: Mapping[str, set[str]]) -> dict[str, frozenset[str]]:
    return {word: frozenset(codes) for word, codes in words.items()}


def _codes(catalog: Catalog, attribute: str) -> dict[str, frozenset[str]]:
    """Return the codes in use of an attribute by label and by code, in lower case."""
    found: dict[str, set[str]] = defaultdict(set)
    for code, label in codes_in_use(catalog, attribute):
        for word in filter(None, (code, label)):
            found[word.strip().casefold()].add(code)
    return _frozen(found)


def codes_in_use(catalog: Catalog, attribute: str) -> list[tuple[str, str | None]]:
    """Return each code that products have in an attribute, with its label, in their order."""
    column = code_column(attribute)
    if column is None:
        found = catalog.arrow("codes", ["code", "label"], pc.field("attribute") == without_code(attribute))
    else:
        found = catalog.arrow("products", [column, column.removesuffix("_code")])
    names = found.column_names
    found = found.filter(pc.is_valid(found[names[0]]))
    found = found.group_by(names[0]).aggregate([(names[-1], "max")]).sort_by(names[0])
    return list(zip(found[names[0]].to_pylist(), found[f"{names[-1]}_max"].to_pylist(), strict=True))
