"""Which food may need no nutrition declaration: what Annex V of Regulation (EU) No 1169/2011 lists."""

from __future__ import annotations

from dataclasses import replace

import prodex
from prodex.quality.states import State
from tests.cases import each_row
from tests.quality.four_states import Record, text


def states(*records: Record, query: prodex.ProductQuery | None = None) -> list[State]:
    """Return what the rule of the declaration says of food without any nutrient."""
    catalog = prodex.flatten(
        {"id": n, "isConsumerUnit": True, "GPC": {"code": "50000000"}, **record}
        for n, record in enumerate(records)
    )
    if query is not None:
        catalog = replace(catalog, origin=replace(catalog.origin, query=query))
    audit = prodex.audit(catalog, {"checks": {"has_nutrition": {}}}, progress=False)
    assert () == audit.crashes
    order = audit.products.product_id.astype(int).to_numpy().argsort()
    return [State(one) for one in audit.states[order, 0].tolist()]


def food(name: str, ingredients: str = "", kind: str = "", language: str = "fr") -> Record:
    """Return food with its name, and its list of ingredients or its kind."""
    record: Record = {"namePublicLong": [text(language, name)]}
    if ingredients:
        record["composition"] = [text(language, ingredients)]
    if kind:
        record["kind"] = {"code": kind.upper(), "label": kind}
    return record


@each_row(
    ("name", "ingredients", "language"),
    [
        ("Strawberries", "Strawberries", "en"),
        ("Frischbackhefe", "Frischbackhefe", "de"),
        ("Thé caramel", "Thé noir (91,75%), arôme naturel (8,25%)", "fr"),
        ("Lungo", "Café moulu en capsule.", "fr"),
        ("Verveine menthe", "Verveine (50%), menthe douce (50%)", "fr"),
        (
            "Pomme cannelle",
            "Pomme 30 %, cannelle 15 %, églantier 40 %, arôme naturel de pomme 10 %, hibiscus 5 %.",
            "fr",
        ),
        ("Vinagre de vino", "Vinagre de vino, contiene sulfitos", "es"),
        ("Sale marino", "Sale marino", "it"),
        ("Zeezout", "Zeezout", "nl"),
        ("Orégãos", "Orégãos", "pt"),
        ("Melon", "Melon 100 %", "fr"),
        ("5 abricots", "Abricots, variété Sunny Cot", "fr"),
        ("Vitaminbjørner", "Fyllstoff (maltitolsirup), gelatin, vitaminer", "no"),
        ("Nahrungsergänzungsmittel Magnesium", "Maltodextrin, Magnesiumcitrat", "de"),
        ("Infusion du soir", "", "fr"),
    ],
)
def test_what_annex_v_may_list_is_unknown(name: str, ingredients: str, language: str) -> None:
    """Tea, herbs, salt, yeast and vinegar need none, nor does an unprocessed ingredient alone or a supplement."""
    assert [State.UNKNOWN] == states(food(name, ingredients, language=language))


@each_row(
    ("name", "ingredients", "language"),
    [
        ("Thé glacé", "Eau, sucre, extrait de thé", "fr"),
        ("Cappuccino", "Sugar, skimmed milk powder, coffee, flavouring", "en"),
        ("Olives", "Olives vertes, eau, sel", "fr"),
        ("Huile d'olive", "Huile d'olive", "fr"),
        ("Pâtes", "100 % blé dur", "fr"),
        ("Gingerbread", "Dates, almonds, pecans, ginger, cloves, cinnamon", "en"),
        ("Oxtail seasoning", "Salt, sugar, thyme, paprika", "en"),
        ("Menthe au chocolat", "", "fr"),
        ("Kartoffelsalat", "", "de"),
    ],
)
def test_what_else_has_no_declaration_is_accused(name: str, ingredients: str, language: str) -> None:
    """Sugar in a tea, oil in a bottle and pasta of one grain need a declaration."""
    assert [State.FAIL] == states(food(name, ingredients, language=language))


def test_what_may_be_plain_passes_with_a_declaration() -> None:
    """A tea that has a declaration has one."""
    declared = {
        "isPartitionedBy": [
            {"name": "100 g", "contains": [{"isConceptualizedBy": {"code": "FAT"}, "quantity": 0.1}]}
        ]
    }

    assert [State.PASS] == states(food("Thé vert", "Thé vert") | declared)


def test_without_its_list_nobody_knows() -> None:
    """Where the list was not requested, it may be that of a tea."""
    nobody_asked = prodex.ProductQuery(source_exclude=["composition"])

    assert [State.UNKNOWN] == states(food("Kartoffelsalat", kind="Salads"), query=nobody_asked)
