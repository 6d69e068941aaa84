"""Rules that laws ask of food: names, drained weights, dates, statements of Annex III and nutrition claims."""

from __future__ import annotations

import csv
import gzip
import json
import re
import unicodedata
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import strategies as st

import prodex
from prodex.quality.rulebook import all_rules
from prodex.quality.states import State
from prodex.quality.text_normalization import folded
from prodex_food.label_words import as_typed, claims_in, has_claim_words, may_claim, may_lie_in_liquid
from prodex_sandbox.sample import AS_OF, shared_products
from tests import laws
from tests.cases import each_row
from tests.quality.four_states import NOTHING, Case, Record, text
from tests.quality.test_rules_food import candle, energies, food, grams, nutrition, states, told
from tests.test_real_products import REAL

#: Where the tables of words are.
TABLES = resources.files("prodex_food.words")
CONTAINS = "isPartitionedBy.contains"
#: A statement that says something else: whoever gives statements gives them all.
OTHER = {"compulsoryStatements": [text("fr", "À consommer frais")]}
COMPOSED = "Eau, sucre, édulcorant : aspartame"
#: What Annex III asks of energy drinks, and of food with added plant sterols.
CAFFEINE = (
    "Teneur élevée en caféine. Déconseillé aux enfants et aux femmes enceintes ou allaitantes (32 mg/100 ml)"
)
STEROLS = (
    "Ne convient pas aux personnes qui n'ont pas besoin de contrôler leur cholestérol sanguin. Sous traitement "
    "hypocholestérolémiant, ne consommer que sous contrôle médical. Peut ne pas convenir aux femmes enceintes ou "
    "allaitantes et aux enfants de moins de cinq ans. À consommer dans le cadre d'une alimentation variée avec des "
    "fruits et légumes. Ne pas dépasser 3 g de stérols végétaux ajoutés par jour."
)


def claiming(words: str, declared: Record, attribute: str = "namePublicLong") -> Record:
    """Return a food with this nutrition that claims something in its name."""
    return declared | {attribute: [text("fr", words)]}


def stated(composition: str, **texts: str) -> Record:
    """Return a food with ingredients and other texts."""
    return food(composition=composition, **{"compulsoryStatements": "À consommer frais", **texts})


def per_hundred_ml(*nutrients: tuple[str, Any, str]) -> Record:
    """Return a drink that declares these nutrients per 100 ml."""
    return nutrition(*nutrients, unit="MLT", name="100 ml")


