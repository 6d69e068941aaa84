"""Completeness: families by channel and language, with unknown as unknown, wherever it is shown."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import prodex
from prodex.errors import QueryError
from prodex.languages import Translation
from prodex.quality.audit import Audit
from prodex.quality.completeness import Completeness, channel_column_names, counted_of
from prodex.query import ProductQuery
from prodex.store.reading import flatten
from prodex_sandbox.sample import AS_OF, shared_products
from tests.cases import each_row
from tests.quality.restricting import restricted
from tests.quality.test_required_checks import text

ROWS: list[dict[str, Any]] = [
    {"channel": "Shop", "market": "France", "family": "*", "attribute": "brand", "level": "must"},
    {
        "channel": "Shop",
        "market": "France",
        "family": "TEA",
        "attribute": "namePublicLong",
        "language": "fr",
        "level": "must",
    },
    {
        "channel": "Shop",
        "market": "France",
        "family": "TEA",
        "attribute": "description",
        "language": "fr",
        "level": "should",
    },
    {
        "channel": "Leaflet",
        "family": "TEA",
        "family_label": "All teas",
        "attribute": "netContent",
        "level": "must",
    },
]
RECORDS: list[dict[str, Any]] = [
    {"id": 1, "kind": {"code": "TEA", "label": "Tea"}, "brand": {"code": "A"}, "namePublicLong": text("Thé")},
    {"id": 2, "kind": {"code": "TEA", "label": "Tea"}, "brand": {"code": "A"}},
    {"id": 3, "kind": {"code": "NEW", "label": "<b>New|*kind*"}, "brand": {"code": "A"}},
    {"id": 4, "brand": {"code": ""}},
    {"id": 5, "kind": {"code": "TEA", "label": "Tea"}},
]
FRENCH = {"product_key": {"target_market_id": 250}}


@pytest.fixture(scope="module")
def audit() -> Audit:
    """Five products: four of France, and one without a market."""
    records = [record | (FRENCH if record["id"] != 5 else {}) for record in RECORDS]
    return prodex.audit(
        flatten(records), prodex.Requirements.of(pd.DataFrame(ROWS)), now=AS_OF, progress=False
    )


def row(table: pd.DataFrame, channel: str, family: str | None, language: str = "all") -> dict[str, Any]:
    """Return one row of the table."""
    code = table["kind_code"]
    is_family = code.isna() if family is None else code == family
    (found,) = table[(table["channel"] == channel) & is_family & (table["language"] == language)].to_dict(
        "records"
    )
    return found


@each_row(
    ("channel", "family", "language", "figures"),
    [
        ("Shop (France)", "*", "all", (5, 2, 2, 1)),
        ("Shop (France)", "TEA", "all", (3, 1, 1, 1)),
        ("Shop (France)", "TEA", "fr", (3, 1, 1, 1)),
        ("Shop (France)", "TEA", "none", (3, 2, 0, 1)),
        ("Shop (France)", "NEW", "all", (1, 1, 0, 0)),
        ("Shop (France)", None, "all", (1, 0, 1, 0)),
        ("Leaflet", "TEA", "all", (3, 0, 3, 0)),
        ("Leaflet", "NEW", "all", (1, 0, 0, 1)),
    ],
)
def test_products_are_complete_incomplete_or_unknown(
    audit: Audit, channel: str, family: str | None, language: str, figures: tuple[int, ...]
) -> None:
    """By hand: of a product without a market nobody knows, and a family that nobody listed is asked as all are."""
    found = row(audit.completeness(), channel, family, language)

    assert figures == tuple(found[name] for name in ("products", "complete", "incomplete", "unknown"))


def test_a_row_says_what_is_missing_most_and_whether_the_family_is_listed(audit: Audit) -> None:
    """A new family is named, in the table and in a sentence, and shown verbatim."""
    table = audit.completeness()

    assert row(table, "Shop (France)", "*")["missing_most"] == "brand (1), long name in French (1)"
    assert row(table, "Leaflet", "TEA")["kind"] == "All teas"
    assert (row(table, "Shop (France)", "NEW")["listed"], row(table, "Shop (France)", "TEA")["listed"]) == (
        False,
        True,
    )
    assert "1 family of 1 product: <b>New|*kind*" in str(Completeness.of(audit).new_families_said)


def test_products_have_columns_of_each_channel(audit: Audit) -> None:
    """Missing where it is unknown or nothing is required; what is lacking is said in words."""
    products = audit.products

    assert products["complete_shop_france"].tolist() == [True, False, True, False, pd.NA]
    assert products["missing_shop_france"].tolist() == ["", "long name in French", "", "brand", ""]
    assert products["completeness_shop_france"].fillna(-1).tolist() == [1.0, 0.5, 1.0, 0.0, -1.0]


def test_a_kind_called_like_all_families_is_none() -> None:
    """A supplier's "*" is no family: the row of all products stays the only one of its name."""
    wanted = prodex.Requirements.of(pd.DataFrame(ROWS[:1]).drop(columns="market"))
    audit = prodex.audit(flatten([{"id": 1, "kind": {"code": "*"}}, {"id": 2}]), wanted, progress=False)
    table = audit.completeness().query("language == 'all'")

    assert ["*", None] == [None if pd.isna(one) else one for one in table["kind_code"]]
    assert [2, 2] == table["products"].tolist()
    assert 1 == len(Completeness.of(audit).sentences)


