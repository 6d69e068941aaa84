"""What rules took for a mistake on real products and is none; beside each what still is one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import prodex
from prodex import ProductQuery
from prodex.quality.states import State
from prodex_sandbox.sample import AS_OF
from tests.cases import each_row
from tests.quality.four_states import Record, named, text

NUTRIENT = "isPartitionedBy.contains"


def states(rule: str, *records: Record, asked: tuple[str, ...] = (), **parameters: Any) -> list[int]:
    """Return the rule's states of some products."""
    catalog = prodex.flatten({"id": n, **record} for n, record in enumerate(records))
    if asked:
        query = ProductQuery(source_include=list(asked))
        catalog = replace(catalog, origin=replace(catalog.origin, query=query))
    audit = prodex.audit(catalog, {"checks": {rule: parameters}}, now=AS_OF, progress=False)
    assert () == audit.crashes
    return [int(state) for state in audit.states[:, 0]]


def state(rule: str, record: Record, **parameters: Any) -> State:
    """Return the rule's state of one product."""
    return State(states(rule, record, **parameters)[0])


def fronts(*pictures: Record, **more: Any) -> Record:
    """Return a product with these pictures, each a packshot of the front."""
    return {
        "assets": {
            "pictures": [{"isPackshot": True, "productFace": 1, **picture} for picture in pictures],
            **more,
        }
    }


def nutrients(**amounts: Any) -> Record:
    """Return a food that declares these nutrients per 100 g; energy by the name of its unit."""
    codes = {
        "kJ": ("ENER-", "KJO"), "kcal": ("ENER-", "E14"), "fat": ("FAT", "GRM"), "saturates": ("FASAT", "GRM"),
        "carbohydrate": ("CHOAVL", "GRM"), "sugars": ("SUGAR-", "GRM"), "starch": ("STARCH", "GRM"),
        "protein": ("PRO-", "GRM"), "salt": ("SALTEQ", "GRM"), "sodium": ("NA", "GRM"),
        "fibre": ("FIBTG", "GRM"), "polyols": ("POLYL", "GRM"), "erythritol": ("ERYTHL", "GRM"), "acids": ("OA", "GRM"),
    }  # fmt: skip
    contains = [
        {
            "isConceptualizedBy": {"code": codes[name][0]},
            "quantity": amount,
            "expressedIn": {"code": codes[name][1]},
        }
        for name, amount in amounts.items()
    ]
    partition = {"name": "100 g", "quantity": 100, "isMeasuredBy": {"code": "GRM"}, "contains": contains}
    return {"isConsumerUnit": True, "GPC": {"code": "50000001"}, "isPartitionedBy": [partition]}


def test_a_product_without_pictures_has_no_stale_ones() -> None:
    """Without pictures the rule does not apply, however old the date; with a picture it does."""
    old = {"lastUpdatedAt": {"pictures": "2018-10-27T15:30:07"}}
    without = [{"assets": old}, {"assets": {"pictures": [], **old}}, {"assets": {"pictures": None, **old}}]
    pending = {"assets": old, "lastRequest": {"assets": {"pictures": [{"url": "http://a.example/1.jpg"}]}}}

    assert [2, 2, 2, 2, 1] == states(
        "pictures_fresh", *without, pending, fronts({"url": "http://a.example/1.jpg"}, **old)
    )
    assert [3] == states("pictures_fresh", without[0], asked=("assets.lastUpdatedAt",))


@each_row(
    "pictures",
    [
        [{"url": "https://a.example/1/front_fr.jpg"}, {"url": "https://a.example/1/front_en.jpg?v=3"}],
        [{"url": "https://a.example/1/front_la.jpg"}, {"url": "https://a.example/1/front_en.jpg"}],
        [{"gdsnFileName": "03036811359935_C1N1_fr.jpg"}, {"gdsnFileName": "03036811359935_C1N1_nl-BE.jpg"}],
        [{"languageCode": "fr"}, {"languageCode": "nl"}],
        [{"languages": ["fr", "de"]}, {"languages": ["nl"]}],
        [{"language": {"code": "fra-FR"}}, {"language": {"code": "nld-BE"}}],
        [
            {"expressedIn": {"code": "fra-FR", "normalizedCode": "fr"}},
            {"expressedIn": {"code": "deu-DE", "normalizedCode": "de"}},
        ],
    ],
)
def test_fronts_in_several_languages_are_no_duplicates(pictures: list[Record]) -> None:
    """The language of a picture is read from a field or from the name of its file."""
    assert State.PASS == state("one_front_packshot", fronts(*pictures))


