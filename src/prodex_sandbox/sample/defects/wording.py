"""Defects of texts and languages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from prodex_sandbox.sample import texts
from prodex_sandbox.sample.defects.planting import (
    Trace,
    any_product,
    declare,
    forgotten_language,
    in_record,
    is_consumer_unit,
)
from prodex_sandbox.sample.families import MARKETS
from prodex_sandbox.sample.product import Draft
from prodex_sandbox.sample.vocabulary import LANGUAGES

#: Characters that a long name may have, and length of the one text that is far over every limit.
_LONG_NAME, _LONGEST_TEXT = 200, 40_000

declare("text_too_long", "A text of 40,000 characters, where 20,000 are allowed.")

_PLACEHOLDERS = ("TBD", "N/A", "-", "test", "xxx", "Lorem ipsum dolor sit amet")
#: Letters whose two bytes of UTF-8 both stand for a character of Windows-1252.
# Other letters have bytes that Windows-1252 does not define.
_ACCENTED = re.compile("[éèêçôöüäßñóú]")
_MAIN_TEXTS = ("namePublicLong", "namePublicShort", "description")


def _has_two_languages(made: Draft) -> bool:
    return made.unit.is_consumer_unit and len(made.family.languages) > 1


def empty(made: Draft, attribute: str) -> None:
    """Remove the value of an attribute in one of the ways in which services send no value."""
    emptied: Any = made.rng.choice((None, [], "absent"))
    if emptied == "absent":
        made.record.pop(attribute, None)
    else:
        made.record[attribute] = emptied


def _item(made: Draft, attribute: str) -> dict[str, Any]:
    """Choose the item of one of the required languages."""
    language = made.rng.choice(MARKETS[made.family.market][0])
    return next(item for item in made.record[attribute] if _language(item) == language)


def _language(item: dict[str, Any]) -> str:
    return str(item["expressedIn"]["normalizedCode"])


def _rewrite(made: Draft, attribute: str, change: Callable[[str], str]) -> list[Trace]:
    item = _item(made, attribute)
    item["data"] = change(item["data"])
    return [Trace(attribute, repr(item["data"][:60]), _language(item))]


@in_record("content", 0.012, _has_two_languages)
def missing_language(made: Draft) -> Iterable[Trace]:
    """An attribute is filled in one language and not in another that the market requires."""
    candidates = (*_MAIN_TEXTS, "nameLegal", "composition", "conservationAdvices")
    attribute = made.rng.choice([name for name in candidates if made.record.get(name)])
    language = forgotten_language(made.rng, MARKETS[made.family.market][0])
    kept = [item for item in made.record[attribute] if _language(item) != language]
    made.record[attribute] = kept
    return [Trace(attribute, f"filled in {', '.join(map(_language, kept))}", language)]


@in_record("content", 0.006, is_consumer_unit)
def missing_text(made: Draft) -> Iterable[Trace]:
    """An attribute that every product page needs is empty in all languages."""
    attribute = made.rng.choice(_MAIN_TEXTS)
    empty(made, attribute)
    return [Trace(attribute)]


@in_record("content", 0.002, any_product)
def missing_name(made: Draft) -> Iterable[Trace]:
    """The product has no name of any sort."""
    named = ("nameLegal", "namePublicShort", "namePublicLong")
    for attribute in named:
        empty(made, attribute)
    return [Trace("namePublicLong"), *(Trace(attribute, defect="missing_text") for attribute in named)]


@in_record("content", 0.003, is_consumer_unit, may_follow=["text_cut_by_column", "name_unfinished"])
def name_too_long(made: Draft) -> Iterable[Trace]:
    """The long name has more than 200 characters."""
    # Lengthened by its own description, so that the language stays right.
    about = _item(made, "description")
    item = next(item for item in made.record["namePublicLong"] if _language(item) == _language(about))
    item["data"] = f"{item['data']}: {about['data']}"[: _LONG_NAME + 20].ljust(_LONG_NAME + 20, ".")
    return [Trace("namePublicLong", f"{len(item['data'])} characters", _language(item))]


@in_record("content", 0.003, is_consumer_unit)
def short_name_too_long(made: Draft) -> Iterable[Trace]:
    """The short name has more than 35 characters."""
    return _rewrite(
        made, "namePublicShort", lambda text: f"{text} - {text} - {made.family.brand.name}, {text}"
    )


@in_record("content", 0.003, is_consumer_unit)
def control_character(made: Draft) -> Iterable[Trace]:
    """A text holds a control character."""
    character = made.rng.choice("\x02\x07\x1f")
    return _rewrite(made, made.rng.choice(_MAIN_TEXTS), lambda text: f"{text[:9]}{character}{text[9:]}")


@in_record("content", 0.003, is_consumer_unit, may_follow=["control_character"])
def line_break_in_name(made: Draft) -> Iterable[Trace]:
    """A name has a line break."""
    return _rewrite(made, made.rng.choice(_MAIN_TEXTS[:2]), lambda text: text.replace(" ", "\n", 1))


@in_record("content", 0.006, is_consumer_unit, may_follow=["all_capitals", "wrong_language"])
def placeholder_text(made: Draft) -> Iterable[Trace]:
    """A text is only a placeholder."""
    placeholder = made.rng.choice(_PLACEHOLDERS)
    return _rewrite(made, made.rng.choice((*_MAIN_TEXTS, "nameLegal")), lambda _: placeholder)


@in_record("content", 0.004, is_consumer_unit)
def html_in_text(made: Draft) -> Iterable[Trace]:
    """Markup was left in a text."""
    pattern = made.rng.choice(("<p>{}</p>", "<b>{}</b>", "{}<br/>", '<span class="c1">{}</span>'))
    return _rewrite(made, made.rng.choice(("description", "nameLegal")), pattern.format)


@in_record(
    "content",
    0.02,
    lambda made: is_consumer_unit(made) and bool(_garbled(made)),
    may_follow=["wrong_language"],
)
def mojibake(made: Draft) -> Iterable[Trace]:
    """A text was written as UTF-8 and read as another encoding."""
    item = made.rng.choice(_garbled(made))
    item["data"] = _garble(item["data"])
    return [Trace("description", repr(item["data"][:60]), _language(item))]


def _garble(text: str) -> str:
    """Read the most common accented letters as Windows-1252."""
    return _ACCENTED.sub(lambda letter: letter[0].encode().decode("cp1252"), text)


def _garbled(made: Draft) -> list[dict[str, Any]]:
    """Return the descriptions that would show it."""
    return [item for item in made.record["description"] if _ACCENTED.search(item["data"])]


@in_record("content", 0.004, is_consumer_unit)
def all_capitals(made: Draft) -> Iterable[Trace]:
    """A name is written in capitals throughout."""
    return _rewrite(made, made.rng.choice(_MAIN_TEXTS[:2]), str.upper)


@in_record("content", 0.008, _has_two_languages)
def untranslated_copy(made: Draft) -> Iterable[Trace]:
    """The text of one language was copied into another."""
    source, copy = made.rng.sample(made.record["description"], 2)
    copy["data"] = source["data"]
    languages = _language(source), _language(copy)
    return [
        Trace("description", f"same as {languages[1]}", languages[0]),
        Trace("description", f"same as {languages[0]}", languages[1]),
        Trace("description", f"is in {languages[0]}", languages[1], defect="wrong_language"),
    ]


@in_record(
    "content", 0.006, lambda made: is_consumer_unit(made) and len(made.family.languages) < len(LANGUAGES)
)
def wrong_language(made: Draft) -> Iterable[Trace]:
    """A text is in another language than it is marked with."""
    item = _item(made, "description")
    spoken = made.rng.choice([language for language in LANGUAGES if language not in made.family.languages])
    foreign = texts.description(made.rng, replace(made.family, languages=(spoken,)), made.unit)
    item["data"] = foreign[0]["data"]
    return [Trace("description", f"is in {spoken}", _language(item))]


#: Whose system has a column that is too short, and how many characters it has room for.
_SHORT_COLUMN, _ROOM = "Feinkost Lürbach KG", 100


def _too_long(made: Draft) -> list[dict[str, Any]]:
    """Return the lists of ingredients that the column has no room for, where it would not end them with a space."""
    items = made.record.get("composition") or []
    return [item for item in items if len(item["data"]) > _ROOM + 1 and item["data"][_ROOM - 1] not in " ."]


@in_record(
    "content",
    0.3,
    lambda made: (
        made.family.supplier.name == _SHORT_COLUMN and is_consumer_unit(made) and bool(_too_long(made))
    ),
    may_follow=["bracket_never_closed"],
)
def text_cut_by_column(made: Draft) -> Iterable[Trace]:
    """A list of ingredients was cut by a column of 100 characters, as others of the supplier are."""
    cut = _too_long(made)
    for item in cut:
        item["data"] = item["data"][:_ROOM]
    return [Trace("composition", repr(item["data"][-30:]), _language(item)) for item in cut]


@in_record("content", 0.003, is_consumer_unit)
def text_breaks_off(made: Draft) -> Iterable[Trace]:
    """A text ends in dots where a system had no room for the rest."""
    return _rewrite(made, "description", lambda text: f"{text[: len(text) // 2].rstrip(' .,')}...")


@in_record("content", 0.006, lambda made: is_consumer_unit(made) and len(made.ingredients) > 2)
def bracket_never_closed(made: Draft) -> Iterable[Trace]:
    """A bracket in the list of ingredients is never closed."""
    return _rewrite(made, "composition", lambda text: text.replace(", ", " (", 1))


@in_record("content", 0.005, lambda made: is_consumer_unit(made) and len(made.ingredients) > 1)
def ingredients_with_more(made: Draft) -> Iterable[Trace]:
    """A nutrition table or an address stands in the list of ingredients."""
    more = made.rng.choice(("100 g: 1046 kJ / 250 kcal", "www.example.com"))
    return _rewrite(made, "composition", lambda text: f"{text} {more}")


@in_record("content", 0.006, lambda made: is_consumer_unit(made) and len(made.ingredients) > 3)
def ingredients_misread(made: Draft) -> Iterable[Trace]:
    """The list of ingredients was read from a picture, and hardly a word of it is right."""
    return _rewrite(made, "composition", lambda text: _MISREAD.sub(r"\1!\2", text))


#: Letters that a program takes for other signs.
_MISREAD = re.compile(r"(\w\w)[lieau](\w)")


@in_record("content", 0.005, _has_two_languages, may_follow=["wrong_language"])
def several_languages_in_text(made: Draft) -> Iterable[Trace]:
    """A description says everything in two languages, one behind the other."""
    one, other = made.rng.sample(made.record["description"], 2)
    one["data"] = f"{one['data']} {other['data']}"
    return [Trace("description", f"is in {_language(other)} as well", _language(one))]


@in_record("content", 0.003, is_consumer_unit)
def name_unfinished(made: Draft) -> Iterable[Trace]:
    """A name ends in a comma."""
    return _rewrite(made, made.rng.choice(_MAIN_TEXTS[:2]), lambda text: f"{text},")


def lengthen(made: Draft) -> Trace:
    """Repeat the first description until it has 40,000 characters."""
    text = made.record["description"][0]
    sentence = f"{text['data']} "
    text["data"] = (sentence * (_LONGEST_TEXT // len(sentence) + 1))[:_LONGEST_TEXT]
    return Trace("description", f"{_LONGEST_TEXT} characters", _language(text))