def test_by_another_group(audit: Audit) -> None:
    """Any grouping of an audit can stand in place of the families."""
    table = audit.completeness("brand")

    assert table.columns[1:3].tolist() == ["brand_code", "brand"]
    assert table.query("brand_code == 'A' and language == 'all'")["complete"].tolist() == [2, 0]


def test_what_was_accepted_is_complete_with_it(audit: Audit, tmp_path: Path) -> None:
    """An accepted finding stays one: the figures say what they are, and what they would be without it."""
    lacking = audit.failures(product_id="2", check="must_have[Shop (France),namePublicLong,fr]")
    accepted = prodex.accept(audit, lacking, reason="sold in Flanders only", to=tmp_path / "accepted.jsonl")
    found = row(accepted.completeness(), "Shop (France)", "*")

    with_it = row(accepted.with_accepted().completeness(), "Shop (France)", "*")
    assert (found["complete"], with_it["complete"]) == (2, 3)
    assert (
        "40.0 % (2 of 5 consumer units, 5 of unknown kind; unknown of 1; 60.0 % with what was accepted)"
        in repr(accepted)
    )


def test_an_audit_without_requirements_says_how_to_make_some() -> None:
    """Nobody said what complete is; no figure is made up."""
    audit = prodex.audit(flatten([{"id": 7}]), "core", progress=False)

    assert channel_column_names(audit) == ()
    with pytest.raises(QueryError, match=r"prodex\.write_requirements"):
        audit.completeness()


