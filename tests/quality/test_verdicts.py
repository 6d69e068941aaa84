"""Findings on real products, drawn by a seed and read one by one: nearly all are true, or the rule says "perhaps"."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from prodex.quality.rulebook import all_rules
from tests.cases import each_row

#: Rule, number of its findings on the 5,000 real products, product, and the verdicts on it: two of the first judge, the
#: second by a plain computation where there is one (brackets, lengths, sums, check digits), else by reading once more;
#: one of an independent judge, who had not seen these; and where judges differ, what was decided, and why.
VERDICTS = pd.read_csv(Path(__file__).with_name("verdicts.tsv"), sep="\t", dtype=str)
JUDGES = ("first", "second", "independent", "decided")
DRAWN = 20


@each_row("rule", sorted(VERDICTS["rule"].unique()))
def test_nearly_all_findings_are_true(rule: str) -> None:
    """Nineteen of twenty are, by each judge and by what was decided; else the problem says "perhaps"."""
    drawn = VERDICTS[VERDICTS["rule"] == rule]
    decided = drawn["decided"].fillna(drawn["independent"])
    given = [drawn[judge] for judge in ("first", "second") if drawn[judge].notna().any()]

    assert len(drawn) == min(DRAWN, int(drawn["findings"].iloc[0]))
    assert drawn["product_id"].is_unique
    true = min((verdicts == "true").sum() for verdicts in (*given, drawn["independent"], decided))
    assert true >= 0.95 * len(drawn) or "perhaps" in all_rules()[rule].problem


def test_where_judges_differ_it_was_decided_why() -> None:
    """A finding has the verdict of the independent judge, and the first judge's where he drew it."""
    differ = VERDICTS["first"].notna() & (VERDICTS["first"] != VERDICTS["independent"])

    given = {verdict for judge in JUDGES for verdict in VERDICTS[judge].dropna()}
    assert {"true", "perhaps", "false"} == given
    assert VERDICTS["independent"].notna().all()
    assert VERDICTS.loc[differ, ["decided", "why"]].notna().all(axis=None)
    assert VERDICTS.loc[~differ, "decided"].isna().all()