@each_row(
    "pictures",
    [
        [{"url": "https://a.example/1/front_fr.jpg"}, {"url": "https://a.example/2/front_fr.jpg"}],
        [{"url": "https://a.example/1/front_fr.jpg"}, {"url": "https://a.example/1/front.jpg"}],
        [{"url": "https://a.example/1/front_lg.jpg"}, {"url": "https://a.example/1/front_sm.jpg"}],
        [{"languages": ["fr", "de"]}, {"languages": ["de"]}],
        [{"languageCode": "fr", "url": "a_de.jpg"}, {"languageCode": "fra-FR", "url": "b_nl.jpg"}],
        [{}, {}],
    ],
)
def test_fronts_in_one_language_are_duplicates(pictures: list[Record]) -> None:
    """So are one in a language and one for all languages; sizes in a file name are no languages."""
    assert State.FAIL == state("one_front_packshot", fronts(*pictures))


@pytest.mark.slow
@each_row(
    "ending",
    [
        *("Riz....", "Riz.....", ". . . .", "du sel, du poivre, etc...", "Salz, Pfeffer, usw. ...", "zout, enz…"),
        *("sale, ecc...", "Quoi de neuf ?...", "Délicieux !…", "1…2…3……", "E 330...E 331....", "Tout commence ici (…)"),
        *("salt, osv...", "sal, etc. …"),
    ],
)  # fmt: skip
def test_a_text_that_ends_in_dots_on_purpose_is_not_cut_off(ending: str) -> None:
    """A line to fill in, "etc." and a complete sentence are not cut off."""
    assert State.PASS == state("texts_not_cut_off", named(ending))


@each_row("ending", ["Riz de Cam...", "Riz de Cam…", "Riz de Cam... ", "Süßwaren All, ...", "Sketch..."])
def test_a_text_that_breaks_off_is_still_found(ending: str) -> None:
    """A text can break off in the middle of a word, or of a list."""
    assert State.FAIL == state("texts_not_cut_off", named(ending))


@each_row(
    "name",
    [
        "BIO",
        "KIRI",
        "COCA",
        "HARIBO",
        "KAVIAR",
        "NUTELLA",
        "KIRI 24 P",
        "TUC 100 G",
        "E\u0301VIAN",
        "L'ORÉAL",
    ],
)
def test_one_short_word_in_capitals_is_no_shouting(name: str) -> None:
    """It is a brand, or an abbreviation; sizes and units beside it change nothing."""
    assert State.PASS == state("names_not_in_capitals", named(name))


@each_row("name", ["RIZ BIO", "PAIN DE MIE", "KING CRAB", "ZWIEBELLEBERWURST", "2 MINI BAGUETTES"])
def test_several_words_and_long_ones_in_capitals_are_still_found(name: str) -> None:
    """They read as shouting."""
    assert State.FAIL == state("names_not_in_capitals", named(name))


@each_row(
    ("gtin", "name"),
    [
        ("9790260000438", "printed music (ISMN)"),
        ("9791034304370", "books (ISBN)"),
        ("9783161484100", "books (ISBN)"),
    ],
)
def test_music_has_a_number_of_its_own_among_those_of_books(gtin: str, name: str) -> None:
    """ISO 10957 gives 979-0 to printed music; 979-1 and higher are books."""
    assert [name] == pd.Series([gtin]).gtin.prefix_name.tolist()