CASES = {
    "has_legal_name": Case(
        food(nameLegal="Fromage frais"), food(nameLegal=None), ("nameLegal", None, None, NOTHING), candle()
    ),
    "legal_name_is_no_brand": Case(
        food(nameLegal="Kirella, fromage frais", brand={"code": "K", "label": "Kirella"}),
        food(nameLegal="KIRELLA ®", brand={"code": "K", "label": "Kirella"}),
        ("nameLegal", "fr", "KIRELLA ®", "the same as the brand"),
        food(nameLegal="Kirella"),
    ),
    "has_drained_weight": Case(
        food(namePublicLong="Ananas au sirop", drainedWeight=told(250, "GRM")),
        food(namePublicLong="Ananas au sirop", netWeight=told(400, "GRM")),
        ("drainedWeight", None, "au sirop", "no data; its name says that it lies in a liquid"),
        food(namePublicLong="Ananas frais"),
    ),
    "alcohol_strength_to_a_tenth": Case(
        food(percentageOfAlcoholByVolume=told(12.5, "P1")),
        food(percentageOfAlcoholByVolume=told(4.95, "P1")),
        ("percentageOfAlcoholByVolume", None, "4.95", "more than one decimal"),
        food(percentageOfAlcoholByVolume=told(0.25, "P1")),
    ),
    "use_by_has_storage_conditions": Case(
        food(
            tradeItemDateOnPackagingTypeCode={"code": "EXPIRATION_DATE"},
            conservationAdvices="À conserver entre 0 et 4 °C",
        ),
        food(tradeItemDateOnPackagingTypeCode={"code": "EXPIRATION_DATE"}),
        ("conservationAdvices", None, None, 'a "use by" date, and no storage conditions'),
        food(tradeItemDateOnPackagingTypeCode={"code": "BEST_BEFORE_DATE"}),
    ),
    "sweeteners_are_stated": Case(
        stated(COMPOSED, nameLegal="Boisson avec édulcorant"),
        stated(COMPOSED, nameLegal="Boisson"),
        ("composition", "fr", "édulcorant", 'no text says "with sweetener(s)"'),
        stated("Eau, sucre", nameLegal="Boisson"),
    ),
    "sugars_and_sweeteners_are_stated": Case(
        stated(COMPOSED, nameLegal="Boisson avec sucre et édulcorant"),
        stated(COMPOSED, nameLegal="Boisson avec édulcorant"),
        ("composition", "fr", "édulcorant", 'no text says "with sugar(s) and sweetener(s)"'),
        stated("Eau, édulcorant : aspartame, sans sucres ajoutés", nameLegal="Boisson"),
    ),
    "phenylalanine_is_stated": Case(
        stated(COMPOSED, warnings="Contient une source de phénylalanine"),
        stated("Eau, E-951"),
        ("composition", "fr", "E-951", 'no text says "contains a source of phenylalanine"'),
        stated("Eau, édulcorant : sucralose"),
    ),
    "plant_sterols_are_stated": Case(
        stated("Huile, stérols végétaux", nameLegal="Margarine avec stérols végétaux ajoutés", warnings=STEROLS),
        stated("Huile, stérols végétaux", nameLegal="Margarine"),
        ("composition", "fr", "stérols végétaux", 'no text says "with added plant sterols"'),
        stated("Huile", nameLegal="Margarine"),
    ),
    "laxative_effects_are_stated": Case(
        grams(("POLYL", 60))
        | stated("Maltitol", compulsoryStatements="Une consommation excessive peut avoir des effets laxatifs"),
        grams(("POLYL", 60)) | stated("Maltitol"),
        (CONTAINS, None, "60 g", 'no text says "excessive consumption may produce laxative effects"'),
        grams(("POLYL", 9)) | stated("Maltitol"),
    ),
    "high_caffeine_is_stated": Case(
        per_hundred_ml(("CAFFN", 32, "MGM")) | stated("Eau", warnings=CAFFEINE),
        per_hundred_ml(("CAFFN", 32, "MGM")) | stated("Eau"),
        (CONTAINS, None, "0.032 g", 'no text says "High caffeine content"'),
        per_hundred_ml(("CAFFN", 15, "MGM")) | stated("Eau"),
    ),
    "sugars_claims_hold": Case(
        claiming("Biscuits sans sucres", grams(("SUGAR-", 0.5))),
        claiming("Biscuits sans sucres", grams(("SUGAR-", 12))),
        (
            "namePublicLong",
            "fr",
            "Biscuits sans sucres",
            'claims "sans sucres", at most 0.5 g of sugars per 100 g; declared: 12 g',
        ),
        claiming("Biscuits, 30 % de sucres en moins", grams(("SUGAR-", 12))),
    ),
    "no_added_sugars_claim_holds": Case(
        claiming("Compote sans sucres ajoutés", food(composition="Pommes, contient des sucres naturellement présents")),
        claiming("Compote sans sucres ajoutés", food(composition="Pommes (80 %), sirop de glucose")),
        (
            "namePublicLong",
            "fr",
            "Compote sans sucres ajoutés",
            'claims "sans sucres ajoutés"; the ingredients name "sirop de glucose"',
        ),
        claiming("Compote", food(composition="Pommes, sucre")),
    ),
    "fat_claims_hold": Case(
        claiming("Low fat yoghurt", grams(("FAT", 3))),
        claiming("Low fat yoghurt", grams(("FAT", 3.5))),
        (
            "namePublicLong",
            "fr",
            "Low fat yoghurt",
            'claims "Low fat", at most 3 g of fat per 100 g; declared: 3.5 g',
        ),
        claiming("Lower fat yoghurt", grams(("FAT", 3.5))),
    ),
    "saturates_claims_hold": Case(
        claiming("Huile pauvre en acides gras saturés", energies(None, 100, ("FASAT", 1))),
        claiming("Huile pauvre en acides gras saturés", energies(None, 900, ("FASAT", 7))),
        (
            "namePublicLong",
            "fr",
            "Huile pauvre en acides gras saturés",
            'claims "pauvre en acides gras saturés", at most 1.5 g of saturates per 100 g; declared: 7 g',
        ),
        claiming("Huile", energies(None, 900, ("FASAT", 7))),
    ),
    "salt_claims_hold": Case(
        claiming("Soupe pauvre en sel", grams(("SALTEQ", 0.3))),
        claiming("Soupe pauvre en sel", grams(("SALTEQ", 0.8))),
        (
            "namePublicLong",
            "fr",
            "Soupe pauvre en sel",
            'claims "pauvre en sel", at most 0.3 g of salt per 100 g; declared: 0.8 g',
        ),
        claiming("Soupe, 25 % de sel en moins", grams(("SALTEQ", 0.8))),
    ),
    "energy_claims_hold": Case(
        claiming("Gelée hypocalorique", energies(None, 40)),
        claiming("Gelée hypocalorique", energies(None, 90)),
        (
            "namePublicLong",
            "fr",
            "Gelée hypocalorique",
            'claims "hypocalorique", at most 40 kcal per 100 g; declared: 90 kcal',
        ),
        claiming("Gelée allégée", energies(None, 90)),
    ),
    "fibre_claims_hold": Case(
        claiming("Pain source de fibres", energies(None, 250, ("FIBTG", 3))),
        claiming("Pain source de fibres", energies(None, 250, ("FIBTG", 1))),
        (
            "namePublicLong",
            "fr",
            "Pain source de fibres",
            'claims "source de fibres", at least 3 g of fibre per 100 g or 1.5 g per 100 kcal; declared: 1 g',
        ),
        claiming("Pain", energies(None, 250, ("FIBTG", 1))),
    ),
    "protein_claims_hold": Case(
        claiming("Barre riche en protéines", energies(None, 400, ("PRO-", 20))),
        claiming("Barre riche en protéines", energies(None, 400, ("PRO-", 10))),
        (
            "namePublicLong",
            "fr",
            "Barre riche en protéines",
            'claims "riche en protéines", at least 20 % of the energy from protein; declared: 10 %',
        ),
        claiming("Barre aux protéines de lait", energies(None, 400, ("PRO-", 10))),
    ),
}  # fmt: skip

