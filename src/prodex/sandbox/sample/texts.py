"""Texts of a product in each of its languages: names, descriptions, composition, allergens, advice."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any

from prodex.sandbox.sample.families import Family, Unit
from prodex.sandbox.sample.vocabulary import (
    CODES,
    INGREDIENTS,
    LANGUAGES,
    PHRASES,
    Ingredient,
    Words,
)

_UNIT_SIGNS = {"GRM": "g", "KGM": "kg", "MLT": "ml", "LTR": "l"}
_ONE_PIECE = {"en": "piece", "fr": "pièce", "de": "Stück", "es": "pieza", "nl": "stuk"}
_PIECES = {"en": "pieces", "fr": "pièces", "de": "Stück", "es": "piezas", "nl": "stuks"}


def descriptor(language: str) -> dict[str, Any]:
    """Return the language descriptor of a localized text item.

    >>> descriptor("fr")
    {'normalizedCode': 'fr', 'code': 'fra-FR', 'description': 'French', 'label': 'French'}
    """
    code = LANGUAGES[language]
    label = CODES["language"][code]["en"]
    return {"normalizedCode": language, "code": code, "description": label, "label": label}


def localized(languages: Iterable[str], words: Words) -> list[dict[str, Any]]:
    """Return one localized text item for each language."""
    return [{"expressedIn": descriptor(language), "data": words[language]} for language in languages]


def names(family: Family, unit: Unit) -> dict[str, list[dict[str, Any]]]:
    """Return the names of a unit: legal, public short (at most 35 characters), public long."""
    kind, variant, languages = family.kind, unit.variant.words, family.languages
    shorts = {language: f"{kind.noun[language]} {variant[language]}" for language in languages}
    longs = {
        language: f"{family.brand.name} {shorts[language]} {content(family, unit, language)}"
        for language in languages
    }
    legal = PHRASES["legal.food" if kind.is_food else "legal.other"][0]
    legals = {
        language: legal[language].format(noun=kind.noun[language], variant=variant[language])
        for language in languages
    }
    if unit.packaging != "EACH":
        pattern = PHRASES[f"name.{unit.packaging}"][0]
        shorts = {
            language: pattern[language].format(n=unit.count, name=kind.noun[language])
            for language in languages
        }
        longs = {
            language: pattern[language].format(n=unit.count, name=longs[language]) for language in languages
        }
        legals = {
            language: pattern[language].format(n=unit.count, name=legals[language]) for language in languages
        }
    return {
        "nameLegal": localized(languages, legals),
        "namePublicShort": localized(languages, shorts),
        "namePublicLong": localized(languages, longs),
    }


def content(family: Family, unit: Unit, language: str) -> str:
    """Return the net content of a base unit as it is written in a name.

    The decimal comma is used everywhere but in English.
    """
    pieces = _ONE_PIECE if unit.size == 1 else _PIECES
    sign = _UNIT_SIGNS.get(family.kind.unit) or pieces[language]
    number = f"{unit.size:g}"
    return f"{number if language == 'en' else number.replace('.', ',')} {sign}"


def description(rng: Random, family: Family, unit: Unit) -> list[dict[str, Any]]:
    """Return two or three sentences about the product, the same ones in each language."""
    sentences = PHRASES["description.food" if family.kind.is_food else "description.other"]
    chosen = rng.sample(sentences, rng.choice((2, 2, 3)))
    return localized(
        family.languages,
        {
            language: " ".join(
                [f"{family.kind.noun[language]} {unit.variant.words[language]}."]
                + [sentence[language] for sentence in chosen]
            )
            for language in family.languages
        },
    )


def ingredients_of(family: Family, unit: Unit) -> list[Ingredient]:
    """Return what a product is made of, the variant's ingredient after the main one."""
    codes = list(family.kind.recipe)
    # After the main ingredient: it is the largest part but one.
    if codes and unit.variant.ingredient and unit.variant.ingredient not in codes:
        codes.insert(1, unit.variant.ingredient)
    return [INGREDIENTS[code] for code in codes]


def composition(family: Family, ingredients: list[Ingredient], share: int) -> list[dict[str, Any]]:
    """Return the list of ingredients; every third supplier writes allergens in capitals.

    Parameters
    ----------
    family
        Whose languages and supplier count.
    ingredients
        In descending order.
    share
        Percentage of the first one; 100 leaves it out.
    """
    head = PHRASES["materials" if family.kind.group == "textile" else "ingredients"][0]
    capitals = family.supplier.number % 3 == 0
    texts = {}
    for language in family.languages:
        words = [_written(ingredient.words[language], capitals) for ingredient in ingredients]
        if share < 100:
            words[0] += f" ({share} %)"
        texts[language] = head[language] + ", ".join(words) + "."
    return localized(family.languages, texts)


def _written(marked: str, capitals: bool) -> str:
    before, _, rest = marked.partition("*")
    named, _, after = rest.partition("*")
    return before + (named.upper() if capitals else named) + after


def allergens(family: Family, ingredients: list[Ingredient], *, without: str = "") -> list[dict[str, Any]]:
    """Return the allergens that the ingredients hold, each group with the words the composition uses.

    Parameters
    ----------
    family
        Whose languages count.
    ingredients
        What the product is made of.
    without
        An allergen group to leave out.
    """
    groups = list(dict.fromkeys(each.allergen for each in ingredients if each.allergen not in {"", without}))
    if not groups:
        return []
    texts = {}
    for language in family.languages:
        parts = []
        for group in groups:
            label = CODES["allergen"][group][language]
            # Each word once, in the order of the composition.
            words = dict.fromkeys(
                each.words[language].split("*")[1] for each in ingredients if each.allergen == group
            )
            named = [word for word in words if word.casefold() != label.casefold()]
            parts.append(f"{label} ({', '.join(named)})" if named else label)
        texts[language] = PHRASES["contains"][0][language] + ", ".join(parts) + "."
    return localized(family.languages, texts)


def phrase(rng: Random, family: Family, key: str) -> list[dict[str, Any]]:
    """Return one of the phrases of a key in the family's languages."""
    return localized(family.languages, rng.choice(PHRASES[key]))


def filled_phrase(family: Family, key: str) -> list[dict[str, Any]]:
    """Return a phrase that names the brand and the kind."""
    pattern = PHRASES[key][0]
    noun, brand = family.kind.noun, family.brand.name
    return localized(
        family.languages,
        {
            language: pattern[language].format(noun=noun[language], brand=brand)
            for language in family.languages
        },
    )
