"""Findings on real products, drawn by a seed and read one by one: nearly all are true, or the rule says "perhaps"."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from prodex.quality.rulebook import RULES

#: Rule, number of its findings on the 5,000 real products, product, and two verdicts: the second by a plain computation
#: where there is one (brackets, lengths, sums, check digits), else by reading once more.
VERDICTS = pd.read_csv(Path(__file__).with_name("verdicts.tsv"), sep="\t", dtype=str)
DRAWN = 20


@pytest.mark.parametrize("rule", sorted(VERDICTS["rule"].unique()))
def test_nearly_all_findings_are_true(rule: str) -> None:
    """Nineteen of twenty are, by each of two verdicts; else the problem says "perhaps"."""
    drawn = VERDICTS[VERDICTS["rule"] == rule]

    assert len(drawn) == min(DRAWN, int(drawn["findings"].iloc[0]))
    assert drawn["product_id"].is_unique
    true = min((drawn[verdict] == "true").sum() for verdict in ("first", "second"))
    assert true >= 0.95 * len(drawn) or "perhaps" in RULES[rule].problem
