"""The operations that correct values of many products at once: each a small frozen value, and no code of anybody.

An operation says what is done, and a step of a recipe where. Those on texts work on columns: all texts of an attribute
are handed over at once, and come back at once.

`OPERATIONS` has each of them by the name that it has in a recipe. What a language does with capitals is in
`prodex.corrections.letter_case`.

>>> import prodex
>>> name = [{"expressedIn": {"code": "fra-FR"}, "data": "Pain  complet ACME"}]
>>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935", "namePublicLong": name}])
>>> fix = prodex.correct(catalog, "namePublicLong", prodex.operations.ReplaceText("ACME", "Acme"))
>>> fix.preview()["after"].tolist()
['Pain  complet Acme']
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from decimal import Context, Decimal, Inexact, InvalidOperation
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.arguments import described
from prodex.corrections.leaves import AMOUNT, TEXT, UNIT, quantities
from prodex.corrections.letter_case import (
    CASES,
    NEAR_A_UNIT,
    OWN_CAPITALS,
    SIMPLE_LETTERS,
    WEB_ADDRESS,
    CaseUnknown,
    change_case,
)
from prodex.errors import InputError
from prodex.locales import known_language_tag, language_tag, short_of
from prodex.patterns import OF_A_WORD, Pattern
from prodex.phrases import hint
from prodex.quality.units import FACTORS
from prodex.worklists.answer_kinds import AnswerShape
from prodex.worklists.units import dimension_of, unit_code
from prodex.written_numbers import as_json

__all__ = (
    "ChangeCase",
    "ConvertUnit",
    "CopyFrom",
    "MoveText",
    "RemovePrefix",
    "RemoveValue",
    "ReplaceText",
    "SetCode",
    "SetValue",
    "TrimSpaces",
)

#: Characters of a text: what a replacement may make of one.
_LONGEST_TEXT = 1_000_000
#: No text is left: then it is not certain that this is meant.
NOTHING_LEFT: Final = "nothing would be left of the text. RemoveValue (remove value) takes it away."
#: What has words: texts in languages, and strings without one.
WORDED: Final = frozenset({AnswerShape.TEXT, AnswerShape.STRING})
_VALUES = WORDED | {
    AnswerShape.BOOLEAN,
    AnswerShape.INTEGER,
    AnswerShape.NUMBER,
    AnswerShape.CODE,
    AnswerShape.QUANTITY,
}


class Transformed(NamedTuple):
    """A column of values after an operation.

    Attributes
    ----------
    values
        The new values; as they were where they are refused.
    refused
        Why a value is refused, by its row.
    """

    values: pa.Array
    refused: Mapping[int, str] = MappingProxyType({})


@dataclass(frozen=True)
class SetValue:
    """Set a value: a text, a number, yes or no, a quantity such as "500 g", a code or its label.

    A text is meant letter by letter, so that "delete" and "n/a" are texts. Of texts, a product that has none gets one
    if the step names the language; without a language, the text of a product that has one in a single language is set.
    A language alone ("fr") means the only text in it; a product that has several (fra-BE and fra-FR) is refused.

    Attributes
    ----------
    value
        The value.
    """

    do: ClassVar[str] = "set value"
    shapes: ClassVar[frozenset[AnswerShape]] = _VALUES
    value: str | bool | int | float

    def __post_init__(self) -> None:
        if isinstance(self.value, np.generic):  # a value of a frame, which is the same in Python
            object.__setattr__(self, "value", self.value.item())
        if not isinstance(self.value, str | bool | int | float) or self.value != self.value:
            raise InputError(
                f"The value to set is {described(self.value)}. Give a text, a number, True or False; "
                "RemoveValue() takes a value away."
            )
        if isinstance(self.value, str):
            if not self.value.strip():
                raise InputError(
                    'The value to set is empty. RemoveValue, in a recipe "remove value", takes it away.'
                )
            _check_letters("value", self.value)

    @property
    def words(self) -> str:
        """What it does, for people."""
        return f"set to {_quoted(self.value)}"


@dataclass(frozen=True)
class SetCode:
    """Set a code of a list, by the code or its label.

    Known are the codes that products of the catalogue have, and those of the lists of the specification. Another one is
    to be confirmed.

    Attributes
    ----------
    code
        The code.
    """

    do: ClassVar[str] = "set code"
    shapes: ClassVar[frozenset[AnswerShape]] = frozenset({AnswerShape.CODE})
    code: str

    def __post_init__(self) -> None:
        _check_text("code", self.code)

    @property
    def words(self) -> str:
        """What it does, for people."""
        return f"set code {self.code}"


@dataclass(frozen=True)
class ReplaceText:
    """Replace a text by another one wherever it is found.

    Attributes
    ----------
    find
        What is replaced. Letters with accents are found in every form of Unicode.
    by
        What is written instead; "" takes it out. With a pattern, "\\\\1" is its first group, and "\\\\0" all of it.
    pattern
        Whether `find` is a regular expression of the library `regex`. Letters, digits and marks of every script are of
        words. One that takes too long is refused with the text that it was looking at.
    ignore_case
        Whether capitals and small letters are the same.
    whole_words
        Whether it is found only where no letter, mark or digit is next to it.

    Examples
    --------
    >>> texts = pa.array(["ACME tea", "acme", "Tea"])
    >>> ReplaceText("ACME", "Acme", ignore_case=True).transformed(texts, pa.array(["en"] * 3)).values.to_pylist()
    ['Acme tea', 'Acme', 'Tea']
    """

    do: ClassVar[str] = "replace text"
    shapes: ClassVar[frozenset[AnswerShape]] = WORDED
    find: str
    by: str
    pattern: bool = False
    ignore_case: bool = False
    whole_words: bool = False

    def __post_init__(self) -> None:
        for name in ("find", "by"):
            _check_type(name, getattr(self, name), str)
            _check_letters(name, getattr(self, name))
        for name in ("pattern", "ignore_case", "whole_words"):
            _check_type(name, getattr(self, name), bool)
        if not self.find:
            raise InputError("There is no text to find. Give one: ReplaceText('Acme Inc', 'Acme').")
        if self.whole_words and self.pattern:
            raise InputError(
                r"whole_words is for plain texts. In a pattern write \b where a word begins or ends."
            )
        sought = self._sought
        if self.pattern and sought.is_in(""):
            raise InputError(
                f"{sought.words} is found in an empty text, too, so that it is everywhere. Write what has to be there, "
                "such as x+ instead of x*."
            )
        if self.pattern:
            sought.check_replacement(self.by)

    @cached_property
    def _sought(self) -> Pattern:
        if self.pattern:
            return Pattern(self.find, ignore_case=self.ignore_case)
        before, behind = (f"(?<!{OF_A_WORD})", f"(?!{OF_A_WORD})") if self.whole_words else ("", "")
        return Pattern(self.find, True, self.ignore_case, before=before, behind=behind)

    @property
    def words(self) -> str:
        """What it does, for people."""
        kind = "the pattern " if self.pattern else ""
        return f"replace {kind}{_quoted(self.find)} by {_quoted(self.by)}"

    def transformed(self, texts: pa.Array, languages: pa.Array) -> Transformed:  # noqa: ARG002 - as others take
        """Return texts after it; those of which nothing would be left, or far too much, are refused."""
        if self.find.isascii() and not self.pattern:
            # Most texts have nothing to replace, and Arrow finds that out much faster.
            has_it = pc.match_substring(texts, self.find, ignore_case=self.ignore_case)
        else:
            has_it = pc.is_valid(texts)
        made = self._sought.replaced_in(texts.filter(has_it), self.by, _LONGEST_TEXT)
        new = pc.replace_with_mask(texts, has_it, made)
        too_long = pc.indices_nonzero(pc.and_(pc.is_null(new), pc.is_valid(texts))).to_pylist()
        refused = dict.fromkeys(too_long, f"the text would have more than {_LONGEST_TEXT:,} characters.")
        return _without_empty(texts, pc.coalesce(new, texts), refused)


@dataclass(frozen=True)
class ChangeCase:
    """Write texts in capitals, in small letters, or as sentences or titles, as each language does it.

    Known are: the dotted i of Turkish and Azerbaijani; SS for the German ß; Greek capitals without accents; the Dutch
    IJ; French accents, which capitals keep; articles and prepositions, which are small in titles, and elisions
    (d'Olive). Not known, and refused where it would matter: which German and Luxembourgish words are nouns
    (sentences), and how titles are written in languages other than Danish, Dutch, English, French, German, Italian,
    Norwegian, Portuguese, Spanish and Swedish. Which words are names is not known in any language: name them in
    `keep`. Words with capitals inside (McCain, pH), or with digits behind a letter (B12), stay as they are in sentences
    and titles; so do markup and addresses in each case. Units behind a number are written as their symbol in each case:
    844 kJ, 500 mg.

    Attributes
    ----------
    to
        "upper", "lower", "sentence" or "title".
    keep
        Words that are written exactly so, such as "UHT".

    Examples
    --------
    >>> texts, languages = pa.array(["ÇİLEK reçeli", "HUILE D'OLIVE"]), pa.array(["tr", "fr"])
    >>> ChangeCase("title", keep=["UHT"]).transformed(texts, languages).values.to_pylist()[1]
    "Huile d'Olive"
    >>> ChangeCase("lower").transformed(texts, languages).values.to_pylist()
    ['çilek reçeli', "huile d'olive"]
    """

    do: ClassVar[str] = "change case"
    shapes: ClassVar[frozenset[AnswerShape]] = WORDED
    to: str
    keep: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_type("to", self.to, str)
        if self.to not in CASES:
            near = hint(self.to, CASES, f"Give one of {', '.join(CASES)}.")
            raise InputError(f"There is no case {self.to!r:.40}{near}")
        if isinstance(self.keep, str) or not all(isinstance(one, str) and one.strip() for one in self.keep):
            raise InputError(f"keep is {described(self.keep)}. Give a list of words, such as ['UHT', 'BIO'].")
        object.__setattr__(self, "keep", tuple(self.keep))

    @property
    def words(self) -> str:
        """What it does, for people."""
        kept = f", keeping {', '.join(self.keep)}" if self.keep else ""
        return f"change case to {self.to}{kept}"

    def transformed(self, texts: pa.Array, languages: pa.Array) -> Transformed:
        """Return texts after it."""
        if self.to in ("upper", "lower") and not self.keep:
            return self._simply(texts, languages)
        return self._by_language(texts, languages)

    def _simply(self, texts: pa.Array, languages: pa.Array) -> Transformed:
        """Return texts after it, most of them by Arrow: those of which each letter has one capital."""
        spoken = languages.dictionary_encode()
        usual = [one is None or short_of(one) not in OWN_CAPITALS for one in spoken.dictionary.to_pylist()]
        is_usual = pa.array([*usual, True]).take(spoken.indices.fill_null(len(usual)))
        is_simple = pc.and_(is_usual, pc.match_substring_regex(texts, SIMPLE_LETTERS))
        for odd_one in (WEB_ADDRESS, NEAR_A_UNIT):
            is_simple = pc.and_(is_simple, pc.invert(pc.match_substring_regex(texts, odd_one)))
        change = pc.utf8_upper if self.to == "upper" else pc.utf8_lower
        odd = pc.invert(is_simple)
        made = self._by_language(texts.filter(odd), languages.filter(odd))
        return Transformed(pc.replace_with_mask(change(texts), odd, made.values))

    def _by_language(self, texts: pa.Array, languages: pa.Array) -> Transformed:
        def change(text: str, language: str | None) -> _Row:
            return change_case(text, language, self.to, self.keep), language

        made, refused = _each(zip(texts.to_pylist(), languages.to_pylist(), strict=True), change)
        return Transformed(pa.array([text for text, _ in made], texts.type), refused)


_SPACE = r"\x{0009}\x{0020}\x{00A0}\x{1680}\x{2000}-\x{200A}\x{202F}\x{205F}\x{3000}"
_NO_BREAK = r"\x{00A0}\x{2007}\x{202F}"
_BREAK = r"\x{000A}-\x{000D}\x{0085}\x{2028}\x{2029}"
#: What nobody sees, and nobody means at the ends of a text.
_INVISIBLE = r"\x{200B}\x{2060}\x{FEFF}\x{00AD}"


@dataclass(frozen=True)
class TrimSpaces:
    """Take away spaces around a text, and leave single ones inside; all spaces of Unicode are spaces.

    A no-break space inside stays one where it is meant ("500\u00a0g"): a run of spaces becomes one no-break space if it
    has one.

    Attributes
    ----------
    line_breaks
        "keep" leaves the line breaks inside, "space" makes spaces of them.
    no_break
        "keep", or "space" to make plain spaces of no-break spaces.

    Examples
    --------
    >>> texts = pa.array([" Riz\u2003 long\u00a0", "500\u00a0 g", "a \\n b"])
    >>> TrimSpaces().transformed(texts, pa.nulls(3)).values.to_pylist()
    ['Riz long', '500\\xa0g', 'a\\nb']
    """

    do: ClassVar[str] = "trim spaces"
    shapes: ClassVar[frozenset[AnswerShape]] = WORDED
    line_breaks: str = "keep"
    no_break: str = "keep"

    def __post_init__(self) -> None:
        for name in ("line_breaks", "no_break"):
            value = getattr(self, name)
            _check_type(name, value, str)
            if value not in ("keep", "space"):
                raise InputError(f"{name} is {value!r:.40}. Give 'keep' or 'space'.")

    @property
    def words(self) -> str:
        """What it does, for people."""
        breaks = " and line breaks" if self.line_breaks == "space" else ""
        return f"trim and collapse spaces{breaks}"

    def transformed(self, texts: pa.Array, languages: pa.Array) -> Transformed:  # noqa: ARG002 - as others take
        """Return texts after it; those of which nothing would be left are refused."""
        around = rf"[{_SPACE}{_BREAK}{_INVISIBLE}]"
        odd = rf"^{around}|{around}$|[{_SPACE}]{{2}}|[^ \PZ{_NO_BREAK}]|[\t{_BREAK}]"
        if self.no_break == "space":
            odd = f"{odd}|[{_NO_BREAK}]"
        has_it = pc.match_substring_regex(texts, odd)
        made = texts.filter(has_it)
        spaces = f"{_SPACE}{_BREAK}" if self.line_breaks == "space" else _SPACE
        made = pc.replace_substring_regex(made, f"^{around}+", "")
        made = pc.replace_substring_regex(made, f"{around}+$", "")
        if self.line_breaks == "keep" and _has_any(made, _BREAK):
            made = pc.replace_substring_regex(made, rf"[{_SPACE}]*([{_BREAK}]+)[{_SPACE}]*", r"\1")
        if self.no_break == "keep" and _has_any(made, _NO_BREAK):
            # The first no-break space of a run, with the spaces around it.
            made = pc.replace_substring_regex(made, rf"[{spaces}]*?([{_NO_BREAK}])[{spaces}]*", r"\1")
            spaces = re.sub(r"\\x\{(?:00A0|202F)\}", "", spaces)
            spaces = spaces.replace(r"\x{2000}-\x{200A}", r"\x{2000}-\x{2006}\x{2008}-\x{200A}")
        # A single plain space is left alone, since most spaces are.
        made = pc.replace_substring_regex(
            made, rf"[{spaces}]{{2,}}|[{spaces.replace(chr(92) + 'x{0020}', '')}]", " "
        )
        return _without_empty(texts, pc.replace_with_mask(texts, has_it, made), {})


def _has_any(texts: pa.Array, characters: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(texts, f"[{characters}]")).as_py())


@dataclass(frozen=True)
class RemovePrefix:
    """Take a word away where texts begin with it, with the spaces behind it.

    "ACME" is no prefix of "ACMEX".

    Attributes
    ----------
    prefix
        What texts begin with.
    ignore_case
        Whether capitals and small letters are the same.

    Examples
    --------
    >>> texts = pa.array(["ACME Tea", "ACMEX Tea"])
    >>> RemovePrefix("ACME").transformed(texts, pa.nulls(2)).values.to_pylist()
    ['Tea', 'ACMEX Tea']
    """

    do: ClassVar[str] = "remove prefix"
    shapes: ClassVar[frozenset[AnswerShape]] = WORDED
    prefix: str
    ignore_case: bool = False

    def __post_init__(self) -> None:
        _check_text("prefix", self.prefix)
        _check_type("ignore_case", self.ignore_case, bool)
        _ = self._begin

    @property
    def words(self) -> str:
        """What it does, for people."""
        return f"remove the prefix {_quoted(self.prefix)}"

    def transformed(self, texts: pa.Array, languages: pa.Array) -> Transformed:  # noqa: ARG002 - as others take
        """Return texts after it; those of which nothing would be left are refused."""
        is_ascii = self.prefix.isascii()
        begins = (
            pc.starts_with(texts, self.prefix, ignore_case=self.ignore_case) if is_ascii else texts.is_valid()
        )
        made = self._begin.replaced_in(texts.filter(begins), "")
        return _without_empty(texts, pc.replace_with_mask(texts, begins, made), {})

    @cached_property
    def _begin(self) -> Pattern:
        ends_a_word = Pattern(rf"{OF_A_WORD}\Z").is_in(self.prefix)
        behind = rf"(?!{OF_A_WORD})\s*" if ends_a_word else r"\s*"
        return Pattern(self.prefix, True, self.ignore_case, before=r"\A", behind=behind)


@dataclass(frozen=True)
class MoveText:
    """Move a text to another attribute, another language, or both.

    Where the other place holds another text, it is refused; so is a language alone that means several texts of a
    product, with their codes. A text is taken away only if it has arrived.

    Attributes
    ----------
    to_attribute
        The other attribute; None for the same.
    to_language
        The other language: code or name, also with a country ("fr-BE"); None for the same.
    """

    do: ClassVar[str] = "move text"
    shapes: ClassVar[frozenset[AnswerShape]] = frozenset({AnswerShape.TEXT})
    to_attribute: str | None = None
    to_language: str | None = None

    def __post_init__(self) -> None:
        if self.to_attribute is None and self.to_language is None:
            raise InputError(
                "It is not said where the text is moved. Give to_attribute, to_language or both."
            )
        _check_other_place(self, "to_attribute", "to_language")

    @property
    def words(self) -> str:
        """What it does, for people."""
        return f"move to {' in '.join(filter(None, [self.to_attribute, self.to_language]))}"


@dataclass(frozen=True)
class CopyFrom:
    """Copy a value from another attribute or language.

    Where there is another value already, it is refused, unless it may be replaced.

    Attributes
    ----------
    from_attribute
        Where it is copied from; None for the same attribute.
    from_language
        The language of the text that is copied: code or name; None for the same.
    replace
        Whether it replaces another value that is there.
    """

    do: ClassVar[str] = "copy from"
    shapes: ClassVar[frozenset[AnswerShape]] = _VALUES
    from_attribute: str | None = None
    from_language: str | None = None
    replace: bool = False

    def __post_init__(self) -> None:
        if self.from_attribute is None and self.from_language is None:
            raise InputError(
                "It is not said from where the value is copied. Give from_attribute, from_language or both."
            )
        _check_type("replace", self.replace, bool)
        _check_other_place(self, "from_attribute", "from_language")

    @property
    def words(self) -> str:
        """What it does, for people."""
        return f"copy from {' in '.join(filter(None, [self.from_attribute, self.from_language]))}"


@dataclass(frozen=True)
class ConvertUnit:
    """Convert quantities to another unit of the same dimension, exactly.

    A number that would have to be rounded is refused; so is a quantity that measures something else.

    Attributes
    ----------
    to
        The unit: its code or a word for it.
    only
        Convert only quantities in this unit; None for all.

    Examples
    --------
    >>> ConvertUnit("kg").to, ConvertUnit("kg").converted("500", "GRM")
    ('KGM', '0.5')
    """

    do: ClassVar[str] = "convert unit"
    shapes: ClassVar[frozenset[AnswerShape]] = frozenset({AnswerShape.QUANTITY})
    to: str
    only: str | None = None

    def __post_init__(self) -> None:
        for name in ("to", "only"):
            if (word := getattr(self, name)) is not None:
                _check_text(name, word)
                object.__setattr__(self, name, unit_code(word))
        if self.to not in UNIT_FACTORS:
            raise InputError(
                f"It is not known how to convert to {self.to}. Known are {', '.join(UNIT_FACTORS)}."
            )
        if self.only is not None and dimension_of(self.only) != dimension_of(self.to):
            raise InputError(
                f"{self.only} measures {dimension_of(self.only)}, and {self.to} {dimension_of(self.to)}: one is no "
                "other."
            )

    @property
    def words(self) -> str:
        """What it does, for people."""
        return f"convert {f'{self.only} ' if self.only else ''}to {self.to}"

    def transformed(self, values: pa.Array) -> Transformed:
        """Return quantities after it; those that it does not convert exactly are refused."""

        def change(amount: str, unit: str) -> _Row:
            if unit == self.to or self.only not in (None, unit):
                return amount, unit
            return self.converted(amount, unit), self.to

        rows = [(one[AMOUNT], one[UNIT]) for one in values.to_pylist()]
        made, refused = _each(rows, change)
        amounts, units = (pa.array([one[side] for one in made], TEXT) for side in (0, 1))
        return Transformed(quantities(amounts, units), refused)

    def converted(self, amount: str, unit: str) -> str:
        """Return how many of the other unit an amount is, spelled as in JSON.

        Raises
        ------
        InputError
            When it cannot be converted, or not exactly.
        """
        if dimension_of(unit) != dimension_of(self.to):
            raise InputError(f"{amount} {unit} is no {dimension_of(self.to)}, which {self.to} measures.")
        if unit not in UNIT_FACTORS:
            raise InputError(f"it is not known how many {self.to} are one {unit}.")
        try:
            value = _EXACT.divide(_EXACT.multiply(Decimal(amount), UNIT_FACTORS[unit]), UNIT_FACTORS[self.to])
            number = as_json(value)
        except (Inexact, InvalidOperation, OverflowError) as error:
            raise InputError(f"{amount} {unit} is no exact number of {self.to}.") from error
        if Decimal(repr(number)) != value or math.isinf(float(value)):
            raise InputError(f"{amount} {unit} is no exact number of {self.to}.")
        return repr(number)


#: How many grams, millimetres or millilitres a unit is, exactly.
UNIT_FACTORS: Final[Mapping[str, Decimal]] = {
    code: Decimal(repr(factor)) for units in FACTORS.values() for code, factor in units.items()
}
_EXACT = Context(prec=40, traps=[Inexact, InvalidOperation])


@dataclass(frozen=True)
class RemoveValue:
    """Take values away.

    A language alone means the only text in it: where a product has several (fra-BE and fra-FR), none is taken away.
    """

    do: ClassVar[str] = "remove value"
    shapes: ClassVar[frozenset[AnswerShape]] = _VALUES

    @property
    def words(self) -> str:
        """What it does, for people."""
        return "remove"


Operation: TypeAlias = (
    SetValue
    | SetCode
    | ReplaceText
    | ChangeCase
    | TrimSpaces
    | RemovePrefix
    | MoveText
    | CopyFrom
    | ConvertUnit
    | RemoveValue
)
#: Those that make a text of a text, each alone: a function of the column, and of that of their languages.
TextOperation: TypeAlias = ReplaceText | ChangeCase | TrimSpaces | RemovePrefix

#: Each operation by its name in a recipe.
OPERATIONS: Final[Mapping[str, type[Operation]]] = {
    one.do: one
    for one in (
        SetValue,
        ReplaceText,
        ChangeCase,
        TrimSpaces,
        RemovePrefix,
        MoveText,
        SetCode,
        ConvertUnit,
        CopyFrom,
        RemoveValue,
    )
}


def parameters_of(operation: Operation) -> dict[str, Any]:
    """Return what is to be written of an operation: its parameters, but those that are as usual.

    >>> parameters_of(ReplaceText("a", "b")), parameters_of(RemoveValue())
    ({'find': 'a', 'by': 'b'}, {})
    """
    return {
        one.name: list(value) if isinstance(value, tuple) else value
        for one in fields(operation)
        if (value := getattr(operation, one.name)) != one.default or one.default is MISSING
    }


#: Values of one row.
_Row: TypeAlias = tuple[Any, ...]


def _each(rows: Iterable[_Row], change: Callable[..., _Row]) -> tuple[list[_Row], dict[int, str]]:
    """Change rows, equal ones once; those that are refused stay, and are returned by their numbers with the reason."""
    made: dict[_Row, tuple[_Row, str | None]] = {}
    new, refused = [], {}
    for number, row in enumerate(rows):
        if row not in made:
            try:
                made[row] = change(*row), None
            except (CaseUnknown, InputError) as error:
                made[row] = row, str(error)
        found, why = made[row]
        new.append(found)
        if why is not None:
            refused[number] = why
    return new, refused


def _check_type(name: str, value: object, kind: type) -> None:
    if not isinstance(value, kind):
        needed = {str: "text", bool: "True or False"}[kind]
        raise InputError(f"{name} is {described(value)}. Give {needed}.")


def _check_text(name: str, value: object) -> None:
    _check_type(name, value, str)
    if not str(value).strip():
        raise InputError(f"{name} is empty. Give a text.")
    _check_letters(name, str(value))


def _check_letters(name: str, value: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"{name}: character {error.start + 1} is half of a character (U+{ord(value[error.start]):04X}), which "
            "cannot be sent. Type it again."
        ) from None


def _check_other_place(operation: MoveText | CopyFrom, attribute: str, language: str) -> None:
    for name in (attribute, language):
        if (value := getattr(operation, name)) is not None:
            _check_text(name, value)
    if (word := getattr(operation, language)) is not None and known_language_tag(word) is None:
        language_tag(word)  # raises, and names the nearest


def _without_empty(texts: pa.Array, new: pa.Array, refused: dict[int, str]) -> Transformed:
    """Return new texts, but those that have nothing visible left are refused."""
    empty = pc.and_(
        pc.not_equal(new, texts),
        pc.invert(pc.match_substring_regex(new, rf"[^{_SPACE}{_BREAK}{_INVISIBLE}]")),
    )
    if pc.any(empty).as_py():
        refused |= dict.fromkeys(pc.indices_nonzero(empty).to_pylist(), NOTHING_LEFT)
        new = pc.if_else(empty, texts, new)
    return Transformed(new, refused)


def _quoted(value: object) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f'"{text if len(text) <= 60 else text[:60] + " …"}"'
