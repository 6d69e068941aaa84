"""The rules of food, each on tiny products that pass, fail, are no question, or were not requested."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import prodex
from prodex.quality.states import State
from prodex_sandbox.sample import AS_OF
from tests.cases import each_row
from tests.quality.four_states import NOTHING, Case, Finding, Record, text

FOOD = {"isConsumerUnit": True, "GPC": {"code": "50000001"}}
CANDLE = {"isConsumerUnit": True, "GPC": {"code": "73000001"}}
CONTAINS = "isPartitionedBy.contains"


def told(value: Any, unit: str) -> list[Record]:
    """Return a number with its unit."""
    return [{"data": value, "expressedIn": {"code": unit}}]


def food(**fields: Any) -> Record:
    """Return a food with these fields; texts in French."""
    return FOOD | {
        name: [text("fr", value)] if isinstance(value, str) else value for name, value in fields.items()
    }


def candle(**fields: Any) -> Record:
    """Return something that is no food."""
    return {**food(**fields), **CANDLE}


def nutrition(
    *nutrients: tuple[str, Any, str], basis: float = 100, unit: str = "GRM", name: str = "100 g"
) -> Record:
    """Return a food that declares these nutrients: code, amount, unit."""
    contains = [
        {"isConceptualizedBy": {"code": code}, "quantity": amount, "expressedIn": {"code": unit_of_it}}
        for code, amount, unit_of_it in nutrients
    ]
    partition = {"name": name, "quantity": basis, "isMeasuredBy": {"code": unit}, "contains": contains}
    return FOOD | {"isPartitionedBy": [partition]}


def grams(*nutrients: tuple[str, Any], **partition: Any) -> Record:
    """Return a food that declares these nutrients in grams."""
    return nutrition(*((code, amount, "GRM") for code, amount in nutrients), **partition)


def energies(kilojoules: Any, kilocalories: Any, *others: tuple[str, Any]) -> Record:
    """Return a food that declares its energy twice, and other nutrients in grams."""
    both = [("ENER-", kilojoules, "KJO"), ("ENER-", kilocalories, "E14")]
    return nutrition(*both, *((code, amount, "GRM") for code, amount in others))


def missing(attribute: str, value: Any, at: str | None = None) -> Case:
    """Return a case of a rule that wants an attribute of food."""
    finding: Finding = (at or attribute, None, None, NOTHING)
    return Case(food(**{attribute: value}), food(**{attribute: None}), finding, candle())


OATS = (("FAT", 7), ("CHOAVL", 60), ("PRO-", 13))
ALL = energies(1500, 356, *OATS, ("FASAT", 1), ("SUGAR-", 1), ("SALTEQ", 0))
_, *BUT_SALT = ALL["isPartitionedBy"][0]["contains"][::-1]

CASES = {
    "has_composition": missing("composition", "Riz"),
    "has_storage_conditions": missing("conservationAdvices", "Au sec"),
    "has_operator_contact": missing("contact", [{"name": "Riz SA", "address": "Arles"}]),
    "has_origin": missing("originCountry", [{"code": "250", "label": "France"}]),
    "has_instructions_for_use": missing("consumptionAdvice", "Cuire 10 minutes"),
    "has_alcohol_strength": Case(
        food(percentageOfAlcoholByVolume=told(5, "P1"), kind={"code": "BEER"}),
        food(kind={"code": "BEER"}),
        ("percentageOfAlcoholByVolume", None, None, NOTHING),
        food(kind={"code": "RICE"}),
        parameters={"kinds": ["BEER"]},
    ),
    "has_nutrition": Case(
        grams(("FAT", 1)), food(isPartitionedBy=[]), ("isPartitionedBy", None, None, NOTHING), candle()
    ),
    "composition_allergens_listed": Case(
        food(composition="Farine de blé, lait de coco", allergens="Gluten"),
        food(composition="Farine de blé, lait", allergens="Contient : blé. Peut contenir du soja"),
        ("allergens", "fr", "lait", "milk: named in the ingredients, not listed"),
        candle(composition="Cire, lait"),
    ),
    "ingredients_only": Case(
        food(composition="Farine de blé, préparation de fruits : fraises, conservateur : E202"),
        food(composition="Farine de blé. À conserver au sec. 100 g : 1500 kJ"),
        (
            "composition",
            "fr",
            "Farine de blé. À conserver au sec. 100 g : 1500 kJ",
            'holds a nutrition table ("1500 kj"), storage instructions or a date ("a conserver au")',
        ),
        food(description="À conserver au sec"),
    ),
    "ingredients_can_be_read": Case(
        food(composition="Farine de BLÉ, E330, vitamine B12, _lait_, 12% sucre, émulsifiant : E471"),
        food(composition="Fa!ine de b|é, suc5re, se;, le!ure, hui!e de tour#esol"),
        (
            "composition",
            "fr",
            "Fa!ine de b|é, suc5re, se;, le!ure, hui!e de tour#esol",
            "6 of 9 words look misread",
        ),
        food(description="Fa!ine de b|é"),
    ),
    "nutrition_not_all_zero": Case(
        grams(("FAT", 0), ("CHOAVL", 0.1), ("PRO-", 0)),
        grams(("FAT", 0), ("CHOAVL", 0), ("PRO-", 0)),
        (CONTAINS, None, "3 figures, all 0", "every nutrient and the energy are 0"),
        FOOD,
    ),
    "nutrient_usual_for_kind": Case(
        grams(("SALTEQ", 2)) | {"kind": {"code": "HAM"}},
        grams(("SALTEQ", 2000)) | {"kind": {"code": "HAM"}},
        (
            CONTAINS,
            None,
            "SALTEQ: 2000 GRM",
            "1,000 times the 2 g that are usual for the kind: perhaps milligrams as grams",
        ),
        grams(("SALTEQ", 2)) | {"kind": {"code": "TEA"}},
        others=tuple(grams(("SALTEQ", 2)) | {"kind": {"code": "HAM"}} for _ in range(30)),
    ),
    "nutrition_complete": Case(
        ALL,
        FOOD | {"isPartitionedBy": [{"contains": BUT_SALT}]},
        (CONTAINS, None, None, "not declared: salt"),
        FOOD,
    ),
    "nutrition_per_hundred": Case(
        grams(("FAT", 1), basis=0.1, unit="LTR"),
        grams(("FAT", 1), basis=30, name="a biscuit"),
        ("isPartitionedBy", None, "a biscuit", "neither 100 g nor 100 ml"),
        FOOD,
    ),
    "nutrient_not_negative": Case(
        grams(("FAT", 0)), grams(("FAT", -1)), (CONTAINS, None, "FAT: -1 GRM", "below zero"), FOOD
    ),
    "nutrient_within_hundred": Case(
        nutrition(("FAT", 50_000, "MGM")),
        grams(("FAT", 32), basis=30, name="a biscuit"),
        (CONTAINS, None, "FAT: 32 GRM", "over 105 g per 100 g (preset: Open Food Facts)"),
        grams(("FAT", 200), basis=1, unit="H87"),
    ),
    "nutrients_within_hundred": Case(
        grams(("FAT", 50), ("CHOAVL", 54), ("FIBTG", 30)),
        grams(("FAT", 50), ("CHOAVL", 54), ("PRO-", 2)),
        (
            CONTAINS,
            None,
            "106 g",
            "fat, carbohydrate, protein and salt are over 105 g per 100 g (preset: Open Food Facts)",
        ),
        grams(("FIBTG", 200)),
    ),
    "energy_possible": Case(
        energies(3700, 900),
        energies(None, 1000),
        (CONTAINS, None, "4184 kJ", "over 3800 kJ per 100 g or ml (preset: Open Food Facts)"),
        grams(("FAT", 1)),
    ),
    "kilojoules_fit_kilocalories": Case(
        energies(0, 1),
        energies(100, 418),
        (CONTAINS, None, "100 kJ, 418 kcal", "not 3.7 to 4.7 kJ for each kcal (preset: Open Food Facts)"),
        energies(100, None),
    ),
    "energy_fits_nutrients": Case(
        energies(1500, 356, *OATS),
        energies(1500, 250, *OATS),
        (
            CONTAINS,
            None,
            "1500 kJ, 250 kcal",
            "fat, carbohydrate and protein give 1500 kJ or 355 kcal: more than 15 % away (preset: Open Food Facts)",
        ),
        energies(1500, 250, *OATS[:2]),
    ),
    "saturates_within_fat": Case(
        grams(("FAT", 1), ("FASAT", 1.1)),
        grams(("FAT", 1), ("FASAT", 1.2)),
        (CONTAINS, None, "1.2 g", "saturates, more than the fat of 1 g"),
        grams(("FAT", 1)),
    ),
    "sugars_within_carbohydrate": Case(
        grams(("CHOAVL", 10), ("SUGAR-", 4), ("STARCH", 6)),
        grams(("CHOAVL", 10), ("SUGAR-", 4), ("STARCH", 7)),
        (CONTAINS, None, "11 g", "sugars and starch, more than the carbohydrate of 10 g"),
        grams(("SUGAR-", 4)),
    ),
    "salt_fits_sodium": Case(
        nutrition(("SALTEQ", 1, "GRM"), ("NA", 400, "MGM")),
        grams(("SALTEQ", 0.4), ("NA", 0.4)),
        (CONTAINS, None, "0.4 g of salt, 0.4 g of sodium", "1 g of salt expected"),
        grams(("SALTEQ", 0.4)),
    ),
}


def states(rule: str, *records: Record, **parameters: Any) -> list[int]:
    """Return the rule's states of some products."""
    catalog = prodex.flatten({"id": n, **record} for n, record in enumerate(records))
    profile = {"checks": {rule: parameters}, "attributes": ["isMadeOf", "strength"]}
    audit = prodex.audit(catalog, profile, now=AS_OF, progress=False)
    assert () == audit.crashes
    return [int(state) for state in audit.states[:, 0]]


