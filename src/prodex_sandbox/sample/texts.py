"""Texts of a product in each of its languages: names, descriptions, composition, allergens, advice."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from typing import Any

from prodex_sandbox.sample.families import Family, Unit
from prodex_sandbox.sample.vocabulary import CODES, INGREDIENTS, LANGUAGES, PHRASES, Ingredient

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


def localized(languages: Iterable[str], text_in: Callable[[str], str]) -> list[dict[str, Any]]:
    """Return one localized text item for each language."""
    return [{"expressedIn": descriptor(language), "data": text_in(language)} for language in languages]


def names(family: Family, unit: Unit) -> dict[str, list[dict[str, Any]]]:
    """Return the names of a unit: legal, public short (at most 35 characters), public long."""
    kind, variant, languages = family.kind, unit.variant.words, family.languages
    legal = PHRASES["legal.food" if kind.is_food else "legal.other"][0]
    outer = PHRASES[f"name.{unit.packaging}"][0] if unit.packaging != "EACH" else None

    def packed(language: str, name: str) -> str:
        return outer[language].format(n=unit.count, name=name) if outer else name

    def short(language: str) -> str:
        # An outer unit is named by the kind alone: 35 characters are soon full.
        noun = kind.noun[language]
        return packed(language, noun) if outer else f"{noun} {variant[language]}"

    def long(language: str) -> str:
        name = f"{family.brand.name} {kind.noun[language]} {variant[language]}"
        return packed(language, f"{name} {content(family, unit, language)}")

    def legal_name(language: str) -> str:
        return packed(language, legal[language].format(noun=kind.noun[language], variant=variant[language]))

    return {
        "nameLegal": localized(languages, legal_name),
        "namePublicShort": localized(languages, short),
        "namePublicLong": localized(languages, long),
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
    noun, variant = family.kind.noun, unit.variant.words
    return localized(
        family.languages,
        lambda language: " ".join(
            [f"{noun[language]} {variant[language]}.", *(sentence[language] for sentence in chosen)]
        ),
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

    def listed(language: str) -> str:
        words = [_written(ingredient.words[language], capitals) for ingredient in ingredients]
        if share < 100:
            words[0] += f" ({share} %)"
        return head[language] + ", ".join(words) + "."

    return localized(family.languages, listed)


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

    def listed(language: str) -> str:
        parts = []
        for group in groups:
            label = CODES["allergen"][group][language]
            # Each word once, in the order of the composition.
            words = dict.fromkeys(
                each.words[language].split("*")[1] for each in ingredients if each.allergen == group
            )
            named = [word for word in words if word.casefold() != label.casefold()]
            parts.append(f"{label} ({', '.join(named)})" if named else label)
        return PHRASES["contains"][0][language] + ", ".join(parts) + "."

    return localized(family.languages, listed) if groups else []


def phrase(rng: Random, family: Family, key: str) -> list[dict[str, Any]]:
    """Return one of the phrases of a key in the family's languages."""
    return localized(family.languages, rng.choice(PHRASES[key]).__getitem__)


def filled_phrase(family: Family, key: str) -> list[dict[str, Any]]:
    """Return a phrase that names the brand and the kind."""
    pattern = PHRASES[key][0]
    noun, brand = family.kind.noun, family.brand.name
    return localized(
        family.languages, lambda language: pattern[language].format(noun=noun[language], brand=brand)
    )
