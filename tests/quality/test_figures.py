"""Figures that say what they mean: readiness of all, grades under blockers, what mending brings, small groups."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prodex
from prodex import charts
from prodex.display.report import rendered
from prodex.display.report.contents import contents, heat_map, offenders
from prodex.errors import InputError, SnapshotDamaged
from prodex.quality.audit import Audit
from prodex.quality.comparison import compare_audits
from prodex.quality.products import Products
from prodex.quality.scores import readiness
from prodex_sandbox.sample import AS_OF
from tests.cases import each_row

#: What a product's one word says of it under the two rules below.
READY, NOT_READY, UNDECIDED = "ready", "not ready", "undecided"

PROFILE = {
    "checks": {"may_be_listed": {"severity": "blocker"}, "is_named": {"severity": "error", "weight": 96}}
}
HUNDRED = [READY] * 61 + [NOT_READY] * 30 + [UNDECIDED] * 9


def audited(words: Sequence[str], owners: Sequence[int] | None = None, **profile: Any) -> Audit:
    """Judge products by a blocker that passes, fails or is unknown as each of them says, and a check that all pass."""

    @prodex.packs.rule(
        title="the product may be listed", problem="Cannot be listed", fix="List it.", replace=True
    )
    def may_be_listed(products: Products) -> prodex.packs.Verdict:
        said = products["brand_code"]
        return prodex.packs.Verdict((said == NOT_READY).astype("boolean").mask(said == UNDECIDED))

    @prodex.packs.rule(title="the product is named", replace=True)
    def is_named(products: Products) -> prodex.packs.Verdict:
        return prodex.packs.Verdict(np.zeros(len(products), bool))

    records = [
        {"id": number, "brand": {"code": word}, "owner": {"id": owner, "name": f"Owner {owner}"}}
        for number, (word, owner) in enumerate(zip(words, owners or [1] * len(words), strict=True), 1)
    ]
    return prodex.audit(prodex.flatten(records), {**PROFILE, **profile}, now=AS_OF, progress=False)


def test_the_headline_counts_all_products() -> None:
    """Ready, not ready and undecided add up to all products everywhere, and the share is of all products."""
    audit = audited(HUNDRED)
    headline = "ready 61, not ready 30, undecided 9 of 100"

    assert 0.61 == audit.summary["ready"]
    assert (61, 30, 9) == tuple(audit.summary[["ready_products", "not_ready_products", "undecided_products"]])
    for frame in (audit.scores("owner"), audit.trend()):
        assert headline == str(readiness(frame.iloc[0]))
    assert headline in repr(audit)
    assert headline in audit._repr_html_()
    assert headline in contents(audit)["tiles"][0]["detail"]
    assert headline in repr(compare_audits(audit, audit))


def test_more_unknowns_never_make_more_of_a_catalogue_ready() -> None:
    """A product that becomes undecided is one that is ready no longer."""
    assert [0.5, 0.25, 0.0] == [
        audited(words).summary["ready"]
        for words in (
            [READY, READY, NOT_READY, NOT_READY],
            [READY, UNDECIDED, NOT_READY, NOT_READY],
            [UNDECIDED, UNDECIDED, UNDECIDED, UNDECIDED],
        )
    ]
    assert np.isnan(audited([]).summary["ready"])


@pytest.mark.slow
@given(st.lists(st.sampled_from([READY, NOT_READY, UNDECIDED]), min_size=1, max_size=30), st.data())
def test_the_three_counts_are_all_products_of_every_group(words: list[str], data: st.DataObject) -> None:
    """The figures add up in the whole and in each group; fixing a check never lowers readiness."""
    owners = data.draw(st.lists(st.integers(1, 4), min_size=len(words), max_size=len(words)))
    audit = audited(words, owners)
    for figures_of in (audit.summary, *(row for _, row in audit.scores("owner").iterrows())):
        counts = [int(figures_of[f"{name}_products"]) for name in ("ready", "not_ready", "undecided")]
        assert figures_of["products"] == sum(counts)
        assert pytest.approx(counts[0] / sum(counts)) == figures_of["ready"]
    found = audit.gaps()
    assert (found["ready_if_fixed"] >= audit.summary["ready"]).all()
    assert [words.count(NOT_READY) / len(words)] * len(found) == pytest.approx(found["ready_gain"].tolist())


def test_a_product_with_a_failing_blocker_is_never_better_than_c() -> None:
    """A failing blocker limits the grade however little it weighs; undecided products keep the grade of their score."""
    audit = audited([READY, NOT_READY, UNDECIDED])

    assert ["A", "C", "A"] == audit.products["grade"].tolist()
    assert audit.products["score"].iloc[1] == 0.96
    assert (2, 1) == tuple(audit.summary[["grade_A", "grade_C"]])
    assert "A product with a failing blocker has grade C at best." in repr(audit)


@each_row(("best", "expected"), [("A", "A"), ("B", "B"), ("D", "D"), ("E", "E")])
def test_the_profile_says_the_best_grade_under_a_blocker(best: str, expected: str) -> None:
    """With "A" the score alone decides, and no footnote mentions a limit."""
    audit = audited([NOT_READY], grade_with_blocker=best)

    assert [expected] == audit.products["grade"].tolist()
    assert ("with a failing blocker has grade" in repr(audit)) == (best != "A")


@each_row("given", ["F", "c", 3, ["C"], None, ""])
def test_a_best_grade_that_is_none_is_refused(given: Any) -> None:
    """The message says what to write instead."""
    with pytest.raises(InputError, match=r"grade_with_blocker is .*; give one of A, B, C, D, E"):
        prodex.Profile.read({"grade_with_blocker": given, "checks": {}})


def test_a_profile_takes_the_best_grade_from_the_one_that_it_extends(tmp_path: Path) -> None:
    """A profile inherits the limit unless it sets its own; an error names the line."""
    path = tmp_path / "own.toml"
    path.write_text('extends = "core"\ngrade_with_blocker = "E"\n', "utf-8")
    assert ("C", "E") == tuple(prodex.Profile.read(one).grade_with_blocker for one in ("core", path))
    path.write_text('extends = "core"\ngrade_with_blocker = "F"\n', "utf-8")
    with pytest.raises(InputError, match="line 2, grade_with_blocker"):
        prodex.Profile.read(path)


def test_the_best_grade_is_saved_with_an_audit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Audits of other best grades are compared with a note; without one, or with what is no grade, it is damaged."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path))
    audit = audited([READY, NOT_READY], grade_with_blocker="D").save("shop")
    assert audit.folder is not None
    assert ["A", "D"] == prodex.open_audit("shop").products["grade"].tolist()

    manifest = audit.folder / "manifest.json"
    written = json.loads(manifest.read_text("utf-8"))
    manifest.write_text(json.dumps({**written, "grade_with_blocker": "A"}), "utf-8")
    old = prodex.open_audit("shop")
    assert ["A", "A"] == old.products["grade"].tolist()
    told = compare_audits(old, audit).notes
    assert any("best grade of a product with a failing blocker differs (A and D)" in one for one in told)
    assert [True, False] == audit.trend([old])["comparable"].tolist()

    before = {name: value for name, value in written.items() if name != "grade_with_blocker"}
    manifest.write_text(json.dumps(before), "utf-8")
    with pytest.raises(SnapshotDamaged, match=r"grade_with_blocker.*Audit the catalogue again"):
        prodex.open_audit("shop")

    manifest.write_text(json.dumps({**written, "grade_with_blocker": "F"}), "utf-8")
    with pytest.raises(SnapshotDamaged, match="grade_with_blocker is 'F'"):
        prodex.open_audit("shop")


@pytest.mark.slow
def test_what_mending_brings_is_never_the_figure_as_it_is() -> None:
    """A gain too small for the share is given in products; no gain is stated as such."""
    many = audited([READY] * 4_998 + [NOT_READY] + [NOT_READY])
    one = audited([READY] * 4_999 + [NOT_READY])

    assert "ready 99.9 -> 100 % (+0.04 points), score under +0.01 points" == many.gaps()["brings"].item()
    assert (
        "ready 61.0 -> 91.0 % (+30.00 points), score +1.20 points" == audited(HUNDRED).gaps()["brings"].item()
    )
    for audit in (many, one, audited(HUNDRED)):
        for figure in re.findall(r"(\S+) -> (\S+)", " ".join(audit.gaps()["brings"])):
            assert figure[0] != figure[1]


SIZES = {1: 3, 2: 10, 3: 40, 4: 9}


@pytest.fixture
def groups() -> Audit:
    """Judge owners of 3, 10, 40 and 9 products: those of 3 and 9 fail wholly, the others in one product."""
    owners = [owner for owner, size in SIZES.items() for _ in range(size)]
    words = [
        NOT_READY if size < 10 or number == 0 else READY for size in SIZES.values() for number in range(size)
    ]
    return audited(words, owners)


def test_groups_of_under_ten_products_stand_below_the_others(groups: Audit) -> None:
    """Small groups come last in scores, heat map, rankings and chart, each with its number of products."""
    expected = [("Owner 2", False), ("Owner 3", False), ("Owner 4", True), ("Owner 1", True)]

    assert [name for name, _ in expected] == groups.scores("owner")["owner"].tolist()
    assert expected == [(row["name"].text, row["is_small"]) for row in heat_map(groups, "owner")["rows"]]
    worst = [(row["name"].text, row["is_small"]) for row in offenders(groups, "owner")[0]]
    assert {*expected[:2]} == {*worst[:2]}
    assert expected[2:] == worst[2:]
    labels = [one.get_text() for one in charts.score_map(groups, "owner").axes[0].get_yticklabels()]
    assert ["Owner 2", "Owner 3", "Owner 4 (n = 9)", "Owner 1 (n = 3)"] == labels
    page = rendered(contents(groups))
    assert page.count("n = 3<") == 2 == page.count("n = 9<")
    assert "n = 10<" not in page


@pytest.mark.slow
def test_findings_and_failing_checks_are_two_words(sample: prodex.Catalog, tmp_path: Path) -> None:
    """Report and worklists count both: findings are rows of failures(), failing checks are cells of the matrix."""
    audit = prodex.audit(sample, "online-listing", now=AS_OF, progress=False)
    findings, failing = len(audit.failures()), int((audit.states == 1).sum())
    assert findings > failing == audit.summary["failed"]

    page = rendered(contents(audit))
    assert f"of {findings:,} findings" in page
    assert f"they make {failing:,} failing checks of products" in page
    index = audit.worklists(tmp_path / "fix")
    assert (findings, failing) == tuple(index[["findings", "failing_checks"]].sum())
    listed = pd.read_csv(tmp_path / "fix" / "index.csv")
    assert index["failing_checks"].tolist() == listed["failing_checks"].tolist()


def test_what_was_assumed_is_said_under_the_score() -> None:
    """An audit with another assumption is another measure."""
    plain, assumed = (audited([READY], **more) for more in ({}, {"assume": {"food": True}}))
    assert "Assumed where the data do not decide: food = true." in repr(assumed)
    assert "Assumed where" not in repr(plain)
    assert [False, True] == assumed.trend([plain])["comparable"].tolist()
