"""What people ask of an audit: figures, groups, gaps, failures, coverage, and how far they can be trusted."""

from __future__ import annotations

from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import prodex
from prodex.errors import NotExported, QueryError
from prodex.quality.audit import Audit
from prodex.quality.failures import _named
from prodex.quality.products import Products
from prodex.quality.scores import counted
from prodex.worklists.pending_updates import pending_updates
from prodex_sandbox.sample import AS_OF

GOOD, BAD = "03036811359935", "03036811359936"


def name(language: str) -> dict[str, object]:
    return {"expressedIn": {"normalizedCode": language, "code": language}, "data": "Riz"}


RECORDS = [
    {"id": 1, "gtin": GOOD, "owner": {"id": 4, "name": "Mill"}, "kind": {"code": "RICE", "label": "Rice"},
     "namePublicLong": [name("fr"), name("nl")], "hasTags": [{"tag": "new"}, {"tag": "exportable"}]},
    {"id": 2, "gtin": BAD, "owner": {"id": 4, "name": "The Mill"}, "kind": {"code": "RICE", "label": "Riz"},
     "namePublicLong": [name("fr")], "hasTags": [{"tag": "new"}]},
    {"id": 3, "gtin": GOOD, "owner": {"id": 4, "name": "The Mill"}, "kind": {"code": "SALT", "label": "Rice"}},
    {"id": 4, "gtin": BAD, "product_key": {"target_market_id": 56}, "lastRequest": {"hasTags": [{"tag": "new"}]}},
]  # fmt: skip
PROFILE = {
    "checks": {
        "valid_gtin": {"severity": "blocker"},
        "required_text": [
            {
                "attribute": "namePublicLong",
                "language": "fr",
                "severity": "blocker",
                "except": {"market": 56},
            },
            {"attribute": "namePublicLong", "language": "nl", "severity": "error"},
        ],
    }
}
FR, NL = "required_text[namePublicLong,fr]", "required_text[namePublicLong,nl]"


@pytest.fixture(scope="module")
def audit() -> Audit:
    """Judge four products by three checks: weights 4, 4 and 2.

    1 passes all; 2 fails GTIN and Dutch; 3 fails French and Dutch; 4 fails GTIN and Dutch, French does not apply.
    """
    return prodex.audit(prodex.flatten(RECORDS), PROFILE, now=AS_OF)


def test_the_matrix_has_a_row_for_each_product_and_a_column_for_each_check(audit: Audit) -> None:
    """Rows are in the order of the catalogue, and columns in that of the profile."""
    expected = pd.DataFrame(
        [[0, 0, 0], [1, 0, 1], [0, 1, 1], [1, 2, 1]],
        pd.Index(["1", "2", "3", "4"], name="product_id"),
        ["valid_gtin", FR, NL],
        dtype=np.int8,
    )
    pd.testing.assert_frame_equal(expected, audit.matrix, check_index_type=False)


def test_score_is_weighted_pass_over_weighted_applicable(audit: Audit) -> None:
    """The formula holds for each product, and for all cells together."""
    assert [1.0, 0.4, 0.4, 0.0] == audit.products["score"].tolist()
    assert ["A", "E", "E", "E"] == audit.products["grade"].tolist()
    summary = audit.summary
    assert pytest.approx((18 / 36, 0.45, 0.25)) == tuple(summary[["score", "mean_score", "ready"]])
    assert "E" == summary["grade"]
    assert (1, 3, 3, 6, 5, 1, 0) == tuple(
        summary[
            [
                "ready_products",
                "to_work_on",
                "not_ready_products",
                "failed",
                "passed",
                "not_applicable",
                "unknown",
            ]
        ]
    )
    assert (1, 0, 0, 0, 3) == tuple(summary[[f"grade_{grade}" for grade in "ABCDE"]])


def test_groups_are_made_by_code_and_shown_with_the_commonest_label(audit: Audit) -> None:
    """Two labels of one code are one group; one label of two codes are two; without code is a group as well."""
    owners, kinds = audit.scores("owner"), audit.scores("kind")

    assert [(None, None, 1), ("4", "The Mill", 3)] == _rows(owners, "owner_id", "owner", "products")
    assert [0.0, 0.6] == owners["score"].tolist()
    assert {("RICE", "Rice", 2), ("SALT", "Rice", 1), (None, None, 1)} == set(
        _rows(kinds, "kind_code", "kind", "products")
    )