def test_what_is_food() -> None:
    """The class decides; without a class, data that only food has; tobacco and brushes are not food."""
    classes = ["50000000", "50131700", "50210000", "50000003", "53000000", "10000025", None]
    unclassified: list[Record] = [
        {"keepRefrigeratedBefore": False},
        {"allergens": [text("fr", "Lait")]},
        {"lastRequest": {"allergens": [text("fr", "Lait")]}},
        {"percentageOfAlcoholByVolume": told(0, "P1")},
        {"composition": [text("fr", "Coton")]},
    ]
    records = [{"isConsumerUnit": True, "GPC": {"code": code}} for code in classes]
    records += [{"isConsumerUnit": True, **record} for record in unclassified]

    found = [state == State.FAIL for state in states("has_storage_conditions", *records)]

    assert [True, True, False, False, False, False, False, True, True, True, True, False] == found


def test_drinks_with_alcohol_need_neither_ingredients_nor_nutrition() -> None:
    """Over 1.2 %, by what they tell or by their class; a beer without alcohol needs both."""
    drinks = [
        food(percentageOfAlcoholByVolume=told(5, "P1")),
        food(GPC={"code": "50202201"}),
        food(percentageOfAlcoholByVolume=told(0.5, "P1")),
    ]

    assert [State.NOT_APPLICABLE, State.NOT_APPLICABLE, State.FAIL] == states("has_composition", *drinks)
    assert [State.NOT_APPLICABLE, State.NOT_APPLICABLE, State.FAIL] == states("has_nutrition", *drinks)
    assert [State.PASS, State.FAIL, State.NOT_APPLICABLE] == states("has_alcohol_strength", *drinks)


