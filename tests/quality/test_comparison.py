"""Comparing audits: fixed, newly failing, still failing, added, gone, not comparable."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import prodex
from prodex.errors import InputError
from prodex.quality.audit import Audit
from prodex.quality.comparison import compare_audits, worsening

GOOD, BAD = "03036811359935", "03036811359936"
CHECKS = {"valid_gtin": {}}


def audited(gtins: dict[int, str], checks: dict[str, object] = CHECKS) -> Audit:
    return prodex.audit(
        prodex.flatten({"id": n, "gtin": gtin} for n, gtin in gtins.items()), {"checks": checks}
    )


def test_every_product_is_in_one_of_the_groups() -> None:
    """Every product is in the group of its old and new state, in any order."""
    old = audited({1: BAD, 2: GOOD, 3: BAD, 4: GOOD, 5: BAD})
    new = audited({6: BAD, 4: GOOD, 3: BAD, 2: BAD, 1: GOOD})

    compared = compare_audits(old, new)

    assert {"1": "fixed", "2": "newly failing", "3": "still failing"} == (
        compared.changes().set_index("product_id")["change"].to_dict()
    )
    assert [("1", "fail", "pass")] == list(
        compared.changes("fixed")[["product_id", "was", "is"]].itertuples(index=False, name=None)
    )
    assert (["6"], ["5"]) == (compared.added["product_id"].tolist(), compared.gone["product_id"].tolist())
    assert [("valid_gtin", 1, 1, 1, 0)] == list(
        compared.by_check.iloc[:, [0, 2, 3, 4, 5]].itertuples(index=False, name=None)
    )
    assert "1 fixed, 1 newly failing, 1 still failing, 0 not comparable; 1 product added, 1 gone" in repr(
        compared
    )
    assert "Completeness is not accuracy" in compared._repr_html_()


def test_what_one_side_does_not_know_is_not_comparable() -> None:
    """Nobody asked for it, so it is neither fixed nor broken."""
    checks = {"required_text": {"attribute": "nameLegal", "language": "fr"}}
    old = audited({1: GOOD}, checks)
    catalog = prodex.flatten([{"id": 1}])
    origin = prodex.catalog.Origin("sandbox", prodex.ProductQuery(source_include=["brand"]))
    new = prodex.audit(prodex.Catalog(catalog.parts, origin), {"checks": checks})

    assert ["not comparable"] == compare_audits(old, new).changes()["change"].tolist()
    assert ["not comparable"] == compare_audits(new, old).changes()["change"].tolist()
    assert compare_audits(new, new).changes().empty


def test_what_differs_between_the_audits_is_said() -> None:
    """The notes name checks of only one side, other severities, and another rule set."""
    old = audited({1: GOOD}, {"valid_gtin": {}, "updated_within": {}})
    new = audited({1: GOOD}, {"valid_gtin": {"severity": "info"}, "duplicate_gtin": {}})

    compared = compare_audits(old, replace(new, rule_set="0", profile="other"))

    assert {"duplicate_gtin": "only in the new audit", "updated_within": "only in the old audit"} == (
        compared.by_check.dropna().set_index("check")["note"].to_dict()
    )
    told = " ".join(compared.notes)
    assert "Rule sets differ" in told
    assert "Profiles differ" in told
    assert "Another severity, weight or scope than before: 1 check, valid_gtin for one" in told


def test_the_figures_stand_side_by_side() -> None:
    """Each figure is shown before and after."""
    figures = compare_audits(audited({1: BAD}), audited({1: GOOD})).figures

    assert [0.0, 1.0] == figures.loc["score"].tolist()


def test_wrong_words_are_refused() -> None:
    """The message lists the words that exist."""
    audit = audited({1: BAD})
    with pytest.raises(InputError, match="give one of fixed, newly failing"):
        compare_audits(audit, audit).changes("mended")
    with pytest.raises(InputError, match="not a DataFrame"):
        compare_audits(audit.matrix, audit)  # type: ignore[arg-type]


def test_a_product_that_was_not_asked_for_is_not_called_gone_without_a_word() -> None:
    """Another query or access key is named where products differ, and no job is told that it became no worse."""
    catalog = prodex.flatten([{"id": 7, "gtin": GOOD}, {"id": 8, "gtin": BAD}])
    query = prodex.ProductQuery(gtins_in=[GOOD])

    def loaded(*ids: str, **origin: Any) -> Audit:
        own = replace(catalog.where(product_id=list(ids)), chosen=None)
        return prodex.audit(replace(own, origin=replace(own.origin, **origin)), {"checks": CHECKS})

    whole = loaded("7", "8", query=prodex.ProductQuery(), asked_by="a")
    for origin, said in (
        ({"query": query, "asked_by": "a"}, "The queries ask for different products"),
        ({"query": prodex.ProductQuery(), "asked_by": "b"}, "Different access keys asked"),
    ):
        compared = compare_audits(whole, loaded("7", **origin))
        (note,) = compared.notes
        assert note.startswith(said)
        assert worsening(compared).is_worse is None
        assert () == compare_audits(whole, loaded("7", "8", **origin)).notes
    fields = prodex.ProductQuery(source_exclude=["assets"])
    assert () == compare_audits(whole, loaded("7", query=fields, asked_by="a")).notes


def test_a_product_that_an_incomplete_load_lacks_is_not_called_gone_without_a_word() -> None:
    """The note that a load was incomplete did not say what follows for the products of one audit alone."""
    catalog = prodex.flatten([{"id": 7, "gtin": GOOD}, {"id": 8, "gtin": BAD}])
    cut = replace(catalog.where(product_id="7"), chosen=None)
    ledger = prodex.catalog.Ledger(announced=2, received=1, distinct=1)
    cut = replace(cut, origin=replace(cut.origin, ledger=ledger))
    whole, less = (prodex.audit(one, {"checks": CHECKS}) for one in (catalog, cut))
    said = "A load was incomplete: a product that one audit lacks need not be new or gone."

    assert said in compare_audits(whole, less).notes
    assert said in compare_audits(less, whole).notes
    assert said not in compare_audits(less, less).notes


def test_a_product_that_is_there_twice_is_compared_once() -> None:
    """It is neither gone nor failing for a second time, whichever of the two audits has it again; a note says so."""
    catalog = prodex.flatten([{"id": 7, "gtin": GOOD}])
    again = prodex.flatten([{"id": 7, "gtin": BAD}])
    twice = prodex.audit(replace(catalog, parts=catalog.parts + again.parts), {"checks": CHECKS})
    failing = audited({7: BAD, 8: GOOD})

    later, earlier = compare_audits(twice, failing), compare_audits(failing, twice)

    assert ["newly failing"] == later.changes()["change"].tolist()
    assert ["fixed"] == earlier.changes()["change"].tolist()
    assert (["8"], []) == (later.added["product_id"].tolist(), later.gone["product_id"].tolist())
    assert ([], ["8"]) == (earlier.added["product_id"].tolist(), earlier.gone["product_id"].tolist())
    said = "audit has 1 product more than once; the first of each was compared."
    assert (f"The old {said}",) == later.notes
    assert (f"The new {said}",) == earlier.notes