#: Rules that ask for one field: a record without it is what they find.
PRESENCE = {"has_legal_name", "has_drained_weight", "use_by_has_storage_conditions"}
OURS = {*CASES, "drained_not_over_net_weight"}


@each_row("rule", sorted(OURS - PRESENCE))
def test_a_record_without_the_fields_breaks_no_law(rule: str) -> None:
    """What is not declared is unknown: of the one that fails, no field alone is enough."""
    failing = (
        CASES[rule].fails if rule in CASES else food(drainedWeight=told(9, "GRM"), netWeight=told(5, "GRM"))
    )
    alone = [{**food(), name: failing[name]} for name in failing.keys() - food().keys()]
    # A strength is judged by itself.
    assert State.FAIL not in states(rule, food(), *(alone if len(alone) > 1 else []))


@pytest.mark.slow
def test_products_without_statements_and_nutrition_break_none() -> None:
    """Products of the sample, and real ones where they are at hand, fail nothing without what would decide."""
    records = [dict(shared.record) for shared in shared_products(300)]
    if REAL.is_file():
        with gzip.open(REAL) as file:
            records += [json.loads(line) for line in file][::10]
    bare = [
        {k: v for k, v in one.items() if k not in {"isPartitionedBy", "composition", "nameLegal"}}
        for one in records
    ]
    checks: dict[str, Any] = {rule: {} for rule in OURS - PRESENCE}
    audit = prodex.audit(prodex.flatten(bare), {"checks": checks}, now=AS_OF, progress=False)
    assert ((), 0) == (audit.crashes, len(audit.failures()))


@each_row("rule", ["sweeteners_are_stated", "phenylalanine_is_stated", "plant_sterols_are_stated"])
def test_without_any_statement_nobody_knows(rule: str) -> None:
    """Whether the pack has the statement is unknown where the record gives no statements, or gives them as codes."""
    composition = "Eau, aspartame, phytostérols"
    coded = food(composition=composition, nameLegal="Boisson", compulsoryStatements=[{"code": "S12"}])
    assert [State.UNKNOWN] * 2 == states(rule, food(composition=composition), coded)


def test_a_statement_is_found_wherever_it_stands() -> None:
    """In a description, in another language, without a language, within the list of ingredients."""
    said = [
        stated("Eau, aspartame", description="Enthält eine Phenylalaninquelle"),
        stated("Water, aspartame. Contains a source of phenylalanine"),
        food(composition="Eau, E951", compulsoryStatements="x")
        | {"warnings": ["Contiene aspartamo (una fuente de fenilalanina)"]},
        stated("Eau, E 962", nameLegal="Met aspartaam (een bron van fenylalanine)"),
    ]
    assert [State.PASS] * 4 == states("phenylalanine_is_stated", *said)


@each_row(
    "number",
    [
        "E951",
        "E 951",
        "e-951",
        "E951i",
        "E950",
        "E 954",
        "E960a",
        "E 960c",
        "E969",
        "Aspartam",
        "sucralosa",
        "aspartaam",
        "sacarina",
    ],
)
def test_sweeteners_have_numbers_in_any_writing(number: str) -> None:
    """And names in any language; other numbers that begin alike are none."""
    record = stated(f"Water, {number}, salt", nameLegal="Drink")
    other = stated("Water, E330, E9511, E202, sorbitol, sans édulcorants", nameLegal="Drink")
    assert [State.FAIL, State.NOT_APPLICABLE] == states("sweeteners_are_stated", record, other)


def test_polyols_that_are_named_and_not_declared_are_unknown() -> None:
    """A list of ingredients does not say how much of them there is."""
    assert [State.UNKNOWN] == states("laxative_effects_are_stated", stated("Maltitol, arômes"))


def test_drinks_called_coffee_or_tea_need_no_warning() -> None:
    """The name of the food says it; so does a weight of 100 g, which is no drink."""
    strong = per_hundred_ml(("CAFFN", 40, "MGM"))
    coffee = strong | stated("Eau", namePublicLong="Café glacé")
    beans = nutrition(("CAFFN", 1200, "MGM")) | stated("Café")
    assert [State.PASS, State.NOT_APPLICABLE] == states("high_caffeine_is_stated", coffee, beans)


@each_row(
    ("name", "state"),
    [
        *(("Cornichons au vinaigre", State.FAIL), ("Chips au vinaigre", State.NOT_APPLICABLE)),
        *(("Thunfisch im eigenen Saft", State.FAIL), ("Käse in Salzlake gereift", State.NOT_APPLICABLE)),
        *(("Tuna chunks in brine", State.FAIL), ("Tuna chunks in olive oil", State.NOT_APPLICABLE)),
        *(("Melocotón en almíbar", State.FAIL), ("Tonno al naturale", State.FAIL), ("Ananas op sap", State.FAIL)),
        *(("Pêssego em calda", State.FAIL), ("Rôti de boeuf au jus", State.NOT_APPLICABLE)),
        *(("Sirop de framboise", State.NOT_APPLICABLE), ("Maïs au naturel, poids net égoutté 285 g", State.PASS)),
        *(("Yaourt aux arômes naturels", State.NOT_APPLICABLE), ("Baba au sirop", State.NOT_APPLICABLE)),
        ("Crème de marrons et pommes au jus d'oranges", State.NOT_APPLICABLE),
        ("Pfirsichcreme mit Mandarinen in Orangensaft", State.NOT_APPLICABLE),
        ("Crema de garbanzos en agua", State.NOT_APPLICABLE),
    ],
)  # fmt: skip
def test_what_lies_in_a_liquid(name: str, state: State) -> None:
    """Oil is no liquid medium by the law, and crisps with vinegar lie in none."""
    assert [state] == states("has_drained_weight", food(namePublicLong=name))


