"""What can be asked about: attributes, faces of pictures and nutrients, and which conditions their values can meet.

Beside a wire path (`namePublicLong`, `brand`, `netContent`) an attribute can be a picture of one face, as
`assets.pictures[front]`, or one nutrient, as `isPartitionedBy.contains[FAT]`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from prodex.errors import InputError
from prodex.locales import language_name, language_tag, short_of
from prodex.phrases import hint
from prodex.quality.asks import CHARACTERS, CODES, PATTERN, PIXELS, Ask
from prodex.quality.picture_columns import FACES, PICTURES
from prodex.tables.attributes import MEASURES, TEXTS, is_within
from prodex.tables.declaration import TABLES

#: Where the nutrients of a product are.
NUTRIENTS = "isPartitionedBy.contains"

_SELECTOR = re.compile(r"(?P<path>[^\[\]]+)\[(?P<chosen>[^\[\]]+)\]")


def selector_of(attribute: str) -> tuple[str, str]:
    """Return the wire path of an attribute, and what is chosen there: a face, a nutrient, or nothing.

    >>> selector_of("assets.pictures[front]"), selector_of("brand")
    (('assets.pictures', 'front'), ('brand', ''))
    """
    found = _SELECTOR.fullmatch(attribute)
    return (found["path"], found["chosen"]) if found else (attribute, "")


@dataclass(frozen=True, order=True)
class AskedAttribute:
    """What is asked about: an attribute, of texts in one language.

    Attributes
    ----------
    attribute
        A wire path, a picture's face or a nutrient.
    language
        Short code of the language; empty where it is no text in one.
    """

    attribute: str
    language: str = ""

    @property
    def path(self) -> str:
        """The wire path that has to be asked for."""
        return selector_of(self.attribute)[0]


@dataclass(frozen=True)
class ValueShape:
    """What the values of an attribute are: by it a condition that nothing can judge is refused when it is read.

    Attributes
    ----------
    kind
        "text", "code", "single", "picture", "quantity", "key", "list" (of values that may have texts in them), "rows"
        (of a table that has none), or "own" for any other attribute.
    called
        What an attribute of this shape is, in a sentence.
    judged
        The conditions that its values can be judged by.
    examples
        Conditions as people write them, each in quotes; empty where none can be asked.
    has_languages
        Whether its values can be in a language.
    """

    kind: str
    called: str
    judged: frozenset[str] = frozenset()
    examples: str = ""
    has_languages: bool = True

    @property
    def advice(self) -> str:
        """What can be written as a condition, in a sentence."""
        return f"Write {self.examples}." if self.examples else "Write the level alone."


_ALL_OF_TEXTS, _OF_CODES = frozenset({CHARACTERS, CODES, PATTERN}), frozenset({CODES, PATTERN})
#: Of each kind of attribute what its values are.
SHAPES: Mapping[str, ValueShape] = {
    one.kind: one
    for one in (
        ValueShape("text", "a text", _ALL_OF_TEXTS, "'20-80 characters' or 'at most 80 characters'"),
        ValueShape("code", "a code", _OF_CODES, "'one of: FR, ES'", has_languages=False),
        ValueShape(
            "single", "a number, a date or a truth value", _OF_CODES, "'one of: 1, 2'", has_languages=False
        ),
        ValueShape("picture", "a picture", frozenset({PIXELS}), "'at least 800 pixels'", has_languages=False),
        ValueShape("quantity", "a quantity with its unit", has_languages=False),
        ValueShape("key", "no picture and no text, but the key of a product", has_languages=False),
        ValueShape("list", "several values under one name"),
        ValueShape("rows", "several values under one name", has_languages=False),
        ValueShape("own", "no picture", _ALL_OF_TEXTS, "'at most 80 characters' or 'one of: FR, ES'"),
    )
}
#: Texts and codes whose shape no table declares.
_OTHER_TEXTS = frozenset({*TEXTS, "conservationAdvices", "consumptionAdvice"})
_OTHER_CODES = frozenset({"originCountry"})
#: Attributes that are lists of objects, and what in these has the value that people mean.
_INSIDE: Mapping[str, str] = {
    **{name: f"{name}.text" for name in ("warnings", "synonyms", "productBenefits")},
    "foodAndBeverageIngredientDescriptionList": "foodAndBeverageIngredientDescriptionList.ingredientNameText",
    "targetConsumerGenderList": "targetConsumerGenderList.targetConsumerGenderCode",
    "flavors": "flavors.flavor",
    "certificationInformationList": (
        "certificationInformationList.certificationDetailsList.certificationValueText"
    ),
}


@cache
def shape_of(attribute: str) -> ValueShape:
    """Return what the values of an attribute are, as far as its name says it.

    >>> [shape_of(one).kind for one in ("namePublicLong", "brand", "assets.pictures[front]", "netContent", "gtin")]
    ['text', 'code', 'picture', 'quantity', 'key']
    >>> [shape_of(one).kind for one in ("warnings", "warnings.text", "isLabeledBy", "lifeCycle", "xOwn")]
    ['list', 'own', 'rows', 'single', 'own']
    """
    path = selector_of(attribute)[0]
    if path == PICTURES:
        kind = "picture"
    elif path == NUTRIENTS or any(is_within(path, one) for one in MEASURES):
        kind = "quantity"
    elif path in {"id", "gtin"}:
        kind = "key"
    elif path in _OTHER_TEXTS:
        kind = "text"
    elif path in _OTHER_CODES:
        kind = "code"
    elif path in _INSIDE:
        kind = "list"
    elif not value_columns(path) and _is_of_tables(path):
        kind = "rows"
    else:
        kind = _kind_of_column(path)
    return SHAPES[kind]


def value_columns(path: str) -> list[str]:
    """Return the column of `products` that holds the value of an attribute: of those with a code, the code.

    >>> value_columns("brand"), value_columns("brand.label"), value_columns("validation"), value_columns("xOwn")
    (['brand_code'], ['brand'], [], [])
    """
    whole = {".".join(one): column.name for column in TABLES["products"].columns for one in column.paths}
    return [whole[one] for one in (path, f"{path}.code") if one in whole][:1]


def _kind_of_column(path: str) -> str:
    kinds = {column.name: column.kind for column in TABLES["products"].columns}
    for column in value_columns(path):
        if kinds[column] == "code":
            return "code"
        return "own" if kinds[column] == "string" else "single"
    return "own"


def _is_of_tables(path: str) -> bool:
    """Whether a path is in, at or above what has a table or several columns of its own."""
    above_columns = any(
        is_within(".".join(one), path) for column in TABLES["products"].columns for one in column.paths
    )
    anchors = [anchor for table in TABLES.values() if table.per_product for anchor in table.anchors]
    return above_columns or any(is_within(path, one) or is_within(one, path) for one in anchors)


def checked_attribute(attribute: str) -> str:
    """Return an attribute as it is kept, and refuse a face that no picture has.

    Raises
    ------
    InputError
        When it is empty, or something is chosen that cannot be.
    """
    given = attribute.strip()
    path, chosen = selector_of(given)
    if not given or (("[" in given or "]" in given) and not chosen):
        raise InputError(f"{attribute!r:.60} is not an attribute; give a wire path, such as namePublicLong.")
    if chosen and path == PICTURES:
        faces = list(FACES.values())
        if chosen not in faces:
            raise InputError(
                f"no picture shows the face {chosen!r:.40}{hint(chosen, faces, f'Give {_or(faces)}.')}"
            )
    elif chosen and path != NUTRIENTS:
        raise InputError(
            f"only a picture's face or a nutrient can be chosen: {PICTURES}[front] or {NUTRIENTS}[FAT], not "
            f"{given!r:.80}."
        )
    return given


def language_asked(text: str) -> str:
    """Return the short code of the language that somebody asks for.

    Raises
    ------
    InputError
        When it is a variant, since a text in any other one would be taken for it.
    QueryError
        When there is no such language; the message names the nearest.

    Examples
    --------
    >>> language_asked("fra"), language_asked("German")
    ('fr', 'de')
    >>> language_asked("fr-BE")
    Traceback (most recent call last):
    ...
    prodex.errors.InputError: 'fr-BE' is a variant of a language, and what is asked holds for all variants. Write fr.
    """
    tag = language_tag(text)
    if "-" in tag:
        raise InputError(
            f"{text!r:.40} is a variant of a language, and what is asked holds for all variants. Write {short_of(tag)}."
        )
    return short_of(tag)


def check_judgeable(asked: AskedAttribute, ask: Ask) -> None:
    """Refuse a condition that nothing can judge.

    Raises
    ------
    InputError
        With what can be written in its place.

    Examples
    --------
    >>> from prodex.quality.asks import Level
    >>> check_judgeable(AskedAttribute("gtin"), Ask(Level.MUST, pattern="3.*"))
    Traceback (most recent call last):
    ...
    prodex.errors.InputError: a pattern cannot be asked of this attribute, which is no picture and no text, ...
    """
    shape = shape_of(asked.attribute)
    inside = _INSIDE.get(asked.path)
    advice = f"Ask it of {inside}, or write the level alone." if inside else shape.advice
    for condition in ask.conditions:
        if condition not in shape.judged:
            raise InputError(
                f"{condition} cannot be asked of this attribute, which is {shape.called}. {advice}"
            )


def check_language(asked: AskedAttribute) -> None:
    """Refuse a language where values have none.

    Raises
    ------
    InputError
        With what to remove.
    """
    shape = shape_of(asked.attribute)
    if asked.language and not shape.has_languages:
        raise InputError(
            f"{asked.attribute!r:.60} is {shape.called}, which is in no language. Remove the language "
            f"{language_name(asked.language)}."
        )


def _or(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"
