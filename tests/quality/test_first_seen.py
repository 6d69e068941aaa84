"""Since when findings are open: from the saved audits of a name and a profile."""

from __future__ import annotations

import shutil
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pandas as pd
import pytest

import prodex
from prodex import ProductQuery, Profile
from prodex.quality import Audit
from prodex.quality.archive import remove_audits
from tests.quality.four_states import text

RIGHT, WRONG, OTHER = "03036811359935", "03036811359936", "03036811359937"
CHECKS: dict[str, Any] = {"valid_gtin": {}, "texts_without_placeholders": {}}
PROFILE = replace(Profile.read({"checks": CHECKS}), name="ours")


def night(day: int, *gtins: str, save: bool = True, profile: Any = PROFILE, **more: Any) -> Audit:
    """Return the audit of a night in November; product 1 has the first GTIN."""
    records = [{"id": n, "gtin": gtin} | more for n, gtin in enumerate(gtins, 1) if gtin]
    catalog = prodex.flatten(records).save("shop")
    audit = prodex.audit(catalog, profile, now=datetime(2026, 11, day, 5, tzinfo=UTC), progress=False)
    return audit.save() if save else audit


def days(audit: Audit, **equal: Any) -> dict[str, int]:
    """Return for each product with a finding since which day in November it is open."""
    found = audit.failures(**equal)
    return dict(zip(found["product_id"], found["first_seen"].dt.day, strict=True))


@pytest.mark.slow
def test_it_is_open_since_the_first_audit_without_interruption() -> None:
    """Another value is the same finding; one that was fixed for a night begins anew."""
    found = [
        days(night(1, WRONG, RIGHT)),
        days(night(2, WRONG, WRONG)),
        days(night(3, OTHER, RIGHT)),
        days(night(4, OTHER, WRONG)),
    ]

    assert [{"1": 1}, {"1": 1, "2": 2}, {"1": 1}, {"1": 1, "2": 4}] == found
    assert {"1": 1, "2": 5} == days(night(5, OTHER, OTHER, save=False), product_id=["1"]) | {"2": 5}
    assert {"1": 1, "2": 4} == days(prodex.open_audit("shop"))
    assert {"2": 4} == days(prodex.open_audit("shop").only(["2"]))


def test_the_first_audit_says_its_own_moment_and_one_in_memory_nothing() -> None:
    """What cannot be known is missing."""
    in_memory = prodex.audit(prodex.flatten([{"id": 1, "gtin": WRONG}]), PROFILE, progress=False)

    assert {"1": 7} == days(night(7, WRONG, save=False))
    assert in_memory.failures()["first_seen"].isna().all()
    saved = prodex.audit(
        prodex.flatten([{"id": 1, "gtin": WRONG}]), PROFILE, now=datetime(2026, 11, 9, tzinfo=UTC)
    )
    assert {"1": 9} == days(saved.save("shop"))


def test_places_of_one_product_are_findings_of_their_own() -> None:
    """A placeholder in Dutch is not open since the one in French."""
    name = "namePublicLong"
    night(1, RIGHT, **{name: [text("fr", "TBD"), text("nl", "Rijst")]})

    later = night(2, RIGHT, **{name: [text("fr", "TBA"), text("nl", "TBD")]})

    found = later.failures(check="texts_without_placeholders").set_index("language")["first_seen"].dt.day
    assert {"fr": 1, "nl": 2} == found.to_dict()


@pytest.mark.slow
def test_what_an_audit_does_not_judge_is_no_interruption() -> None:
    """A selection without the product, a profile without the check; the audits of another profile do not count."""
    night(1, WRONG, WRONG)
    prodex.audit(
        prodex.open_snapshot("shop").where(product_id="2"),
        PROFILE,
        now=datetime(2026, 11, 2, tzinfo=UTC),
        progress=False,
    ).save()
    night(3, WRONG, WRONG, profile=replace(Profile.read({"checks": {"has_brand": {}}}), name="ours"))
    night(4, RIGHT, RIGHT, profile=replace(PROFILE, name="others"))

    assert {"1": 1, "2": 1} == days(night(5, WRONG, WRONG))


