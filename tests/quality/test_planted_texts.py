"""The plan of planted defects against the rules: every defect found, and none that nobody planted."""

from __future__ import annotations

import json
from copy import deepcopy
from random import Random

import pytest

import prodex
from prodex.quality.audit import Audit
from prodex.quality.states import State
from prodex_sandbox.sample import AS_OF, DEFECTS
from tests.cases import each_row
from tests.quality.four_states import Record
from tests.quality.planted import CHECKS, explained, found, planned, planted, profile, sample

pytestmark = pytest.mark.xdist_group("sample")


#: What is no defect of a product: nobody has validated it yet.
NO_DEFECT = {"is_validated"}

#: Texts of a few words do not tell their language, and then not what they name.
SHORT = "composition_allergens_listed"


def unreadable() -> set[str]:
    """Return the products with texts in no language: signs, words that nobody can read, and two languages at once."""
    kinds = ("hostile_strings", "ingredients_misread", "several_languages_in_text")
    return {product for kind in kinds for product in planted(kind)}


@pytest.fixture(scope="module")
def records(catalog: prodex.Catalog) -> list[Record]:
    """The sample as the retailer sees it that sees all."""
    return [json.loads(one) for one in catalog.arrow("raw", ["json"])["json"].to_pylist()]


@pytest.fixture(scope="module")
def catalog() -> prodex.Catalog:
    """The same as a catalogue."""
    return sample()


@pytest.fixture(scope="module")
def audit(catalog: prodex.Catalog) -> Audit:
    """Audit it by the checks for a kind of defect."""
    return prodex.audit(catalog, profile(), now=AS_OF, progress=False)


def test_every_kind_of_defect_has_its_check() -> None:
    """No defect is planted that no rule looks for."""
    assert set(DEFECTS) == set(CHECKS)


def test_every_check_is_asked(audit: Audit) -> None:
    """No rule crashes, and nothing is unknown but the language of what is in none: markup, signs and formulas."""
    assert () == audit.crashes
    unknown = audit.matrix == State.UNKNOWN
    assert {"in_stated_language", SHORT} >= set(unknown.columns[unknown.any()])
    others = unknown.drop(columns=SHORT).any(axis=1)
    assert set() == set(unknown.index[others].astype(str)) - unreadable()


def test_ingredients_are_known(audit: Audit) -> None:
    """What they name is unknown of fewer than one product in two hundred."""
    unknown = set(audit.matrix.index[audit.matrix[SHORT] == State.UNKNOWN].astype(str))
    # What a list that was cut names beside is unknown, whatever its language.
    unknown -= (
        unreadable()
        | found(audit, "text_cut_by_column")
        | planted("bracket_never_closed")
        | planted("ingredients_with_more")
    )
    assert 0 < len(unknown) < len(audit) / 200


@each_row("defect", sorted(CHECKS))
def test_every_planted_defect_is_found(audit: Audit, defect: str) -> None:
    """The recall is 1."""
    assert set() != planted(defect)
    assert set() == planted(defect) - found(audit, defect)


@each_row("defect", sorted(CHECKS))
def test_no_defect_is_invented(audit: Audit, defect: str) -> None:
    """Precision is 1: what a check finds was planted, or follows from what was planted."""
    assert set() == found(audit, defect) - explained(defect)


#: Today's rules of nutrition, and the one that compares products of a kind.
TODAY = (
    *(
        "nutrient_within_hundred",
        "nutrients_within_hundred",
        "energy_fits_nutrients",
        "sugars_within_carbohydrate",
    ),
    *("salt_fits_sodium", "nutrient_not_negative", "saturates_within_fat", "kilojoules_fit_kilocalories"),
)


def test_salt_and_sugars_in_a_wrong_unit_are_found_by_kind(records: list[Record]) -> None:
    """Of factors from 100 on, seven of ten are found together with today's rules; of the rest, at most one in 200."""
    with_defects = {each.product_id for each in planned()}
    clean = [
        one for one in records if declared(one) and one.get("kind") and str(one["id"]) not in with_defects
    ]
    chance, spoilt, judged = Random(35), set(), []
    # Three of each, so that every kind has its thirty products; figures of a kind differ as they do in the sample.
    for number, record in enumerate(clean * 3, 1):
        changed = {"id": number, **deepcopy({name: record[name] for name in ("kind", "isPartitionedBy")})}
        if chance.random() < 0.05:
            row = chance.choice(declared(changed))
            row["quantity"] = round(row["quantity"] * chance.choice((100, 1000, 0.01, 0.001)), 6)
            spoilt.add(str(number))
        judged.append(changed)

    catalog = prodex.flatten(judged)

    def found(*rules: str) -> set[str]:
        profile = {"checks": {rule: {} for rule in rules}}
        audit = prodex.audit(catalog, profile, now=AS_OF, progress=False)
        return set(audit.failures()["product_id"])

    assert len(spoilt) > 100
    assert len(found(*TODAY, "nutrient_usual_for_kind") & spoilt) >= 0.7 * len(spoilt)
    assert len(found(*TODAY) & spoilt) < 0.7 * len(spoilt)
    assert len(found("nutrient_usual_for_kind") - spoilt) <= len(judged) / 200


def declared(record: Record) -> list[Record]:
    """Return the salt and sugars that a record declares per 100 g."""
    partitions = record.get("isPartitionedBy") or []
    return [
        row
        for row in (partitions[0]["contains"] if partitions else [])
        if row["isConceptualizedBy"]["code"] in {"SALTEQ", "SUGAR-"} and row["quantity"]
    ]


def test_nothing_is_found_on_products_without_a_defect(catalog: prodex.Catalog) -> None:
    """Rules for which no defect was planted find nothing there either."""
    spoilt = {defect.product_id for defect in planned()}
    failures = prodex.audit(catalog, "online-listing", now=AS_OF, progress=False).failures(
        block=["identity", "texts", "freshness"]
    )
    assert set() == set(failures.loc[~failures["product_id"].isin(spoilt), "rule"]) - NO_DEFECT
    assert len(failures) > 100
