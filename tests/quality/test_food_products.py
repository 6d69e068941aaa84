"""What is food, and on what evidence: class, what only food declares, and words for and against it."""

from __future__ import annotations

import csv
import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import prodex
from prodex.quality.states import State
from tests.cases import each_row
from tests.quality.four_states import Record, text
from tests.test_real_products import REAL

UNIT: Record = {"isConsumerUnit": True}
INCI = "Aqua, Sodium Laureth Sulfate, Cocamidopropyl Betaine, Glycerin, Parfum, Linalool, Limonene"
BISCUIT = "Farine de blé, sucre, beurre, œufs, sel"


def kind(label: str) -> Record:
    """Return a kind by its words."""
    return {"kind": {"code": 4711, "label": label}}


def composition(said: str) -> Record:
    """Return ingredients, in French."""
    return {"composition": [text("fr", said)]}


def audited(*records: Record) -> prodex.quality.Audit:
    """Return what the rule of origin says of products that declare none: it fails those that are food."""
    catalog = prodex.flatten({"id": n, **UNIT, **record} for n, record in enumerate(records))
    audit = prodex.audit(catalog, {"checks": {"has_origin": {}}}, progress=False)
    assert () == audit.crashes
    return audit


def decided(*records: Record) -> list[str]:
    """Say of products whether they are food, none, or undecided."""
    words = {State.FAIL: "food", State.NOT_APPLICABLE: "none", State.UNKNOWN: "undecided"}
    return [words[State(state)] for state in audited(*records).states[:, 0].tolist()]


NUTRITION: Any = {"isPartitionedBy": [{"contains": [{"isConceptualizedBy": {"code": "FAT"}, "quantity": 1}]}]}
ALCOHOL: Any = {"percentageOfAlcoholByVolume": [{"data": 40, "expressedIn": {"code": "P1"}}]}


@each_row(
    ("record", "evidence"),
    [
        (NUTRITION, "its nutrients"),
        (ALCOHOL, "its alcoholic strength"),
        (composition(BISCUIT), "its ingredients"),
        (kind("chocolate-biscuits"), "the words of its kind"),
        ({"allergens": [text("fr", "lait")]}, "its allergens"),
        ({**composition(INCI), **NUTRITION}, "its nutrients"),
    ],
)
def test_a_finding_says_what_it_rests_on(record: Record, evidence: str) -> None:
    """Where no class says that a product is food, the finding names what does."""
    audit = audited(record)

    assert ["food"] == decided(record)
    assert [f"no data; taken for food by {evidence}"] == audit.failures()["reason"].tolist()


@each_row(
    "label",
    [
        *("Biscuits", "Pâtes alimentaires", "Käse", "Galletas", "Formaggi", "Koekjes", "Bolachas"),
        *("Sjokolade", "Choklad", "Suklaa", "extra-virgin-olive-oils", "Eaux minérales"),
    ],
)
def test_kinds_of_food_are_known_by_their_words(label: str) -> None:
    """In ten languages, in one word or several."""
    assert ["food"] == decided(kind(label))


@each_row(
    "label",
    [
        *("Shampooing au lait", "Shampoo", "Zahnpasta", "Champú", "Detersivi", "Wasmiddel", "Detergentes"),
        *("Sjampo", "Schampo", "Saippua", "dog food", "Bougies"),
    ],
)
def test_words_speak_against_food(label: str) -> None:
    """Care, detergents, candles and food of animals are none, whatever else is in their names."""
    assert ["none"] == decided(kind(label))


def test_zeros_are_no_nutrients() -> None:
    """Forms fill in zeros for a toy; who did not ask how much it is does not know whether there are others."""
    zeros: Any = {"isPartitionedBy": [{"contains": [{"isConceptualizedBy": {"code": "FAT"}, "quantity": 0}]}]}
    assert ["none", "undecided", "food"] == decided(zeros | kind("Jouets"), zeros, zeros | kind("Eaux"))
    catalog = prodex.flatten([{"id": 1, **UNIT, **NUTRITION}])
    query = prodex.ProductQuery(source_exclude=["isPartitionedBy.contains.quantity"])
    unasked = replace(catalog, origin=replace(catalog.origin, query=query))
    audit = prodex.audit(unasked, {"checks": {"has_origin": {}}}, progress=False)
    assert [State.UNKNOWN] == audit.states[:, 0].tolist()


def test_ingredients_of_cosmetics_are_none_of_food() -> None:
    """They are listed by names that are the same in every language; textiles have a composition as well."""
    assert ["none", "none"] == decided(composition(INCI), composition("80 % coton, 20 % polyester"))


@each_row("write", [lambda said: said, lambda said: {"data": said}, lambda said: [{"data": said}]])
def test_ingredients_without_a_language_are_read_as_well(write: Any) -> None:
    """Some services send them as a plain string, others leave the language out."""
    assert ["none", "food", "undecided"] == decided(
        *({"composition": write(said)} for said in (INCI, BISCUIT, "Voir sur l'emballage"))
    )


def test_what_speaks_for_both_is_undecided() -> None:
    """Allergens of a perfume are no evidence of food, nor is a text that lists nothing."""
    assert ["undecided"] * 4 == decided(
        {**composition(INCI), "allergens": [text("fr", "Linalool")]},
        {**composition(BISCUIT), **kind("Savons")},
        composition("Voir sur l'emballage"),
        kind("Divers"),
    )


def test_the_class_decides_where_there_is_one() -> None:
    """Words of a kind change nothing then."""
    classed: list[Record] = [
        {"GPC": {"code": "50000001"}, **kind("Savons")},
        {"GPC": {"code": "53000000"}, **composition(BISCUIT)},
    ]

    assert ["food", "none"] == decided(*classed)
    assert ["no data: absent, null or empty"] == audited(*classed).failures()["reason"].tolist()


@pytest.mark.skipif(not REAL.is_file(), reason=f"the real products are not at {REAL.name}")
def test_real_products_are_taken_for_what_they_are() -> None:
    """Twenty that only words call food were drawn and read; of the undecided, those that have a text were."""
    with Path(__file__).with_name("food_verdicts.tsv").open(encoding="utf-8", newline="") as file:
        read = {row["product_id"]: row for row in csv.DictReader(file, delimiter="\t")}
    with gzip.open(REAL) as lines:
        records = [record for line in lines if str((record := json.loads(line))["id"]) in read]
    found = dict(zip([str(each["id"]) for each in records], decided(*records), strict=True))
    food = [row["judged"] for row in read.values() if row["decided"] == "food"]

    assert {product: row["decided"] for product, row in read.items()} == found
    assert len(food) == 20
    assert food.count("food") >= 19
