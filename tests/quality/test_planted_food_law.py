"""Breaches of the laws on food, planted in products of the sample: each is found, and its lawful neighbour is not."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

import pytest

import prodex
from prodex.quality.states import State
from prodex_sandbox.sample import AS_OF
from prodex_sandbox.sample.catalogue import made_products
from tests.quality.four_states import Record

pytestmark = pytest.mark.xdist_group("sample")

#: Products of the sample in which is planted.
COUNT, MOST = 1_000, 30
Words = Mapping[str, str]

SWEETENER = {
    "en": ", sweetener: aspartame", "fr": ", édulcorant : aspartame", "de": ", Süßungsmittel: Aspartam",
    "es": ", edulcorante: aspartamo", "nl": ", zoetstof: aspartaam",
}  # fmt: skip
WITH_SWEETENER = {
    "en": " with sugar and sweetener", "fr": " avec sucre et édulcorant", "de": " mit Zucker und Süßungsmittel",
    "es": " con azúcar y edulcorante", "nl": " met suiker en zoetstof",
}  # fmt: skip
PHENYLALANINE = {
    "en": "Contains a source of phenylalanine.", "fr": "Contient une source de phénylalanine.",
    "de": "Enthält eine Phenylalaninquelle.", "es": "Contiene una fuente de fenilalanina.",
    "nl": "Bevat een bron van fenylalanine.",
}  # fmt: skip
LOW_SUGARS = {
    "en": " Low in sugar.", "fr": " Pauvre en sucres.", "de": " Zuckerarm.",
    "es": " Bajo en azúcares.", "nl": " Suikerarm.",
}  # fmt: skip
LOW_SUGARS_ALONE = {language: f".{said}" for language, said in LOW_SUGARS.items()}
LESS_SUGAR = {
    "en": " 30 % less sugar.", "fr": " 30 % de sucres en moins.", "de": " 30 % weniger Zucker.",
    "es": " 30 % menos azúcares.", "nl": " 30 % minder suikers.",
}  # fmt: skip
HIGH_PROTEIN = {
    "en": " High protein.", "fr": " Riche en protéines.", "de": " Hoher Proteingehalt.",
    "es": " Alto contenido en proteínas.", "nl": " Eiwitrijk.",
}  # fmt: skip
NO_ADDED = {
    "en": " No added sugar.", "fr": " Sans sucres ajoutés.", "de": " Ohne Zuckerzusatz.",
    "es": " Sin azúcares añadidos.", "nl": " Zonder toegevoegde suikers.",
}  # fmt: skip
SUGAR = {"en": ", sugar", "fr": ", sucre", "de": ", Zucker", "es": ", azúcar", "nl": ", suiker"}
IN_BRINE = {
    "en": " in brine",
    "fr": " en saumure",
    "de": " in Salzlake",
    "es": " en salmuera",
    "nl": " in pekel",
}
IN_OIL = {"en": " in oil", "fr": " à l'huile", "de": " in Öl", "es": " en aceite", "nl": " in olie"}


def more(record: Record, attribute: str, words: Words) -> None:
    """Add words to the texts of an attribute, each in its language."""
    for item in record[attribute]:
        item["data"] += words[item["expressedIn"]["normalizedCode"]]


def statements(record: Record, words: Words) -> None:
    """Give statements in the languages of the record's names."""
    record["compulsoryStatements"] = [
        {**item, "data": words[item["expressedIn"]["normalizedCode"]]} for item in record["nameLegal"]
    ]


def declare(record: Record, code: str, grams: float) -> None:
    """Declare this much of a nutrient in each partition."""
    for partition in record["isPartitionedBy"]:
        kept = [one for one in partition["contains"] if one["isConceptualizedBy"]["code"] != code]
        nutrient = {"isConceptualizedBy": {"code": code}, "quantity": grams, "expressedIn": {"code": "GRM"}}
        partition["contains"] = [*kept, nutrient]


class Planted(NamedTuple):
    """What is planted: the rule that finds it, the breach, its lawful neighbour, and what is left where data lack."""

    rule: str
    breach: Callable[[Record], Any]
    lawful: Callable[[Record], Any]
    lacking: Callable[[Record], Any]
    state: State = State.UNKNOWN


def does(*steps: tuple[Any, ...]) -> Callable[[Record], None]:
    """Return what takes these steps: a function and its arguments, or an attribute and its value (None removes it)."""

    def plant(record: Record) -> None:
        for first, *rest in steps:
            if callable(first):
                first(record, *rest)
            elif rest[0] is None:
                record.pop(first, None)
            else:
                record[first] = rest[0]

    return plant


def weight(grams: float) -> list[Record]:
    """Return a weight."""
    return [{"data": grams, "expressedIn": {"code": "GRM"}}]


SWEET = (more, "composition", SWEETENER)
OTHERS = (statements, dict.fromkeys(SWEETENER, "E."))
STRENGTH = "percentageOfAlcoholByVolume"
DATE, STORAGE = "tradeItemDateOnPackagingTypeCode", ("conservationAdvices", "conservations", "temperature")
NO_STORAGE = tuple((name, None) for name in (*STORAGE, "keepRefrigeratedBefore"))
USE_BY = (DATE, {"code": "EXPIRATION_DATE", "label": "Use by"})