def test_a_load_of_other_products_is_no_interruption() -> None:
    """A product that its query does not ask for is not gone by it; one that both asked for is."""
    asked = ProductQuery(gtins_in=[WRONG])

    def loaded(day: int, *gtins: str, query: ProductQuery | None = asked) -> Audit:
        catalog = prodex.flatten([{"id": n, "gtin": gtin} for n, gtin in enumerate(gtins, 1) if gtin])
        kept = replace(catalog, origin=replace(catalog.origin, query=query)).save("shop")
        now = datetime(2026, 11, day, 5, tzinfo=UTC)
        return prodex.audit(kept, PROFILE, now=now, progress=False).save()

    loaded(1, WRONG, OTHER, query=ProductQuery())
    loaded(2, WRONG)
    loaded(3, WRONG)

    assert {"1": 1, "2": 1} == days(loaded(4, WRONG, OTHER, query=ProductQuery()))
    # What a whole load of all products does not have is gone, and so is what the same query does not have any more.
    loaded(5, WRONG, query=ProductQuery())
    assert {"1": 1, "2": 6} == days(loaded(6, WRONG, OTHER))
    loaded(7, WRONG)
    assert {"1": 1, "2": 8} == days(loaded(8, WRONG, OTHER))


def test_a_selection_without_products_is_no_interruption() -> None:
    """An audit of nothing can be saved, and says nothing about what is open."""
    night(1, WRONG)
    nothing = prodex.open_snapshot("shop").where(product_id="9")
    prodex.audit(nothing, PROFILE, now=datetime(2026, 11, 2, tzinfo=UTC), progress=False).save()

    assert {"1": 1} == days(night(3, WRONG))


def test_a_product_that_was_gone_begins_anew() -> None:
    """The whole catalogue was judged without it."""
    night(1, WRONG, WRONG)
    night(2, "", WRONG)

    assert {"1": 3, "2": 1} == days(night(3, WRONG, WRONG))


def test_an_answer_that_is_unknown_is_no_interruption() -> None:
    """Nobody asked for the data that night, so nobody knows that it was fixed."""
    night(1, WRONG, namePublicLong=[text("fr", "TBD")])
    catalog = prodex.flatten([{"id": 1, "gtin": WRONG}])
    asked = replace(catalog, origin=replace(catalog.origin, query=ProductQuery(source_include=["gtin"])))
    second = datetime(2026, 11, 2, tzinfo=UTC)
    unknown = prodex.audit(asked.save("shop"), PROFILE, now=second, progress=False).save()
    assert 1 == unknown.by_check.set_index("check").loc["texts_without_placeholders", "unknown"]

    later = night(3, WRONG, namePublicLong=[text("fr", "TBD")])

    assert {"1": 1} == days(later, check="texts_without_placeholders")


def test_it_survives_the_removal_of_what_was_before() -> None:
    """The last audit keeps it for all of its findings."""
    for day in (1, 2, 3):
        night(day, WRONG)
    remove_audits("shop", keep=1)

    assert {"1": 1} == days(night(4, WRONG))


def test_a_damaged_audit_is_passed_over() -> None:
    """The one before it tells, as if that night had not been."""
    night(1, WRONG)
    broken = night(2, WRONG)
    assert broken.folder is not None
    shutil.rmtree(broken.folder / "states")

    assert {"1": 1} == days(night(3, WRONG))


@pytest.mark.parametrize("save", [True, False])
def test_findings_join_to_products_in_one_line(save: bool) -> None:
    """No column has two names, and each finding is one row."""
    audit = night(1, WRONG, RIGHT, save=save)

    joined = prodex.open_snapshot("shop").products.merge(audit.findings(), on="product_id")

    assert [] == [name for name in joined.columns if name.endswith(("_x", "_y"))]
    assert [WRONG] == joined["value"].tolist()
    assert {"accepted", "accepted_by", "accepted_until", "first_seen"} <= set(joined.columns)
    assert pd.Timestamp(2026, 11, 1, 5) == joined["first_seen"].iloc[0]
