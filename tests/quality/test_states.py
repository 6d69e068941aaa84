"""States: made of verdicts by the engine alone, and what it refuses."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from prodex.packs import Evidence, Verdict
from prodex.quality.states import State, VerdictRefused, states_of_verdict
from tests.cases import each_row

ALL = np.ones(3, bool)


def test_the_engine_makes_the_states() -> None:
    """Out of scope or not applying is not applicable, whatever `fails` holds."""
    verdict = Verdict(fails=[True, True, False, True], applies=[True, False, True, True])

    states, _, _ = states_of_verdict(verdict, np.array([True, True, True, False]), 0)

    assert [State.FAIL, State.NOT_APPLICABLE, State.PASS, State.NOT_APPLICABLE] == states.tolist()


@each_row(
    "fails",
    [
        [True, False, False],
        np.array([True, False, False]),
        pd.Series([True, False, False]),
        pd.array([True, False, False], "boolean"),
        pa.array([True, False, False]),
        pa.chunked_array([[True], [False, False]]),
    ],
    ids=["list", "numpy", "pandas", "nullable", "arrow", "chunked"],
)
def test_booleans_come_in_any_form(fails: object) -> None:
    """What rules compute with may be handed over as it is."""
    assert [1, 0, 0] == states_of_verdict(Verdict(fails), ALL, 0)[0].tolist()


@each_row(
    "told",
    [
        [True, None, False],
        np.array([True, pd.NA, False], object),
        pd.Series([True, None, False], dtype="boolean"),
        pa.array([True, None, False]),
        pa.chunked_array([[True], [None, False]]),
    ],
    ids=["list", "numpy", "nullable", "arrow", "chunked"],
)
def test_a_missing_boolean_is_unknown(told: object) -> None:
    """A missing value in `fails` or `applies` makes the state unknown."""
    assert [State.FAIL, State.UNKNOWN, State.PASS] == states_of_verdict(Verdict(told), ALL, 0)[0].tolist()
    applied, _, _ = states_of_verdict(Verdict([True] * 3, applies=told), ALL, 0)
    assert [State.FAIL, State.UNKNOWN, State.NOT_APPLICABLE] == applied.tolist()


def test_what_is_no_question_stays_none_however_little_is_known() -> None:
    """A product that the check is not about is not applicable, be the verdict on it missing or not."""
    verdict = Verdict([None, None, True], applies=[False, True, None])

    states, _, _ = states_of_verdict(verdict, np.array([True, False, False]), 0)

    assert [State.NOT_APPLICABLE] * 3 == states.tolist()


@each_row(
    ("verdict", "why"),
    [
        ([True, False, False], "list instead of prodex.packs.Verdict"),
        (None, "NoneType instead of prodex.packs.Verdict"),
        (Verdict([True]), "fails has 1 values for 3 products"),
        (Verdict(ALL, applies=[True] * 4), "applies has 4 values for 3 products"),
        (Verdict(np.ones((3, 2), bool)), r"the shape \(3, 2\)"),
        (Verdict([1, 0, 0]), "fails holds int64 instead of booleans"),
        (Verdict(pd.Series([1, 0, 0])), "fails holds int64 instead of booleans"),
        (Verdict(pd.Series([1, 0, 0], dtype="Int64")), "fails holds Int64 instead of booleans"),
        (Verdict(pd.Series(ALL, index=[2, 1, 0])), "its order is not the products'"),
        (Verdict([False, True, False], evidence=Evidence([0, 1])), "1 products that do not fail"),
        (Verdict(ALL, evidence=Evidence([3])), "positions outside the 3 products"),
        (Verdict(ALL, evidence=Evidence([-1])), "positions outside the 3 products"),
        (Verdict(ALL, evidence=Evidence([0.5])), "as whole numbers"),
        (Verdict(ALL, evidence=Evidence([0, 1], value=["a"])), "1 values of value for 2 rows"),
    ],
)
def test_what_cannot_be_taken_is_refused_in_words(verdict: object, why: str) -> None:
    """Each refusal says what is wrong."""
    with pytest.raises(VerdictRefused, match=why):
        states_of_verdict(verdict, ALL, 0)


def test_evidence_is_kept_verbatim_for_failing_products_in_scope() -> None:
    """Evidence keeps numbers, texts and missing values; evidence out of scope is dropped."""
    seen = [1.5, "=1+1", None]
    verdict = Verdict(ALL, evidence=Evidence([0, 1, 2], "gtin", None, seen, pd.Series(["a", "b", "c"])))

    _, findings, _ = states_of_verdict(verdict, np.array([True, True, False]), 7)

    assert [(7, 0, "gtin", None, "1.5", "a"), (7, 1, "gtin", None, "=1+1", "b")] == [
        tuple(row.values())[:6] for row in findings.to_pylist()
    ]


def test_each_failing_product_has_a_finding() -> None:
    """One on which nothing was seen has one without a value; findings are product by product."""
    verdict = Verdict(ALL, evidence=Evidence([2, 0, 2], value=["a", "b", "c"]))

    _, findings, _ = states_of_verdict(verdict, ALL, 0)

    assert [(0, "b"), (1, None), (2, "a"), (2, "c")] == [
        (row["product"], row["value"]) for row in findings.to_pylist()
    ]