@pytest.mark.slow
@each_row(
    ("fat", "saturates"),
    [(0, 0.1), (0, 0.4), ("<0.5", 0.4), ("< 0,5", 0.5), (0.5, "<0.1"), (0, "<0.1"), (11, 11.4), (10.4, 10.5), (3, 3.1)],
)  # fmt: skip
def test_what_rounding_explains_is_no_contradiction(fat: Any, saturates: Any) -> None:
    """Fat up to 0.5 g may be declared as 0 or "<0.5", saturates up to 0.1 g as 0; from 10 g on to the whole gram."""
    assert State.PASS == state("saturates_within_fat", nutrients(fat=fat, saturates=saturates))
    assert State.PASS == state("sugars_within_carbohydrate", nutrients(carbohydrate=fat, sugars=saturates))


@each_row(
    ("fat", "saturates"),
    [(0, 0.7), (0.2, 0.5), (0.3, 0.6), (0.1, 0.4), ("<0.1", 0.7), (3, 3.2), (11, 12.2), (10.4, 10.9), (1, 2)],
)
def test_what_no_rounding_explains_is_still_found(fat: Any, saturates: Any) -> None:
    """One of the two is wrong, or they were exchanged."""
    assert State.FAIL == state("saturates_within_fat", nutrients(fat=fat, saturates=saturates))


def test_less_than_a_little_is_declared() -> None:
    """ "<0.5" is how the guidance writes what is hardly there; what another word says is not known."""
    rest = {"kJ": 1700, "kcal": 400, "carbohydrate": 100, "sugars": 100, "protein": "<0.5", "salt": "<0,01"}
    declared = nutrients(fat="<0.5", saturates="< 0.1", **rest)
    word = nutrients(fat="traces", saturates="<0.1", **rest)

    assert [State.PASS, State.UNKNOWN] == states("nutrition_complete", declared, word)
    assert [State.PASS] == states("energy_fits_nutrients", declared)
    assert [State.FAIL] == states(
        "energy_fits_nutrients", nutrients(fat="<0.5", kJ=900, carbohydrate=20, protein=1)
    )


def test_energy_leaves_room_for_small_and_for_rounded_figures() -> None:
    """Nutrients of 0 may hide half a gram each, whole grams half a gram each."""
    hidden = nutrients(kJ=70, kcal=17, fat=0, carbohydrate=0, protein=0)
    rounded = nutrients(kcal=4, fat=0, carbohydrate=1, protein=0)

    assert [State.PASS, State.PASS] == states("energy_fits_nutrients", hidden, rounded)
    assert State.FAIL == state("energy_fits_nutrients", nutrients(kJ=200, fat=0, carbohydrate=0, protein=0))


def test_small_energies_are_rounded_coarsely() -> None:
    """5 kcal and 17 kJ of a serving of 28 g are one figure; 5 kcal and 8.5 kJ are two, and 214 kJ are not none."""
    figures = [(60.7, 17.9), (0, 1), (30.4, 17.9), (214, 0), (1085, 134)]

    assert [0, 0, 1, 1, 1] == states(
        "kilojoules_fit_kilocalories", *(nutrients(kJ=joules, kcal=calories) for joules, calories in figures)
    )


def test_salt_and_sodium_are_rounded_each_by_itself() -> None:
    """Salt of 3 g is sodium of 1.2 g give or take; a little sodium may be declared as none."""
    assert State.PASS == state("salt_fits_sodium", nutrients(salt=0.01, sodium=0.0))
    assert State.PASS == state("salt_fits_sodium", nutrients(salt="<0.01", sodium=0.004))
    assert State.FAIL == state("salt_fits_sodium", nutrients(salt=0.4, sodium=0.4))


def test_a_text_in_one_language_keeps_its_name() -> None:
    """The short words of two languages are judged each by itself."""
    record = {"namePublicLong": [text("fr", "KIRI"), text("nl", "ROOMKAAS BLOKJES")]}

    assert State.FAIL == state("names_not_in_capitals", record)


def tasting(text_: str, **amounts: Any) -> Record:
    """Return a food with a list of ingredients, in French by its label, that declares these nutrients per 100 g."""
    return nutrients(**amounts) | {"composition": [text("fr", text_)]}