def test_a_brand_that_says_what_food_is_is_a_name() -> None:
    """A word of the kind is no mere brand."""
    water = {"brand": {"label": "Wasser"}, "kind": {"code": "1", "label": "Mineralwasser"}}
    assert [State.PASS] == states("legal_name_is_no_brand", food(nameLegal="Wasser") | water)


def test_a_brand_within_another_word_names_no_food() -> None:
    """ "Bristol" ends as oil does in German, and oranges begin with "Ora"; neither tells anybody what it is."""
    bristol = {"brand": {"label": "Bristol"}, "kind": {"code": "1", "label": "Biscuits"}}
    ora = {"brand": {"label": "Ora"}, "kind": {"code": "2", "label": "Oranges"}}
    assert [State.FAIL, State.FAIL] == states(
        "legal_name_is_no_brand", food(nameLegal="Bristol") | bristol, food(nameLegal="ORA") | ora
    )


def test_drained_weights_are_compared_with_the_larger_net_weight() -> None:
    """In grams, whatever the units; without a net weight there is nothing to compare."""
    drained = {"drainedWeight": told(0.25, "KGM")}
    records = [
        food(**drained, netWeight=told(400, "GRM")),
        food(**drained, netWeight=told(200, "GRM"), netContent=told(400, "GRM")),
        food(**drained, netWeight=told(200, "GRM")),
        food(**drained, netContent=told(1, "LTR")),
    ]
    assert [0, 0, 1, 2] == states("drained_not_over_net_weight", *records)


@pytest.mark.slow
@each_row(
    ("rule", "words", "record", "state"),
    [
        # The laxer limit decides where nobody knows whether food is liquid; per 100 ml it is.
        ("sugars_claims_hold", "Low in sugar", grams(("SUGAR-", 4)), State.PASS),
        ("sugars_claims_hold", "Low in sugar", per_hundred_ml(("SUGAR-", 4, "GRM")), State.FAIL),
        ("fat_claims_hold", "Fettarme Milch", per_hundred_ml(("FAT", 1.8, "GRM")), State.PASS),
        ("fat_claims_hold", "Fettarme Milch", per_hundred_ml(("FAT", 2.5, "GRM")), State.FAIL),
        # Rounding is the supplier's.
        ("sugars_claims_hold", "Low in sugar", grams(("SUGAR-", 5.04)), State.PASS),
        ("sugars_claims_hold", "Sugar free", grams(("SUGAR-", "<0.5")), State.PASS),
        ("salt_claims_hold", "Salt free", grams(("SALTEQ", 0.01)), State.PASS),
        ("salt_claims_hold", "Salt free", grams(("NA", 0.1)), State.FAIL),
        ("salt_claims_hold", "Very low salt", grams(("SALTEQ", 0.2)), State.FAIL),
        ("saturates_claims_hold", "Low in saturates", energies(None, 50, ("FASAT", 1.2)), State.FAIL),
        ("fibre_claims_hold", "High fibre", energies(None, 80, ("FIBTG", 2.5)), State.PASS),
        ("fibre_claims_hold", "High fibre", energies(None, 80, ("FIBTG", "<0.5")), State.FAIL),
        ("protein_claims_hold", "Source of protein", energies(418, None, ("PRO-", 2)), State.FAIL),
        # What takes the place of another food claims something of itself, and a brand is no advice.
        ("protein_claims_hold", "Meal replacement, high in protein", energies(None, 100, ("PRO-", 2)), State.FAIL),
        ("protein_claims_hold", "Substitut de repas riche en protéines", energies(None, 100, ("PRO-", 2)), State.FAIL),
        ("protein_claims_hold", "Sostituto ad alto contenuto proteico", energies(None, 100, ("PRO-", 2)), State.FAIL),
        ("sugars_claims_hold", "Provamel soia, basso contenuto di zuccheri", grams(("SUGAR-", 20)), State.FAIL),
        ("fat_claims_hold", "Remplacez la crème par un yaourt à 0 % de MG", grams(("FAT", 14)), State.NOT_APPLICABLE),
        # 24 of 121 kcal are 19.8 %: enough only if 6 g are 6.1.
        ("protein_claims_hold", "High protein", energies(None, 121, ("PRO-", 6)), State.UNKNOWN),
        ("fibre_claims_hold", "High fibre", energies(None, 100, ("FIBTG", 2.95)), State.UNKNOWN),
        ("energy_claims_hold", "Zero calories", per_hundred_ml(("ENER-", 4, "E14")), State.PASS),
        ("energy_claims_hold", "Zero calories sweetener", nutrition(("ENER-", 380, "E14")), State.NOT_APPLICABLE),
        # What is claimed and not declared is unknown, and so is what is declared of a serving alone.
        ("fibre_claims_hold", "High fibre", energies(None, 80), State.UNKNOWN),
        ("sugars_claims_hold", "Sugar free", grams(("SUGAR-", 9), basis=30, name="a biscuit"), State.UNKNOWN),
        ("no_added_sugars_claim_holds", "No added sugar", grams(("SUGAR-", 9)), State.UNKNOWN),
    ],
)  # fmt: skip
def test_limits_of_claims(rule: str, words: str, record: Record, state: State) -> None:
    """Of solids, of liquids, of figures that are rounded, and of figures that are not there."""
    assert [state] == states(rule, claiming(words, record))