def test_products_are_grouped_by_tag_market_language_and_any_column(audit: Audit) -> None:
    """A product counts under each of its tags; products without tags are a group; pending tags do not count."""
    tags = _rows(audit.scores("tag"), "tag", "products")
    markets = _rows(audit.scores("market"), "market", "market_label", "products")
    languages = audit.scores("language").set_index("language")

    assert {("new", 2), ("exportable", 1), (None, 2)} == set(tags)
    assert {("56", "Belgium", 1), (None, None, 3)} == set(markets)
    assert {"fr": 3, "nl": 4} == languages["products"].to_dict()
    assert {"fr": 2 / 3, "nl": 1 / 4} == languages["score"].to_dict()
    assert {GOOD: 2, BAD: 2} == audit.scores("gtin").set_index("gtin")["products"].to_dict()
    with pytest.raises(QueryError, match="did you mean 'brand'"):
        audit.scores("brands")


def test_scores_can_be_of_one_block(audit: Audit) -> None:
    """The heat map is made of the scores of each block."""
    texts = audit.scores("owner", block="texts").set_index("owner_id")["score"]

    assert 10 / 18 == texts["4"]
    with pytest.raises(
        QueryError, match=r"No check belongs to the block 'food'\. Give one of identity, texts"
    ):
        audit.scores("owner", block="food")


def test_gaps_say_what_mending_each_would_bring(audit: Audit) -> None:
    """Ready counts the products of which it is the only failing blocker."""
    gaps = audit.gaps().set_index("check")

    assert ["valid_gtin", FR, NL] == gaps.index.tolist()
    assert [2, 1, 3] == gaps["products"].tolist()
    assert [3 / 4, 2 / 4, 1 / 4] == gaps["ready_if_fixed"].tolist()
    assert [26 / 36, 22 / 36, 24 / 36] == gaps["score_if_fixed"].tolist()
    by_rule = audit.gaps("rule").set_index("rule")
    assert (3, 0.5, 28 / 36) == tuple(
        by_rule.loc["required_text", ["products", "ready_if_fixed", "score_if_fixed"]]
    )
    assert "long name is filled in French (and 1 more)" == by_rule.loc["required_text", "title"]
    with pytest.raises(QueryError, match="by 'check' or by 'rule'"):
        audit.gaps("owner")


@pytest.mark.slow
def test_if_fixed_is_what_happens_when_it_is_fixed(sample: prodex.Catalog) -> None:
    """Counting again with the failing cells of a check made to pass gives the same figures."""
    audit = prodex.audit(sample, "core", now=AS_OF)
    for gap in audit.gaps().to_dict("records"):
        place = [check.id for check in audit.checks].index(gap["check"])
        mended = audit.states.copy()
        mended[mended[:, place] == 1, place] = 0
        tally = counted([mended], audit.checks)

        assert pytest.approx(tally["ready"].mean()) == gap["ready_if_fixed"]
        assert pytest.approx(tally["earned"].sum() / tally["possible"].sum()) == gap["score_if_fixed"]


def test_failures_are_all_with_what_was_seen(audit: Audit) -> None:
    """Evidence where there is some, the matrix where something is missing; filtered by any column."""
    failures = audit.failures()

    assert [("2", "valid_gtin"), ("2", NL), ("3", FR), ("3", NL), ("4", "valid_gtin"), ("4", NL)] == _rows(
        failures, "product_id", "check"
    )
    first = failures.iloc[0]
    assert (BAD, "Riz", "4", "The Mill", "blocker", "gtin", BAD) == tuple(
        first[["gtin", "name", "owner_id", "owner", "severity", "attribute", "value"]]
    )
    assert "nl" == failures["language"].iloc[1]
    assert "Write the long name in Dutch." == failures["fix"].iloc[1]
    assert 3 == len(audit.failures(severity="blocker"))
    assert ["4"] == audit.failures(severity=["blocker"], owner_id=None)["product_id"].tolist()
    assert ["2"] == audit.failures(language="nl", name="Riz")["product_id"].tolist()
    with pytest.raises(QueryError, match="No product of this audit has name 'nothing'"):
        audit.failures(name="nothing")
    with pytest.raises(QueryError, match="No check of this audit is called 'nothing'"):
        audit.failures(check="nothing")
    with pytest.raises(QueryError, match="did you mean 'severity'"):
        audit.failures(severty="blocker")
    whole = pa.Table.from_batches(audit.failure_batches())
    assert len(failures) == whole.num_rows