NOTHING = {"fat": 0, "carbohydrate": 0, "protein": 0}
#: What the energy is of that fat, carbohydrate and protein do not give, and what is none.
EXCUSED = [
    nutrients(kJ=75, kcal=18, acids=6, **NOTHING),
    nutrients(kJ=0, kcal=0, fat=0, carbohydrate=99, protein=0, polyols=99, erythritol=99),
    nutrients(kJ=0, kcal=0, fat=0, carbohydrate=99, protein=0, erythritol=99),
    nutrients(kJ=1000, kcal=240, fat=0, carbohydrate=99, protein=0, polyols=99),
    nutrients(kJ=1000, kcal=240, fat=0, carbohydrate=0, protein=0, polyols=99),
    *(
        tasting(words, kJ=100, kcal=23, **NOTHING)
        for words in (
            "Vinaigre de vin", "wine vinegar", "Weinessig, Wasser", "vinagre de vino", "aceto di vino", "wijnazijn",
            "vinagre de vinho", "eddike", "ättika, vatten", "etikka, vesi", "jus de citron", "Zitronensaft",
            "lemon juice", "succo di limone", "citroensap", "zumo de limón", "suco de limão", "sitruunamehu",
        )
    ),
    *(
        tasting(words, kJ=20 + 17 * 60 - 7 * 60, kcal=144, fat=0, carbohydrate=60, protein=0)
        for words in (
            "édulcorant : maltitol", "sweetener (sorbitol)", "Süßungsmittel: Isomalt", "edulcorante: xilitol, E 965",
            "edulcorante: maltitolo", "zoetstof: lactitol", "adoçante: manitol, E421", "søtstoff (sorbitol)",
            "sötningsmedel xylitol", "makeutusaine ksylitoli",
        )
    ),
    *(
        tasting(words, kJ=0, kcal=0, fat=0, carbohydrate=100, protein=0)
        for words in ("érythritol", "Erythrit", "erythritol", "eritritol", "eritritolo", "E968", "erytritol")
    ),
    *(
        tasting(words, kJ=95, kcal=22, **NOTHING)
        for words in ("eau, acide citrique", "Wasser, Citronensäure", "water, citric acid", "agua, E330")
    ),
    # 1 g of carbohydrate and 0 kcal for 28 g; 15 kcal for 28 g.
    nutrients(kcal=0, fat=0, carbohydrate=3.57, protein=0),
    nutrients(kcal=17.86, fat=1.79, carbohydrate=3.57, protein=0),
]  # fmt: skip
#: Energies that nothing explains.
WRONG = [
    nutrients(kJ=400, kcal=95, acids=6, **NOTHING),
    nutrients(kJ=1000, kcal=240, fat=0, carbohydrate=99, protein=0),
    nutrients(kJ=0, kcal=0, fat=0, carbohydrate=99, protein=0, polyols=99),
    tasting("sucre, sel", kJ=100, kcal=23, **NOTHING),
    tasting("sucre, vinaigre", kJ=900, kcal=215, **NOTHING),
    tasting("maltitol", kJ=200, kcal=48, fat=0, carbohydrate=60, protein=0),
    tasting("Vinaigre", kJ=0, kcal=0, fat=20, carbohydrate=0, protein=0),
    tasting("sirop d'érable, sel", kJ=500, kcal=120, fat=0, carbohydrate=60, protein=0),
    # 16.6 g of protein are no rounding of nothing.
    nutrients(kcal=0, fat=0, carbohydrate=0, protein=16.6),
    nutrients(kcal=100, fat=3.57, carbohydrate=57.14, protein=7.14),
]


@pytest.mark.slow
@each_row("record", EXCUSED)
def test_the_energy_of_acids_polyols_and_servings_is_room(record: Record) -> None:
    """Annex XIV has a factor for each; what ingredients name and the declaration lacks may be what the energy needs."""
    assert State.PASS == state("energy_fits_nutrients", record)


@each_row("record", WRONG)
def test_what_none_of_them_explains_is_still_found(record: Record) -> None:
    """The room is as large as what may be in it."""
    assert State.FAIL == state("energy_fits_nutrients", record)


