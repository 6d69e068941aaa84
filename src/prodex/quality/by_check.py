"""The checks of an audit as a table: what each is, and how many products it found in which state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from prodex.quality.check import CheckFacts
from prodex.quality.scores import ratio
from prodex.quality.states import State, States

_FACTS = ("rule", "problem", "title", "block", "dimension", "severity", "weight")


def by_check(states: States, checks: Sequence[CheckFacts], crashed: Mapping[str, str]) -> pd.DataFrame:
    """Return one row per check.

    Parameters
    ----------
    states
        The matrix: products x checks.
    checks
        Its columns.
    crashed
        Messages of the checks that could not be asked, by id.
    """
    counts = {state: (states == state).sum(axis=0) for state in State}
    frame = pd.DataFrame(
        {
            "check": [check.id for check in checks],
            **{name: [getattr(check, name) for check in checks] for name in _FACTS},
            "failed": counts[State.FAIL],
            "passed": counts[State.PASS],
            "not_applicable": counts[State.NOT_APPLICABLE],
            "unknown": counts[State.UNKNOWN],
        }
    )
    applicable = (counts[State.FAIL] + counts[State.PASS]).astype(float)
    frame["score"] = ratio(counts[State.PASS].astype(float), applicable)
    frame["crash"] = pd.array([crashed.get(check.id) for check in checks], "str")
    return frame
