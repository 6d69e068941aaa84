"""What a click in an audit chooses is what its failures say."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prodex
from prodex.display.report.contents import heat_map
from prodex.facts.groups import column_names
from prodex.notebook.audit.drill_down import of_cell, of_check, of_grade, to_work_on, with_blockers
from prodex.selection import Selection
from prodex_sandbox.sample import AS_OF

PROFILE = {
    "checks": {
        "valid_gtin": {"severity": "blocker"},
        "has_name": {"severity": "error"},
        "required_text": {"attribute": "namePublicLong", "language": ["fr", "nl"]},
    }
}


def text(language: str) -> dict[str, Any]:
    return {"expressedIn": {"code": language, "normalizedCode": language}, "data": "Milk"}


RECORDS = st.lists(
    st.fixed_dictionaries(
        {"gtin": st.sampled_from(["03036811359935", "03036811359936", ""])},
        optional={
            "brand": st.sampled_from([None, {}, {"code": "A"}, {"code": "B", "label": "A"}, {"code": ""}]),
            "namePublicLong": st.lists(st.sampled_from([None, text("fr"), text("nl")]), max_size=2),
        },
    ),
    max_size=6,
)


@pytest.fixture(scope="module")
def audit(sample: prodex.Catalog) -> prodex.Audit:
    """Judge 400 products of the sample."""
    return prodex.audit(sample, "online-listing", now=AS_OF)


def failing(failures: pd.DataFrame, **equal: Any) -> set[str]:
    """Return the products of failures, filtered by hand; None means that there is nothing."""
    for column, value in equal.items():
        same = failures[column].isna() if value is None else failures[column] == value
        failures = failures[same]
    return set(failures["product_id"])


@pytest.mark.slow
@given(RECORDS)
def test_every_cell_shows_the_products_that_fail_there(records: list[dict[str, Any]]) -> None:
    """A cell lists the products that the failures name; together the cells of a block list all that fail it."""
    numbered = [{"id": number, **record} for number, record in enumerate(records)]
    audit = prodex.audit(prodex.flatten(numbered), PROFILE, progress=False)
    failures = audit.failures()
    codes = audit.groups("brand").codes
    for block in (None, "identity", "texts"):
        wanted = {} if block is None else {"block": block}
        chosen = [set(of_cell(audit, "brand", code, "", block).products(audit)) for code in codes]
        assert [failing(failures, brand_code=code, **wanted) for code in codes] == chosen
        assert failing(failures, **wanted) == set().union(*chosen)
        assert sum(map(len, chosen)) == len(set().union(*chosen))


@pytest.mark.slow
@pytest.mark.parametrize("by", ["kind", "owner", "brand", "market"])
def test_cells_of_the_sample(audit: prodex.Audit, by: str) -> None:
    """The cells of a heat map list as many products as they count."""
    failures, (code, *_) = audit.failures(), column_names(by)
    shown = heat_map(audit, by)
    assert shown["rows"]
    for row in shown["rows"]:
        for block, cell in zip((None, *shown["blocks"]), row["cells"], strict=True):
            chosen = of_cell(audit, by, row["code"], row["name"].text, block).products(audit)
            wanted = {code: row["code"]} if block is None else {code: row["code"], "block": block}
            assert failing(failures, **wanted) == set(chosen)
            assert bool(cell["failed"]) == bool(chosen)


@pytest.mark.slow
def test_a_language_chooses_the_checks_about_it(audit: prodex.Audit) -> None:
    """A product without French texts is not in a facet of French, so a language sets checks and no facet."""
    french = {check.id for check in audit.checks if check.language == "fr" and check.block == "texts"}
    failures = audit.failures()
    choice = of_cell(audit, "language", "fr", "French", "texts")
    assert set(failures[failures["check"].isin(french)]["product_id"]) == set(choice.products(audit))
    assert {} == choice.added_to(Selection()).groups


def test_checks_blockers_and_work_are_chosen_by_their_failures(audit: prodex.Audit) -> None:
    """A check, the blockers and all checks list the products that fail them."""
    failures, figures = audit.failures(), audit.summary
    for check in audit.checks:
        assert failing(failures, check=check.id) == set(of_check(check).products(audit))
    assert failing(failures, severity="blocker") == set(with_blockers(audit).products(audit))
    assert figures["with_blockers"] == len(with_blockers(audit).products(audit))
    assert figures["to_work_on"] == len(to_work_on(audit).products(audit))


def test_no_blockers_are_not_everything() -> None:
    """A profile without blockers lists no product as failing one."""
    audit = prodex.audit(
        prodex.flatten([{"id": 7, "gtin": "1"}]), {"checks": {"has_name": {"severity": "info"}}}
    )
    assert () == with_blockers(audit).products(audit)
    assert () == with_blockers(audit).added_to(Selection()).failing[0].checks


def test_a_choice_is_added_and_taken_back_without_touching_others(audit: prodex.Audit) -> None:
    """What was required before is required after, whatever is pressed twice."""
    before = Selection().toggled("owner", "x").searching("lait")
    for choice in (to_work_on(audit), of_grade("B"), of_cell(audit, "brand", "b", "B", None)):
        added = choice.added_to(before)
        assert (True, False) == (choice.is_in(added), choice.is_in(before))
        assert before == choice.removed_from(added)
        assert added == choice.added_to(added)


def test_grades_are_a_partition(audit: prodex.Audit) -> None:
    """Every product has one grade or none."""
    products = audit.products
    for grade in (*"ABCDE", None):
        own = products["grade"].isna() if grade is None else products["grade"] == grade
        assert tuple(products[own]["product_id"]) == of_grade(grade).products(audit)
        assert {"grade": (grade,)} == of_grade(grade).added_to(Selection()).groups