def test_a_profile_can_leave_out_food_of_one_ingredient() -> None:
    """Excluded kinds are not applicable."""
    profile = {"checks": {"has_composition": {"except": {"kind_code": ["RICE"]}}}}
    catalog = prodex.flatten(
        [{"id": 1, **food(kind={"code": "RICE"})}, {"id": 2, **food(kind={"code": "SOUP"})}]
    )

    audit = prodex.audit(catalog, profile, now=AS_OF, progress=False)

    assert [State.NOT_APPLICABLE, State.FAIL] == audit.states[:, 0].tolist()


def test_what_waits_to_be_accepted_is_not_called_empty() -> None:
    """The finding names the attribute."""
    case = Case({}, food(lastRequest={"composition": [text("fr", "Riz")]}), (None, None, None, ""))

    assert case.found("has_composition")[3].startswith("pending: ")


def test_another_attribute_can_be_named() -> None:
    """Services call things differently: the same rules look there."""
    texts = food(conservations="Au sec", ingredients="Lait", allergenText="Lait")

    assert [State.PASS] == states("has_storage_conditions", texts, attribute="conservations")
    assert [State.PASS] == states("has_composition", texts, attribute="ingredients")
    assert [State.PASS] == states(
        "composition_allergens_listed", texts | FOOD, composition="ingredients", listed="allergenText"
    )
    assert [State.FAIL] == states("composition_allergens_listed", texts, composition="ingredients")
    for rule in ("has_operator_contact", "has_origin", "has_instructions_for_use", "has_net_content"):
        assert [State.PASS] == states(rule, texts | {"netContents": told(1, "GRM")}, attribute="netContents")
    assert [State.FAIL] == states("has_nutrition", grams(("FAT", 1)), attribute="isMadeOf")
    strength = {"attribute": "strength", "kinds": ["BEER"]}
    assert [State.FAIL] == states("has_alcohol_strength", food(kind={"code": "BEER"}), **strength)


