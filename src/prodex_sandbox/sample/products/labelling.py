"""The label of a product in each of its languages: names, composition, allergens, nutrition, storage, contact.

The figures of a nutrition declaration agree: energy follows from the nutrients, and parts stay within wholes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from prodex_sandbox.media.files import MEDIA
from prodex_sandbox.sample.products.dates import days_from_now, iso
from prodex_sandbox.sample.products.families import Family, Unit
from prodex_sandbox.sample.products.vocabulary import (
    CODES,
    INGREDIENTS,
    LANGUAGES,
    PHRASES,
    Ingredient,
    Kind,
    code_value,
    quantity,
    unit,
)

_KILOJOULES_PER_KILOCALORIE = 4.184
_KILOCALORIES_A_DAY = 2000
#: Nutrients in the order of a declaration (Annex XV): code, and daily reference intake in grams (Annex XIII).
_NUTRIENTS = (
    ("fat", "FAT", 70),
    ("saturates", "FASAT", 20),
    ("carbohydrate", "CHOAVL", 260),
    ("sugars", "SUGAR-", 90),
    ("fibre", "FIBTG", None),
    ("protein", "PRO-", 50),
    ("salt", "SALTEQ", 6),
)


@dataclass(frozen=True, slots=True)
class Nutrients:
    """Grams per 100 g or 100 ml."""

    fat: float
    saturates: float
    carbohydrate: float
    sugars: float
    protein: float
    fibre: float
    salt: float

    @property
    def kilocalories(self) -> float:
        """Energy, computed with the factors of Regulation (EU) 1169/2011, Annex XIV."""
        return 9 * self.fat + 4 * self.carbohydrate + 4 * self.protein + 2 * self.fibre


def draw_nutrients(rng: Random, kind: Kind) -> Nutrients | None:
    """Draw figures near those of the kind; None where nothing has to be declared.

    Fibre stays below a twenty-fifth of the energy, because auditors may compute energy without it.
    """
    if not kind.nutrition:
        return None
    # Never upwards: the nutrients of some kinds add up to nearly 100 g.
    spread = rng.uniform(0.92, 1.0)
    *shares, fibre, salt = kind.nutrition
    grams = [*(round(share * spread, 1) for share in shares), 0.0, round(salt * spread, 2)]
    drawn = Nutrients(*grams)
    return replace(drawn, fibre=min(fibre, int(drawn.kilocalories * 0.02 * 10) / 10))


def declaration(
    nutrients: Nutrients, basis: str, *, kilocalories: float | None = None, daily: bool = False
) -> list[dict[str, Any]]:
    """Return `isPartitionedBy`: one partition of 100 g or ml with its nutrients.

    Parameters
    ----------
    nutrients
        The figures.
    basis
        Unit code of the 100: GRM or MLT.
    kilocalories
        Energy to declare instead of the computed one.
    daily
        Whether to give the share of the daily reference intake.
    """
    energy = nutrients.kilocalories if kilocalories is None else kilocalories
    rows: list[tuple[str, float, str, int | None]] = [
        ("ENER-", round(energy * _KILOJOULES_PER_KILOCALORIE), "KJO", None),
        ("ENER-", round(energy), "E14", _KILOCALORIES_A_DAY),
    ]
    for nutrient, code, intake in _NUTRIENTS:
        # Fibre need not be declared.
        if (grams := getattr(nutrients, nutrient)) or nutrient != "fibre":
            rows.append((code, grams, "GRM", intake))
    contains = []
    for code, amount, unit_code, intake in rows:
        item: dict[str, Any] = {
            "isConceptualizedBy": {"code": code, "label": CODES["nutrient"][code]["en"]},
            "quantity": amount,
            "expressedIn": unit(unit_code),
        }
        if daily and intake:
            item["percentageOfDailyValueIntake"] = round(100 * amount / intake)
        contains.append(item)
    name = "100 g" if basis == "GRM" else "100 ml"
    return [{"name": name, "quantity": 100, "isMeasuredBy": unit(basis), "contains": contains}]


#: The ways in which a record shows that an attribute has no value, besides not having the attribute.
EMPTIES: tuple[Any, ...] = (None, [], None, [])

_LABELS = {
    "food": ("EU_ORGANIC", "VEGAN", "PALM_OIL_FREE", "REGIONAL", "FAIR_PRICE", "SCORE"),
    "beauty": ("VEGAN", "SKIN_TESTED", "REFILL"),
}
#: Lowest and highest temperature in degrees Celsius.
_TEMPERATURES = {"chilled": (2, 6), "frozen": (-25, -18)}
_OTHER_LABELS = ("REFILL", "RECYCLED")


def consumer_information(
    rng: Random, family: Family, unit: Unit, made_of: list[Ingredient], nutrients: Nutrients | None
) -> dict[str, Any]:
    kind = family.kind
    information: dict[str, Any] = {
        "productionVariantName": localized(family.languages, unit.variant.words.__getitem__),
        "description": description(rng, family, unit),
    }
    if made_of:
        share = rng.randrange(31, 90) if len(made_of) > 1 else 100
        information["composition"] = composition(family, made_of, share)
        # Without allergens the attribute is empty, or not there: both are right, and both are sent.
        listed = allergens(family, made_of) if kind.is_food else []
        if listed or rng.random() < 0.5:
            information["allergens"] = listed or rng.choice(EMPTIES)
    if kind.is_food:
        information |= _food_information(rng, family, nutrients)
    information["contact"] = [_contact(family)]
    warning = f"warning.{kind.group}"
    if warning in PHRASES:
        information["warnings"] = [{"text": phrase(rng, family, warning)}]
    if rng.random() < 0.25:
        information["productBenefits"] = [
            {"text": phrase(rng, family, "benefit.food" if kind.is_food else "benefit.other")}
        ]
    if rng.random() < 0.15:
        information["synonyms"] = [{"text": filled_phrase(family, "synonym")}]
    if kind.group in {"beauty", "textile"} and rng.random() < 0.5:
        aimed_at = code_value("consumer", rng.choice(("UNISEX", "ADULT")))
        information["targetConsumerGenderList"] = [{"targetConsumerGenderCode": aimed_at}]
    if kind.group == "textile":
        information["textileModel"] = {
            "reference": f"M{unit.number % 997:03d}",
            "washAt": 40,
            "sizes": ["S", "M", "L"],
        }
    if rng.random() < 0.04:
        information["advertisedInformations"] = phrase(rng, family, "advertising")
    if kind.is_food and made_of and rng.random() < 0.12:
        information["foodAndBeverageIngredientDescriptionList"] = [
            {
                "ingredientSequence": place,
                "ingredientNameText": localized(
                    family.languages,
                    {key: text.replace("*", "") for key, text in one.words.items()}.__getitem__,
                ),
            }
            for place, one in enumerate(made_of, start=1)
        ]
    return information | _claims(rng, family)


def _food_information(rng: Random, family: Family, nutrients: Nutrients | None) -> dict[str, Any]:
    kind = family.kind
    information: dict[str, Any] = {
        "conservationAdvices": phrase(rng, family, f"storage.{kind.storage}"),
        "consumptionAdvice": phrase(rng, family, "use.prepare" if kind.needs_preparation else "use.food"),
        "originCountry": [code_value("country", family.supplier.country)],
        "keepRefrigeratedBefore": kind.storage == "chilled",
    }
    if kind.storage in _TEMPERATURES:
        lowest, highest = _TEMPERATURES[kind.storage]
        information["temperature"] = [
            {"minimum": quantity(lowest, "CEL"), "maximum": quantity(highest, "CEL")}
        ]
    if rng.random() < 0.1:
        information["additives"] = [code_value("additive", "NONE")]
    if nutrients is not None:
        basis = "MLT" if kind.unit in {"MLT", "LTR"} else "GRM"
        information["isPartitionedBy"] = declaration(nutrients, basis, daily=rng.random() < 0.3)
    if kind.alcohol is not None:
        information["percentageOfAlcoholByVolume"] = [quantity(kind.alcohol, "P1")]
    return information


def _contact(family: Family) -> dict[str, Any]:
    supplier = family.supplier
    return {
        "name": supplier.name,
        "address": f"{supplier.number * 3 + 1} {supplier.city}",
        "country": code_value("country", supplier.country),
        "email": f"contact@supplier-{supplier.number:02d}.example",
    }


def _claims(rng: Random, family: Family) -> dict[str, Any]:
    """Return labels and certificates; whoever is organic shows the certificate."""
    group = family.kind.group
    choice = rng.random()
    if choice > 0.35:
        return {"isLabeledBy": rng.choice(EMPTIES)} if choice < 0.6 else {}
    code = rng.choice(_LABELS.get(group, _OTHER_LABELS))
    label: dict[str, Any] = {
        "startDate": iso(days_from_now(-1_000 - rng.randrange(200)))[:10],
        "endDate": None,
        "detail": [],
        "value": rng.choice("ABCDE") if code == "SCORE" else None,
        "attributedAt": None,
        "isConceptualizedBy": code_value("label", code) | {"pictureUrl": f"{MEDIA}/labels/{code}.png"},
    }
    claims: dict[str, Any] = {"isLabeledBy": [label]}
    # Whoever is organic has to show the certificate.
    if code == "EU_ORGANIC":
        claims["certificationInformationList"] = [
            {
                "certificationStandard": "EU organic farming",
                "certificationDetailsList": [
                    {
                        "certificationValueText": f"XX-BIO-{family.supplier.number:02d}",
                        "certificationEffectiveStartDate": days_from_now(-900),
                        "certificationEffectiveEndDate": days_from_now(1_300 + rng.randrange(900)),
                    }
                ],
            }
        ]
    return claims


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
        words = [_composition_text(ingredient.words[language], capitals) for ingredient in ingredients]
        if share < 100:
            words[0] += f" ({share} %)"
        return head[language] + ", ".join(words) + "."

    return localized(family.languages, listed)


def _composition_text(marked: str, capitals: bool) -> str:
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