def test_a_name_that_nobody_has_is_no_empty_answer(audit: Audit, tmp_path: Path) -> None:
    """No findings means clean, and a misspelled name means nothing: it is refused with the nearest."""
    refused = {
        "owner": ("The Mil", "did you mean 'The Mill'"),
        "owner_id": ("44", "did you mean '4'"),
        "name": ("Rizz", "did you mean 'Riz'"),
        "product_id": ("99", "There are 1, 2, 3, 4"),
        "gtin": ("4006381333931", "There are"),
        "accepted_by": ("anna", "Nothing was accepted by 'anna'. There are none"),
    }
    for ask in (
        audit.failures,
        audit.failure_batches,
        audit.findings,
        lambda **equal: audit.worklists(tmp_path / "lists", **equal),
    ):
        for column, (name, words) in refused.items():
            with pytest.raises(QueryError, match=words):
                ask(**{column: name})
    # Of several names each has to be there; of a list of GTINs, which may be longer than the audit, one.
    with pytest.raises(QueryError, match="'The Mil'"):
        audit.failures(owner=["The Mill", "The Mil"])
    assert ["2", "2"] == audit.failures(product_id=["2", "99"])["product_id"].tolist()
    assert audit.failures(product_id="1").empty  # it is there, and clean
    assert audit.failures(owner=[]).empty


def test_names_that_differ_by_case_are_never_taken_for_each_other() -> None:
    """Neither owners nor names of an audit's own lists."""
    records = [
        {"id": 1, "owner": {"id": 4, "name": "Acme"}, "gtin": "1"},
        {"id": 2, "owner": {"id": 5, "name": "ACME"}, "gtin": "2"},
    ]
    found = prodex.audit(prodex.flatten(records), {"checks": {"valid_gtin": {}}})
    assert ["1"] == found.failures(owner="Acme")["product_id"].tolist()
    assert ["2"] == found.failures(owner="ACME")["product_id"].tolist()
    with pytest.raises(QueryError, match="No product of this audit has owner 'acme'"):
        found.failures(owner="acme")
    names = ["Long name", "long NAME", "Other"]
    assert ["long NAME", "Long name", "Other"] == [
        _named(names, "problem", one) for one in ("long NAME", "Long name", "OTHER ")
    ]
    with pytest.raises(QueryError, match="can be 'Long name' or 'long NAME'"):
        _named(names, "problem", "long name")


def test_coverage_is_filled_of_applicable(audit: Audit) -> None:
    """Coverage is counted by language, and by any group."""
    assert [("namePublicLong", "fr", 2, 3), ("namePublicLong", "nl", 1, 4)] == _rows(
        audit.coverage(), "attribute", "language", "filled", "applicable"
    )
    rice = audit.coverage("kind").query("kind_code == 'RICE'")
    assert [("fr", 2, 2, 1.0), ("nl", 1, 2, 0.5)] == _rows(
        rice, "language", "filled", "applicable", "coverage"
    )


def test_by_check_has_one_row_for_each(audit: Audit) -> None:
    """Each language is scored by its own checks."""
    assert [0.5, 2 / 3, 0.25] == audit.by_check["score"].tolist()


def test_a_trend_is_in_order_of_time_and_says_what_is_comparable(audit: Audit) -> None:
    """Another profile is another measure."""
    earlier = prodex.audit(prodex.flatten(RECORDS[:1]), "core", now=AS_OF.replace(month=9))

    trend = audit.trend([earlier])

    assert [1, 4] == trend["products"].tolist()
    assert [False, True] == trend["comparable"].tolist()