def test_a_serving_beside_the_hundred_grams_says_how_it_was_rounded() -> None:
    """Its size is the factor by which its rounding was multiplied; the serving itself is rounded once."""
    figures = nutrients(kcal=0, fat=0, carbohydrate=4, protein=0)
    alone, beside = figures, nutrients(kcal=0, fat=0, carbohydrate=1, protein=0)
    beside["isPartitionedBy"][0] |= {"name": "a pickle", "quantity": 28}
    both = alone | {"isPartitionedBy": [*figures["isPartitionedBy"], *beside["isPartitionedBy"]]}

    assert [State.FAIL, State.PASS, State.PASS] == states(
        "energy_fits_nutrients", nutrients(kcal=0, fat=0, carbohydrate=20, protein=0), both, beside
    )


def test_what_servings_rounded_up_is_no_weight_too_much() -> None:
    """14 g of oil in a spoon of 13 g are 107.7 g in 100 g; 21 g are none. Both energies of a pickle are one."""
    spoon, too_much = (
        nutrients(fat=107.69, carbohydrate=0, protein=0),
        nutrients(fat=161.54, carbohydrate=0, protein=0),
    )
    sauce = nutrients(fat=53.57, carbohydrate=53.57, protein=0)

    for rule in ("nutrient_within_hundred", "nutrients_within_hundred"):
        assert [State.PASS, State.FAIL] == states(rule, spoon, too_much)
    assert State.PASS == state("nutrients_within_hundred", sauce)
    assert State.FAIL == state("nutrients_within_hundred", nutrients(fat=54, carbohydrate=54, protein=0))
    pickle = nutrients(kJ=60, kcal=0, fat=0, carbohydrate=3.57, protein=0)
    assert [State.PASS, State.FAIL] == states("kilojoules_fit_kilocalories", pickle, nutrients(kJ=60, kcal=0))


def test_nothing_but_kilocalories_may_be_a_tiny_serving() -> None:
    """A sweet of half a gram has 0 g of everything and 2 kcal: of 100 g nobody knows. Kilojoules are European."""
    assert [State.UNKNOWN, State.FAIL] == states(
        "energy_fits_nutrients", nutrients(kcal=388, **NOTHING), nutrients(kJ=1650, kcal=388, **NOTHING)
    )


def test_ingredients_that_nobody_asked_for_may_name_an_acid() -> None:
    """The energy of vinegar is unknown then; what no acid explains fails all the same."""
    asked = ("isPartitionedBy", "isConsumerUnit", "percentageOfAlcoholByVolume")
    vinegar, wrong = tasting("Vinaigre", kJ=100, kcal=23, **NOTHING), nutrients(kJ=900, kcal=215, **NOTHING)

    assert [State.UNKNOWN, State.FAIL] == states("energy_fits_nutrients", vinegar, wrong, asked=asked)
    assert [State.PASS, State.FAIL] == states("energy_fits_nutrients", vinegar, wrong)
    assert [State.UNKNOWN, State.UNKNOWN] == states(
        "energy_fits_nutrients", vinegar, wrong, asked=("isPartitionedBy", "isConsumerUnit")
    )


@each_row("unit", ["MLT", "LTR", "CLT"])
def test_what_is_in_100_ml_has_no_limit_by_weight(unit: str) -> None:
    """100 ml of a syrup weigh 140 g; of 100 g no nutrient weighs more than 105."""
    syrup = nutrients(carbohydrate=112, sugars=112, fat=0)
    quantity = {"MLT": 100, "LTR": 0.1, "CLT": 10}[unit]
    by_volume = {
        "isPartitionedBy": [
            syrup["isPartitionedBy"][0] | {"quantity": quantity, "isMeasuredBy": {"code": unit}}
        ]
    }

    for rule in ("nutrient_within_hundred", "nutrients_within_hundred"):
        assert [State.FAIL, State.NOT_APPLICABLE] == states(rule, syrup, syrup | by_volume)
    assert State.FAIL == state(
        "energy_possible",
        nutrients(kJ=4000)
        | {"isPartitionedBy": [nutrients(kJ=4000)["isPartitionedBy"][0] | {"isMeasuredBy": {"code": "MLT"}}]},
    )


