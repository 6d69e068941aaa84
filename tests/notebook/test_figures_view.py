"""Checks and scores in the section on quality, without a browser: order, search, pages, and what a press opens."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prodex
from prodex.facts.groups import column_names
from prodex.notebook.app import App
from prodex.notebook.session.session import Session
from prodex.notebook.views.cells import code_key
from prodex.notebook.views.drill_down import (
    are_shown,
    of_cell,
    of_check,
    of_grade,
    opened,
    to_work_on,
    with_blockers,
)
from prodex.selection import Selection
from prodex_sandbox.sample import AS_OF

from .test_audit_view import block, chosen, press, quality, shown, words

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
def audit(sample: prodex.Catalog) -> prodex.quality.Audit:
    """Judge 400 products of the sample."""
    return prodex.audit(sample, "online-listing", now=AS_OF, progress=False)


@pytest.fixture
def app(audit: prodex.quality.Audit) -> App:
    """Show them."""
    return quality(audit)


def failing(audit: prodex.quality.Audit, **equal: Any) -> set[str]:
    """Return the products of failures, filtered by hand; None means that there is nothing."""
    failures = audit.failures()
    for column, value in equal.items():
        same = failures[column].isna() if value is None else failures[column] == value
        failures = failures[same]
    return set(failures["product_id"])


def products(session: Session, choice: Selection) -> set[str]:
    """Return the products behind a figure."""
    return set(session.filter.catalog(choice).products["product_id"])


def problems(app: App) -> list[str]:
    """Return the problems of the rows that are shown."""
    return [row["cells"][0]["parts"][0]["text"] for row in block(app, "checks-table")["rows"]]


def column(app: App, place: int) -> list[str]:
    """Return the cells of a column of the checks."""
    return [row["cells"][place] for row in block(app, "checks-table")["rows"]]


def head(app: App, name: str) -> str:
    """Return how the checks are sorted by a column."""
    return next(str(one["sort"]) for one in block(app, "checks-table")["columns"] if one["name"] == name)


def summary(app: App, name: str) -> str:
    """Return which rows of how many a list shows."""
    return str(block(app, f"pager {name}")["blocks"][0]["text"])


def test_checks_are_found_by_words(app: App) -> None:
    """Of problem, rule or block, in any order and case; a search begins at the first page."""
    app.act("pages.turn", name="checks", first=12)
    assert summary(app, "checks").startswith("13 to 24 of")
    app.act("form.set", form="checks", field="words", value="MISSING ingredients")
    assert ["List of ingredients missing"] == problems(app)
    app.act("form.set", form="checks", field="words", value="<b>no such check\u202e" + "x" * 40_000)
    assert ([], "no failing checks") == (problems(app), summary(app, "checks"))
    app.act("form.set", form="checks", field="words", value="")
    app.act("form.set", form="checks", field="only_failing", value=False)
    assert app.session.audit is not None
    assert f"1 to 12 of {len(app.session.audit.checks)} checks" == summary(app, "checks")


@pytest.mark.slow
def test_checks_are_sorted_by_any_column(app: App) -> None:
    """The first press puts what fails most on top, the second turns it round, the third is as at first."""
    first = problems(app)
    app.act("checks.sort", column="failed")
    counts = [int(one.replace(",", "")) for one in column(app, 3)]
    assert ("descending", sorted(counts, reverse=True)) == (head(app, "failed"), counts)
    app.act("checks.sort", column="failed")
    counts = [int(one.replace(",", "")) for one in column(app, 3)]
    assert ("ascending", sorted(counts)) == (head(app, "failed"), counts)
    app.act("checks.sort", column="failed")
    assert ("", first) == (head(app, "failed"), problems(app))
    for name in ("problem", "block", "severity", "passed", "not_applicable", "unknown", "score", "brings"):
        app.act("checks.sort", column=name)
        assert 12 == len(problems(app))
    # By what it brings to fix it, in the order of the gaps.
    assert [gap["problem"] for gap in app.session.audit.gaps().head(12).to_dict("records")] == problems(app)  # type: ignore[union-attr]


@pytest.mark.slow
def test_a_row_opens_its_products_and_explains_its_rule(app: App) -> None:
    """The explanation is there when somebody comes back, and goes with a second press; several rows add up."""
    one, other = block(app, "checks-table")["rows"][:2]
    app.act(one["do"], **one["args"])
    assert "products" == app.session.section
    both = block(app, "checks-table")["rows"]
    assert [True] == [row["selected"] for row in both if row["key"] == one["key"]]
    for said in ("How to fix it", one["key"], "out of"):
        assert said in words(app, "rule")
    app.act(other["do"], **other["args"])
    assert [one["key"], other["key"]] == [fails.checks[0] for fails in app.session.conditions.failing]
    for row in (one, other):
        app.act(row["do"], **row["args"])
    assert Selection() == app.session.conditions
    assert not any(one.get("key") == "rule" for one in shown(app))


def test_a_rule_is_explained_without_leaving(app: App) -> None:
    """The button of a row explains its rule, and hides that again."""
    key = block(app, "checks-table")["rows"][3]["key"]
    press(app, f"explain {key}")
    assert ("quality", Selection()) == (app.session.section, app.session.conditions)
    assert key in words(app, "rule")
    press(app, f"explain {key}")
    assert "rule" not in [one.get("key") for one in block(app, "checks-box")["blocks"]]


def test_a_rule_and_its_gap_are_one_choice(app: App) -> None:
    """A gap marks the row of its check, wherever it was pressed."""
    gap = block(app, "gaps")["rows"][0]
    press(app, f"gap {gap['key']}")
    marked = [row["key"] for row in block(app, "checks-table")["rows"] if row["selected"]]
    assert [gap["key"]] == marked


@pytest.mark.slow
def test_a_cell_keeps_equal_labels_apart() -> None:
    """Brands are identified by code, though both have one label; products without a brand are a group."""
    broken = {"gtin": "03036811359936"}
    records = [
        {**broken, "id": 7},
        {**broken, "id": 8, "brand": {"code": "A", "label": "Ace"}},
        {**broken, "id": 9, "brand": {"code": "B", "label": "Ace"}},
    ]
    app = quality(prodex.audit(prodex.flatten(records), PROFILE, progress=False))
    app.act("form.set", form="scores", field="by", value="brand")
    found = {}
    for row in block(app, "grid")["rows"]:
        app.act("heat.open", row=row["key"], column="all blocks")
        found[app.session.conditions.groups["brand"]] = chosen(app)
        app.act("quality.everything")
        shown(app)
    assert {("A",): ("8",), ("B",): ("9",), (None,): ("7",)} == found


@pytest.mark.slow
@pytest.mark.parametrize("by", ["kind", "owner", "brand", "market", "language"])
def test_cells_open_as_many_products_as_they_count(app: App, audit: prodex.quality.Audit, by: str) -> None:
    """Every cell of the first page that counts failing checks opens the products that fail, and no other does."""
    app.act("form.set", form="scores", field="by", value=by)
    name = column_names(by)[0]
    groups = [None if pd.isna(one) else str(one) for one in audit.scores(by)[name]]
    codes = {code_key(one): one for one in groups}
    for row in block(app, "grid")["rows"]:
        for cell in row["cells"][::3]:
            if cell.get("mute"):
                continue
            assert cell["hint"]
            app.act("heat.open", row=row["key"], column=cell["key"])
            of_block = {} if cell["key"] == "all blocks" else {"block": cell["key"]}
            checks = [one for one in audit.checks if not of_block or one.block == cell["key"]]
            if by == "language":
                own = [failing(audit, check=one.id) for one in checks if one.language == codes[row["key"]]]
            else:
                own = [failing(audit, **{name: codes[row["key"]]}, **of_block)]
            assert set().union(*own) == set(chosen(app)), (row["key"], cell["key"])
            app.act("quality.everything")
            shown(app)


@pytest.mark.slow
def test_a_chosen_cell_stays_chosen_when_it_comes_back(app: App) -> None:
    """A cell is still marked after its page or grouping was left and is shown again."""
    row = block(app, "grid")["rows"][0]
    app.act("heat.open", row=row["key"], column="all blocks")

    def pressed() -> list[str]:
        return [
            found["key"]
            for found in block(app, "grid")["rows"]
            for cell in found["cells"]
            if cell.get("pressed")
        ]

    assert [row["key"]] == pressed()
    app.act("form.set", form="scores", field="by", value="owner")
    assert [] == pressed()
    app.act("form.set", form="scores", field="by", value="kind")
    assert [row["key"]] == pressed()


def test_groups_are_shown_by_pages(app: App) -> None:
    """Twelve at a time; another grouping begins at its first page; a page that is no more is the last there is."""
    app.act("pages.turn", name="scores", first=12)
    assert summary(app, "scores").startswith("13 to 24 of")
    app.act("form.set", form="scores", field="by", value="owner")
    assert summary(app, "scores").startswith("1 to 12 of")
    app.act("pages.turn", name="scores", first=10**9)
    assert 0 < len(block(app, "grid")["rows"]) <= 12
    app.act("pages.turn", name="scores", first=-5)
    assert summary(app, "scores").startswith("1 to 12 of")


def test_a_group_that_is_gone_is_refused(app: App) -> None:
    """A page that shows other groups names one that is not there now, and nothing is chosen."""
    for row, said in (("=gone", "not among those shown"), ("x" * 40_000, "not among those shown")):
        app.act("heat.open", row=row, column="all blocks")
        assert said in app.session.notices["quality"].sentence
    assert Selection() == app.session.conditions


@pytest.mark.slow
@given(RECORDS)
def test_every_cell_opens_the_products_that_fail_there(records: list[dict[str, Any]]) -> None:
    """A cell lists the products that the failures name; together the cells of a block list all that fail it."""
    numbered = [{"id": number, **record} for number, record in enumerate(records)]
    audit = prodex.audit(prodex.flatten(numbered), PROFILE, progress=False)
    assert audit.catalog is not None
    session = Session(audit.catalog, audit)
    codes = audit.groups("brand").codes
    for name in (None, "identity", "texts"):
        wanted = {} if name is None else {"block": name}
        found = [products(session, of_cell(audit, "brand", code, "", name)) for code in codes]
        assert [failing(audit, brand_code=code, **wanted) for code in codes] == found
        assert failing(audit, **wanted) == set().union(*found)
        assert sum(map(len, found)) == len(set().union(*found))


def test_a_language_chooses_the_checks_about_it(app: App, audit: prodex.quality.Audit) -> None:
    """A product without French texts is not in a facet of French, so a language sets checks and no facet."""
    french = {check.id for check in audit.checks if check.language == "fr" and check.block == "texts"}
    choice = of_cell(audit, "language", "fr", "French", "texts")
    assert set().union(*(failing(audit, check=one) for one in french)) == products(app.session, choice)
    assert {} == choice.groups


def test_no_blockers_are_not_everything() -> None:
    """A profile without blockers has no button for them, and lists no product as failing one."""
    records = [{"id": 7, "gtin": "1"}]
    audit = prodex.audit(
        prodex.flatten(records), {"checks": {"has_name": {"severity": "info"}}}, progress=False
    )
    app = quality(audit)
    assert "None" in words(app, "Products not ready")
    assert set() == products(app.session, with_blockers(audit))
    assert {"7"} == products(app.session, to_work_on(audit))


def test_a_choice_is_added_and_taken_back_without_touching_others(
    app: App, audit: prodex.quality.Audit
) -> None:
    """What was required before is required after, whatever is pressed twice."""
    before = Selection().toggled("owner", "x").searching("lait")
    session = app.session.filtered(before)
    for choice in (
        to_work_on(audit),
        of_grade("B"),
        of_check(audit.checks[0]),
        of_cell(audit, "brand", "b", "B", None),
    ):
        added = opened(session, choice)
        assert ("products", True, False) == (
            added.section,
            are_shown(added, choice),
            are_shown(session, choice),
        )
        assert before == opened(added, choice).conditions
        assert added.conditions.require(before)


def test_several_groups_of_a_kind_are_shown_together(app: App) -> None:
    """A press on a second grade adds its products, and each is taken back by itself."""
    both = opened(opened(app.session, of_grade("B")), of_grade("C"))
    assert {"grade": ("B", "C")} == both.conditions.groups
    assert are_shown(both, of_grade("B"))
    assert {"grade": ("C",)} == opened(both, of_grade("B")).conditions.groups
