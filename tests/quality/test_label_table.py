"""Labels of claims and statements that somebody wrote from the law, who has not seen the rules."""

from __future__ import annotations

from collections import Counter

from prodex.quality.states import State
from tests.quality import label_table


def test_claims_are_judged_as_the_annex_says() -> None:
    """Of what must fail at most 1 in 100 passes or is not seen, and at most 2 in 100 are found falsely."""
    judged = label_table.claims()
    must = Counter(one.state for one in judged if one.must_fail)

    assert (208, 52) == (len(judged), must.total())
    assert must[State.PASS] + must[State.NOT_APPLICABLE] <= 0.01 * must.total()
    assert must[State.UNKNOWN] <= 1
    assert sum(one.is_false for one in judged) <= 0.02 * len(judged)
    others = Counter(one.state for one in judged if one.rule and not one.must_fail)
    assert others[State.PASS] >= 80


def test_statements_are_judged_as_annex_iii_says() -> None:
    """Nothing that lacks a part passes, nothing whole fails; of caffeine in solid food nobody knows what it is for."""
    judged = label_table.statements()
    must = Counter(one.state for one in judged if one.must_fail)

    assert (97, 45) == (len(judged), must.total())
    assert 0 == must[State.PASS]
    assert {"caffeine_food"} == {
        one.row["situation"] for one in judged if one.must_fail and one.state is not State.FAIL
    }
    assert 0 == sum(one.is_false for one in judged)
