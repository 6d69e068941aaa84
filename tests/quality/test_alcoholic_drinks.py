"""Which drinks need neither a list of ingredients nor a nutrition declaration: over 1.2 % of alcohol (Art. 16(4))."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import prodex
from prodex.quality.states import State
from tests.cases import each_row
from tests.quality.four_states import Record, text

CHECKS: Any = {
    "assume": {"food": True},
    "checks": {"has_alcohol_strength": {}, "has_composition": {}, "has_nutrition": {}},
}
WORDS = {State.PASS: "above", State.FAIL: "above", State.NOT_APPLICABLE: "not", State.UNKNOWN: "unknown"}


def drink(
    name: str,
    kind: str = "",
    ingredients: str = "",
    strength: str = "",
    alcohol: str = "",
    language: str = "fr",
) -> Record:
    """Return a product with a name and what else is given; alcohol in grams in 100 ml."""
    record: Record = {"isConsumerUnit": True, "namePublicLong": [text(language, name)]}
    if kind:
        record["kind"] = {"code": kind.upper(), "label": kind}
    if ingredients:
        record["composition"] = [text(language, ingredients)]
    if strength:
        told = {"data": float(strength.replace(",", ".")), "expressedIn": {"code": "P1"}}
        record["percentageOfAlcoholByVolume"] = [told]
    if alcohol:
        record |= declared(ALC=alcohol)
    return record


def declared(unit: str = "MLT", **grams: str) -> Record:
    """Return nutrients of 100 ml or g, in grams."""
    contains = [
        {
            "isConceptualizedBy": {"code": code.replace("_", "-")},
            "quantity": float(amount.replace(",", ".")),
            "expressedIn": {"code": "KJO" if code == "ENER_" else "GRM"},
        }
        for code, amount in grams.items()
    ]
    partition = {"name": "100", "quantity": 100, "isMeasuredBy": {"code": unit}, "contains": contains}
    return {"isPartitionedBy": [partition]}


def states(*records: Record, query: prodex.ProductQuery | None = None) -> list[list[State]]:
    """Return the states of the three rules for each product."""
    catalog = prodex.flatten({"id": n, **record} for n, record in enumerate(records))
    if query is not None:
        catalog = replace(catalog, origin=replace(catalog.origin, query=query))
    audit = prodex.audit(catalog, CHECKS, progress=False)
    assert () == audit.crashes
    order = audit.products.product_id.astype(int).to_numpy().argsort()
    return [[State(one) for one in row] for row in audit.states[order].tolist()]


def said(*records: Record) -> list[str]:
    """Say of products whether they are such drinks: "above", "not" or "unknown"."""
    return [WORDS[row[0]] for row in states(*records)]


@cache
def table() -> tuple[tuple[dict[str, str], list[State]], ...]:
    """Return the rows of the table, each with the states of its product."""
    with Path(__file__).with_name("alcoholic_drinks.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    records = [
        drink(
            *(row[each] for each in ("name", "kind", "ingredients", "strength", "nutrient_alc", "language"))
        )
        for row in rows
    ]
    return tuple(zip(rows, states(*records), strict=True))


def test_no_drink_over_the_limit_is_accused() -> None:
    """Of labels that were written from the law: wines, beers and spirits need neither list nor declaration."""
    above = [(row["name"], found) for row, found in table() if row["expected"] == "above"]
    accused = [name for name, (_, *blockers) in above if State.FAIL in blockers]
    silent = [name for name, (strength, *_) in above if WORDS[strength] != "above"]

    assert len(above) == 51
    assert [] == accused
    assert [] == silent


def test_nothing_else_is_exempt() -> None:
    """Vinegar, wine gums, cakes with rum and beer without alcohol need both; what may be either is no exemption."""
    others = [(row, found) for row, found in table() if row["expected"] != "above"]

    assert [] == [row["name"] for row, found in others if WORDS[found[0]] == "above"]
    # Kombucha among dairy and juice is taken for a soft drink; "panaché" is one by a decree of one language alone.
    assert {
        ("not", "not"): 75,
        ("not", "unknown"): 1,
        ("unknown", "not"): 1,
        ("unknown", "unknown"): 12,
    } == Counter((row["expected"], WORDS[found[0]]) for row, found in others)


def test_wine_by_its_name_alone_has_no_blocker() -> None:
    """ "Vin rouge" without anything else gets one finding, its strength."""
    assert [[State.FAIL, State.NOT_APPLICABLE, State.NOT_APPLICABLE]] == states(drink("Vin rouge"))


@each_row(
    ("name", "kind", "meaning"),
    [
        ("Passion Fruit Vodka 70cl", "Spirits", "above"),
        ("Dry Cider 4.5% vol", "", "above"),
        ("Bière blonde 5,0%", "Bières", "above"),
        ("Bière 0,0%", "Bières", "not"),
        ("Kirschwasser", "", "above"),
        ("Eau de vie de poire", "", "above"),
        ("Vin rouge", "Épicerie", "above"),
        ("Chocolate Stout", "Beers", "above"),
        ("Beer Battered Cod Fillets", "", "not"),
        ("Pâté en croûte au Riesling", "Charcuterie", "not"),
        ("Escargots de Bourgogne", "", "not"),
        ("Sarments du Médoc", "", "unknown"),
        ("Sorbet citron à la vodka", "", "not"),
        ("Rum raisins", "", "not"),
        ("Champagne shampoo", "Shampoo", "not"),
        ("Verre à vin", "Vaisselle", "not"),
        ("Alkoholfreier Sekt", "Sekt", "not"),
        ("Gin & Tonic", "", "unknown"),
        ("Cocktail mojito", "", "unknown"),
        ("Château Haut-Bergey", "", "unknown"),
    ],
)
def test_words_of_names_and_kinds(name: str, kind: str, meaning: str) -> None:
    """A drink that food is made with is none, and nor is one that says so."""
    assert [meaning] == said(drink(name, kind))


def test_figures_decide_before_words() -> None:
    """A zero beside a wine may stand for "not known"; alcohol in 100 g may be that of a cake."""
    cake = drink("Gâteau Noëlla") | declared("GRM", ALC="2")
    assert ["not", "unknown", "unknown", "unknown", "above"] == said(
        drink("Vin rouge", strength="0,5"),
        drink("Vin rouge", strength="0"),
        drink("Vin rouge", strength="12", alcohol="0,5"),
        drink("Xyz") | declared("GRM", ALC="2"),
        drink("Xyz", alcohol="2"),
    )
    assert ["not"] == said(cake)


def test_nutrients_leave_no_room_for_alcohol() -> None:
    """A gram of alcohol has 29 kJ (Annex XIV): where fat, carbohydrate and protein have all energy, there is none."""
    juice = {"ENER_": "190", "FAT": "0", "CHOAVL": "11", "PRO_": "0,2"}
    assert ["not", "unknown", "not", "unknown"] == said(
        drink("Xyz") | declared(**juice),
        drink("Xyz") | declared(**{**juice, "ENER_": "400"}),
        drink("Xyz") | declared(FAT="30", CHOAVL="40", PRO_="8"),
        drink("Sangria") | declared(FAT="10", CHOAVL="8", PRO_="60"),
    )


@each_row(
    ("name", "ingredients", "grams", "meaning"),
    [
        ("Minestrone", "", {"FAT": "0,9", "CHOAVL": "5,1", "PRO_": "1,2", "SALTEQ": "1,18"}, "not"),
        ("Rahmgemüse", "", {"FAT": "3,2", "CHOAVL": "3,7", "PRO_": "2,1"}, "not"),
        ("Rett i koppen", "", {"FAT": "1,9", "CHOAVL": "7,7", "PRO_": "0,7", "SALTEQ": "0,79"}, "not"),
        ("Spring", "", {"FAT": "0", "CHOAVL": "23,2", "SUGAR_": "2,8", "PRO_": "2,4"}, "not"),
        ("Falafels", "", {}, "not"),
        ("Rugbrød", "", {}, "not"),
        ("Biola", "", {"FAT": "0,1", "CHOAVL": "9,4", "PRO_": "3"}, "not"),
        ("Xyz", "", {"FAT": "13", "CHOAVL": "20", "PRO_": "3"}, "unknown"),
        ("AOC Côtes de Provence Rosé", "", {"FAT": "0", "CHOAVL": "0", "PRO_": "5"}, "unknown"),
        ("Vanille Spritz", "Weizenmehl, Palmfett, Zucker", {"FAT": "29,8", "CHOAVL": "61,5"}, "not"),
        ("Bonanza", "Épices (paprika, oignon), sel, bouillon (sel, extrait de levure)", {}, "not"),
    ],
)
def test_figures_of_no_drink(name: str, ingredients: str, grams: dict[str, str], meaning: str) -> None:
    """Salt, starch, cream without sugar and protein without fat are of food; of what is called a wine nobody knows."""
    assert [meaning] == said(drink(name, ingredients=ingredients) | (declared(**grams) if grams else {}))


def test_a_strength_beside_figures_of_food_is_unknown() -> None:
    """Staples that were declared with 22 g of everything and 11 % are no drink for certain."""
    assert ["unknown"] == said(drink("Agrafes", strength="11") | declared(FAT="22", CHOAVL="2", PRO_="22"))


@each_row(
    "path", ["namePublicLong", "kind", "composition", "percentageOfAlcoholByVolume", "isPartitionedBy", "GPC"]
)
def test_what_was_not_requested_may_say_the_opposite(path: str) -> None:
    """Without a name, a kind, a list or a figure, a state is as with all, or unknown."""
    records = [
        *(drink(name) for name in ("Vin rouge", "Vinaigre", "Xyz")),
        drink("Cidre", "Cidres", alcohol="4"),
        drink("Cidre sans alcool", "Cidres"),
        drink("Xyz", "Biscuits", "Farine, rhum"),
        drink("Sangria", "", "Eau, sucre"),
        drink("Xyz", strength="12"),
        drink("Vin rouge") | {"GPC": {"code": "53000000"}},
    ]
    everything = states(*records)
    without: list[Record] = [{key: value for key, value in one.items() if key != path} for one in records]
    restricted = states(*without, query=prodex.ProductQuery(source_exclude=[path]))

    for had, has in zip(everything, restricted, strict=True):
        assert all(now in {before, State.UNKNOWN} for before, now in zip(had, has, strict=True))
