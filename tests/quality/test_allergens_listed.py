"""The rule of allergens on products: what is read, what a list contains, and where the check is unknown."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import prodex
from prodex import ProductQuery
from prodex.quality import Audit
from prodex.quality.states import State
from prodex_sandbox.sample import AS_OF
from tests.cases import each_row
from tests.quality.four_states import Record, text

RULE = "composition_allergens_listed"
WHEAT = "Enriched wheat flour, skimmed milk powder, eggs, peanuts, soybean oil"
BREAD = "Farine de blé, eau, levure, sel de mer"
RICE = "Riz blanc, eau, huile d'olive, sel de mer"
POLISH = "mąka żytnia, cukier, woda, sól"


def food(*compositions: tuple[str | None, Any], allergens: Any = None, **fields: Any) -> Record:
    """Return a food with texts of ingredients by label, and a list of allergens in French."""
    listed = [text("fr", allergens)] if isinstance(allergens, str) else allergens
    made = {"composition": [_text(label, said) for label, said in compositions], "allergens": listed}
    return {"isConsumerUnit": True, "GPC": {"code": "50000001"}, **made, **fields}


def _text(label: str | None, said: Any) -> Record:
    return {"data": said} if label is None else text(label, said)


def audited(*records: Record, query: ProductQuery | None = None, **parameters: Any) -> Audit:
    """Return the audit of some foods by this rule alone."""
    catalog = prodex.flatten({"id": n, **record} for n, record in enumerate(records))
    if query is not None:
        catalog = replace(catalog, origin=replace(catalog.origin, query=query))
    audit = prodex.audit(catalog, {"checks": {RULE: parameters}}, now=AS_OF, progress=False)
    assert () == audit.crashes
    return audit


def state(record: Record) -> State:
    """Return the rule's state of a food."""
    return State(audited(record).states[0, 0])


def unlisted(record: Record) -> list[str]:
    """Return the groups that the rule finds and the list does not name."""
    return [reason.split(":")[0] for reason in audited(record).failures()["reason"]]


@each_row("label", ["fr", "de", "fi", "ja", "", None])
def test_a_text_is_read_in_the_language_it_is_in(label: str | None) -> None:
    """An English text that is called French, Japanese or nothing at all names what it names."""
    assert ["gluten", "eggs", "peanuts", "soya", "milk"] == unlisted(food((label, WHEAT)))


@pytest.mark.slow
@each_row(
    ("said", "expected"),
    [
        (POLISH, State.UNKNOWN),
        ("Pommes", State.PASS),
        ("Zlork", State.UNKNOWN),
        ("-", State.UNKNOWN),
        ("мука, сахар, соль", State.UNKNOWN),
        ("mąka żytnia, cukier, gluten", State.UNKNOWN),
        ("Vetemjöl, socker, salt, sojalecitin", State.UNKNOWN),
        ("LAIT", State.FAIL),
        (RICE, State.PASS),
    ],
)
def test_what_cannot_be_read_with_certainty_never_passes(said: str, expected: State) -> None:
    """Neither what is in a language without words here, nor a word that nobody knows."""
    assert expected == state(food(("fr", said)))


def test_a_text_of_nothing_but_allergens_is_understood() -> None:
    """The text is too short to detect its language, but no word in it could name another allergen."""
    assert State.PASS == state(food(("fr", "Lait"), allergens="Lait"))
    assert State.FAIL == state(food(("fr", "Lait"), allergens="Gluten"))


def test_a_text_of_uncertain_language_does_not_pass_because_one_allergen_is_listed() -> None:
    """It may name another allergen in a word that is not in the vocabulary."""
    assert State.UNKNOWN == state(food(("pl", "gluten, mleko w proszku"), allergens="Gluten"))


@each_row(
    ("said", "expected"),
    [
        ((RICE, BREAD), State.FAIL),
        ((POLISH, BREAD), State.FAIL),
        ((RICE, POLISH), State.UNKNOWN),
        ((RICE, RICE), State.PASS),
    ],
)
def test_of_several_compositions_each_counts(said: tuple[str, str], expected: State) -> None:
    """A failure that was found is certain; a pass needs all compositions."""
    first, second = said

    assert expected == state(food(("fr", first), ("pl", second)))
    assert expected == state(food(("fr", second), ("pl", first)))


@pytest.mark.slow
@each_row("listed", [None, [], [None], "", "  ", [text("fr", "")]])
def test_an_absent_list_lists_nothing(listed: Any) -> None:
    """Whoever filters by it finds a bread without gluten."""
    assert State.FAIL == state(food(("fr", BREAD), allergens=listed))
    assert State.PASS == state(food(("fr", RICE), allergens=listed))
    without = food(("fr", BREAD))
    del without["allergens"]
    assert State.FAIL == state(without)