def test_limits_and_tolerances_are_the_profiles() -> None:
    """Each parameter moves its limit."""
    assert [State.PASS] == states("nutrient_within_hundred", grams(("FAT", 110)), limit=120)
    assert [State.PASS] == states("nutrients_within_hundred", grams(("FAT", 110)), limit=120)
    assert [State.FAIL] == states("energy_possible", energies(1000, None), limit=900)
    assert [State.FAIL] == states("kilojoules_fit_kilocalories", energies(400, 100), least=4.1)
    assert [State.FAIL] == states("kilojoules_fit_kilocalories", energies(450, 100), most=4.3)
    assert [State.PASS] == states("kilojoules_fit_kilocalories", energies(450, 100), most=4.3, rounding=50)
    assert [State.PASS] == states("energy_fits_nutrients", energies(None, 250, *OATS), percent=30)
    assert [State.FAIL] == states("salt_fits_sodium", grams(("SALTEQ", 24), ("NA", 10)), tolerance=0.02)
    assert [State.FAIL] == states(
        "net_content_fits_net_weight",
        food(netContent=told(100, "GRM"), netWeight=told(95, "GRM")),
        tolerance=0.01,
    )


def test_sodium_below_a_limit_expects_salt_below_one() -> None:
    """Of "<0.005" nobody knows more than that: 2.5 times as much salt is the most."""
    record = {"id": 1, "gtin": "03017620422003", **grams(("SALTEQ", 2), ("NA", "<0.005"))}
    failures = prodex.audit(prodex.flatten([record]), {"checks": {"salt_fits_sodium": {}}}).failures()
    assert ["0.0125 g of salt expected"] == failures["reason"].tolist()


def test_fibre_counts_in_whichever_way_fits() -> None:
    """Fibre beside the carbohydrate, within it or not counted is accepted; with alcohol the rule does not apply."""
    beans = (("FAT", 0), ("CHOAVL", 40), ("PRO-", 10), ("FIBTG", 20))

    records = [energies(None, kcal, *beans) for kcal in (240, 200, 120, 300, 60)]
    wine = energies(None, 300, *beans) | {"percentageOfAlcoholByVolume": told(12, "P1")}
    liqueur = nutrition(("ALC", 20, "P1"), ("ENER-", 300, "E14"), *((c, a, "GRM") for c, a in beans))

    assert [0, 0, 0, 1, 1, 2, 2] == states("energy_fits_nutrients", *records, wine, liqueur)