PLANTED = (
    Planted(
        "sweeteners_are_stated",
        does(SWEET),
        does(SWEET, (more, "nameLegal", WITH_SWEETENER)),
        does(SWEET, ("nameLegal", None)),
    ),
    Planted(
        "sugars_and_sweeteners_are_stated",
        does((more, "composition", SUGAR), SWEET),
        does((more, "composition", SUGAR), SWEET, (more, "nameLegal", WITH_SWEETENER)),
        does((more, "composition", SUGAR), SWEET, ("nameLegal", None)),
    ),
    Planted("phenylalanine_is_stated", does(SWEET, OTHERS), does(SWEET, (statements, PHENYLALANINE)), does(SWEET)),
    Planted(
        "sugars_claims_hold",
        does((declare, "SUGAR-", 12.0), (more, "description", LOW_SUGARS)),
        does((declare, "SUGAR-", 2.0), (more, "description", LOW_SUGARS)),
        does((more, "description", LOW_SUGARS), ("isPartitionedBy", None)),
    ),
    Planted(
        "sugars_claims_hold",
        # In a sentence of its own: behind "with ..." it would be said of an ingredient.
        does((declare, "SUGAR-", 12.0), (more, "namePublicLong", LOW_SUGARS_ALONE)),
        does((declare, "SUGAR-", 12.0), (more, "namePublicLong", LESS_SUGAR)),
        does((declare, "SUGAR-", 12.0)),
        State.NOT_APPLICABLE,
    ),
    Planted(
        "protein_claims_hold",
        does((declare, "PRO-", 0.1), (more, "description", HIGH_PROTEIN)),
        does((declare, "PRO-", 90.0), (more, "description", HIGH_PROTEIN)),
        does((more, "description", HIGH_PROTEIN), ("isPartitionedBy", None)),
    ),
    Planted(
        "no_added_sugars_claim_holds",
        does((more, "composition", SUGAR), (more, "description", NO_ADDED)),
        does((more, "composition", SUGAR), (more, "description", LESS_SUGAR)),
        does((more, "description", NO_ADDED), ("composition", None)),
    ),
    Planted(
        "has_drained_weight",
        does((more, "namePublicShort", IN_BRINE)),
        does((more, "namePublicShort", IN_BRINE), ("drainedWeight", weight(5))),
        does((more, "namePublicShort", IN_OIL)),
        State.NOT_APPLICABLE,
    ),
    Planted(
        "drained_not_over_net_weight",
        does(("drainedWeight", weight(250)), ("netWeight", weight(200)), ("netContent", None)),
        does(("drainedWeight", weight(200)), ("netWeight", weight(200)), ("netContent", None)),
        does(("drainedWeight", weight(250)), ("netWeight", None), ("netContent", None)),
        State.NOT_APPLICABLE,
    ),
    Planted(
        "alcohol_strength_to_a_tenth",
        does((STRENGTH, [{"data": 12.55, "expressedIn": {"code": "P1"}}])),
        does((STRENGTH, [{"data": 12.5, "expressedIn": {"code": "P1"}}])),
        does((STRENGTH, None)),
        State.NOT_APPLICABLE,
    ),
    Planted(
        "use_by_has_storage_conditions",
        does(*NO_STORAGE, USE_BY),
        does(*NO_STORAGE, USE_BY, ("conservations", [{"expressedIn": {"normalizedCode": "en"}, "data": "0 to 4 °C"}])),
        does(*NO_STORAGE),
        State.NOT_APPLICABLE,
    ),
)  # fmt: skip


@cache
def lawful_foods() -> tuple[Record, ...]:
    """Return foods of the sample without a planted defect that have all that is planted in."""
    wanted = ("composition", "isPartitionedBy", "description", "nameLegal", "namePublicShort", "netWeight")
    found = [
        dict(made.product.record)
        for made in made_products(COUNT)
        if made.product.record["isConsumerUnit"]
        and not made.defects
        and all(made.product.record.get(name) for name in wanted)
    ]
    return tuple(found[:MOST])


def states(rule: str, *plants: Callable[[Record], Any]) -> list[set[State]]:
    """Return the states of the foods after something was planted in each of them, for each that is planted."""
    records = [copy.deepcopy(record) for _ in plants for record in lawful_foods()]
    size = len(lawful_foods())
    for number, record in enumerate(records):
        plants[number // size](record)
        record["id"] = number
    audit = prodex.audit(prodex.flatten(records), {"checks": {rule: {}}}, now=AS_OF, progress=False)
    assert () == audit.crashes
    found = [State(state) for state in audit.states[:, 0].tolist()]
    return [set(found[first : first + size]) for first in range(0, len(found), size)]


@pytest.mark.parametrize("planted", PLANTED, ids=[f"{n}-{one.rule}" for n, one in enumerate(PLANTED)])
def test_breaches_are_found_and_their_lawful_neighbours_are_not(planted: Planted) -> None:
    """In every food, whatever its kind and languages; where the data lack, nobody knows, or it is no question."""
    assert len(lawful_foods()) > 20
    breach, lawful, lacking = states(planted.rule, planted.breach, planted.lawful, planted.lacking)
    # A yoghurt or a drink lies in no liquid, whatever its name.
    assert {State.FAIL} == breach - (
        {State.NOT_APPLICABLE} if planted.rule == "has_drained_weight" else set()
    )
    assert {State.PASS} >= lawful - {State.NOT_APPLICABLE}
    assert {planted.state} == lacking