@pytest.mark.slow
@each_row(
    ("listed", "expected"),
    [
        ("Gluten", State.PASS),
        ("Contient du blé. Peut contenir du lait.", State.PASS),
        ("Peut contenir : gluten", State.PASS),
        ("Lait, soja", State.FAIL),
        ("Aucun", State.FAIL),
        ("None", State.FAIL),
        ("Voir les ingrédients en gras", State.FAIL),
        ("See ingredients in bold", State.FAIL),
        ("Sans gluten", State.FAIL),
        ("-", State.FAIL),
        ("mleko, soja", State.UNKNOWN),
        ("vehnä", State.UNKNOWN),
        ("小麦", State.UNKNOWN),
        ("gluten, mleko", State.PASS),
    ],
)
def test_a_list_that_cannot_be_read_lacks_nothing(listed: str, expected: State) -> None:
    """It may name the very allergen; a list that refers to the ingredients, or names none, does not."""
    assert expected == state(food(("fr", BREAD), allergens=listed))


@pytest.mark.slow
@each_row(
    ("label", "said", "gluten", "cereal"),
    [
        ("fr", "Farine, eau, levure, sel de mer", "Gluten", "Blé"),
        ("en", "Flour, water, yeast, sea salt", "Cereals containing gluten", "Wheat"),
        ("de", "Mehl, Wasser, Hefe, Meersalz", "Glutenhaltiges Getreide", "Weizen"),
        ("es", "Sémola, agua, levadura, sal marina", "Contiene gluten", "Trigo"),
        ("it", "Semola, acqua, lievito, sale marino", "Cereali contenenti glutine", "Frumento"),
        ("nl", "Bloem, water, gist, zeezout", "Glutenbevattende granen", "Tarwe"),
        ("pt", "Sêmola, água, fermento, sal marinho", "Cereais que contêm glúten", "Trigo"),
    ],
)
def test_gluten_is_no_name_of_a_cereal(label: str, said: str, gluten: str, cereal: str) -> None:
    """Annex II 1 asks which cereal the flour is of: a list of gluten alone never makes it pass."""
    assert State.FAIL == state(food((label, said)))
    assert State.UNKNOWN == state(food((label, said), allergens=[text(label, gluten)]))
    assert State.PASS == state(food((label, said), allergens=[text(label, cereal)]))


def test_lecithin_is_of_soya_unless_it_says_of_what() -> None:
    """Who lists soya has listed it; who lists eggs has not."""
    chocolate = ("fr", "Sucre, pâte de cacao, beurre de cacao, émulsifiant : lécithines, vanille")

    assert State.UNKNOWN == state(food(chocolate))
    assert State.UNKNOWN == state(food(chocolate, allergens="Œufs"))
    assert State.PASS == state(food(chocolate, allergens="Soja"))


def test_the_finding_says_what_it_rests_on_that_the_product_is_food() -> None:
    """Where its class says so, nothing is to be said."""
    bread = food(("fr", BREAD))
    nameless = {**bread, "GPC": None}
    kind = {**nameless, "kind": {"code": 4711, "label": "Pains"}, "composition": [text("fr", "BLÉ")]}
    nutrients = {
        **nameless,
        "isPartitionedBy": [{"contains": [{"isConceptualizedBy": {"code": "FAT"}, "quantity": 1}]}],
    }

    said = "gluten: named in the ingredients, not listed"
    assert [
        said,
        f"{said}; taken for food by its ingredients",
        f"{said}; taken for food by its ingredients",
        f"{said}; taken for food by its nutrients",
    ] == audited(bread, nameless, kind, nutrients).failures()["reason"].tolist()


def test_lists_of_all_languages_count_together() -> None:
    """What one of them names is listed; one that cannot be read may name the rest."""
    bread = ("fr", "Farine de blé, lait entier, eau, levure")

    assert State.PASS == state(food(bread, allergens=[text("fr", "Blé"), text("en", "Milk")]))
    assert State.FAIL == state(food(bread, allergens=[text("fr", "Blé"), text("en", "Wheat")]))
    assert State.UNKNOWN == state(food(bread, allergens=[text("fr", "Blé"), text("pl", "pszenica")]))


def test_data_that_are_no_texts_cannot_be_read() -> None:
    """A list of codes lists something; a composition of codes is one."""
    codes = [{"code": "AW", "label": None}]

    assert State.UNKNOWN == state(food(("fr", BREAD), allergens=codes))
    assert State.UNKNOWN == state({**food(allergens="Gluten"), "composition": codes})


def test_without_ingredients_there_is_no_question() -> None:
    """Ingredients that are only pending do not count either: has_composition reports them."""
    waiting = {"lastRequest": {"composition": [text("fr", BREAD)]}}

    assert State.NOT_APPLICABLE == state(food())
    assert State.NOT_APPLICABLE == state(food(("fr", " ")))
    assert State.NOT_APPLICABLE == state(food(**waiting))


def test_a_list_that_waits_is_not_there_yet() -> None:
    """The finding states that a list is pending."""
    audit = audited(food(("fr", BREAD), lastRequest={"allergens": [text("fr", "Gluten")]}))

    assert ["gluten: named in the ingredients, not listed; a list waits for acceptance"] == (
        audit.failures()["reason"].tolist()
    )


def test_a_list_that_was_not_asked_for_is_not_missing() -> None:
    """Ingredients that were not asked for are not missing either."""
    asked = ["composition", "isConsumerUnit", "GPC"]
    audit = audited(food(("fr", BREAD)), query=ProductQuery(source_include=asked))

    assert [State.UNKNOWN] == audit.states[:, 0].tolist()


