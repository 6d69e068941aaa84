"""Which checks stand for which kind of planted defect, and how the sample's plan is compared with what they find."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import prodex
from prodex.quality.audit import Audit
from prodex.quality.profile import Profile
from prodex_sandbox.sample import CONSEQUENCES, Defect
from prodex_sandbox.sample.catalogue import made_products

#: Products of the sample that the tests judge.
COUNT = 4_000

_REQUIRED = {"fr": [250, 56], "nl": [56, 528], "de": [276], "es": [724], "en": [826]}
_NAMES = ["namePublicLong", "namePublicShort", "nameLegal"]

#: Kind of defect to checks, written as in a profile. Where several kinds show in one check, each of them names it.
CHECKS: dict[str, dict[str, Any]] = {
    "gtin_check_digit": {"valid_gtin": {}},
    "gtin_all_zeros": {"valid_gtin": {}},
    "duplicate_gtin": {"duplicate_gtin": {}},
    "restricted_prefix": {"gtin_is_unrestricted": {}},
    "consumer_unit_indicator": {"consumer_unit_has_own_gtin": {}},
    "missing_brand": {"has_brand": {}},
    "missing_kind": {"has_kind": {}},
    "missing_name": {"has_name": {}},
    "missing_text": {
        "has_text": [
            {"attribute": _NAMES},
            {"attribute": "description", "only": {"is_consumer_unit": True}},
        ]
    },
    "missing_language": {
        "translated": [
            {"language": language, "only": {"market": markets}} for language, markets in _REQUIRED.items()
        ]
    },
    "name_too_long": {"text_fits": {"attribute": "namePublicLong", "characters": 200}},
    "short_name_too_long": {"text_fits": {"attribute": "namePublicShort", "characters": 35}},
    "text_too_long": {"texts_fit": {}},
    "control_character": {"texts_without_control_characters": {}},
    "line_break_in_name": {"names_on_one_line": {}},
    "placeholder_text": {"texts_without_placeholders": {}},
    "html_in_text": {"texts_without_markup": {}},
    "mojibake": {"texts_without_mojibake": {}},
    "all_capitals": {"names_not_in_capitals": {}},
    "untranslated_copy": {"translations_differ": {}},
    "wrong_language": {"in_stated_language": {}},
    "hostile_strings": {"texts_without_formulas": {}},
    "stale": {"updated_within": {"days": 730}},
    "certificate_expired": {"certificates_in_force": {}},
    "sharing_draft": {"is_no_draft": {}},
    "sharing_pending": {"is_shared": {}},
    "validation_not_ok": {"validation_is_not_failed": {}},
    "validation_correction": {"validation_asks_no_correction": {}},
    "validation_suggestions": {"has_no_suggestions": {}},
    "update_pending": {"no_update_waits": {}},
    "not_yet_accepted": {"information_is_accepted": {}},
    "no_picture": {"has_picture": {}},
    "no_front_packshot": {"has_front_packshot": {}},
    "several_packshots": {"one_front_packshot": {}},
    "packshot_disagrees": {"face_agrees_with_file_name": {}},
    "packshot_too_small": {"packshot_large_enough": {"pixels": 500}},
    "no_1024_rendition": {"packshot_has_rendition": {}},
    "stale_pictures": {"pictures_fresh": {}},
    "picture_not_web_format": {"picture_format_for_web": {}},
    "expired_picture": {"picture_not_expired": {}},
    "picture_dates_reversed": {"picture_dates_in_order": {}},
    "duplicate_picture": {"pictures_differ": {}},
    "picture_file_name": {"picture_file_named_as_gs1": {}},
    "picture_of_another_gtin": {"picture_of_this_gtin": {}},
    "hierarchy_quantity_missing": {"quantity_in_parent_told": {}},
    "hierarchy_quantity_invalid": {"quantity_in_parent_whole": {}},
    "hierarchy_without_children": {"outer_unit_has_children": {}},
    "leaf_not_consumer_unit": {"leaf_is_consumer_unit": {}},
    "hierarchy_cycle": {"hierarchy_without_cycle": {}},
    "no_despatch_unit": {"has_despatch_unit": {}},
    "no_orderable_unit": {"has_orderable_unit": {}},
    "pallet_is_consumer_unit": {"pallet_not_for_consumers": {}},
    "unknown_child_gtin": {"child_gtin_known": {}},
    "several_parents": {"one_parent": {}},
    "parent_lighter_than_children": {"parent_weighs_its_children": {}},
    "parent_smaller_than_child": {"parent_larger_than_child": {}},
    "net_weight_over_gross": {"net_not_over_gross": {}},
    "missing_net_content": {"has_net_content": {}},
    "missing_composition": {"has_composition": {}},
    "missing_contact": {"has_operator_contact": {}},
    "missing_storage": {"has_storage_conditions": {}},
    "missing_instructions": {"has_instructions_for_use": {}},
    "missing_origin": {"has_origin": {}},
    "missing_alcohol": {"has_alcohol_strength": {}},
    "missing_nutrition": {"has_nutrition": {}},
    "allergen_not_listed": {"composition_allergens_listed": {}},
    "nutrient_over_100": {"nutrient_within_hundred": {}},
    "nutrient_sum_over_100": {"nutrients_within_hundred": {}},
    "energy_too_high": {"energy_possible": {}},
    "energy_inconsistent": {"kilojoules_fit_kilocalories": {}},
    "computed_energy_off": {"energy_fits_nutrients": [{"percent": 15}, {"percent": 30, "severity": "error"}]},
    "saturates_over_fat": {"saturates_within_fat": {}},
    "sugars_over_carbohydrate": {"sugars_within_carbohydrate": {}},
    "text_cut_by_column": {"texts_not_cut_off": {}},
    "text_breaks_off": {"texts_not_cut_off": {}},
    "bracket_never_closed": {"brackets_are_closed": {}},
    "ingredients_with_more": {"ingredients_only": {}},
    "ingredients_misread": {"ingredients_can_be_read": {}},
    "several_languages_in_text": {"text_in_one_language": {}},
    "name_unfinished": {"names_are_finished": {}},
    "brand_is_company": {"brand_is_no_company": {}},
    "brand_spelled_otherwise": {"brand_is_spelled_one_way": {}},
    "nutrient_in_wrong_unit": {"nutrient_usual_for_kind": {}},
    "nutrition_all_zero": {"nutrition_not_all_zero": {}},
    "net_content_of_serving": {"net_content_is_no_serving": {}},
}


def sample() -> prodex.Catalog:
    """Return these products of the sample, as the retailer sees them that sees all."""
    return _sample_and_plan()[0]


def planned() -> tuple[Defect, ...]:
    """Return the defects that are planted in them."""
    return _sample_and_plan()[1]


@cache
def _sample_and_plan() -> tuple[prodex.Catalog, tuple[Defect, ...]]:
    defects: list[Defect] = []

    def records() -> Iterator[Mapping[str, Any]]:
        for made in made_products(COUNT):
            defects.extend(made.defects)
            yield made.product.record

    return prodex.flatten(records()), tuple(defects)


def profile() -> Profile:
    """Return all of these checks as one profile."""
    checks: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for written in CHECKS.values():
        for rule, given in written.items():
            checks[rule] += [one for one in _listed(given) if one not in checks[rule]]
    return Profile.read({"checks": checks})


def found(audit: Audit, defect: str) -> set[str]:
    """Return the ids of the products on which the checks of a kind of defect fail."""
    own = {check.id for check in Profile.read({"checks": CHECKS[defect]}).checks}
    matrix = audit.matrix[sorted(own)]
    return set(matrix.index[(matrix == 1).any(axis=1)].astype(str))


def planted(defect: str) -> set[str]:
    """Return the ids of the products that have this kind of defect."""
    return {each.product_id for each in planned() if each.defect == defect}


def explained(defect: str) -> set[str]:
    """Return the ids of the products on which the checks of this kind may fail as well, with good reason."""
    kinds = {other for other, checks in CHECKS.items() if _meet(checks, CHECKS[defect])}
    causes = (
        {cause for cause, follows in CONSEQUENCES.items() if kinds & follows} | kinds | {"hostile_strings"}
    )
    return {each.product_id for each in planned() if each.defect in causes}


def _meet(some: Mapping[str, Any], others: Mapping[str, Any]) -> bool:
    return any(one in _listed(others[rule]) for rule in some.keys() & others for one in _listed(some[rule]))


def _listed(given: Any) -> list[Mapping[str, Any]]:
    return given if isinstance(given, list) else [given]
