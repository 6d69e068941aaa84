"""Products of laws: their planted breaches are found, nothing else is, and three days differ by the laws alone."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

import prodex
from prodex.quality.comparison import worsening
from prodex_sandbox.sample import LAW_FIELDS, law_breaches, law_products
from prodex_sandbox.sample.law_products import write_law_products
from tests.cases import each_row
from tests.quality.workbooks import questions

FOLDER = Path(__file__).parents[2] / "data" / "sample"
NOW = datetime.fromisoformat("2026-11-27")
#: Before the laws on product safety and honey, today, and once labels of packaging are asked for.
DAYS = ("2024-12-12", "2026-11-27", "2028-08-12")


@pytest.fixture(scope="module")
def catalog() -> prodex.Catalog:
    """Hold the products."""
    return prodex.flatten(shared.record for shared in law_products())


def profile() -> prodex.Profile:
    """Return a check for each rule that finds a breach, with the fields declared."""
    checks: dict[str, dict[str, object]] = {breach.defect: {} for breach in law_breaches()}
    others = sorted({path.partition(".")[0] for path in LAW_FIELDS.values()})
    return prodex.Profile.read({"checks": checks, "attributes": {"others": others, **LAW_FIELDS}})


def audited(catalog: prodex.Catalog, day: str) -> prodex.quality.Audit:
    return prodex.audit(catalog, profile(), now=NOW, as_of=day, progress=False)


@pytest.mark.slow
@each_row("day", DAYS)
def test_every_planted_breach_is_found_and_nothing_else(catalog: prodex.Catalog, day: str) -> None:
    """A law that has not begun finds the same, as a warning."""
    failures = audited(catalog, day).failures()
    found = set(zip(failures["rule"], failures["product_id"], strict=True))
    assert {(breach.defect, breach.product_id) for breach in law_breaches()} == found


def test_audits_of_three_days_differ_by_the_laws_alone(catalog: prodex.Catalog) -> None:
    """Severities and the words "from ... on" differ, and no product is better or worse for that."""
    before, today, later = (audited(catalog, day) for day in DAYS)
    for old, new in ((before, today), (today, later), (before, later)):
        compared = prodex.diff(old, new)
        assert new.matrix.equals(old.matrix)
        assert compared.by_check[["fixed", "newly_failing", "not_comparable"]].to_numpy().sum() == 0
        assert worsening(compared).is_worse is False
        assert len(compared.law_changes)
    standing = [one.laws().set_index("check")["standing"] for one in (before, today, later)]
    assert [each["non_food_names_manufacturer"] for each in standing] == ["announced", "in force", "in force"]
    assert [each["forest_goods_have_customs_code"] for each in standing] == [
        "announced",
        "announced",
        "in force",
    ]
    assert [each["packaging_materials_are_given"] for each in standing] == [
        "announced",
        "announced",
        "in force",
    ]


def test_without_a_declaration_only_rules_of_the_specification_find_something(
    catalog: prodex.Catalog,
) -> None:
    """What a profile does not declare is unknown, and fails no product."""
    silent = prodex.Profile.read({"checks": {breach.defect: {} for breach in law_breaches()}})
    audit = prodex.audit(catalog, silent, now=NOW, progress=False)
    asked = {check.rule.id for check in audit.checks if not check.not_asked}
    assert asked == {"sweeteners_are_stated", "has_drained_weight", "sugars_claims_hold"}
    assert set(audit.failures()["rule"]) == asked


@pytest.mark.slow
def test_reports_and_worklists_name_law_and_article(catalog: prodex.Catalog, tmp_path: Path) -> None:
    """Whoever reads or gets a finding sees who asks for it."""
    audit = audited(catalog, DAYS[1])
    page = audit.to_html(tmp_path / "report.html").read_text("utf-8")
    assert "Regulation (EU) 2023/988, Art. 19(a)" in page
    assert "(from 12 August 2028 on)" in page
    index = audit.worklists(tmp_path / "to_fix")
    rows = questions(tmp_path / "to_fix" / index["file"][0])
    assert set(rows.loc[rows["check"] == "non_food_names_manufacturer", "law"]) == {
        "Regulation (EU) 2023/988, Art. 19(a)"
    }


def test_the_files_are_what_is_made(tmp_path: Path) -> None:
    """Whoever changes a product writes the files anew: `python -m prodex_sandbox.sample --out data/sample`."""
    write_law_products(tmp_path)
    for name in ("law-products.json", "law-plan.json"):
        assert (tmp_path / name).read_bytes() == (FOLDER / name).read_bytes()