def test_the_finding_shows_the_word_as_it_is_written() -> None:
    """With its capitals and accents, under the label of its text; and in which language it was read, if in another."""
    bread = food(
        ("fr", "Farine de BLÉ, ŒUFS frais, sucre roux"), ("fr", WHEAT), allergens="Gluten, soja, arachides"
    )
    found = audited(bread, food((None, "Farine de blé noir et de Épeautre, sel"))).failures()

    assert [
        ("0", "fr", "ŒUFS", "eggs: named in the ingredients, not listed"),
        (
            "0",
            "fr",
            "skimmed milk powder",
            "milk: named in the ingredients, not listed (the text reads as en)",
        ),
        ("1", None, "Épeautre", "gluten: named in the ingredients, not listed (the text reads as fr)"),
    ] == [
        (str(row.product_id), row.language, row.value, row.reason)
        for row in found.astype(object).where(found.notna(), None).itertuples()
    ]


@each_row(
    ("label", "said", "groups"),
    [
        (
            "en",
            "vegetable oil (may contain soybean and/or palm), nonfat dry milk, wheat flour",
            ["gluten", "milk"],
        ),
        ("en", "Not suitable for vegans: milk, egg", ["eggs", "milk"]),
        ("en", "Tuna packed in oil, milk protein, wheat flour", ["gluten", "fish", "milk"]),
        ("fr", "Riz, sel. Dans cet atelier sont conditionnés des produits contenant du lait, des oeufs", []),
        ("fr", "Farine de riz, sucre, sel, traces de ; gluten", []),
    ],
)
def test_warnings_end_where_they_end(label: str, said: str, groups: list[str]) -> None:
    """The text after the phrase is an ingredient again, and the text within it is not."""
    assert groups == unlisted(food((label, said)))


@each_row(
    ("label", "said"),
    [
        ("fr", "Germes de haricot mungo (« pousses de soja ») 70 %, carottes, sel"),
        ("es", "Brotes de judía mungo («brotes de soja») 65%, zanahoria, sal"),
        ("fr", "Eau, tofu de pois chiches 15% (pois chiches, eau, sel), sel"),
        (
            "en",
            "Coconut, tofu-style chickpea cubes (chickpeas, water), salt. Contains no soya, fish sauce or peanuts.",
        ),
        ("en", "Potatoes, sunflower oil, prawn cocktail seasoning (sugar, salt, dried onion)"),
        ("de", "Schweinefleisch (Lachsfleisch vom Kotelettstrang), Speisesalz, Dextrose"),
        ("de", "Kichererbsen, Wasser, Reismalzsirup, Speisesalz"),
        ("fr", "Pommes noisettes : pommes de terre 86 %, huile de tournesol, sel"),
        ("de", "Käsepappelblätter 40 %, Hagebutten, Kornblumenblüten"),
        ("it", "Vitello da latte 62%, acqua, castagne 10%, sale"),
        ("es", "Yemas de espárrago blanco 60%, agua, sal"),
        ("pt", "Açúcar, álcool etílico de cereais (trigo), ginjas, água"),
        ("it", "Alcool (distillato di cereali, contiene frumento), acqua, zucchero"),
        ("en", "Cocoa mass, sugar. We can't guarantee our bars are free from dairy, hazelnuts & gluten."),
        ("it", "Testa di suino 70%, sale, pepe. Coppa di testa; no glutine, no latte e derivati."),
    ],
)
def test_another_name_of_a_plant_or_of_a_taste_is_no_allergen(label: str, said: str) -> None:
    """What is named before its brackets, what it is made of, and what is only called so."""
    assert [] == unlisted(food((label, said)))


@each_row(
    ("label", "said", "group"),
    [
        ("fr", "Pousses de soja 70 %, carottes, sel", "soya"),
        ("en", "Potatoes, tofu, salt", "soya"),
        ("en", "Potatoes, prawn cocktail (prawns, water), salt", "crustaceans"),
        ("it", "Sale, pepe, latte, olio", "milk"),
        ("fr", "Haricots verts, beurre noisette, sel", "milk"),
        ("fr", "Sucre, noisettes, sel", "nuts"),
        ("de", "Buttermakrele geräuchert, Speisesalz", "fish"),
        ("de", "Lachsfleisch 60 %, Wasser, Speisesalz", "fish"),
        ("de", "Milchreis, Zucker, Zimt", "milk"),
        ("en", "Potatoes, sunflower oil, shrimp flavouring, salt", "crustaceans"),
        ("it", "Farina no OGM di frumento, acqua, sale", "gluten"),
    ],
)
def test_the_same_words_alone_name_it(label: str, said: str, group: str) -> None:
    """Without the plant that is named beside them."""
    assert [group] == unlisted(food((label, said)))


def test_what_is_only_in_the_style_of_something_is_unknown() -> None:
    """Nobody knows of what it is made."""
    assert State.UNKNOWN == state(food(("en", "Water, tofu-style pieces, salt")))