@pytest.mark.slow
@each_row(
    "data",
    [
        "Lavandula angustifolia, Rosmarinus officinalis, Thymus vulgaris, Salvia officinalis",
        "Camellia sinensis, Hibiscus sabdariffa, Rosa canina, Citrus limon, Mentha piperita",
        "Vitis vinifera, Butyrospermum parkii, Prunus amygdalus dulcis, Simmondsia chinensis",
        "Gadus morhua, Thunnus albacares, Katsuwonus pelamis, Merluccius merluccius",
        "Lactobacillus bulgaricus, Streptococcus thermophilus, Bifidobacterium bifidum",
    ],
)
@each_row("language", ["fr", "en", "de", "es", "it", "nl", "pt", "da", "sv", "fi"])
def test_latin_names_are_of_no_language(data: str, language: str) -> None:
    """They stand in texts of all languages; a text of nothing else is of none."""
    record = {"description": [text(language, data)]}

    assert State.NOT_APPLICABLE == state("in_stated_language", record)


def test_what_surrounds_latin_names_tells_the_language() -> None:
    """German around them is German."""
    data = "Extrakt aus Blättern von Camellia sinensis und Rosmarinus officinalis, schonend getrocknet und gemahlen"

    assert [State.PASS, State.FAIL] == [
        state("in_stated_language", {"description": [text(one, data)]}) for one in ("de", "fr")
    ]


@each_row(
    "name",
    ["Eau minérale", "Mineralwasser", "Green tea", "Thé vert", "Café moulu", "Kräutertee", "Sel de mer", "Stévia",
     "Agua con gas", "Acqua frizzante", "Kaffee", "Bronvatten", "Kivennäisvesi", "Infusion verveine", "Cola zero"],
)  # fmt: skip
def test_what_has_nothing_in_it_may_declare_nothing(name: str) -> None:
    """Water, tea, coffee, salt, sweeteners and vinegar."""
    assert State.PASS == state("nutrition_not_all_zero", nutrients(kJ=0, kcal=0, **NOTHING) | named(name))


@each_row(
    "name",
    [
        "Jus de pomme",
        "Chicken",
        "Honig",
        "Beurre de cacahuète",
        "Pâte à tarte",
        "Butter from the south",
        "Queso",
        "Brød",
        "Miel de forêt",
    ],
)
def test_food_that_declares_nothing_is_perhaps_not_known(name: str) -> None:
    """Water and salt among many ingredients are no excuse."""
    zero = nutrients(kJ=0, kcal=0, **NOTHING) | named(name)
    with_water = zero | {"composition": [text("fr", "pommes, sucre, eau, sel")]}
    mineral = zero | {"composition": [text("fr", "Ingrédients : eau gazéifiée, arôme")]}

    assert [State.FAIL, State.FAIL, State.PASS] == states("nutrition_not_all_zero", zero, with_water, mineral)


#: What is no ingredient, by language: a nutrition table, storage, an address, a preparation.
NO_INGREDIENTS = {
    "en": (
        "Nutrition facts",
        "Store in a cool dry place",
        "Manufactured by Mill Ltd",
        "Cooking instructions: boil",
    ),
    "fr": (
        "Valeurs nutritionnelles",
        "À conserver au frais",
        "Fabriqué par Moulin SA",
        "Mode d'emploi : agiter",
    ),
    "de": ("Nährwerte je 100 g", "Kühl und trocken lagern", "Hergestellt von Mühle", "Zubereitung: kochen"),
    "es": (
        "Información nutricional",
        "Conservar en lugar fresco",
        "Fabricado por Molino",
        "Modo de empleo: agitar",
    ),
    "it": (
        "Valori nutrizionali",
        "Conservare in luogo fresco",
        "Confezionato da Mulino",
        "Modalità d'uso: agitare",
    ),
    "nl": (
        "Voedingswaarde per 100 g",
        "Koel en droog bewaren",
        "Geproduceerd door Molen",
        "Bereidingswijze: koken",
    ),
    "pt": (
        "Informação nutricional",
        "Conservar em local seco",
        "Produzido por Moinho",
        "Modo de preparação: ferver",
    ),
    "no": ("Næringsinnhold per 100 g", "Oppbevares tørt", "Produsert av Mølle AS", "Tilberedning: kokes"),
    "da": ("Næringsindhold pr. 100 g", "Opbevares tørt", "Importeret af Mølle A/S", "Brugsanvisning: koges"),
    "sv": ("Näringsvärde per 100 g", "Förvaras torrt", "Tillverkad av Kvarn AB", "Tillagning: koka"),
    "fi": ("Ravintosisältö 100 g", "Säilytys viileässä", "Valmistaja: Mylly Oy", "Valmistusohje: keitä"),
}
#: Lists of nothing but ingredients, with words that those parts have as well.
INGREDIENTS = [
    "Farine, préparation à base de fruits (fraises, sucre), conservateur : E202, eau de source",
    "Cultured milk. Strawberry preparation: sugar, strawberries, natural flavor, preservatives, cooked rice",
    "Zucker, Fruchtzubereitung (Erdbeeren, Wasser), Konservierungsstoff: E202, getrocknete Tomaten",
    "Azúcar, preparado de fruta, conservador: E202, agua", "Zucchero, preparato di frutta, conservante: E202, acqua",
    "Suiker, vruchtenbereiding, conserveermiddel: E202, verse melk", "Açúcar, preparado de fruta, conservante: E202",
    "Juice fremstilt av appelsinkonsentrat, konserveringsmiddel", "Socker, fruktberedning, konserveringsmedel: E202",
    "Sokeri, hedelmävalmiste, säilöntäaine: E202", "Poudre de lait, sel (2 g pour 100 g), noix 12 %, vitamine C",
]  # fmt: skip