def test_ingredients_claim_nothing_of_the_product() -> None:
    """What a list of ingredients says, or how to prepare it, is about other foods."""
    fat = grams(("FAT", 20))
    records = [
        claiming("Low fat yoghurt powder", fat, where) for where in ("composition", "consumptionAdvice")
    ]
    assert [State.NOT_APPLICABLE] * 2 == states("fat_claims_hold", *records)


def test_one_declaration_that_bears_a_claim_out_is_enough() -> None:
    """As sold and as prepared."""
    sold, prepared = grams(("SUGAR-", 9)), grams(("SUGAR-", 2))
    both = {"isPartitionedBy": sold["isPartitionedBy"] + prepared["isPartitionedBy"]}
    assert [State.PASS] == states("sugars_claims_hold", claiming("Low sugar soup", sold | both))


PREPARED = {"preparationState": {"code": "PREPARED"}}
SOLD = {"preparationState": {"code": "UNPREPARED"}}


def in_states(*declared: tuple[Record, Record]) -> Record:
    """Return a food that declares its nutrition in some states."""
    partitions = [one["isPartitionedBy"][0] | state for one, state in declared]
    return food() | {"isPartitionedBy": partitions}


@each_row(
    ("name", "declared", "state"),
    [
        # What is declared as it is prepared is what the claim means (Art. 5(3)).
        ("Low sugar dessert", [(grams(("SUGAR-", 2)), SOLD), (grams(("SUGAR-", 9)), PREPARED)], State.FAIL),
        ("Low sugar dessert", [(grams(("SUGAR-", 40)), SOLD), (grams(("SUGAR-", 4)), PREPARED)], State.PASS),
        ("Low sugar cocoa powder", [(grams(("SUGAR-", 40)), SOLD), (grams(("SUGAR-", 4)), PREPARED)], State.PASS),
        ("Low sugar cocoa powder", [(grams(("SUGAR-", 40)), SOLD)], State.UNKNOWN),
        ("Low sugar cocoa powder", [(grams(("SUGAR-", 40)), {})], State.UNKNOWN),
        ("Low sugar cocoa powder", [(grams(("SUGAR-", 4), name="100 ml as prepared"), {})], State.PASS),
        ("Low sugar muesli", [(grams(("SUGAR-", 40)), SOLD)], State.FAIL),
        ("Low sugar mix", [(grams(("SUGAR-", 40)), SOLD), (grams(("SUGAR-", 4), basis=150), PREPARED)], State.UNKNOWN),
    ],
)  # fmt: skip
def test_food_to_be_prepared_is_judged_as_prepared(
    name: str, declared: list[tuple[Record, Record]], state: State
) -> None:
    """By the figures of the prepared food, or not at all; other food by what is sold."""
    assert [state] == states("sugars_claims_hold", claiming(name, in_states(*declared)))


@each_row(
    ("rule", "name", "record", "state"),
    [
        ("fat_claims_hold", "Lait pauvre en matières grasses", per_hundred_ml(("FAT", 1.8, "GRM")), State.PASS),
        ("fat_claims_hold", "Boisson pauvre en matières grasses", per_hundred_ml(("FAT", 1.8, "GRM")), State.FAIL),
        ("salt_claims_hold", "Eau minérale pauvre en sodium", per_hundred_ml(("NA", 0.002, "GRM")), State.PASS),
        ("salt_claims_hold", "Eau minérale pauvre en sodium", per_hundred_ml(("NA", 0.003, "GRM")), State.FAIL),
        ("salt_claims_hold", "Jus de tomate pauvre en sodium", per_hundred_ml(("NA", 0.003, "GRM")), State.PASS),
        ("salt_claims_hold", "Haricots sans sel ajouté", grams(("NA", 0.12)), State.PASS),
        ("salt_claims_hold", "Haricots sans sel ajouté", grams(("NA", 0.14)), State.FAIL),
        ("salt_claims_hold", "Haricots sans sel ni sucres ajoutés", grams(("SALTEQ", 0.8)), State.FAIL),
        # More decimals than are needed are no rounding.
        ("salt_claims_hold", "Pauvre en sel", grams(("NA", 0.121)), State.FAIL),
        ("fat_claims_hold", "Ham, 97 % fat free", grams(("FAT", 3)), State.FAIL),
        ("fat_claims_hold", "20 % less fat than before", grams(("FAT", 3)), State.FAIL),
        ("fat_claims_hold", "30 % less fat than before", grams(("FAT", 3)), State.NOT_APPLICABLE),
        ("salt_claims_hold", "25 % weniger Salz", grams(("SALTEQ", 3)), State.NOT_APPLICABLE),
        ("salt_claims_hold", "20 % weniger Salz", grams(("SALTEQ", 3)), State.FAIL),
        ("protein_claims_hold", "Barre protéinée", energies(None, 400, ("PRO-", 10)), State.FAIL),
        ("protein_claims_hold", "Barre protéinée", energies(None, 400, ("PRO-", 13)), State.PASS),
        ("fibre_claims_hold", "Brot mit hohem Ballaststoffgehalt", energies(None, 400, ("FIBTG", 2)), State.FAIL),
    ],
)  # fmt: skip
def test_what_the_annex_says_of_some_food(rule: str, name: str, record: Record, state: State) -> None:
    """Semi-skimmed milk, waters, food with no added salt; what is forbidden; a nutrient in the name of the food."""
    assert [state] == states(rule, claiming(name, record))


