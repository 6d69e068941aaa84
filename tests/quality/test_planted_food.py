"""The profiles of food, pictures and logistics on the sample: planted defects are found, and clean products pass."""

from __future__ import annotations

import pytest

import prodex
from prodex.quality.audit import Audit
from prodex.quality.rulebook import all_rules
from prodex_sandbox.sample import AS_OF, CONSEQUENCES
from prodex_sandbox.sample.defects import families, labelling, pictures
from tests.cases import each_row
from tests.quality.four_states import rules_of
from tests.quality.planted import CHECKS, explained, planned, planted, sample

pytestmark = pytest.mark.xdist_group("sample")

PROFILES = ("food-eu", "pictures", "logistics")
#: Kinds of defect of which a profile asks for certain kinds of product alone.
OF_KINDS = (
    "missing_composition",
    "missing_origin",
    "missing_instructions",
    "missing_alcohol",
    "missing_nutrition",
)


@pytest.fixture(scope="module")
def catalog() -> prodex.Catalog:
    """Hold the sample."""
    return sample()


@pytest.fixture(scope="module")
def audits(catalog: prodex.Catalog) -> dict[str, Audit]:
    """Judge it by each of the profiles."""
    return {name: prodex.audit(catalog, name, now=AS_OF, progress=False) for name in PROFILES}


def kinds_of(module: object) -> set[str]:
    """Return the kinds of defect that a module plants or declares."""
    return {name for name in CONSEQUENCES if callable(getattr(module, name, None))}


def test_every_kind_of_defect_has_a_check() -> None:
    """Planted defects of texts, food, families, pictures and hierarchies are found."""
    declared = {"several_parents", "leaf_not_consumer_unit"}
    kinds = kinds_of(labelling) | kinds_of(pictures) | kinds_of(families) | declared

    assert 72 == len(kinds)
    assert set() == kinds - set(CHECKS)


@pytest.mark.parametrize("name", PROFILES)
def test_clean_products_pass(audits: dict[str, Audit], name: str) -> None:
    """No rule of the profile finds anything on products without a planted defect."""
    audit = audits[name]
    spoilt = {defect.product_id for defect in planned()}
    failures = audit.failures()

    assert () == audit.crashes
    assert set() == set(failures.loc[~failures["product_id"].isin(spoilt), "check"])
    assert len(failures) > 100


@each_row("defect", OF_KINDS)
def test_the_profile_asks_the_kinds_that_need_it(audits: dict[str, Audit], defect: str) -> None:
    """Scopes by kind leave out no planted defect, and bring in no other."""
    (rule,) = CHECKS[defect]
    failures = audits["food-eu"].failures(rule=rule)

    assert set() == planted(defect) - set(failures["product_id"])
    assert set() == set(failures["product_id"]) - explained(defect)


#: Rules that rule set 4 added or changed.
RULE_SET_4 = (
    *("composition_allergens_listed", "texts_not_cut_off", "brackets_are_closed", "names_are_finished"),
    *("text_in_one_language", "ingredients_only", "ingredients_can_be_read", "brand_is_spelled_one_way"),
    *(
        "brand_is_no_company",
        "net_content_is_no_serving",
        "nutrition_not_all_zero",
        "nutrient_usual_for_kind",
    ),
    *("energy_fits_nutrients", "nutrient_within_hundred", "nutrients_within_hundred", "saturates_within_fat"),
    *("valid_gtin", "texts_without_formulas", "in_stated_language"),
)


@each_row("name", RULE_SET_4)
def test_every_rule_of_rule_set_4_is_whole(name: str) -> None:
    """It has its sentences, its source, and a defect that is planted in the sample."""
    rule = all_rules()[name]
    looked_for = {rule for checks in CHECKS.values() for rule in checks}

    assert all((rule.title, rule.problem, rule.fix, rule.why, rule.source))
    assert name in looked_for


def test_allergens_are_planted_as_lists_write_them(catalog: prodex.Catalog, audits: dict[str, Audit]) -> None:
    """Plainly, between marks that glue words, and as flour without its cereal: each is found."""
    texts = catalog.texts[catalog.texts["attribute"] == "composition"]
    marked = set(texts.loc[texts["text"].str.contains("_"), "product_id"].astype(str))
    found = audits["food-eu"].failures(rule="composition_allergens_listed")
    nameless = found["reason"].str.contains("a cereal that the ingredients do not name")
    unlisted = planted("allergen_not_listed")

    assert len(set(found["product_id"]) & unlisted) == len(unlisted)
    assert min(len(unlisted & marked), nameless.sum(), len(unlisted - marked)) > 1


def test_what_waits_is_judged_when_it_is_accepted(catalog: prodex.Catalog) -> None:
    """With its pending update applied, a product misses only what the update misses."""
    accepted = prodex.audit(catalog.with_pending_updates(), "food-eu", now=AS_OF, progress=False)
    rules = [rule for rule in rules_of("food") if all_rules()[rule].dimension == "completeness"]
    waiting = planted("not_yet_accepted")

    assert len(waiting) > 10
    assert set() == waiting & set(accepted.failures(rule=rules)["product_id"])