def test_the_repr_prints_formula_version_and_caveat(audit: Audit) -> None:
    """They stand with every score that is shown."""
    for shown in (repr(audit), audit._repr_html_()):
        assert "Audit of 4 products by 3 checks" in shown
        assert "score = weight of checks passed / weight of checks passed or failed" in shown
        assert "Rule set " in shown
        assert "Completeness is not accuracy" in shown
        assert "ready 1, not ready 3, undecided 0 of 4 (25.0 % ready)" in shown
        assert "GTIN missing or wrong" in shown
        brought = "ready 25.0 -> 75.0 % (+50.00 points), score +22.22 points"
        assert brought in unescape(shown).replace("→", "->")


def test_own_checks_are_counted_under_the_score() -> None:
    """They are no part of the rule set's version."""

    @prodex.packs.rule(title="never")
    def is_mine(products: Products) -> prodex.packs.Verdict:
        return prodex.packs.Verdict([True] * len(products))

    audit = prodex.audit(prodex.flatten([{"id": 7}]), {"checks": {"is_mine": {}}})

    assert "and 1 own check." in repr(audit)


def test_unknown_is_counted_and_shown() -> None:
    """Data that were not requested appear in the figures, not in the score."""
    catalog = prodex.flatten([{"id": 7, "gtin": GOOD}])
    origin = prodex.catalog.Origin("sandbox", prodex.ProductQuery(source_include=["brand"]))
    audit = prodex.audit(prodex.Catalog(catalog.parts, origin), PROFILE, now=AS_OF)

    assert (2, 2, 1.0) == tuple(audit.summary[["unknown", "checks_unknown", "score"]])
    assert "2 of 3 checks unknown for all products" in repr(audit)
    assert [1, 1] == audit.coverage()["unknown"].tolist()


def test_a_market_without_a_known_language_is_said_where_its_language_is_asked_for() -> None:
    """Nothing is asked in it, and a product that nothing is asked of would be taken for one that has it."""
    records = [{"id": number, "product_key": {"target_market_id": number}} for number in (208, 250, 616)]
    asked, named = (
        {"checks": {"required_text": {"attribute": "nameLegal", "language": language, **more}}}
        for language, more in (("of the market", {}), ("fr", {"only": {"market": 250}}))
    )

    said = "no language is known for the market of 2 products (208, 616): no text is asked for in it"
    assert [True, False] == [
        said in repr(prodex.audit(prodex.flatten(records), one)) for one in (asked, named)
    ]


def test_a_market_that_is_not_known_matters_only_to_checks_for_a_market() -> None:
    """A warning that concerns no check would hide those that do."""
    somewhere = {"product_key": {"target_market_id": 250}}
    asked, unasked = ({"checks": {"valid_gtin": more}} for more in ({"only": {"market": 250}}, {}))

    found = {
        (is_known, profile is asked): "no market is known" in repr(prodex.audit(catalog, profile, now=AS_OF))
        for is_known in (True, False)
        for catalog in [prodex.flatten([{"id": 7, "gtin": GOOD, **(somewhere if is_known else {})}])]
        for profile in (asked, unasked)
    }

    assert found == {(True, True): False, (True, False): False, (False, True): True, (False, False): False}


def test_whether_an_update_waits_may_be_unknown(tmp_path: Path) -> None:
    """An export without that column is audited and reported; who needs the column is told its name."""
    prodex.flatten(RECORDS).export(tmp_path / "owners", columns={"products": ["owner"]}, progress=False)
    catalog = prodex.read_export(tmp_path / "owners")

    audit = prodex.audit(catalog, {"checks": {"valid_gtin": {}}}, now=AS_OF)

    assert 0 == audit.pending == audit.summary["pending_updates"]
    assert "Audit of 4 products by 1 check" in repr(audit)
    assert "GTIN missing or wrong" in audit.to_html(tmp_path / "report.html").read_text("utf-8")
    with pytest.raises(NotExported, match="products has no column 'has_pending_update' here"):
        pending_updates(catalog)


def _rows(frame: pd.DataFrame, *columns: str) -> list[tuple[object, ...]]:
    chosen = frame[list(columns)].astype(object)
    return list(chosen.where(chosen.notna(), None).itertuples(index=False, name=None))