@each_row(
    ("ingredients", "state"),
    [
        ("Haferflocken, Traubensüße", State.FAIL),
        ("Oats, evaporated cane juice", State.FAIL),
        ("avoine, concentré de jus de pomme", State.FAIL),
        ("avoine, jus concentré de pomme", State.FAIL),
        ("oats, grape juice (concentrated)", State.FAIL),
        ("cacao, lactose", State.FAIL),
        ("oats, syrup of agave", State.FAIL),
        ("milk (lactose), cocoa. Contains: milk, lactose", State.PASS),
        ("lait sans lactose", State.PASS),
        ("oats, sweetener: maltitol syrup", State.PASS),
        ("apple juice from concentrate", State.PASS),
        ("oats, lemon juice concentrate", State.PASS),
        # What sweetens, or gives its taste.
        ("water, apple juice concentrate", State.UNKNOWN),
        ("peanuts, date paste", State.UNKNOWN),
    ],
)
def test_what_sweetens_in_any_order_of_words(ingredients: str, state: State) -> None:
    """Sugars by any name, syrups and concentrated juices; juice that is only made up again with water is none."""
    assert [state] == states(
        "no_added_sugars_claim_holds", claiming("No added sugar", food(composition=ingredients))
    )


@each_row(
    ("typed", "words", "quoted"),
    [
        ("Purée sans SUCRES  ajoutés", "sans sucres ajoutes", "sans SUCRES  ajoutés"),
        ("Riche en fibres et en protéines", "riche en proteines", "Riche en fibres et en protéines"),
        ("Zutaten: S\u00fc\u00dfstoff", "sussstoff", "S\u00fc\u00dfstoff"),
        ("cre\u0300me bru\u0302le\u0301e, sel", "creme brulee", "cre\u0300me bru\u0302le\u0301e"),
        ("sans sucre ajout&eacute;", "sans sucre ajoute", "sans sucre ajouté"),
        ("E-951, sel", "e-951", "E-951"),
        ("something else", "sans sucre", "something else"),
    ],
)
def test_a_finding_quotes_the_letters_of_the_label(typed: str, words: str, quoted: str) -> None:
    """Capitals, accents and signs stay as they were typed; what cannot be found there is the whole text."""
    assert quoted == as_typed(typed, words)


@each_row(
    ("said", "reason"),
    [
        ("Eau minérale", "High caffeine content"),
        ("Teneur élevée en caféine", "Not recommended for children or pregnant or breast-feeding women"),
        (
            "Teneur élevée en caféine. Déconseillé aux enfants",
            "Not recommended for children or pregnant or breast-feeding women",
        ),
        (
            "Teneur élevée en caféine. Déconseillé aux enfants et aux femmes enceintes ou allaitantes",
            "the amount of caffeine in mg per 100 ml",
        ),
        (CAFFEINE, ""),
    ],
)
def test_a_statement_lacks_the_part_that_no_text_says(said: str, reason: str) -> None:
    """The reason names the first part that is not there; all parts together are the statement."""
    record = {"id": 1} | per_hundred_ml(("CAFFN", 32, "MGM")) | stated("Eau", warnings=said)
    audit = prodex.audit(
        prodex.flatten([record]), {"checks": {"high_caffeine_is_stated": {}}}, progress=False
    )
    wanted = [f'no text says "{reason}"'] if reason else []
    assert wanted == audit.failures()["reason"].tolist()


def test_caffeine_that_is_an_ingredient_counts_as_polyols_do() -> None:
    """Nobody says how much of it there is: unknown until the warning is there, in drinks and in other food."""
    bar = "Contient de la caféine (120 mg/100 g). Déconseillé aux enfants et aux femmes enceintes"
    records = [
        stated("Eau, caféine"),
        stated("Eau, caféine", warnings=CAFFEINE),
        stated("Chocolat, caféine", warnings=bar),
        stated("Eau, sans caféine"),
        stated("Eau, caféine", namePublicLong="Café glacé"),
    ]
    wanted = [State.UNKNOWN, State.PASS, State.PASS, State.NOT_APPLICABLE, State.PASS]
    assert wanted == states("high_caffeine_is_stated", *records)