@each_row(
    ("rule", "left_out"),
    [
        *(
            ("energy_fits_nutrients", path)
            for path in ("isPartitionedBy.quantity", "isPartitionedBy.isMeasuredBy")
        ),
        *(
            ("kilojoules_fit_kilocalories", path)
            for path in ("isPartitionedBy.quantity", "isPartitionedBy.isMeasuredBy")
        ),
        ("energy_fits_nutrients", "percentageOfAlcoholByVolume"),
    ],
)
def test_energy_is_unknown_without_what_gives_it_room(rule: str, left_out: str) -> None:
    """Servings that were rounded (21 CFR 101.9(c)) and alcohol explain an energy; who did not ask cannot accuse."""
    american = energies(300, 71, ("FAT", 0), ("CHOAVL", 10.7), ("PRO-", 0))
    of_28 = energies(84, 20, ("FAT", 0), ("CHOAVL", 3), ("PRO-", 0))["isPartitionedBy"][0]
    american["isPartitionedBy"].append({**of_28, "name": "serving", "quantity": 28})
    wine = energies(1500, 356, *OATS) | {"percentageOfAlcoholByVolume": told(12, "P1")}
    records: list[Record] = [american, wine]
    catalog = prodex.flatten({"id": n, **without(record, left_out)} for n, record in enumerate(records))
    query = prodex.ProductQuery(source_exclude=[left_out])
    restricted = replace(catalog, origin=replace(catalog.origin, query=query))

    audit = prodex.audit(restricted, {"checks": {rule: {}}}, progress=False)

    assert State.FAIL not in states(rule, *records)
    assert [State.UNKNOWN] * 2 == audit.states[:, 0].tolist()


def without(record: Record, path: str) -> Record:
    """Return a record as a service gives it that leaves out an attribute, or one of a partition."""
    first, _, inner = path.partition(".")
    if not inner:
        return {name: value for name, value in record.items() if name != first}
    return record | {first: [{name: each[name] for name in each if name != inner} for each in record[first]]}


def test_only_what_is_declared_has_room() -> None:
    """Of protein that is not declared, nothing was rounded away: 113 g of fat and carbohydrate are too much."""
    of_servings = grams(("FAT", 56.57), ("CHOAVL", 56.57))
    declared = grams(("FAT", 56.57), ("CHOAVL", 56.57), ("PRO-", 0))
    assert [State.FAIL, State.PASS] == states("nutrients_within_hundred", of_servings, declared)


def test_marks_of_footnotes_are_no_misreading() -> None:
    """Lists mark what is organic by an asterisk, before the word or behind it."""
    organic = (
        "*Farine de blé, *sucre, **huile de tournesol, *beurre, cacao*. *issu de l'agriculture biologique"
    )
    assert [State.PASS] == states("ingredients_can_be_read", food(composition=organic))


def test_sweeteners_are_not_excluded_where_nobody_asked_for_ingredients() -> None:
    """Regulation (EU) No 1169/2011, annex XIV: erythritol has 0 kJ a gram, and other polyols have 10 kJ or 2.4 kcal."""
    erythritol = energies(4, 1, ("FAT", 0), ("CHOAVL", 99), ("PRO-", 0))
    polyols = energies(990, 238, ("FAT", 0), ("CHOAVL", 99), ("PRO-", 0), ("ERYTHL", 0))
    catalog = prodex.flatten([{"id": 1} | erythritol, {"id": 2} | polyols])
    asked = ["GPC.code", "isConsumerUnit", "isPartitionedBy", "percentageOfAlcoholByVolume"]
    unasked = replace(
        catalog, origin=replace(catalog.origin, query=prodex.ProductQuery(source_include=asked))
    )
    profile = prodex.Profile.read({"checks": {"energy_fits_nutrients": {}}})

    found = [list(prodex.audit(one, profile, progress=False).matrix.iloc[:, 0]) for one in (catalog, unasked)]

    assert [[State.FAIL] * 2, [State.UNKNOWN] * 2] == found


def test_what_is_not_per_hundred_says_so() -> None:
    """A finding about a serving names it."""
    serving = grams(("FAT", 1), ("FASAT", 2), basis=30, name="a biscuit")

    case = Case({}, serving, (None, None, None, ""))

    assert "per a biscuit: saturates, more than the fat of 1 g" == case.found("saturates_within_fat")[3]


def test_each_partition_is_judged_by_itself() -> None:
    """As sold and as prepared: nothing is added up over both, and one wrong one is enough."""
    right, wrong = grams(("FAT", 60)), grams(("FAT", 60), ("FASAT", 61))
    both = FOOD | {"isPartitionedBy": right["isPartitionedBy"] + wrong["isPartitionedBy"]}

    assert [State.PASS, State.FAIL] == [
        states(rule, both)[0] for rule in ("nutrients_within_hundred", "saturates_within_fat")
    ]