def test_a_saved_audit_says_the_same(audit: Audit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Channels and families are kept with the audit, not the requirements."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path))
    saved = audit.save("shop")
    opened = prodex.open_audit("shop")

    pd.testing.assert_frame_equal(audit.completeness(), opened.completeness())
    assert saved.folder is not None
    assert opened.families == prodex.Requirements.of(pd.DataFrame(ROWS)).without_asks()


def test_two_audits_show_it_over_time(audit: Audit) -> None:
    """What was filled since raises the share of the channel, and of nothing else."""
    records = [record | FRENCH | {"namePublicLong": text("Thé")} for record in RECORDS]
    wanted = prodex.Requirements.of(pd.DataFrame(ROWS))
    later = prodex.audit(flatten(records), wanted, now=AS_OF, progress=False)
    change = prodex.diff(audit, later).completeness

    found = change[(change["kind_code"] == "TEA") & (change["language"] == "all")].set_index("channel")
    assert found.loc["Shop (France)", ["complete_old", "complete_new"]].tolist() == [1, 2]
    assert found.loc["Leaflet", "change"] == 0
    assert "complete for Shop (France): 40.0 -> 60.0 %" in repr(prodex.diff(audit, later))


def test_markdown_shows_names_verbatim(audit: Audit, tmp_path: Path) -> None:
    """A name of a supplier makes no table, no emphasis and no markup."""
    path = tmp_path / "audit.md"
    text_ = audit.to_markdown(path)

    assert r"| \<b\>New\|\*kind\* |" in text_
    assert path.read_text("utf-8") == text_
    tables = [line for line in text_.splitlines() if line.startswith("|")]
    assert {len(line.replace(r"\|", "").split("|")) for line in tables} == {10, 7}


@pytest.mark.slow
def test_report_and_repr_say_it(audit: Audit, tmp_path: Path) -> None:
    """The report has a section with every channel, and the repr a line for each."""
    page = audit.to_html(tmp_path / "report.html").read_text("utf-8")

    assert (
        "complete for Shop (France): 40.0 % (2 of 5 consumer units, 5 of unknown kind; unknown of 1)"
        in repr(audit)
    )
    assert page.count('<section id="completeness"') == 1
    assert "&lt;b&gt;New|*kind*" in page
    assert "<b>New" not in page


@pytest.mark.slow
def test_parts_and_families_add_up() -> None:
    """Of the sample: families add up to all products, and the table is that of the states, counted one by one."""
    catalog = flatten([dict(product.record) for product in shared_products(400, seed=2)])
    wanted = prodex.Requirements.of(
        pd.DataFrame(
            [
                {"channel": "A", "family": "*", "attribute": "brand", "level": "must"},
                {"channel": "A", "family": "*", "attribute": "assets.pictures[front]", "level": "must"},
                {
                    "channel": "A",
                    "family": "BISCUITS",
                    "attribute": "description",
                    "language": "fr",
                    "level": "must",
                },
                {"channel": "A", "family": "*", "attribute": "netContent", "level": "should"},
            ]
        )
    )
    audit = prodex.audit(catalog, wanted, now=AS_OF, progress=False)
    table = audit.completeness().query("language == 'all'")
    every, families = table[table["kind_code"] == "*"], table[table["kind_code"] != "*"]
    must = np.array([check.level == "must" for check in audit.checks])
    failing = (audit.states[:, must] == 1).any(axis=1)

    for name in ("products", "complete", "incomplete", "unknown", "filled", "required"):
        assert every[name].sum() == families[name].sum()
    assert every["incomplete"].item() == failing.sum()
    assert (table["complete"] + table["incomplete"] + table["unknown"] == table["products"]).all()


@each_row(
    ("row", "asked", "expected"),
    [
        ({}, None, [2, 1, "consumer", 1, "Shop: 2 consumer units, 1 of unknown kind"]),
        ({"consumer_units": False}, None, [3, 1, "all", 1, "Shop: 3 products"]),
        ({"by": "packaging"}, None, [3, 1, "all", 1, "Shop: 3 products"]),
        (
            {},
            ["brand"],
            [3, 0, "not asked for", 3, "Shop: 3 products (consumer units were not asked for)"],
        ),
    ],
)
def test_completeness_says_which_units_it_counts(
    tmp_path: Path, row: dict[str, Any], asked: list[str] | None, expected: list[Any]
) -> None:
    """In the table, in words, in the repr, in the report in each language and in Markdown."""
    records = [
        {"id": 7, "isConsumerUnit": True, "brand": {"code": "A"}},
        {"id": 8},
        {"id": 9, "isConsumerUnit": False, "typePackaging": {"code": "CASE"}},
    ]
    catalog = flatten(records) if asked is None else restricted(records, ProductQuery(source_include=asked))
    frame = pd.DataFrame([{"channel": "Shop", "attribute": "brand", "level": "must"} | row]).drop(
        columns="by", errors="ignore"
    )
    audit = prodex.audit(catalog, prodex.Requirements.of(frame, by=row.get("by", "kind")), progress=False)
    table = audit.completeness()
    (every,) = table[(table["language"] == "all") & (table.iloc[:, 1] == "*")].to_dict("records")
    names = ("products", "complete", "units", "units_unknown")
    said = expected[-1].removeprefix("Shop: ")

    assert expected == [*(every[name] for name in names), table.attrs["counted"]]
    assert f"of {said}" in repr(audit)
    assert expected[-1] in audit.to_markdown().replace("\\", "")
    for language in ("en", "fr", "de", "nl"):
        page = audit.to_html(tmp_path / f"{language}.html", language=language).read_text("utf-8")
        words = counted_of(every).words(Translation(language))
        assert (words == said) == (language == "en")
        assert f"{words}</p>" in page


@each_row(
    ("profile", "units", "expected"),
    [
        ({}, "consumer", [1, 2, "consumer", 1]),
        ({}, "all", [1, 3, "all", 1]),
        ({"units": "all"}, "consumer", [1, 3, "all", 1]),
        ({"only": {"packaging_code": "CASE"}}, "consumer", [0, 1, "named", 0]),
        ({"only": {"is_consumer_unit": True}}, "consumer", [1, 1, "named", 1]),
    ],
)
def test_coverage_counts_consumer_units_unless_others_are_named(
    profile: dict[str, Any], units: str, expected: list[Any]
) -> None:
    """By who asks, by the profile, or by the condition of a check; a saved audit says the same."""
    records = [
        {"id": 7, "isConsumerUnit": True, "nameLegal": text("Riz")},
        {"id": 8, "typePackaging": {"code": "EACH"}},
        {"id": 9, "isConsumerUnit": False, "typePackaging": {"code": "CASE"}},
    ]
    only = {"only": profile["only"]} if "only" in profile else {}
    checks = {"required_text": {"attribute": "nameLegal", "language": "fr"} | only}
    above = {name: value for name, value in profile.items() if name != "only"}
    audit = prodex.audit(flatten(records).save("units"), {"checks": checks} | above, progress=False)
    for one in (audit, prodex.open_audit(audit.save().folder)):
        (row,) = one.coverage(units=units).to_dict("records")
        assert expected == [row[name] for name in ("filled", "applicable", "units", "units_unknown")]


def test_coverage_of_chosen_cases_counts_them() -> None:
    """Whoever has chosen them means them, and the states of the checks are the same in any case."""
    catalog = flatten([{"id": 7, "isConsumerUnit": True}, {"id": 9, "isConsumerUnit": False}])
    profile = {"checks": {"required_text": {"attribute": "nameLegal", "language": "fr"}}}
    cases = prodex.audit(catalog.where(is_consumer_unit=False), profile, progress=False)

    assert [1] == cases.coverage()["applicable"].tolist()
    assert [[1], [1]] == prodex.audit(catalog, profile, progress=False).states.tolist()


def test_the_profile_of_logistics_counts_all_units() -> None:
    """Cases and pallets are what it is about."""

    def units(profile: str) -> set[str]:
        return {check.units for check in prodex.Profile.read(profile).checks_on(date(2026, 11, 29))}

    assert {"all", "named"} >= units("logistics")
    assert {"consumer", "named"} == units("core")