@each_row(
    ("words", "claims"),
    [
        ("Sans sucres ajoutés, source de fibres", ["no_added_sugars", "fibre_source"]),
        ("Yaourt sans sucre", ["sugars_free"]),
        ("Biscuits sans sucre raffiné", []),
        ("30 % de sucres en moins, teneur réduite en sel", []),
        ("Faible teneur en matières grasses saturées", ["low_saturates"]),
        ("Faible en matières grasses", ["low_fat"]),
        ("Fromage blanc 0% MG", ["fat_free"]),
        ("Fromage blanc 20% MG, lait 2,0% mat. grasses", []),
        ("Sans matière grasse hydrogénée, sans sel nitrité, sans sel ajouté", ["no_added_salt"]),
        ("Jambon réduit en sel, -25 % de sel", []),
        ("Ohne Zuckerzusatz", ["no_added_sugars"]),
        ("Zuckerfreie Bonbons", ["sugars_free"]),
        ("Kakao, zubereitet mit fettarmer Milch", []),
        ("Eiweißreicher Snack, hoher Ballaststoffgehalt", ["high_fibre", "high_protein"]),
        ("Weniger Zucker, weniger Fett", []),
        ("Sin azúcares añadidos, alto contenido en fibra", ["no_added_sugars", "high_fibre"]),
        ("Sin grasas trans, sin sal añadida", ["no_added_salt"]),
        ("Bajo en grasa y fuente de proteínas", ["low_fat", "protein_source"]),
        ("Senza zuccheri aggiunti, ricco di fibre", ["no_added_sugars", "high_fibre"]),
        ("Senza grassi idrogenati", []),
        ("A basso contenuto di sale, fonte di proteine", ["low_salt", "protein_source"]),
        ("Zonder toegevoegde suikers, vezelrijk", ["no_added_sugars", "high_fibre"]),
        ("Suikervrije drop, minder vet, minder zout", ["sugars_free"]),
        ("Bron van eiwitten, zoutarm", ["low_salt", "protein_source"]),
        ("Sem adição de açúcar, rico em proteína", ["no_added_sugars", "high_protein"]),
        ("Sem gorduras trans, baixo teor de sódio", ["low_salt"]),
        ("No sugar added, 95% fat free, reduced fat", ["no_added_sugars", "part_fat_free"]),
        ("Serve with low fat yoghurt. Not a source of fibre.", []),
        ("Less sugar, lower in salt, 50% fewer calories", []),
        ("Sugar snap peas, salted caramel, free range, fat rascals", []),
        ("Very low salt, low in saturated fat", ["low_saturates", "very_low_salt"]),
        ("Cola zero sugar, zero calories", ["sugars_free", "energy_free"]),
        ("Refined sugar free and trans fat free", []),
        ("Fromage blanc 30% MG, crème 20%MG, lait 1,50 % MG, kefir 2,00%MG", []),
        ("Fromage blanc 0%MG, 0,00 % MG", ["fat_free"]),
        ("High-Protein-Riegel mit niedrigem Zuckergehalt", ["low_sugars", "high_protein"]),
        ("Mit hohem Ballaststoffgehalt", ["high_fibre"]),
        ("Met een hoog vezelgehalte", ["high_fibre"]),
        ("Teor de sal muito baixo", ["very_low_salt"]),
        ("Gordura saturada: baixo teor", ["low_saturates"]),
        ("Sans protéines de lait, low protein pasta", []),
    ],
)  # fmt: skip
def test_what_a_text_claims(words: str, claims: list[str]) -> None:
    """Claims in seven languages, and what only looks like one: comparisons, additions, sorts of fat, side dishes."""
    assert claims == [claim for claim, _ in claims_in(folded(pa.array([words]))[0].as_py())]
    # What is looked at before a text is folded leaves none of them out.
    assert not claims or [0] == may_claim(pa.array([words])).tolist()


#: Texts that a product with little fibre and protein and much of all else may have, or may not.
CLAIM_TEXTS = pd.read_csv(
    Path(__file__).with_name("claim_texts.tsv"),
    sep="\t",
    dtype=str,
    quoting=csv.QUOTE_NONE,
    keep_default_na=False,
)


def test_of_whom_a_claim_speaks() -> None:
    """A claim in a name is one of the product, unless words around it speak of an ingredient, a diet, a sort."""
    figures = {"FAT": 20, "FASAT": 8, "SUGAR-": 30, "FIBTG": 1, "PRO-": 5, "SALTEQ": 1.5}
    declared = energies(None, 455, *figures.items())
    records = [
        {"id": n, **declared, row.field: [text(row.language, row.text)]}
        | ({"composition": [text(row.language, row.ingredients)]} if row.ingredients else {})
        for n, row in enumerate(CLAIM_TEXTS.itertuples())
    ]
    rules = CLAIM_TEXTS["rule"].unique().tolist()

    audit = prodex.audit(
        prodex.flatten(records), {"checks": {rule: {} for rule in rules}}, now=AS_OF, progress=False
    )

    of_rule = CLAIM_TEXTS["rule"].map(rules.index)
    fails = audit.states[range(len(records)), of_rule] == State.FAIL
    wrong = CLAIM_TEXTS[fails != (CLAIM_TEXTS["verdict"] == "breach").to_numpy()]
    assert wrong.empty, wrong.to_csv(sep="\t")


def test_a_claim_is_found_however_it_is_written() -> None:
    """Accents in both forms, capitals, other hyphens, full width, ligatures and entities hide none at first."""
    breaches = CLAIM_TEXTS.loc[CLAIM_TEXTS["verdict"] == "breach", "text"].unique()
    texts = [one for one in breaches if "<" not in one]
    wide = {sign: sign + 0xFEE0 for sign in range(0x21, 0x7F)}
    written: list[Callable[[str], str]] = [
        lambda one: unicodedata.normalize("NFC", one),
        lambda one: unicodedata.normalize("NFD", one),
        str.upper,
        *(lambda one, hyphen=hyphen: one.replace("-", hyphen) for hyphen in "\u2010\u2011\u2013"),  # type: ignore[misc]
        lambda one: one.translate(wide),
        lambda one: one.replace("fi", "\ufb01").replace("ff", "\ufb00"),
        lambda one: one.encode("ascii", "xmlcharrefreplace").decode(),
    ]
    claims = [{claim for claim, _ in claims_in(one)} for one in folded(pa.array(texts)).to_pylist()]
    for write in written:
        forms = pa.array([write(one) for one in texts])
        assert list(range(len(texts))) == may_claim(forms).tolist()
        assert list(range(len(texts))) == has_claim_words(folded(forms)).tolist()
        assert claims == [{claim for claim, _ in claims_in(one)} for one in folded(forms).to_pylist()]


