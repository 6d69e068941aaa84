"""The audit of some of its products says of them what the whole audit says, and of nobody else."""

from __future__ import annotations

from functools import cache

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import prodex
from prodex.errors import InputError
from prodex_sandbox.sample import AS_OF, shared_products

RECORDS = [product.record for product in shared_products(120)]
IDS = [str(record["id"]) for record in RECORDS]


@cache
def whole() -> prodex.quality.Audit:
    """Return the audit of all; workers that collect the tests need none."""
    return prodex.audit(prodex.flatten(RECORDS), "online-listing", progress=False, now=AS_OF)


@example(set())
@example({"nobody", IDS[-1], IDS[0], IDS[7]})
@given(st.sets(st.sampled_from([*IDS, "nobody"])))
def test_findings_and_states_are_those_of_the_whole_audit(chosen: set[str]) -> None:
    """Every state, finding, score and grade of a product is the one that it had."""
    audit = whole()
    part = audit.only(chosen)

    there = [one for one in IDS if one in chosen]
    assert there == part.identity["product_id"].to_pylist()
    pd.testing.assert_frame_equal(audit.matrix.loc[there], part.matrix, check_index_type=False)
    every = audit.failures()
    expected = every[every["product_id"].isin(chosen)].reset_index(drop=True)
    pd.testing.assert_frame_equal(expected, part.failures(), check_dtype=False)
    wanted = audit.products[audit.products["product_id"].isin(chosen)].reset_index(drop=True)
    pd.testing.assert_frame_equal(wanted, part.products, check_dtype=False)


def test_groups_and_worklists_are_those_of_the_chosen(tmp_path: object) -> None:
    """A breakdown has no owner but theirs."""
    audit = whole()
    owner = audit.scores("owner")["owner_id"].dropna().iloc[0]
    ids = audit.products.loc[audit.products["owner_id"] == owner, "product_id"]
    part = audit.only(ids)
    assert [owner] == part.scores("owner")["owner_id"].tolist()
    assert len(ids) == int(part.summary["products"])


def test_one_id_is_given_in_a_list() -> None:
    """A text would be taken for the letters of an id."""
    with pytest.raises(InputError, match=r"Give ids in a list: \['7'\]"):
        whole().only("7")
