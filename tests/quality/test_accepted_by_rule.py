"""What is accepted of each rule stays while the data that decided are the same, and comes back when they change."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import prodex
from prodex.quality import Audit
from prodex_sandbox.sample import AS_OF
from tests.cases import each_row
from tests.quality import test_rules_food as food
from tests.quality import test_rules_hierarchies as packing
from tests.quality import test_rules_pictures as pictures
from tests.quality import test_rules_texts as texts
from tests.quality.four_states import Record, described, named, text
from tests.quality.test_accepted_identity import OF_GTIN, looks_at_others, numbered
from tests.quality.test_rules import CASES
from tests.quality.test_rules_freshness import NEXT_YEAR, OCTOBER, certified
from tests.quality.test_rules_identity import RIGHT, UNIT, serving, told

#: What the failing product of a case was compared with, changed: it fails still, and nobody has looked at that.
CHANGED: dict[str, Record] = {
    "translated": {texts.NAME: [text("fr", "Riz"), text("en", "Rice")]},
    "translations_differ": {
        texts.ABOUT: [
            text("fr", texts.LONG_FRENCH),
            text("de", texts.LONG_FRENCH),
            text("it", texts.LONG_FRENCH),
        ]
    },
    "one_text_per_language": {texts.NAME: [text("fr", "Riz"), text("fr", "Le riz")]},
    "description_is_more_than_name": described("Riz") | {"namePublicShort": [text("fr", "Riz")]},
    "net_not_over_gross": {"netWeight": told(1, "KGM"), "grossWeight": told(900, "GRM")},
    "net_content_fits_net_weight": UNIT | {"netContent": told(1, "GRM"), "netWeight": told(2, "KGM")},
    "net_content_is_no_serving": UNIT
    | {"netContent": told(0.03002, "KGM"), "isPartitionedBy": [serving(30, "GRM")]},
    "certificate_dates_in_order": certified(OCTOBER, NEXT_YEAR + 86_400),
    "outer_unit_has_children": packing.packed(
        packing.node(packing.CASE) | {"typePackaging": {"code": "PALLET"}}
    ),
    "composition_allergens_listed": food.food(
        composition="Farine de blé, lait", allergens="Contient : blé. Peut contenir du soja ou des noix"
    ),
    "picture_of_this_gtin": pictures.pictured(
        pictures.FRONT | {"gdsnFileName": "03999990000010_C1N1.jpg"}, gtin="03663215000110"
    ),
    "picture_dates_in_order": pictures.pictured(
        pictures.FRONT
        | {
            "fileEffectiveStartDateTime": "2029-01-01T00:00:00",
            "fileEffectiveEndDateTime": "2027-01-01T00:00:00",
        }
    ),
    "picture_not_expired": pictures.pictured(
        pictures.FRONT,
        pictures.BACK
        | {"gdsnFileName": "03036811359935_C8N1.jpg", "fileEffectiveEndDateTime": "2026-11-01T05:59:59"},
    ),
    "has_front_packshot": pictures.pictured(
        pictures.BACK, pictures.FRONT | {"isPackshot": True, "productFace": 7}
    ),
    "one_front_packshot": pictures.pictured(pictures.FRONT, pictures.FRONT | {"gdsnFileName": "third"}),
    "face_agrees_with_file_name": pictures.pictured(pictures.BACK, pictures.FRONT | {"productFace": 2}),
    "packshot_has_rendition": pictures.pictured(
        pictures.BACK, pictures.FRONT | {"exportables": pictures.FRONT["exportables"][2:]}
    ),
    "nutrition_complete": food.FOOD | {"isPartitionedBy": [{"contains": food.BUT_SALT[:-1]}]},
    "nutrition_per_hundred": food.grams(("FAT", 1), basis=40, name="a biscuit"),
    "nutrient_within_hundred": food.grams(("FAT", 32), basis=20, name="a biscuit"),
    "nutrients_within_hundred": food.grams(("FAT", 51), ("CHOAVL", 53), ("PRO-", 2)),
    "saturates_within_fat": food.grams(("FAT", 0.9), ("FASAT", 1.2)),
    "nutrient_usual_for_kind": food.grams(("SALTEQ", 2000), basis=50) | {"kind": {"code": "HAM"}},
}

#: The same of other products with which it was compared.
OTHERS_CHANGED: dict[str, tuple[Record, ...]] = {
    "duplicate_gtin": (RIGHT, RIGHT),
    "brand_code_has_one_label": ({"brand": {"code": 1, "label": "Bolzen"}},),
    "brand_has_one_code": ({"brand": {"code": 4, "label": "ACME"}},),
}

#: What changes every night without any datum of the product: nothing comes back.
NIGHTLY: dict[str, tuple[Record, ...]] = {
    "brand_code_has_one_label": ({"brand": {"code": 1, "label": "Bolt"}},) * 3,
    "brand_has_one_code": ({"brand": {"code": 3, "label": "ACME"}},) * 3,
    "brand_is_spelled_one_way": ({"brand": {"label": "Mill & Co"}},) * 3,
    "nutrient_usual_for_kind": tuple(
        food.grams(("SALTEQ", 2 + n % 3)) | {"kind": {"code": "HAM"}} for n in range(34)
    ),
}


def judged(
    rule: str,
    fails: Record,
    others: tuple[Record, ...],
    accepted: Path | None = None,
    now: datetime = AS_OF,
    **more: Any,
) -> Audit:
    """Return the audit of a product that fails, which is the second one, with others."""
    case = CASES[rule]
    records = [{"id": 1} | case.passes, {"id": 2} | fails | more]
    records += [{"id": n} | record for n, record in enumerate(others, 3)]
    checks: Mapping[str, Any] = {rule: dict(case.parameters)}
    return prodex.audit(
        prodex.flatten(records), {"checks": checks}, now=now, progress=False, accepted=accepted
    )


def accepted(audit: Audit) -> list[bool]:
    """Return for each finding of the second product whether it is accepted."""
    found = audit.failures(product_id="2")
    assert len(found)
    return found["accepted"].notna().tolist()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file for what is accepted."""
    return tmp_path / "accepted.jsonl"