def test_parts_of_a_label_are_no_ingredients_in_any_language() -> None:
    """Each of the four is found in each language, behind a list and alone."""
    written = [one for parts in NO_INGREDIENTS.values() for one in parts]
    records = [
        {"composition": [text("fr", f"{before}{one}")]} for one in written for before in ("", "Xyz, abc. ")
    ]
    found = states("ingredients_only", *records)

    assert [] == [
        one for one, state_ in zip(np.repeat(written, 2), found, strict=True) if state_ != State.FAIL
    ]


def test_ingredients_are_ingredients_in_any_language() -> None:
    """Preparations of fruit, preservatives and amounts belong to a list."""
    records = [{"composition": [text("fr", one)]} for one in INGREDIENTS]

    assert [State.PASS] * len(records) == states("ingredients_only", *records)
    assert [State.PASS] * len(records) == states("ingredients_can_be_read", *records)
    assert [State.PASS] * len(records) == states("brackets_are_closed", *records)
    assert State.FAIL not in states("texts_not_cut_off", *records)
    assert State.FAIL not in states("text_in_one_language", *records)


#: One sentence in each of the ten languages.
SENTENCES = {
    "fr": "Notre recette est préparée en petites quantités avec des ingrédients choisis avec soin.",
    "en": "Our recipe is prepared in small batches with carefully chosen ingredients and nothing else.",
    "de": "Unser Rezept wird in kleinen Mengen aus sorgfältig ausgewählten Zutaten zubereitet.",
    "es": "Nuestra receta se prepara en pequeñas cantidades con ingredientes elegidos con cuidado.",
    "it": "La nostra ricetta è preparata in piccole quantità con ingredienti scelti con cura.",
    "nl": "Ons recept wordt in kleine hoeveelheden bereid met zorgvuldig gekozen ingrediënten.",
    "pt": "A nossa receita é preparada em pequenas quantidades com ingredientes escolhidos com cuidado.",
    "no": "Oppskriften vår tilberedes i små mengder av nøye utvalgte ingredienser fra gården.",
    "sv": "Vårt recept tillagas i små mängder av noga utvalda ingredienser från gården.",
    "fi": "Reseptimme valmistetaan pienissä erissä huolella valituista raaka-aineista.",
}


def test_two_languages_in_one_text_are_found_in_any_pair() -> None:
    """A text in one language is one, also twice as long."""
    pairs = [(one, other) for one in SENTENCES for other in SENTENCES]
    records = [{"description": [text(one, f"{SENTENCES[one]} {SENTENCES[other]}")]} for one, other in pairs]
    found = states("text_in_one_language", *records)

    wrong = [
        pair
        for pair, state_ in zip(pairs, found, strict=True)
        if (state_ == State.FAIL) != (pair[0] != pair[1])
    ]
    assert [] == wrong
