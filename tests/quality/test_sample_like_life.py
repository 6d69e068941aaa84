"""The sample is like life: an audit of it shows who and what has to be worked on first."""

from __future__ import annotations

import pandas as pd
import pytest

import prodex
from prodex.quality.audit import Audit
from prodex_sandbox.sample import AS_OF
from tests.quality.planted import sample

pytestmark = pytest.mark.xdist_group("sample")


@pytest.fixture(scope="module")
def audit() -> Audit:
    """Judge the sample by what every product needs."""
    return prodex.audit(sample(), "core", now=AS_OF, progress=False)


def ready(audit: Audit, by: str, at_least: int = 20) -> pd.Series:
    """Return the share of ready products of each group of some size, the worst first."""
    scores = audit.scores(by)
    return scores.loc[scores["products"] >= at_least, "ready"].astype(float).sort_values()


def test_suppliers_differ(audit: Audit) -> None:
    """The worst owner has less than half of its products ready, the best nearly all, others are in between."""
    suppliers = ready(audit, "owner")

    assert suppliers.iloc[0] < 0.5
    assert suppliers.iloc[-1] >= 0.99
    assert ((suppliers > 0.5) & (suppliers < 0.9)).sum() >= 5
    assert (suppliers > 0.95).sum() >= len(suppliers) / 2


def test_some_kinds_are_weak(audit: Audit) -> None:
    """One has a third of its products not ready, while most are nearly done."""
    kinds = ready(audit, "kind")

    assert kinds.iloc[0] < 0.67
    assert kinds.median() > 0.9


def test_a_language_is_weak(audit: Audit) -> None:
    """Dutch texts lack most, a third more than French ones."""
    languages = audit.scores("language").set_index("language")
    lost = (1 - languages["mean_score"].dropna().astype(float)).sort_values()

    assert "nl" == lost.index[-1]
    assert lost["nl"] > 4 / 3 * lost["fr"]