#: Rules whose finding is about a product alone, and not about its GTIN: one audit judges a product of each.
ALONE = [
    rule
    for rule in sorted(set(CASES) - OF_GTIN - set(NIGHTLY))
    if not (looks_at_others(rule) or CASES[rule].others)
]


@pytest.mark.slow
def test_it_stays_of_a_product_that_is_judged_alone(file: Path) -> None:
    """Days pass, another attribute is filled, and other products come and go."""
    checks = {"checks": {rule: dict(CASES[rule].parameters) for rule in ALONE}}

    def found(
        now: datetime, known: Path | None, others: list[Record], **more: Any
    ) -> tuple[Audit, pd.DataFrame]:
        """Return the audit of a product of each rule, and its findings of that rule."""
        records = [
            {"id": n, "gtin": numbered(n)} | CASES[rule].fails | more for n, rule in enumerate(ALONE, 500)
        ]
        catalog = prodex.flatten([*others, *records])
        audit = prodex.audit(catalog, checks, now=now, progress=False, accepted=known)
        ids = {str(500 + ALONE.index(check.rule.id)): check.id for check in audit.checks}
        failures = audit.failures()
        return audit, failures[failures["product_id"].map(ids) == failures["check"]]

    prodex.accept(*found(AS_OF, None, [{"id": 1}]), reason="looked at", to=file)
    later = AS_OF + timedelta(days=3)
    _, failures = found(later, file, [{"id": 2}, {"id": 3}], remark="kept for the fair of Lyon")

    states = failures["accepted"].notna().groupby(failures["product_id"]).agg(set)
    assert {rule: {True} for rule in ALONE} == {ALONE[int(n) - 500]: state for n, state in states.items()}


@pytest.mark.slow
@each_row("rule", [rule for rule in CASES if rule not in ALONE])
def test_it_stays_while_its_data_are_the_same(rule: str, file: Path) -> None:
    """Days pass, another attribute is filled, and other products come and go."""
    case = CASES[rule]
    audit = judged(rule, case.fails, case.others)
    prodex.accept(audit, audit.failures(product_id="2"), reason="looked at", to=file)
    others = NIGHTLY.get(rule, case.others)

    later = judged(
        rule, case.fails, others, file, AS_OF + timedelta(days=3), remark="kept for the fair of Lyon"
    )

    assert {True} == set(accepted(later))


@pytest.mark.slow
@each_row("rule", [*CHANGED, *OTHERS_CHANGED])
def test_it_comes_back_when_what_it_was_compared_with_changes(rule: str, file: Path) -> None:
    """The value is the same, and what the check compared it with is not what somebody has looked at."""
    case = CASES[rule]
    audit = judged(rule, case.fails, case.others)
    prodex.accept(audit, audit.failures(product_id="2"), reason="looked at", to=file)

    changed = judged(rule, CHANGED.get(rule, case.fails), OTHERS_CHANGED.get(rule, case.others), file)

    assert False in accepted(changed)


def test_what_is_missing_stays_accepted_while_nothing_is_there(file: Path) -> None:
    """An update that waits for acceptance is nothing yet; a zero is something."""
    record = UNIT
    audit = judged("has_net_content", record, ())
    prodex.accept(audit, reason="sold by the piece", to=file)

    waits = judged("has_net_content", record | {"lastRequest": {"netContent": told(1, "KGM")}}, (), file)
    zero = judged("has_net_content", record | {"netContent": told(0, "KGM")}, (), file)

    assert ([True], [False]) == (accepted(waits), accepted(zero))


def test_a_name_that_waits_is_nothing_yet(file: Path) -> None:
    """The evidence of a pending name says nothing about the name that is missing."""
    audit = judged("has_name", {}, ())
    prodex.accept(audit, audit.failures(product_id="2"), reason="a sample", to=file)

    waits = judged("has_name", {"lastRequest": named("Riz")}, (), file)

    assert [True] == accepted(waits)