@pytest.mark.slow
def test_no_claim_and_no_liquid_is_left_out_at_the_first_look() -> None:
    """Whatever the expressions of the tables can find, the signs that are looked for before find as well."""
    tables = (
        ("claim_phrases", "claim", "", may_claim),
        ("statement_words", "use", "medium", may_lie_in_liquid),
    )
    for name, column, use, look in tables:
        table = pd.read_csv(TABLES.joinpath(f"{name}.tsv"), sep="\t", dtype=str, quoting=csv.QUOTE_NONE)
        chosen = table[(table[column] == use) if use else (table[column] != "-")]
        for expression in chosen.groupby(column)["expression"].agg("|".join):
            texts = pa.array(matches_of(expression))
            assert list(range(len(texts))) == look(texts).tolist(), expression


def matches_of(expression: str) -> list[str]:
    """Return some texts of printable ASCII that match an expression as a whole."""
    texts = laws.some(st.from_regex(re.compile(expression, re.ASCII), fullmatch=True))
    return [text for text in texts if text.isascii() and text.isprintable()]


def test_what_a_list_says_is_not_in_it_is_no_ingredient() -> None:
    """Sweeteners that it is free from, and the flavour of honey."""
    records = [
        stated("Eau, sans aspartame ni acésulfame, arôme", nameLegal="Boisson"),
        stated("Water, no artificial sweeteners or sucralose", nameLegal="Drink"),
    ]
    tea = claiming("Thé sans sucres ajoutés", food(composition="Thé, arôme naturel de miel"))
    assert [State.NOT_APPLICABLE] * 2 == states("sweeteners_are_stated", *records)
    assert [State.PASS] == states("no_added_sugars_claim_holds", tea)


@each_row("rule", sorted(OURS))
def test_every_rule_of_a_law_says_what_it_cannot_see(rule: str) -> None:
    """And names the law, where in it, and from which day."""
    declared = all_rules()[rule]
    assert declared.law is not None
    assert all((declared.article, declared.in_force, declared.cannot_see))


#: What judges who did not write the rules would print on packs: lawful, or a breach of one rule. A name may be given
#: twice, and other data are "brand ...", "POLYL ..." and the like.
TEXTS = Path(__file__).with_name("statement_texts.tsv")


def record_of(row: dict[str, str]) -> Record:
    """Return the food that a row of that table describes."""
    record: Record = {"isConsumerUnit": True, "GPC": {"code": "50000001"}}
    names = dict(zip(("nameLegal", "namePublicLong"), row["name"].split("|"), strict=False))
    for attribute, said in {
        **names, "composition": row["composition"], "compulsoryStatements": row["statement"]
    }.items():  # fmt: skip
        if said:
            record[attribute] = [text(*said.split(":", 1))]
    if row["rule"] == "has_drained_weight":
        record["namePublicLong"] = record.pop("nameLegal")
    for what, value in (one.split(" ", 1) for one in row["other"].split("; ") if one):
        if what in {"brand", "kind"}:
            record[what] = {"code": value, "label": value}
        elif what == "strength":
            record["percentageOfAlcoholByVolume"] = told(float(value), "P1")
        elif what in {"POLYL", "CAFFN"}:
            of = grams if what == "POLYL" else lambda one: per_hundred_ml((*one, "GRM"))
            record |= {k: v for k, v in of((what, float(value))).items() if k == "isPartitionedBy"}
        else:
            record.setdefault(what, []).extend(told(float(value), "GRM"))
    return record


@pytest.mark.slow
def test_texts_that_others_wrote_are_judged_as_they_say() -> None:
    """No lawful text fails, whatever its language, and each breach does."""
    rows = list(csv.DictReader(TEXTS.read_text("utf-8").splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))
    wrong = []
    for rule in sorted({row["rule"] for row in rows}):
        own = [row for row in rows if row["rule"] == rule]
        for row, state in zip(own, states(rule, *map(record_of, own)), strict=True):
            if (state == State.FAIL) != (row["verdict"] == "breach"):
                wrong.append((*row.values(), State(state).name))

    assert [] == wrong


#: Rule, number of its findings on the 5,000 real products, product drawn by a seed, and the verdict of its author.
VERDICTS = pd.read_csv(Path(__file__).with_name("food_law_verdicts.tsv"), sep="\t", dtype=str)


@each_row("rule", sorted(VERDICTS["rule"].unique()))
def test_nearly_all_findings_on_real_products_are_true(rule: str) -> None:
    """Nineteen of twenty are, or the problem says "perhaps"; up to twenty were drawn and read."""
    drawn = VERDICTS[VERDICTS["rule"] == rule]

    assert len(drawn) == min(20, int(drawn["findings"].iloc[0]))
    assert drawn["product_id"].is_unique
    assert "false" not in set(drawn["first"])
    assert (drawn["first"] == "true").sum() >= 0.95 * len(drawn) or "perhaps" in all_rules()[rule].problem
