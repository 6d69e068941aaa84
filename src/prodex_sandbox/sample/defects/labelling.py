"""Defects of labelling: texts and languages, and the information on food that Regulation (EU) 1169/2011 requires."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from prodex_sandbox.sample.defects.planting import (
    Trace,
    any_product,
    declare,
    forgotten_language,
    in_record,
    is_consumer_unit,
)
from prodex_sandbox.sample.products import labelling
from prodex_sandbox.sample.products.families import MARKETS
from prodex_sandbox.sample.products.labelling import Nutrients, declaration
from prodex_sandbox.sample.products.product import Draft
from prodex_sandbox.sample.products.vocabulary import LANGUAGES, quantity

#: Characters that a long name may have, and length of the one text that is far over every limit.
_LONG_NAME, _LONGEST_TEXT = 200, 40_000

declare("text_too_long", "A text of 40,000 characters, where 20,000 are allowed.")

_PLACEHOLDERS = ("TBD", "N/A", "-", "test", "xxx", "Lorem ipsum dolor sit amet")
#: Letters whose two bytes of UTF-8 are both a character of Windows-1252.
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
    foreign = labelling.description(made.rng, replace(made.family, languages=(spoken,)), made.unit)
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
    """A nutrition table or an address is part of the list of ingredients."""
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


_FIGURES = "isPartitionedBy.contains"
#: Food of a single ingredient, of which no list is asked (Art. 19): a flavour makes no other kind of it.
_ALONE = ("TEA", "COFFEE", "RICE", "HONEY", "EGGS")


def _is_food(made: Draft) -> bool:
    return made.unit.is_consumer_unit and made.family.kind.is_food


def _declares(condition: Callable[[Nutrients], bool]) -> Callable[[Draft], bool]:
    return lambda made: made.nutrients is not None and condition(made.nutrients)


def _weighs(condition: Callable[[Nutrients], bool]) -> Callable[[Draft], bool]:
    """Suit declarations per 100 g: what is in 100 ml has no limit by weight."""
    declares = _declares(condition)
    return lambda made: declares(made) and made.record["isPartitionedBy"][0]["isMeasuredBy"]["code"] == "GRM"


def _nutrients(made: Draft) -> Nutrients:
    """Return the figures of a product that declares them; the planters of this module apply to no other."""
    if made.nutrients is None:
        raise ValueError(
            f"Product {made.record['id']} declares no nutrition; plant this defect in one that does."
        )
    return made.nutrients


def _restate(made: Draft, *, kilocalories: float | None = None, **grams: float) -> None:
    """Give the record a nutrition declaration with other figures."""
    # A declaration for 100 ml stays one for 100 ml.
    basis = made.record["isPartitionedBy"][0]["isMeasuredBy"]["code"]
    changed = replace(_nutrients(made), **grams)
    made.record["isPartitionedBy"] = declaration(changed, basis, kilocalories=kilocalories)


@in_record("content", 0.004, is_consumer_unit)
def missing_net_content(made: Draft) -> Iterable[Trace]:
    """The net content is missing."""
    empty(made, "netContent")
    return [Trace("netContent")]


@in_record(
    "content",
    0.008,
    lambda made: (
        _is_food(made)
        and made.family.kind.alcohol is None
        and len(made.ingredients) > 1
        and made.family.kind.code not in _ALONE
    ),
)
def missing_composition(made: Draft) -> Iterable[Trace]:
    """The ingredients of a food with more than one are missing."""
    empty(made, "composition")
    return [Trace("composition")]


@in_record("content", 0.004, _is_food)
def missing_contact(made: Draft) -> Iterable[Trace]:
    """Name and address of the food business operator are missing."""
    empty(made, "contact")
    return [Trace("contact")]


@in_record("content", 0.004, _is_food)
def missing_storage(made: Draft) -> Iterable[Trace]:
    """The storage instructions of a food are missing."""
    empty(made, "conservationAdvices")
    return [Trace("conservationAdvices")]


@in_record("content", 0.012, lambda made: _is_food(made) and made.family.kind.needs_preparation)
def missing_instructions(made: Draft) -> Iterable[Trace]:
    """The instructions for use of a food that needs preparation are missing."""
    empty(made, "consumptionAdvice")
    return [Trace("consumptionAdvice")]


@in_record("content", 0.012, lambda made: _is_food(made) and made.family.kind.needs_origin)
def missing_origin(made: Draft) -> Iterable[Trace]:
    """The country of origin is missing where it is required."""
    empty(made, "originCountry")
    return [Trace("originCountry")]


@in_record("content", 0.06, lambda made: _is_food(made) and made.family.kind.alcohol is not None)
def missing_alcohol(made: Draft) -> Iterable[Trace]:
    """The alcohol content of a drink with more than 1.2 % of alcohol is missing."""
    empty(made, "percentageOfAlcoholByVolume")
    return [Trace("percentageOfAlcoholByVolume")]


@in_record("content", 0.008, lambda made: made.nutrients is not None and made.family.kind.sector != "drinks")
def missing_nutrition(made: Draft) -> Iterable[Trace]:
    """The nutrition declaration is missing."""
    empty(made, "isPartitionedBy")
    return [Trace("isPartitionedBy")]


#: What cereals are called where a list does not say which they are.
_NAMELESS: Mapping[str, Mapping[str, str]] = {
    "wheat_flour": {"en": "flour", "fr": "farine", "de": "Mehl", "es": "harina", "nl": "bloem"},
    "durum_semolina": {"en": "semolina", "fr": "semoule", "de": "Grieß", "es": "sémola", "nl": "griesmeel"},
    "barley_malt": {"en": "malt", "fr": "malt", "de": "Malz", "es": "malta", "nl": "mout"},
}


def _name_otherwise(made: Draft, group: str) -> None:
    """Write an allergen as lists do in real life: flour without its cereal, others between marks in two of three."""
    # By the id: whoever drew a number here would change what is drawn after it.
    is_marked = int(made.record["id"]) % 3 > 0
    for item in made.record["composition"]:
        language = str(item["expressedIn"]["normalizedCode"])
        for ingredient in made.ingredients:
            word = ingredient.words[language]
            plain = word.replace("*", "")
            marked = word.replace(" *", "_").replace("* ", "_").replace("*", "_")
            nameless = _NAMELESS.get(ingredient.code, {}).get(language)
            written = nameless or (marked if is_marked else plain)
            if ingredient.allergen == group and written != plain:
                item["data"] = re.sub(re.escape(plain), written, item["data"], flags=re.IGNORECASE)


@in_record("content", 0.02, lambda made: _is_food(made) and any(each.allergen for each in made.ingredients))
def allergen_not_listed(made: Draft) -> Iterable[Trace]:
    """The composition names an allergen that the allergens do not list."""
    groups = list(dict.fromkeys(each.allergen for each in made.ingredients if each.allergen))
    group = made.rng.choice(groups)
    _name_otherwise(made, group)
    listed = labelling.allergens(made.family, made.ingredients, without=group)
    if listed:
        made.record["allergens"] = listed
    else:
        empty(made, "allergens")
    return [Trace("allergens", group)]


@in_record("content", 0.006, _weighs(lambda each: each.kilocalories < 300))
def nutrient_over_100(made: Draft) -> Iterable[Trace]:
    """A nutrient weighs more than the 100 g that hold it (over 105)."""
    protein = float(made.rng.randrange(106, 130))
    _restate(made, protein=protein)
    return [Trace(_FIGURES, f"PRO- {protein} g"), Trace(_FIGURES, defect="nutrient_sum_over_100")]


@in_record("content", 0.006, _weighs(lambda each: each.fat + each.carbohydrate > 20 and each.fat < 60))
def nutrient_sum_over_100(made: Draft) -> Iterable[Trace]:
    """Fat, carbohydrate and protein together weigh more than the 100 g that hold them (over 105)."""
    stated = _nutrients(made)
    # Each nutrient alone stays below 100 g.
    protein = round(112 - stated.fat - stated.carbohydrate, 1)
    _restate(made, protein=protein)
    return [Trace(_FIGURES, f"PRO- {protein} g makes a sum over 112 g")]


@in_record("content", 0.004, _declares(lambda each: 50 < each.kilocalories < 600))
def energy_too_high(made: Draft) -> Iterable[Trace]:
    """More than 3,800 kJ in 100 g, which pure fat does not have."""
    _restate(made, kilocalories=made.rng.randrange(960, 1_100))
    return [Trace(_FIGURES, "ENER- over 3,800 kJ"), Trace(_FIGURES, defect="computed_energy_off")]


@in_record("content", 0.006, _declares(lambda each: each.kilocalories > 100))
def energy_inconsistent(made: Draft) -> Iterable[Trace]:
    """Kilojoules are not 3.7 to 4.7 times the kilocalories.

    Each of the two figures stays within 15 % of the computed energy.
    """
    rows: list[dict[str, Any]] = made.record["isPartitionedBy"][0]["contains"]
    kilojoules, kilocalories = rows[0], rows[1]
    # The ratio becomes 5.0, while each of the two figures stays plausible.
    kilojoules["quantity"] = round(kilojoules["quantity"] * 1.08)
    kilocalories["quantity"] = round(kilocalories["quantity"] * 0.9)
    return [Trace(_FIGURES, f"{kilojoules['quantity']} kJ, {kilocalories['quantity']} kcal")]


@in_record("content", 0.006, _declares(lambda each: each.kilocalories > 50))
def computed_energy_off(made: Draft) -> Iterable[Trace]:
    """The declared energy is more than 30 % away from what the nutrients give."""
    energy = _nutrients(made).kilocalories
    _restate(made, kilocalories=energy * 0.6)
    return [Trace(_FIGURES, f"{energy * 0.6:.0f} kcal declared, {energy:.0f} computed")]


@in_record("content", 0.006, _declares(lambda each: 1 <= each.fat <= 50))
def saturates_over_fat(made: Draft) -> Iterable[Trace]:
    """Saturates exceed the fat that they are part of."""
    stated = _nutrients(made)
    _restate(made, saturates=round(stated.fat + 2, 1))
    return [Trace(_FIGURES, f"FASAT {stated.fat + 2:.1f} g, FAT {stated.fat} g")]


@in_record(
    "content",
    0.006,
    _declares(lambda each: 3 <= each.carbohydrate <= 80),
    may_follow=["nutrient_in_wrong_unit"],
)
def sugars_over_carbohydrate(made: Draft) -> Iterable[Trace]:
    """Sugars exceed the carbohydrate that they are part of."""
    stated = _nutrients(made)
    _restate(made, sugars=round(stated.carbohydrate + 3, 1))
    return [Trace(_FIGURES, f"SUGAR- {stated.carbohydrate + 3:.1f} g, CHOAVL {stated.carbohydrate} g")]


#: Kinds that nobody takes for water, tea or salt, whatever the variant.
_WITH_ENERGY = ("HARD_CHEESE", "BISCUITS", "YOGURT", "JAM", "CEREALS", "PEANUT_BUTTER", "ICE_CREAM", "HONEY")
#: Kinds of which even a small sample has many products, so that what is usual in them is known.
_FREQUENT = ("530853", "TOFU", "HAM", "CHICKEN_FILLET")


@in_record("content", 0.08, lambda made: made.nutrients is not None and made.family.kind.code in _FREQUENT)
def nutrient_in_wrong_unit(made: Draft) -> Iterable[Trace]:
    """The salt is a thousandth of what it should be: kilograms as grams."""
    salt = round(_nutrients(made).salt / 1000, 6)
    _restate(made, salt=salt)
    return [Trace(_FIGURES, f"SALTEQ {salt:g} g")]


@in_record("content", 0.03, lambda made: made.nutrients is not None and made.family.kind.code in _WITH_ENERGY)
def nutrition_all_zero(made: Draft) -> Iterable[Trace]:
    """Every figure of the nutrition declaration is zero."""
    for row in made.record["isPartitionedBy"][0]["contains"]:
        row["quantity"] = 0
    return [Trace(_FIGURES)]


@in_record(
    "content",
    0.006,
    _declares(lambda each: each.kilocalories > 0),
)
def net_content_of_serving(made: Draft) -> Iterable[Trace]:
    """The net content is that of a serving, of which the nutrition is declared as well."""
    (hundred,) = made.record["isPartitionedBy"]
    scaled = [row | {"quantity": round(row["quantity"] * 0.3, 2)} for row in hundred["contains"]]
    serving = {"name": "30", "quantity": 30, "isMeasuredBy": hundred["isMeasuredBy"], "contains": scaled}
    made.record["isPartitionedBy"] = [hundred, serving]
    made.record["netContent"] = [quantity(30.0, hundred["isMeasuredBy"]["code"])]
    return [Trace("netContent", "30")]
